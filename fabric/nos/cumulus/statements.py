"""Statements of NVUE: one startup.yaml, `nv config show`, or `nv set` commands. Keys and the value are the parts of a path.

Joined with blanks, a path is what `nv set` takes: `mtu: 9216` is `mtu 9216`, as a key with a value below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path as FilePath

from fabric.nos.cumulus.read.tree import names_of, read_tree
from fabric.nos.reading import Branch
from fabric.nos.statements.forms import Path, without_equal_blocks
from fabric.nos.statements.syntax import Syntax

PAIR = re.compile(r"""( *)('(?:[^']|'')*'|"[^"\\]*"|[^\s'"#&*!|>%@`{}\[\]?:-][^#{}\[\]]*?):(?: +(\S.*))?""")
PLAIN = re.compile(r"""'(?:[^']|'')*'|"[^"\\]*"|[^\s'"#&*!|>%@`{}\[\]?-][^#]*""")
MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")
EMPTY = frozenset({"{}", "''", '""', "null", "~"})


def statements(text: str) -> Iterator[tuple[Path, int]]:
    """Every statement without others below it. A text in an unusual layout is read as any YAML, which takes longer."""
    found = _block(text.splitlines())
    yield from found if found is not None else _below(read_tree(text)[0], ())


def without_equal(planned: str, running: str) -> tuple[str, str]:
    """Two texts without the interfaces and other objects that both have, in quotes or not."""
    return without_equal_blocks(planned, running, 6, lambda block: block.replace("'", ""))


def _block(rows: list[str]) -> list[tuple[Path, int]] | None:
    """Statements of a startup.yaml in block style with one key per line, None for another layout."""
    begin = next((number for number, row in enumerate(rows) if row.rstrip() == "- set:"), None)
    if begin is None:
        return None
    statements: list[tuple[Path, int]] = []
    sections: list[list[Path]] = [[()]]  # of each level: one, or all that a key with a range names
    margins = [-1]
    begun = begin + 1  # line of the innermost section
    for number, row in enumerate(rows[begin + 1 :], begin + 2):
        pair = _pair(row.rstrip())
        if pair is None:
            return None
        margin, key, value = pair
        if not key:
            continue
        if margins[-1] >= margin and begun:
            statements += [(path, begun) for path in sections[-1]]
        while margins[-1] >= margin:
            margins.pop()
            sections.pop()
        above = sections[-1]
        names = names_of(key, above[0][-1]) if ("-" in key or "," in key) and above[0] else (key,)
        paths = [(*path, name) for path in above for name in names]
        begun = 0 if value else number
        if value:
            statements += [((*path, value), number) for path in paths]
        margins.append(margin)
        sections.append(paths)
    return statements + [(path, begun) for path in sections[-1] if begun and path]


@lru_cache(maxsize=200_000)
def _pair(row: str) -> tuple[int, str, str] | None:
    """(margin, key, value) of a line, the value "" for none, the key "" for a comment; None for another layout."""
    if not row or row.lstrip()[0] == "#":
        return 0, "", ""
    match = PAIR.fullmatch(row)
    if match is None or not match[1]:
        return None
    value = match[3] or ""
    if value in EMPTY:
        value = ""
    elif value and not PLAIN.fullmatch(value):
        return None
    return len(match[1]), _word(_unquoted(match[2])), _word(_unquoted(value))


def _unquoted(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if text[:1] == '"' else text


def _word(text: str) -> str:
    """A MAC address in small letters, anything else as it is."""
    return text.lower() if len(text) == 17 and MAC.fullmatch(text) else text


def _below(branch: Branch, path: Path) -> Iterator[tuple[Path, int]]:
    for key, part in branch.parts.items():
        here = (*path, _word(key))
        if part.parts:
            yield from _below(part, here)
        else:
            yield here, part.line


SYNTAX = Syntax(
    parts={"startup.yaml": statements},
    rules_file=FilePath(__file__).with_name("statements.yaml"),
    separator=" ",
    verb="nv set",
    reduced={"startup.yaml": without_equal},
)
