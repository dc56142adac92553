# %% [markdown] lang="en"
r"""
# 01 Why do activations need a scale?

A network multiplies by a matrix, bends the result with an activation function, and does so again and again; the outputs of the activation function are called *activations*. If every layer makes the numbers a little smaller, after 20 layers nothing is left; if larger, they blow up or get stuck where the function is flat. **Normalization** puts the scale right in every layer.

After this lesson you can say what *saturated* means and see it in a gradient, predict what happens to a deep network when its weights are 100 times too large, and name one problem that normalization does *not* solve. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 01 激活值为什么需要合适的尺度？

网络先乘一个矩阵，再用激活函数（activation function）把结果弯一弯，如此反复；激活函数的输出叫作**激活值**（activation）。如果每一层都把数缩小一点，20 层之后就什么都不剩；如果每一层都放大一点，它们就会大得惊人，或者卡在激活函数平坦的地方。**归一化**（normalization）让每一层的数都回到合适的尺度。

学完这一课，你能说出什么叫**饱和**，并在梯度里看见它；能预测把所有权重都放大 100 倍，深层网络会怎样；还能说出一个归一化**解决不了**的问题。大约需要 20 分钟。
"""

# %%
import torch

from blocklab import BatchNorm
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.why_normalize import saturation, signals_through_layers
from blocklab.lessons.why_normalize.signals_through_layers import signals

# %% [markdown] lang="en"
r"""
## Two questions first

1. What is the slope of $\tanh$ at 0, and what does it tend to far out?
2. You multiply a number by 0.5, and do so 20 times. Roughly what is left of it?

<details><summary>Answers</summary>

1. 1 at 0, and 0 far out: the slope is $1 - \tanh^2$.
2. A millionth: $0.5^{20} \approx 10^{-6}$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. $\tanh$ 在 0 处的斜率是多少？在远处趋近于多少？
2. 一个数连续 20 次乘以 0.5，大约还剩原来的多少？

<details><summary>答案</summary>

1. 在 0 处是 1，在远处趋近于 0：斜率是 $1 - \tanh^2$。
2. 百万分之一：$0.5^{20} \approx 10^{-6}$。

</details>
"""

# %% [markdown] lang="en"
r"""
## Two inputs, one weight

The source notes (the web notes of lesson 00) tell it like this: with the weight 0.1 the inputs 1 and 20 become 0.1 and 2, and after $\tanh$ "about 0.1 and about 1", so that larger inputs make no difference. Let us look, at the slope too, and a little farther out:
"""

# %% [markdown] lang="zh"
r"""
## 两个输入，一个权重

原始笔记（第 00 课里说的网上笔记）是这样讲的：权重为 0.1 时，输入 1 和 20 变成 0.1 和 2，经过 $\tanh$ 之后“约为 0.1 和约为 1”，所以输入再大也没有差别。我们来看一看，连斜率一起看，再多看远一点的两处：
"""

# %% claims=["E20"]
z = torch.tensor([0.1, 2.0, 3.0, 5.0], requires_grad=True)
torch.tanh(z).sum().backward()
print(torch.tanh(z).detach())
print(z.grad)

# %% [markdown] lang="en"
r"""
At 2 the output is 0.964, not yet 1. What has collapsed is the **slope**: from 0.99 to 0.07, and at 5 to 0.0002. Backpropagation multiplies by it, so where an input has come to the flat part, the weights in front of it get hardly any gradient. That is what *saturated* means.

**Predict first:** the notes also say that without normalization most activations become ±1. How large must the inputs of $\tanh$ be for that? Drag, then switch on *standardize first*.
"""

# %% [markdown] lang="zh"
r"""
在 2 处，输出是 0.964，还没有到 1。真正垮掉的是**斜率**：从 0.99 降到 0.07，到 5 处只剩 0.0002。反向传播时，梯度要乘上这个斜率，所以输入一旦落在平坦的地方，它前面的权重就几乎得不到梯度。这就叫**饱和**（saturation）。

**先猜一猜**：笔记还说，不做归一化，多数激活值都会变成 ±1。$\tanh$ 的输入要有多大才会这样？先拖动滑块，再打开“先标准化”。
"""

# %% tags=["panel"]
saturation.panel()

# %% [markdown] lang="en"
r"""
It depends on the scale: 14% lie beyond ±0.9 when the inputs have standard deviation 1, 46% at 2, 94% at 20. It also depends on where they lie: these have mean 0, but with mean 3 even a standard deviation of 0.1 puts *all* outputs beyond ±0.9. **Standardizing** cures both, and makes the slider idle: subtract the mean and divide by the standard deviation. With random draws, first of mean 0, then of mean 3:
"""

