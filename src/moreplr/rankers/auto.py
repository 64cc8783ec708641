"""The ranker that chooses a ranker: cross-validation with successive halving, in a given time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from moreplr._types import Array, Positions
from moreplr._validation import check_name, integer_from, weighted_rows
from moreplr.base import BaseRanker
from moreplr.rankers.candidates import Candidate, check_candidates, describe, prepare, suggest
from moreplr.rankers.halving import Clock, Entry, Progress, Race, fit_ranker, leaderboard
from moreplr.rankings import to_frame

POSITIONS = ("observed", "given")


def _winner_has(method: str) -> Any:
    def check(ranker: AutoRanker) -> bool:
        return hasattr(_last_step(ranker.best_ranker_), method)

    return check


class AutoRanker(BaseRanker):
    """Choose among rankers by cross-validation, within a time budget, and fit the best.

    All candidates are compared on a small part of the rows; the best third goes on to three
    times as many, and so on up to all rows (successive halving). With few rows all of them take
    part from the beginning, and the survivors are compared in repeated folds.

    *How the choice is kept honest.* The best of several candidates looks better than it is. A
    :class:`RankingForest` of default parameters is therefore always among them and always on
    the last rung, and every candidate sees the same folds, so that τ_X is compared row by row.
    Another candidate wins only if its mean gain over that forest exceeds the gain's standard
    error, which allows for the overlap of training sets (Nadeau and Bengio, 2003: one and a
    half times that of independent rows, for 5 folds). Of several, the one whose gain less its
    error is greatest wins; with fewer than 10 rows that compare labels, none does. In its own
    cross-validation the choice is thus never behind the forest. `best_score_` is still a score
    that took part in a choice: for an unbiased one, score on rows that `fit` has not seen.

    Parameters
    ----------
    time_budget : float or None, default=60.0
        Seconds of wall time for all of `fit`, the last fit on all rows included. None sets no
        limit: all candidates are compared. A fit is never interrupted. A candidate that, going
        by the time that it took on fewer rows, can't be expected to end in time is left out
        and the leaderboard says so. So expect to exceed the budget by up to one fit of one
        candidate, and by more only where the forest alone takes longer: it is always compared
        on the smallest rung, and the best ranker is always fitted on all rows. Times are
        measured, so that the same seed may lead to another choice on a busier machine.
    candidates : list of rankers, dict from names to rankers, or None
        They are cloned. Those without a seed or a number of threads of their own get that of
        this ranker. None lets the numbers of rows, labels and features, missing labels and ties
        decide: a dozen at most, the cheap ones first; such that depend on the scale of the
        features come with imputation and scaling. Candidates that take no missing features
        are left out where there are some.
    positions : {"observed", "given"}
        What the positions in incomplete rankings mean, see
        :func:`moreplr.encoders.encode`. "given" is passed on to all candidates with this
        parameter; with "observed" those that you name keep their own.
    n_folds : int, default=5
        The number of folds of each cross-validation.
    verbose : bool, default=False
        Show a progress bar on the standard error stream.
    n_jobs : int, optional
        For candidates with this parameter; they are run one after another.
    random_state : int, RandomState instance or None
        Draws rows and folds, and is the seed of the candidates. Without a time budget the
        result depends on nothing else.

    Attributes
    ----------
    best_ranker_ : the best candidate, fitted on all rows; a pipeline if it needs scaled features
    best_name_ : its name
    best_score_ : its mean τ_X out of fold, on the last rung; NaN if no row ranks two labels
    leaderboard_ : data frame with a row for each candidate, the best first: its parameters,
        mean τ_X and standard error, mean gain over the forest and its standard error on the
        last rung that it finished; the rows and folds of that rung; all seconds it took; and
        what became of it. Only figures of the same rung can be compared.
    meta_ : dict of what decides on the candidates
    labels_ : object array (n_labels,)

    References
    ----------
    Jamieson and Talwalkar (2016): Non-stochastic best arm identification and hyperparameter
    optimization. Nadeau and Bengio (2003): Inference for the generalization error.

    Examples
    --------
    >>> from moreplr import DummyRanker, NearestNeighborsRanker
    >>> from moreplr.datasets import load
    >>> X, Y = load("iris")
    >>> candidates = [NearestNeighborsRanker(), DummyRanker()]
    >>> ranker = AutoRanker(None, candidates, n_folds=2, random_state=0).fit(X, Y)
    >>> sorted(ranker.leaderboard_["candidate"])
    ['DummyRanker', 'NearestNeighborsRanker', 'RankingForest']
    >>> ranker.score(X, Y) > 0.8
    True
    """

    def __init__(
        self,
        time_budget: float | None = 60.0,
        candidates: Any = None,
        *,
        positions: str = "observed",
        n_folds: int = 5,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.time_budget = time_budget
        self.candidates = candidates
        self.positions = positions
        self.n_folds = n_folds
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compare the candidates and fit the best on all rows.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            May hold NaN.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            Also of the rows that candidates are scored on.
        """
        given = self._check_parameters()
        clock = Clock(self.time_budget)
        X, Y, weight = weighted_rows(*self._check_fit(X, y, sample_weight))
        ranked = np.sum(~np.isnan(Y), axis=1)
        X, Y = X[ranked > 0], Y[ranked > 0]
        weight = None if weight is None else weight[ranked > 0]
        meta = describe(X, Y, weight)
        self.meta_ = asdict(meta)
        rng = check_random_state(self.random_state)
        candidates = suggest(meta, self.positions) if given is None else given
        entries = self._entries(candidates, self._seed(rng))
        if meta.missing_features:
            _leave_out_those_without_nan(entries)
        with _progress(self.verbose) as progress:
            race = Race(
                entries, X, Y, weight, folds=self.n_folds, clock=clock, rng=rng, progress=progress
            )
            if (ranked > 1).any():
                race.run()
            self._refit(race, progress)
        self.leaderboard_ = leaderboard(race)
        return self

    def _entries(self, candidates: dict[str, Candidate], seed: int) -> list[Entry]:
        return [
            Entry(
                name,
                prepare(ranker, positions=self.positions, n_jobs=self.n_jobs, seed=seed),
                growth,
                parameters=" ".join(repr(ranker).split()),
                cost=cost,
            )
            for name, (ranker, growth, cost) in candidates.items()
        ]

    def _seed(self, rng: np.random.RandomState) -> int:
        """A number as it is, so that a candidate is what it would be with the same seed alone."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(rng.randint(np.iinfo(np.int32).max))

    def _refit(self, race: Race, progress: Progress) -> None:
        """Fit the best candidate on all rows; the next best, should that fail."""
        X, Y = self._named(race.X), to_frame(race.Y, self.labels_)
        queue = race.in_order() if race.last >= 0 else [race.reference]
        for entry in queue:
            progress.begin("all rows", 1)
            if entry.error is None:
                try:
                    self.best_ranker_ = fit_ranker(entry.ranker, X, Y, race.weight)
                except Exception as error:
                    entry.fail(error, "error on all rows")
                    continue
                progress.step(entry.name)
                break
        else:
            failed = [entry for entry in race.entries if entry.error is not None]
            reasons = "; ".join(f"{entry.name}: {entry.status}" for entry in failed)
            raise ValueError(f"no candidate could be fitted; {reasons}") from failed[0].error
        self.best_name_ = entry.name
        self.best_score_ = race.score(entry, entry.rung)[0] if entry.rung >= 0 else float("nan")
        for other in race.entries:
            other.status = other.status or ("compared" if other.rung >= 0 else "not compared")
        entry.status = "best"

    def predict(self, X: Any, **options: Any) -> Positions:
        """Predict dense ranks of shape (n_samples, n_labels), 1 for the best bucket.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        **options
            What the best ranker's own `predict` takes, such as `top=1`.
        """
        return self._ask("predict", X, **options)

    @available_if(_winner_has("predict_pairs"))
    def predict_pairs(self, X: Any, **options: Any) -> Any:
        """Predict pair probabilities, see :meth:`PairwiseRanker.predict_pairs`.

        Only if the best ranker has them.
        """
        return self._ask("predict_pairs", X, **options)

    @available_if(_winner_has("predict_positions"))
    def predict_positions(self, X: Any) -> Array:
        """Predict the positions ŷ that a layer decodes; only if the best ranker has them."""
        return self._ask("predict_positions", X)

    def _ask(self, method: str, X: Any, **options: Any) -> Any:
        inputs = self._named(self._check_predict(X))
        ranker = self.best_ranker_
        if isinstance(ranker, Pipeline):
            for _, step in ranker.steps[:-1]:
                inputs = inputs if step in (None, "passthrough") else step.transform(inputs)
        return getattr(_last_step(ranker), method)(inputs, **options)

    def _named(self, X: Array) -> Any:
        """With the features' names if there are some, so that the best ranker knows them too."""
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pd.DataFrame(X, columns=names)

    def _check_parameters(self) -> dict[str, Candidate] | None:
        budget = self.time_budget
        if budget is not None:
            if not isinstance(budget, Real) or isinstance(budget, bool):
                raise TypeError(f"time_budget must be seconds or None, got {budget!r}")
            if not budget > 0:
                raise ValueError(f"time_budget must be above 0 or None, got {budget!r}")
        integer_from("n_folds", self.n_folds, 2)
        check_name("positions", self.positions, POSITIONS)
        return None if self.candidates is None else check_candidates(self.candidates)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The forest that is always among the candidates takes them.
        tags.input_tags.allow_nan = True
        return tags


