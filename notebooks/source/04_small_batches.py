# %% [markdown] lang="en"
r"""
# 04 When does BatchNorm fail?

BatchNorm takes mean and variance from the mini-batch. From thousands of numbers it gets fair estimates. From four they are rough, and from two something else happens: all that is left of the two numbers is which one is larger.

After this lesson you can count how many numbers share a mean, say what no output of BatchNorm can exceed, tell in advance which network fails with a batch of two, and merge the statistics of two parts, as processes that train together do. It takes about 25 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 04 批量归一化什么时候失效？

批量归一化（BatchNorm）用小批量的均值和方差。有几千个数，估计得相当准；只有四个数，就很粗略；只有两个数，情况就完全变了：原来的两个数，只剩下谁大谁小。

学完这一课，你能数出多少个数共用一个均值，能说出批量归一化的输出不会超过多少，能事先判断小批量只有两个样本时，哪种网络会失效，还会合并两部分数据的统计量，多个进程一起训练时就是这样做的。大约需要 25 分钟。
"""

# %%
from functools import partial
from itertools import product
from statistics import mean

import torch
from sklearn.datasets import load_digits
from torch import nn

from blocklab.checks import check
from blocklab.language import Text
from blocklab.lesson import progress
from blocklab.panel import Choice, Panel, Slider, Toggle
from blocklab.pictures.accuracy_by_batch import accuracy_by_batch
from blocklab.pictures.estimate_spread import estimate_spread
from blocklab.pictures.saturating_batch import GUESSES, saturating_batch, through

# %% [markdown] lang="en"
r"""
## Two questions first

1. In training, BatchNorm gets the two values 1 and 3. Which variance does it divide by (before the root), and which does it put into `running_var`?
2. The input of $\tanh$ goes from 5 to 500. What becomes of the output and of its slope?

<details><summary>Answers</summary>

1. It divides by the biased one: 1. Into `running_var` goes the unbiased one: 2.
2. The output hardly changes: it is 1 to three decimals all the time. The slope goes from 0.0002 to 0. The function is saturated.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 训练时，批量归一化得到两个数 1 和 3。它除以的是哪个方差（开方之前）？算进 `running_var` 的又是哪个？
2. $\tanh$ 的输入从 5 变到 500，输出和斜率会怎样？

<details><summary>答案</summary>

1. 除以的是有偏方差 1；算进 `running_var` 的是无偏方差 2。
2. 输出几乎不变：保留三位小数，始终是 1。斜率从 0.0002 降到 0。函数饱和了。

</details>
"""

# %% [markdown] lang="en"
r"""
## A batch of two, by hand

Two samples with four features; each column is a feature. In training:
"""

# %% [markdown] lang="zh"
r"""
## 动手算：两个样本

两个样本，各有四个特征，每一列是一个特征。训练时：
"""

# %%
pair = torch.tensor([[1.0, 10.0, 0.5, 0.000], [2.0, -50.0, 0.5, 0.002]])  # (N, C)
nn.BatchNorm1d(4, affine=False)(pair)

# %% [markdown] lang="en"
r"""
In the first two columns it makes no difference whether the numbers lie 1 or 60 apart. The mean is halfway between them, so both are at the same distance δ from it, and δ is also the standard deviation: δ / δ = 1. Two equal numbers give 0. Only where δ is not large beside √ε = 0.003, as in the last column with δ = 0.001, does anything lie in between.

## How many numbers share a mean?

One of the source notes warns: with few samples, "for instance only 4", mean and variance say little about the whole. Right, but what counts is m, the number of values that share a mean, not the number of samples.

**Your turn, one line.** In training, 4 images with 16 channels of 14 × 14 go through `BatchNorm2d(16)`: `x` has the shape `(4, 16, 14, 14)`. How many values share one mean? Replace `None`.
"""

# %% [markdown] lang="zh"
r"""
在前两列里，两个数不论相差 1 还是相差 60，结果都一样。均值正好在两数中间，两个数到它的距离都是 δ，而标准差也是 δ：δ / δ = 1。两个数相等，就得 0。只有当 δ 与 √ε = 0.003 相比不算大时，才会得到中间的值，例如最后一列，δ = 0.001。

## 多少个数共用一个均值？

有一篇原始笔记提醒说：样本数很少时，“比如说只有 4 个”，均值和方差不能反映整体。这话不错，但要看的不是样本数，而是 m，即共用一个均值的数值个数。

**轮到你了**，只写一行：训练时，4 张图、16 个通道、每个通道 14 × 14，送入 `BatchNorm2d(16)`，也就是说，`x` 的形状是 `(4, 16, 14, 14)`。多少个数共用一个均值？请替换 `None`。
"""

