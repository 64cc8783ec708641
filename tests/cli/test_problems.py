import numpy as np
import pandas as pd
import pytest

from moreplr.cli.declaring import Options, command
from moreplr.cli.options import column_options
from moreplr.cli.problems import check_features, load_problem, match_columns, say_what_was_read
from moreplr.datasets import from_csv


@command()
@column_options
def reading(options):
    """A command with the options of tables."""


def problem(path, *words):
    given = reading.make_context("read", [str(word) for word in words]).params
    return load_problem(str(path), Options(**given))


@pytest.mark.parametrize(
    "labels",
    [
        ["rank_*"],
        ["rank_"],
        ["3"],
        ["rank_tea", "rank_café", "rank_water, still"],
        ["rank_tea", "rank_c*", "*still"],
    ],
)
def test_labels_by_pattern_prefix_number_and_names(table, labels):
    data = problem(table, "--labels", *labels)
    assert list(data.X) == ["name", "age", "town"]
    assert list(data.Y) == ["rank_tea", "rank_café", "rank_water, still"]


def test_a_table_means_the_same_as_in_python(table):
    here, there = problem(table, "--labels", "rank_*"), from_csv(table, "rank_*")
    np.testing.assert_array_equal(here.Y, there.Y)
    np.testing.assert_array_equal(here.X["age"], there.X["age"])
    np.testing.assert_array_equal(
        here.preprocessor().fit_transform(here.X), there.preprocessor().fit_transform(there.X)
    )


def test_one_column_of_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,ranking\n1,"b > a ~ ""c, d"""\n2,\n3,a\n', encoding="utf-8")
    data = problem(path, "--ranking-column", "ranking")
    assert list(data.Y) == ["a", "b", "c, d"]
    np.testing.assert_array_equal(data.Y, [[2, 1, 2], [np.nan] * 3, [1, np.nan, np.nan]])
    named = problem(path, "--ranking-column", "ranking", "--labels", "b", "c, d", "a", "e")
    assert list(named.Y) == ["b", "c, d", "a", "e"]


def test_ratings_and_cells_that_mean_not_ranked(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,a,b\n0,5,3\n0,0,4\n")
    data = problem(path, "--labels", "a", "b", "--ratings", "--unranked", "0")
    np.testing.assert_array_equal(data.Y, [[1, 2], [np.nan, 1]])
    assert data.X["x"].tolist() == [0, 0]


def test_gaps_of_ones_own_are_gaps_for_the_model_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,t,a,b\n977,?,1,2\n3,u,2,1\n")
    data = problem(path, "--labels", "2", "--gap", "977", "--gap", "?")
    assert np.isnan(data.X["x"][0])
    assert data.X["t"].tolist() == [None, "u"]
    assert data.missing_codes == (977,)


def test_columns_that_are_ignored_or_have_no_name(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text(",id,x,a,b\n1,7,2,1,2\n")
    assert list(problem(path, "--labels", "2", "--ignore", "i*").X) == ["x"]
    say_what_was_read(problem(path, "--labels", "2", "--ignore", "i*"))
    assert "without a name are left out" in capsys.readouterr().err


def test_names_of_data_sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert problem("iris").X.shape == (150, 4)
    named = problem("lr/iris")
    assert (named.name, named.problem) == ("lr/iris", "lr")
    (tmp_path / "iris").write_text("x,a,b\n1,1,2\n")
    assert problem("iris", "--labels", "2").X.shape == (1, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say which columns are labels: .*labels='rank_\\*'.*'rank_tea'"),
        (["--labels", "rank_tee", "age"], "no column 'rank_tee' .*did you mean 'rank_tea'"),
        (["--labels", "score_*"], "people.csv: no column matches 'score_\\*'"),
        (["--labels", "9"], "9 label columns in a table of 6"),
        (["--labels", "6"], "6 label columns"),
        (["--labels", "town", "age"], r"row 1, column 'town': '\w+' is not a number"),
        (["--labels", "rank_*", "--ignore", "nam"], r"'nam' \(ignore\); did you mean 'name'"),
        (["--ranking-column", "town", "--labels", "a"], "people.csv: row 1: unknown label"),
        (["--ranking-column", "order"], r"no column 'order' \(text\)"),
    ],
)
def test_what_does_not_fit_is_said_with_the_name_of_the_table(table, words, message):
    with pytest.raises(ValueError, match=message):
        problem(table, *words)


def test_odd_features_are_noted(tmp_path, capsys):
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(30)],
            "age": [*map(str, range(29)), "old"],
            "euro": ["3,5"] * 30,
            "none": [""] * 30,
            "a": [1] * 29 + [None],
            "b": [2] * 30,
        }
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    say_what_was_read(problem(tmp_path / "a.csv", "--labels", "2"))
    said = capsys.readouterr().err
    assert "text column 'id' has 30 different values in 30 rows" in said
    assert (
        "'age' is taken as text because of 'old' in row 30; if that is a gap, say --gap 'old'"
        in said
    )
    assert "column 'euro' is taken as text; if it holds numbers, say --decimal ','" in said
    assert "column 'none' is empty" in said
    assert "1 of 30 rows rank fewer than two labels" in said


def test_one_label_is_no_ranking(table):
    data = problem(table, "--labels", "rank_tea")
    with pytest.raises(ValueError, match="'rank_tea' is the only label; a ranking needs two"):
        check_features(data)


def test_a_name_that_looks_like_a_pattern_is_a_name_first():
    assert match_columns(["a[1]"], ["a1", "a[1]"], "t", "--keep") == ["a[1]"]


def test_no_tolerance_is_none(table):
    assert problem(table, "--labels", "rank_*", "--tie-within", "0").Y.shape == (60, 3)
