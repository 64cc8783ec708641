"""Rankers for programs without Python: boosted trees as ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from moreplr._plain_trees import PlainTree, plain_trees
from moreplr.rankers.boost import RankingBoost

# Utilities are bounded as in the ranker: beyond this, probabilities are 0 or 1 anyway.
_FARTHEST = 300.0


def to_onnx(ranker: RankingBoost) -> Any:
    """Boosted trees as an ONNX model, for `onnxruntime` and similar libraries in any language.

    The input is ``X``, doubles of shape (n, n_features), with NaN for missing values. The outputs
    are ``scores`` (n, n_labels), where larger is better, and ``precedes`` and ``tied``
    (n, n_labels, n_labels), the P and Q of `predict_pairs`. They agree with the ranker's to
    single precision. The model does not decode pair probabilities into a bucket order; sorting
    the scores gives a ranking without ties.

    Parameters
    ----------
    ranker : fitted RankingBoost

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(model, "ranker.onnx")`` writes it. Labels are in the metadata.

    Examples
    --------
    >>> from moreplr import RankingBoost
    >>> from moreplr.datasets import load
    >>> boost = RankingBoost(5, random_state=0).fit(*load("iris"))
    >>> model = to_onnx(boost)  # doctest: +SKIP
    """
    if not isinstance(ranker, RankingBoost):
        raise TypeError(f"to_onnx takes a RankingBoost, got {type(ranker).__name__}")
    check_is_fitted(ranker)
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise ImportError("ONNX needs onnx: pip install 'moreplr[onnx]'") from error
    k, d = len(ranker.labels_), ranker.n_features_in_
    offset, trees = plain_trees(ranker)
    double = TensorProto.DOUBLE
    nodes = [
        helper.make_node(
            "TreeEnsembleRegressor",
            ["X"],
            ["single"],
            domain="ai.onnx.ml",
            **_ensemble(trees, offset),
        )
    ]
    constants = {
        "halves": np.array([k, k]),
        "across": np.array([1]),
        "down": np.array([2]),
        "two": np.array(2.0),
        "least": np.array(-_FARTHEST),
        "most": np.array(_FARTHEST / 4),
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "same": np.eye(k, dtype=bool)[None],
    }
    special: dict[str, dict[str, Any]] = {
        "Split": {"axis": 1},
        "ReduceMax": {"axes": [1], "keepdims": 1},
    }
    # Davidson's model: P is a_i² and Q is b_i · b_j, over the sum of a_i², a_j² and b_i · b_j.
    for operator, inputs, output in (
        ("Split", "both halves", "scores tendencies"),
        ("ReduceMax", "scores", "best"),
        ("Sub", "scores best", "behind"),
        ("Max", "behind least", "near"),
        ("Exp", "near", "square"),
        ("Div", "near two", "half"),
        ("Clip", "tendencies least most", "bounded"),
        ("Add", "half bounded", "log_tie"),
        ("Exp", "log_tie", "tie"),
        ("Unsqueeze", "square down", "own"),
        ("Unsqueeze", "square across", "other"),
        ("Unsqueeze", "tie down", "own_tie"),
        ("Unsqueeze", "tie across", "other_tie"),
        ("Mul", "own_tie other_tie", "ties"),
        ("Sum", "own other ties", "total"),
        ("Div", "own total", "P"),
        ("Div", "ties total", "Q"),
        ("Where", "same zero P", "precedes"),
        ("Where", "same one Q", "tied"),
    ):
        nodes.append(
            helper.make_node(operator, inputs.split(), output.split(), **special.get(operator, {}))
        )
    nodes.insert(1, helper.make_node("Cast", ["single"], ["both"], to=double))
    shapes: dict[str, list[Any]] = {
        "scores": ["n", k],
        "precedes": ["n", k, k],
        "tied": ["n", k, k],
    }
    graph = helper.make_graph(
        nodes,
        "RankingBoost",
        [helper.make_tensor_value_info("X", double, ["n", d])],
        [helper.make_tensor_value_info(name, double, shape) for name, shape in shapes.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    versions = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=8)
    names = enumerate(ranker.labels_)
    helper.set_model_props(model, {f"label {at}": str(name) for at, name in names})
    return model


def _ensemble(trees: list[PlainTree], offset: Any) -> dict[str, Any]:
    """The attributes of a TreeEnsembleRegressor."""
    from onnx import numpy_helper

    if not trees:  # ONNX needs one: a leaf that adds nothing
        none, leaf = np.zeros(1), np.array([-1])
        gap = np.zeros(1, dtype=bool)
        trees = [PlainTree(leaf, leaf, np.array([0]), none, gap, np.zeros((1, len(offset))), ())]
    size = [len(tree.left) for tree in trees]
    tree_of = np.repeat(np.arange(len(trees)), size)
    node_of = np.concatenate([np.arange(n) for n in size])

    def joined(name: str) -> Any:
        return np.concatenate([getattr(tree, name) for tree in trees])

    is_leaf, value = joined("left") < 0, joined("value")
    leaf, target = np.nonzero(np.broadcast_to(is_leaf[:, None], value.shape))

    def tensor(values: Any, name: str) -> Any:
        return numpy_helper.from_array(np.asarray(values, dtype=float), name)

    return {
        "n_targets": len(offset),
        "base_values_as_tensor": tensor(offset, "base_values"),
        "nodes_treeids": tree_of.tolist(),
        "nodes_nodeids": node_of.tolist(),
        "nodes_featureids": joined("feature").tolist(),
        "nodes_modes": np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        "nodes_values_as_tensor": tensor(joined("threshold"), "thresholds"),
        "nodes_truenodeids": np.maximum(joined("left"), 0).tolist(),
        "nodes_falsenodeids": np.maximum(joined("right"), 0).tolist(),
        "nodes_missing_value_tracks_true": joined("missing_left").astype(int).tolist(),
        "target_treeids": tree_of[leaf].tolist(),
        "target_nodeids": node_of[leaf].tolist(),
        "target_ids": target.tolist(),
        "target_weights_as_tensor": tensor(value[leaf, target], "weights"),
    }
