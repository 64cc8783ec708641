import numpy as np
import pytest

from moreplr.encoders import encode
from moreplr.incomplete import remove_labels


def test_exact_takes_the_published_cells():
    Y = np.arange(1.0, 31.0).reshape(6, 5)
    taken = np.random.default_rng(0).choice(30, 9, replace=False)
    expected = Y.ravel().copy()
    expected[taken] = np.nan
    np.testing.assert_array_equal(remove_labels(Y, 0.3, random_state=0), expected.reshape(6, 5))


@pytest.mark.parametrize(("fraction", "left"), [(0, 40), (0.3, 28), (0.29, 29), (1, 0)])
def test_exact_share(fraction, left):
    Y = np.ones((10, 4))
    assert np.sum(~np.isnan(remove_labels(Y, fraction, random_state=1))) == left


def test_exact_counts_among_ranked_labels():
    Y = np.ones((10, 4))
    Y[:5] = np.nan
    assert np.sum(~np.isnan(remove_labels(Y, 0.5, random_state=1))) == 10


def test_bernoulli_takes_about_the_share_and_varies():
    Y = np.ones((2000, 5))
    counts = {
        int(np.isnan(remove_labels(Y, 0.3, "bernoulli", random_state=seed)).sum())
        for seed in range(5)
    }
    assert len(counts) > 1
    assert all(2700 < count < 3300 for count in counts)


def test_what_stays_is_untouched_and_the_input_too():
    Y = np.random.default_rng(0).normal(size=(20, 4))
    before = Y.copy()
    out = remove_labels(Y, 0.4, random_state=0)
    np.testing.assert_array_equal(Y, before)
    kept = ~np.isnan(out)
    np.testing.assert_array_equal(out[kept], Y[kept])


def test_the_two_protocols_differ():
    Y = np.array([[1.0, 2.0, 3.0, 4.0]])
    honest = encode(remove_labels(Y, 0.5, random_state=3))
    published = remove_labels(encode(Y), 0.5, random_state=3)
    assert np.nanmax(honest) == 2
    assert np.nanmax(published) > 2


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan")])
def test_bad_share(bad):
    with pytest.raises(ValueError, match="fraction"):
        remove_labels([[1, 2]], bad)


def test_bad_method():
    with pytest.raises(ValueError, match="'all'"):
        remove_labels([[1, 2]], 0.5, "all")
