"""Whose verdicts count, which files are named, and how the command writes its files."""

import errno
import io
import os
import shlex
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook

from blocklab_course import i18n
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.collect import collect
from blocklab_course.gradebook.submissions import STARTER_CODE
from saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

README = Path(__file__).parents[2] / "README.md"
SOLVED = verdict("layer_norm", passed=True)


@pytest.fixture
def classroom(tmp_path):
    return hand_in(tmp_path / "class", **{"ada/02.ipynb": notebook(SOLVED), "bo/02.ipynb": notebook()})


# Whose verdict it is


@pytest.mark.parametrize(("exercise", "source"), STARTER_CODE.items(), ids=STARTER_CODE)
def test_changed_starter_code_counts_as_begun(tmp_path, exercise, source):
    changes = {
        source: "…",
        f"# mine\n{source}\n# to do": "…",
        source.replace("=", "= 0 +", 1): "a-mistake",
        source + "\npass": "a-mistake",
    }
    for changed, mark in changes.items():
        hand_in(tmp_path, **{"eve.ipynb": notebook(verdict(exercise, "a-mistake"), source=changed)})
        assert collect(tmp_path).cells["eve"] == {exercise: mark}


OWN = [
    "# check('layer_norm', solved_layer_norm)\ncheck('layer_norm', mine)",
    "check('layer_norm', mine)  # not check('layer_norm', solved_layer_norm)",
    "check('layer_norm', solved_mine)",
    "check('layer_norm', Solved())",
    '"""check("layer_norm", solved_layer_norm)"""\ncheck("layer_norm", mine)',
    "%time check('layer_norm', mine)  # check('layer_norm', solved_layer_norm)",
    "check('rms_norm', solved_rms_norm)\ncheck('layer_norm', mine)",
]
THE_LESSONS = [
    "check('layer_norm', solved_layer_norm)",
    "assert check(exercise='layer_norm', candidate=solved_layer_norm)",
    "checks.check(\n  'layer_norm',\n  SolvedLayerNorm(3),\n)",
    "%time check('layer_norm', solved_layer_norm)",
]


@pytest.mark.parametrize("source", OWN)
def test_own_verdicts_count_beside_mentions_of_the_solution(tmp_path, source):
    report = collect(hand_in(tmp_path, **{"eve.ipynb": notebook(SOLVED, source=source)}))
    assert report.cells["eve"] == {"layer_norm": "✓"}
    assert not report.remarks


@pytest.mark.parametrize(
    ("handed_in", "marks"),
    [
        ("catch('layer_norm', my_inputs)", {"catch_layer_norm": "✓"}),
        ("%time catch('layer_norm', my_inputs)", {"catch_layer_norm": "✓"}),
        ("catch('layer_norm', solved_catch)", {}),
        ("%time catch('layer_norm', solved_catch)", {}),
        ("catch(exercise='layer_norm', inputs=solved_catch)", {}),
    ],
)
def test_catch_inputs_of_the_lesson_do_not_count(tmp_path, handed_in, marks):
    hand_in(tmp_path, **{"ada/05.ipynb": notebook(verdict("catch_layer_norm", passed=True), source=handed_in)})
    assert collect(tmp_path).cells["ada"] == marks


@pytest.mark.parametrize("chosen", i18n.LANGUAGES)
@pytest.mark.parametrize("source", [*THE_LESSONS, None])
def test_excluded_verdicts_are_named(tmp_path, source, chosen, capsys):
    excluded = cell(SOLVED, source=source or "check('layer_norm', mine)")
    if source is None:
        excluded["metadata"]["cellView"] = "form"
    students = {f"class/{i:02}.ipynb": new_notebook(cells=[excluded]) for i in range(30)}
    main([str(hand_in(tmp_path, **students) / "class"), "--out", str(tmp_path / "r"), "--language", chosen])
    (remark,) = capsys.readouterr().err.splitlines()
    assert {"en": "00.ipynb (cell 1), 01.ipynb", "zh": "00.ipynb（第 1 个单元格）、01.ipynb"}[chosen] in remark
    assert "✓" not in (tmp_path / "r.csv").read_text("utf-8-sig")
    assert len(remark) < 500


def test_unknown_exercises_are_limited_per_student(tmp_path):
    made_up = {f"eve/{i}.ipynb": notebook(*(verdict(f"x{i}_{j}") for j in range(15))) for i in range(9)}
    hand_in(tmp_path, **made_up, **{"eve/good.ipynb": notebook(SOLVED), "bo/1.ipynb": notebook(verdict("new"))})
    report = collect(tmp_path)
    assert len(report.cells["eve"]) == 21
    assert report.cells["eve"]["layer_norm"] == "✓"
    assert report.cells["bo"] == {"new": "?"}
    assert len(report.problems) == 8


