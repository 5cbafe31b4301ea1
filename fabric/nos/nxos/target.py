"""Cisco NX-OS on Nexus 9000: one file, the whole startup-config of the switch."""

from __future__ import annotations

from pathlib import Path

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import PortRef, SwitchView
from fabric.nos.idiom import Idiom
from fabric.nos.late import Late
from fabric.nos.nxos.write import manage, ports, qos, routing, tenants
from fabric.nos.nxos.write.ports import LAYER_2_MTU, port_name
from fabric.nos.nxos.write.routing import BFD_MS, BFD_MULTIPLIER
from fabric.nos.target import Capabilities, File, Requests, Target, Text

RELEASE = "10.5(3)"  # what the spelling follows; parsers recognize the file by its `feature` lines


def features(view: SwitchView) -> list[str]:
    """What must be switched on before its lines are known: without a feature its whole block is rejected."""
    overlay = view.overlay
    vtep = overlay is not None and overlay.vtep is not None
    requested = {
        "nv overlay evpn": vtep or routing.speaks_evpn(overlay),
        "feature bgp": True,
        "feature bfd": view.underlay.bfd,
        "feature fabric forwarding": bool(view.networks),
        "feature grpc": view.management.gnmi,
        "feature interface-vlan": vtep and bool(view.vrfs or view.networks),
        "feature lacp": bool(view.lags),
        "feature lldp": True,
        "feature nv overlay": vtep,
        "feature vn-segment-vlan-based": vtep,
        "feature vpc": bool(view.lags),
    }
    return [line for line, yes in requested.items() if yes]


def context(view: SwitchView) -> dict[str, object]:
    policies = qos.policies(view)
    return {
        "release": view.release or RELEASE,
        "title": f"{view.device.name} ({view.device.model.upper()}, NX-OS {view.release or RELEASE})",
        "hostname": view.device.name,
        "features": features(view),
        "breakouts": ports.breakouts(view),
        "tcam": ports.tcam(view),
        "qos": policies,
        "interfaces": ports.interfaces(view, policies),
        "channels": ports.channels(view, policies),
        "seed": view.balancing.seed,
        "balancer": ports.balancer(view),
        **manage.context(view),
        **routing.context(view),
        **tenants.context(view),
    }


def files(view: SwitchView) -> list[File]:
    return [Text("startup-config", "nxos/device.j2", context(view))]


def _port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    return port_name(ref)


def objects(requests: Requests) -> dict[str, str]:
    """What the switch's own ranges leave out."""
    found = {}
    ranges = (
        ("underlay.bfd.interval_ms", BFD_MS),
        ("underlay.bfd.multiplier", BFD_MULTIPLIER),
    )
    for key, range_ in ranges:
        if key in requests and requests[key] not in range_:
            found[key] = f"expected {range_.start} to {range_.stop - 1}, got {requests[key]}"
    return found


TARGET = Target(
    name="nxos",
    title="Cisco NX-OS",
    port_name=_port_name,
    port=r"[Ee]th(?:ernet)?\d+(?:/\d+)?(?P<lane>/\d+)?",
    files=files,
    short_title="NX-OS",
    max_mtu=9216,
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="vpc",
        imports=True,
        external=True,
        lossless=True,
        watchdog=True,
        hash_seed=True,
        dynamic_balancing="asked",
        snmp=True,
        gnmi=True,
    ),
    objects=objects,
    releases=(RELEASE,),
    vrf_name_limit=32,
    reader=Late(__package__, "reader:READER"),
    lldp=Late(__package__, "lldp:READERS"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Late(__package__, "state:FAILED"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
    ansible={"ansible_network_os": "cisco.nxos.nxos", "ansible_connection": "ansible.netcommon.network_cli"},
    exporters=("gnmic-nxos",),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    idiom=Idiom(
        loopback="loopback0",
        vtep="loopback1",
        lossless_by_pfc=True,
        bond="port-channel{}",
        svi="Vlan{}",
        management="mgmt0",
        l3_svi=True,
        management_vrf=True,
        acls=("ACL-{}", "ACL6-{}"),
        member_vlans=True,
        layer2_mtu=LAYER_2_MTU,
        own_classes=True,
        ecn_unit=1000,
        seed=True,
    ),
)
