"""Juniper Junos Evolved: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric.nos.junos.write.interfaces import (
    CLASSIC,
    ETHERNET_BYTES,
    FLEXIBLE_BYTES,
    IP_LIMIT,
    PORT_SPEEDS,
    RELEASE,
    TAG_BYTES,
    port_name,
)
from fabric.nos.reading.values import is_address
from fabric.nos.target import Capabilities, Idiom, Kind, Lazy, Reader, Requests, Target

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel


# --- Files of Junos among others ------------------------------------------------------------------------------

FIRST = "version|groups|apply-groups|system|chassis|interfaces"  # sections that a config begins with
SHOW = "show configuration | display set"

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    hardware=(
        r"\A/\* \S+ \((?P<model>[^()]+)\), Junos OS (?:Evolved )?(?P<release>\S+)",
        r"^(?:set )?version \"?(?P<release>\d[\w.-]+)",
    ),
    rank=50,
    signs=(
        (3, r"^system \{"),
        (3, r"^set (?:system|interfaces|protocols|routing-options|policy-options|version|chassis|groups) "),
        (2, r"^interfaces \{"),
        (2, r"^(?:protocols|routing-instances|policy-options|routing-options) \{"),
        (2, r"^## Last (?:commit|changed)"),
        (1, r"^[ \t]+family inet6? \{"),
    ),
    host_name=r"^[ \t]*(?:set system )?host-name\s+\"?([\w.-]+)",
    usual=frozenset({"juniper"}),
    other_forms=(  # of `| display json` and `| display xml`
        (rf'"configuration"\s*:\s*(?:\[\s*)?\{{\s*"(?:attributes|@|{FIRST})"', SHOW),
        (rf"<configuration(?:\s[^<>]*)?>\s*<(?:{FIRST})\b", SHOW),
    ),
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="juniper_cjunosevolved",
    image="cjunosevolved:latest",
    own=r"et-0/0/([0-9]+)",
    endpoint="et-0/0/{0}",
    startup="juniper.conf",
    first_eth=4,
    zero=0,
    note="without FXP0ADDRESS as the address of re0:mgmt-0 in the file: CLI by `docker exec -it NODE cli`, no SSH",
)


# --- The network OS -------------------------------------------------------------------------------------------


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
    port_speeds=PORT_SPEEDS,
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
        tacacs=True,
        radius=True,
        ldap=False,  # `system ldap-server` is in the models, but `authentication-order` has no word for it
        dhcp_relay=True,
    ),
    releases=(RELEASE,),
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
