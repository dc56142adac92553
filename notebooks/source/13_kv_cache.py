# %% [markdown] lang="en"
r"""
# 13 What does one more token cost?

Llama 2 7B and Falcon 7B are equally large. While each writes a text of 2048 tokens, the first keeps, in 2-byte numbers, 1 GiB beside its weights, the second 16 MiB. What is it, and why 64 times as much?

The layers of lesson 12 are complete, but for each new token a model of them reads the whole text anew. It need not: keys and values can be kept, in a **KV cache**.

After this lesson you can say what one more token costs in arithmetic, bytes and time, write attention with a cache, and find bugs that ruin a model's answers and leave its loss as it is. It takes about 45 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 13 多生成一个词元，要花多少？

Llama 2 7B 和 Falcon 7B 一样大。同样生成一段 2048 个词元的文本，权重以外，前者还要存 1 GiB，后者只要 16 MiB（每个数 2 字节）。它们存的是什么？为什么一个是另一个的 64 倍？

第 12 课拼好了完整的层，可是用它们搭成的模型，每生成一个词元都要把全文重读一遍。其实不必：把键和值存起来就行，这就是**键值缓存**（KV cache）。

学完这一课，你能从运算、字节和时间三方面说出多一个词元的代价，能写出带缓存的注意力，还能找出一类特别的错误：损失纹丝不动，回答却毁了。大约需要 45 分钟，选读另计。
"""

# %%
import torch

from blocklab import KeyValueCache, cached_attention, rotary_embedding, scaled_dot_product_attention
from blocklab_course import checked_or_reference, check, plug_in
from blocklab_course.lessons.kv_cache import broken_caches, cache_size, one_step, speeds
from blocklab_course.pretrained import skip_if_missing, load_glassllm
from blocklab_course.pretrained.prompts import ALICE

# %% [markdown] lang="en"
r"""
## Two questions first

1. RMSNorm, attention, SwiGLU: in which of them does a token meet others?
2. Of tokens 0 to 7, number 5 is changed. Which outputs stay as they are under the causal mask?

<details><summary>Answers</summary>

1. Only in attention. All else works on each token alone.
2. Outputs 0 to 4, because they do not see token 5.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. RMSNorm、注意力、SwiGLU，哪一个会让词元之间互相影响？
2. 词元 0 到 7，用因果掩码。改动词元 5，哪些输出不变？

<details><summary>答案</summary>

1. 只有注意力。其他部件都单独处理每个词元。
2. 输出 0 到 4，因为它们看不到词元 5。

</details>
"""

# %% [markdown] lang="en"
r"""
## Full against cached

A model that writes predicts a token, appends it, and begins again. Here are six tokens in one attention layer, rotated as in lesson 11, with four heads of queries and two of keys and values, each for two queries' heads (`enable_gqa`). `full` takes all at once, `cached` one after the other, with query, key and value of the new token only; the cache gives back the earlier ones.

**Predict first.** How far apart are the outputs: only rounding, about a thousandth, or are they completely different?
"""

# %% [markdown] lang="zh"
r"""
## 全部重算与缓存

模型生成文本，是预测下一个词元，把它接上，再从头来。下面是一层注意力里的六个词元，位置像第 11 课那样用旋转表示；查询有四个头，键和值只有两个，每个给两个查询头共用（`enable_gqa`）。`full` 一次处理全部六个。`cached` 一个一个来，每次只算新词元的查询、键和值，前面的键和值由缓存给出。

**先猜一猜**：两种输出相差多少？只有舍入误差，差千分之一左右，还是完全不同？
"""

# %% tags=["answer"]
x = torch.randn(1, 6, 16, dtype=torch.float64)  # (N, L, d)
matrices = [torch.randn(16, width, dtype=torch.float64) / 4 for width in (16, 8, 8)]


def project(x, first=0):
    q, k, v = ((x @ W).unflatten(-1, (-1, 4)).transpose(1, 2) for W in matrices)
    places = torch.arange(first, first + x.shape[1])
    return rotary_embedding(q, places), rotary_embedding(k, places), v


