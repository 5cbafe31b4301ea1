"""A small site with tenants for pushes."""

from __future__ import annotations

from pathlib import Path

from fabric import pipeline
from fabric.model.plan import Plan

SITE = """\
version: 1
site: dc1
catalog: {{servers: {{node: {{gpus: 8, nics: {{compute: {{count: 2, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    nos: nxos
    servers: {{model: node, count: {servers}, per_rack: 2, name: gpu}}
    topology: {{switch: n9364d-gx2a, rails: 2, unit: {{servers: 4}}, attachments: [{{name: ufm, links: 1}}]}}
    overlay: {{kind: evpn-vxlan}}
    tenants:
      - {{name: red, servers: gpu-0001, networks: [{{name: web, vlan: 100, gateway: 10.20.0.0/24}}]}}
      - {{name: blue, servers: gpu-0002..{last}}}
"""


def plan_of(folder: Path, servers: int = 4, site: str = "dc1") -> Plan:
    path = folder / "intent.yaml"
    path.write_text(SITE.format(servers=servers, last=f"{servers:04}").replace("site: dc1", f"site: {site}"))
    return pipeline.plan(pipeline.load(path))


def total(tallies: dict[str, tuple[int, int, int, int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*tallies.values(), strict=True)))
