"""What all displays share: axes to draw on, and colours."""

from __future__ import annotations

from typing import Any

MAIN, LIGHT, GREY = "#2a6f97", "#cfe3ee", "#6b7280"


def bare(ax: Any, *, keep: tuple[str, ...] = ()) -> None:
    """Hide the frame, except for the sides to keep."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)


class Display:
    """A picture that can be drawn again; subclasses draw on `self.ax_` in `plot`."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, size: tuple[float, float]) -> Any:
        """The axes that were given, or new ones of this size in inches."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax
