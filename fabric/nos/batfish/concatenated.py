"""A Linux box as Batfish reads it: the one file that `cl-support` of older Cumulus releases has, made of two.

Line 1 is the host name, then come `/etc/network/interfaces`, `ports.conf` and `frr.conf`, each behind a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabric.nos.batfish.copies import Copy, Writer, only
from fabric.nos.frr.batfish.text import maps, readable

FORMAT = "CUMULUS_CONCATENATED"
# Words of ifupdown2 that are not in Batfish's grammar: it would take the rest of the interface for nobody's.
_UNREAD = re.compile(
    r"\s+(arp-accept|bridge-stp|dns-nameservers|ipv6-addrgen|link-down|link-fec|post-up|vxlan-learning|vxlan-port)\s.*"
)
_BRIDGE = re.compile(r"\bbr0\b")  # the one bridge that Batfish knows is called `bridge`


def start(name: str, source: str) -> Writer:
    """A writer that stands where the interfaces begin."""
    writer = Writer(source)
    writer.add(name)
    writer.add("# This file describes the network interfaces")
    return writer


def routing(writer: Writer) -> None:
    """What stands between the interfaces and the routing."""
    writer.add("# ports.conf --")
    writer.add("frr version 10.0")


def linux_copy(name: str, files: Mapping[str, str]) -> Copy:
    """`interfaces` and `frr.conf` of a Linux box."""
    (interfaces, text), (frr, routes) = only(files, "interfaces"), only(files, "frr.conf")
    writer = start(name, frr)
    writer.extend(map(_interface_line, text.splitlines()), interfaces)
    routing(writer)
    lines = routes.splitlines()
    writer.extend(readable(lines), frr)
    for text, line in maps(lines):
        writer.add(text, line)
    return writer.copy(f"configs/{name}.cfg", FORMAT)


def _interface_line(line: str) -> str:
    return "#" if _UNREAD.fullmatch(line) else _BRIDGE.sub("bridge", line)
