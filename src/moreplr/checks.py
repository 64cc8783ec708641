"""Checks for rankers, beyond scikit-learn's: ties, missing labels, names, weights, texts.

scikit-learn's checks do not cover rankings. Run these on any ranker, your own, too::

    @pytest.mark.parametrize("check", RANKER_CHECKS)
    def test_ranker(check):
        check(MyRanker())
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from moreplr.encoders import encode
from moreplr.incomplete import remove_labels
from moreplr.rankings import count_buckets, dense_ranks, from_text, to_buckets, to_text

NAMES = ["a", "b > c", "d", "ü"]  # sorted, as names from texts are


def make_rankings(n: int = 60, k: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features, and bucket orders of k labels that follow from them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, k))
    return X, dense_ranks(np.round(scores))


def check_learns(ranker: Any) -> None:
    """A fitted ranker is clearly better on its training rows than the reversed truth."""
    X, Y = make_rankings()
    ranker = clone(ranker).fit(X, Y)
    assert ranker.score(X, Y) > 0.15 > ranker.score(X, -Y)


def check_predicts_dense_ranks(ranker: Any) -> None:
    """Predictions are complete and count buckets 1, 2, … without gaps."""
    X, Y = make_rankings()
    predicted = clone(ranker).fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    assert predicted.dtype == np.float64
    np.testing.assert_array_equal(predicted, dense_ranks(predicted))


def check_only_order_counts(ranker: Any) -> None:
    """Any increasing change of the positions leaves the predictions as they are."""
    if getattr(ranker, "positions", None) == "given":
        return
    if "random_state" in ranker.get_params():  # else splits of equal gain may differ
        ranker = clone(ranker).set_params(random_state=0)
    X, complete = make_rankings()
    incomplete = remove_labels(complete, 0.3, random_state=0)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        for Y in (complete, incomplete):
            first = clone(ranker).fit(X, Y).predict(X)
            for changed in (7 * Y**3 - 40, Y - 1):  # positions may be counted from 0
                np.testing.assert_array_equal(first, clone(ranker).fit(X, changed).predict(X))


def check_missing_labels(ranker: Any) -> None:
    """Rankers learn from incomplete rankings, and predict complete ones."""
    X, Y = make_rankings(n=80)
    incomplete = remove_labels(Y, 0.3, random_state=0)
    incomplete[:3] = Y[:3]
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        ranker = clone(ranker).fit(X, incomplete)
    predicted = ranker.predict(X)
    assert not np.isnan(predicted).any()
    assert ranker.score(X, incomplete) > 0.1


def check_unranked_rows(ranker: Any) -> None:
    """Rows without a ranked label are counted in a warning, and do not stop the fit."""
    X, Y = make_rankings()
    Y[7] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(ranker).fit(X, Y)
    assert any("1 of 60 rows rank no label" in str(warning.message) for warning in caught)


def check_never_ranked_label(ranker: Any) -> None:
    """A label that no row ranks does not stop the fit, and predictions rank it."""
    X, Y = make_rankings()
    Y[:, 2] = np.nan
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            predicted = clone(ranker).fit(X, Y).predict(X)
        except ValueError as error:
            assert "missing" in str(error), "an error must name the way out"  # noqa: PT017
            return
    assert not np.isnan(predicted).any()


def check_nothing_compared(ranker: Any) -> None:
    """Rows that rank one label each are refused, since they compare nothing."""
    X = np.arange(6.0)[:, None]
    Y = np.where(np.arange(6)[:, None] % 2 == [0, 1], 1.0, np.nan)
    _assert_refused(ranker, X, Y, "ranks two labels in no row")


def check_nothing_ranked(ranker: Any) -> None:
    """Rankings without a single ranked label are refused."""
    X, Y = make_rankings()
    _assert_refused(ranker, X, np.full_like(Y, np.nan), "ranks two labels in no row")


def check_different_lengths(ranker: Any) -> None:
    """X and y of different length are refused, with both lengths."""
    X, Y = make_rankings()
    _assert_refused(ranker, X, Y[:-1], "60 rows, but y has 59")


def check_all_tied(ranker: Any) -> None:
    """Rankings that tie everything are predicted as one bucket."""
    X, Y = make_rankings()
    predicted = clone(ranker).fit(X, np.ones_like(Y)).predict(X)
    np.testing.assert_array_equal(predicted, np.ones_like(Y))


def check_single_label(ranker: Any) -> None:
    """One label is a trivial ranking, whatever its position."""
    X, _ = make_rankings()
    predicted = clone(ranker).fit(X, X[:, :1] * 100).predict(X)
    np.testing.assert_array_equal(predicted, np.ones((len(X), 1)))


def check_forms_agree(ranker: Any) -> None:
    """Arrays, frames, texts and buckets of the same rankings give the same predictions."""
    X, Y = make_rankings()
    expected = clone(ranker).fit(X, Y).predict(X)
    forms = [
        Y.tolist(),
        pd.DataFrame(Y, columns=NAMES),
        to_text(Y, NAMES),
        to_buckets(Y, NAMES),
    ]
    for form in forms:
        np.testing.assert_array_equal(clone(ranker).fit(X, form).predict(X), expected)


def check_labels_and_text(ranker: Any) -> None:
    """A frame's columns name the labels; predicted texts stand for the predicted ranks."""
    X, Y = make_rankings()
    ranker = clone(ranker).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert ranker.labels_.tolist() == NAMES
    texts = ranker.predict_text(X)
    np.testing.assert_array_equal(from_text(texts, NAMES)[0], ranker.predict(X))


