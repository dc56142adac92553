import pytest

from blocklab_course import dependencies
from blocklab_course.dependencies import Package
from blocklab_course.i18n import Text, use_language
from blocklab_course.lessons.start_here import environment
from blocklab_course.lessons.start_here.environment import check_environment


@pytest.fixture
def added(monkeypatch):
    """Let the list of packages hold one more."""
    return lambda package: monkeypatch.setattr(dependencies, "OPTIONAL", (*dependencies.OPTIONAL, package))


def test_where_all_is_there_one_line_says_so():
    assert str(check_environment()) == environment.READY.en


def test_versions_are_folded():
    found = check_environment()
    named = [name for name, _ in found.versions]
    assert named == ["Python", *(package.name for package in (*dependencies.REQUIRED, *dependencies.OPTIONAL)), "GPU"]
    shown, folded = found.html().split("<details>")
    assert environment.READY.en in shown
    assert all(name in folded and name not in shown for name in named[1:])


def test_what_is_missing_is_named_with_the_command(added):
    added(Package("no-such-package", "no_such_package"))
    with use_language("zh"):
        assert str(check_environment()) == "还缺少一些软件，请安装：pip install no-such-package"


def test_a_missing_network_that_lessons_do_without_is_no_fault(added):
    fallback = Text(en="two lessons show something else", zh="有两课显示别的内容")
    added(Package("no-such-network", "no_such_network", no_deps=True, fallback=fallback))
    first, second = str(check_environment()).splitlines()
    assert first == environment.READY.en
    said = "Without no-such-network, two lessons show something else: pip install --no-deps no-such-network"
    assert second == said
