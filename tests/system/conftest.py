"""The command as a user runs it: a process, files, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT

FABRIC = Path(sys.executable).parent / "fabric"
EXAMPLES = sorted((ROOT / "intent").glob("*.yaml"))

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def fabric() -> Run:
    """Runs `fabric` and returns its end; extra environment by keyword."""

    def run(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(FABRIC), *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory, fabric: Run) -> Path:
    """A folder with what every example generates."""
    folder = tmp_path_factory.mktemp("examples")
    done = fabric("generate", *EXAMPLES, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
