"""How alike the rows of a learned position table are, beside those of the sinusoidal one of the same size."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import normalize

from blocklab.positional_encoding import sinusoidal_encoding
from blocklab_course.i18n import Text
from blocklab_course.lessons.positional_encoding.diverging_colormap import WAVE
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED, fixed

NEAR = 40  # how far to either side the curves reach
FEW = 200  # positions; of more the slider reaches every fifth
LEAST = -1  # the end of the colours

LEARNED = Text(en="learned", zh="学到的")
SINES = Text(en="sines", zh="正弦")
POSITION = Text(en="position", zh="位置")
OFFSET = Text(en="offset from the chosen position", zh="相对于所选位置的偏移")
SIMILARITY = Text(en="similarity", zh="相似度")
AND = Text(en=" and ", zh="、")
SEEN = Text(
    en="Position {k}, learned: most like position {best} ({most:.2f}), least like {worst} ({least:.2f}). Sines: most "
    "like {best_sines} ({most_sines:.2f}), least like {worst_sines} ({least_sines:.2f}).",
    zh="位置 {k}：在学到的表里，与位置 {best} 最相似（{most:.2f}），与 {worst} 最不相似（{least:.2f}）；"
    "在正弦表里，与 {best_sines} 最相似（{most_sines:.2f}），与 {worst_sines} 最不相似（{least_sines:.2f}）。",
)


def cosines(table: Tensor) -> Tensor:
    """The similarity of every two rows of a table, (L, d) to (L, L): dot product over the product of the lengths."""
    rows = normalize(table.double(), dim=1)
    return rows @ rows.T


def learned_positions(table: Tensor) -> Callable[[Figure], Callable[..., str]]:
    """The picture of a learned table, (L, d): the similarity of every two rows, and one row of that as a curve.

    update(position): whose row.
    """
    length = len(table)
    pairs = cosines(table).numpy(), cosines(sinusoidal_encoding(*table.shape)).numpy()
    styles = (LEARNED, MOVED, "o"), (SINES, OTHER, None)

    def picture(figure: Figure) -> Callable[..., str]:
        curve_axes = add_axes(figure, wide=(0.745, 0.15, 0.24, 0.74), narrow=(0.19, 0.08, 0.78, 0.32))
        curve_axes.set(xlim=(-NEAR - 1, NEAR + 1), ylim=(-0.4, 1.05), xlabel=str(OFFSET), ylabel=str(SIMILARITY))
        style_axes(curve_axes, grid="both")
        lines, curves = [], []
        for i, (values, (name, colour, marker)) in enumerate(zip(pairs, styles, strict=True)):
            wide, narrow = (0.06 + 0.28 * i, 0.15, 0.26, 0.74), (0.14 + 0.355 * i, 0.58, 0.33, 0.36)
            lines.append(map_axes(add_axes(figure, wide, narrow), values, str(name)))
            style = {"color": colour, "linewidth": 1.6, "marker": marker, "markersize": 3, "label": str(name)}
            curves.append(curve_axes.plot([], [], animated=True, **style)[0])
        for line in lines:
            draggable(line, "position", lambda position: (0, position))
        figure.axes[1].set_ylabel(str(POSITION))
        figure.axes[2].tick_params(labelleft=False)
        key = add_axes(figure, wide=(0.615, 0.15, 0.012, 0.74), narrow=(0.86, 0.58, 0.025, 0.36))
        key.imshow(np.linspace(1, LEAST, 201)[:, None], cmap=WAVE, aspect="auto", extent=(0, 1, LEAST, 1))
        key.set(xticks=[], yticks=[-1, -0.5, 0, 0.5, 1])
        key.yaxis.tick_right()
        key.set_title(str(SIMILARITY), size=9, color=INK, pad=9, loc="right" if is_narrow(figure) else "center")
        style_axes(key, edges=())
        curve_axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=2, frameon=False)

        def update(position: int) -> str:
            low, high = max(position - NEAR, 0), min(position + NEAR + 1, length)
            for line, curve, values in zip(lines, curves, pairs, strict=True):
                line.set_ydata([position, position])
                curve.set_data(np.arange(low, high) - position, values[position, low:high])
            learned, sines = (extremes(values[position], position) for values in pairs)
            seen = SEEN.format(k=position, **learned, **{f"{name}_sines": value for name, value in sines.items()})
            return seen.replace("-", "−")

        return update

    return picture


def extremes(similarity: np.ndarray, position: int) -> dict[str, object]:
    """Which other positions are most like this one, and which one least, and how much."""
    others = similarity.round(6)  # two neighbours that rounding alone tells apart are equal
    others[position] = np.nan
    most, worst = np.nanmax(others), int(np.nanargmin(others))
    best = str(AND).join(map(str, np.flatnonzero(others == most)))
    return {"best": best, "most": most, "worst": worst, "least": others[worst]}


def map_axes(axes: Axes, values: np.ndarray, name: str):
    """All similarities as a heat map, and the line that marks a row."""
    axes.imshow(values, cmap=WAVE, vmin=LEAST, vmax=1, aspect="auto")
    axes.set_title(name, size=11, color=INK)
    axes.set_xlabel(str(POSITION))
    return axes.axhline(0, color=fixed(POKED), linewidth=1.6, animated=True)


def panel(table: Tensor, **own: Control) -> Panel:
    """The picture of this table with its controls; `own` replaces some of them."""
    last = len(table) - 1
    step = 1 if len(table) <= FEW else 5
    end = last - last % step
    position = Slider(0, end, step, value=min(100, end), label=Text(en="position", zh="位置"))
    return Panel(learned_positions(table), size=(10, 4.2), narrow=(4.6, 5.6), **{"position": position} | own)
