# %% [markdown] lang="en"
r"""
# 06 What is lost when the mean stays?

A model represents each token of a text by d numbers, its *features*; *token* below often means this vector. RMSNorm divides it by its **root mean square** and subtracts nothing:

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

It has a learned scale γ and no β; ε is the small number of lesson 05. Llama and Gemma use it in place of LayerNorm. One source note tests its RMSNorm on the token 1, 2, 3, 4 and prints −1.3416, −0.4472, 0.4472, 1.3416. Without running anything, you will see that this is wrong.

After this lesson you can say which changes of a token each of the two layers ignores, draw where their outputs lie, write RMSNorm, and judge whether one may replace the other. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 06 不减均值，丢掉了什么？

模型用 d 个数（d 个**特征**）表示一个词元（token）；下文的“词元”常指这个向量。RMSNorm（均方根归一化）让它除以自己的**均方根**（root mean square），什么也不减：

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

它有可学习的缩放参数 γ，没有 β；ε 就是第 05 课里的那个小常数。Llama 和 Gemma 用它代替层归一化（LayerNorm）。有一篇原始笔记用词元 1、2、3、4 测试自己写的 RMSNorm，打印出 −1.3416、−0.4472、0.4472、1.3416。这是错的，你不用运行就能看出来。

学完这一课，你能分别说出，对词元做哪些改动不会影响这两种层的输出；能画出它们的输出落在哪里；能写出 RMSNorm；还能判断可不可以用一种代替另一种。大约需要 20 分钟。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import RMSNorm, layer_norm, rms_norm, standardize
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.rms_norm import circle_and_sphere, mean_and_rms
from blocklab.real_models import if_installed, load_glassllm, smollm2_rms_norms

# %% [markdown] lang="en"
r"""
## Two questions first

1. The token 1, 2, 3, 4 goes through LayerNorm, with γ = 1 and β = 0. What are the mean of the output and the mean of its squares?
2. PyTorch's BatchNorm trains with `momentum=0.1`. How much does the start value of the running mean still count after 10 steps?

<details><summary>Answers</summary>

1. 0 and, apart from the small ε, 1.
2. $0.9^{10} = 0.35$, about a third.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 词元 1、2、3、4 经过层归一化，γ = 1，β = 0。输出的均值是多少？均方，也就是平方的均值呢？
2. PyTorch 的批量归一化用 `momentum=0.1` 训练。10 步之后，初值在移动均值里还占多少？

<details><summary>答案</summary>

1. 0；除了很小的 ε 的影响，是 1。
2. $0.9^{10} = 0.35$，约三分之一。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

Square, average, take the root, divide:
"""

# %% [markdown] lang="zh"
r"""
## 动手算

先平方，再求均值，然后开方，最后相除：
"""

# %%
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])  # (N, d)
mean_square = x.square().mean(-1, keepdim=True)  # (N, 1)
y = x / (mean_square + 1e-5).sqrt()  # (N, d)
torch.testing.assert_close(y, rms_norm(x, (4,), eps=1e-5))
print(mean_square.flatten(), y.square().mean(-1))
y

# %% [markdown] lang="en"
r"""
Dividing by a positive number leaves every sign alone. So before γ no positive input becomes negative: the note's −1.3416 did not come from RMSNorm.

**Your turn, one line.** What is the root mean square of the token `[3, 4]`? Replace `None` by the number or a formula.
"""

# %% [markdown] lang="zh"
r"""
除以一个正数，正负号都不会变。所以在乘 γ 之前，正的输入不可能变成负的：笔记里的 −1.3416 不是 RMSNorm 算出来的。

**轮到你了**，只写一行：词元 `[3, 4]` 的均方根是多少？请把 `None` 换成这个数，或者换成算式。
"""

# %% tags=["exercise"]
my_root_mean_square = None

check("root_mean_square", my_root_mean_square)

# %% tags=["solution"]
solved_root_mean_square = 12.5**0.5

check("root_mean_square", solved_root_mean_square)

# %% [markdown] lang="en"
r"""
## Circle and sphere

