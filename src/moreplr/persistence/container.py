"""The file around a model: a zip archive with checksums of every byte.

The archive's comment, the last bytes of the file, names the format, its version and the release
that wrote it, and ends in the SHA-256 of all bytes before. The manifest has size and SHA-256 of
every other member. Sizes are compared with the limits before anything is unpacked, and members
are read into memory by their names, so that no name ever becomes a path.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from typing import IO, Any, NamedTuple, Self

import numpy as np
import sklearn
from numpy.typing import NDArray

from moreplr.persistence.errors import ModelFileError

FORMAT = "moreplr-model"
FORMAT_VERSION = 1
MODEL, MANIFEST = "model.json", "manifest.json"
MOST_BYTES = 1 << 32
"""How much memory a model takes at most, unless the caller allows more."""

_TRAILER = re.compile(
    rb"moreplr-model format=(\d{1,9}) moreplr=([0-9A-Za-z.+!_-]{1,64}) sha256=([0-9a-f]{64})\Z"
)
_MEMBER = re.compile(r"arrays/\d{1,9}\.npy|model\.json")
_DIGEST = 64
_BLOCK = 1 << 18
_MOST_JSON = 1 << 27
_DEEPEST_JSON = 32
# Bytes of parsed JSON at most: a list, a dict, a text beside its letters, a value in a list.
_LIST, _DICT, _TEXT, _VALUE = 96, 256, 64, 40
# A file unpacks to at most this many times its size, or to a harmless number of bytes.
_RATIO, _HARMLESS = 200, 1 << 26
# Bytes at the end of an archive; memory for each byte of its directory; a harmless size of it.
_LAST_RECORDS, _ENTRY_RATIO, _MANY_ENTRIES = 56 + 20 + 22, 16, 1 << 20
# Higher levels make a large forest a fifth smaller, and take six times as long.
_LEVEL = 1
_SAMPLE = 1 << 14
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


class Budget:
    """Counts memory against a limit.

    Parameters
    ----------
    limit : bytes

    Examples
    --------
    >>> budget = Budget(1000)
    >>> budget.take(600)
    >>> budget.take(600)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    moreplr.persistence.errors.ModelFileError: the model takes more memory than...
    """

    def __init__(self, limit: int) -> None:
        self._limit = self._left = limit

    def take(self, size: int) -> None:
        """Take so many bytes of the limit."""
        self._left -= size
        if self._left < 0:
            raise ModelFileError(
                f"the model takes more memory than the limit of {self._limit:,} bytes; "
                "if you trust where it comes from, raise max_bytes"
            )


class Writer:
    """Writes members into a stream that can seek, and at the end of its context the manifest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._archive = zipfile.ZipFile(stream, "w", allowZip64=True)
        self._members: dict[str, dict[str, Any]] = {}
        self._arrays: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self._finish()
        else:
            self._archive.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a member."""
        self._add(name, data, hashlib.sha256(data).hexdigest())

    def add_array(self, data: bytes) -> str:
        """Add an array as a member, unless there is an equal one; return its name."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._arrays:
            self._arrays[digest] = f"arrays/{len(self._arrays)}.npy"
            self._add(self._arrays[digest], data, digest)
        return self._arrays[digest]

    def add_json(self, name: str, value: Any) -> None:
        """Add a member that is a JSON text."""
        data = _to_json(value)
        if len(data) > _MOST_JSON:
            raise ValueError(f"the model's structure takes more than {_MOST_JSON:,} bytes")
        self.add(name, data)

    def _finish(self) -> None:
        """Write the manifest and, over all, the digest."""
        from moreplr import __version__

        versions = {
            "moreplr": __version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        }
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "versions": versions,
            "members": self._members,
        }
        self._write(MANIFEST, _to_json(manifest))
        start = f"{FORMAT} format={FORMAT_VERSION} moreplr={__version__} sha256="
        self._archive.comment = start.encode() + b"0" * _DIGEST
        self._archive.close()
        size = self._stream.seek(0, io.SEEK_END)
        digest = _digest(self._stream, size - _DIGEST)
        self._stream.seek(size - _DIGEST)
        self._stream.write(digest.encode())

    def _add(self, name: str, data: bytes, digest: str) -> None:
        self._members[name] = {"bytes": len(data), "sha256": digest}
        self._write(name, data)

    def _write(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.create_system = 3
        info.external_attr = 0o644 << 16
        info.compress_type = zipfile.ZIP_STORED if _is_hollow(data) else zipfile.ZIP_DEFLATED
        self._archive.writestr(info, data, compresslevel=_LEVEL)


class Reader:
    """Reads members from a stream that can seek, after the checksum of all of it is checked.

    Parameters
    ----------
    stream : the file
    max_bytes : the most that all members may take; None bounds it by the size of the file, too
    """

    def __init__(self, stream: IO[bytes], max_bytes: int | None) -> None:
        size = stream.seek(0, io.SEEK_END)
        comment = _check_trailer(stream, size)
        limit = min(_RATIO * size + _HARMLESS, MOST_BYTES) if max_bytes is None else max_bytes
        _check_directory(stream, size - comment, limit)
        self._archive = zipfile.ZipFile(stream)
        self._infos = {info.filename: info for info in self._archive.infolist()}
        self._check_members(limit)
        self.budget = Budget(limit)
        self.n_values = 0
        self.n_bytes = sum(info.file_size for info in self._infos.values())
        manifest = self._from_json(self._read(MANIFEST))
        self.versions = self._check_manifest(manifest)
        self._members: dict[str, dict[str, Any]] = manifest["members"]

    def json(self, name: str) -> Any:
        """A member that is a JSON text."""
        return self._from_json(self.read(name))

    def read(self, name: str) -> bytearray:
        """A member's bytes, which are those that the manifest promises."""
        if name not in self._members:
            raise ModelFileError(f"the file has no member {name!r:.60}")
        data = self._read(name)
        if hashlib.sha256(data).hexdigest() != self._members[name]["sha256"]:
            raise ModelFileError(f"the file is damaged: {name} is not what was written")
        return data

    def _read(self, name: str) -> bytearray:
        size = self._infos[name].file_size
        self.budget.take(size)
        data, at = bytearray(size), 0
        member: Any
        with self._archive.open(self._infos[name]) as member, memoryview(data) as view:
            while at < size and (got := member.readinto(view[at : at + _BLOCK])):
                at += got
            if at != size or member.read(1):
                raise ModelFileError(f"the file is damaged: {name} has another size")
        return data

    def _from_json(self, data: bytearray) -> Any:
        """Parse JSON that is not nested deeper than any model's, nor takes too much memory."""
        found = survey(data)
        if found.depth > _DEEPEST_JSON:
            raise ModelFileError("the file's structure is nested too deep")
        self.n_values += found.values
        letters = 5 * len(data)  # a copy to parse, and texts, with up to four bytes a sign
        size = letters + found.lists * _LIST + found.dicts * _DICT + found.texts * _TEXT
        self.budget.take(size + found.values * _VALUE)
        return json.loads(data.decode("ascii"), parse_constant=_refuse_constant)

    def _check_members(self, most: int) -> None:
        infos = self._archive.infolist()
        if len(infos) != len(self._infos) or MANIFEST not in self._infos:
            raise ModelFileError("the file has members twice, or no manifest")
        for info in infos:
            if info.filename != MANIFEST and not _MEMBER.fullmatch(info.filename):
                raise ModelFileError(f"the file has an unexpected member {info.filename!r:.60}")
            if info.flag_bits & 1 or info.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                raise ModelFileError(f"{info.filename} is packed in an unexpected way")
            if info.filename.endswith(".json") and info.file_size > _MOST_JSON:
                raise ModelFileError(f"{info.filename} has {info.file_size:,} bytes")
        total = sum(info.file_size for info in infos)
        if total > most:
            raise ModelFileError(
                f"the file unpacks to {total:,} bytes, more than the limit of {most:,}; "
                "if you trust where it comes from, raise max_bytes"
            )

    def _check_manifest(self, manifest: Any) -> dict[str, str]:
        if manifest["format"] != FORMAT or manifest["format_version"] != FORMAT_VERSION:
            raise ModelFileError("the manifest is of another format")
        promised = {name: one["bytes"] for name, one in manifest["members"].items()}
        found = {name: info.file_size for name, info in self._infos.items() if name != MANIFEST}
        if promised != found:
            raise ModelFileError("the file has other members than its manifest promises")
        versions = manifest["versions"]
        if not all(isinstance(part, str) for pair in versions.items() for part in pair):
            raise ModelFileError("the manifest has no versions")
        return versions


def _is_hollow(data: bytes) -> bool:
    """Whether data shrink so much, by a few samples, that a reader would suspect a zip bomb."""
    if len(data) <= _HARMLESS:
        return False
    step = len(data) // 64
    sample = b"".join(data[at : at + _SAMPLE] for at in range(0, len(data), step))
    return len(sample) > _RATIO // 2 * len(zlib.compress(sample, _LEVEL))


def _check_trailer(stream: IO[bytes], size: int) -> int:
    """The length of the trailer; anything but a sound model file of this format is refused."""
    from moreplr import __version__

    stream.seek(max(0, size - 256))
    trailer = _TRAILER.search(stream.read(256))
    if trailer is None:
        stream.seek(0)
        cut = stream.read(4) == b"PK\x03\x04"
        raise ModelFileError(
            "this is no model file of moreplr, or only the first part of one"
            if cut
            else "this is no model file of moreplr"
        )
    version, release = int(trailer[1]), trailer[2].decode()
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"the file was written by moreplr {release} in format {version}; this is moreplr "
            f"{__version__}, which reads formats up to {FORMAT_VERSION}: upgrade it to load it"
        )
    if _digest(stream, size - _DIGEST) != trailer[3].decode():
        raise ModelFileError("the file is damaged: its checksum does not match")
    return len(trailer[0])


