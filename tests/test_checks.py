"""The checks of rankers find what they are for: each of these rankers fails the one it should."""

import numpy as np
import pytest

from moreplr import DummyRanker, NearestNeighborsRanker, checks


class Backwards(NearestNeighborsRanker):
    def predict(self, X, **options):
        return 5 - super().predict(X, **options)


class Gappy(NearestNeighborsRanker):
    def predict(self, X, **options):
        return 2 * super().predict(X, **options)


class Forgetful(NearestNeighborsRanker):
    """Takes positions for what they are in numbers."""

    def fit(self, X, y, sample_weight=None):
        y = np.asarray(y, float)
        return super().fit(X, np.where(y > 3, 0, y) if y.ndim == 2 else y, sample_weight)


class Silent(NearestNeighborsRanker):
    def fit(self, X, y, sample_weight=None):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(X, y, sample_weight)


class Generous(NearestNeighborsRanker):
    """Takes whatever comes."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError:
            return self


class Untidy(NearestNeighborsRanker):
    def fit(self, X, y, sample_weight=None):
        np.asarray(y)[:1] = 1.0
        return super().fit(X, y, sample_weight)


class Random(NearestNeighborsRanker):
    def predict(self, X, **options):
        found = super().predict(X, **options)
        return np.random.default_rng().permuted(found, axis=1)


class Splitter(NearestNeighborsRanker):
    """Knows no ties."""

    def predict(self, X, **options):
        return super().predict(X, total_order=True)


class Units(NearestNeighborsRanker):
    """Weights below two hardly count."""

    def fit(self, X, y, sample_weight=None):
        if sample_weight is not None:
            sample_weight = np.where(sample_weight < 2, 1e-9, 1.0)
        return super().fit(X, y, sample_weight)


class Tied(DummyRanker):
    def predict(self, X, **options):
        return np.ones_like(super().predict(X, **options))


@pytest.mark.parametrize(
    ("check", "ranker"),
    [
        (checks.check_learns, Backwards(5)),
        (checks.check_predicts_dense_ranks, Gappy(5)),
        (checks.check_only_order_counts, Forgetful(5)),
        (checks.check_unranked_rows, Silent(5)),
        (checks.check_nothing_compared, Generous(5)),
        (checks.check_nothing_ranked, Generous(5)),
        (checks.check_different_lengths, Generous(5)),
        (checks.check_all_tied, Splitter(5)),
        (checks.check_same_seed_same_result, Random(5)),
        (checks.check_threads_share_a_model, Random(5)),
        (checks.check_input_untouched, Untidy(5)),
        (checks.check_scale_of_weights, Units(5, weights="uniform")),
        (checks.check_no_ties_from_total_orders, Tied()),
    ],
    ids=lambda part: getattr(part, "__name__", type(part).__name__),
)
def test_a_fault_is_found(check, ranker):
    check(NearestNeighborsRanker(5))  # which has none
    with pytest.raises((AssertionError, ValueError)):
        check(ranker)


def test_made_rankings_follow_from_the_features_and_tie():
    X, Y = checks.make_rankings(200, 5, seed=3)
    assert (X.shape, Y.shape) == ((200, 3), (200, 5))
    assert NearestNeighborsRanker(5).fit(X[:100], Y[:100]).score(X[100:], Y[100:]) > 0.5
    assert (Y.max(axis=1) < 5).any()
    np.testing.assert_array_equal(Y, checks.make_rankings(200, 5, seed=3)[1])


def test_every_check_is_in_the_list():
    named = {name for name in vars(checks) if name.startswith("check_")}
    assert {check.__name__ for check in checks.RANKER_CHECKS} == named
