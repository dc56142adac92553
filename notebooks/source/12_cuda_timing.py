# %% [markdown] lang="en"
r"""
# 12 How fast can a layer be on a GPU?

RMSNorm computes less than LayerNorm. Is it faster? Count bytes first; then take a stopwatch, which lies easily.

After this lesson you can predict a norm's speed from its bytes, spot five lies that benchmarks tell, repair a lying benchmark, and time functions on your machine. It takes about 25 minutes.

You need no GPU. This course has no recording of one yet: you see predictions, one CPU's recording, others' measurements on GPUs, and your machine.
"""

# %% [markdown] lang="zh"
r"""
# 12 GPU 上的一层能有多快？

RMSNorm 的计算比层归一化（LayerNorm）少。它更快吗？我们先算要传多少字节，再用秒表来测；而秒表很容易说谎。

学完这一课，你能根据传输的字节数预测归一化层的速度，能识破基准测试（benchmark）的五种谎话，能把一个说谎的基准测试改对，还能在自己的机器上给函数计时。大约需要 25 分钟。

没有 GPU 也能学。本课程目前还没有 GPU 上的计时记录：你看到的是预测、一块 CPU 上的记录、别人在 GPU 上的测量结果，以及你自己机器上的结果。
"""

# %%
import time
from importlib.resources import files
from statistics import mean, median

import torch
import torch.nn.functional as F

from blocklab import fused
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.cuda_timing import against_the_roof, aligned_widths, guess_then_bytes, lying_watch
from blocklab.timing import bytes_moved, bytes_per_number, eager

# %% [markdown] lang="en"
r"""
## Two questions first

1. Pre-norm or post-norm: which one carries x past the sub-layer as it is?
2. d_model is 4096. How wide is Meta's hidden layer with `multiple_of` 256? And without rounding up?

<details><summary>Answers</summary>

1. Pre-norm: y = x + f(norm(x)).
2. 11008, and 10922: 8 · 4096 / 3 without its fraction.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 前置归一化和后置归一化，哪一种让 x 原样绕过子层？
2. d_model 是 4096。按 Meta 的规则，`multiple_of` 取 256 时，隐藏层有多宽？不向上取整呢？

<details><summary>答案</summary>

1. 前置归一化：y = x + f(norm(x))。
2. 11008；不取整是 10922，即 8 · 4096 / 3 舍去小数。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

A GPU keeps tensors in its memory and computes on its chip. A **kernel** (not the notebook's) is a function that runs there: it reads from memory, computes, and writes its result back. Written step by step, every operation is at least one kernel, and large results go through memory from each kernel to the next. Take y = 2x + 1 for eight numbers in bfloat16, 2 bytes each:
"""

# %% [markdown] lang="zh"
r"""
## 动手算

GPU 把张量存放在显存里，在芯片上计算。**核函数**（kernel）就是在 GPU 上运行的函数：从显存读入数据，计算，再把结果写回显存。如果一步一步写，每个运算至少是一个核函数；大的中间结果要经过显存，才能从一个核函数传给下一个。以 y = 2x + 1 为例，x 是八个 bfloat16 的数，每个 2 字节：
"""

# %%
x = torch.arange(8, dtype=torch.bfloat16)
doubled = 2 * x
y = doubled + 1
two_kernels = x.nbytes + doubled.nbytes + doubled.nbytes + y.nbytes
one_kernel = x.nbytes + y.nbytes
print(f"two kernels: {two_kernels} bytes, {two_kernels // 8} a number")
print(f"one kernel:  {one_kernel} bytes, {one_kernel // 8} a number")

