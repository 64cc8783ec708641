"""Whether methods differ over data sets: the tests of Demšar (2006) and of García and Herrera.

A *score frame* has a row for each data set and a column for each method; larger is better.
Ranks are averaged over ties, 1 is best. Friedman's statistic has no correction for ties, as in
the paper's tool (exreport).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """A statistic and its p-value."""

    statistic: float
    p_value: float


@dataclass(frozen=True)
class FriedmanHolm:
    """Friedman's and Iman and Davenport's test of a score frame, and Holm's comparisons.

    Attributes
    ----------
    friedman, iman_davenport : Outcome
    control : the method that all others are compared with
    table : frame indexed by method, best rank first, with the columns ``rank``, ``z``,
        ``p_value``, ``holm_p``, ``win``, ``tie``, ``loss`` (of the control against the method)
        and ``effect`` (matched-pairs rank-biserial correlation, 1 if the control always wins)
    """

    friedman: Outcome
    iman_davenport: Outcome
    control: str
    table: pd.DataFrame


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Mean rank of each method over the data sets, 1 for the best.

    Examples
    --------
    >>> average_ranks(pd.DataFrame({"a": [0.9, 0.8], "b": [0.5, 0.8]})).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return _check(scores).rank(axis=1, ascending=False).mean()


def friedman_test(scores: pd.DataFrame) -> Outcome:
    """Friedman's test that all methods are equal, without correction for ties."""
    ranks = average_ranks(scores)
    n, k = scores.shape
    statistic = 12 * n / (k * (k + 1)) * float((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    return Outcome(statistic, float(stats.chi2.sf(statistic, k - 1)))


def iman_davenport_test(scores: pd.DataFrame) -> Outcome:
    """Iman and Davenport's less conservative version of :func:`friedman_test`."""
    chi_square = friedman_test(scores).statistic
    n, k = scores.shape
    rest = n * (k - 1) - chi_square
    if rest <= 0:  # all data sets agree on the order
        return Outcome(float("inf"), 0.0)
    statistic = (n - 1) * chi_square / rest
    return Outcome(statistic, float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1))))


def holm(p_values: ArrayLike) -> Values:
    """Adjust p-values by Holm's step-down procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def friedman_holm(scores: pd.DataFrame, control: str | None = None) -> FriedmanHolm:
    """Friedman's test, and Holm's comparison of all methods with the best or a given one.

    Parameters
    ----------
    scores : frame of data sets × methods, larger is better, without gaps
    control : str, optional
        The method to compare with; by default the one with the best mean rank.

    Examples
    --------
    >>> scores = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.6, 0.7], "c": [0.1, 0.2, 0.3]})
    >>> found = friedman_holm(scores)
    >>> found.control, round(found.friedman.p_value, 3)
    ('a', 0.076)
    >>> found.table["holm_p"].round(3).to_dict()
    {'a': nan, 'b': 0.414, 'c': 0.049}
    """
    ranks = average_ranks(scores).sort_values(kind="stable")
    best = ranks.index[0] if control is None else control
    if best not in ranks.index:
        raise ValueError(f"control {control!r} is not among the methods {list(scores.columns)}")
    z = (ranks - ranks[best]) / _rank_error(scores)
    table = pd.DataFrame({"rank": ranks, "z": z, "p_value": _two_sided(z)})
    others = table.index != best
    table.loc[best, ["z", "p_value"]] = np.nan
    table["holm_p"] = np.nan
    table.loc[others, "holm_p"] = holm(table.loc[others, "p_value"])
    outcomes = {
        name: {
            **win_tie_loss(scores[best], scores[name]),
            "effect": rank_biserial(scores, best, name),
        }
        for name in table.index[others]
    }
    table = table.join(pd.DataFrame.from_dict(outcomes, orient="index"))
    return FriedmanHolm(friedman_test(scores), iman_davenport_test(scores), str(best), table)


def win_tie_loss(first: pd.Series, second: pd.Series) -> dict[str, int]:
    """How often the first method is better than, equal to and worse than the second.

    Examples
    --------
    >>> win_tie_loss(pd.Series([0.9, 0.5, 0.2]), pd.Series([0.8, 0.5, 0.3]))
    {'win': 1, 'tie': 1, 'loss': 1}
    """
    return {
        "win": int((first > second).sum()),
        "tie": int((first == second).sum()),
        "loss": int((first < second).sum()),
    }


def rank_biserial(scores: pd.DataFrame, first: str, second: str) -> float:
    """Effect size: matched-pairs rank-biserial correlation of two methods.

    The share of the signed-rank sum in favour of the first minus the share in favour of the
    second: 1 if the first wins everywhere, 0 if they balance.

    Examples
    --------
    >>> rank_biserial(pd.DataFrame({"a": [0.9, 0.5], "b": [0.7, 0.6]}), "a", "b").__round__(3)
    0.333
    """
    difference = (scores[first] - scores[second]).to_numpy(dtype=float)
    difference = difference[difference != 0]
    if not len(difference):
        return 0.0
    weight = stats.rankdata(np.abs(difference).round(12))
    return float((weight * np.sign(difference)).sum() / weight.sum())


def all_pairs_holm(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare every pair of methods by their mean ranks, p-values adjusted by Holm.

    Returns
    -------
    frame with the columns first, second, z, p_value, holm_p; the first has the better rank
    """
    ranks = average_ranks(scores).sort_values(kind="stable")
    error = _rank_error(scores)
    pairs = [(a, b, (ranks[b] - ranks[a]) / error) for a, b in combinations(ranks.index, 2)]
    table = pd.DataFrame(pairs, columns=["first", "second", "z"])
    table["p_value"] = _two_sided(table["z"])
    table["holm_p"] = holm(table["p_value"])
    return table


