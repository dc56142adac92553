"""The progress page reads both languages in the learner's folder and copes with anything in it."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from blocklab_course.i18n import set_language
from blocklab_course.lessons.catalog import EXERCISES, LESSONS, SAVED_EXERCISES
from blocklab_course.progress import progress_page
from blocklab_course.progress.__main__ import main
from blocklab_course.progress.collect import Attempts, collect
from blocklab_course.progress.page import MAX_NAMED, ProgressPage
from blocklab_course.workspace.folder import PREDICTIONS_FILE
from saved_notebooks import cell, hand_in, verdict

pytestmark = pytest.mark.usefixtures("english_again")

LIBRARY = Path(progress_page.__code__.co_filename).parents[2]
ASKED = """## Three closing questions

1. Is `a < b` **always** so, for $a_i *b* c$ and *any* `c[0](1)`, see **[05](05_layer_norm.ipynb)**?

<details><summary>Answer</summary>

No: {word}.

</details>

2. And why?

<details><summary>Answer</summary>

Because.

</details>
"""
GOOD = {
    "en/05_layer_norm.ipynb": [
        verdict("half_size", passed=True),
        verdict("layer_norm", "eps-outside-root"),
        verdict("layer_norm_backward", "not-written-yet"),
    ],
    "zh/05_layer_norm.ipynb": [
        verdict("half_size", "not-written-yet"),
        verdict("layer_norm", passed=True),
        verdict("layer_norm_backward", "not-written-yet"),
    ],
    "en/06_rms_norm.ipynb": [verdict("root_mean_square", "forgot-root"), verdict("rms_norm", "a+b")],
}


def lesson(*verdicts, asked: str | None = None):
    texts = [new_markdown_cell(asked)] if asked else []
    return new_notebook(cells=[cell(one, tags=["exercise"]) for one in verdicts] + texts)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A learner's folder with three notebooks, saved in this order; the current folder is its English half."""
    folder = tmp_path / "my"
    (folder / "zh").mkdir(parents=True)
    hand_in(folder, **{name: lesson(*verdicts) for name, verdicts in GOOD.items()})
    saved_in_this_order(folder, *GOOD)
    monkeypatch.chdir(folder / "en")
    return folder


def saved_in_this_order(folder: Path, *names: str) -> None:
    for second, name in enumerate(names):
        os.utime(folder / name, (second, second))


def test_best_grade_over_both_languages_counts(mine):
    progress = collect(mine)
    assert progress.attempts == {
        "half_size": Attempts("✓", "✓"),
        "layer_norm": Attempts("✓", "✓"),
        "layer_norm_backward": Attempts("…", "…"),
        "root_mean_square": Attempts("forgot-root", "forgot-root"),
        "rms_norm": Attempts("a+b", "a+b"),
    }
    assert progress.passed == 2
    assert progress.problems == {}


def test_shows_the_last_attempt_beside_the_best(mine):
    saved_in_this_order(mine, *reversed(GOOD))
    assert collect(mine).attempts["layer_norm"] == Attempts("✓", "eps-outside-root")
    page = str(progress_page())
    assert "layer_norm (passed; the last attempt: eps-outside-root)" in page
    assert "layer_norm (eps-outside-root): 05_layer_norm · " in page


def test_page_as_text(mine):
    (mine / PREDICTIONS_FILE).write_text(
        '{"lesson": "a", "panel": "b", "right": true}\n{"lesson": "a", "panel": "c", "right": false}\n'
    )
    (mine / "blocks").mkdir()
    (mine / "blocks" / "gelu.py").write_text("raise SystemExit  # read, not run\n", "utf-8")
    assert str(progress_page()).split("\n\n") == [
        "Your progress",
        f"Exercises passed: 2 of {len(EXERCISES)}\nPredictions: 2; right: 1\n"
        f"Saved solutions: 1 of {len(SAVED_EXERCISES)} (gelu)",
        "05_layer_norm: layer_norm (passed), half_size (passed), catch_layer_norm (not begun), "
        "layer_norm_backward (not begun)\n"
        "06_rms_norm: root_mean_square (forgot-root), rms_norm (a+b), rms_norm_llama (not begun), rms_norm_gemma "
        "(not begun)",
        "To review\n  root_mean_square (forgot-root): 06_rms_norm · By hand\n  rms_norm (a+b): 06_rms_norm · By hand",
        "Read from the notebooks in `my/` as last saved; nothing leaves this machine.",
    ]


def test_page_names_the_folder_on_a_hub(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "en").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "en")
    monkeypatch.setenv("JUPYTERHUB_USER", "eve")
    assert "Read from the notebooks in `notebooks/` as" in str(progress_page())


