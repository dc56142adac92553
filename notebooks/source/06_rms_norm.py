# %% [markdown] lang="en"
r"""
# 06 What is lost when the mean stays?

Give the chat model SmolLM2 a text. In layer 12 the vector of its first token grows to more than 100 times the size of the others, and it shrinks only in the last layers. The layers never see that size, because each of them reads its tokens through one line of code that makes them equally large. That line is **RMSNorm**. LayerNorm (lesson 05) does so, too, after a first step that RMSNorm skips, subtracting the mean. What is lost, and does a trained model miss it?

In SmolLM2 RMSNorm stands at 61 places, before each attention, before each feed-forward network and at the end.

After this lesson you can say what each of the two ignores, draw where their outputs lie, write RMSNorm, and see what SmolLM2 answers with your function inside. It takes about 55 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 06 不减均值，丢掉了什么？

随便给聊天模型 SmolLM2 一段文字。到了第 12 层，表示第一个词元（token）的那个向量，一下子长到其他词元的 100 多倍，直到最后几层才缩回去。可是各层都看不到它有这么大，因为每一层读取词元之前，都有一行代码把它们变得一样大。这行代码就是 **RMSNorm**（均方根归一化）。第 05 课的层归一化（LayerNorm）也能做到这一点，不过它要先减去均值，RMSNorm 跳过了这一步。少了它，究竟丢掉了什么？训练好的模型在不在乎？

在 SmolLM2 里，RMSNorm 出现在 61 处，每个注意力之前、每个前馈网络之前各有一处，最后还有一处。

学完这一课，你能分别说出，对词元做哪些改动不会影响这两种层的输出，能画出它们的输出落在哪里，能写出 RMSNorm，还能看到 SmolLM2 换上你的函数之后怎么回答。大约需要 55 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import layer_norm, rms_norm
from blocklab_course import check, plug_in
from blocklab_course.lessons.rms_norm import circle_and_sphere, mean_and_rms, output
from blocklab_course.lessons.rms_norm.three_texts import THREE_TEXTS
from blocklab_course.pretrained.prompts import ZEN
from blocklab_course.pretrained import skip_if_missing, load_smollm2, patch_functions, smollm2_rms_norms

# %% [markdown] lang="en"
r"""
## Two questions first

1. The token 1, 2, 3, 4 goes through LayerNorm, with γ = 1 and β = 0. What are the mean of the output and the mean of its squares?
2. PyTorch's BatchNorm trains with `momentum=0.1`. How much does the start value of the running mean still count after 10 steps?

<details><summary>Answers</summary>

1. The mean is 0, and the mean of the squares, apart from the small ε, 1.
2. It counts $0.9^{10} = 0.35$, about a third.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 词元 1、2、3、4 经过层归一化，γ = 1，β = 0。输出的均值是多少？均方，也就是平方的均值呢？
2. PyTorch 的批量归一化（BatchNorm）用 `momentum=0.1` 训练。10 步之后，初值在运行均值里还占多少？

<details><summary>答案</summary>

1. 均值是 0；除了很小的 ε 的影响，均方是 1。
2. 初值还占 $0.9^{10} = 0.35$，约三分之一。

</details>
"""

# %% [markdown] lang="en"
r"""
## By hand

A model represents each token by d numbers, its *features*; below, *token* often means this vector. RMSNorm asks how large the features are on the whole, and divides by the answer. For 1, 2, 3, 4 the squares are 1, 4, 9, 16, their mean is 7.5, and its root, 2.74, is the **root mean square**. With the ε of lesson 05 and a learned scale γ, but no β:

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

**Predict first.** The second token below is ten times the first. How do the outputs differ, and can one be negative?
"""

# %% [markdown] lang="zh"
r"""
## 动手算

模型用 d 个数（d 个**特征**）表示一个词元；下文的“词元”常指这个向量。RMSNorm 先看这些数总体上有多大，再除以这个大小。以 1、2、3、4 为例，平方是 1、4、9、16，均值是 7.5，再开方得 2.74，这就是**均方根**（root mean square）。加上第 05 课的小常数 ε 和可学习的缩放参数 γ（没有 β），就得到

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

**先猜一猜**：下面的第二个词元是第一个的十倍，两个输出有什么不同？这里会出现负数吗？
"""

# %% tags=["answer"]
x = torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40]])  # (N, d)
mean_square = x.square().mean(-1, keepdim=True)  # (N, 1)
y = x / (mean_square + 1e-5).sqrt()  # (N, d)
output.by_hand(mean_square, y)
torch.testing.assert_close(y, rms_norm(x, (4,), eps=1e-5))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The outputs are the same, up to the small ε, because ten times the token has ten times the root mean square. No output is negative, for a positive divisor leaves every sign as it is.

</details>

**Your turn, one line.** What is the root mean square of the token `[3, 4]`? Replace `None` by the number or a formula.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

除了很小的 ε 的影响，两个输出相同，因为词元变成十倍，均方根也变成十倍。输出里没有负数，因为除数是正的，正负号都不会变。

</details>

**轮到你了**，只写一行：词元 `[3, 4]` 的均方根是多少？请把 `None` 换成这个数，或者换成算式。
"""

