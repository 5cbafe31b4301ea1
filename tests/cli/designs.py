"""One small intent of every shape that the command prints differently."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    two: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}
    quad: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}
fabrics:
"""

DESIGNS = {
    "two-tier": "backend: {servers: {model: dgx-h100, count: 127}, topology: {switch: 64x400g, unit: {servers: 32},"
    " attachments: [{name: ufm, links: 4}]}}",
    "three-tier": "backend: {servers: {model: dgx-b200, count: 500}, topology: {switch: sn5400, unit: {servers: 32}}}",
    "planes": "backend: {servers: {model: two, count: 256}, topology: {switch: sn5600, planes: 2, unit: {servers: 64}}}",
    "rail-only": "backend: {servers: {model: dgx-h100, count: 256},"
    " topology: {kind: rail-only, switch: 64x400g, unit: {servers: 32}}}",
    "collapsed": "backend: {servers: {model: dgx-h100, count: 12}, topology: {kind: collapsed, switch: sn5600}}",
    "planned": "backend: {servers: {model: dgx-h100, count: 64}, planned: {servers: 256},"
    " topology: {switch: 64x400g, unit: {servers: 32}, spine: {count: 16}}}",
    "infiniband": "backend: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "two-fabrics": "backend: {servers: {model: dgx-h100, count: 64}, topology: {switch: sn5600, unit: {servers: 32}}}\n"
    "  storage: {purpose: storage, servers: {model: dgx-h100, count: 64, per_rack: 6},"
    " topology: {switch: sn5600, leaf: {oversubscription: 3}}}",
    "mixed": "backend: {servers: [{model: dgx-h100, count: 96}, {model: quad, count: 70}],"
    " topology: {switch: sn5600, unit: {servers: 32}}, underlay: {asn: {scheme: per-device}}}",
    "racks-dual-tor": "backend: {servers: {model: two, count: 100}, topology: {switch: sn5600, dual_tor: true,"
    " unit: {servers: 16}, leaf: {oversubscription: 1.5, spare_server_ports: 2}}}",
}


def write(folder: Path, name: str, file: str = "intent.yaml") -> Path:
    """The design of that name as an intent."""
    path = folder / file
    path.write_text(f"{HEAD}  {DESIGNS[name]}\n", encoding="utf-8")
    return path
