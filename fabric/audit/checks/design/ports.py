"""Ports: whether the models have the ports that the links use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabric.audit.checks import ERROR, Design, Finding
from fabric.audit.checks.design.family import FabricCheck, Ints, in_all, models, named, of_role, rows, switch_path
from fabric.base.text import listed, plural
from fabric.hardware.catalog.models import Pipelines
from fabric.model.plan import SERVER_LEAF, SWITCH_ROLES, FabricPlan


class Ports(FabricCheck):
    """Compares all cabled ports with cages, breakouts and port limits of the switch and server models.

    A port takes one cable. A cage can be split only as its model allows, into ports of one speed, and the ASIC supports a
    limited number of ports. A link beyond that cannot be connected or does not come up.
    """

    id = "FAB231"
    title = "Every cabled port exists and has only one cable"
    severity = ERROR
    example = "cage 12 is split into both 2x400G and 4x200G"
    remediation = "remove `ports` from the pin, or set `switch:` to a model with more ports"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        ends = plugged(design.fabric)
        yield from self._used_twice(design, ends)
        yield from self._missing_ports(design, ends)
        yield from self._two_breakouts(design, ends)
        yield from self._too_many(design, ends)
        yield from self._nics(design)

    def _used_twice(self, design: Design, ends: Ends) -> Iterator[Finding]:
        ports, count = np.unique(np.stack([ends.device, ends.cage, ends.sub], axis=1), axis=0, return_counts=True)
        twice = np.flatnonzero(count > 1)
        if len(twice):
            device, cage, sub = ports[twice[0]].tolist()
            name, cables = design.fabric.devices[device].name, count[twice[0]]
            text = f"{name}: expected one cable in port {cage}/{sub + 1}, got {cables}{in_all(len(twice), 'port')}"
            yield self.finding(design, ("topology",), text)

    def _missing_ports(self, design: Design, ends: Ends) -> Iterator[Finding]:
        """Ports that the model of the role lacks, each once."""
        fabric = design.fabric
        for role in SWITCH_ROLES:
            mine = np.flatnonzero(of_role(fabric, role)[ends.device])
            ports = np.stack([ends.cage, ends.sub, ends.split, ends.speed_gbps], axis=1)[mine]
            kinds, first = np.unique(ports, axis=0, return_index=True)
            for (cage, sub, split, speed), at in zip(kinds.tolist(), first.tolist(), strict=True):
                if wrong := _wrong_port(fabric, role, cage, sub, split, speed):
                    name = fabric.devices[ends.device[mine[at]]].name
                    yield self.finding(design, switch_path(design, role), f"{name}: {wrong}")

    def _two_breakouts(self, design: Design, ends: Ends) -> Iterator[Finding]:
        cages = np.unique(np.stack([ends.device, ends.cage, ends.split, ends.speed_gbps], axis=1), axis=0)
        cages = cages[_switches(design.fabric)[cages[:, 0]]]
        mixed = np.flatnonzero((np.diff(cages[:, :2], axis=0) == 0).all(axis=1))
        if len(mixed):
            (device, cage, split, speed), (*_, other_split, gbps) = cages[mixed[0]].tolist(), cages[mixed[0] + 1].tolist()
            got = f"{split}x{speed}G and {other_split}x{gbps}G{in_all(len(mixed), 'cage')}"
            text = f"{design.fabric.devices[device].name}: cage {cage} has two different breakouts, {got}"
            yield self.finding(design, ("topology",), text)

    def _too_many(self, design: Design, ends: Ends) -> Iterator[Finding]:
        """Chips that drive fewer ports than the cages in use are split into, in all or in one of their pipelines."""
        fabric = design.fabric
        cages = np.unique(np.stack([ends.device, ends.cage, ends.split], axis=1), axis=0)
        driven = np.bincount(cages[:, 0], cages[:, 2], len(fabric.devices)).astype(np.int64)
        for role, model in models(fabric).items():
            most, mine = model.max_logical_ports, np.where(of_role(fabric, role), driven, 0)
            if most and mine.max(initial=0) > most:
                got = f"{mine.max()} on {named(fabric, np.flatnonzero(mine > most))}"
                text = f"expected at most {most} logical ports, the limit of the ASIC, got {got}"
                yield self.finding(design, switch_path(design, role), text)
            elif model.pipelines is not None:
                yield from self._full_pipelines(design, role, model.pipelines, cages[of_role(fabric, role)[cages[:, 0]]])

    def _full_pipelines(self, design: Design, role: str, pipelines: Pipelines, cages: Ints) -> Iterator[Finding]:
        """Pipelines with more ports than they drive. `cages`: rows of switch, cage, ports."""
        of = np.array([pipelines.of(cage) for cage in cages[:, 1].tolist()], dtype=np.int64)
        keys, at = np.unique(np.stack([cages[:, 0], of], axis=1), axis=0, return_inverse=True)
        ports = np.bincount(at.ravel(), cages[:, 2], len(keys)).astype(np.int64)
        over = np.flatnonzero(ports > pipelines.max_ports)
        if len(over):
            device, pipeline = keys[over[0]].tolist()
            its = sorted({cage for cage, pipe in zip(cages[:, 1].tolist(), of.tolist(), strict=True) if pipe == pipeline})
            got = f"{ports[over[0]]} in {'cages' if len(its) > 1 else 'cage'} {listed([str(cage) for cage in its])}"
            name = design.fabric.devices[device].name
            text = f"{name}: expected at most {pipelines.max_ports} ports in one pipeline of the ASIC, got {got}"
            yield self.finding(design, switch_path(design, role), text + in_all(len(over), "pipeline"))

    def _nics(self, design: Design) -> Iterator[Finding]:
        """Ports of servers that their model has not."""
        fabric, links = design.fabric, design.fabric.links
        here = rows(fabric, SERVER_LEAF)
        for at, group in enumerate(fabric.spec.groups):
            mine = here[np.array([device.group == group.name for device in fabric.devices], dtype=bool)[links.a[here]]]
            over = mine[(links.a_cage[mine] > group.nic.count) | (links.a_sub[mine] >= group.nic.ports)]
            if len(over):
                got = f"NIC {links.a_cage[over[0]]} port {links.a_sub[over[0]] + 1}{in_all(len(over), 'port')}"
                model = f"{plural(group.nic.count, 'NIC')} with {plural(group.nic.ports, 'port')} each"
                text = f"{fabric.devices[links.a[over[0]]].name}: the server model has {model}, but the plan uses {got}"
                yield self.finding(design, ("servers", at), text)


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of every link as columns."""

    device: Ints
    cage: Ints
    sub: Ints
    split: Ints
    speed_gbps: Ints


