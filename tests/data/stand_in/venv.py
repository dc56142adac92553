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
    put_pip(packages)


def put_pip(packages: Path) -> None:
    """As pip itself would: not where a note says that it is there."""
    note = packages / "pip-1.dist-info"
    if not note.exists():
        shutil.copytree(Path(__file__).with_name("pip"), packages / "pip", dirs_exist_ok=True)
        note.mkdir()
        (note / "RECORD").write_text("pip/__init__.py,,\npip-1.dist-info/RECORD,,\n", "utf-8")


if __name__ == "__main__":
    if os.environ.get("STAND_IN_VENV") == "fails":
        sys.exit("Error: no environment today")
    make(Path(sys.argv[1]))
