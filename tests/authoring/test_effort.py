"""The labels of exercises."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from authoring.effort import exercise_labels
from authoring.notebook import read
from authoring.source import BilingualText, Code, Lesson
from blocklab_course.gradebook.submissions import submitted_exercises
from blocklab_course.lessons.manifest import Lesson as Manifest

BUILT = sorted(Path(__file__).parents[2].glob("notebooks/[ez][nh]/[0-9]*.ipynb"))
LABEL = {
    "en": re.compile(r"\n\n\*Exercise (\d) of (\d) · about \d+ minutes · [●○]{3}\*\Z"),
    "zh": re.compile(r"\n\n\*练习 (\d)/(\d) · 大约 \d+ 分钟 · [●○]{3}\*\Z"),
}


def test_label_has_place_minutes_and_difficulty():
    codes = ("check('mean', my_mean)", "print(1)", "catch('mean', my_inputs)")
    tags = (("exercise",), (), ("exercise",))
    cells = [Code(f"cell-{n}", n, code, tag) for n, (code, tag) in enumerate(zip(codes, tags, strict=True))]
    lesson = Lesson("01_means", "01_means.py", (BilingualText("title", 1, "# 01", "# 01"), *cells))
    manifest = Manifest(effort={"mean": (10, 2), "catch_mean": (25, 3)})
    assert exercise_labels(lesson, manifest, "en") == {
        "cell-0": "*Exercise 1 of 2 · about 10 minutes · ●●○*",
        "cell-2": "*Exercise 2 of 2 · about 25 minutes · ●●●*",
    }
    assert exercise_labels(lesson, manifest, "zh")["cell-0"] == "*练习 1/2 · 大约 10 分钟 · ●●○*"


def test_exercises_without_a_label_are_not_counted():
    codes = ("check('unknown', 1)", "check('mean', my_mean)", "my_sum = 3", "check('variance', 2)", "check('other', 1)")
    cells = [Code(f"cell-{n}", n, code, ("exercise",)) for n, code in enumerate(codes)]
    manifest = Manifest(effort={"mean": (10, 2), "variance": (3, 1)})
    assert exercise_labels(Lesson("01_means", "01_means.py", tuple(cells)), manifest, "en") == {
        "cell-1": "*Exercise 1 of 2 · about 10 minutes · ●●○*",
        "cell-3": "*Exercise 2 of 2 · about 3 minutes · ●○○*",
    }


@pytest.mark.parametrize("path", BUILT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_text_above_every_exercise_ends_in_its_label(path):
    cells = read(path).cells
    above = [
        before.source
        for before, cell in pairwise(cells)
        if "exercise" in cell.metadata.get("tags", ()) and submitted_exercises(cell.source)
    ]
    found = [LABEL[path.parent.name].search(text) for text in above]
    assert above
    assert [label and label.groups() for label in found] == [
        (str(n), str(len(above))) for n in range(1, len(above) + 1)
    ]
    labelled = [cell for cell in cells if LABEL[path.parent.name].search(cell.source)]
    assert len(labelled) == len(above)
