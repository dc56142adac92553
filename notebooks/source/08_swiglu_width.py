# %% [markdown] lang="en"
r"""
# 08 Where does 11008 come from?

In LLaMA 7B the feed-forward networks widen a token from 4096 features to 11008 numbers. Why not 11000, or 4 · 4096? There is a rule that everybody quotes, and it does give 11008. But other rules give it just as well. So what would prove the one that is quoted?

Lesson 07's SwiGLU needs such a width in every model. Whoever designs the next model, or tells how an older one was made, has to know which of its numbers were chosen and which follow from others. Here you write the rule, see what its rounding is for and what it costs, and judge what a width proves. It takes about 55 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 08 11008 是怎么来的？

在 LLaMA 7B 里，前馈网络把一个词元的 4096 个特征加宽到 11008 个数。为什么不是 11000，也不是 4 · 4096？有一条规则，大家都在引用，算出来确实是 11008。可是别的规则同样算得出这个数。那么，要有什么证据，才能说用的就是这一条呢？

第 07 课里，你写了 SwiGLU；要把它放进模型，就得知道这个宽度。无论是设计下一个模型，还是弄清旧的模型是怎样设计的，都要分清哪些数是人选的，哪些数是由别的数算出来的。这一课里，你会写出这条规则，看看为什么要取整、代价多大，再判断一个宽度能证明什么。大约需要 55 分钟。
"""

# %%
from blocklab import SwiGLU
from blocklab_course import checked_or_reference, check
from blocklab_course.lessons.swiglu_width import (
    gated_width,
    published_widths,
    random_widths,
    rounding_tiles,
    width_detective,
)

# %% [markdown] lang="en"
r"""
## Two questions first

1. A SwiGLU layer computes `F.linear(silu(F.linear(x, w1)) * F.linear(x, w3), w2)`. x has 24 features, `w2` reads 64 numbers. Which shapes do the matrices have?
2. What are `17 // 5` and `int(1.3 * 17 / 5)`?

<details><summary>Answers</summary>

1. `w1` and `w3` are `(64, 24)`, `w2` is `(24, 64)`, because `F.linear` wants `(out, in)`.
2. 3 and 4. Both drop the fraction, of 3.4 and of 4.42.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. SwiGLU 层计算 `F.linear(silu(F.linear(x, w1)) * F.linear(x, w3), w2)`。x 有 24 个特征，送进 `w2` 的有 64 个数。三个矩阵的形状各是什么？
2. `17 // 5` 和 `int(1.3 * 17 / 5)` 各是多少？

<details><summary>答案</summary>

1. `w1` 和 `w3` 是 `(64, 24)`，`w2` 是 `(24, 64)`，因为 `F.linear` 要的是 `(out, in)`。
2. 3 和 4。两者都舍去小数，前者是 3.4，后者是 4.42。

</details>
"""

# %% [markdown] lang="en"
r"""
## Three matrices for two

Lesson 07 gave SwiGLU two thirds of the usual width, because a plain feed-forward network (MLP) has two matrices between d features (`d_model` in code) and 4d units, but SwiGLU has three between d and h. For equally many parameters

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

For d = 576, as in SmolLM2, that is 1536 exactly. For LLaMA's 4096 it is 10922.67, and there are no two thirds of a unit.

## Rounding up, in tiles

Then why 11008 and not 10922? A GPU likes some widths. In [a test on an H100](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md) matrix products with a width of 10922 reached 69% of the speed with 11008 (lesson 14 asks why). So one rounds up to a multiple.

How many blocks, or *tiles*, of m squares each do n squares need? The picture adds m − 1 squares and counts whole tiles.

**Predict first.** With m = 5, which n from 15 to 19 need 3 tiles, and which 4?
"""

