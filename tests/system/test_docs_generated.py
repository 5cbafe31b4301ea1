"""Pages that are made from the program are committed as it makes them now: `make docs` writes them again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fabric.audit.checks import Check
from fabric.audit.codes import entries
from tests import ROOT
from tools.docs import checks, cli, codes, intent, schemas, sonic_changes, values, without_effect

DOCS = ROOT / "docs"
PAGES = {
    "intent.md": intent.page,
    "cli.md": cli.page,
    "schemas.md": schemas.page,
    "checks.md": checks.page,
    "codes.md": codes.page,
    "without-effect.md": without_effect.page,
    "values.md": values.page,
    "targets/sonic-changes.md": sonic_changes.page,
}


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


def test_every_code_has_an_anchor() -> None:
    text = codes.page()
    anchors = [code.upper() for code in re.findall(r'^(?:### |\| <a id=")(fab\d+)', text, re.MULTILINE | re.IGNORECASE)]
    assert anchors == [entry.id for entry in entries()]
