"""The exercise of the first panel: how small may an input be?"""

import torch

from blocklab.normalization import layer_norm
from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import A_NUMBER, Exercise, to_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

SCALE = Exercise(
    name="scale",
    recipe=lambda: 1e-5**0.5,
    evaluate=lambda scale: lambda: layer_norm(to_number(scale) * torch.tensor([1.0, 2, 3, 4]), (4,))[-1],
    expects=A_NUMBER,
    names={"result": Text(en="last bar", zh="最后一根柱子的长度")},
    cases=(Case("bar", {}, tolerance=1e-2),),
    expected_from=3,
    mistakes=(
        wrong("too-large", answer=1.0).hint(
            en="At this s the last bar is still longer than 1. Go on to the left.",
            zh="s 取这个值时，最后一根柱子还是比 1 长。请继续往左拖。",
            value_range=(1.01, 2.0),
        ),
        wrong("too-small", answer=1e-3).hint(
            en="At this s the last bar is already shorter than 1. Go back to the right.",
            zh="s 取这个值时，最后一根柱子已经比 1 短了。请往右拖一些。",
            value_range=(0.0, 0.99),
        ),
        wrong("negative", answer=-3.0).hint(
            en="A negative s turns the bars around. `1e-2` means 0.01, which is not negative.",
            zh="s 取负数，柱子就倒过来了。`1e-2` 表示 0.01，并不是负数。",
            value_range=(-2.0, 0.0),
        ),
        wrong("zero", answer=0.0).hint(en="With s = 0 there is no bar left.", zh="s = 0 时，柱子都没有了。"),
    ),
    section=Text(en="A slider", zh="一个滑块"),
    panel=Text(en="drag s to the left of 1 and read the last bar.", zh="把 s 拖到 1 的左边，读出最后一根柱子的长度。"),
    hint_line="layer_norm(s * torch.tensor([1.0, 2.0, 3.0, 4.0]), (4,))[-1]",
)
