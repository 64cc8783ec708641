"""How much time and memory a crafted file may take: both are bounded before they are taken."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

from moreplr import NearestNeighborsRanker, load
from moreplr.persistence import ModelFileError
from moreplr.persistence.arrays import to_npy


@pytest.fixture
def data(fitted, saved):
    return saved(fitted("dummy")[0])


@pytest.fixture
def parts(data, take_apart):
    return take_apart(data)


def peak_of(data, limit):
    """Bytes that loading a file takes at most, whether it is a model or not."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ModelFileError):
            load(io.BytesIO(data), max_bytes=limit)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def frame_of_a_scalar(rows):
    return [
        {"kind": "range", "items": [0, rows, 1]},
        {"kind": "index", "values": {"ref": 0}, "texts": False},
        {"kind": "range", "items": [0, 1, 1]},
        {"kind": "index", "values": {"ref": 2}, "texts": False},
        {"kind": "scalar", "type": "f8", "item": 1.0},
        {
            "kind": "frame", "index": {"ref": 1}, "names": {"ref": 3}, "columns": [{"ref": 4}],
            "texts": [False],
        },
    ]  # fmt: skip


def many_frames_of_one_column():
    column = [
        {"kind": "array", "member": "arrays/0.npy"},
        {"kind": "range", "items": [0, 1_000_000, 1]},
        {"kind": "index", "values": {"ref": 1}, "texts": False},
        {"kind": "range", "items": [0, 1, 1]},
        {"kind": "index", "values": {"ref": 3}, "texts": False},
    ]
    frame = {
        "kind": "frame", "index": {"ref": 2}, "names": {"ref": 4}, "columns": [{"ref": 0}],
        "texts": [False],
    }  # fmt: skip
    return [*column, *[frame] * 100]


def frame_of_many_columns(count=20_000):
    nodes = frame_of_a_scalar(0)
    nodes[2]["items"][1], nodes[4] = count, {"kind": "array", "member": "arrays/1.npy"}
    nodes[5].update(columns=[{"ref": 4}] * count, texts=[False] * count)
    return nodes


def random_states(count=20_000):
    state = {"kind": "random_state", "items": [{"ref": 0}, 1, 0, 0.0]}
    return [{"kind": "array", "member": "arrays/2.npy"}, *[state] * count]


def objects_that_share(pairs, count=1500):
    return [
        {"kind": "dict", "pairs": [[str(at), ""] for at in range(pairs)]},
        *[
            {
                "kind": "object", "class": "sklearn.Ridge",
                "state": {"_sklearn_output_config": {"ref": 0}},
            }
        ]
        * count,
    ]  # fmt: skip


def header_of_texts(rows):
    """An array of texts of no letters, which takes no byte of the file."""
    text = f"{{'descr': '<U0', 'fortran_order': False, 'shape': ({rows},), }}".ljust(117)
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.encode() + b"\n"


def keys_that_share(depth=23, count=400):
    nodes = [{"kind": "tuple", "items": [0, 0]}]
    for at in range(depth):
        nodes.append({"kind": "tuple", "items": [{"ref": at}, {"ref": at}]})
    nodes += [{"kind": "dict", "pairs": [[{"ref": depth}, 1]]} for _ in range(count)]
    return nodes


