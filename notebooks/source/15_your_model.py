# %% [markdown] lang="en"
r"""
# 15 A chat model with your blocks

Below are fifteen ways to get one thing in a chat model wrong. One of them brings the loss down to less than half, and ruins the answers. Another moves the loss by one part in ten thousand, and changes no letter of two answers. Yet loss and answer are what one looks at first.

Here all blocks come together: you build SmolLM2 out of five functions of these lessons, and talk to it; you write the loop that turns scores into text; and you see what limits its speed.

After this lesson you can say how a model goes from a question to an answer, how fast the memory of a machine lets it write, and which test shows each kind of mistake first. It takes about 40 minutes, without *Going further*.
"""

# %% [markdown] lang="zh"
r"""
# 15 用你写的部件组成聊天模型

把聊天模型写错一处，这一课列出了十五种办法。其中一种让损失降到不足一半，却毁了回答；另一种，损失只变了万分之一，两个回答一个字母也没有变。可是检验一个模型，人们最先看的恰恰是损失降没降、回答通不通顺。

到了这一课，各个部件终于拼在一起。你要用前面各课写过的五个函数组成 SmolLM2，同它对话；要写出那个把得分变成文字的循环；还要弄清它的速度受什么限制。

学完这一课，你能说出模型怎样从问题走到回答，一台机器的内存最快允许它写多快，以及哪一类错误最先由哪一种检验查出来。大约需要 40 分钟，选读另计。
"""

# %%
from unittest.mock import patch

import torch

from blocklab import causal_mask, repeat_kv
from blocklab_course import checked_or_reference, check
from blocklab_course.chat import Chat
from blocklab_course.building_blocks import load_or_reference
from blocklab_course.lessons.your_model import memory_roof, prompts, speed, wrong_block
from blocklab_course.lessons.your_model.wrong_functions import one_too_far, without_mask

# %% [markdown] lang="en"
r"""
## Two questions first

1. A function reads a large matrix from memory and does very little with each number. What decides how long it takes?
2. SmolLM2 is pre-norm and has 30 layers. How many RMSNorms does it hold?

<details><summary>Answers</summary>

1. The bytes, divided by the bytes that memory delivers in a second.
2. There are 61: two in each layer, 60 in all, and one after the last, because pre-norm does not normalize the residual stream itself.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 先想两个问题

1. 一个函数从内存读一个很大的矩阵，每个数只做很少的运算。它要用多少时间，由什么决定？
2. SmolLM2 是前置归一化，有 30 层。它一共有几处 RMSNorm？

<details><summary>答案</summary>

1. 由字节数决定：用要读的字节数，除以内存每秒能读的字节数。
2. 一共 61 处：每层两处，共 60 处；前置归一化不归一化残差流本身，所以最后一层之后还要补一处。

</details>
"""

# %% [markdown] lang="en"
r"""
## Put together

Apart from the embedding, matrices and sums, the model is five functions. Where you kept your own version, it runs; elsewhere ours does.
"""

# %% [markdown] lang="zh"
r"""
## 拼起来

除了词嵌入、乘矩阵和相加，整个模型就是五个函数。你保存过的用你写的，其余的用我们的。
"""

# %%
yours = load_or_reference("rms_norm", "rotary_embedding", "attention", "cached_attention", "swiglu", lessons=True)

# %% [markdown] lang="en"
r"""
One layer, complete. `x` are the new tokens, `layer` brings the matrices, and `past` holds the keys and values of all tokens before. The whole prompt comes first (**prefill**), without a past, and is read with `attention`; from then on tokens come one by one (**decode**), and `cached_attention` reads them (lesson 13).
"""

# %% [markdown] lang="zh"
r"""
下面是完整的一层。`x` 是新来的词元，`layer` 提供各个矩阵，`past` 是前面所有词元的键和值。先读整个提示，这叫**预填充**（prefill），前面还没有词元，用 `attention`；此后一次读一个词元，叫**解码**（decode），用 `cached_attention`（第 13 课）。
"""


