"""Two configs as statements: what is missing, changed, extra, reordered, and what is silent."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from fabric.nos.statements.compare import compare
from fabric.nos.statements.rules import load_rules
from fabric.nos.statements.syntax import Syntax, indented, without_equal

RULES = r"""
rewrite:
  - {line: '(password) .*', to: '\1 *'}
  - {line: 'vlan (?P<each>\d+[,-][\d,-]+)', to: 'vlan \g<each>'}
  - {line: 'both', to: [first, second]}
  - {line: '(list \S+) (seq .*)', to: '\1 > \2'}
single: ['(mtu) ', '(interface \S+ / mtu) ']
ordered: ['policy \S+']
without_effect:
  - {line: 'lldp run', kind: default, reason: r, source: s}
  - {line: 'banner .*', kind: label, reason: r, source: s}
  - {line: 'version .*', kind: added, reason: r, source: s}
  - {line: 'time zone', kind: hidden, reason: r, source: s}
  - {line: 'line \S+', kind: added, empty: true, reason: r, source: s}
  - {line: 'interface \S+ / no shutdown', kind: hidden, beside: switchport, reason: r, source: s}
"""
# planned, running → what is reported: kind and path
CASES = {
    "the same in another order": ("a\nb\n", "b\na\n", []),
    "missing": ("a\nb\n", "a\n", [("missing", "b")]),
    "extra": ("a\n", "a\nb\n", [("extra", "b")]),
    "changed": ("mtu 1\n", "mtu 2\n", [("changed", "mtu 1")]),
    "in a section": ("interface 1\n  mtu 1\n", "interface 1\n  mtu 2\n", [("changed", "interface 1 / mtu 1")]),
    "a whole section": ("interface 1\n  mtu 1\n  x\n", "a\n", [("extra", "a"), ("missing", "interface 1")]),
    "secret": ("password a\n", "password b\n", []),
    "secret is missing": ("password a\n", "x\n", [("missing", "password *"), ("extra", "x")]),
    "secret that RANCID removed": ("password a\n", "!RANCID-CONTENT-TYPE: arista\n!\n!password <removed>\n", []),
    "secret that Oxidized hid": ("password a\n", "! Arista vEOS\npassword <secret hidden>\n", []),
    "range": ("vlan 1-3\n", "vlan 1\nvlan 2\nvlan 3\n", []),
    "one of a range": ("vlan 1-3\n", "vlan 1,3\n", [("missing", "vlan 2")]),
    "one line for two": ("first\nsecond\n", "both\n", []),
    "flat or in a section": ("list a\n  seq 1 x\n", "list a seq 1 x\n", []),
    "default": ("lldp run\nx\n", "x\n", []),
    "default that is written": ("x\n", "lldp run\nx\n", []),
    "added": ("x\n", "version 1\nx\n", []),
    "added but planned": ("version 1\nx\n", "x\n", [("missing", "version 1")]),
    "hidden": ("time zone\nx\n", "x\n", []),
    "hidden is no reason to add it": ("x\n", "time zone\nx\n", [("extra", "time zone")]),
    "empty section": ("x\n", "line vty\nx\n", []),
    "section that is not empty": ("x\n", "line vty\n  open\nx\n", [("extra", "line vty / open")]),
    "beside": ("interface 1\n  switchport\n  no shutdown\n", "interface 1\n  switchport\n", []),
    "not beside": ("interface 1\n  no shutdown\n", "interface 1\n", [("missing", "interface 1 / no shutdown")]),
    "order that matters": ("policy a\n  x\n  y\n", "policy a\n  y\n  x\n", [("reordered", "policy a / y")]),
}


@pytest.fixture
def syntax(tmp_path: Path) -> Syntax:
    rules = tmp_path / "statements.yaml"
    rules.write_text(RULES, encoding="utf-8")
    return Syntax(parts={"config": partial(indented)}, rules_file=rules)


@pytest.mark.parametrize("case", CASES)
def test_differences(case: str, syntax: Syntax) -> None:
    planned, running, expected = CASES[case]
    found = compare(syntax, syntax.read({"config": planned}), syntax.read({"config": running}))
    assert sorted((one.kind, syntax.joined(one.path)) for one in found) == sorted(expected)


def test_text_for_people_is_marked(syntax: Syntax) -> None:
    found = compare(syntax, syntax.read({"config": "banner a\n"}), syntax.read({"config": "banner b\n"}))
    assert [one.label for one in found] == [True, True]


def test_sections_of_both_sides_are_left_out() -> None:
    planned = "a\ninterface 1\n  mtu 1\ninterface 2\n  mtu 1\n"
    running = "interface 2\n  mtu 2\ninterface 1\n  mtu 1\na\n"
    assert without_equal(planned, running) == ("\n\n\ninterface 2\n  mtu 1", "interface 2\n  mtu 2\n\n\n")


def test_a_banner_is_one_section() -> None:
    planned, running = "x\nbanner login\nhello\nEOF\ny\n", "y\nbanner login\nother\nEOF\nx\n"
    left = without_equal(planned, running)
    assert [text.split() for text in left] == [["banner", "login", "hello", "EOF"], ["banner", "login", "other", "EOF"]]


@pytest.mark.parametrize(
    "text", ["without_effect: []\nmore: 1\n", "without_effect: [{line: a, kind: odd, reason: r, source: s}]\n"]
)
def test_rules_are_checked(text: str, tmp_path: Path) -> None:
    path = tmp_path / "statements.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="unknown k"):
        load_rules(path)
