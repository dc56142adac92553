# %% [markdown] lang="en"
r"""
# 10 Who may look at whom?

$$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}} + \text{mask}\right) V$$

LayerNorm, RMSNorm and the feed-forward network treat each token by itself. In **attention** each output is a weighted mean of the tokens' values; a **mask** says who may look at whom. PyTorch writes masks in two opposite ways, and the wrong one raises no error.

After this lesson you can compute attention by hand, say why √d is there, prove with one push what a mask does, and write masked attention. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 10 谁能看谁？

$$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}} + \text{mask}\right) V$$

层归一化、RMSNorm 和前馈网络都单独处理每个词元。在**注意力**（attention）里，每个输出都是各个值的加权平均；**掩码**（mask）规定谁能看谁。PyTorch 的掩码有两种相反的写法，写反了也不报错。

学完这一课，你能动手算注意力，能说出为什么要除以 √d，能推一下词元来证明掩码起了什么作用，还能写出带掩码的注意力。大约需要 20 分钟。
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from blocklab import MultiheadAttention, causal_mask, scaled_dot_product_attention
from blocklab.lessons import check
from blocklab.lessons.attention import attention_map, poke_one_token
from blocklab.real_models import minilm_reading

# %% [markdown] lang="en"
r"""
## Two questions first

1. SwiGLU's hidden width is 8d / 3, rounded up to a multiple of 256. How wide is it for d = 512?
2. On what does the dot product of two rows of lesson 07's table depend?

<details><summary>Answers</summary>

1. 8 · 512 / 3 = 1365.3, so 6 · 256 = 1536.
2. Only on how far apart the positions are.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. SwiGLU 的隐藏层宽度是 8d / 3，再向上取整到 256 的倍数。d = 512 时有多宽？
2. 第 07 课的位置编码表里，任意两行的点积取决于什么？

<details><summary>答案</summary>

1. 8 · 512 / 3 = 1365.3，所以是 6 · 256 = 1536。
2. 只取决于两个位置相距多远。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

Each token's features, times three learned matrices, give three vectors: a **query** (what it looks for), a **key** (what it is found by) and a **value** (what it passes on). They are the rows of Q, K and V; queries and keys have length d, here 2. A *score* is the dot product of a query and a key, divided by √d. The softmax turns each row of scores into *weights*: every score s becomes $e^s$, divided by the row's sum of these. In a row they are positive and sum to 1; they average the values. Three tokens:
"""

# %% [markdown] lang="zh"
r"""
## 动手算

每个词元的特征分别乘以三个训练得到的矩阵，得到三个向量：**查询**（query，它要找什么）、**键**（key，别人凭什么找到它）和**值**（value，它能提供什么）。它们分别是 Q、K、V 的行；d 是查询和键的长度，这里是 2。查询与键的点积除以 √d，就是**得分**（score）。softmax 把每一行得分变成**权重**（weight）：每个得分 s 先变成 $e^s$，再除以这一行所有这些数之和。所以每一行权重都是正数，和为 1；以它们为权重，对各个值求加权平均，就得到输出。下面是三个词元：
"""

# %%
query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])  # (L, d)
key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])  # (L, d)
value = torch.tensor([[10.0], [20.0], [30.0]])  # (L, 1)
scores = query @ key.mT / 2**0.5  # (L, L); .mT swaps the last two axes
weights = scores.softmax(-1)
torch.testing.assert_close(weights @ value, scaled_dot_product_attention(query, key, value))
print("weights", weights, sep="\n")
print("outputs", (weights @ value).flatten())

# %% [markdown] lang="en"
r"""
Row i of the weights shows where token i looks. Token 0 looks for the first feature; key 2 has most of it, so the output of token 0, 25.8, lies nearest to value 2, which is 30.

## Poke one token

Six words and two places of *padding*, `[PAD]`, which makes a sentence as long as the longest of its batch. A line joins a token to each output it takes part in; the thicker, the larger the weight. A push adds 1 to each feature of a token: orange outputs have changed. The map keeps every push, one column a token.

