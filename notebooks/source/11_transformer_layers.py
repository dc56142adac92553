# %% [markdown] lang="en"
r"""
# 11 How do the blocks fit together?

A Transformer layer is built of *sub-layers*: attention (lesson 10) and a feed-forward network (lesson 08). Each sub-layer f has a **residual connection**, which adds x to what f gives, and a norm (lesson 05 or 06), in one of two places:

$$\text{post-norm:}\quad y = \text{norm}(x + f(x)) \qquad\qquad \text{pre-norm:}\quad y = x + f(\text{norm}(x))$$

The first Transformer (2017) is post-norm; GPT-2 and Llama are pre-norm.

After this lesson you can say what each order does to a deep stack, read a trained layer step by step, show that a layer equals torch's, and write pre-norm from its equations. It takes about 20 minutes.
"""

# %% [markdown] lang="zh"
r"""
# 11 各个部件怎样拼成一层？

Transformer 的一层由几个**子层**（sub-layer）组成：注意力（第 10 课）和前馈网络（feed-forward network，第 08 课）。每个子层 f 都有一个**残差连接**（residual connection），把 x 加到 f 的输出上；还有一个归一化（norm，第 05 课或第 06 课），它的位置有两种：

$$\text{后置归一化：}\quad y = \text{norm}(x + f(x)) \qquad\qquad \text{前置归一化：}\quad y = x + f(\text{norm}(x))$$

最早的 Transformer（2017 年）用**后置归一化**（post-norm），GPT-2 和 Llama 用**前置归一化**（pre-norm）。

学完这一课，你能说出两种顺序在很深的网络里各有什么后果；能一步一步看懂训练好的一层；能验证自己搭的层与 torch 的结果一致；还能按公式写出前置归一化的层。大约需要 20 分钟。
"""

# %%
import torch
from torch import nn

from blocklab import DecoderLayer, EncoderLayer, causal_mask, layer_norm
from blocklab.language import Text
from blocklab.lessons import check, progress
from blocklab.lessons.transformer_layers import pre_and_post, sentence_through_layers
from blocklab.real_models import if_installed, load_glassllm, load_minilm, minilm_reading

# %% [markdown] lang="en"
r"""
## Two questions first

1. What does True in a mask mean to `F.scaled_dot_product_attention`, and what to torch's Transformer layers?
2. What does a SwiGLU layer multiply with what?

<details><summary>Answers</summary>

1. "Takes part", and "is hidden".
2. The gate with its value, number by number: `silu(x @ W1) * (x @ W3)`.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 掩码里的 True，对 `F.scaled_dot_product_attention` 是什么意思？对 torch 的 Transformer 层呢？
2. SwiGLU 层把什么与什么相乘？

<details><summary>答案</summary>

1. 前者是“参与”，后者是“屏蔽”。
2. 门与对应的值，逐元素相乘：`silu(x @ W1) * (x @ W3)`。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

Suppose each sub-layer gives zeros, f(x) = 0. What do 48 of them make of x, in either order?
"""

# %% [markdown] lang="zh"
r"""
## 动手算

假设每个子层都只输出零，即 f(x) = 0。按两种顺序，x 经过 48 个这样的子层，各变成什么？
"""

# %%
x = torch.tensor([[1.0, 2.0, 3.0, 6.0]])  # (N, d)
pre = post = x
for _ in range(48):
    pre, post = pre + 0 * layer_norm(pre, (4,)), layer_norm(post + 0 * post, (4,))
print("pre-norm gives back x:", torch.equal(pre, x), " post-norm gives:", post)

# %% [markdown] lang="en"
r"""
Pre-norm gives back x, to the last bit: its residual connections carry x **exactly as it came in**; sub-layers only add to this *residual stream*. As y contains x itself, the gradient at y reaches x in full, besides what comes back through f. Post-norm normalizes what it carries, every time; here that erases mean and size of x.

**Your turn, one line.** A token of one number, x = 6; the norm halves, the sub-layer squares. What does pre-norm give? Put a number or formula in place of `None`.
"""

