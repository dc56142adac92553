# %% [markdown] lang="en"
r"""
# 03 What does momentum = 0.1 mean?

While it trains, BatchNorm takes mean and variance from the mini-batch. At inference, when the trained model is used, it must rely on what it remembers: a **moving average**, which every training step moves a little towards the value of the batch:

$$\text{running} \leftarrow (1 - \text{momentum}) \cdot \text{running} + \text{momentum} \cdot \text{batch}$$

That is PyTorch's formula; this momentum has nothing to do with the optimizer's. Keras gives the same name to the *other* weight, and the English and the Chinese edition of [Dive into Deep Learning](https://d2l.ai) contradict each other on this very line.

After this lesson you can read a momentum in either convention, say after how many steps `eval()` can be trusted, name the two variances of BatchNorm, and write the whole layer. It takes about 30 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 03 momentum = 0.1 是什么意思？

训练时，批量归一化（BatchNorm）用的是当前小批量的均值和方差。到了推理（inference，即用训练好的模型做预测）时，它要靠训练中记下的**移动平均**（moving average）；每训练一步，移动平均就向当前小批量的值靠近一点：

$$\text{running} \leftarrow (1 - \text{momentum}) \cdot \text{running} + \text{momentum} \cdot \text{batch}$$

这是 PyTorch 的公式，其中的 momentum 就是动量，它与优化器里的动量无关。Keras 用同一个名字称呼**另一个**权重；教材[《动手学深度学习》](https://d2l.ai)的英文版和中文版，恰恰在这一行互相矛盾。

学完这一课，你能看懂两种约定下的动量，能说出训练多少步之后 `eval()` 才可信，能分清批量归一化里的两个方差，还能写出完整的一层。大约需要 30 分钟。
"""

# %%
import copy

import torch
from torch import nn

from blocklab import BatchNorm, ema_update, from_keras, half_life
from blocklab.lessons import check
from blocklab.lessons.ema_momentum import drifting_mean, two_readings
from blocklab.real_models import if_installed, load_efficientnet_lite0
from blocklab.real_models.efficientnet_lite0 import prepare_picture

# %% [markdown] lang="en"
r"""
## Two questions first

1. `x` has the shape `(32, 64, 14, 14)`, that is `(N, C, H, W)`. How many means does BatchNorm compute, each over how many numbers?
2. A value is multiplied by 0.9 again and again. After how many times is less than half of it left?

<details><summary>Answers</summary>

1. 64 means, each over 32 · 14 · 14 = 6272 numbers.
2. After 7 times: $0.9^6 = 0.53$, $0.9^7 = 0.48$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. `x` 的形状是 `(32, 64, 14, 14)`，即 `(N, C, H, W)`。批量归一化计算多少个均值？每个均值由多少个数得到？
2. 一个数反复乘以 0.9，乘多少次之后，剩下的不到一半？

<details><summary>答案</summary>

1. 64 个均值，每个由 32 · 14 · 14 = 6272 个数得到。
2. 7 次：$0.9^6 = 0.53$，$0.9^7 = 0.48$。

</details>
"""

# %% [markdown] lang="en"
r"""
## Why remember at all?

A user sends *one* photo. With the statistics of the batch, its mean and variance, the answer would depend on whose photos happen to come along; and where a channel has a single number, as here, its variance is 0 and every output is β, so torch refuses:
"""

# %% [markdown] lang="zh"
r"""
## 为什么要记住？

用户只发来**一张**照片。如果仍用小批量的统计量（均值和方差），对这张照片的回答就取决于它碰巧和谁的照片放进同一个小批量；要是像下面这样，每个通道只有一个数，方差恒为 0，输出全是 β，标准化毫无意义，torch 索性报错：
"""

