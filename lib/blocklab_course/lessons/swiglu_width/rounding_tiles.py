"""Why (n + m − 1) // m rounds up: for every remainder, n squares and m − 1 more, cut into tiles of m."""

from collections.abc import Callable

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab_course.i18n import Text
from blocklab_course.panel import Panel
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER

TILE = 5
NUMBERS = range(3 * TILE, 4 * TILE)  # one for every remainder, from 0 on
HIGH = 0.74  # of a square, in units of its width
APART = 1.25  # from row to row
FAINT = 0.25  # of a square that fills no tile

COUNTED = Text(en="whole tiles: {tiles}, left over: {left}", zh="整块数 {tiles}，剩下 {left} 个")
SEEN = Text(
    en="Tiles of {tile}, with {added} squares added: {first} squares make {tiles} whole tiles, {second} to {last} make "
    "{more}.",
    zh="每 {tile} 个一块，各添 {added} 个方格：{first} 个方格得到 {tiles} 个整块，"
    "{second} 到 {last} 个得到 {more} 个。",
)


def rounding_tiles(figure: Figure) -> Callable[[], str]:
    """A row for each number of squares: theirs, those added (hatched), and a frame around each whole tile."""
    longest = NUMBERS[-1] + TILE - 1
    narrow = is_narrow(figure)
    axes = add_axes(figure, wide=(0.07, 0.0, 0.92, 1.0), narrow=(0.14, 0.0, 0.85, 1.0))
    # Words below the rows, or beside them.
    apart, low, right = (APART + 0.75, 0.9, 0.2) if narrow else (APART, 0.3, 8.5)
    axes.set(xlim=(-0.2, longest + right), ylim=(-apart * (len(NUMBERS) - 1) - low, 1.05), xticks=[])
    axes.set_yticks([HIGH / 2 - apart * row for row in range(len(NUMBERS))], [f"n = {n}" for n in NUMBERS])
    axes.tick_params(axis="y", length=0)
    style_axes(axes, edges=())
    for row, n in enumerate(NUMBERS):
        low, total = -apart * row, n + TILE - 1
        tiles, left = divmod(total, TILE)
        for x in range(total):
            look = {"fc": MOVED, "ec": MOVED} if x < n else {"fc": "white", "ec": OTHER, "hatch": "////"}
            alpha = 1 if x < tiles * TILE else FAINT
            axes.add_patch(Rectangle((x + 0.08, low), 0.84, HIGH, alpha=alpha, **look))
        for tile in range(tiles):
            axes.add_patch(Rectangle((tile * TILE, low - 0.1), TILE, HIGH + 0.2, fill=False, ec=INK, lw=2.2))
        counted = COUNTED.format(tiles=tiles, left=left)
        place = (0, low - 0.5) if narrow else (longest + 0.6, low + HIGH / 2)
        axes.text(*place, counted, size=11, color=INK, va="center")

    def update() -> str:
        tiles, *more = [(n + TILE - 1) // TILE for n in NUMBERS]
        return SEEN.format(
            tile=TILE,
            added=TILE - 1,
            first=NUMBERS[0],
            second=NUMBERS[1],
            last=NUMBERS[-1],
            tiles=tiles,
            more=max(more),
        )

    return update


def panel() -> Panel:
    """The picture; nothing in it can be moved."""
    return Panel(rounding_tiles, size=(10, 2.5), narrow=(4.6, 3.8))