# %% [markdown] lang="zh"
r"""
前置归一化得到的还是 x，一位也不差。它的残差连接**原样传递** x，各个子层只是往上加；这样一层一层传下去的数，叫作**残差流**（residual stream）。因为 y 里含有 x 本身，所以 y 处的梯度会完整地传到 x，此外还有经过 f 传回来的部分。后置归一化每次都把传递的数归一化；在这里，x 的均值和大小就这样丢了。

**轮到你了**，只写一行：某个词元只有一个数，x = 6；假设“归一化”就是减半，子层就是平方。用前置归一化得到多少？请把 `None` 换成这个数，或者换成算式。
"""

# %% tags=["exercise"]
my_pre_norm_by_hand = None

check("pre_norm_by_hand", my_pre_norm_by_hand)

# %% tags=["solution"]
solved_pre_norm_by_hand = 6 + (6 / 2) ** 2

check("pre_norm_by_hand", solved_pre_norm_by_hand)

# %% [markdown] lang="en"
r"""
## Pre and post, one slider

Untrained stacks of 3 to 48 layers, with 64 features, 4 heads and weights drawn as in torch's `nn.Transformer`, read sequences of 16 random tokens. At the end (in pre-norm after one more norm) a random matrix guesses random classes; the gradient of the loss flows back. For each layer you see

* the size (root of the sum of squares) of the gradient of W₂, its feed-forward network's second matrix,
* the root mean square (RMS) of the tokens after it,
* the mean cosine between two tokens of a sequence: 1 if all point the same way.

Lines are means of 6 stacks, bands span all 6. Hollow marks (left): the last layers of shallower stacks, from 12 layers on.

**Predict first.** Pre-norm, and the depth doubles. Whose W₂ gets a smaller gradient, the first layer's or the last one's? Choose, then drag *depth*.
"""

# %% [markdown] lang="zh"
r"""
## 同一个滑块，两种顺序

下面的网络有 3 到 48 层，没有训练过，有 64 个特征、4 个头，权重的随机取法与 torch 的 `nn.Transformer` 相同。输入是 16 个随机词元组成的序列。最后，用一个随机矩阵给词元分类，正确的类别也是随机取的（前置归一化在分类之前还要再归一化一次）；算出损失之后，把梯度传回来。图中画出每一层的三个量：

* W₂ 的梯度的大小，即平方和的平方根（W₂ 是前馈网络的第二个矩阵）；
* 这一层输出的词元的均方根（RMS）；
* 同一序列中每两个词元夹角余弦的均值：全都指向同一方向时为 1。

曲线是 6 个网络的均值，色带涵盖全部 6 个。左图中的空心标记，是较浅的网络（从 12 层起）的最后一层。

**先猜一猜**：用前置归一化，深度翻倍，哪一层的 W₂ 的梯度会变小，是第一层的，还是最后一层的？先选，再拖动“深度”。
"""

# %% tags=["panel", "guess"]
pre_and_post.panel()

# %% [markdown] lang="en"
r"""
The last layer's: 0.59 with 3 layers, 0.18 with 48; each doubling leaves about three quarters. (For simplified layers a [paper](https://arxiv.org/abs/2002.04745) proves a bound that falls like 1/√depth.) The first layer's stays between 0.8 and 1: it also gets what comes back through each later f. Why does the last one shrink? Every layer adds to the stream (middle picture), so its RMS grows, to 5.8. The final norm divides by it, and divides the gradient on its way back, too:
"""

# %% [markdown] lang="zh"
r"""
是最后一层的：3 层时为 0.59，48 层时为 0.18；深度每翻一倍，约剩四分之三。（有一篇[论文](https://arxiv.org/abs/2002.04745)证明，对简化的层来说，它有一个上界，像 1/√深度那样减小。）第一层的始终在 0.8 和 1 之间，因为后面的每个 f 还会传回一部分梯度给它。最后一层的为什么变小？看中间的图：每一层都往残差流上加一些，均方根就增大到 5.8。最后的归一化要除以它；梯度往回传时，也要除以它：
"""