# %% tags=["exercise"]
my_count = None

check("values_per_mean", my_count)

# %% [markdown] lang="en"
r"""
## A small batch is a saturating function

On the left, m values that share a mean, above before BatchNorm, below after it. The red one, $x_1$, is yours to move from 0.1 to 1000; the others stay between −1 and 1. The upper ruler is even up to 1 and logarithmic beyond. On the right, the output for $x_1$ against $x_1$.

With m = 32, drag $x_1$ a little: from 0.1 to 1 the output becomes almost ten times as large.

**Predict first.** Now m = 2: the other value is 0. $x_1$ goes from 0.1 to 1000. What does its output do? Choose, then set *m* to 2 and drag.
"""

# %% [markdown] lang="zh"
r"""
## 小批量是一个会饱和的函数

左边是共用一个均值的 m 个数，上面是批量归一化之前，下面是之后。红色的 $x_1$ 由你移动，从 0.1 到 1000；其余的数固定在 −1 和 1 之间。上面那把尺子在 1 以内是均匀的，再往上用对数刻度。右边是 $x_1$ 的输出随 $x_1$ 变化的曲线。

先在 m = 32 时稍微拖动 $x_1$：从 0.1 到 1，输出变成原来的近十倍。

**先猜一猜**：现在取 m = 2，另一个数是 0。$x_1$ 从 0.1 变到 1000，它的输出会怎样？先选，再把 m 调到 2，然后拖动。
"""

# %% tags=["panel"]
Panel(
    saturating_batch,
    size=(10, 4.2),
    guess=Choice(GUESSES, None, label=Text(en="your guess", zh="你的猜测")),
    m=Slider(1, 32, 1, 32, label=Text(en="m", zh="m")),
    x=Slider(0.1, 1000, 10**0.1, 0.1, label=Text(en="x₁", zh="x₁"), log=True),
)

# %%
for m in (2, 4, 32):
    near, far = (through(m, x)[0] for x in (0.1, 1000.0))
    slope = (through(m, 1.1)[0] - through(m, 0.9)[0]) / 0.2
    print(f"m = {m:2}: from {near:.3f} to {far:.3f}, ceiling {(m - 1) ** 0.5:.3f}, slope at 1: {slope:.3f}")

# %% [markdown] lang="en"
r"""
With m = 2 the output goes from 0.998 to 1.000: it hardly changes. BatchNorm has become a sign function. With more values it still saturates, only higher up: however far $x_1$ runs, its output stays below $\sqrt{m - 1}$. Why? When $x_1 = a$ is so far away that the others are as good as 0, the mean is $a / m$ and the standard deviation $a \sqrt{m - 1} / m$, so

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

Look at the lower ruler, too: there the other values have become one point. A single outlier wipes out all differences between the rest.

It is lesson 01's saturated $\tanh$ again: where the curve is flat, as everywhere here with m = 2, hardly any gradient goes back to the layers before. And with m = 1 the output is β, whatever the input: nothing is left to learn from. One note names online learning, where the samples come one by one, as a case against BatchNorm; that is why. torch refuses.

## How far off are the estimates?

If the m values are independent, with true standard deviation σ, theory says: the mean of a mini-batch has standard deviation $\sigma / \sqrt{m}$, and its unbiased variance, for normally distributed values, $\sigma^2 \sqrt{2 / (m - 1)}$. Below, σ = 1. **Predict first:** with 4 images, from which height and width on is the mean known to a tenth, that is, to 0.1? Drag. Then switch on *neighbours alike*: each pixel becomes the average of 3 × 3 random numbers, so that neighbours share most of them.
"""

