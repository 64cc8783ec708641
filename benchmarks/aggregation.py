"""How near each aggregation method comes to the best bucket order, and how fast it is.

    MOREPLR_DATA=<folder> python benchmarks/aggregation.py [--rows 500] [--part quality|time]

Preferences come from random matrices, from Plackett-Luce and Mallows samples with ties, and,
where the folder has the data, from held-out rows: a forest for each pair of labels, or the
rankings of the nearest neighbours. The exact optimum is the yardstick, so k ≤ 10 for quality.
Time is CPU time on one core, warm, for 20,000 rows of 26 labels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from moreplr.aggregation import aggregate, expected_tau
from moreplr.datasets import list_datasets, load
from moreplr.metrics import tau_x_score

FOREST_SETS = ("vehicle", "glass", "segment", "ecoli", "yeast")
NEIGHBOUR_SETS = (*FOREST_SETS, "pendigits")
SOLVERS = ("exact", "local", "segments")
HEURISTICS = ("bpa_lia_mp2", "bpa_lia", "bpa", "borda", "copeland")
METHODS = SOLVERS + HEURISTICS

console = Console(width=150)


def relations(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of before and of tied over the second to last axis, the rankings of a sample."""
    P = (Y[..., :, None] < Y[..., None, :]).mean(axis=-3)
    Q = (Y[..., :, None] == Y[..., None, :]).mean(axis=-3)
    return P, Q


def uniform(n: int, k: int, rng: np.random.Generator):
    """C uniform, and a uniform share of what ties may take of it."""
    C = np.triu(rng.random((n, k, k)), 1)
    C += np.tril(1 - C.swapaxes(1, 2), -1)
    Q = np.triu(rng.random((n, k, k)), 1)
    Q = 2 * (Q + Q.swapaxes(1, 2)) * np.minimum(C, C.swapaxes(1, 2))
    return C - Q / 2, Q


def dirichlet(n: int, k: int, rng: np.random.Generator):
    """The three probabilities of every pair uniform on the simplex."""
    draws = np.triu(np.moveaxis(rng.dirichlet((1, 1, 1), (n, k, k)), -1, 0), 1)
    return draws[0] + draws[1].swapaxes(1, 2), draws[2] + draws[2].swapaxes(1, 2)


def plackett_luce(n: int, k: int, rng: np.random.Generator, samples: int = 15):
    """Gumbel-noised utilities, tied where they fall on the same step."""
    utility = rng.normal(0, 1.5, (n, 1, k)) + rng.gumbel(size=(n, samples, k))
    return relations(-np.round(utility))


def mallows(n: int, k: int, rng: np.random.Generator, samples: int = 15, spread: float = 0.6):
    """A mixture of two Mallows models by repeated insertion, neighbouring places tied."""
    Y = np.empty((n, samples, k))
    for row in range(n):
        centres = [rng.permutation(k) for _ in range(2)]
        for s in range(samples):
            order: list[int] = []
            for label in centres[rng.integers(2)]:
                back = min(rng.geometric(1 - spread) - 1, len(order))
                order.insert(len(order) - back, label)
            Y[row, s, order] = np.arange(k) // 2
    return relations(Y)