def plugged(fabric: FabricPlan) -> Ends:
    """Every port that a cable is in."""
    links = fabric.links
    return Ends(
        np.concatenate([links.a, links.b]).astype(np.int64),
        np.concatenate([links.a_cage, links.b_cage]).astype(np.int64),
        np.concatenate([links.a_sub, links.b_sub]).astype(np.int64),
        np.concatenate([links.a_split, links.b_split]).astype(np.int64),
        np.concatenate([links.speed_gbps, links.speed_gbps]).astype(np.int64),
    )


def _switches(fabric: FabricPlan) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([device.role in SWITCH_ROLES for device in fabric.devices], dtype=bool)


def _wrong_port(fabric: FabricPlan, role: str, cage: int, sub: int, split: int, speed_gbps: int) -> str:
    """Why a switch has no such port, "" when it has."""
    model = models(fabric)[role]
    if not 1 <= cage <= model.cages:
        return f"expected a cage from 1 to {model.cages}, got {cage}"
    splits = model.group_of(cage).splits
    if splits.get(speed_gbps) != split:
        does = ", ".join(f"{count}x{gbps}G" for gbps, count in sorted(splits.items(), reverse=True))
        return f"cage {cage}: expected one of the breakouts {does}, got {split}x{speed_gbps}G"
    return "" if 0 <= sub < split else f"cage {cage}: expected a port from 1 to {split}, got {sub + 1}"