# %% [markdown] lang="en"
r"""
**Fused** into one kernel, both steps move half the bytes. Does that matter? NVIDIA's H100 can do 20 operations in float32 while its memory moves 1 byte ([data sheet](https://www.nvidia.com/en-us/data-center/h100/), SXM: 67 · 10¹² operations, 3350 · 10⁹ bytes a second). LayerNorm needs about 8 for a number and, in bfloat16, moves at least 4 bytes: 2 a byte. So on large matrices bytes decide: no kernel moves them faster than memory can, at its *bandwidth*. That limit is the **memory roof** (roofline).

**Your turn, one line.** `gate`, `value`, `opened` and `y` are bfloat16 matrices of one shape. Two kernels compute `opened = silu(gate)` and `y = opened * value`. How many bytes do they move per number of `y`? Put a number or formula in place of `None`.
"""

# %% [markdown] lang="zh"
r"""
把两步**融合**（fused）成一个核函数，要传的字节就少一半。这重要吗？显存传 1 字节的时间里，NVIDIA 的 H100（一种 GPU）能做 20 次 float32 运算（[规格表](https://www.nvidia.com/en-us/data-center/h100/)，SXM 版：每秒 67 · 10¹² 次运算，3350 · 10⁹ 字节）。层归一化对每个数大约要做 8 次运算；用 bfloat16，每个数至少要传 4 字节，平均每字节只有 2 次运算。所以矩阵很大时，起决定作用的是字节：核函数传数据的速度，不可能超过显存的速度，也就是显存的**带宽**（bandwidth）。这个上限叫作显存的**屋顶线**（roofline）。

**轮到你了**，只写一行：`gate`、`value`、`opened` 和 `y` 是形状相同的 bfloat16 矩阵，用两个核函数依次计算 `opened = silu(gate)` 和 `y = opened * value`。平均到 `y` 的每个数，一共要传多少字节？请把 `None` 换成这个数，或者换成算式。
"""

# %% tags=["exercise"]
my_bytes_in_two_kernels = None

check("bytes_in_two_kernels", my_bytes_in_two_kernels)

# %% tags=["solution"]
solved_bytes_in_two_kernels = 2 * (1 + 1) + 2 * (2 + 1)

check("bytes_in_two_kernels", solved_bytes_in_two_kernels)

# %% [markdown] lang="en"
r"""
## Guess, then bytes

The bars lay the norms' reads and writes end to end, in bytes per number of the matrix (left out: vectors such as γ, and kernels with only one number per row). Upright lines separate the kernels: *step by step*, one for each operation; *one kernel* reads a row once and keeps it on the chip.

**Predict first.** Step by step, RMSNorm is by bytes 1.43 times as fast as LayerNorm. And with one kernel for each? Choose, then switch to *one kernel*.
"""

# %% [markdown] lang="zh"
r"""
## 先猜，再算字节数

下图把归一化层的各次读和写首尾相接，长度是矩阵里的每个数要传的字节数（γ 这样的向量，以及每行只涉及一个数的核函数，都略去不计）。竖线把核函数一一隔开：“一步一步”是每个运算用一个核函数；“一个核函数”只把每行读一次，读入后留在芯片上。

**先猜一猜**：一步一步做，按字节算，RMSNorm 的速度是层归一化的 1.43 倍。各用一个核函数呢？先选，再切换到“一个核函数”。
"""

# %% tags=["panel", "guess"]
guess_then_bytes.panel()

# %% [markdown] lang="en"
r"""
No faster: 4 bytes each. With the row on the chip, the mean costs only arithmetic, which a GPU has in plenty: by bytes **the mean is free**. What pays is fusing: 20 bytes become 4. Likewise backward (68 and 58 bytes, in one kernel 6 and 6).
"""

# %% [markdown] lang="zh"
r"""
一样快：都是 4 字节。一行已经在芯片上，求均值就只多一些运算，而 GPU 的运算能力绰绰有余：按字节算，**均值不花时间**。真正有用的是融合：从 20 字节降到 4 字节。反向也一样（68 和 58 字节，用一个核函数是 6 和 6 字节）。
"""

