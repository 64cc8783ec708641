"""Leaf members against a search through the leaves."""

import numpy as np
import pytest

from moreplr.forest import ForestRegressor


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (80, 4)).astype(float)
    Y = rng.integers(1, 4, (80, 2)) + X[:, :1]
    weight = rng.integers(1, 3, 80).astype(float)
    return ForestRegressor(6, random_state=0).fit(X, Y, sample_weight=weight), X, weight


def dense(answer, n):
    indptr, indices, weights = answer
    out = np.zeros((len(indptr) - 1, n))
    for row in range(len(out)):
        mine = slice(indptr[row], indptr[row + 1])
        assert len(set(indices[mine])) == indptr[row + 1] - indptr[row]
        out[row, indices[mine]] = weights[mine]
    return out


def expected(forest, codes, weight, twin, min_samples, unseen=None):
    """Walk every tree with the in-bag rows and with the asked rows side by side."""
    trees, n = forest.trees_, len(forest.codes_)
    out, asked = np.zeros((len(codes), n)), np.zeros(len(codes))
    both = np.concatenate([forest.codes_, codes])
    for t in range(trees.n_trees):
        mine = slice(trees.perm_offsets[t], trees.perm_offsets[t + 1])
        mass = np.zeros(n)
        mass[trees.perm[mine]] = trees.perm_count[mine] * weight[trees.perm[mine]]
        bag = np.sort(trees.perm[mine])
        for row in range(len(codes)):
            if unseen is not None and mass[row] > 0:
                continue
            asked[row] += 1
            start = np.append(bag, n + row)
            inside = [
                rows[rows < n]
                for _, rows, _, _ in twin.walk(trees, t, both, start)
                if n + row in rows and (rows < n).sum() >= min_samples
            ]
            members = inside[-1]
            out[row, members] += mass[members] / mass[members].sum()
    return out / np.where(asked, asked, 1)[:, None]


@pytest.mark.parametrize("min_samples", [1, 5, 1000])
def test_members_are_the_rows_of_the_leaf_or_of_a_larger_node(fitted, twin, min_samples):
    forest, X, weight = fitted
    asked = X[:10] + 0.3
    answer = forest.leaf_members(asked, min_samples=min_samples)
    codes = forest.binner_.transform(asked)
    if min_samples == 1000:
        assert dense(answer, 80).sum(axis=1) == pytest.approx(np.ones(10), rel=1e-5)
        return
    np.testing.assert_allclose(
        dense(answer, 80), expected(forest, codes, weight, twin, min_samples), atol=1e-6
    )


def test_out_of_bag_members_come_from_trees_that_have_not_seen_the_row(fitted, twin):
    forest, _, weight = fitted
    answer = dense(forest.leaf_members(oob=True, min_samples=2), 80)
    want = expected(forest, forest.codes_, weight, twin, 2, unseen=True)
    np.testing.assert_allclose(answer, want, atol=1e-6)
    assert (np.diag(answer) == 0).all()
    some = dense(forest.leaf_members(rows=[7, 3], oob=True, min_samples=2), 80)
    np.testing.assert_array_equal(some, answer[[7, 3]])


def test_weighted_members_reproduce_the_prediction(fitted):
    forest, X, _ = fitted
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(80, 2))
    forest = ForestRegressor(5, random_state=1).fit(X, Y)
    weights = dense(forest.leaf_members(X), 80)
    np.testing.assert_allclose(weights @ Y, forest.predict(X), atol=1e-5)


def test_rows_and_out_of_bag_are_for_training_rows(fitted):
    forest, X, _ = fitted
    with pytest.raises(ValueError, match="training rows"):
        forest.leaf_members(X, oob=True)


def test_every_node_is_a_contiguous_range(fitted, twin):
    forest, _, _ = fitted
    trees = forest.trees_
    for t in range(trees.n_trees):
        perm = trees.perm[trees.perm_offsets[t] : trees.perm_offsets[t + 1]]
        for node, rows, _, _ in twin.walk(trees, t, forest.codes_, np.sort(perm)):
            begin = trees.start[trees.offsets[t] + node]
            assert set(perm[begin : begin + len(rows)]) == set(rows)


@pytest.mark.parametrize("oob", [False, True])
@pytest.mark.parametrize("min_samples", [1, 5, 1000])
@pytest.mark.parametrize("n_groups", [1, 7, 80])
def test_groups_have_the_weight_of_their_rows(fitted, n_groups, min_samples, oob):
    forest, _, _ = fitted
    groups = np.random.default_rng(0).permutation(np.arange(80) % n_groups)
    voters = forest.voters(groups, min_samples)
    rows = dense(forest.leaf_members(min_samples=min_samples, oob=oob), 80)
    together = forest.leaf_members(oob=oob, voters=voters)
    expected = rows @ np.eye(n_groups)[groups]
    np.testing.assert_allclose(dense(together, n_groups), expected, rtol=1e-5, atol=1e-7)


def test_leaves_of_equal_rows_have_one_voter():
    X = np.repeat(np.arange(4.0), 10)[:, None]
    forest = ForestRegressor(3, bootstrap=False).fit(X, X.ravel() > 1)
    voters = forest.voters((X.ravel() > 1).astype(int))
    assert voters.pruned.voters.tolist() == [0, 1] * 3
    assert voters.pruned.weights.tolist() == [20.0] * 6
