"""The files of a switch: routing in frr.conf, everything else in the distribution's own small files."""

from __future__ import annotations

from fabric.model.plan import PortRef, SwitchView
from fabric.nos.frr.write.guard import MANAGEMENT_VRF, guard
from fabric.nos.frr.write.linux import devices
from fabric.nos.frr.write.ports import port_name
from fabric.nos.frr.write.routing import routing
from fabric.nos.frr.write.tenants import LINUX
from fabric.nos.target import File, Text


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
