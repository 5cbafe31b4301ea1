"""Addresses, subnets and pools: a design that holds each property, and designs that break it."""

from __future__ import annotations

from tests.audit.checks.design.designs import (
    BACKEND,
    FRONT,
    PODS,
    Case,
    Cases,
    Design,
    alter,
    at,
    design,
    found,
    links,
    put,
    tenancy,
)

TWO = (
    BACKEND
    + """\
  storage:
    purpose: storage
    nos: sonic
    servers: {model: node, nics: compute, count: 4, name: store}
    topology: {switch: sn5600, unit: {servers: 4}, spine: {min_count: 4}, leaf: {uplinks: {speed_gbps: 400}}}
"""
)


def _host(about: Design, address: int) -> Design:
    """A server with another address in its network."""
    hosts = {key: dict(found) for key, found in about.fabric.tenancy.hosts.items()}
    hosts[0, 0][min(hosts[0, 0])] = address
    return tenancy(about, hosts=hosts)


def _gateway(about: Design) -> int:
    gateway = about.fabric.tenancy.tenants[0].networks[0].gateway
    assert gateway is not None
    return gateway


def _subnet(about: Design, change: int | None = None) -> Design:
    """The first uplink of leaf 1 with the subnet of its second, or another one."""
    one, other = links(about, "backend-leaf001", "backend-spine001")
    return alter(about, subnet=put(about.fabric.subnet, one, about.fabric.subnet[other] if change is None else change))


CASES: Cases = {
    ("FAB208", "loopback and VTEP"): Case(
        BACKEND,
        lambda d: tenancy(d, vtep={**d.fabric.tenancy.vtep, at(d, "backend-leaf001"): d.fabric.loopback[0]}),
        [
            "intent.yaml:7:5: error[FAB208]: fabric 'backend': duplicate address 10.0.0.1: loopback of "
            "backend-spine001, and VTEP of backend-leaf001"
        ],
    ),
    ("FAB208", "management"): Case(
        BACKEND,
        lambda d: alter(d, management=put(d.fabric.management, 1, d.fabric.management[0])),
        [
            "intent.yaml:7:5: error[FAB208]: fabric 'backend': duplicate address 172.16.0.2: management "
            "address of backend-spine001, and management address of backend-spine002"
        ],
    ),
    ("FAB208", "link and loopback"): Case(
        BACKEND,
        lambda d: _subnet(d, 10 << 24),
        [
            "intent.yaml:7:5: error[FAB208]: fabric 'backend': duplicate address 10.0.0.1: loopback of "
            "backend-spine001, and link between backend-leaf001 and backend-spine001"
        ],
    ),
    ("FAB208", "gateway"): Case(
        FRONT,
        lambda d: _host(d, _gateway(d)),
        [
            "intent.yaml:16:80: error[FAB208]: fabric 'front': network 'red/login': bond 1 of web-0001: "
            "expected an address from 10.20.0.2 to 10.20.0.254, got 10.20.0.1"
        ],
    ),
    ("FAB208", "leaf"): Case(
        FRONT,
        lambda d: _host(d, _gateway(d) + 253),
        [
            "intent.yaml:16:80: error[FAB208]: fabric 'front': network 'red/login': duplicate address "
            "10.20.0.254: front-leaf001, and bond 1 of web-0001"
        ],
    ),
    ("FAB208", "two servers"): Case(
        FRONT,
        lambda d: _host(d, max(d.fabric.tenancy.hosts[0, 0].values())),
        [
            "intent.yaml:16:80: error[FAB208]: fabric 'front': network 'red/login': duplicate address "
            "10.20.0.6: bond 1 of web-0001, and bond 1 of web-0005"
        ],
    ),
    ("FAB208", "outside"): Case(
        FRONT,
        lambda d: _host(d, _gateway(d) + 300),
        [
            "intent.yaml:16:80: error[FAB208]: fabric 'front': network 'red/login': bond 1 of web-0001: "
            "expected an address from 10.20.0.2 to 10.20.0.254, got 10.20.1.45"
        ],
    ),
    ("FAB209", "length"): Case(
        BACKEND,
        lambda d: alter(d, subnet_length=30),
        ["intent.yaml:8:14: error[FAB209]: fabric 'backend': expected a /31 subnet for each link to a server, got /30"],
    ),
    ("FAB209", "twice"): Case(
        BACKEND,
        _subnet,
        [
            "intent.yaml:7:5: error[FAB209]: fabric 'backend': duplicate subnet 10.64.0.2/31: between "
            "backend-leaf001 and backend-spine001, and between backend-leaf001 and backend-spine001"
        ],
    ),
    ("FAB209", "odd"): Case(
        BACKEND,
        lambda d: _subnet(d, (10 << 24) + (99 << 16) + 1),
        [
            "intent.yaml:7:5: error[FAB209]: fabric 'backend': the link between backend-leaf001 and "
            "backend-spine001: expected an even first address, got 10.99.0.1"
        ],
    ),
    ("FAB209", "none"): Case(
        BACKEND,
        lambda d: _subnet(d, -1),
        [
            "intent.yaml:7:5: error[FAB209]: fabric 'backend': no subnet on the link between "
            "backend-leaf001 and backend-spine001"
        ],
    ),
    ("FAB209", "unnumbered"): Case(PODS, ("addressing: ipv4", "addressing: unnumbered"), []),
    ("FAB210", "overlap"): Case(
        BACKEND,
        lambda d: alter(d, prefixes={**d.fabric.prefixes, "vtep": ("10.64.0.0/24",)}),
        ["intent.yaml:7:5: error[FAB210]: fabric 'backend': pool 'vtep' 10.64.0.0/24 overlaps pool 'p2p' 10.64.0.0/10"],
    ),
    ("FAB210", "carriers"): Case(
        BACKEND,
        ("qos: {}", "pools: {p2p: 100.64.0.0/16}"),
        [
            "intent.yaml:20:18: note[FAB210]: fabric 'backend': pool 'p2p' 100.64.0.0/16 overlaps "
            "100.64.0.0/10, the shared address space of carrier-grade NAT (RFC 6598)\n"
            "    hint: use private addresses (RFC 1918) if the site has a connection to a carrier network"
        ],
    ),
    ("FAB210", "routes from outside"): Case(
        FRONT.replace("overlay: {kind: evpn-vxlan}\n    tenants", "checks").partition("    checks")[0],
        ("{asn: 65010}", "{asn: 65010, accept: [0.0.0.0/0, 10.0.0.0/8]}"),
        [],  # the pools are denied before it
    ),
}


def test_addresses_of_two_fabrics() -> None:
    """A clash between fabrics is reported where the later one stands."""
    about = design(TWO, "storage")
    assert found("FAB208", about) == []
    other = about.plan.fabrics["backend"]
    clash = alter(about, management=put(about.fabric.management, 0, other.management[0]))
    assert [finding.message for finding in found("FAB208", clash)] == [
        "fabric 'storage': duplicate address 172.16.0.2: management address of backend-spine001, and "
        "management address of storage-spine001"
    ]


def test_pools_of_two_fabrics() -> None:
    """Fabrics may share a pool of one kind, and nothing else."""
    about = design(TWO, "storage")
    assert found("FAB210", about) == []
    other = alter(about, prefixes={**about.fabric.prefixes, "p2p": ("10.0.0.0/24",)})
    assert [finding.message for finding in found("FAB210", other)] == [
        "fabric 'storage': pool 'p2p' 10.0.0.0/24 overlaps pool 'loopback' 10.0.0.0/15"
    ]
