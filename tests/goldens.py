"""Files that a person reads: what comes out must be what they hold, byte for byte.

They lie in `tests/golden/`. After a change that is meant, `UPDATE_GOLDEN=1 pytest tests/...` rewrites those that the named
tests compare with; read the difference in git before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

from tests import ROOT

GOLDEN = ROOT / "tests" / "golden"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
SHOWN = 60  # lines of a difference


def golden(name: str, text: str) -> None:
    """`text` is what `tests/golden/NAME` holds; the difference otherwise."""
    same_as(GOLDEN / name, text)


def golden_folder(name: str, files: Mapping[str, str]) -> None:
    """These files, and no other, lie in `tests/golden/NAME`."""
    for path, text in files.items():
        golden(f"{name}/{path}", text)
    assert sorted(files) == sorted(path.name for path in (GOLDEN / name).iterdir())


def same_as(path: Path, text: str) -> None:
    """`text` is what the file holds: for a page outside `tests/golden/`, such as the README."""
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    held = path.read_bytes().decode() if path.exists() else ""
    if text != held:
        change = difference(path.relative_to(ROOT).as_posix(), held, text)
        pytest.fail(f"{change}\nUPDATE_GOLDEN=1 rewrites the file", pytrace=False)


def difference(name: str, held: str, text: str) -> str:
    """A unified diff from what the file holds to what came out."""
    lines = list(unified_diff(held.splitlines(), text.splitlines(), name, "what came out", lineterm=""))
    cut = [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + cut) or f"{name}: line ends differ"