# %% claims=["E06"]
mine, yours = torch.tensor([[1.0, 2.0]]), torch.tensor([[5.0, -2.0]])  # (1, C) each
layer = BatchNorm(2, affine=False)
print(layer(torch.cat([mine, yours]))[0], layer(torch.cat([mine, yours, yours]))[0])
layer.eval()
print(layer(mine)[0], layer(torch.cat([mine, yours]))[0])
try:
    layer.train()(mine)
except ValueError as refused:
    print(refused)

# %% [markdown] lang="en"
r"""
In training the same input gets two different outputs. After `eval()`, in evaluation mode, it gets one, whoever comes along, because the layer uses what it remembers: two *buffers* (tensors that are saved with the model but not moved by gradients), `running_mean`, which starts at 0, and `running_var`, which starts at 1.

## A moving average by hand

The mean of a channel is 10 in the first mini-batch and 20 in the second:
"""

# %% [markdown] lang="zh"
r"""
训练时，同一个输入得到了两种输出。调用 `eval()` 进入**评估模式**之后，不论和谁放在同一个小批量里，输出都只有一种，因为这一层改用它记住的两个**缓冲区**（buffer，随模型保存、但不靠梯度更新的张量）：从 0 开始的 `running_mean` 和从 1 开始的 `running_var`。

## 动手算移动平均

某个通道的均值，在第一个小批量里是 10，在第二个小批量里是 20：
"""

# %% claims=["E07"]
running = torch.tensor(0.0)
for batch_mean in (torch.tensor(10.0), torch.tensor(20.0)):
    running = (1 - 0.1) * running + 0.1 * batch_mean
    print(f"{running:.1f}", end=" ")
layer = nn.BatchNorm1d(1)
layer(torch.full((4, 1), 10.0)), layer(torch.full((4, 1), 20.0))
print(f"{layer.running_mean.item():.1f}")

# %% [markdown] lang="en"
r"""
**Your turn, one line.** Write the step with PyTorch's meaning of momentum. Return the new average; leave `average` as it is.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行：按 PyTorch 的约定写出这一步更新，返回新的移动平均，不要改动 `average`。
"""


# %% tags=["exercise"]
def my_ema_update(average, value, momentum):
    return ...


check("ema_update", my_ema_update)


# %% tags=["solution"]
def solved_ema_update(average, value, momentum):
    return (1 - momentum) * average + momentum * value


check("ema_update", solved_ema_update)

# %% [markdown] lang="en"
r"""
## One number, two readings

A channel has mean 10 and standard deviation 2, and every mini-batch holds 64 of its values. The upper row reads the number as PyTorch does, the lower one as Keras does. On the left you see how much each of the last mini-batches counts in the running mean (the grey bar: how much the start value still counts), on the right what `eval()` makes of fresh data. It should be centred on 0.

**Predict first.** Both frameworks are given the number 0.99 and train for 20 steps. Where is the mean of the outputs of `eval()`? Choose, then set *momentum* to 0.99 and leave *steps* at 20.
"""

# %% [markdown] lang="zh"
r"""
## 一个数，两种读法

某个通道的均值是 10，标准差是 2，每个小批量有 64 个数。上面一行按 PyTorch 的约定，下面一行按 Keras 的约定。左边是最近各个小批量在移动均值里所占的权重（灰色柱子是初值还占的权重），右边是 `eval()` 对新数据的输出，本应以 0 为中心。

**先猜一猜**：给两个框架同一个数 0.99，各训练 20 步，`eval()` 输出的均值在哪里？先选，再把“动量”调到 0.99，“步数”保持 20。
"""

# %% tags=["panel", "guess"]
two_readings.panel()

