# %% [markdown] lang="en"
r"""
# 09 Where does 11008 come from?

In LLaMA 7B the feed-forward networks widen a token from 4096 features to 11008 numbers. "Two thirds of 4 · 4096, rounded up to a multiple of 256," people say, and they are right. Yet 11008 alone does not settle it, because other rules fit it just as well. So how could anybody know?

Lesson 08's SwiGLU needs such a width in every model. Whoever rebuilds a model from its published weights, or designs the next one, has to know which of its numbers were chosen and which follow from others. Here you write the rule, see what its rounding is for and what it costs, and judge what a width proves. It takes about 25 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 09 11008 是怎么来的？

在 LLaMA 7B 里，前馈网络把一个词元的 4096 个特征加宽到 11008 个数。大家都说，这是“4 · 4096 的三分之二，再向上取整到 256 的倍数”。说得没错，可是单凭 11008，定不下用的是哪一条规则，因为别的规则同样对得上。那么，怎样才能弄清楚呢？

第 08 课里，你写了 SwiGLU；要把它放进模型，就得知道这个宽度。无论是照公布的权重重建一个模型，还是设计下一个模型，都要分清哪些数是人选的，哪些数是由别的数算出来的。这一课里，你会写出这条规则，看看为什么要取整、代价多大，再判断一个宽度能证明什么。大约需要 25 分钟。
"""

# %%
import torch

from blocklab import SwiGLU, hidden_width
from blocklab.language import Text
from blocklab.lessons import accepted, check
from blocklab.lessons.swiglu_width import gated_width, published_widths, rounding_tiles, width_detective

# %% [markdown] lang="en"
r"""
## Two questions first

1. A SwiGLU layer computes `F.linear(silu(F.linear(x, w1)) * F.linear(x, w3), w2)`. x has 24 features, `w2` reads 64 numbers. Which shapes do the matrices have?
2. The same number is added to all features of a token. LayerNorm does not notice. Does RMSNorm?

<details><summary>Answers</summary>

1. `w1` and `w3` are `(64, 24)`, `w2` is `(24, 64)`, because `F.linear` wants `(out, in)`.
2. In general it does, because it does not subtract the mean.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. SwiGLU 层计算 `F.linear(silu(F.linear(x, w1)) * F.linear(x, w3), w2)`。x 有 24 个特征，送进 `w2` 的有 64 个数。三个矩阵的形状各是什么？
2. 给一个词元的所有特征加上同一个数，层归一化的输出不变。RMSNorm 的输出会变吗？

<details><summary>答案</summary>

1. `w1` 和 `w3` 是 `(64, 24)`，`w2` 是 `(24, 64)`，因为 `F.linear` 要的是 `(out, in)`。
2. 一般会变，因为它不减均值。

</details>
"""

# %% [markdown] lang="en"
r"""
## Three matrices for two

Lesson 08 gave SwiGLU two thirds of the usual width. This is why: a plain feed-forward network (MLP) has two matrices between d features (`d_model` in code) and 4d units, SwiGLU has three between d and h. For equally many parameters

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

For d = 576, as in SmolLM2, that is 1536 exactly. For LLaMA's 4096 it is 10922.67, and there are no two thirds of a unit.

## Detective

[Meta's code](https://github.com/meta-llama/llama/blob/main/llama/model.py) drops the fraction, `int(2 * (4 * d_model) / 3)`, and rounds up to a multiple of `multiple_of`. Why round at all? A GPU reads memory in pieces of a fixed size, and rows that do not begin where a piece begins are read more slowly. [On an H100](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md) matrix products with a width of 10922 reached 69% of the speed with 11008. But 10944, a multiple of 64 and not of 256, did just as well, so speed does not tell which number it was. (Lesson 12 takes this up.)

Suppose the number were lost. Each ruler is one of the first LLaMA's four sizes. It has 8d/3 at 0 and marks at the multiples, and the first mark at 0 or to its right is the rule's width. The grey bar on the right shows the value that you try (every 4th, up to 704); where the rule's width is the published one, a dot appears on it.

**Predict first.** Which values of `multiple_of` turn 10922 into 11008? Choose, drag, then set *try all* to *for 11008*.
"""

