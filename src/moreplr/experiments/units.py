"""The unit of work: one fit on one fold, decoded by every method that shares it.

Times are CPU seconds of the process that runs the unit. The time of a shared fit counts in full
for each of its methods, which would need it alone, too, and so does the shared part of their
predictions. Preprocessing of the features is not counted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold

from moreplr._types import Positions
from moreplr.datasets import Dataset
from moreplr.encoders import encode
from moreplr.experiments.methods import COMPLETE, DECISIONS, Method
from moreplr.experiments.plan import Plan, load_data
from moreplr.incomplete import remove_labels
from moreplr.layers import LAYERS
from moreplr.metrics import (
    choice_regret,
    closed_gap,
    pair_calibration_error,
    pair_log_loss,
    penalized_runtime,
    tau_x_score,
    top_one_score,
)
from moreplr.rankings import count_buckets
from moreplr.vectorizing import FrameVectorizer


class Key(NamedTuple):
    """What a result belongs to."""

    problem: str
    dataset: str
    method: str
    missing: float
    protocol: str
    repetition: int
    fold: int


@dataclass(frozen=True)
class Result:
    """One method on one fold: its score and times, or what went wrong."""

    key: Key
    status: str  # ok, error or timeout
    tau_x: float | None = None
    buckets: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    n_train: int | None = None
    n_test: int | None = None
    message: str = ""
    top_one: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None
    regret: float | None = None
    par10: float | None = None
    closed_gap: float | None = None


MEASURED = tuple(field.name for field in fields(Result) if field.default is None)
"""The numbers of a result. A fit that failed has none."""
MEASURES = MEASURED[MEASURED.index("top_one") :]
"""Measures other than τ_X."""


@dataclass(frozen=True)
class Source:
    """A data set as planning needs it."""

    data: str | Dataset = field(compare=False)
    problem: str
    name: str
    fingerprint: str
    rows: int
    cells: int
    ties: bool

    @property
    def cost(self) -> float:
        """The expected cost of a fit, up to a factor."""
        return float(self.cells * np.log2(max(self.rows, 2)))

    def __str__(self) -> str:
        return f"{self.problem}/{self.name}"


def source_of(item: str | Dataset) -> Source:
    """The size and the fingerprint of a data set, and whether it has ties."""
    data = load_data(item)
    Y = data.Y.to_numpy(dtype=float)
    ties = bool((count_buckets(Y) < np.sum(~np.isnan(Y), axis=1)).any())
    cells = len(data.X) * data.X.shape[1] * data.Y.shape[1]
    return Source(item, data.problem, data.name, data.fingerprint(), len(data.X), cells, ties)


@dataclass(frozen=True)
class Unit:
    """One fit. Its results count for all `protocols`: for many rankers these are the same."""

    source: Source
    methods: tuple[Method, ...]
    missing: float
    protocols: tuple[str, ...]
    repetition: int
    fold: int
    folds: int
    seed: int
    features: str = "published"
    probabilities: bool = False

    def keys(self, method: Method) -> list[Key]:
        """The keys of a method's results."""
        name, place = (self.source.problem, self.source.name), (self.repetition, self.fold)
        return [
            Key(*name, method.name, self.missing, protocol, *place) for protocol in self.protocols
        ]

    def failed(self, status: str, message: str) -> list[Result]:
        """The same result for all methods."""
        return [Result(key, status, message=message) for m in self.methods for key in self.keys(m)]


def expand(plan: Plan, sources: list[Source], done: set[Key]) -> Iterator[Unit]:
    """All units of a plan that still lack a result."""
    methods = plan.make_methods()
    for source in sources:
        limit = plan.limit(source.rows)
        assert limit.repetitions is not None
        assert limit.folds is not None
        wanted = [method for method in methods if method.name not in limit.without]
        for missing in plan.missing:
            groups = list(_shared_fits(wanted, source.ties, missing, plan.protocols))
            for place in product(range(limit.repetitions), range(limit.folds)):
                for group, protocols in groups:
                    unit = Unit(
                        source, group, missing, protocols, *place,
                        plan.folds, plan.seed, plan.features, plan.probabilities,
                    )  # fmt: skip
                    left = tuple(m for m in group if not done.issuperset(unit.keys(m)))
                    if left:
                        yield replace(unit, methods=left)


