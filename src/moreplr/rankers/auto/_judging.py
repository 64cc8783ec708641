"""What members say of rows that they have not seen, and how many rows there is time for."""

from __future__ import annotations

import warnings
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

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
from moreplr.rankers.auto._rows import Data
from moreplr.rankers.bradley_terry import BradleyTerryRanker

# A member's time is predicted from fits on so many rows, and twice as many up to a tenth of all
# as long as one takes no more than this share of the budget; and so many labels. A member fitted
# on fewer rows would say little of what it can do.
_FEWEST_ROWS, _TRIAL_SHARE, _TRIED_LABELS = 400, 0.005, 8


class Clock:
    """Seconds that are left of a budget, which None does not bound."""

    def __init__(self, budget: float | None) -> None:
        self.budget = np.inf if budget is None else budget
        self._end = monotonic() + self.budget

    @property
    def left(self) -> float:
        return float(self._end - monotonic())


class Judged(NamedTuple):
    """A member's held-out pairs (n_judged, n_pairs, 2), and what it was fitted on.

    `rows` are those that it is fitted on, None for all of them; `model` is the member itself if
    it is fitted on them already.
    """

    pairs: NDArray[np.float32]
    rows: Rows | None
    seconds: float
    model: Any


def judge(
    members: dict[str, Member], data: Data, clock: Clock, n_jobs: int | None
) -> tuple[dict[str, Judged], dict[str, str]]:
    """Held-out pairs of the members, and why others are left out.

    Each member has an equal share of the time that is left, the cheapest first, so that what
    they do not use is for those after them. One that would take longer is fitted on as many rows
    as its share allows; if these are too few it is left out, but for those that always take part.
    """
    judged: dict[str, Judged] = {}
    left_out: dict[str, str] = {}
    costs: dict[str, float] = {}
    reserved = 0.0  # for the fits on all rows of members that folds have judged
    for name, member in members.items():
        if name not in ALWAYS and (reason := _reason_against(member.ranker, data)):
            left_out[name] = reason
            continue
        try:
            costs[name] = 0.0 if np.isinf(clock.left) else _predicted_seconds(member, data, clock)
        except Exception as error:
            if name in ALWAYS:
                raise
            left_out[name] = _said(error)
    order = sorted(costs, key=lambda name: costs[name])
    fewest = min(_FEWEST_ROWS, len(data.Y))
    for done, name in enumerate(order):
        member, cost = members[name], costs[name]
        share = max((clock.left - reserved) / (len(order) - done), 0.0)
        rows = _affordable(data, cost, share, member.by_rows)
        if rows is not None and len(rows) < fewest:
            if name not in ALWAYS:
                left_out[name] = f"takes about {cost:.1f} s, its share is {share:.1f} s"
                continue
            rows = data.drawn(fewest)
        try:
            judged[name] = _judge(member.ranker, data, rows, n_jobs)
        except Exception as error:
            if name in ALWAYS:
                raise
            left_out[name] = _said(error)
        else:
            reserved += _refit_seconds(judged[name], member, data)
    return {name: judged[name] for name in members if name in judged}, left_out


def _said(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"


def _reason_against(ranker: Any, data: Data) -> str | None:
    """Why a member can't take part, whatever the time, or None."""
    if not data.folds:
        return "there is one row only"
    takes_nan = isinstance(ranker, Pipeline) or get_tags(ranker).input_tags.allow_nan
    if not takes_nan and np.isnan(data.X).any():
        return "takes no missing features"
    return None


def _predicted_seconds(member: Member, data: Data, clock: Clock) -> float:
    """What judging and fitting a member may take, going by a few rows and labels."""
    n, k = data.Y.shape
    labels = np.linspace(0, k - 1, min(k, _TRIED_LABELS)).astype(np.intp)

    def trial(rows: Rows) -> float:
        X, Y, weight = data.part(rows)
        every = np.arange(len(rows))
        test = every[3 * len(rows) // 4 :]
        return held_out(member.ranker, X, Y[:, labels], weight, every, test)[1]

    count = min(_FEWEST_ROWS, n)
    trial(data.drawn(count))  # the first time, kernels may have to be loaded
    seconds = trial(data.drawn(count))
    while 10 * count < n and seconds <= _TRIAL_SHARE * clock.budget:
        count *= 2
        seconds = trial(data.drawn(count))
    fits = 1.0 if _knows_held_out(member.ranker, data) else len(data.folds) + 1.0
    return seconds * fits * (n / count) ** member.by_rows * (k / len(labels)) ** member.by_labels


def _affordable(data: Data, cost: float, share: float, by_rows: float) -> Rows | None:
    """As many random rows as a share of the time allows; None if these are all."""
    if cost <= share:
        return None
    return data.drawn(int(len(data.Y) * (share / cost) ** (1 / by_rows)))


def _judge(ranker: Any, data: Data, rows: Rows | None, n_jobs: int | None) -> Judged:
    """Pairs of the judged rows: the ranker's own held-out ones, or those of folds."""
    start = monotonic()
    if _knows_held_out(ranker, data):
        every = np.arange(len(data.Y)) if rows is None else rows
        model, _ = fitted(ranker, *data.part(every))
        return Judged(_own_pairs(model, data, every), rows, monotonic() - start, model)
    model = None
    if isinstance(ranker, BradleyTerryRanker) and ranker.alpha is None:
        # One ridge serves all folds: to choose it is most of the work.
        model, _ = fitted(ranker, *data.part(np.arange(len(data.Y)) if rows is None else rows))
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
    """Held-out pairs of the judged rows that it was fitted on, predicted ones of the others."""
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
    """Whether it can say itself what it would predict for training rows it had not seen."""
    return hasattr(ranker, "held_out_pairs") and not data.grouped


def _refit_seconds(one: Judged, member: Member, data: Data) -> float:
    """What a fit on all its rows may take a member that folds have judged."""
    if one.model is not None or not data.folds:
        return 0.0
    grows = (len(data.Y) / len(data.folds[0][0])) ** member.by_rows
    return one.seconds / len(data.folds) * grows
