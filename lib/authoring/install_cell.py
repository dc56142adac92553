"""The first code cell of every notebook, which finds `blocklab` or installs it on Colab."""

import json
from collections.abc import Collection

from blocklab import __version__
from blocklab_course import dependencies

from .address import Address

CELL_ID = "setup"
_NOT_HERE = {
    "en": "The package blocklab is not here. Run %pip install git+{url} in a new cell, then run this cell again.",
    "zh": "没有找到软件包 blocklab。请在新单元格里运行 %pip install git+{url}，再运行这个单元格。",
}
_NO_ADDRESS = {
    "en": "The package blocklab is not here, and this notebook does not say where to download it, so it cannot be "
    "installed automatically. Ask the person who shared the notebook to run `make address URL=…` and to send it to you "
    "again. Or download the folder of the whole project and open the lesson there.",
    "zh": "没有找到软件包 blocklab。这份笔记本里没有写明项目的下载地址，因此无法自动安装。"
    "请让分享笔记本的人先运行 `make address URL=…`，再重新发给你；或者下载整个项目文件夹，在里面打开这一课。",
}

# The packages that live panels need, with their modules. Colab has both (anywidget 0.9.21) and installs nothing; an
# older runtime, which a user can choose there, may lack them.
PANELS = {"anywidget": "anywidget", "psygnal": "psygnal"}


def install_code(address: Address, language: str, needs: Collection[str] = ()) -> str:
    """The code of the cell.

    It prefers the repository around the notebook to an installed package, which may be another version. On Colab it
    installs the release wheel that the notebook was built with, or failing that the main branch, without touching
    torch, numpy or ipywidgets. `needs` are the optional packages in the lesson's manifest; each is installed by itself,
    so that one failure does not stop the others.
    """
    message = (_NOT_HERE if address.known else _NO_ADDRESS)[language].format(url=address.url)
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
{_install_on_colab(address, needs)}if lacks("blocklab"):
    raise NotHere("{message}")
from blocklab_course import begin

begin("{language}")"""


def _install_on_colab(address: Address, needs: Collection[str]) -> str:
    """The lines that install packages on Colab; empty without an address."""
    if not address.known:
        return ""
    missing = [package for package in dependencies.OPTIONAL if package.name in needs and not package.on_colab]
    modules = PANELS | {package.name: package.module for package in missing}
    install_blocklab = "".join(
        f"""    if lacks("blocklab"):
        %pip install -q --no-deps "{source}"
"""
        for source in address.pip_sources(__version__)
    )
    return f"""if "google.colab" in sys.modules:
{install_blocklab}    for name, module in {json.dumps(modules)}.items():
        if lacks(module):
            %pip install -q --no-deps {{name}}
"""
