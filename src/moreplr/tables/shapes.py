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
from moreplr.tables.cells import NUMBER, Reader, has_numbers, is_text
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
    with _named(reader.name):
        table = _Shaper(frame, reader, options, model_labels)
        X, Y = table.rankings()
        positions = Y.to_numpy(dtype=float)
        table.notes.extend(notes_on_rankings(positions, list(Y), options))
        weight, groups = _weight(X, reader, options), _groups(X, reader, options)
        X = X.drop(columns=list(dict.fromkeys(table.aside)))
        if X.shape[1] == 0:
            raise ValueError("no column is left for the features: there is nothing to learn from")
        Y = _without_prefix(Y, options.drop_prefix).reset_index(drop=True)
        scores = None
        if model_labels is not None:
            Y = _in_order(Y, list(map(str, model_labels)))
        elif table.scores is not None and not np.isinf(table.scores).any():
            scores = pd.DataFrame(table.scores, columns=Y.columns)
    return Shaped(X.reset_index(drop=True), Y, weight, groups, table.notes, scores)


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
    is_code = cells.isin(reader.codes) if has_numbers(cells) else pd.Series(dtype=bool)
    return cells.mask(is_code) if is_code.any() else cells


class _Shaper:
    """Takes rankings out of a table, and collects notes on what looks odd."""

    def __init__(
        self,
        frame: pd.DataFrame,
        reader: Reader,
        options: TableOptions,
        model_labels: Iterable[Any] | None,
    ) -> None:
        self.reader, self.options = reader, options
        self.notes: list[str] = []
        self.scores: Array | None = None
        self.has_model = model_labels is not None
        self.names = _names(options, model_labels)
        columns = [name for name in frame if not str(name).startswith("Unnamed: ")]
        if len(columns) < frame.shape[1]:
            self.notes.append("columns without a name are left out")
        ignored = set(find_columns(columns, options.ignore, "ignore"))
        self.frame = frame[[name for name in columns if name not in ignored]]
        # Columns of weights and groups are no features.
        aside = {"weight": options.weight, "group": options.group}
        self.aside = [self.column(name, of) for of, name in aside.items() if name is not None]

    def column(self, name: Any, parameter: str) -> Any:
        """The column that a parameter names."""
        return find_columns(list(self.frame), [name], parameter)[0]

    def rankings(self) -> RankedTable:
        """All columns that hold no rankings, and positions."""
        if self.options.text is not None:
            return self._texts()
        if self.options.long is not None:
            return self._long()
        if self.options.votes is not None:
            return self._votes()
        return self._wide() if self.options.choices is None else self._choices()

    def _wide(self) -> RankedTable:
        wanted = self.names if self.options.labels is None else self.options.labels
        columns = find_labels([name for name in self.frame if name not in self.aside], wanted)
        values = self._numbers(columns)
        self.notes.extend(notes_on_scores(values, self.options))
        if self.options.has_scores:
            self.scores = values
        positions = self._positions(values, columns, self.options.missing)
        return _table(self.frame.drop(columns=columns), positions, columns)

    def _texts(self) -> RankedTable:
        text = self.column(self.options.text, "text")
        reader = Reader(self.reader.name, self.options.unranked, self.reader.decimal)
        positions, found = from_text(reader.texts(self.frame[text]), self.names)
        if not self.has_model and not ((~np.isnan(positions)).sum(axis=1) > 1).any():
            raise ValueError(
                f"column {text!r} ranks two labels in no row; a ranking is a text such as "
                "'b > a ~ c': say which column holds them with text='…'"
            )
        return _table(self.frame.drop(columns=[text]), positions, found)

    def _long(self) -> RankedTable:
        row, label, position = (self.column(name, "long") for name in self.options.long or ())
        ready = self._with_labels([row, label])
        values = self._numbers([position])[:, 0]
        self.notes.extend(notes_on_scores(values, self.options))
        if self.options.missing == "last":  # nothing is known of labels that have no line
            values = np.where(np.isnan(values), self._failed, values)
        ready[position] = values
        table = from_long(ready, row, label, position, labels=self.names)
        if not self.options.has_scores:
            return table
        positions = self._positions(table.Y.to_numpy(), list(table.Y), "unranked")
        return _table(table.X, positions, table.Y.columns)

    def _votes(self) -> RankedTable:
        voted = [self.column(name, "votes") for name in self.options.votes or ()]
        ready = self._with_labels(voted)
        ties, skip = self.options.ties, self.options.skip
        return from_votes(ready, *voted, ties=ties, skip=skip, labels=self.names)

    def _choices(self) -> RankedTable:
        ends = [
            self.column(name, "choices") if name else None for name in self.options.choices or ()
        ]
        tried = find_columns(list(self.frame), self.options.tried, "tried")
        ready = self._with_labels([*tried, *(name for name in ends if name is not None)])
        return from_choices(ready, tried, *ends, labels=self.names)

    @property
    def _failed(self) -> float:
        """The score of what failed and comes last."""
        return -np.inf if self.options.larger_is_better else np.inf

    def _numbers(self, columns: list[Any]) -> Array:
        """Numbers of the label columns: NaN where not ranked, infinite where it comes last."""
        options = self.options
        advice = "if it means not ranked, say unranked=[{cell}]"
        if options.has_scores:
            advice += ", and last=[{cell}] if it comes last"
        cells = replace(
            self.reader, gaps=options.unranked, infinite=options.has_scores, advice=advice
        )
        failed = Reader(self.reader.name, options.last, self.reader.decimal)
        values = []
        for name in columns:
            column = self.frame[name]
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
            values.append(np.where(lost, self._failed, found))
        return np.stack(values, axis=1)

    def _positions(self, values: Array, columns: list[Any], missing: str) -> Array:
        if not self.options.has_scores:
            return values
        return rank_scores(
            values,
            columns,
            larger_is_better=self.options.larger_is_better,
            tolerance=self.options.tolerance,
            missing=missing,
        )

    def _with_labels(self, columns: list[Any]) -> pd.DataFrame:
        """The table with columns of labels as texts without blanks, None for gaps."""
        ready = self.frame.copy()
        for name in dict.fromkeys(columns):
            if is_text(self.frame[name]):
                cells = [cell and cell.strip() for cell in self.reader.texts(self.frame[name])]
                ready[name] = pd.Series(cells, index=self.frame.index, dtype=object)
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
