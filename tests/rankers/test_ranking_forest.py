from collections import Counter

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import MORERanker, PairwiseRanker
from moreplr.aggregation import expected_tau
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.forest import ForestBatch, ForestClassifier, ForestRegressor
from moreplr.incomplete import remove_labels
from moreplr.rankers import _marginals, _pairs, choosing, growth
from moreplr.rankers.growth import Trees
from moreplr.rankers.leaves import Reading, single_pairs
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankings import count_buckets

NAN = float("nan")

RANKERS = [
    RankingForest(10, random_state=0),
    RankingForest(10, structure="per_label", min_samples=2, random_state=0),
    RankingForest(10, structure="shared", positions="given", objective="l1", random_state=0),
]


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


@pytest.fixture
def grown(monkeypatch):
    """What forests are fitted: their kind, their rows, and their features of a split."""
    found = []
    for kind, forest in (("regressor", ForestRegressor), ("batch", ForestBatch)):
        fit = forest.fit

        def note(self, X, *data, kind=kind, fit=fit, **options):
            found.append((kind, len(X), self.max_features))
            return fit(self, X, *data, **options)

        monkeypatch.setattr(forest, "fit", note)
    return found


def brute_pairs(ranker, X):
    """Pair shares by walking over each tree's leaves, one member and one pair at a time."""
    Y = ranker.rankings_
    n, k = len(X), Y.shape[1]
    before, tied, total = np.zeros((3, n, k, k))
    for label_of, forest in enumerate(ranker.forests_):
        leaves, trained = forest.apply(X), forest.apply(ranker.X)
        counts = [np.zeros(len(Y)) for _ in range(forest.n_estimators)]
        trees = forest.trees_
        for tree, count in enumerate(counts):
            part = slice(trees.perm_offsets[tree], trees.perm_offsets[tree + 1])
            count[trees.perm[part]] = trees.perm_count[part]
        for row in range(n):
            for tree, count in enumerate(counts):
                inside = count * (trained[:, tree] == leaves[row, tree])
                for member in np.flatnonzero(inside):
                    weight = inside[member] / inside.sum()
                    for i in range(k):
                        for j in range(k):
                            asked = len(ranker.forests_) == 1 or label_of in (i, j)
                            if i == j or not asked or np.isnan(Y[member, i] + Y[member, j]):
                                continue
                            total[row, i, j] += weight
                            before[row, i, j] += weight * (Y[member, i] < Y[member, j])
                            tied[row, i, j] += weight * (Y[member, i] == Y[member, j])
    total += np.eye(k)
    return before / total, tied / total


