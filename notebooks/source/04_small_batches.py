# %% [markdown] lang="en"
r"""
# 04 When does BatchNorm fail?

A network with BatchNorm learns to read 96% of the test digits. Trained again on mini-batches of 2 instead of 32, it loses a third of that. Another network with BatchNorm, trained on 2 at a time as well, loses nothing. What tells the two apart? It is not the 2. Begin by counting how many values share a mean.

Lesson 02 said which values share a mean, lesson 03 how it is remembered; now we ask how many it takes. A Transformer normalizes each token by itself; what it avoids by that is seen best where BatchNorm breaks.

You will count that number, say how large a normalized value can get, merge the statistics of two parts, and search with your own function for what broke the first network. It takes about 55 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 04 批量归一化什么时候失效？

一个用批量归一化（BatchNorm）的网络，训练之后能认对 96% 的测试数字。把小批量从 32 个样本减到 2 个，重新训练，它认对的就少了三分之一。另一个网络也用批量归一化，小批量同样只有 2 个样本，准确率却一点没降。差别在哪里？不在这个 2。先要数清楚，有多少个数共用一个均值。

第 02 课讲了**哪些**数共用一个均值，第 03 课讲了怎样把均值记住，现在要问需要**多少个**数。Transformer 对每个词元单独归一化，它避开的是什么，要在批量归一化失效的地方才看得清。

学完这一课，你会数这个数，能说出归一化之后的数最大有多大，会合并两部分的统计量，还会借助自己写的函数，追查第一个网络坏在哪里。大约需要 55 分钟，选读另计。
"""

# %%
from copy import deepcopy
from itertools import product

import torch
from torch import nn

from blocklab.batch_statistics import batch_statistics
from blocklab_course.pretrained.digits import load_digits
from blocklab_course.i18n import Text
from blocklab_course import checked_or_reference, check, progress_bar
from blocklab_course.lessons.small_batches import accuracy_by_batch, estimate_spread, saturating_batch, two_parts
from blocklab_course.lessons.small_batches.networks import NORMS, mlp

# %% [markdown] lang="en"
r"""
## Two questions first

1. In training, a channel has two values, 1 and 3. With which variance does BatchNorm normalize, and which one moves `running_var`?
2. The input of $\tanh$ goes from 5 to 500. What becomes of the output and of its slope?

<details><summary>Answers</summary>

1. With the biased one, 1. The unbiased one, 2, moves `running_var`.
2. The output stays 1.000. The slope goes from 0.0002 to practically 0, so the function is saturated.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 训练时，某个通道有两个数，1 和 3。批量归一化用哪个方差来归一化？更新 `running_var` 又用哪个？
2. $\tanh$ 的输入从 5 变到 500，输出和斜率会怎样？

<details><summary>答案</summary>

1. 归一化用有偏方差 1；更新 `running_var` 用无偏方差 2。
2. 输出始终是 1.000。斜率从 0.0002 降到几乎为 0，所以函数饱和了。

</details>
"""

# %% [markdown] lang="en"
r"""
## One value runs away

A value takes part in the mean and the standard deviation that it is measured by, the more so the fewer values there are. On the left are m values, before BatchNorm (above) and after (below). You drag the red one, $x_1$; the others lie evenly from −1 to 1 (one alone at 0). On the right is its output against $x_1$. Beyond 1 inputs are drawn logarithmically, hence the bend.

**Predict first.** Two values share a mean, 0 and $x_1$ = 1000. What becomes of the 1000? Choose, drag $x_1$ to 1000, then set *m* to 2.
"""

# %% [markdown] lang="zh"
r"""
## 一个数远离其余的数，会怎样？

批量归一化用均值和标准差来衡量一个数，可是这个数自己也参与了均值和标准差的计算；数越少，它的影响就越大。左图是 m 个数，上面是批量归一化之前，下面是之后。红色的 $x_1$ 由你拖动，其余的数均匀地排在 −1 和 1 之间；如果只剩一个，它就是 0。右图的横轴是 $x_1$，纵轴是它的输出。输入大于 1 的部分用对数刻度，所以曲线有个折角。

**先猜一猜**：两个数共用一个均值，一个是 0，一个是 $x_1$ = 1000。1000 会变成多少？先选，再把 $x_1$ 拖到 1000，然后把 m 调到 2。
"""

# %% tags=["panel", "guess"]
saturating_batch.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

1000 becomes 1. The mean is 500, and the standard deviation is 500 too, because BatchNorm divides by m. (With the unbiased one it would be 0.71.)

</details>

**Predict first.** And if $x_1$, beside the same 0, were not 1000, but 0.1? And for which m, of 2, 4 and 32, is the curve flat at $x_1$ = 1?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

