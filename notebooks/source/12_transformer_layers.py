# %% [markdown] lang="en"
r"""
# 12 How do the blocks fit together?

Let 48 untrained Transformer layers, built as in the first Transformer of 2017 and with torch's first weights, read 16 random tokens. Out comes 16 times nearly the same token. They differ by two ten-thousandths of their size; the mean cosine of two is 1.00. Now move each norm by a few characters of code, from around a sum to inside it. With the same parts and weights, the cosine is 0.85.

So where should the norms go? Model builders disagree. With lesson 11, the chat model SmolLM2's other blocks are complete. At the end you join your own into its layer, and 30 copies answer a question.

After this lesson you can write a layer in two orders and say what each of five does to a deep untrained stack. It takes about 55 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 12 各个部件怎样拼成一层？

取 48 个没有训练过的 Transformer 层，按 2017 年最早的 Transformer 那样搭起来，权重按 torch 的方式初始化，让它们读 16 个随机词元。出来的 16 个词元几乎一模一样，彼此平均只相差自身大小的万分之二，两两之间夹角余弦的均值是 1.00。现在把代码里的归一化挪动几个字符，从相加的外面挪到里面。部件没有变，权重也没有变，余弦却成了 0.85。

有了旋转位置编码（第 11 课），聊天模型 SmolLM2 要用的部件就齐了，只差怎样摆放。归一化该放在哪里，至今没有定论。弄清楚之后，由你用自己写过的函数拼出 SmolLM2 的一层，再让模型靠 30 个这样的层来回答问题。

学完这一课，你能按两种顺序写出一层，能说出五种顺序在很深、还没有训练的网络里各有什么后果。大约需要 55 分钟，选读另计。
"""

# %%
import torch
from torch import nn

from blocklab import DecoderLayer, EncoderLayer, causal_mask, dyt, layer_norm, rms_norm
from blocklab_course.i18n import Text
from blocklab_course import check, progress_bar
from blocklab_course.lessons.transformer_layers import reversal, sentence_through_layers, where_norms_go, your_stack
from blocklab_course.lessons.transformer_layers.smollm2_parts import parts_of
from blocklab_course.building_blocks import load_or_reference
from blocklab_course.model_swap.whole_layer import swap_layer
from blocklab_course.pretrained import skip_if_missing, load_glassllm, minilm_trace

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

A Transformer layer has two **sub-layers**, first attention, then the feed-forward network. Around each sub-layer f lies a **residual connection**, which adds x to what f gives, so f only has to say what should change. The first Transformer normalizes each sum; this is **post-norm**:

$$y = \text{norm}(x + f(x))$$

The layers of GPT-2 and Llama leave the sum as it is, and only see to it that each sub-layer reads numbers of a fixed size. In **pre-norm** the sub-layer reads the normalized x, and what it gives is added to x **exactly as it came in**.

**Your turn, one line.** Write pre-norm; `sublayer` and `norm` are functions of one tensor. If the norm halves and the sub-layer squares, x = 6 becomes 15.
"""

# %% [markdown] lang="zh"
r"""
## 动手算

Transformer 的一层有两个**子层**（sub-layer），先是注意力，再是前馈网络。每个子层 f 外面都有一个**残差连接**（residual connection），把 x 加到 f 的输出上，于是 f 只需算出 x 该改动多少。最早的 Transformer 把每次相加的结果归一化，这叫**后置归一化**（post-norm）：

$$y = \text{norm}(x + f(x))$$

GPT-2 和 Llama 的各层不归一化相加的结果，只把每个子层的输入归一化到固定的大小。在**前置归一化**（pre-norm）里，子层读入的是归一化之后的 x，而它的输出加到**原样的** x 上。

**轮到你了**，用一行写出前置归一化。`sublayer` 和 `norm` 都是只接收一个张量的函数。假如“归一化”就是减半，子层就是平方，那么 x = 6 应得到 15。
"""


# %% tags=["exercise"]
def my_pre_norm(x, sublayer, norm):
    return ...


check("pre_norm", my_pre_norm)

# %% [markdown] lang="en"
r"""
Stuck? Take x = 6. Which number does the sub-layer read, and to which is its result added?

<details><summary>The idea</summary>

Two paths lead from x to y. The norm stands on the path through the sub-layer, so that path reads 3 and gives 9; nothing stands on the other, which brings 6.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？就看 x = 6。子层读入的是哪个数？它的输出又加到哪个数上？

<details><summary>思路</summary>

从 x 到 y 有两条路。归一化在经过子层的那条路上，所以子层读入 3，输出 9；另一条路上什么也没有，送来的还是 6。

</details>
"""


# %% tags=["solution"]
def solved_pre_norm(x, sublayer, norm):
    return x + sublayer(norm(x))


check("pre_norm", solved_pre_norm, keep=False)

# %% [markdown] lang="en"
r"""
Suppose that 48 sub-layers add nothing, f(x) = 0. **Predict first.** What do they make of $x = (1, 2, 3, 6)$ in pre-norm, and what in post-norm?
"""

# %% [markdown] lang="zh"
r"""
再假设 48 个子层什么也不加，即 f(x) = 0。**先猜一猜**：$x = (1, 2, 3, 6)$ 经过它们，用前置归一化得到什么？用后置归一化呢？
"""


# %% tags=["answer"]
def silent(x):
    return torch.zeros_like(x)


pre = post = torch.tensor([[1.0, 2.0, 3.0, 6.0]])  # (N, d)
for _ in range(48):
    pre = pre + silent(layer_norm(pre, (4,)))
    post = layer_norm(post + silent(post), (4,))
print("pre", pre, "post", post, sep="\n")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Pre-norm gives back x, to the last bit. Post-norm gives its standardized shape, $(-1.07, -0.53, 0, 1.60)$.

</details>

What pre-norm hands on is called the **residual stream**. Every sub-layer adds to it, none rescales it; one *final norm* follows the last layer. Because y contains x itself, the gradient at y reaches x in full, besides what comes back through f.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

前置归一化得到的还是 x，一位也不差。后置归一化只留下标准化之后的形状 $(-1.07, -0.53, 0, 1.60)$。

</details>

在前置归一化里，这样一路传下去的数叫作**残差流**（residual stream），每个子层都往上加，谁也不缩放它；到了整个网络的末尾，才再放一个归一化。因为 y 里含有 x 本身，所以 y 处的梯度会完整地传到 x，此外还有经过 f 传回来的部分。
"""

