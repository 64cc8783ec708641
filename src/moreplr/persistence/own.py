"""Specs of this library's own classes.

Arrays that kernels read get their types and shapes checked here, and their contents in
:mod:`moreplr.forest.validation`: kernels do not look at bounds.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from pandas import DataFrame
from sklearn.pipeline import Pipeline

from moreplr import rankers
from moreplr.aggregation.decoding import METHODS, OBJECTIVES
from moreplr.base import BaseRanker, PairRanker, Pairs, PositionRegressor
from moreplr.encoders import RankEncoder
from moreplr.forest import ForestBatch, ForestClassifier, ForestRegressor
from moreplr.forest.batching import Words
from moreplr.forest.binning import Binner
from moreplr.forest.trees import Trees
from moreplr.forest.validation import check_batch, check_binner, check_forest, check_trees
from moreplr.layers import LAYERS, Layer
from moreplr.oblique import ObliqueFeatures
from moreplr.persistence.own_regressors import REGRESSOR_SPECS, is_fitted_model, learner
from moreplr.persistence.registry import Spec
from moreplr.persistence.schema import (
    JOBS,
    Check,
    anything,
    array,
    either,
    flag,
    instance,
    integer,
    items,
    mapping,
    number,
    optional,
    record,
    rows,
    text,
)
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pair_models import PairClassifiers, PairForests
from moreplr.rankers.ranking_forest.prediction_sets import STEPS
from moreplr.rankers.ranking_forest.votes import label_of
from moreplr.regressors import REGRESSORS
from moreplr.regressors._fitting import last_step
from moreplr.vectorizing import FrameVectorizer, TextEncoder
from moreplr.vectorizing._frame import KINDS

NAMED_TUPLES = {"moreplr.Pairs": Pairs}

_LABELS = array("O", "k")
_PAIRS = record(array("f8", "k", "k"), array("f8", "k", "k"), kinds=[Pairs])
_DECODING = {"aggregation": optional(text(*METHODS)), "objective": text(*OBJECTIVES)}
_RANKER = {"n_features_in_": integer(1, size="p"), "labels_": _LABELS}
_FOREST = {
    "n_estimators": integer(1),
    "bootstrap": flag,
    "max_samples": optional(number),
    "max_bins": integer(2, 255),
    "n_features_in_": integer(1, size="p"),
    "binner_": instance(Binner),
    "seeds_": rows("u8", "trees"),
}
_SINGLE_FOREST = _FOREST | {
    "codes_": rows("u1", "n", "p"),
    "offset_": array("f8", "t"),
    "sample_weight_": optional(array("f4", "n")),
    "trees_": instance(Trees),
}


def _like_defaults(cls: type) -> dict[str, Check]:
    """Parameters that are texts or numbers, as their defaults are."""
    defaults = {name: one.default for name, one in signature(cls).parameters.items()}
    return {name: text() if isinstance(one, str) else number for name, one in defaults.items()}


def _need(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_regressor(forest: Any) -> None:
    check_forest(forest)
    _need(not forest._flat or forest.n_outputs_ == 1, "a flat target can't be several")


def _check_more(ranker: Any) -> None:
    model = ranker.regressor_
    is_fitted_model(model)
    _need(model.n_outputs_ == len(ranker.labels_), "regressor_ must have an output per label")


def _check_pairwise(ranker: Any) -> None:
    k, calibration = len(ranker.labels_), ranker.calibration_
    _need(calibration is None or hasattr(calibration, "powers_"), "calibration_ is not fitted")
    n_pairs, model = k * (k - 1) // 2, ranker.model_
    if isinstance(model, PairForests):
        batch = model.batch
        _need(batch.n_forests_ == len(model.learned) == n_pairs, "model_ must have all pairs")
        _need(batch.n_classes_ == 3, "model_ must have three classes")
        return
    _need(len(model.models) == len(model.classes) == n_pairs, "model_ must have all pairs")
    for classes, own in zip(model.classes, model.models, strict=True):
        if own is None:
            _need(len(classes) < 2, "model_ lacks a classifier of a pair with a choice")
            continue
        is_fitted_model(own)
        _need(hasattr(own, "predict_proba"), "model_ needs classifiers with probabilities")
        _need(np.array_equal(own.classes_, np.arange(len(classes))), "model_ has other classes")


def _check_ranking_forest(ranker: Any) -> None:
    ranker._check_parameters()  # predictions depend on them, too
    (n, k), p, oblique = ranker.rankings_.shape, ranker.n_features_in_, ranker.oblique_
    n_forests, n_features = len(ranker.forests_), p
    if oblique is not None:
        _need(len(oblique.weights_) == p, "oblique_ must have a weight for each feature")
        n_features += oblique.weights_.shape[1]
    _need(n_forests in (1, k, k + 1), "forests_ must be one, or one for each label, or both")
    for place, forest in enumerate(ranker.forests_):
        is_fitted_model(forest)
        _need(forest.codes_.shape == (n, n_features), "forests_ must have the rows of rankings_")
        targets = k if label_of(place, n_forests, k) is None else 1
        _need(forest.n_outputs_ == targets, "forests_ must have a target for each label")
    _need(ranker.places_.max(initial=0) <= 2 * k, "places_ has more places than labels allow")


def _check_tree(ranker: Any) -> None:
    k, forest = len(ranker.labels_), ranker.forest_
    is_fitted_model(forest)
    _need(forest.n_outputs_ == max(1, k * (k - 1)), "forest_ must have two targets for each pair")
    _need(len(ranker._never) == k * (k - 1) // 2, "_never must have an entry for each pair")


def _check_boost(ranker: Any) -> None:
    p, n_outputs = ranker.n_features_in_, len(ranker.base_scores_)
    check_binner(ranker.binner_, p)
    _need(n_outputs == 2 * len(ranker.labels_), "base_scores_ must have two for each label")
    for trees in ranker.members_:
        check_trees(trees, p, n_rows=0)
        some = trees.values.shape[1] in (n_outputs, n_outputs // 2)
        _need(some, "members_ must have leaf values of all utilities, and of all tie tendencies")


def _check_neighbors(ranker: Any) -> None:
    index = ranker.index_
    is_fitted_model(index)
    _need(index.n_samples_fit_ == len(ranker.rankings_), "index_ must have the rows of rankings_")


def _check_auto(ranker: Any) -> None:
    k, p = len(ranker.labels_), ranker.n_features_in_
    _need(ranker.members_, "members_ is empty")
    for each in (ranker.weights_, ranker.calibrations_):
        _need(list(ranker.members_) == list(each), "each of members_ needs weight and calibration")
    for calibration in ranker.calibrations_.values():
        _need(hasattr(calibration, "powers_"), "calibrations_ must be fitted")
    for model in ranker.members_.values():
        is_fitted_model(model)
        last = last_step(model)
        _need(isinstance(last, PairRanker), "members_ must be rankers with pairs")
        _need(len(last.labels_) == k, "members_ must have the same labels")
        _need(model.n_features_in_ == p, "members_ must have the same features")


def _check_text_encoder(encoder: Any) -> None:
    _need(len(encoder.weights_) == encoder.n_hashes, "weights_ must have a weight for each hash")


def _check_vectorizer(vectorizer: Any) -> None:
    kinds = vectorizer.kinds_
    _need(len(kinds) == vectorizer.n_features_in_, "kinds_ must have all columns")
    for kind, learned in (
        ("date", vectorizer.steps_),
        ("category", vectorizer.steps_),
        ("category", vectorizer.known_),
        ("text", vectorizer.texts_),
    ):
        names = {name for name, found in kinds.items() if found == kind}
        _need(names <= set(learned), f"lacks what fit learned of the columns of {kind}")
    for steps in [*vectorizer.steps_.values(), vectorizer.texts_.values()]:
        for one in steps:
            _need(hasattr(type(one), "transform"), "must hold transformers")


def _check_table(ranker: Any) -> None:
    is_fitted_model(ranker.ranker_)
    _need(len(ranker.ranker_.labels_) == len(ranker.labels_), "ranker_ must have the same labels")
    if ranker.vectorizer_ is not None:
        is_fitted_model(ranker.vectorizer_)
        _need(hasattr(ranker.vectorizer_, "transform"), "vectorizer_ must transform")


_PARTS = [
    Spec("moreplr.RankEncoder", RankEncoder, {"method": text(), "positions": text()}),
    *(Spec(f"moreplr.{cls.__name__}", cls, _like_defaults(cls)) for cls in LAYERS.values()),
    Spec(
        "moreplr.TextEncoder",
        TextEncoder,
        {
            "n_hashes": integer(2, 2**31 - 1),
            "weights_": array("f8", "hashes"),
            "components_": array("f8", None, "hashes"),
        },
        also=_check_text_encoder,
    ),
    Spec(
        "moreplr.FrameVectorizer",
        FrameVectorizer,
        {
            "missing": text("keep", "median"),
            "n_features_in_": integer(1, size="p"),
            "kinds_": mapping(text(), text(*KINDS)),
            "steps_": mapping(text(), items(anything)),
            "texts_": mapping(text(), anything),
            "known_": mapping(text(), items(text())),
            "names_": items(text(), "outputs"),
            "origin_": array("i8", "outputs", least=0, below="p"),
            "center_": array("f8", "outputs"),
            "scale_": array("f8", "outputs"),
            "fill_": array("f8", "outputs"),
        },
        also=_check_vectorizer,
    ),
    Spec("moreplr.PairCalibration", PairCalibration, {"powers_": array("f8", 3)}),
    Spec(
        "moreplr.ObliqueFeatures",
        ObliqueFeatures,
        {
            "n_features_in_": integer(1, size="p"),
            "mean_": array("f8", "p"),
            "scale_": array("f8", "p"),
            "weights_": array("f8", "p", "oblique"),
            "label_numbers_": array("i8", "oblique", least=0),
        },
    ),
    Spec(
        "moreplr.PairForests",
        PairForests,
        {"batch": instance(ForestBatch), "learned": array("b", "pairs")},
    ),
    Spec(
        "moreplr.PairClassifiers",
        PairClassifiers,
        {
            "classes": items(array("i", None, least=0, below=3), "pairs"),
            "models": items(anything, "pairs"),
            "n_jobs": JOBS,
        },
    ),
]

_FORESTS = [
    Spec(
        "moreplr.Binner",
        Binner,
        {"max_bins": integer(2, 255), "cuts_": array("f8", None), "offsets_": array("i8", None)},
    ),
    Spec(
        "moreplr.Trees",
        Trees,
        {
            "offsets": rows("i8", None),
            "feature": rows("u2", "nodes"),
            "cut": rows("u1", "nodes"),
            "missing_left": rows("u1", "nodes"),
            "right": rows("i4", "nodes"),
            "start": rows("i4", "nodes"),
            "leaf_offsets": rows("i8", None),
            "values": rows("f4", None, None),
            "perm_offsets": rows("i8", None),
            "perm": rows("i4", "drawn"),
            "perm_count": rows("u1", "drawn"),
            "importance": array("f8", None, None),
        },
    ),
    Spec(
        "moreplr.Words",
        Words,
        {
            "words": rows("u8", None),
            "offsets": rows("i8", "parts"),
            "values": rows("f4", None, None),
            "value_offsets": rows("i8", "parts"),
        },
    ),
    Spec(
        "moreplr.ForestRegressor",
        ForestRegressor,
        _SINGLE_FOREST | {"n_outputs_": integer(1, size="t"), "_flat": flag},
        also=_check_regressor,
    ),
    Spec(
        "moreplr.ForestClassifier",
        ForestClassifier,
        _SINGLE_FOREST | {"classes_": array("b i u f U O", "t")},
        also=check_forest,
    ),
    Spec(
        "moreplr.ForestBatch",
        ForestBatch,
        _FOREST
        | {
            "low_": array("f8", "forests"),
            "n_classes_": integer(0, 3),
            "n_forests_": integer(1, size="forests"),
            "words_": instance(Words),
        },
        also=check_batch,
    ),
]

_RANKERS = [
    Spec(
        "moreplr.MORERanker",
        rankers.MORERanker,
        _RANKER
        | {
            "layer": either(text(*LAYERS), instance(Layer)),
            "regressor": either(text(*REGRESSORS), learner),
            "regressor_": instance(PositionRegressor),
        },
        also=_check_more,
    ),
    Spec(
        "moreplr.PairwiseRanker",
        rankers.PairwiseRanker,
        _RANKER
        | _DECODING
        | {
            "ties": text("probability", "published"),
            "model_": instance(PairForests, PairClassifiers),
            "calibration_": optional(instance(PairCalibration)),
        },
        also=_check_pairwise,
    ),
    Spec(
        "moreplr.BradleyTerryRanker",
        rankers.BradleyTerryRanker,
        _RANKER
        | _DECODING
        | {
            "coef_": array("f8", "k", "p"),
            "intercept_": array("f8", "k"),
            "ties_": array("f8", "k"),
            "mean_": array("f8", "p"),
            "alpha_": number,
            "scores_": mapping(number, number),
        },
    ),
    Spec(
        "moreplr.RankingForest",
        rankers.RankingForest,
        _RANKER
        | _DECODING
        | {
            "consensus_": _PAIRS,
            "ties_": flag,
            "min_samples_": integer(1),
            "scores_": mapping(integer(1), number),
            "rankings_": array("f8", "n", "k"),
            "places_": array("i2", "n", "k", least=-1),
            "row_numbers_": array("i", "n"),
            "forests_": items(instance(ForestRegressor)),
            "oblique_": optional(instance(ObliqueFeatures)),
        },
        also=_check_ranking_forest,
        dump=rankers.RankingForest.__getstate__,
    ),
    Spec(
        "moreplr.RankingBoost",
        rankers.RankingBoost,
        _RANKER
        | _DECODING
        | {
            "binner_": instance(Binner),
            "members_": items(instance(Trees)),
            "base_scores_": array("f8", "outputs"),
            "oof_scores_": array("f8", "n", "outputs"),
            "held_out_loss_": array("f8", "steps"),
        },
        also=_check_boost,
    ),
    Spec(
        "moreplr.NearestNeighborsRanker",
        rankers.NearestNeighborsRanker,
        _RANKER
        | _DECODING
        | {
            "weights": text("distance", "uniform"),
            "metric": text(),
            "consensus_": _PAIRS,
            "rankings_": array("f8", "n", "k"),
            "sample_weight_": optional(array("f8", "n")),
            "index_": instance(object),
            "n_neighbors_": integer(1),
            "scores_": mapping(integer(1), number),
        },
        also=_check_neighbors,
    ),
    Spec(
        "moreplr.RankingTree",
        rankers.RankingTree,
        _RANKER | _DECODING | {"_never": array("b", None), "forest_": instance(ForestRegressor)},
        also=_check_tree,
    ),
    Spec(
        "moreplr.TableRanker",
        rankers.TableRanker,
        _RANKER | {"ranker_": instance(BaseRanker), "vectorizer_": anything},
        also=_check_table,
    ),
    Spec("moreplr.DummyRanker", rankers.DummyRanker, _RANKER | _DECODING | {"pairs_": _PAIRS}),
    Spec(
        "moreplr.AutoRanker",
        rankers.AutoRanker,
        _RANKER
        | _DECODING
        | {
            "members_": mapping(text(), instance(PairRanker, Pipeline)),
            "weights_": mapping(text(), number),
            "calibrations_": mapping(text(), instance(PairCalibration)),
            "leaderboard_": instance(DataFrame),
            "left_out_": mapping(text(), text()),
            "summary_": text(),
            "tau_x_": number,
            "log_loss_": number,
            "ties_": flag,
            "risk_": array("f8", STEPS + 2),
        },
        also=_check_auto,
    ),
]

OWN = [*_PARTS, *_FORESTS, *REGRESSOR_SPECS, *_RANKERS]
"""All specs of this library's classes."""
