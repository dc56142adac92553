# %% [markdown] lang="en"
r"""
# 09 Who may look at whom?

Give eight tokens to LayerNorm or a feed-forward network and change one, and one output moves. Give them to **attention** and change one, and eight outputs may move, or five, or only one. A small table of True and False, the **mask**, decides which. Written the wrong way round it raises no error, and PyTorch itself reads it in two opposite ways.

SmolLM2, the chat model of lesson 00, has attention in each of its 30 layers. Every other block works on each token alone; only here do words meet.

After this lesson you can prove with one push what a mask does, compute attention by hand, write it, cut it into heads, and run a chat model on yours. It takes about 50 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 09 谁能看谁？

把八个词元交给层归一化或前馈网络，只改动其中一个，变的输出也只有一个。把它们交给**注意力**（attention），同样只改动一个，变的输出却可能是八个、五个，也可能只有一个。哪些会变，由一张写着 True 和 False 的小表决定，它叫**掩码**（mask）。写反了不会报错，而 PyTorch 自己就有两种相反的读法。

第 00 课的聊天模型 SmolLM2 有 30 层，每层一个注意力。其他部件都单独处理每个词元，只有在这里，词与词才能相遇。

学完这一课，你能推一下词元来证明掩码起了什么作用，能动手算注意力，能写出带掩码的注意力，能分出多个头，还能让聊天模型用你的函数来回答。大约需要 50 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import MultiheadAttention, causal_mask, scaled_dot_product_attention
from blocklab_course.i18n import Text
from blocklab_course import catch, check, plug_in
from blocklab_course.lessons.attention import attention_map, poke_one_token, saturation
from blocklab_course.pretrained import minilm_trace

# %% [markdown] lang="en"
r"""
## Two questions first

1. What does the softmax make of the scores 0, 0 and 0?
2. A sentence goes through LayerNorm and then through SwiGLU, and one token changes. How many outputs change?

<details><summary>Answers</summary>

1. Three equal shares, 1/3 each.
2. One: both treat each token alone.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 三个得分 0、0、0，经过 softmax 变成什么？
2. 一句话先经过层归一化，再经过 SwiGLU。改动其中一个词元，会有几个输出跟着变？

<details><summary>答案</summary>

1. 三等分，各得 1/3。
2. 只有一个，因为这两步都是单独处理每个词元。

</details>
"""

# %% [markdown] lang="en"
r"""
## Poke one token

Below stand six words and two `[PAD]`, of which more soon. Each output is a weighted mean of what tokens give, and a line joins a token to each output it takes part in, thicker for a larger weight. A push adds 1 to each feature of a token; outputs that change turn orange, and the map keeps every push. Push any token now, and all eight move.

A **causal mask** lets each token see only itself and those before it. Without it, a model that learns to predict the next token could read that token. **Predict first.** Token 3 is pushed under this mask. Which outputs move? Choose, then set *mask* and touch tokens 0 to 3 in the picture (or drag *token*).
"""

# %% [markdown] lang="zh"
r"""
## 推一个词元

下面有六个字，另外两个 `[PAD]` 先不管。每个输出都是各个词元所给内容的加权平均，词元参与哪个输出，就有一条线与它相连，权重越大，线越粗。推动一个词元，就是给它的每个特征加 1；变了的输出显示为橙色，右边的图留下每次推动的结果。现在任意推一个，八个输出全都会变。

**因果掩码**（causal mask）让每个词元只能看到自己和前面的词元。模型要学会预测下一个词元，就离不开它，否则答案就摆在眼前。**先猜一猜**：用因果掩码，推动词元 3，哪些输出会变？先选好答案，再设好“掩码”，在图里依次点词元 0 到 3（或拖动“词元”）。
"""

# %% tags=["panel", "guess"]
poke_one_token.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Outputs 3 to 7 move. Output i sees tokens 0 to i, so token 3 is seen by itself and by all that come later.

</details>

Go on to 7, and your pushes have drawn the whole mask, column by column. Then set *mask* to *padding* and push token 6. **Padding** fills a sentence up to its batch's longest, and is not to be read. Only token 6's own output moves, because the mask hides what token 6 offers, not what it asks.

**Your turn, one line.** Write the causal mask, a boolean tensor `(length, length)`. A row is who looks, a column who is seen, and True takes part.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

变的是输出 3 到 7。输出 i 看到词元 0 到 i，所以能看到词元 3 的，是它自己和后面的所有词元。

</details>

继续推到 7，你推了一遍，整个掩码就一列一列地画了出来。再把“掩码”设为“填充”，推动词元 6。**填充**（padding）用来把句子补到同一小批量中最长那句的长度，不该有谁去看它。所以只有词元 6 自己的输出会变，因为掩码挡住的是词元 6 能提供的内容，挡不住它自己要找的内容。

**轮到你了**，用一行写出因果掩码。它是形状为 `(length, length)` 的布尔张量；行表示谁在看，列表示看谁，参与的地方为 True。
"""


