# %% [markdown] lang="en"
r"""
# 06 What do you lose by keeping the mean?

LayerNorm takes two steps, as lesson 05 showed: it subtracts a token's mean, and then it divides by the standard deviation. In 2019 [two researchers](https://arxiv.org/abs/1910.07467) left out the first step and let the second divide by the root mean square instead. Their translation model did just as well. The new layer is called **RMSNorm**. Today Llama, Gemma and Qwen use it, and so does SmolLM2, the chat model of this course. A step has gone missing, and hardly anyone misses it.

What was that step good for, and how can a model do without it? To find out, you first write RMSNorm, the first of the four functions that lesson 00 promised, and run SmolLM2 on it. The model calls it in 61 places: before each attention, before each feed-forward network, and once at the end. Then you put the missing step back and see what happens.

Plan for about 45 minutes. *Going further* is extra.
"""

# %% [markdown] lang="zh"
r"""
# 06 不减均值，丢掉了什么？

第 05 课讲过，层归一化（LayerNorm）分两步：先减去词元（token）的均值，再除以标准差。2019 年，[两位研究者](https://arxiv.org/abs/1910.07467)去掉了第一步，第二步改为除以均方根，翻译质量并没有下降。这样的层叫做 **RMSNorm**（均方根归一化）。如今 Llama、Gemma、Qwen 都在用它，这套课程里的聊天模型 SmolLM2 也不例外。少了这一步，模型照样训练得好。

那么，这一步原本有什么用？模型又凭什么可以不要它？这一课用实验来回答。第 00 课列出四个要写的函数，RMSNorm 是第一个。你先把它写出来，再用它来运行 SmolLM2。这个模型有 61 处要用到它：每个注意力之前一处，每个前馈网络之前一处，最后还有一处。然后把去掉的那一步补回去，看看会发生什么。

整课大约需要 45 分钟，选读另计。
"""

# %%
import torch
import torch.nn.functional as F

from blocklab import layer_norm, rms_norm
from blocklab_course import check, plug_in
from blocklab_course.lessons.rms_norm import circle_and_sphere, mean_and_rms, questions
from blocklab_course.lessons.rms_norm.three_texts import THREE_TEXTS
from blocklab_course.pretrained import load_smollm2, patch_functions, skip_if_missing, smollm2_rms_norms
from blocklab_course.pretrained.prompts import ZEN

# %% [markdown] lang="en"
r"""
## By hand

A model represents each token by a vector of d numbers, the token's *features*. RMSNorm makes all these vectors equally large: it measures the overall size of the features and divides each of them by it.

This size is called the **root mean square**, or RMS. Read backwards, the name is the recipe: square the features, take the mean, take the square root. For the vector 1, 2, 3, 4 the squares are 1, 4, 9, 16. Their mean is 7.5, and the square root of that is 2.74. Divided by 2.74, the features become 0.37, 0.73, 1.10, 1.46.

The next cell does this for three vectors. The second is ten times the first, and the third is the first plus 10. Compare the outputs.
"""

# %% [markdown] lang="zh"
r"""
## 动手算

模型用 d 个数表示一个词元，这些数叫做它的**特征**，排在一起就是词元向量。RMSNorm 要让所有的词元向量一样大，办法很简单：先量一量各个特征总体上有多大，再让它们都除以这个大小。

这个大小叫**均方根**（root mean square，RMS）。英文名倒着念就是做法：先平方，再求均值，最后开方。拿向量 1、2、3、4 来说，平方是 1、4、9、16，均值是 7.5，开方得 2.74。四个特征都除以 2.74，就成了 0.37、0.73、1.10、1.46。

下一个单元格用三个向量来算。第二个是第一个的十倍，第三个是给第一个的每个数都加上 10。比一比它们的输出。
"""

# %%
x = torch.tensor([[1.0, 2, 3, 4], [10, 20, 30, 40], [11, 12, 13, 14]])  # (N, d)
rms = x.square().mean(-1, keepdim=True).sqrt()  # (N, 1)
y = x / rms  # (N, d)
for i in range(3):
    print(f"RMS = {rms[i].item():5.2f}   y =", y[i])

# %% [markdown] lang="en"
r"""
The first two outputs are the same, because a vector ten times as large also has an RMS ten times as large. The division removes the size of a vector and leaves its direction.

The third output is different. Adding 10 makes the four features nearly equal relative to their size, and RMSNorm leaves them that way: 0.88, 0.96, 1.04, 1.12. LayerNorm, as you saw in lesson 05, would give the same output for all three rows, because subtracting the mean turns both the first vector and the third into −1.5, −0.5, 0.5, 1.5. Remember this third row; you will need it.

**Your turn, one line.** What is the root mean square of the vector `[3, 4]`? Replace `None` with a number or an expression.
"""

# %% [markdown] lang="zh"
r"""
前两个输出一模一样，因为向量变成十倍，均方根也变成十倍，一除就消掉了。除法消去大小，只留下方向。

第三个输出就不同了。都加上 10 以后，四个特征按比例来看已经相差不大，RMSNorm 的输出也就相差不大：0.88、0.96、1.04、1.12。换成层归一化，第 05 课已经见过，三行的输出都会一样，因为先减均值，第一个和第三个向量减完都是 −1.5、−0.5、0.5、1.5。请记住这第三行，后面还要用到。

**轮到你了**，只写一行：向量 `[3, 4]` 的均方根是多少？请把 `None` 换成一个数，或者一个算式。
"""

# %% tags=["exercise"]
my_root_mean_square = None

check("root_mean_square", my_root_mean_square)

# %% [markdown] lang="en"
r"""
Stuck? Follow the recipe in *By hand*, with two numbers instead of four.

<details><summary>The idea</summary>

The squares are 9 and 16. Divide their sum by 2, because there are two of them, and take the square root last.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？照“动手算”里的步骤来，只是四个数换成了两个。

<details><summary>思路</summary>

两个平方是 9 和 16。一共两个数，所以它们的和要除以 2，最后再开方。

</details>
"""

# %% tags=["solution"]
solved_root_mean_square = ((3**2 + 4**2) / 2) ** 0.5

check("root_mean_square", solved_root_mean_square, keep=False)

# %% [markdown] lang="en"
r"""
## The formula

Here is the recipe as a formula, with two more ingredients, ε and γ:

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

* $x_1, \dots, x_d$ are the features of one token. Other tokens play no part.
* ε is the small constant from lesson 05, which keeps a vector of zeros from being divided by 0. In SmolLM2 it is $10^{-5}$.
* γ is a vector of d learned numbers. It lets the model make each feature larger or smaller. All tokens share it, and each RMSNorm of a model has its own.

Compared with LayerNorm, two things are missing: no mean is subtracted, and no β is added.

## Exercise: RMSNorm

Write the formula as a function with the arguments of PyTorch's `F.rms_norm`.

* `x` is a tensor, and `normalized_shape` is a tuple with the sizes of its last axes. The numbers along these axes share one RMS. For tokens in a tensor of shape `(N, L, d)` it is `(d,)`.
* `weight` is γ. If it is `None`, leave out the multiplication.
* `eps` is ε. If it is `None`, take `torch.finfo(dtype).eps`, where `dtype` is the data type that you compute in.
* If `x` has a 16-bit type, you should compute in float32, because squares overflow easily in float16, and bfloat16 is too imprecise. (`check` advises this but does not insist.) The result has the type of `x` again.
"""

