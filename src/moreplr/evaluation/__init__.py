"""How well rankings of a table can be predicted: cross-validation, in words and as a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from moreplr._types import Array
from moreplr.datasets import Dataset
from moreplr.evaluation._unseen import Unseen
from moreplr.evaluation._words import CONSENSUS, summary
from moreplr.model_selection import cross_validate
from moreplr.rankers.dummy import DummyRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.table import TableRanker, vectorizer_for

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True)
class Evaluation:
    """What cross-validation of rankers on a data set has shown; printed, it says so in lines.

    Attributes
    ----------
    data : the data set
    scores : DataFrame
        A row for each ranker and split, see :func:`moreplr.model_selection.cross_validate`. The
        first ranker is the one that is judged.
    unseen : what the first ranker says of rows that it has not seen, for :meth:`report`
    level : float, the confidence of intervals
    """

    data: Dataset
    scores: pd.DataFrame
    unseen: Unseen
    level: float = 0.95

    def __str__(self) -> str:
        return "\n".join(summary(self.data, self.scores, self.level))

    def report(self, path: str | Path, title: str | None = None) -> Path:
        """Write a page for people, one file that needs no network.

        It shows what was read, how good rankers are beside the consensus, which labels come
        before which, whether probabilities come true, which features count, and some predictions
        with reasons.
        """
        from moreplr.evaluation._report import write

        return write(self, Path(path), title)


def evaluate(
    data: Dataset,
    rankers: Mapping[str, Any] | None = None,
    *,
    n_folds: int = 5,
    n_repeats: int = 2,
    level: float = 0.95,
    random_state: int = 0,
    advance: Callable[[int, str], None] | None = None,
) -> Evaluation:
    """Cross-validate rankers on a table, beside the consensus that ignores the features.

    Parameters
    ----------
    data : Dataset, such as :func:`moreplr.datasets.from_csv` reads
        Its features may be of any kind: each ranker is wrapped in a
        :class:`moreplr.TableRanker`, unless it is one. Of a pipeline, the steps before the ranker
        become its vectoriser.
    rankers : dict of unfitted rankers by name, optional
        The first is judged, and shown in detail. A :class:`moreplr.RankingForest` by default.
    n_folds, n_repeats : int
    level : float, the confidence of intervals
    random_state : int
        Of the splits; a ranker has its own.
    advance : callable, optional
        Called as ``advance(0, name)`` before a fit and ``advance(1, name)`` after it.

    Examples
    --------
    >>> from moreplr import NearestNeighborsRanker, datasets
    >>> rankers = {"neighbors": NearestNeighborsRanker()}
    >>> found = evaluate(datasets.load("iris"), rankers, n_folds=3, n_repeats=1)
    >>> print(found)  # doctest: +ELLIPSIS
    iris: 150 rows, 4 features, 3 labels
    neighbors   tau_x 0.884 (0.761 to 1.000), best label right in 98%
    consensus   tau_x 0.180 (-0.028 to 0.388), best label right in 32%
    difference  tau_x 0.704 (0.389 to 1.020): it has learned from the features
    means over 3 folds, with 95% intervals: corrected resampled t interval of Nadeau ...
    """
    if not isinstance(data, Dataset):
        raise TypeError(
            "data must be a Dataset: moreplr.datasets.from_csv makes one of a file or a frame; "
            f"got a {type(data).__name__}"
        )
    if rankers is not None and not isinstance(rankers, Mapping):
        raise TypeError(
            "rankers must be a dict from names to rankers, such as {'mine': ranker}; got "
            f"{rankers!r:.80}"
        )
    if rankers is None:
        rankers = {"forest": RankingForest(random_state=random_state)}
    if not rankers:
        raise ValueError("rankers must name one or more, got none")
    first = next(iter(rankers))
    unseen = Unseen(data, first, random_state)
    scores = cross_validate(
        for_tables({**rankers, CONSENSUS: DummyRanker()}, data),
        data.X,
        data.Y,
        n_folds=n_folds,
        n_repeats=n_repeats,
        groups=data.groups,
        sample_weight=data.sample_weight,
        random_state=random_state,
        advance=advance,
        watch=unseen,
    )
    return Evaluation(data, scores, unseen, level)


def for_tables(rankers: Mapping[str, Any], data: Dataset) -> dict[str, Any]:
    """The rankers for the columns of a data set; those that take any stay as they are."""
    made = {name: _for_table(ranker, data) for name, ranker in rankers.items()}
    if len(made) > 1 and isinstance(rankers.get(CONSENSUS), DummyRanker):
        # Another ranker is judged, and this one need not wait for features that it ignores.
        made[CONSENSUS] = TableRanker(rankers[CONSENSUS], FunctionTransformer(_no_features))
    return made


def _no_features(X: Any) -> Array:
    return np.zeros((X.shape[0], 1))


def _for_table(ranker: Any, data: Dataset) -> Any:
    if isinstance(ranker, TableRanker):
        return ranker
    if isinstance(ranker, Pipeline):  # the steps before the ranker are its vectoriser
        return TableRanker(ranker[-1], ranker[:-1])
    return TableRanker(ranker, vectorizer_for(ranker, data.missing_codes))
