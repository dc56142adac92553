"""A one-line exercise on the frequencies of the sinusoidal table: how long one turn takes."""

import math

from blocklab_course.checks.exercise import one_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

FREQUENCY = 10000 ** (-6 / 8)  # of pair 3 where d is 8

POSITIONS_PER_TURN = one_number(
    name="positions_per_turn",
    answer=2 * math.pi / FREQUENCY,
    result_name=Text(en="positions per turn", zh="转一圈的位置数"),
    tolerance=1e-3,
    mistakes=(
        wrong("frequency-itself", answer=FREQUENCY).hint(
            en="0.001 is how far the angle goes in one position. How many such steps make a whole turn?",
            zh="0.001 是角度每走一个位置增加多少。走多少步才转满一圈？",
        ),
        wrong("multiplied", answer=2 * math.pi * FREQUENCY).hint(
            en="You multiplied by the frequency. One position goes only 0.001 of a radian, so divide by it.",
            zh="你乘了频率。每走一个位置才转 0.001 弧度，所以转一圈要走很多个位置，应当用除法。",
        ),
        wrong("one-radian", answer=1 / FREQUENCY).hint(
            en="After that many positions the angle is 1. A whole turn is larger.",
            zh="走这么多位置，角度才到 1。转满一圈要更大的角度。",
        ),
        wrong("half-turn", answer=math.pi / FREQUENCY).hint(
            en="That is half a turn: the angle is π there, and the cosine −1.", zh="这是半圈：此时角度是 π，余弦是 −1。"
        ),
        wrong("in-degrees", answer=360 / FREQUENCY).hint(
            en="You counted in degrees. The sine takes radians: a whole turn is 2π, not 360.",
            zh="你是按度数算的。正弦的角度用弧度：转一圈是 2π，不是 360。",
        ),
        wrong("upside-down", answer=FREQUENCY / (2 * math.pi)).hint(
            en="Upside down: these are the turns per position. Wanted are the positions per turn.",
            zh="反了：这是每个位置转多少圈。要求的是转一圈要多少个位置。",
        ),
        wrong("first-pair", answer=2 * math.pi).hint(
            en="That is pair 0, whose frequency is 1. Pair 3 is slower.", zh="这是第 0 对，它的频率是 1。第 3 对更慢。"
        ),
        wrong("counted-from-one", answer=2 * math.pi * 10000 ** (4 / 8)).hint(
            en="That is pair 2, the third one. Pairs are counted from 0: pair 3 is the last of four.",
            zh="这是第 2 对，也就是数过来的第三对。对从 0 数起，所以第 3 对是四对中的最后一对。",
        ),
        wrong("exponent-halved", answer=2 * math.pi * 10000 ** (3 / 8)).hint(
            en="The exponent of your frequency is `i/d`, 3/8. It is `2i/d`, 6/8.",
            zh="你的频率用的指数是 `i/d`，即 3/8。指数应是 `2i/d`，即 6/8。",
        ),
        wrong("exponent-doubled", answer=2 * math.pi * 10000 ** (12 / 8)).hint(
            en="The exponent of your frequency is `4i/d`, 12/8. It is `2i/d`, 6/8: the 2 counts once.",
            zh="你的频率用的指数是 `4i/d`，即 12/8。指数应是 `2i/d`，即 6/8，2 只乘一次。",
        ),
        wrong("exponent-of-one", answer=20000 * math.pi).hint(
            en="The frequency of your hand is 1/10000, as if `2i/d` were 1. Here i = 3 and d = 8.",
            zh="你用的频率是 1/10000，就像 `2i/d` 等于 1。这里 i = 3，d = 8。",
        ),
    ),
    section=Text(en="By hand", zh="动手算"),
    panel=Text(
        en="under *Clocks*, see how many positions per turn pair 0 takes. (There d is 16, so pair 3 is another one.)",
        zh="在“时钟”一节，看看第 0 对“转一圈的位置数”。（那里 d = 16，第 3 对与这里的不同。）",
    ),
    hint_line="angle_per_position = 10000 ** (-2 * 3 / 8)",
)
