"""Reads the switch's end of its server cables out of a Junos config, in its form of curly braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.braces import Tree, read_braces, value
from fabric.hosts.ends import Port, server_port, smallest, switch_end

OWN_QUEUES = {"best-effort": 0, "network-control": 7}  # forwarding classes that every box has
ETHERNET, TAG = 14, 4  # bytes of a frame's header: an interface's `mtu` counts them, that of a family does not


def read_junos(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with such a description."""
    config = read_braces(text)
    found: dict[tuple[str, str], SwitchEnd] = {}
    for name, port in config.get("interfaces", {}).items():
        neighbour = server_port(value(port, "description"))
        if neighbour and re.match(r"[gx]e-|et-", name):
            found[neighbour] = _end(config, name, port)
    return found


def _end(config: Tree, name: str, port: Tree) -> SwitchEnd:
    bond = value(port.get("ether-options", {}), "802.3ad") or name
    own = config["interfaces"].get(bond, {})
    families = [family for kind in ("inet", "inet6") for family in _sections(own.get("unit 0", {}), f"family {kind}")]
    addresses = [key.split()[1] for family in families for key in family if key.startswith("address ")]
    mtu = smallest([*_mtus(own), *(value(family, "mtu") for family in families), *_network_mtus(config, own)])
    return switch_end(_classes(config.get("class-of-service", {}), bond), mtu, addresses[0] if addresses else None)


def _mtus(port: Tree) -> Iterator[int]:
    """The frame of an interface without its headers."""
    mode = value(port.get("unit 0", {}).get("family ethernet-switching", {}), "interface-mode")
    tagged = mode == "trunk" or "flexible-vlan-tagging" in port or "vlan-tagging" in port
    if mtu := value(port, "mtu"):
        yield int(mtu) - ETHERNET - TAG * tagged


def _network_mtus(config: Tree, port: Tree) -> Iterator[str | None]:
    """Of the gateways in the VLANs of a layer-2 port; VLANs may stand in an instance."""
    switching = port.get("unit 0", {}).get("family ethernet-switching", {})
    members = (value(switching.get("vlan", {}), "members") or "").strip("[] ").split()
    for place in (config, *config.get("routing-instances", {}).values()):
        for name, vlan in place.get("vlans", {}).items():
            interface, _, unit = (value(vlan, "l3-interface") or "").partition(".")
            if name in members or value(vlan, "vlan-id") in members:
                gateway = config["interfaces"].get(interface, {}).get(f"unit {unit}", {})
                yield from (
                    value(family, "mtu") for family in (gateway.get("family inet", {}), gateway.get("family inet6", {}))
                )


def _classes(cos: Tree, name: str) -> Port:
    """A class is numbered by its priority where it is lossless, else by its queue."""
    port = cos.get("interfaces", {}).get(name, {})
    queues, priorities = OWN_QUEUES.copy(), dict[str, int]()
    for words in (key.split() for key in cos.get("forwarding-classes", {})):
        told = dict(pairwise(words))
        queues[words[1]] = int(told["queue-num"])
        if "no-loss" in words and "pfc-priority" in told:
            priorities[words[1]] = int(told["pfc-priority"])
    classifier = value(port.get("unit 0", {}).get("classifiers", {}), "dscp")
    by_dscp = dict(_code_points(cos.get("classifiers", {}).get(f"dscp {classifier}", {})))
    schedulers = {
        key.split()[1]: cos.get("schedulers", {}).get(key.split()[3], {})
        for key in cos.get("scheduler-maps", {}).get(value(port, "scheduler-map") or "", {})
    }
    profile = cos.get("congestion-notification-profile", {}).get(value(port, "congestion-notification-profile") or "", {})
    numbers = queues | priorities
    rates = {numbers[own]: value(scheduler, "transmit-rate percent") for own, scheduler in schedulers.items()}
    return Port(
        by_dscp={dscp: numbers[own] for dscp, own in by_dscp.items()},
        lossless=_paused(profile, {dscp: priorities[own] for dscp, own in by_dscp.items() if own in priorities}, priorities),
        strict=frozenset(numbers[own] for own, row in schedulers.items() if value(row, "priority") == "strict-high"),
        weights={number: int(rate) for number, rate in rates.items() if rate},
    )


def _paused(profile: Tree, sent: dict[int, int], priorities: dict[str, int]) -> tuple[int, ...]:
    """Priorities that are paused both ways: for DSCPs that come in, and where a queue obeys the other end."""
    inbound = (int(key.split()[1], 2) for key in profile.get("input", {}).get("dscp", {}) if key.startswith("code-point "))
    outbound = {int(key.split()[1], 2) for key in profile.get("output", {}).get("ieee-802.1", {})}
    return tuple(sorted({sent[dscp] for dscp in inbound if dscp in sent} & outbound))


def _code_points(classifier: Tree) -> Iterator[tuple[int, str]]:
    """DSCP → its forwarding class; `loss-priority low code-points [ 011010 011011 ]`."""
    for key, rows in classifier.items():
        for row in rows:
            points = row.partition("code-points ")[2].strip("[] ").split()
            yield from ((int(point, 2), key.split()[1]) for point in points if set(point) <= {"0", "1"})


def _sections(tree: Tree, name: str) -> Iterator[Tree]:
    if name in tree:
        yield tree[name]
