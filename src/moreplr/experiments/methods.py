"""Methods by short names as in the paper, and a registry for your own.

A name is a base and options: ``"ST-RR"``, ``"ST-PI q=2"``, ``"Native-EPS epsilon=0.1
encoder=dense"``, ``"Chain-RR (published)"``, ``"RPC"``. The bases are

- ``ST``, ``Chain`` and ``Native`` with the layers ``RR`` (dense encoding, halves to even),
  ``PI`` (modified, q = 1) and ``EPS`` (modified, ε = 0.06: the published numbers tie up to
  twice their ε = 0.03). ``(published)`` puts −1 where a label is missing, as if that were a
  position: what the paper's tables show for Chain and Native on incomplete rankings.
  ``(expected)`` stretches the positions in incomplete rankings to where they would stand among
  all labels, see :func:`moreplr.encoders.encode`.
- ``RPC`` with the published ties, ``RPC (text)`` with those of the text, ``RPC (optimal)``
  decoded for the expected τ_X;
- ``RPC (Borda)`` and ``RPC (Copeland)`` by these counts, with ties, and the other rivals of
  :mod:`moreplr.rivals`: ``IBLR-M``, ``IBLR-PL``, ``LRT``, ``BoostLR``, ``LR-RF``;
- ``LightGBM pairs``, ``ExtraTrees pairs``, ``XGBoost rank`` and ``CatBoost``, modern baselines of
  :mod:`moreplr.experiments.baselines`; all but the second need ``moreplr[baselines]``;
- the library's other rankers: ``kNN``, ``Tree``, ``Forest``, ``BradleyTerry``, ``Boost``,
  ``Dummy``; ``Auto`` mixes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from moreplr import MORERanker, rankers, rivals
from moreplr.experiments._published import FilledBlanks
from moreplr.experiments.baselines import BASELINES
from moreplr.forest import ForestClassifier, ForestRegressor
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.regressors import Chain, Native, SingleTarget

COMPLETE = "complete"
PROTOCOLS = ("published", "honest")
FORESTS = ("scikit-learn", "moreplr")
# Parameters that only matter after the fit: rankers that differ in nothing else share a fit.
DECISIONS = {"MORERanker": ("layer",), "PairwiseRanker": ("aggregation", "objective", "ties")}
_MORE = re.compile(
    r"(?P<regressor>ST|Chain|Native)-(?P<layer>RR|PI|EPS)(?: \((?P<kind>published|expected)\))?"
)


@dataclass(frozen=True)
class Settings:
    """Settings that all methods of a plan share.

    Parameters
    ----------
    trees : int, optional
        Trees of each forest. By default 100 as published, and RankingForest's own default.
    forest : {"scikit-learn", "moreplr"}
        scikit-learn's forests as published, or this library's. The latter can learn from missing
        labels when one forest predicts all positions (Native).
    seed : int
    """

    trees: int | None = None
    forest: str = "scikit-learn"
    seed: int = 0

    def regressor(self) -> Any:
        """An unfitted forest of regression trees."""
        return self._forest(RandomForestRegressor, ForestRegressor)

    def classifier(self) -> Any:
        """An unfitted forest of classification trees."""
        return self._forest(RandomForestClassifier, ForestClassifier)

    def _forest(self, published: Any, own: Any) -> Any:
        kind = own if self.forest == "moreplr" else published
        trees = 100 if self.trees is None else self.trees
        return kind(n_estimators=trees, random_state=self.seed)


@dataclass(frozen=True)
class Method:
    """A name and the unfitted ranker that it stands for.

    `traits` holds the parts of the name, for curves and heat maps. `protocols` are those under
    which the method is run; a variant may equal another method under some of them.
    """

    name: str
    ranker: Any
    traits: dict[str, Any] = field(default_factory=dict, compare=False)
    protocols: tuple[str, ...] = (COMPLETE, *PROTOCOLS)

    @property
    def definition(self) -> str:
        """The ranker and all its parameters as text."""
        return definition(self.ranker)

    def fit_key(self, ties: bool = True) -> str:
        """Equal for methods that share a fit, on rankings with or without ties."""
        without = DECISIONS.get(type(self.ranker).__name__, ())
        # Without ties, all encodings are equal.
        if not ties and isinstance(getattr(self.ranker, "encoder", None), str):
            without = (*without, "encoder")
        return definition(self.ranker, without)


Factory = Callable[[Settings], Any]
_REGISTRY: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    """Add a method: a name, and a function from a plan's settings to the unfitted ranker.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> register("Ridge-RR", lambda settings: MORERanker(regressor=Ridge()))
    >>> make_method("Ridge-RR").ranker.regressor
    Ridge()
    """
    if _MORE.match(name):
        raise ValueError(f"{name!r} is the name of a built-in method")
    _REGISTRY[name] = factory


def is_code(name: str) -> bool:
    """Whether a name is code to import, such as ``"package.module:callable"``."""
    return ":" in name and name not in _REGISTRY


def make_method(name: str, settings: Settings | None = None) -> Method:
    """The method of a name; that of ``"package.module:callable"`` is called with the settings.

    Examples
    --------
    >>> make_method("ST-PI q=2").ranker.layer
    PredictionInterval(q=2.0)
    """
    settings = settings or Settings()
    if name in _REGISTRY:
        return Method(name, _REGISTRY[name](settings))
    if name in BASELINES:
        return Method(name, BASELINES[name](settings.seed))
    if is_code(name):
        return Method(name, _import(name)(settings))
    match = _MORE.match(name)
    if match is None:
        known = ", ".join([*_REGISTRY, *BASELINES, "ST-RR", "Chain-PI", "Native-EPS", "…"])
        raise ValueError(f"no method {name!r}; known are {known}, and 'module:callable'")
    options = _options(name, name[match.end() :])
    return _make_more(name, match, options, settings)


def _make_more(
    name: str, match: re.Match[str], options: dict[str, str], settings: Settings
) -> Method:
    layer_name = match["layer"]
    traits: dict[str, Any] = {"regressor": match["regressor"], "layer": layer_name}
    traits["encoder"] = options.pop("encoder", "dense" if layer_name == "RR" else "modified")
    layer: Any = RoundRank(halves="even")
    if layer_name == "PI":
        traits["q"] = float(options.pop("q", 1))
        layer = PredictionInterval(traits["q"])
    elif layer_name == "EPS":
        traits["epsilon"] = float(options.pop("epsilon", 0.06))
        layer = EpsilonCloseness(traits["epsilon"])
    if options:
        raise ValueError(f"method {name!r}: {layer_name} has no option {', '.join(options)}")
    base = settings.regressor()
    regressor = {
        "ST": SingleTarget(base),
        "Chain": Chain(base, order="published"),
        "Native": Native(base),
    }[match["regressor"]]
    ranker = MORERanker(traits["encoder"], regressor, layer)
    if match["kind"] == "published":
        filled = ranker.set_params(regressor=FilledBlanks(regressor))
        return Method(name, filled, traits, ("published",))
    if match["kind"] == "expected":
        return Method(name, ranker.set_params(positions="expected"), traits, ("honest",))
    return Method(name, ranker, traits)


def _options(name: str, text: str) -> dict[str, str]:
    options = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if not equals or key not in ("q", "epsilon", "encoder"):
            raise ValueError(f"method {name!r}: {word!r} is not q=…, epsilon=… or encoder=…")
        options[key] = value
    return options


def _import(path: str) -> Factory:
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"method {path!r} can't be imported: {error}") from error


def definition(value: Any, without: tuple[str, ...] = ()) -> str:
    """An estimator with all its parameters, nested ones too, as text without addresses."""
    if not hasattr(value, "get_params") or isinstance(value, type):
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    parameters = value.get_params(deep=False)
    inside = (f"{key}={definition(parameters[key])}" for key in parameters if key not in without)
    return f"{type(value).__name__}({', '.join(inside)})"


def _rpc(**decision: Any) -> Factory:
    return lambda s: rankers.PairwiseRanker(s.classifier(), random_state=s.seed, **decision)


_REGISTRY.update(
    {
        "RPC": _rpc(aggregation="auto", ties="published"),
        "RPC (text)": _rpc(aggregation="bpa_lia_mp2", objective="l1"),
        "RPC (optimal)": _rpc(aggregation="auto"),
        "RPC (Borda)": _rpc(aggregation="borda", objective="l1"),
        "RPC (Copeland)": _rpc(aggregation="copeland", objective="l1"),
        "IBLR-M": lambda s: rivals.MallowsNeighborsRanker(),
        "IBLR-PL": lambda s: rivals.PlackettLuceNeighborsRanker(),
        "LRT": lambda s: rivals.LabelRankingTree(),
        "BoostLR": lambda s: rivals.BoostLR(random_state=s.seed),
        "LR-RF": lambda s: rivals.LabelRankingForest(s.trees or 50, random_state=s.seed),
        "kNN": lambda s: rankers.NearestNeighborsRanker(),
        "Tree": lambda s: rankers.RankingTree(random_state=s.seed),
        "Forest": lambda s: rankers.RankingForest(
            s.trees or rankers.RankingForest().n_estimators, random_state=s.seed
        ),
        "Auto": lambda s: rankers.AutoRanker(random_state=s.seed),
        "Dummy": lambda s: rankers.DummyRanker(),
        "BradleyTerry": lambda s: rankers.BradleyTerryRanker(),
        "Boost": lambda s: rankers.RankingBoost(random_state=s.seed),
    }
)
