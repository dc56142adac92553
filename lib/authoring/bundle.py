"""A lesson as one file that needs no other: its first cell holds the package, a font for it, and the data it reads.

They are a tar.xz in base64, which `unpacking` opens in the reader's Python. The same lesson gives the same bytes.
"""

import base64
import hashlib
import inspect
import io
import lzma
import re
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from blocklab_course.i18n import LANGUAGES, Text
from blocklab_course.lessons.catalog import LESSONS, ORDER, manifest_of

from . import bundle_unpacking, font, notebook, stamped_cells
from .copies import prepare_copy
from .files import write_text
from .problem import BuildError, Problem, collecting_errors
from .project import Project

MAX_BYTES = 1_500_000  # bytes of a file
LINE_LENGTH = 1_000  # characters of a line of the payload: an editor stumbles over one of a million
SUFFIXES = {".py", ".js", ".css", ".csv", ".txt", ".npz", ".jpg"}  # of the package; the font is cut
PACKAGES = ("blocklab", "blocklab_course")
LICENCES = ("LICENSE", "LICENSE-TEXTS")
_CALLED = re.compile(r'"(\w+)"|\b(\w+)=')  # an exercise: check("rms_norm", …), plug_in(rms_norm=…)
# The first line is all that a front end shows of the folded cell.
TITLE = Text(
    en="Set-up: this cell holds the package that the lesson needs", zh="准备：这个单元格里有这一课要用的软件包"
)
PYTHON_TOO_OLD = Text(
    en="This lesson needs Python {least} or newer, this is Python {here}.",
    zh="这一课需要 Python {least} 或更新的版本，现在用的是 Python {here}。",
)
OTHER_VERSION_LOADED = Text(
    en="This kernel has loaded another blocklab already: {there}. Restart the kernel, then run this cell first.",
    zh="这个内核已经加载了另一个 blocklab：{there}。请重启内核，然后先运行这个单元格。",
)
CANNOT_UNPACK = Text(
    en="The package in this cell could not be unpacked: {why}. It needs {need:.1f} MB in the temporary folder. If the "
    "file is damaged, get it once more.",
    zh="无法解压这个单元格里的软件包：{why}。临时文件夹里要有 {need:.1f} MB 空间；如果是文件损坏了，请重新获取。",
)


def write_bundles(project: Project, paths: list[Path], out: Path, say: Callable[[str], None] = print) -> list:
    """Write built lessons (all if none) to a folder, each as one file; the result says what went wrong."""
    paths = paths or [path for language in LANGUAGES for path in sorted(project.notebooks(language).glob("*.ipynb"))]
    failures: list[Problem | BuildError] = []
    for path in paths:
        with collecting_errors(failures):
            lesson = notebook.read(path)
            if "blocklab" not in lesson.metadata:
                raise BuildError(f"{path}: is not a built lesson, such as notebooks/en/02_norm_axes.ipynb")
            name = f"{lesson.metadata.blocklab.language}/{path.name}"
            text = bundle_lesson(project, lesson)
            size = len(text.encode("utf-8"))
            if size > MAX_BYTES:
                raise BuildError(f"{name}: {size / 1e6:.2f} MB as one file; the limit is {MAX_BYTES / 1e6:.1f} MB")
            write_text(out / name, text, str(out / name))
            say(f"{name}  {size / 1e6:.2f} MB")
    return failures


def bundle_lesson(project: Project, lesson: NotebookNode) -> str:
    """What stands in the file. A page without code, which needs nothing, stays as it is."""
    for cell in lesson.cells:
        if cell.id == stamped_cells.SETUP:
            cell.source = first_cell(project, lesson)
    return prepare_copy(notebook.to_text(lesson).encode("utf-8")).decode("utf-8")


def first_cell(project: Project, lesson: NotebookNode) -> str:
    """The first code cell: it brings the package along, and begins."""
    language = lesson.metadata.blocklab.language
    files = collect_files(project, lesson)
    tar = pack(files)
    least = minimum_python(project)
    need = sum(map(len, files.values())) / 1e6
    texts = {"old": PYTHON_TOO_OLD, "another": OTHER_VERSION_LOADED, "failed": CANNOT_UNPACK}
    filled = {"least": least, "need": need, "here": "{here}", "there": "{there}", "why": "{why}"}
    said = {name: getattr(text, language).format(**filled) for name, text in texts.items()}
    payload = "\n".join(re.findall(f".{{1,{LINE_LENGTH}}}", base64.b64encode(tar).decode("ascii")))
    return f"""# {getattr(TITLE, language)}
{inspect.getsource(bundle_unpacking)}

bring(
    python=({least.replace(".", ", ")}),
    said={said},
    name="blocklab-{hashlib.sha256(tar).hexdigest()[:12]}-",
    payload='''
{payload}
''',
)
from blocklab_course import begin

begin("{language}")"""


def minimum_python(project: Project) -> str:
    """The oldest Python that runs the lessons, such as 3.11."""
    settings = tomllib.loads(project.read(project.pyproject))
    return settings["project"]["requires-python"].removeprefix(">=")


def pack(files: dict[str, bytes]) -> bytes:
    """A tar.xz that tells nothing of when, where and by whom it was made."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", preset=9 | lzma.PRESET_EXTREME) as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def collect_files(project: Project, lesson: NotebookNode) -> dict[str, bytes]:
    """What a lesson brings along, by name: the licences, and the package without what belongs to other lessons."""
    code = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "code")
    lib = project.root / "lib"
    others = {*ORDER} - _rooms(code)
    data = manifest_of(Path(lesson.metadata.blocklab.source).stem).data
    others |= {name for other in LESSONS for name in other.data} - {*data}
    paths = [path.relative_to(lib) for name in PACKAGES for path in (lib / name).rglob("*.*")]
    paths = [path for path in paths if path.suffix in SUFFIXES]
    files = {path.as_posix(): (lib / path).read_bytes() for path in paths if not others & {*path.parts}}
    manifests = (lib / "blocklab_course" / "lessons").glob("*/__init__.py")
    files |= {path.relative_to(lib).as_posix(): path.read_bytes() for path in manifests}
    files |= {name: (project.root / name).read_bytes() for name in LICENCES}
    if lesson.metadata.blocklab.language == "zh":
        texts = [data.decode("utf-8") for name, data in files.items() if name.endswith((".py", ".csv"))]
        letters = {*"".join([*texts, *(cell.source for cell in lesson.cells)])}
        files[font.FONT.relative_to(font.ROOT / "lib").as_posix()] = font.subset_for(letters)
    return files


def _rooms(code: str) -> set[str]:
    """The packages of the lessons from which the code imports, or whose exercises it names."""
    named = {name for names in _CALLED.findall(code) for name in names}
    imported = {room for room in ORDER if f"blocklab_course.lessons.{room}" in code}
    return imported | {lesson.package for lesson in LESSONS if named & {*lesson.exercises}}
