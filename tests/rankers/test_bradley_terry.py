import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import BradleyTerryRanker, DummyRanker
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.metrics import tau_x_score
from moreplr.rankings import dense_ranks

RANKERS = [BradleyTerryRanker()]


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(check):
    check(BradleyTerryRanker())


def votes(k, table):
    """Rankings of two labels each and their weights, from (i, j, wins of i, wins of j, ties)."""
    rows, weights = [], []
    for i, j, *counts in table:
        for ranks, count in zip([(1, 2), (2, 1), (1, 1)], counts, strict=False):
            row = np.full(k, np.nan)
            row[[i, j]] = ranks
            rows.append(row)
            weights.append(count)
    return np.array(rows), np.array(weights, float)


# Davidson (1970), example 2: six brands of chocolate pudding.
PUDDING = [
    *[(0, 1, 19, 22, 16), (0, 2, 16, 19, 12), (1, 2, 19, 19, 10), (0, 3, 18, 23, 13)],
    *[(1, 3, 23, 19, 9), (2, 3, 19, 20, 15), (0, 4, 13, 19, 18), (1, 4, 16, 20, 12)],
    *[(2, 4, 16, 15, 17), (3, 4, 17, 14, 16), (0, 5, 18, 21, 12), (1, 5, 22, 20, 12)],
    *[(2, 5, 13, 18, 10), (3, 5, 14, 19, 18), (4, 5, 11, 21, 12)],
]
# Citations between four journals of statistics (Stigler 1994).
JOURNALS = [
    *[(0, 1, 33, 730), (0, 2, 320, 498), (0, 3, 284, 221)],
    *[(1, 2, 813, 68), (1, 3, 276, 17), (2, 3, 325, 142)],
]


def expanded(k, table):
    """One row for each vote, so that weights do not enter."""
    Y, counts = votes(k, table)
    return np.repeat(Y, counts.astype(int), axis=0)


class TestPrintedExamples:
    def test_davidsons_puddings_as_in_r(self):
        """What the R package PlackettLuce prints, with the mean label as the reference."""
        Y = expanded(6, PUDDING)
        ranker = BradleyTerryRanker(
            ties="common", intercept_alpha=0.0, standard_errors="fisher"
        ).fit(np.zeros((len(Y), 1)), Y)
        estimates = [-0.176581, 0.043664, -0.023617, -0.001295, -0.042726, 0.200555]
        errors = [0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594]
        np.testing.assert_allclose(ranker.intercept_, estimates, atol=2e-4)
        np.testing.assert_allclose(ranker.intercept_error_, errors, atol=2e-4)
        np.testing.assert_allclose(2 * ranker.ties_, -0.291938, atol=2e-4)
        np.testing.assert_allclose(2 * ranker.ties_error_, 0.082499, atol=2e-4)

    def test_stiglers_citations_as_in_r(self):
        """What the R package BradleyTerry2 prints, with the first journal as the reference."""
        Y = expanded(4, [(i, j, b, a) for i, j, a, b in JOURNALS])
        ranker = BradleyTerryRanker(intercept_alpha=1e-6).fit(np.zeros((len(Y), 1)), Y)
        against_first = ranker.intercept_ - ranker.intercept_[0]
        np.testing.assert_allclose(against_first[1:], [-2.9491, -0.4796, 0.2690], atol=2e-3)

    def test_choix_agrees_without_ties(self):
        choix = pytest.importorskip("choix", reason="choix is not installed")
        rng = np.random.default_rng(0)
        games = [tuple(rng.choice(7, 2, replace=False)) for _ in range(300)]
        Y = np.full((len(games), 7), np.nan)
        for row, (winner, loser) in zip(Y, games, strict=True):
            row[[winner, loser]] = 1, 2
        expected = choix.ilsr_pairwise(7, games)
        ranker = BradleyTerryRanker(intercept_alpha=1e-7).fit(np.zeros((300, 1)), Y)
        np.testing.assert_allclose(ranker.intercept_, expected - expected.mean(), atol=1e-3)


