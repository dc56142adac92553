"""Damaged files, of every kind that an editor, a merge, a disk or a reader can leave: each is named, none is lost."""

import json
import os
import shutil

import nbformat
import pytest
from demo_lessons import GLOSSARY, commit_all, edit, make_project
from hypothesis import given, settings
from hypothesis import strategies as st

from workshop import notebook
from workshop.__main__ import main
from workshop.project import Project

pytestmark = pytest.mark.thorough

EXAMPLES = 10  # of each file; 150 have been tried
PRINTED = {
    "top-2": "3.0\n",
    "what-a-token-is-3": "42\n",
    "top-3": "a slider\n",
    "top-4": "3 of 3\n",
    "top-5": "error\n",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Both demo lessons and a glossary, as a build with kernels leaves them: nothing is wrong with any file."""
    project = make_project(tmp_path_factory.mktemp("whole"))
    project.sources.joinpath("glossary.toml").write_text(GLOSSARY, encoding="utf-8")
    assert run(project, "build", "--no-execute") == 0
    for path in project.root.glob("notebooks/*/0*.ipynb"):
        built = notebook.read(path)
        for count, cell in enumerate([cell for cell in built.cells if cell.cell_type == "code"], start=1):
            cell.execution_count = count
            if cell.id in PRINTED:
                cell.outputs = [nbformat.v4.new_output("stream", text=PRINTED[cell.id])]
        notebook.write(built, path)
    assert run(project, "check") == 0
    return project


@pytest.fixture
def project(whole, tmp_path):
    shutil.copytree(whole.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def run(project, *arguments):
    return main(["--root", str(project.root), *arguments])


def files(project):
    return {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}


def lines(capsys):
    return capsys.readouterr().err.splitlines()


def both_name(project, path, capsys, *parts):
    """The check and the build of what is damaged name the file, and the build changes nothing of it."""
    capsys.readouterr()
    before = files(project)
    assert run(project, "check") == 1
    named = [line for line in lines(capsys) if project.show(path) in line]
    assert named
    assert any(all(part in line for part in parts) for line in named), named
    assert run(project, "build", "--no-execute", path.stem[:2]) == 1
    assert any(line.startswith("error: ") and project.show(path) in line for line in lines(capsys))
    assert files(project) == before


# Bytes


def crossed(text):
    """What a merge leaves behind when both sides changed a line."""
    first, rest = text.split("\n", 1)
    return f"<<<<<<< ours\n{first}\n=======\nother\n>>>>>>> theirs\n{rest}"


BYTES = {
    "UTF-8 with a mark": (lambda text: b"\xef\xbb\xbf" + text.encode(), "byte order mark"),
    "UTF-16": (lambda text: text.encode("utf-16"), "UTF-16"),
    "UTF-32": (lambda text: text.encode("utf-32"), "is not UTF-8"),
    "GBK": (lambda text: text.encode("gbk", errors="replace"), "is not UTF-8, from byte 0x"),
    "Latin-1": (lambda text: text.encode() + "\n# caf\xe9".encode("latin-1"), "is not UTF-8, from byte 0xe9"),
    "NUL": (lambda text: text.encode() + b"\0", "NUL byte"),
    "zeros": (lambda text: b"\0" * len(text), "NUL byte"),
    "half a character": (lambda text: text.encode() + "批".encode()[:2], "is not UTF-8"),
    "merge": (lambda text: crossed(text).encode(), ":1: holds the marks of a merge"),
    "merge at the end": (lambda text: (text + "\n>>>>>>> theirs\n").encode(), "holds the marks of a merge"),
    "empty": (lambda text: b"", ""),
    "blank": (lambda text: b"\n \n", ""),
    "huge": (lambda text: text.encode() + b" " * 17 * 2**20, "MB are read"),
}
PLACES = [
    "notebooks/source/01_means.py",
    "notebooks/source/glossary.toml",
    "notebooks/en/01_means.ipynb",
    "notebooks/zh/02_pictures.ipynb",
    "README.zh-CN.md",
    "pyproject.toml",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", BYTES)
def test_a_file_of_other_bytes_is_named(project, place, kind, capsys):
    path, (damage, message) = project.root / place, BYTES[kind]
    if kind == "GBK" and path.name.startswith("pyproject"):
        edit(path, 'name = "demo"', 'name = "演示"')
    path.write_bytes(damage(path.read_text("utf-8")))
    before = path.read_bytes()
    assert run(project, "check") == 1
    shown = capsys.readouterr().err
    assert place.rpartition("/")[2] in shown
    assert message in shown
    run(project, "build", "--no-execute", "02" if "01" in place else "01")
    assert path.read_bytes() == before or place.endswith("README.zh-CN.md")


# What stands where a file is wanted


def folder(path):
    path.mkdir()


def link_to_nothing(path):
    path.symlink_to("nowhere")


def link_to_itself(path):
    path.symlink_to(path.name)


def link_outside(path):
    outside = path.parents[2].with_name("outside.txt")
    outside.write_text("mine", encoding="utf-8")
    path.symlink_to(outside)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("put", [folder, link_to_nothing, link_to_itself, os.mkfifo], ids=lambda put: put.__name__)
def test_what_is_no_file_is_named_and_not_written_through(project, place, put, capsys):
    path = project.root / place
    path.unlink()
    put(path)
    for command in (("check",), ("build", "--no-execute")):
        assert run(project, *command) == 1
        assert path.name in capsys.readouterr().err
    assert not path.is_file()
    assert not path.with_name("nowhere").exists()


@pytest.mark.parametrize("place", ["notebooks/en/01_means.ipynb", "README.md", "notebooks/zh/glossary.ipynb"])
def test_a_file_outside_is_not_written_through_a_link(project, place, capsys):
    path = project.root / place
    outside = project.root.with_name(f"{project.root.name}-outside")
    shutil.move(path, outside)
    path.symlink_to(outside)
    edit(project.pyproject, '/demo"', '/other"')
    if "glossary" in place:
        edit(project.sources / "glossary.toml", "divided by the", "over the")
    before = outside.read_bytes()
    assert run(project, "build", "--no-execute") == 1
    assert f"{place}: is a link, and not written through" in capsys.readouterr().err
    assert outside.read_bytes() == before


def test_a_read_only_notebook_is_left_as_it_is(project, capsys):
    path = project.notebook("zh", "01_means")
    path.chmod(0o444)
    edit(project.source("01_means"), "一个**词元**", "一个 **词元**")
    before = path.read_bytes()
    assert run(project, "build", "--no-execute", "01") == 1
    assert "notebooks/zh/01_means.ipynb: is read-only" in capsys.readouterr().err
    assert path.read_bytes() == before


# Sources


SOURCES = {
    "bracket lost": ('tags=["solution"]', 'tags=["solution"', ":35: a cell begins with"),
    "bracket lost before": ('tags=["solution"]', 'tags="solution"]', ":35: a cell begins with"),
    "tags without a list": ('tags=["solution"]', 'tags="solution"', ":35: a cell begins with"),
    "tags of a number": ('tags=["solution"]', "tags=5", ":35: a cell begins with"),
    "tags of numbers": ('tags=["solution"]', "tags=[5]", ":35: a cell begins with"),
    "tags of nothing": ('tags=["solution"]', "tags=[]", ":35: a cell begins with"),
    "tags null": ('tags=["solution"]', "tags=null", ":35: a cell begins with"),
    "a tag twice": ('tags=["solution"]', 'tags=["solution", "solution"]', ":35: a cell begins with"),
    "tags twice": ('tags=["solution"]', 'tags=["solution"] tags=["slow"]', ":35: a cell begins with"),
    "tags in a table": ('tags=["solution"]', 'tags={"a": 1}', ":35: a cell begins with"),
    "without quotes": ('tags=["solution"]', "tags=[solution]", ":35: a cell begins with"),
    "other quotes": ('tags=["solution"]', "tags=['solution']", ":35: a cell begins with"),
    "Chinese quotes": ('tags=["solution"]', "tags=[“solution”]", ":35: a cell begins with"),
    "with spaces": ('tags=["solution"]', 'tags = ["solution"]', ":35: a cell begins with"),
    "another key": ('tags=["solution"]', 'tag=["solution"]', ":35: a cell begins with"),
    "a title": ('tags=["solution"]', "My answer", ":35: a cell begins with"),
    "misspelt tag": ('tags=["solution"]', 'tags=["Solution"]', ":35: unknown tag Solution"),
    "claims of a number": ('tags=["solution"]', "claims=5", ":35: a cell begins with"),
    "claims without a list": ('tags=["solution"]', 'claims="E19"', ":35: a cell begins with"),
    "base of a number": ('tags=["solution"]', "base=5", ":35: a cell begins with"),
    "base of nothing": ('tags=["solution"]', "base={}", ":35: a cell begins with"),
    "lang of code": ('tags=["solution"]', 'lang="en"', ":35: a cell begins with"),
    "glued": ('# %% tags=["solution"]', '# %%tags=["solution"]', ":35: a cell begins with"),
    "no space": ('# %% tags=["solution"]', '#%% tags=["solution"]', ":35: looks like the beginning of a cell"),
    "one percent": ('# %% tags=["solution"]', '# % tags=["solution"]', ":35: looks like the beginning of a cell"),
    "three percent": ('# %% tags=["solution"]', '# %%% tags=["solution"]', ":35: a cell begins with"),
    "two hashes": ('# %% tags=["solution"]', '## %% tags=["solution"]', ":35: looks like the beginning of a cell"),
    "no hash": ('# %% tags=["solution"]', '%% tags=["solution"]', ":35: looks like the beginning of a cell"),
    "indented": ('# %% tags=["solution"]', ' # %% tags=["solution"]', ":35: looks like the beginning of a cell"),
    "full width": ('# %% tags=["solution"]', '# ％％ tags=["solution"]', ":35: looks like the beginning of a cell"),
    "no markdown": ('[markdown] lang="en"\nr"""\n## ', 'lang="en"\nr"""\n## ', ":19: a cell begins with"),
    "no lang": ('[markdown] lang="en"\nr"""\n## ', '[markdown]\nr"""\n## ', ":19: a text wants"),
    "plain marker": ('# %% [markdown] lang="en"\nr"""\n## ', '# %%\nr"""\n## ', "a text in a code cell"),
    "markdown misspelt": ('[markdown] lang="en"\nr"""\n## ', '[markdwon] lang="en"\nr"""\n## ', ":19: a cell begins"),
    "lang unquoted": ('lang="en"\nr"""\n## ', 'lang=en\nr"""\n## ', ":19: a cell begins with"),
    "lang of a number": ('lang="en"\nr"""\n## ', 'lang=1\nr"""\n## ', ":19: a cell begins with"),
    "text not opened": ('lang="en"\nr"""\n## ', 'lang="en"\n## ', ":19: a text wants a line"),
    "text not closed": ('(N, C)`\n"""\n\n# %% [markdown] lang="zh"', '(N, C)`\n\n# %% [markdown] lang="zh"', ":19: "),
    "text not raw": ('lang="en"\nr"""\n## ', 'lang="en"\n"""\n## ', ":19: a text wants a line"),
    "text with a string": ("- one **token**", '- one """token"""', ":19: a text wants a line"),
    "text left empty": ("## What a token is\n\n- one **token**\n- a shape `(N, C)`\n", "\n", ":19: a text wants"),
    "words after a text": ('形状 `(N, C)`\n"""\n', '形状 `(N, C)`\n"""\nmore\n', ":27: a text wants a line"),
    "code lost": ("\nanswer = 42\n", "\n\n", ":35: an empty code cell"),
    "code broken": ("answer = 42", "answer = (42", ":36: code that Python cannot read"),
    "code of words": ("answer = 42", "the answer is 42", ":36: code that Python cannot read"),
    "a control character": ("answer = 42", "answer = 42\x01", ":36: holds the character '\\x01'"),
    "a page break": ("- one **token**", "- one **token**\x0c", ":23: holds the character '\\x0c'"),
    "a line separator": ("- one **token**", "- one\u2028**token**", ":23: holds the character '\\u2028'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOURCES)
def test_a_damaged_source_is_named_with_its_line(project, kind, capsys):
    old, new, message = SOURCES[kind]
    path = project.source("01_means")
    edit(path, old, new)
    both_name(project, path, capsys, message)


def test_every_fault_of_a_source_is_named_and_the_next_lesson_too(project, capsys):
    edit(project.source("01_means"), 'tags=["solution"]', "tags=5")
    edit(project.source("01_means"), '[markdown] lang="en"\nr"""\n## ', '[markdown] lang=en\nr"""\n## ')
    edit(project.source("02_pictures"), 'tags=["raises-exception"]', "tags=5")
    assert run(project, "check") == 1
    shown = lines(capsys)
    for place in ("01_means.py:35: ", "01_means.py:19: ", "02_pictures.py:30: "):
        assert any(place in line for line in shown)


def test_lines_that_end_in_cr_lf_are_named(project, capsys):
    path = project.source("01_means")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    both_name(project, path, capsys, ":1: its lines end in CR LF")


@pytest.mark.parametrize(
    "commands", [["check"], ["build", "--no-execute"], ["build", "--no-execute", "02"]], ids=" ".join
)
def test_two_lessons_with_one_number_are_refused(project, commands, capsys):
    shutil.copyfile(project.source("01_means"), project.source("01_other"))
    before = files(project)
    assert run(project, *commands) == 1
    assert "notebooks/source/01_other.py: a second lesson with the number 01, beside 01_means.py" in "".join(
        lines(capsys)
    )
    assert files(project) == before


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('check("mean", 4)', 'wants one of the tags "exercise" and "solution"'),
        ('catch("mean", 4)', 'wants one of the tags "exercise" and "solution"'),
        ('assert check("mean", 4)', 'wants one of the tags "exercise" and "solution"'),
    ],
)
def test_a_check_without_a_tag_is_named(project, code, message, capsys):
    edit(project.source("01_means"), "\nanswer\n", f"\n{code}\n")
    assert run(project, "check", "01") == 1
    assert any("01_means.py:38 cell what-a-token-is-3: " in line and message in line for line in lines(capsys))