# %% [markdown] lang="zh"
r"""
## 三个矩阵抵两个

第 08 课里，SwiGLU 的宽度只取平常的三分之二。道理是这样的：普通的前馈网络（MLP）有两个矩阵，在 d 个特征（代码里写作 `d_model`）与 4d 个单元之间变换；SwiGLU 有三个，在 d 与 h 之间变换。要让两者的参数一样多，就得有

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

SmolLM2 的 d = 576，算出来正好是 1536。LLaMA 的 4096 却得到 10922.67，可是没有三分之二个单元这回事。

## 侦探

[Meta 的代码](https://github.com/meta-llama/llama/blob/main/llama/model.py)用 `int(2 * (4 * d_model) / 3)` 舍去小数，再向上取整到 `multiple_of` 的倍数。为什么要取整？GPU 读内存时，一次读固定大小的一段；矩阵的一行如果不从一段的开头开始，读起来就慢。[在一块 H100 上](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)，宽度为 10922 的矩阵乘法，速度只有 11008 的 69%。但是 10944 同样快，它是 64 的倍数，却不是 256 的倍数，所以单看速度，分不出用的是哪个数。（这件事第 12 课还会再讲。）

假设这个数失传了。第一代 LLaMA 有四种规模，每种对应一把尺子，0 处是 8d/3，刻度是各个倍数；0 处或它右边的第一个刻度，就是规则给出的宽度。右图的灰带标出你正在试的值（每隔 4 一个，到 704 为止）；规则给出的宽度正是公布的宽度时，灰带上就出现一个圆点。

**先猜一猜**：哪些 `multiple_of` 能让 10922 变成 11008？先选，再拖动滑块，最后把“全试一遍”设为“只看 11008”。
"""

# %% tags=["panel", "guess"]
width_detective.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Some divisors of 11008 do. A `multiple_of` must divide 11008, and it must be larger than the gap, 11008 − 10922 = 86, because otherwise the multiple before would be wide enough.

</details>

**Predict first.** How many values of `multiple_of` give all four widths? In the panel they show with *for all four*, in the cell all up to 29999 are tried.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

能得到 11008 的是它的一部分因数。`multiple_of` 必须整除 11008，还必须大于差距 11008 − 10922 = 86，否则前一个倍数就够宽了。

</details>