# %% [markdown] lang="en"
r"""
## Where the norms go

Back to the riddle. On the left stands the mean cosine between two tokens after each layer, which is 1 if all point the same way; in the middle their root mean square (RMS); on the right the size of the gradient of W₂, each feed-forward network's second matrix.

<details><summary>How the stacks are made</summary>

Each line is the mean of 6 stacks, and its band reaches from the smallest to the largest. Every order gets the same weights, drawn as in torch's `nn.Transformer`, and all but post-norm have the final norm. The loss is on random classes, and what is drawn of a gradient is the root of its sum of squares.

</details>

**Predict first.** In a post-norm stack of 48 layers, where is the cosine after the first 12, near 0.3, 0.6 or 1?
"""

# %% [markdown] lang="zh"
r"""
## 归一化放在哪里

回到开头的谜。左图画的是各层之后，每两个词元夹角余弦的均值；全都指向同一方向时，它是 1。中间的图是词元的均方根（RMS），右图是 W₂（前馈网络的第二个矩阵）的梯度有多大。

<details><summary>这些网络是怎样搭的</summary>

曲线是 6 个网络的均值，色带从最小值画到最大值。各种顺序用同样的权重，初始化方式与 torch 的 `nn.Transformer` 相同；除了后置归一化，末尾都还有一个归一化。损失来自一个随机的分类任务，梯度的大小是它的平方和的平方根。

</details>

**先猜一猜**：后置归一化的 48 层网络，过了前 12 层，余弦的均值接近 0.3、0.6 还是 1？
"""

# %% tags=["answer"]
where_norms_go.panel().still(place="post", depth=48)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It is near 1, at 0.97; pre-norm's is 0.64.

Untrained attention is fairly even, so it adds much the same to every token. What the feed-forward network adds is alike, too, though less, because after ReLU no number is negative. Post-norm then scales each sum back to RMS 1, so what is left of the original token shrinks. In pre-norm it keeps its size, and only its share shrinks.

</details>

How fast tokens become alike depends on the first weights. With BERT's smaller ones, 12 post-norm layers stay below 0.3, and 48 reach 0.9.

Three more orders are in use. The panel writes and draws each, N for the norm. *Output norm*, OLMo 2's, normalizes what f gives, before it is added. The *sandwich* of Gemma 2 normalizes what f reads, too. In *parallel* layers, as in GPT-J, attention f₁ and the feed-forward network f₂ read the same N(x). Any order can have *QK-norm*, too, a norm on queries and keys (next section).

**Predict first.** Which order gives the first of 48 layers the largest gradient? Ask how large the numbers are that f reads. Choose, drag *depth* to 48, and try all five.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

接近 1，是 0.97；前置归一化的是 0.64。

没有训练过的注意力，权重相当平均，给每个词元加上的都差不多。前馈网络加上的也有些像，因为过了 ReLU 就没有负数。后置归一化又把每次相加的结果缩回到均方根 1，所以词元原有的部分一层比一层小。用前置归一化，这一部分大小不变，只是份额越来越小。

</details>

词元有多快变得一样，要看初始权重。像 BERT 那样取得小得多，后置归一化过了 12 层，余弦还不到 0.3，过了 48 层才到 0.9。

实际使用的还有三种顺序，公式和图见面板，N 表示归一化。**输出归一化**（output norm）是 OLMo 2 的顺序，在相加之前把 f 的输出归一化。Gemma 2 的**夹心式**（sandwich）连 f 的输入也归一化。在 GPT-J 那样的**并列式**（parallel）里，注意力 f₁ 和前馈网络 f₂ 读入同一个 N(x)。不论哪一种，都可以再加 **QK-norm**，把注意力里的查询和键也归一化（下一节细讲）。

**先猜一猜**：48 层时，哪种顺序的第一层梯度最大？想一想，f 读入的数有多大。先选好，再把“深度”拖到 48，五种顺序都试一试。
"""

# %% tags=["panel", "guess"]
where_norms_go.panel()

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

Output norm's is the largest, 7.0 (in single stacks 3.7 to 11.3). Pre-norm's is 0.88, parallel's 0.87, the sandwich's 1.1, and post-norm's 0.63 (0.1 to 1.3).

</details>

Each order has its price.

* Post-norm makes tokens alike, and then it no longer matters which of them attention chooses. So in layer 48 the matrices of queries and keys get a gradient below $10^{-7}$, in pre-norm 0.007. ([Noci and others](https://arxiv.org/abs/2206.03126) prove why.)
* In all others the stream grows, to an RMS of 5.8 in pre-norm, and nearly 10 where a norm comes after f.
* The final norm divides by that size, and on the way back it divides every gradient. So the last layer's is small, in pre-norm 0.18 (with 3 layers 0.59). The first layer's is not, because all 47 above read what it adds and send gradients back.
* In output norm, attention reads that grown stream as it is, so its scores grow, and the gradients with them. Tick *QK-norm*, and 7.0 becomes 1.1.

<details><summary>Why nearly 10, and why the last gradient is no smaller there</summary>

Behind f, the norm gives each of 96 additions RMS 1; at right angles they would make √(1 + 96) = 9.8. The final norm divides by that. But the norm behind f divides, too, by the size of what f gives, in the sandwich's last layer 0.54, so its gradient grows again: 0.18 · 5.8 / 9.6 / 0.54 makes 0.2, and 0.19 is measured. (Output norm's f gives as small a share of what it reads.)

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

输出归一化的最大，是 7.0（单个网络从 3.7 到 11.3）。前置归一化的是 0.88，并列式的是 0.87，夹心式的是 1.1；后置归一化的是 0.63（单个网络从 0.1 到 1.3）。

</details>

每种顺序都有代价。

* 后置归一化让词元变得一样，注意力选哪个也就无所谓了。所以在第 48 层，用来计算查询和键的矩阵，梯度不到 $10^{-7}$，而前置归一化的是 0.007。（[Noci 等人](https://arxiv.org/abs/2206.03126)给出了证明。）
* 其余几种，残差流都越来越大，前置归一化的均方根增长到 5.8，在 f 之后做归一化的两种接近 10。
* 末尾的归一化要除以这个大小，梯度往回传时，也都要除以它。所以最后一层的梯度很小，前置归一化的是 0.18（3 层时是 0.59）。第一层的却不小，因为后面 47 层都读到它加上的部分，也都往回传梯度。
* 在输出归一化里，注意力直接读入这样大的残差流，所以得分变大，梯度也跟着变大。勾选“注意力里加 QK-norm”，7.0 就变成 1.1。

<details><summary>为什么接近 10，最后一层的梯度又为什么没有更小</summary>

f 之后的归一化，让 96 次加上的部分均方根都是 1；假如各次互相垂直，就是 √(1 + 96) = 9.8。末尾的归一化要除以它。但是 f 之后的归一化也要除以 f 输出的大小，夹心式的最后一层是 0.54，于是梯度又放大了：0.18 · 5.8 / 9.6 / 0.54 约为 0.2，实际是 0.19。（输出归一化的 f，输出与输入之比也这样小。）

</details>
"""

