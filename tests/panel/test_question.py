"""Questions without a figure: `predict`, with options or a number, in widgets and as saved in a notebook."""

import json
from base64 import b64decode

import pytest

from blocklab_course import begin, i18n, predict
from blocklab_course.i18n import Text
from blocklab_course.panel import backend
from blocklab_course.panel.live_view import LiveQuestion
from blocklab_course.panel.prediction import SKIPPED, set_listener
from blocklab_course.panel.view import VIEW, walk
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from blocklab_course.workspace.predictions import count_predictions

WHY = Text(en="Each square is added.", zh="每个平方都要加上去。")
GROWS, STAYS = Text(en="it grows", zh="变大"), Text(en="it stays", zh="不变")
ASKED = Text(en="What happens to the sum?", zh="和会怎么变？")


@pytest.fixture
def heard():
    """The calls of the listener."""
    told = []
    set_listener(lambda *said: told.append(said))
    yield told
    set_listener(None)


@pytest.fixture
def live():
    backend.set_backend("live")
    yield
    backend.set_backend("plain")


def choices():
    return predict("sum_of_squares", {GROWS: True, STAYS: False}, why=WHY, question=ASKED)


def number():
    return predict("half_life", 6.6, within=0.1, why="0.9 ** 6.6 is one half.")


@pytest.mark.parametrize(
    ("ask", "choice", "chose", "right"),
    [
        (choices, 0, "it grows", True),
        (choices, 1, "it stays", False),
        (choices, SKIPPED, None, None),
        (number, "6.7", "6.7", True),
        (number, "6.75", "6.75", False),
        (number, "-1", "-1", False),
        (number, SKIPPED, None, None),
    ],
)
def test_first_answer_is_judged_and_reported(heard, ask, choice, chose, right):
    question = ask()
    for invalid in (2, -2, None, True, 0.0, "", "a", "nan", "1e999", "7" * 60) if ask is choices else (0, 1, "", "inf"):
        question.answer(invalid)
    assert heard == []
    question.answer(choice)
    question.answer(0 if ask is choices else "6.6")
    assert heard == [(f"predict.{question.name}", chose, right)]


def test_number_is_right_up_to_rounding():
    third = predict("third", 0.1 + 0.2, why="a")
    assert third.prediction.is_right("0.3")
    assert not third.prediction.is_right("0.3001")
    zero = predict("zero", 0, why="a")
    assert zero.prediction.is_right("0.0")
    assert not zero.prediction.is_right("1e-9")


@pytest.mark.usefixtures("lesson_undone")
def test_answer_is_saved_once_and_counted(mine):
    try:
        begin("en")
        for choice in (1, 0):
            choices().answer(choice)  # the cell runs twice
        number().answer("6.6")
    finally:
        set_listener(None)
    lines = [json.loads(line) for line in (mine / PREDICTIONS_FILE).read_text("utf-8").splitlines()]
    assert lines == [
        {"lesson": "", "panel": "sum_of_squares", "chose": "it stays", "right": False},
        {"lesson": "", "panel": "half_life", "chose": "6.6", "right": True},
    ]
    assert count_predictions() == (2, 1)


@pytest.mark.usefixtures("live")
def test_page_tells_a_live_question_the_choice():
    question = choices()
    assert isinstance(question.view, LiveQuestion)
    question.view.root.guessed = 1
    assert question.prediction.choice == 1
    question.view.root.guessed = 0
    assert question.prediction.choice == 1
    asked = number()
    asked.answer("6.6")
    assert asked.view.root.guessed == "6.6"


def buttons(question):
    return [w for w in walk(question.view.root) if hasattr(w, "click")]


@pytest.mark.parametrize("press", [0, -1], ids=["commit", "skip"])
def test_plain_number_is_committed_with_a_button(press):
    question = number()
    box = next(w for w in walk(question.view.root) if type(w).__name__ == "Text")
    box.value = "seven"
    buttons(question)[0].click()
    assert (question.prediction.choice, box.disabled) == (None, False)
    box.value = " 6.61 "
    buttons(question)[press].click()
    assert question.prediction.choice == ("6.61", SKIPPED)[press]
    assert box.disabled
    assert "one half" in question.view.explanation.value


def test_plain_options_are_locked_by_the_answer():
    question = choices()
    shown = "".join(getattr(w, "value", "") or "" for w in walk(question.view.root) if type(w).__name__ == "HTML")
    assert str(ASKED) in shown
    assert str(WHY) not in shown
    question.prediction.buttons.index = 1
    assert "is not right. Each square" in question.view.explanation.value
    assert question.prediction.buttons.disabled


def test_released_question_keeps_its_answer():
    question = choices()
    question.view  # noqa: B018
    question.answer(0)
    question.release()
    assert "is right" in question.view.explanation.value


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize(
    ("language", "words"), [("en", (ASKED.en, GROWS.en, STAYS.en)), ("zh", (ASKED.zh, GROWS.zh, STAYS.zh))]
)
def test_notebook_keeps_question_and_options_as_text(language, words):
    i18n.set_language(language)
    question = choices()
    i18n.set_language("en")
    data = question._repr_mimebundle_()
    assert list(data) == ["text/plain", "text/html", VIEW]
    for kind in ("text/plain", "text/html"):
        assert all(word in data[kind] for word in words)
        assert getattr(WHY, language) not in data[kind]
    assert data["text/plain"].splitlines() == [words[0], f"  ○ {words[1]}", f"  ○ {words[2]}"]


def test_notebook_stores_the_question_for_the_site():
    html = predict("a<b", {"<i>": False, "&": True}, why="w").html()
    assert "<i>" not in html
    stored = json.loads(b64decode(html.partition('data-question="')[2].partition('"')[0]))
    assert (stored["name"], stored["spec"]["guess"]["options"], stored["spec"]["guess"]["right"]) == (
        "a<b",
        ["<i>", "&"],
        1,
    )


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, {"name": 3}),
        (ValueError, {"name": " "}),
        (ValueError, {"answer": {"a": True}}),
        (ValueError, {"answer": {"a": False, "b": False}}),
        (ValueError, {"answer": {"a": True, "b": True}}),
        (TypeError, {"answer": {"a": 1, "b": 0}}),
        (ValueError, {"answer": {"a": True, "b": False}, "within": 1}),
        (TypeError, {"answer": "a"}),
        (TypeError, {"answer": True}),
        (TypeError, {"answer": 1, "within": "0"}),
        (ValueError, {"answer": float("nan")}),
        (ValueError, {"answer": 1, "within": -1}),
        (ValueError, {"answer": {"a": True, Text(en="a", zh="b"): False}}),
    ],
)
def test_what_is_no_question_is_refused(error, arguments):
    with pytest.raises(error, match="redict"):
        predict(**{"name": "a", "answer": 1.0, "why": "w"} | arguments)
