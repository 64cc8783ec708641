"""Cross-validate several rankers on bundled data, and show some predicted bucket orders.

Each ranker is trained on complete rankings, and on rankings that lost 30 % of their labels. Both
are scored by τ_X on complete rankings that it was not trained on.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from moreplr import (
    DummyRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingForest,
)
from moreplr.datasets import load
from moreplr.incomplete import remove_labels
from moreplr.layers import EpsilonCloseness
from moreplr.rankings import to_text

RANKERS = {
    "consensus of the training rankings": DummyRanker(),
    "nearest neighbours": NearestNeighborsRanker(),
    "MORE: single target, round-rank": MORERanker(random_state=0),
    "MORE: single target, ε-closeness": MORERanker(
        "modified", "single_target", EpsilonCloseness(0.06), random_state=0
    ),
    "MORE: native, intervals": MORERanker(
        "modified", "native", "prediction_interval", random_state=0
    ),
    "MORE: chain, round-rank": MORERanker(regressor="chain", random_state=0),
    "pairwise (RPC)": PairwiseRanker(random_state=0),
    "ranking forest": RankingForest(random_state=0),
}
DATA = ["iris", "wine"]
MISSING = [0.0, 0.3]
FOLDS = KFold(5, shuffle=True, random_state=0)


def score(ranker: Any, X: Any, Y: Any, missing: float, train: Any, test: Any) -> float:
    """τ_X on the test rows of a ranker that is trained on rankings with labels taken away."""
    incomplete = remove_labels(Y.iloc[train], missing, random_state=0)
    with warnings.catch_warnings():
        # Some rows lose all labels, as in the paper's experiments.
        warnings.filterwarnings("ignore", message=".* rows rank no label")
        fitted = make_pipeline(StandardScaler(), clone(ranker)).fit(X.iloc[train], incomplete)
    return fitted.score(X.iloc[test], Y.iloc[test].to_numpy())


def demonstrate() -> None:
    """Print the table of scores, and some predictions."""
    console = Console()
    table = Table(title="mean τ_X of 5-fold cross-validation (1 is perfect)")
    table.add_column("ranker", no_wrap=True)
    for name in DATA:
        for missing in MISSING:
            table.add_column(f"{name}\n{missing:.0%} gaps", justify="right")
    table.add_column("CPU s", justify="right")
    data = {name: load(name) for name in DATA}
    steps = len(RANKERS) * len(DATA) * len(MISSING) * FOLDS.get_n_splits()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("cross-validation", total=steps)
        for title, ranker in RANKERS.items():
            started, cells = time.process_time(), []
            for X, Y in data.values():
                for missing in MISSING:
                    scores = []
                    for train, test in FOLDS.split(X):
                        scores.append(score(ranker, X, Y, missing, train, test))
                        progress.advance(task)
                    cells.append(f"{np.mean(scores):.3f}")
            table.add_row(title, *cells, f"{time.process_time() - started:.1f}")
    console.print(table)
    show_predictions(console, *data["wine"])


def show_predictions(console: Console, X: Any, Y: Any) -> None:
    """Print bucket orders that the forest predicts beside the true ones."""
    train, test = next(FOLDS.split(X))
    ranker = make_pipeline(StandardScaler(), clone(RANKERS["ranking forest"]))
    ranker.fit(X.iloc[train], Y.iloc[train])
    shown = test[:: len(test) // 4][:4]
    predicted = ranker[-1].predict_text(ranker[0].transform(X.iloc[shown]), signs="≻∼")
    table = Table("wine", "predicted", "true", title="bucket orders of wines not seen in training")
    for row, text, truth in zip(shown, predicted, to_text(Y.iloc[shown], signs="≻∼"), strict=True):
        table.add_row(str(row), text, truth)
    console.print(table)
