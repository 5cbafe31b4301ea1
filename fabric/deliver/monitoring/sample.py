"""A few switches of a fabric, as their collectors would report them: what the unit tests are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabric.deliver.monitoring.exporters import SIGNALS, Exporter, Reading, Signal, filled, labels
from fabric.deliver.monitoring.watch import LINK, PRIMARY, SESSION, SWITCH, End, Session, Watch
from fabric.model.plan import Device

Thing = tuple[str, str, str]  # device, signal, key: what a value is of
Values = Mapping[Thing, tuple[float, float]]  # before and after the fault
HALF = 20  # minutes of each, at a sample a minute
ABSENT = float("nan")
_PART = {"fan_ok": "fan1", "psu_ok": "1", "temperature_ok": "asic"}
_OPTIC = {"optic_rx_dbm": -2.0, "optic_rx_low_dbm": -8.0, "optic_celsius": 45.0, "optic_high_celsius": 75.0}
BETWEEN_SWITCHES = ("leaf-leaf", "leaf-spine", "spine-core")


@dataclass(frozen=True)
class SampleElements:
    """An upper switch, another beside it, two lower ones, a link of every pair, and a server of the first."""

    watch: Watch

    @cached_property
    def link(self) -> End | None:
        """The lower end of the fabric's first link between switches."""
        return next((end for end in self.watch.facts.ends if end.kind in BETWEEN_SWITCHES and end.view == PRIMARY), None)

    @cached_property
    def switches(self) -> tuple[Device, ...]:
        """The link's lower and upper switch first; at most four, which need not be joined."""
        first = self.link
        if first is None:
            return self.watch.fabric.switches[:4]
        others: dict[int, Device] = {first.device.index: first.device, first.peer.index: first.peer}
        alike = [end for end in self.watch.facts.ends if end.kind == first.kind and end.view == PRIMARY]
        second = next((end.peer for end in alike if end.device is first.device and end.peer.index not in others), None)
        below = next((end.device for end in alike if end.peer is first.peer and end.device.index not in others), None)
        others |= {device.index: device for device in (second, below) if device is not None}
        return tuple(others.values())

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """The first link of every pair of these switches, from both ends, and one server link of the first."""
        inside = {device.index for device in self.switches}
        end_of_pair: dict[tuple[int, int], End] = {}
        server: list[End] = []
        for end in self.watch.facts.ends:
            if end.device.index not in inside:
                continue
            if end.peer.index in inside:
                end_of_pair.setdefault((end.device.index, end.peer.index), end)
            elif end.kind == "server-leaf" and not server:
                server = [end]
        return (*self._paired(end_of_pair), *server)

    def _paired(self, found: Mapping[tuple[int, int], End]) -> list[End]:
        """Both ends of the same link, also if pairs have several links and one switch counts its ports downwards."""
        far = {(end.device.index, end.interface): end for end in self.watch.facts.ends}
        rows: list[End] = []
        for end in found.values():
            if end.view == PRIMARY:
                rows += [end, far[end.peer.index, end.peer_interface]]
        return rows

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """Those on the links above, and those between the switches' loopbacks."""
        ports = {(end.device.index, end.interface) for end in self.ends}
        inside = {device.index for device in self.switches}
        return tuple(
            session
            for session in self.watch.facts.sessions
            if (session.device.index, session.interface) in ports
            or (session.kind == "evpn" and {session.device.index, session.peer.index} <= inside)
        )

    def healthy(self, end: End, signal: str) -> float:
        """What a port reports while all is well."""
        if signal in _OPTIC:
            return _OPTIC[signal]
        port_class = self.watch.port_classes[end.port_class]
        usual = {
            "link_up": 1.0,
            "link_speed_bits": port_class.speed_bits,
            "in_bits": port_class.speed_bits / 4,
            "out_bits": port_class.speed_bits / 4,
            "lossless_packets": 1e6,
        }
        return usual.get(signal, 0.0)

    def things(self, signals: frozenset[str]) -> dict[Thing, float]:
        """Everything that these signals are of, with its value while all is well."""
        values: dict[Thing, float] = {}
        for device in self.switches:
            able = {signal for exporter in self.watch.of(device) for signal in exporter.metrics} & signals
            values |= {(device.name, signal, part): 1.0 for signal, part in _PART.items() if signal in able}
            for end in self.ends:
                if end.device is device:
                    ports = [signal for signal in sorted(able) if SIGNALS[signal].key == "interface"]
                    values |= {(device.name, signal, end.interface): self.healthy(end, signal) for signal in ports}
            if "bgp_up" in able:
                mine = [session for session in self.sessions if session.device is device]
                values |= {(device.name, "bgp_up", session.bgp_peer): 1.0 for session in mine}
        return values

    def plan_series(self) -> list[dict[str, str]]:
        """The plan's own lines of these switches."""
        facts = self.watch.facts
        rows = [(SWITCH, facts.of_switch(device)) for device in self.switches]
        head = {"site": self.watch.site, "fabric": self.watch.fabric.name}
        for name, things in ((LINK, self.ends), (SESSION, self.sessions)):
            rows += [(name, {**head, "device": x.device.name, "role": x.device.role, **x.labels()}) for x in things]
        return [_row(f"{name}{{{labels(where)}}}", f"1x{2 * HALF}") for name, where in rows]

    def reach_series(self, device: Device, values: tuple[float, float]) -> list[dict[str, str]]:
        """Whether a switch answers its collectors."""
        rows = []
        for exporter in self.watch.of(device):
            if exporter.up.label:
                where = {"site": self.watch.site, exporter.up.label: device.name}
            else:
                where = {**self.watch.facts.of_switch(device), "job": exporter.job}
            rows.append(_row(f"{exporter.up.metric}{{{labels(where)}}}", _steps("", values, 1)))
        return rows

    def thing_series(self, thing: Thing, values: tuple[float, float] | str) -> list[dict[str, str]]:
        """A thing as its collector reports it, from values in the signal's unit; or from a text of values as it is."""
        name, key = thing[1], thing[2]
        device = self.watch.fabric.by_name[thing[0]]
        exporter = next(exporter for exporter in self.watch.of(device) if name in exporter.metrics)
        reading, signal = exporter.metrics[name], SIGNALS[name]
        where = self._labels(exporter, reading, signal, device, key)
        metric = reading.metric.format(priority=self.watch.priority)
        if reading.state:
            return [_row(f"{metric}{{{labels({**where, **state})}}}", text) for state, text in _states(reading, values)]
        text = values if isinstance(values, str) else _steps(signal.over, _raw(reading, values), reading.scale)
        return [_row(f"{metric}{{{labels(where)}}}", text)]

    def _labels(self, exporter: Exporter, reading: Reading, signal: Signal, device: Device, key: str) -> dict[str, str]:
        scope: dict[str, str] = {"site": self.watch.site, exporter.device: device.name}
        if not exporter.collector:
            scope = self.watch.facts.of_switch(device)
        label, pattern, replacement = exporter.naming(reading, signal, self.watch.priority)
        own = pattern.replace("(.+)", key.removeprefix(replacement.partition("$1")[0]))
        priority = self.watch.priority
        other = {label: str(1 - min(priority, 1)) for label in reading.unless}  # any but the lossless one
        return {**scope, label: own, **filled(reading.where, priority), **other}


