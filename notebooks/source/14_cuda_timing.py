# %% [markdown] lang="en"
r"""
# 14 How fast can a layer be on a GPU?

Of 1900 operations that SmolLM2 does for a token, 1 belongs to its 61 norms. Yet step by step, as in the first Llama, such a norm took a real GPU up to 10.5 times as long as the same arithmetic in one go. What takes the time, if not the operations? And whoever measures is easily fooled: on a made-up GPU, stopwatches that look right are off by more than ten times.

This lesson puts your own norms on the clock. After it you can predict speed from bytes, spot five lies of benchmarks, repair one, and time real layers with it. It takes about 45 minutes without *Going further*.

You need no GPU.
"""

# %% [markdown] lang="zh"
r"""
# 14 GPU 上的一层能有多快？

SmolLM2 处理一个词元，每 1900 次运算里，只有 1 次属于那 61 个归一化层。可是在一块真正的 GPU 上，照第一代 Llama 的写法一步一步做，一个归一化层的用时最多是一口气做完的 10.5 倍，要算的却一样多。时间到底花在哪里了？要测出来也不容易：在一台虚构的 GPU 上，看上去没有问题的秒表，读数有的是真实时间的十几倍，有的不到它的十分之一。

这一课要测一层花多少时间，你自己写的归一化层也会拿来计时。学完之后，你能根据字节数预测速度，认出基准测试（benchmark）骗人的五种方式，修好一个会骗人的，再用它给真实的层计时。大约需要 45 分钟，选读另计。

没有 GPU 也能学。
"""

# %%
import time
from itertools import cycle
from statistics import mean, median

import torch
import torch.nn.functional as F

from blocklab_course.i18n import Text
from blocklab_course import checked_or_reference, check, building_blocks
from blocklab_course.lessons.cuda_timing import against_the_roof, aligned_widths, attention_by_bytes, fused_passes
from blocklab_course.lessons.cuda_timing import guess_then_bytes, lying_watch, on_an_a100, timed_norms
from blocklab_course.benchmarking import bytes_moved, bytes_per_number, eager
from blocklab_course.benchmarking.measured_bytes import from_recording, shipped_recording

# %% [markdown] lang="en"
r"""
## Two questions first

1. A model's weights are 0.27 GB, each new token reads them once, and memory reads 20 GB a second. How many tokens a second at most?
2. d_model is 4096. How wide is Meta's hidden layer with `multiple_of` 256? And without rounding up?

<details><summary>Answers</summary>

1. 20 / 0.27, about 74 (lesson 13).
2. 11008, and 10922: 8 · 4096 / 3 without its fraction.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 模型的权重共 0.27 GB，每生成一个词元都要读一遍，内存每秒读 20 GB。一秒最多能生成几个词元？
2. d_model 是 4096。按 Meta 的规则，`multiple_of` 取 256 时，隐藏层有多宽？不向上取整呢？

<details><summary>答案</summary>

1. 20 / 0.27，大约 74 个（第 13 课）。
2. 11008；不取整是 10922，即 8 · 4096 / 3 舍去小数。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

A GPU keeps tensors in its memory and computes on its chip. A **kernel** is a function that runs there: it reads from memory, computes, and writes back. Run step by step, every operation is at least one kernel, and a large result travels through memory to the next kernel. Take y = 2x + 1 for eight numbers in bfloat16, 2 bytes each:
"""

# %% [markdown] lang="zh"
r"""
## 动手算

GPU 把张量存放在显存里，在芯片上计算。**核函数**（kernel）就是在 GPU 上运行的函数：从显存读入数据，计算，再把结果写回显存。如果一步一步做，每个运算至少是一个核函数，于是大的中间结果都要经过显存，才能从一个核函数传给下一个。以 y = 2x + 1 为例，x 是八个 bfloat16 的数，每个 2 字节：
"""

# %%
x = torch.arange(8, dtype=torch.bfloat16)
doubled = 2 * x
y = doubled + 1
two_kernels = x.nbytes + doubled.nbytes + doubled.nbytes + y.nbytes
one_kernel = x.nbytes + y.nbytes
moved = Text(en="two kernels move {} bytes, one kernel {}", zh="两个核函数传 {} 字节，一个核函数传 {} 字节")
print(moved.format(two_kernels, one_kernel))

# %% [markdown] lang="en"
r"""
**Fused** into one kernel, the two steps move half the bytes. Does that matter? NVIDIA's H100 does $67 \cdot 10^{12}$ operations in float32 a second while its memory moves $3350 \cdot 10^9$ bytes ([data sheet](https://www.nvidia.com/en-us/data-center/h100/), SXM), 20 operations a byte. LayerNorm has about 7 for a number (the mean 1, x − μ 1, squares and sum 2, ÷ σ × γ + β 3), and in bfloat16 it moves at least 4 bytes, 2 in and 2 out. So the chip mostly waits, and on a large matrix bytes decide; the limit, memory's *bandwidth*, is called the **memory roof** (roofline).

**Your turn, one line.** `gate`, `value`, `opened` and `y` are bfloat16 matrices of one shape. Two kernels compute `opened = silu(gate)` and `y = opened * value`. How many bytes do they move per number of `y`? Replace `None` by a number or formula.
"""

# %% [markdown] lang="zh"
r"""
把两步**融合**（fused）成一个核函数，要传的字节就少一半。省下这些字节有用吗？NVIDIA 的 H100 每秒能做 $67 \cdot 10^{12}$ 次 float32 运算，同时显存能传 $3350 \cdot 10^9$ 字节（[规格表](https://www.nvidia.com/en-us/data-center/h100/)，SXM 版），也就是传一字节的工夫，能做 20 次运算。层归一化对每个数大约要做 7 次运算（均值 1 次，x − μ 1 次，平方与求和 2 次，÷ σ、× γ、+ β 共 3 次），用 bfloat16 却至少要传 4 字节，读 2 写 2。所以芯片大部分时间都在等，矩阵很大时，快慢就由字节决定：无论怎样优化，每秒传的字节也不会超过显存的**带宽**（bandwidth）。这个上限叫作显存的**屋顶线**（roofline）。

**轮到你了**，只写一行：`gate`、`value`、`opened` 和 `y` 是形状相同的 bfloat16 矩阵，用两个核函数依次计算 `opened = silu(gate)` 和 `y = opened * value`。平均到 `y` 的每个数，一共要传多少字节？请把 `None` 换成这个数，或者换成算式。
"""

# %% tags=["exercise"]
my_bytes_in_two_kernels = None

check("bytes_in_two_kernels", my_bytes_in_two_kernels)

# %% [markdown] lang="en"
r"""
Stuck? Write down each kernel's reads and writes, as *By hand* does.

<details><summary>The idea</summary>

Take the kernels one after the other. `opened` occurs twice, because the first kernel writes it and the second reads it again. Every read and every write is 2 bytes a number.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？像“动手算”里那样，写下每个核函数读什么、写什么。

<details><summary>思路</summary>

一个核函数一个核函数地看。`opened` 要计入两次，因为第一个核函数把它写进显存，第二个又把它读出来。每读一次或写一次，每个数都是 2 字节。

</details>
"""

