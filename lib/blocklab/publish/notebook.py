"""A lesson in one language as a notebook: the cells, not yet their outputs."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from blocklab.language import LANGUAGES

from . import stamp
from .address import Address, read_address
from .project import Outline, Project
from .source import Code, Lesson, read_lesson


def compose(project: Project, outlines: list[Outline], here: Outline) -> dict[str, NotebookNode]:
    """The notebook of a lesson in each language, without outputs."""
    lesson = read_lesson(project, here.stem)
    return {language: _compose(project, lesson, outlines, here, language) for language in LANGUAGES}


def _compose(project: Project, lesson: Lesson, outlines: list[Outline], here: Outline, language: str) -> NotebookNode:
    cells = [_code(cell) if isinstance(cell, Code) else _text(cell, language) for cell in lesson.cells]
    notebook = of_cells(cells, language, lesson.file)
    put_stamps(notebook, read_address(project), outlines, here, language)
    return notebook


def of_cells(cells: list[NotebookNode], language: str, source: str) -> NotebookNode:
    """A notebook that says its language and the file it is built from."""
    metadata = {
        "blocklab": {"language": language, "source": source},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)


def put_stamps(notebook: NotebookNode, address: Address, outlines: list[Outline], here: Outline, language: str) -> None:
    """Give the notebook its stamped cells, or renew them. Outputs stay, and so does every other cell."""
    old = {cell.id: cell for cell in notebook.cells}
    top = new_markdown_cell(stamp.navigation(address, outlines, here, language), id=stamp.TOP)
    setup = old.get(stamp.SETUP) or new_code_cell(id=stamp.SETUP)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code" and cell.id != stamp.SETUP)
    setup.source = stamp.setup(address, language, code)
    title, *rest = [cell for cell in notebook.cells if cell.id not in stamp.IDS]
    end = stamp.closing(outlines, here, language)
    bottom = [new_markdown_cell(end, id=stamp.BOTTOM)] if end else []
    notebook.cells = [title, top, setup, *rest, *bottom]


def _text(twins, language: str) -> NotebookNode:
    return new_markdown_cell(getattr(twins, language), id=twins.id)


def _code(code: Code) -> NotebookNode:
    metadata = {"tags": list(code.tags)} if code.tags else {}
    if code.claims:
        metadata |= {"blocklab": {"claims": list(code.claims)}}
    if "solution" in code.tags:
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    return new_code_cell(code.source, id=code.id, metadata=metadata)


def read(path: Path) -> NotebookNode:
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def write(notebook: NotebookNode, path: Path) -> None:
    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def keep_outputs(new: NotebookNode, old: NotebookNode) -> None:
    """Carry over what the old notebook has shown, for every code cell whose source is the same or is stamped."""
    shown = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        twin = shown.get(cell.id) if cell.cell_type == "code" else None
        if twin and (twin.source == cell.source or cell.id == stamp.SETUP):
            cell.outputs, cell.execution_count = twin.outputs, twin.execution_count
