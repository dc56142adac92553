"""SmolLM2 with a layer of the reader's in the place of every one of its own."""

from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import Tensor

from blocklab.language import Text
from blocklab.real_models.decoder import DecoderBlock
from blocklab.real_models.replaced import attribute

from .free_memory import free_memory
from .networks import MOST_TOKENS, QUESTION, SmolLM2, shortened
from .words import TOO_LITTLE_MEMORY

Layer = Callable[[Tensor, DecoderBlock], Tensor]
ROUNDING = 1e-4  # of the largest number that a layer gives: sums in another order differ by less

SAME = Text(en="layer 0: the same numbers, up to rounding", zh="第 0 层：结果一致，只差舍入")
OTHER = Text(en="layer 0: other numbers", zh="第 0 层：结果不同")
ANSWER = Text(en="in all 30: {answer}", zh="30 层全都换上：{answer}")


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
