"""Plain FRR on Linux: routing in frr.conf, everything else in the distribution's own small files.

SONiC runs the same daemons: `routing` is the context of its frr.conf as well.
"""

from __future__ import annotations

from pathlib import Path

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import PortRef, SwitchView
from fabric.nos.frr.write.guard import MANAGEMENT_VRF, guard
from fabric.nos.frr.write.linux import devices
from fabric.nos.frr.write.routing import routing
from fabric.nos.frr.write.tenants import LINUX, Spelling
from fabric.nos.idiom import Idiom
from fabric.nos.late import Late
from fabric.nos.target import Capabilities, File, Target, Text

__all__ = ["TARGET", "Spelling", "port_name", "routing"]

DEVICE_NAME_LIMIT = 15  # of any Linux interface: IFNAMSIZ less its closing zero


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`swp1`, `swp1s0`: the names that switchdev drivers and ifupdown2 switches use."""
    return f"swp{ref.cage}" if ref.split == 1 else f"swp{ref.cage}s{ref.sub}"


def files(view: SwitchView) -> list[File]:
    manage = view.management

    def names(ref: PortRef) -> str:
        return port_name(view.model, ref)

    host: dict[str, object] = {
        **devices(view, names, LINUX),
        "hostname": view.device.name,
        "address": manage.address or "",
        "gateway": manage.gateway or "",
        "vrf": MANAGEMENT_VRF if manage.vrf else "",
        "dns": " ".join(manage.dns),
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "snmp": bool(manage.snmp_user),
        "seed": view.balancing.seed,
        "bfdd": "yes" if view.underlay.bfd else "no",
    }
    system = ["daemons", "interfaces", "sysctl.conf", "chrony.conf", "rsyslog.conf", "lldpd.conf"]
    guarded = ["nftables.conf", "sshd.conf", "accounts"]
    guarded += ["issue.net"] if manage.banner else []
    guarded += ["snmpd.conf"] if manage.snmp_user else []
    doors = guard(view, names)
    return [
        Text("frr.conf", "frr/frr.conf.j2", routing(view, names, LINUX)),
        *(Text(path, f"frr/{path}.j2", host) for path in system),
        *(Text(path, f"frr/{path}.j2", doors) for path in guarded),
    ]


TARGET = Target(
    name="frr",
    title="FRR on Linux",
    port_name=port_name,
    port=r"(?:swp|[Ee]th(?:ernet)?|vni)\d+(?P<lane>s\d+)?",
    files=files,
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
    vrf_name_limit=DEVICE_NAME_LIMIT - len(LINUX.vrf.format("")),
    reader=Late(__package__, "reader:READER"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Late(__package__, "state:FAILED"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
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
        vrf=LINUX.vrf,
        l3_svi=True,
        acls=("tenant-{}", "tenant-{}"),
        seed=True,
        trunk_mtu=True,
        derives=frozenset({"rd", "imports", "exports"}),
        vtep_of_vni=True,
    ),
)
