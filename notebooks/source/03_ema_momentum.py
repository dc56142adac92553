# %% [markdown] lang="en"
r"""
# 03 What does momentum = 0.1 mean?

A trained network looks at the photo of a flower and says that it is a daisy, with a probability of 21%. Then you call `train()`. No weight changes, there is no error, and the photo stays the same. Now the network's best guess is a tennis ball, with a probability of 0.2%. Among 1000 classes, this means that the network recognizes nothing.

The network contains 49 BatchNorm layers. In `eval()` they use what they *remember*, the mean and variance of each channel, as seen in training. In `train()` they normalize with the current batch. They do not read the memory for this, but they update it. The memory is a moving average, and a number called `momentum` says how fast it forgets. PyTorch's default is 0.1, and Keras's is 0.99. Which of the two forgets faster? And what happens to a trained network if you copy the number from one framework to the other?

To find out, you write the moving average and the BatchNorm layer, and put the layer into this network. This lesson is a side trip, because the Transformers of the main route contain no BatchNorm. Moving averages are everywhere, though: Adam keeps two of them for every weight.

Plan for about 50 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 03 momentum = 0.1 是什么意思？

一个训练好的网络看了一张花的照片，说是雏菊，概率 21%。接着你调用 `train()`。权重一个也没有变，程序也没有报错，照片还是那一张，网络却改口猜“网球”，而且概率只有 0.2%。一共有 1000 个类别，这样的概率等于什么也没认出来。

这个网络里有 49 个批量归一化（BatchNorm）层。在 `eval()`（评估模式）下，它们用的是自己**记住**的东西，也就是训练时各通道输入的均值和方差；在 `train()`（训练模式）下，它们用的是眼前的小批量，归一化时不看记忆，却会更新它。记忆的内容是一种移动平均，忘得多快，由一个叫 `momentum`（动量）的数决定。PyTorch 的默认值是 0.1，Keras 的是 0.99，哪一个忘得快？如果把一边的数照抄到另一边，训练好的网络会怎么样？

要弄清楚，你先写出移动平均，再写出批量归一化层，把它放进这个网络里看一看。主线里的 Transformer 没有批量归一化，所以这一课是选修。不过移动平均到处都用得上，Adam 就为每个权重各存两个移动平均。

整课大约需要 50 分钟，选读另计。
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from blocklab import batch_norm, debias, ema_update, half_life
from blocklab_course import check, plug_in
from blocklab_course.lessons.ema_momentum import drifting_mean, questions, two_photos, two_readings
from blocklab_course.pretrained import load_efficientnet_lite0, skip_if_missing
from blocklab_course.pretrained.efficientnet_lite0 import class_name

# %% [markdown] lang="en"
r"""
## One flower, four times

The network is called EfficientNet-Lite0, and it was trained to tell the 1000 classes of ImageNet apart. It will look at two photos.
"""

# %% [markdown] lang="zh"
r"""
## 同一朵花，看四次

这个网络叫 EfficientNet-Lite0，是用 ImageNet 训练的，能分辨 1000 个类别。要给它看的照片有两张。
"""

# %% tags=["slow", "nbval-ignore-output"]
two_photos.show()

# %% [markdown] lang="en"
r"""
The next cell runs it on the flower alone and on both photos as one batch, first in `eval()` and then in `train()`. It loads the network anew each time, because a forward pass in `train()` changes the memory. Usually `train()` also switches on Dropout, but this network has none. For each photo the cell prints the most probable class. You know the flower alone: in `eval()` it is a daisy, with 21%, and in `train()` a tennis ball, with 0.2%.

**Predict first.** In `train()`, what is the flower's best class when the palace is in the batch?
"""

# %% [markdown] lang="zh"
r"""
下一个单元格先让网络单独看花，再把两张照片放进同一个小批量；先用 `eval()`，再用 `train()`。每次都重新载入网络，因为在 `train()` 下，光是前向传播就会改写记忆。`train()` 一般还会打开 Dropout，不过这个网络里没有。对每张照片，打印概率最大的类别。单独看花的结果你已经知道了：用 `eval()` 是雏菊，概率 21%；用 `train()` 是网球，概率 0.2%。

**先猜一猜**：还是用 `train()`，但和宫殿放在一批，花的概率最大的类别是什么？
"""

# %% tags=["guess"]
questions.flower_beside_palace()

# %% tags=["slow", "answer"]
with skip_if_missing():
    photos = two_photos.prepared()  # (N, C, H, W) = (2, 3, 224, 224)
    for mode in ("eval", "train"):
        for batch in (photos[:1], photos):
            net = load_efficientnet_lite0().train(mode == "train")
            with torch.no_grad():
                p, best = net(batch).softmax(-1).max(-1)  # (N,) each
            seen = [f"{class_name(i)} {q:.1%}" for i, q in zip(best.tolist(), p, strict=True)]
            print(f"{mode}()", *seen, sep="   ")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It is something else, corn.

</details>

The photo and the weights are the same, and yet the answer depends on what else is in the batch. In `eval()` the palace makes no difference. But don't take the corn or the tennis ball seriously: here no class gets even 1%, not even for the palace.

What went wrong? In `train()` each BatchNorm subtracts the mean of the current batch. One photo makes a poor batch, because its mean is that of this one flower and not of the world that the network knows. Three numbers are enough to see the effect.

## A moving average by hand

Take one channel, and leave γ and β out. A first batch contains the values 8 and 12, a second one 8, 12 and 40. BatchNorm subtracts the batch's mean and divides by its standard deviation.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

别的东西：玉米。

</details>

照片没变，权重没变，答案却取决于它跟谁分在一批。用 `eval()` 就不是这样，有没有宫殿，花的结果都一样。不过，玉米也好，网球也好，都不必当真：这里没有哪一类能到 1%，连宫殿也认不出来。

问题出在哪里？在 `train()` 下，每个批量归一化层减去的是当前小批量的均值。只有一张照片的小批量，均值没有代表性：那只是这一朵花的均值，代表不了整个训练集。用几个数算一算，就看得清楚。

## 动手算移动平均

只看一个通道，γ 和 β 先不管。第一个小批量里的数是 8、12，第二个是 8、12、40。批量归一化要减去小批量的均值，再除以小批量的标准差。
"""

