"""The same bytes on every run, whatever the hash seed, the locale, the folder one works in, or the number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT
from tests.system.conftest import Run, tree

SETTINGS = {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Kathmandu"}
CASES = {
    "hash seed, locale and time zone": (SETTINGS, []),
    "another hash seed, one process": ({"PYTHONHASHSEED": "4711"}, ["--jobs", "1"]),
    "three processes": ({"PYTHONHASHSEED": "2"}, ["--jobs", "3"]),
}
LARGE = "three processes"  # with the largest example: a thousand files, enough for processes to start


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_same_bytes(case: str, fabric: Run, examples: Path, tmp_path: Path) -> None:
    environment, flags = CASES[case]
    for name in ("lab", "b200-3tier" if case == LARGE else "h100-4su"):
        done = fabric("generate", ROOT / f"intent/{name}.yaml", "-o", tmp_path, *flags, **environment)
        assert done.returncode == 0, done.stderr
        assert tree(tmp_path / name) == tree(examples / name)


def test_from_another_folder(fabric: Run, examples: Path, tmp_path: Path) -> None:
    done = fabric("generate", ROOT / "intent/lab.yaml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out/lab") == tree(examples / "lab")


@pytest.mark.slow
def test_generated_is_up_to_date(fabric: Run) -> None:
    done = fabric("generate", "--check", *sorted((ROOT / "intent").glob("*.yaml")))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