def _shared_fits(
    methods: list[Method], ties: bool, missing: float, protocols: tuple[str, ...]
) -> Iterator[tuple[tuple[Method, ...], tuple[str, ...]]]:
    """Methods that share a fit, and the protocols for which that fit is the same."""
    if not missing:
        protocols = (COMPLETE,)

    def key(method: Method) -> tuple[str, tuple[str, ...]]:
        return method.fit_key(ties), tuple(p for p in protocols if p in method.protocols)

    for (_, wanted), group in groupby(sorted(methods, key=key), key=key):
        together = tuple(group)
        if reads_positions(together[0].ranker):
            for protocol in wanted:
                yield together, (protocol,)
        elif wanted:
            yield together, wanted


def reads_positions(ranker: Any) -> bool:
    """Whether a ranker uses positions, not only their order; then the protocols differ."""
    return "positions" in ranker.get_params(deep=False)


def run_unit(unit: Unit) -> list[Result]:
    """Fit once and decode by each method; errors become results, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return list(_run(unit, caught))
        except Exception as error:
            return unit.failed("error", _describe(error))


def _run(unit: Unit, caught: list[warnings.WarningMessage]) -> Iterator[Result]:
    data = _loaded(unit.source)
    fold = _split(unit.source, unit.folds, unit.repetition, unit.fold, unit.seed, unit.features)
    X, n_train, n_test = fold.X_test, len(fold.train), len(fold.test)
    ranker, Y_train = prepare(unit.methods[0].ranker, fold.Y_train, unit)
    _warm_up(unit.methods[0].fit_key(), ranker, fold.X_train, Y_train)
    fitted, fit_seconds = timed(lambda: ranker.fit(fold.X_train, Y_train))
    of_pairs = pair_measures(fitted, X, fold.Y_test) if unit.probabilities else {}
    decide, shared = _decider(fitted, unit.methods, X)
    for method in unit.methods:
        try:
            ranks, seconds = timed(partial(decide, method))
            score = float(tau_x_score(fold.Y_test, ranks))
            if np.isnan(score):
                raise ValueError("no test row of this fold ranks two labels; take fewer folds")
            measures = {"top_one": float(top_one_score(fold.Y_test, ranks)), **of_pairs}
            measures |= decision_measures(data, fold.train, fold.test, ranks)
        except Exception as error:
            yield from replace(unit, methods=(method,)).failed("error", _describe(error))
            continue
        message = "; ".join(dict.fromkeys(str(warning.message) for warning in caught))
        buckets = float(count_buckets(ranks).mean())
        for key in unit.keys(method):
            yield Result(
                key, "ok", score, buckets, fit_seconds, shared + seconds,
                n_train, n_test, message, **measures,
            )  # fmt: skip


def pair_measures(fitted: Any, X: Any, Y: Positions) -> dict[str, float]:
    """How good a ranker's pair probabilities are, if it has any."""
    if not hasattr(fitted, "predict_pairs"):
        return {}
    pairs = fitted.predict_pairs(X)
    return {
        "log_loss": float(pair_log_loss(Y, pairs)),
        "calibration_error": pair_calibration_error(Y, pairs),
    }


