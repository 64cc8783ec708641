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

from moreplr.layers import EpsilonCloseness, Layer, RoundRank
from moreplr.rankers._pairs import pair_codes
from moreplr.rankers.dummy import DummyRanker
from moreplr.rankers.more import MORERanker
from moreplr.rankers.neighbors import NearestNeighborsRanker
from moreplr.rankers.pairwise import PairwiseRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.tree import RankingTree
from moreplr.rankings import Positions, count_buckets
from moreplr.regressors import GaussianProcess
from moreplr.regressors._base import Array

REFERENCE = "RankingForest"
# Shares need no more rows than this.
_LOOKED_AT = 1_000
# Beyond these numbers of pairs a model for each costs more than any budget holds.
_PAIR_FORESTS = 500
_PAIR_LINEAR = 120
_KERNEL_ROWS = 5_000
_PROCESS_CELLS = 1_500


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
    it has been measured on one number only.
    """

    ranker: Any
    growth: float = 1.5


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
    """
    k, pairs, n = meta.n_labels, meta.n_pairs, meta.n_rows
    more: dict[str, Any] = {"layer": _layer(meta, positions), "positions": _reading(meta, positions)}
    cells = n if meta.missing_labels == 0 else round(n * k * (1 - meta.missing_labels))
    # Name, whether it suits, its cost against that of a forest of one target, and what it is.
    table: list[tuple[str, bool, float, Any, float]] = [
        ("DummyRanker", True, 0.0, DummyRanker(), 1.0),
        ("NearestNeighborsRanker", True, 0.2, scaled(NearestNeighborsRanker()), 1.5),
        ("MORERanker, ridge", pairs > _PAIR_LINEAR, 0.1, _more(Ridge(), more), 1.0),
        ("MORERanker, SVR", n <= _KERNEL_ROWS, k * n / 5e3, _more(SVR(C=10), more), 2.0),
        (
            "MORERanker, Gaussian process",
            cells <= _PROCESS_CELLS and not meta.weighted,
            (cells / 400) ** 3,
            _more(GaussianProcess(), more),
            3.0,
        ),
        (
            "MORERanker, native",
            k > 64,
            2.0,
            MORERanker("dense", "native", **more),
            1.2,
        ),
        (
            "MORERanker, single target",
            k <= 64,
            float(k),
            MORERanker("dense", "single_target", **more),
            1.2,
        ),
        ("MORERanker, chain", 3 <= k <= 15, 2.0 * k, MORERanker("dense", "chain", **more), 1.2),
        (
            "RankingForest, all features",
            meta.n_features > 1,
            3.0 + min(k, 64),
            RankingForest(max_features=None),
            1.2,
        ),
        (
            "PairwiseRanker, logistic",
            pairs <= _PAIR_LINEAR,
            0.3 * pairs,
            scaled(PairwiseRanker(LogisticRegression(max_iter=500))),
            1.2,
        ),
        ("PairwiseRanker", pairs <= _PAIR_FORESTS, 0.5 * pairs, PairwiseRanker(), 1.2),
        ("RankingTree, bagged", pairs <= _PAIR_FORESTS, 0.7 * pairs, RankingTree(100), 1.2),
    ]
    suitable = sorted((row for row in table if row[1]), key=lambda row: row[2])
    found = {REFERENCE: Candidate(RankingForest(), 1.2)}
    found.update({name: Candidate(ranker, growth) for name, _, _, ranker, growth in suitable})
    return found


def scaled(ranker: Any) -> Pipeline:
    """The ranker behind imputation and scaling, for one that depends on both."""
    return make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), ranker
    )


def _more(regressor: Any, options: dict[str, Any]) -> Pipeline:
    return scaled(MORERanker("dense", regressor, **options))


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
