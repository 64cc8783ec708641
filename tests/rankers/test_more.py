import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import MORERanker
from moreplr.base import CHUNK_BYTES
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.datasets import load
from moreplr.encoders import RankEncoder
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.metrics import tau_x_score
from moreplr.regressors import (
    Chain,
    Conformal,
    GaussianProcess,
    MultiOutputSVR,
    Native,
    SingleTarget,
    Stacking,
)

NAN = float("nan")
FOREST = RandomForestRegressor(10, random_state=0)
EPS = EpsilonCloseness(0.1)

RANKERS = [
    MORERanker(random_state=0),
    MORERanker(regressor=SingleTarget(FOREST)),
    MORERanker("modified", Chain(FOREST), EPS),
    MORERanker("fractional", Stacking(FOREST, cv=3, random_state=0), EPS),
    MORERanker("modified", Native(FOREST), PredictionInterval(0.5)),
    MORERanker("standard", MultiOutputSVR(C=10), EPS),
    MORERanker("fractional", GaussianProcess(), EPS),
    MORERanker("dense", Conformal(SingleTarget(FOREST), coverage=0.2, random_state=0), "epsilon"),
    MORERanker(regressor=Ridge()),
]


def expected_failures(ranker):
    if not isinstance(ranker.regressor, GaussianProcess):
        return {}
    kinds = ["pandas_series", "not_an_array", "list", "shape", "not_overwritten"]
    checks = [f"check_sample_weights_{kind}" for kind in kinds]
    checks.append("check_sample_weight_equivalence_on_dense_data")
    return dict.fromkeys(checks, "a Gaussian process takes no sample weights, and says so")


