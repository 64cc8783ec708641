"""A plan is what to run: data × methods × missing shares × protocols × folds."""

from __future__ import annotations

import difflib
import inspect
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from moreplr.datasets import PROBLEMS, Dataset, from_csv, load
from moreplr.experiments.methods import (
    FORESTS,
    PROTOCOLS,
    Method,
    Settings,
    is_code,
    make_method,
)

FEATURES = ("published", "table")
# The most folds, repetitions, and names that braces stand for.
_MOST = 100_000
_NAME = re.compile(r"[\w][\w .+-]{0,99}")


@dataclass(frozen=True)
class Limit:
    """Limits for data sets of at least `rows` rows.

    Only the first `repetitions` and `folds` of the plan are run, and not the methods `without`.
    """

    rows: int
    repetitions: int | None = None
    folds: int | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """An experiment: every method on every fold of every data set.

    Parameters
    ----------
    data : names such as ``"plr/iris"``, or :class:`moreplr.datasets.Dataset` objects
        Braces list alternatives: ``"plr/{iris,wine}"``.
    methods : names, see :mod:`moreplr.experiments.methods`, or Method objects
        Braces list alternatives: ``"{ST,Native}-PI q={1,2}"``.
    missing : shares of the labels that are removed from the training rankings
    protocols : {"published", "honest"}
        Labels are removed after encoding, so that positions of the complete ranking stay, or
        before it, as in incomplete data. See :mod:`moreplr.incomplete`.
    folds, repetitions : int
        ``RepeatedKFold(folds, n_repeats=repetitions, random_state=seed)``, rows as they come.
    trees, forest, seed : see :class:`moreplr.experiments.methods.Settings`
    features : {"published", "table"}
        How features become numbers: as published, by :func:`moreplr.datasets.make_preprocessor`,
        or by :class:`moreplr.vectorizing.FrameVectorizer`, which handles dates and long texts.
    probabilities : bool
        Also measure the log loss and the calibration error of pair probabilities, for rankers
        that have some. The time to predict them is not counted.
    limits : Limit objects, what to leave out for large data sets
    name : letters, digits, spaces and ``_ . + -``; also the default name of the store
    description : for the report

    Examples
    --------
    >>> plan = Plan(["plr/{iris,wine}"], ["{ST,Native}-RR"], missing=[0, 0.3], repetitions=1)
    >>> plan.data
    ('plr/iris', 'plr/wine')
    >>> [method.name for method in plan.make_methods()]
    ['ST-RR', 'Native-RR']
    """

    data: tuple[str | Dataset, ...]
    methods: tuple[str | Method, ...]
    missing: tuple[float, ...] = (0.0,)
    protocols: tuple[str, ...] = PROTOCOLS
    folds: int = 10
    repetitions: int = 5
    seed: int = 0
    trees: int | None = None
    forest: str = "scikit-learn"
    features: str = "published"
    probabilities: bool = False
    limits: tuple[Limit, ...] = ()
    name: str = "plan"
    description: str = ""

    def __post_init__(self) -> None:
        # Lists are accepted; tuples keep a plan from being changed.
        for key in ("data", "methods"):
            object.__setattr__(self, key, tuple(_expanded(key, getattr(self, key))))
        object.__setattr__(self, "missing", tuple(float(share) for share in self.missing))
        object.__setattr__(self, "protocols", tuple(self.protocols))
        object.__setattr__(self, "limits", tuple(self.limits))
        self._check()

    def _check(self) -> None:
        if not self.data or not self.methods:
            raise ValueError("a plan needs at least one data set and one method")
        for key, kind in (("data", Dataset), ("methods", Method)):
            for item in getattr(self, key):
                if not isinstance(item, (str, kind)):
                    raise ValueError(f"{key} must hold names, got {item!r:.60}")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool):
            raise ValueError(f"seed must be an integer, got {self.seed!r:.60}")
        for share in self.missing:
            if not 0 <= share < 1:
                raise ValueError(f"missing must hold shares from 0 to below 1, got {share!r}")
        for protocol in self.protocols:
            if protocol not in PROTOCOLS:
                raise ValueError(f"protocols must be of {PROTOCOLS}, got {protocol!r}")
        if any(self.missing) and not self.protocols:
            raise ValueError("missing labels need a protocol")
        for key, known in (("features", FEATURES), ("forest", FORESTS)):
            if getattr(self, key) not in known:
                raise ValueError(f"{key} must be one of {known}, got {getattr(self, key)!r}")
        if not isinstance(self.probabilities, bool):
            raise ValueError(f"probabilities must be true or false, got {self.probabilities!r}")
        for key, least in (("folds", 2), ("repetitions", 1), ("trees", 1)):
            number = getattr(self, key)
            if key == "trees" and number is None:
                continue
            whole = isinstance(number, int) and not isinstance(number, bool)
            if not whole or not least <= number <= _MOST:
                raise ValueError(f"{key} must be a number from {least} to {_MOST:,}, got {number}")
        if not (isinstance(self.name, str) and _NAME.fullmatch(self.name)):
            raise ValueError(
                "name must begin with a letter or digit and hold letters, digits, spaces and "
                f"_ . + - only, at most 100, got {self.name!r:.60}"
            )
        names = [item if isinstance(item, str) else item.name for item in self.methods]
        if len(set(names)) < len(names):
            raise ValueError("methods must have different names")

    @property
    def settings(self) -> Settings:
        """Settings that all methods share."""
        return Settings(self.trees, self.forest, self.seed)

    def make_methods(self) -> list[Method]:
        """The methods as objects."""
        return [
            item if isinstance(item, Method) else make_method(item, self.settings)
            for item in self.methods
        ]

    def limit(self, rows: int) -> Limit:
        """The limit for a data set of so many rows: all that apply, joined."""
        reached = [limit for limit in self.limits if rows >= limit.rows]
        numbers: dict[str, int] = {}
        for key, most in (("repetitions", self.repetitions), ("folds", self.folds)):
            given = [getattr(limit, key) for limit in reached if getattr(limit, key) is not None]
            numbers[key] = min([most, *given])
        without = _expanded("methods", chain.from_iterable(limit.without for limit in reached))
        return Limit(rows, numbers["repetitions"], numbers["folds"], tuple(without))

    @classmethod
    def load(cls, name: str | Path, *, allow_import: bool = False, **changes: Any) -> Plan:
        """A plan that ships with the package, by name, or one from a TOML file.

        Its files of data must be below its own folder or the working folder.

        Parameters
        ----------
        name : {"demo", "paper", "auto", "sweeps", "field"} or path
        allow_import : bool
            Let the plan name methods as ``"module:callable"``, which runs code of that module.
        changes : values that replace those of the plan

        Examples
        --------
        >>> Plan.load("paper").missing
        (0.0, 0.3, 0.6)
        """
        shipped = files("moreplr.experiments").joinpath("plans", f"{name}.toml")
        path = Path(name)
        if path.suffix != ".toml" and shipped.is_file():
            data, folder = shipped.read_bytes(), Path()
        elif path.is_file():
            data, folder = path.read_bytes(), path.parent
        else:
            raise ValueError(
                f"no plan {str(name)!r}: neither a file nor one of {', '.join(shipped_plans())}"
            )
        try:
            values = tomllib.loads(data.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            raise ValueError(f"plan {name} is not TOML: {error}") from error
        plan = cls.from_dict({"name": path.stem, **values, **changes}, folder)
        code = [item for item in plan.methods if isinstance(item, str) and is_code(item)]
        if code and not allow_import:
            raise ValueError(
                f"plan {name}: method {code[0]!r} is code to import; if you trust the plan, use "
                "--allow-import, or allow_import=True in Python"
            )
        return plan

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path | None = None) -> Plan:
        """A plan from the keys of a TOML file; tables of data name files beside it."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(
                f"a plan has no {', '.join(unknown)}; it has {', '.join(sorted(known))}"
            )
        absent = sorted({"data", "methods"} - set(values))
        if absent:
            raise ValueError(f"the plan lacks {' and '.join(absent)}")
        made = dict(values)
        made["data"] = [_read(item, folder or Path()) for item in _list("data", values["data"])]
        made["limits"] = [_limit(item) for item in _list("limits", values.get("limits", ()))]
        return cls(**made)

    def change(self, **changes: Any) -> Plan:
        """The same plan with other values."""
        return replace(self, **changes)


def shipped_plans() -> list[str]:
    """Names of the plans in the package."""
    folder = files("moreplr.experiments").joinpath("plans")
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir())


def load_data(item: str | Dataset) -> Dataset:
    """The data set of a plan's entry."""
    if isinstance(item, Dataset):
        return item
    problem, slash, name = item.partition("/")
    if not slash or problem not in PROBLEMS:
        raise ValueError(f"data are named as 'plr/iris', 'lr/iris' or 'field/…', got {item!r}")
    return load(name, problem)


