"""The source of a learner's function with all that it needs: what stands in a notebook, as a file that runs alone."""

import ast
import builtins
import dis
import inspect
import linecache
import sys
import textwrap
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType

import torch
from torch import nn

from blocklab_course.checks.outcome import is_library_code
from blocklab_course.checks.safe_repr import type_name
from blocklab_course.i18n import Text

from .folder import is_beside_notebooks

NOT_OWN = Text(en="it is `{name}`, which was not written here", zh="它是 `{name}`，不是在这里写的")
NO_FUNCTION = Text(
    en="only a function can be kept, or a Module of your own, and this is a `{kind}`",
    zh="只能保存函数，或者你自己写的模块，而这是 `{kind}`",
)
NO_SOURCE = Text(en="the source of `{name}` cannot be found", zh="找不到 `{name}` 的源代码")
MISSING = Text(en="it needs `{name}`, which is nowhere defined", zh="它要用到 `{name}`，而这个名字没有定义")
NO_CONSTANT = Text(
    en="it needs `{name}`, a `{kind}`, which cannot be written into a file",
    zh="它要用到 `{name}`，而 `{kind}` 类型的值无法写进文件",
)
TWO_OF_A_NAME = Text(en="it needs two different things called `{name}`", zh="它要用到两样东西，名字都叫 `{name}`")

PUBLIC = ("torch", "torch.nn", "torch.nn.functional")  # where torch's own are known from, wherever they are written
NOTEBOOKS = {"display", "get_ipython"}  # are among Python's own names in a notebook alone
MODULES = {"__name__", "__annotations__"}  # every file has them
LONGEST = 2_000  # characters of a constant


class CannotBeSaved(Exception):
    """Why a function has no source that would run alone, in the reader's language."""


def standalone_source(name: str, candidate: object) -> str:
    """The code that gives `name` to a function, or to the class of a Module: imports, constants, definitions.

    Functions, classes and constants of the learner's own come along. Raises CannotBeKept.
    """
    block = type(candidate) if isinstance(candidate, nn.Module) else candidate
    if origin := _origin(block, name) or _origin(inspect.unwrap(block), name):
        raise CannotBeSaved(NOT_OWN.format(name=".".join(origin)))
    if not isinstance(block, type | FunctionType):
        raise CannotBeSaved(NO_FUNCTION.format(kind=type_name(candidate)))
    parts = _Parts()
    parts.define(name, block)
    return parts.joined()


class _Parts:
    """What a file is put together from, and the values that its names stand for."""

    def __init__(self) -> None:
        self._imports: set[str] = set()
        self._constants: list[str] = []
        self._definitions: list[str] = []
        self._values: dict[str, object] = {}

    def joined(self) -> str:
        imports = sorted(self._imports, key=lambda line: (not line.startswith("import"), line))
        heads = filter(None, ("\n".join(imports), "\n".join(self._constants)))
        return "\n\n\n".join(filter(None, ("\n\n".join(heads), *self._definitions))) + "\n"

    def define(self, name: str, value: type | FunctionType) -> None:
        """Add a function or class of the learner's own under a name, and before it all that it reads."""
        written = _written(value)
        node, source = _found(name, value, written)
        is_lambda = isinstance(node, ast.Lambda)
        own = name if is_lambda else node.name
        if self._is_new(own, value):
            text = _assigned(name, node, source) if is_lambda else _lines_of(node, source)
            surroundings = written.__globals__ | _closed_over(written)
            for read in sorted(_names_read(compile(text, "<block>", "exec", dont_inherit=True))):
                self._need(read, surroundings, text)
            self._definitions.append(text)
        if own != name and self._is_new(name, value):
            self._definitions.append(f"{name} = {own}")

    def _is_new(self, name: str, value: object) -> bool:
        """Let a name stand for a value; whether it did not before. Raises CannotBeKept if it stands for another."""
        known = name in self._values
        if known and self._values[name] is not value:
            raise CannotBeSaved(TWO_OF_A_NAME.format(name=name))
        self._values[name] = value
        return not known

    def _need(self, name: str, surroundings: dict[str, object], text: str) -> None:
        """Add what a name stands for around the text that reads it."""
        if name not in surroundings:
            if name not in dir(builtins) or name in NOTEBOOKS:
                raise CannotBeSaved(MISSING.format(name=name))
            return
        value = surroundings[name]
        if isinstance(value, ModuleType) and not _lies_here(value):
            self._is_new(name, value)
            self._imports |= _imports(name, value, text)
        elif origin := _origin(value, name):
            if self._is_new(name, value):
                self._imports.add("from {} import {}".format(*origin) + f" as {name}" * (origin[1] != name))
        elif isinstance(value, type) or isinstance(inspect.unwrap(value), FunctionType):
            self.define(name, value)
        elif self._is_new(name, value):
            self._constants.append(f"{name} = {self._literal(name, value)}")

    def _literal(self, name: str, value: object) -> str:
        """A constant as it is written. Raises CannotBeKept for what is none."""
        if isinstance(value, torch.dtype):
            self._imports.add("import torch")
            return str(value)
        if isinstance(value, float) and value - value != 0:  # an infinity, or not a number
            return f'float("{value}")'
        try:
            text = repr(value)
            if len(text) <= LONGEST and ast.literal_eval(text) == value:
                return text
        except Exception:  # a value may say of itself what it likes
            pass
        raise CannotBeSaved(NO_CONSTANT.format(name=name, kind=type_name(value)))


