"""The hidden widths of 44 published models, beside what Meta's rule makes of them, hits and misses."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from blocklab.feed_forward import hidden_width
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel
from blocklab_course.panel.axes_style import style_axes
from blocklab_course.panel.controls import Control
from blocklab_course.panel.narrow import add_axes, is_narrow
from blocklab_course.panel.palette import INK, OTHER, POKED, QUIET
from blocklab_course.tables import read_table

ARGUMENTS = {
    Text(en="256 for all", zh="一律用 256"): "256",
    Text(en="as published", zh="用公布的取值"): "published",
    Text(en="whatever fits", zh="凑出来的取值"): "fitted",
}
"""For a panel's choice: which multiple_of and multiplier the rule is given."""

MULTIPLES = [2**power for power in range(6, 13)]
MULTIPLIERS = [tenths / 10 for tenths in range(5, 31)]  # 1.0 is as good as none
Rule = Callable[..., int]
"""A width by d_model, multiple_of and multiplier, as `hidden_width` gives it; the learner's own takes its place."""

NEAR = 0.05  # a miss by less than this share of the rule's width is drawn hollow
GAP = 1.4  # between the models whose arguments are published and the others

STATED = Text(en="Meta published the arguments", zh="Meta 公布了取值")
OTHERS = Text(en="other models", zh="其他模型")
HEIGHT = Text(en="hidden width / d_model", zh="隐藏层宽度 / d_model")
RULE = Text(en="the rule's width", zh="规则给出的宽度")
HIT = Text(en="published, as the rule says", zh="公布的宽度，与规则一致")
MISS = Text(en="published, something else (hollow: by less than 5%)", zh="公布的宽度，与规则不同（空心：差不到 5%）")
SEEN = {
    "256": Text(
        en="multiple_of = 256 and no multiplier for all: the rule finds {found} of the {models} widths.",
        zh="multiple_of 一律取 256，不用系数：{models} 个宽度中，规则对上了 {found} 个。",
    ),
    "published": Text(
        en="With the arguments that Meta published for {stated} models, and 256 for the others, the rule finds "
        "{found} of the {models} widths.",
        zh="{stated} 个模型用 Meta 公布的取值，其余的用 256：{models} 个宽度中，规则对上了 {found} 个。",
    ),
    "fitted": Text(
        en="Each model gets the arguments that come closest to its width: the rule finds {found} of the "
        "{models} widths.",
        zh="先看每个公布的宽度，再挑结果最接近的取值：{models} 个宽度中，规则对上了 {found} 个。",
    ),
}


@dataclass(frozen=True)
class Model:
    """A row of data/model_widths.csv: the published widths, and what the rule is given, published itself or not."""

    name: str
    d_model: int
    hidden: int
    multiple_of: int
    multiplier: float | None
    stated: bool


def published_models() -> list[Model]:
    """All rows, in the order of the table."""
    return [
        Model(
            row["model"],
            int(row["d_model"]),
            int(row["hidden"]),
            int(row["multiple_of"]),
            float(row["multiplier"]) if row["multiplier"] else None,
            row["arguments"] == "published",
        )
        for row in read_table("model_widths")
    ]


def widths_by_rule(model: Model, rule: Rule = hidden_width) -> dict[str, int]:
    """What the rule gives, by the way in which its arguments are chosen."""
    return {
        "256": rule(model.d_model),
        "published": rule(model.d_model, model.multiple_of, model.multiplier),
        "fitted": min(in_reach(model, rule), key=lambda width: abs(width - model.hidden)),
    }


def in_reach(model: Model, rule: Rule = hidden_width) -> set[int]:
    """All widths that the rule gives for this d_model when its arguments are free."""
    return {rule(model.d_model, m, factor) for m in MULTIPLES for factor in MULTIPLIERS}


