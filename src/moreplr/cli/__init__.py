"""The `moreplr` command: one module for each subcommand, this one finds and runs them.

A subcommand's module has a docstring whose first line is its help, `EXAMPLES`, `configure` to
add its arguments to a parser, and `run` to do the work and give the exit code.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import traceback
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from moreplr import __version__

COMMANDS = ("benchmark", "report", "datasets")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 is success, 1 an error, 2 a command line that makes no sense.

    Examples
    --------
    >>> main(["datasets", "card", "iris", "--problem", "lr"])
    name               iris
    problem            lr
    instances          150
    features           4
    labels             3
    distinct rankings  5
    mean buckets       3.000
    missing share      0.0%
    0
    """
    parser, modules = _make_parser()
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has said what is wrong, or helped
        return int(stop.code or 0)
    try:
        return modules[options.command].run(options)
    except KeyboardInterrupt:
        print("moreplr: stopped", file=sys.stderr)
        return 1
    except Exception as error:
        if options.debug:
            traceback.print_exc()
        else:
            words = " ".join(str(error).split()) or type(error).__name__
            print(f"moreplr: error: {words}", file=sys.stderr)
        return 1


def _make_parser() -> tuple[argparse.ArgumentParser, dict[str, ModuleType]]:
    parser = argparse.ArgumentParser(
        prog="moreplr",
        description="Learn to rank a fixed set of labels, with ties, from features.",
        epilog="moreplr COMMAND --help shows examples.",
    )
    parser.add_argument("--version", action="version", version=f"moreplr {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = {name: import_module(f"moreplr.cli.{name}") for name in COMMANDS}
    for name, module in modules.items():
        first, _, rest = (module.__doc__ or "").partition("\n")
        examples = textwrap.indent(textwrap.dedent(module.EXAMPLES).strip(), "  ")
        sub = subparsers.add_parser(
            name,
            help=first,
            description=f"{first}\n\n{rest.strip()}".strip(),
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("--debug", action="store_true", help="show a traceback on errors")
        module.configure(sub)
    return parser, modules
