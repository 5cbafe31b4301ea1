"""Small designs whose fresh files were once at odds with the plan or with each other, or whose cabling is of a rare kind."""

from __future__ import annotations

from typing import Any

NODE: dict[str, Any] = {
    "gpus": 8,
    "nics": {"compute": {"count": 2, "speed_gbps": 400}, "oob": {"count": 2, "speed_gbps": 100}},
}
LAYER2 = [{"name": "red", "networks": [{"name": "train", "vlan": 100}]}]
WAN = {"name": "wan", "links": 2, "external": {"asn": 65010}}


def design(nos: str, switch: str, count: int = 4, topology: dict[str, Any] | None = None, **fabric: Any) -> dict[str, Any]:
    """A fabric of two servers a leaf, two uplinks each."""
    servers = {"model": "node", "count": count, "name": "gpu"}
    shape = {"kind": "rack", "switch": switch, "unit": {"servers": 2}, "leaf": {"uplinks": {"count": 2}}, **(topology or {})}
    node = {**NODE, "nics": dict(NODE["nics"])}
    backend = {"nos": nos, "servers": servers, "topology": shape, "qos": {"enabled": False}, **fabric}
    return {"version": 1, "site": "fresh", "catalog": {"servers": {"node": node}}, "fabrics": {"backend": backend}}


def evpn(nos: str, switch: str, tenants: Any, **rest: Any) -> dict[str, Any]:
    return design(nos, switch, overlay={"kind": "evpn-vxlan"}, tenants=tenants, **rest)


def two_networks() -> dict[str, Any]:
    """Two fabrics with tenants of the same names, VLANs and VNIs, on other numbers."""
    site = evpn("eos", "16x400g", LAYER2)
    other = evpn("eos", "16x400g", [{"name": "blue"}, {**LAYER2[0], "servers": "cpu-0001", "vni": 50001}])["fabrics"][
        "backend"
    ]
    other["tenants"][0] |= {"vni": 50002, "servers": "cpu-0002..0004"}
    other["tenants"][1]["networks"] = [{"name": "train", "vlan": 300, "vni": 10001}]
    other["servers"] = {**other["servers"], "name": "cpu"}
    site["fabrics"]["other"] = other
    return site


def two_compute_fabrics() -> dict[str, Any]:
    """Servers with NICs in two fabrics of the purpose that NCCL is for, on other DSCPs."""
    site = design("eos", "16x400g", qos={})
    site["catalog"]["servers"]["node"]["nics"]["second"] = {"count": 2, "speed_gbps": 400}
    other = design("eos", "16x400g", qos={"lossless_dscp": 30})["fabrics"]["backend"]
    other["servers"] = {**other["servers"], "nics": "second"}
    site["fabrics"]["other"] = other
    return site


def a_class_for_storage() -> dict[str, Any]:
    """Servers with NICs of two lossless classes on one leaf, whose jobs use one of the two."""
    site = one_switch("eos", qos={"storage": {"priority": 2, "dscp": 18, "percent": 20, "lossless": True}})
    site["catalog"]["servers"]["node"]["nics"]["storage"] = {"count": 1, "speed_gbps": 400}
    site["fabrics"]["backend"]["servers"]["nics"] = ["compute", "storage"]
    return site


def one_switch(nos: str, **fabric: Any) -> dict[str, Any]:
    site = design(nos, "16x400g", **fabric)
    site["fabrics"]["backend"]["topology"] = {"switch": "16x400g"}
    return site


def two_switches() -> dict[str, Any]:
    """Two fabrics of one switch each, whose tenants of one name have other VNIs."""
    site = one_switch("eos", overlay={"kind": "evpn-vxlan"}, tenants=[{"name": "red"}])
    other = one_switch("eos", overlay={"kind": "evpn-vxlan"}, tenants=[{"name": "red", "vni": 70000}])["fabrics"]["backend"]
    other["servers"] = {**other["servers"], "name": "cpu"}
    site["fabrics"]["other"] = other
    return site


def one_server() -> dict[str, Any]:
    """One bridged port beside ten ports with slices of a border router."""
    networks = [{"name": "train", "vlan": 100, "gateway": "172.20.0.0/25"}]
    wan = [{"name": f"wan{n}", "links": links, "external": {"asn": 65010 + n}} for n, links in enumerate((4, 4, 2))]
    topology = {"attachments": wan, "unit": {"servers": 1}}
    site = evpn("junos", "qfx5140-24cd8o", [{"name": "red", "networks": networks}], count=1, topology=topology)
    site["catalog"]["servers"]["node"]["nics"]["compute"] = {"count": 1, "speed_gbps": 50}
    return site


