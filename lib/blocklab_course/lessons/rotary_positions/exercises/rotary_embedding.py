"""Known mistakes of `rotary_embedding`."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from blocklab import positional_encoding
from blocklab_course.checks.case import Advice, Case, waves
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import exclusive, passthrough, with_section, wrong
from blocklab_course.checks.recipes.frequencies import (
    ANGLE_TOLERANCE,
    AS_PUBLISHED,
    COLUMN_MISTAKES,
    FAR_POSITIONS,
    FREQUENCY_MISTAKES,
    SPEED_MISTAKES,
    falling_frequency,
    half_split_exponent,
    pair_exponent,
)
from blocklab_course.i18n import Text

from .headings import BY_HAND, PAIRINGS, TWO_CLOCKS

FREQUENCIES = "frequencies = base ** (-torch.arange(0, d, 2) / d)"


def quarter_turn(x: Tensor) -> Tensor:
    """Every pair (a, b) as (-b, a)."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([-b, a], -1).flatten(-2)


def quarter_turn_of_halves(x: Tensor) -> Tensor:
    """The same where features i and i + d/2 make a pair."""
    a, b = x.tensor_split(2, -1)
    return torch.cat([-b, a], -1)


def joined_quarter_turn(x: Tensor) -> Tensor:
    """Every second feature taken, as for neighbours, and put back as for halves: a `rotate_half` in published code."""
    return torch.cat([-x[..., 1::2], x[..., 0::2]], -1)


