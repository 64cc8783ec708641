"""Aggregation: bucket orders from pairwise preferences, for the L1 distance or expected τ_X."""

from .decoding import METHODS, aggregate, expected_tau

__all__ = ["METHODS", "aggregate", "expected_tau"]
