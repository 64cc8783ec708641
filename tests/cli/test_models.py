import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import moreplr
from moreplr import MORERanker, RankingForest
from moreplr.cli.models import Model, load_model, save_model, use_threads
from moreplr.datasets import make_preprocessor
from moreplr.tables.cells import Reader

X = pd.DataFrame({"t": ["u", "v", None, "u"], "n": [1.0, np.nan, 3.0, 4.0]})
Y = ["a > b", "b > a", "a ~ b", "a > b"]


def test_what_a_pipeline_needs_is_known_from_it():
    pipeline = make_pipeline(make_preprocessor(X), RankingForest(3)).fit(X, Y)
    model = Model.of(pipeline, "m")
    assert (model.features, model.kinds) == (["t", "n"], ["text", "number"])
    assert model.labels == ["a", "b"]
    raw = pd.DataFrame({"n": ["4", ""], "x": ["", ""], "t": ["u", "NA"]}, dtype=object)
    columns = model.columns(list(raw), "t.csv")
    ready = model.prepare(raw, columns, Reader("t.csv"))
    twin = pipeline[:-1].transform(pd.DataFrame({"t": ["u", None], "n": [4.0, np.nan]}))
    np.testing.assert_array_equal(ready, twin)


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