# %% tags=["exercise"]
my_root_mean_square = None

check("root_mean_square", my_root_mean_square)

# %% [markdown] lang="en"
r"""
Stuck? Go through *By hand* again, with two numbers.

<details><summary>The idea</summary>

The name, read backwards, is the recipe: square, take the mean, take the root. The squares are 9 and 16, and there are two of them.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？把“动手算”一节再走一遍，只是四个数换成两个。

<details><summary>思路</summary>

倒着读英文名就是做法，先平方，再求均值，最后开方。两个平方是 9 和 16，一共两个数。

</details>
"""

# %% tags=["solution"]
solved_root_mean_square = ((3**2 + 4**2) / 2) ** 0.5

check("root_mean_square", solved_root_mean_square, keep=False)

# %% [markdown] lang="en"
r"""
## Three hundred tokens

What does a token lose on the way? With three features we can look, for a token is then a point in space. Here are 300, alike on both sides. The *diagonal* `(1, 1, 1)` points up, so a higher point has a larger mean; hollow points start with a mean below 0.

Step 1, subtracting the mean, is LayerNorm's alone. In step 2 it divides by the standard deviation, RMSNorm by the root mean square. *Shift* is added to every number beforehand.

**Predict first.** After both steps, what shape do LayerNorm's 300 outputs form? Choose, then drag *steps* to 2; *turn* and *tilt* turn the picture.
"""

# %% [markdown] lang="zh"
r"""
## 三百个词元

词元经过这样的层，丢掉了什么？特征只有三个时可以亲眼看到，因为这时一个词元就是空间里的一个点。这里有 300 个点，左右两图用的是同一批。**对角线** `(1, 1, 1)` 朝上，所以点越高，均值就越大；空心点起初的均值小于 0。

第 1 步，让每个词元减去自己的均值，只有层归一化做这一步。第 2 步，层归一化除以标准差，RMSNorm 除以均方根。“平移”是事先给每个数加上的值。

**先猜一猜**：两步都做完之后，层归一化的 300 个输出组成什么形状？先选，再把“步骤”拖到 2；用“旋转”和“俯仰”可以从各个方向看。
"""

# %% tags=["panel", "guess"]
circle_and_sphere.panel()

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

LayerNorm's outputs form a circle. Step 1 drops every point onto the plane of mean 0, at a right angle to the diagonal; stop *steps* at 1 to see it. Step 2 moves it straight out or in until it is √3 from the origin. Plane and sphere meet in a circle. (The picture zooms in; the wires are the same sphere throughout.)

</details>

RMSNorm skips step 1 and keeps each token's *direction*, so its points cover the sphere of radius √3. With d features its outputs meet one condition, length √d, LayerNorm's a second one, mean 0.

**Predict first.** With both steps done, *shift* goes from 0 to 10. What becomes of the two shapes? Drag it, then run the cell.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

层归一化的输出组成圆周。第 1 步让每个点都落到均值为 0 的平面上，这个平面与对角线垂直；把“步骤”停在 1，就能看到。第 2 步让点沿直线向外或向里移动，直到离原点 √3。平面与球面相交，就得到圆周。（图会自动放大；线框始终是同一个球面。）

</details>

RMSNorm 跳过第 1 步，保留了每个词元的**方向**，所以点布满半径为 √3 的整个球面。有 d 个特征时，RMSNorm 的输出只满足一个条件，就是长度为 √d；层归一化的输出还要满足第二个条件，均值为 0。

**先猜一猜**：两步都做完，把“平移”从 0 拖到 10，两个形状各会怎样？拖完再运行下面的单元格。
"""

# %% tags=["answer"]
tokens = circle_and_sphere.three_number_tokens()  # (N, d)
for shift in (0, 1, 3, 10):
    moved = layer_norm(tokens + shift, (3,)) - layer_norm(tokens, (3,))
    angles = circle_and_sphere.angles(rms_norm(tokens + shift, (3,)))
    output.effect_of_shift(shift, moved.abs().max(), angles.quantile(0.5))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

LayerNorm's circle does not move. RMSNorm's points crowd around the diagonal, until half of them lie within 4° of it.

</details>

So a large common mean would make RMSNorm's tokens hard to tell apart. Do real tokens have one?

## Two divisors

RMSNorm is not LayerNorm minus one step, because the divisor changes, too. A token is μ in every feature plus a rest that adds up to 0. The two parts stand at a right angle, so by Pythagoras their squared lengths, $d\mu^2$ and $d\sigma^2$, add up to that of the token. Divided by d, this is

$$\text{RMS}^2 = \mu^2 + \sigma^2$$

In the triangle LayerNorm divides by the orange side, RMSNorm by the blue one. The token is `[1, 2, 3, 4]` times *scale*, plus *shift*.

**Predict first.** With *scale* left at 1, at which shift do both layers give the same four numbers?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

层归一化的圆周一动不动。RMSNorm 的点都挤到对角线周围，最后有一半与它的夹角不到 4°。

</details>

所以，如果所有特征都带着一个很大的公共均值，经过 RMSNorm 之后，词元就很难分辨了。真实的词元有没有这样的均值？后面来看。

## 两个除数

RMSNorm 不只是比层归一化少一步，因为除数也变了。词元可以拆成两部分，一部分的每个特征都是 μ，另一部分是余下的数。余下的数之和为 0，所以两部分互相垂直。由勾股定理，它们长度的平方 $d\mu^2$ 与 $d\sigma^2$ 之和，等于词元长度的平方；都除以 d，就是

$$\text{RMS}^2 = \mu^2 + \sigma^2$$

在三角形里，层归一化除以橙色的边，RMSNorm 除以蓝色的边。词元是 `[1, 2, 3, 4]`，先乘以“缩放”，再加上“平移”。

**先猜一猜**：“缩放”保持 1，“平移”取多少时，两种层给出相同的四个数？
"""

