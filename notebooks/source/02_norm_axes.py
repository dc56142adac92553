# %% [markdown] lang="en"
r"""
# 02 Which numbers share one mean?

In training, and apart from a learned scale γ and shift β at the end, BatchNorm, LayerNorm, InstanceNorm and GroupNorm are one formula:

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

Only one thing tells them apart: **which numbers are averaged** into one mean $\mu$ and one variance $\sigma^2$ (ε, here 0.00001, prevents dividing by 0). Nothing is squeezed into the range from 0 to 1; the formula subtracts the mean and divides by the standard deviation, which is called **standardizing**.

After this lesson you can say for any layer and any tensor which numbers share a mean, write BatchNorm and LayerNorm in one line each, and find a layout mistake that raises no error. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 02 哪些数共用一个均值？

批量归一化（BatchNorm）、层归一化（LayerNorm）、实例归一化（InstanceNorm）和组归一化（GroupNorm），训练时用的是同一个公式；最后的缩放参数 γ 和平移参数 β 由训练得到，这里先略去：

$$\hat{x} = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$

它们只有一点不同：均值（mean）$\mu$ 和方差（variance）$\sigma^2$ 是**用哪些数算出来的**。ε 防止除以 0，这里取 0.00001。这里的“归一化”（normalization，有的教材译作“规范化”）不是把数压缩到 0 和 1 之间：公式先减去均值，再除以标准差，这一步叫作**标准化**（standardization）。

学完这一课，面对任意一种归一化层、任意形状的张量，你都能说出哪些数共用一个均值；能各用一行代码写出批量归一化和层归一化；还能找出一种不报错的布局错误。大约需要 20 分钟。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import batch_norm, batch_norm_loops, layer_norm, layer_norm_loops, standardize
from blocklab.digits import load_digits
from blocklab.lessons import check
from blocklab.lessons.norm_axes import axis_painter, dimmed_digit, layout_trap, poke_one_number

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
## Two rows by hand

Two samples with four features each, and the formula row by row. `keepdim=True` keeps the averaged axis with size 1, so that the subtraction broadcasts.
"""

# %% [markdown] lang="zh"
r"""
## 动手算两行

取两个样本，每个样本四个特征，逐行套用公式。`keepdim=True` 把求过均值的轴保留下来，大小为 1，这样相减时才能正确广播（broadcasting）。
"""

# %%
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])  # (N, d)
mean = x.mean(-1, keepdim=True)  # (N, 1)
variance = (x - mean).square().mean(-1, keepdim=True)  # (N, 1)
(x - mean) / (variance + 1e-5).sqrt()  # (N, d)

# %% [markdown] lang="en"
r"""
The second row is ten times the first, and yet, apart from a touch of ε, the results agree. `standardize(x, axes)` is this formula for any axes; here −1 makes it LayerNorm, 0 BatchNorm (`assert_close` is silent when its two arguments agree):
"""

# %% [markdown] lang="zh"
r"""
第二行是第一行的十倍，除了 ε 的一点影响，结果却一样。函数 `standardize(x, axes)` 就是这个公式，轴可以任意选；这里选 −1 就是层归一化，选 0 就是批量归一化（`assert_close` 没有输出，就说明两个参数一致）：
"""

# %%
torch.testing.assert_close(standardize(x, -1), F.layer_norm(x, (4,)))
torch.testing.assert_close(standardize(x, 0), F.batch_norm(x, None, None, training=True))
standardize(x, 0)

# %% [markdown] lang="en"
r"""
**Your turn, one line.** Which axes make all eight numbers share *one* mean? Replace `None`, for instance by `(0,)`, and run the cell.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行：沿哪些轴求均值，才能让八个数共用**一个**均值？请把 `None` 换成你的答案，例如 `(0,)`，再运行。
"""

# %% tags=["exercise"]
my_axes = None

check("one_mean_axes", my_axes)

# %% tags=["solution"]
solved_axes = (0, 1)

check("one_mean_axes", solved_axes)