full = scaled_dot_product_attention(*project(x), is_causal=True, enable_gqa=True)
cache = KeyValueCache()
cached = torch.cat([cached_attention(*project(x[:, i : i + 1], i), cache) for i in range(6)], 2)
print("full  ", full[0, 0, -1], "\ncached", cached[0, 0, -1])
print(f"{bool((full - cached).abs().max() < 1e-12) = }")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only rounding is left: less than $10^{-12}$ in float64.

</details>

In a stack of layers it holds as well, because what earlier tokens send to the next layer never changes. So keys and values are made once. Queries need not be kept, because an old one would only ask again.

## What one step computes

Reading the prompt is called **prefill**, writing after it **decode**. An orange cell is a score of a query (row) with a key (column), computed in this step; blue keys and values come from the cache.

**Predict first.** A prompt has 4 tokens. By step 6, without a cache, 49 tokens (4 to 10, added up) have passed through all matrices. How many with one? Drag the framed row.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有舍入误差：在 float64 里不到 $10^{-12}$。

</details>

很多层叠起来也一样，因为有因果掩码，前面的词元传给下一层的内容从不改变。所以在每一层里，一个词元的键和值只要算一次，以后一直有效。查询不必存，因为拿旧的查询再算一遍，结果还是原来的输出。

## 一步要算什么

读提示叫作**预填充**（prefill），之后一个一个地写叫作**解码**（decode）。每个橙色格子是一个得分，由查询（行）和键（列）在这一步算出，灰色格子以前算过；蓝色的键和值来自缓存。

**先猜一猜**：提示有 4 个词元。不用缓存，到步骤 6 时一共有 49 个词元经过了全部矩阵（从 4 加到 10）。用缓存呢？拖动带框的那一行看看。
"""

# %% tags=["panel", "answer"]
one_step.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

10: 4 of the prompt and 6 in steps.

</details>

So behind the prompt n new tokens send n through the matrices, instead of more than n²/2. Their scores still grow like n², instead of n³. Prefill fills a triangle. A decode step is the last row, which sees everything, so it needs no mask. When several tokens come behind a past, the triangle has to end at the *lower right*: of S positions, new token i of L sees up to S − L + i. In code: `torch.ones(L, S, dtype=torch.bool).tril(S - L)`.

## What a token leaves behind

For each token every layer keeps a key and a value, in each head that it has for these. There may be fewer than for queries: SmolLM2 has 30 layers, 9 heads of queries and 3 of keys and values, each of 64 numbers.

**Your turn, one line.** How many bytes does one token leave behind? `bytes_each` is the size of one number, 2 in bfloat16.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

10 个：提示的 4 个，再加上 6 步各一个。

</details>

所以提示之后，n 个新词元经过矩阵只有 n 次，不用缓存则超过 n²/2 次。得分增长得更快：用缓存按 n² 增长，不用缓存按 n³ 增长。

预填充要算整个三角形。解码的每一步只算最后一行，这一行能看到所有位置，用不着掩码。如果在已有的词元后面一次送来几个，三角形就必须与**右下角**对齐：一共 S 个位置，L 个新词元在最后，第 i 个新词元能看到第 S − L + i 个位置为止。写成代码是 `torch.ones(L, S, dtype=torch.bool).tril(S - L)`。

## 一个词元要存多少

每个词元在每一层、每个键值头里留下一个键和一个值。键值头可以比查询头少：SmolLM2 有 30 层，9 个查询头，3 个键值头，每个头 64 个数。

**轮到你了**，只写一行：一个词元要存多少字节？`bytes_each` 是一个数的字节数，bfloat16 是 2。
"""


# %% tags=["exercise"]
def my_cache_bytes(layers, heads, kv_heads, head_dim, bytes_each):
    return ...


check("cache_bytes", my_cache_bytes)

