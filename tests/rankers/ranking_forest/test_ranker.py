import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import MORERanker, RankingForest, base
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.incomplete import remove_labels
from moreplr.rankings import count_buckets

NAN = float("nan")
VOTES_ALONE = {"marginal_weight": 0, "prior_weight": 0}

RANKERS = [
    RankingForest(10, random_state=0),
    RankingForest(10, structure="per_label", min_samples=2, oblique=False, random_state=0),
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


@pytest.mark.parametrize(("positions", "weight"), [("observed", 0.3), ("given", 1.0)])
def test_labels_own_positions_count_more_where_they_are_given(positions, weight):
    X, Y = make_rankings(n=60, k=4)
    Y = remove_labels(Y, 0.2, random_state=0)
    usual = RankingForest(10, positions=positions, random_state=0).fit(X, Y)
    same = RankingForest(10, positions=positions, marginal_weight=weight, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(usual.predict_pairs(X).P, same.predict_pairs(X).P)


def brute_pairs(ranker, X):
    """Pair shares by walking over each tree's leaves, one member and one pair at a time."""
    Y = ranker.rankings_
    n, k = len(X), Y.shape[1]
    before, tied, total = np.zeros((3, n, k, k))
    for own, forest in enumerate(ranker.forests_, start=k - len(ranker.forests_)):
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
                    weight = inside[member] / inside.sum() / forest.n_estimators
                    for i in range(k):
                        for j in range(k):
                            votes = own < 0 or len(ranker.forests_) == 1 or own in (i, j)
                            if i == j or not votes or np.isnan(Y[member, i] + Y[member, j]):
                                continue
                            total[row, i, j] += weight
                            before[row, i, j] += weight * (Y[member, i] < Y[member, j])
                            tied[row, i, j] += weight * (Y[member, i] == Y[member, j])
    total += np.eye(k)
    return before / total, tied / total


@pytest.mark.parametrize("structure", ["shared", "per_label", "both"])
def test_pairs_are_the_shares_of_leaf_members(structure):
    X, Y = make_rankings(n=30)
    Y[::4, 1] = NAN
    ranker = RankingForest(
        7,
        structure=structure,
        min_samples=1,
        **VOTES_ALONE,
        oblique=False,
        random_state=0,
    ).fit(X, Y)
    ranker.X = X
    P, Q = ranker.predict_pairs(X[:5])
    before, tied = brute_pairs(ranker, X[:5])
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(P[:, off], before[:, off], atol=1e-6)
    np.testing.assert_allclose(Q[:, off], tied[:, off], atol=1e-6)


class TestLeafSize:
    def test_noise_needs_large_nodes(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 5))
        Y = np.where(rng.random((900, 1)) < 0.7, [[1.0, 2.0, 3.0, 4.0]], [[4.0, 3.0, 2.0, 1.0]])
        assert RankingForest(random_state=0).fit(X, Y).min_samples_ >= 8

    def test_clear_rankings_need_small_leaves(self):
        X, Y = make_rankings(n=300)
        assert RankingForest(random_state=0).fit(X, Y).min_samples_ <= 2

    def test_a_given_size_is_not_compared(self):
        X, Y = make_rankings(n=80)
        ranker = RankingForest(10, structure="shared", min_samples=20, oblique=False)
        ranker.fit(X, Y)
        assert (ranker.min_samples_, ranker.scores_) == (20, {})
        indptr, _, _ = ranker.forests_[0].leaf_members(X[:4], min_samples=20)
        assert (np.diff(indptr) >= 20).all()
        assert ranker.set_params(min_samples=1).fit(X, Y).score(X, Y) > 0.9

    def test_out_of_bag_scores_are_close_to_fresh_ones(self):
        X, Y = make_rankings(n=1200)
        ranker = RankingForest(random_state=0).fit(X[:400], Y[:400])
        fresh = ranker.score(X[400:], Y[400:])
        assert ranker.scores_[ranker.min_samples_] == pytest.approx(fresh, abs=0.05)

    def test_rows_that_compare_nothing_are_not_scored(self):
        X, Y = make_rankings(n=60)
        Y[:50, 1:] = NAN
        ranker = RankingForest(5, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(ranker._scored_rows(), np.arange(50, 60))

    def test_one_row_alone_is_not_out_of_bag(self):
        ranker = RankingForest(1, random_state=0).fit([[1.0, 2.0]], [[1, 2, 3]])
        assert (ranker.min_samples_, ranker.scores_) == (1, {})
        np.testing.assert_array_equal(ranker.predict([[0.0, 0.0]]), [[1, 2, 3]])


class TestOutOfBag:
    def test_it_is_what_trees_that_have_not_drawn_a_row_say(self):
        X, Y = make_rankings(n=40)
        ranker = RankingForest(
            6,
            structure="shared",
            min_samples=1,
            **VOTES_ALONE,
            oblique=False,
            random_state=0,
        ).fit(X, Y)
        pairs = ranker.held_out_pairs()
        (forest,) = ranker.forests_
        leaves = forest.apply(X)
        for row in range(40):
            shares = []
            for tree in range(forest.n_estimators):
                part = slice(*forest.trees_.perm_offsets[tree : tree + 2])
                count = np.zeros(40)
                count[forest.trees_.perm[part]] = forest.trees_.perm_count[part]
                if count[row] == 0:
                    inside = count * (leaves[:, tree] == leaves[row, tree])
                    shares.append(inside @ (Y[:, 0] < Y[:, 2]) / inside.sum())
            expected = np.mean(shares) if shares else NAN
            assert pairs.P[row, 0, 2] == pytest.approx(expected, abs=1e-6, nan_ok=True)

    def test_rows_are_picked_in_any_order(self):
        X, Y = make_rankings(n=40)
        ranker = RankingForest(10, random_state=0).fit(X, Y)
        whole, some = ranker.held_out_pairs(), ranker.held_out_pairs([7, 3])
        np.testing.assert_allclose(some.P, whole.P[[7, 3]], atol=1e-12)
        np.testing.assert_allclose(some.Q, whole.Q[[7, 3]], atol=1e-12)

    def test_it_is_as_likely_as_fresh_rows(self):
        X, Y = make_rankings(n=900)
        ranker = RankingForest(random_state=0).fit(X[:300], Y[:300])

        def brier(pairs, Y):
            before = Y[:, :, None] < Y[:, None, :]
            return np.mean((pairs.P - before) ** 2)

        fresh = brier(ranker.predict_pairs(X[300:]), Y[300:])
        assert brier(ranker.held_out_pairs(), Y[:300]) == pytest.approx(fresh, rel=0.25)
        assert brier(ranker.predict_pairs(X[:300]), Y[:300]) < 0.7 * fresh

    def test_chunks_change_nothing(self, monkeypatch):
        X, Y = make_rankings(n=120)
        Y[::3, 1] = NAN
        whole = RankingForest(10, random_state=0).fit(X, Y)
        monkeypatch.setattr(base, "CHUNK_BYTES", 50_000)
        parts = RankingForest(10, random_state=0).fit(X, Y)
        assert parts.scores_ == pytest.approx(whole.scores_)
        np.testing.assert_allclose(parts.held_out_pairs().P, whole.held_out_pairs().P, atol=1e-12)


class TestTrees:
    def test_forests_of_labels_draw_different_rows(self):
        X, Y = make_rankings(n=30)
        forest = RankingForest(5, random_state=0).fit(X, Y)
        seeds = np.concatenate([one.seeds_ for one in forest.forests_])
        assert len(np.unique(seeds)) == len(seeds) == 3 * 5 + 4 * 5

    def test_work_is_bounded_smoothly_and_not_below_ten_trees(self):
        X, Y = make_rankings(n=63)
        work = 63 * X.shape[1] * 6 * (3 + 4)  # rows, features, log₂(rows + 1), trees at a time

        def trees(n_estimators, max_work):
            ranker = RankingForest(
                n_estimators, oblique=False, max_work=max_work, min_samples=1, random_state=0
            )
            return [forest.n_estimators for forest in ranker.fit(X, Y).forests_]

        assert trees(60, None) == trees(60, 1e10) == trees(60, 60.5 * work) == [180] + [60] * 4
        assert trees(60, 59.5 * work) == [177] + [59] * 4
        assert trees(60, 30.5 * work) == [90] + [30] * 4
        assert trees(60, work) == [30] + [10] * 4
        assert trees(7, work) == [21] + [7] * 4

    def test_trees_draw_fewer_rows_before_there_are_fewer_trees(self):
        X, Y = make_rankings(n=2047)
        work = X.shape[1] * 11 * (3 + 4) * 20  # features, log₂(rows + 1), trees

        def grown(draws):
            options = {"oblique": False, "min_samples": 1, "random_state": 0}
            ranker = RankingForest(20, max_work=draws * work, **options).fit(X, Y)
            return {(forest.n_estimators, forest.max_samples) for forest in ranker.forests_}

        assert grown(3000) == grown(2048) == {(60, 2047), (20, 2047)}
        assert grown(1500.5) == {(60, 1500), (20, 1500)}
        assert grown(1000.5) == {(60, 1000), (20, 1000)}
        assert grown(751) == {(45, 1000), (15, 1000)}

    def test_forests_of_labels_look_at_predictions_of_their_label_and_of_four_others(self):
        X, Y = make_rankings(n=60, k=8)
        ranker = RankingForest(20, max_features=None, random_state=0).fit(X, Y)
        p, label = X.shape[1], ranker.oblique_.label_numbers_
        for own, forest in enumerate(ranker.forests_, start=-1):
            split_on = np.flatnonzero(forest.trees_.importance.sum(axis=0))
            appended = label[split_on[split_on >= p] - p]
            assert len(appended) == (0 if own < 0 else 5)
            assert own < 0 or own in appended


class TestPredictions:
    def test_the_consensus_decides_as_its_weight_says(self):
        X, Y = make_rankings(n=60)
        Y[np.arange(60), np.arange(60) % 4] = np.nan
        alone, beside, most = (
            RankingForest(20, prior_weight=weight, random_state=0).fit(X, Y)
            for weight in (0, 0.2, 1e9)
        )
        consensus = alone.consensus_.P
        away = [np.abs(one.predict_pairs(X).P - consensus).mean() for one in (alone, beside, most)]
        assert away[0] > away[1] > away[2]
        np.testing.assert_allclose(most.predict_pairs(X).P, [consensus] * 60, atol=1e-6)

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
        ranker = RankingForest(3, structure="shared", random_state=0).fit(X, Y)
        assert ranker.predict(X[:2]).shape == (2, 300)

    def test_threads_change_nothing(self):
        X, Y = make_rankings(n=60)
        one = RankingForest(20, random_state=0).fit(X, Y)
        two = RankingForest(20, random_state=0, n_jobs=2).fit(X, Y)
        np.testing.assert_array_equal(one.predict_pairs(X).P, two.predict_pairs(X).P)
        np.testing.assert_array_equal(one.held_out_pairs().P, two.held_out_pairs().P)
        assert one.scores_ == two.scores_

    def test_importances_name_the_features_that_count(self):
        X, Y = make_rankings(n=200)
        noisy = np.hstack([X, np.random.default_rng(1).normal(size=(200, 3))])
        importances = RankingForest(20, oblique=False, random_state=0).fit(noisy, Y)
        importances = importances.feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances[:3].min() > importances[3:].max()


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("structure", "auto"),
        ("positions", "expected"),
        ("min_samples", 0),
        ("min_samples", "small"),
        ("marginal_weight", -1),
        ("marginal_weight", "half"),
        ("n_estimators", 0),
        ("n_estimators", "auto"),
        ("marginal_weight", "auto"),
        ("prior_weight", -0.1),
        ("oblique", "maybe"),
        ("max_work", -1),
        ("max_work", "little"),
        ("max_features", 0),
        ("max_features", 2.5),
        ("max_features", "few"),
        ("objective", "l2"),
    ],
)
def test_bad_parameters_are_named(name, bad):
    with pytest.raises((ValueError, TypeError), match=name):
        RankingForest(**{name: bad}).fit([[1.0], [2.0]], [[1, 2], [2, 1]])
