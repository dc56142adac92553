# %% [markdown] lang="en"
r"""
# 00 Start here

The next cells wake a chat model and let it answer. It is small, 30 layers with 135 million numbers, and yet it is built as the large ones are. Apart from matrices and sums it consists of four functions of a few lines each: RMSNorm, rotary positions, attention and SwiGLU. You will write all four. Once you have written the first of them, in lesson 06, it will run in this model in 61 places at once, and the model will answer with *your* code inside. Leave one multiplication out, and the answer is `,,,,,,,,`. In the last lesson you also write the loop that makes it speak, word after word, and then the model is yours.

That is where these lessons lead. In each of them you guess, drag a slider, write one block yourself, and are told which mistake you have made. This page shows how that works and where to go. Run its cells from top to bottom, each with Shift + Enter. Your answers are saved only in a copy of your own. `make lab` opens one on your machine; on Colab choose *Copy to Drive* first. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 00 从这里开始

下面的单元格会唤醒一个聊天模型，让它回答一个问题。它很小，只有 30 层、一亿三千五百万（135 M）个参数，但构造和大模型一样：除了矩阵的乘法和加法，就只有四个函数，RMSNorm、旋转位置编码、注意力和 SwiGLU，每个只有几行。这四个函数，你都会亲手写出来。第 06 课先写 RMSNorm，写完以后，它就会同时出现在这个模型的 61 处，模型会带着**你的**代码回答问题。漏掉一个乘法，它的回答就成了 `,,,,,,,,`。到了最后一课，让它一个词接一个词说下去的循环也由你来写，这个模型就是你的了。

这就是这套课程要去的地方。每一课都是先猜一猜，再拖动滑块，然后亲手写出一个模块；写错了，会告诉你错在哪里。这一页告诉你怎么做，以及接下来去哪里。请从上到下逐个运行单元格：选中它，按 Shift + Enter。答案和进度只保存在你自己的副本里：在本机用 `make lab` 打开；在 Colab 上，先点“复制到云端硬盘”。大约需要 20 分钟。
"""

# %%
from blocklab_course.i18n import Text
from blocklab_course import check
from blocklab_course.lessons.start_here import lesson_map
from blocklab_course.lessons.start_here.environment import check_environment
from blocklab_course.lessons.start_here.idle_slider import GUESS, idle_slider
from blocklab_course.panel import Panel, Slider
from blocklab_course.progress import progress_page
from blocklab_course.pretrained import skip_if_missing, load_smollm2

# %% [markdown] lang="en"
r"""
## Where it leads

The model is called [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct). The next cell runs it here, on your machine, for a few seconds; if it is not installed, the cell says how to get it. Afterwards change the text of `prompt`, in English, which is all it knows, and run the cell again.
"""

# %% [markdown] lang="zh"
r"""
## 要去的地方

这个模型叫 [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct)，下面的单元格就在你的机器上运行它，只要几秒钟；如果还没有安装，会告诉你怎么装。这里请它补全的句子是“法国的首都是……”。运行之后，可以把 `prompt` 里的话换成别的，再运行一次；不过得用英语，别的语言它不会。
"""

# %% tags=["slow"]
prompt = "Complete the sentence: The capital of France is"
with skip_if_missing():
    print("".join(load_smollm2().answer(prompt)))

# %% [markdown] lang="en"
r"""
Here is how it is built, to be read from the bottom up. The large frame is one layer, and 30 of them are stacked. The blue boxes are the 61 places: two in each layer, and one at the end. Beside a part stand the numbers of the lessons about it; the gray ones need none, because all they do is look up or multiply by a matrix. The lessons on the right, which read upwards too, are about no single part, the yellow ones about BatchNorm, of which more below. At each ⊕ the gray line, which went around two boxes, is added to what comes out of them (lesson 12). Click a part or a number to go there.
"""