# %% [markdown] lang="zh"
r"""
## 三个矩阵抵两个

第 07 课里，SwiGLU 的宽度只取平常的三分之二。这是因为，普通的前馈网络（MLP）有两个矩阵，在 d 个特征（代码里写作 `d_model`）与 4d 个单元之间变换，而 SwiGLU 有三个，在 d 与 h 之间变换。要让两者的参数一样多，就得有

$$3\,d\,h = 2 \cdot d \cdot 4d, \qquad h = \tfrac{8}{3}\,d$$

SmolLM2 的 d = 576，算出来正好是 1536。LLaMA 的 4096 却得到 10922.67，可是没有三分之二个单元这回事。

## 图解向上取整

那为什么是 11008，不是 10922？因为 GPU 偏爱某些宽度。[在一块 H100 上的一次测试](https://github.com/stas00/ml-engineering/blob/master/training/performance/README.md)里，宽度为 10922 的矩阵乘法，速度只有 11008 的 69%（原因第 14 课再问）。所以要向上取整到某个数的倍数。

n 个方格，每 m 个为一个分块（tile），需要几块？下图先添上 m − 1 个方格，再数有几个整块。

**先猜一猜**：m = 5 时，15 到 19 中，哪些 n 需要 3 块，哪些需要 4 块？
"""

# %% tags=["panel", "answer"]
rounding_tiles.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only 15 needs 3 tiles; 16 to 19 need 4.

</details>

The picture is the proof. If n fills q tiles exactly, the m − 1 new squares make no further one: q. If squares are left over, the new ones complete their tile, and what then remains, at most m − 2, makes no second: q + 1.

**Your turn, one line.** Return the width: the smallest multiple of `multiple_of` that is not below `n`. Both are integers, and `a // b` divides and drops the remainder.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

需要 3 块的只有 15，16 到 19 都需要 4 块。

</details>

证明就在图里。n 个方格正好填满 q 块时，添上的 m − 1 个不满一块，还是 q 块。如果有零头，添上的先把这一块填满，剩下的最多 m − 2 个，不满一块，所以是 q + 1 块。

**轮到你了**，只写一行：返回宽度，也就是 `multiple_of` 的倍数中，不小于 `n` 的最小的一个。两个参数都是整数；`a // b` 相除并舍去余数。
"""


# %% tags=["exercise"]
def my_round_up(n, multiple_of):
    return ...


check("round_up", my_round_up)

# %% [markdown] lang="en"
r"""
Stuck? Count as the picture does: add, then whole tiles.

<details><summary>The idea</summary>

With m − 1 squares added, $(n + m - 1)\;//\;m$ tiles are whole. A tile holds m numbers, so the width is m times that. With `//` all stays whole, however large n is.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？照图里那样数：先添，再数整块。

<details><summary>思路</summary>

添上 m − 1 个以后，整块有 $(n + m - 1)\;//\;m$ 个。一块有 m 个数，所以宽度等于块数乘以 m。用 `//`，不论 n 多大，结果都是整数。

</details>
"""


# %% tags=["solution"]
def solved_round_up(n, multiple_of):
    return multiple_of * ((n + multiple_of - 1) // multiple_of)


check("round_up", solved_round_up, keep=False)

# %% [markdown] lang="en"
r"""
## Detective

A multiple of which number? Suppose all you have are the widths of the first LLaMA's four sizes. You suspect that 8d/3 loses its fraction and is rounded up, as you just did, to a multiple of some number, `multiple_of`.

Each ruler is one size, with 8d/3 (no fraction) at 0 and marks at the multiples. The first mark at 0 or to its right is the rule's width, the frame the published one. With 64, 10922 becomes 10944, so the dot misses its frame. On the right, where the gray band is your `multiple_of`, each that fits gets a mark (up to 704).

**Predict first.** Which values of `multiple_of` turn 10922 into 11008: all divisors of 11008, some of them, all multiples of 256, or the powers of 2? Choose, drag, then set *try all* to *for 11008*.
"""

# %% [markdown] lang="zh"
r"""
## 侦探

取到哪个数的倍数呢？假设你手里只有第一代 LLaMA 四种规模的宽度。你猜想，规则是先舍去 8d/3 的小数，再像你刚才那样，向上取整到某个数 `multiple_of` 的倍数。

每种规模对应一把尺子，0 处是 8d/3（已舍去小数），刻度是各个倍数。0 处或它右边的第一个刻度，就是规则给出的宽度；方框是公布的宽度。例如取 64，10922 变成 10944，圆点就落在方框外面。右图的灰条是你选的 `multiple_of`，对得上的都记下来（到 704 为止）。