def split(name: str, rows: int):
    X, Y = (part.to_numpy(float) for part in load(name))
    if len(X) > 4 * rows:
        keep = np.random.default_rng(0).permutation(len(X))[: 4 * rows]
        X, Y = X[keep], Y[keep]
    return train_test_split(X, Y, test_size=min(rows, len(X) // 3), random_state=0)


def forests(name: str, rows: int):
    """Held-out probabilities of one classifier for each pair, and the true rankings."""
    X, X_test, Y, Y_test = split(name, rows)
    k = Y.shape[1]
    P, Q = np.zeros((2, len(X_test), k, k))
    for i in range(k):
        for j in range(i + 1, k):
            relation = np.sign(Y[:, j] - Y[:, i])
            model = RandomForestClassifier(50, random_state=0).fit(X, relation)
            found = dict(zip(model.classes_, model.predict_proba(X_test).T, strict=True))
            P[:, i, j], P[:, j, i] = found.get(1, 0), found.get(-1, 0)
            Q[:, i, j] = Q[:, j, i] = found.get(0, 0)
    return P, Q, Y_test


def neighbours(name: str, rows: int, n_neighbors: int = 15):
    """Shares among the nearest neighbours of held-out rows, and the true rankings."""
    X, X_test, Y, Y_test = split(name, rows)
    index = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    P, Q = relations(Y[index.kneighbors(X_test, return_distance=False)])
    return P, Q, Y_test


def sources(rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray | None]]:
    """Name, P, Q and, for real data, the true rankings."""
    rng = np.random.default_rng(0)
    for make in (uniform, dirichlet, plackett_luce, mallows):
        for k in (6, 10):
            yield f"{make.__name__} {k}", *make(rows, k, rng), None
    known = set(list_datasets())
    for make, names in ((forests, FOREST_SETS), (neighbours, NEIGHBOUR_SETS)):
        for name in names:
            if name in known:
                P, Q, Y = make(name, rows)
                yield f"{make.__name__} {name} {P.shape[1]}", P, Q, Y


def l1_distance(P: np.ndarray, Q: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Mean of |B_ij - C_ij| over the pairs i ≠ j, row by row."""
    B = (1 - np.sign(ranks[:, :, None] - ranks[:, None, :])) / 2
    k = ranks.shape[1]
    off_diagonal = ~np.eye(k, dtype=bool)
    return np.abs(B - (P + Q / 2))[:, off_diagonal].mean(axis=1)


def expected_score(P: np.ndarray, Q: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Expected τ_X, row by row."""
    order = np.sign(ranks[:, None, :] - ranks[:, :, None])
    k = ranks.shape[1]
    off_diagonal = ~np.eye(k, dtype=bool)
    value = np.where(order == 0, Q, order * (P - P.swapaxes(1, 2)))
    return value[:, off_diagonal].mean(axis=1)


def loss_table(title: str) -> Table:
    table = Table(title=title)
    table.add_column("source")
    for method in METHODS[1:]:
        table.add_column(method, justify="right")
    return table


def quality(rows: int) -> None:
    """Print optimality and losses for both objectives, and the true τ_X where it is known."""
    l1 = loss_table("L1: optimal rows, mean excess of |B - C| over exact")
    tau = loss_table("expected τ_X: optimal rows, mean loss against exact")
    real = Table(title="true τ_X on held-out rows")
    for column in ("source", "τ_X exact", "τ_X local", "L1 exact", "L1 local", *HEURISTICS):
        real.add_column(column, justify="left" if column == "source" else "right")
    worse = 0
    for name, P, Q, Y in sources(rows):
        C = P + Q / 2
        by_l1 = {m: aggregate(C, m, random_state=0) for m in METHODS}
        by_tau = {m: expected_tau(P, Q, m, random_state=0) for m in METHODS}
        distance = {m: l1_distance(P, Q, r) for m, r in by_l1.items()}
        score = {m: expected_score(P, Q, r) for m, r in by_tau.items()}
        worse += int((distance["local"] > distance["bpa_lia"] + 1e-9).sum())
        worse += int((score["local"] < score["bpa_lia"] - 1e-9).sum())
        for table, loss in (
            (l1, {m: distance[m] - distance["exact"] for m in METHODS}),
            (tau, {m: score["exact"] - score[m] for m in METHODS}),
        ):
            share = {m: np.mean(loss[m] < 1e-9) for m in METHODS}
            cells = [f"{share[m]:.1%} {max(loss[m].mean(), 0.0):.4f}" for m in METHODS[1:]]
            table.add_row(name, *cells)
        if Y is not None:
            found = [by_tau["exact"], by_tau["local"], by_l1["exact"], by_l1["local"]]
            found += [by_l1[m] for m in HEURISTICS]
            real.add_row(name, *(f"{tau_x_score(Y, r):.3f}" for r in found))
    for table in (l1, tau, real):
        if table.row_count:
            console.print(table)
    console.print(f"rows where local search is worse than bpa_lia: {worse}")


def cpu_seconds(solve: Callable[[np.ndarray, np.ndarray], np.ndarray], P, Q) -> float:
    solve(P[:2], Q[:2])
    start = time.process_time()
    solve(P, Q)
    return time.process_time() - start


def many_rows(rows: int, k: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The neighbours' rankings of the letter data, and noisy samples of as many labels."""
    if "letter" in list_datasets():
        X, Y = (part.to_numpy(float) for part in load("letter"))
        index = NearestNeighbors(n_neighbors=11).fit(X)
        near = index.kneighbors(X[:rows], return_distance=False)[:, 1:]
        blocks = [relations(Y[part]) for part in np.array_split(near, max(1, rows // 500))]
        yield "neighbours letter", *(np.concatenate(parts) for parts in zip(*blocks, strict=True))
    rng = np.random.default_rng(0)
    for make in (plackett_luce, uniform):
        blocks = [make(500, k, rng) for _ in range(rows // 500)]
        yield make.__name__, *(np.concatenate(parts) for parts in zip(*blocks, strict=True))


def speed(rows: int = 20_000, k: int = 26) -> None:
    """Print the CPU time of a large stack."""
    table = Table(title=f"CPU seconds for {rows} × {k} labels, one core")
    table.add_column("source")
    solvers: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
        "auto, L1": lambda P, Q: aggregate(P + Q / 2),
        "auto, τ_X": lambda P, Q: aggregate(P + Q / 2, objective="tau_x", ties=Q),
        "expected_tau": lambda P, Q: expected_tau(P, Q),
        "auto, L1, total order": lambda P, Q: aggregate(P + Q / 2, total_order=True),
        "auto, L1, top 5": lambda P, Q: aggregate(P + Q / 2, top=5),
        "auto, L1, 5 buckets": lambda P, Q: aggregate(P + Q / 2, n_buckets=5),
        "segments": lambda P, Q: aggregate(P + Q / 2, "segments"),
        "bpa_lia_mp2": lambda P, Q: aggregate(P + Q / 2, "bpa_lia_mp2"),
        "borda": lambda P, Q: aggregate(P + Q / 2, "borda"),
    }
    for name in solvers:
        table.add_column(name, justify="right")
    for source, P, Q in many_rows(rows, k):
        table.add_row(source, *(f"{cpu_seconds(s, P, Q):.2f}" for s in solvers.values()))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500, help="rows for each source")
    parser.add_argument("--part", choices=("quality", "time"), help="only this part")
    options = parser.parse_args()
    if options.part != "time":
        quality(options.rows)
    if options.part != "quality":
        speed()


if __name__ == "__main__":
    main()
