"""Files of every release still load and predict what they did, or are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import moreplr
from moreplr import load
from moreplr.persistence import ModelFileError

FOLDER = Path(__file__).parent.parent / "fixtures" / "models"
FILES = sorted(FOLDER.glob("*/*.moreplr"))
# Never released: its forests had a parameter that is gone, its forests of rankings and mixtures
# were other models.
REFUSED = {
    ("0.1.0", name)
    for name in (
        "auto", "more_native", "more_single_target", "pairwise", "pipeline", "ranking_forest",
        "ranking_forest_per_label", "ranking_tree",
    )
}  # fmt: skip


def test_this_release_has_its_files():
    assert len(list((FOLDER / moreplr.__version__).glob("*.moreplr"))) >= 12, (
        "run python tests/fixtures/make_models.py and commit what it writes"
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_release_predicts_what_it_did(path):
    if (path.parent.name, path.stem) in REFUSED:
        with pytest.raises(ModelFileError, match=r"moreplr 0\.1\.0 wrote it.*fit the model again"):
            load(path)
        return
    known = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    predicted = load(path).predict(pd.DataFrame(known["rows"]))
    np.testing.assert_array_equal(predicted, known["predictions"])