# %%
def attend(x, layer, past):
    def heads(y):  # (1, L, heads * width) to (1, heads, L, width)
        return y.unflatten(-1, (-1, layer.width)).transpose(1, 2)

    q, k, v = heads(layer.query(x)), heads(layer.key(x)), heads(layer.value(x))
    first = 0 if past is None else past[0].shape[2]
    positions = torch.arange(first, first + x.shape[1])
    q = yours.rotary_embedding(q, positions, layer.rope_base)
    k = yours.rotary_embedding(k, positions, layer.rope_base)
    if past is None:  # the prompt
        times = q.shape[1] // k.shape[1]  # cached_attention repeats the heads itself
        y = yours.attention(q, repeat_kv(k, times), repeat_kv(v, times), causal_mask(x.shape[1]))
    else:  # one more token
        y, k, v = yours.cached_attention(q, k, v, *past)
    return layer.out(y.transpose(1, 2).flatten(2)), (k, v)


# %%
def block(x, layer, past):
    h = yours.rms_norm(x, x.shape[-1:], layer.norm1.weight, layer.norm1.eps)
    y, past = attend(h, layer, past)
    x = x + y
    h = yours.rms_norm(x, x.shape[-1:], layer.norm2.weight, layer.norm2.eps)
    network = layer.feed_forward
    return x + yours.swiglu(h, network.w1.weight, network.w2.weight, network.w3.weight), past


# %% [markdown] lang="en"
r"""
## It answers

Thirty of these blocks, one more RMSNorm, and a product with the embedding give each token of the vocabulary a **score** (logit). The next token is the one with the highest score (**greedy decoding**). It is appended and read like the others, until the model chooses its *end token*.
"""

# %% [markdown] lang="zh"
r"""
## 它回答了

三十个这样的层，再加一处 RMSNorm，最后与词嵌入矩阵相乘，词表里的每个词元就得到一个**得分**（logit）。得分最高的就是下一个词元，这叫**贪心解码**（greedy decoding）。把它接在后面，再读进去，如此反复，直到模型选出结束词元。这里请它补全的句子是“法国的首都是……”。
"""

# %% tags=["slow"]
talk = Chat(block, yours.rms_norm)
talk(prompts.FIRST)

# %% [markdown] lang="en"
r"""
What the model reads is not quite what you typed. It was trained to answer after markers that say who is speaking, its **chat template**; without them it may continue your text, or say nothing.
"""

# %% [markdown] lang="zh"
r"""
模型读到的，并不只是你输入的那句话。它是跟着一套标明谁在说话的标记学会回答的，这就是**对话模板**（chat template）；没有这些标记，它可能接着你的话往下写，也可能一个字也不写。
"""

# %% tags=["slow"]
if talk.speaker:
    print(talk.speaker.decode(talk.speaker.encode(prompts.FIRST)))

# %% [markdown] lang="en"
r"""
## At most so many tokens a second

The pieces came one by one, because each token depends on the one before. And at each step the processor reads every number of the model from memory, 538 MB for 134515008 numbers of 4 bytes (stored in 4 to 8 bits, widened here), and does about 2 operations with each. So bytes decide, where one text is written token by token (keys and values come on top):

$$\text{tokens a second} \le \frac{\text{bytes a second}}{\text{bytes a token}}$$

**Your turn, one line.** A model has $8\cdot10^9$ numbers of 4 bits each, and memory delivers 100 GB/s. At most how many tokens a second?
"""

# %% [markdown] lang="zh"
r"""
## 每秒最多几个词元

回答是一个词元接一个词元出来的，为什么不能一下子全出来？因为前一个词元没有选定，后一个就无从算起。而每走一步，处理器都要把模型的所有参数从内存读一遍：134515008 个数，每个 4 字节，共 538 MB（文件里存的是 4 到 8 位，这里已展开），每个数却只参与大约 2 次运算。所以，只写一段文字、一次写一个词元时，快慢由字节数决定（键和值另算）：

$$\text{每秒词元数} \le \frac{\text{每秒字节数}}{\text{每个词元的字节数}}$$

**轮到你了**，只写一行：一个模型有 $8\cdot10^9$ 个参数，每个 4 位，内存每秒读 100 GB。每秒最多生成几个词元？
"""

# %% tags=["exercise"]
my_tokens_per_second = None

check("tokens_per_second", my_tokens_per_second)

# %% [markdown] lang="en"
r"""
Stuck? How many bytes are 4 bits?

<details><summary>The idea</summary>

First the bytes that one token reads: all numbers once. How often do they go into the bytes of a second?

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？先想想 4 位是几个字节。

<details><summary>思路</summary>

先算每个词元要读的字节数，也就是所有参数各读一遍。一秒里读的字节，够这样读几遍？

</details>
"""