# %% [markdown] lang="en"
r"""
Stuck? Count the keys of one layer first.

<details><summary>The idea</summary>

In one layer the keys are `kv_heads` vectors of `head_dim` numbers. Values take as much again, in every layer: 23040 bytes for SmolLM2.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先数一层里的键。

<details><summary>思路</summary>

一层里的键是 `kv_heads` 个向量，各有 `head_dim` 个数；值也有这么多，而且每一层都有自己的。SmolLM2 算出来是 23040 字节。

</details>
"""


# %% tags=["solution"]
def solved_cache_bytes(layers, heads, kv_heads, head_dim, bytes_each):
    return 2 * layers * kv_heads * head_dim * bytes_each


check("cache_bytes", solved_cache_bytes, keep=False)

# %% [markdown] lang="en"
r"""
## Whose cache is larger?

On the left are the heads of one layer. If each of the queries' heads has one of keys and values, that is *multi-head attention* (MHA); if neighbors share one, **grouped-query attention** (GQA); if all do, **multi-query attention** (MQA). Touch a model's name.

**Predict first.** Llama 3.1 70B has ten times the parameters of Llama 2 7B, and 80 layers instead of 32. How large is its cache, compared with the other's?
"""

# %% [markdown] lang="zh"
r"""
## 谁的缓存更大？

左边是一层里的头。每个查询头都有自己的键值头，就是多头注意力（MHA）；相邻的几个查询头共用一个，叫作**分组查询注意力**（grouped-query attention，GQA）；全部共用一个，叫作**多查询注意力**（multi-query attention，MQA）。右边的模型，点名字就能选中。

**先猜一猜**：Llama 3.1 70B 的参数是 Llama 2 7B 的十倍，层数是 80，不是 32。同一段文本，它的缓存是后者的几倍？
"""

# %% tags=["panel", "guess"]
cache_size.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Smaller: 327680 bytes a token against 524288, because 8 heads are kept instead of 32.

</details>

Falcon's 71 heads of queries share one of 64 numbers; Llama 2 7B keeps 32 of 128, in as many layers. 32 · 128 / 64 = 64 answers our first question.

Drag *model* to the end and choose *MHA*: what a bar has beyond its blue stroke is saved by sharing (32 times from one grid line to the next). **MLA** (multi-head latent attention) in DeepSeek-V3 keeps one vector of 512 numbers, from which 128 heads make keys and values, and 64 for position. SmolLM2 and Falcon keep less than that already.

With a **sliding window** 52 of Gemma 3 27B's 62 layers keep only the last 1024 tokens. With 131072 *tokens* and the window on, 62 GiB become 10.4.

## What limits a step

A step of Llama 3.1 8B reads the cache and all weights; of the input embedding, a row. In bfloat16 a weight has 2 bytes and takes part in 2 operations for each of B texts written together: B operations a byte. A kept number does so for the h / g queries that share it: h / g a byte. While it reads a byte, an H100 can do nearly 300 (989 · 10¹² a second, against 3350 · 10⁹ bytes). B and h / g are mostly far below that, so decode waits for memory.

**Predict first.** It writes at 8192 tokens. With 32 texts at once, which reading becomes cheaper per token: weights, cache, both?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

更小：每个词元 327680 字节，后者是 524288 字节，因为每层只存 8 个头，不是 32 个。

</details>

Falcon 的 71 个查询头共用一个 64 个数的键值头；Llama 2 7B 存 32 个头，各 128 个数，层数一样。32 · 128 / 64 = 64，开头的问题就有了答案。

把“模型”拖到最后，再选“MHA”：条形超出蓝线的部分，就是共用省下的（横轴每过一格是 32 倍）。DeepSeek-V3 用的**多头潜在注意力**（multi-head latent attention，MLA）只存一个 512 个数的向量，128 个头都由它算出自己的键和值，另外还有 64 个数表示位置。SmolLM2 和 Falcon 存的本来就更少。

**滑动窗口**（sliding window）是另一种限制。Gemma 3 27B 的 62 层里，有 52 层只看最后 1024 个词元，更早的就丢掉。把“词元数”设为 131072，再打开窗口，62 GiB 就变成 10.4 GiB。

