# %% [markdown] lang="en"
r"""
# 07 How do sines tell positions apart?

Attention (lesson 10) lets tokens exchange information. Where each sees all, their order goes unnoticed: shuffle them, and the outputs are shuffled alike. So [the first Transformer](https://arxiv.org/abs/1706.03762) adds to the d features of each token d numbers that depend on its **position** k alone: its *positional encoding*. For L tokens this is a table of L rows and d columns:

$$PE(k, 2i) = \sin(k\,\omega_i) \qquad PE(k, 2i + 1) = \cos(k\,\omega_i) \qquad \omega_i = \text{base}^{-2i/d}$$

Here 0 ≤ k < L and 0 ≤ i < d/2. Columns 2i and 2i + 1 are a *pair*: sine and cosine of one *frequency* $\omega_i$. The base is 10000; d is `d_model` in code.

After this lesson you can write this table, say why it needs many frequencies, each twice, and what newer models do instead. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 07 正弦怎样区分位置？

注意力（attention，第 10 课）让词元互相交换信息。如果每个词元都能看到所有词元，注意力就察觉不到顺序：把词元打乱，输出还是那些，只是也同样打乱了。所以[最早的 Transformer](https://arxiv.org/abs/1706.03762) 给每个词元的 d 个特征各加上一个数。这 d 个数只取决于词元的**位置** k，称为**位置编码**（positional encoding）。L 个词元的位置编码组成一张 L 行 d 列的表：

$$PE(k, 2i) = \sin(k\,\omega_i) \qquad PE(k, 2i + 1) = \cos(k\,\omega_i) \qquad \omega_i = \text{base}^{-2i/d}$$

这里 0 ≤ k < L，0 ≤ i < d/2。第 2i 列和第 2i + 1 列是一**对**，即同一个**频率**（frequency）$\omega_i$ 的正弦和余弦。底数 base 取 10000。d 在代码里写作 `d_model`。

学完这一课，你能写出这张表，能说出为什么需要这么多频率、每个频率为什么要用两次，还能说出较新的模型改用了什么做法。大约需要 20 分钟。
"""

# %%
import math

import torch

from blocklab import rotary_embedding, shift_matrix, sinusoidal_encoding
from blocklab.lessons import check
from blocklab.lessons.positional_encoding import clocks, learned_positions, position_table
from blocklab.real_models import minilm_positions

# %% [markdown] lang="en"
r"""
## Two questions first

1. A token with 64 features has gone through RMSNorm with γ = 1. How long is it?
2. In training, a channel of BatchNorm gets only two values, 3 and 1000. What comes out, before γ and β?

<details><summary>Answers</summary>

1. √64 = 8, apart from ε.
2. −1 and 1, apart from ε: of two values only the order is left.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 某个词元有 64 个特征，经过了 γ = 1 的 RMSNorm。它作为向量，长度是多少？
2. 训练时，批量归一化的某个通道只有两个数：3 和 1000。在乘 γ、加 β 之前，输出是什么？

<details><summary>答案</summary>

1. 除了 ε 的影响，是 √64 = 8。
2. 除了 ε 的影响，是 −1 和 1：只有两个数时，留下的只是谁大谁小。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

Four positions, four features: two pairs, with the frequencies $10000^0 = 1$ and $10000^{-2/4} = 0.01$.
"""

# %% [markdown] lang="zh"
r"""
## 动手算

四个位置，四个特征。特征分成两对，频率分别是 $10000^0 = 1$ 和 $10000^{-2/4} = 0.01$。
"""

# %%
rows = [[wave(k * w) for w in (1, 0.01) for wave in (math.sin, math.cos)] for k in range(4)]
print("k   sin k  cos k  sin 0.01k  cos 0.01k")
for k, row in enumerate(rows):
    print("{}  {:6.3f} {:6.3f}  {:9.3f}  {:9.4f}".format(k, *row))
torch.testing.assert_close(torch.tensor(rows), sinusoidal_encoding(4, 4))

# %% [markdown] lang="en"
r"""
Per position, the angle of pair 0 grows by 1 (radian), that of pair 1 by 0.01.

**Your turn, one line.** How many positions does pair 1 take for a whole turn? Replace `None` by the number or a formula.
"""

