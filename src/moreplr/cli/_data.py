"""The option that says where benchmark data are, for all commands that load some."""

from __future__ import annotations

import argparse
import os


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add --data."""
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        help="folder of benchmark data with a manifest.csv (default: where the environment "
        "variable MOREPLR_DATA points; bundled data and OpenML serve what it does not have)",
    )


def use_data_option(options: argparse.Namespace) -> None:
    """Let the folder hold for this process and those that it starts."""
    if options.data is not None:
        os.environ["MOREPLR_DATA"] = options.data
