"""A ranker that averages the probabilities of other rankers, and its explanations."""

from moreplr.rankers.auto.explanation import MixtureExplanation
from moreplr.rankers.auto.ranker import AutoRanker

__all__ = ["AutoRanker", "MixtureExplanation"]
