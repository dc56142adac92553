# %% [markdown] lang="en"
r"""
# 09 Where does 11008 come from?

In LLaMA 7B the feed-forward networks widen a token from 4096 features to 11008 numbers. "Two thirds of 4 · 4096, rounded up to a multiple of 256," people say, and they are right. Yet 11008 alone proves nothing, because other rules fit it just as well. So how could anybody know?

Lesson 08's SwiGLU needs such a width in every model. Here you derive it, see what its rounding costs, and judge what a published one proves. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 09 11008 是怎么来的？

在 LLaMA 7B 里，前馈网络把一个词元的 4096 个特征加宽到 11008 个数。大家都说，这是“4 · 4096 的三分之二，再向上取整到 256 的倍数”。说得没错，可是单凭 11008，什么也证明不了，因为别的规则同样对得上。那么，怎样才能弄清楚呢？

第 08 课里，你写了 SwiGLU；要把它放进模型，就得知道这个宽度。这一课里，你会推导出它，弄清楚取整的代价，并判断一个公布的宽度能证明什么。大约需要 20 分钟。
"""

# %%
from dataclasses import replace

import torch

from blocklab import FeedForward, SwiGLU, hidden_width
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.swiglu_width import gated_width, published_widths, rounding_tiles, width_detective

# %% [markdown] lang="en"
r"""
## Two questions first

1. A SwiGLU layer computes `(silu(x @ W1) * (x @ W3)) @ W2`. x has 24 features, W2 reads 64. Which shapes do the matrices have?
2. The same number is added to all features of a token. LayerNorm does not notice. Does RMSNorm?

<details><summary>Answers</summary>

1. W1 and W3 are `(24, 64)`, W2 is `(64, 24)`.
2. In general it does, because it does not subtract the mean.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. SwiGLU 层计算 `(silu(x @ W1) * (x @ W3)) @ W2`。x 有 24 个特征，送进 W2 的有 64 个。三个矩阵的形状各是什么？
2. 给一个词元的所有特征加上同一个数，层归一化的输出不变。RMSNorm 的输出会变吗？

<details><summary>答案</summary>

1. W1 和 W3 是 `(24, 64)`，W2 是 `(64, 24)`。
2. 一般会变，因为它不减均值。

</details>
"""

# %% [markdown] lang="en"
r"""
## Three matrices for two

A plain layer (MLP) has two matrices between d features (`d_model` in code) and 4d, SwiGLU three between d and h. With equally many parameters in both, h is two thirds of 4d:

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

For 24 features that is 64:
"""

# %% [markdown] lang="zh"
r"""
## 三个矩阵抵两个

普通的前馈网络（MLP）有两个矩阵，在 d（代码里写作 `d_model`）与 4d 之间变换；SwiGLU 有三个，在 d 与 h 之间变换。要让两者的参数一样多，h 就得是 4d 的三分之二：

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

有 24 个特征时，h 是 64：
"""

# %%
mlp, gated = FeedForward(24, 4 * 24, bias=False), SwiGLU(24, 64)
counts = (sum(parameter.numel() for parameter in layer.parameters()) for layer in (mlp, gated))
print(Text(en="parameters: MLP {}, SwiGLU {}", zh="参数量：MLP {}，SwiGLU {}").format(*counts))

# %% [markdown] lang="en"
r"""
## Detective

For d = 4096, 8d/3 is 10922.67. [Meta's code](https://github.com/meta-llama/llama/blob/main/llama/model.py) drops the fraction, `int(2 * (4 * d_model) / 3)`, and rounds up to a multiple of `multiple_of`. Suppose this number were lost. Each ruler is one of the first LLaMA's four sizes, with 8d/3 at 0 and marks at the multiples. The first mark from 0 on is the rule's width; a dot on the right says that it was published.

**Predict first.** Which values of `multiple_of` turn 10922 into 11008? Choose, drag, then tick *try all*.
"""

# %% [markdown] lang="zh"
r"""
## 侦探

d = 4096 时，8d/3 是 10922.67。[Meta 的代码](https://github.com/meta-llama/llama/blob/main/llama/model.py)用 `int(2 * (4 * d_model) / 3)` 舍去小数，再向上取整到 `multiple_of` 的倍数。假设这个数失传了。第一代 LLaMA 有四种规模，每种对应一把尺子，0 处是 8d/3，刻度是各个倍数。从 0 起向右的第一个刻度，就是规则给出的宽度；如果它正是公布的宽度，右图上就有一个圆点。

**先猜一猜**：哪些 `multiple_of` 能让 10922 变成 11008？先选，再拖动滑块，最后勾选“全试一遍”。
"""

