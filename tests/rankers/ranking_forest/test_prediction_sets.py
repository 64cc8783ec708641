import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr import RankingForest
from moreplr.base import Pairs
from moreplr.rankers._pairs import square
from moreplr.rankers.ranking_forest.prediction_sets import (
    STEPS,
    merged,
    prediction_sets,
    risk_curve,
    threshold,
)

NAN = float("nan")


def random_pairs(rng, n, k):
    return square(rng.dirichlet([1, 1, 1], (n, k * (k - 1) // 2)), k)


def noisy_rankings(rng, n):
    """Three labels whose order depends on x, with a lot of noise and ties."""
    X = rng.uniform(-2, 2, (n, 2))
    utility = np.column_stack([X[:, 0], X[:, 1], np.zeros(n)]) + rng.normal(0, 0.5, (n, 3))
    return X, -np.round(utility)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(2, 5), st.floats(0.05, 0.9))
def test_the_risk_is_that_of_the_sets(seed, n, k, least):
    rng = np.random.default_rng(seed)
    pairs, Y = random_pairs(rng, n, k), rng.integers(1, 4, (n, k)).astype(float)
    Y[rng.random(Y.shape) < 0.2] = NAN
    at = int(least * STEPS)
    i, j = np.triu_indices(k, 1)
    shares = []
    for row in range(n):
        missed = [
            (pairs.P[row, a, b] if Y[row, a] < Y[row, b] else pairs.P[row, b, a]) < at / STEPS
            if Y[row, a] != Y[row, b]
            else pairs.Q[row, a, b] < at / STEPS
            for a, b in zip(i, j, strict=True)
            if not np.isnan(Y[row, a] + Y[row, b])
        ]
        shares += [np.mean(missed)] if missed else []
    curve = risk_curve(pairs, Y)
    assert curve[-1] == len(shares)
    assert curve[at] == pytest.approx(np.mean(shares) if shares else 0.0)


def test_curves_of_parts_make_the_curve_of_the_whole():
    rng = np.random.default_rng(0)
    pairs, Y = random_pairs(rng, 20, 4), rng.integers(1, 4, (20, 4)).astype(float)
    parts = [
        risk_curve(Pairs(pairs.P[rows], pairs.Q[rows]), Y[rows])
        for rows in (slice(0, 7), slice(7, 20))
    ]
    np.testing.assert_allclose(merged(parts), risk_curve(pairs, Y))


def test_few_rows_rule_nothing_out():
    curve = np.append(np.zeros(STEPS + 1), 8)
    assert threshold(curve, 0.1) == 0.0
    assert threshold(curve, 0.2) == 1.0


def test_the_most_probable_relation_is_never_ruled_out():
    rng = np.random.default_rng(0)
    pairs = random_pairs(rng, 50, 4)
    sets = prediction_sets(pairs, np.arange(4), 1.0)
    assert sets.decided.all()
    best = np.argmax([pairs.P, pairs.Q, pairs.P.swapaxes(1, 2)], axis=0)
    np.testing.assert_array_equal(sets.relation, 1.0 - best)


@pytest.mark.parametrize("structure", ["shared", "per_label"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_coverage_on_new_rows(structure, alpha):
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        forest = RankingForest(30, structure=structure, random_state=seed)
        forest.fit(*noisy_rankings(rng, 200))
        X, Y = noisy_rankings(rng, 500)
        covered.append(np.mean(forest.predict_set(X, alpha).covers(Y)))
    # Out of bag a third of the trees speak, so that coverage may be a little above what is asked.
    assert 1 - alpha - 0.01 < np.mean(covered) < 1 - alpha / 3


def test_sets_shrink_as_more_may_be_wrong():
    rng = np.random.default_rng(0)
    forest = RankingForest(30, random_state=0).fit(*noisy_rankings(rng, 200))
    X, _ = noisy_rankings(rng, 100)
    wide, narrow = forest.predict_set(X, 0.02), forest.predict_set(X, 0.3)
    assert (narrow.precedes <= wide.precedes).all()
    assert (narrow.tied <= wide.tied).all()
    assert narrow.decided.mean() > wide.decided.mean()
    assert not wide.decided.all()


def test_sets_in_words_and_signs():
    precedes = np.zeros((1, 3, 3), bool)
    tied = np.eye(3, dtype=bool)[None]
    precedes[0, 1, 0] = precedes[0, 2, 0] = precedes[0, 0, 2] = True
    tied[0, 1, 2] = tied[0, 2, 1] = True
    sets = prediction_sets(Pairs(precedes * 1.0, tied * 1.0), np.array(list("abc"), object), 0.5)
    assert sets.to_text() == [["b > a", "b ~ c"]]
    np.testing.assert_array_equal(sets.relation[0], [[0, -1, NAN], [1, 0, 0], [NAN, 0, 0]])
    np.testing.assert_array_equal(sets.covers(np.array([[2.0, 1.0, 1.0]])), [1.0])
    np.testing.assert_array_equal(sets.covers(np.array([[1.0, 2.0, 1.0]])), [0.0])
    assert np.isnan(sets.covers(np.array([[1.0, NAN, NAN]]))).all()


@pytest.mark.parametrize("alpha", [0, 1, -0.1, NAN, "0.1"])
def test_alpha_is_checked(alpha):
    rng = np.random.default_rng(0)
    X, Y = noisy_rankings(rng, 20)
    forest = RankingForest(5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        forest.predict_set(X, alpha)


def test_a_frame_has_a_row_for_each_pair_and_what_is_left_of_it():
    X, Y = noisy_rankings(np.random.default_rng(0), 60)
    sets = RankingForest(20, random_state=0).fit(X, Y).predict_set(X[:15], alpha=0.3)
    frame = sets.to_frame()
    assert len(frame) == 15 * 3
    relation = {1.0: "precedes", 0.0: "tied", -1.0: "follows"}
    for one in frame.itertuples():
        found = sets.relation[one.row, one.first, one.second]
        assert one.relation == relation.get(found) or (np.isnan(found) and one.relation is None)
        assert one.precedes == sets.precedes[one.row, one.first, one.second]
        assert one.follows == sets.precedes[one.row, one.second, one.first]
        assert one.tied == sets.tied[one.row, one.first, one.second]
    there = sets.to_frame(library="polars")
    assert there["relation"].to_list() == frame["relation"].tolist()
    html = sets._repr_html_()
    assert "and 5 more rows" in html
    assert html.count("<tr") == 11


def test_labels_are_escaped_in_notebooks():
    Y = ['"<b>a</b>" > b', 'b > "<b>a</b>"'] * 5
    X = np.arange(10.0)[:, None] % 2
    forest = RankingForest(5, random_state=0).fit(X, Y)
    assert "<b>a</b>" not in forest.predict_set(X, alpha=0.5)._repr_html_()
    html = forest.explain(X[0])._repr_html_()
    assert "&lt;b&gt;a&lt;/b&gt;&quot; &gt; b" in html
    assert "<b>a</b>" not in html
    assert "<table" in html
