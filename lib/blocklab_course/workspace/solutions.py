"""The learner's own blocks, which `check` accepted, as later lessons use them."""

import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType

import blocklab
from blocklab.my_files import BLOCKS_FOLDER
from blocklab_course.checks.engine import PATIENCE
from blocklab_course.checks.isolation import isolated
from blocklab_course.checks.safe_repr import error_message, type_name
from blocklab_course.checks.timeout import Interrupted, TimeLimit
from blocklab_course.i18n import Text, join_words
from blocklab_course.lessons.catalog import BLOCKS
from blocklab_course.workspace.files import Unreadable, read_regular_file, why_not_opened

from .folder import workspace_folder

LARGEST = 100_000  # bytes; the longest solution of a lesson has a hundredth of it
VERSION = ".".join(blocklab.__version__.split(".")[:2])
_VERSION = re.compile(r"Blocklab (\d+\.\d+)")

NO_BLOCK = Text(
    en="There is no block {name!r}. All of them: {names}", zh="没有名为 {name!r} 的代码块。全部代码块：{names}"
)
WITHOUT = Text(en="{file}: {why}; going on without it", zh="{file}：{why}；先不用它")
NOT_TEXT = Text(en="its text is not UTF-8", zh="文字编码不是 UTF-8")
NO_PYTHON = Text(en="no Python in line {line} ({why})", zh="第 {line} 行不是 Python（{why}）")
ANOTHER_VERSION = Text(
    en="it was kept by Blocklab {theirs}, and this is {ours}: run its exercise again",
    zh="它由 Blocklab {theirs} 保存，现在是 {ours}，请再运行一次那个练习",
)
ENDLESS = Text(en="it does not come to its end", zh="它一直没有运行完")
RAISES = Text(en="it stops with {error}", zh="运行时报错：{error}")
DEFINES_NONE = Text(en="it defines no `{name}`", zh="里面没有定义 `{name}`")


def load(name: str) -> Callable | None:
    """The learner's own block of this name, a function or the class of a Module.

    None where none is kept, and where it cannot be used, which is then said in one line.
    Raises ValueError for a name that is no block's.
    """
    if name not in BLOCKS:
        raise ValueError(NO_BLOCK.format(name=name, names=join_words(BLOCKS)))
    file = solution_file(name)
    if file is None:
        return None
    try:
        return execute(read_code(file), name)
    except FileNotFoundError:
        return None
    except (Unreadable, OSError) as error:
        why = why_not_opened(error)
        print(WITHOUT.format(file=display_path(file), why=why))
        return None


def load_all() -> dict[str, Callable]:
    """All of the learner's own blocks that can be used, by their names, in the order of the lessons."""
    found = {name: load(name) for name in BLOCKS}
    return {name: block for name, block in found.items() if block is not None}


def solution_file(name: str) -> Path | None:
    """Where a block is kept; None where nothing is."""
    mine = workspace_folder()
    return mine and solution_file_in(mine, name)


def solution_file_in(mine: Path, name: str) -> Path:
    """Where a block is kept in a learner's folder."""
    return mine / BLOCKS_FOLDER / f"{name}.py"


def display_path(file: Path) -> str:
    """What messages call the file of a block: `my/blocks/rms_norm.py`."""
    return "/".join(file.parts[-3:])


def read_code(file: Path) -> CodeType:
    """The code of a block's file, not yet run. Raises Unreadable for what is none, and OSError."""
    try:
        text = read_regular_file(file, LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(NOT_TEXT) from None
    version = _VERSION.search(text.partition("\n")[0])
    if version and version[1] != VERSION:
        raise Unreadable(ANOTHER_VERSION.format(theirs=version[1], ours=VERSION))
    return compile_source(text, file)


def compile_source(text: str, file: Path) -> CodeType:
    """The code of a text that stands, or is to stand, in a file. Raises Unreadable for what is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(text, str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Unreadable(NO_PYTHON.format(line=error.lineno or 1, why=error.msg)) from None
    except (ValueError, RecursionError, MemoryError) as error:  # bytes 0, or nested too deeply
        raise Unreadable(NO_PYTHON.format(line=1, why=error_message(error))) from None


def execute(code: CodeType, name: str) -> Callable:
    """What the code of a block defines, run in a namespace of its own. Raises Unreadable."""
    namespace = {"__name__": name}
    try:
        with isolated(), TimeLimit(PATIENCE) as watch:
            watch.call(partial(exec, code, namespace))
    except Interrupted:
        raise Unreadable(ENDLESS) from None
    except BaseException as error:
        raise Unreadable(RAISES.format(error=f"{type_name(error)}: {error_message(error)}")) from None
    if not callable(namespace.get(name)):
        raise Unreadable(DEFINES_NONE.format(name=name))
    return namespace[name]
