"""What CONTRIBUTING and the README say to run and to open is there, in both languages."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = ["CONTRIBUTING.md", "README.md", "README.zh-CN.md"]
TEACHERS = ["TEACHERS.md", "TEACHERS.zh-CN.md"]
PLACEHOLDER = re.compile(r"NN|<room>|\bname\b|NAME|my/|my-before|\.venv|YOUR_|FOLDER|handouts/|^site/")
TOLD_HERE = {  # what a reader looks for behind "where to change it" → what that file then holds
    "lib/blocklab/moving_average.py": r"def ema_update\(",
    "lib/authoring/stamped_cells.py": r"%pip install",
    "lib/blocklab_course/lessons/start_here/lesson_map.py": r"^PARTS = \(",
    ".github/workflows/ci.yml": r"matrix:",
    "notebooks/source/glossary.toml": r"^\[\[term\]\]",
    "tests/tolerance.py": r"^TOLERANCE\b",
    "lib/blocklab_course/lessons/catalog.py": r"^ORDER = \(",
    "lib/blocklab_course/panel/palette.py": r"^INK = ",
}


def code(text: str) -> list[str]:
    """What stands in backticks, or in a block of code."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return spans + [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]


def paths(text: str) -> set[str]:
    """The files and folders of the repository that it names."""
    words = {word for span in code(text) for word in span.split()}
    found = {word.rstrip(".,;") for word in words if re.match(r"(lib|tests|notebooks|pic|\.github)/[\w./-]*$", word)}
    return {path for path in found if not PLACEHOLDER.search(path)}


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_and_folder_is_there(name):
    named = paths((ROOT / name).read_text("utf-8"))
    assert len(named) >= 5
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_is_there(name):
    spans = "\n".join(code((ROOT / name).read_text("utf-8")))
    modules = set(re.findall(r"python\S* (?:-P )?-m ([\w.]+)", spans)) - {"pip", "venv"}
    assert modules
    assert {module for module in modules if importlib.util.find_spec(module) is None} == set()
    targets = set(re.findall(r"^make ([a-z-]+)", spans, re.MULTILINE))
    assert "test" in targets
    there = re.findall(r"^([a-z -]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert targets <= set(" ".join(there).split())


@pytest.mark.parametrize("path", TOLD_HERE)
def test_what_is_to_be_changed_stands_where_it_is_said_to(path):
    assert re.search(TOLD_HERE[path], (ROOT / path).read_text("utf-8"), re.MULTILINE)
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert contributing.count(f"`{path}`") >= 2, "once in each language"


def test_both_languages_of_contributing_name_the_same():
    english, chinese = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## 参与")
    only = set(code(english)) ^ set(code(chinese))
    assert {span for span in only if "/" in span or span.startswith(("make", "python"))} == set()


@pytest.mark.parametrize("name", TEACHERS)
def test_what_teachers_are_told_to_run_and_to_open_is_there(name):
    text = (ROOT / name).read_text("utf-8")
    targets = set(re.findall(r"^make ([a-z-]+)", "\n".join(code(text)), re.MULTILINE))
    assert {"address", "handouts", "lab", "front-ends"} <= targets
    assert all(f"\n{target}:" in (ROOT / "Makefile").read_text("utf-8") for target in targets)
    for file, anchor in re.findall(r"\]\((README[\w.-]*\.md)#([^)]+)\)", text):
        headings = re.findall(r"^#+ (.+)$", (ROOT / file).read_text("utf-8"), re.MULTILINE)
        assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
    linked = set(re.findall(r"\]\(([\w.-]+\.md)", text))
    assert all((ROOT / file).is_file() for file in linked)


def test_both_pages_for_teachers_hold_the_same_code_but_for_the_language():
    pages = [(ROOT / name).read_text("utf-8") for name in TEACHERS]
    blocks = [re.findall(r"^```\w*\n(.*?)^```", page, re.DOTALL | re.MULTILINE) for page in pages]
    plain = [[re.sub(r"--language zh|/(en|zh)/|\s+#.*", "", block) for block in each] for each in blocks]
    assert [block.split() for block in plain[0]] == [block.split() for block in plain[1]]
    assert all("?repo=https://github.com/YOUR_NAME/YOUR_FORK&" in page for page in pages)
