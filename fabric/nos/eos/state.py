"""Arista EOS: `show … | json` of BGP, routes, interfaces, counters, VXLAN, PFC, queues and transceivers.

Source: eAPI outputs in the unit tests of aristanetworks/anta (tests/units/anta_tests), batfish/lab-validation (snapshots of
EOS) and napalm-automation/napalm (test/eos). Not proven on a switch. EOS reports the watchdog of PFC in text only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fabric.nos.lldp.output import first, known_text, rows, shut, speed_gbps, text, up
from fabric.nos.state.reader import Failed, StateReader, asn, counters, decimal, hop, number, summed, vrf_name, whole
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    EVPN,
    FCS,
    IN_DISCARDS,
    IN_ERRORS,
    INTERFACES,
    OPTICS,
    OUT_DISCARDS,
    OUT_ERRORS,
    PFC_RX,
    PFC_TX,
    QUEUE_DROPS,
    QUEUES,
    ROUTES,
    UNCORRECTED,
    Counter,
    Family,
    Hop,
    Optic,
    Part,
    Peer,
    PortState,
    Vni,
)

_ERRORS = {"fcsErrors": FCS, "inErrors": IN_ERRORS, "outErrors": OUT_ERRORS}
_TOTALS = {"totalInErrors": IN_ERRORS, "totalOutErrors": OUT_ERRORS, "inDiscards": IN_DISCARDS, "outDiscards": OUT_DISCARDS}
_DISCARDS = {"inDiscards": IN_DISCARDS, "outDiscards": OUT_DISCARDS}
_PFC = {"rxFrames": PFC_RX, "txFrames": PFC_TX}
_FAMILIES = {"ipv4Unicast": "ipv4", "ipv6Unicast": "ipv6", "l2VpnEvpn": "evpn"}


def _vrfs(value: Any, *keys: str) -> dict[str, dict[str, Any]]:
    """VRF → its table, where a value has tables by VRF with one of some keys; {} else."""
    found = value.get("vrfs") if isinstance(value, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: row for name, row in found.items() if isinstance(row, dict) and any(key in row for key in keys)}


# --- BGP ------------------------------------------------------------------------------------------------------


def knows_summary(value: Any) -> bool:
    """`show bgp summary vrf all` and `show ip bgp summary vrf all`."""
    return any(isinstance(table["peers"], dict) for table in _vrfs(value, "peers").values())


def read_summary(value: dict[str, Any]) -> Part:
    peers = [
        _summary(vrf_name(vrf), key, row, table)
        for vrf, table in _vrfs(value, "peers").items()
        for key, row in first(table["peers"]).items()
        if isinstance(row, dict)
    ]
    return Part(frozenset({BGP}), lists=frozenset({BGP}), peers=peers)


def _summary(vrf: str, key: str, row: dict[str, Any], table: dict[str, Any]) -> Peer:
    """One family for all is that of `show ip bgp summary`, where families have no rows of their own."""
    state = text(row.get("peerState")).lower()
    found = [
        Family(
            known,
            number(row[name].get("nlrisReceived")),
            number(row[name].get("nlrisAccepted")),
            text(row[name].get("afiSafiState")) == "negotiated",
        )
        for name, known in _FAMILIES.items()
        if isinstance(row.get(name), dict)
    ]
    reason = known_text(row.get("peerStateIdleReason"))
    return Peer(
        key,
        vrf,
        state,
        asn(row.get("peerAsn", row.get("asn"))),
        asn(table.get("asn")),
        found if state == "established" else [],
        reason=reason,
        limited=bool(re.search("limit|maxroutes|maximum", reason, re.IGNORECASE)),
        shut=bool(re.search("admin|shutdown", reason, re.IGNORECASE)),
    )


def knows_neighbors(value: Any) -> bool:
    """`show bgp neighbors vrf all`."""
    return bool(_vrfs(value, "peerList"))


def read_neighbors(value: dict[str, Any]) -> Part:
    found = [(vrf, row) for vrf, table in _vrfs(value, "peerList").items() for row in rows(table["peerList"])]
    return Part(frozenset({BGP}), lists=frozenset({BGP}), peers=[_neighbor(vrf_name(vrf), row) for vrf, row in found])


def _neighbor(vrf: str, row: dict[str, Any]) -> Peer:
    state = text(row.get("state")).lower()
    caps = first(first(row.get("neighborCapabilities")).get("multiprotocolCaps"))
    found = [
        Family(known, None, None, bool(first(caps[name]).get("enabled"))) for name, known in _FAMILIES.items() if name in caps
    ]
    address, interface = text(row.get("peerAddress")), text(row.get("ifName"))
    if address.startswith("fe80") and interface and "%" not in address:
        address = f"{address}%{interface}"
    reason = known_text(row.get("idleReason"))
    return Peer(
        address,
        vrf,
        state,
        asn(row.get("asn")),
        asn(row.get("localAsn")),
        found if state == "established" else [],
        reason=reason or ("" if state == "established" else known_text(row.get("lastEvent"))),
        limited="limit" in reason.lower(),
        shut="admin" in reason.lower(),
        interface=interface,
    )


def knows_bfd(value: Any) -> bool:
    return bool(_vrfs(value, "ipv4Neighbors", "ipv6Neighbors"))


def read_bfd(value: dict[str, Any]) -> Part:
    """One address may have a session on each interface; one that is up counts."""
    peers = []
    for vrf, table in _vrfs(value, "ipv4Neighbors", "ipv6Neighbors").items():
        for kind in ("ipv4Neighbors", "ipv6Neighbors"):
            for address, row in first(table.get(kind)).items():
                stats = [one for one in first(first(row).get("peerStats")).values() if isinstance(one, dict)]
                if stats:
                    is_up = any(text(one.get("status")) == "up" for one in stats)
                    interface = text(stats[0].get("l3intf"))
                    key = f"{address}%{interface}" if address.startswith("fe80") and interface else address
                    peers.append(Peer(key, vrf_name(vrf), bfd=is_up))
    return Part(frozenset(), peers=peers)


# --- routes ---------------------------------------------------------------------------------------------------


def knows_routes(value: Any) -> bool:
    return bool(_vrfs(value, "routes")) and "routingDisabled" in next(iter(_vrfs(value, "routes").values()), {})


def read_routes(value: dict[str, Any]) -> Part:
    tables = {
        vrf_name(vrf): {prefix: tuple(_hops(row)) for prefix, row in first(table["routes"]).items() if isinstance(row, dict)}
        for vrf, table in _vrfs(value, "routes").items()
    }
    return Part(frozenset({ROUTES}), lists=frozenset({ROUTES}), routes=tables)


def _hops(row: Mapping[str, Any]) -> Iterator[Hop]:
    """Tables are large: values are taken as they are, which eAPI has as text."""
    for via in row.get("vias") or ():
        yield hop(via.get("vtepAddr") or via.get("nexthopAddr") or "", via.get("interface") or "")


# --- interfaces -----------------------------------------------------------------------------------------------


def _rows(value: Any, key: str, *fields: str) -> dict[str, dict[str, Any]]:
    """Interface → row of a table of interfaces whose first row has one of some fields; {} for other tables."""
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, dict) or not found:
        return {}
    every = {name: row for name, row in found.items() if isinstance(row, dict)}
    return every if any(field in row for row in every.values() for field in fields) else {}


def knows_interfaces(value: Any) -> bool:
    return any("lineProtocolStatus" in row and "hardware" in row for row in _rows(value, "interfaces", "hardware").values())


def read_interfaces(value: dict[str, Any]) -> Part:
    """`show interfaces`. The MTU of a layer-2 port is that of the switch, and is left out."""
    table = _rows(value, "interfaces", "hardware")
    ports = [_interface(name, row) for name, row in table.items()]
    found: list[Counter] = []
    counted = False
    for name, row in table.items():
        if isinstance(row.get("interfaceCounters"), dict):
            counted = True
            found += counters(name, row["interfaceCounters"], _TOTALS)
            found += counters(name, first(row["interfaceCounters"].get("inputErrorsDetail")), {"fcsErrors": FCS})
    kinds = {INTERFACES, *([ERRORS] if counted else [])}
    vxlan = next((row for row in table.values() if row.get("hardware") == "vxlan"), None)
    part = _vxlan(vxlan) if vxlan else None
    return Part(
        frozenset(kinds) | (part.kinds if part else frozenset()),
        lists=(frozenset({INTERFACES}) if len(table) > 1 else frozenset()) | (part.lists if part else frozenset()),
        ports=ports,
        counters=found,
        vnis=part.vnis if part else (),
    )


def _interface(name: str, row: dict[str, Any]) -> PortState:
    status = text(row.get("interfaceStatus"))
    state = up(row.get("lineProtocolStatus"))
    routed = text(row.get("forwardingModel")) in ("routed", "")
    speed = speed_gbps(row.get("bandwidth")) if state else 0
    mtu = whole(row.get("mtu")) if routed else 0
    return PortState(name, state, shut(status), "" if state else status, speed, mtu)


def knows_status(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("interfaceStatuses"), dict)


def read_status(value: dict[str, Any]) -> Part:
    """`show interfaces status`."""
    ports = []
    for name, row in value["interfaceStatuses"].items():
        status = text(first(row).get("linkStatus"))
        state = up(status)
        speed = speed_gbps(first(row).get("bandwidth")) if state else 0
        ports.append(PortState(name, state, shut(status), "" if state else status, speed))
    return Part(frozenset({INTERFACES}), lists=frozenset({INTERFACES}), ports=ports)


# --- counters -------------------------------------------------------------------------------------------------


def knows_errors(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("interfaceErrorCounters"), dict)


def read_errors(value: dict[str, Any]) -> Part:
    found = [one for name, row in value["interfaceErrorCounters"].items() for one in counters(name, first(row), _ERRORS)]
    return Part(frozenset({ERRORS}), counters=found)


def knows_discards(value: Any) -> bool:
    return isinstance(value, dict) and "inDiscardsTotal" in value and isinstance(value.get("interfaces"), dict)


def read_discards(value: dict[str, Any]) -> Part:
    found = [one for name, row in value["interfaces"].items() for one in counters(name, first(row), _DISCARDS)]
    return Part(frozenset(), counters=found)


def knows_pfc(value: Any) -> bool:
    return bool(_rows(value, "interfaceCounters", "rxFrames"))


def read_pfc(value: dict[str, Any]) -> Part:
    """`show priority-flow-control counters [detail]`; detail has the frames of each priority."""
    found: list[Counter] = []
    for name, row in value["interfaceCounters"].items():
        by_priority = first(first(row).get("priorities"))
        if not by_priority:
            found += counters(name, first(row), _PFC)
        for priority, one in by_priority.items():
            found += counters(name, first(one), _PFC, number(priority))
    return Part(frozenset({QUEUES}), counters=found)


def knows_queues(value: Any) -> bool:
    return isinstance(value, dict) and ("egressQueueCounters" in value or "ingressVoqCounters" in value)


def read_queues(value: dict[str, Any]) -> Part:
    """`show interfaces counters queue drops`: traffic classes of unicast, multicast or virtual output queues."""
    found: list[Counter] = []
    for kind in ("egressQueueCounters", "ingressVoqCounters"):
        for name, row in first(first(value.get(kind)).get("interfaces")).items():
            for part in (row, first(first(row).get("ucastQueues")), first(first(row).get("mcastQueues"))):
                for title, entry in first(first(part).get("trafficClasses")).items():
                    found += _queue(name, title, first(entry))
    return Part(frozenset({QUEUES}), counters=summed(found))


def _queue(port: str, title: str, entry: dict[str, Any]) -> Iterator[Counter]:
    parts = [first(one) for one in first(entry.get("dropPrecedences")).values()] or [entry]
    if any(part.get("droppedPackets") for part in parts):
        queue = number(title.removeprefix("TC"))
        for part in parts:
            yield from counters(port, part, {"droppedPackets": QUEUE_DROPS}, queue)


def knows_ecn(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("intfQueueCounters"), dict)


def read_ecn(value: dict[str, Any]) -> Part:
    """Marks are how ECN works, and no fault."""
    return Part(frozenset())


def knows_phy(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("interfacePhyStatuses"), dict)


def read_phy(value: dict[str, Any]) -> Part:
    """`show interfaces phy detail`: codewords that FEC could not correct, of the chip at the cable."""
    found = []
    for name, row in value["interfacePhyStatuses"].items():
        for phy in rows(first(row).get("phyStatuses", [])):
            if first(phy.get("description")).get("location", "line") == "line":
                lost = whole(first(first(phy.get("fec")).get("uncorrectedCodewords")).get("value"))
                found += [Counter(UNCORRECTED, name, lost)] if lost else []
    return Part(frozenset(), counters=summed(found))


# --- optics ---------------------------------------------------------------------------------------------------


def knows_optics(value: Any) -> bool:
    found = value.get("interfaces") if isinstance(value, dict) else None
    return isinstance(found, dict) and any(isinstance(row, dict) and "parameters" in row for row in found.values())


def read_optics(value: dict[str, Any]) -> Part:
    """`show interfaces transceiver dom thresholds`."""
    optics = []
    for name, row in value["interfaces"].items():
        parameters = first(first(row).get("parameters"))
        rx, heat = first(parameters.get("rxPower")), first(parameters.get("temperature"))
        limits = first(rx.get("threshold"))
        powers = [decimal(one) for one in first(rx.get("channels")).values()]
        heats = [decimal(one) for one in first(heat.get("channels")).values()]
        if powers or heats:
            optics.append(
                Optic(
                    name,
                    tuple(one for one in powers if one is not None),
                    decimal(limits.get("lowAlarm")),
                    decimal(limits.get("highAlarm")),
                    next((one for one in heats if one is not None), None),
                    decimal(first(heat.get("threshold")).get("highAlarm")),
                )
            )
    return Part(frozenset({OPTICS}), optics=optics)


# --- VXLAN ----------------------------------------------------------------------------------------------------


def _vxlan(row: dict[str, Any]) -> Part:
    """Row of a Vxlan interface. VLANs that EOS itself made for the VNI of a VRF are left out."""
    source = known_text(row.get("srcIpAddr"))
    by_vrf = {whole(vni): vrf for vrf, vni in first(row.get("vrfToVniMap")).items()}
    floods = first(row.get("vlanToVtepList"))
    vnis = [Vni(number, True, vrf, source) for number, vrf in by_vrf.items()]
    for vlan, entry in first(row.get("vlanToVniMap")).items():
        vni = whole(first(entry).get("vni"))
        if vni and vni not in by_vrf and text(first(entry).get("source")) in ("", "static"):
            remotes = first(floods.get(vlan)).get("remoteVtepAddr") or ()
            vnis.append(Vni(vni, False, "", source, frozenset(map(text, remotes))))
    return Part(frozenset({EVPN}), lists=frozenset({EVPN}), vnis=vnis)


def knows_bindings(value: Any) -> bool:
    found = first(value.get("vxlanIntfs")) if isinstance(value, dict) else {}
    return any("vniBindings" in first(row) for row in found.values())


def read_bindings(value: dict[str, Any]) -> Part:
    """`show vxlan vni`."""
    vnis = []
    for row in first(value["vxlanIntfs"]).values():
        tables = first(first(row).get("vniBindingsToVrf"))
        vnis += [Vni(whole(vni), True, text(first(entry).get("vrfName"))) for vni, entry in tables.items()]
        for vni, entry in first(first(row).get("vniBindings")).items():
            if vni not in tables and text(first(entry).get("source")) in ("", "static"):
                vnis.append(Vni(whole(vni)))
    return Part(frozenset({EVPN}), lists=frozenset({EVPN}), vnis=vnis)


def knows_vteps(value: Any) -> bool:
    found = value.get("interfaces") if isinstance(value, dict) else None
    return isinstance(found, dict) and "vteps" in value and any("vteps" in first(row) for row in found.values())


def read_vteps(value: dict[str, Any]) -> Part:
    """`show vxlan vtep`."""
    found = {text(one) for row in value["interfaces"].values() for one in first(row).get("vteps") or ()}
    return Part(frozenset(), vteps=frozenset(found))


def knows_failure(value: Any) -> bool:
    return isinstance(value, dict) and list(value) == ["errors"] and "BGP inactive" in value["errors"]


def read_failure(value: dict[str, Any]) -> Part:
    return Part(frozenset(), failures=("BGP inactive",))


READERS = (
    StateReader("eos", "show bgp summary vrf all | json", knows_summary, read_summary),
    StateReader("eos", "show bgp neighbors vrf all | json", knows_neighbors, read_neighbors),
    StateReader("eos", "show ip route vrf all | json", knows_routes, read_routes),
    StateReader("eos", "show bfd peers | json", knows_bfd, read_bfd),
    StateReader("eos", "show interfaces | json", knows_interfaces, read_interfaces),
    StateReader("eos", "show interfaces status | json", knows_status, read_status),
    StateReader("eos", "show interfaces counters errors | json", knows_errors, read_errors),
    StateReader("eos", "show interfaces counters discards | json", knows_discards, read_discards),
    StateReader("eos", "show priority-flow-control counters detail | json", knows_pfc, read_pfc),
    StateReader("eos", "show interfaces counters queue drops | json", knows_queues, read_queues),
    StateReader("eos", "show qos interfaces ecn counters queue | json", knows_ecn, read_ecn),
    StateReader("eos", "show interfaces phy detail | json", knows_phy, read_phy),
    StateReader("eos", "show interfaces transceiver dom thresholds | json", knows_optics, read_optics),
    StateReader("eos", "show vxlan vni | json", knows_bindings, read_bindings),
    StateReader("eos", "show vxlan vtep | json", knows_vteps, read_vteps),
    StateReader("eos", "show bgp summary vrf all | json", knows_failure, read_failure),
)
FAILED = (Failed(re.compile(r"^(?:% )?BGP inactive")),)
