"""How commands are declared: with click, and with options that take several words."""

from __future__ import annotations

import os
import re
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any

import click
from click.core import augment_usage_errors

Options = SimpleNamespace  # what a command is given, by name
# Shells complete names of files; whether a file can be read is checked where it is read.
FILE = click.Path(readable=False)
# What looks like an option: -o and --output do; -, -1 and '- a' do not.
_NAME = re.compile(r"-[^\d.\s]\S*")


class Argument(click.Argument):
    """An argument with a description in --help."""

    def __init__(self, *names: Any, about: str, **rest: Any) -> None:
        super().__init__(*names, **rest)
        self.about = about


class Option(click.Option):
    """An option under a heading of --help."""

    def __init__(self, *names: Any, heading: str = "Options", **rest: Any) -> None:
        super().__init__(*names, **rest)
        self.heading = heading


class Words(Option):
    """An option of several words: --labels a b is --labels a --labels b."""

    def __init__(self, *names: Any, metavar: str = "VALUE", **rest: Any) -> None:
        super().__init__(*names, metavar=f"{metavar}...", multiple=True, **rest)


def _needed(option: Any) -> int:
    """How many words must follow an option; --paper-tables works without any."""
    is_value = isinstance(option, click.Option) and not option.is_flag and option.flag_value != ""
    return int(option.nargs) if is_value else 0


class _Helpful(click.Command):
    """A command with --debug, its whole first line in lists, and examples at the end of help."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.help, _, self.examples = (self.help or "").partition("\nExamples:\n")
        words = "show a traceback on errors"  # main looks for it
        self.params.append(click.Option(["--debug"], is_flag=True, expose_value=False, help=words))

    def get_short_help_str(self, limit: int = 0) -> str:
        return (self.help or "").partition("\n")[0]

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:  # which are not wrapped, so that they can be copied
            formatter.write(f"\nExamples:\n{self.examples}")


class Command(_Helpful):
    """A command whose function gets all options as one object."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Repeat an option of several words before each of them, as click expects."""
        options = {name: option for option in self.params for name in option.opts}
        words: list[str] = []
        last, needed = "", 0
        for at, word in enumerate([*args, "--"]):
            if needed and word in {*options, "--"}:
                number = options[last].nargs
                many = "a value" if number == 1 else f"{number} values"
                raise click.UsageError(f"option {last!r} needs {many}", context)
            if word == "--":
                words += args[at:]
                break
            if needed:
                needed -= 1
            elif _NAME.fullmatch(word):
                last, needed = word, _needed(options.get(word))
            elif isinstance(options.get(last), Words) and words[-1] != last:
                words.append(last)
            words.append(word)
        with augment_usage_errors(context):
            return super().parse_args(context, words)

    def invoke(self, context: click.Context) -> Any:
        """Call the function; --data is set for this process and those that it starts."""
        assert self.callback is not None
        options = Options(**context.params)
        if getattr(options, "data", None) is not None:
            os.environ["MOREPLR_DATA"] = options.data
        return context.invoke(self.callback, options)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments and options under their headings."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for known in self.get_params(context):
            if isinstance(known, Argument):
                rows.setdefault("Arguments", []).append((known.human_readable_name, known.about))
            elif record := known.get_help_record(context):
                rows.setdefault(getattr(known, "heading", "Options"), []).append(record)
        for heading, lines in rows.items():
            with formatter.section(heading):
                formatter.write_dl(lines)


class Group(_Helpful, click.Group):
    """A command of commands."""

    command_class = Command


command = partial(click.command, cls=Command)
argument = partial(click.argument, cls=Argument)
file_option = partial(click.option, type=FILE)
several = partial(click.option, cls=Words)


def together(*options: Any) -> Any:
    """Options that several commands share, as one decorator."""
    return lambda function: reduce(lambda done, option: option(done), options[::-1], function)
