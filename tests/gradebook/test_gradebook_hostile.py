"""Whatever lies in the students' folder, it costs one line about one file, and the others are reported."""

import contextlib
import csv
import errno
import io
import json
import os
import socket
from html import escape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocklab_course.checks.verdict import MIME
from blocklab_course.gradebook import collect as collecting
from blocklab_course.gradebook import grades
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.collect import collect
from saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

GOOD = verdict("layer_norm", "unbiased-variance")
NESTED = b"[" * 100_000


def bytes_of(content: object, encoding: str = "utf-8", **options) -> bytes:
    return json.dumps(content, **options).encode(encoding)


def with_good(*cells: object) -> dict:
    """A notebook with something odd in it and a good verdict."""
    return {"cells": [*cells, json.loads(json.dumps(cell(verdict("swish", passed=True))))]}


def said(*data: object, **more: object) -> dict:
    return {"cell_type": "code", "outputs": [{"data": {MIME: one}} for one in data]} | more


NOT_READ = {  # content, and part of the message
    "empty": (b"", "empty"),
    "a list": (b"[]", "not a notebook"),
    "a number": (b"5", "not a notebook"),
    "null": (b"null", "not a notebook"),
    "no cells": (b"{}", "not a notebook"),
    "cells a dict": (b'{"cells": {"a": 1}}', "not a notebook"),
    "an old format": (b'{"worksheets": [{"cells": []}]}', "not a notebook"),
    "not JSON": (b"{not json", "JSONDecodeError: Expecting property name"),
    "truncated": (bytes_of(notebook(GOOD))[:-20], "JSONDecodeError"),
    "a conflict": (b"{\n<<<<<<< HEAD\n", "line 2"),
    "binary": (b"\x89PNG\r\n" + bytes(range(256)) * 40, "UnicodeDecodeError"),
    "zeros": (bytes(10_000), "JSONDecodeError"),
    "GBK": (bytes_of({"cells": ["练习"]}, "gbk", ensure_ascii=False), "UnicodeDecodeError"),
    "nested": (NESTED, "RecursionError"),
    "nested dicts": (b'{"a":' * 100_000, "RecursionError"),
    "nested in a cell": (b'{"cells": [' + NESTED + b"]" * 100_000 + b"]}", "RecursionError"),
    "a long number": (b'{"cells": [' + b"9" * 5000 + b"]}", "ValueError"),
    "large": (b" " * 50_000_001, "larger than 50 MB"),
    "many values": (b'{"cells":[' + b"[]," * 250_000 + b"0]}", "more than 500,000 values"),
}
UNREADABLE = "cell 1: unreadable outputs or verdicts"
ODD = {  # a notebook with a good verdict, which counts, and part of the message
    "cells no dicts": (with_good(5, None, [], "x"), UNREADABLE),
    **{f"outputs {odd!r}": (with_good({"outputs": odd}), UNREADABLE) for odd in (None, {"data": 1}, 5, [[], 5])},
    **{f"data {odd!r}": (with_good({"outputs": [{"data": odd}]}), UNREADABLE) for odd in (None, [MIME], 5)},
    **{f"a verdict {odd!r:.9}": (with_good(said(odd)), UNREADABLE) for odd in (None, [GOOD], "✓", {}, True)},
    **{
        f"{field} {odd!r:.20}": (with_good(said(verdict("gelu", "a") | {field: odd})), UNREADABLE)
        for field, values in {
            "exercise": (5, None, {}, [], True),
            "passed": ("no", "true", 1, 0, None, [], {}, 1.0, [True]),
            "mistake": (
                5,
                [],
                {},
                "",
                "✓",
                "…",
                "?",
                "(✓)",
                "x" * 5000,
                "a++b",
                "+a",
                "a+" * 20_000,
                "a\n",
                "a=b",
                "<i>",
            ),
        }.items()
        for odd in values
    },
    **{
        f"exercise {odd!r:.20}": (with_good(said(GOOD | {"exercise": odd})), "unknown exercise")
        for odd in ("", "x" * 5000, "=1+1", "a\rb", "\ud800", "<script>", "../x", "\x1b[1m", "of_tomorrow")
    },
    "a flood of exercises": (with_good(*(said(GOOD | {"exercise": f"x{i}"}) for i in range(5000))), "unknown exercise"),
    "a flood of problems": (with_good(*(said({}) for _ in range(5000))), UNREADABLE),
    "a flood of verdicts": (with_good(said(*[GOOD] * 5000)), "cell 1: only its first 100 verdicts count"),
}
DEEP = ("check('encoder_layer', x)\nx = a" + part * 2500 for part in ("+a", ".a", "()", "[0]", " if a else a"))
FINE = {  # odd, but a notebook
    "UTF-8 with a mark": bytes_of(with_good(), "utf-8-sig"),
    "UTF-16": bytes_of(with_good(), "utf-16"),
    "UTF-32": bytes_of(with_good(), "utf-32"),
    "lone surrogates": b'{"metadata": "\\ud800", "cells": ' + bytes_of(with_good()["cells"]) + b"}",
    "metadata of any kind": bytes_of(with_good({"metadata": 5}, {"metadata": {"tags": 5, "cellView": {}}})),
    "tags of any kind": bytes_of(with_good({"metadata": {"tags": [None, 5, {}, [[]]]}, "source": [5, None, "\ud800"]})),
    "a cell of another kind": bytes_of(with_good({"cell_type": [], "outputs": 5}, {"cell_type": "raw"})),
    "values that are not finite": b'{"x": [NaN, Infinity, 1e999], "cells": ' + bytes_of(with_good()["cells"]) + b"}",
    "a source that takes long to search": bytes_of(
        with_good(
            *(
                said(GOOD, source=part * (300_000 // len(part)))
                for part in (
                    "check( ",
                    " ",
                    "a,",
                    "check('a",
                    "check('a' ",
                    "'''",
                    "\"\"\"'''",
                    "#",
                    "catch(inputs=",
                    "\n",
                )
            )
        )
    ),
    **{
        f"a deep source {n}": bytes_of(with_good(said(verdict("encoder_layer", "a"), source=source)))
        for n, source in enumerate(DEEP)
    },
}


def a_socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.name)  # the whole path would be too long for a socket


def link_to(target: str):
    return lambda path: path.symlink_to(target)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300_000_000)


