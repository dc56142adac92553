"""Why (n + m − 1) // m rounds up: squares laid in a row and cut into tiles, of which only the whole ones count."""

from collections.abc import Callable

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab.language import Text
from blocklab.panel import Panel, Slider
from blocklab.panel.controls import Control
from blocklab.panel.palette import INK, MOVED, OTHER, QUIET
from blocklab.panel.plain import plain
from blocklab.panel.touch import dragged

MOST, WIDEST = 24, 8  # the largest n and the largest tile that there is room for
NARROWEST = 2.4  # what the words above n squares need
FAINT = 0.25  # of a square that fills no tile

COUNT = Text(en="n = {n}", zh="n = {n}")
ADDED = Text(en="m − 1 = {added} more", zh="再添 m − 1 = {added} 个")
TILES = Text(en="whole tiles of m = {m}: {tiles}", zh="每 m = {m} 个一块，整块数：{tiles}")
LEFT = Text(en="left over: {left}", zh="剩下 {left} 个")
SEEN = Text(
    en="Whole tiles: ({n} + {m} − 1) // {m} = {tiles}, left over: {left}. The width {tiles} × {m} = {width} is the "
    "smallest multiple of {m} that is not below {n}.",
    zh="整块数：({n} + {m} − 1) // {m} = {tiles}，剩下 {left} 个。宽度 {tiles} × {m} = {width}，"
    "是 {m} 的倍数中，不小于 {n} 的最小的一个。",
)


def rounding_tiles(figure: Figure) -> Callable[..., str]:
    """n squares, m − 1 more behind them, and a frame around each whole tile of m.

    update(n, m): how many squares there are, and how many make a tile.
    """
    axes = figure.add_axes((0.01, 0.0, 0.98, 1.0))
    axes.set(xlim=(-0.3, MOST + WIDEST - 0.7), ylim=(-1.5, 2.0), aspect="equal", xticks=[], yticks=[])
    plain(axes, edges=())
    squares = [axes.add_patch(Rectangle((x + 0.08, 0.08), 0.84, 0.84)) for x in range(MOST + WIDEST - 1)]
    frames = [axes.add_patch(Rectangle((0, 0), 1, 1, fill=False, ec=INK, lw=2.4)) for _ in range(MOST)]
    for patch in squares + frames:
        patch.set_animated(True)
    place = {"size": 11, "va": "center", "animated": True}
    count, added = (axes.text(0, 1.5, "", color=colour, **place) for colour in (INK, OTHER))
    tiles_text, left_text = (axes.text(0, -0.7, "", color=colour, **place) for colour in (INK, QUIET))

    dragged(frames[0], "m", lambda m: (m, 0.5))
    dragged(added, "n", lambda n: (max(n, NARROWEST), 1.5))

    def update(n: int, m: int) -> str:
        total = n + m - 1
        tiles, left = divmod(total, m)
        for x, square in enumerate(squares):
            square.set_visible(x < total)
            ours = x < n
            square.set(facecolor=MOVED if ours else "white", edgecolor=MOVED if ours else OTHER)
            square.set_hatch(None if ours else "////")
            square.set_alpha(1 if x < tiles * m else FAINT)
        for i, frame in enumerate(frames):
            frame.set_visible(i < tiles)
            frame.set(x=i * m, width=m)
        count.set_text(COUNT.format(n=n))
        added.set(x=max(n, NARROWEST), text=ADDED.format(added=m - 1))
        tiles_text.set_text(TILES.format(m=m, tiles=tiles))
        left_text.set(x=max(tiles * m, 8.6), text=LEFT.format(left=left))
        left_text.set_visible(left > 0)
        return SEEN.format(n=n, m=m, tiles=tiles, left=left, width=tiles * m)

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "n": Slider(0, MOST, 1, value=13, label=Text(en="n", zh="n")),
        "m": Slider(1, WIDEST, 1, value=5, label=Text(en="m", zh="m")),
    }
    return Panel(rounding_tiles, size=(10, 1.2), **controls | own)
