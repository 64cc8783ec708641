"""Arrays as .npy bytes and back, with a header that is matched, never evaluated."""

from __future__ import annotations

import io
import re
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moreplr._types import AnyArray
from moreplr.persistence.errors import ModelFileError

# Booleans, integers, floating point numbers and texts; nothing that could hold an object.
_DTYPES = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
_HEADER = re.compile(
    rb"\{'descr': '[<|]([biufU]\d{1,6})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,15}, ?)*(?:\d{1,15})?)\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
_MOST_DIMENSIONS = 8
# NumPy pads headers to multiples of this, so that the data are aligned in memory.
_ALIGNMENT = 64


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this type can be stored as bytes.

    Examples
    --------
    >>> is_plain(np.dtype("f4")), is_plain(np.dtype("U3")), is_plain(np.dtype("O"))
    (True, True, False)
    """
    return dtype.str[1:] in _DTYPES or (dtype.kind == "U" and dtype.fields is None)


def to_npy(array: AnyArray) -> bytes:
    """The array in the .npy format, in little-endian byte order.

    Examples
    --------
    >>> from_npy(bytearray(to_npy(np.array([[1, 2]]))))
    array([[1, 2]])
    """
    array = np.asarray(array, array.dtype.newbyteorder("<"))
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    header = {"descr": array.dtype.str, "fortran_order": columns_first, "shape": array.shape}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    flat = np.ascontiguousarray(array.T if columns_first else array).reshape(-1)
    data = flat.view(np.uint8).data if flat.size else b""
    return b"".join([stream.getvalue(), data])


def from_npy(data: bytearray) -> AnyArray:
    """The array of .npy bytes, in whose memory it lives, so that it can be written to.

    Raises
    ------
    ModelFileError
        If the bytes are anything but a plain array.
    """
    begin = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:begin])
    if data[:8] != _MAGIC or header is None or begin % _ALIGNMENT:
        raise ModelFileError("an array has no valid header")
    code, columns_first, sizes = (part.decode() for part in header.groups())
    dtype = np.dtype(f"<{code}")
    shape = tuple(int(size) for size in sizes.replace(",", " ").split())
    if not is_plain(dtype) or len(shape) > _MOST_DIMENSIONS:
        raise ModelFileError(f"an array has type {dtype} and {len(shape)} dimensions")
    # For texts without letters NumPy would still take memory for one letter each.
    count = prod(shape)
    if count * dtype.itemsize != len(data) - begin or (count and not dtype.itemsize):
        raise ModelFileError(f"an array of shape {shape} and type {dtype} has another size")
    if not count:
        return np.empty(shape, dtype.newbyteorder("="))
    _check_bytes(np.frombuffer(data, np.uint8, offset=begin), dtype)
    flat = np.frombuffer(data, dtype, offset=begin)
    array = flat.reshape(shape, order="F" if columns_first == "True" else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_bytes(data: NDArray[np.uint8], dtype: np.dtype[Any]) -> None:
    """Refuse bytes that are no values of the type: booleans beyond 0 and 1, invalid characters."""
    if dtype.kind == "b" and data.max() > 1:
        raise ModelFileError("an array of truth values holds others than true and false")
    if dtype.kind == "U" and data.view("<u4").max() > 0x10FFFF:
        raise ModelFileError("an array of texts holds something else")
