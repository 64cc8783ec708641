"""Arrays become .npy bytes that NumPy reads, and come back as they were."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as st

from moreplr.persistence.arrays import from_npy, is_plain, to_npy

PLAIN = (
    st.boolean_dtypes()
    | st.integer_dtypes()
    | st.unsigned_integer_dtypes()
    | st.floating_dtypes(sizes=(16, 32, 64))
    | st.unicode_string_dtypes()
)


@settings(max_examples=200, deadline=None)
@given(st.arrays(PLAIN, st.array_shapes(min_dims=0, min_side=0, max_dims=3)))
def test_arrays_come_back(array):
    for given_array in (
        array,
        np.asfortranarray(array),
        array[..., ::-1] if array.ndim else array,
    ):
        data = to_npy(given_array)
        back = from_npy(bytearray(data))
        assert back.tobytes() == given_array.astype(back.dtype).tobytes()
        assert back.shape == given_array.shape
        assert back.dtype == given_array.dtype.newbyteorder("=")
        assert back.flags.writeable
        assert back.flags.aligned
        read = np.load(io.BytesIO(data), allow_pickle=False)
        assert read.tobytes() == back.tobytes()


@pytest.mark.parametrize("dtype", ["O", "c16", "M8[s]", "S3", "V4", [("a", "f8")], np.longdouble])
def test_other_types_are_not_plain(dtype):
    assert not is_plain(np.dtype(dtype))
