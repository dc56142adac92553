# %% [markdown] lang="en"
r"""
# 04 When does BatchNorm fail?

BatchNorm takes mean and variance from the mini-batch. From thousands of numbers it gets fair estimates. From four they are rough, and from two something else happens: unless they are almost equal, all that is left of the two numbers is which one is larger.

After this lesson you can count how many numbers share a mean, say how large a standardized number can get, tell in advance which network suffers from a batch of two, and merge the statistics of two parts, as processes that train together do. It takes about 25 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 04 批量归一化什么时候失效？

训练时，批量归一化（BatchNorm）用当前小批量的均值和方差。如果每个通道有几千个数，估计得相当准；只有四个，就很粗略；只有两个，情况就完全变了：除非两个数几乎相等，否则只剩下谁大谁小。

学完这一课，你能数出多少个数共用一个均值，能说出标准化之后的数最大能有多大，能事先判断小批量只有两个样本时，哪种网络会受损。你还会合并两部分数据的统计量，多个进程一起训练时就是这样做的。大约需要 25 分钟。
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

1. In training, a channel has the two values 1 and 3 only. With which variance does BatchNorm normalize, and which one moves `running_var`?
2. The input of $\tanh$ goes from 5 to 500. What becomes of the output and of its slope?

<details><summary>Answers</summary>

1. It normalizes with the biased one, 1. The unbiased one, 2, moves `running_var`.
2. The output hardly changes: it is 1 to three decimals all the time. The slope goes from 0.0002 to practically 0. The function is saturated.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 训练时，某个通道只有两个数：1 和 3。批量归一化用哪个方差来归一化？更新 `running_var` 又用哪个？
2. $\tanh$ 的输入从 5 变到 500，输出和斜率会怎样？

<details><summary>答案</summary>

1. 归一化用有偏方差 1；更新 `running_var` 用无偏方差 2。
2. 输出几乎不变：保留三位小数，始终是 1。斜率从 0.0002 降到几乎为 0。函数饱和了。

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
In the first two columns it makes no difference whether the numbers lie 1 or 60 apart: one becomes +1, the other −1. The mean is halfway between them, so both are at the same distance δ from it, and δ is also the standard deviation: δ / δ = 1. Two equal numbers give 0. Only where δ is not large beside √ε (with torch's ε of 0.00001, √ε is about 0.003), as in the last column with δ = 0.001, does anything lie in between.

## How many numbers share a mean?

One of the source notes warns: with few samples, "for instance only 4", mean and variance say little about the whole. Right, but what counts is m, the number of values that share a mean, not the number of samples.

**Your turn, one line.** In training, 4 images with 16 channels of 14 × 14 go through `BatchNorm2d(16)`: `x` has the shape `(4, 16, 14, 14)`. How many values share one mean? Replace `None`.
"""

# %% [markdown] lang="zh"
r"""
在前两列里，两个数不论相差 1 还是相差 60，结果都是一个 +1、一个 −1。均值正好在两数中间，两个数到它的距离都是 δ，而标准差也是 δ：δ / δ = 1。两个数相等，就得 0。只有当 δ 与 √ε 相比不算大时（torch 默认的 ε 是 0.00001，√ε 约为 0.003），才会得到中间的值，例如最后一列，δ = 0.001。

## 多少个数共用一个均值？

原始笔记里有一篇提醒说：样本数很少时，“比如说只有 4 个”，均值和方差不能反映整体。这话不错，但要看的不是样本数，而是 m，即共用一个均值的数值个数。

**轮到你了**，只写一行：4 张图、16 个通道、每个通道 14 × 14，送入 `BatchNorm2d(16)`，`x` 的形状是 `(4, 16, 14, 14)`。训练时，多少个数共用一个均值？请替换 `None`。
"""

# %% tags=["exercise"]
my_count = None

check("values_per_mean", my_count)