# %% [markdown] lang="en"
r"""
## The lying watch

This device is made up, so that we know the truth. Python takes 10 µs to start a kernel; memory moves 1 MB in 1 µs; a *cache*, memory on the chip, holds 32 MB and is 4 times as fast. Call 0 compiles, call 3 is interrupted: both are drawn as *delay*. Each row is one call on an idle GPU; the line under it is what is timed, and calls without one are not.

The honest watch warms up with an untimed call, has new inputs for each call, waits for the GPU before it stops, and takes the median. It must wait, because Python only starts a kernel and goes on: *no waiting* stops at once. Every other watch breaks one of these rules; *no warm-up* times call 0 alone.

**Predict first**, then choose *no waiting*: as you drag the size from 1 to 128 MB, what happens to the reading, and what to the speed on the right?
"""

# %% [markdown] lang="zh"
r"""
## 说谎的秒表

下面的设备是虚构的，这样我们才知道真相。Python 启动一个核函数要 10 µs；显存每 1 µs 传 1 MB；**缓存**（cache）在芯片上，容量 32 MB，速度是显存的 4 倍。第 0 次调用要先编译，第 3 次调用受到干扰，图中都画成“耽搁”。每一行是一次调用，开始时 GPU 是空闲的；条形下面的线是计入的时间，没有这条线的调用不计时。

如实计时要守四条规矩：先预热（warm-up），也就是调用一次，但不计时；每次调用换一份输入；等 GPU 做完才停表；最后取中位数（median）。必须等待，是因为 Python 只负责启动核函数，启动之后就接着执行下一行。“不等待”则是一启动就停表。其他几种计时方式，各违反其中一条；“不预热”只计第 0 次调用的时间。

**先猜一猜**，再选“不等待”：把数据量从 1 MB 拖到 128 MB，秒表的读数怎样变？右图的速度怎样变？
"""

# %% tags=["panel"]
lying_watch.panel()

# %% [markdown] lang="en"
r"""
The reading stays at 10 µs, the start; so the speed grows with the size, beyond 10 MB through the roof. *Same inputs* goes through it at 16 and 32 MB, which the cache holds; with less, the start takes most. *No warm-up* and *mean* make the device look too slow. At 1 MB even the honest watch times mostly the start.

The fifth lie concerns matrix products: multiplying zeros takes less power than multiplying random numbers, so the chip may run faster ([295 against 257](https://www.thonking.ai/p/strangely-matrix-multiplications) · 10¹² operations a second in one author's test).

## What the source notes say

| the notes say | does it hold? |
|---|---|
| RMSNorm is faster | By bytes, forward, 1.43 times step by step; not in one kernel. |
| full speed needs multiples of 8/16/32/256 | Not of 256: see *Going further*. |

## Exercise: repair a benchmark that lies

`function()` only starts work on a device, `synchronize()` waits until it is idle, `clock()` gives seconds. Repair this: call `function` `warm_up` times, then time `repeats` single calls, each from idle device to idle device; return the median.
"""

# %% [markdown] lang="zh"
r"""
读数一直是 10 µs，也就是启动所用的时间；所以数据越多，测得的速度越快，超过 10 MB 就冲破了屋顶线。“总用同一份输入”在 16 MB 和 32 MB 处也冲破了屋顶线：缓存装得下这些数据，不必再从显存读；数据更少时，启动占了大半。“不预热”和“取均值”则让设备显得太慢。在 1 MB 处，即使如实计时，测到的也主要是启动的时间。

第五种谎话与矩阵乘法有关：全零的输入比随机数省电，芯片可能因此跑得更快（有一位作者测得的分别是每秒 [295 和 257](https://www.thonking.ai/p/strangely-matrix-multiplications) · 10¹² 次运算）。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| RMSNorm 更快 | 按字节算，前向，一步一步做时是 1.43 倍；只用一个核函数，则不然。 |
| 要达到最大算力，需要 8/16/32/256 的倍数 | 不必是 256 的倍数，见“选读”。 |

## 练习：改对一个说谎的基准测试

`function()` 只是在设备上启动工作，`synchronize()` 等到设备空闲为止，`clock()` 给出以秒为单位的时刻。请改对下面的基准测试：先把 `function` 调用 `warm_up` 次，再给 `repeats` 次调用逐一计时，每次都从设备空闲时开始，到设备又空闲时结束，最后返回中位数。
"""


