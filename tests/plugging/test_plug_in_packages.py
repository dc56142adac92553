"""A lesson that plugs a block in is given, on Colab, the weights of the network that holds the block."""

import inspect

import pytest

from blocklab.packages import OPTIONAL
from blocklab.plugging.networks import NETWORKS


def wanted_by(code):
    return {package.name for package in OPTIONAL if any(loader in code for loader in package.loaders)}


@pytest.mark.parametrize("block", NETWORKS)
def test_plugging_a_block_in_wants_what_its_network_loads(block):
    first_choice = "".join(map(inspect.getsource, NETWORKS[block][0].__mro__[:-1]))
    assert wanted_by(f"plug_in({block}=my_{block})") == wanted_by(first_choice) != set()
