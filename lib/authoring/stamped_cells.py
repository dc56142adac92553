"""The cells that every notebook has and no source holds: navigation, and the first code cell."""

import json
from collections.abc import Collection

from blocklab import __version__
from blocklab_course import dependencies

from .address import Address
from .project import Outline

SETUP, TOP, BOTTOM = "setup", "navigation", "navigation-end"  # their cell ids; lessons' own ids end in a number
IDS = {SETUP, TOP, BOTTOM}
_NAME = {"en": "English", "zh": "简体中文"}
_NEXT = {"en": "Next: ", "zh": "下一课："}
_NOT_HERE = {
    "en": "The package blocklab is not here. Run %pip install git+{url} in a new cell, then run this cell again.",
    "zh": "没有找到软件包 blocklab。请在新单元格里运行 %pip install git+{url}，再运行这个单元格。",
}
_NO_ADDRESS = {
    "en": "The package blocklab is not here, and this copy has no address yet to install it from: its owner runs "
    "`make address URL=…` once. In the folder of the whole project the lesson runs as it is.",
    "zh": "没有找到软件包 blocklab；这份副本还没有地址，也无从安装：请分享它的人运行一次 `make address URL=…`。"
    "放在完整的项目文件夹里，这一课可以直接运行。",
}

# What living panels want, each with its module. Today's Colab has both (anywidget 0.9.21), and nothing is installed; an
# earlier runtime, which can be chosen there, may lack them.
PANELS = {"anywidget": "anywidget", "psygnal": "psygnal"}


def install_code(address: Address, language: str, needs: Collection[str] = ()) -> str:
    """The first code cell: it finds the package, or says in one line that it is missing.

    The one of the whole project around the lesson goes first: it fits the lesson, and what is installed may be of
    another version. Else it is what is installed. On Colab it is installed without touching torch, numpy or ipywidgets:
    the wheel of the release that the lesson was built with, where the address is on GitHub, else and without that wheel
    from the repository as it stands. needs: the optional packages in the lesson's manifest; each is installed
    by itself, so that one which cannot be had takes nothing else along.
    """
    said = (_NOT_HERE if address.known else _NO_ADDRESS)[language].format(url=address.url)
    return f"""import sys
from importlib.util import find_spec
from pathlib import Path


class NotHere(ImportError):
    def _render_traceback_(self):
        return [str(self)]


def lacks(module):
    spec = find_spec(module)
    return spec is None or spec.origin is None


if Path("../../lib/blocklab/__init__.py").is_file():
    sys.path.insert(0, str(Path("../../lib").resolve()))
{_on_colab(address, needs)}if lacks("blocklab"):
    raise NotHere("{said}")
from blocklab_course import begin

begin("{language}")"""


def _on_colab(address: Address, needs: Collection[str]) -> str:
    """The lines that install on Colab, none without an address."""
    if not address.known:
        return ""
    needed = [package for package in dependencies.OPTIONAL if package.name in needs and not package.on_colab]
    beside = PANELS | {package.name: package.module for package in needed}
    sources = "".join(
        f"""    if lacks("blocklab"):
        %pip install -q --no-deps "{source}"
"""
        for source in address.installs(__version__)
    )
    return f"""if "google.colab" in sys.modules:
{sources}    for name, module in {json.dumps(beside)}.items():
        if lacks(module):
            %pip install -q --no-deps {{name}}
"""


def navigation_line(address: Address, outlines: list[Outline], here: Outline, language: str) -> str:
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


def next_lesson_line(outlines: list[Outline], here: Outline, language: str) -> str | None:
    """The last line: the next lesson, if there is one."""
    _, after = _neighbours(outlines, here)
    return after and f"{_NEXT[language]}[{after.titles[language]}]({after.stem}.ipynb)"


def _neighbours(outlines: list[Outline], here: Outline) -> tuple[Outline | None, Outline | None]:
    place = outlines.index(here)
    before = outlines[place - 1] if place else None
    return before, (outlines[place + 1] if place + 1 < len(outlines) else None)
