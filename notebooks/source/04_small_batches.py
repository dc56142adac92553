# %% [markdown] lang="en"
r"""
# 04 When does BatchNorm fail?

A network with BatchNorm learns to read handwritten digits. Trained in mini-batches of 32 images, it gets 96% of the test digits right. Trained again in mini-batches of 2, it gets only about 65% right. So it is true, then, what one reads: BatchNorm cannot cope with small batches. But here is a second network, which also has BatchNorm and is also trained in mini-batches of 2. It gets 94% right, the same as in mini-batches of 32.

So the batch size is not to blame. What is? In this lesson you find the number that matters, and you watch what happens when it is small. Then you put the explanation to the test: in each of the two networks you change this number and leave the batch size as it is.

This lesson is a side trip about BatchNorm in practice. The Transformer of this course has no BatchNorm, and lesson 05 does not need what you learn here.

Plan for about 35 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 04 批量归一化什么时候失效？

有一个带批量归一化（BatchNorm）的网络，学着认手写数字。每个小批量 32 张图，训练之后，测试图能认对 96%；每个小批量改成 2 张，重新训练，就只能认对 65% 左右。看来常听到的说法没错：批量一小，批量归一化就不行了。但再看第二个网络，它也有批量归一化，每个小批量也只有 2 张图，却照样认对 94%，和用 32 张时一样。

可见问题不在批量大小。那在哪里？这一课先找出真正起作用的那个数，看看它太小的时候会发生什么，再用实验来检验：在两个网络里各改一次这个数，批量大小保持不变。

这一课是支线，讲批量归一化在实际使用中的问题。这套课程里的 Transformer 没有批量归一化，第 05 课也用不到这里的内容。

整课大约需要 35 分钟，选读另计。
"""

# %%
from statistics import mean

import torch
from torch import nn

from blocklab_course import check, checked_or_reference
from blocklab_course.lessons.small_batches import questions, saturating_batch, shared_mean, two_parts
from blocklab_course.lessons.small_batches.networks import NORMS, convolutions, merging, mlp
from blocklab_course.pretrained.digits import load_digits

# %% [markdown] lang="en"
r"""
## How many numbers share a mean?

BatchNorm treats each channel by itself. It takes all the numbers that the mini-batch holds in this channel, subtracts their mean μ, and divides by their standard deviation σ.

Suppose that a channel holds the four numbers 1, 3, 5, 11. Their mean is 5. They lie −4, −2, 0 and 6 away from it, and the squares of these distances, 16, 4, 0 and 36, have the mean 14. So σ is √14 = 3.74, and the outputs are −1.07, −0.53, 0 and 1.60.

The numbers that share one mean were called a *group* in lesson 02. Let **m** be the size of a group. Here m is 4. With the small constant ε, which is $10^{-5}$ in PyTorch, the formula is

$$\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

$$\mu = \frac{1}{m} \sum_{j=1}^{m} x_j, \qquad \sigma^2 = \frac{1}{m} \sum_{j=1}^{m} (x_j - \mu)^2$$

Afterwards BatchNorm multiplies by γ and adds β, which do not matter here.

How large is m in a network? That depends on the layer in front. In a multilayer perceptron (MLP), a linear layer returns a tensor of shape `(N, C)`. Each of the N samples contributes one number to a channel, so m = N. A convolution returns a tensor of shape `(N, C, H, W)`. Each image contributes a whole *feature map* of H × W numbers to a channel, so m = N·H·W.

The picture shows both kinds of tensors, for 3 channels and maps of 4 × 4. The numbers of channel 1 that share a mean are colored. Change N and read m in the line below.
"""

# %% [markdown] lang="zh"
r"""
## 多少个数共用一个均值？

批量归一化把各个通道分开处理。对一个通道，它把小批量里属于这个通道的数全部拿来，减去它们的均值 μ，再除以它们的标准差 σ。

比如，一个通道里有四个数：1、3、5、11。均值是 5，各数与它相差 −4、−2、0、6，平方是 16、4、0、36，平方的均值是 14。所以 σ = √14 = 3.74，四个输出就是 −1.07、−0.53、0、1.60。

第 02 课把共用一个均值的数叫做一组。一组有几个数，也就是共用一个均值的数有几个，记作 **m**。上面的例子里，m 是 4。写成公式，还要加上小常数 ε，PyTorch 取 $10^{-5}$：

$$\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

$$\mu = \frac{1}{m} \sum_{j=1}^{m} x_j, \qquad \sigma^2 = \frac{1}{m} \sum_{j=1}^{m} (x_j - \mu)^2$$

后面还有乘 γ、加 β 这一步，与本课的问题无关。

在网络里，m 有多大？要看前面是什么层。在多层感知机（MLP）里，线性层输出的张量，形状是 `(N, C)`，每个样本在一个通道里只有一个数，所以 m = N。卷积输出的张量，形状是 `(N, C, H, W)`，每张图在一个通道里有一整幅**特征图**，也就是 H × W 个数，所以 m = N × H × W。

下图画出了这两种张量，各有 3 个通道，特征图是 4 × 4。通道 1 里，共用一个均值的数涂成同一种颜色。改变 N，看看下面一行里的 m。
"""

# %% tags=["panel"]
shared_mean.panel()

# %% [markdown] lang="en"
r"""
This lesson has a network of each kind. `mlp` consists of linear layers, and `convolutions` consists of convolutions with pooling in between, which halves the height and the width. The next cell sends 2 images of 8 × 8 pixels through each of them, and prints the shape and m at every BatchNorm.
"""

# %% [markdown] lang="zh"
r"""
这一课有两个网络。`mlp` 属于前一种，它是 MLP，由线性层叠成；`convolutions` 属于后一种，它是卷积网络，卷积之间有池化，池化一次，高和宽各减一半。下一个单元格把 2 张 8 × 8 的图分别送进两个网络，在每个批量归一化那里打印形状和 m。
"""

# %%
for make, norm in ((mlp, nn.BatchNorm1d), (convolutions, nn.BatchNorm2d)):
    x = torch.randn(2, 1, 8, 8)  # (N, C, H, W)
    for layer in make(norm):
        if isinstance(layer, norm):
            print(f"{make.__name__:14}{tuple(x.shape)!s:16}m = {x.numel() // x.shape[1]}")
        x = layer(x)

# %% [markdown] lang="en"
r"""
Both networks received only two images. In the first, two numbers share a mean. In the second, 128 do, and after the pooling there are still 32.

## Exercise: how large must the batch be?

On several GPUs there is one more thing to consider. Each GPU gets an equal share of the mini-batch, and BatchNorm uses only the numbers on its own GPU. Switch on *two GPUs* in the picture to see this.

**Your turn, one number.** A network has four BatchNorms. Three follow a convolution, and their feature maps are 8 × 8, 4 × 4 and 2 × 2. The fourth follows a linear layer. Two GPUs share each mini-batch. What is the smallest batch size with which m is at least 32 in all four places? Replace `None`.
"""