@pytest.mark.parametrize("structure", ["shared", "per_label"])
def test_pairs_are_the_shares_of_leaf_members(structure):
    X, Y = make_rankings(n=30)
    Y[::4, 1] = NAN
    ranker = RankingForest(
        7, structure=structure, min_samples=1, marginal_weight=0, pair_share=0, oblique=False,
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    ranker.X = X
    P, Q = ranker.predict_pairs(X[:5])
    before, tied = brute_pairs(ranker, X[:5])
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(P[:, off], before[:, off], atol=1e-6)
    np.testing.assert_allclose(Q[:, off], tied[:, off], atol=1e-6)


def test_marginals_are_those_of_independent_positions():
    rng = np.random.default_rng(0)
    positions = rng.random((2, 3, 5))
    positions[0, 2] = 0
    P, Q = _marginals.marginals(positions)
    for row in range(2):
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                a, b = positions[row, i], positions[row, j]
                if not (a.any() and b.any()):
                    expected = 0.0, 0.0
                else:
                    a, b = a / a.sum(), b / b.sum()
                    joint = np.outer(a, b)
                    expected = np.triu(joint, 1).sum(), np.trace(joint)
                assert (P[row, i, j], Q[row, i, j]) == pytest.approx(expected)


def test_a_pair_without_any_word_gets_the_prior():
    zero = np.zeros((1, 2, 2))
    prior_P, prior_Q = np.array([[0.0, 0.5], [0.2, 0.0]]), np.full((2, 2), 0.3)
    P, Q = np.empty((2, 1, 2, 2))
    _marginals.mix(zero, zero, zero, zero, 1.0, prior_P, prior_Q, P, Q)
    assert (P[0, 0, 1], P[0, 1, 0], Q[0, 0, 1]) == (0.5, 0.2, 0.3)


def test_marginals_count_as_their_weight_says():
    P = np.array([[[0.0, 0.4], [0.1, 0.0]]])
    Q = np.array([[[0.0, 0.0], [0.3, 0.0]]])
    marginals = _marginals.marginals(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    prior = np.full((2, 2), 1 / 3)
    mixed_P, mixed_Q = np.empty((2, 1, 2, 2))
    _marginals.mix(P, Q, *marginals, 0.2, prior, prior, mixed_P, mixed_Q)
    assert mixed_P[0, 0, 1] == pytest.approx((0.4 + 0.2) / 1.0)
    assert mixed_Q[0, 0, 1] == pytest.approx(0.3)


class TestChoices:
    def test_noise_is_read_in_large_nodes(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 5))
        Y = np.where(rng.random((900, 1)) < 0.7, [[1.0, 2.0, 3.0, 4.0]], [[4.0, 3.0, 2.0, 1.0]])
        assert RankingForest(random_state=0).fit(X, Y).reading_.min_samples >= 8

    def test_clear_rankings_are_read_in_small_leaves(self):
        X, Y = make_rankings(n=300)
        assert RankingForest(random_state=0).fit(X, Y).reading_.min_samples <= 2

    def test_the_default_stays_without_a_sure_gain(self):
        X, Y = make_rankings(n=300)
        ranker = RankingForest(random_state=0).fit(X, Y)
        default = Reading(1, 0.25, 0.25, "segments")
        assert max(ranker.scores_.values()) > ranker.scores_[default]
        assert ranker.reading_ == default

    def test_labels_that_may_tie_are_sorted_and_their_order_is_cut(self):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(60, 2)), rankdata(rng.normal(size=(60, 6)).round(1), axis=1)
        ranker = RankingForest(20, random_state=0).fit(X, Y)
        assert ranker.reading_.aggregation == "segments"
        pairs = ranker.predict_pairs(X)
        scores = np.sum(pairs.P + pairs.Q / 2, axis=2)
        ranks = ranker.predict(X)
        before = ranks[:, :, None] < ranks[:, None, :]
        assert (scores[:, :, None] >= scores[:, None, :] - 1e-9)[before].all()
        np.testing.assert_array_equal(ranks, expected_tau(*pairs, "segments"))
        assert (ranks != expected_tau(*pairs)).any()

    def test_the_best_of_all_bucket_orders_is_taken_where_it_surely_gains(self):
        # Most put the first label first, but it falls so deep elsewhere that scores do not.
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 3))
        kinds = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.0]])
        Y = kinds[rng.choice(3, 400, p=[0.5, 0.4, 0.1])]
        ranker = RankingForest(min_samples=32, random_state=0).fit(X, Y)
        assert ranker.reading_.aggregation == "auto"
        assert ranker.predict(X).mean(axis=0).argmin() == 0
        fixed = RankingForest(min_samples=32, aggregation="segments", random_state=0).fit(X, Y)
        assert {reading.aggregation for reading in fixed.scores_} == {"segments"}
        assert fixed.predict(X).mean(axis=0).argmin() == 1

    def test_few_rows_without_ties_get_the_best_order_of_all_and_many_the_better(
        self, monkeypatch
    ):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(80, 2)), rankdata(rng.normal(size=(80, 6)), axis=1)
        few = RankingForest(10, random_state=0).fit(X, Y)
        assert {reading.aggregation for reading in few.scores_} == {"auto"}
        monkeypatch.setattr(choosing, "PROBED_ROWS", 60)
        many = RankingForest(10, random_state=0).fit(X, Y)
        other = {"auto": "segments", "segments": "auto"}[many.reading_.aggregation]
        second = many.scores_[many.reading_._replace(aggregation=other)]
        assert many.scores_[many.reading_] >= second

    def test_labels_of_different_features_get_forests_of_their_own(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(500, 8))
        ranker = RankingForest(50, random_state=0).fit(X, np.sign(X).round(1) + X.round(1))
        assert ranker.structure_ == "per_label"
        assert len(ranker.forests_) == 8

    def test_splits_look_at_few_features_where_all_tell_the_same(self):
        rng = np.random.default_rng(0)
        hidden = rng.normal(size=(200, 2))
        X = np.tile(hidden, 30) + rng.normal(size=(200, 60))
        Y = rankdata(hidden @ rng.normal(size=(2, 5)), axis=1)
        ranker = RankingForest(50, oblique=False, random_state=0).fit(X, Y)
        assert ranker.pair_forests_.max_features == ranker.forests_[0].max_features == 7
        fixed = RankingForest(50, max_features=0.6, oblique=False, random_state=0).fit(X, Y)
        assert fixed.pair_forests_.max_features == fixed.forests_[0].max_features == 36

    def test_splits_look_at_many_features_where_few_tell_anything(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(400, 60))
        ranker = RankingForest(50, oblique=False, random_state=0).fit(
            X, rankdata(X[:, :5], axis=1)
        )
        assert ranker.pair_forests_.max_features == ranker.forests_[0].max_features == 36

    def test_no_forest_is_grown_twice(self, grown):
        rng = np.random.default_rng(0)
        X, Y = rng.random((60, 12)), rankdata(rng.random((60, 4)), axis=1)
        RankingForest(5, oblique=False, random_state=0).fit(X, Y)
        times = {kind: Counter(grown)[kind] for kind in grown}
        assert times.pop(("regressor", 60, 3)) in (1, 4)  # of the structure that was chosen
        assert times == {
            ("regressor", 60, 7): 4,
            ("regressor", 60, 4): 1,
            ("batch", 60, 7): 1,
            ("batch", 60, 3): 1,
        }

    def test_numbers_of_features_that_coincide_are_not_compared(self, grown):
        X, Y = make_rankings(n=60)  # √6 features are as many as a third of 6
        RankingForest(5, structure="shared", pair_share=0, oblique=False, random_state=0).fit(
            np.hstack([X, X, X])[:, :6], Y
        )
        assert grown == [("regressor", 60, 2)]

    def test_without_any_row_out_of_bag_the_usual_number_stays(self):
        rng = np.random.default_rng(0)
        X, Y = rng.random((1, 12)), np.array([[1.0, 2.0, 3.0]])
        ranker = RankingForest(1, random_state=0).fit(X, Y)
        assert ranker.forests_[0].max_features == ranker.pair_forests_.max_features == 7

    def test_many_labels_have_the_usual_number_of_features(self, grown):
        rng = np.random.default_rng(0)
        X, Y = rng.random((20, 30)), rankdata(rng.random((20, 65)), axis=1)
        RankingForest(2, min_samples=1, random_state=0).fit(X, Y)
        assert grown == [("regressor", 20, 10)]

    def test_the_share_of_single_pairs_is_one_between_two_rankers(self):
        X, Y = make_rankings(n=60)
        Y[::3, 1] = NAN
        options = {
            "structure": "shared",
            "min_samples": 1,
            "marginal_weight": 0,
            "max_features": 0.6,
            "oblique": False,
        }
        alone, both, pairs = (
            RankingForest(9, **options, pair_share=share, random_state=0).fit(X, Y)
            for share in (0, 0.3, 1)
        )
        assert alone.pair_forests_ is None
        for own, low, high in zip(
            *(ranker.predict_pairs(X[:7]) for ranker in (both, alone, pairs)), strict=True
        ):
            np.testing.assert_allclose(own, 0.7 * low + 0.3 * high, atol=1e-9)
        twin = PairwiseRanker(ForestClassifier(9, max_features=0.6), random_state=pairs._seed).fit(
            X, Y
        )
        np.testing.assert_allclose(pairs.predict_pairs(X).P, twin.predict_pairs(X).P, atol=1e-9)

    def test_a_difference_of_two_labels_alone_is_left_to_their_own_forest(self):
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, size=(300, 40))
        loud = 20 * np.sign(X[:, :1] * [1.0, -1.0])
        quiet = 100 + np.sign(X[:, 39:] * [1.0, -1.0])
        Y = rankdata(np.hstack([loud, quiet]) + 1e-6 * rng.normal(size=(300, 4)), axis=1)
        shares = [
            RankingForest(30, structure="shared", random_state=0, pair_share=s) for s in (0, 1)
        ]
        none, alone = (one.fit(X[:60], Y[:60]).score(X[60:], Y[60:]) for one in shares)
        assert alone > none

    def test_by_default_few_rows_get_more_trees_but_for_single_pairs(self):
        rng = np.random.default_rng(0)
        X, Y = rng.random((30, 2)), rng.random((30, 3)).argsort(axis=1) + 1.0
        forest = RankingForest(structure="per_label", random_state=0).fit(X, Y)
        assert [one.n_estimators for one in forest.forests_] == [300, 300, 300]
        assert forest.pair_forests_.n_estimators == 100
        some = RankingForest(7, structure="shared", random_state=0).fit(X, Y)
        assert some.forests_[0].n_estimators == some.pair_forests_.n_estimators == 7
        assert Trees.of("auto", np.ones((2_001, 3))) == (100, 100)

    def test_pairs_of_many_rows_get_fewer_trees(self, monkeypatch):
        Y = np.ones((100, 4))
        Y[50:, 2:] = NAN  # 50 rows rank six pairs, and 50 one
        monkeypatch.setattr(growth, "PAIR_ROWS", 350 * 40)
        assert Trees.of("auto", Y) == (300, 40)
        assert Trees.of(30, Y) == (30, 30)
        monkeypatch.setattr(growth, "PAIR_ROWS", 350 * 9)
        assert [Trees.of(n, Y).pairs for n in ("auto", 7)] == [10, 7]

    def test_pairs_of_very_many_rows_get_no_forests_unless_asked_for(self, monkeypatch):
        X, Y = make_rankings(n=40)
        monkeypatch.setattr(growth, "PAIR_ROWS", 40 * 6 * 10)
        assert RankingForest(random_state=0).fit(X, Y).pair_forests_.n_estimators == 10
        monkeypatch.setattr(growth, "PAIR_ROWS", 40 * 6 * 10 - 1)
        assert RankingForest(random_state=0).fit(X, Y).pair_forests_ is None
        asked = RankingForest(pair_share=0.5, random_state=0).fit(X, Y)
        assert asked.pair_forests_.n_estimators == 10

    def test_forests_of_labels_draw_different_rows(self):
        rng = np.random.default_rng(0)
        X, Y = rng.random((30, 2)), rng.random((30, 3)).argsort(axis=1) + 1.0
        forest = RankingForest(5, structure="per_label", random_state=0).fit(X, Y)
        seeds = [one.seeds_ for one in (*forest.forests_, forest.pair_forests_)]
        assert len(np.unique(seeds)) == 20

    def test_pairs_of_very_many_labels_get_no_forests(self):
        rng = np.random.default_rng(0)
        X, Y = rng.random((20, 2)), rng.random((20, 65)).argsort(axis=1) + 1.0
        options = {"structure": "shared", "random_state": 0}
        assert RankingForest(2, **options).fit(X, Y).pair_forests_ is None
        asked = RankingForest(2, **options, pair_share=0.5).fit(X, Y)
        assert asked.pair_forests_.n_forests_ == 2080
        fewer = RankingForest(2, **options).fit(X, Y[:, :64].argsort(axis=1) + 1.0)
        assert fewer.pair_forests_.n_forests_ == 2016

    def test_many_rows_are_probed_first(self, monkeypatch, grown):
        monkeypatch.setattr(choosing, "PROBED_ROWS", 150)
        rng = np.random.default_rng(0)
        hidden = rng.normal(size=(400, 2))
        X = np.tile(hidden, 30) + rng.normal(size=(400, 60))
        Y = rankdata(hidden @ rng.normal(size=(2, 5)), axis=1)
        ranker = RankingForest(
            20, structure="shared", pair_share=0.5, oblique=False, random_state=0
        ).fit(X, Y)
        assert grown[2:4] == [("batch", 150, 7), ("batch", 150, 36)]
        assert grown[4:] == [
            ("regressor", 400, ranker.forests_[0].max_features),
            ("batch", 400, 7),
        ]

    def test_many_rows_get_forests_of_pairs_unless_these_lose(self, monkeypatch):
        monkeypatch.setattr(choosing, "PROBED_ROWS", 150)
        X, Y = make_rankings(n=200)
        ranker = RankingForest(10, random_state=0)
        assert ranker.fit(X, Y).pair_forests_ is not None

        def reversed_pairs(*arguments):
            return _pairs.Pairs(*(each.swapaxes(1, 2) for each in single_pairs(*arguments)))

        monkeypatch.setattr(choosing, "single_pairs", reversed_pairs)
        assert ranker.fit(X, Y).pair_forests_ is None

    def test_of_many_rows_the_best_share_of_pairs_is_taken(self, monkeypatch):
        def best_shares():
            for seed in range(6):
                X, Y = make_rankings(n=150, seed=seed)
                ranker = RankingForest(10, random_state=seed).fit(X, Y)
                shares = {
                    r: tau for r, tau in ranker.scores_.items() if r[:2] == ranker.reading_[:2]
                }
                yield ranker.reading_ == max(shares, key=shares.get)

        assert not all(best_shares())  # in doubt the default
        monkeypatch.setattr(choosing, "PROBED_ROWS", 140)
        assert all(best_shares())

    def test_one_forest_that_is_asked_for_stays_the_only_one_where_rows_are_many(
        self, monkeypatch
    ):
        X, Y = make_rankings(n=200)
        shared = RankingForest(10, structure="shared", random_state=0)
        assert shared.fit(X, Y).pair_forests_ is not None
        monkeypatch.setattr(choosing, "PROBED_ROWS", 60)
        assert shared.fit(X, Y).pair_forests_ is None
        assert shared.set_params(pair_share=0.5).fit(X, Y).pair_forests_ is not None

    def test_forests_for_each_label_have_a_price_where_rows_are_many(self, monkeypatch):
        monkeypatch.setattr(choosing, "PROBED_ROWS", 60)
        X, Y = make_rankings(n=200)
        structures = []
        for price in (0.0, 1.0):
            monkeypatch.setattr(choosing, "PRICE", price)
            structures.append(RankingForest(10, random_state=0).fit(X, Y).structure_)
        assert structures == ["per_label", "shared"]
        monkeypatch.setattr(choosing, "PROBED_ROWS", 200)
        assert RankingForest(10, random_state=0).fit(X, Y).structure_ == "per_label"

    def test_rows_that_rank_nothing_are_not_probed(self, monkeypatch):
        monkeypatch.setattr(choosing, "PROBED_ROWS", 20)
        X, Y = make_rankings(n=200)
        Y[5:] = NAN
        for columns in (4, 2):
            with pytest.warns(UserWarning, match="rank no label"):
                ranker = RankingForest(5, random_state=0).fit(X, Y[:, :columns])
            assert ranker.predict(X).shape == (200, columns)

    def test_weighted_rows_have_no_forests_of_pairs(self):
        X, Y = make_rankings(n=60)
        ranker = RankingForest(5, random_state=0)
        assert ranker.fit(X, Y, np.full(60, 2.0)).pair_forests_ is not None
        assert ranker.fit(X, Y, np.arange(1.0, 61.0)).pair_forests_ is None

    def test_a_pair_that_no_row_ranks_is_left_to_the_others(self):
        X, Y = make_rankings(n=60)
        Y[::2, 0], Y[1::2, 1] = NAN, NAN
        options = {
            "structure": "shared",
            "min_samples": 1,
            "marginal_weight": 0,
            "random_state": 0,
        }
        with pytest.warns(UserWarning, match="never ranked together"):
            none, half = (
                RankingForest(9, **options, pair_share=share).fit(X, Y).predict_pairs(X)
                for share in (0, 0.5)
            )
        np.testing.assert_array_equal(half.P[:, 0, 1], none.P[:, 0, 1])
        assert not np.array_equal(half.P[:, 2, 3], none.P[:, 2, 3])

    @pytest.mark.parametrize("share", [-0.1, 1.5, "half"])
    def test_a_share_is_between_0_and_1(self, share):
        with pytest.raises(ValueError, match="pair_share must be"):
            RankingForest(pair_share=share).fit(*make_rankings(n=20))

    def test_out_of_bag_scores_are_close_to_fresh_ones(self):
        X, Y = make_rankings(n=1200)
        ranker = RankingForest(random_state=0).fit(X[:400], Y[:400])
        fresh = ranker.score(X[400:], Y[400:])
        assert ranker.scores_[ranker.reading_] == pytest.approx(fresh, abs=0.05)

    def test_choices_do_not_depend_on_how_many_rows_are_asked_at_once(self, monkeypatch):
        X, Y = make_rankings(n=120)
        Y[::3, 1] = NAN
        whole = RankingForest(10, random_state=0).fit(X, Y)
        monkeypatch.setattr(_pairs, "CHUNK_BYTES", 50_000)  # some 30 rows
        parts = RankingForest(10, random_state=0).fit(X, Y)
        assert parts.reading_ == whole.reading_
        assert parts.scores_ == pytest.approx(whole.scores_)
        np.testing.assert_allclose(parts.risk_, whole.risk_)

    def test_leaf_sizes_are_those_of_the_forest(self):
        X, Y = make_rankings(n=80)
        options = {"structure": "shared", "pair_share": 0, "oblique": False, "random_state": 0}
        ranker = RankingForest(10, min_samples=20, **options).fit(X, Y)
        indptr, _, _ = ranker.forests_[0].leaf_members(X[:4], min_samples=20)
        assert (np.diff(indptr) >= 20).all()
        small = RankingForest(10, min_samples=1, **options).fit(X, Y)
        assert small.score(X, Y) > ranker.score(X, Y)


