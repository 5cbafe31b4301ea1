"""From what switches say to the sections of an intent beside topology and numbers: management, underlay, tenants, QoS.

A value is stated where it differs from what the rest of the intent gives. Of a setting that switches have differently the
value of most of them is stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

from fabric.base.diagnostics import InputError
from fabric.base.rounding import ceil_div
from fabric.deliver.brownfield.draft.judge import merged as joined
from fabric.deliver.brownfield.draft.uplinks import RATIOS
from fabric.deliver.brownfield.sections import attachments, lossless
from fabric.deliver.brownfield.sections.probes import VALUES, Document, learned, learned_logins, plan_of
from fabric.deliver.brownfield.sections.refine import Comparison
from fabric.deliver.brownfield.sections.running import Running, merged, most_common, typed
from fabric.deliver.brownfield.sections.tenant_facts import TenantSurvey
from fabric.deliver.brownfield.sections.tenants import find as find_tenants, relays, route_servers
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.model.plan import CORE, LEAF, SPINE, Plan
from fabric.model.plan.lock import FabricLock, Lock, TenantNumber
from fabric.model.settings.addressing import Underlay
from fabric.model.settings.services import METHODS, Aaa, Management
from fabric.nos.reading.values import is_address
from fabric.nos.target import target

OUTER_HEADERS = (50, 70)  # of VXLAN over IPv4 and IPv6, which ports of servers have less
LEAST_MTU = 1280  # of IPv6
MORE = 8  # ports, servers or units that a site may have room for
_TIER = {LEAF: 0, SPINE: 1, CORE: 2}


@dataclass(frozen=True, kw_only=True)
class Sections:
    """What was found.

    Attributes:
        document: sections of the intent, to be laid over those of the topology.
        lock: numbers that belong to it, with those of tenants and networks.
        inferences: what no line states.
        unstated: what the configs do not tell, a sentence each.
    """

    document: Document
    lock: Lock = field(default_factory=Lock)
    inferences: Sequence[Inference] = ()
    unstated: Sequence[str] = ()


# --- Management -----------------------------------------------------------------------------------------------


def management(run: Running, stated_zones: Sequence[str] = ()) -> Document:
    """`management` of the switches of a fabric.

    Args:
        stated_zones: names of time zones that switches of the site state.
    """
    found: Document = {}
    facts = [its.facts.services for its in run.samples if its.facts is not None]
    for what in ("ntp", "syslog", "dns"):
        lists = [tuple(dict.fromkeys(one.value for one in getattr(own, what))) for own in facts]
        usual = most_common(frozenset(servers) for servers in lists)
        orders = [servers for servers in lists if frozenset(servers) == usual]
        if usual:  # some network OSes sort what has no order
            found[what] = list(next((servers for servers in orders if servers != tuple(sorted(servers))), orders[0]))
    for key in VALUES:
        if key[0] == "management" and key[-1] not in found and (value := run.found(key)) is not None:
            inner = found
            for part in key[1:-1]:
                inner = inner.setdefault(part, {})
            inner[key[-1]] = list(value) if isinstance(value, tuple) else value
    if "timezone" not in found and (zone := _zone(run, stated_zones)):
        found["timezone"] = zone
    if run.chosen(("management", "vrf")) is False:
        found["vrf"] = False
    if run.chosen(("management", "gnmi")):
        found["gnmi"] = True
    if logins := aaa(run):
        found["aaa"] = logins
    return _without_usual(found, run)


def _zone(run: Running, stated: Sequence[str]) -> str:
    """A time zone that the statements of most switches may stand for: one that others state by name, else the first."""
    facts = [its.facts for its in run.samples if its.facts is not None]
    known = most_common(reader.zones.get()(its.texts) for its in facts if (reader := target(its.nos).reader) and reader.zones)
    if not known:
        return ""
    zone = next((zone for zone in stated if zone in known), known[0])
    run.note("management.timezone", zone, f"one of {len(known)} time zones with the same offset and summer time")
    return zone


def _without_usual(found: Document, run: Running) -> Document:
    """Without what is so unless stated."""
    usual = Management().model_dump(mode="json")
    if run.usual is not None:
        given = run.usual.management
        usual |= {"allow": list(given.allow), "gateway": given.gateway}
    if "allow" in found:
        found["allow"] = [text for text in found["allow"] if "/" in text and is_address(text.partition("/")[0])]
    secrets = {key: name for key, name in found.pop("secrets", {}).items() if name != usual["secrets"][key]}
    found |= {"secrets": secrets} if secrets else {}
    return {key: value for key, value in found.items() if value != usual[key] and value != []}


def _managed(runs: Sequence[Running]) -> tuple[dict[str, Document], Document]:
    """`management` of fabrics that have one of their own, and that of the site."""
    values = (run.value(its, ("management", "timezone")) for run in runs for its in run.samples)
    zones = list(dict.fromkeys(zone for zone in values if zone))
    of_fabric = {run.name: management(run, zones) for run in runs}
    by_size = sorted(runs, key=lambda run: -len(of_fabric[run.name]))
    best: tuple[int, Document, list[str]] = (0, {}, [])
    for first in by_size:
        shared, alike = of_fabric[first.name], [first]
        for run in by_size:
            if run is not first and (both := _joined(shared, alike, of_fabric[run.name], [run])) is not None:
                shared, alike = both, [*alike, run]
        if len(alike) > best[0]:
            best = (len(alike), shared, [run.name for run in alike])
    return {name: its for name, its in of_fabric.items() if name not in best[2]}, best[1]


def _joined(one: Document, alike: Sequence[Running], other: Document, runs: Sequence[Running]) -> Document | None:
    """What two sets of switches agree on, with what only one of them can say; None where they differ."""
    joined: Document = {}
    for key in dict.fromkeys((*one, *other)):
        if key not in one or key not in other:
            silent = alike if key not in one else runs
            if any(_says(run, key) for run in silent):
                return None
            joined[key] = one.get(key, other.get(key))
        elif one[key] == other[key] or not isinstance(one[key], list) or sorted(one[key]) != sorted(other[key]):
            if one[key] != other[key]:
                return None
            joined[key] = one[key]
        else:  # some network OSes sort what has no order
            joined[key] = one[key] if one[key] != sorted(one[key]) else other[key]
    return joined


def _says(run: Running, key: str) -> bool:
    """Whether the statements of a fabric's switches would have a key of `management`."""
    known = [learned(its.nos, its.release) for its in run.samples]
    by_offset = key == "timezone" and any(reader.zones for its in run.samples if (reader := target(its.nos).reader))
    return (
        by_offset
        or key in ("vrf", "aaa")
        or any(
            bool(places) or bool(its.signs.get(("management", key)))
            for its in known
            for path, places in ((path, its.places.get(path)) for path in VALUES if path[:2] == ("management", key))
        )
    )


