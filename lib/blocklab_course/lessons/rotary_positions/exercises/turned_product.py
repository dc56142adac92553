"""A one-line exercise: the dot product of one pair of a query and of a key, both turned."""

import math

from blocklab_course.checks.exercise import one_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

from .headings import BY_HAND

FREQUENCY, QUERY_AT, KEY_AT = 0.5, 10, 2
LENGTHS = 2, 3  # of the query's pair (2, 0) and of the key's, (3, 0)
PRODUCT = math.prod(LENGTHS)
ANGLE = FREQUENCY * (QUERY_AT - KEY_AT)
OF_QUERY, OF_KEY = math.cos(FREQUENCY * QUERY_AT), math.cos(FREQUENCY * KEY_AT)

TURNED_PRODUCT = one_number(
    name="turned_product",
    answer=PRODUCT * math.cos(ANGLE),
    result_name=Text(en="dot product of the two turned pairs", zh="两对旋转之后的点积"),
    tolerance=6e-4,  # -3.92 is close enough; degrees and another frequency can be told apart
    mistakes=(
        wrong("not-turned", answer=float(PRODUCT)).hint(
            en="That is the dot product before the rotation. The two are turned by different angles, in radians: ω is "
            "no part of a turn.",
            zh="这是旋转之前的点积。两者转过的角度不同，单位是弧度：ω 不是一圈的几分之几。",
        ),
        wrong("frequency-forgotten", answer=PRODUCT * math.cos(QUERY_AT - KEY_AT)).hint(
            en="You took the difference of the positions for the angle. This pair turns only 0.5 per position.",
            zh="你直接把位置之差当成了角度。这一对每走一个位置只转 0.5。",
        ),
        wrong("positions-added", answer=PRODUCT * math.cos(FREQUENCY * (QUERY_AT + KEY_AT))).hint(
            en="This is the cosine of the sum of the two angles. Both turn the same way, so what is left between them "
            "is the difference: `cos(a - b)` has a plus.",
            zh="这用的是两个角之和的余弦。两者朝同一个方向转，夹角是两个角之差（`cos(a - b)` 的展开式里是加号）。",
        ),
        wrong(
            "first-features-alone", answer=PRODUCT * math.cos(FREQUENCY * QUERY_AT) * math.cos(FREQUENCY * KEY_AT)
        ).hint(
            en="You multiplied the first features only. Once turned, the second ones are not 0 either: both products "
            "count.",
            zh="你只乘了两个第一特征。旋转之后第二个特征也不是 0，两个乘积要加起来。",
        ),
        wrong("frequency-of-the-formula", answer=PRODUCT * math.cos(0.01 * (QUERY_AT - KEY_AT))).hint(
            en="You took another ω. For this pair it is given, 0.5, and no formula is needed.",
            zh="你用的是别的 ω。这一对的 ω 是题目给的 0.5，不必用公式算。",
        ),
        wrong("query-alone", answer=PRODUCT * OF_QUERY).hint(
            en="You turned the query alone. The key is turned too, by its own position.",
            zh="你只转了查询。键也要转，角度由它自己的位置决定。",
        ),
        wrong("key-alone", answer=PRODUCT * OF_KEY).hint(
            en="You turned the key alone. The query is turned too, by its own position.",
            zh="你只转了键。查询也要转，角度由它自己的位置决定。",
        ),
        wrong("sine", answer=PRODUCT * math.sin(ANGLE)).hint(
            en="You took the sine. The dot product of two vectors has the cosine of the angle between them: with no "
            "angle it is largest.",
            zh="你用了正弦。两个向量的点积用的是夹角的余弦：没有夹角时，点积最大。",
        ),
        wrong("lengths-forgotten", answer=math.cos(ANGLE)).hint(
            en="That is the cosine of the angle. The pairs have the lengths 2 and 3.",
            zh="这只是夹角的余弦。两对的长度是 2 和 3。",
        ),
        wrong("querys-length-alone", answer=LENGTHS[0] * math.cos(ANGLE)).hint(
            en="You took the query's length alone. The key is 3 long, and the dot product has both.",
            zh="你只乘了查询的长度。键的长度是 3，点积里两个长度都要乘。",
        ),
        wrong("keys-length-alone", answer=LENGTHS[1] * math.cos(ANGLE)).hint(
            en="You took the key's length alone. The query is 2 long, and the dot product has both.",
            zh="你只乘了键的长度。查询的长度是 2，点积里两个长度都要乘。",
        ),
        wrong("sign-lost", answer=-PRODUCT * math.cos(ANGLE)).hint(
            en="The sign is lost. The angle of 4 is more than a quarter turn, and the cosine below 0.",
            zh="丢了负号。夹角是 4，超过了四分之一圈，余弦小于 0。",
        ),
        wrong("lengths-added", answer=sum(LENGTHS) * math.cos(ANGLE)).hint(
            en="You added the lengths. In a dot product they are multiplied.", zh="你把长度加了起来。点积里要相乘。"
        ),
        wrong("angle-itself", answer=ANGLE).hint(
            en="That is the angle between the two. The dot product wants its cosine, and both lengths.",
            zh="这是两者的夹角。求点积还要取它的余弦，再乘以两个长度。",
        ),
        wrong("in-degrees", answer=PRODUCT * math.cos(math.radians(ANGLE))).hint(
            en="You took the angle for degrees. It is in radians, as `math.cos` wants it.",
            zh="你把角当成了度数。它是弧度，`math.cos` 要的正是弧度。",
        ),
        *(
            wrong(f"divided-by-root-{d}", answer=PRODUCT * math.cos(ANGLE) / d**0.5).hint(
                en=f"You divided by √{d}, as attention does afterwards. Here the dot product itself is wanted.",
                zh=f"你除以了 √{d}，那是注意力后面的一步。这里要的是点积本身。",
            )
            for d in (2, 8)  # of the pair, and of the picture
        ),
    ),
    section=BY_HAND,
    panel=Text(
        en="under *Two clocks*, see what each pair adds, and how that goes with the angle between its hands.",
        zh="在“两组指针”一节，看看每一对贡献多少，它怎样随两针的夹角变化。",
    ),
    hint_line="angle = 0.5 * (10 - 2)",
)
