"""Compile the kernels now, and not in the middle of the first fit.

The compiled code is kept, beside the package or in the user's cache folder. Say it once after
installing, or when an image is built.
"""

from __future__ import annotations

import argparse

EXAMPLES = """
moreplr warm-up
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """There is nothing to choose."""


def run(options: argparse.Namespace) -> int:
    """Fit something small of everything that stands on a kernel."""
    from moreplr import _warm_up

    _warm_up.main()
    return 0
