"""Instances of a Junos config: VRFs, VLANs, layer-2 VNIs, where tunnels begin, and static routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabric.model.facts import Chain, Facts, Located, Part, Route, Vni, Vrf
from fabric.nos.junos.read.tree import NOTHING, Node, logical, number
from fabric.nos.reading import is_address, numbers, prefix

# --- VLANs: at the top, in an instance, as a bridge domain, or as a whole instance ----------------------------

MANAGEMENT_INSTANCE = "mgmt_junos"
LAYER_2 = ("evpn", "evpn-vpws", "l2backhaul-vpn", "l2vpn", "mac-vrf", "mpls-internet-multicast", "virtual-switch", "vpls")


@dataclass(frozen=True, slots=True)
class Place:
    """Something with routing tables or VLANs of its own: the switch itself, or an instance."""

    name: str  # "" for the switch itself
    node: Node

    @property
    def layer_2(self) -> bool:
        kind = self.node.value("instance-type")
        return kind is not None and kind.value in LAYER_2

    def bridges(self, interface: str) -> bool:
        """Whether an interface may be in its VLANs: an instance that names interfaces has no others."""
        listed = self.node.at("interface") if self.name else NOTHING
        return not listed or interface in listed or f"{interface}.0" in listed

    @property
    def switching(self) -> Node:
        """Where distinguisher, targets and source of the tunnels stand."""
        return self.node if self.name else self.node.at("switch-options")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vlan:
    name: str
    place: Place
    id: Located[int] | None
    vni: Located[int] | None
    gateway: str  # interface, "irb.100", "" for none
    members: list[Located[str]]  # interfaces that the VLAN itself names


@dataclass(frozen=True, slots=True)
class Vlans:
    every: list[Vlan] = field(default_factory=list)

    def ids(self, word: str, interface: str) -> list[int]:
        """What `members` of an interface may say: a number, a range, a name, `all`."""
        if word[:1].isdecimal():
            return list(numbers(word))
        named = (vlan for vlan in self.every if vlan.name == word or word == "all")
        return [vlan.id.value for vlan in named if vlan.id and vlan.place.bridges(interface)]

    def gateways(self) -> dict[str, Located[int]]:
        return {vlan.gateway: vlan.id for vlan in self.every if vlan.gateway and vlan.id}


def places(root: Node) -> list[Place]:
    """The switch itself and its instances, the management port's left out."""
    instances = root.at("routing-instances").items()
    return [Place("", root), *(Place(name, node) for name, node in instances if name != MANAGEMENT_INSTANCE)]


def read_vlans(everywhere: list[Place]) -> Vlans:
    return Vlans([vlan for place in everywhere for vlan in _of(place)])


def _of(place: Place) -> Iterator[Vlan]:
    for kind in ("vlans", "bridge-domains"):
        for name, node in place.node.at(kind).items():
            yield _vlan(name, place, node)
    if place.name and place.layer_2 and "vlan-id" in place.node:
        yield _vlan(place.name, place, place.node)


def _vlan(name: str, place: Place, node: Node) -> Vlan:
    gateway = node.value("l3-interface") or node.value("routing-interface")
    vni = number(node.value("vxlan", "vni"))
    return Vlan(
        name=name,
        place=place,
        id=number(node.value("vlan-id")),
        vni=vni,
        gateway=logical(gateway.value) if gateway else "",
        members=node.every("interface"),
    )


# --- DHCP relay -----------------------------------------------------------------------------------------------


def read_relays(facts: Facts, places: Sequence[Place]) -> None:
    """The servers of a group, or those of the relay, for every interface of the group."""
    for place in places:
        relay = place.node.at("forwarding-options", "dhcp-relay")
        for group in relay.at("group").values():
            active = group.value("active-server-group") or relay.value("active-server-group")
            servers = relay.every("server-group", active.value) if active else []
            for name in group.at("interface"):
                if interface := facts.interfaces.get(logical(name)) or facts.interfaces.get(name):
                    interface.relays += servers


