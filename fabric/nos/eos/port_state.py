"""Ports of Arista EOS: LLDP neighbors, errors, discards, PFC and its watchdog, queues, FEC, optics."""

from __future__ import annotations

from collections import Counter as Counted
from collections.abc import Iterator, Mapping
from typing import Any

from fabric.nos.lldp import LldpPart, LldpPort, Neighbor, Reader, first, known_text, rows, shut, speed_gbps, text, up
from fabric.nos.state.readers import (
    counted,
    counters,
    decimal,
    each,
    having_any,
    light,
    measured,
    number,
    summed,
    table,
    whole,
)
from fabric.nos.state.records import ERRORS, OPTICS, QUEUES, Count, Counter, Optic, Part

# --- LLDP: `show lldp neighbors [detail] | json`, `show interfaces status | json`, `show hostname | json` -----


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return "lldpNeighbors" in value or "interfaceStatuses" in value or {"hostname", "fqdn"} <= value.keys()


def read(value: dict[str, Any]) -> LldpPart:
    return LldpPart(
        host=text(value.get("hostname")),
        neighbors=tuple(_neighbors(value.get("lldpNeighbors"))),
        ports=tuple(_ports(first(value.get("interfaceStatuses")))),
        listens="lldpNeighbors" in value,
    )


def _neighbors(found: Any) -> Iterator[Neighbor]:
    if isinstance(found, dict):
        for port, entry in found.items():
            for row in rows(first(entry).get("lldpNeighborInfo", entry)):
                yield _detail(port, row)
        return
    for row in rows(found):
        system = known_text(row.get("neighborDevice"))
        yield Neighbor(port=text(row.get("port")), system=system, chassis="", far_port=known_text(row.get("neighborPort")))


def _detail(port: str, row: dict[str, Any]) -> Neighbor:
    if "neighborDevice" in row:
        return Neighbor(
            port=port, system=known_text(row["neighborDevice"]), chassis="", far_port=known_text(row.get("neighborPort"))
        )
    far = first(row.get("neighborInterfaceInfo"))
    identity = known_text(far.get("interfaceId_v2")) or known_text(far.get("interfaceId"))
    system, chassis = known_text(row.get("systemName")), known_text(row.get("chassisId"))
    return Neighbor(
        port=port, system=system, chassis=chassis, far_port=identity, description=known_text(far.get("interfaceDescription"))
    )


def _ports(statuses: dict[str, Any]) -> Iterator[LldpPort]:
    """`bandwidth` is in b/s, and on a port that is down says what it would do."""
    for port, row in statuses.items():
        state = up(first(row).get("linkStatus"))
        speed = speed_gbps(first(row).get("bandwidth")) if state else 0
        yield LldpPort(port, speed, state, shut=shut(first(row).get("linkStatus")))


LLDP_READERS = (
    Reader(
        name="eos",
        commands="show lldp neighbors [detail] | json, show interfaces status | json",
        knows=knows,
        read=read,
        rank=10,
    ),
)


# --- Counters and transceivers --------------------------------------------------------------------------------

_ERRORS = {"fcsErrors": Count.FCS, "inErrors": Count.IN_ERRORS, "outErrors": Count.OUT_ERRORS}
DISCARDS = {"inDiscards": Count.IN_DISCARDS, "outDiscards": Count.OUT_DISCARDS}
_PFC = {"rxFrames": Count.PFC_RX, "txFrames": Count.PFC_TX}


def read_errors(value: dict[str, Any]) -> Part:
    table = value["interfaceErrorCounters"]
    return Part(kinds={ERRORS}, counters=counted(table, _ERRORS), measured={"errors": measured(table, _ERRORS)})


def read_discards(value: dict[str, Any]) -> Part:
    return Part(
        counters=counted(value["interfaces"], DISCARDS), measured={"discards": measured(value["interfaces"], DISCARDS)}
    )


def read_pfc(value: dict[str, Any]) -> Part:
    """`show priority-flow-control counters [detail]`; detail has the frames of each priority."""
    found: list[Counter] = []
    for name, row in each(value["interfaceCounters"]):
        by_priority = first(row.get("priorities"))
        found += counters(name, row, _PFC if not by_priority else {})
        for priority, one in each(by_priority):
            found += counters(name, one, _PFC, number(priority))
    return Part(kinds={QUEUES}, counters=found, measured={"PFC frames": measured(value["interfaceCounters"], _PFC)})


