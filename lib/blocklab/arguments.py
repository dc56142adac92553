"""What every kernel asks of its arguments, and the one rule for the type it computes in.

An error names the function, what it wanted and what came. What would broadcast silently is refused here. What a number,
an integer and a flag are, torch's own functions decide: nothing else is taken for one. No `isinstance` here takes a
union such as `list | tuple`: torch.compile of torch 2.9 does not know it.
"""

import contextlib
import itertools
import math
import numbers
import reprlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import torch
from torch import Tensor, nn

FLOATS = torch.float16, torch.bfloat16, torch.float32, torch.float64
INTEGERS = numbers.Integral, torch.SymInt  # Python's, NumPy's, and what torch.export keeps open
NUMBERS = numbers.Real, torch.SymInt, torch.SymFloat
LARGEST = 2**30  # numbers in a matrix, 4 GiB of float32: those of the largest models have 2**29.7
LARGEST_TABLE = 2**27  # numbers in a table that float64 computes: 1 GiB, and a few times that on the way
EXACT = 2**53  # up to here float64 holds every integer
EMPTY_HANDED = "CausalBias", "UninitializedParameter", "UninitializedBuffer"  # the first is slow to import: by name


def widen(x: Tensor) -> Tensor:
    """x in the type that kernels compute in: float32, or its own type where that is wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


# Tensors


def want_tensor(function: str, name: str, x: Tensor, also_jagged: bool = False) -> None:
    """Refuse, with a TypeError, what is not a tensor whose numbers all have a place of their own in memory."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{function} wants {name} to be a tensor, got {came(x)}")
    if type(x).__name__ in EMPTY_HANDED:
        raise TypeError(f"{function} wants {name} to be a tensor that holds its numbers, got {type(x).__name__}")
    dense = x.layout == torch.strided and not x.is_nested and not x.is_quantized
    if not dense and not (also_jagged and x.layout == torch.jagged):
        kind = "quantized" if x.is_quantized else "nested" if x.is_nested else str(x.layout).removeprefix("torch.")
        raise TypeError(f"{function} wants {name} to be a dense tensor, got a {kind} one")


def want_float(
    function: str,
    also_complex: bool = False,
    also_jagged: bool = False,
    or_none: Mapping[str, Tensor | None] | None = None,
    **tensors: Tensor,
) -> None:
    """Refuse what is not a tensor of floating point numbers (TypeError) or not on the first one's device (ValueError).

    `or_none` are those that may be left out.
    """
    if or_none:
        tensors |= {name: x for name, x in or_none.items() if x is not None}
    for name, x in tensors.items():
        want_tensor(function, name, x, also_jagged)
        if x.dtype not in FLOATS and not (also_complex and x.is_complex()):
            wanted = "a floating point type" + (" of 16 bits or more" if x.is_floating_point() else "")
            raise TypeError(f"{function} wants {name} of {wanted}, got {x.dtype}")
    if len(tensors) > 1:
        want_one_device(function, **tensors)


def want_one_device(function: str, **tensors: Tensor) -> None:
    """Refuse, with a ValueError, a tensor that is not on the first one's device: torch may read what is not there."""
    first, *others = tensors
    device = tensors[first].device
    for name in others:
        if tensors[name].device != device:
            raise ValueError(f"{function} wants {name} on {device}, as {first}, got it on {tensors[name].device}")


def want_like_weights(function: str, *layers: nn.Module | Tensor, **inputs: Tensor) -> None:
    """Refuse inputs of linear layers that lie elsewhere (ValueError) or have another type (TypeError) than a weight.

    Where autocast is on, it chooses the type; a layer put in one's place (a quantized one) has rules of its own.
    """
    weights = [getattr(layer, "weight", layer) for layer in layers]
    weights = [weight for weight in weights if isinstance(weight, Tensor) and weight.dtype in FLOATS]
    for weight, (name, x) in itertools.product(weights, inputs.items()):
        if x.device != weight.device:
            raise ValueError(f"{function} wants {name} on {weight.device}, as its weights, got it on {x.device}")
        if x.dtype != weight.dtype and not casts(x):
            raise TypeError(f"{function} wants {name} of {weight.dtype}, the type of its weights, got {x.dtype}")


