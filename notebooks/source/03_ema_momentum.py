# %% [markdown] lang="en"
r"""
# 03 What does momentum = 0.1 mean?

A trained network looks at the photo of a flower and says that it is a daisy. Then one method is called that changes not a single weight, the network gets the same photo again, and it has no idea what a flower is. No error is raised. The only change is that its 49 BatchNorms no longer use what they *remember*.

What they remember is an exponential **moving average** of mean and variance, and `momentum` says how fast it forgets. The Transformer of this course holds no BatchNorm. Why learn this, then? Because `train()`, `eval()` and buffers serve other layers, and moving averages are everywhere. Adam, which trains nearly all Transformers, keeps two for each weight, and its 0.9 means the same as our 0.1.

Afterwards you can read a momentum in either convention, say after how many steps `eval()` can be trusted, tell BatchNorm's two variances apart, and write the whole layer, which then names the flower. It takes about 45 minutes, without *Going further*, longer if such a layer is new to you.
"""

# %% [markdown] lang="zh"
r"""
# 03 momentum = 0.1 是什么意思？

一个训练好的网络看了一张花的照片，说：雏菊。接着调用一个方法，权重一个也没有变，再给它看同一张照片，它却连花都认不出来了，而且不报错。唯一的变化是，网络里的 49 个批量归一化（BatchNorm）层不再用它们**记住**的东西。

它们记住的是均值和方差的**指数移动平均**（exponential moving average，下文简称移动平均），`momentum`（动量）决定它忘得多快。这套课程里的 Transformer 没有批量归一化，它的归一化层训练时和使用时做同一件事，不会出这种错。那为什么还要学？因为别的层也要用到 `train()`、`eval()` 和缓冲区，也因为移动平均无处不在，例如 Transformer 大多用 Adam 训练，而 Adam 给每个权重都记着两个移动平均。它的 0.9，和标题里的 0.1 其实是一个意思。

学完这一课，你能看懂两种约定下的动量，能说出训练多少步之后 `eval()` 才可信，能分清批量归一化里的两个方差，还能写出完整的一层，让它来认那朵花。大约需要 45 分钟，选读另计；如果是第一次写这样的一层，就多留些时间。
"""

# %%
import copy

import torch
from torch import nn

from blocklab import batch_norm, ema_update, from_keras, half_life
from blocklab_course import check, plug_in
from blocklab_course.lessons.ema_momentum import drifting_mean, two_photos, two_readings
from blocklab_course.pretrained import skip_if_missing, load_efficientnet_lite0

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
## One flower, four times

EfficientNet-Lite0, a trained network, names what is in a photo. Here are two:
"""

# %% [markdown] lang="zh"
r"""
## 同一朵花，看四次

EfficientNet-Lite0 是一个训练好的网络，能说出照片里是什么。这里有两张照片：
"""

# %% tags=["slow", "nbval-ignore-output"]
two_photos.show()

# %% [markdown] lang="en"
r"""
It gets the flower alone, then the flower in one mini-batch with the palace; first in `eval()`, then in `train()`.

**Predict first.** The first of four lines says daisy. Does the palace matter to the flower in `eval()`? And in `train()`, does it help?
"""

# %% [markdown] lang="zh"
r"""
先单独输入花的照片，再把花和宫殿的照片放进同一个小批量；先用 `eval()`，再用 `train()`。每次打印概率最大的类别和它的概率。

