"""Juniper Junos Evolved: one file, `juniper.conf`, the whole configuration of the switch in curly form.

`load override` takes it: what is not in it is not on the switch.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import PortRef, SwitchView
from fabric.nos.idiom import Idiom
from fabric.nos.junos.write.filters import GNMI_PORT, PROTECT, firewall, speaks_ipv6
from fabric.nos.junos.write.interfaces import (
    ETHERNET_BYTES,
    FLEXIBLE_BYTES,
    IP_LIMIT,
    TAG_BYTES,
    chassis_ports,
    interfaces,
    port_name,
)
from fabric.nos.junos.write.platform import CLASSIC, platform
from fabric.nos.junos.write.policy import Policies, overlay, underlay
from fabric.nos.junos.write.qos import class_of_service, detection_ms, fill
from fabric.nos.junos.write.tenants import Peer, bridging, external_groups, instances
from fabric.nos.junos.write.words import MANAGEMENT_INSTANCE, listed, quoted
from fabric.nos.late import Late
from fabric.nos.reading.words import is_address
from fabric.nos.target import Capabilities, File, Requests, Target, Text, description

RELEASE = "23.4R2-EVO"
ECMP_STEPS = (16, 32, 64, 96, 128)  # values of `maximum-ecmp`; the first is the switch's own
ADMINISTRATOR = "admin"


def system(view: SwitchView) -> dict[str, object]:
    manage = view.management
    return {
        "title": f"{view.device.name} ({view.device.model.upper()}), Junos OS Evolved {RELEASE} or later",
        "hostname": view.device.name,
        "banner": quoted(manage.banner) if manage.banner else "",
        "user": ADMINISTRATOR,
        "admin_secret": quoted(manage.admin_secret),
        "timezone": manage.timezone,
        "vrf": MANAGEMENT_INSTANCE if manage.vrf else "",
        "ntp": manage.ntp,
        "syslog": manage.syslog,
        "dns": manage.dns,
        "gnmi_port": GNMI_PORT if manage.gnmi else 0,
        "snmp_user": manage.snmp_user,
        "snmp_auth_secret": quoted(manage.snmp_auth_secret),
        "snmp_priv_secret": quoted(manage.snmp_priv_secret),
    }


def management(view: SwitchView) -> dict[str, object]:
    manage = view.management
    six = ":" in (manage.address or "")
    return {
        "manage_address": manage.address or "",
        "manage_family": "inet6" if six else "inet",
        "manage_filter": f"{PROTECT}6" if six else PROTECT,
        "gateway": manage.gateway or "",
        "gateway6": ":" in (manage.gateway or ""),
    }


def equal_paths(view: SwitchView) -> int:
    """Next hops that a route may have: the switch's own 16, or the first step that holds every fabric link."""
    paths = min(view.underlay.max_paths, len(view.sessions))
    return next((step for step in ECMP_STEPS if step >= paths), ECMP_STEPS[-1])


def ports(view: SwitchView) -> dict[str, object]:
    step = equal_paths(view)
    return {
        "chassis_ports": chassis_ports(view),
        "bundles": max((lag.number + 1 for lag in view.lags), default=0),  # ae0 … ae<number>
        "maximum_ecmp": step if step > ECMP_STEPS[0] else 0,
        "interfaces": interfaces(view),
        "irbs": [network for network in view.networks if network.gateway],
        "anycast_mac": view.overlay.anycast_mac if view.overlay else "",
        "irb_mtu": view.overlay.mtu if view.overlay else 0,
        "irb_frame": view.overlay.mtu + ETHERNET_BYTES if view.overlay else 0,
        "edges": [port_name(view.model, port.ref) for port in view.ports if port.up and port.bridged and not port.lag]
        + [f"ae{lag.number}" for lag in view.lags],
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "protect": PROTECT,
        "protect6": f"{PROTECT}6" if speaks_ipv6(view) else "",
        "loopback_text": quoted("router id and VTEP" if view.overlay and not view.overlay.passes_on else "router id"),
    }


