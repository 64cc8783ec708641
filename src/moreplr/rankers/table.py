"""A ranker for tables with columns of any kind: a vectoriser and a ranker in one estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from moreplr._frames import is_frame, one_row, to_pandas
from moreplr._types import Array, Weights
from moreplr._validation import check_fit_call, quiet, without_mask
from moreplr.base import BaseRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.vectorizing import FrameVectorizer
from moreplr.vectorizing._frame import EMPTY, IDENTIFIER


def _ranker_has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "ranker_", self.ranker or RankingForest()), name)

    return check


def vectorizer_for(ranker: Any, missing_codes: Iterable[float] = ()) -> FrameVectorizer:
    """A vectoriser that keeps gaps if the ranker takes NaN, and fills them otherwise."""
    takes_gaps = get_tags(ranker).input_tags.allow_nan
    missing = "keep" if takes_gaps else "median"
    return FrameVectorizer(missing=missing, missing_codes=missing_codes)


class TableRanker(BaseRanker):
    """A ranker for tables with columns of any kind.

    Columns may hold numbers, texts, categories, booleans, dates and gaps, in a pandas or polars
    frame or in an array. A vectoriser turns them into numbers, and a ranker learns from these.
    Columns of new rows are found by name, in any order; other columns are ignored. All methods of
    the ranker, such as `predict_pairs` and `explain`, take rows of the table.

    Parameters
    ----------
    ranker : ranker, optional
        A :class:`RankingForest` by default.
    vectorizer : transformer, optional
        Turns a table into numbers. By default a
        :class:`~moreplr.vectorizing.FrameVectorizer`, which keeps gaps if the ranker takes NaN,
        and fills them with medians otherwise. A sparse matrix is passed to the ranker unchanged.

    Attributes
    ----------
    ranker_, vectorizer_ : the fitted ranker and vectoriser
    labels_ : object array (n_labels,)
    feature_importances_ : array with one number for each column of the table
        The importance of a column is the sum of the importances of its outputs.
    feature_names_in_ : object array, the names of the columns

    Examples
    --------
    >>> X = pd.DataFrame({"town": ["Ulm", "Bonn"] * 4, "age": [30, None, 50, 20] * 2})
    >>> Y = ["tea > milk ~ beer", "beer > tea > milk"] * 4
    >>> ranker = TableRanker(RankingForest(50, random_state=0)).fit(X, Y)
    >>> ranker.predict_text(pd.DataFrame({"town": ["Bonn"], "age": [40]}))
    ['beer > tea > milk']
    """

    def __init__(self, ranker: Any = None, vectorizer: Any = None) -> None:
        self.ranker = ranker
        self.vectorizer = vectorizer

    def fit(self, X: Any, y: Any, sample_weight: Weights = None) -> Self:
        """Fit the vectoriser and the ranker.

        Parameters
        ----------
        X : frame, array or sparse matrix of shape (n_samples, n_features)
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
        """
        check_fit_call(self, y)
        if self.ranker is not None and not hasattr(self.ranker, "fit"):
            raise TypeError(
                f"ranker must be a ranker such as RankingForest(), got {self.ranker!r}"
            )
        table = self._table(X, reset=True)
        ranker = RankingForest() if self.ranker is None else clone(self.ranker)
        if self.vectorizer is not None:
            if not hasattr(self.vectorizer, "fit_transform"):
                raise TypeError(f"vectorizer must be a transformer, got {self.vectorizer!r}")
            vectorizer = clone(self.vectorizer)
        elif issparse(table):
            vectorizer = None
        else:
            vectorizer = vectorizer_for(ranker)
        features = table if vectorizer is None else vectorizer.fit_transform(table)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.ranker_ = ranker.fit(features, y, **given)
        self.vectorizer_ = vectorizer
        self.labels_ = self.ranker_.labels_
        return self

    def predict(self, X: Any, **options: Any) -> Any:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : frame, array or sparse matrix of shape (n_samples, n_features)
        **options
            Options of the ranker's own `predict`: `n_buckets`, `top`, `total_order`.
        """
        features = self._features(X)
        return self._output(np.asarray(self.ranker_.predict(features, **options)), X)

    @available_if(_ranker_has("predict_pairs"))
    def predict_pairs(self, X: Any, **options: Any) -> Any:
        """Predict pair probabilities, see :meth:`PairRanker.predict_pairs`."""
        features = self._features(X)
        return self.ranker_.predict_pairs(features, **options)

    @available_if(_ranker_has("predict_scores"))
    def predict_scores(self, X: Any) -> Any:
        """Predict a score of each label, larger is better; see the ranker's own method."""
        features = self._features(X)
        return self._output(np.asarray(self.ranker_.predict_scores(features)), X)

    @available_if(_ranker_has("predict_positions"))
    def predict_positions(self, X: Any) -> Array:
        """Predict the positions that a layer decodes."""
        features = self._features(X)
        return self.ranker_.predict_positions(features)

    @available_if(_ranker_has("predict_set"))
    def predict_set(self, X: Any, **options: Any) -> Any:
        """Leave uncertain pairs undecided, see :meth:`RankingForest.predict_set`."""
        features = self._features(X)
        return self.ranker_.predict_set(features, **options)

    @available_if(_ranker_has("explain"))
    def explain(self, x: Any) -> Any:
        """Explain why one row is ranked as it is, see :meth:`RankingForest.explain`.

        Parameters
        ----------
        x : one row
            A frame of one row, a Series, a dict from columns to values, or a sequence.
        """
        features = self._features(one_row(x, getattr(self, "feature_names_in_", None)))
        return self.ranker_.explain(features)

    @property
    def feature_importances_(self) -> Array:
        """The importance of each column of the table."""
        check_is_fitted(self)
        if not hasattr(self.ranker_, "feature_importances_"):
            raise AttributeError(
                f"{type(self.ranker_).__name__} has no importances of its own; "
                "moreplr.plotting.ImportancesDisplay.from_estimator(ranker, X, Y) computes them "
                "for any ranker"
            )
        importances = np.zeros(self.n_features_in_)
        np.add.at(importances, self._origin(), self.ranker_.feature_importances_)
        return importances

    def _origin(self) -> Any:
        """The column that each feature of the ranker comes from."""
        if self.vectorizer_ is None:
            return np.arange(self.n_features_in_)
        if hasattr(self.vectorizer_, "origin_"):
            return self.vectorizer_.origin_
        outputs: Any = getattr(self.vectorizer_, "input_to_outputs_", None)  # skrub's
        if outputs is None:
            raise AttributeError(
                f"{type(self.vectorizer_).__name__} does not record which column its outputs come "
                "from: use ranker_.feature_importances_, with one for each output"
            )
        columns = {output: at for at, name in enumerate(outputs) for output in outputs[name]}
        return [columns[name] for name in self.vectorizer_.get_feature_names_out()]

    def _features(self, X: Any) -> Any:
        check_is_fitted(self)
        table = self._table(X, reset=False)
        return table if self.vectorizer_ is None else self.vectorizer_.transform(table)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """X as a frame or a sparse matrix, its columns checked."""
        X = without_mask(X)
        if is_frame(X):
            if not reset and hasattr(self, "feature_names_in_"):
                X = self._by_name(to_pandas(X))
            validate_data(self, X, reset=reset, skip_check_array=True)
            frame = to_pandas(X)
            if not len(frame):
                raise ValueError(f"Found array with 0 sample(s) (shape={frame.shape})")
            if not len(frame.columns):
                raise ValueError(
                    "the table has no features, so only a consensus can be learned: use "
                    "moreplr.DummyRanker"
                )
            return frame
        texts = not issparse(X) and np.asarray(X).dtype.kind in "OUS"
        with quiet():
            X = validate_data(
                self,
                X,
                reset=reset,
                dtype=None if texts else np.float64,
                ensure_all_finite="allow-nan",
                accept_sparse="csr" if get_tags(self).input_tags.sparse else False,
            )
        names = getattr(self, "feature_names_in_", None)
        return X if issparse(X) else pd.DataFrame(X, columns=names)

    def _by_name(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The columns that the ranker was fitted on; columns that it ignored may be absent."""
        kinds = getattr(self.vectorizer_, "kinds_", {})
        for name in self.feature_names_in_:
            if name not in frame.columns and kinds.get(name) not in (IDENTIFIER, EMPTY):
                close = get_close_matches(name, map(str, frame.columns), n=1)
                raise ValueError(
                    f"the table lacks the column {name!r} that the ranker was fitted on"
                    + (f"; is it {close[0]!r} here?" if close else "")
                )
        twice = frame.columns[frame.columns.duplicated()].intersection(self.feature_names_in_)
        if len(twice):
            raise ValueError(f"there are two columns {twice[0]!r}: rename one of them")
        return frame.loc[:, ~frame.columns.duplicated()].reindex(columns=self.feature_names_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        ranker = RankingForest() if self.ranker is None else self.ranker
        tags.input_tags.sparse = self.vectorizer is None and get_tags(ranker).input_tags.sparse
        return tags
