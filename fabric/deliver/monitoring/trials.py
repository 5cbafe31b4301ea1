"""promtool's unit tests of the rules: a healthy fabric is silent, and every fault fires its own alerts and no others.

In each test all is well for a while, or just within a threshold; then comes the fault, or a step beyond it. So a rule
whose number moves by more than a few percent fails its test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabric.deliver.monitoring.limits import PAUSE_BITS
from fabric.deliver.monitoring.rules import alerts, alerts_of
from fabric.deliver.monitoring.sample import ABSENT, BETWEEN_SWITCHES, HALF, SampleElements, Thing, Values
from fabric.deliver.monitoring.watch import PRIMARY, End

WITHIN, BEYOND = 0.97, 1.03  # of a threshold
_FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})'
_WHERE = 'count by (device, peer_device) (ALERTS{alertstate="firing",alertname="SwitchDown"})'


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A fault, and how often each alert fires after it. `silent` switches have no series at all from then on."""

    name: str
    signals: frozenset[str]
    after: Mapping[str, int]
    values: Values = field(default_factory=dict)
    texts: Mapping[Thing, str] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()  # and answer no collector
    unknown: frozenset[str] = frozenset()  # to the collectors, from the start
    missing: frozenset[Thing] = frozenset()
    down: str = ""  # the switch that SwitchDown must name
    unplanned: bool = False  # the plan's own series are not scraped
    before: Mapping[str, int] = field(default_factory=dict)


def tests(sample: SampleElements, rule_files: list[str], order: list[str]) -> dict[str, Any]:
    """The document that `promtool test rules` takes."""
    return {
        "rule_files": rule_files,
        "evaluation_interval": "1m",
        "group_eval_order": order,
        "tests": [_test(sample, trial) for trial in trials(sample)],
    }


def _test(sample: SampleElements, trial: Trial) -> dict[str, Any]:
    series: list[dict[str, str]] = [] if trial.unplanned else sample.plan_series()
    for device in sample.switches:
        if device.name not in trial.unknown:
            series += sample.reach_series(device, (1, 0 if device.name in trial.silent else 1))
    for thing, usual in sample.things(trial.signals).items():
        if thing in trial.missing or thing[0] in trial.unknown:
            continue
        fault = (usual, ABSENT) if thing[0] in trial.silent else (usual, usual)
        series += sample.thing_series(thing, trial.texts.get(thing, trial.values.get(thing, fault)))
    checks = [_check(_FIRING, HALF, trial.before), _check(_FIRING, 2 * HALF, trial.after)]
    if trial.down:
        labels = f'{{device="{trial.down}", peer_device="{trial.down}"}}'
        checks.append({"expr": _WHERE, "eval_time": f"{2 * HALF}m", "exp_samples": [{"labels": labels, "value": 1}]})
    return {"name": trial.name, "interval": "1m", "input_series": series, "promql_expr_test": checks}


def _check(expr: str, minute: int, firing: Mapping[str, int]) -> dict[str, Any]:
    samples = [{"labels": f'{{alertname="{name}"}}', "value": count} for name, count in sorted(firing.items()) if count]
    return {"expr": expr, "eval_time": f"{minute}m", "exp_samples": samples}


def trials(sample: SampleElements) -> Iterator[Trial]:
    """Every fault that a fabric's rules can see."""
    signals, watch = sample.watch.signals, sample.watch
    able = {alert.name for alert in alerts_of(watch)}
    yield Trial(name="a healthy fabric fires nothing", signals=signals, after={})
    blind = {"FabricFactsMissing": 1}
    yield Trial(name="the plan is not scraped", signals=frozenset({"link_up"}), after=blind, before=blind, unplanned=True)
    yield from _switch_trials(sample)
    if "link_up" in signals:
        yield from _link_trials(sample)
    if "bgp_up" in signals and len(sample.sessions) > 1:
        yield from _session_trials(sample)
    crossings = [*_crossings(sample), *_value_crossings(sample), *_part_crossings(sample)]
    crossings = [crossing for crossing in crossings if crossing.name in able]
    alone = "PfcReceivedHigh"  # shares its signal with PfcStorm
    for name, mine in (
        (alone, [crossing for crossing in crossings if crossing.name == alone]),
        ("every threshold", [crossing for crossing in crossings if crossing.name != alone]),
    ):
        if mine:
            yield _crossed(name, mine)
    if "UplinkImbalance" in able:
        yield from _imbalance_trial(sample)