def routing(view: SwitchView) -> dict[str, object]:
    under = view.underlay
    return {
        "router_id": view.router_id,
        "asn": view.device.asn,
        "family": "inet6" if under.family == "ipv6" else "inet",
        "unnumbered": under.unnumbered,
        "extended_nexthop": under.unnumbered and under.family == "ipv4",  # IPv4 routes with IPv6 next hops, RFC 8950
        "aggregates": view.aggregates,
        **under.timers_and_limits,
        "neighbors": [
            Peer(session.peer_address, session.peer_asn, quoted(description(view, session.port)))
            for session in view.sessions
            if session.peer_address
        ],
        "links": [f"{port_name(view.model, session.port.ref)}.0" for session in view.sessions if not session.peer_address],
        "peer_asns": listed(str(asn) for asn in sorted({session.peer_asn for session in view.sessions}) or [view.device.asn]),
        "overlay": view.overlay,
        "overlay_source": view.loopback.partition("/")[0],
        "dynamic": view.balancing.dynamic,
        "flowset_entries": platform(view.device.model).flowset_entries,
    }


def one_loopback(view: SwitchView) -> SwitchView:
    """The address of lo0.0 is the VTEP too, as in every published design: Junos writes the BGP source into its EVPN routes
    as next hop, so a VTEP address of its own would not be where the others send to.
    """
    here = replace(view.overlay, vtep=None) if view.overlay else None
    return replace(view, overlay=here, pair=replace(view.pair, shared_vtep="") if view.pair else None)


def context(view: SwitchView) -> dict[str, object]:
    def names(ref: PortRef) -> str:
        return port_name(view.model, ref)

    view = one_loopback(view)
    policies = Policies()
    underlay(view, policies)
    overlay(view, policies)
    tables = {
        "instances": instances(view, names, policies),
        "bridging": bridging(view, names),
        "outside": external_groups(view, "", policies),
    }
    filters = firewall(view)
    return {
        **system(view),
        **management(view),
        **ports(view),
        **routing(view),
        **tables,
        "policies": policies,
        "firewall": filters.families,
        "prefix_lists": filters.lists,
        "cos": class_of_service(view),
    }


def refuses(model: SwitchModel, catalog_name: str) -> str | None:
    """Junos Evolved runs on Juniper's newer switches."""
    return "it runs Junos, not Junos Evolved: other names of ports and classes" if catalog_name.startswith(CLASSIC) else None


def objects(requests: Requests) -> dict[str, str]:
    """The filter of the routing engine lists its time servers, and a prefix list has no names."""
    named = [server for server in requests.get("management.ntp", ()) if not is_address(server)]
    return {"management.ntp": f"expected addresses, for the filter of the routing engine, got '{named[0]}'"} if named else {}


def files(view: SwitchView) -> list[File]:
    return [Text("juniper.conf", "junos/juniper.conf.j2", context(view))]


TARGET = Target(
    name="junos",
    title="Juniper Junos Evolved",
    port_name=port_name,
    port=r"(?:et|xe|ge)-\d+/\d+/\d+(?P<lane>:\d+)?",
    files=files,
    refuses=refuses,
    short_title="Junos Evolved",
    max_mtu=IP_LIMIT,
    # Junos "native-vlan-id": untagged packets are received in the unit with that `vlan-id`. What QFX sends there is not
    # documented; on MX it is tagged unless `no-native-vlan-insert` is set, though a published ping of a vMX to an untagged
    # host works.
    sends_untagged=False,
    objects=objects,
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        imports=False,  # Juniper: a leaked connected route does not forward, so two tenants on one leaf would not meet
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=False,
        dynamic_balancing="auto",
        snmp=True,
        gnmi=True,
    ),
    releases=(RELEASE,),
    reader=Late(__package__, "reader:READER"),
    lldp=Late(__package__, "lldp:READERS"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Late(__package__, "state:FAILED"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "junipernetworks.junos.junos", "ansible_connection": "ansible.netcommon.netconf"},
    exporters=("gnmic",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        ordered_lists=False,
        loopback="lo0",
        vtep="lo0.1",
        bond="ae{}",
        svi="irb.{}",
        management="re0:mgmt-0",
        vrf="VRF-{}",
        acls=("ACL-{}", "ACL-{}"),
        own_vtep=False,
        redistributes=False,
        peer_lists=True,
        trunk_mtu=True,
        layer2_mtu=0,
        frame_bytes=ETHERNET_BYTES,
        slice_bytes=FLEXIBLE_BYTES,
        bridge_bytes=TAG_BYTES,
        keepalive=False,
        vrf_process=False,
        network_rd=False,
        paths=equal_paths,
        ecn_percent=fill,
        watchdog_ms=detection_ms,
        vtep_of_vni=True,
    ),
)