@parametrize_with_checks(RANKERS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:too few rows:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ranker(ranker, check):
    check(ranker)


class TestComposition:
    @pytest.mark.parametrize(
        ("encoder", "regressor", "kind"),
        [
            ("dense", "single_target", SingleTarget),
            ("standard", "chain", Chain),
            ("modified", "stacking", Stacking),
            ("fractional", "native", Native),
            ("standard", "svr", MultiOutputSVR),
            ("modified", "gaussian_process", GaussianProcess),
        ],
    )
    def test_names_mean_default_objects(self, encoder, regressor, kind):
        X, Y = make_rankings(n=30)
        built = kind()
        if "random_state" in built.get_params():
            built.set_params(random_state=3)
        by_name = MORERanker(encoder, regressor, "epsilon", random_state=3)
        by_object = MORERanker(RankEncoder(encoder), built, EpsilonCloseness())
        np.testing.assert_array_equal(
            by_name.fit(X, Y).predict_positions(X), by_object.fit(X, Y).predict_positions(X)
        )

    def test_the_regressor_learns_what_the_encoder_makes(self):
        X, Y = make_rankings()
        encoded = RankEncoder("modified").transform(Y)
        expected = SingleTarget(Ridge()).fit(X, encoded).predict(X)
        ranker = MORERanker("modified", Ridge()).fit(X, Y)
        np.testing.assert_array_equal(ranker.predict_positions(X), expected)

    def test_given_positions_reach_the_regressor(self):
        X, Y = make_rankings()
        Y[::2, 0] = NAN
        given = MORERanker(regressor=Ridge(), positions="given").fit(X, 10 * Y)
        np.testing.assert_allclose(
            given.predict_positions(X), SingleTarget(Ridge()).fit(X, 10 * Y).predict(X)
        )
        explicit = MORERanker(RankEncoder(positions="given"), Ridge()).fit(X, 10 * Y)
        np.testing.assert_array_equal(given.predict_positions(X), explicit.predict_positions(X))

    def test_nested_parameters(self):
        ranker = MORERanker("modified", SingleTarget(FOREST), EpsilonCloseness())
        ranker.set_params(regressor__base__n_estimators=3, layer__epsilon=0.5)
        assert ranker.regressor.base.n_estimators == 3
        assert clone(ranker).layer.epsilon == 0.5

    @pytest.mark.parametrize(
        ("part", "error"),
        [
            ({"encoder": "ordinal"}, ValueError),
            ({"encoder": 3}, TypeError),
            ({"regressor": "forest"}, ValueError),
            ({"regressor": 3}, TypeError),
            ({"layer": "softmax"}, ValueError),
            ({"layer": 3}, TypeError),
            ({"positions": "some"}, ValueError),
        ],
        ids=str,
    )
    def test_bad_parts_are_named(self, part, error):
        (name,) = part
        with pytest.raises(error, match="base" if error is TypeError and "reg" in name else name):
            MORERanker(**part).fit([[1.0], [2.0]], [[1, 2], [2, 1]])


class TestLayers:
    def test_intervals_from_a_regressor_without_them_fail_at_fit(self):
        with pytest.raises(ValueError, match="Conformal"):
            MORERanker(regressor=Ridge(), layer="prediction_interval").fit([[1.0]], [[1, 2]])

    def test_conformal_gives_intervals_to_any_regressor(self):
        X, Y = make_rankings(n=100)
        regressor = Conformal(SingleTarget(Ridge()), coverage=0.3, random_state=0)
        ranker = MORERanker("modified", regressor, "prediction_interval").fit(X, Y)
        assert ranker.score(X, Y) > 0.2

    def test_layers_change_without_a_new_fit(self):
        X, Y = make_rankings()
        ranker = MORERanker("modified", SingleTarget(FOREST)).fit(X, Y)
        outputs = ranker.predict_outputs(X, intervals=True)
        for layer in (RoundRank(), PredictionInterval(2), EpsilonCloseness(0.2)):
            fresh = MORERanker("modified", SingleTarget(FOREST), layer).fit(X, Y).predict(X)
            np.testing.assert_array_equal(ranker.decode(outputs, layer), fresh)
            np.testing.assert_array_equal(ranker.set_params(layer=layer).predict(X), fresh)

    def test_more_epsilon_means_fewer_buckets(self):
        X, Y = make_rankings()
        ranker = MORERanker("modified", SingleTarget(FOREST), "epsilon").fit(X, Y)
        outputs = ranker.predict_outputs(X)
        counts = [
            ranker.decode(outputs, EpsilonCloseness(e)).max(axis=1).mean() for e in (0, 0.2, 0.6)
        ]
        assert counts[0] > counts[1] > counts[2]

    def test_a_changed_layer_that_lacks_intervals_says_so(self):
        ranker = MORERanker(regressor=Ridge()).fit([[1.0], [2.0]], [[1, 2], [2, 1]])
        with pytest.raises(ValueError, match="Conformal"):
            ranker.set_params(layer="prediction_interval").predict([[1.0]])


class TestScikitLearnHabits:
    def test_feature_names(self):
        X, Y = make_rankings()
        ranker = MORERanker(regressor=Ridge()).fit(pd.DataFrame(X, columns=list("xyz")), Y)
        assert ranker.feature_names_in_.tolist() == ["x", "y", "z"]
        with pytest.raises(ValueError, match="feature names"):
            ranker.predict(pd.DataFrame(X, columns=list("xya")))

    def test_grid_over_all_three_parts(self):
        X, Y = make_rankings(n=40)
        grid = {
            "moreranker__encoder": ["dense", "modified"],
            "moreranker__regressor": [Ridge(), SingleTarget(FOREST)],
            "moreranker__layer": ["round_rank", EpsilonCloseness(0.1)],
        }
        search = GridSearchCV(make_pipeline(StandardScaler(), MORERanker()), grid, cv=2)
        assert len(search.fit(X, Y).cv_results_["params"]) == 8
        assert search.best_score_ == pytest.approx(max(search.cv_results_["mean_test_score"]))

    def test_weights_move_the_prediction(self):
        X = np.zeros((10, 1))
        Y = np.tile([[1.0, 2.0], [2.0, 1.0]], (5, 1))
        for favoured, expected in ((0, [[1, 2]]), (1, [[2, 1]])):
            weight = np.where(np.arange(10) % 2 == favoured, 9.0, 1.0)
            ranker = MORERanker(regressor=Ridge()).fit(X, Y, sample_weight=weight)
            np.testing.assert_array_equal(ranker.predict(X[:1]), expected)

    def test_metadata_routing_carries_weights_through_a_pipeline(self):
        X, Y = make_rankings()
        weight = np.r_[np.ones(30), np.zeros(30)]
        with sklearn.config_context(enable_metadata_routing=True):
            ranker = MORERanker(regressor=Ridge()).set_fit_request(sample_weight=True)
            pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), ranker)
            pipeline.fit(X, Y, sample_weight=weight)
            half = make_pipeline(StandardScaler(), MORERanker(regressor=Ridge()))
            half[0].fit(X)
            half[1].fit(half[0].transform(X[:30]), Y[:30])
            np.testing.assert_array_equal(pipeline.predict(X), half.predict(X))
            scoring = make_scorer(tau_x_score).set_score_request(sample_weight=True)
            weights = {"sample_weight": weight + 1}
            scores = cross_validate(pipeline, X, Y, cv=2, scoring=scoring, params=weights)
        assert np.isfinite(scores["test_score"]).all()

    def test_missing_features_pass_where_the_base_takes_them(self):
        X, Y = make_rankings()
        X[::3, 0] = NAN
        assert MORERanker(regressor=SingleTarget(FOREST)).fit(X, Y).score(X, Y) > 0.5
        with pytest.raises(ValueError, match="NaN"):
            MORERanker(regressor=Ridge()).fit(X, Y)

    def test_text_features_are_refused_with_a_hint(self):
        with pytest.raises(ValueError, match=r"column .city. holds .Rome.*TableRanker"):
            MORERanker().fit(pd.DataFrame({"city": ["Rome", "Paris"]}), [[1, 2], [2, 1]])

    def test_unranked_label_of_a_new_frame_is_refused_in_score(self):
        X, Y = make_rankings()
        ranker = MORERanker(regressor=Ridge()).fit(X, pd.DataFrame(Y, columns=list("abcd")))
        with pytest.raises(ValueError, match=r"missing \['d'\], unknown \['e'\]"):
            ranker.score(X, pd.DataFrame(Y, columns=list("abce")))