# %% [markdown] lang="zh"
r"""
两个网络收到的都只有两张图。第一个网络里，只有两个数共用一个均值；第二个网络里却有 128 个，池化之后也还有 32 个。

## 练习：批量至少要多大？

如果有几块 GPU，还要多想一步：小批量平分给各块 GPU，而批量归一化只用自己这块 GPU 上的数。在图上打开“两块 GPU”，就能看到。

**轮到你了**，只写一个数：一个网络有四个批量归一化，前三个在卷积之后，特征图依次是 8 × 8、4 × 4 和 2 × 2，第四个在线性层之后。每个小批量平分给两块 GPU。要让四处的 m 都不小于 32，批量大小至少是多少？请替换 `None`。
"""

# %% tags=["exercise"]
my_batch_size = None

check("values_per_mean", my_batch_size)

# %% [markdown] lang="en"
r"""
Stuck? Take a single sample. How many numbers does it contribute to one channel in each of the four places?

<details><summary>The idea</summary>

It contributes 64, 16 and 4 numbers to the places with feature maps, and only one to the last. The place with the fewest numbers decides, and each GPU sees only half of the batch.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先只看一个样本：在这四处，它在一个通道里各有多少个数？

<details><summary>思路</summary>

有特征图的三处，一个样本分别有 64、16 和 4 个数；最后一处只有一个。哪一处的数最少，就由哪一处说了算，而每块 GPU 只分到一半的样本。

</details>
"""

# %% tags=["solution"]
solved_batch_size = 2 * 32

check("values_per_mean", solved_batch_size, keep=False)

# %% [markdown] lang="en"
r"""
## What is left of two numbers?

What goes wrong when m is small? Look at a single channel. On the left of the panel are m numbers, before BatchNorm at the top and after it at the bottom. You drag the red one, $x_1$. The others are spread evenly from −1 to 1, and if there is only one of them, it is 0. The curve on the right shows the output for each $x_1$. Its axis of inputs is linear near 0 and logarithmic farther out, so that both 0.1 and 1000 fit on it. The small picture enlarges the part around 0.

**Predict first.** Two numbers share a mean, 0 and $x_1$ = 1000. What does the 1000 become? Choose an answer, then drag *m* to 2 and $x_1$ to 1000.
"""

# %% [markdown] lang="zh"
r"""
## 只有两个数，还能剩下什么？

m 很小，会出什么问题？先看一个通道。面板的左边是 m 个数，上面一行是批量归一化之前，下面一行是之后。红色的 $x_1$ 由你拖动，其余的数均匀地排在 −1 和 1 之间；如果只剩一个，它就是 0。右边的曲线画的是 $x_1$ 取各个值时的输出。输入所在的轴，0 附近是线性的，越往外越接近对数刻度，这样 0.1 和 1000 都能看清。小图放大了 0 附近的一段。

**先猜一猜**：两个数共用一个均值，一个是 0，一个是 $x_1$ = 1000。1000 会变成多少？先选好答案，再把 m 拖到 2，把 $x_1$ 拖到 1000。
"""

# %% tags=["panel", "guess"]
saturating_batch.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The 1000 becomes 1.

</details>

The mean of 0 and 1000 is 500. Both numbers are 500 away from it, so σ is 500 as well, and the outputs are −1 and 1.

Now leave *m* at 2 and drag $x_1$ all the way back to 0.001. Where does its output start to fall? Then try larger m. The next cell prints the outputs for four values of $x_1$, and draws all the curves.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

1000 变成 1。

</details>

0 和 1000 的均值是 500，两个数与它都相差 500，所以 σ 也是 500，输出就是 −1 和 1。

现在 m 保持 2，把 $x_1$ 一直拖回到 0.001，看看输出从哪里开始下降。再换几个大一些的 m 试试。下一个单元格打印 $x_1$ 取四个值时的输出，并画出全部曲线。
"""

# %% tags=["answer"]
print("x₁ =     0.001   0.01    0.1   1000   √(m − 1)")
for m in (2, 4, 32):
    outputs = [saturating_batch.through(m, x)[0] for x in (0.001, 0.01, 0.1, 1000)]
    print(f"m = {m:2}", *(f"{y:6.3f}" for y in outputs), f"{(m - 1) ** 0.5:9.3f}")
saturating_batch.still()

# %% [markdown] lang="en"
r"""
In the row of m = 2, the inputs 0.1 and 1000 have nearly the same output. Without ε, both would be exactly 1. As long as two numbers differ by much more than √ε = 0.003, the larger becomes 1 and the smaller −1. **Of two numbers, only their order is left.**

Every m sets a limit, which the last column shows: no output can exceed $\sqrt{m - 1}$, however large the input is. *Going further* proves this.

But such a limit alone does not keep a network from learning. The trouble is the slope. The curve of m = 2 is flat nearly everywhere. The whole rise from −1 to 1 happens close to 0, where the two numbers nearly agree: the output is 0.156 for $x_1$ = 0.001, 0.845 for 0.01, and already 0.998 for 0.1.

Where the curve is flat, a change of the input does not change the output. The gradient is nearly 0, and in this step the layer in front learns almost nothing from this channel. You have seen this with the saturated $\tanh$ in lesson 01. On the steep part, on the other hand, the gradient is huge. So with m = 2 a channel gets either hardly any gradient or far too much. What this does over a whole epoch is a surprise, which *Going further* measures.

With m = 4, the other three numbers have a spread of their own. So for ordinary inputs, up to about 3, the curve rises smoothly. It flattens only for outliers.

If that is what goes wrong, the MLP should suffer from mini-batches of 2, where its m is 2. The convolutions should not, because their m is at least 32.
"""

# %% [markdown] lang="zh"
r"""
看 m = 2 那一行：输入是 0.1 还是 1000，输出几乎一样。要是没有 ε，就都正好是 1。只要两数之差远大于 √ε = 0.003，大的就变成 1，小的就变成 −1。**两个数归一化之后，只剩下谁大谁小**。

m 取多少，输出就有多高的上限。上限写在最后一列：输入再大，输出也不会超过 $\sqrt{m - 1}$（证明见选读）。

不过，输出有上限，还不至于让网络学不会，真正的麻烦在斜率。m = 2 的曲线几乎处处是平的，从 −1 到 1 的上升全挤在 0 附近，也就是两个数几乎相等的地方：$x_1$ = 0.001 时输出是 0.156，0.01 时是 0.845，到 0.1 已经是 0.998。

曲线平的地方，输入变了，输出不变，梯度接近 0。这一步里，前面那一层从这个通道几乎学不到东西，和第 01 课里饱和的 $\tanh$ 一样。陡的地方正相反。所以 m = 2 时，一个通道要么几乎得不到梯度，要么得到的梯度大得过分。哪一种危害更大，选读里会量。

m = 4 时，其余三个数本身就有一定的离散程度。对平常的输入，也就是 3 左右以内的数，曲线平缓地上升；只有遇到离群的数，曲线才变平。

如果病根就在这里，那么小批量只有 2 张图时，遭殃的应该是 MLP，因为它的 m 就是 2；卷积网络应该没事，因为它的 m 至少有 32。
"""

# %% [markdown] lang="en"
r"""
## Two networks learn to read

There are 1797 digits of 8 × 8 pixels. Of these, 1280 are for training and 517 for testing. `trained` trains a network for one *epoch*, which means that it sees each training image once. The learning rate is proportional to the batch size.
"""

# %% [markdown] lang="zh"
r"""
## 两个网络学认数字

