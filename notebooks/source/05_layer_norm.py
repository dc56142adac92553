# %% [markdown] lang="en"
r"""
# 05 LayerNorm, exactly.

`(x - mean) / (std + eps)` stands in LayerNorms that have been copied for years. Compare it with PyTorch's on numbers of `torch.rand`, and the two agree to 0.001. Make the numbers smaller and smaller, and it returns twice what it should, then 19 times, and in the end 316 times. A test with numbers of one size may never see it.

LayerNorm stands beside every attention and every feed-forward network of the first Transformers. What BatchNorm taught in lessons 01 to 04, axes, variances and ε, comes together in its one formula, and each symbol invites a mistake. So here you write it to the last digit, and run a trained model on it.

After this lesson you can say where ε stands and when it matters, which axes and which variance are meant, choose the inputs that catch a wrong LayerNorm, and write a right one. It takes about 50 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 05 一丝不差的层归一化

网上流传多年的层归一化（LayerNorm）代码里，有这样一行：`(x - mean) / (std + eps)`。拿 `torch.rand` 生成的数与 PyTorch 的结果一比，相差不到 0.001。可是输入越来越小，它给出的结果先是正确值的两倍，后来是 19 倍，最后竟到 316 倍。测试时如果只用一种大小的数，就可能照不出这个错误。

在最早的 Transformer 里，每个注意力、每个前馈网络旁边都有层归一化。第 01 到 04 课从批量归一化（BatchNorm）学到的轴、方差和 ε，都汇集在它的一个公式里，而公式里处处都有人写错。所以这一课要把它写到分毫不差，再用它来运行一个训练好的模型。

学完这一课，你能说出 ε 放在哪里、什么时候起作用，能说出沿哪些轴、用哪种方差，能选出查得出错误的输入，还能写出正确的层归一化。大约需要 50 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import layer_norm
from blocklab_course.i18n import Text
from blocklab_course import catch, check, plug_in
from blocklab_course.lessons.layer_norm import blind_comparison, trained_scales
from blocklab_course.pretrained import skip_if_missing, load_minilm, minilm_layer_norms, patch_functions

# %% [markdown] lang="en"
r"""
## Two questions first

1. Which variance does `x.var()` compute, the biased or the unbiased one, and with which one does BatchNorm normalize?
2. In lesson 00, at *s* = 0.003, the bars have lost about a quarter of their length. Which two numbers are about equal there?

<details><summary>Answers</summary>

1. It computes the unbiased one, divided by the number of values minus one; BatchNorm normalizes with the biased one, `correction=0`.
2. The variance of the input and ε, $10^{-5}$: with $s = 0.003$ the variance of s · [1, 2, 3, 4] is $1.25 \cdot 0.003^2 \approx 10^{-5}$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. `x.var()` 算的是有偏方差还是无偏方差？批量归一化用哪一种来归一化？
2. 第 00 课里，*s* = 0.003 时，柱子短了四分之一左右。那时，哪两个数差不多大？

<details><summary>答案</summary>

1. 它算的是无偏方差，除以的是数值个数减一；批量归一化用的是有偏方差，即 `correction=0`。
2. 输入的方差和 ε，即 $10^{-5}$：$s = 0.003$ 时，s · [1, 2, 3, 4] 的方差是 $1.25 \cdot 0.003^2 \approx 10^{-5}$。

</details>
"""

# %% [markdown] lang="en"
r"""
## The blind test

LayerNorm in a Transformer takes each token alone. It subtracts the mean μ of its d features and divides by a root in which their variance σ² and a small ε stand, $10^{-5}$ unless said otherwise; a learned γ and β for each feature follow.

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

The line from the beginning puts ε *beside* the root. A test that comes to mind:
"""

# %% [markdown] lang="zh"
r"""
## 看不见错误的测试

Transformer 里的层归一化单独处理每个词元（token）。它先减去 d 个特征的均值 μ，再除以一个根式，根号里是方差 σ² 加上小常数 ε，ε 默认取 $10^{-5}$；最后每个特征再乘以学到的 γ，加上学到的 β。

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

开头那行代码把 ε 放到了根号**外面**。先写一个最容易想到的测试。
"""


# %%
def published(x, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)  # (N, 1)
    return (x - mean) / (std + eps)


x = torch.rand(4, 20)  # (N, d)
off = (published(x) - F.layer_norm(x, (20,))).abs().max()
print(Text(en="largest difference", zh="最大差别"), f"{off:.5f}")

# %% [markdown] lang="en"
r"""
Passed, with a tolerance of 0.001. The panel makes the same comparison for *every* size of input, and with four wrong formulas: instead of √(σ² + ε) they divide by σ + ε, by √(σ² + 2ε), by σ, or by the root with d − 1 in the variance. Height is error, so where the curves are low, a test is blind.

The input is 20 evenly spaced numbers with standard deviation σ, and the error is the largest difference from LayerNorm, divided by the largest of $z = (x - \mu) / \sigma$. At 1 it is as large as z itself.

