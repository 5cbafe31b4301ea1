"""Chromium, driven without a network: one browser and one page a design, for all tests of the report's views."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ("background-networking", "component-update", "sync", "gpu", "extensions")
ARGUMENTS = ["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in QUIET)]
WIDE = {"width": 1440, "height": 900}


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser. Skips the test where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A report in a tab, and what it did that it should not."""

    page: Page
    path: Path
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, state: str = "") -> None:
        """Opens the page again in a state of its address, and waits until it is ready."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.path.as_uri()}{'#' + state if state else ''}")
        self.page.wait_for_selector("html[data-ready]")

    def turn(self, **state: str) -> None:
        """Changes the address of the open page, as a shared link does."""
        self.page.evaluate(
            """async (state) => {
                location.hash = new URLSearchParams(state).toString();
                await new Promise((done) => setTimeout(done)); // the page receives of it in a task of its own
                await new Promise((done) => setTimeout(done));
            }""",
            state,
        )

    def choose(self, name: str, value: str) -> None:
        """A radio button of the controls."""
        self.page.check(f"input[name={name}][value={value}]", force=True)

    @property
    def hash(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(
            self.page.evaluate("JSON.stringify(Object.fromEntries(new URLSearchParams(location.hash.slice(1))))")
        )
        return found

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.locator(selector).all_text_contents()
        return found


def opened(browser: Browser, path: Path, **options: Any) -> Opened:
    """A tab of its own: offline, its complaints kept."""
    still = {"color_scheme": "light", "reduced_motion": "reduce"}  # nothing moves while a test points at it
    context = browser.new_context(**{"viewport": WIDE, "offline": True, **still, **options})
    context.set_default_timeout(300_000)  # far: an answer that does not come, not one that comes late
    found = Opened(context.new_page(), path)
    found.page.on(
        "console", lambda messages: found.problems.append(messages.text) if messages.type in ("error", "warning") else None
    )
    found.page.on("pageerror", lambda error: found.problems.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    return found
