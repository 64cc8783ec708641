import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import moreplr
from moreplr.model_selection import corrected_t

WORDS = ["--labels", "rank_*", "--ignore", "name", "--set", "n_estimators=5", "--folds", "3"]


def test_mean_interval_and_what_the_consensus_gets(run, many_people):
    code, out, err = run("evaluate", many_people, *WORDS, "-o", "folds.csv")
    assert code == 0
    assert "\nrankings   positions: the smallest is best, equal is tied" in err
    assert "\nfirst row  " in err
    assert "\nconsensus  " in err
    assert out.startswith("people: 300 rows, 2 features, 3 labels\n")
    assert "corrected resampled t interval of Nadeau and Bengio (2003)" in out
    assert "it has learned from the features" in out
    folds = pd.read_csv("folds.csv")
    assert len(folds) == 12
    own = folds[folds["ranker"] == "forest"]
    # 300 rows in 3 folds: 100 are tested, 200 train.
    assert f"forest      tau_x {corrected_t(own['tau_x'], 0.5)}," in out
    low, high = map(float, re.search(r"forest .*\((\S+) to (\S+)\)", out).groups())
    assert low < own["tau_x"].mean() < high


def test_the_interval_widens_with_confidence(run, table):
    def width(level):
        out = run("evaluate", table, *WORDS, "--confidence", level)[1]
        assert f"{100 * level:g}% intervals" in out
        low, high = map(float, re.search(r"consensus .*\((\S+) to (\S+)\)", out).groups())
        return high - low

    assert width(0.5) < width(0.9)


def test_features_that_tell_nothing_give_no_sure_gain(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "a": 1, "b": rng.integers(0, 3, 40)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    out = run("evaluate", "a.csv", "--labels", "a", "b", "--ranker", "neighbors")[1]
    assert re.search("no sure gain|worse than not looking", out)


def test_scores_to_standard_output_move_the_words_aside(run, table):
    code, out, err = run("evaluate", table, *WORDS, "--ranker", "dummy:aggregation=borda", "-o-")
    assert code == 1  # dummy has no n_estimators
    code, out, err = run(
        "evaluate", table, "--labels", "rank_*", "--ranker", "dummy", "--folds", "2", "-o", "-"
    )
    assert code == 0
    assert set(pd.read_csv(io.StringIO(out))["ranker"]) == {"dummy"}
    assert "tau_x" in err


def test_a_saved_model_on_new_rows(run, fitted, table):
    code, out, err = run("evaluate", table, "--model", fitted, "-o", "rows.csv")
    assert (code, err) == (0, "")
    model = moreplr.load(fitted)
    X, Y = moreplr.datasets.from_csv(table, "rank_*")
    assert f"tau_x {model.score(X[['age', 'town']], Y):.3f} (" in out
    assert "percentile bootstrap over rows" in out
    rows = pd.read_csv("rows.csv")
    assert rows["row"].tolist() == list(range(1, 61))


def test_labels_with_a_prefix_that_the_model_lacks_are_told_apart(run, table):
    words = ["--labels", "rank_*", "--ignore", "name"]
    short = ["--drop-prefix", "rank_"]
    assert run("fit", table, *words, *short, "--ranker", "dummy", "-o", "s")[0] == 0
    code, _, err = run("evaluate", table, "--model", "s", *words)
    assert code == 1
    assert err.endswith("; say --drop-prefix 'rank_'\n")
    assert run("evaluate", table, "--model", "s", *words, *short)[0] == 0


def test_labels_of_new_rows_may_be_in_any_order_or_texts(run, fitted, table, tmp_path):
    whole = run("evaluate", table, "--model", fitted)[1].splitlines()[1:]
    frame = pd.read_csv(table)
    frame[list(frame)[::-1]].to_csv(tmp_path / "b.csv", index=False)
    assert run("evaluate", "b.csv", "--model", fitted)[1].splitlines()[1:] == whole
    labels = [column for column in frame if column.startswith("rank_")]
    texts = moreplr.rankings.to_text(frame[labels])
    frame.drop(columns=labels).assign(order=texts).to_csv(tmp_path / "c.csv", index=False)
    words = ["evaluate", "c.csv", "--model", fitted, "--ranking-column", "order"]
    assert run(*words)[1].splitlines()[1:] == whole


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--confidence", "95"], "--confidence must lie between 0 and 1, got 95"),
        (["--folds", "100"], "people: there are too few rows for 100 folds: 60"),
        (["--model", "m", "--set", "a=1"], "leave out --ranker and --set"),
        (["--model", "m", "--labels", "age", "rank_tea"], "are not those of the model"),
        (["--model", "none"], "there is no model none"),
        (["-o", "no/folds.csv"], "there is no folder no"),
    ],
)
def test_errors(run, fitted, table, tmp_path, words, message):
    (tmp_path / "m").write_bytes(fitted.read_bytes())
    labels = [] if "--model" in words else ["--labels", "rank_*", "--ignore", "name"]
    code, _, err = run("evaluate", table, *labels, *words)
    assert code == 1
    assert message in err
    assert err.count("error: ") == 1