NO_FILES = {  # what 05.ipynb is, and part of the message
    "a pipe": (os.mkfifo, "not a regular file"),
    "a socket": (a_socket, "not a regular file"),
    "a folder": (Path.mkdir, "a folder"),
    "a sparse file": (sparse, "larger than 50 MB"),
    "a link to itself": (link_to("05.ipynb"), "a link"),
    "a link to nothing": (link_to("nowhere"), "a link"),
    "a link to zeros": (link_to("/dev/zero"), "a link"),
    "a link to a folder": (link_to("../.."), "a link"),
    "a link to the root": (link_to("/"), "a link"),
    "a link to a notebook": (link_to("../good/05.ipynb"), "a link"),
}
CASES = {  # content or what makes it, part of the message, and the student's grade
    **{name: (content, why, None) for name, (content, why) in NOT_READ.items()},
    **{name: (bytes_of(content), why, "✓") for name, (content, why) in ODD.items()},
    **{name: (content, None, "✓") for name, content in FINE.items()},
    **{name: (make, why, None) for name, (make, why) in NO_FILES.items()},
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> tuple[int, str, str, dict[str, dict[str, str]]]:
    """One report on all of them, each in a student's folder of its own: the status, the lines, the page, the table."""
    top = tmp_path_factory.mktemp("hostile")
    hand_in(top / "class", **{"good/05.ipynb": notebook(GOOD)})
    for number, (content, *_) in enumerate(CASES.values()):
        path = top / "class" / str(number) / "05.ipynb"
        path.parent.mkdir()
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
    with contextlib.redirect_stderr(io.StringIO()) as lines, contextlib.redirect_stdout(io.StringIO()):
        code = main([str(top / "class"), "--out", str(top / "report")])
    with (top / "report.csv").open(encoding="utf-8-sig", newline="") as file:
        table = {row["student"]: row for row in csv.DictReader(file)}
    return code, lines.getvalue(), (top / "report.html").read_text("utf-8"), table


@pytest.mark.parametrize("name", CASES, ids=lambda name: name.encode("unicode_escape").decode())
def test_hostile_files_are_named_and_others_reported(reported, name):
    _, lines, html, table = reported
    number, (_, why, grade) = list(CASES).index(name), CASES[name]
    about = [line for line in lines.splitlines() if line.startswith(f"{number}/05.ipynb: ")]
    assert len(about) == bool(why)
    assert not why or why in about[0]
    assert not why or escape(about[0]) in html
    assert table.get(str(number), {}).get("swish") == grade


def test_the_report_on_hostile_files_is_whole_and_harmless(reported):
    code, lines, html, table = reported
    assert code == 1
    assert table["good"]["layer_norm"] == "unbiased-variance"
    assert lines.replace("\n", "").isprintable()
    assert max(map(len, lines.splitlines())) <= 301
    assert "<script" not in html
    assert "<i>" not in html


def test_cells_are_searched_once_however_many_verdicts_they_hold(tmp_path, monkeypatch):
    searched = []
    really = grades.submitted_solutions
    monkeypatch.setattr(grades, "submitted_solutions", lambda source: searched.append(source) or really(source))
    sources = ["check('relu', mine)\n" + "a=" * 45_000 + "1", "check('gelu', mine)"]
    cells = [said(*[verdict("relu", "leaky")] * 400, source=source) for source in sources]
    hand_in(tmp_path, **{"eve.ipynb": {"cells": cells}})
    assert collect(tmp_path).cells == {"eve": {"relu": "leaky"}}
    assert searched == sources


def test_an_unforeseen_error_in_one_notebook_does_not_end_the_report(tmp_path, monkeypatch):
    hand_in(tmp_path, **{"eve.ipynb": notebook(GOOD), "bo.ipynb": notebook(GOOD)})
    really = collecting.code_cells
    broken = iter([RuntimeError("odd"), None])

    def failing(notebook):
        if error := next(broken):
            raise error
        return really(notebook)

    monkeypatch.setattr(collecting, "code_cells", failing)
    report = collect(tmp_path)
    assert report.cells == {"eve": {"layer_norm": "unbiased-variance"}}
    assert report.problems == {"bo.ipynb": "cannot be read: RuntimeError: odd"}


def test_folders_nested_too_deeply_are_named(tmp_path):
    hand_in(tmp_path, **{"eve.ipynb": notebook(GOOD)})
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):  # beyond the limits of path length and recursion
        os.mkdir("d" * 3, dir_fd=here)
        below = os.open("d" * 3, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    report = collect(tmp_path)
    os.system(f"rm -rf '{tmp_path}/ddd'")  # pytest cannot remove folders this deep
    assert report.cells.keys() == {"eve"}
    assert ["too long" in why for why in report.problems.values()] == [True]


# Any JSON, any name

ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=None), max_size=8)
WORDS = st.sampled_from(
    ["cells", "outputs", "data", MIME, "exercise", "passed", "mistake", "metadata", "tags", "source"]
)
JSON = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4)
)
CELL = JSON | st.fixed_dictionaries(
    {}, optional={"cell_type": JSON, "source": JSON, "metadata": JSON, "outputs": JSON | st.lists(JSON, max_size=2)}
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=JSON, cells=st.lists(CELL, max_size=3), field=st.dictionaries(WORDS, JSON, max_size=3))
def test_any_json_is_read_or_named(tmp_path, content, cells, field):
    hand_in(
        tmp_path,
        **{
            "any.ipynb": content,
            "cells.ipynb": with_good(*cells),
            "fields.ipynb": with_good(said(GOOD | field)),
            "good.ipynb": notebook(GOOD),
        },
    )
    report = collect(tmp_path)
    assert report.cells["good"] == {"layer_norm": "unbiased-variance"}
    assert report.cells["cells"]["swish"] == report.cells["fields"]["swish"] == "✓"
    assert "any" in report.cells or report.problems["any.ipynb"]
    assert all(isinstance(mark, str) for row in report.cells.values() for mark in row.values())