# %% [markdown] lang="zh"
r"""
## 公式

把上面的步骤写成公式，里面还多了 ε 和 γ：

$$y_i = \gamma_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_{j=1}^{d} x_j^2 + \varepsilon}}$$

* $x_1, \dots, x_d$ 是一个词元的各个特征，别的词元不参与计算。
* ε 就是第 05 课讲过的小常数，有了它，遇到全是零的向量也不会除以 0。SmolLM2 取 $10^{-5}$。
* γ 是缩放参数，由 d 个学出来的数组成，模型用它来放大或缩小每个特征。同一处的所有词元共用一个 γ，每处各有自己的。

和层归一化相比，这里少了两样：不减均值，也不加 β。

## 练习：RMSNorm

请把公式写成函数，参数和 PyTorch 的 `F.rms_norm` 一样。

* `x` 是张量，`normalized_shape` 是元组，里面是最后几个轴的大小，这些轴上的数共用一个均方根。如果词元放在形状为 `(N, L, d)` 的张量里，它就是 `(d,)`。
* `weight` 是 γ。如果是 `None`，就不乘。
* `eps` 是 ε。如果是 `None`，就取 `torch.finfo(dtype).eps`，其中 `dtype` 是计算时用的数据类型。
* 如果 `x` 是 16 位的类型，最好用 float32 来算，因为 float16 的数一平方就容易溢出，bfloat16 精度又太低。（`check` 只会提醒，不算错。）算完之后，结果的类型要与 `x` 相同。
"""


# %% tags=["exercise"]
def my_rms_norm(x, normalized_shape, weight=None, eps=None):
    return ...


check("rms_norm", my_rms_norm)

# %% [markdown] lang="en"
r"""
Stuck? Everything you need is in the formula.

<details><summary>The idea</summary>

Start with `x.float()`, unless `x` is float64 already. If `normalized_shape` has n entries, the last n axes are `tuple(range(-n, 0))`. Square, take the mean over these axes with `keepdim=True`, add ε, take the square root and divide. Then multiply by γ. Convert back to the type of `x` at the very end, so that the result is rounded only once.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？要用的都在公式里。

<details><summary>思路</summary>

从 `x.float()` 开始，除非 `x` 已经是 float64。`normalized_shape` 有 n 项，最后 n 个轴就写成 `tuple(range(-n, 0))`。先平方，再沿这些轴求均值，记得写 `keepdim=True`；然后加上 ε，开方，相除，再乘 γ。最后才转回 `x` 的类型，这样结果只舍入一次。

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
## Your function inside SmolLM2

`plug_in` replaces all 61 RMSNorms of SmolLM2 with your function. Then it asks the model to complete a sentence, and lets it read *The Zen of Python*, a text of 203 tokens.

For this text it reports the *loss*, which is the cross-entropy: the mean of −ln p, where p is the probability that the model gave to the token that really comes next. Lower is better. Guessing uniformly among the 49152 tokens of the vocabulary would give ln 49152 = 10.8.
"""

# %% [markdown] lang="zh"
r"""
## 把你的函数放进 SmolLM2

`plug_in` 会把 SmolLM2 的 61 处 RMSNorm 全都换成你的函数，然后请模型补全一个句子，再让它读一段文字，就是《Python 之禅》（The Zen of Python），一共 203 个词元。

对这段文字，它会报告**损失**，这里指的是交叉熵损失，也就是 −ln p 的均值，其中 p 是模型给真正的下一个词元的概率。损失越小越好。要是在词表的 49152 个词元里均匀乱猜，损失就是 ln 49152 = 10.8。
"""

# %% tags=["slow"]
plug_in(rms_norm=my_rms_norm)

# %% [markdown] lang="en"
r"""
With a correct function the model answers Paris, and its loss is 3.08.

Now put the missing step back. Subtracting the mean first turns RMSNorm into LayerNorm, apart from β:

$$\text{LayerNorm}(x) = \text{RMSNorm}(x - \mu)$$

**Your turn, one line.** Let `my_minus_mean` subtract from each token its own mean, and apply `rms_norm` to the result. The cell prints your output and LayerNorm's, which should be the same. Later cells use the solution, `minus_mean`.
"""

# %% [markdown] lang="zh"
r"""
函数写对了，模型就会回答 Paris，损失是 3.08。

现在把去掉的那一步补回去。先减均值，再做 RMSNorm，除了没有 β，就是层归一化：

$$\text{LayerNorm}(x) = \text{RMSNorm}(x - \mu)$$

**轮到你了**，只写一行：在 `my_minus_mean` 里让每个词元减去自己的均值，再交给 `rms_norm`。单元格会打印你的输出和层归一化的输出，两者应该相同。后面的单元格用的是答案里的 `minus_mean`。
"""


# %% tags=["exercise"]
def my_minus_mean(x, shape, weight, eps):
    return ...


x, gamma = torch.tensor([[1.0, 2, 3, 4], [11, 12, 13, 14]]), torch.tensor([1.0, 2, 3, 4])  # (N, d), (d,)
print("my_minus_mean", my_minus_mean(x, (4,), gamma, 1e-5))
print("layer_norm   ", layer_norm(x, (4,), gamma, None, 1e-5))

# %% [markdown] lang="en"
r"""
Stuck? Lesson 05 subtracted the same mean.

<details><summary>The idea</summary>

Take the mean of `x` along the last axis, with `keepdim=True`, and subtract it. Pass the difference to `rms_norm` in place of `x`, and the other three arguments as they are.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？第 05 课减过同样的均值。

<details><summary>思路</summary>

沿最后一个轴求 `x` 的均值，记得写 `keepdim=True`，然后减去它。把差当作 `x` 传给 `rms_norm`，其余三个参数原样传过去。

</details>
"""


# %% tags=["solution"]
def minus_mean(x, shape, weight, eps):
    return rms_norm(x - x.mean(-1, keepdim=True), shape, weight, eps)


assert torch.allclose(minus_mean(x, (4,), gamma, 1e-5), layer_norm(x, (4,), gamma, None, 1e-5))


# %%
def without_gamma(x, shape, weight, eps):
    return rms_norm(x, shape, None, eps)


def loss(model, text, norm):
    ids = torch.tensor([model.byte_pairs.encode(text)])  # (N, L)
    with patch_functions(model, rms_norm=norm), torch.no_grad():
        return F.cross_entropy(model(ids)[0, :-1], ids[0, 1:]).item()


def answer(model, norm):
    with patch_functions(model, rms_norm=norm):
        return "".join(model.answer("Complete the sentence: The capital of France is", 8))


