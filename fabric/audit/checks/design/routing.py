"""BGP: AS numbers, sessions, limits, timers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.audit.checks import ERROR, WARNING, Design, Finding
from fabric.audit.checks.base import RESTORE_LOCK
from fabric.audit.checks.design.base import FabricCheck, column, in_all, named, per_device, pinned, rows
from fabric.base.text import ipv4
from fabric.model.plan import (
    BETWEEN_SWITCHES,
    LEAF,
    LEAF_SPINE,
    PRIVATE_2_BYTE,
    PRIVATE_4_BYTE,
    SPINE,
    SPINE_CORE,
    FabricPlan,
    asn_rows,
)

RESERVED = {
    23_456: "AS_TRANS (RFC 6793)",
    65_535: "last 16-bit AS number (RFC 7300)",
    4_294_967_295: "last 32-bit AS number (RFC 7300)",
}
DOCUMENTATION = ((64_496, 64_511), (65_536, 65_551))
WARN_PERCENT = 80  # of max_prefix, where switches begin to warn
FASTEST_BFD_MS = 150  # three packets at 50 ms, the minimum in data sheets of switches with BFD in hardware


class AsNumbers(FabricCheck):
    """Compares the AS numbers of switches with the private and the reserved ranges.

    RFC 6996 sets private numbers aside for use inside a network. A public number belongs to another organization, whose
    routes a switch with that number would reject. AS_TRANS (RFC 6793) and the last number of both sizes (RFC 7300) must
    not be used, which the keys of the intent refuse; those of RFC 5398 are for documentation. FAB181 covers stated ranges.
    """

    id = "FAB201"
    title = "AS numbers are private and not reserved"
    severity = ERROR
    example = "`pins: {backend-spine001: {asn: 3320}}`, the public number of another organization"
    remediation = "use a private AS number: 64512-65534 or 4200000000-4294967294 (RFC 6996)"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, seen = design.fabric, set()
        for device in fabric.switches:
            if device.asn in seen:
                continue
            seen.add(device.asn)
            path = pinned(design, device, "asn", ("underlay", "asn"))
            if not device.asn:
                yield self.finding(design, path, f"{device.name} has no AS number")
            elif device.asn in RESERVED:
                text = f"{device.name}: AS number {device.asn} is reserved: {RESERVED[device.asn]}"
                yield self.finding(design, path, text)
            elif not _within(device.asn, (PRIVATE_2_BYTE, PRIVATE_4_BYTE)) and not any(
                low <= device.asn < end for low, end in fabric.asn_ranges
            ):
                got = f"{device.asn}{', reserved for documentation (RFC 5398)' if _within(device.asn, DOCUMENTATION) else ''}"
                yield self.finding(design, path, f"{device.name}: expected a private AS number, got {got}", severity=WARNING)


def _within(asn: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= asn <= high for low, high in ranges)


class AsNumbersApart(FabricCheck):
    """Looks for AS numbers that two leaves, two pods or two tiers share.

    BGP rejects a route whose AS path contains the switch's own AS number. Neighbors with one number would run iBGP, and
    two leaves with one number reject each other's server prefixes. `allowas-in`, which permits that, is never configured.
    RFC 7938 section 5.2.1: one number for the cores, one for the spines of a pod, one for each leaf; with `per-pair` one
    for the two leaves of a pair, which need no route to each other.
    """

    id = "FAB202"
    title = "No AS number appears twice in an AS path"
    severity = ERROR
    example = "`pins: {backend-leaf002: {asn: 4200000001}}`, the AS number of backend-leaf001"
    remediation = "remove `asn` from the pin, or set it to a number that no other leaf, pod or tier has"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        places: dict[int, dict[tuple[str, int], int]] = {}  # AS number → where it is → a switch there
        row = asn_rows(fabric.spec.underlay.asn.scheme, fabric.switches)
        for device in fabric.switches:
            apart = row[device.index] if device.role == LEAF else device.pod if device.role == SPINE else 0
            places.setdefault(device.asn, {}).setdefault((device.role, apart), device.index)
        links = rows(fabric, *BETWEEN_SWITCHES)
        asn = column(fabric, "asn")
        same = asn[fabric.links.a[links]] == asn[fabric.links.b[links]]
        neighbors = set(asn[fabric.links.a[links[same]]].tolist())
        for number, holders in sorted(places.items()):
            if not number or len(holders) < 2:
                continue
            switches = sorted(holders.values(), key=lambda index: fabric.devices[index].name)
            close = ", some of which are neighbors" if number in neighbors else ""
            paths = (pinned(design, fabric.devices[index], "asn", ()) for index in switches)
            path = next((path for path in paths if path), ("underlay", "asn"))
            yield self.finding(design, path, f"duplicate AS number {number} on {named(fabric, switches)}{close}")


class SessionEnds(FabricCheck):
    """Compares EVPN sessions at both ends, and external AS numbers with those of the border leaves.

    A session comes up only when both ends are configured for it with matching addresses and AS numbers. EVPN runs between
    loopbacks of adjacent switches, so each end must name the other and a link must join them. With the AS number of the
    border leaf on an external router, the session is iBGP and advertises no routes to the fabric.
    """

    id = "FAB203"
    title = "Both ends of every session are configured for each other"
    severity = ERROR
    example = "`external: {asn: 4200000001}` on a border leaf whose own AS number is 4200000001"
    remediation = "set `external: {asn: …}` to a number that no switch of the fabric has"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, peers = design.fabric, design.fabric.tenancy.peers
        links = rows(fabric, *BETWEEN_SWITCHES)
        ends = np.unique(np.stack([fabric.links.a[links], fabric.links.b[links]], axis=1), axis=0).tolist()
        joined = {(a, b) for a, b in ends} | {(b, a) for a, b in ends}
        sessions = [(device, other) for device, others in sorted(peers.items()) for other in others]
        alone = [(device, other) for device, other in sessions if device not in peers.get(other, ())]
        apart = sorted({(min(pair), max(pair)) for pair in sessions if pair not in joined})
        for pairs, fault in ((alone, "is planned only on {}"), (apart, "has no link between the two switches")):
            if pairs:
                text = f"the EVPN session between {named(fabric, pairs[0])} {fault.format(named(fabric, pairs[0][:1]))}"
                yield self.finding(design, ("overlay",), text + in_all(len(pairs), "session"), hint=RESTORE_LOCK)
        attachments = [attachment.name for attachment in fabric.spec.attachments]
        for connection in fabric.tenancy.external_connections:
            leaf = fabric.devices[fabric.links.b[connection.link]]
            if connection.asn == leaf.asn:
                text = f"router '{connection.name}': AS number {connection.asn} is also the AS number of {leaf.name}"
                yield self.finding(
                    design, ("topology", "attachments", attachments.index(connection.name), "external", "asn"), text
                )


class MaximumPaths(FabricCheck):
    """Compares `maximum-paths` of every switch with its number of equal-cost links.

    A switch uses at most `maximum-paths` equal-cost paths; links beyond the limit carry no traffic, and ping does not
    show it. RFC 7938 section 6.1 assumes that all of them are used.
    """

    id = "FAB204"
    title = "The ECMP limit covers all equal-cost paths"
    severity = ERROR
    example = "72 uplinks on a leaf, `maximum-paths 64`"
    remediation = "lower `uplinks: {count: …}` or `spine: {count: …}`"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric, limit = design.fabric, design.views.underlay.max_paths
        lower = per_device(fabric, fabric.links.a[rows(fabric, *BETWEEN_SWITCHES)])
        most = int(lower.argmax())
        if lower[most] > limit:
            text = f"{fabric.devices[most].name} has {lower[most]} uplinks, more than the ECMP limit of {limit} paths"
            yield self.finding(design, ("underlay",), text)
        down = rows(fabric, LEAF_SPINE, SPINE_CORE)
        pod = column(fabric, "pod")[fabric.links.a[down]]
        below = np.where(fabric.links.kind[down] == SPINE_CORE, -2 - pod, fabric.links.a[down])  # cores reach a pod as one
        pairs, count = np.unique(np.stack([fabric.links.b[down], below], axis=1), axis=0, return_counts=True)
        if len(count) and count.max() > limit:
            upper = fabric.devices[int(pairs[count.argmax()][0])].name
            text = f"{upper} has {count.max()} links to one leaf or pod, more than the ECMP limit of {limit} paths"
            yield self.finding(design, ("underlay",), text)


class MaximumPrefixes(FabricCheck):
    """Compares `underlay.max_prefix` with the number of routes at the planned size.

    A prefix limit per neighbor keeps one mistake from filling the tables of the whole fabric. A limit below the routes of
    the planned size (a loopback per switch, a prefix and a VTEP per leaf) shuts down sessions in normal operation.
    Switches log warnings from 80 % of the limit.
    """

    id = "FAB205"
    title = "The prefix limit is well above the number of routes at the planned size"
    severity = ERROR
    example = "`underlay: {max_prefix: 1000}` with 1,150 routes"
    remediation = "remove `underlay.max_prefix`: the default is twice the number of routes, and at least 12000"

    def check(self, design: Design) -> Iterator[Finding]:
        limit, routes = design.views.underlay.max_prefix, routes_of(design.fabric)
        path = ("underlay", "max_prefix")
        if limit < routes:
            yield self.finding(
                design, path, f"expected a prefix limit of at least {routes:,}, the number of routes, got {limit:,}"
            )
        elif routes * 100 > limit * WARN_PERCENT:
            text = f"{routes:,} routes exceed {WARN_PERCENT} % of the prefix limit of {limit:,}"
            yield self.finding(design, path, text, severity=WARNING)


def routes_of(fabric: FabricPlan) -> int:
    """Routes of the finished fabric in the default table."""
    vteps = fabric.sizing.planned_by_role[LEAF] if fabric.tenancy.kind == "evpn" else 0
    return fabric.sizing.planned_routes + vteps + len(set(fabric.tenancy.pair_vtep.values()))


class Timers(FabricCheck):
    """Compares hold time, keepalive interval and BFD detection time.

    With a hold time below three keepalives, one lost packet ends a session (RFC 4271 section 10). BFD must detect a
    failure before the hold time does. No vendor specifies its hardware for less than three packets at 50 ms; below that,
    a short load peak looks like a failure.
    """

    id = "FAB206"
    title = "BGP and BFD timers are consistent"
    severity = WARNING
    example = "`underlay: {keepalive_s: 3, hold_s: 6}`: two keepalives"
    remediation = "set `bfd: {interval_ms: 300, multiplier: 3}`, `keepalive_s: 3` and `hold_s: 9`, the common values"

    def check(self, design: Design) -> Iterator[Finding]:
        under = design.fabric.spec.underlay
        if under.hold_s < 3 * under.keepalive_s:
            text = f"expected a hold time of at least three keepalives ({3 * under.keepalive_s} s), got {under.hold_s} s"
            yield self.finding(design, ("underlay", "hold_s"), text, severity=ERROR)
        if not under.bfd.enabled:
            return
        detect_ms = under.bfd.interval_ms * under.bfd.multiplier
        reported = f"{under.bfd.interval_ms} ms x {under.bfd.multiplier} = {detect_ms} ms"
        if detect_ms >= under.hold_s * 1000:
            text = f"expected a BFD detection time below the hold time of {under.hold_s} s, got {reported}"
            yield self.finding(design, ("underlay", "bfd"), text)
        elif detect_ms < FASTEST_BFD_MS:
            yield self.finding(
                design, ("underlay", "bfd"), f"expected a BFD detection time of at least {FASTEST_BFD_MS} ms, got {reported}"
            )


class RouterIds(FabricCheck):
    """Compares the router IDs of all switches of a fabric.

    BGP and EVPN identify a switch by its router ID, in an IPv6 underlay as well (RFC 4271 section 4.2). With one ID on
    two switches, sessions collide and each switch rejects the routes of the other.
    """

    id = "FAB207"
    title = "Router IDs are unique"
    severity = ERROR
    example = "`pins: {backend-leaf002: {loopback: 10.0.0.1}}`, the loopback of backend-leaf001"
    remediation = "remove `loopback` from the pin, or set it to an address that no other switch has"

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        owners: dict[int, list[int]] = {}
        for device in fabric.switches:
            owners.setdefault(int(fabric.loopback[device.index]), []).append(device.index)
        for number, switches in sorted(owners.items()):
            path = pinned(design, fabric.devices[switches[-1]], "loopback", ("pools", "loopback"))
            if number < 0:
                yield self.finding(design, path, f"no router ID on {named(fabric, switches)}")
            elif len(switches) > 1:
                text = f"duplicate router ID {ipv4(number)} on {named(fabric, switches)}"
                yield self.finding(design, path, text)