def _switch_trials(sample: SampleElements) -> Iterator[Trial]:
    """An upper switch dies; a lower one loses its management; one was never added; nothing answers at all."""
    basic = frozenset({"link_up", "bgp_up"}) & sample.watch.signals
    dead = sample.switches[min(1, len(sample.switches) - 1)]
    lost = [end for end in sample.ends if end.peer is dead]
    seen: dict[Thing, tuple[float, float]] = {(end.device.name, "link_up", end.interface): (1, 0) for end in lost}
    sessions = [session for session in sample.sessions if session.peer is dead and "bgp_up" in basic]
    seen |= {(session.device.name, "bgp_up", session.bgp_peer): (1, 0) for session in sessions}
    links = len(lost) if "link_up" in basic else 0  # the dead one's own ends say nothing, so every other end speaks
    alone = len(sample.switches) == 1
    after = {"SwitchDown": 1, "FabricLinkDown": links, "BgpSessionDown": len(sessions), "ManagementNetworkDown": int(alone)}
    reported = {thing: pair for thing, pair in seen.items() if thing[1] in basic}
    yield Trial(
        name="an upper switch dies",
        signals=basic,
        after=after,
        values=reported,
        silent=frozenset({dead.name}),
        down=dead.name,
    )
    if lost:
        deaf = lost[0].device
        yield Trial(
            name="a switch does not answer", signals=basic, after={"SwitchUnreachable": 1}, silent=frozenset({deaf.name})
        )
        once = {"SwitchNotMonitored": 1}
        yield Trial(name="a switch was never added", signals=basic, after=once, before=once, unknown=frozenset({deaf.name}))
        all_alerts = {"ManagementNetworkDown": 1, "SwitchDown": len(sample.switches)}
        names = frozenset(device.name for device in sample.switches)
        yield Trial(name="nothing answers", signals=basic, after=all_alerts, silent=names)


def _link_trials(sample: SampleElements) -> Iterator[Trial]:
    """One link fails while its switches have others; it flaps; a server's only link here goes."""
    only = frozenset({"link_up"})
    first = sample.link
    if first is not None and len(sample.switches) > 2:
        both = [end for end in sample.ends if {end.device, end.peer} == {first.device, first.peer}]
        alone = [end for end in both if sum(other.peer is end.peer for other in sample.ends) < 2]
        if not alone:
            values = {(end.device.name, "link_up", end.interface): (1.0, 0.0) for end in both}
            yield Trial(name="FabricLinkDown", signals=only, after={"FabricLinkDown": 1}, values=values)
        if not any(end.device is first.device for end in alone):
            flapping = {(end.device.name, "link_up", end.interface): f"1x{2 * HALF - 11} 0 1 0 1 0 1x6" for end in both}
            yield Trial(name="LinkFlapping", signals=only, after={"LinkFlapping": 1}, texts=flapping)
    server = next((end for end in sample.ends if end.kind == "server-leaf"), None)
    if server is not None:
        values = {(server.device.name, "link_up", server.interface): (1.0, 0.0)}
        yield Trial(name="ServerLinkDown", signals=only, after={"ServerDown": 1, "ServerLinkDown": 1}, values=values)


