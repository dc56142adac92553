"""The class report: grades from saved verdicts, safe output and the command line."""

import copy
import csv
import errno
import io
import itertools
import json
import os
import shlex
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
from blocklab_course.gradebook.submissions import STARTER_CODE
from blocklab_course.lessons.catalog import EXERCISES
from saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "notebooks"
SOLVED = verdict("layer_norm", passed=True)


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
PLACES = {
    "one notebook": ["eve/05.ipynb"] * 4,
    "copies": ["eve/05.ipynb", "eve/05 (1).ipynb", "eve/en/05.ipynb", "eve/zh/05.ipynb"],
    "folders": ["eve/old/05.ipynb", "eve/old/05-Copy1.ipynb", "eve/05.ipynb", "eve/zh/05.ipynb"],
}


@pytest.mark.parametrize("names", PLACES.values(), ids=PLACES)
def test_best_grade_counts(tmp_path, names):
    for n, order in enumerate(itertools.permutations(SAID)):
        folder = hand_in(tmp_path / str(n), **{"bo.ipynb": notebook()})
        for best in SAID:
            cells = defaultdict(list)
            for name, mark in zip(names, order, strict=True):
                cells[name].append(cell(SAID[mark]) if SAID[mark] else cell())
            hand_in(folder, **{name: new_notebook(cells=found) for name, found in cells.items()})
            assert collect(folder).cells["eve"] == ({"swish": best} if best else {})
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
    assert not report.problems


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


@pytest.mark.parametrize("source", [*THE_LESSONS, None])
def test_excluded_verdicts_are_named(tmp_path, source):
    excluded = cell(SOLVED, source=source or "check('layer_norm', mine)")
    if source is None:
        excluded["metadata"]["cellView"] = "form"  # folded, in a notebook without tags
    report = collect(hand_in(tmp_path, **{"eve.ipynb": new_notebook(cells=[cell(), excluded])}))
    assert report.cells == {"eve": {}}
    assert report.problems == {"eve.ipynb": "cell 2: seems to be the lesson's solution"}


# Untrusted text in the table and on the page

WORDS = st.text(st.characters(categories=None), max_size=20) | st.sampled_from(
    [begin + sign + "1+1" for begin in ("", " ", "\t", "\r", "\n", "\ufeff", "\u3000") for sign in "=+-@＝＋－＠−﹢"]
)


TABLES = st.dictionaries(
    WORDS, st.dictionaries(st.sampled_from(["relu", "gelu", "swish"]), WORDS, max_size=3), max_size=4
)


@given(TABLES)
def test_csv_cells_are_never_formulas(cells):
    text = render_csv(Report(cells, {}))
    rows = rows_of(text.encode("utf-8").decode("utf-8"))
    assert len(rows) == len(cells) + 1
    assert len({len(row) for row in rows}) == 1
    for said in itertools.chain.from_iterable(rows):
        assert not unicodedata.normalize("NFKC", said).strip().startswith(("=", "+", "-", "@", "−"))
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in said)


@given(TABLES, WORDS)
def test_html_escapes_untrusted_text(cells, word):
    cells |= {"<script>": {"relu": "<i>", "gelu": 'a"onclick=b+<i>'}}
    html = render_html(Report(cells, {word: "<script>"}, [word + "<b>"])).encode("utf-8").decode("utf-8")
    assert not {"<script", "<b>", "<i>", 'a"onclick'} & {
        part for part in ("<script", "<b>", "<i>", 'a"onclick') if part in html
    }
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in html)


def test_csv_quotes_semicolons(tmp_path):
    classroom = hand_in(tmp_path / "class", **{"a;b,c/02.ipynb": notebook(SOLVED)})
    main([str(classroom), "--out", str(tmp_path / "marks")])
    assert '"a;b,c","✓"' in (tmp_path / "marks.csv").read_text("utf-8-sig")


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


@pytest.mark.parametrize("name", ["missing", "empty", "file.ipynb", "x" * 300, ""])
@pytest.mark.parametrize("options", [[], ["--run"]], ids=str)
def test_folder_without_notebooks_is_an_error(tmp_path, monkeypatch, name, options, capsys):
    monkeypatch.chdir(hand_in(tmp_path, **{"file.ipynb": notebook()}))
    (tmp_path / "empty").mkdir()
    assert main([name and str(tmp_path / name), "--out", str(tmp_path / "marks"), *options]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert name[:100] in said
    assert not list(tmp_path.glob("marks*"))


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


def test_run_without_nbclient_is_an_error(classroom, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "nbclient", None)
    monkeypatch.delitem(sys.modules, "blocklab_course.gradebook.run_notebooks", raising=False)
    assert main([str(classroom), "--run"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "nbclient" in said


@pytest.mark.parametrize("ending", [".html", ".csv"])
def test_full_disk_keeps_the_earlier_report(classroom, tmp_path, monkeypatch, capsys, ending):
    order = [str(classroom), "--out", str(tmp_path / "marks")]
    main(order)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    hand_in(classroom, **{"eve/02.ipynb": notebook(SOLVED)})
    capsys.readouterr()
    really = Path.write_text

    def writing(path, *arguments, **options):
        if path.name == ending:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", writing)
    assert main(order) == 2
    assert "No space left" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert {path.name for path in tmp_path.iterdir()} == {"class", "marks.html", "marks.csv"}


def command(folder: str, *options: str) -> list[str]:
    return [sys.executable, *options, "-m", "blocklab_course.gradebook", folder]


def test_documented_command_imports_nothing_from_the_current_folder(classroom):
    lines = (ROOT / "TEACHERS.md").read_text("utf-8").splitlines()
    line = next(line for line in lines if "-m blocklab_course.gradebook" in line)
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
    assert (classroom / "report.csv").read_text("utf-8-sig").count("\n") == 5


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
