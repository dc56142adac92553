# %% [markdown] lang="en"
r"""
# 02 Which numbers share one mean?

Add 10 to a single number of a tensor, send the tensor through a normalization layer, and look at what comes out. Some layers change a handful of outputs, others half of them, and one changes an image that nobody has touched. So one such poke tells which numbers a layer mixes, whatever its name says, and exposes wrong axes, too.

That works because BatchNorm, LayerNorm, InstanceNorm and GroupNorm are one formula. In training, and before a learned scale and shift, they differ in one thing only, **which numbers share one mean**. The 61 norms of lesson 00's chat model average over other axes than lesson 01's BatchNorm, and wrong axes raise no error. So first we learn to see them.

Afterwards you can say for any layer which numbers share a mean, write BatchNorm and LayerNorm in one line each, find a silent layout mistake, and see your LayerNorm at work in a trained network. It takes about 45 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 02 哪些数共用一个均值？

取一个张量，只给其中一个数加上 10，再送进归一化层，看看输出。有的层只有零星几个输出改变，有的层改变一半，还有一种层，连没人碰过的图像也跟着变。像这样只改动一个数，我们叫作**推一下**。一个层把哪些数混在一起，不用看它叫什么，推一下就知道；要是沿错了轴，一推也会露馅。

这是因为批量归一化（BatchNorm）、层归一化（LayerNorm）、实例归一化（InstanceNorm）和组归一化（GroupNorm）用的是同一个公式。训练时，先不管后面的缩放和平移，区别就只在于**哪些数共用一个均值**。第 00 课的聊天模型里有 61 个归一化层，它们沿的轴与第 01 课的批量归一化不同；沿错了轴，程序也不报错。所以先要学会看轴。

学完这一课，不论哪种归一化层，你都能说出哪些数共用一个均值；批量归一化和层归一化，你各用一行就能写出来；你还会找到一种不报错的布局错误，并看着自己写的层归一化在训练好的网络里工作。大约需要 45 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from blocklab import standardize
from blocklab_course.pretrained.digits import load_digits
from blocklab_course import check, plug_in
from blocklab_course.workspace.solutions import load
from blocklab_course.lessons.norm_axes import axis_painter, dimmed_digit, layout_trap, poke_one_number

# %% [markdown] lang="en"
r"""
## Two questions first

1. `x` has the shape `(2, 4)`. What are the shapes of `x.mean(0)` and `x.mean(-1)`?
2. In lesson 00 the input grew a million times, and LayerNorm's output did not change. Why?

<details><summary>Answers</summary>

1. `(4,)` and `(2,)`. The axis that you name is the one that disappears.
2. The standard deviation grows by the same factor, and the division cancels it.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. `x` 的形状是 `(2, 4)`，`x.mean(0)` 和 `x.mean(-1)` 的形状各是什么？
2. 第 00 课里，输入放大到一百万倍，层归一化的输出却没有变。为什么？

<details><summary>答案</summary>

1. 分别是 `(4,)` 和 `(2,)`。写哪个轴，哪个轴就消失。
2. 输入放大多少倍，标准差也放大多少倍，一除就抵消了。

</details>
"""

# %% [markdown] lang="en"
r"""
## Poke one number

The layers of this lesson subtract a mean and divide by a standard deviation. But of which numbers? A batch of images has the shape `(N, C, H, W)`: N samples with C *channels* each (red, green and blue, or features that a layer has computed), and every channel is a plate of H rows and W columns. Here it is drawn as blocks, samples side by side. Click on *one* block and push it. Every block whose **output** changes turns orange and is raised. On the right stands every output before (○) and after (●).

**Predict first.** The layer is BatchNorm, and one of the 2 × 4 × 3 × 3 = 72 numbers is pushed. How many outputs move? Choose, then drag *push*.
"""

# %% [markdown] lang="zh"
r"""
## 推一推：只改一个数

这一课的归一化层，都要减去均值，再除以标准差。可是，是哪些数的均值？一批图像的形状是 `(N, C, H, W)`：N 个样本，各有 C 个**通道**（channel，例如红、绿、蓝，或者某一层算出的特征），每个通道是 H 行 W 列的一片数。下面把它们画成方块，样本左右并排。点一下其中**一个**方块，选定要推的数，再推它一把。凡是**输出**变了的方块，都会变成橙色并升起来；右图画的是每个输出推之前（○）和推之后（●）的值。

