# %% [markdown] lang="en"
r"""
# 02 Which numbers share one mean?

Take a batch of two images and add 10 to a single number of the first one. Then send both images through a normalization layer. How many outputs change? With some layers, only a handful. With another, even the second image changes, although nobody has touched it.

In lesson 01 you subtracted a mean and divided by a standard deviation. BatchNorm, LayerNorm, InstanceNorm and GroupNorm all do this. In training, and apart from their learned parameters, they differ in one thing only: **which numbers share one mean**. A layer that averages over the wrong numbers often raises no error, and its output has the right shape, so you need another way to find out what it does: poke one number.

First you poke five layers. Then you write BatchNorm and LayerNorm in one line each, and run MiniLM, a network that compares the meanings of sentences, with your LayerNorm. Finally, you let the wrong numbers share a mean, and see whether MiniLM can still tell the sentences apart.

Plan for about 35 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 02 哪些数共用一个均值？

取一个小批量，里面有两幅图像。只给第一幅图像里的一个数加上 10，再把两幅一起送进归一化层，会有多少个输出跟着变？有的层只变零星几个。还有一种层，连第二幅图像也跟着变，而那幅图像谁也没有碰过。

第 01 课先减均值，再除以标准差。批量归一化（BatchNorm）、层归一化（LayerNorm）、实例归一化（InstanceNorm）和组归一化（GroupNorm）做的都是这件事。如果不算学出来的参数，它们在训练时只有一处不同：**哪些数共用一个均值**。要是让不该放在一起的数共用了均值，程序往往照样运行，输出的形状也对，谁也不会提醒你。怎样看清一个层究竟对哪些数求均值？办法很简单：改动其中一个数，看哪些输出跟着变。下文叫它“推一下”。

你先用这个办法考察五种层，再自己写批量归一化和层归一化，各写一行。然后让 MiniLM 用上你写的层归一化，这个网络能比较两句话的意思。最后，我们故意让不该共用均值的数共用一个，看它还能不能分清句意。

整课大约需要 35 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import standardize
from blocklab_course import check, plug_in
from blocklab_course.lessons.norm_axes import (
    axis_painter,
    broadcasting,
    dimmed_digit,
    layout_trap,
    poke_one_number,
    questions,
)
from blocklab_course.pretrained import load_minilm, patch_functions, skip_if_missing
from blocklab_course.workspace.solutions import load

# %% [markdown] lang="en"
r"""
## Poke one number

Images have more axes than the tables of lesson 01. A batch of images has the shape `(N, C, H, W)`: there are N samples, each has C *channels*, and each channel is a grid of numbers with H rows and W columns. The channels of a photo are red, green and blue. Inside a network they are features that a layer has computed.

The panel draws such a tensor. Each block is one number, the two samples are side by side, and the red arrow points at the number to which *push* is added. When the **output** of a block changes, the block turns orange and rises (the pushed one stays red).

**Predict first.** The layer is BatchNorm, and you push one of the 2 × 4 × 3 × 3 = 72 numbers. How many outputs change? Choose an answer, then drag *push* to 10.
"""

# %% [markdown] lang="zh"
r"""
## 推一推：只改一个数

图像的轴比第 01 课的表格多。一批图像的形状是 `(N, C, H, W)`：N 个样本，每个样本有 C 个**通道**（channel），每个通道是一张 H 行 W 列的图。照片的通道是红、绿、蓝；在网络内部，通道是某一层算出来的特征，每个通道叫做一张特征图（feature map）。

面板画的就是这样一个张量。每个方块代表一个数，两个样本左右并排，“推多少”会加到红色箭头所指的那个数上（红色方块）。哪个方块的**输出**变了，哪个方块就变成橙色，并且升起来（推的那个仍是红色）。

**先猜一猜**：这一层是批量归一化，共有 2 × 4 × 3 × 3 = 72 个数，你推一下其中一个，会有多少个输出改变？先选好答案，再把“推多少”拖到 10。
"""

# %% tags=["panel", "guess"] base={"push": 10}
poke_one_number.panel()

# %% tags=["answer"]
poke_one_number.panel().still(push=10)

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

18 outputs change.

</details>

They are the outputs of one whole channel: 3 × 3 in the first sample, and 3 × 3 in the second. BatchNorm computes one mean and one standard deviation for each channel, over all samples of the batch. Your push changed both, and every output of the channel is computed from them. So **the outputs that change belong to the numbers that share a mean with the one you pushed**. This lesson calls such numbers a *group*.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

18 个输出会改变。

</details>

它们正好是一整个通道的输出：第一个样本里有 3 × 3 个，第二个样本里也有 3 × 3 个。批量归一化把小批量里所有的样本合在一起，给每个通道算一个均值和一个标准差。你一推，两者都变了，而这个通道的每个输出都要用到它们。所以，**输出跟着变的，就是与你推的那个数共用一个均值的数**。这一课把共用一个均值的数叫做一**组**。
"""

# %% [markdown] lang="en"
r"""
## Five layers

Now try the other layers in the panel, and click on other blocks to push them. The plot on the right shows every output before (○) and after the push (●). If you tick *paint the groups by formula*, each block shows the number of its group as the definition of the layer gives it, and the blocks that rise have only an orange outline. All of them then show the same number.

| layer | one mean over |
|---|---|
| BatchNorm | `N, H, W` |
| LayerNorm over `(C, H, W)` | `C, H, W` |
| InstanceNorm | `H, W` |
| GroupNorm, 2 groups | half of `C`, and `H, W` |
| LayerNorm per position, as in a Transformer | `C` |

InstanceNorm averages over a single grid. It was invented for style transfer, which has to remove each picture's contrast. GroupNorm divides the channels into sets of neighbors, and it is used when only a few large pictures fit into a batch (lesson 04).
"""

# %% [markdown] lang="zh"
r"""
## 五种层

在面板里换几种层试试，也可以点别的方块，换一个数来推。右图画的是每个输出，○ 是推之前，● 是推之后。如果打开“按公式给各组涂色”，每个方块上会标出组号，那是照层的定义算出来的，这时升起来的方块只描一圈橙色的边。你会看到，它们的组号全都相同。

| 层 | 沿哪些轴求一个均值 |
|---|---|
| 批量归一化 | `N, H, W` |
| 层归一化，沿 `(C, H, W)` | `C, H, W` |
| 实例归一化 | `H, W` |
| 组归一化，2 组 | `C` 的一半，以及 `H, W` |
| 逐位置的层归一化，即 Transformer 里的用法 | `C` |

实例归一化只在一张特征图之内求均值，它是为图像的风格迁移设计的，那里要去掉每幅图自己的对比度。组归一化把相邻的通道编成组，用在一批只放得下几幅大图的时候（第 04 课）。
"""