## 一步受什么限制

Llama 3.1 8B 每一步都要读缓存，还要读全部权重，只是输入的词嵌入读一行就够。用 bfloat16，一个权重占 2 字节，对同时生成的 B 段文本各做 2 次运算，所以每字节 B 次。缓存里的每个数由 h / g 个查询头共用，也是这样，所以每字节 h / g 次。读一个字节的时间里，H100 能做将近 300 次运算（每秒 989 · 10¹² 次，除以 3350 · 10⁹ 字节）。B 和 h / g 通常远小于这个数，所以解码大多在等显存。

**先猜一猜**：它已经写到 8192 个词元。同时生成 32 段文本，平均到每个词元，哪一种读取变少了：权重、缓存，还是两者都变少？
"""

# %% tags=["answer"]
cache_bytes = checked_or_reference("cache_bytes", my_cache_bytes)
weights, embedding, kept = 2 * 8.03e9, 2 * 128256 * 4096, 8192 * cache_bytes(32, 32, 8, 128, 2)
speeds.show_traffic((1, 8, 32), weights - embedding, kept, shared=32 // 8)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only the weights, read once for all texts. Each text has its own cache.

</details>

One more token, alone, costs 19.3 · 10⁹ operations, 16 GB of reading and at least 4.8 ms. A step of 32 texts takes three times as long; computing alone would take less than a twentieth of that.

## Exercise: attention with a cache

Write one step, which hands on what is to be kept. `query` is `(N, h, L, d)`, `key` and `value` are `(N, g, L, d)`, of the L new tokens, rotated already; `past_keys` and `past_values` are `(N, g, P, d)`, with P = 0 at the prompt. h is a multiple of g. Return the outputs `(N, h, L, d)` and all keys and values, `(N, g, P + L, d)`, which the next call gets as its past. New token i sees everything up to itself.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有权重：读一次，供所有文本用。缓存则是每段文本各有一份。

</details>

所以单独一段，多一个词元要做 19.3 · 10⁹ 次运算，读 16 GB，至少 4.8 ms。32 段一起，一步约为三倍时间，只算运算还不到它的二十分之一。

## 练习：带缓存的注意力

请写出解码的一步：函数返回要保存的键和值，下次调用时再传进来。`query` 的形状是 `(N, h, L, d)`，`key` 和 `value` 是 `(N, g, L, d)`，都属于 L 个新词元，已经旋转过；`past_keys` 和 `past_values` 是 `(N, g, P, d)`，读提示时 P = 0。h 是 g 的倍数。请返回输出 `(N, h, L, d)`，以及全部的键和值 `(N, g, P + L, d)`，下一次调用就把它们当作过去的键和值。每个新词元能看到它自己和它前面的所有位置。
"""


# %% tags=["exercise"]
def my_cached_attention(query, key, value, past_keys, past_values):
    return ...


check("cached_attention", my_cached_attention)

# %% [markdown] lang="en"
r"""
Stuck? Append, share, mask, mix.

<details><summary>The idea</summary>

New keys and values go behind the old ones along axis 2. For four heads of queries repeat heads 0, 1 of keys in place, 0, 0, 1, 1 (`repeat_interleave`), but return the two. The mask, boolean, is the triangle at the lower right.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？按这个次序来：接上，共用，掩码，加权求和。

<details><summary>思路</summary>

位置是轴 2，所以新的键和值就沿这个轴接在旧的后面。查询有四个头、键有 0 和 1 两个头时，键要排成 0、0、1、1，`repeat_interleave` 就是这样做的；返回的还是两个头，不是四个。掩码是与右下角对齐的三角形，布尔型。

</details>
"""


# %% tags=["solution"]
def solved_cached_attention(query, key, value, past_keys, past_values):
    keys, values = torch.cat([past_keys, key], 2), torch.cat([past_values, value], 2)
    L, S, n_rep = query.shape[2], keys.shape[2], query.shape[1] // keys.shape[1]
    mask = torch.ones(L, S, dtype=torch.bool).tril(S - L)
    every_key, every_value = (x.repeat_interleave(n_rep, 1) for x in (keys, values))
    return scaled_dot_product_attention(query, every_key, every_value, mask), keys, values


