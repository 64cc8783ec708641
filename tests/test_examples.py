"""Every example of the gallery runs offline, without a warning, and ends in a picture."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="the docs extra has it")
    matplotlib.use("agg")
    from matplotlib import pyplot

    pyplot.close("all")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(path), run_name="__main__")
    assert pyplot.get_fignums()
    pyplot.close("all")


def test_the_gallery_has_an_order_for_every_example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.delitem(sys.modules, "gallery_order", raising=False)
    from gallery_order import ORDER

    assert sorted(ORDER) == [path.name for path in EXAMPLES]
