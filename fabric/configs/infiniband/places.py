"""Which node of the plan a discovered node is: by its description, and from there along the planned cables."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from fabric.configs.infiniband.discovered import Discovered, FoundNode
from fabric.model.plan.subnets import Subnet

_PLAIN = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Located:
    """GUID → place in the subnet, and what is neither named nor placed."""

    nodes: dict[int, int] = field(default_factory=dict)
    unknown: list[FoundNode] = field(default_factory=list)


def locate(found: Discovered, subnet: Subnet) -> Located:
    """Names first. A node without a known name is that of the planned cable at a neighbor that is known, if most say so."""
    located = Located()
    names = _names(subnet)
    taken: set[int] = set()
    for guid, node in found.nodes.items():
        at = _named(node, names, subnet)
        if at is not None and at not in taken:
            located.nodes[guid] = at
            taken.add(at)
    _spread(found, subnet, located.nodes, taken)
    located.unknown = [node for guid, node in found.nodes.items() if guid not in located.nodes]
    return located


def _spread(found: Discovered, subnet: Subnet, known: dict[int, int], taken: set[int]) -> None:
    """From known nodes over planned cables, round after round: those that most neighbors agree on."""
    unnamed = {guid for guid in found.nodes if guid not in known}
    while unnamed:
        votes: dict[int, Counter[int]] = {}
        for (guid, port), (far, far_port) in found.peers.items():
            if guid not in unnamed or far not in known:
                continue
            planned = subnet.peers.get((known[far], far_port))
            fits = planned is not None and planned[0] not in taken and planned[1] == port
            if fits and planned is not None and found.nodes[guid].switch in (None, subnet.nodes[planned[0]].switch):
                votes.setdefault(guid, Counter())[planned[0]] += 1
        round_ = {}
        for guid in sorted(votes):
            (at, most), *others = votes[guid].most_common(2)
            if not others or others[0][1] < most:
                round_[guid] = at, most
        placed = _best(round_)
        if not placed:
            return
        known |= placed
        taken.update(placed.values())
        unnamed -= placed.keys()


def _best(round_: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Of several nodes for one place the one with the most cables there."""
    by_place: dict[int, tuple[int, int]] = {}
    for guid, (at, votes) in round_.items():
        if at not in by_place or votes > by_place[at][1]:
            by_place[at] = guid, votes
    return {guid: at for at, (guid, _) in by_place.items()}


def _names(subnet: Subnet) -> dict[str, int]:
    """Every name that a node may have, spelled alike."""
    names: dict[str, int] = {}
    for at, node in enumerate(subnet.nodes):
        names.setdefault(plain(node.name), at)
        if not node.switch:
            names.setdefault(plain(f"{node.device.name} {node.port}"), at)
    return names


def _named(node: FoundNode, names: dict[str, int], subnet: Subnet) -> int | None:
    """The place of a description: `leaf001`, `MF0;leaf001:MQM9700/U1`, `gpu0001 mlx5_0`, `gpu0001.example.net mlx5_0`."""
    for text in _spellings(node):
        at = names.get(plain(text))
        if at is not None and node.switch in (None, subnet.nodes[at].switch):
            return at
    return None


def _spellings(node: FoundNode) -> tuple[str, ...]:
    managed = re.fullmatch(r"MF0;([^:]+):.*", node.name.strip())
    host, _, rest = node.name.strip().partition(" ")
    return (node.name, managed[1] if managed else "", f"{host.partition('.')[0]} {rest}")


def plain(name: str) -> str:
    return _PLAIN.sub(" ", name.lower()).strip()