# %% tags=["solution"]
solved_bytes_in_two_kernels = 2 * (1 + 1) + 2 * (2 + 1)

check("bytes_in_two_kernels", solved_bytes_in_two_kernels, keep=False)

# %% [markdown] lang="en"
r"""
## Guess, then bytes

RMSNorm leaves out the mean. Its [paper](https://arxiv.org/abs/1910.07467) reports 7% to 64% less time than with LayerNorm. What do bytes say? The bars lay each norm's reads and writes of the matrix end to end, in bytes per number; upright lines separate the kernels. *Step by step* has one for each operation as usually written. *One kernel* reads a row once and keeps it on the chip.

**Predict first.** Step by step, RMSNorm is by bytes 1.43 times as fast as LayerNorm. And with one kernel for each? Choose, then switch.
"""

# %% [markdown] lang="zh"
r"""
## 先猜，再算字节数

RMSNorm 不求均值。[论文](https://arxiv.org/abs/1910.07467)说，换用它之后，运行时间少了 7% 到 64%。按字节数算，又会怎样？下图把每种归一化层对矩阵的每一次读、每一次写首尾相接，长度是每个数要传的字节数，竖线把核函数一一隔开。“一步一步”照常见的写法，每个运算用一个核函数。“一个核函数”则只把每行读一次，读入后留在芯片上。

**先猜一猜**：一步一步做，按字节算，RMSNorm 的速度是层归一化的 1.43 倍。各用一个核函数呢？先选，再切换到“一个核函数”。
"""

# %% tags=["panel", "guess"]
guess_then_bytes.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

In one kernel RMSNorm is no faster: 4 bytes each.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只用一个核函数，RMSNorm 并不更快，两者都是 4 字节。

</details>
"""

# %% [markdown] lang="en" gone=1
r"""
With the row on the chip, the mean costs only arithmetic, and a GPU has plenty. Fusing turns LayerNorm's 20 bytes into 4.
"""

# %% [markdown] lang="zh"
r"""
这一行已经在芯片上，再求均值只是多一些运算，而 GPU 的运算能力绰绰有余。融合则把层归一化的 20 字节变成了 4 字节。
"""

# %% [markdown] lang="en"
r"""
## On a real GPU

Does a real GPU agree? The first Llama's RMSNorm, in the library transformers, goes step by step in float32, 36 bytes a number (to float32 2 + 4, x² 4 + 4, mean 4, ÷ RMS 4 + 4, back 4 + 2, × γ 2 + 2). The library Liger's authors timed it against one kernel on an A100 ([file](https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv), version 0.2.1, bfloat16, 2048 rows, forward, medians).

**Predict first.** One kernel moves 4 bytes, so it should be 9 times as fast. At which widths is it: narrow, wide, all?
"""

# %% [markdown] lang="zh"
r"""
## 在真正的 GPU 上