# %% tags=["exercise"]
def my_causal_mask(length):
    return ...


check("causal_mask", my_causal_mask)

# %% [markdown] lang="en"
r"""
Stuck? Set *mask* to causal and *token* to 7. What is orange in the map is True.

<details><summary>The idea</summary>

Row i allows columns 0 to i, so True stands on the diagonal and below it. That is the lower triangle of a square of True.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？用因果掩码，把“词元”拖到 7，右边图里橙色的格子就是 True。

<details><summary>思路</summary>

第 i 行允许第 0 到第 i 列，所以对角线和它下面都是 True，也就是一个全为 True 的方阵的下三角。

</details>
"""


# %% tags=["solution"]
def solved_causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


check("causal_mask", solved_causal_mask, keep=False)

# %% [markdown] lang="en"
r"""
## By hand

Who decides how thick the lines are? The tokens themselves. "It" should find "cat", not another "it", so what a token looks for and what it is found by are two things. Each token's features, times three learned matrices, give three vectors: a **query** (what it looks for), a **key** (what it is found by) and a **value** (what it passes on).

The dot product of a query and a key, divided by √d, is a *score*; d is the length of a query (why √d comes below). The softmax turns each row of scores into *attention weights*. Every score s becomes $e^s$, divided by the row's sum of these, so the weights of a row are positive and sum to 1.

After the matrices, token 0's query is `(2, 0)`, and the three keys are `(1, 0)`, `(0, 1)` and `(2, 0)`. The products 2, 0 and 4, divided by √2, are the scores 1.41, 0 and 2.83; as $e^s$ they are 4.1, 1 and 16.9.

**Your turn, one number.** What weight does the last key get?
"""

# %% [markdown] lang="zh"
r"""
## 动手算

刚才的线有粗有细，由谁决定？由词元自己决定。比如“猫坐在垫子上，因为它累了”，“它”要找的是“猫”，不是另一个“它”，可见找什么、凭什么被找到，是两回事。每个词元的特征分别乘以三个训练得到的矩阵，得到三个向量：**查询**（query，它要找什么）、**键**（key，别人凭什么找到它）和**值**（value，它能提供什么）。

查询与键的点积除以 √d，就是**得分**（score）；d 是查询的长度，也就是键的长度（为什么除以 √d，后面再讲）。softmax 把每一行得分变成**注意力权重**（attention weight）。每个得分 s 先变成 $e^s$，再除以这一行所有这些数之和，所以一行注意力权重都是正数，和为 1。

乘过矩阵之后，词元 0 的查询是 `(2, 0)`，三个键是 `(1, 0)`、`(0, 1)` 和 `(2, 0)`。点积 2、0、4 除以 √2，得分就是 1.41、0、2.83，各自变成 $e^s$，是 4.1、1、16.9。

**轮到你了**，只写一个数：最后一个键得到多大的权重？
"""

# %% tags=["exercise"]
my_weight = None

check("weight_by_hand", my_weight)

# %% [markdown] lang="en"
r"""
Stuck? What does the softmax divide by?

<details><summary>The idea</summary>

The three weights are shares of one whole, and the whole is the sum of the three numbers $e^s$.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？再看看 softmax 除以的是什么。

<details><summary>思路</summary>

三个权重是同一个整体的三份，这个整体就是三个 $e^s$ 之和。

</details>
"""

# %% tags=["solution"]
solved_weight = 16.9 / (4.1 + 1 + 16.9)

check("weight_by_hand", solved_weight, keep=False)

# %% [markdown] lang="en"
r"""
The weights average the values, 10, 20 and 30. **Predict first.** Which does token 0's output lie nearest to?
"""

# %% [markdown] lang="zh"
r"""
最后用权重对各个值求加权平均。**先猜一猜**：三个值是 10、20 和 30，词元 0 的输出最接近哪一个？
"""

# %% tags=["answer"]
query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])  # (L, d)
key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])  # (L, d)
value = torch.tensor([[10.0], [20.0], [30.0]])  # (L, 1)
weights = (query @ key.mT / 2**0.5).softmax(-1)  # (L, L)
torch.testing.assert_close(weights @ value, scaled_dot_product_attention(query, key, value))
print("weights", weights, "weights @ value", weights @ value, sep="\n")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It lies nearest to 30, for the output is 25.8. Query 0 asks for the first feature, and key 2 has most of it.

</details>

With queries, keys and values as the rows of Q, K and V (in code $K^\top$ is `key.mT`):

$$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}} + \text{mask}\right) V$$

The mask adds 0 where a token may look and −∞ where it may not, because $e^{-\infty}$ is 0, and so is that weight.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

它的输出是 25.8，最接近 30。查询 0 要找第一个特征，键 2 里这个特征最大。

