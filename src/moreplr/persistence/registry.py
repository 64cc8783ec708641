"""The allow-list: which classes and functions a file may name, and what their state may be.

A file holds names, never import paths: a name that is not a key here is refused. To let files
hold a new class, add a `Spec` to `OWN` in `own.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator

from moreplr._lazy import lazy
from moreplr.persistence.schema import JOBS, SEED, Check, array, integer, mapping, text

State = dict[str, Any]
_COMMON: Mapping[str, Check] = {
    "n_jobs": JOBS,
    "random_state": SEED,
    "n_features_in_": integer(1, size="p"),
    "feature_names_in_": array("O", "p"),
    "_sklearn_output_config": mapping(text(), text()),
}


@dataclass(frozen=True)
class Spec:
    """How a file describes an object of one class.

    Attributes
    ----------
    name : the class's name in files, which stays when the class moves
    cls : the class itself
    attributes : what each attribute must hold; parameters first, then what `fit` learns
    optional : learned attributes that not every fit leaves, with their checks
    also : a check of the whole object, after its attributes
    dump, restore : for classes with compiled state: what to store instead of all attributes,
        and how to make the object from that
    """

    name: str
    cls: type
    attributes: Mapping[str, Check] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    also: Callable[[Any], None] | None = None
    dump: Callable[[Any], State] = field(default=vars)
    restore: Callable[[type, State], Any] | None = None

    @lazy
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the constructor."""
        given = inspect.signature(self.cls).parameters
        return {name: one for name, one in given.items() if one.kind is not one.VAR_KEYWORD}

    @property
    def is_ours(self) -> bool:
        """Whether the class is of this library."""
        return self.name.startswith("moreplr.")


@cache
def specs() -> dict[str, Spec]:
    """All specs by the names that files use."""
    from moreplr.persistence.foreign import FOREIGN
    from moreplr.persistence.own import OWN

    return {spec.name: spec for spec in (*OWN, *FOREIGN)}


@cache
def _by_class() -> dict[type, Spec]:
    return {spec.cls: spec for spec in specs().values()}


def spec_of(cls: type) -> Spec | None:
    """The spec of exactly this class: a subclass may mean something else by the same state."""
    if cls.__module__.partition(".")[0] == "skrub":
        return next((spec for spec in _skrub_specs().values() if spec.cls is cls), None)
    return _by_class().get(cls)


def spec_named(name: Any) -> Spec | None:
    """The spec of a name in a file."""
    if isinstance(name, str) and name.startswith("skrub."):
        return _skrub_specs().get(name)
    return specs().get(name)


def _skrub_specs() -> dict[str, Spec]:
    from moreplr.persistence.foreign import skrub_specs

    return skrub_specs()


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """The functions that a file may name: those of `moreplr.datasets.make_preprocessor`."""
    from moreplr.datasets import _preprocessing

    return {
        "moreplr.datasets.numbers": _preprocessing._numbers,
        "moreplr.datasets.texts": _preprocessing._texts,
    }


def is_fitted(spec: Spec, state: State) -> bool:
    """Whether a state has something that only `fit` sets."""
    learned = set(spec.attributes) | {name for name in state if name.endswith("_")}
    return any(name in state for name in learned if name not in spec.parameters)


def check_state(spec: Spec, state: State) -> None:
    """Refuse a state that an object of the class can't have.

    An object that is not fitted has its parameters only; a fitted one has all that `fit` learns.
    Further attributes may be there, unless they would hide what the class defines.
    """
    missing = [name for name in spec.parameters if name not in state]
    if missing:
        raise ValueError(f"lacks the parameters {missing}")
    unknown = set(state) - set(spec.parameters) if spec.is_ours else set()
    unknown = {name for name in unknown if not name.startswith("_") and not name.endswith("_")}
    if unknown:
        raise ValueError(f"has the parameters {sorted(unknown)}, which this release has not")
    if is_fitted(spec, state):
        missing = [name for name in spec.attributes if name not in state]
        if missing:
            raise ValueError(f"lacks {missing}, which fit sets")
    sizes: dict[str, int] = {}
    for name, check in {**_COMMON, **spec.attributes, **spec.optional}.items():
        if name in state:
            try:
                check(state[name], sizes)
            except ValueError as error:
                raise ValueError(f"{name} {error}") from error
    for name in state:
        hides = hasattr(spec.cls, name) and name not in spec.parameters
        if hides or not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"can't have an attribute {name!r:.60}, as the class defines it")


def check_object(spec: Spec, made: Any, state: State) -> None:
    """Refuse an object whose attributes don't go together."""
    if spec.name.startswith("sklearn.") and isinstance(made, BaseEstimator):
        made._validate_params()
    if spec.also is not None and (is_fitted(spec, state) or set(spec.attributes) <= set(state)):
        spec.also(made)
