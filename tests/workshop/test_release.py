"""A release writes its version everywhere and tells what changed; where it cannot, nothing is changed."""

import subprocess
from datetime import date
from pathlib import Path

import pytest
from demo_lessons import commit_all, edit, make_project

from workshop import release
from workshop.__main__ import main
from workshop.problem import PublishError
from workshop.project import Project

TODAY = date(2030, 2, 1)
FILES = {
    "lib/blocklab/__init__.py": '__version__ = "0.1.0"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 0.1.0\n",
    "CHANGELOG.md": "# Changes\n\nWhat each release brought.\n",
}


def git(project: Project, *words: str) -> str:
    own = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *own, *words], cwd=project.root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path):
    made = make_project(tmp_path)
    edit(made.pyproject, 'name = "demo"\n', 'name = "demo"\nversion = "0.1.0"\n')
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    commit_all(made)
    git(made, "tag", "v0.1.0")
    (tmp_path / "new.txt").touch()
    git(made, "add", ".")
    git(made, "commit", "-m", "A new thing")
    return made


@pytest.fixture
def steps(monkeypatch) -> list[tuple[str, ...]]:
    """What would run in Pythons of its own. The files that people download are not made here."""
    asked = []
    monkeypatch.setattr(release, "_python", lambda _project, *words: asked.append(words))
    monkeypatch.setattr(release.shutil, "make_archive", lambda *_words: None)
    return asked


def texts(project: Project) -> dict[str, str]:
    return {name: (project.root / name).read_text("utf-8") for name in ("pyproject.toml", *FILES)}


def test_the_version_stands_everywhere_and_the_changes_since_the_last_are_told(project, steps, monkeypatch, capsys):
    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    release.release(project, "0.2.0", TODAY)
    after = texts(project)
    assert 'version = "0.2.0"' in after["pyproject.toml"]
    assert after["lib/blocklab/__init__.py"] == '__version__ = "0.2.0"\n'
    assert after["CITATION.cff"] == "cff-version: 1.2.0\nversion: 0.2.0\n"
    part = "## 0.2.0 (2030-02-01)\n\n- A new thing\n"
    assert after["CHANGELOG.md"] == f"# Changes\n\nWhat each release brought.\n\n{part}"
    assert [words[1:3] for words in steps][1:] == [("build", "--wheel"), ("workshop", "site"), ("workshop", "single")]
    assert "git tag v0.2.0" in capsys.readouterr().out
    git(project, "commit", "--all", "--message", "Version 0.2.0")
    git(project, "tag", "v0.2.0")
    release.release(project, "0.10.0", TODAY)  # above 0.2.0, though its letters come before
    newer = "## 0.10.0 (2030-02-01)\n\n- Nothing.\n"
    assert texts(project)["CHANGELOG.md"] == f"# Changes\n\nWhat each release brought.\n\n{newer}\n{part}"


@pytest.mark.parametrize("version", ["", "1", "0.2", "v0.2.0", "0.2.0rc1", "00.2.0", "0.1.0", "0.0.9"])
@pytest.mark.usefixtures("steps")
def test_what_is_no_version_or_none_above_the_last_is_refused(project, version):
    before = texts(project)
    with pytest.raises(PublishError, match=r"a release wants a version (such as 0\.2\.0|above 0\.1\.0), got"):
        release.release(project, version, TODAY)
    assert texts(project) == before


def test_work_that_is_not_committed_is_refused_and_stays(project, steps):
    edit(project.root / "CITATION.cff", "1.2.0", "1.3.0")
    before = texts(project)
    with pytest.raises(PublishError, match=r"wants all work committed, got:\nM CITATION\.cff"):
        release.release(project, "0.2.0", TODAY)
    assert (texts(project), steps) == (before, [])


def test_a_step_that_fails_leaves_all_as_it_was(project, monkeypatch):
    before = texts(project)
    monkeypatch.setattr(release.sys, "executable", "false")
    with pytest.raises(PublishError, match="workshop build failed"):
        release.release(project, "0.2.0", TODAY)
    assert texts(project) == before


@pytest.mark.usefixtures("steps")
def test_lessons_that_would_install_another_version_are_named(project):
    assert main(["--root", str(project.root), "build", "--no-execute"]) == 0
    git(project, "add", ".")
    git(project, "commit", "-m", "Built")
    before = texts(project)
    with pytest.raises(PublishError, match=r"01_means.ipynb: its first cell does not install version 0\.2\.0"):
        release.release(project, "0.2.0", TODAY)
    assert texts(project) == before


def test_a_version_that_stands_nowhere_is_named(project, steps):
    path = Path(project.root, "CITATION.cff")
    edit(path, "\nversion: 0.1.0", "")
    git(project, "commit", "--all", "--message", "Lost")
    with pytest.raises(PublishError, match=r"CITATION.cff wants exactly one line with the version, got 0"):
        release.release(project, "0.2.0", TODAY)
    assert 'version = "0.1.0"' in texts(project)["pyproject.toml"]
    assert steps == []
