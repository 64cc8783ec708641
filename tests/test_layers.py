from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.layers import LAYERS, EpsilonCloseness, ExpectedTau, PredictionInterval, RoundRank
from moreplr.rankings import dense_ranks, to_text

shapes = st.tuples(st.integers(1, 4), st.integers(1, 7))
outputs = shapes.flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-5, 30, allow_nan=False))
)
with_widths = shapes.flatmap(
    lambda shape: st.tuples(
        arrays(float, shape, elements=st.integers(0, 40).map(lambda n: n / 4)),
        arrays(float, shape, elements=st.integers(0, 8).map(lambda n: n / 8)),
    )
)


def by_cascade(row, tied):
    """Transitive closure of `tied`, buckets in the order of their outputs: the paper's text."""
    k = len(row)
    bucket = list(range(k))
    for _ in range(k):
        for i in range(k):
            for j in range(k):
                if tied(i, j):
                    bucket[i] = bucket[j] = min(bucket[i], bucket[j])
    means = {b: np.mean([row[i] for i in range(k) if bucket[i] == b]) for b in bucket}
    order = sorted(set(bucket), key=lambda b: means[b])
    return [order.index(b) + 1 for b in bucket]


class TestRoundRank:
    def test_the_papers_figure(self):
        ranks = RoundRank().decode([[1.2, 2.2, 1.5, 1.3, 2.8]])
        names = ["Hawaii", "Bali", "Paris", "Tokyo", "Miami"]
        # The figure orders by 1.2, 1.3 | 1.5 | 2.2 | 2.8; rounding puts Paris with Bali.
        assert to_text(ranks, names) == ["Hawaii ~ Tokyo > Bali ~ Paris > Miami"]

    def test_halves(self):
        row = [[0.5, 1.5, 2.5, 3.5]]
        np.testing.assert_array_equal(RoundRank().decode(row), [[1, 2, 3, 4]])
        np.testing.assert_array_equal(RoundRank(halves="even").decode(row), [[1, 2, 2, 3]])

    @given(outputs)
    def test_ranks_of_rounded_outputs(self, Y):
        np.testing.assert_array_equal(RoundRank().decode(Y), dense_ranks(np.floor(Y + 0.5)))


class TestPredictionInterval:
    @given(with_widths, st.sampled_from([0, 0.5, 1, 2]))
    def test_cascade_by_brute_force(self, case, q):
        Y, widths = case
        ranks = PredictionInterval(q).decode(Y, widths)
        for row, half, rank in zip(Y, widths, ranks, strict=True):
            low, high = row - q * half, row + q * half

            def overlap(i, j, low=low, high=high):
                return low[i] <= high[j] and low[j] <= high[i]

            # Buckets never interleave, so any member's lower end gives their order.
            assert by_cascade(low, overlap) == rank.tolist()

    def test_touching_intervals_tie(self):
        np.testing.assert_array_equal(
            PredictionInterval().decode([[1.0, 2.0]], [[0.5, 0.5]]), [[1, 1]]
        )

    def test_unbounded_interval_ties_everything(self):
        np.testing.assert_array_equal(
            PredictionInterval().decode([[1.0, 9.0, 2.0]], [[0.1, np.inf, 0.1]]), [[1, 1, 1]]
        )

    @pytest.mark.parametrize("widths", [None, [[1.0]], [[-1.0, 0.0]], [[np.nan, 0.0]]])
    def test_bad_half_widths(self, widths):
        with pytest.raises(ValueError, match=r"half.widths"):
            PredictionInterval().decode([[1.0, 2.0]], widths)


class TestEpsilonCloseness:
    @settings(max_examples=200)
    @given(with_widths, st.sampled_from([0, 0.02, 0.1, 0.5, 1]))
    def test_cascade_by_brute_force(self, case, epsilon):
        Y, _ = case
        for row, rank in zip(Y, EpsilonCloseness(epsilon).decode(Y), strict=True):
            span = np.ptp(row)

            def close(i, j, row=row, span=span):
                gap = abs(row[i] - row[j])
                return gap == 0 or gap / span < epsilon

            # Through neighbours only: a chain of close labels passes through all in between.
            assert by_cascade(row, close) == rank.tolist()

    def test_strictly_below_epsilon(self):
        row = [[0.0, 0.25, 1.0]]
        np.testing.assert_array_equal(EpsilonCloseness(0.25).decode(row), [[1, 2, 3]])
        np.testing.assert_array_equal(EpsilonCloseness(0.26).decode(row), [[1, 1, 2]])

    def test_no_epsilon_gives_a_total_order_but_for_equal_outputs(self):
        np.testing.assert_array_equal(EpsilonCloseness(0).decode([[3.0, 1.0, 3.0]]), [[2, 1, 2]])


