"""Checks of the kernels' arguments, and the rule for the type in which kernels compute.

They catch mistakes that torch would accept silently or report misleadingly: shapes that broadcast, integers, a negative
eps, tensors on two devices. The rest is left to torch. An error names the function and the argument, and says
what was expected and what it got: "layer_norm: expected weight to have shape (6,), got (5,)".
Do not pass a union such as `list | tuple` to `isinstance` here: torch.compile of torch 2.9 does not support it.
"""

import math
import numbers
import reprlib
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

INTEGERS = numbers.Integral, torch.SymInt  # Python's, NumPy's, and the symbolic ones of torch.export
NUMBERS = numbers.Real, torch.SymInt, torch.SymFloat
LARGEST = 2**30  # elements of a mask: 1 GiB
LARGEST_TABLE = 2**27  # elements of a table computed in float64: 1 GiB, and a few times that in between


def upcast(x: Tensor) -> Tensor:
    """x in the type that kernels compute in: float32, or its own type if that is wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


# Tensors


def check_tensor(function: str, name: str, x: Tensor, also_jagged: bool = False) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{function}: expected {name} to be a tensor, got {describe(x)}")
    if (x.layout != torch.strided or x.is_nested) and not (also_jagged and x.layout == torch.jagged):
        kind = "nested" if x.is_nested else str(x.layout).removeprefix("torch.")
        raise TypeError(f"{function}: expected {name} to be a dense tensor, got a {kind} one")


def check_float(
    function: str,
    also_complex: bool = False,
    also_jagged: bool = False,
    or_none: Mapping[str, Tensor | None] | None = None,
    **tensors: Tensor,
) -> None:
    """Check that all are floating point tensors on one device. Those of `or_none` may be None."""
    if or_none:
        tensors |= {name: x for name, x in or_none.items() if x is not None}
    for name, x in tensors.items():
        check_tensor(function, name, x, also_jagged)
        if not x.is_floating_point() and not (also_complex and x.is_complex()):
            raise TypeError(f"{function}: expected {name} to have a floating point dtype, got {x.dtype}")
    if len(tensors) > 1:
        check_one_device(function, **tensors)


def check_one_device(function: str, **tensors: Tensor) -> None:
    first, *others = tensors
    device = tensors[first].device
    for name in others:
        if tensors[name].device != device:
            raise ValueError(f"{function}: expected {name} on {device} like {first}, got it on {tensors[name].device}")


def check_matches_weights(function: str, layer: nn.Module | Tensor, **inputs: Tensor) -> None:
    """Check that inputs have the device and the type of a linear layer's weight, which autocast may convert.

    A layer whose weight is not a floating point tensor, such as a quantized one, is not checked.
    """
    weight = getattr(layer, "weight", layer)
    if isinstance(weight, Tensor) and weight.is_floating_point():
        check_one_device(function, weights=weight, **inputs)
        for name, x in inputs.items():
            if x.dtype != weight.dtype and not autocast_applies(x):
                raise TypeError(f"{function}: expected {name} to be {weight.dtype} like weights, got {x.dtype}")


def autocast_applies(x: Tensor) -> bool:
    """Whether autocast is on where x is stored and converts x: it leaves float64 alone."""
    return x.dtype != torch.float64 and not x.is_meta and torch.is_autocast_enabled(x.device.type)


def autocast(x: Tensor) -> Tensor:
    """x in the type that autocast chooses, if it is on."""
    return x.to(torch.get_autocast_dtype(x.device.type)) if autocast_applies(x) else x


def check_shape(function: str, shape: Sequence[int], **tensors: Tensor | None) -> None:
    """Check for exactly this shape: another one might broadcast. None, an argument left out, passes."""
    for name, x in tensors.items():
        if x is not None and tuple(x.shape) != tuple(shape):
            raise ValueError(f"{function}: expected {name} to have shape {tuple(shape)}, got {tuple(x.shape)}")


def check_writable(function: str, **tensors: Tensor) -> None:
    """Check that all of them can be written to in place.

    torch refuses an expanded tensor only when its turn comes, and an inference tensor after it has written to it.
    """
    for name, x in tensors.items():
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise ValueError(f"{function}: expected {name} to be writable, got an expanded tensor")
        if torch.compiler.is_compiling():
            continue  # torch.compile cannot trace is_inference
        if x.is_inference() and not torch.is_inference_mode_enabled():
            raise ValueError(f"{function}: expected {name} to be writable, got an inference tensor")


# Numbers, flags and names


def check_number(function: str, name: str, value: float) -> float | Tensor:
    """The number as a float; a scalar tensor stays one if its value is not known, in torch.compile and on meta."""
    if type(value) is float:
        return value
    if isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad and not value.is_complex():
        return value if value.is_meta or torch.compiler.is_compiling() else float(value)
    if isinstance(value, NUMBERS):
        return float(value)
    raise TypeError(f"{function}: expected {name} to be a number, got {describe(value)}")


def check_range(function: str, name: str, value: float, low: float, high: float = math.inf) -> float:
    """Check that the number is in [low, high] and not NaN; return it as a float."""
    number = check_number(function, name, value)
    if not low <= number <= high:
        wanted = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        raise ValueError(f"{function}: expected {name} to be {wanted}, got {number}")
    return number


def check_integer(function: str, name: str, value: int, low: float = -math.inf, high: float = math.inf) -> int:
    if not is_integer(value):
        raise TypeError(f"{function}: expected {name} to be an integer, got {describe(value)}")
    value = value if isinstance(value, torch.SymInt) else int(value)
    if not low <= value <= high:
        wanted = f"at least {low}" if value < low else f"between {low} and {high}"
        raise ValueError(f"{function}: expected {name} to be {wanted}, got {short_repr(value)}")
    return value


def is_integer(value: object) -> bool:
    """Whether torch accepts it as an integer: Python's, NumPy's and scalar integer tensors, but not bool."""
    if isinstance(value, Tensor):
        return value.dim() == 0 and not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    return isinstance(value, INTEGERS) and not isinstance(value, bool)


def check_flag(function: str, **flags: bool) -> None:
    """Check for True or False: "no" would count as True and None as False."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{function}: expected {name} to be True or False, got {describe(flag)}")