def _check_directory(stream: IO[bytes], end: int, limit: int) -> None:
    """Refuse more entries than the limit has room for, before each becomes an object.

    The archive's last record, which lies before `end`, holds the length of the directory; with
    many entries, one before it does.
    """
    stream.seek(max(0, end - _LAST_RECORDS))
    records = stream.read(_LAST_RECORDS).rjust(_LAST_RECORDS, b"\0")
    if records[-22:-18] != b"PK\5\6":
        raise ModelFileError("the file is damaged: its directory does not end where it should")
    length = int.from_bytes(records[-10:-6], "little")
    if records[-42:-38] == b"PK\6\7":
        length = max(length * (length < 2**32 - 1), int.from_bytes(records[-58:-50], "little"))
    if _ENTRY_RATIO * length > max(limit, _MANY_ENTRIES):
        raise ModelFileError(f"the file has a directory of {length:,} bytes, which is too long")


def _digest(stream: IO[bytes], size: int) -> str:
    stream.seek(0)
    digest = hashlib.sha256()
    while size > 0 and (block := stream.read(min(size, _BLOCK))):
        digest.update(block)
        size -= len(block)
    return digest.hexdigest()


def _to_json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


class Survey(NamedTuple):
    """What is in a JSON text: how deep brackets are nested, and how many values there are."""

    depth: int
    lists: int
    dicts: int
    texts: int
    values: int


