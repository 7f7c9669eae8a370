"""A real browser for tests that look at pages: the system's Chromium, driven by playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
_HOW = "install the package chromium of the system (apt-get install chromium) to look at pages"


def chromium() -> str:
    """The system's Chromium; got from Debian's packages where that is allowed, else a skip."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for steps in ([install], [["apt-get", "update"], install]):
            try:
                done = [
                    subprocess.run(
                        step, capture_output=True, env=quiet, timeout=240, check=False
                    ).returncode
                    for step in steps
                ]
            except (OSError, subprocess.TimeoutExpired):
                break
            if not any(done):
                break
        found = shutil.which("chromium")
    if found is None:
        pytest.skip(_HOW)
    return found


@contextmanager
def opened() -> Iterator[Any]:
    """A browser of its own profile."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="a browser is driven by playwright: pip install playwright"
    )
    program = chromium()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