def _session_trials(sample: SampleElements) -> Iterator[Trial]:
    """A session fails at both ends; one is not configured; a switch loses all of them while its neighbors live."""
    basic = frozenset({"link_up", "bgp_up"}) & sample.watch.signals
    first = sample.sessions[0]
    pair = [x for x in sample.sessions if {x.device, x.peer} == {first.device, first.peer} and x.kind == first.kind]
    one: dict[Thing, tuple[float, float]] = {(x.device.name, "bgp_up", x.bgp_peer): (1, 0) for x in pair}
    yield Trial(name="BgpSessionDown", signals=basic, after=_sessions_fired(sample, one), values=one)
    mine = [x for x in sample.sessions if first.device in (x.device, x.peer)]
    every: dict[Thing, tuple[float, float]] = {(x.device.name, "bgp_up", x.bgp_peer): (1, 0) for x in mine}
    yield Trial(name="BgpSessionsDown", signals=basic, after=_sessions_fired(sample, every), values=every)
    if sum(x.device is first.device for x in sample.sessions) > 1:
        missing = frozenset({(first.device.name, "bgp_up", first.bgp_peer)})
        after = {"BgpSessionMissing": 1}
        yield Trial(name="BgpSessionMissing", signals=basic, after=after, missing=missing, before=after)


def _sessions_fired(sample: SampleElements, lost: Values) -> dict[str, int]:
    """What these lost sessions must fire, counted by hand."""
    down = [x for x in sample.sessions if (x.device.name, "bgp_up", x.bgp_peer) in lost]
    limits, over = sample.watch.sessions_down, 0
    for device in sample.switches:
        planned = sum(x.device is device for x in sample.sessions)
        share = sum(x.device is device for x in down) / max(1, planned)
        over += share > limits[device.role]
    return {"BgpSessionDown": sum(x.view == PRIMARY for x in down), "BgpSessionsDown": over}


Limit = Callable[[SampleElements, End], float]


def _numbers() -> dict[str, tuple[str, Limit]]:
    """Alert → the signal that crosses its threshold, and the threshold in the signal's unit."""

    def of(name: str) -> float:
        return alerts()[name].limit or 0.0

    def port(sample: SampleElements, end: End) -> Any:
        return sample.watch.port_classes[end.port_class]

    return {
        "LinkErrors": ("errors", lambda s, e: float(port(s, e).errors_per_s)),
        "FecNearLimit": ("fec_symbol_errors", lambda s, e: float(port(s, e).symbol_errors_per_s or 0)),
        "FecUncorrectable": ("fec_uncorrectable", lambda s, e: 0.0),
        "PfcStorm": ("pfc_rx", lambda s, e: of("PfcStorm") * float(port(s, e).speed_bits) / PAUSE_BITS),
        "PfcReceivedHigh": ("pfc_rx", lambda s, e: of("PfcReceivedHigh") * float(port(s, e).speed_bits) / PAUSE_BITS),
        "PfcWatchdogFired": ("pfc_watchdog", lambda s, e: 0.0),
        "EcnMarkedHigh": (
            "ecn_marked",
            lambda s, e: s.healthy(e, "lossless_packets") * port(s, e).lossless.marking.pmax_percent / 100,
        ),
        "HeadroomNearlyUsed": ("headroom_bytes", lambda s, e: of("HeadroomNearlyUsed") * port(s, e).lossless.xoff_bytes),
        "LosslessDrops": ("lossless_drops", lambda s, e: 0.0),
        "QueueDrops": ("queue_drops", lambda s, e: float(port(s, e).drops_per_s)),
        "LinkUtilisationHigh": ("out_bits", lambda s, e: of("LinkUtilisationHigh") * float(port(s, e).speed_bits)),
        "OpticTemperatureHigh": ("optic_celsius", lambda s, e: s.healthy(e, "optic_high_celsius")),
    }


@dataclass(frozen=True)
class Crossing:
    """A value that crosses its threshold, and the alerts that fire then; `already` fires on both sides."""

    name: str
    signals: frozenset[str]
    values: Values
    fires: Mapping[str, int]
    already: Mapping[str, int] = field(default_factory=dict)


def _crossed(name: str, crossings: list[Crossing]) -> Trial:
    """Several of them at once: each has a signal of its own, so each must fire its own alert and no other."""
    signals = frozenset(signal for crossing in crossings for signal in crossing.signals)
    values = {thing: pair for crossing in crossings for thing, pair in crossing.values.items()}
    fires = {alert: count for crossing in crossings for alert, count in crossing.fires.items()}
    already = {alert: count for crossing in crossings for alert, count in crossing.already.items()}
    return Trial(name=name, signals=signals, after=fires | already, values=values, before=already)


