"""Where things lie in the repository, and which lessons there are.

A source is a lesson, NN_name.py, or an appendix, name.py: read, built, checked and linked as the lessons are, behind
the last of them, and without a number. That an appendix has none is said here alone: its `number` is empty.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from blocklab_course.i18n import LANGUAGES

from .files import read_text, write_text
from .problem import BuildError, BuildErrors, Problem, collecting_errors

_NAME = re.compile(r"(?P<number>\d\d)_[a-z0-9_]+|[a-z][a-z0-9_]*")
APPENDIX = {"en": "Appendix: ", "zh": "附录："}  # how the title of one begins, in place of the number
_TITLE = re.compile(rf"^(# (?:\d\d |{'|'.join(APPENDIX.values())})\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Outline:
    """What other lessons and the README need to know of a lesson: its number, its file name and its two titles.

    The number is empty for an appendix.
    """

    number: str
    stem: str
    titles: dict[str, str]

    @property
    def key(self) -> str:
        """What the commands call it: the number, or the name of an appendix."""
        return key_of(self.stem)

    def subject(self, language: str) -> str:
        """The title without the number; an appendix has none, and keeps its title whole."""
        return self.titles[language].removeprefix(f"{self.number} ")


def number_of(stem: str) -> str:
    """The number with which the file name of a lesson begins; empty for an appendix, and for what is neither."""
    form = _NAME.fullmatch(stem)
    return (form and form["number"]) or ""


def key_of(stem: str) -> str:
    """What the commands call a source: its number if it is a lesson, otherwise its name."""
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
        """The path as a reader of a message types it: from the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def read(self, path: Path) -> str:
        """The text of a file of the repository. Raises Faults."""
        return read_text(path, self.show(path))

    def write(self, path: Path, text: str) -> None:
        """Write a file of the repository atomically. Raises PublishError."""
        write_text(path, text, self.show(path))

    def outlines(self) -> list[Outline]:
        """All lessons in the order of their numbers. Raises Faults for sources without titles or with equal numbers."""
        outlines, problems, first = [], [], {}
        for stem in self._stems():
            number = number_of(stem)
            if number and first.setdefault(number, stem) != stem:
                what = f"a second lesson with the number {number}, beside {first[number]}.py"
                problems.append(Problem(self.show(self.source(stem)), None, None, what))
            else:
                with collecting_errors(problems):
                    outlines.append(self._outline(stem))
        if problems:
            raise BuildErrors(*problems)
        return outlines

    def _stems(self) -> list[str]:
        stems = sorted(path.stem for path in self.sources.glob("*.py"))  # letters, and so appendices, behind numbers
        if not stems:
            raise BuildError(f"{self.show(self.sources)}: there is no lesson")
        return stems

    def _outline(self, stem: str) -> Outline:
        shown, own = self.show(self.source(stem)), number_of(stem)
        if not _NAME.fullmatch(stem):
            what = "a lesson is named NN_name.py, such as 02_norm_axes.py, and an appendix name.py"
            raise BuildErrors(Problem(shown, None, None, what))
        titles = dict(zip(LANGUAGES, _TITLE.findall(self.read(self.source(stem))), strict=False))
        begins = dict.fromkeys(LANGUAGES, f"{own} ") if own else APPENDIX
        if not all(titles.get(language, "").startswith(f"# {begins[language]}") for language in LANGUAGES):
            wanted = f"'# {own} Title' in each language"
            if not own:
                wanted = "'# Appendix: Title' and '# 附录：标题', or its file a number, NN_name.py, if it is a lesson"
            raise BuildErrors(Problem(shown, None, None, f"the first pair of cells wants a heading {wanted}"))
        return Outline(own, stem, {language: title.removeprefix("# ") for language, title in titles.items()})

    def chosen(self, keys: list[str]) -> list[str]:
        """The file names of the lessons with these numbers and the appendices with these names; of all if none."""
        stems = self._stems()
        unknown = set(keys) - set(map(key_of, stems))
        if unknown:
            have = ", ".join(map(key_of, stems))
            raise BuildError(f"no lesson {', '.join(sorted(unknown))} in {self.show(self.sources)} (there: {have})")
        return [stem for stem in stems if not keys or key_of(stem) in keys]


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that is a repository of lessons."""
    for folder in (start, *start.parents):
        if is_root(folder):
            return folder
    raise BuildError(f"neither {start} nor a folder above it holds pyproject.toml and notebooks/source/")


def is_root(folder: Path) -> bool:
    """Whether a folder is a repository of lessons, and not one that nothing is to be written into."""
    return (folder / "pyproject.toml").is_file() and (folder / "notebooks" / "source").is_dir()