一共有 1797 张手写数字，每张 8 × 8 个像素，1280 张用来训练，517 张用来测试。`trained` 把一个网络训练一**轮**（epoch），也就是每张训练图都看一遍，学习率与批量大小成正比。
"""

# %%
torch.manual_seed(0)
(images, labels), order = load_digits(), torch.randperm(1797)
images, labels = (images[order].unsqueeze(1) - images.mean()) / images.std(), labels[order]  # (N, C, H, W), (N,)


def trained(make, norm, batch_size, start, rate=0.05):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        net, order = make(norm), torch.randperm(1280)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate * batch_size / 32, momentum=0.9, fused=True)
    for batch in order.split(batch_size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
        optimizer.step()
    return net


# %% [markdown] lang="en"
r"""
`accuracy` returns how many percent of the test digits a network gets right in `eval()`. A single run says little, so `mean_accuracy` takes the mean of five runs with different random starts.
"""

# %% [markdown] lang="zh"
r"""
`accuracy` 切换到 `eval()`，算出测试准确率。只训练一次，结果有偶然性，所以 `mean_accuracy` 换五组随机初值各训练一次，取准确率的均值。
"""


# %%
def accuracy(net):
    with torch.inference_mode():
        return 100 * (net.eval()(images[1280:]).argmax(1) == labels[1280:]).float().mean().item()


def mean_accuracy(make, norm, batch_size, **options):
    return mean(accuracy(trained(make, norm, batch_size, start, **options)) for start in range(5))


# %% [markdown] lang="en"
r"""
The next cell trains both networks with mini-batches of 2, 3, 4 and 32. For comparison it also gives them two norms that treat each image by itself: LayerNorm over the whole image, `(C, H, W)` in the convolutions and `C` in the MLP, and GroupNorm with 8 groups. Neither depends on the batch size. The cell takes a moment to run.

**Predict first.** You know what to expect at batch size 2. But with which of the three does the MLP score best at batch size 32?
"""

# %% [markdown] lang="zh"
r"""
下一个单元格训练这两个网络，小批量分别取 2、3、4、32 张图。为了比较，再换上两种只看单张图的归一化，各训练一遍：一种是对整张图做的层归一化，在卷积网络里沿 `(C, H, W)`，在 MLP 里沿 `C`；另一种是分 8 组的组归一化。这两种的统计量都与批量大小无关。运行要等一会儿。

**先猜一猜**：批量大小为 2 时会怎样，你已经心里有数了。那么批量大小为 32 时，MLP 用哪一种归一化，准确率最高？
"""

# %% tags=["guess"]
questions.best_at_32()

# %% tags=["answer", "slow", "nbval-ignore-output"]
print(f"{'':25}     2     3     4    32")
for make in NORMS:
    for name, norm in NORMS[make].items():
        means = [mean_accuracy(make, norm, batch_size) for batch_size in (2, 3, 4, 32)]
        print(f"{make.__name__:14}{name:11}", *(f"{each:4.0f}%" for each in means))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It scores best with BatchNorm.

</details>

Start with the right column. At batch size 32, BatchNorm is the best of the three in both networks. The MLP gets 96% right with it, and 92% or 93% with the other two. In the convolutions its lead over LayerNorm is within the scatter of the random starts. So there is a reason to want BatchNorm, at least in this short training on small images.

Now look at the left column. Of the six numbers only one is bad, the one of the MLP with BatchNorm. The convolutions with BatchNorm score 94%, about the same as with larger batches. This is what m predicts. And the columns in between show how little is needed. With m = 3 the MLP already gets 89% right, and with m = 4 it is back at 92%, where the other norms are, though not yet at the 96% of m = 32.

But be careful. The two networks differ in more than m: one has convolutions and pooling, the other does not. Perhaps convolutions simply tolerate noise better. To know that it is m, we must change m, and as little else as possible.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用批量归一化，准确率最高。

</details>

先看最右边一列。批量大小为 32 时，两个网络都是用批量归一化最好。MLP 用它能认对 96%，用另外两种，只有 92%、93%；在卷积网络里，它与层归一化的差距没有超出随机初值带来的起伏。至少在这样短的训练、这样小的图上，批量归一化值得一用。

再看最左边一列。六个数里只有一个很差，就是用批量归一化的 MLP；卷积网络也用批量归一化，却认对 94%，和批量大的时候差不多。这正是按 m 推断的结果。中间两列还说明，m 不用很大：m = 3 时，MLP 已经能认对 89%；m 一到 4，就回到 92%，和另外两种归一化差不多，只是离 m = 32 的 96% 还有一段。

不过，先别急着下结论。两个网络的差别不只是 m，一个有卷积和池化，另一个没有。也许只是卷积更不怕干扰。要断定原因就是 m，就得改变 m，别的尽量不动。
"""

# %% [markdown] lang="en"
r"""
## Is it m, or is it the 2?

Two experiments will settle it.

In the first, the MLP keeps its mini-batches of 32, but each BatchNorm sees them **in pairs**, two rows at a time.

In the second, the convolutions keep their mini-batches of 2, but each pixel gets a mean of its own, instead of each channel. Then only the N images share a mean, and m = N.

**Your turn, one line.** Let `my_in_parts` split `x`, of shape `(N, C)`, into parts of `size` rows, apply the layer `norm` to each of them, and put the results together again. Try it on six rows, two at a time. You know what is left of two numbers, so the outputs should be −1, 1, −1, 1, 1, −1.
"""

# %% [markdown] lang="zh"
r"""
## 是因为 m，还是因为 2？

下面两个实验可以分清。

第一个实验里，MLP 的小批量仍是 32 张图，但每次只给批量归一化**两行**，也就是两两归一化。

第二个实验里，卷积网络的小批量仍是 2 张图，但不再是每个通道一个均值，而是每个像素一个均值。这样一来，共用一个均值的只有 N 张图上的 N 个数，m = N。

**轮到你了**，只写一行：`x` 的形状是 `(N, C)`。让 `my_in_parts` 把它分成几部分，每部分 `size` 行，各自通过 `norm` 这一层，再把结果拼起来。拿六行试一试，每次两行。两个数会剩下什么，你已经知道了，所以输出应该是 −1、1、−1、1、1、−1。
"""


# %% tags=["exercise"]
def my_in_parts(norm, x, size):
    return ...


x = torch.tensor([[1.0], [3], [5], [11], [4], [2]])  # (N, C)
print(my_in_parts(nn.BatchNorm1d(1, affine=False), x, 2))

# %% [markdown] lang="en"
r"""
Stuck? A tensor has the method `split`, and `torch.cat` joins a list of tensors.

<details><summary>The idea</summary>

`x.split(size)` returns the parts. Apply `norm` to each of them in a list, and pass this list to `torch.cat`.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？张量有 `split` 方法，`torch.cat` 能把列表里的张量拼起来。

<details><summary>思路</summary>

`x.split(size)` 返回分好的各部分。对每一部分用 `norm`，结果放进列表，再交给 `torch.cat`。

</details>
"""


# %% tags=["solution"]
def in_parts(norm, x, size):
    return torch.cat([norm(part) for part in x.split(size)])


