# %% [markdown] lang="en"
r"""
# 05 LayerNorm, exactly.

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

for each token alone, over its d features. Every sign in it can be got wrong, and most wrong versions pass a quick test. One of the source notes computes another layer, compares it with PyTorch, sees differences of 0.00007, and calls that good.

After this lesson you can say where ε stands and from which input size on it is felt, derive those 0.00007 to the last printed digit, and write a test that would have found the mistake. It takes about 30 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 05 一丝不差的层归一化

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

这是层归一化（LayerNorm）的公式：每个词元单独计算，只沿自己的 d 个特征。公式里的每一处都可能写错，而多数错误的写法能通过随手写的测试。有一篇原始笔记算的其实是另一种层，拿它和 PyTorch 比，看到 0.00007 的差别，就说很好。

学完这一课，你能说出 ε 放在哪里、输入多小时才感觉得到它；能把那 0.00007 推导到打印出来的最后一位；还能写出一个本可以发现这个错误的测试。大约需要 30 分钟。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab.checks import check
from blocklab.language import Text
from blocklab.normalization import layer_norm
from blocklab.panel import Choice, Panel, Slider
from blocklab.pictures.blind_test import DTYPES, GUESSES, blind_test
from blocklab.pictures.trained_scales import trained_scales
from blocklab.real_models import minilm_layer_norms

# %% [markdown] lang="en"
r"""
## Two questions first

1. A tensor has the shape `(8, 128, 768)`: 8 sentences of 128 tokens with 768 features. How many means does `LayerNorm(768)` compute, and how long is γ?
2. In lesson 00 the bars shrank when *s* went below about 0.003. Which two numbers are of equal size there?

<details><summary>Answers</summary>

1. 8 · 128 = 1024 means; γ has 768 entries.
2. The variance of the input and ε, $10^{-5}$: with $s = 0.003$ the variance of s · [1, 2, 3, 4] is $1.25 \cdot 0.003^2 \approx 10^{-5}$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 张量的形状是 `(8, 128, 768)`：8 个句子，每句 128 个词元，每个词元 768 个特征。`LayerNorm(768)` 计算多少个均值？γ 有多长？
2. 第 00 课里，*s* 小于约 0.003 时，柱子开始缩短。那时，哪两个数差不多大？

<details><summary>答案</summary>

1. 8 · 128 = 1024 个均值；γ 有 768 个元素。
2. 输入的方差和 ε，即 $10^{-5}$：$s = 0.003$ 时，s · [1, 2, 3, 4] 的方差是 $1.25 \cdot 0.003^2 \approx 10^{-5}$。

</details>
"""

# %% [markdown] lang="en"
r"""
## Two rows, to the last digit

A note shows LayerNorm of two rows, the second ten times the first, and two equal results: "mean 0, standard deviation 1". With more digits:
"""

# %% [markdown] lang="zh"
r"""
## 两行数，算到最后一位

有一篇笔记对两行数做层归一化，第二行是第一行的十倍，结果两行相同：“均值为 0，标准差为 1”。多看几位：
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
The rows differ in the sixth digit, and the variance of the output is not 1 but $\sigma^2 / (\sigma^2 + \varepsilon)$. (And γ and β may then make anything of it.) So ε does more than keep the division from being by 0: it decides which inputs count as small.

**Your turn, one line.** For which standard deviation σ of the input is the output only *half* as large as it would be without ε? Put σ in place of `None`.
"""

# %% [markdown] lang="zh"
r"""
两行在第六位上就不同了；输出的方差也不是 1，而是 $\sigma^2 / (\sigma^2 + \varepsilon)$。（之后 γ 和 β 还可以把它变成任何值。）可见，ε 不只是为了防止除以 0：它决定了多小的输入算“小”。

**轮到你了**，只写一行：输入的标准差 σ 取多少时，输出只有没有 ε 时的**一半**？请把 `None` 换成 σ 的值。
"""

# %% tags=["exercise"]
my_sigma = None

check("half_size", my_sigma)

# %% [markdown] lang="en"
r"""
## The blind test

Four formulas that are in circulation, beside LayerNorm. The horizontal axis is the standard deviation σ of the input, the vertical one how far the result is from LayerNorm's, as a part of the standardized input: at 1 nothing of it is right. Dotted lines mark what `torch.rand` and `torch.randn` give.

**Predict first.** One formula divides by std + ε, that is, ε stands outside the root. For which σ is it exactly right? Choose, then drag σ and follow the orange curve.
"""

# %% [markdown] lang="zh"
r"""
## 盲测

