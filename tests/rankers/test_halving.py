import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.base import BaseRanker
from moreplr.checks import make_rankings
from moreplr.rankers import halving
from moreplr.rankers.halving import Clock, Entry, Race, leaderboard, make_rungs

NAN = float("nan")


class Time:
    """A clock that only moves when a fake ranker works."""

    def __init__(self):
        self.now = 0.0
        self.longest = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.now += seconds
        self.longest = max(self.longest, seconds)


class Fake(BaseRanker):
    """Predicts the truth but for some rows, in a time that grows with the rows as it says."""

    def __init__(self, truth=None, wrong=0.0, seconds=0.0, growth=1.0, fails_from=np.inf):
        self.truth = truth
        self.wrong = wrong
        self.seconds = seconds
        self.growth = growth
        self.fails_from = fails_from

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y, sample_weight=None):
        if len(X) >= self.fails_from:
            raise ValueError("too many rows\nand more to say")
        halving.monotonic.work(self.seconds * (len(X) / 100) ** self.growth)
        self.fitted_on_ = len(X)
        return self

    def predict(self, X):
        rows = X[:, 0].astype(int)
        flip = np.random.default_rng(0).random(len(self.truth)) < self.wrong
        return np.where(flip[rows, None], self.truth[rows, ::-1], self.truth[rows])


class Quiet:
    def begin(self, text, steps): ...

    def step(self, text): ...


@pytest.fixture
def time(monkeypatch):
    clock = Time()
    monkeypatch.setattr(halving, "monotonic", clock)
    return clock


def data(n):
    return np.arange(float(n))[:, None], make_rankings(n)[1]


def race(rankers, n, budget=None, growth=1.5, weight=None, Y=None, costs=None):
    X, truth = data(n)
    for ranker in rankers.values():
        ranker.truth = truth
    entries = [
        Entry(name, ranker, growth, repr(name), cost=(costs or {}).get(name, 0.0))
        for name, ranker in rankers.items()
    ]
    found = Race(
        entries,
        X,
        truth if Y is None else Y,
        weight,
        folds=5,
        clock=Clock(budget),
        rng=np.random.RandomState(0),
        progress=Quiet(),
    )
    found.run()
    return found


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 6000), folds=st.integers(2, 7), seed=st.integers(0, 99))
def test_rungs_are_nested_and_their_folds_hold_out_each_row_alike(n, folds, seed):
    splits, rungs = make_rungs(n, folds, np.random.RandomState(seed))
    assert rungs[-1].rows == n
    assert len(rungs) >= 1 + (n < 600 and n < 1000)
    inner = set()
    for rung in rungs:
        held_out = np.concatenate([splits[split].test for split in rung.splits])
        rows, times = np.unique(held_out, return_counts=True)
        assert len(rows) == rung.rows
        assert len(set(times)) == 1
        assert inner <= set(rows)
        inner = set(rows)
        for split in rung.splits:
            train, test = splits[split]
            assert sorted([*train, *test]) == rows.tolist()


def test_one_row_has_no_rung():
    assert make_rungs(1, 5, np.random.RandomState(0)) == ([], [])


class TestDropping:
    def test_the_best_third_goes_on_and_the_reference_always(self, time):
        field = {f"{wrong:.1f}": Fake(wrong=wrong) for wrong in np.linspace(0.1, 0.9, 9)}
        run = race({"reference": Fake(wrong=1.0), **field}, 2000)
        assert {entry.name: entry.rung for entry in run.entries} == {
            "reference": 2,
            "0.1": 2,
            **dict.fromkeys(["0.2", "0.3"], 1),
            **{f"{wrong:.1f}": 0 for wrong in np.linspace(0.4, 0.9, 6)},
        }
        assert run.entries[5].status == "dropped after rung 0"

    def test_nobody_goes_on_without_a_rival(self, time):
        run = race({"reference": Fake()}, 2000)
        assert (run.last, run.winner().name) == (0, "reference")

    def test_repeated_folds_use_the_first_ones_again(self, time):
        run = race({"reference": Fake(seconds=1), "other": Fake()}, 100)
        assert len(run.reference.tau) == 25
        assert sum(map(len, run.reference.runs.values())) == 25


