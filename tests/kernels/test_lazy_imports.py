"""`from blocklab import rms_norm`: the package exports every public name of the kernels and imports it lazily."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import blocklab
import blocklab_course

MODULES = [
    "normalization",
    "moving_average",
    "batch_statistics",
    "positional_encoding",
    "rope_scaling",
    "feed_forward",
    "attention",
    "kv_cache",
    "transformer",
    "norm_placement",
]
# functions that kernels and models share but that blocklab does not export
INTERNAL = {
    "ema_step",
    "check_masks",
    "pair_frequencies",
    "rollback_on_error",
    "check_layer_sizes",
    "check_sequence",
}
AMBIGUOUS = {"batch_statistics"}  # also the name of a module


def public(module):
    """The functions and classes that a module defines and does not begin with an underscore."""
    loaded = import_module(f"blocklab.{module}")
    members = inspect.getmembers(loaded, lambda x: inspect.isfunction(x) or inspect.isclass(x))
    return {name for name, x in members if x.__module__ == loaded.__name__ and not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_exported(module):
    names = public(module) - INTERNAL - AMBIGUOUS
    assert names
    for name in names:
        assert getattr(blocklab, name) is getattr(import_module(f"blocklab.{module}"), name)
        assert name in blocklab.__all__


def test_import_of_an_unknown_name_fails():
    with pytest.raises(ImportError, match="no_such_norm"):
        from blocklab import no_such_norm  # noqa: F401
    assert not hasattr(blocklab, "ema_step")


@pytest.mark.parametrize("package", [blocklab, blocklab_course])
def test_star_import_brings_every_public_name(package):
    names = {}
    exec(f"from {package.__name__} import *", names)
    assert names.keys() - {"__builtins__"} == set(package.__all__)
    assert {name: getattr(package, name) for name in package.__all__}.items() <= names.items()
    assert set(package.__all__) <= set(dir(package))
    assert len(package.__all__) == len(set(package.__all__))


def loaded(program):
    program += "; import sys; print(*sys.modules)"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def test_import_loads_no_kernel():
    assert not {"torch", "numpy", "blocklab.normalization"} & set(loaded("import blocklab"))


@pytest.mark.parametrize("names", ["rms_norm", "*"])
def test_import_of_kernels_loads_neither_triton_nor_matplotlib(names):
    there = set(loaded(f"from blocklab import {names}; rms_norm"))
    assert "blocklab.normalization" in there
    assert not {"triton", "matplotlib", "ipywidgets", "blocklab.fused", "blocklab_course.lessons"} & there
