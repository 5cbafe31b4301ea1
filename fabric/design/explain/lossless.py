"""Arithmetic of PFC headroom, of its part of the buffer and of ECN thresholds, term by term."""

from __future__ import annotations

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.explain.counts import Case
from fabric.design.planner import lossless
from fabric.design.qos.marking import RULES
from fabric.hardware.headroom import explain as terms
from fabric.model.plan import Buffer, Length, Lossless, RoleLossless, source, words

_NONE = "no lossless class: `qos: {enabled: true}` enables one; compute and storage fabrics have one by default"


def headroom(case: Case) -> list[str]:
    """The headroom of every kind of port of every kind of switch, and the sum of each switch."""
    lossless_class = lossless.lossless(case.spec, case.sizing, Report(), case.attached)
    if lossless_class is None:
        return [_NONE]
    out = [f"cable lengths: {words(case.spec.lengths)}"]
    for (role, group), entry in lossless_class.roles.items():
        tier = getattr(case.spec, role)
        out.append(f"{role}{' of ' + group if group else ''} ({tier.switch}, {tier.model.asic or 'chip unknown'})")
        for place, count in sorted(entry.counts.items()):
            out.append(f"  {plural(count, 'port')} of {place[0]}G, cables of {place[1]} m:")
            out += [f"    {line}" for line in terms(entry.headroom[place])]
        out += [f"  {line}" for line in _buffer(entry.qos.buffer, entry)]
    return out


def ecn(case: Case) -> list[str]:
    """ECN thresholds of every kind of port, and the XOFF threshold."""
    lossless_class = lossless.lossless(case.spec, case.sizing, Report(), case.attached)
    if lossless_class is None:
        return [_NONE]
    ecn_settings = case.spec.qos.ecn
    out = [f"rule '{ecn_settings.rule}': {_rule(ecn_settings.rule)}", f"  source: {RULES[ecn_settings.rule].source}"]
    for (role, group), entry in lossless_class.roles.items():
        out.append(f"{role}{' of ' + group if group else ''} ({getattr(case.spec, role).switch})")
        out += [f"  {line}" for line in _trigger(entry.qos.buffer, sum(entry.counts.values()))]
        out += [f"  {place[0]}G at {place[1]} m: {marking(port)}" for place, port in sorted(entry.ports.items())]
    return out


def port(entry: RoleLossless, speed_gbps: int, length: Length) -> list[str]:
    """Headroom and ECN thresholds of one port."""
    place = (speed_gbps, length.metres)
    port_lossless = entry.ports.get(place)
    if port_lossless is None:
        return []
    return [
        f"lossless class: PFC priority {entry.qos.priority}, DSCP {entry.qos.dscp}; "
        f"a cable of {place[1]} m ({source(length)})",
        *(f"  {line}" for line in terms(entry.headroom[place])),
        f"  ECN: {marking(port_lossless)}",
    ]


def marking(port: Lossless) -> str:
    found = port.marking
    by = "stated in the intent" if found.rule == "stated" else f"rule '{found.rule}'"
    return f"Kmin {found.kmin_bytes:,}, Kmax {found.kmax_bytes:,} bytes, Pmax {found.pmax_percent} %, {by}"


def _rule(name: str) -> str:
    rule = RULES[name]
    unit = "bytes per Gb/s" if rule.per_gbps else "bytes"
    kept = "; Kmin at most half of the worst-case XOFF threshold, Kmax at most all of it" if rule.per_gbps else ""
    return f"Kmin {rule.kmin_bytes:,}, Kmax {rule.kmax_bytes:,} {unit}, Pmax {rule.pmax_percent} %{kept}"


def _buffer(buffer: Buffer, entry: RoleLossless) -> list[str]:
    parts = " + ".join(f"{count} x {entry.headroom[place].size_bytes:,}" for place, count in sorted(entry.counts.items()))
    pool = f" + {buffer.headroom_pool_bytes:,} of shared headroom, every port at once" if buffer.headroom_pool_bytes else ""
    out = [f"reserved = {parts}{pool} = {buffer.reserved_bytes:,} bytes"]
    if buffer.total_bytes is None or buffer.shared_bytes is None:
        return [*out, "buffer size of the model unknown: fit not checked"]
    return [*out, f"shared = {buffer.total_bytes:,} of buffer - {buffer.reserved_bytes:,} = {buffer.shared_bytes:,} bytes"]


def _trigger(buffer: Buffer, count: int) -> list[str]:
    if buffer.trigger_bytes is None or buffer.shared_bytes is None:
        return ["XOFF threshold: unknown, because the buffer size is unknown"]
    alpha = 2.0**buffer.alpha_exponent
    return [
        f"PFC: with all n = {count} lossless ports congested a priority group sends PAUSE from "
        f"alpha x shared / (1 + n x alpha)",
        f"  = {alpha:g} x {buffer.shared_bytes:,} / (1 + {count} x {alpha:g}) = {buffer.trigger_bytes:,} bytes; "
        "alpha of SONiC; other network OSes may use another",
    ]


TOPICS = {
    "headroom": ("PFC headroom of every kind of port, term by term, and its part of the buffer", headroom),
    "ecn": ("ECN thresholds, and the buffer fill at which PFC sends PAUSE", ecn),
}
