"""What a failure leaves, and whether the bandwidth is what the intent promised."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.design.base import (
    FabricCheck,
    Ints,
    LosslessCheck,
    capable,
    in_all,
    named,
    of_role,
    per_device,
    rows,
)
from fabric.base.text import plural
from fabric.model.plan import LEAF, LEAF_LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE, SPINE_CORE, FabricPlan, of_nics

FEWEST_SPINES = 4
SMALL_LEAVES = 8  # below that a fabric is a lab or a first rack
PAIR = "one switch has all ports: `kind: collapsed` builds a pair, with half of the ports of each server on either switch"
MOST_LINKS = 500_000  # for maximum flows; beyond it the ratios of the tiers have the word


class FewSpines(LosslessCheck):
    """Counts the spines of all planes of a lossless fabric.

    With two or three spines, one failure removes a third of the bandwidth or more, and after a second one PAUSE spreads
    over the whole fabric. Juniper's validated designs for AI clusters have at least four. Spines of all planes count,
    since a NIC reaches them all; FAB182 covers a single spine.
    """

    id = "FAB234"
    title = "A lossless fabric has at least four spines"
    severity = WARNING
    else_severity = f"note in a fabric of fewer than {SMALL_LEAVES} leaves"
    example = "`spine: {count: 2}` in a compute fabric of 16 leaves"
    remediation = "set `spine: {min_count: 4}`, or lower `leaf: {uplinks: {speed_gbps: …}}` to connect more spines"

    def check(self, design: Design) -> Iterator[Finding]:
        sizing = design.fabric.sizing
        spines = sizing.spines_built * sizing.planes
        if sizing.spines_built < 2 or spines >= FEWEST_SPINES or not any(capable(design.fabric, "lossless").values()):
            return
        small = NOTE if sizing.leaves < SMALL_LEAVES else ""
        text = f"expected at least {FEWEST_SPINES} spines in a lossless fabric, got {spines}"
        yield self.finding(design, ("topology", "spine"), text, severity=small)


class SinglePoints(FabricCheck):
    """Looks for servers and external connections that depend on one leaf.

    Frontend servers and external connections should survive the failure of a switch. On compute rails a NIC has one leaf
    by design, and the job restarts.
    """

    id = "FAB235"
    title = "No single leaf failure isolates servers or external connectivity"
    severity = WARNING
    else_severity = "note for servers of a storage fabric"
    example = "all `external` links on leaf001"
    remediation = "connect servers with two-port NICs and `dual_tor: true`, and external routers with `links: 2` or more"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, purpose = design.fabric, design.fabric.spec.purpose
        pair = PAIR if fabric.sizing.leaves == 1 else ""
        links = _redundant(fabric)
        if len(links):
            pairs = np.unique(np.stack([fabric.links.a[links], fabric.links.b[links]], axis=1), axis=0)
            leaves = per_device(fabric, pairs[:, 0])
            alone = np.flatnonzero(of_role(fabric, SERVER) & (leaves == 1))
            if len(alone):
                text = f"server {named(fabric, alone[:1])} is connected to only one leaf"
                group = next(g for g in fabric.spec.groups if g.name == fabric.devices[alone[0]].group)
                split = "set `kind: rail-optimized` to connect each NIC of a server to a different leaf"
                yield self.finding(
                    design,
                    ("topology", "dual_tor"),
                    text + in_all(len(alone), "server"),
                    hint=pair
                    or (split if not fabric.spec.converged and group.nic.count > 1 and group.nic.ports == 1 else ""),
                    severity=NOTE if purpose == "storage" else "",
                )
        borders = {int(fabric.links.b[connection.link]) for connection in fabric.tenancy.external_connections}
        if len(borders) == 1:
            text = f"all external connections are on one leaf, {named(fabric, borders)}"
            yield self.finding(design, ("topology", "attachments"), text, hint=pair)


def _redundant(fabric: FabricPlan) -> Ints:
    """Server links that should survive the failure of a switch: of a frontend or storage fabric, or such NICs in another."""
    spec, links = fabric.spec, rows(fabric, SERVER_LEAF)
    purposes = ("frontend", "storage")
    if spec.purpose in purposes or not spec.converged:
        return links if spec.purpose in purposes else links[:0]
    wanted = of_nics(
        spec, fabric.devices, fabric.links, lambda group, use: use in group.on_free_ports and use.nics in purposes
    )
    return np.flatnonzero(wanted)


def promised(fabric: FabricPlan, role: str) -> Fraction | None:
    """The ratio of a tier that the intent binds itself to; None where stated uplinks have the word."""
    spec = fabric.spec
    free = not spec.stated("topology", role, "uplinks", "count")
    if not free and not spec.stated("topology", role, "oversubscription"):
        return None
    return spec.leaf_ratio if role == LEAF else spec.spine_ratio


def unbuilt(fabric: FabricPlan) -> bool:
    """Whether the finished fabric has spines or cores that are still to come."""
    sizing = fabric.sizing
    return sizing.spines_built < sizing.spines or sizing.cores_built < sizing.cores


def ratio(value: Fraction) -> str:
    """`1.5:1` of 3/2."""
    return f"{float(value):.3g}:1"


class Oversubscription(FabricCheck):
    """Computes the oversubscription of every leaf and spine: bandwidth down divided by bandwidth up.

    The stated oversubscription is a limit that the installed switches and cables must meet. While spines of the planned
    size are still missing, exceeding it is a warning.
    """

    id = "FAB236"
    title = "No switch exceeds the stated oversubscription"
    severity = ERROR
    example = "`oversubscription: 1`, and a leaf with 12.8 Tb/s down and 6.4 Tb/s up"
    remediation = "raise `uplinks: {count: …}` or `oversubscription`, or connect fewer servers to each leaf"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, links = design.fabric, design.fabric.links

        def gbps(kind: int, end: NDArray[Any]) -> Ints:
            links_of_kind = rows(fabric, kind)
            return per_device(fabric, end[links_of_kind], links.speed_gbps[links_of_kind])

        pair = gbps(LEAF_LEAF, links.a) + gbps(LEAF_LEAF, links.b)
        tiers = [(LEAF, gbps(SERVER_LEAF, links.b), gbps(LEAF_SPINE, links.a) + pair)] if not fabric.sizing.spineless else []
        if fabric.sizing.tiers == 3:
            tiers.append((SPINE, gbps(LEAF_SPINE, links.b), gbps(SPINE_CORE, links.a)))
        for role, down, up in tiers:
            limit = promised(fabric, role)
            if limit is None:
                continue
            over = np.flatnonzero(of_role(fabric, role) & (down * limit.denominator > up * limit.numerator))
            if not len(over):
                continue
            share = np.divide(down, up, out=np.full(len(up), np.inf), where=up > 0)[over]
            worst = int(over[share.argmax()])
            name, text = fabric.devices[worst].name, "has no uplinks"
            if up[worst]:
                got = ratio(Fraction(int(down[worst]), int(up[worst])))
                text = f"expected an oversubscription of at most {ratio(limit)}, got {got}"
            text = (f"{name}: {text}" if up[worst] else f"{name} {text}") + in_all(len(over), "switch", "switches")
            early = unbuilt(fabric)
            later = "; spines or cores of the planned size are not built yet" if early else ""
            yield self.finding(design, ("topology", role), text + later, severity=WARNING if early else "")


class Bisection(FabricCheck):
    """Computes the maximum flow between the halves of the fabric: units, pods, rails, leaves.

    Oversubscription of single switches does not show uneven wiring, where two halves share less bandwidth than their
    uplinks add up to. Maximum flow is exact, and must be the share of NIC speed that the oversubscription allows.
    """

    id = "FAB237"
    title = "The bisection bandwidth matches the stated oversubscription"
    severity = ERROR
    example = "pod 1 to pod 2: 50 % of NIC speed at `oversubscription: 1`"
    remediation = "run `fabric capacity` to list every cut and the links that limit its bandwidth"
    infiniband = True

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        ratios = [promised(fabric, role) for role in (LEAF, SPINE)[: max(1, fabric.sizing.tiers - 1)]]
        if len(fabric.links) > MOST_LINKS or fabric.spec.switchless:  # a ring promises no more than it is
            return
        parts, halves = _measured(fabric)
        networks, each = fabric.sizing.networks, "plane and rail"
        if fabric.sizing.spineless:
            networks, each = fabric.sizing.leaves, "leaf"
        if parts != networks:
            expected = plural(networks, "isolated network")
            yield self.finding(design, ("topology",), f"expected {expected} (one per {each}), got {parts}")
        if unbuilt(fabric) or None in ratios or not halves:
            return
        least, (share, where) = float(1 / _product(ratios)), min(halves)
        if share < least - 1e-6:
            yield self.finding(design, ("topology",), f"{where}: expected at least {least:.1%} of NIC speed, got {share:.1%}")


def _product(ratios: list[Fraction | None]) -> Fraction:
    total = Fraction(1)
    for value in ratios:
        total *= max(Fraction(1), value or Fraction(1))
    return total


def _measured(fabric: FabricPlan) -> tuple[int, list[tuple[float, str]]]:
    """Networks that no link joins; and (share of NIC speed, which halves) of the balanced cuts whose sides are to talk."""
    from fabric.solver.capacity.failures import share_of
    from fabric.solver.capacity.structured_cuts import structured
    from fabric.solver.capacity.throughput import ground
    from fabric.solver.network import network

    net = network(fabric, every_plane=True)
    base = ground(net)
    cuts = [cut for cut in structured(base, net) if cut.balanced and not cut.apart]
    return int(base.part.max(initial=-1)) + 1, [(round(share_of(base, net, cut)[0], 9), cut.where) for cut in cuts]
