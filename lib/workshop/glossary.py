"""The words of the field: which Chinese term an English one asks for, and which are not used.

Extend the tables here.
"""

import re

GPU_LESSON = 12  # before it learners read function, not kernel

_BEFORE_MEAN = r"the|a|an|one|its|each|own|same|two|zero|running|batch|sample|channel|\d+"

# An English word (regular expression) in a text asks for one of the Chinese ones (regular expression) in its twin.
TERMS = [
    (r"batch normali[sz]ation", "批量归一化"),
    (r"layer normali[sz]ation", "层归一化"),
    (r"group normali[sz]ation", "组归一化"),
    (r"instance normali[sz]ation", "实例归一化"),
    (r"BatchNorm", "批量归一化|BatchNorm|BN"),
    (r"LayerNorm", "层归一化|LayerNorm|LN"),
    (r"RMSNorm", "RMSNorm"),
    (r"SwiGLU", "SwiGLU"),
    (r"Transformers?", "Transformer"),
    (r"[Dd]ropout", "Dropout"),
    (r"(?:un)?normali[sz](?:e|es|ed|ing|er|ation)", "归一化|标准化"),
    (r"standardi[sz](?:e|es|ed|ing|ation)", "标准化"),
    (r"regulari[sz](?:e|es|ed|ing|er|ation)", "正则化"),
    (r"tokens?", "词元"),
    (r"variances?", "方差"),
    (r"standard deviations?", "标准差"),
    (rf"(?:{_BEFORE_MEAN}) means?(?= |[.,;:?!]|$)(?! that| to )", "均值"),  # not the verb: this means
    (r"mean(?: of | over | and (?:the )?variance| 0| zero)", "均值"),
    (r"axis|axes", "轴"),
    (r"batch axis", "批量轴"),
    (r"channels?", "通道"),
    (r"features?", "特征"),
    (r"batch sizes?", "批量大小"),
    (r"mini-?batch(?:es)?", "小批量"),
    (r"running statistics", "移动统计量"),
    (r"running means?", "移动均值"),
    (r"running variances?", "移动方差"),
    (r"moving averages?", "移动平均"),
    (r"eval(?:uation)? mode", "评估模式"),
    (r"training mode", "训练模式"),
    (r"half-life", "半衰期"),
    (r"unbiased", "无偏"),
    (r"root mean squares?", "均方根"),
    (r"learn(?:able|ed) parameters?", "参数"),
    (r"gradients?", "梯度"),
    (r"activation functions?", "激活函数"),
    (r"embeddings?", "嵌入"),
    (r"positional encodings?", "位置编码"),
    (r"self-attention", "自注意力"),
    (r"(?<!pay )attention(?! to)", "注意力"),
    (r"residual connections?", "残差连接"),
    (r"masks?", "掩码|屏蔽"),
    (r"padding", "填充"),
    (r"tensors?", "张量"),
    (r"broadcast(?:s|ed|ing)?", "广播"),
    (r"sliders?", "滑块"),
    (r"random seeds?", "随机种子"),
    (r"source notes", "原始笔记"),
    (r"Going further", "选读"),
    (r"exercises?", "练习"),
]

# A Chinese word that is not used, what to write, and the English word (regular expression) that excuses it.
UNUSED = [
    (r"正则化", "归一化; 正则化 is regularization", r"regulari[sz]"),
    (r"批(?:归一|标准|规范|正规)化", "批量归一化", None),
    (r"变换器", "Transformer", None),
    (r"批次", "批量 or 小批量", None),
    (r"(?<!随机)种子", "随机种子; the notes are 原始笔记", None),
    (r"维度", "轴 for an axis, 维数 for a size", r"[Dd]imension"),
    (r"平移不变性", "重新中心化不变性", r"[Tt]ranslation"),
    (r"衰减率", "衰减系数", None),
    (r"运行统计量", "移动统计量", None),
    (r"激励函数", "激活函数", None),
    (r"按元素", "逐元素", None),
    (r"基于位置的前馈", "逐位置前馈网络", None),
    (r"暂退法|丢弃法", "Dropout", None),
    (r"小了? ?\d+(?:\.\d+)? 倍", "是……的 n 倍", None),
    (r"变异数|變異數|正規化", "方差, 归一化: these are Taiwan's words", None),
]

# Words of other books: shown once in a lesson, so that their readers find the way.
ONCE = ["规范化", "拉伸参数", "偏移参数"]

_SEEDS = re.compile(r"(?<![Rr]andom )\b[Ss]eeds\b")
_KERNEL = re.compile(r"\b[Kk]ernels?\b")


def wrong_terms(en: str, zh: str, lesson: int | None) -> list[tuple[str, str]]:
    """What the glossary finds in a pair of texts: (message, the word it is about). `lesson` is None outside lessons."""
    found = []
    for english, chinese in TERMS:
        word = re.search(rf"(?<![\w-])(?:{english})(?![\w-])", en, re.IGNORECASE if english.islower() else 0)
        if word and not re.search(chinese, zh):
            found.append((f"'{word[0]}' asks for {chinese.replace('|', ' or ')}", word[0]))
    for unused, instead, excuse in UNUSED:
        word = re.search(unused, zh)
        if word and not (excuse and re.search(excuse, en)):
            found.append((f"{word[0]} is not used: {instead}", word[0]))
    if _SEEDS.search(en):
        found.append(("'seeds' are 'random seeds'; the notes are 'the source notes'", "eeds"))
    if lesson is not None and lesson < GPU_LESSON:
        if "核函数" in zh:
            found.append((f"before lesson {GPU_LESSON} it is 函数, not 核函数", "核函数"))
        if _KERNEL.search(en) and not re.search("内核|卷积核", zh):
            found.append((f"before lesson {GPU_LESSON} it is 'function', not 'kernel'", "ernel"))
    return found