# %% [markdown] lang="zh"
r"""
m = 2 时，输出从 0.998 变到 1.000，几乎不变：批量归一化成了一个符号函数。数再多一些，它照样饱和，只是高一点：不论 $x_1$ 跑多远，它的输出都低于 $\sqrt{m - 1}$。为什么？当 $x_1 = a$ 远到其余的数都可以看作 0 时，均值是 $a / m$，标准差是 $a \sqrt{m - 1} / m$，所以

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

再看下面那把尺子：其余的数都挤成了一点。只要有一个离群的数，其余各数之间的差别就全没了。

这正是第 01 课里饱和的 $\tanh$：曲线一平，就几乎没有梯度传回前面的层，而这里 m = 2 的曲线处处都平。m = 1 时，不论输入是什么，输出都是 β，什么也学不到。有一篇笔记说，批量归一化（BatchNorm）不适合样本一个一个到来的在线学习（online learning），原因就在这里。torch 拒绝这样做。

## 估计得有多准？

如果 m 个数相互独立，真实标准差为 σ，那么按理论，小批量均值的标准差是 $\sigma / \sqrt{m}$；如果它们还服从正态分布，无偏方差的标准差是 $\sigma^2 \sqrt{2 / (m - 1)}$。下面取 σ = 1。**先猜一猜**：有 4 张图，高和宽要到多大，均值才能准到十分之一，即 0.1？拖动滑块看看。然后打开“相邻像素相似”：每个像素变成 3 × 3 个随机数的平均，相邻像素就有大部分随机数是共用的。
"""

# %% tags=["panel"]
Panel(
    estimate_spread,
    size=(10, 4),
    images=Slider(2, 32, 2, 4, label=Text(en="images N", zh="图像数 N"), log=True),
    side=Slider(1, 14, 1, 1, label=Text(en="height = width", zh="高 = 宽")),
    alike=Toggle(False, label=Text(en="neighbours alike", zh="相邻像素相似")),
)

# %% [markdown] lang="en"
r"""
From 5 × 5 on: m = 100, and 1 / √100 = 0.1. With 14 × 14 it is 784 values and 0.036: four samples, and a fair estimate. With neighbours alike the funnel no longer holds: the same 784 values are worth about 100 independent ones. How alike neighbours are in a real network differs from channel to channel.

The next cell compares theory and random draws for m = 4, without images:
"""

# %% [markdown] lang="zh"
r"""
从 5 × 5 开始：m = 100，1 / √100 = 0.1。14 × 14 时有 784 个数，标准差 0.036：同样是四个样本，估计已经相当准。相邻像素相似时，测量值就超出了漏斗：同样是 784 个数，只相当于约 100 个独立的数。在真实网络里，相邻像素有多相似，各个通道并不相同。

下一个单元格不用图像，取 m = 4，把理论值和随机数的结果放在一起：
"""

# %% claims=["E25"]
x = torch.randn(400000, 4)  # so many batches of m = 4
print(f"mean {x.mean(1).std():.2f}   theory {4**-0.5:.2f}")
print(f"unbiased variance {x.var(1).std():.2f}   theory {(2 / 3) ** 0.5:.2f}")
print(f"biased variance, average {x.var(1, correction=0).mean():.2f}   theory {3 / 4:.2f}")

# %% [markdown] lang="en"
r"""
So four *independent* values do say little: typically, the mean is off by half a standard deviation and the unbiased variance by 82% of the true one; the biased one is also too small by a quarter on average.

## Real digits

Now 1797 handwritten digits of 8 × 8 pixels, 1280 to learn from, the others to test. Two networks:

* **MLP**: two hidden layers of 128 features, a normalization after each. At batch size 2, BatchNorm has m = 2.
* **convolutions**: two of them, a normalization after each and nowhere else. At batch size 2, BatchNorm has m = 2 · 8 · 8 = 128 and, after a pooling, m = 2 · 4 · 4 = 32.

Each is trained from 3 random starts. The learning rate grows with the batch size; the test is in `eval()`.
"""

# %% [markdown] lang="zh"
r"""
所以，四个**独立**的数确实说明不了什么：均值通常会偏差半个标准差，无偏方差会偏差真实方差的 82%；有偏方差平均还要小四分之一。

## 真实的手写数字

这里有 1797 张手写数字，每张 8 × 8 个像素，1280 张用来学习，其余的用来测试。两个网络：

* **MLP**：两个隐藏层，各 128 个特征，每层之后有一次归一化。批量大小为 2 时，批量归一化的 m = 2。
* **卷积**：两个卷积层，每层之后有一次归一化，别处没有。批量大小为 2 时，批量归一化的 m = 2 · 8 · 8 = 128；经过一次池化之后，m = 2 · 4 · 4 = 32。

每个网络都从 3 个随机初值开始训练。学习率随批量大小成比例增加；测试用 `eval()`。
"""