# %%
x, back = torch.randn(4, 64), torch.randn(4, 64)  # (N, d)
for size in (1.0, 5.8):
    sized = (size * x).requires_grad_()
    (layer_norm(sized, (64,)) * back).sum().backward()
    print(f"RMS times {size}: gradient {sized.grad.norm():.2f}")

# %% [markdown] lang="en"
r"""
In post-norm the RMS is always 1, and the last gradient does not shrink; in deep stacks the earlier ones differ widely among the 6.

On the right, post-norm's tokens soon all point the same way. At a cosine of 1 all tokens are alike, and there is nothing left to read. Untrained attention weights are fairly even, so attention adds much the same to each token; the feed-forward network does, too, but less. In pre-norm what a token brought along keeps its size; post-norm scales each sum back to RMS 1, so that part dwindles.

In the paper, a post-norm translation model reached 8.45 BLEU (more is better) without, and about 34 with *warm-up* (a learning rate that starts small and grows); pre-norm about 34 without. The paper's reason: post-norm's last gradients are large from the start, whatever the depth, so one full step throws the network off, and warm-up makes the first steps small; in pre-norm the gradient itself is smaller by about 1/√depth.

## One sentence, layer by layer

MiniLM (lesson 10) has six trained post-norm layers. For each word piece you see four sizes (RMS, log scale): x as it comes in, what is added, the sum, and after the norm. Left attention, right the feed-forward network, whose x is the left result. (Sizes of vectors need not add up.)

**Predict first.** In layers 0 to 3 the feed-forward network adds far more to one of the 13 word pieces than to the others. To which, and how large is it after the norm? Drag *layer* to 0.
"""

# %% [markdown] lang="zh"
r"""
用后置归一化，均方根始终是 1，最后一层的梯度不会变小；但在很深的网络里，前面各层的梯度在 6 个网络之间相差很大。

看右边的图：用后置归一化，词元很快就都指向同一方向。余弦到了 1，就是所有词元都一样，再也读不出什么。没有训练过的注意力，权重相当平均，给每个词元加上的都差不多；前馈网络也有这种倾向，只是弱一些。用前置归一化，词元原有的部分大小不变；用后置归一化，每次相加的结果都缩回到均方根 1，原有的部分就越来越小。

那篇论文里有一个后置归一化的翻译模型，不预热时只得 8.45 分（BLEU，越高越好）；用了**学习率预热**（warm-up，即开始时学习率很小，再逐步增大），约得 34 分。前置归一化的模型不预热，也约得 34 分。论文的解释是：后置归一化最后一层的梯度，不论多深，从一开始就大，学习率一上来就取满，一步就会走过头，所以要预热，让最初几步小一些；前置归一化的这个梯度约像 1/√深度那样变小，不预热也不会走过头。

## 一句话，逐层看

MiniLM（第 10 课）有六层，都已训练好，用的是后置归一化。图中画出每个子词的四个大小（均方根，对数刻度）：输入 x、加上的部分、两者之和、归一化之后。左边是注意力，右边是前馈网络；左边的结果就是右边的 x。（两个向量之和的大小，不一定等于它们的大小之和。）

**先猜一猜**：13 个子词中有一个，第 0 层到第 3 层的前馈网络给它加上的，远多于给其他子词加上的。是哪一个？归一化之后，它有多大？想好之后，把“层”拖到 0。
"""

# %% tags=["panel"]
reading = minilm_reading()
sentence_through_layers.panel(reading)

# %%
cosines = [pre_and_post.mean_cosine(x) for x in reading.stream]
print("mean cosine before layer 0, then after each layer:", *(f"{cosine:.2f}" for cosine in cosines))

# %% [markdown] lang="en"
r"""
To `[CLS]`, which stands for no word: in layer 0 it gets 9.9, the others 0.2 to 0.4. The norm brings the sum, 11.4, down to 0.4, no larger than the others. (Not to 1, because of γ and β.) In post-norm no token stays large.

On the right of the last panel untrained tokens soon all pointed the same way. Here the mean cosine after six layers is 0.49. Six *untrained* layers of MiniLM's size, on this sentence, drawn 6 times:
"""

