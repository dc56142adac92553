# %% [markdown] lang="en"
r"""
# 05 LayerNorm, exactly.

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

for each token alone, over its d features; ε is $10^{-5}$ unless said otherwise, PyTorch's default. Every symbol in it can be got wrong, and some wrong versions pass a quick test. One of the source notes computes another layer, compares it with PyTorch, sees differences of 0.00007, and says that this comes closer to the original.

After this lesson you can say where ε stands and from which input size on it is felt, derive where those 0.00007 come from, and say what a test needs to find such a mistake. It takes about 30 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 05 一丝不差的层归一化

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

这是层归一化（LayerNorm）的公式：每个词元单独计算，只沿自己的 d 个特征求均值和有偏方差；ε 默认取 $10^{-5}$，与 PyTorch 相同。公式里的每一处都可能写错，而有些错误，随手写的测试看不出来。有一篇原始笔记算的其实是另一种层，拿它和 PyTorch 比，差别有 0.00007，笔记却说这样更接近原版。

学完这一课，你能说出 ε 放在哪里、输入小到什么程度它才起作用；能推导出那 0.00007 从何而来；还能说出一个测试要有什么，才能发现这样的错误。大约需要 30 分钟。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import layer_norm
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.layer_norm import blind_comparison, trained_scales
from blocklab.real_models import minilm_layer_norms

# %% [markdown] lang="en"
r"""
## Two questions first

1. Which variance does `x.var()` compute, the biased or the unbiased one, and with which one does BatchNorm normalize?
2. In lesson 00, at *s* = 0.003, the bars have lost about a quarter of their length. Which two numbers are about equal there?

<details><summary>Answers</summary>

1. The unbiased one, divided by the number of values minus one; BatchNorm normalizes with the biased one, `correction=0`.
2. The variance of the input and ε, $10^{-5}$: with $s = 0.003$ the variance of s · [1, 2, 3, 4] is $1.25 \cdot 0.003^2 \approx 10^{-5}$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. `x.var()` 算的是有偏方差还是无偏方差？批量归一化（BatchNorm）用哪一种来归一化？
2. 第 00 课里，*s* = 0.003 时，柱子短了四分之一左右。那时，哪两个数差不多大？

<details><summary>答案</summary>

1. 无偏方差，除以的是数值个数减一；批量归一化用的是有偏方差，即 `correction=0`。
2. 输入的方差和 ε，即 $10^{-5}$：$s = 0.003$ 时，s · [1, 2, 3, 4] 的方差是 $1.25 \cdot 0.003^2 \approx 10^{-5}$。

</details>
"""

# %% [markdown] lang="en"
r"""
## Two rows, to the last digit

One note says that LayerNorm gives every token "mean 0, standard deviation 1". It shows two rows, the second ten times the first, and two equal results. With more digits:
"""

# %% [markdown] lang="zh"
r"""
## 两行数，算到最后一位

有一篇笔记说，层归一化使每个词元“均值为 0，标准差为 1”。它算了两行数，第二行是第一行的十倍，打印出来的两行结果相同。我们多看几位：
"""

# %% claims=["E37"]
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]], dtype=torch.float64)  # (N, d)
y = layer_norm(x, (4,))
variance = x.var(-1, correction=0)
print([f"{v:.8f}" for v in y[:, 3]])
print([f"{v:.8f}" for v in y.var(-1, correction=0)])
print([f"{v:.8f}" for v in variance / (variance + 1e-5)])

# %% [markdown] lang="en"
r"""
The rows differ from the sixth digit on, and the variance of the output is not 1 but $\sigma^2 / (\sigma^2 + \varepsilon)$. (And γ and β may then make anything of it.) This is the answer that lesson 00 owed: ε knows the absolute size of the input. At *s* = 0.001 the variance is an eighth of ε, and $\sqrt{1 / (1 + 8)}$ is a third.

**Your turn, one line.** For which standard deviation σ of the input is the output only *half* as large as it would be without ε? Put σ in place of `None`.
"""

# %% [markdown] lang="zh"
r"""
两行从第六位有效数字起就不同了；输出的方差也不是 1，而是 $\sigma^2 / (\sigma^2 + \varepsilon)$。（之后 γ 和 β 还可以把均值和标准差变成别的数。）第 00 课留下的问题，这就有了答案：知道输入绝对大小的，是 ε。*s* = 0.001 时，方差是 ε 的八分之一，而 $\sqrt{1 / (1 + 8)}$ 正是三分之一。

