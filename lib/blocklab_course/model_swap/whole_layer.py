"""Replace every layer of SmolLM2 with the learner's."""

from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import Tensor

from blocklab_course.checks.safe_repr import error_message, truncate_line, type_name
from blocklab_course.i18n import Text
from blocklab_course.pretrained.decoder import DecoderBlock
from blocklab_course.pretrained.free_memory import free_memory, shortage_message
from blocklab_course.pretrained.patching import override_attribute
from blocklab_course.pretrained.prompts import QUESTION

from .networks import MOST_TOKENS, SmolLM2

Part = Callable[[Tensor], Tensor]
Around = Callable[[Tensor, Part, Part], Tensor]  # around(x, sublayer, norm)
Layer = Callable[[Tensor, Part, Part, Part, Part, Around], Tensor]
Parts = Callable[[DecoderBlock], tuple[Part, Part, Part, Part]]  # attention, feed-forward network, their norms
ROUNDING = 1e-4  # relative to the largest output; sums in another order differ by less

SAME = Text(en="layer 0: the same numbers, up to rounding", zh="第 0 层：结果一致，只差舍入")
OTHER = Text(en="layer 0: different numbers", zh="第 0 层：结果不同")
STOPPED = Text(en="layer 0: it raises {error}", zh="第 0 层：运行时报错：{error}")
UNUSED = Text(
    en="It never calls `around`, so another `around` will change nothing.",
    zh="它没有调用 `around`，所以换一个 `around`，结果也不会变。",
)
NOT_YET = Text(
    en="Yours gives no tensor of x's shape yet. This is what comes out with the right one:\n",
    zh="你的函数还没有给出与 x 同形状的张量。下面是正确的一层给出的结果：\n",
)
ANSWER = Text(en="in all 30: {answer}", zh="30 层全都换上：{answer}")


@torch.no_grad()
def swap_layer(layer: Layer, parts: Parts, around: Around) -> str:
    """Say whether a layer matches SmolLM2's first one, and what the model answers with it as every layer.

    layer is called with x, the results of `parts` for a block, and `around`, a residual connection. Until it returns a
    tensor, the right layer is used instead; if it raises an error, the text says which. Raises ModuleNotFoundError if
    the package is missing.
    """
    if note := shortage_message(SmolLM2.name, SmolLM2.memory_gb, free_memory()):
        return note
    model = SmolLM2().model
    ids = model.chat(QUESTION)
    first, x = model.blocks[0], model.tokens(torch.tensor([ids]))
    calls = []

    def recording_around(x: Tensor, sublayer: Part, norm: Part) -> Tensor:
        calls.append(sublayer)
        return around(x, sublayer, norm)

    try:
        expected, y = first(x), layer(x, *parts(first), recording_around)
    except Exception as error:
        return STOPPED.format(error=f"{type_name(error)}: {error_message(error)}")
    written = isinstance(y, Tensor) and y.shape == x.shape
    if not written:
        layer, y = reference_layer, reference_layer(x, *parts(first), recording_around)
    same = (y - expected).abs().max() <= ROUNDING * expected.abs().max()
    with ExitStack() as stack:
        for block in model.blocks:
            own = parts(block)
            stack.enter_context(override_attribute(block, "forward", lambda x, own=own: layer(x, *own, around)))
        tokens = list(model.next_tokens(ids, MOST_TOKENS, cached=False))
    answer = ANSWER.format(answer=truncate_line(model.byte_pairs.decode(tokens)))
    return f"{'' if written else NOT_YET}{SAME if same else OTHER}\n{answer}" + (f"\n{UNUSED}" if not calls else "")


def reference_layer(x: Tensor, attention: Part, feed_forward: Part, norm1: Part, norm2: Part, around: Around) -> Tensor:
    x = around(x, attention, norm1)
    return around(x, feed_forward, norm2)
