"""Files as they should be: plain, UTF-8, and never written by halves. What is otherwise is named in one line."""

import re
import stat
from pathlib import Path

from blocklab.files import replace

from .problem import Faults, Problem, PublishError

LARGEST = 16 * 2**20  # bytes; no file of the repository has more than one megabyte
_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_bytes(path: Path, shown: str) -> bytes:
    """What a file holds. `shown` is what messages call it. Raises Faults for what is no file of readable size."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Faults(_about(shown, f"wants a file, got {_KINDS.get(stat.S_IFMT(status.st_mode), 'none')}"))
        if status.st_size > LARGEST:
            size = f"{status.st_size / 2**20:.1f} MB"
            raise Faults(_about(shown, f"holds {size}; at most {LARGEST / 2**20:.0f} MB are read"))
        return path.read_bytes()
    except FileNotFoundError:
        what = "is a link that leads nowhere" if path.is_symlink() else "is missing"
        raise Faults(_about(shown, what)) from None
    except OSError as error:
        raise Faults(_about(shown, f"cannot be read: {error.strerror}")) from None


def read_text(path: Path, shown: str) -> str:
    """The text of a file, its lines ending in a newline.

    Raises Faults as `read_bytes`, and for what is not UTF-8, or left from a merge, with the line.
    """
    text = _decode(read_bytes(path, shown), shown).replace("\r\n", "\n").replace("\r", "\n")
    if conflict := _CONFLICT.search(text):
        what = "holds the marks of a merge that was not finished"
        raise Faults(Problem(shown, text.count("\n", 0, conflict.start()) + 1, None, what))
    return text


def _decode(data: bytes, shown: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Faults(Problem(shown, 1, None, "is not UTF-8: it seems to be UTF-16"))
    if data.startswith(b"\xef\xbb\xbf"):
        raise Faults(Problem(shown, 1, None, "begins with a byte order mark: save it as UTF-8 without one"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Faults(Problem(shown, line, None, f"is not UTF-8, from byte 0x{data[error.start]:02x} on")) from None
    if (place := data.find(b"\0")) >= 0:
        raise Faults(Problem(shown, data.count(b"\n", 0, place) + 1, None, "holds a NUL byte"))
    return text


def write_text(path: Path, text: str, shown: str) -> None:
    """Give the file this text, whole or not at all; one that has it already is not touched.

    Raises PublishError for what is no plain file and for one that is read-only.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PublishError(f"{shown}: wants text, got half a character, {text[error.start]!r}") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            what = "a link" if path.is_symlink() else _KINDS.get(stat.S_IFMT(path.stat().st_mode), "no file")
            raise PublishError(f"{shown}: is {what}, and not written through: move it away")
        if path.exists():
            if path.read_bytes() == data:
                return
            if not path.stat().st_mode & stat.S_IWUSR:
                raise PublishError(f"{shown}: is read-only, and left as it is")
        replace(path, data)
    except OSError as error:
        raise PublishError(f"{shown}: cannot be written: {error.strerror}") from None


def _about(shown: str, what: str) -> Problem:
    return Problem(shown, None, None, what)
