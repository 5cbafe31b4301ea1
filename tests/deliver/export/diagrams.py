"""Fabrics of every shape that a diagram draws differently, from 2 switches to 1,280."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from fabric import pipeline
from fabric.model.plan import Plan
from tests import ROOT

HOSTILE = "<script>alert('1')</script>&\"x"

TWO_PORTS = "{gpus: 8, power_max_w: 10200, nvlink_domain_gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}"
ONE_PORT = "{gpus: 1, nvlink_domain_gpus: 1, nics: {compute: {count: 1, ports: 1, speed_gbps: 100}}}"
DESIGNS = {
    "four-units": "{servers: {model: dgx-h100, count: 128}, topology: {switch: 64x400g, unit: {servers: 32}}}",
    "one-unit": "{servers: {model: dgx-h100, count: 16}, topology: {switch: 64x400g, unit: {servers: 16}}}",
    "three-tiers": "{servers: {model: dgx-h100, count: 512}, topology: {switch: 64x400g, unit: {servers: 32}}}",
    "1280-switches": (
        "{servers: {model: dgx-h100, count: 2048}, topology: {switch: 64x400g, unit: {servers: 32}, pods: {units: 4}}}"
    ),
    "planes": "{servers: {model: two, count: 256}, topology: {switch: sn5600, planes: 2, unit: {servers: 64}}}",
    "planes-in-pods": (
        "{servers: {model: two, count: 2048}, topology: {switch: sn5600, planes: 2, tiers: 3, unit: {servers: 64}}}"
    ),
    "dual-tor": "{servers: {model: two, count: 100}, topology: {switch: sn5600, dual_tor: true, unit: {servers: 16}}}",
    "rail-only": (
        "{servers: {model: dgx-h100, count: 256}, topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}"
    ),
    "collapsed": "{servers: {model: dgx-h100, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "racks": (
        "{purpose: storage, servers: {model: dgx-h100, count: 96, per_rack: 4},"
        " topology: {switch: sn5600, leaf: {oversubscription: 3}}}"
    ),
    "mixed": (
        "{servers: [{model: dgx-h100, count: 96}, {model: dgx-a100, count: 70}],"
        " topology: {switch: sn5600, unit: {servers: 32}, attachments: [{name: ufm, links: 4}]}}"
    ),
    "mixed-in-pods": (
        "{servers: [{model: dgx-h100, count: 300}, {model: dgx-a100, count: 200, name: old}],"
        " topology: {switch: 64x400g, tiers: 3, unit: {servers: 32}, attachments: [{name: ufm, links: 4}]}}"
    ),
    "infiniband": "{servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "tiny-three-tiers": "{servers: {model: one, count: 8}, topology: {switch: 4x100g, tiers: 3}}",
    "long-names": (
        "{servers: {model: dgx-h100, count: 128, name: accelerated-training-hall-two},"
        " topology: {switch: 64x400g, unit: {servers: 32}},"
        ' names: {leaf: "leaf-of-{site}-{fabric}-in-the-second-hall-{n}"}}'
    ),
}


def made(folder: Path, *fabrics: str) -> Plan:
    """A plan of these fabrics, f0, f1, …"""
    body = "\n".join(f"  f{at}: {fabric}" for at, fabric in enumerate(fabrics))
    path = folder / "intent.yaml"
    servers = f"{{servers: {{two: {TWO_PORTS}, one: {ONE_PORT}}}}}"
    path.write_text(f"version: 1\nsite: dc1\ncatalog: {servers}\nfabrics:\n{body}\n", encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


@cache
def plan(design: str) -> Plan:
    """The plan of a design of the table above."""
    with tempfile.TemporaryDirectory() as folder:
        return made(Path(folder), DESIGNS[design])


def of_intent(name: str) -> Plan:
    """A plan of a real example."""
    return pipeline.plan(pipeline.load(ROOT / "intent" / name))


def hostile(plan: Plan) -> Plan:
    """The plan's first fabric with markup for every name that a person gives; devices stay apart."""
    fabric = next(iter(plan.fabrics.values()))
    devices = tuple(replace(device, name=f"{HOSTILE}{device.index}", model=HOSTILE) for device in fabric.devices)
    return replace(plan, site=HOSTILE, fabrics={HOSTILE: replace(fabric, name=HOSTILE, devices=devices)})