**轮到你了**，只写一行：输入的标准差 σ 取多少时，输出恰好是没有 ε 那种情况的**一半**？请把 `None` 换成 σ 的值。
"""

# %% tags=["exercise"]
my_sigma = None

check("half_size", my_sigma)

# %% tags=["solution"]
solved_sigma = (1e-5 / 3) ** 0.5

check("half_size", solved_sigma)

# %% [markdown] lang="en"
r"""
## The blind test

Four wrong formulas beside LayerNorm. (The code in [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/), which has been copied very often, makes two of the mistakes at once: std + ε, and d − 1.) The input is 20 evenly spaced numbers with standard deviation σ. The vertical axis shows how far the result is from LayerNorm's at most, as a share of the standardized input: at 1 it is off by as much as that input itself. Dotted lines mark the σ of `torch.rand` and `torch.randn`.

**Predict first.** One formula divides by std + ε, that is, ε stands outside the root. For which σ is it exactly right? Choose, then drag σ to the left: the curves come with it. Follow the orange one.
"""

# %% [markdown] lang="zh"
r"""
## 盲测

下面把四种错误的公式和层归一化放在一起。（[The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) 的代码流传很广，它一次犯了其中两个错误：标准差 + ε，以及除以 d − 1。）输入是 20 个等距的数，标准差为 σ。纵轴是两者之差与标准化输入之比的最大值；1 表示差得和这个输入本身一样多。点线标出 `torch.rand` 和 `torch.randn` 的 σ。