def aaa(run: Running) -> Document:
    """`management.aaa`; {} where users of the switches alone may log in."""
    votes = [(its, its.facts.services) for its in run.samples if its.facts is not None]
    found: Document = {}
    for method in METHODS:
        servers = most_common(tuple(dict.fromkeys(one.value for one in getattr(own, method))) for _, own in votes)
        if not servers:
            continue
        found[method] = {"servers": list(servers)}
        fields = Aaa.model_fields[method].annotation.__args__[0].model_fields  # type: ignore[union-attr]
        for name, field_ in fields.items():
            key = ("management", "aaa", method, name)
            texts = [learned_logins(its.nos, its.release, method).values(key, run.lines[its.name]) for its, _ in votes]
            value = most_common(value for text in texts if (value := typed(key, text, _example(name))) is not None)
            if name != "servers" and value is not None and value != field_.default:
                found[method][name] = value
    if not found:
        return {}
    order = most_common(own.login.value for _, own in votes if own.login is not None)
    stated = tuple(order.split(", ")) if order else ()
    if stated and stated != (*found, "local"):
        found["login"] = list(stated)
    records = ("management", "aaa", "accounting")
    for method in [method for method in found if method in ("tacacs", "radius")]:
        if most_common(learned_logins(its.nos, its.release, method).choice(records, run.lines[its.name]) for its, _ in votes):
            found["accounting"] = method
    return found


