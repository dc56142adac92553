"""Hostile files in the students' folder are named, and the notebooks beside them reported."""

import contextlib
import csv
import errno
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from html import escape as html_escape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocklab_course.checks.verdict import MIME
from blocklab_course.gradebook.__main__ import main
from blocklab_course.gradebook.collect import collect
from saved_notebooks import cell, hand_in, notebook, verdict

pytestmark = pytest.mark.usefixtures("english_again")

GOOD = verdict("layer_norm", "unbiased-variance")
LIMIT = 120  # seconds for all hostile folders, which take five


def bytes_of(content: object, encoding: str = "utf-8", **options) -> bytes:
    return json.dumps(content, **options).encode(encoding)


def with_good(*cells: object) -> dict:
    """A notebook with something odd in it and a good verdict."""
    return {"cells": [*cells, json.loads(json.dumps(cell(verdict("swish", passed=True))))]}


def said(data: object, **more: object) -> dict:
    return {"cell_type": "code", "outputs": [{"data": {MIME: data}}]} | more


NESTED = b"[" * 100_000
NOT_READ = {  # content, and part of the message
    "empty": (b"", "empty"),
    "a list": (b"[]", "not a notebook"),
    "a number": (b"5", "not a notebook"),
    "null": (b"null", "not a notebook"),
    "a string": (b'"cells"', "not a notebook"),
    "no cells": (b"{}", "not a notebook"),
    "cells null": (b'{"cells": null}', "not a notebook"),
    "cells a dict": (b'{"cells": {"a": 1}}', "not a notebook"),
    "an old format": (b'{"worksheets": [{"cells": []}]}', "not a notebook"),
    "not JSON": (b"{not json", "line 1, column 2"),
    "truncated": (bytes_of(notebook(GOOD))[:-20], "not JSON"),
    "a conflict": (b"{\n<<<<<<< HEAD\n", "line 2"),
    "binary": (b"\x89PNG\r\n" + bytes(range(256)) * 40, "neither UTF-8"),
    "zeros": (bytes(10_000), "not JSON"),
    "GBK": (bytes_of({"cells": ["练习"]}, "gbk", ensure_ascii=False), "neither UTF-8"),
    "Latin-1": (bytes_of({"cells": ["é"]}, "latin-1", ensure_ascii=False), "neither UTF-8"),
    "half a UTF-16": ("[é".encode("utf-16")[:-1], "neither UTF-8"),
    "nested": (NESTED, "nested"),
    "nested dicts": (b'{"a":' * 100_000, "nested"),
    "nested in a cell": (b'{"cells": [' + NESTED + b"]" * 100_000 + b"]}", "nested"),
    "a long number": (b'{"cells": [' + b"9" * 5000 + b"]}", "a number"),
    "large": (b" " * 50_000_001, "larger than 50 MB"),
    "many values": (b'{"cells":[' + b"[]," * 250_000 + b"0]}", "more than 500,000 values"),
}
ODD = {  # a notebook with a good verdict, which counts, and part of the message
    "cells no dicts": (with_good(5, None, [], "x"), "unreadable cells: 4"),
    "outputs null": (with_good({"outputs": None}), "unreadable outputs"),
    "outputs a dict": (with_good({"outputs": {"data": 1}}), "unreadable outputs"),
    "outputs a number": (with_good({"outputs": 5}), "unreadable outputs"),
    "outputs of lists": (with_good({"outputs": [[], 5]}), "unreadable outputs"),
    "data a list": (with_good({"outputs": [{"data": [MIME]}]}), "unreadable outputs"),
    "data null": (with_good({"outputs": [{"data": None}]}), "unreadable outputs"),
    "a verdict null": (with_good(said(None)), "expected a verdict, got None"),
    "a verdict a list": (with_good(said([GOOD])), "expected a verdict, got ["),
    "a verdict a string": (with_good(said("✓")), "expected a verdict, got '✓'"),
    "an empty verdict": (with_good(said({})), "invalid exercise in a verdict: None"),
    **{
        f"exercise {name!r:.20}": (with_good(said(GOOD | {"exercise": name})), "invalid exercise")
        for name in (
            5,
            None,
            {},
            [],
            True,
            0.5,
            "",
            " ",
            "x" * 5000,
            "=1+1",
            "a\rb",
            "\ud800",
            "<b>",
            "../x",
            "\x1b[1m",
        )
    },
    **{
        f"passed {value!r:.20}": (with_good(said(verdict("swish") | {"passed": value})), "invalid passed")
        for value in ("no", "false", "true", 1, 0, None, [], {}, 1.0, [True])
    },
    **{
        f"mistake {value!r:.20}": (with_good(said(GOOD | {"mistake": value})), "invalid mistake")
        for value in (5, True, [], {}, ["a"], "", "✓", "…", "?", "(✓)", "x" * 5000, "a++b", "+a", "a\n", "a=b", "<i>")
    },
    "a flood of exercises": (
        with_good(*(said(GOOD | {"exercise": f"x{i}"}) for i in range(5000))),
        "too many unknown exercises",
    ),
    "a flood of problems": (with_good(*(said({}) for _ in range(5000))), "more of this kind: 4997"),
}
FINE = {  # odd, but a notebook
    "UTF-8 with a mark": bytes_of(with_good(), "utf-8-sig"),
    "UTF-16 with a mark": bytes_of(with_good(), "utf-16"),
    "UTF-16 without": bytes_of(with_good(), "utf-16-le"),
    "UTF-32": bytes_of(with_good(), "utf-32"),
    "lone surrogates": b'{"metadata": "\\ud800", "cells": ' + bytes_of(with_good()["cells"]) + b"}",
    "metadata of any kind": bytes_of(
        with_good({"metadata": 5}, {"metadata": {"tags": 5, "jupyter": [], "cellView": {}}})
    ),
    "tags of any kind": bytes_of(with_good({"metadata": {"tags": [None, 5, {}, "solutions"]}, "source": [5, None]})),
    "a cell of another kind": bytes_of(with_good({"cell_type": [], "outputs": 5}, {"cell_type": "raw"})),
    "an exercise that nobody knows": bytes_of(with_good(said(GOOD | {"exercise": "of_tomorrow"}))),
    "a source that takes long to search": bytes_of(
        with_good(*({"source": f"check({blank * 100_000}"} for blank in (" ", "a", "a,", "check(", "check(a,")))
    ),
    "values that are not finite": b'{"x": [NaN, Infinity, 1e999], "cells": ' + bytes_of(with_good()["cells"]) + b"}",
}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.name)  # the whole path would be too long for a socket


