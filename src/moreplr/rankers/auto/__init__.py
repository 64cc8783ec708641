"""The ranker that mixes rankers."""

from moreplr.rankers.auto.explanation import MixtureExplanation
from moreplr.rankers.auto.ranker import AutoRanker

__all__ = ["AutoRanker", "MixtureExplanation"]