# %% tags=["exercise"]
def my_time_function(function, synchronize, clock, warm_up=3, repeats=5):
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return mean(times)


check("time_function", my_time_function)

# %% [markdown] lang="en"
r"""
Stuck? The benchmark makes three of the panel's mistakes, and a fourth where it starts the clock. Repair one, then run the cell. The solution is folded below.
"""

# %% [markdown] lang="zh"
r"""
卡住了？这个基准测试犯了面板里的三种错误，开始计时的地方还有第四种。改对一处，就运行一次。参考答案折叠在下面。
"""


# %% tags=["solution"]
def solved_time_function(function, synchronize, clock, warm_up=3, repeats=5):
    for _ in range(warm_up):
        function()
    times = []
    for _ in range(repeats):
        synchronize()
        start = clock()
        function()
        synchronize()
        times.append(clock() - start)
    return median(times)


check("time_function", solved_time_function)

# %% [markdown] lang="en"
r"""
## Against the roof

`measure` in `blocklab.timing` also takes turns through more inputs than any cache holds, and times a plain copy beside them: that copy is the roof. With it we recorded three functions on one CPU, each in several implementations; *unfused* are the functions of the other lessons.

Bars start at the roof, at 1: the time a copy takes for the fewest bytes that the function has to move. From one grid line to the next the time doubles. The dashed frame is what the bytes of *step by step* predict; thin lines span from 20% to 80% of all rounds. With a GPU, choose bfloat16 and width 4096: dots are your card.

**Predict first.** Step by step, forward, width 4096, one of the three takes several times as long as its bytes say. Which?
"""

# %% [markdown] lang="zh"
r"""
## 离屋顶线多远

`blocklab.timing` 里的 `measure` 做得更多：它轮流使用许多份输入，多到任何缓存都装不下；另外还给单纯的复制计时，复制的速度就是屋顶线。我们用它在一块 CPU 上给三个函数计时，每个函数有几种实现。“未融合”是其他几课里用的函数。

每根横条都从屋顶线画起，那里是 1，即用复制的速度传完最少的字节所用的时间。横轴上每过一条竖线，时间翻一倍。只有“一步一步”带虚线框，那是按字节数算出的预测。细线覆盖各轮测量值的 20% 到 80%。有 GPU 时，选 bfloat16，宽度 4096，圆点就是你的显卡。

**先猜一猜**：一步一步做，前向，宽度 4096，三个函数里有一个，实际用时是按字节算出的时间的好几倍。是哪一个？
"""

# %%
from blocklab.timing.measured_bytes import from_recording, measured_here, shipped_recording

measured = from_recording(shipped_recording())
yours = measured_here() if fused.available() else None

# %% tags=["panel", "guess"]
against_the_roof.panel(measured, yours)

# %% [markdown] lang="en"
r"""
LayerNorm: 28 times the time at the roof, where its bytes say 5. On a CPU torch computes the variance slowly. The other five cases (both passes, width 4096, float32) come within a fifth of what their bytes say. And in the whole recording, with four widths and two types?
"""

# %% [markdown] lang="zh"
r"""
是层归一化：所用时间与达到屋顶线时相比，按字节算是 5 倍，实测是 28 倍。原因是在 CPU 上，torch 求方差很慢。其余五种情况（两个方向，宽度 4096，float32），实测与预测相差不到五分之一。整份记录有四种宽度、两种数据类型，又怎么样呢？
"""

# %%
told = Text(en="{}: {} of {} within a fifth of their bytes", zh="{}：{} 个与预测相差不到五分之一，共 {} 个")
for dtype in (torch.float32, torch.bfloat16):
    name = str(dtype).removeprefix("torch.")
    cases = [case for case in measured.bytes if case.arm == "eager" and case.dtype == name]
    foretold = [bytes_per_number(case.op, dtype, case.direction, way="eager") for case in cases]
    near = sum(abs(measured.bytes[case].median / n - 1) < 0.2 for case, n in zip(cases, foretold, strict=True))
    print(told.format(name, near, len(cases)))

