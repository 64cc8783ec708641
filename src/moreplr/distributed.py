"""Train and predict on a Dask cluster.

Every tree depends only on the data and its own seed, so that a forest grown on a cluster equals,
bit for bit, one that is grown locally. Each worker gets all training rows, with features binned
to one byte a value; the data must fit on a worker.
"""

from __future__ import annotations

from typing import Any, TypeVar

import joblib
import numpy as np
import pandas as pd

Ranker = TypeVar("Ranker")


def fit(ranker: Ranker, X: Any, y: Any, *, client: Any = None, **parameters: Any) -> Ranker:
    """Fit a ranker whose trees, or other models, are shared among the workers of a cluster.

    Parameters
    ----------
    ranker : an unfitted ranker, or a pipeline with one
        Its parallel work is done on the cluster, with as many jobs as the cluster has threads,
        unless the ranker has an `n_jobs` of its own.
    X, y : as for the ranker's `fit`; Dask collections are computed first
    client : distributed.Client, optional
        The current client by default.
    **parameters : passed on to `fit`, such as `sample_weight`

    Returns
    -------
    The fitted ranker, which needs no cluster to predict.
    """
    client = client or _current_client()
    X, y = _collected(X), _collected(y)
    with joblib.parallel_config("dask", client=client, n_jobs=-1):
        return ranker.fit(X, y, **parameters)  # type: ignore[attr-defined]


def predict(ranker: Any, X: Any) -> Any:
    """Predict dense ranks of a Dask frame or array, on the workers that hold its partitions.

    Parameters
    ----------
    ranker : a fitted ranker, or a pipeline with one
    X : dask DataFrame or Array of shape (n_samples, n_features)

    Returns
    -------
    A lazy Dask DataFrame with a column for each label and the index of X, or a Dask Array.
    """
    try:
        import dask
        import dask.array
        import dask.dataframe
        from dask.delayed import delayed
    except ImportError as error:
        raise ImportError("moreplr.distributed needs the package dask[distributed]") from error
    labels = getattr(ranker, "labels_", None)
    if labels is None:
        labels = ranker[-1].labels_
    shared = delayed(ranker)  # one copy for all partitions
    if isinstance(X, dask.dataframe.DataFrame):
        empty = pd.DataFrame(np.empty((0, len(labels))), columns=labels)
        return X.map_partitions(_frame_of, shared, labels, meta=empty)
    if isinstance(X, dask.array.Array):
        rows = X.rechunk({1: -1})
        ranks = [
            dask.array.from_delayed(shared.predict(part), shape=(n, len(labels)), dtype=float)
            for part, n in zip(rows.to_delayed().ravel(), rows.chunks[0], strict=True)
        ]
        return dask.array.concatenate(ranks)
    raise TypeError(f"X must be a Dask DataFrame or Array, got {type(X).__name__}")


def _frame_of(part: pd.DataFrame, ranker: Any, labels: Any) -> pd.DataFrame:
    ranks = ranker.predict(part) if len(part) else np.empty((0, len(labels)))
    return pd.DataFrame(ranks, index=part.index, columns=labels)


def _collected(value: Any) -> Any:
    return value.compute() if hasattr(value, "dask") else value


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError("moreplr.distributed needs the package dask[distributed]") from error
    try:
        return get_client()
    except ValueError:
        raise ValueError("no Dask client: make one, or give client=…") from None