def test_a_solution_wants_its_exercise(project, capsys):
    edit(project.source("01_means"), "answer = 42", 'check("mean", 4)')
    assert run(project, "check", "01") == 1
    assert "solves 'mean', which no exercise above it asks for" in capsys.readouterr().err
    edit(project.source("01_means"), "x = [1, 2, 6]", 'check("mean", None)')
    edit(project.source("01_means"), "# %%\ncheck", '# %% tags=["exercise"]\ncheck')
    run(project, "check", "01")
    assert "solves" not in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["", "# 01 Two means", "<<<<<<< ours\n"])
def test_one_lesson_without_a_title_takes_no_link_from_the_others(project, damage, capsys):
    project.source("02_pictures").write_text(damage, encoding="utf-8")
    edit(project.source("01_means"), "一个**词元**", "一个 **词元**")
    readme, other = project.readme("en").read_bytes(), project.notebook("zh", "02_pictures").read_bytes()
    assert run(project, "build", "--no-execute") == 1
    assert "notebooks/source/02_pictures.py" in capsys.readouterr().err
    built = project.notebook("zh", "01_means").read_text("utf-8")
    assert "一个 **词元**" in built
    assert "下一课：[02 图片](02_pictures.ipynb)" in built
    assert (project.readme("en").read_bytes(), project.notebook("zh", "02_pictures").read_bytes()) == (readme, other)


