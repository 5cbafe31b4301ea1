"""VRFs, layer-2 VNIs, and where the tunnels of a Junos config begin."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.model.facts import Facts, Located, Vni, Vrf
from fabric.nos.junos.read.tree import Node, logical, number
from fabric.nos.junos.read.vlans import Place, Vlans

AUTO = "auto"


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


def _vrf(place: Place, policies: Node) -> Vrf:
    evpn = place.node.at("protocols", "evpn")
    found = Vrf(name=place.name, line=place.node.line, file=place.node.file)
    found.vni = number(evpn.value("ip-prefix-routes", "vni") or evpn.value("irb-symmetric-routing", "vni"))
    found.rd = place.node.value("route-distinguisher")
    found.imports, found.exports = targets(place.node, policies)
    return found


def _describe(found: Vni, place: Place, policies: Node) -> None:
    """A VNI may have targets of its own, else it has those of its instance."""
    found.rd = place.switching.value("route-distinguisher")
    own = place.node.at("protocols", "evpn", "vni-options", "vni", str(found.number))
    if "vrf-target" in own or "vrf-import" in own or "vrf-export" in own:
        found.imports, found.exports = targets(own, policies)
    else:
        found.imports, found.exports = targets(place.switching, policies)
        node = place.switching.at("vrf-target").get(AUTO)
        if node is not None:
            found.imports = [Located(AUTO, node.line, node.file)]
            found.exports = found.imports.copy()


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