1000 变成 1。均值是 500，标准差也是 500，因为批量归一化除以 m。（用无偏标准差，会得到 0.71。）

</details>

**先猜一猜**：另一个数仍是 0，如果 $x_1$ 不是 1000，而是 0.1 呢？另外，m 取 2、4、32 中的哪一个时，曲线在 $x_1$ = 1 处是平的？
"""

# %% tags=["answer"]
for m in (2, 4, 32):
    near, low, high, far = (saturating_batch.through(m, x)[0] for x in (0.1, 0.9, 1.1, 1000.0))
    saturating_batch.show_row(m, near, far, slope=(high - low) / 0.2)
saturating_batch.still()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

0.1 becomes 0.998, hardly less than 1000 does. (It would be 1 but for ε: 0.05 / √(0.0025 + 0.00001) = 0.998.) The curve is flat for m = 2 alone.

</details>

So of two values hardly more is left than which is larger. Where the curve is flat, $x_1$ gets hardly any gradient, like lesson 01's saturated $\tanh$; the whole rise happens where the two nearly agree. With 4 values there is still a slope, but further out the output stops as well, at $\sqrt{m - 1}$ (before γ and β; proof at the end).

## How many numbers share a mean?

So what counts first is m, not the number of samples. A linear layer gives a channel one value per sample, a convolution one per image and pixel. With several GPUs each normalizes its own share of the batch.

**Your turn, one line.** A network has four BatchNorms, after convolutions with maps of 8 × 8, 4 × 4 and 2 × 2 and after a linear layer. 2 GPUs share every batch. What is the smallest batch size with which m is at least 32 in all four? Replace `None`.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

0.1 变成 0.998，与 1000 变成的几乎一样。（不是 1，因为有 ε：0.05 / √(0.0025 + 0.00001) = 0.998。）只有 m = 2 时，曲线才是平的。

</details>

可见，只有两个数时，输出几乎只剩下谁大谁小。曲线平的地方，$x_1$ 几乎得不到梯度，和第 01 课里饱和的 $\tanh$ 一样；只有两个数几乎相等时，曲线才陡。有 4 个数时，斜率还在，但是再往右，输出照样停住，上限是 $\sqrt{m - 1}$（指乘 γ、加 β 之前；证明在最后）。

## 多少个数共用一个均值？

所以首先要看的是 m，而不是样本数。在线性层之后，一个通道里每个样本只有一个数；在卷积之后，每张图的每个像素都是一个数。有几块 GPU 时，每块只用自己分到的那一部分来归一化。

**轮到你了**，只写一行：一个网络有四个批量归一化，前三个在卷积之后，特征图依次是 8 × 8、4 × 4 和 2 × 2，最后一个在线性层之后。每个小批量平分给 2 块 GPU。要让四处的 m 都不小于 32，批量大小至少是多少？请替换 `None`。
"""

# %% tags=["exercise"]
my_batch_size = None

check("values_per_mean", my_batch_size)

# %% [markdown] lang="en"
r"""
Stuck? How many values of one channel does a single sample bring to each of the four?

<details><summary>The idea</summary>

A sample brings 64, 16 and 4 values where there are maps, and one after the linear layer. The smallest decides, and each GPU sees half of the batch.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？看一个样本：在这四处，它各给一个通道带来多少个数？

<details><summary>思路</summary>

有特征图的地方，一个样本分别带来 64、16 和 4 个数；线性层之后只有一个。最少的说了算，而每块 GPU 只看到一半的样本。

</details>
"""

# %% tags=["solution"]
solved_batch_size = 2 * 32

check("values_per_mean", solved_batch_size, keep=False)

# %% [markdown] lang="en"
r"""
## How far off are the estimates?

With many values the ceiling is high, but their mean is still off by chance. If they are independent, with standard deviation σ, the means of many mini-batches have standard deviation $\sigma / \sqrt{m}$, half of σ with 4 values, a tenth with 100. On the panel's logarithmic axes that is the line. The dots are measured, with σ = 1 and N images of 1 × 1, 2 × 2 and so on; the sliders choose N and the largest size. They lie on the line. (On the right are the unbiased variances; for bell-shaped values their line is $\sigma^2 \sqrt{2 / (m - 1)}$.)
"""

# %% [markdown] lang="zh"
r"""
## 估计得有多准？

数多了，上限就高了，但均值仍有随机误差。如果各数相互独立，标准差为 σ，那么许多个小批量的均值，标准差是 $\sigma / \sqrt{m}$。有 4 个数时，它是 σ 的一半；有 100 个数时，是十分之一。面板的两个轴都用对数刻度，这就是图中的直线。圆点是 σ = 1 时的实测值，每一点都取 N 张图，大小依次是 1 × 1、2 × 2……N 和最大的尺寸由滑块决定。圆点落在线上。（右图是无偏方差；数值服从正态分布时，它的直线是 $\sigma^2 \sqrt{2 / (m - 1)}$。）
"""

