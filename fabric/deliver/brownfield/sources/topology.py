"""Cables that other files state: LLDP output, files of NVIDIA Air, Graphviz, containerlab and Batfish, CSV tables."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from fabric.audit.cabling.files import every_file, plain_id, read
from fabric.audit.cabling.planned import Hosts
from fabric.base.diagnostics import InputError, Place, Report
from fabric.base.formats.yaml import load
from fabric.base.reading import text_of

Wire = tuple[str, str, str, str]  # device and port of both ends
WHAT = "a topology file: JSON of NVIDIA Air, Graphviz, containerlab or Batfish, or a CSV table of cables"
CODE = "FAB009"
OUTSIDE = "outbound"  # end of a link of NVIDIA Air: a node with one serves the simulation, and is no part of the network
END = r'"?(?P<{0}>[\w.-]+)"?\s*:\s*"?(?P<{0}_port>[\w./:-]+)"?'
EDGE = re.compile(rf"{END.format('a')}\s*--\s*{END.format('b')}")
COMMENT = re.compile(r"^[ \t]*(?:#|//)[^\n]*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
NODE_WORDS, PORT_WORDS = frozenset({"node", "device", "switch", "host"}), frozenset({"interface", "port"})
NAMED = frozenset({"name"})  # of a column with the names of ports
RANGE = re.compile(r"(.*?)(\d+)-(?:\1)?(\d+)")  # ports of a cable with several links


def wires_of(paths: Sequence[Path]) -> list[Wire]:
    """Every cable of topology files. Raises InputError with the place of what cannot be read."""
    report, wires = Report(), list[Wire]()
    for path in every_file(paths, report, WHAT):
        text = text_of(path, WHAT)
        try:
            found = [wire for wire in _wires(path, text) if all(wire)]
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            line = getattr(getattr(error, "problem_mark", None), "line", getattr(error, "lineno", 0) - 1) + 1
            reason = getattr(error, "problem", None) or getattr(error, "msg", None) or str(error)
            report.error(CODE, Place(str(path), line, 1 if line else 0), f"cannot be read: {reason}", f"expected {WHAT}")
            continue
        if not found:
            report.error(CODE, Place(str(path)), "expected cables between ports, got none", f"expected {WHAT}")
        wires += found
    report.raise_errors()
    return list(dict.fromkeys(wires))


def _wires(path: Path, text: str) -> Iterator[Wire]:
    ending = path.suffix.lower()
    if ending in (".dot", ".gv"):
        for match in EDGE.finditer(COMMENT.sub("", text)):
            yield match["a"], match["a_port"], match["b"], match["b_port"]
    elif ending == ".csv":
        yield from _table(text)
    else:
        yield from _links(json.loads(text) if text.lstrip()[:1] in "{[" else load(text))


def _links(document: Any, depth: int = 0) -> Iterator[Wire]:
    """Links of `content.links` (Air), `topology.links` (containerlab) and `edges` (Batfish)."""
    if not isinstance(document, dict) or depth > 2:
        return
    for key in ("links", "edges"):
        links = [_ends(link) for link in document.get(key) or ()] if isinstance(document.get(key), list) else []
        simulated = {_end(end)[0] for link in links if OUTSIDE in link for end in link}
        for link in links:
            ends = [_end(one) for one in link]
            if len(ends) == 2 and not simulated & {device for device, _ in ends}:
                yield (*ends[0], *ends[1])
    for key in ("content", "topology"):
        yield from _links(document.get(key), depth + 1)


def _ends(link: Any) -> list[Any]:
    if isinstance(link, dict):
        if isinstance(link.get("endpoints"), list):
            return list(link["endpoints"])
        return [value for key, value in link.items() if key in ("node1", "node2", "a", "b", "z")]
    return list(link) if isinstance(link, list) else []


def _end(end: Any) -> tuple[str, str]:
    """Device and port; empty for an end outside of the network."""
    if isinstance(end, str):
        device, colon, port = end.partition(":")
        return (device, port) if colon else ("", "")
    if isinstance(end, dict):
        device = next((end[key] for key in ("node", "hostname", "device", "name") if isinstance(end.get(key), str)), "")
        port = next((end[key] for key in ("interface", "interfaceName", "port") if isinstance(end.get(key), str)), "")
        return device, port
    return "", ""


def _table(text: str) -> Iterator[Wire]:
    """Rows with a device and a port for each end: the first two columns of each kind, by their heads.

    Of several columns with the port of an end the one with its name in the network OS counts, where it has one.
    """
    rows = csv.reader(text.splitlines())
    head = next(rows, [])
    words = [frozenset(re.findall(r"[a-z0-9]+", name.lower())) for name in head]
    ports = [at for at, its in enumerate(words) if its & PORT_WORDS]
    sides = {words[at] - PORT_WORDS - NAMED for at in ports}
    devices = [at for at, its in enumerate(words) if its & NODE_WORDS and not its & PORT_WORDS and "type" not in its]
    devices = devices if len(devices) > 1 else [at for at, its in enumerate(words) if its and its in sides]
    if len(devices) < 2 or len(ports) < 2:
        got = ", ".join(head).strip().lower()[:200]
        raise ValueError(f"expected columns with the devices and ports of both ends, got {got}")
    of_end = [[at for at in ports if words[at] - PORT_WORDS - NAMED == words[end] - NODE_WORDS] for end in devices[:2]]
    ends = of_end if all(of_end) and of_end[0] != of_end[1] else [[at] for at in ports[:2]]
    ends = [sorted(own, key=lambda at: not words[at] & NAMED) for own in ends]
    for row in rows:
        if len(row) > max(*devices[:2], *(at for own in ends for at in own)):
            a, b = (row[at].strip() for at in devices[:2])
            first, second = (next((one for at in own if (one := row[at].strip())), "") for own in ends)
            yield from ((a, a_port, b, b_port) for a_port, b_port in _each(first, second))


def _each(a: str, b: str) -> list[tuple[str, str]]:
    """The links of a cable: of `swp1s0-swp1s1` to `eth1-eth2` both."""
    links = [_ports(text) for text in (a, b)]
    return list(zip(*links, strict=True)) if len(links[0]) == len(links[1]) else [(a, b)]


def _ports(text: str) -> list[str]:
    match = RANGE.fullmatch(text)
    return [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)] if match else [text]


def lldp_wires(paths: Sequence[Path], names: Sequence[str]) -> list[Wire]:
    """Neighbors that switches report, of the devices with these names. Raises InputError."""
    hosts = Hosts(names)
    collected = read(paths, {}, hosts)
    if errors := [one for one in collected.unknown if one.severity == "error"]:
        raise InputError(errors)
    return [
        (hosts.names[at], neighbor.port, system, neighbor.far_port)
        for at, data in collected.devices.items()
        for neighbor in data.neighbors
        if (system := neighbor.system or collected.chassis.get(plain_id(neighbor.chassis), ""))
    ]
