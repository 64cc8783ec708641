import html
import re

import pandas as pd
import pytest

from moreplr.experiments import report


@pytest.fixture(scope="module")
def page(store, tmp_path_factory):
    return report(store, tmp_path_factory.mktemp("out"), "Results")


def test_one_file_without_the_network(page):
    text = page.read_text("utf-8")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:,)""", text)
    assert "url(" not in text
    assert "@import" not in text


def test_names_and_messages_are_escaped(page):
    text = page.read_text("utf-8")
    assert "<script>document.title" not in text
    assert "&lt;script&gt;document.title" in text
    assert "60 s &amp; more" in text


def test_the_same_numbers_as_csv(page):
    summary = pd.read_csv(page.parent / "summary.csv")
    row = summary.query(
        "dataset == 'iris' and problem == 'plr' and method == 'RPC' and missing == 0"
    )
    assert row["tau_x"].item() == pytest.approx(row["paper"].item() + 0.004, abs=1e-9)
    assert f"{row['tau_x'].item():.3f}" in page.read_text("utf-8")
    assert {"friedman_p", "holm_p", "win"} <= set(pd.read_csv(page.parent / "statistics.csv"))
    pairs = pd.read_csv(page.parent / "pairs.csv").query(
        "problem == 'lr' and protocol == 'honest'"
    )
    assert len(pairs) == 10 * 9 / 2
    assert pairs["holm_p_wilcoxon"].between(0, 1).all()


def test_every_result_names_the_versions_that_made_it(page):
    results = pd.read_csv(page.parent / "results.csv")
    environments = pd.read_csv(page.parent / "environments.csv")
    assert set(results["environment"]) == set(environments["environment"])
    assert environments["versions"].str.contains("scikit-learn").all()


def test_the_notes_say_how_many_folds_there_are(page):
    summary = pd.read_csv(page.parent / "summary.csv")
    found = re.search(r"<li>Folds: (.*?)\.</li>", page.read_text("utf-8"))[1]
    counts = summary.groupby(["problem", "dataset"])["folds"].agg(["min", "max"])
    for (problem, name), (least, most) in zip(counts.index, counts.to_numpy(), strict=True):
        part = next(part for part in found.split("; ") if f"{problem}/{html.escape(name)}" in part)
        assert part.startswith(f"{most} of" if least == most else f"{least} to {most} of")


def column(browser, number):
    script = (
        "return [...document.querySelector('#c0 tbody').rows]"
        ".map(row => row.cells[arguments[0]].dataset.value)"
    )
    return browser.execute_script(script, number)


def test_in_a_browser_it_opens_without_errors_and_a_click_sorts(browser, page):
    browser.get(page.as_uri())
    assert browser.title == "Results"
    heads = browser.find_elements("css selector", "#c0 th button")
    names = [head.text for head in heads]
    at = names.index("ST-RR")
    heads[at].click()
    scores = column(browser, at)
    numbers = [float(score) for score in scores if score]
    assert numbers == sorted(numbers, reverse=True)
    assert scores[-1] == ""  # the data set without a result stays at the end
    heads[at].click()
    numbers = [float(score) for score in column(browser, at) if score]
    assert numbers == sorted(numbers)
    heads[0].click()
    assert column(browser, 0) == sorted(column(browser, 0), key=str.casefold)
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen_and_follows_the_colour_scheme(browser, page, width, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    script = (
        "return [...document.querySelectorAll('.scroll')].map(part => "
        "[part.scrollWidth > part.clientWidth + 1, getComputedStyle(part, '::before').content])"
    )
    for wide, hint in browser.execute_script(script):  # what scrolls says so
        assert wide == ("scroll sideways" in hint)
    script = "return getComputedStyle(document.body).backgroundColor"
    red = int(re.findall(r"\d+", browser.execute_script(script))[0])
    assert red > 200 if scheme == "light" else red < 60


@pytest.mark.parametrize("width", [390, 1366])
def test_no_word_of_a_figure_is_cut_or_too_small_to_read(browser, page, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    script = (
        "return [...document.querySelectorAll('svg text')].map(text => {"
        "const box = text.getBoundingClientRect();"
        "const svg = text.ownerSVGElement.getBoundingClientRect();"
        "return [box.left - svg.left, svg.right - box.right, box.height]; })"
    )
    rooms = browser.execute_script(script)
    assert len(rooms) > 20
    for left, right, height in rooms:
        assert min(left, right) > -1
        assert height > 10
