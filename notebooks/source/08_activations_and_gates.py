# %% [markdown] lang="en"
r"""
# 08 What does a gate add?

In a Transformer every token is represented by a row of d numbers, x, and goes by itself through a *feed-forward network*. There are two kinds:

$$\text{plain:}\quad f(xW_1)\,W_2 \qquad\qquad \text{gated:}\quad \big(f(xW) \odot xV\big)\,W_2$$

W, V, $W_1$ and $W_2$ are learned matrices. The numbers that $W_2$ gets are the *hidden units*; $W_2$ leads back to d numbers. (The first Transformer has 4d units; its paper gives no reason.) The *activation* f acts on each number, ⊙ multiplies number by number. xW is the *gate*, xV the *value*.

After this lesson you can say what a unit can do only with a gate, tell GELU, SiLU and Swish apart, judge the evidence for gates, and write Llama's SwiGLU. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 08 门控带来了什么？

在 Transformer 里，每个词元（token）用一行 d 个数 x 表示，单独经过**前馈网络**（feed-forward network）。前馈网络有两类：

$$\text{普通：}\quad f(xW_1)\,W_2 \qquad\qquad \text{门控：}\quad \big(f(xW) \odot xV\big)\,W_2$$

W、V、$W_1$ 和 $W_2$ 都是学习得到的矩阵。乘 $W_2$ 之前的每个数叫作一个**隐藏单元**（hidden unit），乘 $W_2$ 之后又是 d 个数。最早的 Transformer 有 4d 个单元，论文没有说明理由。f 是**激活函数**，作用在每个数上；⊙ 表示逐元素（element-wise）相乘。xW 是**门**（gate），xV 是**值**（value）。

学完这一课，你能说出一个单元有了门才能做到什么，能分清 GELU、SiLU 和 Swish，能判断支持门控的证据有多强，还能写出 Llama 所用的 SwiGLU。大约需要 20 分钟。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import SwiGLU, gated_unit, swiglu
from blocklab.language import Text
from blocklab.lessons import check
from blocklab.lessons.activations_and_gates import activation_curves, contours
from blocklab.real_models import if_installed, load_glassllm

# %% [markdown] lang="en"
r"""
## Two questions first

1. Lesson 07 writes position k in pairs $\sin(\omega k), \cos(\omega k)$. What do 3 positions more do to a pair?
2. On `torch.rand` a formula is only 0.000025 off LayerNorm. Is it LayerNorm?

<details><summary>Answers</summary>

1. They turn it by the angle 3ω, whatever k is.
2. Not proved: std + ε is as close, and badly wrong on small inputs.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 第 07 课用一对对的 $\sin(\omega k), \cos(\omega k)$ 表示位置 k。往后移 3 个位置，每一对数会怎样变？
2. 在 `torch.rand` 上，某个公式与层归一化（LayerNorm）只差 0.000025。它就是层归一化吗？

<details><summary>答案</summary>

1. 转过角度 3ω，与 k 无关。
2. 还不能断定：分母写成“标准差 + ε”的公式也只差这么多，输入很小时却错得厉害。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

Write u for one number of the gate and v for its value: the unit is f(u) · v. How much of v = 10 passes, for five f? (`none`: f(u) = u. The formulas follow.)
"""

# %% [markdown] lang="zh"
r"""
## 动手算

把门的一个数记作 u，对应的值记作 v，单元就是 f(u) · v。取 v = 10，换用五种 f，各有多少能通过？（`none` 表示 f(u) = u，其余的公式见下文。）
"""

# %%
gate = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
value = torch.full((5,), 10.0)
activations = {"sigmoid": torch.sigmoid, "none": lambda u: u, "ReLU": F.relu, "GELU": F.gelu, "SiLU": F.silu}
print("u       ", gate.tolist())
for name, f in activations.items():
    print(f"{name:8}", [round(passed, 1) for passed in gated_unit(gate, value, f).tolist()])

# %% [markdown] lang="en"
r"""
In this order the units are called GLU (*gated linear unit*), bilinear, ReGLU, GEGLU and SwiGLU. Only the sigmoid, $\sigma(u) = 1 / (1 + e^{-u})$ (no standard deviation here), is a valve, from closed to open; the others also amplify, and all but ReLU may turn the sign.