@pytest.mark.parametrize("layer", LAYERS.values())
class TestAllLayers:
    def test_equal_outputs_give_one_bucket(self, layer):
        ranks = layer().decode(np.full((3, 4), 2.2), np.zeros((3, 4)))
        np.testing.assert_array_equal(ranks, np.ones((3, 4)))

    def test_one_label(self, layer):
        np.testing.assert_array_equal(layer().decode([[7.0]], [[0.0]]), [[1.0]])

    def test_no_rows(self, layer):
        assert layer().decode(np.empty((0, 3)), np.empty((0, 3))).shape == (0, 3)

    def test_outputs_are_a_table(self, layer):
        with pytest.raises(ValueError, match=r"must be two-dimensional, got shape \(3,\)"):
            layer().decode([1.0, 2.0, 3.0], np.zeros(3))

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_outputs_that_are_not_finite(self, layer, bad):
        with pytest.raises(ValueError, match="row 1, label 0: the regressor gave"):
            layer().decode([[1.0, 2.0], [bad, 1.0]], np.zeros((2, 2)))

    @given(outputs)
    def test_dense_and_in_the_order_of_the_outputs(self, layer, Y):
        ranks = layer().decode(Y, np.full(Y.shape, 0.25))
        np.testing.assert_array_equal(ranks, dense_ranks(ranks))
        for row, rank in zip(Y, ranks, strict=True):
            order = np.argsort(row)
            assert (np.diff(rank[order]) >= 0).all()


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (RoundRank(halves="down"), "halves"),
        (PredictionInterval(q=-1), "q"),
        (PredictionInterval(q=float("nan")), "q"),
        (EpsilonCloseness(1.5), "epsilon"),
        (EpsilonCloseness(float("nan")), "epsilon"),
    ],
)
def test_bad_parameters_are_named(layer, name):
    with pytest.raises(ValueError, match=name):
        layer.decode([[1.0, 2.0]], [[0.0, 0.0]])


@pytest.mark.parametrize(
    ("layer", "defaults"),
    [
        (RoundRank(), {"halves": "up"}),
        (PredictionInterval(), {"q": 1}),
        (EpsilonCloseness(), {"epsilon": 0.03}),
        (ExpectedTau(), {"q": 10, "tie": 0.5}),
    ],
)
def test_defaults(layer, defaults):
    assert layer.get_params() == defaults


class TestExpectedTau:
    def test_it_is_the_best_order_for_normal_errors(self):
        """All bucket orders of four labels, each compared with positions that are drawn."""
        rng = np.random.default_rng(0)
        orders = np.unique(dense_ranks(np.array([*product(range(4), repeat=4)], float)), axis=0)
        ahead_or_tied = np.where(orders[:, :, None] <= orders[:, None, :], 1, -1)
        off = ~np.eye(4, dtype=bool)
        for _ in range(5):
            mean, width = rng.uniform(1, 4, (1, 4)), rng.uniform(0.1, 1, (1, 4))
            drawn = mean + width * rng.normal(size=(20_000, 4))
            seen = np.where(drawn[:, :, None] < drawn[:, None, :] + 0.5, 1, -1).mean(axis=0)
            agreement = (ahead_or_tied * seen)[:, off].mean(axis=1)
            ranks = ExpectedTau(q=1).decode(mean, width)[0]
            (own,) = agreement[np.all(orders == ranks, axis=1)]
            assert own >= agreement.max() - 0.005

    def test_without_spread_the_gaps_decide(self):
        ranks = ExpectedTau().decode([[1.0, 1.4, 3.0, 3.6]], np.zeros((1, 4)))
        np.testing.assert_array_equal(ranks, [[1, 1, 2, 3]])

    def test_wide_errors_around_equal_outputs_tie_nothing_they_should_not(self):
        """Positions that may be anywhere are in some order: a tie is the less probable."""
        sharp = ExpectedTau(q=1).decode([[1.0, 1.2]], [[0.1, 0.1]])
        np.testing.assert_array_equal(sharp, [[1.0, 1.0]])
        vague = ExpectedTau(q=1).decode([[1.0, 3.0]], [[2.0, 2.0]])
        np.testing.assert_array_equal(vague, [[1.0, 2.0]])

    @pytest.mark.parametrize("parameters", [{"q": -1}, {"q": np.nan}, {"q": "a"}, {"tie": np.inf}])
    def test_bad_parameters(self, parameters):
        with pytest.raises(ValueError, match="must be a finite number of at least 0"):
            ExpectedTau(**parameters).decode([[1.0, 2.0]], [[1.0, 1.0]])

    def test_one_label(self):
        np.testing.assert_array_equal(ExpectedTau().decode([[3.0]], [[1.0]]), [[1.0]])
