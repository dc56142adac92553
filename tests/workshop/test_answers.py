"""What becomes of a learner's answers when the copies are renewed."""

import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest

from blocklab.language import LANGUAGES
from blocklab.report.handed_in import exercises
from blocklab.report.notebooks import code_cells, load
from workshop.__main__ import main
from workshop.answers import Copy, carry_over
from workshop.copies import as_copied

BUILT = Path(__file__).parents[2] / "notebooks"
GONE = {"pre_norm_by_hand", "pre_norm_layer"}  # asked for in another way today: their answers stay in the old copy
BEFORE = json.loads((Path(__file__).parents[1] / "data" / "lessons_before_rooms.json").read_text("utf-8"))


def notebook(*cells: dict) -> dict:
    """A notebook of code cells, given by their ids, tags and sources, as Jupyter saves it."""
    rest = {"cell_type": "code", "execution_count": None, "outputs": []}
    cells = [
        rest | {"id": cell["id"], "metadata": {"tags": cell["tags"]}, "source": cell["source"].splitlines(True)}
        for cell in cells
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def exercise(source: str, id: str = "one", tags: tuple[str, ...] = ("exercise",)) -> dict:
    return {"id": id, "tags": list(tags), "source": source}


def before(language: str, lesson: str) -> list[dict]:
    """The code cells of a lesson of the earlier edition."""
    return [{"id": "setup", "tags": [], "source": BEFORE["setup"][language]}, *BEFORE["lessons"][lesson]]


def answered(cell: dict) -> dict:
    """The cell with its exercise tried; others as they are."""
    if "exercise" not in cell["tags"]:
        return cell
    source = cell["source"].replace("= None\n", "= 123\n").replace("...", "x + 123").replace("= []", "= [123]")
    assert "123" in source
    return cell | {"source": source}


def sources(notebook: dict) -> dict[str, str]:
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"}


def asked_today(language: str) -> dict[str, str]:
    """By exercise the lesson that asks for it today."""
    cells = [(path.stem, cell) for path in (BUILT / language).glob("*.ipynb") for cell in code_cells(load(path))]
    return {name: lesson for lesson, cell in cells if cell.exercise for name in exercises(cell.source)}


@pytest.fixture
def project(tmp_path) -> Path:
    """A repository with the lessons of today."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    for language in LANGUAGES:
        shutil.copytree(BUILT / language, tmp_path / "notebooks" / language)
        (tmp_path / "my" / language).mkdir(parents=True)
    return tmp_path


def write(project: Path, language: str, lesson: str, content: dict) -> Path:
    path = project / "my" / language / f"{lesson}.ipynb"
    path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return path


def renew(project: Path, *arguments: str) -> int:
    return main(["--root", str(project), "copies", "--fresh", *arguments])


# The lessons of the earlier edition


def test_every_answer_of_an_earlier_edition_stands_in_the_new_copies(project, capsys):
    for language in LANGUAGES:
        for lesson in BEFORE["lessons"]:
            write(project, language, lesson, notebook(*map(answered, before(language, lesson))))
    assert renew(project) == 0
    said = capsys.readouterr().out
    before_today = [cell for cells in BEFORE["lessons"].values() for cell in cells if "exercise" in cell["tags"]]
    for language in LANGUAGES:
        lessons, tried = asked_today(language), {}
        for cell in before_today:
            if not GONE & exercises(cell["source"]):
                [lesson] = {lessons[name] for name in exercises(cell["source"])}
                tried.setdefault(lesson, []).append(answered(cell)["source"])
        for lesson, answers in tried.items():
            copy = nbformat.read(project / "my" / language / f"{lesson}.ipynb", 4)
            built = nbformat.read(BUILT / language / f"{lesson}.ipynb", 4)
            assert f"my/{language}/{lesson}.ipynb: answers taken over: {len(answers)}\n" in said
            assert sorted(cell.source for cell in copy.cells if cell.source in answers) == sorted(answers)
            for cell, original in zip(copy.cells, built.cells, strict=True):
                if cell.source in answers:
                    assert (cell.id, cell.metadata) == (original.id, original.metadata)
                    assert (cell.outputs, cell.execution_count) == ([], None)
                else:
                    assert cell.source == original.source
    left = [line.partition("stay here: ")[2] for line in said.splitlines() if "stay here" in line]
    assert left == [", ".join(sorted(GONE))] * len(LANGUAGES)


def test_a_copy_in_which_nothing_was_answered_is_as_the_lesson_is(project, capsys):
    for language in LANGUAGES:
        for lesson in BEFORE["lessons"]:
            write(project, language, lesson, notebook(*before(language, lesson)))
    assert renew(project) == 0
    for language in LANGUAGES:
        for built in sorted((BUILT / language).glob("*.ipynb")):
            assert (project / "my" / language / built.name).read_bytes() == as_copied(built.read_bytes())
    copied = sum(1 for language in LANGUAGES for _ in (BUILT / language).glob("*.ipynb"))
    said = f"kept your old copies in my-before-1/\nmy/: {copied} copied, 0 left as they are\n"
    assert capsys.readouterr().out == said


def test_answers_are_taken_over_as_often_as_one_likes(project):
    lesson = "05_layer_norm"
    write(project, "zh", lesson, notebook(*map(answered, before("zh", lesson))))
    copies = []
    for _ in range(3):
        assert renew(project) == 0
        copies.append((project / "my" / "zh" / f"{lesson}.ipynb").read_bytes())
    assert copies[0] == copies[1] == copies[2]
    assert copies[0].count(b"123") == (BUILT / "zh" / f"{lesson}.ipynb").read_bytes().count(b"123") + 3
    assert sorted(path.name for path in project.glob("my*")) == ["my", "my-before-1", "my-before-2", "my-before-3"]


def test_the_two_languages_are_told_apart(project):
    for n, language in enumerate(LANGUAGES):
        cells = [answered(cell) for cell in before(language, "00_start_here")]
        cells[-2]["source"] = cells[-2]["source"].replace("123", f"{n}")
        write(project, language, "00_start_here", notebook(*cells))
    assert renew(project) == 0
    for n, language in enumerate(LANGUAGES):
        assert f"my_s = {n}\n" in sources(load(project / "my" / language / "00_start_here.ipynb"))["exercises-2"]


def test_what_is_said_is_in_the_language_asked_for(project, capsys):
    write(project, "zh", "00_start_here", notebook(*map(answered, before("zh", "00_start_here"))))
    assert renew(project, "--language", "zh") == 0
    assert "my/zh/00_start_here.ipynb：带过来 1 个答案\n" in capsys.readouterr().out


# One cell


START = "def my_mean(x, axis=0):\n    return ...\n\n\ncheck('mean', my_mean)"
ANSWER = "def my_mean(x, axis=0):\n    return x.mean(axis)\n\n\ncheck('mean', my_mean)"


def carried(old: dict | str, start: str = START) -> tuple[str, int, int]:
    """What stands in the lesson's exercise then, how many answers were carried, and how many were left."""
    lesson = notebook(exercise(start), exercise("solved = 1", "two", ("solution",)))
    copy = Copy("01_one", "01_one", old if isinstance(old, dict) else notebook(exercise(old)))
    counts = carry_over([copy], {"01_one": lesson})
    assert sources(lesson)["two"] == "solved = 1"
    assert counts == {"01_one": len(copy.carried)}
    assert copy.doubled == []
    return sources(lesson)["one"], len(copy.carried), len(copy.left)


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        ANSWER.replace("(x, axis=0)", "(x: Tensor, axis: int = 1) -> Tensor"),
        "my_mean = lambda x, axis=0: x.mean(axis)\ncheck('mean', my_mean)",
        "check('mean', (0, 1))",
        START.replace("my_mean)", "torch.mean)"),
        START.replace("my_mean)", "solved_mean)"),
        ANSWER + "\ncheck('mean', other)\nfor _ in range(3):\n    print(1)",
        "%%time\n" + ANSWER,
        ANSWER.replace("x.mean(axis)", "x.mean("),
        ANSWER.replace("x.mean(axis)", "'\ud800 half a character'"),
        "import torch\n" + START,
        ANSWER + "\ncheck('sum', my_sum)",
    ],
)
def test_an_answer_is_carried_as_it_is(answer):
    assert carried(answer) == (answer, 1, 0)


