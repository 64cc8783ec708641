"""Means over rows of which some have no value."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from moreplr.metrics._means import mean_of_rows, ratio, share

NAN = np.nan
VALUES = np.array([1.0, NAN, 4.0])


def test_rows_without_a_value_are_left_out():
    assert mean_of_rows(VALUES, None, False) == 2.5
    assert mean_of_rows(VALUES, [2, 100, 1], False) == 2


def test_rows_of_no_weight_do_not_count():
    assert mean_of_rows(VALUES, [1, 1, 0], False) == 1
    assert mean_of_rows(VALUES, [0.2, 0, 0], False) == 1


@pytest.mark.parametrize("weight", [[0, 1, 0], [0, 0, 0]])
def test_where_all_weight_is_on_rows_without_a_value_nothing_is_known(weight):
    with pytest.warns(UndefinedMetricWarning, match="no row has a pair of labels to compare"):
        assert np.isnan(mean_of_rows(VALUES, weight, False))


def test_values_of_rows_come_as_they_are():
    np.testing.assert_array_equal(mean_of_rows(VALUES, [1, 2, 3], True), VALUES)


def test_a_ratio_of_nothing_is_not_a_number():
    found = ratio(np.array([0.0, 3.0, 1.0, 0.0]), np.array([0, 1, 4, 2]))
    np.testing.assert_array_equal(found, [NAN, 3.0, 0.25, 0.0])


def test_shares_add_up_over_rows_before_they_are_divided():
    hits, of = np.array([1, 0, 3]), np.array([1, 2, 3])
    assert share(hits, of, None, "") == pytest.approx(4 / 6)
    assert share(hits, of, [1, 0, 1], "") == 1
    assert share(hits, of, [0.1, 0.1, 0], "") == pytest.approx(1 / 3)


def test_a_share_of_nothing_says_what_is_lacking():
    with pytest.warns(UndefinedMetricWarning, match="undefined, returns NaN: no tie"):
        assert np.isnan(share(np.zeros(2), np.zeros(2), None, "no tie"))
    with pytest.warns(UndefinedMetricWarning, match="no tie"):
        assert np.isnan(share(np.zeros(2), np.array([0, 3]), [1, 0], "no tie"))


def test_warnings_point_to_the_caller_of_a_measure():
    def measures():
        return mean_of_rows(np.array([NAN]), None, False), share(
            np.zeros(1), np.zeros(1), None, ""
        )

    with pytest.warns(UndefinedMetricWarning) as caught:
        measures()
    assert [warning.filename for warning in caught] == [__file__] * 2