# %% [markdown] lang="zh"
r"""
它的构造就在下图里，请从下往上看。大框里是一层，一共 30 层，一层叠着一层。蓝色方块就是那 61 处：每层两处，最后还有一处。方块旁边标着课程的编号，讲的就是这一部分；灰色的两块只是查一个矩阵、乘一个矩阵，不必专门讲。右边几课也从下往上看，讲的不是某一个部分，其中黄色的三课讲批量归一化（BatchNorm），下面会说为什么。⊕ 是相加：左边的灰线绕过两个方块，把进去的数原样带上来，与这两块算出的数相加（第 12 课）。点一点方块或者编号，就能打开那一课。
"""

# %% tags=["nbval-ignore-output"]
lesson_map.linked()

# %% [markdown] lang="en"
r"""
| lesson | about | you write |
|---|---|---|
| [01](01_why_normalize.ipynb) | Why do activations need a scale? | `standardize` |
| [02](02_norm_axes.ipynb) | Which numbers share one mean? | BatchNorm and LayerNorm, in one line each |
| [03](03_ema_momentum.ipynb) | What does momentum = 0.1 mean? | BatchNorm |
| [04](04_small_batches.ipynb) | When does BatchNorm fail? | how two batches become one |
| [05](05_layer_norm.ipynb) | LayerNorm, exactly. | LayerNorm |
| [06](06_rms_norm.ipynb) | What is lost when the mean stays? | **RMSNorm** |
| [07](07_activations_and_gates.ipynb) | What does a gate add? | GELU, and **SwiGLU** |
| [08](08_swiglu_width.ipynb) | Where does 11008 come from? | SwiGLU's width |
| [09](09_attention.ipynb) | Who may look at whom? | **attention** |
| [10](10_positional_encoding.ipynb) | How do sines tell positions apart? | sines, and the matrix that shifts them |
| [11](11_rotary_positions.ipynb) | Why rotate queries and keys? | **rotary positions** |
| [12](12_transformer_layers.ipynb) | How do the blocks fit together? | a whole layer |
| [13](13_kv_cache.ipynb) | What does one more token cost? | attention with a cache |
| [14](14_cuda_timing.ipynb) | How fast can a layer be on a GPU? | a timer |
| [15](15_your_model.ipynb) | A chat model with your blocks | the loop that writes |

Why do 01 to 04 speak of BatchNorm, which the model does not have? Because its norms descend from it. What a norm is for, which numbers should share a mean, and what breaks when others do was all worked out on BatchNorm, and the same mistakes are made with its successors today. If you are in a hurry, take the **short way**, on which you still write all four functions: 01, 02, 05, 06, 07, 09, 10, 11, 12, 13, 15. (With a GPU, add 14.) All fifteen lessons take about twelve hours, the short way about nine, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
| 课 | 内容 | 你来写 |
|---|---|---|
| [01](01_why_normalize.ipynb) | 激活值为什么需要合适的尺度？ | `standardize` |
| [02](02_norm_axes.ipynb) | 哪些数共用一个均值？ | 批量归一化和层归一化，各一行 |
| [03](03_ema_momentum.ipynb) | momentum = 0.1 是什么意思？ | 批量归一化 |
| [04](04_small_batches.ipynb) | 批量归一化什么时候失效？ | 两批的统计量合成一批 |
| [05](05_layer_norm.ipynb) | 一丝不差的层归一化 | 层归一化 |
| [06](06_rms_norm.ipynb) | 不减均值，丢掉了什么？ | **RMSNorm** |
| [07](07_activations_and_gates.ipynb) | 门控带来了什么？ | GELU，**SwiGLU** |
| [08](08_swiglu_width.ipynb) | 11008 是怎么来的？ | SwiGLU 的宽度 |
| [09](09_attention.ipynb) | 谁能看谁？ | **注意力** |
| [10](10_positional_encoding.ipynb) | 正弦怎样区分位置？ | 正弦位置编码，平移矩阵 |
| [11](11_rotary_positions.ipynb) | 为什么要旋转查询和键？ | **旋转位置编码** |
| [12](12_transformer_layers.ipynb) | 各个部件怎样拼成一层？ | 完整的一层 |
| [13](13_kv_cache.ipynb) | 多生成一个词元，要花多少？ | 带缓存的注意力 |
| [14](14_cuda_timing.ipynb) | GPU 上的一层能有多快？ | 计时函数 |
| [15](15_your_model.ipynb) | 用你写的部件组成聊天模型 | 一个词接一个词写下去的循环 |

这个模型里并没有批量归一化，第 01 课到第 04 课为什么要讲它？因为模型里的归一化都是从它演变来的。归一化有什么用，哪些数共用一个均值，容易错在哪里，都是先在批量归一化上弄清楚的；同样的错误，今天还常有人在它的后继身上犯。要是时间紧，可以走**捷径**，那四个函数一个也不会少：01、02、05、06、07、09、10、11、12、13、15；有 GPU 的话，再加上 14。十五课全部学完大约要十二个小时，走捷径大约九个小时，选读另计。
"""

