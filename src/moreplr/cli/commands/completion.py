"""Print a script that lets a shell complete commands and options.

Bash, zsh and tcsh are known. Run the script in the file that your shell reads when it starts.
"""

from __future__ import annotations

import argparse

EXAMPLES = """
moreplr completion bash > ~/.local/share/bash-completion/completions/moreplr
moreplr completion zsh > /usr/local/share/zsh/site-functions/_moreplr
"""
SHELLS = ("bash", "zsh", "tcsh")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=SHELLS)


def run(options: argparse.Namespace) -> int:
    """Print the script for all commands."""
    import shtab

    from moreplr.cli import COMMANDS, make_parser

    parser, _ = make_parser(COMMANDS)
    print(shtab.complete(parser, options.shell))
    return 0
