"""The command as a user runs it: a process, files, exit codes."""

from __future__ import annotations

import fcntl
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
    """A folder with what every example generates, made by the worker that is first to want it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "examples"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = folder.with_suffix(".new")
            done = fabric("generate", *EXAMPLES, "-o", made)
            assert done.returncode == 0, done.stderr
            made.rename(folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
