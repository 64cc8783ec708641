"""Votes: comparisons of two labels, one in each row."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from moreplr.rankings._canonical import check_labels, check_rankings, sorted_labels
from moreplr.rankings._cells import clip, is_missing
from moreplr.rankings._frames import (
    RankedTable,
    check_frame,
    column,
    make_frame,
    others,
    ranked_table,
    select,
)
from moreplr.rankings._long import label_columns, row_names

TIES = ("tie", "draw", "both good", "both bad", "bothbad", "tie (bothbad)")


def from_votes(
    frame: Any,
    a: Any,
    b: Any,
    winner: Any,
    *,
    ties: Collection[Any] = TIES,
    skip: Collection[Any] = (),
    labels: Iterable[Any] | None = None,
    ignore: Iterable[Any] = (),
) -> RankedTable:
    """Rankings of two labels each from a table of votes.

    Each vote is a row of its own, with the features of its line. Votes of one context are not
    joined into one ranking: they may contradict each other, and leave pairs open that a ranking
    would have to order. Keep such rows together in cross-validation by `groups`.

    Parameters
    ----------
    frame : pandas or polars frame
    a, b : str
        The columns of the two that were compared.
    winner : str
        The column of the result: the winner's name, the column's name (`a` or `b`), or the
        letter a or b.
    ties : collection
        Results that mean a tie. "Both bad" is one: a ranking compares labels and rates none.
    skip : collection
        Results of votes to leave out, such as ``["both bad"]``, or ``[""]`` for no answer.
    labels : iterable, optional
        The labels, in the order of the columns of Y; by default all that occur, sorted.
    ignore : iterable of names or patterns
        Columns that are no features.

    See Also
    --------
    to_votes : the way back.

    Examples
    --------
    >>> import pandas as pd
    >>> from moreplr.rankings import from_votes, to_text
    >>> votes = pd.DataFrame({"words": [12, 200], "left": ["gpt", "llama"],
    ...                       "right": ["llama", "claude"], "winner": ["gpt", "tie"]})
    >>> X, Y = from_votes(votes, "left", "right", "winner")
    >>> to_text(Y)
    ['gpt > llama', 'claude ~ llama']
    >>> list(X)
    ['words']
    """
    columns = check_frame(frame)
    left, right = column(frame, a, "a"), column(frame, b, "b")
    said = column(frame, winner, "winner")
    tied, skipped = ({_plain(cell) for cell in cells} for cells in (ties, skip))
    won = np.zeros((len(said), 2))
    kept = np.ones(len(said), dtype=bool)
    for row, (first, second, result) in enumerate(zip(left, right, said, strict=True)):
        _check_two(row, a, first, b, second)
        if _plain(result) in skipped:
            kept[row] = False
        else:
            won[row] = _places(row, winner, result, (first, second), (a, b), tied)
    if not kept.any():
        raise ValueError(f"column {winner!r}: all votes are skipped")
    named = set(left[kept]) | set(right[kept])
    names = sorted_labels(named) if labels is None else check_labels(labels)
    rows = np.flatnonzero(kept)
    positions = np.full((len(rows), len(names)), np.nan)
    for cells, places in ((left, won[:, 0]), (right, won[:, 1])):
        at = label_columns(cells[rows], names, rows)
        positions[np.arange(len(rows)), at] = places[rows]
    X = select(frame, others(columns, (a, b, winner), ignore), rows)
    return ranked_table(X, positions, names)


def to_votes(
    Y: Any,
    labels: Iterable[Any] | None = None,
    *,
    rows: Iterable[Any] | None = None,
    library: str = "pandas",
) -> Any:
    """Write rankings as votes: a line for each pair of labels that a row ranks.

    Parameters
    ----------
    Y : rankings in any form that :func:`check_rankings` accepts
    labels : iterable, optional
    rows : iterable, optional
        The name of each row; by default the index of a pandas frame, else 0, 1, …
    library : {"pandas", "polars"}

    Examples
    --------
    >>> from moreplr.rankings import to_votes
    >>> to_votes(["b > a ~ c"]).values.tolist()
    [[0, 'a', 'b', 'b'], [0, 'a', 'c', 'tie'], [0, 'b', 'c', 'b']]
    """
    positions, names = check_rankings(Y, labels)
    keys = row_names(Y, rows, len(positions))
    i, j = np.triu_indices(len(names), 1)
    difference = positions[:, i] - positions[:, j]
    at, pair = np.nonzero(~np.isnan(difference))
    first, second = names[i[pair]], names[j[pair]]
    sign = difference[at, pair]
    won = np.where(sign < 0, first, np.where(sign > 0, second, "tie"))
    return make_frame(
        {
            "row": keys[at].tolist(),
            "a": first.tolist(),
            "b": second.tolist(),
            "winner": won.tolist(),
        },
        library,
    )


def _plain(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell).strip().lower()


def _check_two(row: int, a: Any, first: Any, b: Any, second: Any) -> None:
    for name, cell in ((a, first), (b, second)):
        if _plain(cell) == "":
            raise ValueError(f"row {row}, column {name!r} is empty; a vote is between two labels")
    if first == second:
        raise ValueError(
            f"row {row}: {clip(first)} is compared with itself in columns {a!r} and {b!r}; leave "
            "the row out"
        )


def _places(
    row: int,
    winner: Any,
    result: Any,
    pair: tuple[Any, Any],
    columns: tuple[Any, Any],
    tied: Collection[str],
) -> tuple[int, int]:
    text = _plain(result)
    # Names of labels come first: a label may be called `a` or `tie`.
    for names in (pair, columns, ("a", "b")):
        if text in (_plain(names[0]), _plain(names[1])):
            return (1, 2) if text == _plain(names[0]) else (2, 1)
    if text in tied:
        return (1, 1)
    shown = "''" if text == "" else clip(result)
    raise ValueError(
        f"row {row}, column {winner!r}: {shown} is neither {clip(pair[0])} nor {clip(pair[1])}, "
        f"nor one of the columns {clip(columns[0])} and {clip(columns[1])}; if it is a tie, say "
        f"ties=[{shown}], and skip=[{shown}] leaves such votes out"
    )