def test_without_any_source_nothing_is_removed(project, capsys):
    for path in project.sources.glob("*.py"):
        path.unlink()
    before = files(project)
    for command in ("build", "check"):
        assert run(project, command) == 1
        assert "notebooks/source: there is no lesson" in capsys.readouterr().err
    assert files(project) == before


# Built notebooks


def change(path, work):
    content = json.loads(path.read_text("utf-8"))
    cells = {cell["id"]: cell for cell in content["cells"]}
    work(content, cells)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def wipe(cells, name):
    cells[name]["outputs"] = []


ERROR = {"output_type": "error", "ename": "NameError", "evalue": "no x", "traceback": []}
NOTEBOOKS = {
    "outputs wiped": (lambda _, cells: wipe(cells, "top-2"), "cell top-2: shows nothing"),
    "a value wiped": (lambda _, cells: wipe(cells, "what-a-token-is-3"), "cell what-a-token-is-3: shows nothing"),
    "an error": (lambda _, cells: cells["top-2"].update(outputs=[ERROR]), "cell top-2: shows an error"),
    "stderr": (lambda _, cells: cells["top-2"]["outputs"][0].update(name="stderr"), "cell top-2: wrote to stderr"),
    "tags lost": (
        lambda _, cells: cells["what-a-token-is-2"].update(metadata={}),
        "what-a-token-is-2: differs from its",
    ),
    "a tag lost": (lambda _, cells: cells["what-a-token-is-2"]["metadata"].pop("tags"), "what-a-token-is-2: differs"),
    "id lost": (lambda _, cells: cells["top-2"].pop("id"), "cell 4: is no notebook"),
    "id twice": (lambda _, cells: cells["top-2"].update(id="setup"), "cell setup: is no notebook: several cells"),
    "a cell twice": (lambda nb, cells: nb["cells"].append(cells["top-2"]), "cell top-2: is no notebook: several cells"),
    "a cell lost": (lambda nb, cells: nb["cells"].remove(cells["top-2"]), "the source has cell top-2 here"),
    "another order": (lambda nb, _: nb["cells"].reverse(), "the source has cell top-1 here"),
    "cells null": (lambda nb, _: nb.update(cells=None), "is no notebook"),
    "cells in a table": (lambda nb, _: nb.update(cells={}), "is no notebook"),
    "a cell null": (lambda nb, _: nb["cells"].insert(1, None), "cell 2: is no notebook"),
    "an unknown kind": (lambda _, cells: cells["top-2"].update(cell_type="cod"), "cell top-2: is no notebook"),
    "source of a number": (lambda _, cells: cells["top-2"].update(source=5), "cell top-2: is no notebook"),
    "outputs null": (lambda _, cells: cells["top-2"].update(outputs=None), "cell top-2: is no notebook"),
    "an output null": (lambda _, cells: cells["top-2"].update(outputs=[None]), "cell top-2: is no notebook"),
    "text of a number": (lambda _, cells: cells["top-2"]["outputs"][0].update(text=3.0), "cell top-2: is no notebook"),
    "count of words": (lambda _, cells: cells["top-2"].update(execution_count="2"), "cell top-2: is no notebook"),
    "no metadata": (lambda nb, _: nb.pop("metadata"), "is no notebook"),
    "other metadata": (lambda nb, _: nb["metadata"].update(blocklab=5), "metadata differs"),
    "older": (lambda nb, _: nb.update(nbformat=3), "is no notebook of the format 4.5"),
    "no version": (lambda nb, _: nb.pop("nbformat"), "is no notebook of the format 4.5"),
    "a newer minor": (lambda nb, _: nb.update(nbformat_minor=9), "is no notebook of the format 4.5"),
    "half a character": (lambda _, cells: cells["top-2"].update(source=["\ud800"]), "is no notebook"),
    "an unknown key": (lambda nb, _: nb.update(worksheets=[]), "is no notebook"),
}


