"""How much memory a file may take: counted before it is taken, in all steps of loading."""

from __future__ import annotations

from moreplr.persistence.errors import ModelFileError


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
        """Count so many bytes more."""
        self._left -= size
        if self._left < 0:
            raise ModelFileError(
                f"the model takes more memory than the limit of {self._limit:,} bytes; "
                "if you trust where it comes from, raise max_bytes"
            )