def _example(name: str) -> Any:
    return 1 if name in ("port", "timeout_s") else ""


# --- Underlay -------------------------------------------------------------------------------------------------


def underlay(run: Running) -> Document:
    """`underlay` without AS numbers."""
    found: Document = {"addressing": addressing(run)}
    links = run.links
    facts = {its.name: its.facts for its in run.switches if its.facts is not None}
    mtus = (
        facts[name].interfaces[port].mtu
        for its in links
        for name, port in ((its.a, its.a_port), (its.b, its.b_port))
        if name in facts and port in facts[name].interfaces
    )
    found["mtu"] = most_common(mtu.value for mtu in mtus if mtu is not None)
    for key in VALUES:
        if key[0] == "underlay" and key[1] not in ("load_balancing", "bfd"):
            found[key[-1]] = run.found(key)
    bfd = {name: run.found(("underlay", "bfd", name)) for name in ("interval_ms", "multiplier")}
    sessions = [one for own in facts.values() for one in own.neighbors()]
    without = run.chosen(("underlay", "bfd", "enabled")) is False
    if without and not any(one.bfd is not None and one.bfd.value for one in sessions):
        bfd = {"enabled": False}
    usual = Underlay().model_dump(mode="json")
    if run.usual is not None:
        usual |= {"mtu": run.usual.underlay.mtu, "max_prefix": run.usual.underlay.max_prefix}
    found = {key: value for key, value in found.items() if value is not None and value != usual[key]}
    bfd = {key: value for key, value in bfd.items() if value is not None and value != usual["bfd"][key]}
    balancing = _balancing(run)
    return found | ({"bfd": bfd} if bfd else {}) | ({"load_balancing": balancing} if balancing else {})


def addressing(run: Running) -> str:
    """How the links between switches are addressed; without such links as the loopbacks."""
    kinds = ("unnumbered" if not its.b_address else "ipv6" if ":" in its.b_address else "ipv4" for its in run.links)
    return most_common(kinds) or ("ipv6" if any(its.loopback6 for its in run.switches) else "ipv4")


def without_links(run: Running) -> Iterator[list[Document]]:
    """Addressing and MTU of a fabric without links between switches, which filters and server ports alone show."""
    yield [{"underlay": {"addressing": kind}} for kind in get_args(Underlay.model_fields["addressing"].annotation)]
    facts = (its.facts for its in run.samples if its.facts is not None)
    sizes = sorted({port.mtu.value for its in facts for port in its.interfaces.values() if port.mtu is not None})
    yield [{"underlay": {"mtu": size + more}} for size in sizes for more in (0, *OUTER_HEADERS) if size >= LEAST_MTU]


def room(fabric: Document) -> Iterator[list[Document]]:
    """Room for more than there is, which buffers alone show: spare ports, larger units, a planned size."""
    topology = fabric["topology"]
    units = topology.get("unit", {}).get("servers", 0)
    if "spare_server_ports" not in topology.get("leaf", {}):
        yield [{"topology": {"leaf": {"spare_server_ports": count}}} for count in range(1, MORE + 1)]
    if not {"uplinks", "oversubscription"} & topology.get("leaf", {}).keys():
        yield [{"topology": {"leaf": {"oversubscription": ratio}}} for ratio in RATIOS if ratio > 1]
    stated = fabric.get("servers", [])
    groups = stated if isinstance(stated, list) else [stated]
    if not groups:
        return
    servers = groups[0]["count"]
    if servers <= units and len(groups) == 1:
        yield [{"topology": {"unit": {"servers": count}}} for count in range(servers, units + MORE) if count != units]
    if len(groups) == 1 and "planned" not in fabric:
        units = units or 1
        yield [{"planned": {"servers": (ceil_div(servers, units) + more) * units}} for more in range(1, MORE + 1)]


def without_room(sections: Mapping[str, Any]) -> Document:
    """Sections without room for more than there is, which wires other switches than were compared otherwise."""
    fabrics = {}
    for name, fabric in sections.get("fabrics", {}).items():
        topology = {key: its for key, its in fabric.get("topology", {}).items() if key not in ("leaf", "unit")}
        others = {key: its for key, its in fabric.items() if key not in ("topology", "planned")}
        fabrics[name] = others | ({"topology": topology} if topology else {})
    return {**sections, "fabrics": fabrics}


