"""Arrays of forests that a kernel would follow outside are refused."""

from __future__ import annotations

import copy
import tracemalloc
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.forest import ForestBatch, ForestClassifier, ForestRegressor
from moreplr.forest.batching import Words
from moreplr.forest.trees import Trees
from moreplr.forest.validation import (
    check_batch,
    check_binner,
    check_forest,
    check_offsets,
    right_children,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
X[rng.random(X.shape) < 0.1] = np.nan
Y = rng.normal(size=(40, 2))


@pytest.fixture(scope="module")
def forest():
    return ForestRegressor(4, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def batch():
    return ForestBatch(3, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        ForestRegressor(3, random_state=0),
        ForestRegressor(3, bootstrap=False, max_depth=2, random_state=0),
        ForestRegressor(1, min_samples_leaf=40, random_state=0),
    ],
)
def test_what_fit_makes_is_sound(model):
    check_forest(model.fit(X, Y))
    check_forest(model.fit(X[:1], Y[:1]))
    check_forest(model.fit(X, Y, np.r_[np.zeros(30), np.ones(10)]))


def test_classifiers_and_batches_are_sound(batch):
    check_forest(ForestClassifier(3).fit(X, np.arange(40) % 4))
    check_batch(batch)
    check_batch(ForestBatch(3).fit(X, np.arange(40).reshape(-1, 1) % 3, n_classes=3))
    check_batch(ForestBatch(2).fit(rng.normal(size=(40, 3000)), Y))


def twin(leaf, offsets):
    """Right children by recursion."""
    found = {}

    def walk(node):
        if leaf[node]:
            return node + 1
        found[node] = walk(node + 1)
        return walk(found[node])

    for begin, end in pairwise(offsets):
        if walk(begin) != end:
            raise ValueError
    return [found[node] for node in sorted(found)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=4))
def test_right_children_agree_with_recursion(trees):
    leaf = np.array([node for tree in trees for node in tree])
    offsets = np.cumsum([0, *map(len, trees)])
    try:
        expected = twin([*leaf, True], offsets)
    except (ValueError, IndexError):
        with pytest.raises(ValueError, match="preorder"):
            right_children(leaf, offsets)
    else:
        assert right_children(leaf, offsets).tolist() == expected


