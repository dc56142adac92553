"""A gated feed-forward network beside the ungated one: what rounding its width up adds, in the last tile and in all."""

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from blocklab.feed_forward import hidden_width, parameter_count
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

TILES = 3  # the last ones, drawn from near
LONGEST = 12.4  # parameters / d_model² that there is room for

LAST_TILES = Text(en="the last tiles\nof the width", zh="宽度的最后几块")
WANTED = Text(en="{wanted} wanted", zh="需要 {wanted}")
ADDED = Text(en="{added} added", zh="多出 {added}")
LEARNED = Text(en="parameters, in units of d_model²", zh="参数量，以 d_model² 为单位")
ROWS = (Text(en="MLP, width 4d", zh="MLP，宽度 4d"), Text(en="SwiGLU, rounded", zh="SwiGLU，取整后"))
SEEN = Text(
    en="8/3 · {d} → {raw}{scaled}. In tiles of {multiple}: {tiles} · {multiple} = {width}, {added} more. "
    "Parameters: {ratio:.4f} times the MLP's.",
    zh="8/3 · {d} → {raw}{scaled}。每块 {multiple}：{tiles} · {multiple} = {width}，多出 {added}。"
    "参数量是 MLP 的 {ratio:.4f} 倍。",
)
SCALED = Text(en=", times {multiplier:.1f} → {wanted}", zh="，乘以 {multiplier:.1f} → {wanted}")


def gated_width(figure: Figure) -> Callable[..., str]:
    """Above the last tiles of the hidden width; below all matrices laid end to end, so that lengths are parameters.

    update(d_model, multiple_of, multiplier): the arguments of `hidden_width`; the multiplier 1.0 changes nothing.
    """
    near = add_axes(figure, wide=(0.145, 0.68, 0.715, 0.17), narrow=(0.3, 0.7, 0.44, 0.15))
    near.set(xlim=(0, TILES), ylim=(0, 1), xticks=[])
    near.set_yticks([0.5], [str(LAST_TILES)])
    near.tick_params(axis="y", length=0)
    style_axes(near, edges=())
    full, rest = box(near, 0, MOVED), box(near, 0, QUIET, hatched=True)
    moving = {"size": 10, "color": INK, "animated": True}
    edges = [near.axvline(at, color=INK, linewidth=2.4, clip_on=False, animated=True) for at in range(TILES + 1)]
    numbers = [near.text(at, -0.14, "", ha="center", va="top", **moving) for at in range(TILES + 1)]
    wanted_text = near.text(0, 1.13, "", ha="right", va="bottom", **moving)
    added_text = near.text(TILES + 0.05, 0.5, "", va="center", **moving)

    totals = add_axes(figure, wide=(0.145, 0.14, 0.835, 0.36), narrow=(0.3, 0.14, 0.67, 0.36))
    totals.set(xlim=(0, LONGEST), ylim=(-0.6, 1.6), xlabel=str(LEARNED), xticks=range(0, 13, 2))
    totals.set_yticks([1, 0], map(str, ROWS))
    totals.tick_params(axis="y", length=0)
    style_axes(totals, edges=("bottom",))
    totals.axvline(8, color=QUIET, linestyle="--", linewidth=1, zorder=0)
    for i in range(2):
        totals.add_patch(Rectangle((4 * i, 0.72), 4, 0.56, facecolor=OTHER, edgecolor="white", linewidth=2))
    matrices = [(box(totals, -0.28, MOVED, 0.56), box(totals, -0.28, QUIET, 0.56, hatched=True)) for _ in range(3)]
    for ours, more in matrices:
        ours.set(edgecolor="white", linewidth=2)
        more.set(zorder=ours.get_zorder() + 1)  # a thin one is not lost in the white gap

    def update(d_model: int, multiple_of: int, multiplier: float) -> str:
        raw = hidden_width(d_model, 1)
        wanted = hidden_width(d_model, 1, multiplier)
        width = hidden_width(d_model, multiple_of, multiplier)
        tiles, added = width // multiple_of, width - wanted
        first, end = max(TILES - tiles, 0), TILES - added / multiple_of
        full.set(x=first, width=end - first)
        rest.set(x=end, width=TILES - end, visible=added > 0)
        for at, (edge, number) in enumerate(zip(edges, numbers, strict=True)):
            number.set_text(str((tiles - TILES + at) * multiple_of))
            for artist in (edge, number):
                artist.set_visible(at >= first)
        wanted_text.set(x=end, text=WANTED.format(wanted=wanted))
        added_text.set_text(ADDED.format(added=added))
        for i, (ours, more) in enumerate(matrices):
            ours.set(x=i * width / d_model, width=wanted / d_model)
            more.set(x=(i * width + wanted) / d_model, width=added / d_model, visible=added > 0)
        last, _ = matrices[2]
        draggable(last, "multiplier", lambda other: (total(d_model, multiple_of, other) / d_model, 0))
        ratio = parameter_count(d_model, width, True, False) / parameter_count(d_model, 4 * d_model, False, False)
        scaled = "" if multiplier == 1 else SCALED.format(multiplier=multiplier, wanted=wanted)
        return SEEN.format(
            d=d_model, raw=raw, scaled=scaled, tiles=tiles, multiple=multiple_of, width=width, added=added, ratio=ratio
        )

    return update


def total(d_model: int, multiple_of: int, multiplier: float) -> int:
    """The widths of three matrices end to end, the last one without what rounding adds."""
    return 2 * hidden_width(d_model, multiple_of, multiplier) + hidden_width(d_model, 1, multiplier)


def box(axes: Axes, low: float, colour: str, high: float = 1.0, hatched: bool = False) -> Rectangle:
    """A moving rectangle without a width yet: solid for what is wanted, hatched for what rounding adds."""
    look = {"facecolor": "white", "hatch": "////", "edgecolor": colour} if hatched else {"facecolor": colour}
    return axes.add_patch(Rectangle((0, low), 0, high, animated=True, **look))


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "d_model": Slider(256, 8192, 256, value=1024, label="d_model"),
        "multiple_of": Slider(1, 1024, 2, value=256, label="multiple_of", log=True),
        "multiplier": Slider(0.5, 1.5, 0.1, value=1.0, label="multiplier"),
    }
    return Panel(gated_width, size=(10, 3.6), narrow=(4.6, 4), **controls | own)