check("cached_attention", solved_cached_attention, keep=False)

# %% [markdown] lang="en"
r"""
## Your cache in the chat model

SmolLM2's 30 layers now keep what your function hands on, and the loss is measured with it:
"""

# %% [markdown] lang="zh"
r"""
## 你的缓存，装进聊天模型

现在让 SmolLM2 来回答，30 层里保存的都是你的函数返回的内容，损失也用它来测（这个模型只懂英语）：
"""

# %% tags=["slow"]
plug_in(cached_attention=my_cached_attention)

# %% [markdown] lang="en"
r"""
torch's `is_causal=True` puts the triangle at the upper left. At the prompt that is right.

**Predict first.** The loss is measured with this function on a finished text, read at once. Does it rise, fall or stay? And the answer?
"""

# %% [markdown] lang="zh"
r"""
torch 的 `is_causal=True` 把三角形放在左上角。读提示时，这样没错。

**先猜一猜**：损失也用这个函数来测：一次读完一段现成的文本。它会升高、降低，还是不变？回答呢？
"""

# %% tags=["slow", "answer"]
plug_in(cached_attention=broken_caches.triangle_upper_left)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The loss stays at 3.08, and the answer is "The" and then nothing but hyphens.

</details>

The first new token comes out of the prefill and is right; the others see position 0 alone. A text that is read at once is all prefill, so its loss cannot tell.

## Seven mistakes, and what each does

All these run without an error. So glassllm reads a text twice, at once and with its second half in steps, and shows both losses on that half and how far apart the logits are (scores of the next token).

| | it is written | and does |
|---|---|---|
| 1 | `positions = torch.arange(L)` | counts the new token's position from 0 |
| 2 | attend with k rotated, keep it unrotated | leaves old keys without their positions |
| 3 | in each step `past_keys = rotated(past_keys)` | turns old keys once more |
| 4 | `is_causal=True`, `tril()` | shows a new token position 0 alone |
| 5 | `keys.repeat(1, h // g, 1, 1)` | gives queries the wrong heads, in prefill too |
| 6 | attend to old and new, keep the old | keeps the prompt alone |
| 7 | `torch.zeros(N, g, 128, d)`, in steps no mask | lets empty slots take part |

**Predict first.** Which does the loss in steps hardly show, and in which do both readings agree?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

损失还是 3.08，回答却是“The”加上一串连字符。

</details>

第一个新词元由预填充得到，是对的；从第二个起，每个都只看得到位置 0。损失发现不了，因为一次读完的文本只有预填充，没有解码。

## 七种常见的错误

下面这些错误，运行起来都不报错。所以让 glassllm 把一段文本读两遍，一遍一次读完，一遍后半段逐个地读，再看后半段的两个损失，以及对下一个词元的打分（logit）相差多少。

| | 写法 | 后果 |
|---|---|---|
| 1 | `positions = torch.arange(L)` | 新词元的位置从 0 数起 |
| 2 | 计算时用旋转过的 k，存的却是没旋转的 | 存的键里没有位置 |
| 3 | 每一步都 `past_keys = rotated(past_keys)` | 旧的键每一步都多转一次 |
| 4 | `is_causal=True`、`tril()` | 新词元只看得到位置 0 |
| 5 | `keys.repeat(1, h // g, 1, 1)` | 查询配错了头，预填充时也错 |
| 6 | 新旧一起算了注意力，忘了保存新的 | 只存了提示，后面的都没有 |
| 7 | `torch.zeros(N, g, 128, d)`，逐个读时不用掩码 | 空位也参与了计算 |