A *causal* mask lets each token see itself and those before it; to the other scores it adds −∞, so their weights are 0. **Predict first.** Token 3 is pushed under this mask: which outputs move? Choose, then set *mask* and drag *token* from 0 to 3. Leave *T and F* for later.
"""

# %% [markdown] lang="zh"
r"""
第 i 行权重表示词元 i 看向哪里。词元 0 要找的是第一个特征；键 2 里这个特征最大，所以词元 0 的输出 25.8 最接近 2 号值，即 30。

## 推一个词元

六个字，加上两个**填充**（padding）位置 `[PAD]`：填充把句子补到同一小批量中最长那句的长度。词元参与哪个输出的计算，就有一条线与那个输出相连；权重越大，线越粗。推动一个词元，就是给它的每个特征加 1，再全部重算：变了的输出显示为橙色。右边的图留下每次推动的结果，一个词元占一列。

**因果掩码**（causal mask）让每个词元只能看到自己和前面的词元；它给其余的得分加上 −∞，所以那些权重为 0。**先猜一猜**：用因果掩码，推动词元 3，哪些输出会变？先选好答案，再设好“掩码”，把“词元”从 0 拖到 3。“T/F 的含义”先不要动。
"""

# %% tags=["panel", "guess"]
poke_one_token.panel()

# %% [markdown] lang="en"
r"""
3 to 7: output i sees tokens 0 to i. Drag on to 7: the map is the whole mask. A model that learns to predict the next token needs it, or it could read the answer.

Now set *mask* to *padding* and push 6. Only its own output moves: the mask hides its key and value, not its query. (Outputs at padding are not used.)

**Your turn, one line.** Write the causal mask: a boolean tensor `(length, length)`, row = who looks, column = who is seen, True = takes part.
"""

# %% [markdown] lang="zh"
r"""
是 3 到 7：输出 i 看到词元 0 到 i。继续拖到 7，右边的图就画出了整个掩码。模型要学会预测下一个词元，就离不开它，否则直接就能看到答案。

再把“掩码”设为“填充”，推动词元 6：只有它自己的输出会变，因为掩码屏蔽了它的键和值，没有屏蔽它的查询。（填充位置的输出不会用到。）

**轮到你了**，只写一行：写出因果掩码。它是形状为 `(length, length)` 的布尔张量；行表示谁在看，列表示看谁，参与的地方为 True。
"""


# %% tags=["exercise"]
def my_causal_mask(length):
    return ...


check("causal_mask", my_causal_mask)


# %% tags=["solution"]
def solved_causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


check("causal_mask", solved_causal_mask)

# %% [markdown] lang="en"
r"""
## One mask, two polarities

| | True means |
|---|---|
| `F.scaled_dot_product_attention`: `attn_mask` | takes part |
| `nn.MultiheadAttention`: `attn_mask`, `key_padding_mask` | is hidden |

In this package, functions follow the first row; Modules, and torch's Transformer layers, the second. In the panel, set *token* to 7 and try both meanings of *T and F*: the letters come from the rule, colours from pushing. What takes part is orange; besides, padding moves its own output.

**Predict first.** The causal mask `sees` below is right for the function. Function and Module get `sees`, then `~sees` (True and False swapped); token 3 of six is pushed. Which outputs move in the four cases?
"""

# %% [markdown] lang="zh"
r"""
## 一个掩码，两种写法

| | True 表示 |
|---|---|
| `F.scaled_dot_product_attention`：`attn_mask` | 参与 |
| `nn.MultiheadAttention`：`attn_mask`、`key_padding_mask` | 屏蔽 |

在本课程的包里，函数与第一行一致，模块与第二行一致；torch 的 Transformer 层也与第二行一致。在上面的面板里把“词元”拖到 7，再把“T/F 的含义”依次设为两种写法：T 和 F 按规则算出，颜色由推动词元得出。参与的格子都是橙色；此外，推动填充位置时，那个位置自己的输出也会变。