# %% [markdown] lang="en"
r"""
## Poke one number

A tensor of shape `(N, C, H, W)`, drawn as blocks: samples side by side, one plate per channel, and in each plate height and width. We push *one* input number, that is, add something to it; every block whose **output** changes is raised.

**Predict first.** The layer is BatchNorm, and one of the 2 × 4 × 3 × 3 = 72 numbers is pushed. How many outputs move? Choose, then drag *push*.
"""

# %% [markdown] lang="zh"
r"""
## 推一推：只改一个数

下面把形状为 `(N, C, H, W)` 的张量画成方块：样本左右并排，每个通道（channel）是一片，每片里是高和宽。我们只推动**一个**输入，也就是给它加上一个数；凡是**输出**变了的方块，都会升起来。

**先猜一猜**：这一层是批量归一化，共有 2 × 4 × 3 × 3 = 72 个数，推动其中一个，会有多少个输出改变？先选，再拖动“推多少”。
"""

# %% tags=["panel", "guess"]
poke_one_number.panel()

# %% [markdown] lang="en"
r"""
Try these layers with a push of 10 (RMSNorm waits for lesson 06):

| layer | averaged axes | outputs that move |
|---|---|---|
| BatchNorm | `N, H, W` | 18: the channel, in *every* sample |
| LayerNorm over `(C, H, W)` | `C, H, W` | 36: the sample |
| InstanceNorm | `H, W` | 9: one plate |
| GroupNorm, 2 groups | half of `C`, and `H, W` | 18, but other ones than BatchNorm's |
| LayerNorm per position, as in a Transformer | `C` | 4: the position's channels |

Then paint the groups. The numbers come from the formula (with many groups the colours repeat), the raised blocks from the function. They agree.

Three discoveries are waiting. With N = 1 BatchNorm *is* InstanceNorm. GroupNorm with 1 group is LayerNorm over `(C, H, W)`, with 4 groups, one per channel, InstanceNorm. And, back at N = 2, the `dim=0` of the source notes (below) moves 2 outputs only, and a push of 1000 looks like one of 10. Two numbers share a mean there, and unless they are almost equal, one becomes +1 and the other −1: **only their order survives**.

The same in code (silent: all agree):
"""

# %% [markdown] lang="zh"
r"""
每次都推 10，试试下面这些层（RMSNorm 留到第 06 课）：

| 层 | 沿哪些轴求均值 | 改变的输出 |
|---|---|---|
| 批量归一化（BatchNorm） | `N, H, W` | 18 个：**所有**样本的同一通道 |
| 层归一化（LayerNorm），沿 `(C, H, W)` | `C, H, W` | 36 个：整个样本 |
| 实例归一化（InstanceNorm） | `H, W` | 9 个：只有这一片 |
| 组归一化（GroupNorm），2 组 | `C` 的一半，以及 `H, W` | 18 个，但和批量归一化的不是同一批 |
| 逐位置的层归一化，即 Transformer 里的用法 | `C` | 4 个：这个位置的各个通道 |

再打开“按公式给各组涂色”。方块上的数字来自公式（组太多时，颜色会重复），升起的方块来自函数的实际结果，两者一致。

这里藏着三个发现。N = 1 时，批量归一化**就是**实例归一化。组归一化取 1 组，就是沿 `(C, H, W)` 的层归一化；取 4 组，每个通道自成一组，就是实例归一化。再回到 N = 2：原始笔记里的 `dim=0`（见下一节）只改变 2 个输出，而且推 1000 和推 10 看起来一样。因为那里只有两个数共用一个均值，只要两者不是几乎相等，标准化之后就是一个 +1、一个 −1：**只剩下谁大谁小**。

代码也能说明同样的事（没有输出，就是全都一致）：
"""

# %%
images = torch.randn(2, 4, 3, 3)  # (N, C, H, W)
torch.testing.assert_close(standardize(images, (0, 2, 3)), F.batch_norm(images, None, None, training=True))
torch.testing.assert_close(standardize(images, (1, 2, 3)), F.layer_norm(images, (4, 3, 3)))
torch.testing.assert_close(standardize(images, (2, 3)), F.instance_norm(images))

