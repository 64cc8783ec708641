import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from moreplr import (
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
)
from moreplr.checks import make_rankings
from moreplr.incomplete import remove_labels
from moreplr.layers import EpsilonCloseness, RoundRank
from moreplr.metrics import tau_x_score
from moreplr.rankers.candidates import (
    Meta,
    check_candidates,
    describe,
    prepare,
    scaled,
    suggest,
)

NAN = float("nan")


def meta(n=200, k=4, **other):
    facts = {"n_features": 5, "missing_labels": 0.0, "tied_pairs": 0.1, "has_ties": True}
    facts |= {"missing_features": 0.0, "weighted": False}
    return Meta(n, k, **(facts | other))


class TestDescribe:
    def test_facts(self):
        X = np.array([[1.0, NAN], [2.0, 3.0]])
        Y = np.array([[1.0, 1.0, 2.0], [NAN, 2.0, 1.0]])
        seen = describe(X, Y, np.ones(2))
        assert (seen.n_rows, seen.n_labels, seen.n_features, seen.n_pairs) == (2, 3, 2, 3)
        assert seen.missing_labels == pytest.approx(1 / 6)
        assert (seen.tied_pairs, seen.missing_features) == (0.25, 0.25)
        assert (seen.has_ties, seen.weighted) == (True, True)

    def test_a_single_tie_among_many_rows_is_seen(self):
        Y = np.tile([1.0, 2.0], (5001, 1))
        Y[4999] = 1.0
        assert describe(np.zeros((5001, 1)), Y).has_ties

    def test_nothing_compared(self):
        assert describe(np.zeros((1, 1)), np.array([[1.0, NAN]])).tied_pairs == 0


class TestSuggest:
    def test_the_reference_is_first_and_plain(self):
        for k in (2, 10, 100):
            name, candidate = next(iter(suggest(meta(k=k)).items()))
            assert name == "RankingForest"
            assert repr(candidate.ranker) == "RankingForest()"

    def test_few(self):
        for n in (20, 500, 50_000):
            for k in (2, 5, 20, 300):
                assert 4 <= len(suggest(meta(n, k))) <= 12

    def test_from_cheap_to_dear(self):
        for k in (3, 12, 100):
            _, *others = suggest(meta(k=k)).values()
            costs = [candidate.cost for candidate in others]
            assert costs == sorted(costs)

    def test_many_labels_leave_out_models_of_each_pair(self):
        names = " ".join(suggest(meta(k=200)))
        assert "PairwiseRanker" not in names
        assert "Tree" not in names
        assert "ridge" in names

    def test_many_rows_leave_out_kernels(self):
        names = " ".join(suggest(meta(n=20_000)))
        assert "SVR" not in names
        assert "process" not in names

    def test_gaps_make_a_process_dearer(self):
        assert "MORERanker, Gaussian process" in suggest(meta(n=300, k=10))
        with_gaps = suggest(meta(n=300, k=10, missing_labels=0.3))
        assert "MORERanker, Gaussian process" not in with_gaps

    def test_weights_leave_out_what_takes_none(self):
        assert "MORERanker, Gaussian process" not in suggest(meta(weighted=True))

    def test_ties_decide_on_the_layer(self):
        name = "MORERanker, single target"
        assert isinstance(suggest(meta())[name].ranker.layer, RoundRank)
        strict = suggest(meta(has_ties=False))[name].ranker.layer
        assert isinstance(strict, EpsilonCloseness)
        assert strict.epsilon == 0

    @pytest.mark.parametrize(
        ("positions", "missing", "expected"),
        [
            ("observed", 0.0, "observed"),
            ("observed", 0.2, "expected"),
            ("given", 0.2, "given"),
        ],
    )
    def test_gaps_decide_on_the_reading_of_positions(self, positions, missing, expected):
        found = suggest(meta(missing_labels=missing), positions)
        assert found["MORERanker, single target"].ranker.positions == expected

    @pytest.mark.parametrize("gaps", [0.0, 0.3])
    @pytest.mark.parametrize("strict", [True, False])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_all_of_them_learn_also_with_missing_features(self, gaps, strict):
        X, Y = make_rankings(n=60, k=3)
        if strict:
            Y = Y + np.array([0.1, 0.2, 0.3])
        X[::9, 1] = NAN
        if gaps:
            Y = remove_labels(Y, gaps, random_state=0)
            X, Y = X[rows := ~np.isnan(Y).all(axis=1)], Y[rows]
        floor = DummyRanker().fit(X, Y).score(X, Y)
        for name, (ranker, *_) in suggest(describe(X, Y)).items():
            fitted = prepare(ranker, positions="observed", n_jobs=1, seed=0).fit(X, Y)
            assert tau_x_score(Y, fitted.predict(X)) >= floor - 1e-9, name


class TestGiven:
    def test_a_list_is_named_by_class(self):
        rankers = [MORERanker(), scaled(MORERanker()), DummyRanker()]
        names = list(check_candidates(rankers))
        assert names == ["RankingForest", "MORERanker", "MORERanker 2", "DummyRanker"]

    def test_a_dict_keeps_its_names(self):
        assert list(check_candidates({"floor": DummyRanker()})) == ["RankingForest", "floor"]

    def test_a_default_forest_is_the_reference(self):
        rankers = {"floor": DummyRanker(), "mine": RankingForest(n_jobs=2, random_state=3)}
        assert list(check_candidates(rankers)) == ["mine", "floor"]

    def test_another_forest_is_not(self):
        found = check_candidates([RankingForest(7)])
        assert list(found) == ["RankingForest (default)", "RankingForest"]

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ([], "candidates is empty"),
            ({}, "candidates is empty"),
            (DummyRanker(), "candidates must be None, a list"),
            ("forest", "candidates must be None, a list"),
            ([DummyRanker], "candidates: .* must be a ranker object"),
            ([DummyRanker(), 3], "candidates: 'int' must be a ranker object"),
            ({1: DummyRanker()}, "candidates must have texts for names, got 1"),
        ],
    )
    def test_bad_ones_are_named(self, bad, message):
        with pytest.raises((TypeError, ValueError), match=message):
            check_candidates(bad)


class TestPrepare:
    def test_seeds_and_threads_go_where_there_are_none(self):
        ranker = PairwiseRanker(LogisticRegression(), n_jobs=None)
        ready = prepare(ranker, positions="observed", n_jobs=3, seed=7)
        assert (ready.random_state, ready.classifier.random_state, ready.n_jobs) == (7, 7, 3)
        assert ranker.random_state is None
        own = prepare(
            PairwiseRanker(n_jobs=1, random_state=5), positions="observed", n_jobs=3, seed=7
        )
        assert (own.random_state, own.n_jobs) == (5, 1)

    def test_through_a_pipeline(self):
        ready = prepare(scaled(RankingForest()), positions="given", n_jobs=2, seed=1)
        assert isinstance(ready, Pipeline)
        forest = ready.steps[-1][1]
        assert (forest.positions, forest.n_jobs, forest.random_state) == ("given", 2, 1)

    def test_observed_leaves_a_ranker_its_own_reading(self):
        ranker = MORERanker(positions="expected")
        kept = prepare(ranker, positions="observed", n_jobs=None, seed=0)
        assert kept.positions == "expected"

    def test_no_parameter_no_change(self):
        ranker = NearestNeighborsRanker(random_state=1)
        assert repr(prepare(ranker, positions="given", n_jobs=None, seed=0)) == repr(ranker)
