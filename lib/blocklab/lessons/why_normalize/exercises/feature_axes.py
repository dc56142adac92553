"""Which axes standardize a feature?"""

import torch

from blocklab.checks.case import Case
from blocklab.checks.exercise import Exercise
from blocklab.checks.row import wrong
from blocklab.checks.steps.axes import AXES
from blocklab.language import Text
from blocklab.normalization import standardize

FEATURE_AXES = Exercise(
    name="feature_axes",
    recipe=lambda: (0,),
    use=lambda axes: lambda x: standardize(x, axes),
    wants=AXES,
    cases=(Case("rows", {"x": torch.tensor([[1.0, 200], [2, 100], [6, 600]])}),),
    mistakes=(
        wrong("feature-axis", answer=(1,)).hint(
            en="Along axis 1 each **sample** gets mean 0, and features of different scales are mixed. The axis that "
            "you name is the one that disappears: the samples should.",
            zh="沿轴 1 标准化，均值为 0 的是每个**样本**，不同尺度的特征还混在了一起。"
            "写哪个轴，哪个轴就消失：应当消失的是样本轴。",
        ),
        wrong("every-axis", answer=(0, 1)).hint(
            en="One mean for all numbers: the feature with the largest scale decides it. Each feature needs a mean of "
            "its own.",
            zh="所有的数共用一个均值，尺度最大的特征就决定了它。每个特征应当各有一个均值。",
        ),
    ),
    section=Text(en="By hand: which axis disappears?", zh="动手算：哪个轴会消失？"),
    line="x.mean(my_axes).shape == (2,)  # one mean per feature",
)
