"""What one step of writing computes: every score again, or one row, with the keys and values that were kept."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, PAPER, POKED, QUIET, STILL, letters_on

LONGEST_PROMPT, LAST_STEP = 6, 6
LENGTH = LONGEST_PROMPT + LAST_STEP

SCORES = Text(en="scores: rows are queries, columns keys", zh="得分：行是查询，列是键")
TOKEN = Text(en="token", zh="词元")
KEYS = Text(en="keys and values", zh="键和值")
SO_FAR = Text(en="computed up to this step", zh="到这一步为止一共算过")
COMPUTED = Text(en="computed in this step", zh="这一步要算")
READ = Text(en="read from the cache", zh="从缓存读取")
BEFORE = Text(en="computed before", zh="以前算过")
WITHOUT, WITH = Text(en="no cache", zh="不用缓存"), Text(en="cache", zh="用缓存")
TOKENS, ROWS = Text(en="tokens", zh="词元"), Text(en="scores", zh="得分")
BAR = Text(en="{what}, {way}", zh="{what}，{way}")
SEEN = Text(
    en="Step {step}, {way}: {tokens} of {length} tokens pass through all matrices, and {scores} scores are computed. "
    "So far {all_tokens} tokens and {all_scores} scores.",
    zh="步骤 {step}，{way}：{length} 个词元中有 {tokens} 个经过全部矩阵，算 {scores} 个得分。"
    "到现在一共是 {all_tokens} 个词元、{all_scores} 个得分。",
)


def computed(prompt: int, step: int, cache: bool) -> tuple[int, int]:
    """How many tokens pass through the matrices at one step, and how many scores come of it under the causal mask."""
    length = prompt + step
    if cache and step:
        return 1, length
    return length, length * (length + 1) // 2


def so_far(prompt: int, step: int, cache: bool) -> tuple[int, int]:
    """The same from the prompt up to this step."""
    tokens, scores = zip(*(computed(prompt, each, cache) for each in range(step + 1)), strict=True)
    return sum(tokens), sum(scores)


def one_step(figure: Figure) -> Callable[..., str]:
    """Left the scores of every pair, below them the keys and values, right what was computed so far, in both ways.

    update(prompt, step, cache): tokens of the prompt; how many tokens were written since; whether a cache is used.
    """
    grid = Grid(add_axes(figure, wide=(0.06, 0.2, 0.4, 0.7), narrow=(0.12, 0.5, 0.61, 0.45)))
    sums = Sums(add_axes(figure, wide=(0.62, 0.3, 0.36, 0.52), narrow=(0.36, 0.08, 0.61, 0.23)))

    def update(prompt: int, step: int, cache: bool) -> str:
        grid.show(prompt, step, cache)
        sums.show(prompt, step)
        tokens, scores = computed(prompt, step, cache)
        all_tokens, all_scores = so_far(prompt, step, cache)
        return SEEN.format(
            step=step,
            way=WITH if cache else WITHOUT,
            tokens=tokens,
            length=prompt + step,
            scores=scores,
            all_tokens=all_tokens,
            all_scores=all_scores,
        )

    return update


class Grid:
    """Row = the token that looks, column = the one that is seen; and a box for the key and value of each token."""

    BOXES = LENGTH + 0.2  # where the boxes of keys and values stand, in rows

    def __init__(self, axes: Axes):
        self.prompt = 1
        self.cells = axes.imshow(np.zeros((LENGTH, LENGTH, 4)), animated=True, zorder=1, aspect="auto")
        axes.set(xlim=(-0.53, LENGTH - 0.47), ylim=(self.BOXES + 0.6, -0.53))
        axes.set(xticks=range(LENGTH), yticks=[*range(LENGTH)], ylabel=str(TOKEN))
        axes.set_title(str(SCORES), size=11, color=INK)
        axes.tick_params(length=0, labelsize=9)
        style_axes(axes, edges=())
        edges = np.arange(LENGTH + 1) - 0.5
        lines = [((e, -0.5), (e, LENGTH - 0.5)) for e in edges] + [((-0.5, e), (LENGTH - 0.5, e)) for e in edges]
        axes.add_collection(LineCollection(lines, colors=QUIET, linewidths=0.4, zorder=2, animated=True))
        self.boxes = [
            Rectangle((i - 0.42, self.BOXES - 0.35), 0.84, 0.8, ec=INK, linewidth=0.8, animated=True, zorder=3)
            for i in range(LENGTH)
        ]
        self.words = []
        for i, box in enumerate(self.boxes):
            axes.add_patch(box)
            place = {
                "size": 9 if is_narrow(axes.figure) else 8,
                "ha": "center",
                "va": "center",
                "zorder": 4,
                "animated": True,
            }
            self.words.append(axes.text(i, self.BOXES + 0.05, "k v", **place))
        axes.text(LENGTH - 0.3, self.BOXES + 0.05, str(KEYS), size=9, color=INK, va="center")
        self.row = Rectangle((-0.5, 0), LENGTH, 1, fill=False, edgecolor=POKED, linewidth=2.2, animated=True)
        self.row.set(zorder=5, clip_on=False)
        axes.add_patch(self.row)
        draggable(self.row, "step", lambda step: (-0.5, self.prompt + step - 1))
        keys = [Rectangle((0, 0), 1, 1, fc=colour, ec=INK, lw=0.5) for colour in (MOVED, STILL, OTHER)]
        names = [str(COMPUTED), str(BEFORE), str(READ)]
        below = {"loc": "upper left", "bbox_to_anchor": (0.1, 0.49)}
        where = below if is_narrow(axes.figure) else {"loc": "lower left", "ncols": 3}
        axes.figure.legend(keys, names, **where, frameon=False, labelcolor=INK, fontsize=10)

    def show(self, prompt: int, step: int, cache: bool) -> None:
        self.prompt, length = prompt, prompt + step
        row, column = np.mgrid[:LENGTH, :LENGTH]
        sees = (column <= row) & (row < length)
        kept = sees & (row < length - 1) if cache and step else np.zeros_like(sees)
        colours = np.full((LENGTH, LENGTH, 4), to_rgba(PAPER, 0))
        colours[sees] = to_rgba(MOVED)
        colours[kept] = to_rgba(STILL)
        self.cells.set_data(colours)
        self.row.set_y(length - 1.5)
        for i, (box, word) in enumerate(zip(self.boxes, self.words, strict=True)):
            colour = OTHER if cache and step and i < length - 1 else MOVED
            box.set(visible=i < length, facecolor=colour)
            word.set(visible=i < length, color=letters_on(colour))


PLACES = {("tokens", False): 0, ("tokens", True): 0.8, ("scores", False): 2.2, ("scores", True): 3}
"""The bars of `Sums`, each at its height."""


class Sums:
    """Two pairs of bars: the tokens and the scores that were computed so far, without and with the cache."""

    def __init__(self, axes: Axes):
        most = so_far(LONGEST_PROMPT, LAST_STEP, cache=False)[1]
        axes.set(xlim=(0, 1.18 * most), ylim=(3.6, -0.6))
        axes.set_title(str(SO_FAR), size=11, color=INK)
        names = [BAR.format(what=what, way=way) for what in (TOKENS, ROWS) for way in (WITHOUT, WITH)]
        axes.set_yticks(list(PLACES.values()), names)
        axes.tick_params(axis="y", length=0, labelsize=10)
        style_axes(axes, grid="x")
        self.bars = axes.barh(list(PLACES.values()), [0] * 4, 0.62, color=MOVED, animated=True, zorder=3)
        place = {"size": 10, "color": INK, "va": "center", "animated": True}
        self.numbers = [axes.text(0, y, "", **place) for y in PLACES.values()]
        self.gap = 0.02 * most

    def show(self, prompt: int, step: int) -> None:
        sums = {cache: dict(zip(("tokens", "scores"), so_far(prompt, step, cache), strict=True)) for cache in (0, 1)}
        for (what, cache), bar, number in zip(PLACES, self.bars, self.numbers, strict=True):
            total = sums[cache][what]
            bar.set_width(total)
            number.set(text=str(total), x=total + self.gap)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "prompt": Slider(1, LONGEST_PROMPT, 1, value=4, label=Text(en="prompt tokens", zh="提示词元")),
        "step": Slider(0, LAST_STEP, 1, value=1, label=Text(en="step", zh="步骤")),
        "cache": Toggle(True, label=Text(en="cache", zh="缓存")),
    }
    return Panel(one_step, size=(10, 4.4), narrow=(4.6, 6.8), **controls | own)
