import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import (
    AutoRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
)
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.incomplete import remove_labels
from moreplr.metrics import tau_x_score
from moreplr.rankers import candidates, halving
from moreplr.rankers.candidates import scaled
from moreplr.rankings import dense_ranks

NAN = float("nan")
LINEAR = MORERanker(regressor=LinearRegression())
RANKERS = [AutoRanker(None, [DummyRanker(), LINEAR], n_folds=2, random_state=0)]


class SmallForest(RankingForest):
    """The forest that is always compared, for tests that ask nothing of its accuracy."""

    def __init__(
        self,
        n_estimators=10,
        *,
        structure="shared",
        min_samples=1,
        marginal_weight=0.0,
        max_features=1 / 3,
        positions="observed",
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            n_estimators,
            structure=structure,
            min_samples=min_samples,
            marginal_weight=marginal_weight,
            max_features=max_features,
            positions=positions,
            n_jobs=n_jobs,
            random_state=random_state,
        )


@pytest.fixture
def quick(monkeypatch):
    """No repeated folds, and a small reference: it takes most of the time."""
    monkeypatch.setattr(halving, "_MOST_REPEATS", 1)
    monkeypatch.setattr(candidates, "RankingForest", SmallForest)


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=["AutoRanker"])
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check, quick):
    check(ranker)


