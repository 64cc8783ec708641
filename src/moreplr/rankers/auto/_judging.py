"""Held-out predictions of members, on as many rows as the time allows."""

from __future__ import annotations

import warnings
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Positions
from moreplr._validation import take
from moreplr.forest.parallel import run
from moreplr.rankers.auto._members import (
    ALWAYS,
    Member,
    Rows,
    compact,
    fitted,
    held_out,
    pairs_of,
)
from moreplr.rankers.bradley_terry import BradleyTerryRanker

# A member is judged first on this many rows: with fewer, its scores would be too noisy. The time
# is estimated from a fit on this many labels, after a fit on few rows that loads the kernels.
_FEWEST_ROWS, _TRIED_LABELS, _WARMING_ROWS = 400, 8, 50
# Memory for the out-of-fold pairs of one member.
_HELD_OUT_BYTES = 1 << 28
# The share of the remaining time that is planned for more rows, since times vary.
_CAUTION = 0.8


class Data(NamedTuple):
    """Rows that compare labels, the held-out folds, and all held-out rows (`judged`)."""

    X: Array
    Y: Positions
    weight: Array | None
    folds: list[tuple[Rows, Rows]]
    judged: Rows
    grouped: bool
    order: Rows

    @staticmethod
    def of(
        X: Array,
        Y: Positions,
        weight: Array | None,
        groups: NDArray[np.intp] | None,
        rng: np.random.RandomState,
        *,
        n_folds: int,
        most: int,
    ) -> Data:
        n, k = Y.shape
        units = np.arange(n) if groups is None else groups
        n_units = int(units.max()) + 1
        n_folds = min(n_folds, n_units)
        fold = rng.permutation(np.arange(n_units) % max(n_folds, 1))[units]
        order = rng.permutation(n)
        most = max(1, min(most, _HELD_OUT_BYTES // max(4 * k * k, 1)))
        folds: list[tuple[Rows, Rows]] = []
        if n_folds > 1:
            for held in range(n_folds):
                left = most - sum(len(test) for _, test in folds)
                if left <= 0:
                    break
                test = np.flatnonzero(fold == held)
                if len(test) > left:
                    test = np.sort(order[fold[order] == held][:left])
                folds.append((np.flatnonzero(fold != held), test))
        judged = np.concatenate([np.empty(0, np.intp), *(test for _, test in folds)])
        return Data(X, Y, weight, folds, np.sort(judged), groups is not None, order)

    @property
    def judged_weight(self) -> Array | None:
        return None if self.weight is None else self.weight[self.judged]

    def drawn(self, count: int) -> Rows:
        """Random rows, the same ones in each call."""
        return np.sort(self.order[:count])

    def part(self, rows: Rows | None) -> tuple[Array, Positions, Array | None]:
        """Features, rankings and weights of some rows, or of all."""
        parts = self.X, self.Y, self.weight
        return parts if rows is None else take(rows, *parts)


class Clock:
    """The remaining seconds of a budget; None is no limit."""

    def __init__(self, budget: float | None) -> None:
        self._end = np.inf if budget is None else monotonic() + budget

    @property
    def left(self) -> float:
        return float(self._end - monotonic())


class Judged(NamedTuple):
    """A member's held-out pairs (n_judged, n_pairs, 2), and the rows to fit it on.

    `rows` is None for all rows. `model` is the member if it is fitted on these rows already.
    """

    pairs: NDArray[np.float32]
    rows: Rows | None
    seconds: float
    model: Any


def judge(
    members: dict[str, Member], data: Data, clock: Clock, n_jobs: int | None
) -> tuple[dict[str, Judged], dict[str, str]]:
    """Compute the held-out pairs of the members; also return why others are left out.

    Members are judged by increasing cost. Each gets an equal share of the remaining time, so that
    unused time goes to later members, and is judged on as many rows as its share allows. A member
    is left out if even the fewest rows take longer than the remaining time, unless it always
    takes part.
    """
    judged: dict[str, Judged] = {}
    left_out: dict[str, str] = {}
    costs: dict[str, float] = {}
    reserved = 0.0  # seconds for the final fits of members that were judged by folds
    for name, member in members.items():
        if name not in ALWAYS and (reason := _reason_against(member.ranker, data)):
            left_out[name] = reason
            continue
        try:
            costs[name] = 0.0 if np.isinf(clock.left) else _least_seconds(member, data)
        except Exception as error:
            if name in ALWAYS:
                raise
            left_out[name] = _in_a_line(error)
    order = sorted(costs, key=lambda name: costs[name])
    for done, name in enumerate(order):
        member, cost = members[name], costs[name]
        left = max(clock.left - reserved, 0.0)
        if cost > left and name not in ALWAYS:
            left_out[name] = f"takes about {cost:.1f} s or more, {left:.1f} s are left"
            continue
        try:
            share = max(left / (len(order) - done), cost)
            judged[name] = _judge_within(share, member, data, n_jobs)
        except Exception as error:
            if name in ALWAYS:
                raise
            left_out[name] = _in_a_line(error)
        else:
            reserved += _refit_seconds(judged[name], member, data)
    return {name: judged[name] for name in members if name in judged}, left_out


def _in_a_line(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"


def _reason_against(ranker: Any, data: Data) -> str | None:
    """The reason, apart from time, why a member can't take part, or None."""
    if not data.folds:
        return "there is one row only"
    takes_nan = isinstance(ranker, Pipeline) or get_tags(ranker).input_tags.allow_nan
    if not takes_nan and np.isnan(data.X).any():
        return "takes no missing features"
    return None


def _least_seconds(member: Member, data: Data) -> float:
    """Estimated seconds to judge a member on the fewest rows, from a trial on some labels."""
    n, k = data.Y.shape
    labels = np.linspace(0, k - 1, min(k, _TRIED_LABELS)).astype(np.intp)

    def trial(count: int) -> float:
        X, Y, weight = data.part(data.drawn(min(count, n)))
        every = np.arange(len(X))
        test = every[3 * len(X) // 4 :]
        return held_out(member.ranker, X, Y[:, labels], weight, every, test)[1]

    with suppress(Exception):  # a member that fails on so few rows may work on more
        trial(_WARMING_ROWS)
    seconds = trial(_FEWEST_ROWS)
    fits = 1.0 if _knows_held_out(member.ranker, data) else len(data.folds) + 1.0
    return seconds * fits * (k / len(labels)) ** member.by_labels


def _judge_within(share: float, member: Member, data: Data, n_jobs: int | None) -> Judged:
    """Judge a member on the fewest rows, then on more while time allows twice as many, or all."""
    n, end = len(data.Y), monotonic() + share
    few = np.isfinite(share) and n > _FEWEST_ROWS
    one = _judge(member.ranker, data, data.drawn(_FEWEST_ROWS) if few else None, n_jobs)
    while one.rows is not None:
        count = len(one.rows)
        seconds = one.seconds + _refit_seconds(one, member, data)
        left = max(_CAUTION * (end - monotonic()), 0.0)
        # Some clocks are too coarse for a fast fit.
        times = left / max(seconds, 1e-6)
        more = int(min(count * times ** (1 / member.by_rows), n))
        if more < min(2 * count, n):
            break
        one = _judge(member.ranker, data, None if more == n else data.drawn(more), n_jobs)
    return one


def _judge(ranker: Any, data: Data, rows: Rows | None, n_jobs: int | None) -> Judged:
    """Held-out pairs of the judged rows: the ranker's own, or those of cross-validation."""
    start = monotonic()
    if _knows_held_out(ranker, data):
        every = np.arange(len(data.Y)) if rows is None else rows
        model, _ = fitted(ranker, *data.part(every))
        return Judged(_own_pairs(model, data, every), rows, monotonic() - start, model)
    model = None
    if isinstance(ranker, BradleyTerryRanker) and ranker.alpha is None:
        # All folds share one ridge, since choosing it is most of the work.
        model, _ = fitted(ranker, *data.part(rows))
        ranker = clone(ranker).set_params(alpha=model.alpha_)
    tasks = [
        (ranker, data.X, data.Y, data.weight, _within(train, rows), test)
        for train, test in data.folds
    ]
    parts = run(held_out, tasks, n_jobs, np.zeros(1, np.uint8))
    pairs = _no_pairs(data)
    for (_, test), (part, _) in zip(data.folds, parts, strict=True):
        pairs[np.searchsorted(data.judged, test)] = part
    return Judged(pairs, rows, monotonic() - start, model)


def _own_pairs(model: Any, data: Data, rows: Rows) -> NDArray[np.float32]:
    """Pairs of the judged rows: held-out ones where the model was fitted on the row."""
    pairs = _no_pairs(data)
    seen = np.isin(data.judged, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs[seen] = compact(model.held_out_pairs(np.searchsorted(rows, data.judged[seen])))
    if not seen.all():
        with threadpool_limits(1, "blas"):
            pairs[~seen] = compact(pairs_of(model, data.X[data.judged[~seen]]))
    return pairs


def _no_pairs(data: Data) -> NDArray[np.float32]:
    k = data.Y.shape[1]
    return np.full((len(data.judged), k * (k - 1) // 2, 2), np.nan, np.float32)


def _within(rows: Rows, some: Rows | None) -> Rows:
    return rows if some is None else np.intersect1d(rows, some, assume_unique=True)


def _knows_held_out(ranker: Any, data: Data) -> bool:
    """Whether a ranker has held-out predictions of its own, such as out-of-bag ones."""
    return hasattr(ranker, "held_out_pairs") and not data.grouped


def _refit_seconds(one: Judged, member: Member, data: Data) -> float:
    """The estimated seconds of the final fit; 0 if the member is fitted already."""
    if one.model is not None or not data.folds:
        return 0.0
    grows = (len(data.Y) / len(data.folds[0][0])) ** member.by_rows
    return one.seconds / len(data.folds) * grows
