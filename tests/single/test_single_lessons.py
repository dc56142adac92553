"""Every bundle runs in an empty folder with only the needed packages installed: `make single`."""

from pathlib import Path

import pytest

from bare_python import bare_environment, run

ROOT = Path(__file__).parents[2]
BUILT = sorted(path.relative_to(ROOT / "notebooks") for path in ROOT.glob("notebooks/[ez][nh]/*.ipynb"))


@pytest.fixture(autouse=True, scope="session")
def bare(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in bare_environment(tmp_path_factory.mktemp("bare")).items():
            patch.setenv(name, value)
        yield


@pytest.mark.parametrize("lesson", BUILT, ids=Path.as_posix)
def test_bundle_runs_alone(lesson, tmp_path):
    assert run(ROOT / "single" / lesson, tmp_path) == []
