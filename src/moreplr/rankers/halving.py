"""Successive halving: compare candidates on paired folds of ever more rows, in the time given."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, inf, log
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from moreplr._types import Array, Positions
from moreplr.metrics import tau_x_score
from moreplr.regressors._fitting import fit_weighted

Rows = NDArray[np.intp]
FACTOR = 3
# Fewer rows than this tell rankers apart too badly to drop one.
SMALLEST_RUNG = 200
# With fewer rows than this, folds are repeated.
_REPEATED_UP_TO = 1_000
_MOST_REPEATS = 5
# The spread of fewer rows says nothing about the error of a gain.
_FEWEST_ROWS = 10
# Times below are noise of the clock.
_TICK = 1e-3


class Clock:
    """The time that is left of a budget in seconds; without one, no end of it."""

    def __init__(self, budget: float | None) -> None:
        self.deadline = inf if budget is None else monotonic() + budget

    def left(self) -> float:
        return self.deadline - monotonic()


class Progress(Protocol):
    """Who is told how far a race is."""

    def begin(self, text: str, steps: int) -> None: ...

    def step(self, text: str) -> None: ...


class Split(NamedTuple):
    """Rows to learn from, and the rows that are held out."""

    train: Rows
    test: Rows


class Rung(NamedTuple):
    """A stage of the comparison: how many rows take part, and the numbers of its splits."""

    rows: int
    splits: list[int]


@dataclass(eq=False)
class Entry:
    """A candidate in the race. `status` is empty as long as it takes part.

    `cost` is a guess, in any unit that all entries share, of what a fit on all rows takes, for
    as long as none has been measured; 0 for one that nothing is known of.
    """

    name: str
    ranker: Any
    growth: float
    parameters: str
    cost: float = 0.0
    status: str = ""
    rung: int = -1
    tau: dict[int, Array] = field(default_factory=dict)
    # For each number of training rows, the seconds of fitting, and of fitting and predicting.
    fits: dict[int, list[float]] = field(default_factory=dict)
    runs: dict[int, list[float]] = field(default_factory=dict)
    error: Exception | None = None

    def forecast_run(self, rows: int) -> float:
        """Seconds to fit on so many rows and to predict a fold; 0 if nothing is measured."""
        return _forecast(self.runs, rows, self.growth)

    def forecast_fit(self, rows: int) -> float:
        """Seconds to fit on so many rows; 0 if nothing is measured."""
        return _forecast(self.fits, rows, self.growth)

    def fail(self, error: Exception, where: str = "error") -> None:
        self.error = error
        lines = str(error).strip().splitlines() or [""]
        self.status = f"{where}: {type(error).__name__}: {lines[0]}"


def _forecast(seconds: dict[int, list[float]], rows: int, growth: float) -> float:
    if not seconds:
        return 0.0
    paces = [(m, max(float(np.median(took)), _TICK)) for m, took in sorted(seconds.items())]
    (many, took) = paces[-1]
    fewer = [pace for pace in paces if pace[0] * 1.5 < many]
    if fewer:
        few, before = fewer[-1]
        growth = min(max(log(took / before) / log(many / few), 1.0), 3.0)
    return took * (rows / many) ** growth


def make_rungs(n: int, folds: int, rng: np.random.RandomState) -> tuple[list[Split], list[Rung]]:
    """Nested subsamples that grow threefold up to all rows; for few rows, repeated folds.

    Examples
    --------
    >>> splits, rungs = make_rungs(2000, 5, np.random.RandomState(0))
    >>> [(rung.rows, len(rung.splits)) for rung in rungs]
    [(222, 5), (666, 5), (2000, 5)]
    >>> _, rungs = make_rungs(250, 5, np.random.RandomState(0))
    >>> [(rung.rows, len(rung.splits)) for rung in rungs]
    [(250, 5), (250, 20)]
    """
    order, folds = rng.permutation(n), min(folds, n)
    if folds < 2:
        return [], []
    sizes = [n]
    while sizes[0] // FACTOR >= SMALLEST_RUNG:
        sizes.insert(0, sizes[0] // FACTOR)
    repeats = min(ceil(_REPEATED_UP_TO / n), _MOST_REPEATS) if len(sizes) == 1 else 1
    splits: list[Split] = []
    rungs = []
    for size in sizes * max(repeats, 1):
        rows = np.sort(order[:size])
        parts = KFold(folds, shuffle=True, random_state=rng.randint(2**31 - 1)).split(rows)
        first = len(splits)
        splits += [Split(rows[train], rows[test]) for train, test in parts]
        rungs.append(Rung(size, list(range(first, len(splits)))))
    if repeats > 1:
        rungs = [rungs[0], Rung(n, list(range(len(splits))))]
    return splits, rungs


def fit_ranker(ranker: Any, X: Any, Y: Any, weight: Array | None) -> Any:
    """Fit a ranker, or one at the end of a pipeline, with weights where there are some."""
    if weight is not None and isinstance(ranker, Pipeline):
        with config_context(enable_metadata_routing=False):
            return ranker.fit(X, Y, **{f"{ranker.steps[-1][0]}__sample_weight": weight})
    return fit_weighted(ranker, X, Y, weight)


class Race:
    """Runs the entries, the first of which is the reference, over the rungs.

    Each entry sees the same splits, so that τ_X can be compared row by row. A fit is never
    interrupted: before each one, what the entry has taken so far tells whether all its folds
    of the rung, and a refit on all rows, can be expected to end in time.

    After `run`, `standing` holds the entries that finished the last rung and were not dropped,
    and `last` is the number of that rung, or -1.
    """

    def __init__(
        self,
        entries: list[Entry],
        X: Array,
        Y: Positions,
        weight: Array | None,
        *,
        folds: int,
        clock: Clock,
        rng: np.random.RandomState,
        progress: Progress,
    ) -> None:
        self.entries, self.reference = entries, entries[0]
        self.X, self.Y, self.weight = X, Y, weight
        self.clock, self.progress = clock, progress
        self.splits, self.rungs = make_rungs(len(X), folds, rng)
        self.folds = min(folds, len(X))
        self.standing: list[Entry] = []
        self.last = -1

    def run(self) -> None:
        """Climb the rungs until one candidate is left, or no time."""
        runners = [entry for entry in self.entries if not entry.status]
        for number in range(len(self.rungs)):
            if number and (len(runners) < 2 or not self._worth_it(number, runners)):
                return
            finished = self._run_rung(number, runners)
            lost_reference = runners[0] is self.reference and self.reference not in finished
            if not finished or (lost_reference and not self.reference.status):
                return
            self.last = number
            self.standing = runners = self._best_of(number, finished)

    def _worth_it(self, number: int, runners: list[Entry]) -> bool:
        """Whether two of the runners, the reference among them, can finish the rung."""
        needs = [self._need(entry, self._todo(entry, number)) for entry in runners]
        now = monotonic()
        return now + needs[0] + min(needs[1:]) <= self._limit(number, now, runners[:1])

    def _run_rung(self, number: int, runners: list[Entry]) -> list[Entry]:
        started = monotonic()
        finished: list[Entry] = []
        self.progress.begin(
            f"rung {number + 1} of {len(self.rungs)}, {self.rungs[number].rows} rows",
            sum(len(self._todo(entry, number)) for entry in runners),
        )
        for entry in runners:
            if self._finishes(entry, number, started, finished):
                entry.rung = number
                finished.append(entry)
            if entry is self.reference or entry not in finished:
                started = monotonic()  # what these took is not at the cost of this rung alone
        return finished

    def _finishes(self, entry: Entry, number: int, started: float, finished: list[Entry]) -> bool:
        """Run an entry on a rung; False if it fails or can't be expected to end in time."""
        todo = self._todo(entry, number)
        certain = entry is self.reference and number == 0
        for done, split in enumerate(todo):
            need = self._need(entry, todo[done:])
            left = self._limit(number, started, [*finished, entry]) - monotonic()
            if not certain and need > left:
                if entry is not self.reference:
                    entry.status = _late(number, done, len(todo), need, max(left, 0.0))
                return False
            try:
                self._run_split(entry, split)
            except Exception as error:
                entry.fail(error)
                return False
            self.progress.step(entry.name)
        return True

    def _run_split(self, entry: Entry, number: int) -> None:
        train, test = self.splits[number]
        weight = None if self.weight is None else self.weight[train]
        started = monotonic()
        with warnings.catch_warnings():
            # What a fold lacks concerns nobody; the refit on all rows warns again.
            warnings.simplefilter("ignore")
            ranker = fit_ranker(clone(entry.ranker), self.X[train], self.Y[train], weight)
            fitted = monotonic()
            predicted = np.asarray(ranker.predict(self.X[test]), dtype=np.float64)
        entry.fits.setdefault(len(train), []).append(fitted - started)
        entry.runs.setdefault(len(train), []).append(monotonic() - started)
        if predicted.shape != self.Y[test].shape or np.isnan(predicted).any():
            raise ValueError("predictions must rank every label of every row")
        entry.tau[number] = tau_x_score(self.Y[test], predicted, per_sample=True)

    def _todo(self, entry: Entry, number: int) -> list[int]:
        return [split for split in self.rungs[number].splits if split not in entry.tau]

    def _need(self, entry: Entry, splits: list[int]) -> float:
        """Seconds that an entry is going to take for splits, by its own times or by its cost."""
        sizes = [len(self.splits[split].train) for split in splits]
        if entry.runs or not self.reference.cost:
            return sum(entry.forecast_run(rows) for rows in sizes)
        n = len(self.X)
        seconds = self.reference.forecast_fit(n) * entry.cost / self.reference.cost
        return sum(seconds * (rows / n) ** entry.growth for rows in sizes)

    def _limit(self, number: int, started: float, entries: Iterable[Entry]) -> float:
        """When a rung that started then has to end.

        What the last fit on all rows leaves over is shared alike by this rung and those above
        that the reference leaves time for; there is nothing to be kept for others.
        """
        if self.clock.deadline == inf:
            return inf
        refit = max((entry.forecast_fit(len(self.X)) for entry in entries), default=0.0)
        rest = self.clock.deadline - started - refit
        ahead, need = 0, 0.0
        for above in range(number + 1, len(self.rungs)):
            need += self._need(self.reference, self._todo(self.reference, above))
            ahead += need <= rest / 2
        return started + rest / (1 + ahead)

    def _best_of(self, number: int, finished: list[Entry]) -> list[Entry]:
        """The reference and the best third of the others; on the last rung all of them."""
        if number == len(self.rungs) - 1:
            return finished
        others = [entry for entry in finished if entry is not self.reference]
        others.sort(key=lambda entry: self.score(entry, number)[0], reverse=True)
        kept = others[: ceil(len(others) / FACTOR)]
        for entry in others[len(kept) :]:
            entry.status = f"dropped after rung {number}"
        return [entry for entry in finished if entry is self.reference or entry in kept]

    def winner(self) -> Entry | None:
        """The entry of the greatest sure gain over the reference, or the reference itself."""
        if self.reference not in self.standing:
            return max(self.standing, key=lambda e: self.score(e, self.last)[0], default=None)
        best, most = self.reference, 0.0
        if np.sum(~np.isnan(self._of_rows(best, self.last))) < _FEWEST_ROWS:
            return best
        for entry in self.standing:
            mean, error = self.gain(entry, self.last)
            if mean - error > most:
                best, most = entry, mean - error
        return best

    def in_order(self) -> list[Entry]:
        """The winner, the reference, then all others that finished a rung, the best first."""
        done = [entry for entry in self.entries if entry.rung >= 0]
        done.sort(key=lambda entry: (entry.rung, self.score(entry, entry.rung)[0]), reverse=True)
        done.sort(key=lambda entry: entry is not self.reference)
        winner = self.winner()
        return sorted(done, key=lambda entry: entry is not winner)

    def score(self, entry: Entry, number: int) -> tuple[float, float]:
        """Mean τ_X of an entry on a rung, and its standard error over rows."""
        return self._mean(self._of_rows(entry, number))

    def gain(self, entry: Entry, number: int) -> tuple[float, float]:
        """Mean paired gain over the reference, and its standard error.

        The error is larger than that of independent rows: the training sets of folds overlap
        (Nadeau and Bengio, 2003).
        """
        own, base = (self._of_rows(one, number) for one in (entry, self.reference))
        mean, error = self._mean(own - base)
        return mean, error * float(np.sqrt(1 + self.folds / (self.folds - 1)))

    def _of_rows(self, entry: Entry, number: int) -> Array:
        """τ_X of each row out of fold, over repetitions; NaN where it has no value."""
        total, count = np.zeros(len(self.X)), np.zeros(len(self.X))
        for split in self.rungs[number].splits:
            test = self.splits[split].test
            total[test] += entry.tau[split]
            count[test] += 1
        return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)

    def _mean(self, values: Array) -> tuple[float, float]:
        known = ~np.isnan(values)
        if not known.any():
            return float("nan"), float("nan")
        weight = np.ones(known.sum()) if self.weight is None else self.weight[known]
        share = weight / weight.sum()
        mean = float(share @ values[known])
        if len(share) < 2:
            return mean, float("nan")
        spread = float(np.sum((share * (values[known] - mean)) ** 2))
        return mean, float(np.sqrt(spread * len(share) / (len(share) - 1)))


