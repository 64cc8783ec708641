"""What a ranking forest costs beside the paper's methods, and how its defaults fare.

    MOREPLR_DATA=<folder> python benchmarks/ranking_forest.py cost [name …]
    python benchmarks/ranking_forest.py choices ["marginals 1" …]
    python benchmarks/ranking_forest.py many
    python benchmarks/ranking_forest.py decoding

cost: fit and predict on the first split of RepeatedKFold(10, 5, random_state=0), PLR data, CPU
time, one thread, all in one process. RPC is timed on some pairs and single-target on some
labels, with scikit-learn's forests of 100 trees, and scaled to all of them.

choices: on data sets that the script makes, five-fold cross-validation of the default forest
beside forests that have one parameter changed, all of them or those that are named. No data set
of the paper takes part: this is what defaults may be settled by.

many: the same with more rows, and PairwiseRanker beside it; three folds.

decoding: on the data sets of choices, what is predicted from pair probabilities: the best bucket
order of all, or the best cut of the labels sorted by their scores. Of RankingForest and of
PairwiseRanker; three folds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, RepeatedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from moreplr import PairwiseRanker, RankingForest
from moreplr.datasets import load
from moreplr.encoders import encode
from moreplr.incomplete import remove_labels

SAMPLED_PAIRS, SAMPLED_LABELS = 12, 2
GAPS = ((0.0, "observed"), (0.3, "given"), (0.6, "given"), (0.3, "observed"), (0.6, "observed"))
FIXED: dict[str, dict[str, Any]] = {
    "50 trees": {"n_estimators": 50},
    "300 trees": {"n_estimators": 300},
    "shared": {"structure": "shared"},
    "per label": {"structure": "per_label"},
    "√d features": {"max_features": "sqrt"},
    "0.6 d features": {"max_features": 0.6},
    "no oblique features": {"oblique": False},
    "leaves of 1 row": {"min_samples": 1},
    "leaves of 16 rows": {"min_samples": 16},
    "no marginals": {"marginal_weight": 0.0},
    "marginals 0.1": {"marginal_weight": 0.1},
    "marginals 0.3": {"marginal_weight": 0.3},
    "marginals 1": {"marginal_weight": 1.0},
    "marginals alone": {"marginal_weight": 100.0},
}
FIXED_OF_MANY = {name: FIXED[name] for name in ("shared", "per label")}
DECODERS = {"best of all": "local", "sorted": "segments"}
Data = tuple[np.ndarray, np.ndarray]
Methods = dict[str, Callable[..., Any]]  # each makes a ranker for `positions`


def seconds(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """CPU time of a call, and what it gives."""
    start = time.process_time()
    result = call(*arguments)
    return time.process_time() - start, result


def cost(names: list[str]) -> None:
    """Print the CPU time of the forest's structures beside RPC's and single-target's."""
    for name in names or ["letter"]:
        X, Y = (part.to_numpy() for part in load(name, "plr"))
        train, test = next(RepeatedKFold(n_splits=10, n_repeats=5, random_state=0).split(X))
        scaler = StandardScaler().fit(X[train])
        parts = scaler.transform(X[train]), Y[train], scaler.transform(X[test])
        RankingForest(2, random_state=0).fit(parts[0][:50], parts[1][:50]).predict(parts[2][:5])
        rpc, single = published_cost(*parts)
        print(f"{name}: RPC {rpc:.1f} s, single-target {single:.1f} s (scikit-learn's forests)")
        for structure in ("shared", "both"):
            forest = RankingForest(structure=structure, n_jobs=1, random_state=0)
            own, ranker = seconds(fit_predict, forest, *parts)
            print(
                f"{name}: {structure:7} {own:6.2f} s: 1/{rpc / own:.0f} of RPC, "
                f"1/{single / own:.1f} of single-target, τ_X "
                f"{ranker.score(parts[2], Y[test]):.4f}, leaves of {ranker.min_samples_}",
                flush=True,
            )


def fit_predict(ranker: Any, X: np.ndarray, Y: np.ndarray, X_test: np.ndarray) -> Any:
    ranker.fit(X, Y).predict(X_test)
    return ranker


