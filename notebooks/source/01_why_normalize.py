# %% [markdown] lang="en"
r"""
# 01 Why do activations need a scale?

Take a network of twenty layers and multiply every one of its weights by 100. It is ruined: nearly all its numbers get stuck at −1 or 1. Now put one small function between the layers and multiply again. This time nothing that the network computes changes, down to the third digit. And yet it has lost most of its power to learn. What has changed, if not its numbers?

That small function is a **normalization**. SmolLM2, the chat model of lesson 00, calls one 61 times for every token: twice in each of its 30 layers, and once at the end. We begin with BatchNorm, because there the reasons, the words and the mistakes are all easy to see; what Transformers use grows out of it in lessons 05 and 06.

After this lesson you can say what *saturated* means and see it in a gradient, tell what a normalization does to outputs and what to gradients, and name one problem that it does *not* solve. You will write the function that most norms are built on, and train a network with it. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 01 激活值为什么需要合适的尺度？

把一个二十层网络的所有权重都乘以 100，它就毁了：里面的数几乎都卡在 −1 或 1。现在，在各层之间插入一个小小的函数，同样放大。这一回，网络算出来的数一个都不变，前三位数字完全相同。可是，它的学习能力却丢掉了大半。既然算出来的数没变，变的到底是什么？

这个小小的函数就是**归一化**（normalization）。第 00 课的聊天模型 SmolLM2，每处理一个词元都要调用它 61 次：30 层里每层两次，最后还有一次。我们从批量归一化（BatchNorm）学起，因为归一化的道理、术语和常见错误，在它身上最容易看清；Transformer 用的归一化是从它演变来的，到第 05、06 课就会讲到。

学完这一课，你能说出什么叫**饱和**，并在梯度里看见它；能说清归一化怎样影响输出，又怎样影响梯度；还能举出一个它**解决不了**的问题。你会亲手写出大多数归一化层都用到的那个函数，再用它训练一个网络。大约需要 20 分钟。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import standardize
from blocklab.digits import load_digits
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.kept_blocks import kept
from blocklab.lessons.why_normalize import saturation, signals_through_layers
from blocklab.lessons.why_normalize.signals_through_layers import rounded, signals

# %% [markdown] lang="en"
r"""
## Two questions first

1. You multiply a number by 0.5, and do so 20 times. Roughly what is left of it?
2. What is the slope of $\tanh$ at 0, and what does it tend to far out?

<details><summary>Answers</summary>

1. A millionth: $0.5^{20} \approx 10^{-6}$.
2. 1 at 0, and 0 far out: the slope is $1 - \tanh^2$.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 一个数连续 20 次乘以 0.5，大约还剩原来的多少？
2. $\tanh$ 在 0 处的斜率是多少？在远处趋近于多少？

<details><summary>答案</summary>

1. 百万分之一：$0.5^{20} \approx 10^{-6}$。
2. 在 0 处是 1，在远处趋近于 0，因为斜率是 $1 - \tanh^2$。

</details>
"""

# %% [markdown] lang="en"
r"""
## Twenty layers, eight lines

A layer multiplies by a matrix, and then an *activation function* such as $\tanh$ or ReLU ($\max(0, x)$) bends each number; what comes out is called the *activations*. The next layer does the same to these. Here is the whole network of this lesson. For `norm` we put nothing at first.
"""

# %% [markdown] lang="zh"
r"""
## 二十层，八行代码

一层先乘一个矩阵，再用**激活函数**（activation function）把每个数弯一弯，例如 $\tanh$ 或 ReLU（$\max(0, x)$）；得到的数叫作**激活值**（activation）。下一层再对这些激活值做同样的事。下面就是这一课的整个网络，其中的 `norm` 暂时什么也不做。
"""


# %%
def network(x, weights, norm, activation):
    layers = []
    for weight in weights:
        x = x @ weight  # (N, d)
        x = norm(x)
        x = activation(x)
        layers.append(x)
    return layers


# %% [markdown] lang="en"
r"""
Each number behind a matrix is a sum of $d$ products. If the weights have the standard deviation $1/\sqrt{d}$, the sum comes out about as large as what went in; let us call these *weights of 1*. Weights of 0.5 make every number half as large. That sounds harmless, but the next layer halves again, and so does the one after.