把流传的四种公式和层归一化放在一起。横轴是输入的标准差 σ；纵轴是结果与层归一化差多少，以标准化后的输入为单位：到了 1，就是全错了。点线标出 `torch.rand` 和 `torch.randn` 的标准差。

**先猜一猜**：有一种公式除以“标准差 + ε”，也就是把 ε 放在根号外面。σ 取多少时，它恰好是对的？先选，再拖动 σ，看橙色的曲线。
"""

# %% tags=["panel"]
Panel(
    blind_test,
    size=(10, 4.4),
    guess=Choice(GUESSES, None, label=Text(en="your guess", zh="你的猜测")),
    sigma=Slider(1e-6, 1e4, 10**0.1, 1.0, label=Text(en="σ", zh="σ"), log=True),
    dtype=Choice({name: name for name in DTYPES}, "float64", label=Text(en="dtype", zh="数据类型")),
)

# %% [markdown] lang="en"
r"""
A cusp: at σ = (1 − ε) / 2 the two denominators are the same number. Beside it, at 0.29, sits `torch.rand`, and a test with it sees a difference of 0.00003. At σ = 0.00017 the same formula is off by 0.89: nearly all of the result is wrong. **A test can pass because of its data.** Where *no ε* and *std + ε* run together, the network's activations are small, and small activations do occur.

In float16 there is a blue curve too: the right formula, computed in float16. It cannot be better than about 0.001, and above σ = 150 it breaks, because the squares overflow. LayerNorm has to be computed in float32.

## Where do the 0.00007 come from?

Write $\hat{x} = (x - \mu) / \sigma$. To first order in ε, std + ε gives $\hat{x}\,(1 - \varepsilon / \sigma)$ and LayerNorm $\hat{x}\,(1 - \varepsilon / 2\sigma^2)$. Their difference:

$$\hat{x}\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$
"""

# %% [markdown] lang="zh"
r"""
这里有一个尖点：在 σ = (1 − ε) / 2 处，两个分母是同一个数。`torch.rand` 就在它旁边的 0.29 处，用它来测试，看到的差别只有 0.00003。而在 σ = 0.00017 处，同一个公式差了 0.89：结果几乎全错。**测试能通过，有时是因为数据选得巧。**“没有 ε”和“标准差 + ε”两条曲线重合的地方，对应网络里很小的激活值，而很小的激活值确实会出现。

切换到 float16，会多出一条蓝色曲线：用 float16 计算的正确公式。它最好也只能到 0.001 左右；σ 超过 150，平方溢出，结果就全坏了。所以，层归一化要用 float32 计算。

## 那 0.00007 从哪里来？

记 $\hat{x} = (x - \mu) / \sigma$。精确到 ε 的一次项，“标准差 + ε”给出 $\hat{x}\,(1 - \varepsilon / \sigma)$，层归一化给出 $\hat{x}\,(1 - \varepsilon / 2\sigma^2)$，两者之差是：

