"""A site with a switch of every network OS, and its inventory."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from fabric import pipeline
from fabric.base.source import parse
from fabric.deliver.day_zero.export import day_zero
from fabric.design.intent.intent import Intent
from fabric.design.intent.load import validate
from fabric.model.plan import Plan
from tests.deliver.day_zero.network import SERVER

IMAGE = b"an image\n"
SHA256 = hashlib.sha256(IMAGE).hexdigest()
SITE = f"""\
version: 1
site: zero
catalog: {{servers: {{node: {{gpus: 1, nics: {{compute: {{count: 1, speed_gbps: 400}}}}}}}}}}
pools: {{management: 172.16.0.0/24}}
management:
  dns: [192.0.2.53]
  snmp_user: monitor
  day_zero:
    server: http://{SERVER}:8080
    images:
      sonic: {{file: sonic.bin, version: SONiC-OS-202505.1, sha256: {SHA256}}}
      cumulus: {{file: cumulus.bin, version: 5.15.0, sha256: {SHA256}}}
      eos: {{file: EOS.swi, version: 4.34.1F, sha256: {SHA256}, extensions: {{file: agent.rpm, sha256: {SHA256}}}}}
      nxos: {{file: nxos64-cs.10.5.3.bin, version: 10.5(3), sha256: {SHA256}}}
      junos: {{file: junos.iso, version: 24.4R1-EVO, sha256: {SHA256}}}
fabrics:
  sonic: {{nos: sonic, servers: {{model: node, count: 2, name: a}}, topology: {{switch: sn4700, tiers: 1}}}}
  cumulus: {{nos: cumulus, servers: {{model: node, count: 2, name: b}}, topology: {{switch: sn5600, tiers: 1}}}}
  eos: {{nos: eos, servers: {{model: node, count: 2, name: c}}, topology: {{switch: 7060x6-64pe, tiers: 1}}}}
  nxos: {{nos: nxos, servers: {{model: node, count: 2, name: d}}, topology: {{switch: n9364e-sg2, tiers: 1}}}}
  junos: {{nos: junos, servers: {{model: node, count: 2, name: e}}, topology: {{switch: qfx5240-64od, tiers: 1}}}}
  frr:
    {{qos: {{enabled: false}}, nos: frr, servers: {{model: node, count: 2, name: f}},
      topology: {{switch: 64x400g, tiers: 1}}}}
  ib: {{servers: {{model: node, count: 2, name: g}}, topology: {{switch: qm9700, tiers: 1}}}}
"""
NAMES = ("sonic", "cumulus", "eos", "nxos", "junos", "frr", "ib")
MACS = {f"{name}-leaf001": f"52:54:00:00:00:{at:02x}" for at, name in enumerate(NAMES, 1)}
# That of a Linux machine is in its firmware, which a namespace shares with the machine of the tests.
SERIALS = {name: "" if name == "frr-leaf001" else f"SER{mac[-2:]}X" for name, mac in MACS.items()}
BY_MAC = "switch,mac,serial\n" + "".join(f"{name},{mac},{SERIALS[name]}\n" for name, mac in MACS.items())
# Some network OSes are known by their serial numbers alone.
SENT = {f"{name}-leaf001" for name in ("sonic", "eos", "nxos")}
BY_SERIAL = "switch,mac,serial\n" + "".join(
    f"{name},{'' if name in SENT else mac},{SERIALS[name]}\n" for name, mac in MACS.items()
)
# Out-of-band switches below a pair, which have a port for every switch.
BELOW = """\
version: 1
site: dc1
pools: {management: 172.16.0.0/24}
management: {day_zero: {server: "http://172.16.0.200:8080"}}
fabrics:
  core:
    nos: cumulus
    servers: {model: dgx-h100, count: 4, name: gpu}
    topology: {kind: collapsed, switch: sn5600, unit: {servers: 8}}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: gpu, servers: gpu-*, networks: [{name: gpu, vlan: 900, gateway: 10.90.0.0/24}]}
      - name: oob
        networks:
          - {name: switches, vlan: 200, gateway: 172.16.0.0/24}
          - {name: bmc, vlan: 201, gateway: 10.20.0.0/24}
  oob:
    purpose: oob
    nos: cumulus
    servers: {model: dgx-h100, count: 4, name: gpu, per_rack: 2}
    topology: {leaf: {switch: sn2201}}
    below: {fabric: core, tenant: oob, network: bmc}
"""
CIRCUITS = BELOW.replace('8080"', '8080", circuit_id: "{switch}:{port}"')


@cache
def planned(text: str) -> Plan:
    source = parse(text, "intent.yaml")
    return pipeline.plan(Intent(Path("intent.yaml"), validate(source), source, Path("nowhere")))


def exported(text: str, inventory: str, folder: Path) -> dict[str, str]:
    """Path → text; an inventory of "" is none."""
    path = folder / "inventory.csv"
    path.write_text(inventory, encoding="utf-8")
    return dict(day_zero(planned(text), path if inventory else None))


def write(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
