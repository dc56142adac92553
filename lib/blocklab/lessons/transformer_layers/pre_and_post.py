"""Untrained stacks of encoder layers, pre-norm beside post-norm: gradients, size and likeness of tokens, by depth."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from blocklab.language import Text
from blocklab.normalization import layer_norm
from blocklab.panel import Guess, Panel, Slider, Toggle
from blocklab.panel.controls import Control
from blocklab.panel.palette import INK, MOVED, OTHER, QUIET
from blocklab.panel.plain import plain
from blocklab.panel.touch import dragged
from blocklab.transformer import EncoderLayer

DEPTHS = (3, 6, 12, 24, 48)
DEEPEST = DEPTHS[-1]
OPENING = 12
SEEDS, SENTENCES, LENGTH = 6, 4, 16
WIDTH, HEADS, CLASSES = 64, 4, 100

GUESS = Guess(
    {
        Text(en="the first layer's", zh="第一层的"): {"first"},
        Text(en="the last layer's", zh="最后一层的"): {"last"},
        Text(en="both", zh="两者都变小"): {"first", "last"},
        Text(en="neither", zh="两者都不变小"): set(),
    },
    right={"last"},
    told=Text(
        en="The last layer's: show the gradients and drag depth from 3 to 48. In pre-norm it falls from 0.59 to 0.18, "
        "while the first layer's goes from 0.83 to 0.88.",
        zh="最后一层的：勾选“显示梯度”，把“深度”从 3 拖到 48，前置归一化最后一层的梯度从 0.59 降到 0.18，"
        "第一层的则从 0.83 变到 0.88。",
    ),
)
"""Whose gradient shrinks each time the depth of a pre-norm stack doubles."""

ORDERS = (
    (Text(en="pre-norm", zh="前置归一化（pre-norm）"), True, MOVED, "o-"),
    (Text(en="post-norm", zh="后置归一化（post-norm）"), False, OTHER, "s--"),
)
LAYER = Text(en="layer", zh="第几层")
GRADIENT = Text(en="gradient of W₂ in each layer", zh="各层 W₂ 的梯度")
SIZE = Text(en="RMS of the tokens after each layer", zh="各层之后词元的均方根")
LIKENESS = Text(en="mean cosine after each layer", zh="各层之后词元间余弦的均值")
LATER = Text(en="first your guess,\nthen show gradients", zh="先猜一猜，\n再勾选“显示梯度”")
SEEN = Text(
    en="{depth} layers, pre-norm and post-norm: after the last layer RMS {pre_rms:.1f} and {post_rms:.1f}, mean cosine "
    "{pre_cosine:.2f} and {post_cosine:.2f}.",
    zh="{depth} 层，依次为前置、后置归一化：最后一层之后，均方根为 {pre_rms:.1f} 和 {post_rms:.1f}，"
    "余弦的均值为 {pre_cosine:.2f} 和 {post_cosine:.2f}。",
)
SEEN_TOO = Text(
    en="{tokens} Gradient at the first layer {pre_first:.2f} and {post_first:.2f}, at the last {pre_last:.2f} and "
    "{post_last:.2f}.",
    zh="{tokens}第一层的梯度为 {pre_first:.2f} 和 {post_first:.2f}，最后一层的为 {pre_last:.2f} 和 {post_last:.2f}。",
)


@dataclass(frozen=True)
class Measured:
    """What is seen at every layer of the stacks of one depth, each (layer, seed)."""

    gradient: np.ndarray
    rms: np.ndarray
    cosine: np.ndarray


@cache
def draws(norm_first: bool) -> tuple[EncoderLayer, list[dict[str, Tensor]], Tensor, Tensor, Tensor]:
    """A layer, the weights of the deepest stacks, layer by layer, and what they read: the same for both norm orders."""
    with torch.device("meta"):  # its own weights are not used
        layer = EncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, norm_first=norm_first)
    return layer, *random_numbers()


@cache
def random_numbers() -> tuple[list[dict[str, Tensor]], Tensor, Tensor, Tensor]:
    """Weights, tokens, the matrix that guesses, and targets. The weights of a layer have a leading seed axis.

    Drawn as in torch.nn.Transformer: its layers' weights, then Xavier.
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


@cache
def measured(depth: int, norm_first: bool) -> Measured:
    """Read random tokens with stacks of the first `depth` layers, and guess random classes from the last one's result.

    The gradient is that of the mean cross-entropy of a stack with respect to a layer's W2, its Frobenius norm. Before
    the matrix that guesses, a pre-norm stack has one more norm.
    """
    layer, weights, x, head, targets = draws(norm_first)
    apply = vmap(lambda state, x: functional_call(layer, state, x))
    learned, rms, cosine = [], [], []
    for state in weights[:depth]:
        learned.append(state["linear2.weight"].clone().requires_grad_())
        x = apply(state | {"linear2.weight": learned[-1]}, x)
        rms.append(x.detach().square().mean((1, 2, 3)).sqrt())
        cosine.append(mean_cosine(x.detach()).mean(1))
    scores = (layer_norm(x, (WIDTH,)) if norm_first else x) @ head
    losses = F.cross_entropy(scores.flatten(0, 2), targets.flatten(), reduction="none").view(SEEDS, -1).mean(1)
    gradients = torch.autograd.grad(losses.sum(), learned)
    norms = [gradient.flatten(1).norm(dim=1) for gradient in gradients]
    return Measured(*(torch.stack(rows).numpy() for rows in (norms, rms, cosine)))


