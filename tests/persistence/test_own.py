"""Own models whose parts don't go together are refused: kernels would read outside.

The checks are those of loading; a live model that was tampered with is the shortest way to them.
"""

from __future__ import annotations

import copy
import io

import numpy as np
import pytest

from moreplr import save
from moreplr.forest import ForestRegressor


def _set(path, value):
    """A function that sets an attribute of a part, by the path to it."""

    def change(model):
        *parts, name = path.split(".")
        for part in parts:
            model = model[int(part)] if part.isdigit() else getattr(model, part)
        old = getattr(model, name)
        setattr(model, name, value(old) if callable(value) else value)

    return change


def _shorter(array):
    return array[:-1]


BATCH = "regressor_.batch_"
FOREST = "forests_.0"
CASES = [
    ("ranking_forest", "rankings_", _shorter, "must have shape"),
    ("ranking_forest", "rankings_", lambda Y: Y[:, :2].copy(), "must have shape"),
    ("ranking_forest", "places_", lambda places: places + np.int16(99), "more places"),
    ("ranking_forest", "places_", lambda places: places.astype(float), "must be an array of i2"),
    ("ranking_forest", "forests_", lambda forests: forests * 2, "one, or one for each label"),
    ("ranking_forest", "forests_", [ForestRegressor()], "not fitted"),
    ("ranking_forest", "consensus_", tuple, "must be a tuple of 2"),
    ("ranking_forest", f"{FOREST}.codes_", _shorter, "must have the rows of rankings_|beyond"),
    ("ranking_forest", f"{FOREST}.codes_", np.asfortranarray, "row by row"),
    ("ranking_forest", f"{FOREST}.n_outputs_", 2, "n_outputs_ is 2|must have shape"),
    ("ranking_forest", f"{FOREST}.binner_", None, "must be a Binner"),
    ("ranking_forest", f"{FOREST}.trees_.values", lambda v: v.astype(float), "must be an array"),
    ("ranking_forest", f"{FOREST}.trees_.values", lambda v: v[:, :1].copy(), "same number"),
    ("ranking_forest", "oblique_", None, "rows of rankings_"),
    ("ranking_forest", "positions", "guessed", "positions must be one of"),
    ("ranking_forest", "oblique_.weights_", _shorter, "must have shape"),
    ("ranking_forest", "oblique_.weights_", lambda w: w[:, 1:].copy(), "must have shape"),
    ("ranking_forest_per_label", "forests_", lambda forests: forests[:2], "one for each label"),
    ("single_target", f"{BATCH}.binner_", None, "must be a Binner"),
    ("single_target", f"{BATCH}.n_forests_", 2, "must have shape|n_forests_ is"),
    ("single_target", f"{BATCH}.n_estimators", 9, "n_estimators is 9, but there are 3 seeds"),
    ("single_target", f"{BATCH}.words_.words", lambda w: w.astype(np.int64), "must be an array"),
    ("single_target", "regressor_.n_outputs_", 2, "a forest for each target"),
    ("single_target", "labels_", _shorter, "an output per label"),
    ("pairwise", "model_.learned", _shorter, "all pairs"),
    ("pairwise", "labels_", _shorter, "all pairs"),
    ("pairwise_logistic", "model_.classes", _shorter, "items"),
    ("pairwise_logistic", "model_.models.0.classes_", np.array([5, 6, 7]), "other classes"),
    ("bagging", "labels_", _shorter, "two targets for each pair"),
    ("bagging", "_never", _shorter, "each pair"),
    ("neighbors", "rankings_", _shorter, "rows of rankings_"),
    ("conformal_chain", "regressor_.fold_", lambda fold: fold + 9, "number the regressors"),
    ("conformal_chain", "regressor_._count", lambda count: count + 1, "count the residuals"),
    ("conformal_chain", "regressor_.regressors_.0.order_", lambda order: order * 0, "once"),
    ("gaussian_process", "regressor_.rows_", lambda rows: rows + 99, "must be less than 24"),
    ("gaussian_process", "regressor_.dual_", _shorter, "each observed cell"),
    ("svr", "regressor_.support_labels_", lambda labels: labels + 3, "must be less than 3"),
    ("auto", "weights_", {}, "each of members_ needs weight and calibration"),
]  # fmt: skip


@pytest.mark.parametrize(("name_of_model", "path", "value", "says"), CASES)
def test_parts_that_do_not_go_together_are_refused(name_of_model, path, value, says, fitted):
    model = copy.deepcopy(fitted(name_of_model)[0])
    _set(path, value)(model)
    with pytest.raises(ValueError, match=says):
        save(model, io.BytesIO())


def test_a_calibration_that_is_not_fitted_is_refused(fitted):
    model = copy.deepcopy(fitted("pairwise_calibrated")[0])
    del model.calibration_.powers_
    with pytest.raises(ValueError, match="calibration_ is not fitted"):
        save(model, io.BytesIO())