# %% tags=["panel"]
estimate_spread.panel()

# %% [markdown] lang="en"
r"""
But neighbouring pixels are seldom independent. *Neighbours alike* makes each the average of 3 × 3 random numbers, scaled to σ = 1, so two neighbours share six of nine.

**Predict first.** For 4 images of 14 × 14, m = 784. With neighbours alike, how many independent values are these worth for the mean, about 700, 400, 100 or 10?
"""

# %% [markdown] lang="zh"
r"""
可是相邻像素很少相互独立。打开“相邻像素相似”，每个像素就是 3 × 3 个随机数的平均，再放大到 σ 仍为 1，相邻两个像素的九个随机数有六个共用。

**先猜一猜**：4 张 14 × 14 的图，m = 784。相邻像素相似时，就均值而言，这些数相当于多少个独立的数？大约 700 个、400 个、100 个，还是 10 个？
"""

# %% tags=["answer"]
estimate_spread.panel().still(alike=True)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

About 100. The dots leave the line: at m = 784 they lie nearly three times as high, because for the mean these values are worth only 99 independent ones (counted at the end).

</details>

So m alone promises too much.

## Real digits

Does a small m cost accuracy? Of 1797 digits, 8 × 8 pixels each, 1280 are for training. In the **MLP** (linear layers and ReLU) m is the batch size. The **convolutions** have, at batch size 2, m = 2 · 8 · 8 = 128 and, after pooling, 2 · 4 · 4 = 32. Each trains for one epoch, from 3 random starts, with a learning rate in proportion to the batch size.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大约 100 个。圆点离开了直线，在 m = 784 处几乎高到三倍，因为就均值而言，这些数只相当于 99 个独立的数（算法在最后）。

</details>

可见，只看 m 会太乐观。

## 真实的手写数字

m 小了，准确率会下降吗？1797 张手写数字，每张 8 × 8 个像素，1280 张用来训练。在**多层感知机**（MLP，由线性层和 ReLU 叠成）里，m 就是批量大小；在**卷积网络**里，批量大小为 2 时，m = 2 · 8 · 8 = 128，池化之后是 2 · 4 · 4 = 32。每种网络都从 3 组随机初值各训练一轮（epoch），学习率与批量大小成正比。
"""


# %%
def trained(make, norm, batch_size, start, rate=0.05):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        net, order = make(NORMS[make][norm]), torch.randperm(1280)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate * batch_size / 32, momentum=0.9, fused=True)
    for batch in order.split(batch_size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
        optimizer.step()
    return net


def accuracy(net):
    with torch.inference_mode():
        return 100 * (net.eval()(images[1280:]).argmax(1) == labels[1280:]).float().mean().item()


# %% tags=["slow"]
(images, labels), order = load_digits(), torch.randperm(1797)
images, labels = (images[order].unsqueeze(1) - images.mean()) / images.std(), labels[order]  # (N, C, H, W), (N,)
runs = list(product(NORMS, ("BatchNorm", "LayerNorm", "GroupNorm"), (2, 4, 32), range(3)))
nets = {run: trained(*run) for run in progress_bar(runs, Text(en="trained", zh="已训练"))}
scores = accuracy_by_batch.by_network({run: accuracy(net) for run, net in nets.items()})

# %% [markdown] lang="en"
r"""
**Predict first.** Two networks with three normalizations each make six. At batch size 2, which read clearly fewer digits?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：两种网络，各用三种归一化，一共六种组合。批量大小为 2 时，哪几种认对的数字明显比别的少？
"""

# %% tags=["panel", "answer", "nbval-ignore-output"]
print(accuracy_by_batch.table(scores))
accuracy_by_batch.panel(scores)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only the MLP with BatchNorm. (A dot is the mean of 3 runs, its bar one standard deviation to each side.)

</details>

Here BatchNorm breaks down at m = 2, and a tenth of the learning rate does not mend it (3 starts, still below 80%). At m = 4 the normalizations differ hardly more than the runs do. With convolutions m is 128 and 32, and BatchNorm is as good as the others. So do not say "BatchNorm fails with small batches"; say what m is.

## What you will meet elsewhere

A large m does not clear BatchNorm, either. ResNet-50, trained with 2 photos per GPU instead of 32, loses 11 points, although m is still 2 · 7 · 7 = 98 or more. Whether neighbours are too much alike or `eval()` differs too much from training, these numbers do not tell. Errors in % ([Wu and He 2018](https://arxiv.org/abs/1803.08494), table 2):

| images per GPU | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| BatchNorm | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| GroupNorm | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

* **SyncBatchNorm** merges the statistics of all GPUs (in Keras `BatchNormalization(synchronized=True)`).
* **Adding up the gradients** of 16 mini-batches of 2 does not help: each was normalized with its own m.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有用批量归一化的 MLP。（圆点是 3 次训练的均值，竖线是上下各一个标准差。）

</details>

在这里，批量归一化在 m = 2 时崩溃。学习率减到十分之一，换了 3 组初值，都还到不了 80%。m = 4 时，几种归一化的差别比各次训练之间的起伏大不了多少。在卷积网络里，m 是 128 和 32，它就不比别的差。所以不要说“批量太小，批量归一化就失效”，要说清楚 m 是多少。

## 在别处会遇到什么

m 很大，也未必没事。训练 ResNet-50 时，每块 GPU 从 32 张图减到 2 张，错误率就高了 11 个百分点，虽然 m 至少还有 2 · 7 · 7 = 98。是相邻像素太相似，还是 `eval()` 用的统计量与训练时不同，单凭这些数分不清。错误率（%）如下（[Wu 和 He 2018](https://arxiv.org/abs/1803.08494)，表 2）：

| 每块 GPU 的图像数 | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| 批量归一化 | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| 组归一化 | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

* **SyncBatchNorm** 合并所有 GPU 的统计量（在 Keras 里是 `BatchNormalization(synchronized=True)`）。
* **梯度累积**，即把 16 个小批量（各 2 个样本）的梯度加起来，也没有用，因为每个小批量仍各用各的 m。
"""