**先猜一猜**：这一层是批量归一化，共有 2 × 4 × 3 × 3 = 72 个数，推动其中一个，会有多少个输出改变？先选，再拖动“推多少”。
"""

# %% tags=["panel", "guess"] base={"push": 10}
poke_one_number.panel()

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

18 outputs change, the whole channel in *every* sample, the untouched one included.

</details>

A mean changes as soon as one of its numbers does, and the standard deviation with it. So the raised blocks are those that share them with the pushed number. Tick *paint the groups by formula*: the numbers on the blocks come from the axes, the raising from the function, and they agree.

The table below has two more layers. InstanceNorm comes from style transfer, where each picture's own contrast is to vanish; GroupNorm is for few large pictures at a time (lesson 04).

**Your turn, five numbers.** Let there be 3 samples, so 108 numbers. One is pushed, in five layers. How many outputs move? Multiply first, then ask the panel (*samples*).

| layer | one mean over | outputs that move |
|---|---|---|
| BatchNorm | `N, H, W` | ? |
| LayerNorm over `(C, H, W)` | `C, H, W` | ? |
| InstanceNorm | `H, W` | ? |
| GroupNorm, 2 groups | half of `C`, and `H, W` | ? |
| LayerNorm per position, as in a Transformer | `C` | ? |

Replace `None` by five numbers from top to bottom, in the form `(1, 2, 3, 4, 5)`.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

改变的输出有 18 个，也就是**所有**样本的同一通道，没碰过的那个样本也在内。

</details>

一组数里只要有一个变了，它们的均值就会变，标准差也跟着变，所以升起来的方块，就是与那个数共用均值和标准差的数。再打开“按公式给各组涂色”，方块上会出现组号，那是照轴推算的；方块升不升起，则看函数的实际输出。两者完全一致。

下表里还有两种层。实例归一化最早用于图像的风格迁移，要去掉每幅图自己的对比度；组归一化用于每次只有几幅大图的训练（第 04 课）。

**轮到你了**，写五个数。现在换成 3 个样本，共 108 个数，推动其中一个，分别经过五种层，各有多少个输出改变？先自己乘，再用面板核对（要先调“样本数 N”）。

| 层 | 沿哪些轴求一个均值 | 改变的输出 |
|---|---|---|
| 批量归一化 | `N, H, W` | ？ |
| 层归一化，沿 `(C, H, W)` | `C, H, W` | ？ |
| 实例归一化 | `H, W` | ？ |
| 组归一化，2 组 | `C` 的一半，以及 `H, W` | ？ |
| 逐位置的层归一化，即 Transformer 里的用法 | `C` | ？ |

请把 `None` 换成从上到下的五个数，写成 `(1, 2, 3, 4, 5)` 的样子。
"""

# %% tags=["exercise"]
my_counts = None

check("outputs_that_move", my_counts)

# %% [markdown] lang="en"
r"""
Stuck? In the panel above choose the layer, set *push* to 10 and see which axes the raised blocks fill.

<details><summary>The idea</summary>

An output depends on the mean and the standard deviation of its group. So count the numbers in the group, which means: multiply the sizes of the axes in the middle column.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在上面的面板里选好层，把“推多少”调到 10，看看升起的方块占满了哪些轴。

<details><summary>思路</summary>

输出由它那一组的均值和标准差算出。所以要数的是，这一组有多少个数，也就是把中间一列各个轴的大小乘起来。

</details>
"""

# %% tags=["solution"]
solved_counts = (3 * 3 * 3, 4 * 3 * 3, 3 * 3, 2 * 3 * 3, 4)

check("outputs_that_move", solved_counts, keep=False)

# %% [markdown] lang="en"
r"""
## Two rows by hand

Once the groups are known, all these layers do the same:

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

You wrote this in lesson 01. Only μ and σ² are new: the mean and the variance of a *group*, whichever numbers belong to it. (A real layer then multiplies by a learned scale γ and adds a learned shift β, which change no group.) Your `standardize` of lesson 01, or the package's if you kept none, is this formula with any axes. −1 makes it LayerNorm, 0 BatchNorm, height and width InstanceNorm.

Two samples with four features each come first by hand. Then `assert_close` compares layers, and is silent when both agree. (Each `None` stands for a remembered statistic, lesson 03.)
"""

# %% [markdown] lang="zh"
r"""
## 动手算两行

分好组以后，这几种层做的事完全一样：

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

这个式子你在第 01 课写过（有的教材把 normalization 译作“规范化”），新的只是 μ 和 σ²：它们是一**组**数的均值和方差，哪些数算一组，各层不同。真正的层最后还要乘以缩放参数 γ、加上平移参数 β，两者都由训练得到，与怎样分组无关。你在第 01 课写的 `standardize`（没有保存就用课程自带的）正是这个公式，轴可以任意选：选 −1 就是层归一化，选 0 就是批量归一化，选高和宽就是实例归一化。

先取两个样本，每个四个特征，动手算一遍；再用 `assert_close` 两两比较，没有输出，就说明两者一致。（`None` 的位置留给记住的统计量，见第 03 课。）
"""

