"""The version and licences agree, and tracked files name no machine, no package registry, and are small."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

import blocklab

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PRIVATE = re.compile(  # in pieces, so that this file itself passes
    b"|".join(
        (
            *(b"/wo" + b"rk/", b"/ro" + b"ot/", b"/tm" + b"p/", b"/opt/py" + b"pi"),
            *(b"/ho" + rb"me/\w", b"/Us" + rb"ers/\w", rb"[A-Z]:\\+Us" + b"ers"),
            *(b"py" + rb"pi\.", b"python" + b"hosted", rb"download\.py" + b"torch"),
            *(b"anacon" + rb"da\.(?:org|com)", rb"registry\.n" + b"pm"),
        )
    )
)


def tracked_files() -> list[Path]:
    """The files that git tracks, or would track if they were added."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def is_ignored(path: str) -> bool:
    return subprocess.run(["git", "check-ignore", "--quiet", "--no-index", path], cwd=ROOT).returncode == 0


def test_citation_has_the_version_of_the_package():
    assert CITATION["version"] == blocklab.__version__
    assert PROJECT["dynamic"] == ["version"]


def test_license_files_exist():
    assert CITATION["license"] in PROJECT["license"].split(" AND ")
    assert all((ROOT / file).read_text("utf-8").strip() for file in PROJECT["license-files"])


def test_every_package_has_an_init_file():
    """import-linter would silently leave out the modules of a folder without one."""
    folders = {path.parent for path in (ROOT / "lib").rglob("*.py")} - {ROOT / "lib"}
    assert {folder for folder in folders if not (folder / "__init__.py").exists()} == set()


def test_git_ignores_learners_files_but_not_the_package():
    assert is_ignored("my/en/02_norm_axes.ipynb")
    assert is_ignored("notebooks/blocks/gelu.py")
    assert is_ignored("notebooks/predictions.jsonl")
    assert not is_ignored("lib/blocklab/__init__.py")
    assert not is_ignored("lib/blocklab_course/data/BlocklabSansSC.otf")


def test_tracked_files_name_no_machine_and_no_registry():
    found = {str(path.relative_to(ROOT)): set(PRIVATE.findall(path.read_bytes())) for path in tracked_files()}
    assert {path: names for path, names in found.items() if names} == {}


def test_tracked_files_are_smaller_than_1500_kilobytes():
    assert [path for path in tracked_files() if path.stat().st_size > 1.5e6] == []