def read_watchdog(value: dict[str, Any]) -> Part:
    """`show priority-flow-control counters watchdog`: queues that were stuck; ports without an event are left out."""
    found: list[Counter] = []
    for name, row in each(value["interfaces"]):
        for queue, one in each(row.get("txQueues")):
            found += counters(name, one, {"stuckCount": Count.STORMS}, number(queue))
    return Part(kinds={QUEUES}, counters=found)


def read_queues(value: dict[str, Any]) -> Part:
    """`show interfaces counters queue drops`: traffic classes of unicast, multicast or virtual output queues."""
    drops: list[Counter] = []
    known: dict[str, int] = {}  # port → counters of its queues
    for kind in ("egressQueueCounters", "ingressVoqCounters"):
        for name, row in each(first(value.get(kind)).get("interfaces")):
            for part in (row, first(row.get("ucastQueues")), first(row.get("mcastQueues"))):
                for title, entry in each(part.get("trafficClasses")):
                    drops += _queue(name, title, entry)
                    known[name] = known.get(name, 0) + _counted(entry)
    return Part(kinds={QUEUES}, counters=summed(drops), measured={"queue drops": _whole(known)})


def _counted(entry: dict[str, Any]) -> int:
    """How many counters of drops a queue has, whatever their values."""
    by_precedence = entry.get("dropPrecedences")
    parts = by_precedence.values() if type(by_precedence) is dict else (entry,)
    return sum(type(part) is dict and "droppedPackets" in part for part in parts)


def _whole(known: Mapping[str, int]) -> frozenset[str]:
    """The ports with as many counters as most ports have."""
    usual = Counted(known.values()).most_common(1)
    return frozenset(port for port, count in known.items() if count and count >= usual[0][0])


def _queue(port: str, title: str, entry: dict[str, Any]) -> Iterator[Counter]:
    """Most queues have dropped nothing, and there are many."""
    by_precedence = entry.get("dropPrecedences")
    parts = list(by_precedence.values()) if type(by_precedence) is dict else [entry]
    dropped = [part for part in parts if type(part) is dict and part.get("droppedPackets")]
    for part in dropped:
        yield from counters(port, part, {"droppedPackets": Count.QUEUE_DROPS}, number(title.removeprefix("TC")))


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
    """`show interfaces transceiver`, where a reading is a number, and `… dom thresholds`, where it has lanes and limits."""
    return Part(kinds={OPTICS}, optics=[one for name, row in each(value["interfaces"]) if (one := _optic(name, row))])


def _optic(name: str, row: dict[str, Any]) -> Optic | None:
    readings = first(row.get("parameters")) or row
    powers, low, high = _reading(readings.get("rxPower"))
    heats, _, hot = _reading(readings.get("temperature"))
    if not powers and not heats:
        return None
    return Optic(
        port=name,
        rx_dbm=light(powers),
        low_dbm=low,
        high_dbm=high,
        temperature_c=next((celsius for heat in heats if (celsius := decimal(heat)) is not None), None),
        high_c=hot,
    )


def _reading(value: Any) -> tuple[list[Any], float | None, float | None]:
    """(values of its lanes, low alarm, high alarm)."""
    if isinstance(value, dict):
        limits = first(value.get("threshold"))
        return list(first(value.get("channels")).values()), decimal(limits.get("lowAlarm")), decimal(limits.get("highAlarm"))
    return [] if value is None else [value], None, None


COMMANDS = (
    ("show interfaces counters errors", table("interfaceErrorCounters"), read_errors),
    ("show interfaces counters, show interfaces counters discards", table("interfaces", "inDiscards"), read_discards),
    ("show priority-flow-control counters detail", table("interfaceCounters", "rxFrames"), read_pfc),
    ("show priority-flow-control counters watchdog", table("interfaces", "txQueues"), read_watchdog),
    ("show interfaces counters queue drops", having_any("egressQueueCounters", "ingressVoqCounters"), read_queues),
    ("show qos interfaces ecn counters queue", table("intfQueueCounters"), read_ecn),
    ("show interfaces phy detail", table("interfacePhyStatuses"), read_phy),
    ("show interfaces transceiver [dom thresholds]", table("interfaces", "parameters", "rxPower"), read_optics),
)