# %% [markdown] lang="en"
r"""
## What the source notes say

The notes behind these lessons give two loops for a text of shape `(N, L, d)`: N sentences, L positions, d features. LayerNorm: for every sentence and position, average over the features. BatchNorm: for every position and feature, average over the batch. Do they match torch?
"""

# %% [markdown] lang="zh"
r"""
## 原始笔记怎么说

这套课程所依据的原始笔记里有两段循环代码，处理的都是形状为 `(N, L, d)` 的文本：N 个句子、L 个位置、d 个特征。层归一化：对每个句子的每个位置，沿特征轴求均值。批量归一化：对每个位置的每个特征，沿批量轴求均值。它们和 torch 一致吗？
"""

# %% claims=["E02"]
text = torch.randn(3, 5, 4)  # (N, L, d)
torch_batch = F.batch_norm(text.mT, None, None, training=True).mT  # (N, L, d)
torch.testing.assert_close(layer_norm_loops(text), F.layer_norm(text, (4,)))
torch.testing.assert_close(batch_norm_loops(text), torch_batch)
notes_batch = batch_norm_loops(text, per_position=True)
print(f"{(notes_batch - torch_batch).abs().max():.2f}")
torch.testing.assert_close(notes_batch, standardize(text, 0))

# %% [markdown] lang="en"
r"""
The LayerNorm loop does. The BatchNorm loop is another layer (printed: the largest difference); torch pools batch *and* positions into 4 means, the notes keep 20. Six more claims, tested in turn by the five lines printed below (the last tests two):

| the notes say | does it hold? |
|---|---|
| with `dim=0` their class `Norm` is BatchNorm for `(N, H, W, C)` | No: one mean per pixel and channel, here 36 instead of 4. |
| the same class implements both layers | Not BatchNorm, which once trained handles each sample by itself (lesson 03). Here a sample gives 0 alone and 1 in company. |
| `x_norm` has the shape of the mean `u` | No: `u` is `(N, L, 1)`, `x_norm` has the shape of `x`. |
| LayerNorm works on the whole sample | Over `(C, H, W)`, yes. In a Transformer on each token (the word or part of a word at one position) alone. |
| the channels are red, green and blue | Only in the input, if it is a colour image. After a convolution, C is its number of output channels. |
| C is the sequence length | No: the channels or, in a text, the features (our d). |
"""

# %% [markdown] lang="zh"
r"""
层归一化的循环一致。批量归一化的循环其实是另一种层（打印出来的是最大差别）：torch 沿批量轴**和**位置轴一起求均值，只有 4 个均值；照笔记的写法却有 20 个。还有六个说法，下面打印的五行依次检验它们（最后一行检验两个）：

| 笔记的说法 | 成立吗？ |
|---|---|
| 取 `dim=0`，笔记里的 `Norm` 类就是 `(N, H, W, C)` 上的批量归一化（BatchNorm） | 不成立：这样每个像素的每个通道各有一个均值，这里是 36 个，而不是 4 个。 |
| 两种层都可以用这个类实现 | 批量归一化不行：它训练好之后，每个样本都单独处理（见第 03 课）；而用这个类，同一个样本单独算得 0，和别的样本一起算却得 1。 |
| `x_norm` 与均值 `u` 的形状相同 | 不成立：`u` 的形状是 `(N, L, 1)`，`x_norm` 的形状与 `x` 相同。 |
| 层归一化（LayerNorm）作用于整个样本 | 沿 `(C, H, W)` 求均值时，成立。在 Transformer 里，它只作用于单个词元（token，即一个位置上的词或词的一部分）。 |
| 通道就是红、绿、蓝 | 只有输入的彩色图像是这样。经过卷积之后，C 就是卷积的输出通道数。 |
| C 是序列长度 | 不成立：C 是通道数；对文本来说，是特征数（这里的 d）。 |
"""

# %% claims=["E01", "E03", "E04", "E17"]
photo = torch.randn(2, 3, 3, 4)  # (N, H, W, C)
print(photo.mean(0).numel(), photo.mean((0, 1, 2)).numel())
alone = torch.tensor([[1.0, 2.0, 3.0]])
print(standardize(alone, 0)[0], standardize(torch.cat([alone, -alone]), 0)[0])
print(text.mean(-1, keepdim=True).shape, standardize(text, -1).shape)
changed = text.clone()
changed[:, 4] += 3
print((layer_norm(changed, (4,)) != layer_norm(text, (4,))).any(-1)[0])