# %% [markdown] lang="en"
r"""
Of all 48 recorded cases 16 come within a fifth: in float32 14 of 24, in bfloat16 2 of 24. Nearly all others take longer. At width 1024 RMSNorm forward, in float32, is faster, 2.2 instead of 3.5: its intermediate results, 8 MB each, stay in the cache. Bytes give the shortest time through memory, not the time.

Nearest to the roof is mostly `torch.compile`, which fuses kernels by itself; for LayerNorm it is often torch's own. On this CPU the mean is not always free: with `torch.compile`, forward, width 4096, float32, LayerNorm takes 1.8 and RMSNorm 1.35.

Our fused kernels have not been timed on a GPU yet; for others' measurements see *Going further*.
"""

# %% [markdown] lang="zh"
r"""
48 个记录里，与预测相差不到五分之一的有 16 个：float32 的 24 个里有 14 个，bfloat16 的 24 个里只有 2 个。其余的几乎都更慢。宽度 1024、float32 时，RMSNorm 的前向反而比预测的快：按字节算，用时应是达到屋顶线时的 3.5 倍，实测只有 2.2 倍，因为中间结果每个只有 8 MB，留在了缓存里。字节数给出的是数据经过内存至少要用的时间，不是实际用时。

离屋顶线最近的大多是 `torch.compile`，它会自动融合核函数；层归一化则常常是 torch 自带的最近。在这块 CPU 上，均值并非总是不花时间：用 `torch.compile`，前向，宽度 4096，float32，层归一化是 1.8 倍，RMSNorm 是 1.35 倍。

我们的融合核函数还没有在 GPU 上测过；别人的测量结果见“选读”。
"""

# %% [markdown] lang="en"
r"""
## On your machine

The repaired benchmark times four real functions, forward, on 1024 × 4096 numbers in float32. `eager` goes step by step, `F` is torch's own. The slowest gets the longest bar:
"""

# %% [markdown] lang="zh"
r"""
## 在你的机器上

用改好的基准测试给四个真实的函数计时：前向，1024 × 4096 个 float32 的数。`eager` 一步一步做，`F` 是 torch 自带的。最慢的函数，横条最长：
"""

# %%
device = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
x, gain, bias = (torch.randn(shape, device=device) for shape in ((1024, 4096), 4096, 4096))  # (N, d), (d,), (d,)
functions = {
    "eager.layer_norm": lambda: eager.layer_norm(x, gain, bias),
    "eager.rms_norm": lambda: eager.rms_norm(x, gain),
    "F.layer_norm": lambda: F.layer_norm(x, (4096,), gain, bias),
    "F.rms_norm": lambda: F.rms_norm(x, (4096,), gain),
}

# %% tags=["nbval-ignore-output"]
seconds = {name: solved_time_function(function, wait, time.perf_counter) for name, function in functions.items()}
for name, taken in seconds.items():
    print(f"{name:16} {'■' * round(50 * taken / max(seconds.values()))}")

# %% [markdown] lang="en"
r"""
On our CPU the first bar is about 2 to 9 times as long as the second, different in every run. And this benchmark still tells a lie: always the same inputs. `F.rms_norm` goes step by step there, too. With a GPU, `python -m blocklab.timing record` measures all this on your card, into a CSV file, in about 8 minutes.
"""

