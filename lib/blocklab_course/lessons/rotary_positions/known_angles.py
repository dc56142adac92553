"""How often each pair turns between query and key, at most, as trained and in a longer text: which meet new angles."""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import Tensor

from blocklab.rope_scaling import llama3_scaling, ntk_aware, position_interpolation, rotary_frequencies, yarn
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.drag import draggable
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, MOVED, OTHER, POKED, QUIET, STILL
from blocklab_course.pretrained.rotary_models import RotaryModel, rotary_models

MODELS = "SmolLM2 135M", "Llama-2 7B", "Llama-3 8B", "glassllm"
LARGEST = 32  # the largest factor
RULES = {
    "none": Text(en="none", zh="不用"),
    "interpolation": Text(en="position interpolation", zh="位置插值"),
    "ntk": Text(en="NTK-aware", zh="NTK-aware"),
    "yarn": Text(en="YaRN", zh="YaRN"),
    "llama3": Text(en="Llama 3.1", zh="Llama 3.1"),
}

PAIRS = Text(en="pair", zh="第几对")
TURNS = Text(en="turns", zh="圈数")
SLOWED = Text(en="frequency, as a share of the trained one", zh="频率是训练时的几倍")
KNOWN = Text(en="at the trained length", zh="训练长度内")
ASKED = Text(en="at the new length", zh="新长度内")
NEW = Text(en="meets new angles", zh="遇到新角度")
ONE_TURN = Text(en="one turn", zh="一圈")
SEEN = Text(
    en="{model}: {pairs} pairs, base {base}, trained on {length} positions; {never} pairs never make a full turn "
    "there. With {longer} positions, rule {rule}: {new} of them meet new angles.",
    zh="{model}：{pairs} 对，底数 {base}，训练长度 {length}，其中 {never} 对从未转满一圈。"
    "长度变为 {longer}，规则：{rule}，遇到新角度的有 {new} 对。",
)


def frequencies_by(rule: str, model: RotaryModel, factor: float) -> Tensor:
    """The frequencies, (d/2,), with which a rule reads texts that are longer by the factor."""
    d, base = model.rotated, model.base
    return {
        "none": lambda: rotary_frequencies(d, base),
        "interpolation": lambda: position_interpolation(d, base, factor),
        "ntk": lambda: ntk_aware(d, base, factor),
        "yarn": lambda: yarn(d, base, factor, model.length),
        "llama3": lambda: llama3_scaling(d, base, factor, model.length),
    }[rule]()


def known_and_asked(rule: str, model: RotaryModel, factor: float) -> tuple[Tensor, Tensor, Tensor]:
    """By pair: its turns over the trained length, its turns over the new one, and whether it meets new angles.

    The angle is that between query and key, whose distance is at most the length. A pair that makes a full turn in
    training has met every one.
    """
    known = model.length * rotary_frequencies(model.rotated, model.base) / (2 * torch.pi)
    asked = factor * model.length * frequencies_by(rule, model, factor) / (2 * torch.pi)
    return known, asked, (known < 1) & (asked > known * (1 + 1e-9))


def known_angles(figure: Figure) -> Callable[..., str]:
    """Left the turns of each pair, from those of the trained length to those of the new one; right how it is slowed.

    update(model, rule, factor): a name of MODELS, a key of RULES, how many times as long the text is.
    """
    models = rotary_models()
    left = add_axes(figure, wide=(0.085, 0.14, 0.52, 0.72), narrow=(0.18, 0.51, 0.79, 0.36))
    right = add_axes(figure, wide=(0.69, 0.14, 0.29, 0.72), narrow=(0.18, 0.07, 0.79, 0.32))
    left.set_yscale("log")
    left.set(ylim=(2e-3, 6e4), xlabel=str(PAIRS), ylabel=str(TURNS))
    left.set_yticks([0.01, 0.1, 1, 10, 100, 1000, 10000], ["0.01", "0.1", "1", "10", "100", "1000", "10000"])
    left.minorticks_off()
    right.set(ylim=(0, 1.06), xlabel=str(PAIRS), yticks=[0, 0.25, 0.5, 0.75, 1])
    right.set_title(str(SLOWED), size=10.5, color=INK)
    for axes in (left, right):
        style_axes(axes, grid="y")
    left.axhline(1, color=INK, linewidth=1.4)
    left.annotate(str(ONE_TURN), (1, 1), (-2, 4), xycoords=("axes fraction", "data"), textcoords="offset points",
                  ha="right", size=9, color=INK)  # fmt: skip
    way = LineCollection([], linewidths=2.2, zorder=1, animated=True)
    left.add_collection(way, autolim=False)
    style = {"linestyle": "", "animated": True}
    (known_dots,) = left.plot([], [], marker="o", markersize=4, color=OTHER, label=str(KNOWN), **style)
    (asked_dots,) = left.plot([], [], marker="o", markersize=4.5, mfc="none", color=MOVED, label=str(ASKED), **style)
    (new_dots,) = left.plot([], [], marker="D", markersize=5, color=POKED, label=str(NEW), **style)
    columns = 1 if is_narrow(figure) else 3
    figure.legend(handles=[known_dots, asked_dots, new_dots], loc="upper left", bbox_to_anchor=(0.08, 0.99),
                  ncols=columns, frameon=False, handletextpad=0.2, columnspacing=1.2)  # fmt: skip
    (slowed,) = right.plot([], [], color=MOVED, marker="o", markersize=3, linewidth=1.4, animated=True)
    floor = right.axhline(1, color=QUIET, linewidth=1.6, linestyle="--", animated=True)
    name = right.text(0.03, 0, "1/s", transform=right.get_yaxis_transform(), size=9, color=INK, animated=True)
    name.set(va="bottom")
    draggable(floor, "factor", lambda factor: (right.get_xlim()[0], 1 / factor))

    def update(model: str, rule: str, factor: int) -> str:
        chosen = models[model]
        known, asked, new = (by_pair.numpy() for by_pair in known_and_asked(rule, chosen, factor))
        pairs = np.arange(chosen.pairs)
        if left.get_xlim()[1] != chosen.pairs:  # draws all anew
            for axes in (left, right):
                axes.set_xlim(-1, chosen.pairs)
        way.set_segments(np.stack([pairs, known, pairs, asked], -1).reshape(-1, 2, 2))
        way.set_colors([POKED if leaves else STILL for leaves in new])
        known_dots.set_data(pairs, known)
        asked_dots.set_data(pairs[~new], asked[~new])
        new_dots.set_data(pairs[new], asked[new])
        slowed.set_data(pairs, frequencies_by(rule, chosen, factor) / rotary_frequencies(chosen.rotated, chosen.base))
        floor.set_ydata([1 / factor] * 2)
        name.set_y(1 / factor)
        return SEEN.format(
            model=model,
            pairs=chosen.pairs,
            base=int(chosen.base),
            length=chosen.length,
            never=int((known < 1).sum()),
            longer=factor * chosen.length,
            rule=RULES[rule],
            new=int(new.sum()),
        )

    return update


def panel(**own: Control) -> Panel:
    """The picture with its controls; `own` replaces some of them."""
    rules = {name: key for key, name in RULES.items()}
    controls = {
        "model": Choice({name: name for name in MODELS}, MODELS[0], label=Text(en="model", zh="模型")),
        "rule": Choice(rules, "none", label=Text(en="rule", zh="规则")),
        "factor": Slider(1, LARGEST, 2, value=4, label=Text(en="times as long", zh="长度的倍数"), log=True),
    }
    return Panel(known_angles, size=(10, 4.2), narrow=(4.6, 7), **controls | own)