parts = in_parts(nn.BatchNorm1d(1, affine=False), x, 2)
print(parts)
assert parts.flatten().round().tolist() == [-1, 1, -1, 1, 1, -1], "expected −1, 1, −1, 1, 1, −1"

# %% [markdown] lang="en"
r"""
Both experiments need a layer. `InPairs` uses `in_parts`. `each_pixel` treats each pixel of each channel as a channel of its own, and restores the shape afterwards. The maps with 16 channels are 8 × 8, and those with 32 channels are 4 × 4.
"""

# %% [markdown] lang="zh"
r"""
两个实验各要一种层。`InPairs` 用的是 `in_parts`。`each_pixel` 把每个通道的每个像素都当作单独的一个通道，归一化之后再恢复形状。16 个通道的特征图是 8 × 8，32 个通道的是 4 × 4。
"""


# %%
class InPairs(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):  # (N, C)
        return in_parts(self.norm, x, 2)


def each_pixel(channels):
    side = {16: 8, 32: 4}[channels]
    pixels = nn.BatchNorm1d(channels * side**2)
    return nn.Sequential(nn.Flatten(), pixels, nn.Unflatten(1, (channels, side, side)))


# %% [markdown] lang="en"
r"""
**Predict first.** Trained in mini-batches of 32, with `InPairs`, how many of the test digits will the MLP get right?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：小批量有 32 张图，归一化用 `InPairs`，训练出来的 MLP 能认对多少？
"""

# %% tags=["guess"]
questions.read_in_pairs()

# %% tags=["answer", "slow", "nbval-ignore-output"]
print(f"{'':25}     2    32")
for make, norm in ((mlp, nn.BatchNorm1d), (mlp, InPairs), (convolutions, nn.BatchNorm2d), (convolutions, each_pixel)):
    means = [mean_accuracy(make, norm, batch_size) for batch_size in (2, 32)]
    print(f"{make.__name__:14}{norm.__name__:11}", *(f"{each:4.0f}%" for each in means))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It gets about 65% right, as with mini-batches of 2.

</details>

This is m in each of the eight cases:

| | batch size 2 | batch size 32 |
|---|---|---|
| `mlp`, BatchNorm | m = 2 | m = 32 |
| `mlp`, in pairs | m = 2 | **m = 2** |
| `convolutions`, BatchNorm | **m = 128 and 32** | m = 2048 and 512 |
| `convolutions`, each pixel | m = 2 | m = 32 |

Compare the two tables. Wherever m is 2, the network does badly: the MLP scores about 65%, and the convolutions, with a mean for each pixel, even less. Wherever m is 32 or more, the network scores above 90%. The batch size does not separate the good from the bad. The 32 column has a bad number, the 2 column a good one.

`each_pixel` does change one more thing, because each pixel gets a γ and a β of its own. But that is not what breaks the network: with m = 32 it still scores 91%.

So what fails is **a BatchNorm with m = 2**, whatever the batch size.

## Is a large m enough?