# --- Static routes --------------------------------------------------------------------------------------------


def read_routes(facts: Facts, places: Sequence[Place]) -> None:
    for place in places:
        options = place.node.at("routing-options")
        tables = (options.at("static"), *(rib.at("static") for rib in options.at("rib").values()))
        facts.routes += (route for table in tables for route in _of_table(place.name, table))


def _of_table(vrf: str, table: Node) -> Iterator[Route]:
    """A next hop with `resolve` may be that of any other route."""
    recursive = "resolve" in table.at("defaults")
    for text, node in table.at("route").items():
        destination = prefix(text)
        if destination is None:
            continue
        hops = [*node.at("next-hop").items(), *node.at("qualified-next-hop").items()]
        for hop, child in hops or [("", node)]:
            known = is_address(hop) and not (recursive or "resolve" in node or "interface" in child)
            yield Route(vrf=vrf, prefix=destination, via=hop if known else "", table=vrf, line=child.line, file=child.file)


# --- VRFs, layer-2 VNIs, tunnels ------------------------------------------------------------------------------

AUTO = "auto"
TYPED = 1 << 28  # before the number of a VNI in a derived target (RFC 8365 section 5.1.2.1)


def read_instances(facts: Facts, places: list[Place], vlans: Vlans) -> None:
    policies = places[0].node.at("policy-options")
    for place in places:
        if place.name and not place.layer_2:
            facts.vrfs[place.name] = _vrf(place, policies)
        if (source := place.switching.value("vtep-source-interface")) and facts.vtep is None:
            facts.vtep = Located(logical(source.value), source.line, source.file)
    for vlan in vlans.every:
        if vlan.vni:
            found = Vni(number=vlan.vni.value, line=vlan.vni.line, file=vlan.vni.file, vlan=vlan.id)
            _describe(found, vlan.place, policies)
            facts.vnis[found.number] = found


def read_chains(facts: Facts, places: list[Place], vlans: Vlans) -> None:
    """Once sessions and sources of tunnels are known."""
    if not any(family.value == "evpn" for peer in facts.neighbors() for family in peer.families):
        return
    root = places[0].node
    for vlan in vlans.every:
        if vlan.vni and vlan.vni.value in facts.vnis:
            parts = _network(vlan, facts.vnis[vlan.vni.value], vlan.vni, facts.vtep, root)
            facts.chains.append(Chain(f"VLAN {vlan.name}", tuple(parts)))
    for place in places:
        routes = place.node.at("protocols", "evpn").get("ip-prefix-routes")
        if routes is not None and place.name in facts.vrfs:
            facts.chains.append(Chain(f"VRF {place.name}", tuple(_tenant(facts.vrfs[place.name], routes, root))))


def _network(vlan: Vlan, vni: Vni, stated: Located[int], source: Located[str] | None, root: Node) -> Iterator[Part]:
    """Junos, "EVPN User Guide": an instance has an encapsulation, the VNIs that it extends, a source and targets."""
    evpn = vlan.place.node.at("protocols", "evpn")
    kind, listed = evpn.value("encapsulation"), evpn.every("extended-vni-list")
    yield Part(f"VNI {vni.number}", stated)
    yield Part("`encapsulation vxlan` in `protocols evpn`", kind if kind and kind.value == "vxlan" else None)
    if listed or not vlan.place.name:
        extended = next((parsed for parsed in listed if parsed.value == "all" or vni.number in numbers(parsed.value)), None)
        yield Part(f"VNI {vni.number} in `extended-vni-list`", extended)
    yield Part("`vtep-source-interface`", source)
    yield from _distinguished(vni, root)


def _tenant(vrf: Vrf, routes: Node, root: Node) -> Iterator[Part]:
    kind = routes.value("encapsulation")
    yield Part("`ip-prefix-routes`", Located(None, routes.line, routes.file))
    yield Part("`vni`", vrf.vni, inside=True)
    yield Part("`encapsulation vxlan`", kind if kind and kind.value == "vxlan" else None, inside=True)
    yield Part("`advertise`", routes.value("advertise"), inside=True)
    yield from _distinguished(vrf, root)


