"""Designs that reports are made of: three sizes, and every kind of fabric."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest
from fabric.model.plan import Plan

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    quad: {gpus: 4, rack_units: 4, nics: {compute: {count: 4, speed_gbps: 400}}}
    twin: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
    plain: {gpus: 0, nics: {frontend: {count: 2, speed_gbps: 100}, bmc: {count: 1, speed_gbps: 1}}}
fabrics:
"""

SIZES = {  # 12, 80 and 1,280 switches
    "small": "backend: {servers: {model: dgx-h100, count: 32, per_rack: 4}, topology: {switch: sn5400, unit: {servers: 32}}}",
    "medium": "backend: {servers: {model: quad, count: 64, per_rack: 4},"
    " topology: {switch: 16x400g, tiers: 3, unit: {servers: 8}, pods: {units: 2}}}",
    "large": "backend: {servers: {model: quad, count: 2048, per_rack: 8},"
    " topology: {switch: 32x400g, tiers: 3, unit: {servers: 16}, pods: {units: 4}}}",
}
KINDS = {
    "planes": "backend: {servers: {model: twin, count: 64}, topology: {switch: sn5600, planes: 2, unit: {servers: 32}}}",
    "rail-only": "backend: {servers: {model: dgx-h100, count: 64},"
    " topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}",
    "collapsed": "backend: {servers: {model: dgx-h100, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "infiniband": "backend: {servers: {model: dgx-h100, count: 63, per_rack: 4},"
    " topology: {switch: qm9700, unit: {servers: 32}, attachments: [{name: ufm, links: 4}]}}",
    "two-fabrics": "backend: {servers: {model: dgx-h100, count: 64}, topology: {switch: sn5600, unit: {servers: 32}}}\n"
    "  storage: {purpose: storage, servers: {model: dgx-h100, count: 64, per_rack: 8},"
    " topology: {switch: sn5600, leaf: {oversubscription: 3}}}",
    "mixed": "backend: {servers: [{model: dgx-h100, count: 32}, {model: quad, count: 40}],"
    " topology: {switch: sn5600, unit: {servers: 16}}}",
    "dual-tor": "backend: {servers: {model: twin, count: 32}, topology: {switch: sn5600, dual_tor: true,"
    " unit: {servers: 16}, leaf: {oversubscription: 1.5}}}",
    "no-gpus": "web: {purpose: frontend, servers: {model: plain, count: 40, per_rack: 10},"
    " topology: {switch: 32x100g, leaf: {oversubscription: 3}}}",
    "oob": "mgmt: {purpose: oob, servers: {model: plain, count: 40, per_rack: 20, nics: bmc}, topology: {switch: 48x1g}}",
    "unjoined": "backend: {servers: {model: dgx-a100, count: 4}, topology: {switch: sn5600, unit: {servers: 4}}}",
    "one-server": "backend: {servers: {model: dgx-h100, count: 1}, topology: {switch: 64x400g}}",
}
DESIGNS = SIZES | KINDS


def write(folder: Path, name: str) -> Path:
    """The design of that name as an intent."""
    path = folder / f"{name}.yaml"
    path.write_text(f"{HEAD}  {DESIGNS[name]}\n", encoding="utf-8")
    return path


@cache
def plan_of(name: str) -> Plan:
    """The plan of a design, made once."""
    with TemporaryDirectory() as folder:
        return pipeline.plan(pipeline.load(write(Path(folder), name)))


@cache
def page_of(name: str) -> str:
    """The report of a design as the command writes it without options, made once."""
    return page(plan_of(name), ReportRequest())