# %% tags=["solution"]
solved_tokens_per_second = 100e9 / (8e9 * 4 / 8)

check("tokens_per_second", solved_tokens_per_second, keep=False)

# %% [markdown] lang="en"
r"""
The line is this bound; drag the dot. Machines stand at their published bandwidth ([M4 Pro](https://www.apple.com/newsroom/2024/10/apple-introduces-m4-pro-and-m4-max/), [H200](https://www.nvidia.com/en-us/data-center/h200/)), or at bus width × transfer rate (RTX 4090: 384 bits at 21 GT/s; a phone with 64 bits at 9.6, a laptop with 128 bits at 5.6). Whether a model fits is another question. In the gray band it writes more slowly than you read.

**Predict first.** With 16 bits, which may write faster, 70B on an H200 or 1B on a laptop?
"""

# %% [markdown] lang="zh"
r"""
图里的直线就是这个上限，圆点可以拖动。机器标在厂家公布的带宽处（[M4 Pro](https://www.apple.com/newsroom/2024/10/apple-introduces-m4-pro-and-m4-max/)、[H200](https://www.nvidia.com/en-us/data-center/h200/)），或者由位宽乘传输速率算出（RTX 4090：384 位、21 GT/s；手机：64 位、9.6 GT/s；笔记本电脑：128 位、5.6 GT/s）。模型放不放得下，是另一回事。落进灰色的带子，写得就比你读得慢。

**先猜一猜**：都用 16 位，70B 的模型在 H200 上，1B 的模型在笔记本电脑上，哪一个有可能写得更快？
"""

# %% tags=["panel"]
memory_roof.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

The 1B model on the laptop, which can read 2 GB 45 times a second; the H200 reads 140 GB only 34 times.

</details>

And this machine? The cell times one more token after a prompt, with the cache and with everything read again, and one read of all weights, the roof (lesson 13).

**Predict first.** How much of the roof does SmolLM2 reach here with the cache: nearly all of it, about half, or less than half?
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

是笔记本电脑上的 1B 模型：它一秒能把 2 GB 读 45 遍，而 H200 一秒只能把 140 GB 读 34 遍。

</details>

这台机器呢？下面的单元格测三个时间：提示后面再生成一个词元，有缓存时要多久，全部重读要多久；单个线程把权重读一遍要多久，这是最短的时间，也就是屋顶线（第 13 课）。

**先猜一猜**：有缓存时，SmolLM2 在这里的速度能达到内存所允许的多少：差不多全部、一半上下，还是不到一半？
"""

# %% tags=["slow", "answer", "nbval-ignore-output"]
if talk.speaker:
    print(speed.told(talk.speaker.model, talk.speaker.encode(prompts.FIRST)))

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

On the servers that we tried it was less than half of what one thread reads. Reading all 39 tokens again took a few times as long there (2 to 5 times), not 39 times, because one read of the weights serves them all.

</details>

The gap goes to more than a thousand small operations that Python starts for each token, and to products with a single row, for which `F.linear` reads the weights more slowly than memory could.

## One thing wrong

In each tile *one* thing is wrong, in all 30 layers, and not one weight has changed. In the last row it lies around the cache. The loss is that on “The Zen of Python”, read at once, so without a cache. All sixteen were recorded with `python -m authoring.record_wrong_blocks`.

**Predict first.** One mistake brings the loss down to less than half. Which? Choose, then touch tile after tile.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

在我们试过的服务器上，不到单个线程读内存速度的一半。39 个词元全部重读，用的时间是有缓存时的几倍（我们测得 2 到 5 倍），而不是 39 倍，因为权重读一遍，所有词元都能用。

</details>

比屋顶线多用的时间，一是花在 Python 为每个词元启动的一千多个小运算上，二是花在只有一行的矩阵乘法上：`F.linear` 算这种乘法时，读权重还赶不上内存供数的速度。

## 写错一处

每一格里**只错一处**，30 层都一样，权重一个也没有变。最后一行错在缓存周围。损失是读《Python 之禅》（The Zen of Python）时的，一次读完，所以用不到缓存。十六种情况都是事先记录的，命令是 `python -m authoring.record_wrong_blocks`。

**先猜一猜**：有一种错误会让损失降到不足一半，是哪一种？先选，再一格一格地点。
"""