# %% tags=["panel", "guess"]
mean_and_rms.panel()

# %% [markdown] lang="en" gone=1
r"""
<details><summary>Answer</summary>

Both layers agree at shift −2.5. There the mean is 0, and the two divisors are one.

</details>

In general, but for γ and β, LayerNorm(x) = RMSNorm(x − μ), so the two agree only where μ = 0.

The [paper](https://arxiv.org/abs/1910.07467) compares layers by their *invariances*, the changes that leave the output alone. A layer often gets a product, `X @ W.T`, so a change can come from the tokens `X` or the weights `W`. The cell runs the paper's list; `b` is one vector, `one_unit` and `one_token` change one row only.

**Predict first.** In how many of the six lines do LayerNorm and RMSNorm differ?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

“平移”取 −2.5 时，两种层的输出相同。这时均值为 0，两个除数相等。

</details>

一般地，在乘 γ、加 β 之前，LayerNorm(x) = RMSNorm(x − μ)，所以只有 μ = 0 时，两种层才一致。

RMSNorm 的[论文](https://arxiv.org/abs/1910.07467)用**不变性**（invariance）来比较各种层，也就是哪些改动不影响输出。一层的输入常常是乘积 `X @ W.T`，所以改动可以来自词元 `X`，也可以来自权重 `W`。下一个单元格把论文列出的改动逐条运行一遍；`b` 是一个向量，`one_unit` 和 `one_token` 只改其中一行。

**先猜一猜**：六行里有几行，层归一化和 RMSNorm 的答案不同？
"""

# %% tags=["answer"]
X, W, b = (torch.randn(shape, dtype=torch.float64) for shape in ((5, 4), (6, 4), 4))  # 5 tokens, 6 units
one_unit, one_token = torch.ones(6, 1), torch.ones(5, 1)
one_unit[1], one_token[1] = 2, 3
changes = {"2.5 * W": (X, 2.5 * W), "W + b": (X, W + b), "one_unit * W": (X, one_unit * W)}
changes |= {"2.5 * X": (2.5 * X, W), "X + b": (X + b, W), "one_token * X": (one_token * X, W)}
for name, (x_new, w_new) in changes.items():
    old, new = X @ W.T, x_new @ w_new.T  # (tokens, units) each
    same = [torch.allclose(norm(new, (6,), eps=0), norm(old, (6,), eps=0)) for norm in (layer_norm, rms_norm)]
    output.same_or_new(name, *same)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

They differ in one line, `W + b`. It adds one vector to the weights of all units, and so one number to all features of a token; only LayerNorm takes it away.

</details>

This *re-centering invariance* is what is lost when the mean stays, and in this list nothing else.

## Exercise: RMSNorm

* `normalized_shape` is a tuple, the sizes of the last axes, which share one root mean square.
* `weight` is γ, or `None`.
* `eps` may be `None`, too. Then take `torch.finfo(dtype).eps` of the type you compute in.
* The result has the type of x.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有 `W + b` 一行不同。它给所有单元的权重加上同一个向量，也就给词元的所有特征加上了同一个数，只有层归一化能把它减掉。

</details>

不减均值，丢掉的就是这种**重新中心化不变性**（re-centering invariance）；在这张表里，也只丢掉了它。

## 练习：RMSNorm

* `normalized_shape` 是一个元组，即最后几个轴的大小，这些轴上的数共用一个均方根。
* `weight` 是 γ，也可以是 `None`。
* `eps` 也可以是 `None`，这时取计算时所用类型的 `torch.finfo(dtype).eps`。
* 结果的类型与 x 相同。
"""


# %% tags=["exercise"]
def my_rms_norm(x, normalized_shape, weight=None, eps=None):
    return ...


check("rms_norm", my_rms_norm)

# %% [markdown] lang="en"
r"""
Stuck? *By hand* has the formula.

<details><summary>The idea</summary>

Widen 16-bit types to float32, because squares overflow in float16. Square, take the mean over as many last axes as `normalized_shape` has sizes (with `keepdim=True`), add ε, take the root, divide. Then γ, and the old type last, so that everything is rounded once.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？公式在“动手算”一节。

<details><summary>思路</summary>

16 位的类型先转成 float32，因为在 float16 里一平方就可能溢出。然后平方；`normalized_shape` 有几项，就沿最后几个轴求均值（带上 `keepdim=True`）；加上 ε，开方，相除。然后乘 γ，最后才转回原来的类型，这样只舍入一次。