@pytest.mark.parametrize("kind", NOTEBOOKS)
def test_a_damaged_notebook_is_named_with_its_cell(project, kind, capsys):
    damage, message = NOTEBOOKS[kind]
    for language in ("en", "zh"):  # in both, so that comparing them tells nothing
        path = project.notebook(language, "01_means")
        if kind == "half a character":
            text = path.read_text("utf-8").replace("3.0", "\\ud800")
            path.write_text(text, encoding="utf-8")
        else:
            change(path, damage)
    assert run(project, "check") == 1
    shown = lines(capsys)
    for language in ("en", "zh"):
        file = f"notebooks/{language}/01_means.ipynb"
        assert any(line.startswith(file) and message in line for line in shown), shown
    run(project, "build", "--no-execute", "02")
    assert all(file in line for file in ("01_means",) for line in lines(capsys))


@pytest.mark.parametrize(
    "content",
    ["", "<<<<", "{", "[]", "5", "null", '"text"', "[" * 5000, '{"cells": [' * 3000, "1" * 5000, "NaN", "{}"],
    ids=lambda content: content[:8] or "empty",
)
def test_what_is_no_notebook_is_named_and_left_as_it_is(project, content, capsys):
    path = project.notebook("en", "01_means")
    path.write_text(content, encoding="utf-8")
    both_name(project, path, capsys, "no notebook")


