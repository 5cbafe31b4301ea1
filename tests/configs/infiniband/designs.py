"""InfiniBand sites for tests: small ones with their own switches, so that all pairs can be walked."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.configs.infiniband.files import Managed, managed
from fabric.model.plan import Plan

_HEAD = """\
version: 1
site: SITE
catalog:
  switches:
    ib16: {technology: infiniband, breakouts_complete: true, panel: {ports: 2}, ports: [{count: 16, speed_gbps: 400}]}
    ib8: {technology: infiniband, breakouts_complete: true, panel: {ports: 2}, ports: [{count: 8, speed_gbps: 400}]}
  servers:
    node: {gpus: 4, nics: {compute: {count: 2, speed_gbps: 400}}}
    twin: {gpus: 4, nics: {compute: {count: 4, ports: 2, speed_gbps: 800}}}
fabrics:
"""
DESIGNS = {
    "two-tiers": """\
  backend: {servers: {model: dgx-h100, count: 8}, topology: {switch: ib16, unit: {servers: 8}, spine: {count: 4}}}""",
    "partial": """\
  backend:
    servers: {model: dgx-h100, count: 13}
    topology: {switch: ib16, unit: {servers: 8}, spine: {count: 8}, attachments: [{name: ufm, links: 2}]}""",
    "three-tiers": "  backend: {servers: {model: node, count: 32}, topology: {switch: ib8, unit: {servers: 4}, tiers: 3}}",
    "one-switch": "  backend: {servers: {model: node, count: 4}, topology: {switch: ib16}}",
    "planes": """\
  backend:
    servers: {model: twin, count: 8}
    topology: {switch: q3400-ra, unit: {servers: 4}, planes: 2, spine: {count: 4}}""",
    "tenants": """\
  backend:
    servers: {model: dgx-h100, count: 8}
    topology: {switch: ib16, unit: {servers: 8}, spine: {count: 4}}
    tenants:
      - {name: red, servers: dgx-h100-0001..0003, partition: {service_level: 1, served_by: store}}
      - {name: blue, servers: dgx-h100-0004..0006, partition: {pkey: 0x100, members: limited, served_by: [store]}}
      - {name: store, servers: dgx-h100-0007}""",
    "compute-and-storage": """\
  backend: {servers: {model: dgx-h100, count: 8}, topology: {switch: ib16, unit: {servers: 8}, spine: {count: 4}}}
  storage:
    purpose: storage
    servers: {model: dgx-h100, count: 8, per_rack: 4}
    topology: {switch: ib16, spine: {count: 2}}""",
}
STATIC = ("two-tiers", "partial", "three-tiers")  # whose tables are compared with those of a real manager
ENGINES = ("minhop", "updn", "ftree")


def text(name: str, site: str = "") -> str:
    """The intent of a design."""
    return f"{_HEAD.replace('SITE', site or f'ib-{name}')}{DESIGNS[name]}\n"


@cache
def plan(name: str, replaced: tuple[tuple[str, str], ...] = ()) -> Plan:
    """A design, with some words of its intent replaced."""
    its = text(name)
    for old, new in replaced:
        assert old in its
        its = its.replace(old, new)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dc1.yaml"
        path.write_text(its)
        return pipeline.plan(pipeline.load(path))


def subnets(name: str, base: Path = Path()) -> list[Managed]:
    """Its subnets with their GUIDs."""
    return managed(plan(name), base)
