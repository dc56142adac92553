"""The start page: the final result, three panels, the map, and the list of lessons."""

import re
from collections.abc import Mapping

from markupsafe import Markup
from nbformat import NotebookNode

from blocklab_course.i18n import Text, use_language

from . import messages
from .cells import Picture
from .layout import Book, Place, page
from .markdown import html
from .pages import own_cells

FEATURED = {  # panels that need no explanation: a headline, and the question that the reader's guess answers
    "02_norm_axes/poke_one_number": (
        Text(en="Push one number. Which others move?", zh="推一个数，哪些数会跟着变？"),
        Text(
            en="BatchNorm gets two samples, each with 4 channels of 3 × 3 numbers: 72 in all. One of them is pushed. "
            "How many outputs move?",
            zh="批量归一化（BatchNorm）的输入是两个样本，每个样本 4 个通道，每个通道 3 × 3 个数，一共 72 个。"
            "推动其中一个，有几个输出会变？",
        ),
    ),
    "07_positional_encoding/clocks": (
        Text(
            en="How can a sentence know which word comes first? By clocks.",
            zh="模型怎么知道哪个词在前？看一排时钟。",
        ),
        Text(
            en="Each clock is one pair of numbers that says where a word is. With base 1, all hands turn equally fast, "
            "1 radian per position. Which position is most similar to position 0?",
            zh="每个时钟代表一对数，说明词在什么位置。底数取 1 时，所有指针一样快，每走一个位置转 1 弧度。"
            "下面哪个位置与位置 0 最相似？",
        ),
    ),
    "10_attention/poke_one_token": (
        Text(en="Change one word. Who notices?", zh="换掉一个词，谁会察觉？"),
        Text(
            en="Under a causal mask, each token sees only itself and the tokens before it. Token 3 is pushed. Which "
            "outputs move?",
            zh="用因果掩码时，每个词元只能看到自己和前面的词元。推动词元 3，哪些输出会变？",
        ),
    ),
}
_READ = {"en": "", "zh": " READ=zh"}
_PROMPT = re.compile(r'^prompt = "(.+)"$', re.MULTILINE)
_BROKEN_ANSWER = re.compile(r"`(,+)`")
_ROW = re.compile(r"^\| \[\d\d\]\((?P<stem>\w+)\.ipynb\) \|[^|]*\| (?P<write>[^|]*) \|$", re.MULTILINE)


def start_page(book: Book, language: str, entrance: NotebookNode, drawn: Mapping[str, Picture]) -> str:
    """The page. entrance: lesson 00, built. drawn: the panels of `FEATURED` by their keys, and the map."""
    with use_language(language):
        write_along = html(messages.HOME["write_along_text"].format(read=_READ[language]))
        title = f"Blocklab · {messages.HOME['title']}"
    panels = [
        {"headline": headline, "question": question, "shown": drawn[key], "lesson": book.outline(key.partition("/")[0])}
        for key, (headline, question) in FEATURED.items()
    ]
    return page(
        "home.html",
        book,
        Place(language, "index.html"),
        title=title,
        chat=_chat(entrance),
        panels=panels,
        map=drawn["map"],
        to_write=_to_write(entrance),
        write_along=Markup(write_along),
    )


def _chat(entrance: NotebookNode) -> dict[str, str]:
    """The prompt of lesson 00, the answer of the model, and its answer with a mistake in a block."""
    prompt, cell = next(
        (found[1], cell)
        for cell in own_cells(entrance)
        if cell.cell_type == "code" and (found := _PROMPT.search(cell.source))
    )
    answer = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    broken = _BROKEN_ANSWER.search(own_cells(entrance)[0].source)[1]
    return {"prompt": prompt, "answer": answer.strip(), "broken_answer": broken}


def _to_write(entrance: NotebookNode) -> dict[str, Markup]:
    """What a learner writes in each lesson, by its file name, from the table of lesson 00."""
    texts = "\n".join(cell.source for cell in own_cells(entrance) if cell.cell_type == "markdown")
    return {row["stem"]: Markup(html(row["write"])) for row in _ROW.finditer(texts)}