# %% [markdown] lang="en"
r"""
## A small batch is a saturating function

On the left, m values that share a mean, above before BatchNorm, below after it. The red one, $x_1$, is yours to move from 0.1 to 1000; the others stay between −1 and 1. The upper ruler is even up to 1 and logarithmic beyond. On the right, the output for $x_1$ against $x_1$, on a logarithmic axis.

With m = 32, drag $x_1$ a little: from 0.1 to 1 the output becomes almost ten times as large.

**Predict first.** Now m = 2: the other value is 0. $x_1$ goes from 0.1 to 1000. What does its output do? Choose, then set *m* to 2 and drag.
"""

# %% [markdown] lang="zh"
r"""
## 小批量是一个会饱和的函数

左边是共用一个均值的 m 个数，上面是批量归一化之前，下面是之后。红色的 $x_1$ 由你移动，从 0.1 到 1000；其余的数固定在 −1 和 1 之间。上面那把尺子在 1 以内是均匀的，再往上用对数刻度。右边是 $x_1$ 的输出随 $x_1$ 变化的曲线，横轴是对数轴。

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
With m = 2 the output goes from 0.998 to 1.000: it hardly changes. BatchNorm has almost become a sign function. With more values it still saturates, only higher up, at $\sqrt{m - 1}$. Why? When $x_1 = a$ is so far away that the others are as good as 0, the mean is $a / m$ and the standard deviation $a \sqrt{m - 1} / m$, so

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

No output can get beyond it, before γ and β: the m outputs sum to 0 and their squares to m (less, with ε). If one is $y$, the others sum to $-y$, so their squares to at least $y^2 / (m - 1)$; from $y^2 + y^2 / (m - 1) \le m$ follows $|y| \le \sqrt{m - 1}$.

Look at the lower ruler, too: the farther one value lies out, the closer the others are pressed together. At $x_1$ = 1000 and m = 32 their outputs differ by 0.01 in all.

It is much like lesson 01's saturated $\tanh$: far out, where the curve has reached its ceiling, $x_1$ gets hardly any gradient. With m = 2 it is there almost at once, everywhere but where the two values are almost equal: compare the slopes at 1 above. (At the left end the curves look flat only because the axis is logarithmic.)

With m = 1 the mean is the value itself, so the output is β, whatever the input; no gradient gets through it to the layers before, and torch refuses to train. One note names online learning, where the samples come one by one, as a case against BatchNorm. After a linear layer, with one number per channel and sample, the note is right: m = 1. In a convolutional layer one image already gives m = H · W.

## How far off are the estimates?

If the m values are independent, with true standard deviation σ, theory says: the mean of a mini-batch has standard deviation $\sigma / \sqrt{m}$, and its unbiased variance, for normally distributed values, $\sigma^2 \sqrt{2 / (m - 1)}$. Below, σ = 1. **Predict first:** with 4 images, from which height and width on is the standard deviation of the mean, by theory, at most 0.1? Drag. Then switch on *neighbours alike*: each pixel becomes the average of 3 × 3 random numbers, times 3, so that its variance is still 1 and neighbours share most of their numbers.
"""

