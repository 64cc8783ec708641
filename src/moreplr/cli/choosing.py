"""Rankers by short names, with parameters from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click

import moreplr
from moreplr.cli.declaring import Options, together
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


jobs_option = click.option(
    "--jobs",
    default=-1,
    metavar="N",
    show_default="one a core",
    help="threads; the result does not depend on it",
)
run_options = together(
    click.option(
        "--random-state", default=0, metavar="SEED", help="the same seed gives the same result"
    ),
    jobs_option,
)
ranker_options = together(
    click.option("--ranker", default="forest", metavar="NAME", help=", ".join(RANKERS)),
    click.option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help="a parameter of the ranker, also of its parts (classifier__n_estimators=50); may be "
        "given several times",
    ),
    run_options,
)


def make_ranker(spec: str, changes: Sequence[str] = (), random_state: int | None = 0) -> Any:
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
    for key, value in parse_changes([*given, *changes]).items():
        _set(ranker, key, value, name)
    return ranker


def ranker_from(options: Options, spec: str, changes: Sequence[str] = ()) -> Any:
    """A ranker by its short name, with the seed and the threads of the options."""
    return use_jobs(make_ranker(spec, changes, options.random_state), options.jobs)


def use_jobs(model: Any, jobs: int | None) -> Any:
    """Let a ranker or pipeline and all its parts work with this many threads."""
    names = [key for key in model.get_params() if key == "n_jobs" or key.endswith("__n_jobs")]
    model.set_params(**dict.fromkeys(names, jobs))
    return model


def _set(estimator: Any, key: str, value: Any, shown: str) -> None:
    """Set a parameter; a part given by its name, or by default, is made an object first."""
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
        # The others get the seed of what holds them at `fit`; a regressor object does not.
        takes_seed = part not in ("base", "final", "classifier")
        if takes_seed and "random_state" in inner.get_params(deep=False):
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
