"""What is written for Batfish: exact copies of small files, where their lines are from, and the cables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabric.audit.checks.batfish.client import view_of
from fabric.audit.checks.batfish.snapshot import write
from fabric.nos.batfish import Copies, Copy
from fabric.nos.cumulus.batfish import nvue_copy
from fabric.nos.frr.batfish import linux_copy, maps, readable
from fabric.nos.junos.batfish import junos_copy
from fabric.nos.sonic.batfish import sonic_copies
from tests import ROOT
from tests.audit.checks.batfish.helpers import example, site, small

FRR = """\
frr defaults datacenter
ip prefix-list PL-IN seq 10 permit 10.0.0.0/15 ge 32
vrf Vrf-red
 vni 50001
exit-vrf
router bgp 65001
 neighbor FABRIC peer-group
 address-family ipv4 unicast
  neighbor FABRIC prefix-list PL-IN in
  neighbor 10.64.0.1 prefix-list PL-IN in
 exit-address-family
 address-family l2vpn evpn
  neighbor OVERLAY activate
  vni 10001
   rd 10.0.0.3:10001
  exit-vni
 exit-address-family
exit
router bgp 65001 vrf Vrf-red
 bgp router-id 10.0.0.3
exit
"""
INTERFACES = """\
auto swp1
iface swp1
    mtu 9216
    link-fec rs
    address 10.64.0.0/31

auto br0
iface br0
    bridge-ports swp2 vni10001
    bridge-stp off
auto vlan100
iface vlan100
    vlan-raw-device br0
