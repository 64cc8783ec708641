"""Random forests on binned features: vector targets with gaps, many forests at once."""

from moreplr.forest.batch import ForestBatch
from moreplr.forest.classifier import ForestClassifier
from moreplr.forest.regressor import ForestRegressor

__all__ = ["ForestBatch", "ForestClassifier", "ForestRegressor"]
