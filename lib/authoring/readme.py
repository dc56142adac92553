"""Update the generated parts of both READMEs: the links at the top, the counts, and the table of lessons.

The links and the table stand between comments such as `<!-- lessons:begin -->` and `<!-- lessons:end -->`. A count
stands before a comment that names it: `41<!-- figures -->`.
"""

import re

from blocklab_course.i18n import Text, use_language
from blocklab_course.lessons.catalog import manifest_of
from blocklab_course.lessons.manifest import Lesson

from .address import Address, read_address
from .problem import BuildErrors, Problem
from .project import Outline, Project
from .source import Code, read_lesson

PARTS = ("links", "lessons")
COLUMNS = 4  # of the table: two lessons
WIDE = 38  # spaces in a column, at least
_COUNT = re.compile(r"\d+(?=<!-- (figures|exercises) -->)")
_CI = re.compile(r"(<!-- badges -->)[^\n]*")

PLAY = Text(en="▶ Play in your browser", zh="▶ 在浏览器里玩一玩")
COLAB = Text(en="Open in Colab", zh="在 Colab 中打开")
MINUTES = Text(en="{} min", zh="{} 分钟")
FIGURES = Text(en="{} figures", zh="{} 幅图"), Text(en="{} figure", zh="{} 幅图")  # several, one
SIDE_TRIP = Text(en="side trip", zh="选修")
EXERCISES = Text(en="{} exercises", zh="{} 个练习"), Text(en="{} exercise", zh="{} 个练习")
TWIN = {"en": ("zh", "中文"), "zh": ("en", "English")}  # the language of the other notebook, and its name


def render_readme(project: Project, outlines: list[Outline], language: str) -> str:
    """The README with all parts up to date. Raises BuildErrors if the file or its markers are missing."""
    readme, address = project.readme(language), read_address(project)
    text = project.read(readme)
    figures = {outline.stem: count_figures(project, outline) for outline in outlines}
    with use_language(language):
        contents = {"links": links(address, language), "lessons": lesson_table(address, outlines, figures, language)}
    for part in PARTS:
        begin, end = f"<!-- {part}:begin -->", f"<!-- {part}:end -->"
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not found_begin or not found_end:
            raise BuildErrors(Problem(project.show(readme), None, None, f"expected {part} between {begin} and {end}"))
        text = f"{before}{begin}\n{contents[part]}\n{end}{after}"
    exercises = sum(len(manifest_of(outline.stem).exercises) for outline in outlines)
    counts = {"figures": sum(figures.values()), "exercises": exercises}
    text = _COUNT.sub(lambda found: str(counts[found[1]]), text)
    return _CI.sub(lambda found: found[1] + ci_badge(address), text)


def update_readme(project: Project, outlines: list[Outline], language: str) -> None:
    """Write the README. Raises BuildError if it cannot be read or written."""
    project.write(project.readme(language), render_readme(project, outlines, language))


def count_figures(project: Project, outline: Outline) -> int:
    """How many interactive figures a lesson has."""
    cells = read_lesson(project, outline.stem).cells
    return sum(isinstance(cell, Code) and "panel" in cell.tags for cell in cells)


def links(address: Address, language: str) -> str:
    """The links to the site and to Colab, if the repository is on GitHub."""
    if not address.pages:
        return ""
    site, colab = f"{address.pages}/{language}/index.html", f"{address.colab}/notebooks/{language}/00_start_here.ipynb"
    return f"**[{PLAY}]({site})** · [{COLAB}]({colab})"


def ci_badge(address: Address) -> str:
    if not address.colab:
        return ""
    return f" [![Tests]({address.url}/actions/workflows/ci.yml/badge.svg)]({address.url}/actions/workflows/ci.yml)"


def lesson_table(address: Address, outlines: list[Outline], figures: dict[str, int], language: str) -> str:
    """Two lessons per row."""
    cells = [cell for outline in outlines for cell in lesson_cells(address, outline, figures[outline.stem], language)]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [cells[start : start + COLUMNS] for start in range(0, len(cells), COLUMNS)]
    head = ["&nbsp;" * WIDE for _ in range(COLUMNS)]  # or a phone would squeeze pictures and texts
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * COLUMNS, *rows])


def lesson_cells(address: Address, outline: Outline, figures: int, language: str) -> tuple[str, str]:
    """The picture of a lesson, and its title with a link, its size, and links to Colab and to the other language."""
    stem, lesson = outline.stem, manifest_of(outline.stem)
    notebook = f"notebooks/{language}/{stem}.ipynb"
    page = f"{address.pages}/{language}/{stem}.html" if address.pages else notebook
    lines = [f"**[{outline.titles[language]}]({page})**"]
    twin, name = TWIN[language]
    beside = [f"[Colab]({address.colab}/{notebook})"] if address.colab else []
    beside.append(f"[{name}](notebooks/{twin}/{stem}.ipynb)")
    if not lesson.package:
        return "", "<br>".join([*lines, " · ".join(beside)])
    lines += [lesson_size(lesson, figures), " · ".join(beside)]
    return f'<img src="pic/lessons/{lesson.package}.svg" width="160" height="80" alt="">', "<br>".join(lines)


def lesson_size(lesson: Lesson, figures: int) -> str:
    """How long a lesson takes and what it holds: "40 min · 4 figures · 5 exercises · side trip"."""
    counts = (FIGURES, figures), (EXERCISES, len(lesson.exercises))
    parts = [MINUTES.format(lesson.minutes), *(texts[count == 1].format(count) for texts, count in counts)]
    return " · ".join([*parts, str(SIDE_TRIP)] if lesson.side_trip else parts)
