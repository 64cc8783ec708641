"""Trees in the form that the package shap takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from moreplr._types import Array
from moreplr.forest import ForestRegressor
from moreplr.forest.kernels import traverse
from moreplr.rankers.boost import RankingBoost

# Where no row comes by; shap divides by it.
_NO_ROWS = 1e-6


def to_shap(model: Any, X: Any) -> dict[str, Any]:
    """The trees of a model, as ``shap.TreeExplainer`` takes them.

    Of a :class:`moreplr.RankingBoost` the utilities are explained, which are what
    `predict_scores` gives, one output for each label; of a
    :class:`moreplr.forest.ForestRegressor` its targets. Other rankers are explained by
    :func:`reasons`, or by ``shap.Explainer(ranker.predict_scores, X)``.

    Parameters
    ----------
    model : fitted RankingBoost or ForestRegressor
    X : array or frame of shape (n_samples, n_features)
        Rows that tell how many come by each node, such as the training rows.

    Returns
    -------
    dict
        For ``shap.TreeExplainer(to_shap(model, X), data=X)``, or without `data`.

    Examples
    --------
    >>> from moreplr import RankingBoost
    >>> from moreplr.datasets import load
    >>> X, Y = load("iris")
    >>> trees = to_shap(RankingBoost(20, random_state=0).fit(X, Y), X)
    >>> len(trees["base_offset"])
    3
    """
    check_is_fitted(model)
    if isinstance(model, RankingBoost):
        forests, offset = model.members_, model.base_scores_[: len(model.labels_)]
        share = [1 / max(len(forests), 1)] * len(forests)
    elif isinstance(model, ForestRegressor):
        forests, offset = [model.trees_], np.broadcast_to(model.offset_, model.n_outputs_)
        share = [1 / model.trees_.n_trees]
    else:
        raise TypeError(
            f"to_shap takes a RankingBoost or a ForestRegressor, got {type(model).__name__}; "
            "explain others by reasons(), or by shap.Explainer(ranker.predict_scores, X)"
        )
    codes = model.binner_.transform(np.asarray(X, dtype=float))
    cuts = [np.append(model.binner_.cuts(at), np.inf) for at in range(codes.shape[1])]
    trees = [
        _tree(forest, number, weight, len(offset), codes, cuts)
        for forest, weight in zip(forests, share, strict=True)
        for number in range(forest.n_trees)
    ]
    types = {"input_dtype": np.float64, "internal_dtype": np.float64}
    return {"trees": trees, "base_offset": np.array(offset, dtype=float), **types}


def _tree(
    trees: Any, number: int, weight: float, n_outputs: int, codes: Any, cuts: list[Array]
) -> dict[str, NDArray[Any]]:
    own = slice(trees.offsets[number], trees.offsets[number + 1])
    right, feature = trees.right[own], trees.feature[own].astype(int)
    is_leaf, node = right < 0, np.arange(len(right))
    children = np.where(is_leaf, -1, node + 1), np.where(is_leaf, -1, right)
    threshold = np.full(len(right), np.inf)
    for at in node[~is_leaf]:
        own_cuts = cuts[feature[at]]
        threshold[at] = own_cuts[min(int(trees.cut[own][at]), len(own_cuts) - 1)]
    value = np.zeros((len(right), n_outputs))
    leaves = trees.leaf_offsets[number] - 1 - right[is_leaf]
    value[is_leaf] = trees.values[leaves, :n_outputs] * weight
    return {
        "children_left": children[0],
        "children_right": children[1],
        "children_default": np.where(trees.missing_left[own] != 0, *children),
        "feature": feature,
        "threshold": threshold,
        "value": value,
        "node_sample_weight": _rows_of_nodes(trees, number, codes, children),
    }


def _rows_of_nodes(trees: Any, number: int, codes: Any, children: tuple[Any, Any]) -> Array:
    """How many rows come by each node: a node comes before its children."""
    reached = np.empty((len(codes), 1), np.int64)
    offsets = trees.offsets[number : number + 2]
    traverse.apply(codes, offsets, *trees.split_arrays[1:], reached)
    rows: Array = np.bincount(reached[:, 0], minlength=len(children[0])).astype(float)
    for node in np.flatnonzero(children[0] >= 0)[::-1]:
        rows[node] = rows[children[0][node]] + rows[children[1][node]]
    return np.maximum(rows, _NO_ROWS)
