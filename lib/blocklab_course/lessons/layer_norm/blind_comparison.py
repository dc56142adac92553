"""Four published formulas beside LayerNorm, by the size of the input: a test is blind where the curves are low."""

import math
from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from blocklab.normalization import layer_norm, standardize
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Prediction, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.numbers import short_number
from blocklab_course.panel.palette import INK, MOVED, POKED, QUIET, TRUE

EPS = 1e-5
CUSP = (1 - EPS) / 2  # where std + ε and the root of variance + ε agree
SMALLEST, LARGEST = 1e-6, 1e3  # σ
EVENLY = torch.logspace(math.log10(SMALLEST), math.log10(LARGEST), 401, dtype=torch.float64)
SIZES = torch.cat([EVENLY, torch.tensor([CUSP]).double()]).sort().values
ROW = standardize(torch.linspace(-1, 1, 20, dtype=torch.float64), 0, eps=0.0)  # mean 0, standard deviation 1
FLOOR, CEILING = 1e-10, 20.0
OPENING = 1.0  # the curves from this size on give nothing away
BEGIN = 1.0  # where the slider is first
NEAR = 0.02  # decades: the slider cannot stop at the cusp itself
ROOM = 1e-3  # σ from which on words fit on the part without curves
DTYPES = {"float64": torch.float64, "float16": torch.float16}
MARKS = {"torch.rand": 12**-0.5, "torch.randn": 1.0}

TENTH = 0.1  # the difference that the reader looks for
GUESS = Prediction(
    {
        Text(en="σ = 0.1", zh="σ = 0.1"): "the tenth itself",
        Text(en="σ = 0.006", zh="σ = 0.006"): "near the root of ε",
        Text(en="σ = 0.0001", zh="σ = 0.0001"): "between",
        Text(en="σ = 0.00001, like ε", zh="σ = 0.00001，与 ε 一样"): "like ε",
    },
    right="near the root of ε",
    question=Text(
        en="ε is 0.00001. From which σ down is “std + ε” off by a tenth?",
        zh="ε 是 0.00001。σ 小到多少，“标准差 + ε”就会有十分之一的误差？",
    ),
    explanation=Text(
        en="At 0.006 already: drag σ to the left, and there the orange dot is at 0.1. There the ε of the line "
        "does next to nothing; that of the right formula is added to σ², which is 0.000036.",
        zh="到 0.006 就有了：把 σ 往左拖，橙色曲线上的点在那里到了 0.1。ε 这时对那行代码几乎没有影响；"
        "受影响的是正确的公式，它把 ε 加到 σ² 上，而 σ² 是 0.000036。",
    ),
)
"""How small an input is when std + ε differs by a tenth."""


def parts(x: Tensor) -> tuple[Tensor, Tensor]:
    centred = x - x.mean(-1, keepdim=True)
    return centred, centred.square().mean(-1, keepdim=True)


def outside(x: Tensor) -> Tensor:
    centred, variance = parts(x)
    return centred / (variance.sqrt() + EPS)


def twice(x: Tensor) -> Tensor:
    centred, variance = parts(x)
    return centred / (variance + EPS + EPS).sqrt()


def without(x: Tensor) -> Tensor:
    centred, variance = parts(x)
    return centred / variance.sqrt()


def unbiased(x: Tensor) -> Tensor:
    centred, variance = parts(x)
    return centred / (variance * (x.shape[-1] / (x.shape[-1] - 1)) + EPS).sqrt()


def right(x: Tensor) -> Tensor:
    centred, variance = parts(x)
    return centred / (variance + EPS).sqrt()


FORMULAS = (
    (Text(en="std + ε", zh="标准差 + ε"), outside, MOVED, "-"),
    (Text(en="ε added twice", zh="ε 加了两次"), twice, POKED, "--"),
    (Text(en="no ε", zh="没有 ε"), without, QUIET, "-."),
    (Text(en="divided by d − 1", zh="分母取 d − 1"), unbiased, INK, ":"),
    (Text(en="right, as written", zh="正确的写法"), right, TRUE, "-"),
)
SIZE = Text(en="standard deviation σ of the input", zh="输入的标准差 σ")
ERROR = Text(en="largest difference / largest output without ε", zh="相对误差：最大偏差 / 没有 ε 时的最大输出")
A_TENTH = Text(en="a tenth", zh="十分之一")
HIDDEN = Text(en="drag σ to the left:\nthe curves follow", zh="把 σ 往左拖，\n曲线就会画出来")
SEEN = Text(
    en="σ = {sigma}: std + ε differs by {outside}, ε twice by {twice}, no ε by {without}, d − 1 by {unbiased}.",
    zh="σ = {sigma}：与层归一化的差别，标准差 + ε 为 {outside}，ε 加两次为 {twice}，没有 ε 为 {without}，"
    "分母取 d − 1 为 {unbiased}。",
)
SEEN_RIGHT = Text(en=" The right formula: {right}.", zh="正确的写法：{right}。")
INFINITE = Text(en="infinity", zh="无穷大")


