"""Known mistakes of `swiglu`, the whole feed-forward network with its three matrices."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from blocklab_course.checks.case import Advice, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import with_section, wrong
from blocklab_course.checks.modules import load_weights, resample
from blocklab_course.checks.outcome import CannotCompare
from blocklab_course.i18n import Text

from .activations import BY_HAND, SIGMOID_OVERFLOW

THREE_MATRICES = Text(en="Three matrices", zh="三个矩阵")


def named_by_meta(w1: Tensor, w2: Tensor, w3: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The way to the gate, the way up and the way down."""
    return w1, w3, w2


def gate_times_value(gate: Tensor, value: Tensor, opened: Callable) -> Tensor:
    return opened(gate) * value


def recipe(
    x: Tensor,
    w1: Tensor,
    w2: Tensor,
    w3: Tensor,
    *,
    roles: Callable = named_by_meta,
    project: Callable = F.linear,
    opened: Callable = F.silu,
    join: Callable = gate_times_value,
    descend: Callable = F.linear,
    finish: Callable = lambda y, x: y,
) -> Tensor:
    to_gate, up, down = roles(w1, w2, w3)
    hidden = join(project(x, to_gate), project(x, up), opened)
    return finish(descend(hidden, down), x)


def three_linear_layers(module: nn.Module, _exercise: Exercise, arguments: dict[str, Tensor]) -> Tensor:
    """Call a Module whose Linear layers w1, w2 and w3 have the matrices of the case as their weights.

    It is called in eval mode, because many such layers end in dropout. Raises CannotCompare for other names.
    """
    weights = {f"{name}.weight": w for name, w in arguments.items() if name != "x"}
    return functional_call(load_weights(module, weights).eval(), weights, arguments["x"])


MAX_WEIGHTS = 2**16  # numbers of one matrix; more would only cost time


