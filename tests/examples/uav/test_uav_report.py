"""The report in a real browser: wide and narrow, light and dark, nothing asked of anybody."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.uav.report.page import SECTIONS
from tests.examples.uav.running import Ran

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
HOW = "install the package chromium of the system (apt-get install chromium) to look at the report"


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
        pytest.skip(HOW)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser of its own profile."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="a browser is driven by playwright: pip install playwright"
    )
    program = chromium()
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (390, "light"), (1280, "dark"), (390, "dark")]
)
def test_the_report_is_sound(ran: Ran, browser: Any, width: int, scheme: str) -> None:
    said: list[str] = []
    asked: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    place = (Path(ran.output) / "copy.html").resolve()
    place.write_text(ran.page, encoding="utf-8")
    page.goto(place.as_uri(), wait_until="load")
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [place.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("section h2").all_inner_texts() == list(SECTIONS.values())
    for name in SECTIONS:
        box = page.locator(f"section#{name}").bounding_box()
        assert box is not None
        assert box["height"] > 60
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    images = "[...document.querySelectorAll('.frame image')]"
    decoded = f"Promise.all({images}.map(i => fetchless(i))).then(all => all.every(Boolean))"
    helper = (
        "const fetchless = i => new Promise(done => { const p = new Image(); "
        "p.onload = () => done(p.naturalWidth > 0); p.onerror = () => done(false); "
        "p.src = i.getAttribute('href'); });"
    )
    assert page.evaluate(f"(() => {{ {helper} return {decoded}; }})()")
    assert page.locator(".frame .box").count() > 0
    _keys(page)
    _contrast(page)
    context.close()


def _keys(page: Any) -> None:
    """The keyboard reaches the skip link first, then the sections; a box of the legend hides."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") is not None
    label = page.locator(".frame .box").first.get_attribute("class").split()[1]
    page.locator(f"#show-{label}").focus()
    page.keyboard.press("Space")
    assert page.locator(f".box.{label}").first.is_hidden()
    page.keyboard.press("Space")
    named = page.locator("svg[role=img]")
    for at in range(named.count()):
        one = named.nth(at)
        name = one.get_attribute("aria-label") or one.get_attribute("aria-labelledby")
        assert name
    assert page.evaluate("document.documentElement.lang") == "en"


def _contrast(page: Any) -> None:
    """Text and its ground differ enough to be read (4.5, as WCAG has it)."""
    ratio = page.evaluate(
        """() => {
          const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          const all = ['body', 'figcaption', '.lede', 'nav a', '.took', '.paper', 'thead th'];
          return Math.min(...all.map(s => { const found = document.querySelector(s);
            const ink = light(getComputedStyle(found).color);
            return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); }));
        }"""
    )
    assert ratio >= 4.5
