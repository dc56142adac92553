"""Write the site: pages in both languages, states of the panels, a stylesheet and two scripts."""

import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from gzip import compress
from hashlib import sha256
from importlib.resources import files
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import matplotlib
import torch
from markupsafe import Markup
from nbformat import NotebookNode

from authoring import glossary_page, notebook
from authoring.address import read_address
from authoring.problem import BuildError
from authoring.project import Project
from authoring.readme import count_figures
from blocklab_course.i18n import LANGUAGES, use_language
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.lessons.manifest import Lesson
from blocklab_course.lessons.start_here.lesson_map import SIZE, lesson_map
from blocklab_course.panel.canvas import Canvas
from blocklab_course.panel.live_view import Live, script
from blocklab_course.session import set_language

from . import handout
from .cells import Picture, image, saved_picture
from .home import TOYS, start_page
from .layout import Book, Place, front_page
from .markdown import link_pages
from .pages import heading_ids, notebook_page, own_cells
from .search import index, read_sections

FRONT, MARK = "index.html", "site.js"  # a folder without this script is not a site
MAP = "lesson_map.linked()"
MAX_INLINE = 10_000  # compressed bytes; a larger picture gets a file of its own
_COLOUR = re.compile(r"^ *(--bl-[\w-]+: )light-dark\((#\w+), #\w+\);$", re.MULTILINE)
_EXPORT = re.compile(r"^export (default .*\n)?", re.MULTILINE)
_ABOUT = re.compile(
    r'<svg xmlns="[^"]*" width="(?P<width>\d+)" height="(?P<height>\d+)" role="img" aria-label="(?P<says>[^"]*)"'
    r' style="(?P<sizes>[^"]*)"(?P<inside>[^>]*)>'
)
_IMAGE = re.compile(r"<img [^>]*>")


class Folder:
    """The folder of the site, and the pages written so far."""

    def __init__(self, path: Path):
        self.path, self.pages = path, []

    def put(self, file: str, text: str) -> None:
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".html":
            self.pages.append(path)

    def picture(self, content: bytes, kind: str = "png") -> str:
        """Store a picture. Returns its address, seen from a page."""
        path = self.path / "pictures" / f"{sha256(content).hexdigest()[:16]}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return f"../pictures/{path.name}"


def write_site(project: Project, path: Path, living: Collection[str]) -> list[Path]:
    """Write the whole site into a folder. Returns its pages.

    living: the lessons, by file name, with interactive panels, which take minutes; the others show pictures.
    Raises BuildError if the folder holds anything but a site.
    """
    remove_old_site(path)
    folder, book = Folder(path), Book(project.outlines(), read_address(project))
    folder.put(MARK, _own(MARK))  # first, so that an unfinished site can be replaced
    recorded = record(project, living, path) if living else {}
    best, searched = defaultdict(dict), defaultdict(list)
    for stem in (*(outline.stem for outline in book.outlines), glossary_page.STEM):
        built = {language: _read_built(project, language, stem) for language in LANGUAGES}
        ids = heading_ids(built["en"])
        for language, lesson in built.items():
            place, title = Place(language, f"{stem}.html"), book.title(stem, language)
            drawn = _collect_pictures(lesson, language, stem, recorded.get(stem, ()), folder)
            best[language] |= _featured(lesson, stem, drawn)
            sheet = handout.has_handout(lesson, language)
            folder.put(
                f"{language}/{place.file}", notebook_page(book, place, lesson, ids, drawn, folder.picture, sheet)
            )
            if sheet:
                folder.put(f"{language}/handouts/{place.file}", handout.render_handout(lesson, language, title))
            searched[language].append((place.file, title, read_sections(lesson, ids)))
    figures = {outline.stem: count_figures(project, outline) for outline in book.outlines}
    thumbnails = {lesson.name: folder.picture(_thumbnail(project, lesson), "svg") for lesson in LESSONS}
    for language in LANGUAGES:
        folder.put(f"{language}/{FRONT}", start_page(book, language, best[language], figures, thumbnails))
        folder.put(f"search/{language}.js", index(language, searched[language]))
    folder.put(FRONT, front_page())
    folder.put("style.css", style())
    folder.put("player.js", player())  # also for questions, which need no recording
    return folder.pages


def remove_old_site(path: Path) -> None:
    """Remove an earlier site. Raises BuildError if the folder holds anything else."""
    if path.is_dir() and any(path.iterdir()) and not (path / MARK).is_file():
        raise BuildError(f"expected {path} to be empty or to hold a site; move it away, or choose another folder")
    if path.is_dir():
        shutil.rmtree(path)


