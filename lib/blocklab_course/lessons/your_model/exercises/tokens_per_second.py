"""A one-line exercise: how many tokens a second memory allows."""

from blocklab_course.checks.exercise import one_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

TOKENS_PER_SECOND = one_number(
    name="tokens_per_second",
    answer=25,  # 8e9 numbers of half a byte are 4e9 bytes; 100e9 bytes a second
    result_name=Text(en="tokens a second at most", zh="每秒最多生成的词元数"),
    mistakes=(
        wrong("a-byte-each", answer=12.5).hint(
            en="You took a whole byte for every number. 4 bits are half of one.",
            zh="你按每个数一个字节算了。4 位只有半个字节。",
        ),
        wrong("bits-for-bytes", answer=3.125).hint(
            en="You divided bytes a second by bits, or took 4 bytes for 4 bits. A byte has 8 bits.",
            zh="你用每秒的字节数除以了位数，或者把 4 位当成了 4 字节。一个字节有 8 位。",
        ),
        wrong("sixteen-bits", answer=6.25).hint(
            en="You took 2 bytes for every number, as bfloat16 has. These have 4 bits.",
            zh="你按每个数 2 字节算了，那是 bfloat16。这里每个数只有 4 位。",
        ),
        wrong("seconds-per-token", answer=0.04).hint(
            en="These are the seconds that a token takes. How many tokens go into one second?",
            zh="这是每个词元用的秒数。一秒里有多少个词元？",
        ),
        wrong("milliseconds-per-token", answer=40).hint(
            en="These are the milliseconds that a token takes. How many tokens go into one second?",
            zh="这是每个词元用的毫秒数。一秒里有多少个词元？",
        ),
        wrong("bytes-per-token", answer=4).hint(
            en="That is what a token reads, in GB. How often can this be read in a second?",
            zh="这是每个词元要读的字节数，单位是 GB。一秒里能读几遍？",
        ),
        wrong("multiplied", answer=400).hint(
            en="You multiplied the bytes of a token by the bytes a second. Divide: how many times do the first go into "
            "the second?",
            zh="你把每个词元的字节数与每秒的字节数相乘了。应当相除：每秒的字节数里有几个每个词元的字节数？",
        ),
        wrong("two-bits", answer=50).hint(
            en="Your token reads 2 GB, a quarter of a byte for each number. 4 bits are half of one.",
            zh="按你的算法，每个词元只读 2 GB，每个数只占四分之一个字节。4 位是半个字节。",
        ),
        wrong("giga-forgotten", answer=25e9).hint(
            en="One of the two has lost its G: both are thousands of millions.",
            zh="两个数里有一个漏了 G：它们都是以十亿计的。",
        ),
        wrong("bandwidth-in-gibibytes", answer=100e9 / 2**30 / 4).hint(
            en="You turned 100 GB into gibibytes of 2³⁰ bytes, and not the model. Here GB are 10⁹ bytes.",
            zh="你把 100 GB 换算成了 2³⁰ 字节的 GiB，模型却没有换算。这里的 GB 是 10⁹ 字节。",
            value_range=(23.2, 23.4),
        ),
        wrong("model-in-gibibytes", answer=100 * 2**30 / 4e9).hint(
            en="You counted the model in gibibytes of 2³⁰ bytes, and the bandwidth in GB. Here GB are 10⁹ bytes.",
            zh="你把模型按 2³⁰ 字节的 GiB 来算，带宽却按 GB。这里的 GB 是 10⁹ 字节。",
            value_range=(26.7, 27.0),
        ),
    ),
    section=Text(en="At most so many tokens a second", zh="每秒最多几个词元"),
    panel=Text(
        en="in the panel of the same section, set model to 8B, bits to 4 and GB/s to 100, and read the line under the "
        "picture.",
        zh="在同一节的面板里，把“模型”设为 8B，“位数”设为 4，GB/s 设为 100，看图下的那行字。",
    ),
    hint_line="bytes_per_token = 8e9 * 4 / 8",
)
