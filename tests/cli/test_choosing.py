import pytest
from sklearn.base import clone

import moreplr
from moreplr import rivals
from moreplr.cli.choosing import RANKERS, RIVALS, make_ranker, use_jobs
from moreplr.forest import ForestClassifier, ForestRegressor
from moreplr.layers import EpsilonCloseness
from moreplr.regressors import Chain


@pytest.mark.parametrize("name", RANKERS)
def test_every_name_is_a_ranker_with_the_seed(name):
    ranker = make_ranker(name, random_state=7)
    assert isinstance(ranker, getattr(moreplr, RANKERS[name]))
    assert ranker.random_state == 7
    assert repr(clone(ranker)) == repr(ranker)


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_have_names_too(name):
    ranker = make_ranker(name, random_state=7)
    assert isinstance(ranker, getattr(rivals, RIVALS[name]))
    assert ranker.get_params().get("random_state", 7) == 7


def test_parameters_after_the_name_and_by_set():
    ranker = make_ranker("forest:n_estimators=5,structure=shared", ["min_samples=2"])
    assert (ranker.n_estimators, ranker.structure, ranker.min_samples) == (5, "shared", 2)


def test_parts_by_name_or_by_default_become_objects_with_the_seed():
    ranker = make_ranker(
        "more",
        [
            "regressor=chain",
            "regressor__base__n_estimators=3",
            "layer=epsilon",
            "layer__epsilon=0.2",
            "encoder=modified",
            "encoder__positions=expected",
        ],
        random_state=5,
    )
    assert isinstance(ranker.regressor, Chain)
    assert ranker.regressor.random_state == 5
    assert isinstance(ranker.regressor.base, ForestRegressor)
    assert ranker.regressor.base.n_estimators == 3
    assert isinstance(ranker.layer, EpsilonCloseness)
    assert ranker.layer.epsilon == 0.2
    assert (ranker.encoder.method, ranker.encoder.positions) == ("modified", "expected")
    pairwise = make_ranker("pairwise", ["classifier__max_depth=2"])
    assert isinstance(pairwise.classifier, ForestClassifier)


def test_a_part_that_is_made_an_object_predicts_the_same():
    X, Y = [[0.0], [1.0], [2.0], [3.0]] * 3, [[1, 2, 2], [2, 1, 3], [3, 2, 1], [1, 1, 2]] * 3
    plain = make_ranker("more", random_state=3).fit(X, Y)
    opened = make_ranker("more", ["regressor__base__n_estimators=100"], random_state=3).fit(X, Y)
    assert (plain.predict_positions(X) == opened.predict_positions(X)).all()


@pytest.mark.parametrize(
    ("spec", "changes", "message"),
    [
        ("forst", [], "no ranker 'forst'; choose from forest, auto"),
        ("tree", ["depth=3"], "tree has no parameter 'depth'; it has aggregation, max_depth"),
        ("tree", ["max_depth__a=3"], "'max_depth' of tree has no parameters of its own"),
        ("more", ["layer__eps=1"], "layer of more has no parameter 'eps'"),
        ("more", ["layer=nothing", "layer__eps=1"], "'layer' of more has no parameters"),
    ],
)
def test_what_is_not_there_is_named(spec, changes, message):
    with pytest.raises(ValueError, match=message):
        make_ranker(spec, changes)


def test_threads_reach_all_parts():
    ranker = make_ranker("more", ["regressor__base__n_estimators=3"])
    use_jobs(ranker, 2)
    assert ranker.n_jobs == ranker.regressor.n_jobs == ranker.regressor.base.n_jobs == 2
