"""Cumulus Linux: `nv show … -o json` of interfaces, transceivers, BGP neighbors and routes.

`vtysh -c 'show … json'` is FRR's, and has more of BGP and EVPN. Source: NVUE outputs in CumulusNetworks/docs (content of
NVUE show commands) and public collectors of `nv show interface -o json` and `nv show vrf VRF router rib ipv4 route -o json`.
Not proven on a switch.
"""

from __future__ import annotations

from typing import Any

from fabric.nos.lldp.output import first, speed_gbps, text, up
from fabric.nos.state.reader import StateReader, asn, counters, dbm, decimal, family, number, whole
from fabric.nos.state.records import (
    BGP,
    ERRORS,
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
    Counter,
    Family,
    Hop,
    Optic,
    Part,
    Peer,
    PortState,
)

_STATS = {"in-errors": IN_ERRORS, "out-errors": OUT_ERRORS, "in-drops": IN_DISCARDS, "out-drops": OUT_DISCARDS}
_PFC = {"rx-pause-frames": PFC_RX, "tx-pause-frames": PFC_TX}


def _by(value: Any, *path: str) -> bool:
    """Whether the first row of a mapping has a path of keys."""
    if not isinstance(value, dict):
        return False
    for row in value.values():
        inner: Any = row
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if inner is not None:
            return True
    return False


def knows_interfaces(value: Any) -> bool:
    return _by(value, "link", "oper-status") or _by(value, "link", "state") or _by(value, "link", "stats")


def read_interfaces(value: dict[str, Any]) -> Part:
    """`nv show interface -o json`; state is `oper-status`, or a key of `state` in older releases."""
    ports, found, counted = [], list[Counter](), False
    for name, row in value.items():
        link = first(first(row).get("link"))
        state = up(link.get("oper-status", next(iter(first(link.get("state"))), "")))
        off = text(link.get("admin-status")) == "down"
        speed = speed_gbps(link.get("speed")) if state else 0
        fec = text(link.get("fec"))
        ports.append(PortState(name, state, off, "", speed, whole(link.get("mtu")), 0, fec if fec in ("rs", "baser") else ""))
        stats = first(link.get("stats")) or first(first(row).get("counters"))
        counted = counted or bool(stats)
        found += counters(name, stats, _STATS)
    kinds = {INTERFACES, *([ERRORS] if counted else [])}
    return Part(frozenset(kinds), lists=frozenset({INTERFACES}), ports=ports, counters=found)


def knows_qos(value: Any) -> bool:
    return _by(value, "qos-counters") or _by(value, "counters", "qos")


def read_qos(value: dict[str, Any]) -> Part:
    """`nv show interface --view=… -o json` with counters of QoS: PFC by priority, drops by traffic class."""
    found: list[Counter] = []
    for name, row in value.items():
        qos = first(first(row).get("qos-counters")) or first(first(first(row).get("counters")).get("qos"))
        for priority, entry in first(qos.get("pfc-stats")).items():
            found += counters(name, first(entry), _PFC, number(priority))
        for queue, entry in first(qos.get("egress-queue-stats")).items():
            found += counters(name, first(entry), {"tx-uc-buffer-discards": QUEUE_DROPS}, number(queue))
    return Part(frozenset({QUEUES}), counters=found)


def knows_optics(value: Any) -> bool:
    return _by(value, "channel") or _by(value, "transceiver", "channel")


def read_optics(value: dict[str, Any]) -> Part:
    """`nv show platform transceiver -o json`."""
    optics = []
    for name, row in value.items():
        module = first(first(row).get("transceiver")) or first(row)
        lanes = [first(lane) for lane in first(module.get("channel")).values()]
        powers = [one for lane in lanes if (one := _power(first(lane.get("rx-power")))) is not None]
        limits = first(first(lanes[0].get("rx-power")).get("alarm-threshold")) if lanes else {}
        heat = first(module.get("temperature"))
        reading = decimal(heat.get("temperature", module.get("temperature")))
        hot = decimal(heat.get("high-alarm-threshold"))
        optics.append(Optic(name, tuple(powers), decimal(limits.get("low")), decimal(limits.get("high")), reading, hot))
    return Part(frozenset({OPTICS}), optics=optics)


def _power(row: dict[str, Any]) -> float | None:
    """`{"power": "0.5 mW / -3.01 dBm"}`, or the figure alone."""
    word = text(row.get("power", row.get("dbm")))
    return dbm(word.rpartition("/")[2].strip() if "dBm" in word else word)


def knows_bgp(value: Any) -> bool:
    return _by(value, "remote-as") and (_by(value, "state") or _by(value, "bgp-state"))


def read_bgp(value: dict[str, Any]) -> Part:
    """`nv show vrf default router bgp neighbor -o json`."""
    peers = []
    for key, row in value.items():
        entry = first(row)
        state = text(entry.get("state", entry.get("bgp-state"))).lower()
        found = [
            Family(known, number(first(af).get("prefix-received")), number(first(af).get("accepted-prefix")))
            for name, af in first(entry.get("address-family")).items()
            if (known := family(name))
        ]
        peers.append(
            Peer(
                key,
                "",
                state,
                asn(entry.get("remote-as")),
                asn(entry.get("local-as")),
                found if state == "established" else [],
            )
        )
    return Part(frozenset({BGP}), peers=peers)


def knows_routes(value: Any) -> bool:
    return _by(value, "route-entry")


def read_routes(value: dict[str, Any]) -> Part:
    """`nv show vrf default router rib ipv4 route -o json`. The VRF is not in the output: it is taken for the default one."""
    table: dict[str, tuple[Hop, ...]] = {}
    for prefix, row in value.items():
        entries = [first(entry) for entry in first(first(row).get("route-entry")).values()]
        chosen = next((entry for entry in entries if "selected" in first(entry.get("flags"))), None)
        if chosen is not None:
            hops = first(chosen.get("via-entry")) or first(chosen.get("via"))
            table[prefix] = tuple(
                Hop(key if text(first(hop).get("type")) != "interface" else "", text(first(hop).get("interface")))
                for key, hop in hops.items()
            )
    return Part(frozenset({ROUTES}), lists=frozenset({ROUTES}), routes={"": table})


READERS = (
    StateReader("nvue", "nv show vrf default router bgp neighbor -o json", knows_bgp, read_bgp),
    StateReader("nvue", "nv show vrf default router rib ipv4 route -o json", knows_routes, read_routes),
    StateReader("nvue", "nv show platform transceiver -o json", knows_optics, read_optics),
    StateReader("nvue", "nv show interface -o json with QoS counters", knows_qos, read_qos),
    StateReader("nvue", "nv show interface -o json", knows_interfaces, read_interfaces),
)
