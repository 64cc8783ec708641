import re

import pytest

from moreplr.experiments.reporting.html import number, p_value, page, score, table, text

NAN = float("nan")


def cell_of(mean, std=NAN, paper=NAN, difference=NAN):
    return score(
        {"tau_x": mean, "std": std, "best": False, "paper": paper, "difference": difference}
    )


def test_what_is_not_known_is_an_empty_cell_that_sorts_as_one():
    assert [(cell.html, cell.value) for cell in (number(NAN), p_value(NAN))] == [("", "")] * 2


def test_p_values_that_tell_no_difference_are_marked():
    assert [p_value(p).kind for p in (0.049, 0.05, 0.5)] == ["", "best", "best"]
    assert [p_value(p).html for p in (0.0312, 0.00012)] == ["0.031", "1.2e-04"]


@pytest.mark.parametrize(
    ("difference", "kind", "shade"),
    [(0.002, "better", 0), (0.025, "better", 0.25), (-0.05, "worse", 0.5), (-0.4, "worse", 0.5)],
)
def test_a_difference_to_the_paper_is_shaded_by_its_size(difference, kind, shade):
    cell = cell_of(0.8 + difference, 0.01, 0.8, difference)
    assert (cell.kind, cell.style) == (kind, f"--shade: {shade:.2f}")
    assert "paper 0.800" in cell.html


def test_without_a_deviation_or_a_paper_there_is_the_mean_alone():
    cell = cell_of(0.75)
    assert (cell.html, cell.value, cell.kind, cell.style) == ("0.750", 0.75, "", "")


def test_a_table_sorts_by_values_and_not_by_what_it_shows():
    made = table([("p", "ascending")], [[p_value(0.00012)], [text("a & b")]], "τ_X of all")
    assert re.findall(r'data-value="([^"]*)"', made) == ["0.00012", "a &amp; b"]
    assert 'data-first="ascending"' in made
    assert ">τ_X of all<" in made  # a capital τ would be another letter


def test_titles_are_text_and_sections_are_html():
    made = page("a < b", "<b>lead</b>", [("one", "Part & whole", "<i>body</i>")])
    assert "<title>a &lt; b</title>" in made
    assert "Part &amp; whole" in made
    assert "<b>lead</b>" in made
    assert "<i>body</i>" in made