</details>
"""


# %% tags=["solution"]
def solved_rms_norm(x, normalized_shape, weight=None, eps=None):
    axes = tuple(range(-len(normalized_shape), 0))
    wide = x if x.dtype == torch.float64 else x.float()
    eps = torch.finfo(wide.dtype).eps if eps is None else eps
    y = wide / (wide.square().mean(axes, keepdim=True) + eps).sqrt()
    return (y if weight is None else y * weight).to(x.dtype)


check("rms_norm", solved_rms_norm, keep=False)

# %% [markdown] lang="en"
r"""
## Your function in a trained model

`plug_in` puts your function into SmolLM2, at all 61 places, and has it complete a sentence and read a text. Its *loss* there is the mean of −ln p, p being the probability of the true next token.
"""

# %% [markdown] lang="zh"
r"""
## 你的函数在训练好的模型里

`plug_in` 把你的函数放进 SmolLM2 的全部 61 处，让它补全一个句子，再读一段文字。读文字时的**损失**（loss）是 −ln p 的均值，p 是模型给真正的下一个词元的概率。
"""

# %% tags=["slow"]
plug_in(rms_norm=my_rms_norm)

# %% [markdown] lang="en"
r"""
**Predict first.** Without γ, SmolLM2 answers `,,,,,,,,`, as lesson 00 said. Now subtract the mean, or take ten times ε. Which of the two changes the answer, and which raises the loss more?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：第 00 课说过，不乘 γ，SmolLM2 的回答就成了 `,,,,,,,,`。如果多减了均值，或者 ε 大了十倍呢？这两种错误，哪一种会改变回答？哪一种损失更大？
"""

# %% tags=["slow", "answer"]
mistakes = {
    "no_gamma": lambda x, shape, weight, eps: rms_norm(x, shape, None, eps),
    "minus_mean": lambda x, shape, weight, eps: layer_norm(x, shape, weight, None, eps),
    "ten_times_eps": lambda x, shape, weight, eps: rms_norm(x, shape, weight, 10 * eps),
}
with skip_if_missing(), torch.no_grad():
    model = load_smollm2()
    zen = torch.tensor([model.byte_pairs.encode(ZEN)])  # (N, L)
    asked = model.chat("Complete the sentence: The capital of France is")
    for name, wrong in mistakes.items():
        with patch_functions(model, rms_norm=wrong):
            loss = F.cross_entropy(model(zen)[0, :-1], zen[0, 1:])
            print(f"{name:14} {loss:5.2f}", model.byte_pairs.decode(list(model.next_tokens(asked, 8))))
    del model

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Neither changes the answer. With the mean subtracted the loss is 3.39 in place of 3.08; with ten times ε it is 3.09.

</details>

So "it still answers" is no test.

## One token 100 times as large

Back to the giant. `watched`, in RMSNorm's place, notes the tokens before and after the division.

**Predict first.** A token of SmolLM2 has 576 features. How large can one of them be after the division, before γ, however large the token was?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

回答都没有变。多减均值，损失从 3.08 升到 3.39；ε 大十倍，损失是 3.09。

</details>

所以“它还能回答”算不上测试。

## 大了 100 倍的词元

回到那个庞大的词元。让 `watched` 顶替 RMSNorm，记下词元相除之前和之后的样子。

**先猜一猜**：SmolLM2 的词元有 576 个特征。不论词元原来有多大，相除之后、乘 γ 之前，一个特征最大能到多少？
"""


# %% tags=["slow", "answer"]
def watched(x, normalized_shape, weight, eps):
    y = rms_norm(x, normalized_shape, None, eps)  # (N, L, d)
    seen.append((x[0], y[0]))  # (L, d) each
    return y * weight


with skip_if_missing(), torch.no_grad():
    model, seen = load_smollm2(), []
    paris = torch.tensor([model.byte_pairs.encode("The capital of France is Paris.")])  # (N, L)
    with patch_functions(model, rms_norm=watched):
        model(paris)
    del model
    for layers in (0, 11, 12, 20, 28, 30):
        output.first_token(layers, *seen[2 * layers])

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

One feature can be √576 = 24 at most. The 576 squares have mean 1, so they add up to 576, and at most one feature has it all.

</details>