@pytest.mark.usefixtures("mine")
def test_html_links_to_sections():
    html = progress_page().html()
    assert '<a href="06_rms_norm.ipynb#By-hand">06_rms_norm · By hand</a>' in html
    assert '<a href="05_layer_norm.ipynb">05_layer_norm</a>' in html
    assert set(progress_page()._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_card_shows_counts_with_bars_and_a_chip_for_each_lesson(mine):
    (mine / PREDICTIONS_FILE).write_text(
        "".join(
            f'{{"lesson": "a", "panel": "{n}", "right": {right}}}\n'
            for n, right in enumerate(("true", "false", "true", "null"))
        )
    )
    html = progress_page().html()
    numbers = re.findall(r">(\d+)</span><span [^>]*> / (\d+)</span></div><div>([\w ]+)<", html)
    total, saved = str(len(EXERCISES)), str(len(SAVED_EXERCISES))
    assert numbers == [("2", total, "exercises passed"), ("2", "3", "guesses right"), ("0", saved, "solutions saved")]
    assert re.findall(r"width:([\d.]+)%;background", html) == [f"{200 / len(EXERCISES):.1f}", "66.7", "0.0"]
    chips = re.findall(r'<a href="(\w+).ipynb" style="[^"]*">(\d\d[^<]*)</a>', html)
    assert [name for name, _ in chips] == [lesson.name for lesson in LESSONS]
    assert dict(chips) == {lesson.name: f"{lesson.number:02}" for lesson in LESSONS} | {"05_layer_norm": "05 2/4"}


@pytest.mark.usefixtures("mine")
def test_page_in_chinese():
    set_language("zh")
    page = str(progress_page())
    assert page.startswith(f"你的进度\n\n通过的练习：2/{len(EXERCISES)}\n")
    assert f"\n猜过的问题：0 个；猜对：0 个\n保存的模块：0/{len(SAVED_EXERCISES)}\n" in page
    assert "06_rms_norm：root_mean_square（forgot-root）、rms_norm（a+b）" in page
    assert f"rms_norm（a+b）：06_rms_norm · {EXERCISES['rms_norm'].section.zh}" in page


def test_page_without_a_folder_explains_what_it_will_show(tmp_path, monkeypatch):
    (tmp_path / "notebooks" / "en").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "en")
    assert str(progress_page()).startswith("Your progress\n\nThis page fills up once you work in your own copy")
    assert "<code>make lab</code>" in progress_page().html()
    assert list(tmp_path.rglob("*.*")) == []


def test_page_on_colab_explains_what_it_does_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert str(progress_page()).endswith("On Colab your notebooks are in your Drive, which this page does not read: it "
                                         "only counts predictions and saved solutions.")  # fmt: skip
    assert list(tmp_path.iterdir()) == []


# Questions


def with_questions(mine: Path, *languages: str) -> None:
    for language in languages:
        asked = ASKED if language == "en" else ASKED.replace("## Three closing questions", "## 三个思考题")
        for name in ("05_layer_norm", "06_rms_norm", "10_positional_encoding"):
            passed = [verdict("half_size", passed=True), verdict("layer_norm", passed=True)]
            passed += [verdict("root_mean_square", passed=True)]  # one of four
            verdicts = [one for one in passed if name in ("05_layer_norm", "06_rms_norm")]
            hand_in(
                mine, **{f"{language}/{name}.ipynb": lesson(*verdicts, asked=asked.format(word=f"{language}{name}"))}
            )


def test_questions_come_from_half_finished_lessons(mine):
    with_questions(mine, "en", "zh")
    questions = collect(mine).questions
    assert [(one.package, question.answer) for one, question in questions] == [
        ("layer_norm", "No: en05_layer_norm."),
        ("layer_norm", "Because."),
    ]
    set_language("zh")
    assert collect(mine).questions[0][1].answer == "No: zh05_layer_norm."


def test_questions_fall_back_to_the_other_language(mine):
    with_questions(mine, "en")
    set_language("zh")
    assert collect(mine).questions[0][1].answer == "No: en05_layer_norm."


def test_draws_five_questions_at_random(mine):
    asked = "".join(f"{n}. {n}?\n\n<details><summary>Answer</summary>\n\n{n}.\n\n</details>\n\n" for n in range(9))
    done = [verdict("half_size", passed=True), verdict("layer_norm", passed=True)]
    hand_in(mine, **{"en/05_layer_norm.ipynb": lesson(*done, asked=f"## Three closing questions\n\n{asked}")})
    drawn = {seed: [one.asked for _, one in collect(mine, random.Random(seed)).questions] for seed in range(5)}
    assert all(len(set(some)) == 5 and some == sorted(some) for some in drawn.values())
    assert len({tuple(some) for some in drawn.values()}) > 1
    before = random.getstate()
    collect(mine)
    assert random.getstate() == before