# %%
x, back = torch.randn(4, 64), torch.randn(4, 64)  # (N, d)
for size in (1.0, 5.8):
    sized = (size * x).requires_grad_()
    (layer_norm(sized, (64,)) * back).sum().backward()
    print(f"{size} · x: |grad| = {sized.grad.norm():.2f}")

# %% [markdown] lang="en"
r"""
With x 5.8 times as large, the gradient is 5.8 times as small. Post-norm's numbers do not grow, so its last gradient is 0.96.

<details><summary>What that may have to do with warm-up, and what our pictures do not show</summary>

In that large gradient [Xiong and others](https://arxiv.org/abs/2002.04745) see why post-norm needs *warm-up*, a learning rate that starts small and grows. For somewhat simpler untrained layers they prove a bound on pre-norm's last gradient that falls like $1/\sqrt{n}$ with n layers; a doubling leaves 0.71. Their post-norm translation model reached 8.45 BLEU (more is better) without warm-up and about 34 with it, which pre-norm reaches without. Our pictures do not prove the connection, for pre-norm's first gradient is as large, and nothing here is trained. [Later work](https://arxiv.org/abs/2004.08249) blames how much, in post-norm, small changes of the weights disturb the output.

</details>

## Norms inside attention

**QK-norm** gives each query and each key an RMSNorm, whose γ begins at 1, before they are rotated.

**Predict first.** In four heads of 16 features, the weights of queries and keys become 16 times as large. How much larger does the largest score become, without QK-norm and with it?
"""

# %% [markdown] lang="zh"
r"""
x 放大到 5.8 倍，梯度就除以 5.8。后置归一化的数不会越来越大，所以最后一层的梯度是 0.96。

<details><summary>这与学习率预热有什么关系，我们的图又说明不了什么</summary>

[Xiong 等人](https://arxiv.org/abs/2002.04745)认为，正因为这个梯度大，后置归一化才需要**学习率预热**（warm-up），也就是开始时学习率很小，再逐步增大。他们对未经训练、稍加简化的层证明，n 层时，前置归一化最后一层的梯度，上界与 $1/\sqrt{n}$ 成正比，层数加倍，上界变为 0.71 倍。论文里，后置归一化的翻译模型，不预热时只得 8.45 分（BLEU，越高越好），预热之后约得 34 分；前置归一化不预热也有这么高。我们的图证明不了两者的关系，因为前置归一化第一层的梯度也差不多大，而且这里什么也没有训练。[后来的研究](https://arxiv.org/abs/2004.08249)则认为，原因是用后置归一化时，权重稍有变化，输出就大不一样。

</details>

## 注意力里面的归一化

**QK-norm** 在旋转之前，用 RMSNorm 归一化每个查询、每个键，也就是除以各自的均方根，再乘 γ；γ 的初值是 1。

**先猜一猜**：四个头，每个 16 个特征，把用来计算查询和键的权重放大到 16 倍。不用 QK-norm 和用 QK-norm，最大的得分各变成原来的几倍？
"""