**先猜一猜**：四个宽度都能得到的 `multiple_of` 有几个？在面板里选“四个都看”，就能看到；下面的单元格一直试到 29999。
"""

# %% tags=["answer"]
published = {4096: 11008, 5120: 13824, 6656: 17920, 8192: 22016}
fits = {d: {m for m in range(1, 30000) if hidden_width(d, m) == width} for d, width in published.items()}
print(Text(en="give 11008:", zh="得到 11008 的："), sorted(fits[4096]))
print(Text(en="give all four:", zh="四个都得到的："), *set.intersection(*fits.values()))

# %% tags=["panel", "answer"]
width_detective.still()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One, 256. It must divide all four widths, so it divides their greatest common divisor, 256. And it must be larger than the gaps of the other three, 171 each.

</details>

So if the rule is of this kind, with two thirds and nothing else, four widths settle what one does not: it was 256, the default in Meta's code.

## Rounding up, in tiles

How many tiles of m squares each do n squares need? $(n + m - 1)\;//\;m$, where // drops the remainder: one adds m − 1 squares and counts whole tiles.

**Predict first.** With m = 5, which n from 15 to 19 need 3 tiles, and which 4?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有一个，就是 256。它必须整除全部四个宽度，所以整除它们的最大公因数 256；它还必须大于其余三个宽度的差距，那都是 171。

</details>

所以，如果规则确实是这一种，只取三分之二，别的什么也不做，那么一个宽度定不下的，四个宽度合起来就能定下：用的是 256，也就是 Meta 代码里的默认值。

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

The picture is the proof. The new squares are m − 1, one too few for a tile. So where n fills its tiles, they fill none; where squares are left over, they fill up that one tile and no other.

**Your turn, one line.** Return the width: the smallest multiple of `multiple_of` that is not below `n`. Both are integers.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

需要 3 块的只有 15，16 到 19 都需要 4 块。

</details>

证明就在图里。添上的方格有 m − 1 个，差一个才满一块。所以，n 个方格正好填满各块时，添上的凑不成一块；只要有方格多出来，添上的就能填满那一块，也只能填满那一块。

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

What rounding adds, nobody asked for. How much is it? Above are the last tiles; below, the matrices lie end to end, so lengths are parameters. Hatched is what is added. The third slider came with Llama 2. Its 70B model shares keys and values between attention heads, and to spend the parameters saved there it [widens this layer](https://arxiv.org/abs/2307.09288) by a multiplier of 1.3. That comes before the rounding, and the fraction is dropped once more: 21845 → 28398 → 28672, with `multiple_of` 4096.

**Predict first.** SwiGLU has 0.8% more parameters than the MLP at d_model = 4096, and 3.1% more at 1024. How many more at 512, and how many at 768?
"""

# %% [markdown] lang="zh"
r"""
## 取整的代价

取整多出来的单元，谁也没有要过。它们有多少？上图是最后几块；下图把各个矩阵首尾相接，所以长度就是参数量，斜线部分就是多出来的。第三个滑块是从 Llama 2 开始有的：70B 的模型让几个注意力头共用键和值，省下的参数[用来加宽这一层](https://arxiv.org/abs/2307.09288)，也就是乘系数（multiplier）1.3。乘系数在取整之前，乘完再舍去一次小数：21845 → 28398 → 28672，其中 `multiple_of` 是 4096。

**先猜一猜**：d_model = 4096 时，SwiGLU 的参数比 MLP 多 0.8%；1024 时多 3.1%。512 时多多少？768 时呢？
"""

# %% tags=["panel"]
gated_width.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

12.5% more at 512, none at 768, where 8d/3 = 2048 is 8 tiles exactly.

</details>

Rounding adds less than one tile. In a narrow layer a tile weighs more, so the worst case is worse there, but a width can also be lucky.

## 44 models

For 12 of these 44 published models Meta gave `multiple_of` and `multiplier`. *As published* takes those, and for the other 32 the defaults, 256 and no multiplier. *Whatever fits* looks at each width first. Then it picks the pair that comes closest, from 7 powers of 2 (64 to 4096) and 27 multipliers (0.5 to 3.0 in steps of 0.1, or none), so it has 189 pairs for each model. (With 256 for all, as the picture opens, 16 are found.)

**Predict first.** How many of them does the rule find *as published*, how many with *whatever fits*?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

512 时多 12.5%；768 时一点不多，因为 8d/3 = 2048，正好是 8 块。

</details>

取整多出的不到一块。层越窄，一块所占的比例越大，所以最坏的情形更坏，但也可能碰巧一点不多。

## 44 个模型

这 44 个已公布的模型里，有 12 个由 Meta 公布了 `multiple_of` 和 `multiplier`。选“用公布的取值”，这些模型就用公布的数，其余 32 个用默认值，也就是 256，不乘系数。选“凑出来的取值”，就先看每个宽度，再挑结果最接近的一对：2 的幂有 7 个（64 到 4096），系数有 27 种（0.5 到 3.0，每隔 0.1 一个，或者不用），所以每个模型有 189 对可挑。（打开时一律用 256，对上 16 个。）