@pytest.mark.parametrize(
    "answer",
    [
        START,
        "",
        "\n \n",
        "# not yet\n" + START.replace("\n\n\n", "\n\n"),
        START.replace("axis=0", "axis=1"),
        START.replace("...", "None"),
        START.replace("return ...", "pass"),
        START.replace("my_mean", "my_average"),
        "my_axes = None\n\ncheck('mean_axes', my_axes)",
    ],
)
def test_starting_code_is_no_answer(answer):
    assert carried(answer) == (START, 0, 0)


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER.replace("axis=0", "axis, keepdim"),
        ANSWER.replace("'mean'", "'average'"),
        ANSWER.replace("check(", "# check("),
        "# I do not know",
    ],
)
def test_an_answer_to_another_exercise_is_left(answer):
    assert carried(answer) == (START, 0, 1)


def test_an_exercise_without_a_check_takes_no_answer():
    assert carried(ANSWER, "# your own words") == ("# your own words", 0, 1)


def test_methods_are_asked_for_with_their_arguments():
    start = "class My:\n    def forward(self, x):\n        return ...\n\ncheck('it', My())"
    answer = start.replace("...", "x")
    assert carried(answer, start) == (answer, 1, 0)
    assert carried(answer.replace("self, x", "self, x, mask"), start) == (start, 0, 1)


