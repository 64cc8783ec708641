"""What files may hold of scikit-learn's encoders of categories.

The one-hot encoder writes codes into a sparse matrix, whose conversion to a dense one trusts
them: a category that is found at a place beyond the columns would be written outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from moreplr.persistence.registry import Spec
from moreplr.persistence.schema import (
    Sizes,
    anything,
    array,
    flag,
    instance,
    integer,
    items,
    mapping,
    optional,
)

_CATEGORIES = array("b i u f U O", None)
_CODES = optional(array("i", None, least=0))
_ENCODER = {
    "dtype": instance(type),
    "n_features_in_": integer(1, size="p"),
    "categories_": items(_CATEGORIES, "p"),
    "_infrequent_enabled": flag,
}
_GROUPS = {
    "_infrequent_indices": items(_CODES, "p"),
    "_default_to_infrequent_mappings": items(_CODES, "p"),
}


def _dropped(value: Any, sizes: Sizes) -> None:
    array("O", "p")(value, sizes)
    for one in value:
        optional(integer(0))(one, sizes)


def _grouped_sizes(encoder: Any) -> list[int]:
    """The number of categories of each feature, infrequent ones counted as one."""
    nobody: list[Any] = [None] * len(encoder.categories_)
    rare, codes = nobody, nobody
    if encoder._infrequent_enabled:
        rare, codes = encoder._infrequent_indices, encoder._default_to_infrequent_mappings
    return [_grouped_size(*one) for one in zip(encoder.categories_, rare, codes, strict=True)]


def _grouped_size(categories: Any, rare: Any, codes: Any) -> int:
    if categories.dtype.kind not in "UO":  # which are found by bisection
        numbers = categories.astype(float)
        if len(numbers) and np.isnan(numbers[-1]):
            numbers = numbers[:-1]
        if not (np.diff(numbers) > 0).all():
            raise ValueError("categories_ must be in rising order")
    size = len(categories)
    if rare is None and codes is None:
        return size
    grouped = size - len(rare) + 1
    if len(codes) != size or codes.max(initial=0) >= grouped or rare.max(initial=0) >= size:
        raise ValueError("infrequent categories are not those of the feature")
    return grouped


def _check_one_hot(encoder: Any) -> None:
    sizes = _grouped_sizes(encoder)
    dropped = encoder._drop_idx_after_grouping
    if dropped is not None:
        for feature, one in enumerate(dropped):
            if one is not None and not one < sizes[feature]:
                raise ValueError("a dropped category is not there")
        sizes = [size - (one is not None) for size, one in zip(sizes, dropped, strict=True)]
    if sizes != encoder._n_features_outs:
        raise ValueError("_n_features_outs must count the categories")


def _check_ordinal(encoder: Any) -> None:
    _grouped_sizes(encoder)
    if any(not 0 <= key < encoder.n_features_in_ for key in encoder._missing_indices):
        raise ValueError("_missing_indices has a feature that is not there")


ENCODER_SPECS = [
    Spec(
        "sklearn.OneHotEncoder",
        OneHotEncoder,
        _ENCODER
        | {
            "feature_name_combiner": anything,
            "drop_idx_": optional(_dropped),
            "_drop_idx_after_grouping": optional(_dropped),
            "_n_features_outs": items(integer(0), "p"),
        },
        optional=_GROUPS,
        also=_check_one_hot,
    ),
    Spec(
        "sklearn.OrdinalEncoder",
        OrdinalEncoder,
        _ENCODER | {"_missing_indices": mapping(integer(0), integer(0))},
        optional=_GROUPS,
        also=_check_ordinal,
    ),
]
