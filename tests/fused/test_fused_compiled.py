"""The machine code of the kernels, compiled for an H100 (sm_90) without one.

Triton's compiler and NVIDIA's assembler come with Triton and need no GPU. The code shows that a kernel loads 16 bytes
at once, spills no registers and computes in float32, but not how fast it runs.
"""

import importlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

triton = pytest.importorskip("triton", reason="Triton has wheels for Linux alone")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource, make_backend  # noqa: E402
from triton.runtime.jit import create_function_from_signature  # noqa: E402

HOPPER = GPUTarget("cuda", 90, 32)
BACKEND = make_backend(HOPPER)
CUOBJDUMP = Path(triton.__file__).with_name("backends") / "nvidia/bin/cuobjdump"
PER_THREAD = 16  # numbers of a tile


@dataclass
class Launch:
    """A kernel and the arguments that the package launched it with."""

    kernel: object
    arguments: tuple
    options: dict

    @property
    def name(self):
        return self.kernel.fn.__name__

    def specialized(self):
        """The key under which Triton compiles and caches the kernel."""
        bind = create_function_from_signature(self.kernel.signature, self.kernel.params, BACKEND)
        bound, specialization, options = bind(*self.arguments, debug=False, **self.options)
        return self.kernel._pack_args(BACKEND, options, bound, specialization, options)

    def compiled(self):
        options, signature, constants, attributes = self.specialized()
        source = ASTSource(self.kernel, signature, constants, attributes)
        return triton.compile(source, target=HOPPER, options=options.__dict__)


@pytest.fixture
def launches(monkeypatch):
    """A function that runs forward and backward on the CPU and records launches instead of making them."""

    def of(name, width, dtype, rows=3, offset=0):
        module, noted = importlib.import_module(f"blocklab.fused.{name}"), []

        class Noting:
            def __init__(self, kernel):
                self.kernel = kernel

            def __getitem__(self, grid):
                return lambda *arguments, **options: noted.append(Launch(self.kernel, arguments, options))

        def tensor(*shape):
            numbers = torch.Size(shape).numel()
            return torch.empty(numbers + offset, dtype=dtype)[offset:].view(shape)

        with monkeypatch.context() as patch:
            for kernel, jitted in list(vars(module).items()):
                if isinstance(jitted, triton.JITFunction):
                    patch.setattr(module, kernel, Noting(jitted))
            x, weight, statistic = tensor(rows, width), tensor(width), torch.empty(rows)
            if name == "layer_norm":
                module.forward(x, weight, weight, 1e-5), module.backward(x, x, weight, statistic, statistic)
            elif name == "rms_norm":
                module.forward(x, weight, 1e-5), module.backward(x, x, weight, statistic)
            else:
                module.forward(x, x), module.backward(x, x, x)
        return noted

    return of


def loaded(ptx):
    """Bytes of each load, into registers or, asynchronously, into shared memory."""
    direct = re.findall(r"ld\.global\S*?(?:\.v(\d))?\.b(\d+)\s", ptx)
    asynchronous = re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^;]*?\], \[[^;]*?\], (0x\w+|\d+)", ptx)
    return [int(many or 1) * int(bits) // 8 for many, bits in direct] + [int(size, 0) for size in asynchronous]


def stack(compiled, folder):
    """Bytes of stack that a thread needs for spilled registers."""
    binary = folder / "kernel.cubin"
    binary.write_bytes(compiled.asm["cubin"])
    usage = subprocess.run([CUOBJDUMP, "-res-usage", binary], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"STACK:(\d+)", usage)[1])