# %% [markdown] lang="en"
r"""
PyTorch is near 0, but only because its running mean is in effect that of the last mini-batch, and 64 values are enough for a fair mean. Keras is off by more than 6: its running mean has hardly left 0. At 0.5 the two rows are the same picture. And with 0.1 in PyTorch, the default, 10 steps leave the outputs around 2; only after 44 is 99% of the way done. The layers before may have learned long since: the buffers lag.

So the one word means

| | weight of the new value | weight of the old value | default |
|---|---|---|---|
| PyTorch | momentum | 1 − momentum | 0.1 |
| Keras, TensorFlow | 1 − momentum | momentum | 0.99 |

and PyTorch's default is Keras' 0.9, *not* its 0.99. The half-life says it without either convention: after how many steps does a value count half? (`from_keras` turns Keras' number into PyTorch's.)
"""

# %% [markdown] lang="zh"
r"""
PyTorch 的输出以 0 为中心，不过那只是因为它的移动均值几乎就是最后一个小批量的均值，而 64 个数的均值已经相当准。Keras 的输出偏了 6 以上：它的移动均值还没怎么离开初值 0。取 0.5 时，上下两行一模一样。PyTorch 用默认的 0.1 时，训练 10 步后，输出还在 2 附近；到第 44 步才走完 99% 的路。前面的层也许早就学好了，只是缓冲区还没跟上。

所以，这个词在两边的意思是：

| | 新值的权重 | 旧值的权重 | 默认值 |
|---|---|---|---|
| PyTorch | momentum | 1 − momentum | 0.1 |
| Keras、TensorFlow | 1 − momentum | momentum | 0.99 |

PyTorch 的默认值相当于 Keras 的 0.9，而**不是** 0.99。半衰期（half-life）的说法与约定无关：过多少步，一个值的权重减半？（`from_keras` 把 Keras 的动量换算成 PyTorch 的。）
"""

# %% claims=["E08"]
for typed in (0.01, 0.1, 0.5, 0.9, 0.99):
    print(f"{typed:4}  PyTorch {half_life(typed):6.2f}   Keras {half_life(from_keras(typed)):6.2f}")

# %% [markdown] lang="en"
r"""
"A lower momentum forgets sooner" is true in Keras' column and false in PyTorch's.

## Start and follow

The averages start at 0 and 1 and nothing corrects for it: after $t$ steps on steady data the running mean is $1 - (1 - \text{momentum})^t$ times the true one, and in the running variance the 1 still counts $(1 - \text{momentum})^t$. `momentum=None` takes the plain average of all batches instead. The batches here have the means 10, 20, 60:
"""

# %% [markdown] lang="zh"
r"""
“动量越小，忘得越快”，这句话在 Keras 那一列成立，在 PyTorch 那一列正好相反。

## 起步与跟随

移动均值从 0 开始，移动方差从 1 开始，而且不修正初值的影响：数据平稳时，$t$ 步之后的移动均值只有真实均值的 $1 - (1 - \text{momentum})^t$ 倍，移动方差里初值 1 还占 $(1 - \text{momentum})^t$。取 `momentum=None`，得到的则是所有小批量的普通平均。下面各个小批量的均值是 10、20、60：
"""

# %% claims=["E10"]
spread = torch.tensor([[-1.0], [1.0], [-1.0], [1.0]])
default, plain = BatchNorm(1), BatchNorm(1, momentum=None)
for mean in (10.0, 20.0, 60.0):
    default(mean + spread), plain(mean + spread)
    print(f"default {default.running_mean.item():.2f}   plain {plain.running_mean.item():.2f}")
for steps in (10, 44):
    print(f"after {steps} steps {1 - 0.9**steps:.3f}")

# %% [markdown] lang="en"
r"""
Then why not always take the plain average? Because what a layer is fed changes while the layers before it learn. **Predict first:** the data jump at step 100. Which momentum follows sooner, 0.02 or 0.5, and what is the price?
"""

# %% [markdown] lang="zh"
r"""
那为什么不总用普通平均，对所有小批量一视同仁？因为前面的层还在学习，这一层的输入也在变。**先猜一猜**：数据在第 100 步突变。动量取 0.02 和 0.5，哪个跟得快？代价是什么？
"""

# %% tags=["panel"]
drifting_mean.panel()