**Predict first.** Twenty layers of $\tanh$, and inputs with standard deviation 1: how large are the activations of layer 20 with weights of 0.5? And with weights of 3?
"""

# %% [markdown] lang="zh"
r"""
乘矩阵之后，每个数都是 $d$ 个乘积之和。权重的标准差取 $1/\sqrt{d}$ 时，这个和与输入差不多大；我们就说这时“权重为 1”。权重为 0.5，每个数都缩小一半。听起来没什么，可是下一层又缩小一半，再下一层也一样。

**先猜一猜**：二十层 $\tanh$，输入的标准差为 1。权重为 0.5 时，第 20 层的激活值有多大？权重为 3 呢？
"""

# %% tags=["answer"]
told = Text(
    en="weights of {}: deviation {:.6f} in layer 1, {:.6f} in 10, {:.6f} in 20",
    zh="权重为 {}：标准差，第 1 层 {:.6f}，第 10 层 {:.6f}，第 20 层 {:.6f}",
)
x = torch.randn(256, 128)  # (N, d)
for size in (0.5, 1, 3):
    layers = network(x, size / 128**0.5 * torch.randn(20, 128, 128), lambda x: x, torch.tanh)
    print(told.format(size, *(layers[i].std() for i in (0, 9, 19))))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

A millionth is left with weights of 0.5, as in the first question. With weights of 3 the deviation stays at 0.83, because $\tanh$ lets nothing out of −1 to 1.

</details>

Too small is easy to understand: a network whose numbers are all 0.000001 tells its inputs apart no longer. What is wrong with 0.83?

## Where tanh is flat

The outputs of $\tanh$ are one thing, its slope is another. Backpropagation multiplies by the slope on its way back to the weights.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

权重为 0.5，只剩百万分之一，与第一个问题一样。权重为 3，标准差停在 0.83，因为 $\tanh$ 的输出出不了 −1 到 1 的范围。

</details>

太小的坏处不难理解：所有的数都只有 0.000001，网络就再也分不清不同的输入了。那么，0.83 又有什么不好？

## tanh 平坦的地方

$\tanh$ 的输出是一回事，斜率是另一回事。反向传播时，梯度在传回权重的路上要乘以这个斜率。
"""

# %%
z = torch.tensor([0.1, 2.0, 5.0], requires_grad=True)
torch.tanh(z).sum().backward()
told = Text(en="input {:.1f}: output {:.4f}, slope {:.4f}", zh="输入 {:.1f}：输出 {:.4f}，斜率 {:.4f}")
for number, output, slope in zip(z, torch.tanh(z), z.grad, strict=True):
    print(told.format(number, output, slope))

# %% [markdown] lang="en"
r"""
From 2 to 5 the output hardly moves, while the slope falls from 0.07 to 0.0002. Where the inputs of $\tanh$ lie that far out, the weights before them get almost no gradient, and so they cannot learn. Such a unit is called *saturated*.

**Predict first.** How large must the standard deviation of the inputs be until half of the outputs lie beyond ±0.9? Drag the dot on the curve, then switch on *standardize first*.
"""

# %% [markdown] lang="zh"
r"""
从 2 到 5，输出几乎没动，斜率却从 0.07 降到 0.0002。$\tanh$ 的输入一旦落得这么远，它前面的权重就几乎得不到梯度，也就学不动了。这样的单元叫作**饱和**（saturation）的单元。

**先猜一猜**：输入的标准差要多大，才会有一半的输出超出 ±0.9？拖动曲线上的圆点试试，再打开“先标准化”。
"""

# %% tags=["panel"]
saturation.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

About 2.2: 14% lie beyond ±0.9 at standard deviation 1, 46% at 2, and 94% at 20.

</details>

It also matters *where* the inputs lie: here their mean is 0, but with mean 3 and a standard deviation of only 0.1, every single output would be beyond 0.9. So both have to be put right, the place and the size.

## By hand: subtract, then divide