**Predict first.** ε is 0.00001. How small must σ be until std + ε, the orange curve, is off by a tenth?
"""

# %% [markdown] lang="zh"
r"""
测试通过了，容差是 0.001。换成别的输入呢？面板把**各种**大小的输入都比一遍，错误的公式有四种，本应除以 √(σ² + ε)，它们却除以 σ + ε、√(σ² + 2ε)、σ，或者在求方差时除以 d − 1。曲线的高度就是误差，所以曲线低的地方，测试什么也看不见。

具体地说，输入是 20 个等距的数，标准差为 σ。误差是结果与层归一化的最大差别，再除以 $z = (x - \mu) / \sigma$ 里最大的数。误差为 1，就是错得和 z 一样大。

**先猜一猜**：ε 是 0.00001。“标准差 + ε”就是开头那行代码，要让它（橙色曲线）的误差升到十分之一，σ 得有多小？
"""

# %% tags=["panel", "guess"]
blind_comparison.panel()

# %% tags=["answer"]
blind_comparison.panel().still(sigma=10**-3.8)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

A tenth is reached at σ = 0.006 already, although ε is only 0.00001.

</details>

Why so early? At σ = 0.006 the ε of the line does next to nothing, for 0.006 + 0.00001 is still 0.006. But the *right* formula adds ε to σ², and 0.000036 + 0.00001 is more by over a quarter. So near $\sqrt{\varepsilon}$ = 0.003 the right result shrinks, and the line's does not.

For σ² far above ε the line is off by about

$$z\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$

`torch.rand` has σ = 0.29, and its σ² is 8000 times ε. So the test passed. (Near σ = 0.5 the error changes its sign, hence the dip.)

At σ = 0.00016 the right result is 0.05 z, and the line returns 0.94 z, the 19 times from the beginning. On still smaller input the factor grows towards $\sqrt{\varepsilon} / \varepsilon = 316$. *Divided by d − 1* is of another kind, off by 2.5% on any large input, and on small input hidden by ε. **A test can pass only because its numbers cannot see the mistake.**
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

σ = 0.006 时就有十分之一了，而 ε 不过 0.00001。

</details>

为什么这么早？σ = 0.006 时，ε 对那行代码几乎没有影响，0.006 + 0.00001 差不多还是 0.006。受影响的是**正确**的公式，它把 ε 加到 σ² 上，0.000036 + 0.00001 一下子就多了四分之一以上。所以 σ 小到 $\sqrt{\varepsilon}$ = 0.003 附近，正确的结果已经在变小，那行代码的结果却没有。

当 σ² 远大于 ε 时，那行代码的误差约为

$$z\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$

`torch.rand` 的 σ = 0.29，σ² 约为 ε 的 8000 倍，所以测试通过了。（σ = 0.5 附近，误差由正变负，曲线在那里有一道深谷。）

到了 σ = 0.00016，正确的结果只有 0.05 z，这行代码给出的却是 0.94 z，这就是开头说的 19 倍。输入再小，倍数还要大，趋近 $\sqrt{\varepsilon} / \varepsilon = 316$。“除以 d − 1”是另一类错误：输入不论多大，它都差 2.5%；输入很小时，却被 ε 盖住了。**测试能通过，有时只是因为那组数碰巧照不出错误。**
"""

# %% [markdown] lang="en"
r"""
## Two rows, to the last digit

So what does ε do? "LayerNorm gives every token mean 0 and standard deviation 1", one reads. Here are two tokens, the second ten times the first.

**Predict first.** Are the two outputs equal, and is their variance 1?
"""

# %% [markdown] lang="zh"
r"""
## 两行数，算到最后一位

那么 ε 到底做了什么？常有人说，层归一化使每个词元“均值为 0，标准差为 1”。下面是两个词元，第二个是第一个的十倍。

**先猜一猜**：两个输出相等吗？它们的方差是 1 吗？
"""

# %% tags=["answer"]
x = torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]], dtype=torch.float64)  # (N, d)
y, variance = layer_norm(x, (4,)), x.var(-1, correction=0)
print(Text(en="last number of each row", zh="每行的最后一个数"), [f"{v:.8f}" for v in y[:, 3]])
print(Text(en="variance of the output", zh="输出的方差"), [f"{v:.8f}" for v in y.var(-1, correction=0)])
print("σ² / (σ² + ε)", [f"{v:.8f}" for v in variance / (variance + 1e-5)])

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The outputs differ from the sixth digit on, and their variance is a little below 1.

</details>

The variance of the output is $\sigma^2 / (\sigma^2 + \varepsilon)$, so it is through ε that the output depends on the absolute size of the input. This answers lesson 00: at *s* = 0.001 the variance is an eighth of ε, and $\sqrt{1 / (1 + 8)}$ is a third, which is what was left of the bars.

Real input is small, too: GPT-2's token embeddings start with standard deviation 0.02. There ε = $10^{-5}$ takes 1.2% off the output, $10^{-3}$, Keras' default, nearly half.

**Your turn, one line.** With ε = $10^{-5}$, for which standard deviation σ of the input is the output only *half* as large as it would be without ε? Put σ in place of `None`.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

