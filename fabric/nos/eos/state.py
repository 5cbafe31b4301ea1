"""Arista EOS: `show … | json` of BGP, routes, interfaces, counters, VXLAN, PFC, queues and transceivers.

Source: eAPI outputs in the unit tests of aristanetworks/anta (tests/units/anta_tests), batfish/lab-validation (snapshots of
EOS) and napalm-automation/napalm (test/eos). Not proven on a switch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fabric.nos.eos.port_state import COMMANDS as COUNTERS, DISCARDS
from fabric.nos.lldp import first, known_text, rows, shut, text, up
from fabric.nos.state.readers import (
    Failed,
    Knows,
    StateReader,
    asn,
    counters,
    each,
    esi,
    hop,
    live,
    number,
    scoped,
    table,
    vrf_name,
    whole,
)
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    ESTABLISHED,
    EVPN,
    INTERFACES,
    MULTIHOMING,
    ROUTES,
    Count,
    Counter,
    Family,
    Part,
    Peer,
    PortState,
    Segment,
    Table,
    Vni,
)

_TOTALS = {"totalInErrors": Count.IN_ERRORS, "totalOutErrors": Count.OUT_ERRORS, **DISCARDS}
_FAMILIES = {"ipv4Unicast": "ipv4", "ipv6Unicast": "ipv6", "l2VpnEvpn": "evpn"}


def _vrfs(value: Any, *keys: str) -> dict[str, dict[str, Any]]:
    """VRF → its table, where a value has tables by VRF with one of some keys; {} else."""
    found = value.get("vrfs") if isinstance(value, dict) else None
    if not isinstance(found, dict):
        return {}
    return {vrf_name(vrf): row for vrf, row in found.items() if isinstance(row, dict) and any(key in row for key in keys)}


def _by_vrf(*keys: str) -> Knows:
    return lambda value: bool(_vrfs(value, *keys))


# --- BGP ------------------------------------------------------------------------------------------------------


def read_summary(value: dict[str, Any]) -> Part:
    """`show bgp summary` and `show ip bgp summary`; the latter has no families in its rows."""
    tables = _vrfs(value, "peers").items()
    peers = [_summary(vrf, key, row, entry.get("asn")) for vrf, entry in tables for key, row in each(entry["peers"]) if row]
    return Part(kinds={BGP}, lists={BGP}, peers=peers, router_ids={vrf: text(entry.get("routerId")) for vrf, entry in tables})


def _summary(vrf: str, key: str, row: dict[str, Any], local_asn: Any) -> Peer:
    remote, reason = row.get("peerAsn", row.get("asn")), row.get("peerStateIdleReason")
    found = (_family(known, row[name]) for name, known in _FAMILIES.items() if isinstance(row.get(name), dict))
    return live(_peer(key, vrf, row.get("peerState"), remote, local_asn, reason), found)


def _family(name: str, row: dict[str, Any]) -> Family:
    negotiated = text(row.get("afiSafiState")) == "negotiated"
    return Family(name, number(row.get("nlrisReceived")), number(row.get("nlrisAccepted")), negotiated)


def _peer(key: str, vrf: str, state: Any, remote: Any, local: Any, idle_reason: Any, *, interface: str = "") -> Peer:
    reason = known_text(idle_reason)
    return Peer(
        key=key,
        vrf=vrf,
        state=text(state).lower(),
        asn=asn(remote),
        local_asn=asn(local),
        reason=reason,
        limited=bool(re.search("limit|maxroutes|maximum", reason, re.IGNORECASE)),
        shut=bool(re.search("admin|shutdown", reason, re.IGNORECASE)),
        interface=interface,
    )


def read_neighbors(value: dict[str, Any]) -> Part:
    found = [(vrf, row) for vrf, entry in _vrfs(value, "peerList").items() for row in rows(entry["peerList"])]
    return Part(kinds={BGP}, lists={BGP}, peers=[_neighbor(vrf, row) for vrf, row in found])


def _neighbor(vrf: str, row: dict[str, Any]) -> Peer:
    interface = text(row.get("ifName"))
    key = scoped(text(row.get("peerAddress")), interface)
    peer = _peer(key, vrf, row.get("state"), row.get("asn"), row.get("localAsn"), row.get("idleReason"), interface=interface)
    if peer.state != ESTABLISHED and not peer.reason:
        peer = replace(peer, reason=known_text(row.get("lastEvent")))
    caps = first(first(row.get("neighborCapabilities")).get("multiprotocolCaps"))
    families = (
        Family(known, active=bool(first(caps[name]).get("enabled"))) for name, known in _FAMILIES.items() if name in caps
    )
    return live(peer, families)


def read_bfd(value: dict[str, Any]) -> Part:
    """One address may have a session on each interface; one that is up counts."""
    peers = []
    for vrf, entry in _vrfs(value, "ipv4Neighbors", "ipv6Neighbors").items():
        for address, row in (*each(entry.get("ipv4Neighbors")), *each(entry.get("ipv6Neighbors"))):
            stats = [one for _, one in each(row.get("peerStats")) if one]
            if stats:
                is_up = any(text(one.get("status")) == "up" for one in stats)
                peers.append(Peer(key=scoped(address, text(stats[0].get("l3intf"))), vrf=vrf, bfd=is_up))
    return Part(peers=peers)


# --- routes ---------------------------------------------------------------------------------------------------


def knows_routes(value: Any) -> bool:
    return "routingDisabled" in next(iter(_vrfs(value, "routes").values()), {})


def read_routes(value: dict[str, Any]) -> Part:
    tables: dict[str, Table] = {}
    for vrf, entry in _vrfs(value, "routes").items():
        tables[vrf] = {
            prefix: tuple(
                hop(str(via.get("vtepAddr") or via.get("nexthopAddr") or ""), str(via.get("interface") or ""))
                for via in row.get("vias") or ()
            )
            for prefix, row in each(entry["routes"])
        }
    return Part(kinds={ROUTES}, lists={ROUTES}, routes=tables)


# --- interfaces -----------------------------------------------------------------------------------------------


def read_interfaces(value: dict[str, Any]) -> Part:
    """`show interfaces`, with the Vxlan interface. The MTU of a layer-2 port is that of the switch, and is left out."""
    interfaces = {name: row for name, row in each(value["interfaces"]) if row}
    counts: list[Counter] = []
    for name, row in interfaces.items():
        counts += counters(name, first(row.get("interfaceCounters")), _TOTALS)
        counts += counters(
            name, first(first(row.get("interfaceCounters")).get("inputErrorsDetail")), {"fcsErrors": Count.FCS}
        )
    counted_here = {ERRORS} if any(isinstance(row.get("interfaceCounters"), dict) for row in interfaces.values()) else set()
    vxlan = next((row for row in interfaces.values() if row.get("hardware") == "vxlan"), None)
    evpn = {EVPN} if vxlan else set()
    return Part(
        kinds={INTERFACES} | counted_here | evpn,
        lists=({INTERFACES} if len(interfaces) > 1 else set()) | evpn,
        ports=[_interface(name, row) for name, row in interfaces.items()],
        counters=counts,
        vnis=list(_vxlan(vxlan)) if vxlan else (),
    )


def _interface(name: str, row: dict[str, Any]) -> PortState:
    routed = text(row.get("forwardingModel")) in ("routed", "")
    port = _port(name, row.get("interfaceStatus"), row.get("lineProtocolStatus"), row.get("bandwidth"))
    return replace(port, mtu=whole(row.get("mtu")), addresses=_addresses(row)) if routed else port


def _addresses(row: dict[str, Any]) -> frozenset[str] | None:
    """Primary addresses, where the row has a list of them; an interface without one has an empty list."""
    if not isinstance(row.get("interfaceAddress"), list):
        return None
    primary = [first(one.get("primaryIp")) for one in rows(row["interfaceAddress"])]
    return frozenset(f"{text(one.get('address'))}/{whole(one['maskLen'])}" for one in primary if whole(one.get("maskLen")))


def _port(name: str, status: Any, line: Any, bandwidth: Any) -> PortState:
    """`bandwidth` is in b/s."""
    state = up(line)
    speed_gbps = whole(bandwidth) // 10**9 if state else 0
    return PortState(name=name, up=state, shut=shut(status), reason="" if state else text(status), speed_gbps=speed_gbps)


def read_status(value: dict[str, Any]) -> Part:
    """`show interfaces status`."""
    ports = [
        _port(name, row.get("linkStatus"), row.get("linkStatus"), row.get("bandwidth"))
        for name, row in each(value["interfaceStatuses"])
    ]
    return Part(kinds={INTERFACES}, lists={INTERFACES}, ports=ports)


# --- VXLAN ----------------------------------------------------------------------------------------------------


def _vxlan(row: dict[str, Any]) -> Iterator[Vni]:
    """Row of a Vxlan interface. VLANs that EOS itself made for the VNI of a VRF are left out."""
    source, floods = known_text(row.get("srcIpAddr")), first(row.get("vlanToVtepList"))
    by_vrf = {whole(vni): vrf for vrf, vni in first(row.get("vrfToVniMap")).items()}
    yield from (Vni(number=vni, layer3=True, vrf=vrf, source=source) for vni, vrf in by_vrf.items())
    for vlan, entry in each(row.get("vlanToVniMap")):
        vni = whole(entry.get("vni"))
        if vni and vni not in by_vrf and text(entry.get("source")) in ("", "static"):
            remotes = first(floods.get(vlan)).get("remoteVtepAddr") or ()
            yield Vni(number=vni, layer3=False, vrf="", source=source, remotes=frozenset(map(text, remotes)))


def read_bindings(value: dict[str, Any]) -> Part:
    """`show vxlan vni`."""
    vnis = []
    for _, row in each(value["vxlanIntfs"]):
        tables = first(row.get("vniBindingsToVrf"))
        vnis += [Vni(number=whole(vni), layer3=True, vrf=text(entry.get("vrfName"))) for vni, entry in each(tables)]
        static = (vni for vni, entry in each(row.get("vniBindings")) if text(entry.get("source")) in ("", "static"))
        vnis += [Vni(number=whole(vni)) for vni in static if vni not in tables]
    return Part(kinds={EVPN}, lists={EVPN}, vnis=vnis)


def read_vteps(value: dict[str, Any]) -> Part:
    """`show vxlan vtep`."""
    return Part(vteps=frozenset(text(one) for _, row in each(value["interfaces"]) for one in row.get("vteps") or ()))


def knows_segments(value: Any) -> bool:
    """`show bgp evpn instance`. One without instances is known too: a leaf that lost its EVPN configuration."""
    return isinstance(value, dict) and isinstance(value.get("bgpEvpnInstances"), dict)


def read_segments(value: dict[str, Any]) -> Part:
    """A segment is under every VLAN or bundle that it carries, each with an election of its own."""
    segments: dict[str, Segment] = {}
    complete = True
    for _, instance in each(value["bgpEvpnInstances"]):
        vtep = text(instance.get("localVxlanIp"))
        complete = complete and isinstance(instance.get("ethernetSegments"), dict)
        for key, row in each(instance.get("ethernetSegments")):
            if (identifier := esi(key)) and row:
                segment = _segment(identifier, row, vtep)
                segments[identifier] = _joined(segments[identifier], segment) if identifier in segments else segment
    return Part(kinds={MULTIHOMING}, lists={MULTIHOMING} if complete else frozenset(), segments=tuple(segments.values()))


def _segment(identifier: str, row: dict[str, Any], vtep: str) -> Segment:
    """The forwarder has an empty address where none is elected."""
    state, elected = text(row.get("state")), first(row.get("dFPeer"))
    forwarder = text(elected.get("ip"))
    others = ["nonDFPeers", "forwardingPeers"]
    peers = {text(peer.get("ip")) for key in others for peer in rows(row.get(key, []))} | {forwarder}
    return Segment(
        esi=identifier,
        interface=text(row.get("intf")),
        up=state == "up" if state else None,
        peers=frozenset(peers - {vtep, ""}) if vtep and "nonDFPeers" in row and elected else None,
        forwarders=frozenset({forwarder} - {""}) if "ip" in elected else None,
        by_preference=text(row.get("dFElectionAlgorithm")).lower().startswith("preference"),
    )


def _joined(segment: Segment, other: Segment) -> Segment:
    """A segment in two instances: each adds what the other does not report."""
    peers = [part.peers for part in (segment, other) if part.peers is not None]
    elected = [part.forwarders for part in (segment, other) if part.forwarders is not None]
    return replace(
        segment,
        up=False if False in (segment.up, other.up) else segment.up if segment.up is not None else other.up,
        peers=frozenset.union(*peers) if peers else None,
        forwarders=frozenset.union(*elected) if elected else None,
        by_preference=segment.by_preference and other.by_preference,
    )


def knows_failure(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["errors"] and "BGP inactive" in value["errors"]


def read_failure(value: dict[str, Any]) -> Part:
    return Part(failures=("BGP inactive",))


_COMMANDS = (
    ("show bgp summary vrf all", _by_vrf("peers"), read_summary),
    ("show bgp neighbors vrf all", _by_vrf("peerList"), read_neighbors),
    ("show ip route vrf all", knows_routes, read_routes),
    ("show bfd peers", _by_vrf("ipv4Neighbors", "ipv6Neighbors"), read_bfd),
    ("show interfaces", table("interfaces", "hardware"), read_interfaces),
    ("show interfaces status", table("interfaceStatuses"), read_status),
    *COUNTERS,
    ("show vxlan vni", table("vxlanIntfs", "vniBindings"), read_bindings),
    ("show vxlan vtep", table("interfaces", "vteps"), read_vteps),
    ("show bgp evpn instance", knows_segments, read_segments),
    ("show bgp summary vrf all", knows_failure, read_failure),
)
READERS = tuple(StateReader("eos", f"{command} | json", knows, read) for command, knows, read in _COMMANDS)
FAILED = (Failed(re.compile(r"^(?:% )?BGP inactive")),)