# %% [markdown] lang="en"
r"""
## Exercise: how many change?

Take 3 samples instead of 2, so that there are 108 numbers, and push one of them. How many outputs change in each of the five layers of the table? Multiply first, then check your numbers in the panel, with *samples* at 3.

Replace `None` with five numbers in the order of the table, in the form `(1, 2, 3, 4, 5)`.
"""

# %% [markdown] lang="zh"
r"""
## 练习：会变几个？

样本从 2 个换成 3 个，就有 108 个数。推一下其中一个，经过表里的五种层，各有多少个输出改变？先自己算，再把面板的“样本数 N”调到 3，核对一下。

请把 `None` 换成五个数，次序和表里一样，写成 `(1, 2, 3, 4, 5)` 的样子。
"""

# %% tags=["exercise"]
my_counts = None

check("outputs_that_move", my_counts)

# %% [markdown] lang="en"
r"""
Stuck? Choose the layer in the panel, set *push* to 10, and see which axes the raised blocks fill.

<details><summary>The idea</summary>

The outputs that change are one group. So count the numbers of a group: multiply the sizes of the axes in the right column of the table.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在面板里选好层，把“推多少”调到 10，看看升起来的方块占满了哪些轴。

<details><summary>思路</summary>

跟着变的输出正好是一组，数一数一组有多少个数就行：把表中右边一列各个轴的大小乘起来。

</details>
"""

# %% tags=["solution"]
solved_counts = (3 * 3 * 3, 4 * 3 * 3, 3 * 3, 2 * 3 * 3, 4)

check("outputs_that_move", solved_counts, keep=False)

# %% [markdown] lang="en"
r"""
## By hand: which axis disappears?

In code, you pick the groups by naming the axes along which to average. The tensor below holds two samples with four features each, so its shape `(N, d)` is `(2, 4)`.
"""

# %% [markdown] lang="zh"
r"""
## 动手算：哪个轴会消失？

写代码时，要指定哪些数算一组，就写明沿哪些轴求均值。先看一个小张量：两个样本，每个样本四个特征，形状 `(N, d)` 是 `(2, 4)`。
"""

# %%
x = torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]])  # (N, d)
for axis in (0, 1):
    mean, kept = x.mean(axis), x.mean(axis, keepdim=True)
    print(f"axis {axis}   {tuple(mean.shape)}   keepdim {tuple(kept.shape)}   {mean.tolist()}")

# %% [markdown] lang="en"
r"""
The axis that you name disappears from the shape, because the numbers along it are averaged. So `x.mean(0)` leaves one mean for each of the four features, as in BatchNorm, and `x.mean(1)` leaves one for each sample, as in LayerNorm. Several axes are named in a tuple, and all of them disappear.

With `keepdim=True` the axis stays, with size 1, so that each mean is subtracted from its own row or column. Without it, PyTorch lines the two shapes up at their *last* axes. Where one of them has no axis, or an axis of size 1, its numbers are copied until the sizes agree, which is called **broadcasting**. A number can then meet the wrong mean, and there may be no error. *Going further: the missing axis* shows how.
"""

# %% [markdown] lang="zh"
r"""
写了哪个轴，哪个轴就从形状里消失，因为这个轴上的数已经平均掉了。`x.mean(0)` 给每个特征留下一个均值，一共四个，这是批量归一化的做法；`x.mean(1)` 给每个样本留下一个，这是层归一化的做法。要沿好几个轴求，就写成元组，里面的轴全都会消失。

写上 `keepdim=True`，求过均值的轴会留在形状里，大小是 1，这样相减时，每个均值才对得上自己那一行或者那一列。不写的话，PyTorch 从**最后**一个轴起把两个形状对齐，哪一边缺一个轴，或者某个轴的大小是 1，就把那边的数复制到两边一样大，这叫做**广播**（broadcasting）。这时一个数减去的可能是别的行、别的列的均值，而且未必报错，例子见“选读：少了一个轴”。
"""

# %% [markdown] lang="en"
r"""
## The formula

With the mean μ and the variance σ² of its own group, every number x is standardized as in lesson 01:

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

Afterwards a layer usually multiplies by a scale γ and adds a shift β. Both are learned; their shape differs from layer to layer, but they have no influence on which numbers share a mean. All that distinguishes the layers is now in the `axes` of `standardize(x, axes)`, the function that you wrote in lesson 01: for a table, 0 gives BatchNorm and −1 gives LayerNorm.

## Exercise: BatchNorm

Now write BatchNorm for images of the shape `(N, C, H, W)`, as it works in training, without γ and β. Use `standardize`.
"""

# %% [markdown] lang="zh"
r"""
## 公式

每个数 x 都用自己那一组的均值 μ 和方差 σ²，照第 01 课的办法标准化：

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

算完之后，通常还要乘以缩放参数 γ，加上平移参数 β。两者都由训练得到；它们的形状因层而异，但不影响哪些数共用均值。你在第 01 课写过函数 `standardize(x, axes)`，各种层的区别，现在全在 `axes` 里：对一张表，写 0 是批量归一化，写 −1 是层归一化。

## 练习：批量归一化

请用 `standardize` 写出图像的批量归一化，输入的形状是 `(N, C, H, W)`，照训练时的做法，不带 γ 和 β。
"""


# %% tags=["exercise"]
def my_batch_norm_by_axes(x):  # (N, C, H, W)
    return ...


check("batch_norm_by_axes", my_batch_norm_by_axes)

# %% [markdown] lang="en"
r"""
Stuck? Push one number in the first panel, and see along which axes the raised blocks lie.

<details><summary>The idea</summary>

One mean is left for each channel. So the channel axis must stay, and you name all the others.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在第一个面板里推一下其中一个数，看看升起来的方块沿哪些轴排列。

<details><summary>思路</summary>

每个通道要剩下一个均值，通道轴必须留下，其余的轴都要写上。

</details>
"""