def published_cost(X: np.ndarray, Y: np.ndarray, X_test: np.ndarray) -> tuple[float, float]:
    """CPU seconds of RPC and of single-target, from samples of pairs and of labels."""
    k = Y.shape[1]
    pairs = list(combinations(range(k), 2))
    some = [pairs[i] for i in np.linspace(0, len(pairs) - 1, SAMPLED_PAIRS).astype(int)]
    rpc = 0.0
    for i, j in some:
        relation = np.sign(Y[:, i] - Y[:, j])
        model = RandomForestClassifier(100, random_state=0)
        rpc += seconds(fit_predict, model, X, relation, X_test)[0]
    single = 0.0
    targets = encode(Y, "modified")
    for label in np.linspace(0, k - 1, SAMPLED_LABELS).astype(int):
        model = RandomForestRegressor(100, random_state=0)
        single += seconds(fit_predict, model, X, targets[:, label], X_test)[0]
    return rpc / len(some) * len(pairs), single / SAMPLED_LABELS * k


def choices(names: list[str]) -> None:
    """Compare the default with forests that have a fixed choice, on made data."""
    compare(forests({name: FIXED[name] for name in names or FIXED}), made(), GAPS, folds=5)


def many() -> None:
    """Compare the default on made data with more rows."""
    methods = {**forests(FIXED_OF_MANY), "PairwiseRanker": pairwise}
    compare(methods, made_of_many_rows(), [(0.0, "observed"), *GAPS[3:]], folds=3)


def decoding() -> None:
    """Compare the best of all bucket orders with the best of sorted labels, on made data."""
    methods = forests({name: {"aggregation": method} for name, method in DECODERS.items()})
    for name, method in DECODERS.items():
        methods[f"PairwiseRanker, {name}"] = partial(pairwise, aggregation=method)
    compare(methods, made(), GAPS, folds=3)


def forests(fixed: dict[str, dict[str, Any]]) -> Methods:
    return {
        name: partial(RankingForest, random_state=0, **parameters)
        for name, parameters in {"default": {}, **fixed}.items()
    }


def pairwise(positions: str, **parameters: Any) -> PairwiseRanker:
    """What a pair is ranked like does not depend on how positions are told."""
    return PairwiseRanker(random_state=0, **parameters)


def compare(
    methods: Methods,
    data: Iterable[tuple[str, Data]],
    gaps: Sequence[tuple[float, str]],
    folds: int,
) -> None:
    """Print the τ_X of each data set, and what each method has beside the first."""
    found = []
    for name, (X, Y) in data:
        for share, positions in gaps:
            for method, make in methods.items():
                score = cross_validate(make(positions=positions), X, Y, share, positions, folds)
                found.append((name, f"{share:.0%} {positions}", method, score))
            print(*found[-len(methods)][:2], *(f"{row[-1]:.4f}" for row in found[-len(methods) :]),
                  flush=True)  # fmt: skip
    frame = pd.DataFrame(found, columns=["data", "gaps", "method", "tau_x"])
    cells = frame.pivot_table(index=["data", "gaps"], columns="method", values="tau_x")
    table = frame.pivot_table(index="method", columns="gaps", values="tau_x")
    table["mean"] = table.mean(axis=1)
    table["worst loss"] = cells.rsub(cells.max(axis=1), axis=0).max()
    first = cells[next(iter(methods))]
    table["default ahead"] = cells.round(4).lt(first.round(4), axis=0).sum()
    table["behind"] = cells.round(4).gt(first.round(4), axis=0).sum()
    print(table.round(4).to_string())


