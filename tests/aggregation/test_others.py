"""Beside somebody else's code: corankco (Andrieu et al.) minimises a Kemeny score with ties.

With half a point for a pair that is tied in one of two rankings only, that score counts what a
ranking's τ_X with others lacks, so that its consensus has the greatest mean τ_X.
"""

import warnings

import numpy as np
import pytest

from moreplr.aggregation import expected_tau

pytest.importorskip("pulp")


@pytest.fixture(scope="module")
def best_score():
    """The least score of any bucket order, by integer programming."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
        from corankco.dataset import Dataset
        from corankco.scoringscheme import ScoringScheme

        half = ScoringScheme.get_induced_measure_scoring_scheme_p(0.5)

        def best(rankings):
            lists = [
                [set(np.flatnonzero(row == bucket).tolist()) for bucket in np.unique(row)]
                for row in rankings
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = ExactAlgorithmPulp().compute_consensus_rankings(
                    Dataset.from_raw_list(lists), half, True
                )
            return found.kemeny_score

        yield best


def score(rankings, ranks):
    """For each pair and ranking 1 if it is the other way round, ½ if one of two ties it."""
    signs = np.sign(rankings[:, :, None] - rankings[:, None, :])
    own = np.sign(ranks[:, None] - ranks)
    return np.abs(signs - own).sum() / 4


@pytest.mark.parametrize("k", [3, 5, 7, 9])
@pytest.mark.parametrize("seed", range(4))
def test_the_consensus_is_as_good_as_that_of_integer_programming(best_score, k, seed):
    rng = np.random.default_rng(seed)
    rankings = rng.integers(0, max(2, k - 2), (4 + seed, k))
    before = (rankings[:, :, None] < rankings[:, None, :]).mean(axis=0)
    tied = (rankings[:, :, None] == rankings[:, None, :]).mean(axis=0)
    least = best_score(rankings)
    for method in ("exact", "local"):
        found = score(rankings, expected_tau(before, tied, method))
        assert found == pytest.approx(least)
