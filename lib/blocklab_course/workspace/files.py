"""Safe reads of untrusted files; atomic writes."""

import errno
import os
import stat
from pathlib import Path

from blocklab_course.i18n import Text

LINK = Text(en="a link, and links are not followed", zh="这是链接，不会打开链接指向的内容")
FOLDER = Text(en="a folder, not a file", zh="这是文件夹，不是文件")
SPECIAL = Text(en="not a regular file", zh="不是普通文件")
EMPTY = Text(en="the file is empty", zh="文件是空的")
TOO_LARGE = Text(en="larger than {most:g} MB", zh="超过 {most:g} MB")
NO_PERMISSION = Text(en="no permission to read it", zh="没有读取权限")
NOT_OPENED = Text(en="cannot be opened: {why}", zh="打不开：{why}")


class Unreadable(Exception):
    """A file that cannot be read; the message says why, in the reader's language."""


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """Read a regular file. Raises OSError, and Unreadable if it is another kind, empty or too large."""
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise Unreadable(LINK if stat.S_ISLNK(mode) else FOLDER if stat.S_ISDIR(mode) else SPECIAL)
    data = read_at_most(path, max_bytes + 1)
    if not data:
        raise Unreadable(EMPTY)
    if len(data) > max_bytes:
        raise Unreadable(TOO_LARGE.format(most=max_bytes / 1_000_000))
    return data


def read_at_most(path: Path, max_bytes: int) -> bytes:
    """Read at most `max_bytes` bytes of a regular file, without following a link or waiting for a pipe.

    Raises Unreadable or OSError, also if another program replaces the file meanwhile.
    """
    with open(path, "rb", opener=_open_safely) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable(SPECIAL)
        return file.read(max_bytes)


def _open_safely(path: Path, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))  # Windows has neither


def why_not_opened(error: Unreadable | OSError) -> str:
    """The reason in the reader's language, without the path."""
    if isinstance(error, Unreadable):
        return str(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return str(NO_PERMISSION)
    return NOT_OPENED.format(why=error.strerror or type(error).__name__)


def atomic_write(path: Path, data: bytes, backups: int = 0) -> None:
    """Write a file atomically. `backups` earlier versions are kept beside it, the latest as NAME.1."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        for number in range(backups, 0, -1):
            earlier = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
            if os.path.lexists(earlier):
                earlier.replace(path.with_name(f"{path.name}.{number}"))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