# %% tags=["solution"]
def solved_batch_norm_by_axes(x):  # (N, C, H, W)
    return standardize(x, (0, 2, 3))


check("batch_norm_by_axes", solved_batch_norm_by_axes, keep=False)

# %% [markdown] lang="en"
r"""
## The last axes

LayerNorm is used for text above all. A text is cut into *tokens*, each of which is a word or part of a word, and a model represents a token by d features. N sentences of L tokens are therefore a tensor of the shape `(N, L, d)`. In a Transformer, LayerNorm averages over the features of one token. Here are the groups of 2 sentences with 3 tokens and 4 features each.
"""

# %% [markdown] lang="zh"
r"""
## 最后几个轴

层归一化主要用于文本。文本先切成**词元**（token），一个词元是一个词，或者词的一部分；模型用 d 个特征表示一个词元。这样，N 个句子，每句 L 个词元，就是一个形状为 `(N, L, d)` 的张量。在 Transformer 里，层归一化只对一个词元自己的特征求均值。下图有 2 个句子，每句 3 个词元，每个词元 4 个特征，方块上标的是组号。
"""

# %%
axis_painter.panel().still(layout="N L d", axis_0=False, axis_1=False, axis_2=True)

# %% [markdown] lang="en"
r"""
Each token is a group of its own, so nothing else in the batch matters. LayerNorm therefore works in inference exactly as in training. BatchNorm cannot do that, as lesson 03 shows.

You do not tell PyTorch's `F.layer_norm` *which* axes to average over. You tell it how *large* the last axes are, in an argument called `normalized_shape`. For the tensor in the picture there are two useful choices:

| `normalized_shape` | axes | means | numbers in each |
|---|---|---|---|
| `(4,)` | −1 | 6 | 4 |
| `(3, 4)` | −2 and −1 | 2 | 12 |

With one entry you get the last axis, and with two entries the last two. The entries must agree with the sizes of these axes, but only the number of entries selects the axes.

## Exercise: LayerNorm

Write LayerNorm with the argument `normalized_shape`, again without γ and β.
"""

# %% [markdown] lang="zh"
r"""
每个词元自成一组，别的词元、别的句子都不参与，因此层归一化在推理时和训练时做的是同一件事。批量归一化做不到这一点，第 03 课会讲为什么。

使用 PyTorch 的 `F.layer_norm` 时，要写的不是沿**哪些**轴求均值，而是最后几个轴有**多大**，这个参数叫 `normalized_shape`。对图中的张量，有两种写法：

| `normalized_shape` | 轴 | 均值个数 | 每个均值由多少个数得到 |
|---|---|---|---|
| `(4,)` | −1 | 6 | 4 |
| `(3, 4)` | −2 和 −1 | 2 | 12 |

里面写一个数，就是最后一个轴；写两个数，就是最后两个轴。这些数必须和轴的大小相符，但选中哪些轴，只看里面有几个数。

## 练习：层归一化

请写出层归一化，参数是 `normalized_shape`，同样不带 γ 和 β。
"""


# %% tags=["exercise"]
def my_layer_norm_by_axes(x, normalized_shape):  # (*, *normalized_shape)
    return ...


check("layer_norm_by_axes", my_layer_norm_by_axes)

# %% [markdown] lang="en"
r"""
Stuck? Look at the table again: which axes does `(3, 4)` mean?

<details><summary>The idea</summary>

Only `len(normalized_shape)` matters. With two entries the axes are −2 and −1. With n entries they run from −n to −1.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？再看一遍上面的表：`(3, 4)` 指的是哪些轴？

<details><summary>思路</summary>

要看的只是 `len(normalized_shape)`。里面有两个数，轴就是 −2 和 −1；有 n 个数，轴就从 −n 到 −1。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm_by_axes(x, normalized_shape):  # (*, *normalized_shape)
    return standardize(x, tuple(range(-len(normalized_shape), 0)))


check("layer_norm_by_axes", solved_layer_norm_by_axes, keep=False)

# %% [markdown] lang="en"
r"""
## Your LayerNorm in a trained network

MiniLM turns each sentence into a vector, so that sentences with similar meanings have vectors with similar directions. It contains 13 LayerNorms. `plug_in` replaces all of them with your function, and multiplies by the γ and adds the β that MiniLM has learned at each place.

Then it asks which of four sentences is nearest in meaning to "He is playing the guitar." The nearest one has the largest *cosine similarity*, or cosine for short, which is 1 for two equal directions and about 0 for unrelated sentences.
"""

# %% [markdown] lang="zh"
r"""
## 把你的层归一化放进训练好的网络

MiniLM 把每句话变成一个向量，句子意思相近，向量的方向就相近。它里面有 13 个层归一化。`plug_in` 会把它们全都换成你的函数，再乘上 MiniLM 在各处学到的 γ，加上学到的 β。

然后它要回答：四句话里，哪一句与“He is playing the guitar.”（他在弹吉他。）意思最近？比的是**余弦相似度**（cosine similarity），最大的那句最接近。方向相同时，余弦相似度是 1；意思毫不相干，它就在 0 左右。
"""

# %% tags=["slow"]
plug_in(layer_norm_by_axes=my_layer_norm_by_axes)

# %% [markdown] lang="en"
r"""
With a correct function, the sentence about music is the nearest. Its cosine is 0.60, and the weather is far away at 0.02.

Now make the mistake that this lesson is about. `over_the_sentence` gives a whole sentence one mean, and no longer each token one of its own. The shape of the output is the same.

**Predict first.** What will MiniLM say with this function?
"""

# %% [markdown] lang="zh"
r"""
函数写对了，最近的就是讲音乐的那一句，余弦相似度是 0.60；讲天气的那一句离得很远，只有 0.02。

现在故意犯这一课要防的错。`over_the_sentence` 让整句话共用一个均值，不再是每个词元各有一个。输出的形状还和原来一样。

