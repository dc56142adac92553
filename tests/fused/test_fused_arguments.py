"""Argument checks of the fused functions, and the fallback without a GPU or Triton. No kernel runs here."""

import ast
import inspect
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch._subclasses import FakeTensorMode

from blocklab import feed_forward, fused, normalization
from blocklab.fused import _validation

FOLDER = Path(fused.__file__).parent
PLAIN = {
    "layer_norm": normalization.layer_norm,
    "rms_norm": normalization.rms_norm,
    "swiglu": feed_forward.swiglu,
}
with_triton = pytest.mark.skipif(not fused.TRITON, reason="Triton has wheels for Linux alone")


@pytest.fixture
def cuda():
    """A factory of fake CUDA tensors without data."""
    with FakeTensorMode():
        yield lambda *shape, dtype=torch.float32: torch.empty(shape, dtype=dtype, device="cuda")


@with_triton
@pytest.mark.parametrize("name", PLAIN)
def test_signatures_match_the_plain_functions(name):
    assert inspect.signature(getattr(fused, name)) == inspect.signature(PLAIN[name])


def test_only_the_three_kernel_files_import_triton():
    def imports_triton(file):
        names = [n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Import)]
        return any(alias.name.startswith("triton") for node in names for alias in node.names)

    files = {file.stem: file for file in FOLDER.glob("*.py")}
    assert {stem for stem, file in files.items() if imports_triton(file)} == set(PLAIN)
    assert all(len(files[stem].read_text("utf-8").splitlines()) < 150 for stem in PLAIN)


# Without Triton, without a GPU


