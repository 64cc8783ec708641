"""Tables as people have them: fitted, predicted, explained and saved as one."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks
from skrub import TableVectorizer

from moreplr import (
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    RankingForest,
    RankingTree,
    TableRanker,
    load,
    save,
)
from moreplr.checks import RANKER_CHECKS

TREE = RankingTree(min_samples_leaf=3, random_state=0)


def by_name(estimator):
    return {"check_dataframe_column_names_consistency": "columns are found by name, in any order"}


@parametrize_with_checks([TableRanker(TREE)], expected_failed_checks=by_name)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", RANKER_CHECKS)
def test_rankers_checks(check):
    check(TableRanker(TREE))


def people(n=120, seed=0):
    """Columns of every kind, and rankings that follow from the town and the day."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")
    X = pd.DataFrame(
        {
            "town": rng.choice(["Ulm", "Köln", "Bonn"], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 90, n)),
            "member": rng.random(n) < 0.5,
            "joined": days.strftime("%d.%m.%Y"),
            "seen": days,
            "plan": pd.Categorical(rng.choice(["free", "paid"], n)),
            "says": [f"{rng.choice(['I like', 'hates'])} all {i % 57} of them" for i in range(n)],
            "id": [f"P{i:06}" for i in range(n)],
            "note": [None] * n,
        },
        index=pd.Index(np.arange(n) * 3, name="row"),
    )
    late = np.asarray(days > pd.Timestamp("2025-01-01"))
    ulm = np.asarray(X["town"] == "Ulm")
    Y = np.column_stack([np.where(ulm, 1, 3), np.where(late, 1, 4), np.full(n, 2)])
    return X, pd.DataFrame(Y.astype(float), X.index, ["tea", "milk", "beer"])


@pytest.fixture(scope="module")
def fitted():
    X, Y = people()
    with pytest.warns(UserWarning, match="is left out") as caught:
        ranker = TableRanker(RankingForest(30, random_state=0)).fit(X, Y)
    said = sorted(str(warning.message) for warning in caught)
    assert said == [
        "column 'id' is left out: it holds an identifier: all values differ",
        "column 'note' is left out: it holds no value",
    ]
    return ranker


def test_every_kind_of_column_is_learned_from(fitted):
    X, Y = people(seed=1)
    assert fitted.score(X, Y) > 0.8
    assert fitted.labels_.tolist() == list(Y)
    assert fitted.feature_names_in_.tolist() == list(X)
    assert fitted.vectorizer_.kinds_ == {
        "town": "category",
        "age": "number",
        "member": "number",
        "joined": "date",
        "seen": "date",
        "plan": "category",
        "says": "text",
        "id": "identifier",
        "note": "empty",
    }


def test_importances_are_those_of_the_tables_columns(fitted):
    importances = dict(zip(fitted.feature_names_in_, fitted.feature_importances_, strict=True))
    assert sum(importances.values()) == pytest.approx(1)
    assert importances["id"] == importances["note"] == 0
    most = sorted(importances, key=lambda name: -importances[name])[:3]
    assert set(most) == {"town", "joined", "seen"}


def test_all_that_the_ranker_offers_is_offered(fitted):
    X, _ = people(seed=1)
    features = fitted.vectorizer_.transform(X)
    inner = fitted.ranker_
    np.testing.assert_array_equal(fitted.predict(X, top=1), inner.predict(features, top=1))
    assert fitted.predict_text(X, top=1) == inner.predict_text(features, top=1)
    np.testing.assert_array_equal(fitted.predict_pairs(X).P, inner.predict_pairs(features).P)
    assert len(list(fitted.predict_pairs(X, chunks=True))) == 1
    np.testing.assert_array_equal(fitted.predict_scores(X), inner.predict_scores(features))
    assert fitted.predict_set(X, alpha=0.2).precedes.shape == (len(X), 3, 3)
    assert not hasattr(TableRanker(DummyRanker()), "predict_set")
    assert not hasattr(TableRanker(DummyRanker()), "explain")
    assert not hasattr(TableRanker(MORERanker()), "predict_pairs")
    assert hasattr(TableRanker(MORERanker()), "predict_positions")


def test_a_row_in_any_form_is_explained(fitted):
    X, _ = people(seed=1)
    frame = fitted.explain(X.iloc[[5]])
    for row in (X.iloc[5], X.iloc[5].to_dict(), list(X.iloc[5]), polars.from_pandas(X.iloc[[5]])):
        assert fitted.explain(row).ranking == frame.ranking
    assert frame.ranking == fitted.predict_text(X.iloc[[5]])[0]
    with pytest.raises(ValueError, match="one row is explained at a time, got 2"):
        fitted.explain(X.iloc[:2])


def test_answers_are_frames_if_wanted():
    X, Y = people(seed=1)
    ranks = TableRanker(TREE).set_output(transform="pandas").fit(X.drop(columns=["id", "note"]), Y)
    found = ranks.predict(X.drop(columns=["id", "note"]))
    assert list(found) == list(Y)
    assert found.index.equals(X.index)
    assert list(ranks.predict_scores(X.drop(columns=["id", "note"]))) == list(Y)


