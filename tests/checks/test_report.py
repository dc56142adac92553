"""The class report reads what checks saved, and nothing else."""

import csv
import io
import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from blocklab import language
from blocklab.checks import EXERCISES
from blocklab.checks.__main__ import main
from blocklab.checks.report import read
from blocklab.checks.report_pages import as_csv, as_html
from blocklab.checks.verdict import MIME


@pytest.fixture(autouse=True)
def _english_again():
    yield
    language.choose("en")


def verdict(exercise, mistake=None, passed=False):
    return {"exercise": exercise, "passed": passed, "mistake": mistake, "advice": [], "version": "0.1.0"}


def notebook(*verdicts, source="1 / 0"):
    outputs = [[new_output("execute_result", {MIME: data, "text/plain": "…"})] for data in verdicts]
    cells = [new_code_cell(source, outputs=output) for output in outputs]
    return new_notebook(cells=[*cells, new_code_cell("print(1)", outputs=[new_output("stream", text="1")])])


@pytest.fixture
def classroom(tmp_path):
    folder = tmp_path / "class"
    notebooks = {
        "ada/02.ipynb": notebook(verdict("one_mean_axes", passed=True), verdict("layer_norm", "unbiased-variance")),
        "ada/05.ipynb": notebook(verdict("layer_norm", "eps-outside-root+unbiased-variance")),
        "bo/02.ipynb": notebook(verdict("layer_norm", "unbiased-variance"), verdict("one_mean_axes")),
        "chen/02.ipynb": notebook(verdict("layer_norm", "not-written-yet"), verdict("one_mean_axes", passed=True)),
        "dora/02.ipynb": notebook(),
    }
    for name, content in notebooks.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(content, path)
    return folder


def test_the_last_verdict_of_each_exercise_counts(classroom):
    report = read(classroom)
    assert report.cells == {
        "ada": {"one_mean_axes": "✓", "layer_norm": "eps-outside-root+unbiased-variance"},
        "bo": {"layer_norm": "unbiased-variance", "one_mean_axes": "?"},
        "chen": {"layer_norm": "…", "one_mean_axes": "✓"},
        "dora": {},
    }
    assert report.exercises == ["one_mean_axes", "layer_norm"]


def test_what_the_class_shares_counts_each_mistake(classroom):
    assert read(classroom).shared() == [
        ("layer_norm", "unbiased-variance", 2),
        ("layer_norm", "eps-outside-root", 1),
        ("one_mean_axes", "?", 1),
    ]


@pytest.mark.parametrize("chosen", language.LANGUAGES)
def test_two_files_are_written(classroom, tmp_path, chosen, capsys):
    assert main(["report", str(classroom), "--out", str(tmp_path / "marks"), "--language", chosen]) == 0
    rows = list(csv.reader(io.StringIO((tmp_path / "marks.csv").read_text("utf-8-sig"))))
    assert rows[0][1:] == ["one_mean_axes", "layer_norm"]
    assert rows[1] == ["ada", "✓", "eps-outside-root+unbiased-variance"]
    html = (tmp_path / "marks.html").read_text("utf-8")
    hint = EXERCISES["layer_norm"].mistake("unbiased-variance").hint
    assert getattr(hint, chosen).split("`")[0][:20] in html
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_nothing_of_the_students_runs_without_being_asked(classroom, tmp_path):
    flag = tmp_path / "ran"
    evil = notebook(verdict("layer_norm"), source=f"open({str(flag)!r}, 'w')")
    nbformat.write(evil, classroom / "ada" / "evil.ipynb")
    before = {path: path.read_bytes() for path in classroom.rglob("*.ipynb")}
    main(["report", str(classroom), "--out", str(tmp_path / "marks")])
    assert not flag.exists()
    assert before == {path: path.read_bytes() for path in classroom.rglob("*.ipynb")}


def test_run_runs_copies(tmp_path):
    source = 'from blocklab.checks import check\ncheck("one_mean_axes", (0,))'
    folder = tmp_path / "class"
    folder.mkdir()
    path = folder / "ada.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0"), new_code_cell(source)]), path)
    before = path.read_bytes()
    assert main(["report", str(folder), "--out", str(tmp_path / "marks"), "--run"]) == 0
    assert "ada,batch-axis-only" in (tmp_path / "marks.csv").read_text("utf-8-sig")
    assert path.read_bytes() == before


def test_a_broken_notebook_is_named_and_the_others_are_read(classroom, tmp_path, capsys):
    (classroom / "ada" / "broken.ipynb").write_text("{not json")
    (classroom / "bo" / "odd.ipynb").write_text(json.dumps({"cells": [{"outputs": [{"data": {MIME: {"a": 1}}}]}]}))
    assert main(["report", str(classroom), "--out", str(tmp_path / "marks")]) == 1
    assert read(classroom).faults.keys() == {"ada/broken.ipynb", "bo/odd.ipynb"}
    assert "ada/broken.ipynb" in capsys.readouterr().err
    assert read(classroom).cells["chen"]
    (tmp_path / "alone.ipynb").write_text("{")
    assert "alone" not in read(tmp_path).cells


def test_checkpoints_are_left_out(classroom):
    hidden = classroom / "ada" / ".ipynb_checkpoints" / "02-checkpoint.ipynb"
    hidden.parent.mkdir()
    nbformat.write(notebook(verdict("rms_norm", "old")), hidden)
    assert "rms_norm" not in read(classroom).exercises


def test_names_are_escaped_and_are_no_formulas(tmp_path):
    nbformat.write(notebook(verdict("layer_norm", "<b>x</b>")), tmp_path / "=1+1<i>.ipynb")
    report = read(tmp_path)
    assert "<i>" not in as_html(report)
    assert "<b>x" not in as_html(report)
    assert "'=1+1" in as_csv(report)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_notebooks_is_refused(tmp_path, name, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["report", str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err
