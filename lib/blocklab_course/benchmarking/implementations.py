"""The operations of lesson 14, each in several hands: torch's, step by step, compiled, fused, and Liger's."""

import functools
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab import feed_forward, fused, normalization
from blocklab_course.benchmarking import eager
from blocklab_course.benchmarking.accuracy import ERROR_RATIO_LIMIT
from blocklab_course.benchmarking.calls import Function, clone_inputs

LAYER_NORM_EPS, RMS_NORM_EPS = 1e-5, 1e-6

# Step by step, bfloat16 is rounded at every step: 1.6 to 2.2 times the error of one rounding, counted on a CPU.
ERROR_RATIO_LIMITS = {"eager": 3.0}


@dataclass(frozen=True)
class Operation:
    """One operation: the shapes of its inputs for (rows, width), its formula, and its arms, a standard first."""

    name: str
    shapes: Callable[[int, int], Sequence[Sequence[int]]]
    exact: Function
    implementations: Mapping[str, Function]

    def inputs(self, rows: int, width: int, dtype: torch.dtype, device: torch.device, direction: str) -> list[Tensor]:
        """New random inputs, all of one type: with another type for the weight torch leaves its fused kernel.

        backward: a random gradient of the result, (rows, width), comes last.
        """
        shapes = [*self.shapes(rows, width), *([(rows, width)] if direction == "backward" else [])]
        return [torch.randn(shape, dtype=dtype, device=device) for shape in shapes]

    def for_direction(self, direction: str) -> dict[str, Function]:
        """The arms for one direction. Liger's swiglu writes its gradients over what it was given: it gets copies."""
        overwrites = {"liger"} if direction == "backward" else set()
        return {name: clone_inputs(arm) if name in overwrites else arm for name, arm in self.implementations.items()}


def error_ratio_limit(arm: str) -> float:
    """How many times the error of the first arm an arm may have."""
    return ERROR_RATIO_LIMITS.get(arm, ERROR_RATIO_LIMIT)


def operations(device: torch.device, compiled: bool = True) -> list[Operation]:
    """layer_norm, rms_norm and swiglu with the arms that can run on this device."""
    torchs, plain = _norms(F), _norms(normalization) | {"swiglu": feed_forward.swiglu}
    first = {
        "layer_norm": {"torch": torchs["layer_norm"], "eager": eager.layer_norm},
        "rms_norm": {"torch": torchs["rms_norm"], "eager": eager.rms_norm},
        "swiglu": {"eager": eager.swiglu},  # torch has none of its own
    }
    shapes = {
        "layer_norm": lambda rows, width: [(rows, width), (width,), (width,)],
        "rms_norm": lambda rows, width: [(rows, width), (width,)],
        "swiglu": lambda rows, width: [(rows, width), (rows, width)],
    }
    ours = _norms(fused) | {"swiglu": fused.swiglu} if device.type == "cuda" and fused.available() else {}
    ligers = _liger() if device.type == "cuda" and importlib.util.find_spec("liger_kernel") else {}
    found = []
    for name, function in plain.items():
        arms = dict(first[name])
        if device.type == "cpu":
            arms["plain"] = function
        if compiled:
            arms["compiled"] = torch.compile(function, fullgraph=True, dynamic=False)
        arms |= {arm: table[name] for arm, table in {"fused": ours, "liger": ligers}.items() if table}
        found.append(Operation(name, shapes[name], function, arms))
    return found


def _norms(library: ModuleType) -> dict[str, Function]:
    """The norms of a library with torch's names and argument order."""
    return {
        "layer_norm": lambda x, weight, bias: library.layer_norm(x, weight.shape, weight, bias, LAYER_NORM_EPS),
        "rms_norm": lambda x, weight: library.rms_norm(x, weight.shape, weight, RMS_NORM_EPS),
    }


def _liger() -> dict[str, Function]:
    from liger_kernel.transformers import functional as liger

    return {
        "layer_norm": lambda x, weight, bias: liger.liger_layer_norm(x, weight, bias, LAYER_NORM_EPS),
        "rms_norm": functools.partial(_liger_rms_norm, liger.liger_rms_norm),
        "swiglu": liger.liger_swiglu,
    }


def _liger_rms_norm(function: Function, x: Tensor, weight: Tensor) -> Tensor:
    return function(x, weight, RMS_NORM_EPS, in_place=False)  # in place, dx would be written over dy