With 23.8 the first token is almost nothing but its feature 507. Many models grow such [massive activations](https://arxiv.org/abs/2402.17762), and attention leans on them (lesson 09). The division makes the token as large as the others, but not less lopsided.

How much of a feature reaches a network is a product of three numbers: the feature after the division, its γ, and the length of the matrix column that reads it. The cell divides that of the giant's feature 507 by the median in the other tokens.

**Predict first.** Before the feed-forward networks of layers 12 to 27 |γ| is smallest at feature 507, in layer 28 second smallest. Do they get less of it than of an ordinary feature?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

一个特征最大是 √576 = 24。576 个平方的均值是 1，所以总和是 576，最多由一个特征全部占去。

</details>

第一个词元的 23.8 几乎顶到了这个上限，所以它差不多只剩下 507 号特征了。许多模型都会长出这种[巨大的激活值](https://arxiv.org/abs/2402.17762)，注意力也离不开它（第 09 课）。相除能把这个词元变得和别的一样大，却改变不了一个特征独大的局面。

网络从一个特征得到多少，是三个数相乘：相除之后的特征、它的 γ，以及矩阵里读取它的那一列的长度。下面的单元格算出庞大的词元在 507 号特征上的这个乘积，再除以其他词元的中位数。

**先猜一猜**：第 12 到 27 层的前馈网络之前，507 号特征的 |γ| 都是最小的；在第 28 层，它是第二小的。这些前馈网络从它那里得到的，比从普通特征那里得到的少吗？
"""


# %% tags=["answer"]
def part_of_507(y, norm, *matrices):
    parts = (y * norm.weight).abs() * torch.cat([matrix.weight for matrix in matrices]).norm(dim=0)  # (L, d)
    return parts[0, 507] / parts[1:].median()


with skip_if_missing(), torch.no_grad():
    blocks = load_smollm2().blocks
    for layer in (12, 13, 20, 27, 28, 29, 30):
        block, before_attention, before_network = blocks[layer - 1], seen[2 * layer - 2][1], seen[2 * layer - 1][1]
        network = part_of_507(before_network, block.norm2, block.feed_forward.w1, block.feed_forward.w3)
        attention = part_of_507(before_attention, block.norm1, block.query, block.key, block.value)
        output.parts_of_507(layer, block.norm2.weight[507], network, attention)
    del blocks, block

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Up to layer 27 yes, 0.04 times as much at most, in the layers not printed, too. In layer 28 the network gets 30 times as much, although |γ| is second smallest there.

</details>

So 16 feed-forward networks hardly get feature 507, but attention does. γ alone does not decide: in layer 28 a small 0.135 meets a large 23.8. The last networks get it, and they shrink the giant from 932 to 208 (*Going further*).

## Does the mean matter?

The loss rose from 3.08 to 3.39. Does the mean matter? In the lines above an ordinary token's mean is at most a twelfth of its size, so both divisors are almost one. But the giant's is 40.5, nearly all from feature 507, and subtracting takes it from the other 575 features, too.

So we subtract the mean everywhere, then in all tokens but the first. It is the token's part along one direction, the diagonal; so we also cut out ten *random* directions, and read *Alice*, *Two Cities* and the Zen.

**Predict first.** Which costs more, the first token spared, the mean or a random direction?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

到第 27 层为止是的，最多是 0.04 倍，没有印出的几层也一样。到了第 28 层，得到的却是 30 倍，尽管 |γ| 在那里是第二小的。

</details>

所以，16 个前馈网络几乎得不到 507 号特征，注意力却得到了。这不是 γ 一个人说了算，第 28 层的 0.135 虽小，乘上的却是 23.8。最后几个前馈网络得到了很多，也正是它们让庞大的词元从 932 缩回 208（选读里验证）。

## 均值重要吗？

多减均值，损失从 3.08 升到 3.39，是因为均值重要吗？看上面印出的六行，普通词元的均值至多是它大小的十二分之一，所以两种除数几乎相等。可是庞大的词元均值是 40.5，几乎全部来自 507 号特征；一减，其他 575 个特征也都少了这么多。

所以先让所有词元都减均值，再放过首个词元，只让其余的减。均值不过是词元沿一个方向的分量，那个方向就是对角线，所以拿十个**随机**方向来对照，每次去掉一个。读的是《爱丽丝漫游奇境》《双城记》的开头和《Python 之禅》。

**先猜一猜**：放过首个词元，哪个代价更大，去掉均值，还是去掉随机方向？
"""


# %% tags=["slow", "answer"]
def without(u, spared):
    cut = torch.eye(576) - torch.outer(u, u)  # (d, d)
    return lambda x, *rest: rms_norm(torch.cat([x[:, :spared], x[:, spared:] @ cut], 1), *rest)


random = F.normalize(torch.randn(10, 576, generator=torch.Generator().manual_seed(1)), dim=-1)
mean = torch.full((576,), 576**-0.5)
norms = [rms_norm, without(mean, 0), *(without(u, 1) for u in (mean, *random))]
with skip_if_missing(), torch.no_grad():
    model = load_smollm2()
    for text in THREE_TEXTS:
        output.losses_with(model, text, norms)
    del model

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It depends: the mean costs more than 5, 9 and 2 of the ten random directions.

</details>

So it is a direction like others, as far as ten directions and three texts tell. Of the 0.31 on the Zen three quarters were the giant's, of the 0.35 on *Two Cities* a third. (Some cuts *lower* the loss; on so few words the sum can fall either way.)

Would a model *trained* with subtraction be better? The [paper](https://arxiv.org/abs/1910.07467)'s Transformer for translation reaches 26.6 with LayerNorm and 26.8 with RMSNorm (BLEU, higher is better), too near to call, and each training step takes 7% less time. Llama, Gemma and Qwen do not subtract.

## What you will meet elsewhere

[Hugging Face's Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) calls the mean square `variance`, though nothing was subtracted:

```python
variance = x.float().pow(2).mean(-1, keepdim=True)
return weight * (x.float() * torch.rsqrt(variance + eps)).to(x.dtype)
```

[Keras's](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/layer_normalization.py) `LayerNormalization(rms_scaling=True)` takes a true variance, so it divides by σ and subtracts nothing. New versions warn; `RMSNormalization` is right. Others write `F.normalize`, which adds nothing under a root, so `eps` is never used. Both on 1, 2, 3, 4 and on 101, 102, 103, 104:
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

不一定。在三段文字里，十个随机方向中，代价比均值小的分别有 5 个、9 个和 2 个。

</details>

所以，就十个方向、三段文字而言，均值不过是个普通的方向。读《Python 之禅》多出的 0.31，四分之三是庞大的词元造成的；读《双城记》多出的 0.35，它占三分之一。（有几次损失反而**低**了；文字这么短，加起来是升是降都有可能。）

一开始就减均值来**训练**，会不会更好？[论文](https://arxiv.org/abs/1910.07467)两种都从头训练过。做翻译的 Transformer，用层归一化得 26.6，用 RMSNorm 得 26.8（翻译评分 BLEU，越高越好），分不出高下，不过每一步训练少用 7% 的时间。Llama、Gemma 和 Qwen 都不减均值。

## 在别处会遇到什么

[Hugging Face 的 Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) 把均方叫做 `variance`（方差），其实什么也没有减：

```python
variance = x.float().pow(2).mean(-1, keepdim=True)
return weight * (x.float() * torch.rsqrt(variance + eps)).to(x.dtype)
```

[Keras](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/layer_normalization.py) 的 `LayerNormalization(rms_scaling=True)` 求的却真是方差，所以它除以 σ，又不减均值。新版本会发出警告；正确的是 `RMSNormalization`。还有人写 `F.normalize`，它在根号里什么也不加，所以 `eps` 根本没有用上。下面把这两种写法用在 1、2、3、4 和 101、102、103、104 上。
"""


# %%
def keras_rms_scaling(x, gamma, epsilon=1e-3):
    return x * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + epsilon) * gamma


def by_length(x, gamma):
    return F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * gamma


both = torch.stack([x[0], x[0] + 100])  # (N, d)
print("keras_rms_scaling", keras_rms_scaling(both, torch.ones(4)))
print("by_length", by_length(both, torch.ones(4)))

# %% [markdown] lang="en"
r"""
With σ the outputs grow with the mean; `by_length` differs only on tokens as small as √ε.

RMSNorm treats each token alone, so where a token stands it cannot know: [lesson 10](10_positional_encoding.ipynb).

## Three closing questions

1. A token with 4096 features has gone through RMSNorm with γ = 1. How long is it, and how large can one feature be at most? And after LayerNorm?

<details><summary>Answer</summary>

Both have the length √4096 = 64, apart from ε. After RMSNorm one feature can be 64, if the others are 0. After LayerNorm the mean is 0, so beside the largest a the others are −a / 4095 each: a² + a² / 4095 = 4096 gives a = √4095 = 63.99.

</details>

2. With a new RMSNorm a model trains well from scratch. With Llama's weights the same code babbles, and before γ every token has length 1. Which mistake is it, and why did training not notice?

<details><summary>Answer</summary>

It adds up the squares in place of their mean, so every output is only 1 / √d of what it should be. In training from scratch γ and the matrices adapt to that size; Llama's have learned with the mean.

</details>

3. A model trained with RMSNorm is to run on a chip that offers LayerNorm only. May you put it in its place, with the same γ and β = 0?

<details><summary>Answer</summary>

It is another function. SmolLM2's loss went from 3.08 to 3.39, so measure first. There is an exact way: of the 2d numbers `[x, −x]` the mean is 0 and the variance RMS², so the first half of LayerNorm's output is RMSNorm's.

</details>
"""

# %% [markdown] lang="zh"
r"""
用 σ 代替均方根，输出就随均值变大。`by_length` 在这里看不出错，词元小到与 √ε 相当时才不同。

RMSNorm 把每个词元分开处理，不知道谁先谁后；这件事交给[第 10 课](10_positional_encoding.ipynb)。

## 三个思考题

1. 某个词元有 4096 个特征，经过了 γ = 1 的 RMSNorm。它的长度是多少？一个特征最大能到多少？换成层归一化呢？

<details><summary>答案</summary>

除了 ε 的影响，长度都是 √4096 = 64。经过 RMSNorm，如果其他特征都是 0，一个特征可以到 64。经过层归一化，均值为 0，设最大的特征是 a，其他特征就各是 −a / 4095；由 a² + a² / 4095 = 4096，得 a = √4095 = 63.99。

</details>

2. 有人新写了 RMSNorm，用它从头训练模型，一切正常。同样的代码载入 Llama 的权重，却胡言乱语；乘 γ 之前，每个词元的长度都是 1。是哪种错误？训练时为什么没有发现？

<details><summary>答案</summary>

它求的是平方和，而不是平方的均值，所以输出只有应有的 1 / √d。从头训练时，γ 和各个矩阵会适应这个大小；Llama 的却是配合均值学出来的。

</details>

3. 一个用 RMSNorm 训练好的模型，要放到只有层归一化的芯片上运行。可以换成 γ 相同、β = 0 的层归一化吗？

<details><summary>答案</summary>

那是另一个函数。SmolLM2 的损失从 3.08 升到 3.39，所以要先测一测。也有精确的办法，`[x, −x]` 这 2d 个数的均值为 0，方差正是 RMS²，所以层归一化输出的前一半就是 RMSNorm 的输出。

</details>
"""

# %%
spike = torch.zeros(4096)
spike[0] = 1000
output.largest(rms_norm(spike, (4096,)).max(), layer_norm(spike, (4096,)).max())
z = torch.randn(8, 4096)
by_sum = z / z.square().sum(-1, keepdim=True).sqrt()
output.ratio((by_sum / rms_norm(z, (4096,))).mean(), 4096)
torch.testing.assert_close(layer_norm(torch.cat([z, -z], -1), (8192,))[:, :4096], rms_norm(z, (4096,), eps=1e-5))

# %% [markdown] lang="en"
r"""
## In short

* RMSNorm divides a token by its root mean square and multiplies by γ. Before γ, the size is forgotten and the direction stays.
* RMS² = μ² + σ², so the two layers agree only where the mean is 0.
* What is lost is re-centering invariance. SmolLM2 hardly needs it, for its ordinary tokens have almost no mean.

## Read next

* The paper: [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467), Zhang and Sennrich 2019.
* The code: `RMSNorm` in [Llama's model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py).
* The geometry of mean 0: [On the Expressivity Role of LayerNorm](https://arxiv.org/abs/2305.02582), Brody, Alon and Yahav 2023.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* RMSNorm 让词元除以自己的均方根，再乘以 γ。乘 γ 之前，大小丢掉了，方向还在。
* RMS² = μ² + σ²，所以只有均值为 0 时两种层才一致。
* 丢掉的是重新中心化不变性。SmolLM2 几乎不需要它，因为普通词元的均值很小。

## 接着读

* 论文《均方根层归一化》，[Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467)，Zhang 和 Sennrich，2019。
* 代码，[Llama 的 model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py) 里的 `RMSNorm`。
* 均值为 0 的几何意义，[On the Expressivity Role of LayerNorm](https://arxiv.org/abs/2305.02582)，Brody、Alon 和 Yahav，2023。
"""

# %% [markdown] lang="en"
r"""
## Going further: who shrinks the giant?

It is layer 12's feed-forward network that makes the giant; the token comes to it with size 6 and leaves it with 946. In layers 29 and 30 γ is the largest of all at feature 507, and there the token shrinks. Is that the cause? Take the feature from these two networks, with a 0 in the place of γ:
"""

# %% [markdown] lang="zh"
r"""
## 选读：谁让庞大的词元缩回去？

是第 12 层的前馈网络把它变大的，进去时大小是 6，出来就成了 946。到第 29、30 层，507 号特征的 γ 是最大的，词元也正是在那里缩回去的。这就是原因吗？把这两处的 γ 换成 0，让这两个前馈网络看不见这个特征，试一试。
"""

# %% tags=["slow"]
with skip_if_missing(), torch.no_grad():
    model, seen = load_smollm2(), []
    for block in model.blocks[-2:]:
        block.norm2.weight[507] = 0
    with patch_functions(model, rms_norm=watched):
        model(paris)
    del model
    output.first_token(30, *seen[60])

# %% [markdown] lang="en"
r"""
Now the giant stays at 897, where it had shrunk to 208. So it is these two feed-forward networks, reading feature 507, that take it away.
"""

# %% [markdown] lang="zh"
r"""
这回，那个庞大的词元停在 897，而原来缩到了 208。可见正是这两个前馈网络，读到了 507 号特征，才把它减掉的。
"""

# %% [markdown] lang="en"
r"""
## Going further: very small and very large numbers

The paper has no ε. `nn.RMSNorm` takes the machine epsilon of the type it computes in, $1.2\cdot10^{-7}$ for float32, Llama $10^{-5}$ or $10^{-6}$. Only tiny tokens notice. Large ones are in danger because they are squared.

**Predict first.** float16 ends at 65504. What does the formula, computed in float16, make of 300, 400, 500, 600?
"""

# %% [markdown] lang="zh"
r"""
## 选读：很小的数与很大的数

论文里没有 ε。`nn.RMSNorm` 取计算时所用类型的机器精度，float32 是 $1.2\cdot10^{-7}$；Llama 取 $10^{-5}$ 或 $10^{-6}$。只有很小的词元才受影响。很大的词元另有危险，因为要平方。

**先猜一猜**：float16 最大到 65504。词元 300、400、500、600 全程用 float16 按公式计算，会得到什么？
"""

# %% tags=["answer"]
tiny, large = torch.full((4,), 1e-4), torch.tensor([300, 400, 500, 600], dtype=torch.float16)
for eps in (None, 1e-6, 1e-5):
    print(f"eps={eps}: 0.0001 → {F.rms_norm(tiny, (4,), eps=eps)[0]:.2f}")
print("float16:", large / (large.square().mean() + 1e-5).sqrt())
print("float32:", rms_norm(large, (4,)))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

All four outputs are 0. From 256 on a square is infinite in float16, so the root is infinite, and a number divided by infinity is 0. No error, no NaN: that is hard to notice.

</details>

So the squares are computed in float32, and the result is converted back.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

四个输出都是 0。在 float16 里，256 及以上的数一平方就是无穷大，均方根也就成了无穷大，而一个数除以无穷大等于 0。既不报错，也没有 NaN，很难发现。

</details>

所以平方要用 float32 来算，算完再转回去。
"""

# %% [markdown] lang="en"
r"""
## Going further: when to round

Models also differ in *when* they round to a short type such as bfloat16. Llama and Gemma both normalize in float32. [Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) rounds the normalized numbers to the type of x and then multiplies by γ, which has that type too, so it rounds twice. [Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) stores γ − 1, multiplies by 1 + weight in float32 and rounds once. To reproduce a model bit by bit you need its order. Write both; `weight` is what the model stores, γ for Llama and γ − 1 for Gemma. First Llama's:
"""

# %% [markdown] lang="zh"
r"""
## 选读：何时舍入

各种模型还有一处不同，就是**什么时候**舍入到 bfloat16 这样的低精度类型。Llama 和 Gemma 都用 float32 做归一化。[Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) 先把归一化后的数舍入到 x 的类型，再乘以同一类型的 γ，所以舍入两次。[Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) 存的是 γ − 1，在 float32 里乘以 1 + weight，只舍入一次。要逐位重现某个模型的结果，就要按它的顺序来。请写出这两种；`weight` 是模型存的值，对 Llama 是 γ，对 Gemma 是 γ − 1。先写 Llama 的。
"""


# %% tags=["exercise"]
def my_rms_norm_llama(x, weight, eps=1e-6):
    return ...


check("rms_norm_llama", my_rms_norm_llama)

# %% [markdown] lang="en"
r"""
Stuck? `to(x.dtype)` rounds; the paragraph above says at which place it stands.

<details><summary>The idea</summary>

Everything up to the division happens on `x.float()`. The result goes back to the type of x *before* γ, and the product of two short numbers is rounded once more.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`to(x.dtype)` 就是舍入，上面那段话说明了它放在哪里。

<details><summary>思路</summary>

直到相除为止，都在 `x.float()` 上计算。结果**先**转回 x 的类型，再乘 γ；两个低精度的数相乘，还要再舍入一次。

</details>
"""


# %% tags=["solution"]
def solved_llama(x, weight, eps=1e-6):
    wide = x.float()
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return y.to(x.dtype) * weight


check("rms_norm_llama", solved_llama, keep=False)

# %% [markdown] lang="en"
r"""
Now Gemma's:
"""

# %% [markdown] lang="zh"
r"""
再写 Gemma 的。
"""


# %% tags=["exercise"]
def my_rms_norm_gemma(x, weight, eps=1e-6):
    return ...


check("rms_norm_gemma", my_rms_norm_gemma)

# %% [markdown] lang="en"
r"""
Stuck? Start from Llama's and move `to(x.dtype)` to the end.

<details><summary>The idea</summary>

`weight` is γ − 1, so that a model whose weights are all 0 multiplies by 1. Convert it to float32 before you add the 1, or its last digits are gone.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？从 Llama 的写法出发，把 `to(x.dtype)` 移到最后。

<details><summary>思路</summary>

`weight` 是 γ − 1，所以权重全为 0 时，乘的是 1。请先把它转成 float32 再加 1，否则最后几位就丢了。

</details>
"""


# %% tags=["solution"]
def solved_gemma(x, weight, eps=1e-6):
    wide = x.float()
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (y * (1 + weight.float())).to(x.dtype)


check("rms_norm_gemma", solved_gemma, keep=False)

# %% [markdown] lang="en"
r"""
The same token and the same γ, in bfloat16, which keeps 8 binary digits, in both orders:
"""

# %% [markdown] lang="zh"
r"""
同一个词元，同样的 γ，用只有 8 位二进制有效数字的 bfloat16，按两种顺序各算一次。
"""

# %%
token, gain = torch.tensor([[4, 5, 6], [1.25, 0.75, 1.5]], dtype=torch.bfloat16)
print("Llama", solved_llama(token, gain).tolist())
print("Gemma", solved_gemma(token, gain - 1).tolist())

# %% [markdown] lang="en"
r"""
## Going further: the sign of γ

In the very first norm of SmolLM2 271 of the 576 γ are negative, elsewhere a few at most:
"""

# %% [markdown] lang="zh"
r"""
## 选读：γ 的正负号

在 SmolLM2 最前面的归一化层里，576 个 γ 有 271 个是负的，别处至多几个。
"""

# %%
gains = smollm2_rms_norms()
for name in ("layers.0.norm1", "layers.0.norm2", "layers.15.norm1", "layers.29.norm1", "norm"):
    output.gain(name, gains[f"{name}.weight"])

# %% [markdown] lang="en"
r"""
A sign means little by itself, because only the product of γ and the matrices that read the norm's output counts. Multiply one number of γ by c, divide that feature's column in each of them by c, and what they compute is the same. So, a 0 apart, the size of a γ alone does not say how much a feature matters.
"""

# %% [markdown] lang="zh"
r"""
正负号本身说明不了什么，因为起作用的只是 γ 与后面各个矩阵的乘积。让 γ 里的一个数乘以 c，再让这些矩阵里与它相乘的那一列都除以 c，算出的结果不变。所以，除非 γ 是 0，它的大小说明不了一个特征有多重要。
"""
