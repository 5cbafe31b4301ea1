"""State of Cisco NX-OS: `show … | json` of neighbors, routes, interfaces, counters, NVE, PFC, queues and transceivers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp import LldpPart, LldpPort, Neighbor, Reader, first, known_text, rows, shut, speed_gbps, text, up
from fabric.nos.state.readers import (
    Failed,
    Knows,
    StateReader,
    asn,
    counters,
    dbm,
    decimal,
    family,
    hop as next_hop,
    number,
    summed,
    vrf_name,
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
    PairedBond,
    PairState,
    Part,
    Peer,
    PortState,
    Vni,
)

# --- LLDP neighbors -------------------------------------------------------------------------------------------

_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.IGNORECASE)
_TABLES = {"TABLE_nbor": "ROW_nbor", "TABLE_nbor_detail": "ROW_nbor_detail"}


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return any(key in value for key in (*_TABLES, "neigh_hdr")) or _statuses(value) is not None or _host(value) != ""


def read(value: dict[str, Any]) -> LldpPart:
    return LldpPart(
        host=_host(value),
        neighbors=tuple(_neighbors(value)),
        ports=tuple(_ports(_statuses(value))),
        listens="neigh_hdr" in value or any(table in value for table in _TABLES),
    )


def _host(value: dict[str, Any]) -> str:
    names = value.keys() & {"host_name", "nxos_ver_str", "hostname"}
    return text(value.get("host_name")) if "nxos_ver_str" in names else text(value.get("hostname")) if len(value) == 1 else ""


def _neighbors(value: dict[str, Any]) -> Iterator[Neighbor]:
    for table, row_name in _TABLES.items():
        for entry in rows(value.get(table)):
            for row in rows(entry.get(row_name)):
                yield _lldp_neighbor(row)


def _lldp_neighbor(row: dict[str, Any]) -> Neighbor:
    chassis, system = known_text(row.get("chassis_id")), known_text(row.get("sys_name"))
    if "sys_name" not in row and not _MAC.fullmatch(chassis):
        system, chassis = chassis, ""
    return Neighbor(
        port=text(row.get("l_port_id")),
        system=system,
        chassis=chassis,
        far_port=known_text(row.get("port_id")),
        description=known_text(row.get("port_desc")),
    )


def _statuses(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Rows of `show interface status`, which has `state` where other tables of interfaces have none."""
    found = list(rows(first(value.get("TABLE_interface")).get("ROW_interface")))
    return found if found and "interface" in found[0] and "state" in found[0] else None


def _ports(found: list[dict[str, Any]] | None) -> Iterator[LldpPort]:
    for row in found or ():
        state = up(row.get("state"))
        speed = speed_gbps(row.get("speed")) if state else 0
        yield LldpPort(text(row.get("interface")), speed, state, shut=shut(row.get("state")))


LLDP_READERS = (
    Reader(
        name="nxos",
        commands="show lldp neighbors [detail] | json, show interface status | json",
        knows=knows,
        read=read,
        rank=20,
    ),
)


# --- State ----------------------------------------------------------------------------------------------------

_COUNTERS = {
    "eth_crc": Count.FCS,
    "eth_inerr": Count.IN_ERRORS,
    "eth_outerr": Count.OUT_ERRORS,
    "eth_indiscard": Count.IN_DISCARDS,
    "eth_outdiscard": Count.OUT_DISCARDS,
}
_CONSISTENCY = ("vpc-peer-consistency", "vpc-per-vlan-peer-consistency", "vpc-type-2-consistency")
_STATES = re.compile(r"idle|connect|active|opensent|openconfirm|established|shut", re.IGNORECASE)


def table(value: Any, name: str) -> list[dict[str, Any]]:
    """Rows of `TABLE_name`."""
    found = value.get(f"TABLE_{name}") if isinstance(value, dict) else None
    return [row for part in rows(found) for row in rows(part.get(f"ROW_{name}"))] if found else []


def has(value: Any, name: str, *fields: str) -> bool:
    """Whether a value has a table of some name whose rows have some fields."""
    found = table(value, name)
    return bool(found) and all(any(field in row for row in found) for field in fields)


def rows_of(name: str, *fields: str) -> Knows:
    """Outputs that have a table of some name whose rows have some fields."""
    return lambda value: has(value, name, *fields)


# --- BGP ------------------------------------------------------------------------------------------------------


