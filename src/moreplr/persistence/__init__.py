"""Save fitted models to a file and load them, without pickle.

A file holds data only. It is a zip archive of

- ``model.json``: the objects as a flat list of nodes. A node names its kind, such as "list",
  "array" or "object", and refers to nodes before it by number. So a loop decodes them: nothing
  recurses or refers to itself, and an object that a model shares is stored once.
- ``arrays/0.npy`` and so on: numbers and texts in NumPy's own format. Their headers are matched
  against a pattern, never evaluated.
- ``manifest.json``: the format's version, the releases that wrote it, size and SHA-256 of all
  other members. The SHA-256 of the whole file ends the archive's comment.

Loading looks the classes up by name in a fixed allow-list (:mod:`moreplr.persistence.registry`),
makes them without calling their constructors, and fills in their attributes once these have been
checked: parameters and fitted attributes are there, of the right types and shapes. Numba kernels
read without looking at bounds, so that the arrays of forests are also checked for every index
that a kernel would follow (:mod:`moreplr.forest.validation`). A search tree of neighbours is not
stored but made again from its rows. Nothing else runs, and whatever is wrong with a file gives a
:class:`ModelFileError`. Checksums detect damage, and do not prove who wrote a file.

Why not pickle: loading runs what the file says. Why not skops: it checks types and not what is in
them, so that a one-hot encoder changed in a file writes outside of its arrays and kills the
interpreter, and it bounds no memory (`benchmarks/skops_files.py`). Its good idea is used here: the
state of a class whose code is Python and NumPy is stored as it is, and nothing has to be known of
it (:mod:`moreplr.persistence.foreign`).

Arrays are deflated at level 1. A ranking forest of 100 trees on the letter data (148 MB) is saved
in 2.2 s as 38 MB and loaded in 0.9 s, of which the checks of its trees take 0.1 s; level 6 would
take 10 s to save it as 31 MB.

An older file may lack a parameter, which then gets its default, but no learned attribute.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import IO, Any

import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from moreplr._files import whole_file
from moreplr.persistence.container import MODEL, MOST_BYTES, Reader, Writer
from moreplr.persistence.errors import ModelFileError

__all__ = ["ModelFileError", "load", "save"]

_BLOCK = 1 << 20


def save(model: Any, path: str | os.PathLike[str] | IO[bytes]) -> None:
    """Save a fitted model to a file that :func:`load` reads.

    Parameters
    ----------
    model : fitted estimator
        A ranker, regressor or forest of this library, or a scikit-learn pipeline with one.
    path : str, path or binary file object
        A file of that name is replaced at once, when the new one is complete.

    Raises
    ------
    TypeError
        If the model holds what a file can't, such as a function or a scikit-learn tree. The
        message names its place in the model, and what to use instead.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import io
    >>> from moreplr import DummyRanker, load, save
    >>> ranker = DummyRanker().fit([[0], [1]], ["a > b ~ c", "a > b"])
    >>> file = io.BytesIO()
    >>> save(ranker, file)
    >>> load(file).predict_text([[2]])
    ['a > b ~ c']
    """
    _check_model(model)
    if not isinstance(path, str | os.PathLike):
        memory = io.BytesIO()
        _write(model, memory)
        path.write(memory.getbuffer())
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as device:  # a pipe; a directory is an error
            save(model, device)
        return
    with whole_file(target, lasting=True) as name, open(name, "w+b") as stream:
        _write(model, stream)


def load(path: str | os.PathLike[str] | IO[bytes], *, max_bytes: int | None = None) -> Any:
    """Load a model that :func:`save` has written.

    Loading runs no code of the file, whoever wrote it. The page on security has the limits of this
    promise.

    Parameters
    ----------
    path : str, path or binary file object
        A file object is read from its beginning, or from where it stands if it can't seek.
    max_bytes : int, optional
        The most memory that the model may take. By default 4 GiB, or 64 MiB plus 200 times the
        size of the file if that is less. Loading takes up to twice as much for a moment.

    Returns
    -------
    the model, which predicts what the saved one did, bit for bit

    Raises
    ------
    ModelFileError
        If the file is no model of this library, is damaged, was written by a newer format, or
        holds anything that a model of this library does not.

    Examples
    --------
    >>> import os, tempfile
    >>> from moreplr import RankingForest, load, save
    >>> X, Y = [[0], [1], [2]], ["a > b", "a ~ b", "b > a"]
    >>> forest = RankingForest(10, random_state=0).fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(forest, os.path.join(folder, "forest.moreplr"))
    ...     loaded = load(os.path.join(folder, "forest.moreplr"))
    >>> bool((loaded.predict([[0], [2]]) == forest.predict([[0], [2]])).all())
    True
    """
    if isinstance(path, str | os.PathLike):
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"there is no model file {os.fspath(path)!r}; data sets are loaded by "
                "moreplr.datasets.load"
            )
        if os.path.isdir(path):
            raise IsADirectoryError(f"{os.fspath(path)!r} is a folder, and no model file")
        with open(path, "rb") as file:
            return load(file, max_bytes=max_bytes)
    seekable = getattr(path, "seekable", bool)()
    try:
        return _read(path if seekable else _copy(path, max_bytes), max_bytes)
    except ModelFileError:
        raise
    except MemoryError as error:
        raise ModelFileError("the model takes more memory than there is") from error
    except Exception as error:
        # Crafted files raise errors of many types; callers catch one.
        reason = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"the file does not hold a model: {reason:.300}") from error


def _check_model(model: Any) -> None:
    from moreplr.persistence.advice import refusal
    from moreplr.persistence.registry import spec_of

    if isinstance(model, type):
        raise TypeError(f"save needs a fitted model, not the class {model.__name__}")
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"save needs a fitted model, not a {type(model).__name__}")
    if spec_of(type(model)) is None:
        raise TypeError(refusal(model, "the model"))
    if hasattr(model, "fit"):
        check_is_fitted(
            model, msg="this %(name)s is not fitted: there is nothing to save; call fit first"
        )


def _write(model: Any, stream: IO[bytes]) -> None:
    from moreplr.persistence.encoding import Encoder

    with Writer(stream) as writer:
        encoder = Encoder(writer)
        encoder.item(model, "model")
        writer.add_json(MODEL, {"nodes": encoder.nodes})


def _copy(stream: IO[bytes], max_bytes: int | None) -> IO[bytes]:
    """The rest of a stream that can't seek, in memory."""
    most = MOST_BYTES if max_bytes is None else max_bytes
    memory = io.BytesIO()
    while block := stream.read(_BLOCK):
        memory.write(block)
        if memory.tell() > most:
            raise ModelFileError(f"the stream goes on for more than {most:,} bytes")
    return memory


def _read(stream: IO[bytes], max_bytes: int | None) -> Any:
    from moreplr import __version__
    from moreplr.persistence.decoding import Decoder

    reader = Reader(stream, max_bytes)
    decoder = Decoder(reader)
    try:
        model = decoder.decode()
    except ModelFileError as error:
        release = reader.versions.get("moreplr", __version__)
        if release == __version__:
            raise
        raise ModelFileError(
            f"{error} (the file says that moreplr {release:.40} wrote it; this is moreplr "
            f"{__version__}: if it can't be read, fit the model again)"
        ) from error
    written = reader.versions.get("scikit-learn", "")
    if decoder.foreign and written.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=decoder.foreign,
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=written,
            ),
            stacklevel=4,
        )
    return model
