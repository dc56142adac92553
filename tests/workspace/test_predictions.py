"""Predictions are noted in the learner's folder; the first answer of a panel counts; nothing that lies there harms."""

import json
import os
import sys
from pathlib import Path

import pytest

from blocklab.my_files import PREDICTIONS
from blocklab_course import begin
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.norm_axes import poke_one_number
from blocklab_course.panel.prediction import SKIPPED, report_to
from blocklab_course.workspace.predictions import MOST, predictions, record

CLOCKS = "blocklab_course.lessons.positional_encoding.clocks"
CONTOURS = "blocklab_course.lessons.activations_and_gates.contours"


@pytest.fixture
def begun(lesson_undone):  # noqa: ARG001
    """`begin`, taken back afterwards; then nobody listens to guesses."""
    yield begin
    report_to(None)


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / PREDICTIONS).read_text("utf-8").splitlines()]


def test_a_guess_at_a_lessons_panel_is_noted_once_whatever_the_language(mine, begun, monkeypatch):
    begun("en")
    poke_one_number.panel().answer(1)
    assert lines(mine) == [{"lesson": "norm_axes", "panel": "poke_one_number", "chose": "9", "right": False}]
    assert predictions() == (1, 0)
    monkeypatch.chdir(mine / "zh")
    begun("zh")
    poke_one_number.panel().answer(2)
    assert len(lines(mine)) == 1
    assert predictions() == (1, 0)


def test_what_was_skipped_is_no_prediction_and_stays_skipped(mine, begun):
    begun("en")
    shown = poke_one_number.panel()
    shown.answer(SKIPPED)
    shown.answer(2)
    poke_one_number.panel().answer(2)
    assert lines(mine) == [{"lesson": "norm_axes", "panel": "poke_one_number", "chose": None, "right": None}]
    assert predictions() == (0, 0)


def test_predictions_are_counted_over_lessons(mine):
    assert predictions() == (0, 0)
    record(CLOCKS, "44", True)
    record(CONTOURS, "only a gate", True)
    record(CLOCKS.replace("clocks", "position_table"), "1", False)
    assert predictions() == (3, 2)
    assert {line["lesson"] for line in lines(mine)} <= {lesson.room for lesson in LESSONS}


def test_a_guess_stays_when_its_lesson_gets_another_number(mine):
    """It is noted under the lesson's name, and that of lesson 12 has not changed since it was 11."""
    kept = '{"lesson": "transformer_layers", "panel": "pre_and_post", "chose": "a", "right": true}\n'
    (mine / PREDICTIONS).write_text(kept, "utf-8")
    record("blocklab_course.lessons.transformer_layers.pre_and_post", "b", False)
    assert (mine / PREDICTIONS).read_text("utf-8") == kept
    assert predictions() == (1, 1)


@pytest.mark.parametrize("picture", ["__main__", "", "blocklab_course.panel.live_panels", "blocklab.lessonsother.x"])
def test_a_panel_of_the_learners_own_is_not_noted(mine, picture):
    record(picture, "a", True)
    assert not (mine / PREDICTIONS).exists()


@pytest.mark.parametrize("place", ["notebooks/en", "my-before-1/en", "my", "my/other", "en", "my/en/deeper"])
def test_elsewhere_nothing_is_written(tmp_path, monkeypatch, place):
    (tmp_path / place).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / place)
    record(CLOCKS, "44", True)
    assert predictions() == (0, 0)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_on_a_hub_the_folder_is_that_of_the_lessons(tmp_path, monkeypatch):
    """There `git pull` brings each student the whole repository, and nobody makes copies in `my/`."""
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "zh")
    monkeypatch.setenv("JUPYTERHUB_USER", "eve")
    record(CLOCKS, "44", True)
    assert predictions() == (1, 1)
    assert [path.name for path in (tmp_path / "notebooks").iterdir() if path.is_file()] == [PREDICTIONS]


def test_on_colab_the_folder_is_made_in_that_of_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert predictions() == (0, 0)
    assert list(tmp_path.iterdir()) == []
    record(CLOCKS, "44", True)
    assert [line["panel"] for line in lines(tmp_path / "my")] == ["clocks"]
    assert predictions() == (1, 1)


GOOD = json.dumps({"lesson": "positional_encoding", "panel": "clocks", "chose": "44", "right": True})
DAMAGED = {
    "a torn line before": '{"lesson": "positional_enc\n' + GOOD + "\n",
    "a torn line at the end": GOOD + '\n{"lesson": "activations',
    "no line end": GOOD,
    "empty lines": f"\n\n{GOOD}\r\n\n",
    "other things": f'[]\n3\nnull\n"right"\nNaN\n{{"lesson": 3, "panel": [], "right": true}}\n{GOOD}\n',
    "another kind of right": GOOD.replace("true", "1").replace("clocks", "x") + f"\n{GOOD}\n",
    "nested deeply": "[" * 30_000 + f"\n{GOOD}\n",
    "a long number": "9" * 10_000 + f"\n{GOOD}\n",
    "twice": f"{GOOD}\n{GOOD.replace('true', 'false')}\n",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_of_a_damaged_file_the_good_lines_count_and_new_ones_are_added(mine, content):
    (mine / PREDICTIONS).write_bytes(content.encode())
    assert predictions() == (1, 1)
    record(CLOCKS, "1", False)
    assert predictions() == (1, 1)
    record(CONTOURS, "either one", False)
    assert predictions() == (2, 1)


def test_bytes_that_are_no_text_are_passed_over(mine):
    (mine / PREDICTIONS).write_bytes(b"\xff\xfe\x00\n" + GOOD.encode() + b"\n\x80")
    record(CONTOURS, "only a gate", True)
    assert predictions() == (2, 2)


def test_a_file_that_is_too_large_is_read_in_part_and_not_written(mine):
    content = (GOOD + "\n").encode() + b"x" * MOST
    (mine / PREDICTIONS).write_bytes(content)
    record(CONTOURS, "only a gate", True)
    assert predictions() == (1, 1)
    assert (mine / PREDICTIONS).read_bytes() == content


def folder_in_its_place(file):
    file.mkdir()


def pipe_in_its_place(file):
    os.mkfifo(file)


def link_that_leads_nowhere(file):
    file.symlink_to(file.parent / "gone" / "away")


@pytest.mark.parametrize("put", [folder_in_its_place, pipe_in_its_place, link_that_leads_nowhere])
def test_what_is_no_file_is_left_alone(mine, put):
    if put is pipe_in_its_place and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes that are files on this system")
    put(mine / PREDICTIONS)
    record(CLOCKS, "44", True)
    assert predictions() == (0, 0)


def test_where_nothing_can_be_written_a_guess_is_judged_all_the_same(mine, begun, monkeypatch):
    def refused(*_arguments, **_options):
        raise PermissionError("read-only")

    begun("en")
    monkeypatch.setattr(Path, "open", refused)  # the modes of a folder do not stop root
    shown = poke_one_number.panel()
    shown.answer(2)
    assert shown.guess.choice == 2
    assert not (mine / PREDICTIONS).exists()
    assert predictions() == (0, 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a folder that a process works in")
def test_a_folder_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "my" / "en"
    gone.mkdir(parents=True)
    monkeypatch.chdir(gone)
    gone.rmdir()
    record(CLOCKS, "44", True)
    assert predictions() == (0, 0)
    monkeypatch.chdir(tmp_path)
