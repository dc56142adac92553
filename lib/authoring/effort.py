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
    """The label of each exercise whose effort the manifest gives, by the id of its cell. Only these are numbered."""
    cells = [cell for cell in lesson.cells if isinstance(cell, Code) and "exercise" in cell.tags]
    found = {cell.id: submitted_exercises(cell.source) & manifest.effort.keys() for cell in cells}
    labelled = {id: min(names) for id, names in found.items() if names}
    labels = {}
    for number, (id, name) in enumerate(labelled.items(), start=1):
        minutes, difficulty = manifest.effort[name]
        dots = "●" * difficulty + "○" * (HARDEST - difficulty)
        form = getattr(LABEL, language)
        labels[id] = form.format(number=number, total=len(labelled), minutes=minutes, dots=dots)
    return labels
