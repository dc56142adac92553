"""The class report: grades from saved verdicts, safe output and the command line."""

import copy
import csv
import importlib.util
import io
import itertools
import json
import os
import subprocess
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_notebook

from blocklab_course import i18n
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.collect import Report, collect
from blocklab_course.gradebook.pages import render_csv, render_html
from blocklab_course.lessons.catalog import EXERCISES
from saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

LESSONS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture
def classroom(tmp_path):
    return hand_in(
        tmp_path / "class",
        **{
            "ada/02.ipynb": notebook(verdict("one_mean_axes", passed=True), verdict("layer_norm", "unbiased-variance")),
            "ada/05.ipynb": notebook(verdict("layer_norm", "eps-outside-root+unbiased-variance")),
            "bo/02.ipynb": notebook(verdict("layer_norm", "unbiased-variance"), verdict("one_mean_axes")),
            "chen/02.ipynb": notebook(verdict("layer_norm", "not-written-yet"), verdict("one_mean_axes", passed=True)),
            "dora/02.ipynb": notebook(),
        },
    )


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_grades_every_student_and_exercise(classroom):
    report = collect(classroom)
    assert report.cells == {
        "ada": {"one_mean_axes": "✓", "layer_norm": "eps-outside-root+unbiased-variance"},
        "bo": {"layer_norm": "unbiased-variance", "one_mean_axes": "?"},
        "chen": {"layer_norm": "…", "one_mean_axes": "✓"},
        "dora": {},
    }
    assert report.exercises == ["one_mean_axes", "layer_norm"]


def test_common_mistakes_count_each_student_once(classroom):
    hand_in(classroom, **{"eve/05.ipynb": notebook(verdict("layer_norm", "unbiased-variance+unbiased-variance"))})
    assert collect(classroom).common_mistakes() == [
        ("layer_norm", "unbiased-variance", 3),
        ("layer_norm", "eps-outside-root", 1),
        ("one_mean_axes", "?", 1),
    ]


@pytest.mark.parametrize("chosen", i18n.LANGUAGES)
def test_writes_html_and_csv(classroom, tmp_path, chosen, capsys):
    assert main([str(classroom), "--out", str(tmp_path / "marks"), "--language", chosen]) == 0
    rows = rows_of((tmp_path / "marks.csv").read_bytes().decode("utf-8-sig"))
    assert rows[0][1:] == ["one_mean_axes", "layer_norm"]
    assert rows[1] == ["ada", "✓", "eps-outside-root+unbiased-variance"]
    html = (tmp_path / "marks.html").read_text("utf-8")
    hint = EXERCISES["layer_norm"].mistake("unbiased-variance").hint
    assert getattr(hint, chosen).split("`")[0][:20] in html
    assert f'lang="{chosen}"' in html
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_csv_starts_with_a_byte_order_mark(classroom, tmp_path):
    main([str(classroom), "--out", str(tmp_path / "marks")])
    assert (tmp_path / "marks.csv").read_bytes().startswith(b'\xef\xbb\xbf"student",')


def test_runs_no_code_by_default(classroom, tmp_path):
    flag = tmp_path / "ran"
    evil = notebook(verdict("layer_norm"), source=f"open({str(flag)!r}, 'w')")
    nbformat.write(evil, classroom / "ada" / "evil.ipynb")
    before = {path: path.read_bytes() for path in classroom.rglob("*.ipynb")}
    main([str(classroom), "--out", str(tmp_path / "marks")])
    assert not flag.exists()
    assert before == {path: path.read_bytes() for path in classroom.rglob("*.ipynb")}


def test_report_warns_that_files_can_be_edited(classroom, tmp_path):
    main([str(classroom), "--out", str(tmp_path / "marks")])
    assert "which can be edited" in (tmp_path / "marks.html").read_text("utf-8")


@pytest.mark.parametrize("folder", [".ipynb_checkpoints", ".venv/lib", ".git"])
def test_skips_hidden_folders(classroom, folder):
    hand_in(classroom, **{f"ada/{folder}/02-checkpoint.ipynb": notebook(verdict("rms_norm", "old"))})
    report = collect(classroom)
    assert "rms_norm" not in report.exercises
    assert not report.problems


# The best verdict counts

SAID = {
    "✓": verdict("swish", passed=True),
    "a-mistake": verdict("swish", "a-mistake"),
    "…": verdict("swish", "not-written-yet"),
    None: None,
}
ONE = ["eve/05.ipynb"] * 4
COPIES = ["eve/05.ipynb", "eve/05 (1).ipynb", "eve/en/05.ipynb", "eve/zh/05.ipynb"]
DEEP = ["eve/old/05.ipynb", "eve/old/05-Copy1.ipynb", "eve/05.ipynb", "eve/zh/05.ipynb"]