class Oracle(BaseEstimator):
    """Knows how the rankings of `linear_rankings` come to be."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return linear_rankings(X)


def linear_rankings(X):
    scores = np.asarray(X)[:, :3] @ np.array([[1.0, -1, 0, 2], [0, 1, 1, -1], [1, 1, -2, 0]])
    return dense_ranks(np.round(scores))


def features(n=150):
    return np.random.default_rng(0).normal(size=(n, 3))


@pytest.mark.usefixtures("quick")
class TestChoice:
    def test_a_clearly_better_one_wins_and_is_fitted_on_all_rows(self):
        X = features()
        ranker = AutoRanker(None, {"oracle": Oracle()}, random_state=0).fit(X, linear_rankings(X))
        assert ranker.best_name_ == "oracle"
        assert ranker.best_score_ == pytest.approx(1)
        assert isinstance(ranker.best_ranker_, Oracle)
        np.testing.assert_array_equal(ranker.predict(X), linear_rankings(X))

    def test_noise_leaves_the_forest_or_what_is_better(self):
        X, Y = make_rankings(n=80)
        Y = np.random.default_rng(0).permutation(Y)
        ranker = AutoRanker(None, [DummyRanker(), LINEAR], random_state=0).fit(X, Y)
        table = ranker.leaderboard_.set_index("candidate")
        assert ranker.best_score_ >= table.loc["RankingForest", "tau_x"]

    def test_the_same_ranker_twice_is_no_reason_to_leave_the_forest(self):
        X, Y = make_rankings()
        twin = SmallForest(11)
        ranker = AutoRanker(None, {"twin": twin}, random_state=0).fit(X, Y)
        table = ranker.leaderboard_.set_index("candidate")
        sure = table.loc["twin", "gain"] > table.loc["twin", "gain_error"]
        assert (ranker.best_name_ == "twin") == sure

    def test_leaderboard_tells_what_became_of_all(self):
        X, Y = make_rankings()
        bad = {"broken": MORERanker(layer="none"), "floor": DummyRanker(), "linear": LINEAR}
        ranker = AutoRanker(None, bad, random_state=0).fit(X, Y)
        table = ranker.leaderboard_
        assert table.columns.tolist() == [
            *("candidate", "parameters", "tau_x", "standard_error", "gain", "gain_error"),
            *("rows", "folds", "seconds", "rung", "status"),
        ]
        assert table["status"].iloc[0] == "best"
        assert table["candidate"].iloc[0] == ranker.best_name_
        table = table.set_index("candidate")
        assert table.loc["broken", "status"].startswith("error: ValueError: layer must be one of")
        assert table.loc["floor", "parameters"] == "DummyRanker()"
        assert table.loc["floor", "rows"] == 60

    def test_scores_are_those_of_out_of_fold_predictions(self):
        """A ranker whose predictions are the row numbers shows which rows it was fitted on."""
        seen = []

        class Spy(DummyRanker):
            def fit(self, X, y, sample_weight=None):
                self.trained_on = set(np.asarray(X)[:, 0])
                return super().fit(X, y, sample_weight)

            def predict(self, X, **options):
                seen.append(self.trained_on & set(np.asarray(X)[:, 0]))
                return super().predict(X, **options)

        X, Y = make_rankings()
        AutoRanker(None, [Spy()], random_state=0).fit(X, Y)
        assert len(seen) == 5
        assert not any(seen)

    def test_all_from_the_data(self):
        X, Y = make_rankings(n=40, k=3)
        ranker = AutoRanker(None, n_folds=2, random_state=0).fit(X, Y)
        assert len(ranker.leaderboard_) > 8
        assert not ranker.leaderboard_["status"].str.contains("error").any()
        assert ranker.meta_["n_rows"] == 40


@pytest.mark.usefixtures("quick")
class TestFailures:
    def test_if_the_forest_fails_another_wins(self, monkeypatch):
        monkeypatch.setattr(RankingForest, "fit", None)
        X, Y = make_rankings()
        ranker = AutoRanker(None, [LINEAR, DummyRanker()], random_state=0).fit(X, Y)
        assert ranker.best_name_ == "MORERanker"

    def test_if_all_fail_one_error_tells_why(self, monkeypatch):
        monkeypatch.setattr(RankingForest, "fit", None)
        X, Y = make_rankings()
        with pytest.raises(ValueError, match=r"no candidate could .*layer must be one of"):
            AutoRanker(None, [MORERanker(layer="none")], random_state=0).fit(X, Y)

    def test_if_the_best_fails_on_all_rows_the_forest_is_taken(self):
        class Small(Oracle):
            def fit(self, X, y):
                if len(X) == 150:
                    raise MemoryError("too large")
                return self

        X = features()
        rankers = {"Small": Small(), "linear": LINEAR, "floor": DummyRanker()}
        ranker = AutoRanker(None, rankers, random_state=0).fit(X, linear_rankings(X))
        assert ranker.best_name_ == "RankingForest"
        status = ranker.leaderboard_.set_index("candidate").loc["Small", "status"]
        assert status == "error on all rows: MemoryError: too large"

    def test_interrupts_are_not_failures(self):
        class Interrupted(Oracle):
            def fit(self, X, y):
                raise KeyboardInterrupt

        X, Y = make_rankings()
        with pytest.raises(KeyboardInterrupt):
            AutoRanker(None, [Interrupted()], random_state=0).fit(X, Y)


@pytest.mark.usefixtures("quick")
class TestBudget:
    def test_hardly_any_time_still_gives_a_forest(self):
        X, Y = make_rankings()
        ranker = AutoRanker(1e-9, n_folds=2, random_state=0).fit(X, Y)
        assert ranker.best_name_ == "RankingForest"
        assert np.isfinite(ranker.best_score_)
        others = ranker.leaderboard_["status"].iloc[1:]
        assert others.str.startswith("skipped on rung 0").all()

    def test_what_no_time_is_left_for_is_left_out(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(halving, "monotonic", lambda: now[0])

        class Slow(DummyRanker):
            def fit(self, X, y, sample_weight=None):
                now[0] += 40
                return super().fit(X, y, sample_weight)

        X, Y = make_rankings()
        ranker = AutoRanker(60, {"slow": Slow(), "floor": DummyRanker()}, random_state=0).fit(X, Y)
        table = ranker.leaderboard_.set_index("candidate")
        assert table.loc["slow", "status"].startswith("timeout on rung 0 after 1 of 5 folds")
        assert table.loc["floor", "rung"] == 0
        assert now[0] == 40


@pytest.mark.usefixtures("quick")
class TestDelegation:
    def fitted(self, candidate, frame=False):
        """Fitted so that the candidate wins: the forest's fits fail."""
        X, Y = features(), linear_rankings(features())
        if frame:
            X = pd.DataFrame(X, columns=["f", "g", "h"])
            Y = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RankingForest, "fit", None)
            return AutoRanker(None, [candidate], n_folds=2, random_state=0).fit(X, Y), X, Y

    def test_pairs_of_one_that_has_them(self):
        ranker, X, _ = self.fitted(scaled(NearestNeighborsRanker()))
        assert not hasattr(ranker, "predict_positions")
        own = ranker.best_ranker_
        expected = own[-1].predict_pairs(own[:-1].transform(X))
        np.testing.assert_array_equal(ranker.predict_pairs(X).P, expected.P)
        assert len(list(ranker.predict_pairs(X, chunks=True))) == 1

    def test_positions_of_one_that_has_them(self):
        ranker, X, _ = self.fitted(Pipeline([("ranker", clone(LINEAR))]))
        assert not hasattr(ranker, "predict_pairs")
        np.testing.assert_array_equal(
            ranker.predict_positions(X), ranker.best_ranker_[-1].predict_positions(X)
        )

    def test_nothing_before_the_fit(self):
        assert not hasattr(AutoRanker(), "predict_pairs")
        assert not hasattr(AutoRanker(), "predict_positions")

    @pytest.mark.parametrize(
        "candidate", [scaled(NearestNeighborsRanker()), clone(LINEAR)], ids=["pipeline", "alone"]
    )
    def test_names_of_features_and_labels_reach_the_best_ranker(self, candidate):
        ranker, X, Y = self.fitted(candidate, frame=True)
        best = ranker.best_ranker_
        assert ranker.feature_names_in_.tolist() == ["f", "g", "h"]
        assert best.feature_names_in_.tolist() == ["f", "g", "h"]
        assert ranker.labels_.tolist() == ["a", "b", "c", "d"]
        last = best[-1] if isinstance(best, Pipeline) else best
        assert last.labels_.tolist() == ["a", "b", "c", "d"]
        np.testing.assert_array_equal(best.predict(X), ranker.predict(X))
        assert ranker.score(X, Y[["d", "c", "b", "a"]]) == ranker.score(X, Y)
        assert ranker.predict_text(X)[0].count("a") == 1

    def test_options_of_prediction(self):
        ranker, X, _ = self.fitted(scaled(PairwiseRanker(random_state=0)))
        top = ranker.predict(X, top=1)
        assert (np.sum(top == 1, axis=1) == 1).all()
        assert top.max() == 2