def test_the_papers_customers():
    """Figure 1: four customers, an incomplete ranking of destinations each."""
    X = pd.DataFrame({"age": [35, 28, 42, 30], "income": [50, 60, 65, 45]})
    Y = [
        "Hawaii > Bali ~ Paris > Miami",
        "Bali > Hawaii > Miami",
        "Paris ~ Bali ~ Hawaii ~ Tokyo ~ Miami",
        "Hawaii > Bali ~ Tokyo > Miami",
    ]
    ranker = MORERanker("standard", SingleTarget(random_state=0), EpsilonCloseness(0.05))
    (text,) = ranker.fit(X, Y).predict_text(pd.DataFrame({"age": [37], "income": [35]}))
    assert text.startswith("Hawaii")
    assert text.endswith("Miami")


@pytest.mark.parametrize(("problem", "published"), [("plr", 0.930), ("lr", 0.962)])
def test_first_repetition_on_iris_is_near_the_papers_value(benchmark_data, problem, published):
    X, Y = load("iris", problem)
    ranker = MORERanker(regressor=SingleTarget(RandomForestRegressor(50, random_state=0)))
    folds = sklearn.model_selection.RepeatedKFold(n_splits=10, n_repeats=1, random_state=0)
    scores = cross_validate(make_pipeline(StandardScaler(), ranker), X, Y, cv=folds)
    assert scores["test_score"].mean() == pytest.approx(published, abs=0.02)


def test_a_label_that_no_row_ranks_is_named():
    Y = pd.DataFrame({"tea": [1, 2, 1], "milk": [2, 1, 2], "oil": [np.nan] * 3})
    with pytest.warns(UserWarning, match="no training row ranks 'oil'; the mean position"):
        MORERanker(random_state=0).fit([[0.0], [1.0], [2.0]], Y)


@pytest.mark.parametrize("layer", ["round_rank", "epsilon"])
def test_many_rows_take_bounded_memory(layer):
    X, Y = make_rankings(n=50, k=5)
    ranker = MORERanker(regressor=SingleTarget(Ridge()), layer=layer).fit(X, Y)
    rows = np.tile(X, (8000, 1))
    tracemalloc.start()
    try:
        predicted = ranker.predict(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < CHUNK_BYTES + predicted.nbytes
    np.testing.assert_array_equal(predicted[-50:], ranker.predict(X))