# %% tags=["panel", "guess"]
width_detective.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Some divisors of 11008 give it: those larger than the gap, 11008 − 10922 = 86. Otherwise the multiple before would do.

</details>

**Predict first.** How many values of `multiple_of` give all four widths?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

能得到 11008 的是它的一部分因数，即大于差距 11008 − 10922 = 86 的那些；否则取前一个倍数就够了。

</details>

**先猜一猜**：四个宽度都能得到的 `multiple_of` 有几个？
"""

# %% tags=["answer"]
published = {4096: 11008, 5120: 13824, 6656: 17920, 8192: 22016}
fits = {d: {m for m in range(1, 30000) if hidden_width(d, m) == width} for d, width in published.items()}
print(Text(en="give 11008:", zh="得到 11008 的："), sorted(fits[4096]))
print(Text(en="give all four:", zh="四个都得到的："), *set.intersection(*fits.values()))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One value gives all four, 256. It must divide their greatest common divisor, which is 256, and exceed the other gaps, 171 each.

</details>

So four widths prove, for a rule of this kind, what one cannot: it was Meta's default, 256.

## Rounding up, in tiles

How many tiles of m squares do n squares need? $(n + m - 1)\;//\;m$, where // drops the remainder: one adds m − 1 squares and counts whole tiles.

**Predict first.** With m = 5, which n from 15 to 19 need 3 tiles, and which 4?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

四个都能得到的只有一个，就是 256。它要整除四个宽度的最大公因数，也就是 256，还要大于其余三个差距，那都是 171。

</details>

所以，只要规则是这一种，一个宽度证明不了的，四个宽度合起来就能证明，那就是 Meta 的默认值 256。

## 图解向上取整

n 个方格，每 m 个为一个分块（tile），需要几块？答案是 $(n + m - 1)\;//\;m$，其中 // 舍去余数，也就是先添上 m − 1 个方格，再数有几个整块。

**先猜一猜**：m = 5 时，15 到 19 中，哪些 n 需要 3 块，哪些需要 4 块？
"""

# %% tags=["panel", "answer"]
rounding_tiles.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only 15 needs 3 tiles; 16 to 19 need 4.

</details>

The picture is the proof. Where n fills its tiles, the new squares fill none. Where a square is left over, they fill up its tile, never a second one.

**Your turn, one line.** Return the width: the smallest multiple of `multiple_of` that is not below `n`. Both are integers.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

需要 3 块的只有 15，16 到 19 都需要 4 块。

</details>

证明就在图里。n 个方格正好填满各块时，添上的方格凑不满一块；只要有方格多出来，添上的就能填满那一块，但填不满再下一块。

**轮到你了**，只写一行：返回宽度，也就是 `multiple_of` 的倍数中，不小于 `n` 的最小的一个。两个参数都是整数。
"""


# %% tags=["exercise"]
def my_round_up(n, multiple_of):
    return ...


check("round_up", my_round_up)

# %% [markdown] lang="en"
r"""
Stuck? The formula above counts the tiles.

<details><summary>The idea</summary>

A tile holds `multiple_of` numbers, so the width is the number of tiles times that. With `//` all stays whole, however large n is.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？上面的公式得到的是块数。

<details><summary>思路</summary>

一块有 `multiple_of` 个数，所以宽度等于块数乘以它。用 `//`，不论 n 多大，结果都是整数。

</details>
"""


# %% tags=["solution"]
def solved_round_up(n, multiple_of):
    return multiple_of * ((n + multiple_of - 1) // multiple_of)


check("round_up", solved_round_up, keep=False)

# %% [markdown] lang="en"
r"""
## What the rounding costs

Since Llama 2 a `multiplier` may come in between: two thirds, drop the fraction, multiply, drop the fraction again, round up. Above are the last tiles; below, the matrices lie end to end, so lengths are parameters. Hatched is what rounding adds.

**Predict first.** At d_model = 4096 SwiGLU has 0.8% more parameters than the MLP. How many more at 512?
"""

# %% [markdown] lang="zh"
r"""
## 取整的代价

从 Llama 2 起，中间还可以乘一个系数 `multiplier`：取三分之二，舍去小数，乘系数，再舍去小数，最后向上取整。上图是最后几块；下图把各个矩阵首尾相接，所以长度就是参数量，斜线部分是取整多出来的。

