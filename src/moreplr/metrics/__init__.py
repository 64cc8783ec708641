"""Measures of the quality of rankings, pair probabilities and decisions.

All measures take rankings in any accepted form. A pair of labels counts where truth and
prediction both rank it; a row without such a pair has no value and is left out of the mean.
"""

from moreplr.metrics._choices import choice_regret, closed_gap, penalized_runtime
from moreplr.metrics._pairs import pair_calibration_error, pair_log_loss
from moreplr.metrics._rankings import (
    SCORERS,
    bucket_count_error,
    kendall_distance,
    kendall_distance_scorer,
    tau_b_score,
    tau_b_scorer,
    tau_x_score,
    tau_x_scorer,
    tie_precision_score,
    tie_recall_score,
    top_one_score,
    top_one_scorer,
)

__all__ = [
    "SCORERS",
    "bucket_count_error",
    "choice_regret",
    "closed_gap",
    "kendall_distance",
    "kendall_distance_scorer",
    "pair_calibration_error",
    "pair_log_loss",
    "penalized_runtime",
    "tau_b_score",
    "tau_b_scorer",
    "tau_x_score",
    "tau_x_scorer",
    "tie_precision_score",
    "tie_recall_score",
    "top_one_score",
    "top_one_scorer",
]
