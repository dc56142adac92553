"""One thing wrong in all layers of SmolLM2: its loss on a text, and what it answers to two prompts."""

import re
from collections.abc import Callable
from textwrap import fill, wrap

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text as ArtistText

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import GROUPS, INK, MOVED, PAPER, QUIET, STILL, TRUE

from .prompts import FIRST, HAIKU
from .wrong_functions import BLOCKS, RIGHT, VOCABULARY_LOSS, WRONG, recorded

GUESS = Prediction(
    {
        Text(en="positions left out", zh="没有旋转"): "not-rotated",
        Text(en="no √d", zh="没有除以根号 d"): "no-scale",
        Text(en="no mask", zh="没有掩码"): "no-mask",
        Text(en="minus the mean", zh="多减均值"): "minus-mean",
    },
    right="no-mask",
    question=Text(
        en="One mistake brings the loss down to less than half. Which?",
        zh="有一种错误会让损失降到不足一半。是哪一种？",
    ),
    explanation=Text(
        en="It is the missing mask: touch its tile, and the loss is less than half, because every token sees the one "
        "that it should foretell.",
        zh="是没有掩码：点它那一格，损失不到原来的一半，因为每个词元都看得到自己要预测的那一个。",
    ),
)
"""Which of these mistakes brings the loss down to less than half."""

NOTHING_WRONG = Text(en="nothing wrong", zh="没有错误")
NAMED = Text(en="{block}: {name}", zh="{block}：{name}")
ROWS = {block: block if isinstance(block, Text) else Text(en=block, zh=block) for block in BLOCKS}
CHOICES = {NOTHING_WRONG: RIGHT} | {
    Text(
        en=NAMED.en.format(block=ROWS[wrong.block].en, name=wrong.name.en),
        zh=NAMED.zh.format(block=ROWS[wrong.block].zh, name=wrong.name.zh),
    ): wrong.id
    for wrong in WRONG
}

LOSS = Text(en="loss on “The Zen of Python”", zh="读《Python 之禅》（The Zen of Python）时的损失")
CHANCE = Text(en="all tokens alike", zh="所有词元一样可能")
RIGHT_LOSS = Text(en="right", zh="正确")
NO_WORD = Text(en="(not one word: it ends at once)", zh="（一个词也没有，立刻就结束了）")
UNFIT = Text(en="(fragments, not fit to print)", zh="（不宜刊出的碎片）")
SEEN = Text(
    en="{name}. Loss {loss:.4f}, where {right:.4f} is right. France: {text} Haiku: {haiku}",
    zh="{name}。损失 {loss:.4f}，正确的是 {right:.4f}。问法国：{text} 写俳句：{haiku}",
)
RIGHT_ONE = Text(
    en="All functions right. Loss {loss:.4f}. France: {text} Haiku: {haiku}",
    zh="函数全都正确。损失 {loss:.4f}。问法国：{text} 写俳句：{haiku}",
)

AWAY, LONG = 0.45, 3.4  # from a bar to the reading of its loss, and how long that is, on the axis of the loss
INVISIBLE = re.compile(r"\\(x[0-9a-f]{2}|[a-z])")  # which SmolLM2 itself spells out: \x0b
LINE, LINES = 56, 3  # characters, and how many lines of an answer are drawn
COLUMNS, WIDE, HIGH, GAP = 3, 2.44, 0.7, 0.1
LEFT = 1.95  # of the tiles, behind the names of the functions
SLIM, HEAD = 1.53, 0.3  # on a phone: the width of a tile, and the height of a name above its tiles
CHOSEN = GROUPS[1]  # MOVED as a tint: a name is read on it in every theme


def wrong_block(figure: Figure) -> Callable[..., str]:
    """Above the mistakes as tiles, a row for each function; below the loss on its axis, and both answers.

    update(wrong): the id of a mistake, or RIGHT.
    """
    found = recorded()
    patches = tile_axes(add_axes(figure, wide=(0.01, 0.38, 0.98, 0.61), narrow=(0.01, 0.43, 0.98, 0.565)))
    right = found[RIGHT].loss
    bar, reading = loss_axes(add_axes(figure, wide=(0.055, 0.16, 0.38, 0.1), narrow=(0.07, 0.33, 0.8, 0.055)), right)
    answers = answer_axes(add_axes(figure, wide=(0.465, 0.015, 0.53, 0.355), narrow=(0.0, 0.01, 1.0, 0.25)))
    room = (46, 4) if is_narrow(figure) else (LINE, LINES)

    def update(wrong: str) -> str:
        seen = found[wrong]
        chosen = [each.id == wrong for each in WRONG]
        patches.set(facecolors=[CHOSEN if here else STILL for here in chosen])
        bar.set_width(seen.loss)
        bar.set_color(TRUE if wrong == RIGHT else MOVED)
        reading.set(x=beside(seen.loss, (right, VOCABULARY_LOSS)), text=f"{seen.loss:.4f}")
        said = seen.text, seen.haiku
        for answer, words in zip(answers, said, strict=True):
            answer.set_text(drawn(words, *room))
        text, haiku = (drawn(words).replace("\n", " ") for words in said)
        if wrong == RIGHT:
            return RIGHT_ONE.format(loss=seen.loss, text=text, haiku=haiku)
        name = next(label for label, value in CHOICES.items() if value == wrong)
        return SEEN.format(name=name, loss=seen.loss, right=right, text=text, haiku=haiku)

    return update