def test_a_solution_is_never_carried():
    assert carried(notebook(exercise(ANSWER, tags=("solution",)))) == (START, 0, 0)
    assert carried(notebook(exercise(ANSWER, "three", ("solution",)))) == (START, 0, 0)


def test_the_cell_of_the_same_id_goes_first():
    other = ANSWER.replace("x.mean(axis)", "0")
    assert carried(notebook(exercise(other, "three"), exercise(ANSWER), exercise(other, "four"))) == (ANSWER, 1, 0)


def test_a_cell_that_answers_two_exercises_is_carried_once():
    both = exercise(ANSWER + "\nmy_sum = sum\ncheck('sum', my_sum)")
    lesson = notebook(exercise(START), exercise("my_sum = None\ncheck('sum', my_sum)", "two"))
    copy = Copy("01_one", "01_one", notebook(both))
    assert carry_over([copy], {"01_one": lesson}) == {"01_one": 1}
    assert (copy.left, copy.doubled) == ([], [])
    assert sources(lesson) == {"one": both["source"], "two": "my_sum = None\ncheck('sum', my_sum)"}


def test_an_exercise_may_have_moved_in_its_lesson():
    assert carried(notebook(exercise(ANSWER, "three"))) == (ANSWER, 1, 0)


def test_cells_that_a_learner_adds_are_no_exercises():
    assert carried(notebook(exercise(ANSWER, "mine", ()))) == (START, 0, 0)


def test_a_cell_whose_tags_an_editor_has_dropped_is_known_by_its_id():
    assert carried(notebook(exercise(ANSWER, tags=()))) == (ANSWER, 1, 0)


# A lesson that has another number today, an exercise that stands in another lesson


LAYERS, TIMING = "12_transformer_layers", "14_cuda_timing"
EARLIER = {LAYERS: "11_transformer_layers", TIMING: "12_cuda_timing"}


def tried(language: str, lesson: str, mark: str = "mine") -> dict[str, str]:
    """By cell an answer to each exercise of a lesson."""
    cells = code_cells(load(BUILT / language / f"{lesson}.ipynb"))
    return {cell.id: f"{cell.source}\nmark = {mark!r}" for cell in cells if cell.exercise}


def with_these(answers: dict[str, str]) -> dict:
    return notebook(*(exercise(source, id) for id, source in answers.items()))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lesson", [LAYERS, TIMING])
def test_answers_in_a_copy_with_an_earlier_number_stand_in_the_new_one(project, language, lesson, capsys):
    answers = tried(language, lesson)
    old = write(project, language, EARLIER[lesson], with_these(answers))
    content = old.read_bytes()
    assert renew(project) == 0
    assert f"my/{language}/{lesson}.ipynb: answers taken over: {len(answers)}\n" in capsys.readouterr().out
    copy = sources(load(project / "my" / language / f"{lesson}.ipynb"))
    assert {id: copy[id] for id in answers} == answers
    assert not (project / "my" / language / old.name).exists()
    assert (project / "my-before-1" / language / old.name).read_bytes() == content


def test_of_two_copies_the_one_with_the_number_of_today_goes_first(project, capsys):
    newer, older = (tried("en", LAYERS, mark) for mark in ("newer", "older"))
    first, *others = newer
    write(project, "en", LAYERS, with_these({first: newer[first]}))
    write(project, "en", EARLIER[LAYERS], with_these(older))
    assert renew(project) == 0
    copy = sources(load(project / "my" / "en" / f"{LAYERS}.ipynb"))
    assert {id: copy[id] for id in newer} == older | {first: newer[first]}
    said = capsys.readouterr().out.splitlines()
    assert f"my/en/{LAYERS}.ipynb: answers taken over: {len(newer)}" in said
    [stays] = [line for line in said if "stay here" in line]
    assert stays.startswith(f"my-before-1/en/{EARLIER[LAYERS]}.ipynb: other answers to these exercises, ")
    assert stays.endswith(f": {', '.join(exercises(newer[first]))}")
    assert others