$$\hat{x}\;\frac{\varepsilon\,(1 - 2\sigma)}{2\sigma^2}$$
"""

# %% claims=["E30"]
x = torch.rand(4, 20, dtype=torch.float64)  # as in the note
mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
difference = (x - mean) / (std + 1e-5) - F.layer_norm(x, (20,))
derived = (x - mean) / std * 1e-5 * (1 - 2 * std) / (2 * std**2)
print(f"{difference.abs().max():.1e}  {(difference - derived).abs().max():.0e}")

# %% [markdown] lang="en"
r"""
The formula explains the whole difference, up to a ten-thousandth of it. Nothing is left for rounding.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| the largest deviation is 0.0000726 | That is the largest *signed* one. In the same printout stands −0.0000771: take `abs()` first. |
| with `std` it comes closer to the original | It is farther, hundreds of times: the right formula differs by float32's rounding only. |
| $\hat{x}$ and N in the formula | $\hat{x}$ has an index, one per feature, and N is not the batch: it is d, the number of features. |
| `normalized_shape` may be a tuple | Their class takes one and averages over the last axis only. |
| a random tensor and a glance at the differences | One size of input, γ = 1, β = 0, no seed, no tolerance: the test is blind. |
"""

# %% [markdown] lang="zh"
r"""
整个差别都由这个公式解释了，误差不到它的万分之一，没有什么要归给舍入。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 最大偏差是 0.0000726 | 这是**带符号**的最大值。同一份输出里还有 −0.0000771：应当先取 `abs()`。 |
| 用 `std` 更接近原版 | 恰恰更远，差别大到几百倍：正确的公式只差 float32 的舍入误差。 |
| 公式里的 $\hat{x}$ 和 N | $\hat{x}$ 应有下标，每个特征一个；N 不是批量大小，而是特征数 d。 |
| `normalized_shape` 可以是元组 | 笔记里的类接受元组，却只沿最后一个轴求均值。 |
| 用一个随机张量，看一眼差别 | 只有一种大小的输入，γ = 1，β = 0，没有随机种子，没有容差：这个测试是盲的。 |
"""

# %% claims=["E31", "E32"]
x = torch.rand(4, 20)  # float32
mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
outside = (x - mean) / (variance.sqrt() + 1e-5) - F.layer_norm(x, (20,))
inside = (x - mean) / (variance + 1e-5).sqrt() - F.layer_norm(x, (20,))
print(bool(outside.abs().max() > 50 * inside.abs().max()), bool((-outside).max() != outside.max()))

# %% claims=["E33", "E34"]
x = torch.randn(2, 3, 5)
y = torch.stack([(x[..., i] - x.mean(-1)) / (x.var(-1, correction=0) + 1e-5).sqrt() for i in range(5)], -1)
torch.testing.assert_close(y, F.layer_norm(x, (5,)))
print(torch.allclose(y, F.layer_norm(x, (3, 5)), atol=1e-3))

# %% [markdown] lang="en"
r"""
A test that sees: several sizes of input, random γ and β, and a tolerance. It finds the mistake at the first three sizes; at the size of `torch.rand` and above, it too would have let it pass:
"""

# %% [markdown] lang="zh"
r"""
一个看得见的测试：几种大小的输入，随机的 γ 和 β，再加一个容差。前三种大小都查出了错误；到了 `torch.rand` 那样的大小，再往上，连它也会放过：
"""

# %% claims=["E35"]
gamma, beta = torch.randn(2, 8)
for size in (1e-4, 1e-3, 1e-2, 0.29, 1.0, 100.0):
    x = size * torch.randn(3, 5, 8)
    y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-5) * gamma + beta
    print(size, torch.allclose(y, F.layer_norm(x, (8,), gamma, beta), atol=2e-2))

# %% [markdown] lang="en"
r"""
## What training makes of γ

γ starts at 1. MiniLM is a trained Transformer of 6 layers with 13 LayerNorms, and their γ come with this package. **Predict first:** are they above or below 1 now, and do all features keep the same one?
"""

# %% [markdown] lang="zh"
r"""
## 训练把 γ 变成了什么

γ 从 1 开始。MiniLM 是一个训练好的 Transformer，有 6 层、13 个层归一化，它们的 γ 随本课程的包一起提供。**先猜一猜**：现在它们比 1 大，还是比它小？所有特征的 γ 都一样吗？
"""

# %% tags=["panel"]
gammas = [value for name, value in minilm_layer_norms().items() if name.endswith("weight")]
Panel(
    trained_scales(gammas),
    size=(10, 3.8),
    place=Slider(0, 12, 1, 0, label=Text(en="norm", zh="第几个")),
)

# %% [markdown] lang="en"
r"""
Nearly all are below 1: around 0.6, from norm to norm. The norms that follow attention (1, 3, 5 …) have a few features far above the others, up to 1.5, and in the last norm 3 of the 384 γ are 0: the model has switched these features off. So after a trained LayerNorm the standard deviation is not 1 either.

## Exercise: LayerNorm

Write all of it. `normalized_shape` is a tuple with the sizes of the last axes; `weight` is γ and `bias` is β, either may be `None`.
"""

# %% [markdown] lang="zh"
r"""
几乎都小于 1：各个归一化层都在 0.6 左右。注意力之后的那些（第 1、3、5 个……）有少数特征的 γ 远大于其他，最大到 1.5；最后一个归一化层里，384 个 γ 中有 3 个是 0：模型把这些特征关掉了。所以，经过训练好的层归一化，标准差也不是 1。

## 练习：层归一化

请写出完整的函数。`normalized_shape` 是一个元组，即最后几个轴的大小；`weight` 是 γ，`bias` 是 β，两者都可以是 `None`。
"""


# %% tags=["exercise"]
def my_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ...


check("layer_norm", my_layer_norm)

# %% [markdown] lang="en"
r"""
Stuck? Count the axes from the end, as in lesson 02, and remember which variance it is. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？像第 02 课那样从后往前数轴，再想一想用的是哪一种方差。参考答案折叠在下面，后面的内容不会用到你的代码。
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


assert check("half_size", (1e-5 / 3) ** 0.5)
check("layer_norm", solved_layer_norm)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A test compares a new LayerNorm with torch's on `torch.randn(16, 64)` and finds a largest difference of 0.03, wherever you look about 0.8% of the value. Which mistake is it, and why 0.8%?

<details><summary>Answer</summary>

The variance is divided by d − 1: $\sqrt{63 / 64} = 0.992$. The ratio is the same for every number, whatever its size.

