"""Arista EOS: one file, the whole startup-config of the switch."""

from __future__ import annotations

from pathlib import Path

from fabric.model.plan import SwitchView
from fabric.nos.eos.write.bgp import EVPN_TTL, routing
from fabric.nos.eos.write.management import ADMIN, ALLOWED, GNMI_PORT, access
from fabric.nos.eos.write.ports import TRACKING, channels, filter_name, filter_rules, interfaces, port_name, speed
from fabric.nos.eos.write.qos import classes, detection_ms, profiles
from fabric.nos.idiom import Idiom
from fabric.nos.late import Late
from fabric.nos.policy import underlay_policy
from fabric.nos.target import Capabilities, File, Neighbor, Requests, Target, Text, neighbor

__all__ = ["RELEASE", "TARGET", "context", "files", "port_name", "speed"]

RELEASE = "4.32.0F"  # what the spelling follows


def context(view: SwitchView) -> dict[str, object]:
    names = profiles(view)
    return {
        # Parsers recognize the file by this line.
        "banner": f"{view.device.name} ({view.device.model.upper()}, EOS-{view.release or RELEASE})",
        "hostname": view.device.name,
        "interfaces": interfaces(view, names),
        "channels": channels(view, names),
        "tracking": TRACKING if view.lags else "",
        "qos": classes(view, names),
        "dynamic": view.balancing.dynamic,
        "filters": [(filter_name(acl.name), filter_rules(view, acl)) for acl in view.acls],
        **_management(view),
        **_routing(view),
        **_overlay(view),
    }


def _management(view: SwitchView) -> dict[str, object]:
    manage, limits = view.management, access(view)
    gateway = manage.gateway or ""
    return {
        "access": limits,
        "allowed": ALLOWED if limits.restricted else "",
        "admin": ADMIN,
        "admin_secret": manage.admin_secret,
        "login_banner": limits.banner,
        "timezone": manage.timezone,
        "vrf": limits.vrf,
        "in_vrf": f"vrf {limits.vrf} " if limits.vrf else "",
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "dns": manage.dns,
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": manage.snmp_auth_secret,
        "snmp_priv_secret": manage.snmp_priv_secret,
        "gnmi_port": GNMI_PORT if manage.gnmi else 0,
        "manage_ip": "ipv6" if ":" in (manage.address or "") else "ip",
        "manage_address": manage.address or "",
        "default_route": f"{'ipv6' if ':' in gateway else 'ip'} route" if gateway else "",
        "default_prefix": "::/0" if ":" in gateway else "0.0.0.0/0",
        "gateway": gateway,
    }


def _routing(view: SwitchView) -> dict[str, object]:
    under = view.underlay
    ipv6 = under.family == "ipv6"
    return {
        "mtu": under.mtu,
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "ip": "ipv6" if ipv6 else "ip",
        "family": "ipv6" if ipv6 else "ipv4",
        "over_link_local": under.unnumbered and not ipv6,  # IPv4 routes with IPv6 next hops, RFC 8950
        "ipv6_routing": ipv6 or under.unnumbered,
        "policy": underlay_policy(view),
        "beyond": routing(view),
        "asn": view.device.asn,
        "router_id": view.router_id,
        "neighbors": _neighbors(view),
        "aggregates": view.aggregates,
        **under.timers_and_limits,
    }


def _neighbors(view: SwitchView) -> list[Neighbor]:
    return [neighbor(view, session, lambda ref: port_name(view.model, ref)) for session in view.sessions]


def _overlay(view: SwitchView) -> dict[str, object]:
    overlay = view.overlay
    return {
        "vrfs": view.vrfs,
        "networks": view.networks,
        "overlay": overlay,
        "vtep": overlay.vtep if overlay and overlay.vtep else "",
        "evpn_ttl": EVPN_TTL,
    }


def files(view: SwitchView) -> list[File]:
    return [Text("startup-config", "eos/device.j2", context(view))]


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
    files=files,
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
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=False,  # a platform command whose range and side effects Arista's public pages do not give
        dynamic_balancing="asked",  # takes its ECMP groups from a table of its own
        snmp=True,
        gnmi=True,
    ),
    objects=objects,
    releases=(RELEASE,),
    reader=Late(__package__, "reader:READER"),
    lldp=Late(__package__, "lldp:READERS"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Late(__package__, "state:FAILED"),
    anta=Late(__package__, "anta:tests"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "arista.eos.eos", "ansible_connection": "ansible.netcommon.network_cli"},
    exporters=("gnmic",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        loopback="Loopback0",
        vtep="Loopback1",
        lossless_by_pfc=True,
        bond="Port-Channel{}",
        svi="Vlan{}",
        management="Management1",
        layer2_mtu=0,
        watchdog_ms=detection_ms,
    ),
)