# %% [markdown] lang="en"
r"""
The larger one arrives within a few steps and then trembles with every mini-batch; the smaller one is calm and late. With larger batches all of it trembles less, one reason why BatchNorm works better with them (lesson 04).

## Two variances

In training, BatchNorm normalizes with the *biased* variance: the sum of squared distances from the mean, divided by m, the number of values per channel. What it *stores* is the *unbiased* one, divided by m − 1. In torch the first is `x.var(correction=0)`, the second what `x.var()` does by default:
"""

# %% [markdown] lang="zh"
r"""
动量大的几步就到，可是之后会随着每个小批量抖动；动量小的平稳，却到得晚。批量越大，抖动越小，这也是批量归一化适合大批量的一个原因（见第 04 课）。

## 两个方差

训练时，批量归一化用来归一化的是**有偏**方差，即离差（各个数与均值之差）的平方和，除以每个通道的数值个数 m。它**存下来**的却是**无偏**方差：除以 m − 1。在 torch 里，前者写 `x.var(correction=0)`，后者是 `x.var()` 的默认做法：
"""

# %% claims=["E11"]
layer, x = BatchNorm(1, momentum=1.0), torch.tensor([[1.0], [2.0], [3.0], [6.0]])
y = layer(x)
biased, unbiased = x.var(correction=0), x.var(correction=1)
torch.testing.assert_close(y, (x - x.mean()) / (biased + 1e-5).sqrt())
print(f"{layer.running_var.item():.4f} {unbiased:.4f} {biased:.4f}")

# %% [markdown] lang="en"
r"""
*Dive into Deep Learning* and Keras 3 store the biased one. Their outputs in training equal torch's, and still their `running_var` is smaller: three quarters of torch's for m = 4, and 0.001% less for 32 images of 56 × 56.

## The bias before BatchNorm does nothing in training

BatchNorm subtracts the mean, and with it whatever constant the layer before it added. In `eval()` it is one multiplication and one addition per channel, which can be *folded* into the layer before (`scale` is $\gamma / \sqrt{\text{running\_var} + \varepsilon}$; γ and β are those of lesson 02):
"""

# %% [markdown] lang="zh"
r"""
《动手学深度学习》和 Keras 3 存的都是有偏方差：训练时的输出与 torch 一致，`running_var` 却偏小。m = 4 时只有 torch 的四分之三；32 张 56 × 56 的图，只小 0.001%。

## 训练时，批量归一化之前的偏置不起作用

批量归一化要减去均值，前一层加上的任何常数也就一并减掉了。到了 `eval()`，它对每个通道只做一次乘法和一次加法，所以可以**折叠**（fold）进前一层（`scale` 就是 $\gamma / \sqrt{\text{running\_var} + \varepsilon}$；γ、β 见第 02 课）：
"""

# %% claims=["E22"]
linear, norm, x = nn.Linear(5, 3), BatchNorm(3), torch.randn(64, 5)
before = norm(linear(x))
linear.bias.data += 100
print(f"{(norm(linear(x)) - before).abs().max():.4f}")
norm.eval()
scale = norm.weight / (norm.running_var + norm.eps).sqrt()  # (C,)
weight, bias = linear.weight * scale[:, None], (linear.bias - norm.running_mean) * scale + norm.bias
torch.testing.assert_close(nn.functional.linear(x, weight, bias), norm(linear(x)), atol=1e-4, rtol=1e-4)

# %% [markdown] lang="en"
r"""
So a convolution in front of BatchNorm is usually built with `bias=False`, as in the network below. (The notes put BatchNorm between a linear or convolutional layer and its activation. That is where [its authors](https://arxiv.org/abs/1502.03167) put it, not the only place.)

## A trained network with 49 BatchNorms

EfficientNet-Lite0 names what is in a photo. It gets a flower alone, then the flower and a palace together; both in `eval()`, then both in `train()`. **Predict first:** four lines come out. In which of them does the flower get the same class as in the first?
"""