"""


def test_linux() -> None:
    """Lines stay where they are in their file, so a warning about one is about the same line there."""
    files = {"configs/l/frr.conf": FRR, "configs/l/interfaces": INTERFACES, "configs/l/sysctl.conf": "net.x = 1\n"}
    copy = linux_copy("l", files)
    assert copy.text.splitlines() == [
        "l",
        "# This file describes the network interfaces",
        *("auto swp1", "iface swp1", "    mtu 9216", "#", "    address 10.64.0.0/31", ""),
        *("auto bridge", "iface bridge", "    bridge-ports swp2 vni10001", "#"),
        *("auto vlan100", "iface vlan100", "    vlan-raw-device bridge"),
        "# ports.conf --",
        "frr version 10.0",
        *("frr defaults datacenter", "ip prefix-list PL-IN seq 10 permit 10.0.0.0/15 ge 32"),
        *("vrf Vrf-red", " vni 50001", "exit-vrf"),
        *("router bgp 65001", " neighbor FABRIC peer-group", " address-family ipv4 unicast"),
        "  neighbor FABRIC route-map LIST-PL-IN in",
        "  neighbor 10.64.0.1 route-map LIST-PL-IN in",
        *(" exit-address-family", " address-family l2vpn evpn", "  neighbor OVERLAY activate"),
        *("  vni 10001", "   rd 10.0.0.3:10001", "!", " exit-address-family", "!"),
        *("router bgp 65001 vrf Vrf-red", " bgp router-id 10.0.0.3", "!"),
        "route-map LIST-PL-IN permit 10",
        " match ip address prefix-list PL-IN",
    ]
    assert (copy.path, copy.format) == ("configs/l.cfg", "CUMULUS_CONCATENATED")
    assert copy.origin(5) == ("configs/l/interfaces", 3)
    assert copy.origin(18) == ("configs/l/frr.conf", 1)
    assert copy.origin(39) == ("configs/l/frr.conf", 9)  # the map that stands for a list, at the line that names the list
    assert copy.origin(1) == ("configs/l/frr.conf", 0)
    assert copy.origin(99) == ("configs/l/frr.conf", 0)


def test_filters_of_ipv6_stay() -> None:
    """Batfish passes over the family as a whole."""
    lines = [" address-family ipv6 unicast", "  neighbor F prefix-list PL in", " address-family ipv4 unicast"]
    assert readable(lines) == lines
    assert list(maps(lines)) == []


def test_sonic() -> None:
    """Only what Batfish knows: no table, row or property that makes it drop the table, no VRF that stops it."""
    database = {
        "DEVICE_METADATA": {"localhost": {"hostname": "l", "bgp_asn": "65001"}},
        "INTERFACE": {
            "Ethernet0": {"vrf_name": "Vrf-red"},
            "Ethernet0|10.128.0.0/31": {},
            "Ethernet8": {"ipv6_use_link_local_only": "enable"},
            "Ethernet8|10.64.0.0/31": {},
        },
        "PORT": {"Ethernet0": {"speed": "100000", "mtu": "9166", "fec": "rs"}},
        "WRED_PROFILE": {"ROCE": {"ecn": "ecn_all"}},
    }
    tables, frr = sonic_copies("l", {"configs/l/config_db.json": json.dumps(database), "configs/l/frr.conf": FRR})
    assert json.loads(tables.text) == {
        "DEVICE_METADATA": {"localhost": {"hostname": "l"}},
        "INTERFACE": {"Ethernet8": {}, "Ethernet8|10.64.0.0/31": {}},
        "PORT": {"Ethernet0": {"speed": "100000", "mtu": "9166"}},
    }
    assert frr.text.splitlines() == [
        *("frr defaults datacenter", "ip prefix-list PL-IN seq 10 permit 10.0.0.0/15 ge 32"),
        *("!", "!", "!"),
        *("router bgp 65001", " neighbor FABRIC peer-group", " address-family ipv4 unicast"),
        "  neighbor FABRIC route-map LIST-PL-IN in",
        "  neighbor 10.64.0.1 route-map LIST-PL-IN in",
        *(" exit-address-family", "!", "!", "!", "!", "!", "!", "!"),
        *("!", "!", "!"),
        "route-map LIST-PL-IN permit 10",
        " match ip address prefix-list PL-IN",
    ]
    assert [copy.path for copy in (tables, frr)] == ["sonic_configs/l/config_db.json", "sonic_configs/l/frr.conf"]
    assert tables.origin(3) == ("configs/l/config_db.json", 0)
    assert frr.origin(9) == ("configs/l/frr.conf", 9)


JUNOS = """\
policy-options {
    route-filter-list PL-FABRIC {
        10.0.0.0/15 prefix-length-range /32-/32;
        10.2.0.0/15 orlonger;
    }
    policy-statement IN {
        term fabric {
            from {
                route-filter-list PL-FABRIC;
                route-filter-list PL-NOWHERE;
            }
        }
    }
}
protocols {
    bgp {
        group FABRIC {
            family inet {
                unicast;
            }
        }
        group EVPN {
            family evpn {
                signaling;
            }
            neighbor 10.0.0.1 {
                peer-as 65000;
            }
        }
    }
}
"""


def test_junos() -> None:
    copy = junos_copy("l", "configs/l/juniper.conf", JUNOS)
    expected = JUNOS.splitlines()
    expected[8] = "                route-filter 10.0.0.0/15 prefix-length-range /32-/32; route-filter 10.2.0.0/15 orlonger;"
    expected[21:29] = [""] * 8
    assert list(copy.lines) == expected
    assert copy.origin(9) == ("configs/l/juniper.conf", 9)


NVUE = """\
- set:
    bridge:
      domain:
        br_default:
          vlan:
            '100':
              vni:
                '10001': {}
    interface:
      bond1:
        bond:
          member:
            swp1: {}
        bridge:
          domain:
            br_default:
              access: 100
        type: bond
      lo:
        ipv4:
          address:
            10.0.0.9/32: {}
        type: loopback
      swp1:
        type: swp
      swp31:
        description: 'spine001 swp1'
        ipv4:
          address:
            10.64.0.128/31: {}
        link:
          mtu: 9216
        type: swp
      vlan100:
        ipv4:
          vrr:
            address:
              10.20.0.1/24: {}
        type: svi
        vlan: 100
        vrf: red
    nve:
      vxlan:
        source:
          address: 10.2.0.5
    router:
      bgp:
        autonomous-system: 65001
        router-id: 10.0.0.9
      policy:
        prefix-list:
          PL-IN:
            rule:
              '10':
                action: permit
                match:
                  10.0.0.0/15:
                    min-prefix-len: 32
            type: ipv4
    system:
      global:
        fabric-mac: '00:00:5e:00:01:01'
    vrf:
      default:
        router:
          bgp:
            address-family:
              ipv4-unicast:
                multipaths:
                  ebgp: 64
                state: enabled
              l2vpn-evpn:
                state: enabled
            neighbor:
              swp31:
                peer-group: FABRIC
                remote-as: 65000
                type: unnumbered
            path-selection:
              multipath:
                aspath-ignore: enabled
            peer-group:
              FABRIC:
                address-family:
                  ipv4-unicast:
                    policy:
                      inbound:
                        prefix-list: PL-IN
                    state: enabled
      red:
        evpn:
          vlan: 3001
          vni:
            '50001': {}
