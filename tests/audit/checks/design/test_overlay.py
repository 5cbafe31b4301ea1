"""Tenants and their overlay: a design that holds each property, and designs that break it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabric.audit.checks.base import RESTORE_LOCK
from tests.audit.checks.design.designs import BACKEND, FRONT, Case, Cases, Design, at, links, put, retenant, tenancy


def _shared_bond(about: Design) -> Design:
    """The bond of one server on one leaf gets the number of another's."""
    lag, one = about.fabric.tenancy.lag, links(about, "web-0001", "front-leaf001")[0]
    return tenancy(about, lag=put(lag, one, lag[links(about, "web-0002", "front-leaf001")[0]]))


def _half_pair(about: Design) -> Design:
    """A leaf that shares its bonds with no one."""
    pair = dict(about.fabric.tenancy.pair)
    del pair[at(about, "front-leaf001")]
    return tenancy(about, pair=pair)


def _networks(about: Design, **values: int) -> Design:
    """The network of the first tenant with the numbers of another."""
    network = replace(about.fabric.tenancy.tenants[0].networks[0], **values)
    return retenant(about, 0, networks=(network,))


def _owner(about: Design) -> Design:
    one = links(about, "gpu-0001", "backend-leaf001")[0]
    return tenancy(about, owner=put(about.fabric.tenancy.owner, one, 1))


def _no_address(about: Design) -> Design:
    hosts = {key: dict(found) for key, found in about.fabric.tenancy.hosts.items()}
    hosts[1, 0] = {}
    return tenancy(about, hosts=hosts)


def _deaf(about: Design) -> Design:
    """A leaf that speaks EVPN with no one."""
    return tenancy(about, peers={**about.fabric.tenancy.peers, at(about, "backend-leaf003"): ()})


def _vteps(about: Design) -> Design:
    """A spine in place of a leaf."""
    vtep = dict(about.fabric.tenancy.vtep)
    vtep[at(about, "backend-spine001")] = vtep.pop(at(about, "backend-leaf001"))
    return tenancy(about, vtep=vtep)


