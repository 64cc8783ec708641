"""Frames with columns of any kind, as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from moreplr._frames import is_frame, to_pandas
from moreplr._types import Array
from moreplr._validation import check_name, integer_from, without_mask
from moreplr.tables.cells import GAPS, has_decimal_comma, is_text
from moreplr.vectorizing._text import TextEncoder

NUMBER, DATE, CATEGORY, TEXT = "number", "date", "category", "text"
IDENTIFIER, EMPTY = "identifier", "empty"
# What a column is called inside: outputs are named after it.
_PART = "part"
KINDS = (NUMBER, DATE, CATEGORY, TEXT, IDENTIFIER, EMPTY)
# What skrub takes for a gap, beside what pandas does.
_GAPS = GAPS | {"?", "...", "none"}
_ISO = r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?"


class FrameVectorizer(TransformerMixin, BaseEstimator):
    """Numbers from a pandas or polars frame with columns of any kind.

    =============  ===================================================================
    a column of    becomes
    =============  ===================================================================
    numbers        itself, scaled to mean 0 and variance 1; true is 1, false is 0
    dates          year, month, day, hour, weekday and seconds in all, scaled likewise
    categories     0 or 1 for each of its values; a gap is a value of its own
    texts          a few numbers by :class:`TextEncoder`: `cardinality` or more values
    identifiers    nothing, with a warning: as many values, all different, without a space
    gaps only      nothing, with a warning
    =============  ===================================================================

    Texts that all are numbers, or dates, are taken as such. skrub's
    :class:`~skrub.ToDatetime` and :class:`~skrub.DatetimeEncoder` read and encode dates. A value
    that was not seen in training, where categories are expected, and one that is no date give a
    warning that names it.

    Parameters
    ----------
    cardinality : int, default=40
        Columns of texts with fewer different values hold categories. The default is skrub's.
    text : transformer, optional
        Encodes a sequence of texts; a :class:`TextEncoder` by default.
    missing : {"keep", "median"}, default="keep"
        Gaps in numbers and dates stay NaN, or become the median of the training rows.
    missing_codes : iterable of numbers, default=()
        Values that stand for a gap in columns of numbers, such as 977 for "don't know".

    Attributes
    ----------
    kinds_ : dict from column to "number", "date", "category", "text", "identifier" or "empty"
    origin_ : int array (n_outputs,), the number of the column that each output comes from
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, None, 40], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> vectorizer = FrameVectorizer().fit(X)
    >>> vectorizer.transform(X)
       age  town = Bonn  town = Ulm
    0 -1.0          0.0         1.0
    1  NaN          1.0         0.0
    2  1.0          0.0         1.0
    >>> vectorizer.kinds_
    {'age': 'number', 'town': 'category'}
    """

    def __init__(
        self,
        cardinality: int = 40,
        *,
        text: Any = None,
        missing: str = "keep",
        missing_codes: Iterable[float] = (),
    ) -> None:
        self.cardinality = cardinality
        self.text = text
        self.missing = missing
        self.missing_codes = missing_codes

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what each column holds, and how to turn it into numbers."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> pd.DataFrame:
        """Fit, and transform the same rows."""
        check_name("missing", self.missing, ("keep", "median"))
        frame = self._frame(X, reset=True)
        self._learn_kinds(frame)
        self._warn_of_odd_columns(frame)
        self.names_, self.origin_, values = self._encoded(frame)
        if not self.names_:
            raise ValueError(f"no column is left to learn from: {self.kinds_}")
        self._learn_scale(values)
        return self._scaled(values, X)

    def transform(self, X: Any) -> pd.DataFrame:
        """A frame of numbers with named columns."""
        check_is_fitted(self)
        return self._scaled(self._encoded(self._frame(X, reset=False))[2], X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the outputs: the column's, with a value, a part or a number behind it."""
        check_is_fitted(self)
        return np.array(self.names_, dtype=object)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """The table in pandas: names are texts, rows are numbered from 0."""
        X = without_mask(X)
        if is_frame(X):
            names = [str(name) for name in X.columns]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"there are two columns {twice!r}: rename one of them")
        validate_data(self, X, reset=reset, skip_check_array=True)
        frame = to_pandas(X) if is_frame(X) else pd.DataFrame(X)
        frame = frame.set_axis(frame.columns.map(str), axis=1).reset_index(drop=True)
        texts = {str(name): column for name, column in frame.items() if is_text(column)}
        return frame.assign(**{n: _without_words_for_gaps(column) for n, column in texts.items()})

    def _learn_kinds(self, frame: pd.DataFrame) -> None:
        """Learn what the columns hold, and fit what encodes them."""
        kinds = {str(name): _first_kind(column) for name, column in frame.items()}
        self.kinds_: dict[str, str] = kinds
        self.steps_: dict[str, list[Any]] = {}
        self.texts_: dict[str, Any] = {}
        self.known_: dict[str, list[str]] = {}
        cardinality = integer_from("cardinality", self.cardinality, 2)
        for name, kind in kinds.items():
            if kind not in (DATE, TEXT):
                continue
            values = _raw(frame[name])
            steps = _date_steps(values)
            if steps:
                kind, self.steps_[name] = DATE, steps
            elif values.nunique() < cardinality:
                one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
                one_hot.set_output(transform="pandas").fit(values.to_frame(_PART))
                kind, self.steps_[name] = CATEGORY, [one_hot]
                self.known_[name] = values.dropna().unique().tolist()
            elif _is_identifier(values):
                kind = IDENTIFIER
            else:
                encoder = TextEncoder() if self.text is None else clone(self.text)
                kind, self.texts_[name] = TEXT, encoder.fit(values)
            kinds[name] = kind

    def _warn_of_odd_columns(self, frame: pd.DataFrame) -> None:
        for name, kind in self.kinds_.items():
            what = ""
            if kind in (IDENTIFIER, EMPTY):
                why = "no value" if kind == EMPTY else "an identifier: all values differ"
                what = f"is left out: it holds {why}"
            if kind in (IDENTIFIER, CATEGORY, TEXT):
                values = frame[name].dropna()
                if values.map(has_decimal_comma).mean() > 0.5:
                    what = "holds numbers with a decimal comma: read it with decimal=','"
            if what:
                warnings.warn(f"column {name!r} {what}", stacklevel=5)

    def _encoded(self, frame: pd.DataFrame) -> tuple[list[str], NDArray[np.intp], Array]:
        """Names, origins and values of all outputs, in the order of the columns."""
        names, blocks, origin = [], [np.empty((len(frame), 0))], []
        for at, (name, kind) in enumerate(self.kinds_.items()):
            if kind in (IDENTIFIER, EMPTY):
                continue
            if kind == NUMBER:
                parts, block = [name], self._numbers(frame[name])[:, None]
            elif kind == TEXT:
                block = np.asarray(self.texts_[name].transform(_raw(frame[name])), dtype=float)
                parts = [f"{name} {i}" for i in range(block.shape[1])]
            else:
                parts, block = self._stepwise(name, kind, _raw(frame[name]))
            names += parts
            blocks.append(block)
            origin += [at] * block.shape[1]
        return names, np.array(origin, dtype=np.int64), np.hstack(blocks)

    def _stepwise(self, name: str, kind: str, values: pd.Series) -> tuple[list[str], Array]:
        """Names and values of what scikit-learn's and skrub's encoders make of a column."""
        done: Any = values.rename(_PART)
        for step in self.steps_[name]:
            done = step.transform(done.to_frame() if isinstance(step, OneHotEncoder) else done)
            if kind == DATE and isinstance(done, pd.Series) and values.dtype == object:
                done = _with_iso_dates(done, values)
        block = done.to_numpy(dtype=float)
        if kind == CATEGORY:
            new = values[values.notna() & ~values.isin(self.known_[name])]
            what = "was not seen in training: it counts as none of the categories"
        else:
            new = values[values.notna() & np.isnan(block).all(axis=1)]
            what = "is no date as in training: it counts as a gap"
        if len(new):
            shown = new.unique()
            more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
            warnings.warn(
                f"column {name!r}: {str(shown[0])!r:.40}{more} {what}", UserWarning, stacklevel=5
            )
        ends = [str(column).removeprefix(f"{_PART}_") for column in done]
        if kind == CATEGORY:
            return [f"{name} = {'missing' if end == 'None' else end}" for end in ends], block
        return [f"{name} {end}" for end in ends], block

    def _numbers(self, column: pd.Series) -> Array:
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        bad = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
        if len(bad):
            raise ValueError(
                f"column {column.name!r} holds {column.iloc[bad[0]]!r:.40} (row {bad[0]}), and "
                "it held numbers in training"
            )
        if np.isinf(values).any():
            raise ValueError(f"column {column.name!r} holds infinity")
        codes = list(self.missing_codes)
        return np.where(np.isin(values, codes), np.nan, values) if codes else values

    def _learn_scale(self, values: Array) -> None:
        kinds = np.array(list(self.kinds_.values()))[self.origin_]
        scaled = np.isin(kinds, (NUMBER, DATE))
        known = np.ma.masked_invalid(values)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = known.mean(axis=0).filled(0.0), known.std(axis=0).filled(0.0)
        sound = np.isfinite(mean) & np.isfinite(spread)
        largest = abs(known).max(axis=0).filled(1.0)
        spread = np.where(sound, spread, largest)
        self.center_ = np.where(scaled & sound, mean, 0.0)
        self.scale_ = np.where(scaled & (spread > 0), spread, 1.0)
        halves: Any = np.ma.median(known / 2, axis=0)  # type: ignore[no-untyped-call]
        self.fill_ = halves.filled(0.0) * 2  # the sum of two values may overflow

    def _scaled(self, values: Array, X: Any) -> pd.DataFrame:
        if self.missing == "median":
            values = np.where(np.isnan(values), self.fill_, values)
        index = X.index if isinstance(X, pd.DataFrame) else None
        return pd.DataFrame((values - self.center_) / self.scale_, index, self.names_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _first_kind(column: pd.Series) -> str:
    """What a column holds as far as its values alone say."""
    if column.isna().all():
        return EMPTY
    dtype = column.dtype
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"Complex data not supported: column {column.name!r}")
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype):
        return NUMBER
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return DATE
    values = column.dropna()
    for value in values:
        if not np.isscalar(value) and not hasattr(value, "isoformat"):
            raise TypeError(
                f"column {column.name!r} holds a {type(value).__name__}; an argument must be a "
                "string, a number or a date"
            )
    if isinstance(dtype, pd.CategoricalDtype):
        return TEXT
    return NUMBER if pd.to_numeric(values, errors="coerce").notna().all() else TEXT