# %% [markdown] lang="en"
r"""
The helper `loss` runs the model with `norm` in place of RMSNorm and returns its loss on a text. `answer` returns what the model then says. Lesson 00 showed the result of `without_gamma`: the model answers `,,,,,,,,`. But what if the mean is subtracted? SmolLM2 was trained without that step, and now it is there in all 61 places.

**Predict first.** What will the model answer with `minus_mean`?
"""

# %% [markdown] lang="zh"
r"""
上面的 `loss` 把 RMSNorm 换成 `norm`，算模型读一段文字的损失；`answer` 也这样换，给出模型的回答。`without_gamma` 不乘 γ，结果第 00 课已经见过：模型只会回答 `,,,,,,,,`。那么，减均值又会怎样？SmolLM2 训练的时候没有这一步，现在却有 61 处突然多出了这一步。

**先猜一猜**：换上 `minus_mean`，模型会怎样回答？
"""

# %% tags=["guess"]
questions.still_paris()

# %% tags=["slow", "answer"]
with skip_if_missing():
    model = load_smollm2()
    for norm in (rms_norm, without_gamma, minus_mean):
        print(f"{norm.__name__:14}loss {loss(model, ZEN, norm):5.2f}   {answer(model, norm)}")
    del model

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The model still says Paris.

</details>

The function is a different one, yet the answer is the same. So "it still answers" is no test. The loss is more sensitive. It has risen by 0.31, from 3.08 to 3.39, which makes the *perplexity*, $e^{\text{loss}}$, 36% larger. Without γ the loss is 13.98, which is worse than guessing blindly.

The model is worse, but not ruined. To find out where the 0.31 comes from, first look at what the step does to a token.

## Three hundred tokens again

In lesson 05 you saw LayerNorm drop 300 points onto the plane of mean 0, and then move them onto the sphere of radius √3 = 1.73. The panel shows these points, without the red one, twice: for LayerNorm on the left, and on the right for RMSNorm, which skips step 1. In step 2, both divide each point by its RMS, as it is after step 1. Again the *diagonal* `(1, 1, 1)` points upwards, so the higher a point lies, the larger its mean.

Now give all tokens a common mean: *shift* adds the same number to every feature, as in the third row of *By hand*.

**Predict first.** After both steps, with *shift* at 10 instead of 0, what will RMSNorm's 300 outputs do? Choose an answer. Then drag *steps* to 2 and *shift* to 10, and set *tilt* to 0 to see the points from the side.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

模型仍然说 Paris。

</details>

函数明明换成了另一个，回答却没有变。所以，“它还能回答”算不上测试。损失要灵敏得多，它从 3.08 升到 3.39，高了 0.31，也就是说，困惑度（perplexity）$e^{\text{loss}}$ 高了 36%。不乘 γ，损失是 13.98，比乱猜还糟。

模型变差了，但没有崩溃。要弄清这 0.31 从哪里来，先看看这一步对词元做了什么。

## 又是三百个词元

第 05 课里，层归一化让 300 个点先落到均值为 0 的平面上，再移到半径为 √3 = 1.73 的球面上。现在面板的左右两边都是这些点，只少了那个大红点：左边经过层归一化，右边经过 RMSNorm，它跳过第 1 步。第 2 步，两边的点都除以自己在第 1 步之后的均方根。**对角线** `(1, 1, 1)` 仍然朝上，所以点越高，均值就越大。

现在让所有词元带上一个公共的均值：“平移”给每个特征加上同一个数，就像“动手算”的第三行那样。

**先猜一猜**：两步都做完，“平移”不是 0 而是 10，RMSNorm 的 300 个输出会怎样？先选好答案，再把“步骤”拖到 2，“平移”拖到 10，“俯仰”拖到 0，从侧面看这些点。
"""

# %% tags=["panel", "guess"]
circle_and_sphere.panel()

# %% tags=["answer"]
circle_and_sphere.panel().still(steps=2, shift=10, tilt=0)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

They crowd together around the diagonal.

</details>

The shift moves every point far up along the diagonal. Seen from the origin, all points then lie in almost the same direction. RMSNorm keeps the direction of a point and changes only its length, so its outputs end up close together at the north pole. What tells the tokens apart is now only a small part of each vector.

LayerNorm's circle has not moved at all, because step 1 removes the shift before anything else happens. Adding the same number to all features does not change its output. The RMSNorm paper calls this property *re-centering invariance*. **This is what you lose by keeping the mean.**

LayerNorm loses something, too, and it does so at any shift: it forgets how high each point was. At shift 0 you see it best, because there RMSNorm's outputs are spread over the whole sphere, while LayerNorm has only a circle. It is the same with d features. Before γ, the outputs of both layers have length √d, and those of LayerNorm also have mean 0.

## From 3 features to 576

Is there a large common mean in a real model? The angle θ between a token vector and the diagonal tells. If θ is near 90° for SmolLM2's tokens, there is hardly anything to subtract. So measure θ.

Split the vector into two parts: one has the mean μ in every feature, so it points along the diagonal, and the other is the rest. The rest adds up to 0, so the two parts are perpendicular. By Pythagoras, their squared lengths, $d\mu^2$ and $d\sigma^2$, add up to $d\,\text{RMS}^2$, the squared length of the vector. So μ, σ and RMS are the sides of a right triangle, and θ is one of its angles:

$$\text{RMS}^2 = \mu^2 + \sigma^2, \qquad \cos\theta = \frac{\mu}{\text{RMS}}, \qquad \sin\theta = \frac{\sigma}{\text{RMS}}$$

If all features are equal, θ is 0°, and if their mean is 0, it is 90°. The next cell prints the median θ of the panel's 300 points for four shifts.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

都挤到了对角线周围。

</details>

“平移”让每个点顺着对角线升得很高。这时从原点望过去，所有的点都在差不多同一个方向。RMSNorm 不改变方向，只改变长短，所以输出全都挤在北极附近，词元之间的差别只占向量的一小部分。

左边的圆却一动不动，因为第 1 步一上来就把平移减掉了。给所有特征加上同一个数，层归一化的输出不变。RMSNorm 的论文把这种性质叫做**平移不变性**（re-centering invariance）。**不减均值，就丢掉了这种性质**。

层归一化也丢东西，而且任何时候都丢：它忘掉了每个点原来有多高。“平移”是 0 时看得最清楚，右边的输出布满整个球面，左边只有一个圆。有 d 个特征时也是这样。乘 γ 之前，两种层的输出长度都是 √d，层归一化的输出还要满足均值为 0。

## 从 3 个特征到 576 个

真实的模型里，有没有很大的公共均值？看词元向量与对角线的夹角 θ 就知道：如果 SmolLM2 的词元 θ 都接近 90°，那就几乎没有什么可减的。所以来量一量 θ。

把词元向量拆成两部分：一部分的每个特征都是均值 μ，它顺着对角线；另一部分是剩下的数。剩下的数加起来是 0，所以两部分互相垂直。由勾股定理，它们长度的平方 $d\mu^2$ 与 $d\sigma^2$ 加起来，等于 $d\,\text{RMS}^2$，也就是词元向量长度的平方。可见 μ、σ 和均方根是一个直角三角形的三条边，θ 是它的一个角：

$$\text{RMS}^2 = \mu^2 + \sigma^2, \qquad \cos\theta = \frac{\mu}{\text{RMS}}, \qquad \sin\theta = \frac{\sigma}{\text{RMS}}$$

所有特征都相等，θ 就是 0°；均值为 0，θ 就是 90°。下一个单元格取四种平移，打印面板里那 300 个点的 θ 的中位数。
"""


