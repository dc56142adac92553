"""`make test` tries to install a Chromium where there is none, and says if that fails."""

import os

import pytest
from playwright.sync_api import sync_playwright

from authoring import chromium


@pytest.fixture
def real():
    """The path of the Chromium of this machine."""
    if reason := chromium.reason_without_chromium():
        pytest.skip(reason)
    with sync_playwright() as playwright:
        return chromium.find_chromium() or playwright.chromium.executable_path


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder that is all of PATH, on a machine without a Chromium. Installing one runs the script `install` in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setattr(chromium, "INSTALL", (str(folder / "install"),))
    return folder


def write_program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)


def test_missing_chromium_is_installed(real, bare, capfd):
    write_program(bare / "downloaded", f'PATH={os.defpath} exec "{real}" "$@"')
    write_program(bare / "install", f"/bin/mv {bare}/downloaded {bare}/chromium")
    chromium.install_missing()
    assert "skipped" not in capfd.readouterr().out


def test_failed_installation_is_tried_once_and_told_in_one_line(bare, capfd):
    write_program(bare / "install", f"echo tried >> {bare}/log; echo a long trace; echo of calls >&2; exit 1")
    chromium.install_missing()
    out, err = capfd.readouterr()
    announced, told = out.splitlines()
    assert "playwright install chromium" in announced
    assert told.startswith("All tests that drive a browser will be skipped: no Chromium")
    assert err == ""
    assert (bare / "log").read_text() == "tried\n"


def test_chromium_that_does_not_start_is_not_replaced(bare, capfd):
    write_program(bare / "chromium", "exit 1")
    write_program(bare / "install", f"touch {bare}/log")
    chromium.install_missing()
    assert capfd.readouterr().out.startswith("All tests that drive a browser will be skipped: no Chromium")
    assert not (bare / "log").exists()
