import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from moreplr.rankings import (
    check_rankings,
    dense_ranks,
    from_buckets,
    from_text,
    to_buckets,
    to_frame,
    to_text,
)

NAN = float("nan")

positions = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([1.0, 2.0, 3.0, -7.5, NAN]))
)


@st.composite
def named_rankings(draw):
    Y = draw(positions)
    k = Y.shape[1]
    names = draw(st.lists(st.text(max_size=5), min_size=k, max_size=k, unique=True))
    return Y, names


def test_rankings_are_stored_by_rows_whatever_they_come_as():
    """Kernels are compiled for one layout, and read row by row."""
    Y = np.array([[1, 2, 2], [2, 1, NAN]])
    for given_as in (Y, np.asfortranarray(Y), pd.DataFrame(dict(enumerate(Y.T))), Y[::-1, ::-1]):
        assert check_rankings(given_as)[0].flags.c_contiguous


class TestRoundTrips:
    @given(named_rankings())
    def test_text(self, case):
        Y, names = case
        back, labels = from_text(to_text(Y, names), names)
        assert labels.tolist() == names
        np.testing.assert_array_equal(back, dense_ranks(Y))

    @given(named_rankings())
    def test_text_with_the_signs_of_papers(self, case):
        Y, names = case
        back, _ = from_text(to_text(Y, names, signs="≻∼"), names)
        np.testing.assert_array_equal(back, dense_ranks(Y))

    @given(named_rankings())
    def test_buckets(self, case):
        Y, names = case
        back, _ = from_buckets(to_buckets(Y, names), names)
        np.testing.assert_array_equal(back, dense_ranks(Y))

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    @settings(deadline=None, max_examples=30)
    @given(case=named_rankings())
    def test_frames(self, library, case):
        Y, names = case
        frame = to_frame(Y, names, library=library)
        back, labels = check_rankings(frame)
        assert labels.tolist() == names
        np.testing.assert_array_equal(back, Y)

    @given(positions)
    def test_nested_lists(self, Y):
        np.testing.assert_array_equal(check_rankings(Y.tolist())[0], Y)

    def test_unknown_frame_library(self):
        with pytest.raises(ValueError, match="'dask'"):
            to_frame([[1, 2]], library="dask")


class TestDoor:
    def test_the_papers_customers(self):
        Y, labels = check_rankings(
            [
                "Hawaii ≻ Bali ∼ Paris ≻ Miami",
                "Bali ≻ Hawaii ≻ Miami",
                "Paris ∼ Bali ∼ Hawaii ∼ Tokyo ∼ Miami",
                "Hawaii ≻ Bali ∼ Tokyo ≻ Miami",
            ],
            labels=["Hawaii", "Bali", "Paris", "Tokyo", "Miami"],
        )
        assert labels[3] == "Tokyo"
        np.testing.assert_array_equal(
            Y,
            [[1, 2, 2, NAN, 3], [2, 1, NAN, NAN, 3], [1, 1, 1, 1, 1], [1, 2, NAN, 2, 3]],
        )

    def test_missing_texts_are_rows_without_a_ranked_label(self):
        Y, _ = check_rankings(pd.Series(["a > b", None, ""]))
        np.testing.assert_array_equal(Y, [[1, 2], [NAN, NAN], [NAN, NAN]])

    def test_polars_series_of_texts(self):
        Y, _ = check_rankings(polars.Series(["a > b", "b"]))
        np.testing.assert_array_equal(Y, [[1, 2], [NAN, 1]])

    def test_string_arrays(self):
        np.testing.assert_array_equal(check_rankings(np.array(["a > b"]))[0], [[1, 2]])

    def test_sets_and_integer_labels_in_buckets(self):
        Y, labels = check_rankings([[{10, 2}, [3]], [[3]]])
        assert labels.tolist() == [2, 3, 10]
        np.testing.assert_array_equal(Y, [[1, 2, 1], [NAN, 1, NAN]])

    def test_integer_labels_in_text(self):
        np.testing.assert_array_equal(check_rankings(["7 > 5"], labels=[5, 7])[0], [[2, 1]])

    def test_frames_are_read_by_label_order(self):
        frame = pd.DataFrame({"b": [1], "a": [2]})
        np.testing.assert_array_equal(check_rankings(frame, ["a", "b"])[0], [[2, 1]])

    def test_nullable_columns(self):
        frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [2, 1]})
        np.testing.assert_array_equal(check_rankings(frame)[0], [[1, 2], [NAN, 1]])

    def test_numbers_written_as_text_cells(self):
        np.testing.assert_array_equal(check_rankings([["1", "2"], [None, "3"]])[0][0], [1, 2])

    def test_labels_of_mixed_types_have_an_order(self):
        assert check_rankings([[["a"], [1]]])[1].tolist() == [1, "a"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("Y", "labels", "message"),
        [
            ([[1, np.inf]], ["a", "b"], r"row 0, label 'b': position is inf"),
            ([[1, 2], [1, "x"]], ["a", "b"], r"row 1, label 'b': position 'x' is not a number"),
            (["a > c"], ["a", "b"], r"row 0: unknown label 'c'"),
            (["a", "a > b ~ a"], None, r"row 1: label 'a' is ranked twice"),
            ([[["a"], ["a"]]], None, r"row 0: label 'a' is ranked twice"),
            (["a > > b"], None, r"row 0: expected a label at ' > b'"),
            (["a >"], None, r"row 0: 'a >' ends where a label should stand"),
            (['"a" b'], None, r"row 0: expected '>' or '~'"),
            (["a", 3], None, r"row 1: 3 is not a text"),
            ([[["a"], []]], None, r"row 0: a bucket is empty"),
            ([["a", ["b", "c"]]], None, r"row 0: bucket 'a' is not a list"),
            (np.empty((3, 0)), None, "no label column"),
            (pd.DataFrame(index=[0, 1]), None, "no label column"),
            (["", ""], None, "no label column"),
            ([1, 2, 3], None, r"shape \(n_samples, n_labels\)"),
            ([[1, 2], [1]], None, "differ in length"),
            ([[1, 2]], ["a"], "2 columns, but 1 labels"),
            ([[1, 2]], ["a", "a"], "'a' names two columns"),
            (pd.DataFrame({"a": [1]}), ["b"], r"missing \['b'\], unknown \['a'\]"),
            ([[1j, 2]], None, "Complex"),
            ([[True, False]], None, "row 0, label 0: True is no position; .*from_ratings"),
            (pd.DataFrame({"a": [1], "b": [False]}), None, "label 'b': False is no position"),
        ],
    )
    def test_one_clear_error(self, Y, labels, message):
        with pytest.raises(ValueError, match=message):
            check_rankings(Y, labels)

    def test_a_single_text_is_not_a_list_of_them(self):
        with pytest.raises(TypeError, match="single text"):
            check_rankings("a > b")

    def test_sparse(self):
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(TypeError, match="toarray"):
            check_rankings(sparse.eye(3).tocsr())