def test_spaces_that_no_build_writes_are_named(project, capsys):
    path = project.notebook("en", "01_means")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), encoding="utf-8")
    assert run(project, "check", "01") == 1
    assert "notebooks/en/01_means.ipynb: is not written as the build writes it" in capsys.readouterr().err


def test_a_line_of_megabytes_is_read_at_once_and_shown_in_short(project, capsys):
    path = project.notebook("en", "01_means")
    change(path, lambda _, cells: cells["top-2"]["outputs"][0].update(text=["1 " * 2**22]))
    assert run(project, "check", "01") == 1  # it took minutes where time was the square of the length
    shown = capsys.readouterr().err
    assert "cell top-2: the outputs differ" in shown
    assert len(shown) < 2000


# The glossary, and pyproject


ROW = 'en = "mean"\nzh = "均值"'
GLOSSARIES = {
    "no TOML": (ROW, 'en = "mean', ":2: is no TOML"),
    "a field lost": (ROW, 'en = "mean"', "term 1 has a field missing or too many: zh"),
    "a field too many": (ROW, f'{ROW}\nfr = "x"', "term 1 has a field missing or too many: fr"),
    "a number": (ROW, 'en = 5\nzh = "均值"', "term 1 wants en to be a text of one line, got 5"),
    "empty": (ROW, 'en = " "\nzh = "均值"', "term 1 wants en to be a text"),
    "two lines": (ROW, 'en = "a\\nb"\nzh = "均值"', "term 1 wants en to be a text"),
    "lesson in quotes": ("lesson = 1", 'lesson = "1"', "term 1 wants lesson to be a number, got '1'"),
    "lesson true": ("lesson = 1", "lesson = true", "term 1 wants lesson to be a number, got True"),
    "other rows": ("[[term]]", "[[terms]]", "wants rows [[term]], asks, once, unused and nothing else, got terms"),
    "one table": ("[[term]]", "[term]", "wants rows [[term]], asks, once, unused and nothing else, got term"),
    "a key before": ("[[term]]", "x = 1\n[[term]]", "asks, once, unused and nothing else, got x, term"),
    "early outside": ("[[term]]", "early = []\n[[term]]", "asks, once, unused and nothing else, got early, term"),
    "no pattern": (ROW, f'{ROW}\nasks = {{ "(" = "均值" }}', "term 1 wants asks to be regular expressions in pairs"),
    "half a pair": (ROW, f'{ROW}\nasks = ["means?"]', "term 1 wants asks to be regular expressions in pairs"),
    "asks of a number": (ROW, f"{ROW}\nasks = {{ mean = 5 }}", "term 1 wants asks to be regular expressions in pairs"),
    "asks for all": (ROW, f'{ROW}\nasks = {{ "" = "均值" }}', "term 1 wants asks to be regular expressions in pairs"),
    "nothing to write": (ROW, f'{ROW}\nunused = [{{ zh = "均" }}]', "term 1 wants unused to hold rows of zh or en"),
    "both languages": (ROW, f'{ROW}\nearly = [{{ zh = "均", en = "m", write = "n" }}]', "term 1 wants early to hold"),
    "no list of rows": (ROW, f'{ROW}\nunused = {{ zh = "均", write = "值" }}', "term 1 wants unused to hold rows"),
    "a key too many": (ROW, f'{ROW}\nunused = [{{ zh = "均", write = "值", by = 5 }}]', "term 1 wants unused to hold"),
    "no row": (ROW, f'{ROW}\nunused = ["均"]', "term 1 wants unused to hold rows of zh or en"),
    "once a word": (ROW, f'{ROW}\nonce = "平均数"', "term 1 wants once to be a list of words, got '平均数'"),
    "rules outside": ("[[term]]", "asks = 5\n[[term]]", "what stands outside the terms wants asks to be"),
}


