# %% [markdown] lang="en"
r"""
# 07 What does a gate add?

Ask 64 plain hidden units with ReLU for the product of two numbers. At best they only come near, and only within bounds. Two units of Llama's kind get every product exactly right, with no other weights than 0, 1 and −1. One multiplication sets them apart: a *gate* decides how much of a *value* passes. The paper that brought it into Transformers' feed-forward networks cannot say why it helps.

In a Transformer each token, a row x of d numbers, goes after attention (lesson 09) by itself, normalized as in lesson 06, through a *feed-forward network*. No other block of SmolLM2, the chat model at which these lessons aim, has so many parameters, so it comes next.

After this lesson you can say what one unit can do only with a gate, judge the evidence that gates help, and write the SwiGLU with which a chat model answers. It takes about 45 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 07 门控带来了什么？

要算两个数的乘积，普通的 ReLU 隐藏单元用上 64 个，配上最好的输出权重，也只能得到近似值，而且只限于一定的范围。换成 Llama 所用的那种，两个单元就能算得分毫不差，用到的权重只有 0、1 和 −1。两种单元只差一次乘法，它让**门**（gate）决定**值**（value）通过多少。把门放进 Transformer 前馈网络的那篇论文，也说不出它为什么有用。

在 Transformer 里，每个词元（token）是一行 d 个数 x。经过注意力（第 09 课）之后，每个词元先像第 06 课那样归一化，再单独经过一个**前馈网络**（feed-forward network）。这套课程要去的地方是聊天模型 SmolLM2，它的各个模块里，前馈网络的参数最多，所以接下来就写这一块。

学完这一课，你能说出一个单元有了门才能做到什么，能判断支持它的证据有多强，还能写出 SwiGLU，让聊天模型用它来回答。大约需要 45 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import SwiGLU, gated_unit, parameter_count, swiglu
from blocklab_course import checked_or_reference, check, plug_in
from blocklab_course.lessons.activations_and_gates import activation_curves, contours, plain_units, published_losses

# %% [markdown] lang="en"
r"""
## Two questions first

1. Lesson 10 writes position k in pairs $\sin(\omega k), \cos(\omega k)$. What do 3 positions more do to a pair?
2. On `torch.rand` a formula is only $2.5 \cdot 10^{-5}$ off LayerNorm. Is it LayerNorm?

<details><summary>Answers</summary>

1. They turn it by the angle 3ω, whatever k is.
2. That is not proved, because std + ε is as close, and badly wrong on small inputs.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 第 10 课用一对对的 $\sin(\omega k), \cos(\omega k)$ 表示位置 k。往后移 3 个位置，每一对数会怎样变？
2. 在 `torch.rand` 上，某个公式与层归一化（LayerNorm）只差 $2.5 \cdot 10^{-5}$。它就是层归一化吗？

<details><summary>答案</summary>

1. 转过角度 3ω，与 k 无关。
2. 还不能断定，因为分母写成“标准差 + ε”的公式也只差这么多，输入很小时却错得厉害。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

There are two kinds of feed-forward network.

$$\text{plain:}\quad f(xW)\,W_2 \qquad\qquad \text{gated:}\quad \big(f(xW) \odot xV\big)\,W_2$$

W, V and $W_2$ are learned; what $W_2$ gets are the *hidden units*. The *activation* f acts on each number, ⊙ multiplies number by number. xW is the gate of the value xV; let u be one number of the gate, v the one beside it in the value. Then the unit is f(u) · v. f decides how much of v passes. Below, v = 10 meets five f: the sigmoid, between 0 and 1; `none`, f(u) = u; ReLU; and GELU and SiLU, which weigh u by a number between 0 and 1 that grows with u.

**Predict first.** Which of the five can turn 10 into a negative number?
"""

# %% [markdown] lang="zh"
r"""
## 动手算

前馈网络有两类。

$$\text{普通：}\quad f(xW)\,W_2 \qquad\qquad \text{门控：}\quad \big(f(xW) \odot xV\big)\,W_2$$

W、V 和 $W_2$ 都是学习得到的矩阵，乘 $W_2$ 之前的每个数叫作一个**隐藏单元**（hidden unit）。f 是**激活函数**，作用在每个数上；⊙ 表示逐元素（element-wise）相乘。有了 V，xW 就是门，xV 是值。把门的一个数记作 u，对应的值记作 v，单元就是 f(u) · v，由 f 决定 v 通过多少。下面取 v = 10，换用五种 f。sigmoid 的值在 0 和 1 之间；`none` 就是 f(u) = u；还有 ReLU；最后是 GELU 和 SiLU，它们都是 u 乘以一个在 0 和 1 之间、随 u 增大的权重。

