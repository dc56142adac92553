"""`check` saves solutions in the learner's folder and nowhere else, or says why it cannot."""

import builtins
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blocklab_course import check
from blocklab_course.checks import verdict as verdict_module
from blocklab_course.checks.engine import check_against
from blocklab_course.i18n import use_language
from blocklab_course.lessons.catalog import EXERCISES, ORDER, SAVED_EXERCISES
from blocklab_course.workspace.solutions import OLD_VERSIONS

LIBRARY = Path(check.__code__.co_filename).parents[2]
SWISH = """
import torch
import torch.nn.functional as F
def my_swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)
"""
SAVED = """# Your own swish, as check accepted it (Blocklab 0.1). 你写的 swish，check 已通过。

import torch


def my_swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)


swish = my_swish
"""
BATCH_NORM = """
from torch import nn
class MyBatchNorm(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x)
"""


def swish(factor: str) -> str:
    return f"import torch\ndef my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x) * {factor}"


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_saves_passing_solution_and_says_so(mine, notebook):
    verdict = check("swish", notebook(SWISH)["my_swish"])
    assert (mine / "blocks" / "swish.py").read_text("utf-8") == SAVED
    assert files(mine) == ["blocks/swish.py"]
    assert verdict.messages[-1] == "Kept as `my/blocks/swish.py`, for later lessons to run."
    assert "Kept as <code>my/blocks/swish.py</code>" in verdict.html()


def test_card_says_which_lessons_run_a_saved_solution(notebook):
    total = len(SAVED_EXERCISES)
    verdict = check("swish", notebook(SWISH)["my_swish"])
    assert verdict.unlocks == f"1 of {total} blocks saved."
    cell = "def my_rms_norm(x, shape, weight=None, eps=None):\n    return F.rms_norm(x, shape, weight, eps)"
    verdict = check("rms_norm", notebook(cell)["my_rms_norm"])
    lessons = ", ".join(f"{ORDER.index(name):02}" for name in ("transformer_layers", "cuda_timing", "your_model"))
    assert verdict.unlocks == f"Lessons {lessons} run yours from now on. 2 of {total} blocks saved."
    assert verdict.unlocks in verdict.html()
    assert verdict.unlocks not in str(verdict)
    relu = check("relu", notebook("def my_relu(x):\n    return x.clamp(min=0)")["my_relu"])
    assert relu.unlocks.startswith("Lesson 01 runs yours")


def test_card_promises_nothing_without_a_saved_file(notebook):
    assert not check("swish", notebook(SWISH)["my_swish"], keep=False).unlocks
    check("swish", notebook(SWISH)["my_swish"])
    needs_more = SWISH.replace("beta * x", "my_swish.scale * beta * x") + "my_swish.scale = 1.0"
    unsaved = check("swish", notebook(needs_more)["my_swish"])
    assert "not saved" in " ".join(unsaved.messages)
    assert not unsaved.unlocks
    assert not check("swish", notebook(swish("2"))["my_swish"]).unlocks


def test_both_languages_share_one_file(mine, notebook, monkeypatch):
    check("swish", notebook(SWISH)["my_swish"])
    monkeypatch.chdir(mine / "zh")
    with use_language("zh"):
        verdict = check("swish", notebook(SWISH)["my_swish"])
    assert files(mine) == ["blocks/swish.py"]
    assert verdict.messages[-1] == "已保存为 `my/blocks/swish.py`，后面的课可以运行它。"


