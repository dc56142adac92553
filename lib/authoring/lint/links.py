"""Check that relative links lead to existing files."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from authoring.problem import Problem
from authoring.project import Project
from authoring.source import BilingualText, Lesson
from blocklab_course.i18n import LANGUAGES

from .markdown import read_prose


def check_lesson_links(project: Project, lesson: Lesson) -> list[Problem]:
    return [
        Problem(lesson.file, cell.line, cell.id, f"{language}: dead link to {address}")
        for cell in lesson.cells
        if isinstance(cell, BilingualText)
        for language in LANGUAGES
        for address in _find_dead(project, project.notebook(language, lesson.stem).parent, getattr(cell, language))
    ]


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