**先猜一猜**：五种 f 里，哪几种能把 10 变成负数？
"""

# %% tags=["answer"]
gate = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
value = torch.full((5,), 10.0)
activations = {"sigmoid": torch.sigmoid, "none": lambda u: u, "ReLU": F.relu, "GELU": F.gelu, "SiLU": F.silu}
print("u       ", gate.tolist())
for name, f in activations.items():
    print(f"{name:8}", [round(passed, 1) for passed in gated_unit(gate, value, f).tolist()])

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The three that turn the sign are `none`, GELU and SiLU.

</details>

Only the sigmoid, $\sigma(u) = 1 / (1 + e^{-u})$, opens and shuts like a gate; the others also amplify. In this order the units are called GLU (*gated linear unit*), bilinear, ReGLU, GEGLU and SwiGLU.

SiLU(u) = u · σ(u). GELU(u) = u · Φ(u), where $\Phi(u)$ is the share of the standard normal distribution below u. [Swish](https://arxiv.org/abs/1710.05941) adds a number β, how fast the weight grows; with β = 2 the weight at u = 1 is SiLU's at u = 2.

**Your turn, one line.** Write Swish of the tensor x.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

会变号的有三种，即 `none`、GELU 和 SiLU。

</details>

sigmoid 就是 $\sigma(u) = 1 / (1 + e^{-u})$（这里的 σ 不是标准差）。只有它像一扇真正的门，最多全开，最少全关；其余几种 f 还能放大。用这五种 f 的单元依次叫作 GLU（门控线性单元，gated linear unit）、双线性单元（bilinear unit）、ReGLU、GEGLU 和 SwiGLU。

SiLU(u) = u · σ(u)。GELU(u) = u · Φ(u)，其中 $\Phi(u)$ 是标准正态变量小于 u 的概率。[Swish](https://arxiv.org/abs/1710.05941) 多了一个数 β，用来选权重增大的快慢。比如 β = 2 时，u = 1 处的权重就等于 SiLU 在 u = 2 处的权重。

**轮到你了**，只写一行：算出张量 x 的 Swish。
"""


# %% tags=["exercise"]
def my_swish(x, beta=1.0):
    return ...


check("swish", my_swish)

# %% [markdown] lang="en"
r"""
Stuck? Swish is x times a weight; `torch.sigmoid` exists.

<details><summary>The idea</summary>

Swish is x times a weight. The weight is σ(βx), so β belongs inside the sigmoid, where it makes the step from 0 to 1 steeper; outside it would only change the size of the result.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？Swish 是 x 乘以一个权重，sigmoid 可以直接用 `torch.sigmoid`。

<details><summary>思路</summary>

Swish 就是 x 乘以一个权重。权重是 σ(βx)，所以 β 要放在 sigmoid 里面，它让权重从 0 到 1 变得更陡；放在外面，就只改变结果的大小了。

</details>
"""


# %% tags=["solution"]
def solved_swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)


check("swish", solved_swish, keep=False)

# %% [markdown] lang="en"
r"""
## Straight and curved contours

With two numbers, x₁ and x₂, a token is a point in a plane. A unit's weights are arrows, a column of W and one of V, and their dot products with the point are u and v. On the left is f(u), in the middle v, on the right their product, the unit; a plain unit has no v. Contours join equal values, dashed on blue below 0; a thick line is 0, or the edge of zeros. Choose f, drag the tips.

**Predict first.** With ReLU and no gate the contours are straight. What would bend them, a smooth f such as GELU, or a gate with no f?
"""

# %% [markdown] lang="zh"
r"""
## 直的等高线，弯的等高线

一个单元能看出词元的什么？词元只有两个数 x₁ 和 x₂ 时，就是平面上的一个点。单元的权重是两个箭头，u 的箭头是 W 的一列，v 的箭头是 V 的一列；u 和 v 这两个数，就是这个点与两个箭头的点积。左图是 f(u)，中图是 v，右图是两者之积，就是单元的输出。普通的单元只有 u；勾选“门控”，才有第二个因数 v，u 才是门。等高线把值相等的点连起来，小于 0 的画成虚线，底色为蓝色；粗线是 0，或者是一整片零的边界。你可以选 f，拖动箭头的尖。

**先猜一猜**：用 ReLU、不用门，等高线是直的。要让它变弯，是换成 GELU 那样光滑的 f，还是加上门，哪怕 f 选“无”？
"""

# %% tags=["panel", "guess"]
contours.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only a gate bends the contours. With no f it already makes a saddle.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有门能让等高线变弯。只加门，不用 f，就已经是一个马鞍面。

</details>
"""

# %% [markdown] lang="en"
r"""
Without a gate the unit knows the point by u alone, so it cannot change where u does not, whatever f is. A gate brings in a second direction.

## Can units multiply?

The product x₁ · x₂ is a saddle, too. Because σ(t) + σ(−t) = 1, SiLU(t) − SiLU(−t) = t, and therefore two SwiGLU units *are* a product.

$$\text{SiLU}(x_1)\,x_2 + \text{SiLU}(-x_1)\,(-x_2) = x_1 x_2$$

