"""A fabric on its way from one design to another: the plan of every state between two waves.

Between two waves every cable is where the old design or the new one has it. Such a state is a plan like any other: it is
measured and rendered as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from fabric.design.cable_moves import End, ends_of
from fabric.design.moves import Step
from fabric.model.plan import BETWEEN_SWITCHES, NO_TENANT, FabricPlan, Links, Tenancy
from fabric.model.plan.patching import Patching, joined
from fabric.solver import Ints, Network
from fabric.solver.network import network

PER_DEVICE = ("loopback", "loopback6", "management")


@dataclass(frozen=True, eq=False)
class Transition:
    """Both designs of a fabric, devices under the same names.

    Attributes:
        steps: cables that change together, in their order; none of cables that move nothing in service.
    """

    old: FabricPlan
    new: FabricPlan
    steps: Sequence[Step]

    def at(self, done: int, until: int | None = None) -> FabricPlan:
        """The plan when so many steps are done, and all cables laid that move nothing in service.

        `until`: the links of the steps from `done` to before it are out of service, neither as before nor as after.
        """
        waits, out = (
            {cable.lower for step in steps for cable in step.cables}
            for steps in (self.steps[until or done :], self.steps[done : until or done])
        )
        if not waits and not out:
            return self.new
        stays = np.array([end not in waits and end not in out for end in self.new_ends], dtype=bool)
        rows = np.flatnonzero(stays)
        still = np.array([row for row, end in enumerate(self.old_ends) if end in waits], dtype=np.int64)
        return self.joined(rows, still)

    def in_service(self, fabric: FabricPlan) -> Network:
        """The network of a state, with the server ports that both designs have."""
        net, both = network(fabric), set(self.old_ends) & set(self.new_ends)
        ends = ends_of(fabric)
        kept = [row for row, link in enumerate(net.ports.link.tolist()) if ends[link] in both]
        return net if len(kept) == len(net.ports.link) else net.only(np.array(kept, dtype=np.int64))

    @cached_property
    def old_ends(self) -> list[End]:
        return ends_of(self.old)

    @cached_property
    def new_ends(self) -> list[End]:
        return ends_of(self.new)

    @cached_property
    def _gone(self) -> tuple[int, ...]:
        """Devices of the old design that the new one does not have."""
        return tuple(device.index for device in self.old.devices if device.name not in self.new.by_name)

    @cached_property
    def _index(self) -> Ints:
        """Index of every device of the old design among those of both."""
        extra = {index: len(self.new.devices) + at for at, index in enumerate(self._gone)}
        found = [
            extra[device.index] if device.index in extra else self.new.by_name[device.name].index
            for device in self.old.devices
        ]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _old_panels(self) -> Patching | None:
        """Of the old design, whose switches have other indices here."""
        old = self.old.patching
        if old is None:
            return None
        panels = (panel._replace(first=int(self._index[panel.first])) for panel in old.panels)
        return replace(old, panels=tuple(panels))

    def joined(self, rows: Ints, still: Ints) -> FabricPlan:
        """The plan with some links of the new design and some of the old one, by their rows."""
        old, new = self.old, self.new
        place = {int(row): at for at, row in enumerate(rows.tolist())}
        devices = [replace(old.devices[index], index=len(new.devices) + at) for at, index in enumerate(self._gone)]
        columns: dict[str, Any] = {}
        for column in fields(Links):
            before = getattr(old.links, column.name)[still]
            before = self._index[before] if column.name in ("a", "b") else before
            columns[column.name] = np.concatenate([getattr(new.links, column.name)[rows], before]).astype(np.int32)
        gone = list(self._gone)
        arrays: dict[str, Any] = {}
        for name in PER_DEVICE:
            arrays[name] = np.concatenate([getattr(new, name), getattr(old, name)[gone]])
        known = {group.name for group in new.spec.groups}
        groups = (*new.spec.groups, *(group for group in old.spec.groups if group.name not in known))
        return replace(
            new,
            spec=replace(new.spec, groups=groups),
            devices=(*new.devices, *devices),
            links=Links(**columns),
            subnet=np.concatenate([new.subnet[rows], old.subnet[still]]),
            tenancy=self._tenancy(rows, still, place),
            below={place[link]: far for link, far in new.below.items() if link in place},
            patching=joined(((new.patching, rows), (self._old_panels, still))),
            management_ports={place[link]: far for link, far in new.management_ports.items() if link in place},
            **arrays,
        )

    def _tenancy(self, rows: Ints, still: Ints, place: Mapping[int, int]) -> Tenancy:
        """What tenants have of these links."""
        old, new = self.old.tenancy, self.new.tenancy
        number = {tenant.name: at for at, tenant in enumerate(new.tenants)}
        owners = [number.get(old.tenants[at].name, NO_TENANT) if at >= 0 else at for at in old.owner[still].tolist()]
        none = np.full(len(self.old.links), -1, dtype=object)
        slices = {
            tenant: np.concatenate([first[rows], old.slices.get(tenant, none)[still]]) for tenant, first in new.slices.items()
        }
        outside = (replace(item, link=place[item.link]) for item in new.external_connections if item.link in place)
        hosts = {key: {place[at]: value for at, value in found.items() if at in place} for key, found in new.hosts.items()}
        return replace(
            new,
            owner=np.concatenate([new.owner[rows], np.array(owners, dtype=new.owner.dtype)]),
            lag=np.concatenate([new.lag[rows], old.lag[still]]),
            slices=slices,
            external_connections=tuple(outside),
            hosts=hosts,
            chosen={place[at]: names for at, names in new.chosen.items() if at in place},
        )


def renumbered(old: FabricPlan, new: FabricPlan) -> list[set[str]]:
    """Switches of links that keep both ends and change their addresses or an AS number, those that they join together."""
    before = _sessions(old)
    groups: dict[str, set[str]] = {}
    for ends, session in _sessions(new).items():
        if ends in before and before[ends] != session:
            first, second = (groups.setdefault(end[0], {end[0]}) for end in ends)
            if first is not second:
                first |= second
                groups |= dict.fromkeys(second, first)
    return list({id(group): group for group in groups.values()}.values())


def _sessions(fabric: FabricPlan) -> dict[tuple[End, End], tuple[int, int, int]]:
    """Ends of every link between switches → its first address, AS numbers of both."""
    links, devices = fabric.links, fabric.devices
    rows = np.flatnonzero(np.isin(links.kind, BETWEEN_SWITCHES)).tolist()
    lower, upper, subnet = ends_of(fabric), ends_of(fabric, "b"), fabric.subnet
    return {
        (lower[row], upper[row]): (int(subnet[row]), devices[links.a[row]].asn, devices[links.b[row]].asn) for row in rows
    }