def expand_braces(text: str) -> list[str]:
    """All texts that alternatives in braces stand for.

    Examples
    --------
    >>> expand_braces("{ST,Native}-PI q={1,2}")
    ['ST-PI q=1', 'ST-PI q=2', 'Native-PI q=1', 'Native-PI q=2']
    """
    parts = re.split(r"\{([^{}]*)\}", text)  # each second one is what braces hold
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    if prod(map(len, choices)) > _MOST:
        raise ValueError(f"{text!r:.60} stands for more than {_MOST:,} names")
    return ["".join(words) for words in product(*choices)]


def _expanded(key: str, items: Any) -> Iterable[Any]:
    for item in _list(key, items):
        yield from expand_braces(item) if isinstance(item, str) else [item]


def _list(key: str, items: Any) -> Iterable[Any]:
    if isinstance(items, (str, Mapping, Dataset, Method)) or not isinstance(items, Iterable):
        raise TypeError(f"{key} must be a list, got {items!r:.60}")
    return items


def _limit(item: Any) -> Limit:
    if isinstance(item, Limit):
        return item
    known = {field.name for field in fields(Limit)}
    if not isinstance(item, Mapping) or not set(item) <= known or "rows" not in item:
        raise ValueError(f"limits must hold tables of {', '.join(sorted(known))}, with rows")
    return Limit(**item)


def _read(item: Any, folder: Path) -> Any:
    if not isinstance(item, Mapping):
        return item
    if "path" not in item:
        raise ValueError(f"a table of data needs the path of a file, got {dict(item)}")
    options = {key: value for key, value in item.items() if key != "path"}
    known = list(inspect.signature(from_csv).parameters)[1:]
    for key in options:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"options are {', '.join(known)}"
            raise ValueError(f"data {item['path']!r:.200} has no option {key!r:.60}; {hint}")
    path = os.path.normpath(folder / item["path"])
    # Links are not followed: one inside these folders was put there by their owner.
    if not any(_is_below(path, root) for root in (folder, Path())):
        raise ValueError(
            f"the file {item['path']!r:.200} is neither below the plan's folder nor the working "
            "folder: copy it there, or give its data in Python"
        )
    return from_csv(path, **options)


def _is_below(path: str, folder: Path) -> bool:
    root = os.path.abspath(folder)
    return os.path.commonpath([os.path.abspath(path), root]) == root