# %% tags=["answer"]
x, wq, wk = torch.randn(64, 64), torch.randn(64, 64) / 8, torch.randn(64, 64) / 8
for times in (1, 16):
    q, k = ((x @ (times * w)).unflatten(1, (4, 16)).transpose(0, 1) for w in (wq, wk))  # (h, L, 16)
    normed = (rms_norm(y, (16,)) for y in (q, k))
    for name, (a, b) in {"q, k": (q, k), "QK-norm": normed}.items():
        scores = a @ b.mT / 4  # (h, L, L)
        largest = scores.softmax(-1).amax(-1).mean()
        print(f"{times:2} · {name:7} scores.max() = {scores.max():6.1f}, largest weight = {largest:.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Without, 256 times, and on average nearly the whole weight of a query falls on one token. With QK-norm nothing changes. Every query and key is √16 long, so with γ = 1 no score passes √16 · √16 / √16 = 4. (Over all four heads at once, as in the panel, the bound is 16.) Bounded scores are what brought output norm's 7.0 down to 1.1.

The norm comes before the rotation. After it, γ would make scores depend on more than the distance, because it differs between features.

</details>

## One sentence, layer by layer

And a trained network? MiniLM (lesson 09) has six post-norm layers, counted from 0. Each word piece has four marks, one below the other: the RMS of x, of what is added, of the sum, and after the norm. What comes out on the left is the x on the right.

**Predict first.** In layers 0 to 3 the feed-forward network adds far more to one of the 13 pieces. To which, and how large is it after the norm? Drag *layer* to 0.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不用时变成 256 倍，平均下来，一个查询的权重几乎全给了一个词元。用 QK-norm 就什么也不变。每个查询和键的长度都是 √16，所以只要 γ = 1，得分就不超过 √16 · √16 / √16 = 4。（面板里是四个头一起归一化，上界是 16。）输出归一化的 7.0 降到 1.1，正是因为得分有了上界。

归一化要放在旋转之前，因为各个特征的 γ 不同；放在旋转之后，得分就不再只由距离决定。

</details>

## 一句话，逐层看

训练好的网络呢？MiniLM（第 09 课）有六个后置归一化的层，从这里起，层从 0 数起，与代码一致。图中每个子词有四个点：输入 x、加上的部分、两者之和、归一化之后，横坐标是均方根（对数刻度），上下错开只为看清。左图注意力的结果，就是右图前馈网络的输入。

**先猜一猜**：在第 0 层到第 3 层，前馈网络给 13 个子词中的一个加得特别多。是哪一个？归一化之后，它有多大？想好之后，把“层”拖到 0。
"""

# %% tags=["panel"]
reading = minilm_trace()
sentence_through_layers.panel(reading)

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

It adds most to `[CLS]`, which stands for no word. In layer 0 it adds 9.9, and 0.2 to 0.4 to the others. The norm brings the sum, 11.4, down to 0.4 (not to 1, because of γ and β), no larger than the others.

</details>

**Predict first.** That 9.9 is the RMS of 384 features. How many of them are large, nearly all, a tenth, or one?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

加得最多的是 `[CLS]`，它不代表任何词。在第 0 层，前馈网络给它加上的部分，均方根是 9.9，给其他子词的只有 0.2 到 0.4。归一化把两者之和从 11.4 缩到 0.4（不是 1，因为之后还要乘 γ、加 β），不比其他子词大。

</details>

**先猜一猜**：9.9 是 384 个特征的均方根。其中大的有多少个，几乎全部，十分之一，还是只有一个？
"""

# %% tags=["answer"]
added = reading.fed[0, 0]  # (d,)
print(added.abs().topk(3))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One is large. Feature 99 is 194, the next is 1.5. In layers 1 to 3 the largest is feature 99 again.

</details>

Such a single giant is called a [**massive activation**](https://arxiv.org/abs/2402.17762). The same `[CLS]` gets nearly half of all attention here, as an *attention sink* (lesson 09).

## Equal to torch's layers

What you have just seen is an **encoder layer**. A **decoder layer** writes one text with another in view, so it has a third sub-layer in the middle, *cross-attention*. Its queries come from what is written, its keys and values from the encoder's result, the *memory*. Chat models, called *decoder-only*, have no memory to look at, so what is left is an encoder layer with a causal mask.

Ours, in `blocklab.transformer`, get torch's weights, in both orders (`norm_first=True` is pre-norm). γ and β are random, for in fresh norms they are 1 and 0, and a `forward` that forgets both would pass:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大的只有一个。99 号特征是 194，其次的只有 1.5。第 1 层到第 3 层，最大的也都是 99 号特征。

</details>

这样一个大得出奇的数，叫作[**巨大激活值**](https://arxiv.org/abs/2402.17762)（massive activation）。读这句话时，MiniLM 将近一半的注意力，也正是给了这个 `[CLS]`，它是**注意力汇**（见第 09 课的选读）。

## 与 torch 的层一致

刚才看到的就是**编码器层**（encoder layer）。**解码器层**（decoder layer）用来参照一段文本写另一段，例如翻译，所以中间多一个子层，叫作**交叉注意力**（cross-attention），其中查询来自已写的部分，键和值来自编码器的结果（代码里叫 memory）。聊天模型叫作“只有解码器”的模型（decoder-only），没有编码器的结果可以参照，剩下的正是编码器层，再加上因果掩码。

这两种层，我们写在 `blocklab.transformer` 里。下面装入 torch 的权重，两种顺序都与 torch 比较（`norm_first=True` 就是前置归一化）；γ 和 β 要随机取，因为新建的归一化层里它们是 1 和 0，就算 `forward` 里忘了乘 γ、加 β，也能通过。
"""

# %%
x, memory = torch.randn(2, 5, 64), torch.randn(2, 7, 64)  # (N, L, d), (N, S, d)
hidden = ~causal_mask(5)
for ours, theirs, inputs in (
    (EncoderLayer, nn.TransformerEncoderLayer, (x, hidden)),
    (DecoderLayer, nn.TransformerDecoderLayer, (x, memory, hidden)),
):
    for norm_first in (False, True):
        options = {"dropout": 0.0, "norm_first": norm_first, "batch_first": True}
        torchs, layer = theirs(64, 4, 256, **options), ours(64, 4, 256, **options)
        for norm in (part for part in torchs.modules() if isinstance(part, nn.LayerNorm)):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
        layer.load_state_dict(torchs.state_dict(), strict=True)
        torch.testing.assert_close(layer(*inputs), torchs(*inputs))
    print(f"{ours.__name__} = nn.{theirs.__name__}")

# %% [markdown] lang="en"
r"""
## What you will meet elsewhere

| order | what is normalized | in |
|---|---|---|
| post-norm | the sum | the Transformer of 2017, BERT, MiniLM |
| pre-norm | what f reads | GPT-2, Llama, Qwen, glassllm, SmolLM2 |
| output norm | what f gives, before it is added | OLMo 2 |
| sandwich, or Peri-LN | both | Gemma 2, Gemma 3 |
| parallel | what both sub-layers read | GPT-J, Falcon-7B, phi-2 |
| QK-norm, too | queries and keys | Qwen3, Gemma 3 (each head), OLMo 2 (all heads at once, as in the panel) |

Names deceive. In Hugging Face's Llama the feed-forward network reads through `post_attention_layernorm`. In Gemma 2 that norm takes what attention gives. *The Annotated Transformer* explains post-norm and computes pre-norm:

```python
class SublayerConnection(nn.Module):
    "… Note for code simplicity the norm is first as opposed to last."
    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))
```
"""

# %% [markdown] lang="zh"
r"""
## 在别处会遇到什么

| 顺序 | 归一化什么 | 哪些模型在用 |
|---|---|---|
| 后置归一化 | 相加的结果 | 2017 年的 Transformer、BERT、MiniLM |
| 前置归一化 | f 的输入 | GPT-2、Llama、Qwen、glassllm、SmolLM2 |
| 输出归一化（output norm） | f 的输出，在相加之前 | OLMo 2 |
| 夹心式（sandwich，又叫 Peri-LN） | 两者都归一化 | Gemma 2、Gemma 3 |
| 并列式（parallel） | 两个子层共同的输入 x | GPT-J、Falcon-7B、phi-2 |
| 另加 QK-norm | 查询和键 | Qwen3、Gemma 3（每个头各自归一化），OLMo 2（所有头一起，面板里也是这样） |

名称常会误导人。Hugging Face 的 Llama 里，前馈网络读入的是 `post_attention_layernorm` 的结果。Gemma 2 里同名的层，却归一化注意力的输出。《The Annotated Transformer》讲的是后置归一化，代码算的却是前置归一化：

```python
class SublayerConnection(nn.Module):
    "… Note for code simplicity the norm is first as opposed to last."
    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))
```
"""

# %% [markdown] lang="en"
r"""
## Exercise: a layer with four norms

Gemma 2 normalizes what a sub-layer reads and what it gives, but never the sum, so a layer has four norms. The first two norms belong to attention; all six parts are functions of one tensor.
"""

# %% [markdown] lang="zh"
r"""
## 练习：有四个归一化的层

Gemma 2 把子层的输入和输出都归一化，相加的结果则不动，所以一层有四个归一化。请写出完整的一层。前两个归一化属于注意力；传入的六个部件都只接收一个张量。
"""


# %% tags=["exercise"]
def my_sandwich_layer(
    x, attention, feed_forward, input_norm, post_attention_norm, pre_feedforward_norm, post_feedforward_norm
):
    return ...


check("sandwich_layer", my_sandwich_layer)

# %% [markdown] lang="en"
r"""
Stuck? Look at *By hand*, and at the table above.

<details><summary>The idea</summary>

$$y = x + \text{norm}_\text{after}(f(\text{norm}_\text{before}(x)))$$

The equation holds twice, and the second time its x is the first y. Each half uses the norm that comes before its sub-layer on what is read, and the one that comes after on what is given; the sum stays as it is.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？看“动手算”一节和上面的表。

<details><summary>思路</summary>

$$y = x + \text{norm}_\text{after}(f(\text{norm}_\text{before}(x)))$$

公式要用两次，第二次的 x 就是第一次的 y。每一半里，排在子层之前的归一化作用于子层的输入，排在之后的作用于子层的输出；相加的结果不动。

</details>
"""


# %% tags=["solution"]
def solved_sandwich_layer(
    x, attention, feed_forward, input_norm, post_attention_norm, pre_feedforward_norm, post_feedforward_norm
):
    x = x + post_attention_norm(attention(input_norm(x)))
    return x + post_feedforward_norm(feed_forward(pre_feedforward_norm(x)))


check("sandwich_layer", solved_sandwich_layer, keep=False)

# %% [markdown] lang="en"
r"""
## Your functions in SmolLM2

SmolLM2's layer is your pre-norm, twice. Its attention rotates queries and keys (lesson 11), and three neighboring heads of queries share one of keys and values (*grouped queries*, lesson 13). It is asked to complete *The capital of France is*. What you have kept runs:
"""

# %% [markdown] lang="zh"
r"""
## 你的函数，装进 SmolLM2

SmolLM2 的一层，就是把你写的前置归一化用两次。它的注意力要旋转查询和键（第 11 课），每三个相邻的查询头共用一个键头和一个值头，这叫**分组查询**（grouped queries），第 13 课再细讲。要它补全的是 The capital of France is（法国的首都是）。保存过的函数用你写的，其余的用我们的。
"""

# %%
mine = load_or_reference(
    "rms_norm", "rotary_embedding", "split_heads", "causal_mask", "attention", "swiglu", "pre_norm"
)


# %% [markdown] lang="en"
r"""
**Your turn, two lines.** Join the parts. `around(x, sublayer, norm)` is a residual connection with its norm, here your pre-norm.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，用两行把各个部分拼起来。`around(x, sublayer, norm)` 是带归一化的残差连接，这里传入的就是你写的前置归一化。
"""


# %% tags=["exercise", "slow"]
def my_layer(x, attention, swiglu, norm1, norm2, around):
    return ...


with skip_if_missing():
    print(swap_layer(my_layer, parts_of(mine), mine.pre_norm))
check("smollm2_layer", my_layer)

# %% [markdown] lang="en"
r"""
Stuck? It is the layer of the last exercise, with `around` for each sum and its norm.

<details><summary>The idea</summary>

One call of `around` for each sub-layer, attention first. The second call takes what the first gives as its x.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？它就是上一个练习的那一层，只是每次相加连同归一化，都由 `around` 来做。

<details><summary>思路</summary>

每个子层调用一次 `around`，注意力在前。第二次调用的 x，就是第一次的结果。

</details>
"""


# %% tags=["solution", "slow"]
def solved_layer(x, attention, swiglu, norm1, norm2, around):
    x = around(x, attention, norm1)
    return around(x, swiglu, norm2)


with skip_if_missing():
    print(swap_layer(solved_layer, parts_of(mine), mine.pre_norm))
check("smollm2_layer", solved_layer, keep=False)

# %% [markdown] lang="en"
r"""
So 30 copies of your layer say Paris. In [lesson 15](15_your_model.ipynb) the whole model is yours.

<details><summary>And in post-norm?</summary>

Put `lambda x, f, norm: norm(x + f(x))` in place of `mine.pre_norm` in the cell above. The same weights, trained in the other order, then say "enthus enthus enthus …".

</details>
"""

# %% [markdown] lang="zh"
r"""
30 层一起，答出了巴黎（Paris）。到[第 15 课](15_your_model.ipynb)，整个模型都由你写的函数组成。

<details><summary>换成后置归一化呢？</summary>

在上面的单元格里，把 `mine.pre_norm` 换成 `lambda x, f, norm: norm(x + f(x))`。权重没有变，却是按另一种顺序训练的，于是它只会说 enthus enthus enthus……

</details>
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. How many norms have six encoder and six decoder layers in post-norm? And in pre-norm, with final norms?

<details><summary>Answer</summary>

One for each sub-layer: 6 · 2 + 6 · 3 = 30. Pre-norm adds one after the encoder and one after the decoder: 32. (torch's `nn.Transformer` has these two in either order, so it always has 32.)

</details>

2. A home-made pre-norm stack has an RMS of 1.2 after 48 layers, not 5.8. Which mistake do you suspect, and which test finds it at once?

<details><summary>Answer</summary>

It goes on from the normalized x, `norm(x) + f(norm(x))`, so nothing piles up. Its cosine is 1.00, and so its tokens become alike, as in post-norm. Silence the sub-layers (output weights and biases 0), and a right layer gives back x exactly.

</details>

3. You build a chat model from torch's layers. Encoder or decoder layers, and what do you hand them besides the text?

<details><summary>Answer</summary>

Encoder layers, for there is no memory to look at. Because they rotate nothing, you add positions to the embeddings (lesson 10). Each layer gets a causal mask in which True is hidden, and in pre-norm the stack also needs a norm at its end.

</details>

The cell tests answers 3 and 2.
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 六个编码器层和六个解码器层，用后置归一化时一共有多少个归一化层？用前置归一化，再加上编码器末尾和解码器末尾的，又有多少个？

<details><summary>答案</summary>

每个子层一个：6 · 2 + 6 · 3 = 30。前置归一化在编码器末尾和解码器末尾各加一个，共 32 个。（torch 的 `nn.Transformer` 不论哪种顺序都有末尾这两个，所以总是 32 个。）

</details>

2. 有人自己写的前置归一化网络能运行，但 48 层之后均方根是 1.2，不是 5.8。你怀疑是哪种错误？怎样的测试马上就能发现？

<details><summary>答案</summary>

它往下传的是归一化之后的 x，即 `norm(x) + f(norm(x))`，所以什么也积累不起来；余弦也到了 1.00，词元像用后置归一化时那样变得一样。让子层只输出零（把子层最后一个矩阵和偏置都设为 0），正确的层就会原样给出 x。

</details>

3. 你用 torch 的层搭一个聊天模型。用编码器层还是解码器层？除了文本，还要传入什么？

<details><summary>答案</summary>

用编码器层，因为没有编码器的结果可以参照。这些层不旋转查询和键，所以要先给词嵌入加上位置编码（第 10 课）。每层都要传入因果掩码，其中 True 表示屏蔽；如果用前置归一化，整个网络末尾还要再放一个归一化。

</details>

下一个单元格先演示第 3 题（推动一个词元，哪些输出会变），再演示第 2 题。
"""

# %%
layer, x = EncoderLayer(64, 4, 256, dropout=0.0, norm_first=True), torch.randn(2, 5, 64)
for token in (0, 3):
    pushed = x.clone()
    pushed[:, token] += torch.randn(64)
    moved = (layer(pushed, hidden) - layer(x, hidden)).abs().amax((0, 2)) > 1e-6
    print(f"x[{token}] → y{moved.nonzero().flatten().tolist()}")
for linear in (layer.self_attn.out_proj, layer.linear2):
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
print("f = 0: max |y − x| =", (layer(x) - x).abs().max().item())

# %% [markdown] lang="en"
r"""
## In short

* A layer is attention, then the feed-forward network; each adds what it gives to what came in.
* Post-norm rescales every sum, so with depth untrained tokens become alike; the weights decide how fast. The others carry x on as it is, so the stream grows, and the last gradients shrink.
* A norm after a sub-layer bounds what it adds, QK-norm bounds the scores. Where a norm stands you see in `forward`, not in its name.

The layer is whole. But for each new token, must it compute all the old ones again? See [lesson 13](13_kv_cache.ipynb).

## Read next

* [Xiong and others, 2020](https://arxiv.org/abs/2002.04745): post-norm against pre-norm.
* [Gemma 2 in Hugging Face's code](https://github.com/huggingface/transformers/blob/main/src/transformers/models/gemma2/modeling_gemma2.py): find your four norms.
* [Peri-LN](https://arxiv.org/abs/2502.02732): norms on both sides, in training.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 一层就是先注意力、后前馈网络，各把自己的输出加到输入上。
* 后置归一化每次都缩放相加的结果，所以未经训练的网络越深，词元就越像，有多快要看初始权重。其余几种让 x 原样通过，所以网络越深，残差流就越大，最后几层的梯度就越小。
* 子层之后的归一化限制每次加上多少，QK-norm 限制得分有多大。归一化层究竟放在哪里，不能看名字，要看 `forward`。

一层已经完整了。可是每生成一个新词元，都得把前面的重新算一遍吗？见[第 13 课](13_kv_cache.ipynb)。

## 接着读

* [Xiong 等，2020](https://arxiv.org/abs/2002.04745)：比较后置归一化与前置归一化。
* [Hugging Face 代码里的 Gemma 2](https://github.com/huggingface/transformers/blob/main/src/transformers/models/gemma2/modeling_gemma2.py)：在它的解码器层里找出你写的四个归一化。
* [Peri-LN](https://arxiv.org/abs/2502.02732)：前后都归一化，训练过程中会怎样。
"""

# %% [markdown] lang="en"
r"""
## Going further: your layer, 48 times

Your function now takes the layers' place in the panel, with the same weights and tokens. **Predict first.** Pre-norm ended at RMS 5.8 and cosine 0.85. Will each be larger with your layer, or smaller?
"""

# %% [markdown] lang="zh"
r"""
## 选读：把你的层叠 48 次

现在用你写的函数代替面板里的层，权重和词元都不变。**先猜一猜**：前置归一化最后的均方根是 5.8，余弦是 0.85。换成你的层，两个数各会变大还是变小？
"""

# %% tags=["answer"]
print(your_stack.told(my_sandwich_layer))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Both are larger, 9.6 and 0.92, as in the panel's sandwich.

</details>

The stream grows larger, but predictably, because until training changes γ, no sub-layer, however wild, adds more than RMS 1. The cosine is higher, too, because beside larger additions what is left of the original token counts for less.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

都变大，是 9.6 和 0.92，与面板里的夹心式一样。

</details>

残差流虽然更大，好处是增长多少可以预先估计，因为在训练改变 γ 之前，不论子层的输出多大，加上去的部分均方根至多是 1。余弦也高一些，因为加上的部分更大，词元原有的部分占的份额就更小。
"""

# %% [markdown] lang="en"
r"""
## Going further: a tanh in a norm's place

**DyT**, [dynamic tanh](https://arxiv.org/abs/2503.10622), stands where a norm would, γ · tanh(αx) + β, with a learned α, which begins at 0.5 here. It knows neither mean nor RMS, so it is no norm. **Predict first.** LayerNorm gives every token RMS 1. What does DyT give for tokens of RMS 0.1, 1 and 10?
"""

# %% [markdown] lang="zh"
r"""
## 选读：用 tanh 代替归一化

**DyT**（[动态 tanh](https://arxiv.org/abs/2503.10622)）放在归一化的位置上，算的是 γ · tanh(αx) + β，其中 α 也要学，这里的初值是 0.5。它不算均值，也不算均方根，所以并不是归一化。**先猜一猜**：经过 LayerNorm，每个词元的均方根都是 1。词元的均方根是 0.1、1 和 10 时，DyT 的结果各是多少？
"""

# %% tags=["answer"]
tokens = torch.randn(16, 64)  # (L, d)
for size in (0.1, 1.0, 10.0):
    rms = [y.square().mean().sqrt() for y in (layer_norm(size * tokens, (64,)), dyt(size * tokens, 0.5))]
    print(f"{size:4} · x: LayerNorm {rms[0]:.2f}, DyT {rms[1]:.2f}")

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

About 0.05, 0.4 and 0.9.

</details>

Small tokens are halved, by α, and stay small; only large numbers are cut down, to 1. Still, its authors report Transformers that train about as well with it as with norms. They began with an observation: what trained LayerNorms give, drawn against what they read, often is an S, like tanh. And in a deep stack? Here DyT stands in the two places of pre-norm:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大约是 0.05、0.4 和 0.9。

</details>

小的词元只是乘上 α 减半，仍然小；只有大的数被压下去，最多到 1。可是它的作者报告说，用它训练 Transformer，效果与用归一化时差不多。这个想法来自一个现象：以训练好的 LayerNorm 的输入为横轴、输出为纵轴，画出来往往是 S 形，很像 tanh。放进很深的网络又会怎样？下面把 DyT 放在前置归一化的两个位置上：
"""


# %%
def dyt_layer(x, attention, feed_forward, *_norms):
    x = x + attention(dyt(x, 0.5))
    return x + feed_forward(dyt(x, 0.5))


print(your_stack.told(dyt_layer))

# %% [markdown] lang="en"
r"""
Pre-norm's own 48 layers end at RMS 5.8 and cosine 0.85. With DyT the sub-layers read smaller numbers and add less, so the stream grows less and more of each token is left.
"""

# %% [markdown] lang="zh"
r"""
前置归一化的 48 层，最后均方根是 5.8，余弦是 0.85。换成 DyT，子层读到的数更小，加上的也更少，所以残差流增长得慢一些，词元原有的部分也留下得多一些。
"""

# %% [markdown] lang="en"
r"""
## Going further: the norm at the end

Even with `norm_first=True`, torch's `nn.TransformerEncoder` adds no last norm unless it is given one. (`nn.Transformer` always gives it one.) The RMS after 12 layers:
"""

# %% [markdown] lang="zh"
r"""
## 选读：末尾的归一化

就算设了 `norm_first=True`，torch 的 `nn.TransformerEncoder` 也不会在末尾加上归一化，除非传给它一个（`nn.Transformer` 总是传的）。下面是 12 层之后的均方根：
"""

# %%
layer = nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, norm_first=True)
for name, end in {"norm=None": None, "norm=nn.LayerNorm(64)": nn.LayerNorm(64)}.items():
    stack = nn.TransformerEncoder(layer, 12, norm=end, enable_nested_tensor=False)
    rms = stack(x).square().mean().sqrt()
    print(f"{name:21} RMS {rms:.1f}")

# %% [markdown] lang="en"
r"""
The first number is so large because `nn.TransformerEncoder` copies one layer. All twelve start with the same weights and push the same way; twelve drawn anew end between 1.4 and 1.8. (The panel's stacks of 12 stand at 2.7, because `nn.Transformer` draws larger weights than a layer made alone.)
"""

# %% [markdown] lang="zh"
r"""
第一个数这样大，是因为 `nn.TransformerEncoder` 只是把一层复制多份，十二层的初始权重一模一样，都往同一个方向加。各层分别随机初始化，只有 1.4 到 1.8。（面板里 12 层时是 2.7，因为按 `nn.Transformer` 的方式初始化的权重，比单独新建一层时大。）
"""

# %% [markdown] lang="en"
r"""
## Going further: post-norm, and a whole layer

First one whole layer in post-norm, with two norms.
"""

# %% [markdown] lang="zh"
r"""
## 选读：后置归一化，以及完整的一层

先写后置归一化的完整一层，它只有两个归一化。
"""


# %% tags=["exercise"]
def my_post_norm_layer(x, attention, feed_forward, norm1, norm2):
    return ...


check("post_norm_layer", my_post_norm_layer)

# %% [markdown] lang="en"
r"""
Stuck? The equation of post-norm stands in *By hand*.

<details><summary>The idea</summary>

Use it twice, with the norm around everything; the second half knows nothing of the first x.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？后置归一化的公式在“动手算”一节。

<details><summary>思路</summary>

公式用两次，归一化总在最外面；后一半用不到最初的 x。

</details>
"""


# %% tags=["solution"]
def solved_post_norm_layer(x, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))


check("post_norm_layer", solved_post_norm_layer, keep=False)

# %% [markdown] lang="en"
r"""
Now complete the `nn.Module` below, with torch's names: `self_attn`, `linear1`, `linear2`, `norm1`, `norm2`, and ReLU between the linear layers. `src` is `(N, L, d)`; True in the mask is hidden. Use post-norm, torch's default, or set `self.norm_first = True` and use pre-norm. (Inputs for the other order are then left out of the check.)

If you write the attention yourself, too, you need to know that the three matrices stand one below the other in `in_proj_weight`, first all rows of the query, then the key's, then the value's; each of the `nhead` heads takes neighboring features, and `out_proj` comes last.
"""

# %% [markdown] lang="zh"
r"""
再把下面的 `nn.Module` 写完整，各部分的名称与 torch 相同：`self_attn`、`linear1`、`linear2`、`norm1`、`norm2`，两个线性层之间是 ReLU。`src` 的形状为 `(N, L, d)`；掩码中 True 表示屏蔽。顺序用 torch 默认的后置归一化；想用前置归一化，就加一行 `self.norm_first = True`。（检查时，会略过属于另一种顺序的输入。）

如果连注意力也自己写，要知道三个矩阵上下叠放在 `in_proj_weight` 里，先是查询的各行，再是键的，最后是值的；`nhead` 个头各取相邻的一段特征，末尾还要经过 `out_proj`。
"""


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

# %% [markdown] lang="en"
r"""
Stuck? Begin with the parts that torch's layer has by name, then write `forward` as the function above.

<details><summary>The idea</summary>

The Module only holds the parts; its `forward` is the post-norm layer once more, with the mask handed on to attention and ReLU between the two linear layers.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先按名称备齐 torch 那一层的各个部分，再像上面的函数那样写 `forward`。

<details><summary>思路</summary>

模块只是存放各个部分；`forward` 还是那个后置归一化的层，只要把掩码传给注意力，并在两个线性层之间放上 ReLU。

</details>
"""


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


check("encoder_layer", SolvedEncoderLayer(8, 2, 12), keep=False)

# %% [markdown] lang="en"
r"""
## Going further: a language model

glassllm (lesson 06) is pre-norm with RMSNorm, rotary positions and SwiGLU. Here it runs on our functions alone, beside its own package's NumPy model:
"""

# %% [markdown] lang="zh"
r"""
## 选读：一个语言模型

glassllm（第 06 课）用的是前置归一化、RMSNorm、旋转位置编码和 SwiGLU。这里全部换成我们的函数，再与它自带的 NumPy 模型比较：
"""

# %% tags=["slow"]
with skip_if_missing():
    ours = load_glassllm()
    from glassllm import load_pretrained

    theirs, tokenizer = load_pretrained("en")
    ids = torch.tensor([tokenizer.encode("Alice was beginning to get very tired of sitting by her sister on the bank")])
    wanted = torch.from_numpy(theirs(ids.numpy()).data).float()  # (N, L, 1024), scores of the next token
    torch.testing.assert_close(ours(ids).detach(), wanted, atol=1e-4, rtol=0)
    print(Text(en="off by less than 0.0001, largest", zh="相差不到 0.0001，最大的数"), f"{wanted.max():.0f}")

# %% [markdown] lang="en"
r"""
## Going further: a task of a few seconds

Everything at once: positions from lesson 10, one encoder layer, one decoder layer, both pre-norm, causal mask. The network reads six digits and writes them backwards; digit 10 stands for "start". Cross-entropy, Adam, no warm-up, the learning rate goes down to 0; 200 steps of 64 random sequences, 12800 in all of 1000000 possible ones.
"""

# %% [markdown] lang="zh"
r"""
## 选读：几秒钟的小任务

把所有部件用在一起：第 10 课的位置编码、一个编码器层、一个解码器层（都是前置归一化）、因果掩码。网络读入六个数字，再倒着写出来；数字 10 表示“开始”。损失用交叉熵（cross-entropy），优化器用 Adam，不预热，学习率逐步降到 0。训练 200 步，每步 64 个随机序列，一共 12800 个，而可能的序列有 1000000 个。
"""

# %% tags=["slow"]
from blocklab import LayerNorm, sinusoidal_encoding


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
slower = torch.optim.lr_scheduler.LinearLR(adam, 1, 0, 200)
for _ in progress_bar(range(200), Text(en="training step", zh="训练步数")):
    read = torch.randint(10, (64, 6))  # (N, L)
    answer = read.flip(1)
    written = nn.functional.pad(answer[:, :-1], (1, 0), value=10)  # (N, L)
    loss = nn.functional.cross_entropy(net(read, written).flatten(0, 1), answer.flatten())
    adam.zero_grad()
    loss.backward()
    adam.step()
    slower.step()

# %% [markdown] lang="en"
r"""
**Predict first.** How many of 1000 new sequences of six digits does it now reverse without a mistake? And of four, or ten digits?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：给它 1000 个新的六位序列，它现在能一字不差地倒写出多少个？换成四位或十位的呢？
"""

# %% tags=["slow", "answer"]
with torch.no_grad():
    for length in (4, 6, 10):
        read = torch.randint(10, (1000, length))
        written = torch.full((1000, 1), 10)
        for _ in range(length):
            written = torch.cat([written, net(read, written)[:, -1:].argmax(-1)], 1)
        print(reversal.told(read, written[:, 1:]))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It reverses nearly all of those with six digits, hardly any of the others. (With 20 random seeds at least 99.9%, and at most 0.3%.)

</details>

The places say, for each of the first six digits it wrote, which one it read (counted from 0) is most often the same. Of ten digits it reverses the first six; with four, places 5 and 4 do not exist, and it writes the last digit. It has not learned to reverse; it has learned which of six places to look at.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

六位的几乎全能倒写，其他的几乎全错。（换 20 个随机种子，六位的至少对 99.9%，其他的至多 0.3%。）

</details>

打印出的位置说明，它写出的前六个数字，各自最常与读入的第几个相同（从 0 数起）。十位的，它只倒写前六个；四位的没有位置 5 和 4，它就写最后一个数字。它没有学会倒写，只学会了该看六个位置中的哪一个。
"""
