import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def no_gradients():
    with torch.no_grad():
        yield