# Powers of two, multiples of 8 that are none, and widths whose rows start anywhere; where the kernels change: 4096,
# 8192, 32768. Every width is compiled in bfloat16, the widest of each kind in the other types too.
ALIGNED = [1000, 4096, 8192, 11000, 32768, 65536]
UNALIGNED = [17, 8191, 12001, 20001, 32761, 65535]
CASES = [
    *((name, width, torch.bfloat16) for name in ("layer_norm", "rms_norm") for width in [*ALIGNED, *UNALIGNED]),
    *((name, width, torch.float32) for name in ("layer_norm", "rms_norm") for width in [8192, 32768]),
    *((name, width, torch.float16) for name in ("layer_norm", "rms_norm") for width in [8192, 32761]),
    *(("swiglu", width, dtype) for width in [1001, 11000] for dtype in (torch.bfloat16, torch.float32)),
]
MATRICES = {  # how many each kernel reads
    "_normalize": 1,
    "_average": 2,
    "_multiply": 2,
    ("layer_norm", "_differentiate"): 2,
    ("rms_norm", "_differentiate"): 2,
    ("swiglu", "_differentiate"): 3,
}


@pytest.mark.parametrize(("name", "width", "dtype"), CASES, ids=str)
def test_machine_code_vectorizes_without_spills_or_atomics(name, width, dtype, launches, tmp_path):
    for launch in launches(name, width, dtype):
        compiled = launch.compiled()
        ptx = compiled.asm["ptx"]
        assert stack(compiled, tmp_path) == 0, f"{launch.name} spills registers"
        assert ".f64" not in ptx, f"{launch.name} computes in float64"
        assert not re.search(r"\b(atom|red)\.", ptx), f"{launch.name} adds in an order that changes"
        assert "cvt.rz" not in ptx, f"{launch.name} cuts digits off"
        if width % 8 == 0:
            vectors = loaded(ptx).count(16)
            matrices = MATRICES.get(launch.name) or MATRICES[name, launch.name]
            assert vectors >= matrices * PER_THREAD * dtype.itemsize // 16, f"{launch.name} loads {loaded(ptx)}"
            assert not {1, 2, 8} & set(loaded(ptx)), f"{launch.name} loads {loaded(ptx)}"


@pytest.mark.parametrize(("name", "vectors"), [("layer_norm", 2), ("rms_norm", 1)])
@pytest.mark.parametrize("width", [1000, 4096, 32768])
def test_rows_that_fit_in_registers_are_read_once(name, vectors, width, launches):
    forward, *_ = launches(name, width, torch.bfloat16)
    threads = 32 * forward.options["num_warps"]
    x, parameter = (n * forward.options["BLOCK"] * 2 // 16 // threads for n in (forward.options["ROWS"], 1))
    assert sorted(loaded(forward.compiled().asm["ptx"])) == [16] * (x + vectors * parameter)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "swiglu"])
@pytest.mark.parametrize("width", [1000, 11000])
def test_row_offsets_use_64_bits(name, width, launches):
    # microsoft/dion #103. In 32 bits only counts of tiles are multiplied: by a number of rows or columns in a tile.
    for launch in launches(name, width, torch.bfloat16):
        products = re.findall(r"arith\.muli .*", launch.compiled().asm["ttir"])
        narrow = [int(n) for line in products for n in re.findall(r"%c(\d+)_i32\S* : i32", line)]
        assert set(narrow) <= {launch.options["ROWS"], launch.options["BLOCK"]}
        assert len(products) - len(narrow) == sum("i64" in line.partition(" : ")[2] for line in products) >= 1


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "swiglu"])
def test_the_number_of_rows_does_not_recompile(name, launches):
    # Liger-Kernel PR #988, sglang #23448: 90 ms for each new batch size
    for width in (1, 1000, 11000):
        each = [
            [str(launch.specialized()) for launch in launches(name, width, torch.bfloat16, rows)]
            for rows in (1, 2, 3, 16, 17, 1000)
        ]
        assert each == each[:1] * 6


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "swiglu"])
def test_unaligned_pointers_are_not_loaded_as_vectors(name, launches):
    # flashinfer #634: the same shapes, and an address that ends the process
    for launch in launches(name, 4096, torch.bfloat16, offset=1):
        sizes = set(loaded(launch.compiled().asm["ptx"]))
        assert 2 in sizes
        assert not {8, 16} & sizes
