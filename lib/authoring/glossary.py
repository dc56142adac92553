"""The one list of the course's words, `notebooks/source/glossary.toml`: what they mean, and how texts use them."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

from .problem import BuildErrors, Problem
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
class AvoidedWord:
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
    unused: tuple[AvoidedWord, ...] = ()
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


def glossary_path(project: Project) -> Path:
    return project.sources / "glossary.toml"


def read_glossary(project: Project) -> Glossary:
    """The whole list; a repository that has none asks for no words. Raises Faults for every row of another form."""
    if not glossary_path(project).exists():
        return Glossary()
    file = project.show(glossary_path(project))
    try:
        content = tomllib.loads(project.read(glossary_path(project)))
    except tomllib.TOMLDecodeError as error:
        raise BuildErrors(Problem(file, None, None, f"is no TOML: {error}")) from None
    rows = content.pop("term", [])
    wrong = [(f"term {place}", _wrong(row)) for place, row in enumerate(rows, 1)]
    wrong.append(("what stands outside the terms", _wrong_keys(content, set(), RULES) or _wrong_rules(content)))
    if problems := [Problem(file, None, None, f"{where} {what}") for where, what in wrong if what]:
        raise BuildErrors(*problems)
    return _glossary(rows, [*rows, content])


def _wrong(row: dict) -> str | None:
    """What is wrong with the form of a term, if anything is."""
    return _wrong_keys(row, WORDS, RULES | {EARLY, OTHERS}) or _wrong_rules(row)


def _wrong_keys(row: dict, required: set[str], optional: set[str]) -> str | None:
    differ = (required - row.keys()) | (row.keys() - required - optional)
    return f"has a field missing or too many: {', '.join(sorted(differ))}" if differ else None


def _wrong_rules(row: dict) -> str | None:
    """What is wrong with the regular expressions of a term, or of those outside the terms."""
    patterns = [*row.get("asks", {}), *row.get("asks", {}).values()]
    for field in ("unused", EARLY):
        for each in row.get(field, ()):
            if each.keys() - {"unless"} not in ({language, "write"} for language in LANGUAGES):
                return f"wants {field} to hold rows of zh or en with write and perhaps unless; got {each!r}"
            patterns += [value for key, value in each.items() if key != "write"]
    try:
        for pattern in patterns:
            re.compile(pattern)
    except re.error as error:
        return f"has a regular expression that is none, {pattern!r}: {error}"
    return None


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


def _unused(row: dict, before: int | None) -> AvoidedWord:
    [language] = row.keys() & set(LANGUAGES)
    return AvoidedWord(language, row[language], row["write"], row.get("unless"), before)
