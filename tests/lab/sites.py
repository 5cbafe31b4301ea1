"""Small sites for the tests of the lab, and what a lab leaves on the machine that it runs on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fabric import pipeline
from fabric.base import source
from fabric.base.diagnostics import MissingError
from fabric.design.intent.intent import Intent
from fabric.design.intent.load import validate
from fabric.lab import up_down
from fabric.lab.blueprint import Blueprint, Names
from fabric.lab.drawing import SERVERS, draw
from fabric.lab.machine import namespaces
from fabric.lab.machine.host import require
from fabric.model.plan.lock_file import Lock

# Two spines, four leaves, a server of each tenant at each leaf: one tenant has a network, the others have routed ports.
EVPN = """\
version: 1
site: SITE
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 8, name: gpu}
    topology: {switch: 32x100g, unit: {servers: 2}, leaf: {uplinks: {count: 2}}, spine: {min_count: 2}}
    overlay: {kind: evpn-vxlan}
    underlay: {keepalive_s: 1, hold_s: 3}  # scenarios wait for them
    tenants:
      - name: red
        servers: [gpu-0001, gpu-0003, gpu-0005, gpu-0007]
        networks: [{name: data, vlan: 100, gateway: 10.20.0.0/24}]
      - {name: blue, servers: [gpu-0002, gpu-0004, gpu-0006, gpu-0008]}
"""
# Tagged links as well: two networks on the ports of a tenant, and a router outside with a session in each tenant.
TAGGED = EVPN.replace(
    "spine: {min_count: 2}}",
    """spine: {min_count: 2}, attachments: [
      {name: wan, links: 2, speed_gbps: 100, external: {asn: 64600, accept: [0.0.0.0/0], tenants: [red, blue]}}]}""",
).replace(
    "{name: data, vlan: 100, gateway: 10.20.0.0/24}",
    "{name: data, vlan: 100, gateway: 10.20.0.0/24}, {name: store, vlan: 101, gateway: 10.21.0.0/24}",
)
THREE_TENANTS = """\
version: 1
site: SITE
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 12, name: gpu}
    topology: {switch: 32x100g, unit: {servers: 3}, leaf: {uplinks: {count: 2}}, spine: {min_count: 2}}
    overlay: {kind: evpn-vxlan}
    tenants:
      - name: red
        servers: [gpu-0001, gpu-0004, gpu-0007, gpu-0010]
        networks: [{name: data, vlan: 100, gateway: 10.20.0.0/24}]
      - {name: blue, servers: [gpu-0002, gpu-0005, gpu-0008, gpu-0011]}
      - {name: green, servers: [gpu-0003, gpu-0006, gpu-0009, gpu-0012]}
"""
SONIC = """\
version: 1
site: SITE
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 400}}}}}
fabrics:
  backend:
    nos: sonic
    servers: {model: node, count: 4, name: gpu}
    topology: {switch: sn4700, unit: {servers: 2}, leaf: {uplinks: {count: 2}}, spine: {min_count: 2}}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, servers: [gpu-0001, gpu-0003], networks: [{name: data, vlan: 100, gateway: 10.20.0.0/24}]}
      - {name: blue, servers: [gpu-0002, gpu-0004]}
"""

# Designs without an overlay. Cables count from 31 and 32 on: leaves have their uplinks in their last ports.
TWO_TIERS = """\
version: 1
site: two
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 4, name: gpu}
    topology: {switch: 32x100g, unit: {servers: 2}, leaf: {uplinks: {count: 2}}, spine: {min_count: 2}}
"""
THREE_TIERS = """\
version: 1
site: three
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 8, name: gpu}
    topology:
      switch: 32x100g
      tiers: 3
      unit: {servers: 2}
      pods: {count: 2}
      leaf: {uplinks: {count: 2}}
      spine: {min_count: 2, uplinks: {count: 2}}
"""
COLLAPSED = """\
version: 1
site: pair
catalog: {servers: {node: {gpus: 0, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}}}}}
fabrics:
  front:
    purpose: frontend
    nos: frr
    servers: {model: node, count: 2, name: web, per_rack: 1}
    topology: {kind: collapsed, switch: 16x100g, unit: {servers: 2}}
"""
# A pair with everything on it: GPUs on single ports, the others on bonds, a router outside, and an out-of-band switch below.
PAIR = """\
version: 1
site: SITE
pools: {management: 172.16.0.0/24}
catalog:
  servers:
    gpu:
      gpus: 4
      nics:
        compute: {count: 4, speed_gbps: 400}
        frontend: {count: 1, ports: 2, speed_gbps: 200}
        oob: {count: 1, speed_gbps: 1}
    store: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 200}}}