# %%
for batch in ([8.0, 12.0], [8.0, 12.0, 40.0]):
    x = torch.tensor(batch)  # (N,)
    mean, deviation = x.mean(), x.std(correction=0)
    print(f"μ = {mean:.0f}   σ = {deviation:4.1f}   y =", (x - mean) / deviation)

# %% [markdown] lang="en"
r"""
The same 12 becomes 1 in the first batch and −0.56 in the second, because the 40 raises both the mean, from 10 to 20, and the standard deviation, from 2 to 14.2. Training can live with that. Inference cannot: the answer for your photo must not depend on the other photos in the batch.

So BatchNorm remembers. It keeps a *running mean*, which starts at 0, and in every training step it mixes a little of the batch's mean into it:

$$\text{running} \leftarrow (1 - \alpha)\cdot\text{running} + \alpha\cdot\text{batch}$$

* *running* is the running mean, the only thing that is kept from one step to the next.
* *batch* is the mean of the current batch.
* α is **the weight of the new value**, a number between 0 and 1. The old value gets the rest, 1 − α.

With α = 0.1 and the two batches above, the running mean goes from 0 to 0.9 × 0 + 0.1 × 10 = 1, and then to 0.9 × 1 + 0.1 × 20 = 2.9. The first batch now weighs only 0.9 × 0.1 = 0.09. Each step multiplies the weights of all older values by 0.9, so they fade exponentially, and the running mean is an **exponential moving average** (EMA).

The next cell runs the same steps next to PyTorch's layer, with its `momentum` at 0.1.
"""

# %% [markdown] lang="zh"
r"""
同样是 12，在第一个小批量里变成 1，在第二个里变成 −0.56，因为多了一个 40，均值从 10 升到 20，标准差也从 2 升到 14.2。训练时这样还可以接受，推理时就不行了。

所以批量归一化要有记忆。它存着一个**运行均值**（running mean，也叫滑动均值），从 0 开始，每训练一步，就往里掺一点当前小批量的均值：

$$\text{running} \leftarrow (1 - \alpha)\cdot\text{running} + \alpha\cdot\text{batch}$$

* *running* 是运行均值，每一步只需保存这一个数。
* *batch* 是当前小批量的均值。
* α 是**新值的权重**，在 0 和 1 之间。剩下的 1 − α 归旧值。

取 α = 0.1，还用上面两个小批量：运行均值从 0 变成 0.9 × 0 + 0.1 × 10 = 1，再变成 0.9 × 1 + 0.1 × 20 = 2.9。这时第一个小批量的权重只剩 0.9 × 0.1 = 0.09。每走一步，旧值的权重全都乘以 0.9，按指数衰减，所以运行均值是一种**指数移动平均**（exponential moving average，EMA）。

下一个单元格把这两步和 PyTorch 的层放在一起算，层的 `momentum` 取 0.1。
"""

# %%
running, layer = 0.0, nn.BatchNorm1d(1, momentum=0.1)
for batch in ([8.0, 12.0], [8.0, 12.0, 40.0]):
    x = torch.tensor(batch)[:, None]  # (N, C)
    layer(x)
    running = (1 - 0.1) * running + 0.1 * x.mean()
    print(f"batch {x.mean():.0f}   running {running:.1f}   layer.running_mean {layer.running_mean.item():.1f}")

# %% [markdown] lang="en"
r"""
The two agree, so PyTorch's momentum is α: **momentum = 0.1 means that the newest batch counts 10%, and everything before it, the start value included, 90%.**

Keras uses the same word for the other weight, that of the old value. One step in PyTorch's convention, and one in Keras's:

```python
running = (1 - momentum) * running + momentum * batch  # PyTorch: α = momentum
running = momentum * running + (1 - momentum) * batch  # Keras: α = 1 - momentum
```

**Your turn, one line.** Write the step with PyTorch's meaning of momentum. Return the new average, and leave `average` as it is.
"""

# %% [markdown] lang="zh"
r"""
两边一致，所以 PyTorch 的动量就是 α：**momentum = 0.1，意思是最新的小批量占 10%，此前的所有小批量连同初值，合占 90%。**

同一个词，Keras 指的却是另一个权重，也就是旧值的权重。同样的一步，先按 PyTorch 的约定写，再按 Keras 的约定写：

```python
running = (1 - momentum) * running + momentum * batch  # PyTorch: α = momentum
running = momentum * running + (1 - momentum) * batch  # Keras: α = 1 - momentum
```

**轮到你了**，只写一行：按 PyTorch 的约定写出这一步，返回新的平均值，不要改动 `average`。
"""


# %% tags=["exercise"]
def my_ema_update(average, value, momentum):
    return ...


check("ema_update", my_ema_update)

# %% [markdown] lang="en"
r"""
Stuck? Take the line with 0.1 from *A moving average by hand*, and put names in place of its numbers.

<details><summary>The idea</summary>

An average of two values needs two weights that sum to 1. In PyTorch `momentum` is the weight of the new value, so the old value gets the rest.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？从“动手算移动平均”里找到带 0.1 的那一行，把数换成名字。

<details><summary>思路</summary>

两个值求平均，要有两个权重，加起来是 1。在 PyTorch 里，`momentum` 是新值的权重，剩下的归旧值。

</details>
"""


# %% tags=["solution"]
def solved_ema_update(average, value, momentum):
    return (1 - momentum) * average + momentum * value


check("ema_update", solved_ema_update, keep=False)

