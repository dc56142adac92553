"""Run the kernels in Triton's interpreter on the CPU. It must be enabled before they are defined: `make fused`."""

import os

import pytest


@pytest.fixture(autouse=True)
def _interpreter():
    pytest.importorskip("triton", reason="Triton has wheels for Linux alone")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("needs TRITON_INTERPRET=1: run make fused")
