"""Cables: what meets what, how fast and how far."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.audit.checks import ERROR, WARNING, Design, Finding
from fabric.audit.checks.design.family import (
    BETWEEN_SWITCHES,
    FabricCheck,
    Ints,
    column,
    in_all,
    link_ends,
    of_role,
    rows,
)
from fabric.base.text import listed, plural
from fabric.model.plan import CORE, KINDS, LEAF, LEAF_SPINE, SERVER_LEAF, SPINE, SPINE_CORE, server_ports, unit_plan

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
            yield self.finding(design, ("topology", upper), text + in_all(len(wrong), "switch", "switches"))
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
        for what, names in (
            ("plane", BETWEEN_SWITCHES),
            ("rail", BETWEEN_SWITCHES if fabric.spec.kind == "rail-only" else ()),
        ):
            links, own = rows(fabric, *names), column(fabric, what)
            low, high = own[fabric.links.a[links]], own[fabric.links.b[links]]
            wrong = links[(low != high) & (high >= 0)]
            if len(wrong):
                a, b = (int(own[end[wrong[0]]]) + 1 for end in (fabric.links.a, fabric.links.b))
                text = f"the link between {link_ends(fabric, wrong[0])} connects {what} {a} with {what} {b}"
                yield self.finding(design, ("topology",), text + in_all(len(wrong), "link"))
        if fabric.spec.kind != "collapsed":
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
            mine = links[group[fabric.links.a[links]] == index]
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
        for at, group in enumerate(fabric.spec.groups):
            mine = np.array([device.group == group.name for device in fabric.devices], dtype=bool)
            here = links[mine[fabric.links.a[links]]]
            wrong = here[fabric.links.speed_gbps[here] != group.nic.speed_gbps]
            if len(wrong):
                text = f"the link between {link_ends(fabric, wrong[0])}: expected the NIC speed, {group.nic.speed_gbps}G, got"
                got = f"{fabric.links.speed_gbps[wrong[0]]}G{in_all(len(wrong), 'link')}"
                yield self.finding(design, ("servers", at), f"{text} {got}")


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
