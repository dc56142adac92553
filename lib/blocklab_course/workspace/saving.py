"""Keep what a learner wrote and `check` accepted: as source, beside the notebooks, never by halves."""

import errno
import io
import os
from contextlib import redirect_stdout
from copy import copy
from pathlib import Path

from torch import nn

from blocklab_course.checks.engine import check_against
from blocklab_course.checks.exercise import Exercise
from blocklab_course.checks.failures import reset_failures
from blocklab_course.checks.safe_repr import error_message, type_name
from blocklab_course.i18n import Text
from blocklab_course.workspace.files import Unreadable, atomic_write, read_regular_file

from .folder import on_colab
from .solutions import LARGEST, VERSION, compile_source, display_path, execute, solution_file
from .source_code import CannotBeSaved, standalone_source

HEADING = "# Your own {name}, as check accepted it (Blocklab {version}). 你写的 {name}，check 已通过。\n\n"
OLDER = 3  # earlier ones that stay beside a block

KEPT = Text(en="Kept as `{file}`, for later lessons to run.", zh="已保存为 `{file}`，后面的课可以运行它。")
KEPT_ANEW = Text(
    en="Kept as `{file}`, for later lessons to run; the earlier one is `{file}.1` now.",
    zh="已保存为 `{file}`，后面的课可以运行它；原来的那份改名为 `{file}.1`。",
)
NOT_KEPT = Text(en="It passed, but was not kept: {why}.", zh="通过了，但没有保存：{why}。")
TO_DRIVE = Text(
    en="Colab forgets it with this session. One line keeps it in your Drive: `{line}` In the next lesson another one "
    "brings it back: `{back}`",
    zh="这次会话一结束，Colab 就会删掉它。运行这一行，可以保存到你的云端硬盘：`{line}` "
    "到了下一课，再用这一行取回：`{back}`",
)
LINE = (
    'from google.colab import drive; drive.mount("/content/drive"); '
    "import shutil; shutil.copytree({}, dirs_exist_ok=True)"
)
KEEP, BACK = LINE.format('"my", "/content/drive/MyDrive/my"'), LINE.format('"/content/drive/MyDrive/my", "my"')
NOT_ALONE = Text(en="without the rest of the notebook it does not pass", zh="离开这个笔记本里的其他代码，它就通不过")
NO_SOURCE = Text(en="its source cannot be taken ({error})", zh="取不到它的源代码（{error}）")
TOO_LONG = Text(en="it is longer than {most} bytes", zh="它超过 {most} 字节")
NOT_WRITTEN = Text(en="`{file}` cannot be written, {why}", zh="无法写入 `{file}`，{why}")
DISK_FULL = Text(en="the disk is full", zh="磁盘已满")
NO_PERMISSION = Text(en="there is no permission", zh="没有权限")
REASONS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), DISK_FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), NO_PERMISSION),
}


def save(exercise: Exercise, candidate: object) -> tuple[str, ...]:
    """Keep a block that passed, if there is a learner's folder; gives what the verdict is to say about it.

    It is kept only once its source, run alone, has passed too. Of earlier ones that differ the latest stay beside it.
    """
    file = solution_file(exercise.name)
    if file is None:
        return ()
    try:
        earlier = _keep(exercise, candidate, file)
    except (CannotBeSaved, Unreadable) as reason:
        return (NOT_KEPT.format(why=reason),)
    except OSError as error:
        why = REASONS.get(error.errno) or error.strerror or type_name(error)
        return (NOT_KEPT.format(why=NOT_WRITTEN.format(file=display_path(file), why=why)),)
    except Exception as error:  # what a learner defines may answer anything when it is asked what it is
        return (NOT_KEPT.format(why=NO_SOURCE.format(error=f"{type_name(error)}: {error_message(error)}")),)
    said = (KEPT_ANEW if earlier else KEPT).format(file=display_path(file))
    return (said, TO_DRIVE.format(line=KEEP, back=BACK)) if on_colab() else (said,)


def _keep(exercise: Exercise, candidate: object, file: Path) -> bool:
    """Write the block, unless it stands there as it is; whether there was another one. Raises if that cannot be."""
    text = HEADING.format(name=exercise.name, version=VERSION) + standalone_source(exercise.name, candidate)
    data = text.encode("utf-8")
    if len(data) > LARGEST:
        raise CannotBeSaved(TOO_LONG.format(most=LARGEST))
    if _holds(file, data):
        return False
    _check_right(exercise, candidate, execute(compile_source(text, file), exercise.name))
    file.parent.mkdir(parents=True, exist_ok=True)
    earlier = os.path.lexists(file)
    atomic_write(file, data, older=OLDER)
    return earlier


def _holds(file: Path, data: bytes) -> bool:
    try:
        return read_regular_file(file, LARGEST) == data
    except (Unreadable, OSError):
        return False


def _check_right(exercise: Exercise, candidate: object, block: object) -> None:
    """Refuse a block that does not pass as `block`, the source run alone, with the weights of a Module in its place."""
    if isinstance(candidate, nn.Module):
        twin = copy(candidate)
        twin.__class__, block = block, twin
    with redirect_stdout(io.StringIO()):  # it has printed once
        passed = check_against(exercise, block).passed
    if not passed:
        reset_failures(exercise.name)
        raise CannotBeSaved(NOT_ALONE)
