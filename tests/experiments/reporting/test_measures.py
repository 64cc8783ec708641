import numpy as np
import pandas as pd
import pytest

from moreplr.datasets import Dataset
from moreplr.experiments import report
from moreplr.experiments import results as read
from moreplr.experiments.reporting import Summary, make_page
from moreplr.experiments.reporting.measures import behind_consensus, measures_table
from moreplr.experiments.reporting.summary import Condition
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result, decision_measures

COMPLETE = Condition(0.0, "complete")


def results(scores):
    """A store's frame of field results: {(data set, method): scores of folds}."""
    with Store(":memory:") as store:
        store.write(
            Result(
                Key("field", dataset, method, 0.0, "complete", 0, fold),
                "ok",
                tau,
                3.0,
                0.1,
                0.1,
                90,
                10,
                top_one=0.5,
                log_loss=1 - tau,
                calibration_error=0.1,
            )
            for (dataset, method), taus in scores.items()
            for fold, tau in enumerate(taus)
        )
        return store.frame(), store.identities()


FRAME = results(
    {
        ("tricot_a", "Forest"): [0.1, 0.2],
        ("tricot_a", "Dummy"): [0.5, 0.6],
        ("tricot_b", "Forest"): [0.9, 0.7],
        ("tricot_b", "Dummy"): [0.5, 0.4],
        ("aslib_x", "Forest"): [0.4, 0.6],
        ("aslib_x", "Dummy"): [0.6, 0.5],  # behind, but not surely
    }
)


def test_field_data_are_reported_by_where_they_come_from():
    table = measures_table(Summary(*FRAME), COMPLETE).set_index(["problem", "method"])
    assert set(table.index.get_level_values("problem")) == {"crops", "selection"}
    forest = table.loc[("crops", "Forest")]
    assert forest["datasets"] == 2
    assert forest["tau_x"] == pytest.approx((0.15 + 0.8) / 2)
    assert forest["tau_x_rank"] == forest["log_loss_rank"] == 1.5
    assert forest["behind"] == 1
    assert table.loc[("selection", "Forest"), "behind"] == 0
    assert table.loc[("crops", "Dummy"), "behind"] == 0


def test_a_report_of_field_data_is_read_back_as_the_store_was(tmp_path):
    with Store(tmp_path / "field.sqlite") as store:
        key = Key("field", "tricot_a", "Forest", 0.0, "complete", 0, 0)
        store.write([Result(key, "ok", 0.5, 3.0, 0.1, 0.1, 90, 10)])
    report(tmp_path / "field.sqlite", tmp_path / "out")
    pd.testing.assert_frame_equal(read(tmp_path / "out"), read(tmp_path / "field.sqlite"))


def test_made_label_rankings_and_partial_ones_are_apart():
    names = ("lr_fried", "plr_shuttle")
    frame = results({(name, "Forest"): [0.5] for name in names})
    table = measures_table(Summary(*frame), COMPLETE)
    assert set(table["problem"]) == {"made_lr", "made_plr"}


def test_without_a_consensus_nothing_is_said_of_it():
    frame = FRAME[0]
    assert behind_consensus(frame[frame["method"] == "Forest"]).isna().all()


def test_the_page_has_a_table_for_each_group():
    page = make_page(Summary(*FRAME), "field")
    assert "crop trials, rankings as they are" in page.lower()
    assert "log loss of pairs" in page
    assert "sets behind the consensus" in page


class TestDecisions:
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    scores = pd.DataFrame({"a": [1.0, 2.0, np.inf], "b": [4.0, 9.0, 3.0]})
    rows = np.array([0, 1]), np.array([2])

    def data(self, **known):
        ranks = self.scores.rank(axis=1)
        return Dataset("d", "field", self.X, ranks, scores=self.scores, **known)

    def test_run_times_are_measured_by_par10_and_the_gap(self):
        data = self.data(larger_is_better=False, cutoff=10.0)
        assert decision_measures(data, *self.rows, np.array([[2.0, 1.0]])) == {
            "par10": 3.0,
            "closed_gap": 1.0,  # the single best of the training rows, a, runs out of time
        }

    def test_other_scores_by_regret(self):
        data = self.data()
        rows = np.array([2]), np.array([0, 1])
        assert decision_measures(data, *rows, np.array([[1.0, 2.0], [2.0, 1.0]])) == {
            "regret": 1.5
        }

    def test_no_scores_no_measure(self):
        plain = Dataset("d", "field", self.X, self.scores)
        assert decision_measures(plain, *self.rows, np.array([[1.0, 2.0]])) == {}
