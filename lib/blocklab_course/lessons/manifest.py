"""The manifest of a lesson: strings only, so that reading it imports neither torch nor the lesson's other modules."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """The manifest of a lesson, which stands in the `__init__.py` of its package.

    exercises: their names, in the order of the lesson.
    saves: those whose passing solution is saved for later lessons.
    needs: the optional packages that it uses, by the names under which pip knows them.
    data: the larger files of `blocklab_course/data` that it reads; a single file brings them along.
    diagram: the part of the layer that it explains, in the same words as the other lessons about this part; empty if
        it is about no single part.
    starter_code: by exercise the cell to complete, where a check finds a mistake in it before anything is changed.
    number, package: its place in the course and the name of its package, filled in by the list of lessons.
    """

    exercises: tuple[str, ...] = ()
    saves: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    diagram: str = ""
    starter_code: Mapping[str, str] = field(default_factory=dict, hash=False)
    number: int = 0
    package: str = ""

    @property
    def name(self) -> str:
        """What its files are called: "02_norm_axes"."""
        return f"{self.number:02}_{self.package}"