def published_widths(figure: Figure, rule: Rule = hidden_width) -> Callable[..., str]:
    """Every model by name; a dash for the rule's width and a mark for the published one, both over d_model.

    update(arguments): "256", "published" or "fitted", a value of ARGUMENTS.
    """
    models = published_models()
    stated = sum(model.stated for model in models)
    places = [i + GAP * (not model.stated) for i, model in enumerate(models)]
    heights = [model.hidden / model.d_model for model in models]
    rules = [widths_by_rule(model, rule) for model in models]

    narrow = is_narrow(figure)
    axes = add_axes(figure, wide=(0.055, 0.27, 0.935, 0.56), narrow=(0.3, 0.05, 0.63, 0.87))
    names, border = [model.name.split(" (")[0] for model in models], stated - 0.5 + GAP / 2
    if narrow:  # a row for each model
        axes.set(ylim=(places[-1] + 0.8, -0.8), xlim=(2, 8.4), xticks=[2, 4, 6, 8], xlabel=str(HEIGHT))
        axes.set_yticks(places, names, size=9)
        axes.axhline(border, color=QUIET, linewidth=1)
    else:
        axes.set(xlim=(-0.8, places[-1] + 0.8), ylim=(2, 8.4), yticks=[2, 4, 6, 8], ylabel=str(HEIGHT))
        axes.set_xticks(places, names, rotation=90, size=9)
        axes.axvline(border, color=QUIET, linewidth=1)
    axes.tick_params(axis="y" if narrow else "x", length=0)
    style_axes(axes, grid="x" if narrow else "y")

    def point(place: float, height: float) -> tuple[float, float]:
        return (height, place) if narrow else (place, height)

    turn = {"rotation": 270, "va": "center"} if narrow else {"ha": "center"}
    for place, words in ((stated / 2 - 0.5, STATED), ((stated + len(models) - 1) / 2 + GAP, OTHERS)):
        axes.text(*point(place, 8.55), str(words), size=10, color=INK, **turn)
    distances = LineCollection([], colors=QUIET, linewidths=0.8, zorder=2, animated=True)
    axes.add_collection(distances, autolim=False)
    (dashes,) = axes.plot(
        [], [], "|" if narrow else "_", color=INK, markersize=11, markeredgewidth=2.2, label=str(RULE), animated=True
    )
    (hits,) = axes.plot([], [], "o", color=OTHER, markersize=7, zorder=4, label=str(HIT), animated=True)
    (misses,) = axes.plot([], [], "X", color=POKED, markersize=8, zorder=4, label=str(MISS), animated=True)
    look = {"color": POKED, "markerfacecolor": "white", "markersize": 8, "zorder": 5}
    (near,) = axes.plot([], [], "X", animated=True, **look)
    figure.legend(loc="upper center", ncols=1 if is_narrow(figure) else 3, frameon=False, labelcolor=INK)

    def update(arguments: str) -> str:
        widths = [found[arguments] for found in rules]
        rows = list(zip(places, heights, widths, models, strict=True))
        found = [(x, y) for x, y, width, model in rows if width == model.hidden]
        missed = [(x, y, abs(model.hidden / width - 1)) for x, y, width, model in rows if width != model.hidden]
        hits.set_data(*zip(*(point(x, y) for x, y in found), strict=True))
        for marks, close in ((misses, False), (near, True)):
            chosen = [point(x, y) for x, y, by in missed if (by < NEAR) == close]
            marks.set_data([x for x, _ in chosen], [y for _, y in chosen])
        dashes.set_data(*point(places, [width / model.d_model for width, model in zip(widths, models, strict=True)]))
        distances.set_segments([[point(x, y), point(x, width / model.d_model)] for x, y, width, model in rows])
        return SEEN[arguments].format(found=len(found), models=len(models), stated=stated)

    return update


def panel(rule: Rule = hidden_width, **own: Control) -> Panel:
    """The picture of what `rule` finds, with its controls; `own` replaces some of them."""
    controls = {"arguments": Choice(ARGUMENTS, "256", label=Text(en="arguments", zh="取值"))}
    return Panel(partial(published_widths, rule=rule), size=(10, 4.6), narrow=(4.6, 9.4), **controls | own)
