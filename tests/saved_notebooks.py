"""Notebooks that students submit, with the verdicts that `check` saved."""

import json
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook, new_output

from blocklab_course.checks.verdict import MIME


def verdict(exercise, mistake=None, passed=False):
    return {"exercise": exercise, "passed": passed, "mistake": mistake, "advice": [], "version": "0.1.0"}


def cell(*verdicts, source="1 / 0", **metadata):
    outputs = [new_output("execute_result", {MIME: data, "text/plain": "…"}) for data in verdicts]
    return new_code_cell(source, outputs=outputs, metadata=metadata)


def notebook(*verdicts, source="1 / 0"):
    cells = [cell(data, source=source) for data in verdicts]
    return new_notebook(cells=[*cells, new_code_cell("print(1)", outputs=[new_output("stream", text="1")])])


def hand_in(folder: Path, **named: object) -> Path:
    """Write notebooks to a folder: `hand_in(folder, **{"eve/05.ipynb": notebook(…)})`."""
    for name, content in named.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")
    return folder
