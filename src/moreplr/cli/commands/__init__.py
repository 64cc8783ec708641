"""The subcommands, a module each.

A module has a docstring whose first line is its help, `EXAMPLES`, `configure` to add its
arguments to a parser, and `run` to do the work and give the exit code. It imports what is heavy
in `run`, so that help comes at once.
"""
