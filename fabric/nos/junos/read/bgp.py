"""BGP of a Junos config, and its policies: values that a neighbor lacks come from its group, else from `protocols bgp`."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.model.facts import Authentication, Bgp, Facts, Located, Neighbor, PrefixRule
from fabric.nos.junos.read.groups import matching
from fabric.nos.junos.read.instances import Place
from fabric.nos.junos.read.tree import Node, logical, number
from fabric.nos.reading import Entry, add_policies, asn, integer, is_address, password, prefix, settle

# --- Prefix lists and policies --------------------------------------------------------------------------------


def read_policies(facts: Facts, root: Node) -> None:
    for name, node in root.at("policy-options", "prefix-list").items():
        facts.prefixes[name] = list(_prefixes(node, root))
    for name, node in root.at("policy-options", "route-filter-list").items():
        facts.rules[name] = [parsed for network, how in node.items() for parsed in _entries(network, how)]
    settle(facts)

    for name, node in root.at("policy-options", "policy-statement").items():
        add_policies(facts, _terms(name, node))


def _terms(name: str, policy: Node) -> Iterator[Entry]:
    """The terms that accept. A policy that ends without a verdict on what is left lets BGP's routes through.

    So does a policy that leaves routes to the next one (`next policy`) or to a default action.
    """
    verdict = leaves = False
    for term in (*policy.at("term").values(), policy):
        conditions, ends = term.at("from"), term.at("then")
        at = ends.at("reject") if "reject" in ends else term
        entry = Entry(name=name, permits="accept" in ends, line=at.line, file=at.file)
        for word, part in conditions.items():
            if word in ("route-filter-list", "prefix-list"):
                entry.lists += part.every()
            elif word != "protocol":
                entry.narrowed = True
            else:
                entry.open = True
        entry.open = entry.open or "to" in term
        if "accept" in ends or "reject" in ends:
            verdict = verdict or not conditions
            yield entry
        leaves = leaves or "next" in ends or "default-action" in ends
    if leaves or not verdict:
        yield Entry(name=name, permits=True, line=policy.line, file=policy.file, open=True)


def _prefixes(node: Node, root: Node) -> Iterator[Located[str]]:
    """Those that stand there, and those that `apply-path` picks out of the rest of the config."""
    for parsed in node.every():
        if parsed.value != "apply-path":
            yield Located(_network(parsed.value), parsed.line, parsed.file)
    if path := node.value("apply-path"):
        for word in sorted({word for word in _picked(root, path.value.split()) if prefix(_network(word))}):
            yield Located(_network(word), path.line, path.file)


def _picked(node: Node, path: list[str]) -> Iterator[str]:
    """The words that the last wildcard of a path matches."""
    if not path:
        return
    for name, child in matching(node, path[0]):
        if len(path) > 1:
            yield from _picked(child, path[1:])
        else:
            yield name


def _network(text: str) -> str:
    return text if "/" in text else f"{text}/{128 if ':' in text else 32}"


def _entries(network: str, node: Node) -> Iterator[Located[PrefixRule]]:
    """One prefix may appear in several forms; one with the action `reject` denies. The longest match decides."""
    length = integer(network.partition("/")[2])
    seq = None if length is None else -length
    if not node:
        yield Located(PrefixRule(True, network, seq), node.line, node.file)
    for kind, bounds in node.items():
        words = tuple(bounds)
        text = _entry(network, kind, words[0] if words else "")
        yield Located(PrefixRule("reject" not in words, text, seq), bounds.line, bounds.file)


def _entry(network: str, kind: str, bounds: str) -> str:
    """`10.0.0.0/15 prefix-length-range /32-/32` → `10.0.0.0/15 ge 32`."""
    longest = 128 if ":" in network else 32
    low, _, high = bounds.replace("/", "").partition("-")
    if kind == "prefix-length-range":
        return f"{network} ge {low}" + ("" if high == str(longest) else f" le {high}")
    if kind == "upto":
        return f"{network} le {low}"
    if kind == "orlonger":
        return f"{network} le {longest}"
    if kind == "longer":
        length = network.partition("/")[2]
        return f"{network} ge {int(length) + 1}" if length.isdecimal() else network
    return network


# --- BGP ------------------------------------------------------------------------------------------------------

FAMILIES = {
    ("inet", "unicast"): "ipv4",
    ("inet", "any"): "ipv4",
    ("inet6", "unicast"): "ipv6",
    ("inet6", "any"): "ipv6",
    ("evpn", "signaling"): "evpn",
}
UNICAST = ("ipv4", "ipv6")
METHODS = {"ao": "TCP-AO", "md5": "MD5"}  # of `authentication-algorithm`
MULTIHOP_TTL = 64  # of `multihop` without a word
DEFAULT_PATHS = 16  # equal next hops of a route, unless `chassis maximum-ecmp` allows more
Levels = tuple[Node, ...]  # the nearest first


def read_bgp(facts: Facts, places: list[Place]) -> None:
    root = places[0].node
    for place in places:
        bgp = place.node.at("protocols").get("bgp")
        if bgp is not None:
            facts.bgp[place.name] = _process(place, bgp, root)


def evpn_source(facts: Facts) -> Located[str] | None:
    """Tunnels of a leaf that only routes begin at the address its EVPN sessions run from."""
    vnis = [vrf.vni for vrf in facts.vrfs.values() if vrf.vni]
    sessions = facts.bgp[""].neighbors.values() if "" in facts.bgp and vnis else ()
    return next((session.source for session in sessions if any(parsed.value == "evpn" for parsed in session.families)), None)


def _process(place: Place, bgp: Node, root: Node) -> Bgp:
    process = Bgp(vrf=place.name, line=bgp.line, file=bgp.file)
    options = place.node.at("routing-options")
    process.asn = _asn(options.at("autonomous-system")) or _asn(root.at("routing-options", "autonomous-system"))
    process.router_id = options.value("router-id")
    loops = _loops(options.at("autonomous-system"))
    process.aggregates = [
        Located(text, node.line, node.file)
        for text, node in (options.at("aggregate", "route") | options.at("rib", "inet6.0", "aggregate", "route")).items()
    ]
    paths: list[Located[int]] = []
    relaxed: list[Located[bool]] = []
    for group in bgp.at("group").values():
        sessions = list(_sessions(place.name, group, bgp))
        for session in sessions:
            session.allowas_in = session.allowas_in or loops
            process.neighbors[session.peer] = session
        if any(parsed.value in UNICAST for session in sessions for parsed in session.families):
            several = len(sessions) > 1 or any(session.dynamic for session in sessions)
            paths += _paths(group, bgp, root, several)
            # One neighbor alone shares no paths: what its group does not say is no fault.
            relaxed += [parsed for parsed in _relaxed(group, bgp) if several or parsed.value]
    exports = (session.export_filter for session in process.neighbors.values())
    process.originates = next((policy for policy in exports if policy), None)
    process.max_paths = min(paths, key=lambda parsed: parsed.value, default=None)
    process.relax = min(relaxed, key=lambda parsed: parsed.value, default=None)
    return process


# --- sessions ---------------------------------------------------------------------------------------------------


def _sessions(vrf: str, group: Node, bgp: Node) -> Iterator[Neighbor]:
    for peer, node in group.at("neighbor").items():
        yield _neighbor(Neighbor(vrf=vrf, peer=_canonical(peer), line=node.line, file=node.file), (node, group, bgp))
    for parsed in group.every("allow"):
        listens = Neighbor(
            vrf=vrf, peer=prefix(parsed.value) or parsed.value, line=parsed.line, file=parsed.file, dynamic=True
        )
        yield _neighbor(listens, (group, bgp))
    for node in group.at("dynamic-neighbor").values():
        for parsed in node.every("peer-auto-discovery", "interface"):
            unnumbered = Neighbor(vrf=vrf, peer=logical(parsed.value), line=parsed.line, file=parsed.file, interface=True)
            yield _neighbor(unnumbered, (node, group, bgp))
        for parsed in node.every("allow"):
            listens = Neighbor(
                vrf=vrf, peer=prefix(parsed.value) or parsed.value, line=parsed.line, file=parsed.file, dynamic=True
            )
            yield _neighbor(listens, (node, group, bgp))


def _neighbor(neighbor: Neighbor, levels: Levels) -> Neighbor:
    families = list(_families(levels))
    neighbor.remote_as = _remote_as(levels)
    neighbor.local_as = next((configured for level in levels if (configured := _asn(level.at("local-as")))), None)
    neighbor.source = _first(levels, "local-address") or _first(levels, "local-interface")
    neighbor.families = [parsed for parsed, _ in families] or [
        Located("ipv6" if ":" in neighbor.peer else "ipv4", neighbor.line, neighbor.file)
    ]
    neighbor.description = levels[0].value("description")
    disabled = next((configured for level in levels if (configured := level.flag("disable"))), None)
    neighbor.enabled = Located(False, disabled.line, disabled.file) if disabled else None
    neighbor.multihop = next((_ttl(level) for level in levels if "multihop" in level), None)
    kept = next((found for level in levels if (found := level.at("multihop").flag("no-nexthop-change"))), None)
    neighbor.unchanged = kept or Located(False, neighbor.line, neighbor.file)
    clients = _first(levels, "cluster")
    neighbor.reflected = Located(True, clients.line, clients.file) if clients else None
    neighbor.authentication = _authentication(levels)
    neighbor.max_prefix = next((configured for _, node in families if (configured := _limit(node))), None)
    neighbor.import_filter = _policies(levels, "import")
    neighbor.export_filter = _policies(levels, "export")
    neighbor.bfd = next((configured for level in levels if (configured := level.flag("bfd-liveness-detection"))), None)
    neighbor.hold_s = number(_first(levels, "hold-time"))
    parts = [node for _, node in families] + [level.at("local-as") for level in levels]
    neighbor.allowas_in = next((configured for part in parts if (configured := _loops(part))), None)
    return neighbor


def _first(levels: Levels, *words: str) -> Located[str] | None:
    return next((parsed for level in levels if (parsed := level.value(*words))), None)


def _remote_as(levels: Levels) -> Located[int | str] | None:
    """A number, or what the group's type says of it."""
    if configured := _first(levels, "peer-as"):
        value = asn(configured.value)
        return Located(configured.value if value is None else value, configured.line, configured.file)
    if configured := _first(levels, "peer-as-list"):
        return Located("external", configured.line, configured.file)
    kind = _first(levels, "type")
    return Located("internal", kind.line, kind.file) if kind and kind.value == "internal" else None


