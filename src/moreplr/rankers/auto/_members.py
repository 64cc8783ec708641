"""The members of a mixture, and their predictions for rows that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from moreplr._types import Array, Positions
from moreplr._validation import take
from moreplr.base import PairRanker, Pairs
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers.boost import RankingBoost
from moreplr.rankers.bradley_terry import BradleyTerryRanker
from moreplr.rankers.dummy import DummyRanker
from moreplr.rankers.neighbors import NearestNeighborsRanker
from moreplr.rankers.pairwise import PairwiseRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.regressors._fitting import fit_weighted, last_step

Rows = NDArray[np.intp]
# These are cheap, and the mixture should be at least as good as they are.
ALWAYS = ("consensus", "linear")


@dataclass(frozen=True)
class Member:
    """A ranker that may join the mixture, and how its fit time grows.

    The time is assumed to be proportional to the numbers of rows and labels, raised to the powers
    `by_rows` and `by_labels`.
    """

    ranker: Any
    by_rows: float = 1.5
    by_labels: float = 2.0


def default_members() -> dict[str, Member]:
    """Members of different kinds, the cheap ones first.

    Logistic regressions of pairs on radial basis functions replace support vector machines, whose
    probabilities need more fits. On synthetic and field data they were better and as fast.
    """
    logistic = PairwiseRanker(LogisticRegression(C=10.0, max_iter=200))
    return {
        "consensus": Member(DummyRanker()),
        "linear": Member(BradleyTerryRanker(), 1.0),
        "boost": Member(RankingBoost(), 1.0, 1.5),
        "forest": Member(RankingForest(), 1.2, 1.0),
        "neighbors": Member(scaled(NearestNeighborsRanker()), 1.2),
        "kernel": Member(scaled(Nystroem(n_components=200), logistic), 1.0),
    }


def scaled(*steps: Any) -> Pipeline:
    """A pipeline of imputation, scaling and the steps, for rankers that need both."""
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(fill, StandardScaler(), *steps)


def check_members(members: Any) -> dict[str, Member]:
    """The user's members, after those that always take part."""
    if isinstance(members, Mapping):
        named = dict(members)
    elif isinstance(members, list | tuple):
        named = {}
        for ranker in members:
            kind = name = type(last_step(ranker)).__name__
            number = 1
            while name in named:
                number += 1
                name = f"{kind} {number}"
            named[name] = ranker
    else:
        raise TypeError(
            "members must be None, a list of rankers or a dict from names to rankers, got "
            f"{members!r}"
        )
    for name, ranker in named.items():
        if not isinstance(name, str):
            raise TypeError(f"members must have texts for names, got {name!r}")
        if isinstance(ranker, type) or not isinstance(last_step(ranker), PairRanker):
            raise TypeError(
                f"members: {name!r} must be a ranker with predict_pairs (a "
                f"moreplr.base.PairRanker, or a pipeline that ends in one), got {ranker!r}"
            )
    known = default_members()
    always = {name: known[name] for name in ALWAYS if name not in named}
    return always | {name: Member(ranker) for name, ranker in named.items()}


def prepared(ranker: Any, *, positions: str, n_jobs: int | None, seed: int) -> Any:
    """Clone a ranker and set `positions`, and the threads and seeds that are None."""
    ranker = clone(ranker)
    parameters = ranker.get_params()
    prefix = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
    changes: dict[str, Any] = {
        name: seed
        for name, value in parameters.items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    if n_jobs is not None and parameters.get(f"{prefix}n_jobs", 1) is None:
        changes[f"{prefix}n_jobs"] = n_jobs
    if positions == "given" and f"{prefix}positions" in parameters:
        changes[f"{prefix}positions"] = positions
    return ranker.set_params(**changes)


def pairs_of(ranker: Any, X: Array) -> Pairs:
    """Pair probabilities of a fitted ranker or pipeline."""
    last, X = unwrapped(ranker, X)
    return last.predict_pairs(X)


def unwrapped(ranker: Any, X: Array) -> tuple[Any, Any]:
    """The ranker at the end of a fitted pipeline, or the ranker itself, and its features."""
    if isinstance(ranker, Pipeline):
        return last_step(ranker), ranker[:-1].transform(X)
    return ranker, X


def fitted(ranker: Any, X: Array, Y: Positions, weight: Array | None) -> tuple[Any, float]:
    """Fit a clone; return it and the seconds it took.

    Linear algebra uses one thread, so that results do not depend on the machine, and members that
    run in parallel do not compete for cores.
    """
    start = monotonic()
    with threadpool_limits(1, "blas"):
        ranker = fit_weighted(clone(ranker), X, Y, weight)
    return ranker, monotonic() - start


def held_out(
    ranker: Any, X: Array, Y: Positions, weight: Array | None, train: Rows, test: Rows
) -> tuple[NDArray[np.float32], float]:
    """Fit a clone on `train`; return its pairs for `test`, as `compact` does, and the seconds."""
    start = monotonic()
    model, _ = fitted(ranker, *take(train, X, Y, weight))
    with threadpool_limits(1, "blas"):
        pairs = compact(pairs_of(model, X[test]))
    return pairs, monotonic() - start


def compact(pairs: Pairs) -> NDArray[np.float32]:
    """P_ij and Q_ij of i < j, as an array (n_rows, n_pairs, 2)."""
    i, j = np.triu_indices(pairs.P.shape[1], 1)
    return np.stack([pairs.P[:, i, j], pairs.Q[:, i, j]], axis=2).astype(np.float32)


def three_way(compacted: NDArray[Any], calibration: PairCalibration | None = None) -> Array:
    """Probabilities (…, 3) of the codes 0, 1 and 2 from the result of `compact`."""
    before, tied = compacted[..., 0].astype(np.float64), compacted[..., 1].astype(np.float64)
    after = np.maximum(1 - before - tied, 0.0)
    shares = np.stack([before, tied, after], axis=-1)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares if calibration is None else calibration.transform(shares)
