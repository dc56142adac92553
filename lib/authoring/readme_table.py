"""Update the generated parts of both READMEs: the table of lessons and the link to the site."""

import re

from blocklab_course.i18n import LANGUAGES

from .address import Address, read_address
from .problem import BuildErrors, Problem
from .project import Outline, Project

BEGIN, END = "<!-- lessons:begin -->", "<!-- lessons:end -->"
_SITE = re.compile(r"(<!-- site:begin -->\n).*?(\n<!-- site:end -->)", re.DOTALL)
_HEAD = {
    "en": ["", "Lesson", "English", "中文", "Try in English", "Try in Chinese"],
    "zh": ["", "课程", "English", "中文", "在线运行英文版", "在线运行中文版"],
}
_PAGES = {
    "en": (
        "**{link}**, with nothing to install: every picture can be moved, and each guess is judged. "
        "`make site OPEN=1` writes these pages on your machine.",
        "Read the lessons in your browser",
    ),
    "zh": (
        "**{link}**，什么都不用安装：每张图都能拖动，猜完马上知道对不对。`make site OPEN=1` 在本机生成这些网页。",
        "在浏览器里读这些课",
    ),
}


def site_line(address: Address, language: str) -> str:
    """The sentence on the site, with a link if the repository has GitHub Pages."""
    text, name = _PAGES[language]
    return text.format(link=f"[{name}]({address.pages}/{language}/index.html)" if address.pages else name)


def lesson_table(address: Address, outlines: list[Outline], language: str) -> str:
    """One row per lesson: number, title, links to the notebook and to Colab in each language."""
    head = _HEAD[language] if address.colab else _HEAD[language][:4]
    rows = [head, ["---"] * len(head)]
    for outline in outlines:
        links = [f"[{name}](notebooks/{key}/{outline.stem}.ipynb)" for key, name in (("en", "English"), ("zh", "中文"))]
        colab = [address.colab_link(key, outline.stem) for key in LANGUAGES] if address.colab else []
        rows.append([outline.number, outline.short_title(language), *links, *colab])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def render_readme(project: Project, outlines: list[Outline], language: str) -> str:
    """The README with both parts up to date. Raises BuildErrors if the file or its markers are missing."""
    readme = project.readme(language)
    before, begin, rest = project.read(readme).partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BuildErrors(Problem(project.show(readme), None, None, f"expected a table between {BEGIN} and {END}"))
    address = read_address(project)
    before = _SITE.sub(lambda found: found[1] + site_line(address, language) + found[2], before)
    return f"{before}{BEGIN}\n{lesson_table(address, outlines, language)}\n{END}{after}"


def update_readme(project: Project, outlines: list[Outline], language: str) -> None:
    """Write the README. Raises BuildError if it cannot be read or written."""
    project.write(project.readme(language), render_readme(project, outlines, language))
