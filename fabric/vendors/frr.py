"""Plain FRR on Linux: routing in frr.conf, everything else in the distribution's own small files.

SONiC runs the same daemons, so `routing` below is the context of its frr.conf as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabric.catalog.models import SwitchModel
from fabric.plan.devices import LEAF
from fabric.plan.ports import Port, PortRef
from fabric.plan.views import SwitchView
from fabric.vendors.base import File, Names, Target, Text, description, lanes, neighbor, pam4
from fabric.vendors.policy import own_loopback, underlay_policy


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    description: str
    up: bool
    mtu: int
    speed_mbps: int
    fec: str
    address: str


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`swp1`, `swp1s0`: the names that switchdev drivers and ifupdown2 boxes use."""
    return f"swp{ref.cage}" if ref.split == 1 else f"swp{ref.cage}s{ref.sub}"


def routing(view: SwitchView, names: Names, loopback: str, restart_s: int) -> dict[str, object]:
    """The context of frr.conf."""
    under = view.underlay
    ipv6 = under.family == "ipv6"
    return {
        "hostname": view.device.name,
        "loopback": loopback,
        "ip": "ipv6" if ipv6 else "ip",
        "family": "ipv6 unicast" if ipv6 else "ipv4 unicast",
        "source": own_loopback(view).partition("/")[0],
        "asn": view.device.asn,
        "router_id": view.router_id,
        "policy": underlay_policy(view),
        "neighbors": [neighbor(view, session, names) for session in view.sessions],
        "aggregates": view.aggregates,
        "keepalive_s": under.keepalive_s,
        "hold_s": under.hold_s,
        "bfd": under.bfd,
        "bfd_interval_ms": under.bfd_interval_ms,
        "bfd_multiplier": under.bfd_multiplier,
        "max_paths": under.max_paths,
        "max_prefix": under.max_prefix,
        # Only a leaf restarts gracefully: its servers have no other way, while a spine is one of many.
        "restart_s": restart_s if view.device.role == LEAF else 0,
    }


def interface(view: SwitchView, port: Port, names: Names) -> Interface:
    lane_count = lanes(view.model, port.ref.cage) // port.ref.split
    return Interface(
        name=names(port.ref),
        description=description(view, port),
        up=port.up,
        mtu=view.underlay.mtu,
        speed_mbps=port.ref.speed_gbps * 1000,
        fec="rs" if pam4(port.ref.speed_gbps, lane_count) else "",
        address=port.address or "",
    )


def files(view: SwitchView) -> list[File]:
    manage = view.management

    def names(ref: PortRef) -> str:
        return port_name(view.model, ref)

    host: dict[str, object] = {
        "hostname": view.device.name,
        "interfaces": [interface(view, port, names) for port in view.ports],
        "loopbacks": [address for address in (view.loopback, view.loopback6) if address],
        "address": manage.address or "",
        "gateway": manage.gateway or "",
        "vrf": "mgmt" if manage.vrf else "",
        "dns": " ".join(manage.dns),
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "bfdd": "yes" if view.underlay.bfd else "no",
    }
    own = ("daemons", "interfaces", "sysctl.conf", "chrony.conf", "rsyslog.conf", "lldpd.conf")
    return [
        Text("frr.conf", "frr/frr.conf.j2", routing(view, names, "lo", 120)),
        *(Text(path, f"frr/{path}.j2", host) for path in own),
    ]


TARGET = Target(name="frr", title="FRR on Linux", port_name=port_name, files=files)
