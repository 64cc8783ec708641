"""Progress of a run, and the time that is left: units differ a thousandfold in cost."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Any

from moreplr._progress import Progress
from moreplr.experiments.units import Result, Source, Unit

_GROWTH = 2 / 3
Kind = tuple[Source, str, float]


class Forecast:
    """Seconds that units will take, learned from those that are done.

    A unit is expected to take the mean time of units of the same data set, fit and missing share.
    If none is done yet, times of the same fit on other data, or of any fit, are scaled by the
    size of the data (rows · log rows · features · labels) to the power of 2/3. Scaled by the size
    itself, times of small data, which come first, gave two to thirty times the true rest.
    """

    def __init__(self, units: list[Unit]) -> None:
        self._left: dict[Kind, int] = defaultdict(int)
        self._cost: dict[Kind, float] = {}
        self._seen: dict[Kind, list[float]] = defaultdict(list)
        for unit in units:
            kind = _kind(unit)
            self._left[kind] += 1
            self._cost[kind] = unit.source.cost**_GROWTH

    def learn(self, unit: Unit, seconds: float | None) -> None:
        """Note that a unit is done, and its time if that is known."""
        kind = _kind(unit)
        self._left[kind] -= 1
        if seconds is not None:
            self._seen[kind].append(seconds)

    def seconds_left(self) -> float | None:
        """CPU seconds of all remaining units; None until a time is known."""
        if not self._seen:
            return None
        rate: dict[Any, list[float]] = defaultdict(list)
        for kind, seconds in self._seen.items():
            for key in (kind[1], None):
                rate[key].append(fmean(seconds) / self._cost[kind])
        total = 0.0
        for kind, left in self._left.items():
            if kind in self._seen:
                each = fmean(self._seen[kind])
            else:
                each = self._cost[kind] * fmean(rate.get(kind[1]) or rate[None])
            total += left * each
        return total


class Watch(Progress):
    """Shows the progress of a run and the time that is left."""

    def __init__(self, units: list[Unit], jobs: int, *, shown: bool) -> None:
        super().__init__("", len(units), "units", shown=shown and bool(units))
        self._forecast, self._jobs, self._failed = Forecast(units), jobs, 0

    def finish(self, unit: Unit, results: list[Result]) -> None:
        """Note a finished unit."""
        took = [r.fit_seconds + (r.predict_seconds or 0) for r in results if r.fit_seconds]
        self._forecast.learn(unit, max(took) if took else None)
        self._failed += any(result.status != "ok" for result in results)
        left = self._forecast.seconds_left()
        name = str(unit.source) + f", {self._failed} failed" * bool(self._failed)
        note = "" if left is None else f"about {duration(left / self._jobs)} left"
        self.advance(1, name, note)


def duration(seconds: float) -> str:
    """A time span for people.

    Examples
    --------
    >>> [duration(s) for s in (0.4, 75, 7300)]
    ['0:01', '1:15', '2:01:40']
    """
    whole = max(1, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _kind(unit: Unit) -> Kind:
    return unit.source, unit.methods[0].fit_key(), unit.missing
