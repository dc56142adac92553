"""The manifest of a lesson. It has strings only, so that reading it does not import torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """The manifest of a lesson, in the `__init__.py` of its package.

    minutes: how long it takes, without *Going further*, as its introduction says.
    side_trip: whether the main route leaves it out.
    exercises: the names of its exercises, in order.
    effort: for each exercise, the minutes that it takes and its difficulty, from 1 to 3.
    saves: the exercises whose passing solution is saved for later lessons.
    runs: the exercises of earlier lessons whose saved solutions it runs.
    needs: the optional packages that it uses, by their names for pip.
    data: the large files of `blocklab_course/data` that it reads; the single-file lesson includes them.
    diagram: the part of the layer that it leads to. Lessons about the same part use the same word; empty for none.
    starter_code: the cell to complete, by exercise, if `check` finds a mistake in it before the learner changes it.
    number, package: its position in the course and the name of its package, set by the catalog.
    """

    minutes: int = 0
    side_trip: bool = False
    exercises: tuple[str, ...] = ()
    effort: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    saves: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    diagram: str = ""
    starter_code: Mapping[str, str] = field(default_factory=dict, hash=False)
    number: int = 0
    package: str = ""

    @property
    def name(self) -> str:
        """The name of its notebooks: "02_norm_axes"."""
        return f"{self.number:02}_{self.package}"