# %% [markdown] lang="en"
r"""
## Exercise, step 1: normalize with the batch

Now write the layer. Begin with what it does in training, without the memory. The input x has the shape `(N, C)` or `(N, C, *)`, where `*` means any number of further axes, for example H and W:

$$y = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta$$

* μ and σ² are the mean and the variance of each channel, over all axes except axis 1. Each of them is a vector of C numbers.
* σ² is the *biased* variance: if a channel has m numbers, the sum of their squared distances from μ is divided by m. In torch this is `x.var(axes, correction=0)`.
* γ and β are vectors of C learned numbers. The code calls them `weight` and `bias`.

Remember the trap from lesson 02: broadcasting lines up a vector with the *last* axis, but the channels are axis 1. So write `mean.view(shape)`, and treat the other vectors in the same way.

**Your turn.** Write the formula as a function. The cell prints your output, torch's, and the largest difference between them, which should be 0.0000. The shape alone proves nothing: C and L are both 2 here, so a wrong axis raises no error.
"""

# %% [markdown] lang="zh"
r"""
## 练习，第 1 步：用小批量归一化

现在来写这一层。先写训练时的做法，记忆以后再加。输入 x 的形状是 `(N, C)` 或 `(N, C, *)`，`*` 表示后面还可以有任意多个轴，比如 H 和 W：

$$y = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta$$

* μ 和 σ² 是每个通道的均值和方差，沿轴 1 以外的所有轴求得，所以都是含 C 个数的向量。
* σ² 是**有偏**方差：一个通道有 m 个数，它们与 μ 之差的平方和就除以 m。在 torch 里写作 `x.var(axes, correction=0)`。
* γ 和 β 都是由 C 个学出来的数组成的向量，代码里叫 `weight` 和 `bias`。

别忘了第 02 课的陷阱：广播时，向量对准的是**最后一个**轴，而通道是轴 1。所以要写 `mean.view(shape)`，其他几个向量也一样。

**轮到你了**：把公式写成函数。单元格会打印你的输出、torch 的输出，还有两者最大的差，应该是 0.0000。只看形状说明不了问题：这里 C 和 L 都是 2，轴弄错了也不会报错。
"""


# %% tags=["exercise"]
def my_normalize(x, weight, bias, eps):
    shape = (1, -1) + (1,) * (x.dim() - 2)  # (1, C, 1, …)
    return ...


x = torch.tensor([[[8.0, 12], [1, 2]], [[12, 8], [3, 6]]])  # (N, C, L)
gamma, beta = torch.tensor([1.0, 2]), torch.tensor([0.0, 5])  # (C,)
mine, theirs = my_normalize(x, gamma, beta, 1e-5), F.batch_norm(x, None, None, gamma, beta, training=True)
print("my_normalize", mine)
print("F.batch_norm", theirs)
if mine is not ...:
    print(f"max |difference| {(mine - theirs).abs().max():.4f}")

# %% [markdown] lang="en"
r"""
Stuck? Find the axes first.

<details><summary>The idea</summary>

x can have two axes or five, so `(0, 2, 3)` is not enough. Build the list from `x.dim()`: every axis except 1. Take mean and variance along these axes without `keepdim`, and reshape all four vectors with `.view(shape)` so that they line up with the channels.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先想清楚沿哪些轴求。

<details><summary>思路</summary>

x 可能有两个轴，也可能有五个，所以不能写死 `(0, 2, 3)`。根据 `x.dim()` 列出除 1 以外的每个轴，沿这些轴求均值和方差，不写 `keepdim`，再用 `.view(shape)` 让四个向量都对准通道。

</details>
"""


# %% tags=["solution"]
def solved_normalize(x, weight, bias, eps):
    shape = (1, -1) + (1,) * (x.dim() - 2)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    mean, variance = x.mean(axes), x.var(axes, correction=0)  # (C,) each
    y = (x - mean.view(shape)) / (variance.view(shape) + eps).sqrt()
    return y * weight.view(shape) + bias.view(shape)


solved = solved_normalize(x, gamma, beta, 1e-5)
print("solved_normalize", solved)
print(f"max |difference| {(solved - theirs).abs().max():.4f}")

# %% [markdown] lang="en"
r"""
## Exercise: the whole layer

Step 2 adds the memory. The running mean and the running variance are kept in two **buffers**, which are tensors that are saved with the model but not changed by gradients. `running_mean` starts at 0 and `running_var` at 1.

**What `eval()` reads.** The layer normalizes with the two buffers and leaves them as they are.

**What `train()` writes.** The layer normalizes with the batch, as in step 1. Then it moves both buffers toward the batch by `ema_update`. What goes into `running_var` is not the variance that it has just used, but the *unbiased* one, which divides by m − 1. In torch this is `x.var(axes)`. The memory has to describe data outside the batch, and for that purpose the biased variance is, on average, too small.

The next cell shows both variances of four numbers, and what PyTorch's layer stores. With momentum 1 the buffer takes over the new value in full.
"""

# %% [markdown] lang="zh"
r"""
## 练习：写出完整的一层

第 2 步加上记忆。运行均值和运行方差存在两个**缓冲区**（buffer）里，也就是随模型保存、但不靠梯度更新的张量。`running_mean` 从 0 开始，`running_var` 从 1 开始。

**`eval()` 读什么**：这一层用两个缓冲区来归一化，不改动它们。

**`train()` 写什么**：这一层像第 1 步那样用小批量归一化，再用 `ema_update` 让两个缓冲区向小批量靠近。存进 `running_var` 的不是归一化用的方差，而是**无偏**方差，它除以 m − 1，在 torch 里写作 `x.var(axes)`。记忆要代表的是小批量以外的数据，如果用有偏方差，平均来说会偏小。

下一个单元格打印四个数的两种方差，还有 PyTorch 的层存下来的值。momentum 取 1 时，缓冲区里就是新值本身。
"""

# %%
column, layer = torch.tensor([[1.0], [2], [3], [6]]), nn.BatchNorm1d(1, momentum=1.0)  # column: (N, C)
layer(column)
print(f"biased {column.var(0, correction=0).item():.2f}   unbiased {column.var(0).item():.2f}")
print(f"layer.running_var {layer.running_var.item():.2f}")

