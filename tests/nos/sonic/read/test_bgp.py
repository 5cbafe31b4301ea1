"""BGP of SONiC switches: out of the tables of both of its ways, and out of frr.conf where there is one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabric.model.facts import Facts
from fabric.nos.reading import password
from fabric.nos.sonic.read.device import read
from tests.nos.frr.read.helpers import values


def facts(tables: dict[str, Any], conf: str = "") -> Facts:
    return read("device", {"config_db.json": json.dumps(tables, indent=0), **({"frr.conf": conf} if conf else {})})


BGP: dict[str, Any] = {
    "DEVICE_METADATA": {"localhost": {"bgp_asn": "65001", "bgp_router_id": "10.0.0.1"}},
    "VRF": {"Vrf-red": {}},
    "BGP_NEIGHBOR": {
        "10.0.0.2": {
            "asn": "65002",
            "local_addr": "10.0.0.1",
            "name": "spine1",
            "holdtime": "9",
            "keepalive": "3",
            "admin_status": "up",
        },
        "fc00::2": {"asn": "65002", "admin_status": "down"},
        "Vrf-red|10.9.0.1": {"peer_group_name": "WAN", "auth_password": "hunter2"},
        "default|Ethernet0": {"peer_type": "external", "ebgp_multihop": "true"},
    },
    "BGP_PEER_GROUP": {"Vrf-red|WAN": {"asn": "65010", "bfd": "true"}},
    "BGP_NEIGHBOR_AF": {
        "Vrf-red|10.9.0.1|ipv4_unicast": {"admin_status": "true", "max_prefix_limit": "100", "route_map_in": "RM"}
    },
    "BGP_PEER_GROUP_AF": {"Vrf-red|WAN|ipv6_unicast": {"admin_status": "true"}},
    "BGP_PEER_RANGE": {"servers": {"ip_range": ["10.5.0.0/24"], "peer_asn": "65100", "src_address": "10.0.0.1"}},
    "BGP_GLOBALS": {"Vrf-red": {"local_asn": "65001", "router_id": "10.0.0.9", "load_balance_mp_relax": "true"}},
    "BGP_GLOBALS_AF": {
        "default|ipv4_unicast": {"max_ebgp_paths": "64"},
        "default|ipv6_unicast": {"max_ebgp_paths": "32"},
        "Vrf-red|l2vpn_evpn": {"import-rts": ["65000:1"], "export-rts": ["65000:1"], "route-distinguisher": "10.0.0.1:1"},
    },
}
PEERS: dict[tuple[str, str], dict[str, Any]] = {
    ("", "10.0.0.2"): {
        "remote_as": 65002,
        "source": "10.0.0.1",
        "families": ["ipv4"],
        "description": "spine1",
        "enabled": True,
        "keepalive_s": 3,
        "hold_s": 9,
    },
    ("", "fc00::2"): {"remote_as": 65002, "families": ["ipv6"], "enabled": False},
    ("", "Ethernet0"): {"remote_as": "external", "multihop": 255, "interface": True},
    ("", "10.5.0.0/24"): {"remote_as": 65100, "source": "10.0.0.1", "families": ["ipv4"], "dynamic": True},
    ("Vrf-red", "10.9.0.1"): {
        "vrf": "Vrf-red",
        "remote_as": 65010,
        "families": ["ipv6", "ipv4"],
        "max_prefix": 100,
        "import_filter": "RM",
        "bfd": True,
        "authentication": password("hunter2"),
    },
}


@pytest.mark.parametrize(("vrf", "peer"), PEERS)
def test_bgp_of_the_tables(vrf: str, peer: str) -> None:
    own = facts(BGP).bgp[vrf].neighbors[peer]
    configured = {name: values(getattr(own, name)) for name in type(own).__slots__ if name not in ("peer", "line", "file")}
    plainly = {
        name: value
        for name, value in configured.items()
        if value not in (None, [], "") and (value is not False or name == "enabled")
    }
    assert plainly == PEERS[vrf, peer]


def test_processes_of_the_tables() -> None:
    found = facts(BGP)
    default, red = found.bgp[""], found.bgp["Vrf-red"]
    assert values([default.asn, default.router_id, default.max_paths, default.relax]) == [65001, "10.0.0.1", 32, None]
    assert values([red.asn, red.router_id, red.max_paths, red.relax]) == [65001, "10.0.0.9", None, True]
    vrf = found.vrfs["Vrf-red"]
    assert values([vrf.rd, vrf.imports, vrf.exports]) == ["10.0.0.1:1", ["65000:1"], ["65000:1"]]
    assert [one.value.what for one in found.services.secrets] == ["auth_password of BGP_NEIGHBOR|Vrf-red|10.9.0.1"]
    assert (found.unread, found.broken) == ([], [])


def test_frr_conf_is_the_routing_where_it_has_any() -> None:
    conf = (
        "vrf Vrf-red\n vni 50002\nrouter bgp 65002\n neighbor Ethernet0 interface remote-as external\n"
        "router bgp 65002 vrf Vrf-blue\n"
    )
    overlay = {"VRF": {"Vrf-red": {"vni": "50001"}}, "VXLAN_TUNNEL_MAP": {"vtep|m": {"vlan": "Vlan9", "vni": "50001"}}}
    more = {"PORT": {"Ethernet0": {}}, "VXLAN_TUNNEL": {"vtep": {}}, "VLAN": {"Vlan9": {}}}
    found = facts(BGP | overlay | more, conf)
    assert list(found.bgp[""].neighbors) == ["Ethernet0"]
    assert found.interfaces["Ethernet0"].link_local
    assert values(found.conflicts) == [
        "the VNI of VRF Vrf-red is 50001 here and 50002 in frr.conf:2",
        "the VNI of VRF Vrf-red is 50002 here and 50001 in config_db.json:10",
        "the AS of VRF default is 65002 here and 65001 in config_db.json:4",
        "the AS of VRF default is 65001 here and 65002 in frr.conf:3",
    ]
    assert not found.idle
    kept = ["10.0.0.2", "fc00::2", "Ethernet0", "10.5.0.0/24"]
    assert list(facts(BGP, "hostname leaf1\nlog syslog\n").bgp[""].neighbors) == kept


@pytest.mark.parametrize(("mode", "faults"), [("split", (0, 1)), ("split-unified", (0, 1)), ("separated", (2, 0))])
def test_an_as_number_that_nothing_uses(mode: str, faults: tuple[int, int]) -> None:
    """frr.conf is kept as it is in the split modes, so the number of config_db.json has no effect without its sessions."""
    tables = {"DEVICE_METADATA": {"localhost": {"bgp_asn": "65001", "docker_routing_config_mode": mode}}}
    found = facts(tables, "router bgp 65002\n neighbor 10.0.0.2 remote-as 65003\n")
    assert (len(found.conflicts), len(found.idle)) == faults