def _balancing(run: Running) -> Document:
    key = ("underlay", "load_balancing", "seed")
    seeds = [(run.value(its, key), _TIER[its.role]) for its in run.samples]
    seed = most_common(seed - tier for seed, tier in seeds if seed is not None)
    found: Document = {"seed": seed} if seed not in (None, 1) else {}
    mode = run.chosen(("underlay", "load_balancing", "mode"))
    if mode == "dynamic" or (mode == "flow" and run.usual is not None and run.usual.balancing.dynamic):
        found["mode"] = mode
    return found


# --- All of it ------------------------------------------------------------------------------------------------


def shapes_of(survey: Survey, document: Document) -> dict[str, Document]:
    """Fabric → sections that decide what its switches must be able to do."""
    runs = [
        Running(name=name, switches=switches, survey=survey, document=document, plan=None)
        for name, switches in survey.fabrics.items()
    ]
    return {
        run.name: {"underlay": {"addressing": addressing(run)}, "overlay": _kind(run), "qos": lossless.enabled(run)}
        for run in runs
    }


def _runs(survey: Survey, document: Document, lock: Lock | None, shapes: Mapping[str, Document]) -> list[Running]:
    """The fabrics, with the plan of those that hang below no other."""
    alone = {name: one for name, one in document["fabrics"].items() if "below" not in one}
    shaped = {name: merged(one, shapes[name]) for name, one in alone.items() if name in shapes}
    plan = _planned({**document, "fabrics": shaped}, lock)
    return [
        Running(name=name, switches=switches, survey=survey, document=document, plan=plan)
        for name, switches in survey.fabrics.items()
    ]


def sections(survey: Survey, document: Document, lock: Lock | None = None) -> Sections:
    """What the switches of a survey have beside topology and numbers.

    Args:
        document: the intent of their topology, names, pools and AS numbers.
        lock: the numbers that belong to it.
    """
    found = stated(survey, document, lock)
    whole, inferences = refined(survey, document, found.document, found.lock)
    return replace(found, document=whole, inferences=(*found.inferences, *inferences))


def stated(survey: Survey, document: Document, lock: Lock | None = None) -> Sections:
    """The same, without what only a comparison of whole configs tells."""
    shapes = shapes_of(survey, document)
    runs = _runs(survey, document, lock, shapes)
    found: Document = {"fabrics": {run.name: {} for run in runs}}
    managed, shared = _managed(runs)
    numbers: dict[str, Mapping[str, tuple[TenantNumber, ...]]] = {}
    if shared:
        found["management"] = shared
    for run in runs:
        part = found["fabrics"][run.name]
        if run.name in managed:
            part["management"] = managed[run.name]
        part["underlay"] = underlay(run)
        part["qos"] = shapes[run.name]["qos"] | lossless.classes(run)
        if memory := run.found(("qos", "lossless_memory_percent")):
            part["qos"]["lossless_memory_percent"] = memory
        if "below" not in document["fabrics"].get(run.name, {}):
            survey_of = TenantSurvey(run)
            tenants = find_tenants(survey_of, attachments.outside(survey_of))
            rows = attachments.find(survey_of, tenants)
            part |= {"overlay": tenants.overlay, "tenants": tenants.tenants}
            part |= {"topology": {"attachments": rows}} if rows else {}
            numbers[run.name] = tenants.numbers
        found["fabrics"][run.name] = {key: value for key, value in part.items() if value or key == "management"}
    _releases(runs, found)
    return Sections(
        document=found,
        lock=with_tenants(lock or Lock(), numbers),
        inferences=[inference for run in runs for inference in run.inferences],
        unstated=[sentence for run in runs for sentence in _unstated(run)],
    )


def with_tenants(lock: Lock, numbers: Mapping[str, Mapping[str, tuple[TenantNumber, ...]]]) -> Lock:
    """A lock with the numbers of tenants and networks, by fabric."""
    more = {name: replace(lock.fabrics.get(name, FabricLock()), tenants=its) for name, its in numbers.items()}
    return Lock({**lock.fabrics, **more})


