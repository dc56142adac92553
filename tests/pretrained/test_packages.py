"""Everything that installs, finds or names optional packages reads one list."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from authoring.address import Address
from authoring.install_cell import install_code
from blocklab_course import dependencies
from blocklab_course.dependencies import Package, package_folder, skip_if_missing
from blocklab_course.pretrained.free_memory import TooLittleMemory

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
NEW = (
    Package("new-weights", "new_weights"),
    Package("more-weights", "more", no_deps=True),
    Package("new-tool", "tool", on_colab=True),
)


@pytest.fixture
def _added(monkeypatch):
    monkeypatch.setattr(dependencies, "OPTIONAL", (*dependencies.OPTIONAL, *NEW))


def test_extras_match_optional_packages():
    lessons, real = ({Requirement(line).name for line in EXTRAS[extra]} for extra in ("lessons", "real"))
    together = [package for package in dependencies.OPTIONAL if not package.no_deps]
    assert lessons - {"jupyterlab", "jupyterlab-language-pack-zh-CN"} == {package.name for package in together}
    assert real == {package.name for package in together}


def test_optional_packages_are_pinned():
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert {package.name for package in dependencies.OPTIONAL} <= pinned


# A package added to the list

with_new = pytest.mark.usefixtures("_added")


@with_new
def test_colab_installs_added_package():
    source = install_code(Address("https://github.com/carol/demo"), "en", [package.name for package in NEW])
    assert '"psygnal": "psygnal", "new-weights": "new_weights", "more-weights": "more"}.items()' in source


@with_new
@pytest.mark.parametrize(
    ("module", "command"),
    [("new_weights", "new-weights"), ("more", "--no-deps more-weights"), ("tool", "new-tool")],
)
def test_loader_and_cell_name_install_command(module, command, capsys):
    with pytest.raises(ModuleNotFoundError, match=f"the package {command.split()[-1]}, .*: pip install {command}$"):
        package_folder("load", module)
    with skip_if_missing():
        raise ModuleNotFoundError(module, name=module)
    assert capsys.readouterr().out.endswith(f" Run: pip install {command}\n")


def test_too_little_memory_skips_cell(capsys):
    with skip_if_missing():
        raise TooLittleMemory("not enough memory")
    assert capsys.readouterr().out == "not enough memory\n"


def test_memory_error_without_message_is_raised():
    with pytest.raises(MemoryError), skip_if_missing():
        raise MemoryError
