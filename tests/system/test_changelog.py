"""Fragments of the changelog: names, text, and the Unreleased section that is built from them. UPDATE_GOLDEN=1 writes it."""

from __future__ import annotations

import re
import tomllib

import pytest

from fabric import __version__
from tests import ROOT
from tests.goldens import same_as
from tools.docs import changelog

FOLDER = ROOT / "changelog.d"
FRAGMENTS = sorted(path for path in FOLDER.iterdir() if path.name not in ("README.md", "template.md.j2"))
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
NAME = re.compile(rf"{CONFIG['issue_pattern']}\.({'|'.join(row['directory'] for row in CONFIG['type'])})\.md")


def test_every_fragment_has_a_valid_name() -> None:
    assert [path.name for path in FRAGMENTS if not NAME.fullmatch(path.name)] == []


def test_every_fragment_is_one_entry() -> None:
    for path in FRAGMENTS:
        text = path.read_text(encoding="utf-8")
        assert re.match(r"[^\s*#-]", text), f"{path.name}: expected text without bullet or heading"
        assert "\n\n" not in text, f"{path.name}: expected one paragraph"
        assert text.endswith((".\n", ":\n")), f"{path.name}: expected a sentence and one line end"
        assert max(map(len, text.splitlines())) <= 130, f"{path.name}: expected lines of at most 130 characters"


def test_unreleased_is_built_from_the_fragments() -> None:
    pytest.importorskip("towncrier", reason="towncrier is not installed")
    same_as(ROOT / "CHANGELOG.md", changelog.page())


def test_every_released_version_has_a_date() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert [text for text in headings[1:] if not re.fullmatch(r"\d+\.\d+\.\d+ \(20\d\d-\d\d-\d\d\)", text)] == []
    assert headings[1].startswith(f"{__version__} ")