def record(project: Project, living: Collection[str], path: Path) -> dict[str, list]:
    """Record the panels of the lessons as `SitePanel`s, two lessons at a time."""
    from .states import record_lesson

    stems = [stem for stem in living if '"panel"' in project.read(project.source(stem))]
    sources = [project.source(stem) for stem in stems]
    with ProcessPoolExecutor(2, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        return dict(zip(stems, pool.map(record_lesson, sources, repeat(path)), strict=True))


def _read_built(project: Project, language: str, stem: str) -> NotebookNode:
    path = project.notebook(language, stem)
    return notebook.read(path, project.show(path))


def _thumbnail(project: Project, lesson: Lesson) -> bytes:
    return (project.root / "pic" / "lessons" / f"{lesson.package}.svg").read_bytes()


def _collect_pictures(
    lesson: NotebookNode, language: str, stem: str, panels: Iterable, folder: Folder
) -> dict[str, Picture]:
    """The picture of each cell: an SVG where it is recorded, else the PNG of the notebook."""
    code = [cell for cell in own_cells(lesson) if cell.cell_type == "code"]
    drawn = {}
    for cell in code:
        for data in (output.data for output in cell.outputs if "image/png" in output.get("data", {})):
            drawn[cell.id] = saved_picture(data, folder.picture)
            if cell.source == MAP:
                drawn[cell.id] = map_picture(language, data["text/html"], drawn[cell.id], bool(panels))
    for panel in panels:
        key, path, still = f"{stem}/{panel.name}", panel.script and f"../{panel.script}", Markup(panel.stills[language])
        if path is None or len(compress(still.encode())) > MAX_INLINE:
            still = save_svg(still, folder)
        narrow = panel.narrow and f"../{panel.narrow}"
        small = save_svg(panel.small[language], folder) if panel.small else None
        drawn[code[panel.cell].id] = Picture(key, path, still, panel.lines[language], narrow, small)
    return drawn


def save_svg(svg: str, folder: Folder) -> Markup:
    """Save an SVG to its own file with the colours for light and dark, and return a lazily loaded image."""
    about = _ABOUT.match(svg)
    width, height = about["width"], about["height"]
    colours = f"<style>\n{palette()}:root {{ color-scheme: light dark }}\n</style>"
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"{about["inside"]}>'
    src = folder.picture(f"{begin}{colours}{svg[about.end() :]}".encode(), "svg")
    return image(src, Markup(about["says"]), width, height, about["sizes"])


def map_picture(language: str, html: str, pixels: Picture, living: bool) -> Picture:
    """The map of lessons with its links, as an SVG if the lesson's panels are interactive."""
    still = pixels.still
    if living:
        from .svg import picture

        with use_language(language), matplotlib.rc_context():
            set_language(language)  # sets the font of the language
            canvas = Canvas(SIZE, 1)
            still = picture(canvas, lesson_map(canvas.figure)(), "map-")
    still = Markup(link_pages(_IMAGE.sub(lambda _: still, html)))
    return replace(pixels, still=still, line="")  # the label says it already


def _featured(lesson: NotebookNode, stem: str, drawn: Mapping[str, Picture]) -> dict[str, Picture]:
    """The pictures of a lesson that the start page shows, by their names there."""
    cells = {cell.source: cell.id for cell in lesson.cells if cell.id in drawn}
    called = {key: f"{key.partition('/')[2]}.panel()" for key in TOYS if key.startswith(f"{stem}/")} | {"map": MAP}
    return {key: drawn[cells[source]] for key, source in called.items() if source in cells}


def palette() -> str:
    """The panels' colours for a whole page, light and dark; old browsers get the light ones."""
    light = "\n".join(f"{name}{colour};" for name, colour in _COLOUR.findall(Live._css))
    both = "\n".join(found[0].strip() for found in _COLOUR.finditer(Live._css))
    return f":root {{\n{light}\n}}\n@supports (color: light-dark(black, white)) {{ :root {{\n{both}\n}} }}\n"


def style() -> str:
    return f"{palette()}{Live._css}\n{_own('site.css')}"


def player() -> str:
    """The panels' player and the reader of their states as a classic script: pages from disk load no modules."""
    parts = (_EXPORT.sub("", text) for text in (script(), _own("states.js")))
    return f'"use strict";\n(() => {{\n{"".join(parts)}\nglobalThis.blocklabPlayer = {{ frozen, statesFor }};\n}})();\n'


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
