"""Pages that are made from the program are committed as it makes them now: `make docs` writes them again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fabric.checks import Check
from tests import ROOT
from tools.docs import checks, intent

DOCS = ROOT / "docs"
PAGES = {"intent.md": intent.page, "checks.md": checks.page}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


def shipped(kind: type[Check]) -> Iterator[str]:
    """Ids of the checks below a class."""
    for own in kind.__subclasses__():
        if own.id and own.__module__.startswith("fabric."):
            yield own.id
        yield from shipped(own)


def test_every_check_has_a_row_and_an_entry() -> None:
    text = checks.page()
    ids = sorted(shipped(Check))
    assert sorted(re.findall(r"^\| \[(FAB\d+)\]\(#fab\d+\) \|", text, re.MULTILINE)) == ids
    assert sorted(re.findall(r"^### (FAB\d+)$", text, re.MULTILINE)) == ids
