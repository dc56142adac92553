"""A learner's block in the place of a network's own: from the kernel's arguments to those of the exercise."""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from torch import Tensor, nn

from blocklab.attention import causal_mask, repeat_kv
from blocklab_course.checks.exercise import Exercise
from blocklab_course.pretrained.patching import find_kernels, override_attribute, patch_functions
from blocklab_course.pretrained.stateless_cache import stateless_cache

from .guard import Guard

KERNEL = {"layer_norm_by_axes": "layer_norm"}  # of an exercise that bears another name


@contextmanager
def patch(model: nn.Module, exercise: Exercise, block: Guard) -> Iterator[int]:
    """Run the lines below it with the block in all places of the model that hold such a one; gives their number."""
    name = KERNEL.get(exercise.name, exercise.name)
    holders = find_kernels(model)[name]
    if exercise.name == "cached_attention":  # the exercise keeps nothing itself: it hands on
        with patch_functions(model, cached_attention=stateless_cache(partial(_in_steps, block, exercise))):
            yield len(holders)
        return
    if exercise.kernel is None:  # SwiGLU: the exercise is the whole layer, with its matrices
        with ExitStack() as stack:
            for layer in holders:
                stack.enter_context(override_attribute(layer, "forward", partial(_feed_forward, block, layer)))
            yield len(holders)
        return
    signature, names = inspect.signature(exercise.kernel), [parameter.name for parameter in exercise.parameters]

    def instead(*arguments: object, **options: object) -> Tensor:
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        given = bound.arguments | (_written_out(**bound.arguments) if exercise.name == "attention" else {})
        y = block({name: given[name] for name in names}, partial(exercise.kernel, *arguments, **options))
        if "weight" in given and "weight" not in names:  # the exercise ends before the learned weight and bias
            y = y * given["weight"] + given["bias"]
        return y

    with patch_functions(model, **{name: instead}):
        yield len(holders)


def _written_out(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    enable_gqa: bool,
    **_others: object,
) -> dict[str, Tensor | None]:
    """What the exercise has in other words: a mask in place of `is_causal`, and keys and values for every head."""
    if enable_gqa:
        key, value = (repeat_kv(x, query.shape[-3] // x.shape[-3]) for x in (key, value))
    return {"key": key, "value": value, "mask": causal_mask(query.shape[-2]) if is_causal else attn_mask}


def _in_steps(block: Guard, exercise: Exercise, *given: Tensor) -> tuple[Tensor, ...]:
    names = [parameter.name for parameter in exercise.parameters]
    return block.several(dict(zip(names, given, strict=True)), partial(exercise.reference, *given), 3)


def _feed_forward(block: Guard, layer: nn.Module, x: Tensor) -> Tensor:
    matrices = {name: getattr(layer, name).weight.detach() for name in ("w1", "w2", "w3")}
    return block({"x": x, **matrices}, partial(type(layer).forward, layer, x))
