import pytest
import torch._dynamo


@pytest.fixture(autouse=True, scope="module")
def _compiled_once():
    """A compiled solution is compiled anew for every kind of input; here the first two will do, the rest run as is."""
    with torch._dynamo.config.patch(recompile_limit=2):
        yield
