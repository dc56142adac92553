"""Copies of the lessons to work in, so that a learner's answers never touch the built notebooks."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from blocklab.files import Unreadable, content, regular_content, replace, why_not_opened
from blocklab.language import LANGUAGES, Text
from blocklab.my_files import BLOCKS_FOLDER, PREDICTIONS
from blocklab.report.printable import printable

from .answers import UNREAD, as_bytes, with_answers
from .files import LARGEST, read_bytes
from .problem import PublishError, kept_in
from .project import Project
from .renumbered import renumbered
from .sealed import without_sealed

try:
    import fcntl
except ImportError:
    fcntl = None

VIEW = "application/vnd.jupyter.widget-view+json"
EARLIER = b"from blocklab.lesson import begin"  # how lessons of an earlier edition begin

KEPT = Text(en="kept your old copies in {kept}/", zh="原来的副本保留在 {kept}/")
TAKEN_OVER = Text(
    en="{new}/blocks: kept blocks taken over: {blocks}", zh="{new}/blocks：带过来 {blocks} 个保存的代码块"
)
COPIED = Text(en="my/: {added} copied, {there} left as they are", zh="my/：新复制 {added} 份，{there} 份保持原样")
OLD = Text(
    en="my/: {old} of the copies are of an earlier edition and no longer run; new ones, with your answers in them: "
    "make lab FRESH=1 (without make: python -m workshop copies --fresh)",
    zh="my/：有 {old} 份副本是旧版，已无法运行；要换成新副本并带上你的答案，请运行 make lab FRESH=1"
    "（没有 make，就运行 python -m workshop copies --fresh）",
)
OLD_NUMBERS = Text(
    en="my/: {old} of the copies bear an earlier number of their lesson; new ones, with your answers in them: "
    "make lab FRESH=1 (without make: python -m workshop copies --fresh)",
    zh="my/：有 {old} 份副本还是原来的课程编号；要换成新副本并带上你的答案，请运行 make lab FRESH=1"
    "（没有 make，就运行 python -m workshop copies --fresh）",
)


def copy_lessons(project: Project, fresh: bool = False, say: Callable[[str], None] = print) -> None:
    """Copy notebooks/en and notebooks/zh to my/. A file that is there is never touched; new lessons are added.

    `fresh` keeps the old folder as my-before-1, -2, … and copies anew, the answers in it included. Raises PublishError
    for a folder that cannot be written into, and, once the others are copied, for lessons that are missing or no files.
    """
    failures = []
    with _one_at_a_time(project.root):
        mine = project.root / "my"
        if fresh and os.path.lexists(mine):
            _renew(project, mine, failures, say)
        else:
            _add(project, mine, failures, say)
    if failures:
        raise PublishError("\n".join(map(str, failures)))


def _add(project: Project, mine: Path, failures: list, say: Callable[[str], None]) -> None:
    added, there, old, old_numbers = 0, 0, 0, 0
    for language in LANGUAGES:
        folder, lessons = _made(project, mine / language), _lessons(project, language)
        old_numbers += sum((folder / name).is_file() for name in renumbered(folder, [path.name for path in lessons]))
        for lesson in lessons:
            copy = folder / lesson.name
            if os.path.lexists(copy):
                there += 1
                old += _is_of_an_earlier_edition(copy)
            else:
                with kept_in(failures):
                    replace(copy, as_copied(read_bytes(lesson, project.show(lesson))))
                    added += 1
    say(COPIED.format(added=added, there=there))
    if old:
        say(OLD.format(old=old))
    if old_numbers:
        say(OLD_NUMBERS.format(old=old_numbers))


def _is_of_an_earlier_edition(copy: Path) -> bool:
    try:
        return EARLIER in regular_content(copy, LARGEST)
    except (Unreadable, OSError):  # JupyterLab says so when it is opened
        return False


def _renew(project: Project, mine: Path, failures: list, say: Callable[[str], None]) -> None:
    """Put new copies in place of the old ones, once all are made: until then nothing that is there is moved."""
    kept = next(path for n in range(1, 10_000) if not os.path.lexists(path := mine.with_name(f"my-before-{n}")))
    added, remarks = 0, []
    with TemporaryDirectory(prefix="my-new-", dir=project.root) as temporary:
        new = Path(temporary) / mine.name
        for language in LANGUAGES:
            folder, lessons = _made(project, new / language), {}
            for lesson in _lessons(project, language):
                with kept_in(failures):
                    lessons[lesson.name] = as_copied(read_bytes(lesson, project.show(lesson)))
            shown = (f"{place.name}/{language}" for place in (mine, kept))
            copies, said = with_answers(lessons, mine / language, *shown)
            for name, copy in copies.items():
                replace(folder / name, copy)
            added += len(copies)
            remarks += said
        remarks += _carry_work(mine, new, kept.name)
        mine.rename(kept)
        new.rename(mine)
    for line in (KEPT.format(kept=kept.name), *remarks, COPIED.format(added=added, there=0)):
        say(line)


def _carry_work(mine: Path, new: Path, kept: str) -> list[str]:
    """Copy what lies beside the old copies into the new folder: guesses and kept blocks. What is to be said of them."""
    said, blocks = [], 0
    for old in sorted((*mine.glob(PREDICTIONS), *mine.glob(f"{BLOCKS_FOLDER}/*.py*"))):
        inside = old.relative_to(mine)
        try:
            data = content(old, LARGEST)
        except (Unreadable, OSError) as error:
            why = why_not_opened(error)
            said.append(printable(UNREAD.format(old=f"{kept}/{inside.as_posix()}", why=why)))
            continue
        (new / inside).parent.mkdir(exist_ok=True)
        replace(new / inside, data)
        blocks += old.suffix == ".py"
    return [TAKEN_OVER.format(new=mine.name, blocks=blocks)] * (blocks > 0) + said


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process copies in this folder; on Windows, which has no such lock, go on."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _made(project: Project, folder: Path) -> Path:
    for path in (folder.parent, folder):
        if os.path.lexists(path) and not path.is_dir():
            what = "is no folder" if path.exists() else "is a link that leads nowhere"
            raise PublishError(f"{project.show(path)}: {what}; move it away")
        path.mkdir(exist_ok=True)
    return folder


def _lessons(project: Project, language: str) -> list[Path]:
    """The built notebooks, and the first lesson even if it is not there: it is the one that opens."""
    folder = project.notebooks(language)
    built = set(folder.glob("*.ipynb"))
    if not built:
        raise PublishError(f"{project.show(folder)}: {'holds no lessons' if folder.is_dir() else 'is no folder'}")
    first = min(project.sources.glob("*.py"), default=None)
    return sorted(built | ({folder / f"{first.stem}.ipynb"} if first else set()))


def as_copied(lesson: bytes) -> bytes:
    """A notebook whose panels are pictures, and which holds no answer to a prediction, until a kernel runs the cells.

    A front end that trusts a notebook looks for its widgets first, and where no kernel has made them it says so and
    shows no picture. What is no notebook is left as it is.
    """
    try:
        notebook = json.loads(lesson)
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        left_out = [output["data"].pop(VIEW) for output in outputs if VIEW in output.get("data", {})]
        left_out += without_sealed(notebook)
        copy = as_bytes(notebook)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return lesson
    return copy if left_out else lesson