def read_summary(value: dict[str, Any]) -> Part:
    """`show bgp all summary vrf all`. A session that is up has a count in place of its state in some releases."""
    peers = [
        _summary(vrf_name(text(vrf.get("vrf-name-out"))), asn(vrf.get("vrf-local-as")), text(saf.get("af-name")), row)
        for vrf in table(value, "vrf")
        for af in table(vrf, "af")
        for saf in table(af, "saf")
        for row in table(saf, "neighbor")
    ]
    ids = {vrf_name(text(vrf.get("vrf-name-out"))): text(vrf.get("vrf-router-id")) for vrf in table(value, "vrf")}
    return Part(kinds={BGP}, lists={BGP}, peers=peers, router_ids=ids)


def _summary(vrf: str, local_asn: int, af_name: str, row: dict[str, Any]) -> Peer:
    state = text(row.get("state"))
    shown = state.lower() if _STATES.search(state) else "established"
    received = number(row.get("prefixreceived"))
    name = "ipv4" if "IPv4 Unicast" in af_name else "ipv6" if "IPv6 Unicast" in af_name else family(af_name)
    families = [Family(name, received, received)] if name and shown == "established" else []
    return Peer(
        key=text(row.get("neighborid")),
        vrf=vrf,
        state=shown.partition(" ")[0],
        asn=asn(row.get("neighboras")),
        local_asn=local_asn,
        families=families,
        limited="pfx" in shown,
        shut="shut" in shown or "admin" in shown,
    )


def read_neighbors(value: dict[str, Any]) -> Part:
    """`show bgp all neighbors vrf all`. It has no accepted prefixes, and `pfxrecvd` counts them after policies."""
    return Part(kinds={BGP}, peers=[_neighbor(row) for row in table(value, "neighbor")])


def _neighbor(row: dict[str, Any]) -> Peer:
    state = text(row.get("state")).lower()
    families = []
    for af in table(row, "peraf"):
        for saf in table(af, "persaf"):
            title = text(saf.get("per-af-name"))
            name = "ipv4" if "IPv4 Unicast" in title else "ipv6" if "IPv6 Unicast" in title else family(title)
            if name:
                families.append(Family(name, None, number(saf.get("pfxrecvd"))))
    reason = next(
        (event for event in (known_text(row.get("resetreason")), known_text(row.get("peerresetreason"))) if event), ""
    )
    return Peer(
        key=text(row.get("neighbor")),
        vrf=vrf_name(text(row.get("vrf"))),
        state=state.partition(" ")[0],
        asn=asn(row.get("remoteas")),
        local_asn=0,
        families=families if state == "established" else [],
        reason="" if state == "established" or reason == "No error" else reason,
        limited="pfxct" in state or "prefix" in reason.lower(),
        shut="shut" in state or "admin" in state,
        interface=text(row.get("sourceif")),
    )


# --- routes ---------------------------------------------------------------------------------------------------


def read_routes(value: dict[str, Any]) -> Part:
    tables: dict[str, dict[str, tuple[Hop, ...]]] = {}
    for vrf in table(value, "vrf"):
        found = tables.setdefault(vrf_name(text(vrf.get("vrf-name-out"))), {})
        for addrf in table(vrf, "addrf"):
            for prefix in table(addrf, "prefix"):
                found[text(prefix.get("ipprefix"))] = tuple(_hops(prefix))
    return Part(kinds={ROUTES}, lists={ROUTES}, routes=tables)


def _hops(prefix: dict[str, Any]) -> Iterator[Hop]:
    """Best unicast paths; `10.2.0.4%default` is a next hop in another VRF."""
    for path in table(prefix, "path"):
        if text(path.get("ubest", "true")) != "false":
            yield next_hop(text(path.get("ipnexthop")).partition("%")[0], text(path.get("ifname")))


# --- interfaces -----------------------------------------------------------------------------------------------


def knows_interfaces(value: Any) -> bool:
    found = table(value, "interface")
    states = any("state" in row or "svi_line_proto" in row for row in found)
    return states and any(key.startswith(("eth_", "svi_")) for row in found for key in row)


def read_interfaces(value: dict[str, Any]) -> Part:
    """`show interface`. Speed is that of `eth_bw`, in kb/s; VLAN interfaces have fields of their own."""
    ports, counts = [], list[Counter]()
    counted = False
    for row in table(value, "interface"):
        name, state = text(row.get("interface")), up(row.get("state", row.get("svi_line_proto")))
        admin = text(row.get("admin_state", row.get("svi_admin_state")))
        reason = known_text(row.get("state_rsn_desc"))
        off = admin == "down" or shut(reason) or bool(re.search("err-?disabled", reason, re.IGNORECASE))
        speed = speed_gbps(f"{text(row.get('eth_bw'))}K") if state else 0
        mtu = whole(row.get("eth_mtu", row.get("svi_mtu")))
        ports.append(PortState(name=name, up=state, shut=off and not state, reason=reason, speed_gbps=speed, mtu=mtu))
        counted = counted or "eth_inerr" in row
        counts += counters(name, row, _COUNTERS)
    kinds = {INTERFACES, *([ERRORS] if counted else [])}
    return Part(kinds=kinds, lists={INTERFACES}, ports=ports, counters=counts)


