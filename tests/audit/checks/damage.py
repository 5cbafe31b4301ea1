"""Damage to every line of a file, by its text alone: nothing here knows what a line means.

A line deleted, each of its words changed, a line swapped with its neighbor, a valid line of another kind added to a section.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.audit.checks.shapes import Switch

WORD = re.compile(r"[^\s{}\[\]\",;:]+")
REPEATED = 3  # lines of a file that differ in numbers alone and whose words are changed
NUMBER = re.compile(r"\d+")
DELETED, CHANGED, SWAPPED, ADDED_LINE = "deleted", "changed", "swapped", "added"
FOREIGN: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {  # network OS → (pattern of a section, lines valid in it)
    "eos": (
        (r"interface Ethernet\S+", ("ip access-group BLOCK in", "ip ospf cost 5", "no lldp transmit", "bfd echo")),
        (r"router bgp \d+", ("neighbor 192.0.2.99 remote-as 65099", "timers bgp 30 90", "distance bgp 200 200 200")),
        (r"   vrf \S+", ("redistribute static",)),
        (r"   address-family \S+.*", ("network 192.0.2.0/24",)),
        (r"", ("ip route 192.0.2.0/24 Null0", "no ip routing", "vlan 999", "ip access-list BLOCK")),
    ),
    "nxos": (
        (
            r"interface Ethernet\S+",
            ("ip access-group BLOCK in", "ip ospf cost 5", "no lldp transmit", "flowcontrol receive on"),
        ),
        (r"router bgp \d+", ("neighbor 192.0.2.99", "timers bgp 30 90")),
        (r"  vrf \S+", ("address-family ipv4 multicast",)),
        (r"  address-family \S+.*", ("network 192.0.2.0/24", "dampening")),
        (r"", ("ip route 192.0.2.0/24 Null0", "feature telnet", "vlan 999", "ip access-list BLOCK")),
    ),
    "frr": (
        (r"router bgp \S+.*", ("neighbor 192.0.2.99 remote-as 65099", "timers bgp 30 90", "bgp always-compare-med")),
        (r" address-family \S+.*", ("network 192.0.2.0/24",)),
        (r"", ("ip route 192.0.2.0/24 Null0", "no ip forwarding", "router ospf")),
    ),
    "sonic": (
        (r"router bgp \S+.*", ("neighbor 192.0.2.99 remote-as 65099", "timers bgp 30 90")),
        (r'  "PORT": \{', ('    "Ethernet900": {"mtu": "1500"},',)),
        (r"\{", ('  "STATIC_ROUTE": {"default|192.0.2.0/24": {"blackhole": "true"}},',)),
    ),
    "cumulus": (
        (r"    interface:", ("      swp60: {link: {state: {down: {}}}}",)),
        (r"    router:", ("      vrr: {enable: on}",)),
        (r"    vrf:", ("      leak: {evpn: {enable: on}}",)),
    ),
    "junos": (
        (r"interfaces \{", ("    et-9/9/9 { disable; }",)),
        (r"protocols \{", ("    ospf { area 0.0.0.0 { interface all; } }",)),
        (r"    bgp \{", ("        hold-time 30;",)),
        (r"routing-options \{", ("    static { route 192.0.2.0/24 discard; }",)),
        (r"        unit \d+ \{", ("            disable;",)),
    ),
}


@dataclass(frozen=True)
class Damage:
    """One damaged file. `line` is that of the original, from 0."""

    kind: str
    file: str
    line: int
    text: str
    what: str


def damages(switch: Switch) -> Iterator[Damage]:
    """Every line deleted, every word of it changed, every line swapped with the next of its level, lines added."""
    for file, text in switch.files.items():
        lines, shapes = text.split("\n"), Counter[str]()
        for at, line in enumerate(lines):
            if not line.strip():
                continue
            yield Damage(DELETED, file, at, "\n".join(lines[:at] + lines[at + 1 :]), line)
            shapes[shape := NUMBER.sub("#", line)] += 1
            for changed in _changed(line) if shapes[shape] <= REPEATED else ():
                yield Damage(CHANGED, file, at, "\n".join([*lines[:at], changed, *lines[at + 1 :]]), changed)
            after = lines[at + 1] if at + 1 < len(lines) else ""
            if after.strip() and _margin(after) == _margin(line) and after != line:
                yield Damage(SWAPPED, file, at, "\n".join([*lines[:at], after, line, *lines[at + 2 :]]), f"{line} | {after}")
        yield from _added(switch.nos, file, lines)


def _changed(line: str) -> Iterator[str]:
    """The line with each of its words changed in turn: a number is increased, a name gets a letter."""
    for match in WORD.finditer(line):
        word = match[0]
        last = max(NUMBER.finditer(word), key=re.Match.start, default=None)
        new = f"{word}x" if last is None else word[: last.start()] + str(int(last[0]) + 1) + word[last.end() :]
        yield line[: match.start()] + new + line[match.end() :]


def _added(nos: str, file: str, lines: list[str]) -> Iterator[Damage]:
    seen = set[str]()
    for at, line in enumerate(lines):
        for pattern, foreign in FOREIGN[nos]:
            if not pattern or pattern in seen or not re.fullmatch(pattern, line):
                continue
            seen.add(pattern)
            after = next((one for one in lines[at + 1 :] if one.strip()), "")
            for extra in foreign:
                margin = "" if extra[:1] == " " else " " * max(_margin(after), _margin(line) + 1)
                yield Damage(ADDED_LINE, file, at, "\n".join([*lines[: at + 1], margin + extra, *lines[at + 1 :]]), extra)
    top = next((foreign for pattern, foreign in FOREIGN[nos] if not pattern), ())
    for extra in top if any(line.startswith(("router bgp", "hostname")) for line in lines) else ():
        yield Damage(ADDED_LINE, file, len(lines), "\n".join([*lines, extra, ""]), extra)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())