def check_score_matches_columns(ranker: Any) -> None:
    """Scores match the columns of a frame by their names, not by their places."""
    X, Y = make_rankings()
    frame = pd.DataFrame(Y, columns=NAMES)
    ranker = clone(ranker).fit(X, frame)
    assert ranker.score(X, frame[NAMES[::-1]]) == ranker.score(X, frame)


def check_pipeline_and_search(ranker: Any) -> None:
    """A ranker works at the end of a pipeline in a grid search, with frames for X and y."""
    X, Y = make_rankings()
    frame = pd.DataFrame(X, columns=["f", "g", "h"], index=np.arange(len(X)) * 3 + 1)
    rankings = pd.DataFrame(Y, columns=NAMES, index=frame.index)
    pipeline = make_pipeline(StandardScaler(), clone(ranker))
    search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True, False]}, cv=2)
    search.fit(frame, rankings)
    assert np.isfinite(search.best_score_)
    assert search.predict(frame).shape == Y.shape


def check_same_seed_same_result(ranker: Any) -> None:
    """Two fits with the same seed give the same predictions."""
    X, Y = make_rankings()
    first, second = (clone(ranker).fit(X, Y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def check_input_untouched(ranker: Any) -> None:
    """Fitting and predicting work with read-only inputs."""
    X, Y = make_rankings()
    Y = remove_labels(Y, 0.1, random_state=0)
    Y[:3] = encode(np.arange(12.0).reshape(3, 4))
    X.flags.writeable = Y.flags.writeable = False
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        clone(ranker).fit(X, Y).predict(X)


def check_layouts_agree(ranker: Any) -> None:
    """Features of any memory layout, number type or frame give the same predictions."""
    X, Y = make_rankings()
    X = X.round(2).astype(np.float32).astype(float)
    expected = clone(ranker).fit(X, Y).predict(X)
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    odd = pd.DataFrame(X, index=pd.Index(["same"] * len(X)))
    odd.columns = [" ", "naïve ≻", "a,b\n", "_x", "0"][: X.shape[1]]
    for layout in (
        np.asfortranarray(X),
        wide[::2, ::2],
        X[::-1].copy()[::-1],
        X.astype("f4"),
        odd,
    ):
        fitted = clone(ranker).fit(layout, np.asfortranarray(Y))
        np.testing.assert_array_equal(fitted.predict(layout), expected)


def check_least_data(ranker: Any) -> None:
    """One row is enough, or is refused; one feature and two rows are enough."""
    X, Y = make_rankings()
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            fitted = clone(ranker).fit(X[:1], Y[:1])
        except ValueError as error:
            assert "1" in str(error), f"unclear message: {error}"  # noqa: PT017
        else:
            np.testing.assert_array_equal(fitted.predict(X[:2]).shape, (2, 4))
        predicted = clone(ranker).fit(X[:8, :1], Y[:8]).predict(X[:3, :1])
    np.testing.assert_array_equal(predicted, dense_ranks(predicted))


def check_scale_of_weights(ranker: Any) -> None:
    """Only the ratios of weights count: a factor on all of them changes no prediction."""
    if not has_fit_parameter(ranker, "sample_weight"):
        return
    X, Y = make_rankings()
    if "random_state" in ranker.get_params(deep=False):
        ranker = clone(ranker).set_params(random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
    try:
        expected = clone(ranker).fit(X, Y, sample_weight=weight).predict(X)
    except TypeError as error:
        assert "does not take sample weights" in str(error)  # noqa: PT017
        return
    for unit in (2.0**-900, 2.0**60, 2.0**900):
        scaled = clone(ranker).fit(X, Y, sample_weight=weight * unit)
        np.testing.assert_array_equal(scaled.predict(X), expected)


def check_threads_share_a_model(ranker: Any) -> None:
    """Eight threads that predict with one fitted ranker get the same result as one."""
    X, Y = make_rankings()
    fitted = clone(ranker).fit(X, Y)
    expected = fitted.predict(X).tobytes()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: fitted.predict(X).tobytes(), range(16)))
    assert set(found) == {expected}


def check_no_ties_from_total_orders(ranker: Any) -> None:
    """Predictions for well separated total orders have about as many buckets as labels."""
    X = np.where(make_rankings(n=100)[0] > 0, 1.0, -1.0)
    Y = np.where(X[:, :1] > 0, [[1.0, 2.0, 3.0, 4.0]], [[4.0, 3.0, 2.0, 1.0]])
    predicted = clone(ranker).fit(X, Y).predict(X)
    assert count_buckets(predicted).mean() > 3


def _assert_refused(ranker: Any, X: Any, Y: Any, message: str) -> None:
    try:
        clone(ranker).fit(X, Y)
    except ValueError as error:
        assert message in str(error), f"unclear message: {error}"  # noqa: PT017
    else:
        raise AssertionError("bad input was accepted")


RANKER_CHECKS: list[Callable[[Any], None]] = [
    value for name, value in list(globals().items()) if name.startswith("check_")
]
"""All functions above whose names begin so."""
