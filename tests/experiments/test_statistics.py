import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from moreplr.experiments import statistics

PROBLEMS = {"lr": ["lr"], "plr": ["plr"], "both": ["lr", "plr"]}
BLOCKS = [(problem, missing) for problem in PROBLEMS for missing in (0, 30, 60)]
MISPRINTED = ("lr", 60)


@pytest.fixture
def paper(benchmark_data):
    folder = benchmark_data.parent / "paper"
    if not (folder / "accuracy.csv").is_file():
        pytest.skip(f"the paper's tables are not in {folder}")
    return folder


def scores_of(paper, problem, missing):
    table = pd.read_csv(paper / "accuracy.csv")
    table = table[table["problem"].isin(PROBLEMS[problem]) & (table["missing"] == missing)]
    return table.pivot(index=["problem", "dataset"], columns="method", values="tau_x_mean")


def printed_block(paper, problem, missing):
    table = pd.read_csv(paper / "friedman_holm.csv")
    table = table[(table["problem"] == problem) & (table["missing"] == missing)]
    return table.set_index("method")


@pytest.mark.parametrize(("problem", "missing"), [b for b in BLOCKS if b != MISPRINTED])
def test_the_papers_table_to_the_printed_digits(paper, problem, missing):
    found = statistics.friedman_holm(scores_of(paper, problem, missing))
    printed = printed_block(paper, problem, missing)
    assert found.control == printed.index[0]
    assert found.friedman.p_value == pytest.approx(printed["friedman_p"].iloc[0], rel=5e-4)
    ours = found.table.loc[printed.index]
    np.testing.assert_allclose(ours["rank"], printed["rank"], atol=0.00501)
    np.testing.assert_allclose(ours["holm_p"], printed["holm_p"], rtol=5e-4)
    for outcome in ("win", "tie", "loss"):
        np.testing.assert_array_equal(ours[outcome], printed[outcome])


def test_the_block_of_label_ranking_with_60_percent_missing_is_misprinted(paper):
    printed = printed_block(paper, *MISPRINTED)
    pd.testing.assert_frame_equal(
        printed.drop(columns=["missing", "friedman_p"]),
        printed_block(paper, "lr", 30).drop(columns=["missing", "friedman_p"]),
    )
    found = statistics.friedman_holm(scores_of(paper, *MISPRINTED))
    assert found.control == "ST-PI"
    assert found.table.loc["RPC", "holm_p"] == pytest.approx(0.064, abs=0.0005)
    assert found.friedman.p_value == pytest.approx(printed["friedman_p"].iloc[0], rel=5e-4)


score_frames = hnp.arrays(
    float, st.tuples(st.integers(5, 12), st.integers(3, 6)), elements=st.floats(-1, 1), unique=True
).map(lambda a: pd.DataFrame(a, columns=list("abcdef")[: a.shape[1]]))


