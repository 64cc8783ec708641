"""Partial label ranking: learn to rank a fixed set of labels, with ties, from features."""

from moreplr.persistence import load, save
from moreplr.rankers import (
    AutoRanker,
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
    RankingTree,
)

__version__ = "0.1.0"
__all__ = [
    "AutoRanker",
    "DummyRanker",
    "MORERanker",
    "NearestNeighborsRanker",
    "PairwiseRanker",
    "RankingForest",
    "RankingTree",
    "load",
    "save",
]
