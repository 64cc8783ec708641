import re
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import (
    AutoRanker,
    BradleyTerryRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
)
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.metrics import pair_calibration_error, tau_x_score
from moreplr.rankers.auto._members import pairs_of, scaled
from moreplr.rankings import dense_ranks

NAN = float("nan")
QUICK = {"linear": BradleyTerryRanker(1.0), "near": scaled(NearestNeighborsRanker(3))}
RANKERS = [AutoRanker(None, QUICK, n_folds=2, random_state=0)]


def quick(**options):
    return AutoRanker(
        **{"time_budget": None, "members": QUICK, "n_folds": 2, "random_state": 0} | options
    )


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(check):
    check(AutoRanker(None, {"forest": RankingForest(10)}, n_folds=2, random_state=0))


class TestWeights:
    def test_a_member_that_knows_gets_all(self):
        X, Y = make_rankings(150)
        ranker = quick(members={"noise": Noise()}).fit(X, Y)
        assert ranker.weights_["linear"] > 0.9
        assert "noise" not in ranker.weights_

    def test_weights_are_those_of_the_probabilities(self):
        X, Y = make_rankings()
        ranker = quick(prior=50.0).fit(X, Y)
        assert sum(ranker.weights_.values()) == pytest.approx(1)
        assert len(ranker.weights_) == 3
        expected = 0.0
        for name, share in ranker.weights_.items():
            P, Q = pairs_of(ranker.members_[name], X)
            three = np.stack([P, Q, P.swapaxes(1, 2)], axis=-1)
            expected += share * ranker.calibrations_[name].transform(three)[..., 0]
        off = ~np.eye(4, dtype=bool)
        np.testing.assert_allclose(ranker.predict_pairs(X).P[:, off], expected[:, off], atol=1e-5)


class Noise(DummyRanker):
    """Is sure of nonsense."""

    def _pairs(self, X):
        P, Q = super()._pairs(X)
        wrong = np.where(P.swapaxes(1, 2) < P, 0.01, 0.98)
        off = ~np.eye(P.shape[1], dtype=bool)
        P[:, off], Q[:, off] = wrong[:, off], 0.01
        upper = np.triu(np.ones(P.shape[1:], bool), 1)
        P[:] = np.where(upper, P, 0.99 - P.swapaxes(1, 2)) * off
        return type(super()._pairs(X))(P, Q)


