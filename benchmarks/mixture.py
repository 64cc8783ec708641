"""How members of a mixture should be joined: weights, calibration, pooling and decoding compared.

    MOREPLR_DATA=<folder> python benchmarks/mixture.py results.csv [--only smooth tricot_cassava …]

Members are those of AutoRanker, fitted once for each data set; what they say of held-out rows and
of test rows is then joined in several ways:

- weights of greatest likelihood of the held-out relations, by EM, after calibrating each member
  (what AutoRanker does), or without calibration;
- equal weights, and the one member of least held-out log loss;
- weights of greatest held-out τ_X, by forward selection with replacement (Caruana et al. 2004);
- a product of powers instead of a weighted sum: multinomial logistic regression on the members'
  log-probabilities, which is stacking.

Made data have several kinds of signal, 150 to 1,500 rows, and up to 60 % of the labels missing.
Of field data, only the training rows of the first of five folds are used, a third of them to test.
Each data set is appended to the file when it is done, and not done again. Without anything left to
do, the means are printed.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from moreplr.aggregation import expected_tau
from moreplr.datasets import list_datasets, load
from moreplr.metrics import pair_log_loss, tau_x_score
from moreplr.rankers._pairs import square
from moreplr.rankers.auto._judging import Clock, Data, judge
from moreplr.rankers.auto._members import (
    compact,
    default_members,
    fitted,
    pairs_of,
    prepared,
    three_way,
)
from moreplr.rankers.auto._mixture import Observed, mixture_weights
from moreplr.rankings import count_buckets, dense_ranks
from moreplr.vectorizing import FrameVectorizer

SIZES = ((150, 4), (600, 8), (1500, 6))
MISSING = (0.0, 0.3, 0.6)
MOST_ROWS, N_TEST, TAU_ROWS, TAU_STEPS = 1500, 1000, 300, 20
COLUMNS = ["kind", "data", "missing", "ties", "way", "decoding", "tau_x", "log_loss"]


def made(kind: str, n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and rankings whose signal is of one kind."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, 10)), rng.normal(size=(10, k))
    noise = rng.normal(size=(n, k))
    if kind == "smooth":
        return X, dense_ranks(np.floor(-3 * (np.tanh(X @ W / 2) + 0.3 * noise)))
    if kind == "strict":
        return X, dense_ranks(-np.tanh(X @ W / 2) - 0.3 * noise)
    if kind == "linear":
        return X, dense_ranks(np.round(-(X @ W) / 2 + rng.gumbel(size=(n, k))))
    if kind == "weak":
        return X, dense_ranks(np.round(-(0.15 * X @ W + np.arange(k) / 2 + noise)))
    if kind == "votes":  # of an ensemble, as the paper's PLR data are made
        labels = np.argmax(X @ W + noise, axis=1)
        votes = np.zeros((n, k))
        for _ in range(25):
            rows = rng.integers(0, n, n)
            tree = DecisionTreeClassifier(max_depth=6, random_state=rng.integers(1 << 30))
            tree.fit(X[rows], labels[rows])
            votes[:, tree.classes_] += tree.predict_proba(X)
        return X, dense_ranks(-np.round(votes / 25, 1))
    levels = (X[:, :4] > 0) @ (1 << np.arange(4))  # "steps": an order for each of 16 cells
    orders = np.round(rng.normal(size=(16, k)), 0)
    return X, dense_ranks(
        orders[levels] + (rng.random((n, k)) < 0.15) * rng.choice([-1, 1], (n, k))
    )


def sources(only: list[str]) -> dict[str, Callable[[], Any]]:
    """Makers of training and test rows by name, each with its kind and share of missing labels."""
    found: dict[str, Callable[[], Any]] = {}
    for kind in ("smooth", "strict", "linear", "votes", "steps", "weak"):
        for n, k in SIZES:
            for missing in MISSING:
                found[f"{kind} {n}×{k} {missing:.0%}"] = lambda a=(kind, n, k, missing): _made(*a)
    for name in list_datasets("field"):
        found[name] = lambda name=name: _field(name)
    chosen = {n: f for n, f in found.items() if not only or n in only or n.split()[0] in only}
    return chosen


def _made(kind: str, n: int, k: int, missing: float) -> Any:
    X, Y = made(kind, n + N_TEST, k, seed=n + k)
    train = Y[:n].copy()
    train[np.random.default_rng(1).random((n, k)) < missing] = np.nan
    return "made", missing, X[:n], train, X[n:], Y[n:]


def _field(name: str) -> Any:
    X, Y = load(name, problem="field")
    Y = np.asarray(Y, float)
    train, _ = next(KFold(5, shuffle=True, random_state=0).split(Y))
    train = np.random.default_rng(0).permutation(train)[: MOST_ROWS * 3 // 2]
    test, train = train[: len(train) // 3], train[len(train) // 3 :]
    maker = FrameVectorizer()
    known, new = maker.fit_transform(X.iloc[train]), maker.transform(X.iloc[test])
    group = name.split("_")[0]
    return group, 0.0, np.asarray(known, float), Y[train], np.asarray(new, float), Y[test]


def said(X: Any, Y: Any, X_new: Any, budget: float) -> tuple[Data, dict[str, Any], dict[str, Any]]:
    """What the members say of held-out rows and of new rows."""
    useful = (~np.isnan(Y)).sum(axis=1) >= 2
    X, Y = np.ascontiguousarray(X[useful]), Y[useful]
    members = {
        name: type(one)(
            prepared(one.ranker, positions="observed", n_jobs=1, seed=0),
            one.by_rows,
            one.by_labels,
        )
        for name, one in default_members().items()
    }
    data = Data.of(X, Y, None, None, np.random.RandomState(0), n_folds=4, most=4000)
    judged, _ = judge(members, data, Clock(budget), 1)
    floor = judged["consensus"].pairs
    held, new = {}, {}
    for name, one in judged.items():
        held[name] = np.where(np.isnan(one.pairs), floor, one.pairs)
        every = np.arange(len(Y)) if one.rows is None else one.rows
        model = one.model or fitted(members[name].ranker, *data.part(every))[0]
        new[name] = compact(pairs_of(model, X_new))
    return data, held, new


def ways(data: Data, held: dict[str, Any], new: dict[str, Any]) -> dict[str, np.ndarray]:
    """Test pairs, three probabilities each, by the way in which members are joined."""
    names, observed = list(held), Observed.of(data)
    raw = [three_way(new[name]) for name in names]
    calibrations = [observed.calibration(held[name]) for name in names]
    held_calibrated = [three_way(held[n], c) for n, c in zip(names, calibrations, strict=True)]
    calibrated = [c.transform(three) for c, three in zip(calibrations, raw, strict=True)]
    hit = (observed.row, observed.pair, observed.code.astype(int))
    likely_raw = np.array([three_way(held[name])[hit] for name in names])
    likely = np.array([three[hit] for three in held_calibrated])
    tiny = np.finfo(float).tiny
    losses = -np.log(np.maximum(likely, tiny)) @ observed.weight
    n = len(names)
    found = {
        "likelihood, calibrated": pooled(mixture_weights(likely, observed.weight), calibrated),
        "likelihood": pooled(mixture_weights(likely_raw, observed.weight), raw),
        "equal, calibrated": pooled(np.full(n, 1 / n), calibrated),
        "best member": calibrated[int(np.argmin(losses))],
        "τ_X, calibrated": pooled(tau_weights(data, held_calibrated), calibrated),
    }
    powers, extra = stacked(held_calibrated, observed)
    logs = np.tensordot(powers, np.log(np.maximum(calibrated, 1e-4)), 1)
    logs[..., 1] += extra
    found["stacking"] = np.exp(log_softmax(logs, axis=-1))
    return found


def pooled(weights: np.ndarray, three: list[np.ndarray]) -> np.ndarray:
    return np.tensordot(weights, three, 1)


def tau_weights(data: Data, held: list[np.ndarray]) -> np.ndarray:
    """Forward selection with replacement: the member whose addition gives the best τ_X."""
    k = data.Y.shape[1]
    some = np.linspace(0, len(data.judged) - 1, min(TAU_ROWS, len(data.judged))).astype(int)
    Y, parts = data.Y[data.judged[some]], [three[some] for three in held]
    counts, total = np.zeros(len(parts)), np.zeros_like(parts[0])
    best = -2.0
    for step in range(TAU_STEPS):
        scores = [
            tau_x_score(Y, expected_tau(*square((total + part) / (step + 1), k), "segments"))
            for part in parts
        ]
        chosen = int(np.nanargmax(scores))
        if scores[chosen] < best:
            break
        best = scores[chosen]
        counts[chosen] += 1
        total += parts[chosen]
    return counts / counts.sum()


def stacked(held: list[np.ndarray], observed: Observed) -> tuple[np.ndarray, float]:
    """Powers of the members' probabilities, and what ties get, by penalised likelihood."""
    logs = np.log(np.maximum([three[observed.row, observed.pair] for three in held], 1e-4))
    hit, n = np.eye(3)[observed.code], len(held)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        scores = np.tensordot(theta[:n], logs, 1)
        scores[:, 1] += theta[n]
        shares = log_softmax(scores, axis=1)
        residual = observed.weight[:, None] * (np.exp(shares) - hit)
        away = theta - start
        slope = np.append(np.einsum("moc,oc->m", logs, residual), residual[:, 1].sum()) + away
        return -(observed.weight @ (hit * shares).sum(axis=1)) + away @ away / 2, slope

    start = np.append(np.full(n, 1 / n), 0.0)
    theta = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return theta[:n], theta[n]


