"""Reads the switch's end of its server cables out of an NVUE file of Cumulus Linux.

`qos roce` is a profile of the box, so its numbers stand here and only what differs from them stands in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import yaml

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.ends import Port, server_port, smallest, switch_end

Tree: TypeAlias = Mapping[str, Any]

PRIORITY, CNP = 3, 6  # of the profile; traffic classes have the same numbers
MEANT = (26, 48)  # DSCPs that the profile is for, though it takes their whole blocks of eight
WEIGHT = 50  # percent of its two weighted classes


def read_cumulus(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with such a description."""
    config = next(part["set"] for part in yaml.safe_load(text) if "set" in part)
    interfaces: Mapping[str, Tree] = config["interface"]
    bonds = {member: bond for bond in interfaces.values() for member in _at(bond, "bond", "member")}
    found: dict[tuple[str, str], SwitchEnd] = {}
    for name, port in interfaces.items():
        neighbour = server_port(port.get("description"))
        if neighbour and port.get("type") == "swp":
            found[neighbour] = _end(config, port, bonds.get(name, port))
    return found


def _end(config: Tree, port: Tree, bond: Tree) -> SwitchEnd:
    domains = _at(bond, "bridge", "domain").values()
    vlans = {str(vlan) for domain in domains for vlan in (domain.get("access"), *domain.get("vlan", ())) if vlan}
    networks = [own for own in config["interface"].values() if own.get("type") == "svi" and str(own.get("vlan")) in vlans]
    addresses = [*_at(bond, "ipv4", "address"), *_at(bond, "ipv6", "address"), *_at(bond, "ip", "address")]
    mtu = smallest(_at(own, "link").get("mtu") for own in (port, bond, *networks))
    return switch_end(_classes(_at(config, "qos"), _at(port, "qos")), mtu, addresses[0] if addresses else None)


def _classes(qos: Tree, port: Tree) -> Port:
    roce = _at(qos, "roce").get("state") == "enabled" or _at(qos, "roce", "enable").get("on", False)
    flow, queues = _profile(qos, port, "pfc"), _profile(qos, port, "egress-scheduler")
    own_map, queue_map = _profile(qos, port, "mapping"), _profile(qos, port, "egress-queue-mapping")
    paused = flow.get("switch-priority", {PRIORITY: {}} if roce else {})
    works = {flow.get("rx", "enable"), flow.get("tx", "enable")} == {"enable"}
    classes = {n: n if roce and n in (PRIORITY, CNP) else 0 for n in range(8)}  # traffic class of a priority
    classes |= {int(n): int(row["traffic-class"]) for n, row in _at(queue_map, "switch-priority").items()}
    modes: dict[int, Tree] = (
        {0: {"bw-percent": WEIGHT}, PRIORITY: {"bw-percent": WEIGHT}, CNP: {"mode": "strict"}} if roce else {}
    )
    modes |= {int(n): row for n, row in _at(queues, "traffic-class").items()}
    by_class = {n: modes.get(own, {}) for n, own in classes.items()}
    return Port(
        by_dscp=_by_dscp(own_map) if roce or own_map else {},
        lossless=tuple(sorted(map(int, paused))) if works else (),
        strict=frozenset(n for n, row in by_class.items() if row.get("mode") == "strict"),
        weights={n: int(row["bw-percent"]) for n, row in by_class.items() if "bw-percent" in row},
    )


def _by_dscp(mapping: Tree) -> dict[int, int]:
    """A class that takes several DSCPs is told by the one it is meant for; the lowest where that one is not in it."""
    if mapping.get("trust", "both") not in ("both", "l3"):
        return {}
    changed = {int(dscp): int(row["switch-priority"]) for dscp, row in _at(mapping, "dscp").items()}
    classes: dict[int, list[int]] = {}
    for dscp, priority in ({dscp: dscp // 8 for dscp in range(64)} | changed).items():
        classes.setdefault(priority, []).append(dscp)
    return {_meant(dscps): priority for priority, dscps in classes.items()}


def _meant(dscps: Iterable[int]) -> int:
    own = sorted(dscps)
    return next((dscp for dscp in MEANT if dscp in own), own[0])


def _profile(qos: Tree, port: Tree, kind: str) -> Tree:
    """What a port has of a kind: its own profile, else that of all ports."""
    return _at(qos, kind, _at(port, kind).get("profile", "default-global"))


def _at(tree: Tree, *path: str) -> Tree:
    for key in path:
        tree = tree.get(key) or {}
    return tree