</details>

2. Another one agrees to 0.00001 on `torch.randn`. On the activations of a real model it is wrong by a third. What do you suspect, and what does one line show?

<details><summary>Answer</summary>

ε outside the root, or forgotten. Feed it `1e-3 * torch.randn(16, 64)`: there the difference is as large as the values.

</details>

3. A colleague stores the running mean of BatchNorm as `nn.Parameter(..., requires_grad=False)`, γ of LayerNorm as a buffer. What goes wrong?

<details><summary>Answer</summary>

γ is never trained: the optimizer sees `parameters()` only. The running mean is saved and moved all the same, but an optimizer with weight decay, or code that sets `requires_grad` for all parameters, will touch it.

</details>

The next cell shows the ratio and the difference of the first two answers.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 有人用 `torch.randn(16, 64)` 比较新写的层归一化和 torch 的，最大差别为 0.03，而且处处都约为数值的 0.8%。是哪种错误？为什么是 0.8%？

<details><summary>答案</summary>

方差除以了 d − 1：$\sqrt{63 / 64} = 0.992$。不论数值多大，比值都一样。

</details>

2. 另一个在 `torch.randn` 上只差 0.00001。换成真实模型的激活值，却差了三分之一。你怀疑什么？用哪一行代码可以看出来？

<details><summary>答案</summary>

ε 在根号外面，或者漏掉了。喂给它 `1e-3 * torch.randn(16, 64)`：那时差别和数值本身一样大。

</details>

3. 一位同事把批量归一化的移动均值存成 `nn.Parameter(..., requires_grad=False)`，把层归一化的 γ 存成缓冲区。会出什么问题？

<details><summary>答案</summary>

γ 永远得不到训练：优化器只看 `parameters()`。移动均值照样会保存、会更新，但带权重衰减的优化器，或者把所有参数的 `requires_grad` 都打开的代码，会去动它。

</details>

下一个单元格给出前两个答案里的比值和差别。
"""

# %%
x = torch.randn(16, 64, dtype=torch.float64)
wrong = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
print(f"{(wrong / F.layer_norm(x, (64,))).mean():.4f} {(63 / 64) ** 0.5:.4f}")
small = 1e-3 * x
outside = (small - small.mean(-1, keepdim=True)) / (small.std(-1, correction=0, keepdim=True) + 1e-5)
print(bool((outside - F.layer_norm(small, (64,))).abs().max() > 1))

# %% [markdown] lang="en"
r"""
**In one line:** ε inside the root, divided by d, over the last axes, and tested at more than one size.

## Going further: backward by hand

With $\hat{x} = (x - \mu)\,r$, $r = 1 / \sqrt{\sigma^2 + \varepsilon}$ and $g = \gamma \cdot \partial L / \partial y$, the gradient is

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

with the means over the features: whatever would move the mean or stretch the token is taken out of g. The factor r is at most $1 / \sqrt{\varepsilon} = 316$, for tiny inputs, and small for large ones: normalization does *not* make all gradients equal.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：ε 在根号里面，方差除以 d，沿最后几个轴，测试不能只用一种大小的输入。

## 选读：手算反向传播

记 $\hat{x} = (x - \mu)\,r$，$r = 1 / \sqrt{\sigma^2 + \varepsilon}$，$g = \gamma \cdot \partial L / \partial y$，梯度就是

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

其中的均值都沿特征轴求：g 里会挪动均值、会拉伸词元的部分，都被去掉了。输入很小时，因子 r 最大可到 $1 / \sqrt{\varepsilon} = 316$；输入很大时，它很小。可见，归一化**并没有**让所有的梯度一样大。
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
**ε = 1e-12.** One note takes this ε, as BERT does. In float16 it *is* 0, and a constant row becomes 0 / 0; torch's own function computes in float32 and is spared:
"""

# %% [markdown] lang="zh"
r"""
**ε = 1e-12**。有一篇笔记取这个值，BERT 也是。在 float16 里，它**就是** 0，常数行会变成 0 / 0；torch 自己的函数用 float32 计算，所以没事：
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
**参数还是缓冲区**？要训练的张量是 `nn.Parameter`，赋给模块的属性；只需记住的张量是缓冲区；放进 Python 列表，模块就都看不见了：
"""


# %% claims=["E39"]
class Three(nn.Module):
    def __init__(self):
        super().__init__()
        self.trained = nn.Parameter(torch.ones(2))
        self.register_buffer("remembered", torch.zeros(2))
        self.hidden = [nn.Parameter(torch.ones(2))]


print([name for name, _ in Three().named_parameters()], list(Three().state_dict()))
