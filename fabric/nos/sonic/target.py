"""Community SONiC: what it can do, and where its files are made and read."""

from __future__ import annotations

from pathlib import Path

from fabric.nos.sonic.write.ports import RELEASES, VRF, VRF_NAME_LIMIT, port_alias, port_name, refuses
from fabric.nos.target import Capabilities, Idiom, Kind, Lazy, LoginLimits, Reader, Requests, Target

# --- Files of SONiC among others ------------------------------------------------------------------------------

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    hardware=(r'"hwsku"\s*:\s*"(?P<model>[^"]+)"', r'"platform"\s*:\s*"(?P<board>x86_64-[^"]+|arm64-[^"]+)"'),
    board=Lazy(__package__, "read.ports:board"),
    rank=10,
    signs=(
        (3, r'^[ \t]*"?DEVICE_METADATA(?:\|localhost)?"?\s*:'),
        (2, r'"(?:PORT|INTERFACE|LOOPBACK_INTERFACE|BGP_NEIGHBOR|VLAN_MEMBER)(?:\|[^"\n]+)?"\s*:\s*\{'),
        (2, r'"(?:BUFFER_(?:PG|QUEUE|PROFILE)|QUEUE|DEVICE_NEIGHBOR|PORT_QOS_MAP)\|[^"\n]+"\s*:\s*\{'),  # of a dump
    ),
    is_json=True,
    file_names=r"(?:^|[-_.])config[-_]db\d*\.json$",
    host_name=r'"hostname":\s*"([\w.-]+)"',
    usual=frozenset({"config_db"}),
    disk_folders=frozenset({"etc", "sonic"}),
    part="config[-_]db",
    together=frozenset({"sonic", "frr"}),
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="sonic-vs",
    image="docker-sonic-vs:latest",
    binds={"config_db.json": "/etc/sonic/config_db.json", "frr.conf": "/etc/frr/frr.conf"},
    note="files are bound as they are: fill in ${…} first; CLI by `docker exec -it NODE vtysh`",
)


# --- The network OS -------------------------------------------------------------------------------------------

# bgpcfgd starts bfdd after reading frr.conf, so bfdd never gets the profile, and sessions have bfdd's default timers.
BFD_TIMES = {"underlay.bfd.interval_ms": 300, "underlay.bfd.multiplier": 3}


def objects(requests: Requests) -> dict[str, str]:
    """Parts of the file that the switch would not apply."""
    return {
        key: f"expected {only}, the only one that outlives a restart of SONiC's BFD daemon, got {requests[key]}"
        for key, only in BFD_TIMES.items()
        if requests.get(key, only) != only
    }


TARGET = Target(
    name="sonic",
    title="SONiC (community)",
    port_name=port_name,
    port=r"[Ee]th(?:ernet)?\d[\d/]*",
    files=Lazy(__package__, "write.switch:files"),
    refuses=refuses,
    objects=objects,
    documents=("config_db.json",),
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        external=True,
        lossless=True,
        storage_class=True,
        watchdog=True,
        snmp=True,
        gnmi=True,
        tacacs=True,
        radius=True,
        ldap=True,
        dhcp_relay=True,
    ),
    # host-services@c2a4cdfe data/templates/common-auth-sonic.j2; sonic-system-aaa.yang, sonic-system-ldap.yang
    logins=LoginLimits(combined=False, accounting=("tacacs",), dn_characters=65),
    releases=RELEASES,
    vrf_name_limit=VRF_NAME_LIMIT,
    reader=READER,
    port_alias=port_alias,
    lldp=Lazy(__package__, "state:LLDP_READERS"),
    state=Lazy(__package__, "state:READERS"),
    change=Path(__file__).with_name("change.yaml"),
    collect=Path(__file__).with_name("collect.yaml"),
    dialect=Lazy(__package__, "statements:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish:VIEW"),
    containerlab=KIND,
    day_zero=Lazy(__package__, "day_zero:FIRST_BOOT"),
    ansible={},  # reached as Linux
    exporters=("sonic-agent", "sonic-exporter", "frr"),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    runs_in_lab=True,
    idiom=Idiom(
        loopback="Loopback0",
        vtep="Loopback1",
        bond="PortChannel{}",
        svi="Vlan{}",
        management="eth0",
        vrf=VRF,
        acls=("TENANT-{}-V4", "TENANT-{}-V6"),
        l3_svi=True,
        trunk_mtu=True,
        derives=frozenset({"rd", "imports", "exports"}),
        spare_mtu=True,
        cable_m=Lazy(__package__, "write.buffers:cable_m"),
    ),
)
