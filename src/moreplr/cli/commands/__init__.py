"""The subcommands, a module each.

A module's docstring is what --help shows, with examples at the end. Its command is a function of
the module's name, which is given all options as one object. What is heavy is imported inside, so
that help comes at once.
"""
