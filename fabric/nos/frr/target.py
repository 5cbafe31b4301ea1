"""Plain FRR on Linux: what it can do, and where its files are made and read.

SONiC runs the same daemons: `routing` in `write/` is the context of its frr.conf as well.
"""

from __future__ import annotations

from pathlib import Path

from fabric.nos.frr.write.ports import DEVICE_NAME_LIMIT, VRF, port_name
from fabric.nos.idiom import Idiom
from fabric.nos.lazy import Lazy
from fabric.nos.target import Capabilities, Target

TARGET = Target(
    name="frr",
    title="FRR on Linux",
    port_name=port_name,
    port=r"(?:swp|[Ee]th(?:ernet)?|vni)\d+(?P<lane>s\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        # Zebra hands split horizon and the designated forwarder to the dataplane, and its kernel one drops them.
        multihoming="",
        external=True,
        hash_seed=True,
        snmp=True,
    ),
    vrf_name_limit=DEVICE_NAME_LIMIT - len(VRF.format("")),
    reader=Lazy(__package__, "reader:READER"),
    state=Lazy(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    dialect=Lazy(__package__, "diff:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish.view:VIEW"),
    containerlab=Lazy(__package__, "containerlab:KIND"),
    ansible={},  # reached as Linux
    exporters=("node", "frr"),
    runs_in_lab=True,
    idiom=Idiom(
        loopback="lo",
        vtep="vxlan-local",
        addresses_in="interfaces",
        bond="bond{}",
        svi="vlan{}",
        management="eth0",
        vrf=VRF,
        l3_svi=True,
        acls=("tenant-{}", "tenant-{}"),
        seed=True,
        trunk_mtu=True,
        derives=frozenset({"rd", "imports", "exports"}),
        vtep_of_vni=True,
    ),
)
