"""Experiments: plan → runner → store → statistics → report."""

from moreplr.experiments.archive import results
from moreplr.experiments.methods import register
from moreplr.experiments.plan import Limit, Plan
from moreplr.experiments.reporting import report
from moreplr.experiments.runner import run
from moreplr.experiments.statistics import friedman_holm

__all__ = ["Limit", "Plan", "friedman_holm", "register", "report", "results", "run"]
