"""Which rankers are worth a comparison: from what the data look like, or as the user says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from moreplr._types import Array, Positions
from moreplr.layers import EpsilonCloseness, Layer, RoundRank
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.dummy import DummyRanker
from moreplr.rankers.more import MORERanker
from moreplr.rankers.neighbors import NearestNeighborsRanker
from moreplr.rankers.pairwise import PairwiseRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.tree import RankingTree
from moreplr.rankings import count_buckets
from moreplr.regressors import GaussianProcess

REFERENCE = "RankingForest"
# Beyond it a forest for each label costs more than it gains.
MANY_LABELS = 64
# Shares need no more rows than this.
_LOOKED_AT = 1_000
# Beyond these numbers of pairs a model for each costs more than any budget holds.
_PAIR_FORESTS = 500
_PAIR_LINEAR = 120
_KERNEL_ROWS = 5_000
_PROCESS_CELLS = 800
_CHAINED = 15
# Up to this many features, second-order steps fit a linear model faster.
_NARROW = 20


@dataclass(frozen=True)
class Meta:
    """What data look like, as far as it decides which rankers suit them."""

    n_rows: int
    n_labels: int
    n_features: int
    missing_labels: float
    tied_pairs: float
    has_ties: bool
    missing_features: float
    weighted: bool

    @property
    def n_pairs(self) -> int:
        return self.n_labels * (self.n_labels - 1) // 2


class Candidate(NamedTuple):
    """A ranker to compare.

    `growth` is the power of the number of rows by which its time is taken to grow as long as
    it has been measured on one number only. `cost` is about how many seconds a fit on all rows
    takes, from runs on made-up rankings; only its ratio to that of others is relied on. 0 for
    one that nothing is known of.
    """

    ranker: Any
    growth: float = 1.5
    cost: float = 0.0


def describe(X: Array, Y: Positions, weight: Array | None = None) -> Meta:
    """Look at the data.

    Examples
    --------
    >>> meta = describe(np.zeros((2, 3)), np.array([[1.0, 1.0, 2.0], [1.0, 2.0, np.nan]]))
    >>> meta.n_labels, meta.has_ties, meta.tied_pairs
    (3, True, 0.25)
    """
    some = pair_codes(Y[:: -(-len(Y) // _LOOKED_AT)])
    compared = int((some >= 0).sum())
    ranked = np.sum(~np.isnan(Y), axis=1)
    return Meta(
        n_rows=len(Y),
        n_labels=Y.shape[1],
        n_features=X.shape[1],
        missing_labels=float(np.isnan(Y).mean()),
        tied_pairs=int((some == 1).sum()) / compared if compared else 0.0,
        has_ties=bool((count_buckets(Y) < ranked).any()),
        missing_features=float(np.isnan(X).mean()),
        weighted=weight is not None,
    )


def suggest(meta: Meta, positions: str = "observed") -> dict[str, Candidate]:
    """The candidates that suit the data: the reference first, then from cheap to dear.

    They are few, for the best of many is chosen by luck, and differ in kind: nearest rows,
    linear and smooth models, one forest, forests for each label and for each pair. Variants
    that :class:`RankingForest` chooses among by itself are left out.

    Examples
    --------
    >>> meta = describe(np.zeros((99, 2)), np.tile([1.0, 2.0, 2.0], (99, 1)))
    >>> list(suggest(meta))[:2]
    ['RankingForest', 'DummyRanker']
    """
    suitable = _on_positions(meta, positions) | _on_pairs(meta)
    # Comparing numbers of features takes it a quarter of its time.
    forest = Candidate(RankingForest(), 1.2, 1.3 * _forest_cost(meta))
    return {REFERENCE: forest} | dict(sorted(suitable.items(), key=lambda item: item[1].cost))


def _forest_cost(meta: Meta) -> float:
    return 0.1 + meta.n_rows * min(meta.n_labels, MANY_LABELS) ** 2 * 1e-4


def _on_positions(meta: Meta, positions: str) -> dict[str, Candidate]:
    n, k = meta.n_rows, meta.n_labels
    options: dict[str, Any] = {
        "layer": _layer(meta, positions),
        "positions": _reading(meta, positions),
    }

    def more(regressor: Any) -> MORERanker:
        return MORERanker("dense", regressor, **options)

    found = {}
    if meta.n_pairs > _PAIR_LINEAR:
        found["MORERanker, ridge"] = Candidate(scaled(more(Ridge())), 1.0, n * k * 1e-6)
    if n <= _KERNEL_ROWS:
        cost = 0.01 + n * n * k * 2e-7
        found["MORERanker, SVR"] = Candidate(scaled(more(SVR(C=10))), 2.0, cost)
    cells = n if meta.missing_labels == 0 else round(n * k * (1 - meta.missing_labels))
    if cells <= _PROCESS_CELLS and not meta.weighted:  # a process takes no weights
        process = scaled(more(GaussianProcess()))
        found["MORERanker, Gaussian process"] = Candidate(process, 2.0, 2 + (cells / 400) ** 3)
    forests = n * k * 6e-5
    if k > MANY_LABELS:
        found["MORERanker, native"] = Candidate(more("native"), 1.2, n * 1e-3)
    else:
        found["MORERanker, single target"] = Candidate(more("single_target"), 1.2, forests)
    if 3 <= k <= _CHAINED:
        found["MORERanker, chain"] = Candidate(more("chain"), 1.2, 2.5 * forests)
    return found


def _on_pairs(meta: Meta) -> dict[str, Candidate]:
    n, k, pairs = meta.n_rows, meta.n_labels, meta.n_pairs
    nearest = scaled(NearestNeighborsRanker())
    found = {
        "DummyRanker": Candidate(DummyRanker(), 1.0),
        "NearestNeighborsRanker": Candidate(nearest, 1.5, 0.02 + n * k * k * 5e-6),
    }
    if meta.n_features > 1:
        forest = RankingForest(max_features=None)
        found["RankingForest, all features"] = Candidate(forest, 1.2, _forest_cost(meta))
    if pairs <= _PAIR_FORESTS:
        found["RankingTree, bagged"] = Candidate(RankingTree(100), 1.2, 0.03 + n * pairs * 7e-6)
        found["PairwiseRanker"] = Candidate(PairwiseRanker(), 1.2, n * pairs * 2.5e-5)
    if pairs <= _PAIR_LINEAR:
        narrow = meta.n_features <= _NARROW
        solver = "newton-cholesky" if narrow else "lbfgs"
        linear = scaled(PairwiseRanker(LogisticRegression(solver=solver, max_iter=200)))
        each = 0.007 if narrow else 0.0025 * meta.n_features
        found["PairwiseRanker, logistic"] = Candidate(linear, 1.2, pairs * each)
    return found


def scaled(ranker: Any) -> Pipeline:
    """The ranker behind imputation and scaling, for one that depends on both."""
    return make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), ranker
    )


def _layer(meta: Meta, positions: str) -> Layer:
    if not meta.has_ties:
        return EpsilonCloseness(0.0)
    # Rounding needs positions that count buckets; what is given may have any scale.
    return EpsilonCloseness(0.06) if positions == "given" else RoundRank()


def _reading(meta: Meta, positions: str) -> str:
    """Rows with different gaps must speak of the same scale."""
    if positions == "given":
        return "given"
    return "expected" if meta.missing_labels > 0 else "observed"


def check_candidates(candidates: Any) -> dict[str, Candidate]:
    """The rankers that a user names, the reference first and present in any case."""
    if isinstance(candidates, Mapping):
        named = dict(candidates)
    elif isinstance(candidates, (list, tuple)):
        named = _name(candidates)
    else:
        raise TypeError(
            "candidates must be None, a list of rankers or a dict from names to rankers, got "
            f"{candidates!r}"
        )
    if not named:
        raise ValueError("candidates is empty: give at least one ranker, or None")
    for name, ranker in named.items():
        if not isinstance(name, str):
            raise TypeError(f"candidates must have texts for names, got {name!r}")
        if isinstance(ranker, type) or not _is_ranker(ranker):
            raise TypeError(
                f"candidates: {name!r} must be a ranker object with fit, predict and "
                f"get_params, got {ranker!r}"
            )
    known = next((name for name, ranker in named.items() if _is_reference(ranker)), None)
    if known is None:
        known = REFERENCE if REFERENCE not in named else f"{REFERENCE} (default)"
        named[known] = RankingForest()
    ordered = {known: Candidate(named.pop(known), 1.2)}
    ordered.update({name: Candidate(ranker) for name, ranker in named.items()})
    return ordered


def prepare(ranker: Any, *, positions: str, n_jobs: int | None, seed: int) -> Any:
    """A copy that knows the positions' meaning, and the threads and the seed if it had none."""
    ranker = clone(ranker)
    parameters = ranker.get_params()
    own = f"{ranker.steps[-1][0]}__" if isinstance(ranker, Pipeline) else ""
    changes: dict[str, Any] = {
        name: seed
        for name, value in parameters.items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    if n_jobs is not None and parameters.get(f"{own}n_jobs", 1) is None:
        changes[f"{own}n_jobs"] = n_jobs
    if positions == "given" and f"{own}positions" in parameters:
        changes[f"{own}positions"] = positions
    return ranker.set_params(**changes)


def _name(rankers: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for ranker in rankers:
        last = ranker.steps[-1][1] if isinstance(ranker, Pipeline) else ranker
        name = kind = type(last).__name__
        number = 1
        while name in named:
            number += 1
            name = f"{kind} {number}"
        named[name] = ranker
    return named


def _is_ranker(ranker: Any) -> bool:
    return all(hasattr(ranker, method) for method in ("fit", "predict", "get_params"))


def _is_reference(ranker: Any) -> bool:
    """Whether it is a RankingForest of default parameters, wherever these change accuracy."""
    if type(ranker) is not RankingForest:
        return False
    default = RankingForest().get_params()
    free = ("n_jobs", "random_state", "positions")
    return all(
        name in free or value == default[name] for name, value in ranker.get_params().items()
    )
