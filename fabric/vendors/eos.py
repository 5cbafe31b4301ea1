"""Arista EOS: one file, the whole startup-config of the box."""

from __future__ import annotations

from dataclasses import dataclass

from fabric.catalog.models import SwitchModel
from fabric.plan.ports import Port, PortRef
from fabric.plan.views import SwitchView
from fabric.vendors.base import File, Target, Text, description, lanes, neighbor, pam4
from fabric.vendors.policy import underlay_policy

RELEASE = "EOS-4.32.0F"  # what the spelling follows; parsers recognise the file by it


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    description: str
    up: bool
    speed: str
    address: str
    address6: str
    link_local: bool


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`Ethernet1/5`: cage and first lane. SFP cages have one lane and no lane number."""
    count = lanes(model, ref.cage)
    return f"Ethernet{ref.cage}" if count == 1 else f"Ethernet{ref.cage}/{1 + ref.sub * count // ref.split}"


def speed(model: SwitchModel, ref: PortRef) -> str:
    """`400g-4`: speed and lanes of a PAM4 port; the older spelling on NRZ lanes."""
    count = max(1, lanes(model, ref.cage) // ref.split)
    return f"{ref.speed_gbps}g-{count}" if pam4(ref.speed_gbps, count) else f"forced {ref.speed_gbps}gfull"


def interface(view: SwitchView, port: Port) -> Interface:
    # Lane 1 of a split cage makes its siblings exist, so even an unused one says its speed.
    wanted = port.peer is not None or port.ref.split > 1
    address = port.address or ""
    return Interface(
        name=port_name(view.model, port.ref),
        description=description(view, port),
        up=port.up,
        speed=speed(view.model, port.ref) if wanted else "",
        address="" if ":" in address else address,
        address6=address if ":" in address else "",
        link_local=port.link_local,
    )


def context(view: SwitchView) -> dict[str, object]:
    under, manage = view.underlay, view.management
    ipv6 = under.family == "ipv6"
    gateway = manage.gateway or ""
    return {
        "banner": f"{view.device.name} ({view.device.model.upper()}, {RELEASE})",
        "hostname": view.device.name,
        "timezone": manage.timezone,
        "vrf": "MGMT" if manage.vrf else "",
        "in_vrf": "vrf MGMT " if manage.vrf else "",
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "dns": manage.dns,
        "manage_ip": "ipv6" if ":" in (manage.address or "") else "ip",
        "manage_address": manage.address or "",
        "default_route": f"{'ipv6' if ':' in gateway else 'ip'} route" if gateway else "",
        "default_prefix": "::/0" if ":" in gateway else "0.0.0.0/0",
        "gateway": gateway,
        "mtu": under.mtu,
        "interfaces": [interface(view, port) for port in view.ports],
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "ip": "ipv6" if ipv6 else "ip",
        "family": "ipv6" if ipv6 else "ipv4",
        "over_link_local": under.unnumbered and not ipv6,  # IPv4 routes with IPv6 next hops, RFC 8950
        "ipv6_routing": ipv6 or under.unnumbered,
        "policy": underlay_policy(view),
        "asn": view.device.asn,
        "router_id": view.router_id,
        "neighbors": [neighbor(view, s, lambda ref: port_name(view.model, ref)) for s in view.sessions],
        "aggregates": view.aggregates,
        "keepalive_s": under.keepalive_s,
        "hold_s": under.hold_s,
        "bfd": under.bfd,
        "bfd_interval_ms": under.bfd_interval_ms,
        "bfd_multiplier": under.bfd_multiplier,
        "max_paths": under.max_paths,
        "max_prefix": under.max_prefix,
    }


def refuses(model: SwitchModel, catalog_name: str) -> str | None:
    """EOS runs on Arista's own boxes; one that says nothing, or a generic one, is taken at the intent's word."""
    if not model.nos or "eos" in model.nos or model.maker == "generic":
        return None
    return f"it runs {', '.join(model.nos)}, not EOS"


def files(view: SwitchView) -> list[File]:
    return [Text("startup-config", "eos/device.j2", context(view))]


TARGET = Target(name="eos", title="Arista EOS", port_name=port_name, files=files, refuses=refuses, max_mtu=9214)
