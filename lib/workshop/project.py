"""Where things lie in the repository, and which lessons there are."""

import re
from dataclasses import dataclass
from pathlib import Path

from blocklab.language import LANGUAGES

from .files import read_text, write_text
from .problem import Faults, Problem, PublishError

_NAME = re.compile(r"\d\d_[a-z0-9_]+")
_TITLE = re.compile(r"^# (\d\d \S.*)$", re.MULTILINE)
_BUILT_TITLE = re.compile(r'"(# \d\d [^"\\]*)')


@dataclass(frozen=True)
class Outline:
    """What other lessons and the README need to know of a lesson: its number, its file name and its two titles."""

    number: str
    stem: str
    titles: dict[str, str]


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
        """The text of a file of the repository. Raises Faults as `files.read_text`."""
        return read_text(path, self.show(path))

    def write(self, path: Path, text: str) -> None:
        """Write a file of the repository, whole or not at all. Raises PublishError as `files.write_text`."""
        write_text(path, text, self.show(path))

    def outlines(self) -> list[Outline]:
        """All lessons in the order of their numbers. Raises Faults for a source that is none."""
        outlines, broken = self.survey()
        if broken:
            raise Faults(*broken.values())
        return outlines

    def survey(self) -> tuple[list[Outline], dict[str, Problem]]:
        """The lessons that can be outlined, and by file name what is wrong with the sources that cannot.

        Where a source shows no titles, those of the built notebooks stand in for them, so that one lesson that is
        damaged takes no link to it from the others.
        """
        outlines, broken = [], self.clashes()
        for stem in self._stems():
            if stem not in broken:
                try:
                    outlines.append(self._outline(stem, self.read(self.source(stem))))
                except Faults as faults:
                    broken[stem] = faults.problems[0]
                    outlines += self._as_built(stem)
        return outlines, broken

    def clashes(self) -> dict[str, Problem]:
        """By file name the lessons whose number another one has already."""
        first, found = {}, {}
        for stem in filter(_NAME.fullmatch, self._stems()):
            if first.setdefault(stem[:2], stem) != stem:
                what = f"a second lesson with the number {stem[:2]}, beside {first[stem[:2]]}.py"
                found[stem] = Problem(self.show(self.source(stem)), None, None, what)
        return found

    def _stems(self) -> list[str]:
        stems = sorted(path.stem for path in self.sources.glob("*.py"))
        if not stems:
            raise PublishError(f"{self.show(self.sources)}: there is no lesson")
        return stems

    def _outline(self, stem: str, text: str) -> Outline:
        shown, number = self.show(self.source(stem)), stem[:2]
        if not _NAME.fullmatch(stem):
            raise Faults(Problem(shown, None, None, "a lesson is named NN_name.py, such as 02_norm_axes.py"))
        titles = _TITLE.findall(text)[: len(LANGUAGES)]
        if len(titles) < len(LANGUAGES) or any(title[:2] != number for title in titles):
            what = f"the first pair of cells wants a heading '# {number} Title' in each language"
            raise Faults(Problem(shown, None, None, what))
        return Outline(number, stem, dict(zip(LANGUAGES, titles, strict=True)))

    def _as_built(self, stem: str) -> list[Outline]:
        """The outline of a lesson by its built notebooks, if they show it."""
        try:
            texts = [self.read(self.notebook(language, stem)) for language in LANGUAGES]
            titles = [_BUILT_TITLE.search(text) for text in texts]
            return [self._outline(stem, "\n".join(title[1] for title in titles if title))]
        except Faults:
            return []

    def chosen(self, numbers: list[str]) -> list[str]:
        """The file names of the lessons with these numbers; of all of them if none is named."""
        stems = self._stems()
        unknown = set(numbers) - {stem[:2] for stem in stems}
        if unknown:
            have = ", ".join(stem[:2] for stem in stems)
            raise PublishError(f"no lesson {', '.join(sorted(unknown))} in {self.show(self.sources)} (there: {have})")
        return [stem for stem in stems if not numbers or stem[:2] in numbers]


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that is a repository of lessons."""
    for folder in (start, *start.parents):
        if is_root(folder):
            return folder
    raise PublishError(f"neither {start} nor a folder above it holds pyproject.toml and notebooks/source/")


def is_root(folder: Path) -> bool:
    """Whether a folder is a repository of lessons, and not one that nothing is to be written into."""
    return (folder / "pyproject.toml").is_file() and (folder / "notebooks" / "source").is_dir()