class Weighs(DummyRanker):
    """Notes the weights that it gets, in all copies."""

    notes: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.notes.append(sample_weight)
        return super().fit(X, y, sample_weight)


@pytest.mark.usefixtures("quick")
class TestWeights:
    @pytest.mark.parametrize("wrap", [lambda ranker: ranker, scaled], ids=["alone", "pipeline"])
    @pytest.mark.parametrize("routing", [False, True])
    def test_reach_the_candidates(self, wrap, routing):
        X, Y = make_rankings()
        Weighs.notes.clear()
        weight = np.arange(60.0)
        with sklearn.config_context(enable_metadata_routing=routing):
            ranker = AutoRanker(None, [wrap(Weighs())], n_folds=2, random_state=0)
            ranker.fit(X, Y, sample_weight=weight)
        assert len(Weighs.notes) == 2
        assert sorted(np.concatenate(Weighs.notes)) == weight[1:].tolist()

    def test_of_scored_rows_count(self):
        X, Y = make_rankings()
        reversed_rows = np.arange(60) < 30
        X[:, 0] = reversed_rows
        Y = np.where(reversed_rows[:, None], [[1.0, 2.0]], [[2.0, 1.0]])
        floor = AutoRanker(None, [DummyRanker()], random_state=0)
        table = floor.fit(X, Y, np.where(reversed_rows, 3.0, 1.0)).leaderboard_
        assert table.set_index("candidate").loc["DummyRanker", "tau_x"] == pytest.approx(0.5)

    def test_of_zero_mean_absent(self):
        X, Y = make_rankings()
        ranker = AutoRanker(None, [LINEAR], n_folds=2, random_state=0)
        weight = np.where(np.arange(60) < 45, 1.0, 0.0)
        few = clone(ranker).fit(X[:45], Y[:45], np.ones(45))
        zero = clone(ranker).fit(X, Y, weight)
        np.testing.assert_array_equal(few.predict(X), zero.predict(X))
        assert few.best_score_ == zero.best_score_

    def test_one_that_takes_none_is_noted(self):
        X, Y = make_rankings()
        ranker = AutoRanker(None, [Oracle()], n_folds=2, random_state=0)
        table = ranker.fit(X, Y, np.ones(60)).leaderboard_.set_index("candidate")
        assert "does not take sample weights" in table.loc["Oracle", "status"]