def test_polars_and_pandas_are_equal():
    X, Y = people()
    X = X.drop(columns=["id", "note"])
    here = TableRanker(TREE).fit(X, Y)
    there = TableRanker(TREE).fit(polars.from_pandas(X), polars.from_pandas(Y))
    np.testing.assert_array_equal(here.predict(X), there.predict(polars.from_pandas(X)))


def test_weights_reach_the_ranker():
    X, Y = people()
    X = X[["town", "age"]]
    weight = np.r_[np.zeros(60), np.ones(60)]
    weighted = TableRanker(TREE).fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight"):
        TableRanker(TREE).fit(X, Y, sample_weight=weight[:3])
    assert (weighted.predict_pairs(X).P != TableRanker(TREE).fit(X, Y).predict_pairs(X).P).any()


@pytest.mark.parametrize("ranker", [NearestNeighborsRanker(), MORERanker("fractional", "svr")])
def test_gaps_are_filled_for_rankers_that_take_none(ranker):
    X, Y = people()
    X = X[["town", "age", "joined"]]
    fitted = TableRanker(ranker).fit(X, Y)
    assert fitted.vectorizer_.missing == "median"
    new = X.iloc[:3].assign(age=np.nan, joined=None)
    assert not np.isnan(fitted.predict(new)).any()


def test_a_vectoriser_of_ones_own():
    X, Y = people()
    X = X[["town", "age", "joined"]]
    fitted = TableRanker(TREE, TableVectorizer()).fit(X, Y)
    importances = fitted.feature_importances_
    assert importances.shape == (3,)
    assert importances[2] > importances[1]
    with pytest.raises(TypeError, match="TableVectorizer, which can't be stored"):
        save(fitted, io.BytesIO())


def test_a_ranker_without_importances_says_how_they_are_measured():
    table = TableRanker(DummyRanker()).fit(pd.DataFrame({"x": [1, 2]}), ["a > b", "b > a"])
    assert not hasattr(table, "feature_importances_")
    with pytest.raises(AttributeError, match=r"ImportancesDisplay.from_estimator\(ranker, X, Y\)"):
        _ = table.feature_importances_


def test_importances_of_columns_need_to_know_what_comes_from_which():
    X, Y = people()
    vectorizer = make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["age"]))
    fitted = TableRanker(TREE, vectorizer).fit(X[["town", "age"]], Y)
    with pytest.raises(AttributeError, match="does not record which column its outputs come from"):
        _ = fitted.feature_importances_


@pytest.mark.parametrize(
    ("ranker", "X", "error", "says"),
    [
        (TableRanker("forest"), [[1]], TypeError, "such as RankingForest(), got 'forest'"),
        (TableRanker(), pd.DataFrame(index=[0]), ValueError, "use moreplr.DummyRanker"),
        (TREE, pd.DataFrame({"town": ["Ulm"]}), ValueError, "column 'town' holds 'Ulm' (row 0)"),
        (TREE, pd.DataFrame({"town": ["Ulm"]}), ValueError, "wrap it in moreplr.TableRanker"),
    ],
)
def test_errors_name_the_remedy(ranker, X, error, says):
    with pytest.raises(error, match=re.escape(says)):
        ranker.fit(X, ["a > b"])


def test_columns_are_found_by_name(fitted):
    X, _ = people(seed=1)
    found = fitted.predict(X)
    mixed = X[list(X)[::-1]].assign(more=1.0).drop(columns=["id", "note"])  # which were left out
    np.testing.assert_array_equal(fitted.predict(mixed), found)
    with pytest.raises(ValueError, match=r"lacks the column 'age' .*; is it 'Age' here"):
        fitted.predict(X.rename(columns={"age": "Age"}))
    with pytest.raises(ValueError, match=r"lacks the column 'age' that the ranker was fitted on$"):
        fitted.predict(X[["town"]])
    with pytest.raises(ValueError, match="two columns 'age'"):
        fitted.predict(pd.concat([X, X[["age"]]], axis=1))


def test_an_array_is_taken_in_the_order_of_the_columns(fitted):
    X, _ = people(seed=1)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = fitted.predict(X.to_numpy())
    np.testing.assert_array_equal(found, fitted.predict(X))


def test_sparse_features_go_to_a_ranker_that_takes_them():
    class Sparse(DummyRanker):
        def fit(self, X, y, sample_weight=None):
            self.given_ = X
            return super().fit(X.toarray(), y, sample_weight)

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.sparse = True
            return tags

    X = csr_array([[0.0, 1.0], [1.0, 0.0]])
    assert isinstance(TableRanker(Sparse()).fit(X, ["a > b", "a > b"]).ranker_.given_, csr_array)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        TableRanker(TREE).fit(X, ["a > b", "a > b"])


def test_saved_and_loaded_it_says_the_same(fitted):
    X, _ = people(seed=1)
    file = io.BytesIO()
    save(fitted, file)
    assert b"pickle" not in file.getvalue()
    loaded = load(file)
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.feature_importances_, fitted.feature_importances_)
    assert loaded.explain(X.iloc[[0]]).ranking == fitted.explain(X.iloc[[0]]).ranking


def test_a_ranker_of_numbers_needs_no_skrub():
    code = (
        "import sys; from moreplr import TableRanker, DummyRanker; import pandas as pd\n"
        "TableRanker(DummyRanker()).fit(pd.DataFrame({'a': [1, 2]}), ['a > b', 'b > a'])\n"
        "assert 'skrub' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
