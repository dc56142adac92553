"""The documents name files and commands that exist, and follow the lessons' rules for language."""

import importlib.util
import re
from pathlib import Path

import pytest

from authoring.glossary import read_glossary
from authoring.lint.links import find_wrong_numbers
from authoring.lint.markdown import Prose, read_prose
from authoring.lint.typography import find_faults
from authoring.project import Project
from authoring.source import read_lesson
from blocklab_course.lessons.catalog import EXERCISES, LESSONS

ROOT = Path(__file__).parents[2]
PAGES = [
    "CONTRIBUTING.md",
    *("README.md", "README.zh-CN.md", "INSTALL.md", "INSTALL.zh-CN.md", "TEACHERS.md", "TEACHERS.zh-CN.md"),
]
TEACHERS = PAGES[-2:]
NAMES = {f"{lesson.number:02}": lesson.name for lesson in LESSONS}  # by number
LISTED = r"(?:[Ll]essons? |第 )((?:\d\d(?:, | and | or | to | 和 | 或 | 到 |、)?)+)"  # lessons 01 to 04, 第 02、03 课
PLACEHOLDER = re.compile(r"NN|\bname\b|NAME|^notebooks/(blocks/|predictions)")  # the last two: students' work
DEFINED_IN = {  # what CONTRIBUTING says to look for → a pattern found in that file
    "lib/blocklab/moving_average.py": r"^def ema_step\(",
    "lib/authoring/install_cell.py": r"^def _install_on_colab\(",
    "lib/blocklab_course/lessons/layer_norm/exercises/layer_norm.py": r'"unbiased-variance"',
    "lib/blocklab_course/lessons/catalog.py": r"^ORDER = \(",
    "lib/blocklab_course/lessons/manifest.py": r"^    diagram: str",
    "lib/blocklab_course/panel/drag.py": r"^def draggable\(",
    "lib/set_up.sh": r"^weights=",
    "pyproject.toml": r"^\[tool\.importlinter\]",
    ".github/workflows/ci.yml": r"matrix:",
    "notebooks/source/glossary.toml": r"^\[\[term\]\]",
    "tests/tolerance.py": r"^TOLERANCE\b",
}


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def code_in(text: str) -> list[str]:
    """The code spans and the lines of code blocks, without comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return spans + [line.partition("  #")[0].rstrip() for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page):
    words = {word for code in code_in(read(page)) for word in code.split()}
    paths = {word for word in words if re.match(r"(lib|tests|notebooks|pic|\.github)/[\w./-]*$", word)}
    paths = {path for path in paths if not PLACEHOLDER.search(path)}
    assert paths
    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_pictures_exist(page):
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', read(page))
    assert len(pictures) > 16
    assert [picture for picture in pictures if not (ROOT / picture).is_file()] == []


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_readme_is_short(page):
    """At most 700 words, or twice as many Chinese characters."""
    words = re.sub(r"<[^>]*>|&\w+;|\]\([^)]*\)", " ", read(page))
    assert len(re.findall(r"[a-zA-Z]\w+", words)) + len(re.findall(r"[\u4e00-\u9fff]", words)) / 2 < 700


def test_readme_quotes_what_the_checker_says():
    hint = EXERCISES["batch_norm_by_axes"].mistake("instance-norm").hint
    assert f"✗ *{hint.en}*" in read("README.md")
    assert f"✗ *{hint.zh}*" in read("README.zh-CN.md")


@pytest.mark.parametrize("page", PAGES)
def test_named_commands_exist(page):
    code = "\n".join(code_in(read(page)))
    modules = set(re.findall(r"python\S* (?:-P )?-m ([\w.]+)", code)) - {"pip", "venv"}
    assert {module for module in modules if importlib.util.find_spec(module) is None} == set()
    targets = set(re.findall(r"^make ([a-z-]+)", code, re.MULTILINE))
    assert modules | targets
    assert targets <= set(" ".join(re.findall(r"^([a-z -]+):", read("Makefile"), re.MULTILINE)).split())


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    links = re.findall(r"\]\(((?!https:)[^)#]*)(?:#([^)]+))?\)", read(page))
    assert links
    for file, anchor in links:
        text = read(file or page) if (file or page).endswith(".md") else ""
        assert (ROOT / file).exists(), file
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, anchor


@pytest.mark.parametrize("page", PAGES)
def test_links_name_the_number_of_their_lesson(page):
    assert [*find_wrong_numbers(read(page))] == []


def opening_of(number: str) -> str:
    return read_lesson(Project(ROOT), NAMES[number]).cells[0].en


def builds_on(number: str) -> set[str]:
    """The earlier lessons that the lesson names in its opening, and those whose functions it loads."""
    named = re.findall(r"\d\d", " ".join(re.findall(LISTED, opening_of(number))))
    calls = re.findall(r"load_or_reference\(([^)]*)\)", read(f"notebooks/source/{NAMES[number]}.py"))
    loaded = re.findall(r'"(\w+)"', " ".join(calls))
    saved_in = {name: f"{lesson.number:02}" for lesson in LESSONS for name in lesson.saves}
    return {other for other in [*named, *(saved_in[name] for name in loaded)] if other < number}


@pytest.mark.parametrize("page", TEACHERS)
def test_plan_teaches_no_lesson_before_the_lessons_that_it_builds_on(page):
    lectures = re.findall(r"^\| \d [^|]+\|([^|]+)\|([^|]+)\|[^|]+\|$", read(page), re.MULTILINE)
    assert len(lectures) == 8
    order = ["00"]  # before the first lecture
    for lessons, at_home in lectures:
        minutes = dict(re.findall(r"(\d\d) ?[(（](\d\d)[)）]", lessons))
        assert minutes == {number: re.search(r"about (\d+) minutes", opening_of(number))[1] for number in minutes}
        assert sum(map(int, minutes.values())) <= 90
        order += minutes
        order += [number for number in re.findall(r"\d\d", at_home) if number not in order]
    assert sorted([*order, "14"]) == [*NAMES]  # the page says for whom lesson 14 is
    assert builds_on("08") == {"07"}
    assert builds_on("12") >= {"09", "11"}
    too_early = {number: builds_on(number) - {*order[:place]} for place, number in enumerate(order)}
    assert {number: missing for number, missing in too_early.items() if missing} == {}


@pytest.mark.parametrize("page", TEACHERS)
def test_lessons_that_teachers_read_of_exist(page):
    listed = re.findall(r"\d\d", " ".join(re.findall(LISTED, read(page))))
    assert len(listed) > 10
    assert {*listed} <= NAMES.keys()
    rows = re.findall(r"^\| ((?:\d\d(?:, |、)?)+) \| \d", read(page), re.MULTILINE)  # of the table of memory
    assert sorted(number for row in rows for number in re.findall(r"\d\d", row)) == [*NAMES]


@pytest.mark.parametrize("path", DEFINED_IN)
def test_contributing_points_to_the_right_file(path):
    assert re.search(DEFINED_IN[path], read(path), re.MULTILINE)


def test_both_languages_of_contributing_name_the_same_code():
    english, chinese = read("CONTRIBUTING.md").split("\n## 参与\n")
    differing = set(code_in(english)) ^ set(code_in(chinese))
    assert {code for code in differing if "/" in code or code.startswith(("make", "python"))} == set()


def test_both_languages_of_teachers_have_the_same_code_blocks():
    pages = [re.findall(r"^```\w*\n(.*?)^```", read(page), re.DOTALL | re.MULTILINE) for page in PAGES[-2:]]
    english, chinese = (re.sub(r"--language zh|/(en|zh)/|\s+#.*", "", "\n".join(blocks)) for blocks in pages)
    assert english.split() == chinese.split()


def read_both_languages() -> dict[str, tuple[Prose, Prose]]:
    """Each page in English and in Chinese. CONTRIBUTING has both, the Chinese headings one level deeper."""
    pages = {name: (read(f"{name}.md"), read(f"{name}.zh-CN.md")) for name in ("README", "INSTALL", "TEACHERS")}
    english, chinese = read("CONTRIBUTING.md").split("\n## 参与\n")
    pages["CONTRIBUTING"] = english, re.sub(r"^#(#+ )", r"\1", f"## 参与\n{chinese}", flags=re.MULTILINE)
    return {name: (read_prose(en), read_prose(zh)) for name, (en, zh) in pages.items()}


BILINGUAL = read_both_languages()


@pytest.mark.parametrize("name", BILINGUAL)
def test_languages_agree_in_structure_numbers_and_terms(name):
    english, chinese = BILINGUAL[name]
    assert len(english.structure) > 40
    assert chinese.structure == english.structure
    assert chinese.numbers == english.numbers
    assert read_glossary(Project(ROOT)).wrong_terms(english.words, chinese.words, None) == []


@pytest.mark.parametrize("name", BILINGUAL)
def test_typography_is_correct(name):
    faults = {
        language: [fault for line in prose.lines for fault in find_faults(line, language)]
        for language, prose in zip(("en", "zh"), BILINGUAL[name], strict=True)
    }
    assert faults == {"en": [], "zh": []}
