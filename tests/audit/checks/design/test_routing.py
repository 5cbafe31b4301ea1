"""AS numbers, sessions, limits and timers: a design that holds each property, and designs that break it."""

from __future__ import annotations

from dataclasses import replace

from fabric.audit.checks.base import RESTORE_LOCK
from tests.audit.checks.design.designs import BACKEND, FRONT, PODS, Case, Cases, Design, alter, at, put, redevice, tenancy


def _one_sided(about: Design) -> Design:
    """A route server that does not know one of its leaves."""
    peers, spine = dict(about.fabric.tenancy.peers), at(about, "backend-spine001")
    peers[spine] = tuple(peer for peer in peers[spine] if peer != at(about, "backend-leaf002"))
    return tenancy(about, peers=peers)


def _afar(about: Design) -> Design:
    """Two leaves that speak EVPN with each other."""
    peers = dict(about.fabric.tenancy.peers)
    one, other = at(about, "backend-leaf001"), at(about, "backend-leaf002")
    return tenancy(about, peers={**peers, one: (*peers[one], other), other: (*peers[other], one)})


def _same_as_border(about: Design) -> Design:
    """A router with the AS number of its border leaf."""
    ways = about.fabric.tenancy.external_connections
    leaf = about.fabric.devices[about.fabric.links.b[ways[0].link]]
    return tenancy(about, external_connections=(replace(ways[0], asn=leaf.asn), *ways[1:]))


def _wide(about: Design) -> Design:
    """A limit that was computed for fewer links than there are."""
    group = replace(about.fabric.sizing.groups[0], uplinks=2)
    return alter(about, sizing=replace(about.fabric.sizing, groups=(group,)))


def _same_loopback(about: Design) -> Design:
    loopback = about.fabric.loopback
    return alter(about, loopback=put(loopback, at(about, "backend-leaf002"), loopback[at(about, "backend-leaf001")]))


WIDE = BACKEND.replace("nos: sonic", "nos: frr").replace(
    "      switch: sn5600\n      rails: 2\n      unit: {servers: 4}\n      leaf: {uplinks: {speed_gbps: 400}}",
    "      switch: 96x400g\n      rails: 2\n      unit: {servers: 4}\n      leaf: {uplinks: {count: 80}}",
)

