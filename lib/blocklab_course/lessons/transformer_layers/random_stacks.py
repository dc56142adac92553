"""Untrained stacks of layers that read random tokens, and what is seen of them by place of the norms and by depth."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from blocklab.norm_placement import NormPlacementLayer
from blocklab.normalization import layer_norm
from blocklab.transformer import EncoderLayer

DEPTHS = (3, 6, 12, 24, 48)
DEEPEST = DEPTHS[-1]
SEEDS, SENTENCES, LENGTH = 6, 4, 16
WIDTH, HEADS, CLASSES = 64, 4, 100


@dataclass(frozen=True)
class Measured:
    """What is seen at every layer of the stacks of one depth, each (layer, seed).

    gradient is that of W2, the feed-forward network's second matrix; choosing, of the rows that make queries and keys.
    """

    gradient: np.ndarray
    choosing: np.ndarray
    rms: np.ndarray
    cosine: np.ndarray


@cache
def random_numbers() -> tuple[list[dict[str, Tensor]], Tensor, Tensor, Tensor]:
    """Weights, tokens, the matrix that guesses, and targets. The weights of a layer have a leading seed axis.

    Drawn as in torch.nn.Transformer: its layers' weights, then Xavier. Every place of the norms gets the same.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        tokens = torch.randn(SEEDS, SENTENCES, LENGTH, WIDTH)
        head = torch.randn(SEEDS, 1, WIDTH, CLASSES) / WIDTH**0.5
        targets = torch.randint(CLASSES, (SEEDS, SENTENCES, LENGTH))
        weights = []
        for _ in range(DEEPEST):
            layers = [EncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0) for _ in range(SEEDS)]
            for layer in layers:
                for parameter in layer.parameters():
                    if parameter.dim() > 1:
                        nn.init.xavier_uniform_(parameter)
            weights.append({name: x.detach() for name, x in stack_module_state(layers)[0].items()})
    return weights, tokens, head, targets


def measured(depth: int, place: str, qk_norm: str | None = None) -> Measured:
    """Read random tokens with stacks of the first `depth` layers, and guess random classes from the last one's result.

    The gradients are those of the mean cross-entropy of a stack, their Frobenius norms. Before the matrix that guesses
    stands one more norm, unless each sum has one.
    """
    weights, x, head, targets = random_numbers()
    with torch.random.fork_rng(devices=[]):  # its own matrices are not used, its norms are: 1 and 0
        layer = NormPlacementLayer(place, WIDTH, HEADS, 4 * WIDTH, qk_norm=qk_norm)
    drawn = [name for name in weights[0] if name in layer.state_dict()]
    apply = vmap(lambda state, x: functional_call(layer, state, x))
    fed, chosen, rms, cosine = [], [], [], []
    for state in weights[:depth]:
        fed.append(state["linear2.weight"].clone().requires_grad_())
        chosen.append(state["self_attn.in_proj_weight"].clone().requires_grad_())
        learned = {"linear2.weight": fed[-1], "self_attn.in_proj_weight": chosen[-1]}
        x = apply({name: state[name] for name in drawn} | learned, x)
        rms.append(x.detach().square().mean((1, 2, 3)).sqrt())
        cosine.append(mean_cosine(x.detach()).mean(1))
    scores = (x if place == "post" else layer_norm(x, (WIDTH,))) @ head
    losses = F.cross_entropy(scores.flatten(0, 2), targets.flatten(), reduction="none").view(SEEDS, -1).mean(1)
    gradients = torch.autograd.grad(losses.sum(), [*fed, *chosen])
    of_w2 = [gradient.flatten(1).norm(dim=1) for gradient in gradients[:depth]]
    of_queries_and_keys = [gradient[:, : 2 * WIDTH].flatten(1).norm(dim=1) for gradient in gradients[depth:]]
    return Measured(*(torch.stack(rows).numpy() for rows in (of_w2, of_queries_and_keys, rms, cosine)))


def mean_cosine(x: Tensor) -> Tensor:
    """The mean cosine between two different tokens of a sentence: (*, L, d) to (*)."""
    directions = F.normalize(x, dim=-1)
    L = x.shape[-2]
    return ((directions @ directions.mT).sum((-2, -1)) - L) / (L * (L - 1))
