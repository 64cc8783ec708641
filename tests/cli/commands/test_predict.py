import io
import re
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import moreplr
from moreplr import DummyRanker, MORERanker, RankingForest
from moreplr.tables import reading


@pytest.fixture
def csv(run, table):
    def csv(*words):
        code, out, err = run("predict", *words)
        assert (code, err) == (0, "")
        return pd.read_csv(io.StringIO(out), keep_default_na=False)

    return csv


def test_ranks_texts_and_pairs_tell_the_same(csv, fitted, table):
    ranks, texts = csv(fitted, table), csv(fitted, table, "--text")
    pairs = csv(fitted, table, "--pairs")
    assert list(ranks) == ["rank_tea", "rank_café", "rank_water, still"]
    assert list(texts) == ["ranking"]
    assert texts["ranking"].tolist() == moreplr.rankings.to_text(ranks)
    assert list(pairs) == ["row", "first", "second", "precedes", "tied", "follows"]
    assert pairs["row"].tolist() == np.repeat(np.arange(1, 61), 3).tolist()
    total = pairs[["precedes", "tied", "follows"]].sum(axis=1)
    np.testing.assert_allclose(total, 1, atol=3e-6)
    model = moreplr.load(fitted)
    X = moreplr.datasets.from_csv(table, "rank_*").X[["age", "town"]]
    np.testing.assert_array_equal(ranks, model.predict(X))
    P = model.predict_pairs(X).P
    np.testing.assert_allclose(pairs["precedes"], P[:, [0, 0, 1], [1, 2, 2]].ravel(), atol=1e-6)
    scores = csv(fitted, table, "--scores")
    assert list(scores) == model.labels_.tolist()
    np.testing.assert_allclose(scores, model.predict_scores(X), atol=1e-6)


@pytest.mark.parametrize("words", [[], ["--text"], ["--pairs"], ["--scores"]])
def test_chunks_do_not_show(csv, fitted, table, words, monkeypatch):
    whole = csv(fitted, table, *words, "--keep", "name")
    defaults = reading.open_table.__wrapped__.__kwdefaults__
    monkeypatch.setitem(defaults, "rows", 7)
    pd.testing.assert_frame_equal(csv(fitted, table, *words, "--keep", "name"), whole)


def test_columns_go_by_name(csv, fitted, table, tmp_path):
    whole = csv(fitted, table)
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    frame[["town", "new", "age"]] = frame[["town", "name", "age"]]
    frame[["town", "new", "age"]].to_csv(tmp_path / "b.csv", index=False)
    pd.testing.assert_frame_equal(csv(fitted, "b.csv"), whole)


def test_kept_columns_are_copied_to_the_letter(csv, fitted, tmp_path):
    (tmp_path / "b.csv").write_text("id,age,town,x\n007,30,Ulm,NA\n1e3,,NA,\n")
    kept = csv(fitted, "b.csv", "--keep", "x", "id", "town")
    raw = (tmp_path / "b.csv").read_text()
    assert list(kept)[:3] == ["x", "id", "town"]
    out = csv(fitted, "b.csv", "--keep", "*", "--text")
    assert list(out) == ["id", "age", "town", "x", "ranking"]
    assert raw.splitlines()[2] == "1e3,,NA,"
    assert kept["town"].tolist() == ["Ulm", "NA"]


def test_cells_of_a_text_column_stay_texts_in_every_chunk(run, tmp_path):
    """Codes such as 01 are texts to the model, also where a table holds nothing but digits."""
    rows = [(f"0{i % 2}" if i % 3 else "x", 1 + i % 2, 2 - i % 2) for i in range(30)]
    frame = pd.DataFrame(rows, columns=["code", "a", "b"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ["--labels", "2", "--ranker", "tree", "--set", "min_samples_leaf=1", "-o", "m"]
    assert run("fit", "a.csv", *words)[0] == 0
    (tmp_path / "b.csv").write_text("code\n00\n01\n")
    assert run("predict", "m", "b.csv", "--text")[1].split("\n")[1:3] == ["a > b", "b > a"]


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.csv.gz", "o.csv.zip", "o.parquet"])
def test_formats_out_and_in(run, csv, fitted, table, name):
    whole = csv(fitted, table, "--keep", "name")
    assert run("predict", fitted, table, "--keep", "name", "-o", name) == (0, "", "")
    with reading.open_table(name) as opened:
        cells = opened.read().astype(str).to_numpy()
    assert cells.tolist() == whole.astype(str).to_numpy().tolist()


def test_parquet_in_gives_the_same(csv, fitted, table, tmp_path):
    whole = csv(fitted, table)
    pd.read_csv(table).to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(csv(fitted, "a.parquet"), whole)


def test_standard_streams(run, csv, fitted, table, monkeypatch):
    whole = csv(fitted, table)
    for words, content in [((fitted, "-"), table), (("-", table), fitted)]:
        buffer = io.BytesIO(content.read_bytes())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))
        pd.testing.assert_frame_equal(csv(*words), whole)
    assert "both come from standard input" in run("predict", "-", "-")[2]


def test_numbers_of_buckets_and_total_orders(csv, fitted, table):
    assert (csv(fitted, table, "--n-buckets", 2).max(axis=1) == 2).all()
    assert (csv(fitted, table, "--total-order").nunique(axis=1) == 3).all()
    assert ((csv(fitted, table, "--top", 1, "--total-order") == 1).sum(axis=1) == 1).all()