# %% tags=["panel", "guess"]
wrong_block.panel()

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It is the missing mask, with 1.46 in place of 3.08. The token to predict is in plain sight; the loss is not 0, because the model never learned to copy it. When it writes, nothing stands after the last token, so that help is gone; but every token of the prompt was read in a way that the model was not trained for. So it says your sentence again, and of the haiku only “The moon is a gentle voice.”

</details>

Four kinds of mistakes, and each shows first in another test:

| | loss | the two answers | shows first in |
|---|---|---|---|
| blurs: minus the mean, base × 10 | 3.39, 3.47 | still Paris, but another haiku | the loss, beside the right one |
| spoils the answers: the other nine | 1.46 to 20.09 | both are others | one question |
| wrong only with the cache: the last row | 3.0819, the right one | one is another, or both | cached against uncached, number by number (lesson 13) |
| shows nowhere here: ε outside the root | 3.0816 | the same | `check`, on tiny numbers (lesson 06) |

`check` refuses thirteen of the fifteen. The two with wrong positions it cannot see, because every function is right by itself. So compare the whole model, too, all scores for a prompt, read at once and token by token: yours, then with one function wrong.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

是没有掩码，损失是 1.46，原来是 3.08。要预测的词元就摆在那里；可是模型从没学过照抄，所以损失也没有降到 0。等模型自己写的时候，最后一个词元后面什么也没有，没得抄了；而提示里的每个词元都看到了后文，与训练时不同。于是它把你的句子又说了一遍，俳句也只写了一句“The moon is a gentle voice.”。

</details>

错误有四类，每一类最先露马脚的地方都不同：

| | 损失 | 两个回答 | 最先由什么查出来 |
|---|---|---|---|
| 变模糊：多减均值、base × 10 | 3.39、3.47 | Paris 不变，俳句都变了 | 损失，与正确的相比 |
| 回答都变坏：其余九种 | 1.46 到 20.09 | 都变了 | 问一句话 |
| 有缓存时才错：最后一行 | 3.0819，与正确的一样 | 变了一个，或者都变了 | 有缓存与没有缓存逐个数比较（第 13 课） |
| 这里看不出：ε 在根号外 | 3.0816 | 不变 | `check`，用很小的数（第 06 课） |

十五种错误里，`check` 查得出十三种。查不出的两种都是位置不对，因为每个函数单独看都没有错。所以整个模型也要比较：同一个提示，一次读完，再逐个词元读，比较所有的得分。先用你的函数，再把其中一个换成错的。
"""


# %%
def apart():
    ids, at_once, one_by_one = talk.speaker.encode(prompts.FIRST), talk.reading(), talk.reading()
    return (at_once(ids) - torch.cat([one_by_one([token]) for token in ids])).abs().max().item()


# %% tags=["slow"]
if talk.speaker:
    print(f"yours {apart():.1f}")
    for name, mistake in ("rotary_embedding", one_too_far), ("attention", without_mask):
        with patch.object(yours, name, mistake):
            print(f"{mistake.__name__} {apart():.1f}")

# %% [markdown] lang="en"
r"""
Rounding makes less than 0.001, positions off by one 8.6, and the missing mask 43.3: a token that is read alone sees nothing of what follows, so the mistake that the loss praises cannot hide.

“Pairs in halves” is wrong only for weights in this order (lesson 11). A loss above 10.80 is worse than the same probability for all 49152 tokens (ln 49152 = 10.80): the model is sure of what is wrong.
"""

# %% [markdown] lang="zh"
r"""
两种读法本来只差舍入误差，不到 0.001。位置错开一位，得分就差到 8.6；没有掩码，差到 43.3：损失夸奖的那个错误，在这里藏不住，因为逐个读的时候，词元看不到后面的内容。

“前后两半配对”只对按这种顺序存放的权重来说是错的（第 11 课）。另外，损失超过 10.80，就还不如给 49152 个词元同样的概率（ln 49152 = 10.80）：模型错了，而且错得很有把握。
"""

# %% [markdown] lang="en"
r"""
## Exercise: the loop that writes

One part is still ours: the loop. Write it.

* `model(tokens)` reads a list of tokens after all that it has read before, which it remembers, and returns scores, `(len(tokens), vocabulary)`. Row i is for what follows `tokens[i]`.
* Read the prompt `ids` first, preferably in one call, then every new token once.
* Greedy: the highest score. Stop at the token `end`, which is not kept, and after `most` new tokens.
* Return a list of numbers: the prompt, then the answer.
"""

# %% [markdown] lang="zh"
r"""
## 练习：一个接一个地写