# %%
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])  # (N, C)
mean = x.mean(-1, keepdim=True)  # (N, 1)
variance = (x - mean).square().mean(-1, keepdim=True)  # (N, 1)
print((x - mean) / (variance + 1e-5).sqrt())  # (N, C)

mine = load("standardize") or standardize
assert_close(mine(x, -1), F.layer_norm(x, (4,)))
assert_close(mine(x, 0), F.batch_norm(x, None, None, training=True))
images = torch.randn(2, 4, 3, 3)  # (N, C, H, W)
assert_close(mine(images, (2, 3)), F.instance_norm(images))
assert_close(F.group_norm(images, 4), F.instance_norm(images))
assert_close(F.group_norm(images, 1), F.layer_norm(images, (4, 3, 3)))
assert_close(F.batch_norm(images[:1], None, None, training=True), F.instance_norm(images[:1]))

# %% [markdown] lang="en"
r"""
The second row is ten times the first, and yet the results agree to the four digits printed. (After these, ε makes them differ.) The last three lines say that some layers *are* others. GroupNorm with a group per channel is InstanceNorm. With one group it is LayerNorm over `(C, H, W)`, not the Transformer's (before γ and β, whose shapes differ). And BatchNorm of a single sample is InstanceNorm.

**Your turn, one line.** Which axes of `x`, the two rows, make all eight numbers share *one* mean? Replace `None`, for instance by `(0,)`.
"""

# %% [markdown] lang="zh"
r"""
第二行是第一行的十倍，结果在四位小数内却完全相同（再往后，ε 才让它们不同）。最后三行说明，有些层其实就是另一种层。组归一化让每个通道自成一组，就是实例归一化；只分一组，就是沿 `(C, H, W)` 的层归一化（先不管 γ 和 β，它们的形状不同），而不是 Transformer 的那种。只有一个样本时，批量归一化就是实例归一化。

**轮到你了**，只写一行。对上面那两行数 `x`，沿哪些轴求均值，才能让八个数共用**一个**均值？请把 `None` 换成你的答案，例如 `(0,)`。
"""

# %% tags=["exercise"]
my_axes = None

check("one_mean_axes", my_axes)

# %% [markdown] lang="en"
r"""
Stuck? The axis that you name disappears.

<details><summary>The idea</summary>

One mean is left when no axis is left, so both axes must be named.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？写哪个轴，哪个轴就消失。

<details><summary>思路</summary>

只剩一个均值，就是一个轴也不剩，所以两个轴都要写上。

</details>
"""

# %% tags=["solution"]
solved_axes = (0, 1)

check("one_mean_axes", solved_axes, keep=False)

# %% [markdown] lang="en"
r"""
## The last axes

Text has the shape `(N, L, C)`: N sentences of L *tokens* (a token is a word or a part of one), each token a list of C numbers, its features. BatchNorm calls them channels, many papers write d.

torch's LayerNorm is not told *which* axes to average over, but how large the last ones are, by `normalized_shape`. With L = 5 and C = 4:

```python
F.layer_norm(x, (4,))    # N * L means
F.layer_norm(x, (5, 4))  # N means
```

So which axes are meant depends only on the number of entries; the sizes must fit. γ and β have this shape, too.

A Transformer takes the last axis alone, so every token is standardized by itself, and no other token or sentence has a say in it. So, unlike BatchNorm (lesson 03), it does the same in use as in training.

## Any layout, any axes

Choose a layout and click the names of axes. Blocks with the same number share a mean, and where torch has a layer for your choice, it is written above.

**Predict first.** The layout is `(N, L, C)`, text with C features. Which axes do you tick for BatchNorm, and which for the LayerNorm of a Transformer?
"""

# %% [markdown] lang="zh"
r"""
## 最后几个轴

文本的形状是 `(N, L, C)`，即 N 个句子，每句 L 个**词元**（token，一个词或词的一部分），每个词元是一串数，共 C 个，就是它的特征。在批量归一化里，特征叫作通道；许多论文把 C 写作 d。

torch 的层归一化，参数里写的不是沿**哪些**轴求均值，而是最后几个轴有多大，这就是 `normalized_shape`。取 L = 5，C = 4：

```python
F.layer_norm(x, (4,))    # N * L means
F.layer_norm(x, (5, 4))  # N means
```

写一个数，就是沿最后一个轴；写两个，就是沿最后两个轴。所以沿哪些轴，只看它有几个数，而这些数必须与轴的大小相符。γ 和 β 也是这个形状。

Transformer 的层归一化只沿最后一个轴，每个词元单独标准化，不受别的词元和别的句子影响。所以它与批量归一化（第 03 课）不同，训练时和使用时，做的是同一件事。

## 任意布局，任意几个轴

现在任选一种布局，再点轴的名字。数字相同的方块共用一个均值；你选的如果在 torch 里有对应的层，写法会显示在图的上方。

**先猜一猜**：布局是 `(N, L, C)`，即每个词元有 C 个特征的文本。批量归一化该选哪些轴？Transformer 的层归一化呢？
"""

