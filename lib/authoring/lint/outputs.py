"""Check the outputs of built notebooks: no errors, no stderr, nothing that differs from run to run, none missing."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from authoring.problem import Problem
from authoring.source import parse

_MEMORY = re.compile(r"0x[0-9a-f]{6,}")
_UNREAD = re.compile(r'data:[\w/+-]+;base64,[\w+/=]+| style="[^"]*"')  # embedded pictures, and looks
# Functions that return None. A call of any other function in the last line shows a value.
_SILENT = {"begin", "assert_close", "manual_seed", "seed", "append", "extend", "update", "step", "backward"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def output_texts(output: NotebookNode) -> list[str]:
    """The texts of an output: printed text, or what a reader sees of the text formats of a displayed value."""
    if output.output_type == "stream":
        return [output.text]
    shown = [data for kind, data in output.get("data", {}).items() if kind.startswith("text/")]
    return [_UNREAD.sub("", data) for data in shown]


def check_outputs(notebook: NotebookNode, file: str) -> list[Problem]:
    """Check every code cell of an executed notebook."""
    return [
        Problem(file, None, cell.id, what, found)
        for cell in notebook.cells
        if cell.cell_type == "code"
        for what, found in _find_problems(cell)
    ]


def _find_problems(cell: NotebookNode) -> Iterator[tuple[str, tuple]]:
    tags = cell.metadata.get("tags", ())
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            yield "wrote to stderr", (("stderr", output.text),)
        if output.output_type == "error" and "raises-exception" not in tags:
            yield "shows an error", (("error", f"{output.ename}: {output.evalue}"),)
        for text in output_texts(output):
            if _MEMORY.search(text):
                yield "an output holds a memory address, which differs from run to run", (("output", text),)
    if not cell.outputs and shows_output(cell.source):
        yield "expected an output, because the cell prints or ends in a value (assign it to _ to hide it)", ()
    elif "panel" in tags and not any("image/png" in output.get("data", ()) for output in cell.outputs):
        yield "expected a picture of the panel", ()


def shows_output(code: str) -> bool:
    """Whether running the cell certainly shows something: it prints, shows progress, or ends in a value."""
    try:
        body = parse(code).body
    except SyntaxError:
        return True
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and (not isinstance(last.value, ast.Call) or not _silent(_name(last.value))):
        return True
    return any(_name(node) in ("print", "progress") for part in body for node in _run(part))


def _run(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, without the bodies of functions and classes."""
    yield part
    for child in () if isinstance(part, (*_SCOPES, ast.Lambda)) else ast.iter_child_nodes(part):
        yield from _run(child)


def _name(node: ast.AST) -> str | None:
    function = getattr(node, "func", None)
    return getattr(function, "id", getattr(function, "attr", None))


def _silent(name: str | None) -> bool:
    return name is not None and (name in _SILENT or name.endswith("_"))