# %% [markdown] lang="zh"
r"""
每往后一个位置，第 0 对的角度增加 1（弧度），第 1 对的角度增加 0.01。

**轮到你了**，只写一行：第 1 对转满一圈，要走多少个位置？请把 `None` 换成这个数或算式。
"""

# %% tags=["exercise"]
my_positions_per_turn = None

check("positions_per_turn", my_positions_per_turn)

# %% tags=["solution"]
solved_positions_per_turn = 2 * math.pi / 0.01

check("positions_per_turn", solved_positions_per_turn)

# %% [markdown] lang="en"
r"""
## Clocks

With d = 16 there are eight pairs, each a clock. Its hand starts at twelve and turns clockwise by $\omega_i$ per position: the sine tells how far right its tip is, the cosine how high. Thick blue hands show *position*, thin orange ones the position *shift* later, grey the angle between (without whole turns). Below: both rows of the table.

The curve shows how *similar* the row of *position* is to later ones: the dot product (multiply number by number, add up) divided by both lengths, 1 for equal rows, −1 for opposite ones. A ring marks the most similar row.

**Predict first.** With base 1 all hands turn alike, 1 radian per position. Which position is then most similar to position 0: 1, 6, 22 or 44? Choose, then drag *base* to 1 and *shift* to your answer.
"""

# %% [markdown] lang="zh"
r"""
## 时钟

d = 16 时有八对，每一对画成一个时钟。指针从十二点出发，每走一个位置，顺时针转过 $\omega_i$：正弦表示针尖偏右多少，余弦表示它有多高。粗的蓝针对应“位置”，细的橙针对应“位置”加“平移”，灰色是橙针比蓝针多转的角（不计整圈）。时钟下面是表中对应的两行。

最下面的曲线表示“位置”那一行与后面各行的**相似度**（similarity）。相似度是点积（dot product，即对应的数相乘，再求和）除以两行长度的乘积：两行相同时是 1，正好相反时是 −1。圆圈标出最相似的一行。

**先猜一猜**：底数取 1 时，所有指针一样快，每走一个位置转 1 弧度。位置 1、6、22、44 中，哪一个与位置 0 最相似？先选好答案，再把“底数”拖到 1，把“平移”拖到你选的位置。
"""

# %% tags=["panel", "guess"]
clocks.panel()

# %% [markdown] lang="en"
r"""
Position 44, with 0.9998: 44 radians are almost exactly seven turns, 7 · 2π = 43.98. (At 22 the hands point the other way.) One frequency hardly tells 44 from 0, however many columns repeat it.

At base 10000 pair 0 is back at 44, but slower hands are not: the neighbour is most similar. Fast hands tell neighbours apart, slow ones count the turns. And it takes sine and cosine: a sine of 0 may mean twelve or six o'clock.

Yet similarity does not fall steadily: 0.69 at distance 3, 0.81 at 6, where the fastest hand is nearly back.

## A shift is a rotation

**Predict first.** Put *base* back to 10000, *shift* to 10, and drag *position*. What stays: hands, grey angles, similarity? (The next cell tests 490 positions, with an M explained below.)
"""

# %% [markdown] lang="zh"
r"""
是位置 44，相似度 0.9998：44 弧度几乎正好是七圈，7 · 2π = 43.98。（到 22 时，指针指向相反的方向。）只有一个频率，就几乎分不清 44 和 0，重复多少列都没用。

底数为 10000 时，第 0 对在 44 处也转回来了，较慢的指针却没有，所以最相似的是相邻的位置。快的指针区分相邻的位置，慢的指针记着快的指针转了几圈。正弦、余弦缺一不可：正弦为 0，指针可能指向十二点，也可能指向六点。

不过，相似度并非一路下降：距离 3 处是 0.69，距离 6 处却是 0.81，因为最快的指针快要转回来了。

## 平移就是旋转

**先猜一猜**：把“底数”调回 10000，“平移”调到 10，再拖动“位置”。指针、灰色的角、相似度，哪些不变？（下一个单元格检验 490 个位置，其中的 M 随后解释。）
"""

# %% claims=["E27"]
table, M = sinusoidal_encoding(500, 16), shift_matrix(10, 16)  # (L, d), (d, d)
torch.testing.assert_close(table[:-10] @ M.T, table[10:])
print("first block of M:", M[:2, :2], sep="\n")
lengths = table.norm(dim=1)  # (L,)
similarity = (table[:-10] * table[10:]).sum(1) / (lengths[:-10] * lengths[10:])  # (L - 10,)
print(f"lengths from {lengths.min():.4f} to {lengths.max():.4f}")
print(f"similarity at distance 10 from {similarity.min():.4f} to {similarity.max():.4f}")

