"""A built lesson, an appendix or the glossary as a page."""

import re
from collections import Counter
from collections.abc import Callable, Mapping

from nbformat import NotebookNode

from blocklab.language import speaking
from workshop import stamp
from workshop.project import Outline

from . import words
from .cells import Around, Shown, code_cell
from .frame import Book, Place, numbered, page
from .markdown import headings, html, slug

_TITLE = re.compile(r"\A# +[^\n]*\n*")
_MINUTES = re.compile(r"about (\d+) minutes|大约需要 (\d+) 分钟")


def own_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that come from the source: those that are stamped have other forms in a page."""
    return [cell for cell in notebook.cells if cell.id not in stamp.IDS]


def without_title(source: str) -> str:
    return _TITLE.sub("", source)


def heading_ids(english: NotebookNode) -> dict[str, list[str]]:
    """The ids of the headings by cell. Both languages bear them, so that a reader who changes keeps the place."""
    ids, seen = {}, Counter()
    for cell in own_cells(english):
        if cell.cell_type == "markdown":
            ids[cell.id] = []
            for heading in headings(without_title(cell.source)):
                name = slug(heading.said)
                seen[name] += 1
                ids[cell.id].append(f"{name}--{seen[name]}" if seen[name] > 1 else name)
    return ids


def minutes(lesson: NotebookNode) -> str | None:
    """The time that the first text asks for."""
    found = _MINUTES.search(own_cells(lesson)[0].source)
    return found and (found[1] or found[2])


def notebook_page(
    book: Book,
    place: Place,
    notebook: NotebookNode,
    ids: Mapping[str, list[str]],
    drawn: Mapping[str, Shown],
    picture: Callable[[bytes], str],
    handout: bool,
) -> str:
    """A page. drawn: by cell what is there as strokes. picture: as `Around` has it. handout: whether there is one."""
    stem = place.file.removesuffix(".html")
    here, title = book.outline(stem), book.title(stem, place.language)
    with speaking(place.language):
        around = Around(picture, lambda cell: _write(book, place, here, cell))
        text, contents = [], []
        for cell in own_cells(notebook):
            if cell.cell_type == "markdown":
                source = without_title(cell.source)
                text.append(f'<section class="text" id="{cell.id}">{html(source, ids[cell.id])}</section>\n')
                named = zip(headings(source), ids[cell.id], strict=True)
                contents += [
                    f'<li><a href="#{name}">{found.html}</a></li>' for found, name in named if found.level == 2
                ]
            else:
                text.append(code_cell(cell, drawn.get(cell.id), around))
        main = f"""<main id="main_text" class="lesson" data-lesson="{stem if here and here.number else ""}">
<header class="title">
{_facts(book, place, here, notebook, handout)}<h1>{numbered(here, place.language) if here else title}</h1>
</header>
<nav class="contents" aria-label="{words.CONTENTS}"><details><summary>{words.CONTENTS}</summary>
<ol>{"".join(contents)}</ol></details></nav>
<article>
{"".join(text)}</article>
{_ways_on(book, place, here)}</main>"""
        return page(book, place, f"{title} · Blocklab", main)


def _facts(book: Book, place: Place, here: Outline | None, lesson: NotebookNode, handout: bool) -> str:
    """The line above the title: which lesson of how many, its time, and its other forms."""
    facts = []
    if here and here.number:
        facts.append(words.NUMBER.format(number=int(here.number), last=book.last))
    if time := minutes(lesson):
        facts.append(words.MINUTES.format(minutes=time))
    if here and (colab := _colab(book, place, here)):
        facts.append(f'<a href="{colab}">{words.IN_COLAB}</a>')
    if handout:
        facts.append(f'<a href="handouts/{place.file}">{words.HANDOUT}</a>')
    return f'<p class="facts">{" · ".join(facts)}</p>\n' if facts else ""


def _colab(book: Book, place: Place, here: Outline) -> str | None:
    return book.address.colab and f"{book.address.colab}/notebooks/{place.language}/{here.stem}.ipynb"


def _write(book: Book, place: Place, here: Outline | None, cell: str) -> str:
    """Where an exercise is written: in Colab at its cell, if Colab finds the repository, and on one's own machine."""
    if here is None:
        return ""
    ways = [words.WRITE_HERE.format(number=here.number)]
    if colab := _colab(book, place, here):
        ways.insert(0, f'<a href="{colab}#scrollTo={cell}">{words.WRITE_IN_COLAB}</a>')
    return f'<p class="write">{words.WRITE.format(ways=str(words.OR).join(ways))}</p>'


def _ways_on(book: Book, place: Place, here: Outline | None) -> str:
    """Behind the text: whether it has been read, which the script keeps, and the lessons before and after."""
    if here is None:
        return ""
    at = book.outlines.index(here)
    near = [
        ("before", words.BEFORE, book.outlines[at - 1 : at]),
        ("after", words.AFTER, book.outlines[at + 1 : at + 2]),
    ]
    links = [
        f'<a class="{way}" href="{one.stem}.html"><span>{said}</span> {numbered(one, place.language)}</a>'
        for way, said, found in near
        for one in found
    ]
    read = f'<label class="read" hidden><input type="checkbox"> {words.READ}</label>\n' if here.number else ""
    return f'{read}<nav class="ways" aria-label="{words.AROUND}">{"".join(links)}</nav>\n'
