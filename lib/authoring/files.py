"""Read and write text files, with errors that name the file."""

from pathlib import Path

from blocklab_course.workspace.files import atomic_write

from .problem import BuildError, BuildErrors, Problem


def read_text(path: Path, shown: str) -> str:
    """Read a UTF-8 file. `shown` is its name in messages. Raises BuildErrors."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BuildErrors(Problem(shown, line, None, "expected UTF-8")) from None
    except OSError as error:
        raise BuildErrors(Problem(shown, None, None, f"cannot be read: {error.strerror}")) from None


def write_text(path: Path, text: str, shown: str) -> None:
    """Write a text file atomically. Do nothing if it already holds this text. Raises BuildError."""
    data = text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            atomic_write(path, data)
    except OSError as error:
        raise BuildError(f"{shown}: cannot be written: {error.strerror}") from None
