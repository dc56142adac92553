# %% [markdown] lang="en"
r"""
# 10 How do sines tell positions apart?

To attention (lesson 09) *dog bites man* and *man bites dog* are the same heap of three tokens, unless a mask hides some. So [the first Transformer](https://arxiv.org/abs/1706.03762) adds to the d features of each token d sines and cosines that depend on its **position** alone, its *positional encoding*.

Why so many waves? With the fastest alone, the position most like position 0 is one far off, hardly to be told from it. With a slow one, the neighbor looks just like it. Writing either down more often does not help. Many together do.

After this lesson you can write the table and the matrix that shifts it, and say why it needs many frequencies, each twice. It takes about 60 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 10 正弦怎样区分位置？

“狗咬人”和“人咬狗”是同样的三个词元。词元在注意力（attention，第 09 课）里互相交换信息时，只要没有掩码遮住其中一些，就只是一堆，不是一排。所以[最早的 Transformer](https://arxiv.org/abs/1706.03762) 给每个词元的 d 个特征各加上一个数。这 d 个数都是正弦或余弦，只取决于词元的**位置**，称为**位置编码**（positional encoding）。

为什么要用快慢不同的许多种波？只用最快的一种，与位置 0 最相似的是远处的一个位置，两者几乎分不清。只用很慢的一种，邻居又与它几乎一模一样。同一种波重复写许多遍，也没有用。许多种波由快到慢一起用，才分得清。

学完这一课，你能写出这张表和让它平移的矩阵，能说出为什么需要这么多频率、每个频率为什么要用两次。大约需要 60 分钟。
"""

# %%
import math

import torch
import torch.nn.functional as F

from blocklab import shift_matrix, sinusoidal_encoding
from blocklab_course import checked_or_reference, check
from blocklab_course.lessons.positional_encoding import (
    clocks,
    learned_positions,
    position_table,
    output,
    signed_distance,
)
from blocklab_course.pretrained import minilm_positions

# %% [markdown] lang="en"
r"""
## Two questions first

1. A token with 64 features has gone through RMSNorm with γ = 1. How long is it?
2. In training, a channel of BatchNorm gets only two values, 3 and 1000. What comes out, before γ and β?

<details><summary>Answers</summary>

1. √64 = 8, apart from ε.
2. −1 and 1, apart from ε, because of two values only the order is left.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 某个词元有 64 个特征，经过了 γ = 1 的 RMSNorm。它作为向量，长度是多少？
2. 训练时，批量归一化的某个通道只有 3 和 1000 两个数。在乘 γ、加 β 之前，输出是什么？

<details><summary>答案</summary>

1. 除了 ε 的影响，是 √64 = 8。
2. 除了 ε 的影响，是 −1 和 1，因为只有两个数时，留下的只是谁大谁小。

</details>
"""

# %% [markdown] lang="en"
r"""
## Three tokens

In *dog bites man* and *man bites dog* eight arbitrary numbers stand for each token. Attention returns for each token a weighted mean of all three. The larger the *dot product* of two tokens (multiply number by number, add up), the larger the weight. First they go as they are, then each with a row of sines and cosines for its place. Only bites stays.

**Predict first.** Does the output of bites change, without the rows and with them?
"""

# %% [markdown] lang="zh"
r"""
## 三个词元

让 dog bites man（狗咬人）和 man bites dog（人咬狗）经过注意力，每个词元用随便取的八个数代替。注意力给每个词元算出三个词元的加权平均，两个词元的**点积**（dot product，即对应的数相乘，再求和）越大，权重就越大。先是原样，再按位置给每个词元加上一行正弦和余弦。只有 bites 的位置不变。

**先猜一猜**：不加这几行，bites 的输出会变吗？加了呢？
"""

# %% tags=["answer"]
tokens, table = torch.arange(24.0).square().sin().view(3, 8), sinusoidal_encoding(3, 8)  # (L, d) each


def bites(x):  # (L, d)
    return F.scaled_dot_product_attention(x, x, x)[1]  # (d,)


without_rows = bites(tokens) - bites(tokens.flip(0))
with_rows = bites(tokens + table) - bites(tokens.flip(0) + table)
output.change_of_bites(without_rows.abs().max(), with_rows.abs().max())

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Not at all without the rows; with them, yes, one of its eight numbers by 0.12.

</details>

The weights come from what the tokens are, not from where they stand, so attention must be told. The oldest way is to add the order to the tokens.

