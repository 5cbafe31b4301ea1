"""What a switch leaves out of its own output: a port without a state, a session without prefixes, a row that is missing.

Outputs of network OSes differ, so a field counts as left out only where others of the same switch have it, or where every
reader of that output has it. What no port of a switch reports was not collected, and is no gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabric.audit.verify.multihoming_faults import kind_of
from fabric.audit.verify.sessions import OVERLAY, Planned
from fabric.audit.verify.site import Site, Switch
from fabric.base.grouping import grouped
from fabric.base.text import listed
from fabric.nos.state.records import BGP, ESTABLISHED, EVPN, INTERFACES, KINDS, MULTIHOMING, OPTICS, Family

SHOWN = 3
FIELDS = {"peer_up": "peer", "alive": "keepalive", "link_up": "peer link", "consistent": "consistency"}


@dataclass(frozen=True)
class MissingOutput:
    """Something that some outputs do not report.

    Attributes:
        kind: kind of state.
        what: the field, or what rows of a table say.
        places: switches with their ports or sessions.
    """

    kind: str
    what: str
    places: tuple[str, ...]

    @property
    def words(self) -> str:
        """`interface state: speed not reported by leaf001 Ethernet1/1`."""
        return f"{KINDS[self.kind]}: {self.what} not reported by {listed(list(self.places), SHOWN)}"


def gaps(site: Site) -> tuple[MissingOutput, ...]:
    """Every gap in the state of a site, by kind of state and field."""
    missing = [
        ((kind, column), f"{name} {place}".rstrip())
        for name, switch in site.switches.items()
        for part in (_ports, _counters, _sessions, _optics, _tunnels, _multihoming)
        for kind, column, place in part(site, switch)
    ]
    order = list(KINDS)
    rows = [MissingOutput(kind, column, tuple(dict.fromkeys(places))) for (kind, column), places in grouped(missing).items()]
    return tuple(sorted(rows, key=lambda gap: (order.index(gap.kind), gap.what)))


Rows = Iterator[tuple[str, str, str]]  # (kind, what, place at the switch)


def _ports(site: Site, switch: Switch) -> Rows:
    if not switch.has(INTERFACES):
        return
    states = [(port, switch.seen.ports.get(key)) for key, port in switch.ports.items()]
    live = [(port, state) for port, state in states if state is not None and state.up]
    sized = any(state.mtu or state.frame for _, state in live)
    fast = any(state.speed_gbps for _, state in live)
    for port, state in states:
        silent = INTERFACES not in switch.seen.lists if state is None else state.up is None and not state.shut
        if silent:
            yield INTERFACES, "state", port.name
    for port, state in live:
        if fast and not state.speed_gbps:
            yield INTERFACES, "speed", port.name
        if sized and not (state.mtu or state.frame):
            yield INTERFACES, "MTU", port.name


def _counters(site: Site, switch: Switch) -> Rows:
    """Ports that a table of counters leaves out, or of which a row lacks a field that other rows have."""
    for (kind, what), ports in switch.seen.measured.items():
        for key, port in switch.ports.items():
            if key not in ports and not (switch.has(INTERFACES) and site.is_down(switch, port)):
                yield kind, what, port.name


def _sessions(site: Site, switch: Switch) -> Rows:
    if not switch.has(BGP) or switch.seen.failures:
        return
    peers = [(end, peer) for end in switch.sessions if (peer := switch.peer(end)) is not None]
    yield from ((BGP, "state", _shown(end)) for end, peer in peers if not peer.state)
    live = [(end, peer) for end, peer in peers if peer.state == ESTABLISHED]
    numbered = any(peer.asn for _, peer in live)
    counting = any(_counts(end, peer.families) for end, peer in live)
    if not _identified(switch) and any(map(_identified, _alike(site, switch, BGP))):
        yield BGP, "router ID", ""
    for end, peer in live:
        if numbered and not peer.asn:
            yield BGP, "remote AS", _shown(end)
        if counting and not _counts(end, peer.families):
            yield BGP, "prefixes", _shown(end)


def _identified(switch: Switch) -> bool:
    return bool(switch.seen.router_ids.get(""))


def _alike(site: Site, switch: Switch, kind: str) -> Iterator[Switch]:
    """The switches with the same network OS of which a kind of state was collected."""
    return (one for one in site.known(kind) if one.view.device.nos == switch.view.device.nos)


def _shown(end: Planned) -> str:
    return f"{end.peer} in {end.vrf}" if end.vrf else end.peer


def _counts(end: Planned, families: Sequence[Family]) -> bool:
    wanted = (one for one in families if (one.name == "evpn") == (end.kind == OVERLAY))
    return any(one.accepted is not None for one in wanted)


def _optics(site: Site, switch: Switch) -> Rows:
    """A cable with a module at one end that reports light has one at the other end; copper has none at either."""
    if not switch.has(OPTICS):
        return
    optics = switch.seen.optics
    heated = any(optic.temperature_c is not None for optic in optics.values())
    limited = any(optic.low_dbm is not None for optic in optics.values())
    for key, port in switch.ports.items():
        optic = optics.get(key)
        if optic is not None and heated and optic.temperature_c is None:
            yield OPTICS, "temperature", port.name
        if optic is not None and optic.rx_dbm:
            if limited and optic.low_dbm is None:
                yield OPTICS, "thresholds", port.name
            continue
        far = site.far((switch.name, key))
        other = site.switches[far[0]].seen.optics.get(far[1]) if far is not None and far[0] in site.switches else None
        if (other is not None and other.rx_dbm) or (optic is not None and optic.temperature_c is not None):
            yield OPTICS, "receive power", port.name


def _tunnels(site: Site, switch: Switch) -> Rows:
    """The tunnel source, where other leaves with the same network OS report theirs."""
    if not switch.has(EVPN) or switch.seen.failures or not (switch.view.overlay and switch.view.overlay.vtep):
        return
    if not _source(switch) and any(map(_source, _alike(site, switch, EVPN))):
        yield EVPN, "tunnel source", ""


def _source(switch: Switch) -> bool:
    return bool(switch.seen.source) or any(vni.source for vni in switch.seen.vnis.values())


def _multihoming(site: Site, switch: Switch) -> Rows:
    kind = kind_of(switch.view) if switch.has(MULTIHOMING) else ""
    whole = MULTIHOMING in switch.seen.lists
    if kind == "esi":
        for lag in switch.view.lags:
            segment = switch.seen.segments.get(lag.esi)
            place = f"bond {lag.number}"
            if segment is None:
                yield from () if whole else ((MULTIHOMING, "segment", place),)
                continue
            if segment.up is None:
                yield MULTIHOMING, "state", place
            if segment.up is not False and segment.peers is None:
                yield MULTIHOMING, "members", place
            if segment.up is not False and segment.forwarders is None and segment.forwards is None:
                yield MULTIHOMING, "designated forwarder", place
    elif kind == "vpc" and (pair := switch.seen.pair) is not None:
        yield from ((MULTIHOMING, words, "") for field, words in FIELDS.items() if getattr(pair, field) is None)
        bond_of = {bond.number: bond for bond in pair.bonds}
        for lag in switch.view.lags:
            bond = bond_of.get(lag.number)
            if (bond is None and not whole) or (bond is not None and bond.up is None):
                yield MULTIHOMING, "state", f"bond {lag.number}"
            elif bond is not None and bond.consistent is None:
                yield MULTIHOMING, "consistency", f"bond {lag.number}"
