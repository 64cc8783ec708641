"""`python -m moreplr` is the command `moreplr`."""

import sys

from moreplr.cli import main

if __name__ == "__main__":
    sys.exit(main())
