import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moreplr import DummyRanker, NearestNeighborsRanker
from moreplr.datasets import load
from moreplr.metrics import pair_calibration_error, pair_log_loss

NAN = np.nan


def random_pairs(n, k, seed):
    """Probabilities of the three relations, and rankings with gaps."""
    rng = np.random.default_rng(seed)
    P, Q = np.zeros((n, k, k)), np.tile(np.eye(k), (n, 1, 1))
    for i in range(k):
        for j in range(i):
            three = rng.dirichlet([1, 1, 1], n)
            P[:, i, j], P[:, j, i], Q[:, i, j] = three.T
            Q[:, j, i] = Q[:, i, j]
    Y = rng.integers(1, 4, (n, k)).astype(float)
    Y[rng.random((n, k)) < 0.2] = NAN
    return Y, P, Q


def relation(Y, P, Q, row, i, j):
    if Y[row, i] == Y[row, j]:
        return Q[row, i, j]
    return P[row, i, j] if Y[row, i] < Y[row, j] else P[row, j, i]


@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 99))
def test_log_loss_is_the_mean_over_pairs_then_rows(n, k, seed):
    Y, P, Q = random_pairs(n, k, seed)
    for row, found in enumerate(pair_log_loss(Y, (P, Q), per_sample=True)):
        seen = [i for i in range(k) if not np.isnan(Y[row, i])]
        losses = [-np.log(relation(Y, P, Q, row, i, j)) for i in seen for j in seen if i < j]
        assert found == pytest.approx(np.mean(losses) if losses else NAN, nan_ok=True)


@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 99), st.integers(1, 20))
def test_calibration_error_by_the_definition(n, k, seed, n_bins):
    Y, P, Q = random_pairs(n, k, seed)
    bins = [[] for _ in range(n_bins)]
    for row in range(n):
        for i in range(k):
            for j in range(i + 1, k):
                if np.isnan(Y[row, i] + Y[row, j]):
                    continue
                sign = np.sign(Y[row, i] - Y[row, j])
                for p, code in ((P[row, i, j], -1), (Q[row, i, j], 0), (P[row, j, i], 1)):
                    bins[min(int(p * n_bins), n_bins - 1)].append((p, sign == code))
    total = sum(map(len, bins))
    found = pair_calibration_error(Y, (P, Q), n_bins=n_bins)
    if not total:
        assert np.isnan(found)
        return
    expected = sum(abs(sum(p - hit for p, hit in own)) for own in bins) / total
    assert found == pytest.approx(expected)


def test_the_order_of_labels_does_not_matter():
    Y, P, Q = random_pairs(30, 5, 0)
    turned = np.array([3, 1, 4, 0, 2])
    same = (P[:, turned][:, :, turned], Q[:, turned][:, :, turned])
    for measure in (pair_log_loss, pair_calibration_error):
        assert measure(Y[:, turned], same) == pytest.approx(measure(Y, (P, Q)))


def test_weights_count_rows_as_if_repeated():
    Y, P, Q = random_pairs(6, 4, 1)
    Y = np.nan_to_num(Y, nan=2.0)
    weight = np.array([1, 2, 0, 3, 1, 1])
    rows = np.repeat(np.arange(6), weight)
    for measure in (pair_log_loss, pair_calibration_error):
        expected = measure(Y[rows], (P[rows], Q[rows]))
        assert measure(Y, (P, Q), sample_weight=weight) == pytest.approx(expected)


def test_weights_count_by_their_ratios_only():
    Y, P, Q = random_pairs(6, 4, 1)
    weight = np.arange(6) / 1e6
    expected = pair_calibration_error(Y, (P, Q), sample_weight=np.arange(6))
    assert pair_calibration_error(Y, (P, Q), sample_weight=weight) == pytest.approx(expected)


def test_features_make_relations_likelier():
    X, Y = load("wine")
    losses = [
        pair_log_loss(Y[1::2], ranker.fit(X[::2], Y[::2]).predict_pairs(X[1::2]))
        for ranker in (NearestNeighborsRanker(), DummyRanker())
    ]
    assert losses[0] < losses[1] < np.log(3)


def test_a_wrong_certainty_is_finite():
    P, Q = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.array([np.eye(2)])
    assert pair_log_loss([[2, 1]], (P, Q)) == pytest.approx(36, abs=0.1)


def test_certainty_that_comes_true_has_no_calibration_error():
    P, Q = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.array([np.eye(2)])
    assert pair_calibration_error([[1, 2]], (P, Q)) == 0
    assert pair_calibration_error([[2, 1]], (P, Q)) == pytest.approx(2 / 3)


def test_there_are_ten_bins_unless_others_are_wanted():
    Y, P, Q = random_pairs(40, 5, 2)
    found = {n: pair_calibration_error(Y, (P, Q), n_bins=n) for n in (9, 10, 11)}
    assert pair_calibration_error(Y, (P, Q)) == found[10] not in (found[9], found[11])


def test_shapes_are_checked():
    Y, P, Q = random_pairs(3, 4, 0)
    with pytest.raises(ValueError, match="P and Q must have shape"):
        pair_log_loss(Y, (P[:2], Q))
    with pytest.raises(ValueError, match="n_bins"):
        pair_calibration_error(Y, (P, Q), n_bins=0)