# %% [markdown] lang="en"
r"""
## Two parts

What broke the MLP at m = 2? Three suspects: the stored statistics, moving averages over noisy pairs; `eval()` itself, which differs from training; and training, where a unit sees little more than which of two values is larger. To test the first, count the statistics anew over all 1280 training digits. No moving average: parts, counted exactly and merged, as on several GPUs.

For each channel a part keeps count, mean and *M2*, the sum of squared distances from that mean:

| part | values | count | mean | M2 |
|---|---|---|---|---|
| a | 1, 3 | 2 | 2 | 1 + 1 = 2 |
| b | 3, 5, 5, 7 | 4 | 5 | 4 + 0 + 0 + 4 = 8 |

Weighted by their counts, the means give the common one, (2 · 2 + 4 · 5) / 6 = 4. M2 is harder, because each part measures from its own mean.

**Predict first.** Part b moves right by 3. Whose M2 changes, that of a, of b, of both together? Drag b.
"""

# %% [markdown] lang="zh"
r"""
## 两部分

回到 m = 2 的 MLP。它坏在哪里？可疑的有三处。一是存下来的统计量，它们是移动平均，每次更新只有两个数；二是 `eval()` 本身，它做的与训练时不同；三是训练，因为一个单元几乎只能分辨两个数谁大谁小。先查第一处，用全部 1280 张训练图重新统计，不用移动平均，而是分成几部分精确地算，再合并，就像有几块 GPU 时那样。

每个通道里，每一部分都留下个数、均值和 **M2**，即各数与这个均值之差的平方和。

| 部分 | 数 | 个数 | 均值 | M2 |
|---|---|---|---|---|
| a | 1、3 | 2 | 2 | 1 + 1 = 2 |
| b | 3、5、5、7 | 4 | 5 | 4 + 0 + 0 + 4 = 8 |

两个均值按个数加权，就得到共同的均值：(2 · 2 + 4 · 5) / 6 = 4。M2 要难一些，因为每一部分都从自己的均值量起。

**先猜一猜**：部分 b 向右移动 3。a 的、b 的、合起来的，哪些 M2 会变？拖动 b 看看。
"""

# %% tags=["panel"]
two_parts.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only the M2 of both changes, from 22 to 58. Within each part the distances stay as they were.

</details>

Before the move the common mean lay 2 from that of a. Measured from there, a's squares gain 2² for each of 2 numbers; b's, 1 away, gain 1² for each of 4. Hence 2 + 8 within the parts and 2 · 2² + 4 · 1² = 12 between them, 22 in all.

## Exercise: merge two parts

From count, mean and M2 of two parts return those of the whole, as a tuple in this order. Counts are integers, means and M2 tensors of one shape. A part may be empty, and then all three are zero.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

会变的只有合起来的 M2，从 22 变成 58。各部分内部的距离都没有变。

</details>

