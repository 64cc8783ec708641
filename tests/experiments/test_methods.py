import numpy as np
import pytest

from moreplr.checks import make_rankings
from moreplr.experiments.methods import Settings, make_method, register
from moreplr.forest import ForestRegressor
from moreplr.layers import EpsilonCloseness, PredictionInterval, RoundRank
from moreplr.rankers import DummyRanker


def test_published_names_have_the_published_parameters():
    rr, pi, eps = (make_method(f"Chain-{layer}").ranker for layer in ("RR", "PI", "EPS"))
    assert (rr.encoder, pi.encoder, eps.encoder) == ("dense", "modified", "modified")
    assert isinstance(rr.layer, RoundRank)
    assert rr.layer.halves == "even"
    assert isinstance(pi.layer, PredictionInterval)
    assert pi.layer.q == 1
    assert isinstance(eps.layer, EpsilonCloseness)
    assert eps.layer.epsilon == 0.06
    assert rr.regressor.order == "published"
    assert rr.regressor.base.n_estimators == 100
    assert make_method("RPC").ranker.ties == "published"


def test_options_and_settings():
    settings = Settings(trees=7, forest="moreplr", seed=3)
    method = make_method("Native-PI q=2 encoder=fractional", settings)
    assert method.traits == {
        "regressor": "Native",
        "layer": "PI",
        "encoder": "fractional",
        "q": 2,
    }
    base = method.ranker.regressor.base
    assert isinstance(base, ForestRegressor)
    assert (base.n_estimators, base.random_state) == (7, 3)


def test_methods_that_differ_in_the_decision_share_a_fit():
    keys = {
        name: make_method(name).fit_key() for name in ("ST-PI", "ST-PI q=2", "ST-EPS", "ST-RR")
    }
    assert keys["ST-PI"] == keys["ST-PI q=2"] == keys["ST-EPS"] != keys["ST-RR"]
    assert make_method("RPC").fit_key() == make_method("RPC (text)").fit_key()
    assert make_method("ST-PI").definition != make_method("ST-EPS").definition


@pytest.mark.parametrize(
    "name", ["IBLR-M", "IBLR-PL", "LRT", "BoostLR", "LR-RF", "RPC (Borda)", "RPC (Copeland)"]
)
def test_rivals_rank(name):
    X, Y = make_rankings(n=30)
    ranker = make_method(name, Settings(trees=3, forest="moreplr")).ranker
    assert ranker.fit(X, Y).score(X, Y) > 0.3


def test_counts_share_the_fit_of_pairwise_comparison():
    keys = {make_method(name).fit_key() for name in ("RPC", "RPC (Borda)", "RPC (Copeland)")}
    assert len(keys) == 1


def test_the_published_collapse_puts_minus_one_where_a_label_is_missing():
    X, Y = np.arange(8.0)[:, None], np.array([[1.0, np.nan, 2.0]] * 6 + [[np.nan] * 3] * 2)
    ranker = make_method("Native-RR (published)").ranker.set_params(positions="given")
    with pytest.warns(UserWarning, match="2 of 8 rows rank no label"):
        ranker.fit(X, Y)
    # also where no label is ranked: those rows were left out, not filled
    np.testing.assert_allclose(ranker.predict_positions(X), [[1, -1, 2]] * 8)
    assert (
        make_method("Native-PI (published)").ranker.fit(X[:6], Y[:6]).predict(X).shape == Y.shape
    )


def make_dummy(settings):
    return DummyRanker(random_state=settings.seed)


def test_methods_of_your_own():
    register("Floor", make_dummy)
    assert make_method("Floor", Settings(seed=5)).ranker.random_state == 5
    path = "sklearn.linear_model:Ridge"
    assert make_method(path).name == path
    with pytest.raises(ValueError, match="built-in"):
        register("ST-RR", make_dummy)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("XGB", "no method 'XGB'; known are"),
        ("ST-RR q=2", "RR has no option q"),
        ("ST-PI width=2", "'width=2' is not"),
        ("no.such.module:make", "can't be imported"),
    ],
)
def test_unknown_names_are_answered(name, message):
    with pytest.raises(ValueError, match=message):
        make_method(name)
