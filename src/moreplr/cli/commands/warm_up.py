"""Compile the kernels now, and not during the first fit.

The compiled code is kept beside the package, or in the user's cache folder. Run this once after
installing, or when building an image.

Examples:
  moreplr warm-up
"""

from __future__ import annotations

from moreplr.cli.declaring import Options, command


@command(help=__doc__)
def warm_up(options: Options) -> None:
    """Fit small examples of all that uses a kernel."""
    from moreplr import _warm_up

    _warm_up.main()