移动之前，共同的均值与 a 的均值相距 2。改从那里量起，a 的平方和就要增加：2 个数，每个加 2²。b 的均值与它相距 1，4 个数，每个加 1²。所以，各部分内部是 2 + 8，两部分之间是 2 · 2² + 4 · 1² = 12，一共 22。

## 练习：合并两部分

由两部分各自的个数、均值和 M2，返回整体的这三样，按这个次序组成一个元组。个数是整数，均值和 M2 是形状相同的张量。某一部分可以是空的，这时三样都是零。
"""


# %% tags=["exercise"]
def my_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    return ...


check("merge_statistics", my_merge_statistics)

# %% [markdown] lang="en"
r"""
Stuck? *Two parts* does it with six numbers.

<details><summary>The idea</summary>

The common mean lies on the way from one mean to the other: start at that of a, and go the share that b has in the count. Measured from there, the M2 of each part grows by the square of its own step, once for every number in it. If you divide by nothing but the common count, an empty part does no harm.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“两部分”一节用六个数演示了整个过程。

<details><summary>思路</summary>

共同的均值在两个均值之间：从 a 的均值出发，走多远，由 b 的个数所占的比例决定。改从那里量起，每一部分的 M2 都要增加，有几个数，就加几份自己那一步的平方。只除以总个数，空的部分就不会出错。

</details>
"""


# %% tags=["solution"]
def solved_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, delta = count_a + count_b, mean_b - mean_a
    mean = mean_a + delta * (count_b / count)
    return count, mean, m2_a + m2_b + delta.square() * (count_a * count_b / count)


check("merge_statistics", solved_merge_statistics, keep=False)

# %% [markdown] lang="en"
r"""
## Your function recounts

For each of the MLP's BatchNorms (places 2 and 5) `recount` sends the training digits through the layers before and merges ten parts, one for each digit, so they lie far apart. It returns the share of the true variance found (median of the channels). Here all digits fit into one tensor, so `before.var(0)` can judge your merge; on several GPUs nobody holds them all.
"""

# %% [markdown] lang="zh"
r"""
## 用你的函数重新统计

`recount` 依次处理 MLP 里的两个批量归一化（位置 2 和 5）。它把训练图送过前面的各层，再合并十个部分，每个数字一部分，所以各部分相距很远。它返回的是，合并出来的方差占真实方差的多少（取各通道的中位数）。这里的图放得进一个张量，所以能用 `before.var(0)` 检验你的合并；有几块 GPU 时，谁手里都没有全部的图。
"""


# %%
def recount(net, merge):
    shares = []
    for place in (2, 5):
        with torch.no_grad():
            before = net.eval()[:place](images[:1280])  # (1280, 128)
        merged = 0, torch.zeros(128), torch.zeros(128)
        for digit in range(10):
            merged = merge(*merged, *batch_statistics(before[labels[:1280] == digit], 0))
        count, mean, m2 = merged
        net[place].running_mean.copy_(mean)
        net[place].running_var.copy_(m2 / (count - 1))
        shares.append((net[place].running_var / before.var(0)).median().item())
    return shares


# %% [markdown] lang="en"
r"""
The next cell tries your function (ours, until `check` accepts yours) and one that leaves out what lies between the parts.

**Predict first.** Which share does that one find: nearly all, about 80%, or less than half?
"""

# %% [markdown] lang="zh"
r"""
下面先用你的函数（还没通过 `check` 的话，就先用课程自带的），再用一个漏掉两部分之间那一项的函数。

**先猜一猜**：后一个函数能得到真实方差的多少？几乎全部，80% 左右，还是不到一半？
"""

# %% tags=["answer"]
merge = checked_or_reference("merge_statistics", my_merge_statistics)


def within_alone(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merge(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b


net = deepcopy(nets[mlp, "BatchNorm", 32, 0])
for function in (merge, within_alone):
    accuracy_by_batch.show_shares(function.__name__, recount(net, function), accuracy(net))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Less than half: 45% in the first BatchNorm, 28% in the second. Yours finds all of it. The accuracy does not tell, it is 96% both times: too small a variance makes all channels larger by about as much, β is still nearly 0, ReLU passes a factor on, and the largest of ten outputs stays the largest. (Lesson 05 is about sharper tests.)

</details>

Now the suspects. The next cell wipes what the networks of the picture have stored and lets your function recount. Then they read the *training* digits in `train()`, 2 and 32 at a time.

**Predict first.** If the stored statistics are to blame, the recount mends the networks trained on 2; if `eval()` is, `train()` does. Which is it?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不到一半，第一个批量归一化里是 45%，第二个里是 28%。你的函数则得到全部。两次的准确率都是 96%，看不出差别：方差偏小，各通道放大的倍数差不多；β 几乎还是 0，ReLU 又照样传下这个倍数，所以十个输出里最大的仍然最大。（更灵敏的测试，见第 05 课。）

</details>

现在查那几处。下面抹去图中那些网络存下来的统计量，用你的函数重新统计。然后改用 `train()`，让它们认训练时见过的图，先一次 2 张，再一次 32 张。

**先猜一猜**：如果坏在第一处，重新统计之后，用 2 张训练的网络就该好起来；如果坏在 `eval()`，改用 `train()` 就该好起来。会是哪一处？
"""