现在只剩循环是我们的了，请把它写出来。

* `model(tokens)` 接着以前读过的（它都记着，不要再交一遍），再读一个词元列表，返回得分，形状为 `(len(tokens), vocabulary)`。第 i 行说的是 `tokens[i]` 后面该是什么。
* 先读提示 `ids`，最好一次读完；以后每个新词元只读一次。
* 贪心解码，取得分最高的。遇到词元 `end` 就停，它不留下；写够 `most` 个新词元也停。
* 返回一个列表，元素都是整数（int）：提示，后面接着回答。
"""


# %% tags=["exercise"]
def my_generate(model, ids, most, end):
    return ...


check("generate", my_generate)

# %% [markdown] lang="en"
r"""
Stuck? Write down for the prompt `[3, 1, 4]` what the model reads in each call.

<details><summary>The idea</summary>

The scores of the prompt already hold the first new token, in their last row. So read the prompt before the loop; in each round choose, leave at the end token, append, and read the one token that you have chosen.

</details>
"""

# %% [markdown] lang="zh"
r"""
卡住了？以提示 `[3, 1, 4]` 为例，把每次调用时模型读到的词元写下来。

<details><summary>思路</summary>

读完提示，得分的最后一行就已经给出了第一个新词元。所以先在循环之前读提示；每一轮先选词元，是结束词元就离开，否则接在后面，再把选出的这一个读进去。

</details>
"""


# %% tags=["solution"]
def solved_generate(model, ids, most, end):
    text = list(ids)
    scores = model(text)
    for _ in range(most):
        token = scores[-1].argmax().item()
        if token == end:
            break
        text.append(token)
        scores = model([token])
    return text


check("generate", solved_generate, keep=False)

# %% [markdown] lang="en"
r"""
## Ask it something

Now the model runs on your loop, too, as soon as `check` accepts it. Put in a prompt of your own.
"""

# %% [markdown] lang="zh"
r"""
## 问它你想问的

只要 `check` 通过，模型用的循环也是你写的了。这里先请它写一首关于月亮的俳句（haiku）；然后换成你自己想问的话，最好用英语，别的语言它几乎不会。
"""

# %% tags=["slow"]
talk(prompts.HAIKU, generate=checked_or_reference("generate", my_generate))

# %% [markdown] lang="en"
r"""
Four lines, where a haiku has three, two of them nearly alike: it writes fluently, with 135 million numbers trained on English. **Predict first.** You ask it in Chinese for the capital of France. What does it say?
"""

# %% [markdown] lang="zh"
r"""
俳句只有三行，它写了四行，其中两行差不多一样：写得流畅，格式却顾不上。它只有 135M（一亿三千五百万）个参数，训练用的是英语。**先猜一猜**：用中文问它法国的首都，它会说什么？
"""

# %% tags=["slow", "answer"]
talk(prompts.IN_CHINESE, most=48)

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It only says the question, again and again. Its tokens can spell any character, but it has hardly seen Chinese.

</details>

## What you will meet elsewhere

[Hugging Face](https://huggingface.co/docs/transformers/main_classes/text_generation) calls your loop like this:

```python
inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True, return_tensors="pt")
model.generate(**inputs, max_new_tokens=60, do_sample=False)
```

`max_new_tokens` is your `most`; the older `max_length` counts the prompt, too. The result begins with the prompt, as yours, and keeps the end token, unlike yours. Without `add_generation_prompt` the model may go on speaking for *you*. And with `do_sample=True` the next token is drawn by chance (*Going further*).

Real engines take the same steps, and add:

* **continuous batching**: one read of the weights serves many texts, which come and go at every token ([Orca](https://www.usenix.org/conference/osdi22/presentation/yu));
* **paging**: keys and values lie in small blocks, so no memory is reserved and left empty ([vLLM](https://arxiv.org/abs/2309.06180));
* **quantized kernels**: numbers are read as 4 bits and widened on the chip, which changes the scores a little ([GPTQ](https://arxiv.org/abs/2210.17323));
* **speculative decoding**: a small model guesses some tokens ahead, and the large one checks them all in one read ([Leviathan et al.](https://arxiv.org/abs/2211.17192)).

Three get more tokens out of each byte read; paging makes room for larger batches. And a *mixture of experts* reads only a part of its numbers for each token.
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

它只是一遍又一遍地重复问题。它的词元拼得出任何汉字，可是训练时几乎没有见过中文。

</details>

## 在别处会遇到什么

在 [Hugging Face](https://huggingface.co/docs/transformers/main_classes/text_generation) 里，你写的循环是这样调用的：

```python
inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True, return_tensors="pt")
model.generate(**inputs, max_new_tokens=60, do_sample=False)
```

`max_new_tokens` 就是你的 `most`；旧的 `max_length` 把提示也数进去。返回的结果与你的一样，以提示开头；不同的是，它留着结束词元。不写 `add_generation_prompt`，模型可能会接着替**你**说话。写 `do_sample=True`，下一个词元就是随机抽取的（见选读）。

真正的推理引擎走的是同样的步骤，另外加上：

* **连续批处理**（continuous batching）：权重读一遍，供许多文本使用，每生成一个词元都可以有文本加入或离开（[Orca](https://www.usenix.org/conference/osdi22/presentation/yu)）；
* **分页**（paging）：键和值存在一个个小块里，不用预先占着空位（[vLLM](https://arxiv.org/abs/2309.06180)）；
* **量化内核**（quantized kernels）：从内存读的是 4 位的数，到芯片上再展开，得分会略有不同（[GPTQ](https://arxiv.org/abs/2210.17323)）；
* **推测解码**（speculative decoding）：小模型先猜几个词元，大模型读一遍权重，同时检查它们（[Leviathan 等](https://arxiv.org/abs/2211.17192)）。

其中三种让每读一个字节多换来几个词元，分页为更大的批量腾出地方。混合专家模型（mixture of experts）则是每个词元只读一部分参数。
"""