def _distinguished(table: Vni | Vrf, root: Node) -> Iterator[Part]:
    yield Part("`route-distinguisher`", table.rd or root.value("routing-options", "route-distinguisher-id"))
    yield Part("`vrf-target` or `vrf-import`", next(iter(table.imports), None))
    yield Part("`vrf-target` or `vrf-export`", next(iter(table.exports), None))


def _vrf(place: Place, policies: Node) -> Vrf:
    evpn = place.node.at("protocols", "evpn")
    found = Vrf(name=place.name, line=place.node.line, file=place.node.file)
    found.vni = number(evpn.value("ip-prefix-routes", "vni") or evpn.value("irb-symmetric-routing", "vni"))
    found.rd = place.node.value("route-distinguisher")
    found.imports, found.exports = targets(place.node, policies)
    return found


def _describe(found: Vni, place: Place, policies: Node) -> None:
    """A VNI may have targets of its own, in one direction or both, else it has those of its instance."""
    found.rd = place.switching.value("route-distinguisher")
    aware = place.node.value("service-type") or place.node.value("instance-type")
    if aware is None or aware.value in ("vlan-aware", "vlan-based", "vlan-bundle", "virtual-switch", "evpn"):
        at = aware or Located("virtual-switch", found.line, found.file)  # the switch itself is VLAN-aware, as one is
        found.tagged = Located(at.value in ("vlan-aware", "virtual-switch"), at.line, at.file)
    imports, exports = targets(place.switching, policies)
    if (node := place.switching.at("vrf-target").get(AUTO)) is not None:  # a policy goes before it
        derived = [Located(AUTO, node.line, node.file)]
        others = [parsed.at(f"{parsed.value}:{found.number | TYPED}") for parsed in node.every("import-as")]
        imports = imports if "vrf-import" in place.switching else [*derived, *others]
        exports = exports if "vrf-export" in place.switching else derived
    own = targets(place.node.at("protocols", "evpn", "vni-options", "vni", str(found.number)), policies)
    found.imports, found.exports = own[0] or imports.copy(), own[1] or exports.copy()


def targets(node: Node, policies: Node) -> tuple[list[Located[str]], list[Located[str]]]:
    """Route targets in and out; a policy goes before `vrf-target`."""
    stated = node.at("vrf-target")
    both = _stripped(stated.every())
    imports = both + _stripped(stated.every("import"))
    exports = both + _stripped(stated.every("export"))
    if "vrf-import" in node:
        imports = [parsed for name in node.at("vrf-import") for parsed in _matched(policies, name)]
    if "vrf-export" in node:
        exports = [parsed for name in node.at("vrf-export") for parsed in _added(policies, name)]
    return imports, exports


def _stripped(found: list[Located[str]]) -> list[Located[str]]:
    """`target:4200000001L:5` → 4200000001:5; words that are no targets are left out."""
    kept = [parsed for parsed in found if parsed.value.startswith("target:")]
    return [Located(parsed.value.removeprefix("target:").replace("L:", ":"), parsed.line, parsed.file) for parsed in kept]


def _terms(policies: Node, name: str) -> Iterator[Node]:
    statement = policies.at("policy-statement", name)
    yield statement
    yield from statement.at("term").values()


def _matched(policies: Node, name: str) -> Iterator[Located[str]]:
    """Targets of the communities that a policy accepts by."""
    for term in _terms(policies, name):
        if "accept" in term.at("then"):
            for community in term.at("from", "community"):
                yield from _members(policies, community)


def _added(policies: Node, name: str) -> Iterator[Located[str]]:
    """Targets of the communities that a policy gives a route."""
    for term in _terms(policies, name):
        for verb in ("add", "set", "+", "="):
            for community in term.at("then", "community", verb):
                yield from _members(policies, community)


def _members(policies: Node, community: str) -> list[Located[str]]:
    return _stripped(policies.every("community", community, "members"))
