"""A Chromium that loads one page and nothing else: for the browser tests and the handouts.

`python -m authoring.chromium` installs Playwright's if there is none, and says in one line if that fails.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No background requests. The sandbox needs rights that containers do not have.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


INSTALL = (sys.executable, "-m", "playwright", "install", "chromium")


def find_chromium() -> str | None:
    """The path of $CHROMIUM or of a Chromium on PATH; None means Playwright's own, which may be missing."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield $CHROMIUM, a Chromium on PATH, or playwright's own. Raises playwright's Error if there is none."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


def reason_without_chromium() -> str | None:
    """The reason why no Chromium can be started, or None."""
    try:
        with chromium():
            return None
    except Error as error:
        return f"no Chromium: {error.message.splitlines()[0]}"


def install_missing() -> None:
    """Install Playwright's Chromium if there is none. Prints in one line what follows if that fails."""
    reason = reason_without_chromium()
    if reason and not find_chromium():
        print("No Chromium found: running `playwright install chromium`.", flush=True)
        subprocess.run(INSTALL, stdin=subprocess.DEVNULL, capture_output=True)
        reason = reason_without_chromium()
    if reason:
        print(f"All tests that drive a browser will be skipped: {reason}")


if __name__ == "__main__":
    install_missing()