def mean_cosine(x: Tensor) -> Tensor:
    """The mean cosine between two different tokens of a sentence: (*, L, d) to (*)."""
    directions = F.normalize(x, dim=-1)
    L = x.shape[-2]
    return ((directions @ directions.mT).sum((-2, -1)) - L) / (L * (L - 1))


def pre_and_post(figure: Figure) -> Callable[..., str]:
    """Layer by layer: the cosine, the stream's RMS, the gradient of W2; a line is the mean of the seeds, a band all.

    update(depth, gradients): one of DEPTHS; whether the gradients are shown, which answer the question.
    """
    grid = figure.subplots(1, 3, gridspec_kw={"left": 0.05, "right": 0.99, "bottom": 0.14, "top": 0.8, "wspace": 0.18})
    for axes, title in zip(grid, (LIKENESS, SIZE, GRADIENT), strict=True):
        axes.set(xlim=(0, DEEPEST + 2), xticks=[1, *DEPTHS[1:]], xlabel=str(LAYER))
        axes.set_title(str(title), size=11, color=INK)
        plain(axes, grid="both")
    likeness, size, slope = grid
    likeness.set(ylim=(0, 1.03))
    size.set(ylim=(0, 7))
    slope.set(yscale="log", ylim=(0.1, 2.5))
    slope.set_yticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
    slope.minorticks_off()
    curves = [[Curve(axes, name, colour, form) for axes in grid] for name, _, colour, form in ORDERS]
    trails = [
        slope.plot([], [], form[0], color=colour, mfc="white", ms=7, animated=True)[0] for *_, colour, form in ORDERS
    ]
    table = {(depth, norm_first): measured(depth, norm_first) for depth in DEPTHS for _, norm_first, _, _ in ORDERS}
    for (_, norm_first, _, _), row in zip(ORDERS, curves, strict=True):
        for curve, kind in zip(row, ("cosine", "rms", "gradient"), strict=True):
            ends = {depth: getattr(table[depth, norm_first], kind)[-1].mean() for depth in DEPTHS}
            dragged(curve.dot, "depth", lambda depth, ends=ends: (depth, ends[depth]))
    of_gradients = [artist for *_, last in curves for artist in last.artists] + trails
    place = {"size": 11, "color": QUIET, "ha": "center", "va": "center", "transform": slope.transAxes}
    later = slope.text(0.5, 0.36, str(LATER), animated=True, **place)
    handles, names = likeness.get_legend_handles_labels()
    figure.legend(handles, names, loc="upper center", ncols=2, frameon=False, labelcolor=INK)

    def update(depth: int, gradients: bool) -> str:
        for artist in of_gradients:
            artist.set_visible(gradients)
        later.set_visible(not gradients)
        numbers = {"depth": depth}
        for (_, norm_first, _, _), row, trail in zip(ORDERS, curves, trails, strict=True):
            seen = table[depth, norm_first]
            for curve, values in zip(row, (seen.cosine, seen.rms, seen.gradient), strict=True):
                curve.show(values)
            shallower = [d for d in DEPTHS if OPENING <= d < depth]
            trail.set_data(shallower, [table[d, norm_first].gradient[-1].mean() for d in shallower])
            order = "pre" if norm_first else "post"
            first, *_, last = seen.gradient.mean(1)
            numbers |= {f"{order}_first": first, f"{order}_last": last}
            numbers |= {f"{order}_rms": seen.rms[-1].mean(), f"{order}_cosine": seen.cosine[-1].mean()}
        tokens = SEEN.format(**numbers)
        return SEEN_TOO.format(tokens=tokens, **numbers) if gradients else tokens

    return update


class Curve:
    """The mean over the seeds as a line, all of them as a band, and a large dot at the last layer."""

    def __init__(self, axes: Axes, name: Text, colour: str, form: str):
        self.band = axes.fill_between([1, 2], [1, 1], [1, 1], color=colour, alpha=0.25, linewidth=0, animated=True)
        (self.line,) = axes.plot([], [], form[1:], color=colour, linewidth=2, animated=True, zorder=3)
        (self.dot,) = axes.plot([], [], form, color=colour, ms=9, label=str(name), animated=True, zorder=4)

    @property
    def artists(self) -> tuple[Artist, ...]:
        return self.band, self.line, self.dot

    def show(self, values: np.ndarray) -> None:
        """values: (layer, seed)."""
        layers, mean = np.arange(1, len(values) + 1), values.mean(1)
        above, below = values.max(1), values.min(1)
        self.band.set_verts([np.column_stack([[*layers, *layers[::-1]], [*above, *below[::-1]]])])
        self.line.set_data(layers, mean)
        self.dot.set_data([layers[-1]], [mean[-1]])


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "depth": Slider(DEPTHS[0], DEEPEST, 2, value=OPENING, label=Text(en="depth", zh="深度"), log=True),
        "gradients": Toggle(False, label=Text(en="show gradients", zh="显示梯度")),
    }
    return Panel(pre_and_post, size=(10, 4), **controls | own)
