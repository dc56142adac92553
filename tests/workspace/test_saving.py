"""What `check` accepts is kept in the learner's folder and nowhere else; what cannot be kept is told so."""

import builtins
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blocklab_course import check
from blocklab_course.checks import failures
from blocklab_course.checks.engine import check_against
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.catalog import BLOCKS, EXERCISES
from blocklab_course.workspace.saving import OLDER

LIBRARY = Path(check.__code__.co_filename).parents[2]
SWISH = """
import torch
import torch.nn.functional as F
def my_swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)
"""
KEPT = """# Your own swish, as check accepted it (Blocklab 0.1). 你写的 swish，check 已通过。

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


def test_what_passes_is_kept_and_the_verdict_says_so(mine, notebook):
    verdict = check("swish", notebook(SWISH)["my_swish"])
    assert (mine / "blocks" / "swish.py").read_text("utf-8") == KEPT
    assert files(mine) == ["blocks/swish.py"]
    assert verdict.messages[-1] == "Kept as `my/blocks/swish.py`, for later lessons to run."
    assert "Kept as <code>my/blocks/swish.py</code>" in verdict.html()


def test_in_both_languages_it_is_one_block(mine, notebook, monkeypatch):
    check("swish", notebook(SWISH)["my_swish"])
    monkeypatch.chdir(mine / "zh")
    with use_language("zh"):
        verdict = check("swish", notebook(SWISH)["my_swish"])
    assert files(mine) == ["blocks/swish.py"]
    assert verdict.messages[-1] == "已保存为 `my/blocks/swish.py`，后面的课可以运行它。"


def test_a_kept_block_imports_and_passes_in_a_process_of_its_own(mine, notebook):
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


def test_nothing_that_fails_is_kept(mine, notebook):
    told = check("swish", notebook(swish("2"))["my_swish"]).messages
    assert not any("kept" in line for line in told)
    assert files(mine) == []


def test_an_answer_that_is_no_block_is_not_kept(mine, notebook):
    verdict = check("feature_axes", notebook("my_axes = (0, 1)")["my_axes"])
    assert verdict
    assert verdict == check_against(EXERCISES["feature_axes"], (0, 1))
    assert files(mine) == []


def test_a_solution_checked_without_keeping_is_not_kept(mine, notebook):
    solution = notebook(SWISH.replace("my_swish", "solved_swish"))["solved_swish"]
    assert check("swish", solution, keep=False) == check_against(EXERCISES["swish"], solution)
    assert files(mine) == []


@pytest.mark.parametrize("place", ["notebooks/en", "my-before-1/en", "my", "my/other", "en", "my/en/deeper"])
def test_elsewhere_nothing_is_kept_and_no_word_is_added(tmp_path, notebook, monkeypatch, place):
    my_swish = notebook(SWISH)["my_swish"]
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / place)
    for language in LANGUAGES:
        with use_language(language):
            assert check("swish", my_swish) == check_against(EXERCISES["swish"], my_swish)
    assert files(tmp_path) == []


def test_an_earlier_block_that_differs_stays_beside_it_a_few_at_most(mine, notebook):
    first = [f"1.{'0' * zeros}" for zeros in range(1, OLDER + 4)]
    for factor in first:
        verdict = check("swish", notebook(swish(factor))["my_swish"])
        again = check("swish", notebook(swish(factor))["my_swish"])
        assert again.messages[-1] == "Kept as `my/blocks/swish.py`, for later lessons to run."
    assert verdict.messages[-1].endswith("the earlier one is `my/blocks/swish.py.1` now.")
    names = ["swish.py", *(f"swish.py.{number}" for number in range(1, OLDER + 1))]
    assert files(mine / "blocks") == names
    texts = [(mine / "blocks" / name).read_text("utf-8") for name in names]
    assert [text.split("* ")[-1].split()[0] for text in texts] == first[: -OLDER - 2 : -1]


def test_what_stood_in_its_place_and_is_no_block_is_not_lost(mine, notebook):
    (mine / "blocks" / "swish.py").mkdir(parents=True)
    (mine / "blocks" / "swish.py" / "letter").write_text("dear", "utf-8")
    check("swish", notebook(SWISH)["my_swish"])
    assert (mine / "blocks" / "swish.py").read_text("utf-8") == KEPT
    assert (mine / "blocks" / "swish.py.1" / "letter").read_text("utf-8") == "dear"


def test_what_a_function_prints_is_shown_once(mine, notebook, capsys):
    check("swish", notebook(SWISH.replace("return", "print('here')\n    return"))["my_swish"])
    assert capsys.readouterr().out == "here\n"
    assert files(mine) == ["blocks/swish.py"]


def test_what_passes_only_in_its_notebook_is_not_kept_and_counts_as_no_failure(mine, notebook, monkeypatch):
    monkeypatch.setattr(failures, "_failures", {})  # whatever has failed before in this process
    names = notebook(SWISH.replace("beta * x", "my_swish.scale * beta * x") + "my_swish.scale = 1.0")
    verdict = check("swish", names["my_swish"])
    assert verdict
    assert verdict.messages[-1] == "It passed, but was not kept: without the rest of the notebook it does not pass."
    assert files(mine) == []
    assert failures._failures == {}


ODD = {  # what a cell defines, and a word of the reason
    "what has no source": ("exec('def my_swish(x, beta=1.0):\\n    return x * torch.sigmoid(beta * x)')", "source"),
    "what is nowhere": (
        "def my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x) if abs(2) else lost",
        "it needs `lost`",
    ),
    "a long one": (
        f"def my_swish(x, beta=1.0):\n    # {'long ' * 25_000}\n    return x * torch.sigmoid(beta * x)",
        "longer than 100000 bytes",
    ),
    "what answers nothing": (
        "class Odd(type):\n    def __getattribute__(cls, name):\n        raise MemoryError('no')\n"
        "Lost = Odd('Lost', (), {})\n"
        "def my_swish(x, beta=1.0):\n    return x * torch.sigmoid(beta * x) if abs(2) else Lost",
        "its source cannot be taken (MemoryError: no)",
    ),
}


@pytest.mark.parametrize(("cell", "word"), ODD.values(), ids=ODD)
def test_what_cannot_be_kept_is_told_why_in_one_line(mine, notebook, cell, word):
    notebook(SWISH)
    verdict = check("swish", notebook(cell)["my_swish"])
    assert verdict
    assert verdict.messages[-1].startswith("It passed, but was not kept: ")
    assert word in verdict.messages[-1]
    assert files(mine) == []


FAILURES = {
    "full": (errno.ENOSPC, "`my/blocks/swish.py` cannot be written, the disk is full"),
    "no permission": (errno.EACCES, "cannot be written, there is no permission"),
    "read-only": (errno.EROFS, "cannot be written, there is no permission"),
    "another": (errno.EIO, f"cannot be written, {os.strerror(errno.EIO)}"),
}


@pytest.mark.parametrize(("number", "said"), FAILURES.values(), ids=FAILURES)
def test_where_nothing_can_be_written_the_earlier_one_stands(mine, notebook, monkeypatch, number, said):
    check("swish", notebook(SWISH)["my_swish"])

    def half(path, data):
        with builtins.open(path, "wb") as file:
            file.write(data[:20])
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half)
        verdict = check("swish", notebook(swish("1.0"))["my_swish"])
    assert verdict
    assert verdict.messages[-1].startswith("It passed, but was not kept: ")
    assert said in verdict.messages[-1]
    assert files(mine) == ["blocks/swish.py"]
    assert (mine / "blocks" / "swish.py").read_text("utf-8") == KEPT


def test_a_file_in_the_place_of_the_folder_is_left_alone(mine, notebook):
    (mine / "blocks").write_text("mine", "utf-8")
    assert "cannot be written" in check("swish", notebook(SWISH)["my_swish"]).messages[-1]
    assert files(mine) == ["blocks"]


def test_on_colab_one_line_copies_it_to_drive(tmp_path, notebook, monkeypatch):
    my_swish = notebook(SWISH)["my_swish"]
    session = tmp_path / "content"
    session.mkdir()
    monkeypatch.chdir(session)
    monkeypatch.setitem(sys.modules, "google.colab", object())
    told = check("swish", my_swish).messages
    assert files(session) == ["my/blocks/swish.py"]
    line = told[-1].split("`")[1]
    assert told[-1].startswith("Colab forgets it")
    assert "\n" not in line
    compile(line, "a cell", "exec")
    assert 'copytree("my", ' in line


def test_blocks_are_functions_of_the_lessons():
    assert len(set(BLOCKS)) == len(BLOCKS)
    assert set(BLOCKS) <= set(EXERCISES)
    assert [name for name in BLOCKS if EXERCISES[name].evaluate] == []