# %%
def angle_to_diagonal(x):  # (..., d)
    return (x.mean(-1) / x.square().mean(-1).sqrt()).acos().rad2deg()


points = circle_and_sphere.three_number_tokens()  # (N, d)
for shift in (0, 1, 3, 10):
    print(f"shift = {shift:2}   median θ = {angle_to_diagonal(points + shift).quantile(0.5):4.1f}°")

# %% [markdown] lang="en"
r"""
At shift 10, half of the points lie within 4° of the diagonal. If a model's tokens shared such a mean, RMSNorm would make them nearly equal. Do SmolLM2's tokens share such a mean? They have 576 features instead of 3, so first find out which angles to expect by chance.

**Predict first.** Draw 300 random vectors with 576 features each. How far from 90° is the most extreme of the 300 angles?
"""

# %% [markdown] lang="zh"
r"""
“平移”到了 10，一半的点与对角线的夹角不到 4°。要是一个模型的词元都带着这么大的均值，经过 RMSNorm 就几乎一模一样了。SmolLM2 的词元真的都带着这样的均值吗？它们有 576 个特征，不是 3 个，所以先看看随机向量的夹角会是多少。

**先猜一猜**：随机取 300 个向量，每个都有 576 个特征。在这 300 个夹角里，与 90° 相差最大的，差了多少度？
"""

# %% tags=["guess"]
questions.angles_by_chance()

# %% tags=["answer"]
torch.manual_seed(0)
for d in (3, 30, 576):
    angles = angle_to_diagonal(torch.randn(300, d))  # (N,)
    away = angles - 90
    print(
        f"d = {d:3}   max |θ - 90°| = {away.abs().max():4.1f}°   RMS of θ - 90° = {away.square().mean().sqrt():4.1f}°"
    )

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

About 7°.

</details>

The reason is cancellation: the more features you add up, the more thoroughly they cancel. If the features are independent and have mean 0, μ is typically about 1/√d of the RMS, which is 1/24 for 576 features. With almost any seed, all angles lie between 80° and 100°. The diagonal is nothing special here: in 576 dimensions, two random directions are almost always nearly perpendicular.

So nearly all of a sphere in 576 dimensions lies close to its equator, which no three-dimensional picture can show. LayerNorm puts its outputs on that equator, so the two layers treat a random vector almost alike.

The tokens of a trained model are not random, though. The next cell records the inputs of all 61 norms while SmolLM2 reads three texts, the beginnings of *Alice in Wonderland* and *A Tale of Two Cities*, and the Zen. For each text it prints the range of the angles.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

大约 7°。

</details>

原因在于求和时正负相消，特征越多，抵消得越干净。如果各特征互相独立、均值为 0，那么 μ 一般只有均方根的 1/√d 左右，576 个特征就是 1/24。换别的随机种子，夹角几乎每次都在 80° 到 100° 之间。对角线在这里没有什么特别：在 576 维空间里，随机取两个方向，它们几乎总是接近垂直。

所以 576 维球面的面积，绝大部分集中在赤道附近，这在三维图上看不出来。层归一化的输出就在赤道上，因此随机向量经过两种层，结果几乎一样。

不过，训练好的模型里，词元并不是随机的，所以还得量一量。下一个单元格让 SmolLM2 读三段文字：《爱丽丝漫游奇境》（Alice）和《双城记》（Two Cities）的开头，还有《Python 之禅》（Zen）。它记下 61 处的输入，再打印每段文字里夹角的范围。
"""


# %% tags=["slow"]
def watched(x, *rest):
    seen.append(x[0])  # (L, d)
    return rms_norm(x, *rest)


with skip_if_missing():
    model = load_smollm2()
    for name, text in THREE_TEXTS.items():
        seen = []
        loss(model, text, watched)
        angles = angle_to_diagonal(torch.stack(seen))  # (61, L)
        rms = (angles - 90).square().mean().sqrt()
        print(f"{name:12}{angles.min():.1f}° … {angles.max():.1f}°   RMS of θ - 90° = {rms:.1f}°")
    del model

# %% [markdown] lang="en"
r"""
In the three texts, at all 61 norms, every token is within 9° of 90°. The RMS of the deviation is about 2°, no more than for random vectors, so the tokens are just as close to the equator. Since sin θ is σ/RMS, and sin 98.2° is 0.99, both layers divide by nearly the same number. And there is hardly a mean to subtract, measured against the whole vector. Why, then, did subtracting it cost 0.31?

## Is any token unusual?

Angles do not show how large the vectors are. The next cell stays with the Zen. From norm 1 on, at every twelfth norm, it prints the length of the first token's vector `x[0]`, its `mean`, its `largest` feature, the RMS of the `rest`, and the median length of the other vectors, `x[1:]`.
"""

# %% [markdown] lang="zh"
r"""
在这三段文字里，全部 61 处的每个词元，夹角与 90° 都相差不到 9°。偏差的均方根在 2° 左右，不比随机向量大，可见它们同样紧挨着赤道。sin θ 就是 σ 除以均方根，而 sin 98.2° 是 0.99，所以两种层的除数几乎相等。与整个向量的大小相比，均值小到可以忽略。那么，减掉它，损失为什么会高出 0.31？

## 有没有特别的词元？

