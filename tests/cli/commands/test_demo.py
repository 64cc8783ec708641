from moreplr import DummyRanker, NearestNeighborsRanker, experiments
from moreplr.cli import demonstration, main


def test_rankers_predictions_and_a_report(tmp_path, monkeypatch, capsys):
    few = {"consensus": DummyRanker(), "ranking forest": NearestNeighborsRanker()}
    monkeypatch.setattr(demonstration, "RANKERS", few)
    load = experiments.Plan.load
    monkeypatch.setattr(
        experiments.Plan, "load", lambda name: load(name).change(methods=["kNN", "Dummy"])
    )
    assert main(["demo", "-o", str(tmp_path / "out"), "--jobs", "0"]) == 0
    said = capsys.readouterr().out
    assert "consensus" in said
    assert "bucket orders of wines not seen in training" in said
    assert (tmp_path / "out" / "report.html").is_file()