**先猜一猜**：d_model = 4096 时，SwiGLU 的参数比 MLP 多 0.8%。512 时多多少？
"""

# %% tags=["panel"]
gated_width.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

12.5% more at 512.

</details>

A tile weighs more in a narrow layer. What a GPU gains by it, in bytes, tiles and waves, is measured in [lesson 12](12_cuda_timing.ipynb).

## 44 models

For 12 of these 44 published models Meta gave `multiple_of` and `multiplier`. *As published* takes those, and 256 for the others. *Whatever fits* looks at each width first, then picks a power of 2 (64 to 4096) and a multiplier (0.5 to 3.0, or none).

**Predict first.** How many of them does the rule find *as published*, how many with *whatever fits*?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

512 时多 12.5%。

</details>

层越窄，一块所占的比例越大。GPU 因此得到什么好处，要看字节、分块和波次，[第 12 课](12_cuda_timing.ipynb)会实测。

## 44 个模型

这 44 个已公布的模型里，有 12 个由 Meta 公布了 `multiple_of` 和 `multiplier`。选“用公布的取值”，它们就用这些数，其余的用 256。选“凑出来的取值”，就先看每个宽度，再挑结果最接近的 2 的幂（64 到 4096）和系数（0.5 到 3.0，也可以不用）。

**先猜一猜**：选“用公布的取值”，规则能对上几个？选“凑出来的取值”呢？
"""

# %% tags=["panel"]
published_widths.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It finds 21 as published, those 12 and 9 others; with whatever fits 38.

</details>

Many misses are just 3.5, 4 or 8 times d_model (Mistral 7B, OLMo 1B, Gemma 7B). And the 38?

**Predict first.** Make every model 4 · d_model wide, which has nothing to do with the rule. How many does *whatever fits* find now?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用公布的取值，对上 21 个：那 12 个，加上另外 9 个。用凑出来的取值，对上 38 个。

</details>

没对上的，有不少就是 d_model 的 3.5 倍、4 倍或 8 倍（Mistral 7B、OLMo 1B、Gemma 7B）。那 38 个又说明什么呢？

**先猜一猜**：假设每个模型的宽度都正好是 4 · d_model，与这条规则毫不相干。“凑出来的取值”现在能对上几个？
"""

# %% tags=["answer"]
invented = [replace(model, hidden=4 * model.d_model) for model in published_widths.published_models()]
found = sum(published_widths.widths_by_rule(model)["fitted"] == model.hidden for model in invented)
print(Text(en="found {} of {}", zh="对上 {} 个，共 {} 个").format(found, len(invented)))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It finds all 44.

</details>

So only numbers fixed beforehand test a rule.

## What you will meet elsewhere

* Hugging Face's `config.json` keeps only the result, `"intermediate_size": 11008`. Hence the detectives.
* [OLMo 7B's file](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml) says `mlp_hidden_size: 22016`, because one matrix makes value and gate, and both count.
* *Experts* are narrow layers, of which a few work for each token. In [Qwen3-30B-A3B](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py), with d_model 2048, they are 768 wide, and 8 work together.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

44 个全部对上。

</details>

所以，只有事先把数定好，才算检验了规则。

## 在别处会遇到什么

* Hugging Face 的 `config.json` 只写结果 `"intermediate_size": 11008`，所以才需要侦探。
* [OLMo 7B 的配置](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml)写着 `mlp_hidden_size: 22016`，因为它用一个矩阵同时算出值和门，两者都算在内。
* **专家**（expert）是一些较窄的层，每个词元只由其中几个处理。在 [Qwen3-30B-A3B](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py) 里，d_model 是 2048，专家宽 768，8 个一起工作。
"""

# %%
value, gate = torch.empty(1, 22016).chunk(2, dim=-1)  # (L, h) each
print(Text(en="OLMo 7B: the gate is {} wide", zh="OLMo 7B：门的宽度是 {}").format(gate.shape[-1]))
together = Text(
    en="Qwen3: 8 experts together {}, {:g} times d_model", zh="Qwen3：8 个专家合计 {}，是 d_model 的 {:g} 倍"
)
print(together.format(8 * 768, 8 * 768 / 2048))

# %% [markdown] lang="en"
r"""
## Exercise: Meta's rule

Take two thirds of 4 · `d_model` and drop the fraction. Unless `multiplier` is `None`, multiply and drop it again. Round up to a multiple of `multiple_of`; return an `int`. Then try `my_hidden_width(576)`, the width in SmolLM2, the chat model in which your blocks will run.
"""

# %% [markdown] lang="zh"
r"""
## 练习：Meta 的规则

取 4 · `d_model` 的三分之二，舍去小数；如果 `multiplier` 不是 `None`，再乘以它，舍去小数；最后向上取整到 `multiple_of` 的倍数，返回 `int`。然后试试 `my_hidden_width(576)`：在聊天模型 SmolLM2 里，前馈网络就是这么宽，这个模型里最后运行的会是你写的代码。
"""


# %% tags=["exercise"]
def my_hidden_width(d_model, multiple_of=256, multiplier=None):
    return ...


check("hidden_width", my_hidden_width)

