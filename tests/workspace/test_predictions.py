"""Predictions are saved in the learner's folder; the first answer counts; damaged lines are ignored."""

import json
import sys
from pathlib import Path

import pytest

from blocklab_course import begin
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.norm_axes import poke_one_number
from blocklab_course.panel.prediction import SKIPPED, set_listener
from blocklab_course.workspace import predictions as module
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from blocklab_course.workspace.predictions import count_predictions, record

CLOCKS = "blocklab_course.lessons.positional_encoding.clocks"
CONTOURS = "blocklab_course.lessons.activations_and_gates.contours"


@pytest.fixture
def begun(lesson_undone):  # noqa: ARG001
    """`begin`, undone afterwards."""
    yield begin
    set_listener(None)


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / PREDICTIONS_FILE).read_text("utf-8").splitlines()]


def test_first_answer_counts_in_both_languages(mine, begun, monkeypatch):
    begun("en")
    poke_one_number.panel().answer(1)
    assert lines(mine) == [{"lesson": "norm_axes", "panel": "poke_one_number", "chose": "9", "right": False}]
    assert count_predictions() == (1, 0)
    monkeypatch.chdir(mine / "zh")
    begun("zh")
    poke_one_number.panel().answer(2)
    assert len(lines(mine)) == 1
    assert count_predictions() == (1, 0)


def test_skipped_question_stays_skipped_and_is_not_counted(mine, begun):
    begun("en")
    shown = poke_one_number.panel()
    shown.answer(SKIPPED)
    shown.answer(2)
    poke_one_number.panel().answer(2)
    assert lines(mine) == [{"lesson": "norm_axes", "panel": "poke_one_number", "chose": None, "right": None}]
    assert count_predictions() == (0, 0)


def test_counts_predictions_of_all_lessons(mine):
    assert count_predictions() == (0, 0)
    record(CLOCKS, "44", True)
    record(CONTOURS, "only a gate", True)
    record(CLOCKS.replace("clocks", "position_table"), "1", False)
    assert count_predictions() == (3, 2)
    assert {line["lesson"] for line in lines(mine)} <= {lesson.package for lesson in LESSONS}


def test_answers_survive_renumbering(mine):
    """The file contains the name of a lesson without its number."""
    line = '{"lesson": "transformer_layers", "panel": "pre_and_post", "chose": "a", "right": true}\n'
    (mine / PREDICTIONS_FILE).write_text(line, "utf-8")
    record("blocklab_course.lessons.transformer_layers.pre_and_post", "b", False)
    assert (mine / PREDICTIONS_FILE).read_text("utf-8") == line
    assert count_predictions() == (1, 1)


@pytest.mark.parametrize("picture", ["__main__", "", "blocklab_course.panel.live_panels", "blocklab.lessonsother.x"])
def test_does_not_record_learners_own_panels(mine, picture):
    record(picture, "a", True)
    assert not (mine / PREDICTIONS_FILE).exists()


def test_colab_creates_folder_in_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert count_predictions() == (0, 0)
    assert list(tmp_path.iterdir()) == []
    record(CLOCKS, "44", True)
    assert [line["panel"] for line in lines(tmp_path / "my")] == ["clocks"]
    assert count_predictions() == (1, 1)


GOOD = json.dumps({"lesson": "positional_encoding", "panel": "clocks", "chose": "44", "right": True})
DAMAGED = {
    "incomplete first line": '{"lesson": "positional_enc\n' + GOOD + "\n",
    "incomplete last line": GOOD + '\n{"lesson": "activations',
    "no line end": GOOD,
    "other things": f'[]\n3\nnull\n"right"\nNaN\n{{"lesson": 3, "panel": [], "right": true}}\n{GOOD}\n',
    "another kind of right": GOOD.replace("true", "1").replace("clocks", "x") + f"\n{GOOD}\n",
    "twice": f"{GOOD}\n{GOOD.replace('true', 'false')}\n",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_ignores_damaged_lines_and_appends_new_ones(mine, content):
    (mine / PREDICTIONS_FILE).write_bytes(content.encode())
    assert count_predictions() == (1, 1)
    record(CLOCKS, "1", False)
    assert count_predictions() == (1, 1)
    record(CONTOURS, "either one", False)
    assert count_predictions() == (2, 1)


def test_judges_answer_even_if_it_cannot_be_saved(mine, begun, monkeypatch):
    def refused(*_arguments, **_options):
        raise PermissionError

    begun("en")
    monkeypatch.setattr(module, "append", refused)  # root may write to read-only folders
    shown = poke_one_number.panel()
    shown.answer(2)
    assert shown.prediction.choice == 2
    assert not (mine / PREDICTIONS_FILE).exists()
    assert count_predictions() == (0, 0)


def test_counts_and_notes_predictions_in_a_long_file(mine):
    made_up = (GOOD.replace("clocks", f"panel {number}") for number in range(2_000))
    (mine / PREDICTIONS_FILE).write_text("\n".join(made_up) + "\n", "utf-8")
    record(CONTOURS, "either one", False)
    assert (mine / PREDICTIONS_FILE).stat().st_size > 150_000
    assert count_predictions() == (2_001, 2_000)


@pytest.mark.parametrize("content", [None, GOOD])
def test_does_not_follow_a_link(mine, tmp_path, content):
    target = tmp_path / "target"
    if content:
        target.write_text(content, "utf-8")
    (mine / PREDICTIONS_FILE).symlink_to(target)
    record(CONTOURS, "either one", False)
    assert count_predictions() == (0, 0)
    assert (target.read_text("utf-8") if target.exists() else None) == content