# %% [markdown] lang="zh"
r"""
这取决于尺度：输入的标准差为 1 时，14% 的输出超出 ±0.9；为 2 时占 46%；到 20 时占 94%。它还取决于位置：这里的输入均值为 0；要是均值为 3，标准差哪怕只有 0.1，也会有**全部**输出超出 ±0.9。**标准化**（standardization）就是减去均值，再除以标准差；它同时解决了这两个问题，滑块也就不起作用了。换成随机数，先取均值 0，再取均值 3：
"""

# %% claims=["E24"]
for mean, scale in ((0, 0.5), (0, 1), (0, 2), (0, 20), (3, 0.1)):
    y = torch.tanh(mean + scale * torch.randn(100000))
    share, slope = (y.abs() > 0.9).float().mean(), (1 - y.square()).mean()
    print(f"mean {mean}, deviation {scale:4}: share {share:.2f}, slope {slope:.2f}")

# %% [markdown] lang="en"
r"""
**Your turn, one line.** `x` has the shape `(N, d)`: each row is a sample, each column a feature on a scale of its own. The axis that you average over is the one that disappears. Along which axis must you average so that every *feature* gets mean 0 and standard deviation 1? Replace `None` by its number.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行：`x` 的形状是 `(N, d)`，每一行是一个样本，每一列是一个特征，各有各的尺度。沿哪个轴求均值，哪个轴就消失。要让每个**特征**的均值为 0、标准差为 1，应当沿哪个轴求均值？请把 `None` 换成轴的编号。
"""

# %% tags=["exercise"]
my_axes = None

check("feature_axes", my_axes)

# %% tags=["solution"]
solved_axes = 0

check("feature_axes", solved_axes)

# %% [markdown] lang="en"
r"""
## Twenty layers

Normalizing the input helps the first layer. What about the twentieth? The panel shows a network of $\tanh$ or ReLU layers (ReLU is $\max(0, x)$) with random weights, before any training: on the left histograms of the activations, layer by layer, on the right their standard deviation and the gradient with respect to them, on a logarithmic axis. *Weights* 1 means that the matrices about keep the size of the numbers; the input has mean 3 and standard deviation 5.

First try without normalization: drag *weights* to about 0.5 and to about 3. Normalizing the input alone does not help the deep layers: at 3 it makes no difference after a few of them, and at 0.5 they shrink just the same.

**Predict.** Now choose BatchNorm: a normalization after every matrix, of each feature over the batch (LayerNorm: of each sample over its features; lesson 02). You drag the weights from 0.1 to 10, that is times 100. What do the histograms do?
"""

# %% [markdown] lang="zh"
r"""
## 二十层

只给输入做归一化，能帮到第一层。第二十层呢？下面的面板是一个由 $\tanh$ 层或 ReLU 层组成的网络（ReLU 即 $\max(0, x)$），权重随机，还没有训练：左边是逐层的激活值直方图；右边是激活值的标准差，以及对各层激活值的梯度，用对数轴。“权重的大小”取 1 时，乘矩阵大致不改变数的大小；输入的均值是 3，标准差是 5。

先看不做归一化的情形：把“权重的大小”拖到约 0.5，再拖到约 3。只归一化输入，帮不了深层：取 3，几层之后就没有差别；取 0.5，照样一层层缩小。

**猜一猜**：现在选批量归一化（BatchNorm），也就是每乘一次矩阵，就让每个特征在小批量里归一化一次（层归一化是每个样本沿自己的特征归一化，见第 02 课）。把权重从 0.1 拖到 10，放大 100 倍，这些直方图会怎样？
"""

# %% tags=["panel", "guess"]
signals_through_layers.panel()

# %% [markdown] lang="en"
r"""
Nothing changes: standard deviation 0.63 in every layer, whatever the weights. Their size no longer matters: the normalization divides it out. Without it, layer 20 is at about a millionth for weights of 0.5, the 0.5 to the power of 20 of the second question, and at 3 more than half of the activations are saturated.

Leave the weights at 3 and look at the orange curve, too. The layers are saturated, and yet the gradient *grows* towards the input, a few hundred times. Going back, each layer multiplies by the slope **and by the weights**: most slopes are near 0, but the few units still where tanh is steep hand the gradient on about three times as large. So saturation starves the units that are saturated; it does not promise a small gradient.

The standard deviation in layer 20, for weights of 0.5, 1 and 3:
"""

