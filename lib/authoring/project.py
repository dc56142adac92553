"""The files of the repository and the list of lessons.

A source is a lesson, NN_name.py, or an appendix, name.py. Appendices follow the last lesson; their `number` is empty.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

from .files import read_text, write_text
from .problem import BuildError, BuildErrors, Problem, collecting_errors

_NAME = re.compile(r"(?P<number>\d\d)_[a-z0-9_]+|[a-z][a-z0-9_]*")
APPENDIX = {"en": "Appendix: ", "zh": "附录："}  # how its title begins, in place of the number
_TITLE = re.compile(rf"^(# (?:\d\d |{'|'.join(APPENDIX.values())})\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Outline:
    """The number, file name and titles of a lesson. The number of an appendix is empty."""

    number: str
    stem: str
    titles: dict[str, str]

    @property
    def key(self) -> str:
        """The argument by which commands select it: the number, or the name of an appendix."""
        return key_of(self.stem)

    def short_title(self, language: str) -> str:
        """The title without the number."""
        return self.titles[language].removeprefix(f"{self.number} ")


def number_of(stem: str) -> str:
    """The number at the start of a lesson's file name; empty for other names."""
    form = _NAME.fullmatch(stem)
    return (form and form["number"]) or ""


def key_of(stem: str) -> str:
    """The number of a lesson, or the name of an appendix."""
    return number_of(stem) or stem


@dataclass(frozen=True)
class Project:
    """The repository whose root is `root`."""

    root: Path

    @property
    def pyproject(self) -> Path:
        return self.root / "pyproject.toml"

    @property
    def sources(self) -> Path:
        return self.root / "notebooks" / "source"

    def source(self, stem: str) -> Path:
        return self.sources / f"{stem}.py"

    def notebooks(self, language: str) -> Path:
        return self.root / "notebooks" / language

    def notebook(self, language: str, stem: str) -> Path:
        return self.notebooks(language) / f"{stem}.ipynb"

    def readme(self, language: str) -> Path:
        return self.root / {"en": "README.md", "zh": "README.zh-CN.md"}[language]

    def show(self, path: Path) -> str:
        """The path from the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def read(self, path: Path) -> str:
        """Read a file of the repository. Raises BuildErrors."""
        return read_text(path, self.show(path))

    def write(self, path: Path, text: str) -> None:
        """Write a file of the repository atomically. Raises BuildError."""
        write_text(path, text, self.show(path))

    def outlines(self) -> list[Outline]:
        """All lessons in order. Raises BuildErrors for a missing title or a number that is used twice."""
        outlines, problems, first = [], [], {}
        for stem in self._stems():
            number = number_of(stem)
            if number and first.setdefault(number, stem) != stem:
                what = f"has the number {number}, as {first[number]}.py has"
                problems.append(Problem(self.show(self.source(stem)), None, None, what))
            else:
                with collecting_errors(problems):
                    outlines.append(self._outline(stem))
        if problems:
            raise BuildErrors(*problems)
        return outlines

    def _stems(self) -> list[str]:
        stems = sorted(path.stem for path in self.sources.glob("*.py"))  # appendices last: letters sort after digits
        if not stems:
            raise BuildError(f"{self.show(self.sources)}: no lessons found")
        return stems

    def _outline(self, stem: str) -> Outline:
        shown, own = self.show(self.source(stem)), number_of(stem)
        if not _NAME.fullmatch(stem):
            what = "expected a name like 02_norm_axes.py for a lesson, or name.py for an appendix"
            raise BuildErrors(Problem(shown, None, None, what))
        titles = dict(zip(LANGUAGES, _TITLE.findall(self.read(self.source(stem))), strict=False))
        begins = dict.fromkeys(LANGUAGES, f"{own} ") if own else APPENDIX
        if not all(titles.get(language, "").startswith(f"# {begins[language]}") for language in LANGUAGES):
            headings = f"'# {own} Title' in both languages" if own else "'# Appendix: Title' and '# 附录：标题'"
            raise BuildErrors(Problem(shown, None, None, f"expected the first two cells to have headings {headings}"))
        return Outline(own, stem, {language: title.removeprefix("# ") for language, title in titles.items()})

    def select(self, keys: list[str]) -> list[str]:
        """The file names, without .py, of the lessons and appendices with these keys; all without keys."""
        stems = self._stems()
        unknown = set(keys) - set(map(key_of, stems))
        if unknown:
            known = ", ".join(map(key_of, stems))
            raise BuildError(f"no lesson {', '.join(sorted(unknown))} in {self.show(self.sources)} (found: {known})")
        return [stem for stem in stems if not keys or key_of(stem) in keys]


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that holds pyproject.toml and notebooks/source/."""
    for folder in (start, *start.parents):
        if is_root(folder):
            return folder
    raise BuildError(f"expected pyproject.toml and notebooks/source/ in {start} or a folder above it")


def is_root(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file() and (folder / "notebooks" / "source").is_dir()
