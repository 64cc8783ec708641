import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import DummyRanker, NearestNeighborsRanker, PairwiseRanker, RankingTree
from moreplr import base as moreplr_base
from moreplr.aggregation import aggregate, expected_tau
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.datasets import load
from moreplr.forest import ForestClassifier
from moreplr.incomplete import remove_labels
from moreplr.rankers._pair_models import PairClassifiers, PairForests
from moreplr.rankings import bucket_matrix, count_buckets

NAN = float("nan")
FOREST = RandomForestClassifier(10, random_state=0)
PRIOR = DummyClassifier(strategy="prior")

RANKERS = [
    PairwiseRanker(random_state=0),
    PairwiseRanker(GaussianNB()),
    PairwiseRanker(GaussianNB(), calibrated=True, objective="l1", random_state=0),
    PairwiseRanker(DecisionTreeClassifier(random_state=0), ties="published"),
]
ALL = [
    PairwiseRanker(ForestClassifier(5, random_state=0)),
    NearestNeighborsRanker(5),
    RankingTree(),
    DummyRanker(),
]


@parametrize_with_checks(RANKERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


class TestPairs:
    def test_each_pair_learns_from_the_rows_that_rank_both(self):
        X, Y = make_rankings(n=80)
        Y = remove_labels(Y, 0.3, random_state=0)
        Y[:, 0] = 1
        P, Q = PairwiseRanker(GaussianNB()).fit(X, Y).predict_pairs(X)
        for i, j in [(0, 1), (1, 3)]:
            sign = np.sign(Y[:, i] - Y[:, j])
            seen = ~np.isnan(sign)
            model = GaussianNB().fit(X[seen], sign[seen])
            answers = dict(zip(model.classes_, model.predict_proba(X).T, strict=True))
            for matrix, at, relation in ((P, (i, j), -1), (Q, (i, j), 0), (P, (j, i), 1)):
                np.testing.assert_allclose(matrix[:, *at], answers.get(relation, 0))

    @pytest.mark.parametrize("weight", [None, np.arange(80) % 4], ids=["alike", "weights"])
    def test_classifiers_that_ignore_features_make_the_consensus(self, weight):
        X, Y = make_rankings(n=80)
        Y = remove_labels(Y, 0.2, random_state=0)
        Y[:, 0] = 1
        ours = PairwiseRanker(PRIOR).fit(X, Y, weight)
        floor = DummyRanker().fit(X, Y, weight)
        np.testing.assert_allclose(ours.predict_pairs(X), floor.predict_pairs(X))
        np.testing.assert_array_equal(ours.predict(X), floor.predict(X))

    def test_honest_constants(self):
        Y = [[1, 2, NAN], [1, 2, NAN], [NAN, 1, 1]]
        with pytest.warns(UserWarning, match="1 of 3 pairs of labels are never ranked together"):
            ranker = PairwiseRanker(GaussianNB()).fit([[0.0], [1.0], [2.0]], Y)
        P, Q = ranker.predict_pairs([[0.5]])
        np.testing.assert_allclose(P[0], [[0, 1, 1 / 3], [0, 0, 0], [1 / 3, 0, 0]])
        np.testing.assert_allclose(Q[0], [[1, 0, 1 / 3], [0, 1, 1], [1 / 3, 1, 1]])

    def test_classes_reach_the_classifier_without_gaps(self):
        class Strict(DecisionTreeClassifier):
            def fit(self, X, y, sample_weight=None):
                assert np.unique(y).tolist() == list(range(len(np.unique(y))))
                return super().fit(X, y, sample_weight)

        X, Y = make_rankings()
        Y = np.where(X[:, :1] > 0, [[1.0, 2.0, 2.0]], [[2.0, 1.0, 2.0]])
        ranker = PairwiseRanker(Strict()).fit(X, Y)
        np.testing.assert_array_equal(ranker.predict(X), Y)

    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_probabilities_of_all_rankers(self, ranker):
        X, Y = make_rankings(n=80)
        ranker = clone(ranker).fit(X, remove_labels(Y, 0.1, random_state=3))
        P, Q = ranker.predict_pairs(X)
        assert P.shape == Q.shape == (80, 4, 4)
        assert (P >= 0).all()
        assert (Q >= 0).all()
        np.testing.assert_allclose(P + P.swapaxes(1, 2) + Q, 1, atol=1e-12)
        np.testing.assert_array_equal(np.diagonal(Q, axis1=1, axis2=2), 1)

    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_the_warning_points_to_the_caller(self, ranker):
        ranker = clone(ranker)
        if isinstance(ranker, NearestNeighborsRanker):
            ranker.set_params(n_neighbors=1)
        with pytest.warns(UserWarning, match="never ranked together") as caught:
            ranker.fit([[0.0], [1.0]], [[1, 2, NAN], [NAN, 1, 2]])
        assert [warning.filename for warning in caught] == [__file__]


class TestForests:
    """The library's forests, which learn all pairs as one batch where they can."""

    def test_a_batch_where_it_can_be(self):
        X, Y = make_rankings()
        assert isinstance(PairwiseRanker().fit(X, Y).model_, PairForests)
        assert isinstance(PairwiseRanker(ForestClassifier(3)).fit(X, Y).model_, PairForests)
        weighted = PairwiseRanker(ForestClassifier(3)).fit(X, Y, np.arange(60) + 1)
        assert isinstance(weighted.model_, PairClassifiers)

    def test_the_classifiers_parameters_reach_the_batch(self):
        X, Y = make_rankings()
        classifier = ForestClassifier(7, max_depth=2, max_features=1, bootstrap=False)
        batch = PairwiseRanker(classifier, n_jobs=2, random_state=5).fit(X, Y).model_.batch
        for name, value in classifier.get_params().items():
            if name not in ("n_jobs", "random_state"):
                assert getattr(batch, name) == value
        assert (batch.n_jobs, batch.random_state) == (2, 5)

    def test_honest_constants(self):
        Y = [[1, 2, NAN], [1, 2, NAN], [NAN, 1, 1]]
        with pytest.warns(UserWarning, match="never ranked together"):
            ranker = PairwiseRanker(random_state=0).fit([[0.0], [1.0], [2.0]], Y)
        assert not ranker.model_.learned.any()
        P, Q = ranker.predict_pairs([[0.5]])
        np.testing.assert_allclose(P[0], [[0, 1, 1 / 3], [0, 0, 0], [1 / 3, 0, 0]])
        np.testing.assert_allclose(Q[0], [[1, 0, 1 / 3], [0, 1, 1], [1 / 3, 1, 1]])

    def test_calibration_takes_batches(self):
        X, Y = make_rankings(n=80)
        ranker = PairwiseRanker(ForestClassifier(10), calibrated=True, random_state=0).fit(X, Y)
        assert isinstance(ranker.model_, PairForests)
        assert ranker.calibration_ is not None
        assert ranker.score(X, Y) > 0.5

    def test_as_good_as_scikit_learns_forests(self):
        X, Y = make_rankings(n=400, k=5)
        ours, theirs = (
            PairwiseRanker(classifier, random_state=0)
            .fit(X[:200], Y[:200])
            .score(X[200:], Y[200:])
            for classifier in (ForestClassifier(50), RandomForestClassifier(50))
        )
        assert ours == pytest.approx(theirs, abs=0.03)


class TestDecoding:
    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_objectives_and_methods(self, ranker):
        X, Y = make_rankings()
        ranker = clone(ranker).fit(X, Y)
        P, Q = ranker.predict_pairs(X)
        np.testing.assert_array_equal(ranker.predict(X), expected_tau(P, Q, ranker.aggregation))
        for method in ("auto", "copeland", "segments"):
            ranker.set_params(objective="l1", aggregation=method)
            np.testing.assert_array_equal(ranker.predict(X), aggregate(P + Q / 2, method))

    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_options_of_prediction(self, ranker):
        X, Y = make_rankings()
        ranker = clone(ranker).fit(X, Y)
        assert (count_buckets(ranker.predict(X, n_buckets=3)) == 3).all()
        assert (count_buckets(ranker.predict(X, total_order=True)) == 4).all()
        resolved = ranker.predict(X, top=1)
        assert ((resolved == 1).sum(axis=1) == 1).all()
        assert count_buckets(resolved).tolist() == [2] * len(X)
        with pytest.raises(ValueError, match="n_buckets must be an integer from 1 to 4"):
            ranker.predict(X, n_buckets=5)

    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_random_pivots_follow_the_seed_whatever_the_chunks(self, ranker, monkeypatch):
        X, Y = make_rankings()
        ranker = clone(ranker).set_params(aggregation="bpa", random_state=5).fit(X, Y)
        expected = ranker.predict(X)
        monkeypatch.setattr(moreplr_base, "CHUNK_BYTES", 10_000)
        np.testing.assert_array_equal(ranker.predict(X), expected)

    def test_published_ties(self):
        """The pair order matrix by hand: shares 0.5, 0.3 and 0.2 of a pair."""
        Y = np.array([[1.0, 2.0]] * 5 + [[1.0, 1.0]] * 3 + [[2.0, 1.0]] * 2)
        X = np.zeros((10, 1))
        ranker = PairwiseRanker(PRIOR, aggregation="auto", ties="published").fit(X, Y)
        C = (0.5 + 0.3 / 4) / (0.5 + 0.3 / 2 + 0.2)
        np.testing.assert_array_equal(
            ranker.predict(X[:1])[0], aggregate([[0.5, C], [1 - C, 0.5]], "published")
        )

    def test_published_ties_with_bucket_options(self):
        X, Y = make_rankings(n=60)
        ranker = PairwiseRanker(FOREST, aggregation="auto", ties="published").fit(X, Y)
        assert (count_buckets(ranker.predict(X, n_buckets=2)) == 2).all()
        assert (count_buckets(ranker.predict(X, total_order=True)) == 4).all()
        with pytest.raises(ValueError, match="cannot take n_buckets"):
            ranker.set_params(aggregation="bpa_lia_mp2").predict(X, n_buckets=2)

    def test_published_ties_of_many_labels(self):
        X, Y = make_rankings(n=100, k=6)
        ranker = PairwiseRanker(FOREST, aggregation="auto", ties="published").fit(X, Y)
        P, Q = ranker.predict_pairs(X)
        C = np.full(P.shape, 0.5)
        for a in range(6):
            for b in range(a + 1, 6):
                p, t, s = P[:, a, b], Q[:, a, b], P[:, b, a]
                C[:, a, b] = (p + t / 4) / (p + t / 2 + s)
                C[:, b, a] = 1 - C[:, a, b]
        np.testing.assert_array_equal(ranker.predict(X), aggregate(C, "bpa_lia_mp2"))
        ranker.set_params(aggregation="local")
        np.testing.assert_array_equal(ranker.predict(X), aggregate(C, "local"))

    def test_tau_x_is_higher_where_it_is_the_objective(self):
        X, Y = make_rankings(n=400, k=5)
        Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, 1, Y)
        scores = {
            objective: PairwiseRanker(FOREST, objective=objective)
            .fit(X[:200], Y[:200])
            .score(X[200:], Y[200:])
            for objective in ("tau_x", "l1")
        }
        assert scores["tau_x"] > scores["l1"]


