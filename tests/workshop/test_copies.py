"""What a learner's copy of a lesson holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from blocklab.language import LANGUAGES
from workshop.__main__ import main
from workshop.copies import VIEW, as_copied, copy_lessons
from workshop.project import Project
from workshop.sealed import without_sealed

BUILT = Path(__file__).parents[2] / "notebooks"


@pytest.fixture
def project(tmp_path) -> Project:
    """A folder with one lesson, and nothing else that copying needs."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    (tmp_path / "notebooks" / "source" / "00_first.py").touch()
    for language in LANGUAGES:
        (tmp_path / "notebooks" / language).mkdir()
        (tmp_path / "notebooks" / language / "00_first.ipynb").write_text(language, "utf-8")
        (tmp_path / "notebooks" / language / "01_second.ipynb").write_text(language, "utf-8")
    return Project(tmp_path)


def run(project: Project, *arguments: str) -> int:
    return main(["--root", str(project.root), "copies", *arguments])


def test_copies_are_the_lessons_but_for_their_widgets_and_answers(tmp_path):
    for language in LANGUAGES:
        shutil.copytree(BUILT / language, tmp_path / "notebooks" / language)
    copy_lessons(Project(tmp_path))
    for lesson in sorted(BUILT.glob("[ez][nh]/*.ipynb")):
        mine = tmp_path / "my" / lesson.parent.name
        copy, notebook = (nbformat.read(folder / lesson.name, 4) for folder in (mine, lesson.parent))
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                output.get("data", {}).pop(VIEW, None)
        without_sealed(notebook)
        assert copy == notebook


def test_a_notebook_as_copied_is_copied_byte_for_byte():
    glossary = (BUILT / "zh" / "glossary.ipynb").read_bytes()
    assert as_copied(glossary) == glossary


@pytest.mark.parametrize(
    "lesson", [b"", b"<<<<", b"\xff", b"[1]", b'{"cells": null}', b'{"cells": [1]}', b"[" * 100_000]
)
def test_what_is_no_notebook_is_copied_as_it_is(lesson):
    assert as_copied(lesson) == lesson


def test_copies_of_an_earlier_edition_are_counted(project, capsys):
    assert run(project) == 0
    assert "earlier edition" not in capsys.readouterr().out
    for language in LANGUAGES:
        copy = project.root / "my" / language / "00_first.ipynb"
        copy.write_text('{"source": ["from blocklab.lesson import begin\\n", "\\n", "begin(\\"en\\")"]}', "utf-8")
    assert run(project) == 0
    copied, old = capsys.readouterr().out.splitlines()
    assert copied == "my/: 0 copied, 4 left as they are"
    assert old.startswith("my/: 2 of the copies are of an earlier edition")
    assert "make lab FRESH=1" in old


def test_copies_with_an_earlier_number_are_counted_in_one_line_and_never_touched(project, capsys):
    """A lesson keeps its name when its number changes; a copy that bears it twice is not the lesson's."""
    assert run(project) == 0
    assert "number" not in capsys.readouterr().out
    for name in ("en/03_second", "zh/03_second", "zh/00_second", "zh/05_third", "en/01_second-Copy1", "en/scratch"):
        (project.root / "my" / f"{name}.ipynb").write_text("mine", "utf-8")
    (project.root / "my" / "en" / "00_second.ipynb").mkdir()
    (project.root / "my" / "zh" / "01_first.ipynb").symlink_to("nowhere")
    before = {path: path.read_bytes() for path in project.root.glob("my/*/*") if path.is_file()}
    assert run(project) == run(project, "--language", "zh") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0::2] == ["my/: 0 copied, 4 left as they are", "my/：新复制 0 份，4 份保持原样"]
    assert said[1].startswith("my/: 3 of the copies bear an earlier number of their lesson; ")
    assert said[3].startswith("my/：有 3 份副本还是原来的课程编号；")
    assert all("make lab FRESH=1" in line for line in said[1::2])
    assert {path: path.read_bytes() for path in project.root.glob("my/*/*") if path.is_file()} == before


def test_a_lesson_with_a_new_number_is_copied_beside_the_copy_with_the_old_one(project, capsys):
    assert run(project) == 0
    for language in LANGUAGES:
        for folder in ("notebooks", "my"):
            notebook = project.root / folder / language / "01_second.ipynb"
            notebook.rename(notebook.with_name("02_second.ipynb" if folder == "notebooks" else notebook.name))
    capsys.readouterr()
    assert run(project) == 0
    assert "my/: 2 copied, 2 left as they are\nmy/: 2 of the copies bear" in capsys.readouterr().out
    assert {path.name for path in project.root.glob("my/*/*_second.ipynb")} == {"01_second.ipynb", "02_second.ipynb"}
    assert run(project, "--fresh") == run(project) == 0
    assert "number" not in capsys.readouterr().out.splitlines()[-1]
    assert {path.name for path in project.root.glob("my/*/*_second.ipynb")} == {"02_second.ipynb"}


# What stands in the way


def gone(folder):
    shutil.rmtree(folder)


