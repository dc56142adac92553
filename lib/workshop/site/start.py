"""The start page: where the lessons lead, three panels to play with, the map, and the lessons."""

import re
from collections.abc import Mapping
from html import escape

from nbformat import NotebookNode

from blocklab.language import Text, speaking

from .cells import Shown, figure
from .frame import Book, Place, numbered, page
from .markdown import html
from .pages import own_cells

TITLE = Text(en="Build a chat model by hand", zh="亲手搭一个聊天模型")
LEAD = Text(
    en="Apart from matrices and sums, a chat model is four functions of a few lines each. In these lessons you write "
    "all four. You guess, drag a slider, see the block react at once, and then write it yourself, and are told which "
    "mistake you have made. In the end a model answers you with your code inside.",
    zh="除了矩阵的乘法和加法，聊天模型里只有四个函数，每个不过几行。在这套课程里，四个函数都由你来写：先猜一猜，"
    "再拖动滑块，马上看到它怎样变化，然后亲手写出来；写错了，当场就知道错在哪里。到最后，模型会用你写的代码回答你。",
)
BEGIN = Text(en="Begin", zh="开始")
PLAY = Text(en="Play first", zh="先玩一玩")
SAYS = Text(
    en="SmolLM2, 135 million numbers, on your machine",
    zh="SmolLM2，一亿三千五百万（135 M）个参数，就在你的机器上",
)
IN_ENGLISH = Text(en="It speaks English only.", zh="它只懂英语。上面问的是：请补全句子“法国的首都是……”。")
BROKEN = Text(en="The same model, one multiplication left out of RMSNorm", zh="还是这个模型，RMSNorm 里漏了一个乘法")
BEST = {  # panels that need no words to be understood, and the question that makes one want to touch them
    "02_norm_axes/poke_one_number": Text(
        en="Push one of 72 numbers. How many outputs move?",
        zh="推动 72 个数中的一个，有几个输出会变？",
    ),
    "07_positional_encoding/clocks": Text(
        en="How can a sentence know which word comes first? By clocks.",
        zh="模型怎么知道哪个词在前？看一排时钟。",
    ),
    "10_attention/poke_one_token": Text(
        en="Change one word. Who notices?",
        zh="换掉一个词，谁会察觉？",
    ),
}
TO_PLAY = Text(en="Three to play with", zh="先玩三张图")
TO_PLAY_LEAD = Text(
    en="Every lesson has pictures that you can move. Guess first; then drag.",
    zh="每一课都有可以动手的图：先猜，再拖。",
)
FROM = Text(en="From lesson {lesson}", zh="选自第 {lesson} 课")
MAP = Text(en="What you will build", zh="你要搭的模型")
MAP_LEAD = Text(
    en="One of the model's 30 layers, from the bottom up. The numbers are lessons; click one.",
    zh="模型有 30 层，这是其中一层，请从下往上看。旁边的数字是课的编号，点一下就能打开那一课。",
)
LESSONS = Text(en="The lessons", zh="全部课程")
LESSONS_LEAD = Text(
    en="About eight hours in all. Beside each title stands what you write in it.",
    zh="全部学完大约八个小时。标题旁边写的，是这一课里由你来写的内容。",
)
HERE = Text(en="Write along", zh="动手写")
HERE_TEXT = Text(
    en="On these pages you read, guess and move every picture; nothing is installed, and nothing leaves your browser. "
    "The exercises wait in the notebooks, where your function is checked and runs in a trained model:\n\n"
    "```\nmake lab{read}\n```\n\n"
    "installs what is needed into the project's own folder and opens JupyterLab. You should have trained a network "
    "once, and know what a loss and a gradient are. Every word stands in the [glossary](glossary.ipynb), in both "
    "languages. And if you have learned these things from notes on the web: an appendix takes "
    "[five of them claim by claim](five_notes.ipynb).",
    zh="在这些网页上，可以读，可以猜，每张图都能动手；什么都不用安装，数据也不会离开你的浏览器。练习要在笔记本里做："
    "写好函数，当场就能检查，还会放进训练好的模型里运行。打开笔记本，只要一条命令：\n\n"
    "```\nmake lab{read}\n```\n\n"
    "它把所需的软件装进项目自己的文件夹，然后打开 JupyterLab。开始之前，你应当训练过一次网络，知道什么是损失和梯度。"
    "术语都在[术语表](glossary.ipynb)里，中英文对照。如果你以前是跟着网上的笔记学的，附录里有[五篇笔记的逐条核对](five_notes.ipynb)。",
)
READ = {"en": "", "zh": " READ=zh"}
_PROMPT = re.compile(r'^prompt = "(.+)"$', re.MULTILINE)
_NONSENSE = re.compile(r"`(,+)`")
_ROW = re.compile(r"^\| \[\d\d\]\((?P<stem>\w+)\.ipynb\) \|[^|]*\| (?P<write>[^|]*) \|$", re.MULTILINE)


