"""A data file that ships is read as the library reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.base.formats import yaml
from tests import ROOT

ODD = """\
plain: [1, 0x10, 1.5, .inf, yes, ~, 2026-01-02, 12:30, text of
  two lines]
quoted: ["1", 'yes', "", '~']
? key
: {a: , c: [], d: {}}
block: |
  1
  2
"""
MARKED = ("a: &one [1]\nb: *one", "a: !!str 1", "a: &one {x: 1}\nb: {<<: *one, y: 2}", "a: &one 1", "a: ! 1")


@pytest.mark.parametrize("text", [ODD, "", "# empty\n", "1", "- 1\n- [2]", *MARKED])
def test_read_takes_a_value_as_load_does(text: str, tmp_path: Path) -> None:
    path = tmp_path / "data.yaml"
    path.write_text(text)
    assert repr(yaml.read(path)) == repr(yaml.load(text))


def test_every_shipped_file_reads_as_load_does() -> None:
    paths = sorted((ROOT / "fabric").rglob("*.yaml"))
    assert len(paths) > 20
    assert [path for path in paths if repr(yaml.read(path)) != repr(yaml.load(path.read_text()))] == []
