"""Known mistakes of `round_up` and `hidden_width`."""

import math
from collections.abc import Callable

from blocklab import feed_forward
from blocklab_course.checks.case import Advice, Case
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.mistake import passthrough, with_section, wrong
from blocklab_course.i18n import Text

# Both exercises end with these steps: how many tiles, how many numbers those hold, and what type the result has


def tiles_needed(n: int, multiple_of: int) -> int:
    return (n + multiple_of - 1) // multiple_of


def numbers_in(tiles: int, multiple_of: int) -> int:
    return multiple_of * tiles


def unchanged(number: float) -> float:
    return number


def already_numbers(numbers: int, _multiple_of: int) -> int:
    return numbers


IN_TILES = Text(en="Rounding up, in tiles", zh="图解向上取整")

ROUNDING_MISTAKES = (
    wrong("rounded-down", tiles=lambda n, multiple_of: n // multiple_of).hint(
        en="You round down: what does not fill a tile is cut off. Round up, so that everything finds room.",
        zh="你向下取整了：不满一块的部分丢掉了。应当向上取整，才放得下全部。",
        shown_on="just above",
    ),
    wrong("rounded-to-nearest", tiles=lambda n, multiple_of: round(n / multiple_of)).hint(
        en="You round to the nearest multiple, which may lie below. Round up, however little there is too much.",
        zh="你取的是最接近的倍数，它可能偏小。哪怕只多出一点，也应当向上取整。",
    ),
    wrong("one-tile-too-many", tiles=lambda n, multiple_of: n // multiple_of + 1).hint(
        en="Even where the number is a multiple already, you add a tile. Nothing is left over there, so add none.",
        zh="即使这个数已经是倍数，你也多加了一块。那时没有零头，不应再加。",
    ),
    wrong("half-added", tiles=lambda n, multiple_of: round(n / multiple_of + 0.5)).hint(
        en="You add a half and call `round`, which sends a tie to the even number: 1 tile becomes 1.5 and then 2. "
        "Round up without that detour.",
        zh="你先加一半，再调用 `round`，而它遇到正好一半时取偶数：1 块先变成 1.5，再变成 2。请直接向上取整，不要绕道。",
    ),
    wrong("fraction-of-a-tile", tiles=lambda n, multiple_of: (n + multiple_of - 1) / multiple_of).hint(
        en="`/` leaves a fraction of a tile. After adding `multiple_of` − 1, divide with `//`, which keeps whole tiles "
        "only.",
        zh="`/` 会留下不满一块的小数。加上 `multiple_of` − 1 之后，应当用 `//` 相除，只保留整块。",
        shown_on="just above",
    ),
    wrong(
        "only-powers-of-two", tiles=lambda n, multiple_of: int(n + multiple_of - 1) & -multiple_of, size=already_numbers
    ).hint(
        en="You clear the last bits. That rounds up only where `multiple_of` is a power of 2, and it may be any "
        "number.",
        zh="你清除了末尾的几个二进制位。只有 `multiple_of` 是 2 的幂时，这才等于向上取整，而它可以是任何数。",
    ),
    wrong("next-power-of-two", tiles=lambda n, multiple_of: 1 << (int(n) - 1).bit_length(), size=already_numbers).hint(
        en="You go up to the next power of 2. Go up to the next multiple of `multiple_of`, which is usually much "
        "nearer.",
        zh="你取的是下一个 2 的幂。应当取 `multiple_of` 的下一个倍数，它通常近得多。",
        shown_on="just above",
    ),
    wrong(
        "brackets-missing",
        tiles=lambda n, multiple_of: n + multiple_of - 1 // multiple_of * multiple_of,
        size=already_numbers,
    ).hint(
        en="`//` comes before + and −: `n + m - 1 // m * m` divides the 1 alone. Put brackets around `n + m - 1`.",
        zh="`//` 先于加减，`n + m - 1 // m * m` 里，除的只是那个 1。请给 `n + m - 1` 加上括号。",
        shown_on="just above",
    ),
    wrong("number-of-tiles", size=lambda tiles, multiple_of: tiles).hint(
        en="You return the number of tiles. Multiply it by the size of a tile.",
        zh="你返回的是块数，还要乘以每块的大小。",
        shown_on="just above",
        hint_line="return multiple_of * tiles",
    ),
    wrong("float-returned", kind=float).hint(
        en="The number is right, but it is a float, as `/`, `np.ceil` and `//` with a float give it. A width is an "
        "integer: `nn.Linear` accepts nothing else.",
        zh="数值是对的，但类型是浮点数：`/`、`np.ceil`，还有 `//` 遇到浮点数时，得到的都是浮点数。"
        "宽度必须是整数：`nn.Linear` 不接受别的类型。",
        shown_on="just above",
    ),
)