# %% [markdown] lang="en"
r"""
The layer has stored the unbiased 4.67.

**Your turn.** Fill in `forward`. The line for `eval()` is already there. When you update a buffer, write *into* it, and keep the update out of the graph:

```python
with torch.no_grad():
    self.running_mean.copy_(...)
```

A line like `running_mean = ...` would only make the local variable `running_mean` point to a new tensor, and the buffer would stay as it was.
"""

# %% [markdown] lang="zh"
r"""
可见这一层存的是无偏方差 4.67。

**轮到你了**：请补全 `forward`，`eval()` 要用的那一行已经写好。更新缓冲区时要**写进**原来的张量，而且不能留在计算图里：

```python
with torch.no_grad():
    self.running_mean.copy_(...)
```

如果写成 `running_mean = ...`，只是让局部变量 `running_mean` 指向新张量，缓冲区并没有变。
"""


# %% tags=["exercise"]
class MyBatchNorm(nn.Module):
    def __init__(self, channels, eps=1e-5, momentum=0.1):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.eps, self.momentum = eps, momentum

    def forward(self, x):
        shape = (1, -1) + (1,) * (x.dim() - 2)  # (1, C, 1, …)
        mean, variance = self.running_mean, self.running_var  # what eval() reads
        return ...


check("batch_norm", MyBatchNorm(3))

# %% [markdown] lang="en"
r"""
Stuck? Begin with the line that normalizes. It is the one from step 1.

<details><summary>The idea</summary>

If `self.training` is true, give `mean` and `variance` new values, those of the batch, and write the new averages into the buffers. The line that normalizes comes after that, and it is the same in both modes.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先写归一化的那一行，它和第 1 步的一样。

<details><summary>思路</summary>

如果 `self.training` 为真，就把 `mean` 和 `variance` 换成小批量的均值和方差，再把新的平均值写进缓冲区。归一化的那一行写在后面，两种模式都一样。

</details>
"""


# %% tags=["solution"]
class SolvedBatchNorm(MyBatchNorm):
    def forward(self, x):
        shape = (1, -1) + (1,) * (x.dim() - 2)
        mean, variance = self.running_mean, self.running_var
        if self.training:
            axes = [axis for axis in range(x.dim()) if axis != 1]
            mean, variance = x.mean(axes), x.var(axes, correction=0)
            with torch.no_grad():
                self.running_mean.copy_(ema_update(self.running_mean, mean, self.momentum))
                self.running_var.copy_(ema_update(self.running_var, x.var(axes), self.momentum))
        y = (x - mean.view(shape)) / (variance.view(shape) + self.eps).sqrt()
        return y * self.weight.view(shape) + self.bias.view(shape)


check("batch_norm", SolvedBatchNorm(3), keep=False)

# %% [markdown] lang="en"
r"""
## Your layer in a trained network

`plug_in` puts your layer in the place of all 49 BatchNorms, with the weights and the buffers of the network, and asks for two answers:

1. It shows the flower to the network in `eval()`.
2. It first runs ten batches of the flower and the palace in `train()`, only to change the buffers (there is no optimizer), and then asks once in `eval()`.

The network was trained in TensorFlow with a momentum of 0.99, so `plug_in` sets 0.01.
"""

# %% [markdown] lang="zh"
r"""
## 把你的层放进训练好的网络

`plug_in` 会把网络里的 49 个批量归一化层都换成你写的层，权重和缓冲区仍用网络自己的，然后让网络回答两次：

1. 用 `eval()` 看那朵花。
2. 先用 `train()` 看十个小批量，每个都是花和宫殿（没有优化器，只为改写缓冲区），再用 `eval()` 回答一次。

这个网络是用 TensorFlow 训练的，动量是 0.99，所以 `plug_in` 设的是 0.01。
"""

# %% tags=["slow"]
plug_in(batch_norm=MyBatchNorm)

# %% [markdown] lang="en"
r"""
With a correct layer both answers are a daisy, first with 21.0% and then with 14.6%. The first answer tests only the `eval()` branch. A layer that reads the momentum as Keras does passes it as well, because the buffers came with the network, and in `eval()` a layer only reads them. The second answer tests the memory, because it depends on what your layer has written. If it is 21.0% again, nothing was written.

Why does the daisy's probability drop by almost a third even with a correct layer? With α = 0.01, the buffers keep 0.99¹⁰ = 90% of what the network had learned about ImageNet. The other 10% come from two photos, so the network now works with a memory that is less accurate. How much would be left with another momentum? First look at a single channel.

## One number, two readings

In the panel, the values of a channel have mean 10 and standard deviation 2, and each batch contains 64 of them. The upper row reads *momentum* as PyTorch does, the lower row as Keras does. On the left you see how much each of the last batches weighs in the running mean, and in gray the weight of the start value, 0. On the right you see what `eval()` then makes of fresh data. Its outputs should be centered on 0.

**Predict first.** Both layers get 0.99 and train for 20 steps. Where are their outputs centered? Choose an answer, then drag *momentum*, or the first bar, to 0.99.
"""

# %% [markdown] lang="zh"
r"""
函数写对了，两次都认出雏菊，概率先是 21.0%，后是 14.6%。第一次回答只检验 `eval()` 那个分支。按 Keras 的约定来理解动量的层，这一关照样能过，因为缓冲区是网络自己带来的，在 `eval()` 下只读不写。第二次回答才检验记忆，因为它取决于你的层写进去了什么。如果还是 21.0%，就说明什么也没有写进去。

函数既然写对了，概率为什么还会少掉将近三分之一？α 取 0.01 时，网络在 ImageNet 上积累的统计量，缓冲区里还剩 0.99¹⁰ = 90%，另外 10% 来自这两张照片，所以这时用的记忆已经不那么准了。要是动量换成别的数，又会剩下多少？先只看一个通道。

## 一个数，两种读法

面板里有一个通道，数值的均值是 10，标准差是 2，每个小批量有 64 个数。“动量”是同一个数，上面一行按 PyTorch 的约定来读，下面一行按 Keras 的约定来读。左边是最近各个小批量在运行均值里占多少权重，灰色柱子是初值 0 的权重。右边是训练之后 `eval()` 对新数据的输出，正常情况下应该以 0 为中心。

**先猜一猜**：两边的动量都是 0.99，各训练 20 步，输出以哪里为中心？先选好答案，再拖动“动量”或第一根柱子，调到 0.99。
"""

