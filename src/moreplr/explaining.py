"""Why a ranker puts one label before another: contributions of features, and smallest changes.

Works with any fitted ranker. Contributions are Shapley values: how much a prediction changes when
a feature's value becomes known, averaged over the orders in which features can become known.
Background rows supply the values that are not known yet. Contributions add up to the difference
between the row and the mean of the background. For a linear ranker they are exactly its
coefficients times the distance to the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from moreplr._frames import is_frame, one_row, to_pandas
from moreplr._shap import to_shap
from moreplr._types import Array, Seed
from moreplr._validation import integer_from
from moreplr.rankings._cells import plain

__all__ = ["Reasons", "reasons", "to_shap"]

_FEATURES_SHOWN = 3
_LETTERS_SHOWN = 50
# How often to halve the gap between a value that turns the pair around and one that does not.
_HALVINGS = 12


@dataclass(frozen=True)
class Reasons:
    """Why a ranker puts one label before another in a row, by the row's features.

    Attributes
    ----------
    first, second : the labels
    scale : {"probability", "log-odds", "positions"}
        What is explained: the probability that the first label precedes the second, where a tie
        counts half; for linear rankers the difference of their utilities; for rankers without
        probabilities how many positions the first is ahead.
    value, baseline : float
        Its value for the row, and its mean over the background.
    features : DataFrame
        ``feature``, its ``value`` in the row and its ``contribution``, the largest first.
        Contributions add up to ``value - baseline``.
    changes : DataFrame
        A line for each feature that can turn the pair around by itself: ``feature``, ``value``,
        the nearest ``new_value`` that does so, and ``distance``: the share of background rows
        between the two values, or for categories the share with another value. The smallest
        distance comes first.
    """

    first: Any
    second: Any
    scale: str
    value: float
    baseline: float
    features: pd.DataFrame
    changes: pd.DataFrame

    def __str__(self) -> str:
        lines = [self._headline()]
        counts = self.features["contribution"]
        for sign, word in ((1, "for"), (-1, "against")):
            side = self.features[counts * sign >= 0.005]  # others are printed as zero
            if len(side):
                parts = [
                    f"{name} = {_shown(value)} ({self._size(float(contribution))})"
                    for name, value, contribution in side.head(_FEATURES_SHOWN).to_numpy()
                ]
                more = len(side) - len(parts)
                lines.append(f"{word} it: {', '.join(parts)}" + f" and {more} more" * (more > 0))
        if len(self.changes):
            one = self.changes.iloc[0]
            lines.append(
                f"it would turn with {one['feature']} = {_shown(one['new_value'])} "
                f"instead of {_shown(one['value'])}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for notebooks, with all features as a table."""
        words = "<br>".join(escape(line) for line in str(self).splitlines())
        return f"<p>{words}</p>{self.features.to_html(index=False)}"

    def _headline(self) -> str:
        pair = f"{self.first} before {self.second}"
        if self.scale == "probability":
            return f"{pair}: {self.value:.0%} with ties half, {self.baseline:.0%} on average"
        unit = "log-odds" if self.scale == "log-odds" else "positions"
        return f"{pair}: {self.value:+.2f} {unit}, {self.baseline:+.2f} on average"

    def _size(self, contribution: float) -> str:
        if self.scale == "probability":
            points = f"{100 * contribution:+.0f}"
            return f"{points} point{'' if points in ('+1', '-1') else 's'}"
        return f"{contribution:+.2f}"