# %% [markdown] lang="en"
r"""
All but the hands. A shift by Δ turns the hand of pair i by $\Delta\,\omega_i$, wherever it stood. So *one* matrix M moves every row on by Δ; the authors supposed that this lets a model learn easily to attend by relative positions. M has one block per pair on its diagonal, 0 elsewhere:

$$\begin{pmatrix} \cos \Delta\omega_i & \sin \Delta\omega_i \\ -\sin \Delta\omega_i & \cos \Delta\omega_i \end{pmatrix}$$

Every row has the length $\sqrt{d/2}$: in each pair the squares add up to 1. The dot product of two rows, $\sum_i \cos(\Delta\,\omega_i)$, depends on their distance alone.

## The whole table

All rows, position 0 on top, numbers as colours; below it one *row*, beside it one *column*.

**Predict first.** The line below counts the columns that hardly change: 40%. Set *d* to 512: does this share grow, shrink or stay? And then at L = 200?
"""

# %% [markdown] lang="zh"
r"""
只有指针变了。平移 Δ 个位置，第 i 对的指针就转过 $\Delta\,\omega_i$，不论它原来在哪里。所以**同一个**矩阵 M 能把每一行都变成往后 Δ 个位置的那一行；论文作者推测，模型因此容易学会利用相对位置。每一对在 M 的对角线上占一块，其余都是 0：

$$\begin{pmatrix} \cos \Delta\omega_i & \sin \Delta\omega_i \\ -\sin \Delta\omega_i & \cos \Delta\omega_i \end{pmatrix}$$

每一行的长度都是 $\sqrt{d/2}$，因为每一对的平方和是 1；两行的点积是 $\sum_i \cos(\Delta\,\omega_i)$，只取决于它们的距离。

## 整张表

图中是所有的行，位置 0 在最上面，颜色表示数的大小。下方画出选中的那一**行**，右侧画出选中的那一**列**。

**先猜一猜**：图下的说明数出了几乎不变的列：占 40%。把 d 调到 512，这个比例会变大、变小，还是差不多？再把 L 调到 200 呢？
"""

# %% tags=["panel"]
position_table.panel()

# %% [markdown] lang="en"
r"""
It stays: 208 columns, 41%; the frequencies keep their range. By position 49 these columns' hands have not reached one o'clock: the cosine is still near 1, for slower ones the sine near 0. Hence the stripes on the right. (*Sines before cosines* shows one pattern twice.) At L = 200 it is 130, 25%; the slowest hand takes 60611 positions per turn.

## What the source notes say

| The note says | What is right |
|---|---|
| `0 <= k < L/2` | k runs over all L positions; i alone is halved. |
| “i maps to the column index” (the rest is garbled) | One i serves two columns, a sine and a cosine. |
| (nothing about its use) | It is added to the tokens, which the paper first multiplies by √d. |
| (any `d_model`) | Even, or the last sine lacks its cosine. |

The first and the last, tested:
"""

# %% [markdown] lang="zh"
r"""
差不多：208 列，占 41%，因为频率的范围没有变。到位置 49，这些列的指针还没走到一点钟：余弦仍接近 1；指针更慢的，正弦也接近 0。右边不变的条纹就是这样来的。（勾选“先正弦，后余弦”，同一个图案会出现两次。）L = 200 时是 130 列，占 25%；最慢的指针要 60611 个位置才转一圈。

## 原始笔记怎么说

| 笔记的说法 | 正确的说法 |
|---|---|
| `0 <= k < L/2` | k 取遍全部 L 个位置，减半的只有 i。 |
| “i 用于映射到列索引”（后半句不通） | 一个 i 管两列：一列正弦，一列余弦。 |
| （没有说有什么用） | 这张表要加到词元上；论文先把词元乘以 √d。 |
| （`d_model` 可以任取） | 必须是偶数，否则最后一个正弦没有余弦配对。 |

检验第一行和最后一行：
"""

# %% claims=["E26"]
tokens = torch.randn(6, 4)  # (L, d)
print("positions with 0 <= k < L/2:", [k for k in range(6) if k < 6 / 2])
try:
    tokens + sinusoidal_encoding(3, 4)
