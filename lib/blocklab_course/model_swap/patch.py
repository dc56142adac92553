"""Put a learner's block into a network: translate the kernel's arguments into those of the exercise."""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from torch import Tensor, nn

from blocklab.attention import causal_mask, repeat_kv
from blocklab_course.checks.exercise import Exercise
from blocklab_course.pretrained.patching import find_kernels, override_attribute, patch_functions
from blocklab_course.pretrained.stateless_cache import stateless_cache

from .errors import swap_error
from .guard import Guard

KERNEL = {"layer_norm_by_axes": "layer_norm"}  # exercises whose name is not their kernel's


@contextmanager
def patch(model: nn.Module, exercise: Exercise, block: Guard) -> Iterator[int]:
    """Replace the block everywhere in the model, within a `with` block; yields the number of places."""
    name = KERNEL.get(exercise.name, exercise.name)
    holders = find_kernels(model)[name]
    if exercise.name == "cached_attention":  # the exercise's function is stateless
        with patch_functions(model, cached_attention=stateless_cache(partial(_cached_attention, block, exercise))):
            yield len(holders)
        return
    if exercise.kernel is None:  # SwiGLU: the exercise is the whole layer, including its matrices
        with ExitStack() as stack:
            for layer in holders:
                stack.enter_context(override_attribute(layer, "forward", partial(_feed_forward, block, layer)))
            yield len(holders)
        return
    signature, names = inspect.signature(exercise.kernel), [parameter.name for parameter in exercise.parameters]

    def replacement(*arguments: object, **options: object) -> Tensor:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        values = bound.arguments | (_explicit_mask(**bound.arguments) if exercise.name == "attention" else {})
        given = {name: values[name] for name in names}
        y = block(given, partial(exercise.kernel, *arguments, **options))
        _write_back(given, values)
        if "weight" in values and "weight" not in names:  # the exercise has no learned weight and bias
            y = y * values["weight"] + values["bias"]
        return y

    with patch_functions(model, **{name: replacement}):
        yield len(holders)


def _write_back(given: dict[str, object], values: dict[str, object]) -> None:
    """Copy what a Module has put in the place of its buffers, see `call_with_attributes`, into those of the network."""
    for name, x in given.items():
        buffer = values[name]
        if x is not buffer:
            if not isinstance(x, Tensor) or (x.shape, x.device) != (buffer.shape, buffer.device):
                raise swap_error("buffer-replaced", name=name)
            buffer.copy_(x)


def _explicit_mask(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    enable_gqa: bool,
    **_others: object,
) -> dict[str, Tensor | None]:
    """The arguments in the exercise's form: a mask instead of `is_causal`, and keys and values for every head."""
    if enable_gqa:
        key, value = (repeat_kv(x, query.shape[-3] // x.shape[-3]) for x in (key, value))
    return {"key": key, "value": value, "mask": causal_mask(query.shape[-2]) if is_causal else attn_mask}


def _cached_attention(block: Guard, exercise: Exercise, *inputs: Tensor) -> tuple[Tensor, ...]:
    names = [parameter.name for parameter in exercise.parameters]
    return block.several(dict(zip(names, inputs, strict=True)), partial(exercise.reference, *inputs), 3)


def _feed_forward(block: Guard, layer: nn.Module, x: Tensor) -> Tensor:
    matrices = {name: getattr(layer, name).weight.detach() for name in ("w1", "w2", "w3")}
    return block({"x": x, **matrices}, partial(type(layer).forward, layer, x))
