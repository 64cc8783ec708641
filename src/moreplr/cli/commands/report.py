"""Write a report of the results in a store: HTML, LaTeX and CSV."""

from __future__ import annotations

import argparse

EXAMPLES = """
moreplr report demo.sqlite -o demo-report
moreplr report paper.sqlite -o paper --title 'The paper, run again'
moreplr report monday.sqlite tuesday.sqlite -o both
moreplr report wednesday.sqlite both -o all
moreplr report paper.sqlite -o paper --leaderboard theirs.csv
moreplr report paper.sqlite -o paper --paper-tables Forest
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "stores",
        nargs="+",
        metavar="store",
        help="SQLite file that `moreplr benchmark` wrote, or folder of a report; several are read "
        "as one, and of the same result the first counts",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--title", help="heading of the report")
    parser.add_argument(
        "--leaderboard",
        action="append",
        default=[],
        metavar="FILE",
        help="fold scores of other methods on the same splits, shown beside: a CSV file with the "
        "columns method, dataset (plr/iris), repetition, fold and tau_x, for incomplete rankings "
        "missing and protocol, too; may be given several times",
    )
    parser.add_argument(
        "--paper-tables",
        nargs="*",
        metavar="METHOD",
        help="write the paper's tables, too: accuracy, time, tests of its ten methods, and tests "
        "of each METHOD beside the paper's own columns",
    )


def run(options: argparse.Namespace) -> int:
    """Write the report and print where it is."""
    from moreplr import experiments

    path = experiments.report(
        options.stores,
        options.output,
        options.title,
        leaderboard=options.leaderboard,
        paper_tables=options.paper_tables,
    )
    print(path)
    return 0