def test_imports_without_triton_and_names_what_is_missing():
    code = """
import sys, warnings
sys.modules["triton"] = None  # makes its import raise ModuleNotFoundError
import torch
from blocklab import feed_forward, fused
torch.cuda.is_available = lambda: True
assert not fused.available()
for function in (fused.layer_norm, fused.rms_norm, fused.swiglu):
    try:
        function(1, eps=2)
    except ImportError as error:
        print(error)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    assert fused.best("swiglu") is fused.best("swiglu") is feed_forward.swiglu
print(*(warning.message for warning in said))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines() == [
        "fused.layer_norm requires Triton: pip install triton",
        "fused.rms_norm requires Triton: pip install triton",
        "fused.swiglu requires Triton: pip install triton",
        "fused.swiglu requires Triton: falling back to the plain swiglu",
    ], run.stderr


def test_other_import_errors_are_raised():
    code = "import sys; sys.modules['blocklab.fused.tiles'] = None; import blocklab.fused"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert fused.TRITON is ("blocklab.fused.tiles" in run.stderr)


@with_triton
@pytest.mark.parametrize("there", [True, False])
def test_available_needs_a_gpu(there, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert fused.available() is there


@pytest.fixture
def forgotten():
    """Reset the warnings of `best`."""
    fused._warn_of_fallback.cache_clear()
    yield
    fused._warn_of_fallback.cache_clear()


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("name", PLAIN)
def test_best_falls_back_without_a_gpu_and_warns_once(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.warns(UserWarning, match=f"fused.{name} requires .*: falling back to the plain {name}"):
        assert fused.best(name) is PLAIN[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fused.best(name) is PLAIN[name]


@with_triton
@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("name", PLAIN)
def test_best_returns_the_fused_function_with_a_gpu(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert fused.best(name) is getattr(fused, name)


def test_best_rejects_unknown_names():
    with pytest.raises(ValueError, match="best: expected name to be one of layer_norm, rms_norm, swiglu, got 'gelu'"):
        fused.best("gelu")


# Arguments


@with_triton
def test_rejects_cpu_tensors(monkeypatch):
    x = torch.zeros(2, 8)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for call in (lambda: fused.layer_norm(x, (8,)), lambda: fused.rms_norm(x, (8,))):
        with pytest.raises(ValueError, match=r"expected x on a CUDA device, got it on cpu$"):
            call()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"expected gate on a CUDA device, got it on cpu; this machine has no"):
        fused.swiglu(x, x)


@with_triton
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_accepts_three_dtypes(dtype, cuda):
    x, weight = cuda(2, 3, 8, dtype=dtype), cuda(8)
    for y in (fused.layer_norm(x, (8,), weight, weight), fused.rms_norm(x, (8,), weight), fused.swiglu(x, x)):
        assert (y.shape, y.dtype, y.device) == (x.shape, dtype, x.device)
    assert fused.swiglu(x, cuda(2, 3, 8)).dtype == torch.float32


@with_triton
@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.complex64], ids=str)
def test_rejects_other_dtypes(dtype, cuda):
    x, weight, other = cuda(2, 8), cuda(8), cuda(8, dtype=dtype)
    message = f"to be float32, float16 or bfloat16, got {dtype}"
    for name, call in [
        ("x", lambda: fused.layer_norm(other, (8,))),
        ("bias", lambda: fused.layer_norm(x, (8,), weight, other)),
        ("weight", lambda: fused.rms_norm(x, (8,), other)),
        ("value", lambda: fused.swiglu(weight, other)),
    ]:
        with pytest.raises(TypeError, match=f"expected {name} {message}"):
            call()


@with_triton
def test_rejects_non_tensors(cuda):
    x = cuda(2, 8)
    with pytest.raises(TypeError, match=r"fused.layer_norm: expected x to be a tensor, got list"):
        fused.layer_norm([1.0], (1,))
    with pytest.raises(TypeError, match=r"fused.swiglu: expected value to be a tensor, got float"):
        fused.swiglu(x, 1.0)
    with pytest.raises(TypeError, match=r"fused.rms_norm: expected normalized_shape to be a tuple of integers, got 8"):
        fused.rms_norm(x, 8)
    with pytest.raises(TypeError, match=r"expected normalized_shape to be a tuple of integers, got \(8.0,\)"):
        fused.layer_norm(x, (8.0,))


@with_triton
def test_rejects_shapes_that_would_broadcast(cuda):
    x = cuda(2, 8)
    with pytest.raises(ValueError, match=r"fused.layer_norm: expected x to end with shape \(4,\), got \(2, 8\)"):
        fused.layer_norm(x, (4,))
    with pytest.raises(
        ValueError, match=r"fused.rms_norm: expected normalized_shape to have at least one axis, got \(\)"
    ):
        fused.rms_norm(x, ())
    with pytest.raises(ValueError, match=r"fused.rms_norm: expected weight to have shape \(8,\), got \(1,\)"):
        fused.rms_norm(x, (8,), cuda(1))
    with pytest.raises(ValueError, match=r"fused.layer_norm: expected bias to have shape \(2, 8\), got \(8,\)"):
        fused.layer_norm(x, (2, 8), None, cuda(8))
    with pytest.raises(ValueError, match=r"fused.swiglu: expected value to have shape \(2, 8\), got \(2, 1\)"):
        fused.swiglu(x, cuda(2, 1))


@with_triton
def test_accepts_widths_from_1_to_65536(cuda):
    for width in (1, _validation.WIDEST):
        assert fused.layer_norm(cuda(2, width), (width,)).shape == (2, width)
    assert fused.swiglu(cuda(2, 10**6), cuda(2, 10**6)).shape == (2, 10**6)
    for shape, width in [((0,), 0), ((65537,), 65537), ((2, 65536), 131072)]:
        with pytest.raises(ValueError, match=f"expected normalized_shape to have 1 to 65536 elements, got {width}"):
            fused.rms_norm(cuda(3, *shape), shape)


@with_triton
def test_rejects_tensors_on_two_devices(cuda):
    x = cuda(2, 8)
    elsewhere = torch.empty(8, device="cuda:1")
    with pytest.raises(ValueError, match=r"fused.layer_norm: expected bias on cuda:0 like x, got it on cuda:1"):
        fused.layer_norm(x, (8,), cuda(8), elsewhere)
    with pytest.raises(ValueError, match=r"expected weight on a CUDA device, got it on cpu"):
        fused.rms_norm(x, (8,), torch.empty(8))
