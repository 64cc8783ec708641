"""Rankings from the best and the worst of some, as in best-worst scaling and tricot trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr.rankings._canonical import check_labels, check_rankings, sorted_labels, to_buckets
from moreplr.rankings._cells import clip, is_missing, shorten
from moreplr.rankings._frames import (
    RankedTable,
    check_frame,
    column,
    find_columns,
    make_frame,
    others,
    ranked_table,
    select,
)
from moreplr.rankings._matrices import dense_ranks


def from_choices(
    frame: Any,
    tried: Sequence[Any],
    best: Any = None,
    worst: Any = None,
    *,
    labels: Iterable[Any] | None = None,
    ignore: Iterable[Any] = (),
) -> RankedTable:
    """Rankings from the best and the worst of those that were tried.

    The best comes first, the worst last, and those between share one place. Of three, that is
    their complete order; of more, the ones between are tied although nobody compared them.

    Parameters
    ----------
    frame : pandas or polars frame
    tried : list of names or patterns
        The columns of what was tried, such as ``["item_A", "item_B", "item_C"]``. Empty
        cells are ignored.
    best, worst : str, optional
        The columns of the answers: a label, the name of its column, or the letter of its place
        among `tried` (A, B, C, …). Empty is no answer; a row without any ranks nothing.
    labels : iterable, optional
        The labels, in the order of the columns of Y; by default all that occur, sorted.
    ignore : iterable of names or patterns
        Columns that are no features.

    See Also
    --------
    to_choices : the way back.

    Examples
    --------
    >>> import pandas as pd
    >>> from moreplr.rankings import from_choices, to_text
    >>> farms = pd.DataFrame({"rain": [310, 95], "item_A": ["oat", "rye"],
    ...     "item_B": ["rye", "emmer"], "item_C": ["spelt", "oat"],
    ...     "best": ["B", "A"], "worst": ["C", "B"]})
    >>> X, Y = from_choices(farms, ["item_*"], "best", "worst")
    >>> to_text(Y)
    ['rye > oat > spelt', 'rye > oat > emmer']
    """
    columns = check_frame(frame)
    tried = find_columns(columns, tried, "tried")
    if len(tried) < 2:
        raise ValueError(f"tried must name two or more columns, got {shorten(tried)}")
    if best is None and worst is None:
        raise ValueError("say which column holds the best, or the worst, or both")
    cells = np.stack([column(frame, name, "tried") for name in tried], axis=1)
    answers = {
        name: column(frame, name, parameter)
        for parameter, name in (("best", best), ("worst", worst))
        if name is not None
    }
    tested = {cell for cell in cells.ravel() if not _empty(cell)}
    names = sorted_labels(tested) if labels is None else check_labels(labels)
    at = {name: number for number, name in enumerate(names)}
    positions = np.full((len(cells), len(names)), np.nan)
    for row, own in enumerate(cells):
        chosen = {
            name: _chosen(row, name, answer[row], own, tried) for name, answer in answers.items()
        }
        picks = [pick for pick in chosen.values() if pick is not None]
        if not picks:
            continue
        if len(picks) == 2 and picks[0] == picks[1]:
            raise ValueError(
                f"row {row}: {clip(own[picks[0]])} is both best and worst (columns {best!r} and "
                f"{worst!r}); leave one of them empty"
            )
        for place, label in enumerate(own):
            if _empty(label):
                continue
            if label not in at:
                raise ValueError(f"row {row}: {clip(label)} is not among the labels")
            if not np.isnan(positions[row, at[label]]):
                raise ValueError(
                    f"row {row}: {clip(label)} was tried twice, the second time in column "
                    f"{tried[place]!r}; leave that empty"
                )
            first, last = chosen.get(best) == place, chosen.get(worst) == place
            positions[row, at[label]] = 1 if first else 3 if last else 2
    X = select(frame, others(columns, [*tried, *answers], ignore))
    return ranked_table(X, dense_ranks(positions), names)


def to_choices(Y: Any, labels: Iterable[Any] | None = None, *, library: str = "pandas") -> Any:
    """Write rankings as the best and the worst of those that they rank.

    A place that several share is no answer. What choices can't express is an error: more than one
    bucket between best and worst, and rankings whose labels are all tied.

    Examples
    --------
    >>> from moreplr.rankings import to_choices
    >>> to_choices(["b > a > c", "a > b ~ c"]).fillna("").values.tolist()
    [['b', 'a', 'c', 'b', 'c'], ['a', 'b', 'c', 'a', '']]
    """
    positions, names = check_rankings(Y, labels)
    rows = to_buckets(positions, names)
    most = max((sum(map(len, row)) for row in rows), default=0)
    cells: dict[str, list[Any]] = {f"tried_{place + 1}": [] for place in range(most)}
    ends: dict[str, list[Any]] = {"best": [], "worst": []}
    for number, row in enumerate(rows):
        first = row[0][0] if len(row) > 1 and len(row[0]) == 1 else None
        last = row[-1][0] if len(row) > 1 and len(row[-1]) == 1 else None
        between = len(row) - (first is not None) - (last is not None)
        if row and (between > 1 or first is last is None):
            raise ValueError(f"row {number}: choices of best and worst can't say {clip(row)}")
        listed = [label for bucket in row for label in bucket]
        for place, column_cells in enumerate(cells.values()):
            column_cells.append(listed[place] if place < len(listed) else None)
        ends["best"].append(first)
        ends["worst"].append(last)
    return make_frame({**cells, **ends}, library)


def _empty(cell: Any) -> bool:
    return is_missing(cell) or cell == ""


def _chosen(
    row: int, name: Any, answer: Any, own: NDArray[Any], tried: Sequence[Any]
) -> int | None:
    """Which of those tried an answer means."""
    if _empty(answer):
        return None
    letters = [chr(ord("a") + place) for place in range(len(tried))]
    text = str(answer).strip().lower()
    for names in (own, tried, letters):
        plain = [str(one).strip().lower() for one in names]
        if text in plain:
            place = plain.index(text)
            if not _empty(own[place]):
                return place
    raise ValueError(
        f"row {row}, column {name!r}: {clip(answer)} is none of those tried: "
        f"{shorten(label for label in own if not _empty(label))}, or {letters[0].upper()} to "
        f"{letters[-1].upper()}; leave the cell empty where there is no answer"
    )
