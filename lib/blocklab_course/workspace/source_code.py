"""Extract a learner's function from the notebook as source code that runs alone."""

import __future__

import ast
import builtins
import dis
import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from types import CodeType, FunctionType, ModuleType

import torch
from torch import nn

from blocklab_course.checks.outcome import is_library_code
from blocklab_course.checks.safe_repr import type_name
from blocklab_course.i18n import Text

from .folder import is_beside_notebooks

NOT_OWN = Text(en="it is `{name}`, which was not written here", zh="它是 `{name}`，不是在这里写的")
NO_FUNCTION = Text(
    en="only functions and your own Modules can be saved, and this is a `{kind}`",
    zh="只能保存函数，或者你自己写的模块，而这是 `{kind}`",
)
NO_SOURCE = Text(
    en="the source of `{name}` cannot be found: write it in a cell with `def` or `class`, and run that cell again",
    zh="找不到 `{name}` 的源代码：请在单元格里用 `def` 或 `class` 来写，再运行一次那个单元格",
)
MISSING = Text(en="it uses `{name}`, which is not defined", zh="它要用到 `{name}`，而这个名字没有定义")
NO_CONSTANT = Text(
    en="it uses `{name}`, a `{kind}`, which cannot be written to a file",
    zh="它要用到 `{name}`，而 `{kind}` 类型的值无法写进文件",
)
SAME_NAME = Text(en="it uses two different things named `{name}`", zh="它要用到两样东西，名字都叫 `{name}`")

PUBLIC_MODULES = ("torch", "torch.nn", "torch.nn.functional")  # import torch's objects from here if possible
MAX_LENGTH = 2_000  # characters of a constant


class CannotBeSaved(Exception):
    """Why the source code of a function would not run alone, in the reader's language."""


def standalone_source(name: str, candidate: object) -> str:
    """The source code that defines `name` as a function, or as the class of a Module.

    It contains the imports, constants, functions and classes that the definition uses. Raises CannotBeSaved.
    """
    definition = type(candidate) if isinstance(candidate, nn.Module) else candidate
    if origin := _find_import(definition, name) or _find_import(inspect.unwrap(definition), name):
        raise CannotBeSaved(NOT_OWN.format(name=".".join(origin)))
    if not isinstance(definition, type | FunctionType):
        raise CannotBeSaved(NO_FUNCTION.format(kind=type_name(candidate)))
    file = _SourceFile()
    file.define(name, definition, {})
    return file.text()


class _SourceFile:
    """Collects the parts of a file, and which value each name has in it."""

    def __init__(self) -> None:
        self._imports: set[str] = set()
        self._constants: list[str] = []
        self._definitions: list[str] = []
        self._values: dict[str, object] = {}

    def text(self) -> str:
        imports = sorted(self._imports, key=lambda line: (not line.startswith("import"), line))
        head = filter(None, ("\n".join(imports), "\n".join(self._constants)))
        return "\n\n\n".join(filter(None, ("\n\n".join(head), *self._definitions))) + "\n"

    def define(self, name: str, value: type | FunctionType, scope: dict[str, object]) -> None:
        """Add a function or class of the learner under a name, after everything that it uses.

        scope: the names where it is used. A class without methods does not say what its own are.
        """
        functions = _functions_in(value)
        node, source = _find_definition(name, value, [function.__code__ for function in functions])
        own_name = getattr(node, "name", name)  # a lambda and a class made by a call have none
        if self._is_new(own_name, value):
            text = _assign(name, node, source) if isinstance(node, ast.Lambda) else _lines_of(node, source)
            if isinstance(value, type) and value.__module__ in sys.modules:
                scope = scope | vars(sys.modules[value.__module__])
            for function in functions:
                scope = scope | function.__globals__ | _closure_variables(function)
            self._provide_all(text, scope)
            self._definitions.append(text)
        if own_name != name and self._is_new(name, value):
            self._definitions.append(f"{name} = {own_name}")

    def _is_new(self, name: str, value: object) -> bool:
        """Bind a name to a value. Returns whether it was unbound; raises CannotBeSaved if it had another value."""
        known = name in self._values
        if known and self._values[name] is not value:
            raise CannotBeSaved(SAME_NAME.format(name=name))
        self._values[name] = value
        return not known

    def _provide_all(self, text: str, scope: dict[str, object]) -> set[str]:
        """Add what gives the global names in a text their values. Returns these names, without Python's own."""
        used = _global_names(compile(text, "<solution>", "exec", dont_inherit=True))
        for name in sorted(used):
            self._provide(name, scope)
        return used & scope.keys()

    def _provide(self, name: str, scope: dict[str, object]) -> None:
        """Add the import, constant or definition that gives a name its value."""
        if name not in scope:
            if not hasattr(builtins, name):
                raise CannotBeSaved(MISSING.format(name=name))
            return
        value = scope[name]
        if isinstance(value, ModuleType) and not _is_own_module(value):
            if self._is_new(name, value):
                self._imports.add(_import_module(name, value))
        elif origin := _find_import(value, name):
            if self._is_new(name, value):
                self._imports.add("from {} import {}".format(*origin) + f" as {name}" * (origin[1] != name))
        elif isinstance(value, type) or isinstance(inspect.unwrap(value), FunctionType):
            self.define(name, value, scope)
        elif self._is_new(name, value):
            scope = {"torch": torch} | scope  # in the names of dtypes
            text = _expression(name, value, scope)
            used = self._provide_all(text, scope)
            modules = all(isinstance(scope[each], ModuleType) for each in used)
            (self._constants if modules else self._definitions).append(f"{name} = {text}")


