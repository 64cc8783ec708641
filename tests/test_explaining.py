"""Which features speak for one label before another."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.preprocessing import StandardScaler

from moreplr import (
    BradleyTerryRanker,
    DummyRanker,
    MORERanker,
    RankingTree,
    TableRanker,
)
from moreplr.checks import make_rankings
from moreplr.explaining import Reasons, reasons

LABELS = ["tea", "milk", "beer", "water"]


@pytest.fixture(scope="module")
def data():
    X, Y = make_rankings(40)
    return pd.DataFrame(X, columns=list("pqr")), pd.DataFrame(Y, columns=LABELS)


@pytest.fixture(scope="module")
def tree(data):
    return RankingTree(min_samples_leaf=4, random_state=0).fit(*data)


def share(ranker, X, i, j):
    P, Q = ranker.predict_pairs(X)
    return P[:, i, j] + Q[:, i, j] / 2


def shapley(ranker, x, background, i, j):
    """By its definition: all coalitions of features, all background rows."""
    p = x.shape[1]

    def worth(known):
        rows = background.copy()
        for at in known:
            rows.iloc[:, at] = x.iloc[0, at]
        return share(ranker, rows, i, j).mean()

    out = np.zeros(p)
    for at in range(p):
        others = [one for one in range(p) if one != at]
        for size in range(p):
            for known in combinations(others, size):
                weight = factorial(size) * factorial(p - size - 1) / factorial(p)
                out[at] += weight * (worth([*known, at]) - worth(known))
    return out


def test_contributions_are_shapley_values(data, tree):
    X, _ = data
    background = X[:12]
    found = reasons(tree, X.iloc[[20]], "tea", "beer", background, n_permutations=1200)
    expected = shapley(tree, X.iloc[[20]], background, 0, 2)
    features = found.features.set_index("feature").loc[list("pqr")]
    np.testing.assert_allclose(features["contribution"], expected, atol=0.02)
    assert features["value"].tolist() == X.iloc[20].tolist()


@pytest.mark.parametrize("n_permutations", [1, 7, 40, 100])
def test_contributions_add_up(n_permutations, data, tree):
    X, _ = data
    found = reasons(tree, X.iloc[3], "milk", "water", X, n_permutations=n_permutations)
    total = found.features["contribution"].sum()
    assert total == pytest.approx(found.value - found.baseline)
    assert found.value == pytest.approx(share(tree, X.iloc[[3]], 1, 3)[0])
    if n_permutations >= 40:  # each background row counts the same
        assert found.baseline == pytest.approx(share(tree, X, 1, 3).mean())
    sizes = abs(found.features["contribution"])
    assert sizes.is_monotonic_decreasing


def test_the_other_order_is_the_opposite(data, tree):
    X, _ = data
    one = reasons(tree, X.iloc[3], "milk", "water", X)
    two = reasons(tree, X.iloc[3], "water", "milk", X)
    assert one.value == pytest.approx(1 - two.value)
    there = two.features.set_index("feature").loc[one.features["feature"]]
    np.testing.assert_allclose(one.features["contribution"], -there["contribution"])


def test_a_linear_ranker_is_explained_exactly(data):
    X, Y = data
    ranker = BradleyTerryRanker(alpha=1.0).fit(X, Y)
    found = ranker.reasons(X.iloc[5], "tea", "milk")
    scores = ranker.predict_scores(X.iloc[[5]])[0]
    assert found.scale == "log-odds"
    assert found.value == pytest.approx(scores[0] - scores[1])
    P = ranker.predict_pairs(X.iloc[[5]]).P[0]
    assert found.value == pytest.approx(np.log(P[0, 1] / P[1, 0]))
    weights = pd.Series(ranker.coef_[0] - ranker.coef_[1], X.columns)
    expected = weights * (X.iloc[5] - ranker.mean_)
    features = found.features.set_index("feature")["contribution"]
    pd.testing.assert_series_equal(features.sort_index(), expected, check_names=False)
    assert found.changes.empty
    assert not ranker.reasons(X.iloc[5], "tea", "milk", X).changes.empty


def test_changes_turn_the_pair_and_smaller_ones_do_not(data, tree):
    X, _ = data
    seen = 0
    for row in range(8):
        x = X.iloc[[row]]
        found = reasons(tree, x, "tea", "beer", X, n_permutations=1)
        side = np.sign(found.value - 0.5)
        for change in found.changes.itertuples():
            there = x.assign(**{change.feature: change.new_value})
            assert np.sign(share(tree, there, 0, 2)[0] - 0.5) == -side
            step = 0.02 * (change.new_value - change.value)
            before = x.assign(**{change.feature: change.new_value - step})
            assert np.sign(share(tree, before, 0, 2)[0] - 0.5) != -side
            seen += 1
        assert found.changes["distance"].is_monotonic_increasing
    assert seen > 3


def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Bonn", "Rome"], 90),
            "age": rng.integers(20, 80, 90),
            "member": rng.random(90) < 0.5,
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, 90), "D"),
        }
    )
    Y = ["a > b" if town == "Ulm" or age > 70 else "b > a" for town, age in X.iloc[:, :2].values]
    return X, Y


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.from_pandas])
def test_a_table_is_explained_by_its_own_columns(frame):
    X, Y = people()
    ranker = TableRanker(RankingTree(min_samples_leaf=3, random_state=0)).fit(X, Y)
    x = X[(X["town"] == "Ulm") & (X["age"] < 60)].iloc[[0]]
    found = ranker.reasons(frame(x), "a", "b", frame(X))
    assert found.features["feature"][0] == "town"
    assert found.features["value"][0] == "Ulm"
    text = str(found)
    assert "a before b: 100% with ties half" in text
    assert "for it: town = Ulm (+" in text
    assert "it would turn with town = " in text
    assert set(found.changes["new_value"].iloc[:1]) <= {"Bonn", "Rome"}
    for row in (x.iloc[0], x.iloc[0].to_dict()):
        assert ranker.reasons(row, "a", "b", X).value == found.value


def test_a_table_of_a_linear_ranker_needs_no_background():
    X, Y = people()
    ranker = TableRanker(BradleyTerryRanker(alpha=1.0)).fit(X, Y)
    found = ranker.reasons(X.iloc[[0]], "a", "b")
    assert list(found.features["feature"][:1]) == ["town"]
    scores = ranker.predict_scores(X.iloc[[0]])[0]
    assert found.value == pytest.approx(scores[0] - scores[1])


def test_without_probabilities_positions_are_explained(data):
    X, Y = data
    ranker = MORERanker("fractional", "svr").fit(X, Y)
    found = ranker.reasons(X.iloc[2], "tea", "milk", X)
    positions = ranker.predict_positions(X.iloc[[2]])[0]
    assert found.scale == "positions"
    assert found.value == pytest.approx(positions[1] - positions[0])
    assert "positions" in str(found)


def test_arrays_have_numbers_for_names(data):
    X, Y = data
    tree = RankingTree(random_state=0).fit(X.to_numpy(), Y)
    found = tree.reasons(X.to_numpy()[0], "tea", "milk", X.to_numpy())
    assert sorted(found.features["feature"]) == ["0", "1", "2"]


def test_what_does_not_matter_contributes_nothing(data):
    X, Y = data
    found = DummyRanker().fit(X, Y).reasons(X.iloc[0], "tea", "milk", X)
    assert (found.features["contribution"] == 0).all()
    assert found.changes.empty
    assert "for it" not in str(found)


def test_the_html_is_escaped():
    X, Y = people()
    X["town"] = X["town"].replace({"Ulm": "<i>Ulm</i>"})
    Y = ["a > b" if town.startswith("<i>") else "b > a" for town in X["town"]]
    ranker = TableRanker(RankingTree(random_state=0)).fit(X, Y)
    html = ranker.reasons(X.iloc[[0]], "a", "b", X)._repr_html_()
    assert "<i>" not in html
    assert "<table" in html


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"background": None}, "give background rows"),
        ({"background": pd.DataFrame(columns=list("pqr"))}, "background has no rows"),
        ({"background": pd.DataFrame({"p": [1.0]})}, "feature names should match"),
        ({"first": "wine"}, "no label 'wine'; the labels are"),
        ({"second": "tea"}, "a pair needs two labels"),
        ({"x": [[1, 2, 3], [1, 2, 3]]}, "one row is explained at a time, got 2"),
        ({"x": {"p": 1, "q": 2}}, r"the row lacks the columns \['r'\]"),
        ({"n_permutations": 0}, "n_permutations must be an integer of at least 1"),
    ],
)
def test_errors(options, says, data, tree):
    given = {"x": data[0].iloc[0], "first": "tea", "second": "milk", "background": data[0]}
    with pytest.raises(ValueError, match=says):
        reasons(tree, **{**given, **options})


def test_printed_features_that_count_nothing_are_left_out_and_long_texts_cut():
    features = pd.DataFrame(
        {
            "feature": ["prompt", "town", "size", "age", "noise"],
            "value": ["why " * 50, None, np.nan, 30, 2.0],
            "contribution": [0.2, 0.1, 0.05, -0.006, -0.004],
        }
    )
    changes = pd.DataFrame(
        {
            "feature": ["prompt"],
            "value": ["why " * 50],
            "new_value": ["who " * 50],
            "distance": 0.9,
        }
    )
    said = str(Reasons("tea", "milk", "probability", 0.7, 0.5, features, changes)).splitlines()
    assert said[1].endswith(
        "… (+20 points), town = missing (+10 points), size = missing (+5 points)"
    )
    assert said[2] == "against it: age = 30 (-1 point)"
    assert max(map(len, said)) < 200


def test_a_linear_ranker_behind_any_vectoriser_is_explained(data):
    X, Y = data
    table = TableRanker(BradleyTerryRanker(), StandardScaler()).fit(X, Y)
    why = table.reasons(X.iloc[[0]], "tea", "milk", X)
    assert why.features["feature"].tolist() != []
    assert why.features["contribution"].sum() == pytest.approx(why.value - why.baseline)
