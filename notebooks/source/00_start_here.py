# %% [markdown] lang="en"
r"""
# 00 Start here

In a moment you will run a chat model on your own machine. It is small (30 layers, 135 million parameters), but it is built like the large ones. Apart from matrix products and sums, it consists of four functions of a few lines each: RMSNorm, SwiGLU, attention and rotary positions (RoPE).

You will write all four, and each of them will run inside this model. From lesson 06 on, it answers with *your* code. In the last lesson you also write the loop that makes it speak, one word at a time, and then every step of the model's computation is yours.

This page shows where the course leads, how a lesson works, and in which order to take the lessons. Run its cells from top to bottom, each with Shift + Enter. Your answers are saved only in a copy of your own. `make lab` opens one on your machine; on Colab, choose *Copy to Drive* first. Plan for about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 00 从这里开始

马上，你就要在自己的机器上运行一个聊天模型。它很小，只有 30 层、一亿三千五百万（135 M）个参数，构造却和大模型一样：除了矩阵乘法和加法，就只有四个函数，RMSNorm、SwiGLU、注意力和旋转位置编码（RoPE），每个不过几行。

这四个函数，你都会亲手写出来，而且每一个都要放进这个模型里运行。从第 06 课起，它就带着**你的**代码回答问题。到了最后一课，连逐词生成的循环也由你来写，这个模型里的每一步计算，就都是你写的了。

这一页交代三件事：最后做出什么，每一课怎么学，按什么顺序学。请从上到下逐个运行单元格：选中它，按 Shift + Enter。要保存答案，请用自己的副本：在本机用 `make lab` 打开，在 Colab 上先点“复制到云端硬盘”。大约需要 20 分钟。
"""

# %%
from blocklab import rms_norm
from blocklab_course.i18n import Text
from blocklab_course import check
from blocklab_course.lessons.start_here import lesson_map
from blocklab_course.lessons.start_here.environment import check_environment
from blocklab_course.lessons.start_here.idle_slider import GUESS, idle_slider
from blocklab_course.panel import Panel, Slider
from blocklab_course.progress import progress_page
from blocklab_course.pretrained import skip_if_missing, load_smollm2, patch_functions

# %% [markdown] lang="en"
r"""
## Ask it something

The model is called [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct). The next cell lets it complete a sentence, which takes a few seconds. If the model is not installed, the cell says how to get it. Afterwards change the text of `prompt` and run the cell again. Write in English, the language it was trained for.
"""

# %% [markdown] lang="zh"
r"""
## 问它一句话

这个模型叫 [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct)。下一个单元格请它把一句话补完，“法国的首都是……”，只要几秒钟。如果还没有安装这个模型，单元格会告诉你怎么装。运行之后，把 `prompt` 里的话换一句，再运行一次；不过要用英语，它学的是英语。
"""

# %% tags=["slow"]
prompt = "Complete the sentence: The capital of France is"
with skip_if_missing():
    print("".join(load_smollm2().answer(prompt)))

# %% [markdown] lang="en"
r"""
## Break it

Now break it by leaving out a single multiplication, everywhere it occurs. RMSNorm divides a vector by its size and then multiplies it by learned numbers, called γ. The next cell replaces it with a function that does not multiply, and asks the same question.
"""

# %% [markdown] lang="zh"
r"""
## 弄坏它

现在动手弄坏它：只少做一种乘法，凡是出现的地方都不做。RMSNorm 先让向量除以它的均方根（可以看作它的大小），再乘上一组学出来的数，叫做 γ。下一个单元格用一个不乘 γ 的函数来代替它，再问同样的问题。
"""


# %% tags=["slow"]
def without_gamma(x, shape, gamma, eps):
    return rms_norm(x, shape, None, eps)


with skip_if_missing():
    model = load_smollm2()
    with patch_functions(model, rms_norm=without_gamma):
        print("".join(model.answer(prompt, most=8)))
    del model

# %% [markdown] lang="en"
r"""
Without γ the model answers `,,,,,,,,`. There is no error message, because nothing has gone wrong as far as Python can see. This is why you will often break things on purpose in this course: it shows what a part is good for, and what its failure looks like.

## What it is made of

Here is the model, and beside it the path through the lessons. Read both from the bottom up.
"""