# %% tags=["panel", "guess"]
two_readings.panel()

# %% tags=["answer"]
two_readings.panel().still(momentum=0.99)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

PyTorch's outputs are centered on 0 and Keras's on 6.56.

</details>

Look at the lower row first. In Keras 0.99 is the weight of the old value, so α is only 0.01. Each step multiplies the weight of the start value by 1 − α = 0.99, and after 20 steps it is still 0.99²⁰ = 82%. The twenty bars of the batches are barely visible, but together they account for the other 18%. So the running mean is about 0.18 × 10 = 1.8 instead of 10. The running variance, which started at 1, has not reached 4 either: it is about 0.82 × 1 + 0.18 × 4 = 1.54. Therefore the outputs are centered near $(10 - 1.8) / \sqrt{1.54} = 6.6$.

With Keras's default, the data have 99% of the weight after 459 steps, and with PyTorch's after 44. (Solve $0.99^t = 0.01$ and $0.9^t = 0.01$.) Until then, a network can look much worse in `eval()` than it really is.

In the upper row α is 0.99, so the running mean is practically the mean of the last batch. That works here, because 64 values give a fair mean and the data do not drift. But the layer remembers almost nothing except the last batch. What happens when that batch is not a fair one?

## What if you copy the number?

Back to the flower. The network's momentum was 0.99 in TensorFlow and has to be 0.01 in PyTorch. Two mistakes are easy to make: you forget to set it, and PyTorch's default of 0.1 remains, or you copy the 0.99. The next two functions make one mistake each: they are given 0.01 and ignore it. `plug_in` also takes a plain function, which gets everything that the class kept in `self`: the buffers, γ, β, the mode, the momentum and ε.

**Predict first.** After the ten batches, with which of the two numbers does the network still see a daisy?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

PyTorch 的输出以 0 为中心，Keras 的输出以 6.56 为中心。

</details>

先看下面一行。在 Keras 里，0.99 是旧值的权重，所以 α 只有 0.01。每走一步，初值的权重就乘以 1 − α = 0.99，走完 20 步还有 0.99²⁰ = 82%。二十个小批量的柱子矮得几乎看不见，加起来才 18%，于是运行均值只有 0.18 × 10 = 1.8 左右，离 10 还很远。运行方差从 1 开始，同样没走到 4，只有 0.82 × 1 + 0.18 × 4 = 1.54，所以输出的中心约为 $(10 - 1.8) / \sqrt{1.54} = 6.6$。

用 Keras 的默认值，要到第 459 步，数据的权重才达到 99%；用 PyTorch 的默认值，第 44 步就达到了（解方程 $0.99^t = 0.01$ 和 $0.9^t = 0.01$ 可得）。在这之前用 `eval()` 去验证，网络看上去可能比实际差得多。

再看上面一行。这时 α 是 0.99，运行均值几乎就是最后一个小批量的均值。这里没有出错，是因为 64 个数的均值已经相当准，数据的分布又一直不变。但是这一层几乎只记得最后一个小批量。要是这个小批量没有代表性，会怎么样？

## 照抄这个数，会怎么样？

回到那朵花。这个网络的动量，在 TensorFlow 里是 0.99，搬到 PyTorch 里应该是 0.01。有两种错很容易犯：一种是忘了设置，用的还是 PyTorch 的默认值 0.1；另一种是照抄 0.99。下面两个函数各犯一种错：传进来的是 0.01，它们却都没有用。`plug_in` 也接受普通函数，类里存在 `self` 中的东西都会作为参数传给它：缓冲区、γ、β、当前的模式、动量和 ε。