# %% [markdown] lang="zh"
r"""
所以，批量归一化前面的卷积层通常写 `bias=False`，下面这个网络就是如此。（笔记说，批量归一化放在线性层或卷积层和激活函数之间。那是[原作者](https://arxiv.org/abs/1502.03167)的放法，但不是唯一的放法。）

## 一个训练好的网络，49 个批量归一化层

EfficientNet-Lite0 能说出照片里是什么。先单独输入一张花的照片，再把花和宫殿的照片放进同一个小批量；先用 `eval()`，再用 `train()`。**先猜一猜**：输出有四行，哪几行里花的类别与第一行相同？
"""

# %% tags=["slow"]
with if_installed():
    from sklearn.datasets import load_sample_image

    net = load_efficientnet_lite0()
    photos = [torch.from_numpy(load_sample_image(f"{name}.jpg").copy()) for name in ("flower", "china")]
    photos = torch.cat([prepare_picture(photo) for photo in photos])  # (2, 3, 224, 224)
    for mode in (False, True):
        for batch in (photos[:1], photos):
            with torch.inference_mode():
                chances, classes = copy.deepcopy(net).train(mode)(batch).softmax(-1).max(-1)
            print("train()" if mode else "eval() ", classes.tolist(), [f"{p:.1%}" for p in chances])

# %% [markdown] lang="en"
r"""
Class 985 is a daisy, 698 a palace. In `eval()` the flower gets the same answer alone and in company. In `train()` it becomes a tennis ball (852) and an ear of corn (987), and no class gets even 1%: the network no longer knows anything. Forgetting `model.eval()` is a common mistake, and mostly raises no error. (Each line works on a copy: in `train()` a forward pass alone moves the buffers.)

## What the source notes say

| the notes say | does it hold? |
|---|---|
| at inference there is no batch axis | There is; it may have size 1. What cannot be used are the *statistics* of the batch. |
| momentum is close to 1 | In Keras. The other note quotes PyTorch's 0.1. Neither says which. |
| a lower momentum forgets sooner | In Keras yes, in PyTorch the other way round. |
| one `batch_var` for everything | Two: biased to normalize, unbiased to store. |
| ε is added to the denominator | To the variance, inside the root (lesson 05). |
| `track_running_stats` "records during training" | Not all of it: with `False` there are no buffers, and `eval()` uses the batch too. |

The last line, tested:
"""

# %% [markdown] lang="zh"
r"""
985 类是雏菊，698 类是宫殿。用 `eval()` 时，花不论单独输入，还是和宫殿放在一起，回答都一样。用 `train()` 时，花成了网球（852）和玉米（987），而且没有一类的概率能到 1%：网络什么也认不出了。忘记 `model.eval()` 是常见的错误，而且多半不会报错。（每一行用的都是一份副本：在 `train()` 下，光是前向计算就会改写缓冲区。）

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 推理时没有批量轴 | 有，只不过大小可以是 1。不能用的是小批量的**统计量**。 |
| 动量接近 1 | 在 Keras 里是这样。另一篇笔记引用的是 PyTorch 的 0.1。两篇都没说是哪个框架。 |
| 动量越小，忘得越快 | 在 Keras 里成立，在 PyTorch 里正好相反。 |
| 只有一个 `batch_var` | 有两个：归一化用有偏方差，存下来的是无偏方差。 |
| ε 加在分母上 | 加在方差上，在根号里面（见第 05 课）。 |
| `track_running_stats` 表示“在训练时记录” | 不全对：取 `False` 就没有缓冲区，`eval()` 也用小批量的统计量。 |

检验表中的最后一行：
"""

# %% claims=["E19"]
layer = nn.BatchNorm1d(2, affine=False, track_running_stats=False).eval()
print(layer.running_mean)
print(layer(torch.cat([mine, yours]))[0], layer(torch.cat([mine, yours, yours]))[0])