except RuntimeError as error:
    print(error)

# %% claims=["E28"]
table = torch.zeros(6, 5)  # (L, d)
angles = torch.arange(6)[:, None] * 10000 ** (-torch.arange(0, 5, 2) / 5)  # (L, 3)
table[:, 0::2] = angles.sin()
try:
    table[:, 1::2] = angles.cos()
except RuntimeError as error:
    print(str(error).split(".")[0])

# %% [markdown] lang="en"
r"""
## Rotate instead of add

Many newer models, such as [Llama](https://arxiv.org/abs/2302.13971), add nothing. Attention compares two tokens by the dot product of a *query* from one and a *key* from the other. A **rotary positional encoding** ([RoPE](https://arxiv.org/abs/2104.09864)) rotates each pair of their features by position times $\omega_i$ (counterclockwise here; both must turn alike).

**Predict first.** The query stands at m, the key at n: m = 0, n = 3; m = 5, n = 8; m = 3, n = 0. Which dot products are equal?
"""

# %% [markdown] lang="zh"
r"""
## 不相加，而是旋转

许多较新的模型（例如 [Llama](https://arxiv.org/abs/2302.13971)）什么也不加。注意力用点积比较两个词元：一个词元给出**查询**（query），另一个给出**键**（key），两者都是向量。**旋转位置编码**（rotary positional encoding，[RoPE](https://arxiv.org/abs/2104.09864)）把它们的每一对特征都转过一个角，角的大小是位置乘以 $\omega_i$。（这里是逆时针；只要查询和键的转法一样就行。）

**先猜一猜**：查询在位置 m，键在位置 n，依次取 m = 0，n = 3；m = 5，n = 8；m = 3，n = 0。哪些点积相等？
"""


# %%
def rotate(x, position, base=10000.0):
    angles = position * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])  # (d/2,)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[0::2], x[1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten()  # (d,)


query, key = torch.arange(8.0).sin(), torch.arange(8.0).cos()  # (d,) each
for m, n in ((0, 3), (5, 8), (3, 0)):
    print(f"m = {m}, n = {n}: {rotate(query, m) @ rotate(key, n):.4f}")

# %% [markdown] lang="en"
r"""
The first two: m and n grow by 5, both vectors turn further alike, the dot product stays. For one query and key only n − m counts: distance and order.

## Exercise: the table

Write `sinusoidal_encoding` from the formula at the top: float32, of shape `(length, d_model)`; `d_model` is even. (Take float64 for the angles, convert at the end: float32 is too coarse at far positions.)
"""

# %% [markdown] lang="zh"
r"""
前两个相等：m 和 n 都增加 5，两个向量就多转同样的角，点积不变。查询和键不变时，起作用的只有 n − m，即相距多远、谁前谁后。

## 练习：写出这张表

请按开头的公式写出 `sinusoidal_encoding`。结果的类型是 float32，形状是 `(length, d_model)`；`d_model` 是偶数。（角度用 float64 算，最后再转换：位置很远时，float32 不够精确。）
"""


# %% tags=["exercise"]
def my_sinusoidal_encoding(length, d_model, base=10000.0):
    return ...


check("sinusoidal_encoding", my_sinusoidal_encoding)

# %% [markdown] lang="en"
r"""
Stuck? A column of positions times a row of frequencies gives all angles. The solution is folded below; nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？一列位置乘以一行频率，就得到所有的角度。参考答案折叠在下面；后面不会用到你的代码。
"""


# %% tags=["solution"]
def solved_sinusoidal_encoding(length, d_model, base=10000.0):
    frequencies = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # (d/2,)
    angles = torch.arange(length)[:, None] * frequencies  # (L, d/2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


check("sinusoidal_encoding", solved_sinusoidal_encoding)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. L = 2048, d = 512. How many numbers and frequencies has the table? How long is each row, as a vector?

<details><summary>Answer</summary>

2048 · 512 = 1048576 numbers, 256 frequencies; each row has the length √256 = 16.

</details>

2. In a table with d = 8, row 0 is all zeros. What may be wrong, and which one-line test shows it?

<details><summary>Answer</summary>

Row 0 has no cosines. Either all are sines, or sines and cosines alternate by *position*, not by column. Test `table.norm(dim=1)`: every length must be √4 = 2.

</details>

3. A model was trained with this table on texts of at most 512 tokens. May it read 2048?

