"""Attributes that are computed at first use and then kept.

On Python 3.11, `functools.cached_property` holds a lock during the computation. A process that is
forked at that moment would wait for it forever, so there is no lock here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    lazy = cached_property
else:

    class lazy(cached_property):
        """A property that is computed once, or by each thread if several use it at first.

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