# %% [markdown] lang="en"
r"""
## Exercise: the whole layer

Fill in `forward`: `weight * (x − mean) / √(variance + eps) + bias`. The shape of x is `(N, C)` or `(N, C, *)`, where `*` stands for any more axes. Mean, variance, weight and bias are vectors of C numbers; `.view(shape)` makes them land on axis 1. If `self.training`, take mean and variance of the batch and move the buffers; otherwise take the buffers.
"""

# %% [markdown] lang="zh"
r"""
## 练习：写出完整的一层

请补全 `forward`：`weight * (x − mean) / √(variance + eps) + bias`。x 的形状是 `(N, C)` 或 `(N, C, *)`，`*` 表示任意多个轴。均值、方差、weight 和 bias 都是含 C 个数的向量，写 `.view(shape)` 就能对准轴 1。`self.training` 为真时，用小批量的均值和方差，并更新缓冲区；否则用缓冲区里的值。
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
        shape = (1, -1) + (1,) * (x.dim() - 2)
        return ...


check("batch_norm", MyBatchNorm(3))

# %% [markdown] lang="en"
r"""
Stuck? Move the buffers inside `with torch.no_grad():`, or they would hold on to the graph of every step, and remember the two variances. The solution is folded below; then it is compared with torch for ten steps. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？更新缓冲区的语句要写在 `with torch.no_grad():` 里，否则缓冲区会带上每一步的计算图；还要记得有两个方差。参考答案折叠在下面，再往下的单元格把它与 torch 对照十步。后面的内容不会用到你的代码。
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


check("batch_norm", SolvedBatchNorm(3))

# %% tags=["solution"]
solved, torchs = SolvedBatchNorm(3), nn.BatchNorm2d(3)
for _ in range(10):
    x = 2 * torch.randn(4, 3, 5, 6) + 10
    torch.testing.assert_close(solved(x), torchs(x))
torch.testing.assert_close(solved.running_mean, torchs.running_mean)
torch.testing.assert_close(solved.running_var, torchs.running_var)
torch.testing.assert_close(solved.eval()(x), torchs.eval()(x))

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A Keras layer with momentum 0.99 is copied to PyTorch as `momentum=0.99`. What does `eval()` use, and what should have been written?

<details><summary>Answer</summary>

99% the last mini-batch, a half-life of 0.15 steps. It should have been 0.01.

</details>

2. A channel has mean 10 and standard deviation 2. After ten training steps with the defaults, the outputs of `eval()` average 2.0, not 0. A bug?

<details><summary>Answer</summary>

No: the running mean is 10 · (1 − 0.9¹⁰) = 6.51, the running variance 0.9¹⁰ · 1 + (1 − 0.9¹⁰) · 4 = 2.95, and (10 − 6.51) / √2.95 = 2.03. After 44 steps 99% of the way is done.

</details>

3. Your outputs in training equal torch's, but with momentum 1 and the values 1, 2, 3, 6 your `running_var` is 3.5 and torch's 4.6667. Why, and why does nobody notice in a convolutional network?

<details><summary>Answer</summary>

The ratio is m / (m − 1) = 4 / 3: torch normalizes with the biased variance and stores the unbiased one. With m = 32 · 56 · 56 they differ by 0.00001 of their size.

</details>

The next cell computes the numbers of the second answer.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 把 Keras 中 momentum 为 0.99 的层照抄成 PyTorch 的 `momentum=0.99`。`eval()` 时实际用的是什么？应该写多少？

<details><summary>答案</summary>

99% 来自最后一个小批量，半衰期只有 0.15 步。应该写 0.01。

</details>

2. 某个通道的均值是 10，标准差是 2。用默认设置训练十步，`eval()` 输出的均值是 2.0，而不是 0。是程序错误吗？

<details><summary>答案</summary>