# %% [markdown] lang="zh"
r"""
在我们的 CPU 上，第一根横条的长度大约是第二根的 2 到 9 倍，每次运行都不同。这个基准测试还留着一种谎话：总用同一份输入。`F.rms_norm` 在 CPU 上也是一步一步算的。有 GPU 的话，运行 `python -m blocklab.timing record`，大约 8 分钟，就能在你的显卡上测完这些，结果写进一个 CSV 文件。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. SwiGLU's gate, backward, one kernel: it reads the gradient of y, gate and value, and writes two gradients. How many bytes for 8192 tokens, width 11008, bfloat16? How long at least, at 3350 · 10⁹ bytes a second?

<details><summary>Answer</summary>

5 · 2 · 8192 · 11008 = 901775360 bytes, 269 µs.

</details>

2. Somebody's benchmark has an RMSNorm at 1.6 times the speed of memory. Which two lies do you suspect? Which further run tells them apart?

<details><summary>Answer</summary>

No waiting, or inputs in the cache. Take a much larger matrix. If nobody waits, the speed keeps growing; if it was the cache, the inputs no longer fit and the speed falls below the roof.

</details>

3. A trained model spends 5% of its time in `F.layer_norm`, one kernel. For speed a colleague wants RMSNorm in its place. Your advice?

<details><summary>Answer</summary>

Leave it: at most 5% could be gained, by bytes nothing at all, and RMSNorm is another function (lesson 06). Instead fuse what is written step by step (by bytes LayerNorm becomes 20 / 4 = 5 times as fast), and measure.

</details>

The numbers:
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. SwiGLU 的门，反向，一个核函数：读入 y 的梯度、门和值，写出两个梯度。8192 个词元，宽 11008，bfloat16，要传多少字节？显存每秒传 3350 · 10⁹ 字节，至少要多久？

<details><summary>答案</summary>

5 · 2 · 8192 · 11008 = 901775360 字节，269 µs。

</details>

2. 某人的基准测试说，RMSNorm 传输数据的速度是显存的 1.6 倍。你怀疑是哪两种谎话？再测一次什么，就能分清是哪一种？

<details><summary>答案</summary>

没有等待，或者输入在缓存里。换一个大得多的矩阵：如果是没有等待，速度还会上升；如果是缓存，矩阵大得装不下，速度就降到屋顶线以下。

</details>

3. 某个训练好的模型有 5% 的时间花在 `F.layer_norm` 上，它是一个核函数。同事为了速度，想换成 RMSNorm。你的建议是什么？

<details><summary>答案</summary>

不换：最多也只能省下 5%，按字节算一点也省不下，而且 RMSNorm 是另一个函数（第 06 课）。应当把一步一步写的部分融合起来，按字节算，层归一化的速度是原来的 20 / 4 = 5 倍；还要实测。

</details>

上面的数由下一个单元格算出：
"""

# %%
moved = bytes_moved("swiglu", (8192, 11008), torch.bfloat16, "backward")
print(f"1. {moved} bytes, {1e6 * moved / 3350e9:.0f} µs")
for watch in ("no waiting", "same inputs"):
    print("2.", watch, {f"{size} MB": round(lying_watch.apparent_speed(watch, size), 2) for size in (16, 128)})
for direction in ("forward", "backward"):
    print("3.", direction, [bytes_per_number(op, torch.bfloat16, direction) for op in ("layer_norm", "rms_norm")])

# %% [markdown] lang="en"
r"""
**In one line:** with little arithmetic, bytes decide; fused, by bytes the mean is free; and a watch that does not wait times only the start.

## Going further: counted bytes on a GPU

The first Llama's RMSNorm, as the library transformers has it, computes step by step in float32: 36 bytes a number, so one kernel should be 9 times as fast. The authors of the library Liger timed both on NVIDIA's A100 ([file](https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv), version 0.2.1, bfloat16, 2048 rows, forward, medians in µs):
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：运算少的时候，快慢由字节决定；融合之后，按字节算，均值不花时间；不等待的秒表，测到的只是启动。

## 选读：GPU 上的字节数

第一代 Llama 的 RMSNorm，按 transformers 库的写法，用 float32 一步一步计算，每个数传 36 字节。因此，一个核函数的速度应当是它的 9 倍。Liger 库的作者在 NVIDIA 的 A100 上测过这两者（[数据文件](https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv)，版本 0.2.1，bfloat16，2048 行，前向，中位数，单位 µs）：
"""

