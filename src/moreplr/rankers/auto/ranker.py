"""The ranker that mixes rankers: weights by out-of-fold likelihood, within a time budget."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.inspection import permutation_importance
from sklearn.utils import check_random_state

from moreplr._frames import one_row
from moreplr._types import Array
from moreplr._validation import check_name, compares, integer_from, number_from, take
from moreplr.base import Pairs
from moreplr.forest.parallel import run
from moreplr.metrics import pair_log_loss
from moreplr.metrics._means import mean_of_known
from moreplr.metrics._rankings import tau_x_of_rows
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pairs import square
from moreplr.rankers.auto._judging import Clock, Data, Judged, judge
from moreplr.rankers.auto._members import (
    ALWAYS,
    Member,
    check_members,
    compact,
    default_members,
    fitted,
    pairs_of,
    prepared,
    three_way,
    unwrapped,
)
from moreplr.rankers.auto._mixture import Observed, leaderboard, mixture_weights, summary
from moreplr.rankers.auto.explanation import MixtureExplanation
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.ranking_forest.prediction_sets import SetRanker, merged, risk_curve
from moreplr.rankings import to_text
from moreplr.rankings._matrices import has_ties
from moreplr.regressors._fitting import last_step

POSITIONS = ("observed", "given")


class AutoRanker(SetRanker):
    """Mix rankers of different kinds, within a time budget: the most accurate default.

    Members are cross-validated on the same folds, and predict the probabilities of the three
    relations of each pair of labels. The probabilities of each member are calibrated with three
    parameters, and averaged with the weights that maximise the likelihood of the held-out
    relations. The average is decoded into the bucket order with the highest expected τ_X.

    The members are the consensus (:class:`DummyRanker`), linear utilities
    (:class:`BradleyTerryRanker`), nearest neighbours, logistic regressions of all pairs on radial
    basis functions, a :class:`RankingForest` and a :class:`RankingBoost`. The first two always
    take part. The forest uses out-of-bag predictions, and the boosted trees their own held-out
    ones, instead of these folds. Members with a weight below `least_weight` are dropped.

    Parameters
    ----------
    time_budget : float or None, default=60.0
        Seconds of wall time for all of `fit`, which members share, the cheap ones first. A member
        that would take longer than its share is fitted on fewer rows, at least 400. If even these
        take too long, it is left out; `leaderboard_` shows both. A fit is never interrupted.
        Times are measured, so that another machine may mix other members. With None all members
        take part, and the result depends on the seed alone.
    members : list of rankers, dict from names to rankers, or None
        Rankers with `predict_pairs`, or pipelines that end in one, instead of the ones above; the
        consensus and linear utilities remain unless they are named "consensus" and "linear".
        They are cloned; those without a seed or a number of threads get those of this ranker.
    n_folds : int, default=4
        The number of folds.
    n_judged : int, default=4000
        The most held-out rows. With more training rows, some folds, or parts of them, are not
        predicted: the weights of a few members need no more rows.
    prior : float, default=1.0
        The weight, in rows, of equal weights: a Dirichlet prior.
    least_weight : float, default=0.01
        Members with less weight are dropped.
    positions : {"observed", "given"}
        What the positions in incomplete rankings mean, for members with this parameter; see
        :func:`moreplr.encoders.encode`.
    aggregation : str, optional
        A method of :func:`moreplr.aggregation.aggregate`. By default "segments" if training
        rankings have ties, and "auto", the best of all orders, if they have none.
    objective : {"tau_x", "l1"}, default="tau_x"
        Highest expected τ_X, or least L1 distance to the pair order matrix.
    n_jobs : int, optional
        The number of threads, for folds and within members. The result does not depend on it.
    random_state : int, RandomState instance or None
        Draws folds, and is the seed of the members.

    Attributes
    ----------
    members_ : dict of the fitted members by name
    weights_ : dict of their weights, which sum to 1
    calibrations_ : dict of the calibrations of their probabilities
    leaderboard_ : data frame with a row for each member, by decreasing weight: its weight, mean
        τ_X and log loss out of fold, seconds and status
    tau_x_, log_loss_ : the mixture's own out-of-fold scores, slightly optimistic
    summary_ : str, the result in a sentence or two, also if nothing beats the consensus
    left_out_ : dict from the names of members that were left out to the reasons
    labels_ : object array (n_labels,)

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004): Ensemble selection from libraries of models.
    Dempster, Laird and Rubin (1977): Maximum likelihood from incomplete data via the EM
    algorithm.

    Examples
    --------
    >>> from moreplr import NearestNeighborsRanker
    >>> from moreplr.datasets import load
    >>> X, Y = load("iris")
    >>> ranker = AutoRanker(None, [NearestNeighborsRanker()], random_state=0).fit(X, Y)
    >>> sorted(ranker.leaderboard_["member"])
    ['NearestNeighborsRanker', 'consensus', 'linear']
    >>> ranker.score(X, Y) > 0.8
    True
    """

    def __init__(
        self,
        time_budget: float | None = 60.0,
        members: Any = None,
        *,
        n_folds: int = 4,
        n_judged: int = 4000,
        prior: float = 1.0,
        least_weight: float = 0.01,
        positions: str = "observed",
        aggregation: str | None = None,
        objective: str = "tau_x",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.time_budget = time_budget
        self.members = members
        self.n_folds = n_folds
        self.n_judged = n_judged
        self.prior = prior
        self.least_weight = least_weight
        self.positions = positions
        self.aggregation = aggregation
        self.objective = objective
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Cross-validate the members, compute their weights, and fit those with weight.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            May hold NaN.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            They also count for held-out rows.
        groups : array of shape (n_samples,), optional
            Rows of a group, such as those of one user, are held out together.
        """
        members = self._check_parameters()
        clock = Clock(self.time_budget)
        X, Y, weight = self._check_fit(X, y, sample_weight)
        groups = None if groups is None else _check_groups(groups, len(X))
        useful = compares(Y) if weight is None else compares(Y) & (weight > 0)
        X, Y, weight, groups = take(useful, X, Y, weight, groups)
        X, weight = np.ascontiguousarray(X), None if weight is None else weight / weight.mean()
        self.ties_ = bool(has_ties(Y).any())
        rng = check_random_state(self.random_state)
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = rng.randint(np.iinfo(np.int32).max)
        rankers = {
            name: replace(
                member,
                ranker=prepared(
                    member.ranker, positions=self.positions, n_jobs=self.n_jobs, seed=int(seed)
                ),
            )
            for name, member in members.items()
        }
        data = Data.of(X, Y, weight, groups, rng, n_folds=self.n_folds, most=self.n_judged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # members are fitted on parts of the rows, and warn
            judged, self.left_out_ = judge(rankers, data, clock, self.n_jobs)
            self._weigh(judged, data)
            self._score(judged, data)
            self._refit(rankers, judged, data)
        return self

    def _weigh(self, judged: dict[str, Judged], data: Data) -> None:
        names = list(judged)
        floor = judged[ALWAYS[0]].pairs
        for one in judged.values():  # all trees of a forest may have seen a row
            unknown = np.isnan(one.pairs)
            one.pairs[unknown] = floor[unknown]
        observed = Observed.of(data)
        calibrations: dict[str, PairCalibration] = {}
        for name, one in judged.items():
            calibrations[name] = observed.calibration(one.pairs)
            one.pairs[:] = three_way(one.pairs, calibrations[name])[:, :, :2]
        shares = np.array([observed.likelihoods(judged[name].pairs) for name in names])
        weights = mixture_weights(shares, observed.weight, self.prior)
        kept = weights >= self.least_weight
        weights = np.where(kept, weights, 0.0)
        weights[kept] = mixture_weights(shares[kept], observed.weight, self.prior)
        by_weight = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
        self.weights_ = {names[at]: float(weights[at]) for at in by_weight}
        self.calibrations_ = {name: calibrations[name] for name in self.weights_}

    def _score(self, judged: dict[str, Judged], data: Data) -> None:
        """Compute the leaderboard, and the mixture's own scores and risk curve."""
        k, rows, weight = data.Y.shape[1], data.judged, data.judged_weight
        Y = data.Y[rows]
        mixed = np.zeros_like(judged[ALWAYS[0]].pairs)
        for name, share in self.weights_.items():
            mixed += np.float32(share) * judged[name].pairs
        scores = {}
        risks = [risk_curve(Pairs(*np.empty((2, 0, k, k))), np.empty((0, k)))]
        for name, pairs in [*((name, one.pairs) for name, one in judged.items()), ("", mixed)]:
            tau, loss = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
            for chunk in self._chunks(len(rows)):
                both = square(three_way(pairs[chunk]), k)
                ranks = self._decode(both, total_order=not self.ties_, random_state=0)
                tau[chunk] = tau_x_of_rows(Y[chunk], ranks)
                loss[chunk] = pair_log_loss(Y[chunk], both, per_sample=True)
                if not name:
                    risks.append(risk_curve(both, Y[chunk]))
            scores[name] = tau, loss
        means = {
            name: (mean_of_known(tau, weight), mean_of_known(loss, weight))
            for name, (tau, loss) in scores.items()
        }
        self.risk_ = merged(risks)
        self.tau_x_, self.log_loss_ = means[""]
        gains = scores[""][0] - scores[ALWAYS[0]][0]
        self.summary_ = summary(self.weights_, self.tau_x_, gains, weight)
        self.leaderboard_ = leaderboard(judged, self.left_out_, self.weights_, means, len(data.Y))

    def _refit(self, members: dict[str, Member], judged: dict[str, Judged], data: Data) -> None:
        """Fit the members that were judged by folds on all their rows."""
        names = [name for name in self.weights_ if judged[name].model is None]
        tasks = [(members[name].ranker, *data.part(judged[name].rows)) for name in names]
        models = run(fitted, tasks, self.n_jobs, np.zeros(1, np.uint8))
        known = {name: judged[name].model for name in self.weights_}
        known |= {name: model for name, (model, _) in zip(names, models, strict=True)}
        self.members_ = {name: known[name] for name in self.weights_}
        for model in self.members_.values():
            last_step(model).labels_ = self.labels_
        for name, (_, seconds) in zip(names, models, strict=True):
            self.leaderboard_.loc[self.leaderboard_["member"] == name, "seconds"] += seconds

    def explain(self, x: Any) -> MixtureExplanation:
        """Explain the prediction for one row by the members' predictions and weights.

        Parameters
        ----------
        x : one row
            A sequence of the features, a Series, or an array or frame of one row.
        """
        X = self._check_predict(one_row(x))
        by_member = self._pairs_by_member(X)
        mixed = self._mixed(by_member)
        ranks = self._decode(mixed, total_order=not self.ties_, random_state=0)[0]
        forest = None
        for model in self.members_.values():
            last, inputs = unwrapped(model, X)
            if forest is None and isinstance(last, RankingForest):
                forest = last.explain(inputs)
        rows = pd.DataFrame({"row": [], "weight": [], "ranking": []})
        return MixtureExplanation(
            to_text(ranks[None], self.labels_)[0],
            self.labels_,
            ranks,
            self.weights_,
            rows if forest is None else forest.rows,
            Pairs(mixed.P[0], mixed.Q[0]),
            {name: Pairs(pairs.P[0], pairs.Q[0]) for name, pairs in by_member.items()},
            forest,
        )

    def permutation_importances(
        self, X: Any, y: Any, *, n_repeats: int = 5, random_state: Any = None
    ) -> pd.DataFrame:
        """How much τ_X falls when a feature's values are shuffled among the rows.

        Parameters
        ----------
        X, y : rows and their rankings, preferably not those of `fit`
        n_repeats : int, default=5
            How often each feature is shuffled.
        random_state : int, RandomState instance or None

        Returns
        -------
        DataFrame with the columns "feature", "importance" and "deviation", the largest first
        """
        found = permutation_importance(self, X, y, n_repeats=n_repeats, random_state=random_state)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        table = pd.DataFrame(
            {
                "feature": names,
                "importance": found.importances_mean,
                "deviation": found.importances_std,
            }
        )
        return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)

    def _pairs(self, X: Array) -> Pairs:
        return self._mixed(self._pairs_by_member(X))

    def _pairs_by_member(self, X: Array) -> dict[str, Pairs]:
        """The calibrated pairs of each member."""
        k = len(self.labels_)
        return {
            name: square(three_way(compact(pairs_of(model, X)), self.calibrations_[name]), k)
            for name, model in self.members_.items()
        }

    def _mixed(self, by_member: dict[str, Pairs]) -> Pairs:
        P, Q = np.zeros_like(next(iter(by_member.values())))
        for name, pairs in by_member.items():
            P += self.weights_[name] * pairs.P
            Q += self.weights_[name] * pairs.Q
        return Pairs(P, Q)

    def _risk(self) -> Array:
        return self.risk_

    @property
    def _never_ties(self) -> bool:
        return not self.ties_

    @property
    def _row_bytes(self) -> int:
        members = getattr(self, "members_", {})
        return max(
            [super()._row_bytes, *(last_step(model)._row_bytes for model in members.values())]
        )

    def _check_parameters(self) -> dict[str, Member]:
        self._check_decoding()
        budget = self.time_budget
        if budget is not None:
            if not isinstance(budget, Real) or isinstance(budget, bool):
                raise TypeError(f"time_budget must be seconds or None, got {budget!r}")
            if not budget > 0:
                raise ValueError(f"time_budget must be above 0 or None, got {budget!r}")
        integer_from("n_folds", self.n_folds, 2)
        integer_from("n_judged", self.n_judged, 1)
        number_from("prior", self.prior, 0)
        if number_from("least_weight", self.least_weight, 0) >= 1:
            raise ValueError(f"least_weight must be below 1, got {self.least_weight!r}")
        check_name("positions", self.positions, POSITIONS)
        return default_members() if self.members is None else check_members(self.members)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _check_groups(groups: Any, n: int) -> NDArray[np.intp]:
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    if numbers.shape != (n,):
        raise ValueError(f"groups has shape {numbers.shape}, expected ({n},): one for each row")
    return numbers.astype(np.intp)
