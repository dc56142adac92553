"""A page to hand out: of a lesson the question, the picture to predict, the exercise and the closing questions.

The answers are left out, and there is room to write. The page stands alone: pictures and formulas are in it.
"""

import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import Browser

from blocklab.language import LANGUAGES

from . import notebook, stamp
from .problem import PublishError
from .project import Outline, Project

GUESS = re.compile(r"""\bguess"?(?:=|: )Choice\(""")  # of a lesson's panels, the one that asks for a prediction
EXERCISE = {"en": "## Exercise", "zh": "## 练习"}
CLOSING = {"en": "## Three closing questions", "zh": "## 三个思考题"}
IN_ONE_LINE = {"en": "**In one line:**", "zh": "**一句话总结**"}
FORMULA = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$\n]+?)\$", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to another lesson: of no use on paper
ANSWER = re.compile(r"<details>.*?</details>\s*", re.DOTALL)
QUESTION = re.compile(r"^\d+\. .*$", re.MULTILINE)
PRINTED = 695, 1030  # CSS pixels of A4 less the margins of handout.css
SMALLEST = 0.75  # letters of 7 points; a lesson that says more gets a second page
ROOM = '\n\n<div class="room"></div>'


@dataclass(frozen=True)
class Part:
    """Where a lesson says one of the things that a handout repeats."""

    lesson: NotebookNode
    language: str
    name: str

    def cell(self, start: str) -> int:
        """The place of the first text that has a line with this start. Raises PublishError if there is none."""
        for place, cell in enumerate(self.lesson.cells):
            if cell.cell_type == "markdown" and re.search(rf"^{re.escape(start)}", cell.source, re.MULTILINE):
                return place
        raise PublishError(f"{self.name} ({self.language}): a handout wants a text with {start!r}, got none")

    def paragraphs(self, start: str) -> list[str]:
        """That text from this start on, as far as the next heading, in paragraphs."""
        source = self.lesson.cells[self.cell(start)].source
        source = source[re.search(rf"^{re.escape(start)}", source, re.MULTILINE).start() :]
        return re.split(r"\n(?=## )", source)[0].strip().split("\n\n")

    def prediction(self) -> str:
        """The text above the panel that asks for a guess, and the panel as it was saved, with its line."""
        for text, panel in pairwise(self.lesson.cells):
            if GUESS.search(panel.source):
                data = next(output["data"] for output in panel.outputs if "image/png" in output.get("data", {}))
                image = f'<img src="data:image/png;base64,{data["image/png"]}" alt="{escape(data["text/plain"])}">'
                return f'{text.source}\n\n<p class="picture">{image}</p>'
        raise PublishError(f"{self.name} ({self.language}): a handout wants a panel that asks for a guess, got none")


def page(lesson: NotebookNode, language: str, name: str) -> str:
    """The handout of a built lesson, as HTML."""
    part = Part(lesson, language, name)
    questions = QUESTION.findall(ANSWER.sub("", "\n\n".join(part.paragraphs(CLOSING[language]))))
    texts = [
        next(cell.source for cell in lesson.cells if cell.id not in stamp.IDS),
        part.prediction(),
        "\n\n".join(part.paragraphs(EXERCISE[language])),
        "\n\n".join([CLOSING[language], *(question + ROOM for question in questions)]),
        part.paragraphs(IN_ONE_LINE[language])[0],
    ]
    cells = [new_markdown_cell(FORMULA.sub(_mathml, LINK.sub(r"\1", text))) for text in texts]
    exporter = HTMLExporter(template_name="basic", exclude_anchor_links=True)
    body, _ = exporter.from_notebook_node(new_notebook(cells=cells))
    style = files("blocklab.publish").joinpath("handout.css").read_text("utf-8")
    head = f'<meta charset="utf-8"><title>{escape(name)}</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="{language}"><head>{head}</head><body>{body}</body></html>\n'


def _mathml(formula: re.Match) -> str:
    """A formula that needs no script and no network to be shown."""
    display = formula["display"] is not None
    return convert(formula["display"] or formula["inline"], display="block" if display else "inline")


def write_handouts(project: Project, outlines: list[Outline], folder: Path, browser: Browser) -> None:
    """NAME_LANGUAGE.html and .pdf of every lesson that asks closing questions; prints their names."""
    folder.mkdir(parents=True, exist_ok=True)
    paper = browser.new_page(viewport={"width": PRINTED[0], "height": PRINTED[1]})
    paper.emulate_media(media="print")
    for outline in outlines:
        for language in LANGUAGES:
            lesson = notebook.read(project.notebook(language, outline.stem))
            if not any(CLOSING[language] in cell.source for cell in lesson.cells):
                continue
            file = folder / f"{outline.stem}_{language}.html"
            file.write_text(page(lesson, language, outline.titles[language]), encoding="utf-8")
            paper.goto(file.resolve().as_uri())
            height = paper.evaluate("document.documentElement.scrollHeight")
            scale = max(SMALLEST, min(1, PRINTED[1] / height))
            paper.pdf(path=file.with_suffix(".pdf"), format="A4", print_background=True, scale=scale)
            print(file.with_suffix(""))
    paper.close()
