# %% [markdown] lang="en"
r"""
# 04 When does BatchNorm fail?

BatchNorm takes mean and variance from the mini-batch. From thousands of numbers it gets fair estimates, from four rough ones. From two, unless they are almost equal, all that is left is which one is larger.

After this lesson you can count how many numbers share a mean, say how large a standardized number can get, tell in advance which network suffers from a batch of two, and merge the statistics of two parts. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 04 批量归一化什么时候失效？

训练时，批量归一化（BatchNorm）的均值和方差取自当前小批量。由几千个数来估计，相当准；由四个数，就很粗略。只有两个数呢？除非它们几乎相等，否则只剩下谁大谁小。

学完这一课，你能数出多少个数共用一个均值；能说出标准化之后的数最大能有多大；能事先判断，小批量只有两个样本时，哪种网络会受损；还能合并两部分数据的统计量。大约需要 20 分钟。
"""

# %%
from functools import partial
from itertools import product
from statistics import mean

import torch
from torch import nn

from blocklab.digits import load_digits
from blocklab.language import Text
from blocklab.lessons import check, progress
from blocklab.lessons.small_batches import accuracy_by_batch, estimate_spread, saturating_batch

# %% [markdown] lang="en"
r"""
## Two questions first

1. In training, a channel has two values, 1 and 3. With which variance does BatchNorm normalize, and which one moves `running_var`?
2. The input of $\tanh$ goes from 5 to 500. What becomes of the output and of its slope?

<details><summary>Answers</summary>

1. With the biased one, 1. The unbiased one, 2, moves `running_var`.
2. The output stays 1.000. The slope goes from 0.0002 to practically 0: the function is saturated.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 训练时，某个通道有两个数：1 和 3。批量归一化用哪个方差来归一化？更新 `running_var` 又用哪个？
2. $\tanh$ 的输入从 5 变到 500，输出和斜率会怎样？

<details><summary>答案</summary>

1. 归一化用有偏方差 1；更新 `running_var` 用无偏方差 2。
2. 输出始终是 1.000。斜率从 0.0002 降到几乎为 0：函数饱和了。

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
In the first two columns it makes no difference whether the numbers lie 1 or 60 apart: one becomes +1, the other −1. Both lie at the same distance δ from their mean, and δ is also the standard deviation. Two equal numbers give 0. Only where δ is not large beside √ε, in torch about 0.003, does anything lie in between, as in the last column with δ = 0.001.

## How many numbers share a mean?

What counts is m, the number of values that share a mean, not the number of samples.

**Your turn, one line.** In training, `x` of shape `(4, 16, 14, 14)` goes through `BatchNorm2d(16)`. How many values share one mean? Replace `None`.
"""

# %% [markdown] lang="zh"
r"""
在前两列里，两个数不论相差 1 还是相差 60，结果都是一个 +1、一个 −1。两个数到均值的距离相同，都是 δ，而标准差也是 δ。两个数相等，就得 0。只有当 δ 与 √ε（在 torch 里约为 0.003）相比不算大时，才会得到中间的值，例如最后一列，δ = 0.001。

## 多少个数共用一个均值？

要看的不是样本数，而是 m：有多少个数共用一个均值。

**轮到你了**，只写一行：训练时，把形状为 `(4, 16, 14, 14)` 的 `x` 送入 `BatchNorm2d(16)`，多少个数共用一个均值？请替换 `None`。
"""

# %% tags=["exercise"]
my_count = None

check("values_per_mean", my_count)

# %% [markdown] lang="en"
r"""
## A small batch is a saturating function

On the left, m values that share a mean: above before BatchNorm, below after it. You move the red one, $x_1$; the others stay between −1 and 1. On the right, the output for $x_1$. The upper ruler, beyond 1, and the horizontal axis on the right are logarithmic.

**Predict first.** With m = 2 the other value is 0. $x_1$ goes from 0.1 to 1000. What does its output do? Choose, then set *m* to 2 and drag.
"""

# %% [markdown] lang="zh"
r"""
## 小批量是一个会饱和的函数

左边是共用一个均值的 m 个数，上面是批量归一化之前，下面是之后。红色的 $x_1$ 由你移动，其余的数固定在 −1 和 1 之间。右边是 $x_1$ 的输出。上面那把尺子从 1 往上用对数刻度，右图的横轴也是对数轴。

**先猜一猜**：m = 2 时，另一个数是 0。$x_1$ 从 0.1 变到 1000，它的输出会怎样？先选，再把 m 调到 2，然后拖动。
"""