And plain ReLU units? Behind 4, 8 and 64 we put the best output weights, and print which share of the product's variance they miss on the square from −2 to 2. Without biases, as in Llama, their arrows point evenly all around. With biases, half see x₁ + x₂, half x₁ − x₂, each bent elsewhere, to build two parabolas, because 4x₁x₂ = (x₁ + x₂)² − (x₁ − x₂)².

**Predict first.** How much do 64 units miss without biases, and how much with them?
"""

# %% [markdown] lang="zh"
r"""
没有门，单元只能通过 u 认识这个点。所以不论换什么 f，u 不变，它就不变。门带来了第二个方向。

## 单元会做乘法吗？

乘积 x₁ · x₂ 的图像正是马鞍面，所以来看两种单元能不能算出它。因为 σ(t) + σ(−t) = 1，所以 SiLU(t) − SiLU(−t) = t，也就是说，两个 SwiGLU 单元之和**就是**乘积。

$$\text{SiLU}(x_1)\,x_2 + \text{SiLU}(-x_1)\,(-x_2) = x_1 x_2$$

普通的 ReLU 单元呢？下面取 4 个、8 个和 64 个，后面配上最好的输出权重，再在从 −2 到 2 的正方形上，看误差的均方占乘积方差的百分之几。没有偏置时（Llama 就是这样），它们的箭头在平面上均匀地指向四周。有偏置时，一半看 x₁ + x₂，一半看 x₁ − x₂，偏置让它们各在不同的地方转折，好凑出两条抛物线，因为 4x₁x₂ = (x₁ + x₂)² − (x₁ − x₂)²。

**先猜一猜**：64 个单元没有偏置，会漏掉多少？有偏置呢？
"""

# %% tags=["answer"]
side = torch.linspace(-2, 2, 201, dtype=torch.float64)
x1, x2 = torch.cartesian_prod(side, side).T  # (points,) each
product = (x1 * x2)[:, None]  # (points, 1)


def missed(hidden):  # (points, units)
    best = torch.linalg.lstsq(hidden, product, driver="gelsd").solution  # (units, 1)
    return (hidden @ best - product).square().mean() / product.square().mean()


for units in (4, 8, 64):
    u, u_with_biases = plain_units.all_around(x1, x2, units), plain_units.along_two(x1, x2, units)
    plain_units.print_missed(units, missed(F.relu(u)), missed(F.relu(u_with_biases)))
torch.testing.assert_close(swiglu(x1, x2) + swiglu(-x1, -x2), x1 * x2)


# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Without biases 64 miss 4.0%, no less than four; with biases only 0.00015%.

(Why 4.0%: on every ray the best line misses exactly 1/25 of the parabola, so on the whole square, too. Four units, two added and two subtracted, make |x₁ + x₂| − |x₁ − x₂|, which times 4/5 is that line on every ray. Four units with ReLU² are exact, because ReLU²(s) + ReLU²(−s) = s².)

</details>

Without biases a million would do no better, because along each ray from 0 such units are straight lines, the product a parabola. With biases short pieces follow it, but not beyond their bends, for ReLU, GELU and Swish grow like straight lines far out, a product like a square. (A plain f that is a square itself, [Primer](https://arxiv.org/abs/2109.08668)'s ReLU², can be exact.) In a gated unit the multiplication is built in, even with no f.

Is that why gates help? Training need not find our weights, and a layer has over a thousand units, enough to come near without a gate.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

没有偏置，64 个漏掉 4.0%，并不比四个少；有偏置，只漏掉 0.00015%。

（为什么是 4.0%：在每条射线上，最好的直线都恰好漏掉抛物线的 1/25，在整个正方形上也就一样。四个单元两个取正、两个取负，合起来是 |x₁ + x₂| − |x₁ − x₂|，再乘以 4/5，在每条射线上就正好是这条最好的直线。四个单元用 ReLU²，就分毫不差，因为 ReLU²(s) + ReLU²(−s) = s²。）

</details>

没有偏置，一百万个也不会更好，因为从 0 出发沿任何一条射线，这样的单元都是直线，乘积却是抛物线。有了偏置，许多短短的直线可以紧跟抛物线，但出了有转折的范围就不行了，因为在远处，ReLU、GELU 和 Swish 都像直线那样增长，乘积却像平方。（f 本身就是平方，像 [Primer](https://arxiv.org/abs/2109.08668) 用的 ReLU²，普通单元也能分毫不差。）门控单元则天生就有一次乘法，不用 f 也行。

门控有用，就是因为这个吗？这些权重是我们选的，训练未必找得到。何况一层有一千多个单元，没有门，也可以很接近。
"""

# %% [markdown] lang="en"
r"""
## One family

What is f for, then? It shapes what passes, and its slope multiplies the gradient on the way back to u. ReLU's is 0 where u is negative, so a unit whose u is negative for every token stops learning; GELU and Swish let a little through. Below are the three, their slopes, and their distance from GELU. Drag the orange dot (β).

**Predict first.** Does Swish become GELU at some β? If not, where is it closest?
"""

