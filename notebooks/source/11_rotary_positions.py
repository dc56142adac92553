# %% [markdown] lang="en"
r"""
# 11 Why rotate queries and keys?

Leave one small function out of SmolLM2, the chat model of lesson 00, ask it for the capital of France, and it says nothing: its first token is the end. That function adds nothing to a token and has learned nothing. It only turns queries and keys, each by angles that its position sets.

Lesson 09's attention takes tokens as a heap; a causal mask by itself tells only who comes before, not how far. Lesson 10 added clocks to the tokens. Most language models of today do without that table and turn the queries and keys inside attention.

After this lesson you can write this rotation, tell its two conventions apart, and say what happens to a model beyond the length it was trained on. It takes about 40 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 11 为什么要旋转查询和键？

从第 00 课的聊天模型 SmolLM2 里去掉一个小小的函数，再问它法国的首都是哪里，它一个词也不说，立刻就结束了。这个函数不给词元加任何东西，也没有任何训练得到的数，只是转动查询和键，转多少由位置决定。

第 09 课的注意力如果没有掩码，就分不清词元的先后。有了因果掩码，先后能间接看出来，可是键离查询有多远，得分里并没有。第 10 课的办法，是给词元加上一组时钟。今天的语言模型大多不用那张表，而是在注意力里面转动查询和键。

学完这一课，你能写出这种旋转，分清它的两种约定，说出文本超过训练长度时会发生什么。大约需要 40 分钟，选读另计。
"""

# %%
import math

import torch

from blocklab import rotary_embedding
from blocklab_course import check, plug_in
from blocklab_course.lessons.rotary_positions import known_angles, longer_texts, two_clocks

# %% [markdown] lang="en"
r"""
## Two questions first

1. In attention, which of query, key and value decide how much a token takes from another, and which decides what it takes?
2. SwiGLU gets a gate and a value. Which of them goes through SiLU?

<details><summary>Answers</summary>

1. Query and key decide how much, the value what.
2. The gate; the value is multiplied as it is.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 在注意力里，查询、键、值三者中，哪些决定从另一个词元取多少？哪个决定取来的是什么？
2. SwiGLU 有门和值两路输入，经过 SiLU 的是哪一路？

<details><summary>答案</summary>

1. 取多少，由查询和键决定；取来什么，由值决定。
2. 门经过 SiLU，值原样与它相乘。

</details>
"""

# %% [markdown] lang="en"
r"""
## Two clocks

Here are a query and a key of eight features each, so of four *pairs*, each a hand. Its first feature says how far right the tip lies, its second how high. **Rotary positions** ([RoPE](https://arxiv.org/abs/2104.09864)) turn each hand counterclockwise by its token's position times the frequency ω of the pair, the same ω as in lesson 10, whose hands went clockwise. Blue is the query, orange the key, gray the angle between them. Below each dial is what the pair adds to the dot product of query and key, which divided by √d is the score.

Drag the tokens along the line, or the hands of pairs 1 and 2.

**Predict first.** With the query at 3 and the key at 0 the dot product is −0.89. Where else: query at 0, key at 3; query at 1003, key at 1000; both; neither? Choose, then try; *both later by* moves both. Finally tick *every distance*.
"""

# %% [markdown] lang="zh"
r"""
## 两组指针

图中有一个查询和一个键，各八个特征，也就是各四**对**。每一对画成一根指针，第一个特征是针尖偏右多少，第二个特征是针尖有多高。**旋转位置编码**（rotary position embedding，[RoPE](https://arxiv.org/abs/2104.09864)）让每根指针逆时针转过一个角，大小是词元的位置乘以这一对的频率 ω，ω 的算法与第 10 课相同。（那里的指针顺时针转。）蓝针是查询，橙针是键，灰色是两针的夹角。表盘下面写着这一对给点积贡献多少；点积除以 √d，就是注意力得分。

可以在图上方的位置线上拖动两个词元，也可以拖动第 1、2 对的指针。

**先猜一猜**：查询在 3，键在 0，点积是 −0.89。查询在 0、键在 3，或者查询在 1003、键在 1000，哪一种的点积还是这个数？两种都是，还是都不是？先选好答案，再到各个位置试一试；“同时后移”让两个词元一起往后走。最后勾选“画出所有距离”。
"""

# %% tags=["panel", "guess"]
two_clocks.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

With the query at 1003 and the key at 1000, as wherever the query stands 3 positions after the key. (In lesson 10 all hands started at twelve, so the dot product of two rows could not tell before from after. Here each hand starts where the token's own query or key points. What turns it is a block of that lesson's matrix M, transposed, for those hands went clockwise.)

