"""A ranking problem with a name: features, positions, and a card that describes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer

from moreplr._types import Weights
from moreplr.datasets._preprocessing import make_preprocessor
from moreplr.rankings import count_buckets, dense_ranks
from moreplr.tables.overview import Overview, make_overview, notes_on_features


@dataclass(frozen=True)
class Card:
    """The numbers of a data set, as in the paper's table."""

    name: str
    problem: str
    instances: int
    features: int
    labels: int
    distinct_rankings: int
    mean_buckets: float
    missing_share: float

    def __str__(self) -> str:
        names = {
            "mean_buckets": f"{self.mean_buckets:.3f}",
            "missing_share": f"{self.missing_share:.1%}",
        }
        lines = []
        for field in fields(self):
            value = names.get(field.name, getattr(self, field.name))
            lines.append(f"{field.name.replace('_', ' '):<18} {value}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Dataset:
    """Features X and positions Y of a ranking problem; unpacks as ``X, Y = load(...)``.

    `missing_codes` are numbers that stand for a gap in numeric features. `sample_weight` and
    `groups` are arrays with an entry for each row, or None: what `fit` and cross-validation take
    under these names. `meaning` describes in words how rankings were read, `notes` what looks odd
    about them. Where rankings come from scores, `scores` and `larger_is_better` keep them; for run
    times, `cutoff` is the time limit.

    Examples
    --------
    >>> X, Y = [[0.5], [1.5]], [[1, 2], [1, 1]]
    >>> print(Dataset("tiny", "plr", pd.DataFrame(X), pd.DataFrame(Y)).card())
    name               tiny
    problem            plr
    instances          2
    features           1
    labels             2
    distinct rankings  2
    mean buckets       1.500
    missing share      0.0%
    """

    name: str
    problem: str
    X: pd.DataFrame
    Y: pd.DataFrame
    missing_codes: tuple[float, ...] = ()
    sample_weight: Weights = None
    groups: Any = None
    meaning: str = "positions: the smallest is best, equal is tied, empty is not ranked"
    notes: tuple[str, ...] = ()
    scores: pd.DataFrame | None = None
    larger_is_better: bool = True
    cutoff: float | None = None

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter((self.X, self.Y))

    def card(self) -> Card:
        """Count instances, features, labels, distinct rankings, buckets and missing labels."""
        Y = self.Y.to_numpy(dtype=float)
        ranks = np.nan_to_num(dense_ranks(Y))
        return Card(
            self.name,
            self.problem,
            len(Y),
            self.X.shape[1],
            Y.shape[1],
            len(np.unique(ranks, axis=0)),
            float(count_buckets(Y).mean()),
            float(np.isnan(Y).mean()),
        )

    def overview(self) -> Overview:
        """A summary of what was read, with the first ranking, the consensus, and what looks odd.

        Examples
        --------
        >>> from moreplr.datasets import from_csv
        >>> frame = pd.DataFrame({"age": [30, 50], "tea": [1, 2], "milk": [2, 1]})
        >>> print(from_csv(frame, ["tea", "milk"], name="drinks").overview())
        read       drinks: 2 rows
        features   1 (1 number): 'age'
        labels     2: 'tea', 'milk'
        rankings   positions: the smallest is best, equal is tied, empty is not ranked
        first row  tea > milk
        consensus  tea ~ milk
        """
        notes = [*self.notes, *notes_on_features(self.X)]
        return make_overview(self.name, self.X, self.Y, self.meaning, notes, self.sample_weight)

    def preprocessor(self) -> ColumnTransformer:
        """A fresh transformer for the features, see :func:`make_preprocessor`."""
        return make_preprocessor(self.X, self.missing_codes)

    def fingerprint(self) -> str:
        """A short checksum of features and positions, to distinguish data sets of one name.

        Names of columns and types of numbers do not count.
        """
        digest = hashlib.sha256(repr((self.X.shape, self.Y.shape)).encode())
        for frame in self:
            for _, column in frame.items():
                if pd.api.types.is_numeric_dtype(column.dtype):
                    digest.update(column.to_numpy(dtype="<f8", na_value=np.nan).tobytes())
                else:
                    digest.update("\0".join(map(str, column)).encode())
        return digest.hexdigest()[:16]
