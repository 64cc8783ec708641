"""Convert trees to the form that the package shap takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from moreplr._plain_trees import PlainTree, plain_trees
from moreplr._types import Array
from moreplr.forest import ForestRegressor
from moreplr.forest.kernels import traverse
from moreplr.rankers.boost import RankingBoost

# The weight of nodes that no row reaches: shap divides by it.
_NO_ROWS = 1e-6


def to_shap(model: Any, X: Any) -> dict[str, Any]:
    """Convert the trees of a model for ``shap.TreeExplainer``.

    The outputs of a :class:`moreplr.RankingBoost` are the utilities of `predict_scores`, one for
    each label. Those of a :class:`moreplr.forest.ForestRegressor` are its targets. Explain other
    rankers with :func:`reasons`, or with ``shap.Explainer(ranker.predict_scores, X)``.

    Parameters
    ----------
    model : fitted RankingBoost or ForestRegressor
    X : array or frame of shape (n_samples, n_features)
        Rows to count at each node, such as the training rows.

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
    if not isinstance(model, RankingBoost | ForestRegressor):
        raise TypeError(
            f"to_shap takes a RankingBoost or a ForestRegressor, got {type(model).__name__}; "
            "explain others by reasons(), or by shap.Explainer(ranker.predict_scores, X)"
        )
    offset, trees = plain_trees(model)
    if isinstance(model, RankingBoost):
        offset = offset[: len(model.labels_)]
    codes = model.binner_.transform(np.asarray(X, dtype=float))
    given = [
        {
            "children_left": tree.left,
            "children_right": tree.right,
            "children_default": np.where(tree.missing_left, tree.left, tree.right),
            "feature": tree.feature,
            "threshold": tree.threshold,
            "value": tree.value[:, : len(offset)],
            "node_sample_weight": _rows_of_nodes(tree, codes),
        }
        for tree in trees
    ]
    types = {"input_dtype": np.float64, "internal_dtype": np.float64}
    return {"trees": given, "base_offset": offset, **types}


def _rows_of_nodes(tree: PlainTree, codes: Any) -> Array:
    """How many rows reach each node."""
    reached = np.empty((len(codes), 1), np.int64)
    traverse.apply(codes, *tree.splits, reached)
    rows: Array = np.bincount(reached[:, 0], minlength=len(tree.left)).astype(float)
    for node in np.flatnonzero(tree.left >= 0)[::-1]:  # children come after their parent
        rows[node] = rows[tree.left[node]] + rows[tree.right[node]]
    return np.maximum(rows, _NO_ROWS)