# %% tags=["answer", "slow", "nbval-ignore-output"]
def in_training(net, size):
    with torch.inference_mode():
        found = torch.cat([net.train()(part).argmax(1) for part in images[:1280].split(size)])  # (1280,)
    return 100 * (found == labels[:1280]).float().mean().item()


for size, start in product((2, 32), range(3)):
    net = deepcopy(nets[mlp, "BatchNorm", size, start])
    found = [accuracy(net)]
    for norm in (net[2], net[5]):
        norm.reset_running_stats()
    found.append(accuracy(net))
    recount(net, merge)
    accuracy_by_batch.show_suspects(size, start, *found, accuracy(net), in_training(net, 2), in_training(net, 32))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It is neither. The recount brings back what was stored, no more, and in `train()` the networks read hardly more. That it is about 40% in pairs says little, for even those trained on 32 then read only half. But 32 at a time these read 95% to 97%, the others 59% to 71%.

</details>

So the weights are worse: training had failed. At its start most units of the first layer get practically no gradient in a step, and the few whose two values nearly agree are thrown far (*Going further* counts). Your function has cleared a suspect, and helps against the culprit: by merging, SyncBatchNorm makes m larger.

## And a Transformer?

In a batch short sentences are filled up with *padding*. Take two, and make the second's last two tokens filler, here 0.

**Predict first.** LayerNorm or BatchNorm over the features: which changes its outputs for the *first* sentence, in training?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

哪一处都不是。重新统计只是恢复了原来存下来的，没有更好；改用 `train()`，也几乎没有更好。两张一次时只认对 40% 左右，这说明不了什么，因为用 32 张训练的网络这时也只认对一半。可是 32 张一次时，后者认对 95% 到 97%，前者只有 59% 到 71%。

</details>

可见差的是权重，坏在训练本身。训练刚开始时，每走一步，第一层的多数单元几乎得不到梯度，而那几个两个数几乎相等的单元，却被甩出很远（选读里有数）。你的函数排除了一处；对付真正的原因，它也用得上，因为 SyncBatchNorm 正是靠合并来增大 m 的。

## Transformer 里会怎样？

为了把长短不一的句子排成一个张量，短句后面要补上没有意义的词元，叫作**填充**（padding）。我们取两个句子，把第二句的最后两个词元换成填充，一律填 0。

**先猜一猜**：训练时，层归一化和对各个特征的批量归一化，哪一种对**第一句**的输出会变？
"""

# %% tags=["answer"]
torch.manual_seed(0)
text = torch.randn(2, 5, 8)  # (N, L, d)
padded = text.clone()
padded[1, 3:] = 0
layer, batch = nn.LayerNorm(8), nn.BatchNorm1d(8)
moved = Text(en="{}: outputs of the first sentence move by up to {:.1f}", zh="{}：第一句的输出最多变化 {:.1f}")
for name, norm in (("LayerNorm", layer), ("BatchNorm", lambda x: batch(x.mT).mT)):
    print(moved.format(name, (norm(text)[0] - norm(padded)[0]).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

BatchNorm's outputs change, because the filler enters its statistics. LayerNorm works on each token alone.

</details>

(Text's statistics also fluctuate strongly in training, found [Shen et al. 2020](https://arxiv.org/abs/2003.07845).) A Transformer's norm asks no other token: [lesson 05](05_layer_norm.ipynb).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

变的是批量归一化的输出，因为填充混进了它的统计量。层归一化对每个词元单独计算，所以不变。

</details>

（[Shen 等人 2020](https://arxiv.org/abs/2003.07845) 还发现，训练时文本的统计量波动很大。）Transformer 里的归一化不看别的词元，见[第 05 课](05_layer_norm.ipynb)。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. `BatchNorm2d` in training sees 2 images with feature maps of 4 × 4. How large can an output be before γ and β? And with 1 × 1?

<details><summary>Answer</summary>

m = 2 · 4 · 4 = 32, so at most √31 = 5.57. With 1 × 1, m = 2: at most 1.

</details>

2. With BatchNorm after linear layers, a network trains on 1297 samples in batches of 4. After 324 steps it stops: `Expected more than 1 value per channel when training`. Why, and what helps?

<details><summary>Answer</summary>

1297 = 324 · 4 + 1, so the last mini-batch holds one sample, and m = 1. A value alone is its own mean, and nothing is left of it. `DataLoader(…, drop_last=True)` leaves it out.

</details>

3. Only 2 images fit on your GPU. In your CNN, with BatchNorm after every convolution, the smallest feature map is 20 × 20. What do you decide?

<details><summary>Answer</summary>

m is at least 2 · 20 · 20 = 800, far above the 2 of which only an order is left. But ResNet-50, with 98 at the least, lost 11 points, and what 800 costs, nothing here tells. On the safe side are GroupNorm or, with several GPUs, merged statistics.

</details>
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

1297 = 324 · 4 + 1，所以最后一个小批量只有一个样本，m = 1。只有一个数时，均值就是它自己，减去之后什么也不剩。写 `DataLoader(…, drop_last=True)`，就会略去它。

</details>

3. 你的 GPU 只放得下 2 张图。你的 CNN 在每个卷积之后都有批量归一化，最小的特征图是 20 × 20。你怎么决定？

<details><summary>答案</summary>

m 最小是 2 · 20 · 20 = 800，比 2 大得多，不会只剩下谁大谁小。但 ResNet-50 的 m 最小是 98，错误率就高了 11 个百分点；800 时代价多大，本课的数据说不准。稳妥的做法是改用组归一化；如果有几块 GPU，也可以合并统计量。

</details>
"""

