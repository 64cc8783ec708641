"""Print a script that lets a shell complete commands, options and names of files.

The shells are bash, zsh and fish. A shell loads the script when it starts, if the script is where
the examples put it.

Examples:
  moreplr completion bash > ~/.local/share/bash-completion/completions/moreplr
  moreplr completion zsh > /usr/local/share/zsh/site-functions/_moreplr
  moreplr completion fish > ~/.config/fish/completions/moreplr.fish
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from moreplr.cli.declaring import Options, command


@command(help=__doc__)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(options: Options) -> None:
    """Print the script."""
    from moreplr.cli import COMPLETE, moreplr

    kind = get_completion_class(options.shell)
    assert kind is not None, "all choices are known to click"
    print(kind(moreplr, {}, "moreplr", COMPLETE).source())
