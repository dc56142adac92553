"""Files of others: read without trusting any, and written whole or not at all."""

import errno
import os
import stat
from itertools import pairwise
from pathlib import Path

from blocklab.language import Text

LINK = Text(en="a link, and links are not followed", zh="这是链接，不会打开链接指向的内容")
FOLDER = Text(en="a folder, not a file", zh="这是文件夹，不是文件")
SPECIAL = Text(en="not a regular file", zh="不是普通文件")
EMPTY = Text(en="the file is empty", zh="文件是空的")
TOO_LARGE = Text(en="larger than {most:g} MB", zh="超过 {most:g} MB")
NO_PERMISSION = Text(en="no permission to read it", zh="没有读取权限")
NOT_OPENED = Text(en="cannot be opened: {why}", zh="打不开：{why}")


class Unreadable(Exception):
    """A file that cannot be read; the message says why, in the reader's language."""


def content(path: Path, most: int) -> bytes:
    """What a file holds. Raises Unreadable for what is no file, empty or larger than `most` bytes, and OSError."""
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise Unreadable(LINK if stat.S_ISLNK(mode) else FOLDER if stat.S_ISDIR(mode) else SPECIAL)
    found = regular_content(path, most + 1)  # not by the size on record: a file may grow, or not tell
    if not found:
        raise Unreadable(EMPTY)
    if len(found) > most:
        raise Unreadable(TOO_LARGE.format(most=most / 1_000_000))
    return found


def regular_content(path: Path, most: int) -> bytes:
    """At most so many bytes of a regular file. What lies there may change at any time: a pipe is never waited for.

    Raises OSError for a link and Unreadable for what is no regular file.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable(SPECIAL)
        return file.read(most)


def _without_waiting(path: Path, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def why_not_opened(error: Unreadable | OSError) -> str:
    """The reason in the reader's language, without the path, which is named beside it."""
    if isinstance(error, Unreadable):
        return str(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return str(NO_PERMISSION)
    return NOT_OPENED.format(why=error.strerror or type(error).__name__)


def replace(path: Path, data: bytes, older: int = 0) -> None:
    """Put a file there, whole or not at all, whatever happens meanwhile.

    older: how many earlier ones stay beside it, the latest as NAME.1.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        if path.exists():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        _set_aside(path, older)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _set_aside(path: Path, older: int) -> None:
    places = [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, older + 1))]
    for later, earlier in reversed(list(pairwise(places))):
        if os.path.lexists(later):
            later.replace(earlier)
