# %% [markdown] lang="en"
r"""
# 09 Where does 11008 come from?

In LLaMA 7B the feed-forward networks widen a token from 4096 features to 11008 numbers and bring it back. The classic width would have been 4 · 4096 = 16384.

After this lesson you can derive such a width, prove that the rule for it rounds up, write the whole rule, and judge what a published width tells. It takes about 15 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 09 11008 是怎么来的？

在 LLaMA 7B 里，一个词元有 4096 个特征；前馈网络先把它加宽到 11008 个数，再变回来。按传统的做法，宽度本该是 4 · 4096 = 16384。

学完这一课，你能推导出这样的宽度，能证明所用的公式确实是向上取整，能写出整条规则，还能判断一个公布的宽度说明了什么。大约需要 15 分钟。
"""

# %%
from dataclasses import replace

from blocklab import FeedForward, SwiGLU, hidden_width, parameter_count, round_up
from blocklab.lessons import check
from blocklab.lessons.swiglu_width import gated_width, published_widths, rounding_tiles, width_detective

# %% [markdown] lang="en"
r"""
## Two questions first

1. A SwiGLU layer computes `(silu(x @ W1) * (x @ W3)) @ W2`. x has 24 features, W2 reads 64. Which shapes do the matrices have, and which makes the gate?
2. The same number is added to all features of a token. LayerNorm does not notice. Does RMSNorm?

<details><summary>Answers</summary>

1. W1 and W3 are `(24, 64)`, W2 is `(64, 24)`. W1 makes the gate.
2. In general, yes: it does not subtract the mean.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. SwiGLU 层计算 `(silu(x @ W1) * (x @ W3)) @ W2`。x 有 24 个特征，送进 W2 的有 64 个。三个矩阵的形状各是什么？门由哪一个算出？
2. 给一个词元的所有特征加上同一个数，层归一化的输出不变。RMSNorm 的输出会变吗？

<details><summary>答案</summary>

1. W1 和 W3 是 `(24, 64)`，W2 是 `(64, 24)`。门由 W1 算出。
2. 一般会变：它不减均值。

</details>
"""

# %% [markdown] lang="en"
r"""
## Three matrices for two

Write d for `d_model`, the features of a token, and h for the hidden width. The plain layer (MLP) has two matrices between d and 4d, SwiGLU three between d and h. Without biases both have equally many parameters if

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d,$$

two thirds of 4d. For d = 24 that is exactly 64:
"""

# %% [markdown] lang="zh"
r"""
## 三个矩阵抵两个

用 d 表示 `d_model`，即一个词元的特征数；用 h 表示隐藏层的宽度。普通的前馈网络（MLP）有两个矩阵，在 d 与 4d 之间变换；SwiGLU 有三个，在 d 与 h 之间变换。不计偏置，要让两者的参数一样多，就要有

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d,$$

即 4d 的三分之二。d = 24 时，正好是 64：
"""

# %% claims=["E44"]
for bias in (False, True):
    layers = FeedForward(24, 4 * 24, bias=bias), SwiGLU(24, 64, bias=bias)
    mlp, gated = (sum(parameter.numel() for parameter in layer.parameters()) for layer in layers)
    print(f"bias {bias!s:5}  parameters: MLP {mlp}, SwiGLU {gated}")

# %% [markdown] lang="en"
r"""
(Biases add 5d and 2h + d; Llama has none.) For d = 4096, 8d/3 is 10922.67. A width must be a whole number, and for Meta a multiple of 256.

## Rounding up, in tiles

How many tiles of m squares do n squares need? The source notes compute $(n + m - 1)\;//\;m$; // divides and drops the remainder. The picture adds m − 1 squares and counts whole tiles only. **Predict first:** n = 15, m = 5: 3 tiles or 4? And with n = 16?
"""

# %% [markdown] lang="zh"
r"""
（加上偏置，参数分别多出 5d 个和 2h + d 个；Llama 没有偏置。）d = 4096 时，8d/3 是 10922.67。宽度必须是整数，Meta 还要求它是 256 的倍数。

## 图解向上取整

n 个方格，每 m 个为一个分块（tile），需要几块？原始笔记的算法是 $(n + m - 1)\;//\;m$，其中 // 表示相除后舍去余数。图中先添上 m − 1 个方格，再数有几个整块。**先猜一猜**：n = 15，m = 5，是 3 块还是 4 块？n = 16 呢？
"""

