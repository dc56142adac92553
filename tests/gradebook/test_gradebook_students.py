"""Students are identified by the locations of their notebooks, with a remark where that may be wrong."""

import unicodedata
from pathlib import Path

import pytest

from blocklab_course import i18n
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.collect import collect
from saved_notebooks import hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

LAYOUTS = {  # notebooks and students
    "a notebook each": ("eve.ipynb bo.ipynb", "bo eve"),
    "one notebook": ("eve.ipynb", "eve"),
    "a folder each": ("eve/05.ipynb eve/06.ipynb bo/05.ipynb", "bo eve"),
    "one folder": ("eve/05.ipynb eve/06.ipynb", "eve"),
    "one folder, a copy": ("eve/05_layer_norm.ipynb eve/05_layer_norm-Copy1.ipynb", "eve"),
    "one folder, an earlier number": ("eve/12_layer_norm.ipynb eve/14_layer_norm.ipynb", "eve"),
    "languages": ("eve/en/05.ipynb eve/zh/05.ipynb bo/zh/05.ipynb", "bo eve"),
    "languages of one": ("eve/en/05.ipynb eve/zh/05.ipynb", "eve"),
    "a learner's own": ("en/05.ipynb en/06.ipynb zh/05.ipynb", "en zh"),
    "a name like a folder of ours": ("my/05.ipynb en/05.ipynb eve/05.ipynb", "en eve my"),
    "folders of one's own": ("eve/week1/05.ipynb eve/week2/06.ipynb bo/week1/05.ipynb", "bo eve"),
    "a clone each": (
        "eve/my/en/05.ipynb eve/notebooks/en/05.ipynb bo/my/zh/05.ipynb bo/notebooks/zh/05.ipynb",
        "bo eve",
    ),
    "a year": ("2026/eve/05.ipynb 2026/bo/05.ipynb", "bo eve"),
    "a class and a year": ("class/2026/eve/05.ipynb class/2026/bo/en/06.ipynb", "bo eve"),
    "a class, a year, files": ("class/2026/eve.ipynb class/2026/bo.ipynb", "bo eve"),
    "a year, one student": ("2026/eve/05.ipynb", "eve"),
    "files and folders": ("eve.ipynb bo/05.ipynb", "bo eve"),
    "a file and a folder of one name": ("eve.ipynb eve/05.ipynb bo.ipynb", "bo eve"),
    "all of my/": ("eve/my/en/05.ipynb eve/my/en/glossary.ipynb bo/my/zh/06.ipynb bo/my/zh/glossary.ipynb", "bo eve"),
    "assignments": ("eve/ps1/05.ipynb eve/ps2/06.ipynb bo/ps1/05.ipynb bo/ps2/06.ipynb", "bo eve"),
    "names of one's own": ("eve/05.ipynb eve/old/my_notes.ipynb bo/05.ipynb bo/old/scratch.ipynb", "bo eve"),
    "numbered students": ("01.ipynb 02.ipynb 20260001.ipynb", "01 02 20260001"),
    "sections": ("a/eve/05.ipynb a/bo/05.ipynb b/chen/05.ipynb b/dora/05.ipynb", "a/bo a/eve b/chen b/dora"),
    "sections of files": ("a/eve.ipynb a/bo.ipynb b/chen.ipynb b/dora.ipynb", "a/bo a/eve b/chen b/dora"),
    "sections, different lessons": ("a/eve/05.ipynb a/bo/06.ipynb b/x/06.ipynb b/y/05.ipynb", "a/bo a/eve b/x b/y"),
    "sections in a year": ("26/a/eve/5.ipynb 26/a/bo/5.ipynb 26/b/x/5.ipynb 26/b/y/5.ipynb", "a/bo a/eve b/x b/y"),
}


def write_notebooks(folder: Path, names: str) -> Path:
    """Notebooks with a mistake in lesson 05's exercise, or in lesson 06's for those of that name."""
    exercises = {name: "rms_norm" if "06" in name else "layer_norm" for name in names.split()}
    return hand_in(folder, **{name: notebook(verdict(exercise, "wrong")) for name, exercise in exercises.items()})


@pytest.mark.parametrize(("names", "students"), LAYOUTS.values(), ids=LAYOUTS)
def test_identifies_students_by_folder(tmp_path, names, students):
    report = collect(write_notebooks(tmp_path, names))
    assert sorted(report.cells) == students.split()
    assert not report.remarks
    assert all(set(row.values()) == {"wrong"} for row in report.cells.values())


@pytest.mark.parametrize(
    ("names", "merged"),
    [
        ("a/eve/05.ipynb a/bo/05.ipynb b/chen/05.ipynb", "a: a/bo, a/eve"),  # b is a section of one
        ("w1/eve.ipynb w1/bo.ipynb w2/eve.ipynb", "w1: w1/bo, w1/eve"),
        ("c/26/eve/05.ipynb c/26/bo/05.ipynb teacher.ipynb", "c: c/26/bo, c/26/eve"),
        ("eve/05.ipynb eve/old/05.ipynb eve/new/05.ipynb bo/05.ipynb", "eve: eve/new, eve/old"),
    ],
)
def test_remarks_on_names_that_may_be_several_students(tmp_path, names, merged, capsys):
    folder = write_notebooks(tmp_path / "class", names)
    (remark,) = collect(folder).remarks
    assert f"student, {merged}." in remark
    assert main([str(folder), "--out", str(tmp_path / "marks")]) == 0
    assert capsys.readouterr().err.splitlines() == [remark]
    assert remark in (tmp_path / "marks.html").read_text("utf-8")


@pytest.mark.parametrize(("level", "students"), [("1", "a b"), ("2", "bo eve"), ("3", "bo eve")])
def test_level_chooses_the_students(tmp_path, level, students):
    folder = write_notebooks(tmp_path / "class", "a/eve/05.ipynb a/bo/06.ipynb b/my/eve.ipynb")
    assert main([str(folder), "--out", str(tmp_path / "marks"), "--level", level]) == 0
    rows = (tmp_path / "marks.csv").read_text("utf-8-sig").splitlines()
    assert sorted(row.split(",")[0].strip('"') for row in rows[1:]) == students.split()


@pytest.mark.parametrize("chosen", ["en", "zh"])
def test_remarks_on_students_merged_by_level(tmp_path, chosen):
    folder = write_notebooks(tmp_path, "w1/eve.ipynb w2/eve.ipynb w2/bo.ipynb")
    i18n.set_language(chosen)
    report = collect(folder, level=2)
    assert sorted(report.cells) == ["bo", "eve"]
    (remark,) = report.remarks
    assert {"en": ", eve: w1/eve, w2/eve. If", "zh": "（eve）：w1/eve、w2/eve。如果"}[chosen] in remark


def test_decomposed_names_are_the_same_student(tmp_path):
    names = [unicodedata.normalize(form, "zoë") for form in ("NFC", "NFD")]
    hand_in(
        tmp_path, **{f"{name}/0{i}.ipynb": notebook(verdict("layer_norm", passed=True)) for i, name in enumerate(names)}
    )
    hand_in(tmp_path, **{"bo/05.ipynb": notebook()})
    assert collect(tmp_path).cells == {"bo": {}, "zoë": {"layer_norm": "✓"}}
