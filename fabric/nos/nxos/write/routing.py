"""Route policy and BGP of the default table: prefix lists, route maps, underlay, overlay, external connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fabric.model.plan import External, Overlay, Session, SwitchView
from fabric.nos.nxos.write.ports import port_name
from fabric.nos.policy import Policy, PrefixList, external_policy, leak_policy, underlay_policy, vrf_policy
from fabric.nos.target import CannotRender, description

FABRIC_IN, FABRIC_OUT, CONNECTED = "RM-FABRIC-IN", "RM-FABRIC-OUT", "RM-CONNECTED"
OVERLAY_IN, OVERLAY_OUT, UNCHANGED = "RM-OVERLAY-IN", "RM-OVERLAY-OUT", "RM-UNCHANGED"
LEAK_MAP = "RM-{}-LEAK"  # on what a tenant's table imports
OVERLAY_PEERS = "OVERLAY-PEERS"  # AS paths that begin with a neighbor of the overlay
MULTIHOP = 3  # loopback to loopback over one link, and one hop to spare
NAME_LIMIT, DESCRIPTION_LIMIT = 63, 80
BFD_MS, BFD_MULTIPLIER = range(50, 1000), range(1, 51)
MAX_PATHS = 64  # a higher number is rejected, which leaves one path


@dataclass(frozen=True, slots=True)
class Stanza:
    """One numbered part of a route map."""

    name: str
    seq: int
    lines: tuple[str, ...]
    action: str = "permit"


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A session that takes its policies from a template."""

    key: str  # address, or port of an unnumbered session
    asn: int
    description: str
    template: str = ""


@dataclass(frozen=True, slots=True)
class Outside:
    """A session to a router outside, with a policy of its own."""

    key: str
    asn: int
    description: str
    imports: str
    exports: str


def context(view: SwitchView) -> dict[str, object]:
    under, overlay = view.underlay, view.overlay
    ip = _ip(view)
    if under.bfd and (under.bfd_interval_ms not in BFD_MS or under.bfd_multiplier not in BFD_MULTIPLIER):
        raise CannotRender(
            f"BFD every {under.bfd_interval_ms} ms, {under.bfd_multiplier} times: "
            "expected 50 to 999 ms and 1 to 50 times on NX-OS"
        )
    if under.max_paths > MAX_PATHS:
        raise CannotRender(f"{view.device.name}: {under.max_paths} equal-cost paths: expected at most {MAX_PATHS} on NX-OS")
    return {
        "asn": view.device.asn,
        "router_id": view.router_id,
        "loopback": view.loopback,
        "loopback6": view.loopback6 or "",
        "ip": ip,
        "family": "ipv6" if ip == "ipv6" else "ipv4",
        "prefix_lists": prefix_lists(view),
        "as_paths": as_paths(overlay),
        "route_maps": route_maps(view),
        **under.timers_and_limits,
        "multihop": MULTIHOP,
        "aggregates": view.aggregates,
        "neighbors": [neighbor(view, session) for session in view.sessions],
        "evpn": speaks_evpn(overlay),
        "passes_on": overlay is not None and overlay.passes_on,
        "overlay_out": UNCHANGED if overlay is not None and overlay.passes_on else OVERLAY_OUT,
        "overlay_neighbors": [
            Neighbor(s.peer_address, s.peer_asn, f"{s.peer.name} EVPN"[:DESCRIPTION_LIMIT])
            for s in (overlay.sessions if overlay else ())
        ],
        "outsides": outsides(view, ""),
    }


def neighbor(view: SwitchView, session: Session, template: str = "FABRIC") -> Neighbor:
    text = description(view, session.port)[:DESCRIPTION_LIMIT]
    return Neighbor(session.peer_address or port_name(session.port.ref), session.peer_asn, text, template)


def outsides(view: SwitchView, vrf: str) -> list[Outside]:
    """The routers outside that one table has sessions to."""
    return [
        Outside(e.peer_address, e.peer_asn, e.peer[:DESCRIPTION_LIMIT], f"{_outside_map(e)}-IN", f"{_outside_map(e)}-OUT")
        for e in view.externals
        if e.vrf == vrf
    ]


