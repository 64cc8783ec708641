"""Base classes of rankers and regressors.

To write a ranker, subclass `BaseRanker` and define `fit` and `predict`. If the ranker estimates
pair probabilities, subclass `PairRanker` and define `fit` and `_pairs`; predictions of bucket
orders, scores and chunks are inherited. A regressor of positions subclasses `PositionRegressor`.
:mod:`moreplr.checks` tests all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from moreplr._frames import named_columns
from moreplr._types import Array, Labels, Positions, Seed, Weights
from moreplr._validation import (
    check_base,
    check_fit_call,
    check_name,
    check_sample_weight,
    check_size,
    check_target_size,
    compares,
    finite_or_nan,
    numbers_from,
    quiet,
    relative_weight,
    without_mask,
)
from moreplr.aggregation.decoding import METHODS, OBJECTIVES, decode
from moreplr.metrics import tau_x_score
from moreplr.rankings import check_rankings, to_text

# Rows are predicted in chunks, so that memory does not grow with their number.
CHUNK_BYTES = 1 << 26
# Bytes for each row and pair (i, j): P, Q and temporary arrays.
CELL_BYTES = 96


def chunks(n: int, row_bytes: int) -> Iterator[slice]:
    """Slices of n rows that take at most `CHUNK_BYTES`, but hold at least one row.

    Examples
    --------
    >>> list(chunks(5, CHUNK_BYTES // 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, CHUNK_BYTES // row_bytes)
    for at in range(0, n, step):
        yield slice(at, at + step)


class BaseRanker(BaseEstimator):
    """A scikit-learn estimator that predicts bucket orders; subclasses define how.

    Attributes
    ----------
    labels_ : object array (n_labels,), the label names in the order of the columns
    n_features_in_, feature_names_in_ : as in scikit-learn
    """

    labels_: Labels

    def predict(self, X: Any) -> Any:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        """
        return self._output(self._ranks(self._check_predict(X)), X)

    def _ranks(self, X: Array) -> Positions:
        """Dense ranks of validated rows, for subclasses that do not override `predict`."""
        raise NotImplementedError

    def predict_text(self, X: Any, *, signs: str = ">~", **options: Any) -> list[str]:
        """Predict bucket orders as texts such as ``"b > a ~ c"``.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        signs : str, default=">~"
            The signs for "before" and "tied".
        **options
            Options of `predict`, such as `top=1`.
        """
        return to_text(np.asarray(self.predict(X, **options)), self.labels_, signs=signs)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of predictions.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            An array, or a frame with a column for each label; a pandas frame keeps the index of
            a pandas X. The name of the parameter is scikit-learn's. None changes nothing.

        Examples
        --------
        >>> from moreplr import DummyRanker
        >>> ranker = DummyRanker().fit([[0], [1]], ["a > b ~ c", "a > b"])
        >>> ranker.set_output(transform="pandas").predict([[2]])
             a    b    c
        0  1.0  2.0  2.0
        """
        if transform is not None:
            check_name("transform", transform, ("default", "pandas", "polars"))
            self._sklearn_output_config = {"transform": transform}
        return self

    def score(self, X: Any, y: Any, sample_weight: Weights = None) -> float:
        """Mean τ_X of the predictions; only pairs of labels that y ranks count."""
        predicted = np.asarray(self.predict(X))
        true, _ = check_rankings(y, self.labels_)
        return tau_x_score(true, predicted, sample_weight=sample_weight)

    def reasons(self, x: Any, first: Any, second: Any, background: Any = None) -> Any:
        """Find the features of a row that make one label precede another.

        See :func:`moreplr.explaining.reasons`.

        Parameters
        ----------
        x : one row: a frame of one row, a Series, a dict, or a sequence of the features
        first, second : labels
        background : frame or array, optional
            Rows to compare with, such as training rows. Linear rankers do not need them.
        """
        from moreplr.explaining import reasons

        return reasons(self, x, first, second, background)

    def _output(self, values: Array, X: Any) -> Any:
        """Put the values of rows and labels into the container that `set_output` has chosen."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        return values if wanted == "default" else named_columns(values, self.labels_, wanted, X)

    def _check_fit(
        self, X: Any, y: Any, sample_weight: Weights = None
    ) -> tuple[Array, Positions, Array | None]:
        """Validate the arguments of `fit`; learn the labels and the names of the features."""
        check_fit_call(self, y)
        X = numbers_from(self, X)
        positions, self.labels_ = check_rankings(y)
        if len(positions) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(positions)}")
        unranked = int(np.isnan(positions).all(axis=1).sum())
        if not compares(positions).any():
            count = "no label in any row" if positions.shape[1] == 1 else "two labels in no row"
            raise ValueError(f"y ranks {count}: there is nothing to learn")
        if unranked:
            warnings.warn(
                f"{unranked} of {len(positions)} rows rank no label and are not used",
                UserWarning,
                stacklevel=3,
            )
        return X, positions, relative_weight(sample_weight, X.shape[0])

    def _check_predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return numbers_from(self, X, reset=False)

    # scikit-learn's HTML representation uses the next two for a link.
    @property
    def _doc_link_module(self) -> str | None:
        return "moreplr" if _documentation() else None

    @property
    def _doc_link_template(self) -> str:
        return _documentation() + "/api/generated/moreplr.{estimator_name}.html"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


@cache
def _documentation() -> str:
    """The address of the documentation in the package's metadata, or an empty text."""
    try:
        links = metadata("moreplr").get_all("Project-URL") or []
    except PackageNotFoundError:  # used from a source folder
        return ""
    named = dict(link.split(", ", 1) for link in links)
    return named.get("Documentation", "").rstrip("/")


class Pairs(NamedTuple):
    """Pair probabilities of n rows: P[:, i, j] that label i precedes j, Q[:, i, j] of a tie."""

    P: Array
    Q: Array

    @classmethod
    def zeros(cls, n: int, k: int) -> Pairs:
        """Matrices to be filled."""
        return cls(np.zeros((n, k, k)), np.zeros((n, k, k)))


class PairRanker(BaseRanker):
    """A ranker that predicts pair probabilities and aggregates them into bucket orders.

    Subclasses have the parameters `aggregation`, `objective` and `random_state`, and compute the
    probabilities of a chunk of rows in `_pairs`.
    """

    aggregation: str | None
    objective: str
    random_state: Seed

    def predict(
        self,
        X: Any,
        *,
        n_buckets: int | None = None,
        top: int | None = None,
        total_order: bool | None = None,
    ) -> Any:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_buckets : int, optional
            Predict exactly this many buckets.
        top : int, optional
            Rank only this many labels; all others share the last bucket.
        total_order : bool, optional
            Predict no ties, except in the last bucket of `top`. By default, rankers that note
            whether training rankings have ties predict none if there were none, unless
            `n_buckets` is given; other rankers may predict ties.
        """
        given, X = X, self._check_predict(X)
        if total_order is None:
            total_order = self._never_ties and n_buckets is None
        options = {"n_buckets": n_buckets, "top": top, "total_order": total_order}
        rng = check_random_state(self.random_state)
        ranks = np.empty((X.shape[0], len(self.labels_)))
        for rows in self._chunks(X.shape[0]):
            ranks[rows] = self._decode(self._pairs(X[rows]), random_state=rng, **options)
        return self._output(ranks, given)

    def predict_scores(self, X: Any) -> Any:
        """Predict for each label how many of the others it beats, ties counted half.

        With k labels, a score of s is an expected position of k - s: the best score is k - 1.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_labels), or a frame if `set_output` chose one
            Larger is better.
        """
        given, X = X, self._check_predict(X)
        scores = np.empty((X.shape[0], len(self.labels_)))
        for rows in self._chunks(X.shape[0]):
            P, Q = self._pairs(X[rows])
            # Without the diagonal: a label and itself are not a pair.
            scores[rows] = (P + Q / 2).sum(axis=2) - np.einsum("nii->ni", P + Q / 2)
        return self._output(scores, given)

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
            Return an iterator over the results of consecutive parts of the rows. A part takes at
            most 64 MB, or one row with more than 800 labels, so that memory does not limit the
            number of rows; the complete arrays grow with n_samples · n_labels².

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
            return (self._pairs(X[rows]) for rows in self._chunks(X.shape[0]))
        n, k = X.shape[0], len(self.labels_)
        whole = Pairs.zeros(n, k)
        for rows in self._chunks(n):
            whole.P[rows], whole.Q[rows] = self._pairs(X[rows])
        return whole

    def _pairs(self, X: Array) -> Pairs:
        raise NotImplementedError

    @property
    def _never_ties(self) -> bool:
        """Whether the training rankings are known to have no ties."""
        return False

    def _decode(self, pairs: Pairs, **options: Any) -> Positions:
        return decode(*pairs, self._aggregation, self.objective, **options)

    @property
    def _aggregation(self) -> str:
        """The method in use; None means "segments", or "auto" if predictions have no ties."""
        return self.aggregation or ("auto" if self._never_ties else "segments")

    def _chunks(self, n: int) -> Iterator[slice]:
        return chunks(n, self._row_bytes)

    @property
    def _row_bytes(self) -> int:
        """Bytes that the prediction of one row takes, without the features."""
        return CELL_BYTES * len(self.labels_) ** 2

    def _check_decoding(self) -> None:
        """Refuse an unknown aggregation or objective."""
        if self.aggregation is not None:
            check_name("aggregation", self.aggregation, METHODS)
        check_name("objective", self.objective, OBJECTIVES)


class PositionRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor of k positions at once whose training targets may hold NaN."""

    base: Any
    n_outputs_: int

    def _check_fit(self, X: Any, y: Any, sample_weight: Weights) -> tuple[Array, Array, Any]:
        check_fit_call(self, y)
        with quiet():
            X, Y = validate_data(
                self,
                without_mask(X),
                without_mask(y),
                validate_separately=(
                    {"dtype": np.float64, "ensure_all_finite": finite_or_nan(self)},
                    {"dtype": np.float64, "ensure_all_finite": "allow-nan"},
                ),
            )
        check_size(X)
        check_consistent_length(X, Y)
        if np.isnan(Y).all():
            raise ValueError("y holds NaN only: there is no target to learn from")
        check_target_size(Y)
        self.n_outputs_ = Y.shape[1]
        return X, Y, check_sample_weight(sample_weight, len(X))

    def _check_predict(self, X: Any) -> Array:
        check_is_fitted(self)
        with quiet():
            X = validate_data(
                self,
                without_mask(X),
                reset=False,
                dtype=np.float64,
                ensure_all_finite=finite_or_nan(self),
            )
        check_size(X)
        return X

    def _allows_nan_features(self) -> bool:
        if self.base is None:  # a forest, which takes NaN
            return True
        check_base(self.base)
        return get_tags(self.base).input_tags.allow_nan

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.input_tags.allow_nan = self._allows_nan_features()
        return tags