def casts(x: Tensor) -> bool:
    """Whether autocast is on where x lies, and takes x: it leaves float64 alone."""
    return x.dtype != torch.float64 and not x.is_meta and torch.is_autocast_enabled(x.device.type)


def autocast(x: Tensor) -> Tensor:
    """x in the type that autocast chooses, where it is on."""
    return x.to(torch.get_autocast_dtype(x.device.type)) if casts(x) else x


def want_shape(function: str, shape: Sequence[int], **tensors: Tensor | None) -> None:
    """Refuse, with a ValueError, a tensor of another shape, which would broadcast. None was left out and passes."""
    for name, x in tensors.items():
        if x is not None and tuple(x.shape) != tuple(shape):
            raise ValueError(f"{function} wants {name} of shape {tuple(shape)}, got {tuple(x.shape)}")


def want_writable(function: str, **tensors: Tensor | None) -> None:
    """Refuse, with a ValueError, a tensor that cannot be written to number by number."""
    if torch.compiler.is_compiling():
        return  # it does not know these questions
    for name, x in ((name, x) for name, x in tensors.items() if x is not None):
        if x.is_inference() and not torch.is_inference_mode_enabled():
            raise ValueError(f"{function} wants {name} that it may write to, got a tensor made in inference mode")
        reach = 0  # of the axes with smaller steps: the next step has to be longer
        for step, size in sorted(zip(x.stride(), x.shape, strict=True)):
            if size > 1 and step <= reach:
                raise ValueError(
                    f"{function} wants a place in memory for each number of {name}, got an expanded tensor"
                )
            reach += step * (size - 1)


# Numbers, flags and words


def want_number(function: str, name: str, value: float, beside: Tensor | None = None) -> float:
    """The number as a float. Refuses, with a TypeError, what torch does not take for a number: it takes a tensor ().

    A tensor () whose number cannot be looked at, while torch.compile runs or with meta tensors beside it, stays one.
    """
    if type(value) is float:
        return value
    if isinstance(value, Tensor):
        single = value.dim() == 0 and not value.is_complex() and not value.requires_grad
        if single and (torch.compiler.is_compiling() or (value.is_meta and beside is not None and beside.is_meta)):
            return value
        if single and not value.is_meta:
            with contextlib.suppress(RuntimeError):  # under vmap it is several numbers
                return float(value.item())
    elif isinstance(value, NUMBERS) and not isinstance(value, Fraction):
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{function} wants {name} to be in the range of a float, got {shown(value)}") from None
    raise TypeError(f"{function} wants {name} to be a number, got {came(value)}")


def want_range(function: str, name: str, value: float, low: float, high: float = math.inf) -> float:
    """The number as a float. Refuses, with a ValueError, one outside [low, high], NaN included."""
    number = want_number(function, name, value)
    if not low <= number <= high:
        wanted = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        got = number if isinstance(value, Tensor) else shown(value)
        raise ValueError(f"{function} wants {name} to be {wanted}, got {got}")
    return number


def want_integer(function: str, name: str, value: int, low: float = -math.inf, high: float = math.inf) -> int:
    """The integer. Refuses what is not one (TypeError) or is outside [low, high] (ValueError)."""
    if not is_integer(value):
        raise TypeError(f"{function} wants {name} to be an integer, got {came(value)}")
    value = value if isinstance(value, torch.SymInt) else int(value)
    if value < low:
        raise ValueError(f"{function} wants {name} to be at least {low}, got {shown(value)}")
    if value > high:
        raise ValueError(f"{function} wants {name} to be between {low} and {high}, got {shown(value)}")
    return value


