"""Fixtures that swap a block into a network, and skip the test if its weights are missing."""

import pytest

from blocklab_course.lessons.catalog import EXERCISES
from blocklab_course.model_swap import networks
from blocklab_course.model_swap.engine import swap

SHORT, ENOUGH = 1e9, 16e9  # bytes of memory: too little for SmolLM2, and enough


@pytest.fixture(scope="module")
def smollm2():
    """Load SmolLM2 once for all tests of a file."""
    try:
        model = networks.load_smollm2()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(networks, "load_smollm2", lambda: model)
        yield model


@pytest.fixture
def plug_into():
    """Swap a block into the network of this name. glassllm takes over if memory is short."""

    def plug_into(network, block, candidate, **options):
        got = swap(EXERCISES[block], candidate, free=SHORT if network == "glassllm" else ENOUGH, **options)
        if got.network != network and any("pip install" in line for line in (*got.notes, *got.messages)):
            pytest.skip(" ".join((*got.notes, *got.messages)))
        return got

    return plug_into