# %% [markdown] lang="en"
r"""
Stuck? The line below the picture in *What the rounding costs* shows each step.

<details><summary>The idea</summary>

Rounding up comes last, because what is multiplied afterwards is no multiple any more. Each fraction is dropped where it arises: one that is carried along can cost a whole tile at the end.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“取整的代价”一节里，图下那行字列出了每一步。

<details><summary>思路</summary>

向上取整放在最后，因为取整之后再乘系数，就不再是倍数了。小数一出现就舍去；一直带着它，最后可能多出一整块。

</details>
"""


# %% tags=["solution"]
def solved_hidden_width(d_model, multiple_of=256, multiplier=None):
    hidden = int(2 * (4 * d_model) / 3)
    if multiplier is not None:
        hidden = int(multiplier * hidden)
    return multiple_of * ((hidden + multiple_of - 1) // multiple_of)


check("hidden_width", solved_hidden_width, keep=False)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. d_model is 5120 and `multiple_of` 256. How many tiles, which width, how many parameters?

<details><summary>Answer</summary>

8 · 5120 / 3 = 13653.33, so 54 tiles and a width of 13824. That makes 3 · 5120 · 13824 = 212336640 parameters.

</details>

2. Llama 3 8B has d_model 4096, `multiple_of` 1024, multiplier 1.3. Somebody's code gives 14643. What went wrong, and how do you see it at once?

<details><summary>Answer</summary>

14643 is odd, so no multiple of 1024. The code rounded first, to 11264, and then multiplied. Right is 10922 → 14198 → 14336.

</details>

3. SmolLM2 1.7B has d_model 2048 and width 8192. "They used 256 and 1.5," says a colleague; it fits. Does that go into your report?

<details><summary>Answer</summary>

No, because 4 · 2048 = 8192 fits too. One width does not decide between rules; look for published arguments, or for several sizes.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. d_model 是 5120，`multiple_of` 是 256。有几块？宽度是多少？参数量是多少？

<details><summary>答案</summary>

8 · 5120 / 3 = 13653.33，所以是 54 块，宽 13824。参数量是 3 · 5120 · 13824 = 212336640。

</details>

2. Llama 3 8B 的 d_model 是 4096，`multiple_of` 是 1024，系数是 1.3。某人的代码得到 14643。错在哪里？怎样一眼就能看出来？

<details><summary>答案</summary>

14643 是奇数，不会是 1024 的倍数。那段代码先取整，得到 11264，然后才乘系数。正确的顺序是 10922 → 14198 → 14336。

</details>

3. SmolLM2 1.7B 的 d_model 是 2048，宽度是 8192。同事说：“他们用的是 256 和 1.5。”这确实对得上。你会把这句话写进报告吗？

<details><summary>答案</summary>

不会，因为 4 · 2048 = 8192 也对得上。单凭一个宽度，分不出用的是哪条规则；要找公布的取值，或者看几种规模的宽度。

</details>
"""

# %%
width, rounded = hidden_width(5120), hidden_width(4096, 1024)
sizes = Text(en="1. tiles {}, width {}, parameters {}", zh="1. 块数 {}，宽度 {}，参数量 {}")
print(sizes.format(width // 256, width, 3 * 5120 * width))
orders = Text(en="2. rounded first {}, right {}", zh="2. 先取整 {}，正确 {}")
print(orders.format(int(1.3 * rounded), hidden_width(4096, 1024, 1.3)))
both = Text(en="3. with 256 and 1.5 {}, 4 times d_model {}", zh="3. 用 256 和 1.5 得 {}，d_model 的 4 倍是 {}")
print(both.format(hidden_width(2048, 256, 1.5), 4 * 2048))

# %% [markdown] lang="en"
r"""
## In short

* Two thirds of 4d keep the number of parameters; the rest is rounding up.
* That costs less than a tile, most in narrow layers.
* One width proves no rule: fix the numbers, then count the misses.

## Read next

* [The LLaMA paper](https://arxiv.org/abs/2302.13971), section 2.2: the two thirds, in one sentence.
* [Meta's model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py): your function inside `FeedForward`.
* [NVIDIA's guide](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html) to matrix sizes on its GPUs.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 4d 的三分之二使参数量不变，其余的来自向上取整。
* 取整多出的不到一块，层越窄，代价越大。
* 单凭一个宽度证明不了规则：先把数定好，再数没对上几个。

## 接着读

* [LLaMA 的论文](https://arxiv.org/abs/2302.13971)，2.2 节：一句话讲了三分之二。
* [Meta 的 model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py)：你写的函数就在 `FeedForward` 里。
* [NVIDIA 的指南](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html)：GPU 喜欢什么样的矩阵大小。
"""
