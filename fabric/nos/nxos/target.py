"""Cisco NX-OS on Nexus 9000: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric.nos.idiom import Idiom
from fabric.nos.lazy import Lazy
from fabric.nos.nxos.write.ports import LAYER_2_MTU, RELEASE, port_name
from fabric.nos.target import Capabilities, Target

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import PortRef


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
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=True,
        dynamic_balancing="asked",
        snmp=True,
        gnmi=True,
    ),
    objects=Lazy(__package__, "write.switch:objects"),
    releases=(RELEASE,),
    vrf_name_limit=32,
    reader=Lazy(__package__, "reader:READER"),
    lldp=Lazy(__package__, "lldp:READERS"),
    state=Lazy(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    dialect=Lazy(__package__, "diff:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish.view:VIEW"),
    containerlab=Lazy(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "cisco.nxos.nxos", "ansible_connection": "ansible.netcommon.network_cli"},
    exporters=("gnmic-nxos",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
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
