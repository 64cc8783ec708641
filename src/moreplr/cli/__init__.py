"""The `moreplr` command: finds its subcommands in `commands` and runs them."""

from __future__ import annotations

import argparse
import io
import os
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from moreplr import __version__
from moreplr.cli.options import as_options
from moreplr.cli.stopping import exit_code, stoppable_command

COMMANDS = (
    "fit",
    "predict",
    "evaluate",
    "compare",
    "explain",
    "benchmark",
    "report",
    "datasets",
    "warm-up",
    "demo",
    "completion",
)
_LONGEST = 1000


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
    words = list(sys.argv[1:] if argv is None else argv)
    _write_what_can_be_written()
    try:
        with stoppable_command():
            code = _run(words)
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return 1
    except KeyboardInterrupt as stop:
        print("moreplr: stopped", file=sys.stderr)
        return exit_code(stop)


def _run(words: list[str]) -> int:
    parser, modules = make_parser(words)
    try:
        options = parser.parse_args(words)
    except SystemExit as stop:  # argparse has said what is wrong, or helped
        return int(stop.code or 0)
    # A plan has the options of Python.
    spell = str if options.command == "benchmark" else as_options
    try:
        with warnings.catch_warnings():
            if not options.debug:
                warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _note_once(spell)
            return modules[options.command].run(options)
    except BrokenPipeError:
        raise
    except Exception as error:
        if options.debug:
            traceback.print_exc()
        else:
            print(f"moreplr: error: {_describe(error, spell)}", file=sys.stderr)
        return 1


def _describe(error: Exception, spell: Callable[[str], str]) -> str:
    """One line that says what is wrong."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    words = _one_line(error, spell)
    if isinstance(error, (ValueError, TypeError, OSError)) and words:
        return words
    return f"{type(error).__name__}: {words} (--debug shows where)"


def _one_line(message: Any, spell: Callable[[str], str]) -> str:
    """A message without line breaks; of a long one, such as with a cell in it, both ends."""
    words = spell(" ".join(str(message).split()))
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST // 2]} … {words[-200:]}"


def _note_once(spell: Callable[[str], str]) -> Any:
    """What shows a warning as a note, each text once."""
    seen: set[str] = set()

    def show(message: Any, *rest: Any) -> None:
        text = _one_line(message, spell)
        if text not in seen:
            seen.add(text)
            print(f"moreplr: note: {text}", file=sys.stderr)

    return show


def _write_what_can_be_written() -> None:
    """Let a label that a terminal's encoding lacks be no error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Nobody reads on: keep Python from complaining about it when it flushes at exit."""
    with suppress(OSError, ValueError):  # no stream of the system's
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with a command line, and of which command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"there is no option {' '.join(rest)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        if message.endswith(("required: table", "required: tables", "required: model, table")):
            message += " (give it before options that take several words, such as --labels)"
        self.exit(2, f"{self.prog}: error: {message}; {self.prog} --help shows how\n")


def make_parser(words: Sequence[str]) -> tuple[argparse.ArgumentParser, dict[str, ModuleType]]:
    """A parser that knows the arguments of the commands that are among the words."""
    parser = _Parser(
        prog="moreplr",
        description="Learn to rank a fixed set of labels, with ties, from features.",
        epilog="moreplr COMMAND --help shows examples.",
    )
    parser.add_argument("--version", action="version", version=f"moreplr {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = {
        name: import_module(f"moreplr.cli.commands.{name.replace('-', '_')}") for name in COMMANDS
    }
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
        if name in words:  # arguments of the others are of no use
            module.configure(sub)
    return parser, modules