class TestWinner:
    def fixed(self, differences, weight=None):
        """A race that has ended with these gains in τ_X of its rows."""
        n = len(differences)
        entries = [Entry(name, None, 1.5, "") for name in ("reference", "other")]
        run = Race(
            entries,
            np.zeros((n, 1)),
            np.zeros((n, 2)),
            weight,
            folds=5,
            clock=Clock(None),
            rng=np.random.RandomState(0),
            progress=Quiet(),
        )
        for split in run.rungs[0].splits:
            test = run.splits[split].test
            entries[0].tau[split] = np.where(np.isnan(differences[test]), NAN, 0.2)
            entries[1].tau[split] = 0.2 + differences[test]
        run.last, run.standing = 0, entries
        return run

    def test_gain_and_error_are_those_of_paired_rows(self):
        differences = np.array([0.1, 0.3, -0.1, NAN, 0.5, 0.0, 0.2])
        known = differences[~np.isnan(differences)]
        mean, error = self.fixed(differences).gain(self.fixed(differences).entries[1], 0)
        assert mean == pytest.approx(known.mean())
        independent = known.std(ddof=1) / np.sqrt(6)
        assert error == pytest.approx(1.5 * independent)

    @pytest.mark.parametrize(("shift", "name"), [(0.9, "reference"), (1.1, "other")])
    def test_a_gain_must_exceed_its_error(self, shift, name):
        spread = np.random.default_rng(0).normal(size=300)
        spread -= spread.mean()
        error = 1.5 * spread.std(ddof=1) / np.sqrt(300)
        assert self.fixed(spread + shift * error).winner().name == name

    @pytest.mark.parametrize(("n", "name"), [(9, "reference"), (10, "other")])
    def test_a_few_rows_that_happen_to_agree_prove_nothing(self, n, name):
        assert self.fixed(np.full(n, 0.5)).winner().name == name

    def test_weights_say_how_much_a_row_counts(self):
        differences = np.array([0.5] * 10 + [-0.5] * 10)
        weight = np.repeat([3.0, 1.0], 10)
        run = self.fixed(differences, weight)
        assert run.gain(run.entries[1], 0)[0] == pytest.approx(0.25)

    def test_noise_seldom_wins(self):
        """With rows of no true gain, the rule errs about as often as 1.5 errors promise."""
        rng = np.random.default_rng(0)
        wins = sum(self.fixed(rng.normal(size=60)).winner().name == "other" for _ in range(400))
        assert wins / 400 < 0.12

    def test_rows_that_compare_nothing_do_not_count(self, time):
        Y = data(300)[1]
        Y[::2, 1:] = NAN
        run = race({"reference": Fake(), "other": Fake(wrong=0.3)}, 300, Y=Y)
        assert np.isnan(run._of_rows(run.reference, 0)).sum() == 150
        assert run.score(run.reference, 0)[0] == pytest.approx(1)

    def test_without_the_reference_the_best_mean_wins(self, time):
        field = {"bad": Fake(wrong=0.5), "good": Fake(wrong=0.1), "worse": Fake(wrong=0.9)}
        run = race({"reference": Fake(fails_from=0), **field}, 100)
        assert run.winner().name == "good"


class TestFailures:
    def test_one_that_fails_is_noted_and_the_rest_goes_on(self, time):
        run = race({"reference": Fake(), "broken": Fake(fails_from=0), "fine": Fake()}, 100)
        assert run.entries[1].status == "error: ValueError: too many rows"
        assert [entry.rung for entry in run.entries] == [1, -1, 1]

    def test_one_that_fails_on_more_rows_keeps_its_figures(self, time):
        run = race({"reference": Fake(wrong=0.5), "broken": Fake(fails_from=500)}, 2000)
        assert (run.entries[1].rung, run.entries[1].status[:5]) == (0, "error")
        assert run.winner() is run.reference

    @pytest.mark.parametrize("bad", [NAN, None], ids=["gap", "shape"])
    def test_predictions_must_be_complete(self, time, monkeypatch, bad):
        class Gaps(Fake):
            def predict(self, X):
                return super().predict(X)[:, :-1] if bad is None else super().predict(X) * bad

        run = race({"reference": Fake(), "gaps": Gaps()}, 100)
        assert "must rank every label" in run.entries[1].status

    def test_warnings_of_folds_are_not_shown(self, time):
        class Warns(Fake):
            def fit(self, X, y, sample_weight=None):
                warnings.warn("a fold", UserWarning, stacklevel=2)
                return super().fit(X, y)

        assert race({"reference": Warns(), "other": Fake()}, 100).last == 1


