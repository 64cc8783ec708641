"""A table as people have them: texts, gaps, ties, missing labels and names beyond ASCII."""

import random

import pytest

from moreplr.cli import main

LABELS = ["tea", "café", "water, still"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder; gives exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def people(n=60, seed=0):
    """CSV lines: the young prefer tea, the old water; a fifth tie them, some leave one out."""
    rng = random.Random(seed)
    lines = ['name,age,town,rank_tea,rank_café,"rank_water, still"']
    for number in range(n):
        age = rng.randint(18, 80)
        tea, water = (1, 3) if age < 45 else (3, 1)
        if rng.random() < 0.2:
            water = tea
        coffee = rng.choice(["2", ""])
        town = rng.choice(["Ulm", "Köln", "NA"])
        shown = "" if rng.random() < 0.1 else age
        lines.append(f'"P. {number}",{shown},{town},{tea},{coffee},{water}')
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(people(), encoding="utf-8")
    return path


@pytest.fixture
def many_people(tmp_path):
    """So many rows that a ranker surely gains from the features."""
    path = tmp_path / "people.csv"
    path.write_text(people(300), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A small model of people and where it is."""
    folder = tmp_path_factory.mktemp("model")
    path = folder / "people.csv"
    path.write_text(people(), encoding="utf-8")
    model = folder / "people.moreplr"
    words = ["fit", path, "--labels", "rank_*", "--ignore", "name", "--set", "n_estimators=10"]
    assert main([str(word) for word in [*words, "-o", model]]) == 0
    return model
