"""Preferences as people have them, from a file to answers, in Python and on the command line.

Each shape is read, learned from and predicted for both ways, which must agree. A wrong use gives
one line that says where it is wrong and what is right, the same both ways.
"""

import re
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moreplr import DummyRanker, RankingForest, TableRanker, load
from moreplr.cli import main
from moreplr.cli.options import as_options
from moreplr.datasets import from_csv, read_features
from moreplr.datasets import load as load_data
from moreplr.rankings import to_text

N = 45


@dataclass
class Shape:
    """A file, how Python and the command read it, and what its first ranking is."""

    name: str
    content: bytes
    options: dict
    words: list
    first: str
    reading: list = field(default_factory=list)  # of the words, those that say how cells are read


def lines(*rows, encoding="utf-8"):
    return ("\n".join(rows) + "\n").encode(encoding)


def survey():
    rows = ["Nr.;Größe (cm);Fährt Rad?;Kind;Datum;Wohnt in …;Rang: Tee;Rang: Café;Rang: Wasser"]
    for i in range(N):
        cycles, size = ("ja", "k. A.", "nein")[i % 3], f"{160 + i / 2:.1f}".replace(".", ",")
        places = "1;2;2" if i % 3 == 0 else "3;1;2" if i % 4 else ";1;2"
        town = ["Köln", "", '"Ulm; Donau"'][i % 3 - i % 2]
        rows.append(
            f"P{i:04};{'' if i % 7 == 3 else size};{cycles};{i % 2 == 0};"
            f"{i % 28 + 1:02}.0{i % 9 + 1}.2024;{town};{places}"
        )
    reading = ["--separator", ";", "--decimal", ",", "--encoding", "cp1252", "--gap", "k. A."]
    return Shape(
        "umfrage.csv",
        lines(*rows, encoding="cp1252"),
        {
            "labels": "Rang: *",
            "separator": ";",
            "decimal": ",",
            "encoding": "cp1252",
            "gaps": ["k. A."],
            "ignore": ["Nr."],
            "drop_prefix": "Rang: ",
        },
        ["--labels", "Rang: *", "--ignore", "Nr.", "--drop-prefix", "Rang: "],
        "Tee > Café ~ Wasser",
        reading,
    )


def stars():
    rows = [f"{20 + i},{5 - i % 3},{1 + i // 10},{i % 2 * 4}" for i in range(N)]
    return Shape(
        "stars.csv",
        lines("age,star_tea,star_milk,star_cola", *rows),
        {"labels": "star_*", "ratings": True, "unranked": [0], "drop_prefix": "star_"},
        ["--labels", "star_*", "--ratings", "--unranked", "0", "--drop-prefix", "star_"],
        "tea > milk",
    )


def runs():
    times = ["timeout" if i % 5 == 4 else f"{10 + i}" for i in range(N)]
    rows = [f"{i},{a},{10.05 + i:.2f},{'' if i % 6 == 1 else 50 - i}" for i, a in enumerate(times)]
    return Shape(
        "runs.csv",
        lines("size,t_a,t_b,t_c", *rows),
        {"labels": "t_*", "scores": "smaller", "tolerance": "1%", "last": ["timeout"]},
        ["--labels", "t_*", "--scores", "smaller", "--tie-within", "1%", "--last", "timeout"],
        "t_a ~ t_b > t_c",
    )


