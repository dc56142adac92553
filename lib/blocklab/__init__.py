"""Blocklab: the building blocks of a Transformer, written to be read and tested against torch."""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:  # what Python says while it looks for a command of this package
    del sys.path[0]  # the current folder: a csv.py that lies there is no module of ours

__version__ = "0.1.0"
