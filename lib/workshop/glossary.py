"""The one list of the course's words, `notebooks/source/glossary.toml`: what they mean, and how texts use them."""

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from blocklab.language import LANGUAGES

from .problem import Faults, Problem
from .project import Project

WORDS = {"lesson", *(f"{field}{language}" for language in LANGUAGES for field in ("", "meaning_"))}
RULES = {"asks", "unused", "once"}  # what texts are held to, where there are such rules
EARLY = "early"  # a rule that only a term can have, for it goes by the term's lesson
OTHERS = "others"


@dataclass(frozen=True)
class Term:
    """A word in both languages, what it means in one sentence, and the number of the lesson that explains it.

    others: the Chinese words that other books have for it.
    """

    words: dict[str, str]
    meanings: dict[str, str]
    lesson: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unused:
    """A word (regular expression) that texts in one language do not use, and what to write.

    The twin's word `unless` (regular expression) excuses it. `before` is the lesson from which on it is used.
    """

    language: str
    word: str
    write: str
    unless: str | None
    before: int | None

    def found(self, texts: dict[str, str], lesson: int | None) -> tuple[str, str] | None:
        """The message and the word it is about, if a text is one that should not use the word."""
        if self.before is not None and (lesson is None or lesson >= self.before):
            return None
        [twin] = texts.keys() - {self.language}
        word = re.search(self.word, texts[self.language])
        if not word or (self.unless and re.search(self.unless, texts[twin])):
            return None
        shown = word[0] if self.language == "zh" else f"'{word[0]}'"
        if self.before is None:
            return f"{shown} is not used: {self.write}", word[0]
        return f"before lesson {self.before} it is {self.write}, not {shown}", word[0]


@dataclass(frozen=True)
class Glossary:
    """The terms of the page, and the rules that texts are held to.

    asks: an English word asks for a Chinese one in its twin (both regular expressions); once: words that a lesson
    shows at most once.
    """

    terms: tuple[Term, ...] = ()
    asks: tuple[tuple[str, str], ...] = ()
    unused: tuple[Unused, ...] = ()
    once: tuple[str, ...] = ()

    def wrong_terms(self, en: str, zh: str, lesson: int | None) -> list[tuple[str, str]]:
        """What is wrong in a pair of texts: (message, the word it is about). `lesson` is None outside lessons."""
        found = []
        for english, chinese in self.asks:
            flags = re.IGNORECASE if english.islower() else 0
            word = re.search(rf"(?<![\w-])(?:{english})(?![\w-])", en, flags)
            if word and not re.search(chinese, zh):
                found.append((f"'{word[0]}' asks for {chinese.replace('|', ' or ')}", word[0]))
        texts = {"en": en, "zh": zh}
        return found + [wrong for unused in self.unused if (wrong := unused.found(texts, lesson))]


def table(project: Project) -> Path:
    return project.sources / "glossary.toml"


def read_glossary(project: Project) -> Glossary:
    """The whole list; a repository that has none asks for no words.

    Raises Faults for what is no table, and for every row that is none of its rows.
    """
    file = project.show(table(project))
    if not os.path.lexists(table(project)):
        return Glossary()
    try:
        content = tomllib.loads(project.read(table(project)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Faults(Problem(file, int(line[1]) if line else None, None, f"is no TOML: {error}")) from None
    rows = content.get("term")
    if not isinstance(rows, list) or content.keys() - {"term"} - RULES:
        wanted = f"wants rows [[term]], {', '.join(sorted(RULES))} and nothing else"
        raise Faults(Problem(file, None, None, f"{wanted}, got {', '.join(content) or 'none'}"))
    rules = {field: content[field] for field in RULES & content.keys()}
    wrong = [(f"term {place}", _wrong(row)) for place, row in enumerate(rows, 1)]
    wrong.append(("what stands outside the terms", _wrong_rules(rules)))
    if problems := [Problem(file, None, None, f"{where} {what}") for where, what in wrong if what]:
        raise Faults(*problems)
    return _glossary(rows, [*rows, rules])


def _wrong(row: object) -> str | None:
    """What is wrong with the form of a term, if anything is."""
    if not isinstance(row, dict):
        return "has a field missing or too many: it is no table"
    if differ := (WORDS - row.keys()) | (row.keys() - WORDS - RULES - {EARLY, OTHERS}):
        return f"has a field missing or too many: {', '.join(sorted(differ))}"
    for field in sorted(WORDS - {"lesson"}):
        if not _is_line(row[field]):
            return f"wants {field} to be a text of one line, got {row[field]!r}"
    others = row.get(OTHERS, [])
    if not isinstance(others, list) or not all(map(_is_line, others)):
        return f"wants others to be a list of words, got {others!r}"
    if type(row["lesson"]) is not int:
        return f"wants lesson to be a number, got {row['lesson']!r}"
    return _wrong_rules(row)


def _wrong_rules(row: dict) -> str | None:
    """What is wrong with the form of a term's rules, or of those outside the terms."""
    asks, once = row.get("asks", {}), row.get("once", [])
    if not isinstance(asks, dict) or not all(map(_is_pattern, (*asks, *asks.values()))):
        return f"wants asks to be regular expressions in pairs, got {asks!r}"
    for field in ("unused", EARLY):
        rows = row.get(field, [])
        if not isinstance(rows, list) or not all(map(_is_unused, rows)):
            wanted = "zh or en, regular expressions, with write and perhaps unless"
            return f"wants {field} to hold rows of {wanted}; got {rows!r}"
    if not isinstance(once, list) or not all(map(_is_line, once)):
        return f"wants once to be a list of words, got {once!r}"
    return None


def _is_unused(row: object) -> bool:
    if not isinstance(row, dict) or len(row.keys() & set(LANGUAGES)) != 1:
        return False
    patterns = [value for field, value in row.items() if field != "write"]
    known = {"write"} <= row.keys() <= {"write", "unless", *LANGUAGES}
    return known and _is_line(row["write"]) and all(map(_is_pattern, patterns))


def _is_line(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and "\n" not in text


def _is_pattern(text: object) -> bool:
    try:
        return _is_line(text) and bool(re.compile(text))
    except (re.error, RecursionError, OverflowError):
        return False


def _glossary(terms: list[dict], rules: list[dict]) -> Glossary:
    return Glossary(
        terms=tuple(
            Term(
                {language: row[language] for language in LANGUAGES},
                {language: row[f"meaning_{language}"] for language in LANGUAGES},
                row["lesson"],
                tuple(row.get(OTHERS, ())),
            )
            for row in terms
        ),
        asks=tuple(ask for row in rules for ask in row.get("asks", {}).items()),
        unused=tuple(
            _unused(each, before)
            for row in rules
            for field, before in (("unused", None), ("early", row.get("lesson")))
            for each in row.get(field, ())
        ),
        once=tuple(word for row in rules for word in row.get("once", ())),
    )


def _unused(row: dict, before: int | None) -> Unused:
    [language] = row.keys() & set(LANGUAGES)
    return Unused(language, row[language], row["write"], row.get("unless"), before)