def linear_votes(n=3000, k=4, seed=0):
    """Relations drawn from the model itself, two labels a row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1, 5] + [3, 0]
    coef = np.array([[1.0, 0.1], [-1, 0.2], [0, -0.3], [0, 0]])
    S = X @ (coef - coef.mean(axis=0)).T
    Y = np.full((n, k), np.nan)
    for r in range(n):
        i, j = rng.choice(k, 2, replace=False)
        p = np.exp([S[r, i], S[r, j], (S[r, i] + S[r, j]) / 2 - 0.5])
        Y[r, [i, j]] = [(1, 2), (2, 1), (1, 1)][rng.choice(3, p=p / p.sum())]
    return X, Y, coef - coef.mean(axis=0)


class TestEstimates:
    @pytest.mark.parametrize("kind", ["fisher", "rows"])
    def test_the_model_is_found_again_within_its_standard_errors(self, kind):
        X, Y, coef = linear_votes()
        ranker = BradleyTerryRanker(0.0, standard_errors=kind).fit(X, Y)
        away = (ranker.coef_ - coef) / ranker.coef_error_
        assert np.abs(away).max() < 3.5
        assert 0.3 < np.sqrt((away**2).mean()) < 2
        assert np.abs(ranker.intercept_ / ranker.intercept_error_).max() < 3.5
        np.testing.assert_allclose(ranker.ties_, -0.25, atol=4 * ranker.ties_error_.max())

    def test_standard_errors_do_not_depend_on_units(self):
        X, Y, _ = linear_votes(400)
        first, second = (
            BradleyTerryRanker(1.0, standard_errors="fisher").fit(features, Y)
            for features in (X, X * [1, 1000] + [0, 7])
        )
        np.testing.assert_allclose(first.coef_error_, second.coef_error_ * [1, 1000], rtol=1e-3)

    def test_complete_rankings_need_errors_by_rows(self):
        """What the estimates of 100 repetitions spread is what "rows" says."""
        rng = np.random.default_rng(0)
        X, found = np.zeros((80, 1)), {"fisher": [], "rows": []}
        estimates = []
        for _ in range(100):
            utilities = rng.gumbel(size=(80, 5)) + np.arange(5) * 0.2
            Y = (-utilities).argsort(axis=1).argsort(axis=1)
            for kind, errors in found.items():
                ranker = BradleyTerryRanker(ties="common", standard_errors=kind).fit(X, Y)
                errors.append(ranker.intercept_error_)
            estimates.append(ranker.intercept_)
        spread = np.std(estimates, axis=0).mean()
        assert np.mean(found["rows"]) == pytest.approx(spread, rel=0.1)
        assert np.mean(found["fisher"]) < 0.85 * spread

    def test_identification(self):
        X, Y = make_rankings()
        ranker = BradleyTerryRanker().fit(X, Y)
        np.testing.assert_allclose(ranker.coef_.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(ranker.intercept_.sum(), 0, atol=1e-9)
        np.testing.assert_allclose(
            ranker.predict_scores(X), X @ ranker.coef_.T + ranker.intercept_
        )

    def test_the_solution_is_a_minimum(self):
        X, Y = make_rankings(40, 3)
        ranker = BradleyTerryRanker(0.5, intercept_alpha=0.1).fit(X, Y)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        weights = ranker.coef_ * X.std(axis=0)
        intercept = ranker.intercept_ + ranker.coef_ @ X.mean(axis=0)

        def loss(parameters):
            W, b, t = parameters[:9].reshape(3, 3), parameters[9:12], parameters[12:]
            total = (0.5 * (W**2).sum() + 0.1 * (b**2).sum() + 0.1 * (t**2).sum()) / 2
            for s, y in zip(Z @ W.T + b, Y, strict=True):
                for i in range(3):
                    for j in range(i):
                        p = np.exp([s[i], s[j], (s[i] + s[j]) / 2 + t[i] + t[j]])
                        seen = 0 if y[i] < y[j] else 1 if y[j] < y[i] else 2
                        total -= np.log(p[seen] / p.sum())
            return total

        solution = np.concatenate([weights.ravel(), intercept, ranker.ties_])
        np.testing.assert_allclose(approx_fprime(solution, loss, 1e-6), 0, atol=2e-3)

    def test_scale_of_weights_does_not_matter(self):
        X, Y = make_rankings()
        weight = np.random.default_rng(0).random(len(X)) + 0.1
        first, second = (
            BradleyTerryRanker().fit(X, Y, sample_weight=weight * scale).coef_
            for scale in (1.0, 1e20)
        )
        np.testing.assert_allclose(first, second, rtol=1e-6)

    def test_ridge_follows_the_signal(self):
        X, Y = make_rankings(200)
        noise = np.random.default_rng(0).permutation(Y)
        assert BradleyTerryRanker().fit(X, Y).alpha_ < BradleyTerryRanker().fit(X, noise).alpha_


class TestInputs:
    def test_sparse_features_are_the_same_as_dense_ones(self):
        X, Y = make_rankings()
        X[np.abs(X) < 0.7] = 0
        dense = BradleyTerryRanker(standard_errors="fisher").fit(X, Y)
        thin = BradleyTerryRanker(standard_errors="fisher").fit(sparse.csr_array(X), Y)
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)
        np.testing.assert_allclose(thin.coef_error_, dense.coef_error_, atol=1e-4)
        np.testing.assert_array_equal(thin.predict(sparse.csc_matrix(X)), dense.predict(X))

    def test_a_missing_feature_counts_as_its_mean(self):
        X, Y = make_rankings()
        X[::5, 1] = np.nan
        filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        ranker = BradleyTerryRanker(1.0).fit(X, Y)
        np.testing.assert_allclose(ranker.predict_scores(X), ranker.predict_scores(filled))
        with pytest.raises(ValueError, match="sparse features can't hold NaN"):
            ranker.fit(sparse.csr_array(X), Y)

    def test_without_features_it_predicts_the_same_for_all(self):
        _, Y = make_rankings()
        X = np.full((len(Y), 1), 3.0)
        ranker = BradleyTerryRanker().fit(X, Y)
        assert len(set(ranker.predict_text(X))) == 1
        np.testing.assert_array_equal(ranker.coef_, 0)
        floor = DummyRanker().fit(X, Y)
        assert ranker.score(X, Y) == pytest.approx(floor.score(X, Y), abs=0.05)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"alpha": -1}, "alpha must be a finite number of at least 0, got -1"),
            ({"alphas": ()}, "alphas is empty"),
            ({"n_folds": 1}, "n_folds must be an integer of at least 2"),
            ({"ties": "none"}, "ties must be one of"),
            ({"standard_errors": "yes"}, "standard_errors must be one of"),
            ({"intercept_alpha": float("nan")}, "intercept_alpha must be a finite number"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            BradleyTerryRanker(**parameters).fit(*make_rankings())


class TestHardCases:
    def finite(self, X, Y):
        ranker = BradleyTerryRanker(standard_errors="fisher").fit(X, Y)
        for value in vars(ranker).values():
            assert (
                not isinstance(value, np.ndarray)
                or value.dtype == object
                or (np.isfinite(value).all())
            )
        assert np.isfinite(ranker.predict_pairs(X).P).all()
        return ranker

    def test_a_label_that_is_never_ranked_has_the_mean_utility(self):
        X, Y = make_rankings()
        Y[:, 2] = np.nan
        ranker = self.finite(X, Y)
        np.testing.assert_allclose(ranker.predict_scores(X)[:, 2], 0, atol=1e-6)

    def test_a_label_that_is_always_last(self):
        X, Y = make_rankings()
        Y[:, 3] = Y.max() + 1
        ranker = self.finite(X, Y)
        assert (ranker.predict_scores(X).argmin(axis=1) == 3).all()

    def test_one_row(self):
        ranker = self.finite([[1.0, 2.0]], ["a > b ~ c"])
        assert ranker.predict_text([[0.0, 0.0]]) == ["a > b ~ c"]

    def test_all_tied(self):
        X, Y = make_rankings()
        assert (self.finite(X, np.ones_like(Y)).predict_pairs(X).Q > 0.9).all()

    def test_no_ties(self):
        X, _ = make_rankings()
        Y = X.argsort(axis=1).argsort(axis=1)
        ranker = self.finite(X, Y)
        off = ~np.eye(3, dtype=bool)
        assert ranker.predict_pairs(X).Q[:, off].max() < 0.01

    def test_many_labels(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        Y = dense_ranks(np.round(X @ rng.normal(size=(2, 300))))
        ranker = BradleyTerryRanker().fit(X, Y)
        assert tau_x_score(Y[:5], ranker.predict(X[:5])) > 0.5

    def test_frames_name_labels(self):
        X, Y = make_rankings()
        ranker = BradleyTerryRanker().fit(X, pd.DataFrame(Y, columns=list("wxyz")))
        assert ranker.labels_.tolist() == list("wxyz")