def leaderboard(race: Race) -> pd.DataFrame:
    """A row for each candidate, best first; figures of the last rung that it finished."""
    rows = []
    for entry in race.entries:
        done = entry.rung >= 0
        score = race.score(entry, entry.rung) if done else (np.nan, np.nan)
        paired = done and race.reference.rung >= entry.rung
        gain = race.gain(entry, entry.rung) if paired else (np.nan, np.nan)
        runs = [seconds for took in entry.runs.values() for seconds in took]
        rows.append(
            {
                "candidate": entry.name,
                "parameters": entry.parameters,
                "tau_x": score[0],
                "standard_error": score[1],
                "gain": gain[0],
                "gain_error": gain[1],
                "rows": race.rungs[entry.rung].rows if done else 0,
                "folds": len(race.rungs[entry.rung].splits) if done else 0,
                "seconds": float(sum(runs)),
                "rung": entry.rung,
                "status": entry.status,
            }
        )
    table = pd.DataFrame(rows)
    table["best"] = table["status"] == "best"
    table = table.sort_values(["best", "rung", "tau_x"], ascending=False, kind="stable")
    return table.drop(columns="best").reset_index(drop=True)


def _late(number: int, done: int, folds: int, need: float, left: float) -> str:
    why = (
        "no time is left for it and a fit on all rows"
        if left <= 0
        else f"needs about {need:.3g} s more of {left:.3g} s"
    )
    if done:
        return f"timeout on rung {number} after {done} of {folds} folds: {why}"
    return f"skipped on rung {number}: {why}"