# Where a value comes from


def _origin(value: object, name: str) -> tuple[str, str] | None:
    """The module from which a value is imported anywhere, and its name there; None for what is the learner's."""
    home = getattr(value, "__module__", None)
    for module in (*PUBLIC, home) if isinstance(home, str) else ():
        space = sys.modules.get(module)
        for own in (getattr(value, "__name__", name), name):
            if space and getattr(space, own, None) is value and not _lies_here(space):
                return module, own
    return None


def _lies_here(module: ModuleType) -> bool:
    """Whether a module is the notebook, or lies beside it and is found from there alone."""
    file = getattr(module, "__file__", None)
    return module.__name__ == "__main__" or (
        file is not None and not is_library_code(file) and is_beside_notebooks(file)
    )


def _imports(name: str, module: ModuleType, text: str) -> set[str]:
    """The lines that import a module under a name, and those of its modules that the text reads by their full names."""
    package, _, last = module.__name__.rpartition(".")
    if name == module.__name__:
        chains = {ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
        inside = {name, *(chain for chain in chains if chain.startswith(f"{name}.") and chain in sys.modules)}
        return {f"import {one}" for one in inside if not any(other.startswith(f"{one}.") for other in inside)}
    return {f"from {package} import {name}" if last == name else f"import {module.__name__} as {name}"}


# How it is written


def _written(value: type | FunctionType) -> FunctionType | None:
    """The function that tells where a value is written: itself, what it wraps, or a method of the class."""
    if not isinstance(value, type):
        return inspect.unwrap(value)
    parts = (inspect.unwrap(part) for part in vars(value).values() if callable(part))
    methods = (part for part in parts if isinstance(part, FunctionType))
    return next((method for method in methods if method.__qualname__.startswith(f"{value.__qualname__}.")), None)


def _found(name: str, value: type | FunctionType, written: FunctionType | None) -> tuple[ast.AST, str]:
    """Where a function or class is written, and the source of that cell or file. Raises CannotBeKept."""
    code = getattr(written, "__code__", None)
    if isinstance(code, CodeType):
        linecache.checkcache(code.co_filename)
        source = "".join(linecache.getlines(code.co_filename, written.__globals__))
        fits = _fits_class if isinstance(value, type) else _fits_function
        found = [node for node in ast.walk(ast.parse(source)) if fits(node, value, code)]
        if len(found) == 1:
            return found[0], source
    raise CannotBeSaved(NO_SOURCE.format(name=name))


def _fits_class(node: ast.AST, value: type, method: CodeType) -> bool:
    named = isinstance(node, ast.ClassDef) and node.name == value.__name__
    return named and node.lineno <= method.co_firstlineno <= node.end_lineno


def _fits_function(node: ast.AST, _value: FunctionType, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    return isinstance(node, ast.FunctionDef) and (node.name, _first_line(node)) == (code.co_name, code.co_firstlineno)


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min(part.lineno for part in (node, *node.decorator_list))


def _lines_of(node: ast.FunctionDef | ast.ClassDef, source: str) -> str:
    lines = source.split("\n")[_first_line(node) - 1 : node.end_lineno]
    return textwrap.dedent("\n".join(lines)).rstrip()


def _assigned(name: str, node: ast.Lambda, source: str) -> str:
    text = ast.get_source_segment(source, node)
    return f"{name} = (\n    {text}\n)" if "\n" in text else f"{name} = {text}"


# What it reads


def _names_read(code: CodeType) -> set[str]:
    """The names that code takes from around it, and the code inside of it too."""
    steps = list(dis.get_instructions(code))
    read = {step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")}
    own = {step.argval for step in steps if step.opname == "STORE_NAME"} | MODULES
    inside = [_names_read(part) for part in code.co_consts if isinstance(part, CodeType)]
    return (read - own).union(*inside)


def _closed_over(function: FunctionType) -> dict[str, object]:
    """The names of a function around it, and their values."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # nothing is in it yet
            found[name] = cell.cell_contents
    return found
