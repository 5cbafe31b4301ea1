"""NVIDIA Cumulus Linux 5.x: one file, NVUE's startup.yaml, built as data.

Each module beside this one builds a branch of a neutral tree; `cumulus_dialect` spells it as the release does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from fabric.model.plan import SwitchView
from fabric.nos.cumulus.write.dialect import USUAL, release, release_refusal, spelled
from fabric.nos.cumulus.write.interfaces import ADAPTIVE_GBPS, interfaces, port_name
from fabric.nos.cumulus.write.qos import qos
from fabric.nos.cumulus.write.routing import routing
from fabric.nos.cumulus.write.system import management_vrf, system
from fabric.nos.cumulus.write.tenants import tenants
from fabric.nos.cumulus.write.tree import Tree, merged
from fabric.nos.cumulus.write.yaml import dump
from fabric.nos.idiom import Idiom
from fabric.nos.late import Late
from fabric.nos.target import Capabilities, Document, File, Target

FILE = "startup.yaml"


def tree(view: SwitchView) -> Tree:
    """The whole configuration of one switch, in the words of its release."""
    neutral = merged(interfaces(view), routing(view), tenants(view), qos(view), system(view))
    return spelled(neutral, release(view.release), management_vrf(view))


def serialized(data: Mapping[str, Any], head: str) -> str:
    """A list of one entry: what to set."""
    return f"{head}\n- set:\n{dump(data, indent=2)}"


def files(view: SwitchView) -> list[File]:
    head = f"# {view.device.name} ({view.device.model}), Cumulus Linux {view.release or USUAL}"
    return [Document(FILE, tree(view), partial(serialized, head=head))]


TARGET = Target(
    name="cumulus",
    title="NVIDIA Cumulus Linux",
    port_name=port_name,
    port=r"(?:swp|eth|vni)\d+(?P<lane>s\d+)?",
    files=files,
    short_title="Cumulus Linux",
    max_mtu=9216,
    documents=(FILE,),
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        imports=False,  # between leaves only: no leaf may import a VNI that it has itself
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=False,  # a seed restarts switchd, and every switch draws one of its own already
        dynamic_balancing="asked",  # reloads switchd, and a port without it upsets the routes it shares
        snmp=True,
        gnmi=True,
    ),
    releases=(USUAL, "5.16", "5.14", "5.13"),
    release_refusal=release_refusal,
    balanced_gbps=ADAPTIVE_GBPS,
    balanced_subinterfaces=False,
    vrf_name_limit=15,  # a VRF is a Linux device
    reader=Late(__package__, "reader:READER"),
    lldp=Late(__package__, "lldp:READERS"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "nvidia.nvue.nvue", "ansible_connection": "ansible.netcommon.httpapi"},
    exporters=("node", "frr"),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        loopback="lo", vtep="vxlan-local", bond="bond{}", svi="vlan{}", management="eth0", own_gateway=True, blocks=True
    ),
)