两个输出从第六位有效数字起就不同了，方差也都比 1 小一点。

</details>

输出的方差是 $\sigma^2 / (\sigma^2 + \varepsilon)$，所以，正是 ε 使输出与输入的绝对大小有关。第 00 课留下的问题也有了答案。*s* = 0.001 时，方差是 ε 的八分之一，而 $\sqrt{1 / (1 + 8)}$ 正是三分之一，那时柱子就只剩下三分之一长。

真实的输入也会很小，例如 GPT-2 的词元嵌入，训练开始时标准差是 0.02。这样的一行，ε = $10^{-5}$ 使输出小 1.2%；取 Keras 的默认值 $10^{-3}$，就小了将近一半。

**轮到你了**，只写一行：ε = $10^{-5}$，输入的标准差 σ 取多少时，输出只有没有 ε 时的**一半**？请把 `None` 换成 σ 的值。
"""

# %% tags=["exercise"]
my_sigma = None

check("half_size", my_sigma)

# %% [markdown] lang="en"
r"""
Stuck? The cell under *Two rows, to the last digit* prints a variance; a half is a ratio of standard deviations.

<details><summary>The idea</summary>

Half the standard deviation is a quarter of the variance, so σ² / (σ² + ε) = 1/4. Then ε is three times σ².

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“两行数，算到最后一位”一节打印的是方差；这里说的“一半”，指的是标准差。

<details><summary>思路</summary>

标准差减半，方差就是四分之一，所以 σ² / (σ² + ε) = 1/4。于是 ε 是 σ² 的三倍。

</details>
"""

# %% tags=["solution"]
solved_sigma = (1e-5 / 3) ** 0.5

check("half_size", solved_sigma, keep=False)

# %% [markdown] lang="en"
r"""
## The last axes

Which numbers share a mean? `normalized_shape` holds *sizes*, those of the last axes: `(d,)` gives each token of `(N, L, d)` its own mean, `(L, d)` one mean to each sentence. Mind that `x.mean(-1)` drops its axis: `(N, L, d)` becomes `(N, L)`.

**Predict first.** x has shape `(4, 4, 4)`. How many means are there for `(4,)`, how many for `(4, 4)`? And what does `x - x.mean(-1)` do: the right thing, an error, or a wrong thing silently?
"""

# %% [markdown] lang="zh"
r"""
## 最后几个轴

哪些数共用一个均值？`normalized_shape` 里写的是**大小**，即最后几个轴的大小。例如 `(N, L, d)` 的张量，写 `(d,)` 就是每个词元一个均值，写 `(L, d)` 就是每句话一个均值。要留心，`x.mean(-1)` 会去掉这个轴，`(N, L, d)` 只剩下 `(N, L)`。

**先猜一猜**：x 的形状是 `(4, 4, 4)`。写 `(4,)` 时有几个均值，写 `(4, 4)` 时呢？`x - x.mean(-1)` 会怎样，算对、报错，还是不声不响地算错？
"""

# %% tags=["answer"]
x = torch.randn(4, 4, 4)  # (N, L, d)
print(Text(en="means", zh="均值个数"), x.mean(-1).numel(), x.mean((-2, -1)).numel())
for keepdim in (False, True):
    left = (x - x.mean(-1, keepdim=keepdim)).mean(-1)  # (N, L)
    print(f"keepdim={keepdim}:", Text(en="mean left, up to", zh="剩下的均值最大为"), f"{left.max():.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

There are 16 means for `(4,)`, one for each token, and 4 for `(4, 4)`. Without `keepdim=True` the result is wrong and no error is raised, because all sizes happen to be equal.

</details>

Without `keepdim=True` the means line up with another axis. So count axes from the end, keep them with `keepdim=True`, and test with unequal sizes, and once with equal ones.

## Divided by d

`x.var()` divides by d − 1, because a sample's variance is meant to estimate that of a larger population. LayerNorm estimates nothing: the d features are all there is, so it divides by d.

**Predict first.** With d − 1, by which factor is the result off for d = 4, and for d = 768?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

写 `(4,)` 时有 16 个均值，每个词元一个；写 `(4, 4)` 时有 4 个。不写 `keepdim=True`，结果是错的，却没有任何提示，因为各轴的大小正好相等。

</details>

不写 `keepdim=True`，均值就会对到别的轴上。所以，要从最后一个轴往前数，用 `keepdim=True` 保留这些轴；测试时各轴的大小要互不相同，另外再测一次相同的。

## 除以 d

求方差时，`x.var()` 除以 d − 1，因为它要用样本去估计更大的总体。层归一化什么也不估计，d 个特征就是全部，所以除以 d。

**先猜一猜**：如果除以 d − 1，d = 4 时结果差多少倍？d = 768 时呢？
"""

