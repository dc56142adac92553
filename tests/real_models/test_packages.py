"""One list of the packages that lessons can do without: all that installs, looks for or names them reads it."""

import subprocess
import sys
import tomllib
from importlib import util
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from blocklab import packages
from blocklab.packages import Package, if_installed, want_package
from blocklab.real_models.free_memory import TooLittleMemory
from workshop.address import Address
from workshop.stamp import setup

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS, DEPENDENCIES = PROJECT["optional-dependencies"], PROJECT["dependencies"]
NEW = (
    Package("new-weights", "new_weights"),
    Package("more-weights", "more", alone=True),
    Package("new-tool", "tool", on_colab=True),
)


@pytest.fixture
def _added(monkeypatch):
    monkeypatch.setattr(packages, "OPTIONAL", (*packages.OPTIONAL, *NEW))


def set_up():
    """lib/set_up.py, read anew."""
    spec = util.spec_from_file_location("set_up_anew", ROOT / "lib" / "set_up.py")
    sys.modules[spec.name] = module = util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


def test_the_extras_hold_the_packages_of_the_list():
    lessons, real = ({Requirement(line).name for line in EXTRAS[extra]} for extra in ("lessons", "real"))
    together = [package for package in packages.OPTIONAL if not package.alone]
    assert lessons - {"jupyterlab", "jupyterlab-language-pack-zh-CN"} == {package.name for package in together}
    assert real == {package.name for package in together}


def test_every_package_has_its_version():
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert {package.name for package in packages.OPTIONAL} <= pinned


def test_the_list_can_be_read_before_anything_is_installed():
    program = "import sys; sys.path.insert(0, 'lib'); from blocklab.packages import OPTIONAL; print(len(OPTIONAL))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == (f"{len(packages.OPTIONAL)}\n", "")


# The two ends of what may be installed


def test_the_oldest_versions_are_the_lower_ends_of_what_users_install(monkeypatch):
    monkeypatch.chdir(ROOT)
    first, _alone = set_up().wish_of("oldest").installs
    pinned = {word.replace("==", ">=") for word in first if "==" in word.partition(";")[0]}
    assert pinned == {line.partition(",")[0] for line in DEPENDENCIES}


def test_the_newest_versions_are_bound_by_nothing_but_the_ranges(monkeypatch):
    monkeypatch.chdir(ROOT)
    words = [word for call in set_up().wish_of("newest").installs for word in call]
    assert not [word for word in words if word.endswith(".txt") or "==" in word.partition(";")[0]]
    assert set(DEPENDENCIES) <= set(words)


# A package that is added (the lines about what is there: test_environment.py)

with_new = pytest.mark.usefixtures("_added")


@with_new
def test_colab_installs_it():
    source = setup(Address("https://github.com/carol/demo"), "en", [package.name for package in NEW])
    assert '"psygnal": "psygnal", "new-weights": "new_weights", "more-weights": "more"}.items()' in source


@with_new
@pytest.mark.parametrize("stage", ["lessons", "dev", "colab", "newest", "oldest"])
def test_make_installs_it_without_what_it_asks_for(stage, monkeypatch):
    monkeypatch.chdir(ROOT)
    alone = set_up().wish_of(stage).installs[-1]
    assert alone[0] == "--no-deps"
    assert "more-weights" in alone


@with_new
@pytest.mark.parametrize(
    ("module", "command"),
    [("new_weights", "new-weights"), ("more", "--no-deps more-weights"), ("tool", "new-tool")],
)
def test_its_loader_and_its_cell_say_how_to_install_it(module, command, capsys):
    with pytest.raises(ModuleNotFoundError, match=f"the package {command.split()[-1]}, .*: pip install {command}$"):
        want_package("load", module)
    with if_installed():
        raise ModuleNotFoundError(module, name=module)
    assert capsys.readouterr().out.endswith(f" Run: pip install {command}\n")


def test_too_little_memory_is_told_in_a_line_and_the_lesson_goes_on(capsys):
    with if_installed():
        raise TooLittleMemory("SmolLM2 wants 2 GB of free memory; 0.5 GB are there.")
    assert capsys.readouterr().out == "SmolLM2 wants 2 GB of free memory; 0.5 GB are there.\n"


def test_memory_that_ran_out_in_the_middle_is_an_error_as_ever():
    with pytest.raises(MemoryError), if_installed():
        raise MemoryError
