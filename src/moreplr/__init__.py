"""Partial label ranking: learn to rank a fixed set of labels, with ties, from features."""

from __future__ import annotations

# Nothing else is imported here: `python -m moreplr` runs this while it would still import from
# the working folder, a `typing.py` for example.
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moreplr.persistence import load, save
    from moreplr.rankers import (
        AutoRanker,
        BradleyTerryRanker,
        DummyRanker,
        MORERanker,
        NearestNeighborsRanker,
        PairwiseRanker,
        RankingBoost,
        RankingForest,
        RankingTree,
        TableRanker,
    )

__version__ = "0.2.0"
__all__ = [
    "AutoRanker",
    "BradleyTerryRanker",
    "DummyRanker",
    "MORERanker",
    "NearestNeighborsRanker",
    "PairwiseRanker",
    "RankingBoost",
    "RankingForest",
    "RankingTree",
    "TableRanker",
    "load",
    "save",
]
_MODULES = (
    "aggregation",
    "base",
    "checks",
    "datasets",
    "distributed",
    "encoders",
    "evaluation",
    "experiments",
    "explaining",
    "export",
    "forest",
    "incomplete",
    "layers",
    "metrics",
    "model_selection",
    "oblique",
    "persistence",
    "plotting",
    "rankers",
    "rankings",
    "regressors",
    "rivals",
    "vectorizing",
)


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: a command's help needs no compiler."""
    if name in _MODULES:
        return import_module(f"moreplr.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'moreplr' has no attribute {name!r}")
    home = "persistence" if name in ("load", "save") else "rankers"
    globals()[name] = value = getattr(import_module(f"moreplr.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_MODULES])