# %% tags=["panel", "guess"]
saturating_batch.panel()

# %%
for m in (2, 4, 32):
    near, far = (saturating_batch.through(m, x)[0] for x in (0.1, 1000.0))
    slope = (saturating_batch.through(m, 1.1)[0] - saturating_batch.through(m, 0.9)[0]) / 0.2
    print(f"m = {m:2}: from {near:.3f} to {far:.3f}, ceiling {(m - 1) ** 0.5:.3f}, slope at 1: {slope:.3f}")

# %% [markdown] lang="en"
r"""
With m = 2 it hardly changes, from 0.998 to 1.000: BatchNorm has almost become a sign function. With more values it saturates higher up, at $\sqrt{m - 1}$; before γ and β no output gets beyond that (proof under *Going further*). Near the ceiling $x_1$ gets hardly any gradient, as with lesson 01's saturated $\tanh$. With m = 2 that is wherever the two values are not almost equal: compare the slopes at 1.

With m = 1 the value is its own mean: the output is always β, and torch refuses to train. One note calls online learning, sample by sample, a case against BatchNorm. After a linear layer, where m = 1, it is; in a convolutional layer one image already gives m = H · W.
"""

# %% [markdown] lang="zh"
r"""
m = 2 时，输出几乎不变，只从 0.998 变到 1.000：批量归一化几乎成了符号函数。数再多一些，它照样饱和，只是上限高一些，是 $\sqrt{m - 1}$。在乘 γ、加 β 之前，任何输出都超不过它（证明见“选读”）。接近上限时，$x_1$ 几乎得不到梯度，这和第 01 课里饱和的 $\tanh$ 一样。m = 2 时，除非两个数几乎相等，否则都是这样：比一比上面打印的、在 1 处的斜率。

m = 1 时，均值就是这个数自己，所以输出总是 β；训练时，torch 直接报错。有一篇笔记说，批量归一化不适合样本一个一个到来的在线学习（online learning）。在线性层之后，m = 1，笔记说得对；但在卷积层里，一张图就有 m = H · W。
"""

# %% [markdown] lang="en"
r"""
## Real digits

Now 1797 handwritten digits of 8 × 8 pixels: 1280 to learn from, the others to test, in `eval()`. Two networks, with a normalization after each hidden layer:

* **MLP**: two layers of 128 features. At batch size 2, BatchNorm has m = 2.
* **convolutions**: two. At batch size 2, BatchNorm has m = 2 · 8 · 8 = 128 and, after a pooling, m = 2 · 4 · 4 = 32.

Each is trained for one epoch from 3 random starts; the learning rate grows with the batch size.
"""

# %% [markdown] lang="zh"
r"""
## 真实的手写数字

这里有 1797 张手写数字，每张 8 × 8 个像素：1280 张用来训练，其余的用来测试，测试时用 `eval()`。要训练两种网络，每个隐藏层之后都有归一化：

* **MLP**：两层，各 128 个特征。批量大小为 2 时，批量归一化的 m = 2。
* **卷积网络**：两个卷积层。批量大小为 2 时，批量归一化的 m = 2 · 8 · 8 = 128；经过一次池化之后，m = 2 · 4 · 4 = 32。

每种网络都从 3 组随机初值各训练一次，每次训练一轮（epoch）；学习率与批量大小成正比。
"""

# %%
(images, labels), order = load_digits(), torch.randperm(1797)
images, labels = (images[order].unsqueeze(1) - images.mean()) / images.std(), labels[order]  # (N, C, H, W), (N,)


