"""The ranker that mixes rankers: weights by out-of-fold likelihood, within a time budget."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from time import monotonic
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from moreplr._frames import one_row
from moreplr._types import Array, Positions
from moreplr._validation import check_name, integer_from
from moreplr.base import Pairs
from moreplr.forest.parallel import run
from moreplr.metrics import pair_log_loss, tau_x_score
from moreplr.rankers._calibration import PairCalibration
from moreplr.rankers._pairs import pair_codes, square
from moreplr.rankers.auto._members import (
    ALWAYS,
    Member,
    Rows,
    check_members,
    compact,
    default_members,
    fitted,
    held_out,
    last_step,
    pairs_of,
    prepared,
    three_way,
)
from moreplr.rankers.auto._mixture import mixture_weights
from moreplr.rankers.auto.explanation import MixtureExplanation
from moreplr.rankers.bradley_terry import BradleyTerryRanker
from moreplr.rankers.ranking_forest import RankingForest
from moreplr.rankers.ranking_forest.prediction_sets import SetRanker, merged, risk_curve
from moreplr.rankings import count_buckets, to_text

POSITIONS = ("observed", "given")
# Seven weights need no more relations than this.
_WEIGHED_PAIRS = 500_000
# Out-of-fold pairs of one member.
_HELD_OUT_BYTES = 1 << 28
# Of rows and labels, how many a member is tried on before its time is predicted: enough that
# what any fit takes, however small, is little of it.
_TRIED_ROWS, _TRIED_LABELS = 400, 8


class AutoRanker(SetRanker):
    """Mix rankers of different kinds, within a time budget: the most accurate default.

    Members are fitted out of fold, all on the same folds, and predict for each pair of labels
    the probabilities of the three relations. Each member's probabilities are calibrated by three
    numbers, and averaged with the weights that make the held-out relations likeliest. The average
    is decoded once into the bucket order of greatest expected τ_X.

    The members are the consensus (:class:`DummyRanker`), linear utilities
    (:class:`BradleyTerryRanker`), nearest neighbours, logistic regressions of all pairs on radial
    basis functions, a :class:`RankingForest` and a :class:`RankingBoost`. The first two always
    take part: they are the floor. The out-of-bag predictions of forest and boosted trees stand for
    folds. Members with a weight below `least_weight` are dropped.

    Parameters
    ----------
    time_budget : float or None, default=60.0
        Seconds of wall time for all of `fit`. Members are tried on a few rows and labels, the
        cheap ones first; one whose predicted time exceeds what is left is left out, and
        `leaderboard_` says so. A fit is never interrupted. Times are measured, so that another
        machine may mix other members; with None all take part, and the result depends on the
        seed alone.
    members : list of rankers, dict from names to rankers, or None
        Rankers with `predict_pairs`, or pipelines that end in one, instead of the ones above; the
        consensus and linear utilities remain unless they are named "consensus" and "linear".
        They are cloned; those without a seed or a number of threads get those of this ranker.
    n_folds : int, default=4
        The number of folds.
    n_judged : int, default=4000
        With more rows than this, only as many folds are held out as hold so many rows. The
        weights of a few members need no more.
    prior : float, default=1.0
        How many rows speak for equal weights, in a Dirichlet prior of the weights.
    least_weight : float, default=0.01
        Members with less weight are dropped.
    positions : {"observed", "given"}
        What the positions in incomplete rankings mean, for members with this parameter; see
        :func:`moreplr.encoders.encode`.
    aggregation : str, default="segments"
        A method of :func:`moreplr.aggregation.aggregate`.
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
    leaderboard_ : data frame with a row for each member, the weightiest first: its weight, mean
        τ_X and log loss out of fold, seconds, and what became of it
    tau_x_, log_loss_ : the mixture's own out-of-fold scores, slightly optimistic
    summary_ : str, the result in a sentence or two; says if nothing beats the consensus
    left_out_ : dict from names of members that did not join to the reason
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
        aggregation: str = "segments",
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
        """Fit the members out of fold, weigh them, and fit on all rows those that count.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            May hold NaN.
        y : rankings of the rows in any form that :func:`check_rankings` accepts
        sample_weight : array of shape (n_samples,), optional
            Also of held-out rows.
        groups : array of shape (n_samples,), optional
            Rows of a group, such as those of one user, are held out together.
        """
        start = monotonic()
        members = self._check_parameters()
        clock = _Clock(start, self.time_budget)
        X, Y, weight = self._check_fit(X, y, sample_weight)
        groups = None if groups is None else _check_groups(groups, len(X))
        useful = (~np.isnan(Y)).sum(axis=1) >= min(2, Y.shape[1])
        if weight is not None:
            useful &= weight > 0
        X, Y = np.ascontiguousarray(X[useful]), Y[useful]
        weight = None if weight is None else weight[useful] / weight[useful].mean()
        groups = None if groups is None else groups[useful]
        ranked = np.sum(~np.isnan(Y), axis=1)
        self.ties_ = bool((count_buckets(Y) < ranked).any())
        rng = check_random_state(self.random_state)
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = rng.randint(np.iinfo(np.int32).max)
        rankers = {
            name: Member(
                prepared(
                    member.ranker, positions=self.positions, n_jobs=self.n_jobs, seed=int(seed)
                ),
                member.by_rows,
                member.by_labels,
            )
            for name, member in members.items()
        }
        data = _Data.of(X, Y, weight, groups, rng, n_folds=self.n_folds, most=self.n_judged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of members, on parts of the rows
            judged = self._judge(rankers, data, clock)
            self._weigh(judged, data)
            self._refit(rankers, judged, data)
        return self

    def _judge(self, members: dict[str, Member], data: _Data, clock: _Clock) -> dict[str, _Judged]:
        """Out-of-fold pairs of all members for which there is time."""
        self.left_out_: dict[str, str] = {}
        judged: dict[str, _Judged] = {}
        reserved = 0.0
        for name, member in members.items():
            if name in ALWAYS:
                judged[name] = self._held_out(member.ranker, data)
            else:
                try:
                    reason = self._reason_against(member, data, clock.left - reserved)
                    if reason is None:
                        judged[name] = self._held_out(member.ranker, data)
                except Exception as error:
                    reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                if reason is not None:
                    self.left_out_[name] = reason
                    continue
            if judged[name].model is None and data.folds:
                grows = (len(data.Y) / len(data.folds[0][0])) ** member.by_rows
                reserved += judged[name].seconds / len(data.folds) * grows
        return judged

    def _reason_against(self, member: Member, data: _Data, left: float) -> str | None:
        """Why a member can't take part, or None."""
        if not data.folds:
            return "there is one row only"
        ranker = member.ranker
        takes_nan = isinstance(ranker, Pipeline) or get_tags(ranker).input_tags.allow_nan
        if not takes_nan and np.isnan(data.X).any():
            return "takes no missing features"
        if np.isinf(left):
            return None
        cost = self._predicted_seconds(member, data, left)
        return None if cost <= left else f"takes about {cost:.0f} s, {max(left, 0):.0f} s left"

    def _predicted_seconds(self, member: Member, data: _Data, left: float) -> float:
        """What judging and fitting a member may take, going by a few rows and labels."""
        n, k = data.Y.shape
        rows = data.tried(max(_TRIED_ROWS, n // 10))
        labels = np.linspace(0, k - 1, min(k, _TRIED_LABELS)).astype(np.intp)
        Y = data.Y[np.ix_(rows, labels)]
        weight = None if data.weight is None else data.weight[rows]
        fits = 1.0 if _knows_held_out(member.ranker, data) else len(data.folds) + 1.0
        grows = (n / len(rows)) ** member.by_rows * (k / len(labels)) ** member.by_labels
        least = np.inf
        for _ in range(2):  # the first time, kernels may have to be loaded
            _, seconds = held_out(member.ranker, data.X[rows], Y, weight, *_parts(len(rows)))
            least = min(least, seconds * grows * fits)
            if least <= left:
                break
        return least

    def _held_out(self, ranker: Any, data: _Data) -> _Judged:
        """Pairs of the judged rows: the ranker's own out-of-bag ones, or those of folds."""
        start = monotonic()
        if _knows_held_out(ranker, data):
            model, _ = fitted(ranker, data.X, data.Y, data.weight)
            pairs = _own_held_out(model, data.judged, len(data.Y))
            return _Judged(pairs, monotonic() - start, model)
        k, model = data.Y.shape[1], None
        if isinstance(ranker, BradleyTerryRanker) and ranker.alpha is None:
            # One ridge serves all folds: to choose it is most of the work.
            model, _ = fitted(ranker, data.X, data.Y, data.weight)
            ranker = clone(ranker).set_params(alpha=model.alpha_)
        tasks = [(ranker, data.X, data.Y, data.weight, train, test) for train, test in data.folds]
        parts = run(held_out, tasks, self.n_jobs, np.zeros(1, np.uint8))
        pairs = np.full((len(data.judged), k * (k - 1) // 2, 2), np.nan, np.float32)
        place = np.full(len(data.Y), -1)
        place[data.judged] = np.arange(len(data.judged))
        for (_, test), (part, _) in zip(data.folds, parts, strict=True):
            pairs[place[test]] = part
        return _Judged(pairs, monotonic() - start, model)

    def _weigh(self, judged: dict[str, _Judged], data: _Data) -> None:
        names = list(judged)
        floor = judged[ALWAYS[0]].pairs
        for one in judged.values():  # a row that all trees of a forest have seen
            unknown = np.isnan(one.pairs)
            one.pairs[unknown] = floor[unknown]
        observed = _Observed.of(data)
        self.calibrations_: dict[str, PairCalibration] = {}
        for name, one in judged.items():
            calibration = observed.calibration(one.pairs)
            one.pairs[:] = three_way(one.pairs, calibration)[:, :, :2]
            self.calibrations_[name] = calibration
        shares = np.array([observed.likelihoods(judged[name].pairs) for name in names])
        weights = mixture_weights(shares, observed.weight, self.prior)
        kept = weights >= self.least_weight
        weights = np.where(kept, weights, 0.0)
        weights[kept] = mixture_weights(shares[kept], observed.weight, self.prior)
        self.weights_ = {
            name: float(weight)
            for name, weight in sorted(zip(names, weights, strict=True), key=lambda one: -one[1])
            if weight > 0
        }
        self.calibrations_ = {name: self.calibrations_[name] for name in self.weights_}
        self._score(judged, dict(zip(names, weights, strict=True)), data)

    def _score(self, judged: dict[str, _Judged], weights: dict[str, float], data: _Data) -> None:
        """The leaderboard, the mixture's own scores, and how often it misses."""
        k, rows = data.Y.shape[1], data.judged
        Y = data.Y[rows]
        weight = None if data.weight is None else data.weight[rows]
        mixed = np.tensordot(list(weights.values()), [one.pairs for one in judged.values()], 1)
        scores = {}
        risks = [risk_curve(Pairs(*np.empty((2, 0, k, k))), np.empty((0, k)))]
        for name, pairs in [*((name, one.pairs) for name, one in judged.items()), ("", mixed)]:
            tau, loss = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
            for chunk in self._chunks(len(rows)):
                both = square(three_way(pairs[chunk]), k)
                ranks = self._decode(both, total_order=not self.ties_, random_state=0)
                tau[chunk] = tau_x_score(Y[chunk], ranks, per_sample=True)
                loss[chunk] = pair_log_loss(Y[chunk], both, per_sample=True)
                if not name:
                    risks.append(risk_curve(both, Y[chunk]))
            scores[name] = tau, loss
        self.risk_ = merged(risks)
        self.tau_x_, self.log_loss_ = (_mean(value, weight) for value in scores[""])
        board = [
            {
                "member": name,
                "weight": weights[name],
                "tau_x": _mean(scores[name][0], weight),
                "log_loss": _mean(scores[name][1], weight),
                "seconds": one.seconds,
                "status": "mixed" if weights[name] > 0 else "dropped: hardly any weight",
            }
            for name, one in judged.items()
        ]
        board += [
            {"member": name, "weight": 0.0, "status": f"left out: {reason}"}
            for name, reason in self.left_out_.items()
        ]
        self.leaderboard_ = pd.DataFrame(board).sort_values(
            "weight", ascending=False, kind="stable", ignore_index=True
        )
        gains = scores[""][0] - scores[ALWAYS[0]][0]
        self.summary_ = _summary(self.weights_, self.tau_x_, gains, weight)

    def _refit(self, members: dict[str, Member], judged: dict[str, _Judged], data: _Data) -> None:
        names = [name for name in self.weights_ if judged[name].model is None]
        tasks = [(members[name].ranker, data.X, data.Y, data.weight) for name in names]
        models = run(fitted, tasks, self.n_jobs, np.zeros(1, np.uint8))
        known = {name: judged[name].model for name in self.weights_}
        known |= {name: model for name, (model, _) in zip(names, models, strict=True)}
        self.members_ = {name: known[name] for name in self.weights_}
        for model in self.members_.values():
            last_step(model).labels_ = self.labels_
        for name, (_, seconds) in zip(names, models, strict=True):
            self.leaderboard_.loc[self.leaderboard_["member"] == name, "seconds"] += seconds

    def explain(self, x: Any) -> MixtureExplanation:
        """Say what each member says of one row, and how much it counts.

        Parameters
        ----------
        x : one row
            A sequence of the features, a Series, or an array or frame of one row.
        """
        X = self._check_predict(one_row(x))
        said = self._said(X)
        mixed = self._mixed(said)
        ranks = self._decode(mixed, total_order=not self.ties_, random_state=0)[0]
        forest = None
        for model in self.members_.values():
            if forest is None and isinstance(last_step(model), RankingForest):
                inputs = X if model is last_step(model) else model[:-1].transform(X)
                forest = last_step(model).explain(inputs)
        rows = pd.DataFrame({"row": [], "weight": [], "ranking": []})
        return MixtureExplanation(
            to_text(ranks[None], self.labels_)[0],
            self.labels_,
            ranks,
            self.weights_,
            rows if forest is None else forest.rows,
            Pairs(mixed.P[0], mixed.Q[0]),
            {name: Pairs(pairs.P[0], pairs.Q[0]) for name, pairs in said.items()},
            forest,
        )

    def permutation_importances(
        self, X: Any, y: Any, *, n_repeats: int = 5, random_state: Any = None
    ) -> pd.DataFrame:
        """How much τ_X falls when a feature's values are shuffled among the rows.

        Parameters
        ----------
        X, y : rows and their rankings, best ones that `fit` has not seen
        n_repeats : int, default=5
            How often each feature is shuffled.
        random_state : int, RandomState instance or None

        Returns
        -------
        DataFrame with the columns "feature", "importance" and "deviation", the greatest first
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
        return self._mixed(self._said(X))

    def _said(self, X: Array) -> dict[str, Pairs]:
        """The calibrated pairs of each member."""
        k = len(self.labels_)
        return {
            name: square(three_way(compact(pairs_of(model, X)), self.calibrations_[name]), k)
            for name, model in self.members_.items()
        }

    def _mixed(self, said: dict[str, Pairs]) -> Pairs:
        P, Q = np.zeros_like(next(iter(said.values())))
        for name, pairs in said.items():
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
        check_name("positions", self.positions, POSITIONS)
        return default_members() if self.members is None else check_members(self.members)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Clock:
    """Seconds that are left of a budget."""

    def __init__(self, start: float, budget: float | None) -> None:
        self._end = np.inf if budget is None else start + budget

    @property
    def left(self) -> float:
        return float(self._end - monotonic())


class _Judged(NamedTuple):
    """A member's held-out pairs (n_judged, n_pairs, 2), and itself if it is fitted on all rows."""

    pairs: NDArray[np.float32]
    seconds: float
    model: Any


class _Data(NamedTuple):
    """Rows that compare labels, the folds that are held out, and all rows of these."""

    X: Array
    Y: Positions
    weight: Array | None
    folds: list[tuple[Rows, Rows]]
    judged: Rows
    grouped: bool
    order: Rows

    @staticmethod
    def of(
        X: Array,
        Y: Positions,
        weight: Array | None,
        groups: NDArray[np.intp] | None,
        rng: np.random.RandomState,
        *,
        n_folds: int,
        most: int,
    ) -> _Data:
        n, k = Y.shape
        units = np.arange(n) if groups is None else groups
        n_units = int(units.max()) + 1
        n_folds = min(n_folds, n_units)
        fold = rng.permutation(np.arange(n_units) % max(n_folds, 1))[units]
        order = rng.permutation(n)
        most = max(1, min(most, _HELD_OUT_BYTES // max(4 * k * k, 1)))
        folds: list[tuple[Rows, Rows]] = []
        if n_folds > 1:
            for held in range(n_folds):
                left = most - sum(len(test) for _, test in folds)
                if left <= 0:
                    break
                test = np.flatnonzero(fold == held)
                if len(test) > left:
                    test = np.sort(order[fold[order] == held][:left])
                folds.append((np.flatnonzero(fold != held), test))
        judged = np.concatenate([np.empty(0, np.intp), *(test for _, test in folds)])
        return _Data(X, Y, weight, folds, np.sort(judged), groups is not None, order)

    def tried(self, count: int) -> Rows:
        """Some rows, to measure times on."""
        return np.sort(self.order[:count])


class _Observed(NamedTuple):
    """The relations of judged rows: where they are among the pairs, and how much they count."""

    row: Rows
    pair: Rows
    code: NDArray[np.int8]
    weight: Array

    @staticmethod
    def of(data: _Data) -> _Observed:
        codes = pair_codes(data.Y[data.judged])
        known = codes >= 0
        per_row = np.maximum(known.sum(axis=1), 1)
        weights = np.ones(len(codes)) if data.weight is None else data.weight[data.judged]
        row, pair = np.nonzero(known)
        step = -(-len(row) // _WEIGHED_PAIRS) or 1
        row, pair = row[::step], pair[::step]
        # Each row counts as one observation, however many pairs it ranks.
        weight = step * (weights / per_row)[row]
        return _Observed(row, pair, codes[row, pair], weight)

    def calibration(self, pairs: NDArray[np.float32]) -> PairCalibration:
        """Fitted on the observed relations; leaves all as it is where there are none."""
        seen = three_way(pairs[self.row, self.pair])
        return PairCalibration().fit(seen, self.code, self.weight)

    def likelihoods(self, pairs: NDArray[np.float32]) -> Array:
        seen = three_way(pairs[self.row, self.pair])
        return np.take_along_axis(seen, self.code[:, None].astype(np.intp), axis=1)[:, 0]


def _knows_held_out(ranker: Any, data: _Data) -> bool:
    """Whether it can say itself what it would predict for training rows it had not seen."""
    own = hasattr(ranker, "oob_pairs") or hasattr(ranker, "oof_pairs")
    return own and not data.grouped


def _own_held_out(model: Any, rows: Rows, n: int) -> NDArray[np.float32]:
    with warnings.catch_warnings():
        if hasattr(model, "oob_pairs"):
            return compact(model.oob_pairs(rows))
        pairs = model.oof_pairs()
        return compact(Pairs(pairs.P[rows], pairs.Q[rows]))


def _parts(n: int) -> tuple[Rows, Rows]:
    """All rows to train on, and the last quarter to predict."""
    rows = np.arange(n)
    return rows, rows[3 * n // 4 :]


def _check_groups(groups: Any, n: int) -> NDArray[np.intp]:
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    if numbers.shape != (n,):
        raise ValueError(f"groups has shape {numbers.shape}, expected ({n},): one for each row")
    return numbers.astype(np.intp)


def _mean(values: Array, weight: Array | None) -> float:
    known = ~np.isnan(values)
    weights = np.ones(len(values)) if weight is None else weight
    total = weights[known].sum()
    return float(weights[known] @ values[known] / total) if total > 0 else float("nan")


def _summary(weights: dict[str, float], tau: float, gains: Array, weight: Array | None) -> str:
    """What was mixed, and whether it is better than the consensus."""
    parts = ", ".join(f"{name} {share:.0%}" for name, share in weights.items())
    text = f"A mixture of {parts}: τ_X {tau:.3f} on held-out rows"
    known = ~np.isnan(gains)
    if known.sum() < 2:
        return f"{text}; too few rows to compare it with the consensus."
    gain = _mean(gains, weight)
    error = float(gains[known].std(ddof=1) / np.sqrt(known.sum()))
    if gain > error:
        return f"{text}, {gain:.3f} ± {error:.3f} more than the consensus."
    return (
        f"{text}. Nothing beats the consensus ({gain:+.3f} ± {error:.3f}): the features seem to "
        "say nothing about the rankings, and predictions are hardly better than one ranking for "
        "all."
    )
