# %% [markdown] lang="en"
r"""
# 00 Start here

Welcome. These lessons take a Transformer apart, block by block. In each one you predict, drag a slider, write the block yourself, and see it agree with PyTorch, or find out where it does not.

This page answers two questions: does it work on this machine, and where do I go next? It takes five minutes.
"""

# %% [markdown] lang="zh"
r"""
# 00 从这里开始

欢迎！这套课程把 Transformer 拆成一块一块来学。每一课都是先猜一猜，再拖动滑块，然后亲手写出这一块，看它是否与 PyTorch 一致；不一致，就找出差在哪里。

这一页回答两个问题：这台机器上能运行吗？接下来去哪里？只要五分钟。
"""

# %%
import torch

from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.start_here import lesson_map
from blocklab.lessons.start_here.environment import check_environment
from blocklab.lessons.start_here.idle_slider import GUESS, idle_slider
from blocklab.panel import Panel, Slider
from blocklab.progress import progress_page

# %% [markdown] lang="en"
r"""
## Does it work?

The cell below lists what the lessons need. The last line is the verdict.
"""

# %% [markdown] lang="zh"
r"""
## 能运行吗？

下面的单元格列出课程需要的软件，最后一行是结论。
"""

# %% tags=["nbval-ignore-output"]
check_environment()

# %% [markdown] lang="en"
r"""
## The slider that does nothing

Four numbers, 1, 2, 3, 4, are multiplied by *s* and go through LayerNorm, a block of the original Transformer, of BERT and of GPT. (The left axis is logarithmic; dashed outlines show *s* = 1.)

**Predict first.** When *s* grows from 1 to 1000000, what happens to the four orange bars on the right? Choose, then drag.
"""

# %% [markdown] lang="zh"
r"""
## 不起作用的滑块

把 1、2、3、4 这四个数都乘以 *s*，再送进层归一化（LayerNorm）。最早的 Transformer 以及 BERT、GPT 用的都是这种层。（左图的纵轴是对数轴；虚线框是 *s* = 1 时的样子。）

**先猜一猜**：*s* 从 1 增大到 1000000，右边四根橙色的柱子会怎样？先选，再拖。
"""

# %% tags=["panel", "guess"]
Panel(
    idle_slider,
    size=(10, 3.6),
    guess=GUESS,
    scale=Slider(1e-6, 1e6, 10**0.25, value=1.0, label=Text(en="s", zh="s"), log=True),
)

# %% [markdown] lang="en"
r"""
Nothing: the slider seems dead. LayerNorm subtracts the mean of the four numbers and divides by their standard deviation; both grow with *s*, so *s* cancels.

Now drag to the **left**. At $s = 10^{-3}$ the bars are down to a third, 0.447 instead of 1.342, and at $10^{-6}$ they are gone. Something in the layer knows the absolute size of its input after all. What? Lesson 05 will answer; you may guess until then.

Panels work alike. Where one asks, your guess comes first: nothing moves until you choose an answer or press *Skip*. Many pictures can be dragged themselves, such as the gray bars on the left: try one, up and down. ▶ runs its slider to the end and back until you touch the panel again.

A panel also works without a mouse: press Tab to reach a slider, use the arrow keys, or type into the number box. *Reset* brings back the start. The line under the picture always says what the picture shows.
"""

# %% [markdown] lang="zh"
r"""
看不出变化：滑块好像失灵了。层归一化先减去这四个数的均值，再除以它们的标准差；均值和标准差都随 *s* 一起变大，*s* 就抵消了。

再往**左**拖。$s = 10^{-3}$ 时，柱子只剩三分之一：0.447，而不是 1.342；到 $10^{-6}$ 就看不见了。看来，这一层里还是有什么东西知道输入的绝对大小。是什么呢？第 05 课会回答，你可以先猜着。

面板的用法都差不多。有提问时，要先猜：选出一个答案，或者点“跳过”，之后才能动手。许多图本身也能拖，比如左图的灰色柱子，上下拖一拖试试。按 ▶，它旁边的滑块就自己来回走，再碰一下面板就停。

不用鼠标也能操作面板：按 Tab 键移到滑块上，再按方向键，或者直接在数字框里输入。点“重置”就回到初始状态。图下方的那行字总会说明图里能看到什么。
"""

