"""H: multi-output regressors that learn positions from rows with missing labels."""

from moreplr.regressors._intervals import gives_intervals, predict_interval
from moreplr.regressors.chain import Chain
from moreplr.regressors.conformal import Conformal
from moreplr.regressors.gaussian_process import GaussianProcess
from moreplr.regressors.native import Native
from moreplr.regressors.single_target import SingleTarget
from moreplr.regressors.stacking import Stacking
from moreplr.regressors.svr import MultiOutputSVR

REGRESSORS = {
    "single_target": SingleTarget,
    "chain": Chain,
    "stacking": Stacking,
    "native": Native,
    "svr": MultiOutputSVR,
    "gaussian_process": GaussianProcess,
    "conformal": Conformal,
}

__all__ = [
    "REGRESSORS",
    "Chain",
    "Conformal",
    "GaussianProcess",
    "MultiOutputSVR",
    "Native",
    "SingleTarget",
    "Stacking",
    "gives_intervals",
    "predict_interval",
]