# %% claims=["E13", "E16"]
after = torch.nn.Conv2d(4, 16, 3)(photo.movedim(-1, 1))  # (N, C, H, W)
print(after.shape[1], torch.nn.BatchNorm1d(4)(text.mT).mT.shape)

# %% [markdown] lang="en"
r"""
## The layout trap

`BatchNorm1d` wants `(N, C, L)`; Transformers keep `(N, L, C)`, with C features. Forget the transpose, and most of the time torch refuses. **Predict first**, then drag: is there a position of the two sliders at which it does not? (The red number is pushed by 10.)
"""

# %% [markdown] lang="zh"
r"""
## 布局陷阱

`BatchNorm1d` 要的是 `(N, C, L)`，而 Transformer 里通常是 `(N, L, C)`，C 是特征数。忘了转置，多数时候 torch 会报错。**先猜一猜**，再拖动：两个滑块停在什么位置时，它不会报错？（图中红色的那个数推了 10。）
"""

# %% tags=["panel"]
layout_trap.panel()

# %% [markdown] lang="en"
r"""
At L = C: the layer takes the positions for channels and keeps one mean per position, over batch and features. A wrong result in silence. So test with sizes that are all different, and once with equal ones.

## Real digits

Eight handwritten digits, one of which you dim. **Predict first.** Which layer gives it its brightness back?
"""

# %% [markdown] lang="zh"
r"""
答案是 L = C：这一层把位置当成了通道，沿批量轴和特征轴求均值，每个位置一个。没有报错，结果却错了。所以测试时，各个轴的大小要互不相同，另外再测一次大小相同的。

## 真实的手写数字

这里有八个手写数字，你来把其中一个调暗。**先猜一猜**：经过哪种层，它会重新亮起来？
"""

# %% tags=["panel"]
digits = load_digits()[0][:8].unsqueeze(1) / 16  # (N, 1, H, W)
dimmed_digit.panel(digits)

# %% [markdown] lang="en"
r"""
LayerNorm: it standardizes each image by its own mean and standard deviation, and but for ε the brightness cancels. BatchNorm uses one mean and one standard deviation for all (there is one channel): the dim digit stays dim, and even the other images change.

## Exercise: two layers, one line each

Write both with `standardize`, without γ and β. First BatchNorm, as in training:
"""

# %% [markdown] lang="zh"
r"""
是层归一化（LayerNorm）：每幅图都按自己的均值和标准差来标准化，不计 ε 的影响，亮度就抵消了。批量归一化（BatchNorm）让所有图共用一个均值和一个标准差（这里只有一个通道）：暗的仍然暗，连其他图也跟着变。

## 练习：两种层，各写一行

请用 `standardize` 写出这两种层，不带 γ 和 β。先写批量归一化（BatchNorm），照训练时的做法：
"""


# %% tags=["exercise"]
def my_batch_norm(x):  # (N, C, H, W)
    return ...


check("batch_norm_by_axes", my_batch_norm)


# %% tags=["solution"]
def solved_batch_norm(x):  # (N, C, H, W)
    return standardize(x, (0, 2, 3))


check("batch_norm_by_axes", solved_batch_norm)

# %% [markdown] lang="en"
r"""
Now LayerNorm. As in torch, it gets not the numbers of axes but the *sizes* of the last ones, over which it averages.
"""

# %% [markdown] lang="zh"
r"""
再写层归一化（LayerNorm）。和 torch 的用法一样，它收到的不是轴的编号，而是最后几个轴的**大小**，均值就沿这几个轴来求。
"""


# %% tags=["exercise"]
def my_layer_norm(x, normalized_shape):  # (*, *normalized_shape)
    return ...


check("layer_norm_by_axes", my_layer_norm)

