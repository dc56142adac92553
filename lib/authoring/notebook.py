"""A lesson in one language as a notebook: the cells, not yet their outputs."""

import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from blocklab import __version__
from blocklab_course.gradebook.grades import MIME
from blocklab_course.i18n import LANGUAGES
from blocklab_course.lessons.catalog import manifest_of

from . import stamped_cells
from .address import Address, read_address
from .files import read_text, write_text
from .hidden_outputs import METADATA_KEY, hide, reveal
from .problem import BuildErrors, Problem, shorten
from .project import Outline, Project
from .source import Code, Lesson, read_lesson

FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # a cell whose code JupyterLab, and Colab, fold


def compose(project: Project, outlines: list[Outline], here: Outline) -> dict[str, NotebookNode]:
    """The notebook of a lesson in each language, without outputs."""
    lesson = read_lesson(project, here.stem)
    return {language: _compose(project, lesson, outlines, here, language) for language in LANGUAGES}


def _compose(project: Project, lesson: Lesson, outlines: list[Outline], here: Outline, language: str) -> NotebookNode:
    cells = [_code(cell) if isinstance(cell, Code) else _text(cell, language) for cell in lesson.cells]
    notebook = make_notebook(cells, language, lesson.file)
    set_shared_cells(notebook, read_address(project), outlines, here, language)
    return notebook


def make_notebook(cells: list[NotebookNode], language: str, source: str) -> NotebookNode:
    """A notebook that says its language and the file it is built from."""
    metadata = {
        "blocklab": {"language": language, "source": source},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)


def set_shared_cells(
    notebook: NotebookNode, address: Address, outlines: list[Outline], here: Outline, language: str
) -> None:
    """Give the notebook its stamped cells, or renew them. Outputs stay, and so does every other cell."""
    old = {cell.id: cell for cell in notebook.cells}
    top = new_markdown_cell(stamped_cells.navigation_line(address, outlines, here, language), id=stamped_cells.TOP)
    setup = old.get(stamped_cells.SETUP) or new_code_cell(id=stamped_cells.SETUP)
    setup.metadata |= FOLDED
    setup.source = stamped_cells.install_code(address, language, manifest_of(here.stem).needs)
    title, *rest = [cell for cell in notebook.cells if cell.id not in stamped_cells.IDS]
    end = stamped_cells.next_lesson_line(outlines, here, language)
    bottom = [new_markdown_cell(end, id=stamped_cells.BOTTOM)] if end else []
    notebook.cells = [title, top, setup, *rest, *bottom]


def _text(twins, language: str) -> NotebookNode:
    return new_markdown_cell(getattr(twins, language), id=twins.id)


def _code(code: Code) -> NotebookNode:
    metadata = {"tags": list(code.tags)} if code.tags else {}
    if code.claims:
        metadata |= {METADATA_KEY: {"claims": list(code.claims)}}
    if "solution" in code.tags:
        metadata |= FOLDED
    return new_code_cell(code.source, id=code.id, metadata=metadata)


def read(path: Path, shown: str = "") -> NotebookNode:
    """A built notebook, its sealed outputs in their places. `shown` is what messages call it, the path if empty.

    Raises Faults for a file that is no notebook of the format that is written here.
    """
    shown = shown or path.as_posix()
    try:
        content = json.loads(read_text(path, shown))
        reveal(content)
        nbformat.validate(content, version=4, version_minor=5)
        return nbformat.v4.to_notebook_json(content, minor=5)
    except (ValueError, AttributeError, LookupError, TypeError, nbformat.ValidationError) as error:
        line = getattr(error, "lineno", None)
        raise BuildErrors(Problem(shown, line, None, f"is not a notebook: {shorten(str(error))}")) from None


def to_text(notebook: NotebookNode) -> str:
    """What stands in the file of a notebook, in which the answers to predictions are sealed."""
    nbformat.validate(notebook)
    return nbformat.v4.writes(hide(notebook)) + "\n"


def write(notebook: NotebookNode, path: Path, shown: str = "") -> None:
    write_text(path, to_text(notebook), shown or path.as_posix())


def keep_outputs(new: NotebookNode, old: NotebookNode) -> None:
    """Carry over what the old notebook has shown, for every code cell whose source is the same or is stamped.

    Verdicts say by which version they were given: as a run would, they say today's.
    """
    shown = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        twin = shown.get(cell.id) if cell.cell_type == "code" else None
        if twin and (twin.source == cell.source or cell.id == stamped_cells.SETUP):
            cell.outputs, cell.execution_count = twin.outputs, twin.execution_count
            for output in cell.outputs:
                if MIME in output.get("data", ()):
                    output["data"][MIME]["version"] = __version__
