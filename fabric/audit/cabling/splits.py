"""Cages with a breakout other than planned, from the names of the reported ports."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabric.audit.cabling.planned import Planned
from fabric.audit.cabling.states import States
from fabric.audit.cabling.wires import Wires

Key = tuple[int, int]  # device and cage


@dataclass
class Splits:
    """The cages, each with the split it has and the planned links that cannot be right for it."""

    cages: dict[Key, tuple[int, set[int]]] = field(default_factory=dict)
    nodes: set[int] = field(default_factory=set)  # ports that should not be there

    @property
    def links(self) -> set[int]:
        return {link for _, links in self.cages.values() for link in links}


def splits(plan: Planned, wires: Wires, states: States) -> Splits:
    """Ports of a cabled cage that belong to another split, and planned ports that a device's list of ports lacks."""
    result = Splits()
    nodes = {*wires.reported, *(node for reported in wires.reported.values() for node in reported), *states.by_node}
    for node in sorted(nodes):
        extra = wires.extra(node)
        if extra is None or extra.slot is None:
            continue
        cage = plan.cages.get((extra.device, extra.slot.cage))
        if cage is not None and cage.split != extra.slot.split:
            result.nodes.add(node)
            _add(result, wires, (extra.device, extra.slot.cage), extra.slot.split, cage.ends)
    listed = {(plan.device[end], plan.cage[end]) for end in states.by_node if end < len(plan.device)}
    for key in sorted(listed - result.cages.keys()):
        cage = plan.cages.get(key)
        if cage is not None and any(end not in states.by_node for end in cage.ends):
            _add(result, wires, key, 0, tuple(end for end in cage.ends if end not in states.by_node))
    return result


def _add(found: Splits, wires: Wires, key: Key, split: int, ends: tuple[int, ...]) -> None:
    """Links that are reported as planned stay to be judged: the first part may have the name of the whole cage."""
    _, links = found.cages.setdefault(key, (split, set()))
    links.update(end >> 1 for end in ends if wires.mate.get(end) != end ^ 1)