<details><summary>Answer</summary>

Only after a test. The formula has a row for every position: no error comes. But slow hands point where the model has never seen them. In [one comparison](https://arxiv.org/abs/2108.12409) (Figure 1) such a model, trained on 512 tokens, did worse on far longer texts.

</details>

The next cell checks the first two; last come the lengths of rows 0 to 3 in both wrong tables.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. L = 2048，d = 512。这张表有多少个数？有多少个频率？每一行作为向量，长度是多少？

<details><summary>答案</summary>

2048 · 512 = 1048576 个数，256 个频率；每一行的长度是 √256 = 16。

</details>

2. 某张 d = 8 的表，第 0 行全是零。可能错在哪里？怎样用一行代码查出来？

<details><summary>答案</summary>

第 0 行没有余弦。要么全是正弦，要么正弦、余弦是按**位置**交替的，而不是按列交替。检查 `table.norm(dim=1)`：每一行的长度都必须是 √4 = 2。

</details>

3. 某个模型用这张表训练，每篇文本最多 512 个词元。可以让它读 2048 个词元吗？

<details><summary>答案</summary>

要先测一测。公式对每个位置都给出一行，所以不会报错。但是慢的指针会指向模型从没见过的方向。在[一项比较](https://arxiv.org/abs/2108.12409)（图 1）里，这种模型训练时读 512 个词元，换成长得多的文本，预测就变差了。

</details>

下一个单元格检验前两题，最后列出两种错误的表里第 0 到 3 行的长度。
"""

# %%
table = sinusoidal_encoding(2048, 512)
print(f"{table.numel()} numbers, lengths from {table.norm(dim=1).min():.3f} to {table.norm(dim=1).max():.3f}")
angles = torch.arange(4)[:, None] * 10000 ** (-(torch.arange(8) // 2 * 2) / 8)  # (L, d)
by_position = torch.where(torch.arange(4)[:, None] % 2 == 0, angles.sin(), angles.cos())
for name, wrong in {"sines only": angles.sin(), "by position": by_position}.items():
    print(f"{name:11}", *(f"{length:.2f}" for length in wrong.norm(dim=1)))

# %% [markdown] lang="en"
r"""
**In one line:** every pair of columns is a clock hand; fast ones tell neighbours apart, slow ones count the turns, and a shift turns each by its own angle, wherever it stood.

## Going further: the shift and the rotation

Write M from its blocks, float32, of shape `(d_model, d_model)`. `offset` is Δ, any integer, also a negative one:
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：每一对列就是一根时钟指针；快的区分相邻的位置，慢的记着转了几圈；平移时，每根指针转过各自固定的角度，不论它原来在哪里。

## 选读：平移与旋转

请用前面的块写出 M，类型是 float32，形状是 `(d_model, d_model)`。`offset` 就是 Δ，可以是任意整数，包括负数：
"""


# %% tags=["exercise"]
def my_shift_matrix(offset, d_model, base=10000.0):
    return ...


check("shift_matrix", my_shift_matrix)


# %% tags=["solution"]
def solved_shift_matrix(offset, d_model, base=10000.0):
    angles = offset * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # (d/2,)
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
    return torch.block_diag(*blocks).float()


check("shift_matrix", solved_shift_matrix)

# %% [markdown] lang="en"
r"""
And RoPE for a whole tensor, with the pairs and the direction of `rotate`: x has the shape `(*, L, d)`, `positions` the shape `(L,)`; the result has shape and type of x.
"""

# %% [markdown] lang="zh"
r"""
再写作用于整个张量的 RoPE，配对和方向与 `rotate` 相同：x 的形状是 `(*, L, d)`，`positions` 的形状是 `(L,)`；结果的形状和类型与 x 相同。
"""


# %% tags=["exercise"]
def my_rotary_embedding(x, positions, base=10000.0):
    return ...


check("rotary_embedding", my_rotary_embedding)


# %% tags=["solution"]
def solved_rotary_embedding(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)  # (L, d/2)
    a, b = x[..., 0::2], x[..., 1::2]
    rotated = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    return torch.stack(rotated, -1).flatten(-2).to(x.dtype)


check("rotary_embedding", solved_rotary_embedding)

# %% [markdown] lang="en"
r"""
## Going further: several tables, two pairings

Several tables go by the name of sinusoidal encoding. The paper's formula alternates; much code puts all sines before all cosines; the authors' own code, tensor2tensor, does that too and divides i by d/2 − 1 in place of d/2.

RoPE comes in two pairings: neighbours, `(2i, 2i + 1)`, as in Meta's code, and halves, `(i, i + d/2)`, as in Hugging Face's. Weights trained with one do not fit the other, unless their rows are put in the other order, as here the features:
"""

# %% [markdown] lang="zh"
r"""
## 选读：几种表，两种配对

名叫正弦位置编码的表有好几种。论文的公式让正弦、余弦交替；许多代码先放所有正弦，再放所有余弦；论文作者自己的代码 tensor2tensor 也是这样，而且让 i 除以 d/2 − 1，而不是除以 d/2。

RoPE 有两种配对：相邻配对 `(2i, 2i + 1)`，如 Meta 的代码；前后两半配对 `(i, i + d/2)`，如 Hugging Face 的代码。按一种配对训练的权重，要先调换行的顺序才能用于另一种，就像下面调换特征的顺序：
"""

# %%
x, seven = torch.randn(1, 8), torch.tensor([7])
order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
adjacent, half = (rotary_embedding(y, seven, pairing=p) for y, p in ((x, "adjacent"), (x[:, order], "half")))
print("equal, reordered:", torch.allclose(adjacent[:, order], half, atol=1e-6))
print("equal, as it is: ", torch.allclose(adjacent, rotary_embedding(x, seven, pairing="half"), atol=1e-6))

# %% [markdown] lang="en"
r"""
## Going further: a ramp in place of waves

[ALiBi](https://arxiv.org/abs/2108.12409) has neither table nor rotation: it subtracts from each dot product of query and key their distance times a *slope*, which is fixed for each head (attention runs several times side by side; each run is a head). For 8 heads the slopes are 1/2, 1/4, … 1/256. Below: what the head with slope 1/2 adds. Each row is a query, each column a key (keys after the query are not used):
"""

# %% [markdown] lang="zh"
r"""
## 选读：用斜坡代替波

[ALiBi](https://arxiv.org/abs/2108.12409) 既没有表，也不旋转：查询与键的每个点积，都减去两者的距离与**斜率**（slope）的乘积。注意力同时算好几遍，一遍就是一个**头**（head），每个头的斜率固定；8 个头的斜率是 1/2、1/4……1/256。下面是斜率为 1/2 的头所加的数，每行是一个查询，每列是一个键（查询之后的键用不到）：
"""

# %%
distance = (torch.arange(5)[:, None] - torch.arange(5)).tril()  # (L, L)
print(0 - distance / 2)

# %% [markdown] lang="en"
r"""
## Going further: a learned table

BERT and its kin learn the table like any weight. MiniLM's has 512 rows and 384 columns; its numbers come with this package. Left: the similarity of every two rows; middle: the same for the sines; right: the marked row of each, near *position*.

**Predict first.** Nobody told it about waves. Is the similarity of two learned rows nevertheless a matter of their distance?
"""

# %% [markdown] lang="zh"
r"""
## 选读：学到的表

BERT 一类的模型像学习别的权重一样学习这张表。MiniLM 的表有 512 行、384 列，随本课程的包一起提供。左图是它每两行之间的相似度；中图是正弦表的相似度；两张图里各标出了一行，右图画出这两行在“位置”附近的一段。

**先猜一猜**：没有人告诉过模型要用波。在学到的表里，两行有多相似，也取决于它们的距离吗？
"""

# %% tags=["panel"]
learned_positions.panel(minilm_positions())

# %% [markdown] lang="en"
r"""
In part: the picture is made of stripes along the diagonal, slightly bent, and the similarity goes up and down about every six positions, as waves do. Position 0, always the mark `[CLS]` and no word, stands apart. Averaged over all pairs of rows at a distance:
"""

# %% [markdown] lang="zh"
r"""
在一定程度上是：图上有许多沿对角线方向的条纹，略有弯曲；相似度大约每隔六个位置起伏一次，正像波一样。位置 0 与众不同：那里不是词，总是标记 `[CLS]`。把距离相同的各对行合在一起，求平均相似度：
"""

# %%
similar = learned_positions.cosines(minilm_positions())  # (L, L)
for distance in (1, 3, 6, 8, 12, 64):
    print(f"distance {distance:2}: {similar.diagonal(distance).mean():.2f}")