FABRIC = BACKEND[BACKEND.index("    nos: sonic") : BACKEND.index("    overlay")]
CASES: Cases = {
    ("FAB201", "none"): Case(
        BACKEND,
        lambda d: redevice(d, "backend-leaf001", asn=0),
        ["intent.yaml:15:15: error[FAB201]: fabric 'backend': backend-leaf001 has no AS number"],
    ),
    ("FAB201", "reserved"): Case(
        BACKEND,
        lambda d: redevice(d, "backend-spine001", asn=65_535),
        [
            "intent.yaml:15:15: error[FAB201]: fabric 'backend': backend-spine001: AS number 65535 is "
            "reserved: last 16-bit AS number (RFC 7300)"
        ],
    ),
    ("FAB201", "public"): Case(
        BACKEND,
        ("qos: {}", "pins: {backend-leaf002: {asn: 3320}}"),
        ["intent.yaml:20:35: warning[FAB201]: fabric 'backend': backend-leaf002: expected a private AS number, got 3320"],
    ),
    ("FAB201", "documentation"): Case(
        BACKEND,
        ("qos: {}", "pins: {backend-leaf002: {asn: 64500}}"),
        [
            "intent.yaml:20:35: warning[FAB201]: fabric 'backend': backend-leaf002: expected a private AS "
            "number, got 64500, reserved for documentation (RFC 5398)"
        ],
    ),
    ("FAB201", "public as stated"): Case(BACKEND, ("mtu: 9216", "asn: {ranges: 3320-3400}"), []),
    ("FAB202", "neighbors"): Case(
        BACKEND,
        lambda d: redevice(d, "backend-leaf001", asn=d.fabric.devices[0].asn),
        [
            "intent.yaml:15:15: error[FAB202]: fabric 'backend': duplicate AS number 4200000000 on "
            "backend-leaf001 and backend-spine001, some of which are neighbors"
        ],
    ),
    ("FAB202", "leaves"): Case(
        BACKEND,
        lambda d: redevice(d, "backend-leaf002", asn=d.fabric.by_name["backend-leaf001"].asn),
        [
            "intent.yaml:15:15: error[FAB202]: fabric 'backend': duplicate AS number 4200000001 on "
            "backend-leaf001 and backend-leaf002"
        ],
    ),
    ("FAB202", "pods"): Case(
        PODS,
        lambda d: redevice(d, "backend-spine001", asn=d.fabric.by_name["backend-spine003"].asn),
        [
            "intent.yaml:14:15: error[FAB202]: fabric 'backend': duplicate AS number 4200000002 on "
            "backend-spine001 and backend-spine003"
        ],
    ),
    ("FAB203", "one-sided"): Case(
        BACKEND,
        _one_sided,
        [
            "intent.yaml:16:14: error[FAB203]: fabric 'backend': the EVPN session between backend-leaf002 "
            "and backend-spine001 is planned only on backend-leaf002\n"
            f"    hint: {RESTORE_LOCK}"
        ],
    ),
    ("FAB203", "no link"): Case(
        BACKEND,
        _afar,
        [
            "intent.yaml:16:14: error[FAB203]: fabric 'backend': the EVPN session between backend-leaf001 "
            "and backend-leaf002 has no link between the two switches\n"
            f"    hint: {RESTORE_LOCK}"
        ],
    ),
    ("FAB203", "router"): Case(
        FRONT,
        _same_as_border,
        [
            "intent.yaml:13:59: error[FAB203]: fabric 'front': router 'wan': AS number 4200000001 is also "
            "the AS number of front-leaf001"
        ],
    ),
    ("FAB204", "uplinks"): Case(
        WIDE,
        _wide,
        [
            "intent.yaml:15:15: error[FAB204]: fabric 'backend': backend-leaf001 has 80 uplinks, more "
            "than the ECMP limit of 64 paths"
        ],
    ),
    ("FAB205", "too low"): Case(
        BACKEND,
        ("mtu: 9216", "max_prefix: 12"),
        [
            "intent.yaml:15:28: error[FAB205]: fabric 'backend': expected a prefix limit of at least 16, the "
            "number of routes, got 12"
        ],
    ),
    ("FAB205", "no room"): Case(
        BACKEND,
        ("mtu: 9216", "max_prefix: 19"),
        ["intent.yaml:15:28: warning[FAB205]: fabric 'backend': 16 routes exceed 80 % of the prefix limit of 19"],
    ),
    ("FAB205", "room"): Case(BACKEND, ("mtu: 9216", "max_prefix: 20"), []),
    ("FAB206", "slow BFD"): Case(
        FRONT,
        ("    overlay", "    underlay: {bfd: {interval_ms: 3000}}\n    overlay"),
        [
            "intent.yaml:14:21: warning[FAB206]: fabric 'front': expected a BFD detection time below the hold time of "
            "9 s, got 3000 ms x 3 = 9000 ms"
        ],
    ),
    ("FAB206", "slow without BFD"): Case(
        FRONT, ("    overlay", "    underlay: {bfd: {interval_ms: 3000, enabled: false}}\n    overlay"), []
    ),
    ("FAB206", "fast BFD"): Case(
        BACKEND,
        (FABRIC, FABRIC.replace("sonic", "cumulus").replace("{mtu: 9216}", "{bfd: {interval_ms: 50, multiplier: 2}}")),
        [
            "intent.yaml:15:21: warning[FAB206]: fabric 'backend': expected a BFD detection time of at least 150 "
            "ms, got 50 ms x 2 = 100 ms"
        ],
    ),
    ("FAB207", "twice"): Case(
        BACKEND,
        _same_loopback,
        [
            "intent.yaml:7:5: error[FAB207]: fabric 'backend': duplicate router ID 10.0.0.5 on "
            "backend-leaf001 and backend-leaf002"
        ],
    ),
    ("FAB207", "none"): Case(
        BACKEND,
        lambda d: alter(d, loopback=put(d.fabric.loopback, at(d, "backend-spine002"), -1)),
        ["intent.yaml:7:5: error[FAB207]: fabric 'backend': no router ID on backend-spine002"],
    ),
}
