"""Changes to several files of the repository that belong together: all of them are made, or none."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from blocklab.files import replace

from .project import Project


@dataclass(frozen=True)
class Draft(Project):
    """The repository with changes that its files do not hold yet: what is read has them, `save` writes them."""

    texts: dict[Path, str] = field(default_factory=dict)

    def read(self, path: Path) -> str:
        return self.texts[path] if path in self.texts else super().read(path)

    def write(self, path: Path, text: str) -> None:
        self.texts[path] = text

    def save(self, last: Path) -> None:
        """Write the files. Where one cannot be written, those before it are as they were.

        last: the file by which the command knows what is to be done: after a cut in the power it can be run again.
        """
        before = {}
        try:
            for path in sorted(self.texts, key=last.__eq__):
                before[path] = path.read_bytes()
                super().write(path, self.texts[path])
        except BaseException:
            for path, data in before.items():
                with suppress(OSError):
                    if path.read_bytes() != data:
                        replace(path, data)
            raise