## By hand

Four positions and four features show which numbers. Every two columns are a *pair*, the sine and the cosine of one *frequency*. Here are two, with the frequencies $10000^0 = 1$ and $10000^{-2/4} = 0.01$.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不加，bites 完全不变；加了会变，八个数里变得最多的变了 0.12。

</details>

权重只看词元的内容，不看它排在哪里，所以词元换了位置，权重也跟着走，平均值不变。因此，顺序要另外告诉注意力。最早的办法，是把它加进词元。

## 动手算

加的是哪些数呢？先看四个位置、四个特征。表中每两列是一**对**，也就是同一个**频率**（frequency）的正弦和余弦。这里有两对，频率分别是 $10000^0 = 1$ 和 $10000^{-2/4} = 0.01$。
"""

# %%
rows = [[wave(k * w) for w in (1, 0.01) for wave in (math.sin, math.cos)] for k in range(4)]
print("k   sin k  cos k  sin 0.01k  cos 0.01k")
for k, row in enumerate(rows):
    print("{}  {:6.3f} {:6.3f}  {:9.3f}  {:9.4f}".format(k, *row))
torch.testing.assert_close(torch.tensor(rows), sinusoidal_encoding(4, 4))

# %% [markdown] lang="en"
r"""
Per position, the angle of pair 0 grows by 1 (radian), that of pair 1 by 0.01. A table for L positions and d features has L rows and d columns; at position k (0 ≤ k < L), pair i (0 ≤ i < d/2) is

$$PE(k, 2i) = \sin(k\,\omega_i) \qquad PE(k, 2i + 1) = \cos(k\,\omega_i) \qquad \omega_i = \text{base}^{-2i/d}$$

The base is 10000; d is `d_model` in code.

**Your turn, one line.** With d = 8, how many positions does pair 3 take for a whole turn? Replace `None` by it or a formula.
"""

# %% [markdown] lang="zh"
r"""
每往后一个位置，第 0 对的角度增加 1（弧度），第 1 对的角度增加 0.01。一般地，L 个位置、d 个特征，表就有 L 行 d 列。在位置 k（0 ≤ k < L），第 i 对（0 ≤ i < d/2）的两个数是

$$PE(k, 2i) = \sin(k\,\omega_i) \qquad PE(k, 2i + 1) = \cos(k\,\omega_i) \qquad \omega_i = \text{base}^{-2i/d}$$

底数 base 取 10000。d 在代码里写作 `d_model`。

**轮到你了**，只写一行：d = 8 时，第 3 对转满一圈，要走多少个位置？请把 `None` 换成这个数或算式。
"""

# %% tags=["exercise"]
my_positions_per_turn = None

check("positions_per_turn", my_positions_per_turn)

# %% [markdown] lang="en"
r"""
Stuck? The formula just above gives the frequency of pair 3.

<details><summary>The idea</summary>

The frequency, $10000^{-6/8} = 0.001$, is how far the angle goes in one position. A whole turn is 2π radians, so divide.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先用上面的公式算出第 3 对的频率。

<details><summary>思路</summary>

频率 $10000^{-6/8} = 0.001$ 是角度每走一个位置增加多少。转一圈是 2π 弧度，所以要用除法。

</details>
"""

# %% tags=["solution"]
solved_positions_per_turn = 2 * math.pi / 10000 ** (-2 * 3 / 8)

check("positions_per_turn", solved_positions_per_turn, keep=False)

# %% [markdown] lang="en"
r"""
## Clocks

With d = 16 there are eight pairs, and each can be a clock. Its hand starts at twelve and turns clockwise by $\omega_i$ per position, so the sine tells how far right its tip is, the cosine how high. Thick blue hands show *position*, thin orange ones the position *shift* later; drag *shift*.

Below stand both rows of the table (orange positive, blue negative), and a curve compares them. *Similarity* is the dot product divided by both lengths, so equal rows have 1, opposite ones −1. A ring marks the most similar row.

**Predict first.** With base 1 all hands turn alike, 1 radian per position. Is position 1, 6, 22 or 44 then most similar to position 0? Choose, then drag *base* to 1 and *shift* to your answer.
"""

# %% [markdown] lang="zh"
r"""
## 时钟

