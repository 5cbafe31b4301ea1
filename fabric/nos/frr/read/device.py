"""Reads a Linux switch with FRR: frr.conf or the files of its daemons, /etc/network/interfaces, and what lies beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabric.model.facts import Facts, Located
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.conf import read_conf
from fabric.nos.frr.read.files import reader_of
from fabric.nos.frr.read.ifupdown import read_interfaces
from fabric.nos.frr.read.words import Device, unnumbered

IFUPDOWN = re.compile(r"^[ \t]*(?:auto|iface|source|allow-\w+) \S", re.MULTILINE)
ROUTING = re.compile(
    r"^(?:frr (?:version|defaults)|router \w+|route-map|ip prefix-list|service integrated-\S+|log syslog|interface)(?!\S)",
    re.MULTILINE,
)
PORTS_HEAD = "# This file describes the network interfaces"
NAME = re.compile(r"\s*(?:hostname )?([\w.-]+)[ \t]*\n")  # a concatenated file begins with the name of the switch


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch. Ports are read before routing, so that a port's place is where the kernel's file names it."""
    device = Device(Facts(name=name, nos="frr", files=tuple(files)))
    processes = Processes(device)
    parts = [part for file, text in files.items() for part in _parts(device.facts, file, text)]
    kernel = [(file, text) for kind, file, text in parts if kind == "interfaces"]
    for file, text in kernel:
        read_interfaces(device, file, text)
    for kind, file, text in parts:
        if kind == "frr":
            read_conf(device, processes, file, text)
        elif kind == "other" and (other := reader_of(file)):
            other(device.facts, file, text)
    processes.finish()
    device.tenants_apart()
    _settle(device)
    return device.finish()


def _parts(facts: Facts, file: str, text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, file, text); a concatenated file of Cumulus Linux has both kinds, and each line keeps its number."""
    if reader_of(file):
        yield "other", file, text
        return
    kernel, routing = IFUPDOWN.search(text), ROUTING.search(text)
    if not (routing and (PORTS_HEAD in text or (kernel and kernel.start() < routing.start()))):
        yield ("interfaces" if kernel and not routing else "frr"), file, text
        return
    end = routing.start()
    if first := NAME.match(text):
        facts.hostname = Located(first[1], text.count("\n", 0, first.start(1)) + 1, file)
    ports = text.find("# ports.conf")  # which says how ports are split, between the two
    start = first.end() if first else 0
    yield "interfaces", file, "\n" * text.count("\n", 0, start) + text[start : ports if start < ports < end else end]
    yield "frr", file, "\n" * text.count("\n", 0, end) + text[end:]


def _settle(device: Device) -> None:
    """What is only known when every file is read."""
    facts = device.facts
    facts.name = facts.hostname.value if facts.hostname else facts.name
    for process in facts.bgp.values():
        for neighbor in process.neighbors.values():
            unnumbered(facts, neighbor)
