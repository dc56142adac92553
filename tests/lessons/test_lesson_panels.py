"""Every panel of every lesson, in both languages: each slider from end to end, each frame as if drawn from nothing."""

import ast
import logging
from collections import defaultdict
from pathlib import Path

import jupytext
import numpy as np
import pytest

from blocklab.language import LANGUAGES
from blocklab.lessons import begin
from blocklab.panel import Panel
from blocklab.panel.panel import LIVE_SCALE

SOURCES = sorted((Path(__file__).parents[2] / "notebooks" / "source").glob("*.py"))


pytestmark = pytest.mark.usefixtures("lesson_undone")


def panels(source: Path, chosen: str) -> dict[int, Panel]:
    """Run a lesson's cells up to its last panel, and collect what the panel cells end in, by number of the cell."""
    begin(chosen)
    cells = [cell for cell in jupytext.read(source).cells if cell.cell_type == "code"]
    shown, space = {}, {}
    for number, cell in enumerate(cells):
        tree = ast.parse(cell.source)
        last = tree.body.pop() if "panel" in cell.metadata.get("tags", []) else None
        exec(compile(tree, f"{source.name} cell {number}", "exec"), space)
        if last is not None:
            shown[number] = eval(compile(ast.Expression(last.value), f"{source.name} cell {number}", "eval"), space)
    return shown


@pytest.mark.parametrize("chosen", LANGUAGES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_panel_goes_through_its_sweep(source, chosen, caplog):
    shown = panels(source, chosen)
    assert shown
    with caplog.at_level(logging.WARNING, logger="matplotlib"):  # in a formula a missing glyph is only logged
        for number, panel in shown.items():
            assert isinstance(panel, Panel), f"cell {number} is tagged as a panel"
            visits = 0
            for values, line in panel.sweep():
                visits += 1
                assert line.strip(), values
                frame, whole = panel.canvas.frame(), panel.canvas.still(LIVE_SCALE)
                assert np.array_equal(frame, whole), f"cell {number}: a frame differs from a full drawing at {values}"
            assert visits >= 2 or not panel.controls
    assert not caplog.records


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_control_changes_the_picture_or_the_line(source):
    for number, panel in panels(source, "en").items():
        seen = {name: defaultdict(set) for name in panel.controls}
        for values, line in panel.sweep():
            shown = (line, panel.canvas.frame().tobytes())
            for name in seen:
                others = repr({other: value for other, value in values.items() if other != name})
                seen[name][others].add(shown)
        for name, by_others in seen.items():
            assert any(len(each) > 1 for each in by_others.values()), f"cell {number}: {name} changes nothing"