NAMES = [
    "王小明".encode("gbk"),
    b"\xff\xfe\x80",
    b"a\nb\r\nc",
    b"\x1b[31mred",
    b"<script>alert(1)<",
    b"=1+1",
    b"a\"b'c",
    b"",
]
NAMES += ["a\u202ecod.exe".encode(), "a\u2028b\x85c".encode(), b"x" * 240, b"   ", b"--run", b"{0}{folder}%s", b"."]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(NAMES) | st.binary(min_size=1, max_size=40).filter(lambda name: not {0, 47} & set(name)),
    broken=st.booleans(),
)
def test_any_file_name_is_written_safely(tmp_path_factory, name, broken):
    folder = hand_in(tmp_path_factory.mktemp("names") / "class", **{"good.ipynb": notebook(GOOD)})
    content = b"{" if broken else bytes_of(notebook(GOOD))
    Path(os.fsdecode(bytes(folder) + b"/" + name + b".ipynb")).write_bytes(content)
    with contextlib.redirect_stderr(io.StringIO()) as lines, contextlib.redirect_stdout(io.StringIO()):
        code = main([str(folder), "--out", str(folder.with_name("marks"))])
    shadow = name.startswith(b"._")  # of macOS, left out
    assert code == (broken and not shadow)
    assert lines.getvalue().count("\n") == code
    assert lines.getvalue().replace("\n", "").isprintable()
    rows = list(csv.reader(io.StringIO(folder.with_name("marks.csv").read_bytes().decode("utf-8-sig"), newline="")))
    assert len(rows) == 2 + (not broken and not shadow)
    assert "<script" not in folder.with_name("marks.html").read_text("utf-8")


# Permissions are simulated, because the tests may run as root


@pytest.mark.parametrize(("number", "why"), [(errno.EACCES, "no permission"), (errno.ESTALE, "Stale")])
def test_unreadable_files_are_named(tmp_path, monkeypatch, number, why):
    hand_in(tmp_path, **{"bad.ipynb": notebook(GOOD), "good.ipynb": notebook(GOOD)})
    really = os.open

    def refusing(path, *arguments, **options):
        if Path(path).name == "bad.ipynb":
            raise OSError(number, os.strerror(number), str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    report = collect(tmp_path)
    assert report.cells.keys() == {"good"}
    assert why in report.problems["bad.ipynb"]


def test_unreadable_folders_are_named(tmp_path, monkeypatch):
    hand_in(tmp_path, **{"eve/05.ipynb": notebook(GOOD), "good.ipynb": notebook(GOOD)})
    really = os.scandir

    def refusing(path):
        if Path(path).name == "eve":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(os, "scandir", refusing)
    report = collect(tmp_path)
    assert report.cells.keys() == {"good"}
    assert "no permission" in report.problems["eve"]