def neighbours_swapped(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def turned(x: Tensor, quarter: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x * cos + quarter * sin


def every_with_every(positions: Tensor, frequencies: Tensor) -> Tensor:
    return positions[:, None] * frequencies


def recipe(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    at: Callable = lambda positions: positions,
    given: Callable = passthrough,
    exponent: Callable = pair_exponent,
    frequency: Callable = falling_frequency,
    times: Callable = every_with_every,
    quarter: Callable = quarter_turn,
    rounded: Callable = lambda angles, dtype: angles,
    turn: Callable = turned,
    finish: Callable = lambda y, x: y,
    typed: Callable = lambda y, dtype: y.to(dtype),
) -> Tensor:
    d = x.shape[-1]
    j = torch.arange(d, dtype=torch.float64)
    angles = rounded(times(at(positions), frequency(given(base), exponent(j, d), d)), x.dtype)
    wide = x.double()
    return typed(finish(turn(wide, quarter(wide), angles.cos(), angles.sin()), wide), x.dtype)


def added(x: Tensor, _quarter: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even = torch.arange(x.shape[-1]) % 2 == 0
    return x + torch.where(even, sin, cos)


def first_negated_too(x: Tensor, quarter: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even = torch.arange(x.shape[-1]) % 2 == 0
    return turned(x, quarter, torch.where(even, cos, -cos), sin)


def overwritten(x: Tensor, quarter: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """What comes of `a = a cos - b sin; b = a sin + b cos`."""
    y = turned(x, quarter, cos, sin)
    y[..., 1::2] = y[..., 0::2] * sin[..., 1::2] + x[..., 1::2] * cos[..., 1::2]
    return y


def exchanged(x: Tensor, _quarter: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """What comes of `b, a = x[..., 0::2], x[..., 1::2]`."""
    x = neighbours_swapped(x)
    return turned(x, quarter_turn(x), cos, sin)


def one_with_one(positions: Tensor, frequencies: Tensor) -> Tensor:
    """What comes of `positions * frequencies`: it runs only where both are as long, or one of them has length 1."""
    return (positions * frequencies[0::2]).repeat_interleave(2, -1)


def left_wide(y: Tensor, dtype: torch.dtype) -> Tensor:
    """What comes of angles in float32 that nothing converts back."""
    return y.to(torch.promote_types(dtype, torch.float32))


def first_half_alone(y: Tensor, x: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return torch.cat([y[..., :half], x[..., half:]], -1)


def alternating(y: Tensor, _x: Tensor) -> Tensor:
    """The first half in the even places, the second in the odd ones."""
    return torch.stack(y.tensor_split(2, -1), -1).flatten(-2)


PAIR_MISTAKES = (
    wrong("pairs-of-halves", exponent=half_split_exponent, quarter=quarter_turn_of_halves).hint(
        en="You pair feature i with feature i + d/2, as most of Hugging Face's models do. That is valid with weights "
        "made for it; this exercise pairs neighbors, 2i with 2i + 1, as Meta's code does.",
        zh="你让特征 i 与特征 i + d/2 配对，Hugging Face 的多数模型就是这样。"
        "只要权重与之相配，这也是对的；本练习让相邻的特征 2i 与 2i + 1 配对，与 Meta 的代码一致。",
    ),
    wrong("angles-of-halves", exponent=half_split_exponent).hint(
        en="You rotate neighbors, but lay out the angles for the other pairing, i with i + d/2. The two features of a "
        "pair need the same angle: each angle twice in a row.",
        zh="你旋转的是相邻特征，角度却按另一种配对排列，即 i 与 i + d/2。"
        "一对中的两个特征要用同一个角度：每个角度连续出现两次。",
    ),
    wrong("partners-of-halves", quarter=quarter_turn_of_halves).hint(
        en="Your angles are laid out for neighbors, but the partner you mix in is the feature d/2 places away. The "
        "partner of feature 2i is 2i + 1.",
        zh="你的角度按相邻特征排列，混入的却是相隔 d/2 的那个特征。与特征 2i 配对的是 2i + 1。",
    ),
    wrong("joined-in-halves", finish=lambda y, x: torch.cat([y[..., 0::2], y[..., 1::2]], -1)).hint(
        en="You put all the first partners in front and all the second ones behind, with `cat`, or with `stack` along "
        "the wrong axis. Each feature goes back to its own place, so the two have to alternate: `stack` along axis −1.",
        zh="你把每对的第一个特征都排到前面，第二个都排到后面（用了 `cat`，或者 `stack` 的轴不对）。"
        "每个特征应当回到原来的位置，两者交替排列：`stack` 的轴是 −1。",
        hint_line="y = torch.stack(rotated, -1).flatten(-2)",
    ),
    wrong("halves-put-between", exponent=half_split_exponent, quarter=quarter_turn_of_halves, finish=alternating).hint(
        en="You cut x into halves and put the results back in turns (`stack`), so features change places. Cut as you "
        "put back: every second feature, `x[..., 0::2]` and `x[..., 1::2]`.",
        zh="你把 x 切成前后两半，放回去时却用 `stack` 让两者交替，特征换了位置。怎样放回，就怎样切开："
        "隔一个取一个，即 `x[..., 0::2]` 和 `x[..., 1::2]`。",
    ),
    wrong("exchanged-behind", finish=lambda y, x: neighbours_swapped(y)).hint(
        en="The two features of a pair come back in each other's place: `stack` the first one first.",
        zh="放回去时，一对中的两个特征互换了位置：`stack` 时先放第一个，再放第二个。",
        hint_line="y = torch.stack(rotated, -1).flatten(-2)",
    ),
    wrong("exchanged-before", turn=exchanged).hint(
        en="You take the second feature of a pair for the first: `x[..., 0::2]` is a, `x[..., 1::2]` is b.",
        zh="你把一对中的第二个特征当成了第一个：`x[..., 0::2]` 是 a，`x[..., 1::2]` 是 b。",
    ),
    wrong("partners-joined-in-halves", quarter=joined_quarter_turn).hint(
        en="You take every second feature, but join with `cat`, so what is mixed in is not the partner. Taken in "
        "turns, they go back in turns: `stack(…, -1).flatten(-2)`.",
        zh="你隔一个特征取一个，却用 `cat` 前后拼接，于是混进来的不是同一对的搭档。"
        "隔一个取，就要用 `stack(…, -1).flatten(-2)` 交替放回。",
    ),
    wrong("pairs-not-joined", finish=lambda y, x: y.unflatten(-1, (-1, 2))).hint(
        en="Each pair still has an axis of its own, `(*, L, d/2, 2)`. `.flatten(-2)` joins the last two axes.",
        zh="每一对仍单独占一个轴，形状成了 `(*, L, d/2, 2)`。请用 `.flatten(-2)` 把最后两个轴接起来。",
        hint_line="return torch.stack(rotated, -1).flatten(-2).to(x.dtype)",
    ),
    wrong("first-half-alone", finish=first_half_alone).hint(
        en="You rotate the first half of the features only. Some models do so; here all of them turn.",
        zh="你只旋转了前一半特征。有些模型是这样，但这里所有特征都要旋转。",
    ),
)

TYPE_MISTAKES = (  # the first where nothing else is wrong, the second together with other mistakes
    *exclusive(
        recipe,
        wrong("type-of-the-angles", typed=left_wide).hint(
            en="Your rotation is right. What is left to do: for a float16 or bfloat16 input you return float32, the "
            "type of your angles, and the next layer expects the type of x. Convert the result at the end, "
            "`.to(x.dtype)`.",
            zh="你的旋转是对的，只差一步：输入是 float16 或 bfloat16 时，你返回的是 float32，也就是角度的类型，"
            "而下一层要的是 x 的类型。请在最后用 `.to(x.dtype)` 转换结果。",
            hint_line="return torch.stack(rotated, -1).flatten(-2).to(x.dtype)",
        ),
    ),
    wrong("type-of-the-angles", typed=left_wide).hint(
        en="A float16 input comes back as float32, the type of your angles. The result has the type of x: end with "
        "`.to(x.dtype)`.",
        zh="输入是 float16 时，你返回的是 float32，也就是角度的类型。结果的类型应与 x 相同，请以 `.to(x.dtype)` 结尾。",
        hint_line="return torch.stack(rotated, -1).flatten(-2).to(x.dtype)",
    ),
)


def of_16_bit_angles(
    dtype: torch.dtype, frequencies: Callable, turning_in: torch.dtype
) -> Callable[[Tensor, Tensor, float], Tensor]:
    """The right rotation by angles that are computed in one 16-bit type, whatever the type of x."""

    def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
        angles = (positions.to(dtype)[:, None] * frequencies(x.shape[-1], base, dtype)).to(turning_in)
        cos, sin = (table.repeat_interleave(2, -1) for table in (angles.cos(), angles.sin()))
        return turned(x, quarter_turn(x), cos, sin).to(x.dtype)

    return rotate


FREQUENCIES_IN_16_BITS = (  # the ways in which they are written; each rounds in other places
    lambda d, base, dtype: 1.0 / base ** (torch.arange(0, d, 2, dtype=dtype) / d),
    lambda d, base, dtype: base ** (-torch.arange(0, d, 2, dtype=dtype) / d),
    lambda d, base, dtype: (base ** (-torch.arange(0, d, 2).double() / d)).to(dtype),
)

IN_16_BITS = wrong("angles-in-16-bits", rounded=lambda angles, dtype: angles.to(dtype)).hint(
    en="Your angles are computed in 16 bits, in which far positions run into each other: bfloat16 has no 257, only 256 "
    "and 258, and float16 no 2049. Compute positions and angles in float32 or wider; only the result is rounded.",
    zh="你用 16 位的类型计算角度，位置一远就分不清了：bfloat16 里没有 257，只有 256 和 258；float16 里没有 2049。"
    "位置和角度要用 float32 或更宽的类型计算，最后只舍入结果。",
    hint_line="angles = positions.double()[:, None] * frequencies",
)
SHORT = torch.bfloat16, torch.float16
ROUNDING_MISTAKES = (
    IN_16_BITS,
    *(IN_16_BITS.spelled(partial(recipe, at=lambda positions, dtype=dtype: positions.to(dtype))) for dtype in SHORT),
    *(
        IN_16_BITS.spelled(of_16_bit_angles(dtype, frequencies, turning_in))
        for dtype in SHORT
        for turning_in in (dtype, torch.float32)
        for frequencies in FREQUENCIES_IN_16_BITS
    ),
)

ROTATION_MISTAKES = (
    wrong("turned-back", turn=lambda x, quarter, cos, sin: turned(x, quarter, cos, -sin)).hint(
        en="You rotate the other way round: the minus belongs to the first feature of a pair, `a cos - b sin`. Some "
        "code does turn that way, with weights trained for it; here the angle grows with the position.",
        zh="你转的方向反了：负号应在一对中的第一个特征上，即 `a cos - b sin`。"
        "有的代码确实反着转，那里的权重就是这样训练的；这里角度随位置增大。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("minus-missing", quarter=neighbours_swapped).hint(
        en="Both sines are added, and the vectors change their length. In a rotation one of the two is subtracted.",
        zh="两个正弦项都是加上去的，于是向量的长度变了。旋转时，其中一项应当减去。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("plus-missing", quarter=lambda x: -neighbours_swapped(x)).hint(
        en="You subtract in both features of a pair, and the vectors change their length. In the second one the two "
        "terms are added, `a sin + b cos`.",
        zh="一对中的两个特征，你都把正弦项减掉了，于是向量的长度变了。第二个特征的两项应当相加：`a sin + b cos`。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("second-subtracted", turn=first_negated_too).hint(
        en="You subtract in the second feature of a pair too, and the vectors change their length; at position 0 "
        "`(a, b)` becomes `(a, -b)`. There the two terms are added, `a sin + b cos`.",
        zh="一对中的第二个特征你也用了减法，向量的长度因此变了；在位置 0，`(a, b)` 也成了 `(a, -b)`。"
        "那里的两项应当相加：`a sin + b cos`。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("sine-and-cosine-swapped", turn=lambda x, quarter, cos, sin: turned(x, quarter, sin, cos)).hint(
        en="Sine and cosine stand in each other's place. At position 0 nothing may turn: a feature keeps its own value "
        "times the cosine.",
        zh="正弦和余弦的位置互换了。在位置 0 处什么都不转，所以特征自己的值应乘以余弦。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("cosine-alone", turn=lambda x, quarter, cos, sin: x * cos).hint(
        en="You multiply by the cosine and stop there: the vectors only shrink. To turn, each feature also takes in "
        "the other of its pair, times the sine.",
        zh="你只乘了余弦，向量只会变短，不会旋转。每个特征还要混入同一对中的另一个特征乘以正弦。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("first-overwritten", turn=overwritten).hint(
        en="The second feature of a pair is computed from the first one after that has changed already. Keep the old "
        "first feature until both are done. (A slice such as `y[..., 0::2]` is a view, and changes with y.)",
        zh="计算一对中的第二个特征时，用的是已经改动过的第一个特征。两个都算完之前，请保留第一个特征的旧值。"
        "（`y[..., 0::2]` 这样的切片只是视图，y 一改，它也跟着变。）",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
    wrong("added", turn=added).hint(
        en="You add sines and cosines to the vector, as one does with the sinusoidal table. RoPE turns the vector and "
        "keeps its length.",
        zh="你把正弦、余弦加到了向量上，那是正弦位置编码的做法。RoPE 让向量旋转，长度不变。",
        hint_line="rotated = a * cos - b * sin, a * sin + b * cos",
    ),
)

POSITION_MISTAKES = (
    wrong("places-for-positions", at=lambda positions: torch.arange(len(positions))).hint(
        en="You count the tokens yourself, 0, 1, 2 … Use `positions`: in generation a lone token may stand at position "
        "500.",
        zh="你自己给词元编了号：0、1、2……请使用 `positions`：生成文本时，单独一个词元也可能位于位置 500。",
        shown_on="late",
        hint_line="angles = positions[:, None] * frequencies",
    ),
    wrong("positions-from-one", at=lambda positions: positions + 1).hint(
        en="Every token is turned one position too far. At position 0 nothing turns.",
        zh="每个词元都多转了一个位置。在位置 0 处什么都不转。",
        hint_line="angles = positions[:, None] * frequencies",
    ),
    wrong("positions-missing", at=torch.ones_like).hint(
        en="All tokens are turned by the same angles. The angle is the position times the frequency.",
        zh="不论在哪个位置，词元转过的角度都一样。角度应是位置乘以频率。",
        hint_line="angles = positions[:, None] * frequencies",
    ),
)

ANGLE_MISTAKES = (
    wrong("in-degrees", at=torch.deg2rad).hint(
        en="You turn degrees into radians. The angle, position times ω, is in radians already.",
        zh="你把角度当成度数，换算成了弧度。位置乘以 ω 得到的已经是弧度。",
        hint_line="angles = positions[:, None] * frequencies",
    ),
    *exclusive(
        recipe,
        wrong("one-with-one", times=one_with_one).hint(
            en="You multiply position i by frequency i, one with one. Every position meets every frequency: make a "
            "column of the positions, `positions[:, None]`.",
            zh="你让第 i 个位置乘了第 i 个频率，两者对位相乘了。每个位置都要乘以每个频率："
            "先用 `positions[:, None]` 把位置变成一列。",
            hint_line="angles = positions[:, None] * frequencies",
        ),
        wrong("one-with-one-and-type", times=one_with_one, typed=left_wide).hint(
            en="You multiply position i by frequency i, one with one. Every position meets every frequency: make a "
            "column of the positions, `positions[:, None]`. Besides, a float16 input comes back as float32: end with "
            "`.to(x.dtype)`.",
            zh="你让第 i 个位置乘了第 i 个频率，两者对位相乘了。每个位置都要乘以每个频率："
            "先用 `positions[:, None]` 把位置变成一列。另外，输入是 float16 时你返回了 float32："
            "请以 `.to(x.dtype)` 结尾。",
            hint_line="angles = positions[:, None] * frequencies",
        ),
    ),
    wrong("counted-from-one", exponent=lambda j, d: (j - j % 2 + 2) / d).hint(
        en="Your first pair already has the frequency ω with i = 1. Count from pair 0: the frequency of pair 0 is 1.",
        zh="你的第一对用的已经是 i = 1 的频率。对要从 0 数起，第 0 对的频率是 1。",
    ),
    wrong("exponent-rounded", exponent=lambda j, d: (j > 1).to(j.dtype)).hint(
        en="`//` rounds down, so the exponent of all pairs behind the first is −1. Divide with `/`.",
        zh="`//` 会向下取整，于是从第二对起，指数全是 −1。请用 `/` 来除。",
    ),
)

HALF_TYPE = Text(
    en="With a float16 input your result is rough at far positions. Compute the frequencies in float32 or wider, too, "
    "and round only the result: `.to(x.dtype)`.",
    zh="输入为 float16 时，你的结果在位置很远的地方不够精确。频率也要用 float32 或更宽的类型计算，"
    "最后再用 `.to(x.dtype)` 转换结果。",
)

BETWEEN = Text(
    en="Your function is for positions that count from 0. Long-context models also use fractions of positions, and a "
    "negative one turns back: compute the angle from the position as it is.",
    zh="你的函数只适用于从 0 数起的整数位置。处理长文本的模型也会用小数位置，位置为负时就是往回转："
    "请直接由位置算出角度。",
)


def far_pair(dtype: torch.dtype, positions: list[int]) -> dict[str, Tensor]:
    return {"x": torch.tensor([[3.0, 4, 0, 0]] * len(positions), dtype=dtype), "positions": torch.tensor(positions)}


ROTARY_EMBEDDING = Exercise(
    name="rotary_embedding",
    recipe=recipe,
    kernel=positional_encoding.rotary_embedding,
    cases=(
        Case(
            "small",
            {"x": torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), "positions": torch.tensor([0, 2])},
            tolerance=ANGLE_TOLERANCE,
        ),
        Case("wider", {"x": waves(3, 8), "positions": torch.arange(3), "base": 50.0}, tolerance=ANGLE_TOLERANCE),
        Case(
            "other base",
            {"x": waves(2, 6), "positions": torch.tensor([1, 2]), "base": 100.0},
            tolerance=ANGLE_TOLERANCE,
        ),
        Case(
            "late",
            {"x": torch.tensor([[1.0, 0, 1, 0], [1, 0, 1, 0]]), "positions": torch.tensor([5, 7])},
            tolerance=ANGLE_TOLERANCE,
        ),
        Case(
            "same size, other base",
            {"x": torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), "positions": torch.tensor([0, 2]), "base": 50.0},
            tolerance=ANGLE_TOLERANCE,
        ),
        Case("in any order", {"x": waves(3, 4), "positions": torch.tensor([6, 1, 1])}, tolerance=ANGLE_TOLERANCE),
        Case("heads", {"x": waves(2, 3, 5, 4), "positions": torch.arange(5)}, tolerance=ANGLE_TOLERANCE),
        Case("one head", {"x": waves(2, 1, 3, 4), "positions": torch.arange(3)}, tolerance=ANGLE_TOLERANCE),
        Case("one new token", {"x": waves(2, 3, 1, 4), "positions": torch.tensor([7])}, tolerance=ANGLE_TOLERANCE),
        Case(
            "as many heads as tokens", {"x": waves(2, 4, 4, 6), "positions": torch.arange(4)}, tolerance=ANGLE_TOLERANCE
        ),
        Case(
            "one token",
            {"x": torch.tensor([[1.0, 0, 1, 0]]), "positions": torch.tensor([3])},
            tolerance=ANGLE_TOLERANCE,
        ),
        Case(
            "float16",
            {"x": torch.tensor([[1.0, 2, 3, 4]]).half(), "positions": torch.tensor([2])},
            tolerance=1e-2,
        ),
        Case(
            "bfloat16",
            {"x": torch.tensor([[1.0, 2, 3, 4]]).bfloat16(), "positions": torch.tensor([2])},
            tolerance=5e-2,
        ),
        *(  # in 16 bits 257 becomes 256 and 2049 becomes 2048; the first pair turns by the position itself
            Case(f"far in {dtype}".replace("torch.", ""), far_pair(dtype, positions), tolerance=tolerance)
            for dtype, positions, tolerance in (
                (torch.bfloat16, [256, 257], 5e-2),
                (torch.float16, [2048, 2049], 1e-2),
            )
        ),
        Case(
            "gradient",
            {"x": waves(2, 3, 6), "positions": torch.tensor([0, 2, 5]), "base": 100.0},
            gradient=True,
            tolerance=ANGLE_TOLERANCE,
        ),
        Case(
            "far-positions",
            {"x": torch.tensor([[1.0, 0, 1, 0, 1, 0]]), "positions": torch.tensor([100000])},
            tolerance=2e-5,
            advice=Advice(FAR_POSITIONS, within=5e-2),
        ),
        Case(
            "between-positions",
            {"x": torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), "positions": torch.tensor([-1.5, 2.5])},
            tolerance=1e-3,
            advice=Advice(
                BETWEEN,
                milder={"x": torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), "positions": torch.tensor([1, 2])},
                raises=(Exception,),
            ),
        ),
        Case(
            "in-float16",
            {"x": torch.tensor([[0.0, 0, 3, 4]]).half(), "positions": torch.tensor([3001]), "base": 100.0},
            tolerance=1e-2,
            advice=Advice(
                HALF_TYPE,
                milder={"x": torch.tensor([[0.0, 0, 3, 4]]), "positions": torch.tensor([3001]), "base": 100.0},
            ),
        ),
    ),
    mistakes=(
        *with_section(PAIRINGS, *PAIR_MISTAKES),
        *ROTATION_MISTAKES,
        *with_section(TWO_CLOCKS, *POSITION_MISTAKES),
        *TYPE_MISTAKES,
        *ROUNDING_MISTAKES,
        *with_section(
            BY_HAND,
            *ANGLE_MISTAKES,
            *COLUMN_MISTAKES,
            *FREQUENCY_MISTAKES,
            *SPEED_MISTAKES,
            AS_PUBLISHED,
            hint_line=FREQUENCIES,
        ),
    ),
    scaled_inputs=lambda n: {"x": waves(n, n, 4), "positions": torch.arange(n)},
    exempt={"base of 0": "a frequency would be 1 over 0", "axis 3 of size 1": "features come in pairs"},
    section=BY_HAND,
    panel=Text(
        en="under *Two clocks*, drag *query at* and watch the blue hand of pair 1: it goes counterclockwise, by 0.1 "
        "for each position.",
        zh="在“两组指针”一节拖动“查询的位置”，看第 1 对的蓝针：它逆时针转，每个位置转 0.1。",
    ),
    hint_line="a, b = x[..., 0::2], x[..., 1::2]",
)