# %% [markdown] lang="en"
r"""
## Where do I go?

One Transformer layer and, on every part, the lessons about it. Click a part or a number.
"""

# %% [markdown] lang="zh"
r"""
## 接下来去哪里？

下面是一个 Transformer 层，每一部分都标出了讲它的课。点一点方块或者编号，就能打开那一课。
"""

# %% tags=["nbval-ignore-output"]
lesson_map.linked()

# %% [markdown] lang="en"
r"""
| lesson | about |
|---|---|
| [01](01_why_normalize.ipynb) | Why do activations need a scale? |
| [02](02_norm_axes.ipynb) | Which numbers share one mean? |
| [03](03_ema_momentum.ipynb) | What does momentum = 0.1 mean? |
| [04](04_small_batches.ipynb) | When does BatchNorm fail? |
| [05](05_layer_norm.ipynb) | LayerNorm, exactly. |
| [06](06_rms_norm.ipynb) | What is lost when the mean stays? |
| [07](07_positional_encoding.ipynb) | How do sines tell positions apart? |
| [08](08_activations_and_gates.ipynb) | What does a gate add? |
| [09](09_swiglu_width.ipynb) | Where does 11008 come from? |
| [10](10_attention.ipynb) | Who may look at whom? |
| [11](11_transformer_layers.ipynb) | How do the blocks fit together? |
| [12](12_cuda_timing.ipynb) | How fast can a layer be on a GPU? |

You read English here; every lesson has a Chinese twin, linked at its top. The code is the same in both. Words are explained in the [glossary](glossary.ipynb).

## Five notes, six contradictions

The lessons grew from five anonymous notes found on the web, *the source notes*. They contradict each other, and you will find out who is right. (N images, C channels, H rows, W columns; ε is a small number that keeps a division from being by 0.)

| topic | one note says | another says | PyTorch | lesson |
|---|---|---|---|---|
| ε | 1e-12 | 1e-5, once inside the root and once outside | 1e-5, inside | [05](05_layer_norm.ipynb) |
| momentum | close to 1 | 0.1 | 0.1, the weight of the *new* value | [03](03_ema_momentum.ipynb) |
| an image is | `(N, H, W, C)` | `(N, C, H, W)` | `(N, C, H, W)` | [02](02_norm_axes.ipynb) |
| BatchNorm keeps one mean per | position and feature | feature | channel | [02](02_norm_axes.ipynb) |
| the parameters are called | gamma, beta | weight, bias | `weight`, `bias` | [05](05_layer_norm.ipynb) |
| the Chinese word for normalization | 归一化 | 標準化 | – | [02](02_norm_axes.ipynb) |

What PyTorch itself says of its column (lessons 03 and 05 show the rest). `running_mean` has one number per channel:
"""