class TestMemory:
    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_chunks_make_the_whole(self, ranker, monkeypatch):
        X, Y = make_rankings(n=90)
        ranker = clone(ranker).fit(X, Y)
        whole = ranker.predict_pairs(X)
        ranks = ranker.predict(X)
        monkeypatch.setattr(moreplr_base, "CHUNK_BYTES", 20_000)
        parts = list(ranker.predict_pairs(X, chunks=True))
        assert len(parts) > 3
        for matrix, pieces in zip(whole, zip(*parts, strict=True), strict=True):
            np.testing.assert_array_equal(matrix, np.concatenate(pieces))
        np.testing.assert_array_equal(ranker.predict(X), ranks)
        np.testing.assert_array_equal(ranker.predict_pairs(X).P, whole.P)

    @pytest.mark.parametrize("ranker", ALL, ids=repr)
    def test_a_chunk_stays_below_the_bound(self, ranker, monkeypatch):
        bound = 1 << 20
        X, Y = make_rankings(n=2_000, k=10)
        ranker = clone(ranker).set_params(aggregation="segments").fit(X[:60], Y[:60])
        monkeypatch.setattr(moreplr_base, "CHUNK_BYTES", bound)
        ranker.predict(X[:10])  # loads the kernels
        tracemalloc.start()
        try:
            for _ in ranker.predict_pairs(X, chunks=True):
                pass
            _, pairs_peak = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            ranks = ranker.predict(X)
            _, ranks_peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert pairs_peak < X.nbytes + bound
        assert ranks_peak < X.nbytes + ranks.nbytes + bound

    def test_a_single_row_is_the_least_chunk(self, monkeypatch):
        X, Y = make_rankings()
        monkeypatch.setattr(moreplr_base, "CHUNK_BYTES", 1)
        assert len(list(DummyRanker().fit(X, Y).predict_pairs(X, chunks=True))) == len(X)


