"""The error for a bad model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file that is no model of this library, is damaged, or holds what it must not hold.

    Examples
    --------
    >>> import io
    >>> from moreplr import load
    >>> from moreplr.persistence import ModelFileError
    >>> try:
    ...     load(io.BytesIO(b"a letter to a friend"))
    ... except ModelFileError as error:
    ...     print(error)
    this is no model file of moreplr
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason:.600}")  # what a file holds may be long
