"""The repository's address: it stands once, in pyproject.toml, and everything else is stamped from it."""

import re
import tomllib
from dataclasses import dataclass
from urllib.parse import urlsplit

from blocklab.language import LANGUAGES

from .problem import PublishError
from .project import Project

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
_LINE = re.compile(r'^Repository = "[^"\n]*"$', re.MULTILINE)
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"


@dataclass(frozen=True)
class Address:
    """Where the repository lives, such as https://github.com/OWNER/REPO.

    Raises PublishError unless it is https, a host, an owner and a repository.
    """

    url: str

    def __post_init__(self):
        try:
            parts = urlsplit(self.url)
        except (ValueError, AttributeError):  # such as a bracket that does not close, or a number
            parts = urlsplit("")
        names = rf"/{_NAME}/{_NAME}" if parts.netloc == "github.com" else rf"(/{_NAME}){{2,}}"
        right = parts.scheme == "https" and re.fullmatch(r"[A-Za-z0-9.-]+(:\d+)?", parts.netloc)
        if not right or not re.fullmatch(names, parts.path) or parts.query or parts.fragment:
            raise PublishError(f"the address wants the form https://github.com/OWNER/REPO, got {self.url!r}")

    @property
    def colab(self) -> str | None:
        """Where Colab opens the repository's files; None if it lives where Colab cannot open it."""
        parts = urlsplit(self.url)
        if parts.netloc != "github.com":
            return None
        return f"https://colab.research.google.com/github{parts.path}/blob/main"

    def badge(self, language: str, stem: str) -> str | None:
        """The Colab badge of a lesson in Markdown, None where there is no Colab."""
        if self.colab is None:
            return None
        words = {"en": "Open in Colab", "zh": "在 Colab 中打开"}[language]
        return f"[![{words}]({BADGE})]({self.colab}/notebooks/{language}/{stem}.ipynb)"


def read_address(project: Project) -> Address:
    try:
        table = tomllib.loads(project.read(project.pyproject))
        return Address(table["project"]["urls"]["Repository"])
    except (tomllib.TOMLDecodeError, LookupError, TypeError, AttributeError) as error:
        raise PublishError(
            f'pyproject.toml wants a line Repository = "https://…" under [project.urls] ({error})'
        ) from error


def write_address(project: Project, url: str) -> Address:
    """Put the address into pyproject.toml and wherever a page repeats the old one (clone commands, citation)."""
    old, new = read_address(project), Address(url.removesuffix("/").removesuffix(".git"))
    text, changes = _LINE.subn(f'Repository = "{new.url}"', project.read(project.pyproject))
    if changes != 1:
        raise PublishError(f"pyproject.toml wants exactly one line 'Repository = \"…\"', got {changes}")
    project.write(project.pyproject, text)
    repeated = re.compile(re.escape(old.url) + r"(?![A-Za-z0-9_-])")
    readmes = [project.readme(language) for language in LANGUAGES]
    for page in [*readmes, project.root / "CONTRIBUTING.md", project.root / "CITATION.cff"]:
        if page.is_file():
            project.write(page, repeated.sub(new.url, project.read(page)))
    return new
