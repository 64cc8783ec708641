"""Operations on bits and bytes do what their names say."""

import numpy as np
import pytest

from moreplr._jit import jit
from moreplr.forest.kernels import llvm


@jit
def answers(word, codes, bound):
    return (
        llvm.lowest_bit(word),
        llvm.not_above(llvm.pointer(codes), 1, bound),
        llvm.below(llvm.pointer(codes), 0, bound),
        llvm.equal(llvm.pointer(codes), 0, bound),
        llvm.count_bits(word),
    )


@pytest.mark.parametrize("word", [1, 6, 1 << 63, (1 << 63) + 8])
def test_bits(word):
    codes = np.array([9, 0, 255, 3, 4, 200, 4, 5, 6] * 8, np.uint8)
    low, mask, smaller, same, count = answers(np.uint64(word), codes, np.uint8(4))
    assert low == (word & -word).bit_length() - 1
    assert count == word.bit_count()
    assert mask == sum((code <= 4) << i for i, code in enumerate(codes[1:9].tolist()))
    assert smaller == sum((code < 4) << i for i, code in enumerate(codes[:64].tolist()))
    assert same == sum((code == 4) << i for i, code in enumerate(codes[:64].tolist()))
