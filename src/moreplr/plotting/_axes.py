"""What all displays share: axes to draw on."""

from __future__ import annotations

from typing import Any

MAIN, LIGHT, GREY = "#2a6f97", "#cfe3ee", "#6b7280"


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes that were given, or new ones of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def bare(ax: Any, *, keep: tuple[str, ...] = ()) -> None:
    """Leave out the frame but for the sides to keep."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)


class Display:
    """A picture that can be drawn again; subclasses draw on `self.ax_` in `plot`."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, size: tuple[float, float]) -> Any:
        self.ax_ = new_axes(ax, size)
        self.figure_ = self.ax_.figure
        return self.ax_
