"""Files are written atomically, with earlier versions beside them, and never through a link."""

import os
from pathlib import Path

import pytest

from blocklab_course.workspace.files import atomic_write


@pytest.fixture
def file(tmp_path):
    return tmp_path / "relu.py"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_links_in_place_of_the_file_and_its_parts_are_not_written_through(file, tmp_path_factory):
    target = tmp_path_factory.mktemp("elsewhere") / "target"
    target.write_bytes(b"precious")
    for name in ("relu.py", f".relu.py.{os.getpid()}.part", f".relu.py.1.{os.getpid()}.part"):
        file.with_name(name).symlink_to(target)
    atomic_write(file, b"new", backups=2)
    assert target.read_bytes() == b"precious"
    assert not file.is_symlink()
    assert contents(file.parent) == {"relu.py": b"new", "relu.py.1": b"precious"}
    assert file.with_name("relu.py.1").is_symlink()


def test_file_is_in_place_while_it_is_replaced(file, monkeypatch):
    for content in (b"1", b"2", b"3"):
        atomic_write(file, content, backups=2)
    replace, seen = Path.replace, []

    def watching(path, target):
        replace(path, target)
        seen.append(file.read_bytes())

    monkeypatch.setattr(Path, "replace", watching)
    atomic_write(file, b"4", backups=2)
    assert seen == [b"3", b"3", b"4"]
    assert contents(file.parent) == {"relu.py": b"4", "relu.py.1": b"3", "relu.py.2": b"2"}


def test_file_has_the_usual_mode(file):
    usual = file.with_name("usual")
    usual.touch()
    file.touch(mode=0)
    atomic_write(file, b"new", backups=1)
    assert file.stat().st_mode == usual.stat().st_mode


def test_folder_in_place_of_the_file_is_moved_aside(file):
    file.mkdir()
    atomic_write(file, b"new", backups=1)
    assert file.read_bytes() == b"new"
    assert file.with_name("relu.py.1").is_dir()
