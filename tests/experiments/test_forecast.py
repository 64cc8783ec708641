from dataclasses import replace

import pytest

from moreplr.experiments import Plan
from moreplr.experiments.forecast import Forecast
from moreplr.experiments.units import expand, source_of


def test_time_left_is_learned_from_units_of_the_same_kind(tiny, methods):
    plan = Plan([tiny], [*methods, "kNN"], folds=2, repetitions=1)
    units = list(expand(plan, [source_of(tiny)], set()))
    forecast = Forecast(units)
    assert forecast.seconds_left() is None
    forecast.learn(units[0], 2.0)
    same = [u for u in units[1:] if u.methods == units[0].methods]
    assert len(same) == 1
    # one more of the same kind, and two of a kind that is not known yet, at the same cost
    assert forecast.seconds_left() == pytest.approx(2 + 2 * 2)
    forecast.learn(same[0], None)
    assert forecast.seconds_left() == pytest.approx(4)


def test_time_left_grows_slower_than_the_data(tiny, methods):
    plan = Plan([tiny], methods, folds=2, repetitions=1)
    unit = next(expand(plan, [source_of(tiny)], set()))
    larger = replace(unit.source, name="larger", cells=8 * unit.source.cells)
    forecast = Forecast([unit, replace(unit, source=larger)])
    forecast.learn(unit, 2.0)
    assert forecast.seconds_left() == pytest.approx(2 * 4)
