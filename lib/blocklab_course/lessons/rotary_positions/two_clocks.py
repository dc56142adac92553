"""The four pairs of a query and of a key as hands that turn with their positions, and the dot product they make."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Wedge

from blocklab.positional_encoding import rotary_embedding
from blocklab_course.i18n import Text, join_words
from blocklab_course.panel import Panel, Prediction, Slider, Toggle
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET, STILL

WIDTH, FARTHEST, LATEST = 8, 60, 1000  # features; the largest position; how far both can be moved on
QUERY = torch.arange(WIDTH, dtype=torch.float64).sin()
KEY = torch.arange(WIDTH, dtype=torch.float64).cos()
FREQUENCIES = "1", "0.1", "0.01", "0.001"
RADIUS, LONGEST = 0.68, 1.25  # of a dial, in inches, and the length of a hand that would reach its rim
NAME, ADDS = 0.84, -0.97  # how far above the middle of a dial its words stand
GRIPPED = 1, 2  # the pairs whose hands are taken hold of: the others go round too often, or hardly move
REACH = 3.3  # how far the axis of the product reaches

GUESS = Prediction(
    {
        Text(en="query at 0, key at 3", zh="查询在 0，键在 3"): "swapped",
        Text(en="query at 1003, key at 1000", zh="查询在 1003，键在 1000"): "later",
        Text(en="both of these", zh="两种都是"): "both",
        Text(en="neither", zh="两种都不是"): "neither",
    },
    right="later",
    question=Text(
        en="With the query at 3 and the key at 0 the dot product is −0.89. Where else is it the same?",
        zh="查询在 3，键在 0，点积是 −0.89。还有哪里的点积也是这个数？",
    ),
    explanation=Text(
        en="Query at 1003 and key at 1000 give −0.8907 again; query at 0 and key at 3 give −0.1003.",
        zh="查询在 1003、键在 1000，点积仍是 −0.8907；查询在 0、键在 3，点积是 −0.1003。",
    ),
)
"""Where the dot product is the same as with the query at 3 and the key at 0."""

POSITION = Text(en="position", zh="位置")
QUERYS, KEYS = Text(en="query", zh="查询"), Text(en="key", zh="键")
PAIR = Text(en="pair {i}, ω = {w}", zh="第 {i} 对，ω = {w}")
ADDED = Text(en="adds {x}", zh="贡献 {x}")
LESS = Text(en="query's position less the key's", zh="查询的位置减键的位置")
PRODUCT = Text(en="dot product", zh="点积")
SEEN = Text(
    en="Query at {m}, key at {n}. The pairs add {added}: dot product {product}.",
    zh="查询在 {m}，键在 {n}。各对贡献 {added}，点积是 {product}。",
)


def turned(x: torch.Tensor, position: float) -> np.ndarray:
    """The pairs of x at a position, (d/2, 2)."""
    return rotary_embedding(x[None], torch.tensor([position]))[0].view(-1, 2).numpy()


def products(distances: np.ndarray) -> np.ndarray:
    """The dot product by the query's position less the key's."""
    queries = rotary_embedding(QUERY.expand(len(distances), -1), torch.from_numpy(distances).double())
    return (queries @ KEY).numpy()


class Layout(NamedTuple):
    """Where things stand in the upper part, in inches."""

    size: tuple[float, float]
    start: float  # position 0 on the line
    step: float  # from one position to the next
    line: float  # the height of the line
    word: tuple[float, float]
    word_side: str
    centres: list[tuple[float, float]]  # of the dials

    def along(self, position: float) -> float:
        """Where a position stands on the line."""
        return self.start + self.step * position


BESIDE = Layout((10.0, 3.05), 1.35, 0.138, 2.62, (1.05, 2.62), "right", [(1.55 + 2.3 * i, 1.14) for i in range(4)])
BELOW = Layout(
    (4.6, 5.4),
    0.35,
    0.06,
    4.74,
    (0.1, 5.22),
    "left",
    [(1.15 + 2.3 * (i % 2), 3.26 - 2.12 * (i // 2)) for i in range(4)],
)
"""The dials in a row, and on a phone two and two."""


def two_clocks(figure: Figure) -> Callable[..., str]:
    """Above the line of positions, in the middle a dial for each pair, at the bottom the dot product.

    update(m, n, later, every): the positions of query and key, how far both are moved on, and whether the dot product
    is drawn for every distance.
    """
    width, height = figure.get_size_inches()
    layout = BELOW if is_narrow(figure) else BESIDE
    share = layout.size[1] / height * width / layout.size[0]
    face = Face(figure.add_axes((0, 1 - share, 1, share)), layout)
    axes = add_axes(figure, wide=(0.075, 0.13, 0.905, 0.235), narrow=(0.13, 0.075, 0.83, 0.16))
    axes.set(xlim=(-FARTHEST - 1, FARTHEST + 1), ylim=(-REACH, REACH))
    axes.set_xticks(range(-FARTHEST, FARTHEST + 1, 20 if is_narrow(figure) else 10))
    axes.set(xlabel=str(LESS), ylabel=str(PRODUCT), yticks=[-3, 0, 3])
    style_axes(axes, grid="both")
    axes.axvline(0, color=QUIET, linewidth=1)
    fine = np.arange(-FARTHEST, FARTHEST + 0.1, 0.25)
    curve = products(fine)
    (line,) = axes.plot([], [], color=INK, linewidth=1.3, animated=True)
    (stem,) = axes.plot([], [], color=MOVED, linewidth=1.6, animated=True)
    (dot,) = axes.plot([], [], "o", color=MOVED, markersize=9, markeredgecolor="white", animated=True, zorder=4)

    def update(m: int, n: int, later: int, every: bool) -> str:
        query, key = turned(QUERY, m + later), turned(KEY, n + later)
        added = (query * key).sum(1)
        face.show(query, key, added)
        face.place(m, n, later)
        line.set_data(*((fine, curve) if every else ([], [])))
        stem.set_data([m - n, m - n], [0, added.sum()])
        dot.set_data([m - n], [added.sum()])
        draggable(dot, "m", lambda m: (m - n, products(np.array([m - n]))[0]))
        terms = join_words(f"{round(x, 2) + 0.0:.2f}" for x in added)
        seen = SEEN.format(m=m + later, n=n + later, added=terms, product=f"{added.sum():.4f}")
        return seen.replace("-", "−")

    return update


class Face:
    """The line of positions with both tokens on it, and under it four dials with a hand of each."""

    def __init__(self, axes: Axes, layout: Layout):
        self.layout, along, line = layout, layout.along, layout.line
        axes.set(xlim=(0, layout.size[0]), ylim=(0, layout.size[1]), xticks=[], yticks=[])
        style_axes(axes, edges=())
        words = {"va": "center_baseline", "ha": "center", "size": 10, "color": INK}
        moving = {"animated": True, "clip_on": True, "zorder": 3} | words
        self.places = range(0, FARTHEST + 1, 10)
        ticks = [((x, line - 0.04), (x, line + 0.04)) for x in map(along, self.places)]
        ends = [((along(0), line), (along(FARTHEST), line))]
        axes.add_collection(LineCollection(ends + ticks, colors=QUIET, linewidths=1), autolim=False)
        axes.text(*layout.word, str(POSITION), **words | {"ha": layout.word_side})
        self.numbers = [axes.text(along(place), line - 0.36, "", **moving | {"size": 9}) for place in self.places]
        self.query = Marker(axes, "v", OTHER, 0.11, QUERYS, layout)
        self.key = Marker(axes, "^", MOVED, -0.11, KEYS, layout)
        draggable(self.query.mark, "m", lambda m: (along(m), line + 0.11))
        draggable(self.key.mark, "n", lambda n: (along(n), line - 0.11))
        rim = np.linspace(0, 2 * np.pi, 61)
        circles = [np.array(c) + RADIUS * np.stack([np.cos(rim), np.sin(rim)], -1) for c in layout.centres]
        axes.add_collection(LineCollection(circles, colors=QUIET, linewidths=0.9), autolim=False)
        self.sectors = [axes.add_patch(Wedge(c, 0.3, 0, 0, color=STILL, animated=True)) for c in layout.centres]
        self.hands = [[hand(axes, *style) for _ in layout.centres] for style in ((OTHER, 5.0), (MOVED, 2.4))]
        axes.plot(*np.transpose(layout.centres), "o", color=INK, markersize=3.5, zorder=5)
        for i, (x, y) in enumerate(layout.centres):
            axes.text(x, y + NAME, PAIR.format(i=i, w=FREQUENCIES[i]), **words)
        self.adds = [axes.text(x, y + ADDS, "", **moving) for x, y in layout.centres]

    def show(self, query: np.ndarray, key: np.ndarray, added: np.ndarray) -> None:
        """Point the hands at pairs, (d/2, 2), and write what each pair adds to the dot product."""
        for hands, pairs in zip(self.hands, (query, key), strict=True):
            for one, centre, pair in zip(hands, self.layout.centres, pairs, strict=True):
                one.set_data(*np.stack([centre, tip(centre, pair)], -1))
        angles = [np.rad2deg(np.arctan2(pairs[:, 1], pairs[:, 0])) for pairs in (query, key)]
        for sector, ahead, behind in zip(self.sectors, *angles, strict=True):
            first, last = (behind, ahead) if (ahead - behind) % 360 < 180 else (ahead, behind)
            sector.set(theta1=first, theta2=last)
        for text, x in zip(self.adds, added, strict=True):
            text.set_text(ADDED.format(x=f"{round(x, 2) + 0.0:.2f}".replace("-", "−")))

    def place(self, m: int, n: int, later: int) -> None:
        for text, place in zip(self.numbers, self.places, strict=True):
            text.set_text(str(place + later))
        self.query.stand(m)
        self.key.stand(n)
        centres = self.layout.centres
        for i in GRIPPED:
            for hands, x, control in zip(self.hands, (QUERY, KEY), ("m", "n"), strict=True):
                draggable(hands[i], control, lambda at, i=i, x=x: tip(centres[i], turned(x, at + later)[i]))


class Marker:
    """A token on the line of positions, with its name beside it."""

    def __init__(self, axes: Axes, shape: str, colour: str, up: float, name: Text, layout: Layout):
        style = {"color": colour, "markersize": 10, "animated": True, "zorder": 4}
        (self.mark,) = axes.plot([], [], shape, **style)
        self.layout, self.height = layout, layout.line + up
        self.name = axes.text(0, layout.line + 1.3 * up, str(name), size=9, color=INK, animated=True, clip_on=True)
        self.name.set(va="center_baseline", zorder=4)

    def stand(self, position: int) -> None:
        x = self.layout.along(position)
        self.mark.set_data([x], [self.height])
        last = position > FARTHEST - (12 if self.layout is BELOW else 6)  # on the right there is no more room
        self.name.set(x=x - 0.12 if last else x + 0.12, ha="right" if last else "left")


def tip(centre: tuple[float, float], pair: np.ndarray) -> np.ndarray:
    return np.array(centre) + RADIUS / LONGEST * pair


def hand(axes: Axes, colour: str, wide: float) -> Line2D:
    (line,) = axes.plot([], [], color=colour, linewidth=wide, solid_capstyle="round", zorder=3, animated=True)
    return line


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "m": Slider(0, FARTHEST, 1, value=3, label=Text(en="query at", zh="查询的位置")),
        "n": Slider(0, FARTHEST, 1, value=0, label=Text(en="key at", zh="键的位置")),
        "later": Slider(0, LATEST, 10, value=0, label=Text(en="both later by", zh="同时后移")),
        "every": Toggle(False, label=Text(en="every distance", zh="画出所有距离")),
    }
    return Panel(two_clocks, size=(10.0, 4.8), narrow=(4.6, 7.2), **controls | own)
