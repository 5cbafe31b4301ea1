"""Junos as Batfish takes it: line for line, but for two things that it would read wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fabric.nos.batfish import ACL, FORWARD, MULTIPATH, VRF, BatfishView, Copy, first
from fabric.nos.reading.sections import Layout

FORMAT, FLAT = "JUNIPER", "FLAT_JUNIPER"
LAYOUT = Layout(comments="!#}", closing=frozenset(), banner=None)  # braces follow the indentation in what is rendered
_OPENS = re.compile(r"\s*route-filter-list (\S+) \{")
_GROUP = re.compile(r"\s*group \S+ \{")
_NAMED = re.compile(r"(\s*)route-filter-list (\S+);")


def junos_copy(name: str, source: str, text: str) -> Copy:
    """The one file of a Junos switch."""
    lines = _without_evpn(text.splitlines())
    lists = _lists(lines)
    flat = not any(line.rstrip().endswith("{") for line in lines)  # `set` statements
    return Copy(
        path=f"configs/{name}.cfg",
        lines=tuple(_written_out(line, lists) for line in lines),
        format=FLAT if flat else FORMAT,
        source=source,
        layout=LAYOUT,
    )


def _lists(lines: Sequence[str]) -> Mapping[str, list[str]]:
    """List → its entries, "10.0.0.0/15 orlonger"."""
    lists: dict[str, list[str]] = {}
    entries: list[str] | None = None
    for line in lines:
        opens = _OPENS.fullmatch(line)
        if opens:
            entries = lists.setdefault(opens[1], [])
        elif line.strip() == "}":
            entries = None
        elif entries is not None:
            entries.append(line.strip().rstrip(";"))
    return lists


def _written_out(line: str, lists: Mapping[str, list[str]]) -> str:
    named = _NAMED.fullmatch(line)
    if not named or named[2] not in lists:
        return line
    return named[1] + " ".join(f"route-filter {entry};" for entry in lists[named[2]])


def _without_evpn(lines: Sequence[str]) -> list[str]:
    """The lines with every BGP group of EVPN blanked."""
    kept, start = list(lines), -1
    for number, line in enumerate(lines):
        if _GROUP.fullmatch(line):
            start = number
        elif start >= 0 and line == _margin(lines[start]) + "}":
            if any(inner.strip() == "family evpn {" for inner in lines[start:number]):
                kept[start : number + 1] = [""] * (number + 1 - start)
            start = -1
    return kept


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


# --- The view -------------------------------------------------------------------------------------------------

VIEW = BatfishView(
    reads=lambda name, files: [junos_copy(name, path, text) for path, text in first(files)],
    sees=frozenset({VRF, ACL, FORWARD, MULTIPATH}),
    vrf="VRF-{}",
    loopback_is_vtep=True,
    comment="#",
    allow=(Path(__file__).with_name("batfish.yaml"),),
    unread=("EVPN sessions of Junos", "it takes them for sessions of IPv4 as well, so they were left out"),
)
