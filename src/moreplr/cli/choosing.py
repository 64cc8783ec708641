"""Rankers by short names, with parameters from the command line."""

from __future__ import annotations

import argparse
import re
from typing import Any

import moreplr
from moreplr.cli.values import parse_changes

RANKERS = {
    "forest": "RankingForest",
    "auto": "AutoRanker",
    "boost": "RankingBoost",
    "linear": "BradleyTerryRanker",
    "more": "MORERanker",
    "pairwise": "PairwiseRanker",
    "neighbors": "NearestNeighborsRanker",
    "tree": "RankingTree",
    "dummy": "DummyRanker",
}
# Rankers of other authors, in moreplr.rivals.
RIVALS = {
    "iblr-m": "MallowsNeighborsRanker",
    "iblr-pl": "PlackettLuceNeighborsRanker",
    "lrt": "LabelRankingTree",
    "boostlr": "BoostLR",
    "lr-rf": "LabelRankingForest",
}
_COMMA = re.compile(r",(?=\s*[A-Za-z_]\w*=)")


def add_ranker_options(parser: argparse.ArgumentParser) -> None:
    """Add --ranker and --set, and what comes with them."""
    parser.add_argument(
        "--ranker",
        default="forest",
        metavar="NAME",
        help=f"{', '.join(RANKERS)} (default: forest)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the ranker, also of its parts (classifier__n_estimators=50); may be "
        "given several times",
    )
    add_run_options(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add --random-state and --jobs."""
    parser.add_argument(
        "--random-state",
        type=int,
        default=0,
        metavar="SEED",
        help="the same seed gives the same result (default: 0)",
    )
    add_jobs_option(parser)


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """Add --jobs."""
    parser.add_argument(
        "--jobs",
        type=int,
        default=-1,
        metavar="N",
        help="threads; the result does not depend on it (default: one a core)",
    )


def make_ranker(spec: str, changes: list[str] | None = None, random_state: int | None = 0) -> Any:
    """A ranker by its short name, such as ``forest`` or ``forest:n_estimators=50,min_samples=4``.

    Examples
    --------
    >>> make_ranker("tree:max_depth=3", ["min_samples_leaf=2"])
    RankingTree(max_depth=3, min_samples_leaf=2, random_state=0)
    >>> make_ranker("more", ["regressor__base__n_estimators=20"]).regressor
    SingleTarget(base=ForestRegressor(n_estimators=20), random_state=0)
    """
    name, _, own = spec.partition(":")
    if name not in RANKERS | RIVALS:
        known = ", ".join(RANKERS | RIVALS)
        raise ValueError(f"there is no ranker {name!r}; choose from {known}")
    home, names = (moreplr, RANKERS) if name in RANKERS else (moreplr.rivals, RIVALS)
    ranker = getattr(home, names[name])()
    if "random_state" in ranker.get_params(deep=False):
        ranker.set_params(random_state=random_state)
    given = [text for text in _COMMA.split(own) if text]
    for key, value in parse_changes([*given, *(changes or [])]).items():
        _set(ranker, key, value, name)
    return ranker


def use_jobs(model: Any, jobs: int | None) -> Any:
    """Let a ranker or pipeline and all its parts work with this many threads."""
    names = [key for key in model.get_params() if key == "n_jobs" or key.endswith("__n_jobs")]
    model.set_params(**dict.fromkeys(names, jobs))
    return model


def _set(estimator: Any, key: str, value: Any, shown: str) -> None:
    """Set a parameter; a part that is there by name, or by default, is made an object first."""
    part, nested, rest = key.partition("__")
    known = estimator.get_params(deep=False)
    if part not in known:
        names = ", ".join(name for name in known if name != "n_jobs")
        raise ValueError(f"{shown} has no parameter {part!r}; it has {names}")
    if not nested:
        estimator.set_params(**{part: value})
        return
    inner = known[part]
    if not hasattr(inner, "get_params"):
        inner = _make_part(part, inner)
        if inner is None:
            raise ValueError(f"{part!r} of {shown} has no parameters of its own: {key!r}")
        if "random_state" in inner.get_params(deep=False) and not _passes_seed(part):
            inner.set_params(random_state=known.get("random_state"))
        estimator.set_params(**{part: inner})
    _set(inner, rest, value, f"{part} of {shown}")


def _make_part(part: str, named: Any) -> Any:
    from moreplr.encoders import METHODS, RankEncoder
    from moreplr.forest import ForestClassifier, ForestRegressor
    from moreplr.layers import LAYERS
    from moreplr.regressors import REGRESSORS, SingleTarget

    if named is None:
        defaults: dict[str, Any] = {
            "base": ForestRegressor,
            "final": ForestRegressor,
            "classifier": ForestClassifier,
            "regressor": SingleTarget,
        }
        return defaults[part]() if part in defaults else None
    if part == "encoder" and named in METHODS:
        return RankEncoder(named)
    registry: Any = {"regressor": REGRESSORS, "layer": LAYERS}.get(part, {})
    return registry[named]() if named in registry else None


def _passes_seed(part: str) -> bool:
    # These get the seed of what holds them at `fit`; a regressor object does not.
    return part in ("base", "final", "classifier")
