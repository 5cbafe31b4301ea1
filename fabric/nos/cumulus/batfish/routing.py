"""The `frr.conf` that NVUE writes from its tree: prefix lists, route maps, VRFs and BGP."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.nos.cumulus.batfish.tree import Branch

Line = tuple[str, int]


def frr_lines(tree: Branch) -> Iterator[Line]:
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


def _prefix_list(name: str, prefixes: Branch) -> Iterator[Line]:
    family = "ipv6" if prefixes.at("type").word == "ipv6" else "ip"
    for number, rule in prefixes.at("rule").items():
        action = rule.at("action").word or next(iter(rule.at("action").below), "permit")
        for prefix, match in rule.at("match").items():
            words = [f"{family} prefix-list {name} seq {number} {action} {prefix}"]
            words += [f"ge {match.at('min-prefix-len').word}"] if match.at("min-prefix-len") else []
            words += [f"le {match.at('max-prefix-len').word}"] if match.at("max-prefix-len") else []
            yield " ".join(words), match.line


def _route_map(name: str, route_map: Branch) -> Iterator[Line]:
    for number, rule in route_map.at("rule").items():
        action = rule.at("action").word or next(iter(rule.at("action").below), "permit")
        yield f"route-map {name} {action} {number}", rule.line
        if match := rule.at("match", "ip-prefix-list"):
            family = "ipv6" if rule.at("match", "type").word == "ipv6" else "ip"
            yield f" match {family} address prefix-list {match.word}", match.line


def _bgp(tree: Branch, vrf: str, bgp: Branch) -> Iterator[Line]:
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


def _session(name: str, session: Branch) -> Iterator[Line]:
    if asn := session.at("remote-as"):
        yield f" neighbor {name} remote-as {asn.word}", asn.line
    if group := session.at("peer-group"):
        yield f" neighbor {name} peer-group {group.word}", group.line
    if hops := session.at("multihop-ttl"):
        yield f" neighbor {name} ebgp-multihop {hops.word}", hops.line
    if source := session.at("update-source"):
        yield f" neighbor {name} update-source {source.word}", source.line


def _unicast(bgp: Branch, family: str) -> Iterator[Line]:
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


def _evpn(bgp: Branch) -> Iterator[Line]:
    found = bgp.at("address-family", "l2vpn-evpn")
    exports = bgp.at("address-family", "ipv4-unicast", "route-export", "to-evpn")
    if not (found or exports):
        return
    yield " address-family l2vpn evpn", found.line or exports.line
    for name, session in (*bgp.at("peer-group").items(), *bgp.at("neighbor").items()):
        own = session.at("address-family", "l2vpn-evpn")
        if own.on("state|enable"):
            yield f"  neighbor {name} activate", own.line
    if found:
        yield "  advertise-all-vni", found.line
    if exports:
        yield "  advertise ipv4 unicast", exports.line
    yield " exit-address-family", found.line or exports.line
