"""A root mean square by hand."""

import torch

from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import A_NUMBER, Exercise, to_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

ROOT_MEAN_SQUARE = Exercise(
    name="root_mean_square",
    recipe=lambda: 12.5**0.5,
    evaluate=lambda rms: lambda x: x / to_number(rms),
    expects=A_NUMBER,
    names={"result": Text(en="x divided by your number", zh="x 除以你给的数")},
    cases=(Case("token", {"x": torch.tensor([3.0, 4.0])}, tolerance=2e-3),),
    expected_from=3,
    mistakes=(
        wrong("length", answer=5.0).hint(
            en="5 is the length of the token: the root of the **sum** of the squares. Take the root of their mean.",
            zh="5 是这个词元的长度，也就是平方和的平方根。应当先求平方的均值，再开方。",
        ),
        wrong("root-missing", answer=12.5).hint(
            en="12.5 is the mean of the squares. The root is still to be taken.", zh="12.5 是平方的均值，还没有开方。"
        ),
        wrong("mean", answer=3.5).hint(
            en="3.5 is the mean of the two numbers. Square them first, then average, then take the root.",
            zh="3.5 是这两个数的均值。应当先平方，再求均值，最后开方。",
        ),
        wrong("length-over-count", answer=2.5).hint(
            en="You divide the length, 5, by the count. The count stands under the root too.",
            zh="你用长度 5 除以了个数。个数也应当在根号里。",
        ),
        wrong("standard-deviation", answer=0.5).hint(
            en="0.5 is the standard deviation: you subtracted the mean before squaring. Subtract nothing.",
            zh="0.5 是标准差：你在平方之前减去了均值。这里什么都不减。",
        ),
    ),
    section=Text(en="By hand", zh="动手算"),
    hint_line="mean_of_squares = (3**2 + 4**2) / 2",
)