# %% [markdown] lang="zh"
r"""
是 `[CLS]`，它不代表任何词。在第 0 层，前馈网络给它加上 9.9，给其他子词只加 0.2 到 0.4。归一化把两者之和从 11.4 缩到 0.4，不比其他子词大。（不是缩到 1，因为之后还要乘 γ、加 β。）用后置归一化，没有哪个词元能一直很大。

上一个面板的右图里，没有训练过的网络，词元很快就都指向同一方向。这里，六层之后余弦的均值是 0.49。换成与 MiniLM 同样大小、但没有训练过的六层，还是这句话，随机取 6 次权重：
"""

# %%
found = []
for seed in range(6):
    x = reading.stream[0].unsqueeze(0)  # (N, L, d)
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        torch.manual_seed(seed)
        for _ in range(6):
            layer = nn.TransformerEncoderLayer(384, 12, 1536, 0.0, "gelu", batch_first=True)
            [nn.init.xavier_uniform_(weight) for weight in layer.parameters() if weight.dim() > 1]
            x = layer(x)
    found.append(pre_and_post.mean_cosine(x[0]))
print(Text(en="{:.1f} to {:.1f}", zh="{:.1f} 到 {:.1f}").format(min(found), max(found)))

# %% [markdown] lang="en"
r"""
Not far from the trained ones, and always above. More than that 6 draws and one sentence do not say.

## What the source notes say

| the notes say | does it hold? |
|---|---|
| headings *EncoderLayer*, *DecoderLayer*, nothing below | Here they are filled. |

An **encoder layer** is attention, then the feed-forward network. A **decoder layer**, for writing one text with another in view, is causal attention to what is written, *cross-attention* (queries from there, keys and values from the encoder's result, the *memory*), then the feed-forward network. Ours, in `blocklab.transformer`, call the earlier lessons' functions. With torch's weights (`strict=True`: all names must match), in both orders (`norm_first=True` is pre-norm):
"""

# %% [markdown] lang="zh"
r"""
与训练过的相差不远，但每次都更高。只凭一句话和 6 组权重，说明不了更多。

## 原始笔记怎么说

| 笔记的说法 | 成立吗？ |
|---|---|
| 有标题 *EncoderLayer* 和 *DecoderLayer*，下面是空的 | 这里补上。 |

**编码器层**（encoder layer）先是注意力，再是前馈网络。**解码器层**（decoder layer）用来看着一段文本写另一段：先是已写部分内部的因果注意力，再是**交叉注意力**（cross-attention），最后是前馈网络。交叉注意力的查询来自已写的部分，键和值来自编码器的结果（代码里叫 memory）。这两种层，我们写在 `blocklab.transformer` 里，其中调用的是前面各课的函数。下面装入 torch 的权重（`strict=True`：名称必须全部对上），两种顺序都与 torch 比较（`norm_first=True` 就是前置归一化）：
"""

# %% claims=["E53"]
x, memory = torch.randn(2, 5, 64), torch.randn(2, 7, 64)  # (N, L, d), (N, S, d)
hidden = ~causal_mask(5)
for ours, theirs, inputs in (
    (EncoderLayer, nn.TransformerEncoderLayer, (x, hidden)),
    (DecoderLayer, nn.TransformerDecoderLayer, (x, memory, hidden)),
):
    for norm_first in (False, True):
        options = {"dropout": 0.0, "norm_first": norm_first, "batch_first": True}
        torchs, layer = theirs(64, 4, 256, **options), ours(64, 4, 256, **options)
        layer.load_state_dict(torchs.state_dict(), strict=True)
        torch.testing.assert_close(layer(*inputs), torchs(*inputs))
    print(f"{ours.__name__}: {len(layer.state_dict())} tensors, equal")

# %% [markdown] lang="en"
r"""
But fresh norms have γ = 1 and β = 0, so a layer that ignores both would pass. Trained weights are stricter. MiniLM's six layers beside six of torch's:
"""

# %% [markdown] lang="zh"
r"""
不过，新建的归一化层里 γ = 1、β = 0，就算写的层漏掉了这两个参数，也能通过。换成训练好的权重，检验就更严格。下面让 MiniLM 的六层与 torch 的六层各算一遍，再比较：
"""