def _crossings(sample: SampleElements) -> Iterator[Crossing]:
    """A port's counter on both sides of its threshold."""
    for name, (signal, limit) in _numbers().items():
        end = _able_end(sample, name, signal)
        if end is None:
            continue
        edge, thing = limit(sample, end), (end.device.name, signal, end.interface)
        values: dict[Thing, tuple[float, float]] = {thing: (edge * WITHIN, edge * BEYOND) if edge else (0, 1)}
        if name == "LinkUtilisationHigh":  # all ports alike, or uplinks would be out of balance
            alike = [other for other in sample.ends if other.device is end.device and other.port_class == end.port_class]
            values = {(end.device.name, signal, other.interface): values[thing] for other in alike}
        already = {"PfcReceivedHigh": 1} if name == "PfcStorm" else {}
        yield Crossing(name, alerts()[name].needs | {signal}, values, {name: len(values)}, already)


def _value_crossings(sample: SampleElements) -> Iterator[Crossing]:
    """Values that are too low, or not what was planned."""
    low = _able_end(sample, "OpticRxPowerLow", "optic_rx_dbm")
    if low is not None:
        edge, name = sample.healthy(low, "optic_rx_low_dbm"), "OpticRxPowerLow"
        values = {(low.device.name, "optic_rx_dbm", low.interface): (edge * WITHIN, edge * BEYOND)}
        yield Crossing(name, alerts()[name].needs, values, {name: 1})
    slow = _able_end(sample, "LinkSpeedWrong", "link_speed_bits")
    if slow is not None:
        planned, name = sample.healthy(slow, "link_speed_bits"), "LinkSpeedWrong"
        values = {(slow.device.name, "link_speed_bits", slow.interface): (planned, planned / 2)}
        yield Crossing(name, frozenset({"link_speed_bits", "link_up"}), values, {name: 1})


def _part_crossings(sample: SampleElements) -> Iterator[Crossing]:
    for name, signal in (("FanFailed", "fan_ok"), ("PsuFailed", "psu_ok"), ("TemperatureHigh", "temperature_ok")):
        things = list(sample.things(frozenset({signal})))
        if things:
            yield Crossing(name, frozenset({signal}), {things[0]: (1, 0)}, {name: 1})


def _able_end(sample: SampleElements, name: str, signal: str) -> End | None:
    """A port on which an alert can fire: its collector reports what is needed, its class has the threshold."""
    needs = alerts()[name].needs | {signal}
    for end in sample.ends:
        port_class = sample.watch.port_classes[end.port_class]
        reported = {one for exporter in sample.watch.of(end.device) for one in exporter.metrics}
        lossless = port_class.lossless is not None or name not in ("EcnMarkedHigh", "HeadroomNearlyUsed")
        fec = port_class.pam4 is not None or name != "FecNearLimit"
        if needs <= reported and lossless and fec:
            return end
    return None


def _imbalance_trial(sample: SampleElements) -> Iterator[Trial]:
    """One uplink far busier than its neighbors: x of n carry r times the mean."""
    first = sample.link
    mine = [
        end
        for end in sample.ends
        if end.device is sample.switches[0] and end.kind in BETWEEN_SWITCHES and end.view == PRIMARY
    ]
    if first is None or first.kind not in sample.watch.imbalance or len(mine) < 2:
        return
    limit, count = sample.watch.imbalance[first.kind], len(mine)
    if limit * BEYOND >= count:  # so few uplinks cannot differ that much
        return
    busy = sample.watch.port_classes[first.port_class].speed_bits * 0.8
    calm = [busy * (count - ratio) / (ratio * (count - 1)) for ratio in (limit * WITHIN, limit * BEYOND)]
    values = {(end.device.name, "out_bits", end.interface): (calm[0], calm[1]) for end in mine[1:]}
    values[mine[0].device.name, "out_bits", mine[0].interface] = (busy, busy)
    yield Trial(
        name="UplinkImbalance", signals=frozenset({"out_bits", "link_up"}), after={"UplinkImbalance": 1}, values=values
    )