The curve of *every distance* is a fast ripple, pair 0 with a turn in 6.3 positions, on a slow wave, pair 1 with one in 63. Of these two vectors it is highest at −20, not at 0, and nothing makes it fall with the distance.

</details>

When both tokens move on alike, so do both hands of a pair, and the angle between them stays. When the tokens change places, it changes: order counts, not only distance.

## By hand

The dot product of two hands is the product of their lengths times the cosine of their angle. In pair i let the lengths be $|q_i|$ and $|k_i|$, and let $\varphi_i$ be the angle from key to query before anything turns. With the query at m and the key at n:

$$q \cdot k = \sum_i |q_i|\, |k_i| \cos\big(\varphi_i + (m - n)\,\omega_i\big) \qquad \omega_i = \text{base}^{-2i/d}$$

Here d is the number of features, 8 in the picture. Given query and key, the dot product depends on m − n alone. A pair `(a, b)` turned by α becomes

$$(a \cos\alpha - b \sin\alpha,\;\; a \sin\alpha + b \cos\alpha) \qquad \alpha = \text{position} \cdot \omega_i$$

**Your turn, one line.** A query has the pair `(2, 0)` and stands at 10, a key has `(3, 0)` and stands at 2, and ω is 0.5. What is the dot product of the two turned pairs, to two decimals?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

查询在 1003，键在 1000；凡是查询比键靠后 3 个位置，都是这个数。（第 10 课的表里，所有指针都从十二点出发，光看两行的点积，分不出前后；这里的指针从哪里出发，由词元自己的查询和键决定。转动它的，就是那一课矩阵 M 的块的转置，因为那里顺时针转。）

“画出所有距离”的曲线，是慢波上叠着快波：快波来自第 0 对，约 6.3 个位置一个周期；慢波来自第 1 对，约 63 个位置一个周期。就这两个向量来说，最高点在 −20，不在 0；点积也不会随距离增大而越来越小。

</details>

两个词元一起后移，同一对的两根指针就多转同样的角，夹角不变。把两个词元的位置对调，夹角就变了。所以点积不只取决于相距多远，还取决于谁在前、谁在后。

## 动手算

两个向量的点积，等于长度之积乘以夹角的余弦，而每根指针就是一个二维向量。设第 i 对的两个长度是 $|q_i|$ 和 $|k_i|$，旋转之前，从键逆时针转到查询的角是 $\varphi_i$。查询在 m，键在 n，就有

$$q \cdot k = \sum_i |q_i|\, |k_i| \cos\big(\varphi_i + (m - n)\,\omega_i\big) \qquad \omega_i = \text{base}^{-2i/d}$$

其中 base 是**底数**，d 是一个头的特征数，图里是 8。查询和键给定之后，点积只取决于 m − n。一对特征 `(a, b)` 转过角 α，就变成

$$(a \cos\alpha - b \sin\alpha,\;\; a \sin\alpha + b \cos\alpha) \qquad \alpha = \text{position} \cdot \omega_i$$

公式里的 position 是词元的位置。

**轮到你了**，只写一行：查询的一对是 `(2, 0)`，位置是 10；键的一对是 `(3, 0)`，位置是 2；ω = 0.5。两对都旋转之后，点积是多少？算到小数点后两位。
"""

# %% tags=["exercise"]
my_turned_product = None

check("turned_product", my_turned_product)

# %% [markdown] lang="en"
r"""
Stuck? First the angle between the two, then its cosine.

<details><summary>The idea</summary>

Before the rotation both hands point to the right. Then the query turns by 10 · 0.5 and the key by 2 · 0.5, so the angle between them is 8 · 0.5. The lengths 2 and 3 stay.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先求两者的夹角，再取余弦。

<details><summary>思路</summary>

旋转之前，两根指针都指向右边。查询转了 10 · 0.5，键转了 2 · 0.5，所以夹角是 8 · 0.5。长度 2 和 3 不变。

</details>
"""

# %% tags=["solution"]
solved_turned_product = 2 * 3 * math.cos(0.5 * (10 - 2))

check("turned_product", solved_turned_product, keep=False)

# %% [markdown] lang="en"
r"""
Values are not turned: position is to say *who* is looked at, not what is taken (*Going further*).

## Two pairings

Which two features make a pair? Code in use has two answers. Neither is better, but weights for one are wrong with the other.

