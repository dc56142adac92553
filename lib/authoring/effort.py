"""The line above an exercise that says which it is, how long it takes and how hard it is."""

from blocklab_course.gradebook.submissions import submitted_exercises
from blocklab_course.i18n import Text
from blocklab_course.lessons.manifest import Lesson as Manifest

from .source import Code, Lesson

HARDEST = 3
LABEL = Text(
    en="*Exercise {number} of {total} · about {minutes} minutes · {dots}*",
    zh="*练习 {number}/{total} · 大约 {minutes} 分钟 · {dots}*",
)


def exercise_labels(lesson: Lesson, manifest: Manifest, language: str) -> dict[str, str]:
    """The label of each exercise whose effort the manifest gives, by the id of its cell."""
    cells = [cell for cell in lesson.cells if isinstance(cell, Code) and "exercise" in cell.tags]
    labels = {}
    for number, cell in enumerate(cells, start=1):
        for name in submitted_exercises(cell.source) & manifest.effort.keys():
            minutes, difficulty = manifest.effort[name]
            dots = "●" * difficulty + "○" * (HARDEST - difficulty)
            form = getattr(LABEL, language)
            labels[cell.id] = form.format(number=number, total=len(cells), minutes=minutes, dots=dots)
    return labels
