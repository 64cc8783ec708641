"""What all rankers on the pairwise road share: pair probabilities, in chunks, and decoding.

Predicting takes a chunk of rows at a time. A chunk's arrays, P and Q and all that is made from
them, take at most `CHUNK_BYTES`, whatever the number of rows is; a single row of very many
labels (more than 800) is the least chunk.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from moreplr.aggregation import METHODS, aggregate, expected_tau
from moreplr.rankers import _counts
from moreplr.rankers._base import BaseRanker
from moreplr.rankings import Positions
from moreplr.regressors._base import Array

OBJECTIVES = ("tau_x", "l1")
CHUNK_BYTES = 1 << 26
# Of a row and a cell (i, j): P and Q, what they are made from, what decoding makes of them.
_CELL_BYTES = 96


class Pairs(NamedTuple):
    """Three-way probabilities of n rows: P[:, i, j] is that i precedes j, Q[:, i, j] a tie."""

    P: Array
    Q: Array


class PairRanker(BaseRanker):
    """A ranker that predicts pair probabilities and aggregates them into bucket orders.

    Subclasses have the parameters `aggregation`, `objective` and `random_state`, and say in
    `_pairs` what the probabilities of a chunk of rows are.
    """

    aggregation: str
    objective: str
    random_state: Any

    def predict(
        self,
        X: Any,
        *,
        n_buckets: int | None = None,
        top: int | None = None,
        total_order: bool = False,
    ) -> Positions:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_buckets : int, optional
            Predict exactly this many buckets.
        top : int, optional
            Resolve this many labels only; all others share the last bucket.
        total_order : bool, default=False
            Predict no ties, but for the last bucket of `top`.
        """
        X = self._check_predict(X)
        options = {"n_buckets": n_buckets, "top": top, "total_order": total_order}
        rng = check_random_state(self.random_state)
        ranks = np.empty((len(X), len(self.labels_)))
        for rows in self._chunks(len(X)):
            ranks[rows] = self._decode(self._pairs(X[rows]), random_state=rng, **options)
        return ranks

    @overload
    def predict_pairs(self, X: Any, *, chunks: Literal[False] = False) -> Pairs: ...

    @overload
    def predict_pairs(self, X: Any, *, chunks: Literal[True]) -> Iterator[Pairs]: ...

    def predict_pairs(self, X: Any, *, chunks: bool = False) -> Pairs | Iterator[Pairs]:
        """Predict for each pair of labels the probabilities of the three relations.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        chunks : bool, default=False
            Give an iterator over the results of some rows after others. Predicting a chunk
            takes at most 64 MB (with more than 800 labels, what one row takes), so that any number
            of rows can be gone through; the complete arrays grow with n_samples · n_labels².

        Returns
        -------
        P : array of shape (n_samples, n_labels, n_labels)
            P[:, i, j] is the probability that label i precedes label j.
        Q : array of the same shape
            Q[:, i, j] is the probability of a tie: P[:, i, j] + P[:, j, i] + Q[:, i, j] = 1
            for i ≠ j. A label is tied with itself.
        """
        X = self._check_predict(X)
        if chunks:
            return (self._pairs(X[rows]) for rows in self._chunks(len(X)))
        k = len(self.labels_)
        whole = Pairs(np.empty((len(X), k, k)), np.empty((len(X), k, k)))
        for rows in self._chunks(len(X)):
            whole.P[rows], whole.Q[rows] = self._pairs(X[rows])
        return whole

    def _pairs(self, X: Array) -> Pairs:
        raise NotImplementedError

    def _decode(self, pairs: Pairs, **options: Any) -> Positions:
        return decoded(pairs, self.aggregation, self.objective, **options)

    def _chunks(self, n: int) -> Iterator[slice]:
        step = max(1, CHUNK_BYTES // self._row_bytes)
        return (slice(at, at + step) for at in range(0, n, step))

    @property
    def _row_bytes(self) -> int:
        """What predicting one row takes, but for its features as they are."""
        return _CELL_BYTES * len(self.labels_) ** 2

    def _check_decoding(self) -> None:
        """Refuse an aggregation or an objective that is not known."""
        check_name("aggregation", self.aggregation, METHODS)
        check_name("objective", self.objective, OBJECTIVES)


def decoded(pairs: Pairs, method: str, objective: str, **options: Any) -> Positions:
    """Bucket orders of pair probabilities."""
    if objective == "tau_x":
        return expected_tau(*pairs, method, **options)
    return aggregate(pairs.P + pairs.Q / 2, method, "l1", **options)


def check_name(parameter: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a value that is not among the known ones, naming the parameter."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(f"{parameter} must be one of {known}, got {value!r}")


def weighted_rows(
    X: Array, Y: Positions, weight: Array | None
) -> tuple[Array, Positions, Array | None]:
    """The rows that count: one of weight zero is as good as absent."""
    if weight is None or weight.all():
        return X, Y, weight
    return X[weight > 0], Y[weight > 0], weight[weight > 0]


def pair_codes(Y: Positions) -> NDArray[np.int8]:
    """For each row and pair i < j: 0 if i precedes j, 1 tied, 2 if j precedes i, -1 unknown.

    Pairs are in the order of `numpy.triu_indices(k, 1)`.

    Examples
    --------
    >>> pair_codes(np.array([[1.0, 2.0, 2.0], [3.0, np.nan, 1.0]]))
    array([[ 0,  0,  1],
           [-1,  2, -1]], dtype=int8)
    """
    n, k = Y.shape
    codes = np.empty((n, k * (k - 1) // 2), np.int8)
    at = 0
    for i in range(k - 1):
        sign = np.sign(Y[:, i, None] - Y[:, i + 1 :])
        codes[:, at : at + k - 1 - i] = np.where(np.isnan(sign), -1, sign + 1)
        at += k - 1 - i
    return codes


def square(three_way: Array, k: int) -> Pairs:
    """Probabilities (n, n_pairs, 3) of the codes 0, 1 and 2 as matrices."""
    i, j = np.triu_indices(k, 1)
    P, Q = (np.empty((len(three_way), k, k)) for _ in range(2))
    P[:, i, j], P[:, j, i] = three_way[:, :, 0], three_way[:, :, 2]
    Q[:, i, j] = Q[:, j, i] = three_way[:, :, 1]
    diagonal = np.arange(k)
    P[:, diagonal, diagonal], Q[:, diagonal, diagonal] = 0.0, 1.0
    return Pairs(P, Q)


def know_nothing(k: int) -> Pairs:
    """The probabilities of one row where nothing is known: a third for each relation."""
    return Pairs(*(matrix[0] for matrix in square(np.full((1, k * (k - 1) // 2, 3), 1 / 3), k)))


def consensus(Y: Positions, weight: Array | None) -> Pairs:
    """Shares of the three relations over all rows, as matrices of one row; warns of gaps."""
    n, k = Y.shape
    P, Q = np.zeros((1, k, k)), np.zeros((1, k, k))
    weights = np.ones(n) if weight is None else weight
    _counts.add_pairs(Y, np.array([0, n]), np.arange(n), weights, P, Q)
    i, j = np.tril_indices(k, -1)
    unseen = int(np.sum(P[0, i, j] + P[0, j, i] + Q[0, i, j] == 0))
    warn_unseen(unseen, len(i), stacklevel=4)
    _counts.to_shares(P, Q, *know_nothing(k))
    return Pairs(P[0], Q[0])


def warn_unseen(unseen: int, n_pairs: int, stacklevel: int = 3) -> None:
    """Tell the caller of `fit` that nothing can be learned of some pairs."""
    if unseen:
        warnings.warn(
            f"{unseen} of {n_pairs} pairs of labels are never ranked together; a third is "
            "predicted for each of their relations",
            UserWarning,
            stacklevel=stacklevel,
        )