def holm_floor(scores: pd.DataFrame, control: str) -> float:
    """The smallest p-value by Holm that a comparison with all other methods can give.

    It is that of the nearest rival if the control were best on every data set. With many methods
    on few data sets even this can exceed 5 %.

    Examples
    --------
    >>> scores = pd.DataFrame({"a": [0.9, 0.8], "b": [0.8, 0.9], "c": [0.1, 0.2]})
    >>> round(holm_floor(scores, "a"), 3)
    0.317
    """
    first = scores.assign(**{control: _check(scores).max(axis=1) + 1.0})
    return float(friedman_holm(first, control).table["holm_p"].max())


def compare_with(scores: pd.DataFrame, control: str) -> pd.DataFrame:
    """All tests of one method against each of the others.

    Returns
    -------
    the table of :func:`friedman_holm` with the columns ``wilcoxon_p`` (Wilcoxon's test, adjusted
        by Holm), ``better``, ``equal`` and ``worse`` (Bayesian signed-rank test) and ``floor``
        (the least ``holm_p`` that the method could have against its nearest rival)
    """
    table = friedman_holm(scores, control).table
    table["wilcoxon_p"] = wilcoxon_against(scores, control)
    bayesian = {
        method: bayesian_signed_rank(scores, control, method)
        for method in table.index
        if method != control
    }
    table = table.join(pd.DataFrame.from_dict(bayesian, orient="index"))
    return table.assign(floor=holm_floor(scores, control))


def wilcoxon_against(scores: pd.DataFrame, control: str) -> pd.Series:
    """Wilcoxon's signed-rank test of one method with each other, p-values adjusted by Holm.

    Before the adjustment, the p-value of a pair does not depend on the other methods.

    Examples
    --------
    >>> scores = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9], "b": [0.5, 0.6, 0.6, 0.8]})
    >>> wilcoxon_against(scores, "a").round(3).to_dict()
    {'b': 0.066}
    """
    others = [name for name in _check(scores) if name != control]
    p_values = [_wilcoxon(scores[control] - scores[name]) for name in others]
    return pd.Series(holm(p_values), index=others)


def _wilcoxon(differences: pd.Series) -> float:
    difference = differences.to_numpy(dtype=float).round(12)
    if not difference.any():
        return 1.0
    with warnings.catch_warnings():  # older SciPy warns of small samples
        warnings.filterwarnings("ignore", "Sample size too small")
        test = stats.wilcoxon(difference, zero_method="zsplit", method="approx")
    return float(test.pvalue)