def test_decomposed_names_are_the_same_student(tmp_path):
    names = [unicodedata.normalize(form, "zoë") for form in ("NFC", "NFD")]
    hand_in(tmp_path, **{f"{name}/0{i}.ipynb": notebook(SOLVED) for i, name in enumerate(names)})
    hand_in(tmp_path, **{"bo/05.ipynb": notebook()})
    assert collect(tmp_path).cells == {"bo": {}, "zoë": {"layer_norm": "✓"}}


# Misnamed files


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("bob/05.ipynb.json", "bob/05.ipynb.json"),
        ("bob/05.ipynb.txt", "bob/05.ipynb.txt"),
        ("bob/05.ipynb (1)", "bob/05.ipynb (1)"),
        ("bob/my.ZIP", "bob/my.ZIP"),
        ("bob.tar.gz", "bob.tar.gz"),
        ("bob/", "bob"),
        ("bob/old/deep/", "bob"),
        ("bob/.ipynb_checkpoints/", "bob"),
        ("bob/05.pdf", "bob"),
        ("ada/old/", None),
        ("ada/en/", None),
        ("ada/words.txt", None),
        ("ada/._my.zip", None),
    ],
)
def test_submissions_without_notebooks_are_named(classroom, tmp_path, file, named, capsys):
    path = classroom / file
    (path if file.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
    if not file.endswith("/"):
        path.write_text("{}")
    assert main([str(classroom), "--out", str(tmp_path / "marks")]) == (1 if named else 0)
    assert [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()] == ([named] if named else [])


def test_empty_folders_in_sections_are_named(tmp_path):
    folder = hand_in(tmp_path, **{f"{who}/5.ipynb": notebook(SOLVED) for who in ("a/x", "a/y", "b/z", "b/w")})
    (folder / "b" / "bob" / "zh").mkdir(parents=True)
    (folder / "a" / "x" / "plots").mkdir()
    assert collect(folder).problems.keys() == {"b/bob"}


def test_many_misnamed_files_are_summarized(classroom):
    hand_in(classroom, **{f"ada/{i}.zip": {} for i in range(500)})
    assert len(collect(classroom).problems) == 11


# The command


def command(folder: str, *options: str) -> list[str]:
    return [sys.executable, *options, "-m", "blocklab_course.gradebook", folder]


def test_readme_command_imports_nothing_from_the_current_folder(classroom):
    (line,) = (line for line in README.read_text("utf-8").splitlines() if "-m blocklab_course.gradebook" in line)
    options = line.split("python ")[1].split(" -m ")[0].split()
    files = ["blocklab/__init__.py", "blocklab_course/gradebook/__init__.py", "blocklab_course/gradebook/__main__.py"]
    for file in [*files, "reprlib.py", "functools.py", "csv.py"]:
        (classroom / file).parent.mkdir(parents=True, exist_ok=True)
        (classroom / file).write_text("open('ran', 'w')")
    subprocess.run(command(".", *options), cwd=classroom, capture_output=True, timeout=300)
    assert not (classroom / "ran").exists()
    assert (classroom / "report.csv").exists()


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_writes_the_report_with_closed_streams(classroom, closed):
    line = f"{shlex.join(command('.'))} {closed}"
    assert subprocess.run(line, shell=True, cwd=classroom, timeout=300).returncode == 0
    assert (classroom / "report.csv").read_text("utf-8-sig").count("\n") == 3


@pytest.mark.parametrize("options", [[""], ["", "--run"]], ids=str)
def test_empty_folder_name_is_an_error(classroom, monkeypatch, options, capsys):
    monkeypatch.chdir(classroom)
    with pytest.raises(SystemExit) as end:
        main([*options])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(classroom.glob("report*"))


def test_csv_quotes_semicolons(classroom, tmp_path):
    hand_in(classroom, **{"a;b,c/02.ipynb": notebook(SOLVED)})
    main([str(classroom), "--out", str(tmp_path / "marks")])
    assert '"a;b,c","✓"' in (tmp_path / "marks.csv").read_text("utf-8-sig")


class Full(io.StringIO):
    """A file on a full disk."""

    def write(self, _text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("place", "ending"), [(1, "html"), (2, "csv")])
def test_full_disk_keeps_the_earlier_report(classroom, tmp_path, monkeypatch, capsys, place, ending):
    order = [str(classroom), "--out", str(tmp_path / "marks")]
    main(order)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    hand_in(classroom, **{"eve/02.ipynb": notebook(SOLVED)})
    capsys.readouterr()
    really, opened = Path.open, []

    def opening(path, *arguments, **options):
        opened.append(path)
        return Full() if len(opened) == place else really(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", opening)
    assert main(order) == 2
    monkeypatch.undo()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"marks.{ending}" in said
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
