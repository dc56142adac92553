"""Read the course's terms and the rules on their use from `notebooks/source/glossary.toml`."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

from .problem import BuildErrors, Problem
from .project import Project

WORDS = {"lesson", *(f"{field}{language}" for language in LANGUAGES for field in ("", "meaning_"))}
RULES = {"asks", "unused", "once"}  # optional rules for texts
EARLY = "early"  # a rule that depends on the term's lesson
OTHERS = "others"


@dataclass(frozen=True)
class Term:
    """A term in both languages, its meaning in one sentence, and the number of the lesson that explains it.

    `others` are the Chinese terms of other books.
    """

    words: dict[str, str]
    meanings: dict[str, str]
    lesson: int
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class AvoidedWord:
    """A word (regular expression) that texts in one language avoid, and what to write instead.

    It is allowed if the text in the other language matches `unless`, and from lesson `before` on.
    """

    language: str
    word: str
    write: str
    unless: str | None
    before: int | None

    def find(self, texts: dict[str, str], lesson: int | None) -> tuple[str, str] | None:
        """The message and the matched word, if the text uses the word where it should not."""
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
    """The terms, and the rules for texts.

    `asks` pairs an English word with the Chinese word that its translation must use (regular expressions); `once` are
    words that a lesson shows at most once.
    """

    terms: tuple[Term, ...] = ()
    asks: tuple[tuple[str, str], ...] = ()
    unused: tuple[AvoidedWord, ...] = ()
    once: tuple[str, ...] = ()

    def wrong_terms(self, en: str, zh: str, lesson: int | None) -> list[tuple[str, str]]:
        """The broken rules in a pair of texts, as (message, word). `lesson` is None outside lessons."""
        found = []
        for english, chinese in self.asks:
            flags = re.IGNORECASE if english.islower() else 0
            word = re.search(rf"(?<![\w-])(?:{english})(?![\w-])", en, flags)
            if word and not re.search(chinese, zh):
                found.append((f"'{word[0]}' asks for {chinese.replace('|', ' or ')}", word[0]))
        texts = {"en": en, "zh": zh}
        return found + [wrong for unused in self.unused if (wrong := unused.find(texts, lesson))]


def glossary_path(project: Project) -> Path:
    return project.sources / "glossary.toml"


def read_glossary(project: Project) -> Glossary:
    """Read the file; without one there are no rules. Raises BuildErrors for malformed rows."""
    if not glossary_path(project).exists():
        return Glossary()
    file = project.show(glossary_path(project))
    try:
        content = tomllib.loads(project.read(glossary_path(project)))
    except tomllib.TOMLDecodeError as error:
        raise BuildErrors(Problem(file, None, None, f"expected TOML: {error}")) from None
    rows = content.pop("term", [])
    wrong = [(f"term {place}", _wrong(row)) for place, row in enumerate(rows, 1)]
    wrong.append(("the part outside the terms", _wrong_keys(content, set(), RULES) or _wrong_rules(content)))
    if problems := [Problem(file, None, None, f"{where} {what}") for where, what in wrong if what]:
        raise BuildErrors(*problems)
    return _glossary(rows, [*rows, content])


def _wrong(row: dict) -> str | None:
    """The first error in a term, if any."""
    return _wrong_keys(row, WORDS, RULES | {EARLY, OTHERS}) or _wrong_rules(row)


def _wrong_keys(row: dict, required: set[str], optional: set[str]) -> str | None:
    differ = (required - row.keys()) | (row.keys() - required - optional)
    return f"has missing or unknown fields: {', '.join(sorted(differ))}" if differ else None


def _wrong_rules(row: dict) -> str | None:
    """The first error in the rules of a term, or in the rules outside the terms."""
    patterns = [*row.get("asks", {}), *row.get("asks", {}).values()]
    for field in ("unused", EARLY):
        for each in row.get(field, ()):
            if each.keys() - {"unless"} not in ({language, "write"} for language in LANGUAGES):
                return f"expected {field} to have zh or en, write, and optionally unless; got {each!r}"
            patterns += [value for key, value in each.items() if key != "write"]
    try:
        for pattern in patterns:
            re.compile(pattern)
    except re.error as error:
        return f"has an invalid regular expression {pattern!r}: {error}"
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
