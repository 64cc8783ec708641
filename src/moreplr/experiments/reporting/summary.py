"""The numbers of a report: means over folds, tests over data sets, and the paper's values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from moreplr._lazy import lazy
from moreplr.datasets._paper import entries
from moreplr.experiments.archive import opened
from moreplr.experiments.methods import COMPLETE, is_code, make_method
from moreplr.experiments.reporting.leaderboard import with_leaderboard
from moreplr.experiments.statistics import FriedmanHolm, friedman_holm
from moreplr.experiments.store import Stores
from moreplr.experiments.units import MEASURES
from moreplr.rankings._cells import count

CELL = ["problem", "dataset", "missing", "protocol", "method"]
PROBLEMS = {
    "lr": "label ranking",
    "plr": "partial label ranking",
    "made_lr": "made label rankings",
    "made_plr": "made partial label rankings",
    "selection": "algorithm selection",
    "crops": "crop trials",
    "texts": "language models",
    "field": "field data",
    "both": "all problems",
}
# Field data are reported by their origin, which is the beginning of their names.
_GROUPS = {
    "lr": "made_lr",
    "plr": "made_plr",
    "aslib": "selection",
    "tricot": "crops",
    "llm": "texts",
}
# Means are compared, ranked and printed at this precision, as the paper's are.
DIGITS = 3


class Condition(NamedTuple):
    """A missing share and the protocol by which labels were taken away."""

    missing: float
    protocol: str

    def __str__(self) -> str:
        if self.protocol == COMPLETE:
            return "rankings as they are"
        return f"{percent(self.missing)} missing, {self.protocol} protocol"

    @property
    def short(self) -> str:
        """For the heads of tables."""
        if self.protocol == COMPLETE:
            return percent(self.missing)
        return f"{percent(self.missing)} {self.protocol}"


def _grouped(problems: pd.Series, datasets: pd.Series) -> list[str]:
    """The problem of each result; for field data, their origin."""
    groups = [_GROUPS.get(name.partition("_")[0], "field") for name in datasets]
    return [g if p == "field" else p for p, g in zip(problems, groups, strict=True)]


def percent(share: float) -> str:
    """A share for people.

    Examples
    --------
    >>> percent(0.3)
    '30\\xa0%'
    """
    return f"{100 * share:g}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True)
class Block:
    """Scores of some methods on some data sets under one condition, and the tests on them."""

    condition: Condition
    problem: str
    scores: pd.DataFrame
    tests: FriedmanHolm

    @property
    def title(self) -> str:
        """The problem, the condition and the number of data sets."""
        n = len(self.scores)
        return f"{PROBLEMS[self.problem]}, {self.condition} ({count(n, 'data set')})"


class Summary:
    """All numbers of a report.

    Parameters
    ----------
    results : frame as :func:`moreplr.experiments.results` gives it
    identities : frame of what names stand for: kind, name and value

    Attributes
    ----------
    stored : the results as they are in the store
    results : the same, with field data split by their origin
    """

    def __init__(self, results: pd.DataFrame, identities: pd.DataFrame) -> None:
        if results.empty:
            raise ValueError("the store holds no results yet")
        self.stored = results
        self.results = results.assign(problem=_grouped(results["problem"], results["dataset"]))
        self.identities = identities

    @classmethod
    def of(cls, store: Stores, leaderboard: Iterable[Path] = ()) -> Summary:
        """Read a store, or several, and scores of other authors."""
        with opened(store) as found:
            results, identities = found.frame(), found.identities()
        for path in leaderboard:
            results = with_leaderboard(results, path)
        return cls(results, identities)

    @lazy
    def cells(self) -> pd.DataFrame:
        """Mean and standard deviation over the folds for each data set, condition and method."""
        ok = self.results[self.results["status"] == "ok"]
        ok = ok.assign(seconds=ok["fit_seconds"] + ok["predict_seconds"])
        cells = ok.groupby(CELL).agg(
            tau_x=("tau_x", "mean"),
            std=("tau_x", "std"),
            folds=("tau_x", "size"),
            seconds=("seconds", "mean"),
            fit_seconds=("fit_seconds", "mean"),
            predict_seconds=("predict_seconds", "mean"),
            buckets=("buckets", "mean"),
            **{name: (name, "mean") for name in MEASURES},
        )
        cells["tau_x"] = cells["tau_x"].round(DIGITS)
        cells = cells.join(self._published(cells.index))
        cells["difference"] = (cells["tau_x"] - cells["paper"]).round(DIGITS)
        return cells

    @lazy
    def traits(self) -> pd.DataFrame:
        """The parts of the names of built-in methods, indexed by method."""
        found: dict[str, dict[str, Any]] = {}
        for name in self.methods:
            if is_code(name):  # a report runs no code that a file names
                found[name] = {}
                continue
            try:
                found[name] = make_method(name).traits
            except ValueError:  # a method that is not registered here
                found[name] = {}
        columns = ["regressor", "layer", "encoder", "q", "epsilon"]
        return pd.DataFrame(list(found.values()), index=list(found), columns=columns)

    @lazy
    def methods(self) -> list[str]:
        """All methods, those of the paper first."""
        names = self.results["method"].unique()
        first = {name: place for place, name in enumerate(published()["method"].unique())}
        return sorted(names, key=lambda name: (_is_sweep(name), first.get(name, 99), name))

    @lazy
    def compared(self) -> list[str]:
        """Methods for the tables: without points of sweeps, unless there are no others."""
        names = [name for name in self.methods if not _is_sweep(name)]
        return names if len(names) > 1 else self.methods

    @lazy
    def conditions(self) -> list[Condition]:
        """All conditions, rankings as they are first."""
        pairs = self.results[["missing", "protocol"]].drop_duplicates()
        found = [Condition(*pair) for pair in pairs.itertuples(index=False)]
        return sorted(found, key=lambda c: (c.missing, c.protocol != "published"))

    @lazy
    def failures(self) -> pd.DataFrame:
        """Errors and timeouts, and how many folds have them."""
        failed = self.results[self.results["status"] != "ok"]
        columns = ["problem", "dataset", "method", "missing", "protocol", "status", "message"]
        return failed.groupby(columns).size().rename("folds").reset_index()

    def under(self, condition: Condition) -> pd.DataFrame:
        """The cells under a condition; `best` marks the best compared method of a data set."""
        cells = self.cells.xs(condition, level=("missing", "protocol"))
        compared = cells["tau_x"].where(cells.index.isin(self.compared, level="method"))
        most = compared.groupby(level=["problem", "dataset"]).transform("max")
        return cells.assign(best=compared == most)

    def scores(self, condition: Condition, problem: str = "both") -> pd.DataFrame:
        """Data sets × compared methods; NaN where there is no result."""
        wide = self.across_methods(self.under(condition)["tau_x"])
        return wide if problem == "both" else wide[wide.index.get_level_values(0) == problem]

    def across_methods(self, cells: pd.Series) -> pd.DataFrame:
        """Cells with a row for each data set and a column for each compared method."""
        wide = cells.unstack("method")
        return wide[[name for name in self.compared if name in wide]]

    def blocks(self, condition: Condition) -> Iterator[Block]:
        """Tests for each problem; two of them if some methods lack data sets.

        One is of the methods with the most data sets, the other of as many methods as possible
        that have at least half of these data sets in common.
        """
        present = list(dict.fromkeys(self.scores(condition).index.get_level_values("problem")))
        for problem in [*present, "both"] if len(present) > 1 else present:
            scores = self.scores(condition, problem)
            counts = scores.notna().sum()
            found: dict[int, pd.DataFrame] = {}
            for least in sorted(counts.unique(), reverse=True):
                chosen = scores.loc[:, counts >= least].dropna()
                if len(chosen) >= max(2, counts.max() / 2) and chosen.shape[1] >= 2:
                    found[chosen.shape[1]] = chosen
            for methods in sorted({min(found), max(found)} if found else ()):
                yield Block(condition, problem, found[methods], friedman_holm(found[methods]))

    def main_blocks(self, condition: Condition) -> Iterator[Block]:
        """One block for each problem: that of the most methods."""
        yield from {block.problem: block for block in self.blocks(condition)}.values()

    def _published(self, index: pd.Index) -> pd.DataFrame:
        """The paper's mean and deviation for cells of the same data and method."""
        names = self.identities[self.identities["kind"] == "data set"]
        fingerprints = names.set_index("name")["value"]
        same = {
            place
            for place, entry in entries().items()
            if fingerprints.get("/".join(place)) == entry.fingerprint
        }
        keys = []
        for problem, dataset, missing, protocol, method in index:
            fits = (problem, dataset) in same and protocol in (COMPLETE, "published")
            name = paper_name(method, missing) if fits else None
            keys.append((problem, dataset, round(100 * missing), name))
        paper = published().set_index(["problem", "dataset", "missing", "method"])
        found = paper.reindex(pd.MultiIndex.from_tuples(keys))
        return found.set_axis(index).set_axis(["paper", "paper_std"], axis=1)


@lru_cache
def published() -> pd.DataFrame:
    """The paper's accuracy tables (appendix C), as printed; do not change it.

    Thies, Alfaro and Bengs: MORE-PLR, multi-output regression employed for partial label
    ranking.
    """
    with files("moreplr.experiments").joinpath("published.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def paper_name(method: str, missing: float) -> str | None:
    """The paper's name of a method: its Chain and Native filled blanks with −1.

    Examples
    --------
    >>> paper_name("Native-RR", 0.0), paper_name("Native-RR", 0.3)
    ('Native-RR', None)
    >>> paper_name("Native-RR (published)", 0.3), paper_name("ST-RR", 0.3)
    ('Native-RR', 'ST-RR')
    """
    base = method.removesuffix(" (published)")
    filled = base != method
    wants_filled = missing > 0 and base.startswith(("Chain", "Native"))
    return base if filled == wants_filled else None


def _is_sweep(name: str) -> bool:
    return "=" in name
