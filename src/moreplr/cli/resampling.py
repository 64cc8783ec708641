"""How sure a measured accuracy is: cross-validation, the bootstrap, and their intervals.

Scores of folds depend on each other, since training sets overlap: their plain standard error is
too small. The corrected resampled t of Nadeau and Bengio (2003) adds the ratio of test to
training rows to its variance.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import Pipeline

from moreplr._types import Positions
from moreplr.cli.problems import note
from moreplr.datasets import Dataset
from moreplr.metrics import tau_x_score, top_one_score

RESAMPLES = 2000
CORRECTED = "corrected resampled t interval of Nadeau and Bengio (2003)"
BOOTSTRAP = f"percentile bootstrap over rows, {RESAMPLES:,} resamples"


@dataclass(frozen=True)
class Estimate:
    """A mean, a confidence interval, and the p-value of the mean being zero."""

    mean: float
    low: float
    high: float
    p_value: float = float("nan")

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


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
    p = float(mean == 0)  # scores that don't vary leave no doubt
    if error > 0:
        p = float(2 * stats.t.sf(abs(mean) / error, n - 1))
    return Estimate(mean, max(mean - width, -most), min(mean + width, most), p)


def bootstrap(values: ArrayLike, level: float = 0.95, random_state: int = 0) -> Estimate:
    """Mean over rows with the interval of its percentiles over resampled rows.

    Examples
    --------
    >>> print(bootstrap([0.0, 1.0, 1.0, 1.0]))
    0.750 (0.250 to 1.000)
    """
    rows = np.asarray(values, dtype=float)
    rng = np.random.default_rng(random_state)
    means = [rows[rng.integers(len(rows), size=len(rows))].mean() for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(rows.mean()), float(low), float(high))


def cross_validate(
    data: Dataset,
    rankers: dict[str, Any],
    *,
    folds: int,
    repeats: int,
    random_state: int,
    advance: Callable[[int, str], None],
) -> pd.DataFrame:
    """Scores of each ranker on the same splits, one row for each ranker and split.

    The preprocessing of features is fitted on the training rows of each split.
    """
    _check_folds(data, folds, repeats)
    Y = data.Y.to_numpy(dtype=float)
    splits = RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=random_state)
    rows = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for number, (train, test) in enumerate(splits.split(Y)):
            for name, ranker in rankers.items():
                advance(0, f"{data.name}: {name}")
                model = Pipeline([("features", data.preprocessor()), ("ranker", clone(ranker))])
                begun = time.perf_counter()
                model.fit(data.X.iloc[train], data.Y.iloc[train])
                seconds = time.perf_counter() - begun
                scores = score_rows(Y[test], model.predict(data.X.iloc[test]))
                rows.append(
                    {
                        "data": data.name,
                        "ranker": name,
                        "repeat": number // folds + 1,
                        "fold": number % folds + 1,
                        "train_rows": len(train),
                        "test_rows": len(test),
                        **scores.mean().to_dict(),
                        "fit_seconds": round(seconds, 3),
                    }
                )
                advance(1, f"{data.name}: {name}")
    _repeat_warnings(caught, len(rows))
    return pd.DataFrame(rows)


def score_rows(true: Positions, predicted: Positions) -> pd.DataFrame:
    """tau_x and top_one of each row; NaN where there is nothing to compare."""
    return pd.DataFrame(
        {
            "tau_x": tau_x_score(true, predicted, per_sample=True),
            "top_one": top_one_score(true, predicted, per_sample=True),
        }
    )


def test_train_ratio(scores: pd.DataFrame) -> float:
    """Test rows by training rows."""
    return float((scores["test_rows"] / scores["train_rows"]).mean())


def by_split(scores: pd.DataFrame, column: str = "tau_x") -> pd.DataFrame:
    """One row for each split and a column for each ranker, without splits that lack a score."""
    wide = scores.pivot(index=["repeat", "fold"], columns="ranker", values=column)
    return wide[list(dict.fromkeys(scores["ranker"]))].dropna()


def _check_folds(data: Dataset, folds: int, repeats: int) -> None:
    if folds < 2 or repeats < 1:
        raise ValueError(f"--folds must be 2 or more, --repeats 1 or more: {folds}, {repeats}")
    if len(data.X) < folds:
        raise ValueError(f"{data.name} has {len(data.X)} rows, too few for {folds} folds")
    if not (data.Y.notna().sum(axis=1) > 1).any():
        raise ValueError(f"{data.name}: no row ranks two labels, so that nothing can be scored")


def _repeat_warnings(caught: list[Any], fits: int) -> None:
    """Say once what many fits warned of; they differ in numbers only."""
    seen: Counter[str] = Counter()
    first: dict[str, str] = {}
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            text = " ".join(str(warning.message).split())
            kind = re.sub(r"\d+", "#", text)
            seen[kind] += 1
            first.setdefault(kind, text)
    for kind, count in seen.items():
        note(f"{first[kind]} (such in {min(count, fits)} of {fits} fits)")
