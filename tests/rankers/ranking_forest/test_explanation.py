import numpy as np
import pandas as pd
import pytest

from moreplr import RankingForest
from moreplr.checks import make_rankings
from moreplr.rankings import to_text

NAN = float("nan")


@pytest.fixture(params=["shared", "per_label", "both"])
def fitted(request):
    X, Y = make_rankings(n=60)
    Y[::5, 2] = NAN
    names = list("wxyz")
    forest = RankingForest(20, structure=request.param, random_state=0)
    return forest.fit(X, pd.DataFrame(Y, columns=names)), X, Y


def test_it_explains_what_is_predicted(fitted):
    forest, X, _ = fitted
    for row in X[:5]:
        why = forest.explain(row)
        assert why.ranking == forest.predict_text(row[None])[0]
        np.testing.assert_array_equal(why.ranks, forest.predict(row[None])[0])


def test_rows_are_training_rows_with_weights_of_sum_one(fitted):
    forest, X, Y = fitted
    rows = forest.explain(X[3]).rows
    assert rows.weight.sum() == pytest.approx(1, abs=1e-5)
    assert (rows.weight.diff().dropna() <= 0).all()
    assert rows.row.is_unique
    # A tree that has drawn the row itself has it in its leaf, as hardly any other tree has.
    assert rows.row[0] == 3
    assert rows.ranking.tolist() == to_text(Y[rows.row], list("wxyz"))


def test_a_pair_has_the_predicted_probabilities(fitted):
    forest, X, _ = fitted
    P, Q = forest.predict_pairs(X[:1])
    pair = forest.explain(X[0]).pair("y", "w")
    assert (pair.precedes, pair.tied, pair.follows) == (P[0, 2, 0], Q[0, 2, 0], P[0, 0, 2])


def test_the_rows_of_a_pair_rank_both_and_vote_as_predicted(fitted):
    forest, X, Y = fitted
    forest.set_params(min_samples=1, marginal_weight=0.0, prior_weight=0.0).fit(X, Y)
    pair = forest.explain(X[0]).pair(0, 2)
    assert not np.isnan(Y[pair.rows.row][:, [0, 2]]).any()
    assert pair.compared == pytest.approx(pair.rows.weight.sum())
    votes = pair.rows.groupby("relation").weight.sum() / pair.compared
    expected = {"precedes": pair.precedes, "tied": pair.tied, "follows": pair.follows}
    for relation, share in expected.items():
        assert votes.get(relation, 0.0) == pytest.approx(share, abs=1e-4)


def test_a_pair_read_backwards_is_the_mirror_image(fitted):
    forest, X, _ = fitted
    why = forest.explain(X[7])
    there, back = why.pair("w", "z"), why.pair("z", "w")
    mirror = {"precedes": "follows", "tied": "tied", "follows": "precedes"}
    assert back.relation == mirror[there.relation]
    assert back.alone == mirror[there.alone]
    assert (back.precedes, back.follows) == (there.follows, there.precedes)


def test_sentences_name_the_labels_and_the_decision():
    X = np.arange(12.0)[:, None]
    Y = pd.DataFrame(
        {"tea": [1] * 6 + [2] * 6, "milk": [1] * 6 + [1] * 6, "rum": [2] * 6 + [3] * 6}
    )
    forest = RankingForest(20, structure="shared", prior_weight=0, random_state=0).fit(X, Y)
    low, high = forest.explain([0.0]), forest.explain([11.0])
    assert str(low.pair("tea", "milk")).startswith("tea and milk are tied: 0% for tea first, 100%")
    assert str(high.pair("tea", "milk")).startswith("milk is ranked before tea: ")
    assert str(low).startswith("predicted: tea ~ milk > rum\n")
    assert len(str(low).splitlines()) == 4


def test_what_other_labels_decide_is_said():
    """A cycle: each pair alone is ordered, all three can't be."""
    Y = np.array([[1, 2, 3], [3, 1, 2], [2, 3, 1]] * 4)
    forest = RankingForest(30, min_samples=12, marginal_weight=0, prior_weight=0, random_state=0)
    why = forest.fit(np.zeros((12, 1)), Y).explain([0.0])
    pairs = [why.pair(a, b) for a, b in ((0, 1), (1, 2), (0, 2))]
    against = [pair for pair in pairs if pair.relation != pair.alone]
    assert against
    assert all("the other labels decide" in str(pair) for pair in against)


def test_numbers_of_rows_are_those_of_the_training_data():
    """Rows of weight zero are left out, and do not shift the others."""
    X, Y = make_rankings(n=40)
    weight = np.ones(40)
    weight[:20] = 0
    rows = RankingForest(10, random_state=0).fit(X, Y, weight).explain(X[30]).rows
    assert rows.row.min() >= 20
    assert rows.row[0] == 30


def test_a_row_in_any_form():
    X, Y = make_rankings(n=30)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    forest = RankingForest(10, random_state=0).fit(frame, Y)
    texts = {str(forest.explain(x)) for x in (frame.iloc[4], frame.iloc[[4]], frame[4:5])}
    assert len(texts) == 1
    plain = RankingForest(10, random_state=0).fit(X, Y)
    assert {str(plain.explain(x)) for x in (X[4], X[4].tolist(), X[4:5])} == texts


def test_bad_questions():
    X, Y = make_rankings(n=30)
    forest = RankingForest(5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="one row is explained at a time, got"):
        forest.explain(X[:2])
    with pytest.raises(ValueError, match="no label 'tee'"):
        forest.explain(X[0]).pair("tee", 0)
    with pytest.raises(ValueError, match="two labels, got 1 twice"):
        forest.explain(X[0]).pair(1, 1)
