"""Whatever is thrown at the public functions: an answer of the right shape, or a clear refusal.

A refusal is a ValueError or a TypeError with a message; anything else, a trace from a kernel
for example, fails the test by itself.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from moreplr import (
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
    RankingTree,
)
from moreplr.aggregation import aggregate, expected_tau
from moreplr.encoders import encode
from moreplr.forest import ForestClassifier, ForestRegressor
from moreplr.incomplete import remove_labels
from moreplr.layers import EpsilonCloseness, RoundRank
from moreplr.metrics import kendall_distance, tau_b_score, tau_x_score
from moreplr.rankings import dense_ranks, from_text, to_text
from moreplr.regressors import Chain

quick = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
numbers = st.one_of(
    st.floats(width=32), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0, 1e300])
)
few = st.integers(0, 6)
dtypes = st.sampled_from([float, np.float32, np.float16, int, np.uint8, bool, object])


@st.composite
def tables(draw, rows=few, columns=few):
    """Arrays of any number type, mostly tame, in any layout, or frames with odd names."""
    shape = draw(rows), draw(columns)
    tame = st.integers(0, 4).map(float)
    elements = draw(st.sampled_from([tame, tame, st.one_of(tame, st.just(np.nan)), numbers]))
    table = draw(arrays.arrays(float, shape, elements=elements))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = table.astype(draw(dtypes))
    kind = draw(st.sampled_from(["plain", "fortran", "strided", "locked", "frame", "list"]))
    if kind == "fortran":
        return np.asfortranarray(table)
    if kind == "strided":
        return np.repeat(np.repeat(table, 2, axis=0), 2, axis=1)[::2, ::2]
    if kind == "locked":
        table.flags.writeable = False
    if kind == "frame":
        names = draw(st.lists(st.text(max_size=3), min_size=shape[1], max_size=shape[1]))
        index = draw(st.lists(st.integers(-2, 2), min_size=shape[0], max_size=shape[0]))
        return pd.DataFrame(table, columns=names, index=index)
    return table.tolist() if kind == "list" else table


def answer_or_refusal(call):
    """What the call gives, or None if it refuses with words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError) as error:
            assert len(str(error)) > 10  # noqa: PT017
            return None


@quick
@given(tables(), st.sampled_from(["dense", "standard", "modified", "fractional"]))
def test_encode(table, method):
    positions = answer_or_refusal(lambda: encode(table, method))
    if positions is not None:
        assert positions.dtype == float
        assert positions.shape == np.shape(table)
        given_ranks = dense_ranks(np.asarray(table, dtype=float))
        np.testing.assert_array_equal(dense_ranks(positions), given_ranks)


@quick
@given(tables(), tables())
def test_metrics(truth, predicted):
    for metric in (tau_x_score, tau_b_score, kendall_distance):
        score = answer_or_refusal(lambda metric=metric: metric(truth, predicted))
        assert score is None or isinstance(float(score), float)


@quick
@given(st.lists(st.text(alphabet='ab >~≻∼"\\,0é', max_size=12), max_size=4))
def test_texts(texts):
    parsed = answer_or_refusal(lambda: from_text(texts))
    if parsed is not None:
        positions, labels = parsed
        again, names = from_text(to_text(positions, labels), labels)
        np.testing.assert_array_equal(dense_ranks(positions), dense_ranks(again))
        assert list(names) == list(labels)


@quick
@given(tables(), st.floats(), st.sampled_from(["exact", "bernoulli", "no"]))
def test_remove_labels(table, fraction, method):
    left = answer_or_refusal(lambda: remove_labels(table, fraction, method, random_state=0))
    if left is not None:
        assert np.isnan(left).sum() >= np.isnan(np.asarray(table, float)).sum()


@quick
@given(tables(), st.one_of(st.floats(), st.just("x"), st.none()))
def test_layers(table, epsilon):
    for layer in (RoundRank(), EpsilonCloseness(epsilon)):
        ranks = answer_or_refusal(lambda layer=layer: layer.decode(np.asarray(table)))
        if ranks is not None:
            np.testing.assert_array_equal(ranks, dense_ranks(ranks))


@quick
@given(
    arrays.arrays(
        float, arrays.array_shapes(min_dims=1, max_dims=4, max_side=4), elements=numbers
    ),
    st.sampled_from(["auto", "exact", "local", "bpa", "borda", "copeland", "nothing"]),
    st.sampled_from([None, 0, 1, 2, 9, 1.5, "x"]),
)
def test_aggregate(C, method, n_buckets):
    ranks = answer_or_refusal(lambda: aggregate(C, method, n_buckets=n_buckets))
    if ranks is not None:
        assert np.isfinite(ranks).all()
    ranks = answer_or_refusal(lambda: expected_tau(C, C, method, top=n_buckets))
    if ranks is not None:
        assert np.isfinite(ranks).all()


RANKERS = [
    RankingForest(3, random_state=0),
    RankingForest(3, structure="shared", positions="given", random_state=0),
    MORERanker("modified", ForestRegressor(3, random_state=0), "prediction_interval"),
    MORERanker("dense", Chain(ForestRegressor(2, random_state=0)), "epsilon"),
    PairwiseRanker(ForestClassifier(3, random_state=0)),
    NearestNeighborsRanker(3),
    RankingTree(random_state=0),
    DummyRanker(),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@settings(quick, max_examples=40)
@given(st.data())
def test_rankers(ranker, data):
    n = data.draw(few)
    rows = st.one_of(st.just(n), st.just(n), few)  # X and Y are mostly of the same length
    X, Y = data.draw(tables(rows)), data.draw(tables(rows))
    weight = data.draw(st.one_of(st.none(), st.lists(numbers, max_size=6)))
    extra = {} if weight is None else {"sample_weight": weight}
    fitted = answer_or_refusal(lambda: ranker.fit(X, Y, **extra))
    if fitted is None:
        return
    k = np.shape(Y)[1]
    for given_X in (X, data.draw(tables())):
        ranks = answer_or_refusal(lambda given_X=given_X: fitted.predict(given_X))
        if ranks is not None:
            assert ranks.shape == (len(given_X), k)
            np.testing.assert_array_equal(ranks, dense_ranks(ranks))


def test_very_many_labels_and_one_feature():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 1)), rng.permuted(np.tile(np.arange(150.0), (12, 1)), axis=1)
    for ranker in (RankingForest(2), NearestNeighborsRanker(3), DummyRanker()):
        ranks = ranker.fit(X, Y).predict(X[:2])
        np.testing.assert_array_equal(ranks, dense_ranks(ranks))
