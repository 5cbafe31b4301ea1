"""Collectors as data, and the one expression that reads a thing off any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fabric.base.formats import yaml
from fabric.nos.target import installed

# --- text of PromQL -------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def escaped(text: str) -> str:
    """A label value as it stands between double quotes; PromQL and the exposition format have the same three escapes."""
    return text.translate(_ESCAPES)


def labels(pairs: Mapping[str, object]) -> str:
    """`a="1",b="2"`; a label without a value is left out, as Prometheus itself does."""
    return ",".join(f'{name}="{escaped(str(value))}"' for name, value in pairs.items() if value != "")


def selector(where: Mapping[str, object], unless: Mapping[str, object] | None = None) -> str:
    """Matchers without their braces."""
    parts = [f'{name}="{escaped(str(value))}"' for name, value in where.items()]
    return ",".join([*parts, *(f'{name}!="{escaped(str(value))}"' for name, value in (unless or {}).items())])


def replaced(expr: str, target: str, source: str, pattern: str = "(.+)", replacement: str = "$1") -> str:
    """`label_replace`: what is found in label `source` becomes label `target`."""
    quoted = ", ".join(f'"{escaped(text)}"' for text in (target, replacement, source, pattern))
    return f"label_replace({expr}, {quoted})"


# --- collectors -----------------------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data" / "exporters.yaml"


@dataclass(frozen=True, slots=True)
class Signal:
    """A thing that is watched: of a link's end, a session or a part of a switch."""

    name: str
    record: str  # the series it is recorded under
    key: str = "interface"  # label that tells the things of one switch apart
    over: str = ""  # "rate" or "increase" over five minutes, of a counter; "" of a gauge
    many: str = "max"  # how several series of one thing are made one: lanes, queues, address families