def reasons(
    ranker: Any,
    x: Any,
    first: Any,
    second: Any,
    background: Any = None,
    *,
    n_permutations: int = 100,
    random_state: Seed = 0,
) -> Reasons:
    """Explain by the features of a row why one label comes before another.

    Parameters
    ----------
    ranker : fitted ranker
        For a :class:`moreplr.TableRanker`, the columns of its table are the features.
    x : one row: a frame of one row, a Series, a dict, or a sequence of the features
    first, second : labels
    background : frame or array of shape (n_samples, n_features), optional
        Rows to compare with, such as a few hundred training rows. Only a linear ranker
        (:class:`moreplr.BradleyTerryRanker`) does without; `changes` is empty then.
    n_permutations : int, default=100
        Orders of the features to average over. Each needs two predictions for each feature.
    random_state : int, RandomState instance or None, default=0
        Draws the orders and the background rows.

    Examples
    --------
    >>> from moreplr import RankingTree
    >>> X = pd.DataFrame({"age": [20, 30, 60, 70], "town": [1, 2, 1, 2]})
    >>> Y = ["tea > milk", "tea > milk", "milk > tea", "milk > tea"]
    >>> tree = RankingTree(min_samples_leaf=1).fit(X, Y)
    >>> print(reasons(tree, X.iloc[0], "tea", "milk", X))
    tea before milk: 100% with ties half, 50% on average
    for it: age = 20 (+50 points)
    it would turn with age = 45.01 instead of 20
    """
    check_is_fitted(ranker)
    integer_from("n_permutations", n_permutations, 1)
    pair = _number(ranker, first), _number(ranker, second)
    if pair[0] == pair[1]:
        raise ValueError(f"a pair needs two labels, got {first!r} twice")
    row = _row(ranker, x, background)
    changes = _no_changes()
    if background is not None:
        task = _Task(ranker, row, _table(ranker, background), pair)
        changes = task.changes()
    linear = _linear(ranker, row, pair)
    if linear is not None:
        scale, value, baseline, contributions = linear
    elif background is not None:
        scale, value = task.scale, task.value
        rng = check_random_state(random_state)
        baseline, contributions = task.shapley(n_permutations, rng)
    else:
        raise ValueError("give background rows to compare with, such as training rows")
    features = pd.DataFrame(
        {
            "feature": [str(name) for name in row.columns],
            "value": pd.Series([row.iloc[0, at] for at in range(row.shape[1])], dtype=object),
            "contribution": contributions,
        }
    )
    order = np.argsort(-abs(features["contribution"].to_numpy()), kind="stable")
    features = features.iloc[order].reset_index(drop=True)
    labels = ranker.labels_[list(pair)]
    return Reasons(labels[0], labels[1], scale, value, baseline, features, changes)


class _Task:
    """Predictions for mixtures of a row and background rows."""

    def __init__(self, ranker: Any, row: Any, background: Any, pair: tuple[int, int]) -> None:
        if list(row.columns) != list(background.columns):
            raise ValueError("the row and the background must have the same columns")
        if not len(background):
            raise ValueError("background has no rows")
        self._ranker, self._pair, self._n = ranker, pair, len(background)
        self._rows = pd.concat([background, row], ignore_index=True)
        self._named = hasattr(ranker, "feature_names_in_")
        self.scale = "probability" if hasattr(ranker, "predict_pairs") else "positions"
        self._turn = 0.5 if self.scale == "probability" else 0.0
        self.value = float(self._predict(self._rows.iloc[[self._n]])[0])

    def _values(self, sources: NDArray[np.intp]) -> Array:
        """What is explained, for rows that take each feature from the row of that number."""
        columns = [self._rows.iloc[:, at].take(rows) for at, rows in enumerate(sources.T)]
        table = pd.concat([one.reset_index(drop=True) for one in columns], axis=1)
        return self._predict(table)

    def _predict(self, table: pd.DataFrame) -> Array:
        X = table if self._named else table.to_numpy()
        i, j = self._pair
        if self.scale == "positions":
            positions = self._ranker.predict_positions(X)
            return positions[:, j] - positions[:, i]
        parts = [
            P[:, i, j] + Q[:, i, j] / 2 for P, Q in self._ranker.predict_pairs(X, chunks=True)
        ]
        return np.concatenate(parts)

    def shapley(self, n_permutations: int, rng: Any) -> tuple[float, Array]:
        """Baseline and contributions; each order is used backwards, too, to halve the noise."""
        p = self._rows.shape[1]
        if self._n <= n_permutations:  # all background rows, equally often
            drawn = np.arange(n_permutations - n_permutations % self._n or self._n) % self._n
        else:
            drawn = rng.permutation(self._n)[:n_permutations]
        orders = np.array([rng.permutation(p) for _ in drawn])
        orders = np.concatenate([orders, orders[:, ::-1]])
        drawn = np.concatenate([drawn, drawn])
        place = np.argsort(orders, axis=1)
        # After t steps, the first t features of the order are the row's.
        known = place[:, None, :] < np.arange(p + 1)[None, :, None]
        sources = np.where(known, self._n, drawn[:, None, None])
        values = self._values(sources.reshape(-1, p)).reshape(len(orders), p + 1)
        steps = np.take_along_axis(np.diff(values, axis=1), place, axis=1)
        return float(values[:, 0].mean()), steps.mean(axis=0)

    def changes(self) -> pd.DataFrame:
        """For each feature, the nearest value that turns the pair around by itself."""
        p, n = self._rows.shape[1], self._n
        # Row j of block i is the row itself but for feature i, which is background row j's.
        sources = np.full((p, n, p), n)
        sources[np.arange(p), :, np.arange(p)] = np.arange(n)
        turned = self._turns(self._values(sources.reshape(-1, p))).reshape(p, n)
        found = [self._nearest(int(at), turned[at]) for at in np.flatnonzero(turned.any(axis=1))]
        if not found:
            return _no_changes()
        return pd.DataFrame(found).sort_values("distance", kind="stable", ignore_index=True)

    def _turns(self, values: Array) -> NDArray[np.bool_]:
        """Whether values are on the other side than the row's."""
        return (values - self._turn) * (self.value - self._turn) < 0

    def _nearest(self, at: int, turned: NDArray[np.bool_]) -> dict[str, Any]:
        column = self._rows.iloc[:, at]
        others, own = column.iloc[: self._n], column.iloc[self._n]
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        numeric = numeric and not pd.api.types.is_bool_dtype(column.dtype) and pd.notna(own)
        if numeric and pd.notna(others[turned]).any():
            values = others.to_numpy(dtype=float, na_value=np.nan)
            far = np.where(turned, abs(values - own), np.nan)
            new = self._halve(at, float(own), float(values[np.nanargmin(far)]))
            low, high = min(own, new), max(own, new)
            distance = float(np.mean((values > low) & (values < high)))
        else:
            common = others[turned].value_counts(dropna=False)
            new = common.index[0]
            distance = 1 - float(common.iloc[0]) / self._n
        name = str(column.name)
        return {"feature": name, "value": own, "new_value": new, "distance": distance}

    def _halve(self, at: int, stays: float, turns: float) -> float:
        """A value that turns the pair around, near to one that does not."""
        row = self._rows.iloc[[self._n]].reset_index(drop=True)
        for _ in range(_HALVINGS):
            middle = _rounded((stays + turns) / 2, abs(turns - stays))
            if middle in (stays, turns):
                break
            row.isetitem(at, [middle])
            if self._turns(self._predict(row))[0]:
                turns = middle
            else:
                stays = middle
        return turns


