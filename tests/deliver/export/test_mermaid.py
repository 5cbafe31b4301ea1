"""The Mermaid flowchart: within GitHub's limits, every line in the grammar that Mermaid reads, labels nothing but text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric.deliver.export.graphs import mermaid
from tests import ROOT
from tests.deliver.export.diagrams import DESIGNS, hostile, made, of_intent, plan
from tests.goldens import golden

LABEL = r'"(?:[\w \-.,/()·×–…]|#\d+;|<br/>)*"'
LINES = {
    "frame": rf"subgraph (\w+)\[{LABEL}\]",
    "end": r"end()",
    "direction": r"direction LR()",
    "node": rf"(\w+)\[{LABEL}\]:::(?:core|spine|leaf|server|attached)",
    "line": rf"(\w+ ---\|{LABEL}\| \w+)",
    "look": r"classDef (\w+) (?:[a-z-]+:[#\w]+(?: \d)?,?)+",
    "class": r"class ([\w,]+) frame",
}


def parsed(text: str) -> dict[str, list[str]]:
    """What each line declares, by kind of line; fails on a line of no kind."""
    head = re.match(r'---\ntitle: ".*"\n---\nflowchart LR\n  accDescr: [\w ,.;#()/-]+\n', text)
    assert head
    found: dict[str, list[str]] = {kind: [] for kind in LINES}
    for line in text[head.end() :].splitlines():
        matches = [(kind, match[1]) for kind, pattern in LINES.items() if (match := re.fullmatch(pattern, line.strip()))]
        assert len(matches) == 1, line
        found[matches[0][0]].append(matches[0][1])
    return found


@pytest.mark.parametrize("design", DESIGNS)
def test_is_read_and_stays_within_the_limits(design: str, tmp_path: Path) -> None:
    text = mermaid(plan(design))
    assert text == mermaid(made(tmp_path, DESIGNS[design]))
    found = parsed(text)
    assert len(text) < 50_000
    assert 0 < len(found["line"]) < 500
    declared = found["node"] + found["frame"]
    assert len(declared) == len(set(declared))
    assert {end for line in found["line"] for end in re.findall(r"^\w+|\w+$", line)} <= set(found["node"])
    assert len(found["end"]) == len(found["frame"]) == len(found["direction"])


def test_fabrics_have_frames_of_their_own(tmp_path: Path) -> None:
    text = mermaid(made(tmp_path, DESIGNS["one-unit"], DESIGNS["collapsed"]))
    assert {"f1", "f2"} <= set(parsed(text)["frame"])


def test_hostile_names_are_written_as_code_points() -> None:
    text = mermaid(hostile(plan("mixed")))
    parsed(text)
    assert "<script" not in text
    assert "#60;script#62;alert(#39;1#39;)#60;/script#62;#38;#34;x" in text


@pytest.mark.parametrize("site", ["starter", "h100-4su"])
def test_golden(site: str) -> None:
    golden(f"export/pictures/{site}.mmd", mermaid(of_intent(f"{site}.yaml")))


def test_the_page_shows_what_the_code_writes() -> None:
    page = (ROOT / "docs" / "diagrams.md").read_text(encoding="utf-8")
    assert f"```mermaid\n{mermaid(of_intent('starter.yaml'))}```\n" in page
