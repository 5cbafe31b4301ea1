"""Reads texts whose sections are told by curly braces: Junos."""

from __future__ import annotations

import re
from typing import TypeAlias

Tree: TypeAlias = dict[str, "Tree"]  # statement → what stands in its braces

TOKEN = re.compile(r'/\*.*?\*/|#[^\n]*|"(?:[^"\\]|\\.)*"|[{};]|[^\s{};"]+', re.DOTALL)


def read_braces(text: str) -> Tree:
    """Statement → its own statements; a leaf has none."""
    root: Tree = {}
    stack, words = [root], list[str]()
    for token in TOKEN.findall(text):
        if token.startswith(("/*", "#")):
            continue
        if token not in ("{", "}", ";"):
            words.append(token)
            continue
        own = stack[-1].setdefault(" ".join(words), {}) if words else stack[-1]
        words = []
        if token == "{":
            stack.append(own)
        elif token == "}":
            stack.pop()
    return root


def value(tree: Tree, key: str) -> str | None:
    """`mtu 9148` → 9148."""
    return next((statement[len(key) + 1 :] for statement in tree if statement.startswith(f"{key} ")), None)