**先猜一猜**：有一种公式除以“标准差 + ε”，也就是把 ε 放在根号外面。σ 取多少时，它恰好是对的？先选，再把 σ 往左拖：拖到哪里，曲线就画到哪里。看橙色的那条。
"""

# %% tags=["panel", "guess"]
blind_comparison.panel()

# %% [markdown] lang="en"
r"""
The orange curve drops to 0 at one place, σ = (1 − ε) / 2: there the two denominators are the same number. `torch.rand`, with σ = 0.29, lies beside it, and the formula is off by 0.000025 only. At σ = 0.00016 it is off by 0.89: it returns 18 times what LayerNorm returns. (Farther left the curve falls because LayerNorm's own output shrinks.) **A test can pass because of its data.** *Divided by d − 1* is another kind of mistake: from σ = 0.01 on it is off by the same factor, $\sqrt{(d - 1) / d}$, here 2.5%.

In float16 all formulas are computed in float16, and there is a blue curve for the right one: it is off by up to 0.001, float16's rounding. Where a number lies 256 or more from the mean, its square is infinite and the row is lost, here from σ = 155 on. So LayerNorm is computed in float32, and the result converted back.

## Where do the 0.00007 come from?

Write $z = (x - \mu) / \sigma$, without ε. For a small $t$, $1 / (1 + t) \approx 1 - t$ and $1 / \sqrt{1 + t} \approx 1 - t / 2$. So where σ² is far above ε, std + ε gives $z\,(1 - \varepsilon / \sigma)$ and LayerNorm $z\,(1 - \varepsilon / (2\sigma^2))$. Their difference:

$$z\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$

The note's numbers cannot be drawn again, for it set no random seed. Four rows of the same kind; printed are the largest difference of std + ε from torch, what the derivation leaves of it, and the largest difference of the right formula, all in units of 0.0001:
"""

# %% [markdown] lang="zh"
r"""
橙色曲线在一处直落到 0，即 σ = (1 − ε) / 2：那里的两个分母是同一个数。`torch.rand` 的 σ = 0.29，就在它旁边，这个公式在那里只差 0.000025。而在 σ = 0.00016 处，它差了 0.89：给出的结果是层归一化的 18 倍。（再往左，曲线下降，只是因为层归一化自己的输出也在缩小。）**测试能通过，有时只是数据选得巧**。“除以 d − 1”是另一类错误：从 σ = 0.01 起，它总是差同一个倍数 $\sqrt{(d - 1) / d}$，这里是 2.5%。

切换到 float16，所有公式都用 float16 计算，正确的公式也画成一条蓝色曲线：它的误差最大到 0.001，这是 float16 的舍入。只要有一个数与均值相差 256 以上，差的平方就溢出成无穷大，这一行就全坏了，这里从 σ = 155 开始。所以，层归一化要用 float32 计算，算完再转回去。

## 那 0.00007 从哪里来？

记 $z = (x - \mu) / \sigma$（不含 ε）。当 $t$ 很小时，$1 / (1 + t) \approx 1 - t$，$1 / \sqrt{1 + t} \approx 1 - t / 2$。所以，只要 σ² 远大于 ε，“标准差 + ε”就给出 $z\,(1 - \varepsilon / \sigma)$，层归一化给出 $z\,(1 - \varepsilon / (2\sigma^2))$，两者之差是：

$$z\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$

笔记没有固定随机种子，那些数已无法重现；下面换四行同样的随机数。依次打印“标准差 + ε”与 torch 的最大差别、推导之后还剩下的部分、正确公式的最大差别，都以 0.0001 为单位：
"""

# %% claims=["E30", "E31", "E32"]
x = torch.rand(4, 20)  # float32, as in the note
mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
outside = (x - mean) / (std + 1e-5) - F.layer_norm(x, (20,))
derived = (x - mean) / std * 1e-5 * (1 - 2 * std) / (2 * std**2)
inside = (x - mean) / (std.square() + 1e-5).sqrt() - F.layer_norm(x, (20,))
print(*(f"{1e4 * d.abs().max():.1f}" for d in (outside, outside - derived, inside)))
note = torch.tensor([7.2598e-05, -7.7128e-05])  # two numbers of its printout
print(f"{note.max():.1e} {note.abs().max():.1e}")

# %% [markdown] lang="en"
r"""
The derivation explains the difference: at σ = 0.29 the factor is 0.000025 per unit of z, more in the row with the smallest σ, and z reaches 1.8. What is left is float32's rounding, by which the right formula differs, too.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| the largest deviation is 0.0000726 | That is the largest *signed* one. In the same printout stands −0.0000771: take `abs()` first, as in the second line above. |
| the standard deviation instead of the variance comes closer to the original | Not in this place: its difference is that of the first number above, the right formula's that of the last. |
| $\hat{x}$ without an index, a mean over N | It is $\hat{x}_i$, one per feature; N is not the batch here but d, the number of features. |
| the argument is called `normalized_shape` | Their class takes a tuple, and averages over the last axis only. |

The last two, tested: feature by feature the formula is torch's for `(5,)`, and it is not for `(3, 5)`.
"""

# %% [markdown] lang="zh"
r"""
推导解释了这个差别：σ = 0.29 处，每一单位的 z 差 0.000025，σ 最小的一行差得更多，而 z 最大到 1.8。剩下的是 float32 的舍入误差，正确的公式也差这么多。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 最大偏差是 0.0000726 | 这是**带符号**的最大值。同一份输出里还有 −0.0000771：应当先取 `abs()`，见上面第二行。 |
| 用标准差代替方差，更接近原版 | ε 放在根号外时，不成立：它的差别是上面的第一个数，正确公式的差别是最后一个数。 |
| $\hat{x}$ 不带下标，求和的个数写作 N | 应写 $\hat{x}_i$，每个特征一个；这里的 N 不是批量大小，而是特征数 d。 |
| 参数叫 `normalized_shape` | 传入元组也不报错，却只沿最后一个轴求均值。 |

检验最后两条：逐个特征按公式计算，结果与 torch 对 `(5,)` 的结果一致，与 `(3, 5)` 的不一致。
"""

# %% claims=["E33", "E34"]
x, y = torch.randn(2, 3, 5), torch.empty(2, 3, 5)
for i in range(5):  # one feature after the other
    y[..., i] = (x[..., i] - x.mean(-1)) / (x.var(-1, correction=0) + 1e-5).sqrt()
print(torch.allclose(y, F.layer_norm(x, (5,)), atol=1e-5), torch.allclose(y, F.layer_norm(x, (3, 5)), atol=1e-1))

# %% [markdown] lang="en"
r"""
What would have found the mistake? A tolerance, to begin with: the note has none, and with `assert_close`'s own its data would do. And several sizes of input, with random γ and β. Each line: the size, how far std + ε is off, and whether a tolerance of 0.001 and one of 0.00001 find it:
"""

# %% [markdown] lang="zh"
r"""
怎样才能发现这个错误？首先要有容差：笔记没有容差，其实用 `assert_close` 的默认容差，笔记那组数据就能查出来。还要有几种大小的输入，以及随机的 γ 和 β。下面每行依次是：输入的大小、“标准差 + ε”差多少、容差为 0.001 和 0.00001 时是否查得出：
"""

# %% claims=["E35"]
gamma, beta = torch.randn(2, 64)
for size in (1e-4, 1e-2, 0.29, 1.0, 100.0):
    x = size * torch.randn(16, 64)
    y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-5) * gamma + beta
    off = (y - F.layer_norm(x, (64,), gamma, beta)).abs().max().item()
    print(f"{size:6} {off:.0e} {off > 1e-3} {off > 1e-5}")

# %% [markdown] lang="en"
r"""
## What training makes of γ

γ starts at 1. MiniLM is a trained Transformer with 13 LayerNorms, one after the embedding and two in each of its 6 layers, and their γ come with this package. **Predict first:** are they above or below 1 now, and do all features keep the same one?
"""

# %% [markdown] lang="zh"
r"""
## 训练把 γ 变成了什么

γ 从 1 开始。MiniLM 是一个训练好的 Transformer，有 13 个层归一化：嵌入之后有一个，6 层里每层两个。它们的 γ 随本课程的包一起提供。**先猜一猜**：现在它们比 1 大，还是比它小？所有特征的 γ 都一样吗？
"""

# %% tags=["panel"]
gammas = [value for name, value in minilm_layer_norms().items() if name.endswith("weight")]
trained_scales.panel(gammas)

# %% [markdown] lang="en"
r"""
Nearly all are below 1; their means lie between 0.5 and 0.75. The norms after attention (1, 3, 5 …) have a few features far above the others, up to 1.55. So after a trained LayerNorm the standard deviation is not 1 either.

In the last norm 3 of the 384 γ are 0, up to a billionth. Does the model not use these features? Their places by size among the 384, the largest γ first:
"""

# %% [markdown] lang="zh"
r"""
几乎都小于 1：各层的均值在 0.5 和 0.75 之间。注意力之后的那些（第 1、3、5 个……）有少数特征的 γ 远大于其他，最大到 1.55。所以，训练好的层归一化，输出的标准差也不是 1。

最后一个归一化层里，384 个 γ 中有 3 个与 0 只差不到十亿分之一。模型是不是不用这几个特征？下面是它们按大小在 384 个 γ 里排第几，从最大的数起：
"""

# %%
behind = {Text(en="attention", zh="注意力"): gammas[1::2], Text(en="feed-forward", zh="前馈网络"): gammas[2::2]}
told = Text(en="feature {}, behind {}: places {}", zh="特征 {}，{}之后：依次排第 {}")
for feature in gammas[-1].abs().topk(3, largest=False).indices.sort().values.tolist():
    for block, norms in behind.items():
        print(told.format(feature, block, [int((gamma > gamma[feature]).sum()) + 1 for gamma in norms]))

# %% [markdown] lang="en"
r"""
It does. Only the *output* drops the features 127, 223 and 319. Inside, in the later layers, they are among the largest behind attention (127 is the largest of norm 9, 223 the second of norms 5, 7 and 9), and among the smallest behind the feed-forward network.

## Exercise: LayerNorm

Write all of it. `normalized_shape` is a tuple with the sizes of the last axes; `weight` is γ and `bias` is β, either may be `None`.
"""

# %% [markdown] lang="zh"
r"""
还在用。特征 127、223、319 只是不进入**输出**。在模型内部靠后的几层里，注意力之后，它们的 γ 反而名列前茅（第 9 个归一化层里 127 最大，第 5、7、9 个里 223 第二）；前馈网络之后，却几乎最小。

## 练习：层归一化

请写出完整的函数。`normalized_shape` 是一个元组，即最后几个轴的大小；`weight` 是 γ，`bias` 是 β，两者都可以是 `None`。
"""


# %% tags=["exercise"]
def my_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ...


check("layer_norm", my_layer_norm)

# %% [markdown] lang="en"
r"""
Stuck? Count the axes from the end, as in lesson 02, and remember which variance it is. If `check` praises you and adds advice on float16, that is the blue curve of the panel. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？像第 02 课那样从最后一个轴往前数，再想一想，用的是有偏方差还是无偏方差。如果 `check` 说你对了，又建议你注意 float16，那就是面板里的蓝色曲线。参考答案折叠在下面，后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    wide = x.float() if x.dtype == torch.float16 else x
    centred = wide - wide.mean(axes, keepdim=True)
    y = centred / (centred.square().mean(axes, keepdim=True) + eps).sqrt()
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    return y.to(x.dtype)


check("layer_norm", solved_layer_norm)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A test compares a new LayerNorm with torch's on `torch.randn(16, 64)`. Every number is about 0.8% too small. Which mistake is it, and why 0.8%?

<details><summary>Answer</summary>

The variance is divided by d − 1: $\sqrt{63 / 64} = 0.992$. As long as σ² is far above ε, the ratio is the same for every number.

</details>

2. Another one agrees to 0.00003 on `torch.randn(16, 64)`. On very quiet input, σ about 0.001, its numbers are three times too large. What do you suspect, and which line shows it?

<details><summary>Answer</summary>

ε outside the root, or forgotten, or far too small. Feed it `1e-3 * torch.randn(16, 64)` and divide by torch's result. With ε added twice the numbers would come out too small.

</details>

3. You may choose one input for a test of LayerNorm: `torch.rand(4, 20)` with an absolute tolerance of 0.001, or `3e-4 * torch.randn(2, 3, 20)` with the same. Which one, and which of the four wrong formulas does it find?

<details><summary>Answer</summary>

The second. It finds std + ε, no ε and ε twice, and, having three axes, a wrong axis; d − 1 is off by at most 0.0002 there and slips through. The first finds d − 1 only. Better: both.

</details>

The next cell shows the ratios of the first two answers, the one after it how far the four formulas are off on both inputs of the third.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 有人用 `torch.randn(16, 64)` 比较新写的层归一化和 torch 的，每个数都偏小约 0.8%。是哪种错误？为什么是 0.8%？

<details><summary>答案</summary>

求方差时除以了 d − 1：$\sqrt{63 / 64} = 0.992$。只要 σ² 远大于 ε，每个数的比值都一样。

</details>

2. 另一个人写的层归一化，在 `torch.randn(16, 64)` 上只差 0.00003。换成很小的输入，σ 约为 0.001，它的结果却是正确值的三倍。你怀疑什么？用哪一行代码可以看出来？

<details><summary>答案</summary>

ε 在根号外面，或者漏掉了，或者取得太小。喂给它 `1e-3 * torch.randn(16, 64)`，再除以 torch 的结果。要是 ε 加了两次，结果会偏小。

</details>

3. 测试层归一化时，只许选一种输入：`torch.rand(4, 20)`，绝对容差 0.001；或者 `3e-4 * torch.randn(2, 3, 20)`，容差相同。选哪一种？它能查出四种错误公式中的哪几种？

<details><summary>答案</summary>

选第二种。它能查出“标准差 + ε”“没有 ε”和“ε 加了两次”；它有三个轴，所以也能查出轴写错。“除以 d − 1”在那里最多差 0.0002，会漏过；第一种却只能查出“除以 d − 1”。最好是两种都用。

</details>

下一个单元格给出前两个答案里的比值；再下一个给出第三题的两种输入上，四种公式各差多少。
"""

# %%
x = torch.randn(16, 64, dtype=torch.float64)
wrong = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
print(f"{(wrong / F.layer_norm(x, (64,))).mean():.4f} {(63 / 64) ** 0.5:.4f}")
small = 1e-3 * x
outside = (small - small.mean(-1, keepdim=True)) / (small.std(-1, correction=0, keepdim=True) + 1e-5)
print(f"{(outside / F.layer_norm(small, (64,))).median():.0f}")

# %%
for x in (torch.rand(4, 20, dtype=torch.float64), 3e-4 * torch.randn(2, 3, 20, dtype=torch.float64)):
    for name, formula, *_ in blind_comparison.FORMULAS[:4]:
        print(f"{(formula(x) - blind_comparison.right(x)).abs().max():.4f} {name}")

# %% [markdown] lang="en"
r"""
**In one line:** ε inside the root, divided by d, over the last axes, and tested at more than one size with a small tolerance.

## Going further: backward by hand

With $\hat{x} = (x - \mu)\,r$, $r = 1 / \sqrt{\sigma^2 + \varepsilon}$ and $g = \gamma \cdot \partial L / \partial y$, the gradient is

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

with the means over the features; here $\hat{x}$ contains ε. Two parts of g are taken out: all of what would shift the token, and, where σ² is far above ε, nearly all of what would stretch it. The factor r is at most $1 / \sqrt{\varepsilon} = 316$, for tiny inputs, and small for large ones: normalization does *not* make all gradients equal. Weight and bias serve every token, so their gradients are sums over all axes but the last; x may have the shape `(N, d)` or `(N, L, d)`.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：ε 在根号里面，求方差时除以 d，沿最后几个轴求；测试时不要只用一种大小的输入，容差要小。

## 选读：手算反向传播

记 $\hat{x} = (x - \mu)\,r$，$r = 1 / \sqrt{\sigma^2 + \varepsilon}$，$g = \gamma \cdot \partial L / \partial y$，梯度就是

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

其中的均值都沿特征轴求，这里的 $\hat{x}$ 含 ε。g 有两部分被减去了：使词元整体平移的部分，全部减去；使词元整体缩放的部分，在 σ² 远大于 ε 时几乎全部减去。系数 r 随输入变小而增大，上限是 $1 / \sqrt{\varepsilon} = 316$；输入很大时，它很小。可见，归一化**并没有**让所有的梯度一样大。weight 和 bias 由所有词元共用，所以它们的梯度要沿最后一个轴以外的所有轴求和；x 的形状可以是 `(N, d)`，也可以是 `(N, L, d)`。
"""


# %% tags=["exercise"]
def my_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    return ...  # grad_x, grad_weight, grad_bias


check("layer_norm_backward", my_layer_norm_backward)


# %% tags=["solution"]
def solved_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    r = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    hat, g = centred * r, grad_output * weight
    grad_x = r * (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True))
    tokens = tuple(range(x.dim() - 1))
    return grad_x, (grad_output * hat).sum(tokens), grad_output.sum(tokens)


check("layer_norm_backward", solved_layer_norm_backward)

# %% [markdown] lang="en"
r"""
**ε = 1e-12.** One note takes this ε, as BERT does, and MiniLM. In float16 it *is* 0, and a constant row becomes 0 / 0; torch's own function computes in float32, where it is not:
"""

# %% [markdown] lang="zh"
r"""
**ε = 1e-12**。有一篇笔记取这个值，BERT 和 MiniLM 也取它。在 float16 里，它**就是** 0，常数行会变成 0 / 0；torch 自己的函数在内部用 float32 计算，所以不受影响：
"""

# %% claims=["E05"]
row = torch.full((1, 4), 3.0, dtype=torch.float16)
centred = row - row.mean(-1, keepdim=True)
print(torch.tensor(1e-12, dtype=torch.float16).item())
print(centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt())
print(F.layer_norm(row, (4,), eps=1e-12))

# %% [markdown] lang="en"
r"""
**Parameter or buffer?** A tensor that is trained is an `nn.Parameter`, assigned to an attribute; one that is only remembered is a buffer; a Python list hides both from the module:
"""

# %% [markdown] lang="zh"
r"""
**参数还是缓冲区**？要训练的张量，用 `nn.Parameter` 包起来，赋给模块的属性；只需随模型保存的张量，登记为缓冲区。放进普通的 Python 列表，模块就看不见它们了：
"""


# %% claims=["E39"]
class Three(nn.Module):
    def __init__(self):
        super().__init__()
        self.trained = nn.Parameter(torch.ones(2))
        self.register_buffer("remembered", torch.zeros(2))
        self.hidden = [nn.Parameter(torch.ones(2))]


print([name for name, _ in Three().named_parameters()], list(Three().state_dict()))