@pytest.mark.parametrize("order", list(itertools.permutations(SAID)), ids=lambda order: " ".join(map(str, order)))
@pytest.mark.parametrize("names", [ONE, COPIES, DEEP], ids=["one notebook", "copies", "folders"])
def test_best_grade_counts(tmp_path, order, names):
    hand_in(tmp_path, **{"bo.ipynb": notebook()})
    for best in SAID:
        cells = defaultdict(list)
        for name, mark in zip(names, order, strict=True):
            cells[name].append(cell(SAID[mark]) if SAID[mark] else cell())
        hand_in(tmp_path, **{name: new_notebook(cells=found) for name, found in cells.items()})
        assert collect(tmp_path).cells["eve"] == ({"swish": best} if best else {})
        order = [mark if mark != best else None for mark in order]  # next time without the best one


def test_last_of_several_mistakes_counts(tmp_path):
    hand_in(tmp_path, **{"eve.ipynb": notebook(*(verdict("swish", name) for name in ("first", "second", "third")))})
    assert collect(tmp_path).cells == {"eve": {"swish": "third"}}


# A lesson's own solution is not the student's


def lessons(chosen: str) -> dict[str, dict]:
    found = {path.name: json.loads(path.read_text("utf-8")) for path in LESSONS.joinpath(chosen).glob("*.ipynb")}
    assert len(found) > 10
    return found


def without_tags(cell: dict) -> None:
    cell["metadata"].pop("tags", None)


def unfolded(cell: dict) -> None:
    cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "tags"}


@pytest.mark.parametrize("change", [copy.copy, without_tags, unfolded])
@pytest.mark.parametrize("chosen", i18n.LANGUAGES)
def test_untouched_lessons_are_not_begun(tmp_path, chosen, change):
    notebooks = lessons(chosen)
    for lesson in notebooks.values():
        for each in lesson["cells"]:
            change(each)
    hand_in(tmp_path, **{f"eve/{chosen}/{name}": lesson for name, lesson in notebooks.items()})
    marks = collect(tmp_path).cells["eve"]
    assert len(marks) > 30
    assert {name: mark for name, mark in marks.items() if mark != "…"} == {}


def test_copied_solutions_of_the_lesson_do_not_count(tmp_path):
    """Except for answers that are numbers or tuples, which don't show who wrote them."""
    for name, lesson in lessons("en").items():
        lesson["cells"] = [each for each in lesson["cells"] if "solution" in each["metadata"].get("tags", [])]
        for each in lesson["cells"]:
            each["metadata"] = {"tags": ["mine"]}
        hand_in(tmp_path, **{f"eve/{name}": lesson})
    assert collect(tmp_path).cells["eve"].keys() <= {name for name, exercise in EXERCISES.items() if exercise.expects}


def test_own_solution_beside_the_lessons_counts(tmp_path):
    lesson = lessons("en")["05_layer_norm.ipynb"]
    mine = next(
        i for i, each in enumerate(lesson["cells"]) if "my_layer_norm" in str(each.get("outputs")) + str(each["source"])
    )
    lesson["cells"][mine]["outputs"] = cell(verdict("layer_norm", passed=True)).outputs
    hand_in(tmp_path, **{"eve/05.ipynb": lesson})
    cells = {"half_size": "…", "catch_layer_norm": "…", "layer_norm": "✓", "layer_norm_backward": "…"}
    assert collect(tmp_path).cells["eve"] == cells


# Untrusted text in the table and on the page

WORDS = st.text(st.characters(categories=None), max_size=20) | st.sampled_from(
    [begin + sign + "1+1" for begin in ("", " ", "\t", "\r", "\n", "\ufeff", "\u3000") for sign in "=+-@＝＋－＠−﹢"]
)


@given(st.dictionaries(WORDS, st.dictionaries(WORDS, WORDS, max_size=3), max_size=4), WORDS)
def test_csv_cells_are_never_formulas(cells, fault):
    report = Report(cells, {fault: fault})
    text = render_csv(report)
    rows = rows_of(text.encode("utf-8").decode("utf-8"))
    assert len(rows) == len(cells) + 1
    assert {len(row) for row in rows} == {len(report.exercises) + 1}
    for said in itertools.chain.from_iterable(rows):
        assert not unicodedata.normalize("NFKC", said).strip().startswith(("=", "+", "-", "@", "−"))
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in said)


@given(st.dictionaries(WORDS, st.dictionaries(WORDS, WORDS, max_size=3), max_size=4), WORDS)
def test_html_escapes_untrusted_text(cells, word):
    plain = render_html(Report({}, {"x": "x"}, ["x"]))
    html = render_html(Report(cells, {word: "<script>"}, [word + "<b>"])).encode("utf-8").decode("utf-8")
    assert "<script" not in html
    assert "<b>" not in html
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in html)
    assert plain.count("<style") == html.count("<style")


def test_csv_header_is_escaped():
    report = Report({"@eve": {"=1+1": "-x", "b": "a\r=2"}}, {})
    assert rows_of(render_csv(report)) == [["student", "'=1+1", "b"], ["'@eve", "'-x", r"a\r=2"]]


# The command