def start_page(book: Book, language: str, entrance: NotebookNode, drawn: Mapping[str, Shown]) -> str:
    """The page. entrance: lesson 00, built. drawn: the panels of `BEST` by their keys, and the map."""
    with speaking(language):
        panels = "".join(_panel(book, key, drawn[key]) for key in BEST)
        main = f"""<main id="main_text" class="start">
<section class="hero">
<div>
<h1>{TITLE}</h1>
<p class="lead">{LEAD}</p>
<p class="begin"><a href="{book.outlines[0].stem}.html">{BEGIN}</a> <a href="#play">{PLAY}</a></p>
</div>
{_chat(entrance)}</section>
<section class="play" id="play">
<h2>{TO_PLAY}</h2>
<p>{TO_PLAY_LEAD}</p>
{panels}</section>
<section class="map" id="map">
<h2>{MAP}</h2>
<p>{MAP_LEAD}</p>
{figure(drawn["map"])}</section>
<section class="all" id="lessons">
<h2>{LESSONS}</h2>
<p>{LESSONS_LEAD}</p>
<p class="progress" hidden></p>
<ol>{_lessons(book, language, entrance)}</ol>
</section>
<section class="text" id="write">
<h2>{HERE}</h2>
{html(HERE_TEXT.format(read=READ[language]))}</section>
</main>"""
        return page(book, Place(language, "index.html"), f"Blocklab · {TITLE}", main)


def _chat(entrance: NotebookNode) -> str:
    """What the model was asked and said in lesson 00, and what it says with a mistake, as the lesson tells."""
    asked, cell = next(
        (found[1], cell)
        for cell in own_cells(entrance)
        if cell.cell_type == "code" and (found := _PROMPT.search(cell.source))
    )
    answer = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    nonsense = _NONSENSE.search(own_cells(entrance)[0].source)[1]
    return f"""<figure class="chat">
<figcaption>{SAYS}</figcaption>
<p class="asked" lang="en">{escape(asked)}</p>
<p class="said" lang="en">{escape(answer.strip())}</p>
<p class="broken">{BROKEN}</p>
<p class="said wrong" lang="en">{nonsense}</p>
<p class="small">{IN_ENGLISH}</p>
</figure>
"""


def _panel(book: Book, key: str, drawn: Shown) -> str:
    stem = key.partition("/")[0]
    source = FROM.format(lesson=f'<a href="{stem}.html">{book.outline(stem).number}</a>')
    return f'<h3>{BEST[key]}</h3>\n{figure(drawn)}\n<p class="small">{source}</p>\n'


def _lessons(book: Book, language: str, entrance: NotebookNode) -> str:
    """The lessons and appendices, and what is written in each, as lesson 00 has it."""
    texts = "\n".join(cell.source for cell in own_cells(entrance) if cell.cell_type == "markdown")
    written = {row["stem"]: html(row["write"]) for row in _ROW.finditer(texts)}
    return "\n".join(
        f'<li data-lesson="{outline.stem if outline.number else ""}"><a href="{outline.stem}.html">'
        f"{numbered(outline, language)}</a>{written.get(outline.stem, '')}</li>"
        for outline in book.outlines
    )