</details>

把查询、键和值分别作为 Q、K、V 的行，就是（代码里 $K^\top$ 写作 `key.mT`）：

$$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}} + \text{mask}\right) V$$

掩码在词元可以看的地方加 0，不许看的地方加 −∞；因为 $e^{-\infty}$ 是 0，那个注意力权重也就没有了。
"""

# %% [markdown] lang="en"
r"""
## One mask, two polarities

Conventions differ:

| | True means |
|---|---|
| `F.scaled_dot_product_attention`: `attn_mask` | takes part |
| `nn.MultiheadAttention`: `attn_mask`, `key_padding_mask` | is hidden |

Our functions follow the first row; our Modules and torch's Transformer layers the second. The second writes the causal mask like this:
"""

# %% [markdown] lang="zh"
r"""
## 一个掩码，两种写法

True 表示什么，偏偏有两种相反的约定：

| | True 表示 |
|---|---|
| `F.scaled_dot_product_attention`：`attn_mask` | 参与 |
| `nn.MultiheadAttention`：`attn_mask`、`key_padding_mask` | 屏蔽 |

我们的函数与第一行一致，我们的模块和 torch 的 Transformer 层都与第二行一致。因果掩码换成第二行的写法，就是这样：
"""

# %%
poke_one_token.panel().still(token=7, mask="causal", polarity="module")

# %% [markdown] lang="en"
r"""
**Predict first.** The causal mask `sees` is right for the function. Function and Module get `sees`, then `~sees` (swapped), and token 3 of six is pushed. Which outputs move?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：下面的 `sees` 是按函数的写法写出的因果掩码。函数和模块都先用 `sees`，再用 `~sees`（True 和 False 互换），每次推动六个词元中的词元 3。各有哪些输出会变？
"""

# %% tags=["answer"]
x, sees = torch.randn(6, 4), causal_mask(6)  # (L, d), (L, L)
layer = nn.MultiheadAttention(4, 2, batch_first=True)


def which_move(attend, token=3):
    pushed = x.clone()
    pushed[token] += 1
    change = (attend(pushed) - attend(x)).abs().amax(-1)  # (L,)
    return ", ".join(f"{i} (NaN)" if change[i].isnan() else f"{i}" for i in range(6) if not change[i] <= 1e-6)


for name, mask in {" sees": sees, "~sees": ~sees}.items():
    by_function = which_move(lambda x, mask=mask: F.scaled_dot_product_attention(x, x, x, mask))
    by_module = which_move(lambda x, mask=mask: layer(x, x, x, attn_mask=mask)[0])
    print(name, Text(en="function moves {}; Module {}", zh="函数：{}；模块：{}").format(by_function, by_module))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

With `sees` the outputs 3, 4, 5 of the function move and 0, 1, 2, 3 of the Module, whose output 5 is NaN. With `~sees` it is the other way round, but no output is NaN.

</details>

With the wrong polarity a token sees only those *after* it, so token 3 moves outputs 0, 1, 2 and, by its own query, 3. The last token sees nobody: the Module gives NaN, the function zeros. No error says so.

## Why √d?

A dot product is a sum of d terms. If all features are independent, with mean 0 and variance 1, each term has variance 1, the sum variance d and standard deviation √d. **Predict first.** With 8 such keys, d = 1024 and no division by √d, how large is a query's largest weight p on average?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

用 `sees` 时，函数变的是 3、4、5，模块变的是 0、1、2、3，而且模块的输出 5 是 NaN。用 `~sees` 时正好相反，只是不出现 NaN。

</details>

掩码反了，词元就只能看到**后面**的词元；推动词元 3，变的是输出 0、1、2，还有输出 3，因为它自己的查询变了。最后一个词元谁也看不到：模块的输出是 NaN，函数的输出全是零。程序都不会报错。

## 为什么除以 √d？

点积是 d 项之和。如果各个特征相互独立，均值为 0，方差为 1，那么每一项的方差都是 1，总和的方差就是 d，标准差是 √d。**先猜一猜**：有 8 个这样的键，d = 1024，不除以 √d，那么每个查询最大的注意力权重 p 平均有多大？
"""

# %% tags=["answer"]
for d in (4, 64, 1024):
    query, key = torch.randn(1000, 1, d), torch.randn(1000, 8, d)
    products = (query @ key.mT).squeeze(1)  # (1000, 8)
    for divisor in (1, int(d**0.5)):
        scores = products / divisor
        p = scores.softmax(-1).amax(-1)  # (1000,)
        print(saturation.row(d, divisor, scores.std(), p.mean(), (p * (1 - p)).median()))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The largest weight is 0.97 on average.

</details>

So the softmax is *saturated*, like tanh in lesson 01. For half of the queries p is within a millionth of 1. There $p(1 - p)$, the rate at which p changes with its own score, is nearly 0, and hardly any gradient says that another key is better. Divided by √d, such scores have standard deviation 1, whatever d.

