"""Lessons run without their optional packages, and say how to install them."""

import ast
import sys
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import pytest

from authoring.project import Project
from authoring.source import Code, parse, read_lesson
from blocklab_course import begin, dependencies
from blocklab_course.lessons.catalog import LESSONS
from blocklab_course.pretrained import trace

PROJECT = Project(Path(__file__).parents[2])
COMMANDS = {package.module: package.command for package in dependencies.OPTIONAL}
MODULES = {package.name: package.module for package in dependencies.OPTIONAL}
NEEDS = {lesson.name: [MODULES[name] for name in lesson.needs] for lesson in LESSONS if lesson.needs}
REPORTS_MISSING = "skip_if_missing", "Chat(", "plug_in("  # the last two use glassllm instead, and say so
ALWAYS_THERE = {
    *sys.stdlib_module_names,
    "blocklab",
    "blocklab_course",
    "torch",
    "matplotlib",
    "ipywidgets",
    "numpy",
    "PIL",
}


def code_cells(stem):
    return [cell for cell in read_lesson(PROJECT, stem).cells if isinstance(cell, Code)]


def output_of(source, space, capsys):
    """Run a cell. Returns the lines that it prints, and those of its last expression."""
    *lines, last = parse(source).body
    capsys.readouterr()
    exec(compile(ast.Module(lines, []), "cell", "exec"), space)
    if isinstance(last, ast.Expr):
        print(eval(compile(ast.Expression(last.value), "cell", "eval"), space))
    else:
        exec(compile(ast.Module([last], []), "cell", "exec"), space)
    return capsys.readouterr().out.splitlines()


@contextmanager
def hidden(*modules):
    """Make packages look missing."""
    find = util.find_spec
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "find_spec", lambda name, *package: None if name in modules else find(name, *package))
        for module in [name for name in sys.modules if name.partition(".")[0] in modules] + list(modules):
            patch.setitem(sys.modules, module, None)  # importing it fails
        trace.print_missing.cache_clear()
        yield
    trace.print_missing.cache_clear()


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize(
    "one_at_a_time", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["all", "each"]
)
@pytest.mark.parametrize("stem", NEEDS)
def test_lesson_runs_without_optional_packages(stem, one_at_a_time, capsys):
    """Slow cells that train for long are left out."""
    cells = [
        cell
        for cell in code_cells(stem)
        if "slow" not in cell.tags or any(call in cell.source for call in REPORTS_MISSING)
    ]
    for language, modules in [("en", [module]) for module in NEEDS[stem]] if one_at_a_time else [("zh", [*COMMANDS])]:
        with hidden(*modules):
            begin(language)
            space, named = {}, set()
            for cell in cells:
                lines = output_of(cell.source, space, capsys)
                reported = {module for module in COMMANDS for line in lines if line.endswith(COMMANDS[module])}
                if "skip_if_missing" in cell.source and reported:
                    [package] = map(dependencies.optional_package, reported)
                    wording = getattr(dependencies.SKIPPED, language)
                    assert wording.format(package=package.name, command=package.command) in lines, cell.id
                named |= reported
        assert named == {*modules} if one_at_a_time else named


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()])
def test_optional_packages_are_imported_only_under_skip_if_missing(stem):
    assert stem in NEEDS or not any("skip_if_missing()" in cell.source for cell in code_cells(stem))
    outside = set()
    for cell in code_cells(stem):
        trees = [parse(cell.source)]
        for tree in trees:
            if isinstance(tree, ast.With) and ast.unparse(tree.items[0]) == "skip_if_missing()":
                continue
            if isinstance(tree, ast.Import):
                outside |= {alias.name.partition(".")[0] for alias in tree.names}
            elif isinstance(tree, ast.ImportFrom):
                outside.add(tree.module.partition(".")[0])
            trees += ast.iter_child_nodes(tree)
    assert outside <= ALWAYS_THERE


@pytest.mark.parametrize(
    ("module", "command"),
    [
        *COMMANDS.items(),
        ("glassllm.model", "pip install glassllm"),  # from an empty folder of this name
        ("scipy", "pip install scipy"),  # a dependency of another package
    ],
)
def test_skip_if_missing_prints_install_command(module, command, capsys):
    with dependencies.skip_if_missing():
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    out = capsys.readouterr().out
    assert out.endswith(f"{command}\n")
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    "error",
    [ModuleNotFoundError("no module", name="blocklab.nowhere"), ModuleNotFoundError("by hand"), ValueError("other")],
    ids=repr,
)
def test_skip_if_missing_raises_other_errors(error, capsys):
    with pytest.raises(type(error), match=str(error)), dependencies.skip_if_missing():
        raise error
    assert capsys.readouterr().out == ""


def test_empty_folder_is_not_a_package(tmp_path, monkeypatch):
    (tmp_path / "glassllm" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "glassllm", raising=False)
    with pytest.raises(ModuleNotFoundError, match="pip install glassllm"):
        dependencies.package_folder("load_glassllm", "glassllm")


@pytest.mark.usefixtures("lesson_undone")
def test_package_folder_raises_in_the_chosen_language():
    begin("zh")
    message = "需要软件包 glassllm，现在没有安装。请运行：pip install glassllm"
    with hidden("glassllm"), pytest.raises(ModuleNotFoundError, match=message):
        dependencies.package_folder("load_glassllm", "glassllm")