# %% [markdown] lang="en"
r"""
## Three closing questions

1. A prompt has 1000 tokens, and the answer stops after `most` = 200. How many tokens does the model read in all, with the cache and without?

<details><summary>Answer</summary>

With it 1000 + 200 = 1200, each once; 1199 would do, because nothing is chosen after the last. Without it, until the last one is there, $1000 + 1001 + \dots + 1199 = 219900$.

</details>

2. You have made the cache faster. The loss on a text is the same to the last digit, and yet the model now loops when it chats. Is the loss to be trusted?

<details><summary>Answer</summary>

It says nothing about the cache, because the loss reads the whole text at once. Compare the scores, read token by token with the cache, with those of the whole text.

</details>

3. A model of $8\cdot10^9$ numbers is to write 80 tokens a second on a card that reads 400 GB/s. 16, 8 or 4 bits?

<details><summary>Answer</summary>

4 bits: at most 100 tokens a second. With 8 bits it is 50 and with 16 it is 25, however good the program, as long as one read of the weights yields one token; speculative decoding gets more out of a read.

</details>
"""

# %% [markdown] lang="zh"
r"""
## 三个思考题

1. 提示有 1000 个词元，回答写满 `most` = 200 个就停。有缓存和没有缓存，模型一共各读多少个词元？

<details><summary>答案</summary>

有缓存，每个词元读一次，共 1000 + 200 = 1200 个；最后一个其实不必再读，1199 个就够。没有缓存，到写出最后一个为止，要读 $1000 + 1001 + \dots + 1199 = 219900$ 个。

</details>

2. 你把缓存改快了。一段文字的损失与原来分毫不差，可是对话时模型开始翻来覆去说同一句话。这个损失可信吗？

<details><summary>答案</summary>

它完全没有检验缓存，因为求损失时，整段文字是一次读完的。应当把用缓存逐个词元读出的得分，与一次读完整段文字的得分逐个数比较。

</details>

3. 一个模型有 $8\cdot10^9$ 个参数，要在每秒读 400 GB 的显卡上每秒写 80 个词元。用 16 位、8 位还是 4 位？

<details><summary>答案</summary>

用 4 位，每秒最多 100 个词元。8 位最多 50 个，16 位最多 25 个：只要读一遍权重只写一个词元，程序写得再好也超不过。要超过，就得读一遍多写几个，例如用推测解码。

</details>
"""

# %%
print("1.", 1000 + 200, sum(range(1000, 1200)))
print("3.", {bits: 400e9 / (8e9 * bits / 8) for bits in (16, 8, 4)})