No. In 2018 Wu and He trained a much larger network, ResNet-50, on photos, and gave each GPU fewer and fewer of them. Its smallest feature maps are 7 × 7, so even with 2 images per GPU, m is 2 · 7 · 7 = 98 or more. Yet the error rises by 11 points (in %, [table 2](https://arxiv.org/abs/1803.08494)):

| images per GPU | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| BatchNorm | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| GroupNorm | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

One reason may be that neighboring pixels are alike, so that 98 of them are worth fewer independent numbers (*Going further* measures this). Another may be that the statistics in `eval()` differ too much from those of single mini-batches. The table cannot say which. Either way, m only says how many numbers take part, not how many of them are independent. If m is 2, BatchNorm fails. If it is large, you still have to test.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大约 65%，和小批量只有 2 张图时一样。

</details>

八种情况下的 m 如下：

| | 批量大小为 2 | 批量大小为 32 |
|---|---|---|
| `mlp`，批量归一化 | m = 2 | m = 32 |
| `mlp`，两两归一化 | m = 2 | **m = 2** |
| `convolutions`，批量归一化 | **m = 128 和 32** | m = 2048 和 512 |
| `convolutions`，每个像素 | m = 2 | m = 32 |

两张表对照着看。m = 2 时，准确率都很差：MLP 在 65% 上下，每个像素一个均值的卷积网络还要低。m 不小于 32，准确率就都超过 90%。批量大小却分不开好坏：32 那一列有差的，2 那一列有好的。

严格说来，`each_pixel` 不只改变了 m，它还让每个像素有了自己的 γ 和 β。不过弄坏网络的不是这一点，因为 m = 32 时，它照样能认对 91%。

可见，**m = 2 的批量归一化会失效**，批量大小是多少都一样。

## m 够大，就没事了吗？

不一定。2018 年，吴育昕和何恺明用照片训练一个大得多的网络 ResNet-50，让每块 GPU 分到的图越来越少。它最小的特征图是 7 × 7，所以每块 GPU 即使只有 2 张图，m 也不小于 2 × 7 × 7 = 98，而错误率还是高了 11 个百分点（单位是 %，见[表 2](https://arxiv.org/abs/1803.08494)）：

| 每块 GPU 的图像数 | 32 | 16 | 8 | 4 | 2 |
|---|---|---|---|---|---|
| 批量归一化 | 23.6 | 23.7 | 24.8 | 27.3 | 34.7 |
| 组归一化 | 24.1 | 24.2 | 24.0 | 24.2 | 24.1 |

原因可能是相邻的像素彼此相似，98 个像素抵不上同样多个独立的数（见选读）；也可能是 `eval()` 用的统计量与单个小批量的相差太远。光看这张表，分不清是哪一种。总之，m 只说明有多少个数参与，不说明其中有多少是独立的。m = 2 不行；m 很大，也还要试过才知道。
"""

# %% [markdown] lang="en"
r"""
## What other code does differently

**More GPUs, one mean.** `nn.SyncBatchNorm` merges the statistics of all GPUs, so that the whole batch counts toward m again. `nn.SyncBatchNorm.convert_sync_batchnorm(net)` replaces every BatchNorm of a network, and in Keras you write `BatchNormalization(synchronized=True)`. *Going further* shows how the merging works.

**Gradient accumulation.** If only 2 images fit into memory, one can average the gradients of 16 mini-batches before each step. For most layers that is the same as one mini-batch of 32, but not for BatchNorm. Each mini-batch is normalized by itself, exactly as with `InPairs`, so m remains 2.

**Frozen statistics.** Detectors are often trained with one or two photos per GPU. Many of them start from a trained network and keep the means and variances that it has stored, in training as well. torchvision's `FrozenBatchNorm2d` keeps everything in it fixed, γ and β included. Do not simply call `eval()` on these layers, because the next `net.train()` undoes it.

## In short

* m is how many numbers share one mean: N after a linear layer, N·H·W after a convolution, counted on each GPU by itself.
* With m = 2, only the order of the two numbers is left. The gradient is nearly 0, unless the two numbers nearly agree; then it is huge. No output can exceed $\sqrt{m - 1}$.
* Both networks failed where m was 2, even at batch size 32. Where m was 32 or more, they did well, even at batch size 2.
* At batch size 32, BatchNorm was the best of three norms in both networks, at this learning rate; its lead over LayerNorm in the convolutions is within the scatter of the starts.
* A large m is no guarantee.
"""

# %% [markdown] lang="zh"
r"""
## 别的代码怎么写

**几块 GPU 共用一个均值**：`nn.SyncBatchNorm` 把各块 GPU 的统计量合并起来，m 就重新按整个批量计算。调用 `nn.SyncBatchNorm.convert_sync_batchnorm(net)`，就会替换网络里所有的批量归一化；在 Keras 里，写 `BatchNormalization(synchronized=True)`。怎样合并，选读里有。

**梯度累积**：显存只放得下 2 张图时，可以把 16 个小批量的梯度求平均，再更新一次参数。对多数层来说，这等于一个 32 张图的小批量，对批量归一化却不是。每个小批量仍然各自归一化，和 `InPairs` 做的完全一样，所以 m 还是 2。

**冻结统计量**：训练检测模型时，每块 GPU 往往只有一两张照片。这类模型多半从训练好的网络出发，训练时也一直沿用原来存下的均值和方差。torchvision 的 `FrozenBatchNorm2d` 把这一层里的数全都固定住，连 γ 和 β 也不变。不要只对这些层调用 `eval()`，因为下一次调用 `net.train()`，它们又会变回去。

## 小结

* m 是共用一个均值的数的个数：线性层之后是 N，卷积之后是 N × H × W，每块 GPU 各数各的。
* m = 2 时，只剩下谁大谁小。梯度接近 0，除非两个数几乎相等，那时梯度又大得出奇。任何输出都不会超过 $\sqrt{m - 1}$。
* m = 2，两个网络就都失败，批量大小是 32 也没用；m 不小于 32，就都认得好，批量大小是 2 也没事。
* 批量大小为 32 时，在这样的学习率下，两个网络都是用批量归一化最好；不过在卷积网络里，它与层归一化的差距，没有超出随机初值带来的起伏。
* m 很大，也不保证没有问题。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. In training, a `BatchNorm2d` sees 2 images with feature maps of 4 × 4. How large can one of its outputs be, before γ and β? And if the maps are 1 × 1?

<details><summary>Answer</summary>

With 4 × 4, m is 2 · 4 · 4 = 32, so an output is at most √31 = 5.57. With 1 × 1, m is 2, so it is at most 1.

</details>

2. A network with BatchNorm after its linear layers trains on 1297 samples, in mini-batches of 4. After 324 steps it stops with the error `Expected more than 1 value per channel when training`. What happened, and what helps?

<details><summary>Answer</summary>

1297 = 324 · 4 + 1, so the last mini-batch holds a single sample, and m is 1. A single number is its own mean, so nothing is left of it. With `drop_last=True` a `DataLoader` skips this mini-batch.

</details>

3. Only 2 images fit on your single GPU. Your network has a BatchNorm after each convolution, and its smallest feature maps are 20 × 20. Do you keep BatchNorm?

<details><summary>Answer</summary>

m is 2 · 20 · 20 = 800 or more, so much more than their order survives. But ResNet-50 lost 11 points with 98, and nothing in this lesson says what happens at 800. So train it with GroupNorm as well, and compare.

</details>

The next cell checks the first two answers.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 训练时，`BatchNorm2d` 看到 2 张图，特征图是 4 × 4。乘 γ、加 β 之前，它的输出最大能到多少？特征图是 1 × 1 呢？

<details><summary>答案</summary>

4 × 4 时，m = 2 × 4 × 4 = 32，输出不超过 √31 = 5.57。1 × 1 时，m = 2，输出不超过 1。

</details>

2. 一个网络在线性层之后用批量归一化，用 1297 个样本训练，批量大小为 4。训练到第 324 步之后，程序报错：`Expected more than 1 value per channel when training`。发生了什么？怎么办？

<details><summary>答案</summary>

1297 = 324 × 4 + 1，所以最后一个小批量只有一个样本，m = 1。只有一个数，均值就是它自己，减完什么也不剩。给 `DataLoader` 加上 `drop_last=True`，就会跳过这个小批量。

</details>

3. 你只有一块 GPU，只放得下 2 张图。网络里每个卷积之后都有批量归一化，最小的特征图是 20 × 20。批量归一化还留着吗？

<details><summary>答案</summary>

m 不小于 2 × 20 × 20 = 800，剩下的远不只是谁大谁小。但是 ResNet-50 的 m 有 98，错误率还是高了 11 个百分点；m 是 800 时会怎样，这一课没有数据。所以用组归一化也训练一遍，比较之后再决定。

</details>

下一个单元格验算前两题。
"""

# %% tags=["answer"]
for side in (4, 1):
    x = torch.zeros(2, 1, side, side)  # (N, C, H, W)
    x[0, 0, 0, 0] = 1000
    print(f"1.   {side} × {side}   {nn.BatchNorm2d(1)(x).max():.2f}")
parts = torch.arange(1297).split(4)
print(f"2.   {len(parts) - 1}   {len(parts[-1])}")

# %% [markdown] lang="en"
r"""
## Read next

* Where the table and GroupNorm come from: [Group Normalization](https://arxiv.org/abs/1803.08494), Wu and He 2018.
* The code: [torch's SyncBatchNorm](https://github.com/pytorch/pytorch/blob/main/torch/nn/modules/_functions.py) gathers the statistics of every GPU.
* Everything that can go wrong with the batch: [Rethinking "Batch" in BatchNorm](https://arxiv.org/abs/2105.07576), Wu and Johnson 2021.

LayerNorm takes its statistics from a single token, so its m is the number of features, and no batch can make it small. [Lesson 05](05_layer_norm.ipynb) writes it exactly.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 上面那张表，还有组归一化，都出自：[Group Normalization](https://arxiv.org/abs/1803.08494)，吴育昕和何恺明，2018。
* 代码：[torch 的 SyncBatchNorm](https://github.com/pytorch/pytorch/blob/main/torch/nn/modules/_functions.py)，收集每块 GPU 的统计量。
* 批量带来的各种问题：[Rethinking "Batch" in BatchNorm](https://arxiv.org/abs/2105.07576)，吴育昕和 Justin Johnson，2021。

层归一化只从一个词元取统计量，它的 m 就是特征数，批量再小也影响不到它。[第 05 课](05_layer_norm.ipynb)就来写它，写得一点不差。
"""

# %% [markdown] lang="en"
r"""
## Going further: several GPUs

After a linear layer, on 16 GPUs with 2 images each, m is 2. SyncBatchNorm makes it 32 again: each GPU sends its statistics to all the others, and merges what it receives. What must it send?

The mean of a part is needed, and also its *count*, the number of its numbers, because a larger part counts for more. The third quantity is **M2**, the sum of the squared distances from the part's own mean. It is m·σ², the variance before it is divided by the count. torch's SyncBatchNorm actually sends the mean, the count and $1 / \sqrt{\sigma^2 + \varepsilon}$, from which M2 follows. Here are two parts:

| part | numbers | count | mean | M2 |
|---|---|---|---|---|
| a | 1, 3 | 2 | 2 | 1 + 1 = 2 |
| b | 3, 5, 5, 7 | 4 | 5 | 4 + 0 + 0 + 4 = 8 |

The common mean is the mean of the means, weighted by the counts: (2 · 2 + 4 · 5) / 6 = 4. M2 is harder, because each part has measured from its own mean. Drag part b and watch which M2 changes.
"""

# %% [markdown] lang="zh"
r"""
## 选读：多块 GPU

16 块 GPU，每块 2 张图，线性层之后的 m 就是 2。SyncBatchNorm 能让它变回 32：每块 GPU 都把自己的统计量发给别人，再把收到的合并起来。要发哪些呢？

每一部分都要发自己的均值，还要发**个数**，因为数多的那一部分应当占得更多。第三样是 **M2**，也就是各数与自己那部分均值之差的平方和。它等于 m × σ²，也就是还没有除以个数的方差。torch 的 SyncBatchNorm 实际上发的是均值、个数和 $1 / \sqrt{\sigma^2 + \varepsilon}$，由它们可以算出 M2。下面是两部分：

| 部分 | 数 | 个数 | 均值 | M2 |
|---|---|---|---|---|
| a | 1、3 | 2 | 2 | 1 + 1 = 2 |
| b | 3、5、5、7 | 4 | 5 | 4 + 0 + 0 + 4 = 8 |

共同的均值，就是两个均值按个数加权：(2 × 2 + 4 × 5) / 6 = 4。M2 要难一些，因为每一部分都是从自己的均值量起的。拖动部分 b，看看哪个 M2 会变。
"""

# %% tags=["panel"]
two_parts.panel()

# %% [markdown] lang="en"
r"""
The M2 of each part stays as it is, because the distances within a part do not change. Only the M2 of both together depends on where b is.

Back at 0, the common mean 4 lies 2 away from the mean of a. Measured from there, the squared distances of a's 2 numbers are larger by 2² on average. The mean of b is 1 away, so the squared distances of its 4 numbers are larger by 1² on average. This leaves 2 + 8 = 10 within the parts, and 2 · 2² + 4 · 1² = 12 between them. Together that is 22.

Write this as a function. From the count, the mean and the M2 of two parts, return those of both together, as a tuple in this order. The counts are integers, and the means and M2s are tensors of one shape. A part may be empty, and then all three are 0.
"""

# %% [markdown] lang="zh"
r"""
每一部分自己的 M2 都不变，因为部分内部的距离没有变。只有合起来的 M2，才与 b 在哪里有关。

把 b 放回 0。共同的均值是 4，与 a 的均值相距 2，改从那里量起，a 的 2 个数，距离的平方平均增加 2²；与 b 的均值相距 1，b 的 4 个数，距离的平方平均增加 1²。这样，各部分内部是 2 + 8 = 10，两部分之间是 2 × 2² + 4 × 1² = 12，合起来是 22。

请把它写成函数：由两部分各自的个数、均值和 M2，求出合起来的这三样，按这个次序放进元组返回。个数是整数，均值和 M2 是形状相同的张量。某一部分可以是空的，这时三样都是 0。
"""


# %% tags=["exercise"]
def my_merge_statistics(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    return ...


check("merge_statistics", my_merge_statistics)

# %% [markdown] lang="en"
r"""
Stuck? Do it with the six numbers first, and compare with the panel.

<details><summary>The idea</summary>

The common mean lies between the two means. Start at the mean of a and go toward that of b, by the share that b has in the count. Then each M2 grows by the square of the step from its own mean to the common one, once for each number. If you divide only by the common count, an empty part does no harm.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先用那六个数算一遍，和面板对照。

<details><summary>思路</summary>

共同的均值在两个均值之间：从 a 的均值出发，朝 b 的均值走，走多远由 b 的个数所占的比例决定。每一部分的 M2 都要增加，增加的是自己的均值到共同均值这段距离的平方，有几个数就加几份。只除以总个数，空的部分就不会出错。

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
Now use it for something that BatchNorm refuses: 32 GPUs with **one** image each. Each part has count 1, its mean is the number itself, and its M2 is 0. `merging` makes a norm that merges 32 such parts with your function (or with ours, until `check` accepts yours).

The next cell trains the MLP with it, and then with two mistakes. `within_only` leaves out what lies between the parts, and `plain_mean` takes the mean of two means without their counts.
"""

# %% [markdown] lang="zh"
r"""
写好之后，用它做一件批量归一化拒绝做的事：32 块 GPU，每块只有**一**张图。每一部分的个数是 1，均值就是那个数自己，M2 是 0。`merging` 造出一种归一化层，用你的函数合并这 32 部分（还没通过 `check` 的话，就先用课程自带的函数）。

下一个单元格用它训练 MLP，再换上两种错误的写法：`within_only` 漏掉了两部分之间的那一项，`plain_mean` 求两个均值的平均，却不看个数。
"""

# %% tags=["slow", "nbval-ignore-output"]
merge = checked_or_reference("merge_statistics", my_merge_statistics)


def within_only(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, mean, _ = merge(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, mean, m2_a + m2_b


def plain_mean(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count, _, m2 = merge(count_a, mean_a, m2_a, count_b, mean_b, m2_b)
    return count, (mean_a + mean_b) / 2, m2


for function in (merge, within_only, plain_mean):
    print(f"{function.__name__:20}{mean_accuracy(mlp, merging(function), 32):4.0f}%")

# %% [markdown] lang="en"
r"""
With a correct function the network gets 96% right, as if all 32 images were on one GPU. With `within_only` it gets 9%, which is no better than guessing. A part of one number has no spread, so M2 stays 0, and BatchNorm divides by √ε = 0.003. With `plain_mean` the early images hardly count, because each merge halves their weight, and the network scores about 88%.

What happens on real GPUs can be seen on a CPU, with two processes in place of two GPUs. PyTorch's launcher `torchrun` starts them, one with 3 samples and one with 5. They exchange counts, means and M2, merge them, and each normalizes its own samples.
"""

# %% [markdown] lang="zh"
r"""
函数写对了，准确率就是 96%，和 32 张图都在一块 GPU 上一样。换成 `within_only`，只有 9%，和乱猜差不多：一部分只有一个数，内部什么差别也没有，M2 始终是 0，批量归一化的除数只剩下 √ε = 0.003。换成 `plain_mean`，每合并一次，前面各图所占的份量就减半，最后几乎不起作用，准确率是 88% 左右。

在真正的多块 GPU 上会怎样，用 CPU 也能看到，只要用两个进程代替两块 GPU。PyTorch 的启动命令 `torchrun` 启动两个进程，一个有 3 个样本，一个有 5 个。它们交换个数、均值和 M2，合并之后，再各自归一化自己的样本。
"""

# %% tags=["slow"]
from blocklab_course.lessons.small_batches import two_processes

print(two_processes.run())

# %% [markdown] lang="en"
r"""
Merged, the outputs are those of a single process. Each process for itself would be off by a lot, because the samples of the two are so different.
"""

# %% [markdown] lang="zh"
r"""
合并之后，输出和只用一个进程时完全一样。各算各的，就差得很远，因为两个进程的样本本来就很不一样。
"""

# %% [markdown] lang="en"
r"""
## Going further: is it training, or `eval()`?

The accuracies were measured in `eval()`, with the means and variances that BatchNorm had stored (lesson 03). So the MLP with m = 2 may have learned well after all, and only these stored numbers, averages over noisy pairs, may be useless. Two repairs will tell us which.

The first stores better statistics. With `momentum` = 1, a single pass over all 1280 training images in `train()` stores their exact means and variances. The second uses no stored statistics at all: in `train()`, the network gets all 517 test digits as one large batch.

`stored`, `recounted` and `train()` are the accuracies as before, after the first repair, and with the second.
"""

# %% [markdown] lang="zh"
r"""
## 选读：坏在训练，还是坏在 `eval()`？

前面的准确率都是在 `eval()` 下测的，用的是批量归一化存下来的均值和方差（见第 03 课）。所以，m = 2 的 MLP 也许学得并不差。存下来的统计量可能太不准，因为它们是从一对一对的数里平均出来的，起伏太大。有两种办法可以检验。

第一种办法是存下更准的统计量。把 `momentum` 设成 1，在 `train()` 下让 1280 张训练图一次通过，存下来的就是它们准确的均值和方差。第二种办法是干脆不用存下来的统计量，在 `train()` 下把 517 张测试图放进一个大的小批量，一次认完。

下面打印三种准确率：`stored` 是原来的，`recounted` 是用第一种办法之后的，`train()` 是第二种办法的。
"""


# %% tags=["slow", "nbval-ignore-output"]
def repaired(net):
    found = [accuracy(net)]
    with torch.no_grad():
        net[2].momentum = net[5].momentum = 1
        net.train()(images[:1280])
        found.append(accuracy(net))
        found.append(100 * (net.train()(images[1280:]).argmax(1) == labels[1280:]).float().mean().item())
    return found


print("     stored  recounted  train()")
for size in (2, 32):
    found = [repaired(trained(mlp, nn.BatchNorm1d, size, start)) for start in range(5)]  # (starts, 3)
    print(f"{size:3}" + "".join(f"{mean(each):8.0f}%" for each in zip(*found, strict=True)))

# %% [markdown] lang="en"
r"""
Neither repair helps. So the weights themselves are bad, and it was training that failed.
"""

# %% [markdown] lang="zh"
r"""
哪一种办法都救不回来。可见权重本身就没学好，是训练失败了。
"""

# %% [markdown] lang="en"
r"""
## Going further: what two numbers do to the gradient

The lesson claimed that with m = 2 a channel gets either hardly any gradient or far too much. The next cell measures this at the very first step, for the 128 channels of the MLP's first layer, with 200 random starts and mini-batches. For each channel it takes the length of the gradient of its row of weights. `largest` is the largest of the 128 lengths (the median over the 200 runs), and `< 0.001` is the share of the channels whose gradient is shorter than that. This threshold is about 1/300 of `largest` with m = 32.

The last two lines sort the channels for m = 2 by their `gap`, the difference of their two numbers.
"""

# %% [markdown] lang="zh"
r"""
## 选读：只有两个数时，梯度会怎样？

正文里说，m = 2 时，一个通道要么几乎得不到梯度，要么得到的大得过分。下一个单元格在训练的第一步量一量：MLP 的第一层有 128 个通道，对每个通道，取它那一行权重的梯度长度。一共取 200 组随机初值和小批量。`largest` 是 128 个长度里最大的（再取 200 组的中位数），`< 0.001` 是梯度长度比这还小的通道所占的比例。这个界限大约是 m = 32 时 `largest` 的 1/300。

最后两行只看 m = 2，把通道按两个数之差 `gap` 分开。
"""


# %% tags=["slow", "nbval-ignore-output"]
def first_step(m, start):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        net, batch = mlp(nn.BatchNorm1d), torch.randperm(1280)[:m]
    x = net[:2](images[batch])  # (m, 128)
    nn.functional.cross_entropy(net[2:](x), labels[batch]).backward()
    return net[1].weight.grad.norm(dim=1), (x.amax(0) - x.amin(0)).detach()  # (128,), (128,)


for m in (32, 4, 2):
    gradients, gaps = map(torch.stack, zip(*(first_step(m, start) for start in range(200)), strict=True))  # (200, 128)
    tiny = (gradients < 0.001).float().mean()
    print(f"m = {m:2}      largest {gradients.amax(1).median():6.2f}   < 0.001: {tiny:4.0%}")
for name, those in (("gap < 0.02", gradients[gaps < 0.02]), ("gap > 0.3 ", gradients[gaps > 0.3])):
    print(f"{name}   median {those.median():7.4f}   < 0.001: {(those < 0.001).float().mean():4.0%}")

# %% [markdown] lang="en"
r"""
With m = 2, the largest gradient is more than 100 times as large as with m = 32, and yet about two thirds of the channels get practically none. With m = 4, hardly any channel is without a gradient.

Large gradients belong to channels whose two numbers differ by less than 0.02. These are the channels on the steep part of the curve: for equal numbers its slope is $1 / (2\sqrt{\varepsilon}) = 158$. Where the two numbers differ by more than 0.3, nearly all gradients are below 0.001.

That is a single step. Over an epoch the pairs change, so each channel has its turn on the steep part. `moved` compares the weights of the first layer before and after the epoch. For each channel it divides the length of the change by the length of the initial weights. The cell prints the 10th percentile (10% of the channels stay below it), the median, and the accuracy. The last line trains with a tenth of the learning rate.
"""

# %% [markdown] lang="zh"
r"""
m = 2 时，最大的梯度是 m = 32 时的 100 多倍，同时又有大约三分之二的通道几乎得不到梯度。m = 4 时，几乎每个通道都有梯度。

梯度大的，是两个数相差不到 0.02 的通道，它们正好落在曲线陡的地方：两个数相等时，斜率是 $1 / (2\sqrt{\varepsilon}) = 158$。两个数相差超过 0.3 的通道，梯度几乎都小于 0.001。

这只是一步。在一轮训练里，每一步配成对的图都不同，每个通道都会轮到陡的地方。`moved` 比较第一层的权重在这一轮前后的差别：对每个通道，用权重变化的长度除以初始权重的长度。下面打印三个数：第 10 百分位数（10% 的通道低于它）、中位数、准确率。最后一行用十分之一的学习率训练。
"""


# %% tags=["slow", "nbval-ignore-output"]
def moved(net, start):
    with torch.random.fork_rng():
        torch.manual_seed(start)
        before = mlp(nn.BatchNorm1d)[1].weight  # (128, 64)
    return ((net[1].weight - before).norm(dim=1) / before.norm(dim=1)).detach()  # (128,)


print("                     10%   median")
for m, rate in ((32, 0.05), (2, 0.05), (2, 0.005)):
    nets = [trained(mlp, nn.BatchNorm1d, m, start, rate) for start in range(5)]
    lengths = torch.cat([moved(net, start) for start, net in enumerate(nets)])
    tenth, middle = lengths.quantile(0.1), lengths.median()
    print(f"m = {m:2}  rate = {rate:5}  {tenth:5.1f}{middle:9.1f}{mean(map(accuracy, nets)):8.0f}%")

# %% [markdown] lang="en"
r"""
With m = 32, the median channel has moved by half the length of its initial weights. With m = 2 it has moved by more than four times that length, and nine channels in ten have moved farther than their initial weights are long.

So the weights do not stay where they are. They move, and a lot. But distance is not the whole damage: at a tenth of the learning rate they move only twice as far as with m = 32, and the network still gets only 67% right. So what they learn is bad, not only how far they go. Then the network should do better when these weights are not trained at all. `frozen` makes an MLP whose two hidden linear layers keep their random initial weights. The norms and the last layer still learn.
"""

# %% [markdown] lang="zh"
r"""
m = 32 时，通道的权重移动的距离，中位数是初始长度的一半；m = 2 时是四倍多，而且十个通道里有九个超过一倍。

可见这些权重不是没有动，而是动了很多。但坏处不只是走得远：学习率减到十分之一，它们走的距离只有 m = 32 时的两倍，准确率却还是只有 67%。也就是说，它们学到的东西本身就不好。既然如此，干脆不训练它们，网络反而应该更好。`frozen` 造出的 MLP，两个隐藏的线性层一直保持随机的初始权重，其余的参数照常训练。
"""


# %% tags=["slow", "nbval-ignore-output"]
def frozen(norm):
    net = mlp(norm)
    net[1].requires_grad_(False)
    net[4].requires_grad_(False)
    return net


print("         mlp   frozen")
for m in (2, 4, 32):
    free, fixed = (mean_accuracy(make, nn.BatchNorm1d, m) for make in (mlp, frozen))
    print(f"m = {m:2}{free:6.0f}%{fixed:8.0f}%")

# %% [markdown] lang="en"
r"""
With m = 4 and m = 32, the frozen network is worse, as one would expect: training the hidden layers is worth a few percent. With m = 2 it is the other way around. The frozen network gets about 83% right, and the trained one about 65%. So with m = 2 training does damage: it leaves these layers worse than random ones.
"""

# %% [markdown] lang="zh"
r"""
m = 4 和 m = 32 时，冻结之后准确率更低，这不奇怪，因为训练隐藏层能提高几个百分点。m = 2 时正好相反：冻结的能认对 83% 左右，训练过的只有 65% 左右。可见 m = 2 时，训练反而有害：练出来的隐藏层，比随机的还差。
"""

# %% [markdown] lang="en"
r"""
## Going further: why √(m − 1)?

Let $x_1 = a$ be so far away that the other numbers are as good as 0. Then the mean is $a / m$ and the standard deviation is $a \sqrt{m - 1} / m$, so

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

No output can exceed this. The m outputs add up to 0, and their squares add up to m at most (with ε, to slightly less). Suppose that one of them is $y$. Then the other $m - 1$ add up to $-y$, so their squares add up to at least $y^2 / (m - 1)$. From $y^2 + y^2 / (m - 1) \le m$ we get $|y| \le \sqrt{m - 1}$.
"""

# %% [markdown] lang="zh"
r"""
## 选读：为什么是 √(m − 1)？

设 $x_1 = a$ 离其余的数很远，远到它们都可以看作 0。这时均值是 $a / m$，标准差是 $a \sqrt{m - 1} / m$，所以

$$\hat{x}_1 = \frac{a - a / m}{a \sqrt{m - 1} / m} = \sqrt{m - 1}$$

任何输出都不会超过它。m 个输出之和是 0，平方和不超过 m（有 ε，还要小一点）。设其中一个是 $y$，其余 $m - 1$ 个之和就是 $-y$，它们的平方和至少是 $y^2 / (m - 1)$。由 $y^2 + y^2 / (m - 1) \le m$，得 $|y| \le \sqrt{m - 1}$。
"""

# %% [markdown] lang="en"
r"""
## Going further: how good is a mean of m numbers?

A small m has another disadvantage: the mean of a mini-batch is off by chance. If the numbers are independent and have the standard deviation σ, the means of many mini-batches have the standard deviation $\sigma / \sqrt{m}$. The pixels of an image are not independent, though, because neighbors are alike. The next cell compares both, with σ = 1. The last line is for 4 images of 14 × 14, where each pixel is the average of 3 × 3 random numbers, scaled to σ = 1.
"""

# %% [markdown] lang="zh"
r"""
## 选读：m 个数的均值有多准？

m 小还有一个坏处：小批量的均值有随机误差。如果各数相互独立，标准差都是 σ，那么许多个小批量的均值，标准差是 $\sigma / \sqrt{m}$。不过，图像的像素并不独立，相邻的像素总是相似的。下一个单元格取 σ = 1，把两种情况比一比。最后一行是 4 张 14 × 14 的图，每个像素都是 3 × 3 个随机数的平均，再放大到 σ = 1。
"""

# %%
torch.manual_seed(0)
for m in (2, 4, 32, 784):
    print(f"m = {m:3}   {torch.randn(4000, m).mean(1).std():.3f}   1 / √m = {m**-0.5:.3f}")
noise = torch.randn(4000, 4, 16, 16)
alike = 3 * nn.functional.avg_pool2d(noise, 3, stride=1)  # (4000, 4, 14, 14)
spread = alike.flatten(1).mean(1).std()
print(f"m = 784   {spread:.3f}   1 / {spread:.3f}² = {1 / spread**2:.0f}")

# %% [markdown] lang="en"
r"""
The first four lines follow the rule. In the last line, though, the mean varies nearly three times as much as it would with independent numbers. For the mean, these 784 pixels are worth only about 100 independent numbers. So m overstates how much data BatchNorm has.
"""

# %% [markdown] lang="zh"
r"""
前四行符合上面的规律。到了最后一行，均值的起伏几乎是各数独立时的三倍。就均值而言，这 784 个像素大约只相当于 100 个独立的数。可见，只看 m，会高估批量归一化手里的数据。
"""

# %% [markdown] lang="en"
r"""
## Going further: sentences and padding

Why do Transformers not use BatchNorm? A batch of two sentences shows one reason. Shorter sentences are filled up with *padding*. Here the last two tokens of the second sentence become padding, which is 0 in this example. The cell prints by how much the outputs of the **first** sentence change, in training.
"""

# %% [markdown] lang="zh"
r"""
## 选读：句子与填充

Transformer 为什么不用批量归一化？拿一个有两个句子的小批量，就能看出一个原因。句子有长有短，短的要补上没有意义的词元，叫作**填充**（padding）。下面把第二句的最后两个词元换成填充，这里一律填 0，然后看训练时**第一句**的输出变了多少。
"""

# %%
torch.manual_seed(0)
text = torch.randn(2, 5, 8)  # (N, L, d)
padded = text.clone()
padded[1, 3:] = 0
layer, batch = nn.LayerNorm(8), nn.BatchNorm1d(8)
for name, norm in (("LayerNorm", layer), ("BatchNorm", lambda x: batch(x.mT).mT)):
    print(f"{name}   {(norm(text)[0] - norm(padded)[0]).abs().max():.2f}")

# %% [markdown] lang="en"
r"""
BatchNorm changes the first sentence, because the padding of the second one enters its statistics. LayerNorm looks at each token alone. There are other reasons. [Shen and others](https://arxiv.org/abs/2003.07845) found that in training the statistics of text fluctuate strongly from batch to batch.
"""

# %% [markdown] lang="zh"
r"""
用批量归一化，第一句的输出变了，因为第二句的填充混进了统计量。层归一化对每个词元单独计算，所以不受影响。原因还不止这一个：[Shen 等人](https://arxiv.org/abs/2003.07845)发现，训练时文本的统计量在各个小批量之间起伏很大。
"""