# %% [markdown] lang="en"
r"""
## What you should know

The lessons take for granted that you have trained a network once, know what a *loss* and a *gradient* are, and have seen *softmax*. If not, read [linear regression](https://d2l.ai/chapter_linear-regression/linear-regression.html) and [softmax regression](https://d2l.ai/chapter_linear-classification/softmax-regression.html) in *Dive into Deep Learning* first (in Chinese [here](https://zh.d2l.ai/chapter_linear-networks/linear-regression.html) and [here](https://zh.d2l.ai/chapter_linear-networks/softmax-regression.html)). What a *tensor* can do is told in [PyTorch's own introduction](https://pytorch.org/tutorials/beginner/basics/tensorqs_tutorial.html); other words are in the [glossary](glossary.ipynb). And if you have learned from notes on the web, an appendix goes through [five of them claim by claim](five_notes.ipynb).
"""

# %% [markdown] lang="zh"
r"""
## 要先会什么

这套课程假定你训练过一次网络，知道什么是**损失**和**梯度**，也见过 softmax。如果没有，请先读《动手学深度学习》里的[线性回归](https://zh.d2l.ai/chapter_linear-networks/linear-regression.html)和 [softmax 回归](https://zh.d2l.ai/chapter_linear-networks/softmax-regression.html)两节（英文版：[一](https://d2l.ai/chapter_linear-regression/linear-regression.html)、[二](https://d2l.ai/chapter_linear-classification/softmax-regression.html)）。**张量**能做些什么，[PyTorch 官方的入门](https://pytorch.org/tutorials/beginner/basics/tensorqs_tutorial.html)（英文）里有；其他术语可以查[术语表](glossary.ipynb)。如果你以前是跟着网上的笔记学的，附录里有[五篇笔记的逐条核对](five_notes.ipynb)，可以看看哪些地方说错了。
"""

# %% [markdown] lang="en"
r"""

## A slider

Every lesson has pictures like this one: guess first, then drag. Four numbers, 1, 2, 3, 4, are multiplied by *s* and go together through LayerNorm, the normalization in the original Transformer, in BERT and in GPT. Four come out. You need not know its formula yet; watch what it does.

Where a panel asks, your guess comes first: nothing moves until you choose an answer or press *Skip*. A wrong guess costs nothing: what surprises you, you remember.

**Predict first.** When *s* grows from 1 to 1000000, what happens to the four orange bars on the right? Choose, then drag.
"""

# %% [markdown] lang="zh"
r"""
## 一个滑块

每一课都有这样的图：先猜，再拖动滑块。把 1、2、3、4 这四个数都乘以 *s*，再一起送进层归一化（LayerNorm），出来的也是四个数。最早的 Transformer 以及 BERT、GPT 用的都是这种归一化。公式现在还不必知道，先看它做什么。

面板有提问时，要先猜：选出一个答案，或者点“跳过”，之后才能动手。猜错了没有关系，出乎意料的事反而记得牢。

**先猜一猜**：*s* 从 1 增大到 1000000，右边四根橙色的柱子会怎样？先选，再拖。
"""