# %%
reached = Text(en="2 images of {0} × {0}: largest output {1:.2f}", zh="2 张 {0} × {0} 的图：最大的输出 {1:.2f}")
for side in (4, 1):
    x = torch.zeros(2, 1, side, side)  # (N, C, H, W)
    x[0, 0, 0, 0] = 1000
    print(reached.format(side, nn.BatchNorm2d(1)(x).max().item()))
parts = torch.arange(1297).split(4)  # (N,) each
last = Text(en="mini-batches: {}, samples in the last one: {}", zh="小批量有 {} 个，最后一个里的样本数：{}")
print(last.format(len(parts), len(parts[-1])))

# %% [markdown] lang="en"
r"""
## In short

* Count m, the values that share a mean. With m = 2 BatchNorm broke down, and a large m does not clear it.
* No normalized value gets beyond $\sqrt{m - 1}$.
* M2 of two parts: within them, plus between them.

## Read next

* [Wu and He 2018](https://arxiv.org/abs/1803.08494): where GroupNorm comes from.
* [torch's SyncBatchNorm](https://github.com/pytorch/pytorch/blob/main/torch/nn/modules/_functions.py): gathers the statistics of every GPU.
* [Wu and Johnson 2021](https://arxiv.org/abs/2105.07576): on training against `eval()`.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 先数 m，即多少个数共用一个均值。m = 2 时批量归一化崩溃，m 很大也未必没事。
* 归一化之后的数不会超过 $\sqrt{m - 1}$。
* 两部分的 M2：各自内部的，加上两者之间的。

## 接着读

* [Wu 和 He 2018](https://arxiv.org/abs/1803.08494)：组归一化的由来。
* [torch 的 SyncBatchNorm](https://github.com/pytorch/pytorch/blob/main/torch/nn/modules/_functions.py)：它收集每块 GPU 的统计量。
* [Wu 和 Johnson 2021](https://arxiv.org/abs/2105.07576)：讲训练时与 `eval()` 的差别。
"""

# %% [markdown] lang="en"
r"""
## Going further: why √(m − 1)?

When $x_1 = a$ is so far away that the others are as good as 0, the mean is $a / m$ and the standard deviation $a \sqrt{m - 1} / m$, so

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

No output can get beyond it, because the m outputs sum to 0 and their squares to m (less, with ε). If one is $y$, the others sum to $-y$, so their squares to at least $y^2 / (m - 1)$; from $y^2 + y^2 / (m - 1) \le m$ follows $|y| \le \sqrt{m - 1}$.
"""

# %% [markdown] lang="zh"
r"""
## 选读：为什么是 √(m − 1)？

当 $x_1 = a$ 远到其余的数都可以看作 0 时，均值是 $a / m$，标准差是 $a \sqrt{m - 1} / m$，所以

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

谁也超不过它，因为 m 个输出之和为 0，平方和为 m（加上 ε，只会更小）。某个输出是 $y$ 时，其余各数之和是 $-y$，平方和至少是 $y^2 / (m - 1)$；由 $y^2 + y^2 / (m - 1) \le m$，得 $|y| \le \sqrt{m - 1}$。
"""

