"""Write a report of the results in a store: HTML, LaTeX and CSV.

Examples:
  moreplr report demo.sqlite -o demo-report
  moreplr report paper.sqlite -o paper --title 'The paper, run again'
  moreplr report monday.sqlite tuesday.sqlite -o both
  moreplr report wednesday.sqlite both -o all
  moreplr report paper.sqlite -o paper --leaderboard theirs.csv
  moreplr report paper.sqlite -o paper --paper-tables Forest
"""

from __future__ import annotations

import click

from moreplr.cli.declaring import FILE, Options, argument, command, file_option, several


@command(help=__doc__)
@argument(
    "stores",
    nargs=-1,
    required=True,
    type=FILE,
    about="SQLite file that `moreplr benchmark` wrote, or folder of a report; several are read "
    "as one, and of the same result the first counts",
)
@file_option("-o", "--output", required=True, metavar="FOLDER", help="where to write")
@click.option("--title", help="heading of the report")
@file_option(
    "--leaderboard",
    multiple=True,
    help="fold scores of other methods on the same splits, shown beside: a CSV file with the "
    "columns method, dataset (plr/iris), repetition, fold and tau_x, for incomplete rankings "
    "missing and protocol, too; may be given several times",
)
@several(
    "--paper-tables",
    is_flag=False,
    flag_value="",
    metavar="METHOD",
    help="write the paper's tables, too: accuracy, time, tests of its ten methods, and tests of "
    "each METHOD beside the paper's own columns",
)
def report(options: Options) -> None:
    """Write the report and print where it is."""
    from moreplr import experiments

    methods = options.paper_tables
    path = experiments.report(
        options.stores,
        options.output,
        options.title,
        leaderboard=options.leaderboard,
        paper_tables=[name for name in methods if name] if methods else None,
    )
    print(path)