def decision_measures(
    data: Dataset, train: NDArray[np.intp], test: NDArray[np.intp], ranks: Positions
) -> dict[str, float]:
    """How good it is to choose the label that is ranked first, for data with scores."""
    if data.scores is None:
        return {}
    scores = data.scores.to_numpy(dtype=float)
    if data.cutoff is None:
        better = {"larger_is_better": data.larger_is_better}
        return {"regret": float(choice_regret(scores[test], ranks, **better))}
    cost = np.where(scores > data.cutoff, 10 * data.cutoff, scores)
    single_best = int(cost[train].mean(axis=0).argmin())
    gap = closed_gap(scores[test], ranks, data.cutoff, single_best=single_best)
    return {
        "par10": float(penalized_runtime(scores[test], ranks, data.cutoff)),
        "closed_gap": gap,
    }


@lru_cache(maxsize=4)
def _loaded(source: Source) -> Dataset:
    """The data set, which must be the one that the plan was made for."""
    data = load_data(source.data)
    if data.fingerprint() != source.fingerprint:
        raise ValueError(f"{source} is not the same data here as in the plan")
    return data


class Fold(NamedTuple):
    """Training and test rows, with a preprocessor of features fitted on the training rows."""

    X_train: Any
    Y_train: Positions
    X_test: Any
    Y_test: Positions
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@lru_cache(maxsize=32)
def _split(
    source: Source, folds: int, repetition: int, fold: int, seed: int, features: str
) -> Fold:
    data = _loaded(source)
    splits = RepeatedKFold(n_splits=folds, n_repeats=repetition + 1, random_state=seed)
    train, test = list(splits.split(data.X))[repetition * folds + fold]
    preprocessor = data.preprocessor()
    if features == "table":
        preprocessor = FrameVectorizer(missing="median", missing_codes=data.missing_codes)
    preprocessor.fit(data.X.iloc[train])
    Y = data.Y.to_numpy(dtype=float)
    X_train = preprocessor.transform(data.X.iloc[train])
    X_test = preprocessor.transform(data.X.iloc[test])
    return Fold(X_train, Y[train], X_test, Y[test], train, test)


def prepare(ranker: Any, Y: Positions, unit: Unit) -> tuple[Any, Positions]:
    """The ranker, and the training rankings without the labels that the protocol removes."""
    ranker = clone(ranker)
    if not unit.missing:
        return ranker, Y
    if not reads_positions(ranker):
        return ranker, remove_labels(Y, unit.missing, random_state=unit.seed)
    if unit.protocols == ("published",):
        # A ranker without an encoder of its own gets the positions of "modified".
        encoder = getattr(ranker, "encoder", "modified")
        Y = encode(Y, encoder) if isinstance(encoder, str) else encoder.fit_transform(Y)
        ranker.set_params(positions="given")
    return ranker, remove_labels(Y, unit.missing, random_state=unit.seed)


def _decider(
    fitted: Any, methods: tuple[Method, ...], X: Any
) -> tuple[Callable[[Method], Positions], float]:
    """A function from a method to its ranks, and the CPU seconds that the methods share."""
    if hasattr(fitted, "predict_outputs"):
        layers = [method.ranker.layer for method in methods]
        intervals = any(
            (LAYERS[layer] if isinstance(layer, str) else layer).needs_intervals
            for layer in layers
        )
        outputs, seconds = timed(lambda: fitted.predict_outputs(X, intervals=intervals))
        return lambda method: fitted.decode(outputs, method.ranker.layer), seconds
    names = DECISIONS.get(type(fitted).__name__, ())

    def decide(method: Method) -> Positions:
        return fitted.set_params(**{n: getattr(method.ranker, n) for n in names}).predict(X)

    return decide, 0.0


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A call's result and its CPU seconds."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


_WARM: set[str] = set()


def _warm_up(kind: str, ranker: Any, X: Any, Y: Positions) -> None:
    """Load compiled kernels before times are taken, by a fit on few rows."""
    if kind in _WARM:
        return
    _WARM.add(kind)
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        fitted = clone(ranker).fit(X[:20], Y[:20, :3])
        fitted.predict(X[:5])
        if hasattr(fitted, "predict_outputs"):
            fitted.predict_outputs(X[:5], intervals=True)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