def a_folder(path: Path) -> None:
    path.mkdir()


def circle(path: Path) -> None:
    path.symlink_to(path)


def link_to(target: str):
    return lambda path: path.symlink_to(target)


def link_to_a_notebook_outside(path: Path) -> None:
    outside = path.parents[1] / "outside.ipynb"
    outside.write_bytes(bytes_of(with_good()))
    path.symlink_to(outside)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300_000_000)


def deep(folder: Path) -> None:
    """Folders nested beyond the limits of path length and recursion."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d" * 3, dir_fd=here)
        below = os.open("d" * 3, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


NO_FILES = {  # what bad.ipynb is, and part of the message
    "a pipe": (fifo, "not a regular file"),
    "a socket": (a_socket, "not a regular file"),
    "a folder": (a_folder, "a folder"),
    "a sparse file": (sparse, "larger than 50 MB"),
    "a link to itself": (circle, "a link"),
    "a link to nothing": (link_to("nowhere"), "a link"),
    "a link to zeros": (link_to("/dev/zero"), "a link"),
    "a link to a terminal": (link_to("/dev/tty"), "a link"),
    "a link to a folder": (link_to(".."), "a link"),
    "a link to the root": (link_to("/"), "a link"),
    "a link outside": (link_to_a_notebook_outside, "a link"),
}
NAMES = {  # of a notebook that cannot be read
    "GBK": "王小明".encode("gbk"),
    "not UTF-8": b"\xff\xfe\x80",
    "a line": b"a\nb\r\nc",
    "escape codes": b"\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "tags": b"<script>alert(1)<",
    "a formula": b"=1+1",
    "a quote": b"a\"b'c",
    "from right to left": "a\u202ecod.exe".encode(),
    "a separator": "a\u2028b\x85c".encode(),
    "long": b"x" * 240,
    "only an ending": b"",
    "blanks": b"   ",
    "a dash": b"--run",
    "braces": b"{0}{folder}%s",
    "capitals": b"BAD",
}


REPORT_ALL = """
import contextlib, io, json, resource, sys
from blocklab_course.gradebook.__main__ import main

resource.setrlimit(resource.RLIMIT_DATA, (3 << 30, 3 << 30))  # not the whole machine
for name, folder in json.load(open(sys.argv[1])).items():
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main([folder, "--out", folder + "-report"])
        except Exception as error:
            code = repr(error)
    print(json.dumps([name, code, said.getvalue()]), flush=True)