# %% [markdown] lang="zh"
r"""
m = 2 时，输出从 0.998 变到 1.000，几乎不变：批量归一化几乎成了符号函数。数再多一些，它照样饱和，只是高一点，停在 $\sqrt{m - 1}$。为什么？当 $x_1 = a$ 远到其余的数都可以看作 0 时，均值是 $a / m$，标准差是 $a \sqrt{m - 1} / m$，所以

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

在乘 γ、加 β 之前，谁也超不过它：m 个输出之和为 0，平方和为 m（加上 ε，只会更小）。某个输出是 $y$ 时，其余的和是 $-y$，平方和至少是 $y^2 / (m - 1)$；由 $y^2 + y^2 / (m - 1) \le m$，得 $|y| \le \sqrt{m - 1}$。

再看下面那把尺子：一个数离得越远，其余的数就被压得越紧。m = 32、$x_1$ = 1000 时，它们的输出总共只差 0.01。

这很像第 01 课里饱和的 $\tanh$：曲线到了上限，$x_1$ 就几乎得不到梯度。m = 2 时，除了两个数几乎相等的地方，一开始就到了上限：比一比上面打印的、在 1 处的斜率。（最左边的曲线看上去也平，那只是因为横轴是对数轴。）

m = 1 时，均值就是这个数自己，不论输入是什么，输出都是 β；梯度传不到前面的层，训练时 torch 直接报错。有一篇笔记说，批量归一化（BatchNorm）不适合样本一个一个到来的在线学习（online learning）。在线性层之后，每个样本的每个通道只有一个数，笔记是对的：m = 1；而在卷积层里，一张图就有 m = H · W。

## 估计得有多准？

如果 m 个数相互独立，真实标准差为 σ，那么按理论，小批量均值的标准差是 $\sigma / \sqrt{m}$；如果它们还服从正态分布，无偏方差的标准差是 $\sigma^2 \sqrt{2 / (m - 1)}$。下面取 σ = 1。**先猜一猜**：有 4 张图，高和宽要到多大，均值的标准差按理论才不超过 0.1？拖动滑块看看。然后打开“相邻像素相似”：每个像素变成 3 × 3 个随机数的平均，再乘以 3，使方差仍为 1；相邻像素的随机数大部分是共用的。
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
From 5 × 5 on: m = 100, and 1 / √100 = 0.1. With 14 × 14 it is 784 values and 0.036: four samples, and a fair estimate. With neighbours alike the measured bars reach beyond the blue curves, as the line below the picture says: for the mean, the same 784 values are worth about 95 independent ones only.

The next cell compares theory and random draws for m = 4, without images:
"""

# %% [markdown] lang="zh"
r"""
从 5 × 5 开始：m = 100，1 / √100 = 0.1。14 × 14 时有 784 个数，标准差 0.036：同样是四个样本，估计已经相当准。相邻像素相似时，测量值的竖线伸到了蓝色曲线之外，图下的说明也这样写：就均值而言，同样是 784 个数，只相当于约 95 个独立的数。

下一个单元格不用图像，取 m = 4，把理论值和随机数的结果放在一起：
"""

# %% claims=["E25"]
x = torch.randn(400000, 4)  # so many batches of m = 4
print(f"mean {x.mean(1).std():.2f}   theory {4**-0.5:.2f}")
print(f"unbiased variance {x.var(1).std():.2f}   theory {(2 / 3) ** 0.5:.2f}")
print(f"biased variance, average {x.var(1, correction=0).mean():.2f}   theory {3 / 4:.2f}")

# %% [markdown] lang="en"
r"""
So four *independent* values give rough estimates only: the mean has standard deviation 0.5σ and, for normally distributed values, the unbiased variance one of 82% of the true variance. The biased one is also too small by a quarter on average.

## Real digits

Now 1797 handwritten digits of 8 × 8 pixels, 1280 to learn from, the others to test. Two networks:

* **MLP**: two hidden layers of 128 features, a normalization after each. At batch size 2, BatchNorm has m = 2.
* **convolutions**: two of them, a normalization after each and nowhere else. At batch size 2, BatchNorm has m = 2 · 8 · 8 = 128 and, after a pooling, m = 2 · 4 · 4 = 32.

Each is trained from 3 random starts, the MLP for 3 epochs, the convolutions for 1; GroupNorm has 8 groups. The learning rate grows with the batch size; the test is in `eval()`.
"""

