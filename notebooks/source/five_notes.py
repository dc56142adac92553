# %% [markdown] lang="en"
r"""
# Appendix: Five notes, claim by claim

Of 55 things that five notes on the web say about the blocks of a Transformer, four can be left as they are. Sixteen are false, and the other thirty-five are the dangerous kind: half true. That is no scandal. Each note was written by someone who had just understood something, and you have probably learned from notes like them; several of these slips travel from page to page.

This course grew out of reading those notes, *the source notes*, with a Python prompt beside them. Here is all of it, ordered by lesson, for everybody who wants to know what to keep of what they once learned. There are no exercises and nothing to hand in. Take the section of the lesson that you have just finished, or open a section whenever you meet its claim again. All of it takes about 60 minutes.

**How to read it.** Read a claim and decide: true, half true or false? *Half true* means that it holds under a condition that is not named, or leaves out what decides. Then run the cell, look for the number that settles it, and unfold the verdict last. Claims are shortened and translated where need be. Their numbers follow the notes:

| claims | the note |
|---|---|
| E01–E15 | on BatchNorm and LayerNorm, in English; it was found twice, so it counts as two |
| E16–E29 | on normalization and positions, in Chinese |
| E30–E36 | LayerNorm from scratch, in Chinese |
| E37–E54 | a notebook on LayerNorm, RMSNorm, MLP and SwiGLU, in Chinese |
| E55 | all of them side by side |
"""

# %% [markdown] lang="zh"
r"""
# 附录：五篇笔记，逐条核对

五篇网上的笔记，讲 Transformer 的各个部件，这里挑出 55 条说法，能原样保留的只有四条。错的有十六条，其余三十五条是最危险的一类：半对半错。这没什么好责怪的：每一篇都出自刚刚弄懂一点东西的人，你多半也读着类似的笔记学过来；其中好几处差错，在网上传来传去。

这套课程就是从这里开始的：一边读这些笔记（**原始笔记**），一边开着 Python 逐句验证。全部结果都在这里，按课的顺序排列，想知道以前学的哪些能留、哪些要改，都可以来查。这里没有练习，也不用交什么。可以学完一课看一节，也可以等再遇到某个说法时来翻。全部读完大约需要 60 分钟。

**怎么读**：先读一条说法，自己判断：对、半对，还是错？**半对**是指它要在某个没有说出的条件下才成立，或者漏掉了关键的一点。然后运行单元格，找出能定案的那个数，最后再展开结论。说法经过缩写，必要时作了翻译。编号按笔记的先后：

| 编号 | 笔记 |
|---|---|
| E01–E15 | 讲批量归一化和层归一化，英文；网上找到两份，所以算两篇 |
| E16–E29 | 讲归一化和位置编码，中文 |
| E30–E36 | 从头实现层归一化，中文 |
| E37–E54 | 讲层归一化、RMSNorm、MLP 和 SwiGLU 的笔记本，中文 |
| E55 | 把它们放在一起看 |
"""

# %%
import math

import torch
import torch.nn.functional as F
from torch import nn

from blocklab_course.i18n import Text
from blocklab.transformer import EncoderLayer

off = Text(en="{}: at most {:.4f} off", zh="{}：最多差 {:.4f}")

# %% [markdown] lang="en"
r"""
## Do they agree?

Before asking who is right, ask whether the notes can all be right. Five texts on the same few blocks should say the same; where two of them differ, at least one needs a word more.

**E55.** “Where two notes speak of the same thing, they say the same.”
"""

# %% [markdown] lang="zh"
r"""
## 它们一致吗？

先别问谁对，先问它们能不能都对。五篇文字讲的是同样几个部件，说法理应一样；只要有两篇不同，至少有一篇话没有说全。

**E55**：“几篇笔记凡是讲到同一件事，说法都一样。”
"""

# %% tags=["answer"] claims=["E55"]
layer = nn.BatchNorm2d(3)
print("eps", layer.eps, " momentum", layer.momentum, [name for name, _ in layer.named_parameters()])
print("x", tuple(torch.randn(2, 3, 4, 5).shape), " running_mean", tuple(layer.running_mean.shape))

# %% [markdown] lang="en"
r"""
<details><summary>E55: true or false?</summary>

**False.** They differ on six points, and PyTorch settles five of them:

| | one note | another | PyTorch | lesson |
|---|---|---|---|---|
| ε | `1e-12` | `1e-5`, inside the root or outside | `1e-5`, inside | [05](05_layer_norm.ipynb) |
| momentum | close to 1 | 0.1 | 0.1, the weight of the *new* value | [03](03_ema_momentum.ipynb) |
| an image | `(N, H, W, C)` | `(N, C, H, W)` | `(N, C, H, W)` | [02](02_norm_axes.ipynb) |
| BatchNorm keeps one mean per | position and feature | feature | channel | [02](02_norm_axes.ipynb) |
| the parameters are called | `gamma`, `beta` | `weight`, `bias` | `weight`, `bias` | [05](05_layer_norm.ipynb) |
| the Chinese word | `归一化` | `歸一化`, `標準化` | – | [glossary](glossary.ipynb) |

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E55：对还是错？</summary>

**错**。有六处不同，其中五处可以由 PyTorch 裁定：

| | 一篇说 | 另一篇说 | PyTorch | 课 |
|---|---|---|---|---|
| ε | `1e-12` | `1e-5`，根号里或根号外 | `1e-5`，根号里 | [05](05_layer_norm.ipynb) |
| 动量（momentum） | 接近 1 | 0.1 | 0.1，是**新**值的权重 | [03](03_ema_momentum.ipynb) |
| 图像的形状 | `(N, H, W, C)` | `(N, C, H, W)` | `(N, C, H, W)` | [02](02_norm_axes.ipynb) |
| 批量归一化按什么分组求均值 | 每个位置的每个特征 | 每个特征 | 每个通道 | [02](02_norm_axes.ipynb) |
| 参数的名字 | `gamma`、`beta` | `weight`、`bias` | `weight`、`bias` | [05](05_layer_norm.ipynb) |
| 中文名称 | `归一化` | `歸一化`、`標準化` | – | [术语表](glossary.ipynb) |

</details>
"""

# %% [markdown] lang="en"
r"""
## Why normalize at all

A note that wants to say why a layer is needed tells a story, and the numbers in a story are rarely checked. The next ones come from the motivation of BatchNorm and LayerNorm. Each is near the truth; what is off is how much it promises. The answers in full are in [lesson 01](01_why_normalize.ipynb).

**E20.** “With the weight 0.1 the inputs 1 and 20 become 0.1 and 2, after tanh about 0.1 and about 1. However much larger x gets, the output stays near 1.”
"""

# %% [markdown] lang="zh"
r"""
## 为什么要归一化

要说明一个层为什么必要，笔记就会讲个故事，而故事里的数字很少有人核对。下面几条都出自批量归一化和层归一化的“动机”部分。它们离事实都不远，问题在于话说得太满。完整的解答在[第 01 课](01_why_normalize.ipynb)。

**E20**：“权重是 0.1，输入 1 和 20 就变成 0.1 和 2，经过 tanh 之后是约 0.1 和约 1；x 无论再扩大多少，输出仍然接近 1。”
"""

# %% tags=["answer"] claims=["E20"]
z = torch.tensor([0.1, 2.0, 5.0])
print("tanh(z)       ", torch.tanh(z))
print("1 - tanh(z)**2", 1 - torch.tanh(z) ** 2)

# %% [markdown] lang="en"
r"""
<details><summary>E20: true or false?</summary>

**Half true.** At 2 the output is 0.964, still on its way to 1. What has collapsed is the *slope*, from 0.99 to 0.07, and it is the slope that the gradient is multiplied by. ([01](01_why_normalize.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E20：对还是错？</summary>

**半对**。在 2 处，输出是 0.964，离 1 还有一段。真正垮掉的是**斜率**，从 0.99 降到 0.07，而梯度要乘的正是斜率。（[01](01_why_normalize.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E24.** “Without BatchNorm most activations behind tanh are −1 or 1; with it, every interval keeps its share.”
"""

# %% [markdown] lang="zh"
r"""
**E24**：“不做批量归一化，tanh 之后大部分激活值不是 −1 就是 1；做了之后，每个区间里都还有激活值。”
"""

