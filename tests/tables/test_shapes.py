"""Each shape of a table, read from a file as people have it, and what a wrong use says."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars
import pytest

from moreplr.cli import main
from moreplr.cli.options import as_options
from moreplr.datasets import from_csv, load
from moreplr.rankings import check_rankings, dense_ranks, to_choices, to_long, to_text, to_votes

NAN = float("nan")
SURVEY = """Nr.;Größe (cm);Fährt Rad?;Datum;Stadt;Rang: Tee;Rang: Café;Rang: Wasser
1;171,5;ja;2024-01-03;Köln;1;2;2
2;;nein;2024-01-04;;2;1;
3;180,2;ja;2024-01-09;"Ulm; Donau";3;1;2
4;165,0;k. A.;2024-02-01;Köln;1;;2
"""


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "umfrage.csv"
    path.write_bytes(SURVEY.encode("cp1252"))
    return path


class TestSurvey:
    OPTIONS: ClassVar = {
        "separator": ";",
        "decimal": ",",
        "encoding": "cp1252",
        "ignore": ["Nr."],
        "gaps": ["k. A."],
        "drop_prefix": "Rang: ",
    }

    def test_as_it_is_exported(self, survey):
        data = from_csv(survey, "Rang: *", **self.OPTIONS)
        assert list(data.X) == ["Größe (cm)", "Fährt Rad?", "Datum", "Stadt"]
        np.testing.assert_array_equal(data.X["Größe (cm)"], [171.5, NAN, 180.2, 165])
        assert data.X["Fährt Rad?"].tolist() == ["ja", "nein", "ja", None]
        assert data.X["Stadt"].tolist() == ["Köln", None, "Ulm; Donau", "Köln"]
        texts = ["Tee > Café ~ Wasser", "Café > Tee", "Café > Wasser > Tee", "Tee > Wasser"]
        assert to_text(data.Y) == texts

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"separator": None}, "umfrage.csv: there is one column, .* say separator=';'"),
            ({"encoding": "utf-8"}, "not utf-8 text .* such as encoding='cp1252'"),
            ({"ignore": ["Nummer"]}, r"there is no column 'Nummer' \(ignore\)"),
            ({"labels": ["Rang: Tea"]}, "'Rang: Tea' .labels.; did you mean 'Rang: Tee'"),
            (
                {"labels": ["Stadt", "Rang: Tee"]},
                r"column 'Stadt': 'Köln' is not .*=\['Köln'\]",
            ),
            ({"drop_prefix": "Rank"}, "label 'Rang: Tee' does not begin with drop_prefix='Rank'"),
        ],
    )
    def test_a_wrong_use_is_one_line_with_the_remedy(self, survey, change, message):
        with pytest.raises(ValueError, match=message) as caught:
            from_csv(survey, **{"labels": "Rang: *", **self.OPTIONS, **change})
        assert "\n" not in str(caught.value)

    def test_numbers_with_a_comma_are_noted(self, survey):
        data = from_csv(survey, "Rang: *", **{**self.OPTIONS, "decimal": "."})
        frame = pd.concat([data.X] * 10, ignore_index=True)
        notes = from_csv(frame.assign(a=1, b=2), ["a", "b"]).overview().notes
        assert any(
            "'Größe (cm)' is taken as text" in note and "decimal=','" in note for note in notes
        )


class TestStars:
    FRAME = pd.DataFrame(
        {"age": [30, 50, 20], "tea": [5, 2, 0], "milk": [3, 4, 4], "oil": [0, 0, 1]}
    )

    def test_larger_is_better(self):
        data = from_csv(self.FRAME, 3, ratings=True, unranked=[0])
        assert to_text(data.Y) == ["tea > milk", "milk > tea", "milk > oil"]

    def test_yes_and_no_are_ratings_and_no_positions(self):
        frame = pd.DataFrame({"x": [1, 2], "a": [True, False], "b": [False, True]})
        assert to_text(from_csv(frame, 2, ratings=True).Y) == ["a > b", "b > a"]
        lines = pd.DataFrame({"u": [1, 1], "x": [2, 2], "item": ["a", "b"], "ok": [True, False]})
        for table, options in ((frame, {"labels": 2}), (lines, {"long": ["u", "item", "ok"]})):
            with pytest.raises(ValueError, match=r"row 1, .*True is no position; .*ratings"):
                from_csv(table, **options)


class TestRunTimes:
    TEXT = "size,t_a,t_b,t_c\n10,100,100.7,timeout\n90,timeout,3,\n50,inf,1,timeout\n"

    @pytest.fixture
    def runs(self, tmp_path):
        path = tmp_path / "runs.csv"
        path.write_text(self.TEXT)
        return path

    def test_time_outs_are_last_and_gaps_unknown(self, runs):
        options = {
            "scores": "smaller",
            "tolerance": "1%",
            "last": ["timeout"],
            "drop_prefix": "t_",
        }
        assert to_text(from_csv(runs, "t_*", **options).Y) == ["a ~ b > c", "b > a", "b > a ~ c"]
        Y = from_csv(runs, "t_*", **options, missing="last").Y
        assert to_text(Y)[1] == "b > a ~ c"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"scores": "smaller"}, r"row 2, column 't_a': 'timeout' is not .*last=\['timeout'\]"),
            ({"scores": "small"}, "scores must be 'smaller' or 'larger', got 'small'"),
            ({"tolerance": "1%"}, "tolerance is for scores: say scores='smaller'"),
            ({"missing": "last"}, "missing is for scores"),
            ({"last": ["timeout"]}, "last is for scores"),
            ({"last": "timeout"}, "last is for scores|last must be a list"),
            ({"scores": "smaller", "ratings": True}, "ratings and scores='smaller' contradict"),
            ({"unranked": ["timeout"]}, "row 3, column 't_a': 'inf' is not a number"),
        ],
    )
    def test_a_wrong_use_says_what_is_right(self, runs, options, message):
        with pytest.raises(ValueError, match=message):
            from_csv(runs, "t_*", **options)


class TestLong:
    def test_with_features_weight_and_group(self, tmp_path):
        path = tmp_path / "long.csv"
        path.write_text(
            "user,home,age,w,item,stars\nu2,h1,30,2,tea,5\nu2,h1,30,2,milk,\nu1,h2,,1,milk,4\n"
            "u1,h2,,1,tea,1\n"
        )
        long = ["user", "item", "stars"]
        data = from_csv(path, long=long, ratings=True, weight="w", group="home")
        assert to_text(data.Y) == ["tea", "milk > tea"]
        np.testing.assert_array_equal(data.X["age"], [30, NAN])
        assert list(data.X) == ["age"]
        assert data.sample_weight.tolist() == [2, 1]
        assert data.groups.tolist() == ["h1", "h2"]

    def test_last_of_those_that_have_a_line(self):
        frame = pd.DataFrame(
            {"i": [1, 1, 2, 2], "x": [5, 5, 6, 6], "s": list("abac"), "t": [1.0, None, None, 2]}
        )
        Y = from_csv(frame, long=["i", "s", "t"], scores="smaller", missing="last").Y
        assert to_text(Y) == ["a > b", "c > a"]

    def test_to_long_and_back(self, tmp_path):
        Y = pd.DataFrame({"a": [1.0, 2], "b": [2.0, NAN], "c": [2.0, 1]})
        lines = to_long(Y).assign(x=lambda lines: lines["row"] * 10)
        lines.to_csv(tmp_path / "l.csv", index=False)
        data = from_csv(tmp_path / "l.csv", long=["row", "label", "position"])
        np.testing.assert_array_equal(data.Y, Y)
        assert data.X["x"].tolist() == [0, 10]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"long": ["user", "item"]}, "long names three columns: the row's, the label's"),
            ({"long": ["user", "itm", "rank"]}, r"no column 'itm' \(long\); did you mean 'item'"),
            ({}, r"row 2: column 'n' differs among the lines of 'u1': 1 and 2; .*ignore=\['n'\]"),
        ],
    )
    def test_a_wrong_use_says_what_is_right(self, options, message):
        frame = pd.DataFrame(
            {"user": ["u1", "u1"], "n": [1, 2], "item": ["a", "b"], "rank": [1, 2]}
        )
        with pytest.raises(ValueError, match=message):
            from_csv(frame, **{"long": ["user", "item", "rank"], **options})


class TestVotes:
    TEXT = (
        "question,words,model_a,model_b,winner\nq1,12,gpt,llama,model_a\nq1,12,llama,gpt,tie\n"
        "q2,90, llama,claude ,both bad\nq3,40,gpt,claude,claude\n"
    )

    @pytest.fixture
    def arena(self, tmp_path):
        path = tmp_path / "arena.csv"
        path.write_text(self.TEXT)
        return path

    def test_with_context(self, arena):
        data = from_csv(arena, votes=["model_a", "model_b", "winner"], group="question")
        assert to_text(data.Y) == ["gpt > llama", "gpt ~ llama", "claude ~ llama", "claude > gpt"]
        assert data.X.to_dict("list") == {"words": [12, 12, 90, 40]}
        assert data.groups.tolist() == ["q1", "q1", "q2", "q3"]

    def test_to_votes_and_back(self):
        votes = to_votes(["a > b ~ c"]).assign(x=1)
        data = from_csv(votes, votes=["a", "b", "winner"], group="row")
        assert to_text(data.Y) == ["a > b", "a > c", "b ~ c"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"votes": ["model_a", "model_b"]}, "votes names three columns"),
            ({"votes": ["model_a", "model_b", "won"]}, r"no column 'won' \(votes\)"),
            (
                {"ties": ["tie"]},
                r"row 3, column 'winner': 'both bad' .*say ties=\['both bad'",
            ),
            ({"ratings": True}, "votes has no scores"),
            ({"text": "winner"}, "text and votes contradict each other"),
        ],
    )
    def test_a_wrong_use_says_what_is_right(self, arena, options, message):
        with pytest.raises(ValueError, match=message):
            from_csv(arena, **{"votes": ["model_a", "model_b", "winner"], **options})


class TestChoices:
    @pytest.mark.parametrize("name", ["tricot_breadwheat", "tricot_cassava"])
    def test_trials_of_farmers(self, field_data, tmp_path, name):
        """Best and worst of three, as the trials were written down."""
        data = load(name, "field")
        table = data.X.join(to_choices(data.Y.set_axis(data.X.index)))
        table.to_csv(tmp_path / "trial.csv", index=False)
        read = from_csv(tmp_path / "trial.csv", choices=["best", "worst"], tried=["tried_*"])
        assert list(read.X) == list(data.X)
        assert to_text(read.Y) == to_text(data.Y)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"tried": []}, "choices and tried belong together"),
            ({"choices": ["best"], "tried": ["best"]}, "tried must name two or more columns"),
            ({"choices": ["bets"]}, r"no column 'bets' \(choices\); did you mean 'best'"),
            ({"choices": "best"}, "choices names one or two columns"),
            (
                {"choices": ["worst"]},
                "row 1, column 'worst': 'z' is none of those tried: 'a'",
            ),
        ],
    )
    def test_a_wrong_use_says_what_is_right(self, options, message):
        frame = pd.DataFrame({"x": [1], "i1": ["a"], "i2": ["b"], "best": ["a"], "worst": ["z"]})
        with pytest.raises(ValueError, match=message):
            from_csv(frame, **{"choices": ["best"], "tried": ["i1", "i2"], **options})


def test_a_file_of_preflib(tmp_path):
    (tmp_path / "drinks.toi").write_text(
        "# NUMBER VOTERS: 3\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n"
        "2: {1,2}\n1: 2\n"
    )
    data = from_csv(tmp_path / "drinks.toi")
    assert to_text(data.Y) == ["tea ~ milk", "milk"]
    assert data.sample_weight.tolist() == [2, 1]
    assert "consensus  tea ~ milk" in str(data.overview())


class TestOtherOptions:
    FRAME = pd.DataFrame({"Unnamed: 0": [0, 1], "x": [1.5, 977], "a": [1, 2], "b": [2, 1]})

    def test_columns_without_a_name_are_left_out(self, tmp_path):
        with pytest.warns(UserWarning, match="columns without a name are left out"):
            assert list(from_csv(self.FRAME, 2).X) == ["x"]
        self.FRAME.iloc[:, 1:].to_csv(tmp_path / "a.csv")
        with pytest.warns(UserWarning, match="a: columns without a name"):
            assert list(from_csv(tmp_path / "a.csv", 2).X) == ["x"]

    def test_gaps_that_are_numbers(self):
        data = from_csv(self.FRAME.iloc[:, 1:], 2, gaps=[977])
        np.testing.assert_array_equal(data.X["x"], [1.5, NAN])
        assert data.missing_codes == (977,)

    @pytest.mark.parametrize(
        ("cells", "message"),
        [
            ({"w": [1, -1]}, "row 2, column 'w': a weight must be a number from 0, got -1"),
            ({"w": [1, None]}, "row 2, column 'w': a weight must be a number from 0, got nan"),
            ({"g": ["x", None]}, "row 2, column 'g' is empty: which group is it"),
        ],
    )
    def test_weights_and_groups_are_checked(self, cells, message):
        frame = self.FRAME.iloc[:, 1:].assign(**cells)
        parameter = "weight" if "w" in cells else "group"
        with pytest.raises(ValueError, match=message):
            from_csv(frame, ["a", "b"], **{parameter: next(iter(cells))})

    def test_polars_and_types(self):
        dates = pd.to_datetime(["2024-01-01", "2024-01-02"])
        frame = pd.DataFrame({"when": dates, "yes": [True, False], "a": [1, 2], "b": [2, 1]})
        for given in (frame, polars.from_pandas(frame)):
            X = from_csv(given, 2).X
            assert pd.api.types.is_datetime64_any_dtype(X["when"])
            assert X["yes"].dtype == bool

    def test_a_model_names_the_labels(self):
        frame = pd.DataFrame({"x": ["1"], "ranking": ["a > b"]})
        assert list(from_csv(frame, ["c", "b", "a"], text="ranking").Y) == ["c", "b", "a"]


COMMANDS = {
    "stars.csv": (
        "age,tea,milk\n30,5,0\n50,2,3\n",
        ["--labels", "tea", "--labels", "milk", "--ratings", "--unranked", "0"],
        ["tea", "milk > tea"],
    ),
    "runs.csv": (
        "size,a,b\n1,10,10.05\n2,timeout,7\n3,,9\n",
        [
            "--labels",
            "2",
            "--scores",
            "smaller",
            "--tie-within",
            "1%",
            "--last",
            "timeout",
            "--missing",
            "last",
        ],
        ["a ~ b", "b > a", "b > a"],
    ),
    "long.csv": (
        "user,age,item,rank\nu,3,tea,1\nu,3,milk,2\nv,4,milk,1\n",
        ["--long", "user", "item", "rank"],
        ["tea > milk", "milk"],
    ),
    "votes.csv": (
        "q,n,a,b,winner\n1,5,gpt,llama,gpt\n1,5,gpt,llama,neither\n2,6,gpt,llama,?\n",
        ["--votes", "a", "b", "winner", "--tie", "neither", "--skip", "?", "--group", "q"],
        ["gpt > llama", "gpt ~ llama"],
    ),
    "choices.csv": (
        "rain,A,B,C,best,worst\n5,oat,rye,emmer,B,C\n",
        ["--choices", "best", "worst", "--tried", "A", "B", "C"],
        ["rye > oat > emmer"],
    ),
    "texts.csv": ("x,ranking\n1,b > a ~ c\n2,c\n", ["--ranking-column", "ranking"], None),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_reads_the_same(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    text, words, expected = COMMANDS[name]
    (tmp_path / name).write_text(text)
    assert main(["datasets", "card", name, *words]) == 0
    first = (expected or ["b > a ~ c"])[0]
    assert f"\nfirst row  {first}\n" in capsys.readouterr().err


def test_rankings_of_the_command_are_those_of_python(tmp_path):
    from moreplr.cli.commands.datasets import card
    from moreplr.cli.declaring import Options
    from moreplr.cli.problems import load_problem

    for name, (text, words, expected) in COMMANDS.items():
        (tmp_path / name).write_text(text)
        given = card.make_context("card", [name, *words]).params
        data = load_problem(str(tmp_path / name), Options(**given))
        if expected is not None:
            assert to_text(data.Y) == expected


def test_messages_of_the_command_speak_of_its_options(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("u,n,item,rank\n1,1,a,1\n1,2,b,2\n")
    assert main(["datasets", "card", "a.csv", "--long", "u", "item", "rank"]) == 1
    said = capsys.readouterr().err
    assert "row 2: column 'n' differs among the lines of '1'" in said
    assert "say --ignore 'n'" in said
    assert said.count("\n") == 1
    assert as_options("(votes) and unranked=['0', '-']") == "(--votes) and --unranked '0' '-'"
    said = as_options("choices and tried belong together: say which columns hold the tried")
    assert said.startswith("--choices and --tried belong together: say")


@pytest.mark.parametrize(
    "words",
    [["fit", "-o", "m.moreplr"], ["evaluate"], ["compare"]],
)
def test_rankings_without_features_can_not_be_learned_from(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.soc").write_text("# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n2: 1,2\n")
    assert main([words[0], "a.soc", *words[1:]]) == 1
    assert "a holds rankings without features" in capsys.readouterr().err


def test_a_frame_of_polars_needs_no_other_library(monkeypatch):
    monkeypatch.delattr(polars.DataFrame, "to_pandas")  # which needs pyarrow
    frame = polars.DataFrame({"age": [30, None], "town": ["Ulm", None], "a": [1, 2], "b": [2, 1]})
    data = from_csv(frame, 2)
    assert to_text(data.Y) == ["a > b", "b > a"]
    assert data.X["age"].isna().tolist() == [False, True]
    with pytest.raises(TypeError, match="a path or a pandas or polars frame, got dict"):
        from_csv({"a": [1]}, 1)


def test_ranks_of_scores_are_dense(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "a": [3.5, 1.0], "b": [9.0, 2.0]})
    Y = from_csv(frame, 2, scores="larger").Y.to_numpy()
    np.testing.assert_array_equal(Y, dense_ranks(Y))
    assert check_rankings(Y)[0].tolist() == [[2, 1], [2, 1]]
