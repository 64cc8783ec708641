from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold
from sklearn.preprocessing import StandardScaler

from moreplr import DummyRanker, MORERanker
from moreplr.datasets import Dataset, load
from moreplr.encoders import encode
from moreplr.experiments import Limit, Plan, results, run
from moreplr.experiments.methods import Method, make_method
from moreplr.experiments.units import expand, prepare, run_unit, source_of
from moreplr.incomplete import remove_labels
from moreplr.layers import PredictionInterval, RoundRank
from moreplr.metrics import tau_x_score


def units_of(plan, done=()):
    return list(expand(plan, [source_of(item) for item in plan.data], set(done)))


def test_one_fit_serves_all_layers_and_rankers_of_order_serve_both_protocols(tiny, methods):
    plan = Plan([tiny], [*methods, "kNN"], missing=[0, 0.3], folds=2, repetitions=1)
    units = units_of(plan)
    fits = [(u.missing, u.protocols, len(u.methods)) for u in units if u.fold == 0]
    assert sorted(fits) == [
        (0.0, ("complete",), 1),
        (0.0, ("complete",), 2),
        (0.3, ("honest",), 2),
        (0.3, ("published",), 2),
        (0.3, ("published", "honest"), 1),
    ]


def test_without_ties_all_encodings_share_a_fit(tiny):
    X, Y = load("iris", "lr")
    total = Dataset("iris", "lr", X, Y)
    names = ["ST-RR", "ST-EPS", "ST-EPS encoder=fractional"]
    plan = Plan([total], names, missing=[0.3], folds=3, repetitions=1, trees=5)
    together = [unit for unit in units_of(plan) if unit.fold == 0]
    assert [(u.protocols, len(u.methods)) for u in together] == [
        (("published",), 3),
        (("honest",), 3),
    ]
    shared = {r.key: r.tau_x for u in together for r in run_unit(u)}
    for name in names:
        (alone,) = (
            r
            for u in units_of(Plan([total], [name], [0.3], ["honest"], folds=3, trees=5))
            if (u.repetition, u.fold) == (0, 0)
            for r in run_unit(u)
        )
        assert shared[alone.key] == alone.tau_x
    assert len({unit.methods for unit in units_of(Plan([tiny], names[:2], folds=2))}) == 2


def test_what_is_done_is_not_planned_again(tiny, methods):
    plan = Plan([tiny], methods, folds=2, repetitions=1)
    first, second = units_of(plan)
    done = set(first.keys(methods[0]) + first.keys(methods[1]) + second.keys(methods[0]))
    (left,) = units_of(plan, done)
    assert [method.name for method in left.methods] == ["Mean-EPS"]
    assert left.fold == second.fold


def test_limits_and_methods_of_one_protocol(tiny):
    names = ["Native-RR", "Native-RR (published)", "Native-RR (expected)"]
    plan = Plan(
        [tiny],
        [*names, "kNN"],
        missing=[0, 0.3],
        folds=3,
        limits=[Limit(40, repetitions=2, folds=1, without=("kNN",))],
    )
    found = {(*u.protocols, u.methods[0].name, u.repetition, u.fold) for u in units_of(plan)}
    assert found == {
        (protocol, name, repetition, 0)
        for protocol, name in [
            ("complete", names[0]),
            ("published", names[0]),
            ("published", names[1]),
            ("honest", names[0]),
            ("honest", names[2]),
        ]
        for repetition in (0, 1)
    }


def test_a_forest_without_an_encoder_takes_given_positions_too(tiny):
    plan = Plan([tiny], ["Forest"], missing=[0.4], folds=2, repetitions=1, trees=5)
    units = [unit for unit in units_of(plan) if unit.fold == 0]
    assert {unit.protocols for unit in units} == {("published",), ("honest",)}
    for unit in units:
        ranker, _ = prepare(unit.methods[0].ranker, tiny.Y.to_numpy(), unit)
        assert ranker.positions == ("given" if unit.protocols == ("published",) else "observed")
        assert run_unit(unit)[0].status == "ok"


@pytest.mark.parametrize("protocol", ["published", "honest"])
def test_the_protocols_take_labels_away_after_or_before_encoding(tiny, protocol):
    plan = Plan([tiny], ["ST-PI"], missing=[0.4], protocols=[protocol], folds=2, repetitions=1)
    unit = units_of(plan)[0]
    Y = tiny.Y.to_numpy()
    ranker, given = prepare(unit.methods[0].ranker, Y, unit)
    if protocol == "published":
        expected = remove_labels(encode(Y, "modified"), 0.4, random_state=0)
        assert ranker.positions == "given"
    else:
        expected = remove_labels(Y, 0.4, random_state=0)
        assert ranker.positions is None
    np.testing.assert_array_equal(given, expected)