**先猜一猜**：换上这个函数，MiniLM 会怎样回答？
"""

# %% tags=["guess"]
questions.one_mean_for_a_sentence()


# %% tags=["slow", "answer"]
def over_the_sentence(x, normalized_shape):  # (N, L, d)
    return standardize(x, (-2, -1))


plug_in(layer_norm_by_axes=over_the_sentence)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

A different sentence is nearest.

</details>

The news is now the nearest sentence, and the one about music is last. All four cosines are 0.99 or more, so MiniLM has nearly lost the ability to tell meanings apart. There was no error.

Why is the damage so large? MiniLM puts the special token `[CLS]` in front of every sentence. A mean and a standard deviation per token keep the vectors of all tokens similar in length. With one standard deviation for the whole sentence, nothing holds `[CLS]` back: in the sentence about music, its vector is more than ten times as long as the others after the first layer. *Going further: one marker, and the words vanish* shows what this does to the words.

So it matters a great deal which numbers share a mean. The next section shows how easily you can get the wrong ones without noticing.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

最近的换成了另一句。

</details>

现在最近的成了讲新闻的那一句，讲音乐的反而排在最后。四句的余弦相似度都在 0.99 以上，可见 MiniLM 几乎分不出意思了，而程序没有报任何错。

后果为什么这么严重？MiniLM 在每句话前面都加上特殊词元 `[CLS]`。每个词元各用自己的均值和标准差，各个向量的长短就相差不大。要是整句话共用一个标准差，就没有什么能把 `[CLS]` 压下来了：在讲音乐的那句里，过了第一层，它的向量就已经是其他向量的十倍以上。别的词因此怎样了，见“选读：一个特殊词元，淹没所有的词”。

可见，均值由哪些数共用，不是小事。但用错了轴，有时一点也察觉不到，下一节就是例子。
"""

# %% [markdown] lang="en"
r"""
## The layout trap

For text, PyTorch's `BatchNorm1d` expects the features in axis 1, as with images, so the shape must be `(N, d, L)`; its documentation writes `(N, C, L)`. Transformers, however, keep their tensors as `(N, L, d)`. If you forget to transpose, you usually get an error, because axis 1 does not have the size that the layer was created for. When L and d happen to be equal, PyTorch cannot notice.

**Predict first.** The red number is feature 1 of token 1, and 10 is added to it. Which blocks rise with it when L and d are both 4? Choose an answer, then drag *length* to 4.
"""

# %% [markdown] lang="zh"
r"""
## 布局陷阱

处理文本时，PyTorch 的 `BatchNorm1d` 和处理图像时一样，要求特征在轴 1，也就是形状要写成 `(N, d, L)`，它的文档写的是 `(N, C, L)`。Transformer 里的张量却是 `(N, L, d)`。忘了转置，通常会报错，因为轴 1 的大小与创建这一层时给的不符。但如果 L 和 d 恰好相等，PyTorch 就看不出来了。

**先猜一猜**：红色的方块是词元 1 的特征 1，给它加上 10。L 和 d 都是 4 时，哪些方块会跟着升起来？先选好答案，再把“长度 L”拖到 4。
"""

# %% tags=["panel", "guess"]
layout_trap.panel()

# %% tags=["answer"]
layout_trap.panel().still(length=4)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The whole row of token 1 rises, in both sentences.

</details>

The layer treats axis 1 as the features, but axis 1 holds the positions. So it computes one mean per position, over the batch and all features. Switch on *transpose first*: now every raised block carries a 1, which means feature 1 of every token, as it should be.

Which test would have found this? If all sizes are equal, a test that looks only at errors and shapes will not. So use different sizes, and compare values. But different sizes alone are not enough either: code that looks for an axis by its size, such as `x.shape.index(d)`, is right until two sizes are equal. Test with both. And if you do not know what a layer does, poke one number.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

两个句子里，词元 1 的那一整行都会升起来。

</details>

这一层把轴 1 当作特征，而轴 1 上排的其实是位置。于是它把整个小批量和所有特征合在一起，给每个位置算一个均值。再打开“先转置”：升起来的方块上就全是 1 了，也就是所有词元的特征 1，这才对。

怎样测试才能发现这种错误？如果各个轴一样大，只看报不报错、形状对不对，是发现不了的，必须让各个轴取不同的大小，还要比较数值。但如果只测各轴大小不同的张量，又抓不到 `x.shape.index(d)` 这种按大小找轴的写法，它要到两个轴一样大时才出错。两种都要测。要是不清楚一个层做了什么，就推一下其中一个数。
"""

# %% [markdown] lang="en"
r"""
## What other code does differently

**The same axis, opposite meanings.** In Keras, `LayerNormalization(axis=-1)` averages over the last axis. `BatchNormalization(axis=-1)` *keeps* the last axis, because it holds the channels, and averages over all others.