@pytest.mark.usefixtures("quick")
class TestData:
    def test_missing_features_leave_out_those_that_take_none(self):
        X, Y = make_rankings()
        X[::4, 0] = NAN
        rankers = {"alone": NearestNeighborsRanker(), "imputed": scaled(NearestNeighborsRanker())}
        ranker = AutoRanker(None, rankers, n_folds=2, random_state=0).fit(X, Y)
        table = ranker.leaderboard_.set_index("candidate")
        assert table.loc["alone", "status"] == "skipped: takes no missing features"
        assert table.loc["imputed", "rung"] == 0
        assert not np.isnan(ranker.predict(X)).any()

    def test_given_positions_reach_the_candidates(self):
        X, Y = make_rankings()
        gaps = remove_labels(Y, 0.2, random_state=0)
        gaps[:3] = Y[:3]
        X, gaps = X[rows := ~np.isnan(gaps).all(axis=1)], gaps[rows]
        ranker = AutoRanker(None, [LINEAR], positions="given", n_folds=2, random_state=0).fit(
            X, gaps
        )
        assert ranker.best_ranker_.positions == "given"

    def test_rows_without_a_pair_are_learned_from_but_not_scored(self):
        X, Y = make_rankings(n=40)
        Y[20:, 1:] = NAN
        ranker = AutoRanker(None, [DummyRanker()], random_state=0).fit(X, Y)
        assert np.isfinite(ranker.best_score_)
        assert ranker.leaderboard_["rows"].max() == 40

    def test_nothing_to_compare(self):
        Y = np.where(np.arange(6)[:, None] % 2 == [0, 1], 1.0, NAN)
        with pytest.raises(ValueError, match="two labels in no row"):
            AutoRanker(None, [DummyRanker()]).fit(np.arange(6.0)[:, None], Y)

    def test_very_few_rows(self):
        ranker = AutoRanker(None, [DummyRanker()], random_state=0)
        texts = ["a > b", "b > a", "a > b"]
        assert ranker.fit([[0.0], [1.0], [0.1]], texts).predict([[0.0]]).shape == (1, 2)


def test_the_seed_decides_whatever_the_threads(quick):
    X, Y = make_rankings(n=50)
    rankers = [PairwiseRanker(), RankingForest(10)]
    one = AutoRanker(None, rankers, n_folds=2, random_state=3).fit(X, Y)
    other = AutoRanker(None, rankers, n_folds=2, random_state=3, n_jobs=2).fit(X, Y)
    columns = ["candidate", "tau_x", "gain", "gain_error", "rung", "status"]
    pd.testing.assert_frame_equal(one.leaderboard_[columns], other.leaderboard_[columns])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_the_best_ranker_is_what_it_would_be_alone():
    X, Y = make_rankings(n=50)
    ranker = AutoRanker(1e-9, [DummyRanker()], n_folds=2, random_state=3).fit(X, Y)
    alone = RankingForest(random_state=3).fit(X, Y)
    np.testing.assert_array_equal(ranker.predict_pairs(X).P, alone.predict_pairs(X).P)


def test_progress_is_shown_on_request_only(capsys, quick):
    X, Y = make_rankings()
    ranker = AutoRanker(None, {"floor": DummyRanker()}, n_folds=2, random_state=0).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    ranker.set_params(verbose=True).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "rung 1 of 1, 60 rows" in err
    assert "all rows" in err


def test_candidates_stay_as_they_are(quick):
    X, Y = make_rankings()
    mine = MORERanker(regressor=LinearRegression())
    AutoRanker(None, [mine], n_folds=2, random_state=0).fit(X, Y)
    assert not hasattr(mine, "regressor_")
    assert mine.random_state is None


def test_ahead_of_the_floor_on_fresh_rows_with_repeated_folds():
    X, Y = make_rankings(n=300)
    ranker = AutoRanker(None, [LINEAR], n_folds=2, random_state=0).fit(X[:100], Y[:100])
    assert ranker.leaderboard_["folds"].tolist() == [10, 10]
    floor = DummyRanker().fit(X[:100], Y[:100]).predict(X[100:])
    assert ranker.score(X[100:], Y[100:]) > tau_x_score(Y[100:], floor) + 0.3


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("time_budget", 0),
        ("time_budget", -1.0),
        ("time_budget", NAN),
        ("time_budget", "60"),
        ("time_budget", True),
        ("candidates", "forest"),
        ("candidates", []),
        ("candidates", [DummyRanker]),
        ("positions", "expected"),
        ("n_folds", 1),
        ("n_folds", 2.5),
    ],
)
def test_bad_parameters_are_named(name, bad):
    with pytest.raises((ValueError, TypeError), match=name):
        AutoRanker(**{name: bad}).fit([[1.0], [2.0]], [[1, 2], [2, 1]])