def is_integer(value: object) -> bool:
    """Whether torch takes it for an integer: Python's and NumPy's, and a tensor () of them, but no bool."""
    if type(value) is int:
        return True
    if isinstance(value, Tensor):
        other = value.is_floating_point() or value.is_complex() or value.dtype == torch.bool
        return value.dim() == 0 and not other and not value.is_meta
    return isinstance(value, INTEGERS) and not isinstance(value, bool)


def want_flag(function: str, **flags: bool) -> None:
    """Refuse, with a TypeError, all but True and False: "no" is true and None is false, and neither may be meant."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{function} wants {name} to be True or False, got {came(flag)}")


def want_choice(function: str, name: str, value: str, *choices: str) -> None:
    """Refuse, with a ValueError, a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{function} wants {name} to be {' or '.join(map(repr, choices))}, got {shown(value)}")


def want_activation(
    function: str, activation: str | Callable[[Tensor], Tensor], names: Mapping[str, Callable[[Tensor], Tensor]]
) -> Callable[[Tensor], Tensor]:
    """The activation of that name; a function is returned as it is.

    Refuses an unknown name (ValueError), and what is neither a name nor a function, such as a class (TypeError).
    """
    if isinstance(activation, str) and activation in names:
        return names[activation]
    wanted = f"{function} wants activation to be one of {', '.join(names)} or a function"
    if isinstance(activation, str):
        raise ValueError(f"{wanted}, got {shown(activation)}")
    if isinstance(activation, type):
        raise TypeError(f"{wanted}, got {came(activation)}: call it, {activation.__name__}()")
    if not callable(activation):
        raise TypeError(f"{wanted}, got {came(activation)}")
    return activation


def activate(function: str, activation: Callable[[Tensor], Tensor], **inputs: Tensor) -> Tensor:
    """The activation of one named tensor. Refuses a result of another type (TypeError), shape or place (ValueError)."""
    [(name, x)] = inputs.items()
    try:
        y, name = activation(x), f"activation({name})"
    except Exception as error:
        if not isinstance(error, TypeError) or error.__traceback__.tb_next is not None:  # from within
            error.add_note(f"This comes from the activation that {function} was given, for {name} of {tuple(x.shape)}.")
            raise
        raise TypeError(
            f"{function} wants activation to be a function of one tensor, got one that says: {error}"
        ) from None
    want_tensor(function, name, y, also_jagged=True)
    want_shape(function, x.shape, **{name: y})
    if y.device != x.device:
        raise ValueError(f"{function} wants {name} on {x.device}, got it on {y.device}")
    if y.dtype != x.dtype and not (y.is_floating_point() and casts(x)):
        raise TypeError(f"{function} wants {name} of {x.dtype}, got {y.dtype}")
    return y


# Axes and sizes


def want_axes(function: str, x: Tensor, axes: int | Sequence[int]) -> tuple[int, ...]:
    """The axes as a tuple. torch itself would take an empty one for all axes.

    Refuses what is not an integer (TypeError), and no axis, one out of range or one named twice (ValueError).
    """
    each = axes if isinstance(axes, (list, tuple)) else [axes]
    if not all(map(is_integer, each)):
        raise TypeError(f"{function} wants axes to be an integer or a tuple of integers, got {shown(axes)}")
    each, rank = tuple(map(int, each)), max(x.dim(), 1)
    if not each or not all(-rank <= axis < rank for axis in each):
        raise ValueError(f"{function} wants axes between {-rank} and {rank - 1}, at least one, got {shown(axes)}")
    if len({axis % rank for axis in each}) < len(each):
        raise ValueError(f"{function} wants axes that differ, got {shown(axes)} for x of {tuple(x.shape)}")
    return each