| pairing | pair i |
|---|---|
| *adjacent*: Meta's Llama, SmolLM2 in the file used here | 2i and 2i + 1 |
| *halves*: most models in Hugging Face's transformers, nanochat | i and i + d/2 |

**Predict first.** The same queries and keys of five tokens are turned in both ways. Which of the 25 dot products agree: all, none, or those of a token's query with its own key?
"""

# %% [markdown] lang="zh"
r"""
值不旋转，因为位置只该影响看谁、看多少，不该影响取来什么（见选读）。

## 两种配对

哪两个特征算一对？现有的代码有两种**配对方式**（pairing），没有好坏之分，但为一种准备的权重，用另一种就错了。

| 配对方式 | 第 i 对 |
|---|---|
| 相邻：Meta 的 Llama、这里所用文件里的 SmolLM2 | 2i 和 2i + 1 |
| 前后两半：Hugging Face 的 transformers 里的多数模型、nanochat | i 和 i + d/2 |

**先猜一猜**：五个词元，同样的查询和键，按两种配对各旋转一次。25 个点积里，哪些相同？全部相同，全都不同，还是只有同一个词元的查询与键的点积相同？
"""

# %% tags=["answer"]
q, k, places = torch.randn(5, 8), torch.randn(5, 8), torch.arange(5)  # (L, d), (L, d), (L,)


def products(q, k, pairing):
    q, k = (rotary_embedding(x, places, pairing=pairing) for x in (q, k))
    return q @ k.T  # (L, L)


off = products(q, k, "half") - products(q, k, "adjacent")
print(off.abs() < 1e-5)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only those of a token's query with its own key, on the diagonal. (And a text of one token tells nothing at all: there is one score, and its softmax is 1.)

</details>

There m − n is 0, and the dot product is what it was: the score of a token with itself cannot tell a wrong pairing.

A dot product does not mind the order of the features, if query and key have the same. So put the first features of all pairs in front, then the second, and halves do what neighbors did:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有对角线上的相同，也就是同一个词元的查询与键的点积。（只用一个词元来测试，更看不出什么：得分只有一项，softmax 之后总是 1。）

</details>

在对角线上，m − n 是 0，不管怎样旋转，点积都与旋转之前一样。所以看词元对自己的得分，看不出配对错了。

只要查询和键的特征按同样的次序重排，点积就不变。所以先排各对的第一个特征，再排各对的第二个，前后两半的配对就与相邻的配对结果一样了：
"""

# %%
order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
off = products(q[:, order], k[:, order], "half") - products(q, k, "adjacent")
print(off.abs().max() < 1e-5)

# %% [markdown] lang="en"
r"""
Each feature of a query or key is made by one row of a weight matrix. To convert weights from neighbors to halves, put the rows into this order, head by head (*Going further*).

**Predict first.** SmolLM2 with halves in place of neighbors, its rows left alone: will it still say Paris?
"""

# %% [markdown] lang="zh"
r"""
查询的每个特征由查询矩阵的一行算出，键也是这样。所以要把权重从相邻配对转换成前后两半，就要逐头把这些行换成这个次序（见选读）。

**先猜一猜**：让 SmolLM2 改用前后两半的配对，权重的行不动，它还会回答巴黎（Paris）吗？
"""


# %% tags=["slow", "answer"]
def in_halves(x, positions, base=10000.0):
    return rotary_embedding(x, positions, base, pairing="half")


plug_in(rotary_embedding=in_halves)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

