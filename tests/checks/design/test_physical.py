"""Cables and ports: a design that holds each property, and designs that break it."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.design.designs import BACKEND, PLANES, PODS, Case, Cases, Design, alter, at, links, relink, unlink


def _moved(about: Design, low: str, old: str, new: str) -> Design:
    """A cable that ends on another switch."""
    return relink(about, links(about, low, old)[0], b=at(about, new))


def _same_port(about: Design) -> Design:
    one, other = links(about, "backend-leaf001", "backend-spine001")
    columns = about.fabric.links
    return relink(about, one, b_cage=int(columns.b_cage[other]), b_sub=int(columns.b_sub[other]))


def _driven(about: Design) -> Design:
    """A box whose chip drives four ports."""
    spec = about.fabric.spec
    model = spec.spine.model.model_copy(update={"max_logical_ports": 4})
    return alter(about, spec=replace(spec, spine=replace(spec.spine, model=model)))


LENGTHS = ("      rails: 2\n", "      rails: 2\n      cable_length_m: {leaf-spine: %d}\n")
UPLINK = ("backend-leaf001", "backend-spine001")

CASES: Cases = {
    ("FAB229", "lost link"): Case(
        BACKEND,
        lambda d: unlink(d, links(d, *UPLINK)[:1]),
        [
            "intent.yaml:14:14: error[FAB229]: fabric 'backend': backend-leaf001: links: expected 2 to each of 4 "
            "spines, got 1 to backend-spine001, 2 to backend-spine002, 2 to backend-spine003, 2 to "
            "backend-spine004"
        ],
    ),
    ("FAB229", "lost spine"): Case(
        BACKEND,
        lambda d: unlink(d, links(d, *UPLINK)),
        [
            "intent.yaml:14:14: error[FAB229]: fabric 'backend': backend-leaf001: links: expected 2 to each of 4 "
            "spines, got 2 to backend-spine002, 2 to backend-spine003, 2 to backend-spine004"
        ],
    ),
    ("FAB229", "no uplink"): Case(
        PODS,
        lambda d: unlink(d, [r for n in (1, 2) for r in links(d, "backend-leaf001", f"backend-spine00{n}")]),
        [
            "intent.yaml:9:7: error[FAB229]: fabric 'backend': backend-leaf001: links: expected 1 to each of 2 "
            "spines, got none"
        ],
    ),
    ("FAB229", "speeds"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], speed_gbps=800),
        ["intent.yaml:14:14: error[FAB229]: fabric 'backend': expected leaf-spine links of one speed, got 400G and 800G"],
    ),
    ("FAB229", "cores"): Case(
        PODS,
        lambda d: unlink(d, links(d, "backend-spine001", "backend-core001")[:1]),
        [
            "intent.yaml:9:7: error[FAB229]: fabric 'backend': backend-spine001: links: expected 16 to each of 1 "
            "core, got 15 to backend-core001"
        ],
    ),
    ("FAB230", "planes"): Case(
        PLANES,
        lambda d: _moved(d, "backend-leaf001", "backend-spine001", "backend-spine003"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between backend-leaf001 and "
            "backend-spine003: expected one plane, got 1 and 2"
        ],
    ),
    ("FAB230", "server on the other plane"): Case(
        PLANES,
        lambda d: _moved(d, "tray-0001", "backend-leaf001", "backend-leaf002"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between tray-0001 and backend-leaf002: "
            "expected a leaf of plane 1, got plane 2"
        ],
    ),
    ("FAB230", "rails"): Case(
        BACKEND,
        lambda d: _moved(d, "gpu-0001", "backend-leaf001", "backend-leaf002"),
        [
            "intent.yaml:10:7: error[FAB230]: fabric 'backend': the link between gpu-0001 and backend-leaf002: "
            "expected a leaf of rail 1, got rail 2"
        ],
    ),
    ("FAB230", "units"): Case(
        BACKEND,
        lambda d: _moved(d, "gpu-0001", "backend-leaf001", "backend-leaf003"),
        [
            "intent.yaml:10:7: error[FAB230]: fabric 'backend': the link between gpu-0001 and backend-leaf003: "
            "expected a leaf of unit 1, got unit 2"
        ],
    ),
    ("FAB230", "spines of rails"): Case(
        PLANES.replace("planes: 2", "planes: 2, kind: rail-only"),
        lambda d: _moved(d, "backend-leaf001", "backend-spine001", "backend-spine005"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between backend-leaf001 and "
            "backend-spine005: expected one rail, got 1 and 2"
        ],
    ),
    ("FAB231", "twice"): Case(
        BACKEND,
        _same_port,
        ["intent.yaml:10:7: error[FAB231]: fabric 'backend': backend-spine001: expected one cable in port 1/2, got 2"],
    ),
    ("FAB231", "no such cage"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], b_cage=65),
        ["intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: expected cages 1 to 64, got 65"],
    ),
    ("FAB231", "no such split"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], a_split=3),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-leaf001: expected cage 61 as one of "
            "1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, got 3x400G",
            "intent.yaml:10:7: error[FAB231]: fabric 'backend': backend-leaf001: expected cage 61 split one way, "
            "got 2x400G and 3x400G",
        ],
    ),
    ("FAB231", "no such part"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], b_sub=2),
        ["intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: expected ports 1 to 2 of cage 1, got 3"],
    ),
    ("FAB231", "two splits"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], speed_gbps=100, b_split=8),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: expected cage 1 as one of "
            "1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, got 8x100G",
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-leaf001: expected cage 61 as one of "
            "1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, got 2x100G",
            "intent.yaml:10:7: error[FAB231]: fabric 'backend': backend-spine001: expected cage 1 split one way, "
            "got 2x400G and 8x100G (2 cages in all)",
        ],
    ),
    ("FAB231", "chip"): Case(
        BACKEND,
        _driven,
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': expected at most the 4 ports that the chip "
            "drives, got 8 on backend-spine001 and 3 more"
        ],
    ),
    ("FAB231", "NIC"): Case(
        BACKEND,
        lambda d: relink(d, links(d, "gpu-0001", "backend-leaf001")[0], a_cage=5),
        ["intent.yaml:8:14: error[FAB231]: fabric 'backend': gpu-0001: expected ports up to NIC 4 port 1, got NIC 5 port 1"],
    ),
    ("FAB232", "NIC"): Case(
        BACKEND,
        lambda d: relink(d, links(d, "gpu-0001", "backend-leaf001")[0], speed_gbps=200),
        [
            "intent.yaml:8:14: error[FAB232]: fabric 'backend': the link between gpu-0001 and backend-leaf001: "
            "expected the 400G of the NIC, got 200G"
        ],
    ),
    ("FAB233", "far"): Case(
        BACKEND,
        (LENGTHS[0], LENGTHS[1] % 3000),
        [
            "intent.yaml:12:36: warning[FAB233]: fabric 'backend': leaf-spine at 400G: expected at most 2,000 m "
            "within one site, got 3,000"
        ],
    ),
    ("FAB233", "too far"): Case(
        PODS,
        ("      tiers: 3\n", "      tiers: 3\n      cable_length_m: {spine-core: 90000}\n"),
        [
            "intent.yaml:11:36: error[FAB233]: fabric 'backend': spine-core at 400G: expected at most 80,000 m, "
            "the reach of a standard optic, got 90,000"
        ],
    ),
}
