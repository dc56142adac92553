"""The kernels run in Triton's interpreter, on the CPU. It has to be on before they are defined: `make fused`."""

import os

import pytest


@pytest.fixture(autouse=True)
def _interpreter():
    pytest.importorskip("triton", reason="Triton has wheels for Linux alone")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("wants TRITON_INTERPRET=1: make fused")
