"""Reads the classes of SONiC ports: maps, schedulers, WRED, buffers, cable lengths and the PFC watchdog.

Buffers that the switch computes itself are left open: a profile `NULL`, `headroom_type: dynamic`, and rows that its buffer
manager makes of CABLE_LENGTH and its table (sonic-swss, cfgmgr/buffermgr.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fabric.model.facts import Buffer, Ecn, Facts, Located, LosslessClass, PortQos, Queue
from fabric.nos.reading import numbers
from fabric.nos.sonic.read.tables import Row, Tables

CLASSES = range(8)
SAME = {number: number for number in CLASSES}  # where no map is bound
FIELDS = ("dscp_to_tc_map", "tc_to_pg_map", "pfc_to_pg_map", "tc_to_queue_map", "pfc_to_queue_map")
TABLES = (  # of all but the first
    "TC_TO_PRIORITY_GROUP_MAP",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
)
LEAST_WEIGHT = 1  # of a queue without a scheduler (saischeduler.h of opencomputeproject/SAI: default 1)
DYNAMIC = "NULL"  # profile of a priority group whose headroom the switch computes
SIDES = ("ingress", "egress")  # of a pool; `both` serves either
NVIDIA = ("mlnx", "nvidia")  # in the name of a platform: `size` contains `xon`

U = TypeVar("U")
Pairs = dict[int, Located[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Maps:
    """How the traffic classes of some ports are numbered and named; ports with the same maps share one."""

    bound: bool  # a DSCP map is, which may be in another file
    by_dscp: Pairs  # DSCP → traffic class
    priorities: Pairs  # DSCP → priority
    names: Mapping[int, int]  # traffic class → priority
    group_of: Pairs  # traffic class → priority group; empty where no map is bound
    pausing: Pairs  # priority → priority group
    queue_of: Pairs  # traffic class → queue
    stops: Pairs  # priority → queue

    def group(self, priority: int) -> int:
        return _get(self.pausing, priority)

    def queue(self, traffic_class: int) -> int:
        return _get(self.queue_of, traffic_class)


def _get(pairs: Pairs, number: int) -> int:
    return pairs[number].value if number in pairs else number


def read_qos(facts: Facts, tables: Tables) -> None:
    """Fills the classes of every port that has any."""
    _Qos(facts, tables).read()


class _Qos:
    def __init__(self, facts: Facts, tables: Tables) -> None:
        self.facts, self.tables = facts, tables
        self.maps: dict[tuple[str, str], Pairs] = {}
        self.classes: dict[tuple[str, ...], Maps] = {}
        self.ecns: dict[str, Ecn | None] = {}
        self.fixed = [row for row in tables.rows("BUFFER_PROFILE") if (xoff := row.number("xoff")) and xoff.value]
        row = tables.row("DEVICE_METADATA", "localhost")
        platform = row.text("platform") if row else None
        self.nvidia = platform is not None and any(word in platform.value for word in NVIDIA)

    def read(self) -> None:
        ports = {row.key: row for row in self.tables.rows("PORT")}
        maps = {port: row for row in self.tables.rows("PORT_QOS_MAP") for port in row.key.split(",")}
        queues, groups, taken = (self._by_port(table) for table in ("QUEUE", "BUFFER_PG", "BUFFER_QUEUE"))
        lengths = {port: row.text(port) for row in self.tables.rows("CABLE_LENGTH") for port in row.fields.values}
        watched = self._watched()
        everywhere = maps.get("global")
        headroom = {DYNAMIC, *(row.key for row in self.fixed)}
        for row in self.tables.rows("BUFFER_PG"):
            if (profile := row.name("profile")) and profile.value in headroom:
                self.facts.lossless = row.here(f"BUFFER_PG|{row.key}")
                break
        for port in ports:
            qos = PortQos(watchdog=watched.get(port), cable_length_m=_metres(lengths.get(port)))
            own_groups, own_queues = groups.get(port, {}), taken.get(port, {})
            if port in maps or everywhere:
                classes = self._classes(qos, maps.get(port), everywhere, queues.get(port, {}), own_groups)
                qos.lossless = [self._lossless(paused, maps[port], classes, own_groups) for paused in qos.pfc]
            qos.buffers = [*self._taken(qos, own_groups, own_queues), *self._lists(port)]
            if qos != PortQos():
                self.facts.interfaces[port].qos = qos

    def _by_port(self, table: str) -> dict[str, dict[int, Row]]:
        """Keys are `Ethernet0|3`, also with lists of ports and ranges; chassis put the host and the chip before."""
        found: dict[str, dict[int, Row]] = {}
        for row in self.tables.rows(table):
            ports, _, span = row.key.rpartition("|")
            for port in ports.rpartition("|")[2].split(","):
                for number in numbers(span):
                    found.setdefault(port, {})[number] = row
        return found

    def _classes(
        self, qos: PortQos, row: Row | None, everywhere: Row | None, queues: Mapping[int, Row], groups: Mapping[int, Row]
    ) -> Maps:
        enabled = row.text("pfc_enable") if row else None
        paused = numbers(enabled.value) if enabled else []
        classes = self._named(row, everywhere, tuple(paused))
        qos.priorities = classes.priorities
        if enabled:
            qos.pfc = [Located(number, enabled.line, enabled.file) for number in paused]
        for number in classes.queue_of or SAME:
            if number in classes.names and (queue_row := queues.get(classes.queue(number))):
                self._queue(qos, classes.names[number], queue_row)
        for number, queue_row in queues.items():
            qos.queues[number] = self._numbered(number, queue_row)
        for number, group in groups.items():
            profile = self._row("BUFFER_PROFILE", group.name("profile"))
            if profile and (xoff := profile.number("xoff")):
                for priority in [one for one in paused if classes.group(one) == number] or [number]:
                    qos.xoff_bytes[priority] = xoff
        return classes

    def _queue(self, qos: PortQos, priority: int, row: Row) -> None:
        scheduler = self._row("SCHEDULER", row.name("scheduler"))
        kind = scheduler.text("type") if scheduler else None
        weight = scheduler.number("weight") if scheduler else None
        if kind and kind.value == "STRICT":
            qos.strict.append(Located(priority, kind.line, kind.file))
        elif weight:
            qos.weights.setdefault(priority, weight)
        profile = row.name("wred_profile")
        if profile and (ecn := self._ecn(profile)):
            qos.ecn.setdefault(priority, ecn)

    def _numbered(self, number: int, row: Row) -> Queue:
        """A queue by its number."""
        scheduler, profile = self._row("SCHEDULER", row.name("scheduler")), row.name("wred_profile")
        kind = scheduler.text("type") if scheduler else None
        wred, queue = self._row("WRED_PROFILE", profile), Queue(place=row.here("").at(number))
        if wred:
            marks = wred.text("ecn")
            queue.marks = Located(self._ecn(profile) is not None, (marks or wred).line, self.tables.file) if profile else None
        if kind is None or kind.value != "STRICT":
            queue.share = (scheduler.number("weight") if scheduler else None) or row.here("").at(LEAST_WEIGHT)
        return queue

    def _lossless(self, paused: Located[int], row: Row, maps: Maps, groups: Mapping[int, Row]) -> LosslessClass:
        """Packets of its traffic classes are in one priority group, and leave by the queues of these classes."""
        priority, group = paused.value, maps.group(paused.value)
        inside = [number for number in CLASSES if _get(maps.group_of, number) == group]
        chain = LosslessClass(priority=paused, dscps=self._dscps(row, maps, inside))
        mapped = {parsed.value for parsed in maps.by_dscp.values()}
        leading = [number for number in inside if number in mapped] or inside
        for number in leading:
            chain.links.append(_place(maps.group_of, number, paused, f"traffic class {number}"))
            chain.queues.setdefault(maps.queue(number), _place(maps.queue_of, number, paused, maps.queue(number)))
        chain.links.append(_place(maps.pausing, priority, paused, f"priority group {group}"))
        stopped = _get(maps.stops, priority)
        chain.stopped = {stopped: _place(maps.stops, priority, paused, stopped)}
        if len(inside) == 1:
            chain.number = inside[0]
        chain.beside = [
            _place(maps.queue_of, number, paused, f"traffic class {number}")
            for number in sorted(mapped - set(inside))
            if maps.queue(number) in chain.queues
        ]
        self._headroom(chain, groups.get(group))
        return chain

    def _dscps(self, row: Row, maps: Maps, inside: list[int]) -> list[int] | None:
        """DSCPs of some traffic classes; None where the port looks at 802.1p, or the map is in another file."""
        if not maps.by_dscp:
            return None if maps.bound or row.name("dot1p_to_tc_map") else []
        return [point for point, parsed in maps.by_dscp.items() if parsed.value in inside]

    def _headroom(self, chain: LosslessClass, row: Row | None) -> None:
        """Without a row the buffer manager makes one, unless the file has the profiles that it would make."""
        if row is None:
            if self.fixed:
                chain.headroom = chain.priority.at(0)
            return
        name = row.name("profile")
        profile = self._row("BUFFER_PROFILE", name)
        if profile is None or name is None:  # made by the switch, or an undefined name, which is reported
            return
        kind, xoff, xon, size = profile.text("headroom_type"), *(profile.number(key) for key in ("xoff", "xon", "size"))
        if kind is None or kind.value != "dynamic":
            chain.headroom = xoff or name.at(0)
        if xoff and xon and size and (self.nvidia or xon.value > xoff.value):
            chain.levels = [("xon", xon), ("size", size)]  # elsewhere `size` may be a reserved minimum below `xon`

    def _taken(self, qos: PortQos, groups: Mapping[int, Row], queues: Mapping[int, Row]) -> Iterator[Buffer]:
        """Profiles of the port's groups and queues; "" for a lossless queue without one, beside others that have one."""
        lossless = {queue for chain in qos.lossless for queue in chain.stopped_queues}
        for number, row in groups.items():
            yield from self._buffer(f"priority group {number}", "ingress", row.name("profile"))
        for number, row in queues.items():
            yield from self._buffer(f"queue {number}", "egress", row.name("profile"), number in lossless)
        for number in sorted(lossless - queues.keys()) if queues else ():
            yield Buffer(f"queue {number}", "egress", qos.pfc[0].at(""), wants_lossless=True)

    def _lists(self, port: str) -> Iterator[Buffer]:
        for side in SIDES:
            if row := self.tables.row(f"BUFFER_PORT_{side.upper()}_PROFILE_LIST", port):
                for name in row.many("profile_list"):
                    yield from self._buffer(f"the port's {side} list", side, name)

    def _buffer(self, user: str, side: str, name: Located[str] | None, wants_lossless: bool = False) -> Iterator[Buffer]:
        profile = self._row("BUFFER_PROFILE", name)
        pool = profile.name("pool") if profile else None
        row = self._row("BUFFER_POOL", pool)
        kind = row.text("type") if row else None
        if name and pool:
            yield Buffer(user, side, name, (pool.value, kind.value if kind and kind.value in SIDES else ""), wants_lossless)

    def _named(self, row: Row | None, everywhere: Row | None, paused: tuple[int, ...]) -> Maps:
        """Names of the maps in force → the classes."""
        bound = [row.name(name) if row else None for name in FIELDS]
        dscp = bound[0] or (everywhere.name(FIELDS[0]) if everywhere else None)
        key = (*(parsed.value if parsed else "" for parsed in (dscp, *bound[1:])), str(paused))
        if key not in self.classes:
            group_of, pausing, queue_of, stops = map(self._map, TABLES, bound[1:])
            names = SAME.copy()
            for number, group in ((number, parsed.value) for number, parsed in group_of.items()):
                own = [priority for priority in paused if _get(pausing, priority) == group]
                names[number] = own[0] if len(own) == 1 else number
            by_dscp = self._map("DSCP_TO_TC_MAP", dscp)
            self.classes[key] = Maps(
                bound=dscp is not None,
                by_dscp=by_dscp,
                priorities={point: parsed.at(names.get(parsed.value, parsed.value)) for point, parsed in by_dscp.items()},
                names=names,
                group_of=group_of,
                pausing=pausing,
                queue_of=queue_of,
                stops=stops,
            )
        return self.classes[key]

    def _map(self, table: str, name: Located[str] | None) -> Pairs:
        if name is None:
            return {}
        key = (table, name.value)
        if key not in self.maps:
            row = self.tables.row(table, name.value)
            pairs = ((point, row.number(point)) for point in row.fields.values) if row else ()
            self.maps[key] = {
                int(point): parsed for point, parsed in pairs if parsed and point.isdecimal() and len(point) < 4
            }
        return self.maps[key]

    def _row(self, table: str, name: Located[str] | None) -> Row | None:
        return self.tables.row(table, name.value) if name else None

    def _ecn(self, name: Located[str]) -> Ecn | None:
        """Thresholds of the colour that all packets have by default."""
        if name.value not in self.ecns:
            row = self._row("WRED_PROFILE", name)
            marks = row.text("ecn") if row else None
            colour = marks.value.removeprefix("ecn_").split("_")[0] if marks else "none"
            colour = "green" if colour == "all" else colour
            self.ecns[name.value] = None if row is None or colour == "none" else Ecn(
                row.number(f"{colour}_min_threshold"), row.number(f"{colour}_max_threshold"),
                row.number(f"{colour}_drop_probability"),
            )  # fmt: skip
        return self.ecns[name.value]

    def _watched(self) -> dict[str, Located[bool]]:
        """Ports that the watchdog looks at; its slowest detection is the switch's."""
        found: dict[str, Located[bool]] = {}
        facts = self.facts
        for row in self.tables.rows("PFC_WD", "PFC_WD_TABLE"):
            time = row.number("detection_time")
            facts.watchdog_poll_ms = row.number("POLL_INTERVAL") or facts.watchdog_poll_ms
            if time is None:
                continue
            for port in row.key.split(","):
                found[port] = Located(True, row.line, self.tables.file)
            if facts.watchdog_ms is None or facts.watchdog_ms.value < time.value:
                facts.watchdog_ms = time
            for least in filter(None, (time, row.number("restoration_time"))):
                if facts.watchdog_least_ms is None or least.value < facts.watchdog_least_ms.value:
                    facts.watchdog_least_ms = least
        return found


def _place(pairs: Pairs, number: int, otherwise: Located[int], value: U) -> Located[U]:
    """A value on the line of a map's entry; on another line where the map has none."""
    return pairs.get(number, otherwise).at(value)


def _metres(parsed: Located[str] | None) -> Located[int] | None:
    """`40m` → 40."""
    digits = parsed.value.removesuffix("m") if parsed else ""
    return Located(int(digits), parsed.line, parsed.file) if parsed and digits.isdecimal() and len(digits) < 7 else None