**先猜一猜**：哪一种错误，逐个地读，损失也几乎看不出来？又有哪一种，两遍读出来的打分一样？
"""

# %% tags=["slow", "answer"]
with skip_if_missing():
    from glassllm import load_pretrained

    ids = load_pretrained("en")[1].encode(ALICE)
    broken_caches.show_losses(load_glassllm(), ids)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The loss hardly shows 7: 3.65, like the right one. Empty values of 0 weaken each head's output, here a little; with 1024 slots the loss is 3.85. In 5 both readings are wrong alike, and the loss tells.

Keeping all keys unrotated and rotating all of them in each step, a mixture of 2 and 3, is right, only dearer.

</details>

So compare logits: in steps against at once, and at once against the published model. One more bug needs two texts: all of a batch read the past of one.

## Tokens a second

`write` lets glassllm write 20 tokens in both ways. Summing 256 MiB tells how fast one core reads memory. Reading SmolLM2's float32 weights at this speed is the least that its step can take, the **memory roof** (lesson 14).

**Predict first.** The last step without a cache sends 87 tokens through the model, with one 1. How many times as fast is it overall: about 100, about 10, or below 5?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

损失几乎看不出 7：3.65，与正确的一样。空位的值都是 0，会削弱每个头的输出，这里只弱了一点；换成 1024 个空位，损失就是 3.85。错误 5 的两遍错得一样，损失反而看得出。

如果存的键都不旋转，每一步再把它们全部旋转，像是 2 和 3 合在一起，那倒是对的，只是更费时间。

</details>

所以要比较打分：逐个读的与一次读完的比，一次读完的再与公布的模型比。还有一种错误，要有两段文本才看得出：每段文本读到的都是同一段的键和值。

## 每秒多少个词元

下面用 `write` 让 glassllm 以两种方式各生成 20 个词元。再对 256 MiB 的数求和，测出这台机器一个核读内存的速度。按这个速度把 SmolLM2 的 float32 权重读一遍，要花的时间就是它一步的下限，叫作内存的**屋顶线**（第 14 课）。

**先猜一猜**：不用缓存，最后一步要让 87 个词元经过模型；用缓存只要 1 个。总的算下来，速度是原来的几倍：约 100 倍、约 10 倍，还是不到 5 倍？
"""


# %% tags=["slow", "answer", "nbval-ignore-output"]
@torch.no_grad()
def write(model, ids, steps, cached):
    caches, new = model.new_caches() if cached else None, ids
    for _ in range(steps):
        token = model(new, caches)[:, -1:].argmax(-1)
        ids = torch.cat([ids, token], 1)
        new = token if cached else ids


with skip_if_missing():
    model, prompt, numbers = load_glassllm(), torch.tensor([ids]), torch.ones(2**26)
    laps = {way: speeds.fastest(lambda way=way: write(model, prompt, 20, way)) / 20 for way in (False, True)}
    speeds.show_speeds(laps, bandwidth=numbers.nbytes / speeds.fastest(numbers.sum))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Below 5: on our machines about 1.5 to 3.

On one core of a server, products with weights took about a tenth of glassllm's step with a cache; the rest are small functions, no fewer for one token. In SmolLM2, 158 times as large, they took over half. Behind 36 tokens its step took about a quarter of the time without a cache, and about three times its roof.

</details>

## What you will meet elsewhere

