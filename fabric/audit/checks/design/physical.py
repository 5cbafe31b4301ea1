"""Ports and cables: whether the models have the ports, what meets what, how fast and how far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabric.audit.checks import ERROR, WARNING, Design, Finding
from fabric.audit.checks.design.base import (
    FabricCheck,
    Ints,
    column,
    in_all,
    link_ends,
    models,
    named,
    of_role,
    rows,
    switch_path,
)
from fabric.base.text import listed, plural
from fabric.hardware.catalog.models import Pipelines
from fabric.model.plan import (
    BETWEEN_SWITCHES,
    CORE,
    KINDS,
    LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    SWITCH_ROLES,
    FabricPlan,
    nic_uses,
    server_ports,
    unit_plan,
)

# Longest reach of a standard optic by port speed: IEEE 802.3-2022 (LX10, 40 km ER classes of 10G to 400G), 802.3ct and
# 802.3cw (80 km ZR of 100G and 400G), 802.3df and the drafts of 802.3dj (800G ER1, 1.6T DR8-2).
FARTHEST_M = {1: 10_000, 10: 40_000, 25: 40_000, 40: 40_000, 50: 40_000, 100: 80_000, 200: 40_000, 400: 80_000, 800: 40_000}
FARTHEST_M |= {1600: 2_000}
ONE_SITE_M = 2_000  # FR optics; a Clos that is wider spans buildings


class UniformLinks(FabricCheck):
    """Counts the links of every leaf to each spine, and of every spine to each core.

    A Clos network is non-blocking because ECMP gives every next hop the same share. A spine with fewer links is congested
    while others are idle (RFC 7938 section 3.2).
    """

    id = "FAB229"
    title = "Every leaf has the same number of links, at one speed, to each spine of its plane and pod"
    severity = ERROR
    example = "leaf001 has 2 links to spine001 and 1 link to spine002"
    remediation = "set `uplinks: {count: …}` to a multiple of `spine: {count: …}`"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, spec = design.fabric, design.fabric.spec
        columns = [column(fabric, "plane")]
        columns += [column(fabric, "rail")] if spec.kind == "rail-only" else []
        columns += [column(fabric, "pod")] if fabric.sizing.tiers == 3 else []
        _, network = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        spines = np.bincount(network.ravel()[of_role(fabric, SPINE)], minlength=int(network.max(initial=0)) + 1)
        each = {size.name: 0 if size.last_unit else fabric.sizing.links_per_spine(size) for size in fabric.sizing.groups}
        links = np.array([each.get(device.group, 0) for device in fabric.devices], dtype=np.int64)
        yield from self._uneven(design, LEAF_SPINE, (spines[network.ravel()], links))
        if fabric.sizing.tiers == 3:
            size = (fabric.sizing.cores_built, fabric.sizing.links_per_core)
            yield from self._uneven(design, SPINE_CORE, tuple(np.full(len(fabric.devices), number) for number in size))

    def _uneven(self, design: Design, kind: int, expected: tuple[Ints, ...]) -> Iterator[Finding]:
        """Lower switches whose uplinks are not shared evenly.

        Args:
            design: the plan of a fabric.
            kind: kind of the links.
            expected: by device, how many upper switches it meets, and links to each; 0 where a unit that is not full has
                fewer, but equally many.
        """
        fabric, links = design.fabric, rows(design.fabric, kind)
        role, upper = (LEAF, SPINE) if kind == LEAF_SPINE else (SPINE, CORE)
        if not of_role(fabric, upper).any():
            return
        pairs, count = np.unique(np.stack([fabric.links.a[links], fabric.links.b[links]], axis=1), axis=0, return_counts=True)
        met = np.bincount(pairs[:, 0], minlength=len(fabric.devices))
        smallest, largest = np.full(len(met), len(links) + 1), np.zeros(len(met), dtype=np.int64)
        np.minimum.at(smallest, pairs[:, 0], count)
        np.maximum.at(largest, pairs[:, 0], count)
        uneven = (met != expected[0]) | (smallest != largest) | ((expected[1] > 0) & (largest != expected[1]))
        wrong = np.flatnonzero(of_role(fabric, role) & uneven)
        if len(wrong):
            first = int(wrong[0])
            mine = pairs[:, 0] == first
            spread = [
                f"{n} to {fabric.devices[upper_device].name}"
                for n, upper_device in zip(count[mine], pairs[mine, 1], strict=True)
            ]
            got = listed(spread, 4) or "none"
            number = plural(int(expected[1][first]), "link") if expected[1][first] else "the same number of links"
            uppers = plural(int(expected[0][first]), upper)
            text = f"{fabric.devices[first].name}: expected {number} to each of {uppers}, got {got}"
            text += in_all(len(wrong), "switch", "switches")
            if fabric.spec.links.any:  # stated on purpose
                hint = "`links` states it: connect every leaf to every spine alike when cables are moved next"
                yield self.finding(design, ("links",), text, hint=hint, severity=WARNING)
            else:
                yield self.finding(design, ("topology", upper), text)
        if len(speeds := np.unique(fabric.links.speed_gbps[links])) > 1:
            speeds_text = " and ".join(f"{speed}G" for speed in speeds)
            yield self.finding(design, ("topology", upper), f"{KINDS[kind]} links have different speeds: {speeds_text}")


class PlanesApart(FabricCheck):
    """Compares plane, rail and unit of both ends of every link.

    Planes are isolated so that each can fail or be upgraded alone. A rail-optimized unit connects NIC n of every server
    to the leaf of rail n, one hop from its peers (NVIDIA DGX SuperPOD RA-11333). One cable between planes joins their
    routing; a cable on the wrong rail sends a collective over the spines.
    """

    id = "FAB230"
    title = "No cable connects different planes, rails or units"
    severity = ERROR
    example = "NIC 1 of gpu-0003 is connected to the leaf of rail 2"
    remediation = "remove `ports` from the pins of the two switches, or restore the site's `lock.yaml` from git"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        for part, names in (
            ("plane", BETWEEN_SWITCHES),
            ("rail", BETWEEN_SWITCHES if fabric.spec.kind == "rail-only" else ()),
        ):
            links, part_of = rows(fabric, *names), column(fabric, part)
            low, high = part_of[fabric.links.a[links]], part_of[fabric.links.b[links]]
            wrong = links[(low != high) & (high >= 0)]
            if len(wrong):
                a, b = (int(part_of[end[wrong[0]]]) + 1 for end in (fabric.links.a, fabric.links.b))
                text = f"the link between {link_ends(fabric, wrong[0])} connects {part} {a} with {part} {b}"
                yield self.finding(design, ("topology",), text + in_all(len(wrong), "link"))
        if fabric.spec.kind != "collapsed" or fabric.spec.planes > 1:
            yield from self._servers(design)

    def _servers(self, design: Design) -> Iterator[Finding]:
        """NIC ports against the leaves of their unit, plane and rail."""
        fabric, links = design.fabric, rows(design.fabric, SERVER_LEAF)
        groups = [group.name for group in fabric.spec.groups]
        group = np.array([groups.index(d.group) if d.group in groups else -1 for d in fabric.devices], dtype=np.int64)
        for index, (size, spec) in enumerate(zip(fabric.sizing.groups, fabric.spec.groups, strict=True)):
            unit, ports = (
                unit_plan(fabric.spec, size.unit_leaves, fabric.spec.leaves_per_nic(spec)),
                server_ports(fabric.spec, spec),
            )
            if spec.shared:
                continue
            mine = links[(group[fabric.links.a[links]] == index) & (fabric.links.a_cage[links] <= spec.nic.count)]
            port = (fabric.links.a_cage[mine] - 1) * spec.nic.ports + fabric.links.a_sub[mine]
            known = port < len(ports.leaf)  # a NIC that the server has not is a matter of ports
            mine, leaf = mine[known], ports.leaf[port[known]]
            server = column(fabric, "unit")[fabric.links.a[mine]]
            for dimension, expected in (("unit", server), ("plane", unit.plane[leaf]), ("rail", unit.rail[leaf])):
                got = column(fabric, dimension)[fabric.links.b[mine]]
                wrong = np.flatnonzero(expected != got)
                if len(wrong):
                    first = wrong[0]
                    text = f"the link between {link_ends(fabric, mine[first])}: expected {dimension} {expected[first] + 1}"
                    text += f", got {dimension} {got[first] + 1}{in_all(len(wrong), 'link')}"
                    yield self.finding(design, ("topology",), text)


class Speeds(FabricCheck):
    """Compares the speed of every server link with that of its NIC.

    A link comes up only when both ends run at one speed. The NIC's speed is fixed; FAB231 covers the cages of switches.
    """

    id = "FAB232"
    title = "Both ends of every server link have the same speed"
    severity = ERROR
    example = "a 400G NIC port on a 200G link"
    remediation = "correct the NIC's `speed_gbps` in the catalog"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, links = design.fabric, rows(design.fabric, SERVER_LEAF)
        uses, use_of = nic_uses(fabric.spec, fabric.devices, fabric.links)
        for at, (group, use) in enumerate(uses):
            here = links[use_of[links] == at]
            wrong = here[fabric.links.speed_gbps[here] != use.nic.speed_gbps]
            if len(wrong):
                text = f"the link between {link_ends(fabric, wrong[0])}: expected the NIC speed, {use.nic.speed_gbps}G, got"
                got = f"{fabric.links.speed_gbps[wrong[0]]}G{in_all(len(wrong), 'link')}"
                yield self.finding(design, ("servers", fabric.spec.groups.index(group)), f"{text} {got}")


class CableReach(FabricCheck):
    """Compares cable lengths with the longest reach of standard optics of that speed.

    Copper reaches 2 to 5 m, SR optics 50 to 100 m, DR 500 m, FR 2 km, LR 10 km, and no standard optic more than 40 to 80
    km. Within one Clos fabric, more than 2 km is usually a wrong unit, and its PFC headroom is large.
    """

    id = "FAB233"
    title = "No cable is longer than the reach of a standard optic"
    severity = ERROR
    example = "`cable_length_m: {leaf-spine: 3000}`: 3 km"
    remediation = "set `topology.cable_length_m` in metres; connect separate buildings with routers or at a lower speed"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        pairs = np.unique(np.stack([fabric.links.kind, fabric.links.speed_gbps], axis=1), axis=0).tolist()
        for kind, speed in pairs:
            length, most = fabric.spec.lengths[kind].metres, FARTHEST_M.get(speed, 0)
            path = ("topology", "cable_length_m", KINDS[kind])
            if most and length > most:
                limit = f"at most {most:,} m, the reach of a standard optic"
                yield self.finding(design, path, f"{KINDS[kind]} cables at {speed}G: expected {limit}, got {length:,} m")
            elif length > ONE_SITE_M:
                limit = f"at most {ONE_SITE_M:,} m within one site"
                text = f"{KINDS[kind]} cables at {speed}G: expected {limit}, got {length:,} m"
                yield self.finding(design, path, text, severity=WARNING)


# --- ports of the models --------------------------------------------------------------------------------------


class Ports(FabricCheck):
    """Compares all cabled ports with cages, breakouts and port limits of the switch and server models.

    A port takes one cable. A cage can be split only as its model allows, into ports of one speed, and the ASIC supports a
    limited number of ports. On some switches a breakout disables the next cage. A link beyond that cannot be connected or
    does not come up.
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
        yield from self._disabled(design, ends)
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

    def _disabled(self, design: Design, ends: Ends) -> Iterator[Finding]:
        """Cages in use that the breakout of the one before disables."""
        cages = np.unique(np.stack([ends.device, ends.cage, ends.split, ends.speed_gbps], axis=1), axis=0)
        for role, model in models(design.fabric).items():
            mine = cages[of_role(design.fabric, role)[cages[:, 0]]] if model.disables_next else cages[:0]
            used = {(device, cage) for device, cage, *_ in mine.tolist()}
            for device, cage, split, speed in mine.tolist():
                known = model.is_wide(split) and model.group_of(cage).splits.get(speed) == split
                if not known or (cage % 2 and (device, cage + 1) not in used):
                    continue
                expected = f"no cable in cage {cage + 1}, got one" if cage % 2 else f"an odd cage, got {cage}"
                name, cause = design.fabric.devices[device].name, f"a cage of {split}x{speed}G disables the next"
                yield self.finding(design, switch_path(design, role), f"{name}: {cause}: expected {expected}")
                break

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
        server_links = rows(fabric, SERVER_LEAF)
        for at, group in enumerate(fabric.spec.groups):
            in_group = np.array([device.group == group.name for device in fabric.devices], dtype=bool)
            mine = server_links[in_group[links.a[server_links]]]
            ports = np.array([0, *(use.nic.ports for use in group.uses for _ in range(use.nic.count))])
            nic = links.a_cage[mine]
            over = mine[(nic >= len(ports)) | (links.a_sub[mine] >= ports[np.minimum(nic, len(ports) - 1)])]
            if len(over):
                got = f"NIC {links.a_cage[over[0]]} port {links.a_sub[over[0]] + 1}{in_all(len(over), 'port')}"
                model = listed(
                    [f"{plural(use.nic.count, 'NIC')} with {plural(use.nic.ports, 'port')} each" for use in group.uses]
                )
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