def _authentication(levels: Levels) -> Located[Authentication] | None:
    """A key, or a key chain with the algorithm that it is used with. `$9$` marks an encrypted key."""
    chain, key = _first(levels, "authentication-key-chain"), _first(levels, "authentication-key")
    if chain is not None:
        algorithm = _first(levels, "authentication-algorithm")
        return Located(Authentication(METHODS.get(algorithm.value if algorithm else "", "")), chain.line, chain.file)
    return Located(password(key.value, encrypted=key.value.startswith("$")), key.line, key.file) if key else None


def _asn(node: Node) -> Located[int] | None:
    """`65001 private`, `65000.1 loops 2`: the number among the words."""
    for word, child in node.items():
        if (value := asn(word)) is not None:
            return Located(value, child.line, child.file)
    return None


def _families(levels: Levels) -> Iterator[tuple[Located[str], Node]]:
    """The nearest level that names any family names them all."""
    for level in levels:
        if "family" in level:
            for (family, kind), name in FAMILIES.items():
                node = level.at("family", family).get(kind)
                if node is not None:
                    yield Located(name, node.line, node.file), node
            return


def _limit(family: Node) -> Located[int] | None:
    return number(family.value("prefix-limit", "maximum") or family.value("accepted-prefix-limit", "maximum"))


