"""Options of tables: how files and cells are read, and what columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moreplr.rankings._votes import TIES


@dataclass(frozen=True)
class TableOptions:
    """The options of :func:`moreplr.datasets.from_csv`, which documents them."""

    labels: Any = None
    text: Any = None
    long: Sequence[Any] | None = None
    votes: Sequence[Any] | None = None
    choices: Sequence[Any] | None = None
    tried: Sequence[Any] = ()
    ratings: bool = False
    scores: str | None = None
    tolerance: float | str = 0.0
    missing: str = "unranked"
    unranked: Sequence[Any] = ()
    last: Sequence[Any] = ()
    ties: Sequence[Any] = TIES
    skip: Sequence[Any] = ()
    drop_prefix: str = ""
    weight: Any = None
    group: Any = None
    ignore: Sequence[Any] = ()
    gaps: Sequence[Any] = ()
    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    sheet: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        shapes = [name for name in ("text", "long", "votes", "choices") if self.given(name)]
        if len(shapes) > 1:
            raise ValueError(f"{shapes[0]} and {shapes[1]} contradict each other: say one")
        for name, size in (("long", (3,)), ("votes", (3,)), ("choices", (1, 2))):
            columns = getattr(self, name)
            if columns is not None and (isinstance(columns, str) or len(columns) not in size):
                raise ValueError(f"{name} {_USAGE[name]}, got {columns!r}")
            if columns is not None and len(set(columns)) < len(columns):
                raise ValueError(f"{name} {_USAGE[name]}: a column stands twice in {columns!r}")
        if self.given("choices") != bool(self.tried):
            raise ValueError("choices and tried belong together: say which columns hold the tried")
        if self.scores not in (None, "smaller", "larger"):
            raise ValueError(f"scores must be 'smaller' or 'larger', got {self.scores!r}")
        if self.ratings and self.scores == "smaller":
            raise ValueError("ratings and scores='smaller' contradict each other: say one")
        if shapes in (["text"], ["votes"], ["choices"]) and self.has_scores:
            raise ValueError(f"{shapes[0]} has no scores: leave out ratings, scores and the like")
        if self.scores is None and not self.ratings:
            for name, default in (("tolerance", 0.0), ("missing", "unranked"), ("last", ())):
                if getattr(self, name) not in (default, []):
                    raise ValueError(
                        f"{name} is for scores: say scores='smaller' or scores='larger'"
                    )
        for name in ("ignore", "gaps", "unranked", "last", "ties", "skip", "tried"):
            if isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a list, got {getattr(self, name)!r}")

    def given(self, name: str) -> bool:
        """Whether an option is given."""
        return getattr(self, name) is not None

    @property
    def is_wide(self) -> bool:
        """Whether each label has a column."""
        return not any(map(self.given, ("text", "long", "votes", "choices")))

    @property
    def has_scores(self) -> bool:
        """Whether numbers are ratings or other scores, no positions."""
        return self.ratings or self.scores is not None

    @property
    def larger_is_better(self) -> bool:
        """Which scores are better."""
        return self.scores != "smaller"


_USAGE = {
    "long": "names three columns: the row's, the label's and the position's",
    "votes": "names three columns: the two that are compared, and the winner's",
    "choices": "names one or two columns: of the best, and of the worst",
}
