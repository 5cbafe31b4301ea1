"""Failures and bandwidth: a design that holds each property, and designs that break it."""

from __future__ import annotations

from tests.audit.checks.design.designs import BACKEND, FRONT, PODS, Case, Cases, Design, at, links, relink, unlink


def _skewed(about: Design, leaves: int) -> Design:
    """Leaves keep their uplinks, but those of the first unit end on two spines, and of the second on the other two."""
    for leaf, spines in ((1, (1, 2)), (2, (1, 2)), (3, (3, 4)), (4, (3, 4)))[:leaves]:
        for spine in range(1, 5):
            if spine not in spines:
                for row in links(about, f"backend-leaf00{leaf}", f"backend-spine00{spine}"):
                    about = relink(about, row, b=at(about, f"backend-spine00{spines[spine % 2]}"))
    return about


STORE = """\
version: 1
site: dc1
catalog: {servers: {node: {gpus: 0, nics: {storage: {count: 2, speed_gbps: 200}}}}}
fabrics:
  store:
    purpose: storage
    nos: frr
    servers: {model: node, count: 8, name: node}
    topology: {switch: 32x400g, kind: rail-optimized, unit: {servers: 4}}
"""
UPLINK = ("backend-leaf001", "backend-spine001")
SPARE = BACKEND.replace("    qos: {}\n", "    planned: {servers: 16}\n    qos: {}\n")

CASES: Cases = {
    ("FAB234", "two"): Case(
        BACKEND,
        ("min_count: 4", "min_count: 2"),
        ["intent.yaml:14:14: note[FAB234]: fabric 'backend': expected at least 4 spines in a lossless fabric, got 2"],
    ),
    ("FAB234", "two of many leaves"): Case(
        BACKEND.replace("count: 8", "count: 16"),
        ("spine: {min_count: 4}", "spine: {min_count: 2}"),
        ["intent.yaml:14:14: warning[FAB234]: fabric 'backend': expected at least 4 spines in a lossless fabric, got 2"],
    ),
    ("FAB235", "servers"): Case(
        FRONT.replace("networks: [{name: login, gateway: 10.20.0.0/24}]", "").replace(
            "networks: [{name: login, gateway: 10.30.0.0/24}]", ""
        ),
        ("dual_tor: true", "dual_tor: false"),
        [
            "intent.yaml:12:17: warning[FAB235]: fabric 'front': server web-0001 is connected to only one "
            "leaf (8 servers in all)"
        ],
    ),
    ("FAB235", "storage"): Case(
        STORE,
        ("kind: rail-optimized", "kind: rack"),
        [
            "intent.yaml:9:15: note[FAB235]: fabric 'store': server node-0001 is connected to only one "
            "leaf (8 servers in all)\n"
            "    hint: set `kind: rail-optimized` to connect each NIC of a server to a different leaf"
        ],
    ),
    ("FAB235", "one switch"): Case(
        STORE.replace("kind: rail-optimized, unit: {servers: 4}", "kind: collapsed"),
        ("kind: collapsed", "tiers: 1"),
        [
            "intent.yaml:9:15: note[FAB235]: fabric 'store': server node-0001 is connected to only one "
            "leaf (8 servers in all)\n"
            "    hint: one switch has all ports: `kind: collapsed` builds a pair, with half of the ports of each server on "
            "either switch"
        ],
    ),
    ("FAB235", "external connection"): Case(
        FRONT,
        ("links: 2", "links: 1"),
        ["intent.yaml:13:20: warning[FAB235]: fabric 'front': all external connections are on one leaf, front-leaf001"],
    ),
    ("FAB236", "leaf"): Case(
        BACKEND,
        lambda d: unlink(d, links(d, *UPLINK)[:1]),
        [
            "intent.yaml:13:13: error[FAB236]: fabric 'backend': backend-leaf001: expected an "
            "oversubscription of at most 1:1, got 1.14:1"
        ],
    ),
    ("FAB236", "no uplink"): Case(
        PODS,
        lambda d: unlink(d, [r for n in (1, 2) for r in links(d, "backend-leaf001", f"backend-spine00{n}")]),
        ["intent.yaml:13:13: error[FAB236]: fabric 'backend': backend-leaf001 has no uplinks"],
    ),
    ("FAB236", "spine"): Case(
        PODS,
        lambda d: unlink(d, links(d, "backend-spine001", "backend-core001")[:9]),
        [
            "intent.yaml:9:7: error[FAB236]: fabric 'backend': backend-spine001: expected an "
            "oversubscription of at most 1:1, got 1.14:1"
        ],
    ),
    ("FAB236", "unbuilt"): Case(
        SPARE,
        ("min_count: 4", "min_count: 4, count: 2"),
        [
            "intent.yaml:13:13: warning[FAB236]: fabric 'backend': backend-leaf001: expected an "
            "oversubscription of at most 1:1, got 2:1 (4 switches in all); spines or cores of the planned "
            "size are not built yet"
        ],
    ),
    ("FAB237", "skewed"): Case(
        BACKEND,
        lambda d: _skewed(d, 3),
        [
            "intent.yaml:10:7: error[FAB237]: fabric 'backend': 2 leaves from backend-leaf001 against 2 leaves "
            "from backend-leaf003: expected at least 100.0% of NIC speed, got 25.0%"
        ],
    ),
    ("FAB237", "split"): Case(
        BACKEND,
        lambda d: _skewed(d, 4),
        ["intent.yaml:10:7: error[FAB237]: fabric 'backend': expected 1 isolated network (one per plane and rail), got 2"],
    ),
}
