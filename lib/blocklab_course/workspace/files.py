"""Safe reads of untrusted files; writes that follow no link and leave no half of a file."""

import errno
import os
import shutil
import stat
from contextlib import suppress
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
    _expect_regular(path.lstat())
    with open(path, "rb", opener=_open_safely) as file:
        _expect_regular(os.fstat(file.fileno()))
        return file.read(max_bytes)


def append(path: Path, data: bytes) -> None:
    """Append to a regular file or create one, in a single write, so that two programs do not mix their lines.

    Raises Unreadable or OSError.
    """
    if os.path.lexists(path):
        _expect_regular(path.lstat())
    with open(path, "ab", buffering=0, opener=_open_safely) as file:
        _expect_regular(os.fstat(file.fileno()))
        file.write(data)


def _expect_regular(status: os.stat_result) -> None:
    mode = status.st_mode
    if not stat.S_ISREG(mode):
        raise Unreadable(LINK if stat.S_ISLNK(mode) else FOLDER if stat.S_ISDIR(mode) else SPECIAL)


def _open_safely(path: Path, flags: int) -> int:
    safe = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)  # Windows has neither
    return os.open(path, flags | safe, 0o666)


def why_not_opened(error: Unreadable | OSError) -> str:
    """The reason in the reader's language, without the path."""
    if isinstance(error, Unreadable):
        return str(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return str(NO_PERMISSION)
    return NOT_OPENED.format(why=error.strerror or type(error).__name__)


def atomic_write(path: Path, data: bytes, backups: int = 0) -> None:
    """Write a file atomically. `backups` earlier versions are kept beside it, the latest as NAME.1."""
    part = _part_of(path)
    try:
        with part.open("xb") as file:
            file.write(data)
        if backups and os.path.lexists(path):
            _back_up(path, backups)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _part_of(path: Path) -> Path:
    """A new name beside a file, for content that replaces it later."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # left by a program that was killed, or a link
    return part


def _back_up(path: Path, count: int) -> None:
    """Copy a file to NAME.1, so that it stays in place meanwhile, after moving NAME.1 to NAME.2 and so on."""
    versions = [path.with_name(f"{path.name}.{number}") for number in range(1, count + 1)]
    for older, newer in zip(versions[:0:-1], versions[-2::-1], strict=True):
        with suppress(FileNotFoundError):  # there are fewer versions, or another program moves them too
            newer.replace(older)
    part = _part_of(versions[0])
    try:
        shutil.copyfile(path, part, follow_symlinks=False)
        part.replace(versions[0])
    except OSError:  # a folder, or a file without read permission
        path.replace(versions[0])
    finally:
        part.unlink(missing_ok=True)