# %%
fewer = bytes_per_number("rms_norm", torch.bfloat16, way="llama") / bytes_per_number("rms_norm", torch.bfloat16)
step_by_step = {1024: 78.2, 2048: 136.3, 4096: 279.9, 8192: 519.0, 16384: 985.6, 32768: 1919.1}
one_kernel = {1024: 13.6, 2048: 20.0, 4096: 31.1, 8192: 51.7, 16384: 95.3, 32768: 182.2}
for width, slow in step_by_step.items():
    print(f"width {width:5}: predicted {fewer:.1f} times as fast, Liger measured {slow / one_kernel[width]:.1f}")

# %% [markdown] lang="en"
r"""
From width 4096 on, all are within a fifth. With narrower rows the one kernel is so short that fixed costs such as its start take much of its time.

## Going further: widths of matrix products

Lesson 09 left open what 10922 costs beside 11008. Two predictions, both about a GPU. *Bits at once*: a thread of the GPU loads or stores up to 128 bits (16 bytes), but only at a place that is a multiple of what it moves; the panel shows what fits the start of every row. *Tiles and waves*: the result is computed in tiles of 128 × 256, 132 at a time, a *wave*; what hangs over an edge, and what stays empty in the last wave, is lost.

The panel has three matrix products of a feed-forward layer, the last from the way back, with x `(tokens, 4096)`, w1 `(hidden, 4096)` and w2 `(4096, hidden)`; in our recording 512 takes the place of 4096. **Predict first:** by which of the two does 10922 lose on an H100? Choose, then show *an H100*.
"""

# %% [markdown] lang="zh"
r"""
宽度从 4096 起，实测与预测都相差不到五分之一。行更窄时，这一个核函数本来就很短，启动等固定的开销占了不少时间。

## 选读：矩阵乘法的宽度

第 09 课留下一个问题：与 11008 相比，10922 要多花多少时间？有两种预测，说的都是 GPU。一种看一次能读写多少位（bit）：GPU 的一个线程（thread）一次最多读写 128 位（16 字节），但是起点必须是这个长度的整数倍；最上面的图画的是：要让每一行的开头都对齐，一次最多能读写多少位。另一种看分块和波次：结果按 128 × 256 分块计算，每 132 块为一个波次（wave）；超出边缘的部分，最后一个波次里空着的位置，都浪费了。

面板里有前馈层的三个矩阵乘法，最后一个出自反向传播；x 是 `(tokens, 4096)`，w1 是 `(hidden, 4096)`，w2 是 `(4096, hidden)`；我们的记录里，4096 换成了 512。**先猜一猜**：在 H100 上，拖慢 10922 的会是哪一种？先选，再显示“一块 H100”。
"""

# %% tags=["panel", "guess"]
aligned_widths.panel(shipped_recording())

# %% [markdown] lang="en"
r"""
By bits: in bfloat16 a row of 10922 fits 32 at once, one of the odd 10923 only 16. By tiles and waves all widths of the panel are within 1.5%. Few tokens can leave places empty (512 tokens, `h = x @ w1.T`: 65% used), but at every width alike.

The H100 is someone else's ([source](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)). Measured were 4 products `h @ w2`, of 4096 rows each, in float16; only h has rows so long. We show 10922 and the best 5 of the 50 widths tried, in 10¹² operations a second: 10922 272.73, 10912 395.16, 10944 398.38, 11008 395.01. So there 10922 has 69% of 11008's speed, and 10944, a multiple of 64 but not of 256, loses nothing.

Why? On Hopper, the H100's kind of GPU, the unit that copies whole tiles (TMA) takes only rows whose distance in memory is a multiple of 16 bytes, that is of 128 bits; otherwise a library must load in another way. That fits the drop, but nobody here looked inside the library, and widths that fit 64 bits are not among the points.

Our CPU (float32, 512 tokens, d = 512) loses about a seventh at 10922 and 10923 where the result has such rows, elsewhere less than a tenth. These are single tests; `record` writes down what your card does.

## Going further: three passes, one read

How can a kernel find the mean, then the variance, and still read x once? These lines of our LayerNorm, `blocklab/fused/layer_norm.py`, are written in Triton (`tl`), a language for kernels within Python; `wide` is the type computed in:
"""