**先猜一猜**：选“用公布的取值”，规则能对上几个？选“凑出来的取值”呢？
"""

# %% tags=["panel"]
published_widths.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It finds 21 as published, those 12 and 9 others; with whatever fits 38.

</details>

Is 38 the better result? Of the widths that *as published* misses, many are just 3.5, 4 or 8 times d_model (Mistral 7B, OLMo 1B, Gemma 7B), and *whatever fits* finds these, too. So test both on widths that have nothing to do with the rule. Each model gets a random one, from 2 to 8 times its d_model and as round as the real one, that is, a multiple of the same power of 2 (up to 4096).

**Predict first.** How many of 44 such widths does *whatever fits* find on average, and how many *as published*? The cell draws 100 times.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用公布的取值，对上 21 个：那 12 个，加上另外 9 个。用凑出来的取值，对上 38 个。

</details>

38 个就更好吗？用公布的取值时，没对上的有不少正好是 d_model 的 3.5 倍、4 倍或 8 倍（Mistral 7B、OLMo 1B、Gemma 7B），凑一凑，它们也都对上了。所以，不妨拿与规则毫不相干的宽度来考考这两种办法：给每个模型随机挑一个宽度，在 d_model 的 2 倍到 8 倍之间，而且和真正的宽度一样“整”，也就是同一个 2 的幂（最大到 4096）的倍数。

**先猜一猜**：44 个这样的宽度，“凑出来的取值”平均能对上几个？“用公布的取值”呢？下面随机挑 100 次。
"""

# %% tags=["answer"]
row = Text(en="{}: {:.0f} of 44 on average, from {} to {}", zh="{}：44 个里平均对上 {:.0f} 个，最少 {} 个，最多 {} 个")
names = {arguments: name for name, arguments in published_widths.ARGUMENTS.items()}
for arguments, hits in published_widths.hits_by_chance(100).items():
    print(row.format(names[arguments], sum(hits) / len(hits), min(hits), max(hits)))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

*Whatever fits* finds 34 on average, *as published* 2.

</details>

So 38 are hardly more than chance gives, because with 189 pairs at hand the rule reaches most round widths. The 21 are worth much more, because nothing was fitted there: 12 models follow numbers that Meta published, and 9 others the default. The more a rule may choose, the less a hit proves, so only numbers fixed beforehand test it.

## What you will meet elsewhere