**先猜一猜**：下面的 `sees` 是按函数的写法写出的因果掩码。函数和模块都先用 `sees`，再用 `~sees`（True 和 False 互换），每次推动六个词元中的词元 3。这四种情形里，各有哪些输出会变？
"""

# %%
x, sees = torch.randn(6, 4), causal_mask(6)  # (L, d), (L, L)
layer = nn.MultiheadAttention(4, 2, batch_first=True)


def which_move(attend, token=3):
    pushed = x.clone()
    pushed[token] += 1
    return ((attend(pushed) - attend(x)).abs().amax(-1) > 1e-6).nonzero().flatten().tolist()


print("function,  sees", which_move(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=sees)))
print("function, ~sees", which_move(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=~sees)))
print("Module,    sees", which_move(lambda x: layer(x, x, x, attn_mask=sees)[0]))
print("Module,   ~sees", which_move(lambda x: layer(x, x, x, attn_mask=~sees)[0]))

# %% [markdown] lang="en"
r"""
With the wrong polarity a token sees only those *after* it; token 3 moves outputs 0, 1, 2 and, by its own query, 3. No error: the push is the test.

## Why √d?

A dot product is a sum of d terms. If the features of queries and keys are independent, with mean 0 and variance 1, each term has variance 1; the sum has variance d and standard deviation √d. **Predict first:** 8 such keys, d = 1024, no division by √d: how large is a query's largest weight on average? And how large is p(1 − p), the rate at which a weight p changes with its own score?
"""

# %% [markdown] lang="zh"
r"""
掩码反了，词元就只能看到**后面**的词元；推动词元 3，变的是输出 0、1、2，还有输出 3，因为它自己的查询变了。程序没有报错，推一下才知道。

## 为什么除以 √d？

点积是 d 项之和。如果查询和键的各个特征相互独立，均值为 0，方差为 1，那么每一项的方差都是 1，总和的方差就是 d，标准差是 √d。**先猜一猜**：有 8 个这样的键，d = 1024，不除以 √d，那么每个查询的最大权重平均有多大？p(1 − p)，也就是权重 p 对自己的得分的导数，又有多大？
"""

# %%
print("   d            std of the scores   largest weight p: mean   p(1 − p): median")
for d in (4, 64, 1024):
    query, key = torch.randn(1000, 1, d), torch.randn(1000, 8, d)
    products = (query @ key.mT).squeeze(1)  # (1000, 8)
    for name, scores in {"unscaled": products, "scaled": products / d**0.5}.items():
        p = scores.softmax(-1).amax(-1)  # (1000,)
        print(f"{d:4}  {name:8} {scores.std():18.1f} {p.mean():24.2f} {(p * (1 - p)).median():18.6f}")

# %% [markdown] lang="en"
r"""
0.97: the softmax is *saturated*, like tanh in lesson 01. A weight p changes with its own score at the rate p(1 − p): here, for most queries, nearly 0. So they get hardly any gradient. Divided by √d, such scores have standard deviation 1, whatever d.

## Heads

**Multi-head attention** cuts queries, keys and values into slices of neighbouring features, the *heads*; each attends by itself, and d in √d is the length of a slice. The results, side by side, go through one more matrix. Two heads by hand; then our layer beside torch's, with the same parameters and both masks:
"""

# %% [markdown] lang="zh"
r"""
是 0.97：softmax **饱和**了，就像第 01 课里的 tanh。权重 p 对自己的得分的导数是 p(1 − p)。这里，对大多数查询来说，它几乎为 0，所以这些查询几乎得不到梯度。除以 √d 之后，不论 d 是多少，这样的得分标准差都是 1。

## 多头