# %% tags=["answer"] claims=["E24"]
for s in (0.5, 1.0, 2.0, 20.0):
    print(f"σ = {s:4}   P(|tanh| > 0.9) = {1 - math.erf(math.atanh(0.9) / s / 2**0.5):.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>E24: true or false?</summary>

**Half true.** It depends on how wide the inputs of tanh are: for normally distributed inputs with standard deviation 20, 94% lie beyond ±0.9, with 2 it is 46%. At 1, where BatchNorm puts them at first, it is still 14%. ([01](01_why_normalize.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E24：对还是错？</summary>

**半对**。这取决于 tanh 的输入有多分散：输入服从正态分布时，标准差是 20，就有 94% 超出 ±0.9；是 2，则有 46%。批量归一化起初使标准差为 1，这时也还有 14%。（[01](01_why_normalize.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E21.** “BatchNorm divides a batch of data into several small batches for stochastic gradient descent.”
"""

# %% [markdown] lang="zh"
r"""
**E21**：“批量归一化是将一批数据分成若干小批，用于随机梯度下降。”
"""

# %% tags=["answer"] claims=["E21"]
x = torch.tensor([[1.0], [2.0], [4.0]], requires_grad=True)  # (N, C)
nn.BatchNorm1d(1)(x)[0].sum().backward()
print("x.grad", x.grad.flatten())

# %% [markdown] lang="en"
r"""
<details><summary>E21: true or false?</summary>

**False.** That is mini-batch gradient descent, which needs no normalization. BatchNorm takes mean and variance *from* the mini-batch and lets the gradient through both: here only output 0 was differentiated, and all three samples get a gradient. ([01](01_why_normalize.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E21：对还是错？</summary>

**错**。那是小批量梯度下降，不需要任何归一化。批量归一化是**从**小批量求出均值和方差，并让梯度穿过这两者：这里只对第 0 个输出求梯度，三个样本却都得到了梯度。（[01](01_why_normalize.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E38.** “Because every sample is normalized, its gradient is stable, neither too large nor too small.”
"""

# %% [markdown] lang="zh"
r"""
**E38**：“由于对每个样本做了归一化，梯度是稳定的，不会过大或者过小。”
"""

# %% tags=["answer"] claims=["E38"]
x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
for scale in (1e-6, 1e-3, 1.0, 1e3):
    jacobian = torch.autograd.functional.jacobian(lambda t: F.layer_norm(t, (4,)), scale * x)
    print(f"{scale:6g} · x   {torch.linalg.matrix_norm(jacobian, 2):.4g}")

# %% [markdown] lang="en"
r"""
<details><summary>E38: true or false?</summary>

**Half true.** The *output* has a fixed scale. The gradient is divided by σ on its way back, so printed above is the largest factor by which LayerNorm stretches it: 316 for a tiny input, 0.0009 for a large one. Without ε there would be no upper limit at all. ([01](01_why_normalize.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E38：对还是错？</summary>

**半对**。尺度固定的是**输出**。梯度往回传时要除以 σ：上面打印的就是层归一化最多把梯度放大多少倍，输入极小时是 316 倍，输入大时是 0.0009 倍。要是没有 ε，就根本没有上限。（[01](01_why_normalize.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## Which numbers share one mean

Normalization layers differ in one thing, the axes that are averaged over, and letters and axis numbers are the easiest things in the world to swap. The code then runs, returns the right shape, and is another layer. Most of the claims below are of this kind. The answers in full are in [lesson 02](02_norm_axes.ipynb).

**E13.** “In computer vision the channel dimension is the RGB channel.”

**E16.** “N is the batch size, C the length of the sequence, H and W are the size of the embedding.”
"""

# %% [markdown] lang="zh"
r"""
## 哪些数共用一个均值

各种归一化层只差在一件事上：沿哪些轴求均值。而字母和轴的编号又最容易弄混。弄混之后代码照样运行，形状也对，却成了另一种层。下面的说法大多属于这一类。完整的解答在[第 02 课](02_norm_axes.ipynb)。

**E13**：“在计算机视觉中，通道维度就是 RGB 通道。”

**E16**：“N 代表批量大小，C 代表序列长度，H、W 代表嵌入尺寸。”
"""

# %% tags=["answer"] claims=["E13", "E16"]
photo = torch.randn(2, 3, 8, 8)  # (N, C, H, W)
print("photo       ", tuple(photo.shape))
print("Conv2d      ", tuple(nn.Conv2d(3, 16, 3)(photo).shape))
print("running_mean", tuple(nn.BatchNorm2d(16).running_mean.shape))

# %% [markdown] lang="en"
r"""
<details><summary>E13: true or false?</summary>

**Half true.** Only where a color image comes in. After a convolution C is the number of its *output* channels, here 16, and these are what BatchNorm gets. ([02](02_norm_axes.ipynb))

</details>

<details><summary>E16: true or false?</summary>

**False.** C is the number of channels, H and W are height and width. For a text PyTorch writes `(N, C, L)`: there C is the size of the embedding and L the length, so the note swaps the very two axes that tell the layers apart. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E13：对还是错？</summary>

**半对**。只有刚输入的彩色图像才是这样。卷积之后，C 是卷积的**输出**通道数，这里是 16，送进批量归一化的正是它们。（[02](02_norm_axes.ipynb)）

</details>

<details><summary>E16：对还是错？</summary>

**错**。C 是通道数，H、W 是高和宽。对于文本，PyTorch 写作 `(N, C, L)`：那里的 C 才是嵌入的大小，L 是序列长度。要分清各种层，靠的正是这两个轴，笔记偏偏把它们弄反了。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E01.** “When using it for BatchNorm, `dim=0`, assuming x is of the shape `(batch_size, H, W, channel)`.”
"""

# %% [markdown] lang="zh"
r"""
**E01**：“用作批量归一化时取 `dim=0`，假设 x 的形状是 `(batch_size, H, W, channel)`。”
"""


# %% tags=["answer"] claims=["E01"]
def norm(x, dim):  # the note's class, with γ = 1 and β = 0
    u = x.mean(dim, keepdim=True)
    s = (x - u).pow(2).mean(dim, keepdim=True)
    return (x - u) / torch.sqrt(s + 1e-12)


x = torch.randn(2, 3, 3, 4)  # (N, H, W, C)
right = nn.BatchNorm2d(4, eps=1e-12)(x.movedim(-1, 1)).movedim(1, -1)
for dim in (0, (0, 1, 2)):
    print(off.format(f"dim={dim}, u {x.mean(dim).numel()}", (norm(x, dim) - right).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E01: true or false?</summary>

**False.** With `dim=0` every pixel of every channel gets a mean of its own, 36 here, and the output differs from PyTorch's by as much as printed. BatchNorm has one mean per channel, which is `dim=(0, 1, 2)`. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E01：对还是错？</summary>

**错**。取 `dim=0`，每个通道的每个像素都有自己的均值，这里有 36 个；与 PyTorch 相差多少，上面打印出来了。批量归一化每个通道只有一个均值，应当取 `dim=(0, 1, 2)`。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E02.** “BatchNorm of a text: for every position i and every feature j, normalize over the batch.”
"""

# %% [markdown] lang="zh"
r"""
**E02**：“文本的批量归一化：对每个位置 i、每个特征 j，沿批量归一化。”
"""

# %% tags=["answer"] claims=["E02"]
text = torch.randn(8, 5, 4)  # (N, L, C)
loops = norm(text, 0)
torch_text = nn.BatchNorm1d(4, eps=1e-12)(text.mT).mT
torch_flat = nn.BatchNorm1d(20, eps=1e-12)(text.flatten(1)).view_as(text)
print(off.format("BatchNorm1d(4)", (loops - torch_text).abs().max()))
print(off.format("BatchNorm1d(20)", (loops - torch_flat).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E02: true or false?</summary>

**False.** That is another layer, `BatchNorm1d` on flattened sentences with 20 means. PyTorch's keeps 4, one per feature, each over batch *and* positions, and so it can read sentences of any length. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E02：对还是错？</summary>

**错**。那是另一种层：把句子拉平之后再做 `BatchNorm1d`，有 20 个均值。PyTorch 的只有 4 个，每个特征一个，沿批量轴**和**位置轴一起求，所以句子长短不限。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E03.** “This one class, with an argument `dim`, is the PyTorch implementation of BatchNorm and of LayerNorm.”
"""

# %% [markdown] lang="zh"
r"""
**E03**：“这一个类带一个参数 `dim`，就是批量归一化和层归一化的 PyTorch 实现。”
"""

# %% tags=["answer"] claims=["E03"]
mine, other = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[9.0, 0.0, 5.0]])  # (1, C)
print(norm(mine, 0)[0], norm(torch.cat([mine, other]), 0)[0])
image = torch.randn(2, 3, 4, 5)  # (N, C, H, W)
try:
    torch.ones(3) * norm(image, (0, 2, 3))
except RuntimeError as error:
    print(error)

# %% [markdown] lang="en"
r"""
<details><summary>E03: true or false?</summary>

**False.** It remembers no statistics, so a trained BatchNorm cannot be made of it: the same sample gives 0, 0, 0 alone and something else in company. And its γ of shape `(C,)` meets the last axis, not the channels of `(N, C, H, W)`. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E03：对还是错？</summary>

**错**。它不记任何统计量，当不成训练好的批量归一化：同一个样本单独算得 0、0、0，有别的样本作伴就不一样了。它的 γ 形状是 `(C,)`，对上的又是最后一个轴，而不是 `(N, C, H, W)` 的通道轴。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E04.** “`x` is `[bz, seq_len, dim]`, `u` is `[bz, seq_len, 1]`, `x_norm` is the same shape with `u`.”
"""

# %% [markdown] lang="zh"
r"""
**E04**：“`x` 是 `[bz, seq_len, dim]`，`u` 是 `[bz, seq_len, 1]`，`x_norm` 与 `u` 形状相同。”
"""

# %% tags=["answer"] claims=["E04"]
x = torch.randn(2, 5, 8)  # (N, L, d)
for dim in (-1, 0):
    print(f"dim={dim:2}   u {tuple(x.mean(dim, keepdim=True).shape)}   x_norm {tuple(norm(x, dim).shape)}")

# %% [markdown] lang="en"
r"""
<details><summary>E04: true or false?</summary>

**False.** `x_norm` has the shape of `x`; it is `s` that has the shape of `u`. The comment also holds for `dim=-1` alone, and its `dim` is a size, the code's `dim` an axis. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E04：对还是错？</summary>

**错**。`x_norm` 与 `x` 形状相同，与 `u` 形状相同的是 `s`。这句注释也只适用于 `dim=-1`；而且注释里的 `dim` 是大小，代码里的 `dim` 是轴。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E17.** “BatchNorm works on the same feature of all samples in the batch, LayerNorm on the same sample.”
"""

# %% [markdown] lang="zh"
r"""
**E17**：“批量归一化对同一批里所有数据的同一特征进行操作，而层归一化对同一样本进行操作。”
"""

# %% tags=["answer"] claims=["E17"]
x = torch.randn(2, 5, 8)  # (N, L, d)
later = x.clone()
later[:, 4] += 3 * torch.randn(8)
for shape in ((8,), (5, 8)):
    change = F.layer_norm(later, shape) - F.layer_norm(x, shape)
    print(f"layer_norm(x, {shape}): token 0 {'==' if change[:, 0].abs().max() == 0 else '!='}")

# %% [markdown] lang="en"
r"""
<details><summary>E17: true or false?</summary>

**Half true.** For images it may be the whole sample. In a Transformer it is each *token* alone: with `(5, 8)`, a whole sentence at once, an early token would feel a later one (`!=`). ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E17：对还是错？</summary>

**半对**。对图像来说，可以是整个样本。在 Transformer 里则是每个**词元**各算各的：要是像 `(5, 8)` 那样整句一起算，前面的词元就会受后面的影响（`!=`）。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E23.** “BatchNorm does not only normalize the data, it also de-normalizes them.”
"""

# %% [markdown] lang="zh"
r"""
**E23**：“批量归一化不只是对数据进行归一化，它还会对数据进行去归一化。”
"""

# %% tags=["answer"] claims=["E23"]
first, second = 3 * torch.randn(2, 32, 3) + 5  # (N, C) each
gamma, beta = (first.var(0, correction=0) + 1e-5).sqrt(), first.mean(0)
for batch in (first, second):
    y = F.batch_norm(batch, None, None, gamma, beta, training=True)
    print(off.format("y - x", (y - batch).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E23: true or false?</summary>

**Half true.** After the normalization come γ and β, which are learned and *could* undo it, yet in training for one batch only: the first line is 0, the second is not. They stay the same from batch to batch; mean and variance do not. ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E23：对还是错？</summary>

**半对**。归一化之后还有 γ 和 β，它们由训练得到，**可以**抵消归一化，但在训练时只抵消得了一个批量：第一行是 0，第二行就不是了。γ、β 在各批量之间不变，均值和方差却会变。（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## What BatchNorm remembers

Two lines of arithmetic, and more confusion than anywhere else in these notes: the same word means opposite things in two frameworks, and everything that is not arithmetic (when, from where, with which variance, saved or not) goes without saying. The answers in full are in [lesson 03](03_ema_momentum.ipynb).

**E06.** “At inference time there could be no batch dimension for batch norm.”
"""

# %% [markdown] lang="zh"
r"""
## 批量归一化记住了什么

只是两行算术，却是这些笔记里最容易弄糊涂的地方：同一个词在两个框架里意思正好相反；算术以外的事（什么时候用，从哪里开始，用哪个方差，要不要保存）又一概没说。完整的解答在[第 03 课](03_ema_momentum.ipynb)。

**E06**：“推理时，批量归一化可能没有批量维度。”
"""

# %% tags=["answer"] claims=["E06"]
layer = nn.BatchNorm1d(2)
try:
    layer(torch.tensor([[1.0, 2.0]]))  # (N, C), N = 1
except ValueError as error:
    print(error)
print("eval():", layer.eval()(torch.tensor([[1.0, 2.0]])).detach())

# %% [markdown] lang="en"
r"""
<details><summary>E06: true or false?</summary>

**Half true.** The axis is still there, of size 1 if you like. What cannot be used are the *statistics* of the batch, because the answer for one sample must not depend on its neighbors, and one number has no variance. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E06：对还是错？</summary>

**半对**。这个轴还在，只不过大小可以是 1。不能用的是批量的**统计量**：一个样本的结果不该取决于同批的其他样本，而单独一个数也没有方差可言。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E07.** “`moving_mean = moving_mean * momentum + batch_mean * (1 - momentum)`, with a momentum close to 1.”

**E08.** “A lower value of momentum means that older values are forgotten sooner.”
"""

# %% [markdown] lang="zh"
r"""
**E07**：“`moving_mean = moving_mean * momentum + batch_mean * (1 - momentum)`，其中 momentum 接近 1。”

**E08**：“momentum 越小，旧的值忘得越快。”
"""

# %% tags=["answer"] claims=["E07", "E08"]
for momentum in (0.01, 0.1, 0.9, 0.99):
    layer = nn.BatchNorm1d(1, momentum=momentum)
    keras = 0.0
    for mean in (10.0, 20.0):
        layer(torch.full((4, 1), mean))
        keras = keras * momentum + mean * (1 - momentum)
    print(f"momentum {momentum:4}   torch {layer.running_mean.item():5.2f}   keras {keras:5.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>E07: true or false?</summary>

**Half true.** So in Keras, where the default is 0.99. In PyTorch momentum is the weight of the *new* value and 0.1 by default, as another of the notes says without a formula; 0.1 there is 0.9 here. ([03](03_ema_momentum.ipynb))

</details>

<details><summary>E08: true or false?</summary>

**Half true.** True in Keras and the reverse in PyTorch. Read the two columns downwards: after the means 10 and 20, it is at 0.01 that Keras has nearly 20, and at 0.99 that PyTorch has. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E07：对还是错？</summary>

**半对**。Keras 是这样，默认值 0.99。在 PyTorch 里，momentum 是**新**值的权重，默认 0.1，另一篇笔记写的就是它，却没有给公式；那里的 0.1 相当于这里的 0.9。（[03](03_ema_momentum.ipynb)）

</details>

<details><summary>E08：对还是错？</summary>

**半对**。在 Keras 里成立，在 PyTorch 里正好相反。两列都从上往下看：均值先是 10，后是 20，Keras 在 0.01 处几乎等于 20，PyTorch 却要到 0.99 处。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E10.** “During training people keep record of the moving average of mean and variance. During inference these values are used.”
"""

# %% [markdown] lang="zh"
r"""
**E10**：“训练时记录均值和方差的移动平均，推理时就使用这些值。”
"""

# %% tags=["answer"] claims=["E10"]
layer = nn.BatchNorm1d(1)
for step in range(1, 45):
    layer(torch.tensor([[9.0], [11.0]]))
    if step in (1, 10, 44):
        print(f"{step:2}   running_mean {layer.running_mean.item():.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>E10: true or false?</summary>

**Half true.** They are used even when they are not ready. They start at 0 and 1 and nothing corrects for it: with a true mean of 10 and PyTorch's default, 10 steps reach 6.51, and only 44 steps 9.90. `momentum=None` averages all batches alike. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E10：对还是错？</summary>

**半对**。哪怕还没准备好，用的也是它们。它们从 0 和 1 开始，又没有任何修正：真实均值是 10，用 PyTorch 的默认设置，10 步才到 6.51，44 步才到 9.90。取 `momentum=None`，则对所有批量一视同仁地求平均。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E11.** “`moving_var = moving_var * momentum + batch_var * (1 - momentum)`, where `batch_var` is the variance that normalizes.”
"""

# %% [markdown] lang="zh"
r"""
**E11**：“`moving_var = moving_var * momentum + batch_var * (1 - momentum)`，其中 `batch_var` 就是归一化时用的那个方差。”
"""

# %% tags=["answer"] claims=["E11"]
x = torch.tensor([[1.0], [2.0], [3.0], [6.0]])  # (N, C)
layer = nn.BatchNorm1d(1, momentum=1.0)
y = layer(x)
torch.testing.assert_close(y, (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt())
print(f"correction=0: {x.var(correction=0):.4f}   correction=1: {x.var(correction=1):.4f}")
print(f"running_var:  {layer.running_var.item():.4f}")

# %% [markdown] lang="en"
r"""
<details><summary>E11: true or false?</summary>

**Half true.** PyTorch uses two: it normalizes with the biased variance (÷ m) and stores the unbiased one (÷ (m − 1)), 3.5 and 4.6667 here. Keras 3 does store the biased one, so both habits are in use. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E11：对还是错？</summary>

**半对**。PyTorch 用两个：归一化用有偏方差（÷ m），存下来的是无偏方差（÷ (m − 1)），这里分别是 3.5 和 4.6667。Keras 3 存的倒是有偏方差，两种做法都有人用。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E12.** “These two lines can stand in a layer as they are.”
"""

# %% [markdown] lang="zh"
r"""
**E12**：“这两行可以原样写进层里。”
"""

# %% tags=["answer"] claims=["E12"]
weight, leaking, clean = torch.ones(1, requires_grad=True), torch.zeros(1), torch.zeros(1)
for value in (1.0, 3.0):
    leaking = leaking * 0.9 + weight * value * 0.1
    clean = clean * 0.9 + (weight * value).detach() * 0.1
print("leaking", type(leaking.grad_fn).__name__, "  clean", type(clean.grad_fn).__name__)
layer = nn.Module()
layer.plain = torch.zeros(1)
layer.register_buffer("kept", torch.zeros(1))
print("state_dict", list(layer.state_dict()))

# %% [markdown] lang="en"
r"""
<details><summary>E12: true or false?</summary>

**Half true.** The arithmetic is right, the code leaks: the average carries the graph of *every* past step with it until memory runs out, and a plain attribute is not saved. It takes `detach` (or `no_grad`) and `register_buffer`. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E12：对还是错？</summary>

**半对**。算术没有错，代码却会泄漏：移动平均把过去**每一步**的计算图都带在身上，直到内存用完；普通属性又不会随模型保存。要用 `detach`（或 `no_grad`），还要用 `register_buffer`。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E09.** “A more efficient way: `moving_mean -= (moving_mean - batch_mean) * (1 - momentum)`.”
"""

# %% [markdown] lang="zh"
r"""
**E09**：“更高效的写法：`moving_mean -= (moving_mean - batch_mean) * (1 - momentum)`。”
"""

# %% tags=["answer"] claims=["E09"]
for dtype in (torch.float32, torch.bfloat16):
    a, b, one = torch.tensor([0.0, 0.0, 1.0], dtype=dtype)
    for _ in range(3000):
        a, b = a * 0.99 + one * 0.01, b - (b - one) * 0.01
    print(f"{dtype!s:15}   a {a.item():.2f}   b {b.item():.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>E09: true or false?</summary>

**Half true.** It saves one multiplication and can work in place, no more; the algebra is the same. What differs is the rounding: towards 1.0 both (a: two products, b: difference) stop early in bfloat16, so the buffers belong in float32. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E09：对还是错？</summary>

**半对**。它省一次乘法，还能就地修改，如此而已；代数上完全一样。差别在舍入：目标是 1.0，用 bfloat16 时，两种写法（a 是两个乘积，b 是差值）都提前停住了，所以缓冲区要用 float32。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E19.** “`eps` is the value to be added to the denominator. `track_running_stats`, when set to true, records mean and variance during training.”
"""

# %% [markdown] lang="zh"
r"""
**E19**：“`eps` 是加到分母上的值。`track_running_stats` 为真时，在训练中记录均值和方差。”
"""

# %% tags=["answer"] claims=["E19"]
pair = torch.tensor([[-1.0], [1.0]])  # (N, C), variance 1
print("eps=1.0:", nn.BatchNorm1d(1, eps=1.0)(pair).detach().flatten())
layer = nn.BatchNorm1d(1, track_running_stats=False).eval()
print("running_mean", layer.running_mean)
for batch in (pair, torch.cat([pair, pair[1:]])):
    print(f"eval(): {layer(batch)[0].item():.4f}")

# %% [markdown] lang="en"
r"""
<details><summary>E19: true or false?</summary>

**Half true.** ε is added to the *variance*, inside the root: with variance 1 and ε = 1 the output is 0.7071, not 0.5. And `track_running_stats=False` does more than not record: `eval()`, too, then takes the batch, so one sample gets two answers. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E19：对还是错？</summary>

**半对**。ε 加在**方差**上，在根号里：方差是 1、ε = 1，输出是 0.7071，而不是 0.5。`track_running_stats=False` 也不只是不记录：这时 `eval()` 也用批量的统计量，同一个样本就有了两种结果。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E22.** “BatchNorm is added between every fully connected layer and its activation.”
"""

# %% [markdown] lang="zh"
r"""
**E22**：“在每个全连接层和激活函数之间添加批量归一化。”
"""

# %% tags=["answer"] claims=["E22"]
linear, batch_norm = nn.Linear(5, 3).double(), nn.BatchNorm1d(3).double()
x = torch.randn(16, 5, dtype=torch.float64)
before = batch_norm(linear(x))
linear.bias.data += 100
print(off.format("bias += 100", (batch_norm(linear(x)) - before).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E22: true or false?</summary>

**Half true.** There its authors put it; many networks put it elsewhere, such as before the convolution. And where it does stand there, it makes the layer's bias useless in training: BatchNorm subtracts whatever constant was added. ([03](03_ema_momentum.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E22：对还是错？</summary>

**半对**。原作者是这样放的；许多网络放在别处，例如卷积之前。而且真要放在那里，训练时前一层的偏置就白加了：无论加上什么常数，批量归一化都会减掉。（[03](03_ema_momentum.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## Which norm for what

Advice of the form “this one for images, that one for text” is the part of a note that is remembered longest and ages fastest. It helps to ask for the reason behind it, because the reason says when the advice stops being true. The answers in full are in [lesson 04](04_small_batches.ipynb).

**E14.** “LayerNorm removes the dependence on batches. This makes it well suited for sequence models.”

**E18.** “BatchNorm does not suit sequence networks and small batches; it suits CNNs. LayerNorm suits networks for text, since the lengths may differ.”
"""

# %% [markdown] lang="zh"
r"""
## 什么场合用哪一种

“图像用这个，文本用那个”这样的建议，读者记得最牢，过时也最快。不如追问背后的理由，因为知道了理由，就知道这条建议到哪里为止。完整的解答在[第 04 课](04_small_batches.ipynb)。

**E14**：“层归一化消除了对批量的依赖，因此很适合序列模型。”

**E18**：“批量归一化不适合序列网络，也不适合批量较小的情况，它适合 CNN；层归一化适合处理文本的网络，因为序列长度可能不一致。”
"""

# %% tags=["answer"] claims=["E14", "E18"]
text = torch.randn(2, 5, 8)  # (N, L, d)
padded = text.clone()
padded[1, 3:] = 0
layer, batch = nn.LayerNorm(8), nn.BatchNorm1d(8)
for name, f in (("LayerNorm", layer), ("BatchNorm", lambda x: batch(x.mT).mT)):
    print(off.format(name, (f(text)[0] - f(padded)[0]).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E14: true or false?</summary>

**Half true.** There is more to it. LayerNorm works on each token alone, so neither other sentences nor padding move its output (sentence 0 stays as it is, though sentence 1 was padded), and training and inference compute the same. ([04](04_small_batches.ipynb))

</details>

<details><summary>E18: true or false?</summary>

**Half true.** A good first guess, no law. CNNs with small batches take GroupNorm, the vision models ViT and ConvNeXt take LayerNorm, and many recent language models take RMSNorm. ([04](04_small_batches.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E14：对还是错？</summary>

**半对**。理由不止这一个。它对每个词元单独计算，所以其他句子和填充都影响不到它（第 1 句加了填充，第 0 句一点没变），而且训练和推理的计算完全相同。（[04](04_small_batches.ipynb)）

</details>

<details><summary>E18：对还是错？</summary>

**半对**。当作第一反应可以，当作定律不行。批量很小的 CNN 用组归一化，视觉模型 ViT 和 ConvNeXt 用层归一化，近来的许多语言模型用 RMSNorm。（[04](04_small_batches.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E25.** “With only 4 samples, mean and variance cannot reflect the distribution as a whole, so BatchNorm becomes very bad.”
"""

# %% [markdown] lang="zh"
r"""
**E25**：“样本数只有 4 个时，均值和方差不能反映全局的统计分布，所以批量归一化的效果会变得很差。”
"""

# %% tags=["answer"] claims=["E25"]
x = torch.randn(400000, 4)  # so many batches of m = 4
print(f"x.mean:  {x.mean(1).std():.2f}   1 / √m         = {4**-0.5:.2f}")
print(f"x.var:   {x.var(1).std():.2f}   √(2 / (m − 1)) = {(2 / 3) ** 0.5:.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>E25: true or false?</summary>

**Half true.** Rough they are: 4 independent values typically miss the mean by 0.5σ and the variance by 82%. But what counts is m, the values *per channel*: 4 images of 14 × 14 give 784. On ImageNet the error is 3.7 points higher with 4 images per GPU than with 32, and 11.1 points with 2 ([Wu and He](https://arxiv.org/abs/1803.08494)). ([04](04_small_batches.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E25：对还是错？</summary>

**半对**。估计确实粗糙：只有 4 个独立的数时，均值通常差 0.5σ，方差通常差 82%。但要数的是 m，即**每个通道**有多少个数：4 张 14 × 14 的图，m 就是 784。在 ImageNet 上，与每块 GPU 有 32 张图相比，只有 4 张时，错误率高 3.7 个百分点，只有 2 张时高 11.1 个百分点（[Wu 和 He](https://arxiv.org/abs/1803.08494)）。（[04](04_small_batches.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## LayerNorm, symbol by symbol

One note writes LayerNorm from scratch, compares it with PyTorch and is content. Its printout holds everything needed to see that it is wrong. The claims of this section are a lesson on testing as well, because a test proves as much as its data and its tolerance allow. The answers in full are in [lesson 05](05_layer_norm.ipynb).

**E37.** “Every token gets mean 0 and standard deviation 1, whatever its size: the two rows give the same.”
"""

# %% [markdown] lang="zh"
r"""
## 逐个符号看层归一化

有一篇笔记从头写了层归一化，与 PyTorch 比过之后很满意。可是它打印出来的数，已经足以说明写错了。这一节同时也是一堂测试课：测试能证明多少，取决于数据和容差。完整的解答在[第 05 课](05_layer_norm.ipynb)。

**E37**：“每个词元都变成均值为 0、标准差为 1，与大小无关：两行结果相同。”
"""

# %% tags=["answer"] claims=["E37"]
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]], dtype=torch.float64)  # (N, d)
y = F.layer_norm(x, (4,))
for row in y:
    print(f"{row[3]:.8f}   σ² = {row.var(correction=0):.8f}")

# %% [markdown] lang="en"
r"""
<details><summary>E37: true or false?</summary>

**Half true.** With eight digits they differ. The variance of the output is $\sigma^2 / (\sigma^2 + \varepsilon)$, a little below 1, and after γ and β it may be anything. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E37：对还是错？</summary>

**半对**。多看几位就不同了。输出的方差是 $\sigma^2 / (\sigma^2 + \varepsilon)$，比 1 略小；再经过 γ 和 β，方差可以是任何值。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E30.** “`x_normalized = (x - mean) / (std + self.eps)` is LayerNorm.”

**E31.** “Taking the standard deviation instead of the variance brings it closer to the original implementation.”

**E32.** “The largest deviation is `7.2598e-05`.”
"""

# %% [markdown] lang="zh"
r"""
**E30**：“`x_normalized = (x - mean) / (std + self.eps)` 就是层归一化。”

**E31**：“计算时用标准差而不是方差，使其与原始实现更接近。”

**E32**：“最大偏差是 `7.2598e-05`。”
"""

# %% tags=["answer"] claims=["E30", "E31", "E32"]
x = torch.rand(4, 20)  # as in the note
mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
right = F.layer_norm(x, (20,))
for name, root in (("std + eps", std + 1e-5), ("√(var + eps)", (std.square() + 1e-5).sqrt())):
    print(f"{name:12}   {((x - mean) / root - right).abs().max():.5f}")
printed = torch.tensor([7.2598e-05, -7.7128e-05])  # two numbers of the note's printout
print(f"max {printed.max():.4e}   abs().max {printed.abs().max():.4e}")

# %% [markdown] lang="en"
r"""
<details><summary>E30: true or false?</summary>

**False.** ε belongs inside the root: √(σ² + ε). The difference, 0.00008 in the note and 0.0001 in the draw above, is exactly what this mistake makes on such data. For a small σ it grows, to 29 times the right output at σ = 0.0001. ([05](05_layer_norm.ipynb))

</details>

<details><summary>E31: true or false?</summary>

**False.** It leads away from it. Compare the first two lines: the first is the note's way. The second is off by float32's rounding alone. ([05](05_layer_norm.ipynb))

</details>

<details><summary>E32: true or false?</summary>

**False.** It is the largest *signed* one; `-7.7128e-05` stands a few numbers further on in the same printout. Take `abs()` first, or `torch.testing.assert_close`, which asks for a tolerance. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E30：对还是错？</summary>

**错**。ε 应当在根号里：√(σ² + ε)。差别在笔记里是 0.00008，在上面这组随机数里是 0.0001，正是这个错误在这种数据上造成的。σ 越小，差得越远，σ = 0.0001 时是正确结果的 29 倍。（[05](05_layer_norm.ipynb)）

</details>

<details><summary>E31：对还是错？</summary>

**错**。正好相反，是离得更远：比较上面两行，第一行是笔记的写法，第二行只差 float32 的舍入误差。（[05](05_layer_norm.ipynb)）

</details>

<details><summary>E32：对还是错？</summary>

**错**。这是**带符号**的最大值；同一份输出里，隔几个数就有 `-7.7128e-05`。应当先取 `abs()`，或者用 `torch.testing.assert_close`，它要求给出容差。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E33.** “First $\hat{x} = (x_i - \mu) / \sqrt{\sigma^2 + \epsilon}$, where N numbers are averaged; then $y_i = \gamma\hat{x}_i + \beta$.”

**E34.** “`MyLayerNorm(normalized_shape)` takes a shape, as PyTorch's LayerNorm does.”
"""

# %% [markdown] lang="zh"
r"""
**E33**：“先算 $\hat{x} = (x_i - \mu) / \sqrt{\sigma^2 + \epsilon}$，其中对 N 个数求平均；再算 $y_i = \gamma\hat{x}_i + \beta$。”

**E34**：“`MyLayerNorm(normalized_shape)` 和 PyTorch 的层归一化一样，接受一个形状。”
"""

# %% tags=["answer"] claims=["E33", "E34"]
x = torch.randn(2, 3, 5)
last = (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
for shape in ((5,), (3, 5)):
    print(off.format(f"normalized_shape={shape}", (last - F.layer_norm(x, shape)).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E33: true or false?</summary>

**Half true.** The formula is right once it has its indices: $\hat{x}_i$, and $\gamma_i$, $\beta_i$, one for each feature. N is the number of features here, not the batch, and the note's code does not compute this formula (E30). ([05](05_layer_norm.ipynb))

</details>

<details><summary>E34: true or false?</summary>

**Half true.** It takes one and does not use all of it: γ and β get the shape, mean and variance the last axis alone. For `(5,)` that is the same, for `(3, 5)` it is not, and nothing complains. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E33：对还是错？</summary>

**半对**。补上下标就对了：$\hat{x}_i$，还有 $\gamma_i$、$\beta_i$，每个特征各一个。这里的 N 是特征数，不是批量大小；而且笔记的代码算的并不是这个公式（E30）。（[05](05_layer_norm.ipynb)）

</details>

<details><summary>E34：对还是错？</summary>

**半对**。形状收下了，却没有全用上：γ 和 β 用了这个形状，均值和方差只沿最后一个轴。对 `(5,)` 没有区别，对 `(3, 5)` 就错了，而且不报错。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E35.** “Comparing with the official LayerNorm on `torch.rand(4, 20)` shows whether ours is right.”
"""

# %% [markdown] lang="zh"
r"""
**E35**：“拿 `torch.rand(4, 20)` 与官方的层归一化比一比，就知道写得对不对。”
"""

# %% tags=["answer"] claims=["E35"]
gamma, beta = torch.randn(2, 64)
for size in (1e-4, 1e-2, 1.0, 100.0):
    x = size * torch.randn(16, 64)  # (N, d)
    y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-5) * gamma + beta
    print(off.format(f"{size} * randn", (y - F.layer_norm(x, (64,), gamma, beta)).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E35: true or false?</summary>

**Half true.** It shows a difference, and no line says how large one may be. It has no seed, γ = 1, β = 0, and one size, not far from σ = ½, where this mistake vanishes; at other sizes it is plain. Test many sizes, random γ and β, and name a tolerance. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E35：对还是错？</summary>

**半对**。差别是看到了，却没有一行说明多大才算错。没有随机种子，γ = 1、β = 0，数据也只有一种大小，离 σ = ½ 又不远，而在那里，这个错误恰好消失；换个大小就一目了然。应当换几种大小，用随机的 γ 和 β，并写明容差。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E05.** “`variance_epsilon=1e-12` keeps the division safe.”
"""

# %% [markdown] lang="zh"
r"""
**E05**：“有了 `variance_epsilon=1e-12`，除法就是安全的。”
"""

# %% tags=["answer"] claims=["E05"]
row = torch.full((1, 4), 3.0, dtype=torch.float16)
print("1e-12 =", torch.tensor(1e-12, dtype=torch.float16).item())
print("norm        ", norm(row, -1))
print("F.layer_norm", F.layer_norm(row, (4,), eps=1e-12))

# %% [markdown] lang="en"
r"""
<details><summary>E05: true or false?</summary>

**Half true.** In float32 it does, and BERT uses it. In float16 it *is* 0, so a constant row becomes 0 / 0. PyTorch's own function computes in float32 inside and gets away with it. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E05：对还是错？</summary>

**半对**。用 float32 时可以，BERT 用的就是它。在 float16 里，它**就是** 0，常数行变成 0 / 0。PyTorch 自己的函数在内部用 float32 计算，才没有出事。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E39.** “`nn.Parameter` is a subclass of `Tensor`. With it a module makes parameters of its own that take part in training.”
"""

# %% [markdown] lang="zh"
r"""
**E39**：“`nn.Parameter` 是 `Tensor` 的子类，用于自定义可学习的参数，使其参与训练。”
"""


# %% tags=["answer"] claims=["E39"]
class Three(nn.Module):
    def __init__(self):
        super().__init__()
        self.trained = nn.Parameter(torch.ones(2))
        self.register_buffer("remembered", torch.zeros(2))
        self.hidden = [nn.Parameter(torch.ones(2))]


print([name for name, _ in Three().named_parameters()], list(Three().state_dict()))

# %% [markdown] lang="en"
r"""
<details><summary>E39: true or false?</summary>

**True.** Two things are worth adding: it must be an attribute (a plain list hides it), and what is remembered without being trained, such as BatchNorm's averages, is a buffer. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E39：对还是错？</summary>

**对**。还可以补两句：它必须是模块的属性（放进普通列表，模块就看不见了）；只需记住、不用训练的，例如批量归一化的移动平均，应登记为缓冲区。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## RMSNorm, and what was really run

The code of this class is right. The output printed below it is not its output, and one look at the signs would have told. The rest is about how a careful sentence of a paper (“we hypothesize”, “comparable”) turns into a certain one on its way through notes. The answers in full are in [lesson 06](06_rms_norm.ipynb).

**E40.** “`RMS_Norm(4)` turns 1, 2, 3, 4 into −1.3416, −0.4472, 0.4472, 1.3416.”

**E43.** “What stands below a cell of the notebook is what the cell gives.”
"""

# %% [markdown] lang="zh"
r"""
## RMSNorm，以及到底运行了什么

这个类的代码没有错，但打印在下面的并不是它的输出，看一眼正负号就能知道。其余几条说明，论文里留有余地的话（“我们猜想”“相当”），经过一篇篇笔记，怎样变成了斩钉截铁。完整的解答在[第 06 课](06_rms_norm.ipynb)。

**E40**：“`RMS_Norm(4)` 把 1、2、3、4 变成 −1.3416、−0.4472、0.4472、1.3416。”

**E43**：“笔记本里，单元格下面的就是它的输出。”
"""

# %% tags=["answer"] claims=["E40", "E43"]
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])  # (N, d)
print(F.rms_norm(x, (4,), eps=1e-5))
print(F.layer_norm(x, (4,), eps=1e-5))
try:
    exec("rmsn = RMS_Norm(4); x_norm = ln(x)", {"RMS_Norm": nn.RMSNorm, "x": x})
except NameError as error:
    print(error)

# %% [markdown] lang="en"
r"""
<details><summary>E40: true or false?</summary>

**False.** That is LayerNorm's output: the cell creates `rmsn` and calls `ln`. RMSNorm divides by a positive number, so positive inputs stay positive: 0.3651, 0.7303, 1.0954, 1.4606. ([06](06_rms_norm.ipynb))

</details>

<details><summary>E43: true or false?</summary>

**False.** The cells are numbered 7, 12, 13, 15, 22, and several never ran in this state. In a fresh session the test stops at a `NameError`, for `ln` survived from an earlier cell. Restart, run all, then believe. ([06](06_rms_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E40：对还是错？</summary>

**错**。那是层归一化的输出：单元格创建了 `rmsn`，调用的却是 `ln`。RMSNorm 除以一个正数，正的输入只会得到正的输出：0.3651、0.7303、1.0954、1.4606。（[06](06_rms_norm.ipynb)）

</details>

<details><summary>E43：对还是错？</summary>

**错**。单元格的编号是 7、12、13、15、22，有几个在当前状态下从没运行过。在全新的会话里，测试会停在 `NameError`，因为 `ln` 是之前的单元格留下来的。先重启，全部运行一遍，再相信它。（[06](06_rms_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E41.** “RMSNorm is LayerNorm without subtracting the mean: more efficient, no worse. The paper points out that LayerNorm works by its scaling, not by subtracting the mean.”
"""

# %% [markdown] lang="zh"
r"""
**E41**：“RMSNorm 是在 LayerNorm 的基础上去掉了减均值这一项，计算效率更高且没有降低性能。论文指出，LayerNorm 主要靠缩放起作用，而不是靠减去均值。”
"""

# %% tags=["answer"] claims=["E41"]
x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
print("rms² ", x.square().mean().item(), "  σ² + μ² ", (x.var(correction=0) + x.mean() ** 2).item())
torch.testing.assert_close(F.layer_norm(x, (4,)), F.rms_norm(x - x.mean(), (4,), eps=1e-5))
for shift in (0, 7):
    print(f"x + {shift}:", F.layer_norm(x + shift, (4,)).numpy().round(2), F.rms_norm(x + shift, (4,)).numpy().round(2))

# %% [markdown] lang="en"
r"""
<details><summary>E41: true or false?</summary>

**Half true.** The divisor changes, too: RMS² = σ² + μ². The [paper](https://arxiv.org/abs/1910.07467) *hypothesizes*, and calls the quality comparable: better in some tests, worse in others. Its Transformer took 6.9% less time; in one fused kernel both read and write equally much ([14](14_cuda_timing.ipynb)). ([06](06_rms_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E41：对还是错？</summary>

**半对**。除数也变了：RMS² = σ² + μ²。[论文](https://arxiv.org/abs/1910.07467)只是**猜想**，对效果的说法是“相当”，有的测试更好，有的更差。论文里的 Transformer 省了 6.9% 的时间；融合成一个核函数之后，两者读写的数据一样多（[14](14_cuda_timing.ipynb)）。（[06](06_rms_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E42.** “`rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps)`, with `eps=1e-5`.”
"""

# %% [markdown] lang="zh"
r"""
**E42**：“`rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps)`，其中 `eps=1e-5`。”
"""

# %% tags=["answer"] claims=["E42"]
tiny, half = torch.full((4,), 1e-4), torch.tensor([300.0, 400.0, -500.0, 600.0], dtype=torch.float16)
for eps in (None, 1e-6, 1e-5):
    print(f"eps={eps}: {F.rms_norm(tiny, (4,), eps=eps)[0]:.4f}")
print(half / torch.sqrt(half.pow(2).mean() + 1e-5))
print(F.rms_norm(half, (4,), eps=1e-5))

# %% [markdown] lang="en"
r"""
<details><summary>E42: true or false?</summary>

**Half true.** Right in float32. In float16 the square of 256 is infinite already, and the whole token becomes 0, so real code squares in float32. And ε is a choice that shows: a token of 0.0001 comes out between 0.03 and 0.28. ([06](06_rms_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E42：对还是错？</summary>

**半对**。用 float32 时没错。在 float16 里，256 的平方就已经是无穷大，整个词元变成 0，所以真正的代码用 float32 算平方。ε 取多少也看得出来：数都是 0.0001 的词元，结果从 0.03 到 0.28 不等。（[06](06_rms_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## Positions as sines

The formula is copied from note to note, and with it a slip in the range of k that stands in several other places on the web. What is never copied are the reasons, so this part of the note is a recipe without its dish. The answers in full are in [lesson 10](10_positional_encoding.ipynb).

**E26.** “k is the position in the input sequence, `0 <= k < L/2`.”
"""

# %% [markdown] lang="zh"
r"""
## 用正弦表示位置

公式在笔记之间抄来抄去，k 的取值范围抄错了，也跟着抄，网上好几处都有这个错误。没有抄的是道理，所以这一部分只有菜谱，没有菜。完整的解答在[第 10 课](10_positional_encoding.ipynb)。

**E26**：“k 是对象在输入序列中的位置，`0 <= k < L/2`。”
"""

# %% tags=["answer"] claims=["E26"]
L, d = 6, 4
angles = torch.arange(L)[:, None] / 10000 ** (2 * torch.arange(d // 2) / d)  # (L, d / 2)
table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)  # (L, d)
print("table", tuple(table.shape), "  0 <= k < L / 2:", [k for k in range(L) if k < L / 2])
try:
    torch.randn(L, d) + table[: L // 2]
except RuntimeError as error:
    print(error)

# %% [markdown] lang="en"
r"""
<details><summary>E26: true or false?</summary>

**False.** k runs over all L positions; with half of them the table does not even fit the tokens. What is halved is i, which counts pairs of columns: 0 ≤ i < d / 2. ([10](10_positional_encoding.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E26：对还是错？</summary>

**错**。k 取遍全部 L 个位置；只取一半，这张表连词元都对不上。减半的是 i，它数的是一对对的列：0 ≤ i < d / 2。（[10](10_positional_encoding.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E27.** “`P(k, j)` maps position k to the index `(k, j)` of the position matrix; i maps to the column index.”
"""

# %% [markdown] lang="zh"
r"""
**E27**：“`P(k, j)` 用于将位置 k 映射到位置矩阵的索引 `(k, j)`；i 用于映射到列索引。”
"""


# %% tags=["answer"] claims=["E27"]
def encoding(L, d):
    angles = torch.arange(L)[:, None] / 10000 ** (2 * torch.arange(d // 2) / d)  # (L, d / 2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


P = encoding(500, 64)
print(f"|P(k)|        {P.norm(dim=1).min():.4f} … {P.norm(dim=1).max():.4f}")
products = (P[:-10] * P[10:]).sum(1)
print(f"P(k)·P(k+10)  {products.min():.3f} … {products.max():.3f}")

# %% [markdown] lang="en"
r"""
<details><summary>E27: true or false?</summary>

**Half true.** It is the *number* at `(k, j)`, and one i serves two columns, a sine and a cosine. Unsaid is what makes it work: the table is added to the tokens, all rows are equally long, and the product of two rows depends on their distance alone, as printed. ([10](10_positional_encoding.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E27：对还是错？</summary>

**半对**。它是 `(k, j)` 处的那个**数**，一个 i 管两列，一列正弦，一列余弦。没有说的是它为什么管用：这张表要加到词元上，每一行一样长，两行的乘积只取决于它们的距离，如上面所示。（[10](10_positional_encoding.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E28.** “`d_model` is the size of the output embedding, and `0 <= i < d_model/2`.”
"""

# %% [markdown] lang="zh"
r"""
**E28**：“`d_model` 是输出嵌入空间的尺寸，`0 <= i < d_model/2`。”
"""

# %% tags=["answer"] claims=["E28"]
table = torch.zeros(6, 5)  # (L, d)
angles = torch.arange(6)[:, None] * 10000 ** (-torch.arange(0, 5, 2) / 5)  # (L, 3)
table[:, 0::2] = angles.sin()
try:
    table[:, 1::2] = angles.cos()
except RuntimeError as error:
    print(str(error).split(".")[0])

# %% [markdown] lang="en"
r"""
<details><summary>E28: true or false?</summary>

**Half true.** Any size will not do. If `d_model` is odd, the last sine lacks its cosine, and the usual code stops with an error. ([10](10_positional_encoding.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E28：对还是错？</summary>

**半对**。并非什么尺寸都行。`d_model` 是奇数时，最后一个正弦没有余弦配对，通常的代码会报错停下。（[10](10_positional_encoding.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## Activations and gates

Here the notes are mostly right and say too little to be used: names without formulas, and formulas without saying which half is which. A swapped half gives no error, only other numbers, and that is how a copied weight goes wrong. The answers in full are in [lesson 07](07_activations_and_gates.ipynb).

**E45.** “GELU is differentiable everywhere and smoother than ReLU. Swish is smooth too, with a β that controls its shape. SiLU is Swish with β = 1.”
"""

# %% [markdown] lang="zh"
r"""
## 激活函数与门控

这一部分大体没错，只是说得太少，没法照着用：有名字没公式，有公式又没说哪一半是哪一半。弄反了不会报错，只是数不对，装入别人的权重就是这样出错的。完整的解答在[第 07 课](07_activations_and_gates.ipynb)。

**E45**：“GELU 处处可微，比 ReLU 更平滑；Swish 也处处可微，有一个参数 β 控制形状；SiLU 就是 β = 1 的 Swish。”
"""

# %% tags=["answer"] claims=["E45"]
u = torch.linspace(-5, 5, 100001, dtype=torch.float64)
torch.testing.assert_close(u * (1 + torch.erf(u / 2**0.5)) / 2, F.gelu(u))
torch.testing.assert_close(u * torch.sigmoid(u), F.silu(u))
for f in (F.gelu, F.silu):
    print(f"{f.__name__}: min {f(u).min():.3f} at {u[f(u).argmin()]:.3f}")

# %% [markdown] lang="en"
r"""
<details><summary>E45: true or false?</summary>

**True.** Only the formulas are missing. They are u · Φ(u), where Φ is the normal distribution function, and u · σ(βu); both *fall* before they rise, to −0.170 and −0.278. ([07](07_activations_and_gates.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E45：对还是错？</summary>

**对**。只是缺了公式。公式分别是 u · Φ(u)（Φ 是正态分布函数）和 u · σ(βu)；两者都先**降**后升，最低到 −0.170 和 −0.278。（[07](07_activations_and_gates.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E46.** “$GLU(x, W, V, b, c) = \sigma(xW + b) \odot (xV + c)$”
"""

# %% [markdown] lang="zh"
r"""
**E46**：“$GLU(x, W, V, b, c) = \sigma(xW + b) \odot (xV + c)$”
"""

# %% tags=["answer"] claims=["E46"]
a, b = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0])
for name, y in {"F.glu": F.glu(torch.cat([a, b])), "a * σ(b)": a * b.sigmoid(), "σ(a) * b": a.sigmoid() * b}.items():
    print(f"{name:8}", y)

# %% [markdown] lang="en"
r"""
<details><summary>E46: true or false?</summary>

**Half true.** So [Shazeer](https://arxiv.org/abs/2002.05202) writes it. The [first paper on GLU](https://arxiv.org/abs/1612.08083) and `F.glu` put the sigmoid on the *second* half: the same family of functions, but weights copied from one to the other are wrong without an error. ([07](07_activations_and_gates.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E46：对还是错？</summary>

**半对**。[Shazeer](https://arxiv.org/abs/2002.05202) 是这样写的。[最早的 GLU 论文](https://arxiv.org/abs/1612.08083)和 `F.glu` 却把 sigmoid 放在**后**一半上：函数还是同一族，但权重从一边照搬到另一边就错了，而且不报错。（[07](07_activations_and_gates.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E47.** “$GLU(x, W, V, b, c) = Swish_1(xW + b) \odot (xV + c)$ is SwiGLU, and the class `SwiGLU` computes it.”
"""

# %% [markdown] lang="zh"
r"""
**E47**：“$GLU(x, W, V, b, c) = Swish_1(xW + b) \odot (xV + c)$ 就是 SwiGLU，`SwiGLU` 类算的就是它。”
"""

# %% tags=["answer"] claims=["E47"]
w1, w3, w2 = nn.Linear(24, 64), nn.Linear(24, 64), nn.Linear(64, 24)  # as in the note
x = torch.rand(2, 3, 24)  # (N, L, d)
hidden = F.silu(w1(x)) * w3(x)
print("Swish(xW + b) ⊙ (xV + c)", tuple(hidden.shape))
print("SwiGLU(24)              ", tuple(w2(hidden).shape))

# %% [markdown] lang="en"
r"""
<details><summary>E47: true or false?</summary>

**False.** The left side should read SwiGLU, and the class computes a whole feed-forward network: a third matrix, `w2`, leads from 64 back to 24. It also has biases, which Shazeer's and Llama's networks leave out. ([07](07_activations_and_gates.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E47：对还是错？</summary>

**错**。左边应当写 SwiGLU；而那个类算的是整个前馈网络，还有第三个矩阵 `w2`，把 64 变回 24。它还带偏置，Shazeer 和 Llama 的网络都没有。（[07](07_activations_and_gates.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## Where the width comes from

This note does the arithmetic, which is more than most do. What a reader misses is where the rule stops: for which widths, for which number types, and by whose choice. The answers in full are in [lesson 08](08_swiglu_width.ipynb).

**E44.** “The MLP has dim × 4dim × 2 parameters, SwiGLU dim × hidden_dim × 3.”
"""

# %% [markdown] lang="zh"
r"""
## 宽度从哪里来

这篇笔记动手算了，已经胜过大多数笔记。读者还需要知道规则到哪里为止：对哪些宽度成立，对哪种数据类型成立，又是谁定的。完整的解答在[第 08 课](08_swiglu_width.ipynb)。

**E44**：“MLP 的参数量是 dim × 4dim × 2，SwiGLU 的是 dim × hidden_dim × 3。”
"""


# %% tags=["answer"] claims=["E44"]
def count(*sizes, bias):
    return sum(p.numel() for a, b in sizes for p in nn.Linear(a, b, bias=bias).parameters())


for bias in (False, True):
    mlp, swiglu = [(24, 96), (96, 24)], [(24, 64), (24, 64), (64, 24)]
    print(f"bias={bias!s:5}   MLP {count(*mlp, bias=bias)}   SwiGLU {count(*swiglu, bias=bias)}")

# %% [markdown] lang="en"
r"""
<details><summary>E44: true or false?</summary>

**Half true.** These are the weights, 4608 both times at 24. The note's classes have biases, too: 4728 and 4760. ([08](08_swiglu_width.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E44：对还是错？</summary>

**半对**。这只是权重的个数，dim = 24 时两者都是 4608。笔记里的类还带偏置，总数是 4728 和 4760。（[08](08_swiglu_width.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E48.** “`hidden_dim = int(2 * hidden_dim / 3)`, then up to a multiple.”
"""

# %% [markdown] lang="zh"
r"""
**E48**：“先取 `hidden_dim = int(2 * hidden_dim / 3)`，再向上取整到倍数。”
"""


# %% tags=["answer"] claims=["E48"]
def width(d, m):
    return m * ((int(2 * (4 * d) / 3) + m - 1) // m)


for m in (1, 2, 4, 64, 256):
    differ = [d for d in range(1, 5000) if width(d, m) != m * -(-8 * d // (3 * m))]
    print(f"multiple_of={m:3}: {len(differ)} / 4999")

# %% [markdown] lang="en"
r"""
<details><summary>E48: true or false?</summary>

**True.** It rounds *down* first, and that does no harm: counted above are the sizes for which it changes the result, none as soon as 4 divides `multiple_of`. ([08](08_swiglu_width.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E48：对还是错？</summary>

**对**。它先**向下**取整，但不碍事：上面数出了有多少个大小会因此得到不同的结果，只要 `multiple_of` 是 4 的倍数，一个也没有。（[08](08_swiglu_width.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E49.** “The width is a multiple of `multiple_of=64`, near two thirds of 4dim.”

**E50.** “With two thirds of 4dim the number of parameters does not change much.”
"""

# %% [markdown] lang="zh"
r"""
**E49**：“宽度取 `multiple_of=64` 的倍数，同时接近 4dim 的三分之二。”

**E50**：“隐藏层取 4dim 的三分之二，参数量就不会有太大变化。”
"""

# %% tags=["answer"] claims=["E49", "E50"]
for d, m in ((24, 64), (25, 64), (24, 256), (512, 256), (768, 256), (4096, 256)):
    h = width(d, m)
    print(f"d={d:4}  8d/3={8 * d / 3:8.1f}  multiple_of={m:3}  h={h:5}  3dh / 8d² = {3 * d * h / (8 * d * d):.3f}")

# %% [markdown] lang="en"
r"""
<details><summary>E49: true or false?</summary>

**Half true.** 64 is one choice and Meta's 256 another, and the rounding goes *up*, never to the nearest: 25 gets 128 where 8d/3 is 66.7. The note's test with 24 cannot tell, since 64 is a multiple already. ([08](08_swiglu_width.ipynb))

</details>

<details><summary>E50: true or false?</summary>

**Half true.** Before the rounding it does not change at all; after it the last column tells: 1.008 times the MLP's for 4096, 1.125 times for 512, 4 times for 24. Several models do not keep the rule: Llama 3 8B has 3.5d. ([08](08_swiglu_width.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E49：对还是错？</summary>

**半对**。64 是一种选择，Meta 取 256；而且总是**向上**取整，不是取最接近的：d = 25 时 8d/3 是 66.7，得到的却是 128。笔记用 24 来测试，看不出来，因为 64 本来就是倍数。（[08](08_swiglu_width.ipynb)）

</details>

<details><summary>E50：对还是错？</summary>

**半对**。取整之前，参数量完全不变；取整之后，看最后一列：4096 时是 MLP 的 1.008 倍，512 时是 1.125 倍，24 时是 4 倍。有些模型也不按这条规则，Llama 3 8B 就是 3.5d。（[08](08_swiglu_width.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E51.** “NVIDIA's GPUs want matrix sizes that are multiples of 8/16/32/256 for their Tensor Cores to reach full speed.”
"""

# %% [markdown] lang="zh"
r"""
**E51**：“NVIDIA GPU 的 Tensor Core（张量核心）要求矩阵大小是 8/16/32/256 的倍数才能发挥最大算力。”
"""

# %% tags=["answer"] claims=["E51"]
for name, size in {"INT8": 1, "FP16, BF16": 2, "TF32": 4, "FP64": 8}.items():
    print(f"{name:10}   16 / {size} = {16 // size:2}   128 / {size} = {128 // size:3}")

# %% [markdown] lang="en"
r"""
<details><summary>E51: true or false?</summary>

**Half true.** [NVIDIA's table](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html) has one rule in bytes, 16 of them (128 on the A100), so the multiple depends on the type, as printed. 256 is not in it; that is Meta's choice, good for tiles. Since cuBLAS 11 other sizes work as well (8-bit floats aside), only less fast. ([08](08_swiglu_width.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E51：对还是错？</summary>

**半对**。[NVIDIA 的表](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html)其实只有一条以字节计的规则：16 字节（A100 是 128 字节），所以倍数要看数据类型，如上面所示。表里没有 256，那是 Meta 的选择，便于分块。从 cuBLAS 11 起，别的大小也能用（8 位浮点数除外），只是慢一些。（[08](08_swiglu_width.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E52.** “The line makes `hidden_dim` divisible by `multiple_of`; as mathematics, `ceil(x / m) = (x + m - 1) // m`.”
"""

# %% [markdown] lang="zh"
r"""
**E52**：“这个操作把 `hidden_dim` 变成可以被 `multiple_of` 整除的数，数学表达为 `ceil(x / m) = (x + m - 1) // m`。”
"""

# %% tags=["answer"] claims=["E52"]
x, m = 85, 64
print("(x + m - 1) // m       =", (x + m - 1) // m)
print("m * ((x + m - 1) // m) =", m * ((x + m - 1) // m))
assert all((x + m - 1) // m == math.ceil(x / m) for x in range(3000) for m in range(1, 70))

# %% [markdown] lang="en"
r"""
<details><summary>E52: true or false?</summary>

**Half true.** The identity holds for whole numbers, but it counts *blocks*: 2 for 85 and 64. The width is m times that, 128, as the note's code has it and its formula has not. ([08](08_swiglu_width.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E52：对还是错？</summary>

**半对**。对整数来说，等式成立，但它算的是**块数**：85 和 64 得 2。宽度还要乘以 m，得 128；笔记的代码乘了，公式里漏了。（[08](08_swiglu_width.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## The whole layer

A title promises more than any single sentence can. The first note is called *Transformer*, and the last one ends with three headings. The answers in full are in [lesson 12](12_transformer_layers.ipynb).

**E53.** “With these notes on the Transformer and its details one has its parts. (Among the headings are Batch Norm, DecoderLayer and EncoderLayer.)”
"""

# %% [markdown] lang="zh"
r"""
## 完整的一层

标题许下的诺言，比任何一句话都大。第一篇笔记题为《Transformer》，最后一篇则以几个标题收尾。完整的解答在[第 12 课](12_transformer_layers.ipynb)。

**E53**：“这些笔记讲 Transformer 及其细节，读完就有了它的各个部件。（标题里有 Batch Norm、DecoderLayer 和 EncoderLayer。）”
"""

# %% tags=["answer"] claims=["E53"]
x = torch.randn(2, 5, 64)  # (N, L, d)
options = {"dropout": 0.0, "norm_first": True, "batch_first": True}
torchs, ours = nn.TransformerEncoderLayer(64, 4, 256, **options), EncoderLayer(64, 4, 256, **options)
ours.load_state_dict(torchs.state_dict(), strict=True)
torch.testing.assert_close(ours(x), torchs(x))
print([name for name, _ in torchs.named_children()])

# %% [markdown] lang="en"
r"""
<details><summary>E53: true or false?</summary>

**False.** Below these three headings there is nothing, and attention, without which there is no Transformer, occurs in none of the five notes, nor do residual connections and masks. Above, a layer with all its parts, equal to PyTorch's. ([12](12_transformer_layers.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E53：对还是错？</summary>

**错**。这三个标题下面什么也没有；而没有注意力就没有 Transformer，五篇笔记却一个字也没提，残差连接和掩码也没有。上面是各部分齐全的一层，与 PyTorch 的结果相同。（[12](12_transformer_layers.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## The small print

No formula is at stake here. But a misspelt name finds no documentation, a printout full of noise hides the one number that matters, and a cell that cannot be run twice gives different answers to two readers.

**E15.** “`Norm([bert_tensor[i][j][k] for k in range(hidden_size)])` in a loop over i and j is LayerNorm, as Figure 1 shows.”
"""

# %% [markdown] lang="zh"
r"""
## 细枝末节

这里不涉及公式。但是名字拼错了，就查不到文档；输出里杂物太多，要紧的那个数就看不见；单元格不能重复运行，两个读者就会得到两种结果。

**E15**：“对 i 和 j 循环执行 `Norm([bert_tensor[i][j][k] for k in range(hidden_size)])`，就是层归一化，如图 1 所示。”
"""


# %% tags=["answer"] claims=["E15"]
def Norm(numbers):
    mean = sum(numbers) / len(numbers)
    return [number - mean for number in numbers]


bert_tensor = torch.randn(2, 3, 4)  # (N, L, d)
before = bert_tensor.clone()
for i in range(2):
    for j in range(3):
        Norm([bert_tensor[i][j][k] for k in range(4)])
print(off.format("bert_tensor", (bert_tensor - before).abs().max()))

# %% [markdown] lang="en"
r"""
<details><summary>E15: true or false?</summary>

**Half true.** The numbers are the right ones, a token at a time, but the results are thrown away, `Norm` is also the name of the class that needs another call, and the figure is missing. (Two of the five notes are this same text.) ([02](02_norm_axes.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E15：对还是错？</summary>

**半对**。挑出来的数是对的，一次一个词元；但结果没有保存，`Norm` 又与那个调用方式不同的类重名，图也没有。（五篇笔记里，有两篇就是这同一篇文字。）（[02](02_norm_axes.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E29.** “The layer is called `Bath Normalize`, what follows it `激励函数` (activation function), the network `变换器` (Transformer).”
"""

# %% [markdown] lang="zh"
r"""
**E29**：“这种层叫 `Bath Normalize`，后面跟着 `激励函数`（即激活函数），这种网络叫 `变换器`（即 Transformer）。”
"""

# %% tags=["answer"] claims=["E29"]
for name in ("BathNorm1d", "BatchNorm1d", "GeLU", "GELU", "Silu", "SiLU", "Transformer"):
    print(f"nn.{name:12} {'✓' if hasattr(nn, name) else '–'}")

# %% [markdown] lang="en"
r"""
<details><summary>E29: true or false?</summary>

**False.** The first is a slip of the keyboard, the other two are dictionary translations; the field says `激活函数`, and leaves Transformer in English. PyTorch wants its names to the letter, too (✓: it has this one). ([glossary](glossary.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E29：对还是错？</summary>

**错**。第一个是打字错误，后两个照词典直译，同行说的是 `激活函数`，Transformer 则不译。PyTorch 的名称同样一个字母都不能错（✓ 表示有这个名称）。（[术语表](glossary.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E36.** “The difference is a tensor with `grad_fn=<SubBackward0>`, and in Chinese the step is called `歸一化`.”
"""

# %% [markdown] lang="zh"
r"""
**E36**：“两者之差是一个带有 `grad_fn=<SubBackward0>` 的张量；这一步的中文名称是 `歸一化`。”
"""

# %% tags=["answer"] claims=["E36"]
layer = nn.LayerNorm(4)
print(type((layer(torch.zeros(1, 4)) - 0).grad_fn).__name__)
with torch.no_grad():
    print(type((layer(torch.zeros(1, 4)) - 0).grad_fn).__name__)

# %% [markdown] lang="en"
r"""
<details><summary>E36: true or false?</summary>

**True.** Both are so, and neither helps: `grad_fn` stands there because γ and β are parameters, so compare under `torch.no_grad()`; and in Taiwan, whose characters the note uses, the usual words are `正規化` and `變異數`. ([05](05_layer_norm.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E36：对还是错？</summary>

**对**。都没有错，但都添乱：带 `grad_fn` 是因为 γ、β 是参数，比较时应放在 `torch.no_grad()` 里；笔记用的是繁体字，而台湾通常说 `正規化` 和 `變異數`。（[05](05_layer_norm.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
**E54.** “The MLP passes its test: `x = torch.rand(2, 3, 24)`, then `x = mlp(x)`, and the shape is right.”
"""

# %% [markdown] lang="zh"
r"""
**E54**：“MLP 通过了测试：先写 `x = torch.rand(2, 3, 24)`，再写 `x = mlp(x)`，形状正确。”
"""

# %% tags=["answer"] claims=["E54"]
mlp = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 24))
x = torch.rand(2, 3, 24)
for run in (1, 2):
    x = mlp(x)
    print(run, f"{x.std():.2f}", tuple(x.shape))

# %% [markdown] lang="en"
r"""
<details><summary>E54: true or false?</summary>

**Half true.** The shape is right, as that of many a wrong layer would be. And `x = mlp(x)` overwrites its own input: run it again, and something else is computed. (Also: `mlp` is later the name of a SwiGLU, classes are called `layernorm` and `RMS_Norm`, and nowhere is there dropout.) ([07](07_activations_and_gates.ipynb))

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>E54：对还是错？</summary>

**半对**。形状是对的，可是许多写错的层，形状也对。而且 `x = mlp(x)` 覆盖了自己的输入：再运行一次，算的就是别的东西了。（另外，`mlp` 后来又成了 SwiGLU 的名字，类名有 `layernorm` 也有 `RMS_Norm`，全篇没有 Dropout。）（[07](07_activations_and_gates.ipynb)）

</details>
"""

# %% [markdown] lang="en"
r"""
## The count

| claims | true | half true | false |
|---|---|---|---|
| E01–E15 | 0 | 11 | 4 |
| E16–E29 | 0 | 10 | 4 |
| E30–E36 | 1 | 3 | 3 |
| E37–E54 | 3 | 11 | 4 |
| E55 | 0 | 0 | 1 |
| all | 4 | 35 | 16 |

So the danger is not the plain error. Someone who writes `dim=0` gets other numbers than PyTorch and finds out; someone who reads “momentum is close to 1” believes a true sentence about the other framework. Three habits catch most of what stands above.

- Ask *of what, along which axis, by whose definition*: that turns a half-true sentence into a true one, or shows that nobody knows.
- Compare with a second implementation on hard data: unequal sizes, several scales, random γ and β, and a tolerance written down before you look.
- Restart and run all, and look at signs and shapes before you look at digits.

These lessons have errors, too. If you find one, the cell that shows it is the best way to say so. [Back to the map](00_start_here.ipynb)
"""

# %% [markdown] lang="zh"
r"""
## 统计

| 编号 | 对 | 半对 | 错 |
|---|---|---|---|
| E01–E15 | 0 | 11 | 4 |
| E16–E29 | 0 | 10 | 4 |
| E30–E36 | 1 | 3 | 3 |
| E37–E54 | 3 | 11 | 4 |
| E55 | 0 | 0 | 1 |
| 合计 | 4 | 35 | 16 |

可见危险的不是明显的错误。写了 `dim=0`，得到的数与 PyTorch 不同，自己就会发现；读到“momentum 接近 1”，却会相信一句话，这句话本身没错，只是说的是另一个框架。养成三个习惯，上面的大多数问题都能避开。

- 多问一句**谁的、沿哪个轴、按谁的定义**：半对的话就能补成对的，或者发现其实没人知道。
- 找另一个实现来比，数据要刁钻：各轴大小不等，尺度有大有小，γ、β 取随机数，看结果之前先写好容差。
- 重启，全部运行一遍；先看正负号和形状，再看小数。

这套课程也会有错。你要是发现了，最好的报告就是能说明它的那个单元格。[回到课程地图](00_start_here.ipynb)
"""
