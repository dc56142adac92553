"""Write a printable handout of a lesson: its question, a picture to predict, the exercise and the closing questions.

It has no answers and leaves space to write. Pictures and formulas are inside the HTML.
"""

import re
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode
from playwright.sync_api import Browser

from authoring import notebook
from authoring.lint.markdown import strip_details
from authoring.problem import BuildError
from authoring.project import Outline, Project
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.progress.questions import CLOSING, closing_questions, section

from .markdown import html
from .render import render

EXERCISE = {"en": "## Exercise", "zh": "## 练习"}
IN_SHORT = {"en": "## In short", "zh": "## 小结"}
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to another lesson
PAGE_SIZE = 695, 1030  # CSS pixels of A4 without the margins of handout.css
MIN_SCALE = 0.75  # 7-point letters; a longer handout gets a second page
WRITING_SPACE = '\n\n<div class="room"></div>'


def render_handout(lesson: NotebookNode, language: str, name: str) -> str:
    """The handout of a built lesson as HTML. Raises BuildError if the lesson lacks a part."""
    try:
        closing = section_paragraphs(lesson, CLOSING[language])
        asked = (question.asked for question in closing_questions(["\n\n".join(closing)], language))
        texts = [
            next(cell.source for cell in lesson.cells if cell.id not in notebook.GENERATED_IDS),
            prediction_with_picture(lesson),
            "\n\n".join(section_paragraphs(lesson, EXERCISE[language])),
            "\n\n".join([closing[0], *(f"{number}. {one}{WRITING_SPACE}" for number, one in enumerate(asked, 1))]),
            "\n\n".join(section_paragraphs(lesson, IN_SHORT[language])),
        ]
    except BuildError as error:
        raise BuildError(f"{name} ({language}): {error}") from None
    with use_language(language):
        body = "".join(html(LINK.sub(r"\1", strip_details(text))) for text in texts)
    style = files(__package__).joinpath("handout.css").read_text("utf-8")
    return render("handout.html", language=language, title=name, style=Markup(style), body=Markup(body))


def has_handout(lesson: NotebookNode, language: str) -> bool:
    """Whether the lesson asks closing questions, without which it gets no handout."""
    return any(re.search(CLOSING[language], cell.source) for cell in lesson.cells)


def section_paragraphs(lesson: NotebookNode, start: str) -> list[str]:
    """The paragraphs under the heading that begins with this regular expression. Raises BuildError if there is none."""
    found = section((cell.source for cell in lesson.cells if cell.cell_type == "markdown"), start)
    if found is None:
        raise BuildError(f"expected a section {start} for the handout")
    return found.split("\n\n")


def prediction_with_picture(lesson: NotebookNode) -> str:
    """The text above the first panel with a prediction, and its saved picture. Raises BuildError if there is none."""
    for text, panel in pairwise(lesson.cells):
        for output in panel.get("outputs", ()) if "guess" in panel.metadata.get("tags", ()) else ():
            data = output.get("data", {})
            if "image/png" in data:
                image = (
                    f'<img src="data:image/png;base64,{data["image/png"]}" alt="{escape(data.get("text/plain", ""))}">'
                )
                return f'{text.source}\n\n<p class="picture">{image}</p>'
    raise BuildError("expected a panel with a prediction for the handout")


def write_handouts(project: Project, outlines: list[Outline], folder: Path, browser: Browser) -> None:
    """Write NAME_LANGUAGE.html and .pdf for every lesson with closing questions."""
    folder.mkdir(parents=True, exist_ok=True)
    paper = browser.new_page(viewport={"width": PAGE_SIZE[0], "height": PAGE_SIZE[1]})
    paper.emulate_media(media="print")
    for outline in outlines:
        for language in LANGUAGES:
            path = project.notebook(language, outline.stem)
            lesson = notebook.read(path, project.show(path))
            if not has_handout(lesson, language):
                continue
            file = folder / f"{outline.stem}_{language}.html"
            file.write_text(render_handout(lesson, language, outline.titles[language]), encoding="utf-8")
            paper.goto(file.resolve().as_uri())
            height = paper.evaluate("document.documentElement.scrollHeight")
            scale = max(MIN_SCALE, min(1, PAGE_SIZE[1] / height))
            paper.pdf(path=file.with_suffix(".pdf"), format="A4", print_background=True, scale=scale)
            print(file.with_suffix(""))
    paper.close()
