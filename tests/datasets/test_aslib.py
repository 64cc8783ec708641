import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from moreplr.datasets import from_aslib, from_csv
from moreplr.datasets._aslib import read_arff
from moreplr.rankings import to_text

RUNS = """% a comment
@RELATION runs
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}

@DATA
'i, 1',1,minisat,10.0,ok
'i, 1',1,lingeling,10.05,ok
'i, 1',1,kissat,600,timeout
i2,1,minisat,600,timeout
i2,1,lingeling,5,ok
i2,1,kissat,?,crash
"""
FEATURES = """@RELATION features
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@attribute 'n vars' numeric
@ATTRIBUTE ratio REAL
@DATA
i2,1,20,?
'i, 1',1,10,4.2
"""
FOLDS = """@RELATION cv
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE fold NUMERIC
@DATA
'i, 1',1,1
i2,1,2
"""


@pytest.fixture
def scenario(tmp_path):
    folder = tmp_path / "SAT-TINY"
    folder.mkdir()
    (folder / "algorithm_runs.arff").write_text(RUNS)
    (folder / "feature_values.arff").write_text(FEATURES)
    (folder / "cv.arff").write_text(FOLDS)
    return folder


def test_what_did_not_end_well_is_last(scenario):
    data = from_aslib(scenario)
    texts = ["lingeling > kissat ~ minisat", "lingeling ~ minisat > kissat"]
    assert to_text(data.Y) == texts
    assert list(data.X) == ["n vars", "ratio"]
    np.testing.assert_array_equal(data.X["ratio"], [np.nan, 4.2])
    assert data.name == "SAT-TINY"
    assert "runtime: the smallest is best" in data.meaning
    assert to_text(from_csv(scenario).Y) == texts
    assert to_text(from_aslib(scenario, tolerance=0).Y)[1] == "minisat > lingeling > kissat"


def test_the_folds_are_the_scenarios(scenario):
    data = from_aslib(scenario)
    tests = [test.tolist() for _, test in GroupKFold(2).split(data.X, groups=data.groups)]
    assert sorted(tests) == [[0], [1]]
    (scenario / "cv.arff").unlink()
    assert from_aslib(scenario).groups is None


def test_a_measure_that_is_maximized(scenario):
    (scenario / "description.txt").write_text("scenario_id: X\nmaximize:\n    - true\n")
    assert to_text(from_aslib(scenario, tolerance=0).Y)[1] == "lingeling > minisat > kissat"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@DATA", "", "runs.arff: line 10: .* is not of an ARFF file"),
        ("i2,1,lingeling,5,ok", "i2,1,lingeling,5", "line 14 has 4 cells, but there are 5"),
        ("lingeling,5,ok", "lingeling,fast,ok", "attribute 'runtime': could not convert"),
        ("@ATTRIBUTE runtime", "@ATTRIBUTE", "line 6: '@ATTRIBUTE NUMERIC' is no attribute"),
        ("@ATTRIBUTE algorithm", "@ATTRIBUTE solver", "has no attribute 'algorithm'"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(scenario, old, new, message):
    path = scenario / "algorithm_runs.arff"
    path.write_text(RUNS.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        from_aslib(scenario)


def test_files_that_are_not_there(scenario, tmp_path):
    (scenario / "feature_values.arff").unlink()
    with pytest.raises(FileNotFoundError, match=r"no file .*feature_values\.arff"):
        from_aslib(scenario)
    (tmp_path / "a.arff").write_text("@RELATION a\n")
    with pytest.raises(ValueError, match="has no line @DATA"):
        read_arff(tmp_path / "a.arff")
