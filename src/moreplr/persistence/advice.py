"""Messages about objects that can't go into a file, with what to use instead."""

from __future__ import annotations

import types
from typing import Any

from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.LambdaType,
    type,
    types.GeneratorType,
)


def refusal(value: Any, path: str) -> str:
    """The message for an object at a place of a model.

    Examples
    --------
    >>> refusal(len, "model.func")
    'model.func is code (len), and a file holds no code'
    """
    if isinstance(value, _CODE) or type(value).__name__ == "ufunc":
        return f"{path} is code ({getattr(value, '__name__', value)}), and a file holds no code"
    cls = type(value)
    message = f"{path} is a {cls.__module__.split('.')[0]} {cls.__name__}, which can't be stored"
    if cls.__name__ == "make_column_selector":
        return f"{message}: name the columns, or give their numbers"
    if cls.__name__ == "TableVectorizer":
        return f"{message}: use moreplr.vectorizing.FrameVectorizer"
    if isinstance(value, KNeighborsClassifier | KNeighborsRegressor):
        return f"{message}: use moreplr.NearestNeighborsRanker"
    if _has_compiled_trees(value):
        own = "ForestClassifier" if is_classifier(value) else "ForestRegressor"
        return f"{message}, as its trees are compiled objects: use moreplr.forest.{own}"
    if hasattr(value, "fit"):
        return (
            f"{message}: use an estimator of moreplr, a linear model or a support vector machine "
            "of scikit-learn"
        )
    return message


def _has_compiled_trees(value: Any) -> bool:
    parts = ".tree.", ".ensemble."
    return any(part in f"{cls.__module__}." for cls in type(value).__mro__ for part in parts)