# %% [markdown] lang="zh"
r"""
所以，四个**独立**的数只能给出粗略的估计：均值的标准差是 0.5σ；数据服从正态分布时，无偏方差的标准差是真实方差的 82%。有偏方差平均还要小四分之一。

## 真实的手写数字

这里有 1797 张手写数字，每张 8 × 8 个像素，1280 张用来训练，其余的用来测试。两个网络：

* **MLP**：两个隐藏层，各 128 个特征，每层之后有一次归一化。批量大小为 2 时，批量归一化的 m = 2。
* **卷积网络**：两个卷积层，每层之后有一次归一化，别处没有。批量大小为 2 时，批量归一化的 m = 2 · 8 · 8 = 128；经过一次池化之后，m = 2 · 4 · 4 = 32。

每个网络都从 3 个随机初值开始训练：MLP 训练 3 轮，卷积网络训练 1 轮；组归一化分 8 组。学习率随批量大小成比例增加；测试用 `eval()`。
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
**Predict first.** BatchNorm at batch size 2: does the MLP get clearly worse, or the network with convolutions, or do both? And in the MLP at 32, who is ahead, BatchNorm or LayerNorm? The training takes some seconds.
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：批量大小为 2 时，用批量归一化，是 MLP 明显变差，还是卷积网络，还是两个都变差？批量大小为 32 时，在 MLP 里，批量归一化和层归一化谁领先？训练要花几秒钟。
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
names = {Text(en="MLP", zh="MLP"): scores[mlp], Text(en="convolutions", zh="卷积网络"): scores[convolutions]}
Panel(accuracy_by_batch(names), size=(10, 3.8))

# %% [markdown] lang="en"
r"""
A dot is the average accuracy of the 3 runs, its bar one standard deviation to each side. (It comes out a little differently on every machine; the verdicts below have wide margins, and the last one takes 20 starts.)
"""

# %% [markdown] lang="zh"
r"""
每个点是 3 次训练的平均准确率，竖线是上下各一个标准差。（在不同的机器上，上图会略有不同；下面的结论都留有很大余地，最后一条用了 20 个随机初值。）
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
On these digits BatchNorm gets clearly worse at m = 2 only: more than 10 points behind LayerNorm. At the same batch size the network with convolutions, with m = 128 and m = 32, does not. At m = 4 the estimates are rough, and yet the MLP learns: to be off is not to fail. And at 32, with 3 epochs each, the MLP with BatchNorm is a little ahead of that with LayerNorm. So "BatchNorm fails with small batches" is not enough: say what m is.

