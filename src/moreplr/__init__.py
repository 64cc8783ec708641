"""Partial label ranking: learn to rank a fixed set of labels, with ties, from features."""

__version__ = "0.1.0"
