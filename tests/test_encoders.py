from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils.validation import check_is_fitted

from moreplr.encoders import METHODS, RankEncoder, encode
from moreplr.rankings import dense_ranks, from_buckets

NAN = float("nan")

rankings = st.tuples(st.integers(1, 4), st.integers(1, 7)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([1.0, 2.0, 5.5, -3.0, NAN]))
)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("dense", [1, 2, 2, 3]),
        ("standard", [1, 2, 2, 4]),
        ("modified", [1, 3, 3, 4]),
        ("fractional", [1, 2.5, 2.5, 4]),
    ],
)
def test_the_appendix(method, expected):
    Y, _ = from_buckets([[["u1"], ["u2", "u3"], ["u4"]]])
    np.testing.assert_array_equal(encode(Y, method), [expected])


def by_the_equations(row, method):
    """Equations 6 to 9, one label at a time."""
    ranked = [value for value in row if not np.isnan(value)]
    out = []
    for value in row:
        if np.isnan(value):
            out.append(NAN)
            continue
        better = [other for other in ranked if other < value]
        bucket = ranked.count(value)
        out.append(
            {
                "dense": 1 + len(set(better)),
                "standard": 1 + len(better),
                "modified": len(better) + bucket,
                "fractional": len(better) + 1 + (bucket - 1) * 0.5,
            }[method]
        )
    return out


@pytest.mark.parametrize("method", METHODS)
@given(Y=rankings)
def test_equations(method, Y):
    np.testing.assert_array_equal(encode(Y, method), [by_the_equations(row, method) for row in Y])


@pytest.mark.parametrize("method", METHODS)
@given(st.permutations(range(6)))
def test_all_agree_on_total_orders(method, order):
    np.testing.assert_array_equal(encode([order], method), [np.array(order) + 1.0])


@pytest.mark.parametrize("method", METHODS)
@given(Y=rankings)
def test_order_and_gaps_survive(method, Y):
    encoded = encode(Y, method)
    np.testing.assert_array_equal(dense_ranks(encoded), dense_ranks(Y))


def test_the_papers_second_customer_has_observed_positions():
    assert encode([[2, 1, NAN, NAN, 5]])[0, [0, 1, 4]].tolist() == [2, 1, 3]


def test_given_positions_stand_as_they_are():
    Y = np.array([[2, 1, NAN, 5.0]])
    np.testing.assert_array_equal(encode(Y, "modified", positions="given"), Y)


def test_expected_positions_are_the_mean_over_all_ways_to_have_lost_labels():
    k, m = 6, 3
    for place in range(m):
        full = [sorted(kept)[place] + 1 for kept in combinations(range(k), m)]
        Y = np.full((1, k), NAN)
        Y[0, :m] = [10, 20, 30]
        assert encode(Y, positions="expected")[0, place] == pytest.approx(np.mean(full))


@pytest.mark.parametrize("method", METHODS)
def test_expected_positions_of_complete_rankings_are_the_observed_ones(method):
    Y = [[1, 2, 2, 5], [1, 1, 1, 1]]
    np.testing.assert_array_equal(encode(Y, method, "expected"), encode(Y, method))


def test_an_encoder_needs_no_fit():
    check_is_fitted(RankEncoder())


def test_encoder_object_does_what_the_function_does():
    Y = [[1, 1, 3]]
    np.testing.assert_array_equal(
        RankEncoder("modified").fit(Y).transform(Y), encode(Y, "modified")
    )


@pytest.mark.parametrize("bad", [{"method": "Dense"}, {"positions": "all"}])
def test_bad_names_are_refused(bad):
    (name,) = bad.values()
    with pytest.raises(ValueError, match=repr(name)):
        encode([[1, 2]], **bad)
    with pytest.raises(ValueError, match=repr(name)):
        RankEncoder(**bad).fit([[1, 2]])
