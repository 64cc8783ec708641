"""Attributes that are computed at first use, and kept.

Like those of functools, which hold a lock meanwhile on Python 3.11: in a process that is forked
just then nobody would ever release it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    lazy = cached_property
else:

    class lazy(cached_property):
        """A property that is computed once; by each of several threads that ask at once.

        Examples
        --------
        >>> class Square:
        ...     @lazy
        ...     def root(self):
        ...         print("computed")
        ...         return 2
        >>> square = Square()
        >>> square.root + square.root
        computed
        4
        """

        def __get__(self, owner: Any, cls: type | None = None) -> Any:
            if owner is None:
                return self
            value = owner.__dict__[self.attrname] = self.func(owner)
            return value
