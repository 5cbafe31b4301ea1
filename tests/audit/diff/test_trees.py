"""Config text as a tree."""

from __future__ import annotations

import pytest

from fabric.audit.diff.order import Tree, config_lines, indented, pruned

INDENTED = {
    "comments, blanks and ends of sections": (
        "! a comment\nvrf red\n vni 1\nexit-vrf\n!\n\nrouter bgp 1\n !\n address-family ipv4\n  x\n exit-address-family\n"
        "exit\nend\n",
        {"vrf red": {"vni 1": {}}, "router bgp 1": {"address-family ipv4": {"x": {}}}},
    ),
    "a section written twice": ("a\n  b\nc\na\n  d\n", {"a": {"b": {}, "d": {}}, "c": {}}),
    "two steps back": ("a\n  b\n    c\nd\n", {"a": {"b": {"c": {}}}, "d": {}}),
    "a banner keeps its blanks": ("banner login\n  two  words\nEOF\nb\n", {"banner login\n  two  words\nEOF": {}, "b": {}}),
    "a banner on one line": ("banner motd ^keep out^\nb\n", {"banner motd ^keep out^": {}, "b": {}}),
}


@pytest.mark.parametrize("name", INDENTED)
def test_indented(name: str) -> None:
    text, wanted = INDENTED[name]
    assert indented(text) == wanted


PRUNED: dict[str, tuple[Tree, Tree, Tree, Tree]] = {
    "what is alike goes": ({"a": {"b": {}}, "c": {}}, {"a": {"b": {}}, "d": {}}, {"c": {}}, {"d": {}}),
    "inside too": ({"a": {"b": {}, "c": {}}}, {"a": {"b": {}, "d": {}}}, {"a": {"c": {}}}, {"a": {"d": {}}}),
    "a section that is emptied stays": ({"a": {"b": {}}}, {"a": {}}, {"a": {"b": {}}}, {"a": {}}),
    "nothing": ({"a": {}}, {"a": {}}, {}, {}),
}


@pytest.mark.parametrize("name", PRUNED)
def test_pruned(name: str) -> None:
    old, new, left, right = PRUNED[name]
    assert pruned(old, new) == (left, right)


def test_lines_are_read_as_the_tree() -> None:
    tree: Tree = {"a": {"b": {"c": {}}, "d": {}}, "banner login\nx\nEOF": {}}
    assert list(config_lines(tree, " ")) == ["a", " b", "  c", " d", "banner login", "x", "EOF"]
    assert indented("\n".join(config_lines(tree))) == tree