class TestBudget:
    def test_the_reference_is_compared_in_any_case(self, time):
        run = race({"reference": Fake(seconds=9), "other": Fake(wrong=0.5)}, 2000, budget=0.1)
        assert (run.reference.rung, run.last) == (0, 0)
        assert (
            run.entries[1].status
            == "skipped on rung 0: no time is left for it and a fit on all rows"
        )
        assert run.winner() is run.reference

    def test_a_slow_one_is_given_up_after_a_fold(self, time):
        rankers = {"reference": Fake(seconds=0.1), "slow": Fake(seconds=20), "fast": Fake()}
        run = race(rankers, 2000, budget=60)
        assert "after 1 of 5 folds" in run.entries[1].status
        assert run.entries[2].rung == 2

    def test_one_known_to_be_dear_is_not_even_begun(self, time):
        field = {"dear": Fake(seconds=20), "cheap": Fake(seconds=0.1)}
        costs = {"reference": 1.0, "dear": 200.0, "cheap": 1.0}
        run = race({"reference": Fake(seconds=0.1), **field}, 2000, budget=60, costs=costs)
        assert run.entries[1].status.startswith("skipped on rung 0: needs about")
        assert not run.entries[1].runs
        assert run.entries[2].rung == 2

    def test_one_that_grows_too_fast_is_given_up_above(self, time):
        field = {"cubic": Fake(seconds=0.1, growth=3), "linear": Fake(seconds=0.1)}
        field.update({f"worse {i}": Fake(wrong=0.9, seconds=0.01) for i in range(4)})
        run = race({"reference": Fake(wrong=0.1, seconds=0.1), **field}, 6000, budget=300)
        cubic, linear = run.entries[1:3]
        assert cubic.status.startswith("timeout on rung 1 after 1 of 5 folds")
        assert (cubic.rung, linear.rung) == (0, 3)

    def test_one_that_is_too_slow_for_the_next_rung_is_skipped(self, time):
        field = {"slow": Fake(seconds=2), "fast": Fake(seconds=0.1)}
        field.update({f"worse {i}": Fake(wrong=0.9) for i in range(4)})
        run = race({"reference": Fake(wrong=0.1, seconds=0.1), **field}, 600, budget=100)
        slow, fast = run.entries[1:3]
        assert slow.status.startswith("skipped on rung 1: needs about 83.1 s more of")
        assert (slow.rung, fast.rung) == (0, 1)

    def test_a_last_rung_too_dear_leaves_its_time_to_the_first(self, time):
        """All others get a chance on the first rung, where the reference has none above."""
        others = {f"other {i}": Fake(seconds=1) for i in range(8)}
        run = race({"reference": Fake(seconds=10), **others}, 100, budget=100)
        assert run.last == 0
        assert all(entry.rung == 0 for entry in run.entries)

    def test_no_budget_runs_everything(self, time):
        run = race({"reference": Fake(seconds=1e6), "slow": Fake(seconds=1e9)}, 2000)
        assert [entry.rung for entry in run.entries] == [2, 2]

    @settings(max_examples=60, deadline=None)
    @given(
        n=st.sampled_from([90, 400, 2000, 6000]),
        budget=st.floats(1, 300),
        costs=st.lists(st.tuples(st.floats(0.001, 3), st.floats(0.5, 2)), min_size=2, max_size=6),
    )
    def test_late_by_one_fit_at_most(self, n, budget, costs):
        with pytest.MonkeyPatch.context() as patch:
            time = Time()
            patch.setattr(halving, "monotonic", time)
            field = {
                str(i): Fake(wrong=0.1 * i, seconds=seconds, growth=growth)
                for i, (seconds, growth) in enumerate(costs)
            }
            run = race(field, n, budget=budget, growth=2.0)
            first = sum(map(sum, run.reference.runs.values()))
            refit = run.winner().ranker
            refit.fit(*data(n))
            allowed = max(budget, first + refit.seconds * (n / 100) ** refit.growth)
            assert time.now <= allowed + time.longest


def test_leaderboard_has_a_row_for_each_with_plain_columns(time):
    rankers = {"reference": Fake(wrong=0.2, seconds=1), "good": Fake(wrong=0.1)}
    rankers |= {"bad": Fake(wrong=0.9), "broken": Fake(fails_from=0)}
    table = leaderboard(race(rankers, 300)).set_index("candidate")
    assert table.index.tolist() == ["good", "reference", "bad", "broken"]
    assert table.loc["good", "folds"] == 20
    assert table.loc["good", "gain"] > 0 == table.loc["reference", "gain"]
    assert table.loc["bad", ["rows", "folds", "rung"]].tolist() == [300, 5, 0]
    assert np.isnan(table.loc["broken", "tau_x"])
    assert table.loc["reference", "seconds"] == pytest.approx(20 * 2.4)
    plain = (str, int, float)
    assert all(
        isinstance(cell, plain) for row in table.to_dict("records") for cell in row.values()
    )