d = 16 时有八对，每一对都可以画成一个时钟。指针从十二点出发，每走一个位置，顺时针转过 $\omega_i$，因此正弦表示针尖偏右多少，余弦表示它有多高。粗的蓝针对应“位置”，细的橙针对应“位置”加“平移”。先拖动“平移”看看。

时钟下面是表中对应的两行（格子的橙色是正数，蓝色是负数，与针的颜色无关），再往下的曲线比较它们。**相似度**（similarity）就是点积除以两行长度的乘积，所以两行相同时是 1，正好相反时是 −1。圆圈标出与“位置”那一行最相似的一行。

**先猜一猜**：底数取 1 时，所有指针一样快，每走一个位置转 1 弧度。位置 1、6、22、44 中，哪一个与位置 0 最相似？先选好答案，再把“底数”拖到 1，把“平移”拖到你选的位置。
"""

# %% tags=["panel", "guess"]
clocks.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Most similar is position 44, with 0.9998, of the four and of all 128.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

最相似的是位置 44，相似度是 0.9998；在图上 128 个位置里，也是它最相似。

</details>
"""

# %% [markdown] lang="en"
r"""
44 radians are almost exactly seven turns, because 7 · 2π = 43.98. So this one frequency hardly tells 44 from 0, however many columns repeat it. One slow hand, then? With ω = 0.001 it takes 6283 positions to come back, but rows 0 and 1 have the similarity 0.9999995. Both hands together? In 44 positions the slow one hardly moves, so 44 still has 0.9994, and 1 only 0.77.

It takes a chain of hands, each slower than the last and counting its turns. Put *base* back to 10000: now 1 is most similar, with 0.94, and from 2 to 128 nothing comes above 0.81.

## A shift is a rotation

How far apart two words are often matters more than where they are. Does the table know?

**Predict first.** At base 10000, put *shift* to 10 and drag *position*. Which stay, the hands, the gray angles between them, the similarity?
"""

# %% [markdown] lang="zh"
r"""
因为 7 · 2π = 43.98，所以 44 弧度几乎正好是七圈。可见只有这一个频率，就几乎分不清 44 和 0，重复多少列都没用。那么，只用一根慢的呢？ω = 0.001 时，它走 6283 个位置才转回来，可是第 0 行与第 1 行的相似度是 0.9999995，几乎分不清邻居。两根合起来呢？走 44 个位置，慢针几乎没动，所以 44 的相似度仍有 0.9994，而 1 只有 0.77。

要有一连串指针，一根比一根慢一些，每一根记着前一根转了几圈。把“底数”调回 10000，最相似的就是 1，相似度 0.94；从 2 到 128，没有一个高过 0.81。

## 平移就是旋转

在句子里，两个词相距多远，往往比它们在全文的什么地方更要紧。这张表知道相距多远吗？

**先猜一猜**：底数是 10000，把“平移”调到 10，再拖动“位置”。指针、两针之间灰色的角、相似度，哪些不变？
"""

# %% tags=["answer"]
table = sinusoidal_encoding(500, 16)  # (L, d)
lengths = table.norm(dim=1)  # (L,)
similarity = (table[:-10] * table[10:]).sum(1) / (lengths[:-10] * lengths[10:])  # (L - 10,)
print(f"{lengths.min() = :.4f}, {lengths.max() = :.4f}")
print(f"{similarity.min() = :.4f}, {similarity.max() = :.4f}")


# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

All but the hands stay.

</details>

In each pair the squares add up to 1, so every row has the length $\sqrt{d/2}$. A shift by Δ turns the hand of pair i by $\Delta\,\omega_i$, wherever it stood, so the dot product of two rows is $\sum_i \cos(\Delta\,\omega_i)$.

Can row k + Δ be made from row k, without knowing k? Yes, by *one* matrix M, because $\sin(k\omega + \Delta\omega) = \cos \Delta\omega \sin k\omega + \sin \Delta\omega \cos k\omega$. The new sine needs the old cosine; that is why each frequency is used twice.

On its diagonal M has one block per pair, elsewhere 0. The first row makes the new sine; the second, for the cosine, you will find.

$$\begin{pmatrix} \cos \Delta\omega_i & \sin \Delta\omega_i \\ ? & ? \end{pmatrix}$$
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

除了指针，都不变。

</details>

每一对的平方和是 1，所以每一行的长度都是 $\sqrt{d/2}$。平移 Δ 个位置，第 i 对的指针就转过 $\Delta\,\omega_i$，不论它原来在哪里，所以两行的点积是 $\sum_i \cos(\Delta\,\omega_i)$。

