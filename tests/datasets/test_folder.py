import gzip
import hashlib

import pandas as pd
import pytest

from moreplr.datasets import list_datasets, load


def write_folder(folder, checksum=None):
    content = b"A1,A2,L1,L2\n0.5,red,1,2\n1.5,blue,1,1\n"
    (folder / "plr").mkdir()
    (folder / "plr" / "tiny.csv.gz").write_bytes(gzip.compress(content))
    manifest = {
        "problem": ["plr"],
        "dataset": ["tiny"],
        "file": ["plr/tiny.csv.gz"],
        "labels": [2],
        "sha256": [checksum or hashlib.sha256(content).hexdigest()],
    }
    pd.DataFrame(manifest).to_csv(folder / "manifest.csv", index=False)


def test_features_come_first_then_the_labels(tmp_path, monkeypatch):
    write_folder(tmp_path)
    monkeypatch.setenv("MOREPLR_DATA", str(tmp_path))
    X, Y = load("tiny")
    assert list(X.columns) == ["A1", "A2"]
    assert Y.to_numpy().tolist() == [[1, 2], [1, 1]]
    assert "tiny" in list_datasets()
    assert "tiny" not in list_datasets("lr")


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    write_folder(tmp_path, checksum="0" * 64)
    monkeypatch.setenv("MOREPLR_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="checksum"):
        load("tiny")


def test_a_folder_without_a_manifest_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MOREPLR_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"manifest\.csv"):
        load("iris")


def test_all_published_data_sets_load(benchmark_data):
    manifest = pd.read_csv(benchmark_data / "manifest.csv")
    assert len(manifest) == 31
    for entry in manifest.itertuples():
        X, Y = load(entry.dataset, entry.problem)
        assert (len(X), X.shape[1], Y.shape[1]) == (entry.instances, entry.features, entry.labels)


def test_field_data_are_read_as_their_manifest_says(field_data):
    manifest = pd.read_csv(field_data / "manifest.csv")
    assert list_datasets("field") == sorted(manifest["dataset"])
    for entry in manifest.itertuples():
        if entry.instances > 2000:
            continue
        data = load(entry.dataset, "field")
        assert (len(data.X), *data.X.shape[1:], data.Y.shape[1]) == (
            entry.instances,
            entry.features,
            entry.labels,
        )
        assert data.Y.min(axis=None) == 1
        assert data.Y.isna().mean(axis=None) == pytest.approx(entry.missing_labels, abs=6e-4)


def test_field_data_without_a_folder_are_not_known(monkeypatch):
    monkeypatch.delenv("MOREPLR_DATA", raising=False)
    assert list_datasets("field") == []
    with pytest.raises(ValueError, match="no field data set 'tricot_cassava'"):
        load("tricot_cassava", "field")
    with pytest.raises(
        ValueError, match=r"no field data set 'iris'.*there is one with problem='plr'"
    ):
        load("iris", "field")
    with pytest.raises(ValueError, match=r"no plr data set 'irsi'.*did you mean 'iris'"):
        load("irsi")
