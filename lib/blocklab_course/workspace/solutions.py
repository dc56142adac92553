"""Save the solutions that `check` accepts to the learner's folder, and load them in later lessons."""

import errno
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType

import blocklab
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.safe_repr import error_message, type_name
from blocklab_course.i18n import Text, join_words
from blocklab_course.lessons.catalog import EXERCISES, SAVED_EXERCISES
from blocklab_course.model_swap.errors import SwapError

from .files import Unreadable, atomic_write, read_regular_file, why_not_opened
from .folder import SOLUTIONS_FOLDER, on_colab, workspace_folder
from .run_alone import run_alone
from .source_code import CannotBeSaved, standalone_source

MAX_BYTES = 100_000  # about a hundred times the longest solution in the lessons
OLD_VERSIONS = 3  # how many earlier versions of a solution are kept, as NAME.py.1 and so on
VERSION = ".".join(blocklab.__version__.split(".")[:2])
_VERSION = re.compile(r"Blocklab (\d+\.\d+)")

HEADING = "# Your own {name}, as check accepted it (Blocklab {version}). 你写的 {name}，check 已通过。\n\n"
SAVED = Text(en="Kept as `{file}`, for later lessons to run.", zh="已保存为 `{file}`，后面的课可以运行它。")
SAVED_AGAIN = Text(
    en="Kept as `{file}`, for later lessons to run; the earlier one is `{file}.1` now.",
    zh="已保存为 `{file}`，后面的课可以运行它；原来的那份改名为 `{file}.1`。",
)
NOT_SAVED = Text(en="It passed, but was not saved: {why}.", zh="通过了，但没有保存：{why}。")
NOT_USABLE = Text(
    en="It passed, but was not saved, because later lessons could not use it. {why}",
    zh="通过了，但没有保存，因为后面的课用不了它。{why}",
)
AS_FUNCTION = Text(en="As a function `{wanted}` it could be saved.", zh="如果写成函数 `{wanted}`，就可以保存。")
TO_DRIVE = Text(
    en="Colab deletes it when this session ends. This line copies it to your Drive: `{line}` In the next lesson, this "
    "one brings it back: `{back}`",
    zh="这次会话一结束，Colab 就会删掉它。运行这一行，可以保存到你的云端硬盘：`{line}` "
    "到了下一课，再用这一行取回：`{back}`",
)
DRIVE_LINE = (
    'from google.colab import drive; drive.mount("/content/drive"); '
    "import shutil; shutil.copytree({}, dirs_exist_ok=True)"
)
TO_DRIVE_LINE = DRIVE_LINE.format('"my", "/content/drive/MyDrive/my"')
FROM_DRIVE_LINE = DRIVE_LINE.format('"/content/drive/MyDrive/my", "my"')
NO_SOURCE = Text(en="its source code could not be read ({error})", zh="取不到它的源代码（{error}）")
TOO_LONG = Text(en="it is longer than {most} bytes", zh="它超过 {most} 字节")
NOT_WRITTEN = Text(en="cannot write `{file}`, {why}", zh="无法写入 `{file}`，{why}")
DISK_FULL = Text(en="the disk is full", zh="磁盘已满")
NO_PERMISSION = Text(en="permission denied", zh="没有权限")
REASONS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), DISK_FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), NO_PERMISSION),
}

UNKNOWN_SOLUTION = Text(
    en="There is no saved exercise {name!r}. Expected one of: {names}",
    zh="{name!r} 不是会保存解答的练习。可用的名称：{names}",
)
NOT_LOADED = Text(en="{file}: {why}; continuing without it", zh="{file}：{why}；先不用它")
NOT_TEXT = Text(en="the file is not UTF-8 text", zh="文字编码不是 UTF-8")
NOT_PYTHON = Text(en="line {line} is not valid Python ({why})", zh="第 {line} 行不是 Python（{why}）")
ANOTHER_VERSION = Text(
    en="it was saved by Blocklab {theirs}, and this is {ours}: run its exercise again",
    zh="它由 Blocklab {theirs} 保存，现在是 {ours}，请再运行一次那个练习",
)


def solution_file(name: str) -> Path | None:
    """The file for the solution of an exercise; None without a learner's folder."""
    folder = workspace_folder()
    return folder and solution_file_in(folder, name)


