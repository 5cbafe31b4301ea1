"""The lossless class of a fabric: `qos`, and the cable lengths that headroom was computed for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

from fabric.configs.generate import Renderer
from fabric.deliver.brownfield.sections.probes import Document
from fabric.deliver.brownfield.sections.running import Running, most_common
from fabric.deliver.brownfield.sections.tenant_facts import TenantSurvey
from fabric.model.facts import PortQos
from fabric.model.plan import CORE, LEAF, SPINE
from fabric.model.settings.services import ECN_RULES, Qos, StorageClass
from fabric.model.settings.site import PURPOSES
from fabric.nos.target import target

MIN_MTU = 4096 + 60 + 50  # of a fabric with RDMA packets of the default size, in VXLAN or not
USUAL = Qos()
LENGTHS_M = (1, 2, 3, 5, 7, 10, 20, 30, 40, 50, 100, 300, 500, 1000)  # that are tried
RDMA_MTUS = (1024, 2048, 4096)
MOST_TIMES = 12  # that are tried


def enabled(run: Running) -> Document:
    """`qos.enabled` and `qos.pfc_watchdog`, without which other switches may be refused."""
    stated = run.document["fabrics"].get(run.name, {})
    usual = PURPOSES[stated.get("purpose", "compute")].lossless and stated.get("transport") != "ethernet"
    if TenantSurvey(run).lossless:
        found: Document = {} if usual else {"enabled": True}
        if run.chosen(("qos", "pfc_watchdog")) is False:
            found["pfc_watchdog"] = False
        return found
    return {"enabled": False} if usual and run.configured and _says_off(run) else {}


def _says_off(run: Running) -> bool:
    """Whether the switches would have PFC if the intent asked for it, or could not."""
    able = any(target(its.nos).capabilities.lossless for its in run.switches)
    mtus = [one.mtu.value for its in run.switches if its.facts for one in its.facts.interfaces.values() if one.mtu]
    return able or max(mtus, default=MIN_MTU) < MIN_MTU


# --- Classes --------------------------------------------------------------------------------------------------


def _ports(run: Running) -> list[tuple[str, PortQos]]:
    """Cabled ports with PFC, each with the role of its switch."""
    ports = []
    for _, name, port_name in _ends(run):
        switch = run.by_name.get(name)
        port = switch.facts.interfaces.get(port_name) if switch is not None and switch.facts is not None else None
        if switch is not None and port is not None and port.qos is not None and port.qos.pfc:
            ports.append((switch.role, port.qos))
    return ports


def classes(run: Running) -> Document:
    """Priorities, DSCPs and shares as most ports have them; {} without a lossless class."""
    ports = [qos for _, qos in _ports(run)]
    paused = Counter(one.value for qos in ports for one in qos.pfc)
    if not paused:
        return {}
    first = ports[0]
    by_use = sorted(paused, key=lambda priority: (priority != USUAL.lossless_priority, -paused[priority], priority))
    priority, others = by_use[0], by_use[1:]
    weights = {queue: share.value for queue, share in first.weights.items()}
    found: Document = {"lossless_priority": priority}
    found["lossless_dscp"] = _dscp(first, priority, USUAL.lossless_dscp)
    notices = sorted({one.value for one in first.strict} - set(paused), key=lambda it: (it != USUAL.cnp_priority, -it))
    if notices:
        found["cnp_priority"], found["cnp_dscp"] = notices[0], _dscp(first, notices[0], USUAL.cnp_dscp)
    rest = [queue for queue, share in weights.items() if queue not in (0, priority, *notices) and share]
    second = others[0] if others else rest[0] if rest else None
    total = sum(weights.get(queue, 0) for queue in (0, priority, *([second] if second is not None else [])))
    if total and weights.get(priority):
        found["lossless_percent"] = min(90, max(10, round(100 * weights[priority] / total)))
    found = {key: value for key, value in found.items() if value is not None and value != getattr(USUAL, key)}
    if second is not None:
        found["storage"] = _storage(first, second, round(100 * weights.get(second, 0) / total) if total else 0, bool(others))
    return found


def _storage(port: PortQos, priority: int, percent: int, lossless: bool) -> Document:
    usual = StorageClass()
    found = {"priority": priority, "dscp": _dscp(port, priority, usual.dscp), "percent": percent, "lossless": lossless}
    return {key: value for key, value in found.items() if value is not None and value != getattr(usual, key)}


def _dscp(port: PortQos, priority: int, usual: int) -> int | None:
    """The DSCP of a priority; of several the usual one."""
    found = sorted(dscp for dscp, its in port.priorities.items() if its.value == priority and dscp)
    return usual if usual in found else next(iter(found), None)


# --- What is compared with the plan ---------------------------------------------------------------------------


def trials(run: Running, numbers: Sequence[int]) -> Iterator[list[Document]]:
    """Values of keys that no statement has alone: each list are alternatives, to be laid over the fabric.

    Args:
        numbers: in statements of the switches that the plan does not render.
    """
    seen: Counter[tuple[int | None, ...]] = Counter()
    for _, qos in _ports(run):
        for ecn in (qos.ecn[one.value] for one in qos.pfc if one.value in qos.ecn):
            values = (ecn.kmin_bytes, ecn.kmax_bytes, ecn.pmax_percent)
            seen[tuple(one.value if one is not None else None for one in values)] += 1
    if not seen:
        return
    shares = [qos.weights[one.value].value for _, qos in _ports(run)[:1] for one in qos.pfc[:1] if one.value in qos.weights]
    yield [
        {"qos": {"lossless_percent": share + step}} for share in shares for step in range(-2, 6) if 10 <= share + step <= 90
    ]
    rules: list[Document] = [{}, *({"rule": name} for name in ECN_RULES if name != "linear")]
    pmaxes = dict.fromkeys(pmax for (_, _, pmax), _ in seen.most_common(2))
    of_fill = [(*both, pmax) for both in _of_fill(run) for pmax in pmaxes]
    stated = [values for one in (*of_fill, *(one for one, _ in seen.most_common(3))) for values in _thresholds(one)]
    yield [{"qos": {"ecn": values}} for values in (*rules[1:], *stated)]
    yield [{"qos": {"ecn": rule | values}} for rule in rules[1:] for values in stated]
    yield [{"qos": {"rdma_mtu": size}} for size in RDMA_MTUS[:2]]
    yield [{"qos": {"traffic": "dynamic"}}]
    yield [{"qos": {"buffer_model": model}} for model in ("static", "dynamic")]
    known = (time.value for its in run.switches if its.facts and (time := its.facts.watchdog_ms) is not None)
    times = sorted({time // scale for time in known for scale in (1, 2, 3, 4)} | set(numbers))[:MOST_TIMES]
    waits = [{"qos": {"watchdog_ms": time}} for time in times if 100 <= time <= 5000 and time != USUAL.watchdog_ms]
    yield [*waits, {"qos": {"pfc_watchdog": False}}]
    for key in ("cnp_priority", "lossless_priority"):
        yield [{"qos": {key: value}} for value in (6, 7, 5, 4, 3, 2, 1)]


def _of_fill(run: Running) -> Iterator[tuple[int | None, int | None]]:
    """Thresholds in bytes that give the percentages of fill of all ports: the roundest, and those in the middle."""
    views = Renderer(run.plan, Path()).views[run.name] if run.plan is not None else None
    spans = dict.fromkeys(("kmin_percent", "kmax_percent"), (1, 10**12))
    planned = {its.name: its for its in run.fabric.switches} if run.fabric is not None else {}
    for switch in run.samples if views is not None else ():
        qos = views.of(planned[switch.name]).qos if views is not None and switch.name in planned else None
        full = qos.buffer.trigger_bytes if qos is not None else None
        ports = switch.facts.interfaces.values() if switch.facts is not None and full else ()
        for ecn in (ecn for port in ports if port.qos is not None for ecn in port.qos.ecn.values()):
            for key, (low, high) in spans.items():
                if full and (at := getattr(ecn, key)) is not None:
                    least, most = ((2 * at.value + half) * full // 200 for half in (-1, 1))
                    spans[key] = max(low, least + 1), min(high, most - 1)
    found = [[_roundest(low, high), (low + high) // 2] if low <= high < 10**12 else [None] for low, high in spans.values()]
    yield from ((kmin, kmax) for kmin, kmax in product(found[0], found[1]) if kmin or kmax)


def _roundest(low: int, high: int) -> int:
    """The number between two with the fewest digits before its zeros."""
    unit = next(10**digits for digits in range(len(str(high)), -1, -1) if high // 10**digits * 10**digits >= low)
    return high // unit * unit or high


def _thresholds(one: tuple[int | None, ...]) -> Iterator[Document]:
    """Stated thresholds: all or some of those of a port."""
    known = {key: value for key, value in zip(("kmin_bytes", "kmax_bytes", "pmax_percent"), one, strict=True) if value}
    for count in range(1, len(known) + 1):
        yield from (dict(chosen) for chosen in combinations(known.items(), count))


def lengths(run: Running) -> Mapping[str, int]:
    """Metres of cable by kind of link, where ports state them."""
    found: dict[str, list[int]] = {}
    for kind, name, port in _ends(run):
        switch = run.by_name.get(name)
        one = switch.facts.interfaces.get(port) if switch is not None and switch.facts is not None else None
        if one is not None and one.qos is not None and one.qos.cable_length_m is not None:
            found.setdefault(kind, []).append(one.qos.cable_length_m.value)
    return {kind: metres for kind, values in found.items() if (metres := most_common(values))}


def _ends(run: Running) -> Iterator[tuple[str, str, str]]:
    """(kind of link, switch, port) of both ends of every cable."""
    hosts, roles = run.survey.hosts, {its.name: its.role for its in run.switches}
    for cable in run.survey.cables:
        if cable.b not in roles:
            continue
        host = hosts.get(cable.a)
        pair = (roles.get(cable.a, ""), roles[cable.b])
        if cable.a not in roles:
            kind = "server-leaf" if host is not None and not host.attached else "attachments"
        else:
            kind = {(LEAF, LEAF): "leaf-leaf", (LEAF, SPINE): "leaf-spine", (SPINE, CORE): "spine-core"}.get(pair, "")
        if kind:
            yield kind, cable.b, cable.b_port
            if cable.a in roles:
                yield kind, cable.a, cable.a_port


def lengths_tried(run: Running) -> Iterator[list[Document]]:
    """Cable lengths that headroom may be computed for."""
    stated = lengths(run)
    kinds = dict.fromkeys(kind for kind, *_ in _ends(run))
    for kind in kinds:
        known: Sequence[int] = [stated[kind]] if kind in stated else ()
        yield [{"topology": {"cable_length_m": {kind: metres}}} for metres in known]
    for kind in kinds:
        if kind not in stated:
            yield [{"topology": {"cable_length_m": {kind: metres}}} for metres in LENGTHS_M]