def test_unreadable_notebooks_are_named_and_others_read(classroom, tmp_path, capsys):
    (classroom / "ada" / "broken.ipynb").write_text("{not json")
    hand_in(classroom, **{"bo/odd.ipynb": notebook({"a": 1})})
    assert main([str(classroom), "--out", str(tmp_path / "marks")]) == 1
    assert collect(classroom).problems.keys() == {"ada/broken.ipynb", "bo/odd.ipynb"}
    assert "ada/broken.ipynb" in capsys.readouterr().err
    assert collect(classroom).cells["chen"]
    (tmp_path / "alone.ipynb").write_text("{")
    assert "alone" not in collect(tmp_path).cells


def test_reports_a_class_of_broken_notebooks(tmp_path):
    hand_in(tmp_path, **{"class/eve.ipynb": [], "class/bo.ipynb": 5})
    assert main([str(tmp_path / "class"), "--out", str(tmp_path / "marks")]) == 1
    assert "eve.ipynb: not a notebook" in (tmp_path / "marks.html").read_text("utf-8")
    assert rows_of((tmp_path / "marks.csv").read_text("utf-8-sig")) == [["student"]]


@pytest.mark.parametrize("name", ["missing", "empty", "file.ipynb", "x" * 300])
@pytest.mark.parametrize("options", [[], ["--run"]], ids=str)
def test_folder_without_notebooks_is_an_error(tmp_path, name, options, capsys):
    (tmp_path / "empty").mkdir()
    hand_in(tmp_path, **{"file.ipynb": notebook()})
    assert main([str(tmp_path / name), "--out", str(tmp_path / "marks"), *options]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert name[:100] in said
    assert not list(tmp_path.glob("marks*"))


def test_unreadable_class_folder_is_an_error(classroom, monkeypatch, capsys):
    def refusing(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refusing)
    assert main([str(classroom)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("package", ["nbclient", "psutil"])
def test_run_names_missing_packages(classroom, monkeypatch, package, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else name)
    assert main([str(classroom), "--run"]) == 2
    assert capsys.readouterr().err == f"--run needs {package}: pip install {package}\n"


@pytest.mark.parametrize(
    "options",
    [
        ["--language", "xx"],
        ["--level", "0"],
        ["--level", "-1"],
        ["--level", "1.5"],
        ["--level", ""],
        ["--level", "9" * 5000],
        ["--seconds", "0"],
        ["--seconds", "nan"],
        ["--seconds", "inf"],
        ["--seconds", "1e300"],
        ["--seconds", "soon"],
        ["--seconds", "\x1b[31m"],
        ["--unknown"],
        ["--out"],
    ],
    ids=lambda options: " ".join(options)[:20].encode("unicode_escape").decode(),
)
def test_invalid_options_are_reported_in_one_line(classroom, options, capsys):
    with pytest.raises(SystemExit) as end:
        main([str(classroom), *options])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.count("\n") == 1
    assert options[0] in said
    assert said.rstrip("\n").isprintable()


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("options", [["--level", "0", "--language", "zh"], ["--language=zh", "--seconds", "soon"]])
def test_invalid_options_are_reported_in_the_chosen_language(classroom, options, capsys):
    with pytest.raises(SystemExit):
        main([str(classroom), *options])
    assert "，得到的是 " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "written"),
    [
        ("new/folder/marks", "new/folder/marks"),
        ("there", "there/report"),
        ("marks", "marks"),
        ("marks.v2", "marks.v2"),
    ],
)
def test_writes_to_the_requested_path(classroom, tmp_path, out, written):
    tmp_path.joinpath("there").mkdir()
    for _ in range(2):  # over the first ones, too
        assert main([str(classroom), "--out", str(tmp_path / out)]) == 0
    assert all(tmp_path.joinpath(written + ending).is_file() for ending in (".html", ".csv"))


def test_replaces_a_link_instead_of_following_it(classroom, tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "marks.html").symlink_to(tmp_path / "precious")
    assert main([str(classroom), "--out", str(tmp_path / "marks")]) == 0
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "marks.html").is_symlink()


@pytest.mark.parametrize("out", ["file/marks", "folder", "x" * 300])
def test_unwritable_output_is_an_error(classroom, tmp_path, out, capsys):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.html").mkdir()
    assert main([str(classroom), "--out", str(tmp_path / out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_works_in_an_ascii_terminal(tmp_path):
    hand_in(tmp_path, **{"class/王小明.ipynb": notebook(), "class/韩梅梅.ipynb": []})
    report = [sys.executable, "-m", "blocklab_course.gradebook", "class", "--language", "zh", "--out", "报告"]
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    run = subprocess.run(report, cwd=tmp_path, env=os.environ | ascii_only, capture_output=True, timeout=300)
    assert run.returncode == 1
    assert run.stderr.decode("ascii").startswith(r"\u97e9\u6885\u6885.ipynb\uff1a")
    assert "王小明" in (tmp_path / "报告.html").read_text("utf-8")
