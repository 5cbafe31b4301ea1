"""Random designs on every board that SONiC runs on, and the config_db.json of their switches."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.hardware import catalog
from fabric.hardware.catalog import sonic_platform

Tables = dict[str, dict[str, dict[str, Any]]]
Spec = Mapping[str, Any]

HEAD = """version: 1
site: random
catalog:
  servers:
    node: {{gpus: 4, nvlink_domain_gpus: 4, nics: {{{purpose}: {{count: {nics}, ports: {ports}, speed_gbps: {speed}}}}}}}
management: {{ntp: [{ntp}], syslog: 192.0.2.20, dns: 192.0.2.53, snmp_user: {user}}}
fabrics:
  data:
    purpose: {purpose}
    nos: sonic
    servers: {{model: node, count: {servers}, per_rack: 2, name: gpu}}
    topology:
      kind: rack
      switch: {board}
      unit: {{servers: 2}}
      dual_tor: {dual}
      spine: {{count: {spines}}}
      cable_length_m: {{server-leaf: {near}, leaf-spine: {far}}}
      attachments: [{{name: wan, links: 2{external}}}]
    pools: {{p2p: {p2p}, loopback: {loopback}, servers: {pool}}}
    underlay: {{addressing: {addressing}, mtu: {mtu}}}
"""
QOS = "    qos: {{lossless_dscp: {dscp}, buffer_model: {model}, traffic: {traffic}, watchdog_ms: {watchdog_ms}{ecn}}}\n"
TENANT = "      - {{name: {name}, servers: gpu-{first:04}..{last:04}{vni}{networks}}}\n"
MORE = {
    "ntp": ["192.0.2.10", "192.0.2.10, 192.0.2.11"],
    "user": ["monitoring", "collector"],
    "servers": [4, 6, 8],
    "spines": [1, 2],
    "near": [3, 5],
    "far": [10, 30],
    "p2p": ["10.64.0.0/16", "10.65.0.0/16"],
    "loopback": ["10.8.0.0/16", "10.9.0.0/16"],
    "pool": ["10.128.0.0/14", "10.132.0.0/14"],
    "addressing": ["ipv4", "ipv4", "unnumbered"],
    "mtu": [9000, 9100],
    "dscp": [26, 24],
    "model": ["auto", "static"],
    "traffic": ["static", "dynamic"],
    "watchdog_ms": [200, 400],
    "ecn": ["", ", lossless_priority: 4", ", pfc_watchdog: false"],
    "tenants": range(1000),
    "vnis": ["", ", l3vni_base: 60001"],
    "external": ["", ", external: {asn: 65010}"],
}


def boards() -> list[str]:
    """Catalog names of the switches with a SONiC board."""
    return [name for name in catalog.switch_names() if sonic_platform(name) is not None]


def speeds(board: str) -> list[int]:
    """Speeds up to 400G that its cages can have."""
    groups = catalog.switch(board).ports
    every = {group.speed_gbps for group in groups}
    every |= {int(mode.partition("x")[2]) for group in groups for mode in group.breakouts}
    return sorted(speed for speed in every if speed <= 400)


def spec(board: str, chance: random.Random) -> Spec:
    """The choices of a random design."""
    purpose = chance.choice(["compute", "compute", "storage", "frontend"])
    front = purpose == "frontend"
    return {
        "board": board,
        "purpose": purpose,
        "nics": 1 if front else chance.choice([1, 2]),
        "ports": 2 if front else 1,
        "dual": str(front).lower(),
        "speed": chance.choice(speeds(board)[-3:]),
        "kind": "evpn-vxlan" if front else chance.choice(["none", "evpn-vxlan", "vrf-lite", "acl"]),
        **{key: chance.choice(list(values)) for key, values in MORE.items()},
    }


def varied(of: Spec, chance: random.Random) -> Spec:
    """The same design with up to three other choices."""
    keys = chance.sample([*MORE, "tenants", "tenants"], chance.choice([1, 2, 3]))
    return {**of, **{key: chance.choice(list(MORE[key])) for key in keys}}


def intent(of: Spec) -> str:
    """As YAML; not every design can be planned."""
    front, kind = of["purpose"] == "frontend", of["kind"]
    text = HEAD.format(**{**of, "external": of["external"] if kind == "evpn-vxlan" else ""})
    if not front:
        text += QOS.format(**of)
    if kind == "none":
        return text
    text += "    overlay: {" + (f"kind: evpn-vxlan{of['vnis']}" if kind == "evpn-vxlan" else f"isolation: {kind}") + "}\n"
    return text + "    tenants:\n" + "".join(_tenants(of, random.Random(of["tenants"])))


def _tenants(of: Spec, chance: random.Random) -> Iterator[str]:
    servers = of["servers"]
    names = chance.sample(["red", "blue", "green", "black"], chance.choice([1, 2, 3]))
    cuts = [0, *sorted(chance.sample(range(1, servers), len(names) - 1)), servers]
    for at, name in enumerate(names):
        vlan, gateway = 100 + 100 * at + chance.choice([0, 1]), f"10.{20 + at}.0.0/24"
        networks = f", networks: [{{name: login, vlan: {vlan}, gateway: {gateway}}}]" if of["purpose"] == "frontend" else ""
        vni = f", vni: {chance.choice([7000, 8000]) + at}" if of["kind"] == "evpn-vxlan" and chance.random() < 0.3 else ""
        yield TENANT.format(name=name, first=cuts[at] + 1, last=cuts[at + 1], vni=vni, networks=networks)


def configs(of: Spec) -> dict[str, Tables]:
    """Switch → its database; nothing where the design cannot be planned."""
    with TemporaryDirectory() as scratch:
        file = Path(scratch) / "site.yaml"
        file.write_text(intent(of), encoding="utf-8")
        try:
            loaded = pipeline.load(file)
            renderer = pipeline.render(pipeline.plan(loaded), loaded)
            return {job.device.name: _tables(dict(renderer.files(job))) for job in renderer.jobs(lambda name: True)}
        except InputError:
            return {}


def _tables(files: Mapping[str, bytes]) -> Tables:
    text = next(data for path, data in files.items() if path.endswith("config_db.json"))
    tables: Tables = json.loads(text)
    return tables


def pairs(board: str, chance: random.Random, each: int) -> Iterator[tuple[str, Tables, Tables]]:
    """Databases of a switch in two designs, without end: (title, old, new); `each` from the same two designs."""
    fresh = partial(spec, board, chance)
    at = 0
    while True:
        first = fresh()
        second = varied(first, chance) if chance.random() < 0.8 else fresh()
        old, new = configs(first), configs(second)
        names = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
        for name in chance.sample(names, min(each, len(names))):
            yield f"{board} {at} {name}", old[name], new[name]
        at += 1
