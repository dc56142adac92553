"""A one-line exercise on the bytes that two kernels move where one would do with fewer."""

from blocklab_course.checks.exercise import one_number
from blocklab_course.checks.mistake import wrong
from blocklab_course.i18n import Text

BYTES_IN_TWO_KERNELS = one_number(
    name="bytes_in_two_kernels",
    answer=10,  # silu of gate: one read, one write; that times value: two reads, one write; 2 bytes each
    result_name=Text(en="bytes per number of y", zh="y 的每个数要传的字节数"),
    mistakes=(
        wrong("one-kernel", answer=6).hint(
            en="This is what a single kernel moves. Two kernels also write `opened` to memory and read it again.",
            zh="这是只用一个核函数时的字节数。用两个核函数，还要把 `opened` 写进显存，再读回来。",
        ),
        wrong("passes-not-bytes", answer=5).hint(
            en="You counted the reads and writes. Each of them moves 2 bytes per number.",
            zh="你数的是读写的次数。每次读写，每个数要传 2 个字节。",
        ),
        wrong("one-read-missing", answer=8).hint(
            en="One read or write is missing. The second kernel reads two matrices and writes one.",
            zh="少数了一次读或写。第二个核函数要读两个矩阵，写一个矩阵。",
        ),
        wrong("first-kernel-only", answer=4).hint(
            en="That is the first kernel alone: one read, one write. Add what the second one moves.",
            zh="这只是第一个核函数：读一次，写一次。还要加上第二个核函数的读写。",
        ),
        wrong("silu-of-two", answer=12).hint(
            en="You counted two reads and a write for both kernels. The first one reads `gate` alone: 2 passes there, "
            "3 in the second.",
            zh="你把两个核函数都算成读两次、写一次了。第一个只读 `gate`，所以它读写 2 次，第二个读写 3 次。",
        ),
        wrong("all-four-both-ways", answer=16).hint(
            en="You let all four matrices be read and written. `gate` and `value` are only read, `y` is only written: "
            "only `opened` travels both ways.",
            zh="你让四个矩阵都读写了一遍。`gate` 和 `value` 只读，`y` 只写：既写又读的只有 `opened`。",
        ),
        wrong("four-bytes-each", answer=20).hint(
            en="You took 4 bytes for every number, as float32 has. bfloat16 has 2.",
            zh="你按每个数 4 字节算了，那是 float32。bfloat16 是 2 字节。",
        ),
        wrong("inputs-and-output", answer=3).hint(
            en="You counted matrices: two inputs and one result. Count every read and write, then take 2 bytes for "
            "each.",
            zh="你数的是矩阵：两个输入、一个结果。应当数每一次读写，再按每次 2 字节计算。",
        ),
    ),
    section=Text(en="By hand", zh="动手算"),
    panel=Text(
        en='under *Guess, then bytes*, look at the kernel "+ β" of LayerNorm\'s bar: which of its blocks does '
        "`opened * value` have too, and which one comes on top?",
        zh="在“先猜，再算字节数”一节里，看 LayerNorm 那一条上的核函数“+ β”："
        "`opened * value` 的读写与它相比，哪些相同，多出哪一块？",
    ),
    hint_line="reads, writes = 1 + 2, 1 + 1",
)