def accuracy(make, norm, batch_size, start):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        net, order = make(norm), torch.randperm(1280)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05 * batch_size / 32, momentum=0.9, fused=True)
    for batch in order.split(batch_size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
        optimizer.step()
    with torch.inference_mode():
        return 100 * (net.eval()(images[1280:]).argmax(1) == labels[1280:]).float().mean().item()


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
**Predict first.** BatchNorm at batch size 2: which gets clearly worse, the MLP, the convolutions, or both? And in the MLP at 32, who is ahead, BatchNorm or LayerNorm?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：用批量归一化，批量大小为 2 时，哪种网络明显变差，是 MLP，是卷积网络，还是两种都变差？批量大小为 32 时，在 MLP 里，批量归一化和层归一化谁领先？
"""

# %% tags=["slow"]
group = partial(nn.GroupNorm, 8)
mlps = {"BatchNorm": nn.BatchNorm1d, "LayerNorm": nn.LayerNorm, "GroupNorm": group}
convs = {"BatchNorm": nn.BatchNorm2d, "GroupNorm": group}
runs = [(mlp, mlps, *run) for run in product(mlps, (2, 4, 32), range(3))]
runs += [(convolutions, convs, *run) for run in product(convs, (2, 4, 32), range(3))]
scores = {mlp: {}, convolutions: {}}
for make, norms, norm, size, start in progress(runs, Text(en="trained", zh="已训练")):
    scores[make].setdefault((norm, size), []).append(accuracy(make, norms[norm], size, start))

# %% tags=["nbval-ignore-output"]
names = {Text(en="MLP", zh="MLP"): scores[mlp], Text(en="convolutions", zh="卷积网络"): scores[convolutions]}
accuracy_by_batch.panel(names)

# %% [markdown] lang="en"
r"""
A dot is the average accuracy of 3 runs, its bar one standard deviation to each side. (Machines differ a little; the last verdict below takes 20 starts.)
"""

# %% [markdown] lang="zh"
r"""
每个点是 3 次训练的平均准确率，竖线是上下各一个标准差。（换一台机器，结果会略有不同；下面最后一条结论用了 20 组随机初值。）
"""

# %% tags=["slow"]
for make, other in ((mlp, "LayerNorm"), (convolutions, "GroupNorm")):
    for size in (2, 4, 32):
        behind = mean(scores[make][other, size]) - mean(scores[make]["BatchNorm", size]) > 10
        print(f"{make.__name__}, batch size {size}: BatchNorm more than 10 points behind {other}: {behind}")
at_32 = {nn.BatchNorm1d: [], nn.LayerNorm: []}
for norm, start in product(at_32, range(20)):
    at_32[norm].append(accuracy(mlp, norm, 32, start))
print("mlp, batch size 32: BatchNorm ahead of LayerNorm:", mean(at_32[nn.BatchNorm1d]) > mean(at_32[nn.LayerNorm]))

# %% [markdown] lang="en"
r"""
Only at m = 2 is BatchNorm more than 10 points behind. At the same batch size the convolutions, with m = 128 and m = 32, hold up; so does the MLP at m = 4, and at 32 it is even a little better with BatchNorm than with LayerNorm. "BatchNorm fails with small batches" is not enough: say what m is.

On a harder task, ImageNet photos, ResNet-50 with BatchNorm has 23.6% error with 32 images per GPU and 34.7% with 2; with GroupNorm it has 24.1% both times ([Wu and He 2018](https://arxiv.org/abs/1803.08494), table 2; more under *Going further*). Yet with 2 images its smallest feature maps, 7 × 7, still give m = 98. Two possible reasons: neighbouring pixels are alike, so 98 values may be worth fewer independent ones; and `eval()` uses other statistics than the training.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| with only 4 samples the statistics do not reflect the whole | With m = 4 they are rough (*Going further*), and still the MLP learns; after convolutions m is far larger. |
| LayerNorm is used for text because lengths differ | That is half of it. In a Transformer it works on each token alone: neither other sentences nor padding, the filler after short ones, touch its statistics (tested under *Going further*); training and inference compute the same; GPUs have no statistics to exchange. |
| BatchNorm suits CNNs (convolutional networks), LayerNorm sequences | Too simple. CNNs on small batches: GroupNorm. LayerNorm is found in vision, too (ViT, ConvNeXt), and many recent language models use RMSNorm. |
"""

# %% [markdown] lang="zh"
r"""
批量归一化只在 m = 2 时落后 10 个百分点以上。批量大小相同，但卷积网络的 m = 128 和 m = 32，就没有落后这么多；MLP 在 m = 4 时也没有，批量大小为 32 时，用批量归一化甚至比用层归一化略好。只说“批量太小，批量归一化就失效”还不够，要说清楚 m 是多少。

再看一个更难的任务：用 ImageNet 的照片训练 ResNet-50。用批量归一化，每块 GPU 有 32 张图时，错误率是 23.6%，只有 2 张时是 34.7%；用组归一化（GroupNorm），两种情况都是 24.1%（[Wu 和 He 2018](https://arxiv.org/abs/1803.08494)，表 2，详见“选读”）。可是只有 2 张图时，最小的特征图（7 × 7）也还有 m = 98。原因可能有两个：相邻像素相似，98 个数未必抵得上同样多的独立的数；`eval()` 用的统计量，和训练时用的不一样。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 只有 4 个样本时，统计量不能反映整体 | m = 4 时确实粗略（见“选读”），但 MLP 照样学会了；在卷积之后，m 要大得多。 |
| 文本用层归一化（LayerNorm），是因为长度不一 | 只说对一半。在 Transformer 里，它对每个词元单独计算：其他句子和填充（补在短句后面的部分）都影响不到它的统计量（检验见“选读”）；训练和推理的计算相同；各块 GPU 之间不必交换统计量。 |
| 批量归一化（BatchNorm）适合 CNN（卷积网络），层归一化（LayerNorm）适合序列 | 说得太简单了。批量很小时，CNN 宜用组归一化（GroupNorm）。视觉模型也用层归一化（ViT、ConvNeXt），近来的许多语言模型则用 RMSNorm。 |
"""

# %% [markdown] lang="en"
r"""
## Exercise: merge two parts

Several GPUs share a batch. They find its mean and variance if each sends, per channel, the *count*, the *mean* and *M2*, the sum of squared distances from that mean. One holds 1 and 3: count 2, mean 2, M2 = 1 + 1 = 2. Another holds 3, 5, 5, 7: count 4, mean 5, M2 = 4 + 0 + 0 + 4 = 8. All six: count 6, mean 4, M2 = 22.

Write the function that merges two parts: it returns these three for the whole. Counts are integers, means and M2 tensors of one shape; one part may be empty (its three are then 0).
"""

# %% [markdown] lang="zh"
r"""
## 练习：合并两部分

几块 GPU 分担一个批量。想得到整体的均值和方差，不必传送所有的数，每块 GPU 为每个通道传三样就够：**个数**（count）、**均值**（mean）和 **M2**（每个数到这个均值的距离的平方之和）。一块上是 1 和 3：个数 2，均值 2，M2 = 1 + 1 = 2。另一块上是 3、5、5、7：个数 4，均值 5，M2 = 4 + 0 + 0 + 4 = 8。六个数合在一起：个数 6，均值 4，M2 = 22。

请写出合并两部分的函数，返回整体的这三样。个数是整数，均值和 M2 是形状相同的张量；两部分中可能有一部分是空的（它的三样都是 0）。
"""


# %% tags=["exercise"]
def my_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    return ...


check("merge_statistics", my_merge_statistics)

# %% [markdown] lang="en"
r"""
Stuck? In the mean, each part counts as much as it has numbers. M2 gains, once per number, the squared distance of the part's mean from the common one: 2 · 2² + 4 · 1² = 12 more than 2 + 8. The solution is folded below; nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？先求均值：哪一部分有多少个数，就占多大分量。再求 M2：看每一部分的均值离共同的均值有多远，这一部分有几个数，就加上几份这段距离的平方；例子里比 2 + 8 多出 2 · 2² + 4 · 1² = 12。参考答案折叠在下面。后面的内容不会用到你的代码。
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

1. `BatchNorm2d` in training sees 2 images with feature maps of 4 × 4. How large can an output be before γ and β? And with 1 × 1?

<details><summary>Answer</summary>

m = 2 · 4 · 4 = 32, so at most √31 = 5.57. With 1 × 1, m = 2: at most 1.

</details>

2. A network with BatchNorm after linear layers trains on 1297 samples in batches of 4. After 324 steps it stops: `Expected more than 1 value per channel when training`. Why, and what helps?

<details><summary>Answer</summary>

1297 = 324 · 4 + 1: the last mini-batch holds one sample, m = 1. `DataLoader(…, drop_last=True)` leaves it out.

</details>

3. Only 2 images fit on your GPU. In your CNN, with BatchNorm after every convolution, the smallest feature map is 20 × 20. What do you decide?

<details><summary>Answer</summary>

m is at least 2 · 20 · 20 = 800, far from a sign function. But ResNet-50, with m = 98 at the least, lost 11 points; what 800 costs, nothing here tells. On the safe side: GroupNorm, or, with several GPUs, merged statistics.

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

2. 一个网络在线性层之后用批量归一化，用 1297 个样本训练，批量大小为 4。走了 324 步之后，它停下来报错：`Expected more than 1 value per channel when training`。为什么？怎么办？

<details><summary>答案</summary>

1297 = 324 · 4 + 1：最后一个小批量只有一个样本，m = 1。写 `DataLoader(…, drop_last=True)`，就会略去它。

</details>

3. 你的 GPU 只放得下 2 张图。你的 CNN 在每个卷积之后都有批量归一化，最小的特征图是 20 × 20。你怎么决定？

<details><summary>答案</summary>

m 最小是 2 · 20 · 20 = 800，离符号函数还很远。但 ResNet-50 的 m 最小是 98，错误率就高了 11 个百分点；m = 800 时代价多大，本课的数据说不准。稳妥的做法：改用组归一化（GroupNorm）；如果有几块 GPU，也可以合并它们的统计量。

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

## Going further: why √(m − 1)?

When $x_1 = a$ is so far away that the others are as good as 0, the mean is $a / m$ and the standard deviation $a \sqrt{m - 1} / m$, so

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

No output can get beyond it, before γ and β: the m outputs sum to 0 and their squares to m (less, with ε). If one is $y$, the others sum to $-y$, so their squares to at least $y^2 / (m - 1)$; from $y^2 + y^2 / (m - 1) \le m$ follows $|y| \le \sqrt{m - 1}$.

Look at the panel's lower ruler, too: the farther one value lies out, the closer the others are pressed together. At $x_1$ = 1000 and m = 32 their outputs differ by 0.01 in all. (At the left end the curves look flat only because the axis is logarithmic.)

## Going further: how far off are the estimates?

One of the source notes warns: with few samples, "for instance only 4", mean and variance say little about the whole. If the m values are independent, with true standard deviation σ, theory says: the mean of a mini-batch has standard deviation $\sigma / \sqrt{m}$, and its unbiased variance, for normally distributed values, $\sigma^2 \sqrt{2 / (m - 1)}$. Below, σ = 1. **Predict first:** with 4 images, from which height and width on is the standard deviation of the mean, by theory, at most 0.1? Drag. Then switch on *neighbours alike*: each pixel becomes the average of 3 × 3 random numbers, times 3, so that its variance is still 1 and neighbours share most of their numbers.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：先数 m，即多少个数共用一个均值，再问这些数有多独立；m = 2 时，批量归一化几乎只分得出谁大谁小。

## 选读：为什么是 √(m − 1)？

当 $x_1 = a$ 远到其余的数都可以看作 0 时，均值是 $a / m$，标准差是 $a \sqrt{m - 1} / m$，所以

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

在乘 γ、加 β 之前，谁也超不过它：m 个输出之和为 0，平方和为 m（加上 ε，只会更小）。某个输出是 $y$ 时，其余各数之和是 $-y$，平方和至少是 $y^2 / (m - 1)$；由 $y^2 + y^2 / (m - 1) \le m$，得 $|y| \le \sqrt{m - 1}$。

再看面板里下面那把尺子：一个数离得越远，其余的数就挤得越紧。m = 32、$x_1$ = 1000 时，它们的输出总共只差 0.01。（曲线的最左端看上去也是平的，那只是因为横轴是对数轴。）

## 选读：估计得有多准？

原始笔记里有一篇提醒说：样本数很少时，“比如说只有 4 个”，均值和方差不能反映整体。如果 m 个数相互独立，真实标准差为 σ，那么按理论，小批量均值的标准差是 $\sigma / \sqrt{m}$；如果它们还服从正态分布，无偏方差的标准差是 $\sigma^2 \sqrt{2 / (m - 1)}$。下面取 σ = 1。**先猜一猜**：有 4 张图，高和宽要到多大，均值的标准差按理论才不超过 0.1？拖动滑块看看。然后打开“相邻像素相似”：每个像素变成 3 × 3 个随机数的平均，再乘以 3，使方差仍为 1；相邻像素的随机数大部分是共用的。
"""

# %% tags=["panel"]
estimate_spread.panel()

# %% [markdown] lang="en"
r"""
From 5 × 5 on: m = 100, and 1 / √100 = 0.1. With 14 × 14 it is 784 values and 0.036: four samples, and a fair estimate. With neighbours alike the measured bars reach beyond the blue curves, as the line below the picture says: for the mean, the same 784 values are worth about 95 independent ones only.

The next cell compares theory and random draws for m = 4, without images:
"""

# %% [markdown] lang="zh"
r"""
从 5 × 5 开始：m = 100，1 / √100 = 0.1。14 × 14 时有 784 个数，标准差 0.036：同样是四个样本，估计已经相当准。相邻像素相似时，测量值的竖线伸到了蓝色曲线之外，图下方的那行字也说明了这一点：就均值而言，同样是 784 个数，只相当于约 95 个独立的数。

下一个单元格不用图像，取 m = 4，把理论值与随机数的结果放在一起比较：
"""

# %% claims=["E25"]
x = torch.randn(400000, 4)  # so many batches of m = 4
print(f"mean {x.mean(1).std():.2f}   theory {4**-0.5:.2f}")
print(f"unbiased variance {x.var(1).std():.2f}   theory {(2 / 3) ** 0.5:.2f}")
print(f"biased variance, average {x.var(1, correction=0).mean():.2f}   theory {3 / 4:.2f}")

# %% [markdown] lang="en"
r"""
So four *independent* values give rough estimates only: the mean has standard deviation 0.5σ and, for normally distributed values, the unbiased variance one of 82% of the true variance. The biased one is also too small by a quarter on average.

## Going further: a hard task

A large network on a hard task, ResNet-50 on ImageNet (photos of 224 × 224), error in % ([Wu and He 2018](https://arxiv.org/abs/1803.08494), table 2):

| images per GPU | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| BatchNorm | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| GroupNorm | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

LayerNorm has 25.3% with 32 images per GPU (table 1). So BatchNorm is a little ahead of GroupNorm with 16 and 32 images, and behind with 8 or fewer.

## Going further: two processes, and padding

The exercise, for real: two processes with 3 and 5 samples, started by `torchrun`, PyTorch's command for that, each exchange count, mean and M2 and normalize their own part.
"""

# %% [markdown] lang="zh"
r"""
所以，四个**独立**的数只能给出粗略的估计：均值的标准差是 0.5σ；数据服从正态分布时，无偏方差的标准差是真实方差的 82%。有偏方差平均还比真实方差小四分之一。

## 选读：更难的任务

大网络、难任务：在 ImageNet（224 × 224 的照片）上训练 ResNet-50，错误率（%）如下（[Wu 和 He 2018](https://arxiv.org/abs/1803.08494)，表 2）：

| 每块 GPU 的图像数 | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| 批量归一化（BatchNorm） | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| 组归一化（GroupNorm） | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

每块 GPU 有 32 张图时，层归一化的错误率是 25.3%（表 1）。可见，与组归一化相比，批量归一化在 16 张和 32 张时略微领先，8 张或更少时就落后了。

## 选读：两个进程，以及填充

把练习真正用起来：用 PyTorch 的启动命令 `torchrun` 启动两个进程，一个有 3 个样本，一个有 5 个；它们交换个数、均值和 M2，再各自归一化自己的那一部分。
"""

# %% tags=["slow"]
from blocklab.lessons.small_batches import two_processes

print(two_processes.run())

# %% [markdown] lang="en"
r"""
Merged, the outputs are those of one process. Each for itself, they are not, and that is what plain BatchNorm does on several GPUs: the m that counts is that of *one* GPU. `torch.nn.SyncBatchNorm` merges in this way (on GPUs, and for the gradients, too); `SyncBatchNorm.convert_sync_batchnorm(net)` puts it in place of every BatchNorm.

Now the point about padding, tested. Two sentences of five tokens; in a copy, the last two tokens of the second sentence are padding, here 0. By how much, at most, does an output of the *first* sentence change in training?
"""

# %% [markdown] lang="zh"
r"""
合并之后，输出与只用一个进程时相同；各算各的，就不同了。普通的批量归一化在多块 GPU 上正是各算各的，所以要数的 m，是**一块** GPU 上的 m。`torch.nn.SyncBatchNorm` 就是这样合并的（在 GPU 上，而且梯度也会合并）；`SyncBatchNorm.convert_sync_batchnorm(net)` 把网络里的每个批量归一化都换成它。

再来检验前面关于填充的说法。两个句子，各五个词元；复制一份，把第二句的最后两个词元换成填充，这里填 0。训练时，**第一句**的输出最多会变多少？
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
LayerNorm's outputs stay, BatchNorm's do not. Merging, as in the exercise, can keep the padding out of BatchNorm's statistics. Three sentences of 5, 3 and 2 tokens, in one tensor, filled up with 0: BatchNorm counts 15 values per feature, of which 5 are filler. Merge the real ones:
"""

# %% [markdown] lang="zh"
r"""
层归一化的输出不变，批量归一化的变了。用练习里的合并，可以把填充排除在批量归一化的统计量之外。三个句子，长度是 5、3 和 2 个词元，放在一个张量里，不足的地方填 0：批量归一化对每个特征算进了 15 个数，其中 5 个是填充。只合并真正的词元：
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
