"""Write lessons as self-contained notebooks, whose first cell holds the packages, the font and the data they need.

The cell holds a tar.xz in base64 and the code of `bundle_unpacking`. The same lesson gives the same bytes.
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

from . import bundle_unpacking, folding, font, install_cell, notebook
from .files import write_text
from .learner_copies import prepare_copy
from .problem import BuildError, Problem, collecting_errors
from .project import Project

MAX_BYTES = 1_500_000  # of a bundle
LINE_LENGTH = 1_000  # of the payload; editors are slow with very long lines
SUFFIXES = {".py", ".js", ".css", ".csv", ".txt", ".npz", ".jpg"}  # of package files; the fonts are added separately
PACKAGES = ("blocklab", "blocklab_course")
LICENCES = ("LICENSE", "LICENSE-TEXTS")
_CALLED = re.compile(r'"(\w+)"|\b(\w+)=')  # exercises, as in check("rms_norm", …) and plug_in(rms_norm=…)
TITLE = Text(
    en="Set-up: run me first, this cell holds the package that the lesson needs",
    zh="准备：请先运行这里，里面有这一课要用的软件包",
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
    """Write built lessons (default: all) to a folder. Returns the errors."""
    paths = paths or [path for language in LANGUAGES for path in sorted(project.notebooks(language).glob("*.ipynb"))]
    failures: list[Problem | BuildError] = []
    for path in paths:
        with collecting_errors(failures):
            lesson = notebook.read(path)
            if "blocklab" not in lesson.metadata:
                raise BuildError(f"{path}: expected a built lesson like notebooks/en/02_norm_axes.ipynb")
            name = f"{lesson.metadata.blocklab.language}/{path.name}"
            text = bundle_lesson(project, lesson)
            size = len(text.encode("utf-8"))
            if size > MAX_BYTES:
                raise BuildError(f"{name}: expected at most {MAX_BYTES / 1e6:.1f} MB, got {size / 1e6:.2f} MB")
            write_text(out / name, text, str(out / name))
            say(f"{name}  {size / 1e6:.2f} MB")
    return failures


def bundle_lesson(project: Project, lesson: NotebookNode) -> str:
    """The text of the bundle. A page without code only loses its widgets."""
    for cell in lesson.cells:
        if cell.id == install_cell.CELL_ID:
            cell.source = first_cell(project, lesson)
            folding.fold(cell, TITLE, lesson.metadata.blocklab.language)
    return prepare_copy(notebook.to_text(lesson).encode("utf-8")).decode("utf-8")


def first_cell(project: Project, lesson: NotebookNode) -> str:
    """The first code cell: it unpacks the packages and calls `begin`."""
    language = lesson.metadata.blocklab.language
    files = collect_files(project, lesson)
    tar = pack(files)
    least = minimum_python(project)
    need = sum(map(len, files.values())) / 1e6
    texts = {"python": PYTHON_TOO_OLD, "loaded": OTHER_VERSION_LOADED, "failed": CANNOT_UNPACK}
    values = {"least": least, "need": need, "here": "{here}", "there": "{there}", "why": "{why}"}
    messages = {name: getattr(text, language).format(**values) for name, text in texts.items()}
    payload = "\n".join(re.findall(f".{{1,{LINE_LENGTH}}}", base64.b64encode(tar).decode("ascii")))
    return f"""{inspect.getsource(bundle_unpacking)}

unpack(
    python=({least.replace(".", ", ")}),
    messages={messages},
    name="blocklab-{hashlib.sha256(tar).hexdigest()[:12]}-",
    payload='''
{payload}
''',
)
from blocklab_course import begin

begin("{language}")"""


def minimum_python(project: Project) -> str:
    """The oldest Python version that runs the lessons, for example 3.11."""
    settings = tomllib.loads(project.read(project.pyproject))
    return settings["project"]["requires-python"].removeprefix(">=")


def pack(files: dict[str, bytes]) -> bytes:
    """A tar.xz without times and owners, so that equal files give equal bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", preset=9 | lzma.PRESET_EXTREME) as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def collect_files(project: Project, lesson: NotebookNode) -> dict[str, bytes]:
    """The files for a lesson by name: licences, and both packages without other lessons' code and data."""
    code = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "code")
    lib = project.root / "lib"
    others = {*ORDER} - _lesson_packages(code)
    data = manifest_of(Path(lesson.metadata.blocklab.source).stem).data
    others |= {name for other in LESSONS for name in other.data} - {*data}
    paths = [path.relative_to(lib) for name in PACKAGES for path in (lib / name).rglob("*.*")]
    paths = [path for path in paths if path.suffix in SUFFIXES]
    files = {path.as_posix(): (lib / path).read_bytes() for path in paths if not others & {*path.parts}}
    manifests = (lib / "blocklab_course" / "lessons").glob("*/__init__.py")
    files |= {path.relative_to(lib).as_posix(): path.read_bytes() for path in manifests}
    files |= {name: (project.root / name).read_bytes() for name in LICENCES}
    files[font.LATIN_FONT.relative_to(font.ROOT / "lib").as_posix()] = font.LATIN_FONT.read_bytes()
    if lesson.metadata.blocklab.language == "zh":
        texts = [data.decode("utf-8") for name, data in files.items() if name.endswith((".py", ".csv"))]
        letters = {*"".join([*texts, *(cell.source for cell in lesson.cells)])}
        files[font.FONT.relative_to(font.ROOT / "lib").as_posix()] = font.subset_for(letters)
    return files


def _lesson_packages(code: str) -> set[str]:
    """The lesson packages from which the code imports, or whose exercises it names."""
    named = {name for names in _CALLED.findall(code) for name in names}
    imported = {name for name in ORDER if f"blocklab_course.lessons.{name}" in code}
    return imported | {lesson.package for lesson in LESSONS if named & {*lesson.exercises}}
