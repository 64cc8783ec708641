import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import moreplr
from moreplr import MORERanker, RankingForest, RankingTree, TableRanker
from moreplr.cli.models import Model, load_model, save_model, use_threads
from moreplr.tables.cells import Reader
from moreplr.vectorizing import FrameVectorizer

X = pd.DataFrame({"t": ["u", "v", None, "u"], "n": [1.0, np.nan, 3.0, 4.0]})
Y = ["a > b", "b > a", "a ~ b", "a > b"]


def test_what_a_ranker_of_tables_needs_is_known_from_it():
    ranker = TableRanker(RankingForest(3)).fit(X, Y)
    model = Model.of(ranker, "m")
    assert (model.features, model.kinds) == (["t", "n"], ["text", "number"])
    assert model.labels == ["a", "b"]
    raw = pd.DataFrame({"n": ["4", ""], "x": ["", ""], "t": ["u", "NA"]}, dtype=object)
    columns = model.columns(list(raw), "t.csv")
    ready = model.prepare(raw, columns, Reader("t.csv"))
    twin = pd.DataFrame({"t": ["u", None], "n": [4.0, np.nan]}, dtype=object)
    pd.testing.assert_frame_equal(ready, twin.astype({"n": float}))


def test_a_pipeline_may_hold_the_vectoriser():
    pipeline = make_pipeline(FrameVectorizer(), RankingForest(3)).fit(X, Y)
    model = Model.of(pipeline, "m")
    assert model.kinds == ["text", "number"]
    raw = pd.DataFrame({"t": ["u"], "n": ["2"]}, dtype=object)
    ready = model.prepare(raw, ["t", "n"], Reader("t.csv"))
    assert model.ranker.predict(ready).shape == (1, 2)


def test_columns_that_are_not_looked_at_may_be_absent():
    table = pd.DataFrame({"id": [f"p{i}" for i in range(50)], "n": np.arange(50.0)})
    with pytest.warns(UserWarning, match="column 'id' is left out"):
        ranker = TableRanker(RankingForest(3)).fit(table, ["a > b", "b > a"] * 25)
    model = Model.of(ranker, "m")
    assert model.kinds == ["unused", "number"]
    raw = pd.DataFrame({"n": ["2"]}, dtype=object)
    ready = model.prepare(raw, model.columns(["n"], "t.csv"), Reader("t.csv"))
    assert model.ranker.predict(ready).shape == (1, 2)
    with pytest.raises(ValueError, match="lacks the feature column 'n'"):
        model.columns(["id"], "t.csv")


def test_threads_do_not_reach_parts_of_other_libraries():
    pipeline = make_pipeline(ColumnTransformer([("n", StandardScaler(), ["n"])]), RankingTree())
    pipeline.fit(X[["n"]].fillna(0), Y)
    use_threads(pipeline, 2)
    assert pipeline[0].n_jobs is None
    assert pipeline[1].forest_.n_jobs == 2


def test_other_pipelines_take_numbers():
    frame = X[["n"]].fillna(0)
    pipeline = make_pipeline(StandardScaler(), RankingForest(3)).fit(frame, Y)
    assert Model.of(pipeline, "m").kinds == ["number"]


def test_threads_are_no_part_of_a_file(tmp_path):
    ranker = RankingForest(3, n_jobs=2, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], Y)
    save_model(ranker, str(tmp_path / "m"))
    assert moreplr.load(tmp_path / "m").forests_[0].n_jobs is None
    loaded = load_model(str(tmp_path / "m"), jobs=2).ranker
    assert loaded.n_jobs == loaded.forests_[0].n_jobs == 2


def test_threads_reach_the_fitted_parts_of_more():
    ranker = MORERanker(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], Y)
    use_threads(ranker, 2)
    assert ranker.regressor_.n_jobs == ranker.regressor_.batch_.n_jobs == 2


def test_what_is_saved_but_no_ranker(tmp_path):
    moreplr.save(StandardScaler().fit([[0.0], [1.0]]), tmp_path / "m")
    with pytest.raises(ValueError, match="holds a StandardScaler, which is no ranker"):
        load_model(str(tmp_path / "m"))
