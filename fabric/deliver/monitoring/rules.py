"""Recording and alerting rules: what collectors report, joined with the plan, and which alert explains which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from fabric.base.formats import yaml
from fabric.deliver.monitoring.exporters import SIGNALS, Signal, replaced
from fabric.deliver.monitoring.limits import PAUSE_BITS
from fabric.deliver.monitoring.watch import LINK, SESSION, SWITCH, Watch

Rule = dict[str, Any]

LINK_LABELS = "fabric, role, peer_device, peer_role, peer_interface, kind, pod, plane, rail, view, port_class"
SESSION_LABELS = "fabric, role, peer_device, peer_role, session, interface, view"
SWITCH_LABELS = "fabric, role, pod, plane, rail, rack"
_JOINS = {"interface": (LINK, LINK_LABELS), "bgp_peer": (SESSION, SESSION_LABELS), "part": (SWITCH, SWITCH_LABELS)}
_SWITCH = "site, fabric, device"


def groups(watch: Watch, interval: str) -> list[dict[str, Any]]:
    """Groups run beside each other, rules in one of them after each other: what others build on comes first."""
    name = f"{watch.site}/{watch.fabric.name}"
    made = {"plan": _limits(watch), "switches": _switches(watch), "state": _state(watch), "counters": _counters(watch)}
    rows = [(part, list(rules)) for part, rules in made.items()]
    return [{"name": f"{name}/{part}", "interval": interval, "rules": rules} for part, rules in rows if rules]


def _limits(watch: Watch) -> Iterator[Rule]:
    """Numbers of the plan, each a series of its own."""
    for port_class in watch.port_classes.values():
        rows: list[tuple[str, float | None]] = [
            ("fabric:port_class_speed_bits:planned", port_class.speed_bits),
            ("fabric:port_class_errors:limit", port_class.errors_per_s),
            ("fabric:port_class_symbol_errors:limit", port_class.symbol_errors_per_s),
            ("fabric:port_class_queue_drops:limit", port_class.drops_per_s),
        ]
        if port_class.lossless is not None:
            rows.extend(
                (
                    ("fabric:port_class_headroom_bytes:planned", port_class.lossless.xoff_bytes),
                    ("fabric:port_class_ecn_marked:limit", port_class.lossless.marking.pmax_percent / 100),
                )
            )
        yield from (
            _constant(watch, record, value, "port_class", port_class.name) for record, value in rows if value is not None
        )
    for role, share in watch.sessions_down.items():
        yield _constant(watch, "fabric:bgp_sessions_down:limit", share, "role", role)
    for kind, ratio in watch.imbalance.items():
        yield _constant(watch, "fabric:uplink_imbalance:limit", ratio, "kind", kind)


def _constant(watch: Watch, record: str, value: float, label: str, name: str) -> Rule:
    labels = {"site": watch.site, "fabric": watch.fabric.name, label: name}
    return {"record": record, "expr": f"vector({value:.12g})", "labels": labels}


def _switches(watch: Watch) -> Iterator[Rule]:
    """Who answers."""
    parts = [exporter.reachable(watch.site, watch.fabric.name) for exporter in watch.exporters]
    either = parts[0] if len(parts) == 1 else "max by (site, device) (\n" + _either(parts) + "\n)"
    yield {"record": "fabric:switch_up", "expr": _joined(watch, either, "site, device", SWITCH, SWITCH_LABELS)}


def _state(watch: Watch) -> Iterator[Rule]:
    """Links and sessions, and what follows from them: who is down."""
    for name in ("link_up", "bgp_up"):
        if name in watch.signals:
            yield _recorded(watch, SIGNALS[name])
    if "link_up" in watch.signals:
        yield from _down(watch)
    else:
        alone = f"fabric:switch_up{{{watch.scope}}} == 0"
        yield {"record": "fabric:switch_down", "expr": _both_ends(f"({alone}) + 1")}


def _down(watch: Watch) -> Iterator[Rule]:
    """A switch is down if no neighbor reports a link to it, or if it has no series at all; a server, if no leaf does."""
    scope = watch.scope
    seen = replaced(f'fabric:link_up{{{scope},peer_role=~"leaf|spine|core"}}', "device", "peer_device")
    yield {"record": "fabric:switch_seen_up", "expr": f"max by ({_SWITCH}) (\n  {seen}\n)"}
    dark = (
        f"(fabric:switch_seen_up{{{scope}}} == 0)\n"
        f"  or (max by ({_SWITCH}) (fabric:switch_up{{{scope}}} == 0) unless on ({_SWITCH}) fabric:switch_seen_up{{{scope}}})"
    )
    info = f"* on ({_SWITCH}) group_left (role, pod, plane, rail, rack) {SWITCH}{{{scope}}}"
    yield {"record": "fabric:switch_down", "expr": _both_ends(f"((\n  {dark}\n) + 1) {info}")}
    servers = f'max by (site, fabric, peer_device) (fabric:link_up{{{scope},kind="server-leaf"}}) == 0'
    yield {"record": "fabric:server_down", "expr": replaced(f"({servers}) + 1", "device", "peer_device")}


def _both_ends(expr: str) -> str:
    """The device in `peer_device` as well: series of its neighbors have its name there, so inhibition matches both."""
    return replaced(expr, "peer_device", "device")


def _counters(watch: Watch) -> Iterator[Rule]:
    """Everything else that collectors report, and ratios of it."""
    yield from (
        _recorded(watch, signal)
        for signal in SIGNALS.values()
        if signal.name in watch.signals and signal.name not in ("link_up", "bgp_up")
    )
    scope, speed = watch.scope, "fabric:port_class_speed_bits:planned"
    per_speed = f"/ on (site, fabric, port_class) group_left () {speed}{{{scope}}}"
    if "out_bits" in watch.signals:
        out = f"fabric:link_out_bits:rate5m{{{scope}}}"
        yield {"record": "fabric:link_utilisation:ratio5m", "expr": f"{out}\n  {per_speed}"}
    if watch.imbalance:
        kinds = "|".join(sorted(watch.imbalance))
        up = f"fabric:link_up{{{scope}}} == 1"
        mine = f'fabric:link_utilisation:ratio5m{{{scope},view="primary",kind=~"{kinds}"}}'
        yield {"record": "fabric:uplink_utilisation:ratio5m", "expr": f"{mine}\n  and on ({_SWITCH}, interface) ({up})"}
    if "pfc_rx" in watch.signals:
        frames = f"fabric:link_pfc_rx:rate5m{{{scope}}} * {PAUSE_BITS}"
        yield {"record": "fabric:link_paused:ratio5m", "expr": f"clamp_max(\n  {frames}\n    {per_speed},\n  1\n)"}
    if {"ecn_marked", "lossless_packets"} <= watch.signals:
        packets = f"(fabric:lossless_packets:rate5m{{{scope}}} > 0)"
        yield {"record": "fabric:ecn_marked:ratio5m", "expr": f"fabric:ecn_marked:rate5m{{{scope}}}\n  / {packets}"}


def _recorded(watch: Watch, signal: Signal) -> Rule:
    able = [exporter for exporter in watch.exporters if signal.name in exporter.metrics]
    parts = [exporter.expression(signal, watch.site, watch.fabric.name, watch.priority) for exporter in able]
    info, labels = _JOINS[signal.key]
    on = "site, device" if signal.key == "part" else f"site, device, {signal.key}"
    return {"record": signal.record, "expr": _joined(watch, _either(parts), on, info, labels)}


def _either(parts: list[str]) -> str:
    return "\n  or\n".join(parts)


def _joined(watch: Watch, expr: str, on: str, info: str, labels: str) -> str:
    """Only what the plan has, with the plan's labels."""
    return f"(\n{expr}\n)\n  * on ({on}) group_left ({labels}) {info}{{{watch.scope}}}"