不是。移动均值 = 10 · (1 − 0.9¹⁰) = 6.51，移动方差 = 0.9¹⁰ · 1 + (1 − 0.9¹⁰) · 4 = 2.95，(10 − 6.51) / √2.95 = 2.03。到第 44 步才走完 99% 的路。

</details>

3. 训练时的输出与 torch 一致，但动量取 1、输入为 1、2、3、6 时，你的 `running_var` 是 3.5，torch 的是 4.6667。为什么？为什么在卷积网络里不易察觉？

<details><summary>答案</summary>

两者之比是 m / (m − 1) = 4 / 3：torch 归一化时用有偏方差，存下来的是无偏方差。当 m = 32 · 56 · 56 时，相对差只有 0.00001。

</details>

下一个单元格计算第二题答案中的数。
"""

# %%
kept = 0.9**10
mean, variance = 10 * (1 - kept), kept + (1 - kept) * 4
print(f"{mean:.2f} {variance:.2f} {(10 - mean) / variance**0.5:.2f}")

# %% [markdown] lang="en"
r"""
**In one line:** say which value the momentum weighs, the new one or the old one, or give the half-life.

## Going further: two forms, and the graph

The notes call `running -= (running - batch) * (1 - momentum)`, with Keras' momentum, more efficient than two products. It is the same algebra. What differs is the rounding: if the batch equals the average, the difference leaves it alone to the last bit, and the two products may change the last digits. In bfloat16, with 0.01 for the new value, both stop before they arrive at 1, because a small step is rounded away. So keep the buffers in float32.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：说清楚动量是谁的权重，新值还是旧值；或者直接说半衰期。

## 选读：两种写法，以及计算图

笔记说，`running -= (running - batch) * (1 - momentum)`（动量按 Keras 的约定）比写成两个乘积更高效。其实代数上完全一样，差别在舍入：小批量的值恰好等于移动平均时，差值的写法一位都不会改，两个乘积的写法却可能在末几位上出错。在 bfloat16 里，新值的权重取 0.01，两种写法都到不了 1 就停住了，因为很小的一步会在舍入时消失。所以，缓冲区要用 float32。
"""

# %% claims=["E09"]
target = 10 * torch.rand(100000)
two_products, difference = target.clone(), target.clone()
for _ in range(1000):
    two_products = two_products * 0.99 + target * 0.01
    difference = difference - (difference - target) * 0.01
print(bool((two_products == target).all()), bool((difference == target).all()))
for dtype in (torch.float32, torch.bfloat16):
    a, b, one = torch.tensor([[0.0], [0.0], [1.0]], dtype=dtype)
    for _ in range(3000):
        a, b = a * 0.99 + one * 0.01, b - (b - one) * 0.01
    print(dtype, f"two products {a.item():.2f}   difference {b.item():.2f}")

# %% [markdown] lang="en"
r"""
A second trap: an average of values that belong to a graph keeps the graph of *every* past step alive, until memory runs out. And a plain attribute is not saved. So: `no_grad` or `detach`, and `register_buffer`.
"""

# %% [markdown] lang="zh"
r"""
还有一个陷阱：如果参与平均的值连着计算图，移动平均就会让过去**每一步**的计算图都留在内存里，直到内存用完。另外，普通属性不会随模型保存。所以要用 `no_grad` 或 `detach`，还要用 `register_buffer`。
"""

# %% claims=["E12"]
weight = torch.ones(1, requires_grad=True)
leaking, clean = torch.zeros(1), torch.zeros(1)
for value in (1.0, 3.0):
    leaking = ema_update(leaking, weight * value, 0.1)
    clean = ema_update(clean, (weight * value).detach(), 0.1)
print(leaking.requires_grad, clean.requires_grad)
layer = nn.Module()
layer.plain = torch.zeros(1)
layer.register_buffer("kept", torch.zeros(1))
print(list(layer.state_dict()))