def test_a_page_beside_the_printed_lines(run, table):
    few = [*WORDS, "--repeats", "1"]
    code, out, err = run("evaluate", table, *few, "--report", "people.html")
    assert code == 0
    assert err.endswith("people.html\n")
    assert [line.split()[0] for line in out.splitlines()[1:6]] == [
        "forest",
        "linear",
        "neighbors",
        "consensus",
        "difference",
    ]
    text = Path("people.html").read_text("utf-8")
    assert "people: 60 rows, 2 features, 3 labels" in text
    code, _, err = run("evaluate", table, *few, "--report", "no/people.html")
    assert (code, err) == (1, "moreplr: error: there is no folder no to write to; make it first\n")
    for name in ("-", "people.pdf"):
        assert "a report is a web page, such as" in run("evaluate", table, "--report", name)[2]
    assert "leave out --model" in run("evaluate", table, "--model", "m", "--report", "a.html")[2]


def test_of_a_saved_model_too_it_is_said_what_looks_odd(run, fitted, table, tmp_path):
    frame = pd.read_csv(table)
    labels = [column for column in frame if column.startswith("rank_")]
    frame[labels] = 6 - frame[labels]  # stars, which nobody says are any
    frame.to_csv(tmp_path / "stars.csv", index=False)
    code, out, err = run("evaluate", "stars.csv", "--model", fitted)
    assert code == 0
    assert "tau_x -" in out
    assert err.startswith("moreplr: note: stars.csv: a position is 5, with 3 labels; if larger")
    assert "--ratings" in err


def test_weights_and_groups_count_for_a_saved_model(run, fitted, table, tmp_path):
    frame = pd.read_csv(table).assign(household=["one"] * 30 + ["two"] * 30)
    words = ["evaluate", "a.csv", "--model", fitted, "-o", "rows.csv"]
    assert run("evaluate", table, *words[2:])[0] == 0
    tau = pd.read_csv("rows.csv")["tau_x"]
    # Rows that went well count more: the weighted mean is another, whatever is predicted.
    frame["weight"] = np.where(tau > tau.mean(), 3, np.arange(60) % 3)
    frame.to_csv(tmp_path / "a.csv", index=False)
    out = run(*words, "--weight", "weight")[1]
    tau = pd.read_csv("rows.csv")["tau_x"]
    seen = tau.notna()
    mean = np.average(tau[seen], weights=frame["weight"][seen])
    assert round(mean, 3) != round(tau.mean(), 3)
    assert f"tau_x {mean:.3f} (" in out
    assert "\nweighted mean over rows with" in out
    # Of two groups, a resample is either of them, or both.
    out = run(*words, "--group", "household")[1]
    ends = sorted([tau[:30].mean(), tau[30:].mean()])
    assert f"({ends[0]:.3f} to {ends[1]:.3f})" in out
    assert "percentile bootstrap over groups" in out