def check_choice(function: str, name: str, value: str, *choices: str) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{function}: expected {name} to be {' or '.join(map(repr, choices))}, got {short_repr(value)}"
        )


def check_dtype(function: str, dtype: torch.dtype) -> None:
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"{function}: expected dtype to be a floating point type, got {describe(dtype)}")


def check_activation(
    function: str, activation: str | Callable[[Tensor], Tensor], names: Mapping[str, Callable[[Tensor], Tensor]]
) -> Callable[[Tensor], Tensor]:
    """The activation of that name; a function is returned as it is."""
    if isinstance(activation, str) and activation in names:
        return names[activation]
    if callable(activation) and not isinstance(activation, type):  # not nn.SiLU, but nn.SiLU()
        return activation
    error, got = (ValueError, short_repr) if isinstance(activation, str) else (TypeError, describe)
    wanted = f"{', '.join(names)} or a function"
    raise error(f"{function}: expected activation to be one of {wanted}, got {got(activation)}")


def activate(function: str, activation: Callable[[Tensor], Tensor], **inputs: Tensor) -> Tensor:
    """Apply the activation to one named tensor, and check that it keeps shape and type."""
    [(name, x)] = inputs.items()
    y, name = activation(x), f"activation({name})"
    check_tensor(function, name, y, also_jagged=True)
    check_shape(function, x.shape, **{name: y})
    if y.dtype != x.dtype and not (y.is_floating_point() and autocast_applies(x)):
        raise TypeError(f"{function}: expected {name} to have dtype {x.dtype}, got {y.dtype}")
    return y


def check_axes(function: str, x: Tensor, axes: int | Sequence[int]) -> tuple[int, ...]:
    """The axes as a tuple. No axes are an error: torch would reduce over all of them."""
    each = axes if isinstance(axes, (list, tuple)) else [axes]
    if not all(map(is_integer, each)):
        raise TypeError(f"{function}: expected axes to be an integer or a tuple of integers, got {short_repr(axes)}")
    each, rank = tuple(map(int, each)), max(x.dim(), 1)
    if not each or not all(-rank <= axis < rank for axis in each):
        raise ValueError(
            f"{function}: expected axes between {-rank} and {rank - 1}, at least one, got {short_repr(axes)}"
        )
    if len({axis % rank for axis in each}) < len(each):
        raise ValueError(f"{function}: expected different axes, got {short_repr(axes)} for x of shape {tuple(x.shape)}")
    return each


def check_normalized_shape(function: str, x: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    """Check that the shape of x ends with normalized_shape; return it as a tuple."""
    if not isinstance(normalized_shape, (list, tuple)) or not all(map(is_integer, normalized_shape)):
        got = short_repr(normalized_shape)
        raise TypeError(f"{function}: expected normalized_shape to be a tuple of integers, got {got}")
    if not normalized_shape:
        raise ValueError(f"{function}: expected normalized_shape to have at least one axis, got {normalized_shape}")
    shape = tuple(size if isinstance(size, torch.SymInt) else int(size) for size in normalized_shape)
    if tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(f"{function}: expected x to end with shape {shape}, got {tuple(x.shape)}")
    return shape


def check_sizes(function: str, name: str, sizes: int | Sequence[int]) -> tuple[int, ...]:
    """One size or several as a tuple."""
    if hasattr(sizes, "tolist"):  # a tensor or a NumPy array
        sizes = sizes.tolist()
    each = tuple(sizes) if isinstance(sizes, (list, tuple, range)) else (sizes,)
    if not each:
        raise ValueError(f"{function}: expected {name} to have at least one axis, got {sizes}")
    return tuple(check_integer(function, name, size, 0) for size in each)


def check_numel(function: str, names: str, *sizes: int, most: int = LARGEST) -> None:
    """Check the number of elements: far too many, and the system may kill the process."""
    if math.prod(sizes) > most:
        got = " x ".join(map(short_repr, sizes))
        raise ValueError(f"{function}: expected {names} to have at most {most} elements, got {got}")


def describe(value: object) -> str:
    if value is None or isinstance(value, (Tensor, type, torch.dtype)):
        return short_repr(value)
    return f"{type(value).__name__} {short_repr(value)}"


def short_repr(value: object) -> str:
    if value is None:
        return "NoneType"
    if isinstance(value, Tensor):
        grad = " that requires grad" if value.requires_grad else ""
        return f"Tensor of shape {tuple(value.shape)} and {value.dtype}{grad}"
    return f"the class {value.__name__}" if isinstance(value, type) else reprlib.repr(value)
