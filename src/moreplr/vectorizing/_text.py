"""Texts as a few numbers, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Seed
from moreplr._validation import integer_from


class TextEncoder(TransformerMixin, BaseEstimator):
    """Texts as a few numbers: latent semantic analysis of hashed character n-grams.

    Counts of three and four letters in a row are hashed into `n_hashes` places, weighted by how
    rare they are (tf-idf), and reduced to the directions in which texts differ most. This is like
    :class:`skrub.StringEncoder`, in bounded memory: the fitted state is two arrays, whose size
    does not depend on the number of texts or words, and which hold no words.

    Parameters
    ----------
    n_components : int, default=30
        Numbers for each text.
    n_hashes : int, default=16384
        Places that n-grams are hashed into. Several may share one.
    random_state : int, RandomState instance or None, default=0
        For the randomised singular value decomposition.

    Attributes
    ----------
    weights_ : array of shape `(n_hashes,)`, the weight of each place
    components_ : array of shape `(n_components_, n_hashes)`, the directions

    Examples
    --------
    >>> texts = ["a red apple", "a red cherry", "the blue sea", "a blue sky"]
    >>> TextEncoder(2).fit_transform(texts).shape
    (4, 2)
    """

    def __init__(
        self, n_components: int = 30, *, n_hashes: int = 2**14, random_state: Seed = 0
    ) -> None:
        self.n_components = n_components
        self.n_hashes = n_hashes
        self.random_state = random_state

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Learn weights and directions from texts; None and NaN are empty ones."""
        n_components = integer_from("n_components", self.n_components, 1)
        counts = self._counts(X)
        n = counts.shape[0]
        found = np.bincount(counts.indices, minlength=counts.shape[1])
        self.weights_ = np.log((1 + n) / (1 + found)) + 1
        svd = TruncatedSVD(
            min(n_components, n), random_state=check_random_state(self.random_state)
        )
        # Texts that are all alike or empty have no spread. Several threads take longer for so
        # little, and do not give the same bytes everywhere.
        with np.errstate(invalid="ignore"), threadpool_limits(1, "blas"):
            values = svd.fit_transform(self._weighted(counts))
        # All components together have the variance of one standardised number.
        spread = float(np.sqrt(values.var(axis=0).sum()))
        self.components_ = svd.components_ / (spread or 1.0)
        return self

    def transform(self, X: Iterable[Any]) -> Array:
        """Texts as an array of shape `(n_samples, n_components_)`."""
        check_is_fitted(self)
        return np.asarray(self._weighted(self._counts(X)) @ self.components_.T)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The number of each component, from 0."""
        check_is_fitted(self)
        return np.array([str(i) for i in range(len(self.components_))], dtype=object)

    def _counts(self, X: Iterable[Any]) -> Any:
        hashing = HashingVectorizer(
            analyzer="char_wb",
            ngram_range=(3, 4),
            n_features=integer_from("n_hashes", self.n_hashes, 2),
            alternate_sign=False,
            norm=None,
        )
        return hashing.transform(["" if pd.isna(text) else str(text) for text in X])

    def _weighted(self, counts: Any) -> Any:
        counts.data *= self.weights_[counts.indices]
        return normalize(counts, copy=False)
