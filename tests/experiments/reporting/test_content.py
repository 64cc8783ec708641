import html
import re

import pytest

from moreplr.experiments.reporting import content
from moreplr.experiments.reporting.summary import Summary
from moreplr.experiments.store import Store
from moreplr.experiments.units import Key, Result

SETS = [f"set_{number}" for number in range(8)]


def summary(means, sets=SETS, missing=0.0, protocol="complete"):
    """Of {method: mean τ_X}, on each data set a little more."""
    with Store(":memory:") as store:
        store.write(
            Result(
                Key("plr", name, method, missing, protocol, 0, 0),
                "ok",
                mean + place / 100,
                2.0,
                0.1,
                0.1,
                90,
                10,
            )
            for place, name in enumerate(sets)
            for method, mean in means.items()
        )
        return Summary(store.frame(), store.identities())


def plain(made):
    return re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", " ", made)))


def test_the_lead_names_who_is_first_and_who_cannot_be_told_from_it():
    means = {"kNN": 0.5, "Tree": 0.6, "Forest": 0.3, "Boost": 0.2, "Dummy": 0.1}
    made = plain(content.lead(summary(means)))
    assert "40 results: 8 data sets, 5 methods, 1 folds" in made
    assert "Tree rank 1.00 kNN 5 methods, 8 data sets" in made
    assert "fewer than" not in made


def test_the_lead_says_where_there_are_too_few_data_sets_to_tell():
    made = plain(content.lead(summary({"kNN": 0.5, "Tree": 0.6}, SETS[:3])))
    assert "With fewer than 6 data sets, tests tell next to nothing apart" in made
    assert "no difference by Friedman's test" in made


def test_each_method_has_its_rank_and_the_least_is_marked():
    made = content.ranks(summary({"kNN": 0.5, "Tree": 0.6}))
    assert re.findall(r'data-value="([\d.]+)"( class="best")?', made) == [
        ("1.0", ' class="best"'),
        ("2.0", ""),
    ]


def test_the_tests_say_the_least_p_that_was_possible():
    found = summary({"kNN": 0.5, "Tree": 0.6, "Dummy": 0.1})
    made = plain(content.condition_part(found, found.conditions[0]))
    # The nearest of three: a mean rank of 2 over 8 data sets is 2 standard errors away.
    said = "Were Tree first on every data set, Holm's test would give its nearest rival p = 0.046"
    assert said in made


@pytest.mark.parametrize(
    ("name", "missing", "protocol", "words"),
    [
        ("kNN", 0.3, "honest", "Honest protocol"),
        ("Native-RR (published)", 0.3, "published", "−1"),
        ("ST-EPS", 0.0, "complete", "the paper's value is half of it"),
    ],
)
def test_notes_explain_what_the_results_call_for_and_nothing_else(name, missing, protocol, words):
    made = content.notes(summary({name: 0.5}, missing=missing, protocol=protocol))
    assert words in html.unescape(made)
    assert words not in html.unescape(content.notes(summary({"kNN": 0.5})))


def test_what_failed_is_counted_over_folds():
    with Store(":memory:") as store:
        keys = [Key("plr", "iris", "Tree", 0.0, "complete", 0, fold) for fold in range(3)]
        store.write(Result(key, "error", message="out of <memory>") for key in keys)
        made = content.failures(Summary(store.frame(), store.identities()))
    assert "out of &lt;memory&gt;" in made
    assert 'data-value="3"' in made
