import re
from xml.etree import ElementTree

import pytest

from moreplr.experiments.reporting import figures

FIGURES = {
    "critical difference": lambda: figures.critical_difference(
        {"a": 1.2, "b & <c>": 2.1, "d": 2.7}, [["a", "b & <c>"]], "<title>"
    ),
    "scatter": lambda: figures.scatter({"a": (0.01, 0.8), "<b>": (12.0, 0.9)}, "s", "τ"),
    "one point": lambda: figures.scatter({"a": (0.0, 0.8)}, "s", "τ"),
    "curves": lambda: figures.curves(
        {f"m{i}": [(0, 0.5), (1, i / 9)] for i in range(10)}, "x", "y"
    ),
    "heat map": lambda: figures.heat_map({("ST", "dense"): 0.5, ("ST", "a&b"): 0.5}, "t"),
    "dollars": lambda: figures.scatter({"$a_b$": (1.0, 0.8)}, "s", "τ"),
}
SVG = "{http://www.w3.org/2000/svg}"


def texts(root):
    """The height of each text."""
    return {text.text: float(text.get("y")) for text in root.iter(f"{SVG}text")}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_well_formed_and_stay_on_the_sheet(name):
    made = FIGURES[name]()
    root = ElementTree.fromstring(made)
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    for shape in root.iter():
        for key, most in (("x", width), ("y", height)):
            if shape.get(key) is not None:
                assert 0 <= float(shape.get(key)) <= most
        for x, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", shape.get("d", "")):
            if shape.get("id") is None:  # markers are drawn around 0
                assert 0 <= float(x) <= width
                assert 0 <= float(y) <= height
    assert "nan" not in made
    assert made == FIGURES[name]()


@pytest.mark.parametrize("name", FIGURES)
def test_all_colours_are_those_of_the_page(name):
    assert re.findall(": #[0-9a-f]{6}", FIGURES[name]()) == []


def test_a_bar_joins_the_rows_of_a_group():
    root = ElementTree.fromstring(FIGURES["critical difference"]())
    (bar,) = [line for line in root.iter() if "stroke-width: 3.5" in line.get("style", "")]
    low, high = sorted(float(y) for _, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", bar.get("d")))
    at = texts(root)
    assert low < at["a"] - 4 < at["b & <c>"] - 4 < high < at["d"] - 4


def test_points_tell_more_when_pointed_at():
    root = ElementTree.fromstring(FIGURES["scatter"]())
    assert [tip.text for tip in root.iter(f"{SVG}title")] == ["<b>: 0.900", "a: 0.800"]


def test_labels_of_near_points_do_not_overlap():
    root = ElementTree.fromstring(figures.scatter(dict.fromkeys("abcdef", (1.0, 0.5)), "s", "τ"))
    placed = [
        (float(text.get("x")), float(text.get("y")))
        for text in root.iter(f"{SVG}text")
        if text.text in set("abcdef")
    ]
    assert len(placed) == 6
    for number, (x, y) in enumerate(placed):
        assert all(abs(x - a) > 12 or abs(y - b) > 10 for a, b in placed[:number])