**多头注意力**（multi-head attention）把查询、键和值的特征都按顺序切成几段，每一段是一个**头**（head）。每个头各自计算注意力，√d 里的 d 是一段的长度。各头的结果拼在一起，再乘一个矩阵。下面先动手算两个头；再把 torch 那一层的参数装进我们的层，加上两种掩码，比较两者的结果：
"""

# %%
theirs, ours = nn.MultiheadAttention(8, 2, batch_first=True), MultiheadAttention(8, 2)
ours.load_state_dict(theirs.state_dict(), strict=True)
x8 = torch.randn(3, 5, 8)  # (N, L, d)
q, k, v = F.linear(x8, theirs.in_proj_weight, theirs.in_proj_bias).chunk(3, -1)  # the three matrices are stacked
heads = [scaled_dot_product_attention(q[..., s], k[..., s], v[..., s]) for s in (slice(0, 4), slice(4, 8))]
torch.testing.assert_close(theirs.out_proj(torch.cat(heads, -1)), theirs(x8, x8, x8)[0])
padding = torch.arange(5) >= torch.tensor([[5], [4], [2]])  # (N, L), for lengths 5, 4 and 2
hidden = {"attn_mask": ~causal_mask(5), "key_padding_mask": padding}
names = ("outputs", "weights, mean over heads")
for name, got, wanted in zip(names, ours(x8, x8, x8, **hidden), theirs(x8, x8, x8, **hidden), strict=True):
    torch.testing.assert_close(got, wanted)
    print(name, tuple(got.shape))

# %% [markdown] lang="en"
r"""
## A trained model

MiniLM turns sentences into vectors: 6 layers of 12 heads, counted from 0, no causal mask. It cuts a text into *word pieces* (words or parts of words), between `[CLS]` and `[SEP]`.

In layer 5, head 11, "it" looks at "cat" with weight 0.71. **Predict first:** has this head found out what "it" stands for? Go there, then drag *row* over the other words.
"""

# %% [markdown] lang="zh"
r"""
## 训练好的模型

MiniLM 把句子变成向量。它有 6 层，每层 12 个头，都从 0 数起；没有因果掩码。它把文本切成**子词**（word piece，整个词或词的一部分），放在 `[CLS]` 和 `[SEP]` 之间。面板里那句英文的意思是：猫坐在垫子上，因为它（it）累了。

在第 5 层的 11 号头里，“it”看“cat”的权重是 0.71。**先猜一猜**：这个头弄明白“it”指的是谁了吗？调到那一层的那个头，再把“行”拖到别的词上看看。
"""

# %% tags=["panel"]
reading = minilm_reading()
attention_map.panel(reading)

# %%
for layer_number, head in ((5, 11), (0, 2), (3, 1)):  # row→where it looks most
    most = reading.attention[layer_number, head].argmax(-1).tolist()
    pairs = [f"{piece}→{reading.pieces[j]}" for piece, j in zip(reading.pieces, most, strict=True)]
    print(f"layer {layer_number}, head {head}:", *pairs)

# %% [markdown] lang="en"
r"""
Hardly: 12 of the 13 pieces look most at "cat"; that column's mean is 0.64. **Before you read meaning into a weight, look at the other rows.** Layer 0, head 2 looks one place to the left, whatever the word. Layer 3, head 1 is nearer to grammar: "the" and "on" look at their nouns, "it" at "cat" (0.49; column mean 0.16). For your own sentence, write `minilm_reading("…")` above.

And who gets most attention of all, over all layers, heads and rows?
"""

# %% [markdown] lang="zh"
r"""
看来没有：13 个子词里有 12 个最关注“cat”，这一列的平均值就有 0.64。**要说一个权重有什么含义，先看看别的行**。第 0 层的 2 号头总是看左边一格，不管那里是什么词。第 3 层的 1 号头更接近语法：“the”和“on”看各自的名词，“it”看“cat”（0.49；这一列的平均值是 0.16）。想看自己的英文句子，就在上面写 `minilm_reading("…")`。

