"""Files that are none, damaged, too large, of another version, or not what they seem."""

from __future__ import annotations

import io
import json
import pickle
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

import moreplr
from moreplr import load, save
from moreplr.persistence import ModelFileError, container, registry
from moreplr.persistence.arrays import to_npy
from moreplr.persistence.container import Writer


class Bomb:
    """Its pickle would tell on whoever opens it."""

    def __reduce__(self):
        return exec, ("raise SystemExit('ran')",)


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no model file"),
        (b"tea > water\n", "no model file"),
        (b"\x00" * 1000, "no model file"),
        (pickle.dumps(Bomb()), "no model file"),
        (npz(), "no model file of moreplr, or only the first part"),
    ],
    ids=["empty", "text", "zeros", "pickle", "npz"],
)
def test_other_files_are_refused(data, says):
    with pytest.raises(ModelFileError, match=says):
        load(io.BytesIO(data))


@pytest.fixture
def data(fitted, saved):
    return saved(fitted("ranking_forest")[0])


@pytest.fixture
def parts(data, take_apart):
    return take_apart(data)


def test_the_first_part_of_a_file_is_refused(data):
    with pytest.raises(ModelFileError, match="only the first part of one"):
        load(io.BytesIO(data[:-1]))


def test_damage_is_found(data):
    for at in (40, len(data) // 2, len(data) - 300, len(data) - 5):
        other = b"0" if data[at : at + 1] != b"0" else b"1"
        with pytest.raises(ModelFileError, match="damaged"):
            load(io.BytesIO(data[:at] + other + data[at + 1 :]))


def test_a_newer_format_says_who_wrote_it(fitted, saved, monkeypatch):
    with monkeypatch.context() as future:
        future.setattr(container, "FORMAT_VERSION", 7)
        future.setattr(moreplr, "__version__", "3.2.1")
        data = saved(fitted("dummy")[0])
    with pytest.raises(ModelFileError, match=r"moreplr 3\.2\.1 in format 7.*upgrade"):
        load(io.BytesIO(data))


def rewrite(data: bytes, change) -> bytes:
    """The archive with members changed, and the digest of the whole made right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
        comment = archive.comment
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in change([(info.filename, content) for info, content in members]):
            archive.writestr(name, content)
        archive.comment = comment
    whole = stream.getvalue()
    digest = container._digest(io.BytesIO(whole), len(whole) - 64)
    return whole[:-64] + digest.encode()


def test_a_file_that_was_only_packed_anew_loads(data):
    load(io.BytesIO(rewrite(data, lambda members: members)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: [*m, ("../../etc/passwd", b"")], "unexpected member"),
        (lambda m: [*m, ("arrays/x.npy", b"")], "unexpected member"),
        (lambda m: [*m, ("arrays/999.npy", b"")], "other members than its manifest"),
        (lambda m: [*m, m[0]], "twice"),
        (lambda m: m[1:], "other members than its manifest"),
        (lambda m: m[:-1], "no manifest"),
        (lambda m: [(m[0][0], m[0][1][:-1] + b"\xff"), *m[1:]], "damaged: arrays/0.npy"),
        (lambda m: [(m[0][0], m[1][1]), *m[1:]], "other members|damaged"),
        (lambda m: [*m[:-1], ("manifest.json", b"{}")], "does not hold a model"),
        (lambda m: [*m[:-1], ("manifest.json", b"[" * 100_000)], "nested too deep"),
        (lambda m: [*m[:-1], ("manifest.json", b"NaN")], "no JSON"),
    ],
)
def test_an_archive_with_other_members_is_refused(data, change, says):
    with pytest.raises(ModelFileError, match=says):
        load(io.BytesIO(rewrite(data, change)))


def test_a_manifest_of_another_format_is_refused(data):
    def change(members):
        manifest = json.loads(members[-1][1]) | {"format": "letter"}
        return [*members[:-1], ("manifest.json", json.dumps(manifest))]

    with pytest.raises(ModelFileError, match="another format"):
        load(io.BytesIO(rewrite(data, change)))


def test_a_bomb_is_refused_before_it_is_unpacked(data):
    bomb = rewrite(data, lambda members: [*members, ("arrays/99.npy", bytes(1 << 28))])
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"unpacks to .* more than the limit"):
            load(io.BytesIO(bomb))
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (b"", 0),
        (b"3", 0),
        (b"[[], [[]]]", 3),
        (rb'["[[[", "\"[[", "\\", [{}]]', 3),
        (b'"' + b"[" * 3_000_000 + b'"', 0),
        (b'["' + b" " * 1_048_574 + b'[", [[]]]', 3),
    ],
)
def test_nesting_is_counted_outside_of_strings(text, depth):
    assert container.survey(text).depth == depth


def test_the_limit_is_a_parameter(data):
    with pytest.raises(ModelFileError, match=r"more than the limit of 1,000; .*raise max_bytes"):
        load(io.BytesIO(data), max_bytes=1000)
    load(io.BytesIO(data), max_bytes=1 << 20)


def test_a_model_larger_than_the_limit_is_refused(data):
    with pytest.raises(ModelFileError, match=r"more memory than the limit of .*raise max_bytes"):
        load(io.BytesIO(data), max_bytes=sum_of_members(data) + 1000)


def sum_of_members(data):
    return sum(info.file_size for info in zipfile.ZipFile(io.BytesIO(data)).infolist())


def test_a_large_array_of_zeros_is_stored_so_that_it_loads(fitted):
    ranker, _ = fitted("dummy")
    ranker.zeros_ = np.zeros(9_000_000)
    stream = io.BytesIO()
    try:
        save(ranker, stream)
    finally:
        del ranker.zeros_
    assert load(stream).zeros_.nbytes == 72_000_000


def crafted(sign, parts, *nodes):
    return io.BytesIO(sign(parts._replace(nodes=list(nodes))))


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([], "does not hold a model"),
        ([{"kind": "list", "items": []}], "holds no model"),
        ([{"kind": "eval", "items": []}], "KeyError: 'eval'"),
        ([{"kind": "object", "class": "os.system", "state": {}}], "os.system.*not allowed"),
        ([{"kind": "object", "class": "builtins.eval", "state": {}}], "not allowed"),
        ([{"kind": "function", "name": "os.system"}], "does not hold a model"),
        ([{"kind": "type", "name": "object"}], "does not hold a model"),
        ([{"kind": "dtype", "type": "O,i4"}], "not allowed"),
        ([{"kind": "list", "items": [{"ref": 0}]}], "not before it"),
        ([{"kind": "list", "items": [{"ref": -1}]}], "not before it"),
        ([{"kind": "list", "items": [2**70]}], "integer is too large"),
        ([{"kind": "array", "member": "manifest.json"}], "no member"),
        ([{"kind": "array", "member": "/etc/passwd"}], "no member"),
        ([{"kind": "objects", "shape": [10**12], "items": []}], "another size"),
        ([{"kind": "scalar", "type": "u1", "item": 300}], "does not hold a model"),
        ([{"kind": "random_state", "items": [1, 2, 3, 4]}], "does not hold a model"),
        ([{"kind": "object", "class": "moreplr.DummyRanker", "state": {}}], "not fitted"),
    ],
)  # fmt: skip
def test_nodes_that_no_model_has_are_refused(nodes, says, parts, sign):
    with pytest.raises(ModelFileError, match=says):
        load(crafted(sign, parts, *nodes))


def test_deep_nesting_is_refused(parts, sign):
    nodes = [{"kind": "list", "items": [] if at == 0 else [{"ref": at - 1}]} for at in range(60)]
    with pytest.raises(ModelFileError, match="nested too deep"):
        load(crafted(sign, parts, *nodes))


def test_sharing_that_grows_without_bound_is_refused(parts, sign):
    nodes = [
        {"kind": "list", "items": [] if at == 0 else [{"ref": at - 1}] * 9} for at in range(40)
    ]
    with pytest.raises(ModelFileError, match="nested too deep"):
        load(crafted(sign, parts, *nodes))


def test_a_random_state_beyond_its_words_is_refused(parts, sign):
    arrays = {"arrays/0.npy": to_npy(np.zeros(624, np.uint32))}
    nodes = [
        {"kind": "array", "member": "arrays/0.npy"},
        {"kind": "random_state", "items": [{"ref": 0}, 10**6, 0, 0.0]},
    ]
    with pytest.raises(ModelFileError, match="random state"):
        load(io.BytesIO(sign(parts._replace(nodes=nodes, arrays=arrays))))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (300,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').system('true'),), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "[" * 50,
    ],
)
def test_arrays_with_other_headers_are_refused(header, parts, sign):
    text = header.ljust(117).encode() + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(24)
    crafted = parts._replace(arrays=parts.arrays | {"arrays/0.npy": data})
    with pytest.raises(ModelFileError, match="array"):
        load(io.BytesIO(sign(crafted)))


@pytest.mark.parametrize("array", [np.array([True]), np.array(["a"])])
def test_bytes_that_are_no_values_of_their_type_are_refused(array, parts, sign):
    data = to_npy(array)
    wrong = data[: -array.itemsize] + b"\xff" * array.itemsize
    nodes = [{"kind": "array", "member": "arrays/0.npy"}]
    crafted = parts._replace(arrays={"arrays/0.npy": wrong}, nodes=nodes)
    with pytest.raises(ModelFileError, match="an array of"):
        load(io.BytesIO(sign(crafted)))


def state_of(parts, name):
    return next(node["state"] for node in parts.nodes if node.get("class") == name)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda state: state.pop("min_samples_"),
            r"RankingForest of the file: lacks \['min_samples_'\]",
        ),
        (lambda state: state.update(depth=3), r"has the parameters \['depth'\]"),
        (lambda state: state.update(predict=3), "can't have|has the parameters"),
        (lambda state: state.update(feature_importances_=3), "can't have an attribute"),
        (lambda state: state.update(__class__=3), "can't have an attribute '__class__'"),
        (lambda state: state.update(aggregation="none"), "aggregation must be"),
        (lambda state: state.update(n_jobs=10**6), "n_jobs must be"),
        (lambda state: state.update(ties_=1), "ties_ must be True or False"),
        (lambda state: state.update(oblique_=state["places_"]), "oblique_ must be"),
    ],
)
def test_states_that_no_ranker_has_are_refused(change, says, parts, sign):
    change(state_of(parts, "moreplr.RankingForest"))
    with pytest.raises(ModelFileError, match=says):
        load(io.BytesIO(sign(parts)))


def test_a_parameter_that_an_older_file_lacks_gets_its_default(parts, sign):
    state_of(parts, "moreplr.RankingForest").pop("objective")
    assert load(io.BytesIO(sign(parts))).objective == "tau_x"


def test_an_attribute_that_this_release_does_not_know_is_kept(parts, sign):
    state_of(parts, "moreplr.RankingForest")["_newer"] = 5
    assert load(io.BytesIO(sign(parts)))._newer == 5


def test_another_scikit_learn_is_told_where_it_matters(fitted, saved, monkeypatch):
    import sklearn

    foreign, own = (fitted(name)[0] for name in ("base_linear", "ranking_forest"))
    with monkeypatch.context() as past:
        past.setattr(sklearn, "__version__", "1.2.0")
        files = [io.BytesIO(saved(model)) for model in (foreign, own)]
    with pytest.warns(sklearn.exceptions.InconsistentVersionWarning, match=r"1\.2\.0"):
        load(files[0])
    load(files[1])


def test_every_public_estimator_can_be_stored():
    """A new one needs a spec in moreplr.persistence.own, and a case in conftest.py."""
    import moreplr.forest
    import moreplr.layers
    import moreplr.regressors

    modules = [moreplr, moreplr.forest, moreplr.regressors, moreplr.layers, moreplr.encoders]
    for module in modules:
        for name in getattr(module, "__all__", vars(module)):
            found = getattr(module, name)
            public = isinstance(found, type) and found.__module__.startswith("moreplr")
            if public and hasattr(found, "get_params") and name != "Layer":
                assert registry.spec_of(found) is not None, name


def test_the_registry_has_no_name_twice():
    from moreplr.persistence.foreign import FOREIGN
    from moreplr.persistence.own import OWN

    names = [spec.name for spec in (*OWN, *FOREIGN)]
    assert len(names) == len(set(names)) == len({spec.cls for spec in (*OWN, *FOREIGN)})


def test_a_writer_that_fails_leaves_the_archive_closed():
    stream = io.BytesIO()
    with pytest.raises(ZeroDivisionError), Writer(stream) as writer:
        raise ZeroDivisionError
    assert writer._archive.fp is None
    assert re.search(rb"sha256=", stream.getvalue()) is None
