"""The start page: a chat model to break, figures to play with, the map, and the list of lessons."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from markupsafe import Markup

from authoring.project import Outline
from authoring.readme import lesson_size
from blocklab_course.i18n import Text, use_language
from blocklab_course.lessons.attention import poke_one_token
from blocklab_course.lessons.catalog import LESSONS, manifest_of
from blocklab_course.lessons.norm_axes import poke_one_number
from blocklab_course.lessons.positional_encoding import clocks
from blocklab_course.lessons.your_model.prompts import FIRST
from blocklab_course.lessons.your_model.wrong_block import NO_WORD, NOTHING_WRONG
from blocklab_course.lessons.your_model.wrong_functions import RIGHT, WRONG, recorded

from . import messages
from .cells import Picture
from .layout import Book, Place, page
from .markdown import html


def _key(figure: ModuleType) -> str:
    """The key of a figure's panel, such as "09_attention/poke_one_token"."""
    package, name = figure.__name__.split(".")[-2:]
    return f"{next(lesson.name for lesson in LESSONS if lesson.package == package)}/{name}"


TOYS = {
    _key(figure): (figure, opening)
    for figure, opening in (
        (poke_one_token, {"mask": "causal", "token": 0}),
        (clocks, {"base": 1.0}),
        (poke_one_number, {"push": 0}),
    )
}
"""The panels to play with, by their keys, and how they open: as the question says, without its answer."""

LONGEST = 60  # characters of an answer in the chat
_CONTROL = re.compile(r"\\x[0-9a-f]{2}|\\[rnt]")  # a control character, as the recording spells it out
_READ = {"en": "", "zh": " READ=zh"}


@dataclass(frozen=True)
class Answer:
    """What the chat model answers with a mistake in it, or with none, and its loss. It may say nothing at all."""

    id: str
    name: str
    text: str
    loss: float
    is_wrong: bool
    note: Text | None = None


def start_page(
    book: Book, language: str, drawn: Mapping[str, Picture], figures: Mapping[str, int], thumbnails: Mapping[str, str]
) -> str:
    """The page. drawn: the panels of `TOYS` by their keys, and the map.

    figures, thumbnails: how many figures a lesson has, and the address of its picture, by its file name.
    """
    with use_language(language):
        toys = [
            {
                "shown": drawn[key],
                "guess": figure.GUESS,
                "at": _places(figure, opening),
                "lesson": book.outline(key.partition("/")[0]),
            }
            for key, (figure, opening) in TOYS.items()
        ]
        counts = {"figures": sum(figures.values()), "exercises": sum(len(lesson.exercises) for lesson in LESSONS)}
        features = [(title, _html(text.format(**counts))) for title, text in messages.FEATURES]
        size = messages.HOME["size"].format(
            lessons=len(LESSONS), hours=round(sum(lesson.minutes for lesson in LESSONS) / 60)
        )
        return page(
            "home.html",
            book,
            Place(language, "index.html"),
            title=f"Blocklab · {messages.HOME['title']}",
            first_minutes=LESSONS[0].minutes,
            size=size,
            asked=FIRST,
            no_word=NO_WORD,
            right=_answer(RIGHT, str(NOTHING_WRONG)),
            rows=wrong_rows(),
            features=features,
            toys=toys,
            map=drawn["map"],
            lessons=[_list_entry(outline, figures, thumbnails) for outline in book.outlines],
            write_along=_html(messages.HOME["write_along_text"].format(read=_READ[language])),
        )


def _places(figure: ModuleType, values: Mapping[str, object]) -> list[int]:
    """Where the controls are when they have these values."""
    with use_language("en"):  # whose letters any font has
        panel = figure.panel()
    for name, value in values.items():
        panel.controls[name].set_silently(value)
    return list(panel.places)


def wrong_rows() -> dict[str, list[Answer]]:
    """The answers, by the function that is wrong, those that sound wrong first; mistakes in the cache are left out."""
    rows = {wrong.block: [] for wrong in WRONG if isinstance(wrong.block, str)}
    for wrong in WRONG:
        if wrong.block in rows:
            rows[wrong.block].append(_answer(wrong.id, str(wrong.name)))
    return {block: sorted(answers, key=lambda answer: not answer.is_wrong) for block, answers in rows.items()}


def _answer(mistake: str, name: str) -> Answer:
    found, right = recorded()[mistake], recorded()[RIGHT]
    text = _CONTROL.sub("·", found.text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST].rstrip()} …"
    is_wrong = found.text != right.text
    note = None
    if mistake != RIGHT and not is_wrong:
        note = messages.HOME["unseen" if f"{found.loss:.2f}" == f"{right.loss:.2f}" else "unheard"]
    return Answer(mistake, name, text, found.loss, is_wrong, note)


def _list_entry(outline: Outline, figures: Mapping[str, int], thumbnails: Mapping[str, str]) -> dict:
    lesson = manifest_of(outline.stem)
    return {
        "outline": outline,
        "thumbnail": thumbnails.get(outline.stem),
        "size": lesson_size(lesson, figures[outline.stem]) if lesson.package else "",
    }


def _html(text: str) -> Markup:
    return Markup(html(text))
