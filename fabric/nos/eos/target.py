"""Arista EOS: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path

from fabric.nos.eos.write.ports import RELEASE, port_name
from fabric.nos.target import Capabilities, Idiom, Kind, Lazy, Reader, Requests, Target

# --- Files of EOS among others --------------------------------------------------------------------------------

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    hardware=(r"! device: \S+ \((?:DCS-)?(?P<model>[^,()]+?)(?:-[FRM#])?, EOS-(?P<release>[^,()\s]+)\)",),
    rank=30,
    signs=(
        (3, r"^! device: .*EOS"),
        (3, r"^service routing protocols model"),
        (2, r"^transceiver qsfp default-mode"),
        (3, r"^vrf instance \S"),
        (3, r"^switchport default mode routed"),
        (2, r"^interface Ethernet\d+(?:/\d+)?\n(?:[ \t]{3}.*\n)*[ \t]{3}\S"),
        (2, r"^interface Vxlan1"),
        (2, r"^interface Management\d"),
        (2, r"^[ \t]{3}neighbor \S+ peer[ -]group"),
        (1, r"^[ \t]+ip address \d+\.\d+\.\d+\.\d+/\d+"),
        (2, r"^management (?:api|ssh|security)"),
    ),
    other_forms=((r'"cmds"\s*:\s*\{', "show running-config"),),  # of eAPI and `| json`
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="arista_ceos",
    image="ceos:latest",
    own=r"Ethernet([0-9]+(?:/[0-9]+)*)",
    endpoint="eth{0}",
    startup="startup-config",
    note="cEOS has Management0 in place of Management1: `fabric export containerlab-files` maps it, for SSH",
    mapping="/mnt/flash/EosIntfMapping.json",  # 4.28 and later
    mapped_management="Management1",
)


# --- The network OS -------------------------------------------------------------------------------------------


def objects(requests: Requests) -> dict[str, str]:
    """Queues are strict from the top down, so that of congestion notifications lies above that of RoCE data."""
    lossless, notices = requests.get("qos.lossless_priority", 0), requests.get("qos.cnp_priority", 7)
    if notices > lossless:
        return {}
    return {"qos.cnp_priority": f"expected one above lossless_priority ({lossless}), got {notices}"}


TARGET = Target(
    name="eos",
    title="Arista EOS",
    port_name=port_name,
    port=r"(?:Ethernet|Et)\d+(?:/\d+(?=/))?(?P<lane>/\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    short_title="EOS",
    max_mtu=9214,
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        imports=True,
        leaks=True,
        external=True,
        lossless=True,
        storage_class=True,
        watchdog=True,
        hash_seed=False,  # a platform command whose range and side effects Arista's public pages do not give
        dynamic_balancing="asked",  # takes its ECMP groups from a table of its own
        snmp=True,
        gnmi=True,
        tacacs=True,
        radius=True,
        ldap=False,  # Arista's public pages have the server group, and no statement of a server
        dhcp_relay=True,
        dhcp_relay_across=True,
    ),
    objects=objects,
    releases=(RELEASE,),
    reader=READER,
    lldp=Lazy(__package__, "port_state:LLDP_READERS"),
    state=Lazy(__package__, "state:READERS"),
    change=Path(__file__).with_name("change.yaml"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    anta=Lazy(__package__, "anta:tests"),
    dialect=Lazy(__package__, "statements:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish:VIEW"),
    containerlab=KIND,
    day_zero=Lazy(__package__, "day_zero:FIRST_BOOT"),
    ansible={"ansible_network_os": "arista.eos.eos", "ansible_connection": "ansible.netcommon.network_cli"},
    exporters=("gnmic",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        leaks_by_target=True,
        loopback="Loopback0",
        vtep="Loopback1",
        lossless_by_pfc=True,
        bond="Port-Channel{}",
        svi="Vlan{}",
        management="Management1",
        layer2_mtu=0,
        watchdog_ms=Lazy(__package__, "write.ports:detection_ms"),
    ),
)
