"""Known mistakes of `gelu`, `swish` and `glu`."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from blocklab import feed_forward
from blocklab_course.checks.case import Advice, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, wrong
from blocklab_course.i18n import Text

BOTH_SIDES = torch.tensor([-2.0, -1, 0, 1, 2])

BY_HAND = Text(en="By hand", zh="动手算")
ONE_FAMILY = Text(en="One family", zh="一家人")
ELSEWHERE = Text(en="What you will meet elsewhere", zh="在别处会遇到什么")
FURTHER = Text(en="Going further: torch's GLU, and GELU", zh="选读：torch 的 GLU，以及 GELU")

SIGMOID_OVERFLOW = Text(
    en="Far from 0 your exponential overflows, and a result or its gradient becomes NaN. `torch.sigmoid` is safe at "
    "both ends.",
    zh="离 0 很远时，你的指数函数会溢出，结果或它的梯度变成 NaN。`torch.sigmoid` 在两端都不会溢出。",
)


# gelu: x times the share of a normal distribution that lies below x


def over_root_of_two(x: Tensor) -> Tensor:
    return x / math.sqrt(2)


def to_share(curve: Tensor) -> Tensor:
    return (1 + curve) / 2


def gelu_recipe(
    x: Tensor,
    *,
    inner: Callable = over_root_of_two,
    curve: Callable = torch.erf,
    share: Callable = to_share,
    weigh: Callable = torch.mul,
) -> Tensor:
    return weigh(x, share(curve(inner(x))))


def tanh_form(x: Tensor, slope: float, cube: Callable) -> Tensor:
    return x / 2 * (1 + torch.tanh(slope * (x + cube(x))))


GELU_MISTAKES = (
    wrong("root-of-two-missing", inner=lambda x: x).hint(
        en="You take `erf(x)`. The error function belongs to a narrower bell curve: divide x by √2 before `erf`.",
        zh="你用的是 `erf(x)`。误差函数对应的钟形曲线更窄：应当先把 x 除以 √2，再取 `erf`。",
    ),
    wrong("root-of-two-multiplied", inner=lambda x: x * math.sqrt(2)).hint(
        en="Inside `erf` you multiply x by √2, which makes the curve twice as steep as it should be. Divide.",
        zh="在 `erf` 里你把 x 乘以了 √2，曲线的斜率成了应有的两倍。这里应当用除法。",
    ),
    wrong("two-for-its-root", inner=lambda x: x / 2).hint(
        en="Inside `erf` you divide x by 2. Divide by the root of 2: the bell curve has variance 1.",
        zh="在 `erf` 里你把 x 除以了 2。应当除以 2 的平方根：那条钟形曲线的方差是 1。",
    ),
    wrong("other-tail", inner=lambda x: -x / math.sqrt(2)).hint(
        en="You weigh x by the share of the bell curve **above** it: large numbers vanish. The share below lets them "
        "pass. There is a minus sign too many, or `erfc` stands for `erf`.",
        zh="你用的权重是钟形曲线在 x **右侧**的面积，大的数因此消失了。"
        "应当用左侧的面积，大的数才能通过。请检查是不是多了负号，或把 `erf` 写成了 `erfc`。",
    ),
    wrong("erfc-for-erf", curve=torch.erfc).hint(
        en="You add 1 to `erfc`, which is already 1 − `erf`. It is `erf` that wants the 1.",
        zh="你给 `erfc` 加了 1，而它本身就是 1 − `erf`。要加 1 的是 `erf`。",
    ),
    wrong("tanh-for-erf", curve=torch.tanh).hint(
        en="You take `tanh` for `erf` and leave the rest as it is. The two curves look alike, but they are not equal; "
        "even the approximation with `tanh` has a cubic term.",
        zh="你用 `tanh` 代替了 `erf`，其余照旧。"
        "两条曲线看上去相似，却不相等；即使是用 `tanh` 的近似公式，里面也还有一个三次项。",
        section=ONE_FAMILY,
    ),
    wrong("one-missing", share=lambda curve: curve / 2).hint(
        en="You halve `erf` but do not add 1 before. `erf` runs from −1 to 1, and a share runs from 0 to 1.",
        zh="你直接把 `erf` 减半，没有先加 1。`erf` 的取值从 −1 到 1，而权重应当从 0 到 1。",
    ),
    wrong("half-missing", share=lambda curve: 1 + curve).hint(
        en="You add 1 to `erf` but do not halve the sum, so large numbers are doubled. A share is at most 1.",
        zh="你给 `erf` 加了 1，却没有减半，大的数因此成了原来的两倍。权重最大只能是 1。",
    ),
    wrong("curve-alone-halved", share=lambda curve: 1 + curve / 2).hint(
        en="You halve `erf` alone, not the sum with 1. Put the sum in brackets: a share runs from 0 to 1, yours from ½ "
        "to 1½.",
        zh="你只把 `erf` 减半，没有把它加 1 之后的和减半。请给这个和加上括号：权重应当从 0 到 1，你的却从 ½ 到 1½。",
    ),
    wrong("x-added-to-half-a-curve", weigh=lambda x, share: x + share - 1 / 2).hint(
        en="You multiply x by 1 alone and add half of `erf`. The weight `(1 + erf) / 2` wants brackets: all of it "
        "multiplies x.",
        zh="你只用 x 乘了 1，再加上 `erf` 的一半。权重 `(1 + erf) / 2` 要加括号，整个一起乘 x。",
        hint_line="y = x * (1 + torch.erf(x / math.sqrt(2))) / 2",
    ),
    wrong("root-divides-erf", inner=lambda x: x, share=lambda curve: (1 + curve / math.sqrt(2)) / 2).hint(
        en="√2 divides `erf(x)` in your function. It divides x, inside the brackets of `erf`.",
        zh="你用 √2 除了 `erf(x)`。它要除的是 x，应当放在 `erf` 的括号里面。",
    ),
    wrong("erf-is-no-share", share=lambda curve: curve).hint(
        en="You multiply x by `erf` itself, which is negative for negative x: your result is never below 0. Move `erf` "
        "from −1…1 to 0…1 first.",
        zh="你直接用 `erf` 乘 x，而 x 为负时它也为负，所以你的结果总是不小于 0。请先把 `erf` 的范围从 −1…1 变到 0…1。",
    ),
    wrong("x-missing", weigh=lambda x, share: share).hint(
        en="You return the share itself, a number from 0 to 1. It is the weight of x: multiply by x.",
        zh="你返回的是权重本身，即 0 到 1 之间的数。还要用它乘 x。",
        hint_line="y = x * share",
    ),
    wrong("density-for-share", lambda x: x * torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)).hint(
        en="You weigh x by the height of the bell curve at x. Take the area to the left of x.",
        zh="你用钟形曲线在 x 处的高度作权重。应当用它在 x 左侧的面积。",
        section=BY_HAND,
    ),
    wrong("tanh-approximation", lambda x: F.gelu(x, approximate="tanh")).hint(
        en="This is the approximation of GELU with `tanh`, at most 0.0005 off. GPT-2 uses it; here the exact one is "
        "wanted, with `erf`.",
        zh="这是用 `tanh` 近似的 GELU，误差不超过 0.0005，GPT-2 用的就是它。这里要的是用 `erf` 的精确形式。",
        section=ONE_FAMILY,
    ),
    wrong("tanh-approximation-without-root", lambda x: tanh_form(x, 1.0, lambda x: 0.044715 * x**3)).hint(
        en="This is the approximation with `tanh`, and its factor √(2/π) is missing. Here the exact form is wanted, "
        "with `erf`.",
        zh="这是用 `tanh` 的近似，还漏了系数 √(2/π)。这里要的是用 `erf` 的精确形式。",
        section=ONE_FAMILY,
    ),
    wrong("tanh-approximation-without-cube", lambda x: tanh_form(x, math.sqrt(2 / math.pi), torch.zeros_like)).hint(
        en="This is the approximation with `tanh`, and its cubic term is missing. Here the exact form is wanted, with "
        "`erf`.",
        zh="这是用 `tanh` 的近似，还漏了三次项。这里要的是用 `erf` 的精确形式。",
        section=ONE_FAMILY,
    ),
    wrong("quick-gelu", lambda x: x * torch.sigmoid(1.702 * x)).hint(
        en="This is `x · sigmoid(1.702 x)`, a rough stand-in for GELU that CLIP uses: at −1 it gives −0.1542, and GELU "
        "gives −0.1587.",
        zh="这是 `x · sigmoid(1.702 x)`，"
        "即 GELU 的一种粗略近似，CLIP 用的就是它：在 −1 处它得 −0.1542，而 GELU 得 −0.1587。",
        section=ELSEWHERE,
    ),
    wrong("silu-for-gelu", F.silu).hint(
        en="This is SiLU: you weigh x by its sigmoid. At −1 it gives −0.2689, and GELU gives −0.1587.",
        zh="这是 SiLU：你用 x 的 sigmoid 作权重。在 −1 处它得 −0.2689，而 GELU 得 −0.1587。",
        section=BY_HAND,
    ),
    wrong("relu-for-gelu", F.relu).hint(
        en="This is ReLU: every negative number becomes 0. GELU lets a little of them pass and has no corner.",
        zh="这是 ReLU：负数一律变成 0。GELU 会让负数通过一点点，而且曲线没有折角。",
        section=BY_HAND,
    ),
    wrong("softplus-for-gelu", F.softplus).hint(
        en="This is softplus, `log(1 + exp(x))`: it is never below 0 and gives 0.6931 at 0. GELU gives 0 there.",
        zh="这是 softplus，即 `log(1 + exp(x))`：它总是大于 0，在 0 处得 0.6931。GELU 在那里得 0。",
        section=BY_HAND,
    ),
    wrong("sigmoid-for-gelu", torch.sigmoid).hint(
        en="This is the sigmoid of x, a number from 0 to 1. GELU is x times a share, and the share comes from `erf`.",
        zh="这是 x 的 sigmoid，即 0 到 1 之间的数。GELU 是 x 乘以一个权重，而这个权重由 `erf` 得到。",
        section=BY_HAND,
    ),
    wrong("x-times-tanh", lambda x: x * torch.tanh(x)).hint(
        en="You weigh x by `tanh(x)`, which turns negative numbers positive. The weight of GELU lies between 0 and 1 "
        "and comes from `erf`.",
        zh="你用 `tanh(x)` 作权重，负数因此变成了正数。GELU 的权重在 0 到 1 之间，由 `erf` 得到。",
        section=BY_HAND,
    ),
)

GELU = Exercise(
    name="gelu",
    recipe=gelu_recipe,
    kernel=feed_forward.gelu,
    cases=(
        Case("both sides", {"x": BOTH_SIDES}),
        Case("tokens", {"x": 2 * waves(2, 3, 4)}),
        Case("square", {"x": 2 * waves(3, 3)}),
        Case("one number", {"x": torch.tensor([[[-0.7]]])}),
        Case("far below 0", {"x": torch.tensor([-1, -3.2, -4.5])}),
        Case("far above 0", {"x": torch.tensor([4.1, 4.4], dtype=torch.float64)}, tolerance=1e-6),
        Case("gradient", {"x": 2 * waves(2, 4)}, gradient=True),
    ),
    mistakes=GELU_MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, 3)},
    section=FURTHER,
    panel=Text(
        en="under *One family*, look at the blue curve: GELU dips a little below 0, and from 3 on it is nearly u.",
        zh="在“一家人”一节看蓝色曲线：u 为负时，GELU 略小于 0；从 3 起，它几乎等于 u。",
    ),
    hint_line="share = (1 + torch.erf(x / math.sqrt(2))) / 2",
)


# swish: x times the sigmoid of beta x


def steeper(x: Tensor, beta: float | Tensor) -> Tensor:
    return beta * x


def swish_recipe(
    x: Tensor,
    beta: float | Tensor = 1.0,
    *,
    slope: Callable = steeper,
    gate: Callable = torch.sigmoid,
    weigh: Callable = lambda x, gate, beta: x * gate,
) -> Tensor:
    return weigh(x, gate(slope(x, beta)), beta)


def no_slope(x: Tensor, _beta: float | Tensor) -> Tensor:
    return x


def times_beta(x: Tensor, gate: Tensor, beta: float | Tensor) -> Tensor:
    return beta * x * gate


SWISH_MISTAKES = (
    wrong("beta-ignored", slope=no_slope).hint(
        en="`beta` has no effect: what you computed is SiLU, which is Swish with β = 1. Inside the sigmoid stands βx.",
        zh="`beta` 没有起作用：你算的是 SiLU，也就是 β = 1 时的 Swish。sigmoid 里面应当是 βx。",
    ),
    wrong("beta-outside", slope=no_slope, weigh=times_beta).hint(
        en="β stands before the product and only changes its size. It belongs inside the sigmoid, where it changes how "
        "steep that is.",
        zh="β 乘在了结果上，只改变它的大小。β 应当在 sigmoid 里面，改变曲线的陡峭程度。",
    ),
    wrong("beta-inside-and-outside", weigh=times_beta).hint(
        en="β is applied twice, inside the sigmoid and before the product, as in `silu(beta * x)`. It belongs inside "
        "the sigmoid only.",
        zh="β 用了两次：sigmoid 里面一次，外面又乘一次，例如写成了 `silu(beta * x)`。它只应当出现在 sigmoid 里面。",
        hint_line="y = x * gate",
    ),
    wrong("beta-divides", slope=lambda x, beta: x / beta).hint(
        en="You divide by β inside the sigmoid, so a larger β makes the curve flatter. Multiply.",
        zh="在 sigmoid 里你除以了 β，于是 β 越大，曲线反而越平缓。应当相乘。",
    ),
    wrong("beta-added", slope=lambda x, beta: x + beta).hint(
        en="You add β to x inside the sigmoid, which moves the curve aside. β is a factor of x.",
        zh="在 sigmoid 里你把 β 加到了 x 上，这会让曲线左右移动。β 应当与 x 相乘。",
    ),
    wrong("beta-hard-coded", slope=lambda x, beta: 1.702 * x).hint(
        en="You use 1.702 whatever `beta` is given: that is the stand-in for GELU. Use the argument.",
        zh="不论传入的 `beta` 是多少，你都用 1.702：那个数是用来近似 GELU 的。请使用传入的参数。",
        shown_on="steep",
    ),
    wrong("sign-of-the-exponent", slope=lambda x, beta: -beta * x).hint(
        en="Your weight falls where it should rise: large numbers vanish and negative ones pass. The exponent in `1 / "
        "(1 + exp(…))` is negative.",
        zh="你的权重升降反了：大的数消失了，负数反而通过。`1 / (1 + exp(…))` 里的指数应当带负号。",
    ),
    wrong("tanh-for-sigmoid", gate=torch.tanh).hint(
        en="You weigh x by `tanh`, which runs from −1 to 1 and turns negative numbers positive. The sigmoid runs from "
        "0 to 1.",
        zh="你用 `tanh` 作权重，它的取值从 −1 到 1，负数因此变成了正数。sigmoid 的取值从 0 到 1。",
    ),
    wrong("hard-sigmoid", gate=F.hardsigmoid).hint(
        en="Your weight is the hard sigmoid, made of straight pieces. MobileNetV3 uses it (hard-swish); Swish has the "
        "smooth one.",
        zh="你的权重是由直线段拼成的 hard sigmoid。MobileNetV3 用的就是它（hard-swish）；Swish 用的是光滑的 sigmoid。",
    ),
    wrong("normal-share-for-sigmoid", gate=lambda z: to_share(torch.erf(over_root_of_two(z)))).hint(
        en="Your weight comes from the bell curve, as in GELU: at −1, with β = 1, that gives −0.1587. Swish has the "
        "sigmoid and gives −0.2689.",
        zh="你的权重来自钟形曲线，那是 GELU：β = 1 时，在 −1 处得 −0.1587。Swish 用的是 sigmoid，得 −0.2689。",
    ),
    wrong("softmax-for-sigmoid", gate=lambda z: z.softmax(-1)).hint(
        en="You take the softmax over the last axis: the weights of a row share one sum, so each number depends on its "
        "neighbors. The sigmoid looks at one number at a time.",
        zh="你沿最后一个轴取了 softmax：一行的权重加起来是定值，于是每个数都受同一行其他数的影响。"
        "sigmoid 每次只看一个数。",
    ),
    wrong("one-plus-missing", gate=torch.exp).hint(
        en="Your weight is `exp(βx)`, which grows without limit. In the sigmoid the divisor has a `1 +`.",
        zh="你的权重是 `exp(βx)`，会无限增大。sigmoid 的分母里还有 `1 +`，权重才有上限。",
    ),
    wrong("exp-of-python", lambda x, beta=1.0: x / (1 + math.exp(-beta * x))).hint(
        en="`math.exp` takes one number, and x is a tensor. `torch.exp` takes all of its numbers at once, "
        "and `torch.sigmoid` is simpler still.",
        zh="`math.exp` 只能算一个数，而 x 是张量。`torch.exp` 一次算出所有的数；更简单的是 `torch.sigmoid`。",
    ),
    wrong("sigmoid-alone", weigh=lambda x, gate, beta: gate).hint(
        en="You return the sigmoid itself. It is the weight of x: multiply by x.",
        zh="你返回的是 sigmoid 本身。它只是权重，还要乘以 x。",
        hint_line="y = x * gate",
    ),
    wrong("added-to-the-sigmoid", weigh=lambda x, gate, beta: x + gate).hint(
        en="You add x and its sigmoid. The sigmoid is a weight: multiply.",
        zh="你把 x 和它的 sigmoid 相加了。sigmoid 是权重，应当相乘。",
        hint_line="y = x * gate",
    ),
    wrong("mish-for-swish", lambda x, beta=1.0: x * torch.tanh(F.softplus(beta * x))).hint(
        en="This is Mish, `x · tanh(softplus(x))`, a relative of Swish. Here the weight is the plain sigmoid.",
        zh="这是 Mish，即 `x · tanh(softplus(x))`，与 Swish 相近。这里的权重就是 sigmoid。",
    ),
    wrong("relu-for-swish", lambda x, beta=1.0: F.relu(x)).hint(
        en="This is ReLU, which Swish becomes only for very large β. With β = 1 a little of a negative number passes.",
        zh="这是 ReLU，只有 β 非常大时 Swish 才接近它。β = 1 时，负数还能通过一点点。",
    ),
    wrong("softplus-for-swish", lambda x, beta=1.0: F.softplus(x, beta)).hint(
        en="This is softplus, the logarithm of 1 + `exp(βx)` over β. It is never below 0, and Swish is: it is x times "
        "a sigmoid.",
        zh="这是 softplus，即 1 + `exp(βx)` 的对数除以 β。它总是大于 0，而 Swish 可以是负数：Swish 是 x 乘以 sigmoid。",
    ),
)

SWISH = Exercise(
    name="swish",
    recipe=swish_recipe,
    kernel=feed_forward.swish,
    cases=(
        Case("both sides", {"x": BOTH_SIDES}),
        Case("steep", {"x": torch.tensor([-1.0, 0.5]), "beta": 3.0}),
        Case("very steep", {"x": torch.tensor([-0.25, 0.5]), "beta": 8}),
        Case("falling", {"x": torch.tensor([-1.0, 0.5]), "beta": -2.25}),
        Case("tokens", {"x": 2 * waves(2, 3, 4), "beta": 0.5}),
        Case("square", {"x": 2 * waves(3, 3), "beta": 0.5}),
        Case("one number", {"x": torch.tensor([[[-0.7]]])}),
        Case("far below 0", {"x": torch.tensor([-2.0, -5, -8])}, tolerance=1e-4),
        Case("farther below 0", {"x": torch.tensor([-2.0, -12, -15], dtype=torch.float64)}, tolerance=1e-6),
        Case("far above 0", {"x": torch.tensor([5.0, 9, 11.3, 12.7], dtype=torch.float64)}, tolerance=1e-6),
        Case("gentle, far from 0", {"x": torch.tensor([-40.0, 30]), "beta": 0.1}),
        Case("gradient", {"x": 2 * waves(2, 4), "beta": 1.5}, gradient=True),
        Case(
            "overflows",
            {"x": torch.tensor([-200.0, 200])},
            gradient=True,
            tolerance=1e-2,
            advice=Advice(SIGMOID_OVERFLOW, milder={"x": torch.tensor([-20.0, 20])}),
        ),
        Case(
            "beta-of-zero",
            {"x": torch.tensor([-1.0, 2]), "beta": 0.0},
            tolerance=1e-2,
            advice=Advice(
                Text(
                    en="For β = 0 you divide by 0. Swish is x/2 there; without the detour over `silu(beta * x) / beta` "
                    "it comes out by itself.",
                    zh="β = 0 时你除以了 0，而那里的 Swish 等于 x/2。"
                    "不要绕道 `silu(beta * x) / beta`，就会自然得到这个值。",
                ),
                weak_functions=(lambda x, beta: F.silu(beta * x) / beta,),
                raises=(ZeroDivisionError,),
            ),
        ),
        Case(
            "learned-beta",
            {"x": torch.tensor([-1.0, 2]), "beta": torch.tensor(0.7)},
            gradient=True,
            tolerance=1e-2,
            advice=Advice(
                Text(
                    en="β may be a tensor that is learned, and your function cuts it off from its gradient. Do not "
                    "turn it into a number.",
                    zh="β 可以是需要学习的张量，而你的函数切断了它的梯度。请不要把它转成普通的数。",
                ),
                weak_functions=(lambda x, beta: swish_recipe(x, beta.detach()),),
            ),
        ),
    ),
    mistakes=SWISH_MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, 3)},
    exempt={"beta of 0": "the table has it, with an advice of its own"},
    section=BY_HAND,
    panel=Text(
        en="under *One family*, drag β to 0, then to 10, and watch what the orange curve becomes.",
        zh="在“一家人”一节把 β 拖到 0，再拖到 10，看橙色曲线变成什么样。",
    ),
    hint_line="gate = torch.sigmoid(beta * x)",
)


# glu: the second half of an axis is the gate of the first


def value_and_gate(x: Tensor, dim: int) -> tuple[Tensor, ...]:
    return x.chunk(2, dim)


def open_and_multiply(value: Tensor, gate: Tensor, opened: Callable) -> Tensor:
    return value * opened(gate)


def glu_recipe(
    x: Tensor,
    dim: int = -1,
    *,
    along: Callable = passthrough,
    halves: Callable = value_and_gate,
    opened: Callable = torch.sigmoid,
    join: Callable = open_and_multiply,
) -> Tensor:
    value, gate = halves(x, along(dim))
    return join(value, gate, opened)


def every_other(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    pairs = x.unflatten(dim, (-1, 2)).movedim(dim if dim < 0 else dim + 1, 0)
    return pairs[0], pairs[1]


def every_other_of_the_last(x: Tensor, _dim: int) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


def last_by_number(x: Tensor, _dim: int) -> tuple[Tensor, Tensor]:
    parts = x.chunk(2, -1)
    return parts[0], parts[1]


def last_by_slices(x: Tensor, _dim: int) -> tuple[Tensor, Tensor]:
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


GLU_MISTAKES = (
    wrong("dim-ignored", along=lambda dim: -1).hint(
        en="You always halve the last axis. Halve the axis that `dim` names.",
        zh="你总是把最后一个轴分成两半。应当分的是 `dim` 指定的轴。",
    ),
    wrong("dim-ignored-by-number", halves=last_by_number).hint(
        en="You always halve the last axis, and of length 1 that gives a single part. Halve the axis that `dim` names.",
        zh="你总是把最后一个轴分成两半，它的长度是 1 时，只分得出一份。应当分的是 `dim` 指定的轴。",
    ),
    wrong("dim-ignored-by-slices", halves=last_by_slices).hint(
        en="Your halves are always of the last axis. Cut the axis that `dim` names, as `chunk(2, dim)` does.",
        zh="你总是切最后一个轴。应当切 `dim` 指定的轴，`chunk(2, dim)` 就是这样。",
    ),
    wrong("dim-ignored-by-split", halves=lambda x, dim: x.split(x.shape[-1] // 2, -1)).hint(
        en="You split the last axis whatever `dim` is. Length and number of the axis are those that `dim` names.",
        zh="不论 `dim` 是多少，你都切最后一个轴。应当用 `dim` 指定的轴，长度也取它的。",
    ),
    wrong("first-axis", along=lambda dim: 0).hint(
        en="You halve axis 0, as `chunk(2)` and `split` do when no axis is given. Pass `dim` on.",
        zh="你把轴 0 分成了两半：不指明轴时，`chunk(2)` 和 `split` 就是这样。请把 `dim` 传进去。",
    ),
    wrong("gate-is-the-first-half", halves=lambda x, dim: x.chunk(2, dim)[::-1]).hint(
        en="You take the first half for the gate, as Shazeer's paper does. In torch the **second** half is the gate: "
        "with the wrong one, copied weights silently give other results.",
        zh="你把前一半当作门，Shazeer 的论文就是这样。"
        "但在 torch 里，**后**一半才是门：弄反了不会报错，照搬来的权重却会算出别的结果。",
        section=ELSEWHERE,
    ),
    wrong("every-other", halves=every_other).hint(
        en="You take every other number for the gate. The gate is the second half of the axis, in one piece.",
        zh="你隔一个数取一个作为门。门应当是这个轴上连续的后一半。",
    ),
    wrong("every-other-of-the-last-axis", halves=every_other_of_the_last).hint(
        en="You take every other number of the last axis for the gate. The gate is the second half of the axis that "
        "`dim` names, in one piece.",
        zh="你在最后一个轴上隔一个数取一个作为门。门应当是 `dim` 指定的轴上连续的后一半。",
    ),
    wrong("gates-alternate-as-in-gpt-oss", halves=lambda x, dim: every_other(x, dim)[::-1]).hint(
        en="Gate and value alternate, the gate first, as in gpt-oss. In `F.glu` the first half is the value and the "
        "second half the gate.",
        zh="你让门和值交替排列，门在前，gpt-oss 就是这样。在 `F.glu` 里，前一半是值，后一半是门。",
        section=ELSEWHERE,
    ),
    wrong("gates-alternate-in-the-last-axis", halves=lambda x, dim: every_other_of_the_last(x, dim)[::-1]).hint(
        en="Gate and value alternate in the last axis, as in gpt-oss. In `F.glu` the first half of the axis `dim` is "
        "the value, the second half the gate.",
        zh="你让门和值在最后一个轴上交替排列，gpt-oss 就是这样。在 `F.glu` 里，轴 `dim` 的前一半是值，后一半是门。",
        section=ELSEWHERE,
    ),
    wrong("pieces-of-two", halves=lambda x, dim: x.split(2, dim)).hint(
        en="You cut the axis into pieces of length 2, which is right only when its length is 4. `split` wants the "
        "length of a piece, `chunk` the number of pieces.",
        zh="你把轴切成了长度为 2 的小段，只有轴长为 4 时才碰巧正确。`split` 的参数是每段的长度，`chunk` 的参数是段数。",
    ),
    wrong("not-halved", halves=lambda x, dim: (x, x)).hint(
        en="Every number is its own gate: that is SiLU, and nothing gets shorter. One half of the axis is the gate of "
        "the other.",
        zh="你让每个数做自己的门：那是 SiLU，长度也没有变短。应当用轴的一半作为另一半的门。",
    ),
    wrong("swiglu-for-glu", opened=F.silu).hint(
        en="Your gate goes through SiLU: that is SwiGLU. GLU, the original, has the sigmoid.",
        zh="你的门经过的是 SiLU：那是 SwiGLU。最初的 GLU 用的是 sigmoid。",
        section=BY_HAND,
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("geglu-for-glu", opened=F.gelu).hint(
        en="Your gate goes through GELU: that is GEGLU. GLU has the sigmoid.",
        zh="你的门经过的是 GELU：那是 GEGLU。GLU 用的是 sigmoid。",
        section=BY_HAND,
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("reglu-for-glu", opened=F.relu).hint(
        en="Your gate goes through ReLU: that is ReGLU. GLU has the sigmoid.",
        zh="你的门经过的是 ReLU：那是 ReGLU。GLU 用的是 sigmoid。",
        section=BY_HAND,
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("gate-not-activated", opened=lambda gate: gate).hint(
        en="You multiply the two halves as they are: that is the bilinear unit. The gate goes through the sigmoid "
        "first.",
        zh="你把两半直接相乘：那是双线性单元。门要先经过 sigmoid。",
        section=BY_HAND,
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("tanh-for-sigmoid", opened=torch.tanh).hint(
        en="Your gate goes through `tanh` and can turn a sign round. The sigmoid stays between 0 and 1: closed or "
        "open.",
        zh="你的门经过的是 `tanh`，可能把符号反过来。sigmoid 在 0 和 1 之间：从关到开。",
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("softmax-for-sigmoid", opened=lambda gate: gate.softmax(-1)).hint(
        en="Your gate goes through a softmax, so its numbers compete for one sum. With the sigmoid each opens or "
        "closes by itself.",
        zh="你的门经过的是 softmax：各个数加起来是定值，一个大了，别的就小。用 sigmoid 时，每个数各管各的开关。",
        hint_line="opened = torch.sigmoid(gate)",
    ),
    wrong("added", join=lambda value, gate, opened: value + opened(gate)).hint(
        en="You add the gate to the value. A gate multiplies: it decides how much of the value passes.",
        zh="你把门加到了值上。门应当与值逐元素相乘，由它决定值能通过多少。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("value-alone", join=lambda value, gate, opened: value).hint(
        en="You return one half as it is; the gate has no part in it. Multiply by the opened gate.",
        zh="你原样返回了其中一半，门没有起作用。还要乘以激活后的门。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("gate-alone", join=lambda value, gate, opened: opened(gate)).hint(
        en="You return the opened gate alone. Multiply the other half by it.",
        zh="你只返回了激活后的门。还要用它乘另一半。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("product-activated", join=lambda value, gate, opened: opened(value * gate)).hint(
        en="You multiply first and activate the product. Only the gate is activated, and then it multiplies.",
        zh="你先相乘，再激活乘积。只有门需要激活，激活之后再相乘。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("both-activated", join=lambda value, gate, opened: opened(value) * opened(gate)).hint(
        en="You activate both halves. The value stays as it is.",
        zh="你把两半都激活了。值的那一半应当保持不变。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("tanh-of-the-value", join=lambda value, gate, opened: value.tanh() * opened(gate)).hint(
        en="The value goes through `tanh`, as in WaveNet and in an LSTM. In GLU it stays linear, so that its gradient "
        "does not vanish.",
        zh="值的那一半经过了 `tanh`，WaveNet 和 LSTM 就是这样。在 GLU 里，值保持线性，梯度才不会消失。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
    wrong("gate-times-its-own-activation", join=lambda value, gate, opened: gate * opened(gate)).hint(
        en="You multiply the activated gate by the gate again. It is the other half that it multiplies.",
        zh="你用激活后的门又乘了门自己。它要乘的是另一半。",
        hint_line="y = value * torch.sigmoid(gate)",
    ),
)

GLU = Exercise(
    name="glu",
    recipe=glu_recipe,
    kernel=feed_forward.glu,
    cases=(
        Case("rows", {"x": torch.tensor([[1.0, -2, 0.5, 3], [2, 1, -1, -3]])}),
        Case("six features", {"x": torch.tensor([[1.0, 2, 3, -1, 0, 1]])}),
        Case("another axis", {"x": torch.tensor([[1.0, 2], [3, 4], [-1, 0], [1, 2]]), "dim": 0}),
        Case("tokens", {"x": 2 * waves(2, 4, 6), "dim": 1}),
        Case("from the end", {"x": 2 * waves(2, 6, 4), "dim": -2}),
        Case("square", {"x": 2 * waves(4, 4), "dim": 1}),
        Case("square, by rows", {"x": 2 * waves(4, 4), "dim": 0}),
        Case("axes of size 1", {"x": 2 * waves(4, 1, 1, 1), "dim": 0}),
        Case("images", {"x": 2 * waves(2, 3, 4, 5), "dim": 2}),
        Case("one axis", {"x": torch.tensor([3.0, -1, 2, 1])}),
        Case("one number opens one", {"x": torch.tensor([[2.0, -1], [1, 3], [-2, 1]])}),
        Case("far from 0", {"x": torch.tensor([[12.0, -9, -1, 2]])}),
        Case("gate nearly closed", {"x": torch.tensor([[2.0, 1, -12, -15]], dtype=torch.float64)}, tolerance=1e-3),
        Case("gate nearly open", {"x": torch.tensor([[2.0, 1, 3, 9, 11, 13]], dtype=torch.float64)}, tolerance=1e-6),
        Case("gradient", {"x": 2 * waves(2, 4, 4), "dim": -1}, gradient=True),
        Case(
            "overflows",
            {"x": torch.tensor([[1.0, 2, -200, 200]])},
            gradient=True,
            tolerance=1e-2,
            advice=Advice(SIGMOID_OVERFLOW, milder={"x": torch.tensor([[1.0, 2, -20, 20]])}),
        ),
    ),
    mistakes=GLU_MISTAKES,
    scaled_inputs=lambda n: {"x": waves(n, 4)},
    section=FURTHER,
    panel=Text(
        en="under *Straight and curved contours*, choose sigmoid and tick the gate: the unit is v times σ(u).",
        zh="在“直的等高线，弯的等高线”一节选择 sigmoid，并勾选门控：单元就是 v 乘以 σ(u)。",
    ),
    hint_line="value, gate = x.chunk(2, dim)",
)
