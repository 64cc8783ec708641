"""Cross-validation of rankers, and confidence intervals for their scores.

Scores of folds depend on each other, since their training sets overlap: a plain standard error
is too small. The corrected resampled t of Nadeau and Bengio (2003) adds the ratio of test to
training rows to the variance.

References
----------
Nadeau and Bengio (2003): Inference for the generalization error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_random_state

from moreplr._types import Positions, Seed, Weights
from moreplr._validation import check_sample_weight, integer_from, take
from moreplr.metrics import tau_x_score, top_one_score
from moreplr.metrics._means import mean_of_known
from moreplr.rankings import check_rankings

RESAMPLES = 2000
CORRECTED = "corrected resampled t interval of Nadeau and Bengio (2003)"
BOOTSTRAP = f"percentile bootstrap over {{}}, {RESAMPLES:,} resamples"


@dataclass(frozen=True)
class Estimate:
    """A mean, a confidence interval, and the p-value of the mean being zero."""

    mean: float
    low: float
    high: float
    p_value: float = float("nan")

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


class Split(NamedTuple):
    """Training and test rows; repetitions and folds are counted from 1."""

    repeat: int
    fold: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def cross_validate(
    rankers: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int = 5,
    n_repeats: int = 1,
    groups: ArrayLike | None = None,
    sample_weight: Weights = None,
    random_state: Seed = None,
    advance: Callable[[int, str], None] | None = None,
    watch: Callable[[str, Any, Split], None] | None = None,
) -> pd.DataFrame:
    """Scores of each ranker on the same splits, one row for each split and ranker.

    Parameters
    ----------
    rankers : dict of unfitted rankers, or pipelines that end in one, by name
        Each is cloned. Steps before the ranker are fitted on the training rows alone.
    X : array or frame of shape (n_samples, n_features)
    y : rankings in any form that :func:`moreplr.rankings.check_rankings` accepts
    n_folds, n_repeats : int
        Each repetition shuffles the rows anew.
    groups : array of shape (n_samples,), optional
        Rows of the same group, such as the answers of one person, are never split.
    sample_weight : array of shape (n_samples,), optional
        Used in fits, and in the mean over the test rows.
    random_state : int, RandomState instance or None
    advance : callable, optional
        Called as ``advance(0, name)`` before a fit and ``advance(1, name)`` after it.
    watch : callable, optional
        Called as ``watch(name, model, split)`` with each fitted model, to keep more than scores,
        such as its predictions for the test rows.

    Returns
    -------
    DataFrame
        Columns `ranker`, `repeat`, `fold`, `train_rows`, `test_rows`, `tau_x`, `top_one`,
        `fit_seconds`. :func:`by_split` gives a column for each ranker.

    Examples
    --------
    >>> from moreplr import DummyRanker, NearestNeighborsRanker
    >>> from moreplr.datasets import load
    >>> from moreplr.model_selection import by_split, corrected_t, cross_validate
    >>> X, Y = load("iris")
    >>> rankers = {"neighbors": NearestNeighborsRanker(), "consensus": DummyRanker()}
    >>> scores = by_split(cross_validate(rankers, X, Y, random_state=0))
    >>> print(corrected_t(scores["neighbors"] - scores["consensus"], ratio=1 / 4, most=2))
    0.687 (0.611 to 0.762)
    """
    integer_from("n_folds", n_folds, 2)
    integer_from("n_repeats", n_repeats, 1)
    positions, labels = check_rankings(y)
    Y = pd.DataFrame(positions, columns=labels)
    weight = check_sample_weight(sample_weight, len(Y))
    if len(Y) < n_folds:
        raise ValueError(f"there are too few rows for {n_folds} folds: {len(Y)}")
    if not (Y.notna().sum(axis=1) > 1).any():
        raise ValueError("no row ranks two labels, so that nothing can be scored")
    rows = []
    for split in _splits(len(Y), n_folds, n_repeats, groups, random_state):
        repeat, fold, train, test = split
        for name, ranker in rankers.items():
            if advance is not None:
                advance(0, name)
            begun = time.perf_counter()
            model = fit_copy(ranker, _take(X, train), Y.iloc[train], weight, train)
            seconds = time.perf_counter() - begun
            scores = score_rows(positions[test], np.asarray(model.predict(_take(X, test))))
            (part,) = take(test, weight)
            means = {score: mean_of_known(own.to_numpy(), part) for score, own in scores.items()}
            rows.append(
                {
                    "ranker": name,
                    "repeat": repeat,
                    "fold": fold,
                    "train_rows": len(train),
                    "test_rows": len(test),
                    **means,
                    "fit_seconds": round(seconds, 3),
                }
            )
            if watch is not None:
                watch(name, model, split)
            if advance is not None:
                advance(1, name)
    return pd.DataFrame(rows)


def fit_copy(ranker: Any, X: Any, Y: pd.DataFrame, weight: Any, rows: NDArray[np.intp]) -> Any:
    """A copy of a ranker, fitted on X and Y, and on the weights of these rows if there are any."""
    model = clone(ranker)
    if weight is None:
        return model.fit(X, Y)
    steps = getattr(model, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return model.fit(X, Y, **{name: weight[rows]})


def score_rows(true: Positions, predicted: Positions) -> pd.DataFrame:
    """tau_x and top_one of each row; NaN where there is nothing to compare."""
    return pd.DataFrame(
        {
            "tau_x": tau_x_score(true, predicted, per_sample=True),
            "top_one": top_one_score(true, predicted, per_sample=True),
        }
    )


def ratio_of_rows(scores: pd.DataFrame) -> float:
    """Test rows by training rows of the result of `cross_validate`."""
    return float((scores["test_rows"] / scores["train_rows"]).mean())


def by_split(scores: pd.DataFrame, column: str = "tau_x") -> pd.DataFrame:
    """One row for each split and a column for each ranker, without splits that lack a score."""
    wide = scores.pivot(index=["repeat", "fold"], columns="ranker", values=column)
    return wide[list(dict.fromkeys(scores["ranker"]))].dropna()


def corrected_t(
    scores: ArrayLike, ratio: float, level: float = 0.95, most: float = 1.0
) -> Estimate:
    """Mean of resampled scores, or differences of scores, with the corrected t.

    Parameters
    ----------
    scores : one value for each split into training and test rows
    ratio : test rows by training rows, 1 / (k - 1) in k-fold cross-validation
    level : confidence
    most : what the mean can't exceed in size; the interval ends there

    Examples
    --------
    >>> print(corrected_t([0.80, 0.90, 0.85, 0.75, 0.95], ratio=0.25))
    0.850 (0.703 to 0.997)
    """
    values = np.asarray(scores, dtype=float)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(mean, float("nan"), float("nan"))
    error = float(np.sqrt((1 / n + ratio) * values.var(ddof=1)))
    width = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
    p = float(mean == 0)  # scores without variance
    if error > 0:
        p = float(2 * stats.t.sf(abs(mean) / error, n - 1))
    return Estimate(mean, max(mean - width, -most), min(mean + width, most), p)


def bootstrap(
    values: ArrayLike,
    level: float = 0.95,
    random_state: int = 0,
    *,
    weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Estimate:
    """Mean over rows with the interval of its percentiles over resampled rows.

    With `weight` it is a weighted mean. Rows of the same group are drawn together.

    Examples
    --------
    >>> print(bootstrap([0.0, 1.0, 1.0, 1.0]))
    0.750 (0.250 to 1.000)
    >>> print(bootstrap([0.0, 1.0, 1.0, 1.0], weight=[3, 1, 1, 1], groups=["a", "a", "a", "a"]))
    0.500 (0.500 to 0.500)
    """
    rows = np.asarray(values, dtype=float)
    own = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=float)
    of = np.arange(len(rows)) if groups is None else np.unique(groups, return_inverse=True)[1]
    size = np.bincount(of, own)
    drawn = size > 0  # groups of weight 0 are not drawn, since a sample of them would have no mean
    total, size = np.bincount(of, own * rows)[drawn], size[drawn]
    rng = np.random.default_rng(random_state)
    means = []
    for _ in range(RESAMPLES):
        some = rng.integers(len(total), size=len(total))
        means.append(total[some].sum() / size[some].sum())
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(total.sum() / size.sum()), float(low), float(high))


def _splits(
    n: int, n_folds: int, n_repeats: int, groups: ArrayLike | None, random_state: Seed
) -> Iterator[Split]:
    rng = check_random_state(random_state)
    kind = KFold if groups is None else GroupKFold
    for repeat in range(1, n_repeats + 1):
        seed = rng.randint(np.iinfo(np.int32).max)
        cv = kind(n_folds, shuffle=True, random_state=seed)
        for fold, (train, test) in enumerate(cv.split(np.empty((n, 0)), groups=groups), 1):
            yield Split(repeat, fold, train, test)


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array, a sparse matrix or a frame."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]
