"""The frequencies of sinusoidal encoding, its shift and rotary embedding, and the known mistakes in them.

Column j of d belongs to pair i = j // 2. Every recipe takes these steps: the base (`given`), the exponent of each
column (`exponent`), and the frequency computed from both (`frequency`).
"""

import math

from torch import Tensor

from blocklab_course.i18n import Text

from ..mistake import wrong

ANGLE_TOLERANCE = 1e-4  # mistakes that make frequencies rise lose more digits in float32 than usual


def pair_exponent(j: Tensor, d: int) -> Tensor:
    return (j - j % 2) / d


def falling_frequency(base: float, exponent: Tensor, _d: int) -> Tensor:
    return base**-exponent


def half_split_exponent(j: Tensor, d: int) -> Tensor:
    """Return the exponents if columns i and i + d/2 are a pair."""
    return 2 * (j % (d // 2)) / d


FAR_POSITIONS = Text(
    en="At far positions your angles lose digits: in float32 an angle of some thousands is off by about 1e-4. Compute "
    "the angles in float64 and round at the end.",
    zh="位置很远时，你的角度会丢失有效数字：在 float32 里，角度达到几千时，误差约为 1e-4。"
    "请用 float64 计算角度，最后再舍入。",
)

FREQUENCY_MISTAKES = (
    wrong("exponent-halved", exponent=lambda j, d: (j // 2) / d).hint(
        en="The exponent of pair i is `i/d` in your result. It should be `2i/d`, which runs from 0 to almost 1.",
        zh="在你的结果里，第 i 对的指数是 `i/d`。应当是 `2i/d`，它从 0 一直增大到接近 1。",
    ),
    wrong("exponent-doubled", exponent=lambda j, d: 2 * pair_exponent(j, d)).hint(
        en="The exponent of pair i is `4i/d` in your result: what already runs in steps of 2 is doubled once more.",
        zh="在你的结果里，第 i 对的指数是 `4i/d`：已经以 2 为步长的数，又加倍了一次。",
        shown_on="wider",
    ),
    wrong("exponent-not-divided", exponent=lambda j, d: j - j % 2).hint(
        en="The exponent is not divided by d, so from the second pair on the angles hardly move.",
        zh="指数没有除以 d，于是从第二对开始，角度几乎不随位置变化。",
    ),
    wrong(
        "division-outside-the-power", frequency=lambda base, exponent, d: falling_frequency(base, exponent * d, d) / d
    ).hint(
        en="The division by d acts on the power, not on the exponent: even the first pair has the frequency `1/d` in "
        "place of 1. Put the exponent in brackets, for powers are taken before divisions.",
        zh="除以 d 作用在了整个幂上，而不是指数上：连第一对的频率也成了 `1/d`，而不是 1。"
        "请给指数加上括号，因为乘方先于除法。",
    ),
    wrong(
        "division-inside-the-denominator",
        frequency=lambda base, exponent, d: falling_frequency(base, exponent * d, d) * d,
    ).hint(
        en="The division by d acts on the power below the fraction line: even the first pair has the frequency d in "
        "place of 1. Only the exponent is divided: write it in brackets.",
        zh="除以 d 作用在了分母里的幂上：连第一对的频率也成了 d，而不是 1。只有指数要除以 d，请给指数加上括号。",
    ),
    wrong("base-ignored", given=lambda base: 10000.0).hint(
        en="Your function uses 10000, whatever `base` it is given.",
        zh="不论传入的 `base` 是多少，你的函数用的都是 10000。请使用传入的参数。",
        shown_on="other base",
    ),
    wrong("logarithm-to-base-ten", given=lambda base: math.exp(math.log10(base))).hint(
        en="You take the logarithm to base 10 and then `exp`. These two do not undo each other: `exp` goes with the "
        "natural logarithm, `math.log`.",
        zh="你取了以 10 为底的对数，再用 `exp` 还原，二者并不互逆：与 `exp` 对应的是自然对数 `math.log`。",
    ),
    wrong("two-pi", frequency=lambda base, exponent, d: 2 * math.pi * falling_frequency(base, exponent, d)).hint(
        en="You multiply the angles by 2π, as if a frequency counted whole turns. Here it is the angle per position, "
        "and the first pair takes 2π positions for one turn.",
        zh="你给角度乘了 2π，好像频率指的是转几圈。"
        "这里的频率是每移动一个位置转过的角度，第一对转一圈要经过 2π 个位置。",
    ),
)

SPEED_MISTAKES = (
    wrong("one-frequency", exponent=lambda j, d: 0 * j).hint(
        en="All pairs have the frequency 1. Each pair has its own, and they fall from pair to pair.",
        zh="所有对的频率都是 1。每一对应当有自己的频率，而且逐对减小。",
    ),
    wrong("frequencies-rising", exponent=lambda j, d: -pair_exponent(j, d)).hint(
        en="Your frequencies rise from pair to pair: the sign of the exponent is missing, or you multiply where you "
        "should divide, or the other way round.",
        zh="你的频率逐对增大：要么漏了指数的负号，要么该除的地方乘了，或者该乘的地方除了。",
    ),
)

AS_PUBLISHED = wrong("frequencies-down-to-one-over-base", exponent=lambda j, d: (j // 2) / (d // 2 - 1)).hint(
    en="Your last pair has the frequency 1/base exactly, because the exponent is `i / (d/2 - 1)`. The paper's own "
    "code, tensor2tensor, has it so; this exercise uses the formula in the paper, `2i/d`.",
    zh="你的最后一对的频率恰好是 1/base，因为指数是 `i / (d/2 - 1)`。"
    "论文作者的代码 tensor2tensor 就是这样；本练习用的是论文里的公式 `2i/d`。",
)

# If each column is computed separately, it can also get an exponent of its own.
COLUMN_MISTAKES = (
    wrong("exponent-of-the-column", exponent=lambda j, d: j / d).hint(
        en="Every column has a frequency of its own, with the exponent j/d. The two columns of a pair share one: that "
        "of the even column.",
        zh="每一列都有自己的频率，指数是 j/d。同一对的两列应当共用一个频率，即偶数列的那个。",
    ),
    wrong("exponent-of-the-column-doubled", exponent=lambda j, d: 2 * j / d).hint(
        en="Your exponent is 2j/d with j the column. In the formula 2i is the column, and i counts the pairs.",
        zh="你的指数是 2j/d，其中 j 是列号。公式里的 2i 已经是列号，i 才是对的编号。",
    ),
)