def _expression(name: str, value: object, scope: dict[str, object]) -> str:
    """A constant as source code, also an instance of a dataclass. Raises CannotBeSaved for any other value."""
    if isinstance(value, float) and value - value != 0:  # infinite or NaN
        return f'float("{value}")'
    with suppress(Exception):  # the learner's own class may have a __repr__ or __eq__ that raises
        text = f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
        if len(text) <= MAX_LENGTH and eval(text, dict(scope)) == value:
            return text
    raise CannotBeSaved(NO_CONSTANT.format(name=name, kind=type_name(value)))


# Imports


def _find_import(value: object, name: str) -> tuple[str, str] | None:
    """The module to import a value from, and its name there; None for what the learner wrote."""
    home = getattr(value, "__module__", None)
    for module in (*PUBLIC_MODULES, home) if isinstance(home, str) else ():
        namespace = sys.modules.get(module)
        for attribute in (getattr(value, "__name__", name), name):
            if namespace and getattr(namespace, attribute, None) is value and not _is_own_module(namespace):
                return module, attribute
    return None


def _is_own_module(module: ModuleType) -> bool:
    """Whether a module is the notebook or a file beside it, which can only be imported from there."""
    file = getattr(module, "__file__", None)
    return module.__name__ == "__main__" or (
        file is not None and not is_library_code(file) and is_beside_notebooks(file)
    )


def _import_module(name: str, module: ModuleType) -> str:
    package, _, last = module.__name__.rpartition(".")
    if name == module.__name__:
        return f"import {name}"
    return f"from {package} import {name}" if last == name else f"import {module.__name__} as {name}"


# Definitions


def _functions_in(value: type | FunctionType) -> list[FunctionType]:
    """A function without its decorators, or the methods of a class."""
    members = [member for member in vars(value).values() if callable(member)] if isinstance(value, type) else [value]
    functions = [function for function in map(inspect.unwrap, members) if isinstance(function, FunctionType)]
    if isinstance(value, type):
        return [method for method in functions if method.__qualname__.startswith(f"{value.__qualname__}.")]
    return functions


def _find_definition(name: str, value: type | FunctionType, codes: list[CodeType]) -> tuple[ast.AST, str]:
    """The syntax tree of a function or class, and the source of its cell or file. Raises CannotBeSaved.

    `inspect.getsource` would not do: it finds no class of a notebook, and whole lines for a lambda.
    """
    for source in _sources(value, codes):
        with suppress(SyntaxError, ValueError):
            found = [node for node in ast.walk(ast.parse(source)) if _defines(node, name, value, codes)]
            if len(found) > 1:
                found = [
                    node for node in found if any(node.lineno <= c.co_firstlineno <= node.end_lineno for c in codes)
                ]
            if len(found) == 1:
                return found[0], source
    raise CannotBeSaved(NO_SOURCE.format(name=name))


