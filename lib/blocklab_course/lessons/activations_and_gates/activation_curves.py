"""ReLU, GELU and Swish: their curves, their slopes, and how far each is from GELU."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.feed_forward import gelu, relu, swish
from blocklab_course.i18n import Text
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import subplots
from blocklab_course.panel.palette import INK, MOVED, OTHER, QUIET

FAR, POINTS = 5.0, 1001
FLOOR = 1e-6
GRASP = 0.2  # the u where the slope of Swish can be taken hold of: every β gives it another, from 0.5 to 1.1

TITLES = (
    Text(en="f(u)", zh="f(u)"),
    Text(en="slope of f", zh="f 的斜率"),
    Text(en="distance from GELU", zh="与 GELU 之差的绝对值"),
)
GATE = Text(en="u", zh="u")
TANH = Text(en="GELU with tanh", zh="用 tanh 近似的 GELU")
SEEN = Text(
    en="β = {beta:.1f}. Between −5 and 5: slope of Swish {low:.2f} to {high:.2f}; at most {gelu:.3f} from GELU and "
    "{relu:.3f} from ReLU.",
    zh="β = {beta:.1f}。在 −5 到 5 之间：Swish 的斜率从 {low:.2f} 到 {high:.2f}；与 GELU 最多相差 {gelu:.3f}，"
    "与 ReLU 最多相差 {relu:.3f}。",
)


def activation_curves(figure: Figure) -> Callable[..., str]:
    """Three axes over the same u: the functions, their slopes, and the distances from GELU on a logarithmic axis.

    update(beta): the β of Swish.
    """
    wide = {"left": 0.05, "right": 0.985, "bottom": 0.13, "top": 0.91, "wspace": 0.2}
    narrow = {"left": 0.13, "right": 0.97, "bottom": 0.06, "top": 0.96, "hspace": 0.45}
    curves, slopes, distances = all_axes = subplots(figure, 3, wide, narrow)
    for axes, title in zip(all_axes, TITLES, strict=True):
        axes.set_title(str(title), size=12, color=INK)
        axes.set(xlim=(-FAR, FAR), xlabel=str(GATE), xticks=[-4, -2, 0, 2, 4])
        style_axes(axes, grid="both")
    curves.set(ylim=(-1.2, 4.2), yticks=[-1, 0, 1, 2, 3, 4])
    slopes.set(ylim=(-0.35, 1.35), yticks=[0, 0.5, 1])
    distances.set(yscale="log", ylim=(FLOOR, 30), yticks=[1e-6, 1e-4, 1e-2, 1])
    distances.minorticks_off()
    u = np.linspace(-FAR, FAR, POINTS)
    (relu_curve, relu_slope), (gelu_curve, gelu_slope) = with_slope(relu), with_slope(gelu)
    tanh_curve, _ = with_slope(lambda u: gelu(u, approximate="tanh"))
    for axes, still_relu, still_gelu in ((curves, relu_curve, gelu_curve), (slopes, relu_slope, gelu_slope)):
        axes.plot(u, still_relu, "--", color=QUIET, linewidth=1.6, label="ReLU")
        axes.plot(u, still_gelu, "-", color=OTHER, linewidth=1.8, label="GELU")
    distances.plot(u, shown(relu_curve - gelu_curve), "--", color=QUIET, linewidth=1.6)
    distances.plot(u, shown(tanh_curve - gelu_curve), ":", color=INK, linewidth=1.6, label=str(TANH))
    moving = [
        axes.plot([], [], "-", color=MOVED, linewidth=2.2, label="Swish", animated=True, zorder=3)[0]
        for axes in all_axes
    ]
    (knob,) = slopes.plot([], [], "o", color=MOVED, markersize=9, markeredgecolor="white", animated=True, zorder=4)
    name = slopes.text(1.0, 0.3, "", size=12, color=INK, animated=True)
    draggable(knob, "beta", held)
    curves.legend(loc="upper left", frameon=False, labelcolor=INK)
    distances.legend(handles=distances.lines[1:2], loc="upper left", frameon=False, labelcolor=INK)

    def update(beta: float) -> str:
        curve, slope = with_slope(lambda u: swish(u, beta))
        for line, values in zip(moving, (curve, slope, shown(curve - gelu_curve)), strict=True):
            line.set_data(u, values)
        x, y = held(beta)
        knob.set_data([x], [y])
        name.set_text(f"β = {beta:.1f}")
        return SEEN.format(
            beta=beta,
            low=slope.min(),
            high=slope.max(),
            gelu=np.abs(curve - gelu_curve).max(),
            relu=np.abs(curve - relu_curve).max(),
        ).replace(" -", " −")

    return update


def with_slope(f: Callable[[Tensor], Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """f and its derivative at the POINTS of the picture."""
    u = torch.linspace(-FAR, FAR, POINTS, dtype=torch.float64, requires_grad=True)
    y = f(u)
    (slope,) = torch.autograd.grad(y.sum(), u)
    return y.detach().numpy(), slope.numpy()


@lru_cache(1024)
def held(beta: float) -> tuple[float, float]:
    """Where the slope of Swish can be taken hold of."""
    u = torch.tensor(GRASP, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(swish(u, beta), u)
    return GRASP, slope.item()


def shown(difference: np.ndarray) -> np.ndarray:
    """Its size, kept on the logarithmic axis where it is 0."""
    return np.maximum(np.abs(difference), FLOOR / 10)


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    beta = Slider(0.0, 10.0, 0.1, value=1.0, label=Text(en="β", zh="β"))
    return Panel(activation_curves, size=(10, 3.8), narrow=(4.6, 7.6), **{"beta": beta} | own)
