"""Files that nobody wrote: flipped, cut, spliced, and crafted with the right checksums.

Here a sample; `make fuzz` tries many more, with kernels that look at bounds. `MOREPLR_FUZZ` says
how many variants of each model.
"""

from __future__ import annotations

import copy
import io
import os
import pickle
import random
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

from moreplr import load
from moreplr.forest import ForestRegressor
from moreplr.persistence import ModelFileError
from moreplr.persistence.arrays import from_npy, to_npy
from moreplr.persistence.registry import specs

VARIANTS = int(os.environ.get("MOREPLR_FUZZ", "0"))
SCALARS = [
    None, True, False, 0, 1, -1, 2, 7, 255, 2**31, 2**40, -(2**63), 0.5, -1e300, "", "rbf", "auto",
    "precomputed", "shared", "predict", {"float": "nan"}, {"float": "inf"}, [], {},
]  # fmt: skip
TYPES = ["b1", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "f4", "f8", "U3"]
METHODS = [
    "predict", "predict_pairs", "predict_scores", "predict_interval", "predict_set", "explain",
    "leaf_members", "apply",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 127, 255, -128, 2**15, 2**31 - 1, -(2**31), 2**62, np.nan, np.inf, 1e30]


def damaged(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """The file with a few bits, bytes or pieces changed."""
    kind = rng.randrange(6)
    at = rng.randrange(len(data))
    if kind < 2:
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if kind == 2:
        return data[:at]
    if kind == 3:
        end = rng.randrange(at, len(data) + 1)
        return data[:at] + data[end:] if end > at else data[1:]
    if kind == 4:
        return data[:at] + rng.randbytes(rng.randrange(1, 20)) + data[at:]
    return data[:at] + other[rng.randrange(len(other)) :]


def test_a_damaged_file_is_refused(fitted, saved):
    rng = random.Random(0)
    first, second = (saved(fitted(name)[0]) for name in ("dummy", "ranking_forest"))
    for _ in range(max(VARIANTS, 3000)):
        data, other = rng.choice([(first, second), (second, first)])
        variant = damaged(data, other, rng)
        if variant not in (first, second):
            with pytest.raises(ModelFileError):
                load(io.BytesIO(variant))


def test_a_crafted_file_is_refused_or_predicts(name, fitted, saved, take_apart, sign):
    model, X = fitted(name)
    parts = take_apart(saved(model))
    rng = random.Random(name)
    predicted = 0
    for _ in range(VARIANTS or 40):
        crafted = parts._replace(nodes=copy.deepcopy(parts.nodes), arrays=dict(parts.arrays))
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            rng.choice([change_array, change_array, change_node, change_state])(crafted, rng)
        predicted += use(sign(crafted), X)
    # Some changes do no harm and some do: else this would try the loader's first line only.
    assert 0 < predicted < (VARIANTS or 40)


@pytest.mark.skipif("NUMBA_BOUNDSCHECK" not in os.environ, reason="make fuzz looks at bounds")
def test_kernels_look_at_bounds_indeed():
    trees = ForestRegressor(2, random_state=0).fit([[0.0], [1.0]], [1.0, 2.0])
    trees.trees_.right[:] = 1000
    with pytest.raises(IndexError):
        trees.predict([[0.5]])


POINTERS = """
import io, pickle, sys, warnings
from types import ModuleType
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

import moreplr

HARMLESS = {"_lowest_bit", "_highest_bit", "_count_bits"}
warnings.simplefilter("ignore")
methods = sys.argv[2:]
for data, X in pickle.load(open(sys.argv[1], "rb")):
    model = moreplr.load(io.BytesIO(data))
    for method in methods:
        if hasattr(model, method):
            getattr(model, method)(X[:1] if method == "explain" else X)

def parts(function):
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, other, None) for other in names)
        yield value

def has_pointers(kernel, seen):
    if id(kernel) in seen:
        return False
    seen.add(id(kernel))
    found = list(parts(kernel.py_func))
    if any(isinstance(part, _Intrinsic) and part._name not in HARMLESS for part in found):
        return True
    return any(has_pointers(part, seen) for part in found if isinstance(part, Dispatcher))

modules = [module for name, module in sys.modules.items() if name.startswith("moreplr.")]
kernels = {id(x): x for m in modules for x in vars(m).values() if isinstance(x, Dispatcher)}
used = [kernel for kernel in kernels.values() if kernel.signatures]
growing = [kernel for kernel in kernels.values() if has_pointers(kernel, set())]
assert len(used) > 5, used
assert len(growing) > 5, growing
names = {kernel.py_func.__name__ for kernel in used if has_pointers(kernel, set())}
print(*sorted(names - {"draw_counts"}))  # which draws its indices below the number of rows
"""


@pytest.mark.skipif("NUMBA_BOUNDSCHECK" not in os.environ, reason="make fuzz looks at bounds")
def test_what_a_loaded_model_runs_has_no_raw_pointers(case_names, fitted, saved, tmp_path):
    """Bounds checks see every read then: kernels with pointers only grow trees."""
    models = [fitted(name) for name in case_names]
    (tmp_path / "files").write_bytes(pickle.dumps([(saved(model), X) for model, X in models]))
    words = [sys.executable, "-c", POINTERS, tmp_path / "files", *METHODS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def use(data, X):
    """Load, and if that goes, call all that may reach a kernel; whether any of it predicted."""
    predicted = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(io.BytesIO(data))
        except ModelFileError:
            return False
        for method in METHODS:
            try:
                if hasattr(model, method):
                    getattr(model, method)(X[:1] if method == "explain" else X)
                    predicted = True
            except ValueError:
                pass
            except Exception as error:
                # What is wrong with a part of another library, its Python code may find out.
                if "site-packages" not in traceback.extract_tb(error.__traceback__)[-1].filename:
                    raise
    return predicted


def change_array(parts, rng):
    """Change values, type or shape of an array, or take another one's place."""
    if not parts.arrays:
        return
    name = rng.choice(list(parts.arrays))
    array = from_npy(bytearray(parts.arrays[name])).copy(order="K")
    kind = rng.randrange(8)
    if kind < 4 and array.size and array.dtype.kind != "U":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(rng.choice([1, 1, 3])):
                value = np.asarray(rng.choice(NUMBERS), float).astype(array.dtype)
                array.flat[rng.randrange(array.size)] = value
    elif kind == 4:
        parts.arrays[name] = parts.arrays[rng.choice(list(parts.arrays))]
        return
    elif kind == 5:
        array = np.resize(array, rng.randrange(0, 2 * array.size + 2))
    elif kind == 6 and array.dtype.kind != "U":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = array.astype(rng.choice(TYPES))
    else:
        array = rng.choice([array.T, array[:-1] if array.ndim else array, array[None]])
    parts.arrays[name] = to_npy(np.asarray(array))


def change_node(parts, rng):
    """Change something anywhere in a node."""
    place = rng.choice(parts.nodes)
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = place[key]
        if not isinstance(inner, dict | list) or rng.random() < 0.2:
            break
        place = inner
    if key == "ref":
        place[key] = rng.randrange(len(parts.nodes))
    elif key == "class":
        place[key] = rng.choice(list(specs()))
    else:
        place[key] = rng.choice([*SCALARS, {"ref": rng.randrange(len(parts.nodes))}])


def change_state(parts, rng):
    """Give an object an attribute more or less, or another value for one."""
    objects = [node for node in parts.nodes if isinstance(node, dict) and "state" in node]
    if not objects or not isinstance((state := rng.choice(objects)["state"]), dict) or not state:
        return
    kind = rng.randrange(4)
    if kind == 0:
        state.pop(rng.choice(list(state)))
    elif kind == 1:
        state[rng.choice(["_impl", "predict", "__class__", "extra", "extra_"])] = 1
    else:
        value = rng.choice([*SCALARS, {"ref": rng.randrange(len(parts.nodes))}])
        state[rng.choice(list(state))] = value
