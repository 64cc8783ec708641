"""Specs of the multi-output regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

from moreplr.forest import ForestBatch
from moreplr.persistence.registry import Spec
from moreplr.persistence.schema import (
    Sizes,
    anything,
    array,
    either,
    instance,
    integer,
    items,
    number,
    optional,
    text,
)
from moreplr.regressors import (
    Chain,
    Conformal,
    GaussianProcess,
    MultiOutputSVR,
    Native,
    SingleTarget,
    Stacking,
)

_REGRESSOR = {"n_features_in_": integer(1, size="p"), "n_outputs_": integer(1, size="k")}


def learner(value: Any, sizes: Sizes) -> None:
    """An estimator with `fit` and `predict`, fitted or not."""
    able = hasattr(value, "fit") and hasattr(value, "predict")
    if not able or not isinstance(value, BaseEstimator):
        raise ValueError(f"must be an estimator that predicts, not a {type(value).__name__}")


_BASE = {"base": optional(learner)}
_MODELS = items(learner, "k")


def is_fitted_model(model: Any) -> None:
    """Refuse what can't predict: no estimator, or one that is not fitted."""
    if not isinstance(model, BaseEstimator) or not hasattr(type(model), "fit"):
        raise ValueError(f"a {type(model).__name__} can't predict")
    check_is_fitted(model)


def _check_parts(model: Any) -> None:
    """All that `fit` has fitted must be so."""
    for name in ("estimator_", "batch_", "first_", "second_"):
        if hasattr(model, name):
            is_fitted_model(getattr(model, name))
    for name in ("estimators_", "regressors_"):
        for part in getattr(model, name, ()):
            is_fitted_model(part)


def _check_single_target(model: Any) -> None:
    _check_parts(model)
    if hasattr(model, "batch_"):
        batch = model.batch_
        if batch.n_forests_ != model.n_outputs_ or batch.n_classes_:
            raise ValueError("batch_ must have a forest for each target")
    elif not hasattr(model, "estimators_"):
        raise ValueError("lacks estimators_")


def _check_chain(model: Any) -> None:
    _check_parts(model)
    if not np.array_equal(np.sort(model.order_), np.arange(model.n_outputs_)):
        raise ValueError("order_ must name every target once")


def _check_stacking(model: Any) -> None:
    _check_parts(model)
    if not model.first_.n_outputs_ == model.second_.n_outputs_ == model.n_outputs_:
        raise ValueError("both stages must have all targets")


def _check_conformal(model: Any) -> None:
    _check_parts(model)
    if not model.regressors_ or not model.fold_.max(initial=0) < len(model.regressors_):
        raise ValueError("fold_ must number the regressors")
    if (model._count != np.sum(~np.isnan(model.residuals_), axis=0)).any():
        raise ValueError("_count must count the residuals")
    if model.method == "split" and not hasattr(model, "half_widths_"):
        raise ValueError("lacks half_widths_")


def _check_gaussian_process(model: Any) -> None:
    n, k = len(model.X_train_), model.n_outputs_
    cells = len(model.rows_)
    complete = model.dual_.shape == (n, k)
    if not complete and model.dual_.shape != (cells,):
        raise ValueError("dual_ must have a value for each observed cell")
    if model.factor_.shape != ((n, n) if complete else (cells, cells)):
        raise ValueError("factor_ must have a row and a column for each of dual_")


def _check_svr(model: Any) -> None:
    check_is_fitted(model.svr_)
    if model.svr_.dual_coef_.size != len(model.support_labels_):
        raise ValueError("svr_ must have the support vectors of support_rows_")


REGRESSOR_SPECS = [
    Spec(
        "moreplr.SingleTarget",
        SingleTarget,
        _REGRESSOR | _BASE,
        optional={"estimators_": _MODELS, "batch_": instance(ForestBatch)},
        also=_check_single_target,
    ),
    Spec(
        "moreplr.Native",
        Native,
        _REGRESSOR | _BASE | {"estimator_": learner},
        also=_check_parts,
    ),
    Spec(
        "moreplr.Chain",
        Chain,
        _REGRESSOR | _BASE | {"order_": array("i", "k"), "estimators_": _MODELS},
        also=_check_chain,
    ),
    Spec(
        "moreplr.Stacking",
        Stacking,
        _REGRESSOR
        | _BASE
        | {
            "final": optional(learner),
            "first_": instance(SingleTarget),
            "second_": instance(SingleTarget),
        },
        also=_check_stacking,
    ),
    Spec(
        "moreplr.Conformal",
        Conformal,
        _REGRESSOR
        | {
            "regressor": optional(learner),
            "method": text("split", "cross"),
            "coverage": number,
            "fold_": array("i", "n", least=0),
            "regressors_": items(learner),
            "residuals_": array("f8", "n", "k"),
            "_count": array("i", "k"),
        },
        optional={"half_widths_": array("f8", "k")},
        also=_check_conformal,
    ),
    Spec(
        "moreplr.GaussianProcess",
        GaussianProcess,
        _REGRESSOR
        | {
            "kernel": optional(instance(Kernel)),
            "X_train_": array("f8", "n", "p"),
            "mean_": array("f8", "k"),
            "scale_": array("f8", "k"),
            "kernel_": instance(Kernel),
            "correlation_": array("f8", "k", "k"),
            "rows_": array("i", "cells", least=0, below="n"),
            "labels_of_cells_": array("i", "cells", least=0, below="k"),
            "factor_": array("f8", None, None),
            "dual_": either(array("f8", None), array("f8", None, None)),
        },
        also=_check_gaussian_process,
    ),
    Spec(
        "moreplr.MultiOutputSVR",
        MultiOutputSVR,
        _REGRESSOR
        | {
            "kernel": text(),
            "gamma": anything,
            "coupling": number,
            "seen_": array("b", "k"),
            "offset_": array("f8", "k"),
            "_gamma": number,
            "svr_": instance(SVR),
            "support_rows_": array("f8", "support", "p"),
            "support_labels_": array("i", "support", least=0, below="k"),
        },
        also=_check_svr,
    ),
]
