"""The estimators that a user fits."""

from moreplr.rankers.auto import AutoRanker
from moreplr.rankers.boost import RankingBoost
from moreplr.rankers.bradley_terry import BradleyTerryRanker
from moreplr.rankers.dummy import DummyRanker
from moreplr.rankers.more import MORERanker
from moreplr.rankers.neighbors import NearestNeighborsRanker
from moreplr.rankers.pairwise import PairwiseRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.table import TableRanker
from moreplr.rankers.tree import RankingTree

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
]
