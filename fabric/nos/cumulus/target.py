"""NVIDIA Cumulus Linux 5.x: what it can do, and where its file is made and read."""

from __future__ import annotations

from pathlib import Path

from fabric.nos.cumulus.write.interfaces import ADAPTIVE_GBPS, port_name
from fabric.nos.cumulus.write.tree import USUAL, release_refusal
from fabric.nos.target import Capabilities, Idiom, Kind, Lazy, LoginLimits, Reader, Target

# --- Files of Cumulus Linux among others ----------------------------------------------------------------------

BLANK = r"(?:[ \t]|\\\n)+"
SCRIPT = rf"^[ \t]*(?:[^\s'\"]+[$#>][ \t]*)?(?:sudo[ \t]+)?nv{BLANK}"  # typed by a user, or in a script
HOST_NAME = BLANK.join(("set", *(rf"[\"']?{word}[\"']?" for word in ("system", "hostname")), r"[\"']?([\w.-]+)"))

HEADER = r"\A(?:(?:#.*|---)?\n)*- header:\n(?:[ ]+.*\n)*?"  # of a startup.yaml, below comments

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    hardware=(
        r"\A# \S+ \((?P<model>[^()]+)\), Cumulus Linux (?P<release>\S+)",
        rf"{HEADER}[ ]+model: (?P<model>\S+)",
        rf"{HEADER}[ ]+version: Cumulus Linux (?P<release>\S+)",
    ),
    spellings=((r"^[ ]+enable: '?on'?$|^[^#\n]*\bnv set .* enable on$", "5.13"),),
    rank=20,
    signs=(
        (3, r"\bnvue-api-version\"?:"),
        (3, SCRIPT + r"set[ \t]+\S"),
        (2, r"^- set:"),
        (2, r"^[ \t]+type: swp"),
        (1, r"^[ \t]+router:$"),
    ),
    disk_folders=frozenset({"etc", "nvue.d"}),
    host_name=SCRIPT + HOST_NAME,
    script=SCRIPT + r"(?:set|unset|config)\b",
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="nvidia_cumulusvx",
    image="vrnetlab/nvidia_cumulusvx:latest",
    own=r"swp([0-9]+)",
    endpoint="swp{0}",
    note="starts with its own configuration: apply startup.yaml by `nv config patch`",
)


# --- The network OS -------------------------------------------------------------------------------------------

TARGET = Target(
    name="cumulus",
    title="NVIDIA Cumulus Linux",
    port_name=port_name,
    port=r"(?:swp|eth|vni)\d+(?P<lane>s\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    short_title="Cumulus Linux",
    max_mtu=9216,
    documents=("startup.yaml",),
    logins=LoginLimits(combined=False),  # documented are one method and the users of the switch
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        bond_fallback=True,
        imports=False,  # between leaves only: a leaf cannot import a VNI that it has
        leaks=True,
        external=True,
        lossless=True,
        storage_class=True,
        watchdog=True,
        lossless_memory=True,
        hash_seed=False,  # setting a seed restarts switchd, and every switch has a random one already
        dynamic_balancing="asked",  # reloads switchd, and a port without it upsets the routes it shares
        snmp=True,
        tacacs=True,
        radius=True,
        ldap=True,
        dhcp_relay=True,
        gnmi=True,
    ),
    releases=(USUAL, "5.16", "5.14", "5.13"),
    release_refusal=release_refusal,
    balanced_gbps=ADAPTIVE_GBPS,
    balanced_subinterfaces=False,
    vrf_name_limit=15,  # a VRF is a Linux device
    reader=READER,
    lldp=Lazy(__package__, "state:LLDP_READERS"),
    state=Lazy(__package__, "state:READERS"),
    change=Path(__file__).with_name("change.yaml"),
    collect=Path(__file__).with_name("collect.yaml"),
    dialect=Lazy(__package__, "statements:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish:VIEW"),
    containerlab=KIND,
    day_zero=Lazy(__package__, "day_zero:FIRST_BOOT"),
    ansible={"ansible_network_os": "nvidia.nvue.nvue", "ansible_connection": "ansible.netcommon.httpapi"},
    exporters=("node", "frr"),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        loopback="lo", vtep="vxlan-local", bond="bond{}", svi="vlan{}", management="eth0", own_gateway=True, blocks=True
    ),
)