FRESH: dict[str, dict[str, Any]] = {
    **{
        f"layer-2-only tenant, {nos}": evpn(nos, switch, LAYER2, topology={"attachments": [WAN]})
        for nos, switch in (
            ("frr", "16x400g"),
            ("sonic", "sn4700"),
            ("junos", "16x400g"),
            ("eos", "16x400g"),
            ("nxos", "16x400g"),
            ("cumulus", "sn4700"),
        )
    },
    **{
        f"a leaf without tenants, {nos}": evpn(nos, "16x400g", [{"name": "red", "servers": "gpu-0001"}])
        for nos in ("frr", "junos", "eos", "nxos", "cumulus")
    },
    "static buffers, SONiC on NVIDIA": design("sonic", "sn4700", qos={"buffer_model": "static"}),
    "lengths between rows of the SKU's table": design(
        "sonic", "z9664f-on", topology={"cable_length_m": {"server-leaf": 3, "leaf-spine": 70}}, qos={}
    ),
    "one spine, Junos": design("junos", "16x400g", topology={"leaf": {"uplinks": {"count": 1}}}),
    "tenants on IPv6 slices, Junos": design(
        "junos", "16x400g", underlay={"addressing": "ipv6"}, overlay={"isolation": "vrf-lite"}, tenants=[{"name": "red"}]
    ),
    "servers on a network of controllers alone": design("eos", "16x400g", purpose="oob"),
    "a detection time that EOS rounds": design("eos", "16x400g", qos={"watchdog_ms": 181}),
    "a stated Kmin above the rule's Kmax": design(
        "sonic", "sn4700", qos={"ecn": {"kmin_bytes": 7_000_000, "rule": "nvidia"}}
    ),
    "one step of ECN": design("sonic", "sn4700", qos={"ecn": {"kmin_bytes": 900_000, "kmax_bytes": 900_000}}),
    "Cumulus maps blocks of DSCPs": design(
        "eos", "16x400g", 6, topology={"spine": {"nos": "cumulus"}, "leaf": {"uplinks": {"count": 1}}}, qos={}
    ),
    "a tenant's router on more ports than uplinks": evpn(
        "sonic",
        "sn4700",
        [{"name": "red"}],
        topology={"attachments": [{**WAN, "links": 12}], "leaf": {"uplinks": {"count": 1}}},
        underlay={"addressing": "unnumbered"},
    ),
    "filters on all leaves but one": design(
        "frr",
        "16x400g",
        6,
        topology={"attachments": [{"name": "nas", "links": 2}]},
        overlay={"isolation": "acl"},
        tenants=[{"name": name, "servers": f"gpu-000{n}"} for n, name in enumerate(("red", "blue", "green", "grey"), 1)],
    ),
    **{
        f"cores that all spines share, {nos}": design(
            nos, switch, 8, topology={"tiers": 3, "pods": {"units": 2}, "core": {"groups": 1}}, qos={}
        )
        for nos, switch in (("sonic", "sn4700"), ("eos", "16x400g"))
    },
    **{
        f"pods of one rail, {nos}": design(
            nos, switch, 8, topology={"kind": "rail-optimized", "pods": {"units": 2, "rails": 1}}, qos={}
        )
        for nos, switch in (("junos", "16x400g"),)
    },
    **{
        f"tenants apart on one switch, {nos}": one_switch(nos, overlay={"isolation": "vrf-lite"}, tenants=[{"name": "red"}])
        for nos in ("frr", "junos", "eos")
    },
    "a spine that is no route server": design(
        "frr",
        "16x400g",
        topology={"spine": {"count": 4}, "leaf": {"uplinks": {"count": 4}}},
        overlay={"kind": "evpn-vxlan", "route_servers": 3},
        tenants=[{"name": "red"}],
    ),
    "VNIs of two fabrics of one switch": two_switches(),
    "one server and many border ports, Junos": one_server(),
    "two networks of one site": two_networks(),
    "two compute fabrics": two_compute_fabrics(),
    "a class for storage": a_class_for_storage(),
}