# %% [markdown] lang="en"
r"""
Stuck? Push one number in the first panel and see along which axes the raised blocks lie. For the second function: the last axes of `x` are −1, −2 and so on. The solution is folded below; nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？回到第一个面板，推一个数，看看升起的方块沿哪些轴排列。第二个函数：从后往前数，`x` 的轴是 −1、−2，依此类推。参考答案折叠在下面；后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_layer_norm(x, normalized_shape):  # (*, *normalized_shape)
    return standardize(x, tuple(range(-len(normalized_shape), 0)))


check("layer_norm_by_axes", solved_layer_norm)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. For 8 sentences × 128 tokens × 768 features: how many means do `LayerNorm(768)` and (after the transpose) `BatchNorm1d(768)` compute, each over how many numbers? γ has one number per feature: how long is it?

<details><summary>Answer</summary>

1024 means over 768 numbers; 768 means over 1024 numbers. γ has 768 entries both times: its shape does not tell the two apart.

</details>

2. Someone feeds a tensor of shape `(32, 64, 64)`, that is `(N, L, C)`, to `BatchNorm1d(64)`. No error. What was computed, and which test would have shown it?

<details><summary>Answer</summary>

One mean per position, over batch and features. Any test with L ≠ C raises an error.

</details>

3. In a language model a token's output must not depend on later tokens (*causality*). Someone uses `LayerNorm([L, d])`. What breaks, and how do you show it?

<details><summary>Answer</summary>

Causality: change the last token, and the output of token 0 moves; with `LayerNorm(d)` it does not.

</details>

The next cell checks the main point of each.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 输入为 8 句 × 128 个词元 × 768 个特征，`LayerNorm(768)` 与（转置后的）`BatchNorm1d(768)` 各计算多少个均值？每个均值由多少个数得到？γ 为每个特征存一个数，它有多长？

<details><summary>答案</summary>

前者 1024 个均值，各由 768 个数得到；后者 768 个均值，各由 1024 个数得到。γ 的长度都是 768，所以只看 γ 的形状分不清两者。

</details>

2. 有人把形状为 `(32, 64, 64)`（即 `(N, L, C)`）的张量直接送入 `BatchNorm1d(64)`，没有报错。实际算的是什么？怎样的测试能发现它？

<details><summary>答案</summary>

每个位置一个均值，沿批量轴和特征轴求得。只要测试时取 L ≠ C，就会报错。

</details>

3. 在语言模型里，一个词元的输出不能受后面的词元影响，这叫作**因果性**（causality）。有人用了 `LayerNorm([L, d])`。这破坏了什么？怎样证明？

<details><summary>答案</summary>

破坏了因果性：只改最后一个词元，第 0 个词元的输出也会变；换成 `LayerNorm(d)`，就不会变。

</details>

下一个单元格验证每个答案的要点。
"""

# %%
text = torch.randn(8, 128, 768)  # (N, L, d)
print(text.mean(-1).numel(), text.mean((0, 1)).numel())
square = torch.randn(32, 64, 64)  # (N, L, C)
torch.testing.assert_close(torch.nn.BatchNorm1d(64)(square).detach(), standardize(square, (0, 2)))
later = text.clone()
later[:, -1] += 3
for shape in [(128, 768), (768,)]:
    print(bool((layer_norm(later, shape) != layer_norm(text, shape))[:, 0].any()))

# %% [markdown] lang="en"
r"""
**In one line:** a normalization layer *is* its choice of which numbers share a mean; to see it, push one number.

## Going further: any axes, and words

Choose a layout and any axes. Blocks with the same number share a mean. Which choices have a layer of their own in torch?
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：归一化层之间的区别，**就是**让哪些数共用一个均值；想看清楚，推动一个数即可。

## 选读：任意选轴，再看词语

任选一种布局和任意几个轴。数字相同的方块共用一个均值。哪些选择在 torch 里有对应的层？
"""

# %% tags=["panel"]
axis_painter.panel()