* Hugging Face's `past_key_values` is a `DynamicCache` that appends with `torch.cat`, like yours.
* [Meta's Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) writes into zeros of full length, `cache_k[:bsz, start_pos : start_pos + seqlen] = xk`, and reads only what is filled.
* [vLLM](https://arxiv.org/abs/2309.06180) cuts caches into pages.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不到 5 倍：在我们的机器上大约是 1.5 到 3 倍。

glassllm 太小：在一台服务器的一个核上，用缓存的一步，我们测得与权重相乘约占一成时间，其余都花在小函数上，词元再少也要照样调用，所以快不了多少。SmolLM2 的参数是它的 158 倍，相乘占一半以上；前面有 36 个词元时，用缓存的一步，时间约为不用缓存的四分之一，约为屋顶线的三倍。

</details>

## 在别处会遇到什么

* Hugging Face 的 `past_key_values` 是一个 `DynamicCache`，像你写的那样用 `torch.cat` 接上。
* [Meta 的 Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) 预先分配好全长的零张量，写作 `cache_k[:bsz, start_pos : start_pos + seqlen] = xk`，只读已经填好的部分。
* [vLLM](https://arxiv.org/abs/2309.06180) 把缓存分成一页一页。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. Qwen3 8B has 36 layers, 32 heads of queries, 8 of keys and values, 128 numbers each. How large is the cache of 20 texts of 4096 tokens in bfloat16?

<details><summary>Answer</summary>

2 · 36 · 8 · 128 · 2 = 147456 bytes a token, times 4096 · 20 that is 11.25 GiB.

</details>

2. A chat model's first new token is always right and all that follows is nonsense. Its loss is as published. Where do you look, and which test settles it?

<details><summary>Answer</summary>

In decode, for prefill gave the first token and the loss: positions, mask, what is kept. Read a text at once and in steps; the first output that differs shows the step.

</details>

3. Llama 3.1 8B is to serve 80 texts of 8192 tokens on an H100 with 80 GB. Does it fit? Would arithmetic twice as fast help? What does, and how long is a step then?

<details><summary>Answer</summary>

No: 16.1 GB of weights and 80 · 1 GiB = 85.9 GB of caches are 102 GB. Faster arithmetic makes no room and reads no faster. Keys and values of 1 byte help: 59 GB, at least 17 ms a step.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. Qwen3 8B 有 36 层，32 个查询头，8 个键值头，每个头 128 个数。20 段文本，每段 4096 个词元，用 bfloat16 存，缓存一共多大？

<details><summary>答案</summary>

每个词元 2 · 36 · 8 · 128 · 2 = 147456 字节，乘以 4096 · 20 是 11.25 GiB。

</details>

2. 一个聊天模型，第一个新词元总是对的，后面却全是胡言乱语。它的损失与公布的一致。该查哪里？用什么测试可以确定？

<details><summary>答案</summary>

查解码，因为第一个词元和损失都出自预填充：位置、掩码、存下的内容。把一段文本一次读完，再一步一步地读，最先不同的输出就指出是哪一步。

</details>

3. 要用 Llama 3.1 8B，在一块 80 GB 的 H100 上同时处理 80 段文本，每段 8192 个词元。放得下吗？换一块运算快一倍的有用吗？怎样才有用？那时一步至少要多久？

<details><summary>答案</summary>

放不下：权重 16.1 GB，加上 80 · 1 GiB = 85.9 GB 的缓存，一共 102 GB。运算更快没有用，因为瓶颈是显存的容量和读取速度。键和值改成每个数 1 字节就有用：一共 59 GB，一步至少 17 ms。

</details>
"""

# %%
print("1.", cache_bytes(36, 32, 8, 128, 2), 20 * 4096 * cache_bytes(36, 32, 8, 128, 2) / 2**30)
reading = (weights - embedding + 40 * kept) / speeds.READS
print(f"3. {(weights + 80 * kept) / 1e9:.1f} {(weights + 40 * kept) / 1e9:.1f} {1e3 * reading:.1f}")

# %% [markdown] lang="en"
r"""
## In short

* Under the causal mask keys and values never change, so they are kept, and each token passes through the model once.
* The price is memory, 2 · layers · heads kept · width numbers a token, read in every step.
* A bug that only shows in decode leaves the loss alone. Read a text at once and in steps, and compare.

## Read next

* [GQA](https://arxiv.org/abs/2305.13245): how few heads are enough.
* [Efficiently Scaling Transformer Inference](https://arxiv.org/abs/2211.05102): what a step costs on many chips.

Lesson 14 puts blocks on the clock.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 有因果掩码，键和值就不再改变，所以可以存起来，每个词元只经过模型一次。
* 代价是显存：每个词元要存 2 · 层数 · 键值头数 · 头的宽度，这么多个数，而且每一步都要读一遍。
* 只在解码时才出现的错误，一次读完时的损失看不出来。把一段文本一次读完，再逐个词元地读，两者对照。

## 接着读

* [GQA](https://arxiv.org/abs/2305.13245)：说明多少个头就够了。
* [Efficiently Scaling Transformer Inference](https://arxiv.org/abs/2211.05102)：在许多芯片上，一步要花多少。

第 14 课给各个部件计时。
"""

# %% [markdown] lang="en"
r"""
## Going further: a window forgets

With `KeyValueCache(window=3)` the same six tokens leave three behind. **Predict first.** Which outputs are as before?
"""

# %% [markdown] lang="zh"
r"""
## 选读：窗口会忘记

用 `KeyValueCache(window=3)`，同样的六个词元只留下三个。**先猜一猜**：哪些输出与原来一样？
"""

# %% tags=["answer"]
short = KeyValueCache(window=3)
windowed = torch.cat([cached_attention(*project(x[:, i : i + 1], i), short) for i in range(6)], 2)
same = (windowed - full).abs().amax((0, 1, 3)) < 1e-12
print(f"{same.tolist() = }\n{short.length = }, {short.keys.shape[2] = }")
print(f"{short.nbytes = }, {cache.nbytes = }")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Outputs 0, 1 and 2, which never saw more than three tokens.

</details>

The cache counts what it drops, too: `length` is 6, so the next token stands at position 6. Old tokens are not quite lost either. Through the layers what they said has passed into tokens that are still there, with each layer 2 positions further here, window − 1.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

输出 0、1、2，它们看到的从来不超过三个词元。

</details>

缓存照样计数：`length` 是 6，所以下一个词元在位置 6。旧的词元也没有完全丢失，它们的内容经过各层，已经传给了还在窗口里的词元，每过一层，就多传远 2 个位置，即窗口减 1。
"""

# %% [markdown] lang="en"
r"""
## Going further: MLA, absorbed

MLA keeps a short vector c of each token, and a head would make its key as $W c$. But $q \cdot (W c) = (W^\top q) \cdot c$, so the matrix can go to the query, once, instead of to every kept token. Then all heads read the same c, as if it were MQA with one wide head. The cell shows it for keys; values, too, are mixed as c, and multiplied by their matrix once, at the end.
"""

# %% [markdown] lang="zh"
r"""
## 选读：吸收之后的 MLA

MLA 为每个词元存一个短向量 c，一个头的键本来要算 $W c$。但是 $q \cdot (W c) = (W^\top q) \cdot c$，所以矩阵可以移到查询这边，只乘一次，不必对每个存下的词元都乘。于是所有的头读的都是同一个 c，就像只有一个宽头的 MQA。下面只演示键；值也一样，先对 c 加权求和，最后再乘一次矩阵：
"""

# %%
c, W, q = torch.randn(5, 4), torch.randn(3, 8, 4), torch.randn(3, 8)  # (S, latent), (h, d, latent), (h, d)
keys = torch.einsum("hdc,sc->hsd", W, c)
by_keys = torch.einsum("hd,hsd->hs", q, keys)
absorbed = torch.einsum("hd,hdc->hc", q, W) @ c.T
torch.testing.assert_close(by_keys, absorbed)
print(keys.numel(), "→", c.numel())

# %% [markdown] lang="en"
r"""
The position cannot be absorbed, because a rotation would stand between W and q and change with every distance. So DeepSeek-V3 keeps 64 rotated numbers beside c. In this form each byte it reads serves 242 operations, 2 · 128 · (576 + 512) / 1152, close to what an H100 can do meanwhile, where GQA with 4 queries to a head has 4.
"""

# %% [markdown] lang="zh"
r"""
位置无法这样吸收，因为旋转夹在 W 和 q 之间，距离不同，旋转就不同。所以 DeepSeek-V3 在 c 旁边另存 64 个旋转过的数。这样，读一个字节能做 242 次运算，即 2 · 128 · (576 + 512) / 1152，接近 H100 这段时间里能做的次数；而 4 个查询头共用一个头的 GQA 只有 4 次。
"""
