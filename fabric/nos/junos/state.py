"""State of Juniper Junos: `show … | display json` of LLDP and BGP neighbors, routes, interfaces, EVPN and transceivers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp import LldpPart, LldpPort, Neighbor, Reader, first, known_text, rows, speed_gbps, text, up
from fabric.nos.state.readers import (
    Failed,
    StateReader,
    asn,
    counters,
    dbm,
    decimal,
    esi,
    family,
    having,
    number,
    scoped,
    summed,
    whole,
)
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    EVPN,
    INTERFACES,
    MULTIHOMING,
    OPTICS,
    QUEUES,
    ROUTES,
    Count,
    Counter,
    Family,
    Hop,
    Optic,
    Part,
    Peer,
    PortState,
    Segment,
    Vni,
)

# --- LLDP neighbors -------------------------------------------------------------------------------------------

_NEIGHBORS, _INTERFACES, _SYSTEM = "lldp-neighbors-information", "interface-information", "host-name"


def knows(value: Any) -> bool:
    return isinstance(value, dict) and any(
        key in value for key in (_NEIGHBORS, _INTERFACES, "system-information", "software-information")
    )


def read(value: dict[str, Any]) -> LldpPart:
    return LldpPart(
        host=_host(value),
        neighbors=tuple(_neighbors(first(value.get(_NEIGHBORS)))),
        ports=tuple(_ports(first(value.get(_INTERFACES)))),
        listens=_NEIGHBORS in value,
    )


def _host(value: dict[str, Any]) -> str:
    known = first(value.get("system-information")) or first(value.get("software-information"))
    return text(known.get(_SYSTEM))


def _neighbors(table: dict[str, Any]) -> Iterator[Neighbor]:
    for row in rows(table.get("lldp-neighbor-information")):
        yield Neighbor(
            port=text(row.get("lldp-local-interface")) or text(row.get("lldp-local-port-id")),
            system=known_text(row.get("lldp-remote-system-name")),
            chassis=known_text(row.get("lldp-remote-chassis-id")),
            far_port=known_text(row.get("lldp-remote-port-id")),
            description=known_text(row.get("lldp-remote-port-description")),
        )


def _ports(table: dict[str, Any]) -> Iterator[LldpPort]:
    for row in rows(table.get("physical-interface")):
        state = up(row.get("oper-status"))
        speed = speed_gbps(row.get("speed")) if state else 0
        yield LldpPort(text(row.get("name")), speed, state, shut=up(row.get("admin-status")) is False)


LLDP_READERS = (
    Reader(
        name="junos",
        commands="show lldp neighbors [detail] | display json, show interfaces | display json",
        knows=knows,
        read=read,
        rank=30,
    ),
)


# --- State ----------------------------------------------------------------------------------------------------

_INPUT = {"input-errors": Count.IN_ERRORS, "input-discards": Count.IN_DISCARDS, "framing-errors": Count.FCS}
_OUTPUT = {"output-errors": Count.OUT_ERRORS, "output-drops": Count.OUT_DISCARDS}


_TOTAL = "queue-counters-total-drop-packets"
_DROPS = ("queue-counters-tail-drop-packets", "queue-counters-rl-drop-packets")


def _under(value: Any, *path: str) -> list[dict[str, Any]]:
    """Elements at a path of names."""
    found = [value] if isinstance(value, dict) else []
    for name in path:
        found = [row for one in found for row in rows(one.get(name)) if one.get(name) is not None]
    return found


# --- BGP ------------------------------------------------------------------------------------------------------


def read_bgp(value: dict[str, Any]) -> Part:
    """`show bgp neighbor` and `show bgp summary`: an address may carry a port, and a link-local one its interface."""
    found = _under(value, "bgp-information", "bgp-peer")
    named = all("peer-cfg-rti" in row for row in found)  # a summary does not say the instance of a peer
    lists = {BGP} if named and found else frozenset()
    return Part(kinds={BGP}, lists=lists, peers=[_peer(row) for row in found])


def _peer(row: dict[str, Any]) -> Peer:
    state = text(row.get("peer-state")).lower()
    address = text(row.get("peer-address")).partition("+")[0]
    interface = text(row.get("local-interface-name"))
    instance = text(row.get("peer-cfg-rti"))
    options = first(row.get("bgp-option-information"))
    flags = f"{text(row.get('peer-flags'))} {text(options.get('bgp-options'))} {text(options.get('bgp-options-extended'))}"
    reason = next(
        (event for event in (text(row.get("last-flap-event")), text(row.get("last-error"))) if event not in ("", "None")), ""
    )
    bfd = first(row.get("bgp-bfd"))
    enabled = text(bfd.get("bfd-configuration-state")) == "enabled"
    return Peer(
        key=scoped(address, interface),
        vrf="" if instance in ("", "master") else instance,
        state=state,
        asn=asn(row.get("peer-as")),
        local_asn=asn(row.get("local-as")),
        families=tuple(_families(row)) if state == "established" else (),
        reason="" if state == "established" else reason,
        limited="prefix" in reason.lower() and "exceed" in reason.lower(),
        shut="Shutdown" in flags.split(),
        interface=interface,
        bfd=text(bfd.get("bfd-operational-state")) == "up" if enabled else None,
    )


def _families(row: dict[str, Any]) -> Iterator[Family]:
    """Of tables of the peer those that it feeds: `inet.0`, `bgp.evpn.0`."""
    for rib in rows(row.get("bgp-rib", [])):
        name = text(rib.get("name"))
        known = "evpn" if name == "bgp.evpn.0" else family(name) if re.fullmatch(r"(?:.*\.)?inet6?\.0", name) else ""
        known = known or ("ipv6" if name.endswith("inet6.0") else "ipv4" if name.endswith("inet.0") else "")
        if known:
            yield Family(known, number(rib.get("received-prefix-count")), number(rib.get("accepted-prefix-count")))


def read_bfd(value: dict[str, Any]) -> Part:
    peers = []
    for row in _under(value, "bfd-session-information", "bfd-session"):
        address, interface = text(row.get("session-neighbor")), text(row.get("session-interface"))
        peers.append(Peer(key=scoped(address, interface), bfd=text(row.get("session-state")).lower() == "up"))
    return Part(peers=peers)


# --- routes ---------------------------------------------------------------------------------------------------


def read_routes(value: dict[str, Any]) -> Part:
    """Tables `inet.0` and `VRF.inet.0` and those of IPv6; internal ones begin with a colon or two underscores."""
    tables: dict[str, dict[str, tuple[Hop, ...]]] = {}
    for table in _under(value, "route-information", "route-table"):
        name = re.fullmatch(r"(?:([^.:_][^.]*)\.)?inet6?\.0", text(table.get("table-name")))
        if not name:
            continue
        routes = tables.setdefault(name[1] or "", {})
        for row in rows(table.get("rt", [])):
            entry = next(
                (
                    entry
                    for entry in rows(row.get("rt-entry", []))
                    if "current-active" in entry or text(entry.get("active-tag"))
                ),
                None,
            )
            if entry is not None:
                routes[_prefix(row)] = tuple(_hops(entry))
    return Part(kinds={ROUTES}, lists={ROUTES}, routes=tables)


def _prefix(row: dict[str, Any]) -> str:
    prefix, length = text(row.get("rt-destination")), text(row.get("rt-prefix-length"))
    return prefix if "/" in prefix or not length.isdigit() else f"{prefix}/{length}"


def _hops(entry: dict[str, Any]) -> Iterator[Hop]:
    tunnel = text(entry.get("protocol-name")) == "EVPN"
    for hop in rows(entry.get("nh", [])):
        yield Hop(text(hop.get("to")), text(hop.get("via", hop.get("nh-local-interface"))), tunnel)


# --- interfaces -----------------------------------------------------------------------------------------------


def knows_interfaces(value: Any) -> bool:
    return any(
        "oper-status" in row or "queue-counters" in row
        for row in _under(value, "interface-information", "physical-interface")
    )


def read_interfaces(value: dict[str, Any]) -> Part:
    """`show interfaces [extensive]`, `show interfaces queue`; MTU counts the Ethernet header."""
    ports, counts = [], list[Counter]()
    kinds: set[str] = set()
    for row in _under(value, "interface-information", "physical-interface"):
        name = text(row.get("name"))
        if "oper-status" in row:
            kinds.add(INTERFACES)
            ports.append(_port(name, row))
        if "input-error-list" in row:
            kinds.add(ERRORS)
        counts += counters(name, first(row.get("input-error-list")), _INPUT)
        counts += counters(name, first(row.get("output-error-list")), _OUTPUT)
        counts += counters(name, first(row.get("ethernet-fec-statistics")), {"fec_nccw_count": Count.UNCORRECTED})
        counts += counters(name, first(row.get("ethernet-mac-statistics")), {"input-crc-errors": Count.FCS})
        if "queue-counters" in row:
            kinds.add(QUEUES)
            counts += _queues(name, row)
        if "pfc-statistics" in row or "ethernet-pfc-statistics" in row:
            kinds.add(QUEUES)
            counts += _pfc(name, first(row.get("pfc-statistics", row.get("ethernet-pfc-statistics"))))
    return Part(kinds=kinds, lists=frozenset(kinds & {INTERFACES}), ports=ports, counters=counts)


def _port(name: str, row: dict[str, Any]) -> PortState:
    admin, state = text(row.get("admin-status")), up(row.get("oper-status"))
    fec = text(first(row.get("ethernet-fec-mode")).get("enabled_fec_mode")).lower()
    mode = (
        "rs"
        if fec.startswith(("fec91", "fec119", "rs", "fec134"))
        else "fc"
        if fec.startswith("fec74")
        else "none"
        if fec == "none"
        else ""
    )
    frame = whole(row.get("mtu"))
    return PortState(
        name=name,
        up=state,
        shut=admin == "down",
        reason="",
        speed_gbps=speed_gbps(row.get("speed")) if state else 0,
        mtu=0,
        frame=frame,
        fec=mode,
    )


def _queues(port: str, row: dict[str, Any]) -> Iterator[Counter]:
    """The total of a queue has all drops; platforms without it count those at the tail, of the rate limit and of RED."""
    for queue in _under(row, "queue-counters", "queue"):
        at = number(queue.get("queue-number"))
        if number(text(queue.get(_TOTAL))) is not None:
            yield from counters(port, queue, {_TOTAL: Count.QUEUE_DROPS}, at)
        else:
            yield from summed(counters(port, queue, dict.fromkeys(_DROPS, Count.QUEUE_DROPS), at))
            yield from counters(port, queue, {"queue-counters-red-packets": Count.ECN_DROPS}, at)


def _pfc(port: str, row: dict[str, Any]) -> Iterator[Counter]:
    for entry in rows(row.get("pfc-priority", [])):
        priority = number(entry.get("priority"))
        yield from counters(port, entry, {"receive-frames": Count.PFC_RX, "transmit-frames": Count.PFC_TX}, priority)


# --- EVPN -----------------------------------------------------------------------------------------------------


def read_contexts(value: dict[str, Any]) -> Part:
    """`show evpn l3-context extensive`: the VNIs of VRFs."""
    vnis = []
    for row in _under(value, "evpn-l3-context-information", "evpn-l3-context"):
        sources = [
            text(vtep.get("vtep-address"))
            for vtep in rows(row.get("context-source-vtep", []))
            if text(vtep.get("vtep-family")) == "IPv4"
        ]
        vnis.append(
            Vni(
                number=whole(row.get("context-vni")),
                layer3=True,
                vrf=text(row.get("context-name")),
                source=next(iter(sources), ""),
                rd=text(row.get("route-distinguisher")),
            )
        )
    return Part(kinds={EVPN}, vnis=vnis)


def read_remotes(value: dict[str, Any]) -> Part:
    """`show ethernet-switching vxlan-tunnel-end-point remote`: VTEPs, and the VNIs of each."""
    remotes: dict[int, set[str]] = {}
    vteps: set[str] = set()
    source = ""
    for local in _under(value, "vxlan-source-vtep-information", "svtep-format"):
        source = source or text(local.get("source-vtep-address"))
        for far in rows(local.get("vxlan-remote-vtep-information", [])):
            address = text(far.get("remote-vtep-address"))
            vteps.add(address)
            for entry in _under(far, "vxlan-dynamic-information", "vxlan-format"):
                remotes.setdefault(whole(entry.get("vn-id")), set()).add(address)
    vnis = [Vni(number=vni, remotes=frozenset(addresses), source=source) for vni, addresses in remotes.items()]
    return Part(kinds={EVPN}, vnis=vnis, vteps=frozenset(vteps), source=source)


# --- Ethernet segments ----------------------------------------------------------------------------------------

_DERIVED = "05:"  # identifiers that a switch makes for its own gateways


def read_segments(value: dict[str, Any]) -> Part:
    """`show evpn instance extensive`. Segments without an interface of this switch are those of others."""
    attached = []
    complete = True
    for instance in _under(value, "evpn-instance-information", "evpn-instance"):
        segments = rows(instance.get("evpn-esi", []))
        complete = complete and ("evpn-esi" in instance or number(instance.get("evpn-num-esi")) == 0)
        for row in segments:
            identifier = esi(row.get("evpn-esi-value"))
            if identifier and not identifier.startswith(_DERIVED) and "evpn-esi-local-intf-information" in row:
                attached.append(_segment(identifier, row))
    return Part(kinds={MULTIHOMING}, lists={MULTIHOMING} if complete and attached else frozenset(), segments=attached)


def _segment(identifier: str, row: dict[str, Any]) -> Segment:
    """Addresses are those of the routers in EVPN: their loopbacks."""
    local, remote = first(row.get("evpn-esi-local-intf-information")), row.get("evpn-esi-remote-pe-information")
    elected = first(row.get("evpn-esi-df-information"))
    state = text(local.get("evpn-esi-local-intf-status"))
    forwarder = text(elected.get("esi-designated-forwarder"))
    others = {text(router.get("evpn-esi-remote-pe-ipaddr")) for router in rows(first(remote).get("evpn-esi-remote-pe", []))}
    none = number(first(remote).get("evpn-esi-num-remote-pe")) == 0
    return Segment(
        esi=identifier,
        interface=text(local.get("evpn-esi-local-intf-name")),
        up=state.startswith("Up") if state else None,
        peers=frozenset(others - {""}) if others - {""} or none else None,
        forwarders=frozenset({forwarder}) if forwarder else None,
        by_preference="preference" in text(elected.get("esi-df-election-algorithm")).lower(),
    )


# --- optics ---------------------------------------------------------------------------------------------------


def knows_optics(value: Any) -> bool:
    return any("optics-diagnostics" in row for row in _under(value, "interface-information", "physical-interface"))


def read_optics(value: dict[str, Any]) -> Part:
    """`show interfaces diagnostics optics`: lanes, thresholds of the module, and its flags."""
    optics = []
    for row in _under(value, "interface-information", "physical-interface"):
        readings = first(row.get("optics-diagnostics"))
        lanes = [first(lane) for lane in rows(readings.get("optics-diagnostics-lane-values", []))] or [readings]
        fields = ("laser-rx-optical-power-dbm", "rx-signal-avg-optical-power-dbm")
        powers = [power for lane in lanes for field in fields if field in lane and (power := dbm(lane[field])) is not None]
        alarms = sorted(
            {key for part in (readings, *lanes) for key in part if key.endswith("-alarm") and text(part[key]).lower() == "on"}
        )
        heat = re.match("-?[0-9.]+", known_text(readings.get("module-temperature")))
        optics.append(
            Optic(
                port=text(row.get("name")),
                rx_dbm=tuple(powers),
                low_dbm=decimal(readings.get("laser-rx-power-low-alarm-threshold-dbm")),
                high_dbm=decimal(readings.get("laser-rx-power-high-alarm-threshold-dbm")),
                temperature_c=float(heat[0]) if heat else None,
                high_c=decimal(readings.get("module-temperature-high-alarm-threshold")),
                alarms=alarms,
            )
        )
    return Part(kinds={OPTICS}, optics=optics)


_COMMANDS = (  # the first one that knows an output reads it
    ("show bgp neighbor", having("bgp-information"), read_bgp),
    ("show route", having("route-information"), read_routes),
    ("show bfd session", having("bfd-session-information"), read_bfd),
    ("show interfaces diagnostics optics", knows_optics, read_optics),
    ("show interfaces extensive", knows_interfaces, read_interfaces),
    ("show evpn l3-context extensive", having("evpn-l3-context-information"), read_contexts),
    ("show evpn instance extensive", having("evpn-instance-information"), read_segments),
    ("show ethernet-switching vxlan-tunnel-end-point remote", having("vxlan-source-vtep-information"), read_remotes),
)
READERS = tuple(StateReader("junos", f"{command} | display json", knows, read) for command, knows, read in _COMMANDS)
FAILED = (Failed(re.compile(r"error: .{0,40}?routing.{0,40}? subsystem not running|^BGP is not running")),)
