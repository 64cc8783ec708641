"""Base classes of the forest regressor and the forest classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from moreplr._types import Seed
from moreplr.forest.binning import BinnedMatrix, Binner
from moreplr.forest.checks import codes_of, draws_of, dyadic_offset, limits_of
from moreplr.forest.growing import Task, counts_of, grow_forest, padded, tree_seeds
from moreplr.forest.kernels import traverse
from moreplr.forest.members import Members, Voters, members_in_parts, unseen_by
from moreplr.forest.parallel import Stopped, cut, run
from moreplr.forest.trees import Trees

# Rows of one kernel call; Ctrl-C is checked between calls.
_ROWS = 4096


class ForestParameters(BaseEstimator):
    """The parameters of all forests."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_features: Any = 1.0,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_samples_split: int = 2,
        bootstrap: bool = True,
        max_samples: float | None = None,
        max_bins: int = 255,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state


class BaseForest(ForestParameters):
    """Bins features, grows trees and predicts; subclasses define the targets."""

    trees_: Trees
    binner_: Binner
    codes_: NDArray[np.uint8]
    seeds_: NDArray[np.uint64]
    offset_: NDArray[np.float64]
    sample_weight_: NDArray[np.float32] | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit_trees(
        self,
        binned: BinnedMatrix,
        Y: NDArray[np.float64],
        weight: NDArray[np.float32] | None,
        features: NDArray[np.intp] | None = None,
    ) -> None:
        """Grow trees on Y (n, k), NaN where missing; `features` are those to split on."""
        used = binned if features is None else binned.of_features(features)
        limits = limits_of(self, used.shape[1])
        self.sample_weight_ = weight
        self.binner_, self.codes_ = binned.binner, binned.codes
        self.offset_ = dyadic_offset(Y)
        seen = ~np.isnan(Y)
        centred = np.where(seen, Y - self.offset_, 0.0)
        mass = seen if weight is None else seen * weight[:, None]
        total = mass.sum(axis=0)
        base = (centred * mass).sum(axis=0) / np.where(total > 0, total, 1.0)
        self.seeds_ = tree_seeds(check_random_state(self.random_state), self.n_estimators)
        task = Task(
            binned=used,
            targets=padded(centred),
            seen=None if seen.all() else padded(seen),
            idle=np.flatnonzero(~seen.any(axis=1)),
            weight=weight,
            base=np.where(seen.any(axis=0), base, np.nan),
            limits=limits,
            draws=draws_of(self, len(Y)),
            seeds=self.seeds_,
            stop=np.zeros(1, np.uint8),
        )
        self.trees_ = grow_forest(task, self.n_jobs)
        if features is not None:
            self.trees_.number_features(features, binned.shape[1])

    def _over_rows(self, kernel: Any, n: int) -> None:
        """Call `kernel(lo, hi)` for ranges that cover n rows, in threads."""
        stop = np.zeros(1, np.uint8)

        def work(lo: int, hi: int) -> None:
            for at in range(lo, hi, _ROWS):
                if stop[0]:
                    raise Stopped
                kernel(at, min(at + _ROWS, hi))

        run(work, cut(n, self.n_jobs, per_job=1), self.n_jobs, stop, in_place=True)

    def _mean(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The mean leaf values over the trees, (n, k)."""
        trees = self.trees_
        out = np.zeros((len(codes), trees.values.shape[1]))

        def kernel(lo: int, hi: int) -> None:
            traverse.add_up(
                codes[lo:hi], *trees.split_arrays, trees.leaf_offsets, trees.values, out[lo:hi]
            )

        self._over_rows(kernel, len(codes))
        return out / trees.n_trees + self.offset_

    def _out_of_bag_mean(self) -> NDArray[np.float64]:
        """The mean leaf values of each training row over trees that did not draw it, or NaN."""
        check_is_fitted(self)
        if not self.bootstrap:
            raise AttributeError("out-of-bag predictions need bootstrap=True")
        trees, n = self.trees_, len(self.codes_)
        out, count = np.zeros((n, trees.values.shape[1])), np.zeros(n, np.int64)
        draws = draws_of(self, n)
        for tree, seed in enumerate(self.seeds_):
            rows = np.flatnonzero(counts_of(seed, n, draws) == 0)
            traverse.out_of_bag(
                self.codes_, rows, tree, *trees.split_arrays, trees.leaf_offsets, trees.values,
                out, count,
            )  # fmt: skip
        count_or_nan = np.where(count > 0, count, np.nan)
        return out / count_or_nan[:, None] + self.offset_

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each feature in the reduction of impurity, averaged over the trees."""
        check_is_fitted(self)
        each = self.trees_.importance
        sums = each.sum(axis=1, keepdims=True)
        mean = (each / np.where(sums > 0, sums, 1.0)).mean(axis=0)
        total = mean.sum()
        return mean / total if total > 0 else mean

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """The leaf that each row reaches in each tree, as a node number within the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int32, shape (n_samples, n_trees)
        """
        codes = codes_of(self, X)
        out = np.empty((len(codes), self.trees_.n_trees), np.int32)

        def kernel(lo: int, hi: int) -> None:
            traverse.apply(codes[lo:hi], *self.trees_.split_arrays, out[lo:hi])

        self._over_rows(kernel, len(codes))
        return out

    def leaf_members(
        self,
        X: ArrayLike | BinnedMatrix | None = None,
        *,
        rows: ArrayLike | None = None,
        min_samples: int = 1,
        oob: bool = False,
        voters: Voters | None = None,
    ) -> Members:
        """The training rows that share leaves with given rows, with weights.

        The weight of a training row is its share of the leaf's (bootstrap and sample) weight,
        averaged over the trees, so that a row's weights add up to 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            The rows whose leaves are looked up; by default the training rows.
        rows : array-like of int, optional
            Only these training rows (when X is not given).
        min_samples : int, default=1
            Use the lowest node on a row's path with at least this many in-bag rows instead of
            the leaf. So one deep forest can be used with any leaf size.
        oob : bool, default=False
            For training rows: use only trees that did not draw the row. A row that every tree
            drew gets no members.
        voters : Voters, optional
            The result of the method `voters`, whose groups and `min_samples` are used.

        Returns
        -------
        indptr, indices, weights : ndarray
            The members of row i are `indices[indptr[i]:indptr[i + 1]]`, in no particular order.
        """
        check_is_fitted(self)
        if X is not None and (oob or rows is not None):
            raise ValueError("rows and oob select training rows: do not pass X with them")
        unseen = None
        if X is not None:
            codes = codes_of(self, X)
        else:
            picked = np.arange(len(self.codes_)) if rows is None else np.asarray(rows, np.int64)
            codes = self.codes_[picked]
            unseen = self.unseen(picked) if oob else None
        voters = self.voters(min_samples=min_samples) if voters is None else voters
        found = [members for _, members in members_in_parts(voters, codes, unseen)]
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part[0]) for part in found)])
        indices = np.concatenate([np.empty(0, np.int32), *(part[1] for part in found)])
        weights = np.concatenate([np.empty(0, np.float32), *(part[2] for part in found)])
        return np.cumsum(sizes), indices, weights

    def unseen(self, rows: ArrayLike) -> NDArray[np.bool_]:
        """A mask (n_rows, n_trees) that is True where a tree did not draw a training row."""
        check_is_fitted(self)
        n = len(self.codes_)
        return unseen_by(self.seeds_, draws_of(self, n), np.asarray(rows, np.int64), n)

    def voters(self, groups: ArrayLike | None = None, min_samples: int = 1) -> Voters:
        """The training rows in each leaf, or groups of them, for `leaf_members`.

        Parameters
        ----------
        groups : array-like of int, shape (n_samples,), optional
            The group of each row, counted from 0. Members are then groups instead of rows.
        min_samples : int, default=1
            As for `leaf_members`.
        """
        check_is_fitted(self)
        numbers = None if groups is None else np.asarray(groups, np.intp)
        n, weight = len(self.codes_), self.sample_weight_
        return Voters.of(self.trees_, n, weight, numbers, min_samples)
