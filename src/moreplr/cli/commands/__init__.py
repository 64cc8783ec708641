"""The subcommands, a module each.

A module's docstring is its --help, with examples at the end. Its command is a function of the
module's name, which gets all options as one object. Heavy imports are inside of functions, so that
--help is fast.
"""
