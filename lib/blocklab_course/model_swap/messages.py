"""Messages about a block in a network, in both languages."""

from blocklab_course.i18n import Text

SWAP_MESSAGES = {  # they take precedence over those of the checks
    "one-block": Text(
        en="Pass one block by name: `plug_in(rms_norm=my_rms_norm)`. You passed {got}. Names: {names}.",
        zh="请按练习的名字交一个函数：`plug_in(rms_norm=my_rms_norm)`。收到的是{got}。可用的名字：{names}。",
    ),
    "unknown-block": Text(
        en="No network here uses a block named `{name}`. Names: {names}.",
        zh="这里没有哪个网络用到名为 `{name}` 的函数。可用的名字：{names}。",
    ),
    "signature": Text(
        en="It is called as `{wanted}`, but the function is `{got}`: its arguments do not match.",
        zh="这里按 `{wanted}` 调用，而这个函数是 `{got}`，参数对不上。",
    ),
    "module-attributes": Text(
        en="Trained weights do not fit into this Module. It replaces `{wanted}`: its parameters, buffers and settings "
        "must have these names, and there must be no others.",
        zh="训练好的数放不进这个模块。它要代替 `{wanted}`：参数、缓冲区和设置都要用这些名字，也不能多出别的。",
    ),
    "buffer-replaced": Text(
        en="In training this Module puts something in the place of its buffer `{name}` that does not have its shape. "
        "Write into the buffer: `self.{name}.copy_(...)`.",
        zh="训练时，这个模块把缓冲区 `{name}` 换成了形状不同的东西。请写进缓冲区：`self.{name}.copy_(...)`。",
    ),
    "not-made": Text(
        en="The layer is created anew, in the size that is needed, but `{called}` raises {error}",
        zh="这一层要按所需的大小重新创建，但运行 `{called}` 时报错：{error}",
    ),
    "interrupted": Text(
        en="Stopped after {seconds:.0f} s: with this block the network had not finished. Look for a loop that never "
        "ends, or one over single numbers.",
        zh="{seconds:.0f} 秒后中止：换上这个函数，网络还没有运行完。请检查有没有停不下来的循环，或者逐个数处理的循环。",
    ),
    "stopped": Text(
        en="You stopped it after {seconds:.0f} s, before the network had finished.",
        zh="运行了 {seconds:.0f} 秒，网络还没有算完，你按了停止。",
    ),
    "nan": Text(
        en="The block returns NaN or infinity, so the rest of the network has no numbers to work with. Look for a "
        "division by zero, the root of a negative number, or a softmax of nothing but -inf.",
        zh="这个函数给出了 NaN 或无穷大，后面的网络就没有数可用了。"
        "请检查有没有除以零、对负数开方，或者全是 -inf 的 softmax。",
    ),
    "overflow": Text(
        en="With this block the numbers grow from layer to layer until they overflow.",
        zh="换上这个函数，数一层比一层大，最后成了无穷大。",
    ),
}
UNNAMED = Text(en="one without its name", zh="没有名字的")
NOTHING = Text(en="nothing", zh="空的")
THESE = Text(en="{names}", zh=" {names}")

TITLE = Text(
    en="{network} with {name} as its {block}, in {places} places",
    zh="{network}，有 {places} 处的 {block} 换成了 {name}",
)
TITLE_RIGHT = Text(en="{network} with the right {block}", zh="{network}，用的是正确的 {block}")
WITH = Text(en="with {name}", zh="{name}")
RIGHT = Text(en="with the right one", zh="正确的")
LINE = Text(en="{name}: {shown}", zh="{name}：{shown}")
NOT_WRITTEN = Text(
    en="Yours is not written yet. This is what comes out with the right one.",
    zh="你的还没有写。这是用正确的函数得到的结果。",
)
SAME = Text(
    en="Here it comes to the same. That proves nothing: some mistakes are too small to be seen in this way. `check` "
    "sees them.",
    zh="在这里，两者的结果一样。但这不能证明它就对：有些错误太小，这样看不出来，`check` 才看得出来。",
)
PROVED = Text(
    en="`check` has proved it; here it comes to the same.",
    zh="`check` 已经证明它是对的，在这里结果也一样。",
)
SPEAKS_THE_SAME = Text(
    en="`check` has proved it; here it speaks the same.",
    zh="`check` 已经证明它是对的，装进模型，说出来的话也一样。",
)

LESSON_CONTINUES = Text(en="The rest of the lesson works without it.", zh="不装也不影响后面的内容。")
FALLBACK = Text(
    en="Using {network} instead. It is so small that it babbles even with the right block: look only at the loss.",
    zh="这里用 {network} 代替。它太小，用正确的函数也只会胡言乱语，所以只看损失。",
)

