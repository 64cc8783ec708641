"""Rankings in long format: a line for each row and label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Labels
from moreplr.rankings._canonical import check_labels, check_rankings, sorted_labels
from moreplr.rankings._cells import check_no_truths, clip, is_missing, to_floats
from moreplr.rankings._frames import (
    RankedTable,
    check_frame,
    column,
    make_frame,
    objects,
    others,
    ranked_table,
    select,
)


def from_long(
    frame: Any,
    row: Any,
    label: Any,
    position: Any,
    *,
    labels: Iterable[Any] | None = None,
    ignore: Iterable[Any] = (),
) -> RankedTable:
    """Rankings from a table with a line for each row and label.

    Parameters
    ----------
    frame : pandas or polars frame
    row : str
        The column whose value is the same for lines that belong together, such as a user.
    label : str
        The column of what is ranked.
    position : str
        The column of positions: 1 is best, equal is tied, empty is not ranked. Ratings or
        run times become positions by :func:`from_scores`: ``from_scores(table.Y, …)``.
    labels : iterable, optional
        The labels, in the order of the columns of Y; by default all that occur, sorted.
    ignore : iterable of names or patterns
        Columns that are no features. All others are, and must not differ within a row.

    Returns
    -------
    RankedTable
        A row for each value of `row`, in the order in which they first occur, which is also
        the index of pandas frames.

    See Also
    --------
    to_long : the way back.

    Examples
    --------
    >>> import pandas as pd
    >>> from moreplr.rankings import from_long
    >>> lines = pd.DataFrame({"user": ["u1", "u1", "u2"], "age": [30, 30, 50],
    ...                       "item": ["tea", "milk", "tea"], "rank": [1, 2, 1]})
    >>> X, Y = from_long(lines, "user", "item", "rank")
    >>> Y.to_dict("index")
    {'u1': {'milk': 2.0, 'tea': 1.0}, 'u2': {'milk': nan, 'tea': 1.0}}
    >>> X["age"].to_dict()
    {'u1': 30, 'u2': 50}
    """
    columns = check_frame(frame)
    keys = column(frame, row, "row")
    named = column(frame, label, "label")
    for name, cells in ((row, keys), (label, named)):
        _check_full(name, cells)
    values = column(frame, position, "position")
    check_no_truths(values[:, None], [position], "column")
    lines, found = pd.factorize(keys)
    first = np.unique(lines, return_index=True)[1]
    names = sorted_labels(set(named)) if labels is None else check_labels(labels)
    at = label_columns(named, names)
    positions = np.full((len(found), len(names)), np.nan)
    _check_once(lines, at, found, names)
    positions[lines, at] = to_floats(values[:, None], [position], "position", "column")[:, 0]
    features = others(columns, (row, label, position), ignore)
    for name in features:
        _check_constant(name, column(frame, name, "features"), lines, first, found)
    X = select(frame, features, first)
    if hasattr(X, "iloc"):
        X.index = pd.Index(found, name=row)
    return ranked_table(X, positions, names)


def to_long(
    Y: Any,
    labels: Iterable[Any] | None = None,
    *,
    rows: Iterable[Any] | None = None,
    library: str = "pandas",
) -> Any:
    """Write rankings as a frame with a line for each row and label that it ranks.

    Parameters
    ----------
    Y : rankings in any form that :func:`check_rankings` accepts
    labels : iterable, optional
    rows : iterable, optional
        The name of each row; by default the index of a pandas frame, else 0, 1, …
    library : {"pandas", "polars"}

    Examples
    --------
    >>> from moreplr.rankings import to_long
    >>> to_long(["b > a", "a"]).values.tolist()
    [[0, 'a', 2.0], [0, 'b', 1.0], [1, 'a', 1.0]]
    """
    positions, names = check_rankings(Y, labels)
    keys = row_names(Y, rows, len(positions))
    at, columns = np.nonzero(~np.isnan(positions))
    return make_frame(
        {
            "row": keys[at].tolist(),
            "label": names[columns].tolist(),
            "position": positions[at, columns].tolist(),
        },
        library,
    )


def row_names(Y: Any, rows: Iterable[Any] | None, n: int) -> NDArray[Any]:
    """Names of the rows: as given, or a pandas index, or numbers from 0."""
    if rows is None:
        index = getattr(Y, "index", None)
        return objects(index) if isinstance(index, pd.Index) else objects(range(n))
    named = objects(rows)
    if len(named) != n:
        raise ValueError(f"rows has {len(named)} names, but Y has {n} rows")
    return named


def _check_full(name: Any, cells: NDArray[Any]) -> None:
    for number, cell in enumerate(cells):
        if is_missing(cell) or cell == "":
            raise ValueError(f"row {number}, column {name!r} is empty")


def label_columns(
    named: NDArray[Any], names: Labels, rows: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """The number of each label that is named; `rows` are the rows' numbers for messages."""
    known = {name: number for number, name in enumerate(names)}
    at = np.array([known.get(name, -1) for name in named], dtype=np.intp)
    if (at < 0).any():
        place = int(np.argmax(at < 0))
        row = place if rows is None else rows[place]
        raise ValueError(f"row {row}: {clip(named[place])} is not among the labels")
    return at


def _check_once(lines: NDArray[Any], at: NDArray[Any], found: Any, names: Labels) -> None:
    pairs = pd.DataFrame({"line": lines, "label": at})
    twice = pairs.duplicated().to_numpy()
    if twice.any():
        number = int(np.argmax(twice))
        raise ValueError(
            f"row {number}: {clip(found[lines[number]])} ranks {clip(names[at[number]])} a second "
            "time; a row ranks a label once"
        )


def _check_constant(
    name: Any, cells: NDArray[Any], lines: NDArray[Any], first: NDArray[Any], found: Any
) -> None:
    own = cells[first][lines]
    gap, own_gap = pd.isna(cells), pd.isna(own)
    differs = (gap != own_gap) | (~gap & ~own_gap & (cells != own).astype(bool))
    if differs.any():
        number = int(np.argmax(differs))
        raise ValueError(
            f"row {number}: column {name!r} differs among the lines of "
            f"{clip(found[lines[number]])}: {clip(own[number])} and {clip(cells[number])}; "
            f"if it is no feature, say ignore=[{name!r}]"
        )
