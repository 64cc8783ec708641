import json

import pytest

from moreplr import DummyRanker
from moreplr.datasets import Dataset
from moreplr.experiments import Limit, Plan, run
from moreplr.experiments.plan import expand_braces, load_data, shipped_plans
from moreplr.rankings import to_text

TOML = """
methods = ["{ST,Native}-RR", "kNN"]
missing = [0, 0.5]
folds = 4

[[data]]
path = "people.csv"
labels = "rank_*"
problem = "lr"

[[limits]]
rows = 100
repetitions = 1
"""


def test_a_toml_file_names_data_beside_it(tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text(TOML)
    (tmp_path / "people.csv").write_text("x,rank_a,rank_b\n1,1,2\n2,2,1\n")
    monkeypatch.chdir(tmp_path.parent)
    plan = Plan.load(tmp_path / "plan.toml", folds=2)
    assert (plan.name, plan.folds, plan.missing) == ("plan", 2, (0.0, 0.5))
    assert [method.name for method in plan.make_methods()] == ["ST-RR", "Native-RR", "kNN"]
    (data,) = plan.data
    assert isinstance(data, Dataset)
    assert (data.name, data.problem, list(data.Y)) == ("people", "lr", ["rank_a", "rank_b"])
    assert plan.limits == (Limit(100, repetitions=1),)


def test_tables_of_a_plan_have_the_options_of_from_csv(tmp_path):
    (tmp_path / "stars.csv").write_text("x;a;b\n1,5;5;0\n2,5;2;3\n", encoding="utf-8")
    table = 'path = "stars.csv", labels = 2, separator = ";", decimal = ",", unranked = ["0"]'
    plan = tmp_path / "plan.toml"
    plan.write_text(f'methods = ["kNN"]\ndata = [{{ {table}, ratings = true }}]')
    (data,) = Plan.load(plan).data
    assert to_text(data.Y) == ["a", "b > a"]
    assert data.X["x"].tolist() == [1.5, 2.5]
    plan.write_text(f'methods = ["kNN"]\ndata = [{{ {table}, rating = true }}]')
    with pytest.raises(ValueError, match=r"no option 'rating'; did you mean 'ratings'\?"):
        Plan.load(plan)


def test_limits_join():
    limits = [Limit(100, repetitions=2), Limit(1000, folds=3, without=["{kNN,Tree}"])]
    plan = Plan(["plr/iris"], ["kNN", "RPC"], limits=limits)
    assert plan.limit(99) == Limit(99, 5, 10)
    assert plan.limit(5000) == Limit(5000, 2, 3, ("kNN", "Tree"))


def test_the_papers_sweeps_fit_once_and_decode_many():
    plan = Plan.load("sweeps")
    methods = plan.make_methods()
    assert sorted(plan.data) == sorted(Plan.load("paper").data)
    assert len({method.fit_key() for method in methods}) == 5 * 4
    assert len({method.fit_key(ties=False) for method in methods}) == 5
    assert len(methods) == 5 * 4 * (1 + 7 + 15)


def test_the_papers_plan_has_its_data_and_methods():
    plan = Plan.load("paper")
    assert len(plan.data) == 31
    names = {method.name for method in plan.make_methods()}
    published = set(expand_braces("{ST,Chain,Native}-{RR,PI,EPS}"))
    assert names >= published | {"RPC", "RPC (text)", "Native-RR (published)"}
    assert plan.limit(599).repetitions == 5
    assert plan.limit(600).repetitions == 1
    assert plan.limit(20_000).folds == 3
    assert set(shipped_plans()) == {
        "auto", "demo", "field", "paper", "sweeps"
    }  # fmt: skip


@pytest.mark.parametrize("data", [b"\xff\xfe", b"name =", b"a = " + b"[" * 5000 + b"]" * 5000])
def test_a_file_that_is_not_toml_is_named(tmp_path, data):
    (tmp_path / "plan.toml").write_bytes(data)
    with pytest.raises(ValueError, match=r"plan\.toml is not TOML"):
        Plan.load(tmp_path / "plan.toml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"data": []}, "at least one data set"),
        ({"missing": [1.0]}, r"missing must hold shares.*1\.0"),
        ({"protocols": ["fair"]}, "'fair'"),
        ({"folds": 1}, "folds must be a number from 2 to 100,000, got 1"),
        ({"trees": True}, "trees must be a number from 1 to .*, got True"),
        ({"repetitions": 10**30}, "repetitions must be a number from 1 to"),
        ({"seed": "x"}, "seed must be an integer"),
        ({"limits": [{"a": 1}]}, "limits must hold tables of"),
        ({"methods": [5]}, "methods must hold names, got 5"),
        ({"data": [["plr/iris"]]}, "data must hold names"),
        ({"methods": ["RPC" + "{ a,b}" * 40]}, "stands for more than 100,000 names"),
        ({"forest": "xgboost"}, "'xgboost'"),
        ({"methods": ["RPC", "RPC"]}, "different names"),
        ({"metods": ["RPC"]}, "a plan has no metods"),
    ],
)
def test_what_a_plan_can_not_be_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        Plan.from_dict({"data": ["plr/iris"], "methods": ["RPC"], **values})


