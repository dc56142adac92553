"""The repository's address. It stands in pyproject.toml alone, and may be missing."""

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
    """Where the repository lives, such as https://github.com/ada/lessons; empty if nobody has said so."""

    url: str = ""

    @classmethod
    def typed(cls, url: str) -> "Address":
        """An address as people copy it, from the browser or from git. Raises PublishError for anything else."""
        clean = url.strip().replace("git@github.com:", _GITHUB).rstrip("/").removesuffix(".git")
        if not _FORM.fullmatch(clean) or (clean.startswith(_GITHUB) and clean.count("/") != 4):
            raise BuildError(f"expected an address like {EXAMPLE}, got {url!r}")
        if "/YOUR_NAME/" in clean:
            raise BuildError(f"put your own name on GitHub into the address, got {url!r}")
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
        """Where Colab opens the repository's files: it opens those on GitHub alone."""
        return (self._on_github and f"https://colab.research.google.com/github/{self._on_github}/blob/main") or None

    def installs(self, version: str) -> list[str]:
        """What pip installs the package from: the wheel of a release on GitHub, then the repository as it stands."""
        wheel = f"{self.url}/releases/download/v{version}/blocklab-{version}-py3-none-any.whl"
        return [*([wheel] if self.colab else []), f"git+{self.url}"]

    @property
    def pages(self) -> str | None:
        """Where GitHub Pages shows the site once its workflow has run; None if the repository lives elsewhere."""
        if not self._on_github:
            return None
        owner, name = self._on_github.split("/")
        host = f"{owner.lower()}.github.io"
        return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"

    def colab_link(self, language: str, stem: str) -> str | None:
        """The link to a lesson in Colab, in Markdown; None where there is no Colab."""
        return self.colab and f"[{WORDS[language]}]({self.colab}/notebooks/{language}/{stem}.ipynb)"


def read_address(project: Project) -> Address:
    """The address in pyproject.toml. Raises PublishError if it is not one."""
    try:
        url = tomllib.loads(project.read(project.pyproject)).get("project", {}).get("urls", {}).get("Repository")
    except tomllib.TOMLDecodeError as error:
        raise BuildError(f"pyproject.toml: {error}") from None
    return Address.typed(url) if url else Address()


def write_address(project: Project, url: str) -> Address:
    """Put the address into pyproject.toml, under [project.urls]. What is stamped from it is not renewed here."""
    address, text = Address.typed(url), project.read(project.pyproject)
    line = f'Repository = "{address.url}"'
    if _LINE.search(text):
        text = _LINE.sub(line, text)
    elif "\n[project.urls]\n" in text:
        text = text.replace("\n[project.urls]\n", f"\n[project.urls]\n{line}\n")
    else:
        text = f"{text.rstrip()}\n\n[project.urls]\n{line}\n"
    project.write(project.pyproject, text)
    return address
