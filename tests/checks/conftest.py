import pytest
import torch._dynamo

from blocklab_course import i18n
from blocklab_course.checks import verdict


@pytest.fixture(autouse=True, scope="module")
def _limit_recompilation():
    """Compile a solution for the first two kinds of input only and run it uncompiled on the rest, which is faster."""
    with torch._dynamo.config.patch(recompile_limit=2):
        yield


@pytest.fixture(autouse=True)
def _reset_session():
    """Start each test without failures, and reset the language after it."""
    verdict._failures.clear()
    yield
    verdict._failures.clear()
    i18n.set_language("en")