No Paris. It repeats one word, and the loss is 5.04 in place of 3.08. (Yet SmolLM2 was trained with halves, and Hugging Face runs it so. Whoever made the file used here put its rows in the other order, for [llama.cpp](https://github.com/ggml-org/llama.cpp).)

</details>

## Exercise: the rotation

Turn a whole tensor, neighbors as pairs, as under *By hand*. x has the shape `(*, L, d)`, `positions` the shape `(L,)`; the result has the shape and type of x. (Take float64 for the angles, as in lesson 10.)
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不会回答 Paris 了。它重复同一个词，损失是 5.04，而原来是 3.08。（其实 SmolLM2 训练时用的正是前后两半，Hugging Face 里也这样运行。这里所用的文件是为 [llama.cpp](https://github.com/ggml-org/llama.cpp) 转换的，行已经重排成相邻配对。）

</details>

## 练习：旋转

请按“动手算”一节旋转整个张量，相邻的特征为一对。x 的形状是 `(*, L, d)`，`positions` 的形状是 `(L,)`；结果的形状和类型与 x 相同。（角度用 float64 算，与第 10 课一样。）
"""


# %% tags=["exercise"]
def my_rotary_embedding(x, positions, base=10000.0):
    return ...


check("rotary_embedding", my_rotary_embedding)

# %% [markdown] lang="en"
r"""
Stuck? Begin with one token, x of shape `(1, 2)`, and the rule for a pair.

<details><summary>The idea</summary>

A column of positions times a row of frequencies gives all angles, `(L, d/2)`, and they broadcast over the axes in front. `x[..., 0::2]` holds the first feature of each pair. Compute both new features from both old ones before you put anything back, each in its old place.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先从一个词元做起，x 的形状是 `(1, 2)`，用一对特征的那条公式。

<details><summary>思路</summary>

一列位置乘以一行频率，得到所有的角度，形状是 `(L, d/2)`，它会在前面的各个轴上广播。`x[..., 0::2]` 是各对的第一个特征。先用两个旧特征算出两个新特征，再各自放回原处。

</details>
"""


# %% tags=["solution"]
def solved_rotary_embedding(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)  # (L, d/2)
    a, b = x[..., 0::2], x[..., 1::2]
    rotated = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    return torch.stack(rotated, -1).flatten(-2).to(x.dtype)


check("rotary_embedding", solved_rotary_embedding, keep=False)

# %% [markdown] lang="en"
r"""
## In the chat model

SmolLM2 calls your function 30 times for each pass, once a layer, for queries and keys together, with base 100000.
"""

# %% [markdown] lang="zh"
r"""
## 装进聊天模型

SmolLM2 每读一遍，要调用你的函数 30 次：每层一次，查询和键一起旋转，底数是 100000。
"""

# %% tags=["slow"]
plug_in(rotary_embedding=my_rotary_embedding)

# %% [markdown] lang="en"
r"""
With nothing turned, this is the silence from the beginning of the lesson:
"""

# %% [markdown] lang="zh"
r"""
什么都不转，就是开头那种沉默：
"""


# %% tags=["slow"]
def nothing_turned(x, positions, base=10000.0):
    return x


plug_in(rotary_embedding=nothing_turned)

# %% [markdown] lang="en"
r"""
## Longer than ever

A model is trained on texts of some length, so on distances m − n below it. In a fast pair the angle between query and key, $(m - n)\,\omega$, went round many times. In a slow pair it made no full turn, and in a longer text it grows beyond all that the model has met.

The panel shows how often each pair of a model turns. Drag the dashed line on the right, or *times as long* (s).

**Predict first.** Llama-3 has 64 pairs, the base 500000, and was trained on 8192 positions. How many of them never made a full turn: 2, 29 or 60? Then set *model*.
"""

# %% [markdown] lang="zh"
r"""
## 比训练时更长

模型训练时，文本有一定的长度，查询与键的距离 m − n 不会超过它。在快的一对里，两针之间的角 $(m - n)\,\omega$ 转了很多圈，什么角度都见过。在慢的一对里，它没有转满一圈；文本一长，查询与键可以隔得更远，这个角就会大到训练时从未有过。

面板画出一个模型的每一对转了多少圈，遇到新角度的画成红色菱形。可以拖动右图的虚线，也可以拖动“长度的倍数”，也就是 s。

**先猜一猜**：Llama-3 有 64 对，底数是 500000，训练长度是 8192。从未转满一圈的有多少对，2、29 还是 60？猜完再选“模型”。
"""

# %% tags=["panel"]
known_angles.panel()

# %% tags=["answer"]
known_angles.panel().still(model="Llama-3 8B")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

29 never made a full turn, and without a rule all of them meet new angles.

Large positions alone do no harm: with 100000 added to all of them, SmolLM2's loss stays 3.08. Only the distance counts.

</details>

For a text s times as long, all rules slow hands down. Try each in the panel:

| rule | frequencies |
|---|---|
| [position interpolation](https://arxiv.org/abs/2306.15595) | all divided by s |
| [NTK-aware](https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_rope_utils.py) | from the base times $s^{d/(d-2)}$: the first stays, the last is divided by s |
| [YaRN](https://arxiv.org/abs/2309.00071) | hands of 32 turns and more stay, those below 1 are divided by s, between them a ramp even in i (its code; in the paper, even in turns); scores times $(0.1 \ln s + 1)^2$, 1.30 for s = 4 |
| [Llama 3.1](https://github.com/meta-llama/llama-models/blob/b25b488f5faa9efcdfaf4ed3bdee1f2827b62788/models/llama3/reference_impl/model.py) | likewise from 4 turns to 1, the ramp even in turns; scores as they are |

So NTK-aware leaves 28 of the 29 beyond what they know, only less far.

## What the loss says

Is all well without new angles? glassllm is a very small language model, trained on 128 tokens. It read pieces of 512 from two books, with s = 4 and no further training. The books are not in the package, so this is a recording.

**Predict first.** Beyond 128, which has the lowest loss: no rule, interpolation, Llama's rule, or no rule where each token directly sees only the last 128?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

29 对从未转满一圈；不用规则，它们全都会遇到新角度。

位置本身再大也不要紧：所有位置都加上 100000，SmolLM2 的损失仍是 3.08。要紧的只是距离。

</details>

文本是训练长度的 s 倍时，各种规则都让指针慢下来。可以在面板里逐个试试“规则”，看右图的线怎样变：

| 规则 | 频率 |
|---|---|
| [位置插值](https://arxiv.org/abs/2306.15595)（position interpolation） | 全部除以 s |
| [NTK-aware](https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_rope_utils.py) | 底数乘以 $s^{d/(d-2)}$，于是第一对不变，最后一对除以 s |
| [YaRN](https://arxiv.org/abs/2309.00071) | 转 32 圈以上的不变，不到 1 圈的除以 s，中间按 i 均匀过渡（代码如此，论文里是按圈数）；得分乘以 $(0.1 \ln s + 1)^2$，s = 4 时是 1.30 倍 |
| [Llama 3.1](https://github.com/meta-llama/llama-models/blob/b25b488f5faa9efcdfaf4ed3bdee1f2827b62788/models/llama3/reference_impl/model.py) | 转 4 圈以上的不变，不到 1 圈的除以 s，中间按圈数均匀过渡；得分不变 |

所以用 NTK-aware，29 对里仍有 28 对会遇到没见过的角度，只是超出得少一些。

## 看看损失

没有新角度，就万事大吉了吗？glassllm 是一个很小的英文语言模型，训练长度只有 128。让它读《爱丽丝漫游奇境》和《绿野仙踪》，每段 512 个词元，s = 4，换了规则也不再训练，损失会怎样？这两本书不随课程提供，下面是以前测得的记录。

**先猜一猜**：在 128 以外，哪一种损失最低？不用规则，位置插值，Llama 的规则，还是不用规则，但每个词元只直接看最近的 128 个词元？
"""

# %% tags=["answer"]
longer_texts.table()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The window of 128, with 3.407 at 384–512 of *Alice* and 4.123 beyond 128 of *Oz*. No distance in it passes 127, so no angle between query and key is new, whatever the position. (Through four layers it still reaches 4 · 127 tokens back.) Of the rules that look farther, Llama's does best: 3.687 at 384–512 of *Alice*, at the price of 0.19 before 128.

*Alice* was probably part of the training, *Oz* is by another author. With *Oz* interpolation gains nothing beyond 128: 4.885, and 4.888 without a rule. All are averages, over 48 pieces of *Alice* and 32 of *Oz*. Differences beyond 128 have a standard error of 0.01 to 0.02.

</details>

Without a rule nothing breaks at 128; the loss grows, to 4.727 at 384–512. Interpolation costs 0.90 even before 128 (4.350 in place of 3.453), because neighbors now stand a quarter of a step apart, which is new, too. Here looking farther than trained never paid. But nobody trained this model further, and it finds little even in its 128: on *Alice* a window of 32 does no worse. A larger one may need its first token kept in the window.

## What you will meet elsewhere

[Hugging Face's Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) pairs halves (Cohere, in the same library, neighbors):

```python
x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
rotate_half = torch.cat((-x2, x1), dim=-1)
x * cos + rotate_half * sin
```

Meta multiplies complex numbers, whose parts are neighbors:

```python
pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
torch.view_as_real(pairs * freqs_cis).flatten(3)  # x: (N, L, h, d); with other axes flatten(-2)
```

| where | what |
|---|---|
| [Pythia-6.9B, phi-2](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py) | *partial rotary*: 32 of 128, 32 of 80 features turn |
| the base | 10000 in Llama-2, 100000 in SmolLM2, 500000 in Llama-3, 1000000 in Qwen3; raised for longer texts, whose distances slow hands still tell apart |
| [nanochat](https://github.com/karpathy/nanochat) | turns queries and keys clockwise, as its weights were trained |

A key turns by its own position alone. With fixed frequencies it stays as it is, however long the text grows: a model that writes can keep its keys ([lesson 13](13_kv_cache.ipynb)). First [lesson 12](12_transformer_layers.ipynb) puts the blocks together.

## Three closing questions

1. A head of SmolLM2 has 64 features. How many positions does its slowest hand take for a turn, and what part of a turn does it make in 8192?

<details><summary>Answer</summary>

The last pair has ω = 100000^(−62/64), so a turn takes 438460 positions. In 8192 the hand makes 0.0187 of a turn, less than 7 degrees.

</details>

2. Llama's weights were converted from Meta's code to Hugging Face's. The output of the first token agrees to the last digit, all others are wrong. What was forgotten, and why is the first one right?

<details><summary>Answer</summary>

To reorder the rows of the matrices for queries and keys, head by head. Under the causal mask the first token sees only itself, so its weight is 1 whatever the score: no mistake in queries or keys can show there.

</details>

3. A chat model was trained on 2048 tokens, your texts have 8000, and you cannot train. Somebody proposes interpolation with s = 4. What do you measure first, and against what?

<details><summary>Answer</summary>

The loss by position on your own texts, before and beyond 2048, against no rule with a window of 2048 that always keeps the first few tokens as well. And questions whose answers stand farther back than the window: the mean loss hardly shows whether they are found. Many trained models [rest their attention on the first token](https://arxiv.org/abs/2309.17453): in SmolLM2 we measured, on the first 1024 tokens of the GNU GPL, version 3, that a plain window of 256 costs 0.70 from position 512 on, and 0.06 if it keeps the first token. Before 2048 the window changes nothing, and in glassllm every rule lost to it in mean loss.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只看最近 128 个词元的损失最低：《爱丽丝》的位置 384–512 是 3.407，《绿野仙踪》的 128 以外是 4.123。这样看，查询与键的距离从不超过 127，不论词元在哪个位置，两针之间都没有新角度。（四层下来，仍能间接看到 4 · 127 步之前。）要直接看得更远，Llama 的规则最好：《爱丽丝》的 384–512 是 3.687，代价是 128 以内升高 0.19。

《爱丽丝》很可能在训练数据里，《绿野仙踪》出自另一位作者。在后者的 128 以外，位置插值没有好处：4.885，不用规则是 4.888。各数都是平均值，《爱丽丝》取 48 段，《绿野仙踪》取 32 段。在 128 以外，两种做法之差的标准误差是 0.01 到 0.02。

</details>

不用规则，损失并不是一过 128 就跳上去，而是越往后越高，384–512 到了 4.727。位置插值连 128 以内也变差了，高了 0.90（从 3.453 升到 4.350），因为相邻的词元现在只隔四分之一步，这也是模型没见过的。在这个模型上，不论用哪种规则，看得比训练时更远都没有好处。不过它没有继续训练，而且很小，连 128 个词元也用不上多少：读《爱丽丝》时，窗口缩到 32，损失也不升高。换成大一些的模型，窗口里可能还要留住第一个词元。

## 在别处会遇到什么

[Hugging Face 的 Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) 按前后两半配对（同一个库里的 Cohere 却按相邻）：

```python
x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
rotate_half = torch.cat((-x2, x1), dim=-1)
x * cos + rotate_half * sin
```

Meta 用复数相乘，一个复数的两部分就是相邻的两个特征：

```python
pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
torch.view_as_real(pairs * freqs_cis).flatten(3)  # x: (N, L, h, d); with other axes flatten(-2)
```

| 在哪里 | 是什么 |
|---|---|
| [Pythia-6.9B、phi-2](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py) | 部分旋转（partial rotary），前者 128 个特征里只转 32 个，后者 80 个里只转 32 个，其余不动 |
| 底数 | Llama-2 是 10000，SmolLM2 是 100000，Llama-3 是 500000，Qwen3 是 1000000；要用更长的文本训练，就加大底数：没转满一圈的指针，不会把两个距离弄混 |
| [nanochat](https://github.com/karpathy/nanochat) | 查询和键都顺时针转，权重就是这样训练的 |

键转多少，只看它自己的位置；转好之后，只要频率不变，不论文本再写多长，它都不再变。所以模型往下写时可以把键存起来，那是[第 13 课](13_kv_cache.ipynb)。在那之前，[第 12 课](12_transformer_layers.ipynb)先把各个部件拼起来。

## 三个思考题

1. SmolLM2 的一个头有 64 个特征。它最慢的指针转一圈要多少个位置？在 8192 个位置里转了一圈的几分之几？

<details><summary>答案</summary>

最后一对的 ω = 100000^(−62/64)，转一圈要 438460 个位置。走 8192 个位置，只转 0.0187 圈，不到 7 度。

</details>

2. 有人把 Llama 的权重从 Meta 的代码转换给 Hugging Face 的代码。第一个词元的输出每一位都对，其余的全错。漏了哪一步？为什么第一个词元是对的？

<details><summary>答案</summary>

漏了逐头重排算查询和键的两个矩阵的行。在因果掩码下，第一个词元只能看自己，softmax 里只有一项，权重总是 1，得分算错了也看不出来。

</details>

3. 一个聊天模型的训练长度是 2048，你的文本有 8000 个词元，又没有条件训练。有人建议用 s = 4 的位置插值。先测什么？与什么比？

<details><summary>答案</summary>

在自己的文本上，测 2048 以内和以外各个位置的损失，与不用规则、窗口为 2048 而且总是留住最前面几个词元的做法比较。还要问几个答案在窗口之外的问题，因为平均损失几乎看不出答案找没找到。许多训练好的模型[把多余的注意力放到第一个词元上](https://arxiv.org/abs/2309.17453)（attention sink）：我们用 GNU GPL 第 3 版的前 1024 个词元测过 SmolLM2，窗口为 256 时，从位置 512 起损失高出 0.70；留住第一个词元，只高出 0.06。窗口在 2048 以内什么也不改变，而且在 glassllm 上，论平均损失，每种规则都输给了它。

</details>
"""

# %%
slowest = 100000 ** (-62 / 64)
print(f"1. {2 * math.pi / slowest = :.0f}, {8192 * slowest / (2 * math.pi) = :.4f}")

# %% [markdown] lang="en"
r"""
## In short

* Each pair of features of queries and keys turns by position times ω. Given both, the dot product depends on m − n alone.
* The pairing belongs to the weights; a token's score with itself cannot show it.
* At distances beyond the trained length slow pairs meet new angles. Rules slow them down, each at a price; all but NTK-aware keep to known angles.

## Read next

* The paper: [RoFormer](https://arxiv.org/abs/2104.09864), Su et al. 2021.
* The code: `apply_scaling` and `apply_rotary_emb` in [Llama's model.py](https://github.com/meta-llama/llama-models/blob/b25b488f5faa9efcdfaf4ed3bdee1f2827b62788/models/llama3/reference_impl/model.py).
* The explanation: [EleutherAI's](https://blog.eleuther.ai/rotary-embeddings/), and in Chinese [the author's own](https://kexue.fm/archives/8265).
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 查询和键的每一对特征都转过“位置乘以 ω”这么大的角。查询和键给定之后，点积只取决于 m − n。
* 权重与配对方式必须配套；看词元对自己的得分，查不出配错了。
* 查询与键的距离超过训练长度，慢的各对就会遇到新角度。各种规则让指针慢下来，除 NTK-aware 以外都能避开新角度，但各有代价。

## 接着读

* 论文：[RoFormer](https://arxiv.org/abs/2104.09864)，苏剑林等，2021。
* 代码：[Llama 的 model.py](https://github.com/meta-llama/llama-models/blob/b25b488f5faa9efcdfaf4ed3bdee1f2827b62788/models/llama3/reference_impl/model.py) 里的 `apply_scaling` 和 `apply_rotary_emb`。
* 讲解：苏剑林自己写的[《博采众长的旋转式位置编码》](https://kexue.fm/archives/8265)，英文有 [EleutherAI 的文章](https://blog.eleuther.ai/rotary-embeddings/)。
"""

# %% [markdown] lang="en"
r"""
## Going further: weights for the other pairing

A weight for queries or keys has `num_heads` blocks of d rows, one row for each feature that comes out. It was made for neighbors as pairs. Put its rows in the order in which halves do the same: in each head the first rows of all pairs, then the second rows, both in the order of the pairs. The shape `(num_heads * d, d_model)` stays. (For keys `num_heads` counts the heads of keys, which in SmolLM2 are 3, where queries have 9. With its rows in this order, as they were trained, SmolLM2 in halves has the loss 3.08 again.)
"""

# %% [markdown] lang="zh"
r"""
## 选读：换一种配对，怎样重排权重

算出查询（或键）的权重矩阵由 `num_heads` 块组成，每块 d 行，每一行算出一个特征。它是为相邻配对准备的。请重排它的行，让前后两半的配对得到同样的结果：在每个头里，先排各对的第一行，再排各对的第二行，两部分都按对的次序。形状 `(num_heads * d, d_model)` 不变。（对键来说，`num_heads` 是键头的个数；SmolLM2 有 9 个查询头，键头只有 3 个。它的行换成这个次序，就回到训练时的样子：用前后两半的配对，损失又是 3.08。）
"""


# %% tags=["exercise"]
def my_permute_rows(weight, num_heads):
    return ...


check("permute_rows", my_permute_rows)

# %% [markdown] lang="en"
r"""
Stuck? With one head of eight rows, the order is the one under *Two pairings*.

<details><summary>The idea</summary>

Cut the rows into heads, the rows of a head into pairs, and the pairs into first and second. Now the axes are (head, pair, member, column). Let pair and member change places, and join the first three again. Hugging Face's conversion of Llama does the same in one line.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？一个头、八行时，次序就是“两种配对”一节里的那个。

<details><summary>思路</summary>

把行切成头，头里的行切成对，对里分第一行、第二行。现在的轴依次是头、第几对、第几行、列。交换“第几对”和“第几行”，再把前三个轴接起来。Hugging Face 转换 Llama 的代码也是这样，只用一行。

</details>
"""


# %% tags=["solution"]
def solved_permute_rows(weight, num_heads):
    pairs = weight.unflatten(0, (num_heads, -1, 2))  # (h, d/2, 2, d_model)
    return pairs.transpose(1, 2).flatten(0, 2)


check("permute_rows", solved_permute_rows, keep=False)

# %% [markdown] lang="en"
r"""
The whole way from tokens to dot products, with two heads of eight features: neighbors with the old rows and halves with the new ones. Do they agree, but for rounding?
"""

# %% [markdown] lang="zh"
r"""
从词元到点积完整地算一遍，两个头，每个头八个特征。相邻配对用原来的行，前后两半用重排后的行。除去舍入误差，两者一样吗？
"""

# %%
x, w_query, w_key = torch.randn(5, 16), torch.randn(16, 16), torch.randn(16, 16)  # (L, d_model), (h * d, d_model)


def products_of_heads(w_query, w_key, pairing):
    q, k = ((x @ w.T).unflatten(-1, (2, -1)).transpose(0, 1) for w in (w_query, w_key))  # (h, L, d)
    q, k = (rotary_embedding(y, places, pairing=pairing) for y in (q, k))
    return q @ k.mT


moved = (solved_permute_rows(w, 2) for w in (w_query, w_key))
off = products_of_heads(*moved, "half") - products_of_heads(w_query, w_key, "adjacent")
print(off.abs().max() < 1e-4)

# %% [markdown] lang="en"
r"""
## Going further: what turned values would do

Whom a token looks at is decided by queries and keys. A turned value would carry its position into the output.

**Predict first.** Five tokens, once at positions 0 to 4, once at 100 to 104. If values turn like keys, do the outputs of attention stay?
"""

# %% [markdown] lang="zh"
r"""
## 选读：要是值也旋转

看谁、看多少，由查询和键决定。值要是也旋转，位置就混进了输出。

**先猜一猜**：五个词元，第一次在位置 0 到 4，第二次在 100 到 104。如果值也像键一样旋转，注意力的输出不变吗？
"""


# %% tags=["answer"]
def attend(later, turn_values):
    at = places + later
    rotated_q, rotated_k, rotated_v = (rotary_embedding(y, at) for y in (q, k, v))
    return (rotated_q @ rotated_k.T).softmax(-1) @ (rotated_v if turn_values else v)


v = torch.randn(5, 8)
for turn_values in (False, True):
    change = (attend(100, turn_values) - attend(0, turn_values)).abs().max()
    print(f"{turn_values = !s:5}  {change = :.4f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

They do not stay. As the values do, each pair of each output turns by 100 · ω more.

</details>

With queries and keys alone the outputs stay, wherever the sentence stands.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

会变。每个输出的各对都多转了 100 · ω，与值一样。

</details>

只旋转查询和键，输出就不变，不论这句话在文本的什么地方。
"""

# %% [markdown] lang="en"
r"""
## Going further: the rules as numbers

Eight features, base 10000, texts four times as long as the trained 4096. Look at pair 2, which makes 6.5 turns within the trained length: YaRN slows it already, Llama 3.1 does not yet.
"""

# %% [markdown] lang="zh"
r"""
## 选读：各种规则的数值

八个特征，底数 10000，训练长度 4096，文本是它的四倍。请看第 2 对，它在训练长度内转 6.5 圈：YaRN 已把它放慢，Llama 3.1 还不动它。
"""

# %%
model = known_angles.RotaryModel("", head_dim=8, rotated=8, base=10000.0, length=4096)
for rule in known_angles.RULES:
    print(rule.ljust(14), known_angles.frequencies_by(rule, model, 4).tolist())