**LayerNorm for images.** The picture in the GroupNorm paper shows a LayerNorm over `(C, H, W)`. [ConvNeXt](https://github.com/pytorch/vision/blob/main/torchvision/models/convnext.py) averages over `C` only, as a Transformer does. Since `F.layer_norm` knows only last axes, torchvision moves the channels to the end and back again:

```python
x = x.permute(0, 2, 3, 1)
x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
x = x.permute(0, 3, 1, 2)
```
"""

# %% [markdown] lang="zh"
r"""
## 别的代码怎么写

**同一个轴，意思相反**：在 Keras 里，`LayerNormalization(axis=-1)` 沿最后一个轴求均值；`BatchNormalization(axis=-1)` 却**保留**最后一个轴，因为那是通道轴，求均值沿的是其余所有的轴。

**图像的层归一化**：组归一化的论文里有一幅图，其中的层归一化沿 `(C, H, W)` 求均值。[ConvNeXt](https://github.com/pytorch/vision/blob/main/torchvision/models/convnext.py) 却和 Transformer 一样，只沿 `C`。`F.layer_norm` 只认最后几个轴，torchvision 就先把通道移到最后，算完再移回来：

```python
x = x.permute(0, 2, 3, 1)
x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
x = x.permute(0, 3, 1, 2)
```
"""

# %% [markdown] lang="en"
r"""
## In short

* In training, and before γ and β, BatchNorm, LayerNorm, InstanceNorm and GroupNorm are one formula. They differ in which numbers share a mean and a variance.
* Push one number, and the outputs that change show you its group. If a group holds only two numbers, push far, or you may see no change.
* The axes that you average over disappear. Keep them with `keepdim=True` when you subtract.
* Wrong axes may raise no error when sizes agree. Test with equal and with different sizes, and compare values.

## Three closing questions

1. A tensor holds 8 sentences of 128 tokens with 768 features. How many means does `LayerNorm(768)` compute, and over how many numbers each? And `BatchNorm1d(768)`, after the transpose? How long is γ?

<details><summary>Answer</summary>

LayerNorm computes 8 × 128 = 1024 means over 768 numbers each, BatchNorm 768 means over 1024 numbers each. γ has 768 entries in both, so its shape does not tell the layers apart.

</details>

2. Some layers are others in disguise. Which layer is BatchNorm in training, if the batch holds a single image? Which one is GroupNorm with as many groups as channels, and which one with a single group?

<details><summary>Answer</summary>

InstanceNorm, InstanceNorm again, and LayerNorm over `(C, H, W)`. This LayerNorm is not the one of a Transformer.

</details>

3. In a language model, the output for a token must not depend on later tokens. This is called *causality*. Which of `LayerNorm((L, d))` and `LayerNorm(d)` can you use, and how does one poke show that the other is wrong?

<details><summary>Answer</summary>

`LayerNorm(d)`. Push a number of the last token: with `LayerNorm((L, d))` the output of token 0 changes, so it depends on the future.

</details>

## Read next

* The paper: [Group Normalization](https://arxiv.org/abs/1803.08494), Wu and He 2018. Its figure 2 shows the groups of four layers.
* An explanation: [Dive into Deep Learning](https://d2l.ai/chapter_convolutional-modern/batch-norm.html) on BatchNorm, with a part on LayerNorm.

You know now which numbers a LayerNorm averages. [Lesson 05](05_layer_norm.ipynb) builds it, exact to the last digit, with γ, β and the right place for ε. If you want to know how BatchNorm gets by in inference, where inputs often come one at a time, take the side trip to [lesson 03](03_ema_momentum.ipynb) first.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 训练时，在乘 γ、加 β 之前，批量归一化、层归一化、实例归一化和组归一化用的是同一个公式，只是共用均值和方差的数不同。
* 推一下其中一个数，哪些输出跟着变，哪些数就与它同组。组里只有两个数时，要推得远一些，否则可能看不出变化。
* 沿哪些轴求均值，哪些轴就消失。要拿均值去减，就用 `keepdim=True` 留住它们。
* 轴的大小相同时，用错了轴也可能不报错。大小相同和不同的张量都要测，还要比较数值。

## 三个思考题

1. 一个张量里有 8 句话，每句 128 个词元，每个词元 768 个特征。`LayerNorm(768)` 要算多少个均值，每个由多少个数得到？转置之后的 `BatchNorm1d(768)` 呢？γ 有多长？

<details><summary>答案</summary>

层归一化算 8 × 128 = 1024 个均值，每个由 768 个数得到；批量归一化算 768 个均值，每个由 1024 个数得到。两者的 γ 都有 768 个数，看它的形状分不出是哪种层。

</details>

2. 有的层其实就是另一种层。如果小批量里只有一幅图像，训练时的批量归一化就是哪种层？组归一化有多少个通道就分多少组，是哪种层？只分一组呢？

<details><summary>答案</summary>

前两个都是实例归一化，最后一个是沿 `(C, H, W)` 的层归一化，它与 Transformer 里的层归一化不同。

</details>

3. 在语言模型里，一个词元的输出不能受后面的词元影响，这叫做**因果性**（causality）。`LayerNorm((L, d))` 和 `LayerNorm(d)`，哪一个可以用？怎样推一下，就能看出另一个不行？

<details><summary>答案</summary>

`LayerNorm(d)` 可以用。推一下最后一个词元的一个数，如果用的是 `LayerNorm((L, d))`，词元 0 的输出也会变，说明它受了后文的影响。

</details>

## 接着读

* 论文：[Group Normalization](https://arxiv.org/abs/1803.08494)，吴育昕和何恺明，2018。组归一化出自这里，图 2 画出了四种层怎样分组。
* 讲解：[《动手学深度学习》英文版](https://d2l.ai/chapter_convolutional-modern/batch-norm.html)讲批量归一化的一节，中间有一小段讲层归一化。

现在你知道层归一化对哪些数求均值了。[第 05 课](05_layer_norm.ipynb)把它写得与 PyTorch 分毫不差，带上 γ、β，ε 也放对地方。推理时往往一次只来一个样本，凑不成一批，批量归一化怎么办？想知道答案，可以先绕道去看选修的[第 03 课](03_ema_momentum.ipynb)。
"""

# %% [markdown] lang="en"
r"""
## Going further: one function, PyTorch's layers

Does one function really cover all these layers? Compare it with PyTorch's. `mine` is your `standardize` from lesson 01, or the package's if you have not saved one. The two `None` in BatchNorm's call leave room for a running mean and a running variance, which lesson 03 explains.
"""

# %% [markdown] lang="zh"
r"""
## 选读：一个函数，PyTorch 的几种层

一个函数真的能代替这么多层吗？拿 PyTorch 的结果一比便知。`mine` 是你在第 01 课写的 `standardize`，没有保存就用课程自带的。批量归一化的两个 `None`，是留给运行均值和运行方差的位置，第 03 课再讲。
"""

# %%
mine = load("standardize") or standardize
images, texts = torch.randn(2, 4, 3, 3), torch.randn(2, 3, 4)  # (N, C, H, W), (N, L, d)


def compare(name, ours, theirs):
    print("✓" if torch.allclose(ours, theirs, atol=1e-5) else "✗", name)


compare("(0, 2, 3)   batch_norm", mine(images, (0, 2, 3)), F.batch_norm(images, None, None, training=True))
compare("(2, 3)      instance_norm", mine(images, (2, 3)), F.instance_norm(images))
compare("(1, 2, 3)   layer_norm, (4, 3, 3)", mine(images, (1, 2, 3)), F.layer_norm(images, (4, 3, 3)))
compare("-1          layer_norm, (4,)", mine(texts, -1), F.layer_norm(texts, (4,)))

# %% [markdown] lang="en"
r"""
They agree. GroupNorm is missing from this list, because half of the channels are not a whole axis. *An axis cut in two* adds it.

The second closing question can be checked in the same way. For the third, add 1000 to one number of the last token, and print the largest change in token 0.
"""

# %% [markdown] lang="zh"
r"""
全都一致。刚才没有比组归一化，因为通道的一半不是一个完整的轴，“把一个轴拆成两个”一节会补上它。

第二个思考题也可以这样验算。至于第三个，就推一下：给最后一个词元的一个数加上 1000，打印词元 0 的输出最多改变了多少。
"""

# %%
compare(
    "2.  batch_norm of images[:1]", F.batch_norm(images[:1], None, None, training=True), F.instance_norm(images[:1])
)
compare("2.  group_norm, 4", F.group_norm(images, 4), F.instance_norm(images))
compare("2.  group_norm, 1", F.group_norm(images, 1), F.layer_norm(images, (4, 3, 3)))
text = torch.randn(8, 128, 768, generator=torch.Generator().manual_seed(0))  # (N, L, d)
later = text.clone()
later[:, -1, 0] += 1000
for shape in [(128, 768), (768,)]:
    change = F.layer_norm(later, shape)[:, 0] - F.layer_norm(text, shape)[:, 0]  # (N, d)
    print(f"3.  {shape!s:10}   {change.abs().max():.2f}")

# %% [markdown] lang="en"
r"""
## Going further: the missing axis

What does `keepdim` protect you from? Take the `x` of *By hand*. In `x - x.mean(0)` the four means meet the four columns, so the result is right. But `x.mean(1)` has the shape `(2,)`, and here a size of 2 meets a size of 4. The shapes do not fit, and PyTorch raises an error.

An error is the lucky case. In the panel, the table is square. Each of its rows holds one number three times, so every result should be 0 once the row means are subtracted. The pale numbers are the copies, and the orange results are wrong. Look at them first, then switch on `keepdim`.
"""

# %% [markdown] lang="zh"
r"""
## 选读：少了一个轴

`keepdim` 防的是什么？用“动手算”里的 `x` 来算 `x - x.mean(0)`，四个均值正好对上四列，没有问题。而 `x.mean(1)` 的形状是 `(2,)`，2 对 4，对不上，PyTorch 就会报错。

报错还算运气好。下面的面板里是一张方表，每一行都是同一个数写三遍，减去各行的均值，结果应该全是 0。浅色的数是复制出来的，橙色的结果是错的。看清楚以后，再打开 `keepdim`。
"""

# %% tags=["panel"]
broadcasting.panel()

# %% [markdown] lang="en"
r"""
Without `keepdim` the three row means are spread across the columns, and 6 of 9 results are wrong. There is no error, because 3 meets 3. With `keepdim=True` the means have the shape `(3, 1)`, which is a column, and each mean meets its own row. So if you take a mean in order to subtract it, keep its axis with `keepdim=True`.
"""

# %% [markdown] lang="zh"
r"""
不写 `keepdim`，三个行均值就横着排到了各列上，9 个结果里有 6 个是错的。3 对 3，大小正好相同，程序没有报错。写上 `keepdim=True`，均值的形状就是 `(3, 1)`，也就是一列，每个均值都对上自己那一行。凡是算出来还要拿去减的均值，都加上 `keepdim=True`，把轴留住。
"""

# %% [markdown] lang="en"
r"""
## Going further: any layout, any axes

The painter shows the groups of any choice of axes. Choose a layout and click on the names of axes: blocks with the same number share a mean. If PyTorch has a layer for your choice, its call is written above.

Which axes does BatchNorm average over if the layout is `(N, L, d)`?
"""

# %% [markdown] lang="zh"
r"""
## 选读：任意布局，任意几个轴

不论沿哪几个轴求均值，这个面板都会画出怎样分组。先选一种布局，再点轴的名字，数字相同的方块共用一个均值。如果 PyTorch 有对应的层，写法会显示在上方。

布局是 `(N, L, d)` 时，批量归一化沿哪些轴求均值？
"""

# %% tags=["panel"]
axis_painter.panel()

# %% tags=["answer"]
axis_painter.panel().still(layout="N L d", axis_0=True, axis_1=True, axis_2=False)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It averages over axes 0 and 1, that is over N and L.

</details>

One mean is then left for each of the d features, over all tokens of all sentences.

**Your turn, one line.** Take the two rows `x` of *By hand* again, a table of the shape `(N, d)`. Along which axes must you average so that all eight numbers share *one* mean? Replace `None`, for instance with `(0,)`.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

沿轴 0 和轴 1，也就是 N 和 L。

</details>

这样，每个特征在所有句子的所有词元上只剩一个均值，一共 d 个。

**轮到你了**，只写一行：再看“动手算”里的两行 `x`，它是一张形状为 `(N, d)` 的表。沿哪些轴求均值，八个数才会共用**一个**均值？请把 `None` 换成你的答案，例如 `(0,)`。
"""

# %% tags=["exercise"]
my_axes = None

check("one_mean_axes", my_axes)

# %% [markdown] lang="en"
r"""
Stuck? The axis that you name disappears.

<details><summary>The idea</summary>

A single mean is left when no axis is left, so name them both.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？写了哪个轴，哪个轴就消失。

<details><summary>思路</summary>

要只剩一个均值，就得一个轴也不剩，两个轴都要写上。

</details>
"""

# %% tags=["solution"]
solved_axes = (0, 1)

check("one_mean_axes", solved_axes, keep=False)

# %% [markdown] lang="en"
r"""
## Going further: real digits

Eight handwritten digits form a batch with one channel. The second row shows them after BatchNorm, and the third after LayerNorm over the whole image. Drag *brightness of n = 2*: which layer gives the dimmed digit its brightness back, and which one changes the *other* seven?
"""

# %% [markdown] lang="zh"
r"""
## 选读：真实的手写数字

八个手写数字组成一个小批量，只有一个通道。第二排是经过批量归一化以后的样子，第三排是经过沿整幅图的层归一化以后的样子。拖动“n = 2 的亮度”，看看经过哪种层，调暗的数字会重新亮起来；又是哪种层，会让**另外**七个也跟着变。
"""

# %% tags=["panel"]
dimmed_digit.panel()

# %% tags=["answer"]
dimmed_digit.panel().still(brightness=0.3)

# %% [markdown] lang="en"
r"""
LayerNorm gives the brightness back, because each image has a mean and a standard deviation of its own. BatchNorm leaves the digit dim and changes the other seven, because all eight images share one mean and one standard deviation. Which is better depends on whether brightness carries information, since LayerNorm discards it.
"""

# %% [markdown] lang="zh"
r"""
经过层归一化，调暗的数字又亮了，因为每幅图都用自己的均值和标准差。经过批量归一化，暗的仍然暗，另外七个也跟着变，因为八幅图共用一个均值和一个标准差。哪种更好，要看亮度里有没有信息，因为层归一化把它丢掉了。
"""

# %% [markdown] lang="en"
r"""
## Going further: one marker, and the words vanish

Why did all sentences look alike to MiniLM when each had only one mean? Send "Someone makes music." through the first three layers, once with a mean per token, and once with a mean per sentence. The marker is the special token `[CLS]`, which MiniLM puts first. `x[0]` is the length of its vector. `x[1:]` is the median length of the others, which are the words, the period and the end marker `[SEP]`. `x[1:] - β` is their median length before the last step of the layer, which adds β. `cos` is the smallest cosine between any two of those others.
"""

# %% [markdown] lang="zh"
r"""
## 选读：一个特殊词元，淹没所有的词

整句话共用一个均值，MiniLM 为什么就分不清句子？我们把“Someone makes music.”送进前三层，一次让每个词元各有一个均值，一次让整句话共用一个。`x[0]` 是句首的特殊词元 `[CLS]` 的向量有多长；`x[1:]` 是其余词元的向量长度的中位数，其余词元就是各个词、句号和句末的 `[SEP]`；`x[1:] - β` 是这一层最后加上 β 之前，它们的长度的中位数；`cos` 是它们两两之间最小的余弦相似度。
"""


# %% tags=["slow"]
def norm_over(axes):
    return lambda x, _, weight, bias, eps: standardize(x, axes, eps) * weight + bias


with skip_if_missing(), torch.inference_mode():
    net = load_minilm().eval()
    for axes in (-1, (-2, -1)):
        with patch_functions(net, layer_norm=norm_over(axes)):
            x = net.embed(net.tokenize(["Someone makes music."])[0])  # (N, L, d)
            for layer in net.layers[:3]:
                x = layer(x)
                beta, others = layer.norm2.bias, F.normalize(x[0, 1:], dim=-1)  # (d,), (L - 1, d)
                length, rest = x[0].norm(dim=-1), (x[0, 1:] - beta).norm(dim=-1)  # (L,), (L - 1,)
                print(f"{axes!s:9} x[0] {length[0]:4.1f}   x[1:] {length[1:].median():4.1f}", end="   ")
                print(f"x[1:] - β {rest.median():5.2f}   β {beta.norm():.2f}   cos {(others @ others.T).min():.2f}")

# %% [markdown] lang="en"
r"""
With a mean per token, the lengths are similar, 8.2 and 12.1 after the first layer. With a mean per sentence, the vector of `[CLS]` is already more than ten times as long as the others after the first layer, so the standard deviation of the sentence comes mostly from it. At the end of each layer, little is left of the other tokens after the division. What is left is shorter than β, which is the same for every token: 0.93 against 1.17 after the first layer. After three layers they all point in nearly the same direction.

There is a second effect: padding counts. Five sentences form a batch, so the short ones are filled up to the longest, and a mean over the whole sentence includes the padding. Compare the cosine of the music in the batch with its cosine when no other sentence is there.
"""

# %% [markdown] lang="zh"
r"""
每个词元各有一个均值时，各个向量的长短相差不大（第一层之后是 8.2 对 12.1）。整句话共用一个均值，过了第一层，`[CLS]` 的向量就已经是其余向量的十倍以上，这句话的标准差也就几乎全由它决定。在每一层的末尾，别的词元除以标准差之后所剩无几，还没有 β 长（第一层之后是 0.93 对 1.17），而 β 对每个词元都一样。过了三层，一句话里别的词元就几乎全都指向同一个方向了。

还有一个后果：填充（padding）也算了进去。五句话组成一个小批量，短句要填充到最长那句的长度，对整句话求均值就带上了填充的部分。比一比讲音乐的那句的余弦相似度，一次放在这一批里算，一次不带别的句子。
"""

# %% tags=["slow"]
guitar, music = "He is playing the guitar.", "Someone makes music."
rest = ["He is playing chess.", "He is reading the news.", "It will rain tomorrow."]
with skip_if_missing(), torch.inference_mode():
    net = load_minilm().eval()
    for axes in (-1, (-2, -1)):
        with patch_functions(net, layer_norm=norm_over(axes)):
            batch = net.encode([guitar, music, *rest])  # (N, d)
            single = net.encode([guitar])[0], net.encode([music])[0]
            print(f"{axes!s:9} N = 5: {batch[0] @ batch[1]:.3f}   N = 1: {single[0] @ single[1]:.3f}")

# %% [markdown] lang="en"
r"""
With a mean per token the cosine is the same both times. With a mean per sentence it depends on how long the other sentences are.
"""

# %% [markdown] lang="zh"
r"""
每个词元各有一个均值时，两次的余弦相似度一样。整句话共用一个均值时，相似度就随同批句子的长短而变了。
"""

# %% [markdown] lang="en"
r"""
## Going further: one loop too many

If you write BatchNorm for text from scratch, it is easy to loop over positions *and* features, or to write `mean(0)`. There is no error, but this is another layer, with L × d means over only N numbers each. Here it gets two sentences of one number each, 1 and 3. What happens to the outputs when the first number grows by 1, by 10 or by 1000?
"""

# %% [markdown] lang="zh"
r"""
## 选读：多了一层循环

从零实现文本的批量归一化时，很容易既循环位置、又循环特征，或者干脆写成 `mean(0)`。程序不报错，却成了另一种层，一共有 L × d 个均值，每个只由 N 个数得到。下面给它两个句子，各只有一个数，分别是 1 和 3。第一个数增加 1、10、1000，输出会怎样？
"""


# %%
def one_loop_too_many(x):  # (N, L, d)
    y = torch.empty_like(x)
    for position in range(x.shape[1]):
        for feature in range(x.shape[2]):
            y[:, position, feature] = standardize(x[:, position, feature], 0)  # (N,)
    return y


for push in (0, 1, 10, 1000):
    y = one_loop_too_many(torch.tensor([[[1.0 + push]], [[3.0]]]))  # (N, 1, 1)
    print(f"push {push:4}   {y[0].item():6.3f}   {y[1].item():6.3f}")

# %% [markdown] lang="en"
r"""
With two numbers per mean, almost all that survives is **which one is larger**. Lesson 04 takes this up. A push of 1 changes nothing in the three decimals printed, although both numbers share a mean. Only a push that changes the order reveals it. So when groups are small, push far.
"""

# %% [markdown] lang="zh"
r"""
两个数共用一个均值，几乎就**只剩下谁大谁小**，第 04 课会接着讲。推 1 的时候，打印的三位小数一点没变，看上去就像两个数各算各的，其实它们共用一个均值。要推到大小颠倒，才看得出来。组很小的时候，要推得远一些。
"""

# %% [markdown] lang="en"
r"""
## Going further: what γ and β can undo

For BatchNorm on `(N, C, H, W)`, γ and β have the shape `(C,)` and must land on axis 1. So they are viewed as `(C, 1, 1)` first. Those of LayerNorm have the shape `normalized_shape` and land right by themselves.

Can γ and β undo the standardizing? Let γ be the standard deviation and β the mean of one mini-batch, and send two mini-batches through. The last line treats the same six numbers as two tokens, for LayerNorm.
"""

# %% [markdown] lang="zh"
r"""
## 选读：γ 和 β 能抵消什么

批量归一化处理 `(N, C, H, W)` 时，γ 和 β 的形状是 `(C,)`，要对准轴 1，得先变形为 `(C, 1, 1)`。层归一化的 γ 和 β，形状就是 `normalized_shape`，本来就对得上。

γ 和 β 能不能把标准化抵消掉？取一个小批量，让 γ 等于它的标准差，β 等于它的均值，再送两个小批量进去。最后一行把同样的六个数当作两个词元，改用层归一化。
"""

# %%
first = torch.tensor([[2.0], [4.0], [6.0]])  # (N, C)
second = first + 10
gamma, beta = (first.var(0, correction=0) + 1e-5).sqrt(), first.mean(0)  # (C,) each
for batch in (first, second):
    y = standardize(batch, 0) * gamma + beta
    print("y - x", (y - batch).flatten().round(decimals=2).tolist())
tokens = torch.stack([first, second]).squeeze(-1)  # (L, d)
y = standardize(tokens, -1) * gamma + beta
print("y - x", (y - tokens).round(decimals=2).tolist())

# %% [markdown] lang="en"
r"""
For the first mini-batch the difference is 0: γ multiplies by the standard deviation that was divided out, and β adds the mean that was subtracted. For the second it is −10, because its output is the same as that of the first.

In training, one γ and one β serve every mini-batch, and the means differ. So they can only undo the standardizing of a mini-batch whose mean and standard deviation happen to equal β and γ. In inference BatchNorm's mean and variance are fixed (lesson 03), and then γ and β can undo it for every input. For LayerNorm this never works. Both tokens share one γ and one β, but each has a mean of its own, so only one of them comes back.
"""

# %% [markdown] lang="zh"
r"""
第一个小批量的差是 0，因为 γ 把除掉的标准差乘了回来，β 把减掉的均值加了回来。第二个的差是 −10，因为它的输出与第一个一模一样。

训练时，各个小批量共用同一组 γ 和 β，均值却各不相同，所以只能抵消均值和标准差恰好等于 β 和 γ 的小批量。推理时，批量归一化的均值和方差是固定的（第 03 课），这时不论输入是什么，γ 和 β 都能抵消标准化。层归一化却始终不能：两个词元共用一组 γ 和 β，均值却各有一个，所以还原的只有一个词元。
"""

# %% [markdown] lang="en"
r"""
## Going further: an axis cut in two

GroupNorm does not average over whole axes. It cuts the channels into groups of neighbors, and in every sample each group has a mean and a variance of its own. The picture shows 4 channels in 2 groups: 10 is added to one number. The blocks that rise have an orange outline, and they are those with the group number of the pushed one.
"""

# %% [markdown] lang="zh"
r"""
## 选读：把一个轴拆成两个

组归一化求均值的范围，不是几个完整的轴。它把相邻的通道编成组，在每个样本里，每一组各有自己的均值和方差。下图是 4 个通道分成 2 组的样子：给一个数加上 10。升起来的方块描了橙色的边，它们正是与那个数组号相同的方块。
"""

# %%
poke_one_number.panel().still(layer="group 2", push=10, paint=True)

# %% [markdown] lang="en"
r"""
An axis is cut with `unflatten`. From then on, its two parts are axes like any others: axis 1 counts the groups, and axis 2 counts the channels inside a group. Average over axis 2 and all axes behind it, then `flatten` the two parts into one axis again.
"""

# %% [markdown] lang="zh"
r"""
拆轴用 `unflatten`。拆开之后，两部分就是两个普通的轴：轴 1 是组的编号，轴 2 是组内的通道。沿轴 2 和它后面所有的轴求均值，再用 `flatten` 把两个轴合回去。
"""

# %%
channels = torch.tensor([[1.0, 3.0, 10.0, 40.0]])  # (N, C)
groups = channels.unflatten(1, (2, -1))  # (N, G, C/G)
print(groups.tolist(), "  mean", groups.mean(2).tolist())
print("ours   ", standardize(groups, 2).flatten(1, 2))
print("theirs ", F.group_norm(channels, 2))

# %% [markdown] lang="en"
r"""
**Your turn, GroupNorm.** Write it for any number of axes behind the channels. At the end, do not forget γ (`weight`) and β (`bias`), which have one number per channel.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，写出组归一化。通道后面可以有任意多个轴。最后别忘了乘以 γ（`weight`）、加上 β（`bias`），每个通道各有一个数。
"""


# %% tags=["exercise"]
def my_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):  # (N, C, *)
    return ...


check("group_norm", my_group_norm)

# %% [markdown] lang="en"
r"""
Stuck? Print the shape after `unflatten`, and name every axis from 2 on. For γ and β see the section *What γ and β can undo*.

<details><summary>The idea</summary>

After the cut, a group is made of whole axes, so `standardize` can do the rest. γ and β belong to channels. So apply them after `flatten`, viewed with size 1 on every axis behind the channels.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`unflatten` 之后打印形状，从轴 2 起，每个轴都要写上。γ 和 β 怎样对齐，见“γ 和 β 能抵消什么”一节。

<details><summary>思路</summary>

拆开之后，一组数正好占满几个完整的轴，剩下的交给 `standardize` 就行。γ 和 β 是按通道的，要等 `flatten` 把轴合回去再用，并且变形，让后面每个轴的大小都是 1。

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