ANSWER = Text(
    en="“Complete the sentence: The capital of France is”",
    zh="“Complete the sentence: The capital of France is”（补全句子：法国的首都是）",
)
NO_WORD = Text(en="(not one word: it ends at once)", zh="（一个词也没有，立刻就结束了）")
LOSS_ON_ZEN = Text(en="loss on “The Zen of Python”", zh="读“The Zen of Python”（《Python 之禅》）时的损失")
LOSS_ON_ALICE = Text(en="loss on the beginning of “Alice in Wonderland”", zh="读《爱丽丝漫游奇境记》英文开头时的损失")
BLURRED = Text(
    en="The words are the same but the loss is not: the difference blurs what the network reads, but not enough to "
    "change the answer.",
    zh="写出的话一样，损失却不同：这样的差别让网络读得模糊一些，但还不足以改变回答。",
)
ANOTHER_ANSWER = Text(
    en="No weight has changed. One other function in its place was enough for another answer.",
    zh="权重一个也没有变，只换了一个函数，回答就变了。",
)
HIGHER = Text(
    en="The loss has risen: the next token surprises the network more.",
    zh="损失变大了：下一个词元更出乎网络的意料。",
)
LOWER = Text(
    en="The loss has fallen on this one text. That does not make this block better: the weights were trained with the "
    "other one.",
    zh="在这一段文字上，损失变小了。但这个函数并不因此更好：权重是与另一个函数一起学成的。",
)
LEAKS_FUTURE = Text(
    en="With this block the network looks ahead: what it expects after a token depends on the tokens that come later.",
    zh="换上这个函数，网络会看到后面：它在一个词元处的输出，受后面的词元影响。",
)
LEAKS_AND_GAINS = Text(
    en="So the loss falls: the token that is to be predicted stands there to be read off. When the network writes, "
    "nothing stands behind the last token yet, and the tokens before it carry what the weights have never met.",
    zh="所以损失反而变小：要预测的词元就摆在那里，看一眼就行。等网络自己写的时候，最后一个词元后面还什么都没有，"
    "而前面的词元又混进了权重从没见过的东西。",
)

SENTENCES = {  # the network knows only English
    "He is playing chess.": Text(en="He is playing chess.", zh="He is playing chess.（他在下棋。）"),
    "Someone makes music.": Text(en="Someone makes music.", zh="Someone makes music.（有人在奏乐。）"),
    "He is reading the news.": Text(en="He is reading the news.", zh="He is reading the news.（他在看新闻。）"),
    "It will rain tomorrow.": Text(en="It will rain tomorrow.", zh="It will rain tomorrow.（明天会下雨。）"),
}
NEAREST = Text(
    en="nearest in meaning to “He is playing the guitar.”",
    zh="与“He is playing the guitar.”（他在弹吉他。）意思最近的句子",
)
COSINES = tuple(Text(en=f"cosine: {sentence.en}", zh=f"余弦相似度：{sentence.zh}") for sentence in SENTENCES.values())
ANOTHER_SENTENCE = Text(
    en="No weight has changed. Swapping one function was enough to make another sentence the nearest.",
    zh="权重一个也没有变，只换了一个函数，选中的句子就变了。",
)
ANOTHER_COSINE = Text(
    en="The sentence is the same but the cosines are not: the difference blurs the meaning, but not enough to change "
    "the sentence.",
    zh="选中的句子一样，余弦却不同：这样的差别让意思模糊一些，但还不足以改变选中的句子。",
)
NO_LONGER_NEAR = Text(
    en="It is still the nearest, but no longer near: unrelated sentences have cosines like this.",
    zh="它仍然排在第一，但已经算不上近：毫不相干的两句话，余弦也就这么大。",
)

FLOWER = Text(en="the photo of a flower, in eval()", zh="评估模式下看花的照片")
FLOWER_AFTER_TRAINING = Text(en="the same after ten batches in train()", zh="训练模式下看过十个小批量之后")
CLASS_AND_PROBABILITY = Text(en="{name}, {probability:.1%}", zh="{name}，{probability:.1%}")
ANOTHER_CLASS = Text(
    en="No weight has changed. One other function in its place, and the network sees something else.",
    zh="权重一个也没有变，只换了一个函数，网络看到的就成了别的东西。",
)
ANOTHER_PROBABILITY = Text(
    en="It sees the same thing with another probability: the difference blurs the picture, but not enough to change "
    "the class.",
    zh="认出的东西一样，概率却不同：这样的差别让画面模糊一些，但还不足以改变结果。",
)
ANOTHER_MEMORY = Text(
    en="The first answer is the same, but the second is not: in training this function normalizes differently, or it "
    "does not write the same into the buffers.",
    zh="第一次回答一样，第二次却不同：在训练时，这个函数要么归一化的方法不同，要么没有把同样的数写进缓冲区。",
)
TEN_BATCHES = Text(
    en="Each of the ten batches contains this flower and a palace. The layers' momentum is 0.01, and there is no "
    "optimizer.",
    zh="十个小批量都是这朵花和一座宫殿。各层的动量是 0.01，没有优化器。",
)
