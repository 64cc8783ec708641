"""Scores in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from moreplr.model_selection import CORRECTED, Estimate, by_split, corrected_t, ratio_of_rows
from moreplr.rankings._cells import count

# The name of the ranker without features in tables of scores; it is shown as "consensus".
CONSENSUS = "dummy"


def summary(data: Any, scores: pd.DataFrame, level: float) -> Iterator[str]:
    """Each ranker's score, the gain of the first over the consensus, and the kind of means."""
    means, gain = estimates(scores, level)
    top = scores.groupby("ranker")["top_one"].mean()
    yield describe(data)
    width = max(map(len, [*map(shown, means), "difference"]))
    for name, found in means.items():
        yield f"{shown(name):<{width}}  tau_x {found}, best label right in {top[name]:.0%}"
    if gain is not None:
        yield f"{'difference':<{width}}  tau_x {gain}: {verdict(gain)}"
    yield f"means over {folds(scores)}, with {100 * level:g}% intervals: {CORRECTED}"


def estimates(scores: pd.DataFrame, level: float) -> tuple[dict[str, Estimate], Estimate | None]:
    """The mean of each ranker, and of the gain of the first over the consensus."""
    wide, ratio = by_split(scores), ratio_of_rows(scores)
    means = {str(name): corrected_t(wide[name], ratio, level) for name in wide}
    if wide.columns[0] == CONSENSUS:
        return means, None
    return means, corrected_t(wide.iloc[:, 0] - wide[CONSENSUS], ratio, level, 2)


def verdict(gain: Estimate) -> str:
    """What a gain over the consensus means."""
    if gain.low > 0:
        return "it has learned from the features"
    if gain.high < 0:
        return "worse than not looking at the features"
    return "no sure gain over not looking at the features"


def pairs_right(tau: float) -> int:
    """How many of 100 pairs of labels are in the right relation; half right counts half.

    Examples
    --------
    >>> pairs_right(0.7), pairs_right(0.0)
    (85, 50)
    """
    return round(50 * (1 + tau))


def shown(name: str) -> str:
    """A ranker's name as it is shown."""
    return "consensus" if name == CONSENSUS else name


def describe(data: Any) -> str:
    """Name and size of a data set."""
    (n, d), k = data.X.shape, data.Y.shape[1]
    return f"{data.name}: {count(n, 'row')}, {count(d, 'feature')}, {count(k, 'label')}"


def folds(scores: pd.DataFrame) -> str:
    """The number of folds, and of repetitions."""
    repeats = scores["repeat"].nunique()
    repeated = f", repeated {repeats} times" if repeats > 1 else ""
    return f"{scores['fold'].nunique()} folds{repeated}"
