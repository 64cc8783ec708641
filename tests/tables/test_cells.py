import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moreplr.tables.cells import GAPS, Reader

READER = Reader("people.csv")


def raw(*cells, name="x"):
    return pd.Series(list(cells), name=name, dtype=object)


def test_gaps_are_those_of_pandas():
    for gap in GAPS - {""}:
        assert pd.read_csv(io.StringIO(f"a,b\n{gap},1\n"))["a"].isna().all(), gap
        assert np.isnan(READER.numbers(raw(gap, "1"))[0])
    assert READER.texts(raw("", " NA ", "Ulm")).tolist() == [None, None, "Ulm"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1))
@settings(max_examples=50, deadline=None)
def test_numbers_are_read_as_written(values):
    column = raw(*("" if value is None else repr(value) for value in values))
    assert READER.kind(column) == "number"
    expected = np.array([np.nan if value is None else value for value in values])
    np.testing.assert_allclose(READER.numbers(column), expected, rtol=1e-15)


@pytest.mark.parametrize("cell", ["x", "True", "1_000", "0x1F", "1,5", "2024-01-01"])
def test_what_is_no_number_makes_a_text_column(cell):
    assert READER.kind(raw("1", cell)) == "text"
    with pytest.raises(ValueError, match=f"people.csv: row 2, column 'x': '{cell}' is not"):
        READER.numbers(raw("1", cell))


def test_decimal_commas_are_guessed():
    with pytest.raises(ValueError, match="'1,5' is not a number; if it is one, say decimal=','"):
        READER.numbers(raw("1,5"))


@pytest.mark.parametrize("cell", ["2nd", "10%", "5 stars"])
def test_numbers_with_words_are_to_be_written_alone(cell):
    reader = Reader("people.csv", advice="if it means not ranked, say unranked=[{cell}]")
    with pytest.raises(ValueError, match="; write the number alone, or if it means not ranked"):
        reader.numbers(raw(cell))


def test_infinity_is_refused_and_rows_of_later_chunks_are_counted_on():
    with pytest.raises(ValueError, match="row 4097, column 'x': 'inf' is not a number"):
        Reader("people.csv", first_row=4097).numbers(raw("inf"))


def test_gaps_of_ones_own_and_decimal_commas():
    reader = Reader("people.csv", ["?", "977"], ",")
    np.testing.assert_array_equal(
        reader.numbers(raw("1,5", "?", "977", "2")), [1.5, np.nan, np.nan, 2]
    )
    assert reader.texts(raw("?", "a,b")).tolist() == [None, "a,b"]


def test_typed_columns_of_parquet():
    assert READER.kind(pd.Series([True, False])) == "text"
    assert READER.kind(pd.Series([1, 2])) == "number"
    assert READER.kind(pd.Series(pd.to_datetime(["2024-01-01"]))) == "text"
    assert READER.texts(pd.Series([1.0, np.nan, 2.5])).tolist() == ["1", None, "2.5"]
    np.testing.assert_array_equal(READER.numbers(pd.Series([1, None], dtype="Int64")), [1, np.nan])
    codes = Reader("people.csv", ["977"]).numbers(pd.Series([977, 3]))
    np.testing.assert_array_equal(codes, [np.nan, 3])


@pytest.mark.parametrize(
    ("cells", "truths"),
    [
        (["true", " FALSE", "NA", "True"], [1, 0, np.nan, 1]),
        ([True, None, False], [1, np.nan, 0]),
        ([True, False], [1, 0]),
        (["yes", "True"], None),
        (["1", "0"], None),
        ([1, 0], None),
        (["", None], None),
    ],
)
def test_truths_are_those_of_pandas(cells, truths):
    found = Reader("t").truths(pd.Series(cells))
    if truths is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, truths)
