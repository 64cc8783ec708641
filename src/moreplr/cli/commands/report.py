"""Write a report of the results in a store: HTML, LaTeX and CSV."""

from __future__ import annotations

import argparse

EXAMPLES = """
moreplr report demo.sqlite -o demo-report
moreplr report paper.sqlite -o paper --title 'The paper, run again'
moreplr report monday.sqlite tuesday.sqlite -o both
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "stores",
        nargs="+",
        metavar="store",
        help="SQLite file that `moreplr benchmark` wrote; several are read as one",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--title", help="heading of the report")


def run(options: argparse.Namespace) -> int:
    """Write the report and print where it is."""
    from moreplr import experiments

    print(experiments.report(options.stores, options.output, options.title))
    return 0