**先猜一猜**：看过十个小批量之后，这两个数取哪个，网络看到的仍是雏菊？
"""

# %% tags=["guess"]
questions.still_a_daisy()


# %% tags=["slow", "answer"]
def left_at_the_default(x, running_mean, running_var, weight, bias, training, momentum, eps):
    return batch_norm(x, running_mean, running_var, weight, bias, training, 0.1, eps)


plug_in(batch_norm=left_at_the_default)


# %% tags=["slow", "answer"]
def copied_from_keras(x, running_mean, running_var, weight, bias, training, momentum, eps):
    return batch_norm(x, running_mean, running_var, weight, bias, training, 0.99, eps)


plug_in(batch_norm=copied_from_keras)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

With neither of them.

</details>

With α = 0.1, the buffers keep only 0.9¹⁰ = 35% of what the network had learned, and the flower becomes a mushroom, with 9.3%. So PyTorch's default is not harmless.

With α = 0.99, they keep 0.01¹⁰, which is practically nothing: the buffers contain the statistics of two photos. So `eval()` now does almost what `train()` did at the beginning with both photos in one batch. The only difference is that it uses the unbiased variance instead of the biased one. The most probable class is now dough, with 0.4%, where it was corn, with 0.5%. When no class reaches 1%, a difference that small decides the winner, and once again the network recognizes nothing. No weight has changed, but if you save the network now, these buffers are saved with it.

Ten copies of the same two photos are an extreme case, of course. But in both outputs of `plug_in` above, the first answer is right, a daisy with 21.0%. **Running only `eval()` does not test what you write into the buffers.**

## What other code does differently

The two meanings are easier to compare by the **half-life**, which depends on no convention. After $\ln\frac12 / \ln(1 - \alpha)$ steps, a value counts half as much as when it was new.

| | `momentum` is the weight of | default | α | half-life |
|---|---|---|---|---|
| PyTorch | the new value | 0.1 | 0.1 | 6.6 steps |
| [Keras](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/batch_normalization.py) | the old value | 0.99 | 0.01 | 69 steps |
| *Dive into Deep Learning*, [English](https://d2l.ai/chapter_convolutional-modern/batch-norm.html) | the new value | 0.1 | 0.1 | 6.6 steps |
| *Dive into Deep Learning*, [Chinese](https://zh.d2l.ai/chapter_convolutional-modern/batch-norm.html) | the old value | 0.9 | 0.1 | 6.6 steps |

<details><summary>TensorFlow, Flax, PaddlePaddle</summary>

In all three, momentum is the weight of the old value. The default is 0.99 in TensorFlow, whose layer is Keras's, and in [Flax](https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/normalization.html) (JAX). It is 0.9 in [PaddlePaddle](https://github.com/PaddlePaddle/Paddle/blob/develop/python/paddle/nn/layer/norm.py).

</details>

With the defaults, PyTorch's layer forgets ten times as fast as Keras's.

Two more differences can surprise you. Keras's ε is 0.001, where PyTorch's is 0.00001. And the layer that *Dive into Deep Learning* writes from scratch checks `torch.is_grad_enabled()` instead of `self.training`, so after `net.eval()` without `no_grad` it still uses the batch and moves its averages.

## In short

* In PyTorch, momentum = 0.1 means that each training step takes 10% of the running mean from the new batch and keeps 90% of the old value.
* In Keras, TensorFlow and Flax, momentum is the weight of the old value, so the same step is 0.9 there. Say which value the number belongs to, or give the half-life.
* In `train()`, BatchNorm normalizes with the batch and moves its buffers. In `eval()` it normalizes with the buffers.
* It normalizes with the biased variance and stores the unbiased one.

## Two closing questions

1. You bring a Keras network to PyTorch, in order to go on training it. Its BatchNorms have `momentum=0.99, epsilon=0.001`. Which two numbers do you write?

<details><summary>Answer</summary>

`momentum=0.01, eps=0.001`. If you copied 0.99, the half-life would be 0.15 steps.

</details>

2. A channel has mean 10 and standard deviation 2. After ten training steps with PyTorch's defaults, the outputs of `eval()` have mean 2.03 instead of 0. Is this a bug?

<details><summary>Answer</summary>

No, the start values still count. The running mean is $10 \times (1 - 0.9^{10}) = 6.51$, and the running variance is $0.9^{10} \times 1 + (1 - 0.9^{10}) \times 4 = 2.95$. The mean of the outputs is $(10 - 6.51) / \sqrt{2.95} = 2.03$.

</details>

The next cell computes the half-lives, the number of steps `t(99%)` after which the data have 99% of the weight, and the numbers of the second answer.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

都不行。

</details>

α 取 0.1 时，缓冲区里原来的统计量只剩 0.9¹⁰ = 35%，花被认成蘑菇，概率 9.3%。可见忘了改 PyTorch 的默认值，也会出问题。

α 取 0.99 时，原来的统计量只剩 0.01¹⁰，等于没有，缓冲区里全是那两张照片的统计量。于是 `eval()` 的结果，和开头用 `train()`、两张照片放在一批时几乎一样，区别只在于这里用的是无偏方差，那里用的是有偏方差。那时概率最大的类别是玉米，0.5%；现在是面团，0.4%。哪一类都不到 1%，一点点差别就能决定谁排第一，网络又什么也认不出来了。权重一个也没有变，但要是现在保存模型，存下来的就是这样的缓冲区。

当然，反复看同样两张照片是极端情形。不过请看上面两次 `plug_in` 的第一行结果，都是雏菊，21.0%，一点问题也没有。**只跑 `eval()`，检验不出你往缓冲区里写得对不对。**

## 别的代码怎么写

要比较两种约定，可以看**半衰期**（half-life），它与约定无关：过了 $\ln\frac12 / \ln(1 - \alpha)$ 步，一个值的权重就只有刚进来时的一半。

| | `momentum` 是谁的权重 | 默认值 | α | 半衰期 |
|---|---|---|---|---|
| PyTorch | 新值 | 0.1 | 0.1 | 6.6 步 |
| [Keras](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/batch_normalization.py) | 旧值 | 0.99 | 0.01 | 69 步 |
| 《动手学深度学习》[英文版](https://d2l.ai/chapter_convolutional-modern/batch-norm.html) | 新值 | 0.1 | 0.1 | 6.6 步 |
| 《动手学深度学习》[中文版](https://zh.d2l.ai/chapter_convolutional-modern/batch-norm.html) | 旧值 | 0.9 | 0.1 | 6.6 步 |

<details><summary>TensorFlow、Flax、飞桨（PaddlePaddle）</summary>

三家的动量都是旧值的权重。TensorFlow 用的就是 Keras 的层，它和 [Flax](https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/normalization.html)（JAX）的默认值都是 0.99，[PaddlePaddle](https://github.com/PaddlePaddle/Paddle/blob/develop/python/paddle/nn/layer/norm.py) 的是 0.9。

</details>

都用默认值的话，PyTorch 的层遗忘的速度是 Keras 的十倍。

还有两处容易踩坑。第一，Keras 的 ε 是 0.001，PyTorch 的是 0.00001。第二，《动手学深度学习》书中从零实现的那段代码，看的是 `torch.is_grad_enabled()`，不是 `self.training`，所以光写 `net.eval()` 而不加 `no_grad`，那一层照样用小批量的统计量，照样更新移动平均。

## 小结

* 在 PyTorch 里，momentum = 0.1 的意思是：每训练一步，运行均值有 10% 来自新的小批量，90% 是旧值。
* 在 Keras、TensorFlow 和 Flax 里，动量是旧值的权重，同样一步要写 0.9。提到动量时，要说清楚它是哪个值的权重，或者直接给出半衰期。
* 在 `train()` 下，批量归一化用小批量来归一化，同时更新缓冲区；在 `eval()` 下，用缓冲区来归一化。
* 归一化用有偏方差，存进缓冲区的是无偏方差。

## 两个思考题

1. 你把一个 Keras 网络搬到 PyTorch，准备接着训练。它的批量归一化写着 `momentum=0.99, epsilon=0.001`。这两个数，你各写多少？

<details><summary>答案</summary>

写 `momentum=0.01, eps=0.001`。照抄 0.99 的话，半衰期只有 0.15 步。

</details>

2. 某个通道的均值是 10，标准差是 2。用 PyTorch 的默认设置训练十步之后，`eval()` 输出的均值是 2.03，不是 0。是程序写错了吗？

<details><summary>答案</summary>

没有写错，初值还占着权重。运行均值是 $10 \times (1 - 0.9^{10}) = 6.51$，运行方差是 $0.9^{10} \times 1 + (1 - 0.9^{10}) \times 4 = 2.95$，所以输出的均值是 $(10 - 6.51) / \sqrt{2.95} = 2.03$。

</details>

下一个单元格计算各个半衰期、数据的权重达到 99% 所需的步数 `t(99%)`，还有第二题的几个数。
"""

