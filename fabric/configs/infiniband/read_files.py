"""Reads files of the open subnet manager and of its tools: keys, lists of GUIDs, partitions, names, cables.

It knows nothing of our templates. Sources: opensm(8) and `opensm -c` of release 3.3.23; doc/partition-config.txt of
linux-rdma/opensm; ibnetdiscover(8) for names; the topology file of ibutils.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.model.plan.subnets import FULL

_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")
_NAME = re.compile(r'^\s*(0x[0-9a-fA-F]{1,16})\s+"([^"]*)"')
_CABLE = re.compile(r"^\s+P(\d+)\s+-(\d+)x-([0-9.]+)G->\s+(\S.*?)\s*$")
_ENTRY = re.compile(r"^[ \t]*[\w.-]+[ \t]*=[ \t]*0x[0-9a-fA-F]{1,4}\b[^:;]*:", re.MULTILINE)
_KEYS = frozenset((
    "cn_guid_file", "guid", "io_guid_file", "lmc", "m_key", "max_op_vls", "node_name_map_name", "part_enforce",
    "partition_config_file", "qos", "reassign_lids", "root_guid_file", "routing_engine", "sm_key", "sm_priority",
    "subnet_prefix", "sweep_interval",
))  # fmt: skip
SETTINGS, GUIDS, PARTITIONS, NAMES, TOPOLOGY = "settings", "guids", "partitions", "names", "topology"


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


@dataclass(frozen=True, slots=True)
class ListedCable:
    """A cable as a topology file lists it."""

    switch: str
    port: int
    far: str  # as written, without the type of its device
    speed: str  # `4x-100`
    line: int


def kind_of(text: str) -> str:
    """Which of these files a text is, by its content; "" for another one."""
    lines = [line for line in (line.split("#")[0].rstrip() for line in text.splitlines()) if line]
    if not lines:
        return ""
    if all(_NAME.match(line) for line in lines):
        return NAMES
    if all(_GUID.fullmatch(line.strip()) for line in lines):
        return GUIDS
    if any(_CABLE.match(line) for line in lines):
        return TOPOLOGY
    if _ENTRY.search("\n".join(lines)) and any(";" in line for line in lines):
        return PARTITIONS
    return SETTINGS if len(_KEYS & {line.split(None, 1)[0] for line in lines}) > 1 else ""


def names(text: str) -> list[tuple[int, str, int]]:
    """GUID, name and line."""
    found = ((number, _NAME.match(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(int(match[1], 16), match[2], number) for number, match in found if match]


def cables(text: str) -> list[ListedCable]:
    """Cables of all blocks: a line that is not indented names a switch, behind its type."""
    found, switch = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if (match := _CABLE.match(line)) and switch:
            far = match[4].split(None, 1)[-1]
            found.append(ListedCable(switch, int(match[1]), far, f"{match[2]}x-{match[3]}", number))
        elif line[:1].strip() and not line.startswith("#"):
            switch = line.split(None, 1)[-1].strip()
    return found


def switches(text: str) -> set[str]:
    """Switches of a topology file."""
    return {line.split(None, 1)[-1].strip() for line in text.splitlines() if line[:1].strip() and not line.startswith("#")}


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
    number = 0x7FFF if name.strip().lower() == "default" else 0
    if match:
        number = int(match[1], 16 if match[1][:2].lower() == "0x" else 10)
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
