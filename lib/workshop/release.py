"""A release: one version everywhere, what has changed since the last, and the files that people download.

Nothing is published here: in the end it says what to type. All of it is made in a clone, from what is committed and
from nothing else. Where a step fails, the repository is as it was before.
"""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from blocklab.language import LANGUAGES

from . import notebook, stamp
from .address import read_address
from .problem import PublishError
from .project import Project

CHANGES = "CHANGELOG.md"
_FORM = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_PLACES = {  # file: the line that holds the version, and what stands before and behind it
    "pyproject.toml": re.compile(r'^(version = ")[^"]*(")$', re.MULTILINE),
    "lib/blocklab/__init__.py": re.compile(r'^(__version__ = ")[^"]*(")$', re.MULTILINE),
    "CITATION.cff": re.compile(r"^(version: )\S+()$", re.MULTILINE),
}


def release(project: Project, version: str, today: date) -> None:
    """Write the version, the changes and the files of a release, dist/VERSION/, and say what is left to do.

    Raises PublishError for a version that is none, or not above the last, and for work that is not committed.
    """
    want_above(version, present(project))
    want_committed(project)
    files = project.root / "dist" / version
    files.parent.mkdir(exist_ok=True)
    try:
        with TemporaryDirectory(prefix=".release-", dir=files.parent) as temporary:
            clone, made, patch = (Path(temporary) / name for name in ("clone", "files", "patch"))
            _git(project, "clone", "--quiet", ".", str(clone))
            write_release(Project(clone), version, today, made)
            _git(Project(clone), "add", "--all")
            _git(Project(clone), "diff-index", "--cached", "--binary", f"--output={patch}", "HEAD")
            put(project, patch, made, files)
    finally:
        with suppress(OSError):  # it holds files
            files.parent.rmdir()
    print(f"Version {version}: read {CHANGES}, then")
    print(f'    git commit --all --message "Version {version}" && git tag v{version} && git push && git push --tags')
    print(f"    gh release create v{version} {project.show(files)}/*.whl {project.show(files)}/*.zip")


def write_release(project: Project, version: str, today: date, files: Path) -> None:
    """The version, the changes and the files of a release. What fails leaves the project in between."""
    files.mkdir()
    changed = changes(project)
    put_version(project, version)
    put_changes(project, version, today, changed)
    # In Pythons of their own: this one has imported the version before.
    _python(project, "-m", "workshop", "build", "--no-execute")
    want_named(project, version)
    _python(project, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(files))
    for what in ("site", "single"):
        _python(project, "-m", "workshop", what, "--out", str(files / what))
        shutil.make_archive(str(files / f"blocklab-{version}-{what}"), "zip", files, what)


def put(project: Project, patch: Path, made: Path, files: Path) -> None:
    """Both or neither: the changes into the working tree, and what was made to where an earlier try may lie."""
    _git(project, "apply", "--whitespace=nowarn", str(patch))
    earlier = made.with_name("earlier")
    try:
        if os.path.lexists(files):
            files.rename(earlier)
        made.rename(files)
    except BaseException:
        if os.path.lexists(earlier):
            earlier.rename(files)
        _git(project, "apply", "--whitespace=nowarn", "--reverse", str(patch))
        raise


def present(project: Project) -> str:
    found = _PLACES["pyproject.toml"].search(project.read(project.pyproject))
    if not found:
        raise PublishError('pyproject.toml wants a line version = "…", got none')
    return found[0].split('"')[1]


def want_above(version: str, last: str) -> None:
    """Refuse what is no version, and one that is not above the last."""
    if not _FORM.fullmatch(version):
        raise PublishError(f"a release wants a version such as 0.2.0, got {version!r}")
    if tuple(map(int, version.split("."))) <= tuple(map(int, last.split("."))):
        raise PublishError(f"a release wants a version above {last}, got {version}")


def want_committed(project: Project) -> None:
    """Refuse to release what is not committed: nobody could build it again, and a failed step could not be undone."""
    if there := _git(project, "status", "--porcelain"):
        raise PublishError(f"a release wants all work committed, got:\n{there}")


def changes(project: Project) -> list[str]:
    """What the commits since the last release say, oldest first. Before the first one there are hundreds."""
    last = _git(project, "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").partition("\n")[0]
    if not last:
        return ["The first release."]
    return _git(project, "log", "--no-merges", "--reverse", "--format=%s", f"{last}..HEAD").splitlines()


def put_version(project: Project, version: str) -> None:
    """Write the version wherever it stands."""
    for name, line in _PLACES.items():
        text, found = line.subn(rf"\g<1>{version}\g<2>", project.read(project.root / name))
        if found != 1:
            raise PublishError(f"{name} wants exactly one line with the version, got {found}")
        project.write(project.root / name, text)


def put_changes(project: Project, version: str, today: date, changed: list[str]) -> None:
    """Put the part of this release above those before it."""
    path = project.root / CHANGES
    head, part, older = project.read(path).partition("\n## ")
    new = "\n".join(f"- {line}" for line in changed) or "- Nothing."
    project.write(path, f"{head.rstrip()}\n\n## {version} ({today.isoformat()})\n\n{new}\n{part}{older}")


def want_named(project: Project, version: str) -> None:
    """Refuse lessons whose first cell installs another version than this one."""
    if not read_address(project).colab:
        return
    for outline in project.outlines():
        for language in LANGUAGES:
            path = project.notebook(language, outline.stem)
            setup = next(cell for cell in notebook.read(path, project.show(path)).cells if cell.id == stamp.SETUP)
            if f"blocklab-{version}-py3" not in setup.source:
                raise PublishError(f"{project.show(path)}: its first cell does not install version {version}")


def _git(project: Project, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=project.root, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise PublishError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def _python(project: Project, *words: str) -> None:
    command, environment = [sys.executable, *words], os.environ | {"PYTHONPATH": str(project.root / "lib")}
    done = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, encoding="utf-8")
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise PublishError(f"{' '.join(words[1:3])} failed: {''.join(last)}")