# %% tags=["panel"]
axis_painter.panel()

# %% tags=["answer"]
axis_painter.panel().still(layout="N L C", axis_0=False, axis_1=False, axis_2=True)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

BatchNorm takes axes 0 and 1, N and L, and keeps C means. The LayerNorm of a Transformer takes axis 2 alone, as drawn, and keeps N · L.

</details>

## The layout trap

torch's `BatchNorm1d` wants `(N, C, L)`, but Transformers keep `(N, L, C)`. Whoever forgets to transpose mostly gets an error, as in the picture, because torch compares the size of axis 1 with C. Where L = C, it cannot notice.

**Predict first.** The red number, feature 1 of token 1, is pushed by 10. Which blocks rise with it when L and C are both 4? Choose, then drag.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

批量归一化选轴 0 和轴 1，即 N 和 L，剩下 C 个均值。Transformer 的层归一化只选轴 2，如图，剩下 N · L 个均值。

</details>

## 布局陷阱

torch 的 `BatchNorm1d` 要的是 `(N, C, L)`，而 Transformer 里通常是 `(N, L, C)`。忘了转置，多数时候会像图中那样报错，因为 torch 会检查轴 1 的大小是不是 C；要是 L = C，就检查不出来了。

**先猜一猜**：图中红色的数，即词元 1 的特征 1，推了 10。L 和 C 都是 4 时，哪些方块会跟着它升起来？先选，再拖动。
"""

# %% tags=["panel", "guess"]
layout_trap.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The whole row of token 1 rises, in both sentences. The layer takes the positions for channels: one mean per position, over batch and features. No error, and the result is wrong.

</details>

Now switch on *transpose first*, and the raised blocks all carry a 1: feature 1 of every token.

A test with equal sizes that looks at shapes and errors only never notices; poke a number or compare values. A test with different sizes misses another mistake: code that finds its axis by size, as `x.shape.index(C)` does, works until two sizes are equal. So test with both.

## Real digits

Eight handwritten digits go through both layers as one batch. You dim one.

**Predict first.** Which layer gives the digit its brightness back, and which one changes the *other* seven?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

升起来的是词元 1 的整整一行，两个句子里都是。这一层把位置当成了通道，沿批量轴和特征轴求均值，每个位置一个。没有报错，结果却错了。

</details>

再打开“先转置”，升起的方块上就都是 1 了，也就是所有词元的特征 1，这才对。

轴的大小相同时，如果只看报不报错、形状对不对，就发现不了这个错误；推一下，或者比一比数值，才看得出来。只用大小不同的，又会放过 `x.shape.index(C)` 这种按大小去找轴的写法，两个轴一样大时，它就会找错。所以两种都要测。

## 真实的手写数字

八个手写数字组成一个小批量，分别经过两种层，你来把其中一个调暗。

**先猜一猜**：经过哪种层，它会重新亮起来？又是哪种层，会让**另外**七个跟着变？
"""

# %% tags=["panel"]
digits = load_digits()[0][:8].unsqueeze(1) / 16  # (N, 1, H, W)
dimmed_digit.panel(digits)

# %% tags=["answer"]
dimmed_digit.panel(digits).still(brightness=0.3)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

LayerNorm gives the brightness back, because each image has its own mean and standard deviation. BatchNorm changes the other seven, because there is one channel and all eight share one mean, and the dim digit stays dim.

</details>

Which is better depends on whether brightness means something, for LayerNorm has thrown it away.

## What you will meet elsewhere

**Keras names an axis**, and the same one means opposite things, for `BatchNormalization(axis=-1)` *keeps* the last axis, the channels, and `LayerNormalization(axis=-1)` averages over it.

**LayerNorm of images** is over `(C, H, W)` in the GroupNorm paper's picture. ConvNeXt, like a Transformer, takes `C` alone, so torchvision moves the channels to the end and back:

```python
x = x.permute(0, 2, 3, 1)
x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
x = x.permute(0, 3, 1, 2)
```
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

让它重新亮起来的是层归一化，因为每幅图都用自己的均值和标准差。让另外七个跟着变的是批量归一化，因为这里只有一个通道，八幅图共用一个均值，暗的也就仍然暗。

</details>

哪种更好，要看亮度本身有没有意义，因为层归一化把它丢掉了。

## 在别处会遇到什么

**Keras 写的是轴**，可是同一个轴，意思正好相反：`BatchNormalization(axis=-1)` **保留**最后一个轴，即通道轴；`LayerNormalization(axis=-1)` 却沿这个轴求均值。

**图像的层归一化**，在组归一化论文的图里是沿 `(C, H, W)` 的。ConvNeXt 却和 Transformer 一样，只沿 `C`，所以 torchvision 先把通道移到最后，算完再移回来：

