"""How many widths the rule finds when they are drawn at random: what its hits are worth."""

from collections.abc import Callable
from functools import partial

import torch
from matplotlib.figure import Figure

from blocklab.feed_forward import hidden_width
from blocklab_course.i18n import Text
from blocklab_course.lessons.swiglu_width.published_widths import (
    ARGUMENTS,
    MULTIPLES,
    Model,
    Rule,
    in_reach,
    published_models,
    widths_by_rule,
)
from blocklab_course.panel import Panel
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.narrow import add_axes
from blocklab_course.panel.palette import INK, MOVED, OTHER

DRAWS = 100
MOST = 8  # times d_model: the widest that is drawn
COLOURS = {"published": OTHER, "fitted": MOVED}
NAMES = {arguments: name for name, arguments in ARGUMENTS.items()}

FOUND = Text(en="models found, of {models}", zh="对上的模型个数（共 {models} 个）")
TIMES = Text(en="draws", zh="次数")
REAL = Text(en="{found}: the real widths", zh="{found}：真实的宽度")
SEEN = Text(
    en="Of {models} random widths, “as published” finds {published}, “whatever fits” {fitted}.",
    zh="{models} 个随机宽度里，“用公布的取值”{published}，“凑出来的取值”{fitted}。",
)
ON_AVERAGE = Text(en="{mean:.0f} on average ({low} to {high})", zh="平均对上 {mean:.0f} 个（{low} 到 {high} 个）")


def invented_width(model: Model, generator: torch.Generator, most: int = MOST) -> int:
    """A random width from 2 to `most` times d_model, as round as the real one: a multiple of the same power of 2."""
    step = min(model.hidden & -model.hidden, MULTIPLES[-1])  # the lowest bit that is set
    least, last = -(-2 * model.d_model // step), most * model.d_model // step
    return step * int(torch.randint(least, last + 1, (), generator=generator))


def others() -> list[Model]:
    """The models whose arguments are not published: the widths of the rest came out of the rule."""
    return [model for model in published_models() if not model.stated]


def reached(arguments: str, model: Model, rule: Rule) -> set[int]:
    """The widths that the rule can give this model, with its arguments published or free."""
    return in_reach(model, rule) if arguments == "fitted" else {widths_by_rule(model, rule)[arguments]}


def hits(rule: Rule = hidden_width, most: int = MOST) -> dict[str, list[int]]:
    """How many of the others have a width that the rule can give: the real ones first, then a number for every draw."""
    models, generator = others(), torch.Generator().manual_seed(0)
    drawn = [[invented_width(model, generator, most) for model in models] for _ in range(DRAWS)]
    found = {}
    for arguments in COLOURS:
        could = [reached(arguments, model, rule) for model in models]
        found[arguments] = [
            sum(width in widths for width, widths in zip(row, could, strict=True))
            for row in ([model.hidden for model in models], *drawn)
        ]
    return found


def random_widths(figure: Figure, rule: Rule = hidden_width) -> Callable[[], str]:
    """For both ways to choose the arguments how often each number of hits was drawn, and a line at the real widths'."""
    models = len(others())
    axes = add_axes(figure, wide=(0.07, 0.23, 0.91, 0.58), narrow=(0.15, 0.17, 0.82, 0.7))
    axes.set(xlim=(-0.8, models + 0.8), xticks=range(0, models + 1, 4))
    axes.set(xlabel=FOUND.format(models=models), ylabel=str(TIMES))
    style_axes(axes, grid="y")
    average = {}
    for arguments, (real, *drawn) in hits(rule).items():
        numbers = range(models + 1)
        axes.bar(numbers, [drawn.count(n) for n in numbers], color=COLOURS[arguments], label=str(NAMES[arguments]))
        axes.axvline(real, color=INK, linewidth=2.2)
        axes.text(real, 1.03, REAL.format(found=real), transform=axes.get_xaxis_transform(), color=INK, ha="center")
        mean = sum(drawn) / len(drawn)
        average[arguments] = ON_AVERAGE.format(mean=mean, low=min(drawn), high=max(drawn))
    axes.legend(loc="upper center", frameon=False, labelcolor=INK)

    def update() -> str:
        return SEEN.format(models=models, **average)

    return update


def panel(rule: Rule = hidden_width) -> Panel:
    """The picture of what `rule` finds; nothing in it can be moved."""
    return Panel(partial(random_widths, rule=rule), size=(10, 2.8), narrow=(4.6, 3.6))
