"""Small sites of every shape for the tests of bills: all lengths stated, so that planned and wired cables are as long."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.model.plan import Plan

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    two: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
    quad: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}
    one: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}
fabrics:
"""
LENGTHS = "cable_length_m: {server-leaf: 3, leaf-leaf: 2, leaf-spine: 30, spine-core: 80, attachments: 10}"

DESIGNS = {
    "two-tier": "{servers: {model: dgx-h100, count: 127}, topology: {switch: 64x400g, unit: {servers: 32},"
    " attachments: [{name: ufm, links: 4}]}}",
    "starter": "{servers: {model: dgx-h100, count: 8}, topology: {switch: sn5600, rails: 2, unit: {servers: 8}}}",
    "half-units": "{servers: {model: dgx-h100, count: 70}, topology: {switch: sn5600, unit: {servers: 32}}}",
    "few-uplinks": "{servers: {model: dgx-h100, count: 70}, topology: {switch: sn5600, unit: {servers: 32, full: false}}}",
    "three-tier": "{servers: {model: dgx-b200, count: 500}, topology: {switch: sn5400, unit: {servers: 32}}}",
    "planes": "{servers: {model: two, count: 128}, topology: {switch: sn5600, planes: 2, unit: {servers: 64}}}",
    "rail-only": "{servers: {model: dgx-h100, count: 64}, topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}",
    "collapsed": "{servers: {model: dgx-h100, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "planned": "{servers: {model: dgx-h100, count: 64}, planned: {servers: 256},"
    " topology: {switch: 64x400g, unit: {servers: 32}, spine: {count: 16}}}",
    "infiniband": "{servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "racks": "{purpose: storage, servers: {model: dgx-h100, count: 90, per_rack: 4},"
    " topology: {switch: sn5600, leaf: {oversubscription: 3}}}",
    "mixed": "{servers: [{model: dgx-h100, count: 96}, {model: quad, count: 70}],"
    " topology: {switch: sn5600, unit: {servers: 32}}}",
    "dual-tor": "{servers: {model: two, count: 100}, topology: {switch: sn5600, dual_tor: true,"
    " unit: {servers: 16}, leaf: {oversubscription: 1.5, spare_server_ports: 2}}}",
    "split-uplinks": "{servers: {model: dgx-h100, count: 64}, topology: {leaf: {switch: sn5600}, spine: {switch: 64x400g},"
    " unit: {servers: 32}}}",
    "tiny-three-tiers": "{servers: {model: one, count: 8}, topology: {switch: 4x100g, tiers: 3}}",
    "frontend": "{purpose: frontend, servers: {model: cpu-2x25, count: 40, per_rack: 20},"
    " topology: {switch: 7050sx3-48yc8, leaf: {oversubscription: 2}}}",
    "oob": "{purpose: oob, servers: {model: dgx-h100, count: 16, per_rack: 4}, topology: {switch: sn2201}}",
}


def site(folder: Path, *names: str, more: str = "") -> pipeline.Intent:
    """Designs side by side as the fabrics of one site."""
    path = folder / "intent.yaml"
    bodies = [DESIGNS[name].replace("topology: {", "topology: {" + LENGTHS + ", ") for name in names]
    text = HEAD + "".join(f"  {name}: {body}\n" for name, body in zip(names, bodies, strict=True)) + more
    path.write_text(text, encoding="utf-8")
    return pipeline.load(path)


def plan(folder: Path, *names: str, more: str = "") -> Plan:
    return pipeline.plan(site(folder, *names, more=more))