@pytest.mark.parametrize("kind", GLOSSARIES)
def test_a_damaged_glossary_is_named(project, kind, capsys):
    old, new, message = GLOSSARIES[kind]
    path = project.sources / "glossary.toml"
    edit(path, old, new)
    before = files(project)
    for command in (["check"], ["build", "--no-execute"]):
        assert run(project, *command) == 1
        [line] = lines(capsys)
        assert "notebooks/source/glossary.toml" in line
        assert message in line
    assert files(project) == before


@pytest.mark.parametrize(
    "text",
    [
        "[project",
        "project = 5",
        "[project]\nurls = []",
        "[project.urls]\nOther = 1",
        "[project.urls]\nRepository = 5",
        '[project.urls]\nRepository = "x"',
        '[project.urls]\nRepository = "https://[x"',
    ],
)
def test_a_damaged_pyproject_is_named_in_one_line(project, text, capsys):
    project.pyproject.write_text(text, encoding="utf-8")
    before = files(project)
    for command in (["check"], ["build", "--no-execute"]):
        assert run(project, *command) == 1
        [line] = lines(capsys)
        assert "pyproject.toml wants a line Repository" in line or "the address wants the form" in line
    assert files(project) == before


@pytest.mark.parametrize("address", ["https://[x", "https://x]/a/b", "https://github.com:x/a/b", "\ud800", "//", "\n"])
def test_an_address_that_is_none_is_refused_in_one_line(project, address, capsys):
    before = files(project)
    assert run(project, "address", address) == 1
    assert "the address wants the form" in capsys.readouterr().err
    assert files(project) == before


# Nothing that a build did not write is removed


def notes(path):
    path.write_text('{"my": "notes"}', encoding="utf-8")


def copied(path):
    shutil.copyfile(path.with_name("01_means.ipynb"), path)


def copied_from_the_other(path):
    shutil.copyfile(path.parents[1] / "zh" / "01_means.ipynb", path)


def worked_in(path):
    copied(path)
    change(path, lambda nb, _: nb["metadata"]["blocklab"].update(source=f"notebooks/source/{path.stem}.py"))
    change(path, lambda nb, _: nb["metadata"]["language_info"].update(version="3.11.7"))


def run_again(path):
    copied(path)
    change(path, lambda nb, _: nb["metadata"]["blocklab"].update(source=f"notebooks/source/{path.stem}.py"))
    change(path, lambda _, cells: cells["top-2"].update(execution_count=17))


@pytest.mark.parametrize("put", [notes, copied, copied_from_the_other, worked_in, run_again, folder, link_to_nothing])
@pytest.mark.parametrize("name", ["01_means-Copy1", "06_rms_norm", "我的 笔记 (copy)"])
def test_a_readers_notebook_is_left_alone_and_named(project, put, name, capsys):
    path = project.notebook("en", name)
    put(path)
    before = files(project)
    assert run(project, "build", "--no-execute") == 0
    said = [line for line in capsys.readouterr().out.splitlines() if project.show(path) in line]
    assert len(said) == 1
    assert said[0].startswith("left alone ")
    assert files(project) == before
    assert os.path.lexists(path)
    if put not in (worked_in, run_again):
        assert run(project, "check") == 0


def test_what_a_build_wrote_goes_when_its_source_is_gone(project, capsys):
    commit_all(project)
    project.source("02_pictures").unlink()
    (project.sources / "glossary.toml").unlink()
    assert run(project, "build", "--no-execute") == 0
    assert capsys.readouterr().out.count("removed ") == 4
    assert {path.name for path in project.root.glob("notebooks/*/*.ipynb")} == {"01_means.ipynb"}