A token with three features is a point in space. Here are 300, spread around the origin, the same on both sides. The *diagonal* `(1, 1, 1)` points up: at tilt 0, the higher a point, the larger its mean.

Step 1 subtracts from each token its mean (LayerNorm only), step 2 divides it by its standard deviation (LayerNorm) or root mean square (RMSNorm); γ = 1, β = 0. *Shift* is added to every number beforehand; *tilt* and *turn* move your eye.

**Predict first.** After both steps, what shape do LayerNorm's 300 outputs form? Choose, then drag *steps* to 2.
"""

# %% [markdown] lang="zh"
r"""
## 圆周与球面

三个特征的词元就是空间里的一个点。这里有 300 个点，散布在原点周围，左右两图用的是同一批点。**对角线** `(1, 1, 1)` 朝上：俯仰为 0 时，点越高，均值就越大。

第 1 步，让每个词元减去自己的均值（只有层归一化做这一步）；第 2 步，除以自己的标准差（层归一化）或均方根（RMSNorm）；γ = 1，β = 0。“平移”是事先给每个数加上的值；“俯仰”和“旋转”改变观看的角度。

**先猜一猜**：两步都做完之后，层归一化的 300 个输出组成什么形状？先选，再把“步骤”拖到 2。
"""

# %% tags=["panel", "guess"]
circle_and_sphere.panel()

# %% [markdown] lang="en"
r"""
A circle. Step 1 drops every point onto the plane of mean 0, at a right angle to the diagonal. Step 2 moves it straight out or in until the mean of its squares is 1: the distance from the origin is √3. Plane and sphere meet in a circle. RMSNorm skips step 1 and keeps each token's *direction*: the points cover the sphere. With d features, before γ and without ε, RMSNorm's outputs meet one condition, length √d; LayerNorm's a second one, mean 0.

Now drag *shift*, with both steps done. LayerNorm does not move; RMSNorm's points crowd around the diagonal. Their median angle to it:
"""

# %% [markdown] lang="zh"
r"""
答案是圆周。第 1 步让每个点落到均值为 0 的平面上，这个平面与对角线垂直。第 2 步让点沿直线向外或向里移动，直到均方（平方的均值）为 1，这时到原点的距离是 √3。平面与球面相交，就得到圆周。RMSNorm 跳过第 1 步，保留每个词元的**方向**：点布满整个球面。有 d 个特征时（乘 γ 之前，不计 ε），RMSNorm 的输出只满足一个条件，长度是 √d；层归一化的还要满足第二个条件，均值为 0。

两步都做完，再拖动“平移”。层归一化不动；RMSNorm 的点都挤到对角线周围。它们与对角线夹角的中位数：
"""

# %%
tokens = circle_and_sphere.three_number_tokens()  # (N, d)
for shift in (0, 1, 3, 10):
    ln, rms = layer_norm(tokens + shift, (3,)), rms_norm(tokens + shift, (3,))
    moved = (ln - layer_norm(tokens, (3,))).abs().max()
    angle = circle_and_sphere.angles(rms).quantile(0.5)
    print(f"shift {shift:2}: LayerNorm moved by {moved:.4f}, RMSNorm's median angle {angle:.0f}°")

# %% [markdown] lang="en"
r"""
## Two divisors

RMSNorm is not LayerNorm minus one step: the divisor changes, too. With the mean μ and the standard deviation σ of a token

$$\text{RMS}^2 = \mu^2 + \sigma^2$$

This is Pythagoras: μ in every feature, and the rest, which adds up to 0, stand at a right angle. Below, LayerNorm divides by the orange side, RMSNorm by the blue one. The token is `[1, 2, 3, 4]` times *scale*, plus *shift*.

**Predict first.** Leave *scale* at 1. At which shift do both layers give the same four numbers?
"""

# %% [markdown] lang="zh"
r"""
## 两个除数

RMSNorm 不只是比层归一化少一步：除数也变了。记词元的均值为 μ、标准差为 σ，则

