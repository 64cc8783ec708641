"""Pictures of rankings, pair probabilities and rankers, by matplotlib.

Each display follows scikit-learn's convention: `from_estimator` or `from_predictions` computes and
draws, `plot` draws again, and `ax_`, `figure_` are what was drawn on.
"""

from moreplr.plotting._answers import PairsDisplay, RankingDisplay, UtilitiesDisplay
from moreplr.plotting._calibration import OrderCalibrationDisplay, TieCalibrationDisplay
from moreplr.plotting._quality import ImportancesDisplay, LearningCurveDisplay, MeanRanksDisplay

__all__ = [
    "ImportancesDisplay",
    "LearningCurveDisplay",
    "MeanRanksDisplay",
    "OrderCalibrationDisplay",
    "PairsDisplay",
    "RankingDisplay",
    "TieCalibrationDisplay",
    "UtilitiesDisplay",
]