# %% tags=["panel", "guess"]
Panel(
    idle_slider,
    size=(10, 3.6),
    narrow=(4.6, 5.6),
    guess=GUESS,
    scale=Slider(1e-6, 1e6, 10**0.25, value=1.0, label=Text(en="s", zh="s"), log=True),
)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Nothing happens to them. LayerNorm subtracts the mean of the four numbers and divides by their standard deviation; both grow with *s*, so *s* all but cancels. (The left axis is logarithmic; the dashes on the right show *s* = 1.)

</details>

Now drag to the **left**. At $s = 10^{-3}$ the bars are down to a third, the last one from 1.342 to 0.447, and at $10^{-6}$ they are gone. Something in the layer knows the absolute size of its input after all. What? You may guess until lesson 01 names it; lesson 05 takes it apart.

Many pictures can be dragged themselves, such as the gray dots on the left: try one, up and down. ▶ runs its slider to the end and back until you touch the panel again. Without a mouse, press Tab to reach a slider and use the arrow keys, or type into the number box. *Reset* brings back the start, and the line under the picture says what the picture shows.

## Exercises

An exercise is a cell in which you replace `None` or `...` and run it. `check` then says whether it is right, and if not, which mistake it is, because it knows the usual wrong answers, too. A solution is folded below every exercise; the ✓ under it is the solution's, not yours.

Try it now, first with a wrong answer. Which *s* makes the last bar of the panel 1 long, in place of 1.342?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

柱子不变。层归一化先减去这四个数的均值，再除以它们的标准差；均值和标准差都随 *s* 一起变大，*s* 几乎完全抵消了。（左图的纵轴是对数轴；右图的虚线标出 *s* = 1 时的长度。）

</details>

再往**左**拖。$s = 10^{-3}$ 时，柱子只剩三分之一，最后一根从 1.342 降到 0.447；到 $10^{-6}$ 就看不见了。看来，这一层里还是有什么东西知道输入的绝对大小。是什么呢？第 01 课会说出它的名字，第 05 课再细讲，你可以先猜着。

许多图本身也能拖，比如左图的灰色圆点，上下拖一拖试试。按 ▶，它旁边的滑块就自己来回走，再碰一下面板就停。不用鼠标也行：按 Tab 键移到滑块上，再按方向键，或者直接在数字框里输入。点“重置”就回到初始状态，图下方的那行字会说明图里能看到什么。

## 练习怎么做

练习就是一个单元格：把 `None` 或 `...` 换成你的答案，再运行。`check` 会告诉你对不对；不对的话，还会指出错在哪里，因为它也认得各种常见的错误答案。每个练习下面都折叠着参考答案，它下面的“✓”是参考答案的结果，不是你的。

现在就试一次：*s* 取多少时，面板里最后一根柱子的长度从 1.342 缩到 1？第一次不妨故意答错，看看会得到什么回答。
"""

# %% tags=["exercise"]
my_s = None

check("scale", my_s)

# %% [markdown] lang="en"
r"""
Stuck? Go back to *A slider*, drag *s* to the left and read the line under the picture.

<details><summary>The idea</summary>

At $s = 10^{-3}$ the bar is too short and at 1 it is too long, so try halfway, again and again; on a logarithmic slider halfway is the root of the product. Once you have the number, square it and keep what comes out in mind: in lesson 01 it gets a name.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？回到“一个滑块”，把 *s* 往左拖，看图下方的那行字。

<details><summary>思路</summary>

$s = 10^{-3}$ 时柱子太短，*s* 为 1 时又太长，所以每次取中间，一次次靠近；在对数轴上，中间是两数乘积的平方根。找到之后把它平方，记住得到的数：到了第 01 课，就知道它叫什么了。

