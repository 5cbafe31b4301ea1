"""Small sites, each with what becomes of it: a growth, another tenant, another MTU."""

from __future__ import annotations

HEAD = """\
version: 1
site: dc1
catalog:
  servers:
    quad:
      gpus: 4
      nvlink_domain_gpus: 4
      nics: {compute: {count: 4, speed_gbps: 400}, storage: {count: 2, speed_gbps: 400}}
fabrics:
"""


def fabric(nos: str, servers: int = 2, *more: str) -> str:
    """A back end of as many leaves as servers, each with two uplinks to as many spines."""
    lines = [
        "  backend:",
        f"    nos: {nos}",
        f"    servers: {{model: quad, count: {servers}, nics: compute}}",
        f"    topology: {{switch: {SWITCH.get(nos, '32x400g')}, rails: 1, unit: {{servers: 1}},"
        " leaf: {uplinks: {count: 2}, oversubscription: 2}}",
        *(f"    {line}" for line in more),
    ]
    return "\n".join(lines) + "\n"


SWITCH = {"sonic": "sn4700", "cumulus": "sn4700"}  # whose ports these know


def site(*fabrics: str) -> str:
    return HEAD + "".join(fabrics)


def spines(servers: int) -> str:
    """Four uplinks a leaf to spines of eight ports: four leaves fill two spines, a fifth takes four."""
    return (
        f"  backend: {{nos: eos, servers: {{model: quad, count: {servers}, nics: compute}}, "
        "topology: {switch: 8x400g, rails: 1, unit: {servers: 1}}}\n"
    )


STORAGE = """\
  storage:
    purpose: storage
    nos: frr
    servers: {model: quad, count: 2, nics: storage}
    topology: {kind: collapsed, switch: 32x400g}
"""
RED = "tenants: [{name: red, servers: quad-0001}]"
RED_BLUE = "tenants: [{name: red, servers: quad-0001}, {name: blue, servers: quad-0002}]"
EVPN = "overlay: {kind: evpn-vxlan}"

# name → (old, new)
SITES = {
    "growth-sonic": (site(fabric("sonic", 1)), site(fabric("sonic", 2))),
    "shrink-frr": (site(fabric("frr", 3)), site(fabric("frr", 2))),
    "spines-eos": (site(spines(4)), site(spines(5))),
    "tenant-junos": (site(fabric("junos", 2, EVPN, RED)), site(fabric("junos", 2, EVPN, RED_BLUE))),
    "tenant-eos": (site(fabric("eos", 2, EVPN, RED)), site(fabric("eos", 2, EVPN, RED_BLUE))),
    "mtu-nxos": (site(fabric("nxos")), site(fabric("nxos", 2, "underlay: {mtu: 9000}"))),
    "qos-cumulus": (site(fabric("cumulus")), site(fabric("cumulus", 2, "qos: {lossless_percent: 70, lossless_dscp: 24}"))),
    "ecn-sonic": (site(fabric("sonic")), site(fabric("sonic", 2, "qos: {rdma_mtu: 1024}"))),
    "nos": (site(fabric("cumulus")), site(fabric("sonic"))),
    "addresses": (site(fabric("frr")), site(fabric("frr")) + "pools: {loopback: 10.9.0.0/24, p2p: 10.8.0.0/16}\n"),
    "names": (site(fabric("eos")), site(fabric("eos", 2, 'names: {leaf: "tor{n:02}"}'))),
    "fabric-goes": (site(fabric("frr"), STORAGE), site(fabric("frr"))),
    "fabric-comes": (site(fabric("frr")), site(fabric("frr"), STORAGE)),
    "growth-shared-pool": (site(spines(4), STORAGE), site(spines(5), STORAGE)),
    "nothing": (site(fabric("sonic")), site(fabric("sonic"))),
}