CASES: Cases = {
    ("FAB211", "1500"): Case(
        FRONT,
        ("    overlay", "    underlay: {mtu: 1500}\n    overlay"),
        [
            "intent.yaml:14:21: warning[FAB211]: fabric 'front': expected a tenant IP MTU of at least "
            "1500, got 1500 - 50 = 1450"
        ],
    ),
    ("FAB211", "1550"): Case(FRONT, ("    overlay", "    underlay: {mtu: 1550}\n    overlay"), []),
    ("FAB212", "lowered"): Case(
        FRONT,
        ("    overlay", "    underlay: {mtu: 9216}\n    overlay"),
        [
            "intent.yaml:14:21: note[FAB212]: fabric 'front': expected the stated IP MTU 9216, got 9214, "
            "the largest that all network OSes of the fabric support\n"
            "    hint: set `underlay: {mtu: 9214}`"
        ],
    ),
    ("FAB213", "VNI twice"): Case(
        BACKEND,
        lambda d: retenant(d, 1, vni=50_001),
        ["intent.yaml:19:9: error[FAB213]: fabric 'backend': tenant 'blue': VNI 50001 is also assigned to tenant 'red'"],
    ),
    ("FAB213", "VNI of a network"): Case(
        FRONT,
        lambda d: _networks(d, vni=50_002),
        ["intent.yaml:17:9: error[FAB213]: fabric 'front': tenant 'blue': VNI 50002 is also assigned to network 'red/login'"],
    ),
    ("FAB213", "VNI too large"): Case(
        BACKEND,
        lambda d: retenant(d, 0, vni=16_777_216),
        ["intent.yaml:18:9: error[FAB213]: fabric 'backend': tenant 'red': expected a VNI from 1 to 16777215, got 16777216"],
    ),
    ("FAB213", "VLAN twice"): Case(
        FRONT,
        lambda d: _networks(d, vlan=101),
        [
            "intent.yaml:17:58: error[FAB213]: fabric 'front': network 'blue/login': VLAN 101 is also "
            "assigned to network 'red/login'"
        ],
    ),
    ("FAB213", "VLAN of a tenant"): Case(
        FRONT,
        lambda d: _networks(d, vlan=3002),
        ["intent.yaml:17:9: error[FAB213]: fabric 'front': tenant 'blue': VLAN 3002 is also assigned to network 'red/login'"],
    ),
    ("FAB214", "tenants"): Case(
        BACKEND,
        lambda d: retenant(d, 1, number=1),
        [
            "intent.yaml:18:7: error[FAB214]: fabric 'backend': backend-leaf003: duplicate route "
            "distinguisher 10.0.0.7:1 for 'red' and 'blue'"
        ],
    ),
    ("FAB214", "too large"): Case(
        FRONT,
        lambda d: _networks(d, number=60_000),
        [
            "intent.yaml:16:7: error[FAB214]: fabric 'front': front-leaf001: route distinguisher of "
            "'red-login': expected at most 65535 after the colon, got 10.0.0.3:70000"
        ],
    ),
    ("FAB215", "one"): Case(
        BACKEND,
        ("evpn-vxlan", "evpn-vxlan, route_servers: 1"),
        [
            "intent.yaml:16:48: warning[FAB215]: fabric 'backend': expected at least 2 route servers per "
            "leaf, got 1 on backend-leaf001 and 3 more"
        ],
    ),
    ("FAB215", "two"): Case(BACKEND, ("evpn-vxlan", "evpn-vxlan, route_servers: 2"), []),
    ("FAB215", "none"): Case(
        BACKEND,
        _deaf,
        [
            "intent.yaml:16:14: error[FAB215]: fabric 'backend': expected at least 2 route servers per "
            "leaf, got none on backend-leaf003"
        ],
    ),
    ("FAB215", "VTEPs"): Case(
        BACKEND,
        _vteps,
        [
            f"intent.yaml:16:14: error[FAB215]: fabric 'backend': no VTEP on leaf backend-leaf001\n    hint: {RESTORE_LOCK}",
            "intent.yaml:16:14: error[FAB215]: fabric 'backend': VTEP on a switch that is not a leaf: backend-spine001\n"
            f"    hint: {RESTORE_LOCK}",
        ],
    ),
    ("FAB216", "two servers"): Case(
        FRONT,
        _shared_bond,
        [
            "intent.yaml:16:7: error[FAB216]: fabric 'front': bond 2 on front-leaf001 and front-leaf002: "
            "expected a link of one server, or half of those of an attachment, to each leaf, got links between web-0001 and "
            "front-leaf001; web-0002 and front-leaf001; web-0002 and front-leaf002 (2 bonds in all)"
        ],
    ),
    ("FAB216", "one leaf"): Case(
        FRONT,
        _half_pair,
        [
            "intent.yaml:16:7: error[FAB216]: fabric 'front': bond 1 on front-leaf001: expected a link of "
            "one server, or half of those of an attachment, to each leaf, got links between web-0001 and "
            "front-leaf001 (8 bonds in all)"
        ],
    ),
    ("FAB217", "another's"): Case(
        BACKEND,
        _owner,
        [
            "intent.yaml:18:7: error[FAB217]: fabric 'backend': the link between gpu-0001 and "
            "backend-leaf001: expected tenant 'red', got tenant 'blue'"
        ],
    ),
    ("FAB217", "no device"): Case(
        BACKEND,
        lambda d: tenancy(d, owner=np.where(d.fabric.tenancy.owner == 1, -2, d.fabric.tenancy.owner)),
        [
            "intent.yaml:18:7: error[FAB217]: fabric 'backend': the link between gpu-0006 and "
            "backend-leaf003: expected tenant 'blue', got no tenant (port shut down) (12 links in all)"
        ],
    ),
    ("FAB217", "no address"): Case(
        FRONT,
        _no_address,
        [
            "intent.yaml:17:58: error[FAB217]: fabric 'front': network 'blue/login': no server address on "
            "the link between web-0006 and front-leaf003 (6 links in all)"
        ],
    ),
}
