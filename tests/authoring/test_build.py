"""Building notebooks and checking the built ones, with real kernels."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest
from demo_lessons import edit, make_project
from nbformat.v4 import new_output

from authoring import notebook
from authoring.__main__ import main
from authoring.address import Address
from authoring.check import check
from authoring.install_cell import install_code
from authoring.learner_copies import prepare_copy
from authoring.lint.outputs import output_texts
from authoring.project import Project
from blocklab import __version__

pytestmark = pytest.mark.exhaustive

BEGIN = 'def begin(language):\n    print({"en": "Ready, 1 device", "zh": "就绪，1 个设备"}[language])\n'


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    """Both demo lessons, built. The kernels import a tiny stand-in for the packages, to start fast."""
    stand_in = tmp_path_factory.mktemp("stand_in")
    for package, code in (("blocklab", ""), ("blocklab_course", BEGIN)):
        (stand_in / package).mkdir()
        (stand_in / package / "__init__.py").write_text(code, encoding="utf-8")
    project = make_project(tmp_path_factory.mktemp("demo"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(stand_in))
        assert main(["--root", str(project.root), "build"]) == 0
        yield project


@pytest.fixture
def project(built_once, tmp_path):
    shutil.copytree(built_once.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


def run(project, *arguments):
    return main(["--root", str(project.root), *arguments])


def files(project):
    return {path.relative_to(project.root): path.read_bytes() for path in project.root.rglob("*") if path.is_file()}


def found(project):
    return [str(problem) for problem in check(project, [])]


def cells(project, language="zh", stem="01_means"):
    return {cell.id: cell for cell in notebook.read(project.notebook(language, stem)).cells}


def test_build_passes_check_and_writes_only_notebooks_and_readmes(project):
    assert found(project) == []
    names = {path.as_posix() for path in files(project)}
    built = {f"notebooks/{language}/{stem}.ipynb" for language in ("en", "zh") for stem in ("01_means", "02_pictures")}
    sources = {"notebooks/source/01_means.py", "notebooks/source/02_pictures.py"}
    assert names == built | sources | {"pyproject.toml", "README.md", "README.zh-CN.md"}


def test_building_twice_gives_the_same_bytes(project):
    before = files(project)
    assert run(project, "build") == 0
    assert files(project) == before


def test_notebook_is_valid_and_has_the_generated_cells(project):
    built = notebook.read(project.notebook("zh", "01_means"))
    nbformat.validate(built)
    ids = ["top-1", "navigation", "setup", "top-2"]
    assert [cell.id for cell in built.cells] == [*ids, *(f"what-a-token-is-{n}" for n in (1, 2, 3)), "navigation-end"]
    assert [cell.id for cell in built.cells] == list(cells(project, "en"))
    assert built.metadata == {
        "blocklab": {"language": "zh", "source": "notebooks/source/01_means.py"},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    by_id = cells(project)
    assert by_id["navigation"].source == (
        "[English](../en/01_means.ipynb) · [02 图片 →](02_pictures.ipynb) · [在 Colab 中打开]"
        "(https://colab.research.google.com/github/carol/demo/blob/main/notebooks/zh/01_means.ipynb)"
    )
    assert by_id["navigation-end"].source == "## 下一课\n\n[02 图片](02_pictures.ipynb)"
    assert by_id["what-a-token-is-2"].metadata == {
        "tags": ["solution"],
        "jupyter": {"source_hidden": True},
        "cellView": "form",
    }
    assert [cell.get("execution_count") for cell in built.cells if cell.cell_type == "code"] == [1, 2, 3, 4]
    assert by_id["top-2"].outputs[0].text == "3.0\n"


def test_pictures_widgets_progress_and_expected_errors_are_kept(project):
    by_id = cells(project, "en", "02_pictures")
    assert "image/png" in by_id["top-2"].outputs[0].data
    assert len(by_id["top-3"].outputs[0].data["application/vnd.jupyter.widget-view+json"]["model_id"]) == 32
    assert by_id["top-4"].outputs[0].text == "3 of 3\n"  # of a line that is written over, the last wording
    assert by_id["top-5"].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert "navigation-end" not in by_id


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import warnings\nwarnings.warn('careful')", "wrote to stderr"),
        ("object()", "an output holds a memory address"),
        ("import os\nos._exit(1)", "the cell failed\nKernel died"),
    ],
    ids=["error", "stderr", "address", "dead"],
)
def test_bad_cell_fails_the_build_and_writes_nothing(project, code, message, capsys):
    edit(project.source("01_means"), "answer = 42", f"answer = 42\n{code}")
    before = files(project)
    assert run(project, "build", "01") == 1
    error = capsys.readouterr().err
    assert "notebooks/en/01_means.ipynb cell what-a-token-is-2: " in error
    assert message in error
    assert files(project) == before


def test_error_in_one_lesson_does_not_stop_others(project, capsys):
    edit(project.source("01_means"), "answer = 42", "answer = 1 / 0")
    edit(project.source("02_pictures"), "# 02 图片", "# 02 图")
    assert run(project, "build") == 1
    assert "01_means.ipynb cell what-a-token-is-2: the cell failed" in capsys.readouterr().err
    assert cells(project, "zh", "02_pictures")["top-1"].source == "# 02 图"


def test_lesson_runs_in_the_folder_of_its_notebook(project):
    edit(project.source("01_means"), "answer = 42", "import os\n\nanswer = os.path.relpath(os.getcwd(), '../..')")
    assert run(project, "build", "01") == 0
    assert cells(project, "zh")["what-a-token-is-3"].outputs[0].data["text/plain"] == "'notebooks/zh'"


def test_no_execute_keeps_outputs_of_unchanged_code(project):
    edit(project.source("01_means"), "一个**词元**", "一个 **词元**")
    edit(project.source("01_means"), "answer = 42", "answer = 43")
    assert run(project, "build", "01", "--no-execute") == 0
    by_id = cells(project)
    assert "一个 **词元**" in by_id["what-a-token-is-1"].source
    assert by_id["top-2"].outputs[0].text == "3.0\n"
    assert by_id["what-a-token-is-2"].execution_count is None
    assert any("cell what-a-token-is-2: expected execution count" in problem for problem in found(project))


@pytest.mark.parametrize(
    ("cell", "change", "message"),
    [
        ("what-a-token-is-1", lambda cell: cell.update(source="oops"), "differs from its source (edited by hand"),
        ("top-2", lambda cell: cell.update(source="print(3)"), "differs from its source (edited by hand"),
        ("setup", lambda cell: cell.update(source="begin"), "differs from its source (edited by hand"),
        ("what-a-token-is-2", lambda cell: cell.metadata.update(scrolled=True), "differs from its source"),
        ("what-a-token-is-2", lambda cell: cell.metadata.tags.append("slow"), "differs from its source"),
        ("what-a-token-is-3", lambda cell: cell.update(execution_count=9), "expected execution count 4, got 9"),
        ("top-2", lambda cell: cell.update(execution_count=None), "expected execution count 2, got None"),
        ("top-2", lambda cell: cell.update(id="abc"), "expected cell top-2 of the source, got abc"),
        ("top-2", lambda cell: cell.outputs[0].update(text="4.0\n"), "numbers only in en: 3.0; only in zh: 4.0"),
        ("what-a-token-is-3", lambda cell: cell.update(outputs=[]), "numbers only in en: 42; only in zh: none"),
    ],
)  # fmt: skip
def test_check_reports_hand_edited_notebooks(project, cell, change, message):
    path = project.notebook("zh", "01_means")
    built = notebook.read(path)
    change(next(c for c in built.cells if c.id == cell))
    notebook.write(built, path)
    problems = found(project)
    assert any(message in problem and problem.startswith("notebooks/zh/01_means.ipynb cell ") for problem in problems)


def test_check_continues_after_an_unreadable_lesson(project):
    edit(project.source("01_means"), 'tags=["solution"]', 'tags=["oops"]')
    edit(project.source("02_pictures"), "# 02 图片", "# 02 图片,画")
    first, second, *_ = found(project)
    assert "01_means.py:35: unknown tag oops" in first
    assert "02_pictures.py:1 cell top-1: zh: half-width punctuation" in second


def test_check_reports_another_kind_of_output(project):
    path = project.notebook("zh", "01_means")
    built = notebook.read(path)
    cell = next(c for c in built.cells if c.id == "what-a-token-is-3")
    cell.outputs = [nbformat.v4.new_output("stream", text="42")]
    notebook.write(built, path)
    assert "cell what-a-token-is-3: outputs differ" in found(project)[0]


def test_times_and_embedded_pictures_may_differ_between_languages(project):
    for language, took, picture in (("en", "1.25", "AB1+2/=="), ("zh", "3", "CD3456==")):
        path = project.notebook(language, "01_means")
        built = notebook.read(path)
        by_id = {cell.id: cell for cell in built.cells}
        by_id["top-2"].outputs[0]["text"] = f"3.0 in {took} ms\n"
        by_id["what-a-token-is-3"].outputs[0].data["text/html"] = f'<img src="data:image/png;base64,{picture}"> 42'
        notebook.write(built, path)
    assert found(project) == []


def test_looks_of_an_output_may_differ_between_languages():
    html = {"text/html": '<p style="margin:6px 0 0">3 of 5</p><p style="color:#123">7</p>'}
    assert output_texts(new_output("display_data", html)) == ["<p>3 of 5</p><p>7</p>"]


def test_check_reports_added_metadata(project):
    path = project.notebook("zh", "01_means")
    built = notebook.read(path)
    built.metadata["widgets"] = {}
    path.write_text(nbformat.writes(built), encoding="utf-8")
    assert "notebooks/zh/01_means.ipynb: expected the metadata of a fresh build" in found(project)[0]


def test_check_reports_notebooks_of_a_changed_source(project):
    edit(project.source("01_means"), "x = [1, 2, 6]", "x = [1, 2, 9]")
    assert [problem.split(":")[0] for problem in found(project)] == [
        "notebooks/en/01_means.ipynb cell top-2",
        "notebooks/zh/01_means.ipynb cell top-2",
    ]


def test_readmes_have_links_counts_and_table(project):
    colab = "https://colab.research.google.com/github/carol/demo/blob/main/notebooks"
    site = "https://carol.github.io/demo"
    chinese = project.readme("zh").read_text(encoding="utf-8")
    assert f"**[▶ 在浏览器里玩一玩]({site}/zh/index.html)** · " in chinese
    assert f"[在 Colab 中打开]({colab}/zh/00_start_here.ipynb)" in chinese
    assert (
        f"|  | **[01 两个均值]({site}/zh/01_means.html)**<br>"
        f"[Colab]({colab}/zh/01_means.ipynb) · [English](notebooks/en/01_means.ipynb) |"
    ) in chinese
    english = project.readme("en").read_text(encoding="utf-8")
    assert "\n0<!-- figures --> figures, 0<!-- exercises --> exercises. <!-- badges --> [![Tests](https" in english
    assert f"[02 Pictures]({site}/en/02_pictures.html)" in english
    assert english.endswith("<!-- lessons:end -->\n\nThe end.\n")


def test_check_reports_an_outdated_readme_or_missing_markers(project):
    edit(project.readme("en"), "[02 Pictures]", "[02 Photos]")
    edit(project.readme("zh"), "<!-- lessons:end -->", "")
    assert found(project) == [
        "README.md: links, counts or the table of lessons are out of date; run: build",
        "README.zh-CN.md: expected lessons between <!-- lessons:begin --> and <!-- lessons:end -->",
    ]


def test_address_updates_all_files_and_keeps_outputs(project):
    before = files(project)
    assert run(project, "address", "https://github.com/ada/lessons.git") == 0
    clone = b"git clone https://github.com/"  # other text of a page stays as it is
    for path, new in files(project).items():
        expected = before[path].replace(b"carol/demo", b"ada/lessons")
        expected = expected.replace(b"carol.github.io/demo", b"ada.github.io/lessons")
        expected = expected.replace(clone + b"ada/lessons", clone + b"carol/demo")
        assert new == (before[path] if "source" in path.parts else expected), path
    assert found(project) == []


def test_address_outside_github_has_no_colab_links(project, capsys):
    assert run(project, "address", "https://git.example.org/group/sub/demo") == 0
    assert "no Colab links: Colab only opens notebooks from github.com" in capsys.readouterr().out
    text = "".join(content.decode() for path, content in files(project).items() if "source" not in path.parts)
    assert "colab.research" not in text
    assert "git+https://git.example.org/group/sub/demo" in text
    assert "**[01 Two means](notebooks/en/01_means.ipynb)**<br>[中文](notebooks/zh/01_means.ipynb)" in text
    assert found(project) == []


def test_notebooks_without_an_address_install_nothing(project):
    with_address = files(project)
    edit(project.pyproject, 'Repository = "https://github.com/carol/demo"\n', "")
    assert run(project, "build", "--no-execute") == 0
    for path in project.root.glob("notebooks/*/*.ipynb"):
        assert not re.search(r"colab\.research|%pip|git\+|YOUR_NAME|\.invalid", path.read_text("utf-8"))
    lines = {
        "en": "Ask the person who shared the notebook to run `make address URL=…` and to send it to you again.",
        "zh": "请让分享笔记本的人先运行 `make address URL=…`，再重新发给你；",
    }
    for language, line in lines.items():
        source = cells(project, language)["setup"].source
        for there in ({"google.colab"}, set()):
            message = run_cell(source, there, project.root)
            assert line in message
            assert "\n" not in message
        assert run_cell(source, {"google.colab", "blocklab"}, project.root) == language  # the reader has installed it
    assert found(project) == []
    assert run(project, "address", "https://github.com/carol/demo") == 0
    assert files(project) == with_address


WHEEL = f"https://github.com/carol/demo/releases/download/v{__version__}/blocklab-{__version__}-py3-none-any.whl"
REPOSITORY = "git+https://github.com/carol/demo"
BESIDE = ("anywidget", "psygnal")


@pytest.mark.parametrize(
    ("there", "came"),
    [([WHEEL], [WHEEL]), ([REPOSITORY], [WHEEL, REPOSITORY]), ([], [WHEEL, REPOSITORY])],
    ids=["release", "no release", "no network"],
)
def test_colab_installs_the_release_or_the_main_branch(project, there, came):
    said = run_cell(cells(project, "en")["setup"].source, {"google.colab", *BESIDE}, project.root, there).splitlines()
    assert said[:-1] == [f'install -q --no-deps "{what}"' for what in came]
    assert said[-1] == "en" if there else said[-1].startswith("The package blocklab is not here.")


def test_colab_installs_each_missing_package_by_itself(project):
    source = install_code(Address("https://github.com/carol/demo"), "en", ["glassllm"])
    weights = "install -q --no-deps glassllm"
    assert run_cell(source, {"google.colab", "blocklab", *BESIDE}, project.root).splitlines() == [weights, "en"]
    said = run_cell(source, {"google.colab", *BESIDE, "glassllm"}, project.root, [WHEEL]).splitlines()
    assert said == [f'install -q --no-deps "{WHEEL}"', "en"]
    said = run_cell(source, {"google.colab", "blocklab"}, project.root).splitlines()
    assert said == [*(f"install -q --no-deps {name}" for name in BESIDE), weights, "en"]


def test_off_colab_uses_the_project_and_installs_nothing(project):
    source = cells(project, "zh")["setup"].source
    message = run_cell(source, set(), project.root, [WHEEL, REPOSITORY])
    assert message.startswith(
        "没有找到软件包 blocklab。请在新单元格里运行 %pip install git+https://github.com/carol/demo"
    )
    here = project.root / "lib" / "blocklab"
    here.mkdir(parents=True)
    assert run_cell(source, set(), project.root) == message  # a folder without a package
    (here / "__init__.py").touch()
    for there in (set(), {"blocklab"}, {"blocklab", "google.colab", *BESIDE}):  # also before an installed package
        assert run_cell(source, there, project.root) == f"zh {here.parent.resolve()}"


def run_cell(source: str, there: set[str], root: Path, installs: Sequence[str] = ()) -> str:
    """Run a set-up cell in a lesson's folder, with `there` importable and `installs` installable.

    Returns the pip commands, then the language it begins in, with the folder of the package, or the error.
    """
    program = "\n".join(
        [
            "import importlib.util, sys, types",
            "from importlib.machinery import ModuleSpec, PathFinder",
            f"there, installs, first = {there}, {list(installs)}, sys.path[0]",
            "sys.modules.update((name, types.ModuleType(name)) for name in there | {'blocklab', 'blocklab_course'})",
            "spec_of = lambda name: ModuleSpec(name, None, origin='here') if name in there else found(name)",
            "found = lambda name: PathFinder.find_spec(name, sys.path[:1])",
            "importlib.util.find_spec = spec_of",
            "def pip(line):",
            "    print(line)",
            "    there.update({'blocklab'} if any(what in line for what in installs) else ())",
            "says = lambda language: print(language, *[sys.path[0]] * (sys.path[0] != first))",
            "sys.modules['blocklab_course'].begin = says",
            "sys.excepthook = lambda kind, error, _: print(*error._render_traceback_(), sep='\\n')",
            re.sub(r"^( +)%pip (.*)$", r"\1pip(f'\2')", source, flags=re.MULTILINE),
        ]
    )
    folder = root / "notebooks" / "en"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", errors="replace", cwd=folder
    )
    return (done.stdout + done.stderr).strip()


@pytest.mark.parametrize("place", ["README.md", "notebooks/en/01_means.ipynb", "notebooks/zh/02_pictures.ipynb"])
def test_check_reports_links_with_another_address(project, place):
    path = project.root / place
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("github/carol/demo", "github/OTHER/demo"), encoding="utf-8")
    assert any(problem.startswith(place) for problem in found(project))


SETTINGS = Path(__file__).parents[1] / "notebooks"  # with them, nbval compares hidden outputs too


def run_lessons(project, *settings):
    arguments = ["--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command = [sys.executable, "-m", "pytest", *arguments, f"--rootdir={project.root}", *settings, "notebooks/zh"]
    return subprocess.run(command, cwd=project.root, capture_output=True, text=True)


def test_strict_nbval_accepts_what_was_built(project):
    done = run_lessons(project, SETTINGS)
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout


# Outputs that answer a prediction


@pytest.fixture
def predicted(project):
    """The project with a cell whose output answers a prediction."""
    edit(project.source("01_means"), "# %%\nx = [1", '# %% tags=["answer"]\nx = [1')
    assert run(project, "build", "01", "--no-execute") == 0
    return project


def test_answers_are_hidden_in_the_file_and_revealed_by_read(predicted):
    there = nbformat.read(predicted.notebook("zh", "01_means"), 4)
    [cell] = [cell for cell in there.cells if "answer" in cell.metadata.get("tags", ())]
    assert cell.outputs == []
    assert cell.metadata.blocklab.sealed[0].text == "3.0\n"
    assert cell.metadata.tags == ["answer", "nbval-ignore-output"]
    assert cells(predicted)[cell.id].outputs[0].text == "3.0\n"
    assert cells(predicted)[cell.id].metadata.tags == ["answer"]
    assert "blocklab" not in cells(predicted)[cell.id].metadata
    assert found(predicted) == []
    assert "3.0" not in prepare_copy(predicted.notebook("zh", "01_means").read_bytes()).decode()


def test_an_answer_that_a_reader_has_run_is_read_as_shown(predicted):
    path = predicted.notebook("zh", "01_means")
    edited = nbformat.read(path, 4)
    [cell] = [cell for cell in edited.cells if "blocklab" in cell.metadata]
    cell.outputs = [nbformat.v4.new_output("stream", text="run by the reader\n")]
    nbformat.write(edited, path)
    assert cells(predicted)[cell.id].outputs[0].text == "run by the reader\n"
    assert cells(predicted)[cell.id].metadata == {"tags": ["answer"]}
    assert run(predicted, "build", "01", "--no-execute") == 0
    there = {cell.id: cell for cell in nbformat.read(path, 4).cells}[cell.id]
    assert there.metadata.blocklab == {"sealed": cell.outputs}


def test_nbval_compares_a_run_with_hidden_outputs(predicted):
    edit(predicted.notebook("zh", "01_means"), '"3.0\\n"', '"4.0\\n"')
    done = run_lessons(predicted, SETTINGS)
    assert done.returncode == 1
    assert "1 failed, 8 passed" in done.stdout


@pytest.mark.parametrize("varies", [False, True])
def test_nbval_by_itself_ignores_hidden_outputs(predicted, varies):
    if varies:
        edit(predicted.source("01_means"), '"answer"', '"answer", "nbval-ignore-output"')
        assert run(predicted, "build", "01", "--no-execute") == 0
        assert found(predicted) == []
    edit(predicted.notebook("zh", "01_means"), '"3.0\\n"', '"4.0\\n"')
    done = run_lessons(predicted, *[SETTINGS] * varies)
    assert done.returncode == 0, done.stdout
    assert "9 passed" in done.stdout
