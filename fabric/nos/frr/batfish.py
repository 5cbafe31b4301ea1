"""FRR on Linux as Batfish takes it: line for line, but for three things that its grammar does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fabric.nos.batfish import (
    BRIDGE,
    EVPN,
    FORMAT,
    FORWARD,
    NATIVE,
    UNNUMBERED,
    VRF,
    BatfishView,
    Copy,
    of_daemons,
    only,
    routing,
    start,
)
from fabric.nos.frr.read.words import LAYOUT
from fabric.nos.reading import read_device

# --- frr.conf -------------------------------------------------------------------------------------------------

_FILTER = re.compile(r"((?<! ) *neighbor \S+) prefix-list (\S+) (in|out)")
_ENDS = frozenset({"exit", "exit-vni"})


def readable(lines: Sequence[str]) -> list[str]:
    """The lines with their filters as route maps; `maps` makes these."""
    filters = dict(_filters(lines))
    made = (_FILTER.sub(r"\1 route-map LIST-\2 \3", line) if at in filters else line for at, line in enumerate(lines, 1))
    return ["!" if line.strip() in _ENDS else line for line in made]


def _filters(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, list) of every filter, but for those of IPv6, which Batfish passes over as a whole."""
    family = ""
    for number, line in enumerate(lines, 1):
        if "address-family" in line:
            family = line.strip()
        found = _FILTER.fullmatch(line)
        if found and not family.startswith("address-family ipv6"):
            yield number, found[2]


def maps(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The route maps that stand for prefix lists, each line with that of the filter it is for."""
    done: set[str] = set()
    for number, name in _filters(lines):
        if name not in done:
            done.add(name)
            yield f"route-map LIST-{name} permit 10", number
            yield f" match ip address prefix-list {name}", number


def without_tenants(lines: Sequence[str]) -> list[str]:
    """The default routing table alone: VRFs, their BGP and EVPN are blanked, for a reader that knows none of them."""
    kept: list[str] = []
    inside = ""
    for line in lines:
        if line and not line.startswith(" ") and line != "exit-vrf":
            tenant = line.startswith("vrf ") or (line.startswith("router bgp ") and " vrf " in line)
            inside = "block" if tenant else ""
        elif line.startswith(" address-family "):
            inside = inside or ("family" if "l2vpn" in line else "")
        ends = inside == "family" and line == " exit-address-family"
        kept.append("!" if inside else line)
        inside = "" if ends else inside
    return kept


# --- `interfaces` and `frr.conf` in one file ------------------------------------------------------------------

# Words of ifupdown2 that are not in Batfish's grammar: it would drop the rest of the interface.
_UNREAD = re.compile(
    r"\s+(arp-accept|bridge-stp|dns-nameservers|ipv6-addrgen|link-down|link-fec|post-up|vxlan-learning|vxlan-port)\s.*"
)
_BRIDGE = re.compile(r"\bbr0\b")  # the one bridge that Batfish knows is called `bridge`


def linux_copy(name: str, files: Mapping[str, str]) -> Copy:
    """`interfaces` and `frr.conf` of a Linux switch."""
    (interfaces, text), daemons = only(files, "interfaces"), of_daemons(files)
    writer = start(name, daemons[0][0])
    writer.extend(map(_interface_line, text.splitlines()), interfaces)
    for words, line, path in () if text else _stanzas(name, files):
        writer.add(words, line, path)
    routing(writer)
    for path, routes in daemons:
        lines = routes.splitlines()
        writer.extend(readable(lines), path)
        for text, line in maps(lines):
            writer.add(text, line, path)
    return writer.copy(f"configs/{name}.cfg", FORMAT, LAYOUT)


def _stanzas(name: str, files: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """`interfaces` of a device that has its addresses in FRR: without a stanza Batfish has no such interface."""
    for port in read_device(name, "frr", dict(files)).interfaces.values():
        yield f"auto {port.name}", port.line, port.file
        yield f"iface {port.name}" + (" inet loopback" if port.name == "lo" else ""), port.line, port.file
        for fact in port.addresses:
            yield f"    address {fact.value}", fact.line, fact.file
        if port.vrf:
            yield f"    vrf {port.vrf.value}", port.vrf.line, port.vrf.file


def _interface_line(line: str) -> str:
    return "#" if _UNREAD.fullmatch(line) else _BRIDGE.sub("bridge", line)


# --- The view -------------------------------------------------------------------------------------------------

DAEMONS = Path(__file__).with_name("batfish_daemons.yaml")  # of whatever has a frr.conf

VIEW = BatfishView(
    reads=lambda name, files: [linux_copy(name, files)],
    sees=frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD, NATIVE}),
    vrf="vrf-{}",
    allow=(DAEMONS, Path(__file__).with_name("batfish.yaml")),
    unread=("files of Linux besides interfaces and frr.conf", "it knows no sysctl, nftables or sshd"),
)