## Exercise: attention

L queries meet S keys, each key with its value: query is `(*, L, d)`, key `(*, S, d)`, value `(*, S, d_v)`; `*` are any axes before, as that of a batch. `mask` is `None` or boolean and broadcasts to `(*, L, S)`, with at least the axes for queries and keys. True takes part.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

最大的注意力权重平均是 0.97。

</details>

所以 softmax **饱和**了，就像第 01 课里的 tanh。一半的查询，p 离 1 不到百万分之一左右。这时 $p(1 - p)$，也就是 p 对自己的得分的导数，几乎为 0，就算看另一个键更好，也几乎没有梯度传回来说明这一点。除以 √d 之后，不论 d 是多少，这样的得分标准差都是 1。

## 练习：注意力

请写出注意力。有 L 个查询，S 个键，每个键对应一个值。query 的形状是 `(*, L, d)`，key 是 `(*, S, d)`，value 是 `(*, S, d_v)`；`*` 表示前面任意多个轴，例如批量轴。`mask` 是 `None`，或者是能广播到 `(*, L, S)` 的布尔张量，至少有查询和键这两个轴，其中 True 表示参与。
"""


# %% tags=["exercise"]
def my_attention(query, key, value, mask=None):
    return ...


check("attention", my_attention)

# %% [markdown] lang="en"
r"""
Stuck? Start from *By hand*. `masked_fill` writes a number where its own mask is True. Which number?

<details><summary>The idea</summary>

A hidden key must get weight 0, and the others must still sum to 1. So it has to be gone before the softmax shares out, with a score of −∞. Only then are the values averaged.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？从“动手算”一节出发。`masked_fill` 在自己的掩码为 True 的地方填入一个数。填什么数？

<details><summary>思路</summary>

屏蔽掉的键权重要为 0，其余的权重之和仍要是 1。所以它必须在 softmax 分配之前就出局，把它的得分变成 −∞。然后才对值求加权平均。

</details>
"""


# %% tags=["solution"]
def solved_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


check("attention", solved_attention, keep=False)

# %% [markdown] lang="en"
r"""
## Your attention in a chat model

Your function now takes the place of attention in SmolLM2's 30 layers:
"""

# %% [markdown] lang="zh"
r"""
## 你的注意力，装进聊天模型

现在把 SmolLM2 的 30 层注意力都换成你的函数（这个模型只懂英语）：
"""

# %% tags=["slow"]
plug_in(attention=my_attention)

# %% [markdown] lang="en"
r"""
Now forget the mask on purpose. **Predict first.** The loss measures how badly the next token is predicted. Does it rise or fall? And what becomes of Paris?
"""

# %% [markdown] lang="zh"
r"""
现在故意漏掉掩码。**先猜一猜**：损失衡量下一个词元预测得有多差，它会升高还是降低？回答里还会有巴黎（Paris）吗？
"""


# %% tags=["slow", "answer"]
def without_the_mask(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value)


plug_in(attention=without_the_mask)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The loss falls, from 3.08 to 1.46. Paris is gone, and the model only repeats the question.

</details>

By its loss, the broken model is the better one. In a finished text the next token stands there to be read off; when the model writes, it does not yet. A loss that is too good is a symptom; a push shows whether the mask is to blame.

A second merit of the mask is that a new token never moves those before it, so a model that writes can store their keys and values, in a **KV cache**.

## Heads

SmolLM2 handed your function one axis more than a batch, that of the *heads*. A word may want several things of its neighbors, and one row of weights gives one mixture. **Multi-head attention** therefore cuts queries, keys and values into slices of neighboring features; each head attends by itself, with the d of its slice. The results, side by side, go through one more matrix. Below, two heads by hand (`in_proj_weight` holds the three learned matrices):
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

损失降低了，从 3.08 降到 1.46。巴黎却没有了，模型只会把问题再念一遍。

</details>

只看损失，坏掉的模型反而更好。文本已经写完时，下一个词元就摆在那里，照抄就行；轮到模型自己写，最后一个词元后面什么也没有。损失好得过头，往往就是有毛病；要查是不是掩码的毛病，不必等训练完，推一下词元就知道。

掩码还有一个好处。新添的词元从不改变前面的内容，所以模型往下写时，可以把前面的键和值存起来，不必重算，这叫**键值缓存**（KV cache）。

## 多头

SmolLM2 传给你的函数的，除了批量轴还有一个轴，就是**头**（head）的轴。一个词想从别的词那里得到的可能不止一样，一行权重却只能给出一种混合。所以**多头注意力**（multi-head attention）把查询、键和值的特征按顺序切成几段，每一段是一个头，各自计算注意力，d 是一段的长度。各头的结果拼在一起，再乘一个矩阵。下面动手算两个头，与 torch 的层比较（三个矩阵在 torch 里叠成一个 `in_proj_weight`）：
"""

