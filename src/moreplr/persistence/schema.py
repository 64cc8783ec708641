"""A small language for what the attributes of a class may hold.

A check is a function of a value and of the sizes that are known so far; it raises `ValueError`.
A size has a name, such as "n" for rows, and is known from where it appears first: arrays that
name the same size must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

Sizes = dict[str, int]
Check = Callable[[Any, Sizes], None]
Size = str | int | None

_LARGEST = 2**53
_MOST_JOBS = 1024


def _same_size(name: Size, value: int, sizes: Sizes) -> bool:
    if name is None:
        return True
    return value == (name if isinstance(name, int) else sizes.setdefault(name, value))


def _shown(value: Any) -> str:
    """A value for a message; long values are named by their type."""
    if value is None or isinstance(value, str | int | float):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"


def array(kinds: str, *shape: Size, least: float | None = None, below: Size = None) -> Check:
    """An array of one of the types, such as "f8 f4" or "i" for any signed integer.

    `least` and `below` bound all its values; `below` may be the name of a size.

    Examples
    --------
    >>> sizes = {}
    >>> array("f8", "n", "p")(np.zeros((3, 2)), sizes)
    >>> sizes
    {'n': 3, 'p': 2}
    """
    wanted = tuple(kinds.split())

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not np.ndarray:
            raise ValueError(f"must be an array, not of type {type(value).__name__}")
        if value.dtype.kind not in wanted and value.dtype.str[1:] not in wanted:
            raise ValueError(f"must be an array of {kinds}, not of {value.dtype}")
        fits = value.ndim == len(shape)
        if not fits or not all(map(_same_size, shape, value.shape, [sizes] * len(shape))):
            named = {name: sizes.get(name) for name in shape if isinstance(name, str)}
            raise ValueError(f"must have shape {shape} with {named}, not {value.shape}")
        if value.size and least is not None and not value.min() >= least:
            raise ValueError(f"must not be less than {least}")
        top = sizes.get(below, 0) if isinstance(below, str) else below
        if value.size and top is not None and not value.max() < top:
            raise ValueError(f"must be less than {top}")

    return check


def rows(kinds: str, *shape: Size) -> Check:
    """An array whose rows lie one after the other in memory, as kernels with pointers need."""
    plain = array(kinds, *shape)

    def check(value: Any, sizes: Sizes) -> None:
        plain(value, sizes)
        if not value.flags.c_contiguous:
            raise ValueError("must lie in memory row by row")

    return check


def integer(least: int = -_LARGEST, most: int = _LARGEST, size: Size = None) -> Check:
    """A whole number; with `size`, the size of that name."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise ValueError(f"must be an integer, got {_shown(value)}")
        if not least <= value <= most:
            raise ValueError(f"must be an integer from {least} to {most}, got {_shown(value)}")
        if not _same_size(size, int(value), sizes):
            raise ValueError(f"is {value}, but elsewhere {size} is {sizes.get(str(size))}")

    return check


def number(value: Any, sizes: Sizes) -> None:
    """An integer or a floating point number."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise ValueError(f"must be a number, got {_shown(value)}")


def flag(value: Any, sizes: Sizes) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"must be True or False, got {_shown(value)}")


def nothing(value: Any, sizes: Sizes) -> None:
    """None."""
    if value is not None:
        raise ValueError(f"must be None, got {_shown(value)}")


def anything(value: Any, sizes: Sizes) -> None:
    """Any value: for attributes that only `fit` uses, after checks of its own."""


def text(*choices: str) -> Check:
    """A text, one of the choices if there are some."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, str) or (choices and value not in choices):
            raise ValueError(f"must be {' or '.join(choices) or 'a text'}, got {_shown(value)}")

    return check


def either(*checks: Check) -> Check:
    """What any of the checks accepts; sizes are those of the first that does."""

    def check(value: Any, sizes: Sizes) -> None:
        faults = []
        for one in checks:
            trial = dict(sizes)
            try:
                one(value, trial)
            except ValueError as fault:
                faults.append(str(fault))
            else:
                sizes.update(trial)
                return
        raise ValueError(", or ".join(faults))

    return check


def optional(check: Check) -> Check:
    """None, or what the check accepts."""
    return either(nothing, check)


def instance(*classes: type) -> Check:
    """An object of one of the classes, or of a class that derives from one."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, classes):
            names = " or ".join(cls.__name__ for cls in classes)
            raise ValueError(f"must be a {names}, not a {type(value).__name__}")

    return check


def items(check: Check, length: Size = None, kinds: tuple[type, ...] = (list,)) -> Check:
    """A list whose items the check accepts."""

    def check_all(value: Any, sizes: Sizes) -> None:
        if type(value) not in kinds:
            raise ValueError(f"must be a list, not a {type(value).__name__}")
        if not _same_size(length, len(value), sizes):
            raise ValueError(f"has {len(value)} items; {length} is {sizes.get(str(length))}")
        for item in value:
            check(item, sizes)

    return check_all


def record(*checks: Check, kinds: Iterable[type] = (tuple,)) -> Check:
    """A tuple, or a tuple with names, with a check for each of its items."""
    known = tuple(kinds)

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) not in known or len(value) != len(checks):
            raise ValueError(f"must be a tuple of {len(checks)}, got a {type(value).__name__}")
        for one, item in zip(checks, value, strict=True):
            one(item, sizes)

    return check


def mapping(keys: Check, values: Check) -> Check:
    """A dict whose keys and values the checks accept."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise ValueError(f"must be a dict, not a {type(value).__name__}")
        for key, item in value.items():
            keys(key, sizes)
            values(item, sizes)

    return check


# Parameters that many estimators have.
JOBS = optional(integer(-_MOST_JOBS, _MOST_JOBS))
SEED = optional(either(integer(0), instance(np.random.RandomState)))
NAMES = array("O", None)
