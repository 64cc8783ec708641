"""Texts as a few numbers."""

import numpy as np
import pytest

from moreplr.vectorizing import TextEncoder

WORDS = ["red apple pie", "red apple tart", "blue ocean wave", "blue ocean storm"] * 10


def test_similar_texts_come_near_each_other():
    values = TextEncoder(2).fit(WORDS).transform(["red apple cake", "red apples", "blue oceans"])
    apart = np.linalg.norm(values[:, None] - values[None], axis=2)
    assert apart[0, 1] < apart[0, 2] / 3


def test_texts_may_be_few_or_empty():
    encoder = TextEncoder(5).fit(["a", None, "b"])
    assert encoder.transform([None, "a", ""]).shape[0] == 3
    assert TextEncoder(3).fit(["", None]).transform(["x"]).shape[0] == 1


def test_the_seed_decides():
    one, same = (TextEncoder(3, random_state=5).fit(WORDS).components_ for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_a_text_is_encoded_alike_whatever_is_beside_it():
    encoder = TextEncoder(3).fit(WORDS)
    together = encoder.transform(WORDS)
    alone = np.concatenate([encoder.transform([text]) for text in WORDS])
    np.testing.assert_allclose(together, alone, atol=1e-12)


def test_all_numbers_of_a_text_vary_as_much_as_one_standardised_number():
    values = TextEncoder(3).fit_transform(WORDS)
    assert values.var(axis=0).sum() == pytest.approx(1)


def test_what_is_fitted_grows_neither_with_texts_nor_with_words():
    many = [f"{word} {i}" for i, word in enumerate(WORDS * 5)]
    for texts in (WORDS, many):
        encoder = TextEncoder(3, n_hashes=512).fit(texts)
        assert encoder.weights_.shape == (512,)
        assert encoder.components_.shape == (3, 512)


def test_there_are_no_more_numbers_than_texts():
    encoder = TextEncoder(30).fit(WORDS[:4])
    assert encoder.transform(WORDS).shape == (40, 4)
    assert encoder.get_feature_names_out().tolist() == ["0", "1", "2", "3"]


@pytest.mark.parametrize("bad", [{"n_components": 0}, {"n_hashes": 1}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        TextEncoder(**bad).fit(WORDS)