CHANGES = {
    "right": [2**31 - 1, -(2**31), 0, 1],
    "start": [2**31 - 1, -1],
    "feature": [3, 65535],
    "perm": [40, -1, 2**31 - 1],
    "offsets": [-1, 10**9],
    "leaf_offsets": [-1, 10**9],
    "perm_offsets": [-1, 10**9],
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_index_that_leads_outside_is_refused(name, forest):
    for at in range(len(getattr(forest.trees_, name))):
        for value in CHANGES[name]:
            wrong = copy.deepcopy(forest)
            array = getattr(wrong.trees_, name)
            leaf = forest.trees_.right[at] < 0 if name == "feature" else False
            if array[at] == value or leaf:  # nobody reads the feature of a leaf
                continue
            array[at] = value
            with pytest.raises(ValueError, match=r"must|beyond|preorder"):
                check_forest(wrong)


@pytest.mark.parametrize(
    "name", ["offsets", "feature", "cut", "missing_left", "right", "start", "leaf_offsets",
             "values", "perm_offsets", "perm", "perm_count", "importance"],
)  # fmt: skip
def test_an_array_of_another_length_is_refused(name, forest):
    wrong = copy.deepcopy(forest)
    setattr(wrong.trees_, name, getattr(wrong.trees_, name)[:-1])
    with pytest.raises(ValueError, match=r"must"):
        check_forest(wrong)


def test_children_of_another_tree_are_refused(forest):
    wrong = copy.deepcopy(forest)
    wrong.trees_.right[0] += 2
    with pytest.raises(ValueError, match="right children"):
        check_forest(wrong)


def test_targets_seeds_and_cuts_must_fit(forest):
    for name, part in (("offset_", slice(1)), ("seeds_", slice(2))):
        wrong = copy.deepcopy(forest)
        setattr(wrong, name, getattr(wrong, name)[part])
        with pytest.raises(ValueError, match="must have"):
            check_forest(wrong)
    for change in ("offsets_", "cuts_"):
        binner = copy.deepcopy(forest.binner_)
        setattr(binner, change, getattr(binner, change)[:-1])
        with pytest.raises(ValueError, match="must cut"):
            check_binner(binner, 3)
    binner = copy.deepcopy(forest.binner_)
    binner.cuts_[1] = binner.cuts_[0]
    with pytest.raises(ValueError, match="must rise"):
        check_binner(binner, 3)


def test_words_that_lead_outside_are_refused(batch):
    top = np.uint64(1 << 63)
    for at in range(len(batch.words_.words)):
        wrong = copy.deepcopy(batch)
        word = wrong.words_.words[at]
        # a leaf with the largest number, or a split with another distance
        wrong.words_.words[at] = word | np.uint64(2**32 - 1) if word & top else word + np.uint64(1)
        with pytest.raises(ValueError, match=r"beyond|right children"):
            check_batch(wrong)


def test_a_word_with_an_unknown_feature_is_refused(batch):
    for at in np.flatnonzero(batch.words_.words < 2**63):
        wrong = copy.deepcopy(batch)
        wrong.words_.words[at] |= np.uint64(3 << 32)
        with pytest.raises(ValueError, match="feature beyond"):
            check_batch(wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_estimators", 4), ("n_forests_", 3), ("n_classes_", 2)],
)
def test_numbers_that_do_not_fit_a_batch_are_refused(name, value, batch):
    wrong = copy.copy(batch)
    setattr(wrong, name, value)
    with pytest.raises(ValueError, match=r"must|does not fit|n_estimators"):
        check_batch(wrong)


def test_offsets_whose_differences_overflow_are_refused():
    offsets = np.array([0, 2**62, -(2**63), -128, 95])
    assert (np.diff(offsets) > 0).all()
    with pytest.raises(ValueError, match="must cut 95 into 4 parts"):
        check_offsets("offsets", offsets, 4, 95)


@pytest.mark.parametrize("offsets", [[0, 2], [0, 3, 2, 4], [1, 2, 4], [0, 2, 5]])
def test_offsets_that_cut_otherwise_are_refused(offsets):
    with pytest.raises(ValueError, match="must cut 4 into 2 parts"):
        check_offsets("offsets", np.array(offsets), 2, 4)


def many(forest, times):
    """A forest with its trees so many times."""
    trees = forest.trees_

    def offsets(name):
        one = getattr(trees, name)
        starts = np.arange(times)[:, None] * one[-1] + one[:-1]
        return np.append(starts.ravel(), times * one[-1])

    made = copy.copy(forest)
    made.trees_ = Trees(
        **{
            field.name: offsets(field.name)
            if "offsets" in field.name
            else np.concatenate([getattr(trees, field.name)] * times)
            for field in fields(trees)
        }
    )
    made.seeds_ = np.concatenate([forest.seeds_] * times)
    return made


def test_checks_take_little_memory_beside_the_trees(forest, batch):
    large = many(forest, 20_000)
    n_nodes = len(large.trees_.right)
    assert n_nodes > 2_000_000
    words = copy.copy(batch)
    one = batch.words_
    times = 3_000_000 // len(one.words)
    starts = np.arange(times)[:, None]
    words.words_ = Words(
        np.tile(one.words, times),
        np.append((starts * one.offsets[-1] + one.offsets[:-1]).ravel(), times * one.offsets[-1]),
        np.tile(one.values, (times, 1)),
        np.append(
            (starts * one.value_offsets[-1] + one.value_offsets[:-1]).ravel(),
            times * one.value_offsets[-1],
        ),
    )
    words.n_estimators *= times
    words.seeds_ = np.tile(batch.seeds_, times)
    for check, model in ((check_forest, large), (check_batch, words)):
        tracemalloc.start()
        try:
            check(model)
            assert tracemalloc.get_traced_memory()[1] < 60e6
        finally:
            tracemalloc.stop()


def test_a_fault_in_any_block_is_found(forest):
    times = 8000
    for at in (0, times // 2, times - 1):
        bad = many(forest, times)
        bad.trees_.right[bad.trees_.offsets[at * forest.trees_.n_trees]] += 1
        with pytest.raises(ValueError, match=r"right must hold|not in preorder"):
            check_forest(bad)