```python
x = x.permute(0, 2, 3, 1)
x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
x = x.permute(0, 3, 1, 2)
```
"""

# %% [markdown] lang="en"
r"""
## Exercise: two layers, one line each

Write both with `standardize`, without γ and β. First BatchNorm, as in training:
"""

# %% [markdown] lang="zh"
r"""
## 练习：两种层，各写一行

请用 `standardize` 写出这两种层，不带 γ 和 β。先写批量归一化，照训练时的做法：
"""


# %% tags=["exercise"]
def my_batch_norm_by_axes(x):  # (N, C, H, W)
    return ...


check("batch_norm_by_axes", my_batch_norm_by_axes)

# %% [markdown] lang="en"
r"""
Stuck? Push one number in the first panel and see which axes the raised blocks fill.

<details><summary>The idea</summary>

One mean per channel is to be left, so every axis but the channels must be named.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在第一个面板里推一个数，看看升起的方块沿哪些轴排列。

<details><summary>思路</summary>

最后每个通道剩下一个均值，所以除了通道轴，其他轴都要写上。

</details>
"""


# %% tags=["solution"]
def solved_batch_norm_by_axes(x):  # (N, C, H, W)
    return standardize(x, (0, 2, 3))


check("batch_norm_by_axes", solved_batch_norm_by_axes, keep=False)

# %% [markdown] lang="en"
r"""
Now LayerNorm, which gets the *sizes* of the last axes, as in torch.
"""

# %% [markdown] lang="zh"
r"""
再写层归一化。和 torch 一样，它收到的是最后几个轴的**大小**。
"""


# %% tags=["exercise"]
def my_layer_norm_by_axes(x, normalized_shape):  # (*, *normalized_shape)
    return ...


check("layer_norm_by_axes", my_layer_norm_by_axes)

# %% [markdown] lang="en"
r"""
Stuck? Read *The last axes* again: which axes does `(5, 4)` stand for?

<details><summary>The idea</summary>

Only `len(normalized_shape)` counts. With two entries the axes are −2 and −1, with n entries they run from −n up to −1.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？再读一遍“最后几个轴”：`(5, 4)` 指的是哪些轴？

<details><summary>思路</summary>

要看的只是 `len(normalized_shape)`。有两个数，轴就是 −2 和 −1；有 n 个数，轴就从 −n 到 −1。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm_by_axes(x, normalized_shape):  # (*, *normalized_shape)
    return standardize(x, tuple(range(-len(normalized_shape), 0)))


check("layer_norm_by_axes", solved_layer_norm_by_axes, keep=False)

# %% [markdown] lang="en"
r"""
## Your LayerNorm in a trained network

MiniLM turns a sentence into a vector, and similar meanings into similar directions. It has 13 LayerNorms. Yours takes the place of each, followed by the γ and β that were learned there. Then the network must say which of four sentences is nearest in meaning to "He is playing the guitar."
"""

# %% [markdown] lang="zh"
r"""
## 你的层归一化，放进训练好的网络

MiniLM 把句子变成向量，意思相近，方向也相近。它有 13 个层归一化，现在都换成你写的，后面照旧乘以训练得到的 γ、加上 β，再让它回答：四个句子里，哪一句与“He is playing the guitar.”（他在弹吉他。）意思最近？
"""

# %% tags=["slow"]
plug_in(layer_norm_by_axes=my_layer_norm_by_axes)

# %% [markdown] lang="en"
r"""
Now a mistake on purpose, one mean for a whole sentence instead of one for every token, `LayerNorm([L, C])`. It raises no error.

**Predict first.** Will the nearest sentence still be right, only with another cosine, or will it be another one?
"""

# %% [markdown] lang="zh"
r"""
写错了会怎样？我们故意错一次，不让每个词元各有一个均值，而让整句话共用一个，也就是 `LayerNorm([L, C])`。程序照样不报错。

**先猜一猜**：它仍会选中原来那一句，只是余弦变了，还是会换成另一句？
"""


# %% tags=["slow", "answer"]
def over_the_sentence(x, normalized_shape):  # (N, L, C)
    return standardize(x, (-2, -1))


plug_in(layer_norm_by_axes=over_the_sentence)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Another sentence is nearest. All four now point nearly where the guitar does, with cosines of 0.99 and more, and the one about music is the last of them. No error was raised.

Why? MiniLM puts the same marker, `[CLS]`, in front of every sentence. A norm per token keeps all tokens about equally long. With one deviation for the whole sentence nothing holds the marker back: after the first layer its vector is more than ten times as long as the median token's, so the deviation is mostly the marker's. Divided by it, the words leave each of the first three layers at less than a tenth of the size that a norm per token gives them. Then β is added, the same vector for every word, and it is longer than they are. So after three layers all words of a sentence point the same way. (Standardize the marker by itself, and the cosines spread again, from 0.91 down to 0.07.)

