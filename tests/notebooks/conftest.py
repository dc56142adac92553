"""Settings for nbval: `pytest --nbval --nbval-current-env tests/notebooks notebooks/en notebooks/zh`."""

import pytest


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` chooses
def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = 60  # nbval waits 5 seconds for a line of output, too few on a busy machine
            if "slow" in item.cell.metadata.get("tags", []):
                item.add_marker("slow")