真正的 GPU 也是这样吗？第一代 Llama 的 RMSNorm，按 transformers 库的写法，用 float32 一步一步计算，每个数要传 36 字节（转成 float32 读 2 写 4，平方读 4 写 4，求均值读 4，÷ RMS 读 4 写 4，转回来读 4 写 2，× γ 读 2 写 2）。Liger 库的作者在 A100 上，把它和一个核函数的写法各测了一遍（[数据文件](https://github.com/linkedin/Liger-Kernel/blob/main/benchmark/data/all_benchmark_data.csv)，版本 0.2.1，bfloat16，2048 行，前向，中位数）。

**先猜一猜**：一个核函数只传 4 字节，速度应当是前者的 9 倍。实测在哪些宽度上符合：窄的、宽的，还是都符合？
"""

# %% tags=["answer"]
on_an_a100.show_fusing()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The wide ones: from 4096 on, all are within a fifth.

</details>

Narrower, the one kernel is so short that its start matters, and up to 4096 a float32 result fits into the A100's cache (40 MB). Above 9 times, a byte takes longer step by step than in one kernel (last line).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

宽的符合：宽度从 4096 起，实测与预测都相差不到五分之一。

</details>

行更窄时，这个核函数用时很短，启动等固定开销占的比例不小。宽度不超过 4096 时，A100 的 40 MB 缓存也装得下 float32 的中间结果。加速高于 9 倍时，每传一个字节，一步一步做也比一个核函数慢（见最后一行）。
"""

# %% [markdown] lang="en"
r"""
## What it means for a model

Per token SmolLM2's norms work on 61 · 576 numbers, some 4 operations each, and its matrices have 134479872 weights, 2 operations each. In bfloat16 an H100 multiplies matrices at up to $989 \cdot 10^{12}$ operations a second (dense).

**Predict first.** At best speeds, step by step, do the norms take less than a tenth of these products' time, about half, or more than all?
"""

# %% [markdown] lang="zh"
r"""
## 对一个模型意味着什么

处理一个词元，SmolLM2 的归一化层要算 61 · 576 个数，每个大约 4 次运算；矩阵共有 134479872 个权重，每个 2 次，而 H100 用 bfloat16 做矩阵乘法，每秒最多 $989 \cdot 10^{12}$ 次（稠密矩阵）。

**先猜一猜**：都按最快的速度算，归一化层一步一步做，用时是不到这些矩阵乘法的十分之一，是一半左右，还是比总和更多？
"""

# %% tags=["answer"]
numbers, weights = 61 * 576, 134479872
norms = Text(
    en="norms, {} bytes a number: {:.0f} µs per 1000 tokens", zh="归一化层，每个数 {} 字节：每 1000 个词元 {:.0f} µs"
)
for way in ("llama", "fused"):
    size = bytes_per_number("rms_norm", torch.bfloat16, variant=way)
    print(norms.format(size, 1e9 * numbers * size / 3350e9))
products = Text(en="products with the weights: {:.0f} µs", zh="与权重的矩阵乘法：{:.0f} µs")
print(products.format(1e9 * 2 * weights / 989e12))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

More than all products with weights (without attention's scores): 378 against 272 µs.

</details>

In one kernel each they take 42 µs. These are bounds, for many tokens at once: below some 20000, a float32 result fits into the H100's cache of 50 MB.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

一步一步做，归一化层比全部权重的矩阵乘法还慢（不算注意力的得分）：378 µs 对 272 µs。

</details>

每层改用一个核函数，就只要 42 µs。这些都是下限，而且要有极多的词元一起处理：一次不到大约 20000 个，H100 的 50 MB 缓存就装得下一个 float32 的中间结果。
"""

# %% [markdown] lang="en"
r"""
## Attention by bytes

A norm has a handful of operations for a number, attention thousands. Do bytes still decide? Three kernels write the scores S, read them for the softmax, write the weights P and read these again. One kernel, **FlashAttention**, reads q, k and v, writes o, and keeps the rest on the chip. Bars are as long as the bytes take on an H100, the dashed line as long as the matrix products, alike for both. Whatever reaches farther is the limit. By the data sheet, nothing is measured: k and v are read once, no cache helps between kernels, every token looks at all.

**Predict first.** For 512 tokens, three kernels move 5 times the bytes of one. And for 4096?
"""

# %% [markdown] lang="zh"
r"""
## 按字节看注意力

归一化层对每个数只做几次运算，注意力却要做上千次。这时快慢还由字节决定吗？三个核函数先写出得分 S，再读入，求 softmax，写出权重 P，最后再读一遍。只用一个核函数的做法叫 **FlashAttention**：读入 q、k、v，写出 o，其余的都留在芯片上。横条是在 H100 上传这些字节的时间，虚线是做完矩阵乘法的时间，两种做法一样：哪个更长，就受限于哪个。这些都按规格表算出，不是实测：k 和 v 只读一次，核函数之间没有东西留在缓存里，每个词元都看所有词元。

**先猜一猜**：512 个词元时，三个核函数传的字节是一个核函数的 5 倍。4096 个呢？
"""

# %% tags=["panel", "guess"]
attention_by_bytes.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

33 times, 1 + tokens / features a head: S and P have a row and a column for each token.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

33 倍，即 1 + 词元数 / 每头特征数：S 和 P 里，每个词元占一行，也占一列。

</details>
"""

# %% [markdown] lang="en" gone=1
r"""
Three kernels wait for memory; in one, arithmetic becomes the limit. Its **arithmetic intensity** rises from 62 to 2048 operations a byte, and an H100 can do 989 / 3.35 = 295. But how can a softmax be taken before all its scores are there? *Going further* derives it.
"""

# %% [markdown] lang="zh"
r"""
三个核函数都在等显存；合成一个，就轮到运算成为瓶颈。每传一字节做的运算叫**运算强度**（arithmetic intensity），它从 62 次升到 2048 次，而 H100 最多 989 / 3.35 = 295 次。可是得分还没有到齐，softmax 怎么求？选读里会推出来。
"""

# %% [markdown] lang="en"
r"""
## The lying watch

To measure this you need a stopwatch. But when you call a layer on a GPU, Python only puts an order into a queue and goes on at once. This device is made up, so that we know the truth. Python takes 10 µs to start a kernel, memory 1 µs to move 1 MB. Each row is a call, the line under it what is timed. The *honest* watch waits for the GPU, starts, calls, waits, stops; *no waiting* stops when the call returns.

**Predict first.** With *no waiting*, drag the size from 1 to 128 MB: what happens to the apparent speed on the right?
"""

# %% [markdown] lang="zh"
r"""
## 会骗人的秒表

要测，就得有秒表。可是在 GPU 上调用一层时，Python 只把任务排进队列，马上就接着执行下一行。

下面的设备是虚构的，这样我们才知道真相。Python 启动一个核函数要 10 µs，显存每 1 µs 传 1 MB。每一行是一次调用，下面的线是计入的时间。“如实计时”先等 GPU 空闲，再按下秒表，调用，等它做完才停表；“不等待”则是调用一返回就停表。

**先猜一猜**：选“不等待”，把数据量从 1 MB 拖到 128 MB，右图中测得的速度会怎样变？
"""

# %% tags=["panel", "guess"]
lying_watch.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The speed rises through the roof, beyond 10 MB: the reading stays at 10 µs, the start alone.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

速度一路上升，超过 10 MB 就冲破屋顶线，因为读数一直是 10 µs，里面只有启动的时间。

</details>
"""

# %% [markdown] lang="en" gone=1
r"""
An honest watch keeps five rules; the next five each lack one:

1. **Wait before the stop** (*no waiting*), or only the ordering is counted.
2. **Wait before the start** (*early start*), or older work is counted.
3. **Warm up** with untimed calls (*no warm-up* shows call 0 alone): call 0 compiles.
4. **Take the median** (*mean*): something interrupts a call, here call 3.
5. **Take new inputs** (*same inputs*), or a *cache*, memory on the chip, still holds the old ones. Here it has 32 MB and is 4 times as fast.

**Predict first.** At which sizes does *same inputs* break through the roof: small, middle or large?
"""

# %% [markdown] lang="zh"
r"""
如实计时要守五条规矩，菜单里紧接着的五种各违反一条：

1. **停表之前要等**（违反它的是“不等待”）：否则只测到排队。
2. **开始计时之前要等**（“提前计时”）：否则先前的工作也会算进去。
3. **先预热**（warm-up；“不预热”）：调用几次但不计时，因为第 0 次要编译（这一种只看第 0 次）。
4. **取中位数**（median；“取均值”）：因为难免有哪次调用受到干扰，这里是第 3 次。
5. **每次换一份输入**（“总用同一份输入”）：否则数据还留在芯片上的**缓存**（cache）里。这里的缓存是 32 MB，速度是显存的 4 倍。

**先猜一猜**：“总用同一份输入”会在哪些数据量上冲破屋顶线，小的、中等的，还是大的？
"""

# %% tags=["answer"]
lying_watch.panel().still(watch="same inputs", megabytes=32)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only the middle ones, 16 and 32 MB.

</details>

Below, the start takes most of the time; above, the cache is too small. The last watch, *events around a graph*, is honest too, and times the kernel alone (*Going further*).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有中等的会，即 16 MB 和 32 MB。

</details>

数据更小时，用时大部分是启动；更大时，缓存装不下。菜单里最后一种“CUDA 图加事件”也如实，而且只测核函数本身，见选读。
"""

# %% [markdown] lang="en"
r"""
## What you will meet elsewhere

On a GPU this loop, found in many posts, breaks all five rules:

```python
start = time.time()
for _ in range(100):
    y = layer(x)
print((time.time() - start) / 100)
```

`torch.utils.benchmark.Timer` warms up and waits, but uses the same inputs. `triton.testing.do_bench` clears the cache, but returns the mean unless asked for the median.
"""

# %% [markdown] lang="zh"
r"""
## 在别处会遇到什么

下面这个循环在许多文章里都能见到。放到 GPU 上，五条规矩它一条也没守：

```python
start = time.time()
for _ in range(100):
    y = layer(x)
print((time.time() - start) / 100)
```

`torch.utils.benchmark.Timer` 会预热，也会等待，但用的仍然是同一份输入。`triton.testing.do_bench` 每次调用之前都清空缓存，但默认返回均值，要中位数得另外指定。
"""

# %% [markdown] lang="en"
r"""
## Exercise: repair a benchmark that lies

`function()` only starts work on a device, `synchronize()` waits until it is idle, `clock()` gives seconds. This breaks rules 1 to 4. Repair it: call `function` `warm_up` times, then time `repeats` single calls, each from idle device to idle device; return the median.
"""

# %% [markdown] lang="zh"
r"""
## 练习：改对一个会骗人的基准测试

`function()` 只是在设备上启动工作，`synchronize()` 等到设备空闲为止，`clock()` 给出以秒为单位的时刻。下面的函数违反了第 1 到 4 条规矩。请把它改对：先把 `function` 调用 `warm_up` 次，再给 `repeats` 次调用逐一计时，每次都从设备空闲时开始，到设备又空闲时结束，最后返回中位数。
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
Stuck? Repair one rule and run: the message says what to repair next.

<details><summary>The idea</summary>

The warm-up calls come first, since they compile and should not be timed. Around each timed call the device has to be idle twice: before the start, or older work is counted, and before the stop, or only the start is. The median forgets the one call that was held up.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？每改一处就运行一次，提示会说接下来该改什么。

<details><summary>思路</summary>

先做预热的调用，因为它们要编译，不应计时。每次计时，设备都要空闲两回：开始之前要空闲，否则会算进先前的工作；停表之前也要空闲，否则只测到启动。取中位数，那一次受干扰的调用就不起作用了。

</details>
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


check("time_function", solved_time_function, keep=False)

# %% [markdown] lang="en"
r"""
## On your machine

Your function times real layers: forward, on 256 × 4096 numbers in float32. `eager` goes step by step, `F` is torch's own, yours are those kept in lessons 05 and 06. For rule 5 calls take turns at 16 inputs, 64 MiB together (larger caches need more).
"""

# %% [markdown] lang="zh"
r"""
## 在你的机器上

现在用你的函数给真实的层计时：前向，256 × 4096 个 float32 的数。`eager` 一步一步做，`F` 是 torch 自带的，“你的”是第 05、06 课里替你保存的。为了守第 5 条，16 份输入轮流用，一共 64 MiB（你的缓存更大的话，请多用几份）。
"""

# %%
device = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
torch.set_num_threads(1)  # the times vary less
torch.empty(31, 2**18)  # 31 MiB, freed at once: from now on Linux (glibc) keeps freed memory for the next call
inputs = cycle([torch.randn(256, 4096, device=device) for _ in range(16)])  # (N, d) each
gain, bias = (torch.randn(4096, device=device) for _ in range(2))  # (d,)
layers = {
    "eager.layer_norm": lambda: eager.layer_norm(next(inputs), gain, bias),
    "eager.rms_norm": lambda: eager.rms_norm(next(inputs), gain),
    "x.var alone": lambda: next(inputs).var(-1, correction=0),
    "F.layer_norm": lambda: F.layer_norm(next(inputs), (4096,), gain, bias),
    "F.rms_norm": lambda: F.rms_norm(next(inputs), (4096,), gain),
    **timed_norms.your_norms(building_blocks.load_functions("layer_norm", "rms_norm"), inputs, gain, bias),
}

# %% [markdown] lang="en"
r"""
**Predict first.** `F.rms_norm` leaves out the mean. Is it faster than `F.layer_norm` here?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：`F.rms_norm` 不求均值。在你的机器上，它比 `F.layer_norm` 快吗？
"""

# %% tags=["answer", "nbval-ignore-output"]
timer = checked_or_reference("time_function", my_time_function)
print(timed_norms.timed_by(timer, my_time_function))
timed_norms.show_times(layers, lambda layer: timer(layer, wait, time.perf_counter, repeats=50))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

On CPUs that we tried, slower.

</details>

There torch builds `F.rms_norm` from single steps; `F.layer_norm` is one function. On our busy machine the first took 1.1 to 2.3 times as long; overlapping ranges decide nothing. Again fusing pays, not omitting the mean.

About half of `eager.layer_norm`, or more, is `x.var`, slow on a CPU.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

在我们试过的 CPU 上，它反而更慢。

</details>

在 CPU 上，torch 的 `F.rms_norm` 是一步一步拼成的，`F.layer_norm` 则是一个函数，有用的仍是融合，不是省去均值。在我们繁忙的机器上，前者的用时是后者的 1.1 到 2.3 倍；两个范围重叠，就分不出谁快。

`eager.layer_norm` 的用时，大约一半甚至更多花在 `x.var` 上：torch 在 CPU 上求方差很慢。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. SwiGLU's gate, backward, one kernel: it reads the gradient of y, gate and value, and writes two gradients. How many bytes for 8192 tokens, width 11008, bfloat16? How long at least on an H100?

<details><summary>Answer</summary>

5 · 2 · 8192 · 11008 = 901775360 bytes, 269 µs.

</details>

2. Somebody's benchmark has an RMSNorm at 1.6 times the speed of memory. Which two lies do you suspect? Which further run tells them apart?

<details><summary>Answer</summary>

No waiting, or inputs in the cache. Take a much larger matrix. If nobody waits, the speed keeps growing; if it was the cache, the inputs no longer fit and the speed falls below the roof.

</details>

3. A trained model spends 5% of its time in `F.layer_norm`, one kernel. For speed a colleague wants RMSNorm in its place. Your advice?

<details><summary>Answer</summary>

Leave it: `F.layer_norm` is one kernel already, so by bytes nothing at all is gained, and RMSNorm is another function (lesson 06). Even a norm that took no time would save only 5%. Look for what still goes step by step: there fusing can turn 20 bytes into 4.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. SwiGLU 的门在反向传播时用一个核函数，读入 y 的梯度、门和值，写出两个梯度。8192 个词元，宽 11008，bfloat16，要传多少字节？在 H100 上至少要多久？

<details><summary>答案</summary>

5 · 2 · 8192 · 11008 = 901775360 字节，269 µs。

</details>

2. 某人的基准测试说，RMSNorm 传输数据的速度是显存带宽的 1.6 倍。你怀疑它违反了哪两条规矩？再测一次什么，就能分清是哪一种？

<details><summary>答案</summary>

停表之前没有等，或者输入在缓存里。换一个大得多的矩阵：如果是没有等待，速度还会上升；如果是缓存，矩阵大得装不下，速度就降到屋顶线以下。

</details>

3. 某个训练好的模型有 5% 的时间花在 `F.layer_norm` 上，它是一个核函数。同事为了速度，想换成 RMSNorm。你的建议是什么？

<details><summary>答案</summary>

不换：`F.layer_norm` 已经是一个核函数，按字节算，换了也一点都省不下，而且 RMSNorm 是另一个函数（第 06 课）。就算归一化完全不花时间，也只能省 5%。应当去找还在一步一步做的部分，融合可以把 20 字节变成 4 字节。

</details>
"""

# %%
moved = bytes_moved("swiglu", (8192, 11008), torch.bfloat16, "backward")
print(Text(en="1. {} bytes, {:.0f} µs", zh="1. {} 字节，{:.0f} µs").format(moved, 1e6 * moved / 3350e9))
lying_watch.show_speeds("no waiting", "same inputs")
fewest = (bytes_per_number(op, torch.bfloat16) for op in ("layer_norm", "rms_norm"))
print(
    Text(en="3. LayerNorm {} bytes a number, RMSNorm {}", zh="3. 层归一化每个数 {} 字节，RMSNorm {} 字节").format(
        *fewest
    )
)

# %% [markdown] lang="en"
r"""
## In short

- With little arithmetic per byte, bytes decide the speed, so fusing pays.
- In one kernel the mean costs no bytes; leaving it out saves some only step by step.
- Warm up, wait twice, take new inputs and the median.
"""

# %% [markdown] lang="zh"
r"""
## 小结

- 每传一字节的运算很少时，快慢由字节决定，所以值得融合核函数。
- 只用一个核函数，求均值不用多传字节；只有一步一步做时，省去它才少传一些。
- 计时要预热，等两次，换输入，取中位数。
"""

# %% [markdown] lang="en"
r"""
In [lesson 15](15_your_model.ipynb) a chat model runs on the blocks that you have kept.

## Read next

- Williams, Waterman and Patterson 2009, [Roofline](https://doi.org/10.1145/1498765.1498785): the paper on the roof.
- Dao and others 2022, [FlashAttention](https://arxiv.org/abs/2205.14135).
- Horace He, [Making Deep Learning Go Brrrr From First Principles](https://horace.io/brrr_intro.html): compute, memory or overhead?
"""

# %% [markdown] lang="zh"
r"""
[第 15 课](15_your_model.ipynb)里，一个聊天模型将用你保存的部件来回答。

## 接着读

- Williams、Waterman 和 Patterson 2009，[Roofline](https://doi.org/10.1145/1498765.1498785)：提出屋顶线的论文。
- Dao 等 2022，[FlashAttention](https://arxiv.org/abs/2205.14135)。
- Horace He，[Making Deep Learning Go Brrrr From First Principles](https://horace.io/brrr_intro.html)：慢在计算、内存还是额外开销，怎样分辨。
"""

# %% [markdown] lang="en"
r"""
## Going further: what was measured, and on what

| numbers | device | measured? |
|---|---|---|
| *Guess, then bytes* | any | no: counted |
| *What it means for a model*; *Attention by bytes* | an H100's data sheet | no: computed from it |
| *On a real GPU*; *what the mean costs* | an A100 | by Liger's authors |
| *The lying watch*, all seven watches | made up | no: computed by its rules |
| *On your machine*; *the kernel alone* | yours | by you, just now |
| *against the roof of a CPU* | one thread of a CPU (AMD EPYC) | by us |
| *widths of matrix products* | an H100; the same CPU | by somebody else; by us |

So we have measured nothing on a GPU. Whoever has one can: `python -m blocklab_course.benchmarking record`.

The line with 31 MiB in *On your machine* belongs to an honest watch, too. In 27 readings with it, `F.rms_norm` took 1.1 to 2.3 times as long as `F.layer_norm`; in 27 without, 1.1 to 50 times. The slowest of these had 2016 *page faults* a call: glibc had given freed memory back, so every result asked the system for new pages, and mostly that was timed.
"""

# %% [markdown] lang="zh"
r"""
## 选读：测了什么，在什么上测的

| 数字 | 设备 | 是实测吗？ |
|---|---|---|
| “先猜，再算字节数” | 不限 | 不是，由字节数算出 |
| “对一个模型意味着什么”“按字节看注意力” | H100 的规格表 | 不是，是由它算出来的 |
| “在真正的 GPU 上”“求均值要花多少” | 一块 A100 | 是，Liger 的作者测的 |
| “会骗人的秒表”的七种计时方式 | 虚构的设备 | 不是，按它的规则算出来的 |
| “在你的机器上”“只测核函数” | 你的机器 | 是，你刚刚测的 |
| “CPU 上离屋顶线多远” | 一颗 CPU 的一个线程（AMD EPYC） | 是，我们测的 |
| “矩阵乘法的宽度” | 一块 H100；同一颗 CPU | 前者是别人测的，后者是我们测的 |

所以，我们没有在 GPU 上测过任何东西。你有 GPU 的话，可以自己测：`python -m blocklab_course.benchmarking record`。

“在你的机器上”里 31 MiB 的那一行，也是为了如实计时。有这一行，测 27 次，`F.rms_norm` 的用时是 `F.layer_norm` 的 1.1 到 2.3 倍；去掉它再测 27 次，是 1.1 到 50 倍。最慢的几次里，每次调用有 2016 次**缺页**（page fault）：glibc 把释放的内存还给了操作系统，每个结果又要重新申请，测到的主要是这件事。
"""

# %% [markdown] lang="en"
r"""
## Going further: what the mean costs

The file of *On a real GPU* also has LayerNorm in one kernel, in float32 with 4096 rows. Four of its widths move as many bytes as one of RMSNorm's.

**Predict first.** In how many of these four pairs is RMSNorm faster?
"""

# %% [markdown] lang="zh"
r"""
## 选读：求均值要花多少

“在真正的 GPU 上”用的那个文件里，也测了层归一化，同样只用一个核函数，float32，4096 行。其中有四个宽度，传的字节恰好与 RMSNorm 的某个宽度一样多。

**先猜一猜**：这四对里，有几对是 RMSNorm 更快？
"""

# %% tags=["answer"]
on_an_a100.show_mean()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

In none: at equal bytes LayerNorm takes 3% to 9% less.

</details>

But equal bytes are half as many numbers in float32, so a small price of the mean may hide here. A large one could not.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

一对也没有：字节数相同时，层归一化的用时反而少 3% 到 9%。

</details>

不过字节数相同时，float32 的层归一化要处理的数，只有 bfloat16 的 RMSNorm 的一半。所以求均值如果只慢一点，在这里看不出来；要是慢很多，就藏不住了。
"""

# %% [markdown] lang="en"
r"""
## Going further: the kernel alone

Below 10 MB even the honest watch times mostly the start, which says little about the kernel. The cure is the last watch, flat at the roof: record many calls in a *CUDA graph*, which Python starts once, and let the GPU itself note when it passes two *events*.
"""

# %% [markdown] lang="zh"
r"""
## 选读：只测核函数

不到 10 MB 时，即使如实计时，测到的也主要是启动的时间，说明不了核函数有多快。解决的办法是最后一种计时方式，它在图上与屋顶线重合：把许多次调用录进一个 **CUDA 图**（CUDA graph），Python 只启动一次；再让 GPU 自己记下经过两个**事件**（event）的时刻。
"""

# %% tags=["answer"]
lying_watch.panel().still(watch="graph", megabytes=8)

# %% [markdown] lang="en"
r"""
In code, `copies` are inputs that together do not fit into an H100's cache (yours may be larger: take more). The first replay warms up and keeps the GPU busy, so that the second already stands in the queue when the GPU passes `start`. On a real GPU a short gap before each kernel is counted too, which the made-up device does not have.
"""

# %% [markdown] lang="zh"
r"""
写成代码，`copies` 是许多份输入，合起来 H100 的缓存装不下（你的缓存更大的话，请多用几份）。第一次重放用来预热，也让 GPU 忙着，这样它经过 `start` 时，第二次已经排在队列里。在真正的 GPU 上，每个核函数之前还有一小段空隙，也会计入；虚构的设备没有这种空隙。
"""


# %%
def events_around_a_graph(layer, copies):
    layer(*copies[0])
    with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
        _results = [layer(*inputs) for inputs in copies]
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000 / len(copies)


# %% [markdown] lang="en"
r"""
`start.elapsed_time(end)` is in milliseconds; the function returns seconds for a call. Nine graphs give a median:
"""

# %% [markdown] lang="zh"
r"""
`start.elapsed_time(end)` 以毫秒为单位，这个函数返回的是一次调用的秒数。录九个图，取中位数：
"""

# %% tags=["nbval-ignore-output"]
copies = [(next(inputs), (4096,), gain) for _ in range(16)]
if device == "cuda":
    seconds = median(events_around_a_graph(F.rms_norm, copies) for _ in range(9))
    print(f"F.rms_norm {1e6 * seconds:.1f} µs")
else:
    print(Text(en="No GPU here: nothing was measured.", zh="这里没有 GPU：什么也没有测。"))

# %% [markdown] lang="en"
r"""
A CPU needs no such watch, because there a call returns when its work is done.
"""

# %% [markdown] lang="zh"
r"""
CPU 不需要这样的秒表，因为在 CPU 上，调用返回时工作已经做完了。
"""

# %% [markdown] lang="en"
r"""
## Going further: a softmax, block by block

A softmax subtracts the largest score, so that no exp overflows, and divides by the sum. Both are known only after the last key. An **online softmax** ([Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867)) keeps three running values instead: the largest score so far, m; the sum l of $e^{s - m}$; and o, the sum of the values v, each weighted by its $e^{s - m}$ and not divided yet. If a block of keys brings a larger score, n, what was added up so far was measured from the old maximum. But $e^{s - m} \cdot e^{m - n} = e^{s - n}$, so one factor puts all of it right:

$$n = \max(m, \max s) \qquad a = e^{m - n} \qquad p = e^{s - n}$$

$$l \leftarrow a\,l + \textstyle\sum p \qquad o \leftarrow a\,o + p\,v \qquad m \leftarrow n$$

In the beginning m = −∞, l = 0 and o = 0. After the last block, o / l is the output. Here are six scores in blocks of two, with the values `(1, cos 0)`, `(2, cos 1)`, and so on:
"""

# %% [markdown] lang="zh"
r"""
## 选读：一块一块地算 softmax

softmax 先减去最大的得分，免得 exp 溢出，最后再除以总和。这两样都要等到最后一个键才知道。**在线 softmax**（online softmax，[Milakov 和 Gimelshein 2018](https://arxiv.org/abs/1805.02867)）改为一路记着三样东西：到目前为止最大的得分 m；$e^{s - m}$ 的和 l；以及 o，即用这些 $e^{s - m}$ 加权的值 v 之和，先不除。如果新的一块键里有更大的得分 n，已经累加的结果就是以旧的最大值为准的。不过 $e^{s - m} \cdot e^{m - n} = e^{s - n}$，所以全部乘上同一个系数就行：

$$n = \max(m, \max s) \qquad a = e^{m - n} \qquad p = e^{s - n}$$

$$l \leftarrow a\,l + \textstyle\sum p \qquad o \leftarrow a\,o + p\,v \qquad m \leftarrow n$$

开始时 m = −∞，l = 0，o = 0；最后一块之后，o / l 就是输出。下面是六个得分，每块两个，值依次是 `(1, cos 0)`、`(2, cos 1)`，以此类推：
"""

# %%
scores = torch.tensor([1.0, 3, 2, 5, -1, 4])  # (S,)
values = torch.stack([torch.arange(1.0, 7), torch.arange(6.0).cos()], -1)  # (S, d)
m, l, o = torch.tensor(-torch.inf), torch.tensor(0.0), torch.zeros(2)
for s, v in zip(scores.split(2), values.split(2), strict=True):
    n = torch.maximum(m, s.max())
    a, p = torch.exp(m - n), torch.exp(s - n)
    m, l, o = n, a * l + p.sum(), a * o + p @ v
    print(f"m = {m:.0f}   l = {l:.6f}   o = {o[0]:.6f}, {o[1]:.6f}")
for name, y in {"o / l": o / l, "softmax(scores) @ values": scores.softmax(0) @ values}.items():
    print(f"{name} = {y[0]:.6f}, {y[1]:.6f}")

# %% [markdown] lang="en"
r"""
One trap is left. A mask may hide a whole first block from a query, in a sliding window or where padding stands on the left, so that all its scores are −∞. Then n is −∞ too, and $-\infty - (-\infty)$ is NaN. Where n is −∞, subtract 0 instead: $e^{-\infty}$ is 0, and nothing is added. The maximum that is kept stays −∞.

(A query that may see no key at all ends with l = 0, and o / l is NaN. On a CPU torch's function gives 0 instead.)
"""

# %% [markdown] lang="zh"
r"""
还有一个陷阱。掩码可能把第一块对某个查询全部屏蔽掉，例如用了滑动窗口，或者填充在左边。这一块的得分就全是 −∞，于是 n 也是 −∞，而 $-\infty - (-\infty)$ 是 NaN。所以 n 是 −∞ 时，改为减去 0：$e^{-\infty}$ 是 0，什么也没有加上。记下来的最大值仍是 −∞。

（如果一个查询什么键都看不到，最后 l = 0，o / l 就是 NaN。在 CPU 上，torch 的函数这时给出 0。）
"""

# %% [markdown] lang="en"
r"""
## Going further: merge a block

**Your turn.** Write it for many queries at once. `m` and `l` have a number for each query, `(L,)`; `o` is `(L, d)`; `scores`, those of one block of keys, are `(L, S)`, and `values` `(S, d)`. Before all of these, heads may stand. Return the new `m`, `l` and `o` in this order, not divided yet, and mind the trap.
"""

# %% [markdown] lang="zh"
r"""
## 选读：合并一块

**轮到你了**：请写出对许多查询同时成立的版本。`m` 和 `l` 是每个查询一个数，形状是 `(L,)`；`o` 的形状是 `(L, d)`；`scores` 是一块键的得分，形状是 `(L, S)`；`values` 的形状是 `(S, d)`。这些轴的前面都可以再有头的轴。请按顺序返回新的 `m`、`l`、`o`，先不要相除，也别忘了那个陷阱。
"""


# %% tags=["exercise"]
def my_merge_block(m, l, o, scores, values):
    return ...


check("merge_block", my_merge_block)

# %% [markdown] lang="en"
r"""
Stuck? Write the loop's three lines, then compare shapes: whatever has one number for each query needs an axis of size 1 at its end, before it meets scores or o.

<details><summary>The idea</summary>

The maximum of a block runs over its keys, the last axis, and n is the larger of it and m. From n make what is subtracted: n itself, but 0 where n is −∞. Then come a and p, and with them l and o.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先照搬循环里的三行，再比较形状：每个查询只有一个数的，要与得分或 o 运算，先在末尾加一个大小为 1 的轴。

<details><summary>思路</summary>

一块的最大值沿键的轴取，也就是最后一个轴；n 是它与 m 中较大的。再由 n 得到要减去的数：就是 n 本身，但 n 是 −∞ 的地方换成 0。然后求 a 和 p，再用它们求 l 和 o。

</details>
"""


# %% tags=["solution"]
def solved_merge_block(m, l, o, scores, values):
    n = torch.maximum(m, scores.amax(-1))
    base = n.masked_fill(n == -torch.inf, 0)
    a = torch.exp(m - base)
    p = torch.exp(scores - base.unsqueeze(-1))
    return n, a * l + p.sum(-1), a.unsqueeze(-1) * o + p @ values


check("merge_block", solved_merge_block, keep=False)

# %% [markdown] lang="en"
r"""
Now attention for 512 tokens: your function, or ours until yours is right, never holds more than 128 keys at a time.
"""

# %% [markdown] lang="zh"
r"""
现在给 512 个词元算注意力，每次最多只看 128 个键。用的是你的函数；它还没有通过检查时，用参考答案。
"""

# %%
merge = checked_or_reference("merge_block", my_merge_block)
query, key, value = torch.randn(3, 4, 512, 64)  # (heads, L, d) each
m, l, o = torch.full((4, 512), -torch.inf), torch.zeros(4, 512), torch.zeros(4, 512, 64)
for keys, values in zip(key.split(128, 1), value.split(128, 1), strict=True):
    m, l, o = merge(m, l, o, query @ keys.mT / 8, values)
torch.testing.assert_close(o / l.unsqueeze(-1), F.scaled_dot_product_attention(query, key, value))
whose = Text(en="yours", zh="你的函数") if merge is my_merge_block else Text(en="the solution", zh="参考答案")
print(Text(en="block by block ({}) = torch's", zh="一块一块地算（{}）= torch 的").format(whose))

# %% [markdown] lang="en"
r"""
FlashAttention does this in one kernel. Since its second version a program takes a block of queries, keeps its m, l and o on the chip, and lets the blocks of keys and values pass by. (In the first the queries passed by, and m, l and o went to memory and back each time.) Nowhere do all scores stand together. It saves bytes, not operations.

- *k and v once* is a lower bound for memory. With 128 queries a program, 4096 tokens make 32 programs for each head, and each reads all k and v, 2.1 GB together. A head's k and v are only 2 MiB, so the cache can spare memory most of it.
- If scale and mask are kernels of their own, it is 65 times the bytes, and so it is if S and P are float32.
- The backward pass needs P again. It is not stored but recomputed, from one number that is kept for each query, m + log l, 512 KiB in all ([FlashAttention-2](https://arxiv.org/abs/2307.08691)).
- The dashed line leaves out the softmax itself. An H100 does some $3.9 \cdot 10^{12}$ exps a second ([FlashAttention-3](https://arxiv.org/abs/2407.08608)), so the $32 \cdot 4096^2$ of the panel take 0.14 ms beside the 0.28 ms of the matrix products. And in a chat model no token looks at later ones: with that mask one kernel skips nearly half of the blocks.
- In float32 without Tensor Cores, arithmetic is the limit of both ways from 128 features a head on (set *numbers* in the panel); with 64, three kernels still wait for their bytes. Below 50 MB the scores may fit into the H100's cache, and the three kernels do better than their bars.
"""

# %% [markdown] lang="zh"
r"""
把这些放进一个核函数，就是 FlashAttention。从第二版起，一个程序取一块查询，把它的 m、l、o 留在芯片上，让键和值一块一块地经过。（第一版让查询一块一块地经过，每次都要把 m、l、o 写进显存，再读回来。）全部得分从来不会同时存在。它省的是字节，不是运算。

- “k 和 v 只读一次”是显存读写量的下限。如果每个程序取 128 个查询，4096 个词元的每个头就有 32 个程序，每个都要把 k 和 v 读一遍，一共 2.1 GB。不过一个头的 k 和 v 只有 2 MiB，所以大部分可以由缓存提供。
- 缩放和掩码如果各用一个核函数，要传的字节就是 65 倍；S 和 P 用 float32 时也是这样。
- 反向传播又要用到 P。它没有存下来，而是重新计算；为此每个查询只保存一个数 m + log l，一共 512 KiB（[FlashAttention-2](https://arxiv.org/abs/2307.08691)）。
- 虚线没有算上 softmax 本身。H100 每秒大约能求 $3.9 \cdot 10^{12}$ 次 exp（[FlashAttention-3](https://arxiv.org/abs/2407.08608)），所以面板里的 $32 \cdot 4096^2$ 次要 0.14 ms，而矩阵乘法要 0.28 ms。还有，聊天模型里的词元看不到后面的词元：用上这种掩码，一个核函数可以跳过将近一半的块。
- 用 float32 而不用 Tensor Core（张量核心）时，每头 128 个特征起，两种做法都受限于运算（在面板里改“数据类型”）；每头 64 个时，三个核函数仍然在等字节。得分不到 50 MB 时，H100 的缓存也许装得下，三个核函数就比图上的横条更快。
"""

# %% [markdown] lang="en"
r"""
## Going further: against the roof of a CPU

And on a CPU? Here is a recording of one, with one thread: three functions, each in several implementations (*unfused* are those of the other lessons). This thread could do 2.7 operations a byte, not 20, so bytes should tell less. Bars start at the roof, at 1, the time in which a plain copy moves the fewest bytes that the function needs. The dashed frame is what the bytes of *step by step* predict. With a GPU, dots are your card (bfloat16, width 4096).

**Predict first.** Step by step, forward, width 4096, one of the three takes several times as long as its bytes say. Which?
"""

# %% [markdown] lang="zh"
r"""
## 选读：CPU 上离屋顶线多远

换成 CPU 呢？这里是一颗 CPU 上的记录，用一个线程给三个函数计时，每个函数有几种实现（“未融合”是其他几课里用的函数）。这个线程每传一字节，只来得及做 2.7 次运算，而不是 20 次，所以字节数也就说明不了那么多。每根横条都从屋顶线画起，那里是 1，表示把必须传的字节单纯复制一遍所用的时间。虚线框是按“一步一步”的字节数算出的预测。有 GPU 的话，圆点就是在你的显卡上测得的时间（bfloat16，宽度 4096）。

**先猜一猜**：一步一步做，前向，宽度 4096，三个函数里有一个，实际用时是按字节算出的时间的好几倍。是哪一个？
"""

# %% tags=["panel", "guess"]
measured = from_recording(shipped_recording())
against_the_roof.panel(measured, against_the_roof.on_your_gpu())

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

LayerNorm takes far longer: 28 times the time at the roof, where its bytes say 5.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用时最长的是层归一化：按字节算，用时应是屋顶线的 5 倍，实测是 28 倍。

</details>
"""

# %% tags=["answer"]
against_the_roof.panel(measured).still(op="layer_norm")

# %% [markdown] lang="en"
r"""
Memory is not to blame: it is `x.var` again, slow on a CPU. In the whole recording only 16 of 48 cases come within a fifth of their bytes; 31 take longer, 1 less. Some of the 16 are a little faster too, as RMSNorm in the first picture (3.16, by bytes 3.5): probably part of what one step writes is still in the cache when the next reads it (rule 5).

Nearest to the roof is mostly `torch.compile`, which fuses kernels by itself. But with so little arithmetic to spare the mean is not always free: with `torch.compile`, forward, float32, at widths 1024, 4096, 4097 and 16384, LayerNorm takes 1.1, 1.3, 1.8 and 1.0 times as long as RMSNorm.
"""

# %% [markdown] lang="zh"
r"""
这不怪内存，还是因为 `x.var` 在 CPU 上很慢。整份记录的 48 种情况里，只有 16 种与按字节算的相差不到五分之一，31 种慢得更多，1 种快得更多。那 16 种里也有略快的，例如第一张图里的 RMSNorm（3.16，按字节算是 3.5），大概是前一步写出的数，后一步读的时候还有一部分在缓存里（第 5 条规矩）。

离屋顶线最近的大多是 `torch.compile`，它会自动融合核函数。不过这颗 CPU 的运算能力没有多少富余，求均值未必不花时间：用 `torch.compile`，前向，float32，宽度为 1024、4096、4097、16384 时，层归一化的用时分别是 RMSNorm 的 1.1、1.3、1.8、1.0 倍。
"""

# %% [markdown] lang="en"
r"""
## Going further: three passes, one read

How can a kernel find the mean, then the variance, and still read x once? These lines of our LayerNorm, `blocklab/fused/layer_norm.py`, are written in Triton (`tl`), a language for kernels within Python; `wide` is the type computed in:
"""

# %% [markdown] lang="zh"
r"""
## 选读：三遍计算，一次读入

核函数先求均值，再求方差，怎么还能只读一次 x？下面是我们的层归一化里的几行，出自 `blocklab/fused/layer_norm.py`，用 Triton（代码里写作 `tl`）写成，这是嵌在 Python 里的一种写核函数的语言；`wide` 是计算所用的类型：
"""

# %%
print(fused_passes.source())

# %% [markdown] lang="en"
r"""
A running kernel is many *programs*. Each takes one row, or a few narrow ones, `BLOCK` columns at once; `real` says which rows exist. There are three loops, for the sum, the squares and the result. A row that is not too wide (up to 32768) fits into one block: then the compiler drops the loops and keeps the row in *registers*, the places beside the arithmetic units, and the second and third load need no memory. Wider rows are read three times, from the cache with luck.
"""

# %% [markdown] lang="zh"
r"""
核函数运行时分成许多份，每一份叫作一个程序（program）。一个程序处理一行，行窄时处理几行，每次 `BLOCK` 列；`real` 说明哪些行确实存在。一共三个循环，分别求和、求平方、算结果。行不太宽时（宽度到 32768），一块就装得下一行，于是编译器去掉循环，把这一行留在**寄存器**（register）里，也就是紧挨着运算单元的存储位置，第二次、第三次读取就不必再访问显存。更宽的行要读三遍，运气好的话是从缓存里读。
"""

# %% [markdown] lang="en"
r"""
## Going further: widths of matrix products

Lesson 08 left open why a width of 10922 was so slow on an H100. Two predictions. *Bits at once*: a thread of an H100 loads or stores up to 128 bits (16 bytes), but only at a place that is a multiple of what it moves; the panel shows what fits the start of every row. *Tiles and waves*: the result is computed in tiles of 128 × 256, 132 at a time (a *wave*, for an H100 has 132 multiprocessors), so what hangs over an edge and what stays empty in the last wave is lost. The panel has three products of a feed-forward layer, the last from the way back.

**Predict first.** By which of the two does 10922 lose on an H100? Choose, then show *an H100*.
"""

# %% [markdown] lang="zh"
r"""
## 选读：矩阵乘法的宽度

第 08 课留下一个问题：在 H100 上，宽度 10922 为什么那么慢？有两种预测。一种看一次能读写多少位（bit）：在 H100 上，一个线程（thread）一次最多读写 128 位（16 字节），但是起点必须是这个长度的整数倍；面板里画的是，要让每一行的开头都对齐，一次最多能读写多少位。另一种看分块和波次：结果按 128 × 256 分块计算，每 132 块为一个波次（wave），因为 H100 有 132 个流式多处理器（SM）；超出边缘的部分，以及最后一个波次里空着的位置，都浪费了。面板里有前馈层的三个矩阵乘法，最后一个出自反向传播。

**先猜一猜**：在 H100 上，拖慢 10922 的会是哪一种？先选，再显示“一块 H100”。
"""

# %% tags=["panel", "guess"]
aligned_widths.panel(shipped_recording())

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The bits fit, the tiles do not: in bfloat16 a row of 10922 allows 32 bits at once, one of the odd 10923 only 16, one of 11008 all 128.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

位数的预测与实测相符，分块的不相符：用 bfloat16，行宽 10922 时一次只能读写 32 位，奇数 10923 时只有 16 位，11008 时是 128 位。

</details>
"""

# %% tags=["answer"]
aligned_widths.panel(shipped_recording()).still(shown="H100")

# %% [markdown] lang="en"
r"""
By tiles and waves there is next to nothing to lose: with 8192 tokens and d = 4096 the shares of used places differ by less than a percentage point in each of the three products; in y = h @ w2.T both are 97.0%.

The H100's numbers are [someone else's](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md). He multiplied four pairs of float16 matrices at once, an h of 4096 rows by a matrix of 4096 columns, for 10922 and 50 multiples of 4 around it, and printed 10922 and the five fastest, in $10^{12}$ operations a second:

|  | 10848 | 10880 | 10912 | 10922 | 10944 | 11008 |
|---|---|---|---|---|---|---|
| speed | 395.62 | 395.52 | 395.16 | 272.73 | 398.38 | 395.01 |

So there 10922 has 69% of 11008's speed, and 10944, a multiple of 64 but not of 256, loses nothing. Why? On Hopper, the H100's kind of GPU, the unit that copies whole tiles (TMA) takes only rows whose distance in memory is a multiple of 16 bytes ([driver manual](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TENSOR__MEMORY.html), `globalStrides`); otherwise a library must load in another way. That fits the drop, but nobody here looked inside the library, and 10922 is the only point of its kind. Nor are bits all: 25 of the 50 widths are multiples of 8 and allow 128, yet the five fastest are multiples of 32, of which he tried only six.

Our CPU (float32, one thread) reaches 0.85 of 11008's speed at 10922 and 0.87 at 10923 where the result has such rows, elsewhere more than 0.93. All of these are single tests, so ask your own card before you choose a width.
"""

# %% [markdown] lang="zh"
r"""
按分块和波次算，几乎没有损失：8192 个词元，d = 4096，三个乘法里，两种宽度用上的位置都相差不到一个百分点；在 y = h @ w2.T 里，两者都是 97.0%。

H100 上的数是[别人测的](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)。他让四对 float16 的矩阵同时相乘，h 有 4096 行，另一个有 4096 列；宽度试了 10922 和它附近 4 的倍数 50 个，列出的是 10922 和其中最快的五个，单位是每秒 $10^{12}$ 次运算：

|  | 10848 | 10880 | 10912 | 10922 | 10944 | 11008 |
|---|---|---|---|---|---|---|
| 速度 | 395.62 | 395.52 | 395.16 | 272.73 | 398.38 | 395.01 |

在这项测试里，10922 的速度只有 11008 的 69%；10944 是 64 的倍数，不是 256 的倍数，却没有损失。为什么？在 Hopper 上（H100 就属于这一代），成批搬运数据的 TMA 只接受 16 字节整数倍的行距（[驱动手册](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TENSOR__MEMORY.html)，`globalStrides`），否则程序库只能用别的办法读取。这与实测的下降相符，但我们没有查看程序库的内部，这样的点也只有 10922 一个。位数也解释不了全部：50 个宽度里，25 个是 8 的倍数，都允许 128 位，可是最快的五个都是 32 的倍数，而这样的宽度他一共只试了六个。

在我们的 CPU 上（float32，一个线程），只有结果的行这么宽的那个乘法受影响：与 11008 相比，10922 的速度是 0.85 倍，10923 是 0.87 倍；其余的都在 0.93 倍以上。这些都只是个别的测试，所以要选宽度，还是先在自己的显卡上测一测。
"""