def _sources(value: type | FunctionType, codes: list[CodeType]) -> Iterator[str]:
    """The texts that may define a function or class: its cell or file, then all cells, the latest first."""
    files = [code.co_filename for code in codes]
    if isinstance(value, type):  # the methods of a dataclass have no file
        files.append(getattr(sys.modules.get(value.__module__), "__file__", None) or "")
    for file in dict.fromkeys(files):
        linecache.checkcache(file)
        yield "".join(linecache.getlines(file))
    cells = list(_cells())
    yield from (cell for cell in cells if _compiles_to(cell, codes))
    if isinstance(value, type):  # it may have no methods of its own
        yield from cells


def _cells() -> Iterator[str]:
    """The cells of a notebook as Python runs them, the latest first, without magics such as %%time in the first line.

    Under these magics IPython does not say which cell a function is from.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    for cell in reversed(shell.history_manager.input_hist_raw if shell else []):
        while cell.lstrip().startswith("%%"):
            cell = cell.lstrip().partition("\n")[2]
        with suppress(SyntaxError):  # a cell that did not run
            yield shell.transform_cell(cell)


def _compiles_to(cell: str, codes: list[CodeType]) -> bool:
    """Whether a cell contains one of these functions, and not just another with its name in the same line."""
    if not codes:
        return False
    flags = codes[0].co_flags & __future__.annotations.compiler_flag
    try:
        parts = [compile(cell, "<cell>", "exec", flags, dont_inherit=True)]
    except (SyntaxError, ValueError):
        return False
    for part in parts:  # grows meanwhile
        parts += [inner for inner in part.co_consts if isinstance(inner, CodeType)]
    return any(code in parts for code in codes)


def _defines(node: ast.AST, name: str, value: type | FunctionType, codes: list[CodeType]) -> bool:
    """Whether a node defines a class of this name, or a function with this code."""
    if isinstance(value, type):
        if isinstance(node, ast.Assign):  # a named tuple
            return isinstance(node.value, ast.Call) and [ast.unparse(target) for target in node.targets] == [name]
        return isinstance(node, ast.ClassDef) and node.name == value.__name__
    places = {(code.co_name, code.co_firstlineno) for code in codes}
    if isinstance(node, ast.Lambda):
        return ("<lambda>", node.lineno) in places
    return isinstance(node, ast.FunctionDef) and (node.name, _first_line(node)) in places


def _first_line(node: ast.FunctionDef | ast.ClassDef | ast.Assign) -> int:
    return min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))


def _lines_of(node: ast.FunctionDef | ast.ClassDef | ast.Assign, source: str) -> str:
    """The lines of a node without its indentation. Lines that begin inside a string stay as they are."""
    strings = (part for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr))
    inside = {line for part in strings for line in range(part.lineno + 1, part.end_lineno + 1)}
    first, lines = _first_line(node), source.split("\n")
    return "\n".join(
        line if number in inside else line.removeprefix(lines[first - 1][: node.col_offset])
        for number, line in enumerate(lines[first - 1 : node.end_lineno], first)
    ).rstrip()


def _assign(name: str, node: ast.Lambda, source: str) -> str:
    text = ast.get_source_segment(source, node)
    return f"{name} = (\n    {text}\n)" if "\n" in text else f"{name} = {text}"


def _global_names(code: CodeType) -> set[str]:
    """The global names that code and the functions in it use but do not assign."""
    steps = list(dis.get_instructions(code))
    used = {step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")}
    assigned = {step.argval for step in steps if step.opname == "STORE_NAME"} | {"__name__", "__annotations__"}
    inside = [_global_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return (used - assigned).union(*inside)


def _closure_variables(function: FunctionType) -> dict[str, object]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # the variable has no value yet
            found[name] = cell.cell_contents
    return found
