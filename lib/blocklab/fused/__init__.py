"""Three functions as fused GPU kernels: one read and one write of memory instead of many.

`layer_norm`, `rms_norm` and `swiglu` compute what their namesakes in `normalization` and `feed_forward` compute, with
the same arguments, forward and backward. Without Triton or a CUDA device they raise; `best` falls back instead.
"""

import functools
import warnings
from collections.abc import Callable

import torch

from blocklab import feed_forward, normalization
from blocklab._validation import short_repr

try:
    from blocklab.fused.operators import layer_norm, rms_norm, swiglu
except ModuleNotFoundError as error:  # Triton has wheels for Linux only, and Colab without a GPU lacks it
    if error.name != "triton":
        raise

    def _without_triton(function: str) -> Callable:
        def refuse(*_, **__):
            raise ImportError(f"fused.{function} requires Triton: pip install triton")

        return refuse

    layer_norm, rms_norm, swiglu = map(_without_triton, ["layer_norm", "rms_norm", "swiglu"])
    TRITON = False
else:
    TRITON = True

__all__ = ["available", "best", "layer_norm", "rms_norm", "swiglu"]

FUSED = {"layer_norm": layer_norm, "rms_norm": rms_norm, "swiglu": swiglu}
PLAIN = {"layer_norm": normalization.layer_norm, "rms_norm": normalization.rms_norm, "swiglu": feed_forward.swiglu}


def available() -> bool:
    """Whether the fused functions can run: with Triton and a CUDA device.

    >>> isinstance(available(), bool)
    True
    """
    return TRITON and torch.cuda.is_available()


def best(name: str) -> Callable:
    """The fused function of that name if it can run, else the plain one, which computes the same.

    name: layer_norm, rms_norm or swiglu. Warns once per name if it falls back. Raises ValueError for another name.

    >>> best("rms_norm").__name__
    'rms_norm'
    """
    if not isinstance(name, str) or name not in FUSED:
        raise ValueError(f"best: expected name to be one of {', '.join(FUSED)}, got {short_repr(name)}")
    if available():
        return FUSED[name]
    _warn_of_fallback(name)
    return PLAIN[name]


@functools.cache  # so it warns once
def _warn_of_fallback(name: str) -> None:
    lacking = "a CUDA device" if TRITON else "Triton"
    warnings.warn(f"fused.{name} requires {lacking}: falling back to the plain {name}", stacklevel=3)
