"""Random forests on binned features, for several targets that may have missing values."""

from moreplr.forest.batch import ForestBatch
from moreplr.forest.binning import BinnedMatrix
from moreplr.forest.classifier import ForestClassifier
from moreplr.forest.regressor import ForestRegressor

__all__ = ["BinnedMatrix", "ForestBatch", "ForestClassifier", "ForestRegressor"]
