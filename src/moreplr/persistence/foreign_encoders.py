"""What files may hold of scikit-learn's one-hot encoder.

It writes codes of categories into a sparse matrix, whose conversion to a dense one trusts them: a
category that is found at a place beyond the columns would be written outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from moreplr.persistence.registry import Spec
from moreplr.persistence.schema import (
    Sizes,
    anything,
    array,
    flag,
    instance,
    integer,
    items,
    optional,
)

_CODES = items(optional(array("i", None, least=0)), "p")


def _dropped(value: Any, sizes: Sizes) -> None:
    array("O", "p")(value, sizes)
    for one in value:
        optional(integer(0))(one, sizes)


def _check_one_hot(encoder: Any) -> None:
    nothing: list[Any] = [None] * len(encoder.categories_)
    rare, codes = nothing, nothing
    if encoder._infrequent_enabled:
        rare, codes = encoder._infrequent_indices, encoder._default_to_infrequent_mappings
    dropped = encoder._drop_idx_after_grouping
    if dropped is None:
        dropped = nothing
    for feature, count in enumerate(encoder._n_features_outs):
        _check_order(encoder.categories_[feature])
        size = _grouped_size(len(encoder.categories_[feature]), rare[feature], codes[feature])
        one = dropped[feature]
        if one is not None and not one < size:
            raise ValueError("a dropped category is not there")
        if count != size - (one is not None):
            raise ValueError("_n_features_outs must count the categories")


def _check_order(categories: Any) -> None:
    """Refuse numbers that bisection would find at a wrong place."""
    if categories.dtype.kind in "UO":
        return
    numbers = categories.astype(float)
    if len(numbers) and np.isnan(numbers[-1]):
        numbers = numbers[:-1]
    if not (np.diff(numbers) > 0).all():
        raise ValueError("categories_ must be in rising order")


def _grouped_size(size: int, rare: Any, codes: Any) -> int:
    """How many categories there are if the rare ones count as one."""
    if rare is None and codes is None:
        return size
    grouped = size - len(rare) + 1
    if len(codes) != size or codes.max(initial=0) >= grouped or rare.max(initial=0) >= size:
        raise ValueError("infrequent categories are not those of the feature")
    return grouped


ONE_HOT = Spec(
    "sklearn.OneHotEncoder",
    OneHotEncoder,
    {
        "feature_name_combiner": anything,
        "dtype": instance(type),
        "n_features_in_": integer(1, size="p"),
        "categories_": items(array("b i u f U O", None), "p"),
        "_infrequent_enabled": flag,
        "drop_idx_": optional(_dropped),
        "_drop_idx_after_grouping": optional(_dropped),
        "_n_features_outs": items(integer(0), "p"),
    },
    optional={"_infrequent_indices": _CODES, "_default_to_infrequent_mappings": _CODES},
    also=_check_one_hot,
)