def _last_step(ranker: Any) -> Any:
    return ranker.steps[-1][1] if isinstance(ranker, Pipeline) else ranker


def _leave_out_those_without_nan(entries: list[Entry]) -> None:
    for entry in entries[1:]:
        # The tags of a pipeline do not say; its steps will.
        if isinstance(entry.ranker, Pipeline):
            continue
        if not get_tags(entry.ranker).input_tags.allow_nan:
            entry.status = "skipped: takes no missing features"


class _Silent:
    def begin(self, text: str, steps: int) -> None: ...

    def step(self, text: str) -> None: ...


class _Bar:
    """A bar for each rung, with the candidate that has just been run."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._task = bar, None

    def begin(self, text: str, steps: int) -> None:
        self._finish()
        self._text = text
        self._task = self._bar.add_task(text, total=steps)

    def step(self, text: str) -> None:
        self._bar.update(self._task, advance=1, description=f"{self._text}: {text}")

    def _finish(self) -> None:
        # Folds of candidates that were left out are not run.
        if self._task is not None:
            done = self._bar.tasks[self._task].completed
            self._bar.update(self._task, total=done, description=self._text)


@contextmanager
def _progress(shown: bool) -> Iterator[Progress]:
    if not shown:
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Bars(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        yield _Bar(bars)
