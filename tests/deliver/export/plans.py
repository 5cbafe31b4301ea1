"""Plans of every shape for the exports of other tools' formats."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from fabric import pipeline
from fabric.model.plan import Plan
from tests import ROOT

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    two: {gpus: 8, nvlink_domain_gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
    quad: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}
    odd: {gpus: 6, nics: {compute: {count: 4, speed_gbps: 800}}}
fabrics:
"""
DESIGNS = {
    "rails": "f: {servers: {model: dgx-h100, count: 127}, topology: {switch: 64x400g, unit: {servers: 32},"
    " attachments: [{name: ufm, links: 4}]}}",
    "three-tiers": "f: {servers: {model: quad, count: 60}, topology: {switch: 16x400g, tiers: 3, unit: {servers: 8}}}",
    "one-unit": "f: {servers: {model: dgx-h100, count: 16, per_rack: 4}, topology: {switch: 64x400g, unit: {servers: 16}}}",
    "planes": "f: {servers: {model: two, count: 48}, topology: {switch: sn5600, planes: 2, unit: {servers: 16}}}",
    "rail-only": "f: {servers: {model: dgx-h100, count: 64},"
    " topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}",
    "collapsed": "f: {servers: {model: odd, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "racks-dual-tor": "f: {purpose: frontend, servers: {model: hgx-h100, count: 24, per_rack: 4},"
    " topology: {switch: 64x200g, dual_tor: true}}",
    "nvl72": "f: {servers: {model: gb300-tray, count: 72, per_rack: 18}, topology: {switch: 128x800g, unit: {servers: 36}}}",
    "nvl72-across": "f: {servers: {model: gb300-tray, count: 72}, topology: {switch: sn5600, unit: {servers: 32}}}",
    "mixed": "f: {servers: [{model: dgx-h100, count: 96}, {model: quad, count: 70}],"
    " topology: {switch: sn5600, unit: {servers: 32}}}",
    "infiniband": "f: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "two-clusters": "f: {servers: {model: dgx-h100, count: 32}, topology: {switch: sn5600, unit: {servers: 16}}}\n"
    "  g: {servers: {model: quad, count: 32}, topology: {switch: sn5600, unit: {servers: 16}}}",
    "shared": "f: {servers: {model: dgx-h100, count: 32}, topology: {switch: sn5600, unit: {servers: 16}}}\n"
    "  storage: {purpose: storage, servers: {model: dgx-h100, count: 32, per_rack: 4}, topology: {switch: sn5600}}\n"
    "  oob: {purpose: oob, servers: {model: dgx-h100, count: 32, per_rack: 4}, topology: {switch: sn2201}}",
    "storage-alone": "s: {purpose: storage, servers: {model: storage-2x200, count: 40, per_rack: 20},"
    " topology: {switch: sn5600}}",
    "names": "f: {servers: {model: dgx-h100, count: 12, name: GpU}, topology: {switch: 64x400g, unit: {servers: 4}},"
    ' names: {server: "{group}_{n}.X", leaf: "0x1.{n}"}}',
}


@cache
def plan(name: str) -> Plan:
    """A design of the table above, or an intent of the repository by the name of its file."""
    if name not in DESIGNS:
        return pipeline.plan(pipeline.load(ROOT / "intent" / f"{name}.yaml"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "intent.yaml"
        path.write_text(f"{HEAD}  {DESIGNS[name]}\n", encoding="utf-8")
        return pipeline.plan(pipeline.load(path))
