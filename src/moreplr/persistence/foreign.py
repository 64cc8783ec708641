"""What files may hold of scikit-learn's classes: those whose state is plain arrays.

Compiled code of scikit-learn and SciPy trusts some of these arrays: the support vector machines'
and, through a sparse matrix, the one-hot encoder's. They are checked as strictly as our own.
"""

from __future__ import annotations

from collections import UserList
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import kernels
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVR

from moreplr.persistence.foreign_encoders import ENCODER_SPECS
from moreplr.persistence.registry import Spec, State, functions
from moreplr.persistence.schema import (
    Check,
    Sizes,
    anything,
    array,
    either,
    flag,
    instance,
    integer,
    items,
    mapping,
    nothing,
    number,
    optional,
    record,
    rows,
    text,
)

_P = integer(1, size="p")
_FEATURES = array("f", "p")
_CLASSES = array("b i u f U O", "classes")
_COEF = either(array("f", "p"), array("f", "t", "p"))
_INTERCEPT = either(number, array("f", "t"))
_LINEAR = {"n_features_in_": _P, "coef_": _COEF, "intercept_": _INTERCEPT}


def _transformer(value: Any, sizes: Sizes) -> None:
    """An object that transforms, or a word for none."""
    if value is None or (isinstance(value, str) and value in ("drop", "passthrough")):
        return
    if not isinstance(value, BaseEstimator) or not hasattr(type(value), "transform"):
        raise ValueError(f"must be a transformer, not a {type(value).__name__}")


def _check_steps(pipeline: Any) -> None:
    *transformers, (_, last) = pipeline.steps
    for _, one in transformers:
        _transformer(one, {})
    if not isinstance(last, str | BaseEstimator) or (
        isinstance(last, str) and last != "passthrough"
    ):
        raise ValueError("the last step must be an estimator")


def _check_columns(columns: Any) -> None:
    p = columns.n_features_in_
    indices = columns._transformer_to_input_indices
    for name, _, selected in columns.transformers_:
        if name not in indices:
            raise ValueError(f"transformers_ has {name!r:.60}, which takes no columns")
        numbers = [selected] if isinstance(selected, int) else selected
        if isinstance(numbers, list) and any(
            isinstance(one, int) and not -p <= one < p for one in numbers
        ):
            raise ValueError("transformers_ takes a column that is not there")
    if any(not 0 <= at < p for found in indices.values() for at in found):
        raise ValueError("_transformer_to_input_indices has a column that is not there")


def _check_function(transformer: Any) -> None:
    """The functions of `make_preprocessor` with the arguments that it gives them."""
    words = transformer.kw_args or {}
    known = functions()
    if transformer.func is not None and transformer.func not in known.values():
        raise ValueError("func must be None or a function of make_preprocessor")
    wanted = {"codes"} if transformer.func is known["moreplr.datasets.numbers"] else set()
    if set(words) != wanted:
        raise ValueError(f"kw_args must have {sorted(wanted)}, not {sorted(words)}")
    items(number, kinds=(tuple, list))(words.get("codes", ()), {})


def _check_scaler(scaler: Any) -> None:
    for wanted, name in (("with_mean", "mean_"), ("with_std", "scale_")):
        if getattr(scaler, wanted) and getattr(scaler, name) is None:
            raise ValueError(f"lacks {name}")


def _check_robust(scaler: Any) -> None:
    for wanted, name in (("with_centering", "center_"), ("with_scaling", "scale_")):
        if getattr(scaler, wanted) and getattr(scaler, name) is None:
            raise ValueError(f"lacks {name}")


def _check_logistic(model: Any) -> None:
    n_classes = len(model.classes_)
    if n_classes < 2 or model.coef_.shape[0] != (1 if n_classes == 2 else n_classes):
        raise ValueError("coef_ must have a row for each class, or one for two classes")