def emptied(folder):
    shutil.rmtree(folder)
    folder.mkdir()


def a_file(folder):
    shutil.rmtree(folder)
    folder.touch()


@pytest.mark.parametrize("damage", [gone, emptied, a_file], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_without_lessons_is_named(project, damage, language, capsys):
    damage(project.root / "notebooks" / language)
    assert run(project) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(f"error: notebooks/{language}: ")


def missing(lesson):
    pass


def device(lesson):
    lesson.symlink_to("/dev/zero")


def dangling(lesson):
    lesson.symlink_to("nowhere")


def huge(lesson):
    with lesson.open("wb") as file:
        file.truncate(2**40)  # takes no space


@pytest.mark.parametrize(
    "put",
    [missing, device, dangling, huge, os.mkfifo, os.mkdir],
    ids=["missing", "device", "link", "huge", "pipe", "folder"],
)
def test_what_is_no_lesson_is_named_and_the_others_are_copied(project, put, capsys):
    lesson = project.notebook("en", "00_first")
    lesson.unlink()
    put(lesson)
    assert run(project) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("error: notebooks/en/00_first.ipynb: ")
    copies = {path.relative_to(project.root).as_posix() for path in project.root.glob("my/*/*")}
    assert copies == {"my/en/01_second.ipynb", "my/zh/00_first.ipynb", "my/zh/01_second.ipynb"}


def test_a_lesson_that_cannot_be_copied_any_more_does_not_bar_the_copy_that_is_there(project):
    assert run(project) == 0
    project.notebook("en", "00_first").unlink()
    assert run(project) == 0


@pytest.mark.parametrize("place", ["my", "my/zh"])
@pytest.mark.parametrize(
    "put", [Path.touch, lambda path: path.symlink_to("nowhere"), os.mkfifo], ids=["file", "link", "pipe"]
)
def test_what_stands_in_place_of_the_copies_is_named_and_kept(project, place, put, capsys):
    path = project.root / place
    path.parent.mkdir(exist_ok=True)
    put(path)
    assert run(project) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(f"error: {place}: is ")
    assert run(project, "--fresh") == 0
    assert os.path.lexists(project.root / place.replace("my", "my-before-1"))
    assert (project.root / "my" / "zh" / "00_first.ipynb").is_file()


def test_a_name_that_a_dead_link_has_is_taken(project):
    (project.root / "my-before-1").symlink_to("nowhere")
    assert run(project) == run(project, "--fresh") == 0
    assert (project.root / "my-before-1").is_symlink()
    assert (project.root / "my-before-2" / "en").is_dir()


def test_fresh_copies_need_no_old_ones(project, capsys):
    assert run(project, "--fresh") == 0
    assert capsys.readouterr().out == "my/: 4 copied, 0 left as they are\n"


def test_fresh_copies_bring_the_guesses_and_the_kept_blocks_along(project, capsys):
    run(project)
    work = {"predictions.jsonl": "{}\n", "blocks/gelu.py": "gelu = abs\n", "blocks/gelu.py.1": "gelu = 3\n"}
    (project.root / "my" / "blocks").mkdir()
    for name, text in work.items():
        (project.root / "my" / name).write_text(text, "utf-8")
    (project.root / "my" / "blocks" / "swish.py").symlink_to(project.root / "pyproject.toml")
    capsys.readouterr()
    assert run(project, "--fresh") == 0
    said = capsys.readouterr().out.splitlines()
    assert "my/blocks: kept blocks taken over: 1" in said
    assert any(line.startswith("my-before-1/blocks/swish.py: a link") for line in said)
    for folder in ("my", "my-before-1"):
        assert {name: (project.root / folder / name).read_text("utf-8") for name in work} == work
    assert not (project.root / "my" / "blocks" / "swish.py").is_symlink()


def test_nothing_is_written_through_a_link_to_nowhere(project):
    (project.root / "my" / "en").mkdir(parents=True)
    (project.root / "my" / "en" / "00_first.ipynb").symlink_to(project.root / "outside")
    run(project)
    assert not (project.root / "outside").exists()


def test_a_copying_that_is_stopped_leaves_no_half(project, monkeypatch):
    real = Path.write_bytes

    def stopped(path, data):
        real(path, data[:1])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", stopped)
        assert run(project) == 130
    assert run(project) == 0
    assert (project.root / "my" / "en" / "00_first.ipynb").read_text("utf-8") == "en"


@pytest.mark.skipif(os.name == "nt", reason="wants flock")
def test_many_fresh_copies_at_once_are_all_whole(project):
    for n in range(40):
        for language in LANGUAGES:
            project.notebook(language, f"{n + 2:02d}_more").write_text(language, "utf-8")
    assert run(project) == 0
    command = [sys.executable, "-m", "workshop", "--root", str(project.root), "copies", "--fresh"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in processes] == [(b"", 0)] * 6
    for folder in [project.root / "my", *(project.root / f"my-before-{n}" for n in range(1, 7))]:
        assert len(list(folder.glob("*/*.ipynb"))) == 84
