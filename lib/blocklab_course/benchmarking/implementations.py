"""The operations of lesson 14 and their implementations: torch, eager, compiled, fused and Liger."""

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

# Eager code rounds bfloat16 at every step, which gave 1.6 to 2.2 times the error of one rounding on a CPU.
ERROR_RATIO_LIMITS = {"eager": 3.0}


@dataclass(frozen=True)
class Operation:
    """One operation: input shapes for (rows, width), formula, and implementations with the reference first."""

    name: str
    shapes: Callable[[int, int], Sequence[Sequence[int]]]
    exact: Function
    implementations: Mapping[str, Function]

    def inputs(self, rows: int, width: int, dtype: torch.dtype, device: torch.device, direction: str) -> list[Tensor]:
        """New random inputs of one dtype, because torch's fused kernels don't take a weight of another dtype.

        For "backward", a random gradient of the result, (rows, width), comes last.
        """
        shapes = [*self.shapes(rows, width), *([(rows, width)] if direction == "backward" else [])]
        return [torch.randn(shape, dtype=dtype, device=device) for shape in shapes]

    def for_direction(self, direction: str) -> dict[str, Function]:
        """The implementations for one direction. Liger's backward pass overwrites its inputs, so it gets clones."""
        overwrites = {"liger"} if direction == "backward" else set()
        return {name: clone_inputs(f) if name in overwrites else f for name, f in self.implementations.items()}


def error_ratio_limit(implementation: str) -> float:
    """The largest accepted ratio of an implementation's error to the reference's."""
    return ERROR_RATIO_LIMITS.get(implementation, ERROR_RATIO_LIMIT)


def operations(device: torch.device, compiled: bool = True) -> list[Operation]:
    """layer_norm, rms_norm and swiglu with the implementations that run on this device."""
    torchs, plain = _norms(F), _norms(normalization) | {"swiglu": feed_forward.swiglu}
    first = {
        "layer_norm": {"torch": torchs["layer_norm"], "eager": eager.layer_norm},
        "rms_norm": {"torch": torchs["rms_norm"], "eager": eager.rms_norm},
        "swiglu": {"eager": eager.swiglu},  # torch has no swiglu
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
        implementations = dict(first[name])
        if device.type == "cpu":
            implementations["plain"] = function
        if compiled:
            implementations["compiled"] = torch.compile(function, fullgraph=True, dynamic=False)
        implementations |= {key: table[name] for key, table in {"fused": ours, "liger": ligers}.items() if table}
        found.append(Operation(name, shapes[name], function, implementations))
    return found


def _norms(library: ModuleType) -> dict[str, Function]:
    """The norms of a library that has torch's names and argument order."""
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
    return function(x, weight, RMS_NORM_EPS, in_place=False)  # in place, dx would overwrite dy
