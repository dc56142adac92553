"""Set up the virtual environment that a target of the Makefile needs: `sh lib/set_up.sh lessons`, for example.

It runs before anything is installed, with Python's own modules. What is there is looked at each time, and no date of a
file counts: an environment that is broken is made anew, one that was moved goes on, and nothing is fetched that is
there. The package itself is not installed: a path file leads to this folder, from wherever the folder is.
"""

import csv
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from blocklab.language import Text, choose
from blocklab.packages import OPTIONAL

ALONE = tuple(package.name for package in OPTIONAL if package.alone)
PATH_FILE = "0-blocklab.pth"  # sorts before those that pip writes
ROOM_OF_PIP = 30e6  # bytes
LOCK = Path(".venv.lock")
PATIENCE = 30  # seconds, for an environment's Python to say what it is
STAGES = "lessons", "dev", "colab", "front-ends", "newest", "oldest"
OLDEST = (3, 11)
ALL = "*"

# What the environment's Python says of itself. Nothing of `blocklab` is run: its place is looked up.
LOOK = """
import importlib.util, json, sys, sysconfig
package = importlib.util.find_spec("blocklab")
print(json.dumps([sys.version_info[:2], sys.prefix, sysconfig.get_path("purelib"), package and package.origin]))
"""

ANEW = Text(en="The environment in {folder} {fault}; making it anew.", zh="{folder} 中的环境{fault}，现在重新创建。")
NOT_RUNNING = Text(en="is broken: its Python does not start", zh="已损坏，其中的 Python 无法启动")
NOT_VIRTUAL = Text(en="is broken: it is no virtual environment", zh="已损坏，它不是虚拟环境")
NO_PACKAGES = Text(en="is broken: its packages are gone", zh="已损坏，其中的软件包不见了")
NO_PIP = Text(en="is broken: it has no pip", zh="已损坏，其中没有 pip")
OTHER_PACKAGE = Text(en="leads to another blocklab", zh="指向另一个 blocklab")
OTHER_PYTHON = Text(en="is of Python {there}, not {wanted}", zh="用的是 Python {there}，不是 {wanted}")
ADDING_PIP = Text(en="The environment in {folder} has no pip; adding it.", zh="{folder} 中的环境没有 pip，现在补上。")
SET_ASIDE = Text(
    en="{folder} was no virtual environment; it is kept as {kept}.", zh="{folder} 不是虚拟环境，已改名保留为 {kept}。"
)
INSTALLING = Text(
    en="Installing into {folder}: some minutes, and nothing is shown until it is done.",
    zh="正在安装到 {folder}：需要几分钟，完成之前不显示进度。",
)
WAITING = Text(
    en="Another make is installing in this folder; waiting until it is done.",
    zh="另一个 make 正在本文件夹中安装，正在等它完成。",
)
GOING_ON = Text(
    en="{folder} could not be brought up to date ({reason}); going on with what is installed.",
    zh="{folder} 未能更新（{reason}），先用已安装的软件继续。",
)
NOT_INSTALLED = Text(
    en="Could not install into {folder} ({reason}). Run the same command again once that is mended.",
    zh="未能安装到 {folder}（{reason}）。解决之后，再运行一次同样的命令。",
)
NOT_MADE = Text(
    en="Could not make a virtual environment in {folder}: {reason}", zh="未能在 {folder} 中创建虚拟环境：{reason}"
)
NO_VENV = Text(
    en="This Python ({python}) cannot make virtual environments. On Debian and Ubuntu: sudo apt install "
    "python3-venv (python{version}-venv for a Python of another version than the system's)",
    zh="这个 Python（{python}）不能创建虚拟环境。在 Debian 和 Ubuntu 上请运行：sudo apt install python3-venv"
    "（如果这个 Python 与系统自带的版本不同，请改装 python{version}-venv）",
)
BAD_NAME = Text(
    en="A virtual environment cannot lie in a folder whose path holds {what}; rename the folder: {path}",
    zh="虚拟环境不能放在路径含有{what}的文件夹里，请给文件夹改名：{path}",
)
COLON = Text(en="a colon", zh="冒号")
LINE_BREAK = Text(en="a line break", zh="换行符")
NOT_UNICODE = Text(en="bytes that are no UTF-8", zh="不是 UTF-8 的字节")
NO_SPACE = Text(en="the disk is full", zh="磁盘已满")
NO_NETWORK = Text(en="pip reaches no package index: is there a network?", zh="pip 连不上软件源，请检查网络")
NOT_WRITTEN = Text(en="Could not set up in this folder: {reason}", zh="无法在本文件夹中安装：{reason}")
UNREADABLE = Text(en="{file} cannot be read: {reason}", zh="无法读取 {file}：{reason}")