def test_the_same_answer_in_two_copies_is_one_and_nothing_is_said_of_it(project, capsys):
    answers = tried("zh", TIMING)
    for name in (TIMING, EARLIER[TIMING]):
        write(project, "zh", name, with_these(answers))
    assert renew(project) == 0
    said = capsys.readouterr().out
    assert f"my/zh/{TIMING}.ipynb: answers taken over: {len(answers)}\n" in said
    assert "stay here" not in said


@pytest.mark.parametrize(
    "put",
    [
        lambda path: path.write_bytes(b"{"),
        lambda path: path.write_bytes(b""),
        os.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to("nowhere"),
    ],
    ids=["damaged", "empty", "folder", "pipe", "link"],
)
def test_what_cannot_be_read_under_an_earlier_number_bars_no_other_copy(project, put, capsys):
    answers = tried("en", LAYERS)
    write(project, "en", LAYERS, with_these(answers))
    put(project / "my" / "en" / f"{EARLIER[LAYERS]}.ipynb")
    assert renew(project) == 0
    said = capsys.readouterr().out.splitlines()
    assert f"my/en/{LAYERS}.ipynb: answers taken over: {len(answers)}" in said
    [named] = [line for line in said if line.startswith(f"my-before-1/en/{EARLIER[LAYERS]}.ipynb: ")]
    assert named.endswith("; what it holds stays here")
    assert os.path.lexists(project / "my-before-1" / "en" / f"{EARLIER[LAYERS]}.ipynb")


ROTATED = ANSWER.replace("mean", "rotary")
WAVES = START.replace("mean", "waves")


def moved(*copies: Copy) -> dict[str, str]:
    """What stands in the exercise of each lesson, the one on rotation having moved from 07 to 11."""
    lessons = {
        "07_waves": notebook(exercise(WAVES)),
        "11_rotary": notebook(exercise(START.replace("mean", "rotary"), "three")),
    }
    carry_over(list(copies), lessons)
    return {name: source for name, lesson in lessons.items() for source in sources(lesson).values()}


def test_the_answer_to_an_exercise_that_has_moved_goes_along():
    old = Copy("07_waves", "07_waves", notebook(exercise(WAVES), exercise(ROTATED, "two")))
    assert moved(old) == {"07_waves": WAVES, "11_rotary": ROTATED}
    assert len(old.carried) == 1
    assert (old.left, old.doubled) == ([], [])


def test_the_starting_code_of_an_exercise_that_has_moved_is_no_answer():
    start = "x = 1\ncheck('rotary', x)"
    lessons = {"07_waves": notebook(), "11_rotary": notebook(exercise(start))}
    old = Copy("07_waves", "07_waves", notebook(exercise(start, "two")))
    assert carry_over([old], lessons) == {"07_waves": 0, "11_rotary": 0}
    assert (old.left, old.doubled) == ([], [])


def test_where_an_exercise_has_moved_to_the_answer_in_that_lessons_copy_goes_first():
    later = ROTATED.replace("axis)", "axis) + 0")
    old = Copy("07_waves", "07_waves", notebook(exercise(ROTATED, "two")))
    new = Copy("11_rotary", "11_rotary", notebook(exercise(later, "three")))
    assert moved(old, new)["11_rotary"] == later
    assert [cell.source for cell in old.doubled] == [ROTATED]
    assert (old.carried, old.left, new.left, new.doubled) == ([], [], [], [])


def test_an_answer_with_other_arguments_than_the_moved_exercise_asks_for_is_left():
    old = Copy("07_waves", "07_waves", notebook(exercise(ROTATED.replace("axis=0", "axis, base"), "two")))
    assert moved(old)["11_rotary"] == START.replace("mean", "rotary")
    assert len(old.left) == 1


def test_rotary_positions_written_in_lesson_07_stand_where_they_are_asked_for(project):
    asked = [cell for cell in BEFORE["lessons"]["07_positional_encoding"] if "exercise" in cell["tags"]]
    [cell] = [cell for cell in asked if exercises(cell["source"]) == {"rotary_embedding"}]
    for language in LANGUAGES:
        write(project, language, "07_positional_encoding", notebook(answered(cell)))
    assert renew(project) == 0
    for language in LANGUAGES:
        holding = [
            path.stem
            for path in (project / "my" / language).glob("*.ipynb")
            if answered(cell)["source"] in sources(load(path)).values()
        ]
        assert holding == [asked_today(language)["rotary_embedding"]]


# What stands in the way


