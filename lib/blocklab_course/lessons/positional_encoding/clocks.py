"""Two rows of the sinusoidal table as the hands of eight clocks, and how alike rows are by their distance."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge

from blocklab.positional_encoding import sinusoidal_encoding, wavelengths
from blocklab_course.i18n import Text
from blocklab_course.lessons.positional_encoding.diverging_colormap import WAVE
from blocklab_course.panel import Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable, pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, INK_ON_COLOUR, MOVED, OTHER, PAPER_ON_COLOUR, QUIET, STILL

WIDTH = 16  # d_model: eight pairs, a clock for each
FARTHEST = 128  # the largest shift
LOW = 1.2  # how far the axis of the similarity reaches
WIDE, HIGH = 10.0, 2.55  # the upper part, in inches, as all that follow
LEFT, STEP = 2.02, 1.05  # the middle of the first clock, and from one clock to the next
CENTRE, RADIUS = 1.76, 0.46
TURNS, WORDS, ROWS = 1.07, 0.83, (0.58, 0.26)  # at what height what stands below the clocks
CELL = (0.48, 0.27)  # the size of a number's field
MARGIN = LEFT - 0.62  # where the words on the left end
SLIM, TALL = 4.6, 2 * HIGH + 0.6  # the upper part on a phone: two rows of clocks, and words above them
HANDS = ((OTHER, 5.5), (MOVED, 2.4))  # colour and width in points, of the first position and of the second

GUESS = Prediction(
    {"1": 1, "6": 6, "22": 22, "44": 44},
    right=44,
    question=Text(
        en="With base 1 all hands turn by 1 radian per position. Which position is most similar to position 0?",
        zh="底数取 1，所有指针每走一个位置都转 1 弧度。哪个位置与位置 0 最相似？",
    ),
    explanation=Text(
        en="It is 44: set base to 1 and shift to 44, and all hands are almost exactly back, with similarity 0.9998.",
        zh="是 44：把“底数”调到 1，“平移”调到 44，所有指针几乎正好转回原处，相似度是 0.9998。",
    ),
)
"""Which position is most similar to position 0 where the base is 1."""

PAIR = Text(en="pair {i}", zh="第 {i} 对")
TURN = Text(en="positions per turn", zh="转一圈的位置数")
UNDER = Text(en="under each clock: positions per turn", zh="钟面下方：转一圈的位置数")
POSITION = Text(en="position {k}", zh="位置 {k}")
DISTANCE = Text(en="distance between the two positions", zh="两个位置的距离")
SIMILARITY = Text(en="similarity", zh="相似度")
SEEN = Text(
    en="Base {base:g}. Positions {k} and {moved}: distance {shift}, similarity {similarity:.4f}. Most alike, of all "
    "distances from 1 to 128: {best}, with {most:.4f}.",
    zh="底数 {base:g}。位置 {k} 与 {moved}：距离 {shift}，相似度 {similarity:.4f}。"
    "在 1 到 128 的各个距离中，最相似的是 {best}，相似度 {most:.4f}。",
)


def similarities(base: float, d_model: int = WIDTH, farthest: int = FARTHEST, position: int = 0) -> np.ndarray:
    """The dot product of a position's row and a later one over both lengths, by their distance from 0 on."""
    rows = sinusoidal_encoding(position + farthest + 1, d_model, base, dtype=torch.float64)[position:]
    return (rows @ rows[0] / (d_model / 2)).numpy()


def clocks(figure: Figure) -> Callable[..., str]:
    """Above a clock for each pair, its two numbers below it; at the bottom the similarity by distance.

    update(position, shift, base): the first position and how far the second one is from it; the base of the
    frequencies.
    """
    width, height = figure.get_size_inches()
    narrow = is_narrow(figure)
    share = TALL / height * width / SLIM if narrow else HIGH / height * width / WIDE
    face = Face(figure.add_axes((0, 1 - share, 1, share)))
    axes = add_axes(figure, wide=(0.07, 0.115, 0.91, 0.315), narrow=(0.13, 0.07, 0.84, 0.15))
    axes.set(xlim=(-1.2, FARTHEST + 1.2), ylim=(-LOW, LOW), yticks=[-1, 0, 1])
    axes.set_xticks(range(0, FARTHEST + 1, 16 if narrow else 8))
    axes.set(xlabel=str(DISTANCE), ylabel=str(SIMILARITY))
    style_axes(axes, grid="both")
    (line,) = axes.plot([], [], color=INK, linewidth=1.4, marker=".", markersize=5, animated=True)
    (ring,) = axes.plot([], [], "o", color=INK, markersize=11, fillstyle="none", animated=True, zorder=5)
    (stem,) = axes.plot([], [], color=MOVED, linewidth=1.4, animated=True)
    (dot,) = axes.plot([], [], "o", color=MOVED, markersize=9, markeredgecolor="white", animated=True, zorder=4)

    def update(position: int, shift: int, base: float) -> str:
        table = sinusoidal_encoding(position + shift + 1, WIDTH, base, dtype=torch.float64).numpy()
        face.show(table[position], table[-1], wavelengths(WIDTH, base, dtype=torch.float64).tolist())
        face.name(position, position + shift)
        curve = similarities(base, position=position)
        line.set_data(range(FARTHEST + 1), curve)
        stem.set_data([shift, shift], [-LOW, curve[shift]])
        dot.set_data([shift], [curve[shift]])
        best = int(curve[1:].argmax()) + 1
        ring.set_data([best], [curve[best]])
        draggable(dot, "shift", lambda shift: (shift, curve[shift]))
        pickable(ring, "shift", [best])
        seen = SEEN.format(
            base=round(base, 1),
            k=position,
            moved=position + shift,
            shift=shift,
            similarity=curve[shift],
            best=best,
            most=curve[best],
        )
        return seen.replace(" -", " −")

    return update


