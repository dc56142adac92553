"""Every panel of every lesson: each slider from end to end, each frame as if drawn from nothing.

A lesson's cells run once. Each of its panels is made in both languages; in English it goes through all pairs of
extremes, each frame held to a drawing from nothing; in Chinese, where nothing but the words is another, through one
control at a time.
"""

import ast
import logging
from collections import defaultdict
from functools import partial
from pathlib import Path

import jupytext
import numpy as np
import pytest
import torch

from blocklab.lessons import begin
from blocklab.panel import Guess, Panel
from blocklab.panel.panel import LIVE_SCALE
from cells import needed

SOURCES = sorted((Path(__file__).parents[2] / "notebooks" / "source").glob("*.py"))
WITH_PAIRS = {"zh": False, "en": True}  # in the end the lesson goes on in English


pytestmark = pytest.mark.usefixtures("lesson_undone")


def code_cells(source: Path) -> list[tuple[str, list[str]]]:
    """The code of each code cell, and its tags."""
    cells = [cell for cell in jupytext.read(source).cells if cell.cell_type == "code"]
    return [(cell.source, cell.metadata.get("tags", [])) for cell in cells]


def scored(generator: torch.Generator, *_run) -> float:
    """An accuracy in percent, made up."""
    return 60 + 40 * torch.rand((), generator=generator).item()


# What takes the place of a lesson's own function here: long training of which a panel shows the outcome. The lesson
# itself is run elsewhere, in both languages.
STAND_INS = {"04_small_batches": {"accuracy": partial(scored, torch.Generator().manual_seed(0))}}


def panels(source: Path) -> dict[tuple[int, str], Panel]:
    """Run a lesson's cells up to its last panel, and collect what panel cells end in, by their number and language.

    Slow ones only where others need them: long training of which a cell prints the result.
    """
    begin("en")
    cells = code_cells(source)
    while "panel" not in cells[-1][1]:
        cells.pop()
    slow = {number for number, (_code, tags) in enumerate(cells) if "slow" in tags}
    left_out = slow - needed([code for code, _tags in cells], slow)
    shown, space = {}, {}
    for number, (code, tags) in enumerate(cells):
        if number in left_out:
            continue
        tree = ast.parse(code)
        last = tree.body.pop() if "panel" in tags else None
        exec(compile(tree, f"{source.name} cell {number}", "exec"), space)
        space |= {name: made for name, made in STAND_INS.get(source.stem, {}).items() if name in space}
        if last is not None:
            ending = compile(ast.Expression(last.value), f"{source.name} cell {number}", "eval")
            with torch.random.fork_rng():  # for `begin` starts the random numbers anew
                for chosen in WITH_PAIRS:
                    begin(chosen)
                    shown[number, chosen] = eval(ending, space)
    return shown


def swept(panel: Panel, pairs: bool):
    """Every visit of the sweep: its values, its line, and a number of its frame."""
    for values, line in panel.sweep(pairs):
        assert line.strip(), values
        frame = panel.canvas.frame()
        if pairs:
            whole = panel.canvas.still(LIVE_SCALE)
            assert np.array_equal(frame, whole), f"a frame differs from a full drawing at {values}"
        yield values, line, hash(frame.tobytes())


def idle(panel: Panel, visits: list) -> list[str]:
    """The controls that change neither picture nor line, wherever the others stand."""
    seen = {name: defaultdict(set) for name in panel.values}
    for values, *shown in visits:
        for name, by_others in seen.items():
            others = repr({other: value for other, value in values.items() if other != name})
            by_others[others].add(tuple(shown))
    return [name for name, by_others in seen.items() if all(len(each) == 1 for each in by_others.values())]


def asks(panel: Panel) -> bool:
    """Whether a panel has a guess, which then comes first and is the only one."""
    guesses = [name for name, control in panel.controls.items() if isinstance(control, Guess)]
    assert guesses in ([], ["guess"])
    assert not guesses or next(iter(panel.controls)) == "guess"
    return bool(guesses)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_panel_goes_through_its_sweep_and_every_control_changes_something(source, caplog):
    shown = panels(source)
    assert shown
    asking = {number for number, (_, tags) in enumerate(code_cells(source)) if "guess" in tags}
    assert {number for (number, _), panel in shown.items() if asks(panel)} == asking
    with caplog.at_level(logging.WARNING, logger="matplotlib"):  # in a formula a missing glyph is only logged
        for (number, chosen), panel in shown.items():
            assert isinstance(panel, Panel), f"cell {number} is tagged as a panel"
            visits = list(swept(panel, WITH_PAIRS[chosen]))
            assert idle(panel, visits) == [] or not WITH_PAIRS[chosen], f"cell {number}"
            assert len(visits) >= 2 or not panel.controls
    assert not caplog.records