def test_saved_solutions_pass_in_another_process(mine, notebook):
    check("swish", notebook(SWISH)["my_swish"])
    cell = "def my_rms_norm(x, shape, weight=None, eps=None):\n    return F.rms_norm(x, shape, weight, eps)"
    check("rms_norm", notebook(cell)["my_rms_norm"])
    check("batch_norm", notebook(BATCH_NORM)["MyBatchNorm"](3))
    code = (
        "from blocklab_course import check\nfrom swish import swish\nfrom rms_norm import rms_norm\n"
        "from batch_norm import batch_norm\n"
        "for name, block in (('swish', swish), ('rms_norm', rms_norm), ('batch_norm', batch_norm(3))):\n"
        "    check(name, block).must_pass()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(LIBRARY)}
    subprocess.run([sys.executable, "-c", code], cwd=mine / "blocks", env=environment, check=True)


def test_does_not_save_failing_solution(mine, notebook):
    messages = check("swish", notebook(swish("2"))["my_swish"]).messages
    assert not any(word in line.lower() for word in ("kept", "saved") for line in messages)
    assert files(mine) == []


def test_does_not_save_answers_that_are_not_functions(mine, notebook):
    verdict = check("feature_axes", notebook("my_axes = (0, 1)")["my_axes"])
    assert verdict
    assert verdict == check_against(EXERCISES["feature_axes"], (0, 1))
    assert files(mine) == []


def test_keep_false_saves_nothing(mine, notebook):
    solution = notebook(SWISH.replace("my_swish", "solved_swish"))["solved_swish"]
    assert check("swish", solution, keep=False) == check_against(EXERCISES["swish"], solution)
    assert files(mine) == []


def test_keeps_earlier_versions(mine, notebook):
    first = [f"1.{'0' * zeros}" for zeros in range(1, OLD_VERSIONS + 4)]
    for factor in first:
        verdict = check("swish", notebook(swish(factor))["my_swish"])
        again = check("swish", notebook(swish(factor))["my_swish"])
        assert again.messages[-1] == "Kept as `my/blocks/swish.py`, for later lessons to run."
    assert verdict.messages[-1].endswith("the earlier one is `my/blocks/swish.py.1` now.")
    names = ["swish.py", *(f"swish.py.{number}" for number in range(1, OLD_VERSIONS + 1))]
    assert files(mine / "blocks") == names
    texts = [(mine / "blocks" / name).read_text("utf-8") for name in names]
    assert [text.split("* ")[-1].split()[0] for text in texts] == first[: -OLD_VERSIONS - 2 : -1]


def test_saved_file_can_be_read_again(mine, notebook):
    check("swish", notebook(SWISH)["my_swish"])
    (mine / "blocks" / "swish.py").chmod(0)
    assert check("swish", notebook(SWISH)["my_swish"]).messages[-1].startswith("Kept as")
    assert (mine / "blocks" / "swish.py").stat().st_mode & 0o600 == 0o600
    assert files(mine) == ["blocks/swish.py"]


def test_shows_printed_output_once(mine, notebook, capsys):
    check("swish", notebook(SWISH.replace("return", "print('here')\n    return"))["my_swish"])
    assert capsys.readouterr().out == "here\n"
    assert files(mine) == ["blocks/swish.py"]


def test_does_not_save_solution_that_needs_its_notebook(mine, notebook, monkeypatch):
    monkeypatch.setattr(verdict_module, "_failures", {})  # failures of earlier tests
    names = notebook(SWISH.replace("beta * x", "my_swish.scale * beta * x") + "my_swish.scale = 1.0")
    verdict = check("swish", names["my_swish"])
    assert verdict
    assert verdict.messages[-1] == (
        "It passed, but was not saved: run alone, it raises AttributeError: 'function' object has no attribute 'scale'."
    )
    assert files(mine) == []
    assert verdict_module._failures == {}


REFUSED = {  # the code of a cell, and part of the reason
    "no source": ("exec('def my_swish(x, beta=1.0):\\n    return x * torch.sigmoid(beta * x)')", "source"),
    "undefined name": (
        "def my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x) if abs(2) else lost",
        "it uses `lost`",
    ),
    "too long": (
        f"def my_swish(x, beta=1.0):\n    # {'long ' * 25_000}\n    return x * torch.sigmoid(beta * x)",
        "longer than 100000 bytes",
    ),
}


@pytest.mark.parametrize(("cell", "word"), REFUSED.values(), ids=REFUSED)
def test_says_why_solution_cannot_be_saved(mine, notebook, cell, word):
    notebook(SWISH)
    verdict = check("swish", notebook(cell)["my_swish"])
    assert verdict
    assert verdict.messages[-1].startswith("It passed, but was not saved: ")
    assert word in verdict.messages[-1]
    assert files(mine) == []


FAILURES = {
    "full": (errno.ENOSPC, "cannot write `my/blocks/swish.py`, the disk is full"),
    "no permission": (errno.EACCES, "cannot write `my/blocks/swish.py`, permission denied"),
    "another": (errno.EIO, f"cannot write `my/blocks/swish.py`, {os.strerror(errno.EIO)}"),
}


@pytest.mark.parametrize(("number", "message"), FAILURES.values(), ids=FAILURES)
def test_failed_write_leaves_earlier_version(mine, notebook, monkeypatch, number, message):
    check("swish", notebook(SWISH)["my_swish"])

    def half(path, mode):
        with builtins.open(path, mode) as file:
            file.write(b"half of it")
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", half)
        verdict = check("swish", notebook(swish("1.0"))["my_swish"])
    assert verdict
    assert verdict.messages[-1].startswith("It passed, but was not saved: ")
    assert message in verdict.messages[-1]
    assert files(mine) == ["blocks/swish.py"]
    assert (mine / "blocks" / "swish.py").read_text("utf-8") == SAVED


def test_colab_message_copies_folder_to_drive(tmp_path, notebook, monkeypatch):
    my_swish = notebook(SWISH)["my_swish"]
    session = tmp_path / "content"
    session.mkdir()
    monkeypatch.chdir(session)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    messages = check("swish", my_swish).messages
    assert files(session) == ["my/blocks/swish.py"]
    line = messages[-1].split("`")[1]
    assert messages[-1].startswith("Colab deletes it")
    assert "\n" not in line
    compile(line, "a cell", "exec")
    assert 'copytree("my", ' in line


def test_saved_exercises_ask_for_functions():
    assert len(set(SAVED_EXERCISES)) == len(SAVED_EXERCISES)
    assert set(SAVED_EXERCISES) <= set(EXERCISES)
    assert [name for name in SAVED_EXERCISES if EXERCISES[name].evaluate] == []