# %% [markdown] lang="zh"
r"""
是位数。用 bfloat16，行宽 10922 时一次只能读写 32 位，奇数 10923 时只能读写 16 位。按分块和波次，图中各个宽度相差不超过 1.5%。词元少时，可能有许多位置空着（512 个词元，`h = x @ w1.T`：只用上 65%），但各个宽度都差不多。

H100 上的数是别人测的（[出处](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)）。测的是 4 个乘积 `h @ w2`，每个有 4096 行，float16；其中只有 h 的行是这个宽度。这里列出 10922，以及试过的 50 个宽度中最快的 5 个，单位是每秒 10¹² 次运算：10922 为 272.73，10912 为 395.16，10944 为 398.38，11008 为 395.01。在这项测试里，10922 的速度只有 11008 的 69%；10944 是 64 的倍数，不是 256 的倍数，却没有损失。

为什么？在 Hopper 上（H100 就属于这一代），成批搬运数据的 TMA 只接受 16 字节（128 位）整数倍的行距，否则程序库只能用别的办法读取。这与引用的实测相符，但我们没有查看程序库的内部；64 位的情形没有测过。

在我们的 CPU 上（float32，512 个词元，d = 512），结果的行这么长时，10922 和 10923 慢了大约七分之一，别处相差不到十分之一。这些都只是个别的测试；你的显卡怎样，可以用 `record` 记录下来。

## 选读：三遍计算，一次读入

核函数先求均值，再求方差，怎么还能只读一次 x？下面是我们的层归一化里的几行，出自 `blocklab/fused/layer_norm.py`，用 Triton（代码里写作 `tl`）写成，这是嵌在 Python 里的一种写核函数的语言；`wide` 是计算所用的类型：
"""

# %%
source = (files("blocklab") / "fused" / "layer_norm.py").read_text("utf-8")
start, end = source.index("    total = "), source.index("    tl.store(means")
print(source[start:end])

# %% [markdown] lang="en"
r"""
A running kernel is many *programs*. Each takes one row, or a few narrow ones, `BLOCK` columns at once; `real` says which rows exist. There are three loops: sum, squares, result. Up to a width of 32768 (16384 where rows do not start at multiples of 16 bytes) one block holds a row: the compiler drops the loops and keeps the row in *registers*, the places beside the arithmetic units, so the second and third load cost nothing. Wider rows are read three times (from the cache, with luck).

With the package triton (Linux) such kernels also run on a CPU, slowly but well enough to study and test them, if `TRITON_INTERPRET=1` is set before Python starts: `TRITON_INTERPRET=1 python -c "import torch; from blocklab import fused; print(fused.rms_norm(torch.tensor([[3., 4.]]), (2,)))"`.
"""

# %% [markdown] lang="zh"
r"""
核函数运行时分成许多份，每一份叫作一个程序（program）。一个程序处理一行，行窄时处理几行，每次 `BLOCK` 列；`real` 说明哪些行确实存在。一共三个循环：求和、求平方、算结果。宽度不超过 32768 时（如果每行的开头不都在 16 字节的整数倍处，则是 16384），一块就装得下一行：编译器会去掉循环，把这一行留在**寄存器**（register）里，也就是紧挨着运算单元的存储位置，所以第二次、第三次读取不花时间。更宽的行要读三遍（运气好的话，从缓存里读）。

装上 triton 这个包（只支持 Linux），这样的核函数也能在 CPU 上运行，虽然很慢，但便于读懂和测试；条件是启动 Python 之前设置 `TRITON_INTERPRET=1`：`TRITON_INTERPRET=1 python -c "import torch; from blocklab import fused; print(fused.rms_norm(torch.tensor([[3., 4.]]), (2,)))"`。
"""