**先猜一猜**：输出有四行，第一行说花是雏菊。用 `eval()` 时，旁边有没有宫殿，对花有影响吗？用 `train()` 时，有宫殿在旁边，会好一些吗？
"""

# %% tags=["slow", "answer"]
with skip_if_missing():
    net, photos = load_efficientnet_lite0(), two_photos.prepared()  # (2, 3, 224, 224)
    for training in (False, True):
        for batch in (photos[:1], photos):
            with torch.inference_mode():
                scores = copy.deepcopy(net).train(training)(batch)  # (N, 1000)
            two_photos.print_best(scores, training)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

In `eval()` it does not matter. In `train()` it does not help: the flower alone is a tennis ball, beside the palace corn. The palace is not recognized either, and no class gets even 1%.

(The flower is really a dahlia. That is not among the network's 1000 classes, and a daisy comes nearest, hence only 21%. `train()` would also switch on dropout; the course's copy of the network has none, so only BatchNorm is at work.)

</details>

Why so bad? The classifier reads how strong each channel is on average over the photo. But with one photo as the whole batch, BatchNorm moves just this average to β, whatever the photo shows. Most of what tells the flower from the palace is subtracted: what the classifier gets of the two, each alone, has a cosine of 0.21 in `eval()`, of 0.87 in `train()`. Forgetting `model.eval()` is common, and mostly silent. (Each line works on a copy, because a forward pass in `train()` changes what the layers remember.)
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用 `eval()` 时没有影响。用 `train()` 时也没有好一些：花单独成了网球，和宫殿放在一起，又成了玉米。宫殿也认错了，而且没有一类的概率能到 1%。

（这朵花其实是大丽花。网络能认的 1000 类里没有大丽花，雏菊最接近，所以概率也只有 21%。`train()` 本来还会打开 Dropout，不过课程里的这个网络没有 Dropout，起作用的只有批量归一化。）

</details>

为什么这么糟？分类器看的是每个通道在整张照片上平均有多强。可是小批量里只有一张照片时，不论照片上是什么，批量归一化都把这个平均值移到 β，花与宫殿的区别也就大半减掉了。把两张照片分别单独输入，分类器得到的两个向量，余弦在 `eval()` 下是 0.21，在 `train()` 下是 0.87。忘记 `model.eval()` 是常见的错误，而且多半不报错。（每一行用的都是一份副本，因为在 `train()` 下，光是前向计算就会改写这些层记住的东西。）
"""

# %% [markdown] lang="en"
r"""
## Why remember at all?

In training, BatchNorm takes mean and variance from the mini-batch. So the answer for your photo depends on whose photos come along; below `mine` stands beside one `yours`, then beside two `yours`. And where a channel has a single number, the variance is 0 and every output β, so torch refuses:
"""

# %% [markdown] lang="zh"
r"""
## 为什么要记住？

训练时，批量归一化用的是小批量的均值和方差。于是对你这张照片的回答，取决于它碰巧和谁的照片放进同一个小批量。下面看同一个样本 `mine`：先和一个 `yours` 放在一起，再和两个 `yours` 放在一起，输出一样吗？最后让它单独输入。这时每个通道只有一个数，方差恒为 0，输出全是 β，毫无意义，torch 索性报错。
"""

# %%
mine, yours = torch.tensor([[1.0, 2.0]]), torch.tensor([[5.0, -2.0]])  # (1, C) each
two, three = torch.cat([mine, yours]), torch.cat([mine, yours, yours])  # (N, C)
layer = nn.BatchNorm1d(2, affine=False)
print("train()", layer(two)[0], layer(three)[0])
layer.eval()
print("eval() ", layer(two)[0], layer(three)[0])
try:
    layer.train()(mine)
except ValueError as refused:
    print(refused)

# %% [markdown] lang="en"
r"""
In training the same sample gets two outputs. After `eval()` it gets one, whoever comes along, because the layer now uses what it remembers: `running_mean`, which starts at 0, and `running_var`, which starts at 1. (The two passes in `train()` have moved both.) Tensors saved with the model but not moved by gradients are *buffers*.

## A moving average by hand

Every training step moves the buffer a little towards the value of the mini-batch:

$$\text{running} \leftarrow (1 - \text{momentum}) \cdot \text{running} + \text{momentum} \cdot \text{batch}$$

That is PyTorch's formula. (SGD's momentum is something else, not an average.) Let the mean of a channel be 10 in the first mini-batch and 20 in the second:
"""

# %% [markdown] lang="zh"
r"""
训练时，同一个样本得到了两种输出。调用 `eval()` 进入**评估模式**之后，不论和谁放在一起，输出都只有一种，因为这一层改用它记住的两个**缓冲区**（buffer，随模型保存、但不靠梯度更新的张量），即从 0 开始的 `running_mean` 和从 1 开始的 `running_var`。（刚才在 `train()` 下算了两次，它们都已经变了。）

## 动手算移动平均

每训练一步，缓冲区就向当前小批量的值靠近一点：

$$\text{running} \leftarrow (1 - \text{momentum}) \cdot \text{running} + \text{momentum} \cdot \text{batch}$$

这是 PyTorch 的公式。越旧的值，权重越小，按指数衰减，所以叫指数移动平均。（SGD 的动量是另一回事，不是平均。）设某个通道的均值，在第一个小批量里是 10，在第二个小批量里是 20：
"""