Not to get worse on digits is not yet to be free of charge. A large network on a hard task, ResNet-50 on ImageNet (photos of 224 × 224), error in % ([Wu and He 2018](https://arxiv.org/abs/1803.08494), table 2):

| images per GPU | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| BatchNorm | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| GroupNorm | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

Here, too, BatchNorm stands after convolutions only, and its last feature maps of 7 × 7 give m = 98 for 2 images. Still its error is 11 points higher than with 32. Two possible reasons: neighbouring pixels are alike, so a hundred values of two photos need not be worth a hundred independent ones; and `eval()` works with other statistics than the training did.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| with only 4 samples the statistics do not reflect the whole | With m = 4 they are rough, and still the MLP above learns. In a convolutional layer m is N · H · W. |
| LayerNorm is used for text because lengths differ | That is half of it. In a Transformer it works on each token alone, so neither the other sentences nor the padding touch its statistics (the filler that makes short sentences as long as the longest), training and inference compute the same, and GPUs have no statistics to exchange. |
| BatchNorm suits CNNs (convolutional networks), LayerNorm sequences | Too simple. CNNs trained on small batches: GroupNorm, see above. LayerNorm is found in vision, too (ViT, ConvNeXt), at a price in ResNet-50: 25.3% error at batch size 32 (same paper, table 1). And many recent language models use RMSNorm. |

The point about padding, tested. Two sentences of five tokens; in a copy, the last two tokens of the second sentence are padding, here 0. By how much, at most, does an output of the *first* sentence change in training?
"""

# %% [markdown] lang="zh"
r"""
在这些数字上，批量归一化只在 m = 2 时明显变差：比层归一化落后 10 个百分点以上。批量大小相同，卷积网络的 m = 128 和 m = 32，就没有变差。m = 4 时统计量虽然粗略，这个 MLP 也照样学会了：估计不准，不等于学不会。到了 32，同样训练 3 轮，用批量归一化的 MLP 还略微领先于用层归一化的。所以，只说“批量小时批量归一化会失效”还不够，要说清楚 m 是多少。

不过，在手写数字上没有变差，不等于没有代价。换成大网络、难任务，在 ImageNet（224 × 224 的照片）上训练 ResNet-50，错误率（%）是（[Wu 和 He 2018](https://arxiv.org/abs/1803.08494)，表 2）：

| 每块 GPU 的图像数 | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| 批量归一化（BatchNorm） | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| 组归一化（GroupNorm） | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

这里的批量归一化同样只在卷积之后，最后的特征图是 7 × 7，2 张图就有 m = 98。可错误率还是比 32 张时高 11 个百分点。原因可能有两个：相邻像素相似，两张照片里的一百个数，未必抵得上一百个独立的数；`eval()` 用的统计量，和训练时用的不一样。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 只有 4 个样本时，统计量不能反映整体 | m = 4 时确实粗略，但上面的 MLP 照样学会了。在卷积层里，m 是 N · H · W。 |
| 文本用层归一化（LayerNorm），是因为长度不一 | 这只是一半。在 Transformer 里，它对每个词元单独计算，所以它的统计量既不受其他句子影响，也不受填充影响（填充就是把短句补到和最长的句子一样长的部分）；训练和推理的计算相同；各块 GPU 之间不必交换统计量。 |
| 批量归一化（BatchNorm）适合 CNN（卷积网络），层归一化（LayerNorm）适合序列 | 太简单了。批量很小时训练 CNN，宜用组归一化（GroupNorm），见上表。视觉模型也用层归一化（ViT、ConvNeXt），只是在 ResNet-50 里有代价：批量大小为 32 时，错误率 25.3%（同一篇，表 1）。而近来的许多语言模型用的是 RMSNorm。 |

检验关于填充的那一点。两个句子，各五个词元；在另一份里，第二句的最后两个词元是填充，这里填 0。训练时，**第一句**的输出最多会变多少？
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

Write the function that gets 6, 4 and 22 from the others. It returns count, mean and M2; counts are integers, and one of the two parts may be empty (its count, mean and M2 are then 0); means and M2 are tensors of one shape, a number per channel.
"""

# %% [markdown] lang="zh"
r"""
## 练习：合并两部分

一个批量太大，一块 GPU 放不下，就由几块各算一部分。不把所有的数都传来传去，能求出整体的均值和方差吗？能，只要每一部分对每个通道给出三样东西：**个数**（count）、**均值**（mean）和 **M2**，即到这个均值的距离的平方之和（还没有除以任何数）。第一部分是 1 和 3：个数 2，均值 2，M2 = 1 + 1 = 2。第二部分是 3、5、5、7：个数 4，均值 5，M2 = 4 + 0 + 0 + 4 = 8。六个数合在一起：个数 6，均值 4，M2 = 9 + 1 + 1 + 1 + 1 + 9 = 22。

请写出这个函数，从前两组得到 6、4 和 22。它返回个数、均值和 M2；个数是整数，两部分里可以有一部分是空的（个数、均值和 M2 都是 0）；均值和 M2 是形状相同的张量，每个通道一个数。
"""


# %% tags=["exercise"]
def my_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    return ...


check("merge_statistics", my_merge_statistics)

# %% [markdown] lang="en"
r"""
Stuck? Start with the mean: each part counts as much as it has numbers. For M2, ask how far each part's mean lies from the common one: every number of the part is shifted by that much, which adds its square once per number. In the six numbers the first part's mean lies 2 from 4 and the second's 1: 2 · 2² + 4 · 1² = 12 more than 2 + 8. (No mixed terms: in each part the distances from its own mean sum to 0.) The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？先求均值：哪一部分有多少个数，就占多大分量。再求 M2：看每一部分的均值离共同的均值有多远，这一部分的每个数都要多出这段偏移，有几个数，就多出几份它的平方。在六个数的例子里，第一部分的均值离 4 有 2，第二部分离它有 1：比 2 + 8 多出 2 · 2² + 4 · 1² = 12。（没有交叉项：每一部分到自己均值的偏差之和是 0。）参考答案折叠在下面。后面的内容不会用到你的代码。
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

m = 2 · 4 · 4 = 32, so at most √31 = 5.57. With 1 × 1, m = 2: at most 1.

</details>

2. A network with BatchNorm after linear layers trains on 1297 samples in batches of 4. After 324 steps it stops with `Expected more than 1 value per channel when training`. Why, and what helps? (Look up the argument `drop_last` of `torch.utils.data.DataLoader`.)

<details><summary>Answer</summary>

1297 = 324 · 4 + 1: the last mini-batch holds one sample, m = 1. `drop_last=True` leaves it out; or choose a batch size with which the last batch has more.

</details>

3. Only 2 images of high resolution fit on your GPU, and you want to train a CNN with BatchNorm after every convolution. The smallest feature map is 20 × 20. What do you decide?

<details><summary>Answer</summary>

m is at least 2 · 20 · 20 = 800, so BatchNorm will not become a sign function, as at m = 2. But neighbouring pixels are alike, and ResNet-50, with m = 98 at the least, lost 11 points; how much 800 costs, nothing here tells. On the safe side: GroupNorm, or, with several GPUs, merged statistics.

</details>

The next cell shows the first two answers.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 训练时，`BatchNorm2d` 看到 2 张图，特征图是 4 × 4。在乘 γ、加 β 之前，输出最大能到多少？特征图是 1 × 1 呢？

<details><summary>答案</summary>

m = 2 · 4 · 4 = 32，所以不超过 √31 = 5.57。1 × 1 时，m = 2，不超过 1。

</details>

2. 一个网络在线性层之后用批量归一化，用 1297 个样本训练，批量大小为 4。走了 324 步之后，它停下来报错：`Expected more than 1 value per channel when training`。为什么？怎么办？（查一查 `torch.utils.data.DataLoader` 的参数 `drop_last`。）

<details><summary>答案</summary>

1297 = 324 · 4 + 1：最后一个小批量只有一个样本，m = 1。写 `drop_last=True`，就会略去它；也可以换一个批量大小，使最后一批不止一个样本。

</details>

3. 图像分辨率很高，GPU 上只放得下 2 张，而你想训练一个 CNN，每个卷积之后都是批量归一化。最小的特征图是 20 × 20。你怎么决定？

<details><summary>答案</summary>

m 最小是 2 · 20 · 20 = 800，不会像 m = 2 那样只剩谁大谁小。但相邻像素相似；ResNet-50 的 m 最小是 98，就差了 11 个百分点。m = 800 会差多少，本课的数据说不准。稳妥的做法：改用组归一化（GroupNorm）；如果有几块 GPU，也可以合并它们的统计量。

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
**In one line:** count m, the values that share a mean, then ask how independent they are; with m = 2 BatchNorm hardly tells more than which is larger.

## Going further: two processes, and padding

The exercise, for real: two processes with 3 and 5 samples, started by `torchrun`, PyTorch's command for that, each exchange count, mean and M2 and normalize their own part.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：先数 m，即多少个数共用一个均值，再问这些数有多独立；m = 2 时，批量归一化几乎只分得出谁大谁小。

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
合并之后，输出与一个进程的结果相同；各算各的，就不同了，而普通的批量归一化在多块 GPU 上正是各算各的：要数的 m，是**一块** GPU 上的 m。`torch.nn.SyncBatchNorm` 就是这样合并的（在 GPU 上，而且梯度也会合并）；`SyncBatchNorm.convert_sync_batchnorm(net)` 把网络里的每个批量归一化都换成它。

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
With the padding the mean is about 7, without it 10. That mends the padding; but even now, in training, each sentence depends on the others that happen to be in the mini-batch. LayerNorm has neither trouble.
"""

# %% [markdown] lang="zh"
r"""
算上填充，均值约为 7；不算，则是 10。填充的问题解决了，但训练时，每个句子仍然受同一小批量中其他句子影响。层归一化（LayerNorm）两样麻烦都没有。
"""
