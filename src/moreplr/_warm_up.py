"""Compile the kernels ahead of their first use: ``python -m moreplr._warm_up``."""

from __future__ import annotations

import warnings

from moreplr import (
    BradleyTerryRanker,
    MORERanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    RankingBoost,
    RankingForest,
)
from moreplr.checks import make_rankings
from moreplr.forest import ForestBatch, ForestRegressor
from moreplr.incomplete import remove_labels
from moreplr.regressors import Chain


def main() -> None:
    """Fit small examples of everything that uses a kernel, complete and with gaps."""
    X, Y = make_rankings(n=300, k=5)
    _, many = make_rankings(n=300, k=14)  # beyond exact aggregation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rankings in (Y, remove_labels(Y, 0.3, random_state=0), many):
            for ranker in (
                MORERanker(random_state=0),
                MORERanker("modified", "native", "prediction_interval", random_state=0),
                MORERanker("modified", "single_target", "prediction_interval", random_state=0),
                MORERanker(regressor=Chain(order="published"), random_state=0),
                NearestNeighborsRanker(),
                PairwiseRanker(random_state=0),
                PairwiseRanker(ties="published", random_state=0),
                RankingForest(5, random_state=0),
                RankingBoost(random_state=0),
                BradleyTerryRanker(),
            ):
                ranker.fit(X, rankings).predict(X[:5])
        forest = ForestRegressor(5, random_state=0).fit(X, Y)
        forest.predict_trees(X[:5])
        forest.predict_interval(X[:5])
        _ = forest.oob_prediction_
        forest.leaf_members(oob=True)
        ForestBatch(5, random_state=0).fit(X, Y).predict_interval(X[:5])
        ForestBatch(5, random_state=0).fit(X, Y > 1, n_classes=2).predict_proba(X[:5])


if __name__ == "__main__":
    main()
