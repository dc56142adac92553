"""A learner's answers, carried from an old copy of a lesson over into a new one."""

import json

from blocklab_course.gradebook.submissions import exercises


def carry_over(old: dict, new: dict) -> tuple[int, list[str]]:
    """Put the answers of an old copy into the new one: the same cell, which asks for the same exercises.

    Returns how many were carried, and the names of the exercises whose answers have no place in the new copy.
    """
    todo = {cell["id"]: cell for cell in _exercise_cells(new)}
    carried, left = 0, []
    for answer in _exercise_cells(old):
        cell = todo.get(answer.get("id"))
        asked = exercises("".join(answer["source"]))
        if cell is None or not exercises("".join(cell["source"])) <= asked:
            left += sorted(asked)
        elif "".join(answer["source"]) != "".join(cell["source"]):
            cell.update(source=answer["source"], outputs=[], execution_count=None)
            carried += 1
    return carried, left


def _exercise_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if "exercise" in cell["metadata"].get("tags", ())]


def as_bytes(notebook: dict) -> bytes:
    """A notebook as Jupyter saves it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"
