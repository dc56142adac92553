import pytest
import torch

from blocklab import language


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """As in a lesson: on tiny tensors two threads on a busy machine wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def english_again():
    yield
    language.choose("en")