# %%
@torch.no_grad()
def beside_torchs(dtype, limit):
    model = load_minilm().to(dtype)
    x = y = model.embed(model.tokenize(["The cat sat on the mat because it was tired."])[0])  # (N, L, d)
    for layer in model.layers:
        torchs = nn.TransformerEncoderLayer(384, 12, 1536, 0.1, "gelu", 1e-12, batch_first=True, dtype=dtype)
        torchs.load_state_dict(layer.state_dict(), strict=True)
        x, y = layer(x), torchs.eval()(y)
    print(f"{dtype}: numbers up to {x.abs().max():.1f}, off by less than {limit}: {(x - y).abs().max() < limit}")


# %% tags=["slow"]
with if_installed():
    beside_torchs(torch.float32, 1e-5)
    beside_torchs(torch.float64, 1e-12)

# %% [markdown] lang="en"
r"""
And glassllm (lesson 06), pre-norm with RMSNorm, rotary positions and SwiGLU, all from our functions, beside its own package's NumPy model:
"""

# %% [markdown] lang="zh"
r"""
还有 glassllm（第 06 课）：它用的是前置归一化、RMSNorm、旋转位置编码和 SwiGLU。这里全部换成我们的函数，再与它自带的 NumPy 模型比较：
"""

# %% tags=["slow"]
with if_installed():
    ours = load_glassllm()
    from glassllm import load_pretrained

    theirs, tokenizer = load_pretrained("en")
    ids = torch.tensor([tokenizer.encode("Alice was beginning to get very tired of sitting by her sister on the bank")])
    wanted = torch.from_numpy(theirs(ids.numpy()).data)  # (N, L, 1024), scores of the next token
    off = (ours(ids).detach() - wanted).abs().max()
    print(f"numbers up to {wanted.abs().max():.0f}, off by less than 0.0001: {off < 1e-4}")

# %% [markdown] lang="en"
r"""
## Exercise: a pre-norm layer

Write one whole layer: attention with `norm1`, then the feed-forward network with `norm2`, each in its residual connection. All four are functions of one tensor: `attention(x)`.
"""

# %% [markdown] lang="zh"
r"""
## 练习：前置归一化层

请写出完整的一层：先注意力，后前馈网络，各有自己的残差连接；前者用 `norm1`，后者用 `norm2`。传入的这四个函数都只接收一个张量，例如 `attention(x)`。
"""


# %% tags=["exercise"]
def my_pre_norm_layer(x, attention, feed_forward, norm1, norm2):
    return ...


check("pre_norm_layer", my_pre_norm_layer)

# %% [markdown] lang="en"
r"""
Stuck? Use the equation twice: what is x the second time? The solution is folded below. Nothing later needs your code.
"""

# %% [markdown] lang="zh"
r"""
卡住了？把公式用两次：第二次的 x 是什么？参考答案折叠在下面。后面的内容不会用到你的代码。
"""