# %%
heads_layer = nn.MultiheadAttention(8, 2, batch_first=True)
x8 = torch.randn(3, 5, 8)  # (N, L, d)
q, k, v = F.linear(x8, heads_layer.in_proj_weight, heads_layer.in_proj_bias).chunk(3, -1)
halves = [scaled_dot_product_attention(q[..., s], k[..., s], v[..., s]) for s in (slice(0, 4), slice(4, 8))]
torch.testing.assert_close(heads_layer.out_proj(torch.cat(halves, -1)), heads_layer(x8, x8, x8)[0])
print(Text(en="two heads by hand = nn.MultiheadAttention", zh="动手算的两个头 = nn.MultiheadAttention"))

# %% [markdown] lang="en"
r"""
**Your turn, one line.** Give the heads an axis of their own, as SmolLM2's layer wants it. From x `(N, L, d)` make `(N, num_heads, L, d / num_heads)`; head 0 holds the first `d / num_heads` features of every token.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，用一行给头单独设一个轴，拼 SmolLM2 的一层时要用到。把形状为 `(N, L, d)` 的 x 变成 `(N, num_heads, L, d / num_heads)`；0 号头得到每个词元的前 `d / num_heads` 个特征。
"""


# %% tags=["exercise"]
def my_split_heads(x, num_heads):
    return ...


check("split_heads", my_split_heads)

# %% [markdown] lang="en"
r"""
Stuck? First make two axes of the last, then change their order. `view` alone cannot do both.

<details><summary>The idea</summary>

Features of one head lie side by side, so the last axis splits into heads and features, in this order. The heads then stand behind the positions, and have to change places with them.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？分两步，一步把最后一个轴拆成两个，一步调换轴的次序。单靠一个 `view`，办不成这两件事。

<details><summary>思路</summary>

同一个头的特征是相邻的，所以最后一个轴拆成“头、特征”，次序就是这样。这时头的轴还在位置轴后面，要与它交换。

</details>
"""


# %% tags=["solution"]
def solved_split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


check("split_heads", solved_split_heads, keep=False)

# %% [markdown] lang="en"
r"""
## A trained model

MiniLM, which turns sentences into vectors, has 6 layers of 12 heads, counted from 0, and no causal mask. It cuts a text into *word pieces* between `[CLS]` and `[SEP]`.

In layer 5, head 11, "it" looks at "cat" with weight 0.71. **Predict first.** Has this head found out what "it" means? Go there, then drag *row* over the other words.
"""

# %% [markdown] lang="zh"
r"""
## 训练好的模型

MiniLM 把句子变成向量。它有 6 层，每层 12 个头，都从 0 数起；没有因果掩码。它把文本切成**子词**（word piece，词或词的一部分），放在 `[CLS]` 和 `[SEP]` 之间。面板里那句英文的意思是“猫坐在垫子上，因为它（it）累了”。

在第 5 层的 11 号头里，“it”看“cat”的权重是 0.71。**先猜一猜**：这个头弄明白“it”指的是谁了吗？调到那一层的那个头，再把“行”拖到别的词上看看。
"""

# %% tags=["panel"]
reading = minilm_trace()
attention_map.panel(reading)

# %% tags=["answer"]
attention_map.panel(reading).still(layer=5, head=11)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It has hardly found that out. 12 of the 13 pieces look most at "cat" (dots), whose column has the mean 0.64.

Layer 3, head 1 is nearer to grammar. There "the" and "on" look at their nouns, "it" at "cat" (0.49; column mean 0.16).

</details>

**Before you read meaning into a weight, look at the other rows.** In this sentence, layer 0, head 2 looks one place to the left, whatever the word (`[CLS]` at itself).

## What you will meet elsewhere

In Keras, and in the `attention_mask` of Hugging Face's tokenizers, 1 takes part. A mask of numbers is *added* to the scores. Hugging Face's models often add 0 or the type's most negative number; 1 and 0, added, would hide nothing (*Going further: masks of numbers*).
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

它看来没有弄明白。13 个子词中有 12 个最关注“cat”（圆点），这一列的平均值就有 0.64。

第 3 层的 1 号头更接近语法，调过去看看，“the”和“on”看各自的名词，“it”看“cat”（0.49；这一列的平均值是 0.16）。

</details>

**要说一个权重有什么含义，先看看别的行**。在这句话里，第 0 层的 2 号头总是看左边一格，不管那里是什么词（`[CLS]` 看自己）。

## 在别处会遇到什么

Keras 的掩码，以及 Hugging Face 的分词器给出的 `attention_mask`，都用 1 表示参与。如果掩码是数，就会与得分**相加**。Hugging Face 的模型内部，常常加上 0，或者这种数据类型里最小的负数；要是把 1 和 0 加上去，就什么也挡不住（见“选读：数值掩码”）。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A layer of 12 heads reads 1000 tokens. How many attention weights are there? How many may differ from 0 under a causal mask?

