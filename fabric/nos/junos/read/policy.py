"""Prefix lists of a Junos config, and the names that it refers to without defining them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabric.facts import Facts, Located
from fabric.nos.junos.read.groups import matching
from fabric.nos.junos.read.tree import Node, find, logical
from fabric.nos.junos.read.vlans import MANAGEMENT_INSTANCE
from fabric.nos.reading import Entry, add_policies, prefix

# What can be referred to → where it is defined; the last word of a path is the name.
DEFINED: Mapping[str, tuple[str, ...]] = {
    "policy-statement": ("policy-options policy-statement *",),
    "prefix-list": ("policy-options prefix-list *",),
    "route-filter-list": ("policy-options route-filter-list *",),
    "community": ("policy-options community *",),
    "as-path": ("policy-options as-path *",),
    "as-path-group": ("policy-options as-path-group *",),
    "as-list": ("policy-options as-list *",),
    "condition": ("policy-options condition *",),
    "filter": ("firewall filter *", "firewall family * filter *"),
    "policer": ("firewall policer *", "firewall three-color-policer *", "firewall hierarchical-policer *"),
    "scheduler-map": ("class-of-service scheduler-maps *",),
    "scheduler": ("class-of-service schedulers *",),
    "drop-profile": ("class-of-service drop-profiles *",),
    "dscp classifier": ("class-of-service classifiers dscp *",),
    "forwarding-class": ("class-of-service forwarding-classes class *", "class-of-service forwarding-classes queue * *"),
    "congestion-notification-profile": ("class-of-service congestion-notification-profile *",),
    "interface": ("interfaces * unit *",),
    "routing-instance": ("routing-instances *",),
}
BUILT_IN: Mapping[str, frozenset[str]] = {
    "forwarding-class": frozenset((
        "af", "af1", "assured-forwarding", "be", "be1", "best-effort", "ef", "ef1", "expedited-forwarding", "fcoe", "mcast",
        "mcast-af", "mcast-be", "mcast-ef", "mcast-nc", "nc", "nc1", "network-control", "no-loss", "queue0", "queue1",
        "queue2", "queue3", "queue4", "queue5", "queue6", "queue7",
    )),
    "dscp classifier": frozenset(("default", "dscp-default")),
    "routing-instance": frozenset((MANAGEMENT_INSTANCE,)),
}  # fmt: skip
# Kind → where the switch or an instance refers to it; a path ends at the word before the name.
OF_A_PLACE: Mapping[str, tuple[str, ...]] = {
    "policy-statement": (
        *(f"protocols bgp {level}{way}" for level in ("", "group * ", "group * neighbor * ") for way in ("import", "export")),
        *(f"protocols {name} {way}" for name in ("ospf", "ospf3", "isis") for way in ("import", "export")),
        "protocols evpn ip-prefix-routes import", "protocols evpn ip-prefix-routes export", "vrf-import", "vrf-export",
        "routing-options forwarding-table export", "routing-options instance-import", "routing-options instance-export",
        "switch-options vrf-import", "switch-options vrf-export", "routing-options rib-groups * import-policy",
    ),
    "as-list": ("protocols bgp group * peer-as-list", "protocols bgp group * neighbor * peer-as-list"),
    "interface": ("vlans * l3-interface", "bridge-domains * routing-interface"),
}  # fmt: skip
WAYS = ("input", "input-list", "output", "output-list")
FILTERED = tuple(f"interfaces * unit * {family}filter {way}" for family in ("", "family * ") for way in WAYS)
TERMS = tuple(f"policy-options policy-statement * {term}" for term in ("", "term * "))
RULES = ("firewall filter * term * ", "firewall family * filter * term * ")
REFERRED: Mapping[str, tuple[str, ...]] = {
    "policy-statement": tuple(f"{term}from policy" for term in TERMS),
    "prefix-list": (
        *(f"{term}from {word}" for term in TERMS for word in ("prefix-list", "prefix-list-filter")),
        *(f"{rule}from {side}prefix-list" for rule in RULES for side in ("", "source-", "destination-")),
    ),
    "route-filter-list": tuple(f"{term}from route-filter-list" for term in TERMS),
    "community": (
        *(f"{term}from community" for term in TERMS),
        *(f"{term}then community {way}" for term in TERMS for way in ("add", "set", "delete", "+", "-", "=")),
    ),
    "as-path": tuple(f"{term}from as-path" for term in TERMS),
    "as-path-group": tuple(f"{term}from as-path-group" for term in TERMS),
    "condition": tuple(f"{term}from condition" for term in TERMS),
    "filter": FILTERED,
    "policer": tuple(f"{rule}then policer" for rule in RULES),
    "scheduler-map": ("class-of-service interfaces * scheduler-map", "class-of-service interfaces * unit * scheduler-map"),
    "scheduler": ("class-of-service scheduler-maps * forwarding-class * scheduler",),
    "dscp classifier": (
        "class-of-service interfaces * unit * classifiers dscp",
        "class-of-service interfaces * classifiers dscp",
    ),
    "congestion-notification-profile": ("class-of-service interfaces * congestion-notification-profile",),
    "routing-instance": (
        "system ntp server * routing-instance", "system name-server * routing-instance",
        "system syslog host * routing-instance",
    ),
}  # fmt: skip
# A path ends at a word whose own parts are the names.
CLASSES = ("class-of-service classifiers dscp * forwarding-class", "class-of-service scheduler-maps * forwarding-class")
CHAINS = ("policy-statement",)  # may be expressions: ( A && ! B )
NAME = re.compile(r"[^\s()&|!]+")


def read_policies(facts: Facts, root: Node) -> None:
    for name, node in root.at("policy-options", "prefix-list").items():
        facts.prefixes[name] = list(_prefixes(node, root))
    for name, node in root.at("policy-options", "route-filter-list").items():
        facts.prefixes[name] = [parsed for network, how in node.items() for parsed in _entries(network, how)]

    for name, node in root.at("policy-options", "policy-statement").items():
        add_policies(facts, _terms(name, node))


def _terms(name: str, policy: Node) -> Iterator[Entry]:
    """The terms that accept. A policy that ends without a verdict on what is left lets BGP's routes through."""
    verdict = False
    for term in (*policy.at("term").values(), policy):
        conditions, ends = term.at("from"), term.at("then")
        entry = Entry(name, "accept" in ends, term.line, term.file)
        for word, part in conditions.items():
            if word in ("route-filter-list", "prefix-list"):
                entry.lists += part.every()
            elif word != "protocol":
                entry.narrowed = True
        if "accept" in ends or "reject" in ends:
            verdict = verdict or not conditions
            yield entry
    if not verdict:
        yield Entry(name, True, policy.line, policy.file)


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


