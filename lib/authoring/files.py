"""Read and write the repository's text files."""

from pathlib import Path

from blocklab_course.workspace.files import atomic_write

from .problem import BuildError, BuildErrors, Problem


def read_text(path: Path, shown: str) -> str:
    """The text of a UTF-8 file. `shown` is its name in messages. Raises Faults."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BuildErrors(Problem(shown, line, None, "is not UTF-8")) from None
    except OSError as error:
        raise BuildErrors(Problem(shown, None, None, f"cannot be read: {error.strerror}")) from None


def write_text(path: Path, text: str, shown: str) -> None:
    """Write a text file atomically. A file that already holds this text is not touched. Raises PublishError."""
    data = text.encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            atomic_write(path, data)
    except OSError as error:
        raise BuildError(f"{shown}: cannot be written: {error.strerror}") from None
