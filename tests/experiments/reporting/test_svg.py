from xml.etree import ElementTree

import pytest

from moreplr.experiments.reporting import svg

FIGURES = {
    "critical difference": lambda: svg.critical_difference(
        {"a": 1.2, "b & <c>": 2.1, "d": 2.7}, [["a", "b & <c>"]], "<title>"
    ),
    "scatter": lambda: svg.scatter({"a": (0.01, 0.8), "<b>": (12.0, 0.9)}, "s", "τ"),
    "one point": lambda: svg.scatter({"a": (0.0, 0.8)}, "s", "τ"),
    "curves": lambda: svg.curves({f"m{i}": [(0, 0.5), (1, i / 9)] for i in range(10)}, "x", "y"),
    "heat map": lambda: svg.heat_map({("ST", "dense"): 0.5, ("ST", "a&b"): 0.5}, "t"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_well_formed_and_stay_on_the_sheet(name):
    root = ElementTree.fromstring(FIGURES[name]())
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    for shape in root.iter():
        for key, most in (
            ("x", width),
            ("x2", width),
            ("cx", width),
            ("y", height),
            ("y2", height),
        ):
            if shape.get(key) is not None:
                assert 0 <= float(shape.get(key)) <= most
    assert "nan" not in FIGURES[name]()


def test_a_bar_joins_the_rows_of_a_group():
    root = ElementTree.fromstring(FIGURES["critical difference"]())
    texts = {text.text: float(text.get("y")) for text in root.iter("text")}
    (bar,) = [line for line in root.iter("line") if line.get("class") == "bar"]
    low, high = float(bar.get("y1")), float(bar.get("y2"))
    assert low < texts["a"] - 4 < texts["b & <c>"] - 4 < high < texts["d"] - 4


def test_labels_of_near_points_do_not_overlap():
    root = ElementTree.fromstring(svg.scatter(dict.fromkeys("abc", (1.0, 0.5)), "s", "τ"))
    heights = [float(t.get("y")) for t in root.iter("text") if t.text in "abc"]
    assert min(abs(a - b) for a in heights for b in heights if a != b) >= 12
    assert len(set(heights)) == 3