# %% [markdown] lang="en"
r"""
## Going further: what 784 pixels are worth

Where each pixel is the average of 3 × 3 random numbers, two pixels a distance k apart along an axis share $(3 - k) / 3$ of them, or none. The mean of all pixels varies with the sum of these shares over all pairs, along both axes:
"""

# %% [markdown] lang="zh"
r"""
## 选读：784 个像素相当于多少个数

如果每个像素是 3 × 3 个随机数的平均，那么沿一个轴相距 k 的两个像素，共用的随机数占 $(3 - k) / 3$，隔得更远就没有。所有像素的均值波动多大，取决于每两个像素共用的份额之和，两个轴各算一次：
"""

# %%
place = torch.arange(14)
shared = (3 - (place - place[:, None]).abs()).clamp(min=0) / 3
print(Text(en="independent values: {:.1f}", zh="独立的数：{:.1f} 个").format(4 * 14**4 / shared.sum() ** 2))

# %% [markdown] lang="en"
r"""
## Going further: what two values do to the gradient

**Predict first.** At the start of training, how many times as large as with m = 32 is the gradient of the MLP's first layer with m = 2, 3 times, 10 times or 30 times? And how many of its 128 units get practically none? (Medians of 200 starts.)
"""

# %% [markdown] lang="zh"
r"""
## 选读：只有两个数时，梯度会怎样？

**先猜一猜**：训练刚开始时，MLP 第一层的梯度，m = 2 时是 m = 32 时的多少倍？大约 3 倍、10 倍，还是 30 倍？它的 128 个单元里，有多少几乎得不到梯度？（取 200 组初值的中位数。）
"""


# %% tags=["answer"]
def unit_gradients(size, start):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        net, batch = mlp(nn.BatchNorm1d), torch.randperm(1280)[:size]
    nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
    return net[1].weight.grad.norm(dim=1)  # (128,)


for size in (2, 32):
    units = torch.stack([unit_gradients(size, start) for start in range(200)])  # (200, 128)
    accuracy_by_batch.show_gradients(size, units)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

About 30 times in the median (it differs much from start to start), and yet nearly two thirds of the units get practically none.

</details>

A unit whose two values lie apart stands where the curve of *One value runs away* is flat. One whose two values nearly agree stands where it is steep, up to $1 / (2\sqrt{\varepsilon}) = 158$. So in each step most units learn nothing and a few are thrown far. In the epoch above the first layer's weights move by 10 to 30 times their own size, with m = 32 by half of it. A smaller learning rate calms the few and leaves the many where they are.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

中位数相差约 30 倍（各组初值相差很大），可是有将近三分之二的单元几乎得不到梯度。

</details>

一个单元的两个数如果隔得远，就落在“一个数远离其余的数，会怎样？”那条曲线平的地方；如果几乎相等，就落在陡的地方，斜率最大可达 $1 / (2\sqrt{\varepsilon}) = 158$。所以每一步，多数单元什么也学不到，少数单元却被甩出很远。在前面的那一轮训练里，第一层的权重移动了自身大小的 10 到 30 倍，m = 32 时只有一半。学习率取小了，那几个单元安稳下来，其余的却更学不动了。
"""

# %% [markdown] lang="en"
r"""
## Going further: two processes

On several GPUs `nn.SyncBatchNorm.convert_sync_batchnorm(net)` replaces every BatchNorm by one that merges. What that does can be seen without a GPU. `torchrun`, PyTorch's command for that, starts two of them, with 3 and 5 samples. They exchange count, mean and M2, merge them with the package's function, and each normalizes its own part.
"""

# %% [markdown] lang="zh"
r"""
## 选读：两个进程

有几块 GPU 时，调用 `nn.SyncBatchNorm.convert_sync_batchnorm(net)`，每个批量归一化就换成会合并统计量的那一种。它在做什么，没有 GPU 也能看清。PyTorch 的启动命令 `torchrun` 启动两个进程，一个有 3 个样本，一个有 5 个。它们交换个数、均值和 M2，用课程自带的函数合并，再各自归一化自己的那一部分。
"""

# %% tags=["slow"]
from blocklab_course.lessons.small_batches import two_processes

print(two_processes.run())

# %% [markdown] lang="en"
r"""
## Going further: frozen BatchNorm

Detectors, with one or two photos per GPU, often keep to the stored statistics while they train (torchvision's `FrozenBatchNorm2d`). Frozen by `eval()` alone, BatchNorm thaws at the next `train()`.
"""

# %% [markdown] lang="zh"
r"""
## 选读：冻结的批量归一化

训练检测模型时，每块 GPU 只放得下一两张照片，所以常常一直用存下来的统计量（torchvision 的 `FrozenBatchNorm2d`）。如果只用 `eval()` 来冻结，下一次对整个网络调用 `train()`，就又解冻了。
"""