向量有多长，从夹角上看不出来。下一个单元格仍然用《Python 之禅》，从第 1 处起，每十二处打印一次：第一个词元向量 `x[0]` 的长度，它的均值 `mean`，最大的特征 `largest`，其余特征的均方根 `rest`，还有其他词元向量 `x[1:]` 长度的中位数。
"""

# %% tags=["slow"]
for i in range(0, len(seen), 12):
    length, first = seen[i].norm(dim=-1), seen[i][0].abs().sort().values  # (L,), (d,)
    largest, rest, mean = first[-1], first[:-1].square().mean().sqrt(), seen[i][0].mean()
    print(f"norm {i + 1:2}   x[0]: {length[0]:7.1f}, {mean = :4.1f}, {largest = :7.1f}, {rest = :5.1f}", end="   ")
    print(f"x[1:]: {length[1:].median():5.1f}")

# %% [markdown] lang="en"
r"""
At norm 13, the first vector is already seven times as long as the others, and at norm 25 it is 175 times as long. Nearly all of that length is one feature. Many language models have such [massive activations](https://arxiv.org/abs/2402.17762).

At norm 25 this feature, number 507, is 22552, and alone it raises the token's mean by 22552/576 = 39. Compared with the whole vector that is little, so the angle hides it. But the RMS of the other 575 features is only 112, and subtracting the mean, 40.5, shifts each of them by more than a third of that.

## Does SmolLM2 need the mean?

So the first token may be to blame for the 0.31. To find out, subtract the mean from the first token only, `x[:1]`, and then from all tokens but the first, `x[1:]`. The next cell prints the loss with `rms_norm`, and by how much each of the three subtractions raises it.
"""

# %% [markdown] lang="zh"
r"""
到了第 13 处，第一个词元向量的长度已经是其他词元的七倍；到了第 25 处，竟是 175 倍。这长度几乎全部来自一个特征。许多语言模型里都有这种[巨大的激活值](https://arxiv.org/abs/2402.17762)（massive activations）。

在第 25 处，这个特征（507 号）是 22552，单凭它一个，词元的均值就高出 22552/576 = 39。与整个向量相比，这点均值微不足道，所以从夹角上看不出来；可是其余 575 个特征的均方根只有 112，而减去均值，每个特征都要挪动 40.5，超过它们平常大小的三分之一。

## SmolLM2 需要均值吗？

所以，这 0.31 也许要怪第一个词元。要弄清楚，可以先只让第一个词元 `x[:1]` 减去均值，再让其余的词元 `x[1:]` 减去均值。下一个单元格打印用 `rms_norm` 时的损失，以及三种减法各让损失升高多少。
"""


# %%
def minus_mean_of(tokens):
    def norm(x, *rest):
        x = x.clone()
        x[:, tokens] -= x[:, tokens].mean(-1, keepdim=True)
        return rms_norm(x, *rest)

    return norm


norms = {"x - μ": minus_mean, "x[:1] - μ": minus_mean_of(slice(0, 1)), "x[1:] - μ": minus_mean_of(slice(1, None))}

# %% tags=["slow"]
with skip_if_missing():
    model = load_smollm2()
    print(f"{'':11}{'rms_norm':>10}", *(f"{name:>11}" for name in norms))
    for name, text in THREE_TEXTS.items():
        full = loss(model, text, rms_norm)
        print(f"{name:11}{full:10.2f}", *(f"{loss(model, text, norm) - full:+11.2f}" for norm in norms.values()))
    del model

# %% [markdown] lang="en"
r"""
On the Zen, subtracting the mean from the first token alone costs 0.26, from all the others 0.08. (The two need not add up to 0.31; on *Alice* the first token alone costs more than all together.) On *Two Cities* the others cost more than the first. On *Alice* the whole step costs 0.03.

Is the other tokens' share, up to 0.22, the price of losing the mean? Or does removing *anything* from the tokens cost something? *Going further* removes random directions instead, and nothing sets the mean apart from them.

So what do you lose by keeping the mean? You lose re-centering invariance, a protection against a large common mean. In the three texts, the tokens have no such mean, so there was little to protect against. This experiment does not say whether training kept the means small, or whether a model *trained* with the subtraction would be better. The paper trained both: a Transformer for translation scored 26.6 with LayerNorm and 26.8 with RMSNorm (BLEU, higher is better), which is too close to call, and RMSNorm took 7% less time per training step.

## What other code does differently

**A misleading name.** [Hugging Face's Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) computes the right thing (it rounds earlier than you did; see *Going further*), but it calls the mean square `variance`, although no mean is subtracted. Shortened, in PyTorch's notation:

```python
variance = x.float().pow(2).mean(-1, keepdim=True)
return weight * (x.float() * torch.rsqrt(variance + eps)).to(x.dtype)
```

**A real variance.** [Keras's](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/layer_normalization.py) `LayerNormalization(rms_scaling=True)` divides by σ but does not subtract the mean. Shortened, in PyTorch's notation:

```python
variance = x.var(-1, correction=0, keepdim=True)
return x * torch.rsqrt(variance + epsilon) * gamma
```

For 101, 102, 103, 104 this gives 90.3 to 93.0, where RMSNorm gives numbers close to 1. Recent versions warn you and recommend `RMSNormalization`.

## In short

* RMSNorm divides a token vector by its root mean square and multiplies by γ. Before γ, only the direction remains.
* By keeping the mean, you lose re-centering invariance: a number added to all features changes the output.
* In the three texts, compared with their size, the means of SmolLM2's tokens are small. Subtracting the mean still raises the loss: by 0.31 on the Zen, mostly because of the first token, by 0.35 on *Two Cities*, and by 0.03 on *Alice*.
* An answer that still sounds right does not prove that a function is right.

## Three closing questions

1. A vector with 4096 features has gone through RMSNorm with γ = 1. How long is it now, and how large can a single feature be at most? What changes if it goes through LayerNorm instead?

<details><summary>Answer</summary>

Apart from ε, the length is √4096 = 64 for both layers. After RMSNorm, one feature can be 64 if all the others are 0. After LayerNorm the mean must be 0 as well. If the largest feature is a, the others are −a/4095 each, and a² + a²/4095 = 4096 gives a = √4095 = 63.99.

</details>

2. You train a model from scratch with your own RMSNorm, and all is well. Then you load Llama's weights into the same code, and the model babbles. Before γ, each vector has length 1. What is wrong, and why did training hide it?

<details><summary>Answer</summary>

The code adds up the squares instead of taking their mean, so its outputs are only 1/√d of what they should be. In training from scratch, γ and the matrices adapt to that size. Llama's weights were trained with the mean of the squares, not with their sum.

</details>

3. A chip offers LayerNorm but not RMSNorm. Can it run a model that was trained with RMSNorm?

<details><summary>Answer</summary>

If you simply use LayerNorm, you compute another function, which cost SmolLM2 0.31 of loss on the Zen. But there is an exact way. The 2d numbers [x, −x] have mean 0, and their variance is RMS², so the first half of LayerNorm's output is RMSNorm's.

</details>

The next cell checks the first answer and the third.
"""

# %% [markdown] lang="zh"
r"""
读《Python 之禅》，只让第一个词元减去均值，损失高 0.26；只让其余的词元减，高 0.08。（两者加起来不一定等于 0.31；读《爱丽丝漫游奇境》，单独减第一个词元，代价比全部都减还大。）读《双城记》，其余的词元代价更大。读《爱丽丝漫游奇境》，整个步骤的代价只有 0.03。

其余词元的这一份，最多 0.22，真是因为少了均值吗？还是说，不管从词元里去掉**什么**，都要付出一点代价？选读里改为去掉随机方向，结果看不出均值这个方向有什么特殊。

那么，不减均值，到底丢掉了什么？失去平移不变性，就挡不住很大的公共均值。在这三段文字里没有这样的均值，这层保护没派上用场。均值这么小，是训练的功劳吗？要是**训练**时就减均值，模型会更好吗？这两个问题，这个实验都回答不了。论文把两种都训练过。做翻译的 Transformer，用层归一化得 26.6 分，用 RMSNorm 得 26.8 分（BLEU，越高越好），分不出高下，而用 RMSNorm，每一步训练快了大约 7%。

## 别的代码怎么写

**名字起错了**：[Hugging Face 的 Llama](https://github.com/huggingface/transformers/blob/main/src/transformers/models/llama/modeling_llama.py) 算得没错（只是比你舍入得早，见选读），却把均方叫做 `variance`（方差），其实什么也没有减。用 PyTorch 的写法，简化之后就是：

```python
variance = x.float().pow(2).mean(-1, keepdim=True)
return weight * (x.float() * torch.rsqrt(variance + eps)).to(x.dtype)
```

**真的求了方差**：[Keras](https://github.com/keras-team/keras/blob/master/keras/src/layers/normalization/layer_normalization.py) 的 `LayerNormalization(rms_scaling=True)` 除以 σ，分子却不减均值。用 PyTorch 的写法，简化之后就是：

```python
variance = x.var(-1, correction=0, keepdim=True)
return x * torch.rsqrt(variance + epsilon) * gamma
```

输入 101、102、103、104，它的输出从 90.3 到 93.0，而 RMSNorm 的输出都在 1 附近。新版本会发出警告，建议改用 `RMSNormalization`。

## 小结

* RMSNorm 让词元向量除以自己的均方根，再乘 γ。乘 γ 之前，只剩方向。
* 不减均值，就丢掉了平移不变性：给所有特征加上同一个数，输出就会变。
* 在这三段文字里，与词元的大小相比，SmolLM2 词元的均值都很小。即使这样，减去均值也会让损失升高：《Python 之禅》高 0.31，主要是因为第一个词元；《双城记》高 0.35；《爱丽丝漫游奇境》高 0.03。
* 回答听上去没问题，不等于函数没写错。

## 三个思考题

1. 一个有 4096 个特征的向量，经过了 γ = 1 的 RMSNorm。它现在有多长？一个特征最大能到多少？换成层归一化呢？

<details><summary>答案</summary>

不计 ε 的影响，两种层的输出长度都是 √4096 = 64。经过 RMSNorm，如果其他特征都是 0，一个特征可以到 64。经过层归一化，均值还必须是 0。设最大的特征是 a，其他特征就各是 −a/4095，由 a² + a²/4095 = 4096 得 a = √4095 = 63.99。

</details>

2. 你用自己写的 RMSNorm 从头训练模型，一切正常。后来把 Llama 的权重载入同样的代码，模型却胡言乱语。乘 γ 之前，每个向量的长度都是 1。错在哪里？训练时为什么没有露馅？

<details><summary>答案</summary>

代码把平方加了起来，却没有求均值，所以输出只有应有的 1/√d。从头训练时，γ 和各个矩阵会去适应这个大小；Llama 的权重却是配合“平方的均值”（不是平方和）训练出来的。

</details>

3. 有一种芯片，只支持层归一化，不支持 RMSNorm。用 RMSNorm 训练的模型，能在上面运行吗？

<details><summary>答案</summary>

直接换成层归一化，算的就是另一个函数，SmolLM2 读《Python 之禅》的损失会因此高出 0.31。不过有一个精确的办法：[x, −x] 这 2d 个数，均值是 0，方差正好是 RMS²，所以层归一化输出的前一半就是 RMSNorm 的输出。

</details>

下一个单元格验算第一题和第三题。
"""

# %% tags=["answer"]
x = torch.tensor([[1000.0] + 4095 * [0]])  # (N, d)
print(f"1.   {rms_norm(x, (4096,)).max():.2f}   {layer_norm(x, (4096,)).max():.2f}")
x = torch.randn(5, 576)  # (N, d)
both = layer_norm(torch.cat([x, -x], 1), (1152,), eps=1e-5)  # (N, 2 d)
print("3.  ", torch.allclose(both[:, :576], rms_norm(x, (576,), eps=1e-5), atol=1e-6))

# %% [markdown] lang="en"
r"""
## Read next

* The paper: [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467), Zhang and Sennrich 2019.
* The code: `RMSNorm` in [Llama's model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py).
* The geometry: [On the Expressivity Role of LayerNorm](https://arxiv.org/abs/2305.02582), Brody, Alon and Yahav 2023.

30 of SmolLM2's 61 RMSNorms prepare the input of a feed-forward network, the second of the four functions. In [lesson 07](07_activations_and_gates.ipynb) you write it.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 论文：[Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467)，Zhang 和 Sennrich，2019。均方根归一化就出自这里。
* 代码：[Llama 的 model.py](https://github.com/meta-llama/llama/blob/main/llama/model.py) 里的 `RMSNorm`。
* 层归一化的几何意义：[On the Expressivity Role of LayerNorm](https://arxiv.org/abs/2305.02582)，Brody、Alon 和 Yahav，2023。

SmolLM2 的 61 个 RMSNorm 里，有 30 个后面紧接着前馈网络，也就是四个函数里的第二个。[第 07 课](07_activations_and_gates.ipynb)就来写它。
"""

# %% [markdown] lang="en"
r"""
## Going further: a direction like any other?

Subtracting the mean removes a vector's component along one direction, the diagonal. The next cells remove the component along each of ten random directions instead, one at a time. For a unit vector u, `others_without(u)` does this by multiplying with $I - uu^\top$. It never touches the first token, so that all eleven directions are compared fairly.

If the model needs the mean, removing it should cost more than removing a random direction.
"""

# %% [markdown] lang="zh"
r"""
## 选读：与别的方向有没有两样？

减去均值，就是去掉向量在对角线方向上的分量。下面随机取十个方向，改为去掉向量在这些方向上的分量，每次只去掉一个。如果 u 是单位向量，乘以 $I - uu^\top$ 就能做到这一点，`others_without(u)` 用的就是这个办法。第一个词元始终不动，这样十一个方向才可比。

如果模型需要均值，去掉它就应该比去掉一个随机方向代价更大。
"""


# %%
def others_without(u):
    cut = torch.eye(576) - torch.outer(u, u)  # (d, d)
    return lambda x, *rest: rms_norm(torch.cat([x[:, :1], x[:, 1:] @ cut], 1), *rest)


diagonal = torch.ones(576) / 576**0.5
random = F.normalize(torch.randn(10, 576, generator=torch.Generator().manual_seed(1)), dim=-1)
cuts = [others_without(u) for u in (diagonal, *random)]

# %% tags=["slow"]
with skip_if_missing():
    model = load_smollm2()
    print(f"{'':11}{'x[1:] - μ':>9}   place   x[1:] - random")
    for name, text in THREE_TEXTS.items():
        full = loss(model, text, rms_norm)
        mean, *others = (loss(model, text, cut) - full for cut in cuts)
        place = 1 + sum(other > mean for other in others)
        print(f"{name:11}{mean:+9.2f}{place:8}  ", *(f"{other:+.2f}" for other in sorted(others, reverse=True)))
    del model

# %% [markdown] lang="en"
r"""
On the Zen the mean is only ninth among the eleven directions, on *Alice* it is in the middle, and on *Two Cities* it is second. That is what you would expect of a direction like any other. Some removals even lower the loss, perhaps by chance, on such short texts.
"""

# %% [markdown] lang="zh"
r"""
读《Python 之禅》，在十一个方向里，均值的代价只排第九；读《爱丽丝漫游奇境》，它正好在中间；读《双城记》，它排第二。如果它与别的方向没有两样，排在每一名的概率都一样，这样的结果正在意料之中。有的方向去掉之后，损失反而低了，那多半是碰巧，因为这几段文字都太短。
"""

# %% [markdown] lang="en"
r"""
## Going further: two divisors

RMSNorm is more than LayerNorm with one step left out, because the divisor changes as well. The triangle below is the one from the lesson, $\text{RMS}^2 = \mu^2 + \sigma^2$: LayerNorm divides by the orange side and RMSNorm by the blue one. The vector is `[1, 2, 3, 4]`, multiplied by *scale* and then moved by *shift*.

**Predict first.** With *scale* at 1, at which shift do both layers give the same four numbers?
"""

# %% [markdown] lang="zh"
r"""
## 选读：两个除数

RMSNorm 与层归一化相比，不只少了一步，除数也变了。下面就是正文里的直角三角形，$\text{RMS}^2 = \mu^2 + \sigma^2$：层归一化除以橙色的边，RMSNorm 除以蓝色的边。向量是 `[1, 2, 3, 4]`，先乘以“缩放”，再加上“平移”。

**先猜一猜**：“缩放”保持 1，“平移”取多少时，两种层的四个输出完全相同？
"""

# %% tags=["panel", "guess"]
mean_and_rms.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

At shift −2.5 both layers give the same numbers.

</details>

There the mean is 0, so the two divisors are equal and there is nothing to subtract.

How much does the divisor alone matter to SmolLM2? `divide_by_sigma` makes Keras's mistake: it divides by σ but keeps the mean.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

“平移”取 −2.5 时，两种层的输出相同。

</details>

这时均值为 0，两个除数相等，也没有什么可减的。

只换除数，SmolLM2 会受多大影响？`divide_by_sigma` 犯的就是 Keras 那种错：除以 σ，却不减均值。
"""


# %% tags=["slow"]
def divide_by_sigma(x, shape, weight, eps):
    return x * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + eps) * weight


with skip_if_missing():
    model = load_smollm2()
    for norm in (rms_norm, divide_by_sigma):
        print(f"{norm.__name__:16}loss {loss(model, ZEN, norm):.3f}   {answer(model, norm)}")
    del model

# %% [markdown] lang="en"
r"""
The loss rises by only 0.003, because SmolLM2's σ and RMS are nearly equal. So this model would not have shown you the mistake. The numbers 101, 102, 103, 104 show it at once.
"""

# %% [markdown] lang="zh"
r"""
损失只高了 0.003，因为 SmolLM2 的 σ 与均方根几乎相等。所以靠这个模型发现不了这种错，用 101、102、103、104 一试就知道。
"""

# %% [markdown] lang="en"
r"""
## Going further: the giant first token

How large can one feature be after the division? The squares of all d features then have mean 1, so they add up to d. In the extreme case one feature accounts for all of it. With 576 features the limit is therefore √576 = 24, however large the token was. The next cell shows how close the first token comes to it: `x[507]` is its feature 507 before the division, `y[507]` is the same feature after it, before γ, and `rest` is the RMS of its other 575 features.
"""

# %% [markdown] lang="zh"
r"""
## 选读：庞大的第一个词元

除以均方根之后，一个特征最大能到多少？这时 d 个特征的平方，均值是 1，所以总和是 d，最多全部归一个特征所有。因此，有 576 个特征时，不论词元原来有多大，上限都是 √576 = 24。下一个单元格看看第一个词元离这个上限有多近：`x[507]` 是它的 507 号特征，还没有相除；`y[507]` 是同一个特征，已经相除，还没有乘 γ；`rest` 是其余 575 个特征的均方根。
"""

# %% tags=["slow"]
seen = []
with skip_if_missing():
    loss(load_smollm2(), ZEN, watched)
    for number in (7, 23, 24, 25, 58, 59, 61):
        first = seen[number - 1][0]  # (d,)
        y = rms_norm(first, (576,))
        rest = torch.cat([y[:507], y[508:]]).square().mean().sqrt()
        print(f"norm {number:2}   RMS {first.square().mean().sqrt():6.1f}   x[507] {first[507]:7.0f}", end="   ")
        print(f"y[507] {y[507]:5.2f}   {rest = :.3f}")

# %% [markdown] lang="en"
r"""
At norm 25, and still at norm 58, the first token is almost nothing but its feature 507, at 23.8 out of 24. (At norm 61 the largest is another feature.) The division makes this token as large as the others, but it cannot make it less lopsided.

Where does the giant come from? An earlier, smaller giant in feature 507, 653 at norm 7, has almost gone by norm 24. The feed-forward network of layer 12, between norms 24 and 25, raises it from 52 to 22552. In the same way, the networks of layers 29 and 30, after norms 58 and 60, shrink it again. Do they react to feature 507? Hide it from both of them by setting its γ to 0, and see what they do.
"""

# %% [markdown] lang="zh"
r"""
在第 25 处，第一个词元几乎只剩下 507 号特征，达到了 23.8，离 24 只差一点，到了第 58 处还是这样。（在第 61 处，最大的是另一个特征。）相除只能让这个词元和别的一样大，改变不了一个特征独大的局面。

它是从哪里来的？507 号特征在第 7 处就大过一次，到了 653，可是到第 24 处几乎消失了。第 24 处和第 25 处之间，正好隔着第 12 层的前馈网络，是它把这个特征从 52 推高到 22552。同样，第 58 处和第 60 处后面，是第 29 层和第 30 层的前馈网络，它们又让它缩了回去。这两个网络是不是看到了 507 号特征才这样做的？把这两处的 γ 里对应的数改成 0，不让它们看见，试一试。
"""

# %% tags=["slow"]
seen = []
with skip_if_missing():
    model = load_smollm2()
    for block in model.blocks[-2:]:
        block.norm2.weight.data[507] = 0
    loss(model, ZEN, watched)
    del model
    for number in (58, 59, 61):
        print(f"norm {number}   RMS {seen[number - 1][0].square().mean().sqrt():6.1f}")

# %% [markdown] lang="en"
r"""
At norm 59, which comes before layer 30's network, the RMS is already 897 instead of 351. So layer 29's network reads feature 507. Whether layer 30's does, this run cannot say.
"""

# %% [markdown] lang="zh"
r"""
第 59 处还在第 30 层的前馈网络之前，那里的均方根已经是 897，而不是 351。可见第 29 层的网络要读 507 号特征。第 30 层的是不是也读，这次实验说明不了。
"""

# %% [markdown] lang="en"
r"""
## Going further: very small and very large numbers

The paper has no ε. `nn.RMSNorm` takes the machine epsilon of the data type it computes in, which is $1.2\cdot10^{-7}$ for float32, and Llama takes $10^{-5}$ or $10^{-6}$. `F.normalize(x, dim=-1) * d**0.5` is RMSNorm without γ and with another kind of ε: nothing is added, but the length counts as at least $10^{-12}$. Only very small vectors notice the difference. Large ones are in danger for another reason, because their features are squared, and float16 ends at 65504.

**Predict first.** The formula is applied to 300, 400, 500, 600, all in float16. What comes out?
"""

# %% [markdown] lang="zh"
r"""
## 选读：很小的数与很大的数

论文的公式里没有 ε。`nn.RMSNorm` 取计算时所用数据类型的机器精度，float32 是 $1.2\cdot10^{-7}$；Llama 取 $10^{-5}$ 或 $10^{-6}$。`F.normalize(x, dim=-1) * d**0.5` 相当于没有 γ 的 RMSNorm，ε 的用法也不同：不往里加，只是让长度至少算作 $10^{-12}$。只有很小的向量才感觉得到这些差别。很大的向量另有危险，因为特征要平方，而 float16 最大只能到 65504。

**先猜一猜**：把 300、400、500、600 代入这个公式，全程都用 float16，会得到什么？
"""

# %% tags=["guess"]
questions.squares_in_float16()

# %% tags=["answer"]
tiny, large = torch.full((4,), 1e-4), torch.tensor([300, 400, 500, 600], dtype=torch.float16)
for eps in (None, 1e-6, 1e-5):
    print(f"eps={eps}: 0.0001 → {F.rms_norm(tiny, (4,), eps=eps)[0]:.2f}")
print(f"F.normalize: 0.0001 → {F.normalize(tiny, dim=-1)[0] * 4**0.5:.2f}")
print("float16:", large / (large.square().mean() + 1e-5).sqrt())
print("float32:", rms_norm(large, (4,)))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

All four outputs are 0.

</details>

In float16, the square of any number from 256 on is infinite. So the RMS is infinite as well, and a number divided by infinity is 0. This mistake is hard to notice, because there is no error and no NaN. That is why the squares are computed in float32 and the result is converted back.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

四个输出都是 0。

</details>

在 float16 里，256 以及更大的数，一平方就成了无穷大。均方根于是也是无穷大，而一个数除以无穷大等于 0。程序既不报错，也不出现 NaN，所以这种错误很难发现。正因为如此，平方要用 float32 来算，算完再转回去。
"""

# %% [markdown] lang="en"
r"""
## Going further: when to round

Models also differ in *when* they round to a 16-bit type such as bfloat16. Llama and Gemma both normalize in float32. [Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) then rounds to the type of x and multiplies by γ in that type, so it rounds twice. [Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) stores γ − 1, multiplies by 1 + weight in float32, and rounds once at the end. If you want to reproduce a model bit by bit, you need its order.

Write both. `weight` is what the model stores, and Llama stores γ itself. Llama's version comes first.
"""

# %% [markdown] lang="zh"
r"""
## 选读：何时舍入

各种模型还有一处不同，就是**什么时候**舍入到 bfloat16 这样的 16 位类型。Llama 和 Gemma 都在 float32 里做归一化。[Llama](https://github.com/meta-llama/llama/blob/main/llama/model.py) 接着就舍入到 x 的类型，再在这个类型里乘 γ，所以一共舍入两次。[Gemma](https://github.com/google/gemma_pytorch/blob/main/gemma/model.py) 存的是 γ − 1，在 float32 里乘以 1 + weight，最后只舍入一次。要想逐位重现一个模型的结果，就得用它的顺序。

请把两种都写出来。`weight` 是模型存的值，Llama 直接存 γ。先写 Llama 的。
"""


# %% tags=["exercise"]
def my_rms_norm_llama(x, weight, eps=1e-6):
    return ...


check("rms_norm_llama", my_rms_norm_llama)

# %% [markdown] lang="en"
r"""
Stuck? `to(x.dtype)` is the rounding. Decide where it belongs.

<details><summary>The idea</summary>

Do everything up to the division on `x.float()`. Convert the result to the type of x, and only then multiply by `weight`. The product of two 16-bit numbers is rounded once more.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？`to(x.dtype)` 就是舍入，想一想它该放在哪里。

<details><summary>思路</summary>

一直到相除，都在 `x.float()` 上算。先把结果转成 x 的类型，再乘 `weight`。两个 16 位的数相乘，还要再舍入一次。

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
Now write Gemma's version.
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
Stuck? Start from Llama's version and move `to(x.dtype)` to the end.

<details><summary>The idea</summary>

`weight` is γ − 1, so a model whose weights are all 0 multiplies by 1. Convert `weight` to float32 before you add the 1, because otherwise its last digits are lost.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？从 Llama 的写法开始，把 `to(x.dtype)` 移到最后。

<details><summary>思路</summary>

`weight` 是 γ − 1，所以权重全是 0 的模型，乘的就是 1。请先把 `weight` 转成 float32，再加 1，不然它的最后几位就丢了。

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
Here are both orders for the same vector and the same γ, in bfloat16, which keeps 8 significant binary digits.
"""

# %% [markdown] lang="zh"
r"""
同一个向量，同样的 γ，用 bfloat16 按两种顺序各算一遍。这种类型只有 8 位二进制有效数字。
"""

# %%
token, gain = torch.tensor([[4, 5, 6], [1.25, 0.75, 1.5]], dtype=torch.bfloat16)
print("Llama", solved_llama(token, gain).tolist())
print("Gemma", solved_gemma(token, gain - 1).tolist())

# %% [markdown] lang="en"
r"""
## Going further: what a single γ says

In SmolLM2's very first norm, 271 of the 576 numbers in γ are negative. Does the model flip the sign of these features? You cannot tell from γ, because γ never acts alone. The matrices that read the norm's output multiply its features again, so γ can be folded into them: multiply column i of each matrix by $\gamma_i$, and leave γ out of the norm. The result is the same.
"""

# %% [markdown] lang="zh"
r"""
## 选读：单独一个 γ 说明什么

在 SmolLM2 的第一个归一化层里，γ 的 576 个数有 271 个是负的。难道模型要把这些特征反过来？只看 γ 是看不出来的，因为 γ 从不单独起作用。读取归一化结果的矩阵还要再乘一遍这些特征，所以 γ 可以并到矩阵里去：每个矩阵的第 i 列都乘以 $\gamma_i$，归一化时就不再乘 γ，结果完全一样。
"""

# %%
print((smollm2_rms_norms()["layers.0.norm1.weight"] < 0).sum().item())
with skip_if_missing(), torch.no_grad():
    block, x = load_smollm2().blocks[0], torch.randn(5, 576)
    folded = block.query.weight * block.norm1.weight  # (units, d)
    y = rms_norm(x, (576,), None, block.norm1.eps) @ folded.T  # (5, units)
    print(torch.allclose(y, block.query(block.norm1(x)), atol=1e-4))

# %% [markdown] lang="en"
r"""
Only the product of γ and the matrices counts. So neither the sign nor the size of a single γ says how much a feature matters, unless it is 0.
"""

# %% [markdown] lang="zh"
r"""
只有 γ 与矩阵的乘积才起作用。所以单独一个 γ，不论是正负还是大小，都说明不了这个特征有多重要，除非它是 0。
"""