def with_cells(*cells: object) -> bytes:
    return json.dumps(notebook() | {"cells": list(cells)}).encode()


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"{", b"[]", b"[" * 100_000, b'{"cells": {}}', b'{"cells": null}', b'{"a": 1' + b"0" * 5000 + b"}"],
)
def test_an_old_copy_that_cannot_be_read_is_named_and_kept(project, content, capsys):
    write(project, "zh", "05_layer_norm", notebook(*map(answered, before("zh", "05_layer_norm"))))
    (project / "my" / "en" / "05_layer_norm.ipynb").write_bytes(content)
    assert renew(project) == 0
    said = capsys.readouterr().out.splitlines()
    [named] = [line for line in said if line.startswith("my-before-1/en/05_layer_norm.ipynb: ")]
    assert named.endswith("; what it holds stays here")
    assert "my/zh/05_layer_norm.ipynb: answers taken over: 3" in said
    assert (project / "my-before-1" / "en" / "05_layer_norm.ipynb").read_bytes() == content


@pytest.mark.parametrize(
    "put",
    [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to("nowhere")],
    ids=["pipe", "folder", "device", "link"],
)
def test_what_is_no_file_is_named_and_kept(project, put, capsys):
    put(project / "my" / "en" / "05_layer_norm.ipynb")
    assert main(["--root", str(project), "copies"]) == 0  # leaves it in peace
    assert renew(project) == 0
    assert "my-before-1/en/05_layer_norm.ipynb: " in capsys.readouterr().out
    assert os.path.lexists(project / "my-before-1" / "en" / "05_layer_norm.ipynb")
    assert (project / "my" / "en" / "05_layer_norm.ipynb").is_file()


@pytest.mark.parametrize(
    "cell",
    [1, None, "x", {}, {"cell_type": "code"}, {"cell_type": ["code"]}, {"source": 1, "metadata": 1, "id": {}},
     {"cell_type": "code", "source": [1, None], "metadata": {"tags": [{}, "exercise"]}, "id": []},
     {"cell_type": "code", "source": "(" * 50_000, "metadata": {"tags": ["exercise"]}, "id": "exercise-layernorm-2"}],
)  # fmt: skip
def test_odd_cells_do_not_bar_an_answer(project, cell):
    answer = answered(before("en", "05_layer_norm")[-4])
    assert "exercise" in answer["tags"]
    odd = notebook(answer)
    odd["cells"].insert(0, cell)
    write(project, "en", "05_layer_norm", odd)
    assert renew(project) == 0
    assert answer["source"] in sources(load(project / "my" / "en" / "05_layer_norm.ipynb")).values()


@pytest.mark.thorough
def test_names_from_a_copy_cannot_steer_a_terminal(project, capsys):
    cells = [exercise(f"x = 1\ncheck('\x1b[31m{n}', x)", f"{n}") for n in range(1000)]
    write(project, "en", "05_layer_norm", notebook(*cells))
    assert renew(project) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 500  # a line


def test_half_a_character_does_not_bar_a_notebook(project):
    answer = exercise("x = '\ud800'\ncheck('half_size', x)", "two-rows-to-the-last-digit-4")
    path = write(project, "en", "05_layer_norm", notebook())
    path.write_text(json.dumps(notebook(answer)), "ascii")  # as an escape: that is how it gets into a file
    assert renew(project) == 0
    assert answer["source"] in sources(load(project / "my" / "en" / "05_layer_norm.ipynb")).values()


def test_a_lesson_that_is_damaged_itself_takes_no_answer_with_it(project, capsys):
    write(project, "en", "05_layer_norm", notebook(*map(answered, before("en", "05_layer_norm"))))
    (project / "notebooks" / "en" / "05_layer_norm.ipynb").write_bytes(b"<<<<")
    assert renew(project) == 0
    assert (project / "my" / "en" / "05_layer_norm.ipynb").read_bytes() == b"<<<<"
    assert "my-before-1/en/05_layer_norm.ipynb: answers to " in capsys.readouterr().out


def test_who_stops_it_has_what_was_there_before(project, monkeypatch):
    old = write(project, "en", "05_layer_norm", notebook(*map(answered, before("en", "05_layer_norm"))))
    content, real = old.read_bytes(), Path.write_bytes

    def stopped(path, data):
        real(path, data[:1])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", stopped)
        assert renew(project) == 130
    assert sorted(path.name for path in project.glob("my*")) == ["my"]
    assert old.read_bytes() == content


def test_copies_behind_a_link_are_renewed(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine"
    write(project, "en", "05_layer_norm", notebook(*map(answered, before("en", "05_layer_norm"))))
    (project / "my").rename(elsewhere)
    (project / "my").symlink_to(elsewhere)
    assert renew(project) == 0
    assert (project / "my-before-1").is_symlink()
    assert b"123" in (project / "my" / "en" / "05_layer_norm.ipynb").read_bytes()
    assert b"123" in (elsewhere / "en" / "05_layer_norm.ipynb").read_bytes()