把所有的层、头和行都算上，谁得到的注意力最多？
"""

# %%
shares = reading.attention.mean((0, 1, 2))  # (S,)
for place in shares.argsort(descending=True)[:3].tolist():
    print(f"{reading.pieces[place]:6} {shares[place]:.0%}")

# %% [markdown] lang="en"
r"""
`[CLS]`, which stands for no word: nearly half of all attention. Such tokens are called *attention sinks*. A likely reason: a head that finds nothing to its purpose still has to spend its weights somewhere.

## Exercise: attention

Write it. L queries meet S keys, each key with its value: query is `(*, L, d)`, key `(*, S, d)`, value `(*, S, d_v)`; `*` stands for any axes before, such as batch and heads. `mask` is `None` or boolean and broadcasts to `(*, L, S)`: True takes part. (Advice goes beyond this exercise.)
"""

# %% [markdown] lang="zh"
r"""
是 `[CLS]`，它不代表任何词，却得到将近一半的注意力。这样的词元叫作**注意力汇**（attention sink）。可能的原因是：一个头找不到它要的东西，权重也总得有个去处。

## 练习：注意力

请把它写出来。有 L 个查询；有 S 个键，每个键对应一个值。query 的形状是 `(*, L, d)`，key 是 `(*, S, d)`，value 是 `(*, S, d_v)`；`*` 表示前面任意多个轴，例如批量轴和头的轴。`mask` 是 `None`，或者是能广播到 `(*, L, S)` 的布尔张量：True 表示参与。（答对之后也可能收到建议，那些建议超出了本练习的要求。）
"""


# %% tags=["exercise"]
def my_attention(query, key, value, mask=None):
    return ...


check("attention", my_attention)

# %% [markdown] lang="en"
r"""
Stuck? Start from *By hand*. `masked_fill` writes a number where its own mask is True: which, to get weight 0? The solutions are folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？从“动手算”一节出发。`masked_fill` 在自己的掩码为 True 的地方填入一个数：填什么数，权重才为 0？参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


check("attention", solved_attention)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. 1000 tokens go through attention with 12 heads. How many attention weights are there? How many may differ from 0 under a causal mask?

<details><summary>Answer</summary>

12 · 1000² = 12000000. Under the mask the rows have 1, 2, … 1000: 500500 in all, times 12 is 6006000. Twice the tokens: about four times as many.

</details>

2. A model learns to predict the next token. Its loss soon falls close to 0, and what it writes is nonsense. What do you suspect, and which push shows it?

<details><summary>Answer</summary>

It sees the token to be predicted: the causal mask is missing or inverted. Push the last token: no other output may move. (Inverted, the last token sees nobody: only its own output stays.)

</details>

3. Model A judges whether reviews are friendly, in batches. Model B completes code, one text at a time. Which mask does each need?

<details><summary>Answer</summary>

A only padding: the whole review is there, and later words help. B only causal: nothing is padded.

</details>

The next cell counts, then pushes the last of six tokens.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 1000 个词元经过有 12 个头的注意力层。一共有多少个注意力权重？用因果掩码时，其中有多少个可以不为 0？

<details><summary>答案</summary>

12 · 1000² = 12000000 个。用因果掩码时，各行依次有 1、2……1000 个，共 500500 个，乘以 12 得 6006000 个。词元数翻倍，两个数都约为原来的四倍。

</details>

2. 有个模型学习预测下一个词元，损失很快就降到接近 0，写出来的却是胡言乱语。你怀疑什么？推动哪个词元能看出来？

<details><summary>答案</summary>

它看到了要预测的词元：漏了因果掩码，或者掩码写反了。推动最后一个词元：其他输出都不应改变。（掩码反了，最后一个词元谁也看不到，只有它自己的输出不变。）

</details>

3. 模型 A 成批地判断评论是好评还是差评；模型 B 补全代码，每次一段。它们各需要哪种掩码？

<details><summary>答案</summary>

A 只要填充掩码：整条评论都在，后面的词也有用。B 只要因果掩码：没有填充。

</details>