</details>
"""

# %% tags=["solution"]
solved_s = 1e-5**0.5

check("scale", solved_s, keep=False)

# %% [markdown] lang="en"
r"""
## Blocks that you keep

Now write the smallest block there is. **ReLU** hands positive numbers on as they are and turns negative ones into 0; the original Transformer has it in every layer, SmolLM2 a successor (lesson 07). Fill in the one line. Python's `max` will not do, because `x` is a tensor and holds many numbers at once.
"""

# %% [markdown] lang="zh"
r"""
## 你写的模块会保存下来

现在来写最小的一个模块。**ReLU** 让正数原样通过，把负数变成 0；最早的 Transformer 每一层都用到它，SmolLM2 用的是它的后继（第 07 课）。请补上那一行。Python 的 `max` 不管用，因为 `x` 是张量，里面有许多数。
"""


# %% tags=["exercise"]
def my_relu(x):
    return ...


check("relu", my_relu)

# %% [markdown] lang="en"
r"""
Stuck? `torch.clamp` and `torch.where` go through a tensor number by number. Try one of them wrongly, too, and see what `check` says.

<details><summary>The idea</summary>

Each number becomes the larger of 0 and itself. To *clamp* a tensor from below at 0 does this to all of its numbers at once.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`torch.clamp` 和 `torch.where` 都会逐个处理张量里的数。不妨也故意写错一次，看 `check` 怎么说。

<details><summary>思路</summary>

每个数都换成 0 和它自己中较大的那个。对张量从下方在 0 处截断（clamp），就是对里面所有的数同时这样做。

</details>
"""


# %% tags=["solution"]
def solved_relu(x):
    return x.clamp(min=0)


check("relu", solved_relu, keep=False)

# %% [markdown] lang="en"
r"""
If you have opened this page with `make lab`, `check` now says *Kept as* `my/blocks/relu.py`: a file with your source, which later lessons run. The closing cell of lesson 01 already computes with your ReLU, and before that the lesson trains a network with the function that you write there. From lesson 02 on there are cells such as `plug_in(rms_norm=my_rms_norm)`, which put your function into a trained model, right or wrong, and show what comes out.

On Colab the file is gone with the session. To take it to the next lesson, run the line that `check` prints, and there the one that brings it back.

## Your progress

Guesses, exercises and kept blocks stay with you. Come back now and then and run the next cell, because it shows how far you are, which mistakes are worth another look, and five questions from lessons that you have done; it reads your saved notebooks in both languages and sends nothing anywhere.
"""

# %% [markdown] lang="zh"
r"""
如果这一页是用 `make lab` 打开的，`check` 的回答里还会多一句“已保存为 `my/blocks/relu.py`”：这个文件里是你写的源代码，后面的课会运行它。第 01 课的最后就会用到你的 ReLU，在那之前，还会用你在那里写的函数训练一个网络。从第 02 课起，会有 `plug_in(rms_norm=my_rms_norm)` 这样的单元格，把你的函数放进一个训练好的模型，不论对错，都让你看到结果。

在 Colab 上，会话一结束，这个文件就没有了。要带到下一课，请运行 `check` 给出的那一行，到了下一课，再运行取回的那一行。

## 你的进度

猜测、练习和保存的代码，都留在你自己这里。不妨时常回到这里，运行下一个单元格，因为它会告诉你学到了哪里，哪些错误值得再看一看，还会从学过的课里抽出五个问题。它只读两种语言的笔记本里已保存的内容，不会把任何东西发送出去。
"""

# %%
progress_page()

# %% [markdown] lang="en"
r"""
## Does everything run here?

The next cell looks at your machine. Then go on to lesson 01, where a network computes as well as ever and all but stops learning.
"""

# %% [markdown] lang="zh"
r"""
## 这台机器上都能运行吗？

下一个单元格检查你的机器。然后就去第 01 课：那里有一个网络，算得和原来一样好，却几乎什么也学不到了。
"""

# %% tags=["nbval-ignore-output"]
check_environment()