# %% tags=["answer"]
for alpha in (0.1, 0.01, 0.99):
    print(f"α = {alpha:4}   half_life = {half_life(alpha):5.2f}   t(99%) = {math.log(0.01, 1 - alpha):5.1f}")
mean, variance = 10 * (1 - 0.9**10), 0.9**10 * 1 + (1 - 0.9**10) * 4
print(f"{mean:.2f}   {variance:.2f}   {(10 - mean) / variance**0.5:.2f}")

# %% [markdown] lang="en"
r"""
## Read next

* The paper: [Batch Normalization](https://arxiv.org/abs/1502.03167), Ioffe and Szegedy 2015. Section 3.1 is about training and inference.
* The documentation: PyTorch's [BatchNorm2d](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html), with a note on momentum.

Two photos made a poor batch. How large does a batch have to be? This is the question of [lesson 04](04_small_batches.ipynb), the next side trip. The main route goes on with [lesson 05](05_layer_norm.ipynb), whose layer uses no batch at all.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 论文：[Batch Normalization](https://arxiv.org/abs/1502.03167)，Ioffe 和 Szegedy，2015，批量归一化就是在这里提出的。3.1 节讲训练和推理的区别。
* 文档：PyTorch 的 [BatchNorm2d](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html)，里面有一段专门说明 momentum。

两张照片组成的小批量没有代表性，那么批量要多大才够？这是下一门选修课[第 04 课](04_small_batches.ipynb)的问题。主线接着学[第 05 课](05_layer_norm.ipynb)，那里的层根本不看小批量。
"""

# %% [markdown] lang="en"
r"""
## Going further: the start value
"""

# %% [markdown] lang="zh"
r"""
## 选读：初值的影响
"""

# %% [markdown] lang="en"
r"""
A running mean that starts at 0 is too small at first. The weights of the data sum to only 1 − (1 − α)ᵗ, so you can correct it by dividing by this sum. Adam does so for both of its averages. Here are the batches with means 10 and 20 again.
"""

# %% [markdown] lang="zh"
r"""
从 0 开始的运行均值，起初总是偏小。各个数据的权重，加起来只有 1 − (1 − α)ᵗ，所以除以这个和，就能修正过来。Adam 的两个移动平均都是这样修正的。再看均值为 10 和 20 的那两个小批量。
"""

# %%
running = torch.tensor(0.0)
for t, mean in ((1, 10.0), (2, 20.0)):
    running = ema_update(running, torch.tensor(mean), 0.1)
    print(f"t = {t}   running {running:.2f}   debiased {debias(running, 0.1, t):.2f}")

# %% [markdown] lang="en"
r"""
The corrected 15.26 is an average of 10 and 20 with the weights 0.09/0.19 and 0.1/0.19. BatchNorm makes no such correction, and its running variance starts at 1, so a division alone would not correct it.
"""

# %% [markdown] lang="zh"
r"""
修正之后是 15.26，也就是 10 和 20 的加权平均，权重是 0.09/0.19 和 0.1/0.19。批量归一化不做这种修正。它的运行方差从 1 开始，光靠除法也修正不了。
"""

# %% [markdown] lang="en"
r"""
## Going further: the wrong variance

Suppose your layer stores the biased variance. Why would a convolutional network hide this mistake?

<details><summary>Answer</summary>

Because there the two variances are nearly equal.

</details>

The unbiased variance is $m / (m - 1)$ times the biased one. For the numbers 1, 2, 3, 6 this is 4/3. In a convolutional network m counts the pixels of all pictures in the batch, and with m = 32 × 56 × 56 the factor is 1.00001. Keras 3, Flax and *Dive into Deep Learning* store the biased variance.

In the network of this lesson the last feature maps have 7 × 7 pixels, so with two photos m is only 98. The function below makes the same mistake as `copied_from_keras`, and it stores the biased variance as well.
"""

# %% [markdown] lang="zh"
r"""
## 选读：存错了方差

假如你的层存的是有偏方差，为什么在卷积网络里不容易发现？

<details><summary>答案</summary>

因为在卷积网络里，两种方差几乎相等。

</details>

无偏方差是有偏方差的 $m / (m - 1)$ 倍，对 1、2、3、6 这四个数来说是 4/3 倍。在卷积网络里，整个小批量的像素都要计入 m，当 m = 32 × 56 × 56 时，倍数是 1.00001。Keras 3、Flax 和《动手学深度学习》存的本来就是有偏方差。

这一课的网络里，最后的特征图只有 7 × 7 个像素，两张照片合起来，m 只有 98。下面的函数和 `copied_from_keras` 犯一样的错，存的又是有偏方差。
"""


# %% tags=["slow"]
def copied_and_biased(x, running_mean, running_var, weight, bias, training, momentum, eps):
    old = running_var.clone()
    y = batch_norm(x, running_mean, running_var, weight, bias, training, 0.99, eps)
    if training:
        running_var.copy_(ema_update(old, x.var((0, 2, 3), correction=0), 0.99))
    return y


for m in (4, 2 * 7 * 7, 32 * 56 * 56):
    print(f"m = {m:6}   {m / (m - 1):.5f}")