def _entries(network: str, node: Node) -> Iterator[Located[str]]:
    """One prefix may stand there in several ways; an entry with the action `reject` lets nothing through."""
    if not node:
        yield Located(network, node.line, node.file)
    for kind, bounds in node.items():
        words = tuple(bounds)
        if "reject" not in words:
            yield Located(_entry(network, kind, words[0] if words else ""), bounds.line, bounds.file)


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


def undefined(root: Node) -> list[Located[str]]:
    """Every name that is used and stands nowhere, where it is used first."""
    known = {kind: set(_names(root, paths)) | BUILT_IN.get(kind, frozenset()) for kind, paths in DEFINED.items()}
    found: dict[str, Located[str]] = {}
    for kind, parsed in _references(root):
        text = f"{kind} {parsed.value}"
        if parsed.value not in known[kind] and not _literal(parsed.value):
            found.setdefault(text, Located(text, parsed.line, parsed.file))
    return sorted(found.values(), key=lambda parsed: (parsed.file, parsed.line, parsed.value))


def _names(root: Node, paths: tuple[str, ...]) -> Iterator[str]:
    """Of an interface the whole of it, `irb.100`."""
    for path in paths:
        for words, _ in find(root, path):
            yield logical(".".join(words)) if path.startswith("interfaces") else words[-1]


def _references(root: Node) -> Iterator[tuple[str, Located[str]]]:
    for place in (root, *root.at("routing-instances").values()):
        yield from _referred(place, OF_A_PLACE)
    yield from _referred(root, REFERRED)
    for path in CLASSES:
        for _, node in find(root, path):
            yield from (("forwarding-class", parsed) for parsed in node.every())
    for _, scheduler in find(root, "class-of-service schedulers * drop-profile-map"):
        words = scheduler.words()
        if "drop-profile" in words[:-1]:
            yield "drop-profile", Located(words[words.index("drop-profile") + 1], scheduler.line, scheduler.file)


def _referred(place: Node, table: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, Located[str]]]:
    for kind, paths in table.items():
        for path in paths:
            for _, node in find(place, path):
                for parsed in _flat(node) if kind in CHAINS else node.every():
                    name = logical(parsed.value) if kind == "interface" else parsed.value
                    yield kind, Located(name, parsed.line, parsed.file)


def _flat(node: Node) -> Iterator[Located[str]]:
    """The names of a chain or of an expression."""
    for word, child in node.items():
        yield from (Located(name, child.line, child.file) for name in NAME.findall(word))
        yield from _flat(child)


def _literal(name: str) -> bool:
    """A community or a pattern that stands for itself; names that a template has yet to fill in."""
    return ":" in name or "*" in name or "$" in name or name in ("except", "exact", "orlonger", "longer")