def same_hash(count, goal=12345678901234567):
    """Pairs of integers that have one hash, by turning round how Python makes that of a tuple."""
    first, second, start = 11400714785074694791, 14029467366897019727, 2870177450012600261
    whole = 2**64

    def turned(x, by):
        return (x << by | x >> (64 - by)) % whole

    found, a = [], 1
    while len(found) < count:
        lane = turned((start + a * second) % whole, 31) * first
        b = (turned(goal * pow(first, -1, whole) % whole, 33) - lane) * pow(second, -1, whole)
        b = (b + whole // 2) % whole - whole // 2
        if abs(b) < 2**61 - 1 and b not in (-1, -2):
            found.append((a, b))
        a += 1
    return found


def keys_of_one_hash(count):
    nodes = [{"kind": "tuple", "items": list(pair)} for pair in same_hash(count)]
    return [*nodes, {"kind": "dict", "pairs": [[{"ref": at}, 0] for at in range(count)]}]


def wrong_parameter(value, times):
    """A parameter that scikit-learn repeats in its error, with a value that is shared."""
    return [
        {"kind": "list", "items": [value]},
        *[{"kind": "list", "items": [{"ref": at}] * 100} for at in range(times)],
        {"kind": "object", "class": "sklearn.Ridge", "state": {"solver": {"ref": times}}},
    ]


GREEDY = {
    "a frame of one number": frame_of_a_scalar(400_000_000),
    "a frame of more rows than can be": frame_of_a_scalar(10**11),
    "a range of all integers": frame_of_a_scalar(2**63),
    "a long range": frame_of_a_scalar(10_000_000)[:2],
    "many frames of one column": many_frames_of_one_column(),
    "a long type": [{"kind": "scalar", "type": "U400000000", "item": "a"}],
    "a long type of numbers": [{"kind": "dtype", "type": "U400000000"}],
    "many lists": [{"kind": "list", "items": [[]] * 2_000_000}],
    "many nodes": [[]] * 2_000_000,
    "many dicts": [{}] * 1_000_000,
    "many texts": [[""] * 3_000_000],
    "many numbers": [[0] * 5_000_000],
    "a text with a sign of four bytes": ["\N{GRINNING FACE}" + "a" * 20_000_000],
    "shared lists": [
        {"kind": "list", "items": [0] * 10_000},
        *[{"kind": "list", "items": [{"ref": 0}] * 10_000} for _ in range(500)],
    ],
    "shared keys": keys_that_share(),
    "many columns": frame_of_many_columns(),
    "many random states": random_states(),
    "many texts without letters": [{"kind": "array", "member": "arrays/3.npy"}],
    "a number that is a range": [
        {"kind": "range", "items": [2**60, 2**60 + 1_500_000, 1]},
        {"kind": "scalar", "type": "U1", "item": {"ref": 0}},
    ],
    "a shared text in an error": wrong_parameter("a" * 10_000, 2),
    "shared numbers in an error": wrong_parameter(2**63, 3),
    "many neighbours": [
        {"kind": "array", "member": "arrays/0.npy"},
        *[
            {
                "kind": "object", "class": "sklearn.NearestNeighbors",
                "state": {"_fit_X": {"ref": 0}, "n_features_in_": 1},
            }
        ]
        * 100,
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", GREEDY)
def test_memory_is_bounded_before_it_is_taken(kind, parts, sign):
    arrays = {
        "arrays/0.npy": to_npy(np.zeros(1_000_000)),
        "arrays/1.npy": to_npy(np.zeros(0)),
        "arrays/2.npy": to_npy(np.zeros(624, np.uint32)),
        "arrays/3.npy": header_of_texts(9_000_000),
    }
    data = sign(parts._replace(nodes=GREEDY[kind], arrays=arrays))
    limit = 1 << 24
    start = time.process_time()
    assert peak_of(data, limit) < 2.5 * limit
    assert time.process_time() - start < 10  # not for ever; tracing makes it slow
    with pytest.raises(ModelFileError):
        load(io.BytesIO(data), max_bytes=limit)


@pytest.mark.parametrize("limit", [1 << 22, 1 << 23, 1 << 24, 1 << 25])
def test_a_search_tree_counts_with_the_smallest_leaves(saved, limit):
    X = np.arange(131_074.0)[:, None]  # one more level than of two rows less
    ranker = NearestNeighborsRanker(1).fit(X, np.where(X % 2, [1.0, 2.0], [2.0, 1.0]))
    ranker.index_.set_params(leaf_size=1)
    data = saved(ranker)
    assert peak_of(data, limit) < 2 * limit
    if limit == 1 << 25:
        assert load(io.BytesIO(data), max_bytes=limit).index_.leaf_size == 1


def test_keys_that_are_made_to_meet_take_no_time(parts, sign):
    """A dict compares a key with all before it that have its hash."""
    assert len({hash(pair) for pair in same_hash(100)}) == 1
    few, many = (parts._replace(nodes=keys_of_one_hash(count)) for count in (1000, 20_000))
    with pytest.raises(ModelFileError, match="holds no model"):
        load(io.BytesIO(sign(few)))
    with pytest.raises(ModelFileError, match="compares too much"):
        load(io.BytesIO(sign(many)))


def test_an_array_that_is_used_many_times_counts_as_often(parts, sign):
    array = {"kind": "array", "member": "arrays/0.npy"}
    large = {"arrays/0.npy": to_npy(np.zeros(500_000))}
    data = sign(parts._replace(nodes=[array] * 60, arrays=large))
    assert peak_of(data, 1 << 24) < 1 << 25
    with pytest.raises(ModelFileError, match="more memory than the limit"):
        load(io.BytesIO(data))


def test_what_many_objects_share_is_not_looked_at_without_end(parts, sign):
    """Each object's checks go through all that it holds, also through what others hold, too."""
    data = sign(parts._replace(nodes=objects_that_share(20_000)))
    start = time.process_time()
    with pytest.raises(ModelFileError, match="shares or compares too much"):
        load(io.BytesIO(data))
    assert time.process_time() - start < 10


def test_a_directory_of_many_entries_is_refused_before_it_is_read(data):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for at in range(70_000):  # more than the archive's last record can count
            archive.writestr(zipfile.ZipInfo(f"arrays/{at}.npy"), b"")
        archive.comment = re.sub(rb".*(moreplr-model)", rb"\1", data[-130:], flags=re.DOTALL)
    many = stream.getvalue()
    many = many[:-64] + hashlib.sha256(many[:-64]).hexdigest().encode()
    assert peak_of(many, 1 << 24) < 1 << 20
    with pytest.raises(ModelFileError, match="directory of 4,"):
        load(io.BytesIO(many), max_bytes=1 << 24)


def test_what_a_file_holds_is_not_repeated_at_length(parts, sign):
    node = {"kind": "object", "class": "moreplr.DummyRanker", "state": {"a" * 10_000: 1}}
    with pytest.raises(ModelFileError) as error:
        load(io.BytesIO(sign(parts._replace(nodes=[node]))))
    assert len(str(error.value)) < 1000


def test_a_lack_of_memory_is_the_one_error_too(data, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("moreplr.persistence.decoding.Decoder.decode", fail)
    with pytest.raises(ModelFileError, match="more memory than there is"):
        load(io.BytesIO(data))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({}, "holds no model"),  # the frame itself is good
        ({"index": 3}, "no names of its rows"),
        ({"columns": [[1, 2, 3]]}, "indices must be"),
        ({"columns": ["abc"]}, "a column is no list of values"),
        ({"columns": [{"ref": 5}]}, "a column is no list of values"),
        ({"texts": [True]}, "a column of texts holds something else"),
    ],
)
def test_what_a_node_of_a_frame_must_not_be_is_refused(part, message, parts, sign):
    nodes = frame_of_a_scalar(3)
    frame = {**nodes[5], "columns": [{"ref": 4}]}
    nodes[4:] = [
        {"kind": "array", "member": "arrays/0.npy"},
        {"kind": "scalar", "type": "f8", "item": 1.0},
        {**frame, **part},
    ]
    arrays = {"arrays/0.npy": to_npy(np.zeros(3))}
    with pytest.raises(ModelFileError, match=message):
        load(io.BytesIO(sign(parts._replace(nodes=nodes, arrays=arrays))))