SiLU(u) = u · σ(u). GELU(u) = u · Φ(u), where $\Phi(u)$ is the share of the standard normal distribution below u. [Swish](https://arxiv.org/abs/1710.05941) is u · σ(βu), β fixed or learned; β = 1 gives SiLU.

**Your turn, one line.** Write Swish of the tensor x.
"""

# %% [markdown] lang="zh"
r"""
用这五种 f 的单元依次叫作 GLU（门控线性单元，gated linear unit）、双线性单元（bilinear unit）、ReGLU、GEGLU 和 SwiGLU。sigmoid 就是 $\sigma(u) = 1 / (1 + e^{-u})$（这里的 σ 不是标准差）。只有它像阀门，从关到开；其余几种 f 还能放大，而且除了 ReLU，都可能改变正负号。

SiLU(u) = u · σ(u)。GELU(u) = u · Φ(u)，其中 $\Phi(u)$ 是标准正态变量小于 u 的概率。[Swish](https://arxiv.org/abs/1710.05941) 是 u · σ(βu)，其中的 β 可以固定，也可以学习；β = 1 时就是 SiLU。

**轮到你了**，只写一行：算出张量 x 的 Swish。
"""


# %% tags=["exercise"]
def my_swish(x, beta=1.0):
    return ...


check("swish", my_swish)


# %% tags=["solution"]
def solved_swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)


check("swish", solved_swish)

# %% [markdown] lang="en"
r"""
## Straight and curved contours

A token of two numbers, x₁ and x₂, is a point in a plane. u and v tell how far it lies along two arrows, whose angles you choose. Left f(u), middle v (1 without a gate), right their product, the unit. Contours join points of equal value, 0.25 apart: thick at 0; dashed, on blue, below 0; none where ReLU is flat.

**Predict first.** ReLU without a gate: straight lines. What would bend them, a smooth f such as GELU, or a gate with no f? Choose, then try.
"""

# %% [markdown] lang="zh"
r"""
## 直的等高线，弯的等高线

词元只有两个数 x₁ 和 x₂ 时，就是平面上的一个点。u 和 v 表示这个点沿两个箭头的方向走了多远，箭头的角度由你选。左图是 f(u)；中图是 v，没有门时是 1；右图是两者之积，也就是一个单元。等高线把值相等的点连起来，相邻两条相差 0.25。值为 0 的画成粗线；值小于 0 的画成虚线，底色为蓝色；ReLU 平坦的地方没有线。

**先猜一猜**：没有门的 ReLU，等高线是直的。什么能让它变弯：换成 GELU 那样光滑的 f，还是加上门，哪怕 f 选“无”？先选，再动手试。
"""

# %% tags=["panel", "guess"]
contours.panel()

# %% [markdown] lang="en"
r"""
Only a gate: even u · v, with no f, is a saddle. Without it no f helps: the unit knows the point only by u, and cannot change where u does not. A gate adds a second direction. (Turn the arrows onto each other: straight again.)

Gated units multiply: SiLU(t) − SiLU(−t) = t, so two SwiGLU units *are* a product:

$$\text{SiLU}(x_1)\,x_2 + \text{SiLU}(-x_1)\,(-x_2) = x_1 x_2$$

(Likewise GEGLU and ReGLU.) Since |t| = ReLU(t) + ReLU(−t), four plain ReLU units make |x₁ + x₂| − |x₁ − x₂|, which has the sign of the product; we scale it to fit best on the square from −2 to 2. **Predict first:** which share of the product's variance do the four miss (mean squared error), there and on larger squares? Would 64 do better?
"""

# %% [markdown] lang="zh"
r"""
只有门能做到：哪怕不用 f，u · v 也是一个马鞍面。没有门，换什么 f 都没有用：单元只能通过 u 认识这个点，u 不变，它就不变。门增加了第二个方向。（把两个箭头转到重合，等高线又变直了。）

门控单元会做乘法：SiLU(t) − SiLU(−t) = t，所以两个 SwiGLU 单元之和**就是**乘积：

$$\text{SiLU}(x_1)\,x_2 + \text{SiLU}(-x_1)\,(-x_2) = x_1 x_2$$

（换成 GEGLU 或 ReGLU 也成立。）再看普通的单元。因为 |t| = ReLU(t) + ReLU(−t)，所以四个 ReLU 单元可以组成 |x₁ + x₂| − |x₁ − x₂|，它与乘积同号；再乘以一个系数，使它在从 −2 到 2 的正方形上最接近乘积。**先猜一猜**：在这个正方形上，四个单元的均方误差占乘积方差的多大比例？在更大的正方形上呢？用 64 个单元会更好吗？
"""

# %%
side = torch.linspace(-2, 2, 201, dtype=torch.float64)
x1, x2 = torch.meshgrid(side, side, indexing="xy")
four_relu = F.relu(x1 + x2) + F.relu(-x1 - x2) - F.relu(x1 - x2) - F.relu(x2 - x1)
factor = (four_relu * x1 * x2).sum() / four_relu.square().sum()
for size in (1, 2, 3):
    a, b = size * x1, size * x2
    two_swiglu = swiglu(a, b) + swiglu(-a, -b)
    missed = [(y - a * b).square().mean() / (a * b).square().mean() for y in (two_swiglu, factor * size * four_relu)]
    print(f"side {4 * size:2}: two SwiGLU units miss {missed[0]:.1%}, four ReLU units {missed[1]:.1%}")

angle = torch.arange(64) * torch.pi / 32  # 64 ReLU units all around, with the best weights
many = F.relu(x1.unsqueeze(-1) * angle.cos() + x2.unsqueeze(-1) * angle.sin()).flatten(0, 1)
wanted = (x1 * x2).reshape(-1, 1)
best = many @ torch.linalg.lstsq(many, wanted, driver="gelsd").solution
print(f"side  4: 64 ReLU units miss {(best - wanted).square().mean() / wanted.square().mean():.1%}")

# %% [markdown] lang="en"
r"""
On the square of side 4 the four miss 4.0%, with sides twice as long 28.0%. 64 units do no better, nor would more: along each ray from 0 units without bias are straight lines, the product is a parabola, and the best line misses exactly 1/25 of it. The four units, together 2 · min(|x₁|, |x₂|) with the sign of the product, are already that best line on every ray of a square. Biases help (last section), but only within some square: with ReLU, GELU or SiLU no plain network grows faster than in proportion.

## One family

ReLU, GELU and Swish, their slopes, and their distance from GELU (log axis; a sharp dip: the curve meets GELU). **Predict first:** at which β is Swish closest to GELU (see the line below), and does it reach it?
"""

# %% [markdown] lang="zh"
r"""
在边长 4 的正方形上，四个单元漏掉 4.0%；边长加倍，就漏掉 28.0%。用 64 个单元不会更好，再多也不会，因为从 0 出发沿任何一条射线，没有偏置的单元都是直线，乘积却是抛物线，最好的直线恰好漏掉 1/25。四个单元之和是 2 · min(|x₁|, |x₂|)，正负号与乘积相同，在正方形的每条射线上都已经是这条最好的直线。加上偏置会好一些（见最后一节），但只限于某个正方形之内：普通网络不论用 ReLU、GELU 还是 SiLU，增长都不会快过一次函数。

## 一家人

下面三幅图依次是 ReLU、GELU 和 Swish 的曲线、斜率，以及它们与 GELU 之差的绝对值（对数轴；向下的尖角表示曲线在那里与 GELU 相遇）。**先猜一猜**：β 取多少时，Swish 与 GELU 最接近（看图下方的说明）？会变成 GELU 吗？
"""

# %% tags=["panel"]
activation_curves.panel()

# %% [markdown] lang="en"
r"""
On the slider at β = 1.8, and still 0.017 off. The [GELU paper](https://arxiv.org/abs/1606.08415) gives two approximations: β = 1.702, a little farther off, and a much better one with tanh (dotted), which GPT-2 uses. β = 0 gives u/2, a large β nearly ReLU.

Where u is negative, ReLU's slope is 0 and no gradient passes back; GELU and Swish let a little through.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| GELU, Swish and SiLU are smooth (no formulas) | Yes. Unsaid: they fall before they rise. |
| GLU(x) = σ(xW + b) ⊙ (xV + c), with biases b, c | So in [Shazeer's paper](https://arxiv.org/abs/2002.05202); in the [first GLU](https://arxiv.org/abs/1612.08083) and in torch the *second* factor has the sigmoid. |
| GLU(x) = SiLU(xW + b) ⊙ (xV + c) | That is SwiGLU's hidden units. Their class adds $W_2$ and keeps the biases, which the networks of Shazeer and Llama leave out. |
"""

# %% [markdown] lang="zh"
r"""
滑块停在 β = 1.8 时最接近，但仍差 0.017。[GELU 的论文](https://arxiv.org/abs/1606.08415)给出了两种近似：一种取 β = 1.702，差得略多；另一种用 tanh（点线），好得多，GPT-2 用的就是它。β = 0 时得到 u/2，β 很大时几乎就是 ReLU。

u 为负时，ReLU 的斜率是 0，梯度传不回去；GELU 和 Swish 还能传回一点。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| GELU、Swish 和 SiLU 是光滑的（没有公式） | 对。笔记没有说，它们都先降后升。 |
| GLU(x) = σ(xW + b) ⊙ (xV + c)，b、c 是偏置 | [Shazeer 的论文](https://arxiv.org/abs/2002.05202)如此；在[最早的 GLU](https://arxiv.org/abs/1612.08083) 和 torch 里，sigmoid 作用在**第二个**因子上。 |
| GLU(x) = SiLU(xW + b) ⊙ (xV + c) | 这是 SwiGLU 的隐藏单元。笔记里的类还有 $W_2$，也保留了偏置；Shazeer 和 Llama 的前馈网络都不用偏置。 |
"""

# %% claims=["E45"]
u = torch.linspace(-5, 5, 100001, dtype=torch.float64)
gelu = u * (1 + torch.erf(u / 2**0.5)) / 2
torch.testing.assert_close(gelu, F.gelu(u))
for name, y in {"tanh": F.gelu(u, approximate="tanh"), "β = 1.702": u * torch.sigmoid(1.702 * u)}.items():
    print(f"GELU with {name}: at most {(y - gelu).abs().max():.5f} off")
for name, y in {"GELU": gelu, "SiLU": F.silu(u)}.items():
    print(f"{name}: lowest point {y.min():.3f} at u = {u[y.argmin()]:.3f}")

# %% claims=["E46", "E47"]
a, b = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, 3.0]])
for name, y in {
    "F.glu": F.glu(torch.cat([a, b], -1)),
    "a · σ(b)": a * b.sigmoid(),
    "σ(a) · b": a.sigmoid() * b,
}.items():
    print(f"{name:8}", y)
network, x = SwiGLU(24, 64, bias=True), torch.rand(2, 3, 24)  # the sizes of the notes
units = F.silu(network.w1(x)) * network.w3(x)
torch.testing.assert_close(network(x), network.w2(units))
biases = sum(w.numel() for name, w in network.named_parameters() if "bias" in name)
print("hidden units", tuple(units.shape), "result", tuple(network(x).shape), "biases", biases)

# %% [markdown] lang="en"
r"""
## Does it help?

Shazeer trained models with eight kinds of feed-forward network and equally many parameters. Compared below are their losses on unseen text: after 65536 steps, with standard deviations over repeated runs, and after 524288 steps, one run each. **Predict first:** does a gate lower the first loss by more than two standard deviations of the difference, and the second at all? And SwiGLU, compared with other gates?
"""

# %% [markdown] lang="zh"
r"""
## 有用吗？

Shazeer 用八种前馈网络分别训练模型，参数个数相同。下面比较它们在没见过的文本上的损失：先是训练 65536 步之后，有重复训练几次的标准差；再是训练 524288 步之后，每种只训练一次。**先猜一猜**：加上门，前一个损失降低的幅度会超过标准差的两倍吗（这里指两个损失之差的标准差）？后一个损失也会降低吗？SwiGLU 与别的门相比呢？
"""

# %%
paper = {"ReLU": (1.997, 0.005, 1.677), "GELU": (1.983, 0.005, 1.679), "Swish": (1.994, 0.003, 1.683)}
paper |= {"GLU": (1.982, 0.006, 1.663), "Bilinear": (1.960, 0.005, 1.648), "ReGLU": (1.953, 0.003, 1.645)}
paper |= {"GEGLU": (1.942, 0.004, 1.633), "SwiGLU": (1.944, 0.010, 1.636)}
told = Text(en="= {:4.1f} standard deviations, later", zh="= {:4.1f} 个标准差，后来")
pairs = "ReLU ReGLU, GELU GEGLU, Swish SwiGLU, GELU Bilinear, GELU GLU, Bilinear SwiGLU, ReGLU SwiGLU, SwiGLU GEGLU"
for pair in pairs.split(", "):
    (one, one_std, one_later), (other, other_std, other_later) = (paper[name] for name in pair.split())
    deviations = (one - other) / (one_std**2 + other_std**2) ** 0.5
    print(f"{pair:16} {one - other:.3f}", told.format(deviations), f"{one_later - other_later:.3f}")
later = [losses[-1] for losses in paper.values()]  # of three plain networks, then of five gated ones
bounds = Text(en="later: plain from {}, gated up to {}", zh="后来：普通的最低 {}，门控的最高 {}")
print(bounds.format(min(later[:3]), max(later[3:])))

# %% [markdown] lang="en"
r"""
In the first four lines, yes, in the fourth even with no f. After 65536 steps GLU (1.982) cannot be told from GELU (1.983), nor SwiGLU from GEGLU, ReGLU or the bilinear unit. After 524288 steps GLU is ahead, 1.663 against 1.679, and there every gate beats every plain network (one run each, no deviations). Which gate is best neither column can tell. The paper offers no explanation: it attributes the success “to divine benevolence”.

## In a trained model

glassllm (lesson 06) has SwiGLU. It reads one sentence with another f, then with W and V exchanged, so that SiLU acts on the other side. No shape changes. **Predict first:** what becomes of its loss, 3.8? (All 1024 tokens equally likely: 6.9.)
"""

# %% [markdown] lang="zh"
r"""
前四行都超过了，第四行的门连 f 都不用。训练 65536 步时，GLU（1.982）与 GELU（1.983）分不出高下，SwiGLU 与 GEGLU、ReGLU、双线性单元也分不出高下；训练到 524288 步，GLU 是 1.663，GELU 是 1.679，而且每一种门控都胜过每一种普通网络（这一列每种只训练一次，没有标准差）。哪种门最好，两列都看不出来。论文没有解释原因，只说这要归功于“神的仁慈”（divine benevolence）。

## 训练好的模型

glassllm（第 06 课）用的是 SwiGLU。让它读一句话：先换成别的 f，再让 W 和 V 互换，也就是把 SiLU 放到另一边；所有形状都不变。**先猜一猜**：损失原来是 3.8，会变成多少？（如果认为 1024 个词元的概率都相等，损失就是 6.9。）
"""

# %%
alice = "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do"


def loss_with(join):
    networks = [block.feed_forward for block in net.blocks]
    hooks = [m.register_forward_hook(lambda m, x, _: m.w2(join(m.w1(*x), m.w3(*x)))) for m in networks]
    with torch.inference_mode():
        loss = F.cross_entropy(net(ids)[0, :-1], ids[0, 1:])
    [hook.remove() for hook in hooks]
    return loss.item()


# %% tags=["slow"]
with if_installed():
    from glassllm import load_pretrained

    net, ids = load_glassllm(), torch.tensor([load_pretrained("en")[1].encode(alice)])  # ids: (N, L)
    for name in ("SiLU", "GELU", "ReLU", "none", "sigmoid"):
        print(f"{name:8} {loss_with(lambda gate, value, f=activations[name]: gated_unit(gate, value, f)):.1f}")
    print(f"SiLU on the other side {loss_with(lambda gate, value: swiglu(value, gate)):.1f}")

# %% [markdown] lang="en"
r"""
Trained weights belong to one f and one side; on the wrong side they run without an error. (Which f trains best, this does not show.)

## Exercise: SwiGLU

Write the whole network for x of shape `(*, d)`, without bias. The matrices lie as in `nn.Linear`, `(out, in)`: `w1` leads to the gate, `w3` to the value, `w2` back to d.
"""

# %% [markdown] lang="zh"
r"""
训练好的权重只适合原来的 f，而且 f 要在原来那一边；放错了边，也不会报错。（训练时用哪种 f 最好，这里看不出来。）

## 练习：SwiGLU

请写出整个网络，不带偏置；x 的形状是 `(*, d)`。矩阵的存放方式与 `nn.Linear` 相同，即 `(out, in)`：用 `w1` 算门，用 `w3` 算值，用 `w2` 变回 d 个数。
"""


# %% tags=["exercise"]
def my_swiglu(x, w1, w2, w3):
    return ...


check("swiglu", my_swiglu)

# %% [markdown] lang="en"
r"""
Stuck? Write down the shape after each matrix. The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？每乘一个矩阵，就写下得到的形状。参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_swiglu(x, w1, w2, w3):
    return F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2)


check("swiglu", solved_swiglu)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. d = 768. A plain network has 3072 hidden units. How many give a gated one as many parameters? (No biases.)

<details><summary>Answer</summary>

Three matrices in place of two: 2 · 768 · 3072 = 3 · 768 · 2048, so 2048.

</details>

2. You rebuild a published model. After an activation your numbers are off by at most 0.0005, most where its input is near ±2.7. Which mistake is it?

<details><summary>Answer</summary>

One has GELU, the other its tanh form.

</details>

3. Should you put GEGLU in place of SwiGLU, in a model still to be trained? And in a trained one?

<details><summary>Answer</summary>

To be trained: you may, the losses cannot be told apart (0.2 standard deviations after 65536 steps). Trained: no; glassllm's loss rose from 3.8 to 4.0.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. d = 768，普通的网络有 3072 个隐藏单元。要让门控的网络有同样多的参数，应当取多少个隐藏单元？（没有偏置。）

<details><summary>答案</summary>

矩阵从两个变成三个：2 · 768 · 3072 = 3 · 768 · 2048，所以是 2048 个。

</details>

2. 你重新实现了一个公开的模型。经过激活函数之后，你的结果与原来的最多相差 0.0005，输入在 ±2.7 附近时差得最多。哪里错了？

<details><summary>答案</summary>

一边用的是 GELU，另一边用的是它的 tanh 近似。

</details>

3. 该不该用 GEGLU 代替 SwiGLU？分两种情况：模型还没有训练；模型已经训练好了。

<details><summary>答案</summary>

还没有训练：可以，两者的损失分不出高下（训练 65536 步时相差 0.2 个标准差）。已经训练好：不该，glassllm 的损失从 3.8 升到 4.0。

</details>
"""

# %%
print("parameters: plain", 2 * 768 * 3072, "gated", 3 * 768 * 2048)
apart = (F.gelu(u, approximate="tanh") - F.gelu(u)).abs()
print(f"GELU and its tanh form: at most {apart.max():.5f} apart, at ±{u[apart.argmax()].abs():.1f}")

# %% [markdown] lang="en"
r"""
**In one line:** without a gate a unit knows the token in one direction only; a gate multiplies two.

## Going further: torch's GLU, and GELU

`F.glu` halves one axis: the first half is the value, the **second** the gate, which goes through the sigmoid. Write it, for any axis `dim` of even length.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：没有门，一个单元只认识词元的一个方向；门把两个方向相乘。

## 选读：torch 的 GLU，以及 GELU

`F.glu` 把一个轴分成两半：前一半是值，**后**一半是门，门要经过 sigmoid。请写出来；轴由 `dim` 指定，它的长度是偶数。
"""


# %% tags=["exercise"]
def my_glu(x, dim=-1):
    return ...


check("glu", my_glu)


# %% tags=["solution"]
def solved_glu(x, dim=-1):
    value, gate = x.chunk(2, dim)
    return value * torch.sigmoid(gate)


check("glu", solved_glu)

# %% [markdown] lang="en"
r"""
And exact GELU: $\Phi(u) = (1 + \text{erf}(u / \sqrt{2})) / 2$, with `torch.erf`. (The tanh form is $\frac{u}{2}\,(1 + \tanh(\sqrt{2/\pi}\,(u + 0.044715\,u^3)))$.)
"""

# %% [markdown] lang="zh"
r"""
再写精确的 GELU：$\Phi(u) = (1 + \text{erf}(u / \sqrt{2})) / 2$，可以用 `torch.erf`。（用 tanh 的近似是 $\frac{u}{2}\,(1 + \tanh(\sqrt{2/\pi}\,(u + 0.044715\,u^3)))$。）
"""


# %% tags=["exercise"]
def my_gelu(x):
    return ...


check("gelu", my_gelu)


# %% tags=["solution"]
def solved_gelu(x):
    return x * (1 + torch.erf(x / 2**0.5)) / 2


check("gelu", solved_gelu)

# %% [markdown] lang="en"
r"""
## Going further: plain units that nearly multiply

A smooth f can nearly multiply without a gate, within a small range: at its lowest point m GELU is nearly a parabola, so with m as bias $\text{GELU}(m + \varepsilon s) - \text{GELU}(m + \varepsilon t)$ with $s = x_1 + x_2$ and $t = x_1 - x_2$ is nearly $c\,\varepsilon^2\,(s^2 - t^2) = 4c\,\varepsilon^2\,x_1 x_2$, where 2c is GELU's second derivative at m. The output weights in $W_2$ divide by $4c\,\varepsilon^2$. **Predict first:** what does a smaller ε do to the error, on the square of side 4 and on one of side 20?
"""

# %% [markdown] lang="zh"
r"""
## 选读：几乎会做乘法的普通单元

f 光滑时，没有门也能近似地做乘法，但只限于很小的范围：GELU 在最低点 m 附近近似于抛物线。以 m 为偏置，设 $s = x_1 + x_2$，$t = x_1 - x_2$，那么 $\text{GELU}(m + \varepsilon s) - \text{GELU}(m + \varepsilon t)$ 近似等于 $c\,\varepsilon^2\,(s^2 - t^2) = 4c\,\varepsilon^2\,x_1 x_2$，其中 2c 是 GELU 在 m 处的二阶导数。除以 $4c\,\varepsilon^2$ 这一步，由 $W_2$ 里的输出权重来做。**先猜一猜**：在边长为 4 和 20 的正方形上，ε 变小时，误差各会怎样变？
"""

# %%
m = torch.tensor(-0.7517915246935645, dtype=torch.float64)
c = torch.func.grad(torch.func.grad(F.gelu))(m) / 2
for eps in (0.1, 0.01, 0.001, 1e-10):
    for size in (1, 5):
        a, b = size * x1, size * x2
        y = (F.gelu(m + eps * (a + b)) - F.gelu(m + eps * (a - b))) / (4 * c * eps**2)
        missed = (y - a * b).square().mean() / (a * b).square().mean()
        share = f"{missed:.4%}" if missed < 1 else "100% or more"
        print(f"ε = {eps:5}, side {4 * size:2}: output weight {1 / (4 * c * eps**2):.1e}, missed {share}")

# %% [markdown] lang="en"
r"""
The error shrinks; the larger square needs a smaller ε. The price: the output weights grow like $1 / \varepsilon^2$ and magnify the rounding errors. At $\varepsilon = 10^{-10}$ the product is lost in them, even in float64. A gate needs no large weights.
"""

# %% [markdown] lang="zh"
r"""
误差会变小；正方形越大，需要的 ε 就越小。代价是：输出权重按 $1 / \varepsilon^2$ 增大，舍入误差也随之放大。到 $\varepsilon = 10^{-10}$，哪怕用 float64，乘积也已淹没在舍入误差里。门控不需要这样大的权重。
"""
