"""From a fitted model to a flat list of nodes, each a JSON object that refers to earlier ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from moreplr.persistence.advice import refusal
from moreplr.persistence.arrays import is_plain, to_npy
from moreplr.persistence.container import Writer
from moreplr.persistence.own import NAMED_TUPLES
from moreplr.persistence.registry import check_object, check_state, functions, spec_of

DEEPEST = 48
"""How deep objects may be nested in one another."""
LARGEST_INTEGER = 2**64

TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        bool, int, float, np.bool_, np.int8, np.int16, np.int32, np.int64,
        np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64,
    )
}  # fmt: skip
"""Types of numbers, which encoders have as a parameter."""
TEXT = pd.Series(["a"]).dtype
"""What pandas takes for texts; this has changed between its versions."""

Node = dict[str, Any]


class Encoder:
    """Turns objects into nodes, each object once, and writes arrays as they come.

    Examples
    --------
    >>> import io
    >>> with Writer(io.BytesIO()) as writer:
    ...     encoder = Encoder(writer)
    ...     encoder.item((1, float("inf")), "model")
    {'ref': 0}
    >>> encoder.nodes
    [{'kind': 'tuple', 'items': [1, {'float': 'inf'}]}]
    """

    def __init__(self, writer: Writer) -> None:
        self.nodes: list[Node] = []
        self._writer = writer
        # By identity; the objects are kept, since Python reuses the identity of deleted ones.
        self._known: dict[int, tuple[Any, int]] = {}
        self._open: list[int] = []
        self._specials = {
            np.ndarray: self._array,
            list: self._items,
            tuple: self._items,
            dict: self._dict,
            slice: self._slice,
            range: self._range,
            np.random.RandomState: self._random_state,
            pd.DataFrame: self._frame,
        }

    def item(self, value: Any, path: str) -> Any:
        """A value inside a node: itself if it is simple, else a reference."""
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int and abs(value) < LARGEST_INTEGER:
            return value
        if kind is float:
            return value if np.isfinite(value) else {"float": str(value)}
        return {"ref": self._reference(value, path)}

    def _reference(self, value: Any, path: str) -> int:
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._open or len(self._open) >= DEEPEST:
            raise TypeError(f"{path} can't be stored: it contains itself, or is nested too deep")
        self._open.append(id(value))
        node = self._node(value, path)
        self._open.pop()
        self.nodes.append(node)
        self._known[id(value)] = value, len(self.nodes) - 1
        return len(self.nodes) - 1

    def _node(self, value: Any, path: str) -> Node:
        kind = type(value)
        if kind in self._specials:
            return self._specials[kind](value, path)
        spec = spec_of(kind)
        if spec is not None:
            state = dict(spec.dump(value))
            _check(path, check_state, spec, state)
            stored = {name: self.item(one, f"{path}.{name}") for name, one in state.items()}
            _check(path, check_object, spec, value, state)
            return {"kind": "object", "class": spec.name, "state": stored}
        for name, known in NAMED_TUPLES.items():
            if kind is known:
                return {**self._items(tuple(value), path), "kind": "named", "class": name}
        for name, function in functions().items():
            if value is function:
                return {"kind": "function", "name": name}
        return self._rarer(value, path)

    def _rarer(self, value: Any, path: str) -> Node:
        if isinstance(value, np.generic) and is_plain(value.dtype):
            return {
                "kind": "scalar",
                "type": _code(value.dtype),
                "item": self.item(value.item(), path),
            }
        if isinstance(value, np.dtype) and (is_plain(value) or value.kind in "OM"):
            return {"kind": "dtype", "type": _code(value)}
        if isinstance(value, type) and value in TYPES.values():
            return {"kind": "type", "name": value.__name__}
        if isinstance(value, pd.Index):
            return self._index(value, path)
        raise TypeError(refusal(value, path))

    def _items(self, value: Any, path: str) -> Node:
        items = [self.item(one, f"{path}[{at}]") for at, one in enumerate(value)]
        return {"kind": type(value).__name__, "items": items}

    def _dict(self, value: dict[Any, Any], path: str) -> Node:
        pairs = [
            [self.item(key, f"a key of {path}"), self.item(one, f"{path}[{key!r:.60}]")]
            for key, one in value.items()
        ]
        return {"kind": "dict", "pairs": pairs}

    def _slice(self, value: slice, path: str) -> Node:
        return {**self._items((value.start, value.stop, value.step), path), "kind": "slice"}

    def _range(self, value: range, path: str) -> Node:
        return {**self._items((value.start, value.stop, value.step), path), "kind": "range"}

    def _array(self, value: np.ndarray, path: str) -> Node:
        if value.dtype == object:
            flat = value.ravel().tolist()
            for one in flat:
                if not (one is None or isinstance(one, str | int | float | np.generic)):
                    raise TypeError(refusal(one, f"an item of the array {path}"))
            items = [self.item(one, f"an item of the array {path}") for one in flat]
            return {"kind": "objects", "shape": list(value.shape), "items": items}
        if not is_plain(value.dtype):
            raise TypeError(f"{path} can't be stored: it is an array of {value.dtype}")
        return {"kind": "array", "member": self._writer.add_array(to_npy(value))}

    def _random_state(self, value: np.random.RandomState, path: str) -> Node:
        state: Any = value.get_state(legacy=True)
        if state[0] != "MT19937":
            raise TypeError(f"{path} can't be stored: a RandomState of {state[0]}")
        return {**self._items(state[1:], path), "kind": "random_state"}

    def _index(self, value: pd.Index, path: str) -> Node:
        if isinstance(value, pd.RangeIndex):
            values = self.item(range(value.start, value.stop, value.step), path)
            return {"kind": "index", "values": values, "texts": False}
        if isinstance(value, pd.MultiIndex):
            raise TypeError(refusal(value, path))
        values = self.item(_column(value, path), path)
        return {"kind": "index", "values": values, "texts": _is_text(value)}

    def _frame(self, value: pd.DataFrame, path: str) -> Node:
        columns = [
            self.item(_column(value.iloc[:, at], f"{path}[{name!r:.60}]"), path)
            for at, name in enumerate(value.columns)
        ]
        index, names = self.item(value.index, path), self.item(value.columns, path)
        texts = [_is_text(value.iloc[:, at]) for at in range(value.shape[1])]
        return {
            "kind": "frame",
            "index": index,
            "names": names,
            "columns": columns,
            "texts": texts,
        }


def _is_text(value: pd.Series | pd.Index) -> bool:
    return isinstance(value.dtype, pd.StringDtype)


def _column(value: pd.Series | pd.Index, path: str) -> np.ndarray:
    """The values of a column; texts and mixed ones as objects."""
    if isinstance(value.dtype, np.dtype) and is_plain(value.dtype):
        return value.to_numpy()
    if value.dtype == object or _is_text(value):
        return value.to_numpy(dtype=object)
    raise TypeError(f"{path} can't be stored: it is a column of {value.dtype}")


def _code(dtype: np.dtype[Any]) -> str:
    return dtype.str[1:]


def _check(path: str, check: Any, *arguments: Any) -> None:
    try:
        check(*arguments)
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path} can't be stored as it is: {error}") from error