# %% [markdown] lang="en"
r"""
## In short

* A chat model is a stack of blocks, a template around your question, and a loop that appends the best token.
* Each new token of a single text reads all numbers once, so memory limits the speed.
* Loss and answer find only some mistakes. Compare each function number by number, and the whole model too, with the cache and without.

This closes the path that began in lesson 00 with somebody else's model. Apart from the tokenizer with its template, the embedding, matrix products and `repeat_kv`, every function between a question and its answer is an exercise of these lessons. The next cell says which of them are yours.
"""

# %% [markdown] lang="zh"
r"""
## 小结

* 聊天模型就是一层层的部件，加上问题外面的模板，再加一个循环，不断接上得分最高的词元。
* 只写一段文字时，每个新词元都要把所有参数读一遍，所以速度受内存限制。
* 看损失、看回答，只能发现一部分错误。每个函数要逐个数比较，整个模型也要：有缓存的与没有缓存的对照。

第 00 课从别人的模型出发，到这里，路走完了。从问题到回答，除了分词器、对话模板、词嵌入、矩阵乘法和 `repeat_kv`，每个函数都是这些课的练习。下面的单元格告诉你，其中哪些是你自己写的。
"""

# %% tags=["slow"]
names = "rms_norm", "rotary_embedding", "attention", "cached_attention", "swiglu", "generate"
yours = load_or_reference(*names, lessons=True)
talk(prompts.LAST, generate=yours.generate)

# %% [markdown] lang="en"
r"""
## Read next

* The paper on serving: [Efficient Memory Management for LLM Serving with PagedAttention](https://arxiv.org/abs/2309.06180), Kwon et al. 2023.
* The code: [llama2.c](https://github.com/karpathy/llama2.c), training in PyTorch, and the whole model once more in one file of C.
* The numbers: [Transformer Inference Arithmetic](https://kipp.ly/transformer-inference-arithmetic/), on bytes and operations of every token.
"""

# %% [markdown] lang="zh"
r"""
## 接着读

* 论文，[Efficient Memory Management for LLM Serving with PagedAttention](https://arxiv.org/abs/2309.06180)，Kwon 等，2023，讲怎样同时为许多人服务。
* 代码，[llama2.c](https://github.com/karpathy/llama2.c)：用 PyTorch 训练，再用一个 C 文件把整个模型写一遍。
* 算账，[Transformer Inference Arithmetic](https://kipp.ly/transformer-inference-arithmetic/)：每个词元要多少字节、多少次运算。
"""

# %% [markdown] lang="en"
r"""
## Going further: temperature

Always the best token means always the same answer. To vary it, engines draw the next token with the probabilities that the softmax makes of the scores, divided beforehand by a **temperature** T.

**Predict first.** The first token of an answer to “Write a haiku about the moon.” has some probability at T = 1. Does the best one become more or less probable at T = 2?
"""

# %% [markdown] lang="zh"
r"""
## 选读：温度

总取最好的词元，回答就总是同一个。想要有变化，推理引擎就按概率来抽取下一个词元：得分先除以**温度**（temperature）T，再经过 softmax，就是概率。

**先猜一猜**：请它写一首关于月亮的俳句，T = 1 时，回答的第一个词元，每个候选各有一个概率。T = 2 时，其中最大的概率变大还是变小？
"""

# %% tags=["slow", "answer"]
if talk.speaker:
    ids = torch.tensor([talk.speaker.encode(prompts.HAIKU)])
    with torch.no_grad():
        scores = talk.speaker.model(ids)[0, -1]
    for T in (0.5, 1, 2):
        p, best = (scores / T).softmax(-1).topk(3)
        print(
            f"T = {T}:",
            *(f"{talk.speaker.decode([n])!r} {share:.2f}" for share, n in zip(p, best.tolist(), strict=True)),
        )

# %% [markdown] lang="en"
r"""
<details><summary>Answer</summary>

It becomes less probable: 0.25 at T = 1, and 0.03 at T = 2. Division by a large T brings the scores together, and by a small one drives them apart; towards T = 0 drawing becomes greedy decoding.

</details>
"""

# %% [markdown] lang="zh"
r"""
<details><summary>答案</summary>

变小：T = 1 时是 0.25，T = 2 时是 0.03。除以大的 T，得分彼此靠近；除以小的 T，得分彼此拉开。T 趋近 0，抽取就成了贪心解码。

</details>
"""
