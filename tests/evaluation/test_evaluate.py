"""What cross-validation of a table shows, in words and as a page in a real browser."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from moreplr import (
    BradleyTerryRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    RankingTree,
)
from moreplr.datasets import from_csv
from moreplr.evaluation import evaluate
from moreplr.evaluation._words import pairs_right
from moreplr.evaluation._worth import worth_of
from moreplr.metrics import choice_regret, tau_x_score
from moreplr.rankings import dense_ranks, to_text

EVIL = "<script>document.title='evil'</script>"


def drinks(n=90, seed=0):
    """The old prefer water, in town everybody ties the rest; some rankings have gaps."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, n), rng.choice(["Ulm", "Köln", None], n)
    tea, water = np.where(age < 50, 1.0, 3.0), np.where(age < 50, 3.0, 1.0)
    milk = np.where(town == "Ulm", tea, 2.0)
    milk[::7] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "town": town,
            EVIL: rng.normal(size=n),
            "tea": tea,
            "milk & cream": milk,
            "water": water,
        }
    )


@pytest.fixture(scope="module")
def found():
    data = from_csv(drinks(), 3, name="drinks")
    rankers = {"linear": BradleyTerryRanker(), "neighbors": NearestNeighborsRanker()}
    return evaluate(data, rankers, n_folds=3, n_repeats=2)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return found.report(tmp_path_factory.mktemp("page") / "drinks.html")


def test_printed_it_names_each_ranker_and_the_gain_over_the_consensus(found):
    lines = str(found).splitlines()
    assert lines[0] == "drinks: 90 rows, 3 features, 3 labels"
    assert [line.split()[0] for line in lines[1:5]] == [
        "linear",
        "neighbors",
        "consensus",
        "difference",
    ]
    assert lines[4].endswith("it has learned from the features")
    assert "3 folds, repeated 2 times, with 95% intervals" in lines[5]


def test_each_row_is_looked_at_once_by_a_ranker_that_has_not_seen_it(found):
    unseen = found.unseen
    assert unseen.ranks.shape == unseen.Y.shape == (90, 3)
    first = found.scores.query("ranker == 'linear' and repeat == 1")
    assert tau_x_score(unseen.Y, unseen.ranks) == pytest.approx(
        np.average(first["tau_x"], weights=first["test_rows"])
    )
    P, Q = unseen.pairs
    np.testing.assert_allclose(P + P.transpose(0, 2, 1) + Q, 1)


def test_a_column_that_decides_counts_most(found):
    losses = found.unseen.losses.mean(axis=0)
    assert losses.argmax() == 0
    assert losses[0] > 0.3 > 0.1 > abs(losses[2])


def test_the_curve_ends_at_all_training_rows(found):
    rows, scores = found.unseen.curve
    assert rows.tolist() == [15, 30, 60]
    first = found.scores.query("ranker == 'linear' and repeat == 1")
    np.testing.assert_allclose(scores[-1], first["tau_x"])
    assert scores[-1].mean() > scores[0].mean()


def test_weights_and_groups_are_those_of_the_data(tmp_path):
    frame = drinks(40).assign(w=[1, 2] * 20, person=np.repeat(np.arange(20), 2))
    labels = ["tea", "milk & cream", "water"]
    data = from_csv(frame, labels, weight="w", group="person", name="drinks")
    pipeline = make_pipeline(data.preprocessor(), BradleyTerryRanker())
    found = evaluate(data, {"piped": pipeline}, n_folds=3, n_repeats=1)
    assert found.report(tmp_path / "page.html").is_file()


