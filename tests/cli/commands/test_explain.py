import io

import pandas as pd
import pytest

import moreplr


def test_the_ranking_the_pairs_and_the_training_rows(run, fitted, table):
    code, out, err = run("explain", fitted, table, "--row", 3, "--rows", 2, "-o", "why.csv")
    assert code == 0
    text = pd.read_csv(io.StringIO(run("predict", fitted, table, "--text")[1]))["ranking"][2]
    lines = out.splitlines()
    assert lines[0] == f"predicted: {text}"
    assert sum("is ranked " in line for line in lines) == 2
    assert sum(" before " in line and "with ties half" in line for line in lines) == 1
    assert "age = " in out  # the columns that speak for the first pair
    assert lines[-3].split() == ["row", "weight", "ranking"]
    rows = pd.read_csv("why.csv")
    assert rows["weight"].sum() == pytest.approx(1)
    assert f"and {len(rows) - 2} more training rows" in err
    model = moreplr.load(fitted)
    X, Y = moreplr.datasets.from_csv(table, "rank_*")
    why = model.explain(X[["age", "town"]].iloc[2:3])
    # Rows are counted from 1 here: the ranking shown is that of the training table's row.
    assert rows["row"].tolist() == (why.rows["row"] + 1).tolist()
    assert rows["ranking"][0] == moreplr.rankings.to_text(Y.iloc[[rows["row"][0] - 1]])[0]


def test_a_row_alone_has_none_to_compare_with(run, fitted, table):
    pd.read_csv(table)[:1].to_csv("one.csv", index=False)
    code, out, _ = run("explain", fitted, "one.csv")
    assert code == 0
    assert "similar training rows" in out
    assert "for it:" not in out
    assert "for it:" in run("explain", fitted, "one.csv", "--compare", table)[1]


def test_one_pair_of_labels(run, fitted, table):
    code, out, _ = run("explain", fitted, table, "--labels", "rank_tea", "rank_café")
    assert code == 0
    lines = out.splitlines()
    assert "similar training rows rank both" in lines[1]
    assert lines[2].startswith("rank_tea before rank_café: ")
    assert "age = " in out
    assert any("relation" in line for line in lines)


def test_the_choice_of_auto_is_explained(run, table):
    words = ["--labels", "rank_*", "--ignore", "name", "--ranker", "auto"]
    assert run("fit", table, *words, "--set", "time_budget=0.01", "-o", "m")[0] == 0
    code, out, _ = run("explain", "m", table)
    assert code == 0
    assert out.startswith("predicted: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--row", "0"], "--row counts from 1, got 0"),
        (["--row", "61"], "people.csv has 60 rows, there is no row 61"),
        (["--labels", "rank_tea", "milk"], "no label 'milk'; its labels are 'rank_tea'"),
        (["--labels", "rank_tea", "rank_tea"], "a pair needs two labels"),
    ],
)
def test_errors(run, fitted, table, words, message):
    code, _, err = run("explain", fitted, "people.csv", *words)
    assert code == 1
    assert message in err


def test_columns_that_speak_for_a_pair_with_any_ranker(run, table):
    words = ["--labels", "rank_*", "--ignore", "name", "--ranker", "tree"]
    assert run("fit", table, *words, "-o", "m")[0] == 0
    code, out, _ = run("explain", "m", table, "--labels", "rank_tea", "rank_water, still")
    assert code == 0
    lines = out.splitlines()
    assert lines[1].startswith("rank_tea before rank_water, still: ")
    assert "age = " in out
    assert "it would turn with age = " in out
    neighbours = run("explain", "m", table)[1]
    assert neighbours.count(" before ") == 2
    other = run("explain", "m", table, "--labels", "rank_tea", "rank_café", "--compare", table)
    assert other[0] == 0