# %% [markdown] lang="zh"
r"""
不乘 γ，模型的回答就成了 `,,,,,,,,`。没有任何报错，因为在 Python 看来，什么错也没有。在这套课程里，我们常常故意把东西弄坏：弄坏了，才看得出每个模块起什么作用、写错时有什么症状。

## 它由什么组成

下图的左边是模型，右边是课程的路线，都从下往上看。
"""

# %% tags=["nbval-ignore-output"]
lesson_map.linked()

# %% [markdown] lang="en"
r"""
Words come in at the bottom, as vectors. The large frame is one layer, and 30 of them are stacked. The blue boxes are RMSNorm: two in each layer and one at the end, so 61 in all. At the top, the model picks the next word.

Follow the orange line, and click a number or a box to open its lesson. A lesson has the color of the part that it leads to. White lessons are not about any one part of the model.

Lessons 01 and 02 begin with BatchNorm, which this model does not contain. RMSNorm descends from it, and BatchNorm shows most clearly what a norm is good for. And the mistakes people make with both are the same.
"""

# %% [markdown] lang="zh"
r"""
词从下面进来，变成向量。大框里是一层，一共 30 层，一层叠着一层。蓝色方块就是 RMSNorm，每层两处，最后还有一处，一共 61 处。到了最上面，模型选出下一个词。

橙色的线是主线，沿着它一课一课往上走；点编号或者方块，就能打开那一课。颜色表示这一课为哪个模块做准备；白色的课不对应单个模块。

第 01、02 课从批量归一化（BatchNorm）讲起，它也叫批归一化，《动手学深度学习》里叫批量规范化。这个模型里并没有它，但 RMSNorm 是由它演变来的，归一化有什么用，在它身上最容易看清；写它时常犯的错误，写 RMSNorm 时照样会犯。
"""

# %% [markdown] lang="en"
r"""
## A slider

Every lesson has figures like the next one. You guess first: nothing moves until you choose an answer or press *Skip*. A wrong guess costs nothing, and you remember what surprised you.

In this figure, the numbers 1, 2, 3, 4 are multiplied by *s* and go together through LayerNorm, the normalization of the original Transformer, of BERT and of GPT. Four numbers come out. The dashes stay where the bars were at *s* = 1. You need not know the formula yet.

**Predict first.** When *s* grows from 1 to 1000000, what happens to the four orange bars on the right? Choose, then drag the slider.
"""

# %% [markdown] lang="zh"
r"""
## 一个滑块

每一课都有下面这样的图。要先猜：选出一个答案，或者点“跳过”，之后才能动手。猜错了没有关系，出乎意料的事反而记得牢。

这幅图把 1、2、3、4 这四个数都乘以 *s*，再一起送进层归一化（LayerNorm），出来的也是四个数。最早的 Transformer 以及 BERT、GPT，用的都是这种归一化。虚线一直停在 *s* = 1 时柱子的顶端。公式现在还不必知道。

**先猜一猜**：*s* 从 1 增大到 1000000，右边四根橙色的柱子会怎样？先选，再拖动滑块。
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

They do not move.

</details>

LayerNorm subtracts the mean of the four numbers and divides by their standard deviation. Both grow with *s*, so *s* cancels, as long as it is not too small.

Now drag to the **left**. At $s = 10^{-3}$ the last bar has shrunk from 1.342 to 0.447, and at $10^{-6}$ all bars are gone. So something in LayerNorm still knows how large its input was. What is it? Take a guess. Lesson 01 names it, and lesson 05 takes it apart.

<details><summary>How to use a figure</summary>

You can often drag the picture itself. Try one of the gray dots on the left, up and down. ▶ moves its slider to the end and back until you touch the figure again. *Reset* brings back the start. The line under the picture says in words what it shows. Without a mouse, press Tab to reach a slider and use the arrow keys, or type into the number box.

</details>

## An exercise

In an exercise you replace `None` or `...` with your answer and run the cell. `check` says whether it is right. If not, it usually knows which mistake you made. The solution is folded below.

Here is the first one. Which *s* makes the last bar of the figure exactly 1 long? Give a wrong answer first, and see what `check` says.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

柱子不变。

</details>

层归一化先减去这四个数的均值，再除以它们的标准差。均值和标准差都随 *s* 一起变大，*s* 不太小时，分子分母一约，就看不到 *s* 了。

可是再往**左**拖：$s = 10^{-3}$ 时，最后一根柱子从 1.342 缩到 0.447；到 $10^{-6}$，柱子全都不见了。可见层归一化里还藏着一个量，输入小了，它就显出来了。这个量是什么？先猜一猜，第 01 课揭晓，第 05 课再细讲。

<details><summary>怎样用这些图</summary>

许多图本身也能拖，比如左图的灰色圆点，上下拖一拖试试。按 ▶，它旁边的滑块就自己来回走，再碰一下图就停。“重置”会回到初始状态。图下方的那行字，说的就是图里能看到的东西。不用鼠标也行：按 Tab 键移到滑块上，再按方向键，或者直接在数字框里输入。

</details>

## 做一个练习

练习是这样做的：把 `None` 或 `...` 换成你的答案，再运行。`check` 会告诉你对不对；不对的话，还会指出错在哪里，因为常见的错误它都认得。参考答案折叠在下面。

第一个练习：*s* 取多少时，图里最后一根柱子的长度正好是 1？先故意答错一次，看看 `check` 怎么说。
"""

