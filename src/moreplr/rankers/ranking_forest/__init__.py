"""The ranking forest, its explanations and its prediction sets."""

from moreplr.rankers.ranking_forest.explanation import Explanation, PairExplanation
from moreplr.rankers.ranking_forest.prediction_sets import PredictionSets
from moreplr.rankers.ranking_forest.ranker import RankingForest

__all__ = ["Explanation", "PairExplanation", "PredictionSets", "RankingForest"]
