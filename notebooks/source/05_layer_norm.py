# %% [markdown] lang="en"
r"""
# 05 LayerNorm: which test catches a wrong one?

For years, people have copied LayerNorms that add ε to the standard deviation instead of the variance: `(x - mean) / (std + eps)`. Suppose that only the place of ε is wrong, and that `std` has the number of features, d, in its denominator, as in PyTorch's LayerNorm. Then, on numbers from `torch.rand`, the result differs from PyTorch's by about 0.0001. The smaller the input, the larger the factor: with σ = 0.001 the result is 3 times as large as it should be, and in the extreme more than 300 times.

LayerNorm is one formula. It sits beside every attention and feed-forward layer of the first Transformers. It looks harmless. Yet there are several ways to get it wrong that neither a test with a loose tolerance nor a trained model will notice.

First you look at what LayerNorm does to a vector. Then you write it and run a trained model on it. Finally you change sides: you get four wrong LayerNorms and write the test that catches all of them.

Plan for about 45 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 05 层归一化写错了，怎样的测试才抓得住？

网上流传着许多份层归一化（LayerNorm）的代码，都把 ε 加在标准差上，而不是加在方差上：`(x - mean) / (std + eps)`。假设只有 ε 放错了位置，`std` 的分母像 PyTorch 的层归一化那样，取特征个数 d。用 `torch.rand` 一比，只差 0.0001 左右，看上去没有问题。可是输入越小，结果就偏大得越多：σ = 0.001 时，已经是正确值的 3 倍；最极端的时候，竟超过 300 倍。

层归一化只有一个公式。在最早的 Transformer 里，每个注意力层、每个前馈网络后面都接着一个。公式看上去很简单，却有好几种写错的办法，容差稍宽的测试发现不了，训练好的模型也觉察不到。

这一课先看层归一化对一个向量做了什么，然后动手把它写出来，放进训练好的模型里运行。最后换个角色：给你四个写错的层归一化，请你来写测试，把它们全都抓住。

整课大约需要 45 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import layer_norm
from blocklab_course import catch, check, plug_in
from blocklab_course.lessons.layer_norm import blind_comparison, plane_and_sphere, questions, trained_scales
from blocklab_course.pretrained import load_minilm, minilm_layer_norms, patch_functions, skip_if_missing

# %% [markdown] lang="en"
r"""
## By hand

A Transformer represents each token by a vector of d numbers, the token's *features*. LayerNorm treats every token by itself, and it takes two steps: it subtracts the mean μ of the features from each of them, and then it divides by their standard deviation σ.

Take the vector 4, 0, −1. Its mean is 1, so the first step gives 3, −1, −2. The squares of these numbers are 9, 1, 4. The mean of the squares, 4.67, is the variance, and its square root is σ = 2.16. So the second step gives 1.39, −0.46, −0.93.

The next cell does this for three vectors. The second is ten times the first, and the third is the first plus 10. `keepdim=True` keeps the averaged axis, with size 1, so that each mean lines up with its own row ([lesson 02](02_norm_axes.ipynb)). Compare the outputs.
"""

# %% [markdown] lang="zh"
r"""
## 动手算

Transformer 用 d 个数表示一个词元（token），这些数叫做它的**特征**。层归一化单独处理每个词元，一共两步：先让每个特征减去它们的均值 μ，再除以标准差 σ。

拿向量 4、0、−1 来说，均值是 1，第一步得到 3、−1、−2。这三个数的平方是 9、1、4，平方的均值 4.67 就是方差，再开方，得 σ = 2.16。于是第二步得到 1.39、−0.46、−0.93。

下一个单元格用三个向量来算。第二个是第一个的十倍，第三个是给第一个的每个数都加上 10。写上 `keepdim=True`，求过均值的轴会留下来，大小为 1，每个均值才能与自己那一行对齐（[第 02 课](02_norm_axes.ipynb)）。比一比它们的输出。
"""

# %%
x = torch.tensor([[4.0, 0, -1], [40, 0, -10], [14, 10, 9]])  # (N, d)
mean = x.mean(-1, keepdim=True)  # (N, 1)
std = (x - mean).square().mean(-1, keepdim=True).sqrt()  # (N, 1)
y = (x - mean) / std  # (N, d)
for i in range(3):
    print(f"μ = {mean[i].item():5.2f}   σ = {std[i].item():5.2f}   y =", y[i])

# %% [markdown] lang="en"
r"""
All three outputs are the same. The first step removes a number that was added to all features, and the second removes the size.

## Down to a plane, out to a sphere

With three features, a token is a point in space, so you can watch both steps. The panel shows 300 tokens on the left. The large red point is our vector 4, 0, −1, and its features are the bars on the right.

The line marked `(1, 1, 1)` is the *diagonal*, on which all three features are equal. It points upwards, so the higher a point lies, the larger its mean. Hollow points start with a mean below 0.

**Predict first.** After both steps, what shape will the 300 outputs form? Choose an answer, then drag *steps* to 1 and on to 2.
"""

# %% [markdown] lang="zh"
r"""
三个输出一模一样。第一步去掉了给所有特征加上的数，第二步去掉了大小。

## 先落到平面，再移到球面

如果只有三个特征，词元就是空间里的一个点，这两步可以亲眼看到。面板的左边是 300 个词元。那个大红点就是我们的向量 4、0、−1，它的三个特征画成了右边的柱子。

标着 `(1, 1, 1)` 的线叫**对角线**，线上的点三个特征都相等。它朝上，所以点越高，均值就越大。空心点表示均值原本小于 0。

