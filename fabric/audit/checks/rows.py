"""Facts as rows, so that a plan and parsed files can be compared value by value.

A row is (kind, subject) → value: `("mtu", "Ethernet1/1") → 9214`. Values are numbers, words, or sets of them. The kinds,
their names in messages, and whether a row beyond the plan is a fault, are in the table below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from fabric.audit.checks.finding import Subject
from fabric.model.facts import ANY_ROUTE, MANAGEMENT, Bgp, Facts, Interface, Located, Neighbor, Vni, Vrf
from fabric.nos.reading import is_address

Value: TypeAlias = "int | str | bool | frozenset[int] | frozenset[str]"


class Key(NamedTuple):
    """What a row is about."""

    kind: str
    subject: Subject = Subject()  # the device itself, unless stated


class Kind(NamedTuple):
    """How a kind of row is spoken of."""

    words: str
    closed: bool = False  # what the plan does not ask for must not be there
    default: Value | None = None  # what it is when a config says nothing
    spoken: bool = False  # nothing is missing where a config does not say it


KINDS: Mapping[str, Kind] = {
    "hostname": Kind("host name"),
    "loopbacks": Kind("loopback addresses", closed=True),
    "addresses": Kind("address", closed=True),
    "gateways": Kind("anycast gateway", closed=True),
    "relays": Kind("DHCP servers", closed=True),
    "enabled": Kind("port state", default=True),
    "speed": Kind("speed in Gb/s", spoken=True),
    "mtu": Kind("MTU"),
    "frame": Kind("frame MTU"),
    "vrf": Kind("VRF", closed=True),
    "tag": Kind("VLAN tag", closed=True),
    "access": Kind("untagged VLAN", closed=True),
    "trunk": Kind("tagged VLANs", closed=True),
    "bond": Kind("bond", closed=True),
    "filters": Kind("packet filters"),
    "esi": Kind("Ethernet segment", closed=True),
    "asn": Kind("AS number", closed=True),
    "router_id": Kind("router ID"),
    "max_paths": Kind("equal-cost paths"),
    "relax": Kind("multipath across AS numbers"),
    "neighbors": Kind("neighbors", closed=True),
    "remote_as": Kind("remote AS"),
    "source": Kind("local address"),
    "families": Kind("address families"),
    "max_prefix": Kind("prefix limit"),
    "takes": Kind("accepted routes"),
    "sends": Kind("advertised routes"),
    "connected": Kind("redistributed connected routes"),
    "aggregates": Kind("aggregates", closed=True),
    "keepalive": Kind("keepalive in seconds"),
    "hold": Kind("hold time in seconds"),
    "bfd": Kind("BFD"),
    "vnis": Kind("L2 VNIs", closed=True),
    "vlan": Kind("VLAN", closed=True),
    "rd": Kind("route distinguisher"),
    "imports": Kind("imported route targets"),
    "exports": Kind("exported route targets"),
    "leaks": Kind("VRFs whose routes are imported", closed=True),
    "leaked": Kind("routes imported from other VRFs"),
    "advertised": Kind("routes advertised in EVPN", closed=True),
    "vrfs": Kind("VRFs", closed=True),
    "vni": Kind("VNI", closed=True),
    "vtep": Kind("tunnel source"),
    "anycast_mac": Kind("anycast gateway MAC address"),
    "hash_seed": Kind("hash seed"),
    "watchdog_ms": Kind("PFC watchdog detection time in ms"),
    "prefixes": Kind("entries"),
    "ntp": Kind("NTP servers", closed=True),
    "syslog": Kind("syslog servers", closed=True),
    "dns": Kind("DNS servers", closed=True),
    "tacacs": Kind("TACACS+ servers", closed=True),
    "radius": Kind("RADIUS servers", closed=True),
    "ldap": Kind("LDAP servers", closed=True),
    "login": Kind("order of login methods", closed=True),
    "lossless": Kind("DSCPs of the lossless class"),
    "cnp": Kind("DSCPs of congestion notifications"),
    "storage": Kind("DSCPs of the storage class"),
    "storage_weight": Kind("weight of the storage class in percent of it and best effort"),
    "pfc": Kind("priorities with PFC", closed=True),
    "strict": Kind("strict priorities"),
    "weight": Kind("weight of the lossless class in percent"),
    "kmin": Kind("ECN minimum in bytes"),
    "kmax": Kind("ECN maximum in bytes"),
    "pmax": Kind("ECN marking probability in percent"),
    "xoff": Kind("headroom in bytes"),
    "cable": Kind("cable length in metres"),
    "watchdog": Kind("PFC watchdog"),
}


@dataclass(slots=True)
class Row:
    """What a file says, and where: each item of a set has its own place, and `home` is where a missing one belongs."""

    value: Value
    home: Located[object]
    places: dict[object, Located[object]] = field(default_factory=dict)


Rows: TypeAlias = dict[Key, Row]


def rows_of(facts: Facts) -> Rows:
    """The rows of a device; `classes` holds the QoS classes once, as many ports share them."""
    rows: Rows = {}
    top = Located(None, 0, facts.files[0] if facts.files else "")
    _one(rows, Key("hostname"), facts.hostname)
    for name, interface in facts.interfaces.items():
        _interface(rows, name, interface)
    _loopbacks(rows, facts, top)
    for vrf, process in facts.bgp.items():
        if vrf != MANAGEMENT:
            _process(rows, facts, process)
    tenants = [vrf for vrf in facts.vrfs.values() if vrf.name != MANAGEMENT]
    _many(rows, Key("vrfs"), [Located(vrf.name, vrf.line, vrf.file) for vrf in tenants], top)
    for vrf_facts in tenants:
        vrf_subject = Subject(vrf_facts.name, "VRF")
        _targets(rows, vrf_subject, vrf_facts)
        _one(rows, Key("vni", vrf_subject), vrf_facts.vni)
        _leaks(rows, facts, vrf_subject, vrf_facts)
    _many(rows, Key("vnis"), [Located(vni.number, vni.line, vni.file) for vni in facts.vnis.values()], top)
    for vni in facts.vnis.values():
        vni_subject = Subject(str(vni.number), "VNI")
        _targets(rows, vni_subject, vni)
        _one(rows, Key("vlan", vni_subject), vni.vlan)
    if facts.vtep:
        _one(rows, Key("vtep"), Located(_resolved(facts, facts.vtep.value), facts.vtep.line, facts.vtep.file))
    _one(rows, Key("anycast_mac"), facts.anycast_mac)
    _one(rows, Key("hash_seed"), facts.hash_seed)
    _one(rows, Key("watchdog_ms"), facts.watchdog_ms)
    for name, entries in facts.prefixes.items():
        if entries:
            _many(rows, Key("prefixes", Subject(name, "prefix list")), entries, entries[0])
    for kind in ("ntp", "syslog", "dns", "tacacs", "radius", "ldap"):
        _many(rows, Key(kind), getattr(facts.services, kind), top)
    _one(rows, Key("login"), facts.services.login)
    return rows


def blocks_of(facts: Facts) -> dict[str, Located[object]]:
    """Kind of fact → the line of the block that one belongs in, where the files have such a block."""
    interfaces = {name.lower(): _place(item) for name, item in facts.interfaces.items()}
    gateways = [_place(item) for item in facts.interfaces.values() if item.gateways]
    tunnels = [place for name, place in interfaces.items() if name.startswith(("vxlan", "nve", "vni"))]
    vnis = [_place(vni) for vni in facts.vnis.values()]
    loopbacks = [place for name, place in interfaces.items() if is_loopback(name)]
    candidates = {"vtep": (*tunnels, *vnis, *loopbacks), "anycast_mac": gateways, "loopbacks": list(interfaces.values())}
    first = {kind: next((place for place in places if place.line), None) for kind, places in candidates.items()}
    return {kind: place for kind, place in first.items() if place}


def _place(block: Interface | Vni) -> Located[object]:
    return Located(None, block.line, block.file)


def session(vrf: str, peer: str) -> Subject:
    """A session, as findings call it."""
    return Subject(peer, "neighbor", vrf)


def session_name(vrf: str, peer: str) -> str:
    """How a session is called in findings."""
    return str(session(vrf, peer))


def table(vrf: str) -> Subject:
    """A BGP process, as findings call it."""
    return Subject(vrf, "BGP of VRF" if vrf else "BGP")


def table_name(vrf: str) -> str:
    """How a BGP process is called in findings."""
    return str(table(vrf))


def is_loopback(name: str) -> bool:
    """Whether an interface name is that of a loopback."""
    return name.lower().startswith("lo")


def _interface(rows: Rows, name: str, interface: Interface) -> None:
    home, port = Located(None, interface.line, interface.file), Subject(name)
    if not is_loopback(name):
        addresses = [fact for fact in interface.addresses if not fact.value.startswith("fe80:")]
        _many(rows, Key("addresses", port), addresses, home)
    _many(rows, Key("gateways", port), interface.gateways, home)
    _many(rows, Key("relays", port), interface.relays, home)
    _many(rows, Key("filters", port), interface.filters, home)
    native = interface.access.value if interface.access else 0  # some network OSes list it among the VLANs of a trunk
    _many(rows, Key("trunk", port), [fact for fact in interface.trunk if fact.value != native], home)
    for kind, fact in (
        ("enabled", interface.enabled),
        ("speed", interface.speed_gbps),
        ("mtu", interface.mtu),
        ("frame", interface.frame),
        ("vrf", interface.vrf),
        ("tag", interface.tag if "." in name and not name.startswith("irb") else None),
        ("access", interface.access),
        ("bond", interface.bond),
        ("esi", interface.esi),
    ):
        if fact is not None and fact.value != "":
            rows[Key(kind, port)] = Row(fact.value, home, {fact.value: fact})
    rows.setdefault(Key("", port), Row("", home))  # that the interface is there at all


def _loopbacks(found: Rows, facts: Facts, top: Located[object]) -> None:
    own = [fact for name, item in facts.interfaces.items() if is_loopback(name) for fact in item.addresses]
    own = [fact for fact in own if not fact.value.startswith(("127.", "::1/"))]
    home = next((Located(None, i.line, i.file) for name, i in facts.interfaces.items() if is_loopback(name)), top)
    _many(found, Key("loopbacks"), own, home)


def _process(rows: Rows, facts: Facts, process: Bgp) -> None:
    name, home = table(process.vrf), Located(None, process.line, process.file)
    rows[Key("", name)] = Row("", home)
    _one(rows, Key("asn", name), process.asn)
    _one(rows, Key("router_id", name), process.router_id)
    _one(rows, Key("max_paths", name), process.max_paths)
    _one(rows, Key("relax", name), process.relax)
    _passed(rows, facts, Key("connected", name), process.connected)
    _many(rows, Key("aggregates", name), process.aggregates, home)
    peers = [
        Located(peer.peer, peer.line, peer.file)
        for peer in process.neighbors.values()
        if peer.enabled is None or peer.enabled.value
    ]
    _many(rows, Key("neighbors", name), peers, home)
    for peer in process.neighbors.values():
        _session(rows, facts, peer)


def _session(rows: Rows, facts: Facts, peer: Neighbor) -> None:
    name, home = session(peer.vrf, peer.peer), Located(None, peer.line, peer.file)
    rows[Key("", name)] = Row("", home)
    for kind, fact in (
        ("remote_as", peer.remote_as),
        ("max_prefix", peer.max_prefix),
        ("keepalive", peer.keepalive_s),
        ("hold", peer.hold_s),
        ("bfd", peer.bfd),
    ):
        _one(rows, Key(kind, name), fact)
    if peer.source:
        _one(rows, Key("source", name), Located(_resolved(facts, peer.source.value), peer.source.line, peer.source.file))
    _many(rows, Key("families", name), peer.families, home)
    _passed(rows, facts, Key("takes", name), peer.import_filter)
    _passed(rows, facts, Key("sends", name), peer.export_filter)


def _passed(found: Rows, facts: Facts, key: Key, policy: Located[str] | None) -> None:
    """The prefix lists that a policy lets through, each where the policy names it; a filter may be a list itself."""
    if policy is None:
        return
    every = [] if policy.value else [Located(ANY_ROUTE, policy.line, policy.file)]
    for name in policy.value.split():
        every += facts.policies.get(name, [Located(name, policy.line, policy.file)])
    found[key] = Row(frozenset(fact.value for fact in every), policy, {fact.value: fact for fact in every})


def _targets(found: Rows, name: Subject, own: Vni | Vrf) -> None:
    home = Located(None, own.line, own.file)
    found[Key("", name)] = Row("", home)
    _one(found, Key("rd", name), own.rd)
    _many(found, Key("imports", name), own.imports, home)
    _many(found, Key("exports", name), own.exports, home)


def _leaks(found: Rows, facts: Facts, name: Subject, vrf: Vrf) -> None:
    """Routes of other tables: from which, and by which lists; without a policy every route is."""
    _many(found, Key("leaks", name), vrf.leaks, Located(None, vrf.line, vrf.file))
    _passed(found, facts, Key("leaked", name), vrf.leak_filter or (replace(vrf.leaks[0], value="") if vrf.leaks else None))
    _passed(found, facts, Key("advertised", name), vrf.evpn_filter)


def _resolved(facts: Facts, source: str) -> str:
    """An interface's address in place of its name."""
    if is_address(source):
        return source
    interface = facts.interfaces.get(source) or facts.interfaces.get(source.removesuffix(".0"))
    own = [fact.value.partition("/")[0] for fact in interface.addresses] if interface else []
    return own[0] if own else source


def _one(found: Rows, key: Key, fact: Located[int] | Located[str] | Located[bool] | Located[int | str] | None) -> None:
    if fact is not None:
        found[key] = Row(fact.value, fact, {fact.value: fact})


def _many(found: Rows, key: Key, facts: Iterable[Located[str] | Located[int]], home: Located[object]) -> None:
    places: dict[object, Located[object]] = {fact.value: fact for fact in facts}
    if places:
        values: frozenset[Any] = frozenset(places)
        found[key] = Row(values, home, places)


def subjects(rows: Mapping[Key, object]) -> Iterator[Subject]:
    """What the rows are about."""
    return iter(dict.fromkeys(key.subject for key in rows))