def _check_svm(model: Any) -> None:
    """Refuse what would lead libsvm outside its arrays."""
    support, kind = len(model.support_), type(model)
    n_classes = len(model.classes_) if kind is SVC else 2
    pairs = n_classes * (n_classes - 1) // 2
    if n_classes < 2 or model._dual_coef_.shape != (n_classes - 1, support):
        raise ValueError("_dual_coef_ must have a column for each support vector")
    for name, sizes in {
        "_intercept_": (pairs,),
        "_probA": (0, pairs),
        "_probB": (0, pairs),
    }.items():
        if len(getattr(model, name)) not in sizes:
            raise ValueError(f"{name} must have a value for each pair of classes")
    if len(model._n_support) != n_classes or (kind is SVC and model._n_support.sum() != support):
        raise ValueError("_n_support must count the support vectors of each class")
    if model.kernel == "precomputed":
        n = model.shape_fit_[0]
        if support and not 0 <= model.support_.min() <= model.support_.max() < n:
            raise ValueError(f"support_ asks for a row beyond the {n} there are")
    elif model.support_vectors_.shape != (support, model.n_features_in_):
        raise ValueError("support_vectors_ must have a row for each of support_")


@cache
def _imputer_keeps_fill_type() -> bool:
    return "_fill_dtype" in vars(SimpleImputer().fit([[0.0]]))


def _upgrade_imputer(state: State) -> None:
    """Earlier releases of scikit-learn fill with values of the type that was fitted."""
    if "_fit_dtype" in state and _imputer_keeps_fill_type():
        state.setdefault("_fill_dtype", state["_fit_dtype"])


def _dump_columns(columns: ColumnTransformer) -> State:
    """Plain lists for the list of its own that some releases keep the remaining columns in."""
    state = dict(vars(columns))
    if "transformers_" in state:
        state["transformers_"] = [tuple(map(_plain, part)) for part in state["transformers_"]]
        state["_remainder"] = tuple(map(_plain, state["_remainder"]))
    return state


def _plain(value: Any) -> Any:
    return list(value.data) if isinstance(value, UserList) else value


def _dump_neighbors(index: NearestNeighbors) -> State:
    """Parameters and rows: the search tree is compiled, and made again from them."""
    parameters = index.get_params(deep=False)
    state = {name: value for name, value in vars(index).items() if name in parameters}
    return state | {"_fit_X": index._fit_X} if hasattr(index, "_fit_X") else state


def _restore_neighbors(cls: type, state: State) -> NearestNeighbors:
    index: NearestNeighbors = object.__new__(cls)
    index.__dict__.update({name: one for name, one in state.items() if name != "_fit_X"})
    return index.fit(state["_fit_X"]) if "_fit_X" in state else index


def _linear(cls: type, **further: Check) -> Spec:
    return Spec(f"sklearn.{cls.__name__}", cls, _LINEAR | further)


def _svm(cls: type, **further: Check) -> Spec:
    attributes = {
        "kernel": text("linear", "poly", "rbf", "sigmoid", "precomputed"),
        "degree": integer(0, 2**31 - 1),
        "coef0": number,
        "cache_size": number,
        "n_features_in_": integer(1),
        "_sparse": _false,
        "_gamma": number,
        "support_": rows("i4", None),
        "support_vectors_": rows("f8", None, None),
        "_n_support": array("i4", None, least=0, below=2**31),
        "_dual_coef_": rows("f8", None, None),
        "_intercept_": rows("f8", None),
        "_probA": rows("f8", None),
        "_probB": rows("f8", None),
        "intercept_": array("f8", None),
        "dual_coef_": array("f8", None, None),
        "shape_fit_": record(integer(1), integer(0)),
    }
    return Spec(f"sklearn.{cls.__name__}", cls, attributes | further, also=_check_svm)


def _false(value: Any, sizes: Sizes) -> None:
    if value is not False:
        raise ValueError("must be False: models of sparse features can't be stored")


_COLUMNS = either(
    text(),
    integer(),
    items(either(text(), integer())),
    array("b i U O", None),
    instance(slice),
)
_SCALE = either(number, array("f i", None), items(number), items(number, kinds=(tuple,)))
_KERNEL = instance(kernels.Kernel)

_COMPOSED = [
    Spec(
        "sklearn.Pipeline",
        Pipeline,
        {"steps": items(record(text(), anything)), "memory": nothing, "transform_input": nothing},
        also=_check_steps,
    ),
    Spec(
        "sklearn.ColumnTransformer",
        ColumnTransformer,
        {
            "transformer_weights": optional(mapping(text(), number)),
            "n_features_in_": _P,
            "_columns": items(_COLUMNS),
            "_transformer_to_input_indices": mapping(text(), items(integer())),
            "_remainder": record(text(), _transformer, anything),
            "sparse_output_": flag,
            "transformers_": items(record(text(), _transformer, _COLUMNS)),
            "output_indices_": mapping(text(), instance(slice)),
        },
        also=_check_columns,
        dump=_dump_columns,
    ),
]

