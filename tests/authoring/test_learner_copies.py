"""Copies of the lessons for a learner, and the answers in them when the copies are renewed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbformat.sign import NotebookNotary

from authoring.__main__ import main
from authoring.lab_workspace import CONTENTS, FOLDER, WORKSPACE
from authoring.learner_copies import PNG, VIEW, carry_over, prepare_copy
from authoring.project import Project
from blocklab_course.i18n import LANGUAGES

BUILT = Path(__file__).parents[2] / "notebooks"
START = "def my_mean(x):\n    return ...\n\ncheck('mean', my_mean)"
ANSWER = START.replace("...", "x.mean()")


def notebook(*cells: tuple[str, str, str]) -> dict:
    """A notebook of code cells: (id, tag, source)."""
    cells = [
        {"id": id, "cell_type": "code", "metadata": {"tags": [tag]}, "source": source.splitlines(True),
         "outputs": [], "execution_count": None}
        for id, tag, source in cells
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def project(tmp_path) -> Project:
    """A repository with two small lessons, built."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    for language in LANGUAGES:
        (tmp_path / "notebooks" / language).mkdir()
        for stem in ("00_first", "01_second"):
            write(tmp_path / "notebooks" / language / f"{stem}.ipynb", notebook(("one", "exercise", START)))
    return Project(tmp_path)


def write(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content), "utf-8")


def run(project: Project, *arguments: str) -> int:
    return main(["--root", str(project.root), "copies", *arguments])


def source(path: Path, number: int = 0) -> str:
    return nbformat.read(path, 4).cells[number].source