def _linear(
    ranker: Any, row: Any, pair: tuple[int, int]
) -> tuple[str, float, float, Array] | None:
    """Scale, value, baseline and contributions for a linear ranker; None for any other."""
    inner = getattr(ranker, "ranker_", ranker)
    if not all(hasattr(inner, name) for name in ("coef_", "intercept_", "mean_")):
        return None
    table, origin = row, np.arange(row.shape[1])
    if inner is not ranker and ranker.vectorizer_ is not None:
        try:
            table, origin = ranker.vectorizer_.transform(row), ranker._origin()
        except AttributeError:  # this vectoriser does not know where its outputs come from
            return None
    x = np.asarray(table, dtype=float)[0]
    i, j = pair
    weights = inner.coef_[i] - inner.coef_[j]
    parts = weights * (np.where(np.isnan(x), inner.mean_, x) - inner.mean_)
    baseline = float(inner.intercept_[i] - inner.intercept_[j] + weights @ inner.mean_)
    contributions = np.zeros(row.shape[1])
    np.add.at(contributions, origin, parts)
    return "log-odds", baseline + float(parts.sum()), baseline, contributions


def _number(ranker: Any, label: Any) -> int:
    found = np.flatnonzero(ranker.labels_ == label)
    if len(found) != 1:
        raise ValueError(f"no label {label!r}; the labels are {list(ranker.labels_)}")
    return int(found[0])


def _table(ranker: Any, X: Any) -> pd.DataFrame:
    if is_frame(X):
        return to_pandas(X)
    names = getattr(ranker, "feature_names_in_", None)
    return pd.DataFrame(np.asarray(X), columns=None if names is None else list(names))


def _row(ranker: Any, x: Any, background: Any) -> pd.DataFrame:
    """One row as a frame, with columns of the background's types."""
    row = one_row(x)
    if not isinstance(row, pd.DataFrame):
        row = _table(ranker, row)
    if background is not None:
        table = _table(ranker, background)
        missing = [name for name in table.columns if name not in row.columns]
        if missing:
            raise ValueError(f"the row lacks the columns {missing}")
        row = row[list(table.columns)].reset_index(drop=True)
        for name, dtype in table.dtypes.items():
            if pd.api.types.is_datetime64_any_dtype(dtype):
                row[name] = pd.to_datetime(row[name]).astype(dtype)
            elif pd.api.types.is_numeric_dtype(dtype):
                row[name] = pd.to_numeric(row[name])
    return row


def _no_changes() -> pd.DataFrame:
    return pd.DataFrame(columns=["feature", "value", "new_value", "distance"])


def _rounded(value: float, width: float) -> float:
    """A number with as many digits as the width of its interval justifies."""
    if width <= 0 or not np.isfinite(width):
        return value
    return round(value, int(1 - np.floor(np.log10(width))))


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "missing" if np.isnan(value) else plain(float(value))
    text = "missing" if value is None or value is pd.NA or value is pd.NaT else str(value)
    return text if len(text) <= _LETTERS_SHOWN else text[: _LETTERS_SHOWN - 1] + "…"
