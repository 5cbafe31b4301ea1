"""Arista EOS: `show … | json` of BGP, routes, interfaces, counters, VXLAN, PFC, queues and transceivers.

Source: eAPI outputs in the unit tests of aristanetworks/anta (tests/units/anta_tests), batfish/lab-validation (snapshots of
EOS) and napalm-automation/napalm (test/eos). Not proven on a switch. EOS reports the watchdog of PFC in text only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fabric.nos.lldp.output import first, known_text, rows, shut, speed_gbps, text, up
from fabric.nos.state.forms import each, having, having_any, table
from fabric.nos.state.kinds import BGP, ERRORS, EVPN, INTERFACES, OPTICS, QUEUES, ROUTES, Count
from fabric.nos.state.reader import Failed, Knows, StateReader
from fabric.nos.state.records import ESTABLISHED, Counter, Family, Hop, Optic, Part, Peer, PortState, Table, Vni
from fabric.nos.state.values import asn, counted, counters, decimal, hop, light, live, number, scoped, summed, vrf_name, whole

_ERRORS = {"fcsErrors": Count.FCS, "inErrors": Count.IN_ERRORS, "outErrors": Count.OUT_ERRORS}
_DISCARDS = {"inDiscards": Count.IN_DISCARDS, "outDiscards": Count.OUT_DISCARDS}
_TOTALS = {"totalInErrors": Count.IN_ERRORS, "totalOutErrors": Count.OUT_ERRORS, **_DISCARDS}
_PFC = {"rxFrames": Count.PFC_RX, "txFrames": Count.PFC_TX}
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
    return Part({BGP}, lists={BGP}, peers=peers)


def _summary(vrf: str, key: str, row: dict[str, Any], local_asn: Any) -> Peer:
    remote, reason = row.get("peerAsn", row.get("asn")), row.get("peerStateIdleReason")
    found = (_family(known, row[name]) for name, known in _FAMILIES.items() if isinstance(row.get(name), dict))
    return live(_peer(key, vrf, row.get("peerState"), remote, local_asn, reason), found)


def _family(name: str, row: dict[str, Any]) -> Family:
    negotiated = text(row.get("afiSafiState")) == "negotiated"
    return Family(name, number(row.get("nlrisReceived")), number(row.get("nlrisAccepted")), negotiated)


def _peer(key: str, vrf: str, state: Any, remote: Any, local: Any, idle_reason: Any, interface: str = "") -> Peer:
    reason = known_text(idle_reason)
    return Peer(
        key,
        vrf,
        text(state).lower(),
        asn(remote),
        asn(local),
        reason=reason,
        limited=bool(re.search("limit|maxroutes|maximum", reason, re.IGNORECASE)),
        shut=bool(re.search("admin|shutdown", reason, re.IGNORECASE)),
        interface=interface,
    )


def read_neighbors(value: dict[str, Any]) -> Part:
    found = [(vrf, row) for vrf, entry in _vrfs(value, "peerList").items() for row in rows(entry["peerList"])]
    return Part({BGP}, lists={BGP}, peers=[_neighbor(vrf, row) for vrf, row in found])


def _neighbor(vrf: str, row: dict[str, Any]) -> Peer:
    interface = text(row.get("ifName"))
    key = scoped(text(row.get("peerAddress")), interface)
    peer = _peer(key, vrf, row.get("state"), row.get("asn"), row.get("localAsn"), row.get("idleReason"), interface)
    if peer.state != ESTABLISHED and not peer.reason:
        peer = replace(peer, reason=known_text(row.get("lastEvent")))
    caps = first(first(row.get("neighborCapabilities")).get("multiprotocolCaps"))
    found = (
        Family(known, active=bool(first(caps[name]).get("enabled"))) for name, known in _FAMILIES.items() if name in caps
    )
    return live(peer, found)


def read_bfd(value: dict[str, Any]) -> Part:
    """One address may have a session on each interface; one that is up counts."""
    peers = []
    for vrf, entry in _vrfs(value, "ipv4Neighbors", "ipv6Neighbors").items():
        for address, row in (*each(entry.get("ipv4Neighbors")), *each(entry.get("ipv6Neighbors"))):
            stats = [one for _, one in each(row.get("peerStats")) if one]
            if stats:
                is_up = any(text(one.get("status")) == "up" for one in stats)
                peers.append(Peer(scoped(address, text(stats[0].get("l3intf"))), vrf, bfd=is_up))
    return Part(peers=peers)


# --- routes ---------------------------------------------------------------------------------------------------


def knows_routes(value: Any) -> bool:
    return "routingDisabled" in next(iter(_vrfs(value, "routes").values()), {})


def read_routes(value: dict[str, Any]) -> Part:
    """Tables are large: values are taken as they are, which eAPI has as text."""
    tables: dict[str, Table] = {}
    for vrf, entry in _vrfs(value, "routes").items():
        tables[vrf] = {prefix: tuple(map(_hop, row.get("vias") or ())) for prefix, row in each(entry["routes"])}
    return Part({ROUTES}, lists={ROUTES}, routes=tables)


def _hop(via: Mapping[str, Any]) -> Hop:
    return hop(via.get("vtepAddr") or via.get("nexthopAddr") or "", via.get("interface") or "")


# --- interfaces -----------------------------------------------------------------------------------------------


def read_interfaces(value: dict[str, Any]) -> Part:
    """`show interfaces`, with the Vxlan interface. The MTU of a layer-2 port is that of the switch, and is left out."""
    found = {name: row for name, row in each(value["interfaces"]) if row}
    counts: list[Counter] = []
    for name, row in found.items():
        counts += counters(name, first(row.get("interfaceCounters")), _TOTALS)
        counts += counters(
            name, first(first(row.get("interfaceCounters")).get("inputErrorsDetail")), {"fcsErrors": Count.FCS}
        )
    counted_here = {ERRORS} if any(isinstance(row.get("interfaceCounters"), dict) for row in found.values()) else set()
    vxlan = next((row for row in found.values() if row.get("hardware") == "vxlan"), None)
    evpn = {EVPN} if vxlan else set()
    return Part(
        {INTERFACES} | counted_here | evpn,
        lists=({INTERFACES} if len(found) > 1 else set()) | evpn,
        ports=[_interface(name, row) for name, row in found.items()],
        counters=counts,
        vnis=list(_vxlan(vxlan)) if vxlan else (),
    )


def _interface(name: str, row: dict[str, Any]) -> PortState:
    routed = text(row.get("forwardingModel")) in ("routed", "")
    port = _port(name, row.get("interfaceStatus"), row.get("lineProtocolStatus"), row.get("bandwidth"))
    return replace(port, mtu=whole(row.get("mtu"))) if routed else port


def _port(name: str, status: Any, line: Any, bandwidth: Any) -> PortState:
    state = up(line)
    return PortState(name, state, shut(status), "" if state else text(status), speed_gbps(bandwidth) if state else 0)


def read_status(value: dict[str, Any]) -> Part:
    """`show interfaces status`."""
    ports = [
        _port(name, row.get("linkStatus"), row.get("linkStatus"), row.get("bandwidth"))
        for name, row in each(value["interfaceStatuses"])
    ]
    return Part({INTERFACES}, lists={INTERFACES}, ports=ports)


# --- counters -------------------------------------------------------------------------------------------------


def read_errors(value: dict[str, Any]) -> Part:
    return Part({ERRORS}, counters=counted(value["interfaceErrorCounters"], _ERRORS))


def read_discards(value: dict[str, Any]) -> Part:
    return Part(counters=counted(value["interfaces"], _DISCARDS))


def read_pfc(value: dict[str, Any]) -> Part:
    """`show priority-flow-control counters [detail]`; detail has the frames of each priority."""
    found: list[Counter] = []
    for name, row in each(value["interfaceCounters"]):
        by_priority = first(row.get("priorities"))
        found += counters(name, row, _PFC if not by_priority else {})
        for priority, one in each(by_priority):
            found += counters(name, one, _PFC, number(priority))
    return Part({QUEUES}, counters=found)


def read_queues(value: dict[str, Any]) -> Part:
    """`show interfaces counters queue drops`: traffic classes of unicast, multicast or virtual output queues."""
    found: list[Counter] = []
    for kind in ("egressQueueCounters", "ingressVoqCounters"):
        for name, row in each(first(value.get(kind)).get("interfaces")):
            for part in (row, first(row.get("ucastQueues")), first(row.get("mcastQueues"))):
                for title, entry in each(part.get("trafficClasses")):
                    found += _queue(name, title, entry)
    return Part({QUEUES}, counters=summed(found))


def _queue(port: str, title: str, entry: dict[str, Any]) -> Iterator[Counter]:
    parts = [one for _, one in each(entry.get("dropPrecedences"))] or [entry]
    if any(part.get("droppedPackets") for part in parts):
        queue = number(title.removeprefix("TC"))
        for part in parts:
            yield from counters(port, part, {"droppedPackets": Count.QUEUE_DROPS}, queue)


def read_ecn(value: dict[str, Any]) -> Part:
    """Marks are how ECN works, and no fault."""
    return Part()


def read_phy(value: dict[str, Any]) -> Part:
    """`show interfaces phy detail`: codewords that FEC could not correct, of the chip at the cable."""
    found = []
    for name, row in each(value["interfacePhyStatuses"]):
        for phy in rows(row.get("phyStatuses", [])):
            if first(phy.get("description")).get("location", "line") == "line":
                lost = whole(first(first(phy.get("fec")).get("uncorrectedCodewords")).get("value"))
                found += [Counter(Count.UNCORRECTED, name, lost)] if lost else []
    return Part(counters=summed(found))


def read_optics(value: dict[str, Any]) -> Part:
    """`show interfaces transceiver dom thresholds`."""
    optics = []
    for name, row in each(value["interfaces"]):
        parameters = first(row.get("parameters"))
        rx, heat = first(parameters.get("rxPower")), first(parameters.get("temperature"))
        limits, hot = first(rx.get("threshold")), decimal(first(heat.get("threshold")).get("highAlarm"))
        powers, heats = (first(one.get("channels")).values() for one in (rx, heat))
        if powers or heats:
            reading = next((one for heat in heats if (one := decimal(heat)) is not None), None)
            low, high = decimal(limits.get("lowAlarm")), decimal(limits.get("highAlarm"))
            optics.append(Optic(name, light(powers), low, high, reading, hot))
    return Part({OPTICS}, optics=optics)


# --- VXLAN ----------------------------------------------------------------------------------------------------


def _vxlan(row: dict[str, Any]) -> Iterator[Vni]:
    """Row of a Vxlan interface. VLANs that EOS itself made for the VNI of a VRF are left out."""
    source, floods = known_text(row.get("srcIpAddr")), first(row.get("vlanToVtepList"))
    by_vrf = {whole(vni): vrf for vrf, vni in first(row.get("vrfToVniMap")).items()}
    yield from (Vni(vni, True, vrf, source) for vni, vrf in by_vrf.items())
    for vlan, entry in each(row.get("vlanToVniMap")):
        vni = whole(entry.get("vni"))
        if vni and vni not in by_vrf and text(entry.get("source")) in ("", "static"):
            remotes = first(floods.get(vlan)).get("remoteVtepAddr") or ()
            yield Vni(vni, False, "", source, frozenset(map(text, remotes)))


def read_bindings(value: dict[str, Any]) -> Part:
    """`show vxlan vni`."""
    vnis = []
    for _, row in each(value["vxlanIntfs"]):
        tables = first(row.get("vniBindingsToVrf"))
        vnis += [Vni(whole(vni), True, text(entry.get("vrfName"))) for vni, entry in each(tables)]
        static = (vni for vni, entry in each(row.get("vniBindings")) if text(entry.get("source")) in ("", "static"))
        vnis += [Vni(whole(vni)) for vni in static if vni not in tables]
    return Part({EVPN}, lists={EVPN}, vnis=vnis)


def read_vteps(value: dict[str, Any]) -> Part:
    """`show vxlan vtep`."""
    return Part(vteps=frozenset(text(one) for _, row in each(value["interfaces"]) for one in row.get("vteps") or ()))


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
    ("show interfaces counters errors", table("interfaceErrorCounters"), read_errors),
    ("show interfaces counters discards", having("inDiscardsTotal", "interfaces"), read_discards),
    ("show priority-flow-control counters detail", table("interfaceCounters", "rxFrames"), read_pfc),
    ("show interfaces counters queue drops", having_any("egressQueueCounters", "ingressVoqCounters"), read_queues),
    ("show qos interfaces ecn counters queue", table("intfQueueCounters"), read_ecn),
    ("show interfaces phy detail", table("interfacePhyStatuses"), read_phy),
    ("show interfaces transceiver dom thresholds", table("interfaces", "parameters"), read_optics),
    ("show vxlan vni", table("vxlanIntfs", "vniBindings"), read_bindings),
    ("show vxlan vtep", table("interfaces", "vteps"), read_vteps),
    ("show bgp summary vrf all", knows_failure, read_failure),
)
READERS = tuple(StateReader("eos", f"{command} | json", knows, read) for command, knows, read in _COMMANDS)
FAILED = (Failed(re.compile(r"^(?:% )?BGP inactive")),)
