"""Cables that move, the jumpers of patch panels among them, and the order in which their ports become free."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabric.model.plan import SERVER, FabricPlan, Plan, nic_name

End = tuple[str, str]  # device, port


@dataclass(frozen=True, slots=True)
class Jumper:
    """A cable between two ports of a patch panel, in place of one across the floor."""

    panel: str
    lower: int  # port of the lower trunk, from 1
    old: int  # of the upper trunk before, 0 for a new link
    new: int  # after, 0 for a removed link

    def __str__(self) -> str:
        if not self.old:
            return f"at {self.panel}: port {self.lower} to {self.new}"
        if not self.new:
            return f"at {self.panel}: ports {self.lower} and {self.old} apart"
        return f"at {self.panel}: port {self.lower} from {self.old} to {self.new}"


@dataclass(frozen=True)
class Cable:
    """A link that is pulled, laid, or has one end moved."""

    lower: End
    old: End | None  # upper end before, None for a new link
    new: End | None  # upper end after, None for a removed link
    jumper: Jumper | None = None  # what is done at a patch panel where both trunks stay

    def __str__(self) -> str:
        return self._ends() + (f" ({self.jumper})" if self.jumper else "")

    def _ends(self) -> str:
        lower = f"{self.lower[0]} {self.lower[1]}"
        if self.old is None and self.new is not None:
            return f"lay   {lower} to {self.new[0]} {self.new[1]}"
        if self.new is None and self.old is not None:
            return f"pull  {lower} from {self.old[0]} {self.old[1]}"
        assert self.old is not None
        assert self.new is not None
        return f"move  {lower} from {self.old[0]} {self.old[1]} to {self.new[0]} {self.new[1]}"


# --- ends of links -----------------------------------------------------------------------------------------------


def ends_of(plan: FabricPlan, side: str = "a") -> list[End]:
    """Lower or upper end (`b`) of every link."""
    return [end_at(plan, side, at) for at in range(len(plan.links))]


def end_at(plan: FabricPlan, side: str, at: int) -> End:
    """Device and port at one end of a link."""
    columns = plan.links.lists()
    device = plan.devices[columns[side][at]]
    cage, sub, split = (columns[f"{side}_{part}"][at] for part in ("cage", "sub", "split"))
    if device.role == SERVER:
        group = next(group for group in plan.spec.groups if group.name == device.group)
        return device.name, nic_name(group, cage, sub)
    return device.name, f"port {cage}/{sub + 1}" if split > 1 else f"port {cage}"


# --- order --------------------------------------------------------------------------------------------------------

Owner = tuple[str, str, str]
"""What is drained for a cable: (DRAINED, a switch, ""), or (JUMPED, one uplink, all lower switches that have it)."""

JUMPED, DRAINED = "", "drained"
PORT = re.compile(r"port (\d+)(?:/(\d+))?")


def owner_of(cable: Cable) -> Owner:
    """Of a cable in service."""
    assert cable.old is not None
    if cable.jumper is not None and (port := PORT.fullmatch(cable.lower[1])):
        return JUMPED, f"{port[1]:>5}/{port[2] or 0:>3}", cable.jumper.panel.rpartition("panel")[0]
    return DRAINED, cable.old[0], ""


def in_order(moved: Sequence[Cable], busy: Busy) -> list[list[Owner]]:
    """Owners in the order of their drains: a port is free before a cable moves into it.

    Owners that wait for each other are drained together.
    """
    if not moved:
        return []
    import networkx

    waits = networkx.DiGraph()
    for cable in moved:
        waits.add_node(owner_of(cable))
        waits.add_edges_from(
            (owner, owner_of(cable)) for owner in busy.waits_at(cable.new, cable) if owner != owner_of(cable)
        )
    groups = networkx.condensation(waits)
    members = {group: sorted(groups.nodes[group]["members"]) for group in groups}
    return [members[group] for group in networkx.lexicographical_topological_sort(groups, key=members.__getitem__)]


@dataclass(frozen=True)
class Busy:
    """Ports in service that a moved link leaves or a pulled one frees, at both ends → who is drained for it.

    A cable frees whole cages. A jumper leaves its trunks in them, and frees ports.
    """

    cages: dict[End, set[Owner]]
    ports: dict[End, set[Owner]]
    jumped: dict[End, set[Owner]]  # cages of these ports

    @classmethod
    def of(cls, moved: Iterable[Cable]) -> Busy:
        busy = cls(defaultdict(set), defaultdict(set), defaultdict(set))
        for cable in moved:
            for end in (cable.lower, cable.old):
                assert end is not None
                for table, key in (
                    ((busy.ports, end), (busy.jumped, _whole(end))) if cable.jumper else ((busy.cages, _whole(end)),)
                ):
                    table[key].add(owner_of(cable))
        return busy

    def waits_at(self, end: End | None, cable: Cable) -> set[Owner]:
        """Who must be drained before a cable takes a port."""
        if end is None:
            return set()
        others = self.ports.get(end, set()) if cable.jumper else self.jumped.get(_whole(end), set())
        return self.cages.get(_whole(end), set()) | others

    def waits(self, cable: Cable) -> set[Owner]:
        """Likewise for both ends of a new one."""
        return self.waits_at(cable.lower, cable) | self.waits_at(cable.new, cable)


Trunk = tuple[str, int]  # panel, port


@dataclass(frozen=True)
class Jumpers:
    """Where trunks end before and after; a link whose trunks stay changes by its jumper."""

    before: Mapping[End, Trunk]
    after: Mapping[End, Trunk]

    @classmethod
    def of(cls, old: Plan, new: Plan) -> Jumpers:
        return cls(_trunks(old), _trunks(new))

    def _stay(self, *ends: End | None) -> bool:
        """Whether none of the trunks of these ports is laid again."""
        known = [(self.before.get(end), self.after.get(end)) for end in ends if end is not None]
        return all(one is None or other is None or one == other for one, other in known)

    def move(self, lower: End, old: End, new: End | None) -> Jumper | None:
        """Of a link in service that moves or goes."""
        at, was = self.before.get(lower), self.before.get(old)
        if at is None or was is None or not self._stay(lower, old, new):
            return None
        to = None if new is None else self.after.get(new)
        if new is not None and (to is None or to[0] != at[0]):
            return None
        return Jumper(at[0], at[1], was[1], to[1] if to else 0)

    def lay(self, lower: End, new: End) -> Jumper | None:
        """Of a new link."""
        at, to = self.after.get(lower), self.after.get(new)
        return Jumper(at[0], at[1], 0, to[1]) if at and to and self._stay(lower, new) else None


def _trunks(plan: Plan) -> dict[End, Trunk]:
    found: dict[End, Trunk] = {}
    for fabric in plan.fabrics.values():
        if fabric.patching is not None:
            for at, ends in enumerate(fabric.patching.ends):
                if ends is not None:
                    panel, low, high = ends
                    found |= {end_at(fabric, "a", at): (panel, low), end_at(fabric, "b", at): (panel, high)}
    return found


def _whole(port: End) -> End:
    """The cage of a port that may be a part of it."""
    return port[0], port[1].split("/")[0]