$$\text{RMS}^2 = \mu^2 + \sigma^2$$

这正是勾股定理。词元可以拆成两部分：一部分的每个特征都是 μ，另一部分是余下的数；余下的数之和为 0，所以两部分互相垂直。在下面的三角形里，层归一化除以橙色的边，RMSNorm 除以蓝色的边。词元是 `[1, 2, 3, 4]`，先乘以“缩放”，再加上“平移”。

**先猜一猜**：“缩放”保持 1，“平移”取多少时，两种层给出相同的四个数？
"""

# %% tags=["panel"]
mean_and_rms.panel()

# %% [markdown] lang="en"
r"""
At −2.5: there the mean is 0, and the two divisors are one. In general, with the same ε and before γ and β, LayerNorm(x) = RMSNorm(x − μ); the left side always has mean 0, so the two agree only where μ = 0. With shift 0, *scale* moves neither.

The [paper](https://arxiv.org/abs/1910.07467) lists *invariances*, changes that leave the output alone; the next cell runs the list, with ε = 0 (`True`: left alone). Each norm gets `X @ W.T`: `X` holds 5 tokens of 4 numbers, `W` the weights of 6 units; `one_unit` and `one_token` change one row only. **Predict first:** in how many of the six lines do LayerNorm and RMSNorm differ?
"""

# %% [markdown] lang="zh"
r"""
是 −2.5：这时均值为 0，两个除数相等。一般地，只要 ε 相同，在乘 γ、加 β 之前，LayerNorm(x) = RMSNorm(x − μ)；左边的均值总是 0，所以只有 μ = 0 时，两种层才一致。“平移”为 0 时，拖动“缩放”，两种层的输出都不动。

RMSNorm 的[论文](https://arxiv.org/abs/1910.07467)列出了一些**不变性**（invariance），也就是哪些改动不影响输出；下一个单元格取 ε = 0，逐条运行一遍（`True` 表示不影响）。送进归一化层的都是 `X @ W.T`：`X` 是 5 个词元，各有 4 个数；`W` 是 6 个单元的权重；`one_unit` 和 `one_token` 只改其中一行。**先猜一猜**：六行里有几行，层归一化和 RMSNorm 的答案不同？
"""

# %% claims=["E41"]
torch.testing.assert_close(layer_norm(x, (4,)), rms_norm(x - x.mean(-1, keepdim=True), (4,), eps=1e-5))
X, W, b = (torch.randn(shape, dtype=torch.float64) for shape in ((5, 4), (6, 4), 4))
one_unit, one_token = torch.ones(6, 1), torch.ones(5, 1)
one_unit[1], one_token[1] = 2, 3
changes = {"2.5 * W": (X, 2.5 * W), "W + b": (X, W + b), "one_unit * W": (X, one_unit * W)}
changes |= {"2.5 * X": (2.5 * X, W), "X + b": (X + b, W), "one_token * X": (one_token * X, W)}
norms = [lambda z: standardize(z, 0, 0), lambda z: layer_norm(z, (6,), eps=0), lambda z: rms_norm(z, (6,), eps=0)]
print(f"{'':14} BatchNorm  LayerNorm  RMSNorm")
for name, (x_new, w_new) in changes.items():
    same = [torch.allclose(norm(x_new @ w_new.T), norm(X @ W.T)) for norm in norms]
    print(f"{name:14} {same[0]!s:9}  {same[1]!s:9}  {same[2]!s}")

# %% [markdown] lang="en"
r"""
In one: `W + b` adds one vector to the weights of all units, and so one number to all features of a token. Only LayerNorm takes it away. This *re-centering invariance* is what is lost; in this list, nothing else is.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| RMSNorm is LayerNorm without subtracting the mean | Half of it: the divisor changes, too. |
| the paper points out that LayerNorm works by scaling, not centring | It only *supposes* so, and reports experiments that fit. |
| without loss of quality | "Comparable": now better, now worse. |
| it is faster | The paper's Transformer takes 6.9% less time. |
| the test prints −1.3416 and so on | That is LayerNorm's output: the test creates `rmsn` and calls `ln`, a LayerNorm that an earlier cell left in memory. |

(Numbers under *Going further*.) The test in a fresh session:
"""

# %% [markdown] lang="zh"
r"""
只有一行：`W + b` 给所有单元的权重加上同一个向量，也就给词元的所有特征加上了同一个数，只有层归一化能把它减掉。丢掉的就是这种**重新中心化不变性**（re-centering invariance）；在这张表里，也只丢掉了它。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| RMSNorm 就是不减均值的层归一化 | 只说对一半：除数也不同。 |
| 论文指出，层归一化靠的是缩放，而不是减均值 | 论文只是**猜想**如此，并给出了与之相符的实验。 |
| 效果没有变差 | 论文说的是“相当”：有好有坏。 |
| 更快 | 论文里的 Transformer 用时少 6.9%。 |
| 测试打印出 −1.3416 等数 | 那是层归一化的输出：测试创建了 `rmsn`，却调用了 `ln`，也就是之前的单元格留在内存里的层归一化。 |

（详细数据见“选读”。）在全新的会话里运行这个测试：
"""


# %% claims=["E40", "E43"]
class NotesRMSNorm(nn.Module):
    def __init__(self, input_dim, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(input_dim))

    def forward(self, x):
        return x * self.weight / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


print(NotesRMSNorm(4)(x))
try:
    exec("rmsn = RMS_Norm(4); x_norm = ln(x)", {"RMS_Norm": NotesRMSNorm, "x": x})
except NameError as error:
    print(error)

# %% [markdown] lang="en"
r"""
Their class is right, and was never called. Restart the kernel and run all cells before you believe a notebook.

## In a trained model

glassllm, a small language model with 9 RMSNorms and 128 features, reads a sentence; we record the share of the mean in each token's mean square, $\mu^2 / \text{RMS}^2$. Then the mean is subtracted in front of every RMSNorm, which makes them LayerNorms. **Predict first:** its loss (the mean of −ln p, where p is the probability given to the true next token) is 3.77; guessing evenly among the 1024 tokens gives ln 1024 = 6.93. What does it become?
"""

# %% [markdown] lang="zh"
r"""
笔记里的类是对的，只是从没调用过。在相信一个笔记本之前，先重启内核，把所有单元格运行一遍。

## 训练好的模型

glassllm 是一个小型语言模型，有 9 个 RMSNorm，128 个特征。让它读一句话，记下每个词元的均方里，均值的平方占多少，即 $\mu^2 / \text{RMS}^2$。然后在每个 RMSNorm 之前减去均值，它们就成了层归一化。**先猜一猜**：它的损失（−ln p 的均值，p 是模型给真正的下一个词元的概率）原来是 3.77；在 1024 个词元里均匀地猜，则是 ln 1024 = 6.93。现在变成多少？
"""

# %%
alice = "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do"


def read_with(before_each_norm):
    norms = [module for module in net.modules() if isinstance(module, RMSNorm)]
    hooks = [norm.register_forward_pre_hook(before_each_norm) for norm in norms]
    with torch.inference_mode():
        loss = F.cross_entropy(net(ids)[0, :-1], ids[0, 1:])
    [hook.remove() for hook in hooks]
    return loss.item()


# %% tags=["slow"]
with if_installed():
    from glassllm import load_pretrained

    net, shares = load_glassllm(), []
    ids = torch.tensor([load_pretrained("en")[1].encode(alice)])  # (N, L)
    as_it_is = read_with(lambda _, x: shares.append(x[0].mean(-1) ** 2 / x[0].square().mean(-1)))
    centred = read_with(lambda _, x: x[0] - x[0].mean(-1, keepdim=True))
    print(f"loss {as_it_is:.2f}, with LayerNorm {centred:.2f}")
    print(f"share of the mean {torch.stack(shares).mean():.1%}, one in 128 is {1 / 128:.1%}")

# %% [markdown] lang="en"
r"""
0.04 worse. Is that little? 128 directions at right angles share the mean square, 0.8% each on average; the diagonal, the direction of the mean, has 0.7%. So let us take out 40 random directions, one at a time, in place of the mean:
"""

# %% [markdown] lang="zh"
r"""
损失增加了 0.04。这算少吗？均方由 128 个互相垂直的方向分摊，平均每个占 0.8%；对角线就是均值的方向，占 0.7%。所以，我们不减均值，改成随机取 40 个方向，每次去掉一个：
"""

# %% tags=["slow"]
with if_installed():
    net = load_glassllm()
    directions = F.normalize(torch.randn(40, 128, generator=torch.Generator().manual_seed(0)), dim=-1)
    costs = [read_with(lambda _, x, u=u: x[0] - (x[0] @ u).unsqueeze(-1) * u) - as_it_is for u in directions]
    told = Text(en="mean {:+.2f}, random directions {:+.2f} to {:+.2f}", zh="均值 {:+.2f}，随机方向 {:+.2f} 到 {:+.2f}")
    print(told.format(centred - as_it_is, min(costs), max(costs)))

# %% [markdown] lang="en"
r"""
Taking out the mean costs what taking out any direction costs: on this sentence 0.04, with 40 random directions −0.07 to 0.14. In glassllm the mean is no special direction.

## Exercise: RMSNorm

Write it. `normalized_shape` is a tuple, the sizes of the last axes, which share one root mean square; `weight` is γ or `None`. Compute in float64 for a float64 input, otherwise in float32, and return the type of x. If `eps` is `None`, take the machine epsilon of the type computed in: `torch.finfo(torch.float64).eps` or `torch.finfo(torch.float32).eps`.
"""

# %% [markdown] lang="zh"
r"""
减去均值的代价，与去掉任何一个方向差不多：这句话上损失增加 0.04，换成 40 个随机方向，变化在 −0.07 和 0.14 之间。所以在 glassllm 里，均值并不是特殊的方向。

## 练习：RMSNorm

请把它写出来。`normalized_shape` 是一个元组，即最后几个轴的大小，这些轴上的数共用一个均方根；`weight` 是 γ，也可以是 `None`。输入是 float64 时用 float64 计算，其他类型都用 float32 计算，最后转回 x 的类型。`eps` 为 `None` 时，取**计算时所用类型**的机器精度：`torch.finfo(torch.float64).eps` 或 `torch.finfo(torch.float32).eps`。
"""


# %% tags=["exercise"]
def my_rms_norm(x, normalized_shape, weight=None, eps=None):
    return ...


check("rms_norm", my_rms_norm)

# %% [markdown] lang="en"
r"""
Stuck? Start from the cell under *By hand*, and count the axes from the end. The solution is folded below; nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？从“动手算”一节的单元格出发，从最后一个轴往前数。参考答案折叠在下面；后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_rms_norm(x, normalized_shape, weight=None, eps=None):
    axes = tuple(range(-len(normalized_shape), 0))
    wide = x if x.dtype == torch.float64 else x.float()
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    y = wide / (wide.square().mean(axes, keepdim=True) + eps).sqrt()
    return (y if weight is None else y * weight).to(x.dtype)


check("rms_norm", solved_rms_norm)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A token with 576 features has gone through RMSNorm with γ = 1. How long is it, and how large can one feature be at most? And after LayerNorm?

<details><summary>Answer</summary>

Both have the length √576 = 24, apart from ε. After RMSNorm one feature can be 24, if the others are 0. After LayerNorm the mean is 0, so beside the largest a the others are −a / 575 each: a² + a² / 575 = 576 gives a = √575 = 23.98.

</details>

2. A new RMSNorm agrees with torch's to within 0.1% on `torch.randn(8, 4096)`; with mean 5 and standard deviation 1 its output is 5 times too large. Which mistake is it, and why did the test miss it?

<details><summary>Answer</summary>

It divides by σ in place of the root mean square. With a mean near 0, as in `torch.randn`, they are almost equal; here RMS / σ = √(5² + 1) = 5.1. Test with a mean that is not 0.

</details>

3. A trained model with RMSNorm is to run where only LayerNorm exists. May you put LayerNorm in its place, with the same γ and without β?

<details><summary>Answer</summary>

It is another function, equal only where every token has mean 0. glassllm's loss went from 3.77 to 3.81, on one sentence; that of SmolLM2, another small model, from 3.08 to 3.39, on 203 tokens. So measure (an exact way stands under *Going further*).

</details>

The largest feature and the ratio:
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 某个词元有 576 个特征，经过了 γ = 1 的 RMSNorm。它的长度是多少？一个特征最大能到多少？换成层归一化呢？

<details><summary>答案</summary>

除了 ε 的影响，长度都是 √576 = 24。经过 RMSNorm，如果其他特征都是 0，一个特征可以到 24。经过层归一化，均值为 0；设最大的特征是 a，其他特征就各是 −a / 575；由 a² + a² / 575 = 576，得 a = √575 = 23.98。

</details>

2. 新写的 RMSNorm 在 `torch.randn(8, 4096)` 上与 torch 相差不到 0.1%；均值为 5、标准差为 1 时，输出却是应有的 5 倍。是哪种错误？测试为什么没有发现？

<details><summary>答案</summary>

它除以的是 σ，而不是均方根。`torch.randn` 的均值接近 0，两者几乎相等；这里 RMS / σ = √(5² + 1) = 5.1。测试时，均值不要取 0。

</details>

3. 一个用 RMSNorm 训练好的模型，要在只有层归一化的地方运行。可以换成 γ 相同、没有 β 的层归一化吗？

<details><summary>答案</summary>

那是另一个函数，只有每个词元的均值都为 0 时才相等。对 glassllm 来说，一句话上的损失从 3.77 变到 3.81；另一个小模型 SmolLM2，在 203 个词元上从 3.08 变到 3.39。所以要先测一测。（也有精确的办法，见“选读”。）

</details>

第一题里最大的特征，以及第二题里的比值：
"""

# %%
spike = torch.zeros(576)
spike[0] = 1000
print(f"{rms_norm(spike, (576,)).max():.2f} {layer_norm(spike, (576,)).max():.2f}")
for shift in (0, 5):
    x = torch.randn(8, 4096) + shift
    by_deviation = x / x.std(-1, correction=0, keepdim=True)
    print(f"{(by_deviation / F.rms_norm(x, (4096,))).mean():.1f}")

# %% [markdown] lang="en"
r"""
**In one line:** before γ, RMSNorm keeps a token's direction; LayerNorm first takes out the mean, one direction in d.

## Going further: γ in trained models

The smallest SmolLM2 (SmolLM2-135M-Instruct) has 61 RMSNorms, two in each of its 30 layers and one at the end, with 576 features; their γ come with this package. **Predict first:** γ usually starts at 1. Where is it after training, and can it be negative?
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：在乘 γ 之前，RMSNorm 保留词元的方向；层归一化先去掉均值，那是 d 个方向中的一个。

## 选读：训练好的模型里的 γ

SmolLM2 中最小的一个（SmolLM2-135M-Instruct）有 30 层，每层两个 RMSNorm，最后还有一个，共 61 个，特征数是 576；它们的 γ 随本课程的包一起提供。**先猜一猜**：γ 通常从 1 开始。训练之后变成了多少？会是负的吗？
"""

# %%
gains = smollm2_rms_norms()
for name in ("layers.0.norm1", "layers.0.norm2", "layers.15.norm1", "layers.29.norm1", "norm"):
    gain = gains[f"{name}.weight"]  # (d,)
    negative = (gain < 0).sum()
    print(f"{name:15}  mean {gain.mean():6.3f}  from {gain.min():6.3f} to {gain.max():5.3f}  negative {negative}")

# %% [markdown] lang="en"
r"""
Before the last norm nearly all are below 1; in the last most lie between 1.5 and 2.1. In the very first, 271 of the 576 are negative, elsewhere a few at most, so after γ the signs may turn. (Only the product of γ and the matrices that read the norm's output counts: multiply one number of γ by c, divide that feature's column in each of them by c, and what they compute is the same. So the size of a γ alone does not say how much a feature matters.)

## Going further: ε, and when to round

The paper has no ε. `nn.RMSNorm` takes the machine epsilon of the type computed in by default (0.00000012 for float32), Meta's Llama code 1e-6 in the layer and 1e-5 in its settings. For a token whose numbers are all 0.0001, the three give the first line below. The next two show why the squares are better computed in float32: in float16 the square of a number from 256 on is infinite, and the output 0.
"""

# %% [markdown] lang="zh"
r"""
最后一个 RMSNorm 之前，γ 几乎都小于 1；在最后一个里，大多在 1.5 和 2.1 之间。最前面的那个里，576 个 γ 有 271 个是负的，别处至多几个，所以乘过 γ 之后，正负号可能改变。（起作用的只是 γ 与后面各个矩阵的乘积：让 γ 里的一个数乘以 c，再让这些矩阵里与它相乘的那一列都除以 c，算出的结果不变。所以只看 γ 的大小，还说明不了一个特征有多重要。）

## 选读：ε，以及何时舍入

论文里没有 ε。`nn.RMSNorm` 默认取计算时所用类型的机器精度（float32 约为 0.00000012）；Meta 的 Llama 代码，在层里默认是 1e-6，在配置里是 1e-5。某个词元的数都是 0.0001，三种取法的结果就是下面的第一行。后两行说明为什么平方最好用 float32 来算：在 float16 里，256 及以上的数一平方就是无穷大，输出就成了 0。
"""

# %% claims=["E42"]
tiny = torch.full((4,), 1e-4)
print([round(F.rms_norm(tiny, (4,), eps=eps)[0].item(), 4) for eps in (None, 1e-6, 1e-5)])
half = torch.tensor([300, 400, 500, 600], dtype=torch.float16)
print(half / (half.square().mean() + 1e-5).sqrt())
print(rms_norm(half, (4,)))

# %% [markdown] lang="en"
r"""
With the same ε LayerNorm can even compute RMSNorm: the 2d numbers `[x, −x]` have mean 0 and variance RMS², so with γ written twice the first half of the output is RMSNorm's.

Models also differ in *when* they round to a short type such as bfloat16. Llama and Gemma both normalize in float32. [Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) rounds the normalized numbers to the type of x and then multiplies by γ, which has that type too, so it rounds twice. [Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) stores γ − 1, multiplies by 1 + weight in float32 and rounds once. To reproduce a model bit by bit you need its order. Write both; `weight` is what the model stores, γ for Llama and γ − 1 for Gemma, and eps is added as above.
"""

# %% [markdown] lang="zh"
r"""
只要 ε 相同，层归一化甚至能算出 RMSNorm：`[x, −x]` 这 2d 个数的均值为 0，方差正是 RMS²；把 γ 写两遍，输出的前一半就是 RMSNorm 的输出。

各种模型还有一处不同：**什么时候**舍入到 bfloat16 这样的低精度类型。Llama 和 Gemma 都用 float32 做归一化。[Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) 先把归一化后的数舍入到 x 的类型，再乘以同一类型的 γ，所以舍入两次。[Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) 存的是 γ − 1，在 float32 里乘以 1 + weight，只舍入一次。要逐位重现某个模型的结果，就要按它的顺序来。请写出这两种；`weight` 是模型存的值，对 Llama 是 γ，对 Gemma 是 γ − 1；eps 照前面的方式加。
"""


# %% tags=["exercise"]
def my_rms_norm_llama(x, weight, eps=1e-6):
    return ...


check("rms_norm_llama", my_rms_norm_llama)


# %% tags=["solution"]
def solved_llama(x, weight, eps=1e-6):
    wide = x.float()
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return y.to(x.dtype) * weight


check("rms_norm_llama", solved_llama)


# %% tags=["exercise"]
def my_rms_norm_gemma(x, weight, eps=1e-6):
    return ...


check("rms_norm_gemma", my_rms_norm_gemma)


# %% tags=["solution"]
def solved_gemma(x, weight, eps=1e-6):
    wide = x.float()
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (y * (1 + weight.float())).to(x.dtype)


check("rms_norm_gemma", solved_gemma)

# %% [markdown] lang="en"
r"""
The same token and the same γ, in bfloat16, which keeps 8 binary digits, in both orders:
"""

# %% [markdown] lang="zh"
r"""
同一个词元，同样的 γ，用只有 8 位二进制有效数字的 bfloat16，按两种顺序各算一次：
"""

# %%
x, gain = torch.tensor([[4, 5, 6], [1.25, 0.75, 1.5]], dtype=torch.bfloat16)
print(solved_llama(x, gain), solved_gemma(x, gain - 1), sep="\n")

# %% [markdown] lang="en"
r"""
## Going further: faster?

On a GPU such layers spend their time mostly on reading and writing memory (more in lesson 12), so count how often each of the N · d numbers is read or written. Step by step LayerNorm (without β) reads for the mean, reads and writes to subtract it, reads and writes to square, reads for the mean of squares, reads and writes to divide, reads and writes for γ. RMSNorm leaves out the first two. One *fused* function reads the input once, keeps it on the chip, and writes the output once. In bytes per number, 2 bytes each in float16:
"""

# %% [markdown] lang="zh"
r"""
## 选读：更快吗？

在 GPU 上，这类层的时间主要花在读写显存上（详见第 12 课），所以要数一数：N · d 个数，每个要读写几次。一步一步做时，层归一化（没有 β）求均值读一次，减均值读写各一次，平方读写各一次，求均方读一次，相除读写各一次，乘 γ 读写各一次。RMSNorm 省去前两步。**融合**（fused）成一个函数，就只读一次输入，留在芯片上，再写一次输出。每个数要传多少字节，float16 每次 2 字节：
"""

# %% claims=["E41"]
mean, subtract, square, mean_of_squares, divide, gamma = 1, 2, 2, 1, 2, 2
layer_norm_bytes = 2 * (mean + subtract + square + mean_of_squares + divide + gamma)
rms_norm_bytes = 2 * (square + mean_of_squares + divide + gamma)
print(layer_norm_bytes, rms_norm_bytes, f"{layer_norm_bytes / rms_norm_bytes:.2f}")
print("fused", 2 * 2, 2 * 2)

# %% [markdown] lang="en"
r"""
Step by step RMSNorm moves 14 bytes where LayerNorm moves 20. Fused, both move 4: where a token fits on the chip, the mean costs no further reading or writing. And a norm is only a part of a model. In the paper, seconds per 1000 steps on the authors' machine:

| | LayerNorm | RMSNorm | less |
|---|---|---|---|
| RNNSearch | 665 | 501 | 24.7% |
| Transformer | 248 | 231 | 6.9% |

Quality, LayerNorm → RMSNorm, from the paper: BLEU (translation, more is better) 22.6 → 22.4 with RNNSearch, an older model, 26.6 → 26.8 with a Transformer; error on CIFAR-10 10.49% → 8.83%.
"""

# %% [markdown] lang="zh"
r"""
一步一步做，RMSNorm 传 14 字节，层归一化传 20 字节。融合之后，两者都是 4 字节：只要一个词元能全部留在芯片上，减均值就不再增加读写。而且归一化只是模型的一部分。论文里，在作者的机器上，每 1000 步的秒数：

| | 层归一化 | RMSNorm | 减少 |
|---|---|---|---|
| RNNSearch | 665 | 501 | 24.7% |
| Transformer | 248 | 231 | 6.9% |

再看质量（论文的数据，箭头左边是层归一化，右边是 RMSNorm）：翻译得分（BLEU，越高越好）用 RNNSearch（一种较早的模型）时 22.6 → 22.4，用 Transformer 时 26.6 → 26.8；CIFAR-10 上的错误率 10.49% → 8.83%。
"""