# %% [markdown] lang="zh"
r"""
| 课 | 内容 |
|---|---|
| [01](01_why_normalize.ipynb) | 激活值为什么需要合适的尺度？ |
| [02](02_norm_axes.ipynb) | 哪些数共用一个均值？ |
| [03](03_ema_momentum.ipynb) | momentum = 0.1 是什么意思？ |
| [04](04_small_batches.ipynb) | 批量归一化什么时候失效？ |
| [05](05_layer_norm.ipynb) | 一丝不差的层归一化 |
| [06](06_rms_norm.ipynb) | 不减均值，丢掉了什么？ |
| [07](07_positional_encoding.ipynb) | 正弦怎样区分位置？ |
| [08](08_activations_and_gates.ipynb) | 门控带来了什么？ |
| [09](09_swiglu_width.ipynb) | 11008 是怎么来的？ |
| [10](10_attention.ipynb) | 谁能看谁？ |
| [11](11_transformer_layers.ipynb) | 各个部件怎样拼成一层？ |
| [12](12_cuda_timing.ipynb) | GPU 上的一层能有多快？ |

你现在读的是中文版，每一课都有对应的英文版，链接在页面顶部。两种语言的代码完全相同。术语的意思可以查[术语表](glossary.ipynb)。

## 五篇笔记，六处矛盾

这套课程源自网上的五篇佚名笔记，后面就叫它们**原始笔记**。它们互相矛盾，谁对谁错，你会自己找到答案。（N 是图像的个数，C 是通道数，H、W 是高和宽；ε 是一个很小的数，防止除以 0。）

| 话题 | 一篇说 | 另一篇说 | PyTorch | 课 |
|---|---|---|---|---|
| ε | 1e-12 | 1e-5，一篇在根号里，一篇在根号外 | 1e-5，在根号里 | [05](05_layer_norm.ipynb) |
| 动量（momentum） | 接近 1 | 0.1 | 0.1，是**新**值的权重 | [03](03_ema_momentum.ipynb) |
| 图像的形状 | `(N, H, W, C)` | `(N, C, H, W)` | `(N, C, H, W)` | [02](02_norm_axes.ipynb) |
| 批量归一化按什么分组求均值 | 每个位置的每个特征 | 每个特征 | 每个通道 | [02](02_norm_axes.ipynb) |
| 参数的名字 | gamma、beta | weight、bias | `weight`、`bias` | [05](05_layer_norm.ipynb) |
| normalization 的中文 | 归一化 | 標準化 | – | [02](02_norm_axes.ipynb) |

“PyTorch”这一列对不对，直接问 PyTorch（其余的，第 03 课和第 05 课再看）。`running_mean` 里，每个通道有一个数：
"""

# %% claims=["E55"]
layer = torch.nn.BatchNorm2d(3)
print(layer.eps, layer.momentum, [name for name, _ in layer.named_parameters()])
print(layer(torch.randn(2, 3, 4, 5)).shape, layer.running_mean.shape)

# %% [markdown] lang="en"
r"""
## Exercises

An exercise is a cell in which you replace `None` or `...` and run it. `check` then says whether it is right, and if not, which mistake it is: it compares your answer with the known wrong ones, too. Try it now, first with a wrong answer: which *s* makes the last bar of the panel 1 long, in place of 1.342? A solution is folded below every exercise.
"""

# %% [markdown] lang="zh"
r"""
## 练习怎么做

练习就是一个单元格：把 `None` 或 `...` 换成你的答案，再运行。`check` 会告诉你对不对；不对的话，还会指出错在哪里，因为它还会拿你的答案与已知的各种错误答案比较。现在就试一次，不妨先故意答错：*s* 取多少时，面板里最后一根柱子的长度从 1.342 缩到 1？每个练习下面都折叠着参考答案。
"""

# %% tags=["exercise"]
my_s = None

check("scale", my_s)

# %% tags=["solution"]
solved_s = 1e-5**0.5

check("scale", solved_s)

# %% [markdown] lang="en"
r"""
## Your progress

What you guess and what you write stays in your own copy: a block that `check` accepts is kept in `my/blocks/`, for later lessons to run, and your guesses are counted. Come back now and then and run the next cell, because it shows how far you are, which mistakes are worth another look, and five questions from lessons that you have done; it reads your saved notebooks in both languages and sends nothing anywhere.
"""

# %% [markdown] lang="zh"
r"""
## 你的进度

你猜的和写的，都留在你自己的副本里：`check` 通过的代码块会保存在 `my/blocks/`，后面的课可以运行它；猜对几次也有统计。不妨时常回到这里，运行下一个单元格，因为它会告诉你学到了哪里，哪些错误值得再看一看，还会从学过的课里抽出五个问题；它读的是两种语言的笔记本里已保存的内容，不会把任何东西发送出去。
"""

# %%
progress_page()
