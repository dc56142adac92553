# %% [markdown] lang="en"
r"""
# 01 Why do activations need a scale?

Take a network of twenty layers and multiply all of its weights by 100. The network is ruined: nearly all of its outputs are stuck at −1 or 1, and it can no longer learn. Now put one small function between the layers and multiply the weights by 100 again. This time the outputs barely change, by less than 0.001. But if you train this network with the same learning rate as before, its twenty layers still learn almost nothing. What has changed, if not what the network computes?

The small function is a **normalization**. SmolLM2, the chat model of lesson 00, calls one 61 times for every token (a word or a piece of a word). This lesson uses *BatchNorm*. The norms of Transformers grew out of it, and they follow in lessons 05 and 06.

You will write the core of BatchNorm, train a network with it, and solve the riddle with one line of algebra. Plan for about 40 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 01 激活值为什么需要合适的尺度？

拿一个二十层的网络，把所有权重都乘以 100，网络就毁了：输出几乎全都卡在 −1 或 1，再也学不动。现在，在各层之间插进一个小小的函数，权重照样放大 100 倍。这一次，输出几乎不变，相差不到 0.001。但用原来的学习率去训练，这二十层还是几乎什么也学不到。网络算出来的数明明没变，到底是什么变了？

这个小小的函数就是**归一化**（normalization）。第 00 课的聊天模型 SmolLM2，每处理一个词元（token，即词或词的一部分），就要用到它 61 次。这一课讲的是批量归一化（BatchNorm），Transformer 里的归一化由它演变而来，第 05、06 课会讲到。

你要写出批量归一化的核心，用它训练一个网络，再用一行推导解开上面的谜。整课大约需要 40 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import standardize
from blocklab_course.pretrained.digits import load_digits
from blocklab_course import check
from blocklab_course.workspace.solutions import load
from blocklab_course.lessons.why_normalize import questions, saturation, signals_through_layers
from blocklab_course.lessons.why_normalize.linear_classifier import found_by_line
from blocklab_course.lessons.why_normalize.signals_through_layers import signals

# %% [markdown] lang="en"
r"""
## By hand: subtract, then divide

The small function *standardizes* numbers. First it subtracts their mean μ, so that they lie around 0. Then it divides them by their standard deviation σ, so that they are neither large nor small.