# round_up


def round_up_recipe(
    n: int,
    multiple_of: int,
    *,
    multiple: Callable = passthrough,
    tiles: Callable = tiles_needed,
    size: Callable = numbers_in,
    kind: Callable = unchanged,
) -> int:
    m = multiple(multiple_of)
    return kind(size(tiles(n, m), m))


ROUND_UP_MISTAKES = (
    *ROUNDING_MISTAKES,
    wrong("at-least-one-tile", tiles=lambda n, multiple_of: max(1, tiles_needed(n, multiple_of))).hint(
        en="Your result is never below one tile. For n = 0 nothing is needed, and 0 is a multiple of every number.",
        zh="你的结果至少有一块。n = 0 时什么都不需要，而且 0 是任何数的倍数。",
    ),
    wrong("multiple-of-ignored", multiple=lambda multiple_of: 256).hint(
        en="You round to a multiple of 256 whatever `multiple_of` is. Use the argument.",
        zh="不论 `multiple_of` 是多少，你都取 256 的倍数。请使用传入的参数。",
    ),
    wrong("remainder-added", lambda n, multiple_of: n + n % multiple_of).hint(
        en="You add the remainder to n. What is missing up to the next multiple is `multiple_of` minus the remainder.",
        zh="你把余数加到了 n 上。离下一个倍数还差的，是 `multiple_of` 减去余数。",
    ),
    wrong("not-divided", lambda n, multiple_of: n + multiple_of - 1).hint(
        en="You add `multiple_of` − 1 and stop. Now divide into whole tiles and multiply by their size.",
        zh="你加上 `multiple_of` − 1 就停了。接下来要除成整块，再乘以每块的大小。",
    ),
    wrong("larger-of-the-two", max).hint(
        en="You return the larger of the two numbers. Where one tile is not enough, that is n itself, not rounded.",
        zh="你返回的是两个数中较大的一个。一块不够时，那就是 n 本身，并没有取整。",
    ),
    wrong("arguments-swapped", lambda n, multiple_of: -(-multiple_of // n) * n if n else 0).hint(
        en="You round `multiple_of` up to a multiple of n. It is the other way round.",
        zh="你把 `multiple_of` 向上取成了 n 的倍数，正好反了。",
    ),
)

ROUND_UP = Exercise(
    name="round_up",
    recipe=round_up_recipe,
    kernel=feed_forward.round_up,
    cases=(
        Case("just above", {"n": 130, "multiple_of": 64}),
        Case("a multiple already", {"n": 192, "multiple_of": 64}),
        Case("nothing", {"n": 0, "multiple_of": 64}),
        Case("not a power of two", {"n": 21, "multiple_of": 10}),
        Case("less than a tile", {"n": 3, "multiple_of": 256}),
        Case("tiles of one", {"n": 7, "multiple_of": 1}),
        Case("Llama", {"n": 10922, "multiple_of": 256}),
        Case("just above, in other tiles", {"n": 130, "multiple_of": 100}),
        Case("one tile exactly", {"n": 256, "multiple_of": 256}),
        Case("just above a large tile", {"n": 131073, "multiple_of": 65536}),
        Case("beyond float32", {"n": 2**25 + 1, "multiple_of": 64}),
        Case(
            "below-zero",
            {"n": -130, "multiple_of": 64},
            advice=Advice(
                Text(
                    en="For a negative n your result is not the smallest multiple: `int` cuts towards 0, and a loop "
                    "that counts up from 0 or from one tile never starts. A width is never negative; `//` would serve "
                    "there too.",
                    zh="n 为负数时，你的结果不是最小的倍数：`int` 向 0 取整；"
                    "从 0 或从一块开始往上加的循环，一次也不会执行。"
                    "宽度不会是负数；不过用 `//`，负数也不会错。",
                ),
                weak_functions=(
                    lambda n, multiple_of: multiple_of * int((n + multiple_of - 1) / multiple_of),
                    lambda n, multiple_of: 0,
                ),
            ),
        ),
        Case(
            "large-number",
            {"n": 2**60 + 1, "multiple_of": 64},
            advice=Advice(
                Text(
                    en="Here n is larger than 2⁶⁰. If you divide with `/`: a float holds whole numbers exactly only up "
                    "to 2⁵³. If you add tile after tile in a loop: it takes more than 10¹⁶ rounds. `//` stays with "
                    "integers and is done at once.",
                    zh="这里的 n 大于 2⁶⁰。如果你用 `/` 相除：浮点数只能精确表示不超过 2⁵³ 的整数。"
                    "如果你用循环一块一块地往上加：要循环 10¹⁶ 次以上。`//` 是整数运算，一步就得到结果。",
                ),
                weak_functions=(
                    lambda n, multiple_of: multiple_of * math.ceil(n / multiple_of),
                    lambda n, multiple_of: math.ceil(n / multiple_of * multiple_of),
                ),
                endless=True,
            ),
        ),
    ),
    mistakes=ROUND_UP_MISTAKES,
    section=IN_TILES,
    panel=Text(
        en="under *Rounding up, in tiles*, compare what your function gives for n from 15 to 19 and multiple_of = 5 "
        "with the squares in the frames of each row.",
        zh="在“图解向上取整”一节里，数一数每一行的框里有几个方格，"
        "再与你的函数在 n = 15 到 19、multiple_of = 5 时的结果对照。",
    ),
    hint_line="tiles = (n + multiple_of - 1) // multiple_of",
)


# hidden_width


def four_times(d_model: int) -> int:
    return 4 * d_model


def two_thirds(hidden: int) -> int:
    return int(2 * hidden / 3)


def times(hidden: int, multiplier: float | None) -> int:
    return hidden if multiplier is None else int(multiplier * hidden)


def hidden_width_recipe(
    d_model: int,
    multiple_of: int = 256,
    multiplier: float | None = None,
    *,
    widen: Callable = four_times,
    share: Callable = two_thirds,
    scale: Callable = times,
    multiple: Callable = passthrough,
    tiles: Callable = tiles_needed,
    size: Callable = numbers_in,
    scale_at_the_end: Callable = lambda width, multiplier: width,
    kind: Callable = unchanged,
) -> int:
    m = multiple(multiple_of)
    hidden = scale(share(widen(d_model)), multiplier)
    return kind(scale_at_the_end(size(tiles(hidden, m), m), multiplier))


def rounded_twice(d_model: int, multiple_of: int = 256, multiplier: float | None = None) -> int:
    return round_up_recipe(times(hidden_width_recipe(d_model, multiple_of), multiplier), multiple_of)


TWO_THIRDS_MISTAKES = (
    wrong("four-missing", widen=lambda d_model: d_model).hint(
        en="You take two thirds of `d_model` itself. The usual hidden layer is 4 times as wide; take two thirds of "
        "that.",
        zh="你直接取了 `d_model` 的三分之二。通常的隐藏层宽度是它的 4 倍，应当取这个宽度的三分之二。",
    ),
    wrong("two-thirds-missing", share=lambda hidden: hidden).hint(
        en="You take 4 · d_model, the width of a layer with two matrices. A gated layer has three: two thirds of it "
        "keep the number of parameters.",
        zh="你用的是 4 · d_model，那是只有两个矩阵的层的宽度。门控的层有三个矩阵：取三分之二，参数总数才不变。",
    ),
    wrong("two-divided-by-three-whole", share=lambda hidden: 0).hint(
        en="Your result is always 0, as `2 // 3` is. Multiply by 2 first, then divide by 3.",
        zh="你的结果总是 0，因为 `2 // 3` 等于零。应当先乘以 2，再除以 3。",
    ),
    wrong("two-decimals", share=lambda hidden: int(0.66 * hidden)).hint(
        en="0.66 is not two thirds, and in a wide layer that costs whole tiles. Multiply by 2, then divide by 3.",
        zh="0.66 不是三分之二，层一宽，就会差出整块来。应当先乘以 2，再除以 3。",
    ),
    wrong("half-for-two-thirds", share=lambda hidden: hidden // 2).hint(
        en="You take half of the usual width. Three matrices for two: two thirds is what keeps the number of "
        "parameters.",
        zh="你取了通常宽度的一半。矩阵由两个变成三个，取三分之二，参数总数才不变。",
    ),
)

FRACTION_MISTAKES = (
    wrong("share-rounded-up", share=lambda hidden: math.ceil(2 * hidden / 3)).hint(
        en="You round the two thirds up. Meta's rule cuts the fraction off there; it rounds up only once, at the end.",
        zh="你把那三分之二也向上取整了。Meta 的规则在这一步直接舍去小数，只在最后向上取整一次。",
    ),
    wrong("share-rounded-to-nearest", share=lambda hidden: round(2 * hidden / 3)).hint(
        en="You round the two thirds to the nearest number. Meta's rule cuts the fraction off.",
        zh="你把那三分之二四舍五入了。Meta 的规则是直接舍去小数。",
    ),
    wrong(
        "fraction-never-cut",
        share=lambda hidden: 2 * hidden / 3,
        scale=lambda hidden, multiplier: hidden * (multiplier or 1),
        tiles=lambda n, multiple_of: math.ceil(n / multiple_of),
    ).hint(
        en="You carry the fraction along and round up with it, so a third too much costs a whole tile. Meta's rule "
        "cuts the fraction off after every step.",
        zh="你一直带着小数，最后才向上取整，于是只多出三分之一，也要多占一整块。Meta 的规则每一步都先舍去小数。",
    ),
    wrong("share-stays-a-float", share=lambda hidden: 2 * hidden / 3).hint(
        en="After `/ 3` your number is a float and stays one. Make it an integer at once, as `int` does.",
        zh="`/ 3` 之后，你的数成了浮点数，后面也一直是。请马上用 `int` 把它变成整数。",
    ),
)

MULTIPLE_MISTAKES = (
    wrong("multiple-of-ignored", multiple=lambda multiple_of: 256).hint(
        en="You round to a multiple of 256 whatever `multiple_of` is. That is only its default.",
        zh="不论 `multiple_of` 是多少，你都取 256 的倍数，而那只是它的默认值。",
        shown_on="just above",
    ),
    wrong(
        "default-of-64",
        lambda d_model, multiple_of=64, multiplier=None: hidden_width_recipe(d_model, multiple_of, multiplier),
    ).hint(
        en="Your default for `multiple_of` is 64. Meta's is 256.",
        zh="你的 `multiple_of` 默认值是 64，而 Meta 用的是 256。",
    ),
)

NEVER_ROUNDED = wrong("never-rounded", tiles=lambda n, multiple_of: n, size=already_numbers).hint(
    en="You do not round to a multiple at all. The last step goes up to a multiple of `multiple_of`.",
    zh="你没有取整到倍数。最后一步应当向上取整到 `multiple_of` 的倍数。",
    shown_on="just above",
)

MULTIPLIER_MISTAKES = (
    wrong(
        "cut-only-once",
        lambda d_model, multiple_of=256, multiplier=None: hidden_width_recipe(
            d_model, multiple_of, multiplier, share=lambda hidden: 2 * hidden / 3, kind=int
        ),
    ).hint(
        en="You cut the fraction off only after the multiplier. Meta's rule does it twice, before and after, which "
        "sometimes gives less.",
        zh="你只在乘以系数之后舍去小数。Meta 的规则是前后各舍一次，结果有时会小一点。",
        hint_line="hidden = int(2 * (4 * d_model) / 3)",
    ),
    wrong(
        "product-stays-a-float", scale=lambda hidden, multiplier: hidden if multiplier is None else multiplier * hidden
    ).hint(
        en="After the multiplier your number is a float and stays one. Make it an integer before you round up.",
        zh="乘以系数之后，你的数成了浮点数，后面也一直是。向上取整之前，请先把它变成整数。",
    ),
    wrong(
        "product-rounded-to-nearest",
        scale=lambda hidden, multiplier: hidden if multiplier is None else round(multiplier * hidden),
    ).hint(
        en="You round to the nearest number after the multiplier. Meta's rule cuts the fraction off.",
        zh="乘以系数之后，你四舍五入了。Meta 的规则是直接舍去小数。",
    ),
    wrong(
        "product-rounded-up",
        scale=lambda hidden, multiplier: hidden if multiplier is None else math.ceil(multiplier * hidden),
    ).hint(
        en="You round up after the multiplier. Meta's rule cuts the fraction off there and rounds up only at the end.",
        zh="乘以系数之后，你向上取整了。Meta 的规则在这一步直接舍去小数，只在最后才向上取整。",
        shown_on="times one and three tenths",
    ),
    wrong("multiplier-ignored", scale=lambda hidden, multiplier: hidden).hint(
        en="`multiplier` has no effect. Where it is given, multiply by it before you round up.",
        zh="`multiplier` 没有起作用。传入它时，应当在向上取整之前乘上。",
    ),
    wrong("multiplier-after-rounding", scale=lambda hidden, multiplier: hidden, scale_at_the_end=times).hint(
        en="You round up first and multiply afterwards, so the result is no multiple any more. Multiply, then round.",
        zh="你先取整，后乘系数，结果就不再是倍数了。应当先乘，后取整。",
    ),
    wrong("rounded-twice", rounded_twice).hint(
        en="You round up before the multiplier and again after it, so what the first rounding added is multiplied, "
        "too. Round up once, at the end.",
        zh="乘系数之前和之后，你各取整了一次，第一次多出来的也跟着乘了系数。只在最后向上取整一次。",
    ),
    wrong(
        "multiplier-before-two-thirds",
        share=lambda hidden: hidden,
        scale=lambda hidden, multiplier: two_thirds(times(hidden, multiplier)),
    ).hint(
        en="You multiply before you take two thirds, so other fractions are cut off. First two thirds of 4 · d_model, "
        "then the multiplier.",
        zh="你先乘了系数，再取三分之二，舍去的小数就不一样了。应当先取 4 · d_model 的三分之二，再乘以系数。",
        shown_on="six features",
        hint_line="hidden = int(2 * (4 * d_model) / 3)",
    ),
    wrong(
        "multiplier-for-four",
        lambda d_model, multiple_of=256, multiplier=None: hidden_width_recipe(
            d_model, multiple_of, widen=lambda d_model: (multiplier or 4) * d_model
        ),
    ).hint(
        en="Your multiplier takes the place of the 4. It comes on top: two thirds of 4 · d_model, times the "
        "multiplier.",
        zh="你用系数代替了 4。它应当另外再乘：先取 4 · d_model 的三分之二，再乘以系数。",
        hint_line="hidden = int(2 * (4 * d_model) / 3)",
    ),
    wrong(
        "multiplier-for-two-thirds",
        lambda d_model, multiple_of=256, multiplier=None: hidden_width_recipe(
            d_model, multiple_of, share=lambda hidden: int((multiplier or 2 / 3) * hidden)
        ),
    ).hint(
        en="Your multiplier takes the place of the two thirds. It comes on top of them.",
        zh="你用系数代替了三分之二。应当先取三分之二，再乘以系数。",
        hint_line="hidden = int(2 * (4 * d_model) / 3)",
    ),
)

NO_MULTIPLIER = {
    "en": "Without a multiplier `multiplier` is `None`, and `None` cannot be multiplied. Multiply only "
    "`if multiplier is not None`.",
    "zh": "没有系数时，`multiplier` 是 `None`，而 `None` 不能拿来乘。只有 `if multiplier is not None` 时才乘。",
}
MULTIPLIER_ALWAYS_WANTED = (
    wrong("multiplier-always-wanted", scale=lambda hidden, multiplier: int(multiplier * hidden)).hint(**NO_MULTIPLIER),
    wrong(
        "multiplier-always-wanted-and-cut-only-once",
        lambda d_model, multiple_of=256, multiplier=None: feed_forward.round_up(
            int(8 * d_model / 3 * multiplier), multiple_of
        ),
    ).hint(
        en=NO_MULTIPLIER["en"] + " And cut the fraction off before that, too.",
        zh=NO_MULTIPLIER["zh"] + "而且乘之前，也要先舍去一次小数。",
    ),
)

DETECTIVE = Text(en="Detective", zh="侦探")

HIDDEN_WIDTH = Exercise(
    name="hidden_width",
    recipe=hidden_width_recipe,
    kernel=feed_forward.hidden_width,
    cases=(
        Case("Llama", {"d_model": 4096}),
        Case("Llama 3", {"d_model": 4096, "multiple_of": 1024, "multiplier": 1.3}),
        Case("Llama 2", {"d_model": 8192, "multiple_of": 4096, "multiplier": 1.3}),
        Case("just above", {"d_model": 100, "multiple_of": 64}),
        Case("a multiple already", {"d_model": 24, "multiple_of": 64}),
        Case("not a power of two", {"d_model": 9, "multiple_of": 10}),
        Case("256 already", {"d_model": 96, "multiple_of": 32}),
        Case("small tiles", {"d_model": 1002, "multiple_of": 9, "multiplier": 1.37}),
        Case("smaller tiles", {"d_model": 1003, "multiple_of": 4, "multiplier": 0.77}),
        Case("a third too much", {"d_model": 8, "multiple_of": 1}),
        Case("two thirds too much", {"d_model": 7, "multiple_of": 1}),
        Case("times one and a half", {"d_model": 7, "multiple_of": 1, "multiplier": 1.5}),
        Case("times one and a fifth", {"d_model": 7, "multiple_of": 1, "multiplier": 1.2}),
        Case("times one and three tenths", {"d_model": 7, "multiple_of": 1, "multiplier": 1.3}),
        Case("six features", {"d_model": 6, "multiple_of": 1, "multiplier": 1.2}),
        Case("no multiplier", {"d_model": 100, "multiple_of": 64, "multiplier": None}),
        Case("wide, small tiles", {"d_model": 16384, "multiple_of": 1}),
        Case("wider than float32 counts", {"d_model": 2**25 + 3, "multiple_of": 1}),
        Case("narrower than the model", {"d_model": 101, "multiple_of": 8, "multiplier": 0.3}),
        Case("a whole multiplier", {"d_model": 100, "multiple_of": 1, "multiplier": 2}),
    ),
    mistakes=(
        *with_section(
            Text(en="Three matrices for two", zh="三个矩阵抵两个"),
            *TWO_THIRDS_MISTAKES,
            hint_line="hidden = int(2 * (4 * d_model) / 3)",
        ),
        *with_section(DETECTIVE, *FRACTION_MISTAKES, hint_line="hidden = int(2 * (4 * d_model) / 3)"),
        *with_section(
            DETECTIVE, *MULTIPLE_MISTAKES, hint_line="def hidden_width(d_model, multiple_of=256, multiplier=None):"
        ),
        *with_section(
            IN_TILES, NEVER_ROUNDED, *ROUNDING_MISTAKES, hint_line="tiles = (hidden + multiple_of - 1) // multiple_of"
        ),
        *with_section(
            Text(en="What the rounding costs", zh="取整的代价"),
            *MULTIPLIER_MISTAKES,
            hint_line="hidden = int(multiplier * hidden)",
        ),
        *with_section(
            Text(en="What the rounding costs", zh="取整的代价"),
            *MULTIPLIER_ALWAYS_WANTED,
            hint_line="if multiplier is not None:",
        ),
    ),
    exempt={"multiplier of 0": "a layer without a hidden unit"},
    section=DETECTIVE,
    panel=Text(
        en="under *What the rounding costs*, set d_model to 256, multiple_of to 1 and multiplier to 1.3, and compare "
        "each number in the line with yours; then drag multiple_of to 256.",
        zh="在“取整的代价”一节里，把 d_model 设为 256，multiple_of 设为 1，multiplier 设为 1.3，"
        "把图下那行的数逐个与你的结果对照；再把 multiple_of 拖到 256。",
    ),
    hint_line="hidden = int(2 * (4 * d_model) / 3)",
)
EXERCISES = (ROUND_UP, HIDDEN_WIDTH)
