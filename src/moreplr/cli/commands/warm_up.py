"""Compile the kernels now, and not in the middle of the first fit.

The compiled code is kept, beside the package or in the user's cache folder. Say it once after
installing, or when an image is built.

Examples:
  moreplr warm-up
"""

from __future__ import annotations

from moreplr.cli.declaring import Options, command


@command(help=__doc__)
def warm_up(options: Options) -> None:
    """Fit something small of everything that stands on a kernel."""
    from moreplr import _warm_up

    _warm_up.main()