def _ttl(level: Node) -> Located[int]:
    node = level.at("multihop")
    return number(node.value("ttl")) or Located(MULTIHOP_TTL, node.line, node.file)


def _policies(levels: Levels, direction: str) -> Located[str] | None:
    """All names of a chain, or the expression that joins them."""
    for level in levels:
        if direction in level:
            words = level.at(direction).words()
            if len(words) == 3 and (words[0], words[2]) == ("(", ")"):  # an expression of one name
                words = words[1:2]
            return Located(" ".join(words), level.at(direction).line, level.at(direction).file) if words else None
    return None


def _loops(node: Node) -> Located[int] | None:
    """`loops 2` hides a route that has the own AS twice: once is allowed."""
    parts = [node, *node.values()]
    configured = next((parsed for part in parts if (parsed := number(part.value("loops")))), None)
    return Located(configured.value - 1, configured.line, configured.file) if configured else None


def _canonical(peer: str) -> str:
    return (prefix(f"{peer}/128") or peer).removesuffix("/128") if ":" in peer and is_address(peer) else peer


# --- equal paths ------------------------------------------------------------------------------------------------


def _multipath(group: Node, bgp: Node) -> Node | None:
    found = group.get("multipath", bgp.get("multipath"))
    return None if found is None or "disable" in found else found


def _paths(group: Node, bgp: Node, root: Node, several: bool) -> Iterator[Located[int]]:
    """Several next hops enter the forwarding table only where a policy of load balancing is applied to it."""
    multipath = _multipath(group, bgp)
    if multipath is None:
        if several:
            yield Located(1, group.line, group.file)
    elif not _balanced(root):
        applied = root.at("routing-options", "forwarding-table").get("export", multipath)
        yield Located(1, applied.line, applied.file)
    else:
        widest = number(root.at("chassis").value("maximum-ecmp"))
        yield widest or Located(DEFAULT_PATHS, multipath.line, multipath.file)


def _relaxed(group: Node, bgp: Node) -> Iterator[Located[bool]]:
    multipath, kind = _multipath(group, bgp), group.value("type")
    if multipath is not None and not (kind and kind.value == "internal"):
        yield multipath.flag("multiple-as") or Located(False, multipath.line, multipath.file)


def _balanced(root: Node) -> bool:
    policies = root.at("policy-options", "policy-statement")
    return any(
        "load-balance" in policies.at(name).words() for name in root.at("routing-options", "forwarding-table", "export")
    )