To **standardize** is to subtract the mean, which puts the place right, and to divide by the standard deviation, which puts the size right. Take 1, 2, 3, 4. Their mean is 2.5, so the differences from it are −1.5, −0.5, 0.5 and 1.5. The *variance* is the mean of the squared differences: $(2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25$. Its root, 1.118, is the standard deviation, and $1.5 / 1.118 = 1.342$. You have met this number: it is the last bar of lesson 00.

Four equal numbers have the variance 0, and 0 cannot be divided by 0. Therefore a small number ε is added to the variance, under the root. Functions take it as an argument, `eps`; here it is $10^{-5}$ unless somebody says otherwise.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

约为 2.2：标准差为 1 时，14% 的输出超出 ±0.9；为 2 时占 46%；到 20 时占 94%。

</details>

输入落在**哪里**也很要紧。这里的均值是 0；要是均值为 3，标准差哪怕只有 0.1，所有的输出也都会超出 0.9。所以位置和大小都要调整。

## 动手算：先减，再除

**标准化**（standardization）就是先减去均值，把位置摆正，再除以标准差，把大小调好。以 1、2、3、4 为例，均值是 2.5，它们与均值之差（离差）是 −1.5、−0.5、0.5 和 1.5。**方差**是离差平方的均值：$(2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25$。方差开方得 1.118，就是标准差，而 $1.5 / 1.118 = 1.342$。这个数你见过，就是第 00 课里最后一根柱子的长度。

四个相等的数，方差为 0，而 0 不能除以 0。所以要在根号里给方差加上一个很小的数 ε。写成函数时，它是参数 `eps`，不另外指定就取 $10^{-5}$。
"""

# %%
told = Text(en="variance {:.2f}, standardized: {}", zh="方差 {:.2f}，标准化之后：{}")
for numbers in ([1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]):
    x = torch.tensor(numbers)
    difference = x - x.mean()
    variance = difference.square().mean()
    print(told.format(variance, (difference / (variance + 1e-5).sqrt()).numpy().round(3)))

# %% [markdown] lang="en"
r"""
Mean and variance are made of the numbers themselves. So when the gradient comes back, it passes through both of them too, and a number gets some gradient from every other one that it was averaged with.

## By hand: which axis disappears?

A tensor has several axes, and one has to say along which of them to average. The axis that you name is the one that disappears from the shape; along the others every place keeps a mean of its own. If you name several, as torch's `mean` lets you do with a tuple, all the numbers along them form *one* group, with one mean and one variance, and these axes disappear at once.
"""

# %% [markdown] lang="zh"
r"""
均值和方差都是由这些数自己算出来的。所以梯度传回来时，也要穿过均值和方差；一个数会从每个和它一起求均值的数那里得到一些梯度。

## 动手算：哪个轴会消失？

张量有好几个轴，求均值时得说清楚沿哪个轴。写哪个轴，形状里消失的就是哪个轴；在其余的轴上，每个位置各有自己的均值。torch 的 `mean` 也可以用元组同时写几个轴，这时，这些轴上所有的数合成**一组**，只有一个均值、一个方差，这几个轴也一起消失。
"""

# %%
x = torch.tensor([[1.0, 200.0], [2.0, 100.0], [6.0, 600.0]])  # (N, d)
told = Text(en="mean along {}: shape {}, with keepdim {}", zh="沿 {} 的均值：形状 {}，加上 keepdim 是 {}")
for axes in (0, 1, (0, 1)):
    print(told.format(axes, list(x.mean(axes).shape), list(x.mean(axes, keepdim=True).shape)))

# %% [markdown] lang="en"
r"""
To subtract the means from `x` torch must line the two shapes up, and it does so from the last axis. Three means of shape `(3,)` do not fit beside `(3, 2)`; beside a square `(3, 3)` they do fit, but along the wrong axis, and no error tells you. With `keepdim=True` the averaged axis stays, with size 1, and every mean meets its own row.

**Your turn, one line.** Each row of `x` is a sample, each column a feature on a scale of its own. Along which axis must you average so that every *feature* gets mean 0 and standard deviation 1? Replace `None` by its number.
"""

# %% [markdown] lang="zh"
r"""
从 `x` 中减去均值时，torch 要从最后一个轴起把两个形状对齐。三个均值的形状是 `(3,)`，与 `(3, 2)` 对不上；遇到方阵 `(3, 3)` 倒是对得上，却对到了别的轴上，而且不会报错。写上 `keepdim=True`，求过均值的轴就会保留下来，大小为 1，每个均值正好对上自己那一行。

**轮到你了**，只写一行：`x` 的每一行是一个样本，每一列是一个特征，各有各的尺度。要让每个**特征**的均值为 0、标准差为 1，应当沿哪个轴求均值？请把 `None` 换成轴的编号。
"""

# %% tags=["exercise"]
my_axes = None

check("feature_axes", my_axes)

# %% [markdown] lang="en"
r"""
Stuck? The shapes above show what is left of each axis.

<details><summary>The idea</summary>

Each feature needs a mean of its own, so the two features must stay and the samples must disappear. The samples are axis 0.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？看看上面打印的形状，沿哪个轴求均值之后还剩下什么。

<details><summary>思路</summary>

每个特征都要有自己的均值，所以两个特征要留下，样本要消失。样本在第 0 轴上。

</details>
"""

# %% tags=["solution"]
solved_axes = 0

check("feature_axes", solved_axes, keep=False)

# %% [markdown] lang="en"
r"""
## Weights times 100

Now put a norm between matrix and activation function. **BatchNorm** standardizes each feature over the samples of the mini-batch, along axis 0; **LayerNorm** each sample over its features, along axis 1. (BatchNorm is not the splitting of the data into mini-batches, which is older and needs no norm. It *uses* the mini-batch, so a sample's output depends on the others.)

The panel runs your `network`, before any training. On the left are histograms of the activations, layer by layer; on the right, on a logarithmic axis, their standard deviation and the size of the gradient of each layer's weights. First try without a norm: drag *weights* to about 0.5, then to about 3. Then try *input only*, which standardizes the input alone.

**Predict first.** With BatchNorm the weights grow from 0.1 to 10. No histogram will move. What does the gradient of the weights do?
"""

# %% [markdown] lang="zh"
r"""
## 权重放大 100 倍

现在，在矩阵和激活函数之间加上归一化。**批量归一化**让每个特征在小批量的各个样本之间标准化，也就是沿第 0 轴；**层归一化**（LayerNorm）让每个样本在自己的各个特征之间标准化，也就是沿第 1 轴。（批量归一化不等于把数据分成小批量来训练，那种做法更早，也不需要归一化。它只是**利用**了小批量，所以一个样本的输出会受其他样本影响。）

下面的面板运行的就是你的 `network`，还没有训练。左边是逐层的激活值直方图；右边用对数轴，画出激活值的标准差，以及每一层权重的梯度有多大。先看不做归一化的情形，把“权重的大小”拖到约 0.5，再拖到约 3。然后试试“只归一化输入”。

**先猜一猜**：用批量归一化，让权重从 0.1 变大到 10。所有的直方图都不会动，那么权重的梯度会怎样？
"""

# %% tags=["panel", "guess"]
signals_through_layers.panel(network)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The gradient falls to a hundredth, in layer 1 from 300 to 3. The norm divides the size of the weights out, so the outputs depend only on their direction; and a step of the same length turns a long vector less than a short one.

</details>

That is the riddle of the beginning. Each step changes the large weights a hundredth as much, and they are a hundred times as large, so it turns them 10000 times less. The network is as good as before, but it crawls.

Normalizing only the input does not help the deep layers: with weights of 0.5 they shrink just the same, with 3 they saturate just the same. Look at the orange curve at 3, too. More than half of the last activations are saturated, and yet the gradient *grows* towards the input, from about 3 to thousands. Going back, each layer multiplies by the slope **and by the weights**. Most slopes are near 0, but the few units still where $\tanh$ is steep hand the gradient on about three times as large. So saturation starves the saturated units; it does not promise a small gradient.

## Does it learn?

Outputs with the right size are worth something only if the network learns. So let us train it, in plain sight: twenty layers of 64 units, handwritten digits of 64 pixels, 200 steps.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

梯度只剩百分之一，第 1 层的从 300 降到 3。归一化把权重的大小除掉了，所以输出只取决于权重的方向；而同样长的一步，让长的向量转过的角度比短的小。

</details>

开头的谜底就在这里。权重大了两个数量级，每一步的改动却只有原来的百分之一，所以方向的变化只有原来的 10000 分之一。网络并没有变差，只是慢得像在爬。

只归一化输入，帮不了深层：权重为 0.5，照样一层层缩小；权重为 3，照样饱和。权重仍取 3，再看橙色曲线。最后一层一半以上的激活值已经饱和，梯度却越靠近输入**越大**，从 3 左右升到几千。往回走时，每一层既要乘斜率，**也要乘权重**。多数单元的斜率接近 0；少数仍在 $\tanh$ 陡峭处的单元，却把梯度放大到约三倍再传回去。所以，饱和只让饱和的那些单元得不到梯度，整层的梯度未必小。

## 它学得会吗？

输出的大小再合适，学不会也没有用。所以，我们就在这里训练它，每一行都看得见：二十层，每层 64 个单元；手写数字，每幅 64 个像素；一共 200 步。
"""

# %%
images, labels = load_digits()
pixels = images.flatten(1) / 16  # (N, d)
print(Text(en="{} digits of {} pixels", zh="{} 幅数字，每幅 {} 个像素").format(*pixels.shape))


# %%
def accuracy(norm, size):
    torch.manual_seed(0)
    weights = (size / 64**0.5 * torch.randn(20, 64, 64)).requires_grad_()
    readout = (torch.randn(64, 10) / 64**0.5).requires_grad_()
    descent = torch.optim.SGD([weights, readout], lr=0.1)
    for _ in range(200):
        rows = torch.randint(1500, (256,))
        scores = network(pixels[rows], weights, norm, torch.tanh)[-1] @ readout
        descent.zero_grad()
        F.cross_entropy(scores, labels[rows]).backward()
        descent.step()
    best = (network(pixels[1500:], weights, norm, torch.tanh)[-1] @ readout).argmax(1)
    return (best == labels[1500:]).float().mean().item()


# %% [markdown] lang="en"
r"""
The accuracy is that on the last 297 digits, which it has not seen (the norm takes mean and variance from these images themselves; lesson 03 says what is done when there is only one). Guessing gives about 10%.

**Predict first.** Weights of 0.5, of 1, of 3 and of 100: which of the four networks learn without a norm, and which with BatchNorm?
"""

# %% [markdown] lang="zh"
r"""
准确率取自最后 297 幅没有见过的数字。（归一化用的均值和方差就取自这些图；如果只有一幅图怎么办，第 03 课会讲。）瞎猜约为 10%。

**先猜一猜**：权重取 0.5、1、3 和 100，不做归一化，哪几个网络学得会？用批量归一化呢？
"""

# %% tags=["answer", "nbval-ignore-output"]
told = Text(
    en="weights of {}: {:.0%} without a norm, {:.0%} with BatchNorm",
    zh="权重为 {}：不做归一化 {:.0%}，批量归一化 {:.0%}",
)
found = {size: (accuracy(lambda x: x, size), accuracy(lambda x: standardize(x, 0), size)) for size in (0.5, 1, 3, 100)}
for size, pair in found.items():
    print(told.format(size, *pair))
assert max(found[0.5][0], found[3][0]) < 0.3
assert min(found[1][0], found[0.5][1], found[1][1], found[3][1]) > 0.7

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Without a norm only weights of 1 learn, to well over 80%. With BatchNorm 0.5, 1 and 3 all do; 100 comes about half as far in the same time.

</details>

So a norm is not the only way: weights of the right size do as well, at this depth. But they have to be right in every layer and to stay right while the weights change. BatchNorm forgives a factor of 6.

## Forty layers of ReLU

Does a norm then make everything well? Choose ReLU, BatchNorm, 40 layers in the panel and look at the blue curve alone: the standard deviation is nearly the same in every layer.

**Predict first.** Are the histograms the same, too? And the gradient?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不做归一化，只有权重为 1 的学得会，准确率超过 80%。用批量归一化，0.5、1 和 3 都学得会；100 在同样的时间里只学到一半左右。

</details>

可见归一化不是唯一的办法：在这样的深度，权重大小合适也行。只是每一层都得合适，而且在权重不断变化时还要一直合适。批量归一化则宽容得多，差到 6 倍也没关系。

## 四十层 ReLU

那么，有了归一化就万事大吉了吗？在面板里选 ReLU、批量归一化、40 层，只看蓝色曲线：各层的标准差几乎一样。

**先猜一猜**：直方图也都一样吗？梯度呢？
"""

# %% tags=["answer"]
told = Text(
    en="{}, layer {:2}: deviation {:.2f}, median of the positive ones {:.2f}, largest {:.1f}, gradient {}",
    zh="{}，第 {:2} 层：标准差 {:.2f}，正的中位数 {:.2f}，最大值 {:.1f}，梯度 {}",
)
for name, norm in (("BatchNorm", "batch"), ("LayerNorm", "layer")):
    layers, gradients = signals(1.0, 40, "relu", norm, network)
    for i in (0, 9, 39):
        a = layers[i]
        print(told.format(name, i + 1, a.std(), a[a > 0].median(), a.max(), rounded(gradients[i])))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Neither is the same. With BatchNorm the largest activation grows from 3.9 to 9.8 from layer to layer, and the gradient at layer 1 is more than 1000 times that at layer 40.

</details>

With BatchNorm the gradient grows by a factor of about 1.2 per layer on its way back, while with LayerNorm, in this network, it stays the same within a factor of two. [Yang and others](https://arxiv.org/abs/1902.08129) proved in 2019 that the explosion comes from BatchNorm itself; neither other variances of the initial weights nor another activation function removes it (closer to linear, it is weaker). What helps is to add each layer's input to its output, `x = x + …`: this *residual connection* gives the gradient a way past the layer, and no Transformer is without it (lesson 11).

## What you will meet elsewhere

PyTorch and Keras start their layers differently. `torch.nn.Linear` draws weights of 0.58, in our unit, and leaves the rest to the norms; Keras' `Dense` follows [Glorot and Bengio](https://proceedings.mlr.press/v9/glorot10a.html) and draws weights of 1. And "standard deviation" is two things: `x.std()` of torch divides by the count minus 1, that of NumPy by the count, so for 1, 2, 3, 4 they say 1.291 and 1.118. A norm wants the second, `correction=0`. *To normalize* is even more: `F.normalize` gives a vector the length 1, and scikit-learn's `MinMaxScaler` squeezes between 0 and 1. None of them standardizes.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

都不一样。用批量归一化，最大的激活值逐层变大，从 3.9 升到 9.8；第 1 层的梯度是第 40 层的 1000 多倍。

</details>

用批量归一化，每往回走一层，梯度约为原来的 1.2 倍；换成层归一化，在这个网络里，各层的梯度相差不到两倍。[Yang 等人](https://arxiv.org/abs/1902.08129)在 2019 年证明，这种爆炸来自批量归一化本身，调整权重的初始方差或更换激活函数，都消除不了（激活函数越接近线性，爆炸越弱）。管用的办法是把每一层的输入加到它的输出上，`x = x + …`：这就是**残差连接**（residual connection），梯度可以从旁边绕过这一层，所有的 Transformer 都少不了它（第 11 课）。

## 在别处会遇到什么

PyTorch 和 Keras 给权重取的初始值不一样。`torch.nn.Linear` 的初始权重，按我们的算法是 0.58，其余的就交给归一化了；Keras 的 `Dense` 照 [Glorot 和 Bengio](https://proceedings.mlr.press/v9/glorot10a.html) 的办法，初始权重为 1。“标准差”也有两种：torch 的 `x.std()` 除以个数减 1，NumPy 的则除以个数，所以对 1、2、3、4，一个得 1.291，一个得 1.118。归一化要的是后一种，即 `correction=0`。“归一化”的意思就更多了：`F.normalize` 把向量的长度变为 1，scikit-learn 的 `MinMaxScaler` 把数压缩到 0 和 1 之间，都不是标准化。
"""


# %%
def tower(start):
    x = pixels
    for _ in range(20):
        layer = torch.nn.Linear(64, 64)
        start(layer.weight)
        x = torch.tanh(layer(x))  # (N, d)
    return x.std(0).mean()


told = Text(
    en="deviation from digit to digit: {:.2f} in the pixels, {:.6f} after nn.Linear, {:.2f} with Glorot's start",
    zh="各幅数字之间的标准差：像素 {:.2f}，经过 nn.Linear 只剩 {:.6f}，用 Glorot 的初始值则是 {:.2f}",
)
print(told.format(pixels.std(0).mean(), tower(lambda weight: weight), tower(torch.nn.init.xavier_uniform_)))

# %% [markdown] lang="en"
r"""
So twenty plain `nn.Linear` and $\tanh$, one upon the other, cannot tell digits apart any more, and no error says so. In published code you will find a norm between them, or a line of `init`.

## Exercise: standardize

Write the function that most normalization layers are built on: subtract the mean over `axes`, an integer or a tuple, and divide by the root of variance plus `eps`.
"""

# %% [markdown] lang="zh"
r"""
所以，把二十个 `nn.Linear` 和 $\tanh$ 直接叠起来，就几乎分不清各幅数字了，而且不会报错。公开的代码里，它们之间总有归一化，或者另有一行 `init`。

## 练习：标准化

大多数归一化层都建立在同一个函数之上，请把它写出来：减去沿 `axes`（一个整数或元组）求得的均值，再除以方差加 `eps` 的平方根。
"""


# %% tags=["exercise"]
def my_standardize(x, axes, eps=1e-5):
    return ...


check("standardize", my_standardize)

# %% [markdown] lang="en"
r"""
Stuck on the formula? Read *By hand: subtract, then divide*. Stuck on shapes? *By hand: which axis disappears?*

<details><summary>The idea</summary>

Subtract first and keep the difference, because the variance is the mean of its squares. Both means run along `axes` with `keepdim=True`, so that every number meets its own mean and its own variance.

</details>
"""

# %% [markdown] lang="zh"
r"""
公式卡住了？看“动手算：先减，再除”。形状对不上？看“动手算：哪个轴会消失？”。

<details><summary>思路</summary>

先减，并把差留下来，因为方差就是这些差的平方的均值。两次求均值都沿 `axes`，都写上 `keepdim=True`，这样每个数都能对上自己的均值和自己的方差。

</details>
"""


# %% tags=["solution"]
def solved_standardize(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return centred / (variance + eps).sqrt()


check("standardize", solved_standardize, keep=False)

# %% [markdown] lang="en"
r"""
## Your function trains a network

Once `check` has accepted your function, it is kept, and the next cell trains the twenty layers with it as their BatchNorm. (Until then the package's own stands in.) It comes back in lesson 02, where its axes alone decide which layer it is.

**Predict first.** Beside yours stand three wrong ones. The first divides by $n - 1$, the second leaves ε out of the root, the third forgets to subtract the mean above the fraction line. With weights of 1, which of them keeps the network from learning?
"""

# %% [markdown] lang="zh"
r"""
## 用你的函数训练网络

`check` 通过之后，你的函数就保存下来了，下一个单元格用它作批量归一化，训练那二十层网络。（在那之前，由课程自带的函数代替。）第 02 课还会用到它，那时候，单凭沿哪些轴，就能决定它是哪一种归一化层。

**先猜一猜**：旁边还有三个写错的函数。第一个除以 $n - 1$，第二个把 ε 写在根号外，第三个的分子忘了减均值。权重为 1 时，哪一个会让网络学不会？
"""

# %% tags=["answer", "nbval-ignore-output"]
mine = kept("standardize")
right = Text(en="your function", zh="你的函数") if mine else Text(en="the package's function", zh="课程自带的函数")
norms = {
    right: lambda x: (mine or standardize)(x, 0),
    Text(en="divided by n − 1", zh="除以 n − 1"): lambda x: (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt(),
    Text(en="ε outside the root", zh="ε 在根号外"): lambda x: (x - x.mean(0)) / (x.std(0, correction=0) + 1e-5),
    Text(en="mean not subtracted", zh="没有减均值"): lambda x: x / (x.var(0, correction=0) + 1e-5).sqrt(),
}
reached = [accuracy(norm, 1) for norm in norms.values()]
for name, share in zip(norms, reached, strict=True):
    print(Text(en="{}: {:.0%}", zh="{}：{:.0%}").format(name, share))
assert min(reached[:3]) > 0.7 > 0.3 > reached[3]

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only the third one does: without the subtraction the network ends at about 10%, which is guessing. The other two cannot be told from yours.

</details>

Training hides small mistakes and punishes large ones. Therefore `check` compares numbers, and not accuracies.

## Three closing questions

1. ReLU cuts the mean square in half, so with weights of 1 the size of the numbers is multiplied by about 0.71 per layer. What is left after 30 ReLU layers with weights of 0.9?

<details><summary>Answer</summary>

About a millionth: $(0.9 \cdot 0.71)^{30} \approx 1.3 \cdot 10^{-6}$. So ReLU wants weights of 1.41, which is what He's initialization gives it.

</details>

2. A friend shows you a 40-layer ReLU network in whose layers the activations all have about the same standard deviation and which does not train. What do you plot next?

<details><summary>Answer</summary>

The gradient of each layer's weights, on a logarithmic axis. With BatchNorm it can grow more than 1000 times towards the input although the standard deviation stays the same.

</details>

3. In front of a BatchNorm, all weights have grown to 3 times their size during training. What happens to the outputs and to the gradient, and by how much would you change the learning rate to turn the weights as fast as before?

<details><summary>Answer</summary>

The outputs stay, the gradient is a third. A step then turns the weights a ninth as much, so the learning rate would have to be 9 times as large. (Or shrink the weights: that is what weight decay does there, see *Read next*.)

</details>

The next cell shows the first answer and the third.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有第三个。不减均值，网络最后只有 10% 左右，等于瞎猜；另外两个与你的函数看不出差别。

</details>

训练会掩盖小错误，只有大错误才会暴露。所以 `check` 比较的是算出来的数，而不是准确率。

## 三个思考题

1. ReLU 会让均方减半，所以权重为 1 时，每过一层，数的大小约变为原来的 0.71 倍。权重为 0.9，过了 30 层 ReLU，还剩多少？

<details><summary>答案</summary>

约百万分之一：$(0.9 \cdot 0.71)^{30} \approx 1.3 \cdot 10^{-6}$。所以用 ReLU 时，权重应为 1.41，He 初始化给的正是这个值。

</details>

2. 朋友给你看一个 40 层的 ReLU 网络：每一层激活值的标准差都差不多，却训练不动。接下来你会画什么？

<details><summary>答案</summary>

画出每一层权重的梯度，用对数轴。有批量归一化时，激活值的标准差没有变化，梯度却可能越靠近输入越大，大到 1000 多倍。

</details>

3. 某个批量归一化前面的权重，在训练中都变为原来的 3 倍。输出和梯度各会怎样？要让权重的方向变化得和原来一样快，学习率应当怎样改？

<details><summary>答案</summary>

输出不变，梯度只剩三分之一。这样，每一步让权重转过的角度只有原来的九分之一，所以学习率应当改为 9 倍。（也可以把权重缩小，权重衰减在这里起的正是这个作用，见“接着读”。）

</details>

下一个单元格验证第一题和第三题的答案。
"""

# %%
x = network(torch.randn(256, 128), 0.9 / 128**0.5 * torch.randn(30, 128, 128), lambda x: x, torch.relu)[-1]
print(Text(en="after 30 layers: {:.1e}", zh="30 层之后：{:.1e}").format(x.square().mean().sqrt()))
(once, slow), (thrice, slower) = (signals(size, 20, "tanh", "batch", network) for size in (1.0, 3.0))
print(
    Text(en="outputs differ by {:.3f}, gradient {:.1f} and {:.1f}", zh="输出相差 {:.3f}，梯度 {:.1f} 和 {:.1f}").format(
        (once[-1] - thrice[-1]).abs().max(), slow[0], slower[0]
    )
)

# %% [markdown] lang="en"
r"""
## In short

- Every layer multiplies the scale, so after twenty layers only weights of about the right size leave anything to learn from.
- A normalization divides the size of the weights out: the outputs no longer depend on it, and the gradient falls as the weights grow.
- Equal standard deviations do not mean healthy gradients, so look at both.

## Read next

- Paper: [Glorot and Bengio, 2010](https://proceedings.mlr.press/v9/glorot10a.html), figures 6 and 7, where histograms like yours first appeared; and [van Laarhoven, 2017](https://arxiv.org/abs/1706.05350), on weight decay in front of a norm.
- Code: [torch.nn.init](https://pytorch.org/docs/stable/nn.init.html), the sizes of initial weights and the gains of activation functions.
- Explained elsewhere: Andrej Karpathy, [Activations and gradients, BatchNorm](https://www.youtube.com/watch?v=P6sfmUTpUmc), two hours of repairing a network by such pictures.
"""

# %% [markdown] lang="zh"
r"""
## 小结

- 每一层都会放大或缩小所有的数，所以过了二十层，只有权重大小合适的网络才学得会。
- 归一化把权重的大小除掉了，输出不再受它影响；权重越大，梯度反而越小。
- 标准差相同，不等于梯度健康，两者都要看。

## 接着读

- 论文：[Glorot 和 Bengio，2010](https://proceedings.mlr.press/v9/glorot10a.html)，图 6 和图 7 最早画出了这样的直方图；[van Laarhoven，2017](https://arxiv.org/abs/1706.05350) 讲归一化前面的权重衰减。
- 代码：[torch.nn.init](https://pytorch.org/docs/stable/nn.init.html)，各种初始权重的大小，以及各个激活函数的增益。
- 别人的讲解：Andrej Karpathy，[讲激活值、梯度和 BatchNorm 的视频](https://www.youtube.com/watch?v=P6sfmUTpUmc)，用两个小时，靠这样的图一步步修好一个网络。
"""
