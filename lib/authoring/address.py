"""The repository's URL, which `pyproject.toml` holds, and the links that depend on it."""

import re
import tomllib
from dataclasses import dataclass

from .problem import BuildError
from .project import Project

EXAMPLE = "https://github.com/YOUR_NAME/YOUR_FORK"
WORDS = {"en": "Open in Colab", "zh": "在 Colab 中打开"}
_FORM = re.compile(r"https://(?:[a-z0-9-]+\.)+[a-z]+(?::\d+)?(?:/[A-Za-z0-9_~][\w.~-]*){2,}", re.ASCII)
_GITHUB = "https://github.com/"
_LINE = re.compile(r'^Repository = ".*"$', re.MULTILINE)


@dataclass(frozen=True)
class Address:
    """The URL of the repository, for example https://github.com/ada/lessons; empty if it is not set."""

    url: str = ""

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Accept a URL as copied from a browser or from git. Raises BuildError for anything else."""
        clean = url.strip().replace("git@github.com:", _GITHUB).rstrip("/").removesuffix(".git")
        if not _FORM.fullmatch(clean) or (clean.startswith(_GITHUB) and clean.count("/") != 4):
            raise BuildError(f"expected a URL like {EXAMPLE}, got {url!r}")
        if "/YOUR_NAME/" in clean:
            raise BuildError(f"expected your GitHub name in place of YOUR_NAME, got {url!r}")
        return cls(clean)

    @property
    def known(self) -> bool:
        return bool(self.url)

    @property
    def _on_github(self) -> str:
        """OWNER/NAME on GitHub; empty elsewhere."""
        return self.url.removeprefix(_GITHUB) if self.url.startswith(_GITHUB) else ""

    @property
    def colab(self) -> str | None:
        """The start of Colab's links; None unless the repository is on GitHub."""
        return (self._on_github and f"https://colab.research.google.com/github/{self._on_github}/blob/main") or None

    def pip_sources(self, version: str) -> list[str]:
        """Where pip finds the package: the wheel of the GitHub release, then the main branch."""
        wheel = f"{self.url}/releases/download/v{version}/blocklab-{version}-py3-none-any.whl"
        return [*([wheel] if self.colab else []), f"git+{self.url}"]

    @property
    def pages(self) -> str | None:
        """The site on GitHub Pages; None unless the repository is on GitHub."""
        if not self._on_github:
            return None
        owner, name = self._on_github.split("/")
        host = f"{owner.lower()}.github.io"
        return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"

    def colab_link(self, language: str, stem: str) -> str | None:
        """A Markdown link to a lesson in Colab, if Colab can open it."""
        return self.colab and f"[{WORDS[language]}]({self.colab}/notebooks/{language}/{stem}.ipynb)"


def read_address(project: Project) -> Address:
    """Read the URL from pyproject.toml. Raises BuildError if it is not a repository's."""
    try:
        url = tomllib.loads(project.read(project.pyproject)).get("project", {}).get("urls", {}).get("Repository")
    except tomllib.TOMLDecodeError as error:
        raise BuildError(f"pyproject.toml: {error}") from None
    return Address.parse(url) if url else Address()


def write_address(project: Project, url: str) -> Address:
    """Write the URL to pyproject.toml, under [project.urls]. Notebooks and READMEs need `update_shared_cells`."""
    address, text = Address.parse(url), project.read(project.pyproject)
    line = f'Repository = "{address.url}"'
    if _LINE.search(text):
        text = _LINE.sub(line, text)
    elif "\n[project.urls]\n" in text:
        text = text.replace("\n[project.urls]\n", f"\n[project.urls]\n{line}\n")
    else:
        text = f"{text.rstrip()}\n\n[project.urls]\n{line}\n"
    project.write(project.pyproject, text)
    return address
