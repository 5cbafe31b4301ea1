"""Small networks in the words of several vendors, for the tests of the checks of files.

A file is called `leaf1.eos`, the host name and the network OS that reads it, or `leaf1.frr/bgpd.conf`. A case is a sound
network and what was changed in it; the check is to say exactly what the case expects, at the line that was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from fabric.audit.checks import Check, FilesCheck, Finding, Network
from fabric.audit.checks.base import checks, run
from fabric.audit.checks.role_peers.outline import judged
from fabric.nos.reading import read_device

Files: TypeAlias = Mapping[str, str]  # `leaf1.eos` → text
Case: TypeAlias = tuple[Files, list[str]]  # → findings, each without its hint

LEAF1 = """\
hostname leaf1
ntp server 192.0.2.10
ntp server 192.0.2.11
logging host 192.0.2.20
vrf instance MGMT
interface Management1
   vrf MGMT
   ip address 192.0.2.101/24
interface Ethernet1
   description spine1 et-0/0/1
   no shutdown
   mtu 9214
   speed 400g-4
   ip address 10.0.0.1/31
interface Loopback0
   ip address 10.255.0.1/32
router bgp 65001
   router-id 10.255.0.1
   maximum-paths 2
   neighbor 10.0.0.0 remote-as 65100
   neighbor 10.0.0.0 description spine1
   neighbor 10.0.0.0 timers 3 9
   neighbor 10.0.0.0 maximum-routes 1000
"""
LEAF2 = """\
hostname leaf2
feature bgp
ntp server 192.0.2.10 use-vrf management
ntp server 192.0.2.11 use-vrf management
logging server 192.0.2.20 6 use-vrf management
interface mgmt0
  vrf member management
  ip address 192.0.2.102/24
interface Ethernet1/1
  description spine1 et-0/0/2
  no switchport
  mtu 9214
  ip address 10.0.0.3/31
  no shutdown
interface loopback0
  ip address 10.255.0.2/32
router bgp 65002
  router-id 10.255.0.2
  address-family ipv4 unicast
    maximum-paths 2
  neighbor 10.0.0.2
    remote-as 65100
    description spine1
    timers 3 9
    address-family ipv4 unicast
      maximum-prefix 1000
"""
SPINE1 = """\
set system host-name spine1
set system ntp server 192.0.2.10
set system ntp server 192.0.2.11
set system syslog host 192.0.2.20 any info
set system management-instance
set interfaces re0:mgmt-0 unit 0 family inet address 192.0.2.111/24
set interfaces et-0/0/1 description "leaf1 Ethernet1"
set interfaces et-0/0/1 mtu 9228
set interfaces et-0/0/1 unit 0 family inet mtu 9214
set interfaces et-0/0/1 unit 0 family inet address 10.0.0.0/31
set interfaces et-0/0/2 description "leaf2 Ethernet1/1"
set interfaces et-0/0/2 mtu 9228
set interfaces et-0/0/2 unit 0 family inet mtu 9214
set interfaces et-0/0/2 unit 0 family inet address 10.0.0.2/31
set interfaces lo0 unit 0 family inet address 10.255.0.100/32
set routing-options router-id 10.255.0.100
set routing-options autonomous-system 65100
set protocols bgp group LEAVES type external
set protocols bgp group LEAVES hold-time 9
set protocols bgp group LEAVES family inet unicast prefix-limit maximum 1000
set protocols bgp group LEAVES neighbor 10.0.0.1 peer-as 65001
set protocols bgp group LEAVES neighbor 10.0.0.3 peer-as 65002
set protocols lldp interface all
"""
SMALL: Files = {"leaf1.eos": LEAF1, "leaf2.nxos": LEAF2, "spine1.junos": SPINE1}


def network(files: Files) -> Network:
    """The devices of some files."""
    devices: dict[str, dict[str, str]] = {}
    for name, text in files.items():
        devices.setdefault(name.partition("/")[0], {})[name] = text
    read = tuple(read_device(*name.rsplit(".", 1), own) for name, own in devices.items())
    found = {id(facts): judged(facts) for facts in read}
    names, refused = ({key: getattr(one, column) for key, one in found.items()} for column in ("names", "refused"))
    return Network(read, names=names, refused=refused)


def but(files: Files, changes: Mapping[str, Mapping[str, str]]) -> Files:
    """Files with some texts of theirs replaced; each must be there once."""
    changed = dict(files)
    for name, edits in changes.items():
        for old, new in edits.items():
            assert changed[name].count(old) == 1, f"{name}: {old!r}"
            changed[name] = changed[name].replace(old, new)
    return changed


def without(files: Files, name: str, *lines: str) -> Files:
    """Files with some lines of one gone."""
    return but(files, {name: {f"{line}\n": "" for line in lines}})


def says(id_: str, files: Files) -> list[str]:
    """The findings of one check."""
    return [str(finding) for check in checks(FilesCheck) if check.id == id_ for finding in check.run(network(files))]


def all_say(files: Files) -> list[Finding]:
    """The findings of every check."""
    return run(FilesCheck, network(files))


def in_full(id_: str, heads: Iterable[str]) -> list[str]:
    """Findings as they are printed: with the hint of their check, unless a head has its own."""
    return [head if "\n" in head else f"{head}\n    hint: {Check.registry[id_].remediation}" for head in heads]
