"""What all tests of the views share: a browser, and reports as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.deliver.report.browser import Opened, chromium, opened
from tests.deliver.report.designs import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")  # not longer: its event loop would be that blocks other tests
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The report of a design, made once."""
    folder = tmp_path_factory.mktemp("views")

    def made(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page_of(name), encoding="utf-8")
        return path

    return made


@pytest.fixture(scope="module")
def tabs(browser: Browser, report: Callable[[str], Path]) -> Callable[[str], Opened]:
    """The tab of a design, opened once; a test brings it to the state that it wants."""
    found: dict[str, Opened] = {}

    def tab(name: str) -> Opened:
        if name not in found:
            found[name] = opened(browser, report(name))
            found[name].go()
        return found[name]

    return tab