def differences(sizes: Tensor, formula: Callable, dtype: torch.dtype) -> np.ndarray:
    """How far a formula, computed in the type, is from LayerNorm in float64, for inputs of these sizes.

    As a fraction of the largest output without ε, so that 1 means that all of it is wrong. NaN counts as that.
    """
    x = sizes[:, None] * ROW
    error = (formula(x.to(dtype)).double() - layer_norm(x, (len(ROW),), eps=EPS)).abs().amax(-1)
    return (error / ROW.abs().max()).nan_to_num(1.0, posinf=float("inf")).numpy()


def blind_comparison(figure: Figure) -> Callable[..., str]:
    """The difference of each formula on logarithmic axes, a movable size, and the sizes that random tests use.

    update(sigma, dtype): the standard deviation, and "float64" or "float16". Left of OPENING the curves reach as far as
    sigma does: where they drop is seen by whoever goes there.
    """
    axes = add_axes(figure, wide=(0.075, 0.15, 0.66, 0.78), narrow=(0.16, 0.32, 0.8, 0.65))
    axes.set(xscale="log", yscale="log", xlim=(SMALLEST, LARGEST), ylim=(FLOOR, CEILING))
    axes.set(xlabel=str(SIZE), ylabel=str(ERROR))
    axes.set_yticks([1e-9, 1e-6, 1e-3, 1])
    style_axes(axes, grid="both")
    axes.axhline(TENTH, color=QUIET, linewidth=0.8, linestyle=":", zorder=2.3)
    axes.text(LARGEST / 1.3, 1.2 * TENTH, str(A_TENTH), size=9, color=QUIET, ha="right")
    for i, (name, size) in enumerate(MARKS.items()):
        axes.axvline(size, color=QUIET, linewidth=0.8, linestyle=":", zorder=2.3)
        side = {"ha": "right", "x": size / 1.15} if i == 0 else {"ha": "left", "x": size * 1.15}
        axes.text(y=2 * FLOOR, s=name, size=9, color=QUIET, family="monospace", **side)
    curves, points = {}, {}
    for kind, dtype in DTYPES.items():
        for name, formula, colour, dashes in FORMULAS:
            if not (formula is right and kind == "float64"):  # rounding only
                points[kind, formula] = np.clip(differences(SIZES, formula, dtype), FLOOR / 10, 10 * CEILING)
                (curves[kind, formula],) = axes.plot([], [], dashes, color=colour, linewidth=1.8, label=str(name))
    line = axes.axvline(1.0, color=INK, linewidth=1, animated=True, zorder=4)
    (dots,) = axes.plot([], [], "o", color=INK, markersize=5, animated=True, zorder=5)
    draggable(line, "sigma", lambda sigma: (sigma, (FLOOR * CEILING) ** 0.5))
    cover = Rectangle((SMALLEST, 0), 0, 1, transform=axes.get_xaxis_transform(), color="white", zorder=2.2)
    cover.set(linewidth=0, animated=True)
    axes.add_patch(cover)
    waiting = axes.text(0, 1e-6, str(HIDDEN), size=11, color=QUIET, ha="center", va="center", animated=True, zorder=2.5)
    shown = []

    def show(kind: str) -> None:
        shown[:] = [kind]
        for (of, formula), curve in curves.items():
            curve.set_data((SIZES.numpy(), points[of, formula]) if of == kind else ([], []))
        handles = [curve for (of, _), curve in curves.items() if of == kind]
        beside = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17)}
        axes.legend(handles=handles, **(below if is_narrow(figure) else beside), frameon=False, labelcolor=INK)

    def update(sigma: float, dtype: str) -> str:
        if shown != [dtype]:
            show(dtype)
        sigma = CUSP if abs(math.log10(sigma / CUSP)) < NEAR else sigma
        line.set_xdata([sigma, sigma])
        edge = min(sigma, OPENING)
        cover.set_width(edge - SMALLEST)
        waiting.set(x=(SMALLEST * edge) ** 0.5, visible=edge > ROOM)
        at = torch.tensor([sigma], dtype=torch.float64)
        here = {f.__name__: float(differences(at, f, DTYPES[dtype])[0]) for _, f, _, _ in FORMULAS}
        of_kind = [formula.__name__ for kind, formula in curves if kind == dtype]
        dots.set_data([sigma] * len(of_kind), [max(here[name], FLOOR) for name in of_kind])
        words = {name: short_number(error, 2) if error < math.inf else str(INFINITE) for name, error in here.items()}
        seen = SEEN.format(sigma="0.499995" if sigma == CUSP else short_number(sigma), **words)
        return seen + SEEN_RIGHT.format(**words) if dtype == "float16" else seen

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    controls = {
        "guess": GUESS,
        "sigma": Slider(SMALLEST, LARGEST, 10**0.1, value=BEGIN, label=Text(en="σ", zh="σ"), log=True),
        "dtype": Choice({name: name for name in DTYPES}, "float64", label=Text(en="dtype", zh="数据类型")),
    }
    return Panel(blind_comparison, size=(10, 4.4), narrow=(4.6, 5.4), **controls | own)
