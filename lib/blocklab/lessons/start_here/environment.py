"""Is all there that the lessons need? One line per part, and one plain line at the end."""

import platform
from importlib.metadata import PackageNotFoundError, version

import torch

from blocklab import packages
from blocklab.language import Text

NEEDED = ("torch", "matplotlib", "ipywidgets", "anywidget", "numpy", "pillow")

MISSING = Text(en="missing", zh="未安装")
DONE_WITHOUT = Text(en="missing; {stand_in}: {command}", zh="未安装；{stand_in}：{command}")
NO_GPU = Text(en="none (only lesson 12 would use one)", zh="没有（只有第 12 课会用到）")
READY = Text(
    en="Everything is here: every lesson runs on this machine.",
    zh="环境就绪：所有课程都能在这台机器上运行。",
)
NOT_READY = Text(
    en="Not everything is here. Install what is missing: pip install {names}",
    zh="还缺少一些软件，请安装：pip install {names}",
)


def installed(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_environment() -> None:
    """Print the versions of what the lessons need, the GPU or its absence, and whether anything is missing."""
    wanted = [*NEEDED, *(package.name for package in packages.OPTIONAL if not package.stand_in)]
    versions = {name: installed(name) for name in wanted}
    rows = {"Python": platform.python_version(), **{name: v or str(MISSING) for name, v in versions.items()}}
    for package in packages.OPTIONAL:
        if package.stand_in:
            without = DONE_WITHOUT.format(stand_in=package.stand_in, command=package.command)
            rows[package.name] = installed(package.name) or without
    rows["GPU"] = torch.cuda.get_device_name() if torch.cuda.is_available() else str(NO_GPU)
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        print(f"{name:{width}}{value}")
    missing = [name for name, v in versions.items() if v is None]
    print(NOT_READY.format(names=" ".join(missing)) if missing else READY)
