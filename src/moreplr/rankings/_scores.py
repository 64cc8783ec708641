"""Rankings from scores, such as ratings, run times and probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from moreplr._types import Array, Positions
from moreplr._validation import check_name
from moreplr.rankings._canonical import check_rankings, to_frame
from moreplr.rankings._cells import clip, to_floats
from moreplr.rankings._frames import (
    RankedTable,
    check_frame,
    find_labels,
    others,
    ranked_table,
    select,
)
from moreplr.rankings._matrices import dense_ranks

MISSING = ("unranked", "last")
# Scores that differ by exactly the tolerance tie, despite rounding errors.
_ROUNDING = 1e-9


def from_scores(
    frame: Any,
    labels: Any = None,
    *,
    larger_is_better: bool,
    tolerance: float | str = 0.0,
    missing: str = "unranked",
    ignore: Iterable[Any] = (),
) -> RankedTable:
    """Rankings from a table of scores, one column for each label.

    Parameters
    ----------
    frame : pandas or polars frame
    labels : list of names, str, or int, optional
        The columns of scores: their names, a pattern such as ``"time_*"`` or a prefix, or the
        number of last columns. All others are features. By default all are scores.
    larger_is_better : bool
        Whether the largest score is the best (accuracy, stars) or the smallest (run time, error).
        An infinitely bad score is last, as of a solver that did not finish.
    tolerance : float or str
        Scores that are so close tie: a difference such as ``0.5``, or a share of the better
        score such as ``"1%"``. A bucket holds the scores that are close to its best
        one; the next score opens a new bucket. So no two labels of a bucket are further apart
        than the tolerance.
    missing : {"unranked", "last"}
        Whether nothing is known of a label without a score, or it failed and comes last.
    ignore : iterable of names or patterns
        Columns that are no features.

    See Also
    --------
    from_ratings : larger is better, equal ones tie.
    to_scores : the way back.

    Examples
    --------
    >>> import pandas as pd
    >>> from moreplr.rankings import from_scores, to_text
    >>> runs = pd.DataFrame({"size": [10, 90], "time_a": [100.0, float("inf")],
    ...                      "time_b": [100.7, 3.0], "time_c": [101.4, None]})
    >>> X, Y = from_scores(runs, "time_*", larger_is_better=False, tolerance="1%",
    ...                    missing="last")
    >>> to_text(Y)
    ['time_a ~ time_b > time_c', 'time_b > time_a ~ time_c']
    """
    columns = check_frame(frame)
    named = columns if labels is None else find_labels(columns, labels)
    chosen = select(frame, named)
    positions = rank_scores(
        chosen.to_numpy(),
        named,
        larger_is_better=larger_is_better,
        tolerance=tolerance,
        missing=missing,
    )
    X = select(frame, others(columns, named, ignore))
    return ranked_table(X, positions, named)


def from_ratings(frame: Any, labels: Any = None, *, ignore: Iterable[Any] = ()) -> RankedTable:
    """Rankings from a table of ratings, such as stars: larger is better, equal ones tie.

    Parameters
    ----------
    frame : pandas or polars frame
    labels : list of names, str, or int, optional
        The columns of ratings, as in :func:`from_scores`; an empty cell is not ranked.
    ignore : iterable of names or patterns
        Columns that are no features.

    Examples
    --------
    >>> import pandas as pd
    >>> from moreplr.rankings import from_ratings, to_text
    >>> stars = pd.DataFrame({"age": [30, 50], "tea": [5, 2], "milk": [3, 2], "beer": [None, 4]})
    >>> X, Y = from_ratings(stars, ["tea", "milk", "beer"])
    >>> to_text(Y)
    ['tea > milk', 'beer > tea ~ milk']
    """
    return from_scores(frame, labels, larger_is_better=True, ignore=ignore)


def to_scores(
    Y: Any,
    labels: Iterable[Any] | None = None,
    *,
    larger_is_better: bool,
    library: str = "pandas",
) -> Any:
    """Write rankings as scores: the number of buckets that are worse, or that are better.

    Examples
    --------
    >>> from moreplr.rankings import to_scores
    >>> to_scores(["b > a ~ c"], larger_is_better=True).to_dict("list")
    {'a': [0.0], 'b': [1.0], 'c': [0.0]}
    >>> to_scores(["b > a ~ c"], larger_is_better=False).to_dict("list")
    {'a': [1.0], 'b': [0.0], 'c': [1.0]}
    """
    positions, names = check_rankings(Y, labels)
    ranks = dense_ranks(positions)
    scores = (
        np.nan_to_num(ranks).max(axis=1, keepdims=True) - ranks if larger_is_better else ranks - 1
    )
    return to_frame(scores, names, library=library)


def rank_scores(
    scores: Any,
    names: Iterable[Any],
    *,
    larger_is_better: bool,
    tolerance: float | str = 0.0,
    missing: str = "unranked",
) -> Positions:
    """Dense ranks of an array of scores; see :func:`from_scores`."""
    check_name("missing", missing, MISSING)
    margin, relative = parse_tolerance(tolerance)
    listed = list(names)
    values = to_floats(np.asarray(scores), listed, "score")
    cost = -values if larger_is_better else values
    endless = np.argwhere(np.isneginf(cost))
    if len(endless):
        row, col = endless[0]
        raise ValueError(
            f"row {row}, label {listed[col]!r}: no score is better than {values[row, col]}; an "
            "infinite score means failed and must be the worst"
        )
    if missing == "last":
        cost = np.where(np.isnan(cost), np.inf, cost)
    return _ranks(cost, margin, relative)


def parse_tolerance(tolerance: float | str) -> tuple[float, bool]:
    """The size of a tolerance, and whether it is a share.

    Examples
    --------
    >>> parse_tolerance("1%"), parse_tolerance(0.5)
    ((0.01, True), (0.5, False))
    """
    text = str(tolerance).strip()
    relative = text.endswith("%")
    try:
        size = float(text.removesuffix("%")) / (100 if relative else 1)
    except ValueError:
        size = -1.0
    if not (0 <= size < np.inf):
        raise ValueError(
            f"tolerance must be a number from 0 or a share such as '1%', got {clip(tolerance)}"
        )
    return size, relative


def _ranks(cost: Array, margin: float, relative: bool) -> Positions:
    order = np.argsort(cost, axis=1, kind="stable")
    ordered = np.take_along_axis(cost, order, axis=1)
    ranks = np.empty(cost.shape)
    best = np.full(len(cost), np.nan)  # of the bucket that is open
    rank = np.zeros(len(cost))
    for place in range(cost.shape[1]):
        value = ordered[:, place]
        reach = margin * np.where(np.isinf(best), 0.0, np.abs(best)) if relative else margin
        far = value - np.where(np.isinf(best), 0.0, best)
        opens = np.where(np.isinf(best), value != best, ~(far <= reach * (1 + _ROUNDING)))
        rank += opens
        best = np.where(opens, value, best)
        ranks[:, place] = rank
    out = np.empty(cost.shape)
    np.put_along_axis(out, order, ranks, axis=1)
    out[np.isnan(cost)] = np.nan
    return out
