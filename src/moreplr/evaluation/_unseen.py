"""What a ranker predicts for rows that it was not trained on, kept during a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance

from moreplr._types import Array
from moreplr._validation import check_sample_weight
from moreplr.explaining import reasons
from moreplr.model_selection import Split, fit_copy, score_rows
from moreplr.rankings import to_text

# Rows of each fold to predict: enough for pictures.
_MOST_ROWS = 200
# For reasons: training rows to compare with, and orders of the features to average over.
_COMPARED, _PERMUTATIONS = 100, 20
# Shares of the training rows for the learning curve; all of them are the last point.
_SHARES = (0.25, 0.5)
# Examples are these quantiles of τ_X: a good, a typical and a bad prediction.
_SHOWN = (0.9, 0.5, 0.1)


@dataclass(frozen=True)
class Example:
    """A prediction for a row that the ranker was not trained on.

    Attributes
    ----------
    row : int, counted from 1
    features : dict of the row's columns
    true, predicted : rankings as texts
    tau_x : float
    reasons : Reasons of the first pair in the predicted ranking, or None where all labels tie
    """

    row: int
    features: dict[str, Any]
    true: str
    predicted: str
    tau_x: float
    reasons: Any


class Unseen:
    """Watches a cross-validation, and keeps what one ranker predicts in its first repetition.

    Attributes
    ----------
    name : the ranker's
    rows : array (n_rows,), numbers of rows that the ranker had not been trained on
    Y, ranks : arrays (n_rows, n_labels), their true positions and predicted ranks
    pairs : (P, Q) of the rows, or None for a ranker without pair probabilities
    losses : array (n_folds, n_features), the τ_X lost when a column is shuffled
    curve : (rows, scores): numbers of training rows, and τ_X (n_sizes, n_folds) of each fold
    kinds : what each column was taken for
    members : the leaderboard of a mixture, or None
    examples : some predictions, the best first
    """

    def __init__(self, data: Any, name: str, random_state: int = 0) -> None:
        self.data, self.name = data, name
        self.rows = np.empty(0, np.intp)
        self.Y = self.ranks = np.empty((0, data.Y.shape[1]))
        self.pairs: tuple[Array, Array] | None = None
        self.losses = np.empty((0, data.X.shape[1]))
        self.members: pd.DataFrame | None = None
        self.kinds: dict[str, str] = {}
        self.examples: list[Example] = []
        self._curve: list[list[tuple[int, float]]] = []
        self._rng = np.random.RandomState(random_state)

    def __call__(self, name: str, model: Any, split: Split) -> None:
        """Keep what a fitted model predicts for its test rows."""
        if name != self.name or split.repeat > 1:
            return
        rows = split.test
        if len(rows) > _MOST_ROWS:
            rows = np.sort(self._rng.choice(rows, _MOST_ROWS, replace=False))
        X, Y = self.data.X.iloc[rows], self.data.Y.iloc[rows]
        ranks = np.asarray(model.predict(X))
        self.rows = np.append(self.rows, rows)
        self.Y = np.vstack([self.Y, Y.to_numpy(dtype=float)])
        self.ranks = np.vstack([self.ranks, ranks])
        if hasattr(model, "predict_pairs"):
            P, Q = model.predict_pairs(X)
            if self.pairs is not None:
                P, Q = np.concatenate([self.pairs[0], P]), np.concatenate([self.pairs[1], Q])
            self.pairs = P, Q
        if (Y.notna().sum(axis=1) > 1).any():
            found = permutation_importance(model, X, Y, n_repeats=1, random_state=self._rng)
            self.losses = np.vstack([self.losses, found.importances_mean])
            self._curve.append(list(self._learn(model, split.train, X, Y)))
        if not self.examples:
            self.kinds = dict(getattr(getattr(model, "vectorizer_", None), "kinds_", {}))
            self.members = getattr(getattr(model, "ranker_", model), "leaderboard_", None)
            self.examples = list(self._make_examples(model, rows, ranks, split.train))

    @property
    def curve(self) -> tuple[Array, Array]:
        """Numbers of training rows, the mean over folds, and the τ_X of each fold."""
        points = np.array(self._curve, dtype=float)
        return points[:, :, 0].mean(axis=0), points[:, :, 1].T

    def _learn(
        self, model: Any, train: Any, X: pd.DataFrame, Y: pd.DataFrame
    ) -> Iterator[tuple[int, float]]:
        """Numbers of training rows, and the score of the ranker when it is fitted on these."""
        weight = check_sample_weight(self.data.sample_weight, len(self.data.Y))
        rows = self._rng.permutation(train)
        for share in _SHARES:
            part = np.sort(rows[: max(round(share * len(rows)), 1)])
            some, their = self.data.X.iloc[part], self.data.Y.iloc[part]
            score = np.nan
            if (their.notna().sum(axis=1) > 1).any():
                score = fit_copy(model, some, their, weight, part).score(X, Y)
            yield len(part), score
        yield len(train), model.score(X, Y)

    def _make_examples(self, model: Any, rows: Any, ranks: Array, train: Any) -> Any:
        X, Y = self.data.X.iloc[rows], self.data.Y.iloc[rows]
        scores = score_rows(Y.to_numpy(dtype=float), ranks)["tau_x"].dropna()
        order = scores.sort_values(kind="stable").index
        places = [round(share * (len(order) - 1)) for share in _SHOWN] if len(order) else []
        labels = model.labels_
        compared = self._rng.choice(train, min(_COMPARED, len(train)), replace=False)
        for place in dict.fromkeys(places):
            at = order[place]
            best_first = np.argsort(ranks[at], kind="stable")
            after = best_first[ranks[at][best_first] > 1]
            why = None
            if len(after):
                why = reasons(
                    model,
                    X.iloc[[at]],
                    labels[best_first[0]],
                    labels[after[0]],
                    self.data.X.iloc[compared],
                    n_permutations=_PERMUTATIONS,
                )
            true, predicted = (
                to_text(positions[None], labels)[0]
                for positions in (Y.iloc[at].to_numpy(dtype=float), ranks[at])
            )
            features = {str(name): value for name, value in X.iloc[at].items()}
            yield Example(int(rows[at]) + 1, features, true, predicted, float(scores[at]), why)