# %% [markdown] lang="zh"
r"""
## 一家人

那么 f 还管什么？它决定放过去多少；反向传播到 u 时，梯度还要乘以它的斜率。u 为负时，ReLU 的斜率是 0，所以一个单元的 u 如果对所有词元都为负，它就学不动了；GELU 和 Swish 还能传回一点梯度。下面三幅图依次是 ReLU、GELU 和 Swish 的曲线、斜率，以及它们与 GELU 之差的绝对值。第三幅用对数轴。拖动橙色圆点，就能改变 β。

**先猜一猜**：β 取某个值时，Swish 会变成 GELU 吗？如果不会，β 取多少时最接近？
"""

# %% tags=["panel"]
activation_curves.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

No. On the slider it is closest at β = 1.8, and up to 0.017 off (below); the best of all, β = 1.77, is 0.014 off. The [GELU paper](https://arxiv.org/abs/1606.08415) itself gives β = 1.702, 0.020 off, and a much closer form with tanh (dotted).

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不会。在滑块上，β = 1.8 最接近，最多差 0.017（见下图）；再细找，β = 1.77 时最多差 0.014。[GELU 的论文](https://arxiv.org/abs/1606.08415)自己给出了两种近似，一种是 β = 1.702 的 Swish，最多差 0.020，另一种用 tanh（点线），好得多。

</details>
"""

# %% tags=["answer"]
activation_curves.panel().still(beta=1.8)

# %% [markdown] lang="en"
r"""
## Three matrices

A gate needs a third matrix, so at equal cost one takes two thirds of the first Transformer's 4d hidden units, 8d/3 (lesson 08).

Matrices lie as in `nn.Linear`, `(out, in)`, and `F.linear(x, w)` multiplies x by w transposed. In Meta's names `w1` is the formula's W (gate), `w3` its V (value), `w2` its $W_2$. No activation follows, and x is added outside (lesson 12).

**Predict first.** [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) has 30 layers, d = 576, 1536 units, and 134515008 numbers in all. Which share of them stands in its feed-forward networks?
"""

# %% [markdown] lang="zh"
r"""
## 三个矩阵

最早的 Transformer 有 4d 个隐藏单元。门控需要第三个矩阵，所以参数个数要相同，就只能取三分之二，即 8d/3 个单元（第 08 课推导）。

矩阵的存放方式与 `nn.Linear` 相同，形状是 `(out, in)`，`F.linear(x, w)` 用 x 乘以 w 的转置。名字沿用 Meta 的，`w1` 是公式里的 W，用来算门；`w3` 是 V，用来算值；`w2` 是 $W_2$，用来变回 d 个数。后面不再有激活函数。第 12 课会把结果与输入 x 相加，那一步不属于这个网络。

**先猜一猜**：[SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) 有 30 层，d = 576，1536 个隐藏单元，一共有 134515008 个参数。前馈网络占多大比例？
"""

# %% tags=["answer"]
d, hidden, layers = 576, 1536, 30
plain, gated = (parameter_count(d, *kind, bias=False) for kind in ((4 * d, False), (hidden, True)))
print(f"{8 * d / 3 = }, {plain = }, {gated = }")
print(f"{layers * gated / 134515008 = :.0%}")
for name, w in SwiGLU(d, hidden).named_parameters():
    print(name, tuple(w.shape))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

59% stands there. (And 1536 is exactly 8d/3.)

</details>

## Does it help?

Shazeer's [paper](https://arxiv.org/abs/2002.05202), that of the opening, tried eight kinds in T5 models, equally many parameters in each, and measured their losses on unseen text. Trained again, a network's loss varies a little; its standard deviation after 65536 steps is given. That of a difference is the root of both squares added, and more than two of these are rarely chance, if you choose the pair before you look. The panel subtracts any two; touch a dot.

**Predict first.** ReLU, GELU and Swish get a gate. Does the loss fall by more than two standard deviations of the difference?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

前馈网络占 59%。（1536 恰好是 8d/3。）

</details>

## 有用吗？

开头说的那篇[论文](https://arxiv.org/abs/2002.05202)，作者是 Shazeer。他直接比了一比，用八种前馈网络分别训练 T5 模型，参数个数都相同，再测它们在没见过的文本上的损失。同样的网络重新训练，损失也会有些波动，论文给出了 65536 步时损失的标准差；两个标准差平方相加再开方，就是两者之差的标准差。只要是看结果之前就选好的一对，差到它的两倍以上，就不大像碰巧了。下面的面板比较任意两种，在“从”里选一种，再点一下圆点，把它选进“换成”。

**先猜一猜**：ReLU、GELU 和 Swish 各自加上门，损失降低的幅度会超过“两者之差的标准差”的两倍吗？
"""

# %% tags=["panel", "answer"]
published_losses.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Yes, by 7.5, 6.4 and 4.8 standard deviations. (Bilinear, with no f, is 3.3 ahead of GELU. The deviations are themselves estimates, so these multiples are rough.)

</details>

Only GLU cannot be told from GELU at first; later (one run each) it, too, beats every plain network. So gates help, at this size.

Is it because they multiply? Of the five gated kinds only GLU has no exact product in one or two units (two make tanh(x₁/2) · x₂), and it comes last of them. That fits, but proves nothing.

And f? SwiGLU is 3.3 ahead of GLU, so f counts; between GEGLU and SwiGLU neither column decides. As for why, the paper credits “divine benevolence”.

## What you will meet elsewhere

| where | what |
|---|---|
| `F.glu` in torch, as in the [first GLU](https://arxiv.org/abs/1612.08083) | the gate is the **second** half, in Shazeer's the first |
| Hugging Face's Llama | `gate_proj`, `up_proj`, `down_proj` are `w1`, `w3`, `w2` |
| Hugging Face's `"gelu_new"` (GPT-2), `"gelu_pytorch_tanh"` (Gemma) | GELU with tanh; `"gelu"` is exact |
| `"quick_gelu"` (CLIP) | Swish with β = 1.702 |
| [gpt-oss](https://github.com/openai/gpt-oss/blob/main/gpt_oss/torch/model.py) | SwiGLU with that β, clamped at 7, and value + 1; gate and value alternate |

Mixed up, they raise no error.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

都超过，依次是标准差的 7.5、6.4 和 4.8 倍。（连不用 f 的双线性单元，也比 GELU 低 3.3 个标准差。标准差本身也是估出来的，所以这些倍数只是个大概。）

</details>

只有 GLU 起初与 GELU 分不出高下，可是后来它也低于每一种普通网络（各训练一次）。所以门控有用，至少在这种大小的模型上有用。

是因为会做乘法吗？五种门控单元里，有四种用一两个就能得到精确的乘积。只有 GLU 不行，它的两个单元得到 tanh(x₁/2) · x₂，而五种里损失最高的也正是它。这与“因为乘法”相符，但证明不了。

那么 f 呢？SwiGLU 比 GLU 低 3.3 个标准差，可见 f 也有影响。GEGLU 和 SwiGLU 哪个更好，两列都看不出来。门控为什么有用，论文也不知道，只说这要归功于“上天的恩惠”（divine benevolence）。

## 在别处会遇到什么

| 在哪里 | 是什么 |
|---|---|
| torch 的 `F.glu`，与[最早的 GLU](https://arxiv.org/abs/1612.08083) 一致 | **后**一半是门；Shazeer 的门在前 |
| Hugging Face 的 Llama | `gate_proj`、`up_proj`、`down_proj` 就是 `w1`、`w3`、`w2` |
| Hugging Face 的 `"gelu_new"`（GPT-2）、`"gelu_pytorch_tanh"`（Gemma） | 用 tanh 近似的 GELU；`"gelu"` 是精确的 |
| `"quick_gelu"`（CLIP） | β = 1.702 的 Swish |
| [gpt-oss](https://github.com/openai/gpt-oss/blob/main/gpt_oss/torch/model.py) | 用这个 β 的 SwiGLU，截断在 7，值还要加 1；门和值交替排列 |

错把一种当成另一种，程序不会报错。
"""

# %%
a, b = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0])
halves = torch.cat([a, b])
print(f"{(F.glu(halves) - a * b.sigmoid()).abs().max() = :.2f}")
print(f"{(F.glu(halves) - a.sigmoid() * b).abs().max() = :.2f}")


# %% [markdown] lang="en"
r"""
**Predict first.** The unit of gpt-oss is your Swish of the gate, with β = 1.702, times value + 1. A value of 0 makes a SwiGLU unit 0. What does it leave of this one?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：gpt-oss 的单元先用你写的 Swish 处理门，得到 gate · σ(1.702 gate)，再乘以 value + 1（gate 是门，value 是值）。值为 0 时，SwiGLU 单元是 0，这个单元还剩下什么？
"""


# %% tags=["answer"]
own_swish = checked_or_reference("swish", my_swish)


def gpt_oss_unit(gate, value):
    gate, value = gate.clamp(max=7), value.clamp(-7, 7)
    return own_swish(gate, 1.702) * (value + 1)


units = {"SwiGLU": swiglu(gate, torch.zeros(5)), "gpt-oss": gpt_oss_unit(gate, torch.zeros(5)), "GELU": F.gelu(gate)}
for name, unit in units.items():
    print(f"{name:8}", [round(number, 2) + 0.0 for number in unit.tolist()])

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It becomes a plain unit, nearly GELU of the gate.

</details>

## Exercise: SwiGLU

Write the network for x of shape `(*, d)`, without bias, with `w1`, `w2` and `w3` as they lie in *Three matrices*.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

它变成了普通单元，几乎就是 GELU(gate)。

</details>

## 练习：SwiGLU

请写出整个网络，不带偏置；x 的形状是 `(*, d)`。矩阵 `w1`、`w2` 和 `w3` 的存放方式见“三个矩阵”一节。
"""


# %% tags=["exercise"]
def my_swiglu(x, w1, w2, w3):
    return ...


check("swiglu", my_swiglu)

# %% [markdown] lang="en"
r"""
Stuck? Write down the shape after each matrix. *Three matrices* says which is which, *By hand* what joins them.

<details><summary>The idea</summary>

Two matrices lead from d to the hidden units, side by side, and one leads back. Only the branch of `w1` goes through SiLU, because it decides how much of the other passes; the branch of `w3` stays as it is.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？每乘一个矩阵，就写下得到的形状。“三个矩阵”一节说明了哪个矩阵做什么，“动手算”一节说明了中间怎样算。

<details><summary>思路</summary>

两个矩阵并排着从 d 个数通到隐藏单元，一个矩阵再变回来。只有 `w1` 那一支要经过 SiLU，因为它决定另一支能通过多少；`w3` 那一支保持不变。

</details>
"""


# %% tags=["solution"]
def solved_swiglu(x, w1, w2, w3):
    return F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2)


check("swiglu", solved_swiglu, keep=False)

# %% [markdown] lang="en"
r"""
## Your SwiGLU in SmolLM2

SmolLM2 answers a question and reads a text, with your function in all 30 layers.
"""

# %% [markdown] lang="zh"
r"""
## 把你的 SwiGLU 放进 SmolLM2

SmolLM2 的 30 层都换上你的函数，让它回答一个问题，再读一篇文章。它主要学的是英文，所以问题和文章都是英文的。
"""

# %% tags=["slow"]
plug_in(swiglu=my_swiglu)

# %% [markdown] lang="en"
r"""
Which of your mistakes would change its answer? Take one that no shape gives away, SiLU on `w3`'s branch.

**Predict first.** Does it still say Paris, and does the loss, 3.08, become about 3.2, about 5, or more? (Guessing among all 49152 tokens gives 10.8.)
"""

# %% [markdown] lang="zh"
r"""
你的哪种错误会改变它的回答？有一种从形状上看不出来，就是 SiLU 用错了地方，用在了 `w3` 那一支上。

**先猜一猜**：它还会回答 Paris（巴黎）吗？损失原来是 3.08，会变成约 3.2、约 5，还是更大？（在 49152 个词元里瞎猜，损失是 10.8。）
"""


# %% tags=["slow", "answer"]
def other_side(x, w1, w2, w3):
    return F.linear(swiglu(F.linear(x, w3), F.linear(x, w1)), w2)


plug_in(swiglu=other_side)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

No Paris, and the loss is 20.09, far worse than guessing.

</details>

So trained weights fit only one side of the gate.

## Three closing questions

1. PaLM has SwiGLU and kept 4d hidden units. How many times the parameters of a plain network with 4d units are these, without biases?

<details><summary>Answer</summary>

1.5 times, because 3 · d · 4d = 12d² numbers stand against 2 · d · 4d = 8d².

</details>

2. You rebuild a model. After an activation your numbers are off by at most 0.0005, most where its input is near ±2.7. What is wrong?

<details><summary>Answer</summary>

One side has GELU, the other its tanh form.

</details>

3. May you put GEGLU in place of SwiGLU in a model still to be trained? In a trained one?

<details><summary>Answer</summary>

Before training you may, because the losses cannot be told apart (0.2 standard deviations after 65536 steps). Afterwards not, because the weights were learned for SiLU.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

答不出 Paris 了；损失是 20.09，比瞎猜还差得多。

</details>

所以，权重训练好了，哪一支是门就定了，调换不得。

## 三个思考题

1. PaLM 用 SwiGLU，却保留了 4d 个隐藏单元。它的前馈网络的参数，是有 4d 个单元的普通网络的几倍？（没有偏置。）

<details><summary>答案</summary>

1.5 倍，因为它有 3 · d · 4d = 12d² 个数，而普通网络有 2 · d · 4d = 8d² 个。

</details>

2. 你重新实现了一个公开的模型。经过激活函数之后，你的结果与原来的最多相差 0.0005，输入在 ±2.7 附近时差得最多。哪里错了？

<details><summary>答案</summary>

一边用的是 GELU，另一边用的是它的 tanh 近似。

</details>

3. 该不该用 GEGLU 代替 SwiGLU？模型还没有训练时呢？已经训练好了呢？

<details><summary>答案</summary>

还没有训练时可以，因为两者的损失分不出高下（训练 65536 步时相差 0.2 个标准差）。已经训练好就不该了，因为权重是配合 SiLU 学出来的。

</details>
"""

# %%
plain, gated = parameter_count(512, 2048, gated=False, bias=False), parameter_count(512, 2048, gated=True, bias=False)
print(f"1. {gated / plain = }")
u = torch.linspace(-5, 5, 100001, dtype=torch.float64)
apart = (F.gelu(u, approximate="tanh") - F.gelu(u)).abs()
print(f"2. {apart.max() = :.5f}, {u[apart.argmax()].abs() = :.1f}")


# %% [markdown] lang="en"
r"""
## In short

* Without a gate a unit knows the token in one direction only; a gate multiplies two.
* Two SwiGLU units are a product, everywhere. ReLU units only come near, with biases and within bounds.
* With equal parameters, gates lower the loss. GEGLU and SwiGLU lead; why, remains open.

## Read next

* [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202): few pages, with the whole table.
* [gpt-oss's model.py](https://github.com/openai/gpt-oss/blob/main/gpt_oss/torch/model.py): its SwiGLU.
* [labml.ai's feed-forward network](https://nn.labml.ai/transformers/feed_forward.html): one class for all of these.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 没有门，一个单元只认识词元的一个方向；门把两个方向相乘。
* 两个 SwiGLU 单元之和处处等于乘积。ReLU 单元只有带上偏置，在一定的范围内，才能接近它。
* 参数个数相同时，加上门，损失更低；领先的是 GEGLU 和 SwiGLU，为什么，还没有答案。

## 接着读

* [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202)：Shazeer 的论文，只有几页，有完整的表。
* [gpt-oss 的 model.py](https://github.com/openai/gpt-oss/blob/main/gpt_oss/torch/model.py)：它的 SwiGLU 和整个模型。
* [labml.ai 的前馈网络](https://nn.labml.ai/transformers/feed_forward.html)：一个类就能变成这里的任何一种。
"""

# %% [markdown] lang="en"
r"""
## Going further: another f in SmolLM2

SiLU and GELU are at most 0.193 apart (the line under *One family* says so at β = 1). Put GELU in place of SiLU in a model that was trained with SiLU.

**Predict first.** Does SmolLM2 still say Paris, and is the loss nearer to 3.08 or to 20?
"""

# %% [markdown] lang="zh"
r"""
## 选读：给 SmolLM2 换一个 f

SiLU 与 GELU 最多相差 0.193（“一家人”一节，β = 1 时图下方的说明里有这个数）。模型是用 SiLU 训练的，现在把 SiLU 换成 GELU。

**先猜一猜**：SmolLM2 还会回答 Paris 吗？损失更接近 3.08，还是更接近 20？
"""


# %% tags=["slow", "answer"]
def with_gelu(x, w1, w2, w3):
    return F.linear(gated_unit(F.linear(x, w1), F.linear(x, w3), F.gelu), w2)


plug_in(swiglu=with_gelu)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It still says Paris; the loss is 4.76, nearer to 3.08.

</details>

Here, with one prompt and one text, the wrong f blurs and the wrong side destroys. Even so the damage is real, because the loss is 1.7 higher and the model no longer stops after its sentence. (↵ stands for a new line. Which f trains best, this does not show.)
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

还会回答 Paris；损失是 4.76，更接近 3.08。

</details>

在这里（只试了一个问题、一篇文章），用错 f，还答得出；放错一边，模型就全毁了。不过确实变差了，损失高了 1.7，说完这句话还不知道停。（↵ 表示换行。训练时用哪种 f 最好，这里看不出来。）
"""

# %% [markdown] lang="en"
r"""
## Going further: torch's GLU, and GELU

`F.glu` halves one axis. The first half is the value, the **second** the gate, which goes through the sigmoid. Write it, for any axis `dim` of even length.
"""

# %% [markdown] lang="zh"
r"""
## 选读：torch 的 GLU，以及 GELU

`F.glu` 把一个轴分成两半，前一半是值，**后**一半是门，门要经过 sigmoid。请写出来；轴由 `dim` 指定，它的长度是偶数。
"""


# %% tags=["exercise"]
def my_glu(x, dim=-1):
    return ...


check("glu", my_glu)

# %% [markdown] lang="en"
r"""
Stuck? The sentence above says which half is which; *What you will meet elsewhere* shows it on four numbers.

<details><summary>The idea</summary>

`chunk(2, dim)` gives both halves in their order. Because torch puts the gate second, it is the second half that goes through the sigmoid.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？上面那句话说明了哪一半是什么，“在别处会遇到什么”一节用四个数演示过。

<details><summary>思路</summary>

`chunk(2, dim)` 按顺序给出两半。因为 torch 的门在后，所以要经过 sigmoid 的是后一半。

</details>
"""


# %% tags=["solution"]
def solved_glu(x, dim=-1):
    value, gate = x.chunk(2, dim)
    return value * torch.sigmoid(gate)


check("glu", solved_glu, keep=False)

# %% [markdown] lang="en"
r"""
Now exact GELU, where $\Phi(u) = (1 + \text{erf}(u / \sqrt{2})) / 2$, with `torch.erf`. (The tanh form is $\frac{u}{2}\,(1 + \tanh(\sqrt{2/\pi}\,(u + 0.044715\,u^3)))$.)
"""

# %% [markdown] lang="zh"
r"""
再写精确的 GELU，其中 $\Phi(u) = (1 + \text{erf}(u / \sqrt{2})) / 2$，可以用 `torch.erf`。（用 tanh 的近似是 $\frac{u}{2}\,(1 + \tanh(\sqrt{2/\pi}\,(u + 0.044715\,u^3)))$。）
"""


# %% tags=["exercise"]
def my_gelu(x):
    return ...


check("gelu", my_gelu)

# %% [markdown] lang="en"
r"""
Stuck? Compute Φ first, and look whether it runs from 0 to 1. *By hand* says what to do with it.

<details><summary>The idea</summary>

GELU is x times a weight, as Swish is. erf runs from −1 to 1, so 1 is added and the sum halved to make it a share; the root of 2 stands there because erf belongs to a bell curve of variance 1/2.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先算出 Φ，看看它是不是从 0 到 1；怎样用它，“动手算”一节说过。

<details><summary>思路</summary>

GELU 与 Swish 一样，是 x 乘以一个权重。erf 从 −1 到 1，所以要加 1 再减半，才成为概率；除以 2 的平方根，是因为 erf 对应的钟形曲线方差是 1/2。

</details>
"""


# %% tags=["solution"]
def solved_gelu(x):
    return x * (1 + torch.erf(x / 2**0.5)) / 2


check("gelu", solved_gelu, keep=False)

# %% [markdown] lang="en"
r"""
## Going further: plain units that nearly multiply

Smooth units with biases can nearly multiply, too. At its lowest point m GELU has slope 0 and is nearly a parabola, and in the difference of two parabolas the squares of x₁ and x₂ cancel, so only their product is left. With m as bias, $\text{GELU}(m + \varepsilon s) - \text{GELU}(m + \varepsilon t)$ with $s = x_1 + x_2$ and $t = x_1 - x_2$ is nearly $c\,\varepsilon^2\,(s^2 - t^2) = 4c\,\varepsilon^2\,x_1 x_2$, where 2c is GELU's second derivative at m. The output weights in $W_2$ divide by $4c\,\varepsilon^2$.

**Predict first.** What does a smaller ε do to the error, on the square of side 4 and on one of side 20?
"""

# %% [markdown] lang="zh"
r"""
## 选读：几乎会做乘法的普通单元

f 光滑、又有偏置时，没有门也能近似地做乘法。在最低点 m，GELU 的斜率是 0，曲线近似于抛物线；两条抛物线相减，x₁ 和 x₂ 的平方抵消，剩下的正是乘积。以 m 为偏置，设 $s = x_1 + x_2$，$t = x_1 - x_2$，那么 $\text{GELU}(m + \varepsilon s) - \text{GELU}(m + \varepsilon t)$ 近似等于 $c\,\varepsilon^2\,(s^2 - t^2) = 4c\,\varepsilon^2\,x_1 x_2$，其中 2c 是 GELU 在 m 处的二阶导数。除以 $4c\,\varepsilon^2$ 这一步，由 $W_2$ 里的输出权重来做。

**先猜一猜**：在边长为 4 和 20 的正方形上，ε 变小时，误差各会怎样变？
"""

# %% tags=["answer"]
m = torch.tensor(-0.7517915246935645, dtype=torch.float64)
c = torch.func.grad(torch.func.grad(F.gelu))(m) / 2
for eps in (0.1, 0.01, 0.001, 1e-10):
    for size in (1, 5):
        a, b = size * x1, size * x2
        y = (F.gelu(m + eps * (a + b)) - F.gelu(m + eps * (a - b))) / (4 * c * eps**2)
        missed = (y - a * b).square().mean() / (a * b).square().mean()
        print(f"{eps = :<6} side = {4 * size:<3} {1 / (4 * c * eps**2) = :.1e}  {missed.clamp(max=1) = :.4%}")


# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The error shrinks on both, but in the end the product is lost.

</details>

On the larger square the error is soon about 25 times as large, so it needs a smaller ε. The price is that the output weights grow like $1 / \varepsilon^2$ and magnify the rounding errors. At $\varepsilon = 10^{-10}$ the product is lost in them, even in float64 (100% printed means 100% or more). A gate needs no large weights.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

误差在两个正方形上都变小，最后乘积却丢失了。

</details>

ε 足够小时，大正方形上的误差约是小的 25 倍，所以它需要更小的 ε。代价是输出权重按 $1 / \varepsilon^2$ 增大，舍入误差也随之放大。到 $\varepsilon = 10^{-10}$，哪怕用 float64，乘积也已淹没在舍入误差里（印出的 100% 表示 100% 或更多）。门控不需要这样大的权重。
"""