@settings(max_examples=30, deadline=None)
@given(score_frames)
def test_friedman_without_ties_is_scipys(scores):
    reference = stats.friedmanchisquare(*scores.to_numpy().T)
    found = statistics.friedman_test(scores)
    assert found.statistic == pytest.approx(reference.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(reference.pvalue, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(score_frames)
@pytest.mark.filterwarnings("ignore:Sample size too small")  # an older SciPy, asked by the other
def test_wilcoxon_holm_is_that_of_scikit_posthocs(scores):
    scores = (scores * 1024).round() / 1024  # exact differences: ours rounds, the other does not
    reference = scikit_posthocs.posthoc_wilcoxon(
        scores.melt(), "value", "variable", zero_method="zsplit", p_adjust="holm", method="approx"
    )
    for row in statistics.wilcoxon_holm(scores).itertuples():
        assert row.holm_p == pytest.approx(reference.loc[row.first, row.second], abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(score_frames)
def test_nemenyi_distance_separates_as_scikit_posthocs_does(scores):
    ranks = statistics.average_ranks(scores)
    distance = statistics.nemenyi_distance(scores.shape[1], len(scores))
    reference = scikit_posthocs.posthoc_nemenyi_friedman(scores)
    for a in scores:
        for b in scores:
            gap = abs(ranks[a] - ranks[b])
            if a != b and abs(gap - distance) > 1e-6:
                assert (gap > distance) == (reference.loc[a, b] < 0.05)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_adjusts_as_its_definition_says(p_values):
    adjusted = statistics.holm(p_values)
    order = np.argsort(p_values, kind="stable")
    for place, i in enumerate(order):
        steps = [(len(p_values) - j) * p_values[order[j]] for j in range(place + 1)]
        assert adjusted[i] == pytest.approx(min(1, max(steps)))


def test_a_given_control_is_compared_with_all():
    scores = pd.DataFrame({"a": [3.0, 3, 3], "b": [2.0, 2, 2], "c": [1.0, 1, 1]})
    found = statistics.friedman_holm(scores, control="b")
    assert found.control == "b"
    assert found.table.loc["a", ["win", "tie", "loss"]].tolist() == [0, 0, 3]
    assert found.table.loc["c", "effect"] == 1
    assert found.iman_davenport.p_value == 0
    with pytest.raises(ValueError, match="'d'"):
        statistics.friedman_holm(scores, control="d")


def test_groups_are_runs_without_a_significant_pair():
    rng = np.random.default_rng(0)
    near = rng.random((40, 2))
    scores = pd.DataFrame({"a": near[:, 0] + 5, "b": near[:, 1] + 5, "c": near[:, 0] - 5})
    assert [set(group) for group in statistics.indistinct_groups(scores)] == [{"a", "b"}]


def test_gaps_are_named():
    scores = pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2.0]}, index=["iris", "wine"])
    with pytest.raises(ValueError, match="'a' has no score on 'wine'"):
        statistics.friedman_holm(scores)
    with pytest.raises(ValueError, match="two methods"):
        statistics.average_ranks(scores[["b"]])


def brute_force_signed_rank(difference, rope, weights):
    """Which side has most mass in each draw, by the definition's double sum."""
    values = [0.0, *difference]
    leads = np.zeros(3)
    for w in weights:
        mass = np.zeros(3)
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                side = 0 if a + b > 2 * rope else 2 if a + b < -2 * rope else 1
                mass[side] += w[i] * w[j]
        leads[np.argmax(mass)] += 1
    return leads / len(weights)


def test_bayesian_signed_rank_is_the_double_sum():
    rng = np.random.default_rng(1)
    difference = rng.normal(0.02, 0.05, 6)
    scores = pd.DataFrame({"a": difference, "b": np.zeros(6)})
    found = statistics.bayesian_signed_rank(scores, "a", "b", samples=500, random_state=3)
    weights = np.random.default_rng(3).dirichlet([0.5] + [1] * 6, 500)
    expected = brute_force_signed_rank(difference, 0.01, weights)
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-12)
    assert sum(found.values()) == pytest.approx(1)


def test_the_floor_of_holm_is_met_by_who_wins_everywhere():
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.random((13, 11)), columns=list("abcdefghijk"))
    floor = statistics.holm_floor(scores, "a")
    assert statistics.friedman_holm(scores, "a").table["holm_p"].max() >= floor
    best = scores.assign(a=scores.max(axis=1) + 0.1)
    assert statistics.friedman_holm(best, "a").table["holm_p"].max() == pytest.approx(floor)
    assert statistics.holm_floor(best, "a") == pytest.approx(floor)
    assert statistics.holm_floor(pd.concat([scores] * 20), "a") < floor


def test_wilcoxon_against_one_method_is_that_of_pairs_adjusted_for_fewer():
    rng = np.random.default_rng(1)
    scores = pd.DataFrame(rng.random((12, 4)) + np.array([0.5, 0.2, 0.1, 0]), columns=list("abcd"))
    pairs = statistics.wilcoxon_holm(scores)
    own = pairs[(pairs["first"] == "a") | (pairs["second"] == "a")]
    found = statistics.wilcoxon_against(scores, "a")
    expected = dict(zip(own["second"], statistics.holm(own["p_value"]), strict=True))
    assert found.to_dict() == pytest.approx(expected)


def test_a_difference_as_large_as_the_rope_is_practically_none():
    a = pd.Series([0.91, 0.92, 0.57, 0.83])  # less 0.01, what is subtracted is not 0.01 exactly
    scores = pd.DataFrame({"a": a, "b": (a - 0.01).round(3)})
    assert statistics.bayesian_signed_rank(scores, "a", "b")["equal"] == 1
    assert statistics.bayesian_signed_rank(scores, "b", "a")["equal"] == 1
