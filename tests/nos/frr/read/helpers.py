"""What the tests of the FRR and SONiC readers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabric.model.facts import Ecn, Facts, Located
from fabric.nos.frr.read.device import read
from tests import ROOT

GOLDEN = ROOT / "tests" / "golden" / "render"

FRR_CONF = """\
frr defaults datacenter
hostname leaf1
ip prefix-list PL-OWN seq 10 permit 10.0.0.1/32
ip prefix-list PL-OWN seq 20 deny any
route-map RM-IN permit 10
 match ip address prefix-list PL-OWN
exit
vrf red
 vni 50001
exit-vrf
interface bond1
 evpn mh es-id 5
 evpn mh es-sys-mac 02:00:00:00:00:01
exit
bfd
 profile FAST
  detect-multiplier 3
 exit
exit
router bgp 65000.1
 bgp router-id 10.0.0.1
 no bgp default ipv4-unicast
 bgp bestpath as-path multipath-relax
 neighbor FABRIC peer-group
 neighbor FABRIC remote-as external
 neighbor FABRIC bfd profile FAST
 neighbor FABRIC timers 3 9
 neighbor FABRIC timers connect 10
 neighbor swp1 interface peer-group FABRIC
 neighbor swp1 description spine1 swp7
 neighbor 10.64.0.1 peer-group FABRIC
 neighbor 10.64.0.1 remote-as 4200000000
 neighbor 10.64.0.1 shutdown
 neighbor FD00::0001 remote-as internal
 neighbor FD00::0001 ebgp-multihop
 neighbor FD00::0001 update-source lo
 neighbor FD00::0001 password ${BGP_PASSWORD}
 bgp listen range 10.9.0.0/16 peer-group FABRIC
 address-family ipv4 unicast
  neighbor FABRIC activate
  neighbor FABRIC maximum-prefix 12000 80 restart 5
  neighbor FABRIC route-map RM-IN in
  no neighbor 10.64.0.1 activate
  maximum-paths 64
 exit-address-family
 address-family l2vpn evpn
  neighbor fd00::1 activate
  neighbor fd00::1 allowas-in
  vni 10001
   rd 10.0.0.1:10001
   route-target both 65000:10001
  exit-vni
 exit-address-family
exit
router bgp 65001 vrf red
 address-family l2vpn evpn
  rd 10.0.0.1:1
  route-target import 65000:50001 65000:50002
  route-target export 65000:50001
"""
INTERFACES = """\
auto lo
iface lo inet loopback
    address 10.0.0.1/32
iface mgmt
    address 127.0.0.1/8
    vrf-table auto
iface eth0
    address 172.16.0.4
    netmask 255.255.0.0
    dns-nameservers 192.0.2.53
    vrf mgmt
iface red
    vrf-table auto
iface swp1
    alias spine1 swp7
    mtu 9216
    link-speed 400000
iface swp2
    link-down yes
iface bond1
    bond-slaves swp3 swp4
    bridge-access 100
iface swp5.11
    address 10.64.0.8/31
    vrf red
iface vni10001
    vxlan-id 10001
    vxlan-local-tunnelip 10.2.0.1
    bridge-access 100
iface vni50001
    vxlan-id 50001
    bridge-access 3001
iface br0
    bridge-ports bond1 swp6 vni10001 vni50001
    bridge-vids 100-101
    bridge-pvid 1
    bridge-vlan-aware yes
iface swp6
iface vlan100
    address 10.20.0.1/24
    vlan-id 100
    vlan-raw-device br0
    vrf red
    hwaddress 00:00:5e:00:01:01
iface vlan3001
    vlan-id 3001
    vrf red
"""


def facts(conf: str, interfaces: str = "") -> Facts:
    """Of an frr.conf, and of what the kernel is reported."""
    return read("device", {"frr.conf": conf, **({"interfaces": interfaces} if interfaces else {})})


def plain(value: Any) -> Any:
    """Values with their lines: `9216@16`."""
    if isinstance(value, Located):
        return f"{value.value}@{value.line}"
    return [plain(part) for part in value] if isinstance(value, list) else value


def values(of: Any) -> Any:
    """Values alone."""
    if isinstance(of, Located):
        return of.value
    if isinstance(of, dict):
        return {key: values(part) for key, part in of.items()}
    if isinstance(of, Ecn):
        return values([of.kmin_bytes, of.kmax_bytes, of.pmax_percent])
    return [values(part) for part in of] if isinstance(of, list) else of


def configured(thing: Any, *names: str) -> list[Any]:
    """Fields by name, with their lines."""
    return [plain(getattr(thing, name)) for name in names]


def shown(thing: Any, *hidden: str) -> dict[str, Any]:
    """Everything that is reported, with its lines."""
    found = {name: plain(getattr(thing, name)) for name in thing.__slots__ if name not in ("name", "line", "file", *hidden)}
    return {name: value for name, value in found.items() if value not in (None, [], {}, False)}


def whole(folder: Path) -> dict[str, str]:
    """The files of a switch."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}
