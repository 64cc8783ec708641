"""Compare ranking by pairwise comparison with column RPC of the paper's accuracy table.

    MOREPLR_DATA=<folder> python benchmarks/pairwise.py --published accuracy.csv [names …]

RepeatedKFold(10, n, random_state=0), standardised features, a scikit-learn forest of 100 trees
with random_state=0 for each pair, ties and aggregation as published. Missing labels as
published: ⌊n·k·share⌋ cells of the encoded training rankings are blanked, with the same seed
in every fold. By default five repetitions where n < 600 and one elsewhere. The last column is
the library's default on the same folds: its own forests, decoded for the expected τ_X.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from moreplr import PairwiseRanker
from moreplr.datasets import list_datasets, load
from moreplr.encoders import encode
from moreplr.incomplete import remove_labels
from moreplr.metrics import tau_x_score

PROBLEMS = ("lr", "plr")
LARGEST = 2_500
TOLERANCE = 0.01


def preprocessing(name: str):
    """Scaling; `political` has gaps, a code for missing answers, and texts."""
    if name != "political":
        return StandardScaler()
    numbers = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        SimpleImputer(missing_values=977, strategy="median"),
        StandardScaler(),
    )
    texts = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )


def score_fold(name, X, Y, train, test, share: float) -> tuple[float, float]:
    """τ_X of the published method and of the library's default on one fold."""
    features = preprocessing(name).fit(X.iloc[train])
    rankings = encode(Y[train])
    if share:
        rankings = remove_labels(rankings, share, random_state=0)
    X_train, X_test = (features.transform(X.iloc[rows]) for rows in (train, test))
    published = PairwiseRanker(
        RandomForestClassifier(100, random_state=0), aggregation="auto", ties="published"
    )
    ours, default = (
        tau_x_score(Y[test], ranker.fit(X_train, rankings).predict(X_test))
        for ranker in (published, PairwiseRanker(random_state=0))
    )
    return ours, default


def measure(name: str, problem: str, share: float, repetitions: int | None) -> np.ndarray:
    X, Y = load(name, problem)
    repeats = repetitions or (5 if len(X) < 600 else 1)
    folds = RepeatedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    Y = Y.to_numpy()
    return np.array([score_fold(name, X, Y, *fold, share) for fold in folds.split(X)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="data sets; by default all up to n = 2,500")
    parser.add_argument("--published", required=True, help="the paper's table as a CSV file")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--missing", nargs="+", type=int, default=[0, 30], help="percentages")
    parser.add_argument("--repetitions", type=int, help="of the ten folds")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message=".* rank no label")
    published = pd.read_csv(arguments.published).query("method == 'RPC'")
    published = published.set_index(["problem", "dataset", "missing"])["tau_x_mean"]
    table = Table(
        "problem", "data", "missing", "folds", "ours", "published", "difference", "default"
    )
    progress = Console(stderr=True)
    worst = 0.0
    for problem in arguments.problems:
        for name in list_datasets(problem):
            wanted = name in arguments.names if arguments.names else True
            if not wanted or (problem, name, 0) not in published.index:
                continue
            if not arguments.names and len(load(name, problem).X) > LARGEST:
                continue
            for missing in arguments.missing:
                start = time.process_time()
                scores = measure(name, problem, missing / 100, arguments.repetitions)
                paper = published.loc[(problem, name, missing)]
                score, default = scores.mean(axis=0)
                difference = score - paper
                worst = max(worst, abs(difference))
                flag = "" if abs(difference) <= TOLERANCE else " !"
                row = f"{score:.4f}", f"{paper:.3f}", f"{difference:+.4f}{flag}", f"{default:.4f}"
                table.add_row(problem, name, f"{missing} %", str(len(scores)), *row)
                seconds = time.process_time() - start
                progress.print(
                    problem, name, f"{missing} %", len(scores), *row, f"{seconds:.0f} s"
                )
    Console().print(table)
    print(f"largest difference {worst:.4f} (tolerance {TOLERANCE})")


if __name__ == "__main__":
    main()
