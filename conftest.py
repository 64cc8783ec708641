"""Fixtures for all tests and doctests."""

import os
import signal
from pathlib import Path

import pytest

# Plots are drawn without a screen, in child processes, too.
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _bundled_data_only(monkeypatch):
    """Names such as "iris" mean the bundled data, unless a test asks for the benchmark's."""
    monkeypatch.delenv("MOREPLR_DATA", raising=False)


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """SIGINT ends what tests start, even where they themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def benchmark_data(_bundled_data_only, monkeypatch):
    """The folder of benchmark data: where MOREPLR_DATA points, or beside the checkout."""
    folder = FOLDER
    if not (folder / "manifest.csv").is_file():
        pytest.skip(f"the benchmark data are not in {folder}")
    monkeypatch.setenv("MOREPLR_DATA", str(folder))
    return folder


@pytest.fixture
def field_data(benchmark_data):
    """The folder of rankings from elsewhere."""
    folder = benchmark_data / "field"
    if not (folder / "manifest.csv").is_file():
        pytest.skip(f"the field data are not in {folder}")
    return folder


FOLDER = Path(
    os.environ.get("MOREPLR_DATA") or Path(__file__).parent.parent / "shared" / "data"
).resolve()
