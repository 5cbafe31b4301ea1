"""State of Cumulus Linux: `nv show … -o json` of interfaces, transceivers, LLDP and BGP neighbors, routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp import LldpPart, LldpPort, Neighbor, Reader, first, known_text, rows, speed_gbps, text, up
from fabric.nos.state.readers import StateReader, asn, both, by_name, counters, dbm, decimal, each, family, number, whole
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    INTERFACES,
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
)

# --- LLDP neighbors -------------------------------------------------------------------------------------------


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    entries = [entry for entry in value.values() if isinstance(entry, dict)]
    return any(_neighbor_rows(entry) or "oper-status" in first(entry.get("link")) for entry in entries)


def read(value: dict[str, Any]) -> LldpPart:
    found = {port: entry for port, entry in value.items() if isinstance(entry, dict)}
    return LldpPart(
        neighbors=tuple(_neighbors(found)),
        ports=tuple(_ports(found)),
        listens=any("lldp" in entry or "neighbor" in entry for entry in found.values()),
    )


def _neighbor_rows(entry: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Name and facts of the neighbors of a port, whether `lldp` stands around them or was asked for."""
    lldp = first(entry.get("lldp", entry))
    neighbors = first(lldp.get("neighbor", lldp))
    return [(name, row) for name, each in neighbors.items() for row in rows(each) if "chassis" in row and "port" in row]


def _neighbors(by_port: dict[str, Any]) -> Iterator[Neighbor]:
    for local, entry in by_port.items():
        for name, row in _neighbor_rows(entry):
            chassis, port = first(row["chassis"]), first(row["port"])
            system = known_text(chassis.get("system-name")) or ("" if name.isdigit() else name)
            yield Neighbor(
                port=local,
                system=system,
                chassis=known_text(chassis.get("chassis-id")),
                far_port=known_text(port.get("name")),
                description=known_text(port.get("description")),
            )


def _ports(found: dict[str, Any]) -> Iterator[LldpPort]:
    for port, entry in found.items():
        link = first(entry.get("link"))
        if link:
            state = _state(link)
            speed = 0 if state is False else speed_gbps(link.get("speed"))
            yield LldpPort(port, speed, state, shut=text(link.get("admin-status")) == "down")


def _state(link: dict[str, Any]) -> bool | None:
    """`oper-status: up`; `state: {"up": {}}` of some views."""
    state = link.get("state")
    configured = link.get("oper-status") or (next(iter(state), "") if isinstance(state, dict) else state)
    return up(configured) if text(configured) in ("up", "down") else None


LLDP_READERS = (
    Reader(
        name="nvue",
        commands="nv show interface --view=lldp -o json, nv show interface -o json",
        knows=knows,
        read=read,
        rank=60,
    ),
)


# --- State ----------------------------------------------------------------------------------------------------

_STATS = {
    "in-errors": Count.IN_ERRORS,
    "out-errors": Count.OUT_ERRORS,
    "in-drops": Count.IN_DISCARDS,
    "out-drops": Count.OUT_DISCARDS,
    "rx-error": Count.IN_ERRORS,
    "tx-error": Count.OUT_ERRORS,
    "rx-drop": Count.IN_DISCARDS,
    "tx-drop": Count.OUT_DISCARDS,
}
_QUEUE = {"tx-uc-buffer-discards": Count.QUEUE_DROPS, "wred-discards": Count.ECN_DROPS}
_PFC = {"rx-pause-frames": Count.PFC_RX, "tx-pause-frames": Count.PFC_TX}


def read_interfaces(value: dict[str, Any]) -> Part:
    """`nv show interface -o json`; state is `oper-status`, or a key of `state` in older releases."""
    ports, counts, counted = [], list[Counter](), False
    for name, row in each(value):
        link, stats = first(row.get("link")), _stats(row)
        counted = counted or bool(stats)
        counts += counters(name, stats, _STATS)
        if not link:
            continue
        state = up(link.get("oper-status", next(iter(first(link.get("state"))), "")))
        off = text(link.get("admin-status")) == "down"
        speed = speed_gbps(link.get("speed")) if state else 0
        fec = text(link.get("fec"))
        ports.append(
            PortState(
                name=name,
                up=state,
                shut=off,
                reason="",
                speed_gbps=speed,
                mtu=whole(link.get("mtu")),
                frame=0,
                fec=fec if fec in ("rs", "baser") else "",
            )
        )
    listed = {INTERFACES} if ports else set()
    return Part(kinds=listed | ({ERRORS} if counted else set()), lists=listed, ports=ports, counters=counts)


