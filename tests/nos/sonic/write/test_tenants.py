"""Tenants, bonds, external connections and access in config_db.json, and whole files a person can read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.model.plan import Acl
from fabric.nos.frr.write.routing import PREFERRED
from fabric.nos.sonic.target import TARGET
from fabric.nos.sonic.write.ports import VRF_NAME_LIMIT, subinterface_name
from fabric.nos.sonic.write.tenants import PREFERRED as OWN_PREFERRED, routed_tables
from tests.goldens import golden
from tests.nos.sonic.write.views import CASES, db
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES

FILES = (
    *("qos-ipv4-leaf1", "qos-ipv4-spine1", "tomahawk5", "static"),
    *("evpn-ipv4-leaf1", "evpn-ipv4-leaf2", "evpn-unnumbered-spine1"),
    *("vrf-lite-ipv4-leaf1", "acl-ipv4-leaf1"),
)
BORDER = db(rich("leaf2", "evpn", "sonic"))


@pytest.mark.parametrize("case", FILES)
def test_files_are_as_recorded(case: str) -> None:
    (made,) = (file.text for file in render(CASES[case], TARGET) if file.path == "config_db.json")
    golden(f"render/sonic/{case}/config_db.json", made)


def test_a_tenant_has_its_vrf_and_the_vlan_of_its_vni() -> None:
    assert BORDER["VRF"] == {"Vrf-red": {"vni": "50001"}, "Vrf-blue": {"vni": "50002"}}
    assert BORDER["VLAN_INTERFACE"] == {
        "Vlan100": {"vrf_name": "Vrf-red", "static_anycast_gateway": "true"},
        "Vlan100|10.1.0.1/24": {},
        "Vlan3001": {"vrf_name": "Vrf-red"},
        "Vlan3002": {"vrf_name": "Vrf-blue"},
    }
    assert BORDER["SAG"] == {"GLOBAL": {"gateway_mac": "00:00:5e:00:01:01"}}
    assert BORDER["VXLAN_TUNNEL_MAP"]["vtep|map_50001_Vlan3001"] == {"vlan": "Vlan3001", "vni": "50001"}
    assert BORDER["INTERFACE"]["Ethernet0"] == {"vrf_name": "Vrf-red"}
    assert "Loopback1|10.2.0.2/32" in BORDER["LOOPBACK_INTERFACE"]


def test_a_tenants_frames_leave_room_for_the_vxlan_header() -> None:
    mtu = {name: row["mtu"] for name, row in BORDER["PORT"].items()}
    assert (mtu["Ethernet0"], mtu["Ethernet32"], mtu["Ethernet8"]) == ("9050", "9050", "9100")
    assert BORDER["PORTCHANNEL"]["PortChannel1"]["mtu"] == BORDER["VLAN"]["Vlan100"]["mtu"] == "9050"


def test_every_instance_that_restarts_gracefully_waits_as_long() -> None:
    text = render(rich("leaf1", "vrf-lite", "sonic"), TARGET)[1].text
    waits = text.count(" bgp graceful-restart select-defer-time 45\n")
    assert waits == text.count(" bgp graceful-restart preserve-fw-state\n") > 1


def test_a_spine_passes_routes_on_and_has_no_tunnel() -> None:
    made = db(rich("spine1", "evpn", "sonic"))
    assert not {"VXLAN_TUNNEL", "VXLAN_EVPN_NVO", "VLAN", "VRF", "PORTCHANNEL"} & set(made)


def test_a_bond_is_one_segment_on_both_leaves() -> None:
    first, second = (db(rich(name, "evpn", "sonic")) for name in ("leaf1", "leaf2"))
    assert first["PORTCHANNEL"] == second["PORTCHANNEL"]
    assert first["PORTCHANNEL"]["PortChannel1"]["system_mac"] == "02:00:00:00:00:01"
    rows = [made["EVPN_ETHERNET_SEGMENT"]["PortChannel1"] for made in (first, second)]
    assert [row["df_pref"] for row in rows] == ["50000", "32767"]
    assert {(row["esi"], row["type"]) for row in rows} == {("AUTO", "TYPE_3_MAC_BASED")}
    assert OWN_PREFERRED == PREFERRED  # frr.conf elects the same leaf


@pytest.mark.parametrize("release", ["202605", "202511", "202411.2"])
def test_older_branches_lack_what_came_after(release: str) -> None:
    made = replace(rich("leaf1", "evpn", "sonic"), release=release)
    with pytest.raises(ValueError, match="no distributed anycast gateway"):
        db(made)
    with pytest.raises(ValueError, match="no bond over two leaves"):
        db(replace(made, networks=tuple(replace(network, gateway=None) for network in made.networks)))
    routed = db(replace(made, networks=(), lags=(), pair=None))
    assert "vrf" not in routed["GNMI"]["gnmi"]
    assert not {"SAG", "EVPN_ETHERNET_SEGMENT"} & set(routed)
    assert routed["VRF"]["Vrf-red"] == {"vni": "50001"}


@pytest.mark.parametrize("release", ["", "master", "202611", "202705.1"])
def test_newer_ones_have_it(release: str) -> None:
    made = db(replace(rich("leaf1", "evpn", "sonic"), release=release))
    assert {"SAG", "EVPN_ETHERNET_SEGMENT"} <= set(made)
    assert made["GNMI"]["gnmi"]["vrf"] == "mgmt"


def test_a_closed_port_is_shut_and_has_no_address() -> None:
    assert BORDER["PORT"]["Ethernet36"]["admin_status"] == "down"
    assert BORDER["PORT"]["Ethernet36"]["description"].endswith(", unassigned")
    assert "Ethernet36" not in BORDER["INTERFACE"]


def test_the_external_connection_is_a_subinterface_of_the_tenant() -> None:
    assert BORDER["VLAN_SUB_INTERFACE"] == {
        "Ethernet40.11": {"admin_status": "up", "vrf_name": "Vrf-red"},
        "Ethernet40.11|10.64.9.2/31": {},
        "Ethernet40.12": {"admin_status": "up", "vrf_name": "Vrf-blue"},
        "Ethernet40.12|10.64.9.4/31": {},
    }


@pytest.mark.parametrize(
    ("port", "tag", "name"),
    [
        ("Ethernet0", 11, "Ethernet0.11"),
        ("Ethernet508", 11, "Ethernet508.11"),
        ("Ethernet508", 101, "Ethernet508.101"),
        ("Ethernet508", 1011, "Eth508.1011"),
        ("Ethernet1022", 101, "Eth1022.101"),
    ],
)
def test_a_subinterface_is_a_linux_interface(port: str, tag: int, name: str) -> None:
    assert subinterface_name(port, tag) == name
    assert len(name) <= 15


def test_a_short_subinterface_says_its_vlan() -> None:
    port = next(port for port in rich("leaf1", "vrf-lite", "sonic").ports if port.subinterfaces)
    first = replace(port.subinterfaces[0], tag=1011)
    made = rich("leaf1", "vrf-lite", "sonic")
    rows = routed_tables(made, {"Ethernet1008": replace(port, subinterfaces=(first,))})["VLAN_SUB_INTERFACE"]
    assert rows == {
        "Eth1008.1011": {"admin_status": "up", "vrf_name": "Vrf-red", "vlan": "1011"},
        f"Eth1008.1011|{first.address}": {},
    }


def test_names_of_tenants_fit_a_linux_interface() -> None:
    assert TARGET.vrf_name_limit == VRF_NAME_LIMIT == 11


def test_a_tenants_servers_reach_their_tenant_alone() -> None:
    made = db(rich("leaf1", "acl", "sonic"))
    assert made["ACL_TABLE"]["TENANT-red-V4"]["ports"] == ["Ethernet0"]
    assert made["ACL_RULE"]["TENANT-red-V4|PERMIT-1"] == {
        "DST_IP": "10.128.1.0/31",
        "PRIORITY": "9000",
        "PACKET_ACTION": "FORWARD",
    }
    assert made["ACL_RULE"]["TENANT-red-V4|DEFAULT_RULE"] == {"PRIORITY": "1", "PACKET_ACTION": "DROP", "ETHER_TYPE": "2048"}


def test_ipv6_tenants_keep_neighbor_discovery() -> None:
    made = rich("leaf1", "acl", "sonic", "ipv6")
    made = replace(made, acls=(Acl("red", ("fd00:2:1::/127",)), Acl("blue", ())))
    tables = db(made)
    assert {name for name in tables["ACL_TABLE"] if name.startswith("TENANT")} == {"TENANT-red-V6", "TENANT-blue-V6"}
    red = {key.split("|")[1]: row for key, row in tables["ACL_RULE"].items() if key.startswith("TENANT-red-V6|")}
    assert {row["ICMPV6_TYPE"] for row in red.values() if "ICMPV6_TYPE" in row} == {"133", "135", "136"}
    assert red["PERMIT-1"]["DST_IPV6"] == "fd00:2:1::/127"
    closed = [key for key in tables["ACL_RULE"] if key.startswith("TENANT-blue")]
    assert closed == ["TENANT-blue-V6|DEFAULT_RULE"]


# --- access ------------------------------------------------------------------------------------------------


def test_management_alone_is_answered() -> None:
    sources = {key.split("|")[0]: row["SRC_IP"] for key, row in BORDER["ACL_RULE"].items() if "FABRIC" not in key}
    assert sources == dict.fromkeys(("CPU-SSH-V4", "CPU-SNMP-V4", "CPU-EXTERNAL_CLIENT-V4"), "172.16.0.0/22")
    assert BORDER["ACL_RULE"]["CPU-EXTERNAL_CLIENT-V4|PERMIT-1"]["L4_DST_PORT"] == BORDER["GNMI"]["gnmi"]["port"]
    assert BORDER["GNMI"]["gnmi"]["client_auth"] == "true"
    assert BORDER["GNMI"]["gnmi"]["vrf"] == "mgmt"
    assert "SNMP_COMMUNITY" not in BORDER


@pytest.mark.parametrize(
    ("style", "table", "rule"),
    [
        ("ipv4", "CPU-FABRIC-PEERS-V4", {"SRC_IP": "10.64.0.1/32", "IN_PORTS": "Ethernet8"}),
        ("unnumbered", "CPU-FABRIC-PEERS-V6", {"SRC_IPV6": "fe80::/10", "IN_PORTS": "Ethernet8"}),
        ("ipv6", "CPU-FABRIC-PEERS-V6", {"SRC_IPV6": "fd00:1::1/128", "IN_PORTS": "Ethernet8"}),
    ],
)
def test_bfd_of_fabric_links_passes_the_filter(style: str, table: str, rule: dict[str, str]) -> None:
    made = rich("leaf1", "qos", "sonic", style)
    tables = db(made)
    assert tables["ACL_TABLE"][table]["services"] == ["ANY"]
    assert tables["ACL_RULE"][f"{table}|PERMIT-1"] == {"PRIORITY": "99999", "PACKET_ACTION": "ACCEPT", **rule}
    without = db(replace(made, underlay=replace(made.underlay, bfd=False)))
    assert table not in without["ACL_TABLE"]


def test_all_are_permitted_when_no_prefix_is_stated() -> None:
    """The first filter drops everything else: without its own permit rule the switch would become unreachable."""
    made = rich("leaf1", "qos", "sonic")
    made = replace(made, management=replace(made.management, allow=()))
    rules = db(made)["ACL_RULE"]
    assert rules["CPU-SSH-V4|PERMIT-1"]["SRC_IP"] == "0.0.0.0/0"
    assert rules["CPU-SSH-V6|PERMIT-1"]["SRC_IPV6"] == "::/0"
    assert "ACL_TABLE" not in db(replace(made, underlay=replace(made.underlay, bfd=False)))


def test_both_families_are_let_in() -> None:
    made = rich("leaf1", "qos", "sonic")
    tables = db(replace(made, management=replace(made.management, allow=("172.16.0.0/22", "fd00:16::/64"))))
    assert tables["ACL_RULE"]["CPU-SSH-V6|PERMIT-1"]["SRC_IPV6"] == "fd00:16::/64"


def test_secrets_are_references() -> None:
    user = BORDER["SNMP_USER"]["monitor"]
    assert user["SNMP_USER_AUTH_PASSWORD"] == "${SNMP_AUTH_KEY}"
    assert user["SNMP_USER_ENCRYPTION_PASSWORD"] == "${SNMP_PRIV_KEY}"
    (made,) = (file.text for file in render(rich("leaf1", "evpn", "sonic"), TARGET) if file.path == "config_db.json")
    assert "ADMIN_PASSWORD" not in made


def test_a_short_snmp_user_is_refused() -> None:
    made = rich("leaf1", "qos", "sonic")
    with pytest.raises(ValueError, match="4 to 32 characters"):
        db(replace(made, management=replace(made.management, snmp_user="nms")))


def test_a_banner_is_text() -> None:
    made = rich("leaf1", "qos", "sonic")
    banner = 'say "no" \\n ${HOME} $(reboot)'
    row = db(replace(made, management=replace(made.management, banner=banner)))["BANNER_MESSAGE"]["global"]
    assert row == {"state": "enabled", "login": banner.replace("\\", "\\\\")}
    assert "BANNER_MESSAGE" not in db(replace(made, management=replace(made.management, banner="")))


@pytest.mark.parametrize("style", STYLES)
def test_without_a_management_vrf_nothing_names_it(style: str) -> None:
    made = rich("leaf1", "qos", "sonic", style)
    tables = db(replace(made, management=replace(made.management, vrf=False)))
    assert "MGMT_VRF_CONFIG" not in tables
    assert "vrf" not in tables["NTP"]["global"] | tables["GNMI"]["gnmi"] | tables["SYSLOG_SERVER"]["172.16.0.4"]
    assert "172.16.0.10|161|" in tables["SNMP_AGENT_ADDRESS_CONFIG"]


def test_the_same_bytes_every_time() -> None:
    made = rich("leaf2", "evpn", "sonic")
    assert list(db(made)) == list(db(made))
    assert render(made, TARGET) == render(made, TARGET)
