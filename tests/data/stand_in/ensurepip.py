"""Stands in for Python's own `ensurepip`: puts the stand-in for pip into the environment that runs it."""

import sysconfig
from pathlib import Path
from venv import put_pip

if __name__ == "__main__":
    put_pip(Path(sysconfig.get_path("purelib")))
