"""What stands around the text of every page: its head, the bar above, the foot."""

import json
from dataclasses import dataclass
from html import escape

from workshop.address import Address
from workshop.project import Outline

from . import words

STORED = "blocklab-site-1"  # the key in the browser's storage; what is stored in another form gets another number
# Three blocks, one of them raised: the tab's little picture, with no file to fetch.
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect x='2' y='17' width='13' height='13' rx='2' fill='%232f6fb0'/%3E"
    "%3Crect x='17' y='17' width='13' height='13' rx='2' fill='%238f9ba8'/%3E"
    "%3Crect x='9.5' y='2' width='13' height='13' rx='2' fill='%23dd7610'/%3E%3C/svg%3E"
)
# Run before anything is painted, so that a page that the reader wants dark never flashes, nor the line that tells of a
# page without its script, which is known only when the script should have run.
EARLY = (
    "const{dataset}=document.documentElement;dataset.script='awaited';"
    "addEventListener('DOMContentLoaded',()=>dataset.script==='awaited'&&delete dataset.script);"
    f'try{{const {{theme}}=JSON.parse(localStorage.getItem("{STORED}"));'
    'if(theme==="light"||theme==="dark")dataset.theme=theme}catch{}'
)


@dataclass(frozen=True)
class Book:
    """What all pages share: the lessons and appendices in their order, and where the repository lives."""

    outlines: list[Outline]
    address: Address

    @property
    def last(self) -> int:
        """The number of the last lesson."""
        return max(int(outline.number) for outline in self.outlines if outline.number)

    def outline(self, stem: str) -> Outline | None:
        """None for a page that is neither, the glossary."""
        return next((outline for outline in self.outlines if outline.stem == stem), None)

    def title(self, stem: str, language: str) -> str:
        outline = self.outline(stem)
        return outline.titles[language] if outline else getattr(words.GLOSSARY, language)


@dataclass(frozen=True)
class Place:
    """Where a page lies: a file in the folder of its language."""

    language: str
    file: str


def page(book: Book, place: Place, title: str, main: str) -> str:
    """A whole page. What it says itself is in the language that is being spoken."""
    other, in_its_words = words.OTHER[place.language]
    said = {name: str(text) for name, text in words.SCRIPT.items()}
    about = json.dumps(
        {"language": place.language, "stored": STORED, "words": said},
        ensure_ascii=False,
        separators=(",", ":"),
    ).replace("<", r"\u003c")
    lessons = "".join(_lesson(place, outline) for outline in book.outlines)
    lessons += f'<li><a href="glossary.html">{words.GLOSSARY}</a></li>'
    repository = f'<p><a href="{escape(book.address.url)}">{words.REPOSITORY}</a></p>' if book.address.known else ""
    return f"""<!doctype html>
<html lang="{words.LANG[place.language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="{ICON}">
<script>{EARLY}</script>
<link rel="stylesheet" href="../style.css">
<script type="application/json" id="about_page">{about}</script>
<script defer src="../site.js"></script>
</head>
<body>
<a class="skip" href="#main_text">{words.SKIP}</a>
<header class="bar">
<nav aria-label="{words.SITE}">
<a class="brand" href="index.html">Blocklab</a>
<details class="menu"><summary>{words.LESSONS}</summary><ol>{lessons}</ol></details>
<a class="glossary" href="glossary.html">{words.GLOSSARY}</a>
</nav>
<div class="tools">
<a class="language" lang="{words.LANG[other]}" hreflang="{words.LANG[other]}" \
href="../{other}/{place.file}">{in_its_words}</a>
</div>
</header>
<p class="unscripted">{words.UNSCRIPTED}</p>
{main}
<footer class="foot"><p>{words.LICENCE}</p>{repository}</footer>
</body>
</html>
"""


def _lesson(place: Place, outline: Outline) -> str:
    file = f"{outline.stem}.html"
    here = ' aria-current="page"' if file == place.file else ""
    return f'<li><a href="{file}"{here}>{numbered(outline, place.language)}</a></li>'


def numbered(outline: Outline, language: str) -> str:
    """The title of a lesson as HTML, its number set apart."""
    number = f'<span class="number">{outline.number}</span> ' if outline.number else ""
    return number + escape(outline.subject(language))


def entrance() -> str:
    """The page in front of the two languages: it leads to the reader's, to English where scripts do not run."""
    links = " · ".join(
        f'<a lang="{words.LANG[language]}" href="{language}/index.html">{name}</a>'
        for language, name in words.OTHER.values()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Blocklab</title>
<link rel="icon" href="{ICON}">
<script>
let language;
try {{ ({{ language }} = JSON.parse(localStorage.getItem("{STORED}"))); }} catch {{}}
if (language !== "en" && language !== "zh") language = navigator.language.startsWith("zh") ? "zh" : "en";
location.replace(`${{language}}/index.html`);
</script>
<noscript><meta http-equiv="refresh" content="0; url=en/index.html"></noscript>
</head>
<body><main><h1>Blocklab</h1><p>{links}</p></main></body>
</html>
"""