class Spy(DummyRanker):
    """Notes rows that it predicts although it was fitted on them, in all copies."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.trained_on = set(np.asarray(X)[:, 0])
        return super().fit(X, y, sample_weight)

    def predict_pairs(self, X, **options):
        self.seen.append(len(self.trained_on & set(np.asarray(X)[:, 0])))
        return super().predict_pairs(X, **options)


class TestFolds:
    def test_members_are_judged_on_rows_that_they_have_not_seen(self):
        X, Y = make_rankings()
        Spy.seen.clear()
        quick(members={"spy": Spy()}, n_folds=3).fit(X, Y)
        assert Spy.seen == [0, 0, 0]

    def test_groups_stay_together(self):
        X, Y = make_rankings()
        X[:, 0] = groups = np.arange(60) // 6
        Spy.seen.clear()
        quick(members={"spy": Spy()}).fit(X, Y, groups=groups)
        assert Spy.seen == [0, 0]
        with pytest.raises(ValueError, match="one for each row"):
            quick().fit(X, Y, groups=groups[1:])

    def test_of_many_rows_some_are_judged(self):
        X, Y = make_rankings(120)
        Spy.seen.clear()
        ranker = quick(members={"spy": Spy()}, n_folds=4, n_judged=40).fit(X, Y)
        assert len(Spy.seen) == 2
        assert ranker.risk_[-1] == 40

    def test_out_of_bag_pairs_stand_for_folds(self):
        X, Y = make_rankings()
        ranker = quick(members={"forest": RankingForest(20)}).fit(X, Y)
        alone = RankingForest(20, random_state=0).fit(X, Y)
        mine = ranker.members_["forest"].held_out_pairs()
        np.testing.assert_array_equal(mine.P, alone.held_out_pairs().P)


class Slow(DummyRanker):
    """Takes a millisecond for each row, and notes how many it was fitted on."""

    fitted_on: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.fitted_on.append(len(X))
        time.sleep(0.001 * len(X))
        return super().fit(X, y, sample_weight)


class TestBudget:
    def test_what_does_not_fit_is_left_out_and_said(self):
        X, Y = make_rankings(200)
        members = {"slow": Slow(), "near": NearestNeighborsRanker(3)}
        ranker = AutoRanker(0.01, members, random_state=0).fit(X, Y)
        assert set(ranker.weights_) <= {"consensus", "linear"}
        assert set(ranker.left_out_) == {"slow", "near"}
        assert "takes about" in ranker.left_out_["slow"]
        board = ranker.leaderboard_.set_index("member")
        assert board.loc["slow", "status"].startswith("left out: takes about")
        assert AutoRanker(600, members, random_state=0).fit(X, Y).left_out_ == {}

    def test_a_member_that_few_rows_are_too_few_for_takes_part(self):
        X, Y = make_rankings(300)
        ranker = quick(members={"near": NearestNeighborsRanker(60)}, time_budget=600)
        assert ranker.fit(X, Y).left_out_ == {}

    def test_a_slow_member_is_fitted_on_fewer_rows(self):
        X, Y = make_rankings(2000)
        Slow.fitted_on.clear()
        ranker = quick(members={"slow": Slow()}, n_folds=4, time_budget=12).fit(X, Y)
        most = max(Slow.fitted_on)
        assert 400 < most < 2000
        board = ranker.leaderboard_.set_index("member")
        assert re.search(r"fitted on \d+ of 2000 rows", board.loc["slow", "status"])

    def test_an_interrupt_is_not_a_failure(self):
        class Interrupted(DummyRanker):
            def fit(self, X, y, sample_weight=None):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            quick(members=[Interrupted()]).fit(*make_rankings())


@pytest.fixture(scope="module")
def fitted():
    X, Y = make_rankings(200)
    frame = pd.DataFrame(X, columns=["f", "g", "h"])
    rankings = pd.DataFrame(Y, columns=list("abcd"))
    members = [RankingForest(20), make_pipeline(StandardScaler(), NearestNeighborsRanker(5))]
    ranker = AutoRanker(None, members, prior=20.0, random_state=0)
    return ranker.fit(frame[:120], rankings[:120]), frame[120:], rankings[120:]


class TestAnswers:
    def test_leaderboard(self, fitted):
        board = fitted[0].leaderboard_
        assert board.columns.tolist() == [
            *("member", "weight", "tau_x", "log_loss", "seconds", "status"),
        ]
        assert board["weight"].is_monotonic_decreasing
        assert board["weight"].sum() == pytest.approx(1)
        assert set(board["member"]) == {
            *("consensus", "linear", "RankingForest", "NearestNeighborsRanker"),
        }

    def test_out_of_fold_scores_are_those_of_new_rows(self, fitted):
        ranker, X, Y = fitted
        assert ranker.tau_x_ == pytest.approx(ranker.score(X, Y), abs=0.07)
        assert "more than the consensus" in ranker.summary_
        assert pair_calibration_error(Y, ranker.predict_pairs(X)) < 0.1

    def test_sets_miss_as_much_as_they_may(self, fitted):
        ranker, X, Y = fitted
        for alpha in (0.05, 0.2):
            covered = ranker.predict_set(X, alpha).covers(Y.to_numpy())
            assert covered.mean() >= 1 - alpha - 0.05
        assert ranker.predict_set(X, 0.2).decided.sum() > ranker.predict_set(X, 0.01).decided.sum()

    def test_explanations_add_up(self, fitted):
        ranker, X, _ = fitted
        why = ranker.explain(X.iloc[0])
        pair = why.pair("a", "b")
        said = pair.members
        assert said["weight"].sum() == pytest.approx(1)
        assert (said["weight"] * said["precedes"]).sum() == pytest.approx(pair.precedes)
        assert pair.precedes == pytest.approx(ranker.predict_pairs(X[:1]).P[0, 0, 1])
        assert why.ranking == ranker.predict_text(X[:1])[0]
        assert "a" in why.rows["ranking"][0]
        assert len(pair.rows)
        assert "weight" in str(why)
        with pytest.raises(ValueError, match="no label 'x'"):
            why.pair("a", "x")

    def test_importances_name_features(self, fitted):
        ranker, X, Y = fitted
        table = ranker.permutation_importances(X, Y, n_repeats=2, random_state=0)
        assert set(table["feature"]) == {"f", "g", "h"}
        assert table["importance"].iloc[0] > 0.05

    def test_options(self, fitted):
        ranker, X, _ = fitted
        top = ranker.predict(X, top=1)
        assert (np.sum(top == 1, axis=1) == 1).all()
        assert (ranker.predict(X, total_order=True).max(axis=1) == 4).all()

    def test_no_ties_where_there_were_none(self):
        X, _ = make_rankings()
        Y = X.argsort(axis=1).argsort(axis=1)
        assert (quick().fit(X, Y).predict(X).max(axis=1) == 3).all()


def test_it_says_when_nothing_beats_the_consensus():
    X, Y = make_rankings(120)
    Y = np.random.default_rng(0).permutation(Y)
    ranker = quick().fit(X, Y)
    assert "Nothing beats the consensus" in ranker.summary_
    assert ranker.tau_x_ > DummyRanker().fit(X, Y).score(X, Y) - 0.05


def test_the_seed_decides_whatever_the_threads():
    X, Y = make_rankings()
    members = [PairwiseRanker(), RankingForest(10)]
    one = AutoRanker(None, members, n_folds=2, prior=20.0, random_state=3).fit(X, Y)
    other = clone(one).set_params(n_jobs=2).fit(X, Y)
    assert one.weights_ == other.weights_
    assert one.predict_pairs(X).P.tobytes() == other.predict_pairs(X).P.tobytes()


def test_weights_of_rows_count():
    X, _ = make_rankings()
    first = np.arange(60) < 30
    Y = np.where(first[:, None], [[1.0, 2.0]], [[2.0, 1.0]])
    ranker = quick(members=[]).fit(np.zeros((60, 1)), Y, np.where(first, 3.0, 1.0))
    assert ranker.predict_pairs([[0.0]]).P[0, 0, 1] == pytest.approx(0.75, abs=0.02)
    few = quick().fit(X[:45], dense_ranks(X[:45]), np.ones(45))
    zero = quick().fit(X, dense_ranks(X), np.where(np.arange(60) < 45, 7.0, 0.0))
    np.testing.assert_allclose(few.predict_pairs(X).P, zero.predict_pairs(X).P)


class TestHardCases:
    def test_one_row(self):
        ranker = AutoRanker(None).fit([[1.0]], ["a > b ~ c"])
        assert ranker.predict_text([[0.0]]) == ["a > b ~ c"]
        assert "one row" in ranker.left_out_["forest"]

    def test_very_few_rows(self):
        ranker = AutoRanker(None, random_state=0)
        texts = ["a > b", "b > a", "a > b"]
        assert ranker.fit([[0.0], [1.0], [0.1]], texts).predict([[0.0]]).shape == (1, 2)

    def test_all_members_on_gaps_of_all_kinds(self):
        X, Y = make_rankings(120)
        X[::4, 0], Y[::3, 1], Y[:, 2] = NAN, NAN, NAN
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranker = AutoRanker(None, n_folds=2, prior=50.0, random_state=0).fit(X, Y)
        assert len(ranker.weights_) == len(ranker.leaderboard_)
        assert np.isfinite(ranker.predict_pairs(X).P).all()
        assert not np.isnan(ranker.predict(X)).any()

    def test_many_labels(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(30, 2))
        Y = dense_ranks(np.round(X @ rng.normal(size=(2, 100))))
        ranker = AutoRanker(5, random_state=0).fit(X, Y)
        assert tau_x_score(Y[:3], ranker.predict(X[:3])) > 0.4


class TestMembers:
    def test_one_that_fails_is_left_out_and_said(self):
        X, Y = make_rankings()
        X[0, 0] = NAN
        bad = {"near": NearestNeighborsRanker(), "few": scaled(NearestNeighborsRanker(1000))}
        ranker = quick(members=bad).fit(X, Y)
        assert ranker.left_out_["near"] == "takes no missing features"
        assert ranker.left_out_["few"].startswith("ValueError: n_neighbors=1000 is more than")

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            (3, "members must be None, a list of rankers or a dict"),
            ([MORERanker(regressor=LinearRegression())], "must be a ranker with predict_pairs"),
            ([DummyRanker], "must be a ranker with predict_pairs"),
            ({3: DummyRanker()}, "members must have texts for names"),
        ],
    )
    def test_what_is_none_is_refused(self, members, message):
        with pytest.raises(TypeError, match=message):
            AutoRanker(None, members).fit(*make_rankings())

    def test_they_stay_as_they_are_and_get_the_seed(self):
        X, Y = make_rankings()
        mine = [RankingForest(5), RankingForest(5, random_state=7)]
        ranker = quick(members=mine, random_state=3, prior=50.0).fit(X, Y)
        assert not hasattr(mine[0], "forests_")
        assert ranker.members_["RankingForest"].random_state == 3
        assert ranker.members_["RankingForest 2"].random_state == 7

    def test_pipelines(self):
        X, Y = make_rankings()
        pipeline = make_pipeline(StandardScaler(), NearestNeighborsRanker(3))
        ranker = quick(members=[pipeline], prior=50.0).fit(X, Y)
        assert isinstance(ranker.members_["NearestNeighborsRanker"], Pipeline)

    @pytest.mark.parametrize("name", ["prior", "least_weight"])
    @pytest.mark.parametrize("bad", [-1, NAN, float("inf"), "a", None, True])
    def test_bad_weights(self, name, bad):
        with pytest.raises(ValueError, match=f"{name} must be"):
            quick(**{name: bad}).fit(*make_rankings())

    def test_a_least_weight_that_no_member_can_have(self):
        with pytest.raises(ValueError, match="least_weight must be below 1"):
            quick(least_weight=1).fit(*make_rankings())

    @pytest.mark.parametrize("bad", [0, -1.0, NAN, "60", True])
    def test_bad_budgets(self, bad):
        with pytest.raises((TypeError, ValueError), match="time_budget must be"):
            AutoRanker(bad).fit(*make_rankings())