"""


def holding(content: object) -> Callable[[Path], None]:
    """A function that writes the hostile notebook."""
    written = content if isinstance(content, bytes) else bytes_of(content)
    return lambda folder: folder.joinpath("bad.ipynb").write_bytes(written)


def named(name: bytes) -> Callable[[Path], None]:
    return lambda folder: Path(os.fsdecode(bytes(folder) + b"/" + name + b".ipynb")).write_bytes(b"{")


def at_bad(make: Callable[[Path], None]) -> Callable[[Path], None]:
    return lambda folder: make(folder / "bad.ipynb")


CASES = {  # a function that makes it, part of the message, and the grade of the student `bad`
    **{name: (holding(content), why, None) for name, (content, why) in NOT_READ.items()},
    **{name: (holding(content), why, "✓") for name, (content, why) in ODD.items()},
    **{name: (holding(content), None, "✓") for name, content in FINE.items()},
    **{name: (at_bad(make), why, None) for name, (make, why) in NO_FILES.items()},
    **{f"named {name}": (named(content), "not JSON", None) for name, content in NAMES.items()},
    "a deep folder": (deep, "too long", None),
    "a folder that links to itself": (lambda folder: folder.joinpath("loop").symlink_to(folder), "a link", None),
    "a folder outside": (lambda folder: folder.joinpath("home").symlink_to("/"), "a link", None),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, tuple[int, str, Path]]:
    """Report on each hostile file beside a good notebook, all in one process with a time limit."""
    top = tmp_path_factory.mktemp("hostile")
    folders = {name: top / str(number) for number, name in enumerate(CASES)}
    for name, (make, *_) in CASES.items():
        hand_in(folders[name], **{"good.ipynb": notebook(GOOD)})
        make(folders[name])
    order = top / "order.json"
    order.write_text(json.dumps({name: str(folder) for name, folder in folders.items()}))
    with subprocess.Popen([sys.executable, "-c", REPORT_ALL, str(order)], stdout=subprocess.PIPE) as process:
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        lines = process.stdout.read().decode().splitlines()
        timer.cancel()
    found = ((name, (code, said, folders[name])) for name, code, said in map(json.loads, lines))
    yield dict(found)
    subprocess.run(["rm", "-rf", str(top)], check=True)  # pytest cannot remove folders this deep


@pytest.mark.parametrize("name", CASES, ids=lambda name: name.encode("unicode_escape").decode())
def test_hostile_files_are_named_and_others_reported(answers, name):
    _, why, solved = CASES[name]
    assert name in answers, "the report hung or was killed"
    code, said, folder = answers[name]
    html = folder.with_name(f"{folder.name}-report.html").read_text("utf-8")
    with folder.with_name(f"{folder.name}-report.csv").open(encoding="utf-8-sig", newline="") as file:
        students = {row["student"]: row for row in csv.DictReader(file)}
    assert students["good"]["layer_norm"] == "unbiased-variance"
    assert code == (1 if why else 0), said
    assert said.count("\n") == code  # one line per problem
    assert said.replace("\n", "").isprintable()
    assert (students["bad"]["swish"] if solved else students.keys()) == (solved or {"good"})
    if why:
        assert why in said
        assert html_escape(why) in html
    assert "<script" not in html
    assert len(html) < 100_000


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.binary(min_size=1, max_size=40).filter(lambda name: not {0, 47} & set(name)), broken=st.booleans())
def test_any_file_name_is_written_safely(tmp_path_factory, name, broken):
    folder = hand_in(tmp_path_factory.mktemp("names") / "class", **{"good.ipynb": notebook(GOOD)})
    content = b"{" if broken else bytes_of(notebook(GOOD))
    Path(os.fsdecode(bytes(folder) + b"/" + name + b".ipynb")).write_bytes(content)
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        code = main([str(folder), "--out", str(folder.with_name("marks"))])
    shadow = name.startswith(b"._")  # of macOS, left out
    assert code == (broken and not shadow)
    assert said.getvalue().count("\n") == code
    rows = list(csv.reader(io.StringIO(folder.with_name("marks.csv").read_bytes().decode("utf-8-sig"), newline="")))
    assert len(rows) == 2 + (not broken and not shadow)
    folder.with_name("marks.html").read_text("utf-8")


# Permissions are simulated, because the tests may run as root


@pytest.mark.parametrize(
    ("number", "why"), [(errno.EACCES, "no permission"), (errno.EIO, "Input/output error"), (errno.ESTALE, "Stale")]
)
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


@pytest.mark.parametrize("make", [fifo, link_to("/dev/zero")], ids=["a pipe", "a link"])
def test_reports_file_replaced_during_open(tmp_path, monkeypatch, make):
    hand_in(tmp_path, **{"bad.ipynb": notebook(GOOD), "good.ipynb": notebook(GOOD)})
    really = os.open

    def too_late(path, *arguments, **options):
        if Path(path).name == "bad.ipynb":
            os.unlink(path)
            make(Path(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(os, "open", too_late)
    report = collect(tmp_path)
    assert report.cells.keys() == {"good"}
    assert report.problems["bad.ipynb"]


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


@pytest.mark.parametrize("chosen", ["en", "zh"])
def test_reasons_are_in_the_language_of_the_report(tmp_path, chosen, capsys):
    hand_in(tmp_path, **{"class/good.ipynb": notebook(GOOD), "class/bad.ipynb": []})
    main([str(tmp_path / "class"), "--out", str(tmp_path / "marks"), "--language", chosen])
    assert {"en": "bad.ipynb: not a notebook", "zh": "bad.ipynb：不是笔记本"}[chosen] in capsys.readouterr().err