class TestCalibration:
    def test_sure_and_wrong_becomes_modest(self):
        X, Y = make_rankings(n=300)
        # Copies of a feature make naive Bayes far too sure of itself.
        X = np.repeat(X + np.random.default_rng(0).normal(size=X.shape), 8, axis=1)
        losses = []
        for calibrated in (False, True):
            ranker = PairwiseRanker(GaussianNB(), calibrated=calibrated, random_state=0)
            P, Q = ranker.fit(X[:150], Y[:150]).predict_pairs(X[150:])
            B = bucket_matrix(Y[150:])
            likely = np.where(B == 1, P, np.where(B == 0.5, Q, P.swapaxes(1, 2)))
            losses.append(-np.log(np.maximum(likely, 1e-3)).mean())
        assert losses[1] < 0.8 * losses[0]
        assert ranker.calibration_.powers_[0] < 0.9

    @pytest.mark.parametrize("n", [1, 2, 3, 6])
    def test_few_rows(self, n):
        X, Y = make_rankings(n=6)
        ranker = PairwiseRanker(DecisionTreeClassifier(), calibrated=True, random_state=0)
        P, Q = ranker.fit(X[:n], Y[:n]).predict_pairs(X)
        np.testing.assert_allclose(P + P.swapaxes(1, 2) + Q, 1)

    def test_constants_stay_as_they_are(self):
        Y = np.array([[1.0, 2.0, 2.0], [1.0, 2.0, 3.0]] * 10)
        X = np.arange(20.0)[:, None]
        ranker = PairwiseRanker(GaussianNB(), calibrated=True, random_state=0).fit(X, Y)
        P, _ = ranker.predict_pairs(X)
        assert (P[:, 0, 1:] == 1).all()
        assert ((P[:, 1, 2] > 0) & (P[:, 1, 2] < 1)).all()