# %% tags=["solution"]
def solved_pre_norm_layer(x, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


check("pre_norm_layer", solved_pre_norm_layer)

# %% [markdown] lang="en"
r"""
## Three closing questions

1. How many norms have six encoder and six decoder layers in post-norm? And in pre-norm, with one more after each stack?

<details><summary>Answer</summary>

One for each sub-layer: 6 · 2 + 6 · 3 = 30. Pre-norm: 32.

</details>

2. A home-made pre-norm stack runs, but after 48 layers the RMS is 1.2; the panel shows 5.8. Which mistake do you suspect, and which test finds it at once?

<details><summary>Answer</summary>

It goes on from the normalized x, `norm(x) + f(norm(x))`, so nothing piles up. Silence the sub-layers (output weights and biases 0): then a right layer gives back x exactly.

</details>

3. Pre-norm trains without warm-up. May you switch a trained MiniLM to `norm_first=True`?

<details><summary>Answer</summary>

No. Same names, same shapes, no error, but another function: its weights expect a normalized stream. Below, two unlike sentences go from cosine −0.09 to 0.99. Choose the order before training.

</details>

The next two cells show 2 and 3.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 六个编码器层和六个解码器层，用后置归一化时，一共有多少个归一化层？用前置归一化时，编码器和解码器的末尾各多一个，一共又有多少个？

<details><summary>答案</summary>

每个子层一个：6 · 2 + 6 · 3 = 30。前置归一化有 32 个。

</details>

2. 有人自己写的前置归一化网络能运行，但 48 层之后词元的均方根是 1.2，而面板上是 5.8。你怀疑是哪种错误？怎样的测试马上就能发现它？

<details><summary>答案</summary>

它往下传的是归一化之后的 x，即 `norm(x) + f(norm(x))`，所以什么也积累不起来。让子层只输出零（把子层最后一个矩阵和偏置都设为 0）：正确的层会原样给出 x。

</details>

3. 前置归一化不用预热就能训练。可以把训练好的 MiniLM 改成 `norm_first=True` 吗？

<details><summary>答案</summary>

不可以。名称一样，形状一样，也不报错，却成了另一个函数：它的权重只适应归一化过的残差流。下面两句话毫不相干，余弦却从 −0.09 变成了 0.99。用哪种顺序，要在训练之前选定。

</details>

下面两个单元格演示第 2 题和第 3 题。
"""

# %%
layer, x = EncoderLayer(64, 4, 256, dropout=0.0, norm_first=True), torch.randn(2, 5, 64)
for linear in (layer.self_attn.out_proj, layer.linear2):
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
print("silent sub-layers give back x:", torch.equal(layer(x), x))

# %% tags=["slow"]
with if_installed():
    model = load_minilm()
    for norm_first in (False, True):
        for layer in model.layers:
            layer.norm_first = norm_first
        first, second = model.encode(["A cat sits on the mat.", "Momentum is a weight."]).detach()
        print(f"norm_first={norm_first}: cosine {first @ second:.2f}")

# %% [markdown] lang="en"
r"""
**In one line:** a residual connection carries x past the sub-layer; pre-norm leaves it as it is, post-norm normalizes it every time.

## Going further: post-norm, and a whole layer

First the same for post-norm. Then complete the `nn.Module` below, with torch's names: `self_attn`, `linear1`, `linear2`, `norm1`, `norm2`, and ReLU between the linear layers. `src` is `(N, L, d)`; True in the mask is hidden. Use post-norm, torch's default, or set `self.norm_first = True` and use pre-norm. (Inputs for the other order are then left out of the check.)
"""

# %% [markdown] lang="zh"
r"""
**一句话总结**：残差连接让 x 绕过子层；前置归一化让旁路上的 x 原样通过，后置归一化每次都把相加的结果归一化。

## 选读：后置归一化，以及完整的一层

先为后置归一化写一个同样的函数。再把下面的 `nn.Module` 写完整，各部分的名称与 torch 相同：`self_attn`、`linear1`、`linear2`、`norm1`、`norm2`，两个线性层之间是 ReLU。`src` 的形状为 `(N, L, d)`；掩码中 True 表示屏蔽。顺序用 torch 默认的后置归一化；想用前置归一化，就加一行 `self.norm_first = True`。（检查时，会略过属于另一种顺序的输入。）
"""


# %% tags=["exercise"]
def my_post_norm_layer(x, attention, feed_forward, norm1, norm2):
    return ...


check("post_norm_layer", my_post_norm_layer)


# %% tags=["solution"]
def solved_post_norm_layer(x, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))


check("post_norm_layer", solved_post_norm_layer)


# %% tags=["exercise"]
class MyEncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.linear1 = nn.Linear(d_model, dim_feedforward)

    def forward(self, src, src_mask=None):
        y = self.self_attn(src, src, src, attn_mask=src_mask)[0]
        return ...


check("encoder_layer", MyEncoderLayer(8, 2, 12))


# %% tags=["solution"]
class SolvedEncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, src, src_mask=None):
        x = self.norm1(src + self.self_attn(src, src, src, attn_mask=src_mask)[0])
        return self.norm2(x + self.linear2(self.linear1(x).relu()))


check("encoder_layer", SolvedEncoderLayer(8, 2, 12))