**先猜一猜**：两步都做完之后，300 个输出会组成什么形状？先选好答案，再把“步骤”拖到 1，然后拖到 2。
"""

# %% tags=["panel", "guess"]
plane_and_sphere.panel()

# %% tags=["answer"]
plane_and_sphere.panel().still(steps=2)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

They form a circle.

</details>

Drag *steps* back to 1 and *tilt* to 0, and you see why. Once its mean is subtracted, the features of a token add up to 0. All such points lie in one plane, perpendicular to the diagonal, and the first step drops each point straight onto this plane.

Dividing by σ makes the mean of the three squares 1, so the squares add up to 3. The second step therefore moves each point in or out until it is √3 = 1.73 from the origin. All points at that distance form a sphere, and the plane cuts the sphere in a circle. (The picture zooms in as you drag, so at the end the red path starts outside it; the wire sphere itself never changes size.)

So LayerNorm forgets how high a point was and how far from the diagonal. Of three numbers, it keeps one: the direction in which the point lies from the diagonal. With d features it forgets the same two numbers and keeps the rest: every output has mean 0 and length √d, unless all features of the token are equal.

## The formula

The complete formula has three more symbols:

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

* $x_1, \dots, x_d$ are the features of one token, which lie along the last axis ([lesson 02](02_norm_axes.ipynb)). Other tokens play no part.
* σ² is the variance, with d in the denominator. `x.var()` divides by d − 1, as [lesson 01](01_why_normalize.ipynb) mentioned.
* ε is a small constant, $10^{-5}$ unless you choose another. If all features of a token are equal, σ is 0, and ε keeps the division from being 0 / 0. It stands inside the square root.
* γ and β are two vectors of d learned numbers, the scale and the shift of each feature. With them, the outputs need not stay on that circle. All tokens share them.

## Exercise: LayerNorm

Write the formula as a function with the arguments of PyTorch's `F.layer_norm`.

* `x` is a tensor, and `normalized_shape` is a tuple with the sizes of its last axes. The numbers along these axes share one mean. For tokens in a tensor of shape `(N, L, d)` it is `(d,)`, and with `(L, d)` each sentence has a single mean.
* `weight` is γ and `bias` is β. Either may be `None`: if there is no `weight`, leave out the multiplication, and if there is no `bias`, the addition.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

它们组成一个圆。

</details>

把“步骤”拖回 1，“俯仰”拖到 0，就能看出原因。减去均值之后，一个词元的特征加起来是 0。这样的点都在同一个平面上，这个平面与对角线垂直，第一步就是让每个点垂直地落到这个平面上。

除以 σ 之后，三个特征的平方的均值是 1，加起来就是 3。所以第二步让每个点向里或向外移动，直到离原点 √3 = 1.73。与原点距离相同的点组成球面，平面与球面相交，得到一个圆。（拖动时图会自动放大，红色路径的起点最后落到了图外；线框始终是同一个球面。）

可见层归一化忘掉了两样：点原来有多高，离对角线有多远。三个自由度只剩一个：点绕对角线的方位角。有 d 个特征时，忘掉的也是这两样，其余的都留着：每个输出的均值都是 0，长度都是 √d（特征全都相等的词元除外）。

## 公式

完整的公式里还有三个符号：

$$y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i, \qquad \mu = \frac{1}{d}\sum_{j=1}^{d} x_j, \qquad \sigma^2 = \frac{1}{d}\sum_{j=1}^{d} (x_j - \mu)^2$$

* $x_1, \dots, x_d$ 是一个词元的各个特征，它们排在最后一个轴上（[第 02 课](02_norm_axes.ipynb)）。别的词元不参与计算。
* σ² 是方差，分母取 d。[第 01 课](01_why_normalize.ipynb)提过，`x.var()` 的分母是 d − 1。
* ε 是小常数，默认取 $10^{-5}$。如果一个词元的特征全都相等，σ 就是 0，有了 ε 才不会算出 0 / 0。它写在根号里面。
* γ 和 β 是两个向量，各由 d 个学出来的数组成，用来缩放和平移每个特征。有了它们，输出就不必停在那个圆上。所有词元共用 γ 和 β。

## 练习：层归一化

请把公式写成函数，参数和 PyTorch 的 `F.layer_norm` 一样。

* `x` 是张量，`normalized_shape` 是元组，里面是最后几个轴的大小，这些轴上的数共用一个均值。如果词元放在形状为 `(N, L, d)` 的张量里，它就是 `(d,)`；要是写 `(L, d)`，就是每句话只有一个均值。
* `weight` 是 γ，`bias` 是 β，两者都可以是 `None`：没有 `weight` 就不乘，没有 `bias` 就不加。
"""


# %% tags=["exercise"]
def my_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return ...


check("layer_norm", my_layer_norm)

# %% [markdown] lang="en"
r"""
Stuck? *By hand* already contains nearly all of it.

<details><summary>The idea</summary>

If `normalized_shape` has n entries, the last n axes are `tuple(range(-n, 0))`. Subtract the mean over these axes, with `keepdim=True`, so that it lines up with x. You need the difference twice: its squares have the variance as their mean, and it is what you divide. Add ε to the variance before you take the square root. Multiply by γ first and add β last, each only if it is not `None`.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？“动手算”里差不多都有了。

<details><summary>思路</summary>

`normalized_shape` 有 n 项，最后 n 个轴就写成 `tuple(range(-n, 0))`。沿这些轴求均值，写上 `keepdim=True`，才能与 x 对齐，然后相减。得到的差要用两次：它的平方的均值就是方差，除法的分子也是它。先给方差加上 ε，再开方。最后乘 γ，再加 β，不是 `None` 才做。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    centred = x - x.mean(axes, keepdim=True)
    y = centred / (centred.square().mean(axes, keepdim=True) + eps).sqrt()
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


check("layer_norm", solved_layer_norm, keep=False)

# %% [markdown] lang="en"
r"""
`check` may add a remark about float16. That can wait for *Going further*.