fabrics:
  core:
    nos: cumulus
    topology:
      kind: collapsed
      switch: sn5600
      unit: {servers: 4}
      leaf: {uplinks: {count: 4}}
      attachments:
        - {name: edge, links: 2, speed_gbps: 200, external: {asn: 64600, accept: [0.0.0.0/0], tenants: [inband]}}
    servers:
      - {model: gpu, count: 2, nics: [compute, frontend], homing: {compute: single}}
      - {model: store, count: 2, nics: storage}
    overlay: {kind: evpn-vxlan}
    underlay: {keepalive_s: 1, hold_s: 3}
    tenants:
      - {name: gpu, nics: compute, networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/24}]}
      - {name: inband, nics: frontend, networks: [{name: inband, vlan: 400, gateway: 10.40.0.0/24}]}
      - {name: storage, nics: storage, networks: [{name: storage, vlan: 500, gateway: 10.50.0.0/24}]}
      - name: oob
        networks: [{name: bmc, vlan: 200, gateway: 10.20.0.0/24}, {name: switches, vlan: 201, gateway: 172.16.0.0/24}]
  oob:
    purpose: oob
    nos: cumulus
    servers: {model: gpu, count: 2, nics: oob}
    topology: {switch: sn2201}
    below: {fabric: core, tenant: oob}
"""
# Two pairs below spines: hosts have bonds over two leaves, networks and tenants are on both pairs.
PAIRS_BELOW_SPINES = """\
version: 1
site: SITE
catalog: {servers: {node: {gpus: 0, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}}}}}
fabrics:
  front:
    purpose: frontend
    nos: cumulus
    servers: {model: node, count: 8, name: web}
    topology:
      switch: sn3700c
      dual_tor: true
      unit: {servers: 4}
      leaf: {uplinks: {count: 2}}
      spine: {min_count: 2}
      attachments:
        - {name: wan, links: 2, speed_gbps: 100, external: {asn: 64600, accept: [0.0.0.0/0], tenants: [red, blue]}}
    overlay: {kind: evpn-vxlan}
    underlay: {keepalive_s: 1, hold_s: 3}
    tenants:
      - name: red
        servers: [web-0001, web-0003, web-0005, web-0007]
        networks: [{name: login, vlan: 100, gateway: 10.20.0.0/24}, {name: store, vlan: 101, gateway: 10.21.0.0/24}]
      - name: blue
        servers: [web-0002, web-0004, web-0006, web-0008]
        networks: [{name: login, vlan: 200, gateway: 10.30.0.0/24}]
"""
PLANES = """\
version: 1
site: planes
catalog: {servers: {node: {gpus: 1, nics: {compute: {count: 1, ports: 2, speed_gbps: 100}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: node, count: 4, name: gpu}
    topology: {switch: 32x100g, planes: 2, unit: {servers: 2}, leaf: {uplinks: {count: 2}}, spine: {min_count: 2}}
"""


def generated(text: str, site: str, folder: Path) -> Intent:
    """An intent of this name in a folder, its files written beside it."""
    path = folder / f"{site}.yaml"
    path.write_text(text.replace("SITE", site), encoding="utf-8")
    intent = pipeline.load(path)
    pipeline.generate(intent, jobs=1).write()
    return intent


def edit(intent: Intent, file: str, changes: Mapping[str, str]) -> None:
    """Changes texts of a generated file (`backend-leaf001/frr.conf`) by hand; each must be there."""
    path = intent.folder / "configs" / file
    text = path.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{file}: {old!r}"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


@cache
def drawn(text: str) -> Blueprint:
    """What would be built of an intent that nothing was generated of."""
    parsed = source.parse(text, "intent.yaml")
    return planned_and_drawn(Intent(Path("intent.yaml"), validate(parsed), parsed, Path("nowhere")), fresh=True)


@cache
def lacking() -> str:
    """Why no lab can run here, "" where one can."""
    try:
        require(overlay=True)
    except MissingError as error:
        return str(error)
    return ""


def processes(site: str) -> set[tuple[int, str]]:
    """(number, moment of its start) of every process of a lab; a number alone may soon be another's."""
    spaces = namespaces.existing(Names(site).prefix)
    numbers = namespaces.processes({namespaces.inode(name) for name in spaces})
    return {(number, began) for number in numbers if (began := _began(number))}


def alive(known: set[tuple[int, str]]) -> list[int]:
    """Those of them that are still there."""
    return [number for number, began in known if _began(number) == began]


def left(site: str) -> list[str]:
    """Namespaces and files that a lab has left behind."""
    names = Names(site)
    files = [*names.folder.parent.glob(f"{site}*"), *names.folder.parent.glob(f".{site}*")]
    limits = [] if up_down.sites() else list(names.folder.parent.glob("limits*"))  # are every lab's
    return [*namespaces.existing(names.prefix), *map(str, files), *map(str, limits)]


def _began(process: int) -> str:
    """When a process started, "" for one that has ended, also where no one has taken note yet."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def planned_and_drawn(intent: Intent, limit: str = "", servers: int = SERVERS, fresh: bool = False) -> Blueprint:
    """The lab of an intent."""
    made = pipeline.plan(intent, Lock() if fresh else None)
    return draw(pipeline.render(made, intent), limit, servers, fresh)