def _unstated(run: Running) -> Iterator[str]:
    """Keys that no statement of a network OS has."""
    for nos, release in dict.fromkeys((its.nos, its.release) for its in run.samples):
        known = learned(nos, release)
        keys = [".".join(key) for key in VALUES if not known.places.get(key)]
        if keys:
            yield f"fabric {run.name}: no statement of {target(nos).title} has {', '.join(keys)}"


def refined(survey: Survey, document: Document, found: Document, lock: Lock) -> tuple[Document, list[Inference]]:
    """Sections with values that only a comparison of whole configs tells, and without keys that change nothing.

    Args:
        document: the topology of the whole site.
        found: its sections.
    """
    runs = _runs(survey, document, lock, shapes_of(survey, document))
    comparison = Comparison(runs, lock)
    before = whole = joined(document, found)
    runs = [run for run in runs if run.configured and run.name in found["fabrics"]]
    for run in runs:
        whole = comparison.refined(whole, run, partial(_trials, run, whole["fabrics"][run.name]))
        whole = comparison.shortened(whole, run, "qos")
        if {"bfd", "mtu"} & whole["fabrics"][run.name].get("underlay", {}).keys():
            whole = comparison.shortened(whole, run, "underlay")
    fabrics = {
        run.name: _changed(found["fabrics"][run.name], before["fabrics"][run.name], whole["fabrics"][run.name])
        for run in runs
    }
    result = {**found, "fabrics": {**found["fabrics"], **fabrics}}
    return result, [inference for run in runs for inference in run.inferences]


def _trials(run: Running, fabric: Document, numbers: Sequence[int]) -> Iterator[list[Document]]:
    """Alternatives of what a fabric may have, key by key."""
    tenants = fabric.get("tenants", [])
    if not run.links:
        yield from without_links(run)
    if not fabric.get("overlay") and not tenants:
        yield [{"overlay": {"kind": "evpn-vxlan"}}]  # before its first tenant
    yield from relays(tenants)
    yield from route_servers(run)
    yield from attachments.orders(fabric["topology"].get("attachments", []))
    yield from lossless.lengths_tried(run)
    yield from room(fabric)
    yield from lossless.trials(run, numbers)


def _changed(found: Document, before: Document, after: Document) -> Document:
    """Sections of a fabric with what refining changed of it."""
    result = dict(found)
    for key in ("qos", "underlay", "tenants", "overlay", "planned"):
        if after.get(key) != before.get(key):
            result[key] = after.get(key)
    topology = {key: its for key, its in after["topology"].items() if its != before["topology"].get(key)}
    leaf = {key: its for key, its in topology.pop("leaf", {}).items() if its != before["topology"].get("leaf", {}).get(key)}
    topology |= {"leaf": leaf} if leaf else {}
    if topology:
        result["topology"] = merged(result.get("topology", {}), topology)
    return {key: its for key, its in result.items() if its or key == "management"}


def _kind(run: Running) -> Document:
    how = TenantSurvey(run).isolation
    return {"kind": "evpn-vxlan"} if how == "evpn" else {"isolation": how} if how != "none" else {}


def _planned(document: Document, lock: Lock | None) -> Plan | None:
    try:
        return plan_of(document, lock)
    except InputError:
        return None


def _shared(parts: Mapping[str, Document]) -> Document:
    """The part of most fabrics, of several the first."""
    every = list(parts.values())
    return max(every, key=every.count, default={})


def _releases(runs: Sequence[Running], found: Document) -> None:
    """`releases`, of the site where all fabrics agree."""
    of_fabric = {}
    for run in runs:
        pairs = {its.nos: its.release for its in run.switches if its.release and its.release not in _first(its.nos)}
        of_fabric[run.name] = dict(sorted(pairs.items()))
    shared = _shared(of_fabric)
    if shared:
        found["releases"] = shared
    for name, pairs in of_fabric.items():
        if own := {nos: release for nos, release in pairs.items() if shared.get(nos) != release}:
            found["fabrics"][name]["releases"] = own


def _first(nos: str) -> Sequence[str]:
    return target(nos).releases[:1]
