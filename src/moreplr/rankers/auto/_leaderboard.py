"""What each member of a mixture is worth, as a table and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from moreplr._types import Array
from moreplr.rankers.auto._judging import Judged


def leaderboard(
    judged: dict[str, Judged],
    left_out: dict[str, str],
    weights: dict[str, float],
    scores: dict[str, tuple[float, float]],
    n_rows: int,
) -> pd.DataFrame:
    """A row for each member, the weightiest first; `scores` are τ_X and log loss."""
    board = [
        {
            "member": name,
            "weight": weights.get(name, 0.0),
            "tau_x": scores[name][0],
            "log_loss": scores[name][1],
            "seconds": one.seconds,
            "status": _status(one, weights.get(name, 0.0), n_rows),
        }
        for name, one in judged.items()
    ]
    board += [
        {"member": name, "weight": 0.0, "status": f"left out: {reason}"}
        for name, reason in left_out.items()
    ]
    return pd.DataFrame(board).sort_values(
        "weight", ascending=False, kind="stable", ignore_index=True
    )


def _status(one: Judged, weight: float, n_rows: int) -> str:
    status = "mixed" if weight > 0 else "dropped: hardly any weight"
    return status if one.rows is None else f"{status}, fitted on {len(one.rows)} of {n_rows} rows"


def mean(values: Array, weight: Array | None) -> float:
    """Weighted, of what is known."""
    known = ~np.isnan(values)
    weights = np.ones(len(values)) if weight is None else weight
    total = weights[known].sum()
    return float(weights[known] @ values[known] / total) if total > 0 else float("nan")


def summary(weights: dict[str, float], tau: float, gains: Array, weight: Array | None) -> str:
    """What was mixed, and whether it is better than the consensus."""
    parts = ", ".join(f"{name} {share:.0%}" for name, share in weights.items())
    text = f"A mixture of {parts}: τ_X {tau:.3f} on held-out rows"
    known = ~np.isnan(gains)
    if known.sum() < 2:
        return f"{text}; too few rows to compare it with the consensus."
    gain = mean(gains, weight)
    error = float(gains[known].std(ddof=1) / np.sqrt(known.sum()))
    if gain > error:
        return f"{text}, {gain:.3f} ± {error:.3f} more than the consensus."
    return (
        f"{text}. Nothing beats the consensus ({gain:+.3f} ± {error:.3f}): the features seem to "
        "say nothing about the rankings, and predictions are hardly better than one ranking for "
        "all."
    )