def knows_status(value: Any) -> bool:
    return has(value, "interface", "interface", "state", "speed") and not knows_interfaces(value)


def read_status(value: dict[str, Any]) -> Part:
    """`show interface status`, `show interface brief`."""
    ports = []
    for row in table(value, "interface"):
        state = up(row.get("state"))
        reason = known_text(row.get("state_rsn_desc")) or ("" if state else text(row.get("state")))
        speed = speed_gbps(row.get("speed")) if state else 0
        off = shut(row.get("state")) or "admin" in reason.lower()
        ports.append(
            PortState(name=text(row.get("interface")), up=state, shut=off and not state, reason=reason, speed_gbps=speed)
        )
    return Part(kinds={INTERFACES}, ports=ports)


# --- NVE ------------------------------------------------------------------------------------------------------


def read_vnis(value: dict[str, Any]) -> Part:
    """`show nve vni`: type is `L2 [vlan]` or `L3 [vrf]`."""
    vnis = []
    for row in table(value, "nve_vni"):
        kind, _, owner = text(row.get("type", "")).partition(" ")
        layer3 = kind == "L3"
        vrf = owner.strip("[] ") if layer3 else ""
        vnis.append(Vni(number=whole(row.get("vni")), layer3=layer3, vrf=vrf, up=up(row.get("vni-state"))))
    return Part(kinds={EVPN}, lists={EVPN}, vnis=vnis)


def read_peers(value: dict[str, Any]) -> Part:
    """`show nve peers`: every VTEP that is up, of whichever VNI."""
    found = {text(row.get("peer-ip")) for row in table(value, "nve_peers") if up(row.get("peer-state")) is not False}
    return Part(vteps=frozenset(found))


# --- PFC, queues, optics --------------------------------------------------------------------------------------


def knows_pfc(value: Any) -> bool:
    return has(value, "pfc_interface") or has(value, "pfc_intf")


def read_pfc(value: dict[str, Any]) -> Part:
    """`show interface priority-flow-control`: frames of all priorities together."""
    found: list[Counter] = []
    for row in (*table(value, "pfc_interface"), *table(value, "pfc_intf")):
        port = text(row.get("if_name_str", row.get("interface")))
        found += counters(port, row, {"rx-stats": Count.PFC_RX, "tx-stats": Count.PFC_TX})
    return Part(kinds={QUEUES}, counters=found)


def read_queues(value: dict[str, Any]) -> Part:
    """`show queuing interface`, `show queuing tabular interface` and `show queuing pfc-queue detail`, by QoS group."""
    counts: list[Counter] = []
    for row in table(value, "queuing_interface"):
        port = text(row.get("if_name_str")).partition(" ")[0]
        for entry in table(row, "qosgrp_egress_stats"):
            counts += _drops(port, _group(entry), table(entry, "qosgrp_egress_stats_entry"))
        for entry in table(row, "qosgrp_stats"):
            for stat in table(entry, "qosgrp_stats_entry"):
                counts += counters(port, stat, {"q-shutdown": Count.STORMS}, _group(entry))
        for entry in table(row, "queuing_counter"):
            counts += _tabular(port, entry)
        for entry in table(row, "pfc_stats"):
            names = {"rx-pause-count": Count.PFC_RX, "tx-pause-count": Count.PFC_TX}
            counts += counters(port, entry, names, number(entry.get("cos")))
    return Part(kinds={QUEUES}, counters=summed(counts))


def _group(entry: dict[str, Any]) -> int | None:
    """`3`, `3 [Active]`; None for the groups of the CPU and of SPAN."""
    digits = re.match("[0-9]+", text(entry.get("eq-qosgrp")))
    return int(digits[0]) if digits else None


def _drops(port: str, queue: int | None, stats: list[dict[str, Any]]) -> Iterator[Counter]:
    """Kinds of drops that a release has may include each other (`Tail Drop`, `WD & Tail Drop`): the largest counts."""
    kinds = [
        one for one in stats if "drop" in text(one.get("eq-stat-type")).lower() and text(one.get("eq-stat-units")) == "Pkts"
    ]
    fields = ("eq-uc-stat-value", "eq-oobfc-uc-stat-value", "eq-mc-stat-value")
    most = max((sum(whole(one.get(field)) for field in fields) for one in kinds), default=0)
    if most:
        yield Counter(Count.QUEUE_DROPS, port, most, queue)


