import signal
import threading

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from moreplr import DummyRanker, RankingBoost
from moreplr.checks import RANKER_CHECKS, make_rankings
from moreplr.incomplete import remove_labels
from moreplr.rankers.boost._base import featureless
from moreplr.rankings import dense_ranks

RANKERS = [
    RankingBoost(random_state=0),
    RankingBoost(100, max_depth=5, n_members=2, objective="l1", random_state=0),
]
NAN = float("nan")


def smooth(n, seed=0, k=5, ties=True):
    """Rankings by smooth functions of six features, with noise."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(6, k))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    utility = np.tanh(X @ weights / 2) + 0.2 * rng.normal(size=(n, k))
    return X, dense_ranks(-np.round(3 * utility) if ties else -utility)


@parametrize_with_checks(RANKERS)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
@pytest.mark.parametrize("check", RANKER_CHECKS, ids=lambda check: check.__name__)
def test_ranker(ranker, check):
    check(ranker)


def log_loss(pairs, Y):
    i, j = np.triu_indices(Y.shape[1], 1)
    before, after = Y[:, i] < Y[:, j], Y[:, i] > Y[:, j]
    seen = np.where(before, pairs.P[:, i, j], np.where(after, pairs.P[:, j, i], pairs.Q[:, i, j]))
    return -np.log(seen).mean()


def test_it_learns_smooth_utilities():
    X, Y = smooth(1500)
    X_new, Y_new = smooth(500, seed=2)
    boost = RankingBoost(random_state=0).fit(X, Y)
    consensus = DummyRanker().fit(X, Y)
    assert boost.score(X_new, Y_new) > consensus.score(X_new, Y_new) + 0.4
    out_of_fold = log_loss(boost.held_out_pairs(), Y)
    new = log_loss(boost.predict_pairs(X_new), Y_new)
    assert new < 0.6 * log_loss(consensus.predict_pairs(X_new), Y_new)
    assert out_of_fold == pytest.approx(new, rel=0.1)
    seen = log_loss(boost.predict_pairs(X), Y)
    assert seen < new, "the mean of the members has seen the training rows"


def test_ties_that_depend_on_a_feature_are_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    order = np.array([[1.0, 2.0], [2.0, 1.0]])[rng.integers(2, size=800)]
    Y = np.where(X[:, :1] > 0, 1.0, order)
    pairs = RankingBoost(random_state=0).fit(X, Y).predict_pairs(X)
    ties = pairs.Q[:, 0, 1]
    assert ties[X[:, 0] > 0].mean() > 0.9
    assert ties[X[:, 0] < 0].mean() < 0.1


def test_missing_features_are_a_value_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X[::2, 0] = NAN
    Y = np.where(np.isnan(X[:, :1]), [[1.0, 2.0]], [[2.0, 1.0]])
    boost = RankingBoost(random_state=0).fit(X, Y)
    assert boost.predict([[NAN, 0.0], [0.3, 0.0]]).tolist() == [[1, 2], [2, 1]]


def test_scores_order_labels_as_pairs_do():
    X, Y = smooth(300)
    boost = RankingBoost(50, random_state=0).fit(X, Y)
    scores, (P, _) = boost.predict_scores(X), boost.predict_pairs(X)
    np.testing.assert_array_equal(
        scores[:, :, None] > scores[:, None, :], np.swapaxes(P, 1, 2) < P
    )


def test_stages_go_from_the_featureless_model_to_the_prediction():
    X, Y = smooth(300)
    boost = RankingBoost(40, random_state=0).fit(X, Y)
    stages = list(boost.staged_predict_pairs(X[:9]))
    assert len(stages) == len(boost.members_[0].offsets)
    np.testing.assert_array_equal(stages[0].P, np.broadcast_to(stages[0].P[0], (9, 5, 5)))
    np.testing.assert_allclose(stages[-1].P, boost.predict_pairs(X[:9]).P)
    losses = [log_loss(pairs, Y) for pairs in boost.staged_predict_pairs(X)]
    assert losses[0] > losses[10] > losses[-1]


def test_held_out_loss_decides_the_number_of_steps():
    X, Y = smooth(300)
    boost = RankingBoost(random_state=0).fit(X, Y)
    steps = int(np.argmin(boost.held_out_loss_))
    assert max(trees.n_trees for trees in boost.members_) == steps
    ranked = (~np.isnan(Y)).sum(axis=1)
    weight = 1 / (ranked - 1)
    i, j = np.triu_indices(5, 1)
    P, Q = boost.held_out_pairs()
    np.testing.assert_array_equal(boost.held_out_pairs([7, 3]).P, P[[7, 3]])
    seen = np.where(
        Y[:, i] < Y[:, j], P[:, i, j], np.where(Y[:, i] > Y[:, j], P[:, j, i], Q[:, i, j])
    )
    loss = -(np.log(seen).sum(axis=1) * weight).sum()
    assert loss == pytest.approx(boost.held_out_loss_.min(), rel=0.01)


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 4)), rng.integers(1, 4, size=(300, 4)).astype(float)
    boost = RankingBoost(random_state=0).fit(X, Y)
    assert len(boost.held_out_loss_) < 60
    consensus = DummyRanker().fit(X, Y).predict_pairs(X[:1])
    np.testing.assert_allclose(boost.predict_pairs(X).P.mean(axis=0), consensus.P[0], atol=0.05)


def test_important_features_are_the_ones_that_matter():
    X, Y = smooth(500)
    noise = np.random.default_rng(0).normal(size=(500, 2))
    boost = RankingBoost(random_state=0).fit(np.hstack([X, noise]), Y)
    shares = boost.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares[:6].min() > shares[6:].max()


@pytest.mark.parametrize("n_jobs", [2, 8])
def test_threads_do_not_change_a_byte(n_jobs):
    X, Y = smooth(200)
    Y = remove_labels(Y, 0.2, random_state=0)
    one = RankingBoost(random_state=3).fit(X, Y)
    many = RankingBoost(random_state=3, n_jobs=n_jobs).fit(X, Y)
    assert one.predict_scores(X).tobytes() == many.predict_scores(X).tobytes()
    assert one.oof_scores_.tobytes() == many.oof_scores_.tobytes()


def test_the_scale_of_weights_does_not_matter_and_zero_is_absent():
    X, Y = smooth(200)
    weight = np.random.default_rng(0).random(200)
    weight[::5] = 0
    boost = RankingBoost(30, random_state=0)
    first = boost.fit(X, Y, 1024 * weight).predict_scores(X)
    oof = boost.oof_scores_
    np.testing.assert_allclose(first, boost.fit(X, Y, weight).predict_scores(X))
    kept = weight > 0
    boost.fit(X[kept], Y[kept], weight[kept])
    np.testing.assert_allclose(first, boost.predict_scores(X))
    np.testing.assert_allclose(oof[kept], boost.oof_scores_)
    np.testing.assert_allclose(oof[~kept, :5], first[~kept])


def test_weights_count():
    X, Y = np.zeros((60, 1)), np.tile([[1.0, 2.0], [2.0, 1.0]], (30, 1))
    weight = np.tile([3.0, 1.0], 30)
    P, Q = RankingBoost(random_state=0).fit(X, Y, weight).predict_pairs(X[:1])
    assert P[0, 0, 1] / P[0, 1, 0] == pytest.approx(3, rel=0.1)
    assert Q[0, 0, 1] < 0.05


def test_without_ties_none_are_predicted():
    X, Y = smooth(300, ties=False)
    boost = RankingBoost(random_state=0).fit(X, Y)
    assert boost.predict_pairs(X).Q[:, 0, 1].max() < 0.05
    assert (boost.predict(X).max(axis=1) == 5).all()


def test_a_label_that_is_always_last_stays_finite():
    X, Y = smooth(300)
    Y[:, 2] = 99
    boost = RankingBoost(random_state=0).fit(X, Y)
    scores = boost.predict_scores(X)
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() < 50
    assert (boost.predict(X)[:, 2] == boost.predict(X).max(axis=1)).all()


def test_a_label_that_is_never_compared_is_average():
    X, Y = smooth(300)
    Y[:, 2] = NAN
    with pytest.warns(UserWarning, match="1 of 5 labels are never compared"):
        boost = RankingBoost(random_state=0).fit(X, Y)
    np.testing.assert_allclose(boost.predict_scores(X)[:, 2], 0.0, atol=1e-3)


def test_one_row_predicts_itself():
    boost = RankingBoost().fit([[0.0]], [[1.0, 2.0, 2.0]])
    assert boost.members_ == []
    assert boost.predict_text([[3.0]]) == ["0 > 1 ~ 2"]
    assert boost.feature_importances_.tolist() == [0.0]


def test_three_hundred_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = dense_ranks(-(X @ rng.normal(size=(3, 300))))
    boost = RankingBoost(20, random_state=0).fit(X, Y)
    assert np.isfinite(boost.predict_scores(X)).all()
    assert boost.held_out_loss_[-1] < boost.held_out_loss_[0]


def test_the_featureless_model_gives_the_shares_of_two_labels():
    Y = np.array([[1.0, 2.0]] * 500 + [[2.0, 1.0]] * 300 + [[1.0, 1.0]] * 200)
    s = featureless(Y, np.ones(len(Y)))
    terms = np.exp([s[0], (s[0] + s[1]) / 2 + s[2] + s[3], s[1]])
    np.testing.assert_allclose(terms / terms.sum(), [0.5, 0.2, 0.3], atol=1e-3)


def test_folds_do_not_share_what_they_have_seen():
    """Where rankings are noise, nothing is known of a row that has not been seen."""
    rng = np.random.default_rng(0)
    X, Y = np.arange(200.0)[:, None], rng.permuted(np.tile(np.arange(1.0, 6), (200, 1)), axis=1)
    boost = RankingBoost(100, patience=100, max_depth=6, random_state=0).fit(X, Y)
    assert abs(DummyRanker().fit(X, Y).score(X, Y)) < 0.2
    decoded = boost.held_out_pairs().P > 0.5
    right = Y[:, :, None] < Y[:, None, :]
    assert abs((decoded & right).sum() / right.sum() - 0.5) < 0.1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_fit(n_jobs):
    X, Y = smooth(300)
    endless = RankingBoost(10**9, patience=10**9, n_jobs=n_jobs, random_state=0)
    before = threading.active_count()
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, Y)
    timer.join()
    assert threading.active_count() == before
    assert not hasattr(endless, "members_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"learning_rate": 0}, "learning_rate must be in (0, 1], got 0"),
        ({"subsample": 1.5}, "subsample must be in (0, 1], got 1.5"),
        ({"l2": -1}, "l2 must be a positive number, got -1"),
        ({"n_members": 1}, "n_members must be an integer of at least 2, got 1"),
        ({"max_depth": 0}, "max_depth must be an integer of at least 1, got 0"),
        ({"max_bins": 1000}, "max_bins must be an integer from 2 to 255, got 1000"),
        ({"n_directions": 0}, "n_directions must be an integer of at least 1, got 0"),
        ({"max_features": 0.0}, "max_features must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        RankingBoost(**parameters).fit(*make_rankings())
    assert message in str(error.value)
