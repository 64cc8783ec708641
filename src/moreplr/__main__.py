"""`python -m moreplr` is the command `moreplr`."""

import os
import sys

if __name__ == "__main__":
    # Python puts the working folder first: a `random.py` beside the data would be run.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    from moreplr.cli import main

    sys.exit(main())
