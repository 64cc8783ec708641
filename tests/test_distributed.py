import socket
from contextlib import suppress

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
)
from moreplr.checks import make_rankings
from moreplr.forest import ForestClassifier, ForestRegressor

distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

from moreplr.distributed import fit, predict  # noqa: E402

RANKERS = [
    RankingForest(12, random_state=0),
    RankingForest(12, structure="shared", positions="given", random_state=0),
    MORERanker("modified", ForestRegressor(12, random_state=0), "prediction_interval"),
    PairwiseRanker(ForestClassifier(12, random_state=0)),
    PairwiseRanker(LogisticRegression(), random_state=0),
    RankingBoost(12, n_members=3, random_state=0),
    make_pipeline(StandardScaler(), RankingForest(12, random_state=0)),
    BradleyTerryRanker(),
    AutoRanker(
        None,
        [RankingForest(12), make_pipeline(StandardScaler(), NearestNeighborsRanker())],
        n_folds=2,
        prior=20.0,
        random_state=0,
    ),
]


@pytest.fixture(scope="module")
def busy_port():
    """The port of Dask's dashboard, and of RStudio, is in use."""
    with socket.socket() as busy:
        with suppress(OSError):  # by another program already
            busy.bind(("", 8787))
            busy.listen()
        yield


@pytest.fixture(scope="module")
def client(busy_port):
    """Two workers, each in a process of its own."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    X, Y = make_rankings(n=120)
    Y[::7, 1] = np.nan
    return X, Y


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda r: type(r).__name__)
def test_a_cluster_fits_the_same_ranker(client, data, ranker):
    X, Y = data
    here = ranker.fit(X, Y).predict(X)
    with joblib.parallel_config("threading", n_jobs=1):  # what is fitted needs no cluster
        there = fit(ranker, X, Y, client=client).predict(X)
    np.testing.assert_array_equal(here, there)


def test_trees_are_grown_by_all_workers(client):
    X, Y = make_rankings(n=4000)
    with distributed.get_task_stream(client) as stream:
        fit(ForestRegressor(100, random_state=0), X, Y, client=client)
    grown = [task for task in stream.data if "grow_chunk" in str(task["key"])]
    assert {task["worker"] for task in grown} == set(client.scheduler_info()["workers"])


def test_folds_of_members_are_fitted_by_workers(client, data):
    ranker = AutoRanker(None, [NearestNeighborsRanker()], random_state=0)
    with distributed.get_task_stream(client) as stream:
        fit(ranker, *data, client=client)
    judged = [task for task in stream.data if "held_out" in str(task["key"])]
    assert judged


def test_predicting_in_the_context_of_a_cluster_writes_to_memory_here(client, data):
    X, Y = data
    forest = ForestRegressor(12, random_state=0).fit(X, Y)
    ranker = PairwiseRanker(random_state=0).fit(X, Y)
    here = forest.predict(X), ranker.predict(X)
    with joblib.parallel_config("dask", client=client, n_jobs=-1):
        np.testing.assert_array_equal(forest.predict(X), here[0])
        np.testing.assert_array_equal(ranker.predict(X), here[1])


def test_frames_are_predicted_where_they_are(client, data):
    X, Y = data
    frame = pd.DataFrame(X, index=range(7, 7 + len(X))).add_prefix("x")
    ranker = RankingForest(12, random_state=0).fit(frame, Y)
    lazy = predict(ranker, dd.from_pandas(frame, npartitions=3))
    assert list(lazy.columns) == list(ranker.labels_)
    expected = pd.DataFrame(ranker.predict(frame), index=frame.index, columns=ranker.labels_)
    pd.testing.assert_frame_equal(lazy.compute(), expected)
    fitted = fit(RankingForest(12, random_state=0), dd.from_pandas(frame, npartitions=2), Y)
    np.testing.assert_array_equal(fitted.predict(frame), expected.to_numpy())


def test_arrays_are_predicted_where_they_are(client, data):
    X, Y = data
    ranker = make_pipeline(StandardScaler(), RankingForest(12, random_state=0)).fit(X, Y)
    lazy = predict(ranker, da.from_array(X, chunks=(50, 2)))
    np.testing.assert_array_equal(lazy.compute(), ranker.predict(X))


def test_what_is_not_for_a_cluster_is_said(data):
    X, Y = data
    ranker = RankingForest(3, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="Dask DataFrame or Array, got ndarray"):
        predict(ranker, X)