def wilcoxon_holm(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare every pair of methods by Wilcoxon's signed-rank test, adjusted by Holm.

    Data sets on which two methods are equal are split between them (Pratt's ranks). In contrast
    to :func:`all_pairs_holm`, the unadjusted p-value of a pair does not depend on the other
    methods. The normal approximation is rough for fewer than ten data sets.

    Returns
    -------
    frame with the columns first, second, p_value, holm_p, effect; the first has the better rank
    """
    ranks = average_ranks(scores).sort_values(kind="stable")
    rows = []
    for first, second in combinations(ranks.index, 2):
        p = _wilcoxon(scores[first] - scores[second])
        rows.append((first, second, p, rank_biserial(scores, first, second)))
    table = pd.DataFrame(rows, columns=["first", "second", "p_value", "effect"])
    table.insert(3, "holm_p", holm(table["p_value"]))
    return table


def nemenyi_distance(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Critical difference of mean ranks by Nemenyi's test.

    Examples
    --------
    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.isf(level, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def indistinct_groups(scores: pd.DataFrame, level: float = 0.05) -> list[list[str]]:
    """Maximal runs of methods, by rank, of which no pair differs by all-pairs Holm.

    These are the bars of a critical-difference diagram; runs of a single method are left out.
    """
    order = list(average_ranks(scores).sort_values(kind="stable").index)
    tests = all_pairs_holm(scores)
    differ = {
        frozenset((a, b))
        for a, b, p in zip(tests["first"], tests["second"], tests["holm_p"], strict=True)
        if p < level
    }
    groups: list[list[str]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not any(
            frozenset((order[stop], other)) in differ for other in order[start:stop]
        ):
            stop += 1
        if stop - start > 1 and stop > reached:
            groups.append(order[start:stop])
            reached = stop
    return groups


def bayesian_signed_rank(
    scores: pd.DataFrame,
    first: str,
    second: str,
    *,
    rope: float = 0.01,
    samples: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> dict[str, float]:
    """Probabilities that the first method is better, practically equal, or worse.

    The Bayesian signed-rank test of Benavoli et al. (2014): a Dirichlet process over the
    differences of the data sets, with a pseudo-observation of strength ½ at zero, sampled by
    Monte Carlo. It is written out here because the library that offers it depends on a plotting
    library.

    Parameters
    ----------
    scores : frame of data sets × methods, larger is better
    first, second : str
    rope : float
        Differences up to this size are practically none.
    samples : int
        Monte Carlo draws.
    random_state : int, numpy Generator or None

    Examples
    --------
    >>> scores = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9], "b": [0.5, 0.6, 0.6, 0.8]})
    >>> bayesian_signed_rank(scores, "a", "b")["better"] > 0.9
    True
    """
    difference = (_check(scores)[first] - scores[second]).to_numpy(dtype=float)
    values = np.concatenate([[0.0], difference])
    sums = (values[:, None] + values).round(12)  # 0.91 - 0.90 is more than 0.01 by itself
    edge = round(2 * rope, 12)
    sides = [(sums > edge).astype(float), (sums < -edge).astype(float)]
    strength = np.concatenate([[0.5], np.ones(len(difference))])
    weight = np.random.default_rng(random_state).dirichlet(strength, samples)
    better, worse = (((weight @ side) * weight).sum(axis=1) for side in sides)
    mass = np.stack([better, 1 - better - worse, worse])
    leads = mass == mass.max(axis=0)
    shares = (leads / leads.sum(axis=0)).mean(axis=1)
    return dict(zip(("better", "equal", "worse"), map(float, shares), strict=True))


def _check(scores: pd.DataFrame) -> pd.DataFrame:
    n, k = scores.shape
    if k < 2 or n < 2:
        raise ValueError(f"tests need at least two methods and two data sets, got {k} and {n}")
    gaps = np.argwhere(scores.isna().to_numpy())
    if len(gaps):
        row, column = gaps[0]
        raise ValueError(
            f"method {scores.columns[column]!r} has no score on {scores.index[row]!r}; "
            "compare methods on the data sets that all of them have"
        )
    return scores


def _rank_error(scores: pd.DataFrame) -> float:
    n, k = scores.shape
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def _two_sided(z: ArrayLike) -> Values:
    return 2 * stats.norm.sf(np.abs(np.asarray(z, dtype=float)))