def test_scores_are_those_of_the_published_procedure():
    """The fold, the scaling, the forest and the layer written out, without this package's help."""
    plan = Plan(["plr/iris"], ["Native-RR"], trees=10, folds=10, repetitions=2)
    unit = next(u for u in units_of(plan) if (u.repetition, u.fold) == (1, 3))
    (result,) = run_unit(unit)
    X, Y = (part.to_numpy() for part in load("iris"))
    splits = RepeatedKFold(n_splits=10, n_repeats=5, random_state=0).split(X)
    train, test = list(splits)[13]
    scaler = StandardScaler().fit(X[train])
    ranker = make_method("Native-RR", plan.settings).ranker
    ranker.fit(scaler.transform(X[train]), Y[train])
    expected = tau_x_score(Y[test], ranker.predict(scaler.transform(X[test])))
    assert result.status == "ok"
    assert result.tau_x == expected
    assert (result.n_train, result.n_test) == (135, 15)
    assert result.fit_seconds > 0


class Broken(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no fit today")


def test_errors_become_results(tiny, methods):
    plan = Plan([tiny], [Method("Broken", Broken())], folds=2, repetitions=1)
    (result,) = run_unit(units_of(plan)[0])
    assert (result.status, result.tau_x) == ("error", None)
    assert result.message == "RuntimeError: no fit today"


def test_a_layer_that_fails_does_not_take_the_others_with_it(tiny):
    regressor = DummyRegressor()
    bad = Method("Bad", MORERanker("dense", regressor, RoundRank(halves="down")))
    good = Method("Good", MORERanker("dense", regressor, RoundRank()))
    plan = Plan([tiny], [bad, good], folds=2, repetitions=1)
    (unit, _) = units_of(plan)
    status = {result.key.method: result.status for result in run_unit(unit)}
    assert status == {"Bad": "error", "Good": "ok"}
    needs = Method("PI", MORERanker("dense", LinearRegression(), PredictionInterval()))
    (result,) = run_unit(units_of(Plan([tiny], [needs], folds=2, repetitions=1))[0])
    assert "PredictionInterval" in result.message


def test_warnings_are_kept_with_the_result():
    X, Y = pd.DataFrame({"x": range(20)}), pd.DataFrame([[1.0, 2.0]] * 10 + [[np.nan] * 2] * 10)
    data = Dataset("gaps", "plr", X, Y)
    plan = Plan([data], ["kNN"], folds=2, repetitions=1)
    found = [result for unit in units_of(plan) for result in run_unit(unit)]
    assert any("rank no label" in result.message for result in found)


def test_a_fold_that_nothing_can_be_scored_on_is_a_failure_and_the_rest_is_read(tmp_path):
    Y = np.full((20, 3), np.nan)
    Y[:, 0], Y[:3, 1] = 1, 2  # most rows rank a single label
    data = Dataset("few", "plr", pd.DataFrame({"x": range(20)}), pd.DataFrame(Y))
    plan = Plan([data], ["Dummy"], folds=10, repetitions=1)
    path = tmp_path / "s.sqlite"
    counts = run(plan, path, jobs=0)
    assert counts["ok"] + counts["error"] == 10
    frame = results(path)
    failed = frame["status"] == "error"
    assert 7 <= failed.sum() == counts["error"]
    assert frame.loc[failed, "message"].str.contains("no test row of this fold ranks two").all()


def test_other_data_under_the_same_name_are_refused():
    plan = Plan(["plr/iris"], ["kNN"], folds=2, repetitions=1)
    unit = units_of(plan)[0]
    source = replace(unit.source, fingerprint="0" * 16)
    (result,) = run_unit(replace(unit, source=source))
    assert "not the same data" in result.message


def test_pair_probabilities_are_measured_where_a_ranker_has_some(tiny, methods):
    plan = Plan([tiny], ["kNN", methods[0]], folds=2, repetitions=1, probabilities=True)
    found = [result for unit in units_of(plan) for result in run_unit(unit)]
    assert [result.status for result in found] == ["ok"] * 4
    for result in found:
        assert 0 <= result.top_one <= 1
        has_pairs = result.key.method == "kNN"
        assert (result.log_loss is not None) == has_pairs
        assert (result.calibration_error is not None) == has_pairs
    plain = units_of(plan.change(probabilities=False))[0]
    assert run_unit(plain)[0].log_loss is None


def test_long_texts_become_few_features_where_a_plan_says_so():
    words = [f"{a} {b}" for a in ("red", "green", "blue", "grey") for b in range(30)]
    X = pd.DataFrame({"said": words * 2, "age": np.arange(240.0)})
    data = Dataset("texts", "plr", X, pd.DataFrame(np.tile([[1.0, 2.0], [2.0, 1.0]], (120, 1))))
    widths = []

    class Wide(DummyRanker):
        def fit(self, X, y, sample_weight=None):
            widths.append(X.shape[1])
            return super().fit(X, y, sample_weight)

    for features in ("published", "table"):
        plan = Plan([data], [Method("wide", Wide())], folds=2, repetitions=1, features=features)
        assert {result.status for result in run_unit(units_of(plan)[0])} == {"ok"}
    assert widths[-1] < 50 < widths[0]
