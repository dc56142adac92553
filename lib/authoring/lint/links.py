"""Check that relative links lead to existing files, and to the lesson whose number the text names."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from authoring.problem import Problem
from authoring.project import Project, number_of
from authoring.source import BilingualText, Lesson
from blocklab_course.i18n import LANGUAGES

from .markdown import read_prose

_LINK = re.compile(r"(?P<before>[^\n\[\]]*)\[(?P<text>[^\[\]]*)\]\((?P<address>[^()\s]*)\)")
_LESSON = r"(?:[Ll]essons? |第 ?)(\d\d)(?!\d)"
_NAMED = re.compile(rf"^\d\d(?!\d)|{_LESSON}")  # in the text of a link: 07, 07 Title, lesson 07, 第 07 课
_NAMED_BEFORE = re.compile(rf"{_LESSON}(?: ?课)?\W*$")  # lesson 07, […]


def check_lesson_links(project: Project, lesson: Lesson) -> list[Problem]:
    return [
        Problem(lesson.file, cell.line, cell.id, f"{language}: {what}")
        for cell in lesson.cells
        if isinstance(cell, BilingualText)
        for language in LANGUAGES
        for text in [getattr(cell, language)]
        for what in [
            *(f"dead link to {to}" for to in _find_dead(project, project.notebook(language, lesson.stem).parent, text)),
            *find_wrong_numbers(text),
        ]
    ]


def find_wrong_numbers(text: str) -> Iterator[str]:
    """The links to a lesson whose text, or the words right before it, name the number of another lesson."""
    for link in _LINK.finditer(text):
        target = number_of(Path(urlsplit(link["address"]).path).stem)
        named = re.findall(r"\d\d", link["text"]) if _NAMED.search(link["text"]) else []
        named = named or _NAMED_BEFORE.findall(link["before"])
        if target and named and target not in named:
            yield f"expected the link to {link['address']} to name lesson {target}, got {' and '.join(named)}"


def check_readme_links(project: Project, language: str) -> list[Problem]:
    readme = project.readme(language)
    return [
        Problem(project.show(readme), None, None, f"dead link to {address}")
        for address in _find_dead(project, readme.parent, project.read(readme))
    ]


def _find_dead(project: Project, folder: Path, text: str) -> Iterator[str]:
    """The relative addresses in a text that do not exist. A lesson that is not built yet counts as existing."""
    for address in read_prose(text).addresses:
        parts = urlsplit(address)
        target = Path(os.path.normpath(folder / unquote(parts.path)))
        to_build = target.parent.parent == project.sources.parent and project.source(target.stem).is_file()
        if parts.path and not (parts.scheme or parts.netloc or os.path.exists(target) or to_build):
            yield address
