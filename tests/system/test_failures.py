"""A test that fails says what differs: in a check's findings, in a helper's assert, and in a golden file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import ROOT

Run = Callable[..., str]
FOUNDATIONS = (
    "pyproject.toml",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/goldens.py",
    "tests/golden/bom",
    "tests/audit/__init__.py",
    "tests/audit/checks",
)
CHECK = """
from tests.audit.checks.files.helpers import SMALL, but, says

def test_check():
    broken = but(SMALL, {"leaf1.eos": {"neighbor 10.0.0.0 remote-as 65100": "neighbor 10.0.0.0 remote-as 65199"}})
    found = [line for number in range(250, 300) for line in says(f"FAB{number}", broken)]
    assert [line[:20] for line in found] == ["leaf2.nxos:1: error"]
"""
HELPER = """
from tests.audit.checks.files import wrong_helper

def test_helper():
    wrong_helper.equal({"switches": 10, "links": 64}, {"switches": 10, "links": 96})
"""
GOLDEN = """
from tests.goldens import GOLDEN, golden

def test_golden():
    text = (GOLDEN / "bom/starter.txt").read_text()
    golden("bom/starter.txt", text.replace("sn5600", "sn5610"))
"""


@pytest.fixture
def failure(tmp_path: Path) -> Run:
    """Runs a test, which fails, in a copy of what the suite rests on, and returns what pytest prints."""
    for name in FOUNDATIONS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    folder = tmp_path / "tests/audit/checks/files"
    (folder / "wrong_helper.py").write_text("def equal(one, other):\n    assert one == other\n", encoding="utf-8")

    def run(test: str, passes: bool = False) -> str:
        (folder / "test_wrong.py").write_text(test, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/audit/checks/files/test_wrong.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == int(not passes), done.stdout + done.stderr
        return done.stdout

    return run


def test_a_check_with_another_message(failure: Run) -> None:
    """The line of the check, below the line that the test expects."""
    report = failure(CHECK)
    assert "E         -     'leaf2.nxos:1: error',\n" in report
    assert "E         +     'leaf1.eos:20: error[',\n" in report


def test_an_assert_in_a_helper(failure: Run) -> None:
    report = failure(HELPER)
    assert "tests/audit/checks/files/wrong_helper.py:2: AssertionError" in report
    assert "E         {'links': 64} != {'links': 96}\n" in report


def test_a_golden_file(failure: Run) -> None:
    """Lines of the file and what came out instead, and how to rewrite it: no page of Python."""
    report = failure(GOLDEN)
    assert "--- tests/golden/bom/starter.txt\n+++ what came out\n" in report
    assert "\n-  switch  sn5600 " in report
    assert "\n+  switch  sn5610 " in report
    assert "UPDATE_GOLDEN=1 rewrites the file\n" in report
    assert "Traceback" not in report


def test_a_golden_file_is_rewritten(failure: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("UPDATE_GOLDEN", "1")
        assert "1 passed" in failure(GOLDEN, passes=True)
    assert "sn5610" in (tmp_path / "tests/golden/bom/starter.txt").read_text(encoding="utf-8")
