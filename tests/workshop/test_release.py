"""A release writes its version everywhere and tells what changed; where it cannot, nothing is changed."""

import subprocess
from datetime import date
from pathlib import Path

import pytest
from demo_lessons import commit_all, edit, make_project
from nbformat.v4 import new_code_cell, new_notebook, new_output

from blocklab.checks.verdict import MIME
from workshop import notebook, release
from workshop.__main__ import main
from workshop.problem import PublishError
from workshop.project import Project

pytestmark = pytest.mark.thorough

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


def test_before_the_first_release_no_changes_are_told(project, steps, monkeypatch):
    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    git(project, "tag", "--delete", "v0.1.0")
    release.release(project, "0.2.0", TODAY)
    assert texts(project)["CHANGELOG.md"].endswith("## 0.2.0 (2030-02-01)\n\n- The first release.\n")
    assert len(steps) == 4


def everything(project: Project) -> dict[str, bytes]:
    """All files with what they hold, those that git ignores too, and what git's index holds."""
    inside = (path for path in sorted(project.root.rglob("*")) if ".git" not in path.parts)
    found = {project.show(path): path.read_bytes() if path.is_file() else b"" for path in inside}
    return found | {"the index": git(project, "ls-files", "--stage").encode()}


def with_lessons(project: Project) -> None:
    """Let the lessons of the project be built, and something of an earlier try lie in dist/."""
    assert main(["--root", str(project.root), "build", "--no-execute"]) == 0
    (project.root / ".gitignore").write_text("/dist/\n", "utf-8")
    git(project, "add", ".")
    git(project, "commit", "-m", "Built")
    (project.root / "dist" / "0.2.0").mkdir(parents=True)
    (project.root / "dist" / "0.2.0" / "earlier.whl").write_text("earlier", "utf-8")


def test_a_step_that_cannot_run_is_named(project, monkeypatch):
    before = everything(project)
    monkeypatch.setattr(release.sys, "executable", "false")
    with pytest.raises(PublishError, match="workshop build failed"):
        release.release(project, "0.2.0", TODAY)
    assert everything(project) == before


class Stopped(BaseException):
    """As KeyboardInterrupt, which pytest takes for its own."""


@pytest.mark.parametrize("kind", [PublishError, OSError, Stopped])
@pytest.mark.parametrize("number", range(6))
def test_whatever_step_fails_all_is_as_it_was(project, monkeypatch, number, kind):
    with_lessons(project)
    before, done = everything(project), []

    def step(where: Project, *words: str) -> None:
        if words[1:3] == ("workshop", "build"):  # it leaves new files, too
            (where.root / "built.txt").touch()
        done.append(words)
        if len(done) > number:
            raise kind("no more")

    monkeypatch.setattr(release, "_python", step)
    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    monkeypatch.setattr(release.shutil, "make_archive", lambda *words: step(project, *words))
    with pytest.raises(kind, match="no more"):
        release.release(project, "0.2.0", TODAY)
    assert everything(project) == before


@pytest.mark.usefixtures("steps")
def test_files_that_cannot_be_put_in_their_place_leave_all_as_it_was(project, monkeypatch):
    with_lessons(project)
    before, rename = everything(project), Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "files":
            raise OSError("no")
        return rename(path, target)

    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="no"):
        release.release(project, "0.2.0", TODAY)
    assert everything(project) == before


def test_what_somebody_changes_meanwhile_stays_and_the_release_is_refused(project, monkeypatch):
    with_lessons(project)

    def meanwhile(_where: Project, *_words: str) -> None:
        (project.root / "CITATION.cff").write_text("version: 7\n", "utf-8")

    monkeypatch.setattr(release, "_python", meanwhile)
    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    monkeypatch.setattr(release.shutil, "make_archive", lambda *_words: None)
    before = everything(project) | {"CITATION.cff": b"version: 7\n"}
    with pytest.raises(PublishError, match=r"^git apply: error: .*CITATION\.cff"):
        release.release(project, "0.2.0", TODAY)
    assert everything(project) == before


@pytest.mark.usefixtures("steps")
def test_what_an_earlier_try_left_makes_way(project, monkeypatch):
    with_lessons(project)
    monkeypatch.setattr(release, "want_named", lambda *_words: None)
    release.release(project, "0.2.0", TODAY)
    assert [*(project.root / "dist").iterdir()] == [project.root / "dist" / "0.2.0"]
    assert [*(project.root / "dist" / "0.2.0").iterdir()] == []


def test_saved_verdicts_bear_the_version_of_the_build_that_keeps_them(monkeypatch):
    def cell(version, source="check(…)"):
        data = {MIME: {"passed": True, "version": version}, "text/plain": "✓"}
        return new_code_cell(source, id="one", outputs=[new_output("display_data", data), new_output("stream")])

    new, old = new_notebook(cells=[new_code_cell("check(…)", id="one")]), new_notebook(cells=[cell("0.1.0")])
    monkeypatch.setattr(notebook, "__version__", "0.2.0")
    notebook.keep_outputs(new, old)
    assert new.cells[0].outputs == cell("0.2.0").outputs


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
