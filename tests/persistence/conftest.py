"""Small fitted models of every kind, and files that are taken apart and signed again."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process.kernels import DotProduct, Matern, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVR

from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
    RankingTree,
    TableRanker,
    save,
)
from moreplr.datasets import make_preprocessor
from moreplr.encoders import RankEncoder
from moreplr.forest import ForestClassifier, ForestRegressor
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.persistence.container import Writer
from moreplr.regressors import (
    Chain,
    Conformal,
    GaussianProcess,
    Native,
    SingleTarget,
    Stacking,
)
from moreplr.vectorizing import FrameVectorizer

_rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame(_rng.normal(size=(24, 3)), columns=["a", "b", "c"])
MIXED = NUMBERS.assign(town=pd.Series(["Ulm", "Bonn", "Köln"] * 8, dtype=object))
GAPS = MIXED.assign(town=MIXED["town"].where(MIXED.index != 3))
TABLE = GAPS.assign(
    day=pd.date_range("2024-01-01", periods=24).strftime("%d.%m.%Y"),
    text=[f"some {i} words" for i in range(24)],
)
COMPLETE = _rng.integers(1, 4, size=(24, 3)).astype(float)
RANKINGS = np.where(_rng.random((24, 3)) < 0.1, np.nan, COMPLETE)
WEIGHT = _rng.random(24) + 0.1


class Case(NamedTuple):
    """A model that is not fitted, and what to fit it on."""

    model: Callable[[], Any]
    X: Any = NUMBERS
    Y: Any = RANKINGS
    weight: Any = None


def _forest(**options: Any) -> ForestRegressor:
    return ForestRegressor(3, random_state=0, **options)


def _more(regressor: Any, layer: Any = "round_rank", encoder: Any = "dense") -> MORERanker:
    return MORERanker(encoder, regressor, layer, random_state=0)


def _classes() -> ForestClassifier:
    return ForestClassifier(3, random_state=0)


def _columns() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), RobustScaler())
    parts = [("numbers", numbers, ["a", "b"]), ("town", OrdinalEncoder(), ["town"])]
    return ColumnTransformer(parts, remainder="passthrough")


def _rare() -> ColumnTransformer:
    rare = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=9, drop="first")
    return ColumnTransformer([("numbers", "passthrough", slice(0, 2)), ("town", rare, ["town"])])


KERNEL = Matern([1.0, 2.0, 3.0], nu=2.5) * 2.0 + WhiteKernel() + DotProduct() ** 2

CASES = {
    "single_target": Case(lambda: _more(SingleTarget(_forest()))),
    "single_target_weighted": Case(lambda: _more(SingleTarget(_forest())), weight=WEIGHT),
    "svr": Case(lambda: _more("svr", EpsilonCloseness(0.1))),
    "gaussian_process": Case(lambda: _more("gaussian_process", "prediction_interval")),
    "gaussian_process_complete": Case(lambda: _more(GaussianProcess(KERNEL)), Y=COMPLETE),
    "conformal_chain": Case(
        lambda: _more(
            Conformal(Chain(_forest(), order=[2, 0, 1]), method="cross", cv=KFold(2)),
            PredictionInterval(2.0),
        )
    ),
    "conformal_stacking": Case(
        lambda: _more(
            Conformal(Stacking(_forest(), cv=2, random_state=0), coverage=0.5, random_state=0),
            "prediction_interval",
        )
    ),
    "stacking": Case(
        lambda: _more(
            Stacking(Ridge(), final=BayesianRidge(), random_state=0),
            RoundRank("even"),
            RankEncoder(),
        )
    ),
    "native": Case(lambda: _more(Native(_forest()), encoder=RankEncoder("modified"))),
    "base_svr": Case(lambda: _more(make_pipeline(StandardScaler(), SVR(kernel="poly")))),
    "base_linear_svr": Case(lambda: _more(LinearSVR(random_state=0))),
    "base_linear": Case(lambda: _more(LinearRegression())),
    "base_lasso": Case(lambda: _more(Lasso(0.1))),
    "base_elastic_net": Case(lambda: _more(Native(ElasticNet(0.1))), Y=COMPLETE),
    "label_never_ranked": Case(
        lambda: _more(Ridge()), Y=np.where(np.arange(3) == 2, np.nan, COMPLETE)
    ),
    "pairwise": Case(lambda: PairwiseRanker(_classes(), random_state=0)),
    "pairwise_calibrated": Case(
        lambda: PairwiseRanker(
            _classes(), calibrated=True, aggregation="bpa", random_state=np.random.RandomState(3)
        )
    ),
    "pairwise_weighted": Case(lambda: PairwiseRanker(_classes()), weight=WEIGHT),
    "pairwise_logistic": Case(lambda: PairwiseRanker(LogisticRegression(), ties="published")),
    "pairwise_svc": Case(
        lambda: PairwiseRanker(
            make_pipeline(MinMaxScaler(), SVC(probability=True, random_state=0))
        )
    ),
    "ranking_forest": Case(lambda: RankingForest(3, structure="shared", random_state=0)),
    "ranking_forest_per_label": Case(
        lambda: RankingForest(3, structure="per_label", random_state=0), weight=WEIGHT
    ),
    "ranking_forest_both": Case(lambda: RankingForest(3, random_state=0)),
    "ranking_forest_plain": Case(lambda: RankingForest(3, oblique=False, random_state=0)),
    "bradley_terry": Case(lambda: BradleyTerryRanker(standard_errors="fisher")),
    "ranking_boost": Case(lambda: RankingBoost(5, n_members=2, random_state=0), Y=COMPLETE),
    "ranking_boost_without_trees": Case(
        lambda: RankingBoost(random_state=0), Y=np.ones((24, 3)), weight=WEIGHT
    ),
    "neighbors": Case(lambda: NearestNeighborsRanker()),
    "neighbors_brute": Case(
        lambda: NearestNeighborsRanker(3, metric="nan_euclidean"), weight=WEIGHT
    ),
    "tree": Case(lambda: RankingTree(min_samples_leaf=2)),
    "bagging": Case(lambda: RankingTree(3, random_state=0)),
    "dummy": Case(lambda: DummyRanker(), Y=["b > a ~ c"] * 23 + ["a > c"]),
    "one_label": Case(lambda: RankingTree(), Y=np.ones((24, 1))),
    "auto": Case(lambda: AutoRanker(None, n_folds=2, prior=50.0, random_state=0)),
    "preprocessor": Case(
        lambda: make_pipeline(make_preprocessor(GAPS, [7]), RankingForest(3, random_state=0)),
        GAPS,
    ),
    "columns": Case(
        lambda: make_pipeline(_columns(), MaxAbsScaler(), FunctionTransformer(), RankingTree()),
        MIXED,
    ),
    "rare_categories": Case(lambda: make_pipeline(_rare(), NearestNeighborsRanker()), MIXED),
    "table": Case(
        lambda: TableRanker(RankingTree(min_samples_leaf=2, random_state=0), FrameVectorizer(5)),
        TABLE,
    ),
    "forest_regressor": Case(lambda: _forest(), Y=RANKINGS),
    "forest_classifier": Case(lambda: _classes(), Y=np.array(list("abc") * 8)),
}


@pytest.fixture(scope="session")
def fitted() -> Callable[[str], tuple[Any, Any]]:
    """Gives a fitted model by name, and rows to predict; each is fitted once."""
    known: dict[str, tuple[Any, Any]] = {}

    def fit(name: str) -> tuple[Any, Any]:
        if name not in known:
            case = CASES[name]
            model = case.model()
            options = {} if case.weight is None else {"sample_weight": case.weight}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[name] = model.fit(case.X, case.Y, **options), case.X
        return known[name]

    return fit


@pytest.fixture(scope="session")
def targets() -> Callable[[str], Any]:
    """Gives the targets of a model by name."""
    return lambda name: CASES[name].Y


@pytest.fixture(scope="session")
def case_names() -> list[str]:
    """The names of all models."""
    return list(CASES)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with an argument `name` runs for every model."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", CASES)


class Parts(NamedTuple):
    """What is in a file: the nodes of the model, and the bytes of its arrays."""

    nodes: list[Any]
    arrays: dict[str, bytes]


@pytest.fixture(scope="session")
def saved() -> Callable[[Any], bytes]:
    """Gives the bytes of a model's file."""

    def to_bytes(model: Any) -> bytes:
        stream = io.BytesIO()
        save(model, stream)
        return stream.getvalue()

    return to_bytes


@pytest.fixture(scope="session")
def take_apart() -> Callable[[bytes], Parts]:
    """Opens a file to all that is in it."""

    def parts(data: bytes) -> Parts:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            nodes = json.loads(archive.read("model.json"))["nodes"]
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            return Parts(nodes, {name: archive.read(name) for name in names})

    return parts


@pytest.fixture(scope="session")
def sign() -> Callable[[Parts], bytes]:
    """Makes a file of any parts, with the right checksums."""

    def to_bytes(parts: Parts) -> bytes:
        stream = io.BytesIO()
        with Writer(stream) as writer:
            for member, data in parts.arrays.items():
                writer.add(member, data)
            writer.add_json("model.json", {"nodes": parts.nodes})
        return stream.getvalue()

    return to_bytes
