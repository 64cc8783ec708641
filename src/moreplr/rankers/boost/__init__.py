"""Boosted trees on the likelihood of pairs."""

from moreplr.rankers.boost.ranking_boost import RankingBoost

__all__ = ["RankingBoost"]