下一个单元格数出权重的个数，再推动六个词元中的最后一个。
"""

# %%
for length in (1000, 2000):
    print(f"{length} tokens: {12 * length**2} weights, causal {12 * causal_mask(length).sum()}")
print("no mask", which_move(lambda x: F.scaled_dot_product_attention(x, x, x), token=5))
print("   sees", which_move(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=sees), token=5))
print("  ~sees", which_move(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=~sees), token=5))

# %% [markdown] lang="en"
r"""
**In one line:** attention averages the values that the mask lets a token see; no other token can move its output, and one push proves it.

## Going further: all heads at once

Instead of slices in a loop, give the heads an axis of their own. From x `(N, L, d)` make `(N, num_heads, L, d / num_heads)`; head 0 holds the first `d / num_heads` features of every token.
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：掩码规定一个词元能看到谁，注意力把看到的值加权平均；它看不到的其他词元改变不了它的输出，推一下就能证明。

## 选读：所有的头一起算

这次不用循环切片，而是给头单独设一个轴。把形状为 `(N, L, d)` 的 x 变成 `(N, num_heads, L, d / num_heads)`；0 号头得到每个词元的前 `d / num_heads` 个特征。
"""


# %% tags=["exercise"]
def my_split_heads(x, num_heads):
    return ...


check("split_heads", my_split_heads)


# %% tags=["solution"]
def solved_split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


check("split_heads", solved_split_heads)

# %% [markdown] lang="en"
r"""
## Going further: attention knows no order

Without a mask, shuffle the tokens, and the outputs are the same as before, shuffled alike: a sentence would be a bag of words. So the positions of lesson 07 have to be added, or the queries and keys rotated. With a causal mask this no longer holds:
"""

# %% [markdown] lang="zh"
r"""
## 选读：注意力不知道先后

不用掩码时，把词元打乱，输出还是那些，只是也同样打乱了：一句话就成了词袋（bag of words）。所以要加上第 07 课的位置编码，或者旋转查询和键。用因果掩码时，输出就不再只是打乱了次序：
"""

# %%
order = torch.tensor([3, 0, 5, 1, 4, 2])
for causal in (False, True):
    y, shuffled = (F.scaled_dot_product_attention(z, z, z, is_causal=causal) for z in (x, x[order]))
    print(f"causal {causal!s:5}  shuffled alike {torch.allclose(y[order], shuffled, atol=1e-6)}")

# %% [markdown] lang="en"
r"""
## Going further: who sees nobody

If a mask hides every key, the softmax is 0 / 0. `blocklab.attention` and `F.scaled_dot_product_attention` give zeros then. torch's `nn.MultiheadAttention` gives NaN if it also returns the weights, as it does by default. And a NaN spreads: in the next layer, a hidden key's NaN value times the weight 0 is NaN again. So every row of a mask should leave at least one key, if only the token's own.
"""

# %% [markdown] lang="zh"
r"""
## 选读：谁也看不到的词元

如果掩码屏蔽了所有的键，softmax 就成了 0 / 0。这时，`blocklab.attention` 和 `F.scaled_dot_product_attention` 给出零；torch 的 `nn.MultiheadAttention` 如果同时返回权重（默认如此），就给出 NaN。NaN 还会扩散：到了下一层，屏蔽掉的键权重是 0，但它的值是 NaN，相乘还是 NaN。所以掩码的每一行至少要留一个键，哪怕只是词元自己。
"""

# %%
scores = torch.tensor([[1.0, 2.0], [1.0, 2.0]])  # (L, S)
mask = torch.tensor([[True, False], [False, False]])
print("softmax", scores.masked_fill(~mask, -torch.inf).softmax(-1), sep="\n")
for name, attend in {"ours": scaled_dot_product_attention, "torch": F.scaled_dot_product_attention}.items():
    print(name, attend(scores, scores, scores, mask), sep="\n")
print("Module, last token sees nobody:", layer(x, x, x, attn_mask=sees)[0][-1].tolist())
print("1 · 5 + 0 · NaN =", (torch.tensor([1.0, 0.0]) @ torch.tensor([5.0, torch.nan])).item())