Take 1, 2, 3, 4. Their mean is 2.5, and subtracting it leaves −1.5, −0.5, 0.5, 1.5. The *variance* σ² is the mean of the squares of these differences: $(2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25$. Its square root is σ = 1.118. Divided by σ, the four numbers become −1.342, −0.447, 0.447, 1.342. You have seen the last one before: it is the length of the last bar in lesson 00.

The next cell does this for three rows. The second is the first times 100, and in the third all numbers are equal.
"""

# %% [markdown] lang="zh"
r"""
## 动手算：先减，再除

这个小小的函数要做的事叫**标准化**（standardization），分两步。第一步，减去均值 μ，让这些数分布在 0 的两边；第二步，除以标准差 σ，让它们不大也不小。

以 1、2、3、4 为例。均值是 2.5，减去它，得到 −1.5、−0.5、0.5、1.5，这些差叫做离差。**方差** σ² 是离差平方的均值：$(2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25$，开方就得到标准差 σ = 1.118。四个数都除以 σ，就成了 −1.342、−0.447、0.447、1.342。最后一个你已经见过，第 00 课里最后一根柱子就是这么长。

下一个单元格对三行数这样做。第二行是第一行的 100 倍，第三行的四个数全都相等。
"""

# %%
for row in ([1.0, 2, 3, 4], [100.0, 200, 300, 400], [2.0, 2, 2, 2]):
    x = torch.tensor(row)
    mean = x.mean()
    variance = (x - mean).square().mean()
    y = (x - mean) / variance.sqrt()
    print(f"μ = {mean:5.1f}   σ = {variance.sqrt():7.3f}   y =", y)

# %% [markdown] lang="en"
r"""
The first two results are the same. A row that is 100 times as large also has a standard deviation 100 times as large, so the division removes the factor.

The third row gives `nan`, because its standard deviation is 0 and 0 cannot be divided by 0. So a small constant ε is added to the variance before taking the root. It hardly matters unless the variance is about as small as ε, or smaller.

You have already measured ε. In lesson 00 the numbers were s times 1, 2, 3, 4, so the last difference was 1.5 s, the variance was 1.25 s², and you looked for the s that makes the last bar 1 long:

$$\frac{1.5\,s}{\sqrt{1.25\,s^2 + \varepsilon}} = 1 \quad\text{means}\quad 2.25\,s^2 = 1.25\,s^2 + \varepsilon, \quad\text{so}\quad s^2 = \varepsilon$$

The number that you were asked to remember, $10^{-5}$, is ε.

## The formula

$$y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

Which numbers share μ and σ? Between the layers of a network, `x` is a table of shape `(N, d)`: N samples, one in each row, with d *features*, one in each column. **BatchNorm** standardizes each column. It takes the mean of a feature over all samples of the *mini-batch*, the samples that go through the network together in one training step.

In torch these means are `x.mean(0, keepdim=True)`. The 0 says that the numbers along axis 0, from sample to sample, are averaged. `keepdim=True` keeps this axis, with size 1, so that each number is paired with its own column's mean when you subtract.

## Exercise: standardize

Write the formula as a function.

* `x` is a tensor with any number of axes.
* `axes` is one axis or a tuple of several. All numbers along these axes share one mean and one variance. For BatchNorm on a table it is 0. The method `mean` accepts both kinds.
* `eps` is ε.
"""

# %% [markdown] lang="zh"
r"""
前两行的结果一模一样。一行数变成 100 倍，标准差也变成 100 倍，一除就消掉了。

第三行得到 `nan`，因为标准差是 0，而 0 不能除以 0。为此，开方之前要给方差加上一个很小的常数 ε。只有当方差和 ε 差不多小，或者更小的时候，它才有影响。

其实，ε 你已经量过了。在第 00 课里，输入是 s 乘以 1、2、3、4，最后一个离差是 1.5 s，方差是 1.25 s²；你要找的 s，正好让最后一根柱子长 1：

$$\frac{1.5\,s}{\sqrt{1.25\,s^2 + \varepsilon}} = 1 \quad\text{即}\quad 2.25\,s^2 = 1.25\,s^2 + \varepsilon, \quad\text{所以}\quad s^2 = \varepsilon$$

当时请你记住的那个数，$10^{-5}$，就是 ε。

## 公式

$$y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

哪些数共用一个 μ、一个 σ？在网络的两层之间，`x` 是一张形状为 `(N, d)` 的表：N 个样本，每行一个；d 个**特征**，每列一个。训练时，每一步一起送进网络的若干个样本叫做一个**小批量**（mini-batch）。**批量归一化**按列做标准化，一个特征的均值，取自小批量里的所有样本。

用 torch 来写，这些均值就是 `x.mean(0, keepdim=True)`。0 的意思是沿轴 0 求均值，也就是把各个样本的数平均起来；`keepdim=True` 把这个轴保留下来，大小为 1，相减时，每个数减去的就是本列的均值。

## 练习：标准化

请把公式写成函数。

* `x` 是张量，有几个轴都可以。
* `axes` 是一个轴，或者由几个轴组成的元组。这些轴上的数共用一个均值、一个方差。对一张表做批量归一化时，它就是 0。方法 `mean` 两种写法都接受。
* `eps` 就是 ε。
"""


# %% tags=["exercise"]
def my_standardize(x, axes, eps=1e-5):
    return ...


check("standardize", my_standardize)

# %% [markdown] lang="en"
r"""
Stuck? Follow *By hand* line by line.

<details><summary>The idea</summary>

Subtract first and keep the difference, because the variance is the mean of its squares. Take both means along `axes`, with `keepdim=True`. Add `eps` to the variance, take the square root, and divide.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？照“动手算”那样，一行一行来。

<details><summary>思路</summary>

先减均值，把离差存下来，因为方差就是离差平方的均值。两次求均值都沿 `axes`，都写上 `keepdim=True`。给方差加上 `eps`，开方，再相除。

</details>
"""


# %% tags=["solution"]
def solved_standardize(x, axes, eps=1e-5):
    difference = x - x.mean(axes, keepdim=True)
    variance = difference.square().mean(axes, keepdim=True)
    return difference / (variance + eps).sqrt()


check("standardize", solved_standardize, keep=False)

# %% [markdown] lang="en"
r"""
## Twenty layers

Here is the network of the riddle. Each of its layers multiplies by a matrix of weights, hands the result to `norm`, and applies an *activation function* (here mostly tanh) to every number. The results are the layer's *activations*. The function returns the activations of all layers.
"""

# %% [markdown] lang="zh"
r"""
## 二十层

开头说的网络，代码只有这几行。每一层先乘一个权重矩阵，再把结果交给 `norm`，最后对每个数用一个**激活函数**（activation function），这里主要用 tanh。得到的数叫做这一层的**激活值**（activation）。函数返回所有层的激活值。
"""


# %%
def network(x, weights, norm, activation):
    layers = []
    for weight in weights:
        x = norm(x @ weight)  # (N, d)
        x = activation(x)
        layers.append(x)
    return layers


# %% [markdown] lang="en"
r"""
How large should the weights be at the start? Each number that a matrix produces is a sum of d products. If the weights are random with standard deviation $1/\sqrt{d}$, such a sum is about as large as the numbers that went in. We therefore write the standard deviation of the weights as $g/\sqrt{d}$ and call g the **gain**, because each matrix scales the numbers by about g.

Run the network without a norm first.

**Predict first.** The input has standard deviation 1, and the gain is 0.5. How large is the standard deviation of the activations in layer 20?
"""

# %% [markdown] lang="zh"
r"""
先看权重初始化：权重该取多大？乘一个矩阵，得到的每个数都是 d 个乘积之和。如果权重是随机数，标准差是 $1/\sqrt{d}$，这个和就与输入差不多大。因此，我们把权重的标准差写成 $g/\sqrt{d}$，把 g 叫做**增益**（gain）：每乘一个矩阵，数大约变成 g 倍。

先让网络不带归一化，直接运行。

**先猜一猜**：输入的标准差是 1，增益是 0.5。到了第 20 层，激活值的标准差是多少？
"""

# %% tags=["guess"]
questions.after_twenty_layers()

# %% tags=["answer"]
torch.manual_seed(0)
x, weights = torch.randn(256, 128), torch.randn(20, 128, 128) / 128**0.5  # (N, d), (20, d, d)
for gain in (0.5, 1, 100):
    layers = network(x, gain * weights, lambda x: x, torch.tanh)
    sizes = "".join(f"   σ[{i}] = {layers[i - 1].std():<7.2g}" for i in (1, 10, 20))
    print(f"{gain = :<4}{sizes}   |x[20]| > 0.9: {(layers[-1].abs() > 0.9).float().mean():.0%}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It is about 0.000001.

</details>

Twenty layers multiply the numbers by $0.5^{20} \approx 10^{-6}$. No layer has anything left to learn from. The gradient of a weight is the activation that comes in, multiplied by the gradient that comes back from the layers above, and on its way back each layer makes that gradient smaller as well. The last layers receive tiny activations, the first layers a tiny gradient, and in every layer the product is about equally small. The gradient *vanishes*.

At gain 1 the activations keep a reasonable size, although tanh shrinks them a little in each layer.

At gain 100 nothing shrinks. Instead, 99% of the last activations lie beyond ±0.9. What is wrong with that?

## Where tanh is flat

On its way back to the weights, the gradient is multiplied by the slope of tanh. The next cell prints this slope at three places.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大约是 0.000001。

</details>

二十层一共让这些数变成 $0.5^{20} \approx 10^{-6}$ 倍。这样一来，没有哪一层学得动。一个权重的梯度，等于传进来的激活值乘以从后面各层传回来的梯度，而传回来的梯度每过一层也要变小。越靠前，传回来的梯度越小，激活值却越大，两者相抵，所以这里每一层的权重梯度都差不多小。这叫做**梯度消失**。

增益是 1 时，tanh 虽然每次让数缩小一点，激活值总还保持着合适的大小。

增益是 100 时倒是不缩小了，可是最后一层有 99% 的激活值超出 ±0.9。这又有什么不好？

## tanh 平坦的地方

梯度往回传，到达权重之前，要乘以 tanh 的斜率。下一个单元格打印三个位置的斜率。
"""

# %%
z = torch.tensor([0.1, 2.0, 5.0], requires_grad=True)
torch.tanh(z).sum().backward()
for number, output, slope in zip(z, torch.tanh(z), z.grad, strict=True):
    print(f"z = {number:.1f}   tanh(z) = {output:.4f}   {slope = :.4f}")

# %% [markdown] lang="en"
r"""
From 2 to 5 the output hardly moves, but the slope falls from 0.07 to 0.0002. A unit whose inputs lie where the curve is so flat is called **saturated**. Almost nothing of the gradient gets through it to the weights before it.

How large can the inputs of tanh be before this happens? The panel sends 4000 normally distributed numbers with mean 0 and standard deviation σ through tanh and counts the outputs beyond ±0.9.

**Predict first.** At which σ do half of the outputs lie beyond ±0.9? Choose an answer, then drag *σ of the inputs*, or the dot on the curve.
"""

# %% [markdown] lang="zh"
r"""
从 2 到 5，输出几乎没动，斜率却从 0.07 降到 0.0002。如果一个神经元（也叫单元）的输入落在曲线这样平坦的地方，就说它**饱和**（saturation）了。梯度几乎传不过它，到不了它前面的权重。

tanh 的输入要多大，才会饱和？面板把 4000 个服从正态分布的数送进 tanh，它们的均值是 0，标准差是 σ，然后数一数有多少输出超出 ±0.9。

**先猜一猜**：σ 是多少时，一半的输出超出 ±0.9？先选好答案，再拖动“输入的 σ”，也可以直接拖曲线上的圆点。
"""

# %% tags=["panel", "guess"]
saturation.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

At σ = 2.2.

</details>

So numbers need not be very large to saturate tanh. At gain 100, the activations of one layer are close to ±1, and the next matrix makes them about 100 times as large, far out where tanh is flat.

A saturated unit passes almost nothing on, but the few that are not saturated enlarge what they pass, in every layer. So at gain 100 the gradient of the first layers is enormous beside that of the last, and no learning rate suits both (*Going further: gain 3 explodes*).

Now switch on *standardize first* and drag again. The share stays at 14%, as at σ = 1, because standardized numbers have σ = 1 however large they were before.

This is the scale that activations need: not so small that the signal dies out, and not so large that tanh is flat. Your function can reset the scale in every layer.

## Your function between the layers

The next cell runs the network twice, at gain 1 and at gain 100, with your function as `norm`. It prints which function it used: yours once `check` has accepted it, otherwise the package's `standardize`.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

σ = 2.2。

</details>

可见，数不用很大，tanh 就会饱和。增益是 100 时，一层的激活值都接近 ±1，再乘一个矩阵，就大约变成 100 倍，远远落到 tanh 平坦的地方去了。

饱和的神经元几乎不传梯度，剩下那少数几个，却每过一层就把它放大许多倍。结果，增益是 100 时，前几层的梯度比最后一层大得离谱，没有一个学习率能同时照顾（见“选读：增益为 3，梯度爆炸”）。

现在打开“先标准化”，再拖一拖。比例始终是 14%，和 σ = 1 时一样，因为不论原来有多大，标准化之后都是 σ = 1。

激活值需要的就是这样的尺度：不能小到信号传不过去，也不能大得落进 tanh 的平坦段。有了你写的函数，每一层都可以重新调好尺度。

## 把你的函数放进各层之间

下一个单元格让网络运行两次，增益分别是 1 和 100，`norm` 用的就是你的函数。单元格会打印用的是哪个函数：`check` 通过以后用你的，之前先用课程自带的 `standardize`。
"""

# %%
mine = load("standardize") or standardize


def batch_norm(x):
    return mine(x, 0)


once, times_100 = (network(x, gain * weights, batch_norm, torch.tanh)[-1] for gain in (1, 100))
print(f"{mine.__name__}:   |x[20]| > 0.9: {(times_100.abs() > 0.9).float().mean():.0%}")
print(f"max |difference| = {(times_100 - once).abs().max():.5f}")

# %% [markdown] lang="en"
r"""
Now 14% of the activations lie beyond ±0.9 instead of 99%, and the outputs at gain 100 differ from those at gain 1 by less than 0.001. Each matrix multiplies the numbers by 100, and the division that follows removes the factor again, as it did with the second row of *By hand*. It is mainly ε (and rounding) that keeps the two from being exactly the same.

So one small function has repaired what the factor 100 had ruined. Has it repaired everything?

## What happens to the gradient

The panel runs your `network` before any training. On the left is a histogram of the activations of each layer. On the right are their standard deviation and the L2 norm of the gradient, layer by layer. The input is badly scaled on purpose, with mean 3 and standard deviation 5. The loss is a random weighted sum of the last activations.

**Predict first.** With BatchNorm, the gain grows from 1 to 100. What happens to the gradient of the weights? Choose an answer, then drag *gain* to 100.
"""

# %% [markdown] lang="zh"
r"""
超出 ±0.9 的激活值从 99% 降到了 14%。而且，增益是 100 和增益是 1，输出相差不到 0.001。每乘一个矩阵，数就变成 100 倍，紧接着一除，又消掉了，和“动手算”的第二行一样。主要是因为有 ε（还有舍入），两者才没有完全相等。

一个小小的函数，就修好了 100 倍造成的破坏。是不是全都修好了？

## 梯度怎么样了

面板运行你的 `network`，这时还没有训练。左边是每一层激活值的直方图；右边是每一层激活值的标准差，还有权重梯度的 L2 范数。输入故意没有调好，均值是 3，标准差是 5。损失是最后一层激活值的加权和，权重随机。

**先猜一猜**：用批量归一化，增益从 1 增大到 100，权重的梯度会怎样？先选好答案，再把“增益”拖到 100。
"""

# %% tags=["panel", "guess"]
signals_through_layers.panel(network)

# %% tags=["answer"]
for gain in (1, 100):
    layers, gradients = signals(gain, 20, "tanh", "batch", network)
    print(f"{gain = :<4} σ[20] = {layers[-1].std():.2f}   ", end="")
    print(f"gradient[1] = {gradients[0]:.2f}   gradient[20] = {gradients[-1]:.3f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It falls to a hundredth.

</details>

The histograms do not move, but in every layer the gradient is only a hundredth of what it was. In layer 1 it falls from 30 to 0.30.

One line of algebra explains it. Let W be all the weights, and f(W) the loss. You have just seen that multiplying all weights by 100 leaves the outputs as they are. With any number c > 0 it is the same: the outputs, and so the loss, do not change (apart from ε). Now take the gradient of both sides with respect to W. On the left, the chain rule gives a factor c:

$$f(cW) = f(W) \quad\Rightarrow\quad c\,\nabla f(cW) = \nabla f(W) \quad\Rightarrow\quad \nabla f(cW) = \frac{1}{c}\,\nabla f(W)$$

In words: if a weight is 100 times as large, adding 0.01 to it is a relative change only a hundredth as large, so the loss moves only a hundredth as far. How far the loss moves is what the gradient measures.

The size of W no longer matters to the outputs. Only its *direction* does, so learning means turning W.

This is the answer to the riddle. With the norm, the factor 100 no longer changes what the network computes, but it changes the gradient: the same learning rate turns W much less.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只剩百分之一。

</details>

直方图一动不动，每一层的梯度却都只剩原来的百分之一，第 1 层的从 30 降到了 0.30。

原因只要一行推导。把所有权重合起来记作 W，损失记作 f(W)。刚才看到，权重乘以 100，输出不变；乘以任何 c > 0 都一样，损失自然也不变（不计 ε）。等号两边都对 W 求梯度，左边按链式法则会多出一个因子 c：

$$f(cW) = f(W) \quad\Rightarrow\quad c\,\nabla f(cW) = \nabla f(W) \quad\Rightarrow\quad \nabla f(cW) = \frac{1}{c}\,\nabla f(W)$$

换句话说，权重变成 100 倍，同样加上 0.01，相对的改变就只有原来的百分之一，损失的变化也就只有原来的百分之一。而梯度衡量的就是损失变化的快慢。

输出与权重的大小无关，只与**方向**有关，所以一步走得够不够大，要看权重转过了多大的角度。

谜就这样解开了：有了归一化，100 倍不再影响网络算出来的数，却仍然影响梯度。学习率不变，权重转过的角度就小得多。
"""

# %% [markdown] lang="en"
r"""
## Does it learn?

How much less, and does it matter? Train the network to find out. The data are handwritten digits of 8 × 8 pixels. A last matrix, `readout`, turns the 64 activations of layer 20 into ten *logits*, one for each digit. It has no norm.
"""

# %% [markdown] lang="zh"
r"""
## 它学得会吗？

小多少？要不要紧？训练一次才知道。数据是手写数字，每幅 8 × 8 个像素。最后的矩阵 `readout` 把第 20 层的 64 个激活值变成十个 logit，每个数字一个。它后面没有归一化。
"""

# %%
images, labels = load_digits()
pixels = images.flatten(1) / 16  # (N, d)
print(f"{pixels.shape = }   {labels.shape = }")


# %%
def logits(pixels, weights, readout, norm):
    return network(pixels, weights, norm, torch.tanh)[-1] @ readout  # (N, 10)


# %% [markdown] lang="en"
r"""
The next function trains the network for 200 steps of plain SGD, each on a mini-batch of 256 of the first 1500 digits. It returns the accuracy on the test set, the other 297 digits, which the network has not seen. The learning rate `lr` is that of the twenty layers; `readout` is always trained at 0.1. Guessing would give about 10%. With BatchNorm, the test digits are standardized by their own mean and variance; lesson 03 shows what is done in practice.

You need only its arguments: `norm`, `gain` and `lr`.
"""

# %% [markdown] lang="zh"
r"""
下一个函数用最普通的小批量 SGD（不带动量）训练 200 步，每步从前 1500 幅图里取 256 幅，返回测试集（297 幅训练时没用过的图）上的准确率。`lr` 是那二十层的学习率，`readout` 的总是 0.1。乱猜大约能对 10%。用批量归一化时，测试集的图用它们自己的均值和方差来标准化；实际上怎么做，第 03 课会讲。

这个函数不必细读，知道它的参数就够了：`norm`、`gain` 和 `lr`。
"""


# %%
def accuracy(norm, gain, lr=0.1):
    random = torch.Generator().manual_seed(0)
    weights = (gain / 64**0.5 * torch.randn(20, 64, 64, generator=random)).requires_grad_()
    readout = (torch.randn(64, 10, generator=random) / 64**0.5).requires_grad_()
    descent = torch.optim.SGD([{"params": [weights], "lr": lr}, {"params": [readout], "lr": 0.1}])
    for _ in range(200):
        rows = torch.randint(1500, (256,), generator=random)
        descent.zero_grad()
        F.cross_entropy(logits(pixels[rows], weights, readout, norm), labels[rows]).backward()
        descent.step()
    best = logits(pixels[1500:], weights, readout, norm).argmax(1)
    return (best == labels[1500:]).float().mean().item()


# %% [markdown] lang="en"
r"""
At gain 100 the steps are too short. How much too short? One step with learning rate η replaces W by $W - \eta\,\nabla f(W)$. With the weights cW, the gradient is only 1/c as large, and the weights that it has to turn are c times as large.

**Predict first.** By which factor must the learning rate be multiplied, so that at gain 100 the twenty layers learn as well as at gain 1?
"""

# %% [markdown] lang="zh"
r"""
增益是 100 时，每一步都走得太小。小多少？学习率为 η 时，走一步就是把 W 换成 $W - \eta\,\nabla f(W)$。权重换成 cW，梯度只有原来的 1/c，要转动的权重却是原来的 c 倍。

**先猜一猜**：增益是 100 时，学习率要乘以多少，这二十层才能学得和增益是 1 时一样好？
"""

# %% tags=["guess"]
questions.learning_rate_at_gain_100()

# %% tags=["answer", "slow", "nbval-ignore-output"]
for gain in (0.5, 1, 100):
    no_norm = accuracy(lambda x: x, gain)
    same_lr = accuracy(batch_norm, gain)
    scaled_lr = accuracy(batch_norm, gain, 0.1 * gain**2)
    print(f"{gain = :<4} {no_norm = :.0%}   {same_lr = :.0%}   {scaled_lr = :.0%}")
for gain in (1, 100):
    print(f"{gain = :<4} lr = 0: {accuracy(batch_norm, gain, 0):.0%}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

By 10000.

</details>

Without a norm only gain 1 learns. The other two networks end near 10%, which is guessing.

With the norm and the same learning rate, gain 0.5 learns as well.

At gain 100 the accuracy is 37%, but training the twenty layers adds nothing. The last two lines show that at `lr = 0`, where they do not learn at all, it is 37% as well, both at gain 1 and at gain 100. So all of it comes from `readout`.

In the third column the learning rate is multiplied by g², which is 10000 at gain 100. Now all three networks come close to 90%, and this is no coincidence:

$$cW - c^2\eta\,\nabla f(cW) = cW - c\,\eta\,\nabla f(W) = c\,\bigl(W - \eta\,\nabla f(W)\bigr)$$

After each step the weights are still c times those of the network with gain 1, so both networks compute the same. One factor c makes up for the smaller gradient, the other for the larger weights. Only the length of the steps was wrong.

Without ε and rounding, the three accuracies would be identical. In 200 steps these tiny effects can grow to a percent or two, which is three to six of the 297 digits.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

乘以 10000。

</details>

不带归一化，只有增益是 1 的网络学得会。另外两个的准确率都在 10% 上下，和乱猜一样。

带上归一化，学习率不变，增益是 0.5 的也学会了。

增益是 100 的有 37%，但那二十层没有功劳。最后两行取 `lr = 0`，让二十层完全不学，准确率在增益为 1 和 100 时也都是 37%，可见功劳全在 `readout`。

第三列的学习率乘以 g²，增益是 100 时就是 10000。这一回，三个网络都接近 90%，而且不是巧合：

$$cW - c^2\eta\,\nabla f(cW) = cW - c\,\eta\,\nabla f(W) = c\,\bigl(W - \eta\,\nabla f(W)\bigr)$$

每走一步，权重都还是“增益为 1”的网络的 c 倍，两个网络算出来的数始终一样。两个因子 c，一个补上变小的梯度，一个跟上变大的权重，原来不对的只是步子的大小。

如果没有 ε，也没有舍入，三个准确率会完全相同。现在相差一两个百分点，也就是 297 幅里的三到六幅：ε 和舍入带来的微小差别，训练 200 步就会放大到这个程度。
"""

# %% [markdown] lang="en"
r"""
## So why do activations need a scale?

If the activations are too small, the gradient vanishes. If they are too large, most units are saturated, and the few that are not can even make the gradient explode (*Going further: gain 3 explodes*).

Each layer multiplies the scale. So without a norm, the gain must be right in all layers at the start, and it must stay right while the weights change. A norm resets the scale in each layer. After that, the gain only decides how fast the weights turn.

## What other code does differently

**A different divisor.** torch's `x.std()` divides by the count minus 1, and NumPy's by the count. A norm divides by the count, which is `correction=0` in torch.

```python
x = torch.tensor([1.0, 2.0, 3.0, 4.0])
x.std()                # 1.291
x.std(correction=0)    # 1.118
x.numpy().std()        # 1.118
```

**A different meaning of normalize.** `F.normalize(x, dim=0)` gives a vector the length 1, and scikit-learn's `MinMaxScaler` maps numbers to the range from 0 to 1.

**A different gain.** [torch.nn.init](https://pytorch.org/docs/stable/nn.init.html) has functions for initializing weights. For as many inputs as outputs, `xavier_uniform_` has gain 1, and `kaiming_uniform_(w, nonlinearity="relu")` has gain 1.41. But `nn.Linear` starts with gain 0.58.
"""

# %% [markdown] lang="zh"
r"""
## 激活值为什么需要合适的尺度？

激活值太小，梯度就消失；太大，神经元大多饱和，剩下那少数几个甚至会让梯度爆炸（见“选读：增益为 3，梯度爆炸”）。

每过一层，尺度都要乘上一个倍数。不带归一化，不仅起步时每层的增益要合适，训练中权重不断变化，增益也得一直合适。归一化在每一层重新调好尺度，增益就只决定权重转得快还是慢。

## 别的代码怎么写

**除数不同**：torch 的 `x.std()` 除以个数减 1，NumPy 的除以个数。归一化除以个数，在 torch 里要写 `correction=0`。

```python
x = torch.tensor([1.0, 2.0, 3.0, 4.0])
x.std()                # 1.291
x.std(correction=0)    # 1.118
x.numpy().std()        # 1.118
```

**“归一化”的意思不同**：`F.normalize(x, dim=0)` 让向量的长度变成 1，scikit-learn 的 `MinMaxScaler` 把数压缩到 0 和 1 之间。

**增益不同**：权重初始化可以用 [torch.nn.init](https://pytorch.org/docs/stable/nn.init.html) 里的函数。如果输入和输出一样多，`xavier_uniform_` 的增益是 1，`kaiming_uniform_(w, nonlinearity="relu")` 的增益是 1.41。而 `nn.Linear` 的增益只有 0.58。
"""

# %% [markdown] lang="en"
r"""
## In short

* To standardize is to subtract the mean and divide by the standard deviation, $\sqrt{\sigma^2 + \varepsilon}$. BatchNorm does this to each feature, over the samples of the mini-batch.
* Without a norm, each layer multiplies the scale. A small gain makes the gradient vanish. A large one saturates most units and can make the gradient explode.
* With a norm, f(cW) = f(W): multiplying all weights that stand before a norm by a positive c changes nothing in the outputs, apart from ε, and divides their gradient by c.
* A step of gradient descent then turns the weights by about 1/c² of the former angle.

## Three closing questions

1. If the inputs lie symmetrically around 0, ReLU, $\max(0, x)$, halves the mean of the squares. So at gain 1 a layer with ReLU makes the root mean square $1/\sqrt{2} \approx 0.71$ times as large. What is left of it after 30 such layers at gain 0.9? Which gain would keep it?

<details><summary>Answer</summary>

About a millionth is left: $(0.9/\sqrt{2})^{30} \approx 1.3 \cdot 10^{-6}$. A single random network can be off by a factor of 2. The gain √2 = 1.41 keeps it, which is why `kaiming_uniform_` takes it for ReLU.

</details>

2. With the norm and the learning rate 0.1, gain 0.1 reaches only 19%. Why, and which learning rate would help?

<details><summary>Answer</summary>

Here c is 0.1, so the gradient is 10 times as large and the weights are a tenth as large. The steps turn the weights about 100 times as far as at gain 1, which is too far. With the learning rate 0.001 the network learns as well as at gain 1.

</details>

3. A layer often adds a learned number, the *bias*, to each feature after the matrix. Before a BatchNorm, people leave it out. Why?

<details><summary>Answer</summary>

It adds the same number to a whole column. The mean grows by this number too, and subtracting the mean removes it. So the bias changes nothing, and its gradient is 0.

</details>

The next cell checks the answers, the first one with your ReLU from lesson 00 if you have written it.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 标准化就是减去均值，再除以标准差 $\sqrt{\sigma^2 + \varepsilon}$。批量归一化对每个特征这样做，均值和方差取自小批量里的所有样本。
* 不带归一化，每一层都会把尺度乘上一个倍数。增益太小，梯度消失；增益太大，神经元大多饱和，梯度还可能爆炸。
* 带上归一化，f(cW) = f(W)：把后面接着归一化的权重全都乘以正数 c，输出不变（不计 ε），它们的梯度却要除以 c。
* 这时用梯度下降走一步，权重转过的角度大约是原来的 1/c²。

## 三个思考题

1. ReLU 就是 $\max(0, x)$。输入关于 0 对称时，它让平方的均值减半，所以增益是 1 时，每过一层 ReLU，均方根变成原来的 $1/\sqrt{2} \approx 0.71$ 倍。增益是 0.9，过了 30 层，还剩多少？增益取多少，均方根才不变？

<details><summary>答案</summary>

大约只剩百万分之一：$(0.9/\sqrt{2})^{30} \approx 1.3 \cdot 10^{-6}$。这是平均来说，单独一个随机的网络可能差到 2 倍。增益取 √2 = 1.41，均方根就不变，所以 `kaiming_uniform_` 对 ReLU 取这个值。

</details>

2. 带上归一化，学习率是 0.1，增益也是 0.1，准确率却只有 19%。为什么？学习率应该取多少？

<details><summary>答案</summary>

这时 c 是 0.1，梯度变成 10 倍，权重却只有十分之一，每一步让权重转过的角度大约是增益为 1 时的 100 倍，转得太多了。学习率取 0.001，就学得和增益为 1 时一样好。

</details>

3. 乘矩阵之后，常常还要给每个特征加上一个学出来的数，叫做**偏置**（bias）。后面如果是批量归一化，就不加偏置。为什么？

<details><summary>答案</summary>

偏置给一整列加上同一个数，这一列的均值也就大了这么多，一减均值，又没有了。偏置什么也改变不了，它的梯度是 0。

</details>

下一个单元格验算这些答案；第一题会用你在第 00 课写的 ReLU，没写的话就用 torch 的。
"""

# %% tags=["answer", "slow", "nbval-ignore-output"]
relu = load("relu") or torch.relu
torch.manual_seed(0)
for gain in (0.9, 2**0.5):
    last = network(torch.randn(64, 512), gain * torch.randn(30, 512, 512) / 512**0.5, lambda x: x, relu)[-1]
    print(f"1.   {gain = :.2f}   RMS = {last.square().mean().sqrt():.1g}")
for lr in (0.1, 0.001):
    print(f"2.   {lr = :<6} {accuracy(batch_norm, 0.1, lr):.0%}")
bias = torch.full((128,), 5.0, requires_grad=True)  # (d,)
(batch_norm(x + bias) * torch.randn(256, 128)).sum().backward()
print(f"3.   max |difference| = {(batch_norm(x + bias) - batch_norm(x)).abs().max():.6f}   ", end="")
print(f"max |gradient| = {bias.grad.abs().max():.6f}")

# %% [markdown] lang="en"
r"""
## Read next

* The paper on initializing weights, with histograms like yours: [Understanding the difficulty of training deep feedforward neural networks](https://proceedings.mlr.press/v9/glorot10a.html), Glorot and Bengio 2010.
* The riddle in practice, on normalization and regularization: [L2 Regularization versus Batch and Weight Normalization](https://arxiv.org/abs/1706.05350), van Laarhoven 2017. Before a norm, weight decay does not make the function simpler. It shrinks the weights, so the network learns faster.
* A video: [activations, gradients and BatchNorm](https://www.youtube.com/watch?v=P6sfmUTpUmc), Andrej Karpathy.

BatchNorm averages over the samples. [Lesson 02](02_norm_axes.ipynb) asks which other numbers could share a mean, and shows how to see it.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 讲权重初始化的论文，里面有你见过的这种直方图：[Understanding the difficulty of training deep feedforward neural networks](https://proceedings.mlr.press/v9/glorot10a.html)，Glorot 和 Bengio，2010。
* 这个谜在实践中的样子，讲归一化与正则化：[L2 Regularization versus Batch and Weight Normalization](https://arxiv.org/abs/1706.05350)，van Laarhoven，2017。在归一化前面，权重衰减并不会让函数更简单，它只是让权重变小，于是学得更快。
* 视频：[activations, gradients and BatchNorm](https://www.youtube.com/watch?v=P6sfmUTpUmc)，Andrej Karpathy 讲激活值、梯度和批量归一化。

批量归一化让各个样本的数共用一个均值。还可以让哪些数共用一个均值？怎样一眼看出来？请看[第 02 课](02_norm_axes.ipynb)。
"""

# %% [markdown] lang="en"
r"""
## Going further: which axes disappear?

BatchNorm on a table averages along axis 0. With more axes there is more to choose. The axes that you average along disappear from the shape, unless `keepdim=True` keeps them with size 1. With a tuple of axes, all numbers along them form one group, with one mean. Here is a tensor of 2 texts with 3 words each and 4 features per word.
"""

# %% [markdown] lang="zh"
r"""
## 选读：哪些轴会消失？

对一张表做批量归一化，沿轴 0 求均值。轴一多，选法也就多了。沿哪些轴求均值，这些轴就从形状里消失，除非写上 `keepdim=True`，把它们保留下来，大小为 1。如果用元组一次给出几个轴，这些轴上的数就合成一组，只有一个均值。下面的张量是 2 个文本，每个 3 个词，每个词 4 个特征。
"""

# %%
texts = torch.zeros(2, 3, 4)  # (N, L, d)
for axes in (0, 1, 2, (1, 2), (0, 1, 2)):
    print(f"{axes = !s:10} {list(texts.mean(axes).shape)}   keepdim: {list(texts.mean(axes, keepdim=True).shape)}")

# %% [markdown] lang="en"
r"""
**Your turn, one line.** Along which axes must you average so that one mean is left for each *feature*, over all words of all texts? Replace `None` with the axes.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行：要让每个**特征**在所有文本的所有词上只有一个均值，应该沿哪些轴求均值？请把 `None` 换成这些轴。
"""

# %% tags=["exercise"]
my_axes = None

check("feature_axes", my_axes)

# %% [markdown] lang="en"
r"""
Stuck? Look at the shapes that the cell has printed. Which of the three sizes should be left?

<details><summary>The idea</summary>

Each feature needs a mean of its own, so axis 2 must stay, and the other two must disappear.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？看看上面打印的形状，三个大小里，应该留下哪一个？

<details><summary>思路</summary>

每个特征都要有自己的均值，所以轴 2 要留下，另外两个轴要消失。

</details>
"""

# %% tags=["solution"]
solved_axes = (0, 1)

check("feature_axes", solved_axes, keep=False)

# %% [markdown] lang="en"
r"""
## Going further: mistakes that training hides

Would you have noticed a mistake in your function by training with it? Here are three wrong ones. `n_minus_1` divides the sum of the squares by the count minus 1, `eps_outside` adds ε after taking the root, and `mean_kept` divides by the right number but forgets to subtract the mean.

**Predict first.** At gain 1 and learning rate 0.1, which of them keeps the network from learning?
"""

# %% [markdown] lang="zh"
r"""
## 选读：训练会掩盖的错误

如果你的函数写错了，光靠训练看得出来吗？下面是三个写错的函数：`n_minus_1` 求方差时，平方和除以个数减 1，`eps_outside` 先开方再加 ε，`mean_kept` 的除数没有错，却忘了减均值。

**先猜一猜**：增益是 1，学习率是 0.1，用哪一个函数，网络会学不会？
"""

# %% tags=["guess"]
questions.mistake_that_training_shows()


# %% tags=["answer", "slow", "nbval-ignore-output"]
def n_minus_1(x):
    return (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()


def eps_outside(x):
    return (x - x.mean(0)) / (x.std(0, correction=0) + 1e-5)


def mean_kept(x):
    return x / (x.var(0, correction=0) + 1e-5).sqrt()


for norm in (batch_norm, n_minus_1, eps_outside, mean_kept):
    print(f"{norm.__name__:12}{accuracy(norm, 1):.0%}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only `mean_kept` does.

</details>

The other two reach about what the right function reaches. So training hides small mistakes, and therefore `check` compares numbers instead of accuracies.

`mean_kept` fails because the mean is still in the numbers, but not in what they are divided by. In a column where the samples differ little, a small divisor blows up the mean, and tanh saturates. Behind a saturated tanh the samples probably differ even less, so the next divisor is smaller still.

One way out is a smaller learning rate. The other is to divide by the root mean square, because a large mean makes it large as well. The next cell tries both. `watched` is `mean_kept`, and it notes how many activations it saturates in each layer and step.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有 `mean_kept`。

</details>

另外两个的准确率与正确的函数不相上下。可见训练会掩盖小错误，所以 `check` 比较的是算出来的数，而不是准确率。

`mean_kept` 为什么不行？均值还留在被除的数里，除数却反映不出均值的大小。如果一列里各个样本相差很小，除数就小，一除就把均值放大，tanh 随之饱和；饱和以后，样本之间多半相差更小，下一层的除数也就更小。

有两个办法，一个是让学习率小一点，另一个是改成除以均方根，因为均值一大，均方根也跟着大。下一个单元格两个都试一试。其中 `watched` 就是 `mean_kept`，只是每一步、每一层都记下有多少激活值饱和了。
"""


# %% tags=["slow", "nbval-ignore-output"]
def root_mean_square(x):
    return x / (x.square().mean(0) + 1e-5).sqrt()


def watched(x):
    y = mean_kept(x)
    shares.append((torch.tanh(y).abs() > 0.9).float().mean())
    return y


for lr in (0.1, 0.01):
    shares = []
    reached = accuracy(watched, 1, lr)
    print(f"mean_kept {lr = :<5} |x[20]| > 0.9: {shares[19]:.0%}, 10 steps later {shares[219]:.0%}   {reached:.0%}")
print(f"root_mean_square {accuracy(root_mean_square, 1):.0%}")

# %% [markdown] lang="en"
r"""
Both ways out work: 85% and 91%. At the learning rate 0.1, `mean_kept` has saturated the whole of layer 20 after ten steps. At 0.01 hardly anything changes there. `root_mean_square` needs no subtraction at all. Lesson 06 divides by it over the features of each token, and calls that RMSNorm.
"""

# %% [markdown] lang="zh"
r"""
两个办法都行，准确率是 85% 和 91%。学习率是 0.1 时，`mean_kept` 只用十步就让第 20 层全部饱和；是 0.01 时，那里几乎没有变化。`root_mean_square` 什么也没有减，照样学得会。第 06 课对每个词元的特征这样做，那就是 RMSNorm。
"""

# %% [markdown] lang="en"
r"""
## Going further: gain 3 explodes

Without a norm, a large gain saturates the units, and saturated units pass on almost no gradient. So the gradient should vanish on its way back. Let us see, at three gains.
"""

# %% [markdown] lang="zh"
r"""
## 选读：增益为 3，梯度爆炸

不带归一化，增益大了，神经元就会饱和，饱和的神经元几乎不传梯度。照这样说，梯度往回传，应该越来越小才对。取三个增益，看一看。
"""

# %%
for gain in (0.5, 100, 3):
    layers, gradients = signals(gain, 20, "tanh", "none", network)
    print(f"{gain = :<4}" + "".join(f"   gradient[{i}] = {gradients[i - 1]:<9.3g}" for i in (20, 10, 2, 1)))
slope = 1 - layers[9].square()  # gain 3, (N, d)
rms = slope.square().mean().sqrt()
print(f"slope[10]: median {slope.quantile(0.5):.2f}   > 0.5: {(slope > 0.5).float().mean():.0%}   RMS {rms:.3f}")
print(f"per layer: gain × RMS = {gain * rms:.2f}   measured: {(gradients[1] / gradients[-1]) ** (1 / 18):.2f}")

# %% [markdown] lang="en"
r"""
At gain 0.5 the gradient is tiny in every layer. But at gain 3 it does the opposite of vanishing. From layer 20 to layer 2 it grows from 3.1 to 880. It *explodes*. At gain 100 layers 1 and 20 are 14 powers of ten apart.

On its way back, the gradient is multiplied in each layer by the slopes **and by the weights**. At gain 3, half of the slopes are below 0.13, but more than a quarter are above 0.5, and these decide how large the gradient becomes: the RMS of the slopes, their root mean square, is 0.456. The weights multiply by 3, the gain. Together that is 1.37 per layer, and in 18 layers nearly 300.

Can another learning rate rescue such networks?
"""

# %% [markdown] lang="zh"
r"""
增益是 0.5 时，每一层的梯度都极小。增益是 3 时却正好相反，从第 20 层到第 2 层，梯度从 3.1 增大到 880，这就是**梯度爆炸**。增益是 100 时，第 1 层和第 20 层的梯度相差 14 个数量级。

梯度往回传，每过一层，既要乘斜率，**也要乘权重**。增益是 3 时，一半的斜率小于 0.13，但还有四分之一以上大于 0.5，梯度有多大，就由它们决定：斜率的均方根（RMS）是 0.456。权重再乘上增益，也就是 3。合起来，每一层是 1.37 倍，18 层就将近 300 倍。

换一个学习率，能救活这样的网络吗？
"""

# %% tags=["slow", "nbval-ignore-output"]
for gain, lr in ((3, 0.01), (3, 0.1), (0.5, 1), (0.5, 1000)):
    print(f"{gain = :<4} {lr = :<5} {accuracy(lambda x: x, gain, lr):.0%}")

# %% [markdown] lang="en"
r"""
With such gradients the learning rate must be small enough for the first layer, and the last then learns slowly. At 0.01 the network gets fewer than half of the digits right after 200 steps, and at 0.1 far fewer. Neither of the two learning rates rescues gain 0.5, although the second is as large as 1000.

Nor is it enough to normalize the input. In the panel of *What happens to the gradient*, choose *input only* at gain 0.5: the activations still shrink from layer to layer.

Differences between samples grow in the same way in the forward pass. The next cell divides the average distance between two images of the same digit by that between images of different digits.
"""

# %% [markdown] lang="zh"
r"""
梯度这样悬殊，学习率要小到第一层受得了才行，最后一层就学得慢。取 0.01，训练 200 步，认对的数字还不到一半；取 0.1，就更少了。增益是 0.5 时，在试过的两个学习率里，哪个都救不了，哪怕是 1000。

只归一化输入也不够。在“梯度怎么样了”一节的面板上选“只归一化输入”，增益取 0.5，激活值还是一层比一层小。

前向传播时，样本之间的差别也会这样变大。下一个单元格计算两种平均距离之比：同一个数字的两幅图之间，除以不同数字的两幅图之间。
"""


# %%
def same_over_different(x):  # (N, d)
    distance, same = torch.cdist(x, x), labels[:, None] == labels  # (N, N)
    return (distance[same & ~torch.eye(len(x), dtype=torch.bool)].mean() / distance[~same].mean()).item()


torch.manual_seed(0)
x = network(pixels, 3 * torch.randn(20, 64, 64) / 64**0.5, lambda x: x, torch.tanh)[-1]  # (N, d)
print(f"pixels: {same_over_different(pixels):.2f}   layer 20: {same_over_different(x):.2f}")

# %% [markdown] lang="en"
r"""
In pixels, two images of the same digit are 0.73 times as far apart as images of different digits. After twenty layers at gain 3 this ratio is almost 1: the network has made small differences large, and little is left to tell it that two images show the same digit. That leaves it little to generalize from.
"""

# %% [markdown] lang="zh"
r"""
直接看像素，同一个数字的两幅图，距离是不同数字之间的 0.73 倍。增益取 3，过了二十层，这个比值几乎是 1：小的差别也变大了，两幅图是不是同一个数字，几乎看不出来了。可以预料，这样的网络很难泛化到没见过的图。
"""

# %% [markdown] lang="en"
r"""
## Going further: forty layers of ReLU

Does a norm make every deep network healthy? Here are forty layers with ReLU and with tanh, at gain 1, with two norms. LayerNorm standardizes each sample over its own features, along axis 1.
"""

# %% [markdown] lang="zh"
r"""
## 选读：四十层 ReLU

有了归一化，再深的网络也没问题吗？下面是四十层，激活函数是 ReLU 或 tanh，增益是 1，分别用两种归一化。层归一化（LayerNorm）沿轴 1，对每个样本自己的各个特征做标准化。
"""

# %%
for activation, norm in (("relu", "batch"), ("relu", "layer"), ("tanh", "batch"), ("tanh", "layer")):
    layers, gradients = signals(1.0, 40, activation, norm, network)
    print(f"{activation}, {norm}:   per layer {(gradients[0] / gradients[-1]) ** (1 / 39):.2f}")
    for i in (1, 20, 40):
        x = layers[i - 1]
        print(f"    [{i:2}]   σ = {x.std():.2f}   max = {x.max():4.1f}   gradient = {gradients[i - 1]:.1f}")
signals_through_layers.panel(network).still(norm="batch", depth=40, activation="relu")

# %% [markdown] lang="en"
r"""
With ReLU the standard deviation is nearly the same in all layers. But with BatchNorm the gradient of layer 1 is more than 1000 times that of layer 40. The last bar of the histograms, which counts everything above 3, grows as well, and the largest activation rises from 3.9 to 9.8. With LayerNorm, on the same weights, the gradient stays between 3 and 6.

Per layer, the gradient grows by a factor of 1.20 with BatchNorm and 1.00 with LayerNorm, so this explosion comes from BatchNorm itself, as [Yang and others](https://arxiv.org/abs/1902.08129) proved in 2019. The gain does not help, because BatchNorm divides it out.

With tanh the factor is about 1.09 for both norms. There the cause is that the scale is reset before each tanh: tanh shrinks the numbers to σ = 0.63, and dividing by this σ in the next layer enlarges the gradient more than the slopes of tanh reduce it.

So equal standard deviations do not mean healthy gradients. Look at both. The usual remedy is to add the input of each layer to its output, `x = x + …`. This *residual connection* leads the gradient past the layer. Transformers are built on it (lesson 12).
"""

# %% [markdown] lang="zh"
r"""
用 ReLU，各层的标准差几乎一样。但用批量归一化时，第 1 层的梯度是第 40 层的 1000 多倍。直方图最右边的一根（3 以上的都归在这里）也越来越高，最大的激活值从 3.9 增大到 9.8。换成层归一化，权重不变，梯度一直在 3 和 6 之间。

梯度每过一层，用批量归一化变成 1.20 倍，用层归一化是 1.00 倍，可见爆炸正是批量归一化引起的，[Yang 等人](https://arxiv.org/abs/1902.08129)在 2019 年证明了这一点。调整增益没有用，因为归一化把它除掉了。

用 tanh，两种归一化都是大约 1.09 倍，原因是每个 tanh 之前都重新调了尺度：tanh 把数缩小到 σ = 0.63，下一层除以这个 σ，让梯度变大的倍数，超过了 tanh 的斜率让它变小的倍数。

标准差相同，不等于梯度健康，两者都要看。常用的办法，是把每一层的输入加到它的输出上，`x = x + …`。这叫做**残差连接**（residual connection），梯度可以绕过这一层往回传。Transformer 就建立在它之上（第 12 课）。
"""

# %% [markdown] lang="en"
r"""
## Going further: twenty `nn.Linear`

How much is left of a digit after twenty layers of `nn.Linear`, with torch's own initial weights, and tanh? The cell prints the standard deviation of a feature over all digits, averaged over the features, and compares it with Glorot's initialization, `xavier_uniform_`. Then `found_by_line` asks whether the digits can still be told apart. It fits a linear classifier by least squares, for which the size of the inputs does not matter, and returns the accuracy on the test set. The last line is the accuracy of gradient descent at gain 0.58, as before.
"""

# %% [markdown] lang="zh"
r"""
## 选读：二十个 `nn.Linear`

二十层 `nn.Linear` 加 tanh，用 torch 默认的权重初始化，一幅数字图像，到最后还剩下多少信息？单元格打印一个特征在所有图上的标准差（对各个特征取平均），并与 Glorot 初始化 `xavier_uniform_` 比较。然后用 `found_by_line` 看看，这些数字还分不分得开：它用最小二乘法拟合一个线性分类器，不受输入尺度的影响，返回的是测试集上的准确率。最后一行和前面一样，是用梯度下降训练的准确率，增益是 0.58。
"""


# %% tags=["slow", "nbval-ignore-output"]
def tower(start):
    x = pixels.double()
    for _ in range(20):
        layer = torch.nn.Linear(64, 64)
        start(layer.weight)
        x = torch.tanh(layer.double()(x))  # (N, d)
    return x.detach()


torch.manual_seed(0)
print(f"pixels    σ = {pixels.std(0).mean():.6f}   found_by_line = {found_by_line(pixels, labels):.0%}")
for name, start in (("Linear", lambda weight: weight), ("Glorot", torch.nn.init.xavier_uniform_)):
    x = tower(start)
    print(f"{name}    σ = {x.std(0).mean():.6f}   found_by_line = {found_by_line(x, labels):.0%}")
print(f"gain = 0.58: {accuracy(lambda x: x, 0.58):.0%}")

# %% [markdown] lang="en"
r"""
Behind twenty `nn.Linear`, two digits differ only in the sixth decimal place. Only the size of the differences is lost, at least in double precision, which `tower` uses; in single precision, rounding would blur such small differences. The linear classifier gets about as many of the new digits right as it does from the pixels. Glorot's initialization keeps the size, and the classifier does no better. But to gradient descent the size does matter: at gain 0.58 the accuracy is 9%, which is guessing. There is no error message.
"""

# %% [markdown] lang="zh"
r"""
经过二十个 `nn.Linear`，两幅图的差别，要到小数点后第六位才看得出来。丢掉的只是差别的大小，至少在 `tower` 用的双精度下是这样；换成单精度，这么小的差别会因舍入而模糊。线性分类器在测试集上认对的图，和直接用像素时差不多。Glorot 初始化保住了大小，分类器也没有认得更准。梯度下降却在乎大小：增益是 0.58，准确率只有 9%，等于乱猜，而且没有任何报错。
"""
