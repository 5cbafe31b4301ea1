"""Juniper Junos Evolved: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric.nos.idiom import Idiom
from fabric.nos.junos.write.interfaces import ETHERNET_BYTES, FLEXIBLE_BYTES, IP_LIMIT, TAG_BYTES, port_name
from fabric.nos.junos.write.platform import CLASSIC, RELEASE
from fabric.nos.lazy import Lazy
from fabric.nos.reading.words import is_address
from fabric.nos.target import Capabilities, Requests, Target

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel


def refuses(model: SwitchModel, catalog_name: str) -> str | None:
    """Junos Evolved runs on Juniper's newer switches."""
    return "it runs Junos, not Junos Evolved: other names of ports and classes" if catalog_name.startswith(CLASSIC) else None


def objects(requests: Requests) -> dict[str, str]:
    """The filter of the routing engine lists its time servers, and a prefix list has no names."""
    named = [server for server in requests.get("management.ntp", ()) if not is_address(server)]
    return {"management.ntp": f"expected addresses, for the filter of the routing engine, got '{named[0]}'"} if named else {}


TARGET = Target(
    name="junos",
    title="Juniper Junos Evolved",
    port_name=port_name,
    port=r"(?:et|xe|ge)-\d+/\d+/\d+(?P<lane>:\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    refuses=refuses,
    short_title="Junos Evolved",
    max_mtu=IP_LIMIT,
    # Junos "native-vlan-id": untagged packets are received in the unit with that `vlan-id`. What QFX sends there is not
    # documented; on MX it is tagged unless `no-native-vlan-insert` is set, though a published ping of a vMX to an untagged
    # host works.
    sends_untagged=False,
    objects=objects,
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        imports=False,  # Juniper: a leaked connected route does not forward, so two tenants on one leaf would not meet
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=False,
        dynamic_balancing="auto",
        snmp=True,
        gnmi=True,
    ),
    releases=(RELEASE,),
    reader=Lazy(__package__, "reader:READER"),
    lldp=Lazy(__package__, "lldp:READERS"),
    state=Lazy(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    dialect=Lazy(__package__, "diff:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish.view:VIEW"),
    containerlab=Lazy(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "junipernetworks.junos.junos", "ansible_connection": "ansible.netcommon.netconf"},
    exporters=("gnmic",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        ordered_lists=False,
        loopback="lo0",
        vtep="lo0.1",
        bond="ae{}",
        svi="irb.{}",
        management="re0:mgmt-0",
        vrf="VRF-{}",
        acls=("ACL-{}", "ACL-{}"),
        own_vtep=False,
        redistributes=False,
        peer_lists=True,
        trunk_mtu=True,
        layer2_mtu=0,
        frame_bytes=ETHERNET_BYTES,
        slice_bytes=FLEXIBLE_BYTES,
        bridge_bytes=TAG_BYTES,
        keepalive=False,
        vrf_process=False,
        network_rd=False,
        paths=Lazy(__package__, "write.switch:equal_paths"),
        ecn_percent=Lazy(__package__, "write.qos:fill"),
        watchdog_ms=Lazy(__package__, "write.qos:detection_ms"),
        vtep_of_vni=True,
    ),
)