"""


def test_cumulus() -> None:
    """The facts of an NVUE file as the files that NVUE writes from them."""
    copy = nvue_copy("l", {"configs/l/startup.yaml": NVUE})
    assert copy.text.splitlines() == [
        *("l", "# This file describes the network interfaces"),
        *("auto bond1", "iface bond1", "    bond-slaves swp1", "    bridge-access 100"),
        *("auto lo", "iface lo inet loopback", "    address 10.0.0.9/32"),
        *("auto swp1", "iface swp1"),
        *("auto swp31", "iface swp31", "    alias spine001 swp1", "    mtu 9216", "    address 10.64.0.128/31"),
        *("auto vlan100", "iface vlan100", "    vrf red", "    vlan-id 100", "    vlan-raw-device bridge"),
        "    address-virtual 00:00:5e:00:01:01 10.20.0.1/24",
        *("auto mgmt", "iface mgmt", "    vrf-table auto", "auto red", "iface red", "    vrf-table auto"),
        *(
            "auto vni10001",
            "iface vni10001",
            "    vxlan-id 10001",
            "    vxlan-local-tunnelip 10.2.0.5",
            "    bridge-access 100",
        ),
        *(
            "auto vni50001",
            "iface vni50001",
            "    vxlan-id 50001",
            "    vxlan-local-tunnelip 10.2.0.5",
            "    bridge-access 3001",
        ),
        *("auto vlan3001", "iface vlan3001", "    vlan-id 3001", "    vlan-raw-device bridge", "    vrf red"),
        *("auto bridge", "iface bridge", "    bridge-ports bond1 vni10001 vni50001", "    bridge-vids 100 3001"),
        "    bridge-vlan-aware yes",
        *("# ports.conf --", "frr version 10.0"),
        "ip prefix-list PL-IN seq 10 permit 10.0.0.0/15 ge 32",
        *("vrf red", " vni 50001", "exit-vrf"),
        *("router bgp 65001", " bgp router-id 10.0.0.9", " no bgp default ipv4-unicast"),
        " bgp bestpath as-path multipath-relax",
        *(" neighbor FABRIC peer-group", " neighbor swp31 interface remote-as 65000"),
        " neighbor swp31 interface peer-group FABRIC",
        *(" address-family ipv4 unicast", "  maximum-paths 64", "  neighbor FABRIC activate"),
        *("  neighbor FABRIC route-map LIST-PL-IN in", " exit-address-family"),
        *(" address-family l2vpn evpn", "  advertise-all-vni", " exit-address-family"),
        *("route-map LIST-PL-IN permit 10", " match ip address prefix-list PL-IN"),
    ]
    where = {line: copy.origin(number) for number, line in enumerate(copy.lines, 1)}
    lines = NVUE.splitlines()
    assert lines[where["    address 10.64.0.128/31"][1] - 1].strip() == "10.64.0.128/31: {}"
    assert lines[where[" neighbor swp31 interface remote-as 65000"][1] - 1].strip() == "remote-as: 65000"
    assert lines[where[" match ip address prefix-list PL-IN"][1] - 1].strip() == "prefix-list: PL-IN"


SWITCHED = """\
- set:
    bridge:
      domain:
        br_default:{vlans}
    interface:
      swp1:
        bridge:
          domain:
            br_default:
              access: 200
        type: swp
"""


@pytest.mark.parametrize(
    ("vlans", "expected"),
    [
        ("\n          vlan:\n            '200': {}\n            '201': {}", ["    bridge-vids 200 201"]),
        (" {}", []),  # Batfish knows no line that ends behind the word
    ],
)
def test_the_vlans_of_a_cumulus_bridge_without_vnis(vlans: str, expected: list[str]) -> None:
    copy = nvue_copy("l", {"configs/l/startup.yaml": SWITCHED.replace("{vlans}", vlans)})
    after = copy.lines[copy.lines.index("iface bridge") + 1 :]
    assert after[: len(expected) + 2] == ("    bridge-ports swp1", *expected, "    bridge-vlan-aware yes")


BROKEN = {
    "sonic": ({"configs/l/config_db.json": '{"PORT": ', "configs/l/frr.conf": ""}, '{"PORT": \n'),
    "cumulus": ({"configs/l/startup.yaml": "- set: [\n"}, "- set: [\n"),
    "no rows": ({"configs/l/config_db.json": '{"PORT": 7}', "configs/l/frr.conf": ""}, '{"PORT": 7}\n'),
}


@pytest.mark.parametrize(("files", "text"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_goes_to_batfish_as_it_is(files: dict[str, str], text: str) -> None:
    """It says that it cannot read it, and that is a finding."""
    nos = "cumulus" if "configs/l/startup.yaml" in files else "sonic"
    view = view_of(nos)
    assert view is not None
    assert view.reads("l", files)[0].text == text


def test_lines_are_found_by_their_words() -> None:
    text = "neighbor 10.64.0.11 x\nneighbor 10.64.0.1 peer group F\nneighbor 10.64.0.1 remote-as 1\n10.0.0.7: {}\n"
    copies = Copies(
        device="l",
        nos="eos",
        files={"configs/l/c": text},
        copies=(Copy(path="configs/l.cfg", lines=(), format="ARISTA", source="configs/l/c"),),
    )
    assert copies.find("neighbor 10.64.0.1 remote-as", "10.64.0.1") == ("configs/l/c", 3)
    assert copies.find("nothing", "10.64.0.1") == ("configs/l/c", 2)
    assert copies.find("10.0.0.7") == ("configs/l/c", 4)
    assert copies.find("10.64.0") == ("configs/l/c", 0)


WAN = """\
wan
# This file describes the network interfaces
auto blue
iface blue
    vrf-table auto
