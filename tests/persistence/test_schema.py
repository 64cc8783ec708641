"""The language of checks accepts what it should, and says what is wrong with the rest."""

from __future__ import annotations

import numpy as np
import pytest

from moreplr.persistence.schema import (
    JOBS,
    SEED,
    array,
    either,
    flag,
    instance,
    integer,
    items,
    mapping,
    number,
    optional,
    record,
    rows,
    text,
)

MATRIX = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (array("f8", "n", "p"), MATRIX),
        (array("i u", None, least=0, below=5), np.array([0, 4])),
        (rows("f8", 3, None), MATRIX),
        (integer(0, 5), np.int64(3)),
        (number, np.float32(1)),
        (flag, np.True_),
        (text("a", "b"), "b"),
        (either(number, text()), "x"),
        (optional(number), None),
        (instance(int, str), "x"),
        (items(number, 2), [1, 2]),
        (record(number, text()), (1, "a")),
        (mapping(text(), number), {"a": 1}),
        (JOBS, -1),
        (SEED, np.random.RandomState(0)),
    ],
)
def test_what_fits_is_accepted(check, value):
    check(value, {})


@pytest.mark.parametrize(
    ("check", "value", "says"),
    [
        (array("f8", "n"), [1.0], "must be an array, not of type list"),
        (array("f8", "n"), MATRIX.view(np.matrix), "must be an array"),
        (array("f8", "n"), np.zeros(3, "f4"), "array of f8, not of float32"),
        (array("f8", "n", "n"), MATRIX, "must have shape"),
        (array("i", None, least=0), np.array([-1]), "not be less than 0"),
        (array("i", None, below=3), np.array([3]), "must be less than 3"),
        (array("f", None, least=0), np.array([np.nan]), "not be less than 0"),
        (rows("f8", None, None), MATRIX.T, "row by row"),
        (integer(0, 5), 6, "from 0 to 5, got 6"),
        (integer(), True, "integer"),
        (integer(), 1.0, "integer"),
        (number, True, "number"),
        (number, MATRIX, "got a ndarray"),
        (flag, 1, "True or False"),
        (text("a"), "b", "must be a, got 'b'"),
        (text(), 1, "a text"),
        (optional(number), "x", "must be None, got 'x', or must be a number"),
        (instance(int), "x", "must be a int, not a str"),
        (items(number), (1,), "must be a list"),
        (items(number, 2), [1], "has 1 items"),
        (items(number), ["x"], "must be a number"),
        (record(number), (1, 2), "a tuple of 1"),
        (mapping(text(), number), {1: 1}, "a text"),
        (JOBS, 10**6, "1024"),
        (SEED, -1, "integer from 0"),
    ],
)
def test_what_does_not_fit_is_refused(check, value, says):
    with pytest.raises(ValueError, match=says):
        check(value, {})


def test_sizes_of_the_same_name_must_agree():
    sizes = {}
    array("f8", "n", "p")(MATRIX, sizes)
    integer(size="p")(2, sizes)
    with pytest.raises(ValueError, match="is 4, but elsewhere n is 3"):
        integer(size="n")(4, sizes)
    with pytest.raises(ValueError, match="must have shape"):
        array("f8", "n")(np.zeros(4), sizes)


def test_a_size_of_an_alternative_that_failed_is_forgotten():
    sizes = {}
    either(array("f8", "n", 9), array("f8", None, "n"))(MATRIX, sizes)
    assert sizes == {"n": 2}
