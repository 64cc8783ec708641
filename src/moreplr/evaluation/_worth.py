"""The value of choosing the label that a ranker puts first, in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from moreplr.metrics._choices import chosen_values


@dataclass(frozen=True)
class Worth:
    """Mean values of three ways to choose, over the rows in which all three are known.

    Attributes
    ----------
    chosen : the label that is ranked first
    single : the label that is best on average, chosen in every row
    best : the best label of each row
    label : the label that is best on average
    rows : number of rows
    penalty : the value of a failure, or None
    """

    chosen: float
    single: float
    best: float
    label: str
    rows: int
    penalty: float | None

    @property
    def closed(self) -> float:
        """The share of the gap between single and best that is closed; NaN if there is none."""
        gap = self.best - self.single
        return (self.chosen - self.single) / gap if gap else float("nan")


def worth_of(data: Any, rows: Any, ranks: Any) -> Worth | None:
    """The value of choices by these ranks; None for data without scores."""
    if data.scores is None:
        return None
    scores, penalty = data.scores.astype(float), None
    if data.cutoff is not None:
        penalty = 10 * data.cutoff
        scores = scores.mask(scores > data.cutoff, penalty)
    if np.isinf(scores.to_numpy()).any():
        return None  # the cost of a failure is not known
    sign = 1.0 if data.larger_is_better else -1.0
    means = sign * scores.mean()
    if means.isna().all():
        return None
    label = means.idxmax()
    own = scores.to_numpy()[rows]
    chosen, single = chosen_values(own, ranks, own), own[:, scores.columns.get_loc(label)]
    best = sign * np.fmax.reduce(sign * own, axis=1)
    seen = np.isfinite(chosen) & np.isfinite(single)
    if not seen.any():
        return None
    return Worth(
        float(chosen[seen].mean()),
        float(single[seen].mean()),
        float(best[seen].mean()),
        str(label),
        int(seen.sum()),
        penalty,
    )
