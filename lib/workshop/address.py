"""The repository's address: it stands once, in pyproject.toml, and everything else is stamped from it."""

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property

from blocklab.language import LANGUAGES

from .problem import PublishError
from .project import Project

EXAMPLE = "https://github.com/YOUR_NAME/YOUR_FORK"  # refused as it stands, so that nobody installs a stranger's code
WORDS = {"en": "Open in Colab", "zh": "在 Colab 中打开"}
_EXAMPLES = {"YOUR_NAME", "OWNER"}
_LINE = re.compile(r'^Repository = "[^"\n]*"$', re.MULTILINE)
_FORM = re.compile(
    r"https://(?P<host>[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d+)?)(?P<path>(?:/[A-Za-z0-9_~][A-Za-z0-9._-]*){2,})"
)
_ON_GITHUB = re.compile(r"/(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]*)/[A-Za-z0-9_][A-Za-z0-9._-]*")
_OVER_SSH = re.compile(r"(?:ssh://)?git@(?P<host>[^/:]+)(?::\d+(?=/))?[:/](?P<path>.*)", re.DOTALL)
_NO_REPOSITORY = re.compile(r".+\.github\.com|(.+\.)?(github\.io|githubusercontent\.com)")


@dataclass(frozen=True)
class Address:
    """Where the repository lives, such as https://github.com/ada/lessons, or nowhere yet: a host that ends in .invalid.

    Nobody can own such a host (RFC 6761), so nothing can be installed from it by mistake.
    Raises PublishError unless it is https, a host, an owner and a repository.
    """

    url: str

    def __post_init__(self):
        form = _FORM.fullmatch(self.url)
        on_github = form and form["host"] == "github.com" and _ON_GITHUB.fullmatch(form["path"])
        if not form or _NO_REPOSITORY.fullmatch(form["host"]) or (form["host"] == "github.com" and not on_github):
            raise PublishError(f"the address wants the form {EXAMPLE}, got {self.url!r}")
        if on_github and on_github["owner"] in _EXAMPLES:
            raise PublishError(f"the address wants your own name on GitHub, not the example's: {self.url!r}")

    @classmethod
    def typed(cls, url: str) -> "Address":
        """The address as people copy it: from git (git@github.com:ada/lessons.git) or with www, capitals, a slash."""
        url = url.strip()
        if ssh := _OVER_SSH.fullmatch(url):
            url = f"https://{ssh['host'].removeprefix('ssh.')}/{ssh['path'].lstrip('/')}"
        scheme, slashes, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        host = host.lower().removesuffix(":443").removesuffix(".")
        host = "github.com" if host == "www.github.com" else host
        return cls(f"{scheme.lower()}{slashes}{host}{slash}{path.rstrip('/').removesuffix('.git')}")

    @cached_property
    def _parts(self) -> re.Match:
        return _FORM.fullmatch(self.url)

    @property
    def known(self) -> bool:
        """False as long as nobody has said where the repository lives."""
        return not self._parts["host"].endswith(".invalid")

    @property
    def colab(self) -> str | None:
        """Where Colab opens the repository's files; None if it lives where Colab cannot open it."""
        if self._parts["host"] != "github.com":
            return None
        return f"https://colab.research.google.com/github{self._parts['path']}/blob/main"

    def installs(self, version: str) -> list[str]:
        """From what pip installs the package: the wheel of a release on GitHub, then the repository as it stands."""
        wheel = f"{self.url}/releases/download/v{version}/blocklab-{version}-py3-none-any.whl"
        return [*([wheel] if self.colab else []), f"git+{self.url}"]

    @property
    def pages(self) -> str | None:
        """Where GitHub Pages shows the site once its workflow has run; None if the repository lives elsewhere."""
        if self._parts["host"] != "github.com":
            return None
        owner, name = self._parts["path"].strip("/").split("/")
        host = f"{owner.lower()}.github.io"
        return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"

    def colab_link(self, language: str, stem: str) -> str | None:
        """The link to a lesson in Colab, in Markdown and without a picture to fetch; None where there is no Colab."""
        return self.colab and f"[{WORDS[language]}]({self.colab}/notebooks/{language}/{stem}.ipynb)"


def read_address(project: Project) -> Address:
    return Address(_written(project))


def _written(project: Project) -> str:
    """What stands in pyproject.toml, right or wrong."""
    try:
        return str(tomllib.loads(project.read(project.pyproject))["project"]["urls"]["Repository"])
    except (tomllib.TOMLDecodeError, LookupError, TypeError) as error:
        raise PublishError(
            f'pyproject.toml wants a line Repository = "https://…" under [project.urls] ({error})'
        ) from error


def write_address(project: Project, url: str) -> Address:
    """Put the address into pyproject.toml and wherever a page repeats the old one (clone commands, citation).

    The notebooks are not among them. A project is left in between if it is no `Draft`.
    """
    old, new = _written(project), Address.typed(url)
    text, changes = _LINE.subn(f'Repository = "{new.url}"', project.read(project.pyproject))
    if changes != 1:
        raise PublishError(f"pyproject.toml wants exactly one line 'Repository = \"…\"', got {changes}")
    project.write(project.pyproject, text)
    repeated = re.compile(re.escape(old) + r"(?![A-Za-z0-9_-])")
    readmes = [project.readme(language) for language in LANGUAGES]
    others = ("CONTRIBUTING.md", "TEACHERS.md", "TEACHERS.zh-CN.md", "CITATION.cff")
    for page in [*readmes, *(project.root / name for name in others)]:
        if page.is_file():
            project.write(page, repeated.sub(new.url, project.read(page)))
    return new
