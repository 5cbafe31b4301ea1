"""Draws an everyday design: 1 to 32 servers of the catalog on one switch, a pair, a few racks, or on no switch at all.

`KINDS` has the kinds. What a design of a kind has beside its shape (network OS, models, tenants, attachments, logins)
is drawn as for all designs. A draw asks for what the switch of its choice can do, so that few are refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fabric.hardware import catalog
from fabric.model.plan import capacity
from fabric.nos.target import target
from tests.system.random_designs.able import logs_in
from tests.system.random_designs.below import hang
from tests.system.random_designs.drawing import SYSTEMS, Design, Part, _able, _model, _needed
from tests.system.random_designs.keys import drawn
from tests.system.random_designs.tenants import draw_tenants
from tests.system.random_designs.words import AAA, HOSTS, SERVER_NAMES, TEXTS

MAX_SERVERS = 32
ELSEWHERE = ("gateway", "gnmi", "aaa", "banner")  # keys of the management that need others, or are refused as drawn
GENERIC = ("16x400g", "32x400g", "64x400g", "64x800g", "48x100g", "48x25g")
# Two ports a NIC, which the catalog has of front ends alone.
TWIN = {
    "gpus": 8,
    "nics": {"compute": {"count": 4, "ports": 2, "speed_gbps": 200}, "storage": {"count": 1, "ports": 2, "speed_gbps": 100}},
}
MIXED = {  # GPUs, front end and storage of one server
    "gpus": 8,
    "nics": {
        "compute": {"count": 8, "speed_gbps": 400},
        "frontend": {"count": 1, "ports": 2, "speed_gbps": 200},
        "storage": {"count": 1, "ports": 2, "speed_gbps": 200},
    },
}
STORE = {"gpus": 0, "nics": {"storage": {"count": 1, "ports": 2, "speed_gbps": 200}}}
LOGIN = {"gpus": 0, "nics": {"frontend": {"count": 1, "ports": 2, "speed_gbps": 100}}}


@dataclass
class Draft:
    """A design as far as it is drawn."""

    rng: random.Random
    name: str
    intent: dict[str, Any]
    parts: list[Part] = field(default_factory=list)

    @property
    def fabrics(self) -> dict[str, Any]:
        """Name → fabric."""
        found: dict[str, Any] = self.intent["fabrics"]
        return found


def draw_everyday(seed: int, index: int) -> Design:
    """The design of that number; its kind is the next of `KINDS` in turn."""
    kind = list(KINDS)[index % len(KINDS)]
    draft = Draft(
        random.Random(f"{seed}/{index}/everyday"), f"e{index:05}", {"version": 1, "site": f"e{index:05}", "fabrics": {}}
    )
    KINDS[kind](draft)
    _site(draft)
    return Design(draft.name, draft.intent, kind=kind)


# --- one fabric -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a kind asks of its fabric."""

    name: str = "backend"
    purpose: str = "compute"
    kind: str = ""  # of the topology; "" leaves it to the tool
    ports: int = 1  # of a NIC, at least
    most: float = 1.0  # servers, in parts of those that one leaf has ports for; 0: as many as there are
    topology: dict[str, Any] = field(default_factory=dict)
    group: dict[str, Any] = field(default_factory=dict)  # of servers that another fabric has too
    isolation: tuple[str, ...] = ("none", "none", "evpn", "evpn", "evpn", "vrf-lite", "acl")