def test_predictions_come_with_truth_and_reasons(found):
    good, usual, bad = found.unseen.examples
    assert good.tau_x >= usual.tau_x >= bad.tau_x
    Y = found.data.Y
    for one in (good, usual, bad):
        assert one.true == to_text(Y[one.row - 1 : one.row])[0]
        assert one.features["age"] == found.data.X["age"][one.row - 1]
    assert "for it: age = " in str(good.reasons)
    assert "it would turn with age = " in str(good.reasons)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_right_are_those_of_the_words(seed):
    """Of all pairs, those of the same relation, and half of those where one side alone ties."""
    rng = np.random.default_rng(seed)
    true, found = dense_ranks(
        rng.integers(0, 3, (2, 50, 5)).astype(float).reshape(100, 5)
    ).reshape(2, 50, 5)
    i, j = np.triu_indices(5, 1)
    a, b = np.sign(true[:, i] - true[:, j]), np.sign(found[:, i] - found[:, j])
    right = (a == b) + 0.5 * ((a == 0) != (b == 0))
    assert pairs_right(tau_x_score(true, found)) == round(100 * right.mean())


def test_the_page_is_one_file_and_texts_are_escaped(page):
    text = page.read_text("utf-8")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "@import" not in text
    assert EVIL not in text
    assert "milk & cream" not in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_the_page_says_what_was_read_and_found(page, found):
    text = page.read_text("utf-8")
    said = " ".join(re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]*>", " ", text).split())
    assert "drinks: 90 rows, 3 features, 3 labels" in said
    assert "positions: the smallest is best, equal is tied, empty is not ranked" in said
    mean = found.scores.query("ranker == 'linear'")["tau_x"].mean()
    assert f"puts about {pairs_right(mean)} right" in said
    assert "it has learned from the features" in said
    gaps = found.data.Y.isna().any(axis=1).mean()
    assert f"rank all labels {1 - gaps:.0%}" in said
    assert f"town category {found.data.X['town'].isna().mean():.0%}" in said
    for heading in (
        "Rankers",
        "Pairs of labels",
        "come true",
        "What counts",
        "more rows",
        "predictions",
    ):
        assert heading in said
    taus = [float(tau) for tau in re.findall(r"<td>(-?\d\.\d{3})</td>", text)[::4]]
    assert taus == sorted(taus, reverse=True)


