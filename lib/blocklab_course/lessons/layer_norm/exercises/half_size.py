"""At which size does ε halve the output?"""

import torch

from blocklab.normalization import layer_norm
from blocklab_course.checks.case import Case
from blocklab_course.checks.exercise import A_NUMBER, Exercise, to_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

HALF_SIZE = Exercise(
    name="half_size",
    recipe=lambda: (1e-5 / 3) ** 0.5,
    evaluate=lambda deviation: lambda: layer_norm(to_number(deviation) * torch.tensor([-1.0, 1.0]), (2,))[1],
    expects=A_NUMBER,
    names={"result": Text(en="output for the input [−σ, σ], its last number", zh="输入为 −σ 和 σ 时的最后一个输出")},
    cases=(Case("two numbers", {}, tolerance=1.1e-2),),  # σ to two digits
    expected_from=3,
    mistakes=(
        wrong("root-of-eps", answer=1e-5**0.5).hint(
            en="At σ = √ε both terms under the root are equal, so the output is 1 / √2, not a half. σ must be smaller.",
            zh="σ = √ε 时，根号下的两项相等，输出是 1 / √2，而不是一半。σ 还要再小一点。",
        ),
        wrong("root-forgotten", answer=1e-5 / 3).hint(
            en="That is σ², the variance, at which the output is a half. Take its root.",
            zh="这是输出为一半时的 σ²，也就是方差。请再开方。",
        ),
        wrong("eps-itself", answer=1e-5).hint(
            en="ε is added to the variance, so compare it with σ², not with σ.",
            zh="ε 是和方差相加的，所以要拿它和 σ² 比，而不是和 σ 比。",
        ),
        wrong("upside-down", answer=(3 * 1e-5) ** 0.5).hint(
            en="Upside down: σ² has to be a third of ε, not three times ε.",
            zh="反了：σ² 要是 ε 的三分之一，而不是三倍。",
        ),
        wrong("half-under-the-root", answer=1e-5**0.5 / 2).hint(
            en="Put your σ² into σ² / (σ² + ε): it has to be 1/4, for its root is the half.",
            zh="把你的 σ² 代入 σ² / (σ² + ε)：它应当等于 1/4，因为再开方才是一半。",
        ),
        wrong("no-eps", answer=1.0).hint(
            en="Here ε is too small to matter: the output has its full size. σ must be far smaller.",
            zh="这时 ε 太小，没有影响：输出还是原来的大小。σ 还要小得多。",
        ),
        wrong("too-large", answer=0.01).hint(
            en="At this σ the output is still more than half of its full size. σ must be smaller.",
            zh="σ 取这个值时，输出还不止原来的一半。σ 要再小一点。",
            value_range=(0.5055, 1.0),
        ),
        wrong("too-small", answer=1e-4).hint(
            en="At this σ the output is less than half of its full size already. σ must be larger.",
            zh="σ 取这个值时，输出已经不到原来的一半。σ 要再大一点。",
            value_range=(0.0, 0.4945),
        ),
    ),
    section=Text(en="Where the mistake shows", zh="错误在哪里露馅"),
    hint_line="sigma / (sigma**2 + 1e-5) ** 0.5",
)