def cross_validate(
    ranker: Any, X: np.ndarray, Y: np.ndarray, share: float, positions: str, folds: int
) -> float:
    scores = []
    for train, test in KFold(folds, shuffle=True, random_state=0).split(X):
        known = encode(Y[train], "modified")
        if share:
            known = remove_labels(known, share, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(ranker.fit(X[train], known).score(X[test], Y[test]))
    return float(np.mean(scores))


def made() -> Iterator[tuple[str, Data]]:
    """Data sets of several kinds, none of them from the paper."""
    for seed, (n, d, k, apart) in enumerate([(160, 5, 3, 1.0), (400, 12, 8, 1.2)]):
        yield f"classes with ties, k={k}", by_class(seed, n, d, k, apart, ties=True)
        yield f"classes, k={k}", by_class(seed + 10, n, d, k, apart, ties=False)
    yield "surfaces, k=5", by_surface(2, 300, 8, 5, 0.2, 0.0)
    yield "surfaces with ties, k=7", by_surface(3, 400, 10, 7, 0.3, 1.5)
    yield "crowd with ties, k=7", crowd(4, 400, 10, 7, 0.3, 1.0)
    yield "crowd, k=5", crowd(5, 300, 12, 5, 0.6, 0.0)
    yield "mixtures, k=6", mixtures(6, 250, 40, 4, 6, 1.0, 0.0)
    yield "mixtures with ties, k=7", mixtures(7, 300, 18, 3, 7, 1.0, 1.5)
    yield "mixtures with ties, k=5", mixtures(8, 400, 30, 5, 5, 0.5, 1.0)


def made_of_many_rows() -> Iterator[tuple[str, Data]]:
    """Others of the same kinds, from 3,200 to 9,000 rows and up to 24 labels."""
    for seed, (n, d, k, apart) in enumerate([(4_500, 8, 5, 0.8), (6_000, 16, 10, 1.0)], start=20):
        yield f"classes with ties, k={k}", by_class(seed, n, d, k, apart, ties=True)
        yield f"classes, k={k}", by_class(seed + 10, n, d, k, apart, ties=False)
    yield "classes with ties, k=24", by_class(24, 9_000, 14, 24, 1.2, ties=True)
    yield "classes, k=24", by_class(25, 9_000, 14, 24, 1.2, ties=False)
    yield "surfaces, k=6", by_surface(26, 4_000, 9, 6, 0.2, 0.0)
    yield "surfaces with ties, k=22", by_surface(27, 3_600, 12, 22, 0.3, 1.5)
    yield "crowd with ties, k=8", crowd(28, 4_000, 12, 8, 0.4, 1.0)
    yield "mixtures, k=7", mixtures(29, 3_200, 30, 5, 7, 0.7, 0.0)
    yield "mixtures with ties, k=12", mixtures(30, 5_000, 20, 6, 12, 0.7, 1.0)


def by_class(seed: int, n: int, d: int, k: int, apart: float, ties: bool) -> Data:
    """Labels by the probability of a class: of a forest, with ties, or of naive Bayes."""
    X, c = make_classification(
        n, d, n_informative=d - 1, n_redundant=0, n_classes=k, class_sep=apart, flip_y=0.02,
        n_clusters_per_class=1, random_state=seed,
    )  # fmt: skip
    if ties:
        forest = RandomForestClassifier(100, random_state=seed)
        return X, encode(-cross_val_predict(forest, X, c, method="predict_proba"))
    P = GaussianNB().fit(X, c).predict_proba(X).round(3)
    return X, encode(-P - np.arange(k, 0, -1) * 1e-6)


def by_surface(seed: int, n: int, d: int, k: int, noise: float, levels: float) -> Data:
    """Each label's value is a function of its own three features; rounded, if with ties."""
    rng = np.random.default_rng(seed)
    X, value = rng.normal(size=(n, d)), np.empty((n, k))
    for label in range(k):
        a, b, c = X[:, rng.choice(d, 3, replace=False)].T
        w = rng.normal(size=3)
        value[:, label] = w[0] * a + w[1] * np.tanh(2 * b) + w[2] * a * c
    value = value / value.std() + noise * rng.normal(size=value.shape)
    return X, encode(-np.round(value * levels) if levels else -value)


def crowd(seed: int, n: int, d: int, k: int, strength: float, step: float) -> Data:
    """People of some groups with a common taste and much that is their own."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d))
    effect = rng.normal(size=(d, 4, k)) * strength * (rng.random((d, 1, 1)) < 0.4)
    value = rng.normal(size=k) + rng.normal(size=(n, k))
    value = value + sum(effect[feature, X[:, feature]] for feature in range(d))
    return X.astype(float), encode(-np.round(value / step) if step else -value)


def mixtures(seed: int, n: int, d: int, hidden: int, k: int, noise: float, step: float) -> Data:
    """Labels' values depend on a few hidden factors, of which all features tell something."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, hidden))
    told = rng.normal(size=(hidden, d)) * (rng.random((hidden, d)) < 0.6)
    X = factors @ told + 0.7 * rng.normal(size=(n, d))
    linear, bent = rng.normal(size=(2, hidden, k))
    value = factors @ linear + np.tanh(factors @ bent) + noise * rng.normal(size=(n, k))
    return X, encode(-np.round(value / step) if step else -value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["cost", "choices", "many", "decoding"])
    parser.add_argument("names", nargs="*", help="data sets of cost, or choices")
    arguments = parser.parse_args()
    if arguments.section == "cost":
        cost(arguments.names)
    elif arguments.section == "choices":
        choices(arguments.names)
    else:
        {"many": many, "decoding": decoding}[arguments.section]()


if __name__ == "__main__":
    main()
