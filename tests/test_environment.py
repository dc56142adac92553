from blocklab import environment, language
from blocklab.environment import check_environment


def test_the_last_line_is_the_verdict(capsys):
    check_environment()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == environment.READY.en
    assert [line.split()[0] for line in lines[:-1]] == ["Python", *environment.NEEDED, *environment.EXTRA, "GPU"]


def test_what_is_missing_is_named_with_the_command(capsys, monkeypatch):
    monkeypatch.setattr(environment, "EXTRA", ("no-such-package",))
    language.choose("zh")
    try:
        check_environment()
    finally:
        language.choose("en")
    assert capsys.readouterr().out.splitlines()[-1] == "还缺少一些软件，请安装：pip install no-such-package"