class Face:
    """Eight clocks in a row, or in two on a phone.

    A hand starts at twelve and goes clockwise: its tip is at (sine, cosine).
    """

    def __init__(self, axes: Axes):
        narrow = is_narrow(axes.figure)
        size = (SLIM, TALL) if narrow else (WIDE, HIGH)
        axes.set(xlim=(0, size[0]), ylim=(0, size[1]), xticks=[], yticks=[])
        style_axes(axes, edges=())
        clocks = range(WIDTH // 2)  # each stands above the column of its words
        if narrow:
            feet = [(0.62 + 1.12 * (i % 4), HIGH * (1 - i // 4)) for i in clocks]
        else:
            feet = [(LEFT + STEP * i, 0) for i in clocks]
        self.centres = np.array([(x, y + CENTRE) for x, y in feet])
        around = np.linspace(0, 2 * np.pi, 61)
        rim = np.stack([np.sin(around), np.cos(around)], -1)
        circles = [c + RADIUS * rim for c in self.centres]
        ticks = [(c + 0.88 * RADIUS * mark, c + RADIUS * mark) for c in self.centres for mark in rim[:-1:5]]
        axes.add_collection(LineCollection(circles + ticks, colors=QUIET, linewidths=0.9), autolim=False)
        self.sectors = [axes.add_patch(Wedge(c, 0.8 * RADIUS, 0, 0, color=STILL, animated=True)) for c in self.centres]
        self.hands = [self.hand(axes, *style) for style in HANDS]
        axes.plot(*self.centres.T, "o", color=INK, markersize=3.5, zorder=5)
        moving = {"va": "center_baseline", "zorder": 3, "clip_on": True, "animated": True, "color": INK}
        self.turns = [axes.text(x, y + TURNS, "", size=10, ha="center", **moving) for x, y in feet]
        # The names stand before their rows, on a phone side by side at the top.
        swatches = [(0.2, TALL - 0.17), (2.3, TALL - 0.17)] if narrow else [(0.08, row) for row in ROWS]
        if narrow:
            self.names = [axes.text(x + 0.26, y, "", size=10, ha="left", **moving) for x, y in swatches]
        else:
            self.names = [axes.text(MARGIN, row, "", size=10, ha="right", **moving) for row in ROWS]
        self.cells, self.numbers = [], []
        edges = [(x + side, y) for x, y in feet for side in (-CELL[0], 0)]
        for row, (colour, wide), (left, high) in zip(ROWS, HANDS, swatches, strict=True):
            axes.plot([left, left + 0.16], [high, high], color=colour, linewidth=wide, solid_capstyle="round")
            fields = [Rectangle((x, y + row - CELL[1] / 2), *CELL) for x, y in edges]
            cells = PatchCollection(fields, cmap=WAVE, clim=(-1, 1), edgecolor="white", linewidth=1, animated=True)
            self.cells.append(axes.add_collection(cells, autolim=False))
            self.numbers.append(
                [axes.text(x + CELL[0] / 2, y + row, "", size=9, ha="center", **moving) for x, y in edges]
            )
        still = {"va": "center_baseline", "color": INK, "size": 10}
        if narrow:
            axes.text(0.2, TALL - 0.43, str(UNDER), ha="left", **still)
        else:
            axes.text(MARGIN, TURNS, str(TURN), ha="right", **still)
        for i, (x, y) in enumerate(feet):
            axes.text(x, y + HIGH - 0.14, PAIR.format(i=i), ha="center", **still)
        for (x, y), word in zip(edges, ("sin", "cos") * len(feet), strict=True):
            axes.text(x + CELL[0] / 2, y + WORDS, word, ha="center", va="center_baseline", size=9, color=QUIET)

    @staticmethod
    def hand(axes: Axes, colour: str, wide: float) -> LineCollection:
        hands = LineCollection([], colors=colour, linewidths=wide, capstyle="round", zorder=3, animated=True)
        return axes.add_collection(hands, autolim=False)

    def show(self, first: np.ndarray, second: np.ndarray, turns: list[float]) -> None:
        """Point the hands at two rows of the table, (d,), and write how many positions one turn takes."""
        rows = first, second
        for row, hands, cells, numbers in zip(rows, self.hands, self.cells, self.numbers, strict=True):
            tips = self.centres + 0.8 * RADIUS * row.reshape(-1, 2)
            hands.set_segments(np.stack([self.centres, tips], 1))
            cells.set_array(row)
            for number, value in zip(numbers, row, strict=True):
                number.set_text(f"{round(value, 2) + 0.0:.2f}".replace("-", "−"))
                number.set_color(PAPER_ON_COLOUR if value < -0.42 else INK_ON_COLOUR)
        angles = [np.rad2deg(np.arctan2(row[1::2], row[::2])) for row in rows]  # from three o'clock, counterclockwise
        for sector, start, end in zip(self.sectors, *angles, strict=True):
            sector.set(theta1=end, theta2=start)
        for text, turn in zip(self.turns, turns, strict=True):
            text.set_text(f"{turn:.1f}" if turn < 100 else f"{turn:.0f}")

    def name(self, first: int, second: int) -> None:
        for text, position in zip(self.names, (first, second), strict=True):
            text.set_text(POSITION.format(k=position))


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "position": Slider(0, 500, 5, value=0, label=Text(en="position", zh="位置")),
        "shift": Slider(0, FARTHEST, 1, value=10, label=Text(en="shift", zh="平移")),
        "base": Slider(1.0, 100000.0, 10**0.5, value=10000.0, label=Text(en="base", zh="底数"), log=True),
    }
    return Panel(clocks, size=(WIDE, 4.8), narrow=(SLIM, 7.4), **controls | own)
