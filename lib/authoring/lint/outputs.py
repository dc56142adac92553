"""What a built notebook shows under its code cells: nothing that differs from run to run, no error, nothing lost."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from authoring.problem import Problem
from authoring.source import parse

_MEMORY = re.compile(r"0x[0-9a-f]{6,}")
_EMBEDDED = re.compile(r"data:[\w/+-]+;base64,[\w+/=]+")
# Functions that give back nothing. Of any other, a call in the last line shows a value.
_SILENT = {"begin", "assert_close", "manual_seed", "seed", "append", "extend", "update", "step", "backward"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def output_texts(output: NotebookNode) -> list[str]:
    """What a reader can read in an output: printed text, and the text form of what was shown."""
    if output.output_type == "stream":
        return [output.text]
    shown = [data for kind, data in output.get("data", {}).items() if kind.startswith("text/")]
    return [_EMBEDDED.sub("", data) for data in shown]  # a picture in a page is no text


def check_outputs(notebook: NotebookNode, file: str) -> list[Problem]:
    """All code cells of a notebook that was run."""
    return [
        Problem(file, None, cell.id, what, found)
        for cell in notebook.cells
        if cell.cell_type == "code"
        for what, found in _wrong(cell)
    ]


def _wrong(cell: NotebookNode) -> Iterator[tuple[str, tuple]]:
    tags = cell.metadata.get("tags", ())
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            yield "wrote to stderr", (("stderr", output.text),)
        if output.output_type == "error" and "raises-exception" not in tags:
            yield "shows an error", (("error", f"{output.ename}: {output.evalue}"),)
        for text in output_texts(output):
            if _MEMORY.search(text):
                yield "an output holds a memory address, which differs in every run", (("output", text),)
    if not cell.outputs and shows_output(cell.source):
        yield "shows nothing, but it prints or ends in a value (one that is not to be shown goes to _)", ()
    elif "panel" in tags and not any("image/png" in output.get("data", ()) for output in cell.outputs):
        yield "shows no picture of its panel", ()


def shows_output(code: str) -> bool:
    """Whether a cell surely shows something when it is run: it prints, counts, or ends in a value."""
    try:
        body = parse(code).body
    except SyntaxError:
        return True
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and (not isinstance(last.value, ast.Call) or not _silent(_name(last.value))):
        return True
    return any(_name(node) in ("print", "progress") for part in body for node in _run(part))


def _run(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run with it: without the bodies of functions and classes."""
    yield part
    for child in () if isinstance(part, (*_SCOPES, ast.Lambda)) else ast.iter_child_nodes(part):
        yield from _run(child)


def _name(node: ast.AST) -> str | None:
    function = getattr(node, "func", None)
    return getattr(function, "id", getattr(function, "attr", None))


def _silent(name: str | None) -> bool:
    return name is not None and (name in _SILENT or name.endswith("_"))
