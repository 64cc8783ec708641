"""From raw tables to features and rankings, whatever shape they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moreplr._types import Array
from moreplr.rankings import RankedTable, from_choices, from_long, from_text, from_votes
from moreplr.rankings._cells import clip, shorten
from moreplr.rankings._frames import find_columns, find_labels
from moreplr.rankings._scores import rank_scores
from moreplr.tables.cells import NUMBER, Reader, is_text
from moreplr.tables.options import TableOptions
from moreplr.tables.overview import notes_on_rankings, notes_on_scores


@dataclass(frozen=True)
class Shaped:
    """A table taken apart.

    Attributes
    ----------
    X : the features as they are, cells of CSV as texts
    Y : positions, a column for each label
    sample_weight, groups : the values of their columns
    notes : what looks odd
    scores : those that positions come from, a column for each label; None if one is infinite
    """

    X: pd.DataFrame
    Y: pd.DataFrame
    sample_weight: Array | None = None
    groups: NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)
    scores: pd.DataFrame | None = None


def shape_table(
    frame: pd.DataFrame,
    reader: Reader,
    options: TableOptions,
    model_labels: Iterable[Any] | None = None,
) -> Shaped:
    """Take a table apart; `model_labels` are those of a fitted model, where there is one.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": ["0.5"], "id": ["7"], "rank_a": ["2"], "rank_b": ["1"]})
    >>> shaped = shape_table(frame, Reader("t.csv"), TableOptions(labels="rank_*", ignore=["id"]))
    >>> list(shaped.X), shaped.Y.values.tolist()
    (['x'], [[2.0, 1.0]])
    """
    notes: list[str] = []
    with _named(reader.name):
        columns = [name for name in frame if not str(name).startswith("Unnamed: ")]
        if len(columns) < frame.shape[1]:
            notes.append("columns without a name are left out")
        ignored = set(find_columns(columns, options.ignore, "ignore"))
        frame = frame[[name for name in columns if name not in ignored]]
        aside = _set_aside(list(frame), options)
        values = None
        if options.is_wide:
            (X, Y), values = _read_wide(frame, reader, options, aside, model_labels, notes)
        else:
            X, Y = _read_shape(frame, reader, options, model_labels, notes)
        notes.extend(notes_on_rankings(Y.to_numpy(dtype=float), list(Y), options))
        weight, groups = _weight(X, reader, options), _groups(X, reader, options)
        X = X.drop(columns=list(dict.fromkeys(aside)))
        if X.shape[1] == 0:
            raise ValueError("no column is left for the features: there is nothing to learn from")
        Y = _without_prefix(Y, options.drop_prefix)
        if model_labels is not None:
            Y = _in_order(Y, list(map(str, model_labels)))
    scores = None
    if options.has_scores and values is not None and not np.isinf(values).any():
        scores = pd.DataFrame(values, columns=Y.columns)
    X, Y = X.reset_index(drop=True), Y.reset_index(drop=True)
    return Shaped(X, Y, weight, groups, notes, scores)


def read_cells(X: pd.DataFrame, reader: Reader, *, keep_types: bool) -> pd.DataFrame:
    """Features with their types: texts that all are numbers, or true and false, become such.

    `keep_types` leaves columns that are no texts, such as dates of a frame, as they are.
    """
    made = {}
    for name, cells in X.items():
        truths = reader.truths(cells)
        if keep_types and not is_text(cells):
            made[name] = _without_codes(cells, reader)
        elif truths is not None:
            kind = float if np.isnan(truths).any() else bool
            made[name] = pd.Series(truths.astype(kind), index=X.index)
        elif reader.kind(cells) == NUMBER:
            made[name] = pd.Series(reader.numbers(cells), index=X.index)
        else:
            made[name] = pd.Series(reader.texts(cells), index=X.index, dtype=object)
    return pd.DataFrame(made, index=X.index, columns=X.columns)


def _without_codes(cells: pd.Series, reader: Reader) -> pd.Series:
    is_number = pd.api.types.is_numeric_dtype(cells.dtype)
    codes = reader.codes if is_number and not pd.api.types.is_bool_dtype(cells.dtype) else []
    return cells.mask(cells.isin(codes)) if codes and cells.isin(codes).any() else cells


def _set_aside(columns: list[Any], options: TableOptions) -> list[Any]:
    """The columns of weights and groups, which are no features."""
    named = [(options.weight, "weight"), (options.group, "group")]
    return [
        found
        for name, parameter in named
        if name is not None
        for found in find_columns(columns, [name], parameter)
    ]


def _read_shape(
    frame: pd.DataFrame,
    reader: Reader,
    options: TableOptions,
    model_labels: Iterable[Any] | None,
    notes: list[str],
) -> RankedTable:
    names = _names(options, model_labels)
    if options.text is not None:
        text = _column(frame, options.text, "text")
        cells = Reader(reader.name, options.unranked, reader.decimal).texts(frame[text])
        positions, found = from_text(cells, names)
        if model_labels is None and not ((~np.isnan(positions)).sum(axis=1) > 1).any():
            raise ValueError(
                f"column {text!r} ranks two labels in no row; a ranking is a text such as "
                "'b > a ~ c': say which column holds them with text='…'"
            )
        return _table(frame.drop(columns=[text]), positions, found)
    if options.long is not None:
        return _read_long(frame, reader, options, names, notes)
    if options.votes is not None:
        voted = [_column(frame, name, "votes") for name in options.votes]
        ready = _plain(frame, voted, reader)
        return from_votes(ready, *voted, ties=options.ties, skip=options.skip, labels=names)
    ends = [
        None if not name else _column(frame, name, "choices") for name in options.choices or ()
    ]
    tried = find_columns(list(frame), options.tried, "tried")
    ready = _plain(frame, [*tried, *(name for name in ends if name is not None)], reader)
    return from_choices(ready, tried, *ends, labels=names)


def _read_wide(
    frame: pd.DataFrame,
    reader: Reader,
    options: TableOptions,
    aside: list[Any],
    model_labels: Iterable[Any] | None,
    notes: list[str],
) -> tuple[RankedTable, Array]:
    """The table, and the numbers of the label columns."""
    names = _names(options, model_labels)
    wanted = names if options.labels is None else options.labels
    columns = find_labels([name for name in frame if name not in aside], wanted)
    values = _scores(frame, columns, reader, options)
    notes.extend(notes_on_scores(values, options))
    positions = _positions(values, columns, options, options.missing)
    return _table(frame.drop(columns=columns), positions, columns), values


def _read_long(
    frame: pd.DataFrame,
    reader: Reader,
    options: TableOptions,
    names: list[Any] | None,
    notes: list[str],
) -> RankedTable:
    row, label, position = (_column(frame, name, "long") for name in options.long or ())
    ready = _plain(frame, [row, label], reader)
    values = _scores(frame, [position], reader, options)[:, 0]
    notes.extend(notes_on_scores(values, options))
    if options.missing == "last":  # of labels that have no line at all, nothing is known
        values = np.where(np.isnan(values), _failed(options), values)
    ready[position] = values
    table = from_long(ready, row, label, position, labels=names)
    if not options.has_scores:
        return table
    positions = _positions(table.Y.to_numpy(), list(table.Y), options, "unranked")
    return _table(table.X, positions, table.Y.columns)


def _scores(
    frame: pd.DataFrame, columns: list[Any], reader: Reader, options: TableOptions
) -> Array:
    """Numbers of the label columns: NaN where not ranked, infinite where it comes last."""
    advice = "if it means not ranked, say unranked=[{cell}]"
    if options.has_scores:
        advice += ", and last=[{cell}] if it comes last"
    cells = replace(reader, gaps=options.unranked, infinite=options.has_scores, advice=advice)
    failed = Reader(reader.name, options.last, reader.decimal)
    values = []
    for name in columns:
        column = frame[name]
        lost = failed.is_code(column)
        kept = column.mask(lost) if lost.any() else column
        found = cells.truths(kept)
        if found is None:
            found = cells.numbers(kept)
        elif not options.has_scores:
            row = int(np.argmax(~np.isnan(found)))
            raise ValueError(
                f"row {row}, column {name!r}: {column.iloc[row]} is no position; if true is "
                "better than false, say ratings=True"
            )
        values.append(np.where(lost, _failed(options), found))
    return np.stack(values, axis=1)


def _failed(options: TableOptions) -> float:
    return -np.inf if options.larger_is_better else np.inf


def _positions(values: Array, columns: list[Any], options: TableOptions, missing: str) -> Array:
    if not options.has_scores:
        return values
    return rank_scores(
        values,
        columns,
        larger_is_better=options.larger_is_better,
        tolerance=options.tolerance,
        missing=missing,
    )


def _plain(frame: pd.DataFrame, columns: list[Any], reader: Reader) -> pd.DataFrame:
    """The same table with columns of labels as texts without blanks, None for gaps."""
    ready = frame.copy()
    for name in dict.fromkeys(columns):
        if is_text(frame[name]):
            cells = [None if cell is None else cell.strip() for cell in reader.texts(frame[name])]
            ready[name] = pd.Series(cells, index=frame.index, dtype=object)
    return ready


def _weight(X: pd.DataFrame, reader: Reader, options: TableOptions) -> Array | None:
    if options.weight is None:
        return None
    weight = reader.numbers(X[options.weight])
    bad = ~(weight >= 0)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"row {at}, column {options.weight!r}: a weight must be a number from 0, got "
            f"{clip(X[options.weight].iloc[at])}"
        )
    return weight


def _groups(X: pd.DataFrame, reader: Reader, options: TableOptions) -> NDArray[Any] | None:
    if options.group is None:
        return None
    cells = reader.texts(X[options.group])
    for row, cell in enumerate(cells):
        if cell is None:
            raise ValueError(f"row {row}, column {options.group!r} is empty: which group is it?")
    return cells


def _without_prefix(Y: pd.DataFrame, prefix: str) -> pd.DataFrame:
    if not prefix:
        return Y
    other = [name for name in Y if not str(name).startswith(prefix)]
    if other:
        raise ValueError(f"label {other[0]!r} does not begin with drop_prefix={prefix!r}")
    Y.columns = pd.Index([str(name).removeprefix(prefix) for name in Y])
    return Y


def _in_order(Y: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """The columns in the order of a model's labels."""
    found = sorted(map(str, Y))
    if found != sorted(labels):
        prefix = found[0].removesuffix(min(labels))
        fits = found == sorted(f"{prefix}{name}" for name in labels)
        raise ValueError(
            f"its labels, {shorten(Y)}, are not those of the model, {shorten(labels)}"
            + f"; say drop_prefix={prefix!r}" * fits
        )
    Y.columns = pd.Index(list(map(str, Y)))
    return Y[labels]


def _names(options: TableOptions, model_labels: Iterable[Any] | None) -> list[Any] | None:
    """Names of labels, where some are listed; numbers and patterns are for columns."""
    if isinstance(options.labels, str) and not options.is_wide:
        return [options.labels]
    if options.labels is not None and not isinstance(options.labels, str | int):
        return list(options.labels)
    if model_labels is None:
        return None
    return [f"{options.drop_prefix}{name}" for name in model_labels]


def _column(frame: pd.DataFrame, name: Any, parameter: str) -> Any:
    return find_columns(list(frame), [name], parameter)[0]


def _table(X: pd.DataFrame, positions: Array, labels: Iterable[Any]) -> RankedTable:
    return RankedTable(X, pd.DataFrame(positions, columns=pd.Index(list(labels)), index=X.index))


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Add the name of the table to errors, and count rows from 1, below the header."""
    try:
        yield
    except ValueError as error:
        said = re.sub(r"^row (\d+)", lambda match: f"row {int(match[1]) + 1}", str(error))
        raise ValueError(said if said.startswith(name) else f"{name}: {said}") from error
