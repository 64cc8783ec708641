"""What files may hold of scikit-learn's and skrub's classes: those whose state is plain values.

Their state is stored as it is, by the names of :data:`PLAIN`, and nothing is said of it here:
it is Python and NumPy code that reads it, which looks at bounds. Compiled code trusts the state of
a few: support vector machines and, through a sparse matrix, the one-hot encoder. What they
would follow is checked as strictly as our own.
"""

from __future__ import annotations

from collections import UserList
from functools import cache
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from moreplr.persistence.foreign_encoders import ONE_HOT
from moreplr.persistence.registry import Spec, State, functions
from moreplr.persistence.schema import (
    Check,
    Sizes,
    anything,
    array,
    integer,
    items,
    nothing,
    number,
    record,
    rows,
    text,
)

PLAIN = {
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.feature_selection": "VarianceThreshold",
    "sklearn.gaussian_process.kernels": "RBF Matern RationalQuadratic ExpSineSquared DotProduct "
    "ConstantKernel WhiteKernel Sum Product Exponentiation",
    "sklearn.impute": "MissingIndicator SimpleImputer",
    "sklearn.kernel_approximation": "Nystroem",
    "sklearn.linear_model": "BayesianRidge ElasticNet HuberRegressor Lasso LinearRegression "
    "LogisticRegression Ridge",
    "sklearn.model_selection": "KFold ShuffleSplit",
    "sklearn.naive_bayes": "GaussianNB",
    "sklearn.preprocessing": "Binarizer MaxAbsScaler MinMaxScaler Normalizer OrdinalEncoder "
    "PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler StandardScaler",
    "sklearn.svm": "LinearSVC LinearSVR",
}
"""Public classes by their modules."""
_SKRUB = "DatetimeEncoder ToDatetime"


def _transformer(value: Any) -> None:
    """An object that transforms, or a word for none."""
    if value is None or (isinstance(value, str) and value in ("drop", "passthrough")):
        return
    if not isinstance(value, BaseEstimator) or not hasattr(type(value), "transform"):
        raise ValueError(f"must hold transformers, not a {type(value).__name__}")


def _any_transformer(value: Any, sizes: Sizes) -> None:
    _transformer(value)


def _check_steps(pipeline: Any) -> None:
    *transformers, (_, last) = pipeline.steps
    for _, one in transformers:
        _transformer(one)
    if not isinstance(last, BaseEstimator) and last != "passthrough":
        raise ValueError("the last step must be an estimator")


def _check_function(transformer: Any) -> None:
    """The functions of `make_preprocessor` with the arguments that it gives them, or none."""
    known = functions()
    if transformer.func is not None and transformer.func not in known.values():
        raise ValueError("func must be one of make_preprocessor's")
    words = transformer.kw_args or {}
    wanted = {"codes"} if transformer.func is known["moreplr.datasets.numbers"] else set()
    if set(words) != wanted:
        raise ValueError(f"kw_args must have {sorted(wanted)}, not {sorted(words)}")
    items(number, kinds=(tuple, list))(words.get("codes", ()), {})


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
        "shape_fit_": record(integer(1), integer(0)),
    }
    return Spec(f"sklearn.{cls.__name__}", cls, attributes | further, also=_check_svm)


def _false(value: Any, sizes: Sizes) -> None:
    if value is not False:
        raise ValueError("must be False: models of sparse features can't be stored")


@cache
def skrub_specs() -> dict[str, Spec]:
    """Those of skrub, which is imported where a file or a model holds some of it."""
    import skrub

    return {
        f"skrub.{name}": Spec(f"skrub.{name}", getattr(skrub, name)) for name in _SKRUB.split()
    }


FOREIGN = [
    *(
        Spec(f"sklearn.{name}", getattr(import_module(module), name))
        for module, names in PLAIN.items()
        for name in names.split()
    ),
    Spec(
        "sklearn.Pipeline",
        Pipeline,
        {"steps": items(record(text(), anything)), "memory": nothing, "transform_input": nothing},
        also=_check_steps,
    ),
    Spec(
        "sklearn.ColumnTransformer",
        ColumnTransformer,
        {"transformers_": items(record(text(), _any_transformer, anything))},
        dump=_dump_columns,
    ),
    Spec(
        "sklearn.FunctionTransformer",
        FunctionTransformer,
        {"inverse_func": nothing},
        also=_check_function,
    ),
    Spec(
        "sklearn.NearestNeighbors",
        NearestNeighbors,
        {"metric": text(), "_fit_X": array("f8", None, None)},
        dump=_dump_neighbors,
        restore=_restore_neighbors,
    ),
    _svm(SVR),
    _svm(SVC, classes_=array("b i u f U O", "classes")),
    ONE_HOT,
]
"""All specs of scikit-learn's classes."""
