"""Which axes standardize a feature?"""

import torch

from blocklab._validation import check_axes
from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import wrong
from blocklab_course.checks.recipes.axes import compare_by_means
from blocklab_course.i18n import Text

AXES = Text(
    en="one of the axes 0, 1 and 2 of `x`, or a tuple of them, each at most once",
    zh=" `x` 的轴 0、1、2 中的一个，或由它们组成的元组，每个最多写一次",
)


FEATURE_AXES = Exercise(
    name="feature_axes",
    recipe=lambda: (0, 1),
    evaluate=compare_by_means(check_axes),
    expects=AXES,
    names={"result": Text(en="mean", zh="均值")},
    cases=(Case("texts", {"x": torch.tensor([[[1.0, 200], [2, 100], [6, 600]], [[3, 400], [9, 300], [3, 200]]])}),),
    mistakes=(
        wrong("each-word", answer=(2,)).hint(
            en="Along axis 2 each **word** gets a mean of its own, and features of different scales are mixed. The "
            "axes that you name are those that disappear: texts and positions should.",
            zh="沿轴 2 求均值，是每个**词**各有一个均值，不同尺度的特征还混在了一起。"
            "写哪些轴，哪些轴就消失：应当消失的是文本轴和位置轴。",
        ),
        wrong("each-position", answer=(0,)).hint(
            en="Axis 0 disappears, and axis 1 stays: each feature still has a mean for every position. Name every axis "
            "that is to disappear.",
            zh="轴 0 消失了，轴 1 还在：每个特征在每个位置上各有一个均值。要让哪些轴消失，就把它们都写上。",
        ),
        wrong("each-text", answer=(1,)).hint(
            en="Axis 1 disappears, and axis 0 stays: each feature still has a mean for every text. Name every axis "
            "that is to disappear.",
            zh="轴 1 消失了，轴 0 还在：每个特征在每个文本里各有一个均值。要让哪些轴消失，就把它们都写上。",
        ),
        wrong("within-a-text", answer=(1, 2)).hint(
            en="Axis 2 disappears, too: all features of a text share one mean. It is the features that stay.",
            zh="轴 2 也消失了：同一个文本的所有特征共用一个均值。要留下的正是特征轴。",
        ),
        wrong("position-kept-for-feature", answer=(0, 2)).hint(
            en="Axis 1 stays, and axis 2 disappears: each position has a mean of its own, over all features. It is the "
            "features that stay.",
            zh="轴 1 还在，轴 2 却消失了：每个位置各有一个均值，把所有特征混在了一起。要留下的正是特征轴。",
        ),
        wrong("every-axis", answer=(0, 1, 2)).hint(
            en="One mean for all numbers: the feature with the largest scale decides it. Each feature needs a mean of "
            "its own.",
            zh="所有的数共用一个均值，尺度最大的特征就决定了它。每个特征应当各有一个均值。",
        ),
    ),
    section=Text(en="Going further: which axes disappear?", zh="选读：哪些轴会消失？"),
    hint_line="x.mean(my_axes).shape == (2,)",
)
