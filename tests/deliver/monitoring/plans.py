"""One small plan of every shape that monitoring has to deal with, and its files in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.deliver.monitoring.prometheus import prometheus
from fabric.model.plan import Plan

HEAD = """\
version: 1
site: dc1
catalog: {servers: {two: {gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}}}
fabrics:
"""
DESIGNS = {
    "sonic": (
        "f: {nos: sonic, servers: {model: dgx-h100, count: 8}, topology: {switch: sn5600, rails: 2, unit: {servers: 8}}}"
    ),
    "unnumbered-planes": (
        "f: {nos: cumulus, underlay: {addressing: unnumbered}, servers: {model: two, count: 16},"
        " topology: {switch: sn5600, planes: 2, unit: {servers: 8}}}"
    ),
    "three-tiers": (
        "f: {nos: nxos, servers: {model: dgx-h100, count: 16}, topology: {switch: 16x400g, tiers: 3, unit: {servers: 4}}}"
    ),
    "attached": (
        "f: {nos: eos, servers: {model: dgx-h100, count: 31, per_rack: 4},"
        " topology: {switch: 7060dx5-64s, unit: {servers: 32},"
        " attachments: [{name: ufm, links: 2}]}}"
    ),
    "collapsed": "f: {nos: frr, servers: {model: dgx-h100, count: 4}, topology: {kind: collapsed, switch: 64x400g}}",
    "front-end": (
        "f: {purpose: frontend, nos: junos, servers: {model: dgx-h100, count: 8, per_rack: 4},"
        " topology: {switch: qfx5240-64od}}"
    ),
    "infiniband": "f: {servers: {model: dgx-h100, count: 64}, topology: {switch: qm9700, unit: {servers: 32}}}",
    "two-groups": (
        "f: {nos: sonic, servers: [{model: dgx-h100, count: 32}, {model: dgx-a100, count: 20}],"
        " topology: {switch: sn5600, unit: {servers: 32}}}"
    ),
    "two-fabrics": (
        "f: {nos: sonic, servers: {model: dgx-h100, count: 8}, topology: {switch: sn5600, rails: 2, unit: {servers: 8}}}\n"
        "  g: {purpose: storage, nos: eos, servers: {model: dgx-h100, count: 8, per_rack: 4},"
        " topology: {switch: 7060x6-64pe}}"
    ),
}


@cache
def plan_of(design: str) -> Plan:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "intent.yaml"
        path.write_text(f"{HEAD}  {DESIGNS[design]}\n", encoding="utf-8")
        return pipeline.plan(pipeline.load(path))


@cache
def files_of(design: str) -> Mapping[str, str]:
    return prometheus(plan_of(design))


def written(files: Mapping[str, str], folder: Path) -> Path:
    """The files as an export lays them down."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
