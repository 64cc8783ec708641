"""What nobody should pass: a clear ValueError when fitting, or a right answer; never a warning
of NumPy's, nor an error of a library below."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC

from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
    RankingTree,
    TableRanker,
    rivals,
)
from moreplr._validation import LARGEST_FEATURE, LARGEST_TARGET
from moreplr.forest import ForestClassifier, ForestRegressor
from moreplr.oblique import ObliqueFeatures
from moreplr.regressors import Conformal, GaussianProcess, MultiOutputSVR, SingleTarget
from moreplr.vectorizing import FrameVectorizer

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = rng.integers(1, 4, (40, 4)).astype(float)
Y[X[:, 0] > 0, 0] = 0

RANKERS = {
    "forest": RankingForest(5, random_state=0),
    "tree": RankingTree(),
    "bagging": RankingTree(5, random_state=0),
    "boost": RankingBoost(random_state=0),
    "linear": BradleyTerryRanker(),
    "neighbors": NearestNeighborsRanker(),
    "manhattan": NearestNeighborsRanker(3, metric="manhattan"),
    "pairwise": PairwiseRanker(ForestClassifier(5, random_state=0)),
    "pairwise svc": PairwiseRanker(SVC(probability=True, random_state=0)),
    "single target": MORERanker(regressor=ForestRegressor(5), random_state=0),
    "chain": MORERanker(regressor="chain", random_state=0),
    "native": MORERanker(regressor="native", random_state=0),
    "svr": MORERanker(regressor="svr"),
    "gaussian process": MORERanker(regressor="gaussian_process", random_state=0),
    "auto": AutoRanker(2.0, n_folds=2, random_state=0),
    "table": TableRanker(RankingTree()),
    "table of a linear one": TableRanker(BradleyTerryRanker()),
    **{name: getattr(rivals, name)() for name in rivals.__all__},
}
HUGE = {
    "the largest": np.where(rng.random(X.shape) < 0.1, np.sign(X) * 1.7e308, X),
    "all large": np.sign(X) * (1e308 + np.abs(X) * 1e306),
    "squares overflow": X * 1e155,
    "one column": X * [1e200, 1, 1],
    "large, but not too large": X * 1e37,
    "tiny": X * 1e-308,
}


MODELS = {
    **RANKERS,
    "forest of positions": ForestRegressor(5, random_state=0),
    "regressor": SingleTarget(LinearRegression()),
}
TOO_LARGE = "X has a feature with values beyond 3.4e\\+38"


@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.parametrize("name", MODELS)
def test_features_of_any_size_are_refused_or_right(name, kind):
    huge, model = HUGE[kind], clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=FutureWarning)
        if np.abs(huge).max() > LARGEST_FEATURE:
            with pytest.raises(ValueError, match=TOO_LARGE):
                model.fit(huge, Y)
        else:
            assert np.isfinite(model.fit(huge, Y).predict(huge)).all()


@pytest.mark.parametrize("name", MODELS)
def test_rows_to_predict_that_are_too_large_are_refused(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=FutureWarning)
        model = clone(MODELS[name]).fit(X, Y)
        with pytest.raises(ValueError, match=TOO_LARGE):
            model.predict(HUGE["all large"])


@pytest.mark.parametrize("kind", HUGE)
def test_transformers_of_features_of_any_size_warn_of_nothing(kind):
    huge = HUGE[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = FrameVectorizer(missing="median").fit_transform(pd.DataFrame(huge))
        assert np.isfinite(frame.to_numpy()).all()
        assert np.isfinite(ObliqueFeatures().fit_transform(huge, Y)).all()


@pytest.mark.parametrize("n_jobs", [10**6, -(10**6), 2**80, 0, 1.5, "2", True])
@pytest.mark.parametrize(
    "model",
    [
        RankingForest(3),
        NearestNeighborsRanker(2),
        PairwiseRanker(ForestClassifier(3)),
        MORERanker(),
        ForestRegressor(3),
        SingleTarget(ForestRegressor(3)),
    ],
)
def test_numbers_of_threads_that_are_none_are_refused(model, n_jobs):
    model = clone(model)
    if "n_jobs" not in model.get_params():
        pytest.skip("it has no threads of its own")
    with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
        model.set_params(n_jobs=n_jobs).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ForestRegressor(), "max_depth"),
        (ForestRegressor(), "min_samples_leaf"),
        (ForestClassifier(), "n_estimators"),
        (RankingForest(), "n_estimators"),
        (RankingTree(), "max_depth"),
        (NearestNeighborsRanker(), "n_neighbors"),
    ],
)
@pytest.mark.parametrize("value", [2**70, -(2**70), 1.5, "3", True, np.nan])
def test_numbers_that_kernels_can_not_hold_are_refused(model, name, value):
    target = Y[:, 0] if isinstance(model, ForestClassifier) else Y
    with pytest.raises(ValueError, match=f"{name} must be"):
        clone(model).set_params(**{name: value}).fit(X, target)


@pytest.mark.parametrize("name", RANKERS)
def test_complex_features_are_refused(name):
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        clone(RANKERS[name]).fit(X * 1j, Y)


@pytest.mark.parametrize("name", sorted(set(RANKERS) - {"table", "table of a linear one"}))
def test_integers_that_no_float_holds_are_refused(name):
    with pytest.raises(ValueError, match="X has a feature that is too large"):
        clone(RANKERS[name]).fit(np.full(X.shape, 10**400, dtype=object), Y)


@pytest.mark.parametrize(
    "weights",
    [
        [10**400] * 40, ["heavy"] * 40, [1j] * 40, np.full(40, 1j), np.full(40, "2020", "M8[D]"),
        {}, object(), [object()] * 40,
    ],
    ids=range(8),
)  # fmt: skip
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(ValueError, match="sample_weight must be a number for each row"):
        RankingTree().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        (BradleyTerryRanker(alphas=1), "alphas"),
        (TableRanker(vectorizer=[]), "vectorizer"),
        (MORERanker(layer=b"x"), "layer"),
        (MORERanker(regressor=Conformal(1)), "regressor"),
        (MORERanker(regressor=MultiOutputSVR(gamma=np.inf)), "gamma"),
        (MORERanker(regressor=MultiOutputSVR(coupling="a")), "coupling"),
        (MORERanker(regressor=MultiOutputSVR(max_cells="a")), "max_cells"),
        (MORERanker(regressor=GaussianProcess(max_cells="a")), "max_cells"),
        (rivals.PlackettLuceNeighborsRanker(prior="a"), "prior"),
        (rivals.PlackettLuceNeighborsRanker(max_iter="a"), "max_iter"),
    ],
)
def test_parameters_that_are_nothing_of_the_kind_are_named(ranker, name):
    with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
        ranker.fit(X, Y)


@pytest.mark.parametrize("size", [1e15, 1e16, 1e38, 1e155, 1e300])
@pytest.mark.parametrize("positions", ["observed", "given"])
@pytest.mark.parametrize("name", ["forest", "native", "single target", "forest of positions"])
def test_positions_of_any_size_are_refused_or_right(name, positions, size):
    model, large = clone(MODELS[name]), Y * (size / Y.max())
    values_count = "positions" not in model.get_params()
    if not values_count:
        model.set_params(positions=positions)
        values_count = positions == "given"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=FutureWarning)
        if values_count and size > LARGEST_TARGET:
            with pytest.raises(ValueError, match="y has values beyond 1e\\+15 in size"):
                model.fit(X, large)
        else:
            assert np.isfinite(model.fit(X, large).predict(X)).all()


def test_positions_beyond_any_float_are_refused():
    with pytest.raises(ValueError, match=r"row 0, label 0: position 1000.* is not a number"):
        RankingTree().fit([[1.0]], [[10**400, 2]])