# %% [markdown] lang="zh"
r"""
完全不变：不论权重多大，每一层的标准差都是 0.63。权重的大小不再起作用，因为归一化又把它除掉了。不做归一化时，权重取 0.5，第 20 层只剩百万分之一左右，也就是第二个问题里 0.5 的 20 次方；取 3，一半以上的激活值饱和。

权重仍取 3，再看橙色曲线。这些层明明饱和了，梯度却越靠近输入**越大**，大到几百倍。往回走时，每一层既要乘斜率，**也要乘权重**：多数单元的斜率接近 0；少数仍在 tanh 陡峭处的单元，却把梯度放大到约三倍再传回去。所以，饱和只让饱和的那些单元得不到梯度，整层的梯度未必小。

第 20 层的标准差，权重依次取 0.5、1 和 3：
"""

# %%
for norm in ("none", "input", "batch", "layer"):
    spreads = [signals(gain, 20, "tanh", norm)[0][-1].std().item() for gain in (0.5, 1, 3)]
    print(f"{norm:6}", " ".join(f"{spread:9.6f}" for spread in spreads))

# %% [markdown] lang="en"
r"""
## Forty layers of ReLU

Now choose ReLU, BatchNorm, 40 layers. The standard deviation is nearly the same in every layer, 0.58 to 0.63. The histograms are not: the deeper the layer, the more of the activations are small, while a few become large, the largest 3.9 in layer 1 and 9.8 in layer 40:
"""

# %% [markdown] lang="zh"
r"""
## 四十层 ReLU

现在选 ReLU、批量归一化、40 层。各层激活值的标准差几乎一样，在 0.58 和 0.63 之间。直方图却不一样：层数越深，小的越多，同时有少数越来越大，最大值从第 1 层的 3.9 升到第 40 层的 9.8。
"""

# %%
told = Text(
    en="layer {:2}: deviation {:.2f}, largest {:.1f}, half of the positive ones below {:.2f}",
    zh="第 {:2} 层：标准差 {:.2f}，最大值 {:.1f}，正的有一半小于 {:.2f}",
)
for layer in (1, 10, 40):
    a = signals(1.0, 40, "relu", "batch")[0][layer - 1]
    print(told.format(layer, a.std(), a.max(), a[a > 0].median()))

# %% [markdown] lang="en"
r"""
Now look at the orange curve: the gradient at layer 1 is more than 1000 times that at the last layer. On the way back it grows by a factor of about 1.2 per layer, *because of* BatchNorm; with LayerNorm, in this ReLU network, its ratio to the last layer's stays between 0.5 and 1. So the notes' sentence "with normalization gradients are stable, never too large or too small" promises too much. The ratio, and the factor per layer:
"""

# %% [markdown] lang="zh"
r"""
再看橙色曲线：第 1 层的梯度是最后一层的 1000 多倍。每往回走一层，梯度约为原来的 1.2 倍，而这**正是**批量归一化造成的；换成层归一化（LayerNorm），在这个 ReLU 网络里，各层梯度与最后一层之比始终在 0.5 和 1 之间。所以，笔记里那句“有了归一化，梯度就稳定，不会太大也不会太小”说得太满了。下面是两端之比，以及每层的倍数：
"""

# %% claims=["E38"]
for norm in ("batch", "layer"):
    _, gradients = signals(1.0, 40, "relu", norm)
    ratio = gradients[0] / gradients[-1]
    print(f"{norm}  {ratio:.2g}  {ratio ** (1 / 39):.2f}")

# %% [markdown] lang="en"
r"""
[Yang and others](https://arxiv.org/abs/1902.08129) proved in 2019 that this explosion comes from BatchNorm itself; neither other variances of the initial weights nor another activation function removes it (closer to a linear function it is weaker). What helps in practice is the residual connection of lesson 11.

## What BatchNorm is not

One note says that BatchNorm *is* dividing the data into small batches for training. That is mini-batch gradient descent, which is older and needs no normalization. BatchNorm **uses** the mini-batch: it computes mean and variance from it, and the gradient passes through both. So one sample's output depends on the others, and they get a gradient from it:
"""

