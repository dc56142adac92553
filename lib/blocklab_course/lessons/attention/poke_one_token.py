"""Push one token of a sentence and see which outputs of attention move: the mask draws itself."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from blocklab.attention import causal_mask, scaled_dot_product_attention
from blocklab_course.i18n import Text, join_words
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable, pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, PAPER, POKED, QUIET, STILL, letters_on

SENTENCE = Text(en="the/cat/sat/on/the/mat/[PAD]/[PAD]", zh="猫/坐/在/垫/子/上/[PAD]/[PAD]")
LENGTH, WIDTH, PADDING = 8, 6, 2  # tokens, features of each, and how many of the tokens are padding
PUSH = 1.0

MASKS = {
    "none": Text(en="none", zh="无"),
    "causal": Text(en="causal", zh="因果"),
    "swapped": Text(en="causal, swapped", zh="因果，写反"),
    "padding": Text(en="padding", zh="填充"),
    "both": Text(en="both", zh="两者都用"),
}
POLARITIES = {
    "off": Text(en="not shown", zh="不显示"),
    "sdpa": Text(en="True takes part", zh="True 表示参与"),
    "module": Text(en="True is hidden", zh="True 表示屏蔽"),
}
GUESS = Prediction(
    {
        Text(en="only 3", zh="只有 3"): range(3, 4),
        Text(en="0 to 3", zh="0 到 3"): range(4),
        Text(en="3 to 7", zh="3 到 7"): range(3, 8),
        Text(en="all", zh="全部"): range(8),
    },
    right=range(3, 8),
    question=Text(
        en="Token 3 is pushed under a causal mask. Which outputs move?",
        zh="用因果掩码，推动词元 3。哪些输出会变？",
    ),
    explanation=Text(
        en="3 to 7 move: set mask to causal and token to 3, and these five outputs turn orange.",
        zh="变的是 3 到 7：把“掩码”设为“因果”，“词元”拖到 3，这五个输出就变成橙色。",
    ),
)
"""Which outputs move when token 3 is pushed under a causal mask."""

INPUTS = Text(en="inputs", zh="输入")
OUTPUTS = Text(en="outputs", zh="输出")
PUSHED = Text(en="token that is pushed", zh="推动的词元")
OUTPUT = Text(en="output", zh="输出")
MAP = Text(en="orange: moved, gray: not, empty: to come", zh="橙色：变了；灰色：没变；空白：还没推")
SEEN = Text(
    en="Mask: {mask}. Token {token} (“{word}”) is pushed, and {count} of 8 outputs move: {which}.",
    zh="掩码：{mask}。推动词元 {token}（“{word}”），8 个输出中有 {count} 个改变：{which}。",
)


def allowed(mask: str) -> Tensor:
    """A key of MASKS by formula, (8, 8), row = who looks, True where it takes part."""
    before, words = causal_mask(LENGTH), torch.arange(LENGTH) < LENGTH - PADDING
    every = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    masks = {"none": every, "causal": before, "swapped": ~before, "padding": every & words, "both": before & words}
    return masks[mask]


def attend(x: Tensor, mask: str) -> tuple[Tensor, Tensor]:
    """Outputs and weights of one head with fixed matrices; x, (*, 8, 6)."""
    waves = 0.5 * torch.sin(1.7 * torch.arange(1, 3 * WIDTH**2 + 1, dtype=torch.float64)).view(3, WIDTH, WIDTH)
    query, key, value = (x @ matrix for matrix in waves)
    mixed = torch.cat([value, torch.eye(LENGTH, dtype=torch.float64).expand(*x.shape[:-2], -1, -1)], -1)
    return scaled_dot_product_attention(query, key, mixed, allowed(mask)).split([WIDTH, LENGTH], -1)


def tokens() -> Tensor:
    """The numbers of the eight tokens, (8, 6)."""
    return torch.cos(2.3 * torch.arange(LENGTH * WIDTH, dtype=torch.float64)).view(LENGTH, WIDTH)


def moved_by_each(mask: str) -> tuple[np.ndarray, np.ndarray]:
    """Row = output, column = the token that was pushed: whether it moved, (8, 8). Then the weights before, (8, 8)."""
    x = tokens()
    pushed = x + PUSH * torch.eye(LENGTH, dtype=torch.float64)[..., None]  # (which is pushed, L, d)
    y, weights = attend(torch.cat([x[None], pushed]), mask)
    return ((y[1:] - y[0]).abs().amax(-1).T > 1e-9).numpy(), weights[0].numpy()


def poke_one_token(figure: Figure) -> Callable[..., str]:
    """Left the tokens, the outputs, and a line where a token takes part in an output; right a map of what moved.

    update(token, mask, polarity): which token is pushed; a key of MASKS; a key of POLARITIES, what the letters in the
    map say. The map holds the tokens pushed so far, from 0 to token.
    """
    words = str(SENTENCE).split("/")
    wires = Wires(add_axes(figure, wide=(0.0, 0.0, 0.63, 1.0), narrow=(0.0, 0.52, 1.0, 0.48)), words)
    grid = Grid(add_axes(figure, wide=(0.68, 0.14, 0.31, 0.75), narrow=(0.2, 0.07, 0.6, 0.39)))

    def update(token: int, mask: str, polarity: str) -> str:
        moved, weights = moved_by_each(mask)
        wires.show(token, moved[:, token], weights)
        grid.show(token, moved, {"off": None, "sdpa": allowed(mask), "module": ~allowed(mask)}[polarity])
        which = np.flatnonzero(moved[:, token])
        return SEEN.format(
            mask=MASKS[mask],
            token=token,
            word=words[token],
            count=len(which),
            which=join_words(which),
        )

    return update


class Wires:
    """The tokens below, their outputs above, and between them who takes part in what."""

    LOW, HIGH = 0.0, 2.4

    def __init__(self, axes: Axes, words: list[str]):
        axes.set(xlim=(-2.1 if is_narrow(axes.figure) else -1.6, LENGTH - 0.4), ylim=(-0.75, 3.05))
        axes.axis("off")
        self.wires = LineCollection([], zorder=1, animated=True)
        axes.add_collection(self.wires, autolim=False)
        self.inputs = [Box(axes, i, self.LOW, word) for i, word in enumerate(words)]
        for i, box in enumerate(self.inputs):
            for part in (box.frame, box.word):
                pickable(part, "token", [i])
        self.outputs = [Box(axes, i, self.HIGH, str(i)) for i in range(LENGTH)]
        for i in range(LENGTH):
            axes.text(i, self.LOW - 0.42, str(i), size=10, color=QUIET, ha="center", va="center")
        for y, name in ((self.LOW, INPUTS), (self.HIGH, OUTPUTS)):
            axes.text(-0.6, y, str(name), size=11, color=INK, ha="right", va="center")

    def show(self, token: int, moved: np.ndarray, weights: np.ndarray) -> None:
        i, j = np.nonzero(weights)
        i, j = np.concatenate([i[j != token], i[j == token]]), np.concatenate([j[j != token], j[j == token]])
        low, high = np.full(len(j), self.LOW + 0.24), np.full(len(i), self.HIGH - 0.24)
        self.wires.set_segments(np.stack([j, low, i, high], -1).reshape(-1, 2, 2))
        self.wires.set_linewidths(0.6 + 5 * weights[i, j])
        self.wires.set_colors([POKED if seen == token else STILL for seen in j])
        for place, (below, above) in enumerate(zip(self.inputs, self.outputs, strict=True)):
            below.paint(POKED if place == token else PAPER)
            above.paint(MOVED if moved[place] else STILL)


class Box:
    """A box with a word in it."""

    def __init__(self, axes: Axes, x: float, y: float, word: str):
        self.frame = Rectangle((x - 0.44, y - 0.24), 0.88, 0.48, edgecolor=INK, linewidth=0.8, zorder=2, animated=True)
        axes.add_patch(self.frame)
        self.word = axes.text(x, y, word, size=10, ha="center", va="center", zorder=3, animated=True)

    def paint(self, colour: str) -> None:
        self.frame.set_facecolor(colour)
        self.word.set_color(letters_on(colour))


class Grid:
    """Row = output, column = token that is pushed; a column is filled once its token has been pushed."""

    def __init__(self, axes: Axes):
        self.cells = axes.imshow(np.zeros((LENGTH, LENGTH, 4)), animated=True, zorder=1)
        axes.set(xticks=range(LENGTH), yticks=range(LENGTH), xlabel=str(PUSHED), ylabel=str(OUTPUT))
        axes.set_title(str(MAP), size=10, color=INK)
        axes.tick_params(length=0)
        edges = np.arange(LENGTH + 1) - 0.5
        lines = [((e, -0.5), (e, LENGTH - 0.5)) for e in edges] + [((-0.5, e), (LENGTH - 0.5, e)) for e in edges]
        axes.add_collection(LineCollection(lines, colors=QUIET, linewidths=0.5, zorder=2, animated=True))
        self.column = Rectangle((0, -0.5), 1, LENGTH, fill=False, edgecolor=POKED, linewidth=2.5, animated=True)
        self.column.set(zorder=4, clip_on=False)
        axes.add_patch(self.column)
        draggable(self.column, "token", lambda token: (token, -0.5))
        place = {"size": 10, "ha": "center", "va": "center", "zorder": 3, "animated": True}
        self.letters = [[axes.text(j, i, "", **place) for j in range(LENGTH)] for i in range(LENGTH)]

    def show(self, token: int, moved: np.ndarray, mask: Tensor | None) -> None:
        colours = np.where(moved[..., None], to_rgba(MOVED), to_rgba(STILL))
        colours[:, token + 1 :] = to_rgba(PAPER, 0)
        self.cells.set_data(colours)
        self.column.set_x(token - 0.5)
        for i, row in enumerate(self.letters):
            for j, letter in enumerate(row):
                letter.set_text("" if mask is None else "T" if mask[i, j] else "F")
                letter.set_color(letters_on(MOVED if moved[i, j] and j <= token else STILL))


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    masks, polarities = ({name: key for key, name in names.items()} for names in (MASKS, POLARITIES))
    controls = {
        "guess": GUESS,
        "token": Slider(0, LENGTH - 1, 1, value=0, label=Text(en="token", zh="词元")),
        "mask": Choice(masks, "none", label=Text(en="mask", zh="掩码")),
        "polarity": Choice(polarities, "off", label=Text(en="mask as T and F", zh="掩码的 T/F")),
    }
    return Panel(poke_one_token, size=(10, 4.2), narrow=(4.6, 7.2), **controls | own)