## Your function inside MiniLM

Here is the guitar test of lesson 02 again; this time, look at what it *misses*. MiniLM turns each sentence into a vector. It has 13 LayerNorms: one after the embedding, and two in each of its 6 layers. `plug_in` replaces all of them with your function. Then it asks which of four sentences has the largest cosine with "He is playing the guitar."
"""

# %% [markdown] lang="zh"
r"""
`check` 可能还会提到 float16，这一点等到选读再说。

## 把你的函数放进 MiniLM

第 02 课的吉他测试再做一遍，这次要看它**漏掉**了什么。MiniLM 把每个句子变成一个向量，里面有 13 个层归一化：嵌入之后一个，6 层里每层两个。`plug_in` 会把它们全都换成你的函数，再问四个句子里，哪一句与“He is playing the guitar.”（他在弹吉他。）的余弦相似度最大。
"""

# %% tags=["slow"]
plug_in(layer_norm=my_layer_norm)

# %% [markdown] lang="en"
r"""
With a correct function, "Someone makes music." is nearest, with a cosine of 0.60.

Does this show that a function is correct? Here are three that are not. `published` is the line from the beginning in the form in which it is actually copied: its `std` also divides by d − 1. `large_eps` uses ε = 0.001 in place of MiniLM's $10^{-12}$. `without_gamma` forgets γ.
"""

# %% [markdown] lang="zh"
r"""
函数写对了，离它最近的就是“Someone makes music.”（有人在奏乐。），余弦相似度是 0.60。

这能说明函数写对了吗？下面三个函数都是错的。`published` 就是开头那行代码，和网上流传的一模一样：它的 `std` 在求方差时，分母还取了 d − 1。`large_eps` 用的 ε 是 0.001，而 MiniLM 的 ε 是 $10^{-12}$。`without_gamma` 忘了乘 γ。
"""


# %%
def published(x, shape, weight, bias, eps):
    y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)
    return y * weight + bias


def large_eps(x, shape, weight, bias, eps):
    return layer_norm(x, shape, weight, bias, 0.001)


def without_gamma(x, shape, weight, bias, eps):
    return layer_norm(x, shape, None, bias, eps)


# %% [markdown] lang="en"
r"""
**Predict first.** Which of the three makes another sentence the nearest?
"""

# %% [markdown] lang="zh"
r"""
**先猜一猜**：换上其中哪一个，最近的就成了别的句子？
"""

# %% tags=["guess"]
questions.another_nearest_sentence()

# %% tags=["slow", "answer"]
guitar = "He is playing the guitar."
others = ["He is playing chess.", "Someone makes music.", "He is reading the news.", "It will rain tomorrow."]
with skip_if_missing(), torch.no_grad():
    model = load_minilm()
    print(f"{'':14}{'chess':>8}{'music':>8}{'news':>8}{'rain':>8}")
    for norm in (layer_norm, published, large_eps, without_gamma):
        with patch_functions(model, layer_norm=norm):
            vectors = model.encode([guitar, *others])  # (sentences, d)
        print(f"{norm.__name__:14}", *(f"{cosine:7.3f}" for cosine in vectors[1:] @ vectors[0]))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Only `without_gamma` does.

</details>

Without γ, *chess* is nearest, a sentence that shares most of its words with the guitar but not its meaning. With `large_eps` the cosines change in the third decimal. With `published` they hardly change at all, although it has two mistakes: MiniLM's ε is so small that it does not matter where it stands, and with 384 features d − 1 is almost d.

So a model can work with a wrong function inside. That is one reason why such a line can live in published code for years; another comes at the end. You need a test that compares numbers, and you have to choose its inputs well.

## Where the mistake shows

The test that comes to mind first compares a function with PyTorch's on random numbers. `outside_root` has a single mistake: it adds ε to σ, outside the square root. `layer_norm`, the library's, is right.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

只有 `without_gamma`。

</details>

不乘 γ，最近的就变成了下棋（chess），这两句英文用词差不多，意思却不同。换上 `large_eps`，余弦相似度到第三位小数才有变化。换上 `published`，几乎看不出变化，它却有两处错误：MiniLM 的 ε 极小，放在哪里都没有区别；特征有 384 个，d − 1 与 d 也差不多。

可见模型工作正常，里面的函数仍然可能是错的。那行代码能流传这么多年，这是一个原因；另一个原因，后面再说。测试必须比较数值，而且要选对输入。

## 错误在哪里露馅

最容易想到的测试，是随机取一些数，与 PyTorch 的结果比一比。下面的 `outside_root` 只有一处错误：它把 ε 加在 σ 上，写到了根号外面。代码库里的 `layer_norm` 则是对的。
"""


# %%
def outside_root(x, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True).sqrt() + eps)