# %%
digits, order = load_digits(), torch.randperm(1797)
images = torch.tensor(digits.images, dtype=torch.float32)[order].unsqueeze(1)  # (N, C, H, W)
images, labels = (images - images.mean()) / images.std(), torch.tensor(digits.target)[order]


def accuracy(net, batch_size, epochs):
    rate = 0.05 * batch_size / 32
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9, fused=True)
    for batch in torch.cat([torch.randperm(1280) for _ in range(epochs)]).split(batch_size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
        optimizer.step()
    with torch.inference_mode():
        right = net.eval()(images[1280:]).argmax(1) == labels[1280:]
    return 100 * right.float().mean().item()


# %%
def mlp(norm):
    hidden = [nn.Linear(64, 128), norm(128), nn.ReLU(), nn.Linear(128, 128), norm(128), nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(128, 10))


def convolutions(norm):
    first = [nn.Conv2d(1, 16, 3, padding=1), norm(16), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(16, 32, 3, padding=1), norm(32), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(128, 10))


# %% [markdown] lang="en"
r"""
**Predict first.** BatchNorm at batch size 2: does the MLP fail, or the network with convolutions, or do both? And who is ahead at 32? The training takes some seconds.
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：批量大小为 2 时，用批量归一化，是 MLP 失效，还是卷积网络失效，还是两个都失效？批量大小为 32 时，谁领先？训练要花几秒钟。
"""

# %% tags=["slow"]
group = partial(nn.GroupNorm, 8)
mlps = {"BatchNorm": nn.BatchNorm1d, "LayerNorm": nn.LayerNorm, "GroupNorm": group}
convs = {"BatchNorm": nn.BatchNorm2d, "GroupNorm": group}
runs = [(mlp, 3, mlps, *run) for run in product(mlps, (2, 4, 32), range(3))]
runs += [(convolutions, 1, convs, *run) for run in product(convs, (2, 4, 32), range(3))]
scores = {mlp: {}, convolutions: {}}
for make, epochs, norms, norm, size, start in progress(runs, Text(en="trained", zh="已训练")):
    torch.manual_seed(start)
    scores[make].setdefault((norm, size), []).append(accuracy(make(norms[norm]), size, epochs))

# %% tags=["nbval-ignore-output"]
names = {Text(en="MLP", zh="MLP"): scores[mlp], Text(en="convolutions", zh="卷积"): scores[convolutions]}
Panel(accuracy_by_batch(names), size=(10, 3.8))

# %% [markdown] lang="en"
r"""
A dot is the mean of the 3 runs, its bar their standard deviation. (It comes out a little differently on every machine; the verdicts below have wide margins, and the last one takes 20 starts.)
"""

# %% [markdown] lang="zh"
r"""
每个点是 3 次训练的均值，竖线是它们的标准差。（在不同的机器上，上图会略有不同；下面的结论都留有很大余地，最后一条用了 20 个随机初值。）
"""

# %% tags=["slow"]
for make, other in ((mlp, "LayerNorm"), (convolutions, "GroupNorm")):
    for size in (2, 4, 32):
        behind = mean(scores[make][other, size]) - mean(scores[make]["BatchNorm", size]) > 10
        print(f"{make.__name__}, batch size {size}: BatchNorm more than 10 points behind {other}: {behind}")
at_32 = {nn.BatchNorm1d: [], nn.LayerNorm: []}
for norm, start in product(at_32, range(20)):
    torch.manual_seed(start)
    at_32[norm].append(accuracy(mlp(norm), 32, 3))
print("mlp, batch size 32: BatchNorm ahead of LayerNorm:", mean(at_32[nn.BatchNorm1d]) > mean(at_32[nn.LayerNorm]))

# %% [markdown] lang="en"
r"""
Both halves are true. At m = 2 BatchNorm collapses. But at the same batch size the network with convolutions does not, for it has m = 128 and m = 32, and at 32 BatchNorm is ahead in the MLP. "BatchNorm fails with small batches" leaves out what is small.

Not to collapse is not yet to be free of charge. A large network on a hard task, ResNet-50 on ImageNet (photos of 224 × 224), error in % ([Wu and He 2018](https://arxiv.org/abs/1803.08494), table 2):

| images per GPU | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| BatchNorm | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| GroupNorm | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

Here, too, BatchNorm stands after convolutions only, and its last feature maps of 7 × 7 give m = 98 for 2 images. Still it loses 11 points. A hundred values from two photos need not be worth a hundred independent ones, and `eval()` then works with other statistics than the training did.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| with only 4 samples the statistics do not reflect the whole | With m = 4, yes. In a convolutional layer m is N · H · W. |
| LayerNorm is used for text because lengths differ | That is half of it. In a Transformer it works on each token alone, so neither the other sentences nor the padding matter (the filler that makes short sentences as long as the longest), training and inference compute the same, and GPUs have nothing to exchange. |
| BatchNorm suits CNNs (convolutional networks), LayerNorm sequences | Too simple. CNNs trained on small batches: GroupNorm, see above. LayerNorm is found in vision, too (ViT, ConvNeXt), at a price in ResNet-50: 25.3% error at batch size 32. And many recent language models use RMSNorm. |

The point about padding, tested. Two sentences of five tokens; in a copy, the last two tokens of the second sentence are padding, here 0. How much do the outputs of the *first* sentence change?
"""

# %% [markdown] lang="zh"
r"""
两方面都是真的。m = 2 时，批量归一化垮掉了。但批量大小相同，卷积网络却没有垮，因为它的 m = 128 和 m = 32；到了 32，批量归一化在 MLP 里还领先。只说“小批量时批量归一化会失效”，却没有说什么才算小。

不过，没有垮掉，不等于没有代价。换成大网络、难任务，在 ImageNet（224 × 224 的照片）上训练 ResNet-50，错误率（%）是（[Wu 和 He 2018](https://arxiv.org/abs/1803.08494)，表 2）：

| 每块 GPU 的图像数 | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| 批量归一化（BatchNorm） | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| 组归一化（GroupNorm） | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

这里的批量归一化同样只在卷积之后，最后的特征图是 7 × 7，2 张图就有 m = 98。可它还是差了 11 个百分点。两张照片里的一百个数，未必抵得上一百个独立的数；而且 `eval()` 用的统计量，和训练时用的不一样。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 只有 4 个样本时，统计量不能反映整体 | m = 4 时成立。在卷积层里，m 是 N · H · W。 |
| 文本用层归一化（LayerNorm），是因为长度不一 | 这只是一半。在 Transformer 里，它对每个词元单独计算，所以既不受其他句子影响，也不受填充影响（填充就是把短句补到和最长的句子一样长的部分）；训练和推理的计算相同；各块 GPU 之间什么都不用交换。 |
| 批量归一化（BatchNorm）适合 CNN（卷积网络），层归一化（LayerNorm）适合序列 | 太简单了。用小批量训练 CNN，宜用组归一化（GroupNorm），见上表。视觉模型也用层归一化（ViT、ConvNeXt），只是在 ResNet-50 里有代价：批量大小为 32 时，错误率 25.3%。而近来的许多语言模型用的是 RMSNorm。 |

检验关于填充的那一点。两个句子，各五个词元；在另一份里，第二句的最后两个词元是填充，这里填 0。**第一句**的输出会变多少？
"""

# %% claims=["E14", "E18"]
text = torch.randn(2, 5, 8)  # (N, L, d)
padded = text.clone()
padded[1, 3:] = 0
layer, batch = nn.LayerNorm(8), nn.BatchNorm1d(8)
for name, norm in (("LayerNorm", layer), ("BatchNorm", lambda x: batch(x.mT).mT)):
    change = (norm(text)[0] - norm(padded)[0]).abs().max()
    print(f"{name}: {change:.1f}")

# %% [markdown] lang="en"
r"""
## Exercise: merge two parts

When a batch is too large for one GPU, each takes a part. Can the parts find the mean and the variance of the whole without sending all their numbers? Yes, if each sends three things per channel: the *count*, the *mean*, and *M2*, the sum of squared distances from that mean (not divided by anything yet). The first part holds 1 and 3: count 2, mean 2, M2 = 1 + 1 = 2. The second holds 3, 5, 5, 7: count 4, mean 5, M2 = 4 + 0 + 0 + 4 = 8. All six: count 6, mean 4, M2 = 9 + 1 + 1 + 1 + 1 + 9 = 22.

Write the function that gets 6, 4 and 22 from the others. It returns count, mean and M2; counts are integers, means and M2 are tensors.
"""

# %% [markdown] lang="zh"
r"""
## 练习：合并两部分

小批量太大，一块 GPU 放不下，就由几块各算一部分。不把所有的数都传来传去，能求出整体的均值和方差吗？能，只要每一部分对每个通道给出三样东西：**个数**（count）、**均值**（mean）和 **M2**，即到这个均值的距离的平方之和（还没有除以任何数）。第一部分是 1 和 3：个数 2，均值 2，M2 = 1 + 1 = 2。第二部分是 3、5、5、7：个数 4，均值 5，M2 = 4 + 0 + 0 + 4 = 8。六个数合在一起：个数 6，均值 4，M2 = 9 + 1 + 1 + 1 + 1 + 9 = 22。

请写出这个函数，从前两组得到 6、4 和 22。它返回个数、均值和 M2；个数是整数，均值和 M2 是张量。
"""


# %% tags=["exercise"]
def my_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    return ...


check("merge_statistics", my_merge_statistics)

# %% [markdown] lang="en"
r"""
Stuck? Start with the mean: each part counts as much as it has numbers. For M2, ask how far each part's mean lies from the common one: every number of the part is shifted by that much, which adds its square once per number. In the six numbers: 8 + 2 = 10, and 12 are missing. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？先求均值：哪一部分有多少个数，就占多大分量。再求 M2：看每一部分的均值离共同的均值有多远，这一部分的每个数都要多出这段偏移，有几个数，就多出几份它的平方。在六个数的例子里，8 + 2 = 10，还缺 12。参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, delta = count_a + count_b, mean_b - mean_a
    mean = mean_a + delta * (count_b / count)
    return count, mean, m2_a + m2_b + delta.square() * (count_a * count_b / count)


assert check("values_per_mean", 4 * 14 * 14)
check("merge_statistics", solved_merge_statistics)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. `BatchNorm2d` in training sees 2 images, and its feature map is 4 × 4. What is the largest output it can have before γ and β? And with a feature map of 1 × 1?

<details><summary>Answer</summary>

m = 2 · 4 · 4 = 32, so √31 = 5.57. With 1 × 1, m = 2: at most 1.

</details>

2. A network with BatchNorm after linear layers trains on 1297 samples in batches of 4. After 324 steps it stops with `Expected more than 1 value per channel when training`. Why, and what helps?

<details><summary>Answer</summary>

1297 = 324 · 4 + 1: the last mini-batch holds one sample, m = 1. `drop_last=True` in the DataLoader leaves it out.

</details>

3. Only 2 images of high resolution fit on your GPU, and you want to train a CNN with BatchNorm after every convolution. The smallest feature map is 20 × 20. What do you decide?

<details><summary>Answer</summary>

It will not collapse: m is at least 800. But neighbouring pixels are alike, and ResNet-50 lost 11 points with 2 images. So GroupNorm, or statistics merged over several GPUs; a trained network may also keep its `running_mean` and `running_var` fixed.

</details>

The next cell shows the first two answers.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 训练时，`BatchNorm2d` 看到 2 张图，特征图是 4 × 4。在乘 γ、加 β 之前，输出最大能到多少？特征图是 1 × 1 呢？

<details><summary>答案</summary>

m = 2 · 4 · 4 = 32，所以是 √31 = 5.57。1 × 1 时，m = 2，最大是 1。

</details>

2. 一个网络在线性层之后用批量归一化，用 1297 个样本训练，批量大小为 4。走了 324 步之后，它停下来报错：`Expected more than 1 value per channel when training`。为什么？怎么办？

<details><summary>答案</summary>

1297 = 324 · 4 + 1：最后一个小批量只有一个样本，m = 1。在 DataLoader 里写 `drop_last=True`，就会略去它。

</details>

3. 图像分辨率很高，GPU 上只放得下 2 张，而你想训练一个 CNN，每个卷积之后都是批量归一化。最小的特征图是 20 × 20。你怎么决定？

<details><summary>答案</summary>

它不会垮掉：m 至少是 800。但相邻像素相似，而且 ResNet-50 只用 2 张图时差了 11 个百分点。所以，可以改用组归一化（GroupNorm），或者把几块 GPU 的统计量合并起来；如果网络已经训练好，也可以固定它的 `running_mean` 和 `running_var`。

</details>

下一个单元格验证前两题的答案。
"""

# %%
for side in (4, 1):
    x = torch.zeros(2, 1, side, side)  # (N, C, H, W)
    x[0, 0, 0, 0] = 1000
    print(f"{nn.BatchNorm2d(1)(x).max().item():.2f}")
samples = torch.arange(1297.0).view(-1, 1)  # (N, C)
print(len(samples.split(4)), len(samples.split(4)[-1]))

# %% [markdown] lang="en"
r"""
**In one line:** count m, the values that share a mean; with m = 2 BatchNorm tells only which is larger, and no output exceeds √(m − 1).

## Going further: two processes, and padding

The exercise, for real: two processes with 3 and 5 samples, started by `torchrun`, PyTorch's command for that, each exchange count, mean and M2 and normalize their own part.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：数一数 m，即多少个数共用一个均值；m = 2 时，批量归一化只分得出谁大谁小，而任何输出都不超过 √(m − 1)。

## 选读：两个进程，以及填充

把练习真正用起来：用 PyTorch 的启动命令 `torchrun` 启动两个进程，一个有 3 个样本，一个有 5 个；它们交换个数、均值和 M2，再各自归一化自己的那一部分。
"""

# %% tags=["slow"]
from blocklab import two_processes

print(two_processes.run())

# %% [markdown] lang="en"
r"""
Merged, the outputs are those of one process. Each for itself, they are not, and that is what plain BatchNorm does on several GPUs: the m that counts is that of *one* GPU. `torch.nn.SyncBatchNorm` merges in this way (on GPUs, and for the gradients, too); `SyncBatchNorm.convert_sync_batchnorm(net)` puts it in place of every BatchNorm.

The same merging takes the padding out of the statistics of texts. Three sentences of 5, 3 and 2 tokens, in one tensor, filled up with 0: BatchNorm counts 15 values per feature, of which 5 are filler. Merge the real ones:
"""

# %% [markdown] lang="zh"
r"""
合并之后，输出与一个进程的结果相同；各算各的，就不同了，而普通的批量归一化在多块 GPU 上正是各算各的：要看的 m 是**一块** GPU 上的。`torch.nn.SyncBatchNorm` 就是这样合并的（在 GPU 上，而且梯度也会合并）；`SyncBatchNorm.convert_sync_batchnorm(net)` 把网络里的每个批量归一化都换成它。

用同样的合并，还可以把填充排除在文本的统计量之外。三个句子，长度是 5、3 和 2 个词元，放在一个张量里，不足的地方填 0：批量归一化对每个特征算进了 15 个数，其中 5 个是填充。只合并真正的词元：
"""

# %%
from functools import reduce

from blocklab.batch_statistics import batch_statistics, merge_statistics

sentences = [torch.full((length, 1), 10.0) + torch.randn(length, 1) for length in (5, 3, 2)]  # (L, d) each
filled = nn.utils.rnn.pad_sequence(sentences, batch_first=True)  # (N, L, d)
print(batch_statistics(filled, (0, 1))[0], f"{filled.mean().item():.0f}")
count, centre, m2 = reduce(lambda a, b: merge_statistics(*a, *b), [batch_statistics(s, 0) for s in sentences])
print(count, f"{centre.item():.0f}")
torch.testing.assert_close(centre, torch.cat(sentences).mean(0))

# %% [markdown] lang="en"
r"""
With the padding the mean is about 7, without it 10. That mends the padding; but even now each sentence depends on the others that happen to be in the mini-batch. LayerNorm has neither trouble.
"""

# %% [markdown] lang="zh"
r"""
算上填充，均值约为 7；不算，则是 10。填充的问题解决了，但每个句子仍然受同一小批量中其他句子影响。层归一化（LayerNorm）两样麻烦都没有。
"""