class TestParameters:
    def test_a_classifier_without_probabilities_is_named_at_fit(self):
        with pytest.raises(ValueError, match=r"LinearSVC\(\) has no predict_proba"):
            PairwiseRanker(LinearSVC()).fit([[0.0], [1.0]], [[1, 2], [2, 1]])

    @pytest.mark.parametrize("classifier", ["forest", GaussianNB, 3], ids=str)
    def test_a_classifier_is_an_object(self, classifier):
        with pytest.raises(TypeError, match="classifier must be a classifier object"):
            PairwiseRanker(classifier).fit([[0.0], [1.0]], [[1, 2], [2, 1]])

    @pytest.mark.parametrize("parameter", ["aggregation", "objective", "ties"])
    def test_bad_names_are_named(self, parameter):
        ranker = PairwiseRanker(GaussianNB(), **{parameter: "best"})
        with pytest.raises(ValueError, match=f"{parameter} must be one of .* got 'best'"):
            ranker.fit([[0.0], [1.0]], [[1, 2], [2, 1]])

    def test_weights_need_a_classifier_that_takes_them(self):
        X, Y = make_rankings()
        with pytest.raises(TypeError, match="KNeighborsClassifier does not take sample weights"):
            PairwiseRanker(KNeighborsClassifier()).fit(X, Y, sample_weight=np.arange(60) + 1)

    def test_a_failing_classifier_tells_its_pair(self):
        X = np.arange(4.0)[:, None]
        Y = pd.DataFrame([[1, 2], [1, 2], [1, 2], [2, 1]], columns=["tea", "milk"])
        with pytest.raises(ValueError, match="3-fold cross-validation") as caught:
            PairwiseRanker(CalibratedClassifierCV(GaussianNB(), cv=3)).fit(X, Y)
        assert caught.value.__notes__ == ["while learning how labels 'tea' and 'milk' relate"]

    def test_nested_parameters_and_search(self):
        X, Y = make_rankings(n=40)
        grid = {"pairwiseranker__classifier__C": [0.01, 10.0]}
        pipeline = make_pipeline(StandardScaler(), PairwiseRanker(LogisticRegression()))
        search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
        assert search.best_params_ == {"pairwiseranker__classifier__C": 10.0}

    @pytest.mark.parametrize("seed", [3, np.random.RandomState(3)], ids=["number", "generator"])
    def test_the_seed_reaches_every_pair_and_threads_change_nothing(self, seed):
        X, Y = make_rankings()
        classifier = RandomForestClassifier(5, random_state=0)
        one, two = (
            PairwiseRanker(classifier, n_jobs=jobs, random_state=clone(seed, safe=False))
            .fit(X, Y)
            .predict_pairs(X)
            for jobs in (1, 2)
        )
        np.testing.assert_array_equal(one.P, two.P)
        own = PairwiseRanker(classifier).fit(X, Y).predict_pairs(X)
        assert (own.P != one.P).any()

    def test_missing_features_pass_where_the_classifier_takes_them(self):
        X, Y = make_rankings()
        X[::3, 0] = NAN
        assert PairwiseRanker(FOREST).fit(X, Y).score(X, Y) > 0.5
        with pytest.raises(ValueError, match="NaN"):
            PairwiseRanker(GaussianNB()).fit(X, Y)

    def test_weights_move_the_prediction(self):
        X = np.zeros((10, 1))
        Y = np.tile([[1.0, 2.0], [2.0, 1.0]], (5, 1))
        for favoured, expected in ((0, [[1, 2]]), (1, [[2, 1]])):
            weight = np.where(np.arange(10) % 2 == favoured, 9.0, 1.0)
            ranker = PairwiseRanker(FOREST).fit(X, Y, sample_weight=weight)
            np.testing.assert_array_equal(ranker.predict(X[:1]), expected)

    def test_labels_are_named_in_texts(self):
        X, Y = make_rankings()
        ranker = PairwiseRanker(GaussianNB()).fit(X, pd.DataFrame(Y, columns=list("wxyz")))
        assert set(ranker.predict_text(X[:1])[0]) >= set("wxyz")


@pytest.mark.parametrize(("problem", "published"), [("plr", 0.932), ("lr", 0.948)])
def test_first_repetition_on_iris_is_near_the_papers_value(benchmark_data, problem, published):
    X, Y = load("iris", problem)
    ranker = PairwiseRanker(
        RandomForestClassifier(20, random_state=0), aggregation="auto", ties="published"
    )
    folds = RepeatedKFold(n_splits=10, n_repeats=1, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), ranker), X, Y, cv=folds)
    assert scores.mean() == pytest.approx(published, abs=0.02)