# %% tags=["exercise"]
my_s = None

check("scale", my_s)

# %% [markdown] lang="en"
r"""
Stuck? Go back to *A slider*, drag *s* to the left, and read the line under the picture.

<details><summary>The idea</summary>

Halve the interval again and again: at $s = 10^{-3}$ the bar is too short, and at 1 it is too long, so try the middle. On a logarithmic slider, the middle of two numbers is the square root of their product.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？回到“一个滑块”，把 *s* 往左拖，看图下方的那行字。

<details><summary>思路</summary>

用二分法：$s = 10^{-3}$ 时柱子太短，*s* 为 1 时又太长，那就试中点；太短就在右半边接着试，太长就在左半边。在对数轴上取中点，就是取两个数乘积的平方根。

</details>
"""

# %% tags=["solution"]
solved_s = 1e-5**0.5

check("scale", solved_s, keep=False)

# %% [markdown] lang="en"
r"""
Square your *s*, round that to a power of ten and remember it. Lesson 01 will tell you what it is.

## Blocks that you keep

Now write the smallest block there is. **ReLU** passes positive numbers on unchanged and turns negative ones into 0. The original Transformer uses it in every layer; SmolLM2 uses a successor (lesson 07). Fill in the one line. Python's `max` will not do, because `x` is a tensor and holds many numbers.
"""

# %% [markdown] lang="zh"
r"""
请把你的 *s* 平方，取最接近的十的整数次幂，记住它。它是什么，到第 01 课就知道了。

## 你写的模块会保存下来

现在来写最小的一个模块。**ReLU** 让正数原样通过，把负数变成 0。最早的 Transformer 每一层都用到它，SmolLM2 用的是它的后继（第 07 课）。请补上那一行。Python 的 `max` 不管用，因为 `x` 是张量，里面有许多数。
"""


# %% tags=["exercise"]
def my_relu(x):
    return ...


check("relu", my_relu)

# %% [markdown] lang="en"
r"""
Stuck? `torch.clamp` and `torch.where` treat each number of a tensor separately.

<details><summary>The idea</summary>

Each number becomes the larger of 0 and itself. *Clamping* a tensor at 0 from below, `clamp(min=0)`, does this to all its numbers at once.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`torch.clamp` 和 `torch.where` 都会逐个处理张量里的数。

<details><summary>思路</summary>

每个数都换成 0 和它自己中较大的那个。`clamp(min=0)` 把张量里的负数都换成 0，正是这个意思。

</details>
"""


# %% tags=["solution"]
def solved_relu(x):
    return x.clamp(min=0)


check("relu", solved_relu, keep=False)