@pytest.mark.parametrize("committed", [True, False])
def test_what_git_does_not_hold_is_not_removed(project, committed, capsys):
    path = project.notebook("en", "02_pictures")
    commit_all(project)
    project.source("02_pictures").unlink()
    if not committed:
        edit(path, "# 02 Pictures", "# 02 Pictures, and my thoughts")
    assert run(project, "build", "--no-execute") == 0
    assert path.exists() != committed
    assert ("somebody has worked in it" in capsys.readouterr().out) != committed


LACKS = {
    "no git": lambda project: os.environ.update(PATH=""),
    "no repository": lambda project: shutil.rmtree(project.root / ".git"),
    "a broken one": lambda project: (project.root / ".git" / "HEAD").write_text("?", encoding="utf-8"),
}


@pytest.mark.parametrize("lack", LACKS)
def test_where_git_cannot_tell_a_notebook_is_kept(project, lack, monkeypatch, capsys):
    commit_all(project)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # put back afterwards
    LACKS[lack](project)
    project.source("02_pictures").unlink()
    path = project.notebook("zh", "02_pictures")
    edit(path, "# 02 图片", "# 02 图片，我的想法")
    assert run(project, "build", "--no-execute") == 0
    assert "我的想法" in path.read_text("utf-8")
    assert "left alone notebooks/zh/02_pictures.ipynb: its source is gone, but without git" in capsys.readouterr().out
    assert run(project, "check") == 1
    assert "notebooks/zh/02_pictures.ipynb: its source is gone; move it away" in capsys.readouterr().err


# READMEs, and links


def cut(old):
    return lambda path: edit(path, old, "")


README_DAMAGES = {
    "gone": (lambda path: path.unlink(), "is missing"),
    "no beginning": (cut("<!-- lessons:begin -->"), "wants a table between"),
    "no end": (cut("<!-- lessons:end -->"), "wants a table between"),
    "empty": (lambda path: path.write_bytes(b""), "wants a table between"),
}


@pytest.mark.parametrize("command", [["build", "--no-execute"], ["address", "https://github.com/ada/x"], ["check"]])
@pytest.mark.parametrize("kind", README_DAMAGES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_readme_without_its_table_is_named_and_no_address_changes(project, language, kind, command, capsys):
    damage, message = README_DAMAGES[kind]
    damage(project.readme(language))
    before = files(project)
    assert run(project, *command) == 1
    [said] = [line for line in lines(capsys) if project.readme(language).name in line]
    assert message in said
    if command[0] == "address":
        assert files(project) == before


DEAD = ["nowhere.ipynb", "../../pic/nowhere.png", "../fr", "glossary.ipynb", "nowhere.ipynb#top", "a%20b.md"]
ALIVE = ["#top", "https://example.org/nowhere.ipynb", "mailto:a@b.cc", "02_pictures.ipynb#top", "../../README.md", "?x"]


def linked(project, address):
    edit(project.source("01_means"), "one **token**", f"[one]({address}) **token**")
    edit(project.source("01_means"), "一个**词元**", f"[一个]({address})**词元**")
    run(project, "build", "--no-execute", "01")


@pytest.mark.parametrize("address", DEAD)
def test_a_link_to_what_is_not_there_is_named(project, address, capsys):
    (project.sources / "glossary.toml").unlink()
    for path in project.root.glob("notebooks/*/glossary.ipynb"):
        path.unlink()
    edit(project.readme("en"), "The end.", f"[The end]({address}).")
    edit(project.source("01_means"), "one **token**", f"[one]({address}) **token**")
    run(project, "check")
    shown = lines(capsys)
    assert any(
        line.startswith("notebooks/source/01_means.py:19 ") and f"en: the link to {address}" in line for line in shown
    )
    assert any(line.startswith("README.md: the link to ") and "leads nowhere" in line for line in shown)


@pytest.mark.parametrize("address", ALIVE)
def test_a_link_to_what_is_there_or_elsewhere_is_right(project, address):
    linked(project, address)
    assert run(project, "check") == 0


def test_a_glossary_that_is_gone_is_missed_by_those_who_lead_to_it(project, capsys):
    commit_all(project)
    linked(project, "glossary.ipynb")
    edit(project.readme("zh"), "The end.", '<a href="notebooks/zh/glossary.ipynb">The end</a>.')
    assert run(project, "check") == 0
    (project.sources / "glossary.toml").unlink()
    run(project, "build", "--no-execute")
    capsys.readouterr()
    assert run(project, "check") == 1
    assert len([line for line in lines(capsys) if "glossary.ipynb leads nowhere" in line]) == 3


# Code that is too deep for Python


@pytest.mark.parametrize("code", ["-" * 100_000 + "1", "(" * 100_000, "[" * 5000 + "]" * 5000, "x" + ".x" * 100_000])
def test_code_that_is_too_deep_is_named_with_a_reason(project, code, capsys):
    edit(project.source("01_means"), "answer = 42", code)
    for command in (["check", "01"], ["build", "--no-execute", "01"]):
        assert run(project, *command) == 1
        shown = capsys.readouterr().err
        assert "01_means.py:3" in shown
        assert not any(line.endswith(("read: ", "read: None")) for line in shown.splitlines())


# An end in the middle


def test_a_build_that_is_stopped_leaves_the_old_notebook_whole(project, monkeypatch):
    path = project.notebook("zh", "01_means")
    before = path.read_bytes()
    edit(project.source("01_means"), "一个**词元**", "一个 **词元**")
    real = type(path).write_bytes

    def stopped(target, data):
        real(target, data[: len(data) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(type(path), "write_bytes", stopped)
    assert run(project, "build", "--no-execute", "01") == 130
    assert path.read_bytes() == before
    assert {path.name for path in path.parent.iterdir()} == {"01_means.ipynb", "02_pictures.ipynb", "glossary.ipynb"}


def test_a_full_disk_leaves_the_old_notebook_whole(project, monkeypatch, capsys):
    path = project.notebook("zh", "01_means")
    before = path.read_bytes()
    edit(project.source("01_means"), "一个**词元**", "一个 **词元**")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full)
    assert run(project, "build", "--no-execute", "01") == 1
    assert "01_means.ipynb: cannot be written: No space left on device" in capsys.readouterr().err
    assert path.read_bytes() == before


# Any damage at all


@st.composite
def damages(draw):
    """A change of some bytes: cut off, cut out, turned, doubled, or put in."""
    place, length = draw(st.floats(0, 1)), draw(st.integers(1, 40))
    kind = draw(st.sampled_from(["cut off", "cut out", "turned", "doubled", "put in"]))
    put = draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b'"""', b"# %%", b"\n", b"{", b"}", b"[", b'"']))

    def damage(data):
        start = int(place * (len(data) - 1))
        part = data[start : start + length]
        new = {"cut off": b"", "cut out": b"", "turned": bytes(b ^ 1 for b in part), "doubled": 2 * part, "put in": put}
        rest = b"" if kind == "cut off" else data[start:] if kind == "put in" else data[start + length :]
        return data[:start] + new[kind] + rest

    return damage


