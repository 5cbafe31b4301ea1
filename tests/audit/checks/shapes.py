"""Small designs of every shape on every network OS, whose files are damaged line by line.

Seven shapes: routed, EVPN with bonds and an external connection, VRF-lite, packet filters, three tiers, unnumbered, IPv6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.model.plan import SwitchView

MODELS = {  # network OS → switches of the 400G back end and of the 100G front end
    "sonic": ("sn4700", "sn3700c"),
    "cumulus": ("sn4700", "sn3700c"),
    "eos": ("7060x6-32pe", "7050cx3-32s"),
    "nxos": ("n9364d-gx2a", "n93180yc-fx3"),
    "junos": ("qfx5240-64od", "qfx5130-32cd"),
    "frr": ("32x400g", "32x100g"),
}
SYSTEMS = tuple(MODELS)

HEAD = """version: 1
site: {shape}
catalog:
  servers:
    gpu-node:
      gpus: 4
      nvlink_domain_gpus: 4
      nics:
        compute: {{count: 4, speed_gbps: 400}}
        frontend: {{count: 1, ports: 2, speed_gbps: {front_gbps}}}
management: {{ntp: [192.0.2.10, 192.0.2.11], syslog: 192.0.2.20, dns: 192.0.2.53, snmp_user: monitoring}}
fabrics:
"""
BACK = """  backend:
    nos: {nos}
    servers: {{model: gpu-node, count: {servers}, per_rack: 2, name: gpu}}
    topology: {{kind: rack, switch: {switch}, unit: {{servers: 2}}{more}}}
"""
FRONT = """  frontend:
    purpose: frontend
    nos: {nos}
    servers: {{model: gpu-node, count: {servers}, per_rack: 2, name: gpu}}
    topology:
      switch: {switch}
      dual_tor: {dual_tor}
      unit: {{servers: 2}}
      leaf: {{uplinks: {{count: {spines}}}}}
{spine}      attachments: [{{name: wan, links: 2, external: {{asn: 65010}}}}]
    overlay: {{kind: evpn-vxlan}}
    tenants:
      - {{name: red, servers: gpu-0001..{half:04}, networks: [{{name: login, vlan: 100, gateway: 10.20.0.0/24}}]}}
      - {{name: blue, servers: gpu-{next:04}..{servers:04}, networks: [{{name: login, vlan: 200, gateway: 10.30.0.0/24}}]}}
"""
TENANTS = """    tenants:
      - {{name: red, servers: [{odd}]}}
      - {{name: blue, servers: [{even}]}}
"""
SHAPES = {  # shape → (text behind the topology of the back end, further lines of the fabric)
    "routed": ("", ""),
    "vrf-lite": ("", "    overlay: {{isolation: vrf-lite}}\n" + TENANTS),
    "filters": ("", "    overlay: {{isolation: acl}}\n" + TENANTS),
    "three-tiers": (", tiers: 3, pods: {count: 2}", ""),
    "unnumbered": ("", "    underlay: {addressing: unnumbered}\n"),
    "ipv6": ("", "    underlay: {addressing: ipv6}\n"),
    "evpn": ("", ""),
}


@dataclass(frozen=True)
class Switch:
    """One switch with the files that the plan renders."""

    nos: str
    shape: str
    view: SwitchView
    files: dict[str, str]


def intent_text(nos: str, shape: str, racks: int = 2) -> str:
    """The intent of a design. `racks`: of two servers; with more than two there are more than two spines as well."""
    back, front = MODELS[nos]
    head = HEAD.format(shape=shape, front_gbps=25 if nos == "nxos" else 100)
    count = 2 * racks
    spines = 4 if racks > 2 and not (nos == "nxos" and shape == "evpn") else 2
    spine = f"      spine: {{count: {spines}}}\n" if racks > 2 and nos != "nxos" else ""
    sizes = {"servers": count, "half": racks, "next": racks + 1, "spines": spines, "spine": spine}
    if shape == "evpn":
        return head + FRONT.format(nos=nos, switch=front, dual_tor="false" if nos == "frr" else "true", **sizes)
    more, lines = SHAPES[shape]
    if racks > 2 and "tiers" not in more:
        more += f", spine: {{count: {spines}}}"
    names = [f"gpu-{number:04}" for number in range(1, count + 1)]
    tenants = lines.format(odd=", ".join(names[::2]), even=", ".join(names[1::2])) if "tenants" in lines else lines
    return head + BACK.format(nos=nos, switch=back, more=more, servers=count) + tenants


@cache
def switches(nos: str, shape: str, racks: int = 2) -> tuple[Switch, ...]:
    """Every switch of a design."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{shape}.yaml"
        path.write_text(intent_text(nos, shape, racks), encoding="utf-8")
        intent = pipeline.load(path)
        renderer = pipeline.render(pipeline.plan(intent), intent)
        return tuple(
            Switch(
                nos,
                shape,
                renderer.views[job.fabric].of(job.device),
                {file: data.decode() for file, data in renderer.files(job)},
            )
            for job in renderer.jobs(lambda name: True)
        )


def samples(nos: str, shape: str, racks: int = 2) -> Iterator[Switch]:
    """The first switch of each role: others of its role have the same lines with other numbers."""
    roles = set[str]()
    for switch in switches(nos, shape, racks):
        if switch.view.device.role not in roles:
            roles.add(switch.view.device.role)
            yield switch