auto red
iface red
    vrf-table auto
iface swp1
iface swp2
iface swp1.11
    address 10.64.0.81/31
    vrf red
iface swp1.12
    address 10.64.0.83/31
    vrf blue
iface swp2.11
    address 10.64.0.85/31
    vrf red
iface swp2.12
    address 10.64.0.87/31
    vrf blue
# ports.conf --
frr version 10.0
vrf blue
router bgp 65010 vrf blue
 neighbor 10.64.0.82 remote-as 4200000006
 neighbor 10.64.0.86 remote-as 4200000007
 address-family ipv4 unicast
  redistribute static
 exit-address-family
vrf red
router bgp 65010 vrf red
 neighbor 10.64.0.80 remote-as 4200000006
 neighbor 10.64.0.84 remote-as 4200000007
 address-family ipv4 unicast
  redistribute static
 exit-address-family
"""


def test_routers_outside(tmp_path: Path) -> None:
    """Their sessions can come up; a tenant of an overlay is reported nothing."""
    (wan,) = example("ai-eos", tmp_path).snapshot().outside
    assert wan.text == WAN
    assert wan.path == "configs/wan.cfg"


def test_a_router_outside_for_all_tells_its_routes(tmp_path: Path) -> None:
    text = (ROOT / "intent" / "ai-eos.yaml").read_text(encoding="utf-8")
    head, _, _ = text.partition("fabrics:\n")
    fabrics = """\
fabrics:
  frontend:
    purpose: frontend
    nos: eos
    servers: {model: gpu-node, count: 8, per_rack: 4, name: gpu}
    topology:
      switch: 7050cx3-32s
      leaf: {uplinks: {count: 2}}
      attachments: [{name: wan, links: 1, external: {asn: 65010}}]
"""
    path = tmp_path / "open.yaml"
    path.write_text(head + fabrics, encoding="utf-8")
    (wan,) = site(path, tmp_path).snapshot().outside
    assert "ip route 0.0.0.0/0 Null0" in wan.lines
    assert [line for line in wan.lines if line.startswith("router bgp")] == ["router bgp 65010"]


def test_the_folder(tmp_path: Path) -> None:
    """Every switch, and each cable once with the names of both switches; nothing beside it."""
    folder = tmp_path / "snapshot"
    write(small(tmp_path).snapshot(), folder)
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    switches = [f"configs/backend-{name}.cfg" for name in ("leaf001", "leaf002", "spine001", "spine002")]
    assert names == ["batfish/layer1_topology.json", *switches]
    edges = json.loads((folder / "batfish/layer1_topology.json").read_text(encoding="utf-8"))["edges"]
    assert [(_end(edge["node1"]), _end(edge["node2"])) for edge in edges] == [
        ("backend-spine001 Ethernet1/1", "backend-leaf001 Ethernet31/1"),
        ("backend-spine001 Ethernet2/1", "backend-leaf002 Ethernet31/1"),
        ("backend-spine002 Ethernet1/1", "backend-leaf001 Ethernet32/1"),
        ("backend-spine002 Ethernet2/1", "backend-leaf002 Ethernet32/1"),
    ]


def _end(end: dict[str, Any]) -> str:
    return f"{end['hostname']} {end['interfaceName']}"


def test_the_copy_of_eos_is_the_file(tmp_path: Path) -> None:
    site = small(tmp_path)
    snapshot = site.snapshot()
    rendered = site.texts["backend-leaf001"]["configs/backend-leaf001/startup-config"]
    assert snapshot.copies["backend-leaf001"].copies[0].text == rendered
    assert snapshot.origin("configs/backend-leaf001.cfg", 7) == (
        *("backend-leaf001", "configs/backend-leaf001/startup-config"),
        7,
    )
    assert snapshot.origin("configs/wan.cfg", 7) is None