class TestPredictions:
    def test_total_orders_where_training_has_no_ties(self):
        X, Y = make_rankings(n=60)
        strict = np.argsort(np.argsort(Y + X[:, :1] * 1e-3 * np.arange(4), axis=1), axis=1) + 1.0
        ranker = RankingForest(20, random_state=0).fit(X, strict)
        assert (count_buckets(ranker.predict(X)) == 4).all()
        assert (count_buckets(ranker.predict(X, n_buckets=2)) == 2).all()

    def test_options_of_prediction(self):
        X, Y = make_rankings(n=60)
        ranker = RankingForest(20, random_state=0).fit(X, Y)
        assert (count_buckets(ranker.predict(X, total_order=True)) == 4).all()
        top = ranker.predict(X, top=1)
        assert (np.sum(top == 1, axis=1) == 1).all()

    @pytest.mark.parametrize("positions", ["observed", "given"])
    def test_ahead_of_rounded_positions_with_gaps(self, positions):
        X, Y = make_rankings(n=500)
        gaps = remove_labels(Y[:300], 0.5, random_state=0)
        gaps = gaps[rows := ~np.isnan(gaps).all(axis=1)]
        ranker = RankingForest(50, positions=positions, random_state=0).fit(X[:300][rows], gaps)
        rounded = MORERanker(regressor="native", positions=positions, random_state=0)
        rounded.fit(X[:300][rows], gaps)
        assert ranker.score(X[300:], Y[300:]) > rounded.score(X[300:], Y[300:])

    def test_very_many_labels(self):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(20, 2)), rng.integers(1, 300, size=(20, 300)).astype(float)
        ranker = RankingForest(3, random_state=0).fit(X, Y)
        assert ranker.structure_ == "shared"
        assert ranker.predict(X[:2]).shape == (2, 300)

    def test_threads_change_nothing(self):
        X, Y = make_rankings(n=60)
        one = RankingForest(20, random_state=0).fit(X, Y)
        two = RankingForest(20, random_state=0, n_jobs=2).fit(X, Y)
        np.testing.assert_array_equal(one.predict_pairs(X).P, two.predict_pairs(X).P)

    def test_importances_name_the_features_that_count(self):
        X, Y = make_rankings(n=200)
        noisy = np.hstack([X, np.random.default_rng(1).normal(size=(200, 3))])
        importances = RankingForest(20, random_state=0).fit(noisy, Y).feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances[:3].min() > importances[3:].max()


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("structure", "both"),
        ("positions", "expected"),
        ("min_samples", 0),
        ("min_samples", "small"),
        ("marginal_weight", -1),
        ("marginal_weight", "half"),
        ("n_estimators", 0),
        ("max_features", 0),
        ("max_features", 2.5),
        ("max_features", "few"),
        ("objective", "l2"),
    ],
)
def test_bad_parameters_are_named(name, bad):
    with pytest.raises((ValueError, TypeError), match=name):
        RankingForest(**{name: bad}).fit([[1.0], [2.0]], [[1, 2], [2, 1]])