def _raw(column: pd.Series) -> pd.Series:
    """A column of dates, or of texts and None."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    values = [None if pd.isna(value) else str(value) for value in column]
    return _without_words_for_gaps(pd.Series(values, column.index, dtype=object))


def _without_words_for_gaps(column: pd.Series) -> pd.Series:
    gap = [isinstance(cell, str) and cell.strip() in _GAPS for cell in column]
    return column.mask(np.array(gap, dtype=bool), None) if any(gap) else column


def _with_iso_dates(dates: pd.Series, texts: pd.Series) -> pd.Series:
    """Dates, and those of texts such as 2024-01-31T08:00, whatever was written in training.

    The same date may be `31.01.2024` in CSV, and is `2024-01-31 00:00:00` where Excel and Parquet
    have a type for it.
    """
    if not pd.api.types.is_datetime64_dtype(dates.dtype):  # with time zones
        return dates
    iso = texts.where(dates.isna() & texts.str.fullmatch(_ISO, na=False))
    return dates.fillna(pd.to_datetime(iso, format="ISO8601", errors="coerce"))


def _is_identifier(values: pd.Series) -> bool:
    """Whether nothing can be learned from texts: all differ, and none has a space."""
    known = values.dropna()
    return known.is_unique and not known.str.strip().str.contains(" ", regex=False).any()


def _date_steps(values: pd.Series) -> list[Any]:
    """The fitted encoders of a column of dates, or nothing if it holds texts."""
    # It takes a second and a half to import, which a table of numbers need not wait for.
    from skrub import DatetimeEncoder, ToDatetime

    reader, encoder = ToDatetime(), DatetimeEncoder(add_weekday=True)
    try:
        dates = reader.fit_transform(values.rename(_PART))
    except ValueError:  # how it rejects what are no dates
        return []
    encoder.fit_transform(dates)
    return [reader, encoder]