def test_answers_follow_the_questions(mine):
    with_questions(mine, "en")
    page = str(progress_page())
    assert "  1. 05_layer_norm: Is `a < b` always so, for $a_i *b* c$ and any `c[0](1)`, see 05?\n" in page
    assert page.index("And why?") < page.index("Answers\n  1. No: en05_layer_norm.")
    html = progress_page().html()
    assert "<code>a &lt; b</code> <strong>always</strong> so, for $a_i *b* c$ and <em>any</em> " in html
    assert "<code>c[0](1)</code>, see <strong>05</strong>?" in html
    assert "<details><summary>Answer</summary><p>No: en05_layer_norm.</p></details>" in html


# Other files

ODD = {  # the content of en/10_positional_encoding.ipynb, and part of the message
    "empty": (b"", "the file is empty"),
    "torn": (b'{"cells": [', "cannot be read: JSONDecodeError: "),
    "no notebook": (b"[]", "not a notebook"),
    "large": (b" " * 50_000_001, "larger than 50 MB"),
    "a verdict that is none": (
        json.dumps(lesson({"exercise": 3})).encode(),
        "cell 1: unreadable outputs or verdicts",
    ),
    "an exercise of another version": (
        json.dumps(lesson(verdict("no_such_exercise", passed=True))).encode(),
        "unknown exercise: no_such_exercise",
    ),
}


@pytest.mark.parametrize(("content", "said"), ODD.values(), ids=ODD)
def test_damaged_notebooks_are_named_and_others_count(mine, content, said):
    (mine / "en" / "10_positional_encoding.ipynb").write_bytes(content)
    progress = collect(mine)
    assert progress.passed == 2
    assert list(progress.problems) == ["my/en/10_positional_encoding.ipynb"]
    (line,) = [line for line in str(ProgressPage(progress)).splitlines() if "10_positional" in line]
    assert line.startswith("  my/en/10_positional_encoding.ipynb: ")
    assert said in line


@pytest.mark.parametrize("part", ["+a", ".a", "()", "[0]"])
def test_sources_too_deep_for_python_are_read(mine, part):
    attempt = cell(verdict("encoder_layer", "a"), source="check('encoder_layer', x)\nx = a" + part * 2500)
    hand_in(mine, **{"en/12_transformer_layers.ipynb": new_notebook(cells=[attempt])})
    progress = collect(mine)
    assert progress.attempts["encoder_layer"] == Attempts("a", "a")
    assert progress.passed == 2


def test_an_unforeseen_error_in_one_notebook_does_not_end_the_page(mine, monkeypatch):
    collecting = sys.modules[collect.__module__]
    really = collecting.saved_grades
    broken = iter([RuntimeError("odd"), None, None])

    def failing(cells):
        if error := next(broken):
            raise error
        return really(cells)

    monkeypatch.setattr(collecting, "saved_grades", failing)
    progress = collect(mine)
    assert progress.passed == 1
    assert progress.problems == {"my/en/05_layer_norm.ipynb": "cannot be read: RuntimeError: odd"}


PLACES = {
    "a link": (lambda path: path.symlink_to(path.with_name("05_layer_norm.ipynb")), "a link"),
    "a link that leads nowhere": (lambda path: path.symlink_to("gone"), "a link"),
    "a folder": (lambda path: path.mkdir(), "a folder, not a file"),
    "a pipe": (lambda path: os.mkfifo(path), "not a regular file"),
}


@pytest.mark.parametrize(("put", "said"), PLACES.values(), ids=PLACES)
def test_links_folders_and_pipes_are_named(mine, put, said):
    if said == "not a regular file" and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes that are files on this system")
    put(mine / "en" / "10_positional_encoding.ipynb")
    put(mine / PREDICTIONS_FILE)
    progress = collect(mine)
    assert said in progress.problems["my/en/10_positional_encoding.ipynb"]
    assert said in progress.problems[f"my/{PREDICTIONS_FILE}"]
    assert progress.passed == 2


def test_links_to_folders_are_named_and_not_followed(mine, tmp_path):
    hand_in(tmp_path, **{"eve/05_layer_norm.ipynb": lesson(verdict("rms_norm", passed=True))})
    (mine / "en" / "friends").symlink_to(tmp_path / "eve")
    assert "a link" in collect(mine).problems["my/en/friends"]
    assert collect(mine).passed == 2


@pytest.mark.parametrize(
    "name", ["en/eve.ipynb", "eve/05_layer_norm.ipynb", "en/eve/05_layer_norm.ipynb", "05_layer_norm.ipynb"]
)
def test_other_notebooks_are_named_and_not_counted(mine, name):
    hand_in(mine, **{name: lesson(verdict("rms_norm", passed=True), verdict("gelu", "tanh"))})
    progress = collect(mine)
    assert progress.passed == 2
    assert progress.problems == {
        f"my/{name}": "not one of your copies of the lessons, so its passed exercises (1) are not counted"
    }


