"""Tests of ANTA for one switch. Source: classes and inputs of aristanetworks/anta 1.10 (anta/tests, anta/input_models)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.nos.state.records import Expected, ExpectedSession, Tests

_CAPABILITY = {"ipv4": "ipv4Unicast", "ipv6": "ipv6Unicast", "evpn": "l2VpnEvpn"}
_NOT_ROUTED = ("Management", "Loopback", "Vxlan", "Vlan", "Port-Channel")  # types whose MTU is not that of the fabric


def tests(expected: Expected) -> Tests:
    """Module of ANTA → tests with their inputs; modules without a test are left out."""
    by_module: Tests = {
        "anta.tests.interfaces": list(_interfaces(expected)),
        "anta.tests.connectivity": list(_neighbors(expected)),
        "anta.tests.routing.bgp": list(_bgp(expected)),
        "anta.tests.bfd": list(_bfd(expected)),
        "anta.tests.routing.generic": list(_routes(expected)),
        "anta.tests.vxlan": list(_vxlan(expected)),
    }
    return {module: entries for module, entries in by_module.items() if entries}


def _interfaces(expected: Expected) -> Iterator[dict[str, Any]]:
    names = [port.name for port in expected.ports]
    yield {"VerifyInterfacesStatus": {"interfaces": [{"name": name, "status": "up"} for name in names]}}
    yield {
        "VerifyInterfacesSpeed": {
            "interfaces": [{"name": port.name, "auto": False, "speed": port.speed_gbps} for port in expected.ports]
        }
    }
    others = [{port.name: port.mtu} for port in expected.ports if port.mtu and port.mtu != expected.mtu]
    ignored = [*_NOT_ROUTED, *(port.name for port in expected.ports if not port.mtu), *expected.unused]
    mtu: dict[str, Any] = {"mtu": expected.mtu, "ignored_interfaces": ignored}
    yield {"VerifyL3MTU": mtu | ({"specific_mtu": others} if others else {})}
    addressed = [port for port in expected.ports if port.address and ":" not in port.address]
    if addressed:
        yield {"VerifyInterfaceIPv4": {"interfaces": [{"name": port.name, "primary_ip": port.address} for port in addressed]}}
    yield {"VerifyInterfaceErrors": {"interfaces": names}}
    if expected.lossless_priority is not None:
        drops = {"interfaces": names, "traffic_classes": [f"TC{expected.lossless_priority}"], "queue_types": ["unicast"]}
        yield {"VerifyInterfacesEgressQueueDrops": drops | {"packet_drop_threshold": 0}}
    yield {"VerifyInterfacesOpticsReceivePower": {"interfaces": names}}


def _neighbors(expected: Expected) -> Iterator[dict[str, Any]]:
    neighbors = [
        {"port": port.name, "neighbor_device": port.far_device, "neighbor_port": port.far_port}
        for port in expected.ports
        if port.far_port
    ]
    if neighbors:
        yield {"VerifyLLDPNeighbors": {"neighbors": neighbors, "require_fqdn": False}}


def _peer(session: ExpectedSession) -> dict[str, Any]:
    key = "interface" if session.by_interface else "peer_address"
    return {key: session.peer, "vrf": session.vrf or "default"}


def _bgp(expected: Expected) -> Iterator[dict[str, Any]]:
    peers = [_peer(session) for session in expected.sessions]
    if not peers:
        return
    yield {"VerifyBGPPeerSession": {"bgp_peers": peers, "check_tcp_queues": False}}
    able = [_peer(session) | {"capabilities": [_CAPABILITY[session.family]]} for session in expected.sessions]
    yield {"VerifyBGPPeerMPCaps": {"bgp_peers": able}}
    yield {"VerifyBGPPeerASNCap": {"bgp_peers": peers}}
    timers = {"hold_time": expected.hold_s, "keep_alive_time": expected.keepalive_s}
    yield {"VerifyBGPTimers": {"bgp_peers": [peer | timers for peer in peers]}}
    counts: dict[tuple[str, str], int] = {}
    for session in expected.sessions:
        key = (session.family, session.vrf or "default")
        counts[key] = counts.get(key, 0) + 1
    families = [
        {"afi": "evpn", "num_peers": number}
        if family == "evpn"
        else {"afi": family, "safi": "unicast", "vrf": vrf, "num_peers": number}
        for (family, vrf), number in counts.items()
    ]
    yield {"VerifyBGPPeerCount": {"address_families": families}}


def _bfd(expected: Expected) -> Iterator[dict[str, Any]]:
    peers = [
        {"peer_address": one.peer, "vrf": one.vrf or "default"}
        for one in expected.sessions
        if one.bfd and not one.by_interface
    ]
    if peers:
        yield {"VerifyBFDSpecificPeers": {"bfd_peers": peers}}


def _routes(expected: Expected) -> Iterator[dict[str, Any]]:
    entries = [
        {"prefix": prefix, "vrf": "default", "nexthops": list(hops), "strict": True}
        for prefix, hops in expected.routes.items()
        if hops and ":" not in prefix and all(":" not in hop for hop in hops)
    ]
    if entries:
        yield {"VerifyIPv4RouteNextHops": {"route_entries": entries}}


def _vxlan(expected: Expected) -> Iterator[dict[str, Any]]:
    if not expected.vnis:
        return
    yield {"VerifyVxlan1Interface": None}
    yield {"VerifyVxlanConfigSanity": None}
    yield {"VerifyVxlan1ConnSettings": {"source_interface": expected.vtep_interface, "udp_port": 4789}}
    yield {"VerifyVxlanVniBinding": {"bindings": dict(expected.vnis)}}
    if expected.vteps:
        yield {"VerifyVxlanVtep": {"vteps": list(expected.vteps)}}