def solution_file_in(folder: Path, name: str) -> Path:
    """The file for the solution of an exercise in a learner's folder."""
    return folder / SOLUTIONS_FOLDER / f"{name}.py"


def display_path(file: Path) -> str:
    """A solution's file as messages name it: `my/blocks/rms_norm.py`."""
    return "/".join(file.parts[-3:])


def save(exercise: Exercise, candidate: object) -> tuple[bool, tuple[str, ...]]:
    """Save a solution that passed, if there is a learner's folder. Returns whether it is saved, and messages.

    Before it is saved, its source code is run once, as later lessons will run it. Earlier versions are kept beside it.
    """
    file = solution_file(exercise.name)
    if file is None:
        return False, ()
    try:
        replaced = _save(exercise, candidate, file)
    except (CannotBeSaved, Unreadable) as reason:
        return False, (NOT_SAVED.format(why=reason),)
    except SwapError as error:
        advice = () if exercise.only_module else (AS_FUNCTION.format(wanted=exercise.signature),)
        return False, (NOT_USABLE.format(why=error.messages[0]), *advice)
    except OSError as error:
        why = REASONS.get(error.errno) or error.strerror or type_name(error)
        return False, (NOT_SAVED.format(why=NOT_WRITTEN.format(file=display_path(file), why=why)),)
    except Exception as error:  # raised by the learner's own objects, for example by a __repr__
        return False, (NOT_SAVED.format(why=NO_SOURCE.format(error=f"{type_name(error)}: {error_message(error)}")),)
    message = (SAVED_AGAIN if replaced else SAVED).format(file=display_path(file))
    drive = (TO_DRIVE.format(line=TO_DRIVE_LINE, back=FROM_DRIVE_LINE),) if on_colab() else ()
    return True, (message, *drive)


def count_saved() -> int:
    """The number of solutions saved in the learner's folder."""
    return sum(file is not None and file.is_file() for file in map(solution_file, SAVED_EXERCISES))


def _save(exercise: Exercise, candidate: object, file: Path) -> bool:
    """Write the solution, and return whether another version was there."""
    text = HEADING.format(name=exercise.name, version=VERSION) + standalone_source(exercise.name, candidate)
    data = text.encode("utf-8")
    if len(data) > MAX_BYTES:
        raise CannotBeSaved(TOO_LONG.format(most=MAX_BYTES))
    run_alone(compile_source(text, file), exercise, right=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    replaced = os.path.lexists(file)
    with suppress(OSError, Unreadable):
        replaced = read_regular_file(file, MAX_BYTES) != data
    atomic_write(file, data, backups=OLD_VERSIONS if replaced else 0)
    return replaced


def load(name: str) -> Callable | None:
    """The saved solution of an exercise, as a function with the exercise's parameters.

    Returns None if nothing is saved, or if the file cannot be used; then one printed line says why.

    Raises ValueError for an exercise whose solution is never saved.
    """
    if name not in SAVED_EXERCISES:
        raise ValueError(UNKNOWN_SOLUTION.format(name=name, names=join_words(SAVED_EXERCISES)))
    file = solution_file(name)
    if file is None:
        return None
    try:
        return run_alone(read_code(file), EXERCISES[name])
    except FileNotFoundError:
        return None
    except (Unreadable, OSError) as error:
        why = why_not_opened(error)
    except SwapError as error:
        why = error.messages[0].rstrip(".。")
    print(NOT_LOADED.format(file=display_path(file), why=why))
    return None


def read_code(file: Path) -> CodeType:
    """Read and compile a solution's file, without running it. Raises Unreadable or OSError."""
    try:
        text = read_regular_file(file, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(NOT_TEXT) from None
    version = _VERSION.search(text.partition("\n")[0])
    if version and version[1] != VERSION:
        raise Unreadable(ANOTHER_VERSION.format(theirs=version[1], ours=VERSION))
    return compile_source(text, file)


def compile_source(text: str, file: Path) -> CodeType:
    """Compile the text of a solution. Raises Unreadable if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(text, str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Unreadable(NOT_PYTHON.format(line=error.lineno or 1, why=error.msg)) from None
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes in Python 3.11; too deeply nested
        raise Unreadable(NOT_PYTHON.format(line=1, why=error)) from None