def prefix_lists(view: SwitchView) -> list[str]:
    """The lines of every list; an empty list denies all, for NX-OS takes one that does not exist as passing."""
    ip = _ip(view)
    lists = {one.name: one for policy in _policies(view) for one in policy.lists}
    leaked = [policy for vrf in view.vrfs if (policy := leak_policy(view, vrf))]
    lists |= {one.name: one for policy in leaked for one in policy.lists}
    return [line for one in lists.values() for line in _lines(one, ip)]


def route_maps(view: SwitchView) -> list[Stanza]:
    """Inbound maps put what a draining neighbor marks (RFC 8326) last."""
    ip = _ip(view)
    under = underlay_policy(view)
    stanzas = [
        *passing(CONNECTED, under.connected, ip),
        *incoming(FABRIC_IN, under.imports, ip),
        *passing(FABRIC_OUT, under.exports, ip),
    ]
    if view.overlay and speaks_evpn(view.overlay):
        stanzas += [Stanza(OVERLAY_IN, 10, ("match community GSHUT", "set local-preference 0")), Stanza(OVERLAY_IN, 20, ())]
        stanzas += overlay_out(view.overlay)
    for vrf in view.vrfs:
        policy = vrf_policy(view, vrf)
        stanzas += passing(f"RM-{vrf.name}-CONNECTED", policy.connected, ip)
        leaked = leak_policy(view, vrf)
        for n, one in enumerate(leaked.lists if leaked else (), 1):
            stanzas.append(Stanza(_short(LEAK_MAP.format(vrf.name)), 10 * n, (f"match {ip} address prefix-list {one.name}",)))
        if vrf.sessions:
            stanzas += incoming(f"RM-{vrf.name}-IN", policy.imports, ip)
            stanzas += passing(f"RM-{vrf.name}-OUT", policy.exports, ip)
    for name, policy in {_outside_map(e): external_policy(view, e) for e in view.externals}.items():
        stanzas += incoming(f"{name}-IN", policy.imports, ip)
        stanzas += passing(f"{name}-OUT", policy.exports, ip)
    return stanzas


def speaks_evpn(overlay: Overlay | None) -> bool:
    """A VTEP without a neighbor, of a fabric of one switch, has no EVPN session."""
    return overlay is not None and bool(overlay.sessions)


def overlay_out(overlay: Overlay) -> list[Stanza]:
    """A route server passes on with the next hop as it is; a leaf never hands one spine's routes to another."""
    if overlay.passes_on:
        return [Stanza(UNCHANGED, 10, ("set ip next-hop unchanged",))]
    return [Stanza(OVERLAY_OUT, 10, (f"match as-path {OVERLAY_PEERS}",), "deny"), Stanza(OVERLAY_OUT, 20, ())]


def as_paths(overlay: Overlay | None) -> list[str]:
    """One line per AS that a leaf has overlay sessions to."""
    if overlay is None or overlay.passes_on or not overlay.sessions:
        return []
    asns = dict.fromkeys(session.peer_asn for session in overlay.sessions)
    return [f'ip as-path access-list {OVERLAY_PEERS} seq {10 * n} permit "^{asn}_"' for n, asn in enumerate(asns, 1)]


def incoming(name: str, prefix_list: str, ip: str) -> list[Stanza]:
    match = f"match {ip} address prefix-list {prefix_list}"
    return [
        Stanza(_short(name), 10, ("match community GSHUT", match, "set local-preference 0")),
        Stanza(_short(name), 20, (match,)),
    ]


def passing(name: str, prefix_list: str, ip: str) -> list[Stanza]:
    return [Stanza(_short(name), 10, (f"match {ip} address prefix-list {prefix_list}",))]


def _policies(view: SwitchView) -> Iterable[Policy]:
    yield underlay_policy(view)
    for vrf in view.vrfs:
        yield vrf_policy(view, vrf)
    for external in view.externals:
        yield external_policy(view, external)


def _lines(one: PrefixList, ip: str) -> list[str]:
    start = f"{ip} prefix-list {_short(one.name)} seq"
    return [f"{start} {entry.seq} {entry.action} {entry.words}" for entry in one.rules]


def _outside_map(external: External) -> str:
    return f"RM-{external.peer}" + (f"-{external.vrf}" if external.vrf else "")


def _ip(view: SwitchView) -> str:
    return "ipv6" if view.underlay.family == "ipv6" else "ip"


def _short(name: str) -> str:
    if len(name) > NAME_LIMIT:
        raise CannotRender(f"{name}: expected a name of at most {NAME_LIMIT} characters for NX-OS, got {len(name)}")
    return name