能不能不知道 k，就从第 k 行算出第 k + Δ 行？能，而且对所有 k 用的是**同一个**矩阵 M，因为 $\sin(k\omega + \Delta\omega) = \cos \Delta\omega \sin k\omega + \sin \Delta\omega \cos k\omega$。新的正弦要用到旧的余弦，所以每个频率都要用两次。

每一对在 M 的对角线上占一块，其余都是 0。块的第一行算出新的正弦；第二行算出新的余弦，留到练习里由你来找。

$$\begin{pmatrix} \cos \Delta\omega_i & \sin \Delta\omega_i \\ ? & ? \end{pmatrix}$$
"""

# %%
M = shift_matrix(10, 16)  # (d, d)
print(f"{M[:1, :2] = }")
print(f"{(table[:-10] @ M.T - table[10:]).abs().max() = :.6f}")

# %% [markdown] lang="en"
r"""
## Before or after?

A cosine is the same for Δ and −Δ, so the dot product of two rows does not know which token comes first. But attention first multiplies both tokens by learned matrices. Here are two rows of the table (d = 16), the first multiplied by M, the second as it is. The orange dot sets M's shift.

**Predict first.** M shifts by −5. Where is the orange curve highest, and is it still alike on both sides of 0?
"""

# %% [markdown] lang="zh"
r"""
## 在前还是在后？

余弦对 Δ 和 −Δ 是一样的，所以两行的点积不知道哪个词元在前、哪个在后。不过在注意力里，两个词元都要先乘学习得到的矩阵，再作比较。为简单起见，只拿表里的两行来比（d = 16），第一行先乘 M，第二行原样不动。拖动橙色圆点，就能改变 M 平移多少。

**先猜一猜**：M 平移 −5 个位置。橙色曲线在哪里最高？0 的左右两边还对称吗？
"""

# %% tags=["panel"]
signed_distance.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Highest at −5, and no longer alike on both sides.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

在 −5 处最高，左右不再对称。

</details>
"""

# %% tags=["answer"]
signed_distance.panel().still(offset=-5)

# %% [markdown] lang="en"
r"""
Multiplied by M, a token from position 5 on looks five places back. One matrix serves all positions, so the authors supposed that a model easily learns to attend by distance.

## The whole table

Here are all rows as colors (0 is white), position 0 on top; below one *row*, beside it one *column*; drag both.

**Predict first.** The line below says that 40% of the columns hardly change. Which makes their share smaller, d = 512 or L = 200? Try both.
"""

# %% [markdown] lang="zh"
r"""
乘上 M 之后，从位置 5 起，词元不论在哪里，最关注的都是往前五个位置的那一行。同一个矩阵对所有位置都管用，所以论文作者推测，模型很容易学会按距离去看别的词元。

## 整张表

图中是表中所有的行，位置 0 在最上面，颜色表示数的大小，白色是 0。下方画出选中的那一**行**，右侧画出选中的那一**列**，两条线都可以拖动。

**先猜一猜**：图下的说明写着，几乎不变的列占 40%。是把 d 调到 512，还是把 L 调到 200，会让这个比例变小？猜完两个都试一试。
"""

# %% tags=["panel"]
position_table.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

L = 200 makes it smaller, 25%; at d = 512 it stays at 41%.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

L = 200 会让它变小，占 25%；d = 512 时差不多，占 41%。

</details>
"""

# %% [markdown] lang="en"
r"""
So the slow columns wait for longer texts: by position 49 their hands have not reached one o'clock. A larger d only packs more frequencies into the same range. With base 10000 the slowest hand takes over 50000 positions for a turn. (And why add? It takes no extra features, and learned matrices can read both.)

## Who uses this today?