class SetUpError(Exception):
    """The environment cannot be had: the text is the whole message."""


# What is wanted


@dataclass(frozen=True)
class Wish:
    """The folder of an environment, and the arguments of each call of pip that fills it."""

    folder: Path
    installs: tuple[tuple[str, ...], ...]

    @property
    def fingerprint(self) -> str:
        """Of the arguments and of what stands in the files that they name."""
        files = sorted({word for call in self.installs for word in call if word.endswith(".txt")})
        contents = [read(file) for file in files]
        return hashlib.sha256(repr((self.installs, contents)).encode()).hexdigest()


def read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise SetUpError(UNREADABLE.format(file=file, reason=error)) from error


def wish_of(stage: str) -> Wish:
    """What a stage installs, by pyproject.toml and the files with the versions."""
    text = read("pyproject.toml")
    try:
        project = tomllib.loads(text)["project"]
        extras = project["optional-dependencies"]
        alone = ("--no-deps", "-c", "constraints.txt", *ALONE)
        if stage == "colab":
            return Wish(Path(".venv-colab"), (("-r", "colab-constraints.txt"), (*alone, *extras["real"])))
        if stage == "front-ends":
            return Wish(Path(".venv-front-ends"), (("-c", "constraints.txt", *extras["front-ends"]),))
        wanted = list(project["dependencies"])
        for extra in ["lessons"] if stage == "lessons" else ["dev", "real"]:
            wanted += expanded(extras[extra], project["name"], extras)
        if stage == "newest":
            return Wish(Path(".venv-newest"), ((*dict.fromkeys(wanted),), ("--no-deps", *ALONE)))
        if stage == "oldest":
            oldest = [re.sub(r">=([^,]+).*", r"==\1", line) for line in project["dependencies"]]
            return Wish(Path(".venv-oldest"), ((*dict.fromkeys(wanted + oldest),), alone))
        return Wish(Path(".venv"), (("-c", "constraints.txt", *dict.fromkeys(wanted)), alone))
    except (tomllib.TOMLDecodeError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SetUpError(UNREADABLE.format(file="pyproject.toml", reason=error)) from error


def expanded(lines: list[str], name: str, extras: dict[str, list[str]]) -> Iterator[str]:
    """The requirements, with `name[extra]` replaced by those of the extra."""
    for line in lines:
        extra = line.removeprefix(f"{name}[").removesuffix("]")
        yield from expanded(extras[extra], name, extras) if line == f"{name}[{extra}]" else [line]


# What is there


@dataclass(frozen=True)
class Seen:
    """What an environment's Python says: its version, where it thinks it is, its packages, and whose `blocklab`."""

    version: tuple[int, int]
    prefix: Path
    packages: Path
    blocklab: Path | None


def python_of(folder: Path) -> str:
    return os.path.join(folder, "bin", "python")


def run(*command: str, seconds: float | None = None, **environment: str) -> subprocess.CompletedProcess:
    """Run without a terminal. The child keeps the lock, should this process be killed before it.

    With a limit of `seconds` it does not, and subprocess.TimeoutExpired is raised where they are over.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        close_fds=seconds is not None,
        timeout=seconds,
        env=os.environ | environment,
    )


def look(folder: Path) -> Seen | None:
    """The environment in the folder, None if its Python does not start, or does not answer."""
    try:
        said = run(python_of(folder), "-I", "-c", LOOK, seconds=PATIENCE).stdout
        version, prefix, packages, origin = json.loads(said.splitlines()[-1])
        return Seen(tuple(version), Path(prefix), Path(packages), Path(origin) if origin else None)
    except (OSError, ValueError, TypeError, IndexError, subprocess.TimeoutExpired):
        return None


def fault(folder: Path, seen: Seen | None, asked: bool) -> str | None:
    """What keeps the environment from being used, None if nothing does."""
    if seen is None:
        return str(NOT_RUNNING)
    if not seen.prefix.exists() or not seen.prefix.samefile(folder):
        return str(NOT_VIRTUAL)
    if seen.version < OLDEST or (asked and seen.version != sys.version_info[:2]):
        return OTHER_PYTHON.format(there=dotted(seen.version), wanted=dotted(sys.version_info[:2]))
    if not seen.packages.is_dir():  # the system's Python was exchanged for another version
        return str(NO_PACKAGES)
    return None


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def ours(seen: Seen, folder: Path) -> bool:
    """Does `blocklab` come from this folder's lib? Colab's environment has a wheel, that of other front ends none."""
    if folder in (Path(".venv-colab"), Path(".venv-front-ends")):
        return True
    here = Path("lib", "blocklab", "__init__.py")
    return seen.blocklab is not None and seen.blocklab.exists() and seen.blocklab.samefile(here)


def record_of(wish: Wish, stage: str) -> Path:
    return wish.folder / f"{stage}.json"


def complete(wish: Wish, stage: str, seen: Seen) -> str | None:
    """The fingerprint of what was installed for the stage, None if it never was or if a part of it is gone."""
    try:
        record = json.loads(record_of(wish, stage).read_text("utf-8"))
        return record["wish"] if set(record["packages"]) <= names(seen.packages) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def names(packages: Path) -> set[str]:
    """What lies in the folder, without versions: what a user has upgraded by hand is there."""
    return {re.sub(r"-[^-]*(?=\.dist-info$)", "", name) for name in os.listdir(packages)}


def ready(wish: Wish, stage: str, asked: bool) -> bool:
    wanted, seen = wish.fingerprint, look(wish.folder)
    if fault(wish.folder, seen, asked) or not ours(seen, wish.folder):
        return False
    return complete(wish, stage, seen) == wanted and not any(lost(seen.packages).values())


# Making it so


def set_up(stage: str, asked: bool) -> None:
    """See to it that the stage's environment is there. asked: the Python that runs this is the one to use.

    Raises SetUpError if it cannot be had.
    """
    wish = wish_of(stage)
    if ready(wish, stage, asked):
        return
    with one_at_a_time():
        seen, new = sound(wish.folder, asked)
        if not ours(seen, wish.folder):
            seen = lead_here(wish.folder, seen)
        if not ours(seen, wish.folder):  # something else goes before it
            say(ANEW, folder=wish.folder, fault=OTHER_PACKAGE)
            seen, new = lead_here(wish.folder, make(wish.folder)), True
        if not new and ready(wish, stage, asked):
            return
        try:
            fill(wish, seen, new)
        except SetUpError as error:
            if os.environ.get("CI") == "true" or not usable(wish, stage, seen):
                raise SetUpError(NOT_INSTALLED.format(folder=wish.folder, reason=error)) from error
            say(GOING_ON, folder=wish.folder, reason=error)
            return
        record = {"wish": wish.fingerprint, "packages": sorted(names(seen.packages))}
        put(record_of(wish, stage), json.dumps(record))


def usable(wish: Wish, stage: str, seen: Seen) -> bool:
    """Is what is there enough, if not the newest: all that was once installed, or versions that will do?"""
    ranges = [[word for word in call if word not in ("-c", "constraints.txt")] for call in wish.installs]
    return complete(wish, stage, seen) is not None or satisfied(wish.folder, ranges)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other process installs in this folder. The system takes the lock back when its holders end."""
    with LOCK.open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(WAITING)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield


def sound(folder: Path, asked: bool) -> tuple[Seen, bool]:
    """The environment, made anew if there is none or a broken one, and with pip; and whether it is new."""
    seen = look(folder)
    wrong = fault(folder, seen, asked)
    if not wrong and not has_pip(folder):
        say(ADDING_PIP, folder=folder)
        for note in seen.packages.glob("pip-*.dist-info"):  # or it would be taken for there
            remove(note)
        run(python_of(folder), "-m", "ensurepip", "--upgrade", "--default-pip")
        wrong = None if has_pip(folder) else str(NO_PIP)
    if wrong:
        refuse_what_cannot_be()
        if os.path.lexists(folder):
            say(ANEW, folder=folder, fault=wrong)
        return make(folder), True
    return seen, False


def has_pip(folder: Path) -> bool:
    return run(python_of(folder), "-I", "-m", "pip", "--isolated", "--version").returncode == 0


def make(folder: Path) -> Seen:
    """A new environment in place of what is there. Raises SetUpError if Python's `venv` makes none."""
    clear(folder)
    made = run(base_python(), "-m", "venv", str(folder))
    seen = look(folder)
    if made.returncode or seen is None:
        clear(folder)
        full = shutil.disk_usage(".").free < ROOM_OF_PIP
        why = NO_SPACE if full else last_line(made.stdout + made.stderr) or NOT_RUNNING
        raise SetUpError(NOT_MADE.format(folder=folder, reason=why))
    return seen


def base_python() -> str:
    """The Python that runs this, outside of the environment, which may be about to go."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return os.path.realpath(base) if Path(base).is_relative_to(Path(".venv").absolute()) else base


def refuse_what_cannot_be() -> None:
    """Raise SetUpError where Python's `venv` or pip cannot work, before anything is removed."""
    path = os.getcwd()
    surrogate = any("\ud800" <= letter <= "\udfff" for letter in path)  # so Python reads what is no UTF-8
    for what, there in ((COLON, ":" in path), (LINE_BREAK, len(path.splitlines()) > 1), (NOT_UNICODE, surrogate)):
        if there:
            raise SetUpError(BAD_NAME.format(what=what, path=repr(path)))
    if run(base_python(), "-c", "import ensurepip, venv").returncode:
        raise SetUpError(NO_VENV.format(python=base_python(), version=dotted(sys.version_info[:2])))


def clear(folder: Path) -> None:
    """Remove a virtual environment; what is anything else is renamed, never removed."""
    if not os.path.lexists(folder):
        return
    marks = ("pyvenv.cfg", *(f"{stage}.json" for stage in STAGES))
    inside = not folder.is_symlink() and folder.is_dir()
    if inside and (any((folder / mark).is_file() for mark in marks) or not any(files for *_, files in os.walk(folder))):
        # Should it be interrupted, the next call sees that it is broken, and still that it was an environment.
        for path in sorted(folder.iterdir(), key=lambda path: (path.name in marks, path.name != "bin")):
            remove(path)
        folder.rmdir()
        return
    kept = next(path for n in range(1, 10_000) if not os.path.lexists(path := Path(f"{folder}-before-{n}")))
    folder.rename(kept)
    say(SET_ASIDE, folder=folder, kept=kept)


def remove(path: Path) -> None:
    """Whatever it is: a folder with all that is in it, a file, a link but not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put(path: Path, text: str) -> None:
    """A file with this text, in place of whatever stands there."""
    remove(path)
    path.write_text(text, "utf-8")


def lead_here(folder: Path, seen: Seen) -> Seen:
    """Let the environment's `blocklab` be the one in this folder, now and after the folder has moved."""
    put(seen.packages / PATH_FILE, os.path.relpath("lib", seen.packages) + "\n")
    copy = seen.packages / "blocklab"  # would go before it
    if os.path.lexists(copy):
        run(python_of(folder), "-I", "-m", "pip", "uninstall", "--yes", "blocklab")
        remove(copy)
    return look(folder) or seen


def fill(wish: Wish, seen: Seen, new: bool) -> None:
    """Install what is missing, first without the network. Raises SetUpError with pip's reason."""
    aside = forget_halves(seen.packages)
    try:
        install(wish, new)
    except SetUpError:
        for note, kept in aside.items():
            kept.rename(note)
        raise
    for kept in aside.values():
        remove(kept)


def install(wish: Wish, new: bool) -> None:
    if new or not satisfied(wish.folder, wish.installs):
        say(INSTALLING, folder=wish.folder)
        for call in wish.installs:
            done = pip(wish.folder, *call)
            if done.returncode:
                raise SetUpError(reason(done.stdout + done.stderr))


def satisfied(folder: Path, installs: Iterable[Iterable[str]]) -> bool:
    """Is all of it there? pip is asked, and reaches for no network."""
    return all(pip(folder, "--no-index", *call).returncode == 0 for call in installs)


def pip(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """`pip install`, into the environment whatever the user's settings say."""
    command = ("-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", *arguments)
    asked = os.environ.get("PIP_RETRIES", "")
    retries = asked if asked.strip("0") else "5"  # with none, pip does not tell that it reaches no index
    settings = {"PIP_USER": "0", "PIP_TARGET": "", "PIP_PREFIX": "", "PIP_ROOT": "", "PIP_RETRIES": retries}
    return run(python_of(folder), *command, **settings)


def forget_halves(packages: Path) -> dict[Path, Path]:
    """Take away what pip left when it was killed, and its note of every distribution that is there by half.

    Where only a part was lost, which may not be needed, the note is kept aside; the result says where.
    """
    for leftover in packages.glob("~*"):
        remove(leftover)
    aside = {}
    for note, part in lost(packages).items():
        if part == ALL:
            remove(note)
        elif part:
            aside[note] = note.rename(note.with_name(f"~{note.name}"))
    return aside


def lost(packages: Path) -> dict[Path, str | None]:
    """Of every distribution, by its note: a file of its code that is gone, ALL for a half of it, None if it is whole.

    What another installer than pip put there is its own affair.
    """
    return {note: lost_of(note) for note in packages.glob("*.dist-info")}


def lost_of(note: Path) -> str | None:
    installer, record = note / "INSTALLER", note / "RECORD"
    try:
        if installer.is_file() and installer.read_text("utf-8").strip() != "pip":
            return None
        rows = csv.reader(record.read_text("utf-8").splitlines()) if record.is_file() else []
        files = [row[0] for row in rows if row]
    except (OSError, UnicodeError, csv.Error):  # damaged
        return ALL
    tops = {file.split("/")[0] for file in files}
    if not tops or not all(os.path.exists(note.parent / top) for top in tops):  # pip writes the record last
        return ALL
    code = (file for file in files if file.endswith(".py") or ".so" in file)
    return next((file for file in code if not os.path.exists(os.path.join(note.parent, file))), None)


def reason(output: str) -> str:
    """Why pip gave up, in a line."""
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    telling = [error for error in errors if not error.startswith(("Exception:", "Could not find a version"))]
    why = telling[0] if telling else last_line(output)
    unreached = "Retrying (" in output and why.startswith(("No matching distribution", "Cannot install"))
    return str(NO_NETWORK) if unreached else why


def last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")


def say(text: Text, **values: object) -> None:
    print(text.format(**values), flush=True)


def main() -> int:
    sys.stdout.reconfigure(errors="replace")
    choose("zh" if os.environ.get("READ") == "zh" else "en")
    try:
        set_up(sys.argv[1], asked=bool(os.environ.get("PYTHON")))
    except SetUpError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(NOT_WRITTEN.format(reason=error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
