"""A baseline: a ranker that ignores the features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from moreplr._types import Array, Seed, Weights
from moreplr._validation import check_name, weighted_rows
from moreplr.base import PairRanker, Pairs
from moreplr.rankers._pairs import consensus

STRATEGIES = ("consensus",)


class DummyRanker(PairRanker):
    """Predict the consensus of the training rankings, the same for every row.

    A ranker that is not better than this has learned nothing from the features. Features may be
    of any kind, and there may be none.

    Parameters
    ----------
    strategy : {"consensus"}
        The best bucket order for the relations counted in the training set.
    aggregation : str, default="auto"
        A method of :func:`moreplr.aggregation.aggregate`.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest mean τ_X, or least L1 distance to the pair order matrix.
    random_state : int, RandomState instance or None
        Draws the pivots of aggregation "bpa".

    Attributes
    ----------
    pairs_ : (P, Q), matrices of the shares of rankings with i before j, and with i and j tied
    labels_ : object array (n_labels,)

    Examples
    --------
    >>> ranker = DummyRanker().fit([[0], [0], [0]], ["a > b ~ c", "a > b ~ c", "b > a"])
    >>> ranker.predict_text([[1], [2]])
    ['a > b ~ c', 'a > b ~ c']
    """

    def __init__(
        self,
        strategy: str = "consensus",
        *,
        aggregation: str = "auto",
        objective: str = "tau_x",
        random_state: Seed = None,
    ) -> None:
        self.strategy = strategy
        self.aggregation = aggregation
        self.objective = objective
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Count the relations of all pairs of labels.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), of which only the length is used
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        check_name("strategy", self.strategy, STRATEGIES)
        self._check_decoding()
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        self.pairs_ = consensus(Y, weight)
        return self

    def predict(
        self,
        X: Any,
        *,
        n_buckets: int | None = None,
        top: int | None = None,
        total_order: bool | None = None,
    ) -> Any:
        """Predict dense ranks of shape (n_samples, n_labels), the same in every row.

        See :meth:`PairwiseRanker.predict` for the options.
        """
        rows = self._check_predict(X)
        (ranks,) = self._decode(
            self._pairs(rows[:1]),
            n_buckets=n_buckets,
            top=top,
            total_order=bool(total_order),
            random_state=check_random_state(self.random_state),
        )
        return self._output(np.tile(ranks, (len(rows), 1)), X)

    def _pairs(self, X: Array) -> Pairs:
        return Pairs(*(np.repeat(matrix[None], len(X), axis=0) for matrix in self.pairs_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # features are ignored
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.sparse = True
        return tags
