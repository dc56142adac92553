"""lib/set_up.sh, with a fake `uv` that logs its calls and fails while a file `offline` exists."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blocklab_course.dependencies import OPTIONAL

pytestmark = [pytest.mark.exhaustive, pytest.mark.skipif(not shutil.which("make"), reason="make is missing")]

ROOT = Path(__file__).parents[2]
PYTHON = getattr(sys, "_base_executable", sys.executable)


def make(folder: Path, *words: str, **environment: str) -> tuple[int, str, list[str]]:
    """The exit status of make, its output, and the calls of `uv`."""
    calls = folder.parent / "bin" / "calls"
    calls.write_text("")
    environment |= {"PATH": f"{calls.parent}:{os.defpath}", "HOME": str(folder.parent)}
    done = subprocess.run(["make", *words], cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr, calls.read_text().splitlines()


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def installed_project(tmp_path_factory):
    """A project whose environment is complete."""
    folder = tmp_path_factory.mktemp("ready") / "it's 李 $(touch PWNED)"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "colab-constraints.txt", "lib"):
        (folder / name).symlink_to(ROOT / name)
    (folder.parent / "bin").mkdir()
    write_program(folder.parent / "bin" / "uv", 'echo "$@" >> "${0%/*}/calls"; [ ! -e "${0%/*}/offline" ]')
    write_program(folder.parent / "bin" / "python3", f'exec "{PYTHON}" "$@"')
    calls = make(folder, "lessons-environment")[2]
    names = " ".join(package.name for package in OPTIONAL if package.no_deps)
    assert calls[1].endswith(f"--no-deps -c constraints.txt {names}")
    return folder


@pytest.fixture
def project(installed_project, tmp_path):
    """A copy of it in a renamed folder."""
    shutil.copytree(installed_project.parent, tmp_path / "copy", symlinks=True)
    return (tmp_path / "copy" / installed_project.name).rename(tmp_path / "copy" / "renamed")


def test_second_call_in_a_renamed_folder_does_nothing(project):
    program = "from importlib.util import find_spec; print(find_spec('blocklab').origin)"
    origin = subprocess.check_output([project / ".venv/bin/python", "-I", "-c", program], encoding="utf-8")
    assert origin == f"{project}/lib/blocklab/__init__.py\n"
    assert make(project, "lessons-environment") == (0, "", [])


def test_changed_requirements_are_installed_unless_offline(project):
    (project / "constraints.txt").unlink()  # a link
    (project / "constraints.txt").write_text("more==1\n")
    (project.parent / "bin" / "offline").touch()
    assert "using what is installed" in make(project, "lessons-environment")[1]
    assert "Installation failed" in make(project, "lessons-environment", CI="true")[1]
    assert "Installation failed" in make(project, "dev-environment")[1]
    (project.parent / "bin" / "offline").unlink()
    assert len(make(project, "lessons-environment")[2]) == 2


NO_PIP = "rm -r lib/python3*/site-packages/pip"


@pytest.mark.parametrize("damage", ["ln -sf /nowhere bin/python", NO_PIP, "rm pyvenv.cfg", "touch interrupted"])
def test_broken_environment_is_recreated(project, damage):
    subprocess.run(damage, shell=True, cwd=project / ".venv", check=True)
    assert len(make(project, "lessons-environment")[2]) == 2
    assert make(project, "lessons-environment") == (0, "", [])


def test_another_python_recreates_the_environment_only_on_request(project):
    text = f'case "$*" in *"[:2]"*) echo "(3, 99)" ;; *) exec "{PYTHON}" "$@" ;; esac'
    write_program(project.parent / "bin" / "python3", text)
    assert make(project, "lessons-environment")[2] == []
    assert len(make(project, "PYTHON=python3", "lessons-environment")[2]) == 2


@pytest.mark.parametrize("python", ["false", "missing"])
def test_reports_unusable_python(project, python):
    assert f"3.11 or newer; {python} is not." in make(project, f"PYTHON={python}", "lessons-environment")[1]


def test_user_input_is_never_executed(project):
    for word in ("lab READ", "lab FRESH", "lab PYTHON", "lessons ONLY", "address URL", "site OPEN"):
        for value in ("$(touch PWNED)", "$(shell touch PWNED)", "'; touch PWNED; '"):
            make(project, *f"{word}={value}".split(maxsplit=1))
    assert list(project.parent.rglob("PWNED")) == []
