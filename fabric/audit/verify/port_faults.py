"""Faults of ports, cables, counters and optics: each link once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fabric.audit.cabling.finding import CableFault
from fabric.audit.cabling.planned import canonical
from fabric.audit.checks.finding import Subject
from fabric.audit.checks.planned import planned_ports
from fabric.audit.checks.rows import Key
from fabric.audit.verify.site import End, Fault, PlannedPort, Site, Switch
from fabric.base.grouping import grouped_sets
from fabric.base.text import listed, plural
from fabric.nos.state.records import ERRORS, INTERFACES, LLDP, OPTICS, QUEUES, Count, Counter, Optic, PortState
from fabric.nos.target import lanes, pam4

PORT, SERVER_PORT, SPEED, MTU, FEC, CABLE = "port", "server-port", "speed", "mtu", "fec", "cable"
ADDRESS = "address"
LOSSLESS, STORM, BITS, PACKETS, DISCARDS, PAUSE, LIGHT, MODULE = (
    "lossless-drops",
    "storms",
    "bit-errors",
    "packet-errors",
    "discards",
    "pause",
    "light",
    "module",
)
_WORDS: Mapping[str, str] = {
    Count.FCS: "frames with a wrong checksum",
    Count.UNCORRECTED: "codewords that FEC could not correct",
    Count.IN_ERRORS: "received errors",
    Count.OUT_ERRORS: "sent errors",
    Count.IN_DISCARDS: "received packets dropped",
    Count.OUT_DISCARDS: "packets dropped at the egress",
    Count.ECN_DROPS: "packets dropped by WRED",
    Count.STORMS: "PFC storms",
    Count.QUEUE_DROPS: "packets dropped",
    Count.PFC_RX: "PFC frames received",
    Count.PFC_TX: "PFC frames sent",
}
_KIND_OF: Mapping[str, str] = {
    Count.FCS: BITS,
    Count.UNCORRECTED: BITS,
    Count.IN_ERRORS: PACKETS,
    Count.OUT_ERRORS: PACKETS,
    Count.IN_DISCARDS: DISCARDS,
    Count.OUT_DISCARDS: DISCARDS,
    Count.ECN_DROPS: DISCARDS,
    Count.STORMS: STORM,
}


def port_faults(site: Site) -> Iterator[Fault]:
    """Every fault of every planned port."""
    yield from _links(site)
    reported: set[tuple[str, End]] = set()  # what the far end of a link was found to have as well
    for switch in sorted(site.known(INTERFACES), key=lambda one: not one.leaf):
        yield from _settings(site, switch, reported)
    yield from _cables(site)
    for switch in site.switches.values():
        yield from _counters(switch)
        yield from _optics(switch)


# --- state ----------------------------------------------------------------------------------------------------


def _links(site: Site) -> Iterator[Fault]:
    """Links of which an end is down, at the end that is shut or missing, else at the lower switch."""
    done: set[End] = set()
    for switch in site.known(INTERFACES):
        for key, port in switch.ports.items():
            end = (switch.name, key)
            if end in done or not site.is_down(switch, port):
                continue
            far = site.far(end)
            ends = [end] if far is None or far[0] not in site.switches else [end, far]
            done.update(ends)
            yield _link(site, switch, port, ends)


def _link(site: Site, switch: Switch, port: PlannedPort, ends: list[End]) -> Fault:
    sides = [(site.switches[name], site.switches[name].ports[key]) for name, key in ends if key in site.switches[name].ports]
    blamed = next(((near, at) for near, at in sides if _own_fault(near, at)), (switch, port))
    near, at = blamed
    words = _down_words(near.seen.port(at.name))
    other = next((pair for pair in sides if pair[0] is not near), None)
    if other is not None and other[0].has(INTERFACES):
        words += f"; {other[0].name} {other[1].name} is {_state_word(other[0].seen.port(other[1].name))}"
    shown = f"{at.name} to {at.far_device}" + (f" {at.far_port}" if at.far_port else "")
    kind = PORT if at.port.kind == "fabric" else SERVER_PORT
    return Fault(kind, near.name, f"{shown}: expected up, {words}", INTERFACES)


def _own_fault(switch: Switch, port: PlannedPort) -> bool:
    state = switch.seen.port(port.name)
    return (state is None and INTERFACES in switch.seen.lists) or (state is not None and state.shut)


def _down_words(state: PortState | None) -> str:
    if state is None:
        return "got no such port"
    return f"got {_state_word(state)}" + (f" ({state.reason})" if state.reason and state.reason != "down" else "")


def _state_word(state: PortState | None) -> str:
    if state is None:
        return "missing"
    return "shut" if state.shut else "up" if state.up else "down"


def _settings(site: Site, switch: Switch, reported: set[tuple[str, End]]) -> Iterator[Fault]:
    """Speed, MTU and FEC of ports that are up. Both ends of a link have one speed and one FEC: each is reported once."""
    rows = planned_ports(switch.view)
    for key, port in switch.ports.items():
        state = switch.seen.ports.get(key)
        if state is None or (switch.name, key) in site.down:
            continue
        shown, end = f"{port.name} to {port.far_device}", (switch.name, key)
        speed = port.port.ref.speed_gbps
        if state.speed_gbps and state.speed_gbps != speed and _first(site, reported, SPEED, end):
            yield Fault(SPEED, switch.name, f"{shown}: speed: expected {speed}G, got {state.speed_gbps}G", INTERFACES)
        for kind, got in (("mtu", state.mtu), ("frame", state.frame)):
            planned_mtu = rows.get(Key(kind, Subject(port.name)))
            if got and planned_mtu and got != planned_mtu:
                yield Fault(MTU, switch.name, f"{shown}: MTU: expected {planned_mtu}, got {got}", INTERFACES)
        if wrong := site.wrong_address(port, state):
            yield Fault(ADDRESS, switch.name, f"{shown}: address: expected {port.port.address}, got {wrong}", INTERFACES)
        if state.fec and state.fec != "rs" and _needs_rs(switch, port) and _first(site, reported, FEC, end):
            yield Fault(FEC, switch.name, f"{shown}: FEC: expected RS, got {state.fec}", INTERFACES)


def _first(site: Site, reported: set[tuple[str, End]], kind: str, end: End) -> bool:
    """Whether the far end of a link was not reported for the same."""
    far = site.far(end)
    if far is not None:
        reported.add((kind, far))
    return (kind, end) not in reported


def _needs_rs(switch: Switch, port: PlannedPort) -> bool:
    """Lanes above 25 Gb/s have RS-FEC, whatever is configured (IEEE 802.3)."""
    ref = port.port.ref
    return pam4(ref.speed_gbps, max(1, lanes(switch.view.model, ref.cage) // ref.split))


# --- cables ---------------------------------------------------------------------------------------------------


def _cables(site: Site) -> Iterator[Fault]:
    """What LLDP shows, without links whose port is known to be down or at another speed."""
    findings = [one for one in site.cables if not _known(site, one)]
    quiet = _quiet(site, findings)
    for name, ports in quiet.items():
        words = f"no LLDP neighbor on any of {plural(len(ports), 'port')}, and no neighbor reports it"
        yield Fault(CABLE, name, words, LLDP, f"start LLDP on {name}")
    for one in findings:
        ends = _ends(one)
        if one.kind == "missing" and any(end in ports for ports in quiet.values() for end in ends):
            continue
        device = (
            one.at.device
            if one.at.device in site.switches
            else next((name for name, _ in sorted(ends) if name in site.switches), one.at.device)
        )
        yield Fault(CABLE, device, f"{one.kind}: {one.message}", LLDP, one.hint)


def _known(site: Site, one: CableFault) -> bool:
    """Whether the state of ports explains a finding of LLDP."""
    ends = _ends(one)
    if one.kind in ("missing", "port-down", "silent-device", "one-way") and ends & site.down:
        return True
    known = any(site.switches[name].has(INTERFACES) for name, _ in ends if name in site.switches)
    return one.kind == "wrong-speed" and known


def _ends(one: CableFault) -> set[End]:
    return {(end.device, canonical(end.port_name)) for link in one.links for end in link if end.port_name}


def _quiet(site: Site, findings: Iterable[CableFault]) -> dict[str, set[End]]:
    """Switches of which all links, more than one, are missing in LLDP; of two neighbors the one with more of them."""
    missing = grouped_sets((end[0], end) for finding in findings if finding.kind == "missing" for end in _ends(finding))
    whole: dict[str, set[End]] = {}
    for name, ends in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
        switch = site.switches.get(name)
        links = [(name, key) for key, port in switch.ports.items() if port.far_port] if switch else []
        taken = {far for others in whole.values() for end in others if (far := site.far(end))}
        if len(links) > 1 and ends == set(links) and not ends <= taken:
            whole[name] = ends
    return whole


# --- counters -------------------------------------------------------------------------------------------------


def _counters(switch: Switch) -> Iterator[Fault]:
    """Counters that must be zero; ports without a planned cable are left out."""
    by_kind: dict[str, list[Counter]] = {}
    for counter in switch.seen.counters.values():
        if canonical(counter.port) in switch.ports:
            kind = _kind(switch, counter)
            if kind:
                by_kind.setdefault(kind, []).append(counter)
    for kind, counters in by_kind.items():
        counters.sort(key=lambda counter: -counter.value)
        shown = listed([_shown(counter) for counter in counters], 3)
        ports = len({counter.port for counter in counters})
        state = QUEUES if kind in (LOSSLESS, STORM, PAUSE) else ERRORS
        yield Fault(kind, switch.name, f"{plural(ports, 'port')}: {shown}", state)


def _kind(switch: Switch, one: Counter) -> str:
    qos = switch.view.qos
    if one.name == Count.QUEUE_DROPS:
        return LOSSLESS if qos is not None and one.queue == qos.priority else DISCARDS
    if one.name in (Count.PFC_RX, Count.PFC_TX):
        if one.queue is None:
            return PAUSE if qos is None else ""
        return PAUSE if qos is None or one.queue != qos.priority else ""
    return _KIND_OF.get(one.name, "")


def _shown(one: Counter) -> str:
    queue = f" queue {one.queue}" if one.queue is not None and one.name in (Count.QUEUE_DROPS, Count.ECN_DROPS) else ""
    priority = f" priority {one.queue}" if one.queue is not None and not queue else ""
    return f"{one.port}{queue}{priority}: {one.value:,} {_WORDS[one.name]}"


# --- optics ---------------------------------------------------------------------------------------------------


def _optics(switch: Switch) -> Iterator[Fault]:
    for key, port in switch.ports.items():
        optic = switch.seen.optics.get(key)
        if optic is None:
            continue
        state = switch.seen.ports.get(key)
        if state is None or state.up is not False:
            yield from _light(switch.name, port, optic)
        if optic.temperature_c is not None and optic.high_c and optic.temperature_c > optic.high_c:
            words = f"{port.name}: temperature: expected at most {optic.high_c:.0f} °C, got {optic.temperature_c:.1f} °C"
            yield Fault(MODULE, switch.name, words, OPTICS)
        elif optic.alarms:
            yield Fault(MODULE, switch.name, f"{port.name}: the module reports {listed(list(optic.alarms), 3)}", OPTICS)


def _light(name: str, port: PlannedPort, optic: Optic) -> Iterator[Fault]:
    """The worst lane below or above the module's own alarm thresholds."""
    if not optic.rx_dbm:
        return
    least, most = min(optic.rx_dbm), max(optic.rx_dbm)
    lane = optic.rx_dbm.index(least) + 1
    shown = f"{port.name} from {port.far_device}: receive power"
    if optic.low_dbm is not None and least < optic.low_dbm:
        words = f"{shown} of lane {lane}: expected at least {optic.low_dbm:.1f} dBm, got {least:.1f} dBm"
        yield Fault(LIGHT, name, words, OPTICS)
    elif optic.high_dbm is not None and most > optic.high_dbm:
        words = f"{shown}: expected at most {optic.high_dbm:.1f} dBm, got {most:.1f} dBm"
        yield Fault(LIGHT, name, words, OPTICS)