# %% [markdown] lang="zh"
r"""
[Yang 等人](https://arxiv.org/abs/1902.08129)在 2019 年证明，这种爆炸来自批量归一化本身，调整权重的初始方差或更换激活函数，都消除不了（激活函数越接近线性，爆炸越弱）。实践中管用的是第 11 课的残差连接。

## 批量归一化不等于小批量训练

有一篇笔记说，批量归一化**就是**把数据分成小批量来训练。那其实是小批量梯度下降，它出现得更早，也不需要任何归一化。批量归一化是**利用**小批量：用它来计算均值和方差，而梯度要穿过这两者。所以，一个样本的输出也受其他样本影响，其他样本也会从它得到梯度：
"""

# %% claims=["E21"]
x = torch.tensor([[1.0], [2.0], [4.0]], requires_grad=True)  # (N, 1)
BatchNorm(1)(x)[0].sum().backward()
print(x.grad.flatten())

# %% [markdown] lang="en"
r"""
Only the output of sample 0 was differentiated, and all three samples get a gradient.

## Exercise: standardize

Most normalization layers are built on one function. Write it: subtract the mean over `axes`, an integer or a tuple, and divide by the root of variance plus `eps`, the small ε that keeps the division from being by 0. The variance is the mean of the squared deviations, that is, of the differences from the mean.
"""

# %% [markdown] lang="zh"
r"""
这里只对第 0 个样本的输出求梯度，三个样本却都得到了梯度。

## 练习：标准化

大多数归一化层都建立在同一个函数之上。请把它写出来：减去沿 `axes`（一个整数或元组）求得的均值，再除以“方差加 `eps`”的平方根，这里的小常数 ε 防止除以 0。方差就是离差平方的均值，离差即各个数与均值之差。
"""


# %% tags=["exercise"]
def my_standardize(x, axes, eps=1e-5):
    return ...


check("standardize", my_standardize)

# %% [markdown] lang="en"
r"""
Stuck? `keepdim=True` keeps the averaged axes with size 1, so that the subtraction broadcasts. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？`keepdim=True` 会把求过均值的轴保留下来，大小为 1，这样相减时才能正确广播。参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_standardize(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return centred / (variance + eps).sqrt()


check("standardize", solved_standardize)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. The inputs of $\tanh$ have standard deviation 20. How many outputs lie beyond ±0.9, and what does that do to the weights before it?

<details><summary>Answer</summary>

94%. The slope there is nearly 0, so the weights in front of them get almost no gradient.

</details>

2. In a network with BatchNorm after every matrix, someone multiplies all weights by 2. What changes in the outputs of `train()`, for the same batch?

<details><summary>Answer</summary>

Nothing, apart from the ε: the standard deviation is multiplied by 2, too, and the division cancels it. (In `eval()` they change, until the buffers of lesson 03 have followed.)

</details>

3. A friend shows you a 40-layer ReLU network in whose layers the activations all have about the same standard deviation and which does not train. What do you plot next?

<details><summary>Answer</summary>

The gradient at each layer, on a logarithmic axis. With BatchNorm it can grow more than 1000 times towards the input although their standard deviation stays the same.

</details>

The next cell shows the second answer.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. $\tanh$ 的输入标准差为 20。有多少输出超出 ±0.9？这对它前面的权重意味着什么？

<details><summary>答案</summary>

94%。那里的斜率几乎为 0，所以那些权重几乎得不到梯度。

</details>

2. 在一个每次乘矩阵之后都有批量归一化的网络里，有人把所有权重都乘以 2。对同一个小批量，`train()` 下的输出有什么变化？

<details><summary>答案</summary>

除了 ε 的影响，什么都不变：标准差也乘以 2，一除就抵消了。（在 `eval()` 下会变，直到第 03 课的缓冲区跟上来为止。）

</details>

3. 朋友给你看一个 40 层的 ReLU 网络：每一层激活值的标准差都差不多，却训练不动。接下来你会画什么？

<details><summary>答案</summary>

画出每一层的梯度，用对数轴。有批量归一化时，激活值的标准差没有变化，梯度却可能越靠近输入越大，大到 1000 多倍。

</details>

下一个单元格验证第二题的答案。
"""

# %%
once, doubled = (signals(gain, 20, "tanh", "batch")[0][-1] for gain in (1.0, 2.0))
print(f"{(once - doubled).abs().max():.2f}")

# %% [markdown] lang="en"
r"""
**In one line:** a normalization takes the size of the weights out of the forward pass; look at the gradients before you call a network healthy.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：归一化让前向计算不再受权重大小的影响；但要说一个网络健康，还得看梯度。
"""
