"""The estimators that a user fits."""

from moreplr.rankers.more import MORERanker

__all__ = ["MORERanker"]
