"""Stands in for Python's own `ensurepip`: puts the stand-in for pip into the environment that runs it."""

import shutil
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    packages = Path(sysconfig.get_path("purelib"))
    shutil.copytree(Path(__file__).with_name("pip"), packages / "pip", dirs_exist_ok=True)
