"""A real browser without a window, for tests of pages."""

import contextlib
import os
import shutil
import subprocess
import sys

import pytest
from conftest import TOP
from weft_host import venv

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_browser():
    """The system's, or $WEFT_BROWSER; None: the one that Playwright brings."""
    for name in (os.environ.get("WEFT_BROWSER"), *BROWSERS):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


@contextlib.contextmanager
def launched():
    """Chromium, driven by Playwright."""
    venv.add("browser")
    from playwright.sync_api import Error, sync_playwright

    if find_browser() is None:  # `make test PYTEST=...` has not set it up
        subprocess.run([TOP / "tools/setup.sh", "test"])
    path = find_browser()
    if path is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=path)
        except Error as error:
            pytest.fail("no browser for the tests of pages: install Chromium (Debian: chromium; "
                        "elsewhere: build/venv/bin/playwright install --with-deps chromium), or set "
                        f"WEFT_BROWSER to the path of Chrome\n{error}", pytrace=False)
        yield opened
        opened.close()
