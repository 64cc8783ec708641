"""What an exported model says is what the ranker says."""

import numpy as np
import pytest

from moreplr import RankingBoost, RankingTree
from moreplr.checks import make_rankings
from moreplr.export import to_onnx


def run(model, X):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(model.SerializeToString())
    return session.run(["scores", "precedes", "tied"], {"X": X})


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("gaps", [True, False])
def test_scores_and_pairs_agree(ties, gaps):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    X, Y = make_rankings(150)
    if not ties:
        Y = np.argsort(np.argsort(Y + np.linspace(0, 0.1, Y.shape[1]), axis=1), axis=1) + 1.0
    if gaps:
        X[::5, 0] = np.nan
    boost = RankingBoost(40, random_state=0).fit(X, Y)
    model = to_onnx(boost)
    onnx.checker.check_model(model)
    scores, P, Q = run(model, X)
    np.testing.assert_allclose(scores, boost.predict_scores(X), atol=1e-5)
    pairs = boost.predict_pairs(X)
    np.testing.assert_allclose(P, pairs.P, atol=1e-5)
    np.testing.assert_allclose(Q, pairs.Q, atol=1e-5)
    assert model.metadata_props[0].value == str(boost.labels_[0])


def test_a_ranker_without_trees_is_exported_too():
    pytest.importorskip("onnx", reason="onnx is not installed")
    X, Y = np.zeros((20, 2)), ["a > b ~ c"] * 12 + ["c > a > b"] * 8
    boost = RankingBoost(3, random_state=0).fit(X, Y)
    scores, P, _ = run(to_onnx(boost), X[:2])
    np.testing.assert_allclose(scores, boost.predict_scores(X[:2]), atol=1e-6)
    np.testing.assert_allclose(P, boost.predict_pairs(X[:2]).P, atol=1e-6)


def test_other_rankers_are_refused():
    with pytest.raises(TypeError, match="to_onnx takes a RankingBoost, got RankingTree"):
        to_onnx(RankingTree())