plug_in(batch_norm=copied_and_biased)

# %% [markdown] lang="en"
r"""
After the ten batches the answer is corn with 0.5%, as it was in `train()`. In no layer do the two variances differ by much more than 1%, and yet this is enough to turn corn into dough. An answer with such a low probability means nothing.
"""

# %% [markdown] lang="zh"
r"""
看过十个小批量之后，答案是玉米，0.5%，和当初在 `train()` 下一样。不论在哪一层，两种方差都只差 1% 左右或者更少，却足以让玉米变成面团：概率都这么低，一点点差别就能换一个答案。
"""

# %% [markdown] lang="en"
r"""
## Going further: fast or calm
"""

# %% [markdown] lang="zh"
r"""
## 选读：跟得快，还是走得稳
"""

# %% [markdown] lang="en"
r"""
With `momentum=None`, PyTorch takes the plain average of all batches instead, which has no start value. But what reaches a layer changes while the layers before it learn, and a plain average never forgets how it began. That is why a layer should forget, and the question is how fast. In the panel, the true mean jumps at step 100. Drag *momentum*, or the orange dot.
"""

# %% [markdown] lang="zh"
r"""
取 `momentum=None`，PyTorch 就改用所有小批量的普通平均，不再有初值的影响。但是前面的层还在学习，传到这一层的数也就一直在变，而普通平均永远忘不掉开头的值。这一层需要遗忘，问题是忘多快。面板里，真实均值在第 100 步突变。拖动“动量”或橙色圆点试一试。
"""

# %% tags=["panel"]
drifting_mean.panel()

# %% tags=["answer"]
for momentum in (0.5, 0.02):
    before, steps, noise = drifting_mean.after_the_jump(momentum)
    print(f"momentum {momentum:4}   at step 100 {before:.1f}   steps to 5 {steps:2}   σ of the noise {noise:.2f}")
drifting_mean.still(0.02, 0.5)

# %% [markdown] lang="en"
r"""
With 0.5 the running mean has made half of the jump, from 2 to 5, after one step. With 0.02 it takes 38, a little more than the half-life of 34, because at step 100 it was still climbing from its start value 0 and had reached only 1.7.

A fast average is a noisy one. Over the last 100 steps, the noise in it has a standard deviation of 0.45 with 0.5, and of 0.06 with 0.02.
"""

# %% [markdown] lang="zh"
r"""
动量取 0.5 时，运行均值一步就跟上了一半，从 2 到了 5。动量取 0.02 时要 38 步，比半衰期 34 步略多，因为到第 100 步，它从初值 0 出发还没有走完，只到了 1.7。

跟得快，就抖得厉害：最后 100 步里，运行均值抖动的标准差，动量取 0.5 时是 0.45，取 0.02 时是 0.06。
"""

# %% [markdown] lang="en"
r"""
## Going further: a bias that does nothing, and folding
"""

# %% [markdown] lang="zh"
r"""
## 选读：不起作用的偏置，以及折叠
"""

# %% [markdown] lang="en"
r"""
BatchNorm subtracts the mean, and with it any constant that the layer before it added. In training, a bias in front of BatchNorm therefore does nothing, and such layers are usually built with `bias=False`. In `eval()` BatchNorm is one multiplication and one addition per channel, so it can be *folded* into the weights of the layer before it. In this way, a finished network can do without all of its 49 BatchNorms.

The first number shows how far the outputs move when 100 is added to the bias. The second is the difference between the folded layer and the two layers.
"""

# %% [markdown] lang="zh"
r"""
批量归一化要减去均值，前一层加上的任何常数也就一起减掉了。所以训练时，它前面的偏置不起作用，这样的层通常写 `bias=False`。到了 `eval()`，批量归一化对每个通道只做一次乘法和一次加法，可以**折叠**（fold，中文常叫 BN 融合）进前一层的权重。照这样，那个网络的 49 个批量归一化层都可以省掉。

打印的第一个数是偏置加上 100 之后输出改变多少，第二个数是折叠后的一层与原来两层的差。
"""

# %%
torch.manual_seed(0)
linear, norm, x = nn.Linear(5, 3), nn.BatchNorm1d(3), torch.randn(64, 5)
before = norm(linear(x))  # (N, C)
linear.bias.data += 100
print(f"{(norm(linear(x)) - before).abs().max():.3f}")
norm.eval()
scale = norm.weight / (norm.running_var + norm.eps).sqrt()  # (C,)
weight, bias = linear.weight * scale[:, None], (linear.bias - norm.running_mean) * scale + norm.bias
print(f"{(F.linear(x, weight, bias) - norm(linear(x))).abs().max():.3f}")

# %% [markdown] lang="en"
r"""
## Going further: a graph that leaks
"""

# %% [markdown] lang="zh"
r"""
## 选读：泄漏的计算图
"""

# %% [markdown] lang="en"
r"""
A batch's mean depends on the weights, so it belongs to the computation graph. If you average such values without detaching them, the average keeps the graph of every past step alive, until memory runs out. To avoid this, use `detach` or `no_grad`. And a tensor that is only an attribute is not saved with the model, so use `register_buffer`.
"""

# %% [markdown] lang="zh"
r"""
小批量的均值由权重算出，所以连着计算图。如果不先切断计算图就拿来求移动平均，过去每一步的计算图就都留在内存里，直到内存用完。要避免这种情况，可以用 `detach` 或 `no_grad`。另外，张量如果只是普通属性，就不会随模型保存，所以要用 `register_buffer`。
"""

# %%
weight = torch.ones(1, requires_grad=True)
leaking = clean = torch.zeros(1)
for value in (1.0, 3.0):
    leaking = ema_update(leaking, weight * value, 0.1)
    clean = ema_update(clean, (weight * value).detach(), 0.1)
print(f"{leaking.requires_grad = }   {clean.requires_grad = }")
layer = nn.Module()
layer.plain = torch.zeros(1)
layer.register_buffer("kept", torch.zeros(1))
print(list(layer.state_dict()))
