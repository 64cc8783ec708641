import pytest

import moreplr
from moreplr import TableRanker
from moreplr.datasets import from_csv

WORDS = ["--labels", "rank_*", "--ignore", "name", "--set", "n_estimators=5"]


def test_the_model_is_what_python_would_fit(run, table, tmp_path):
    code, out, err = run("fit", table, *WORDS, "-o", "m.moreplr")
    assert (code, out) == (0, "")
    assert "forest of 60 rows, 2 features (1 number, 1 categorical) and 3 labels" in err
    saved = moreplr.load(tmp_path / "m.moreplr")
    assert isinstance(saved, TableRanker)
    X, Y = from_csv(table, "rank_*")
    X = X.drop(columns="name")
    twin = TableRanker(moreplr.RankingForest(5, random_state=0)).fit(X, Y)
    assert (saved.predict(X) == twin.predict(X)).all()
    assert list(saved.labels_) == list(Y)


def test_seed_decides_and_threads_do_not(run, table, tmp_path):
    contents = []
    for name, more in [("a", ["--jobs", 1]), ("b", ["--jobs", 2]), ("c", ["--random-state", 1])]:
        assert run("fit", table, *WORDS, *more, "-o", name)[0] == 0
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize(
    "ranker", ["boost", "linear", "more", "pairwise", "neighbors", "tree", "dummy"]
)
def test_every_ranker_can_be_saved_and_predicts(run, table, ranker):
    words = ["fit", table, "--labels", "rank_*", "--ignore", "name", "--ranker", ranker]
    assert run(*words, "-o", "m")[0] == 0
    code, out, _ = run("predict", "m", table)
    assert code == 0
    assert out.splitlines()[0] == 'rank_tea,rank_café,"rank_water, still"'
    assert len(out.splitlines()) == 61


def test_a_mixture_prints_its_leaderboard(run, table):
    words = ["fit", table, "--labels", "rank_*", "--ignore", "name", "--ranker", "auto"]
    code, out, err = run(*words, "--set", "time_budget=1", "-o", "m")
    assert (code, out) == (0, "")
    assert "\nmember " in err
    assert "\nconsensus " in err
    assert "on held-out rows" in err


def test_rankings_as_texts(run, tmp_path):
    rows = "\n".join(f"{i},{'b > a ~ ü' if i < 10 else 'ü > b'}" for i in range(20))
    (tmp_path / "a.tsv").write_text(f"x,ranking\n{rows}\n".replace(",", "\t"), encoding="utf-8")
    words = ["--ranking-column", "ranking", "--ranker", "neighbors", "-o", "m"]
    assert run("fit", "a.tsv", *words)[0] == 0
    out = run("predict", "m", "a.tsv", "--text")[1].splitlines()
    assert (out[1], out[20].split(" > ")[0]) == ("b > a ~ ü", "ü")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv", "--labels", "2", "-o", "m"], "there is no file none.csv"),
        (["wnie", "-o", "m"], "there is no file wnie; did you mean the data set 'wine'?"),
        (["people.csv", "--labels", "3", "-o", "no/m"], "there is no folder no to write to"),
        (["people.csv", "--labels", "3", "-o", "."], ". is a folder"),
        (["people.csv", "--labels", "3", "-o", "m", "--ranker", "svm"], "no ranker 'svm'"),
        (["people.csv", "--labels", "3", "-o", "m", "--set", "x=1"], "no parameter 'x'"),
        (["people.csv", "--labels", "3", "-o", "m", "--set", "n_estimators=0"], "n_estimators"),
        (["people.csv", "--labels", "*", "-o", "m"], "is not a number"),
        (["empty.csv", "--labels", "3", "-o", "m"], "empty.csv: empty"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(run, table, tmp_path, words, message):
    (tmp_path / "empty.csv").write_text("")
    before = sorted(tmp_path.iterdir())
    code, out, err = run("fit", *words)
    assert (code, out) == (1, "")
    errors = [line for line in err.splitlines() if "error: " in line]
    assert len(errors) == 1
    assert errors[0].startswith("moreplr: error: ")
    assert message in errors[0]
    assert sorted(tmp_path.iterdir()) == before
