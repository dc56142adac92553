"""Is all there that the lessons need? One plain line, and what is installed, folded."""

import platform
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version

import torch

from blocklab_course import dependencies
from blocklab_course.checks.verdict import html_table
from blocklab_course.i18n import Text

MISSING = Text(en="missing", zh="未安装")
DONE_WITHOUT = Text(en="Without {name}, {fallback}: {command}", zh="没有 {name}，{fallback}：{command}")
NO_GPU = Text(en="none (only lesson 14 would use one)", zh="没有（只有第 14 课会用到）")
READY = Text(
    en="Everything is here: every lesson runs on this machine.",
    zh="环境就绪：所有课程都能在这台机器上运行。",
)
NOT_READY = Text(
    en="Not everything is here. Install what is missing: pip install {names}",
    zh="还缺少一些软件，请安装：pip install {names}",
)
DETAILS = Text(en="What is installed", zh="都装了些什么")


@dataclass(frozen=True)
class Environment:
    """What was found: the verdict, a line for each network that is done without, and all versions."""

    verdict: str
    without: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join((self.verdict, *self.without))

    __repr__ = __str__

    def html(self) -> str:
        """The same for a notebook, and folded below it what is installed."""
        lines = "".join(f"<p>{escape(line)}</p>" for line in (self.verdict, *self.without))
        rows = html_table((escape(name), escape(found)) for name, found in self.versions)
        return f"{lines}<details><summary>{DETAILS}</summary>{rows}</details>"

    def _repr_mimebundle_(self, **_selection: object) -> dict:
        return {"text/plain": str(self), "text/html": self.html()}


def installed(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_environment() -> Environment:
    """Whether what the lessons need is there; what a stand-in replaces is not needed."""
    names = [package.name for package in (*dependencies.REQUIRED, *dependencies.OPTIONAL)]
    versions = {name: installed(name) for name in names}
    spared = [package for package in dependencies.OPTIONAL if package.fallback and not versions[package.name]]
    missing = [name for name, found in versions.items() if not found and name not in {one.name for one in spared}]
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else str(NO_GPU)
    return Environment(
        verdict=NOT_READY.format(names=" ".join(missing)) if missing else str(READY),
        without=tuple(DONE_WITHOUT.format(name=one.name, fallback=one.fallback, command=one.command) for one in spared),
        versions=(
            ("Python", platform.python_version()),
            *((name, found or str(MISSING)) for name, found in versions.items()),
            ("GPU", gpu),
        ),
    )
