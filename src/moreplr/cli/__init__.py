"""The `moreplr` command: finds its subcommands in `commands` and runs them."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from moreplr import __version__
from moreplr.cli.declaring import Group
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
COMPLETE = "_MOREPLR_COMPLETE"  # a shell sets this to complete a word
_LONGEST = 1000


class _Commands(Group):
    """Imports a command when it is named."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args[0] not in COMMANDS:
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(COMMANDS)}"
            raise click.UsageError(f"no such command {args[0]!r}: {hint}", context)
        return super().resolve_command(context, args)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        file = name.replace("-", "_")
        return getattr(import_module(f"moreplr.cli.commands.{file}"), file)


@click.group(
    cls=_Commands,
    no_args_is_help=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.version_option(__version__, message="moreplr %(version)s")
def moreplr() -> None:
    """Learn to rank a fixed set of labels, with ties, from features.

    moreplr COMMAND --help shows examples.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 is success, 1 an error, 2 a wrong command line.

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
    _escape_what_terminals_lack()
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
    if COMPLETE in os.environ:
        return shell_complete(moreplr, {}, "moreplr", COMPLETE, os.environ[COMPLETE])
    if not words:
        _run(["--help"])
        return 2
    debug = "--debug" in words
    # The keys of a plan are named as in Python.
    spell = str if words[:1] == ["benchmark"] else as_options
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _note_once(spell)
            # Not click's standalone mode, which handles signals and errors in its own way.
            with moreplr.make_context("moreplr", words) as context:
                moreplr.invoke(context)
        return 0
    except Exit as stop:  # after --help and --version
        return stop.exit_code
    except click.UsageError as error:
        print(_usage(error), file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        else:
            print(f"moreplr: error: {_describe(error, spell)}", file=sys.stderr)
        return 1


def _usage(error: click.UsageError) -> str:
    """One line about a wrong command line, with the command's name."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[0].lower() + message[1:]
    if message.endswith(("'TABLE'", "'TABLES...'")):
        message += " (give it before options that take several words, such as --labels)"
    path = "moreplr" if error.ctx is None else error.ctx.command_path
    return f"{path}: error: {message}; {path} --help shows how"


def _describe(error: Exception, spell: Callable[[str], str]) -> str:
    """One line about an error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    words = _one_line(error, spell)
    if isinstance(error, (ValueError, TypeError, OSError)) and words:
        return words
    return f"{type(error).__name__}: {words} (--debug shows where)"


def _one_line(message: Any, spell: Callable[[str], str]) -> str:
    """A message without line breaks; a long one, such as with a cell in it, is cut."""
    words = spell(" ".join(str(message).split()))
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST // 2]} … {words[-200:]}"


def _note_once(spell: Callable[[str], str]) -> Any:
    """A function that shows warnings as notes, each text once."""
    seen: set[str] = set()

    def show(message: Any, *rest: Any) -> None:
        text = _one_line(message, spell)
        if text not in seen:
            seen.add(text)
            print(f"moreplr: note: {text}", file=sys.stderr)

    return show


def _escape_what_terminals_lack() -> None:
    """Print escapes for signs that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """After a broken pipe, keep Python from failing when it flushes the output at exit."""
    with suppress(OSError, ValueError):  # standard output is no file of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