def add(draft: Draft, wanted: Wanted) -> Part:
    """A fabric of servers of the catalog; what it takes of them is the NICs of its purpose."""
    rng = draft.rng
    model = wanted.group.get("model") or _server(draft, wanted)
    nics = _nics(draft, model)[wanted.purpose]
    per_server, speed = nics["count"] * nics.get("ports", 1), nics["speed_gbps"]
    isolation = rng.choice(wanted.isolation)
    layer2 = isolation == "evpn" and rng.random() < 0.7
    bonds = layer2 and ((nics.get("ports", 1) > 1 and wanted.kind == "collapsed") or bool(wanted.topology.get("dual_tor")))
    nos, leaf = _switch(rng, _needed(isolation, layer2=layer2, bonds=bonds), speed, per_server, frr=not bonds)
    fits = max(1, int(wanted.most * (capacity(_model(leaf), speed) // per_server))) if wanted.most else MAX_SERVERS
    count = min(MAX_SERVERS, fits) if rng.random() < 0.15 else rng.randint(1, min(MAX_SERVERS, max(1, fits - 1)))
    name = f"{wanted.purpose[0]}{len(draft.parts)}"
    group: dict[str, Any] = {"model": model, "count": count, "name": name, **wanted.group}
    topology = {**({"kind": wanted.kind} if wanted.kind else {}), "switch": leaf, **wanted.topology}
    fabric: dict[str, Any] = {"purpose": wanted.purpose, "nos": nos, "servers": group, "topology": topology}
    systems = dict.fromkeys(("leaf", "spine", "core"), nos)
    if wanted.kind in ("rail-optimized", "rack") and rng.random() < 0.15:
        _other_spine(rng, fabric, systems, leaf)
    part = Part(
        name=wanted.name,
        kind=wanted.kind or ("rail-optimized" if wanted.purpose == "compute" else "rack"),
        isolation=isolation,
        addressing=rng.choice(
            {"evpn": ("ipv4", "unnumbered"), "vrf-lite": ("ipv4", "ipv6")}.get(isolation, ("ipv4", "unnumbered", "ipv6"))
        ),
        systems=systems,
        layer2=layer2,
        bonds=bonds,
        groups=(group,),
        rails=nics["count"] if wanted.kind else 1,
        server_names=SERVER_NAMES[0],
        site=draft.name,
        port_gbps=speed,
        models={"leaf": _model(leaf)},
    )
    _options(rng, part, fabric)
    draw_tenants(rng, part, fabric)
    tenants = fabric.get("tenants", [])
    _widen(rng, tenants if isinstance(tenants, list) else [tenants])
    if isinstance(tenants, list) and bonds and rng.random() < 0.4:
        _bonded(rng, fabric)
    draft.fabrics[wanted.name] = fabric
    draft.parts.append(part)
    return part


def _widen(rng: random.Random, tenants: list[dict[str, Any]]) -> None:
    """Room for every server in most networks; imports name the same subnets."""
    wide = {}
    for network in (its for tenant in tenants for its in tenant.get("networks", ())):
        if "gateway" in network and rng.random() < 0.95:
            first, second, third, _ = network["gateway"].split(".")
            wide[network["gateway"]] = network["gateway"] = f"{first}.{second}.{16 * int(third)}.0/20"
    for tenant in tenants:
        imports = tenant.get("imports", [])
        for item in imports if isinstance(imports, list) else [imports]:
            if isinstance(item, dict):
                item["prefixes"] = [wide.get(prefix, prefix) for prefix in item["prefixes"]]


def _bonded(rng: random.Random, fabric: dict[str, Any]) -> None:
    """A switch below the pair, in the first tenant that has networks."""
    names = [tenant["name"] for tenant in fabric.get("tenants", []) if tenant.get("networks")]
    if names:
        below = {"name": f"below-{fabric['purpose']}", "links": rng.choice((2, 4)), "tenant": names[0], "bond": True}
        fabric["topology"].setdefault("attachments", []).append(below)


def _server(draft: Draft, wanted: Wanted) -> str:
    """A server of the catalog with NICs of the purpose; one of the intent where they need more ports than those have."""
    fitting = []
    for name in catalog.server_names():
        nics = _nics(draft, name).get(wanted.purpose)
        if nics and nics.get("ports", 1) >= wanted.ports:
            fitting.append(name)
    if not fitting or (wanted.ports > 1 and draft.rng.random() < 0.6 and wanted.purpose in TWIN["nics"]):  # type: ignore[operator]
        return _own(draft, "twin", TWIN)
    return draft.rng.choice(fitting)


def _own(draft: Draft, name: str, model: dict[str, Any]) -> str:
    draft.intent.setdefault("catalog", {}).setdefault("servers", {})[name] = model
    return name


def _nics(draft: Draft, model: str) -> dict[str, Any]:
    own = draft.intent.get("catalog", {}).get("servers", {})
    if model in own:
        found: dict[str, Any] = own[model]["nics"]
        return found
    shipped = catalog.server(model)
    assert shipped is not None
    return {name: nics.model_dump() for name, nics in shipped.nics.items()}


def _switch(
    rng: random.Random, needed: tuple[str, ...], speed: int, per_server: int, *, frr: bool, systems: tuple[str, ...] = SYSTEMS
) -> tuple[str, str]:
    """Network OS and leaf: any of the catalog with ports of that speed for a server or more."""
    for nos in rng.sample(systems, len(systems)):
        if nos == "frr" and not frr:
            continue
        names = [*_able(nos, needed)]
        if nos == "frr" or (nos in ("eos", "nxos", "junos") and rng.random() < 0.2):
            names = [name for name in GENERIC if target(nos).refusal(_model(name), name) is None]
        fitting = [name for name in names if speed in _model(name).speeds and capacity(_model(name), speed) >= per_server]
        if fitting:
            return nos, rng.choice(fitting)
    raise AssertionError(f"no switch has ports of {speed}G")


def _other_spine(rng: random.Random, fabric: dict[str, Any], systems: dict[str, str], leaf: str) -> None:
    """Spines of another model, often of another network OS."""
    nos, native = rng.choice(SYSTEMS), _model(leaf).native_gbps
    fitting = [name for name in _able(nos, ()) if native in _model(name).uplink_speeds]
    if fitting:
        topology = fabric["topology"]
        topology["leaf"], topology["spine"] = {"switch": topology.pop("switch")}, {"switch": rng.choice(fitting)}
        systems["spine"] = nos
        fabric["nos"] = {"leaf": systems["leaf"], "spine": nos}


def _options(rng: random.Random, part: Part, fabric: dict[str, Any]) -> None:
    """Addressing, overlay, and now and then a lossless class or an MTU that are stated."""
    fabric["underlay"] = {"addressing": part.addressing}
    if part.isolation == "evpn":
        fabric["overlay"] = {"kind": "evpn-vxlan"} | ({"route_servers": rng.choice((1, 2))} if rng.random() < 0.2 else {})
    elif part.isolation != "none":
        fabric["overlay"] = {"isolation": part.isolation}
    if rng.random() < 0.2:
        fabric["underlay"]["mtu"] = rng.choice((9000, 9100, 9214))
    if rng.random() < 0.2:
        fabric["qos"] = {"lossless_dscp": rng.choice((24, 26, 30))} if part.can("lossless") else {"enabled": False}
    if part.can("lossless") and not part.can("watchdog") and rng.random() < 0.9:
        fabric["qos"] = {**fabric.get("qos", {}), "pfc_watchdog": False}
    if rng.random() < 0.2:
        fabric["planned"] = {"servers": part.groups[0]["count"] + rng.choice((0, 1, 2, 4))}


def _site(draft: Draft) -> None:
    """Management of the site, with logins on servers now and then."""
    rng = draft.rng
    found = drawn(rng, "management", rng.choice((0, 0, 0.3)), TEXTS, frozenset({f"management.{key}" for key in ELSEWHERE}))
    if rng.random() < 0.5:
        found |= {"ntp": list(HOSTS[:2]), "syslog": HOSTS[2]}
    stated = [fabric["nos"] for fabric in draft.fabrics.values() if "nos" in fabric]
    systems = {nos for of in stated for nos in ([of] if isinstance(of, str) else of.values())}
    if rng.random() < 0.4 and (able := [aaa for aaa in AAA if all(logs_in(nos, aaa) for nos in systems)]):
        found["aaa"] = rng.choice(able)
    if found:
        draft.intent["management"] = found


# --- the kinds --------------------------------------------------------------------------------------------------


def one_switch(draft: Draft) -> None:
    add(draft, Wanted(purpose=draft.rng.choice(("compute", "compute", "storage", "frontend", "oob"))))


def two_switches(draft: Draft) -> None:
    """A collapsed pair."""
    rng = draft.rng
    ports = rng.choice((1, 2))
    purpose = rng.choice(("compute", "frontend")) if ports > 1 else rng.choice(("compute", "storage"))
    add(draft, Wanted(kind="collapsed", purpose=purpose, ports=ports))


def no_switches(draft: Draft) -> None:
    """Back to back, or a ring."""
    rng = draft.rng
    kind = rng.choice(("back-to-back", "ring"))
    model = rng.choice(("dgx-spark", "dgx-spark", "hgx-h100", "dgx-a100", "gb200-tray"))
    ports = 2 if model == "dgx-spark" else 4
    count = rng.randint(2, ports + 1) if kind == "back-to-back" else rng.randint(3, 8)
    draft.fabrics["backend"] = {"servers": {"model": model, "count": count, "name": "n"}, "topology": {"kind": kind}}


def two_leaves_a_rack(draft: Draft) -> None:
    """Dual ToR, each NIC on two leaves."""
    purpose = draft.rng.choice(("compute", "frontend"))
    racks = {"per_rack": draft.rng.randint(1, 4)} if draft.rng.random() < 0.5 else {}
    kind = draft.rng.choice(("", "rack"))
    add(draft, Wanted(kind=kind, purpose=purpose, ports=2, most=0, topology={"dual_tor": True}, group=racks))


def rails_alone(draft: Draft) -> None:
    add(draft, Wanted(kind="rail-only", most=0))


def leaf_and_spine(draft: Draft) -> None:
    unit = {"unit": {"servers": draft.rng.choice((2, 4, 8))}} if draft.rng.random() < 0.5 else {"tiers": 2}
    add(draft, Wanted(kind="rail-optimized", most=0, topology=unit))


def planes(draft: Draft) -> None:
    add(draft, Wanted(ports=2, most=0, topology={"planes": 2}))


def partial_racks(draft: Draft) -> None:
    """Racks whose last one is not full."""
    purpose = draft.rng.choice(("compute", "storage", "frontend"))
    add(draft, Wanted(kind="rack", purpose=purpose, most=0, group={"per_rack": draft.rng.choice((2, 3, 4))}))


def beside_storage(draft: Draft) -> None:
    """Servers with a compute fabric and one for storage."""
    model = draft.rng.choice(("dgx-h100", "dgx-b200", "dgx-a100", "gb200-tray"))
    group = {"model": model, "count": draft.rng.randint(1, MAX_SERVERS), "name": "gpu"}
    add(draft, Wanted(most=0, group=group))
    add(draft, Wanted(name="storage", purpose="storage", most=0, group=group))


def out_of_band(draft: Draft) -> None:
    """A compute fabric, and the network of its controllers and of the management ports of its switches."""
    rng = draft.rng
    model = rng.choice(("dgx-h100", "hgx-b200", "mi300x-8", "dgx-spark"))
    group = {"model": model, "count": rng.randint(1, MAX_SERVERS), "name": "gpu"}
    add(draft, Wanted(most=0, group=group))
    add(draft, Wanted(name="oob", purpose="oob", most=0, group=group, isolation=("none", "evpn")))
    oob = draft.fabrics["oob"]
    if oob.get("overlay", {}).get("kind") and draft.parts[-1].layer2:
        servers = f"gpu-0001..{group['count']:04}"
        ports = {"name": "switch-management", "links": rng.randint(2, 12), "tenant": "switches"}
        oob["topology"]["attachments"] = [ports]
        oob["tenants"] = [
            {"name": "bmc", "servers": servers, "networks": [{"name": "bmc", "vlan": 10, "gateway": "10.40.0.0/24"}]},
            {"name": "switches", "networks": [{"name": "ports", "vlan": 20, "gateway": "172.16.0.0/24"}]},
        ]
        draft.intent["pools"] = {"management": "172.16.0.0/24"}


def everything(draft: Draft) -> None:
    """GPUs, front end and storage, with servers of storage and logins, on one switch, a pair, or leaves and spines."""
    rng = draft.rng
    _own(draft, "mixed", MIXED)
    kind = rng.choice(("collapsed", "collapsed", "", "rack", "rail-optimized"))
    layer2 = rng.random() < 0.6
    bonds = layer2 and kind == "collapsed"
    needed = _needed("evpn", layer2=True, bonds=bonds) if layer2 else ()
    nos, leaf = _switch(rng, needed, 400, 16, frr=not bonds)
    while {200, 100} - set(_model(leaf).speeds):
        nos, leaf = _switch(rng, needed, 400, 16, frr=not bonds)
    purposes = ["compute", *rng.sample(("frontend", "storage"), rng.choice((1, 2)))]
    fits = capacity(_model(leaf), 400) // (16 if kind != "collapsed" else 12)
    gpus: dict[str, Any] = {
        "model": "mixed",
        "name": "gpu",
        "count": rng.randint(1, max(1, min(MAX_SERVERS, fits))),
        "nics": purposes,
    }
    groups, shared = [gpus], {} if kind == "collapsed" else {"leaves": "shared"}
    for name, model, nics in (("store", STORE, "storage"), ("login", LOGIN, "frontend")):
        if rng.random() < 0.6:
            _own(draft, name, model)
            groups.append({"model": name, "name": name, "count": rng.randint(1, 6), "nics": nics, **shared})
    topology: dict[str, Any] = {"switch": leaf, "leaf": {"oversubscription": rng.choice((1, 2, 4))}}
    topology |= {"kind": kind} if kind else {}
    addressing = rng.choice(("ipv4", "unnumbered") if layer2 else ("ipv4", "unnumbered", "ipv6"))
    underlay = {"addressing": addressing}
    fabric: dict[str, Any] = {"nos": nos, "servers": groups, "topology": topology, "underlay": underlay}
    if layer2:
        fabric["overlay"] = {"kind": "evpn-vxlan"}
        every = dict.fromkeys(
            nics for group in groups for nics in ([group["nics"]] if isinstance(group["nics"], str) else group["nics"])
        )
        fabric["tenants"] = [
            {"name": nics, "nics": nics, "networks": [{"name": nics, "vlan": 300 + at, "gateway": f"10.{30 + at}.0.0/23"}]}
            for at, nics in enumerate(every)
        ]
        if kind == "collapsed":
            gpus["homing"] = {"compute": "single"}
        if rng.random() < 0.5:
            edge = {"name": "edge", "links": rng.choice((1, 2, 4)), "external": {"asn": 65010}}
            below = {"name": "oob", "links": 2, "bond": True, "tenant": next(iter(every))}
            topology["attachments"] = [edge, *([below] if kind == "collapsed" else [])]
    draft.fabrics["core"] = fabric
    if bonds:
        part = Part(
            name="core",
            kind=kind,
            isolation="evpn",
            addressing=addressing,
            systems=dict.fromkeys(("leaf", "spine", "core"), nos),
            layer2=layer2,
            bonds=bonds,
            groups=tuple(groups),
            rails=1,
            server_names=SERVER_NAMES[0],
            site=draft.name,
            port_gbps=400,
            models={"leaf": _model(leaf)},
        )
        _converged(random.Random(f"{draft.name}/converged"), draft, part)


def _converged(rng: random.Random, draft: Draft, part: Part) -> None:
    """Homing of NICs with two ports, and switches that bridge below the pair; drawn apart, so that other designs stay."""
    for group in part.groups:
        for nics in [group["nics"]] if isinstance(group["nics"], str) else group["nics"]:
            if nics != "compute" and rng.random() < 0.6:
                group.setdefault("homing", {})[nics] = rng.choice(("fallback", "bond"))
    if rng.random() < 0.6:
        hang(rng, draft.intent, [part])


KINDS: dict[str, Callable[[Draft], None]] = {
    "one switch": one_switch,
    "pair": two_switches,
    "converged": everything,
    "leaf and spine": leaf_and_spine,
    "dual ToR": two_leaves_a_rack,
    "partial racks": partial_racks,
    "rail-only": rails_alone,
    "planes": planes,
    "storage beside compute": beside_storage,
    "out of band": out_of_band,
    "no switches": no_switches,
}