def _states(reading: Reading, values: tuple[float, float] | str) -> Iterator[tuple[Mapping[str, str], str]]:
    """A state is a label: another state is another series, always of value 1, and ends where the state does."""
    text = values if isinstance(values, str) else _steps("", values, 1)
    runs = [(value, int(more or 0) + (value != "_")) for value, _, more in (token.partition("x") for token in text.split())]
    other = dict.fromkeys(reading.state, "OTHER")
    for state, wanted in ((reading.state, "1"), (other, "0")):
        if any(value == wanted for value, _ in runs):
            yield state, " ".join(_run(value == wanted, count) for value, count in runs)


def _run(there: bool, count: int) -> str:
    if there:
        return f"1x{count - 1}"
    return "stale" if count == 1 else f"stale _x{count - 1}"


def _raw(reading: Reading, values: tuple[float, float]) -> tuple[float, float]:
    """Yes and no as the collector says them."""
    if reading.equals is None:
        return values
    no = 0 if reading.equals else 1
    one, other = (value if value != value else reading.equals if value else no for value in values)
    return one, other


def _steps(over: str, values: tuple[float, float], scale: int) -> str:
    """Values of both halves in promtool's short form; of a counter, growing by so much a minute."""
    before, after = (value / scale * (60 if over == "rate" else 1 / 5 if over else 1) for value in values)
    if not over:
        return f"{_repeated(before, HALF + 1)} {_repeated(after, HALF)}"
    return f"0+{before:.12g}x{HALF} {before * HALF + after:.12g}+{after:.12g}x{HALF - 1}"


def _repeated(value: float, count: int) -> str:
    """A value so often; promtool counts what follows the first, but every one that is missing."""
    return f"_x{count}" if value != value else f"{value:.12g}x{count - 1}"


def _row(series: str, values: str) -> dict[str, str]:
    return {"series": series, "values": values}
