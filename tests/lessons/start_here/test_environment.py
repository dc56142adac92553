import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from blocklab import language, packages
from blocklab.language import Text
from blocklab.lessons.start_here import environment
from blocklab.lessons.start_here.environment import check_environment
from blocklab.packages import Package


@pytest.fixture
def added(monkeypatch):
    """Let the list of packages hold one more."""
    return lambda package: monkeypatch.setattr(packages, "OPTIONAL", (*packages.OPTIONAL, package))


def test_the_last_line_is_the_verdict(capsys):
    check_environment()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == environment.READY.en
    named = [line.split()[0] for line in lines[:-1]]
    assert named[: len(environment.NEEDED) + 1] == ["Python", *environment.NEEDED]
    assert named[len(environment.NEEDED) + 1 :] == [*(package.name for package in packages.OPTIONAL), "GPU"]


def test_what_is_missing_is_named_with_the_command(capsys, added):
    added(Package("no-such-package", "no_such_package"))
    language.choose("zh")
    try:
        check_environment()
    finally:
        language.choose("en")
    assert capsys.readouterr().out.splitlines()[-1] == "还缺少一些软件，请安装：pip install no-such-package"


def test_a_missing_network_that_two_lessons_do_without_is_no_fault(capsys, added):
    stand_in = Text(en="two lessons show something else", zh="有两课显示别的内容")
    added(Package("no-such-network", "no_such_network", alone=True, stand_in=stand_in))
    check_environment()
    *_, row, _gpu, last = capsys.readouterr().out.splitlines()
    said = "missing; two lessons show something else: pip install --no-deps no-such-network"
    assert row == f"{'no-such-network':34}{said}"
    assert last == environment.READY.en


def test_what_the_package_needs_is_what_is_looked_for():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert {Requirement(line).name for line in project["dependencies"]} == set(environment.NEEDED)