_TABULAR = (("drop-pkts", Count.QUEUE_DROPS), ("pfc-rx-pkts", Count.PFC_RX), ("pfc-tx-pkts", Count.PFC_TX))


def _tabular(port: str, entry: dict[str, Any]) -> Iterator[Counter]:
    """A counter by row, a QoS group by column."""
    title = text(entry.get("counter_name_str"))
    name = next((name for end, name in _TABULAR if title.endswith(end)), None)
    for key in entry if name else ():
        if found := re.fullmatch("qos_group_([0-9]+)", key):
            yield from counters(port, entry, {key: name or ""}, int(found[1]))


def knows_optics(value: Any) -> bool:
    return any("sfp" in row or "rx_pwr" in row for row in table(value, "interface"))


def read_optics(value: dict[str, Any]) -> Part:
    """`show interface transceiver details`: a row of readings for each lane."""
    optics = []
    for row in table(value, "interface"):
        lanes = table(row, "lane") or [row]
        powers = [reading for lane in lanes if (reading := dbm(lane.get("rx_pwr"))) is not None]
        heat = next((reading for lane in lanes if (reading := decimal(lane.get("temperature"))) is not None), None)
        if powers or heat is not None:
            low = decimal(lanes[0].get("rx_pwr_alrm_lo"))
            high = decimal(lanes[0].get("rx_pwr_alrm_hi"))
            hot = decimal(lanes[0].get("temp_alrm_hi"))
            port = text(row.get("interface"))
            optics.append(Optic(port=port, rx_dbm=tuple(powers), low_dbm=low, high_dbm=high, temperature_c=heat, high_c=hot))
    return Part(kinds={OPTICS}, optics=optics)


# --- vPC ------------------------------------------------------------------------------------------------------


def knows_vpc(value: Any) -> bool:
    """`show vpc`; `show vpc brief` prints the same keys."""
    return isinstance(value, dict) and "vpc-domain-id" in value


def read_vpc(value: dict[str, Any]) -> Part:
    """States of ports are 1 and 0; the peer is `peer-ok`, its keepalive `peer-alive`."""
    peer, alive = text(value.get("vpc-peer-status")), text(value.get("vpc-peer-keepalive-status"))
    links = [_flag(row.get("peer-link-port-state")) for row in table(value, "peerlink")]
    agreed = [_agreed(value.get(key)) for key in _CONSISTENCY]
    pair = PairState(
        peer=peer,
        peer_up=peer == "peer-ok" if peer else None,
        keepalive=alive,
        alive=alive == "peer-alive" if alive else None,
        link_up=False if False in links else True if True in links else None,
        consistent=False if False in agreed else True if True in agreed else None,
        bonds=tuple(
            PairedBond(whole(row.get("vpc-id")), _flag(row.get("vpc-port-state")), _agreed(row.get("vpc-consistency")))
            for row in table(value, "vpc")
        ),
        domain=whole(value.get("vpc-domain-id")),
    )
    count = number(value.get("num-of-vpcs"))
    complete = count is not None and count == len(pair.bonds)
    return Part(kinds={MULTIHOMING}, lists={MULTIHOMING} if complete else frozenset(), pair=pair)


def _flag(value: Any) -> bool | None:
    return {"1": True, "up": True, "0": False, "down": False}.get(text(value).lower())


def _agreed(value: Any) -> bool | None:
    return {"consistent": True, "inconsistent": False}.get(text(value).lower())


_COMMANDS = (  # the first one that knows an output reads it
    ("show bgp all summary vrf all", rows_of("vrf", "vrf-local-as"), read_summary),
    ("show bgp all neighbors vrf all", rows_of("neighbor", "remoteas", "state"), read_neighbors),
    ("show ip route vrf all", rows_of("vrf", "TABLE_addrf"), read_routes),
    ("show interface transceiver details", knows_optics, read_optics),
    ("show interface", knows_interfaces, read_interfaces),
    ("show interface status", knows_status, read_status),
    ("show nve vni", rows_of("nve_vni", "vni", "type"), read_vnis),
    ("show nve peers", rows_of("nve_peers", "peer-ip"), read_peers),
    ("show vpc", knows_vpc, read_vpc),
    ("show interface priority-flow-control", knows_pfc, read_pfc),
    ("show queuing interface", rows_of("queuing_interface"), read_queues),
)
READERS = tuple(StateReader("nxos", f"{command} | json", knows, read) for command, knows, read in _COMMANDS)
FAILED = (Failed(re.compile(r"(?:Note: *process|BGP process) .*not running", re.IGNORECASE)),)