def test_the_same_evaluation_makes_the_same_page(found, page, tmp_path):
    again = found.report(tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()


@pytest.mark.parametrize(
    "ranker", [MORERanker(regressor="native"), DummyRanker()], ids=["no pairs", "no features"]
)
def test_rankers_that_tell_less_have_a_page_too(ranker, tmp_path):
    data = from_csv(drinks(40)[["age", "tea", "milk & cream", "water"]], 3)
    found = evaluate(data, {"dummy" if isinstance(ranker, DummyRanker) else "more": ranker})
    text = found.report(tmp_path / "page.html").read_text("utf-8")
    assert "Pairs of labels" in text


def test_it_needs_a_ranker():
    with pytest.raises(ValueError, match="rankers must name one or more"):
        evaluate(from_csv(drinks(), 3), {})
    with pytest.raises(TypeError, match=r"rankers must be a dict from names to rankers, .*Tree"):
        evaluate(from_csv(drinks(), 3), RankingTree())
    with pytest.raises(TypeError, match=r"data must be a Dataset: .*from_csv.* got a DataFrame"):
        evaluate(drinks())


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_nothing_is_cut_and_what_scrolls_says_so(browser, page, width, scheme):
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
    for wide, hint in browser.execute_script(script):
        assert wide == ("scroll sideways" in hint)
        assert width < 600 or not wide
    letters = (
        "return [...document.querySelectorAll('svg text')]"
        ".map(text => text.getBoundingClientRect().height)"
    )
    assert min(browser.execute_script(letters)) > 5
    shown = "return getComputedStyle(document.body).backgroundColor"
    red = int(re.findall(r"\d+", browser.execute_script(shown))[0])
    assert red > 200 if scheme == "light" else red < 60
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []


@pytest.mark.parametrize("width", [390, 1366])
def test_in_a_browser_long_names_leave_room_for_the_rest(browser, tmp_path, width):
    long = {
        name: f"{name}: how often have you had it since last year?" for name in ("tea", "town")
    }
    data = from_csv(drinks().rename(columns=long), 3, name="drinks")
    found = evaluate(data, {"tree": RankingTree(random_state=0)}, n_folds=2, n_repeats=1)
    page = found.report(tmp_path / "long.html")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    shares = (
        "return [...document.querySelectorAll('.scroll td:first-child')]"
        ".map(cell => cell.offsetWidth / cell.closest('.scroll').clientWidth)"
    )
    assert max(browser.execute_script(shares)) < 0.6
    cut = (
        "return [...document.querySelectorAll('svg text')].filter(text => {"
        "const box = text.getBoundingClientRect(), svg = text.ownerSVGElement"
        ".getBoundingClientRect(); return box.left < svg.left - 1 || box.right > svg.right + 1;"
        "}).map(text => text.textContent)"
    )
    assert browser.execute_script(cut) == []


def test_in_a_browser_a_click_sorts(browser, page):
    browser.get(page.as_uri())
    table = browser.find_element("css selector", "#labels table")
    heads = table.find_elements("css selector", "th button")
    heads[0].click()
    names = [cell.text for cell in table.find_elements("css selector", "td:first-child")]
    assert names == ["milk & cream", "tea", "water"]
    table = browser.find_element("css selector", "#features table")
    table.find_elements("css selector", "th button")[3].click()
    counts = [int(row.text) for row in table.find_elements("css selector", "td:nth-child(4)")]
    assert counts == sorted(counts)


def test_labels_beat_the_others_that_they_are_ranked_with(found):
    from moreplr.evaluation._report import _labels

    Y = pd.DataFrame([[1, 1, 2], [1, 2, np.nan], [np.nan, np.nan, 1]], columns=list("abc"))
    table = _labels(dataclasses.replace(found.data, Y=Y)).set_index("label")
    assert list(table.index) == ["a", "b", "c"]
    np.testing.assert_allclose(table["ranked in"], [2 / 3] * 3)
    np.testing.assert_allclose(table["beats"], [(3 / 4 + 1) / 2, (3 / 4 + 0) / 2, 0])
    np.testing.assert_allclose(table["first"], [1, 1 / 2, 0])
    np.testing.assert_allclose(table["tied"], [1 / 2, 1 / 2, 0])


def test_the_worth_of_choices_is_in_the_units_of_the_table(tmp_path):
    """Solver a takes x seconds and b takes 100 - x: always b takes 50.5, the faster one 25.5."""
    x = np.arange(1.0, 101.0)
    frame = pd.DataFrame({"size": x, "a": x, "b": 101 - x})
    data = from_csv(frame, ["a", "b"], scores="smaller")
    found = evaluate(data, {"tree": RankingTree()}, n_folds=4, n_repeats=1)
    worth = worth_of(data, found.unseen.rows, found.unseen.ranks)
    assert (worth.single, worth.best, worth.rows) == (50.5, 25.5, 100)
    regret = choice_regret(
        data.scores.iloc[found.unseen.rows], found.unseen.ranks, larger_is_better=False
    )
    assert worth.chosen - worth.best == pytest.approx(regret)
    assert worth.closed > 0.9
    text = " ".join(found.report(tmp_path / "page.html").read_text("utf-8").split())
    assert f"gets 50.5, and the best possible choice 25.5: {100 * worth.closed:.0f}% of" in text


def test_nobody_says_what_a_time_out_costs():
    frame = pd.DataFrame({"size": [1, 2], "a": [np.inf, 1.0], "b": [2.0, 3.0]})
    assert from_csv(frame, ["a", "b"], scores="smaller").scores is None
    stars = pd.DataFrame({"age": [1, 2], "a": [5, 1], "b": [np.nan, 3]})
    data = from_csv(stars, ["a", "b"], ratings=True)
    assert worth_of(data, [0, 1], np.array([[1, 2], [1, 2]])).chosen == 3
    assert worth_of(from_csv(drinks(), 3), [0], np.ones((1, 3))) is None
