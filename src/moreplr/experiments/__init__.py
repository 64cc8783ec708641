"""Experiments: plan → runner → store → statistics → report."""

from moreplr.experiments.statistics import friedman_holm

__all__ = ["friedman_holm"]