Padding counts, too. The five sentences go in as one batch, each filled up to the longest, and the mean runs over the filling. Therefore the sentence about music has the cosine 0.991 here, and alone 0.979. With a norm per token it has the same one both times.

</details>

## Three closing questions

1. For 8 sentences × 128 tokens × 768 features: how many means do `LayerNorm(768)` and (after the transpose) `BatchNorm1d(768)` compute, each over how many numbers? How long is γ?

<details><summary>Answer</summary>

1024 means over 768 numbers; 768 means over 1024 numbers. γ has 768 entries both times, so its shape does not tell the two apart.

</details>

2. Someone feeds a tensor of shape `(32, 64, 64)`, that is `(N, L, C)`, to `BatchNorm1d(64)`. No error. What was computed, and which test would have shown it?

<details><summary>Answer</summary>

One mean per position, over batch and features. Any test with L ≠ C raises an error; with L = C one poke shows it.

</details>

3. In a language model a token's output must not depend on later tokens (*causality*). You may take `LayerNorm([L, C])` or `LayerNorm(C)`. Which one, and how does one poke show that the other is no use?

<details><summary>Answer</summary>

`LayerNorm(C)`. Poke the last token, and with `LayerNorm([L, C])` the output of token 0 moves, so it would see the future.

</details>

The next cell checks all three.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

选中的换成了另一句。现在，四句话与弹吉他那一句几乎同一个方向，余弦都在 0.99 以上，意思远近已经分不出来，讲音乐的那一句反而排在最后。而且没有报错。

为什么？MiniLM 在每句话前面都加上同一个标记 `[CLS]`。每个词元单独归一化，它们的向量就差不多长；整句话共用一个标准差，就管不住这个标记了，过了第一层，它的向量长度已经是各词元中位数的十倍以上，标准差几乎全由它决定。别的词元除以这个标准差，在前三层的输出处都不足单独归一化时的十分之一；接着加上 β，它对每个词元都一样，比这些词元的向量还长。所以三层过后，一句话里别的词元就几乎指向同一个方向了。（让这个标记单独标准化，余弦又会散开，从 0.91 到 0.07。）

填充也算了进去。五句话是作为一批送进去的，短句要填充（padding）到最长那句的长度，求均值时就带上了填充的部分。所以讲音乐的那一句，余弦在这里是 0.991，单独送进去却是 0.979。每个词元单独归一化，两种送法的余弦就一样。

</details>

## 三个思考题

1. 输入为 8 句 × 128 个词元 × 768 个特征，`LayerNorm(768)` 与（转置后的）`BatchNorm1d(768)` 各计算多少个均值？每个均值由多少个数得到？γ 有多长？

<details><summary>答案</summary>

前者 1024 个均值，各由 768 个数得到；后者 768 个均值，各由 1024 个数得到。γ 的长度都是 768，所以只看 γ 的形状分不清两者。

</details>

2. 有人把形状为 `(32, 64, 64)`（即 `(N, L, C)`）的张量直接送入 `BatchNorm1d(64)`，没有报错。实际算的是什么？怎样的测试能发现它？

<details><summary>答案</summary>

每个位置一个均值，沿批量轴和特征轴求得。测试时取 L ≠ C，就会报错；L = C 时，推一个数也看得出来。

</details>

3. 在语言模型里，一个词元的输出不能受后面的词元影响，这叫作**因果性**（causality）。`LayerNorm([L, C])` 和 `LayerNorm(C)`，你选哪个？怎样只推一下，就证明另一个不能用？

<details><summary>答案</summary>

选 `LayerNorm(C)`。推动最后一个词元，用 `LayerNorm([L, C])` 时，第 0 个词元的输出也会变，等于看到了后面的词元。

</details>

下一个单元格验证这三个答案。
"""

# %%
text = torch.randn(8, 128, 768)  # (N, L, C)
print(f"{text.mean(-1).numel()=}   {text.mean((0, 1)).numel()=}")
square = torch.randn(32, 64, 64)  # (N, L, C)
assert_close(torch.nn.BatchNorm1d(64)(square).detach(), standardize(square, (0, 2)))
later = text.clone()
later[:, -1] += 3
for shape in [[128, 768], [768]]:
    token = (F.layer_norm(later, shape) - F.layer_norm(text, shape))[:, 0]  # (N, C)
    print(f"{shape=}   {token.abs().max()=:.2f}")

# %% [markdown] lang="en"
r"""
## In short

- In training, and before γ and β, these four layers are one formula and differ in which numbers share mean and variance.
- To see that choice, push one number: what moves belongs to its group. Push far, or in a small group hardly anything moves.
- With equal sizes torch does not notice a wrong layout, so test with different ones, too, and compare values.

