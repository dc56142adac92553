"""A Chromium that loads one page and nothing else: for the browser tests, the screenshots and the handouts."""

import os
import shutil
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


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield $CHROMIUM, a Chromium on PATH, or playwright's own. Raises playwright's Error if there is none."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def reason_without_chromium() -> str | None:
    """The reason why no Chromium can be started, or None."""
    try:
        with chromium():
            return None
    except Error as error:
        return f"no Chromium: {error.message.splitlines()[0]}"
