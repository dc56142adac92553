"""Known mistakes of `sinusoidal_encoding` and `shift_matrix`."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from blocklab import positional_encoding
from blocklab_course.checks.case import Advice, Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, with_section, wrong
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

BY_HAND = Text(en="By hand", zh="动手算")
CLOCKS = Text(en="Clocks", zh="时钟")
ELSEWHERE = Text(en="What you will meet elsewhere", zh="在别处会遇到什么")

FREQUENCIES = "frequencies = base ** (-torch.arange(0, d_model, 2) / d_model)"


def from_zero(length: int) -> Tensor:
    return torch.arange(length, dtype=torch.float64)


def table(
    length: int,
    d_model: int,
    base: float = 10000.0,
    *,
    positions: Callable = from_zero,
    given: Callable = passthrough,
    exponent: Callable = pair_exponent,
    frequency: Callable = falling_frequency,
    cosine: Callable = lambda k, j, d: j % 2 == 1,
    wave: Callable = lambda function, k, w: function(k * w),
    finish: Callable = lambda table: table,
) -> Tensor:
    k, j = positions(length)[:, None], torch.arange(d_model, dtype=torch.float64)
    w = frequency(given(base), exponent(j, d_model), d_model)
    waves = torch.where(cosine(k, j, d_model), wave(torch.cos, k, w), wave(torch.sin, k, w))
    return finish(waves.float())


def second_half(_k: Tensor, j: Tensor, d: int) -> Tensor:
    return j >= d // 2


LAYOUT_MISTAKES = (
    wrong("cosine-first", cosine=lambda k, j, d: j % 2 == 0).hint(
        en="Your even columns hold the cosine. In the paper's formula column 2i is the sine and column 2i + 1 the "
        "cosine.",
        zh="你的偶数列是余弦。按论文的公式，第 2i 列是正弦，第 2i + 1 列是余弦。",
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("sine-by-position", cosine=lambda k, j, d: (k % 2 == 1).expand(-1, d)).hint(
        en="Even positions get sines and odd positions cosines in your table. It is the columns that alternate: every "
        "position has both.",
        zh="在你的表里，偶数位置是正弦，奇数位置是余弦。交替的应当是列：每个位置两种都有。",
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("sine-alone", cosine=lambda k, j, d: j < 0).hint(
        en="Both columns of a pair hold the sine. The second one is the cosine of the same angle: only together do "
        "they tell where on the circle the angle is.",
        zh="一对中的两列都是正弦。第二列应是同一角度的余弦：两者合起来，才能确定角度在圆上的位置。",
        section=CLOCKS,
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("sines-then-cosines", cosine=second_half, exponent=half_split_exponent).hint(
        en="All your sines come first and all your cosines after them. That is a valid layout, found in many "
        "libraries; this exercise wants the paper's, in which they alternate.",
        zh="你先放了所有正弦，再放所有余弦。这种排列也是对的，许多库都这样；本练习要的是论文里正弦、余弦交替的排列。",
        section=ELSEWHERE,
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("tensor2tensor", cosine=second_half, exponent=lambda j, d: j % (d // 2) / (d // 2 - 1)).hint(
        en="This is the table of tensor2tensor, the paper's own code: sines first, then cosines, with frequencies down "
        "to 1/base. It is valid, but this exercise uses the formula in the paper: alternating, with `2i/d`.",
        zh="这是论文作者的代码 tensor2tensor 里的表：先正弦，后余弦，频率一直降到 1/base。"
        "它也是对的，但本练习用的是论文里的公式：正弦、余弦交替，指数为 `2i/d`。",
        section=ELSEWHERE,
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("transposed", finish=lambda table: table.T).hint(
        en="Your table lies on its side: one row per column of the formula. It has one row for each position, "
        "`(length, d_model)`.",
        zh="你的表行列颠倒了。每个位置应占一行，形状为 `(length, d_model)`。",
        hint_line="angles = torch.arange(length)[:, None] * frequencies",
    ),
    wrong("batch-axis-first", finish=lambda table: table[None]).hint(
        en="Your table has an axis of length 1 in front. Leave it out, the table is `(length, d_model)`: adding it to "
        "a batch broadcasts anyway.",
        zh="你的表前面多了一个长度为 1 的轴。请去掉它，表的形状应是 `(length, d_model)`：与一个批量相加时会自动广播。",
        section=ELSEWHERE,
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
    wrong("batch-axis-in-the-middle", finish=lambda table: table[:, None]).hint(
        en="Your table has an axis of length 1 in the middle, for batches in which the position comes first. Here the "
        "table is `(length, d_model)`.",
        zh="你的表中间多了一个长度为 1 的轴，那适用于位置轴在最前面的数据。这里表的形状是 `(length, d_model)`。",
        section=ELSEWHERE,
        hint_line="table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)",
    ),
)

POSITION_MISTAKES = (
    wrong("positions-from-one", positions=lambda length: from_zero(length) + 1).hint(
        en="Your first row is that of position 1. Positions begin at 0, where all sines are 0 and all cosines 1.",
        zh="你的第一行对应位置 1。位置从 0 开始，那里所有正弦为 0，所有余弦为 1。",
        hint_line="angles = torch.arange(length)[:, None] * frequencies",
    ),
    wrong("half-the-positions", positions=lambda length: from_zero(length // 2)).hint(
        en="Your table ends half way. Only the pairs are half as many as the columns; positions run over the whole "
        "length, whatever some tutorials say of `L/2`.",
        zh="你的表只有一半长。"
        "一个正弦列配一个余弦列，所以“对”的个数是列数的一半；位置却要取遍整个长度，尽管有些教程写的是 `L/2`。",
        hint_line="angles = torch.arange(length)[:, None] * frequencies",
    ),
    wrong("positions-as-fractions", positions=lambda length: from_zero(length) / length).hint(
        en="You divide the position by the length, so a row changes with the length of the table. A position is "
        "counted: 0, 1, 2 …",
        zh="你把位置除以了长度，于是表的长度一变，同一个位置的那一行也会变。位置就是序号：0、1、2……",
        hint_line="angles = torch.arange(length)[:, None] * frequencies",
    ),
    wrong("division-outside-the-sine", wave=lambda function, k, w: function(k) * w).hint(
        en="The frequency stands outside the sine: you make the waves smaller, not slower. It multiplies the position, "
        "inside the brackets.",
        zh="频率写在了正弦外面：波的幅度变小了，波却没有变慢。频率应当在括号里面，与位置相乘。",
        section=CLOCKS,
        hint_line="angles = torch.arange(length)[:, None] * frequencies",
    ),
)

SINUSOIDAL_ENCODING = Exercise(
    name="sinusoidal_encoding",
    recipe=table,
    kernel=positional_encoding.sinusoidal_encoding,
    cases=(
        Case("small", {"length": 4, "d_model": 4}, tolerance=ANGLE_TOLERANCE),
        Case("wider", {"length": 6, "d_model": 8}, tolerance=ANGLE_TOLERANCE),
        Case("other base", {"length": 4, "d_model": 6, "base": 100.0}, tolerance=ANGLE_TOLERANCE),
        Case("same size, other base", {"length": 4, "d_model": 4, "base": 50.0}, tolerance=ANGLE_TOLERANCE),
        Case("one position", {"length": 1, "d_model": 4}, tolerance=ANGLE_TOLERANCE),
        Case("longer than wide", {"length": 6, "d_model": 4}, tolerance=ANGLE_TOLERANCE),
        Case("many columns", {"length": 3, "d_model": 34, "base": 20.0}, tolerance=ANGLE_TOLERANCE),
        Case(
            "far-positions",
            {"length": 8200, "d_model": 4, "base": 100.0},
            tolerance=2e-5,
            advice=Advice(FAR_POSITIONS, within=1e-2),
        ),
        Case(
            "empty",
            {"length": 0, "d_model": 4},
            advice=Advice(
                Text(
                    en="A table of no rows has the shape `(0, d_model)`. For length 0 your function stops, or gives "
                    "another shape.",
                    zh="没有行的表，形状是 `(0, d_model)`。length 为 0 时，你的函数会报错，或者结果的形状不同。",
                ),
                weak_functions=(lambda length, d_model: torch.empty(0),),
                raises=(Exception,),
            ),
        ),
    ),
    mistakes=(
        *LAYOUT_MISTAKES,
        *POSITION_MISTAKES,
        *COLUMN_MISTAKES,
        *FREQUENCY_MISTAKES,
        *with_section(CLOCKS, *SPEED_MISTAKES),
        *with_section(ELSEWHERE, AS_PUBLISHED),
    ),
    scaled_inputs=lambda n: {"length": n, "d_model": 4},
    exempt={"base of 0": "a frequency would be 1 over 0"},
    section=BY_HAND,
    panel=Text(
        en="under *The whole table*, drag row and column; tick and untick *sines before cosines*.",
        zh="在“整张表”一节拖动“行”和“列”，再勾选、取消“先正弦，后余弦”。",
    ),
    hint_line=FREQUENCIES,
)


def rotation(cos: Tensor, sin: Tensor) -> Tensor:
    """One block per pair, (d/2, 2, 2), for rows (sine, cosine)."""
    return in_blocks([cos, sin], [-sin, cos])


def in_blocks(upper: list[Tensor], lower: list[Tensor]) -> Tensor:
    return torch.stack([torch.stack(upper, -1), torch.stack(lower, -1)], -2)


def along_the_diagonal(blocks: Tensor) -> Tensor:
    return torch.block_diag(*blocks)


def in_quarters(blocks: Tensor) -> Tensor:
    """For a table with all sines before all cosines."""
    rows = [torch.cat([blocks[:, row, column].diag() for column in (0, 1)], 1) for row in (0, 1)]
    return torch.cat(rows)


def first_block_alone(blocks: Tensor) -> Tensor:
    identity = torch.eye(2, dtype=blocks.dtype).expand_as(blocks[1:])
    return along_the_diagonal(torch.cat([blocks[:1], identity]))


def matrix(
    offset: int,
    d_model: int,
    base: float = 10000.0,
    *,
    moved: Callable = lambda offset: offset,
    given: Callable = passthrough,
    exponent: Callable = pair_exponent,
    frequency: Callable = falling_frequency,
    block: Callable = rotation,
    layout: Callable = along_the_diagonal,
) -> Tensor:
    j = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = moved(offset) * frequency(given(base), exponent(j, d_model), d_model)
    return layout(block(angles.cos(), angles.sin())).float()


BLOCK_MISTAKES = (
    wrong("shifts-back", block=lambda cos, sin: in_blocks([cos, -sin], [sin, cos])).hint(
        en="Your matrix moves a row back by the offset: it is transposed, or the minus stands at the other sine. Rows "
        "here hold the sine first, then the cosine.",
        zh="你的矩阵让每一行往回移了 offset 个位置：要么矩阵转置了，要么负号放在了另一个正弦上。"
        "这里每一对都是先正弦、后余弦。",
    ),
    wrong("minus-missing", block=lambda cos, sin: in_blocks([cos, sin], [sin, cos])).hint(
        en="Both sines have the same sign. A rotation has one of each; without it the rows change their length.",
        zh="两个正弦的符号相同。旋转矩阵里应一正一负，否则每一行的长度会改变。",
    ),
    wrong("reflection", block=lambda cos, sin: in_blocks([cos, sin], [sin, -cos])).hint(
        en="The minus stands at a cosine, which makes a reflection. Both cosines are positive, one sine is not.",
        zh="负号放在了余弦上，得到的是反射。两个余弦都取正号，负号应在其中一个正弦上。",
    ),
    wrong("sine-and-cosine-swapped", block=lambda cos, sin: in_blocks([sin, cos], [-cos, sin])).hint(
        en="Sine and cosine stand in each other's place. With offset 0 nothing may move: the cosines belong on the "
        "diagonal.",
        zh="正弦和余弦的位置互换了。offset 为 0 时什么都不应移动，所以对角线上应是余弦。",
    ),
    wrong("no-sine", block=lambda cos, sin: in_blocks([cos, 0 * sin], [0 * sin, cos])).hint(
        en="Your matrix is diagonal, it only shrinks the columns. A sine moves into the cosine beside it, so each "
        "block has four numbers.",
        zh="你的矩阵只有对角线上有数，只会缩小各列。位置移动时，同一对的正弦和余弦会互相混入，所以每一块有四个数。",
    ),
    wrong("for-sines-then-cosines", layout=in_quarters).hint(
        en="This matrix fits a table with all sines before all cosines. Here they alternate, so every pair has a 2 × 2 "
        "block on the diagonal.",
        zh="这个矩阵适用于先放所有正弦、再放所有余弦的表。这里正弦、余弦交替，所以每一对在对角线上有一个 2 × 2 的块。",
        hint_line="M = torch.block_diag(*blocks)",
    ),
    wrong("blocks-in-reverse", layout=lambda blocks: along_the_diagonal(blocks.flip(0))).hint(
        en="The blocks stand in reverse order. The fastest pair, with the frequency 1, comes first.",
        zh="各块的顺序反了。最快的一对频率为 1，应当排在最前面。",
        hint_line="M = torch.block_diag(*blocks)",
    ),
    wrong("nothing-moves", layout=lambda blocks: torch.eye(2 * len(blocks), dtype=blocks.dtype)).hint(
        en="Your matrix is the identity: it leaves every row where it is. That is right only for offset 0.",
        zh="你的矩阵是单位矩阵，每一行都没有移动。只有 offset 为 0 时才对。",
        hint_line="M = torch.block_diag(*blocks)",
    ),
    wrong("first-block-alone", layout=first_block_alone).hint(
        en="Only the first pair is rotated; the others stay where they are. Each pair has a 2 × 2 block of its own.",
        zh="只有第一对旋转了，其余各对都没有动。每一对都应有自己的 2 × 2 的块。",
        hint_line="M = torch.block_diag(*blocks)",
    ),
    wrong("blocks-not-assembled", layout=lambda blocks: blocks).hint(
        en="You return the 2 × 2 blocks one behind the other. Place them on the diagonal of one matrix `(d_model, "
        "d_model)`.",
        zh="你返回的是一叠 2 × 2 的块。请把它们放到同一个矩阵 `(d_model, d_model)` 的对角线上。",
        hint_line="M = torch.block_diag(*blocks)",
    ),
)

OFFSET_MISTAKES = (
    wrong("offset-ignored", moved=lambda offset: 1).hint(
        en="Your matrix always moves by one position. The angle of a pair is the offset times its frequency.",
        zh="你的矩阵总是只移动一个位置。每一对转过的角度应是 offset 乘以它的频率。",
        hint_line="angles = offset * frequencies",
    ),
    wrong("offset-without-sign", moved=abs).hint(
        en="Your matrix moves every row to later positions even where the offset is negative.",
        zh="offset 为负时，你的矩阵仍然把每一行往后移（位置变大）。负的 offset 应当往前移。",
        hint_line="angles = offset * frequencies",
    ),
    wrong("offset-in-degrees", moved=math.radians).hint(
        en="You convert the angle from degrees. Offset times frequency is an angle in radians already.",
        zh="你把角度当成度数，换算成了弧度。offset 乘以频率，得到的已经是弧度。",
        hint_line="angles = offset * frequencies",
    ),
)

SHIFT_MATRIX = Exercise(
    name="shift_matrix",
    recipe=matrix,
    kernel=positional_encoding.shift_matrix,
    cases=(
        Case("small", {"offset": 1, "d_model": 4}, tolerance=ANGLE_TOLERANCE),
        Case("two back", {"offset": -2, "d_model": 4}, tolerance=ANGLE_TOLERANCE),
        Case("nowhere", {"offset": 0, "d_model": 4}),
        Case("wider", {"offset": 3, "d_model": 8}, tolerance=ANGLE_TOLERANCE),
        Case("other base", {"offset": 2, "d_model": 6, "base": 100.0}, tolerance=ANGLE_TOLERANCE),
        Case("one further, wider", {"offset": 1, "d_model": 10}, tolerance=ANGLE_TOLERANCE),
        Case("same size, other base", {"offset": 1, "d_model": 4, "base": 50.0}, tolerance=ANGLE_TOLERANCE),
        Case(
            "far-positions", {"offset": 100000, "d_model": 6}, tolerance=2e-5, advice=Advice(FAR_POSITIONS, within=5e-2)
        ),
    ),
    mistakes=(
        *BLOCK_MISTAKES,
        *OFFSET_MISTAKES,
        *with_section(BY_HAND, *FREQUENCY_MISTAKES, *SPEED_MISTAKES, AS_PUBLISHED, hint_line=FREQUENCIES),
    ),
    exempt={"base of 0": "a frequency would be 1 over 0"},
    section=Text(en="A shift is a rotation", zh="平移就是旋转"),
    panel=Text(
        en="under *Clocks*, drag shift: by which angle does the hand of each pair turn, and which way?",
        zh="在“时钟”一节拖动“平移”：每一对的指针转过多大的角度？朝哪个方向？",
    ),
    hint_line="block = torch.tensor([[cos, sin], [-sin, cos]])",
)