def test_unknown_plans_and_data_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"no plan 'papers'.*paper"):
        Plan.load("papers")
    (tmp_path / "bad.toml").write_text("data = [")
    with pytest.raises(ValueError, match=r"bad\.toml"):
        Plan.load(tmp_path / "bad.toml")
    with pytest.raises(ValueError, match="'iris'"):
        load_data("iris")
    with pytest.raises(TypeError, match="methods must be a list"):
        Plan(["plr/iris"], "RPC")


def write_plan(folder, **values):
    values = {"data": ["plr/iris"], "methods": ["Dummy"], **values}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    (folder / "plan.toml").write_text("\n".join(lines))
    return folder / "plan.toml"


def test_a_plan_runs_no_code_unless_that_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "stray.py").write_text(
        "from pathlib import Path\nPath('ran').touch()\nfrom moreplr import DummyRanker\n"
        "def make(settings):\n    return DummyRanker()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for methods in (["stray:make"], ["stray{:make,s}"]):
        path = write_plan(tmp_path, methods=methods)
        with pytest.raises(ValueError, match=r"'stray:make' is code to import.*--allow-import"):
            Plan.load(path)
        with pytest.raises(ValueError, match="'stray:make' is code to import"):
            run(path, tmp_path / "s.sqlite")
    with pytest.raises(ValueError, match="'stray:make' is code to import"):
        Plan.load("demo", methods=["stray:make"])
    assert not (tmp_path / "ran").exists()
    plan = Plan.load(write_plan(tmp_path, methods=["stray:make"]), allow_import=True)
    assert isinstance(plan.make_methods()[0].ranker, DummyRanker)


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "..", "", ".hidden", "x" * 101, 5])
def test_a_plan_s_name_leads_to_no_other_folder(tmp_path, name):
    with pytest.raises(ValueError, match="name must begin with a letter"):
        Plan.load(write_plan(tmp_path, name=name))


def test_a_plan_s_data_are_below_its_folder_or_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "plans").mkdir()
    (tmp_path / "work").mkdir()
    for place in (tmp_path, tmp_path / "plans", tmp_path / "work"):
        (place / "t.csv").write_text("x,r_a,r_b\n1,1,2\n2,2,1\n")
    monkeypatch.chdir(tmp_path / "work")

    def load_from(path):
        plan = tmp_path / "plans" / "plan.toml"
        plan.write_text(f'methods = ["Dummy"]\n[[data]]\npath = "{path}"\nlabels = "r_*"\n')
        return Plan.load(plan)

    for path in ("t.csv", "../work/t.csv", tmp_path / "work" / "t.csv", "x/../t.csv"):
        assert len(load_from(path).data) == 1
    for path in ("../t.csv", tmp_path / "t.csv", "../plans/../t.csv", "/etc/passwd"):
        with pytest.raises(ValueError, match="neither below the plan's folder nor"):
            load_from(path)