def beside(loss: float, marks: tuple[float, ...]) -> float:
    """Where a reading begins: right of its bar, and of a mark that would run through it."""
    for mark in sorted(marks):
        if loss < mark < loss + AWAY + LONG:
            loss = mark
    return loss + AWAY


def tile_axes(axes: Axes) -> PatchCollection:
    """A tile for each mistake, which can be touched, and its name on it."""
    narrow = is_narrow(axes.figure)
    left, wide, head = (0, SLIM, HEAD) if narrow else (LEFT, WIDE, 0)
    pitch = HIGH + head
    axes.set(xlim=(0, left + COLUMNS * wide), ylim=(len(BLOCKS) * pitch, 0))
    axes.set_axis_off()
    for row, block in enumerate(BLOCKS):
        x, y, side = (GAP, row * pitch + 0.6 * head, "left") if narrow else (LEFT - 0.15, (row + 0.5) * HIGH, "right")
        name = axes.text(x, y, str(block), ha=side, va="center", size=11, color=INK)
        if isinstance(block, str):  # a function
            name.set_family("monospace")
    shapes = []
    for wrong in WRONG:
        row = BLOCKS.index(wrong.block)
        column = [other.id for other in WRONG if other.block == wrong.block].index(wrong.id)
        x, y = left + column * wide, row * pitch + head
        shapes.append(
            FancyBboxPatch(
                (x + GAP / 2, y + GAP / 2), wide - GAP, HIGH - GAP, boxstyle="round,pad=0,rounding_size=0.08"
            )
        )
        words = fill(str(wrong.name), 15) if narrow else str(wrong.name)
        axes.text(x + wide / 2, y + HIGH / 2, words, ha="center", va="center", size=10.5, color=INK, zorder=5)
    patches = axes.add_collection(PatchCollection(shapes, edgecolor=QUIET, linewidth=0.8, animated=True, zorder=2))
    pickable(patches, "wrong", [wrong.id for wrong in WRONG])
    return patches


def loss_axes(axes: Axes, right: float):
    """The bar of the loss, beside marks where it is right and where nothing is known."""
    axes.set(xlim=(0, 23), ylim=(-0.5, 0.5), xlabel=str(LOSS), yticks=[])
    style_axes(axes, edges=("bottom",))
    [bar] = axes.barh([0], [right], 0.5, color=TRUE, animated=True)
    axes.axvline(right, color=INK, linewidth=1.4, linestyle="--")
    axes.axvline(VOCABULARY_LOSS, color=QUIET, linewidth=1.2, linestyle=":")
    for loss, words in (right, RIGHT_LOSS), (VOCABULARY_LOSS, CHANCE):
        axes.text(loss, 0.62, str(words), ha="center", va="bottom", size=9, color=QUIET)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}  # over the marks
    reading = axes.text(right, 0, "", va="center", size=10.5, color=INK, bbox=paper, zorder=6, animated=True)
    return bar, reading


def answer_axes(axes: Axes) -> list[ArtistText]:
    """What is asked, and below each the paper that the answer stands on."""
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    answers = []
    for top, asked in (0.99, FIRST), (0.48, HAIKU):
        axes.text(0.015, top, f"“{asked}”", size=9, color=QUIET, va="top")
        shape = "round,pad=0,rounding_size=0.03"
        axes.add_patch(FancyBboxPatch((0.015, top - 0.44), 0.97, 0.31, boxstyle=shape, fc=PAPER, ec=QUIET))
        lines = axes.text(0.035, top - 0.285, "", size=9, color=INK, va="center", linespacing=1.3, animated=True)
        answers.append(lines)
    return answers


def drawn(answer: str, width: int = LINE, lines: int = LINES) -> str:
    """A recorded answer in lines, a long one up to where there is room; and what the record left out named.

    A dot stands for a character that cannot be seen, as in the record.
    """
    answer = INVISIBLE.sub("·", answer)
    if answer.endswith("…"):
        answer = f"{answer[:-1].rstrip()} {UNFIT}".strip()
    return "\n".join(wrap(answer, width, max_lines=lines, placeholder=" …")) or str(NO_WORD)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {"guess": GUESS, "wrong": Choice(CHOICES, RIGHT, label=Text(en="mistake", zh="错误"))}
    return Panel(wrong_block, size=(10, 5.2), narrow=(4.6, 9), **controls | own)