# %%
running, layer = 0.0, nn.BatchNorm1d(1)
for mean in (10.0, 20.0):
    running = (1 - 0.1) * running + 0.1 * mean
    layer(torch.full((4, 1), mean))
    print(f"{mean=}   {running=:.1f}   {layer.running_mean=}")

# %% [markdown] lang="en"
r"""
**Your turn, one line.** Write the step with PyTorch's meaning of momentum. Return the new average; leave `average` as it is.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行。按 PyTorch 的约定写出这一步更新，返回新的移动平均，不要改动 `average`。
"""


# %% tags=["exercise"]
def my_ema_update(average, value, momentum):
    return ...


check("ema_update", my_ema_update)

# %% [markdown] lang="en"
r"""
Stuck? Take the line with 0.1 above, and put names in place of its numbers.

<details><summary>The idea</summary>

An average of two values needs two weights that sum to 1. In PyTorch `momentum` is that of the new one, so the old one keeps what is left.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？取上面带 0.1 的那一行，把数换成名字。

<details><summary>思路</summary>

求两个值的平均，要有两个权重，加起来是 1。在 PyTorch 里，`momentum` 是新值的权重，剩下的归旧值。

</details>
"""


# %% tags=["solution"]
def solved_ema_update(average, value, momentum):
    return (1 - momentum) * average + momentum * value


check("ema_update", solved_ema_update, keep=False)

# %% [markdown] lang="en"
r"""
## One number, two readings

Keras gives the name momentum to the *other* weight. In the panel a channel has mean 10 and standard deviation 2, and every mini-batch holds 64 of its values. The upper row reads the number as PyTorch does, the lower one as Keras does. On the left is the weight of each of the last mini-batches in the running mean (logarithmic; grey: the start value), on the right what `eval()` makes of fresh data, which should be centred on 0. At 0.5 both readings agree.

**Predict first.** Both are given 0.99 and train for 20 steps. Where is the mean of the outputs of `eval()`? Choose, then drag the first bar or *momentum*.
"""

# %% [markdown] lang="zh"
r"""
## 一个数，两种读法

同样叫动量，Keras 指的却是**另一个**权重，即旧值的权重。面板里，某个通道的均值是 10，标准差是 2，每个小批量有 64 个数。上面一行按 PyTorch 的约定，下面一行按 Keras 的约定。左边是最近各个小批量在移动均值里所占的权重（灰色柱子是初值的权重；纵轴是对数刻度，柱子还高，权重可能已经微不足道），右边是 `eval()` 对新数据的输出，本应以 0 为中心。一开始动量是 0.5，两种读法正好相同。

**先猜一猜**：给两个框架同一个数 0.99，各训练 20 步，`eval()` 输出的均值在哪里？先选，再拖动第一根柱子或“动量”滑块。
"""

# %% tags=["panel", "guess"]
two_readings.panel()

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

The outputs are centred on 0 in PyTorch and on 6.56 in Keras. PyTorch comes out right only because its running mean is practically that of the last mini-batch, and 64 values make a fair one. In Keras the start still has 82% of the weight, so the running mean is only about 1.8.

</details>

