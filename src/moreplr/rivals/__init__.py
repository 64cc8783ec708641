"""Rivals of the field: label rankers of other authors, written from their papers.

They are here to be compared with: plans and ``moreplr compare`` know them by short names.
Borda's and Copeland's count with ties are aggregations of :class:`moreplr.PairwiseRanker`.
"""

from moreplr.rivals.boosting import BoostLR
from moreplr.rivals.forest import LabelRankingForest
from moreplr.rivals.neighbors import MallowsNeighborsRanker, PlackettLuceNeighborsRanker
from moreplr.rivals.tree import LabelRankingTree

__all__ = [
    "BoostLR",
    "LabelRankingForest",
    "LabelRankingTree",
    "MallowsNeighborsRanker",
    "PlackettLuceNeighborsRanker",
]