def long():
    ranked = [["tea", "milk", "cola"], ["milk", "cola"]]
    rows = [
        f"u{i:02},{20 + i},{item},{place}"
        for i in range(N)
        for place, item in enumerate(ranked[i // 30], 1)
    ]
    return Shape(
        "long.csv",
        lines("user,age,item,rank", *rows),
        {"long": ["user", "item", "rank"]},
        ["--long", "user", "item", "rank"],
        "tea > milk > cola",
    )


def votes():
    pairs = [("gpt", "llama"), ("llama", "claude"), ("claude", "gpt")]
    ends = ["model_a", "model_b", "tie", "both bad", "claude"]
    rows = []
    for i in range(N):
        a, b = pairs[i % 3]
        winner = ends[i % 4] if "claude" not in (a, b) else "claude"
        rows.append(f"q{i // 3},{i // 3 * 7},{a},{b},{winner}")
    return Shape(
        "votes.csv",
        lines("question,words,model_a,model_b,winner", *rows),
        {"votes": ["model_a", "model_b", "winner"], "group": "question"},
        ["--votes", "model_a", "model_b", "winner", "--group", "question"],
        "gpt > llama",
    )


def choices():
    tried = ["oat,rye,spelt", "emmer,oat,rye", "oat,emmer,spelt"]
    rows = [f"{90 + 5 * i},{tried[i % 3]},{'BA'[i // 25]},C" for i in range(N)]
    return Shape(
        "farms.csv",
        lines("rain,item_A,item_B,item_C,best,worst", *rows),
        {"choices": ["best", "worst"], "tried": ["item_*"]},
        ["--choices", "best", "worst", "--tried", "item_*"],
        "rye > oat > spelt",
    )


def prompts():
    asked = ["Write a poem about the number", "Prove the theorem with number"]
    orders = ['"gpt-4 > ""llama, 7b"" ~ falcon"', "falcon > gpt-4"]
    rows = [f"{asked[i % 2]} {i * 37},{orders[i % 2]}" for i in range(N)]
    return Shape(
        "prompts.csv",
        lines("prompt,ranking", *rows),
        {"text": "ranking"},
        ["--ranking-column", "ranking"],
        'gpt-4 > falcon ~ "llama, 7b"',
    )


SHAPES = {make.__name__: make() for make in (survey, stars, runs, long, votes, choices, prompts)}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder; gives its output, and its errors where it fails."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        found = main([str(word) for word in words])
        said = capsys.readouterr()
        assert found == code, said.err
        return said.err if code else said.out

    return run


@pytest.mark.filterwarnings("ignore:.*was not seen in training:UserWarning")
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_from_a_file_to_answers_in_both_ways(shape, run, tmp_path):
    (tmp_path / shape.name).write_bytes(shape.content)
    data = from_csv(shape.name, **shape.options)
    assert data.overview().first == to_text(data.Y)[0] == shape.first
    ranker = TableRanker(RankingForest(10, random_state=0)).fit(data.X, data.Y)
    answers = ranker.predict_text(data.X)
    if "long" not in shape.options:  # there, a line is no row yet
        given = ("separator", "decimal", "encoding", "gaps")
        new = read_features(
            shape.name, **{name: shape.options[name] for name in given if name in shape.options}
        )
        assert ranker.predict_text(new) == answers
    assert ranker.score(data.X, data.Y) > 0.6

    words = [*shape.words, *shape.reading]
    few = ["--set", "n_estimators=10"]
    run("fit", shape.name, *words, *few, "-o", "m.moreplr")
    assert load("m.moreplr").labels_.tolist() == list(data.Y)
    rows = shape.name
    if "long" in shape.options:  # a line there is no row yet
        rows = "rows.csv"
        data.X.to_csv(rows, index=False)
    run("predict", "m.moreplr", rows, *shape.reading, "--text", "-o", "answers.csv")
    assert pd.read_csv("answers.csv")["ranking"].tolist() == answers

    said = run("evaluate", shape.name, *words, *few, "--folds", "3", "--repeats", "1")
    assert f": {len(data.X)} rows, " in said
    assert "consensus" in said


def test_a_file_of_preflib_has_a_consensus(run, tmp_path):
    names = [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(["tea", "milk", "oil"], 1)]
    (tmp_path / "drinks.toc").write_bytes(lines(*names, "3: 1,{2,3}", "2: 2,1,3"))
    data = from_csv("drinks.toc")
    assert to_text(data.Y) == ["tea > milk ~ oil", "milk > tea > oil"]
    ranker = DummyRanker().fit(np.zeros((2, 1)), data.Y, data.sample_weight)
    consensus = ranker.predict_text([[0]])[0]
    assert data.overview().consensus == consensus == "tea > milk ~ oil"
    assert main(["datasets", "card", "drinks.toc"]) == 0
    said = run("fit", "drinks.toc", "-o", "m.moreplr", code=1)
    assert "rankings without features" in said
    with pytest.raises(ValueError, match="weight is for tables, and a file of PrefLib needs none"):
        from_csv("drinks.toc", weight="voters")
    said = run("datasets", "card", "drinks.toc", "--drop-prefix", "t", code=1)
    assert "drinks.toc: --drop-prefix is for tables, and a file of PrefLib needs none" in said


@pytest.mark.parametrize(
    ("shape", "column", "remedy", "change"),
    [
        ("survey", "Nr.;Größe (cm);", "separator=';'", {"separator": None}),
        ("survey", "byte 0x", "encoding='cp1252'", {"encoding": "utf-8"}),
        ("survey", "'Rang: Tea'", "did you mean 'Rang: Tee'", {"labels": ["Rang: Tea", "Datum"]}),
        ("survey", "'Nummer'", "columns are 'Nr.'", {"ignore": ["Nummer"]}),
        ("survey", "column 'Fährt Rad?'", "unranked=['ja']", {"labels": ["Fährt Rad?", "Kind"]}),
        ("stars", "'star_coke'", "did you mean 'star_cola'", {"labels": ["star_coke", "age"]}),
        ("runs", "column 't_a': 'timeout'", "last=['timeout']", {"last": []}),
        ("runs", "tolerance", "scores='smaller'", {"scores": None}),
        ("long", "column 'item'", "ignore=['item']", {"long": ["user", "rank", "age"]}),
        ("long", "'place'", "rank", {"long": ["user", "item", "place"]}),
        (
            "votes",
            "'question': 'q0'",
            "skip=['q0']",
            {"votes": ["model_a", "model_b", "question"]},
        ),
        ("votes", "'winner'", "votes names", {"votes": ["model_a", "winner", "winner"]}),
        ("votes", "'winer'", "did you mean 'winner'", {"votes": ["model_a", "model_b", "winer"]}),
        ("choices", "column 'worst': 'C'", "tried", {"tried": ["item_A", "item_B"]}),
        ("choices", "'best'", "choices names", {"choices": ["best", "best"]}),
        ("choices", "'item_D'", "did you mean 'item_", {"tried": ["item_D"]}),
        ("prompts", "'tea'", "gpt-4", {"labels": ["tea", "milk"]}),
        ("prompts", "'order'", "ranking", {"text": "order"}),
        ("prompts", "column 'prompt'", "text=", {"text": "prompt"}),
    ],
)
def test_a_wrong_use_is_one_line_that_names_column_and_remedy(
    run, tmp_path, shape, column, remedy, change
):
    shape = SHAPES[shape]
    (tmp_path / shape.name).write_bytes(shape.content)
    options = {**shape.options, **change}
    with pytest.raises(ValueError, match=re.escape(remedy)) as caught:
        from_csv(shape.name, **options)
    said = str(caught.value)
    assert column in said
    error = run("evaluate", shape.name, *as_words(options), code=1)
    assert error == f"moreplr: error: {as_options(said)}\n"


NAMES = {
    "text": "ranking-column",
    "gaps": "gap",
    "tolerance": "tie-within",
    "drop_prefix": "drop-prefix",
}


def as_words(options):
    """The options of Python as those of the command."""
    for name, value in options.items():
        if value:
            yield f"--{NAMES.get(name, name)}"
            if value is not True:
                yield from value if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("copies", "taken"),
    [(1, "column 'id' is left out: it holds an identifier"), (2, "2 features (1 number, 1 text)")],
)
def test_many_rows_with_an_identifier_take_little_memory(tmp_path, copies, taken):
    """The whole process, with the code it loads, stays below a gigabyte at 50,000 rows."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the memory of a process is not known here")
    n, rng = 50_000, np.random.default_rng(0)
    x = rng.normal(size=n).round(3)
    frame = pd.DataFrame(
        {
            "id": [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(n // copies)] * copies,
            "x": x,
            "rank_a": 1 + (x > 0),
            "rank_b": 2 - (x > 0),
        }
    )
    frame.to_csv(tmp_path / "many.csv", index=False)
    words = ["fit", "many.csv", "--labels", "rank_*", "--set", "n_estimators=20", "-o", "m"]
    # What `resource` says of a process counts the memory of the one that started it, too.
    code = (
        "import sys; from moreplr.cli import main; code = main(sys.argv[1:]); "
        "print(open('/proc/self/status').read()); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert taken in done.stderr
    kib = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert kib is not None
    print(f"{int(kib[1]) * 1024 / 1e6:.0f} MB")  # shown where the next line fails
    assert int(kib[1]) * 1024 < 1e9


@pytest.mark.filterwarnings("ignore::UserWarning")  # of pairs that 150 rows leave open
@pytest.mark.parametrize("name", ["tricot_breadwheat", "llm_alpaca_eval"])
def test_field_data(run, field_data, name):
    data = load_data(name, "field")
    X, Y = data.X[:150], data.Y[:150]
    ranker = TableRanker(RankingForest(10, random_state=0)).fit(X, Y)
    assert ranker.predict_text(X)[0].count(">") > 1
    run("fit", f"field/{name}", "--set", "n_estimators=10", "-o", "m.moreplr")
    assert load("m.moreplr").labels_.tolist() == list(data.Y)