Every step multiplies the weight of the start by 1 − momentum (PyTorch's, here 0.01). After $t$ steps the start, 0, has $(1 - \text{momentum})^t$, and the data have the rest. So, but for the batches' noise, the running mean on steady data is the true one times

$$1 - (1 - \text{momentum})^t$$

After 20 steps that is 18%. PyTorch's default, 0.1, comes to 99% after 44 steps, Keras' default after 459. Until then a network can look far worse in `eval()` than it is.

| | weight of the new value | weight of the old value | default |
|---|---|---|---|
| PyTorch | momentum | 1 − momentum | 0.1 |
| Keras, TensorFlow | 1 − momentum | momentum | 0.99 |
| Adam, β₁ | 1 − β₁ | β₁ | 0.9 |

So PyTorch's default is Keras' 0.9, like Adam's, *not* its 0.99. The **half-life**, ln ½ / ln(1 − momentum), needs neither convention: after so many steps a value counts half. (`from_keras` turns Keras' number into PyTorch's. Keras also has another ε, 0.001.)
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

PyTorch 的输出以 0 为中心，Keras 的以 6.56 为中心。PyTorch 没有出错，只是因为小批量够大：它的移动均值几乎就是最后一个小批量的均值，而 64 个数的均值已经相当准。Keras 那边，初值还占 82% 的权重，移动均值才走到 1.8 左右。

</details>

每走一步，初值的权重就乘以 1 − momentum（按 PyTorch 的约定，这里是 0.01）。$t$ 步之后，初值 0 的权重是 $(1 - \text{momentum})^t$，其余归数据。所以数据平稳时，不计小批量之间的抖动，移动均值等于真实均值乘以

$$1 - (1 - \text{momentum})^t$$

20 步之后只有 18%。用 PyTorch 的默认值 0.1，到第 44 步才有 99%；用 Keras 的默认值，要到第 459 步。在那以前，用 `eval()` 去验证，网络看上去可能比实际差得多。

| | 新值的权重 | 旧值的权重 | 默认值 |
|---|---|---|---|
| PyTorch | momentum | 1 − momentum | 0.1 |
| Keras、TensorFlow | 1 − momentum | momentum | 0.99 |
| Adam 的 β₁ | 1 − β₁ | β₁ | 0.9 |

所以，PyTorch 的默认值相当于 Keras 的 0.9，与 Adam 一样，而**不是** 0.99。改用**半衰期**（half-life），就不必管约定：过这么多步，一个值的权重减半，即 ln ½ / ln(1 − momentum)。（`from_keras` 把 Keras 的动量换算成 PyTorch 的。Keras 的 ε 也不同，是 0.001。）
"""

# %%
for number in (0.01, 0.1, 0.5, 0.9, 0.99):
    print(f"{number:4}   PyTorch {half_life(number):5.2f}   Keras {half_life(from_keras(number)):5.2f}")

# %% [markdown] lang="en"
r"""
## Why not the plain average?

Nothing corrects for the start at 0 and 1. (Adam divides by the factor above.) With `momentum=None` torch takes the plain average of all batches instead: of means 10, 20 and 60 it makes 10, 15 and 30, the default 1, 2.9 and 8.61. But what a layer is fed changes while the layers before it learn, and the plain average never forgets how it began.

**Predict first.** In the panel the true mean jumps at step 100. After how many steps has the running mean made half of the jump, with momentum 0.5 and with 0.02? And what does being quick cost? (Drag the orange dot.)
"""

# %% [markdown] lang="zh"
r"""
## 为什么不用普通平均？

移动均值从 0 开始，移动方差从 1 开始，而且不修正初值的影响。（Adam 会修正，办法就是除以上面那个倍数。）取 `momentum=None`，torch 就改用所有小批量的普通平均：如果各个小批量的均值是 10、20、60，它得到 10、15、30，默认做法则是 1、2.9、8.61。可是前面的层还在学习，这一层的输入也在变，而普通平均永远忘不掉开头的值。

**先猜一猜**：面板里，真实均值在第 100 步突变。动量取 0.5 和 0.02，移动均值各要几步才跟上一半？跟得快，代价是什么？（拖动橙色圆点，也能改变动量。）
"""

# %% tags=["panel"]
drifting_mean.panel()

# %% tags=["answer"]
drifting_mean.still(0.02, 0.5)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Half of the jump is made after a single step with 0.5, after 38 with 0.02: a little more than its half-life of 34, for at step 100 it has not quite left its start, 0, behind. Being quick costs calm: with 0.5 the running mean trembles with a standard deviation of 0.45, with 0.02 of 0.06. (Larger batches calm both. And on a *slope* 0.02 stays 0.99 behind to the end, 0.5 only 0.02.)

</details>

## Two variances

In training BatchNorm normalizes with the *biased* variance, the sum of the squared distances from the mean, divided by m, the number of values per channel. What it *stores* is the *unbiased* one, divided by m − 1, because later it stands for data outside the batch. In torch the first is `x.var(correction=0)`, the second what `x.var()` does:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

跟上一半，0.5 只要一步，0.02 要 38 步，比它的半衰期 34 步略多，因为到第 100 步时，它还没有完全摆脱开头的 0。代价是不平稳：移动均值抖动的标准差，动量取 0.5 时是 0.45，取 0.02 时只有 0.06。（批量大了，两者都会平稳一些。把真实均值换成“渐变”，0.02 到最后还落后 0.99，0.5 只落后 0.02。）

</details>

## 两个方差

训练时，批量归一化用来归一化的是**有偏**方差，即离差（各个数与均值之差）的平方和，除以每个通道的数值个数 m。它**存下来**的却是**无偏**方差，除以 m − 1，因为以后要用它来代表小批量之外的数据。在 torch 里，前者写 `x.var(correction=0)`，后者是 `x.var()` 的默认做法：
"""

# %%
layer, x = nn.BatchNorm1d(1, momentum=1.0), torch.tensor([[1.0], [2.0], [3.0], [6.0]])
biased, unbiased = x.var(correction=0), x.var(correction=1)
torch.testing.assert_close(layer(x), (x - x.mean()) / (biased + 1e-5).sqrt())
print(f"{biased=}   {unbiased=}   {layer.running_var=}")

# %% [markdown] lang="en"
r"""
## Along the channels

Mean and variance run over all axes but axis 1, so they are vectors of C numbers, as γ, β and the buffers are. Broadcasting lays a vector along the *last* axis. Where that has the size C too, nothing fails and the numbers are wrong; `.view(1, -1, 1)` lays it along the channels.
"""

# %% [markdown] lang="zh"
r"""
## 沿通道对齐

均值和方差沿轴 1 以外的所有轴求得，所以是含 C 个数的向量，γ、β 和缓冲区也一样。广播时，向量对准的是**最后一个**轴；如果那个轴的大小也是 C，就不会报错，数值却是错的。写 `.view(1, -1, 1)`，才对准通道轴。
"""

# %%
x = torch.tensor([[[1.0, 3.0], [10.0, 30.0]]])  # (N, C, L)
mean = x.mean((0, 2))  # (C,)
print(f"{(x - mean).tolist() = }")
print(f"{(x - mean.view(1, -1, 1)).tolist() = }")

# %% [markdown] lang="en"
r"""
## Writing into a buffer

In training, mean and variance are part of the graph, since they depend on x. The buffers are not. So move them under `torch.no_grad()`, or the graph of every step is kept alive, and *write into* them:

```python
with torch.no_grad():
    self.running_mean.copy_(...)
```

(A local `running_mean = …` would only name a new tensor. `self.running_mean = …` works, but puts another tensor in the buffer's place; whoever shares the old one sees no update.)

## Exercise: the whole layer

Fill in `forward`: `weight * (x − mean) / √(variance + eps) + bias`. The shape of x is `(N, C)` or `(N, C, *)`, where `*` stands for any more axes, and `.view(shape)` lays a vector along axis 1. If `self.training`, take mean and variance of the batch and move the buffers; otherwise take the buffers.
"""

# %% [markdown] lang="zh"
r"""
## 写进缓冲区

训练时，均值和方差由 x 算出，要留在计算图里。缓冲区不在图里，所以要在 `torch.no_grad()` 下更新，否则每一步的计算图都会留在内存里；而且要**写进去**：

```python
with torch.no_grad():
    self.running_mean.copy_(...)
```

（写成局部变量 `running_mean = …`，只是给新张量起了个名字，这一层什么也没记住。写 `self.running_mean = …` 也行，但缓冲区换成了另一个张量，和它共用旧张量的地方就看不到更新了。）

## 练习：写出完整的一层

请补全 `forward`：`weight * (x − mean) / √(variance + eps) + bias`。x 的形状是 `(N, C)` 或 `(N, C, *)`，`*` 表示任意多个轴，写 `.view(shape)` 就能让向量对准轴 1。`self.training` 为真时，用小批量的均值和方差，并更新缓冲区；否则用缓冲区里的值。
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
Stuck? Read *Along the channels*, *Two variances* and *Writing into a buffer* again.

<details><summary>The idea</summary>

Decide first which mean and variance hold, those of the batch or the buffers. Only the first case writes anything, namely the unbiased variance. The line that normalizes is the same for both. And x may have two axes or five, so `(0, 2, 3)` will not do: build the list from `x.dim()`.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？再读一遍“沿通道对齐”“两个方差”和“写进缓冲区”。

<details><summary>思路</summary>

先决定用哪一组均值和方差，小批量的还是缓冲区里的。只有前一种情况才要写缓冲区，存的是无偏方差。归一化的那一行，两种情况都一样。另外，x 可能有两个轴，也可能有五个，所以不能写死 `(0, 2, 3)`，要根据 `x.dim()` 列出各个轴。

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
Ten steps beside torch's own layer leave the same buffers:
"""

# %% [markdown] lang="zh"
r"""
与 torch 自己的层并排训练十步，两边的缓冲区相同：
"""

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
## Your BatchNorm in a trained network

The flower again, in `eval()`, with your layer in all 49 places and the network's own buffers and weights:
"""

# %% [markdown] lang="zh"
r"""
## 你的批量归一化，放进训练好的网络

还是那朵花，用 `eval()`，但 49 处都换成你写的层，缓冲区和权重都是网络自己的：
"""

# %% tags=["slow"]
plug_in(batch_norm=MyBatchNorm)

# %% [markdown] lang="en"
r"""
A wrong momentum or a wrong variance in the buffer would change nothing here, because this network has its buffers already. So the next cell takes the statistics of the batch in `eval()`, too.

**Predict first.** Which of the four lines at the beginning comes back?
"""

# %% [markdown] lang="zh"
r"""
动量读错了，或者存进缓冲区的方差错了，这里都看不出来，因为这个网络的缓冲区早就有了。所以下一个单元格犯的是另一个错误，用 `eval()` 时仍然取小批量的统计量。

**先猜一猜**：开头的四行里，哪一行会再次出现？
"""


# %% tags=["slow", "answer"]
def always_the_batch(x, running_mean, running_var, weight, bias, training, momentum, eps):
    return batch_norm(x, None, None, weight, bias, True, momentum, eps)


plug_in(batch_norm=always_the_batch)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The third line comes back, the flower alone in `train()`: it is a tennis ball again.

</details>

So no single test is enough. A wrong momentum hides from everybody who only *uses* the layer, the wrong branch from everybody who only trains it.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

再次出现的是第三行，也就是在 `train()` 下单独输入花，它又成了网球。

</details>

所以，只测一种情况是不够的。动量读错了，光是**使用**这一层的人看不出来；分支写错了，光是训练的人看不出来。
"""

# %% [markdown] lang="en"
r"""
## What you will meet elsewhere

**Dive into Deep Learning** has two versions of one line, the first in [English](https://d2l.ai/chapter_convolutional-modern/batch-norm.html), with momentum 0.1, the second in [Chinese](https://zh.d2l.ai/chapter_convolutional-modern/batch-norm.html), with 0.9:

```python
moving_mean = (1.0 - momentum) * moving_mean + momentum * mean
moving_mean = momentum * moving_mean + (1.0 - momentum) * mean
```

From 0, with a mini-batch of mean 10, each comes to 1 with its own number, and to 9 with the other's. Both ask `torch.is_grad_enabled()` where torch asks `self.training`. So there `net.eval()` alone changes nothing: without `no_grad` the layer still uses the batch and moves its averages.

## Three closing questions

1. You take a Keras network over to PyTorch, to train it on. Its BatchNorms say `momentum=0.99, epsilon=0.001`. Which two numbers do you write, and what would `eval()` use if you copied 0.99?

<details><summary>Answer</summary>

`momentum=0.01, eps=0.001`. With 0.99, 99% of what it uses would come from the last mini-batch, a half-life of 0.15 steps.

</details>

2. A channel has mean 10 and standard deviation 2. After ten training steps with the defaults, the outputs of `eval()` average 2.0, not 0. A bug?

<details><summary>Answer</summary>

No: the running mean is 10 · (1 − 0.9¹⁰) = 6.51, the running variance 0.9¹⁰ · 1 + (1 − 0.9¹⁰) · 4 = 2.95, and (10 − 6.51) / √2.95 = 2.03. After 44 steps 99% of the way is done.

</details>

3. Your outputs in training equal torch's, but with momentum 1 and the values 1, 2, 3, 6 your `running_var` is 3.5 and torch's 4.6667. Why, and why does nobody notice in a convolutional network?

<details><summary>Answer</summary>

The ratio is m / (m − 1) = 4 / 3, because torch normalizes with the biased variance and stores the unbiased one. With m = 32 · 56 · 56 they differ by 0.00001 of their size. (Keras 3 and *Dive into Deep Learning* store the biased one.)

</details>

The next cell computes the second.
"""

# %% [markdown] lang="zh"
r"""
## 在别处会遇到什么

《**动手学深度学习**》里，同一行有两种写法，第一种见[英文版](https://d2l.ai/chapter_convolutional-modern/batch-norm.html)，动量是 0.1；第二种见[中文版](https://zh.d2l.ai/chapter_convolutional-modern/batch-norm.html)，动量是 0.9。

```python
moving_mean = (1.0 - momentum) * moving_mean + momentum * mean
moving_mean = momentum * moving_mean + (1.0 - momentum) * mean
```

移动均值从 0 开始，来了一个均值为 10 的小批量。各用自己的动量，都得到 1；换成对方的，都得到 9。

torch 看的是 `self.training`，这两个版本看的却是 `torch.is_grad_enabled()`。所以在那里，光写 `net.eval()` 什么也不会变；不加 `no_grad`，那一层仍旧用小批量的统计量，仍旧更新移动平均。

## 三个思考题

1. 你把一个 Keras 网络搬到 PyTorch，准备接着训练。它的批量归一化写着 `momentum=0.99, epsilon=0.001`。这两个数你各写多少？如果照抄 0.99，`eval()` 实际用的是什么？

<details><summary>答案</summary>

写 `momentum=0.01, eps=0.001`。照抄 0.99，就有 99% 来自最后一个小批量，半衰期只有 0.15 步。

</details>

2. 某个通道的均值是 10，标准差是 2。用默认设置训练十步，`eval()` 输出的均值是 2.0，而不是 0。是程序错误吗？

<details><summary>答案</summary>

不是。移动均值 = 10 · (1 − 0.9¹⁰) = 6.51，移动方差 = 0.9¹⁰ · 1 + (1 − 0.9¹⁰) · 4 = 2.95，(10 − 6.51) / √2.95 = 2.03。到第 44 步才走完 99% 的路。

</details>

3. 训练时的输出与 torch 一致，但动量取 1、输入为 1、2、3、6 时，你的 `running_var` 是 3.5，torch 的是 4.6667。为什么？为什么在卷积网络里不易察觉？

<details><summary>答案</summary>

两者之比是 m / (m − 1) = 4 / 3，因为 torch 归一化时用有偏方差，存下来的是无偏方差。当 m = 32 · 56 · 56 时，相对差只有 0.00001。（Keras 3 和《动手学深度学习》存的是有偏方差。）

</details>

下一个单元格计算第二题。
"""

# %%
kept = 0.9**10
mean, variance = 10 * (1 - kept), kept + (1 - kept) * 4
print(f"{mean=:.2f}   {variance=:.2f}   {(10 - mean) / variance**0.5=:.2f}")

# %% [markdown] lang="en"
r"""
## In short

- Say which value the momentum weighs, the new one or the old one, or give the half-life.
- BatchNorm remembers, so it normalizes with the batch in `train()` and with its buffers in `eval()`.
- It normalizes with the biased variance and stores the unbiased one.

## Read next

- The paper: [Batch Normalization](https://arxiv.org/abs/1502.03167), section 3.1 on training and inference.
- Real code: [Keras' layer](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/batch_normalization.py).
- An explanation: [torch's page of BatchNorm2d](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html).
"""

# %% [markdown] lang="zh"
r"""
## 小结

- 说动量时，要说清楚它是谁的权重，新值还是旧值；或者直接说半衰期。
- 批量归一化有记忆，用 `train()` 时按小批量归一化，用 `eval()` 时按缓冲区归一化。
- 归一化用有偏方差，存下来的是无偏方差。

## 接着读

- 论文：[Batch Normalization](https://arxiv.org/abs/1502.03167)，3.1 节讲训练和推理。
- 真实的代码：[Keras 的这一层](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/batch_normalization.py)。
- 讲解：[torch 的 BatchNorm2d 文档](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html)。
"""

# %% [markdown] lang="en"
r"""
## Going further: a bias that does nothing, and folding

BatchNorm subtracts the mean, and with it whatever constant the layer before it added. So in training a bias in front of it does nothing, and such a convolution is usually built with `bias=False`. In `eval()` BatchNorm is one multiplication and one addition per channel, which can be *folded* into the layer before. So a finished network needs none of its 49 layers any more (`scale` is $\gamma / \sqrt{\text{running\_var} + \varepsilon}$; the printed number says how far the outputs move when 100 is added to the bias):
"""

# %% [markdown] lang="zh"
r"""
## 选读：不起作用的偏置，以及折叠

批量归一化要减去均值，前一层加上的任何常数也就一并减掉了。所以在训练时，它前面的偏置不起作用，这样的卷积层通常写 `bias=False`。到了 `eval()`，批量归一化对每个通道只做一次乘法和一次加法，可以**折叠**（fold）进前一层。也就是说，训练好的网络，那 49 层一个也不需要了（`scale` 就是 $\gamma / \sqrt{\text{running\_var} + \varepsilon}$；打印的数说明，偏置加上 100，输出改变多少）：
"""

# %%
linear, norm, x = nn.Linear(5, 3), nn.BatchNorm1d(3), torch.randn(64, 5)
before = norm(linear(x))
linear.bias.data += 100
print(f"{(norm(linear(x)) - before).abs().max()=:.4f}")
norm.eval()
scale = norm.weight / (norm.running_var + norm.eps).sqrt()  # (C,)
weight, bias = linear.weight * scale[:, None], (linear.bias - norm.running_mean) * scale + norm.bias
torch.testing.assert_close(nn.functional.linear(x, weight, bias), norm(linear(x)), atol=1e-4, rtol=1e-4)

# %% [markdown] lang="en"
r"""
## Going further: two forms, and the graph

The step is often written as a difference, `running -= momentum * (running - batch)`. It is the same algebra; what differs is the rounding. If the batch equals the average, the difference leaves it alone to the last bit, and the two products may change the last digits. In bfloat16, with 0.01 for the new value, both stop before they arrive at 1, because a small step is rounded away. So keep the buffers in float32.
"""

# %% [markdown] lang="zh"
r"""
## 选读：两种写法，以及计算图

这一步常写成差的形式，即 `running -= momentum * (running - batch)`。代数上完全一样，差别在舍入。小批量的值恰好等于移动平均时，差的写法一位都不会改，两个乘积的写法却可能在末几位上出错。在 bfloat16 里，新值的权重取 0.01，两种写法都还没到 1 就停住了，因为很小的一步会在舍入时消失。所以，缓冲区要用 float32。
"""

# %%
target = 10 * torch.rand(100000)
by_products = 0.99 * target + 0.01 * target
by_difference = target - 0.01 * (target - target)
print(f"{(by_products != target).sum()=}   {(by_difference != target).sum()=}")
for dtype in (torch.float32, torch.bfloat16):
    products, difference, one = torch.tensor([0.0, 0.0, 1.0], dtype=dtype)
    for _ in range(3000):
        products, difference = products * 0.99 + one * 0.01, difference - (difference - one) * 0.01
    print(f"{dtype}   {products=:.2f}   {difference=:.2f}")

# %% [markdown] lang="en"
r"""
A second trap is that an average of values that belong to a graph keeps the graph of *every* past step alive, until memory runs out. And a plain attribute is not saved. So write `no_grad` or `detach`, and `register_buffer`.
"""

# %% [markdown] lang="zh"
r"""
还有一个陷阱。如果参与平均的值连着计算图，移动平均就会让过去**每一步**的计算图都留在内存里，直到内存用完。另外，普通属性不会随模型保存。所以要用 `no_grad` 或 `detach`，还要用 `register_buffer`。
"""

# %%
weight = torch.ones(1, requires_grad=True)
leaking, clean = torch.zeros(1), torch.zeros(1)
for value in (1.0, 3.0):
    leaking = ema_update(leaking, weight * value, 0.1)
    clean = ema_update(clean, (weight * value).detach(), 0.1)
print(f"{leaking.requires_grad=}   {clean.requires_grad=}")
layer = nn.Module()
layer.plain = torch.zeros(1)
layer.register_buffer("kept", torch.zeros(1))
print(f"{list(layer.state_dict())=}")
