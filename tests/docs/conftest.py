"""The documentation site, built once, and a browser to open it in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import ROOT
from tests.deliver.report.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """`make site` into a folder. `--quiet` is not used: it hides warnings from `--strict` as well."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config), "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder. The build ends with an error for a dead link or anchor, and for a page that is not in the navigation."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found
