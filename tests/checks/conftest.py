import pytest
import torch
import torch._dynamo


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As in a lesson: on tiny tensors two threads on a busy machine wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True, scope="module")
def _compiled_once():
    """A compiled solution is compiled anew for every kind of input; here the first two will do, the rest run as is."""
    with torch._dynamo.config.patch(recompile_limit=2):
        yield