**先猜一猜**：哪些 `multiple_of` 能让 10922 变成 11008？是 11008 的所有因数、一部分因数，是 256 的所有倍数，还是 2 的幂？先选，再拖动滑块，最后把“全试一遍”设为“只看 11008”。
"""

# %% tags=["panel", "guess"]
width_detective.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Some divisors of 11008 do, 128, 172, 256, 344, 688 and four larger ones that the panel does not try. A `multiple_of` must divide 11008, and it must be larger than the gap, 11008 − 10922 = 86, because otherwise the multiple before would be wide enough.

</details>

**Predict first.** How many values of `multiple_of` give all four widths? The panel shows them with *for all four*; the cell tries all up to 29999 with your function (ours, until `check` accepts yours).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

能得到 11008 的是它的一部分因数，即 128、172、256、344、688，还有四个更大的，面板没有试到。`multiple_of` 必须整除 11008，还必须大于差距 11008 − 10922 = 86，否则前一个倍数就够宽了。

</details>

**先猜一猜**：四个宽度都能得到的 `multiple_of` 有几个？在面板里选“四个都看”，就能看到；下面的单元格用你的函数一直试到 29999（还没通过 `check` 的话，就先用课程自带的）。
"""

# %% tags=["answer"]
published = {4096: 11008, 5120: 13824, 6656: 17920, 8192: 22016}
round_up = checked_or_reference("round_up", my_round_up)
fits = {d: {m for m in range(1, 30000) if round_up(8 * d // 3, m) == width} for d, width in published.items()}
for d, width in published.items():
    print(d, "→", width, sorted(fits[d]))
print(f"{set.intersection(*fits.values()) = }")

# %% tags=["panel", "answer"]
width_detective.still()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One, 256. It must divide all four widths, so it divides their greatest common divisor, 256. And it must be larger than every gap; the largest is 171, as in 13824 − 13653, and no smaller divisor of 256 is above that.

</details>

So if the rule is of this kind, two thirds and then rounding up, four widths settle what one does not. And [Meta's code](https://github.com/meta-llama/llama/blob/main/llama/model.py) confesses: `hidden_dim`, which comes in as `4 * args.dim`, becomes `int(2 * hidden_dim / 3)`, without its fraction, and the default of `multiple_of` is 256. (Why 256, it does not say. In the H100 test 10944, a multiple of 64, not of 256, was as fast; but LLaMA was trained on A100s.)

## What the rounding costs

What rounding adds, nobody asked for. How much is it? Above are the last tiles, and hatched what is added. Below, the matrices lie end to end, so lengths are parameters. (The third slider's turn comes below.)

**Predict first.** SwiGLU has 0.8% more parameters than the MLP at d_model = 4096, and 3.1% more at 1024. How many more at 512, and how many at 768?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有一个，就是 256。它必须整除全部四个宽度，所以整除它们的最大公因数 256；它还必须大于每一个差距，最大的差距是 171，例如 13824 − 13653，而 256 的其他因数都没有这么大。

</details>

所以，如果规则确实是先取三分之二、再向上取整，那么一个宽度定不下的，四个宽度合起来就能定下。[Meta 的代码](https://github.com/meta-llama/llama/blob/main/llama/model.py)印证了这一点：传入的 `hidden_dim` 是 `4 * args.dim`，先变成 `int(2 * hidden_dim / 3)`，小数就舍去了；`multiple_of` 的默认值是 256。（为什么是 256，代码没有说。在 H100 的那次测试里，10944 是 64 的倍数，不是 256 的倍数，却一样快；不过 LLaMA 是在 A100 上训练的。）

## 取整的代价

取整多出来的单元，谁也没有要过。它们有多少？上图是最后几块，斜线部分就是多出来的；下图把各个矩阵首尾相接，所以长度就是参数量。（第三个滑块后面再用。）

**先猜一猜**：d_model = 4096 时，SwiGLU 的参数比 MLP 多 0.8%；1024 时多 3.1%。512 时多多少？768 时呢？
"""

# %% tags=["panel"]
gated_width.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

12.5% more at 512, none at 768, where 8d/3 = 2048 is 8 tiles exactly.

</details>

Rounding adds less than a tile, which weighs more in a narrow layer; a width can also be lucky.

But some widths are far above 8d/3, so the rule has one number more, the *multiplier* of the third slider (in code `None` where there is none). Llama 2's 70B model has 1.3. [Its paper](https://arxiv.org/abs/2307.09288) tells of this number in a test at 30B: there attention saves parameters (grouped queries, lesson 12), and a wider layer makes up for them. Llama 3 8B has d_model 4096, `multiple_of` 1024 and width 14336: which multiplier? Drag.

<details><summary>Answer</summary>

On the slider, 1.3 alone. But any number from 1.22 to 1.31 gives this width; that it is 1.3 we know from Meta.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

512 时多 12.5%；768 时一点不多，因为 8d/3 = 2048，正好是 8 块。

</details>

取整多出的不到一块。层越窄，一块所占的比例越大，所以最坏的情形更坏，但也可能碰巧一点不多。

可是有些宽度远大于 8d/3，所以规则还有一个参数，就是第三个滑块，叫作**系数**（multiplier）；不用它时，代码里写 `None`。Llama 2 的 70B 模型用了 1.3，[论文](https://arxiv.org/abs/2307.09288)在 30B 的一次试验里说到这个数：注意力省下了一些参数（分组查询，第 12 课），就加宽这一层来补上。Llama 3 8B 的 d_model 是 4096，`multiple_of` 是 1024，宽度是 14336，系数是多少？拖动滑块看看。

<details><summary>答案</summary>

滑块上只有 1.3 对得上。可是从 1.22 到 1.31，哪个数都得到这个宽度；确知是 1.3，是因为 Meta 公布了。

</details>
"""

# %% [markdown] lang="en"
r"""
## Exercise: Meta's rule

Write the whole rule. It begins with 8d/3, drops each fraction as soon as it arises, and returns an `int`. But does `multiplier`, unless it is `None`, come before the rounding up or after it? Llama 2's 70B model tells you: its d_model is 8192, `multiple_of` 4096, `multiplier` 1.3, and the width 28672.
"""

# %% [markdown] lang="zh"
r"""
## 练习：Meta 的规则

请写出整条规则。从 8d/3 算起，小数一出现就舍去，返回 `int`。`multiplier` 不是 `None` 时还要乘上它，可是该在向上取整之前乘，还是之后乘？看看 Llama 2 的 70B 模型，你就知道了。它的 d_model 是 8192，`multiple_of` 是 4096，`multiplier` 是 1.3，宽度是 28672。
"""


# %% tags=["exercise"]
def my_hidden_width(d_model, multiple_of=256, multiplier=None):
    return ...


check("hidden_width", my_hidden_width)

# %% [markdown] lang="en"
r"""
Stuck? The line below the picture in *What the rounding costs* shows each step.

<details><summary>The idea</summary>

Rounded first, 70B would get 24576 · 1.3 = 31948.8, which is no multiple of 4096. So one multiplies first. Drop each fraction as soon as it arises, because one that is carried along can cost a whole tile at the end.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“取整的代价”一节里，图下那行字列出了每一步。

<details><summary>思路</summary>

如果先取整，70B 会得到 24576 · 1.3 = 31948.8，连 4096 的倍数都不是，所以要先乘系数。小数一出现就舍去，因为一直带着它，最后可能多出一整块。

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
## Your function, Meta's models

For 13 models Meta published `multiple_of`, and for seven of these a multiplier, twice just 1.0. Your function has to give all thirteen widths.

**Predict first.** A function that rounds first and multiplies afterwards gets five of the thirteen wrong. How many of these five widths look right all the same, being multiples of their `multiple_of`?
"""

# %% [markdown] lang="zh"
r"""
## 用你的函数算 Meta 的模型

有 13 个模型，Meta 公布了 `multiple_of`，其中七个还公布了系数，有两个不过是 1.0。这十三个宽度，你的函数必须全都算对。

**先猜一猜**：先取整、后乘系数的函数，十三个里会算错五个。这五个错的宽度里，有几个看上去并没有错，仍是各自 `multiple_of` 的倍数？
"""

# %% tags=["answer"]
rule = checked_or_reference("hidden_width", my_hidden_width)
metas = [model for model in published_widths.published_models() if model.stated]
for model in metas:
    d, m, factor = model.d_model, model.multiple_of, model.multiplier
    late = int((factor or 1) * rule(d, m))
    print(f"{model.name:20} {model.hidden}  {rule(d, m, factor) = }  {late = }  {late / m = :.2f}")
print(f"SmolLM2: {rule(576) = }, {sum(w.numel() for w in SwiGLU(576, rule(576)).parameters()) = }")


# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One, 8448 = 33 · 256 for Llama-3.2 1B. The other four are no multiples, so one sees the mistake at once.

</details>

Yours gives all thirteen, and builds SmolLM2's networks to the last number, the 2654208 of lesson 07. That its makers used it does not follow, for 8d/3 is 1536 exactly, so any of its divisors gives the same as `multiple_of`. What, then, does a hit prove?

## 44 models

These 44 models are a choice, mostly from LitGPT's list (six, Google's Gemmas, have GELU gates). *As published* hands your function Meta's arguments for its 13, and for the other 31 the defaults. *Whatever fits* looks at each width first. Then it picks the pair that comes closest, from 7 powers of 2 (64 to 4096) and 26 multipliers (0.5 to 3.0 in steps of 0.1), so it has 182 pairs for each model.

**Predict first.** How many of them does the rule find *as published*, how many with *whatever fits*?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

一个，就是 Llama-3.2 1B 的 8448 = 33 · 256。另外四个不是倍数，一眼就能看出错来。

</details>

你的函数十三个全对。用它造出的网络，与 SmolLM2 的也一样大，正是第 07 课数过的 2654208 个数，一个也不差。但这不等于它的作者用了这条规则，因为 8d/3 正好是 1536，`multiple_of` 取它的任何一个因数，结果都一样。那么，对上了又说明什么呢？

## 44 个模型

这 44 个模型大多挑自 LitGPT 的列表，其中六个（Google 的 Gemma）的门用的是 GELU。选“用公布的取值”，Meta 的 13 个模型就把公布的数交给你的函数，其余 31 个用默认值。选“凑出来的取值”，就先看每个宽度，再挑结果最接近的一对。2 的幂有 7 个（64 到 4096），系数有 26 个（0.5 到 3.0，每隔 0.1 一个），所以每个模型有 182 对可挑。

**先猜一猜**：选“用公布的取值”，规则能对上几个？选“凑出来的取值”呢？
"""

# %% tags=["panel"]
published_widths.panel(rule)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It finds 21 as published, those 13 and 8 others; with whatever fits 38.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用公布的取值，对上 21 个，就是那 13 个，加上另外 8 个；用凑出来的取值，对上 38 个。

</details>
"""

# %% tags=["panel", "answer"]
published_widths.panel(rule).still(arguments="published")

# %% tags=["answer"]
published_widths.panel(rule).still(arguments="fitted")

# %% [markdown] lang="en"
r"""
Is 38 the better result? Meta's 13 prove nothing either way, because their widths came out of this very rule. Of the 31 others *as published* finds 8, *whatever fits* 25. It even finds Gemma 7B, whose width is just 8 times d_model, because 14 of the 182 pairs happen to give that.

So try both on widths that have nothing to do with the rule. Each of the 31 models gets a random one, from 2 to 8 times its d_model and as round as the real one (a multiple of the same power of 2, up to 4096), 100 times over.

**Predict first.** How many of 31 random widths does *whatever fits* find on average, and how many *as published*? (Lines mark the 25 and the 8.)
"""

# %% [markdown] lang="zh"
r"""
38 个就更好吗？Meta 的 13 个证明不了什么，因为它们的宽度就是用这条规则算出来的，对上是理所当然。要看另外 31 个。“用公布的取值”对上 8 个，“凑出来的取值”对上 25 个，其中有 Gemma 7B，它的宽度不过是 d_model 的 8 倍，182 对里却有 14 对凑得出来。

所以，不妨拿与规则毫不相干的宽度来考考这两种办法。给这 31 个模型各随机挑一个宽度，在 d_model 的 2 倍到 8 倍之间，而且和真正的宽度一样“整”，也就是同一个 2 的幂（最大到 4096）的倍数。这样挑 100 次。

**先猜一猜**：31 个随机的宽度，“凑出来的取值”平均能对上几个？“用公布的取值”呢？图中的两条竖线标出了 25 和 8。
"""

# %% tags=["panel", "answer"]
random_widths.panel(rule)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

*Whatever fits* finds 25 on average, *as published* 1.

</details>

So 25 are what chance gives, because with 182 pairs at hand the rule reaches most round widths. The 8 are more than chance gives, and nothing was fitted. But how much more hangs on the range: drawn from 2 to 3 times d_model, 6 come by chance. And look at the eight. Three need no rounding (8d/3 is a multiple of 256), and four have d_model and width of a LLaMA, perhaps just copied. Only TinyLlama, 2048 → 5632, puts the default to the test on a new size. The more a rule may choose, the less a hit proves, so only numbers fixed beforehand test it.

## What you will meet elsewhere

* Hugging Face's `config.json` keeps only the result, `"intermediate_size": 11008`.
* [OLMo 7B's file](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml) says `mlp_hidden_size: 22016`, because one matrix makes value and gate, and both count.
* [LitGPT's list](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py) gives the width of one *expert*, where a model has many narrow feed-forward networks and uses a few for each token. In Qwen3-30B-A3B (d_model 2048) it is 768, and 8 work at a time, 6144 in all or 3 times d_model. Neither number follows 8d/3.

Gate and width, and so the feed-forward network, are now yours. It takes each token by itself; how one looks at another is lesson 09.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

“凑出来的取值”平均对上 25 个，“用公布的取值”平均 1 个。

</details>

所以，对上 25 个，和碰巧一样，因为有 182 对可挑时，大多数整齐的宽度，规则都凑得出来。那 8 个比碰巧的多，而且什么也没有凑。不过，多出多少，要看范围怎样取：只在 d_model 的 2 倍到 3 倍之间挑，碰巧也能对上 6 个。还要看看这八个是哪些。三个不用取整（8d/3 正好是 256 的倍数），四个的 d_model 和宽度都与某个 LLaMA 相同，也许是照搬的。真正拿新的规模检验了默认值的，只有 TinyLlama 一个，2048 → 5632。一条规则留给人挑的余地越大，“对上了”就越说明不了问题；所以只有事先把数定好，才算检验了规则。

## 在别处会遇到什么

* Hugging Face 的 `config.json` 只写结果 `"intermediate_size": 11008`。
* [OLMo 7B 的配置](https://github.com/allenai/OLMo/blob/main/configs/official/OLMo-7B.yaml)写着 `mlp_hidden_size: 22016`，因为它用一个矩阵同时算出值和门，两者都算在内。
* 有的模型有许多较窄的前馈网络，每个词元只用其中几个，这样的一个叫作**专家**（expert）。[LitGPT 的列表](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py)里写的是一个专家的宽度。Qwen3-30B-A3B 的 d_model 是 2048，专家宽 768，每次用 8 个，合计 6144，是 d_model 的 3 倍。哪个数都不符合 8d/3。

门和宽度都有了，前馈网络就由你写全了。不过，它只逐个处理词元。一个词元怎样看到别的词元，是第 09 课的事。
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

不会。4 · 2048 = 8192 也对得上，因为 1.5 · 8/3 = 4，系数 1.5 正好抵消了三分之二。单凭一个宽度，分不出用的是哪条规则；要找公布的取值，或者看几种规模的宽度。

</details>
"""

# %%
width = rule(5120)
print(f"1. {width // 256 = }, {width = }, {3 * 5120 * width = }")
print(f"2. {int(1.3 * rule(4096, 1024)) = }, {rule(4096, 1024, 1.3) = }")
print(f"3. {rule(2048, 256, 1.5) = }, {4 * 2048 = }")


# %% [markdown] lang="en"
r"""
## In short

* Two thirds of 4d keep the number of parameters; the 86 from 10922 to 11008 come from rounding up.
* That costs less than a tile, which can be much in a narrow layer, or nothing.
* One width proves no rule, and a rule that may choose proves little. So fix the numbers, then count.

## Read next

* [The LLaMA paper](https://arxiv.org/abs/2302.13971), section 2.2: the two thirds, in one sentence.
* [Meta's model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py): your function inside `FeedForward`.
* [NVIDIA's guide](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html) to matrix sizes on its GPUs.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 取 4d 的三分之二，参数量不变；11008 比 10922 多出的 86 个来自向上取整。
* 取整多出的不到一块；层窄时，它可能占得不少，也可能碰巧是零。
* 单凭一个宽度证明不了规则，可以随意挑数的规则也证明不了多少，所以要先把数定好，再数对上几个。

## 接着读

* [LLaMA 的论文](https://arxiv.org/abs/2302.13971)，2.2 节：一句话讲了三分之二。
* [Meta 的 model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py)：你写的函数就在 `FeedForward` 里。
* [NVIDIA 的指南](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html)：GPU 喜欢什么样的矩阵大小。
"""
