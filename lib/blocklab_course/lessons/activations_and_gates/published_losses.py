"""What Shazeer measured: the losses of T5 models with eight kinds of feed-forward network, and what sets two apart.

Source: Shazeer 2020, arXiv:2002.05202, table 1
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import pickable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED

LOSSES = {
    "ReLU": (1.997, 0.005, 1.677),
    "Swish": (1.994, 0.003, 1.683),
    "GELU": (1.983, 0.005, 1.679),
    "GLU": (1.982, 0.006, 1.663),
    "Bilinear": (1.960, 0.005, 1.648),
    "ReGLU": (1.953, 0.003, 1.645),
    "SwiGLU": (1.944, 0.010, 1.636),
    "GEGLU": (1.942, 0.004, 1.633),
}
"""By network: the loss after 65536 steps, its standard deviation over repeated runs, the loss after 524288 steps."""

PLAIN = ("ReLU", "Swish", "GELU")
NAMES = {name: Text(en="bilinear", zh="双线性") if name == "Bilinear" else Text(en=name, zh=name) for name in LOSSES}
SPANS = (1.915, 2.015), (1.61, 1.71)  # as wide as each other, so that a length means the same in both

SHORT = Text(en="loss after 65536 steps, ± 2 standard deviations", zh="65536 步后的损失 ± 2 个标准差")
LONG = Text(en="loss after 524288 steps, one run each", zh="524288 步后的损失（各训练一次）")
WITHOUT = Text(en="no gate", zh="没有门")
WITH = Text(en="gate", zh="有门")
SEEN = Text(
    en="{one} → {other}: {first:.3f} lower, {times:.1f} standard deviations of the difference; after 524288 steps "
    "{later:.3f} lower.",
    zh="{one} → {other}：降低 {first:.3f}，是这个差的标准差的 {times:.1f} 倍；524288 步后降低 {later:.3f}。",
)


def apart(one: str, other: str) -> tuple[float, float, float]:
    """By how much the other's loss is lower, in how many standard deviations of the difference, and lower later."""
    (first, deviation, last), (other_first, other_deviation, other_last) = LOSSES[one], LOSSES[other]
    less = first - other_first
    return less, less / (deviation**2 + other_deviation**2) ** 0.5, last - other_last


def published_losses(figure: Figure) -> Callable[..., str]:
    """A row for each network: on the left the loss after the shorter training, on the right after the longer one.

    update(one, other): the two networks that are compared, by name.
    """
    left = add_axes(figure, wide=(0.08, 0.15, 0.5, 0.72), narrow=(0.18, 0.57, 0.79, 0.38))
    right = add_axes(figure, wide=(0.6, 0.15, 0.38, 0.72), narrow=(0.18, 0.06, 0.79, 0.38))
    rows = {name: -row for row, name in enumerate(LOSSES)}
    for axes, span, title in ((left, SPANS[0], SHORT), (right, SPANS[1], LONG)):
        axes.set(xlim=span, ylim=(-len(rows) + 0.4, 0.6), yticks=[])
        axes.set_title(str(title), size=10 if is_narrow(figure) else 12, color=INK)
        style_axes(axes, grid="x")
    for axes in (left, right) if is_narrow(figure) else (left,):
        axes.set_yticks(list(rows.values()), [str(NAMES[name]) for name in rows])
    bands = [
        axes.plot([], [], color=POKED, alpha=0.25, linewidth=16, solid_capstyle="butt", animated=True)[0]
        for axes in (left, right)
        for _ in range(2)
    ]
    kinds = {}
    for name, (first, deviation, last) in LOSSES.items():
        label, colour = (WITHOUT, OTHER) if name in PLAIN else (WITH, MOVED)
        left.errorbar(first, rows[name], xerr=2 * deviation, color=colour, capsize=4)
        for axes, loss in ((left, first), (right, last)):
            (dot,) = axes.plot(loss, rows[name], "o", color=colour, markersize=9, label=str(label), animated=True)
            pickable(dot, "other", [name])
            kinds[label] = dot
    left.legend(handles=list(kinds.values()), loc="lower right", frameon=False, labelcolor=INK)

    def update(one: str, other: str) -> str:
        for band, name, span in zip(bands, (one, other) * 2, (SPANS[0],) * 2 + (SPANS[1],) * 2, strict=True):
            band.set_data(span, [rows[name]] * 2)
        first, times, later = apart(one, other)
        seen = SEEN.format(one=NAMES[one], other=NAMES[other], first=first, times=times, later=later)
        return seen.replace("-", "−")

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    options = {text: name for name, text in NAMES.items()}
    controls = {
        "one": Choice(options, "ReLU", label=Text(en="from", zh="从")),
        "other": Choice(options, "ReGLU", label=Text(en="to", zh="换成")),
    }
    return Panel(published_losses, size=(10, 3.8), narrow=(4.6, 5.6), **controls | own)