torch.manual_seed(0)
x = torch.rand(4, 20)  # (N, d)
y = F.layer_norm(x, (20,))  # (N, d)
print(f"outside_root   max |difference| = {(outside_root(x) - y).abs().max():.6f}")
print(f"layer_norm     max |difference| = {(layer_norm(x, (20,)) - y).abs().max():.6f}")

# %% [markdown] lang="en"
r"""
With a tolerance of 0.001, common when comparing ported models, `outside_root` passes. `torch.testing.assert_close` with its default tolerance complains, but only about 0.00008. Half precision alone would explain that much, and it is tempting to raise the tolerance. But these numbers are float32, where rounding is far smaller: the right formula agrees to six decimal places.

The panel makes the same comparison for inputs of *every* size. It opens at σ = 1, and the numbers of `torch.rand` have σ = 0.29. The height of a curve is an error: the largest difference from LayerNorm, as a fraction of the largest output without ε. Where a curve is low, a test can hardly see the mistake. The orange curve, *std + ε*, is `outside_root`. The others add ε twice, leave it out, or divide by d − 1 in the variance.

**Predict first.** ε is 0.00001. How small must σ be until the orange curve reaches a tenth? Choose an answer, then drag σ to the left.
"""

# %% [markdown] lang="zh"
r"""
容差取 0.001，`outside_root` 就通过了，而检查移植过来的模型时，容差常常就取这么大。`torch.testing.assert_close` 用默认的容差会报错，可是看到才差 0.00008，人们多半以为是舍入误差（用半精度来算，确实会差这么多），随手就把容差放宽了。其实在 float32 里，舍入误差小得多：正确的公式，六位小数全都一致。

面板把**各种**大小的输入都这样比一遍。它从 σ = 1 开始，而 `torch.rand` 生成的数 σ = 0.29。曲线的高度是相对误差：与层归一化的最大偏差，除以没有 ε 时的最大输出。曲线低的地方，测试很难看出错误。橙色曲线“标准差 + ε”就是 `outside_root`，另外几条分别是 ε 加了两次、漏了 ε，以及求方差时分母取 d − 1。

**先猜一猜**：ε 是 0.00001。σ 小到多少，橙色曲线才升到十分之一？先选好答案，再把 σ 往左拖。
"""

# %% tags=["panel", "guess"]
blind_comparison.panel()

# %% tags=["answer"]
blind_comparison.panel().still(sigma=10**-2.2)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

Already at σ = 0.006.

</details>

That is 600 times as large as ε. Yet the wrong function does nothing unusual there, since 0.006 + 0.00001 is still about 0.006. It is the *right* function that changes, because it adds ε to σ². With σ² = 0.000036, the sum is 0.000046, more than a quarter larger, so the right output is about a tenth smaller than without ε.

In general, an output without ε would have standard deviation 1. With ε inside the root it has $\sigma/\sqrt{\sigma^2 + \varepsilon}$, and with ε outside it has $\sigma/(\sigma + \varepsilon)$. The next cell prints both, and how many times as large the second is.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

σ = 0.006 时就已经到十分之一了。

</details>

这时的 σ 是 ε 的 600 倍。错的函数在这里没有什么异样，0.006 + 0.00001 仍然约等于 0.006。变了的是**正确**的函数，因为它把 ε 加在 σ² 上：σ² = 0.000036，加起来是 0.000046，多了四分之一以上，所以正确的输出比没有 ε 时小了大约十分之一。