def scores(three: np.ndarray, Y: np.ndarray, *, ties: bool, decoding: str) -> dict[str, float]:
    k = Y.shape[1]
    both = square(three, k)
    ranks = expected_tau(*both, decoding, total_order=not ties, random_state=0)
    return {"tau_x": tau_x_score(Y, ranks), "log_loss": pair_log_loss(Y, both)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--budget", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.results.exists():
        options.results.write_text(",".join(COLUMNS) + "\n")
    known = set(pd.read_csv(options.results)["data"])
    for name, make in sources(options.only).items():
        if name in known:
            continue
        kind, missing, X, Y, X_new, Y_new = make()
        ties = bool((count_buckets(Y) < (~np.isnan(Y)).sum(axis=1)).any())
        lines = []
        data, held, new = said(X, Y, X_new, options.budget)
        for way, three in ways(data, held, new).items():
            for decoding in ("segments", "auto"):
                line = scores(three, Y_new, ties=ties, decoding=decoding)
                line |= {"kind": kind, "data": name, "missing": missing, "ties": ties}
                lines.append(line | {"way": way, "decoding": decoding})
        with options.results.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerows(lines)
        print(name, round(lines[0]["tau_x"], 4), flush=True)
    tables(pd.read_csv(options.results))


def tables(results: pd.DataFrame) -> None:
    for column in ("tau_x", "log_loss"):
        for decoding, part in results.groupby("decoding"):
            wide = part.pivot_table(column, ["kind", "data"], "way")
            means = wide.groupby("kind").mean()
            print(f"\n{column}, decoded by {decoding}")
            print(means.round(4).to_string())
            print(means.mean().round(4).to_string())
    tau = results[results["way"] == "likelihood, calibrated"]
    tau = tau.pivot_table("tau_x", "data", ["ties", "decoding"])
    print("\nτ_X by decoding, with and without ties\n", tau.mean().round(4).to_string())


if __name__ == "__main__":
    main()
