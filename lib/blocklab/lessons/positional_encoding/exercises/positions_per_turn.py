"""A one-line exercise on the frequencies of the sinusoidal table: how long one turn takes."""

import math

from blocklab.checks.row import wrong
from blocklab.checks.steps.one_number import one_number
from blocklab.language import Text

POSITIONS_PER_TURN = one_number(
    name="positions_per_turn",
    answer=2 * math.pi / 0.01,
    means=Text(en="positions per turn", zh="转一圈的位置数"),
    tolerance=1e-3,
    mistakes=(
        wrong("frequency-itself", answer=0.01).hint(
            en="0.01 is how far the angle goes in one position. How many such steps make a whole turn?",
            zh="0.01 是角度每走一个位置增加多少。走多少步才转满一圈？",
        ),
        wrong("one-radian", answer=100.0).hint(
            en="After that many positions the angle is 1. A whole turn is larger.",
            zh="走这么多位置，角度才到 1。转满一圈要更大的角度。",
        ),
        wrong("half-turn", answer=100 * math.pi).hint(
            en="That is half a turn: the angle is π there, and the cosine −1.", zh="这是半圈：此时角度是 π，余弦是 −1。"
        ),
        wrong("in-degrees", answer=36000.0).hint(
            en="You counted in degrees. The sine takes radians: a whole turn is 2π, not 360.",
            zh="你是按度数算的。正弦的角度用弧度：转一圈是 2π，不是 360。",
        ),
        wrong("upside-down", answer=0.01 / (2 * math.pi)).hint(
            en="Upside down: these are the turns per position. Wanted are the positions per turn.",
            zh="反了：这是每个位置转多少圈。要求的是转一圈要多少个位置。",
        ),
        wrong("first-pair", answer=2 * math.pi).hint(
            en="That is pair 0, whose frequency is 1. Pair 1 is slower.", zh="这是第 0 对，它的频率是 1。第 1 对更慢。"
        ),
        wrong("exponent-halved", answer=20 * math.pi).hint(
            en="The frequency of your hand is 0.1, as if the exponent were `i/d`. It is `2i/d`.",
            zh="你用的频率是 0.1，就像指数是 `i/d`。指数应是 `2i/d`。",
        ),
        wrong("exponent-doubled", answer=20000 * math.pi).hint(
            en="The frequency of your hand is 1/10000: you set `2i/d` to 1. Here i = 1 and d = 4.",
            zh="你用的频率是 1/10000，也就是把 `2i/d` 当成了 1。这里 i = 1，d = 4。",
        ),
    ),
    section=Text(en="By hand", zh="动手算"),
    panel=Text(
        en="under *Clocks*, see how many positions per turn pair 0 takes. (There d is 16, so pair 1 is another one.)",
        zh="在“时钟”一节，看看第 0 对“转一圈的位置数”。（那里 d = 16，第 1 对与这里的不同。）",
    ),
    line="angle_per_position = 10000 ** (-2 * 1 / 4)",
)