_PREPARING = [
    Spec(
        "sklearn.StandardScaler",
        StandardScaler,
        {
            "n_features_in_": _P,
            "mean_": optional(_FEATURES),
            "var_": optional(_FEATURES),
            "scale_": optional(_FEATURES),
        },
        also=_check_scaler,
    ),
    Spec(
        "sklearn.MinMaxScaler",
        MinMaxScaler,
        {
            "feature_range": record(number, number, kinds=[tuple, list]),
            "n_features_in_": _P,
            "scale_": _FEATURES,
            "min_": _FEATURES,
        },
    ),
    Spec("sklearn.MaxAbsScaler", MaxAbsScaler, {"n_features_in_": _P, "scale_": _FEATURES}),
    Spec(
        "sklearn.RobustScaler",
        RobustScaler,
        {"n_features_in_": _P, "center_": optional(_FEATURES), "scale_": optional(_FEATURES)},
        also=_check_robust,
    ),
    Spec(
        "sklearn.SimpleImputer",
        SimpleImputer,
        {
            "missing_values": either(number, text(), nothing),
            "n_features_in_": _P,
            "_fit_dtype": instance(np.dtype),
            "statistics_": array("b i u f U O", "p"),
            "indicator_": optional(instance(MissingIndicator)),
        },
        optional={"_fill_dtype": instance(np.dtype)},
        upgrade=_upgrade_imputer,
    ),
    Spec(
        "sklearn.MissingIndicator",
        MissingIndicator,
        {"n_features_in_": _P, "features_": array("i", None, least=0, below="p")},
    ),
    Spec(
        "sklearn.FunctionTransformer",
        FunctionTransformer,
        {
            "kw_args": optional(mapping(text(), anything)),
            "inverse_func": nothing,
            "feature_names_out": optional(text("one-to-one")),
        },
        also=_check_function,
    ),
    *ENCODER_SPECS,
]

_MODELS = [
    *map(_linear, (LinearRegression, Ridge, Lasso, ElasticNet, LinearSVR)),
    _linear(
        BayesianRidge,
        sigma_=array("f", "p", "p"),
        alpha_=number,
        X_offset_=either(number, _FEATURES),
        X_scale_=either(number, _FEATURES),
    ),
    Spec(
        "sklearn.LogisticRegression",
        LogisticRegression,
        {
            "n_features_in_": _P,
            "classes_": _CLASSES,
            "coef_": array("f", "t", "p"),
            "intercept_": array("f", "t"),
        },
        also=_check_logistic,
    ),
    _svm(SVR),
    _svm(SVC, classes_=_CLASSES),
    Spec(
        "sklearn.DummyRegressor",
        DummyRegressor,
        {"n_outputs_": integer(1, size="t"), "constant_": array("f i", 1, "t")},
    ),
    Spec(
        "sklearn.NearestNeighbors",
        NearestNeighbors,
        {"metric": text(), "_fit_X": array("f8", None, None)},
        dump=_dump_neighbors,
        restore=_restore_neighbors,
    ),
]

_KERNELS = [
    Spec(f"sklearn.{cls.__name__}", cls, attributes)
    for cls, attributes in (
        (kernels.RBF, {"length_scale": _SCALE}),
        (kernels.Matern, {"length_scale": _SCALE, "nu": number}),
        (kernels.RationalQuadratic, {"length_scale": number, "alpha": number}),
        (kernels.ExpSineSquared, {"length_scale": number, "periodicity": number}),
        (kernels.DotProduct, {"sigma_0": number}),
        (kernels.ConstantKernel, {"constant_value": number}),
        (kernels.WhiteKernel, {"noise_level": number}),
        (kernels.Sum, {"k1": _KERNEL, "k2": _KERNEL}),
        (kernels.Product, {"k1": _KERNEL, "k2": _KERNEL}),
        (kernels.Exponentiation, {"kernel": _KERNEL, "exponent": number}),
    )
]

_SPLITTERS = [Spec("sklearn.KFold", KFold), Spec("sklearn.ShuffleSplit", ShuffleSplit)]

FOREIGN = [*_COMPOSED, *_PREPARING, *_MODELS, *_KERNELS, *_SPLITTERS]
"""All specs of scikit-learn's classes."""
