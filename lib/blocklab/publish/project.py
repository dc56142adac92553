"""Where things lie in the repository, and which lessons there are."""

import re
from dataclasses import dataclass
from pathlib import Path

from blocklab.language import LANGUAGES

from .problem import PublishError

_TITLE = re.compile(r"^# (\d\d \S.*)$", re.MULTILINE)


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

    def notebook(self, language: str, stem: str) -> Path:
        return self.root / "notebooks" / language / f"{stem}.ipynb"

    def readme(self, language: str) -> Path:
        return self.root / {"en": "README.md", "zh": "README.zh-CN.md"}[language]

    def show(self, path: Path) -> str:
        """The path as a reader of a message types it: from the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def outlines(self) -> list[Outline]:
        """All lessons in the order of their numbers."""
        return [self._outline(path) for path in sorted(self.sources.glob("*.py"))]

    def _outline(self, path: Path) -> Outline:
        shown = self.show(path)
        number = path.stem[:2]
        if not re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem):
            raise PublishError(f"{shown}: a lesson is named NN_name.py, such as 02_norm_axes.py")
        titles = _TITLE.findall(path.read_text(encoding="utf-8"))[: len(LANGUAGES)]
        if len(titles) < len(LANGUAGES) or any(title[:2] != number for title in titles):
            raise PublishError(f"{shown}: the first pair of cells wants a heading '# {number} Title' in each language")
        return Outline(number, path.stem, dict(zip(LANGUAGES, titles, strict=True)))

    def chosen(self, numbers: list[str]) -> list[Outline]:
        """The lessons with these numbers; all of them if none is named."""
        outlines = self.outlines()
        unknown = set(numbers) - {outline.number for outline in outlines}
        if unknown:
            have = ", ".join(outline.number for outline in outlines) or "none"
            raise PublishError(f"no lesson {', '.join(sorted(unknown))} in {self.show(self.sources)} (there: {have})")
        return [outline for outline in outlines if not numbers or outline.number in numbers]


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, that holds pyproject.toml and notebooks."""
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() and (folder / "notebooks").is_dir():
            return folder
    raise PublishError(f"neither {start} nor a folder above it holds pyproject.toml and notebooks/")