@pytest.fixture(autouse=True)
def jupyter_data(tmp_path_factory, monkeypatch):
    """A folder for the signatures of trusted notebooks, in place of the user's."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path_factory.mktemp("jupyter")))


@pytest.mark.parametrize(
    "lesson", sorted(BUILT.glob("[ez][nh]/*.ipynb")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_copy_shows_pictures_and_nothing_else(lesson):
    built, copy = nbformat.read(lesson, 4), nbformat.reads(prepare_copy(lesson.read_bytes()).decode("utf-8"), 4)
    assert [cell.source for cell in copy.cells] == [cell.source for cell in built.cells]
    for before, after in zip(built.cells, copy.cells, strict=True):
        if after.cell_type == "code":
            assert after.execution_count is None
            assert "sealed" not in after.metadata.get("blocklab", ())
            pictures, left = (
                [o.data[PNG] for o in cell.outputs if PNG in o.get("data", ())] for cell in (before, after)
            )
            assert left == pictures
            assert all(VIEW not in output.data for output in after.outputs)
            assert not {"exercise", "solution"} & {*after.metadata.get("tags", ())} or after.outputs == []
    everything = "".join(str(cell.get("outputs")) for cell in copy.cells)
    assert "stream" not in everything
    assert "verdict" not in everything


def picture(**around: str) -> dict:
    metadata = {PNG: {"width": 3}} | ({"blocklab": around} if around else {})
    return {"output_type": "display_data", "data": {PNG: "PNG", "text/plain": "line", VIEW: {}}, "metadata": metadata}


def test_copy_of_a_panel_has_its_guess_above_and_how_to_begin_below():
    lesson = notebook(("panel", "panel", "panel()"))
    lesson["cells"][0]["outputs"] = [
        picture(above="<b>How many?</b>", below="Run this cell"),
        picture(above="", below=""),
    ]
    outputs = json.loads(prepare_copy(json.dumps(lesson).encode()))["cells"][0]["outputs"]
    assert [output["data"].get("text/html", "picture") for output in outputs] == [
        "<b>How many?</b>",
        "picture",
        "Run this cell",
        "picture",
    ]
    assert outputs[1]["metadata"] == {PNG: {"width": 3}}


def test_copy_keeps_a_question_that_waits_for_its_answer_and_no_other_widget():
    lesson = notebook(("question", "guess", "predict()"), ("progress", "slow", "progress_bar()"))
    question, bar = ({"data": {VIEW: {}, "text/plain": "…"}, "metadata": {}} for _ in range(2))
    question["data"]["text/html"] = "How many?"
    for cell, output in zip(lesson["cells"], (question, bar), strict=True):
        cell["outputs"] = [{"output_type": "display_data", **output}]
    asked, waited = (cell["outputs"] for cell in json.loads(prepare_copy(json.dumps(lesson).encode()))["cells"])
    assert [output["data"] for output in asked] == [{"text/plain": "…", "text/html": "How many?"}]
    assert waited == []


def test_copies_are_trusted_and_name_the_kernel(project):
    run(project)
    write(project.root / "my" / "zh" / "01_second.ipynb", notebook(("one", "exercise", ANSWER)))
    assert run(project, "--fresh") == 0
    for lesson in project.root.glob("my/*/*.ipynb"):
        copy = nbformat.read(lesson, 4)
        assert NotebookNotary().check_signature(copy)
        assert copy.metadata.language_info == IPythonKernel.language_info
        assert copy.metadata.kernelspec.name == "python3"
    old = nbformat.read(project.root / "my-before-1" / "zh" / "01_second.ipynb", 4)
    assert not NotebookNotary().check_signature(old)


def test_copies_open_with_the_contents_and_keep_the_learners_layout(project):
    assert run(project) == 0
    workspace = project.root / "my" / WORKSPACE
    assert json.loads(workspace.read_text("utf-8"))["data"]["layout-restorer:data"]["left"]["current"] == CONTENTS
    workspace.write_text("mine", "utf-8")
    assert run(project) == 0
    assert workspace.read_text("utf-8") == "mine"
    makefile = Path(__file__).parents[2].joinpath("Makefile").read_text("utf-8")
    assert f"--LabApp.workspaces_dir=my/{FOLDER}" in makefile


def test_notebook_without_widgets_is_copied_byte_for_byte():
    glossary = (BUILT / "zh" / "glossary.ipynb").read_bytes()
    assert prepare_copy(glossary) == glossary


def test_copies_keep_existing_files_and_add_new_lessons(project, capsys):
    assert run(project) == 0
    mine = project.root / "my" / "zh" / "01_second.ipynb"
    mine.write_text("my answer", "utf-8")
    shutil.copy(project.notebook("zh", "00_first"), project.notebook("zh", "02_third"))
    assert run(project) == 0
    assert mine.read_text("utf-8") == "my answer"
    assert (project.root / "my" / "zh" / "02_third.ipynb").is_file()
    assert capsys.readouterr().out.splitlines()[-1] == "my/: 1 copied, 4 left as they are"


def test_copies_reports_a_language_without_lessons(project, capsys):
    shutil.rmtree(project.notebooks("zh"))
    assert run(project) == 1
    assert capsys.readouterr().err == "error: notebooks/zh: no lessons found\n"


def test_copies_import_no_build_tools():
    program = "import sys, authoring.__main__, authoring.learner_copies; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"nbclient", "nbformat", "markdown_it", "torch"} & set(loaded)


# Fresh copies


def test_fresh_copies_have_the_answers_and_keep_the_old_copies(project, capsys):
    assert run(project) == 0
    mine = project.root / "my" / "en" / "01_second.ipynb"
    write(mine, notebook(("one", "exercise", ANSWER)))
    old = mine.read_bytes()
    write(project.notebook("en", "01_second"), notebook(("new", "solution", "1"), ("one", "exercise", START)))
    assert run(project, "--fresh") == 0
    assert source(mine, 1) == ANSWER
    assert source(project.root / "my" / "zh" / "01_second.ipynb") == START
    assert (project.root / "my-before-1" / "en" / "01_second.ipynb").read_bytes() == old
    assert capsys.readouterr().out.splitlines()[1:] == [
        "kept your old copies in my-before-1/",
        "my/en/01_second.ipynb: answers taken over: 1",
        "my/: 4 copied, 0 left as they are",
    ]
    assert run(project, "--fresh", "--language", "zh") == 0
    assert source(mine, 1) == ANSWER
    assert "my/en/01_second.ipynb：带过来 1 个答案" in capsys.readouterr().out
    assert (project.root / "my-before-2").is_dir()


def test_every_exercise_carries_its_answer_over():
    for path in sorted(BUILT.glob("[ez][nh]/*.ipynb")):
        old, new = json.loads(path.read_bytes()), json.loads(path.read_bytes())
        asked = [cell for cell in old["cells"] if "exercise" in cell["metadata"].get("tags", ())]
        for cell in asked:
            cell["source"] = [*cell["source"], "\n# mine"]
        assert carry_over(old, new) == (len(asked), [])
        assert sum("\n# mine" in cell["source"] for cell in new["cells"]) == len(asked)


def test_answers_to_changed_exercises_stay_in_the_old_copy(project, capsys):
    assert run(project) == 0
    mine = project.root / "my" / "en" / "01_second.ipynb"
    write(mine, notebook(("one", "exercise", ANSWER.replace("'mean'", "'sum'"))))
    assert run(project, "--fresh") == 0
    assert source(mine) == START
    assert (
        "my-before-1/en/01_second.ipynb: answers to exercises that have changed stay here: sum"
        in capsys.readouterr().out
    )


def test_answers_follow_their_exercises_to_other_cells():
    other = ANSWER.replace("'mean'", "'sum'")
    nameless = "my_sum = 1"
    old = notebook(("one", "exercise", other), ("two", "exercise", ANSWER), ("three", "exercise", nameless))
    new = notebook(("one", "exercise", START), ("three", "exercise", "my_sum = None"))
    assert carry_over(old, new) == (2, ["sum"])
    assert ["".join(cell["source"]) for cell in new["cells"]] == [ANSWER, nameless]


def test_copies_of_renumbered_lessons_get_the_new_number(project, capsys):
    assert run(project) == 0
    mine = project.root / "my" / "en" / "01_second.ipynb"
    write(mine, notebook(("one", "exercise", ANSWER)))
    for language in ("en", "zh"):
        project.notebook(language, "01_second").rename(project.notebook(language, "07_second"))
    assert run(project) == 0
    assert not mine.exists()
    assert source(project.root / "my" / "en" / "07_second.ipynb") == ANSWER
    assert "my/en/01_second.ipynb: renamed to 07_second.ipynb, its new number" in capsys.readouterr().out.splitlines()


def test_unreadable_old_copy_is_reported_and_kept(project, capsys):
    assert run(project) == 0
    (project.root / "my" / "en" / "01_second.ipynb").write_text("{", "utf-8")
    assert run(project, "--fresh") == 0
    assert "my-before-1/en/01_second.ipynb: cannot be read; its answers stay here" in capsys.readouterr().out
    assert (project.root / "my-before-1" / "en" / "01_second.ipynb").read_text("utf-8") == "{"


def test_fresh_copies_keep_predictions_and_solutions(project):
    run(project)
    work = {"predictions.jsonl": "{}\n", "blocks/gelu.py": "gelu = abs\n", "blocks/gelu.py.1": "gelu = 3\n"}
    (project.root / "my" / "blocks").mkdir()
    for name, text in work.items():
        (project.root / "my" / name).write_text(text, "utf-8")
    assert run(project, "--fresh") == 0
    for folder in ("my", "my-before-1"):
        assert {name: (project.root / folder / name).read_text("utf-8") for name in work} == work


def test_interrupted_fresh_copy_changes_nothing(project, monkeypatch):
    assert run(project) == 0
    real = Path.open

    def stopped(path, mode="r", *options, **named):
        if mode != "xb":
            return real(path, mode, *options, **named)
        path.touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", stopped)
        assert run(project, "--fresh") == 130
    assert sorted(path.name for path in project.root.glob("my*")) == ["my"]
    assert source(project.root / "my" / "en" / "00_first.ipynb") == START