def resize_matrices(module: nn.Module, arguments: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the arguments in the sizes of the Module's own w1."""
    w1 = getattr(getattr(module, "w1", None), "weight", None)
    if not isinstance(w1, Tensor) or w1.dim() != 2:
        return arguments
    if w1.numel() > MAX_WEIGHTS:
        raise CannotCompare("module-too-large", {"numbers": MAX_WEIGHTS})
    (hidden, d), x = w1.shape, arguments["x"]
    shapes = {"w1": (hidden, d), "w2": (d, hidden), "w3": (hidden, d)}
    return {"x": resample(x, d)} | {name: resize_matrix(arguments[name], *shape) for name, shape in shapes.items()}


def resize_matrix(w: Tensor, rows: int, columns: int) -> Tensor:
    """Cut or continue a matrix along both axes, so that its products stay about as large."""
    resized = resample(resample(w, columns).T, rows).T.contiguous()
    return resized * min(1.0, w.shape[1] / columns)


ROLES_MISTAKES = (
    wrong("w3-is-the-gate", roles=lambda w1, w2, w3: (w3, w1, w2)).hint(
        en="SiLU stands on the branch of w3. Here `w1` is the gate, as in Meta's code; other code has it the other way "
        "round, so look before you copy weights.",
        zh="SiLU 用在了 w3 那一支上。这里的门是 `w1`，与 Meta 的代码一致；别的代码可能相反，照搬权重之前请先看清楚。",
    ),
    wrong("matrices-in-order", roles=lambda w1, w2, w3: (w1, w2, w3)).hint(
        en="You take the matrices in the order gate, value, way back. Here `w2` leads back to d and `w3` to the value. "
        "Only square matrices let this pass without an error.",
        zh="你是按门、值、变回 d 个数的顺序使用三个矩阵的。"
        "这里变回 d 个数用 `w2`，算值用 `w3`。只有三个都是方阵，才会不报错而算出错的结果。",
        shown_on="square",
    ),
    wrong("w3-unused", roles=lambda w1, w2, w3: (w1, w1, w2)).hint(
        en="Both branches use `w1`, and `w3` is not used at all. The value has a matrix of its own.",
        zh="两支用的都是 `w1`，`w3` 根本没有用到。值的那一支应当有自己的矩阵。",
    ),
    wrong("w1-unused", roles=lambda w1, w2, w3: (w3, w3, w2)).hint(
        en="Both branches use `w3`, and `w1` is not used at all. The gate has a matrix of its own.",
        zh="两支用的都是 `w3`，`w1` 根本没有用到。门的那一支应当有自己的矩阵。",
    ),
)


def untransposed(x: Tensor, w: Tensor) -> Tensor:
    return x @ w


def two_axes_only(x: Tensor, w: Tensor) -> Tensor:
    return torch.mm(x, w.T)


PROJECTION_MISTAKES = (
    wrong("matrices-not-transposed", project=untransposed, descend=untransposed).hint(
        en="You multiply by the matrices as they are. They lie as in `nn.Linear`, `(out, in)`: transpose them, or use "
        "`F.linear`. Only square matrices let this pass without an error.",
        zh="你没有转置就乘了这些矩阵。"
        "它们的形状与 `nn.Linear` 相同，是 `(out, in)`：请转置，或者用 `F.linear`。只有方阵才不会报错，但结果是错的。",
        shown_on="square",
    ),
    wrong("upper-matrices-not-transposed", project=untransposed).hint(
        en="You transpose `w2`, but not `w1` and `w3`. All three lie as in `nn.Linear`, `(out, in)`.",
        zh="你转置了 `w2`，却没有转置 `w1` 和 `w3`。三个矩阵的形状都与 `nn.Linear` 相同，是 `(out, in)`。",
        shown_on="square",
        hint_line="gate, value = F.linear(x, w1), F.linear(x, w3)",
    ),
    wrong("lower-matrix-not-transposed", descend=untransposed).hint(
        en="You transpose `w1` and `w3`, but not `w2`. All three lie as in `nn.Linear`, `(out, in)`.",
        zh="你转置了 `w1` 和 `w3`，却没有转置 `w2`。三个矩阵的形状都与 `nn.Linear` 相同，是 `(out, in)`。",
        shown_on="square",
    ),
    wrong("product-of-two-axes-only", partial(recipe, project=two_axes_only, descend=two_axes_only)).hint(
        en="`torch.mm` wants exactly two axes, and x is `(*, d)`. `F.linear(x, w)` or `x @ w.T` takes any number.",
        zh="`torch.mm` 只收两个轴，而 x 的形状是 `(*, d)`。请用 `F.linear(x, w)` 或 `x @ w.T`，有几个轴都行。",
        hint_line="gate, value = F.linear(x, w1), F.linear(x, w3)",
    ),
    wrong("way-down-missing", descend=lambda hidden, down: hidden).hint(
        en="You return the hidden units. The network leads back to the width of x, through `w2`.",
        zh="你返回的是隐藏单元。整个网络还要乘 `w2`，变回 d 个数。",
    ),
)

GEGLU = wrong("geglu-for-swiglu", opened=F.gelu).hint(
    en="Your gate goes through GELU: that is GEGLU, which some models use. SwiGLU has SiLU.",
    zh="你的门经过的是 GELU：那是 GEGLU，有些模型用它。SwiGLU 用的是 SiLU。",
)
GATE_MISTAKES = (
    wrong("glu-for-swiglu", opened=torch.sigmoid).hint(
        en="Your gate goes through the sigmoid: that is the original GLU. In SwiGLU it goes through SiLU, which is the "
        "gate times its sigmoid.",
        zh="你的门经过的是 sigmoid：那是最初的 GLU。在 SwiGLU 里，门经过的是 SiLU，也就是门乘以它自己的 sigmoid。",
    ),
    GEGLU,
    GEGLU.spelled(partial(recipe, opened=partial(F.gelu, approximate="tanh"))),
    wrong("reglu-for-swiglu", opened=F.relu).hint(
        en="Your gate goes through ReLU: that is ReGLU. SwiGLU has SiLU, which lets a little of a negative gate pass.",
        zh="你的门经过的是 ReLU：那是 ReGLU。SwiGLU 用的是 SiLU，门为负时还能通过一点点。",
    ),
    wrong("gate-not-activated", opened=lambda gate: gate).hint(
        en="The two branches are multiplied as they are: that is the bilinear unit. SiLU belongs on the gate.",
        zh="你把两支直接相乘了：那是双线性单元。门的那一支要先经过 SiLU。",
    ),
    wrong("tanh-for-silu", opened=torch.tanh).hint(
        en="Your gate goes through `tanh` and never grows beyond 1. SiLU grows with the gate.",
        zh="你的门经过的是 `tanh`，从不超过 1。SiLU 会随着门增大。",
    ),
    wrong("softmax-for-silu", opened=lambda gate: gate.softmax(-1)).hint(
        en="Your gate goes through a softmax, so the hidden units compete for one sum. SiLU looks at one number at a "
        "time.",
        zh="你的门经过的是 softmax：各个隐藏单元的门加起来是定值，一个大了，别的就小。SiLU 每次只看一个数。",
    ),
)

JOIN_MISTAKES = (
    wrong("product-activated", join=lambda gate, value, opened: opened(gate * value)).hint(
        en="You multiply the branches and activate the product. Activate the gate first, then multiply.",
        zh="你先把两支相乘，再激活乘积。应当先激活门，再相乘。",
    ),
    wrong("branches-added", join=lambda gate, value, opened: opened(gate) + value).hint(
        en="You add the branches. A gate multiplies, number by number.", zh="你把两支相加了。门应当与值逐元素相乘。"
    ),
    wrong("no-gate", join=lambda gate, value, opened: opened(gate)).hint(
        en="Only the branch of `w1` comes through, as in a network with two matrices. Multiply by the branch of `w3`.",
        zh="只有 `w1` 这一支起了作用，就像只有两个矩阵的网络。还要乘以 `w3` 那一支。",
    ),
    wrong("value-alone", join=lambda gate, value, opened: value).hint(
        en="Only the branch of `w3` comes through: your network is linear. Multiply by the activated branch of `w1`.",
        zh="只有 `w3` 这一支起了作用，你的网络成了线性的。还要乘以激活后的 `w1` 那一支。",
    ),
    wrong("both-activated", join=lambda gate, value, opened: opened(gate) * opened(value)).hint(
        en="You activate both branches. The value stays linear; only the gate is activated.",
        zh="你把两支都激活了。值的那一支应当保持线性，只激活门。",
    ),
    wrong("gate-multiplied-again", join=lambda gate, value, opened: gate * opened(gate) * value).hint(
        en="The gate is multiplied in once more. SiLU already holds it: it is the gate times its sigmoid.",
        zh="门又多乘了一次。SiLU 里已经有它了：SiLU 就是门乘以它自己的 sigmoid。",
    ),
)

OTHER_MISTAKES = (
    wrong("input-activated", lambda x, w1, w2, w3: F.linear(F.linear(F.silu(x), w1) * F.linear(x, w3), w2)).hint(
        en="You activate x before `w1`. The activation comes after the matrix, on the gate.",
        zh="你在乘 `w1` 之前就激活了 x。激活应当在乘矩阵之后，作用在门上。",
        hint_line="opened = F.silu(F.linear(x, w1))",
    ),
    wrong("result-activated", finish=lambda y, x: F.silu(y)).hint(
        en="The result of `w2` goes through SiLU once more. The last matrix ends the network.",
        zh="`w2` 的结果又经过了一次 SiLU。乘完最后一个矩阵，这个网络就结束了。",
        hint_line="return F.linear(hidden, w2)",
    ),
    wrong("residual-added", finish=lambda y, x: y + x).hint(
        en="You add x at the end. The residual connection (lesson 12) lies outside this network.",
        zh="你在最后加上了 x。残差连接（第 12 课）不属于这个网络，由外面来加。",
        hint_line="return F.linear(hidden, w2)",
    ),
)

MATRICES = {
    "w1": torch.tensor([[1.0, 0], [0, 1], [1, -1]]),
    "w2": torch.tensor([[1.0, 0, 2], [0, 1, -1]]),
    "w3": torch.tensor([[1.0, 1], [2, 0], [0, -1]]),
}
WAVES = {"w1": waves(3, 2), "w2": waves(2, 3, start=1.0), "w3": waves(3, 2, start=2.0)}

SWIGLU = Exercise(
    name="swiglu",
    recipe=recipe,
    module=three_linear_layers,
    resize=resize_matrices,
    cases=(
        Case("one token", {"x": torch.tensor([[1.0, 2]])} | MATRICES),
        Case(
            "square",
            {
                "x": torch.tensor([[1.0, 2]]),
                "w1": torch.tensor([[1.0, 1], [0, -1]]),
                "w2": torch.tensor([[1.0, 0], [2, 1]]),
                "w3": torch.tensor([[0.0, 1], [2, 3]]),
            },
        ),
        Case("tokens", {"x": 2 * waves(2, 4, 2)} | WAVES),
        Case(
            "fewer hidden units",
            {
                "x": 2 * waves(2, 4),
                "w1": waves(3, 4),
                "w2": waves(4, 3, start=1.0),
                "w3": waves(3, 4, start=2.0),
            },
        ),
        Case(
            "one feature",
            {"x": waves(2, 1, 1), "w1": waves(3, 1), "w2": waves(1, 3, start=1.0), "w3": waves(3, 1, start=2.0)},
        ),
        Case("gates far from 0", {"x": torch.tensor([[-12.0, -11], [13, 1]]), **MATRICES}),
        Case("gradient", {"x": 2 * waves(3, 2)} | WAVES, gradient=True),
        Case(
            "overflows",
            {"x": torch.tensor([[200.0, -200]])} | MATRICES,
            gradient=True,
            tolerance=1e-2,
            advice=Advice(SIGMOID_OVERFLOW, milder={"x": torch.tensor([[20.0, -20]])} | MATRICES),
        ),
    ),
    mistakes=(
        *with_section(THREE_MATRICES, *ROLES_MISTAKES, hint_line="gate, value = F.linear(x, w1), F.linear(x, w3)"),
        *with_section(THREE_MATRICES, *PROJECTION_MISTAKES, hint_line="y = F.linear(hidden, w2)"),
        *with_section(BY_HAND, *GATE_MISTAKES, hint_line="opened = F.silu(gate)"),
        *with_section(BY_HAND, *JOIN_MISTAKES, hint_line="hidden = F.silu(gate) * value"),
        *with_section(THREE_MATRICES, *OTHER_MISTAKES),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 2)} | WAVES,
    section=BY_HAND,
    panel=Text(
        en="under *Straight and curved contours*, choose SiLU and tick the gate: one hidden unit is the product of the "
        "first two pictures.",
        zh="在“直的等高线，弯的等高线”一节选择 SiLU，并勾选门控：一个隐藏单元就是前两幅图之积。",
    ),
    hint_line="hidden = F.silu(x @ w1.T) * (x @ w3.T)",
)