* Hugging Face's `config.json` keeps only the result, `"intermediate_size": 11008`. Hence the detectives.
* [OLMo 7B's file](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml) says `mlp_hidden_size: 22016`, because one matrix makes value and gate, and both count.
* *Experts* are narrow layers, of which a few work for each token. In Qwen3-30B-A3B ([LitGPT's list](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py)), with d_model 2048, they are 768 wide, and 8 work together. So neither one expert nor the eight keep to 8d/3:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

“凑出来的取值”平均对上 34 个，“用公布的取值”平均 2 个。

</details>

所以，对上 38 个，并不比碰巧多多少，因为有 189 对可挑时，大多数整齐的宽度，规则都凑得出来。对上 21 个，分量就重得多，因为那些取值都不是凑的：12 个模型用的是 Meta 公布的数，另外 9 个用的是默认值。一条规则能挑的越多，“对上了”就越说明不了问题；所以只有事先把数定好，才算检验了规则。

## 在别处会遇到什么

* Hugging Face 的 `config.json` 只写结果 `"intermediate_size": 11008`，所以才需要侦探。
* [OLMo 7B 的配置](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml)写着 `mlp_hidden_size: 22016`，因为它用一个矩阵同时算出值和门，两者都算在内。
* **专家**（expert）是一些较窄的层，每个词元只由其中几个处理。在 Qwen3-30B-A3B 里（见 [LitGPT 的列表](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py)），d_model 是 2048，专家宽 768，8 个一起工作。所以不论一个专家还是八个合计，都不是 8d/3：
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

Take two thirds of 4 · `d_model` and drop the fraction. Unless `multiplier` is `None`, multiply and drop it again. Round up to a multiple of `multiple_of`; return an `int`.
"""

# %% [markdown] lang="zh"
r"""
## 练习：Meta 的规则

取 4 · `d_model` 的三分之二，舍去小数；如果 `multiplier` 不是 `None`，再乘以它，舍去小数；最后向上取整到 `multiple_of` 的倍数，返回 `int`。
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
    return solved_round_up(hidden, multiple_of)


check("hidden_width", solved_hidden_width, keep=False)

# %% [markdown] lang="en"
r"""
## Your function in SmolLM2

SmolLM2, the chat model in which your blocks run, has a d_model of 576. Its feed-forward networks get the width that your function gives for 576 (the package's function, until `check` accepts yours).

**Predict first.** Lesson 08 counted 2654208 numbers in one of them. Which width must come out?
"""

# %% [markdown] lang="zh"
r"""
## 用你的函数确定 SmolLM2 的宽度

你写的代码块最后都在聊天模型 SmolLM2 里运行。它的 d_model 是 576，所以由你的函数从 576 算出前馈网络的宽度（还没通过 `check` 的话，就先用课程自带的函数）。

**先猜一猜**：第 08 课数过，其中一个网络有 2654208 个数。宽度应当是多少？
"""

# %% tags=["answer"]
width = accepted("hidden_width", my_hidden_width)(576)
numbers = sum(parameter.numel() for parameter in SwiGLU(576, width).parameters())
print(Text(en="width {}, numbers in the network: {}", zh="宽度 {}，网络里有 {} 个数").format(width, numbers))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

1536, since 2654208 / (3 · 576) = 1536.

</details>

So your rule builds SmolLM2's networks to the last number. That its makers used it does not follow, for 1536 = 8d/3 needs no rounding, so any divisor of 1536 would do.

Gate and width together make the feed-forward network, and both are now yours. It takes each token by itself, though. How one token looks at another is lesson 10.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

1536，因为 2654208 / (3 · 576) = 1536。

</details>

可见，用你的规则造出的网络，与 SmolLM2 的一样大，一个数也不差。但这不等于它的作者用了这条规则，因为 1536 = 8d/3 本来就不用取整，换成 1536 的任何一个因数都行。

门和宽度都有了，前馈网络就由你写全了。不过，它只逐个处理词元。一个词元怎样看到别的词元，是第 10 课的事。
"""

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

No, because 4 · 2048 = 8192 fits too; a multiplier of 1.5 just undoes the two thirds, 1.5 · 8/3 = 4. One width does not decide between rules; look for published arguments, or for several sizes.

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

不会，因为 4 · 2048 = 8192 也对得上：1.5 · 8/3 = 4，系数 1.5 正好抵消了三分之二。单凭一个宽度，分不出用的是哪条规则；要找公布的取值，或者看几种规模的宽度。

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
* That costs less than a tile, which can be much in a narrow layer, or nothing.
* One width proves no rule, and a rule that may choose proves little: fix the numbers, then count.

## Read next

* [The LLaMA paper](https://arxiv.org/abs/2302.13971), section 2.2: the two thirds, in one sentence.
* [Meta's model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py): your function inside `FeedForward`.
* [NVIDIA's guide](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html) to matrix sizes on its GPUs.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 4d 的三分之二使参数量不变，其余的来自向上取整。
* 取整多出的不到一块：层窄时，这一块可能占得不少，也可能一点不多。
* 单凭一个宽度证明不了规则，可以随意挑数的规则也证明不了多少：先把数定好，再数对上几个。

## 接着读

* [LLaMA 的论文](https://arxiv.org/abs/2302.13971)，2.2 节：一句话讲了三分之二。
* [Meta 的 model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py)：你写的函数就在 `FeedForward` 里。
* [NVIDIA 的指南](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html)：GPU 喜欢什么样的矩阵大小。
"""
