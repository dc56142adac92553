"""`check` reports an author's mistakes with their places, without running anything."""

import shutil

import nbformat
import pytest
from demo_lessons import GLOSSARY, edit, make_project

from authoring import notebook
from authoring.__main__ import main
from authoring.lint.links import find_wrong_numbers
from authoring.project import Project

PRINTED = {
    "top-2": "3.0\n",
    "what-a-token-is-3": "42\n",
    "top-3": "a slider\n",
    "top-4": "3 of 3\n",
    "top-5": "error\n",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Both demo lessons and a glossary, as if built, with made-up outputs."""
    project = make_project(tmp_path_factory.mktemp("whole"))
    project.sources.joinpath("glossary.toml").write_text(GLOSSARY, encoding="utf-8")
    assert run(project, "build", "--no-execute") == 0
    for path in project.root.glob("notebooks/*/0*.ipynb"):
        built = notebook.read(path)
        for count, cell in enumerate([cell for cell in built.cells if cell.cell_type == "code"], start=1):
            cell.execution_count = count
            if cell.id in PRINTED:
                cell.outputs = [nbformat.v4.new_output("stream", text=PRINTED[cell.id])]
        notebook.write(built, path)
    assert run(project, "check") == 0
    return project


@pytest.fixture
def project(whole, tmp_path):
    shutil.copytree(whole.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def run(project, *arguments):
    return main(["--root", str(project.root), *arguments])


def found(project, capsys, *numbers):
    capsys.readouterr()
    run(project, "check", *numbers)
    return capsys.readouterr().err


# Exercises


@pytest.mark.parametrize("code", ['check("mean", 4)', 'catch("mean", 4)'])
def test_check_reports_an_untagged_exercise(project, code, capsys):
    edit(project.source("01_means"), "\nanswer\n", f"\n{code}\n")
    wanted = '01_means.py:38 cell what-a-token-is-3: calls check or catch: expected one of the tags "exercise" and'
    assert wanted in found(project, capsys, "01")


def test_check_reports_a_solution_before_its_exercise(project, capsys):
    edit(project.source("01_means"), "answer = 42", 'check("mean", 4)')
    assert "solves 'mean', which no earlier exercise asks for" in found(project, capsys, "01")
    edit(project.source("01_means"), "# %%\nx = [1, 2, 6]", '# %% tags=["exercise"]\ncheck("mean", None)')
    assert "solves" not in found(project, capsys, "01")


# Notebooks


REST = '"metadata": {}, "nbformat": 4, "nbformat_minor": 5'
ERROR = nbformat.v4.new_output("error", ename="NameError", evalue="no x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cell: cell.update(outputs=[]), "cell top-2: expected an output"),
        (lambda cell: cell.update(outputs=[ERROR]), "cell top-2: shows an error"),
        (lambda cell: cell.outputs[0].update(name="stderr"), "cell top-2: wrote to stderr"),
        (lambda cell: cell.outputs[0].update(text="at 0x7f3a5c001d90\n"), "cell top-2: an output holds a memory addr"),
    ],
    ids=["nothing", "error", "stderr", "address"],
)
def test_check_reports_bad_outputs(project, change, message, capsys):
    for language in ("en", "zh"):  # in both, so that comparing them finds nothing
        path = project.notebook(language, "01_means")
        built = notebook.read(path)
        change(next(cell for cell in built.cells if cell.id == "top-2"))
        notebook.write(built, path)
    assert f"notebooks/zh/01_means.ipynb {message}" in found(project, capsys, "01")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<<<<<<< ours\n{}", "01_means.ipynb:1: expected a notebook"),
        ("[]", "01_means.ipynb: expected a notebook"),
        (f'{{"cells": [{{"metadata": {{}}, "id": "a"}}], {REST}}}', "01_means.ipynb: expected a notebook"),
    ],
    ids=["conflict", "list", "cell"],
)
def test_check_reports_invalid_notebooks_and_keeps_them(project, content, message, capsys):
    path = project.notebook("en", "01_means")
    path.write_text(content, encoding="utf-8")
    assert message in found(project, capsys)
    assert run(project, "build", "--no-execute", "02") == 1
    assert path.read_text("utf-8") == content


def test_check_reports_another_notebook_formatting(project, capsys):
    path = project.notebook("en", "01_means")
    path.write_text(path.read_text("utf-8").replace("\n ", "\n  "), encoding="utf-8")
    assert "notebooks/en/01_means.ipynb: expected the formatting of the build" in found(project, capsys, "01")


def test_build_removes_notebooks_without_source_but_not_copies(project, capsys):
    copy = project.notebook("en", "02_pictures-Copy1")
    shutil.copy(project.notebook("en", "02_pictures"), copy)
    project.source("02_pictures").unlink()
    edit(project.source("01_means"), ". See [the next lesson](../en/02_pictures.ipynb)", "")
    edit(project.source("01_means"), "。见[下一课](../zh/02_pictures.ipynb)", "")
    assert "notebooks/zh/02_pictures.ipynb: has no source; run: build" in found(project, capsys)
    assert run(project, "build", "--no-execute") == 0
    assert capsys.readouterr().out.count("removed ") == 2
    assert copy.exists()
    assert not project.notebook("en", "02_pictures").exists()
    assert "02_pictures" not in project.notebook("en", "01_means").read_text("utf-8")
    assert "02_pictures" not in project.readme("en").read_text("utf-8")
    assert "no source" not in found(project, capsys)


# Files


def test_check_reports_the_line_that_is_not_utf8(project, capsys):
    path = project.source("01_means")
    path.write_bytes(path.read_text("utf-8").encode("gbk"))
    assert "notebooks/source/01_means.py:10: expected UTF-8" in found(project, capsys)


def test_duplicate_lesson_number_is_rejected(project, capsys):
    shutil.copyfile(project.source("01_means"), project.source("01_other"))
    assert run(project, "build", "--no-execute") == 1
    wanted = "notebooks/source/01_other.py: has the number 01, as 01_means.py has"
    assert wanted in capsys.readouterr().err


# Links


DEAD = ["nowhere.ipynb", "../../pic/nowhere.png", "nowhere.ipynb#top", "a%20b.md"]
ALIVE = ["#top", "https://example.org/nowhere.ipynb", "mailto:a@b.cc", "02_pictures.ipynb#top", "../../README.md"]


@pytest.mark.parametrize("address", DEAD)
def test_check_reports_dead_links(project, address, capsys):
    edit(project.readme("en"), "The end.", f"[The end]({address}).")
    edit(project.source("01_means"), "one **token**", f"[one]({address}) **token**")
    shown = found(project, capsys)
    assert f"notebooks/source/01_means.py:19 cell what-a-token-is-1: en: dead link to {address}" in shown
    assert f"README.md: dead link to {address}" in shown


@pytest.mark.parametrize("address", ALIVE)
def test_check_accepts_live_and_external_links(project, address, capsys):
    edit(project.source("01_means"), "one **token**", f"[one]({address}) **token**")
    edit(project.source("01_means"), "一个**词元**", f"[一个]({address})**词元**")
    assert "dead link" not in found(project, capsys)


@pytest.mark.parametrize(
    "link",
    [
        "[lesson 07](08_gates.ipynb)",
        "[07](08_gates.ipynb#top)",
        "[07 Positions](../en/08_gates.ipynb)",
        "lesson 07 ([positions](08_gates.ipynb))",
        "In lesson 07, [positions](https://example.org/blob/main/notebooks/en/08_gates.ipynb)",
        "[第 07 课](08_gates.ipynb)",
        "第 07 课（[位置](08_gates.ipynb)）",
    ],
)
def test_link_names_the_number_of_its_target(link):
    [problem] = find_wrong_numbers(f"Some words. {link}.")
    assert problem.endswith("to name lesson 08, got 07")
    assert [*find_wrong_numbers(link.replace("07", "08"))] == []


def test_other_numbers_beside_a_link_are_no_lessons():
    text = "by 12% ([gates](08_gates.ipynb)), [25 minutes](25.html), lesson 07 says how. Then [gates](08_gates.ipynb)"
    text += " or [lessons 07 and 08](08_gates.ipynb)"
    assert [*find_wrong_numbers(text)] == []


def test_check_reports_a_link_with_another_number(project, capsys):
    edit(project.source("01_means"), "[the next lesson]", "[lesson 03]")
    assert "en: expected the link to ../en/02_pictures.ipynb to name lesson 02, got 03" in found(project, capsys)
