"""Reads the switch's end of its server cables out of an NX-OS config.

A qos-group is a class of the box alone and its number is that of a queue; which priority it has on the wire is told only
for a class that pauses (`pause pfc-cos`). So nothing here tells the priority of congestion notifications.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.ends import BEST_EFFORT, Port, numbers, server_port, smallest, switch_end
from fabric.hosts.indented import Section, read_indented

QUEUES = re.compile(r"c-(?:out-)?8q-n?q(\d|-default)")  # the system's own classes

UNTOLD = -1  # the priority of a group that does not pause


def read_nxos(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with such a description."""
    config = read_indented(text, "!")
    interfaces = config.sections("interface")
    found: dict[tuple[str, str], SwitchEnd] = {}
    for name, port in interfaces.items():
        neighbour = server_port(port.last("description"))
        if neighbour and name.startswith("Ethernet") and "." not in name:
            found[neighbour] = _end(config, interfaces, port)
    return found


def _end(config: Section, interfaces: Mapping[str, Section], port: Section) -> SwitchEnd:
    bond = interfaces.get("port-channel" + (port.last("channel-group") or "").partition(" ")[0], Section())
    both = Section(parts=bond.parts + port.parts)
    address = next((port.last(head) for head in ("ip address", "ipv6 address") if port.last(head)), None)
    vlans = (interfaces.get(f"Vlan{vlan}", Section()) for vlan in _vlans(both))
    mtu = smallest(section.last("mtu") for section in (port, bond, *vlans))
    if not both.has("priority-flow-control mode on"):
        return switch_end(Port(), mtu, address)
    system = config.sections("system").get("qos", Section())
    groups, pauses = dict(_groups(config, both)), _pauses(config, system)
    shares, strict = _queues(config, both, system)
    known = {BEST_EFFORT: BEST_EFFORT} | pauses  # group → priority
    classes = Port(
        by_dscp={dscp: known.get(group, UNTOLD) for dscp, (_, group) in groups.items()},
        lossless=tuple(sorted(pauses.values())),
        weights={known[group]: share for group, share in shares.items() if group in known},
    )
    return replace(switch_end(classes, mtu, address), cnp_dscp=_notices(groups, strict))


def _vlans(port: Section) -> Iterator[int]:
    for head in ("switchport access vlan", "switchport trunk allowed vlan"):
        for text in port.each(head):
            yield from numbers(text)


def _groups(config: Section, port: Section) -> Iterator[tuple[int, tuple[str, int]]]:
    """DSCP → its class and qos-group; of two classes that match, the first counts, so it comes last here."""
    matches = {name.split()[-1]: section for name, section in config.sections("class-map type qos").items()}
    policy = config.sections("policy-map type qos").get(port.last("service-policy type qos input") or "", Section())
    for name, section in reversed(policy.sections("class").items()):
        group = section.last("set qos-group")
        for text in matches.get(name, Section()).each("match dscp"):
            yield from ((dscp, (name, int(group))) for dscp in numbers(text) if group is not None)


def _pauses(config: Section, system: Section) -> dict[int, int]:
    """qos-group → its priority on the wire."""
    policy = config.sections("policy-map type network-qos").get(system.last("service-policy type network-qos") or "")
    classes = _numbered(policy, "class type network-qos")
    return {group: int(cos) for group, section in classes if (cos := section.last("pause pfc-cos")) is not None}


def _queues(config: Section, port: Section, system: Section) -> tuple[dict[int, int], set[int]]:
    """Shares of the queues, and which of them are strict."""
    head = "service-policy type queuing output"
    policy = config.sections("policy-map type queuing").get(port.last(head) or system.last(head) or "")
    queues = dict(_numbered(policy, "class type queuing"))
    shares = {queue: section.last("bandwidth remaining percent") for queue, section in queues.items()}
    strict = {queue for queue, section in queues.items() if section.last("priority level")}
    return {queue: int(share) for queue, share in shares.items() if share}, strict


def _numbered(policy: Section | None, head: str) -> Iterator[tuple[int, Section]]:
    for name, section in (policy or Section()).sections(head).items():
        if match := QUEUES.fullmatch(name):
            yield int(match[1]) if match[1].isdecimal() else BEST_EFFORT, section


def _notices(groups: Mapping[int, tuple[str, int]], strict: set[int]) -> int | None:
    """DSCP of congestion notifications: alone in the strict queue, or told by its class's name."""
    found = {dscp: name for dscp, (name, group) in groups.items() if group in strict}
    named = [dscp for dscp, name in found.items() if len(found) == 1 or "CNP" in name.upper()]
    return named[0] if len(named) == 1 else None
