"""Saved models as the commands use them: which columns they need, and what they predict."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from moreplr.cli.writing import check_output
from moreplr.persistence import ModelFileError
from moreplr.rankers import TableRanker
from moreplr.rankings import to_text
from moreplr.rankings._cells import shorten
from moreplr.tables.cells import NUMBER, TEXT, Reader
from moreplr.tables.formats import STREAM, show_name
from moreplr.vectorizing import FrameVectorizer

# A column that the model was fitted on and does not use.
UNUSED = "unused"
_PAIRS = ["row", "first", "second", "precedes", "tied", "follows"]


@dataclass(frozen=True)
class Model:
    """A fitted ranker, alone or at the end of a pipeline.

    Attributes
    ----------
    name : the file's, for messages
    estimator : the ranker or pipeline
    features : names of the feature columns; None for one that was fitted on an array
    kinds : whether each feature is a number, a text, or unused
    """

    name: str
    estimator: Any
    features: list[str] | None
    kinds: list[str]

    @classmethod
    def of(cls, estimator: Any, name: str) -> Model:
        """A model of a fitted estimator, which knows all that the commands need."""
        first = estimator[0] if isinstance(estimator, Pipeline) else estimator
        kinds = [NUMBER] * int(estimator.n_features_in_)
        if isinstance(first, TableRanker):
            first = first.vectorizer_
        if isinstance(first, FrameVectorizer):
            known = {"number": NUMBER, "identifier": UNUSED, "empty": UNUSED}
            kinds = [known.get(kind, TEXT) for kind in first.kinds_.values()]
        names = getattr(estimator, "feature_names_in_", None)
        return cls(name, estimator, None if names is None else [str(n) for n in names], kinds)

    @property
    def ranker(self) -> Any:
        """The ranker itself."""
        return self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator

    @property
    def labels(self) -> list[str]:
        """Names of the labels."""
        return [str(label) for label in self.ranker.labels_]

    def columns(self, table: list[str], name: str) -> list[str]:
        """The columns of a table that are the features, in the model's order."""
        if self.features is None:
            others = [column for column in table if column not in self.labels]
            if len(others) != len(self.kinds):
                raise ValueError(
                    f"{name} has {len(others)} columns beside labels, but {self.name} was fitted "
                    f"on {len(self.kinds)} features without names"
                )
            return others
        absent = [
            column
            for column, kind in zip(self.features, self.kinds, strict=True)
            if column not in table and kind != UNUSED
        ]
        if absent:
            raise ValueError(
                f"{name} lacks the feature column{'s' * (len(absent) > 1)} {shorten(absent)} that "
                f"{self.name} was fitted on"
            )
        return self.features

    def prepare(self, chunk: pd.DataFrame, columns: list[str], reader: Reader) -> Any:
        """Features of some raw rows as the ranker takes them."""
        cells: dict[str, Any] = {}
        for column, kind in zip(columns, self.kinds, strict=True):
            if kind == NUMBER:
                truths = reader.truths(chunk[column])
                cells[column] = reader.numbers(chunk[column]) if truths is None else truths
            elif kind == TEXT:
                cells[column] = pd.Series(reader.texts(chunk[column]), dtype=object)
            else:
                cells[column] = np.full(len(chunk), None)
        X: Any = pd.DataFrame(cells)
        if self.features is None:
            X = X.to_numpy()
        if isinstance(self.estimator, Pipeline) and len(self.estimator) > 1:
            return self.estimator[:-1].transform(X)
        return X

    def header(self, kind: str) -> list[str]:
        """The columns of predicted ranks, text, scores or pairs."""
        return {"text": ["ranking"], "pairs": _PAIRS}.get(kind, self.labels)

    def predict(
        self, kind: str, X: Any, given: dict[str, Any], first: int
    ) -> Iterator[pd.DataFrame]:
        """Predictions for prepared rows, a bounded number at a time; the index counts the rows.

        Parameters
        ----------
        kind : {"ranks", "text", "scores", "pairs"}
        X : rows as `prepare` gives them
        given : parameters of the ranker's `predict`
        first : the number of the first row, from 0
        """
        if kind == "pairs":
            yield from self._predict_pairs(X, first)
            return
        if kind == "scores":
            values = np.asarray(self.ranker.predict_scores(X)).round(6)
        else:
            values = self.ranker.predict(X, **given)
        if kind == "text":
            values = np.array(to_text(values, self.labels), dtype=object)[:, None]
        index = range(first, first + len(values))
        found = pd.DataFrame(values, index=index, columns=pd.Index(self.header(kind)))
        yield found.astype("Int64") if kind == "ranks" else found

    def _predict_pairs(self, X: Any, first: int) -> Iterator[pd.DataFrame]:
        labels = np.array(self.labels, dtype=object)
        i, j = np.triu_indices(len(labels), 1)
        for P, Q in self.ranker.predict_pairs(X, chunks=True):
            n = len(P)
            rows = np.repeat(np.arange(first, first + n), len(i))
            values = [rows + 1, np.tile(labels[i], n), np.tile(labels[j], n)]
            values += [M.ravel().round(6) for M in (P[:, i, j], Q[:, i, j], P[:, j, i])]
            yield pd.DataFrame(dict(zip(_PAIRS, values, strict=True)), index=rows)
            first += n

    def check_has(self, method: str, what: str) -> None:
        """Refuse what this kind of ranker can't predict."""
        if not hasattr(self.ranker, method):
            inner = getattr(self.ranker, "ranker_", self.ranker)
            raise ValueError(
                f"{self.name} holds a {type(inner).__name__}, which has no {what}; fit one "
                "with --ranker forest"
            )


def load_model(path: str, jobs: int | None = None) -> Model:
    """Read a model from a file, or from standard input."""
    if path != STREAM and not os.path.isfile(path):
        raise ValueError(f"there is no model {path}; moreplr fit makes one")
    try:
        estimator = _load(path)
    except ModelFileError as error:
        raise ValueError(
            f"{show_name(path)}: {error}; give the model first, then the table"
        ) from error
    if not hasattr(estimator, "labels_") and not hasattr(estimator, "steps"):
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which is no ranker")
    return Model.of(use_threads(estimator, jobs), show_name(path))


def _load(path: str) -> Any:
    import moreplr

    if path != STREAM:
        return moreplr.load(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "model.moreplr")
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return moreplr.load(copy)


def save_model(estimator: Any, path: str) -> None:
    """Write a model completely or not at all, without the number of threads."""
    import moreplr

    use_threads(estimator, None)
    if path != STREAM:
        check_output(path)
        moreplr.save(estimator, path)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "model.moreplr")
        moreplr.save(estimator, copy)
        with open(copy, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def use_threads(part: Any, jobs: int | None) -> Any:
    """Let all fitted parts of a model work with this many threads.

    Parts of other libraries keep their setting, since they might start processes instead.
    """
    if isinstance(part, (list, tuple)):
        for item in part:
            use_threads(item, jobs)
    elif isinstance(part, dict):
        use_threads(list(part.values()), jobs)
    elif type(part).__module__.split(".")[0] in ("moreplr", "sklearn"):
        state = getattr(part, "__dict__", {})
        if "n_jobs" in state and type(part).__module__.startswith("moreplr."):
            part.n_jobs = jobs
        use_threads([v for v in state.values() if not isinstance(v, np.ndarray)], jobs)
    return part
