"""From nodes back to the model: names are looked up, objects are filled, nothing is called."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from moreplr._types import AnyArray
from moreplr.persistence.arrays import from_npy, is_plain
from moreplr.persistence.container import MODEL, Reader
from moreplr.persistence.encoding import DEEPEST, LARGEST_INTEGER, TEXT, TYPES
from moreplr.persistence.errors import ModelFileError
from moreplr.persistence.own import NAMED_TUPLES
from moreplr.persistence.registry import (
    Spec,
    State,
    check_object,
    check_state,
    functions,
    spec_named,
)

_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
_WORDS_OF_STATE = 624
# How often values may be shared, in the mean: what goes through a model, such as a check or a
# comparison, goes through a shared one wherever it appears. An array counts as one value for so
# many bytes, and so many values take no time worth a limit.
_MOST_SHARED = 64
_BYTES_OF_A_VALUE = 256
_FEW_VALUES = 1 << 24
_MOST_LETTERS = 1 << 16
# Bytes of an object, and of an item of one.
_OBJECT, _ITEM = 64, 16
_COLUMN, _RANDOM_STATE = 2500, 3000
# A search tree has up to two nodes for a row, of 32 bytes and two rows each, and the row's number.
_NODES, _NODES_OF_A_ROW = 4, 72
_ENTRY = 100
# A text counts as one value for so many letters. What is wrong with a parameter of another
# library its error repeats, shared values wherever they appear: so many bytes for each at most.
_LETTERS_OF_A_VALUE, _SHOWN = 8, 64
# Only hashes of texts have a secret. With chosen keys of other types each may meet all before it,
# which takes a value's time for so many.
_MEETINGS_OF_A_VALUE = 8
_HASHED = (str, bytes, int, float, bool, np.generic, type(None))


class Decoder:
    """Makes objects from nodes, one after the other: a node refers to earlier ones only."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._take = reader.budget.take
        self._left = _FEW_VALUES
        self._values: list[Any] = []
        self._depths: list[int] = []
        self._sizes: list[int] = []
        self._depth, self._size = 0, 0
        self.foreign: str | None = None

    def decode(self) -> Any:
        """The model of the file."""
        document = self._reader.json(MODEL)
        values = self._reader.n_values + self._reader.n_bytes // _BYTES_OF_A_VALUE
        self._left += _MOST_SHARED * values
        for node in document["nodes"]:
            self._depth, self._size = 0, 1
            self._values.append(self._make(node))
            self._depths.append(self._depth + 1)
            self._sizes.append(self._size)
            self._spend(self._size)
        model = self._values[-1]
        if not isinstance(model, BaseEstimator):
            raise ModelFileError("the file holds no model")
        if hasattr(model, "fit"):
            check_is_fitted(model)
        return model

    def _make(self, node: Any) -> Any:
        return _MAKERS[node["kind"]](self, node)

    def _spend(self, values: int) -> None:
        """Count values that are looked at, shared ones each time, and how deep they lie."""
        self._left -= values
        if self._left < 0 or self._depth >= DEEPEST:
            raise ModelFileError("the model is nested too deep, shares or compares too much")

    def _item(self, item: Any) -> Any:
        self._size += 1
        if isinstance(item, str):
            self._size += len(item) // _LETTERS_OF_A_VALUE
            return item
        if item is None or isinstance(item, bool):
            return item
        if isinstance(item, int | float):
            if abs(item) >= LARGEST_INTEGER and isinstance(item, int):
                raise ModelFileError("an integer is too large")
            return item
        if "float" in item:
            return _FLOATS[item["float"]]
        at = item["ref"]
        if type(at) is not int or not 0 <= at < len(self._values):
            raise ModelFileError("a node refers to one that is not before it")
        self._depth = max(self._depth, self._depths[at])
        self._size += self._sizes[at]
        return self._values[at]

    def _items(self, node: Any) -> list[Any]:
        self._take(_OBJECT + _ITEM * len(node["items"]))
        return [self._item(item) for item in node["items"]]

    def _object(self, node: Any) -> Any:
        spec = spec_named(node["class"])
        if spec is None:
            raise ModelFileError(f"the file names {node['class']!r:.80}, which is not allowed")
        self._take(_OBJECT + _ENTRY * len(node["state"]))
        state, shown = {}, 0
        for name, item in node["state"].items():
            before = self._size
            state[name] = self._item(item)
            shown += self._size - before if name in spec.parameters else 0
        if spec.restore is not None:  # what is not stored is made again from what is
            arrays = [one for one in state.values() if isinstance(one, np.ndarray)]
            self._take(sum(_NODES * one.nbytes + _NODES_OF_A_ROW * len(one) for one in arrays))
        if not spec.is_ours:
            self.foreign = spec.cls.__name__
            self._take(_SHOWN * shown)
        try:
            self._fit_to_release(spec, state)
            check_state(spec, state)
            made = _fill(spec, state)
            check_object(spec, made, state)
        except Exception as error:
            raise ModelFileError(f"a {spec.cls.__name__} of the file: {error}") from error
        return made

    def _fit_to_release(self, spec: Spec, state: State) -> None:
        """Bring a state up to date: it may be older than the class."""
        if spec.upgrade is not None:
            spec.upgrade(state)
        for name, parameter in spec.parameters.items():
            # In scikit-learn this stands for a parameter that was not given.
            given = name in state and (spec.is_ours or not _is_word(state[name], "deprecated"))
            if not given and parameter.default is not parameter.empty:
                state[name] = parameter.default

    def _named(self, node: Any) -> Any:
        return NAMED_TUPLES[node["class"]](*self._items(node))

    def _dict(self, node: Any) -> Any:
        self._take(_OBJECT + _ENTRY * len(node["pairs"]))
        made, before = {}, self._size
        keys = [self._item(key) for key, _ in node["pairs"]]
        others = sum(not isinstance(key, str) for key in keys)
        self._spend(others * (self._size - before) // _MEETINGS_OF_A_VALUE)
        for hashed, (_, value) in zip(keys, node["pairs"], strict=True):
            flat = hashed if isinstance(hashed, tuple) else (hashed,)
            # Comparing keys goes through all that they hold.
            if not all(isinstance(one, _HASHED) for one in flat):
                raise ModelFileError("the key of a dict is no text, number or tuple of these")
            made[hashed] = self._item(value)
        return made

    def _range(self, node: Any) -> range:
        made = range(*self._items(node))
        self._take(8 * _length(made))
        return made

    def _array(self, node: Any) -> Any:
        data = self._reader.read(node["member"])
        self._size += len(data) // _BYTES_OF_A_VALUE
        return from_npy(data)

    def _objects(self, node: Any) -> Any:
        shape = tuple(node["shape"])
        items = self._items(node)
        if not all(type(size) is int and size >= 0 for size in shape) or prod(shape) != len(items):
            raise ModelFileError("an array of objects has another size")
        array = np.empty(len(items), object)
        for at, item in enumerate(items):
            if not (item is None or isinstance(item, str | int | float | np.generic)):
                raise ModelFileError("an array of objects holds something else than values")
            array[at] = item
        return array.reshape(shape)

    def _scalar(self, node: Any) -> Any:
        dtype, item = _dtype(node), self._item(node["item"])
        if not is_plain(dtype) or not isinstance(item, bool | int | float | str):
            raise ModelFileError("a number or text of a type is none")
        if dtype.kind == "U" and not (isinstance(item, str) and dtype.itemsize <= 4 * len(item)):
            dtype = np.dtype("U0")  # as long as its text
        made = np.asarray(item, dtype)
        if made.item() != item and item == item:
            raise ModelFileError("a number is not of its type")
        return made[()]

    def _random_state(self, node: Any) -> Any:
        key, position, has_gauss, gauss = self._items(node)
        sound = key.dtype == np.uint32 and key.shape == (_WORDS_OF_STATE,)
        # Beyond it, numpy would read outside of the state.
        if not sound or type(position) is not int or not 0 <= position <= _WORDS_OF_STATE:
            raise ModelFileError("a random state is not one")
        self._take(_RANDOM_STATE)
        made = np.random.RandomState(0)
        made.set_state(("MT19937", key, position, int(has_gauss), float(gauss)))
        return made

    def _index(self, node: Any) -> Any:
        values = self._item(node["values"])
        if isinstance(values, range):
            return pd.RangeIndex(values)
        values = self._column(values)
        return pd.Index(values, dtype=_type_of_column(values, node["texts"]))

    def _frame(self, node: Any) -> Any:
        names, index = self._item(node["names"]), self._item(node["index"])
        if not (isinstance(names, pd.Index) and isinstance(index, pd.Index)):
            raise ModelFileError("a frame has no names of its rows and columns")
        self._take(8 * _length(index))
        columns = {}
        for at, (column, text) in enumerate(zip(node["columns"], node["texts"], strict=True)):
            values = self._column(self._item(column), len(index))
            columns[at] = pd.Series(values, index=index, dtype=_type_of_column(values, text))
        frame = pd.DataFrame(columns, index=index)
        frame.columns = names
        return frame

    def _column(self, values: Any, length: int | None = None) -> Any:
        """Values of a column or an index, which pandas copies."""
        if not isinstance(values, np.ndarray) or values.ndim != 1:
            raise ModelFileError("a column is no list of values")
        if length is not None and len(values) != length:
            raise ModelFileError(f"a column has {len(values)} values for {length} rows")
        self._take(_COLUMN + 2 * values.nbytes)
        return values


def _type_of_column(values: AnyArray, texts: Any) -> Any:
    """What pandas calls it; texts were made one by one: made of numbers they take far more."""
    if texts and values.dtype != object:
        raise ModelFileError("a column of texts holds something else")
    return TEXT if texts else values.dtype


def _length(values: range | pd.Index) -> int:
    """How many there are, also where these are more than `len` can say."""
    if isinstance(values, range):
        step = values.step
        return max(0, (values.stop - values.start + step - (1 if step > 0 else -1)) // step)
    return values.size


def _is_word(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _fill(spec: Spec, state: State) -> Any:
    if spec.restore is not None:
        return spec.restore(spec.cls, state)
    made: Any = object.__new__(spec.cls)
    made.__dict__.update(state)
    return made


def _dtype(node: Any) -> np.dtype[Any]:
    dtype = np.dtype("=" + node["type"] if node["type"] != "O" else "O")
    if dtype.itemsize > 4 * _MOST_LETTERS:
        raise ModelFileError("a type of texts is too long")
    if not is_plain(dtype) and dtype.kind not in "OM":
        raise ModelFileError(f"{dtype} is not allowed")
    return dtype


_MAKERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "object": Decoder._object,
    "named": Decoder._named,
    "list": lambda self, node: self._items(node),
    "tuple": lambda self, node: tuple(self._items(node)),
    "dict": Decoder._dict,
    "slice": lambda self, node: slice(*self._items(node)),
    "range": Decoder._range,
    "array": Decoder._array,
    "objects": Decoder._objects,
    "scalar": Decoder._scalar,
    "dtype": lambda self, node: _dtype(node),
    "type": lambda self, node: TYPES[node["name"]],
    "function": lambda self, node: functions()[node["name"]],
    "random_state": Decoder._random_state,
    "index": Decoder._index,
    "frame": Decoder._frame,
}