def test_a_table_without_rows_gives_a_header(run, fitted, tmp_path):
    (tmp_path / "b.csv").write_text("town,age\n")
    assert run("predict", fitted, "b.csv", "--text") == (0, "ranking\n", "")
    assert run("predict", fitted, "b.csv", "-o", "o.parquet")[0] == 0
    assert len(pd.read_parquet("o.parquet")) == 0


def test_memory_does_not_grow_with_the_rows(run, tmp_path):
    ranker = DummyRanker().fit([[0.0] * 10] * 2, ["a > b", "b ~ a"])
    moreplr.save(ranker, tmp_path / "m")
    header = ",".join(f"x{i}" for i in range(10))
    for name, n in [("few.csv", 2 * reading.CHUNK_ROWS), ("many.csv", 8 * reading.CHUNK_ROWS)]:
        (tmp_path / name).write_text(f"{header}\n" + ("1.25," * 9 + "1.25\n") * n)
    assert run("predict", "m", "few.csv", "-o", "out.csv")[0] == 0  # kernels are compiled here
    peaks = []
    tracemalloc.start()
    try:
        for name in ("few.csv", "many.csv"):
            tracemalloc.reset_peak()
            assert run("predict", "m", name, "-o", "out.csv")[0] == 0
            peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
        with reading.open_table("many.csv") as table:
            table.read()
        at_once = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    few, many = peaks
    assert many < 1.2 * few
    assert at_once > 2 * few  # what it would be if rows were not let go


def test_models_of_python_without_names(run, tmp_path):
    ranker = RankingForest(5, random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["a > b", "b > a"])
    moreplr.save(ranker, tmp_path / "m.moreplr")
    (tmp_path / "b.csv").write_text("x,a,y\n0,2,1\n1,1,0\n")
    code, out, _ = run("predict", "m.moreplr", "b.csv")
    assert (code, out.splitlines()[0]) == (0, "a,b")
    (tmp_path / "b.csv").write_text("x\n0\n")
    assert "fitted on 2 features without names" in run("predict", "m.moreplr", "b.csv")[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["m", "none.csv"], "there is no file none.csv"),
        (["none", "b.csv"], "there is no model none; moreplr fit makes one"),
        (["b.csv", "m"], "b.csv: .*; give the model first, then the table"),
        (["m", "lacking.csv"], "lacking.csv lacks the feature columns 'age', 'town' that m was"),
        (["m", "broken.csv"], "broken.csv: row 3, column 'age': 'old' is not a number"),
        (["m", "b.csv", "--keep", "nam"], "no column 'nam' .--keep.; columns are"),
        (["m", "b.csv", "--keep", "rank_tea"], "--keep 'rank_tea': a predicted column has"),
        (["m", "b.csv", "-o", "no/o.csv"], "there is no folder no"),
        (["m", "b.csv", "--pairs", "--top", "1"], "--top says how to rank"),
        (["more", "b.csv", "--scores"], "MORERanker, which has no scores; fit one"),
        (["m", "b.csv", "--n-buckets", "9"], "n_buckets"),
        (["more", "b.csv", "--pairs"], "MORERanker, which has no pair probabilities"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(run, fitted, tmp_path, words, message):
    (tmp_path / "m").write_bytes(fitted.read_bytes())
    moreplr.save(MORERanker(random_state=0).fit([[0.0], [1.0]], ["a > b", "b > a"]), "more")
    (tmp_path / "b.csv").write_text("age,town,rank_tea\n30,Ulm,1\n")
    (tmp_path / "lacking.csv").write_text("id\n1\n")
    (tmp_path / "broken.csv").write_text("age,town\n30,Ulm\n,Ulm\nold,Ulm\n")
    before = sorted(tmp_path.iterdir())
    code, out, err = run("predict", *words)
    assert code == 1
    assert err.count("\n") == 1
    assert re.search(message, err)
    assert out == ""
    assert sorted(tmp_path.iterdir()) == before


def write(frame, path):
    """Write a frame in the format that the path's ending says."""
    kind = path.suffix[1:]
    if kind == "json":
        frame.to_json(path, orient="records", date_format="iso")
    else:
        {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[kind](
            path, index=False
        )


def test_dates_and_booleans_mean_the_same_in_every_format(run, tmp_path):
    for name in ("pyarrow", "openpyxl"):
        pytest.importorskip(name)
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 300, 60), "D")
    frame = pd.DataFrame({"member": rng.random(60) > 0.5, "joined": days})
    good = np.where(frame["member"], "a > b > c", "c > b > a")
    frame["ranking"] = np.where(days.month > 6, good, "b > a ~ c")
    names = ["t.csv", "t.json", "t.parquet", "t.xlsx"]
    for name in names:
        write(frame, tmp_path / name)
    ranker = moreplr.TableRanker(RankingForest(20, random_state=0))
    moreplr.save(ranker.fit(frame[["member", "joined"]], frame["ranking"]), "python.moreplr")
    words = ["--ranking-column", "ranking", "--set", "n_estimators=20"]
    for name in names:
        assert run("fit", name, *words, "-o", f"{name}.moreplr")[0] == 0
    for model in [*names, "python"]:
        for name in names:
            code, out, err = run("predict", f"{model}.moreplr", name, "--text")
            assert (code, err) == (0, ""), (model, name)
            rankings = pd.read_csv(io.StringIO(out))["ranking"].tolist()
            assert moreplr.metrics.tau_x_score(frame["ranking"].tolist(), rankings) > 0.9