def want_ending(function: str, x: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    """normalized_shape as a tuple. Refuses what is no tuple of integers (TypeError) or not how x ends (ValueError)."""
    if not isinstance(normalized_shape, (list, tuple)) or not all(map(is_integer, normalized_shape)):
        raise TypeError(f"{function} wants normalized_shape to be a tuple of integers, got {shown(normalized_shape)}")
    if not normalized_shape:
        raise ValueError(f"{function} wants normalized_shape to name at least one axis, got {normalized_shape!r}")
    shape = tuple(size if isinstance(size, torch.SymInt) else int(size) for size in normalized_shape)
    if tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(f"{function} wants x to end in normalized_shape {shown(shape)}, got x of {tuple(x.shape)}")
    return shape


def want_sizes(function: str, name: str, sizes: int | Sequence[int], low: float = 0) -> tuple[int, ...]:
    """One size or several as a tuple. Refuses what is no integer (TypeError), none, and one below low (ValueError)."""
    array = hasattr(sizes, "tolist") and not isinstance(sizes, type) and not getattr(sizes, "is_meta", False)
    each = sizes.tolist() if array else sizes
    each = tuple(each) if isinstance(each, (list, tuple)) else (each,)
    if not all(map(is_integer, each)):
        raise TypeError(f"{function} wants {name} to be an integer or a tuple of integers, got {shown(sizes)}")
    if not each:
        raise ValueError(f"{function} wants {name} to name at least one axis, got {shown(sizes)}")
    if not all(size >= low for size in each):
        raise ValueError(f"{function} wants {name} to be at least {low}, got {shown(sizes)}")
    return tuple(size if isinstance(size, torch.SymInt) else int(size) for size in each)


def want_room(function: str, names: str, *sizes: int, most: int = LARGEST) -> None:
    """Refuse, with a ValueError, sizes that ask for so many numbers that a machine may end the program."""
    if math.prod(sizes) > most:
        got = " x ".join(map(shown, sizes))
        raise ValueError(f"{function} wants {names} to make at most {most} numbers, got {got}")


# Where a Module's parameters lie, and their type


def want_dtype(function: str, dtype: torch.dtype, also_complex: bool = False) -> None:
    """Refuse, with a TypeError, what is not a floating point type that kernels compute in or round to."""
    if not isinstance(dtype, torch.dtype) or not (dtype in FLOATS or (also_complex and dtype.is_complex)):
        raise TypeError(f"{function} wants dtype to be a floating point type, got {came(dtype)}")


def want_factory(
    function: str, device: torch.device | str | None, dtype: torch.dtype | None, also_complex: bool = False
) -> None:
    """Refuse a device that is not here (ValueError), what is no device and no floating point type (TypeError)."""
    if dtype is not None:
        want_dtype(function, dtype, also_complex)
    if device is None:
        return
    if isinstance(device, bool) or not isinstance(device, (torch.device, str, int)):
        raise TypeError(f"{function} wants device to be a device or its name, got {came(device)}")
    try:
        torch.empty(0, device=device)
    except Exception as error:  # each device has a kind of its own, down to AssertionError
        [why, *_] = str(error).splitlines() or [""]
        raise ValueError(
            f"{function} wants device to be one of this machine, got {shown(device)}: {why[:80]}"
        ) from None


# What came, in one line


def came(value: object) -> str:
    """What a value is, by its type."""
    if value is None or isinstance(value, (Tensor, type, torch.dtype)):
        return shown(value)
    return f"{type(value).__name__} {shown(value)}"


def shown(value: object) -> str:
    """A value in a few words, however large it is."""
    if value is None:
        return "NoneType"
    if isinstance(value, Tensor):
        if value.is_nested:
            return "a nested Tensor"
        place = "" if value.device.type == "cpu" else f" on {value.device}"
        grad = " that requires grad" if value.requires_grad else ""
        return f"Tensor of shape {tuple(value.shape)} and {value.dtype}{place}{grad}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    try:
        text = " ".join(reprlib.repr(value).split())
        return text if len(text) <= 80 else text[:77] + "..."
    except Exception:  # an integer of more than 4,300 digits, or an object that cannot be printed
        return "something that cannot be printed"
