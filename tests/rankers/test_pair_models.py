"""Models of all pairs at once; how PairwiseRanker uses them is in test_pairwise."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from moreplr.checks import make_rankings
from moreplr.forest import ForestClassifier
from moreplr.incomplete import remove_labels
from moreplr.rankers._pair_models import PairClassifiers, PairForests
from moreplr.rankers._pairs import pair_codes

X, Y = make_rankings(n=120)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_a_batch_answers_as_the_forests_one_by_one(missing):
    """With one feature, one split and no bootstrap nothing is left to chance."""
    one = X[:, :1]
    Z = remove_labels(Y, missing, random_state=0)
    Z[:, 0] = 1
    classifier = ForestClassifier(1, bootstrap=False, max_depth=1, min_samples_leaf=9)
    codes = pair_codes(Z)
    batch = PairForests.fit(classifier, one, codes)
    alone = PairClassifiers.fit(classifier, one, codes, None, range(4))
    seen = codes >= 0  # others may fall between the rows on both sides of a split
    np.testing.assert_allclose(batch.predict(one)[seen], alone.predict(one)[seen], atol=1e-6)
    np.testing.assert_array_equal(batch.learned, alone.learned)


def test_each_pair_learns_from_its_own_rows_and_weights():
    codes = pair_codes(remove_labels(Y, 0.3, random_state=0))
    weight = np.random.default_rng(0).random(len(X))
    model = PairClassifiers.fit(GaussianNB(), X, codes, weight, "abcd")
    for pair in range(6):
        seen = codes[:, pair] >= 0
        alone = GaussianNB().fit(X[seen], codes[seen, pair], weight[seen])
        expected = np.zeros((len(X), 3))
        expected[:, alone.classes_] = alone.predict_proba(X)
        np.testing.assert_allclose(model.predict(X)[:, pair], expected)


def test_pairs_without_a_choice_are_constant():
    codes = np.array([[0, -1, 2], [0, -1, 1], [0, -1, 2]], np.int8)
    model = PairClassifiers.fit(DummyClassifier(), X[:3], codes, None, "abc")
    assert model.learned.tolist() == [False, False, True]
    first, unknown, third = model.predict(X[:1])[0]
    assert first.tolist() == [1, 0, 0]
    np.testing.assert_allclose(unknown, 1 / 3)
    np.testing.assert_allclose(third, [0, 1 / 3, 2 / 3])


def test_one_label_has_no_pairs():
    none = np.empty((120, 0), np.int8)
    model = PairClassifiers.fit(GaussianNB(), X, none, None, "a")
    assert model.predict(X[:5]).shape == (5, 0, 3)
    assert not PairForests.suits(ForestClassifier(), none, None)


def test_threads_change_nothing():
    codes = pair_codes(Y)
    one, two = (
        PairClassifiers.fit(LogisticRegression(), X, codes, None, "abcd", n_jobs=n) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_a_batch_suits_the_librarys_forests_with_equal_weights():
    codes = pair_codes(Y)
    equal, other = np.full(len(X), 0.5), np.arange(1.0, 121)
    assert PairForests.suits(ForestClassifier(), codes, None)
    assert PairForests.suits(ForestClassifier(), codes, equal)
    assert not PairForests.suits(ForestClassifier(), codes, other)
    assert not PairForests.suits(GaussianNB(), codes, None)
    assert not PairForests.suits(ForestClassifier(), codes[:0], None)

    class Own(ForestClassifier):
        """May do something else."""

    assert not PairForests.suits(Own(), codes, None)


def test_an_error_names_the_labels():
    codes = pair_codes(Y)[:, 3:4]
    with pytest.raises(ValueError, match="NaN") as error:
        PairClassifiers.fit(GaussianNB(), X * np.nan, codes, None, ["tea", "milk"])
    assert error.value.__notes__ == ["while learning how labels 'tea' and 'milk' relate"]
