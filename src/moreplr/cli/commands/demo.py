"""See the library at work on bundled data: several rankers, some bucket orders, and a report.

Rankers learn from complete rankings and from ones that lost labels, and are scored on rankings
that they have not seen. Then a small experiment is run and its report written, all offline.

Examples:
  moreplr demo
  moreplr demo -o elsewhere
"""

from __future__ import annotations

import click

from moreplr.cli.declaring import Options, command, file_option


@command(help=__doc__)
@file_option(
    "-o", "--output", default="moreplr-demo", metavar="FOLDER", help="where the report goes"
)
@click.option("--jobs", default=2, metavar="N", help="processes of the experiment")
def demo(options: Options) -> None:
    """Show rankers, then run the plan named demo and report it."""
    from pathlib import Path

    from moreplr import experiments
    from moreplr.cli.demonstration import demonstrate

    demonstrate()
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "demo.sqlite"
    experiments.run(experiments.Plan.load("demo"), store, jobs=options.jobs, progress=True)
    print(experiments.report(store, folder))