# %% [markdown] lang="en"
r"""
If you opened this page with `make lab`, `check` has saved your function as `my/blocks/relu.py`. Lesson 01 is the first to use such functions: it trains a network with the one that you write there, and at its end it runs today's ReLU. From lesson 02 on, there are cells that put your function into a trained model, right or wrong, and show what comes out. In lesson 06, for example, it is `plug_in(rms_norm=my_rms_norm)`.

<details><summary>On Colab</summary>

On Colab the file is lost when the session ends. To take it to the next lesson, run the line that `check` prints, and there the one that brings it back.

</details>

## Your progress

Your guesses, exercises and blocks are kept. Come back here now and then and run the next cell. It shows how far you are and which mistakes to revisit, and asks you five questions from lessons that you have done. It reads only your saved notebooks (English and Chinese) and sends nothing anywhere.
"""

# %% [markdown] lang="zh"
r"""
如果这一页是用 `make lab` 打开的，`check` 已经把你的函数保存为 `my/blocks/relu.py`。第 01 课末尾的思考题就会运行它。在那之前，你会用那一课写的函数训练一个网络。从第 02 课起，还有一种单元格，会把你的函数放进训练好的模型，不论对错，都让你看到结果，比如第 06 课的 `plug_in(rms_norm=my_rms_norm)`。

<details><summary>在 Colab 上</summary>

在 Colab 上，会话一结束，这个文件就没有了。要带到下一课，请运行 `check` 给出的那一行；到了下一课，再运行取回的那一行。

</details>

## 你的进度

猜测、练习和模块都会留下来。不妨时常回到这里，运行下一个单元格：它会告诉你学到了哪里，哪些错误值得再看一看，还会从学过的课里抽出五个问题。它只读取中英文笔记本里保存过的内容，不会把任何东西发送出去。
"""

# %%
progress_page()

# %% [markdown] lang="en"
r"""
## What you should know

You should have trained a network once, know what a *loss* and a *gradient* are, and have met *softmax*. If not, first read [linear regression](https://d2l.ai/chapter_linear-regression/linear-regression.html) and [softmax regression](https://d2l.ai/chapter_linear-classification/softmax-regression.html) in *Dive into Deep Learning* (in Chinese [here](https://zh.d2l.ai/chapter_linear-networks/linear-regression.html) and [here](https://zh.d2l.ai/chapter_linear-networks/softmax-regression.html)). If *tensors* are new to you, start with [PyTorch's introduction](https://pytorch.org/tutorials/beginner/basics/tensorqs_tutorial.html) (or with [this one](https://zh.d2l.ai/chapter_preliminaries/ndarray.html) in Chinese).
"""

# %% [markdown] lang="zh"
r"""
## 要先会什么

你需要训练过一次网络，知道什么是**损失**和**梯度**，也见过 softmax。如果没有，请先读《动手学深度学习》里的[线性回归](https://zh.d2l.ai/chapter_linear-networks/linear-regression.html)和 [softmax 回归](https://zh.d2l.ai/chapter_linear-networks/softmax-regression.html)两节（英文版：[一](https://d2l.ai/chapter_linear-regression/linear-regression.html)、[二](https://d2l.ai/chapter_linear-classification/softmax-regression.html)）。没有用过**张量**，可以先看这本书的[数据操作](https://zh.d2l.ai/chapter_preliminaries/ndarray.html)一节，英文的有 [PyTorch 官方入门](https://pytorch.org/tutorials/beginner/basics/tensorqs_tutorial.html)。
"""

