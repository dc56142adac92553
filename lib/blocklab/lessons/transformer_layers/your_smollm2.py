"""The reader's own blocks, from the lessons before, and SmolLM2 with a layer that is made of them in all its places."""

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

import torch
from torch import Tensor

from blocklab.checks.exercise import Exercise
from blocklab.language import Text
from blocklab.lessons.kept_blocks import kept
from blocklab.lessons.order import EXERCISES
from blocklab.plugging.as_called import as_called
from blocklab.plugging.cannot_run import CannotRun
from blocklab.plugging.free_memory import free_memory
from blocklab.plugging.networks import MOST_TOKENS, QUESTION, SmolLM2, shortened
from blocklab.plugging.words import TOO_LITTLE_MEMORY
from blocklab.real_models.decoder import DecoderBlock
from blocklab.real_models.replaced import attribute

Layer = Callable[[Tensor, DecoderBlock], Tensor]
ROUNDING = 1e-4  # of the largest number that a layer gives: sums in another order differ by less

COMMA = Text(en=", ", zh="、")
YOURS = Text(en="yours: {names}", zh="用你写的：{names}")
NONE = Text(en="none yet", zh="还没有")
OURS = Text(en="ours, where none of yours is kept: {names}", zh="没有保存过的，用我们的：{names}")
SAME = Text(en="layer 0: the same numbers, up to rounding", zh="第 0 层：结果一致，只差舍入")
OTHER = Text(en="layer 0: other numbers", zh="第 0 层：结果不同")
ANSWER = Text(en="in all 30: {answer}", zh="30 层全都换上：{answer}")


def your_blocks(*names: str) -> SimpleNamespace:
    """The functions of these exercises, each as the reader kept it, or the right one; prints which are which."""
    found, yours = {}, []
    for name in names:
        own = kept(name)
        try:
            found[name] = EXERCISES[name].reference if own is None else as_function(EXERCISES[name], own)
        except CannotRun:  # a class that was kept, of which we do not know how it is made
            own, found[name] = None, EXERCISES[name].reference
        if own is not None:
            yours.append(name)
    others = [name for name in names if name not in yours]
    print(YOURS.format(names=str(COMMA).join(yours) or NONE))
    if others:
        print(OURS.format(names=str(COMMA).join(others)))
    return SimpleNamespace(**found)


def as_function(exercise: Exercise, block: object) -> Callable:
    """A block that was kept, a Module too, as the function that its exercise asks for. Raises CannotRun."""
    call, signature = as_called(exercise, block), inspect.Signature(exercise.parameters)

    def function(*given: object, **named: object) -> object:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        return call(bound.arguments)

    return function


@torch.no_grad()
def in_smollm2(layer: Layer) -> str:
    """Whether it gives what SmolLM2's first layer gives, and what the model answers with it in place of every layer.

    Raises ModuleNotFoundError without the package.
    """
    if (free := free_memory()) < SmolLM2.wants * 1e9:
        return TOO_LITTLE_MEMORY.format(network=SmolLM2.name, wanted=SmolLM2.wants, free=free / 1e9)
    model = SmolLM2().model
    ids = model.chat(QUESTION)
    first, x = model.blocks[0], model.tokens(torch.tensor([ids]))
    wanted = first(x)
    same = (layer(x, first) - wanted).abs().max() <= ROUNDING * wanted.abs().max()
    with ExitStack() as stack:
        for block in model.blocks:
            stack.enter_context(attribute(block, "forward", lambda x, block=block: layer(x, block)))
        tokens = list(model.next_tokens(ids, MOST_TOKENS))
    answer = ANSWER.format(answer=shortened(model.byte_pairs.decode(tokens)))
    return f"{SAME if same else OTHER}\n{answer}"