<details><summary>Answer</summary>

12 · 1000² = 12000000. Under the mask the rows have 1, 2, … 1000: 500500 in all, times 12 is 6006000. Twice the tokens make about four times as many.

</details>

2. A network judges reviews by the mean output of a single attention. `nn.MultiheadAttention` is replaced by `F.scaled_dot_product_attention`; the padding mask is reshaped, its values stay. No error, but now all reviews without padding get the same verdict. Why?

<details><summary>Answer</summary>

The old True means hidden, the new one takes part, so each review sees its padding and nothing else. One without padding sees nothing, and attention, in torch's present version, gives zeros for all its tokens; this network has no path around attention. A `~` mends it.

</details>

3. Model A judges whether reviews are friendly, in batches. Model B completes code, one text at a time. Which mask does each need?

<details><summary>Answer</summary>

A needs only padding, because the whole review is there, and later words help. B needs only causal, because nothing is padded.

</details>

Below, 1 and 2.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 1000 个词元经过有 12 个头的注意力层。一共有多少个注意力权重？用因果掩码时，其中有多少个可以不为 0？

<details><summary>答案</summary>

12 · 1000² = 12000000 个。用因果掩码时，各行依次有 1、2……1000 个，共 500500 个，乘以 12 得 6006000 个。词元数翻倍，两个数都约为原来的四倍。

</details>

2. 一个网络只有一层注意力，按输出的均值判断评论。有人把 `nn.MultiheadAttention` 换成 `F.scaled_dot_product_attention`，填充掩码只改形状，不改值。没有报错，可是凡是没有填充的评论，判断结果都一样了。为什么？

<details><summary>答案</summary>

原来的 True 表示屏蔽，现在的 True 表示参与，所以每条评论看到的只有填充。没有填充的评论什么也看不到，现在的 torch 里，注意力给它的每个词元都输出零；这个网络里又没有别的路，评论的内容一点也传不过去。加一个 `~` 就好了。

</details>

3. 模型 A 成批地判断评论是好评还是差评；模型 B 补全代码，每次一段。它们各需要哪种掩码？

<details><summary>答案</summary>

A 只要填充掩码，因为整条评论都在，后面的词也有用。B 只要因果掩码，因为没有填充。

</details>

下一个单元格演示第 1 题和第 2 题。
"""

# %%
for length in (1000, 2000):
    print(length, 12 * length**2, 12 * causal_mask(length).sum().item())
old = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])  # (N, S)
for name, mask in {"old": old, "~old": ~old}.items():
    y = F.scaled_dot_product_attention(x, x, x, attn_mask=mask[0].expand(6, 6))
    print(f"{name:4} max |y| = {y.abs().max():.2f}")

# %% [markdown] lang="en"
r"""
## In short

* Attention averages values, with weights that each query shares out over the keys it may see.
* The mask decides who can move whom. One push proves it; errors seldom tell, and a loss may even look better.
* Heads are several attentions side by side, each on its slice of the features.

## Read next