# %% [markdown] lang="en"
r"""
## The lessons

This is the main route.

| lesson | question | you write |
|---|---|---|
| [01](01_why_normalize.ipynb) | Why do activations need a scale? | `standardize` |
| [02](02_norm_axes.ipynb) | Which numbers share one mean? | BatchNorm and LayerNorm, in one line each |
| [05](05_layer_norm.ipynb) | LayerNorm: which test catches a wrong one? | LayerNorm |
| [06](06_rms_norm.ipynb) | What do you lose by keeping the mean? | **RMSNorm** |
| [07](07_activations_and_gates.ipynb) | What does a gate add? | **SwiGLU** |
| [09](09_attention.ipynb) | Who may look at whom? | **attention** |
| [10](10_positional_encoding.ipynb) | How do sines tell positions apart? | the sines |
| [11](11_rotary_positions.ipynb) | Why rotate queries and keys? | **rotary positions** |
| [12](12_transformer_layers.ipynb) | How do the blocks fit together? | a whole layer |
| [13](13_kv_cache.ipynb) | What does one more token cost? | attention with a cache |
| [15](15_your_model.ipynb) | A chat model with your blocks | the loop that writes |

These eleven lessons take about eight hours, without *Going further*. The four side trips take about three more. Take any of them at any time, or none.

<details><summary>The side trips</summary>

| lesson | question | you write |
|---|---|---|
| [03](03_ema_momentum.ipynb) | What does momentum = 0.1 mean? | BatchNorm |
| [04](04_small_batches.ipynb) | When does BatchNorm fail? | how two batches become one |
| [08](08_swiglu_width.ipynb) | Where does 11008 come from? | SwiGLU's width |
| [14](14_cuda_timing.ipynb) | How fast can a layer be on a GPU? | a timer |

</details>
"""

# %% [markdown] lang="zh"
r"""
## 课程一览

主线是这几课：

| 课 | 问题 | 你来写 |
|---|---|---|
| [01](01_why_normalize.ipynb) | 激活值为什么需要合适的尺度？ | `standardize` |
| [02](02_norm_axes.ipynb) | 哪些数共用一个均值？ | 批量归一化和层归一化，各一行 |
| [05](05_layer_norm.ipynb) | 层归一化写错了，怎样的测试才抓得住？ | 层归一化 |
| [06](06_rms_norm.ipynb) | 不减均值，丢掉了什么？ | **RMSNorm** |
| [07](07_activations_and_gates.ipynb) | 门控带来了什么？ | **SwiGLU** |
| [09](09_attention.ipynb) | 谁能看谁？ | **注意力** |
| [10](10_positional_encoding.ipynb) | 正弦怎样区分位置？ | 正弦位置编码 |
| [11](11_rotary_positions.ipynb) | 为什么要旋转查询和键？ | **旋转位置编码** |
| [12](12_transformer_layers.ipynb) | 各个部件怎样拼成一层？ | 完整的一层 |
| [13](13_kv_cache.ipynb) | 多生成一个词元，要花多少？ | 带缓存的注意力 |
| [15](15_your_model.ipynb) | 用你写的部件组成聊天模型 | 逐词生成的循环 |

这十一课一共大约需要八个小时，选读另计。四门选修课大约再要三个小时，什么时候学都行，不学也行。

<details><summary>四门选修课</summary>

| 课 | 问题 | 你来写 |
|---|---|---|
| [03](03_ema_momentum.ipynb) | momentum = 0.1 是什么意思？ | 批量归一化 |
| [04](04_small_batches.ipynb) | 批量归一化什么时候失效？ | 两批的统计量合成一批 |
| [08](08_swiglu_width.ipynb) | 11008 是怎么来的？ | SwiGLU 的宽度 |
| [14](14_cuda_timing.ipynb) | GPU 上的一层能有多快？ | 计时函数 |

</details>
"""

# %% [markdown] lang="en"
r"""
## Does everything run here?

The next cell looks at your machine. Then go on to [lesson 01](01_why_normalize.ipynb). In it, a network still computes what it did before, and yet it has almost stopped learning.

Two more pages for when you need them: the [glossary](glossary.ipynb) explains the terms, and if you have learned from notes on the web, an appendix checks [five of them, claim by claim](five_notes.ipynb).
"""

# %% [markdown] lang="zh"
r"""
## 这台机器上都能运行吗？

下一个单元格检查你的机器。然后就去[第 01 课](01_why_normalize.ipynb)：那里有一个网络，算出来的数和原来一样，却几乎学不动了。

还有两页可以随时翻看：不认识的术语，查[术语表](glossary.ipynb)；以前跟着网上的笔记学过的，可以看附录，它逐条核对了网上的[五篇笔记](five_notes.ipynb)。
"""

# %% tags=["nbval-ignore-output"]
check_environment()