def test_notebooks_without_verdicts_are_ignored(mine):
    hand_in(mine, **{"en/scratch.ipynb": lesson(), "en/.ipynb_checkpoints/06_rms_norm.ipynb": b"".decode()})
    assert collect(mine).problems == {}


@pytest.mark.parametrize("name", ["en/06_rms_norm-Copy1.ipynb", "zh/17_rms_norm.ipynb"])
def test_copies_and_renumbered_lessons_count(mine, name):
    hand_in(mine, **{name: lesson(verdict("rms_norm", passed=True))})
    assert collect(mine).passed == 3
    assert collect(mine).problems == {}


def test_moved_exercises_count_in_their_new_lesson(mine):
    """Rotary positions were an exercise of lesson positional_encoding."""
    hand_in(mine, **{"en/10_positional_encoding.ipynb": lesson(verdict("rotary_embedding", passed=True))})
    assert collect(mine).passed == 3
    assert collect(mine).problems == {}
    [line] = [line for line in str(progress_page()).splitlines() if "rotary_embedding (passed)" in line]
    assert line.startswith(f"{EXERCISES['rotary_embedding'].lesson}: ")


def test_questions_come_from_renumbered_copies_too(mine):
    done = [verdict(name, passed=True) for name in ("time_function", "bytes_in_two_kernels")]
    hand_in(mine, **{"en/12_cuda_timing.ipynb": lesson(*done, asked=ASKED.format(word="later"))})
    asked = [(lesson.name, question.answer) for lesson, question in collect(mine).questions]
    assert ("14_cuda_timing", "No: later.") in asked


def test_many_problems_are_summarized(mine):
    hand_in(mine, **{f"en/eve{n}.ipynb": lesson(verdict("rms_norm", passed=True)) for n in range(MAX_NAMED + 3)})
    lines = str(progress_page()).splitlines()
    assert sum("eve" in line for line in lines) == MAX_NAMED
    assert "  more of this kind: 3" in lines


def test_html_escapes_untrusted_text(mine):
    hand_in(mine, **{"en/R&D.ipynb": lesson(verdict("rms_norm", passed=True))})
    done = [verdict("half_size", passed=True), verdict("layer_norm", passed=True)]
    asked = ASKED.format(word="<script>").replace("any", "<img>\x1b")
    hand_in(mine, **{"en/05_layer_norm.ipynb": lesson(*done, asked=asked)})
    html = progress_page().html()
    assert "<script>" not in html
    assert "<img>" not in html
    assert "R&amp;D.ipynb" in html
    assert "\x1b" not in html + str(progress_page())


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def gelu(x)\n    return x\n", "line 1 is not valid Python (expected ':')"),
        ("x = a" + "+a" * 20_000, ""),
        ("x = " + "-" * 20_000 + "1", ""),
    ],
    ids=["a mistake", "deep", "deeper"],
)
def test_damaged_saved_solutions_are_named(mine, source, said):
    (mine / "blocks").mkdir()
    (mine / "blocks" / "gelu.py").write_text(source, "utf-8")
    progress = collect(mine)
    assert progress.solutions == ()
    assert progress.problems.keys() == {"my/blocks/gelu.py"}
    assert progress.problems["my/blocks/gelu.py"].startswith(said)


def test_reading_writes_nothing(mine):
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    str(progress_page()), progress_page().html()
    assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before


# The command


def test_command_prints_the_page(mine, capsys, monkeypatch):
    assert main([]) == 0
    page = capsys.readouterr().out
    assert page == f"{progress_page()}\n"
    for place, arguments in ((mine.parent, []), (Path("/"), [str(mine)]), (mine, ["."]), (mine / "zh", [])):
        monkeypatch.chdir(place)
        assert main(arguments) == 0
        assert capsys.readouterr().out == page
    assert main(["--language", "zh"]) == 0
    assert capsys.readouterr().out.startswith("你的进度")


def test_command_without_a_folder_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([]) == 2
    assert capsys.readouterr().err == (f"expected a folder `my` with your copies of the lessons in {tmp_path}\n")


def test_works_in_an_ascii_terminal(mine):
    environment = os.environ | {"PYTHONPATH": str(LIBRARY), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "blocklab_course.progress", "--language", "zh"]
    run = subprocess.run(command, cwd=mine.parent, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("\\u4f60\\u7684")
    assert run.stderr == ""


def test_mistakes_link_to_the_section_that_explains_them(mine):
    hand_in(mine, **{"en/06_rms_norm.ipynb": lesson(verdict("rms_norm", "layer-norm"))})
    assert "rms_norm (layer-norm): 06_rms_norm · The formula" in str(progress_page())
