"""A Linux switch with FRR as Batfish reads it: its `interfaces` and its `frr.conf` in one file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabric.nos.batfish.concatenated import FORMAT, routing, start
from fabric.nos.batfish.copies import Copy, only
from fabric.nos.frr.batfish.text import maps, readable
from fabric.nos.frr.read.line import LAYOUT

# Words of ifupdown2 that are not in Batfish's grammar: it would drop the rest of the interface.
_UNREAD = re.compile(
    r"\s+(arp-accept|bridge-stp|dns-nameservers|ipv6-addrgen|link-down|link-fec|post-up|vxlan-learning|vxlan-port)\s.*"
)
_BRIDGE = re.compile(r"\bbr0\b")  # the one bridge that Batfish knows is called `bridge`


def linux_copy(name: str, files: Mapping[str, str]) -> Copy:
    """`interfaces` and `frr.conf` of a Linux switch."""
    (interfaces, text), (frr, routes) = only(files, "interfaces"), only(files, "frr.conf")
    writer = start(name, frr)
    writer.extend(map(_interface_line, text.splitlines()), interfaces)
    routing(writer)
    lines = routes.splitlines()
    writer.extend(readable(lines), frr)
    for text, line in maps(lines):
        writer.add(text, line)
    return writer.copy(f"configs/{name}.cfg", FORMAT, LAYOUT)


def _interface_line(line: str) -> str:
    return "#" if _UNREAD.fullmatch(line) else _BRIDGE.sub("bridge", line)
