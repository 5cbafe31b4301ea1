"""Reads files of the open subnet manager: keys, lists of GUIDs, partitions. It knows nothing of our templates.

Sources: opensm(8) and `opensm -c` of release 3.3.23; doc/partition-config.txt of linux-rdma/opensm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.model.plan.subnets import FULL

_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")


@dataclass(slots=True)
class Member:
    """A GUID or a word such as ALL, and its membership as stated."""

    who: str
    kind: str
    line: int

    @property
    def guid(self) -> int:
        return int(self.who, 16) if _GUID.fullmatch(self.who) else 0


@dataclass(slots=True)
class StatedPartition:
    """One entry of a partition file; several of one key are one partition."""

    name: str
    key: int  # as written
    line: int
    flags: dict[str, str] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)

    @property
    def pkey(self) -> int:
        return self.key & ~FULL


def settings(text: str) -> dict[str, tuple[str, int]]:
    """Key → value and line; of a key that stands twice the last."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split(None, 1)
        if words:
            found[words[0]] = (words[1].strip() if len(words) > 1 else "", number)
    return found


def guid_list(text: str) -> dict[int, int]:
    """GUID → line."""
    found: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _GUID.match(line.split("#")[0].strip()):
            found.setdefault(int(match[0], 16), number)
    return found


def partitions(text: str) -> list[StatedPartition]:
    """`Name=0x8001, ipoib, sl=1, defmember=full : 0x…, 0x…=limited, ALL ;` over any number of lines."""
    return [found for number, entry in _entries(text) if (found := _partition(number, entry)) is not None]


def _entries(text: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Line of each entry and its lines, without comments."""
    start, lines = 0, list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        rest = line.split("#")[0]
        while rest.strip():
            before, end, rest = rest.partition(";")
            if before.strip():
                start = start or number
                lines.append((number, before))
            if end:
                yield start, lines
                start, lines = 0, []
    if lines:
        yield start, lines


def _partition(start: int, lines: list[tuple[int, str]]) -> StatedPartition | None:
    head, _, _ = " ".join(text for _, text in lines).partition(":")
    if ":" not in " ".join(text for _, text in lines):
        return None
    name, _, key = head.split(",")[0].partition("=")
    match = re.match(r"\s*(0[xX][0-9a-fA-F]+|\d+)", key)
    number = int(match[1], 0) if match else 0x7FFF if name.strip().lower() == "default" else 0
    found = StatedPartition(name.strip(), number, start)
    for flag in head.split(",")[1:]:
        word, _, value = flag.strip().partition("=")
        found.flags[word.strip().lower()] = value.strip()
    usual = found.flags.get("defmember", "limited")
    seen = False
    for line, text in lines:
        rest = text if seen else text.partition(":")[2] if ":" in text else ""
        seen = seen or ":" in text
        for item in rest.split(","):
            who, _, kind = item.strip().partition("=")
            if who.strip():
                found.members.append(Member(who.strip(), (kind.strip() or usual).lower(), line))
    return found
