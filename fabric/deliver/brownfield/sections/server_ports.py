"""The server ports of a planned fabric by what tells tenants and networks apart: servers, racks, rails, planes, NICs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from fabric.deliver.brownfield.sections.probes import Document
from fabric.deliver.brownfield.sections.running import Running
from fabric.model.plan import SERVER_LEAF
from fabric.model.plan.sizing import nic_uses
from fabric.model.plan.tenant_ports import rails_of

Spot: TypeAlias = tuple[str, str]  # leaf and port


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The server ports of the planned fabric, by what tenants are known apart."""

    servers: Mapping[Spot, str]
    racks: Mapping[Spot, int]
    rails: Mapping[Spot, int]  # of leaves, 0 where a leaf serves no single one
    nic_rails: Mapping[Spot, int]
    planes: Mapping[Spot, int]
    purposes: Mapping[Spot, str]
    order: Mapping[str, int]

    def select(self, chosen: set[Spot], *, alone: bool) -> Document:
        """The shortest keys that have exactly these ports. `alone`: no other tenant has any, nor is one closed."""
        every = set(self.servers)
        if alone and chosen == every:
            return {}
        names = {self.servers[spot] for spot in chosen}
        rails = {self.rails[spot] for spot in chosen}
        purposes = {self.purposes[spot] for spot in chosen}
        racks = {self.racks[spot] for spot in chosen}
        whole = {spot for spot in every if self.racks[spot] in racks}
        by_rack = {self.servers[spot] for spot in whole} == names and -1 not in racks and len(racks) < len(names)
        for by_rail, by_nics, by_name in sorted(product((False, True), repeat=3), key=sum):
            fits = {
                spot
                for spot in every
                if (not by_rail or (self.rails[spot] in rails and 0 not in rails))
                and (not by_nics or self.purposes[spot] in purposes)
                and (not by_name or self.servers[spot] in names)
            }
            if fits == chosen and (by_rail or by_nics or by_name):
                keys: Document = {"rails": sorted(rails)} if by_rail else {}
                keys |= {"nics": sorted(purposes)} if by_nics else {}
                if by_name:
                    keys |= {"racks": sorted(rack + 1 for rack in racks)} if by_rack else {"servers": self.ranges(names)}
                return keys
        return {"servers": self.ranges(names)}

    def ranges(self, names: Iterable[str]) -> list[str]:
        """Names as `a-0001..0032` where consecutive numbers follow each other."""
        runs: list[tuple[str, int, int, int]] = []  # stem, width, first, last
        for name in sorted(names, key=lambda name: self.order[name]):
            match = re.fullmatch(r"(.*?)(\d+)", name)
            stem, digits = (match[1], match[2]) if match else (name, "")
            number = int(digits) if digits else -1
            last = runs[-1] if runs else None
            if last and digits and last[0] == stem and last[3] == number - 1 and last[1] == len(digits):
                runs[-1] = (*last[:3], number)
            else:
                runs.append((stem, len(digits), number, number))
        return [
            stem if not width else f"{stem}{first:0{width}}" if first == last else f"{stem}{first:0{width}}..{last:0{width}}"
            for stem, width, first, last in runs
        ]

    def part(self, ports: Sequence[tuple[Spot, int]], inside: set[Spot]) -> Document:
        """The key that tells the ports of one network from those of the others, each with how many networks it is in."""
        every = {spot for spot, _ in ports}
        if inside == every:
            return {}
        keys: list[tuple[str, Mapping[Spot, Any]]] = [
            ("rails", self.nic_rails),
            ("planes", self.planes),
            ("nics", self.purposes),
        ]
        if any(networks > 1 for _, networks in ports):
            keys = keys[::-1]
        for key, of in keys:
            values = {of[spot] for spot in inside}
            if {spot for spot in every if of[spot] in values} == inside and len({of[spot] for spot in every}) > len(values):
                return {key: sorted(values)}
        rails, planes = ({of[spot] for spot in inside} for of in (self.nic_rails, self.planes))
        return {"rails": sorted(rails), "planes": sorted(planes)}


def ports_of(run: Running) -> Ports | None:
    """The server ports of the planned fabric; None without a plan."""
    fabric = run.fabric
    if fabric is None:
        return None
    links, devices, spec = fabric.links, fabric.devices, fabric.spec
    served = np.flatnonzero(links.kind == SERVER_LEAF).tolist()
    uses, use_of = nic_uses(spec, devices, links)
    own = [use not in group.on_free_ports for group, use in uses]
    nic_rails = rails_of(spec, devices, links)
    named = {(device.name, fabric.ref(link, "b")): link for link in served for device in (devices[int(links.b[link])],)}
    spots: dict[Spot, int] = {}
    for cable in run.survey.cables:
        if cable.b_ref is not None and (link := named.get((cable.b, cable.b_ref))) is not None:
            spots[cable.b, cable.b_port] = link
    railed = spec.kind in ("rail-optimized", "rail-only")
    return Ports(
        servers={spot: devices[int(links.a[link])].name for spot, link in spots.items()},
        racks={spot: devices[int(links.a[link])].rack for spot, link in spots.items()},
        rails={
            spot: devices[int(links.b[link])].rail + 1 if railed and own[int(use_of[link])] else 0
            for spot, link in spots.items()
        },
        nic_rails={spot: int(nic_rails[link]) for spot, link in spots.items()},
        planes={spot: devices[int(links.b[link])].plane + 1 for spot, link in spots.items()},
        purposes={spot: uses[int(use_of[link])][1].nics for spot, link in spots.items()},
        order={devices[int(links.a[link])].name: int(links.a[link]) for link in served},
    )
