import re

import pytest

from moreplr.experiments.reporting import charts
from moreplr.experiments.reporting.summary import Summary
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result


def summary(scores, seconds=0.1):
    """Of {(data set, method, missing): τ_X}; what lacks labels lacks them as published."""
    with Store(":memory:") as store:
        for (dataset, method, missing), tau in scores.items():
            protocol = "published" if missing else "complete"
            key = Key("plr", dataset, method, missing, protocol, 0, 0)
            store.write([Result(key, "ok", tau, 2.0, seconds, 0.0, 90, 10)])
        return Summary(store.frame(), store.identities())


def sweep(datasets=("iris", "wine")):
    return {
        (dataset, f"ST-PI q={q}", 0.0): 0.5 + q / 10 for dataset in datasets for q in (0, 2, 3)
    }


def captions(made):
    return re.findall("<figcaption>(.*?)</figcaption>", made)


def test_a_curve_is_drawn_over_each_thing_that_varies():
    assert captions(charts.curves(summary(sweep()))) == ["Over q: partial label ranking."]
    scores = {("iris", "kNN", share): 0.9 - share for share in (0.0, 0.3, 0.6)}
    found = captions(charts.curves(summary(scores)))
    assert found == ["Partial label ranking, published protocol."]
    assert charts.curves(summary({("iris", "kNN", 0.0): 0.9})) == ""


def test_the_points_of_a_curve_are_means_over_the_same_data_sets():
    whole = charts.curves(summary(sweep()))
    # A data set that has one of the points only would lift that point.
    assert charts.curves(summary(sweep() | {("glass", "ST-PI q=2", 0.0): 1.0})) == whole


def test_methods_stand_at_their_time_and_those_without_one_are_left_out():
    scores = {(d, m, 0.0): 0.5 for d in ("iris", "wine") for m in ("kNN", "Tree")}
    made = charts.times(summary(scores))
    assert "kNN" in made
    assert "2 data sets" in made
    frame = summary(scores).stored
    frame.loc[frame["method"] == "kNN", ["fit_seconds", "predict_seconds"]] = float("nan")
    assert "kNN" not in charts.times(Summary(frame, summary(scores).identities))


@pytest.mark.parametrize(("modified", "drawn"), [(0.6, True), (0.5, False)])
def test_encoders_are_drawn_where_they_differ(modified, drawn):
    scores = {("iris", "ST-RR", 0.0): 0.5, ("iris", "ST-RR encoder=modified", 0.0): modified}
    made = charts.encoders(summary(scores))
    assert bool(captions(made)) is drawn