# %% [markdown] lang="en"
r"""
## Going further: a task of a few seconds

Everything at once: positions from lesson 07, one encoder layer, one decoder layer, both pre-norm, causal mask. The network reads six digits and writes them backwards; digit 10 stands for "start". Cross-entropy, Adam, no warm-up, the learning rate goes down to 0; 200 steps of 64 random sequences: 12800 in all, of 1000000 possible ones.

**Predict first.** How many of 1000 new sequences of six digits does it then reverse without a mistake? And of four, or ten digits?
"""

# %% [markdown] lang="zh"
r"""
## 选读：几秒钟的小任务

把所有部件用在一起：第 07 课的位置编码、一个编码器层、一个解码器层（都是前置归一化）、因果掩码。网络读入六个数字，再倒着写出来；数字 10 表示“开始”。损失用交叉熵（cross-entropy），优化器用 Adam，不预热，学习率逐步降到 0。训练 200 步，每步 64 个随机序列：一共 12800 个，而可能的序列有 1000000 个。

**先猜一猜**：训练之后，给它 1000 个新的六位序列，它能一字不差地倒写出多少个？换成四位或十位的呢？
"""

# %% tags=["slow"]
from blocklab import LayerNorm, sinusoidal_encoding
from blocklab.language import Text


class Reverser(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.digits, self.norm, self.out = nn.Embedding(11, d), LayerNorm(d), nn.Linear(d, 10)
        self.encoder, self.decoder = (
            layer(d, 4, 4 * d, dropout=0.0, norm_first=True) for layer in (EncoderLayer, DecoderLayer)
        )

    def forward(self, read, written):
        x, y = (self.digits(ids) + sinusoidal_encoding(ids.shape[1], 64) for ids in (read, written))  # (N, L, d)
        return self.out(self.norm(self.decoder(y, self.encoder(x), ~causal_mask(y.shape[1]))))


# %% tags=["slow"]
net = Reverser()
adam = torch.optim.Adam(net.parameters(), 3e-3)
slower = torch.optim.lr_scheduler.LinearLR(adam, 1, 0, 200)  # from 0.003 straight down to 0
for _ in progress(range(200), Text(en="training step", zh="训练步数")):
    read = torch.randint(10, (64, 6))  # (N, L)
    answer = read.flip(1)
    written = nn.functional.pad(answer[:, :-1], (1, 0), value=10)  # one place behind
    loss = nn.functional.cross_entropy(net(read, written).flatten(0, 1), answer.flatten())
    adam.zero_grad()
    loss.backward()
    adam.step()
    slower.step()

# %% tags=["slow"]
with torch.no_grad():
    for length in (4, 6, 10):
        read = torch.randint(10, (1000, length))
        written = torch.full((1000, 1), 10)
        for _ in range(length):  # its own last word decides what it reads next
            written = torch.cat([written, net(read, written)[:, -1:].argmax(-1)], 1)
        right = (written[:, 1:] == read.flip(1)).all(1).float().mean()
        places = (written[:, 1:, None] == read[:, None]).float().mean(0).argmax(-1).tolist()
        print(f"{length:2} digits: over 95% right {right > 0.95}, under 5% right {right < 0.05}, places {places[:6]}")

# %% [markdown] lang="en"
r"""
Nearly all of those with six digits, hardly any of the others. (With 20 random seeds at least 99.9%, and at most 0.3%.) The places say, for each of the first six digits it wrote, which one it read (counted from 0) is most often the same. Of ten digits it reverses the first six; with four, places 5 and 4 do not exist, and it writes the last digit. It has not learned to reverse; it has learned which of six places to look at.
"""

# %% [markdown] lang="zh"
r"""
六位的几乎全对，其他的几乎全错。（换 20 个随机种子，六位的至少对 99.9%，其他的至多 0.3%。）打印出的 places 说明：它写出的前六个数字，各自最常与读入的第几个相同（从 0 数起）。十位的，它只倒写前六个；四位的没有位置 5 和 4，它就写最后一个数字。它没有学会倒写，只学会了该看六个位置中的哪一个。
"""