@pytest.mark.parametrize("place", PLACES)
def test_no_damage_ends_in_a_traceback(whole, tmp_path_factory, place, capsys):
    project = Project(tmp_path_factory.mktemp("damaged") / "demo")
    shutil.copytree(whole.root, project.root)
    path, state = project.root / place, files(whole)

    @settings(max_examples=EXAMPLES)
    @given(damages())
    def hurt(damage):
        for file, data in state.items():
            project.root.joinpath(file.relative_to(whole.root)).write_bytes(data)
        path.write_bytes(damage(path.read_bytes()))
        left = path.read_bytes()
        before = files(project)
        assert run(project, "build", "--no-execute", "02") in (0, 1)
        checked = run(project, "check")
        shown = capsys.readouterr().err
        assert "Traceback" not in shown
        if files(project) == before and left != state[whole.root / place] and path.suffix in (".py", ".toml"):
            assert checked == 0 or path.stem in shown or "the address wants" in shown

    hurt()


def nodes(value, place=()):
    """Where the parts of a JSON document lie, from the outside in."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*place, key)
        yield from nodes(part, (*place, key))


def test_no_other_value_in_a_notebook_ends_in_a_traceback(whole, tmp_path_factory, capsys):
    project = Project(tmp_path_factory.mktemp("damaged") / "demo")
    shutil.copytree(whole.root, project.root)
    path = project.notebook("en", "01_means")
    intact = path.read_bytes()
    places = list(nodes(json.loads(intact)))

    @settings(max_examples=2 * EXAMPLES)
    @given(st.sampled_from(places), st.sampled_from(["drop", None, 0, True, "", "x", [], {}, [None], {"a": None}]))
    def hurt(place, value):
        content = json.loads(intact)
        holder = content
        for key in place[:-1]:
            holder = holder[key]
        if value == "drop":
            del holder[place[-1]]
        else:
            holder[place[-1]] = value
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        changed = json.loads(intact) != content
        assert run(project, "check", "01") == 1 or not changed or "outputs" in place
        assert not changed or "outputs" in place or "01_means.ipynb" in capsys.readouterr().err
        assert run(project, "build", "--no-execute", "01") in (0, 1)

    hurt()