# %% [markdown] lang="en"
r"""
**Your turn, a third layer.** GroupNorm is no choice of whole axes. It cuts the channels into `num_groups` groups, and in every sample each group has a mean and a variance of its own. Cut the channel axis in two first, then `standardize`, put the axis together again, and last γ (`weight`) and β (`bias`), one number per channel each.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，写第三种层：组归一化沿的不是几个完整的轴。它把通道分成 `num_groups` 组；在每个样本里，每一组各有自己的均值和方差。先把通道轴拆成两个轴，再用 `standardize`，然后把轴合回去，最后乘以 γ（`weight`）、加上 β（`bias`），每个通道各有一个。
"""


# %% tags=["exercise"]
def my_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):  # (N, C, *)
    return ...


check("group_norm", my_group_norm)


# %% tags=["solution"]
def solved_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):  # (N, C, *)
    grouped = x.unflatten(1, (num_groups, -1))  # (N, G, C/G, *)
    y = standardize(grouped, tuple(range(2, grouped.dim())), eps).flatten(1, 2)  # (N, C, *)
    per_channel = (-1, *[1] * (x.dim() - 2))  # (C, 1, ...)
    y = y if weight is None else y * weight.view(per_channel)
    return y if bias is None else y + bias.view(per_channel)


check("group_norm", solved_group_norm)

# %% [markdown] lang="en"
r"""
The same with words. An embedding table turns each token into a vector of features, and LayerNorm gives each vector mean 0 and variance 1, whichever sentence it stands in. BatchNorm would let the same word come out differently in another sentence.
"""

# %% [markdown] lang="zh"
r"""
词语也一样。嵌入表（embedding table）把每个词元变成一个特征向量，层归一化让每个向量的均值为 0、方差为 1，与它在哪个句子里无关。换成批量归一化，同一个词在别的句子里，结果就会不同。
"""

# %%
words = "the cat saw the dog".split()
number = {word: i for i, word in enumerate(sorted(set(words)))}
vectors = torch.nn.Embedding(len(number), 6)(torch.tensor([number[word] for word in words])).detach()  # (L, d)
by_token, by_batch = layer_norm(vectors, (6,)), batch_norm(vectors, None, None, training=True)
shorter = batch_norm(vectors[:3], None, None, training=True)
print(bool((by_token[0] == by_token[3]).all()), bool((by_token[0] == layer_norm(vectors[:3], (6,))[0]).all()))
print(bool((by_batch[0] == by_batch[3]).all()), bool((by_batch[0] == shorter[0]).all()))

# %% [markdown] lang="en"
r"""
## Going further: can γ and β undo it?

One source note says that BatchNorm also undoes its normalization. After standardizing, each channel gets a learned scale γ and shift β. In BatchNorm on `(N, C, H, W)` they have the shape `(C,)` and must land on axis 1, not on the last, so `batch_norm` views γ as `(C, 1, 1)`. In training they can undo the standardizing of one batch only, the first line below: γ and β are the same for every mini-batch, the mean and the variance are not. In `eval()`, the mode of a trained network, mean and variance are fixed (lesson 03), and γ and β can undo it for every input.
"""

# %% [markdown] lang="zh"
r"""
## 选读：γ 和 β 能抵消标准化吗？

有一篇原始笔记说，批量归一化还会抵消自己的归一化。标准化之后，每个通道要乘以缩放参数 γ，再加上平移参数 β，两者都由训练得到。批量归一化处理 `(N, C, H, W)` 时，它们的形状是 `(C,)`，必须与轴 1 对齐，而不是与最后一个轴对齐，所以 `batch_norm` 把 γ 变形为 `(C, 1, 1)`。训练时，它们只能抵消一个小批量的标准化（下面的第一行）：各个小批量共用同一组 γ 和 β，均值和方差却各不相同。训练好之后改用 `eval()`，均值和方差就固定了（见第 03 课），这时不论输入是什么，它们都能抵消标准化。
"""

# %% claims=["E23"]
first, second = 3 * torch.randn(2, 32, 3) + 5  # (N, C) each
gamma = (first.var(0, correction=0) + 1e-5).sqrt()  # (C,)
beta = first.mean(0)  # (C,)
for batch in (first, second):
    y = batch_norm(batch, None, None, gamma, beta, training=True)
    print(f"{(y - batch).abs().max():.2f}")