def _stats(row: dict[str, Any]) -> dict[str, Any]:
    """Counters of a port: those of its link, or of `nv show interface counters`."""
    every = first(row.get("counters"))
    return first(first(row.get("link")).get("stats")) or first(every.get("netstat")) or every


def read_qos(value: dict[str, Any]) -> Part:
    """`nv show interface --view=… -o json` with counters of QoS: PFC by priority, drops by traffic class."""
    found: list[Counter] = []
    for name, row in each(value):
        qos = first(row.get("qos-counters")) or first(first(row.get("counters")).get("qos")) or first(row.get("qos"))
        for priority, entry in each(qos.get("pfc-stats")):
            found += counters(name, entry, _PFC, number(priority))
        for queue, entry in each(qos.get("egress-queue-stats")):
            found += counters(name, entry, _QUEUE, number(queue))
    return Part(kinds={QUEUES}, counters=found)


def read_optics(value: dict[str, Any]) -> Part:
    """`nv show platform transceiver -o json`."""
    optics = []
    for name, row in each(value):
        module = first(row.get("transceiver")) or row
        lanes = [first(lane) for lane in first(module.get("channel")).values()]
        powers = [power for lane in lanes if (power := _power(first(lane.get("rx-power")))) is not None]
        limits = first(first(lanes[0].get("rx-power")).get("alarm-threshold")) if lanes else {}
        heat = first(module.get("temperature"))
        reading = decimal(heat.get("temperature", module.get("temperature")))
        hot = decimal(heat.get("high-alarm-threshold"))
        rx_dbm = tuple(powers)
        low_dbm = decimal(limits.get("low"))
        high_dbm = decimal(limits.get("high"))
        optics.append(Optic(port=name, rx_dbm=rx_dbm, low_dbm=low_dbm, high_dbm=high_dbm, temperature_c=reading, high_c=hot))
    return Part(kinds={OPTICS}, optics=optics)


def _power(row: dict[str, Any]) -> float | None:
    """`{"power": "0.5 mW / -3.01 dBm"}`, or the figure alone."""
    word = text(row.get("power", row.get("dbm")))
    return dbm(word.rpartition("/")[2].strip() if "dBm" in word else word)


def read_bgp(value: dict[str, Any]) -> Part:
    """`nv show vrf default router bgp neighbor -o json`."""
    peers = []
    for key, row in value.items():
        entry = first(row)
        state = text(entry.get("state", entry.get("bgp-state"))).lower()
        families = [
            Family(known, number(first(af).get("prefix-received")), number(first(af).get("accepted-prefix")))
            for name, af in first(entry.get("address-family")).items()
            if (known := family(name))
        ]
        peers.append(
            Peer(
                key=key,
                vrf="",
                state=state,
                asn=asn(entry.get("remote-as")),
                local_asn=asn(entry.get("local-as")),
                families=families if state == "established" else [],
            )
        )
    return Part(kinds={BGP}, peers=peers)


def read_routes(value: dict[str, Any]) -> Part:
    """`nv show vrf default router rib ipv4 route -o json`. The VRF is not in the output: it is taken for the default one."""
    table: dict[str, tuple[Hop, ...]] = {}
    for prefix, row in value.items():
        entries = [first(entry) for entry in first(row.get("route-entry")).values()]
        chosen = next((entry for entry in entries if "selected" in first(entry.get("flags"))), None)
        if chosen is not None:
            hops = first(chosen.get("via-entry")) or first(chosen.get("via"))
            table[prefix] = tuple(
                Hop(key if text(first(hop).get("type")) != "interface" else "", text(first(hop).get("interface")))
                for key, hop in hops.items()
            )
    return Part(kinds={ROUTES}, lists={ROUTES}, routes={"": table})


_PEERS = both(by_name("remote-as"), by_name("state", "bgp-state"))
_OPTICS = by_name("channel.1.rx-power", "channel.channel-1.rx-power", "transceiver.channel")
_QOS = by_name("qos-counters", "counters.qos", "qos.pfc-stats", "qos.egress-queue-stats")
_LINKS = by_name("link.oper-status", "link.state", "link.stats", "counters.netstat")
_COMMANDS = (  # the first one that knows an output reads it
    ("nv show vrf default router bgp neighbor -o json", _PEERS, read_bgp),
    ("nv show vrf default router rib ipv4 route -o json", by_name("route-entry"), read_routes),
    ("nv show platform transceiver -o json", _OPTICS, read_optics),
    ("nv show interface -o json with QoS counters", _QOS, read_qos),
    ("nv show interface -o json, nv show interface counters -o json", _LINKS, read_interfaces),
)
READERS = tuple(StateReader("nvue", command, knows, read) for command, knows, read in _COMMANDS)
