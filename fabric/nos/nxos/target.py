"""Cisco NX-OS on Nexus 9000: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric.nos.nxos.write.ports import LAYER_2_MTU, RELEASE, port_name
from fabric.nos.target import Capabilities, Idiom, Kind, Lazy, LoginLimits, Reader, Target

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import PortRef


# --- Files of NX-OS among others ------------------------------------------------------------------------------

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    zones=Lazy(__package__, "write.clock:zones"),
    hardware=(
        r"\A! \S+ \((?P<model>[^,()]+), NX-OS (?P<release>\S+)\)$",
        r"^version (?P<release>\d\S*)",
    ),
    rank=40,
    signs=(
        (3, r"^boot nxos"),
        (2, r"^feature \S"),
        (2, r"^nv overlay evpn"),
        (2, r"^vrf context \S"),
        (2, r"^interface nve1"),
        (2, r"^interface mgmt0"),
        (2, r"^version (?:9|10)\.\d+\(\d+\)"),
        (1, r"^[ \t]{2}neighbor \S+\n[ \t]{4}"),
        (2, r"^!Command: show (?:running|startup)-config"),
    ),
    other_forms=((r'cisco\.com/nxos:|"nf:(?:filter|source)"', "show running-config"),),  # of `| xml` and `| json`
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="cisco_n9kv",
    image="vrnetlab/cisco_n9kv:latest",
    own=r"Ethernet1/([0-9]+)",
    endpoint="Ethernet1/{0}",
    startup="startup-config",
    note="the VM's mgmt0 has 10.0.0.15/24 behind the node's address: take `interface mgmt0` out of the file, for SSH",
)


# --- The network OS -------------------------------------------------------------------------------------------


def _port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    return port_name(ref)


TARGET = Target(
    name="nxos",
    title="Cisco NX-OS",
    port_name=_port_name,
    port=r"[Ee]th(?:ernet)?\d+(?:/\d+)?(?P<lane>/\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    short_title="NX-OS",
    max_mtu=9216,
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="vpc",
        imports=True,
        leaks=True,
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=True,
        dynamic_balancing="asked",
        snmp=True,
        gnmi=True,
        tacacs=True,
        radius=True,
        ldap=True,
        dhcp_relay=True,
        dhcp_relay_across=True,
    ),
    # `aaa authentication login default group G1 G2 [none]`: local users follow by another setting, and cannot be first
    logins=LoginLimits(local_first=False),
    releases=(RELEASE,),
    vrf_name_limit=32,
    reader=READER,
    lldp=Lazy(__package__, "state:LLDP_READERS"),
    state=Lazy(__package__, "state:READERS"),
    change=Path(__file__).with_name("change.yaml"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    dialect=Lazy(__package__, "statements:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish:VIEW"),
    containerlab=KIND,
    day_zero=Lazy(__package__, "day_zero:FIRST_BOOT"),
    ansible={"ansible_network_os": "cisco.nxos.nxos", "ansible_connection": "ansible.netcommon.network_cli"},
    exporters=("gnmic-nxos",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        leaks_by_target=True,
        loopback="loopback0",
        vtep="loopback1",
        lossless_by_pfc=True,
        bond="port-channel{}",
        svi="Vlan{}",
        management="mgmt0",
        l3_svi=True,
        management_vrf=True,
        acls=("ACL-{}", "ACL6-{}"),
        member_vlans=True,
        layer2_mtu=LAYER_2_MTU,
        own_classes=True,
        ecn_unit=1000,
        seed=True,
    ),
)