def survey(text: bytes | bytearray) -> Survey:
    """Look at JSON before it is parsed, in little memory; signs in strings do not count.

    Examples
    --------
    >>> survey(b'{"a": [1, "[[[", "[\\\\"[["]}')
    Survey(depth=2, lists=1, dicts=1, texts=3, values=5)
    """
    deepest = depth = 0
    inside, escaped = False, False
    lists = dicts = texts = commas = 0
    for at in range(0, len(text), _BLOCK):
        signs = np.frombuffer(text, np.uint8, min(_BLOCK, len(text) - at), at)
        quote, escaped = _quotes(signs, escaped)
        quoted = inside ^ (np.cumsum(quote, dtype=np.int32) % 2).astype(bool)
        bare = np.where(quoted, 0, signs).astype(np.uint8)
        depths = depth + np.cumsum(_STEPS[bare], dtype=np.int64)
        deepest, depth, inside = max(deepest, int(depths.max())), int(depths[-1]), bool(quoted[-1])
        counts = np.bincount(bare, minlength=256)
        lists, dicts = lists + int(counts[ord("[")]), dicts + int(counts[ord("{")])
        commas, texts = commas + int(counts[ord(",")]), texts + int(quote.sum())
    return Survey(deepest, lists, dicts, -(-texts // 2), commas + lists + dicts + 1)


def _quotes(signs: NDArray[np.uint8], escaped: bool) -> tuple[NDArray[np.bool_], bool]:
    """Where quotes are that open or end a text, and whether the sign that follows is escaped."""
    quote = signs == ord('"')
    strokes = np.flatnonzero(signs == ord("\\"))
    if len(strokes) or escaped:
        # In a run of backslashes every other one escapes the next character.
        begins = np.ones(len(strokes), bool)
        begins[1:] = np.diff(strokes) > 1
        first = strokes[begins][np.cumsum(begins) - 1] if len(strokes) else strokes
        late = (first == 0) & escaped
        active = strokes[(strokes - first) % 2 == late.astype(int)]
        if escaped:
            quote[0] = False
        quote[active[active + 1 < len(signs)] + 1] = False
        escaped = bool(len(active)) and int(active[-1]) == len(signs) - 1
    return quote, escaped


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(f"{name} is no JSON")
