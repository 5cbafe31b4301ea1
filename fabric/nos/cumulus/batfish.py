"""Cumulus Linux as Batfish takes it: the interfaces and the `frr.conf` that NVUE writes from its tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from fabric.nos.batfish import (
    BRIDGE,
    EVPN,
    FORMAT,
    FORWARD,
    NATIVE,
    UNNUMBERED,
    VRF,
    BatfishView,
    Copy,
    only,
    routing,
    start,
    whole,
)
from fabric.nos.cumulus.read.tree import read_tree
from fabric.nos.frr.batfish import maps, readable
from fabric.nos.reading import Branch as Read

# --- An NVUE file as a tree whose branches know their lines ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """A mapping, or a word; a branch that the file does not have is empty, is on line 0 and counts as false."""

    word: str = ""
    line: int = 0
    below: dict[str, Branch] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.line > 0

    def at(self, *path: str) -> Branch:
        """A branch further down; `a|b` takes what there is of two spellings."""
        here = self
        for step in path:
            here = next((here.below[name] for name in step.split("|") if name in here.below), Branch())
        return here

    def on(self, *path: str) -> bool:
        """Whether a switch is there and says yes, in either spelling."""
        return self.at(*path).word in ("enabled", "on")

    def items(self) -> Iterator[tuple[str, Branch]]:
        yield from self.below.items()


def read(text: str) -> Branch:
    """The `set` tree of a startup file."""
    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    tree = _branch(root) if root is not None else Branch()
    return tree.at("0", "set") or tree.at("1", "set")


def _adapted(tree: Read, line: int = 1) -> Branch:
    """The tree of commands, or of a file that another program got from the switch."""
    below = {key: _adapted(part, part.line) for key, part in tree.parts.items()}
    return Branch(tree.word or "", line, below)


def _branch(node: yaml.Node) -> Branch:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return Branch("", line, {str(key.value): _named(key, value) for key, value in node.value})
    if isinstance(node, yaml.SequenceNode):
        return Branch("", line, {str(at): _branch(value) for at, value in enumerate(node.value)})
    return Branch(str(node.value), line)


def _named(key: yaml.Node, value: yaml.Node) -> Branch:
    found = _branch(value)
    return Branch(found.word, key.start_mark.line + 1, found.below)


# --- `frr.conf`: prefix lists, route maps, VRFs and BGP -------------------------------------------------------

FrrLine = tuple[str, int]


def frr_lines(tree: Branch) -> Iterator[FrrLine]:
    """Every line with that of the tree which it is from."""
    policy = tree.at("router", "policy")
    for name, prefixes in policy.at("prefix-list").items():
        yield from _prefix_list(name, prefixes)
    for name, route_map in policy.at("route-map").items():
        yield from _route_map(name, route_map)
    for name, vrf in tree.at("vrf").items():
        for vni, branch in vrf.at("evpn", "vni").items():
            yield from ((f"vrf {name}", branch.line), (f" vni {vni}", branch.line), ("exit-vrf", branch.line))
    for name, vrf in sorted(tree.at("vrf").items(), key=lambda item: item[0] != "default"):
        if bgp := vrf.at("router", "bgp"):
            yield from _bgp(tree, name, bgp)


def _prefix_list(name: str, prefixes: Branch) -> Iterator[FrrLine]:
    family = "ipv6" if prefixes.at("type").word == "ipv6" else "ip"
    for number, rule in prefixes.at("rule").items():
        action = rule.at("action").word or next(iter(rule.at("action").below), "permit")
        for prefix, match in rule.at("match").items():
            words = [f"{family} prefix-list {name} seq {number} {action} {prefix}"]
            words += [f"ge {match.at('min-prefix-len').word}"] if match.at("min-prefix-len") else []
            words += [f"le {match.at('max-prefix-len').word}"] if match.at("max-prefix-len") else []
            yield " ".join(words), match.line


def _route_map(name: str, route_map: Branch) -> Iterator[FrrLine]:
    for number, rule in route_map.at("rule").items():
        action = rule.at("action").word or next(iter(rule.at("action").below), "permit")
        yield f"route-map {name} {action} {number}", rule.line
        if match := rule.at("match", "ip-prefix-list"):
            family = "ipv6" if rule.at("match", "type").word == "ipv6" else "ip"
            yield f" match {family} address prefix-list {match.word}", match.line


def _bgp(tree: Branch, vrf: str, bgp: Branch) -> Iterator[FrrLine]:
    asn = bgp.at("autonomous-system") or tree.at("router", "bgp", "autonomous-system")
    router_id = bgp.at("router-id") or tree.at("router", "bgp", "router-id")
    yield f"router bgp {asn.word}" + ("" if vrf == "default" else f" vrf {vrf}"), asn.line
    yield f" bgp router-id {router_id.word}", router_id.line
    yield " no bgp default ipv4-unicast", bgp.line
    if bgp.on("path-selection", "multipath", "aspath-ignore"):
        yield " bgp bestpath as-path multipath-relax", bgp.at("path-selection").line
    for name, group in bgp.at("peer-group").items():
        yield f" neighbor {name} peer-group", group.line
        yield from _session(name, group)
    for name, neighbor in bgp.at("neighbor").items():
        yield from _session(f"{name} interface" if neighbor.at("type").word == "unnumbered" else name, neighbor)
    for family in ("ipv4-unicast", "ipv6-unicast"):
        yield from _unicast(bgp, family)
    yield from _evpn(bgp)


def _session(name: str, session: Branch) -> Iterator[FrrLine]:
    if asn := session.at("remote-as"):
        yield f" neighbor {name} remote-as {asn.word}", asn.line
    if group := session.at("peer-group"):
        yield f" neighbor {name} peer-group {group.word}", group.line
    if hops := session.at("multihop-ttl"):
        yield f" neighbor {name} ebgp-multihop {hops.word}", hops.line
    if source := session.at("update-source"):
        yield f" neighbor {name} update-source {source.word}", source.line


def _unicast(bgp: Branch, family: str) -> Iterator[FrrLine]:
    """A family of an instance; it is on in every session by itself where it is IPv4."""
    unicast = bgp.at("address-family", family)
    if not unicast:
        return
    yield f" address-family {family.replace('-', ' ')}", unicast.line
    for prefix, aggregate in unicast.at("aggregate-route").items():
        summary = " summary-only" if aggregate.on("summary-only") else ""
        yield f"  aggregate-address {prefix}{summary}", aggregate.line
    if connected := unicast.at("redistribute", "connected"):
        word = connected.at("route-map").word
        yield "  redistribute connected" + (f" route-map {word}" if word else ""), connected.line
    if paths := unicast.at("multipaths", "ebgp"):
        yield f"  maximum-paths {paths.word}", paths.line
    for name, session in (*bgp.at("peer-group").items(), *bgp.at("neighbor").items()):
        activated = session.at("address-family", family)
        if activated.on("state|enable") or (
            family == "ipv4-unicast" and not session.at("peer-group") and not activated.at("state|enable")
        ):
            yield f"  neighbor {name} activate", activated.line or session.line
        for direction, word in (("inbound", "in"), ("outbound", "out")):
            if prefixes := activated.at("policy", direction, "prefix-list"):
                yield f"  neighbor {name} prefix-list {prefixes.word} {word}", prefixes.line
    yield " exit-address-family", unicast.line


def _evpn(bgp: Branch) -> Iterator[FrrLine]:
    evpn = bgp.at("address-family", "l2vpn-evpn")
    exports = bgp.at("address-family", "ipv4-unicast", "route-export", "to-evpn")
    if not (evpn or exports):
        return
    yield " address-family l2vpn evpn", evpn.line or exports.line
    for name, session in (*bgp.at("peer-group").items(), *bgp.at("neighbor").items()):
        family = session.at("address-family", "l2vpn-evpn")
        if family.on("state|enable"):
            yield f"  neighbor {name} activate", family.line
    if evpn:
        yield "  advertise-all-vni", evpn.line
    if exports:
        yield "  advertise ipv4 unicast", exports.line
    yield " exit-address-family", evpn.line or exports.line


# --- Interfaces, and both in one file -------------------------------------------------------------------------

Line = tuple[str, int]


def nvue_copy(name: str, files: Mapping[str, str]) -> Copy:
    """The one file of a Cumulus switch."""
    source, text = only(files, "startup.yaml")
    source, text = (source, text) if text or not files else next(iter(files.items()))
    try:
        tree = read(text) or _adapted(read_tree(text)[0])
    except (yaml.YAMLError, AttributeError):
        return whole(f"configs/{name}.cfg", source, text, FORMAT)
    writer = start(name, source)
    for words, line in interface_lines(tree):
        writer.add(words, line)
    routing(writer)
    lines = list(frr_lines(tree))
    texts = [text for text, _ in lines]
    for words, (_, line) in zip(readable(texts), lines, strict=True):
        writer.add(words, line)
    for words, line_number in maps(texts):
        writer.add(words, lines[line_number - 1][1])
    return writer.copy(f"configs/{name}.cfg", FORMAT)


def interface_lines(tree: Branch) -> Iterator[Line]:
    """`/etc/network/interfaces`: ports and the like, then VRFs, VNIs and the bridge."""
    bridged: list[str] = []
    for name, interface in tree.at("interface").items():
        kind = interface.at("type").word
        yield f"auto {name}", interface.line
        yield f"iface {name}" + (" inet loopback" if kind == "loopback" else ""), interface.line
        yield from _common(interface)
        yield from _by_kind(tree, kind, interface)
        if interface.at("bridge"):
            bridged.append(name)
    yield from _tables(tree)
    yield from _bridge(tree, bridged)


def _common(interface: Branch) -> Iterator[Line]:
    if description := interface.at("description"):
        yield f"    alias {description.word}", description.line
    if mtu := interface.at("link", "mtu"):
        yield f"    mtu {mtu.word}", mtu.line
    for family in ("ipv4", "ipv6", "ip"):
        for address, branch in interface.at(family, "address").items():
            yield f"    address {address}", branch.line
    if vrf := interface.at("vrf") or interface.at("ip", "vrf"):
        yield f"    vrf {vrf.word}", vrf.line


def _by_kind(tree: Branch, kind: str, interface: Branch) -> Iterator[Line]:
    if kind == "bond":
        members = interface.at("bond", "member")
        yield "    bond-slaves " + " ".join(members.below), members.line
    if kind == "svi":
        vlan = interface.at("vlan")
        yield f"    vlan-id {vlan.word}", vlan.line
        yield "    vlan-raw-device bridge", vlan.line
    mac = tree.at("system", "global", "fabric-mac").word or "00:00:5e:00:01:01"
    for family in ("ipv4", "ipv6", "ip"):
        for address, branch in interface.at(family, "vrr", "address").items():
            yield f"    address-virtual {mac} {address}", branch.line
    for _, domain in interface.at("bridge", "domain").items():
        if access := domain.at("access"):
            yield f"    bridge-access {access.word}", access.line
        if vlans := domain.at("vlan"):
            yield "    bridge-vids " + " ".join(vlans.below), vlans.line


def _tables(tree: Branch) -> Iterator[Line]:
    """VRFs are interfaces on Linux; that of the management port is there by itself."""
    for name, vrf in [("mgmt", tree.at("interface")), *tree.at("vrf").items()]:
        if name != "default":
            yield f"auto {name}", vrf.line
            yield f"iface {name}", vrf.line
            yield "    vrf-table auto", vrf.line


def vnis(tree: Branch) -> Iterator[tuple[str, str, int]]:
    """(VNI, VLAN, line), those of networks first."""
    for _, domain in tree.at("bridge", "domain").items():
        for vlan, branch in domain.at("vlan").items():
            for vni, found in branch.at("vni").items():
                yield vni, vlan, found.line
    for _, vrf in tree.at("vrf").items():
        for vni, found in vrf.at("evpn", "vni").items():
            yield vni, vrf.at("evpn", "vlan").word, found.line


def _vlans(tree: Branch, mapped: list[tuple[str, str, int]]) -> list[str]:
    """The VLANs of the bridge, also those without a VNI, then those of routed traffic."""
    domains = (vlan for _, domain in tree.at("bridge", "domain").items() for vlan in domain.at("vlan").below)
    return list(dict.fromkeys((*domains, *(vlan for _, vlan, _ in mapped))))


def _bridge(tree: Branch, bridged: list[str]) -> Iterator[Line]:
    """The tunnels, the VLANs that carry tenants' routed traffic, and the one bridge."""
    source = tree.at("nve", "vxlan", "source", "address")
    mapped = list(vnis(tree))
    for vni, vlan, line in mapped:
        yield f"auto vni{vni}", line
        yield f"iface vni{vni}", line
        yield f"    vxlan-id {vni}", line
        yield f"    vxlan-local-tunnelip {source.word}", source.line
        yield f"    bridge-access {vlan}", line
    for name, vrf in tree.at("vrf").items():
        if routed := vrf.at("evpn", "vlan"):
            yield f"auto vlan{routed.word}", routed.line
            yield f"iface vlan{routed.word}", routed.line
            yield f"    vlan-id {routed.word}", routed.line
            yield "    vlan-raw-device bridge", routed.line
            yield f"    vrf {name}", routed.line
    ports = bridged + [f"vni{vni}" for vni, _, _ in mapped]
    if ports:
        line = tree.at("bridge").line or tree.line
        yield "auto bridge", line
        yield "iface bridge", line
        yield "    bridge-ports " + " ".join(ports), line
        if vlans := _vlans(tree, mapped):
            yield "    bridge-vids " + " ".join(vlans), line
        yield "    bridge-vlan-aware yes", line


# --- The view -------------------------------------------------------------------------------------------------

VIEW = BatfishView(
    reads=lambda name, files: [nvue_copy(name, files)],
    sees=frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD, NATIVE}),
    allow=(Path(__file__).with_name("batfish.yaml"),),
    unread=("NVUE files as they are", "it cannot read NVUE, and was given what NVUE makes of them"),
)
