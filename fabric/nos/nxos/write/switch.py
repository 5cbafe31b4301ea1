"""The file of a switch: its whole startup-config."""

from __future__ import annotations

from fabric.model.plan import SwitchView
from fabric.nos.nxos.write import manage, ports, qos, routing, tenants
from fabric.nos.nxos.write.ports import RELEASE
from fabric.nos.nxos.write.routing import BFD_MS, BFD_MULTIPLIER
from fabric.nos.target import File, Requests, Text


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
