"""Without an optional package, the lessons that use it still run, and say how to install it."""

import ast
import sys
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import pytest

from blocklab import packages
from blocklab.lessons import LESSONS, begin
from blocklab.real_models import reading
from workshop.project import Project
from workshop.source import Code, parse, read_lesson

PROJECT = Project(Path(__file__).parents[2])
COMMANDS = {package.module: package.command for package in packages.OPTIONAL}
MODULES = {package.name: package.module for package in packages.OPTIONAL}
NEEDS = {lesson.name: [MODULES[name] for name in lesson.needs] for lesson in LESSONS if lesson.needs}
SAYS_IT = "if_installed", "Chat(", "plug_in("  # the last two go on with glassllm, and say what is missing
ALWAYS_THERE = {*sys.stdlib_module_names, "blocklab", "torch", "matplotlib", "ipywidgets", "numpy", "PIL"}


def code_cells(stem):
    return [cell for cell in read_lesson(PROJECT, stem).cells if isinstance(cell, Code)]


def output_of(source, space, capsys):
    """Run a cell; gives the lines that it prints, and those of the value of its last line."""
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
    """Packages look missing: they are neither found nor imported."""
    find = util.find_spec
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "find_spec", lambda name, *package: None if name in modules else find(name, *package))
        for module in [name for name in sys.modules if name.partition(".")[0] in modules] + list(modules):
            patch.setitem(sys.modules, module, None)  # so that importing it fails, too
        reading.say_missing.cache_clear()
        yield
    reading.say_missing.cache_clear()


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize(
    "one_at_a_time", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["all", "each"]
)
@pytest.mark.parametrize("stem", NEEDS)
def test_a_lesson_without_its_optional_packages_runs_and_says_what_to_install(stem, one_at_a_time, capsys):
    """Other slow cells, which train for long, are left out."""
    cells = [cell for cell in code_cells(stem) if "slow" not in cell.tags or any(say in cell.source for say in SAYS_IT)]
    for language, modules in [("en", [module]) for module in NEEDS[stem]] if one_at_a_time else [("zh", [*COMMANDS])]:
        with hidden(*modules):
            begin(language)
            space, named = {}, set()
            for cell in cells:
                lines = output_of(cell.source, space, capsys)
                said = {module for module in COMMANDS for line in lines if line.endswith(COMMANDS[module])}
                if "if_installed" in cell.source and said:
                    [package] = map(packages.optional, said)
                    wording = getattr(packages.SKIPPED, language)
                    assert wording.format(package=package.name, command=package.command) in lines, cell.id
                named |= said
        assert named == {*modules} if one_at_a_time else named


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()])
def test_optional_packages_are_imported_only_under_if_installed(stem):
    assert stem in NEEDS or not any("if_installed()" in cell.source for cell in code_cells(stem))
    outside = set()
    for cell in code_cells(stem):
        trees = [parse(cell.source)]
        for tree in trees:
            if isinstance(tree, ast.With) and ast.unparse(tree.items[0]) == "if_installed()":
                continue
            if isinstance(tree, ast.Import):
                outside |= {alias.name.partition(".")[0] for alias in tree.names}
            elif isinstance(tree, ast.ImportFrom):
                outside.add(tree.module.partition(".")[0])
            trees += ast.iter_child_nodes(tree)
    assert outside <= ALWAYS_THERE


# The message


@pytest.mark.parametrize(
    ("module", "command"),
    [
        *COMMANDS.items(),
        ("glassllm.model", "pip install glassllm"),  # what an emptied folder of it leaves
        ("scipy", "pip install scipy"),  # a package that another one needs
    ],
)
def test_one_line_says_how_to_install_a_missing_package(module, command, capsys):
    with packages.if_installed():
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    out = capsys.readouterr().out
    assert out.endswith(f"{command}\n")
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    "error",
    [ModuleNotFoundError("no module", name="blocklab.nowhere"), ModuleNotFoundError("by hand"), ValueError("other")],
    ids=repr,
)
def test_other_errors_are_raised_as_usual(error, capsys):
    with pytest.raises(type(error), match=str(error)), packages.if_installed():
        raise error
    assert capsys.readouterr().out == ""


def test_an_empty_folder_is_not_a_package(tmp_path, monkeypatch):
    (tmp_path / "glassllm" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "glassllm", raising=False)
    with pytest.raises(ModuleNotFoundError, match="pip install glassllm"):
        packages.want_package("load_glassllm", "glassllm")


@pytest.mark.usefixtures("lesson_undone")
def test_a_loader_reports_a_missing_package_in_the_readers_language():
    begin("zh")
    said = "需要软件包 glassllm，现在没有安装。请运行：pip install glassllm"
    with hidden("glassllm"), pytest.raises(ModuleNotFoundError, match=said):
        packages.want_package("load_glassllm", "glassllm")
