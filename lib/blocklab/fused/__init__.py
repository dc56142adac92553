"""The functions of three lessons once more, as GPU kernels: one read and one write instead of many.

`layer_norm`, `rms_norm` and `swiglu` take what their namesakes in `normalization` and `feed_forward` take and give what
those give, forward and backward. They are strict: without Triton or a CUDA device they raise. `best` is not.
"""

import functools
import warnings
from collections.abc import Callable

import torch

from blocklab import feed_forward, normalization
from blocklab.arguments import shown

try:
    from blocklab.fused.operators import layer_norm, rms_norm, swiglu
except ModuleNotFoundError as error:  # Triton has wheels for Linux alone, and Colab without a GPU does not bring it
    if error.name != "triton":
        raise

    def _without_triton(function: str) -> Callable:
        def refuse(*_, **__):
            raise ImportError(f"fused.{function} wants Triton, got no such package: pip install triton")

        return refuse

    layer_norm, rms_norm, swiglu = map(_without_triton, ["layer_norm", "rms_norm", "swiglu"])
    TRITON = False
else:
    TRITON = True

__all__ = ["available", "best", "layer_norm", "rms_norm", "swiglu"]

FUSED = {"layer_norm": layer_norm, "rms_norm": rms_norm, "swiglu": swiglu}
PLAIN = {"layer_norm": normalization.layer_norm, "rms_norm": normalization.rms_norm, "swiglu": feed_forward.swiglu}


def available() -> bool:
    """Whether Triton and a CUDA device are there, so that the fused functions can run."""
    return TRITON and torch.cuda.is_available()


def best(name: str) -> Callable:
    """The fused function of that name where it can run, else the plain one, which gives the same numbers.

    name: layer_norm, rms_norm or swiglu. Falling back is said in one warning per name.

    Raises ValueError for another name.
    """
    if not isinstance(name, str) or name not in FUSED:
        raise ValueError(f"best wants name to be one of {', '.join(FUSED)}, got {shown(name)}")
    if available():
        return FUSED[name]
    _say_that_the_plain_one_stands_in(name)
    return PLAIN[name]


@functools.cache  # what makes the warning come once
def _say_that_the_plain_one_stands_in(name: str) -> None:
    lacking = "a CUDA device" if TRITON else "Triton"
    warnings.warn(f"fused.{name} lacks {lacking}: the plain {name} takes its place", stacklevel=3)
