"""Cables and ports: a design that holds each property, and designs that break it."""

from __future__ import annotations

from dataclasses import replace

from fabric.hardware.catalog.models import Pipelines
from tests.audit.checks.design.designs import BACKEND, PLANES, PODS, Case, Cases, Design, alter, at, links, relink, unlink


def _moved(about: Design, low: str, old: str, new: str) -> Design:
    """A cable that ends on another switch."""
    return relink(about, links(about, low, old)[0], b=at(about, new))


def _same_port(about: Design) -> Design:
    one, other = links(about, "backend-leaf001", "backend-spine001")
    columns = about.fabric.links
    return relink(about, one, b_cage=int(columns.b_cage[other]), b_sub=int(columns.b_sub[other]))


def _driven(about: Design, **limit: object) -> Design:
    """Spines whose chip, or each pipeline of it, drives four ports."""
    spec = about.fabric.spec
    model = spec.spine.model.model_copy(update=limit or {"max_logical_ports": 4})
    return alter(about, spec=replace(spec, spine=replace(spec.spine, model=model)))


LENGTHS = ("      rails: 2\n", "      rails: 2\n      cable_length_m: {leaf-spine: %d}\n")
UPLINK = ("backend-leaf001", "backend-spine001")

CASES: Cases = {
    ("FAB229", "lost link"): Case(
        BACKEND,
        lambda d: unlink(d, links(d, *UPLINK)[:1]),
        [
            "intent.yaml:14:14: error[FAB229]: fabric 'backend': backend-leaf001: expected 2 links to "
            "each of 4 spines, got 1 to backend-spine001, 2 to backend-spine002, 2 to backend-spine003, 2 "
            "to backend-spine004"
        ],
    ),
    ("FAB229", "lost spine"): Case(
        BACKEND,
        lambda d: unlink(d, links(d, *UPLINK)),
        [
            "intent.yaml:14:14: error[FAB229]: fabric 'backend': backend-leaf001: expected 2 links to "
            "each of 4 spines, got 2 to backend-spine002, 2 to backend-spine003, 2 to backend-spine004"
        ],
    ),
    ("FAB229", "no uplink"): Case(
        PODS,
        lambda d: unlink(d, [r for n in (1, 2) for r in links(d, "backend-leaf001", f"backend-spine00{n}")]),
        ["intent.yaml:9:7: error[FAB229]: fabric 'backend': backend-leaf001: expected 1 link to each of 2 spines, got none"],
    ),
    ("FAB229", "speeds"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], speed_gbps=800),
        ["intent.yaml:14:14: error[FAB229]: fabric 'backend': leaf-spine links have different speeds: 400G and 800G"],
    ),
    ("FAB229", "cores"): Case(
        PODS,
        lambda d: unlink(d, links(d, "backend-spine001", "backend-core001")[:1]),
        [
            "intent.yaml:9:7: error[FAB229]: fabric 'backend': backend-spine001: expected 16 links to "
            "each of 1 core, got 15 to backend-core001"
        ],
    ),
    ("FAB230", "planes"): Case(
        PLANES,
        lambda d: _moved(d, "backend-leaf001", "backend-spine001", "backend-spine003"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between backend-leaf001 and "
            "backend-spine003 connects plane 1 with plane 2"
        ],
    ),
    ("FAB230", "server on the other plane"): Case(
        PLANES,
        lambda d: _moved(d, "tray-0001", "backend-leaf001", "backend-leaf002"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between tray-0001 and "
            "backend-leaf002: expected plane 1, got plane 2"
        ],
    ),
    ("FAB230", "rails"): Case(
        BACKEND,
        lambda d: _moved(d, "gpu-0001", "backend-leaf001", "backend-leaf002"),
        [
            "intent.yaml:10:7: error[FAB230]: fabric 'backend': the link between gpu-0001 and "
            "backend-leaf002: expected rail 1, got rail 2"
        ],
    ),
    ("FAB230", "units"): Case(
        BACKEND,
        lambda d: _moved(d, "gpu-0001", "backend-leaf001", "backend-leaf003"),
        [
            "intent.yaml:10:7: error[FAB230]: fabric 'backend': the link between gpu-0001 and "
            "backend-leaf003: expected unit 1, got unit 2"
        ],
    ),
    ("FAB230", "spines of rails"): Case(
        PLANES.replace("planes: 2", "planes: 2, kind: rail-only"),
        lambda d: _moved(d, "backend-leaf001", "backend-spine001", "backend-spine005"),
        [
            "intent.yaml:8:15: error[FAB230]: fabric 'backend': the link between backend-leaf001 and "
            "backend-spine005 connects rail 1 with rail 2"
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
        ["intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: expected a cage from 1 to 64, got 65"],
    ),
    ("FAB231", "no such split"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], a_split=3),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-leaf001: cage 61: expected one "
            "of the breakouts 1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, 4x10G, got 3x400G",
            "intent.yaml:10:7: error[FAB231]: fabric 'backend': backend-leaf001: cage 61 has two "
            "different breakouts, 2x400G and 3x400G",
        ],
    ),
    ("FAB231", "no such part"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], b_sub=2),
        ["intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: cage 1: expected a port from 1 to 2, got 3"],
    ),
    ("FAB231", "two splits"): Case(
        BACKEND,
        lambda d: relink(d, links(d, *UPLINK)[0], speed_gbps=100, b_split=8),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: cage 1: expected one "
            "of the breakouts 1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, 4x10G, got 8x100G",
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-leaf001: cage 61: expected one "
            "of the breakouts 1x800G, 2x400G, 4x200G, 4x100G, 4x50G, 1x40G, 4x25G, 4x10G, got 2x100G",
            "intent.yaml:10:7: error[FAB231]: fabric 'backend': backend-spine001: cage 1 has two "
            "different breakouts, 2x400G and 8x100G (2 cages in all)",
        ],
    ),
    ("FAB231", "disabled"): Case(
        BACKEND,
        lambda d: _driven(d, disables_next=2),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: a cage of 2x400G disables the next: "
            "expected no cable in cage 2, got one"
        ],
    ),
    ("FAB231", "even"): Case(
        BACKEND,
        lambda d: _driven(
            unlink(d, [row for row in range(len(d.fabric.links)) if d.fabric.links.b_cage[row] == 1]), disables_next=2
        ),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: a cage of 2x400G disables the next: "
            "expected an odd cage, got 2"
        ],
    ),
    ("FAB231", "chip"): Case(
        BACKEND,
        _driven,
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': expected at most 4 logical ports, the "
            "limit of the ASIC, got 8 on backend-spine001 and 3 more"
        ],
    ),
    ("FAB231", "pipeline"): Case(
        BACKEND,
        lambda d: _driven(d, pipelines=Pipelines(cages=(1, 1), max_ports=3)),
        [
            "intent.yaml:10:15: error[FAB231]: fabric 'backend': backend-spine001: expected at most 3 ports in one pipeline "
            "of the ASIC, got 4 in cages 1, 2 (8 pipelines in all)"
        ],
    ),
    ("FAB231", "NIC"): Case(
        BACKEND,
        lambda d: relink(d, links(d, "gpu-0001", "backend-leaf001")[0], a_cage=5),
        [
            "intent.yaml:8:14: error[FAB231]: fabric 'backend': gpu-0001: the server model has 4 NICs with 1 "
            "port each, but the plan uses NIC 5 port 1"
        ],
    ),
    ("FAB232", "NIC"): Case(
        BACKEND,
        lambda d: relink(d, links(d, "gpu-0001", "backend-leaf001")[0], speed_gbps=200),
        [
            "intent.yaml:8:14: error[FAB232]: fabric 'backend': the link between gpu-0001 and "
            "backend-leaf001: expected the NIC speed, 400G, got 200G"
        ],
    ),
    ("FAB233", "far"): Case(
        BACKEND,
        (LENGTHS[0], LENGTHS[1] % 3000),
        [
            "intent.yaml:12:36: warning[FAB233]: fabric 'backend': leaf-spine cables at 400G: expected at "
            "most 2,000 m within one site, got 3,000 m"
        ],
    ),
    ("FAB233", "too far"): Case(
        PODS,
        ("      tiers: 3\n", "      tiers: 3\n      cable_length_m: {spine-core: 90000}\n"),
        [
            "intent.yaml:11:36: error[FAB233]: fabric 'backend': spine-core cables at 400G: expected at "
            "most 80,000 m, the reach of a standard optic, got 90,000 m"
        ],
    ),
}
