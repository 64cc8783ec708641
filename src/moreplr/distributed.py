"""Train and predict on a Dask cluster: trees are grown on its workers, frames stay there.

Every tree depends on the data and its own seed only, so that a forest grown on a cluster equals,
bit for bit, the one that is grown here. Workers get the training rows, features binned to one
byte a value; data that do not fit on a worker are not for this.
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
        All that it does in parallel is done on the cluster, with as many jobs as the cluster
        has threads, unless it has an `n_jobs` of its own.
    X, y : as for the ranker's `fit`; Dask collections are brought here first
    client : distributed.Client, optional
        By default the current one.
    **parameters : passed on to `fit`, such as `sample_weight`

    Returns
    -------
    The ranker, fitted here: it needs no cluster to predict.
    """
    client = client or _current_client()
    X, y = _collected(X), _collected(y)
    with joblib.parallel_config("dask", client=client, n_jobs=-1):
        return ranker.fit(X, y, **parameters)  # type: ignore[attr-defined]


def predict(ranker: Any, X: Any) -> Any:
    """Predict dense ranks of a Dask frame or array, a partition at a time, where it is.

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
            dask.array.from_delayed(
                delayed(_array_of)(part, shared), shape=(n, len(labels)), dtype=float
            )
            for part, n in zip(rows.to_delayed().ravel(), rows.chunks[0], strict=True)
        ]
        return dask.array.concatenate(ranks)
    raise TypeError(f"X must be a Dask DataFrame or Array, got {type(X).__name__}")


def _frame_of(part: pd.DataFrame, ranker: Any, labels: Any) -> pd.DataFrame:
    ranks = ranker.predict(part) if len(part) else np.empty((0, len(labels)))
    return pd.DataFrame(ranks, index=part.index, columns=labels)


def _array_of(part: Any, ranker: Any) -> Any:
    return ranker.predict(part)


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
