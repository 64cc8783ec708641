"""Linear utilities: the Bradley–Terry model with ties, given features."""

from moreplr.rankers.bradley_terry.ranker import BradleyTerryRanker

__all__ = ["BradleyTerryRanker"]