Few new language models, though [Whisper](https://github.com/openai/whisper/blob/main/whisper/model.py) listens with one. [Llama](https://arxiv.org/abs/2302.13971) and SmolLM2 rotate by the blocks of M; BERT and GPT-2 learned their table like any weight. MiniLM, a small BERT, has 512 rows of 384. Left the similarity of every two rows, in the middle that of the sines, right the marked row of each, near *position*.

**Predict first.** Nobody told it about waves. Does the similarity of two rows still depend on their distance?
"""

# %% [markdown] lang="zh"
r"""
可见这些慢的列是留给更长的文本的。到位置 49，它们的指针连一点钟都还没走到；d 变大，只是在同样的范围里把频率排得更密。底数取 10000，最慢的指针要 50000 多个位置才转一圈。（为什么用加法？因为不必增加特征，学习得到的矩阵也能把两者都读出来。）

## 今天谁还用它？

新的语言模型很少用了，不过语音模型 [Whisper](https://github.com/openai/whisper/blob/main/whisper/model.py) 里还有。[Llama](https://arxiv.org/abs/2302.13971) 和 SmolLM2 用 M 的块来旋转，BERT 和 GPT-2 则把整张表当作权重，训练出来。MiniLM 是小型的 BERT，它的表有 512 行、384 列。左图是它每两行之间的相似度；中图是正弦表的相似度；两张图里各标出了一行，右图画出这两行在“位置”附近的一段。

**先猜一猜**：没有人告诉过模型要用波。在学到的表里，两行有多相似，也取决于它们的距离吗？
"""

# %% tags=["panel"]
learned_positions.panel(minilm_positions())

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

In part. Stripes run along the diagonal, slightly bent.

</details>

On average it is 0.85 at distance 1, 0.44 at 3, 0.69 at 6, 0.29 at 8, up and down like waves. Farther out, where the two stand counts, too: at distance 15 the average is 0.34, but row 100 has 0.63 (right). And far from the diagonal runs a dark blue band of negative similarity, −0.64 for rows 100 and 341; these sines have none. So a model left free invents something similar, but distance alone does not decide.

## What you will meet elsewhere

| where | what |
|---|---|
| [d2l](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html), [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) | this table with a batch axis of length 1 in front; tokens are first multiplied by √d |
| KerasHub's `SinePositionEncoding` | this table; torch has none |
| Hugging Face's Marian | all sines, then all cosines |
| tensor2tensor (the authors' code), Whisper | the same, with exponent −i/(d/2 − 1), not −i/(d/2) |

All are good, but weights trained with one are wrong with another, without an error.

## Exercise: the table

Write `sinusoidal_encoding` from the formula under *By hand*. The result is float32, of shape `(length, d_model)`; `d_model` is even. (Angles in float64; float32 is too coarse far out.)
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

在一定程度上是，图上沿对角线方向有许多条纹，略有弯曲。

</details>

对所有位置取平均，距离 1 处的相似度是 0.85，3 处是 0.44，6 处是 0.69，8 处只有 0.29，正像波一样起伏。再远，就还要看两行各在哪里，距离 15 处平均只有 0.34，第 100 行却是 0.63（右图）。离对角线很远处还有一条深蓝色的带子，那里的相似度是负的，比如第 100 行和第 341 行是 −0.64，而这张正弦表里没有。可见没人教，模型也会学出类似的东西，只是并非单由距离决定。

## 在别处会遇到什么

| 在哪里 | 是什么 |
|---|---|
| [d2l](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html)、[The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) | 就是这张表，前面多一个长度为 1 的批量轴；词元先乘以 √d |
| KerasHub 的 `SinePositionEncoding` | 就是这张表；torch 没有 |
| Hugging Face 的 Marian | 先是所有正弦，再是所有余弦 |
| tensor2tensor（论文作者的代码）、Whisper | 也是这样，而且指数是 −i/(d/2 − 1)，不是 −i/(d/2) |

这几种都可以用，但按一种训练出来的权重不能配另一种，而且配错了也不会报错。

## 练习：写出这张表

请按“动手算”一节的公式写出 `sinusoidal_encoding`。结果的类型是 float32，形状是 `(length, d_model)`；`d_model` 是偶数。（角度用 float64 算，因为位置很远时，float32 不够精确。）
"""


# %% tags=["exercise"]
def my_sinusoidal_encoding(length, d_model, base=10000.0):
    return ...


check("sinusoidal_encoding", my_sinusoidal_encoding)

# %% [markdown] lang="en"
r"""
Stuck? *By hand* has the small table; print yours beside it.

<details><summary>The idea</summary>

A column of positions times a row of frequencies gives all angles at once. Each angle is needed twice, as a sine and as a cosine beside it, so stack the two on a last axis and flatten it away.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“动手算”一节有一张小表，把你的打印出来，与它对照。

<details><summary>思路</summary>

一列位置乘以一行频率，一次就得到所有的角度。每个角度要用两次，先正弦，紧接着余弦，所以把两者沿新的最后一个轴叠起来，再把这个轴展平。

</details>
"""


# %% tags=["solution"]
def solved_sinusoidal_encoding(length, d_model, base=10000.0):
    frequencies = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # (d/2,)
    angles = torch.arange(length)[:, None] * frequencies  # (L, d/2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


check("sinusoidal_encoding", solved_sinusoidal_encoding, keep=False)

# %% [markdown] lang="en"
r"""
## Exercise: the shift matrix

Write M from its blocks (under *A shift is a rotation*), float32, of shape `(d_model, d_model)`. `offset` is Δ, any integer. For the second row, $\cos(a + b) = \cos a \cos b - \sin a \sin b$.
"""

# %% [markdown] lang="zh"
r"""
## 练习：平移矩阵

请用“平移就是旋转”一节里的块写出 M，类型是 float32，形状是 `(d_model, d_model)`。`offset` 就是 Δ，可以是任意整数。块的第二行，要用 $\cos(a + b) = \cos a \cos b - \sin a \sin b$。
"""


# %% tags=["exercise"]
def my_shift_matrix(offset, d_model, base=10000.0):
    return ...


check("shift_matrix", my_shift_matrix)

# %% [markdown] lang="en"
r"""
Stuck? With offset 0 nothing may move; then M is the identity.

<details><summary>The idea</summary>

Every pair has an angle of its own, offset times frequency, and a block of its own, the 2 × 2 block of *A shift is a rotation*. The new cosine takes −sin Δω of the old sine and cos Δω of the old cosine, so these are the second row. `torch.block_diag` puts the blocks in their places.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？offset 为 0 时什么都不应移动，这时 M 是单位矩阵。

<details><summary>思路</summary>

每一对有自己的角度，即 offset 乘以频率，也有自己的块，就是“平移就是旋转”一节里那个 2 × 2 的块。新的余弦等于 −sin Δω 乘以旧的正弦，加上 cos Δω 乘以旧的余弦，第二行就是这两个数。`torch.block_diag` 能把各块放到位。

</details>
"""


# %% tags=["solution"]
def solved_shift_matrix(offset, d_model, base=10000.0):
    angles = offset * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # (d/2,)
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
    return torch.block_diag(*blocks).float()


check("shift_matrix", solved_shift_matrix, keep=False)

# %% [markdown] lang="en"
r"""
## Five places back

Attention makes weights of dot products by a softmax (lesson 09 first divides them by √d; here we do not). Your M for Δ = −5 stands between 50 of your rows.

**Predict first.** To which row does row 20 give most, and to which row 3?
"""

# %% [markdown] lang="zh"
r"""
## 往前五个位置

注意力用 softmax 把点积变成权重（第 09 课；那里要先除以 √d，这里先不除）。下面用你写的表，取 50 行，中间放上你写的 M，Δ = −5。

**先猜一猜**：第 20 行给哪一行的权重最大？第 3 行呢？
"""

# %% tags=["answer"]
table = checked_or_reference("sinusoidal_encoding", my_sinusoidal_encoding)(50, 128)  # (L, d)
M = checked_or_reference("shift_matrix", my_shift_matrix)(-5, 128)  # (d, d)
scores = table @ M.T @ table.T  # (L, L)
weights, divided = scores.softmax(-1), (scores / 128**0.5).softmax(-1)
for k in (20, 45, 3):
    output.strongest(k, weights[k], divided[k])


# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

To the row five places back; row 3, which has none, gives it to row 0, the nearest. Row 20 shares with its aim's neighbors, whose dot products are only 1.9 lower. Row 3 aims at −2; there row 1 is already 5.2 below row 0, hence 99%.

Divided by √d the winner of row 20 is the same, but it gets only 9%; a trained matrix may be larger and make up for that. (Until both functions are right, the package's stand in.)

</details>

What they hoped that training finds, you wrote by hand. Models now rotate instead: [lesson 11](11_rotary_positions.ipynb).

## Three closing questions

1. L = 2048, d = 512. How many numbers and frequencies has the table? How long, as a vector, is a row?

<details><summary>Answer</summary>

2048 · 512 = 1048576 numbers, 256 frequencies; each row has the length √256 = 16.

</details>

2. In a table with d = 8, row 0 is all zeros. What may be wrong, and which one-line test shows it?

<details><summary>Answer</summary>

Row 0 has no cosines. Either all are sines, or sines and cosines alternate by *position*, not by column. In `table.norm(dim=1)` every length must be √4 = 2.

</details>

3. Someone proposes d = 2, a sine and a cosine of k, because π is irrational and so no two positions are ever equal. True, and enough?

<details><summary>Answer</summary>

True, and not enough. 710 is almost exactly 113 turns, so row 710 differs from row 0 by only $6 \cdot 10^{-5}$; added to features of 1 in bfloat16, both give the same numbers.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

给它前面五行的那一行；第 3 行往前数没有五行，给得最多的是最近的第 0 行。第 20 行的目标两边都有邻居，点积只低 1.9，所以各分走一些；第 3 行的目标是位置 −2，第 1 行的点积已经比第 0 行低 5.2，所以有 99%。

除以 √d 之后，第 20 行给得最多的还是同一行，却只剩 9%；训练得到的矩阵可以大一些，补回来。（两个函数没有写对之前，用的是课程自带的。）

</details>

论文作者希望训练能找到的矩阵，你亲手写出来了。今天的模型改在注意力里面旋转，见[第 11 课](11_rotary_positions.ipynb)。

## 三个思考题

1. L = 2048，d = 512。这张表有多少个数？有多少个频率？每一行作为向量，长度是多少？

<details><summary>答案</summary>

2048 · 512 = 1048576 个数，256 个频率；每一行的长度是 √256 = 16。

</details>

2. 某张 d = 8 的表，第 0 行全是零。可能错在哪里？怎样用一行代码查出来？

<details><summary>答案</summary>

第 0 行没有余弦。要么全是正弦，要么正弦、余弦是按**位置**交替的，而不是按列交替。检查 `table.norm(dim=1)`，每一行的长度都必须是 √4 = 2。

</details>

3. 有人建议取 d = 2，只用 k 的一个正弦和一个余弦，理由是 π 是无理数，任何两个位置都不会相同。对吗？够用吗？

<details><summary>答案</summary>

对，但不够用。710 几乎正好是 113 圈，所以第 710 行与第 0 行只差 $6 \cdot 10^{-5}$；用 bfloat16 把它们加到值为 1 的特征上，得到的数完全相同。

</details>
"""

# %%
table = sinusoidal_encoding(2048, 512)
print(f"1. {table.numel() = }, {table.norm(dim=1).mean() = :.2f}")
angles = torch.arange(4)[:, None] * 10000 ** (-(torch.arange(8) // 2 * 2) / 8)  # (L, d)
by_position = torch.where(torch.arange(4)[:, None] % 2 == 0, angles.sin(), angles.cos())
print(f"2. {angles.sin().norm(dim=1) = }")
print(f"2. {by_position.norm(dim=1) = }")
two = sinusoidal_encoding(711, 2)[[0, 710]]  # (2, d)
print(f"3. {(two[1] - two[0]).abs().max() = :.5f}, {(1 + two.bfloat16()).tolist() = }")


# %% [markdown] lang="en"
r"""
## In short

* Attention without a mask takes tokens as a heap; the table adds their order to them.
* Every pair of columns is a clock hand, each slower than the last, counting its turns.
* A shift turns each hand by its own angle, wherever it stood, so one matrix serves all positions.

## Read next

* [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.5: half a page.
* [tensor2tensor's common_attention.py](https://github.com/tensorflow/tensor2tensor/blob/master/tensor2tensor/layers/common_attention.py): their code.
* [Amirhossein Kazemnejad's explanation](https://kazemnejad.com/blog/transformer_architecture_positional_encoding/): sines as bits.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 没有掩码时，注意力分不清词元的先后；这张表把顺序放进词元。
* 每一对列就是一根时钟指针，一根比一根慢，每一根记着前一根转了几圈。
* 平移时，每根指针转过各自固定的角度，不论它原来在哪里，所以一个矩阵就管所有位置。

## 接着读

* [Attention Is All You Need](https://arxiv.org/abs/1706.03762)，3.5 节：半页，理由也在里面。
* [tensor2tensor 的 common_attention.py](https://github.com/tensorflow/tensor2tensor/blob/master/tensor2tensor/layers/common_attention.py)：作者的代码。
* [Amirhossein Kazemnejad 的讲解](https://kazemnejad.com/blog/transformer_architecture_positional_encoding/)：把正弦看作一个数的各个二进制位。
"""