一般来说，没有 ε 时，输出的标准差是 1。ε 写在根号里面，输出的标准差是 $\sigma/\sqrt{\sigma^2 + \varepsilon}$；写在外面，就是 $\sigma/(\sigma + \varepsilon)$。下一个单元格打印这两个数，以及后者是前者的多少倍。
"""

# %%
eps = 1e-5
for sigma in (1, 0.02, 0.006, 0.001, 1e-4, 1e-5, 1e-7):
    inside, outside = sigma / (sigma**2 + eps) ** 0.5, sigma / (sigma + eps)
    print(f"σ = {sigma:7.0e}   inside {inside:.4f}   outside {outside:.4f}   ratio {outside / inside:6.2f}")

# %% [markdown] lang="en"
r"""
The right output begins to shrink when σ is near $\sqrt{\varepsilon}$ = 0.003, and the wrong one only when σ is near ε. Between the two they drift apart, and far below ε the ratio is $\sqrt{\varepsilon}/\varepsilon$ = 316. (Large as the ratio is, both outputs are close to 0 there, so the panel's curve falls at its left end.) The numbers of `torch.rand` are far above both limits, so there the mistake is small enough for a loose tolerance to forgive. **A test can pass only because its numbers cannot see the mistake.**

Are real inputs so small? Before training, the first LayerNorm of [GPT-2](https://github.com/openai/gpt-2/blob/master/src/model.py) reads token plus position embeddings, with σ = 0.022. There ε = $10^{-5}$ makes the output 1.0% smaller, about as in the second row of the table.

The dotted curve behaves differently. Dividing by d − 1 shrinks the output for every large input by the same fraction, about 1/(2d). In the panel d is 20, so that is 2.5%; with d = 384 it is only 0.13%.

<details><summary>Why the orange curve dips</summary>

Near σ = 0.5 the orange curve has a dip, because σ + ε and $\sqrt{\sigma^2 + \varepsilon}$ happen to be equal there.

</details>
"""

# %% [markdown] lang="zh"
r"""
正确的输出，σ 小到 $\sqrt{\varepsilon}$ = 0.003 附近就开始变小；错误的输出，要等 σ 小到 ε 附近才变小。在这两处之间，两者越差越远；σ 远小于 ε 时，倍数是 $\sqrt{\varepsilon}/\varepsilon$ = 316。（倍数虽大，两个输出却都接近 0，所以面板里的曲线在最左边反而降了下来。）`torch.rand` 生成的数远在两处之上，这个错误在那里太小，宽松一点的容差就放过去了。**测试能通过，有时只是因为用的数碰巧照不出错误。**

真实的输入会这么小吗？训练开始之前，[GPT-2](https://github.com/openai/gpt-2/blob/master/src/model.py) 的第一个层归一化读到的，是词元嵌入与位置嵌入之和，σ = 0.022。这时 ε = $10^{-5}$ 会让输出小 1.0%，与表里的第二行差不多。

点线的走势不同。求方差时分母取 d − 1，只要输入够大，输出就都按同一比例缩小，大约小 1/(2d)。这里 d = 20，所以差 2.5%；d = 384 时只差 0.13%。

<details><summary>橙色曲线为什么有一道深谷</summary>

橙色曲线在 σ = 0.5 附近有一道深谷，因为 σ + ε 与 $\sqrt{\sigma^2 + \varepsilon}$ 在那里碰巧相等。

</details>
"""

# %% [markdown] lang="en"
r"""
**Your turn, one line.** With ε = $10^{-5}$, for which σ of the input is the output only *half* as large as it would be without ε? Replace `None` with a number or an expression.
"""

# %% [markdown] lang="zh"
r"""
**轮到你了**，只写一行：ε = $10^{-5}$，输入的 σ 取多少时，输出只有没有 ε 时的**一半**？请把 `None` 换成一个数，或者一个算式。
"""

# %% tags=["exercise"]
my_sigma = None

check("half_size", my_sigma)

# %% [markdown] lang="en"
r"""
Stuck? Use the expression for ε inside the root.

<details><summary>The idea</summary>

If $\sigma/\sqrt{\sigma^2 + \varepsilon}$ is a half, then $\sigma^2/(\sigma^2 + \varepsilon)$ is a quarter, so ε is three times σ².

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？用 ε 写在根号里面的那个式子。

<details><summary>思路</summary>

$\sigma/\sqrt{\sigma^2 + \varepsilon}$ 等于二分之一，那么 $\sigma^2/(\sigma^2 + \varepsilon)$ 就是四分之一，所以 ε 是 σ² 的三倍。

</details>
"""

# %% tags=["solution"]
solved_sigma = (1e-5 / 3) ** 0.5

check("half_size", solved_sigma, keep=False)

# %% [markdown] lang="en"
r"""
The same expression solves the riddle of lesson 00. Why did the bars shrink to a third at *s* = 0.001? The variance was an eighth of ε there, and $\sqrt{1/(1+8)}$ is a third.

## Write the test

Now you are the one who checks. `catch` has the four wrong functions of the panel, and it runs them on inputs that you choose. A function is caught if its result differs from the right one by more than 1% of the right result's largest number. (The panel divides by the largest output without ε instead.)

One input holds the arguments of one call, as a tuple or as a dict: `(x, (20,))` or `{"x": x, "normalized_shape": (20,), "eps": 1e-3}`. Put your inputs into a list. Start with `(torch.randn(4, 20), (20,))`: it catches only one of the four. Then find inputs that catch the other three. Finally, try to catch all four with a single input.
"""

# %% [markdown] lang="zh"
r"""
用这个式子，第 00 课的谜也解开了：*s* = 0.001 时，柱子为什么只剩三分之一那么长？那时方差是 ε 的八分之一，而 $\sqrt{1/(1+8)}$ 正是三分之一。

## 轮到你写测试

这回换你来挑错。`catch` 手里有面板上那四个错误的函数，它会用你选的输入来运行它们。只要与正确结果的偏差超过正确结果中最大数的 1%，就算抓住了。（面板则是除以没有 ε 时的最大输出。）

一组输入就是一次调用的参数，写成元组或字典：`(x, (20,))` 或 `{"x": x, "normalized_shape": (20,), "eps": 1e-3}`。把各组输入放进一个列表。先试 `(torch.randn(4, 20), (20,))`，它只能抓住四个里的一个。然后找出能抓住另外三个的输入。最后试一试，只用一组输入，把四个全都抓住。
"""

# %% tags=["exercise"]
my_inputs = [...]

catch("layer_norm", my_inputs)

# %% [markdown] lang="en"
r"""
Stuck? In the panel, find a σ at which all four curves are above 1%.

<details><summary>The idea</summary>

The four differ only in what they divide by, so every part of that must count. Let σ² lie between ε and about 20ε, either with small numbers in x or with a large `eps`. There σ² is only a part of the sum under the root, so keep the rows short: d − 1 must differ clearly from d.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？在面板里拖动 σ，找一个四条曲线都超过 1% 的地方。

<details><summary>思路</summary>

四个函数只有除数不同，所以除数的每一部分都要起作用。让 σ² 在 ε 和大约 20ε 之间，可以把 x 里的数取得很小，也可以把 `eps` 取得很大。这样一来，σ² 只是根号里的一部分，所以行要短，d − 1 与 d 才有明显的差别。

</details>
"""

# %% tags=["solution"]
solved_catch = [(3e-3 * torch.randn(4, 5), (5,))]

catch("layer_norm", solved_catch)

# %% [markdown] lang="en"
r"""
So which test catches a wrong LayerNorm? One whose rows are short and whose σ² lies between ε and about 20ε: small enough for ε to show, large enough for the variance to count. The nearer to ε, the shorter the rows must be. With a tolerance of 1%, one such input is enough for these four. (A misplaced ε changes the output by about ε/(2σ²), and d − 1 changes it by about 1/(2d). So the stricter the tolerance, the larger σ² and d may be.)

For other mistakes, this is not enough. A function that takes the mean over only the last axis passes until `normalized_shape` has two sizes. A forgotten `keepdim=True` usually raises an error. But if axes are equally long, or one has size 1, the means can line up with the wrong axis, and nothing complains. So test numbers of several sizes, axes of different lengths, axes of the same length, and an axis of size 1. `check` does all of this, which is why it tries dozens of inputs on your function.

## What other code does differently

**Another place, another variance, another ε.** [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) has been copied very often. The core of its class is this:

```python
mean = x.mean(-1, keepdim=True)
std = x.std(-1, keepdim=True)
return self.a_2 * (x - mean) / (std + self.eps) + self.b_2
```

It differs from PyTorch in three ways: ε is outside the root, `x.std()` divides by d − 1, and ε is $10^{-6}$. A model that was *trained* with this class is fine; it just has a different norm. That is the other reason why the line has lived so long. It is a mistake only if you load weights that were trained with PyTorch's LayerNorm, or want its numbers.

**Another default.** PyTorch takes ε = $10^{-5}$, [Keras](https://keras.io/api/layers/normalization_layers/layer_normalization/) takes $10^{-3}$, and BERT and MiniLM take $10^{-12}$. If you move a model to another library and forget `eps`, it runs and is slightly wrong. With Keras's value, the output for an input with σ = 0.02 comes out almost half too small, instead of 1.2%.

## In short

* LayerNorm subtracts the mean of a token's features from each of them and divides by their standard deviation. Before γ and β, every output has mean 0 and length √d, apart from ε.
* ε is added to the variance, inside the root, and the variance has d in its denominator. The output has standard deviation $\sigma/\sqrt{\sigma^2 + \varepsilon}$.
* A working model does not show that its LayerNorm is right, and a passing test does not, either, if its numbers cannot see the mistake.
* Test with σ² between ε and about 20ε, with short rows, and with axes of different lengths, of equal lengths and of size 1.

## Three closing questions

1. Two different tokens get exactly the same output from LayerNorm. What can you say about them, if ε is negligible?

<details><summary>Answer</summary>

After their means are subtracted, they point in the same direction. So one of them is the other, multiplied by a positive number, plus a number that is added to all features.

</details>

2. Somebody's LayerNorm agrees with PyTorch's on `torch.randn(16, 64)` to four decimal places. On numbers with σ about 0.001, its outputs are three times too large. What do you suspect?

<details><summary>Answer</summary>

ε is outside the root, or it is missing or far too small. With ε added twice, the outputs would be too small instead.

</details>

3. You may use one input only, with an absolute tolerance of 0.001: `torch.rand(4, 20)` or `3e-4 * torch.randn(4, 20)`. Which of the panel's four mistakes does each of them catch?

<details><summary>Answer</summary>

The first catches only d − 1. The second catches the other three. There σ² is so small beside ε that it hardly matters whether its denominator is d or d − 1.

</details>

The next cell checks the last two answers.
"""

# %% [markdown] lang="zh"
r"""
那么，怎样的测试才能抓住写错的层归一化？输入的行要短，σ² 要在 ε 和大约 20ε 之间：小到 ε 显得出来，又大到方差也起作用。σ² 越接近 ε，行就要越短。容差取 1% 时，对付这四个函数，一组这样的输入就够了。（ε 放错位置，输出大约差 ε/(2σ²)；分母取 d − 1，大约差 1/(2d)。所以容差越严，σ² 和 d 就可以取得越大。）

换成别的错误，这还不够。只沿最后一个轴求均值的函数，要等 `normalized_shape` 里有两个数才会露馅。忘了写 `keepdim=True`，一般会报错；可是如果有的轴一样长，或者有一个轴的大小是 1，均值就可能悄悄对到别的轴上，什么提示也没有。因此输入要有几种不同的数量级，各轴的长度，要有互不相同的例子、彼此相同的例子，还要有一个轴只有 1 的例子。`check` 检查你的函数时，这些都会试，所以才要用几十组输入。

## 别的代码怎么写

**位置、方差、ε 都不一样**：[The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/) 的代码流传很广，其中最要紧的几行是：

```python
mean = x.mean(-1, keepdim=True)
std = x.std(-1, keepdim=True)
return self.a_2 * (x - mean) / (std + self.eps) + self.b_2
```

它有三处与 PyTorch 不同：ε 写在根号外面，`x.std()` 求方差时分母取 d − 1，ε 取 $10^{-6}$。用它**训练**出来的模型没有问题，只是归一化的方法不同罢了，这就是那行代码能流传多年的另一个原因。只有拿它载入别人用 PyTorch 的层归一化训练的权重，或者要求数值一致时，它才算错。

**默认值不一样**：PyTorch 的 ε 是 $10^{-5}$，[Keras](https://keras.io/api/layers/normalization_layers/layer_normalization/) 是 $10^{-3}$，BERT 和 MiniLM 是 $10^{-12}$。把模型搬到别的框架时忘了 `eps`，程序照样运行，结果却差了一点。用 Keras 的默认值，σ = 0.02 的输入，输出缩小的就不是 1.2%，而是将近一半。

## 小结

* 层归一化让词元的每个特征减去它们的均值，再除以标准差。在乘 γ、加 β 之前，不计 ε 的影响，输出的均值都是 0，长度都是 √d。
* ε 加在方差上，写在根号里面；求方差时分母取 d。输出的标准差是 $\sigma/\sqrt{\sigma^2 + \varepsilon}$。
* 模型工作正常，不等于层归一化没写错。测试通过了也不等于没写错，也许只是用的数照不出错误。
* 测试时，σ² 要在 ε 和大约 20ε 之间，行要短，各轴的长度要有互不相同的例子、彼此相同的例子，还要有一个轴只有 1 的例子。

## 三个思考题

1. 两个不同的词元经过层归一化，得到完全相同的输出。如果 ε 可以忽略，这两个词元有什么关系？

<details><summary>答案</summary>

减去均值之后，它们的方向相同。也就是说，其中一个乘以一个正数，再给所有特征加上同一个数，就成了另一个。

</details>

2. 有人写的层归一化，在 `torch.randn(16, 64)` 上与 PyTorch 的结果到小数点后第四位都一致。换成 σ 约为 0.001 的数，它的输出却是正确值的三倍。你怀疑是什么错误？

<details><summary>答案</summary>

ε 写在了根号外面，或者漏掉了，或者取得太小。要是 ε 加了两次，输出会偏小。

</details>

3. 只许用一组输入，绝对容差是 0.001：`torch.rand(4, 20)` 或者 `3e-4 * torch.randn(4, 20)`。面板里的四种错误，它们各能抓住哪几种？

<details><summary>答案</summary>

第一组只能抓住 d − 1。第二组能抓住另外三种。那里的 σ² 比 ε 小得多，所以求方差时分母取 d 还是 d − 1，几乎没有影响。

</details>

下一个单元格验算后两题。
"""

# %% tags=["answer"]
torch.manual_seed(0)
large, small = torch.randn(16, 64), 1e-3 * torch.randn(16, 64)  # (N, d)
print(f"2.   {(outside_root(large) - layer_norm(large, (64,))).abs().max():.5f}", end="   ")
print(f"{(outside_root(small) / layer_norm(small, (64,))).median():.1f}")
inputs = torch.rand(4, 20, dtype=torch.float64), 3e-4 * torch.randn(4, 20, dtype=torch.float64)
for formula in ("outside", "twice", "without", "unbiased"):
    wrong = getattr(blind_comparison, formula)
    print(f"3.   {formula:10}", *(f"{(wrong(x) - layer_norm(x, (20,))).abs().max():9.5f}" for x in inputs))

# %% [markdown] lang="en"
r"""
## Read next

* The paper: [Layer Normalization](https://arxiv.org/abs/1607.06450), Ba, Kiros and Hinton 2016.
* The code: [torch.nn.LayerNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html), every argument with its default.
* What it is good for: [Understanding and Improving Layer Normalization](https://arxiv.org/abs/1911.07013), Xu and others 2019. They find that the gradients of mean and variance matter more than the normalization in the forward pass.

LayerNorm forgets the mean of every token. Newer language models leave it in, and nobody seems to mind. What do you lose by that? [Lesson 06](06_rms_norm.ipynb) finds out.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 论文：[Layer Normalization](https://arxiv.org/abs/1607.06450)，Ba、Kiros 和 Hinton，2016。层归一化就出自这里。
* 代码：[torch.nn.LayerNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html)，每个参数和默认值都有说明。
* 它为什么有用：[Understanding and Improving Layer Normalization](https://arxiv.org/abs/1911.07013)，Xu 等人，2019。他们发现，均值和方差的梯度比前向传播时的归一化更重要。

层归一化忘掉了每个词元的均值。新一些的语言模型不再减均值，好像也没出什么事。不减，到底丢掉了什么？[第 06 课](06_rms_norm.ipynb)来回答。
"""

# %% [markdown] lang="en"
r"""
## Going further: what training makes of γ

Without γ, MiniLM chose another sentence. So what do its γ look like? Before training, every γ was 1.

**Predict first.** What has training made of them? Choose an answer, then tick *trained*.
"""

# %% [markdown] lang="zh"
r"""
## 选读：训练把 γ 变成了什么

不乘 γ，MiniLM 就选了别的句子。那么 γ 究竟是什么样的？训练之前，γ 都是 1。

**先猜一猜**：训练把它们变成了什么样？先选好答案，再勾选“训练之后”。
"""

# %% tags=["panel", "guess"]
gammas = [value for name, value in minilm_layer_norms().items() if name.endswith("weight")]
trained_scales.panel(gammas)

# %% tags=["answer"]
trained_scales.panel(gammas).still(trained=True, place=1)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It has shrunk nearly all of them.

</details>

Their means lie between 0.5 and 0.75. Only after attention, in the norms 1, 3, 5 and so on, are there any above 1, two to five features in each.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

几乎全都变小了。

</details>

各层的均值在 0.5 和 0.75 之间。只有注意力之后的那些归一化层（编号 1、3、5 等等）里，各有两到五个特征的 γ 大于 1。
"""

# %% [markdown] lang="en"
r"""
## Going further: the variance in one pass

Some code computes the variance as the mean of the squares minus the square of the mean, because then it needs to read x only once. On paper this is the same.
"""

# %% [markdown] lang="zh"
r"""
## 选读：单遍算方差

有的代码用平方的均值减去均值的平方来求方差，因为这样只需把 x 读一遍。在纸上，两种算法的结果一样。
"""


# %% tags=["nbval-ignore-output"]
def one_pass(x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + eps).sqrt()


torch.manual_seed(0)
x = torch.randn(8, 64)  # (N, d)
for shift in (0, 10, 100, 1000, 10000):
    off = (one_pass(x + shift) - layer_norm(x + shift, (64,))).abs().max()
    print(f"shift = {shift:5}   max |difference| = {off:.6f}")

# %% [markdown] lang="en"
r"""
In float32 it fails when the mean is large. Two nearly equal numbers are subtracted, and most of their digits cancel. With a shift of 10000, what is left is even negative somewhere, and its root is NaN.
"""

# %% [markdown] lang="zh"
r"""
用 float32 来算，均值一大就不行了：两个几乎相等的数相减，大部分有效数字都抵消了。平移 10000 时，有的差甚至成了负数，一开方就是 NaN。
"""

# %% [markdown] lang="en"
r"""
## Going further: backward by hand

With $\hat{x} = (x - \mu)\,r$, $r = 1 / \sqrt{\sigma^2 + \varepsilon}$ and $g = \gamma \cdot \partial L / \partial y$, the gradient is

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

where the means are taken over the features. Two parts of g are removed. The first would shift the token as a whole, and the second would stretch it, which the layer undoes anyway. The second is removed almost completely if σ² is far above ε.

The factor r can be as large as $1 / \sqrt{\varepsilon} = 316$ for tiny inputs, and it is small for large ones. So normalization does *not* make all gradients equally large.

The gradients of γ and β are sums over all tokens, because all tokens share these parameters. Write all three. x may have shape `(N, d)` or `(N, L, d)`.
"""

# %% [markdown] lang="zh"
r"""
## 选读：手算反向传播

记 $\hat{x} = (x - \mu)\,r$，$r = 1 / \sqrt{\sigma^2 + \varepsilon}$，$g = \gamma \cdot \partial L / \partial y$，梯度就是

$$\frac{\partial L}{\partial x} = r\,\big(g - \mathrm{mean}(g) - \hat{x}\,\mathrm{mean}(g\,\hat{x})\big)$$

其中的均值都沿特征轴求。式子从 g 里减掉两个分量，一个对应整体平移，一个对应整体缩放，因为这两种变化反正会被归一化抵消。σ² 远大于 ε 时，后一个分量几乎全部减掉。

系数 r 在输入很小时可以大到 $1 / \sqrt{\varepsilon} = 316$，输入很大时则很小。可见归一化**并没有**让所有的梯度一样大。

γ 和 β 由所有词元共用，所以它们的梯度要对所有词元求和。请把三个梯度都写出来，x 的形状可以是 `(N, d)`，也可以是 `(N, L, d)`。
"""


# %% tags=["exercise"]
def my_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    return ...  # grad_x, grad_weight, grad_bias


check("layer_norm_backward", my_layer_norm_backward)

# %% [markdown] lang="en"
r"""
Stuck? `grad_x` is the formula above.

<details><summary>The idea</summary>

x changes the output in three ways: directly, through the mean, and through the variance. Each of them is one term in the brackets. The other two gradients are sums over every axis but the last, of `grad_output` times $\hat{x}$ and of `grad_output` itself.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？上面的公式就是 `grad_x`。

<details><summary>思路</summary>

x 通过三条路影响输出：一条直接，一条经过均值，一条经过方差。括号里的三项各对应一条路。另外两个梯度分别是 `grad_output` 乘 $\hat{x}$，以及 `grad_output` 自己，沿最后一个轴以外的所有轴求和。

</details>
"""


# %% tags=["solution"]
def solved_layer_norm_backward(grad_output, x, weight, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    r = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    hat, g = centred * r, grad_output * weight
    grad_x = r * (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True))
    tokens = tuple(range(x.dim() - 1))
    return grad_x, (grad_output * hat).sum(tokens), grad_output.sum(tokens)


check("layer_norm_backward", solved_layer_norm_backward, keep=False)

# %% [markdown] lang="en"
r"""
## Going further: float16

Go back to the panel and switch it to float16. All formulas are then computed in that type, and even the right one is off by up to 0.001, which is rounding. If a number lies 256 or more from the mean, its square is infinite in float16, and the row is lost. On the panel this happens from σ = 155 on.

Small numbers are in danger as well. BERT's ε, $10^{-12}$, *is* 0 in float16, so a row of equal numbers becomes 0 / 0. PyTorch's own function computes in float32 and converts the result back.
"""

# %% [markdown] lang="zh"
r"""
## 选读：float16

回到前面的面板，切换到 float16。这时所有公式都用这种类型来算，连正确的公式也有误差，最大到 0.001，这是舍入造成的。只要有一个数与均值相差 256 以上，它的平方在 float16 里就是无穷大，这一行就全毁了。在面板里，从 σ = 155 开始就是这样。

很小的数也有危险。BERT 的 ε 是 $10^{-12}$，在 float16 里它**就是** 0，所以一行全都相等的数会变成 0 / 0。PyTorch 自己的函数用 float32 来算，算完再转回去。
"""

# %%
row = torch.full((1, 4), 3.0, dtype=torch.float16)
centred = row - row.mean(-1, keepdim=True)
print("ε       ", torch.tensor(1e-12, dtype=torch.float16).item())
print("float16 ", centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt())
print("PyTorch ", F.layer_norm(row, (4,), eps=1e-12))
