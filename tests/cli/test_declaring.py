import re

import click
import pytest

from moreplr.cli import main
from moreplr.cli.declaring import Group, argument, command, file_option, several, together

EXAMPLE = "  tool a.csv --names " + " ".join(["long"] * 30)


@command(help=f"Do it.\n\nAnd more.\n\nExamples:\n{EXAMPLE}\n")
@argument("table", about="what is read")
@several("--names", help="of columns")
@several("--also", is_flag=False, flag_value="")
@file_option("-o", "--output", default="-")
@click.option("--long", nargs=2)
def tool(options):
    return options


def parse(*words):
    with tool.make_context("tool", list(words)) as context:
        return tool.invoke(context)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["t", "--names", "a", "b"], ("a", "b")),
        (["t", "--names", "a", "b", "-o", "x", "--names", "c"], ("a", "b", "c")),
        (["t", "--names", "0", "-1", "-.5", "-", "- a"], ("0", "-1", "-.5", "-", "- a")),
        (["--names", "a", "b", "--", "t"], ("a", "b")),
        (["--names=a", "t"], ("a",)),
        (["-o", "x", "t"], ()),
        (["t", "--also", "--names", "a", "--long", "b", "c"], ("a",)),
        (["--", "t"], ()),
    ],
)
def test_options_of_several_words_take_them_up_to_the_next_option_and_add_up(words, expected):
    found = parse(*words)
    assert (found.table, found.names) == ("t", expected)


def test_an_option_that_is_said_without_words_differs_from_none():
    assert parse("t").also == ()
    assert parse("t", "--also").also == parse("t", "--also", "-o", "x").also == ("",)
    assert parse("t", "--also", "a", "b").also == ("a", "b")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["t", "-o", "--names", "a"], "option '-o' needs a value"),
        (["t", "-o"], "option '-o' needs a value"),
        (["t", "-o", "--"], "option '-o' needs a value"),
        (["t", "--names", "-o", "x"], "option '--names' needs a value"),
        (["t", "--long", "a", "-o", "x"], "option '--long' needs 2 values"),
        (["t", "--long", "a"], "option '--long' needs 2 values"),
    ],
)
def test_an_option_is_no_value_of_the_one_before_it(words, message):
    with pytest.raises(click.UsageError, match=message):
        parse(*words)


def test_help_tells_of_all_and_does_not_break_examples():
    said = tool.get_help(click.Context(tool, info_name="tool"))
    assert "Arguments:\n  TABLE  what is read\n" in said
    assert re.search(r"--names VALUE\.\.\. +of columns\n", said)
    assert said.endswith(f"Examples:\n{EXAMPLE}")
    group = Group("tools", commands={"tool": tool})
    assert "tool  Do it.\n" in group.get_help(click.Context(group)) + "\n"


def test_options_together_keep_their_order():
    @command()
    @together(click.option("--first"), click.option("--second"))
    def both(options):
        """Both."""

    assert [option.name for option in both.params][:2] == ["first", "second"]


def test_what_is_not_known_is_said_with_what_comes_close(capsys):
    assert main(["fit", "t.csv", "--lables", "a", "b", "-o", "m"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("moreplr fit: error: no such option")
    assert "--labels" in said
    assert said.count("\n") == 1
