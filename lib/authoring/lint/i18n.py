"""Check the bilingual texts in code: `Text(en=…, zh=…)`, and `.hint(en=…, zh=…)` of known mistakes."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from authoring.glossary import Glossary
from authoring.problem import BuildErrors, Problem
from authoring.project import Project
from authoring.source import Code, Lesson, parse

from .markdown import read_prose
from .parity import find_differences
from .typography import NUMBER_HERE, WORD_HERE, find_faults

_FIELD = re.compile(r"\{([A-Za-z_]\w*|\d*)(![rsa])?(:[^{}]*)?\}")
_IN_BOTH_LANGUAGES = "Text", "hint"
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class CodeText:
    """A bilingual text in code; None for a language whose text is not a literal."""

    line: int
    en: str | None
    zh: str | None


def check_package_texts(project: Project, glossary: Glossary) -> list[Problem]:
    """Check the texts in every module under lib/."""
    problems = []
    for path in sorted((project.root / "lib").rglob("*.py")):
        try:
            source = project.read(path)
        except BuildErrors as unreadable:
            problems += unreadable.problems
            continue
        for text in find_texts(source):
            problems += check_code_text(text, project.show(path), None, None, glossary)
    return problems


def check_code_texts(lesson: Lesson, glossary: Glossary) -> list[Problem]:
    """Check the texts in a lesson's code cells, and that Chinese stands only in them."""
    problems = []
    for cell in lesson.cells:
        if isinstance(cell, Code):
            found = list(find_texts(cell.source, cell.line))
            for text in found:
                problems += check_code_text(text, lesson.file, cell.id, lesson.number, glossary)
            inside = sum(len(_HAN.findall(text.zh or "")) for text in found)
            if len(_HAN.findall(cell.source)) > inside:
                what = "expected 汉字 only inside Text(en=…, zh=…), because both languages share the code"
                problems.append(Problem(lesson.file, cell.line, cell.id, what, (("code", cell.source),)))
    return problems


def find_texts(source: str, before: int = 0) -> Iterator[CodeText]:
    """Find the calls of `Text` and `hint`; none in code that does not parse. `before` is added to their lines."""
    try:
        tree = parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None))
        if called in _IN_BOTH_LANGUAGES:
            given = dict(zip(("en", "zh"), node.args, strict=False)) | {word.arg: word.value for word in node.keywords}
            if {"en", "zh"} <= given.keys():
                yield CodeText(before + node.lineno, _string(given["en"]), _string(given["zh"]))


def _string(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def check_code_text(
    text: CodeText, file: str, cell: str | None, lesson: int | None, glossary: Glossary
) -> list[Problem]:
    if text.en is None or text.zh is None:
        return []
    both = (("en", text.en), ("zh", text.zh))
    fields = [{found[0] for found in _FIELD.finditer(words)} for _, words in both]
    en, zh = (read_prose(_FIELD.sub(_placeholder, words)) for _, words in both)
    what = [message for message, _ in (*find_differences(en, zh), *glossary.wrong_terms(en.words, zh.words, lesson))]
    if fields[0] != fields[1]:
        what.insert(0, f"placeholders differ, en: {_list(fields[0])}; zh: {_list(fields[1])}")
    for language, prose in (("en", en), ("zh", zh)):
        lines = [line for part in prose.lines for line in part.split("\n")]  # a message may have several lines
        what += [f"{language}: {fault}" for line in lines for fault in find_faults(line, language)]
    return [Problem(file, text.line, cell, message, both) for message in what]


def _placeholder(field: re.Match) -> str:
    return NUMBER_HERE if field[3] else WORD_HERE


def _list(fields: set[str]) -> str:
    return ", ".join(sorted(fields)) or "none"