# --- alerts ---------------------------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data" / "alerts.yaml"

_OF_A_SWITCH = ("site", "fabric", "device")
_PORT = (*_OF_A_SWITCH, "interface")
_FAR = ("site", "fabric", "peer_device")
_OF_A_LINK = ("FabricLinkDown", "ServerLinkDown", "LinkFlapping", "LinkErrors", "FecUncorrectable", "FecNearLimit")
_OF_A_NEIGHBOR = (*_OF_A_LINK, "OpticRxPowerLow", "PfcStorm", "PfcReceivedHigh", "BgpSessionDown", "BgpSessionMissing")
_AFTER_A_LINK = ("BgpSessionDown", "LinkFlapping", "LinkErrors", "FecUncorrectable", "FecNearLimit", "OpticRxPowerLow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert as data/alerts.yaml has it."""

    name: str
    severity: str
    lasts: str
    needs: frozenset[str]
    expr: str
    summary: str
    runbook: str
    limit: float | None = None
    why: str = ""  # the limit is what it is

    def rule(self, watch: Watch) -> dict[str, Any]:
        expr = Template(self.expr).substitute(scope=watch.scope, limit="" if self.limit is None else f"{self.limit:g}")
        return {
            "alert": self.name,
            "expr": expr,
            "for": self.lasts,
            "labels": {"severity": self.severity},
            "annotations": {"summary": self.summary, "runbook": self.runbook},
        }


@cache
def alerts() -> Mapping[str, Alert]:
    """Every alert by name, in the order of the file."""
    data: dict[str, dict[str, Any]] = yaml.read(DATA)
    found = {}
    for name, entry in data.items():
        rest = {key: value for key, value in entry.items() if key not in ("for", "needs")}
        found[name] = Alert(name=name, lasts=entry["for"], needs=frozenset(entry["needs"]), **rest)
    return found


def alerts_of(watch: Watch) -> list[Alert]:
    """The alerts that can fire in a fabric: its collectors report what they need."""
    missing = set() if watch.imbalance else {"UplinkImbalance"}
    return [alert for alert in alerts().values() if alert.needs <= watch.signals and alert.name not in missing]


def group(watch: Watch, interval: str) -> dict[str, Any]:
    name = f"{watch.site}/{watch.fabric.name}/alerts"
    return {"name": name, "interval": interval, "rules": [alert.rule(watch) for alert in alerts_of(watch)]}


def inhibit_rules() -> list[dict[str, Any]]:
    """What an alert explains, by labels alone, so these rules are the same for every fabric and every size of it.

    An alert of a neighbor names the failed device in `peer_device`; SwitchDown has its own name there too.
    """
    everything = "|".join(name for name in alerts() if name not in ("ManagementNetworkDown", "SwitchDown"))
    return [
        _held(("ManagementNetworkDown",), ("SwitchDown", "SwitchUnreachable"), ("site", "fabric")),
        _held(("SwitchDown",), everything.split("|"), _OF_A_SWITCH),
        _held(("SwitchDown", "ServerDown"), _OF_A_NEIGHBOR, _FAR),
        _held(("BgpSessionsDown",), ("BgpSessionDown", "BgpSessionMissing"), _OF_A_SWITCH),
        _held(("FabricLinkDown", "ServerLinkDown"), _AFTER_A_LINK, _PORT),
        _held(("FecUncorrectable",), ("FecNearLimit", "LinkErrors"), _PORT),
        _held(("PfcWatchdogFired", "PfcStorm"), ("PfcReceivedHigh", "EcnMarkedHigh", "HeadroomNearlyUsed"), _PORT),
        _held(("LosslessDrops",), ("HeadroomNearlyUsed", "QueueDrops"), _PORT),
    ]


def _held(source: tuple[str, ...], target: tuple[str, ...] | list[str], equal: tuple[str, ...]) -> dict[str, Any]:
    return {
        "source_matchers": [f'alertname=~"{"|".join(source)}"'],
        "target_matchers": [f'alertname=~"{"|".join(target)}"'],
        "equal": list(equal),
    }
