"""Check that the English and Chinese texts of a lesson agree."""

from collections import Counter

from authoring.glossary import Glossary
from authoring.problem import Problem
from authoring.source import BilingualText, Lesson

from .markdown import Prose, excerpt, read_prose
from .typography import find_faults

_ALIKE = {
    "formulas": "formulas",
    "codes": "code names",
    "numbers": "numbers",
    "links": "links",
    "pictures": "pictures",
    "tags": "HTML tags",
}


def check_parity(lesson: Lesson, glossary: Glossary) -> list[Problem]:
    """Check all texts of a lesson."""
    pairs = [cell for cell in lesson.cells if isinstance(cell, BilingualText)]
    problems = [problem for pair in pairs for problem in check_pair(pair, lesson.file, glossary, lesson.number)]
    for word in glossary.once:
        places = [pair for pair in pairs for _ in range(pair.zh.count(word))]
        if len(places) > 1:
            again = places[1]
            what = f"expected {word} once in the lesson, got it {len(places)} times"
            problems.append(Problem(lesson.file, again.line, again.id, what, (("zh", excerpt(again.zh, word)),)))
    return problems


def check_pair(pair: BilingualText, file: str, glossary: Glossary, lesson: int | None = None) -> list[Problem]:
    """Check that the two texts agree, and that each follows the rules of glossary and typography."""
    en, zh = read_prose(pair.en), read_prose(pair.zh)
    found = [*find_differences(en, zh), *glossary.wrong_terms(en.words, zh.words, lesson)]
    problems = [
        Problem(file, pair.line, pair.id, what, (("en", excerpt(pair.en, part)), ("zh", excerpt(pair.zh, part))))
        for what, part in found
    ]
    for language, prose in (("en", en), ("zh", zh)):
        for line in prose.lines:
            problems += [
                Problem(file, pair.line, pair.id, f"{language}: {fault}") for fault in find_faults(line, language)
            ]
    return problems


def find_differences(en: Prose, zh: Prose) -> list[tuple[str, str]]:
    """The differences between the two texts, as pairs (message, the part of the text)."""
    found = []
    for name, words in _ALIKE.items():
        only_en, only_zh = getattr(en, name) - getattr(zh, name), getattr(zh, name) - getattr(en, name)
        if only_en or only_zh:
            sides = [f"only in {side}: {_list(only)}" for side, only in (("en", only_en), ("zh", only_zh)) if only]
            found.append((f"{words} differ, {'; '.join(sides)}", next(iter(only_en or only_zh))))
    if en.structure != zh.structure:
        what = f"structure differs, en: {_steps(en.structure)}; zh: {_steps(zh.structure)}"
        found.append((what, "\0"))
    return found


def _list(parts: Counter) -> str:
    return ", ".join(f"{part} ({times} times)" if times > 1 else part for part, times in parts.items())


def _steps(structure: list[str]) -> str:
    """The headings, lists and tables in order, with counts: h2, ul, li × 3."""
    steps: list[list] = []
    for tag in structure:
        if steps and steps[-1][0] == tag:
            steps[-1][1] += 1
        else:
            steps.append([tag, 1])
    return ", ".join(tag if times == 1 else f"{tag} × {times}" for tag, times in steps) or "paragraphs only"
