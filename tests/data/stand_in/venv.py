"""Stands in for Python's own `venv`: makes an environment in a moment, with a pip that needs no network."""

import os
import shutil
import sys
from pathlib import Path


def make(folder: Path) -> None:
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    python = Path(sys.executable).resolve()
    (folder / "bin" / "python").symlink_to(python)
    settings = f"home = {python.parent}\ninclude-system-site-packages = false\n"
    (folder / "pyvenv.cfg").write_text(settings, encoding="utf-8")
    shutil.copytree(Path(__file__).with_name("pip"), packages / "pip")


if __name__ == "__main__":
    if os.environ.get("STAND_IN_VENV") == "fails":
        sys.exit("Error: no environment today")
    make(Path(sys.argv[1]))