SIGNALS: Mapping[str, Signal] = {
    signal.name: signal
    for signal in (
        Signal("link_up", "fabric:link_up"),
        Signal("link_speed_bits", "fabric:link_speed_bits"),
        Signal("in_bits", "fabric:link_in_bits:rate5m", over="rate", many="sum"),
        Signal("out_bits", "fabric:link_out_bits:rate5m", over="rate", many="sum"),
        Signal("errors", "fabric:link_errors:rate5m", over="rate", many="sum"),
        Signal("fec_uncorrectable", "fabric:link_fec_uncorrectable:rate5m", over="rate", many="sum"),
        Signal("fec_symbol_errors", "fabric:link_fec_symbol_errors:rate5m", over="rate", many="sum"),
        Signal("pfc_rx", "fabric:link_pfc_rx:rate5m", over="rate", many="sum"),
        Signal("pfc_watchdog", "fabric:pfc_watchdog:increase5m", over="increase", many="sum"),
        Signal("lossless_packets", "fabric:lossless_packets:rate5m", over="rate", many="sum"),
        Signal("lossless_drops", "fabric:lossless_drops:increase5m", over="increase", many="sum"),
        Signal("queue_drops", "fabric:queue_drops:rate5m", over="rate", many="sum"),
        Signal("ecn_marked", "fabric:ecn_marked:rate5m", over="rate", many="sum"),
        Signal("headroom_bytes", "fabric:headroom_bytes"),
        Signal("optic_rx_dbm", "fabric:optic_rx_dbm", many="min"),
        Signal("optic_rx_low_dbm", "fabric:optic_rx_low_dbm"),
        Signal("optic_celsius", "fabric:optic_celsius"),
        Signal("optic_high_celsius", "fabric:optic_high_celsius", many="min"),
        Signal("bgp_up", "fabric:bgp_session_up", key="bgp_peer"),
        Signal("fan_ok", "fabric:fan_ok", key="part", many="min"),
        Signal("psu_ok", "fabric:psu_ok", key="part", many="min"),
        Signal("temperature_ok", "fabric:temperature_ok", key="part", many="min"),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one collector calls one signal; data/exporters.yaml says what the fields mean."""

    metric: str
    where: Mapping[str, str] = field(default_factory=dict)
    unless: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)
    equals: int | None = None
    scale: int = 1
    label: str = ""
    pattern: str = ""
    extra: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """A collector. `device` is the label that names the switch: the target's own, unless one collector serves many."""

    name: str
    title: str
    ports: tuple[int, ...]
    source: str
    metrics: Mapping[str, Reading]
    job: str
    interface: str = "interface"
    device: str = "device"
    pattern: str = "(.+)"  # what of the interface's label is its name …
    replacement: str = "$1"  # … and how the plan spells it
    collector: bool = False  # scraped once, not once a switch
    up: Reading = Reading(metric="up")

    def expression(self, signal: Signal, site: str, fabric: str, priority: int) -> str:
        """The signal of every switch of this collector, with the labels site, device and the signal's key."""
        reading = self.metrics[signal.name]
        value = self._value(reading, signal, self._where(site, fabric), priority)
        label, pattern, replacement = self.naming(reading, signal, priority)
        if (label, pattern, replacement) != (signal.key, "(.+)", "$1"):
            value = replaced(value, signal.key, label, pattern, replacement)
        if self.device != "device":
            value = replaced(value, "device", self.device)
        return f"{signal.many} by (site, device, {signal.key}) ({value})"

    def reachable(self, site: str, fabric: str) -> str:
        """1 for every switch that answers, 0 for those that do not, with the labels site and device."""
        where = self._where(site, fabric) | ({"job": self.job} if self.up.metric == "up" else {})
        value = f"{self.up.metric}{{{selector(where)}}}"
        if self.up.label:
            value = replaced(value, "device", self.up.label)
        return f"max by (site, device) ({value})"

    def _where(self, site: str, fabric: str) -> dict[str, str]:
        """A collector of many fabrics cannot tell them apart; the join with the plan does."""
        return {"site": site} if self.collector else {"site": site, "fabric": fabric}

    def naming(self, reading: Reading, signal: Signal, priority: int) -> tuple[str, str, str]:
        """Label that holds the signal's key, what of it is the name, and how the plan spells it."""
        if signal.key != "interface":
            return reading.label, "(.+)", "$1"
        pattern = reading.pattern.format(priority=priority) if reading.pattern else self.pattern
        return reading.label or self.interface, pattern, self.replacement

    def _value(self, reading: Reading, signal: Signal, scope: Mapping[str, str], priority: int) -> str:
        where, unless = filled(reading.where, priority), filled(reading.unless, priority)
        name = reading.metric.format(priority=priority)
        series = f"{name}{{{selector({**scope, **where}, unless)}}}"
        if reading.state:
            return f"({name}{{{selector({**scope, **where, **reading.state})}}} or 0 * {series})"
        if reading.equals is not None:
            return f"({series} == bool {reading.equals})"
        value = f"{signal.over}({series}[5m])" if signal.over else series
        return f"{value} * {reading.scale}" if reading.scale != 1 else value


def filled(pairs: Mapping[str, str], priority: int) -> dict[str, str]:
    """Label values with the lossless priority put in."""
    return {name: value.format(priority=priority) for name, value in pairs.items()}


@cache
def exporters() -> dict[str, Exporter]:
    """Every collector by name."""
    return {name: _exporter(name, entry) for name, entry in _data()["exporters"].items()}


def exporters_of(nos: str) -> tuple[Exporter, ...]:
    """The collectors that watch a switch with this network OS; SNMP where nothing better is known."""
    known = installed(nos)
    return tuple(exporters()[name] for name in (known.exporters if known is not None else ()) or ("snmp",))


def _exporter(name: str, entry: Mapping[str, Any]) -> Exporter:
    known = {"job": name} | {key: value for key, value in entry.items() if key not in ("metrics", "up", "ports")}
    readings = {signal: Reading(**reading) for signal, reading in entry["metrics"].items()}
    up = Reading(**entry.get("up", {"metric": "up"}))
    return Exporter(name=name, metrics=readings, up=up, ports=tuple(entry["ports"]), **known)


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.read(DATA)
    return data