* [Attention Is All You Need](https://arxiv.org/abs/1706.03762): sections 3.2.1 and 3.2.2 are this lesson.
* [nanoGPT's model.py](https://github.com/karpathy/nanoGPT/blob/master/model.py): causal attention in under fifty lines.
* [Transformer Explainer](https://poloclub.github.io/transformer-explainer/): GPT-2's heads on your own sentence, in the browser.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 注意力对值求加权平均，每个查询把权重分给掩码允许它看的那些键。
* 谁能影响谁，由掩码决定。推一下就能证明；程序很少报错，损失甚至会显得更好。
* 多头就是几个注意力并排，各用特征的一段。

## 接着读

* [Attention Is All You Need](https://arxiv.org/abs/1706.03762)：3.2.1 和 3.2.2 两节讲的就是这一课的内容。
* [nanoGPT 的 model.py](https://github.com/karpathy/nanoGPT/blob/master/model.py)：不到五十行写成的因果注意力。
* [Transformer Explainer](https://poloclub.github.io/transformer-explainer/)：在浏览器里看 GPT-2 的各个头怎样读你的句子。
"""

# %% [markdown] lang="en"
r"""
## Going further: you are the checker

`check` finds mistakes because its inputs were chosen to. Now choose them yourself. Write the arguments of a few calls, each `(query, key, value)` or `(query, key, value, mask)`, on which six wrong attentions give themselves away.
"""

# %% [markdown] lang="zh"
r"""
## 选读：由你来检查

`check` 能找出错误，是因为输入选得好。现在由你来选，写出几组参数，每组是 `(query, key, value)` 或 `(query, key, value, mask)`，让六个写错的注意力都露馅。
"""

# %% tags=["exercise"]
my_inputs = [...]

catch("attention", my_inputs)

# %% [markdown] lang="en"
r"""
Stuck? Each survivor is told with what would catch it. A mistake survives where two things that differ happen to be the same.

<details><summary>The idea</summary>

Let sizes be all different, with a batch axis in front and values unlike keys; that catches what looks at the wrong axis or tensor. Then a mask whose rows and columns say different things, as the causal one does.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？没有抓住的错误，都会说明怎样的输入能抓住它。两样不同的东西碰巧一样时，错误就会漏网。

<details><summary>思路</summary>

让各个轴的大小互不相同，前面加一个批量轴，值与键也不一样，这样就能抓住看错了轴或用错了张量的。再用一个行与列说法不同的掩码，因果掩码就是这样。

</details>
"""

# %% tags=["solution"]
solved_catch = [
    (torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)),
    (torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2), causal_mask(4)),
]

catch("attention", solved_catch)

# %% [markdown] lang="en"
r"""
## Going further: masks of numbers

nanoGPT, a GPT-2 in a few hundred lines, cuts its mask, on an old torch, from a large triangle of 1 and 0 named `bias`, although it is none. **Predict first.** Token 3 is pushed under each of these. Which hide the future?
"""

# %% [markdown] lang="zh"
r"""
## 选读：数值掩码

nanoGPT（用几百行代码写成的 GPT-2）在旧版 torch 上存着一个由 1 和 0 组成的大三角形，用时切下左上角；它取名 `bias`，其实不是偏置。**先猜一猜**：把下面三种掩码依次交给那个函数，再推动词元 3。哪一种能挡住后面的词元？
"""

# %% tags=["answer"]
bias = torch.ones(1024, 1024).tril()  # (T, T)
masks = {
    "bias": bias[:6, :6],
    "bias == 1": bias[:6, :6] == 1,
    "(1 - bias) * min": (1 - bias[:6, :6]) * torch.finfo(torch.float32).min,
}
for name, mask in masks.items():
    moved = which_move(lambda x, mask=mask: F.scaled_dot_product_attention(x, x, x, mask))
    print(f"{name:17}", Text(en="moves", zh="改变的输出"), moved)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

`bias == 1` and the additive one hide it, and 3, 4, 5 move. The bare `bias` does not, because numbers are added, and 1 or 0 more hides nothing.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

`bias == 1` 和相加的那一种能挡住，变的是 3、4、5。直接用 `bias` 挡不住，因为数会与得分相加，多加 1 或 0 什么也屏蔽不了。

</details>
"""

# %% [markdown] lang="en"
r"""
## Going further: tokens that are no words

`[CLS]` and `[SEP]` stand for no word. **Predict first.** Over all layers, heads and rows, how much attention do these two of 13 pieces get? (An even share would be 2/13, or 15%.)
"""

# %% [markdown] lang="zh"
r"""
## 选读：不代表词的词元

`[CLS]` 和 `[SEP]` 都不代表任何词。**先猜一猜**：把所有的层、头和行都算上，13 个子词中的这两个，一共得到多少注意力？（平均分配是 2/13，即 15%。）
"""

# %% tags=["answer"]
shares = reading.attention.mean((0, 1, 2))  # (S,)
for piece, share in zip(reading.pieces, shares.tolist(), strict=True):
    print(f"{piece:8} {share:.1%}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

In this sentence they get half of all attention, `[CLS]` 48.0% and `[SEP]` 3.5%.

</details>

So it is really `[CLS]`, an **attention sink**. In BERT, which is of MiniLM's kind, [Clark and others](https://arxiv.org/abs/1906.04341) saw many heads look mostly at `[CLS]` or `[SEP]`. [Xiao and others](https://arxiv.org/abs/2309.17453), who named the sink in language models, suggest why. A row's weights must sum to 1, so a head that finds nothing has to put them somewhere.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

在这句话里，它们得到全部注意力的一半，其中 `[CLS]` 48.0%，`[SEP]` 3.5%。

</details>

所以其实是 `[CLS]` 得到的。这样的词元叫作**注意力汇**（attention sink）。[Clark 等人](https://arxiv.org/abs/1906.04341)在与 MiniLM 同类的 BERT 里，就见过许多头主要看 `[CLS]` 或 `[SEP]`。在语言模型里给它命名的 [Xiao 等人](https://arxiv.org/abs/2309.17453)认为，每一行注意力权重之和必须是 1，所以一个头就算什么也没找到，也得把它们放到某处。
"""

# %% [markdown] lang="en"
r"""
## Going further: texts that see each other

`nn.MultiheadAttention`, unless told `batch_first=True`, reads `(L, N, d)`. Hand it `(N, L, d)`, and without an error the texts of a batch look at each other. It also returns weights, averaged over the heads, and computing these keeps it from its fast path; `need_weights=False` saves that.
"""

# %% [markdown] lang="zh"
r"""
## 选读：互相看到的文本

`nn.MultiheadAttention` 如果不写 `batch_first=True`，就把输入当作 `(L, N, d)`。要是传入的是 `(N, L, d)`，也不报错，同一小批量里的文本却互相看到了对方。它还会返回各个头平均之后的权重，为了算这些权重，它用不上较快的实现；写上 `need_weights=False`，就不算了。
"""

# %%
texts, default = torch.randn(2, 5, 4), nn.MultiheadAttention(4, 2)  # (N, L, d)
other = torch.cat([texts[:1], texts[1:] + 1])  # (N, L, d)
for name, module in {"batch_first=False": default, "batch_first=True": layer}.items():
    before, after = (module(x, x, x, need_weights=False)[0] for x in (texts, other))
    change = (after - before)[0].abs().max()
    print(f"{name:17}", Text(en="text 1 is pushed, text 0 moves by", zh="推动文本 1，文本 0 改变"), f"{change:.2f}")

# %% [markdown] lang="en"
r"""
Our Module gives the same outputs and averaged weights, under both masks at once:
"""

# %% [markdown] lang="zh"
r"""
我们的模块同时用上两种掩码，输出和平均之后的权重都与它相同：
"""

# %%
ours = MultiheadAttention(8, 2)
ours.load_state_dict(heads_layer.state_dict(), strict=True)
padding = torch.arange(5) >= torch.tensor([[5], [4], [2]])  # (N, L)
hidden = {"attn_mask": ~causal_mask(5), "key_padding_mask": padding}
torch.testing.assert_close(ours(x8, x8, x8, **hidden), heads_layer(x8, x8, x8, **hidden))
print(Text(en="blocklab's = torch's", zh="blocklab 的 = torch 的"))

# %% [markdown] lang="en"
r"""
## Going further: attention knows no order

Without a mask, shuffle the tokens, and the outputs are the same as before, shuffled alike. A sentence would be a bag of words. So the positions of lesson 10 have to be added, or the queries and keys rotated (lesson 11). **Predict first.** Does this hold with a causal mask, too?
"""

# %% [markdown] lang="zh"
r"""
## 选读：注意力不知道先后

不用掩码时，把词元打乱，输出还是那些，只是也同样打乱了，一句话就成了词袋（bag of words）。所以要加上第 10 课的位置编码，或者旋转查询和键（第 11 课）。**先猜一猜**：用因果掩码时，也是这样吗？
"""

# %% tags=["answer"]
order = torch.tensor([3, 0, 5, 1, 4, 2])
for causal in (False, True):
    y, shuffled = (F.scaled_dot_product_attention(z, z, z, is_causal=causal) for z in (x, x[order]))
    print(f"is_causal={causal!s:5} max |y[order] − shuffled| = {(y[order] - shuffled).abs().max():.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

No. With a causal mask the shuffled outputs are others, because each token now sees other tokens before it. Even without positions, such a model can tell orders apart.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不是这样。用因果掩码时，打乱之后的输出不一样了，因为排在每个词元前面的词元变了。所以即使没有位置编码，这样的模型也分得出先后。

</details>
"""

# %% [markdown] lang="en"
r"""
## Going further: who sees nobody

If a mask hides every key, the softmax is 0 / 0. `blocklab.attention` and `F.scaled_dot_product_attention` give zeros then. torch's `nn.MultiheadAttention` gives NaN if it also returns the weights, as it does by default. And a NaN spreads. In the next layer, a hidden key's NaN value times the weight 0 is NaN again. So every row of a mask should leave at least one key, if only the token's own.
"""

# %% [markdown] lang="zh"
r"""
## 选读：谁也看不到的词元

如果掩码屏蔽了所有的键，softmax 就成了 0 / 0。这时，`blocklab.attention` 和 `F.scaled_dot_product_attention` 给出零；torch 的 `nn.MultiheadAttention` 如果同时返回权重（默认如此），就给出 NaN。NaN 还会扩散，到了下一层，屏蔽掉的键权重是 0，但它的值是 NaN，相乘还是 NaN。所以掩码的每一行至少要留一个键，哪怕只是词元自己。
"""

# %%
scores = torch.tensor([[1.0, 2.0], [1.0, 2.0]])  # (L, S)
mask = torch.tensor([[True, False], [False, False]])
print("softmax", scores.masked_fill(~mask, -torch.inf).softmax(-1), sep="\n")
for name, attend in {"blocklab": scaled_dot_product_attention, "torch": F.scaled_dot_product_attention}.items():
    print(name, attend(scores, scores, scores, mask), sep="\n")
print("nn.MultiheadAttention", layer(x, x, x, attn_mask=sees)[0][-1].tolist())
print("1 · 5 + 0 · NaN =", (torch.tensor([1.0, 0.0]) @ torch.tensor([5.0, torch.nan])).item())
