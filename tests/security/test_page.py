"""The threat model: every line of docs/security.md is shown by a test that is there."""

from __future__ import annotations

import ast
import re

from fabric.configs.templating.functions import CHARACTERS, FILTER_NAMES, STEPS, WIDTH
from tests import ROOT

PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
FILES = ("intent", "template", "merge patch", "lock.yaml", "manifest.txt", "LLDP", "price", "measured", "running configs")


def rows() -> list[list[str]]:
    """Cells of the table of files."""
    table = PAGE.split("## Worst effect of each file\n")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_every_line_names_a_test_that_exists() -> None:
    assert len(rows()) > 25
    for file, _, _, shown in rows():
        named = re.fullmatch(r"`(tests/[a-z_/]+\.py)::(test_[a-z_0-9]+)`", shown.strip())
        assert named, file
        tree = ast.parse((ROOT / named[1]).read_text(encoding="utf-8"))
        assert named[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, shown


def test_every_kind_of_file_has_a_line() -> None:
    files = " ".join(row[0] for row in rows())
    assert [file for file in FILES if file not in files] == []


def test_the_figures_are_those_of_the_program() -> None:
    assert f"{STEPS:,} steps and {CHARACTERS:,} characters per file" in PAGE
    assert f"widths to {WIDTH:,}" in " ".join(PAGE.split())
    listed = PAGE.split("the filters ")[1].split(";")[0]
    assert set(re.findall(r"`([a-z]+)`", listed)) == FILTER_NAMES