# %% tags=["answer"]
for d in (4, 64, 768):
    x = torch.randn(16, d, dtype=torch.float64)  # (N, d)
    by_less = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
    print(f"d = {d}:", Text(en="ratio", zh="比值"), f"{(by_less / F.layer_norm(x, (d,))).mean():.4f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The result is $\sqrt{(d - 1) / d}$ times the right one, 0.866 for d = 4 and 0.9993 for d = 768.

</details>

With d = 768 this hides behind a *relative* tolerance of 0.001. In short rows it cannot.

## Write the test

Write inputs on which all four wrong formulas of the panel give themselves away. An input is what one call gets, a tuple or a dict: `(x, (20,))` or `{"x": x, "normalized_shape": (20,), "eps": 1e-3}`, and they stand in a list. A version is caught when it is off by more than a ten-thousandth of the largest number in the right result.

Begin with `(torch.randn(4, 20), (20,))`. How many of the four does it catch?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

结果是正确值的 $\sqrt{(d - 1) / d}$ 倍，d = 4 时是 0.866，d = 768 时是 0.9993。

</details>

d = 768 时，**相对**容差 0.001 就把它放过去了；换成短的行，它就藏不住。

## 轮到你写测试

这回你来当检查者。请写出一些输入，让面板里的四种错误公式全都露馅。一组输入就是一次调用的参数，写成元组或字典，例如 `(x, (20,))` 或 `{"x": x, "normalized_shape": (20,), "eps": 1e-3}`；各组输入放在一个列表里。只要差别超过正确结果最大绝对值的万分之一，就算抓住。

先试 `(torch.randn(4, 20), (20,))`，它能抓住四个里的几个？
"""

# %% tags=["exercise"]
my_inputs = [...]

catch("layer_norm", my_inputs)

# %% [markdown] lang="en"
r"""
Stuck? Drag σ in *The blind test* to a place where all four curves are high.

<details><summary>The idea</summary>

All four differ under the root alone, so every term there has to count. Make σ² about as large as ε, with small numbers or with a large `eps` in the call, and keep the rows short, so that d − 1 differs from d.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在“看不见错误的测试”的面板里拖动 σ，找一个四条曲线都很高的地方。

<details><summary>思路</summary>

四个版本只在根号那里不同，所以根号里的每一项都要起作用。让 σ² 与 ε 差不多大，可以用很小的数，也可以在调用时给一个很大的 `eps`；行还要短，d − 1 和 d 才有差别。

</details>
"""

# %% tags=["solution"]
solved_catch = [(3e-3 * torch.randn(4, 5), (5,))]

catch("layer_norm", solved_catch)


# %% [markdown] lang="en"
r"""
## Exercise: LayerNorm

Write all of it. `normalized_shape` is a tuple with the sizes of the last axes; `weight` is γ and `bias` is β, either may be `None`.
"""

# %% [markdown] lang="zh"
r"""
## 练习：层归一化

请写出完整的函数。`normalized_shape` 是一个元组，即最后几个轴的大小；`weight` 是 γ，`bias` 是 β，两者都可以是 `None`。
"""


# %% tags=["exercise"]
def my_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ...


check("layer_norm", my_layer_norm)

# %% [markdown] lang="en"
r"""
Stuck? *The last axes*, *Divided by d* and the formula under *The blind test* have a line each. float16 can wait for *Going further*: `check` only advises on it, and the solution below gets the same advice.

<details><summary>The idea</summary>

Centre once and use it twice: the variance is the mean of the centred numbers squared, over the same axes. γ multiplies first, then β is added, each only where there is one.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“最后几个轴”“除以 d”和“看不见错误的测试”里的公式，各对应一行代码。float16 可以等到选读再说，`check` 只会给一条建议，下面的解答也会得到这条建议。

<details><summary>思路</summary>

减去均值只做一次，结果用两次。离差的平方沿同样的轴求均值，就是方差。先乘 γ，后加 β，没有的就跳过。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    centred = x - x.mean(axes, keepdim=True)
    y = centred / (centred.square().mean(axes, keepdim=True) + eps).sqrt()
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


check("layer_norm", solved_layer_norm, keep=False)

# %% [markdown] lang="en"
r"""
## What you will meet elsewhere

[The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) has been copied very often, and its class differs from PyTorch's in three ways: ε stands outside the root, the variance is divided by d − 1, and ε is $10^{-6}$. Others compute the variance in one pass, as the mean of the squares minus the square of the mean, right on paper. Both, shortened, beside PyTorch's with the same ε:
"""

# %% [markdown] lang="zh"
r"""
## 在别处会遇到什么

[The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) 的代码流传很广，它的类有三处与 PyTorch 不同：ε 加在根号外面，求方差时除以 d − 1，ε 默认取 $10^{-6}$。还有人一遍就算出方差，用平方的均值减去均值的平方，这在纸上是对的。下面把这两种写法缩短，与 PyTorch 比一比，ε 取得一样。
"""


# %% tags=["nbval-ignore-output"]
def annotated(x, a_2, b_2, eps=1e-6):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return a_2 * (x - mean) / (std + eps) + b_2


def one_pass(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + eps).sqrt() * weight + bias


x, ones, zeros = torch.randn(8, 64), torch.ones(64), torch.zeros(64)
for name, z in {"x": x, "x / 10000": x / 10000, "x + 1000": x + 1000}.items():
    off = [(f(z, ones, zeros) - F.layer_norm(z, (64,), eps=1e-6)).abs().max().item() for f in (annotated, one_pass)]
    print(f"{name:10} annotated {off[0]:.2f}  one_pass {off[1]:.2f}")

# %% [markdown] lang="en"
r"""
The 0.02 in the first line comes from d − 1. Where the input is divided by 10000, the 2.73 comes from ε outside the root. `one_pass` fails at a large mean: two nearly equal numbers are subtracted, and most digits are lost. (A model *trained* with `annotated` is not wrong, it has another norm; one that is to agree with PyTorch's is.)

ε itself has no fixed value either: PyTorch takes $10^{-5}$, Keras $10^{-3}$, BERT and MiniLM $10^{-12}$. So a port that forgets `eps` runs, and is a little wrong.
"""

# %% [markdown] lang="zh"
r"""
第一行的 0.02 来自 d − 1。输入除以 10000 之后，2.73 是 ε 放在根号外面造成的。`one_pass` 则错在均值很大的地方：那时两个几乎相等的数相减，有效数字会丢掉大半。（从头就用 `annotated` 训练的模型并没有错，它只是用了另一种归一化；要与 PyTorch 的结果或训练好的权重一致时，它才是错的。）

ε 本身也没有统一的值，PyTorch 取 $10^{-5}$，Keras 取 $10^{-3}$，BERT 和 MiniLM 取 $10^{-12}$。所以移植模型时忘了 `eps`，程序照样能运行，只是有一点不对。
"""

# %% [markdown] lang="en"
r"""
## Your function in a trained model

MiniLM, a small Transformer that turns sentences into vectors, has 13 LayerNorms, one after the embedding and two in each of its 6 layers. `plug_in` puts your function into all of them and asks which of four sentences comes nearest in meaning to "He is playing the guitar." The cosine of two vectors is 1 where they point the same way.
"""

# %% [markdown] lang="zh"
r"""
## 你的函数在训练好的模型里

MiniLM 是一个把句子变成向量的小型 Transformer，有 13 个层归一化，嵌入之后有一个，6 层里每层两个。`plug_in` 把它们都换成你的函数，再问四个句子里哪一句与“He is playing the guitar.”（他在弹吉他。）意思最近。两个向量方向相同时，余弦是 1。
"""

# %% tags=["slow"]
plug_in(layer_norm=my_layer_norm)

# %% [markdown] lang="en"
r"""
**Predict first.** Three wrong LayerNorms: the one from The Annotated Transformer, one with ε = 0.001, one that forgets γ. Which of them changes MiniLM's choice?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：有三种错误的层归一化，一种照抄 The Annotated Transformer，一种取 ε = 0.001，一种忘了乘 γ。哪一种会改变 MiniLM 的选择？
"""


# %% tags=["slow", "answer"]
def as_annotated(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return annotated(x, weight, bias, eps)


def large_eps(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return layer_norm(x, normalized_shape, weight, bias, 1e-3)


def without_gamma(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return layer_norm(x, normalized_shape, None, bias, eps)


for wrong in (as_annotated, large_eps, without_gamma):
    print(wrong.__name__, plug_in(layer_norm=wrong), sep="\n", end="\n\n")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Forgetting γ changes the choice. Nearest to the guitar is now chess, a sentence that shares most of its words and not its meaning. The other two change nothing that is shown here. MiniLM's ε is $10^{-12}$, and on these sentences every token's variance is at least a billion times that, so it does not matter where ε stands. An ε of 0.001 matters after the embedding alone, where variances are about 0.005 (0.029 for the first token); elsewhere they are above 0.1.

</details>

So the line from the beginning passes this test even with d − 1 on top, and can live in published code for years.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

忘了乘 γ 会改变选择。离弹吉他最近的变成了下棋，这两句英文用词差不多，意思却不同。另外两种在这里看不出任何变化。MiniLM 的 ε 是 $10^{-12}$，而在这几个句子里，每个词元的方差都至少是它的十亿倍，ε 放在哪里都没有分别。ε = 0.001 也只在嵌入之后那一处起作用，那里的方差在 0.005 上下（句首的特殊词元是 0.029）；别处的方差都在 0.1 以上。

</details>

所以，开头那行代码就算再加上 d − 1，也能通过这个测试。难怪这样的错误能在公开的代码里待上多年。
"""

# %% [markdown] lang="en"
r"""
## What training makes of γ

So γ matters most.

**Predict first.** Before training every γ was 1. What has training made of them? Choose, then tick *trained*.
"""

# %% [markdown] lang="zh"
r"""
## 训练把 γ 变成了什么

可见 γ 最要紧。

**先猜一猜**：训练之前，γ 都是 1。训练把它们变成了什么样？先选，再勾选“训练之后”。
"""

# %% tags=["panel", "guess"]
gammas = [value for name, value in minilm_layer_norms().items() if name.endswith("weight")]
trained_scales.panel(gammas)

# %% tags=["answer"]
trained_scales.panel(gammas).still(trained=True, place=12)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Nearly all γ are below 1, and their means lie between 0.5 and 0.75. Only after attention (norms 1, 3, 5 …) are there any above 1, two to five features in each.

</details>

In the last norm, which the picture shows, 3 of the 384 γ are 0 to eight digits, their β 0 to six. So these features never reach the output. Are they of no use? *Going further* tries it. Newer language models take another norm, one that leaves the mean alone: [lesson 06](06_rms_norm.ipynb).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

γ 几乎都小于 1，各层的均值在 0.5 和 0.75 之间。只有注意力之后的那些归一化层（编号 1、3、5……）里，各有两到五个特征的 γ 大于 1。

</details>

图中画的是最后一个归一化层，它的 384 个 γ 中，有 3 个精确到八位小数都是 0，对应的 β 精确到六位小数也是 0，所以这几个特征到不了输出。它们就没有用吗？选读里试一试。更新的语言模型换了一种归一化，不去动均值，见[第 06 课](06_rms_norm.ipynb)。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. x has shape `(8, 128, 768)`. How many means does `layer_norm` compute for `(768,)`, each over how many numbers, and how many γ are there? And for `(128, 768)`?

<details><summary>Answer</summary>

For `(768,)` there are 1024 means over 768 numbers each, and 768 γ. For `(128, 768)` there are 8 means over 98304 numbers each, and 98304 γ.

</details>

2. Another LayerNorm agrees to 0.00003 on `torch.randn(16, 64)`. On very small input, σ about 0.001, its numbers are three times too large. What do you suspect, and which line shows it?

<details><summary>Answer</summary>

ε outside the root, or forgotten, or far too small. Give it `1e-3 * torch.randn(16, 64)` and divide by torch's result. With ε added twice the numbers would come out too small.

</details>

3. You may choose one input for a test of LayerNorm: `torch.rand(4, 20)` with an absolute tolerance of 0.001, or `3e-4 * torch.randn(2, 3, 20)` with the same. Which one, and which of the four wrong formulas does it find?

<details><summary>Answer</summary>

The second. It finds std + ε, no ε and ε twice, while d − 1 is off by 0.0001 to 0.0002 there and slips through. (`catch` measures relative to the result, and catches it.) The first finds d − 1 only. So use both, and once `(3, 20)` as `normalized_shape`; otherwise a version that averages over the last axis only gets away.

</details>

The numbers:
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. x 的形状是 `(8, 128, 768)`。写 `(768,)` 时，`layer_norm` 算几个均值？每个均值由多少个数得到？γ 有多少个？写 `(128, 768)` 时呢？

<details><summary>答案</summary>

写 `(768,)` 时有 1024 个均值，每个由 768 个数得到，γ 有 768 个。写 `(128, 768)` 时有 8 个均值，每个由 98304 个数得到，γ 有 98304 个。

</details>

2. 另一个人写的层归一化，在 `torch.randn(16, 64)` 上只差 0.00003。换成很小的输入，σ 约为 0.001，它的结果却是正确值的三倍。你怀疑什么？用哪一行代码可以看出来？

<details><summary>答案</summary>

ε 在根号外面，或者漏掉了，或者取得太小。用 `1e-3 * torch.randn(16, 64)` 作输入，再除以 torch 的结果。要是 ε 加了两次，结果会偏小。

</details>

3. 测试层归一化时，只许选一种输入：`torch.rand(4, 20)`，绝对容差 0.001；或者 `3e-4 * torch.randn(2, 3, 20)`，容差相同。选哪一种？它能查出四种错误公式中的哪几种？

<details><summary>答案</summary>

选第二种。它能查出“标准差 + ε”“没有 ε”和“ε 加了两次”，“除以 d − 1”在那里只差 0.0001 到 0.0002，会漏过（`catch` 看的是相对误差，抓得住它）；第一种却只能查出“除以 d − 1”。所以最好两种都用，再用一次 `(3, 20)` 作 `normalized_shape`，不然，只沿最后一个轴求均值的代码也能蒙混过去。

</details>

三题的数：
"""

# %%
x = torch.randn(8, 128, 768)
print(Text(en="means", zh="均值个数"), x.mean(-1).numel(), x.mean((-2, -1)).numel())
small = 1e-3 * torch.randn(16, 64)
print(Text(en="ratio", zh="比值"), f"{(published(small) / F.layer_norm(small, (64,))).median():.0f}")
both = torch.rand(4, 20, dtype=torch.float64), 3e-4 * torch.randn(2, 3, 20, dtype=torch.float64)
for name, formula, *_ in blind_comparison.FORMULAS[:4]:
    print(name, *(f"{(formula(z) - blind_comparison.right(z)).abs().max():.4f}" for z in both))

# %% [markdown] lang="en"
r"""
## In short

* ε stands inside the root, the variance is divided by d, and both run over the last axes.
* The output's variance is σ² / (σ² + ε), and then γ and β decide.
* A test is as good as its inputs: several sizes, unequal axes, and once equal ones.

## Read next

* The paper: [Layer Normalization](https://arxiv.org/abs/1607.06450), Ba, Kiros and Hinton 2016.
* The code: [torch.nn.LayerNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html), every argument with its default.
* What it is good for: [Understanding and Improving Layer Normalization](https://arxiv.org/abs/1911.07013), Xu and others 2019, who find the gradients of mean and variance more important than the normalization going forward.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* ε 放在根号里面，求方差时除以 d，两者都沿最后几个轴。
* 输出的方差是 σ² / (σ² + ε)，之后由 γ 和 β 决定。
* 测试好不好，要看输入。数的大小要有几种，各轴的大小要不同，另外再测一次相同的。

## 接着读

* 论文《层归一化》，[Layer Normalization](https://arxiv.org/abs/1607.06450)，Ba、Kiros 和 Hinton，2016。
* 代码 [torch.nn.LayerNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html)，每个参数和默认值都有说明。
* 它为什么有用，《理解和改进层归一化》，[Understanding and Improving Layer Normalization](https://arxiv.org/abs/1911.07013)，Xu 等人，2019，他们发现，均值和方差的梯度比前向的归一化更要紧。
"""

# %% [markdown] lang="en"
r"""
## Going further: three features that never come out

**Predict first.** In MiniLM's last norm three γ are 0. Does the model use these features at all? The cell sets them to 0 in all norms *before* the last, and asks how far the sentences' vectors turn: at a cosine of 1 they do not turn. For comparison, it does the same with 20 other threes.
"""

# %% [markdown] lang="zh"
r"""
## 选读：到不了输出的三个特征

**先猜一猜**：MiniLM 最后一个归一化层里有三个 γ 是 0，模型到底用不用这三个特征？下面的单元格在最后一个归一化层**之前**，每一处都把它们置为 0，看句子的向量转过多少，余弦为 1 就是一点没转。作为对照，再换 20 组特征，每组三个，各做一次。
"""


# %% tags=["answer"]
def turned(features):
    def switched_off(x, normalized_shape, weight, bias, eps):
        y = layer_norm(x, normalized_shape, weight, bias, eps)  # (N, L, d)
        return y if torch.equal(weight, gammas[-1]) else y.index_fill(-1, features, 0.0)

    with patch_functions(model, layer_norm=switched_off):
        return (model.encode(sentences) * complete).sum(-1).mean().item()


with skip_if_missing(), torch.no_grad():
    model, sentences = load_minilm(), ["He is playing the guitar.", "Someone makes music.", "It will rain tomorrow."]
    complete, three = model.encode(sentences), gammas[-1].abs().topk(3, largest=False).indices
    others = [turned(torch.arange(i, 384, 128)) for i in range(20)]
    print(Text(en="features", zh="特征"), three.sort().values.tolist(), f"{turned(three):.2f}")
    print(Text(en="20 others, from, to", zh="另外 20 组，从、到"), f"{min(others):.2f} {max(others):.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The model does use them. Without 127, 223 and 319 the vectors turn to a cosine of 0.89. (The 20 others turn them to 0.98 or 0.99, but most of those are small. The next largest features, 62, 99 and 249, turn them to 0.38.)

</details>

So attention and the feed-forward networks work with them, and only the last norm drops them. Why just these? Let them out, with a γ like the others':
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

模型用到了它们。去掉 127、223、319，余弦就降到 0.89。（另外 20 组只降到 0.98 或 0.99，不过那些特征多半很小。大小仅次于这三个的特征是 62、99、249，去掉它们，余弦降到 0.38。）

</details>

所以，注意力和前馈网络一直在用它们，只有最后一个归一化层把它们丢掉。为什么偏偏丢掉这三个？让它们的 γ 和别的一样大，放它们出来看看。
"""


# %%
def let_out(x, normalized_shape, weight, bias, eps):
    return layer_norm(x, normalized_shape, weight.where(weight.abs() > 1e-6, weight.median()), bias, eps)


with skip_if_missing(), torch.no_grad(), patch_functions(model := load_minilm(), layer_norm=let_out):
    opened = model.encode(sentences)
    for i in (1, 2):
        print(f"cos(0, {i}): {complete[0] @ complete[i]:.2f} → {opened[0] @ opened[i]:.2f}")

# %% [markdown] lang="en"
r"""
Now the guitar and the rain, sentence 2, look related: their cosine rises from 0.02 to 0.46. At the input of the last norm they are, by mean size, among the four largest of the 384 features in each of 18 texts that we tried. So, let out, they drown some of what tells sentences apart.
"""

# %% [markdown] lang="zh"
r"""
这时弹吉他和下雨（2 号句子）显得有关了，余弦从 0.02 升到 0.46。在最后一个归一化层的**输入**里，按绝对值的平均来排，我们试过的 18 段文字中，它们都在 384 个特征的前四名。可见，把它们放出来，句子之间的差别就被盖住了一部分。
"""

# %% [markdown] lang="en"
r"""
## Going further: backward by hand

With $\hat{x} = (x - \mu)\,r$, $r = 1 / \sqrt{\sigma^2 + \varepsilon}$ and $g = \gamma \cdot \partial L / \partial y$, the gradient is

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

with the means over the features; here $\hat{x}$ contains ε. Two parts of g are taken out: all of what would shift the token, and, where σ² is far above ε, nearly all of what would stretch it. The factor r is at most $1 / \sqrt{\varepsilon} = 316$, for tiny inputs, and small for large ones: normalization does *not* make all gradients equal. Weight and bias serve every token, so their gradients are sums over all axes but the last; x may have the shape `(N, d)` or `(N, L, d)`.
"""

# %% [markdown] lang="zh"
r"""
## 选读：手算反向传播

记 $\hat{x} = (x - \mu)\,r$，$r = 1 / \sqrt{\sigma^2 + \varepsilon}$，$g = \gamma \cdot \partial L / \partial y$，梯度就是

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

其中的均值都沿特征轴求，这里的 $\hat{x}$ 含 ε。g 有两部分被减去了。使词元整体平移的部分，全部减去；使词元整体缩放的部分，在 σ² 远大于 ε 时几乎全部减去。系数 r 随输入变小而增大，上限是 $1 / \sqrt{\varepsilon} = 316$；输入很大时，它很小。可见，归一化**并没有**让所有的梯度一样大。weight 和 bias 由所有词元共用，所以它们的梯度要沿最后一个轴以外的所有轴求和；x 的形状可以是 `(N, d)`，也可以是 `(N, L, d)`。
"""


# %% tags=["exercise"]
def my_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    return ...  # grad_x, grad_weight, grad_bias


check("layer_norm_backward", my_layer_norm_backward)

# %% [markdown] lang="en"
r"""
Stuck? The formula above is `grad_x`; the last sentence of that section says what the other two are sums over.

<details><summary>The idea</summary>

x moves the output in three ways: directly, through the mean, and through the variance. Each way is one term in the brackets, and r, common to all, stands in front.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？上面的公式就是 `grad_x`；那一节的最后一句话说明了另外两个沿哪些轴求和。

<details><summary>思路</summary>

x 通过三条路影响输出，一条直接，一条经过均值，一条经过方差。括号里的三项各是一条路，公共的系数 r 提到前面。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    r = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    hat, g = centred * r, grad_output * weight
    grad_x = r * (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True))
    tokens = tuple(range(x.dim() - 1))
    return grad_x, (grad_output * hat).sum(tokens), grad_output.sum(tokens)


check("layer_norm_backward", solved_layer_norm_backward, keep=False)

# %% [markdown] lang="en"
r"""
## Going further: float16

Switch the panel of *The blind test* to float16. All formulas are then computed in it, and even the right one, the blue curve, is off by up to 0.001, float16's rounding. Where a number lies 256 or more from the mean, its square is infinite and the row is lost, here from σ = 155 on. BERT's ε, $10^{-12}$, *is* 0 in float16, so a constant row becomes 0 / 0. torch's own function computes in float32 and converts back:
"""

# %% [markdown] lang="zh"
r"""
## 选读：float16

把“看不见错误的测试”的面板切换到 float16。这时所有公式都用 float16 计算，连正确的公式（蓝色曲线）也有误差，最大到 0.001，这是 float16 的舍入。只要有一个数与均值相差 256 以上，差的平方就溢出成无穷大，这一行就全坏了，这里从 σ = 155 开始。BERT 的 ε 是 $10^{-12}$，在 float16 里它**就是** 0，于是常数行变成 0 / 0。torch 自己的函数在内部用 float32 计算，算完再转回去。
"""

# %%
row = torch.full((1, 4), 3.0, dtype=torch.float16)
centred = row - row.mean(-1, keepdim=True)
print(Text(en="ε in float16", zh="float16 里的 ε"), torch.tensor(1e-12, dtype=torch.float16).item())
print(Text(en="by hand", zh="手写"), centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt())
print("torch", F.layer_norm(row, (4,), eps=1e-12))

# %% [markdown] lang="en"
r"""
## Going further: Parameter or buffer?

A tensor that is trained is an `nn.Parameter`, assigned to an attribute; one that is only remembered is a buffer; a Python list hides both from the module:
"""

# %% [markdown] lang="zh"
r"""
## 选读：参数还是缓冲区？

要训练的张量，用 `nn.Parameter` 包起来，赋给模块的属性；只需随模型保存的张量，登记为缓冲区。放进普通的 Python 列表，模块就看不见它们了。
"""


# %%
class Three(nn.Module):
    def __init__(self):
        super().__init__()
        self.trained = nn.Parameter(torch.ones(2))
        self.register_buffer("remembered", torch.zeros(2))
        self.hidden = [nn.Parameter(torch.ones(2))]


print(Text(en="parameters", zh="参数"), [name for name, _ in Three().named_parameters()])
print(Text(en="saved", zh="随模型保存"), list(Three().state_dict()))
