"""Turn a lesson's source into notebooks, and read and write built ones."""

import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from blocklab import __version__
from blocklab_course.gradebook.grades import MIME
from blocklab_course.i18n import LANGUAGES
from blocklab_course.lessons.catalog import manifest_of

from . import folding, further, install_cell, navigation
from .address import Address, read_address
from .effort import exercise_labels
from .files import read_text, write_text
from .folding import strip_title
from .hidden_outputs import METADATA_KEY, hide, reveal
from .problem import BuildErrors, Problem, shorten
from .project import Outline, Project
from .source import BilingualText, Code, Lesson, read_lesson

GENERATED_IDS = {install_cell.CELL_ID, navigation.TOP, navigation.BOTTOM}  # cells that no source holds


def compose(project: Project, outlines: list[Outline], here: Outline) -> dict[str, NotebookNode]:
    """The notebook of a lesson in each language, without outputs."""
    lesson = read_lesson(project, here.stem)
    return {language: _compose(project, lesson, outlines, here, language) for language in LANGUAGES}


def _compose(project: Project, lesson: Lesson, outlines: list[Outline], here: Outline, language: str) -> NotebookNode:
    labels = exercise_labels(lesson, manifest_of(here.stem), language)
    following = [cell.id for cell in lesson.cells[1:]] + [""]
    cells = [
        _code(cell, language) if isinstance(cell, Code) else _text(cell, language, labels.get(after))
        for cell, after in zip(lesson.cells, following, strict=True)
    ]
    if imports := _imports(lesson):
        folding.fold(cells[lesson.cells.index(imports)], folding.IMPORTS, language)
    notebook = make_notebook([part for cell in cells for part in further.split_heading(cell)], language, lesson.file)
    further.collapse_on_colab(notebook)
    set_shared_cells(notebook, read_address(project), outlines, here, language)
    return notebook


def make_notebook(cells: list[NotebookNode], language: str, source: str) -> NotebookNode:
    """A notebook whose metadata names its language and its source file."""
    metadata = {
        "blocklab": {"language": language, "source": source},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)


def set_shared_cells(
    notebook: NotebookNode, address: Address, outlines: list[Outline], here: Outline, language: str
) -> None:
    """Insert or update the generated cells. Other cells and all outputs stay."""
    old = {cell.id: cell for cell in notebook.cells}
    top = new_markdown_cell(navigation.navigation_line(address, outlines, here, language), id=navigation.TOP)
    setup = old.get(install_cell.CELL_ID) or new_code_cell(id=install_cell.CELL_ID)
    setup.source = install_cell.install_code(address, language, manifest_of(here.stem).needs)
    folding.fold(setup, folding.SETUP, language)
    title, *rest = [cell for cell in notebook.cells if cell.id not in GENERATED_IDS]
    end = navigation.next_lesson_text(outlines, here, language)
    bottom = [new_markdown_cell(end, id=navigation.BOTTOM)] if end else []
    notebook.cells = [title, top, setup, *rest, *bottom]


def _imports(lesson: Lesson) -> Code | None:
    """The first code cell, if it begins with an import."""
    first = next((cell for cell in lesson.cells if isinstance(cell, Code)), None)
    return first if first and first.source.startswith(("import ", "from ")) else None


def _text(cell: BilingualText, language: str, label: str | None) -> NotebookNode:
    text = getattr(cell, language)
    return new_markdown_cell(f"{text}\n\n{label}" if label else text, id=cell.id)


def _code(code: Code, language: str) -> NotebookNode:
    metadata = {"tags": list(code.tags)} if code.tags else {}
    if code.claims:
        metadata |= {METADATA_KEY: {"claims": list(code.claims)}}
    cell = new_code_cell(code.source, id=code.id, metadata=metadata)
    if "solution" in code.tags:
        folding.fold(cell, folding.SOLUTION, language)
    return cell


def read(path: Path, shown: str = "") -> NotebookNode:
    """Read a built notebook and reveal its hidden outputs. `shown` is its name in messages (default: the path).

    Raises BuildErrors if the file is not a notebook of format 4.5.
    """
    shown = shown or path.as_posix()
    try:
        content = json.loads(read_text(path, shown))
        reveal(content)
        nbformat.validate(content, version=4, version_minor=5)
        return nbformat.v4.to_notebook_json(content, minor=5)
    except (ValueError, AttributeError, LookupError, TypeError, nbformat.ValidationError) as error:
        line = getattr(error, "lineno", None)
        raise BuildErrors(Problem(shown, line, None, f"expected a notebook: {shorten(str(error))}")) from None


def to_text(notebook: NotebookNode) -> str:
    """The notebook as JSON, with the answers to predictions and exercises hidden."""
    nbformat.validate(notebook)
    return nbformat.v4.writes(hide(notebook)) + "\n"


def write(notebook: NotebookNode, path: Path, shown: str = "") -> None:
    write_text(path, to_text(notebook), shown or path.as_posix())


def keep_outputs(new: NotebookNode, old: NotebookNode) -> None:
    """Copy the outputs of unchanged code cells, and of the first code cell, to the new notebook.

    Verdicts get the current version number, as a run would give them.
    """
    old_cells = {cell.id: cell for cell in old.cells if cell.cell_type == "code"}
    for cell in new.cells:
        twin = old_cells.get(cell.id) if cell.cell_type == "code" else None
        if twin and (cell.id == install_cell.CELL_ID or strip_title(twin.source) == strip_title(cell.source)):
            cell.outputs, cell.execution_count = twin.outputs, twin.execution_count
            for output in cell.outputs:
                if MIME in output.get("data", ()):
                    output["data"][MIME]["version"] = __version__