## Read next

- The paper: [Group Normalization](https://arxiv.org/abs/1803.08494), with the famous picture, figure 2.
- Real code: [torchvision's ConvNeXt](https://github.com/pytorch/vision/blob/main/torchvision/models/convnext.py), `LayerNorm2d`.
- An explanation: [Dive into Deep Learning](https://d2l.ai/chapter_convolutional-modern/batch-norm.html) on BatchNorm, with a part on LayerNorm.
"""

# %% [markdown] lang="zh"
r"""
## 小结

- 训练时，先不管 γ 和 β，这四种归一化层用的是同一个公式，区别在于让哪些数共用均值和方差。
- 想看清楚，推动一个数即可，跟着变的都是同一组的。要推得远，不然组很小时，几乎看不出变化。
- 轴的大小相同时，torch 查不出布局错误，所以大小不同的也要测，数值也要比。

## 接着读

- 论文：[Group Normalization](https://arxiv.org/abs/1803.08494)，讲组归一化，其中的图 2 就是那张有名的四种层的图。
- 真实的代码：[torchvision 的 ConvNeXt](https://github.com/pytorch/vision/blob/main/torchvision/models/convnext.py) 中的 `LayerNorm2d`。
- 讲解：[《动手学深度学习》英文版](https://d2l.ai/chapter_convolutional-modern/batch-norm.html)讲批量归一化的一节，中间有一小段讲层归一化。
"""

# %% [markdown] lang="en"
r"""
## Going further: a loop too many

BatchNorm of a text from scratch easily loops over positions *and* features, or says `mean(0)`. No error, but a different layer, with L · C means of only N numbers each. Here it gets two sentences of one number each.

**Predict first.** They are 1 and 3, and the first grows by 1, by 10, by 1000. What becomes of the two outputs?
"""

# %% [markdown] lang="zh"
r"""
## 选读：多了一层循环

从零实现文本的批量归一化时，很容易既循环位置、又循环特征，或者干脆写 `mean(0)`。它不报错，却成了另一种层，因为共有 L · C 个均值，每个只由 N 个数得到。下面给它两个句子，各只有一个数。

**先猜一猜**：它们是 1 和 3，第一个数增加 1、10、1000，两个输出分别变成什么？
"""


# %% tags=["answer"]
def one_loop_too_many(x):  # (N, L, C)
    y = torch.empty_like(x)
    for position in range(x.shape[1]):
        for feature in range(x.shape[2]):
            y[:, position, feature] = standardize(x[:, position, feature], 0)  # (N,)
    return y


for push in (1, 10, 1000):
    y = one_loop_too_many(torch.tensor([[[1.0 + push]], [[3.0]]]))  # (N, 1, 1)
    outputs = y.flatten().round(decimals=2).tolist()
    print(f"{push=}   {outputs=}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The outputs are −1 and +1 as long as the first number is the smaller one, and then +1 and −1, for 10 as for 1000.

</details>

With two numbers per mean hardly more than **their order survives**, which lesson 04 takes up. So here a push of 1 moves the outputs by less than 0.0001, although both numbers share a mean. Only a push that changes the order shows the pair.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只要第一个数较小，输出就是 −1 和 +1；它一旦较大，就成了 +1 和 −1，推 10 和推 1000 没有区别。

</details>

两个数共用一个均值，几乎就**只剩下谁大谁小**，第 04 课会接着讲。所以这里只推 1，两个输出的变化还不到 0.0001，看上去就像各算各的。要推到大小颠倒，才看得出两个数同属一组。
"""

# %% [markdown] lang="en"
r"""
## Going further: what γ and β can undo

For BatchNorm on `(N, C, H, W)` γ and β have the shape `(C,)` and must land on axis 1, so they are viewed as `(C, 1, 1)` first. LayerNorm's have the shape `normalized_shape` and land right by themselves.

Can they undo the standardizing? Let γ be the standard deviation and β the mean of one mini-batch, and send two through.

**Predict first.** How far from its input is the output for that mini-batch, and how far for the second one, whose mean is another?
"""

# %% [markdown] lang="zh"
r"""
## 选读：γ 和 β 能抵消什么

批量归一化处理 `(N, C, H, W)` 时，γ 和 β 的形状是 `(C,)`，要对准轴 1，所以先变形为 `(C, 1, 1)`。层归一化的 γ 和 β，形状就是 `normalized_shape`，本来就对得上。

它们能不能把标准化抵消掉？我们取一个小批量，让 γ 等于它的标准差，β 等于它的均值，再送两个小批量进去。

**先猜一猜**：对这个小批量，输出与输入差多少？第二个小批量的均值不同，又差多少？
"""

# %% tags=["answer"]
first = torch.tensor([[2.0], [4.0], [6.0]])  # (N, C)
second = first + 10
gamma, beta = (first.var(0, correction=0) + 1e-5).sqrt(), first.mean(0)  # (C,) each
for batch in (first, second):
    y = standardize(batch, 0) * gamma + beta
    difference = (y - batch).flatten().round(decimals=2).tolist()
    print(f"{difference=}")
tokens = torch.stack([first, second]).squeeze(-1)  # (L, C)
y = standardize(tokens, -1) * gamma + beta
print(f"{(y - tokens).round(decimals=2).tolist()=}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

For the first it is 0: γ multiplies by the very deviation that was divided out, and β adds the mean that was subtracted. For the second it is −10, because the second comes out exactly as the first.

</details>

At any moment of training one γ and one β serve whatever mini-batch comes, and the means differ, so they can undo it for one batch, not for all. In `eval()`, the mode of a network in use, the mean is fixed too (lesson 03), and γ and β can undo it for every input. LayerNorm never comes to that, as the last line shows, where the same six numbers are two tokens: one γ and one β serve both, and each token has a mean of its own, in use as in training. So only one of them comes back.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

第一个小批量的差是 0，因为 γ 把除掉的标准差乘了回来，β 把减掉的均值加了回来。第二个的差是 −10，因为它的输出与第一个一模一样。

</details>

训练时，各个小批量共用同一组 γ 和 β，均值却各不相同，所以最多只能抵消一个小批量的标准化。网络训练好、改用 `eval()` 以后，均值也固定了（见第 03 课），这时不论输入是什么，γ 和 β 都能抵消标准化。层归一化却始终不能。最后一行把同样的六个数当作两个词元：γ 和 β 由它们共用，均值却各有一个，使用时也一样，所以还原的只有一个。
"""

# %% [markdown] lang="en"
r"""
## Going further: an axis cut in two

GroupNorm is no choice of whole axes. It cuts the channels into groups of neighbours, and in every sample each group has a mean and a variance of its own. An axis is cut with `unflatten`, and from then on its two parts are axes like any others. Axis 1 counts the groups, axis 2 the channels inside a group. Average over axis 2 and all behind it, then `flatten` the two into one again.
"""

# %% [markdown] lang="zh"
r"""
## 选读：把一个轴拆成两个

组归一化沿的不是几个完整的轴。它把相邻的通道分成组，在每个样本里，每一组各有自己的均值和方差。拆轴用 `unflatten`；拆开之后，两部分就是两个普通的轴，轴 1 是组的编号，轴 2 是组内的通道。沿轴 2 和它后面的所有轴求均值，再用 `flatten` 把两个轴合回去。
"""

# %%
channels = torch.tensor([[1.0, 3.0, 10.0, 40.0]])  # (N, C)
groups = channels.unflatten(1, (2, -1))  # (N, G, C/G)
print(f"{groups.tolist()=}   {groups.mean(2).tolist()=}")
assert_close(standardize(groups, 2).flatten(1, 2), F.group_norm(channels, 2))

# %% [markdown] lang="en"
r"""
**Your turn, a third layer**, for any number of axes behind the channels. Do not forget γ (`weight`) and β (`bias`) at the end, one number per channel each.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，写第三种层，通道后面可以有任意多个轴。最后别忘了乘以 γ（`weight`）、加上 β（`bias`），每个通道各有一个。
"""


# %% tags=["exercise"]
def my_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):  # (N, C, *)
    return ...


check("group_norm", my_group_norm)

# %% [markdown] lang="en"
r"""
Stuck? After `unflatten` print the shape, and name every axis from 2 on. For γ and β see the section before, *what γ and β can undo*.

<details><summary>The idea</summary>

Cutting turns the group into whole axes, so `standardize` can do the rest. γ and β belong to channels, so they come when the axis is whole again, viewed with size 1 on every axis behind it.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`unflatten` 之后打印形状，从轴 2 起，每个轴都要写上。γ 和 β 怎样对齐，见上一节“γ 和 β 能抵消什么”。

<details><summary>思路</summary>

拆开之后，一组数正好占满几个完整的轴，剩下的交给 `standardize` 就行。γ 和 β 是按通道的，所以要等轴合回去再用，并且变形，让后面每个轴的大小都是 1。

</details>
"""


# %% tags=["solution"]
def solved_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):  # (N, C, *)
    grouped = x.unflatten(1, (num_groups, -1))  # (N, G, C/G, *)
    y = standardize(grouped, tuple(range(2, grouped.dim())), eps).flatten(1, 2)  # (N, C, *)
    per_channel = (-1, *[1] * (x.dim() - 2))  # (C, 1, ...)
    y = y if weight is None else y * weight.view(per_channel)
    return y if bias is None else y + bias.view(per_channel)


check("group_norm", solved_group_norm, keep=False)
