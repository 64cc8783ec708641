"""What every ranker does with features that are no numbers, and the forms of its answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone

from moreplr import DummyRanker, MORERanker, NearestNeighborsRanker, RankingTree, base
from moreplr.checks import make_rankings
from moreplr.rankings import count_buckets, from_text

RANKERS = [DummyRanker(), MORERanker("fractional", "svr"), NearestNeighborsRanker(), RankingTree()]
LABELS = ["tea", "milk", "beer", "water"]


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    X, Y = make_rankings()
    index = pd.Index(np.arange(len(X)) * 2 + 5)
    return pd.DataFrame(X, index, list("pqr")), pd.DataFrame(Y, index, LABELS)


@pytest.mark.parametrize("ranker", RANKERS[1:])  # the consensus takes any table
@pytest.mark.parametrize(
    ("value", "shown"), [("Ulm", "'Ulm'"), (pd.Timestamp(2020, 1, 2), "2020-01-02")]
)
def test_a_column_without_numbers_is_named_with_the_remedy(ranker, value, shown):
    X, Y = frames()
    X = X.assign(town=pd.Series([1.5, None, value, *[2] * (len(X) - 3)], X.index, dtype=object))
    with pytest.raises(ValueError, match=rf"column 'town' holds {shown}.*row 2.*TableRanker"):
        clone(ranker).fit(X, Y)


def test_a_polars_column_and_a_category_are_named():
    X, Y = frames()
    towns = np.array(["Ulm", "Bonn"])[np.arange(len(X)) % 2]
    table = polars.from_dict({"p": X["p"].to_numpy(), "town": towns})
    with pytest.raises(ValueError, match="column 'town' holds 'Ulm'"):
        RankingTree().fit(table, Y)
    with pytest.raises(ValueError, match="column 'town' holds 'Ulm'"):
        RankingTree().fit(X.assign(town=pd.Categorical(towns)), Y)


def test_new_rows_with_texts_are_named_too():
    X, Y = frames()
    fitted = RankingTree().fit(X, Y)
    with pytest.raises(ValueError, match="column 'q' holds 'x'"):
        fitted.predict(X.assign(q="x"))


@pytest.mark.parametrize("ranker", RANKERS)
def test_predict_gives_the_frame_that_was_chosen(ranker):
    X, Y = frames()
    plain = clone(ranker).fit(X, Y).predict(X)
    fitted = clone(ranker.set_output(transform="pandas")).fit(X, Y)
    pd.testing.assert_frame_equal(fitted.predict(X), pd.DataFrame(plain, X.index, Y.columns))
    assert fitted.predict_text(X) == clone(ranker).fit(X, Y).predict_text(X)
    assert fitted.score(X, Y) == clone(ranker).fit(X, Y).score(X, Y)
    found = fitted.set_output(transform="polars").predict(X)
    assert found.columns == LABELS
    np.testing.assert_array_equal(found.to_numpy(), plain)
    assert isinstance(fitted.set_output().predict(X), polars.DataFrame)
    np.testing.assert_array_equal(fitted.set_output(transform="default").predict(X), plain)
    ranker.set_output(transform="default")


def test_an_unknown_container_is_refused():
    with pytest.raises(ValueError, match="transform must be one of"):
        DummyRanker().set_output(transform="arrow")


def test_scores_are_expected_positions_from_the_end():
    X, Y = frames()
    ranker = RankingTree(min_samples_leaf=5).fit(X, Y)
    P, Q = ranker.predict_pairs(X)
    scores = ranker.predict_scores(X)
    for i in range(len(LABELS)):
        others = [j for j in range(len(LABELS)) if j != i]
        position = 1 + sum(P[:, j, i] + Q[:, j, i] / 2 for j in others)
        np.testing.assert_allclose(scores[:, i], len(LABELS) - position, atol=1e-12)
    named = ranker.set_output(transform="pandas").predict_scores(X)
    assert list(named) == LABELS


def test_scores_of_certain_rankings_follow_their_order():
    ranker = DummyRanker().fit([[0], [0]], ["b > a > c"] * 2)
    np.testing.assert_array_equal(ranker.predict_scores([[1]]), [[1, 2, 0]])


@pytest.mark.parametrize("ranker", RANKERS)
def test_texts_take_what_predict_takes(ranker):
    X, Y = frames()
    fitted = clone(ranker).fit(X, Y)
    for options in ({"top": 1}, {"n_buckets": 2}, {"total_order": True}, {"top": 2}):
        ranks = fitted.predict(X, **options)
        np.testing.assert_array_equal(
            from_text(fitted.predict_text(X, **options), LABELS)[0], ranks
        )
        if "n_buckets" in options:
            assert (count_buckets(ranks) == 2).all()
        elif "total_order" in options:
            assert (np.sort(ranks, axis=1) == [1, 2, 3, 4]).all()
        else:
            assert (
                (ranks == ranks.max(axis=1, keepdims=True)).sum(axis=1) == 4 - options["top"]
            ).all()


def test_options_of_positions_follow_them():
    X, Y = frames()
    ranker = MORERanker("fractional", "svr").fit(X, Y)
    positions = ranker.predict_positions(X)
    np.testing.assert_array_equal(
        ranker.predict(X, total_order=True).argsort(axis=1), positions.argsort(axis=1)
    )
    best = ranker.predict(X, top=1).argmin(axis=1)
    np.testing.assert_array_equal(best, positions.argmin(axis=1))
    two = ranker.predict(X, n_buckets=2)
    first = np.where(two == 1, positions, -np.inf).max(axis=1)
    assert (first < np.where(two == 2, positions, np.inf).min(axis=1)).all()


def test_chunks_do_not_change_what_options_give(monkeypatch):
    X, Y = frames()
    ranker = MORERanker("fractional", "svr").fit(X, Y)
    whole = ranker.predict(X, n_buckets=3)
    monkeypatch.setattr("moreplr.base.CHUNK_BYTES", 1)
    np.testing.assert_array_equal(ranker.predict(X, n_buckets=3), whole)


def test_the_html_representation_links_the_page_if_the_package_names_a_site(monkeypatch):
    monkeypatch.setattr(base, "_documentation", lambda: "https://site.example/stable")
    link = "https://site.example/stable/api/generated/moreplr.DummyRanker.html"
    assert link in DummyRanker()._repr_html_()
    monkeypatch.setattr(base, "_documentation", str)
    assert "href" not in DummyRanker()._repr_html_()