# %% tags=["panel"]
rounding_tiles.panel()

# %% [markdown] lang="en"
r"""
3, then 4. The picture is the proof. Write n = k · m + r, with a remainder r from 0 to m − 1. If r = 0, the m − 1 new squares fill no tile: k tiles. Otherwise r + m − 1 squares follow the k tiles: at least m, at most 2m − 2, so exactly one more tile.

**Your turn, one line.** The notes' formula counts tiles. Return the width instead: the smallest multiple of `multiple_of` that is not below `n`. Both are integers.
"""

# %% [markdown] lang="zh"
r"""
前者 3 块，后者 4 块。证明就在图里。设 n = k · m + r，余数 r 在 0 与 m − 1 之间。若 r = 0，添上的 m − 1 个方格凑不满一块，所以是 k 块。否则，k 块之后还有 r + m − 1 个方格，至少 m 个，至多 2m − 2 个，所以恰好再多一块。

**轮到你了**，只写一行：笔记的公式得到的是块数；请改为返回宽度，也就是 `multiple_of` 的倍数中，不小于 `n` 的最小的一个。两个参数都是整数。
"""


# %% tags=["exercise"]
def my_round_up(n, multiple_of):
    return ...


check("round_up", my_round_up)


# %% tags=["solution"]
def solved_round_up(n, multiple_of):
    return multiple_of * ((n + multiple_of - 1) // multiple_of)


check("round_up", solved_round_up)

# %% [markdown] lang="en"
r"""
## Detective

[Meta's code](https://github.com/meta-llama/llama/blob/main/llama/model.py) takes `int(2 * (4 * d_model) / 3)`, which drops the fraction, and rounds it up to a multiple of `multiple_of`. Suppose this number were lost, and we knew only the widths of the first LLaMA's four sizes.

Each ruler is one size, with 8d/3 (without its fraction) at 0 and marks at the multiples of `multiple_of`. The first mark from 0 on is the rule's width. On the right a grey band follows the slider; where both widths agree, it gets a dot.

**Predict first.** Which values of `multiple_of` turn 10922 into 11008: only 256, the powers of 2 up to 256, some divisors of 11008 (not just powers of 2), or all? Choose, drag the slider, then tick *try all* (multiples of 4 up to 704).
"""

# %% [markdown] lang="zh"
r"""
## 侦探

[Meta 的代码](https://github.com/meta-llama/llama/blob/main/llama/model.py)先算 `int(2 * (4 * d_model) / 3)`，这一步舍去小数；再向上取整到 `multiple_of` 的倍数。假设最后这个参数的取值失传了，我们只知道第一代 LLaMA 四种规模的宽度。

每种规模对应一把尺子：0 处是舍去小数的 8d/3，刻度是 `multiple_of` 的倍数。从 0 起向右的第一个刻度，就是规则给出的宽度。右图的灰带标出滑块的位置；规则给出的宽度与公布的宽度一致时，灰带上会出现一个圆点。

**先猜一猜**：哪些 `multiple_of` 能让 10922 变成 11008？是只有 256，是不超过 256 的 2 的幂，是 11008 的一部分因数（不只是 2 的幂），还是它的所有因数？先选，再拖动滑块，最后勾选“全试一遍”（4 的倍数，到 704 为止）。
"""

# %% tags=["panel", "guess"]
width_detective.panel()

# %% [markdown] lang="en"
r"""
Some. Write $m$ for `multiple_of`: it must divide 11008 and be larger than the gap, 11008 − 10922 = 86, or the multiple before would do. Nine numbers are like that, 5 up to 704. So 11008 alone does not prove 256. All four do: $m$ must divide each width, hence their greatest common divisor, 256, and be larger than the other gaps, all 171. So for a rule of this form only 256 is left. The next cell tries every $m$ below 30000; `hidden_width` is the rule.
"""

# %% [markdown] lang="zh"
r"""
是一部分因数。把 `multiple_of` 记作 $m$：它要整除 11008，还要大于差距 11008 − 10922 = 86，否则取前一个倍数就够了。这样的数有九个，其中 5 个不超过 704。所以，单凭 11008 证明不了当初用的是 256。四个宽度合起来就可以：$m$ 要整除每个宽度，也就整除它们的最大公因数 256；还要大于其余三个差距，它们都是 171。所以，只要规则是这种形式，就只剩下 256。下一个单元格把小于 30000 的 $m$ 都试一遍，其中 `hidden_width` 就是这条规则。
"""

# %%
published = {4096: 11008, 5120: 13824, 6656: 17920, 8192: 22016}
fits = {d: {m for m in range(1, 30000) if hidden_width(d, m) == width} for d, width in published.items()}
print("give 11008:", sorted(fits[4096]))
print("give all four:", set.intersection(*fits.values()))

# %% [markdown] lang="en"
r"""
## What the rounding costs

Above are the last tiles of the width; below, a layer's matrices lie end to end, so that lengths are parameters. Hatched is what rounding adds. (Since Llama 2 a `multiplier` may come first: multiply, drop the fraction again; 1.0 changes nothing.)

**Predict first.** At d_model = 4096 SwiGLU has 0.8% more parameters than the MLP. How much more at 512? And where on the slider are they equal?
"""

# %% [markdown] lang="zh"
r"""
## 取整的代价

上图是宽度的最后几块；下图把一层的矩阵首尾相接，长度就是参数量。斜线部分是取整多出来的。（从 Llama 2 起，取整之前还可以有一个系数 `multiplier`：乘以它，再舍去小数；1.0 等于不乘。）

**先猜一猜**：d_model = 4096 时，SwiGLU 的参数比 MLP 多 0.8%。512 时多多少？d_model 的滑块拖到哪些位置，两者正好相等？
"""

# %% tags=["panel"]
gated_width.panel()

# %% [markdown] lang="en"
r"""
12.5% more: rounding adds less than one tile, but a tile weighs more in a narrow layer. They are equal where 8d/3 is a multiple of 256 itself, on the slider at 768, 1536 and so on. (The [SwiGLU paper](https://arxiv.org/abs/2002.05202) has 768: width 3072 without a gate, 2048 with one.)

## 44 models

Does everybody do it? Here are 44 published models with gated layers; the rule misses the crosses. At first all get 256 and no multiplier. For 12 of them Meta published `multiple_of`, and `multiplier` if there is one; *as published* takes those and leaves the rest. *Whatever fits* looks at each published width first, then chooses what comes closest: a power of 2 from 64 to 4096, and no multiplier or one of 0.5, 0.6, …, 3.0.

**Predict first.** How many of the 44 does the rule find *as published*, how many with *whatever fits*?
"""

# %% [markdown] lang="zh"
r"""
多 12.5%：取整多出的不到一块，但层越窄，一块所占的比例越大。8d/3 本身就是 256 的倍数时，两者相等；滑块上这样的 d_model 是 768、1536 等。（[SwiGLU 的论文](https://arxiv.org/abs/2002.05202)用的就是 768：没有门控时宽度是 3072，有门控时是 2048。）

## 44 个模型

大家都这样做吗？下图是 44 个已公布的模型，前馈网络都带门控；公布的宽度与规则不一致的，画成叉。开始时，所有模型都用 256，不用系数。其中 12 个模型，Meta 公布了 `multiple_of` 的取值；用到 `multiplier` 的，也公布了它的取值。选“用公布的取值”，这些模型就改用公布的数，其余的不变。选“凑出来的取值”，就先看每个模型公布的宽度，再挑出结果最接近这个宽度的取值：一个从 64 到 4096 的 2 的幂；系数可以不用，也可以从 0.5、0.6……3.0 里挑一个。

**先猜一猜**：44 个模型里，选“用公布的取值”，规则能对上几个？选“凑出来的取值”呢？
"""

# %% tags=["panel"]
published_widths.panel()

# %% [markdown] lang="en"
r"""
21: those 12, and 9 others, perhaps by another way. Some misses are just 3.5, 4 or 8 times d_model (Mistral 7B, OLMo 1B, Gemma 7B). *Whatever fits* finds 38 and proves nothing: it finds even more where the widths have nothing to do with the rule (next cell). Only arguments fixed beforehand test a rule.
"""

# %% [markdown] lang="zh"
r"""
21 个：那 12 个全部对上，另有 9 个，不过它们的宽度也可能另有来历。没对上的，有些就是 d_model 的 3.5 倍、4 倍或 8 倍（Mistral 7B、OLMo 1B、Gemma 7B）。“凑出来的取值”对上 38 个，却什么也证明不了：换成与规则毫不相干的宽度，它对上的反而更多（见下一个单元格）。只有事先定好取值，才算真正检验了规则。
"""

# %%
models = published_widths.published_models()
for times in (3, 3.5, 4, 8):
    invented = [replace(model, hidden=int(times * model.d_model)) for model in models]
    found = sum(published_widths.widths_by_rule(model)["fitted"] == model.hidden for model in invented)
    print(f"if all were {times:3} times d_model wide, whatever fits would find {found} of {len(models)}")

# %% [markdown] lang="en"
r"""
## What the source notes say

| the notes say | does it hold? |
|---|---|
| MLP and SwiGLU have dim × 4dim × 2 and dim × hidden_dim × 3 parameters | Weights only: with the biases of their classes, 4728 and 4760 at dim = 24. |
| `int(2 * hidden_dim / 3)` | Right, and it rounds *down*. Without a multiplier that matters only if 4 does not divide `multiple_of`. |
| `multiple_of=64` | Meta's default is 256. The rounding is up, not to the nearest; their test, with 24, cannot tell: 64 is a multiple already. |
| the number of parameters hardly changes | At dim = 4096. At 512 with 256 it grows by 12.5%, at 24 with 256 it is 4 times the MLP's. |
| full speed needs multiples of 8/16/32/256 | Not one list for all number types: see *Going further*. |
| ceil(x / m) = (x + m − 1) // m, for the new width | These are tiles; the width is m times that, as in their code. |
"""

# %% [markdown] lang="zh"
r"""
## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| MLP 和 SwiGLU 的参数量分别是 dim × 4dim × 2 和 dim × hidden_dim × 3 | 只算了权重。笔记的类带偏置，都算上，dim = 24 时分别是 4728 和 4760。 |
| `int(2 * hidden_dim / 3)` | 对，不过这是**向下**取整。不用系数时，只有 `multiple_of` 不是 4 的倍数，这一点才可能影响宽度。 |
| `multiple_of=64` | Meta 的默认值是 256。这是向上取整，不是取最接近的倍数；笔记用 24 测试，看不出区别，因为得到的 64 本来就是倍数。 |
| 参数量不会有太大变化 | dim = 4096 时是这样。取 256 的倍数，dim = 512 时多 12.5%；同样取 256 的倍数，dim = 24 时是 MLP 的 4 倍。 |
| 要达到最大算力，需要 8/16/32/256 的倍数 | 数据类型不同，要求也不同：见“选读”。 |
| 新宽度的公式是 ceil(x / m) = (x + m − 1) // m | 得到的是块数；宽度还要乘以 m，笔记的代码就是这样写的。 |
"""

# %% claims=["E48", "E52"]
print("n = 85, m = 64: tiles", (85 + 64 - 1) // 64, " width", 64 * ((85 + 64 - 1) // 64))
for m in (1, 2, 3, 4, 6, 64, 256):
    differ = [d for d in range(1, 5000) if round_up(8 * d // 3, m) != round_up((8 * d + 2) // 3, m)]
    print(f"multiple_of {m:3}: rounding 8d/3 up instead changes {len(differ):4} of 4999 widths")

# %% claims=["E49", "E50"]
print("   d  tile   down  nearest    up  parameters: times the MLP's")
for d, m in ((24, 64), (25, 64), (24, 256), (512, 256), (768, 256), (5120, 256)):
    h, up = 8 * d // 3, hidden_width(d, m)
    ratio = parameter_count(d, up, gated=True, bias=False) / parameter_count(d, 4 * d, gated=False, bias=False)
    print(f"{d:4} {m:5} {h // m * m:6} {round(h / m) * m:8} {up:5} {ratio:7.4f}")

# %% [markdown] lang="en"
r"""
## Exercise: Meta's rule

Take two thirds of 4 · `d_model` and drop the fraction. Unless `multiplier` is `None`, multiply by `multiplier` and drop the fraction again. Then round up to a multiple of `multiple_of`. Return an `int`; you may call `round_up`.
"""

# %% [markdown] lang="zh"
r"""
## 练习：Meta 的规则

先取 4 · `d_model` 的三分之二，舍去小数；如果 `multiplier` 不是 `None`，再乘以 `multiplier`，舍去小数；最后向上取整到 `multiple_of` 的倍数。返回 `int`；可以调用 `round_up`。
"""


# %% tags=["exercise"]
def my_hidden_width(d_model, multiple_of=256, multiplier=None):
    return ...


check("hidden_width", my_hidden_width)

# %% [markdown] lang="en"
r"""
Stuck? Choose a multiplier on the panel under *What the rounding costs*, call your function with the same arguments, and compare. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？在“取整的代价”一节的面板里选一个系数，用同样的参数调用你的函数，再把你的结果与图下那一行对照。参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_hidden_width(d_model, multiple_of=256, multiplier=None):
    hidden = int(2 * (4 * d_model) / 3)
    if multiplier is not None:
        hidden = int(multiplier * hidden)
    return multiple_of * ((hidden + multiple_of - 1) // multiple_of)


check("hidden_width", solved_hidden_width)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. d_model is 5120 and `multiple_of` 256. How many tiles, which width, how many parameters (no biases)?

<details><summary>Answer</summary>

8 · 5120 / 3 = 13653.33: 54 tiles, 13824. 3 · 5120 · 13824 = 212336640 parameters, 1.25% more than the MLP.

</details>

2. Llama 3 8B has d_model 4096, `multiple_of` 1024, multiplier 1.3. Somebody's code gives 14643. What went wrong? How do you see it at once?

<details><summary>Answer</summary>

14643 is odd, so no multiple of 1024. The code rounded first, to 11264, and then multiplied. Right: 10922 → 14198 → 14336.

</details>

3. SmolLM2 1.7B has d_model 2048 and width 8192. "They used 256 and 1.5," says a colleague; it fits. Does that go into your report?

<details><summary>Answer</summary>

No. 4 · 2048 = 8192 fits too. One width does not decide between rules; look for published arguments, or for several sizes.

</details>

The next cell computes these numbers.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. d_model 是 5120，`multiple_of` 是 256。有几块？宽度是多少？参数量（不计偏置）是多少？

<details><summary>答案</summary>

8 · 5120 / 3 = 13653.33，所以是 54 块，宽 13824。参数量是 3 · 5120 · 13824 = 212336640，比 MLP 多 1.25%。

</details>

2. Llama 3 8B 的 d_model 是 4096，`multiple_of` 是 1024，系数是 1.3。某人的代码得到 14643。错在哪里？怎样一眼就能看出来？

<details><summary>答案</summary>

14643 是奇数，不会是 1024 的倍数。那段代码先取整，得到 11264，然后才乘系数。正确的顺序是：10922 → 14198 → 14336。

</details>

3. SmolLM2 1.7B 的 d_model 是 2048，宽度是 8192。同事说：“他们用的是 256 和 1.5。”这确实对得上。你会把这句话写进报告吗？

<details><summary>答案</summary>

不会。4 · 2048 = 8192 也对得上。单凭一个宽度，分不出用的是哪条规则；要找公布的取值，或者看几种规模的宽度。

</details>

下一个单元格计算这些数。
"""

# %%
width, rounded = hidden_width(5120), hidden_width(4096, 1024)
print(f"1. tiles {width // 256}, width {width}, parameters {3 * 5120 * width}, {3 * width / (8 * 5120):.4f} times")
print(f"2. rounded first {rounded}, then multiplied {int(1.3 * rounded)}; right {hidden_width(4096, 1024, 1.3)}")
print(f"3. with 256 and 1.5 {hidden_width(2048, 256, 1.5)}, 4 times d_model {4 * 2048}")

# %% [markdown] lang="en"
r"""
**In one line:** two thirds of 4d keep the number of parameters, the rest is rounding up to a multiple, and one width does not tell of what.

## Going further: what Tensor Cores want

Meta's code only says that the width should be a "multiple of large power of 2". Why that helps a GPU is predicted here by three counts; lesson 12 compares them with a measurement.

**Bytes.** Tensor Cores are the units of NVIDIA's GPUs that multiply matrices. [NVIDIA's guide](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html) (table 1) calls them most efficient when every axis of the matrices is a multiple of 16 bytes long, on the A100 of 128 bytes. Older libraries (before cuBLAS 11.0) could not use them otherwise; now any length will do, only less fast. (For 8-bit floats cuBLAS still wants the 16 bytes.) How many numbers that is depends on the type:
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：4d 的三分之二使参数量不变，其余的来自向上取整；至于取整到哪个数的倍数，单凭一个宽度看不出来。

## 选读：Tensor Core 要什么样的宽度

Meta 的代码只说，宽度应当是“较大的 2 的幂的倍数”。这对 GPU 有什么好处？这里先数三样东西，作出预测；第 12 课再与实测结果比较。

**字节**：Tensor Core（张量核心）是 NVIDIA 的 GPU 里专做矩阵乘法的单元。[NVIDIA 的指南](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html)（表 1）说，把矩阵每个轴的长度折合成字节，如果是 16 字节的倍数，效率最高；在 A100 上则要是 128 字节的倍数。在较早的库里（cuBLAS 11.0 之前），不满足这一点就用不上 Tensor Core；现在任何长度都能用，只是慢一些。（对 8 位浮点数，cuBLAS 仍要求 16 字节的倍数。）折合成多少个数，要看数据类型：
"""

# %% claims=["E51"]
for name, size in {"int8": 1, "float16, bfloat16": 2, "TF32 (stored as float32)": 4}.items():
    print(f"{name:24}  16 bytes: {16 // size:2} numbers   128 bytes: {128 // size:3}")
for width in (10922, 10944, 11008):
    print(f"{width} in float16: {2 * width / 16:.2f} times 16 bytes, {2 * width / 128:.2f} times 128 bytes")

# %% [markdown] lang="en"
r"""
So the notes' 8 and 16 are one rule for two types, 32 is the A100's for TF32 (float32, multiplied with fewer digits), and 256 is not in NVIDIA's table.

**Tiles.** A GPU computes a matrix product in tiles of, say, 128 × 256 numbers; the last ones may be partly empty. For that, [NVIDIA advises](https://docs.nvidia.com/deeplearning/performance/dl-performance-fully-connected/index.html) multiples of at least 64, ideally 256. That is where 256 comes in.

**Waves.** An H100 (SXM) has 132 multiprocessors. If each takes one tile at a time, the tiles go in waves of 132, and the last wave may be nearly empty. For 8192 tokens, whose product with W1 has 8192 rows:
"""

# %% [markdown] lang="zh"
r"""
可见，笔记里的 8 和 16 是同一条规则用在两种数据类型上；32 是 A100 对 TF32 的要求（TF32 用 float32 存放，相乘时位数较少）；256 不在 NVIDIA 的那张表里。

**分块**：GPU 把乘积分成小块来算，例如每块 128 × 256 个数，最后几块可能填不满。为此，[NVIDIA 建议](https://docs.nvidia.com/deeplearning/performance/dl-performance-fully-connected/index.html)取 64 的倍数，最好是 256 的倍数。256 就是从这里来的。

**波次**：H100（SXM 版）有 132 个多处理器（multiprocessor）。如果每个多处理器一次算一块，那么每 132 块为一个波次（wave），最后一个波次可能几乎是空的。以 8192 个词元为例，它们与 W1 的乘积有 8192 行：
"""

# %%
for width in (10922, 10944, 11008, 11264):
    tiles = round_up(8192, 128) // 128 * (round_up(width, 256) // 256)
    waves = round_up(tiles, 132) // 132
    print(f"{width}: {tiles} tiles, {waves} waves, {8192 * width / (waves * 132 * 128 * 256):.1%} of the places filled")

# %% [markdown] lang="en"
r"""
By tiles and waves 10922 loses less than 1% to 11008, and 11264, although it is 11 · 1024, does worse than both. By bytes 10922 is the odd one out, and 10944 should be as good as 11008. These are counts, not times: libraries choose tiles by themselves, and the counts say nothing of how much slower 10922 is. Lesson 12 shows a measurement.

## Going further: why 4

When does rounding 8d/3 down or up, before the rounding to m, make a difference? Only where the lower one is a multiple of m already, and the upper one beyond it: 8d = 3mk + 1 or 8d = 3mk + 2, with a whole number k. If 4 divides m, then it divides 8d and 3mk, but neither 1 nor 2: neither can hold.
"""

# %% [markdown] lang="zh"
r"""
按分块和波次算，10922 比 11008 只差不到 1%；11264 虽然是 11 · 1024，却比这两个都差。按字节算，10922 不合要求，10944 应当与 11008 一样好。这些数是算出来的，不是测出来的时间：库会自己选分块的大小，而且从这些数也看不出 10922 会慢多少。第 12 课有实测结果。

## 选读：为什么是 4

取整到 m 的倍数之前，先把 8d/3 向下取整还是向上取整，什么时候有区别？只有一种情况：向下取整的结果已经是 m 的倍数，而向上取整的结果超出了它，即 8d = 3mk + 1 或 8d = 3mk + 2，k 为整数。如果 4 整除 m，那么它也整除 8d 和 3mk，却不整除 1，也不整除 2：两式都不可能成立。
"""
